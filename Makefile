# SPDX-License-Identifier: Apache-2.0
# chunkproof. `make help` lists every target.
#
# A configuration has a directory of its own; everything that is built goes there:
#   make BUILD=build/clang CC=clang
#   make BUILD=build/asan EXTRA_CFLAGS="-O1 -fsanitize=address,undefined" tests
# A source file that needs more of the system than C11 defines its feature macro itself, in its first
# line: there is none here, so that the rest of the library stays plain C11.

BUILD   = build
PREFIX  = /usr/local
DESTDIR =
TIER   ?= default
STRICT ?= 0
STAGES ?=
KERNEL ?=
JOBS   ?= 1
TIME   ?= 60
TARGETS ?=

ifeq ($(origin CC),default)
CC = gcc
endif
# The C++ compiler that goes with it: gcc-12 has g++-12, clang has clang++.
ifeq ($(origin CXX),default)
CXX = $(subst gcc,g++,$(subst clang,clang++,$(CC)))
endif
CFLAGS   = -O2 -g
XML_CFLAGS := $(shell pkg-config --cflags libxml-2.0 2>/dev/null)
XML_LIBS   := $(shell pkg-config --libs libxml-2.0 2>/dev/null)
WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
# More for ref/ alone: scripts/coverage.py.
REF_CFLAGS =
COMPILE  = $(CC) -std=c11 -ffp-contract=off $(WARNINGS) $(CFLAGS) $(EXTRA_CFLAGS) -Iinclude -I. $(XML_CFLAGS) -fPIC -MMD -MP
COMPILE_CXX = $(CXX) -std=c++17 -ffp-contract=off -Wall -Wextra -Werror -Wshadow $(CFLAGS) $(EXTRA_CFLAGS) \
	-Iinclude -I. -fPIC -MMD -MP
LINK     = $(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS)

# For GPUs: machine code for 8.0 and 9.0, and for later ones what their driver compiles.
NVCC = $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
COMPILE_CUDA = $(NVCC) -std=c++17 -O3 -lineinfo -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
	-gencode arch=compute_90,code=compute_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-fPIC -Xptxas -v -Iinclude -I.

# An engine for the fuzz targets: -fsanitize=fuzzer, or OSS-Fuzz's. With one, trees are so small that each bound of
# limits.h is near, and kernels have few head dimensions; without, the targets only run files (fuzz/main.c).
LIB_FUZZING_ENGINE =
FUZZ_LIBS = -ljansson -lm
ifneq ($(LIB_FUZZING_ENGINE),)
override EXTRA_CFLAGS += -DCP_MAX_CHUNKS=1024 -DCP_MAX_SEQUENCES=16 -DCP_MAX_DEPTH=16
override EXTRA_CFLAGS += "-DCHUNKPROOF_HEAD_DIMS(ONE)=ONE(32) ONE(64)"
endif

# Version macro -> library version -> soname: one number, in version.h.
version = $(shell awk '$$2 == "CP_VERSION" { gsub(/"/, "", $$3); print $$3 }' \
	include/chunkproof/version.h)
soname  = libchunkproof.so.$(firstword $(subst ., ,$(version)))

# What is built from what. A directory's files are all its *.c; tests/test_*.c are programs, the other
# files of tests/ and all of gate/ and fuzz/tolerance/ but what has a main() are theirs to use.
object       = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
library_obj := $(call object,$(wildcard ref/*.c opt/*.c))
command_obj := $(call object,$(wildcard cli/*.c cli/*/*.c gate/*.c gate/*/*.c))
test_src    := $(wildcard tests/test_*.c)
tolerance_main := $(call object,$(addprefix fuzz/tolerance/,check.c search.c table.c))
tolerance_obj  := $(filter-out $(tolerance_main),$(call object,$(wildcard fuzz/tolerance/*.c)))
tolerance_bin  := $(tolerance_main:$(BUILD)/obj/fuzz/%.o=$(BUILD)/%)
support_obj := $(call object,$(filter-out $(test_src),$(wildcard tests/*.c))) \
	$(filter-out %/cli/main.o,$(command_obj)) $(tolerance_obj) $(call object,$(wildcard kernels/*.c) fuzz/format.c)
test_obj    := $(call object,$(test_src))
test_bin    := $(test_src:tests/%.c=$(BUILD)/tests/%)

# Kernels that the gate's tests and its example give it: shared objects.
gate_kernel := $(patsubst %.c,$(BUILD)/tests/%.so,$(patsubst tests/%,%,$(wildcard tests/gate/*.c tests/gate/cheats/*.c tests/example/*_kernel.c)))
# Attention of opt/: each version, and each type of K and V.
gate_opt    := $(foreach name,portable avx2 avx512 neon amx bfloat float amx_bfloat amx_float,$(BUILD)/tests/gate/opt_$(name).so)
# The CUDA kernels, on the executor.
gate_cuda   := $(foreach version,1 2 3,$(BUILD)/tests/gate/cuda_v$(version).so) $(BUILD)/tests/gate/cuda_misbehaves.so
cuda_so      = -Wl,--whole-archive $(simt) -Wl,--no-whole-archive $(static) -lm

# The programs for a GPU, and the same for the CPU.
gpu_src := $(wildcard tests/gpu/*.cu)
gpu_bin := $(gpu_src:tests/gpu/%.cu=$(BUILD)/gpu/%)
simt_gpu_bin := $(gpu_src:tests/gpu/%.cu=$(BUILD)/tests/gpu/%)

# Fuzz targets: inputs are operations (fuzz/format.h), or text.
fuzz_operations := tree plan opt_tree attention schedule kernels
fuzz_text   := trace script gate_case bound_case options
fuzz_bin    := $(addprefix $(BUILD)/fuzz/,$(fuzz_operations) $(fuzz_text))
fuzz_obj    := $(call object,$(wildcard fuzz/*.c)) $(BUILD)/obj/fuzz/kernels.o
fuzz_common := $(call object,fuzz/target.c) $(if $(LIB_FUZZING_ENGINE),,$(call object,fuzz/main.c))
fuzz_mutator := $(BUILD)/fuzz/mutator.so

# The executor of CUDA kernels, its tests, and those of the kernels: each kernel is compiled twice, as any C++
# (plain), and with calls at its loads and stores that the executor answers (checked; kernels/simt/README.md).
object_cxx  = $(patsubst %.cpp,$(BUILD)/obj/%.o,$(1))
simt_obj   := $(call object_cxx,$(wildcard kernels/simt/*.cpp))
simt_kernel := $(foreach way,plain checked,$(patsubst %.cu,$(BUILD)/obj/%.$(way).o,$(wildcard tests/simt/*.cu tests/kernels/*.cu))) \
	$(BUILD)/obj/kernels/cuda.checked.o
simt_test  := $(wildcard tests/test_*.cpp)
simt_bin   := $(simt_test:tests/%.cpp=$(BUILD)/tests/%)
# No counters of coverage: they too would be accesses of the kernel.
comma := ,
COMPILE_CHECKED = $(subst afl-clang-fast++,clang++,$(filter-out --coverage,$(COMPILE_CXX))) -fno-sanitize=address -fno-strict-aliasing -fsanitize=thread,alignment -fsanitize-recover=alignment \
	$(if $(LIB_FUZZING_ENGINE),-fno-sanitize=fuzzer-no-link$(comma)function -fsanitize-coverage=trace-pc) -DKERNELS=checked
seen_calls  = $(foreach name,memcpy memmove memset,--redefine-sym $(name)=simt_$(name)) \
	--redefine-sym __sanitizer_cov_trace_pc=fuzz_edge \
	--redefine-sym __ubsan_handle_type_mismatch_v1=simt_type_mismatch

static  := $(BUILD)/libchunkproof.a
shared  := $(BUILD)/libchunkproof.so
support := $(BUILD)/tests/libsupport.a
command := $(if $(command_obj),$(BUILD)/chunkproof)
cuda    := $(BUILD)/libchunkproof_cuda.a
simt    := $(BUILD)/libchunkproof_simt.a

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.PHONY: build command tests tests-c tests-simt gate-kernels simt cuda cuda-table gpu gpu-here bench-gpu bench bench-smoke deps deps-list test try tolerance-check tolerance-table fuzz fuzz-targets fuzz-smoke fuzz-faults fuzz-afl verify lint format prove prove-faults mutants coverage install uninstall clean clean-cache help

build: $(static) $(shared) $(simt) $(command)  ## the libraries and the command (the default)

command: $(command) $(simt)            ## the command alone, and what it links CUDA kernels with

tests: tests-c tests-simt gate-kernels ## the unit tests' programs

tests-c: $(test_bin) $(gate_kernel)    ## the unit tests' programs in C: all but the executor's

gate-kernels: $(gate_kernel) $(gate_opt) $(gate_cuda)  ## the kernels that the gate is tried on

tests-simt: $(simt_bin) $(simt_gpu_bin)  ## the unit tests' programs of the executor of CUDA kernels

simt:                                  ## CUDA kernels on the CPU: build and pass its tests with gcc and clang
	@for compiler in gcc clang; do \
		$(MAKE) -s --no-print-directory BUILD=build/$$compiler CC=$$compiler tests-simt && \
		scripts/run_tests.py --build build/$$compiler --only simt || exit 1; \
	done

deps:                                  ## install what is missing; DEPS=skip leaves that out everywhere
	@$(if $(filter skip,$(DEPS)),:,scripts/deps)

deps-list:                             ## print what is needed, and what of it is missing
	@scripts/deps --list

test:                                  ## build and pass all tests
	@$(if $(filter skip,$(DEPS)),:,scripts/deps build install)
	@$(MAKE) -s -j2 --no-print-directory build tests
	@scripts/run_tests.py --build $(BUILD)

try:                                   ## one stem's unit tests and seeded faults, in seconds: t=tree; t= lists the stems
	@scripts/try $(t)

cuda: $(cuda)                          ## kernels and launcher for GPUs, a library of their own; needs nvcc

cuda-table: cuda                       ## write down the registers that nvcc gives each kernel: kernels/resources.csv
	scripts/ptxas.py $(BUILD)/cuda/ptxas.log --update

gpu: gpu-here $(gpu_bin) $(BUILD)/tests/gpu/conform  ## needs a GPU: every version on it, under its sanitizers, beside the executor
	@scripts/gpu.py check $(BUILD)/gpu $(BUILD)/tests/gpu

gpu-here:
	@[ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || { echo "make gpu needs an NVIDIA GPU, and here is none: there is no /dev/nvidiactl" >&2; exit 2; }

bench-gpu: gpu                         ## needs a GPU: latencies of all versions and of other implementations: build/bench/
	@scripts/gpu.py bench $(BUILD)/gpu $(BUILD)/bench

bench: command                         ## how fast opt/ is, beside the machine's limits and others: build/bench/; TORCH=1 TRACE=file SECONDS=1
	@scripts/bench --build $(BUILD) $(if $(TORCH),--torch) $(if $(TRACE),--trace $(TRACE)) --seconds $(or $(SECONDS),1)

bench-smoke: command                   ## the same on small loads: does it run?
	@scripts/bench --smoke --build $(BUILD) --out $(BUILD)/bench-smoke

fuzz:                                  ## search for inputs that break a claim: TIME=60 seconds each of TARGETS="tree plan"; needs clang
	@scripts/fuzz --time $(TIME) $(TARGETS)

fuzz-afl:                              ## the same with AFL++
	@scripts/fuzz --engine afl --time $(TIME) $(TARGETS)

fuzz-smoke:                            ## the committed inputs, and some thousand others that are the same each time
	@scripts/fuzz --smoke $(TARGETS)

fuzz-faults:                           ## each seeded fault that a fuzz target must find
	@scripts/faults --by fuzz

fuzz-targets: $(fuzz_bin)              ## the fuzz targets, to run files: build/fuzz/TARGET FILE|DIRECTORY...

tolerance-check: $(tolerance_bin)      ## emulated kernels against the certified tolerance: CHUNKPROOF_ELEMENTS, _SEED, JOBS
	@$(BUILD)/tolerance/check --self-test
	@$(BUILD)/tolerance/search
	@$(BUILD)/tolerance/check -j $(JOBS)

tolerance-table: $(tolerance_bin)      ## how tight it is, and other acceptance rules: build/tolerance/*.csv, .md, .svg
	@$(BUILD)/tolerance/table
	@fuzz/tolerance/plot.py

verify: deps                           ## every check, in stages; TIER=quick|default|deep STRICT=1 STAGES="lint ..." KERNEL=mine.so
	@TIER=$(TIER) STRICT=$(STRICT) KERNEL=$(abspath $(KERNEL)) scripts/verify.py $(if $(KERNEL),gate,$(STAGES))

lint: deps                             ## layout, static analysis, layering
	@scripts/verify.py lint

prove: deps                            ## all proofs, the model checking, the contracts run
	@TIER=$(TIER) STRICT=$(STRICT) scripts/verify.py proofs-wp-all proofs-coq model-checking contracts

prove-faults: deps                     ## each seeded fault must break a proof
	@TIER=$(TIER) STRICT=$(STRICT) scripts/verify.py proofs-wp-faults proofs-coq-faults \
		model-checking-faults contracts-faults

mutants:                               ## each seeded fault of the gate's kernels must be killed, by what: build/mutants; MATRIX=1 all cases
	@scripts/faults --by gate $(if $(MATRIX),--matrix)

coverage: deps                         ## lines and branches of ref/ that the unit tests reach: build/coverage/html
	@scripts/coverage.py --html

format:                                ## lay out all C files as .clang-format says
	clang-format -i $(wildcard include/*/*.h kernels/*.[ch] kernels/*.cu kernels/*/*.h kernels/*/*/*.h kernels/*/*/*/*.h kernels/*/*.cpp tests/gate/*.cu tests/example/*.cu tests/simt/*.h tests/simt/*.cu tests/kernels/*.h tests/kernels/*.cu tests/gpu/*.cu tests/*.cpp ref/*.[ch] opt/*.[ch] cli/*.[ch] cli/*/*.[ch] gate/*.[ch] gate/*/*.[ch] tests/*.[ch] fuzz/*.[ch] fuzz/*.cpp fuzz/*/*.[ch] proofs/*/*.[ch])

install: build                         ## into PREFIX=/usr/local, below DESTDIR= when that is given
	install -d $(DESTDIR)$(PREFIX)/include/chunkproof $(DESTDIR)$(PREFIX)/bin \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 include/chunkproof/*.h $(DESTDIR)$(PREFIX)/include/chunkproof
	install -d $(DESTDIR)$(PREFIX)/include/chunkproof/kernels/simt/as_cuda/cooperative_groups
	install -m 644 kernels/simt/*.h $(DESTDIR)$(PREFIX)/include/chunkproof/kernels/simt
	install -m 644 kernels/simt/as_cuda/*.h $(DESTDIR)$(PREFIX)/include/chunkproof/kernels/simt/as_cuda
	install -m 644 kernels/simt/as_cuda/cooperative_groups/*.h $(DESTDIR)$(PREFIX)/include/chunkproof/kernels/simt/as_cuda/cooperative_groups
	scripts/fix-limits $(CC) $(EXTRA_CFLAGS) -Iinclude -E -x c - >$(DESTDIR)$(PREFIX)/include/chunkproof/limits.h
	install -m 755 $(command) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(static) $(simt) $(DESTDIR)$(PREFIX)/lib
	$(if $(wildcard $(cuda)),install -m 644 $(cuda) $(DESTDIR)$(PREFIX)/lib)
	install -m 755 $(shared) $(DESTDIR)$(PREFIX)/lib/libchunkproof.so.$(version)
	ln -sf libchunkproof.so.$(version) $(DESTDIR)$(PREFIX)/lib/$(soname)
	ln -sf $(soname) $(DESTDIR)$(PREFIX)/lib/libchunkproof.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(version)|' scripts/chunkproof.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/chunkproof.pc

uninstall:                             ## what install put there, from the same PREFIX= and DESTDIR=
	rm -rf $(DESTDIR)$(PREFIX)/include/chunkproof
	rm -f $(DESTDIR)$(PREFIX)/bin/chunkproof $(DESTDIR)$(PREFIX)/lib/libchunkproof.* $(DESTDIR)$(PREFIX)/lib/libchunkproof_cuda.a $(DESTDIR)$(PREFIX)/lib/libchunkproof_simt.a \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig/chunkproof.pc

clean:                                 ## all that was built; unpacked tools stay (build/tools)
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name tools -exec rm -rf {} +

clean-cache:                           ## results of proofs and model checking that all checkouts share (CACHE=off ignores them)
	@scripts/kept.py --clean

help:                                  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

# Archives and the shared library depend on the directory too: it changes when a file comes or goes.
# q: ref/ and opt/ have files of the same name.
$(static): $(library_obj) ref opt
	@rm -f $@
	$(AR) qcs $@ $(library_obj)

$(shared): $(library_obj) ref opt
	$(LINK) -shared -pthread -Wl,-soname,$(soname) -Wl,--no-undefined -o $@ $(library_obj) -lm

# The executor of CUDA kernels, which the gate links with those that it is given as source.
$(simt): $(simt_obj) kernels/simt
	@rm -f $@
	$(AR) rcs $@ $(simt_obj)

$(BUILD)/chunkproof: $(command_obj) $(static)
	$(LINK) -pthread -o $@ $^ -ljansson $(XML_LIBS) -lm

# What tests share, as an archive: each takes only what it uses and may have its own copy of the rest.
# q: two files of different directories may have the same name.
$(support): $(support_obj) tests/. kernels cli gate $(wildcard cli/*/. gate/*/.) fuzz/tolerance/.
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) qcs $@ $(support_obj)

$(test_bin): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(support) $(static)
	$(LINK) -pthread -o $@ $^ -lcmocka -ljansson $(XML_LIBS) -lmpfr -lm

# These start the command and give it kernels.
$(BUILD)/tests/test_runner $(BUILD)/tests/test_runner_load: | $(command) $(gate_kernel)

# A kernel sees the public headers and the library.
$(gate_kernel): $(BUILD)/tests/%.so: $(BUILD)/obj/tests/%.o $(static)
	@mkdir -p $(@D)
	$(LINK) -shared -pthread -o $@ $^ -lm

$(BUILD)/tests/gate/opt_%.so: tests/gate/opt.c $(static)
	@mkdir -p $(@D)
	$(filter-out -MMD -MP,$(COMPILE)) -DOPT_$* -shared -pthread -o $@ $< $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) -lm

# AMX is emulated where there is none: that object's answer to whether there is any comes before the library's.
$(filter %/opt_amx.so %/opt_amx_bfloat.so %/opt_amx_float.so,$(gate_opt)): $(BUILD)/obj/tests/amx_emulator.o

$(BUILD)/tests/gate/cuda_v%.so: tests/gate/cuda.cu $(BUILD)/obj/kernels/cuda.checked.o $(call object,$(wildcard kernels/*.c)) $(simt) $(static)
	@mkdir -p $(@D)
	$(COMPILE_CXX) -shared -pthread -DCHUNKPROOF_VERSION=$* -o $@ -x c++ $< -x none $(filter %.o,$^) $(cuda_so)

$(BUILD)/tests/gate/cuda_misbehaves.so: $(BUILD)/obj/tests/gate/cuda_misbehaves.checked.o $(simt) $(static)
	@mkdir -p $(@D)
	$(CXX) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -shared -pthread -o $@ $< $(cuda_so)

$(tolerance_bin): $(BUILD)/tolerance/%: $(BUILD)/obj/fuzz/tolerance/%.o $(support) $(static)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -lmpfr -lm

$(addprefix $(BUILD)/fuzz/,$(fuzz_operations)): $(call object,fuzz/operations.c fuzz/format.c fuzz/world.c)
$(addprefix $(BUILD)/fuzz/,$(fuzz_text)): $(call object,fuzz/text.c fuzz/parse.c)
# What an engine looks at: edges and operands of comparisons of the parsers, edges of the library and of the targets,
# nothing of the executor and of the judges in tests/. Else most of the time went there.
ifneq ($(LIB_FUZZING_ENGINE),)
$(simt_obj): override CXX := $(subst afl-clang-fast++,clang++,$(CXX))
$(simt_obj) $(filter $(BUILD)/obj/tests/%,$(support_obj)): override EXTRA_CFLAGS += -fno-sanitize=fuzzer-no-link
$(library_obj) $(fuzz_obj) $(BUILD)/obj/kernels/%.o: override EXTRA_CFLAGS += -fno-sanitize-coverage=trace-cmp
endif
$(BUILD)/fuzz/kernels: $(simt_obj) $(BUILD)/obj/kernels/cuda.checked.o $(call object,fuzz/edges.c)

# An engine is C++ in part. The archives come last.
$(fuzz_bin): $(BUILD)/fuzz/%: $(BUILD)/obj/fuzz/%.o $(fuzz_common) $(support) $(static)
	@mkdir -p $(@D)
	$(CXX) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -pthread -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIB_FUZZING_ENGINE) $(FUZZ_LIBS)

# What AFL++ takes the changes of operations from: loaded into it, so without its instrumentation.
$(fuzz_mutator): fuzz/operations.c fuzz/format.c
	@mkdir -p $(@D)
	gcc -std=c11 -O2 $(WARNINGS) -Iinclude -I. -fPIC -shared -o $@ $^

$(simt_bin): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(simt_kernel) $(simt_obj) $(support) $(static)
	@mkdir -p $(@D)
	$(CXX) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -lcmocka -lm

$(simt_gpu_bin): $(BUILD)/tests/gpu/%: $(BUILD)/obj/tests/gpu/%.plain.o $(BUILD)/obj/kernels/cuda.plain.o $(simt_obj) $(support) $(static)
	@mkdir -p $(@D)
	$(CXX) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -lm

# Of the tests' support only what needs no other library.
$(gpu_bin): $(BUILD)/gpu/%: tests/gpu/%.cu $(cuda) $(call object,tests/attend_case.c tests/bound.c tests/oracle.c) $(static) \
		$(wildcard tests/gpu/*.h tests/kernels/*.h tests/simt/*)
	@mkdir -p $(@D)
	$(COMPILE_CUDA) -o $@ $(filter-out tests/simt/%,$(filter %.cu %.o %.a,$^)) >$@.log 2>&1 || { cat $@.log; exit 1; }

$(BUILD)/obj/%.o: %.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE_CXX) -c -o $@ $<

$(BUILD)/obj/%.plain.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE_CXX) -DKERNELS=plain -x c++ -c -o $@ $<

$(BUILD)/obj/%.checked.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE_CHECKED) -x c++ -c -o $@ $<
	@objcopy $(seen_calls) $@

# What ptxas says of each kernel is kept beside the object.
$(BUILD)/cuda/cuda.o: kernels/cuda.cu $(wildcard include/chunkproof/*.h kernels/*.h kernels/simt/*.h) $(BUILD)/flags
	@mkdir -p $(@D)
	@$(NVCC) --version >$(@D)/ptxas.log
	@echo '$(COMPILE_CUDA) -c -o $@ $<'
	@$(COMPILE_CUDA) -c -o $@ $< >>$(@D)/ptxas.log 2>&1 || { cat $(@D)/ptxas.log; exit 1; }

$(cuda): $(BUILD)/cuda/cuda.o $(call object,$(wildcard kernels/*.c))
	@rm -f $@
	$(AR) rcs $@ $^

# Each object depends on the command line that compiles it: other flags, other objects.
$(BUILD)/obj/ref/%.o: EXTRA_CFLAGS += $(REF_CFLAGS)
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(BUILD)/flags: always
	@mkdir -p $(@D)
	@echo '$(COMPILE) $(COMPILE_CXX) $(COMPILE_CHECKED) $(COMPILE_CUDA)' | cmp -s - $@ || \
		echo '$(COMPILE) $(COMPILE_CXX) $(COMPILE_CHECKED) $(COMPILE_CUDA)' >$@

.PHONY: always
simt_all := $(fuzz_obj) $(simt_obj) $(simt_kernel) $(call object_cxx,$(simt_test)) $(gpu_src:%.cu=$(BUILD)/obj/%.plain.o) \
	$(BUILD)/obj/kernels/cuda.plain.o
gate_obj := $(gate_kernel:$(BUILD)/tests/%.so=$(BUILD)/obj/tests/%.o)
.SECONDARY: $(test_obj) $(gate_obj) $(tolerance_main) $(simt_all)
-include $(patsubst %.o,%.d,$(library_obj) $(command_obj) $(support_obj) $(test_obj) $(gate_obj) $(tolerance_main) $(simt_all))

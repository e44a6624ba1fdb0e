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

ifeq ($(origin CC),default)
CC = gcc
endif
# The C++ compiler that goes with it: gcc-12 has g++-12, clang has clang++.
ifeq ($(origin CXX),default)
CXX = $(subst gcc,g++,$(subst clang,clang++,$(CC)))
endif
CFLAGS   = -O2 -g
WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
COMPILE  = $(CC) -std=c11 -ffp-contract=off $(WARNINGS) $(CFLAGS) $(EXTRA_CFLAGS) -Iinclude -I. -fPIC -MMD -MP
COMPILE_CXX = $(CXX) -std=c++17 -ffp-contract=off -Wall -Wextra -Werror -Wshadow $(CFLAGS) $(EXTRA_CFLAGS) \
	-Iinclude -I. -fPIC -MMD -MP
LINK     = $(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS)

# For GPUs: machine code for 8.0 and 9.0, and for later ones what their driver compiles.
NVCC = $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
COMPILE_CUDA = $(NVCC) -std=c++17 -O3 -lineinfo -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
	-gencode arch=compute_90,code=compute_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-fPIC -Xptxas -v -Iinclude -I.

# Version macro -> library version -> soname: one number, in version.h.
version = $(shell awk '$$2 == "CP_VERSION" { gsub(/"/, "", $$3); print $$3 }' \
	include/chunkproof/version.h)
soname  = libchunkproof.so.$(firstword $(subst ., ,$(version)))

# What is built from what. A directory's files are all its *.c; tests/test_*.c are programs, the other
# files of tests/ and all of gate/ and fuzz/tolerance/ but what has a main() are theirs to use.
object       = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
library_obj := $(call object,$(wildcard ref/*.c))
command_obj := $(call object,$(wildcard gate/*.c gate/*/*.c))
test_src    := $(wildcard tests/test_*.c)
tolerance_main := $(call object,$(addprefix fuzz/tolerance/,check.c search.c table.c))
tolerance_obj  := $(filter-out $(tolerance_main),$(call object,$(wildcard fuzz/tolerance/*.c)))
tolerance_bin  := $(tolerance_main:$(BUILD)/obj/fuzz/%.o=$(BUILD)/%)
support_obj := $(call object,$(filter-out $(test_src),$(wildcard tests/*.c))) \
	$(filter-out %/gate/main.o,$(command_obj)) $(tolerance_obj) $(call object,$(wildcard kernels/*.c))
test_obj    := $(call object,$(test_src))
test_bin    := $(test_src:tests/%.c=$(BUILD)/tests/%)

# Kernels that the gate's tests and its example give it: shared objects.
gate_kernel := $(patsubst %.c,$(BUILD)/tests/%.so,$(patsubst tests/%,%,$(wildcard tests/gate/*.c tests/gate/cheats/*.c tests/example/*_kernel.c)))

# The programs for a GPU, and the same for the CPU.
gpu_src := $(wildcard tests/gpu/*.cu)
gpu_bin := $(gpu_src:tests/gpu/%.cu=$(BUILD)/gpu/%)
simt_gpu_bin := $(gpu_src:tests/gpu/%.cu=$(BUILD)/tests/gpu/%)

# The executor of CUDA kernels, its tests, and those of the kernels: each kernel is compiled twice, as any C++
# (plain), and with calls at its loads and stores that the executor answers (checked; kernels/simt/README.md).
object_cxx  = $(patsubst %.cpp,$(BUILD)/obj/%.o,$(1))
simt_obj   := $(call object_cxx,$(wildcard kernels/simt/*.cpp))
simt_kernel := $(foreach way,plain checked,$(patsubst %.cu,$(BUILD)/obj/%.$(way).o,$(wildcard tests/simt/*.cu tests/kernels/*.cu))) \
	$(BUILD)/obj/kernels/cuda.checked.o
simt_test  := $(wildcard tests/test_*.cpp)
simt_bin   := $(simt_test:tests/%.cpp=$(BUILD)/tests/%)
# No counters of coverage: they too would be accesses of the kernel.
COMPILE_CHECKED = $(filter-out --coverage,$(COMPILE_CXX)) -fno-sanitize=address -fsanitize=thread -DKERNELS=checked
seen_calls  = $(foreach name,memcpy memmove memset,--redefine-sym $(name)=simt_$(name))

static  := $(BUILD)/libchunkproof.a
shared  := $(BUILD)/libchunkproof.so
support := $(BUILD)/tests/libsupport.a
command := $(if $(command_obj),$(BUILD)/chunkproof)
cuda    := $(BUILD)/libchunkproof_cuda.a

.DEFAULT_GOAL := build
.PHONY: build command tests tests-c tests-simt gate-kernels simt cuda cuda-table gpu gpu-here bench-gpu deps deps-list test tolerance-check tolerance-table verify lint format prove prove-faults mutants coverage install uninstall clean help

build: $(static) $(shared) $(command)  ## the library, static and shared, and the command (the default)

command: $(command)                    ## the command alone

tests: tests-c tests-simt              ## the unit tests' programs

tests-c: $(test_bin) $(gate_kernel)    ## those in C: all but the executor's

gate-kernels: $(gate_kernel)           ## the kernels that the gate is tried on

tests-simt: $(simt_bin) $(simt_gpu_bin)  ## those of the executor of CUDA kernels

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

cuda: $(cuda)                          ## kernels and launcher for GPUs, a library of their own; needs nvcc

cuda-table: cuda                       ## write down the registers that nvcc gives each kernel: kernels/resources.csv
	scripts/ptxas.py $(BUILD)/cuda/ptxas.log --update

gpu: gpu-here $(gpu_bin) $(BUILD)/tests/gpu/conform  ## needs a GPU: every version on it, under its sanitizers, beside the executor
	@scripts/gpu.py check $(BUILD)/gpu $(BUILD)/tests/gpu

gpu-here:
	@[ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || { echo "make gpu needs an NVIDIA GPU, and here is none: there is no /dev/nvidiactl" >&2; exit 2; }

bench-gpu: gpu                         ## needs a GPU: latencies of all versions and of other implementations: build/bench/
	@scripts/gpu.py bench $(BUILD)/gpu $(BUILD)/bench

tolerance-check: $(tolerance_bin)      ## emulated kernels against the certified tolerance: CHUNKPROOF_ELEMENTS, _SEED, JOBS
	@$(BUILD)/tolerance/check --self-test
	@$(BUILD)/tolerance/search
	@$(BUILD)/tolerance/check -j $(JOBS)

tolerance-table: $(tolerance_bin)      ## how tight it is, and other acceptance rules: build/tolerance/*.csv, .md, .svg
	@$(BUILD)/tolerance/table
	@fuzz/tolerance/plot.py

verify: deps                           ## the gate: all stages; TIER=quick|default|deep STRICT=1 STAGES="lint ..." KERNEL=mine.so
	@TIER=$(TIER) STRICT=$(STRICT) KERNEL=$(abspath $(KERNEL)) scripts/verify.py $(if $(KERNEL),gate,$(STAGES))

lint: deps                             ## layout, static analysis, layering
	@scripts/verify.py lint

prove: deps                            ## all proofs, the model checking, the contracts run
	@TIER=$(TIER) STRICT=$(STRICT) scripts/verify.py proofs-wp-all proofs-coq model-checking contracts

prove-faults: deps                     ## each seeded fault must break a proof
	@TIER=$(TIER) STRICT=$(STRICT) scripts/verify.py proofs-wp-faults proofs-coq-faults \
		model-checking-faults contracts-faults

mutants:                               ## each seeded fault of the gate's kernels must be killed, by what: build/mutants; MATRIX=1 all cases
	@scripts/mutants $(if $(MATRIX),--matrix)

coverage: deps                         ## lines and branches of ref/ that the unit tests reach: build/coverage/html
	@scripts/coverage.py --html

format:                                ## lay out all C files as .clang-format says
	clang-format -i $(wildcard include/*/*.h kernels/*.[ch] kernels/*.cu kernels/*/*.h kernels/*/*.cpp tests/simt/*.h tests/simt/*.cu tests/kernels/*.h tests/kernels/*.cu tests/gpu/*.cu tests/*.cpp ref/*.[ch] gate/*.[ch] gate/*/*.[ch] tests/*.[ch] fuzz/*/*.[ch] proofs/*/*.[ch])

install: build                         ## into PREFIX=/usr/local, below DESTDIR= when that is given
	install -d $(DESTDIR)$(PREFIX)/include/chunkproof $(DESTDIR)$(PREFIX)/bin \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 include/chunkproof/*.h $(DESTDIR)$(PREFIX)/include/chunkproof
	scripts/fix-limits $(CC) $(EXTRA_CFLAGS) -Iinclude -E -x c - >$(DESTDIR)$(PREFIX)/include/chunkproof/limits.h
	install -m 755 $(command) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(static) $(DESTDIR)$(PREFIX)/lib
	$(if $(wildcard $(cuda)),install -m 644 $(cuda) $(DESTDIR)$(PREFIX)/lib)
	install -m 755 $(shared) $(DESTDIR)$(PREFIX)/lib/libchunkproof.so.$(version)
	ln -sf libchunkproof.so.$(version) $(DESTDIR)$(PREFIX)/lib/$(soname)
	ln -sf $(soname) $(DESTDIR)$(PREFIX)/lib/libchunkproof.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(version)|' scripts/chunkproof.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/chunkproof.pc

uninstall:                             ## what install put there, from the same PREFIX= and DESTDIR=
	rm -rf $(DESTDIR)$(PREFIX)/include/chunkproof
	rm -f $(DESTDIR)$(PREFIX)/bin/chunkproof $(DESTDIR)$(PREFIX)/lib/libchunkproof.* $(DESTDIR)$(PREFIX)/lib/libchunkproof_cuda.a \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig/chunkproof.pc

clean:                                 ## all that was built; unpacked tools stay (build/tools)
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name tools -exec rm -rf {} +

help:                                  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

# Archives and the shared library depend on the directory too: it changes when a file comes or goes.
$(static): $(library_obj) ref
	@rm -f $@
	$(AR) rcs $@ $(library_obj)

$(shared): $(library_obj) ref
	$(LINK) -shared -Wl,-soname,$(soname) -Wl,--no-undefined -o $@ $(library_obj) -lm

$(BUILD)/chunkproof: $(command_obj) $(static)
	$(LINK) -o $@ $^ -ljansson -lm

# What tests share, as an archive: each takes only what it uses and may have its own copy of the rest.
# q: two files of different directories may have the same name.
$(support): $(support_obj) tests/. kernels gate $(wildcard gate/*/.) fuzz/tolerance/.
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) qcs $@ $(support_obj)

$(test_bin): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(support) $(static)
	$(LINK) -o $@ $^ -lcmocka -ljansson -lmpfr -lm

# These start the command and give it kernels.
$(BUILD)/tests/test_runner $(BUILD)/tests/test_runner_load: | $(command) $(gate_kernel)

# A kernel sees the public headers and the library.
$(gate_kernel): $(BUILD)/tests/%.so: $(BUILD)/obj/tests/%.o $(static)
	@mkdir -p $(@D)
	$(LINK) -shared -o $@ $^ -lm

$(tolerance_bin): $(BUILD)/tolerance/%: $(BUILD)/obj/fuzz/tolerance/%.o $(support) $(static)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -lmpfr -lm

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
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(BUILD)/flags: always
	@mkdir -p $(@D)
	@echo '$(COMPILE) $(COMPILE_CXX) $(COMPILE_CHECKED) $(COMPILE_CUDA)' | cmp -s - $@ || \
		echo '$(COMPILE) $(COMPILE_CXX) $(COMPILE_CHECKED) $(COMPILE_CUDA)' >$@

.PHONY: always
simt_all := $(simt_obj) $(simt_kernel) $(call object_cxx,$(simt_test)) $(gpu_src:%.cu=$(BUILD)/obj/%.plain.o) \
	$(BUILD)/obj/kernels/cuda.plain.o
gate_obj := $(gate_kernel:$(BUILD)/tests/%.so=$(BUILD)/obj/tests/%.o)
.SECONDARY: $(test_obj) $(gate_obj) $(tolerance_main) $(simt_all)
-include $(patsubst %.o,%.d,$(library_obj) $(command_obj) $(support_obj) $(test_obj) $(gate_obj) $(tolerance_main) $(simt_all))

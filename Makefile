# SPDX-License-Identifier: Apache-2.0
# chunkproof. `make help` lists every target; the rules of what they build stand in mk/.
#
# A configuration has a directory of its own; everything that is built goes there:
#   make BUILD=build/clang CC=clang
#   make BUILD=build/asan EXTRA_CFLAGS="-O1 -fsanitize=address,undefined" tests

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

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

include mk/compilers.mk
include mk/build.mk
include mk/tests.mk
include mk/coverage.mk
include mk/simt.mk
include mk/cuda.mk
include mk/fuzz.mk
include mk/install.mk
include mk/objects.mk

# ---- Build ----

.PHONY: build command cuda cuda-table install uninstall clean clean-cache deps deps-list help

## the libraries and the command (the default)
build: $(static) $(shared) $(simt) $(command)

## the command alone, and what it links CUDA kernels with
command: $(command) $(simt)

## kernels and launcher for GPUs, a library of their own; needs nvcc
cuda: $(cuda)

## write down the registers that nvcc gives each kernel: kernels/resources.csv
cuda-table: cuda
	scripts/ptxas.py $(BUILD)/cuda/ptxas.log --update

## into PREFIX=/usr/local, below DESTDIR= when that is given
install: build

## what install put there, from the same PREFIX= and DESTDIR=
uninstall:

## install what is missing; DEPS=skip leaves that out everywhere
deps:
	@$(if $(filter skip,$(DEPS)),:,scripts/deps)

## print what is needed, and what of it is missing
deps-list:
	@scripts/deps --list

## all that was built; unpacked tools stay (build/tools)
clean:
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name tools -exec rm -rf {} +

## results of proofs and model checking that all checkouts share (CACHE=off ignores them)
clean-cache:
	@scripts/kept.py --clean

# Lines that begin with ## say what the target below them does.
## this list
help:
	@awk '/^## / { text[++n] = substr($$0, 4); next } \
		n && /^[a-z-]+:/ { printf "make %-15s %s\n", substr($$1, 1, length($$1) - 1), text[1]; \
			for (i = 2; i <= n; i++) printf "%-20s %s\n", "", text[i] } \
		{ n = 0 }' FS='[^a-z:-]' Makefile

# ---- Tests ----

.PHONY: test try tests tests-c tests-counted tests-simt gate-kernels gate-kernels-quick simt gpu \
	gpu-here

## build and pass all tests
test:
	@$(if $(filter skip,$(DEPS)),:,scripts/deps build install)
	@$(MAKE) -s -j2 --no-print-directory build tests
	@scripts/run_tests.py --build $(BUILD) $(addprefix --except ,$(EXCEPT))

## one stem's unit tests and seeded faults, in seconds: t=tree; t= lists the stems
try:
	@scripts/try $(t)

## the unit tests' programs
tests: tests-c tests-simt gate-kernels

## the unit tests' programs in C: all but the executor's
tests-c: $(test_bin) $(gate_kernel)

## the unit tests' programs in C with counters in ref/: COUNTS=--coverage
tests-counted: $(counted_bin)

## the unit tests' programs of the executor of CUDA kernels
tests-simt: $(simt_bin) $(simt_gpu_bin)

## the kernels that the gate is tried on
gate-kernels: $(gate_kernel) $(gate_opt) $(gate_cuda)

## of these what TIER=quick needs
gate-kernels-quick: $(gate_kernel) $(BUILD)/tests/gate/cuda_v3.so

## CUDA kernels on the CPU: build and pass its tests with gcc and clang
simt:
	@for compiler in gcc clang; do \
		$(MAKE) -s --no-print-directory BUILD=build/$$compiler CC=$$compiler tests-simt && \
		scripts/run_tests.py --build build/$$compiler --only simt || exit 1; \
	done

## needs a GPU: every version on it, under its sanitizers, beside the executor
gpu: gpu-here $(gpu_bin) $(gpu_kernel) $(BUILD)/tests/gpu/conform $(command)
	@scripts/gpu.py check $(BUILD)/gpu $(BUILD)/tests/gpu

gpu-here:
	@[ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || { \
		echo "make gpu needs an NVIDIA GPU, and here is none: there is no /dev/nvidiactl" >&2; \
		exit 2; }

# ---- Benchmarks ----

.PHONY: bench bench-smoke bench-gate bench-gpu questions

## how fast opt/ is, beside the machine's limits and others: build/bench/
## TORCH=1 VLLM=1 TRACE=file SECONDS=1
bench: command
	@scripts/bench --build $(BUILD) $(if $(TORCH),--torch) $(if $(VLLM),--vllm) \
		$(if $(TRACE),--trace $(TRACE)) --seconds $(or $(SECONDS),1)

## the same on small loads: does it run?
bench-smoke: command
	@scripts/bench --smoke --build $(BUILD) --out $(BUILD)/bench-smoke

## on a machine that does nothing else: does tier quick of the gate take at most 20 seconds?
bench-gate: command
	@scripts/gate_seconds.py $(BUILD)/chunkproof

## needs a GPU: latencies of all versions and of other implementations: build/bench/
bench-gpu: gpu
	@scripts/gpu.py bench $(BUILD)/gpu $(BUILD)/bench

## the papers' questions on a language model, with intervals: build/questions/
## MODEL=weights PLACES=120 ROUNDS=20 THREADS=1; tests/model/README.md
questions: command
	@tests/model/questions.py $(BUILD)/chunkproof \
		$(or $(MODEL),$(BUILD)/model/smollm2.weights) --out $(BUILD)/questions \
		$(if $(PLACES),--places $(PLACES)) $(if $(ROUNDS),--rounds $(ROUNDS)) \
		$(if $(THREADS),--threads $(THREADS))

# ---- Fuzzing, and the tolerance ----

.PHONY: fuzz fuzz-afl fuzz-smoke fuzz-faults fuzz-targets tolerance-check tolerance-table

## search for inputs that break a claim; needs clang
## TIME=60 seconds each of TARGETS="tree plan"
fuzz:
	@scripts/fuzz --time $(TIME) $(TARGETS)

## the same with AFL++
fuzz-afl:
	@scripts/fuzz --engine afl --time $(TIME) $(TARGETS)

## the committed inputs, and some thousand others that are the same each time
fuzz-smoke:
	@scripts/fuzz --smoke $(TARGETS)

## each seeded fault that a fuzz target must find
fuzz-faults:
	@scripts/faults --by fuzz

## the fuzz targets, to run files: build/fuzz/TARGET FILE|DIRECTORY...
fuzz-targets: $(fuzz_bin)

## emulated kernels against the certified tolerance: CHUNKPROOF_ELEMENTS, _SEED, JOBS
tolerance-check: $(tolerance_bin)
	@$(BUILD)/tolerance/check --self-test
	@$(BUILD)/tolerance/search
	@$(BUILD)/tolerance/check -j $(JOBS)

## how tight it is, and other acceptance rules: build/tolerance/*.csv, .md, .svg
tolerance-table: $(tolerance_bin)
	@$(BUILD)/tolerance/table
	@fuzz/tolerance/plot.py

# ---- Checks ----

.PHONY: verify lint format prove prove-faults mutants coverage

## every check, in stages
## TIER=quick|default|deep STRICT=1 STAGES="lint ..." KERNEL=mine.so
verify: deps
	@TIER=$(TIER) STRICT=$(STRICT) KERNEL=$(abspath $(KERNEL)) \
		scripts/verify.py $(if $(KERNEL),gate,$(STAGES))

## layout, static analysis, layering
lint: deps
	@scripts/verify.py lint

## lay out all C files as .clang-format says
format:
	clang-format -i $(formatted)

## all proofs, the model checking, the contracts run
## WITHIN=600: begins proofs and model checks for so many seconds each
prove: deps
	@TIER=$(TIER) STRICT=$(STRICT) WITHIN=$(WITHIN) \
		scripts/verify.py proofs-wp-all proofs-wp-smoke proofs-coq model-checking-wide contracts

## each seeded fault must break a proof
prove-faults: deps
	@TIER=$(TIER) STRICT=$(STRICT) scripts/verify.py proofs-wp-faults proofs-coq-faults \
		model-checking-faults contracts-faults

## each seeded fault of the gate's kernels must be killed, by what: build/mutants
## MATRIX=1 all cases
mutants:
	@scripts/faults --by gate $(if $(MATRIX),--matrix)

## lines and branches of ref/ that the unit tests reach: build/coverage/html
coverage: deps
	@scripts/coverage.py --html

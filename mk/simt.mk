# SPDX-License-Identifier: Apache-2.0
# The executor of CUDA kernels: its tests, and those of the kernels. Each kernel is compiled twice:
# as any C++ (plain), and with calls at its loads and stores that the executor answers (checked;
# kernels/simt/README.md).

simt_cu     := $(wildcard tests/simt/*.cu tests/kernels/*.cu)
simt_kernel := $(simt_cu:%.cu=$(BUILD)/obj/%.plain.o) $(simt_cu:%.cu=$(BUILD)/obj/%.checked.o) \
	$(launcher_checked)
simt_test   := $(wildcard tests/test_*.cpp)
simt_bin    := $(simt_test:tests/%.cpp=$(BUILD)/tests/%)

# The programs for a GPU, for the CPU.
gpu_src      := $(wildcard tests/gpu/*.cu)
simt_gpu_bin := $(gpu_src:tests/gpu/%.cu=$(BUILD)/tests/gpu/%)

# Calls of a checked kernel that the executor answers.
seen_calls  = $(foreach name,memcpy memmove memset,--redefine-sym $(name)=simt_$(name)) \
	--redefine-sym __sanitizer_cov_trace_pc=fuzz_edge \
	--redefine-sym __ubsan_handle_type_mismatch_v1=simt_type_mismatch

$(simt_bin): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(simt_kernel) $(simt_obj) \
		$(support) $(static)
	@mkdir -p $(@D)
	$(LINK_CXX) -pthread -o $@ $^ -lcmocka -lm

$(simt_gpu_bin): $(BUILD)/tests/gpu/%: $(BUILD)/obj/tests/gpu/%.plain.o \
		$(launcher_src:%.cu=$(BUILD)/obj/%.plain.o) $(simt_obj) $(support) $(static)
	@mkdir -p $(@D)
	$(LINK_CXX) -pthread -o $@ $^ -lm

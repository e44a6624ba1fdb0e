# SPDX-License-Identifier: Apache-2.0
# What nvcc builds: the kernels and their launcher as a library, and the programs for a GPU.

gpu_bin := $(gpu_src:tests/gpu/%.cu=$(BUILD)/gpu/%)

# Of the tests' support only what needs no other library.
gpu_support := $(call object,tests/attend_case.c tests/bound.c tests/kept_case.c tests/mask_case.c \
	tests/oracle.c tests/score_case.c)

# What ptxas says of each kernel is kept beside the objects, that of all in ptxas.log. ccache goes
# by the text of all headers, not by what the preprocessor makes of it: that differs by capability.
cuda_obj := $(launcher_src:kernels/%.cu=$(BUILD)/cuda/%.o)

$(cuda_obj): $(BUILD)/cuda/%.o: kernels/%.cu \
		$(wildcard include/chunkproof/*.h kernels/*.h kernels/simt/*.h) $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '$(COMPILE_CUDA) -c -o $@ $<'
	@CCACHE_DEPEND=1 $(KEPT) $(COMPILE_CUDA) -MMD -MP -c -o $@ $< >$(@:.o=.log) 2>&1 || \
		{ cat $(@:.o=.log); exit 1; }

$(cuda): $(cuda_obj) $(launch_obj)
	@rm -f $@
	@{ $(NVCC) --version; cat $(cuda_obj:.o=.log); } >$(BUILD)/cuda/ptxas.log
	$(AR) rcs $@ $^

$(gpu_bin): $(BUILD)/gpu/%: tests/gpu/%.cu $(cuda) $(gpu_support) $(static) \
		$(wildcard tests/gpu/*.h tests/kernels/*.h tests/simt/*)
	@mkdir -p $(@D)
	$(COMPILE_CUDA) -o $@ $(filter-out tests/simt/%,$(filter %.cu %.o %.a,$^)) >$@.log 2>&1 || \
		{ cat $@.log; exit 1; }

# The kernels for the gate on a GPU (tests/gpu/gate.sh).
gpu_kernel := $(foreach kernel,$(cuda_kernels),$(BUILD)/gpu/cuda_v$(kernel).so)

$(gpu_kernel): $(BUILD)/gpu/cuda_v%.so: tests/gate/cuda.cu $(cuda) $(static)
	@mkdir -p $(@D)
	$(COMPILE_CUDA) -cudart shared -shared $(call cuda_kernel,$*) -o $@ $^ >$@.log 2>&1 || \
		{ cat $@.log; exit 1; }

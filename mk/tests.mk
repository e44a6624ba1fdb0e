# SPDX-License-Identifier: Apache-2.0
# The unit tests' programs in C, and the kernels that the gate is tried on. Of tests/, test_*.c are
# programs; its other files, and all of gate/ and fuzz/tolerance/ but what has a main(), are theirs
# to use.

test_src := $(wildcard tests/test_*.c)
test_obj := $(call object,$(test_src))
test_bin := $(test_src:tests/%.c=$(BUILD)/tests/%)

tolerance_main := $(call object,$(addprefix fuzz/tolerance/,check.c search.c table.c))
tolerance_obj  := $(filter-out $(tolerance_main),$(call object,$(wildcard fuzz/tolerance/*.c)))
tolerance_bin  := $(tolerance_main:$(BUILD)/obj/fuzz/%.o=$(BUILD)/%)
support_obj    := $(call object,$(filter-out $(test_src),$(wildcard tests/*.c))) \
	$(filter-out %/cli/main.o,$(command_obj)) $(tolerance_obj) $(launch_obj) \
	$(call object,fuzz/format.c)

# What tests share, as an archive: each takes only what it uses and may have its own copy of the
# rest. q: two files of different directories may have the same name.
$(support): $(support_obj) tests/. kernels cli gate $(wildcard cli/*/. gate/*/.) fuzz/tolerance/.
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) qcs $@ $(support_obj)

TEST_LIBS = -lcmocka -ljansson $(XML_LIBS) $(MODEL_LIBS) -lmpfi -lmpfr -lm
$(test_bin): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(support) $(static)
	$(LINK) -pthread -o $@ $^ $(TEST_LIBS)

$(tolerance_bin): $(BUILD)/tolerance/%: $(BUILD)/obj/fuzz/tolerance/%.o $(support) $(static)
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -lmpfi -lmpfr -lm

# ---- Kernels for the gate: shared objects ----

gate_src    := $(wildcard tests/gate/*.c tests/gate/cheats/*.c tests/example/*_kernel.c)
gate_kernel := $(gate_src:tests/%.c=$(BUILD)/tests/%.so)
gate_obj    := $(gate_src:%.c=$(BUILD)/obj/%.o)

# Attention of opt/: each version, and each type of K and V.
gate_opt  := $(foreach name,portable avx2 avx512 neon amx bfloat float amx_bfloat amx_float \
	avx512_bf16 e4m3 e5m2 int8 widths latent latent_e4m3 amx_latent, \
	$(BUILD)/tests/gate/opt_$(name).so)

# The CUDA kernels, on the executor: versions in binary16, and as CUDA_... of tests/gate/cuda.cu.
cuda_kernels := 1 2 3 1_bf16 1_tokens 2_bf16 2_int8 2_mixed 3_bf16 3_e4m3 3_int8 3_mixed 3_tokens \
	3_widths 3_latent 3_bflatent
gate_cuda := $(foreach kernel,$(cuda_kernels),$(BUILD)/tests/gate/cuda_v$(kernel).so) \
	$(BUILD)/tests/gate/cuda_misbehaves.so
cuda_kernel = -DCHUNKPROOF_VERSION=$(word 1,$(subst _, ,$1)) \
	$(addprefix -DCUDA_,$(word 2,$(subst _, ,$1)))
cuda_so    = -Wl,--whole-archive $(simt) -Wl,--no-whole-archive $(static) -lm

# These start the command and give it kernels.
$(addprefix $(BUILD)/tests/,test_runner test_runner_load test_device): | $(command) $(gate_kernel)

# A kernel sees the public headers and the library.
$(gate_kernel): $(BUILD)/tests/%.so: $(BUILD)/obj/tests/%.o $(static)
	@mkdir -p $(@D)
	$(LINK) -shared -pthread -o $@ $^ -lm

$(BUILD)/tests/gate/opt_%.so: tests/gate/opt.c $(static)
	@mkdir -p $(@D)
	$(filter-out -MMD -MP,$(COMPILE)) -DOPT_$* -shared -pthread -o $@ \
		$< $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) -lm

# AMX is emulated where there is none: that object's answer to whether there is any comes before
# the library's.
$(filter %/opt_amx.so %/opt_amx_bfloat.so %/opt_amx_float.so %/opt_amx_latent.so,$(gate_opt)): \
	$(BUILD)/obj/tests/amx_emulator.o

$(BUILD)/tests/gate/cuda_v%.so: tests/gate/cuda.cu $(launcher_checked) \
		$(launch_obj) $(simt) $(static)
	@mkdir -p $(@D)
	$(COMPILE_CXX) -shared -pthread $(call cuda_kernel,$*) -o $@ \
		-x c++ $< -x none $(filter %.o,$^) $(cuda_so)

$(BUILD)/tests/gate/cuda_misbehaves.so: $(BUILD)/obj/tests/gate/cuda_misbehaves.checked.o \
		$(simt) $(static)
	@mkdir -p $(@D)
	$(LINK_CXX) -shared -pthread -o $@ $< $(cuda_so)
-include $(BUILD)/obj/tests/gate/cuda_misbehaves.checked.d

# SPDX-License-Identifier: Apache-2.0
# Objects. Each depends on the command line that compiles it: other flags, other objects.

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

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

all_flags = $(COMPILE) $(COMPILE_CXX) $(COMPILE_CHECKED) $(COMPILE_CUDA)
$(BUILD)/flags: always
	@mkdir -p $(@D)
	@echo '$(all_flags)' | cmp -s - $@ || echo '$(all_flags)' >$@

.PHONY: always

# An object that a rule makes on the way to another file stays, with what it was made from.
kept_obj := $(test_obj) $(gate_obj) $(tolerance_main) $(fuzz_obj) $(simt_obj) $(simt_kernel) \
	$(call object_cxx,$(simt_test)) $(gpu_src:%.cu=$(BUILD)/obj/%.plain.o) \
	$(launcher_src:%.cu=$(BUILD)/obj/%.plain.o)
.SECONDARY: $(kept_obj)
-include $(patsubst %.o,%.d,$(library_obj) $(command_obj) $(support_obj) $(kept_obj))

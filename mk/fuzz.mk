# SPDX-License-Identifier: Apache-2.0
# The fuzz targets. Inputs are operations (fuzz/format.h), or text.

fuzz_operations := tree plan opt_tree attention schedule kernels
fuzz_text       := trace script gate_case gate_state bound_case pml weights options

fuzz_bin     := $(addprefix $(BUILD)/fuzz/,$(fuzz_operations) $(fuzz_text))
fuzz_obj     := $(call object,$(wildcard fuzz/*.c)) $(BUILD)/obj/fuzz/kernels.o
fuzz_common  := $(call object,fuzz/target.c) \
	$(if $(LIB_FUZZING_ENGINE),,$(call object,fuzz/main.c))
fuzz_mutator := $(BUILD)/fuzz/mutator.so
FUZZ_LIBS = -ljansson $(XML_LIBS) $(MODEL_LIBS) -lm

$(addprefix $(BUILD)/fuzz/,$(fuzz_operations)): \
	$(call object,fuzz/operations.c fuzz/format.c fuzz/world.c)
$(addprefix $(BUILD)/fuzz/,$(fuzz_text)): $(call object,fuzz/text.c fuzz/parse.c)
$(BUILD)/fuzz/gate_case: $(call object,fuzz/merge_case.c)
$(BUILD)/fuzz/gate_state: $(call object,fuzz/merge_state.c)
$(BUILD)/fuzz/kernels: $(simt_obj) $(launcher_checked) \
		$(call object,fuzz/edges.c)

# What an engine looks at: edges and operands of comparisons of the parsers, edges of the library
# and of the targets, nothing of the executor and of the judges in tests/. Else most of the time
# went there.
ifneq ($(LIB_FUZZING_ENGINE),)
unseen_obj := $(simt_obj) $(filter $(BUILD)/obj/tests/%,$(support_obj))
edges_obj  := $(library_obj) $(fuzz_obj) $(BUILD)/obj/kernels/%.o
$(simt_obj): override CXX := $(subst afl-clang-fast++,clang++,$(CXX))
$(unseen_obj): override EXTRA_CFLAGS += -fno-sanitize=fuzzer-no-link
$(edges_obj): override EXTRA_CFLAGS += -fno-sanitize-coverage=trace-cmp
endif

# An engine is C++ in part. The archives come last.
$(fuzz_bin): $(BUILD)/fuzz/%: $(BUILD)/obj/fuzz/%.o $(fuzz_common) $(support) $(static)
	@mkdir -p $(@D)
	$(LINK_CXX) -pthread -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(LIB_FUZZING_ENGINE) $(FUZZ_LIBS)

# What AFL++ takes the changes of operations from: loaded into it, so without its instrumentation.
$(fuzz_mutator): fuzz/operations.c fuzz/format.c
	@mkdir -p $(@D)
	gcc -std=c11 -O2 $(WARNINGS) -Iinclude -I. -fPIC -shared -o $@ $^

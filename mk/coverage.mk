# SPDX-License-Identifier: Apache-2.0
# The unit tests' programs with counters in ref/ (scripts/coverage.py). What is not of ref/ counts
# nothing, and is what the tests of the same configuration are made of. The counters' notes name the
# checkout: these objects are not kept.

COUNTS =
counted     := $(BUILD)/counted
counted_obj := $(patsubst ref/%.c,$(counted)/obj/ref/%.o,$(wildcard ref/*.c))
counted_bin := $(test_bin:$(BUILD)/%=$(counted)/%)

$(counted)/obj/ref/%.o: ref/%.c $(BUILD)/flags $(counted)/flags
	@mkdir -p $(@D)
	$(filter-out $(KEPT) $(MAPPED),$(COMPILE)) $(COUNTS) -c -o $@ $<

$(counted)/flags: always
	@mkdir -p $(@D)
	@echo '$(COUNTS)' | cmp -s - $@ || echo '$(COUNTS)' >$@

# Objects of ref/ and opt/ may have the same name: q.
$(counted)/libchunkproof.a: $(counted_obj) $(filter $(BUILD)/obj/opt/%,$(library_obj)) ref opt
	@rm -f $@
	$(AR) qcs $@ $(filter %.o,$^)

$(counted_bin): $(counted)/tests/%: $(BUILD)/obj/tests/%.o $(support) $(counted)/libchunkproof.a
	@mkdir -p $(@D)
	$(LINK) --coverage -pthread -o $@ $^ $(TEST_LIBS)

-include $(counted_obj:.o=.d)

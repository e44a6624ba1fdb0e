# SPDX-License-Identifier: Apache-2.0
# The libraries and the command. A directory's files are all its *.c.

# Version macro -> library version -> soname: one number, in version.h.
version = $(shell awk '$$2 == "CP_VERSION" { gsub(/"/, "", $$3); print $$3 }' \
	include/chunkproof/version.h)
soname  = libchunkproof.so.$(firstword $(subst ., ,$(version)))

static  := $(BUILD)/libchunkproof.a
shared  := $(BUILD)/libchunkproof.so
simt    := $(BUILD)/libchunkproof_simt.a
cuda    := $(BUILD)/libchunkproof_cuda.a
support := $(BUILD)/tests/libsupport.a

object       = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
object_cxx   = $(patsubst %.cpp,$(BUILD)/obj/%.o,$(1))
library_obj := $(call object,$(wildcard ref/*.c opt/*.c))
command_obj := $(call object,$(wildcard cli/*.c cli/*/*.c gate/*.c gate/*/*.c))
command     := $(if $(command_obj),$(BUILD)/chunkproof)
simt_obj    := $(call object_cxx,$(wildcard kernels/simt/*.cpp))
launch_obj  := $(call object,$(wildcard kernels/*.c))

# The launcher of the CUDA kernels, and the same for the executor.
launcher_src     := $(wildcard kernels/*.cu)
launcher_checked := $(launcher_src:%.cu=$(BUILD)/obj/%.checked.o)

# Archives and the shared library depend on the directory too: it changes when a file comes or
# goes. q: ref/ and opt/ have files of the same name.
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
	$(LINK) -pthread -o $@ $^ -ljansson $(XML_LIBS) $(MODEL_LIBS) -lm

# What clang-format lays out.
formatted = $(wildcard include/*/*.h ref/*.[ch] opt/*.[ch] cli/*.[ch] cli/*/*.[ch] \
	gate/*.[ch] gate/*/*.[ch] proofs/*/*.[ch] \
	kernels/*.[ch] kernels/*.cu kernels/*/*.h kernels/*/*/*.h kernels/*/*/*/*.h kernels/*/*.cpp \
	tests/*.[ch] tests/mpi/*.[ch] tests/*.cpp tests/gate/*.cu tests/example/*.cu tests/gpu/*.cu \
	tests/simt/*.h tests/simt/*.cu tests/kernels/*.h tests/kernels/*.cu \
	fuzz/*.[ch] fuzz/*.cpp fuzz/*/*.[ch])

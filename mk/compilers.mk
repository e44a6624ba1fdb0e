# SPDX-License-Identifier: Apache-2.0
# How C, C++ and CUDA are compiled and linked.
# A source file that needs more of the system than C11 defines its feature macro itself, in its
# first line: there is none here, so that the rest of the library stays plain C11.

ifeq ($(origin CC),default)
CC = gcc
endif
# The C++ compiler that goes with it: gcc-12 has g++-12, clang has clang++.
ifeq ($(origin CXX),default)
CXX = $(subst gcc,g++,$(subst clang,clang++,$(CC)))
endif
CFLAGS   = -O2 -g
# Where ccache is installed, objects are kept by content, and checkouts share them: an object does
# not name its checkout. CACHE=off keeps none, and the deep tier takes none.
ifeq ($(filter off,$(CACHE))$(findstring afl,$(CC)),)
KEPT := $(notdir $(shell command -v ccache))
endif
ifneq ($(KEPT),)
MAPPED := -ffile-prefix-map=$(CURDIR)=.
endif
ifeq ($(TIER),deep)
export CCACHE_RECACHE = 1
endif
XML_CFLAGS := $(shell pkg-config --cflags libxml-2.0 2>/dev/null)
XML_LIBS   := $(shell pkg-config --libs libxml-2.0 2>/dev/null)
# What `chunkproof model` needs: regular expressions with Unicode, and CRC-32.
MODEL_LIBS = -lpcre2-8 -lz
WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
COMPILE  = $(KEPT) $(CC) -std=c11 -ffp-contract=off $(WARNINGS) $(CFLAGS) $(EXTRA_CFLAGS) \
	-Iinclude -I. $(XML_CFLAGS) $(MAPPED) -fPIC -MMD -MP
LINK     = $(CC) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS)
COMPILE_CXX = $(KEPT) $(CXX) -std=c++17 -ffp-contract=off -Wall -Wextra -Werror -Wshadow $(CFLAGS) \
	$(EXTRA_CFLAGS) -Iinclude -I. $(MAPPED) -fPIC -MMD -MP
LINK_CXX = $(CXX) $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS)

# Code of a CUDA kernel for the executor: its loads and stores are calls that the executor answers.
# No counters of coverage: they too would be accesses of the kernel.
comma := ,
COMPILE_CHECKED = $(subst afl-clang-fast++,clang++,$(filter-out --coverage,$(COMPILE_CXX))) \
	-fno-sanitize=address -fno-strict-aliasing -fsanitize=thread,alignment \
	-fsanitize-recover=alignment $(if $(LIB_FUZZING_ENGINE),$(no_engine)) -DKERNELS=checked
no_engine = -fno-sanitize=fuzzer-no-link$(comma)function -fsanitize-coverage=trace-pc

# For GPUs: machine code for 8.0 and 9.0, and for later ones what their driver compiles.
NVCC = $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
COMPILE_CUDA = $(NVCC) -std=c++17 -O3 -lineinfo -gencode arch=compute_80,code=sm_80 \
	-gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90 \
	-Werror all-warnings -Xcompiler -Wall,-Wextra,-fPIC -Xptxas -v -Iinclude -I.

# An engine for the fuzz targets: -fsanitize=fuzzer, or OSS-Fuzz's. With one, trees are so small
# that each bound of limits.h is near, and kernels have few head dimensions; without, the targets
# only run files (fuzz/main.c).
LIB_FUZZING_ENGINE =
ifneq ($(LIB_FUZZING_ENGINE),)
override EXTRA_CFLAGS += -DCP_MAX_CHUNKS=1024 -DCP_MAX_SEQUENCES=16 -DCP_MAX_DEPTH=16
override EXTRA_CFLAGS += "-DCHUNKPROOF_HEAD_DIMS(ONE)=ONE(32) ONE(64)"
override EXTRA_CFLAGS += "-DCHUNKPROOF_WIDTHS(ONE)=ONE(64, 32, false)"
endif

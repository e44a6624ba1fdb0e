/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a kernel in CUDA: for a GPU unchanged; for the executor of kernels/simt as C++, with
 * a call at each load and store. */
#define _POSIX_C_SOURCE 200809L /* access, unlink */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/source/compile.h"
#include "gate/source/cuda_source.h"
#include "gate/source/words.h"

/* The directories of <chunkproof/...> and of "kernels/simt/...". */
static int add_includes(struct gate_words *words) {
    char include[GATE_MOST_PATH], simt[GATE_MOST_PATH];
    if (gate_find(include, "include/chunkproof/kernel.h", "include/chunkproof/kernel.h") != 0 ||
        gate_find(simt, "include/chunkproof/kernels/simt/cuda.h", "kernels/simt/cuda.h") != 0) {
        return -1;
    }
    *strstr(include, "/chunkproof/kernel.h") = '\0';
    *strstr(simt, "/kernels/simt/cuda.h") = '\0';
    gate_words_add(words, "-I%s", include);
    gate_words_add(words, "-I%s", simt);
    return 0;
}

/* #include "..." finds files in the source's directory, wherever the copy of the source is. */
static void add_own_directory(struct gate_words *words, const char *source) {
    const char *end = strrchr(source, '/');
    gate_words_add(words, "-I%.*s", end == NULL ? 1 : (int)(end - source),
                   end == NULL ? "." : source);
}

/* ---- On a GPU ---- */

static const char *nvcc(void) {
    static const char usual[] = "/usr/local/cuda/bin/nvcc";
    const char *given = getenv("NVCC");
    return given != NULL ? given : access(usual, X_OK) == 0 ? usual : "nvcc";
}

static int has_gpu(void) {
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

static int compile_for_gpu(const struct gate_object *object, const char *source) {
    struct gate_words words = {.n = 0};
    if (!has_gpu()) {
        fprintf(stderr,
                "chunkproof: %s: there is no GPU here; leave out --on gpu to run it on the "
                "executor, on the CPU\n",
                source);
        return -1;
    }
    gate_words_add(&words, "%s", nvcc());
    gate_words_split(&words, "-O3 -std=c++17 -arch=native -cudart shared -shared -Xcompiler -fPIC");
    if (add_includes(&words) != 0) {
        return -1;
    }
    gate_words_add(&words, "-o");
    gate_words_add(&words, "%s", object->file);
    gate_words_add(&words, "%s", source);
    return gate_words_run(&words, object->seconds);
}

/* ---- On the executor ---- */

static int compile_checked(const struct gate_object *object, const char *source) {
    const char *cxx = getenv("CXX"), *flags = getenv("CXXFLAGS");
    struct gate_words words = {.n = 0};
    gate_words_split(&words, cxx != NULL ? cxx : "g++");
    gate_words_split(&words, "-std=c++17 -ffp-contract=off");
    gate_words_split(&words, "-g1"); /* lines, for lines.c; flags may ask for more */
    gate_words_split(&words, flags != NULL ? flags : "-O2");
    /* device code may read data of one type as another, a uint4 as halves; nvcc allows it */
    gate_words_split(&words, "-fno-strict-aliasing");
    gate_words_split(&words, "-fsanitize=thread,alignment -fno-threadsafe-statics -fPIC -c");
    /* the same source gives the same object, in whichever directory the copy is */
    gate_words_add(&words, "-ffile-prefix-map=%s=.", object->directory);
    gate_words_split(&words, "-frandom-seed=kernel");
    if (add_includes(&words) != 0) {
        return -1;
    }
    gate_words_add(&words, "%s/kernels/simt/as_cuda", words.word[words.n - 1]);
    add_own_directory(&words, source);
    gate_words_add(&words, "-o");
    gate_words_add(&words, "%s/kernel.o", object->directory);
    gate_words_add(&words, "%s/kernel.cpp", object->directory);
    return gate_words_run(&words, object->seconds);
}

/* Copies and fills of whole structures also become calls of the executor, and so do reports of
 * unaligned vectors. */
static int redirect_copies(const struct gate_object *object) {
    struct gate_words words = {.n = 0};
    gate_words_split(&words,
                     "objcopy --redefine-sym memcpy=simt_memcpy --redefine-sym "
                     "memmove=simt_memmove --redefine-sym memset=simt_memset --redefine-sym "
                     "__ubsan_handle_type_mismatch_v1=simt_type_mismatch");
    gate_words_add(&words, "%s/kernel.o", object->directory);
    return gate_words_run(&words, object->seconds);
}

static int link_checked(const struct gate_object *object) {
    const char *cxx = getenv("CXX");
    struct gate_words words = {.n = 0};
    char simt[GATE_MOST_PATH], library[GATE_MOST_PATH];
    if (gate_find_built(simt, "libchunkproof_simt.a") != 0 ||
        gate_find_built(library, "libchunkproof.a") != 0) {
        return -1;
    }
    gate_words_split(&words, cxx != NULL ? cxx : "g++");
    gate_words_split(&words, "-shared -pthread -o");
    gate_words_add(&words, "%s", object->file);
    gate_words_add(&words, "%s/kernel.o", object->directory);
    gate_words_add(&words, "-Wl,--whole-archive");
    gate_words_add(&words, "%s", simt);
    gate_words_add(&words, "-Wl,--no-whole-archive");
    gate_words_add(&words, "%s", library);
    gate_words_add(&words, "-lm");
    return gate_words_run(&words, object->seconds);
}

static int compile_for_executor(const struct gate_object *object, const char *source) {
    char copy[sizeof object->directory + 16];
    (void)snprintf(copy, sizeof copy, "%s/kernel.cpp", object->directory);
    return gate_cuda_source(source, copy) == 0 && compile_checked(object, source) == 0 &&
                   redirect_copies(object) == 0
               ? link_checked(object)
               : 1;
}

int gate_compile_cuda(const struct gate_object *object, const char *source, enum gate_place place) {
    int on_gpu = place == GATE_ON_GPU || (place == GATE_ANYWHERE && has_gpu());
    return on_gpu ? compile_for_gpu(object, source) : compile_for_executor(object, source);
}

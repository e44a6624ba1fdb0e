/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel as a shared object that stays what it is, whatever becomes of its file: a copy, or
 * compiled from source, in a directory that is removed afterwards. */
#ifndef CHUNKPROOF_GATE_SOURCE_COMPILE_H
#define CHUNKPROOF_GATE_SOURCE_COMPILE_H

#include "cli/base/stamp.h"

struct gate_object {
    char directory[1024]; /* "": there is nothing to remove */
    char file[4096];      /* the shared object */
    double seconds;       /* that a compiler may take */
    /* 1: the file is the user's own, and must be what it was. */
    int in_place;
    struct file_stamp stamp;
};

/* Where a kernel's arrays lie when its source leaves that open. */
enum gate_place {
    GATE_ANYWHERE, /* on a GPU if there is one, and nvcc; else on the executor */
    GATE_ON_GPU,
    GATE_ON_EXECUTOR
};

/* What a kernel's file becomes, in a directory in $TMPDIR, or /tmp:
 *
 * - *.c: $CC (cc) compiles it with $CFLAGS (-O2) and links it with this library.
 * - *.cu: nvcc compiles it; for the executor $CXX (g++) does, with $CXXFLAGS (-O2).
 * - Any other file is copied. It stays in its place when it names libraries by $ORIGIN, which is
 *   its directory, when there is no room, or when nothing in the new directory may be loaded.
 *
 * A compiler is ended after so many seconds. 0, or -1 after saying what is wrong, in the name of
 * `command`. */
int gate_object_new(struct gate_object *object, const char *kernel, enum gate_place place,
                    double seconds, const char *command);
void gate_object_free(struct gate_object *object);

/* Compiles a kernel in CUDA into object->file. 0, or -1 after saying what is wrong. */
int gate_compile_cuda(const struct gate_object *object, const char *source, enum gate_place place);

#endif

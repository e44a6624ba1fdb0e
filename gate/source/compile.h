/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a kernel that is given as source, in a directory of its own that is removed
 * afterwards. */
#ifndef CHUNKPROOF_GATE_SOURCE_COMPILE_H
#define CHUNKPROOF_GATE_SOURCE_COMPILE_H

struct gate_object {
    char directory[1024]; /* "": there is nothing to remove */
    char file[1056];      /* the shared object */
};

/* Where a kernel's arrays lie when its source leaves that open. */
enum gate_place {
    GATE_ANYWHERE, /* on a GPU if there is one, and nvcc; else on the executor */
    GATE_ON_GPU,
    GATE_ON_EXECUTOR
};

/* Makes a shared object from a file; the directory is in $TMPDIR, or /tmp.
 *
 * - *.c: $CC (cc) compiles it with $CFLAGS (-O2) and links it with this library. - *.cu: nvcc
 * compiles it; for the executor $CXX (g++) does, with $CXXFLAGS (-O2). - Any other file is taken as
 * it is: object->file is its name.
 *
 * 0, or -1 after saying what is wrong, in the name of `command`. */
int gate_object_new(struct gate_object *object, const char **file, enum gate_place place,
                    const char *command);
void gate_object_free(struct gate_object *object);

/* Compiles a kernel in CUDA into object->file. 0, or -1 after saying what is wrong. */
int gate_compile_cuda(const struct gate_object *object, const char *source, enum gate_place place);

#endif

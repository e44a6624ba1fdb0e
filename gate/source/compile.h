/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is given as source: compiled into a directory of its own, which is removed again.
 */
#ifndef CHUNKPROOF_GATE_SOURCE_COMPILE_H
#define CHUNKPROOF_GATE_SOURCE_COMPILE_H

struct gate_object {
    char directory[1024]; /* "": there is nothing to remove */
    char file[1056];      /* the shared object */
};

/* Where a kernel's arrays are to be when its source leaves that open. */
enum gate_place {
    GATE_ANYWHERE, /* on a GPU if there are one and nvcc, else on the executor */
    GATE_ON_GPU,
    GATE_ON_EXECUTOR
};

/* The directory is in $TMPDIR, or /tmp. A file named *.c is compiled by $CC (cc) with $CFLAGS
 * (-O2), with this library; one named *.cu by nvcc, or for the executor by $CXX (g++) with
 * $CXXFLAGS (-O2); any other is taken as it is: object->file is its name. 0, or -1 after saying
 * what is wrong, as this command. */
int gate_object_new(struct gate_object *object, const char **file, enum gate_place place,
                    const char *command);
void gate_object_free(struct gate_object *object);

/* Compiles a kernel in CUDA into object->file. 0, or -1 after saying what is wrong. */
int gate_compile_cuda(const struct gate_object *object, const char *source, enum gate_place place);

#endif

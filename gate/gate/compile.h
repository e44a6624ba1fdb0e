/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is given as C source: compiled into a directory of its own, which is removed again. */
#ifndef CHUNKPROOF_GATE_COMPILE_H
#define CHUNKPROOF_GATE_COMPILE_H

struct gate_object {
    char directory[64]; /* "": there is nothing to remove */
    char file[96];      /* the shared object */
};

/* A file named *.c is compiled by $CC (cc) with $CFLAGS (-O2); any other is taken as it is: object->file is its name.
 * 0, or -1 after saying what is wrong. */
int gate_object_new(struct gate_object *object, const char **file);
void gate_object_free(struct gate_object *object);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over keys that lie on several ranks: the merge of partial results as an MPI_Op. Each
 * rank has the states of its keys, one for each row (a query of a sequence, and one of its heads).
 * A reduction merges them, whatever order it takes: states are a commutative monoid (MERGE-5).
 *
 *   state_type_new(d, &type);              once; MPI_Type_free() frees it
 *   merge_op_new(&op);                     once; MPI_Op_free()
 *   mine = n_rows elements                 element_partial(), element_of_output()
 *   MPI_Allreduce(mine, all, n_rows, type, op, comm);
 *   lse = element_finish(all + element_size(d) * row, out, d);
 *
 * This is a file to copy. The library does not know MPI, and every MPI has another binary
 * interface. README.md says more, and example.c uses it.
 *
 * An element is a state in 2 + d doubles: m, n, o[0 .. d). The callback of an MPI_Op gets no
 * pointer of the caller's: it learns d from the datatype that the reduction was called with. So
 * there is no global variable, and one op serves every d. As a state is one element, an MPI that
 * cuts a reduction into segments never cuts a state. Nothing is allocated here. */
#ifndef CHUNKPROOF_TESTS_MPI_MERGE_OP_H
#define CHUNKPROOF_TESTS_MPI_MERGE_OP_H

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include <mpi.h>

#include <chunkproof/softmax.h>

/* ---- Elements: m, n, o[0 .. d) ---- */

/* Doubles of an element. d >= 1. */
static inline size_t element_size(int d) {
    return 2 + (size_t)d;
}

static inline void element_write(double *element, double m, double n) {
    element[0] = m;
    element[1] = n;
}

static inline struct cp_state element_state(const double *element) {
    struct cp_state state = {element[0], element[1]};
    return state;
}

/* The identity: what a rank without keys has (MERGE-2). */
static inline void element_empty(double *element, int d) {
    struct cp_state state;
    cp_state_empty(&state, element + 2, d);
    element_write(element, state.m, state.n);
}

/* Of some keys, at most CP_MAX_CHUNK_SIZE; the arguments are those of cp_partial_attn() (MERGE-3).
 * A rank with more keys merges the elements of its chunks by element_merge(). */
static inline void element_partial(double *element, const double *q, const void *k, const void *v,
                                   int type, size_t first, int n_keys, int d, double scale) {
    struct cp_state state;
    cp_partial_attn(&state, element + 2, q, k, v, type, first, n_keys, d, scale);
    element_write(element, state.m, state.n);
}

/* Of what a kernel returned for the keys of this rank: its output out[d], and the log-sum-exp in
 * nats, -infinity for no key. exp(lse) is W and out exp(lse) is A: MERGE-1 with m = lse, n = 1. */
static inline void element_of_output(double *element, const double *out, double lse, int d) {
    element_empty(element, d);
    if (lse == -INFINITY) {
        return;
    }
    element_write(element, lse, 1.0);
    for (int i = 0; i < d; i++) {
        element[2 + i] = out[i];
    }
}

/* Adds the keys of `part` to `sum` (MERGE-4). */
static inline void element_merge(double *sum, const double *part, int d) {
    struct cp_state state = element_state(sum), of_part = element_state(part);
    cp_attn_reduce(&state, sum + 2, &of_part, part + 2, d);
    element_write(sum, state.m, state.n);
}

/* The output out[d]; returns the log-sum-exp (MERGE-6, MERGE-7). */
static inline double element_finish(const double *element, double *out, int d) {
    struct cp_state state = element_state(element);
    return cp_finish(&state, element + 2, out, d);
}

/* ---- The datatype and the op ---- */

/* The datatype of an element, committed. Returns what MPI returns, and MPI_ERR_ARG unless d >= 1
 * and an int counts an element's bytes. */
static inline int state_type_new(int d, MPI_Datatype *type) {
    if (d < 1 || d > INT_MAX / (int)sizeof(double) - 2) {
        return MPI_ERR_ARG;
    }
    int error = MPI_Type_contiguous(2 + d, MPI_DOUBLE, type);
    return error != MPI_SUCCESS ? error : MPI_Type_commit(type);
}

/* The d of a datatype of state_type_new(), 0 for a type that has no state's size. */
static inline int state_type_d(MPI_Datatype type) {
    MPI_Aint begin = 0, extent = 0;
    int size = 0, of_double = (int)sizeof(double);
    if (MPI_Type_get_extent(type, &begin, &extent) != MPI_SUCCESS ||
        MPI_Type_size(type, &size) != MPI_SUCCESS || begin != 0 || extent != size ||
        size % of_double != 0 || size / of_double < 3) {
        return 0;
    }
    return size / of_double - 2;
}

/* MPI's callback: sum[i] becomes the merge of part[i] and sum[i]. A callback cannot return an
 * error, so a datatype of another size ends the program. */
static inline void merge_elements(void *part, void *sum, int *n, MPI_Datatype *type) {
    int d = state_type_d(*type);
    if (d == 0) {
        fputs("merge_op: the datatype is not of state_type_new()\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    for (int i = 0; i < *n; i++) {
        size_t at = element_size(d) * (size_t)i;
        element_merge((double *)sum + at, (double *)part + at, d);
    }
}

/* The merge as an op, commutative (MERGE-5). Returns what MPI returns. */
static inline int merge_op_new(MPI_Op *op) {
    return MPI_Op_create(merge_elements, 1, op);
}

#endif

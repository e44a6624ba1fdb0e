/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of a kernel that merges, and right results of it, for the tests of the gate. */
#ifndef CHUNKPROOF_TESTS_MERGE_MADE_H
#define CHUNKPROOF_TESTS_MERGE_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "gate/judge/judge.h"
#include "gate/merge/judge.h"
#include "gate/merge/values.h"
#include "tests/merge_plain.h"

#define CASES 120 /* each kind of values ten times */
#define WORK  6000
#define SEED  5

static const unsigned char merge_poison[2] = {GATE_POISON, GATE_POISON_AGAIN};

/* A case, with the arrays of a run of it. */
struct made {
    struct merge_recipe recipe;
    struct merge_problem p;
    struct merge_arrays a;
};

static inline void make_of(struct made *m, const struct cp_merge_kernel *kernel, long long index,
                           int d) {
    merge_recipe_make(&m->recipe, kernel, SEED, index, 0, d, WORK);
    assert_int_equal(merge_problem_new(&m->p, &m->recipe, kernel), 0);
    merge_values_fill(&m->p);
    assert_int_equal(merge_arrays_new(&m->a, &m->p, 0), 0);
    merge_arrays_fill(&m->a, merge_poison[0]);
}

static inline void make(struct made *m, const struct cp_merge_kernel *kernel, long long index) {
    make_of(m, kernel, index, 0);
}

static inline void done(struct made *m) {
    merge_arrays_free(&m->a);
    merge_problem_free(&m->p);
}

static inline void put(struct merge_arrays *a, int row, int head, int element, double x) {
    const struct cp_merging_class *c = &a->problem->kernel->arithmetic;
    size_t at = (size_t)merge_result_at(a, row, head, element);
    cp_number_store(a->memory[element < 0 ? RUN_LSE : RUN_OUT],
                    element < 0 ? c->lse_type : c->out_type, at, x);
}

/* Writes what a right kernel does: the expected numbers, rounded. */
static inline void answer(struct merge_arrays *a) {
    const struct merge_problem *p = a->problem;
    int d = p->recipe.head_dim;
    double *memory = calloc(2 * ((size_t)d + 1), sizeof *memory);
    struct merge_expected to = {memory, memory + d + 1};
    assert_non_null(memory);
    for (int row = 0; row < p->recipe.n_rows; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            assert_true(merge_certify(p, row, head, &to) >= 0);
            for (int e = 0; e < d; e++) {
                put(a, row, head, e, to.expected[e]);
            }
            if (p->recipe.asks_lse) {
                put(a, row, head, -1, to.expected[d]);
            }
        }
    }
    free(memory);
}

#endif

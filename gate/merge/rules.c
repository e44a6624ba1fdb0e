/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/rules.h"

#include <math.h>
#include <stdlib.h>

#include "gate/merge/judge.h"

/* 0: several answers are right, or none is known, or it is a NaN, which rules see nothing of. */
static int has_one_answer(const struct merge_expected *to, int d) {
    for (int i = 0; i < d; i++) {
        if (isinf(to->bound[i]) || isnan(to->expected[i])) {
            return 0;
        }
    }
    return 1;
}

/* As a plain kernel merges the parts, in the type of the result. 0, or -1: no memory. */
static int show_plain(const struct merge_problem *p, int row, int head, const double *expected,
                      struct gate_tensor *tensor) {
    int d = p->recipe.head_dim, n = merge_parts_of(p, row);
    double *memory = malloc((size_t)n * ((size_t)d + 1) * sizeof *memory);
    if (memory == NULL) {
        return -1;
    }
    const struct gate_plain_parts parts = {.type = p->kernel->arithmetic.out_type,
                                           .n = n,
                                           .d = d,
                                           .is_in_bits = p->kernel->base == CP_BASE_2,
                                           .o = memory + n,
                                           .l = memory};
    merge_gather(p, row, head, memory + n, memory);
    int status = gate_tensor_plain_merge(tensor, &parts, expected);
    free(memory);
    return status;
}

/* 1: shown, 0: nothing to show, -1: no memory. */
static int show(const struct merge_arrays *a, int row, int head, const struct merge_expected *to,
                double *got, struct gate_tensor *tensor) {
    const struct merge_problem *p = a->problem;
    int d = p->recipe.head_dim, has_keys = merge_certify(p, row, head, to);
    if (has_keys < 0 || !has_one_answer(to, d)) {
        return has_keys < 0 ? -1 : 0;
    }
    for (int i = 0; i < d; i++) {
        got[i] = merge_result(a, row, head, i);
    }
    gate_tensor_add(tensor, got, to->expected, d);
    return has_keys && show_plain(p, row, head, to->expected, tensor) != 0 ? -1 : 1;
}

int merge_show(const struct merge_arrays *a, struct gate_tensor *tensor) {
    const struct merge_recipe *r = &a->problem->recipe;
    size_t d = (size_t)r->head_dim;
    double *memory = malloc((3 * d + 2) * sizeof *memory);
    int shown = 0;
    if (memory == NULL) {
        return -1;
    }
    struct merge_expected to = {memory, memory + d + 1};
    for (int x = 0; x < r->n_rows * r->n_heads && shown >= 0; x++) {
        int one = show(a, x / r->n_heads, x % r->n_heads, &to, memory + 2 * d + 2, tensor);
        shown = one < 0 ? -1 : shown + one;
    }
    free(memory);
    return shown;
}

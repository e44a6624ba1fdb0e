/* SPDX-License-Identifier: Apache-2.0 */
/* Bits that depend on what else is in a call, of a kernel that declares that they do not (CONV-5):
 * by a lesser declaration, or none, the case is right, and so are others. */
#include <stdio.h>

#include "gate/explain/explain.h"

#define SEED 17

/* 1: the case is right, 0: it is wrong, -1: the kernel does not take it. */
static int is_right(const struct explain *x, const struct gate_recipe *recipe, void *none) {
    struct gate_finding f;
    (void)none;
    return gate_look(x->runner, recipe, &f, NULL, NULL) <= 0 ? -1 : f.verdict == GATE_RIGHT;
}

/* How many others are right; 0: not all, or too few are taken, or the case itself is not. */
static int count_right(const struct explain *x) {
    return is_right(x, x->recipe, NULL) > 0 ? explain_right_others(x, SEED, is_right, NULL) : 0;
}

void explain_invariant(struct explain *x) {
    static const char *const names[] = {"CP_INVARIANT_NOT", "CP_INVARIANT_BATCH"};
    const struct cp_kernel declared = *runner_kernel(x->runner);
    struct cp_kernel other = declared;
    for (int less = declared.conventions.invariant - 1; less >= CP_INVARIANT_NOT; less--) {
        other.conventions.invariant = less;
        runner_declare(x->runner, &other);
        int n = count_right(x);
        runner_declare(x->runner, &declared);
        if (n > 0) {
            fprintf(
                x->file,
                "  right if it declared .invariant = %s in cp_kernel.conventions (CONV-5):\n"
                "  its numbers are right; by that convention this case is, and %d other cases%s\n",
                names[less], n, less == CP_INVARIANT_NOT ? "; the\n  field could be left out" : "");
            return;
        }
    }
}

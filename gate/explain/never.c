/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel may take for granted and does not declare (CONV-3): calls that have it are wrong,
 * and all others are right. The case is run once more without it, and then others. */
#include <stdio.h>

#include "gate/explain/explain.h"

#define SEED       13
#define WITH       6 /* cases with it, of which half and so many are wrong */
#define ENOUGH     3
#define MOST_TRIED 60 /* cases that are made to find them */
#define KINDS      4
#define ALL_KINDS  (1 << KINDS)

static const struct {
    const char *name, *words;
} kinds[KINDS] = {
    {"CP_NEVER_EMPTY_SEQUENCES", "a sequence without keys"},
    {"CP_NEVER_EMPTY_ROWS", "a row that sees no key"},
    {"CP_NEVER_ROWLESS", "a sequence without rows"},
    {"CP_NEVER_UNEQUAL_ROWS", "unequal numbers of rows"},
};

static int kinds_in(int never) {
    int n = 0;
    for (int i = 0; i < KINDS; i++) {
        n += never >> i & 1;
    }
    return n;
}

/* What a case has of that; 0 also where there is no memory. */
static int has_of(const struct explain *x, const struct gate_recipe *recipe) {
    struct gate_problem p;
    if (gate_problem_new(&p, recipe, runner_kernel(x->runner)) != 0) {
        return 0;
    }
    int has = gate_problem_has(&p);
    gate_problem_free(&p);
    return has;
}

/* A case, which has nothing of `never` if that is not 0. 1: it is right, 0: it is wrong, -1: the
 * kernel does not take it, or there is no verdict. */
static int is_right(const struct explain *x, const struct gate_recipe *recipe, void *never) {
    struct cp_kernel without = *runner_kernel(x->runner);
    struct gate_recipe other = *recipe;
    struct gate_finding f;
    without.conventions.never |= *(int *)never;
    other.never |= gate_never_of(&without);
    return gate_look(x->runner, &other, &f, NULL, NULL) <= 0 ? -1 : f.verdict == GATE_RIGHT;
}

/* 1: of the cases with it half are wrong, and not few. *n and *wrong are how many. */
static int is_wrong_with(const struct explain *x, int never, int *n, int *wrong) {
    int none = 0;
    *n = *wrong = 0;
    for (int i = 0; i < MOST_TRIED && *n < WITH; i++) {
        struct gate_recipe recipe;
        explain_make_other(x, SEED, i, &recipe);
        int right = (has_of(x, &recipe) & never) != 0 ? is_right(x, &recipe, &none) : -1;
        if (explain_is_over(x, 0.0)) {
            return 0;
        }
        *n += right >= 0;
        *wrong += right == 0;
    }
    return *wrong >= ENOUGH && 2 * *wrong >= *n;
}

static void print_kinds(FILE *file, int never, int are_names) {
    for (int i = 0, n = 0; i < KINDS; i++) {
        if ((never >> i & 1) != 0) {
            const char *between = are_names ? " | " : " or ";
            fprintf(file, "%s%s", n++ > 0 ? between : "",
                    are_names ? kinds[i].name : kinds[i].words);
        }
    }
}

/* 1: all is right without these, and that was said. */
static int say(const struct explain *x, int never) {
    int with, wrong;
    if (is_right(x, x->recipe, &never) <= 0) {
        return 0;
    }
    int others = explain_right_others(x, SEED, is_right, &never);
    if (others == 0 || !is_wrong_with(x, never, &with, &wrong)) {
        return 0;
    }
    fputs("  right if `never` had ", x->file);
    print_kinds(x->file, never, 1);
    fputs(" in cp_kernel.conventions (CONV-3):\n  without ", x->file);
    print_kinds(x->file, never, 0);
    fprintf(x->file,
            " this case is right, and %d other cases; of %d with such a thing\n  %d are wrong\n",
            others, with, wrong);
    return 1;
}

/* The fewest kinds first. */
void explain_never(const struct explain *x) {
    int declared = gate_never_of(runner_kernel(x->runner)), has = has_of(x, x->recipe);
    for (int n = 1; n <= KINDS; n++) {
        for (int never = 1; never < ALL_KINDS; never++) {
            int is_asked = kinds_in(never) == n && (never & declared) == 0 && (never & has) != 0;
            if (is_asked && !explain_is_over(x, 0.0) && say(x, never)) {
                return;
            }
        }
    }
}

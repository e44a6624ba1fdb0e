/* SPDX-License-Identifier: Apache-2.0 */
/* A case is made smaller by trying changes in rounds; one that keeps the verdict is kept:
 *
 *     1  drop()           one call instead of two, no parts without keys, no gaps, no log-sum-exps
 *     2  lower()          fewer parts, rows, heads: all but one, all but half, ..., one less
 *     3  plainer()        values that say more, the usual orders
 *     4  smaller_width()  a smaller d
 *     5                   another round if this one changed anything
 *
 * Numbers come from the seed and the sizes, so that each try has others. */
#include "gate/merge/shrink.h"

#include <math.h>
#include <string.h>

#include "cli/base/clock.h"
#include "gate/source/lines.h"

/* In bounds: a result that is wrong by this much must stay wrong by this much, because the size
 * of an error tells its cause. */
#define CLEARLY 16.0

struct attempt {
    struct runner *runner;
    struct merge_found *found;
    double end, least; /* seconds of wall time; error / bound that must stay */
    const volatile int *stop;
    int tried, failed; /* failed: there is no verdict any more */
};

/* If `recipe` is another case with the same verdict by the same clause, the case becomes `recipe`,
 * and 1 is returned. */
static int keep(struct attempt *a, const struct merge_recipe *recipe) {
    const struct merge_finding *now = &a->found->finding;
    struct merge_finding finding;
    if (a->failed || *a->stop || seconds_now() > a->end) {
        return 0;
    }
    a->tried++;
    int ran = merge_check_recipe(a->runner, recipe, now->verdict == GATE_OTHER_BITS, &finding);
    a->failed = ran < 0;
    if (ran <= 0 || finding.verdict != now->verdict || finding.of.largest < a->least ||
        strcmp(finding.of.clause, now->of.clause) != 0) {
        return 0;
    }
    a->found->recipe = *recipe;
    a->found->finding = finding;
    return 1;
}

static int drop(struct attempt *a, int *(*flag)(struct merge_recipe *)) {
    struct merge_recipe r = a->found->recipe;
    int had = *flag(&r);
    *flag(&r) = 0;
    return had && keep(a, &r);
}

/* As far as to 1: a size less all but one, then less half of what is left to go, ..., less one. */
static int lower(struct attempt *a, int *(*size)(struct merge_recipe *)) {
    int smaller = 0;
    for (int less = *size(&a->found->recipe) - 1; less > 0;) {
        struct merge_recipe r = a->found->recipe;
        *size(&r) -= less;
        if (keep(a, &r)) {
            smaller = 1;
            less = less < *size(&r) - 1 ? less : *size(&r) - 1;
        } else {
            less /= 2;
        }
    }
    return smaller;
}

static int *renewed_of(struct merge_recipe *r) {
    return &r->renewed;
}

static int *empties_of(struct merge_recipe *r) {
    return &r->empties;
}

static int *gaps_of(struct merge_recipe *r) {
    return &r->gaps;
}

static int *asks_of(struct merge_recipe *r) {
    return &r->asks_lse;
}

static int *parts_of(struct merge_recipe *r) {
    return &r->n_parts;
}

static int *rows_of(struct merge_recipe *r) {
    return &r->n_rows;
}

static int *heads_of(struct merge_recipe *r) {
    return &r->n_heads;
}

static int *o_of(struct merge_recipe *r) {
    return &r->o;
}

static int *l_of(struct merge_recipe *r) {
    return &r->l;
}

static int *lse_of(struct merge_recipe *r) {
    return &r->lse;
}

/* The first of the orders, by number. */
static int usual_order(struct attempt *a, int *(*order)(struct merge_recipe *)) {
    struct merge_recipe r = a->found->recipe;
    int had = *order(&r) != 1;
    *order(&r) = 1;
    return had && keep(a, &r);
}

static int plainer(struct attempt *a) {
    int smaller = 0;
    for (int values = 0; values < (int)a->found->recipe.values; values++) {
        struct merge_recipe r = a->found->recipe;
        r.values = (enum merge_values)values;
        smaller |= keep(a, &r);
    }
    return smaller | usual_order(a, o_of) | usual_order(a, l_of) | usual_order(a, lse_of);
}

static int smaller_width(struct attempt *a, const struct gate_shape *shape) {
    static const int widths[] = {1, 2, 4, 8, 16, 32, 64, 80, 96, 128};
    int smaller = 0;
    for (int i = 0; i < (int)(sizeof widths / sizeof widths[0]) && shape->head_dim == 0; i++) {
        struct merge_recipe r = a->found->recipe;
        r.head_dim = widths[i];
        smaller |= widths[i] < a->found->recipe.head_dim && keep(a, &r);
    }
    return smaller;
}

int merge_shrink(struct runner *runner, struct merge_found *found, const struct gate_shape *shape,
                 double seconds, const volatile int *stop) {
    double least = fmin(0.5 * found->finding.of.largest, CLEARLY);
    struct attempt a = {runner, found, seconds_now() + seconds, least, stop, 0, 0};
    int smaller = 1;
    while (smaller && !a.failed) {
        smaller = drop(&a, renewed_of) | drop(&a, empties_of); /* 1 */
        smaller |= drop(&a, gaps_of) | drop(&a, asks_of);
        smaller |= lower(&a, parts_of) | lower(&a, rows_of) | lower(&a, heads_of); /* 2 */
        smaller |= plainer(&a);                                                    /* 3 */
        smaller |= smaller_width(&a, shape);                                       /* 4 */
    }
    gate_name_lines(runner_file(runner), found->finding.of.text, sizeof found->finding.of.text);
    return a.failed ? -1 : a.tried;
}

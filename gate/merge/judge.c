/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/case/values.h"
#include "gate/judge/judge.h"

const char *merge_verdict_name(int verdict) {
    return verdict == MERGE_ORDER         ? "depends-on-order"
           : verdict == MERGE_EMPTY_PARTS ? "depends-on-empty-parts"
                                          : gate_verdict_names[verdict];
}

/* ---- What is expected ---- */

/* CONV-2 */
static void declared_of_none(const struct merge_problem *p, const struct merge_expected *to) {
    const struct cp_merge_kernel *k = p->kernel;
    int d = p->recipe.head_dim;
    for (int i = 0; i < d; i++) {
        to->expected[i] = k->empty_out == CP_EMPTY_NAN ? NAN : 0.0;
        to->bound[i] = k->empty_out == CP_EMPTY_UNSPECIFIED ? INFINITY : 0.0;
    }
    to->expected[d] = k->empty_lse == CP_EMPTY_NAN ? NAN
                      : k->empty_lse == CP_EMPTY_VALUE
                          ? gate_round(k->arithmetic.lse_type, k->empty_value)
                          : -INFINITY;
    to->bound[d] = k->empty_lse == CP_EMPTY_UNSPECIFIED ? INFINITY : 0.0;
}

void merge_gather(const struct merge_problem *p, int row, int head, double *o, double *l) {
    int d = p->recipe.head_dim;
    for (int i = 0; i < merge_parts_of(p, row); i++) {
        double *to = o + (ptrdiff_t)i * d;
        l[i] = merge_l_of(p, row, i, head);
        if (l[i] == -INFINITY) {
            memset(to, 0, (size_t)d * sizeof *to);
        } else {
            memcpy(to, merge_o_of(p, row, i, head), (size_t)d * sizeof *to);
        }
    }
}

/* MERGING-12: the sums by which parts with keys are given. */
static void find_sums(const struct merge_problem *p, int row, int head, struct cp_merging_row *of) {
    for (int i = 0; i < of->n_parts && p->n != NULL; i++) {
        double n = merge_n_of(p, row, i, head);
        if (n > 0.0) {
            of->least_sum = of->most_sum > 0.0 ? fmin(of->least_sum, n) : n;
            of->most_sum = fmax(of->most_sum, n);
        }
    }
}

int merge_certify(const struct merge_problem *p, int row, int head,
                  const struct merge_expected *to) {
    int d = p->recipe.head_dim, n = merge_parts_of(p, row);
    if (!merge_has_keys(p, row, head)) {
        declared_of_none(p, to);
        return 0;
    }
    double *memory = malloc((size_t)n * ((size_t)d + 6) * sizeof *memory);
    if (memory == NULL) {
        return -1;
    }
    double *l = memory, *scratch = memory + n, *o = scratch + 5 * (ptrdiff_t)n;
    merge_gather(p, row, head, o, l);
    struct cp_merging_row of = {
        .n_parts = n, .head_dim = d, .base = p->kernel->base, .o = o, .lse = l};
    find_sums(p, row, head, &of);
    int status = cp_merging_tolerance(&p->kernel->arithmetic, &of, scratch, to->expected, to->bound,
                                      &to->expected[d], &to->bound[d]);
    for (int i = 0; i <= d && status != CP_OK; i++) { /* nothing is claimed */
        to->expected[i] = 0.0;
        to->bound[i] = INFINITY;
    }
    free(memory);
    return 1;
}

/* ---- Numbers ---- */

static int is_same(double x, double y) {
    return x == y || (isnan(x) && isnan(y));
}

/* One number; element -1 is the log-sum-exp. */
static void compare(struct merge_finding *finding, int has_keys, int row, int head, int element,
                    double got, double expected, double bound) {
    struct gate_finding *f = &finding->of;
    if (isinf(bound)) {
        f->unclaimed += has_keys;
        return;
    }
    double error = fabs(got - expected);
    int right = has_keys ? error <= bound : is_same(got, expected);
    double ratio = right && !has_keys ? 0.0 : gate_ratio_of(error, bound, right);
    f->largest = ratio > f->largest ? ratio : f->largest;
    f->compared++;
    if (right) {
        return;
    }
    f->wrong++;
    int last = finding->n_pairs - 1;
    int is_new = last < 0 || finding->pair[last].row != row || finding->pair[last].head != head;
    if (is_new && finding->n_pairs < MERGE_PAIRS) {
        finding->pair[finding->n_pairs].row = row;
        finding->pair[finding->n_pairs++].head = head;
    }
    if (f->verdict == GATE_RIGHT) {
        f->verdict = isnan(got) ? GATE_NOT_A_NUMBER : GATE_WRONG;
        gate_finding_breaks(f, !has_keys ? "MERGING-9" : element < 0 ? "MERGING-7" : "MERGING-6");
        f->row = row;
        f->head = head;
        f->element = element;
        f->got = got;
        f->expected = expected;
        f->bound = bound;
    }
}

static void say(struct merge_finding *finding) {
    struct gate_finding *f = &finding->of;
    char where[64], within[64], got[40], expected[40];
    finding->verdict = f->verdict;
    if (f->verdict == GATE_RIGHT) {
        return;
    }
    (void)snprintf(where, sizeof where, f->element < 0 ? "lse" : "out, element %d", f->element);
    (void)snprintf(within, sizeof within, f->bound > 0.0 ? " within %.3g" : " exactly", f->bound);
    (void)snprintf(got, sizeof got, "%.9g", gate_plain(f->got));
    (void)snprintf(expected, sizeof expected, "%.9g", f->expected);
    if (strcmp(got, expected) == 0) { /* of binary64 */
        (void)snprintf(got, sizeof got, "%.17g", gate_plain(f->got));
        (void)snprintf(expected, sizeof expected, "%.17g", f->expected);
    }
    (void)snprintf(f->text, sizeof f->text,
                   "%s of row %d, head %d is %s and must be %s%s; %lld of %lld numbers are wrong",
                   where, f->row, f->head, got, expected, within, f->wrong, f->compared);
}

int merge_judge(const struct merge_arrays *a, struct merge_finding *finding) {
    const struct merge_problem *p = a->problem;
    int d = p->recipe.head_dim, result = 0;
    double *memory = malloc(2 * ((size_t)d + 1) * sizeof *memory);
    *finding = (struct merge_finding){.of = gate_no_finding};
    if (memory == NULL) {
        return -1;
    }
    struct merge_expected to = {memory, memory + d + 1};
    for (int x = 0; x < p->recipe.n_rows * p->recipe.n_heads && result == 0; x++) {
        int row = x / p->recipe.n_heads, head = x % p->recipe.n_heads;
        int has_keys = merge_certify(p, row, head, &to);
        result = has_keys < 0 ? -1 : 0;
        for (int i = 0; i < d && result == 0; i++) {
            compare(finding, has_keys, row, head, i, merge_result(a, row, head, i), to.expected[i],
                    to.bound[i]);
        }
        if (result == 0 && p->recipe.asks_lse) {
            compare(finding, has_keys, row, head, -1, merge_result(a, row, head, -1),
                    to.expected[d], to.bound[d]);
        }
    }
    free(memory);
    say(finding);
    return result;
}

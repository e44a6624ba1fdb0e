/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/judge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "fuzz/tolerance/shift.h"
#include "tests/exact.h"

/* Judges one number against the expected one, and against the truth if that is given. */
static double ratio_of(double x, double expected, const double *truth, double bound) {
    double error = fabs(x - expected);
    if (truth != NULL) {
        error = fmax(error, fabs(x - *truth));
    }
    if (!isfinite(x)) {
        return INFINITY;
    }
    return error == 0.0 ? 0.0 : error / bound;
}

static void judge_lse(struct judgement *j, const double *truth) {
    j->worst_lse = 0.0;
    j->lse_violated = 0;
    if (isfinite(j->lse_bound)) {
        j->worst_lse = ratio_of(j->lse, j->expected_lse, truth, j->lse_bound);
        j->lse_violated = !(j->worst_lse <= 1.0);
    }
}

void judge_by(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
              double lse_error, const struct problem *p, const double *truth, struct judgement *j) {
    double *scratch = malloc(4 * (size_t)p->n * sizeof *scratch);
    assert(scratch != NULL);
    double *errors = p->shift == NULL ? NULL : scratch + 3 * (ptrdiff_t)p->n;
    struct cp_tolerance_row row = {p->n, p->d, p->d,    p->scale, p->q,
                                   p->k, p->v, scratch, p->shift, errors};
    shift_errors(&arithmetic->score, p, errors);
    cp_tolerance(arithmetic, counts, &row, lse_error, j->expected, j->bound, &j->expected_lse,
                 &j->lse_bound);
    free(scratch);
    j->claimed = 0;
    j->violated = 0;
    j->worst = 0.0;
    j->worst_element = -1;
    for (int x = 0; x < p->d && !j->no_execution; x++) {
        if (!isfinite(j->bound[x])) {
            continue;
        }
        double ratio =
            ratio_of(j->out[x], j->expected[x], truth != NULL ? &truth[x] : NULL, j->bound[x]);
        j->claimed++;
        j->violated += !(ratio <= 1.0);
        if (!(ratio <= j->worst) || j->worst_element < 0) {
            j->worst = ratio;
            j->worst_element = x;
        }
    }
    judge_lse(j, truth != NULL ? &truth[p->d] : NULL);
}

void judge(const struct options *kernel, const struct options *declared, const struct problem *p,
           int exactly, struct judgement *j) {
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    struct result result = {.out = j->out};
    double truth[JUDGE_MOST_DIM + 1]; /* the last is the log-sum-exp */
    assert(p->d <= JUDGE_MOST_DIM);
    emulate(kernel, p, &result);
    j->no_execution = kernel->wrong == RIGHT && result.overflow;
    j->lse = result.lse;
    j->largest_score = result.largest_score;
    class_of(declared, p, result.largest_score, &arithmetic, &counts);
    if (exactly) {
        exact_attention(p->q, p->k, p->v, p->n, p->d, p->scale, p->shift, CP_FP64, 128, truth,
                        &truth[p->d]);
    }
    judge_by(&arithmetic, &counts, lse_error(declared, &result), p, exactly ? truth : NULL, j);
}

/* ---- Looser classes ---- */

static void loosen_exp(struct options *o) {
    o->exp_error = fmax(o->exp_error, 0x1p-12);
}

static void loosen_flush_exp(struct options *o) {
    o->flush_exp = 1;
}

static void loosen_flush(struct options *o) {
    o->flush = 1;
}

static void loosen_sums(struct options *o) {
    struct sum sum = {SUM_BLOCKS, SUM_FORWARD, 0, 4, 23, 1, 0, 0};
    o->dot = sum;
    o->row_sum = sum;
    o->value_sum = sum;
}

static void loosen_partials(struct options *o) {
    o->partials = CP_FP16;
}

static void loosen_accumulator(struct options *o) {
    o->accumulator = CP_FP16;
}

static void loosen_weights_16(struct options *o) {
    o->weights = CP_FP16;
}

static void loosen_weights_b16(struct options *o) {
    o->weights = CP_BF16;
}

static void loosen_output(struct options *o) {
    o->output = CP_BF16;
}

const struct excuse excuses[N_EXCUSES] = {
    {"the exponential's error is 2^-12", loosen_exp},
    {"small exponentials are flushed", loosen_flush_exp},
    {"small weights are flushed", loosen_flush},
    {"sums are of blocks, cut off", loosen_sums},
    {"partial results are in FP16", loosen_partials},
    {"o is accumulated in FP16", loosen_accumulator},
    {"P is in FP16", loosen_weights_16},
    {"P is in BF16", loosen_weights_b16},
    {"the output is in BF16", loosen_output},
};

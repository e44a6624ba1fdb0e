/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/self_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/tolerance/judge.h"
#include "tests/random.h"

#define ROWS      40
#define MOST_KEYS 400
#define MOST_DIM  32

static const char *wrong_name(enum wrong wrong) {
    static const char *const names[N_WRONG] = {"right",
                                               "sum not rescaled",
                                               "output not rescaled",
                                               "factors swapped",
                                               "wrong base",
                                               "wrong identity",
                                               "stale maximum",
                                               "finite first maximum",
                                               "key dropped",
                                               "key counted twice",
                                               "padding counted",
                                               "chunk dropped",
                                               "chunk twice",
                                               "short tail dropped",
                                               "rows of V off by 1",
                                               "stale values",
                                               "short dot",
                                               "scale squared",
                                               "sum of last chunk",
                                               "mean of parts",
                                               "poison read",
                                               "not divided",
                                               "all zero"};
    return names[wrong];
}

/* A kernel of the strictest class: binary32 throughout, each rounding to nearest. */
static struct options strictest(unsigned long long *random) {
    struct options o;
    options_random(&o, 64, random);
    o.input = CP_FP32;
    o.exp_error = 0.0;
    o.bias = BIAS_NONE;
    o.flush_exp = 0;
    o.weights = CP_FP32;
    o.flush = 0;
    o.rounded_sum = 0;
    o.accumulator = CP_FP32;
    o.partials = CP_FP32;
    o.factors = CP_FACTORS_FP32;
    o.divide_error = o.epsilon = 0.0;
    o.normalise = 0;
    o.output = CP_FP32;
    o.merging = (enum merging)(MERGE_CHAIN + random_below(random, 3));
    o.split = 1;
    o.immediate = 0;
    o.chunk_size = 16;
    o.dot.method = SUM_PAIRWISE;
    o.row_sum.method = SUM_PAIRWISE;
    o.dot.promotes = o.value_sum.promotes = 0;
    options_settle(&o);
    return o;
}

/* A problem on which the fault may show: several chunks, the last of them short. */
static void pose(struct problem *p, const struct options *o, int family,
                 unsigned long long *random) {
    p->n = o->chunk_size * (3 + random_below(random, 8)) + 1 +
           (o->chunk_size > 1 ? random_below(random, o->chunk_size - 1) : 0);
    p->n = p->n > MOST_KEYS ? MOST_KEYS - 1 : p->n;
    p->d = 2 + random_below(random, MOST_DIM - 1);
    problem_fill(p, (enum family)family, o, random);
}

/* ---- Wrong kernels ---- */

/* On how many of ROWS the check notices a wrong kernel of a random class; and an excuse that holds
 * on all of them. */
static int see_wrong(enum wrong wrong, int *excused) {
    static struct judgement j;
    unsigned long long random = 100 + (unsigned long long)wrong;
    struct problem p;
    int seen = 0, holds[N_EXCUSES];
    problem_new(&p, MOST_KEYS, MOST_DIM);
    for (int i = 0; i < N_EXCUSES; i++) {
        holds[i] = 1;
    }
    for (int row = 0; row < ROWS; row++) {
        struct options o, looser;
        options_random(&o, 100, &random);
        o.chunk_size = o.chunk_size > 32 ? 32 : o.chunk_size < 3 ? 3 : o.chunk_size;
        /* shifted scores for a finite first maximum, rising ones for a stale one */
        int family = wrong == SENTINEL_MAXIMUM ? SHIFTED
                     : wrong == STALE_MAXIMUM  ? RISING
                                               : row % 2;
        pose(&p, &o, family, &random);
        struct options kernel = o;
        kernel.wrong = wrong;
        judge(&kernel, &o, &p, 0, &j);
        seen += j.violated > 0 || j.lse_violated;
        for (int i = 0; i < N_EXCUSES; i++) {
            looser = o;
            excuses[i].loosen(&looser);
            options_settle(&looser);
            judge(&kernel, &looser, &p, 0, &j);
            holds[i] &= j.violated == 0 && !j.lse_violated;
        }
    }
    *excused = 0;
    for (int i = 0; i < N_EXCUSES; i++) {
        *excused |= holds[i];
    }
    problem_free(&p);
    return seen;
}

/* ---- Classes declared too strict ---- */

/* What shows that a kernel works as excuse `which` says, and no other: one chunk, where partial
 * results are not stored; weights at the end of a format; many terms of one sign, where cutting off
 * adds up; like values, where a short sum is wrong by the same each time. */
static void pose_strict(struct problem *p, const struct options *o, int which, int row,
                        unsigned long long *random) {
    static const int usual[] = {NORMAL, OFFSET, ADVERSARIAL};
    int underflow = (which == 1 || which == 2) && row % 2 == 0;
    int family = underflow ? UNDERFLOW : which == 3 || which == 5 ? OFFSET : usual[row % 3];
    pose(p, o, family, random);
    if (which != 4 && row % 2 == 1) {
        p->n = o->chunk_size < p->n ? o->chunk_size : p->n;
        problem_fill(p, (enum family)family, o, random);
    }
    /* the same sum of weights that are 1, which is exact, and of V, whose last bits are cut off or
     * rounded off */
    for (int i = 0; (which == 3 || which == 5) && i < p->n * p->d; i++) {
        p->k[i] = 0.0;
        p->v[i] = which == 3 ? 101.0 + 0x1p-9 - 0x1p-17 : 101.0;
    }
}

/* A kernel works as excuse `which` says, and declares that it does not. Returns on how many rows
 * the check notices this. *best is the excuse with the smallest bounds that holds on all rows: what
 * the kernel should have declared. */
static int see_strict(int which, int *best) {
    static struct judgement j;
    unsigned long long random = 300 + (unsigned long long)which;
    double logs[N_EXCUSES] = {0.0};
    int seen = 0;
    struct problem p;
    problem_new(&p, MOST_KEYS, MOST_DIM);
    for (int row = 0; row < ROWS; row++) {
        struct options declared = strictest(&random);
        declared.weights = which == 2 ? CP_FP16 : CP_FP32;
        declared.chunk_size = which == 3 || which == 5 ? 128 : 16;
        declared.value_sum.method = which == 5 ? SUM_SEQUENTIAL : SUM_PAIRWISE;
        struct options kernel = declared;
        excuses[which].loosen(&kernel);
        kernel.bias = BIAS_UP;
        options_settle(&kernel);
        pose_strict(&p, &kernel, which, row, &random);
        judge(&kernel, &declared, &p, 0, &j);
        seen += j.violated > 0 || j.lse_violated;
        for (int i = 0; i < N_EXCUSES; i++) {
            struct options looser = declared;
            excuses[i].loosen(&looser);
            options_settle(&looser);
            judge(&kernel, &looser, &p, 0, &j);
            int within = j.violated == 0 && !j.lse_violated && j.claimed > 0;
            logs[i] += within ? log(j.bound[0]) : INFINITY;
        }
    }
    *best = 0;
    for (int i = 1; i < N_EXCUSES; i++) {
        *best = logs[i] < logs[*best] ? i : *best;
    }
    problem_free(&p);
    return isfinite(logs[*best]) ? seen : 0;
}

int self_test(void) {
    int noticed = 0, all = 0;
    for (int wrong = RIGHT + 1; wrong < N_WRONG; wrong++, all++) {
        int excused, seen = see_wrong((enum wrong)wrong, &excused);
        int right = seen > 0 && !excused;
        printf("%s  wrong kernel, %s: seen on %d of %d rows, %s\n", right ? "ok  " : "FAIL",
               wrong_name((enum wrong)wrong), seen, ROWS,
               excused ? "explained by a looser class" : "no looser class explains it");
        noticed += right;
    }
    for (int i = 0; i < N_EXCUSES; i++, all++) {
        int best, seen = see_strict(i, &best);
        int right = seen > 0 && best == i;
        printf("%s  declared too strict, though %s: seen on %d of %d rows; the report: %s\n",
               right ? "ok  " : "FAIL", excuses[i].name, seen, ROWS, excuses[best].name);
        noticed += right;
    }
    printf("self-test %d/%d\n", noticed, all);
    return noticed == all ? 0 : 1;
}

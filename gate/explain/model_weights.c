/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 7: what each key weighs in the sum of weights n and in the sum of weighted values o. */
#include <math.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/explain/model.h"

#define LIGHT      1e-30 /* a sum of weights that binary64 may no longer hold well */
#define MOST_LANES 32

/* Key j, so many times in these sums. */
static void multiply(struct explain_model *x, int sums, int j, double times) {
    x->of_n[j] *= sums == IN_O ? 1.0 : times;
    x->of_o[j] *= sums == IN_N ? 1.0 : times;
}

/* exp(), as binary32 or binary16 holds it. */
static double hold(struct explain_model *x, double exponent, int in_half) {
    if (exponent > (in_half ? LOG_HALF : LOG_FLOAT)) {
        x->no_number = x->lost = 1;
        return INFINITY;
    }
    if (exponent < (in_half ? ZERO_HALF : ZERO_FLOAT)) {
        x->lost = 1;
        return 0.0;
    }
    return exp(exponent);
}

/* Where none of the heavy keys is counted, the others are weighed against the heaviest of them. */
static void weigh_selected(struct explain_model *x, const struct explain_choice *c) {
    double left = 0.0, largest = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        int times = explain_times(x, c, j);
        multiply(x, c->select.sums, j, times);
        left += x->of_n[j];
        largest = times > 0 ? fmax(largest, x->score[j]) : largest;
    }
    if (c->select.sums == IN_BOTH && left < LIGHT && largest > -INFINITY) {
        x->m_all = largest;
        for (int j = 0; j < x->m; j++) {
            int times = explain_times(x, c, j);
            x->of_n[j] = x->of_o[j] = times > 0 ? times * exp(x->score[j] - largest) : 0.0;
        }
    }
}

/* ---- Against another maximum ---- */

static double reference_of(const struct explain_model *x, const struct explain_choice *choice) {
    double largest = x->m_all, limit = explain_limit(choice);
    switch ((enum explain_reference)choice->weight.reference) { EXPLAIN_REFERENCES(EXPLAIN_CASE) }
    return largest;
}

static int weigh_against(struct explain_model *x, const struct explain_choice *choice) {
    double reference = reference_of(x, choice);
    for (int j = 0; j < x->m; j++) {
        double exponent = x->score[j] - reference;
        x->of_n[j] = x->of_o[j] = hold(x, exponent, choice->weight.type == CP_FP16);
    }
    x->m_all = reference;
    return 1;
}

static int weigh_by_other(struct explain_model *x, const struct explain_choice *c) {
    int parts = explain_take_parts(x, &c->parts), changed = 0;
    double m = -INFINITY;
    int in_shared = c->parts.kind == PART_SHARED_CHUNKS ? x->shared : x->m;
    for (int from = 0, end; from < x->m; from = end) {
        int p = x->part_of[from], whose = c->weight.whose;
        struct explain_part *part = &x->part[p];
        int other = from < in_shared ? explain_other_query(x, whose, c->weight.block, from) : -1;
        for (end = from; end < x->m && x->part_of[end] == p; end++) {
        }
        part->reference = other >= 0 ? explain_others_largest(x, other, from, end) : part->maximum;
        changed |= other >= 0;
    }
    for (int p = 0; p < parts; p++) {
        m = fmax(m, c->weight.merged_by_own ? x->part[p].maximum : x->part[p].reference);
    }
    for (int j = 0; j < x->m && changed; j++) {
        const struct explain_part *part = &x->part[x->part_of[j]];
        double merged = c->weight.merged_by_own ? part->maximum : part->reference;
        x->of_n[j] = x->of_o[j] =
            hold(x, x->score[j] - part->reference, 0) * hold(x, merged - m, 0);
    }
    x->m_all = m;
    x->lost = 0;
    return changed;
}

/* ---- Of each key ---- */

/* Of a key whose score is s below the maximum. */
static double other_weight(const struct explain_choice *choice, double s) {
    double limit = explain_limit(choice);
    switch ((enum explain_function)choice->weight.function) { EXPLAIN_FUNCTIONS(EXPLAIN_CASE) }
    return exp(s);
}

/* 1: by what the kernel declares its weights may be rounded so. */
static int may_be_rounded(const struct explain_model *x, const struct explain_choice *choice) {
    int declared = x->kernel->arithmetic.weights;
    return declared == CP_BF16 || (declared == choice->weight.type && choice->weight.sums == IN_O);
}

/* Against the maximum of a step of keys, or that so far. */
static int weigh_otherwise(struct explain_model *x, const struct explain_choice *choice) {
    int step = choice->parts.tile > 0 ? choice->parts.tile : x->c, changed = 0;
    double m = -INFINITY;
    if (choice->weight.function == ROUNDED && may_be_rounded(x, choice)) {
        return 0;
    }
    for (int j = 0; j < x->m; j++) {
        if (j % step == 0) {
            double of_step = explain_largest(x->score + j, least(step, x->m - j));
            m = choice->weight.so_far ? fmax(m, of_step) : of_step;
        }
        double s = x->score[j] - m, right = exp(s);
        double times = right > 0.0 ? other_weight(choice, s) / right : 0.0;
        changed |= times != 1.0;
        multiply(x, choice->weight.sums, j, times);
    }
    return changed;
}

/* Slots without a key, up to a multiple of so many, or of a chunk (0); or one more (-1). */
static int weigh_padding(struct explain_model *x, const struct explain_choice *c) {
    int slots = c->weight.slots, multiple = slots > 0 ? slots : x->c;
    int more = slots < 0 ? -slots : (x->n + multiple - 1) / multiple * multiple - x->n;
    double before = x->m_all, limit = explain_limit(c);
    x->m_all = fmax(before, limit);
    for (int j = 0; j < x->m; j++) {
        multiply(x, IN_BOTH, j, exp(before - x->m_all));
    }
    x->more_n = more * exp(limit - x->m_all);
    return more > 0;
}

/* ---- Of a group of elements ---- */

/* Weights of other keys: lanes have a key's weight each, and get those of their part of the warp
 * alone. */
static int weigh_shuffled(struct explain_model *x, const struct explain_choice *c, int group) {
    int lanes = c->weight.lanes;
    for (int j = 0; j < x->m; j++) {
        int from = j / 32 * 32 + group * lanes + j % lanes;
        x->of_o[j] = from < x->m ? x->of_n[from] : 0.0;
    }
    return !c->weight.side_by_side || x->d > 32;
}

/* What is divided by what is right, but where a thread's own warp has no key it is inf / inf. */
static int weigh_to_own(struct explain_model *x, const struct explain_choice *c, int group) {
    int warps = explain_take_parts(x, &c->parts);
    double off = group < warps ? x->m_all - x->part[group].maximum : INFINITY;
    x->no_number |= group >= warps;
    x->lost |= off > LOG_FLOAT;
    x->m_all += c->weight.own ? off : 0.0;
    return 1;
}

/* A split, a warp or the shared chunks that have no key of the row. */
static int weigh_empty_part(struct explain_model *x, const struct explain_choice *c) {
    int shared = x->run->problem.n_shared_chunks[x->s] * x->c, kind = c->parts.kind;
    x->no_number |= kind == PART_SHARED          ? shared == 0 || x->n <= shared
                    : kind == PART_SHARED_CHUNKS ? x->n <= shared - x->c
                                                 : explain_parts(x, &c->parts) < c->parts.n;
    return 1;
}

/* ---- All ---- */

int explain_take_weights(struct explain_model *x, const struct explain_choice *choice, int group) {
    x->more_n = 0.0;
    x->m_all = x->m_right;
    memcpy(x->of_n, x->weight, (size_t)x->m * sizeof(double));
    memcpy(x->of_o, x->weight, (size_t)x->m * sizeof(double));
    if (choice->select.which != SELECT_NONE) {
        weigh_selected(x, choice);
    }
    switch ((enum explain_weight)choice->weight.way) { EXPLAIN_WEIGHTS(EXPLAIN_CASE) }
    return 1;
}

/* ---- A sum that is kept short ---- */

double explain_rounded_sum(const struct explain_model *x, const struct explain_choice *c, int i) {
    const struct explain_partition *parts = &c->parts;
    double whole = 0.0;
    for (int warp = 0; warp < parts->n && warp * parts->tile < x->m; warp++) {
        double o[MOST_LANES] = {0.0}, m = -INFINITY;
        for (int first = warp * parts->tile; first < x->m; first += parts->tile * parts->n) {
            int end = first + parts->tile < x->m ? first + parts->tile : x->m;
            double before = m;
            m = fmax(m, explain_largest(x->score + first, end - first));
            for (int lane = 0; lane < c->weight.lanes; lane++) {
                o[lane] *= before == -INFINITY ? 0.0 : exp(before - m);
            }
            for (int j = first; j < end; j++) {
                double *sum = &o[j % parts->tile % c->weight.lanes];
                *sum = gate_round(c->weight.type, *sum + exp(x->score[j] - m) * x->v[j][i]);
            }
        }
        for (int lane = 0; lane < c->weight.lanes; lane++) {
            whole += exp(m - x->m_all) * o[lane];
        }
    }
    return whole;
}

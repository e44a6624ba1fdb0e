/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 7: what each key weighs in the sum of weights n and in the sum of weighted values o. */
#include <math.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/explain/model.h"

#define LOG_FLOAT  88.7228   /* exp() of more overflows binary32 */
#define LOG_HALF   11.0902   /* and binary16; */
#define ZERO_FLOAT (-103.98) /* exp() of less is 0 */
#define ZERO_HALF  (-17.33)
#define LIGHT      1e-30 /* a sum of weights that binary64 may no longer hold well */
#define MOST_LANES 32

static void weigh_rightly(struct explain_model *x) {
    if (x->are_own) {
        x->m_all = x->own_largest;
        memcpy(x->of_n, x->own_weight, (size_t)x->m * sizeof(double));
        memcpy(x->of_o, x->own_weight, (size_t)x->m * sizeof(double));
        return;
    }
    x->m_all = explain_largest(x->score, x->m);
    for (int j = 0; j < x->m; j++) {
        x->of_n[j] = x->of_o[j] = exp(x->score[j] - x->m_all);
    }
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
        explain_multiply(x, c->select.sums, j, times);
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

/* Whether another query's maximum is taken of the part that begins with key j; and the largest
 * score of its keys, as far as that query sees them. */
static int other_maximum(struct explain_model *x, const struct explain_choice *c, int j, int end,
                         double *m) {
    int other = explain_other_query(x, c->weight.whose, c->weight.block, j);
    if (other < 0 || other == x->pair ||
        (c->weight.parts.kind == PART_SHARED_CHUNKS && j >= x->shared)) {
        return 0;
    }
    int sees = gate_visible(&x->run->problem, other / x->run->problem.recipe.n_heads);
    *m = -INFINITY;
    for (int i = j; i < end && i < sees; i++) {
        *m = fmax(*m, explain_score_of(x, other, i));
    }
    x->work -= (long long)(end - j) * x->d;
    return 1;
}

static int weigh_against(struct explain_model *x, const struct explain_choice *c) {
    double reference = c->weight.number == NO_REFERENCE  ? 0.0
                       : c->weight.number == FIRST_SCORE ? x->score[0]
                                                         : fmax(x->m_all, c->weight.limit);
    for (int j = 0; j < x->m; j++) {
        x->of_n[j] = x->of_o[j] = hold(x, x->score[j] - reference, c->weight.type == CP_FP16);
    }
    x->m_all = reference;
    return 1;
}

static int weigh_by_other(struct explain_model *x, const struct explain_choice *c) {
    int parts = explain_take_parts(x, &c->weight.parts), changed = 0;
    double *own = x->part[OF_MAXIMUM], *reference = x->part[REFERENCES], m = -INFINITY;
    for (int from = 0, end; from < x->m; from = end) {
        int p = x->part_of[from];
        for (end = from; end < x->m && x->part_of[end] == p; end++) {
        }
        reference[p] = own[p];
        changed |= other_maximum(x, c, from, end, &reference[p]);
    }
    for (int p = 0; p < parts; p++) {
        m = fmax(m, c->weight.own ? own[p] : reference[p]);
    }
    for (int j = 0; j < x->m && changed; j++) {
        int p = x->part_of[j];
        double merged = c->weight.own ? own[p] : reference[p];
        x->of_n[j] = x->of_o[j] = hold(x, x->score[j] - reference[p], 0) * hold(x, merged - m, 0);
    }
    x->m_all = m;
    x->lost = 0;
    return changed;
}

/* ---- Of each key ---- */

/* Of x, the score of a key against the maximum: at most 0. */
static double other_weight(int function, double x) {
    switch ((enum explain_function)function) {
    case SQUARE:
        return exp(2.0 * x);
    case FIRST_ORDER:
        return fmax(1.0 + x, 0.0);
    case SECOND_ORDER:
        return 1.0 + x + 0.5 * x * x;
    default:
        return exp2(x);
    }
}

/* Light keys are dropped, or weights are another function; against the maximum, or that so far. */
static int weigh_otherwise(struct explain_model *x, const struct explain_choice *c) {
    double m = c->weight.so_far ? -INFINITY : x->m_all;
    int changed = 0;
    for (int j = 0; j < x->m; j++) {
        m = fmax(m, x->score[j]);
        double distance = x->score[j] - m, right = exp(distance);
        double times = c->weight.rule == DROPPED ? (distance < c->weight.limit ? 0.0 : 1.0)
                       : right > 0.0             ? other_weight(c->weight.number, distance) / right
                                                 : 0.0;
        changed |= times != 1.0;
        explain_multiply(x, c->weight.sums, j, times);
    }
    return changed;
}

/* Slots without a key, up to a multiple of so many, or of a chunk (0); or so many more (< 0). */
static int weigh_padding(struct explain_model *x, const struct explain_choice *c) {
    int number = c->weight.number, multiple = number > 0 ? number : x->c;
    int more = number < 0 ? -number : (x->n + multiple - 1) / multiple * multiple - x->n;
    double before = x->m_all;
    x->m_all = fmax(before, c->weight.limit);
    for (int j = 0; j < x->m; j++) {
        explain_multiply(x, IN_BOTH, j, exp(before - x->m_all));
    }
    x->more_n = more * exp(c->weight.limit - x->m_all);
    return more > 0;
}

static int weigh_rounded(struct explain_model *x, const struct explain_choice *c) {
    int declared = x->kernel->arithmetic.weights;
    if (declared == CP_BF16 || (declared == c->weight.type && c->weight.sums == IN_O)) {
        return 0; /* it may be so */
    }
    int step = c->weight.parts.tile > 0 ? c->weight.parts.tile : x->c;
    double m = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        if (j % step == 0) {
            double of_step = explain_largest(x->score + j, j + step < x->m ? step : x->m - j);
            m = c->weight.own ? of_step : fmax(m, of_step);
        }
        double weight = exp(x->score[j] - m);
        double rounded = weight > 0.0 ? gate_round(c->weight.type, weight) / weight : 1.0;
        explain_multiply(x, c->weight.sums == IN_BOTH ? IN_BOTH : IN_O, j, rounded);
    }
    return 1;
}

/* ---- Of a group of elements ---- */

/* Weights of other keys: lanes have a key's weight each, and get those of their part of the warp
 * alone. */
static int weigh_shuffled(struct explain_model *x, const struct explain_choice *c, int group) {
    int lanes = c->weight.number;
    for (int j = 0; j < x->m; j++) {
        int from = j / 32 * 32 + group * lanes + j % lanes;
        x->of_o[j] = from < x->m ? x->of_n[from] : 0.0;
    }
    return !c->weight.own || x->d > 32;
}

enum own { OWN_FOR_ALL, OWN_ALONE, OWN_DIVIDED };

static int weigh_own_warp(struct explain_model *x, const struct explain_choice *c, int group) {
    int warps = explain_take_parts(x, &c->weight.parts);
    const double *m = x->part[OF_MAXIMUM], *sum = x->part[OF_SUM];
    double factors = 0.0;
    for (int p = 0; p < warps; p++) {
        factors += exp(m[p] - x->m_all);
    }
    double own = group < warps ? exp(m[group] - x->m_all) : 0.0;
    double times = c->weight.number == OWN_FOR_ALL   ? factors / own
                   : c->weight.number == OWN_DIVIDED ? 1.0 / (own * sum[group < warps ? group : 0])
                                                     : 1.0;
    for (int j = 0; j < x->m; j++) {
        x->of_o[j] *= x->part_of[j] == group ? times : 0.0;
    }
    x->divisor = c->weight.number == OWN_DIVIDED ? 1.0 : NAN;
    return 1;
}

/* What is divided by what is right, but where a thread's own warp has no key it is inf / inf. */
static int weigh_to_own(struct explain_model *x, const struct explain_choice *c, int group) {
    int warps = explain_take_parts(x, &c->weight.parts);
    double off = group < warps ? x->m_all - x->part[OF_MAXIMUM][group] : INFINITY;
    x->no_number |= group >= warps;
    x->lost |= off > LOG_FLOAT;
    x->m_all += c->weight.number ? off : 0.0;
    return 1;
}

/* ---- All ---- */

int explain_take_weights(struct explain_model *x, const struct explain_choice *c, int group) {
    x->more_n = 0.0;
    x->divisor = NAN;
    weigh_rightly(x);
    x->m_right = x->m_all;
    if (c->select.which != SELECT_NONE) {
        weigh_selected(x, c);
    }
    switch ((enum explain_weight)c->weight.rule) {
    case ONLINE:
        return explain_weigh_online(x, c);
    case MERGED:
        return explain_weigh_merged(x, c);
    case KEPT_SHORT:
        return explain_weigh_kept(x, c);
    case CARRIED:
        return explain_weigh_carried(x, c);
    case REFERENCE:
        return weigh_against(x, c);
    case OTHER_QUERY:
        return weigh_by_other(x, c);
    case DROPPED:
    case FUNCTION:
        return weigh_otherwise(x, c);
    case PADDED:
        return weigh_padding(x, c);
    case ROUNDED:
        return weigh_rounded(x, c);
    case SHUFFLED:
        return weigh_shuffled(x, c, group);
    case OWN_WARP:
        return weigh_own_warp(x, c, group);
    case OWN_MAXIMUM:
        return weigh_to_own(x, c, group);
    case EMPTY_PART:
        x->no_number |= explain_has_empty_part(x, c);
        return 1;
    case ROUNDED_SUM:
        return c->weight.number <= c->weight.parts.tile;
    default:
        return 1;
    }
}

/* ---- A sum that is kept short ---- */

double explain_rounded_sum(const struct explain_model *x, const struct explain_choice *c, int i) {
    const struct explain_partition *parts = &c->weight.parts;
    double whole = 0.0;
    for (int warp = 0; warp < parts->n && warp * parts->tile < x->m; warp++) {
        double o[MOST_LANES] = {0.0}, m = -INFINITY;
        for (int first = warp * parts->tile; first < x->m; first += parts->tile * parts->n) {
            int end = first + parts->tile < x->m ? first + parts->tile : x->m;
            double before = m;
            m = fmax(m, explain_largest(x->score + first, end - first));
            for (int lane = 0; lane < c->weight.number; lane++) {
                o[lane] *= before == -INFINITY ? 0.0 : exp(before - m);
            }
            for (int j = first; j < end; j++) {
                double *sum = &o[j % parts->tile % c->weight.number];
                *sum = gate_round(c->weight.type, *sum + exp(x->score[j] - m) * x->v[j][i]);
            }
        }
        for (int lane = 0; lane < c->weight.number; lane++) {
            whole += exp(m - x->m_all) * o[lane];
        }
    }
    return whole;
}

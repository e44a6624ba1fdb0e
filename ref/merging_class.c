/* SPDX-License-Identifier: Apache-2.0 */
/* From what a kernel that merges declares to the numbers of NUM-7 and NUM-8: the tables of
 * MERGING-5 and MERGING-6. The names are those of these clauses. */
#include <limits.h>
#include <math.h>

#include "chunkproof/kernel_class.h"
#include "merging_internal.h"

#define MORE     (1.0 + 0x1p-40) /* more than these few roundings lose */
#define MOST     0x1p-6
#define FARTHEST 64.0
#define BEYOND   1000.0 /* no factor of NUM-9 is a number for such an `above` */

/*@
  assigns \nothing;
  ensures known: \result != 0 <==> wide_type(type);
*/
static int is_type(int type) {
    return type == CP_FP16 || type == CP_BF16 || type == CP_FP32 || type == CP_FP64;
}

/*@
  assigns \nothing;
  ensures flag: \result != 0 <==> 0 <= flag <= 1;
*/
static int is_flag(int flag) {
    return flag == 0 || flag == 1;
}

/*@
  assigns \nothing;
  ensures range: \result != 0 <==> 0.0 <= x <= most;
*/
static int is_within(double x, double most) {
    return x >= 0.0 && x <= most;
}

int cp_merging_class_ok(const struct cp_merging_class *declared) {
    return declared->way >= CP_MERGING_AT_ONCE && declared->way <= CP_MERGING_UNDIVIDED &&
           is_flag(declared->tree) &&
           (declared->tree == CP_MERGING_ANY_TREE || declared->way == CP_MERGING_PAIRWISE) &&
           declared->converts >= CP_CONVERTS_NONE && declared->converts <= CP_CONVERTS_EACH &&
           is_type(declared->weights) && is_type(declared->values) && is_type(declared->partials) &&
           is_type(declared->out_type) && is_type(declared->lse_type) &&
           is_flag(declared->truncates) && is_flag(declared->flushes) &&
           is_within(declared->exp_error, MOST) && is_within(declared->log_error, MOST) &&
           is_within(declared->div_error, MOST) && is_within(declared->above, FARTHEST) &&
           is_within(declared->behind, FARTHEST) &&
           (!(declared->behind > 0.0) || declared->way <= CP_MERGING_STATES);
}

/* ---- Formats ---- */

/* The format of a type, as the class rounds to it. */
/*@
  requires valid: \valid_read(declared);
  assigns \nothing;
  ensures num_4: format_ok(\result);
*/
static struct cp_format format_of(const struct cp_merging_class *declared, int type) {
    struct cp_format format = type == CP_FP64   ? cp_format_fp64()
                              : type == CP_FP32 ? cp_format_fp32()
                              : type == CP_FP16 ? cp_format_fp16()
                                                : cp_format_bf16();
    struct cp_format flushing = cp_format_flushing(format);
    format.tiny = declared->flushes ? flushing.tiny : format.tiny;
    return declared->truncates ? cp_format_truncating(format) : format;
}

/* Of what is computed in binary32, or in binary64 where all is, and stored in a type: nothing is
 * lost in one that is as wide. */
/*@
  requires valid: \valid_read(declared);
  assigns \nothing;
  ensures num_4: format_ok(\result);
*/
static struct cp_format stored_in(const struct cp_merging_class *declared, int type) {
    struct cp_format format = format_of(declared, type);
    if (type == CP_FP64 || (type == CP_FP32 && declared->values != CP_FP64)) {
        format.unit = 0.0;
        format.tiny = 0.0;
    }
    return format;
}

/*@
  requires valid: \valid_read(declared);
  assigns \nothing;
  ensures ok: formats_ok(\result);
  ensures narrow: 0 <= \result.is_narrow <= 1;
*/
static struct cp_merging_formats formats_of(const struct cp_merging_class *declared) {
    int is_wide = declared->values == CP_FP64;
    struct cp_merging_formats f = {
        .n = format_of(declared, is_wide ? CP_FP64 : CP_FP32),
        .values = format_of(declared, declared->values),
        .weights = stored_in(declared, is_wide ? CP_FP64 : declared->weights),
        .partials = stored_in(declared, is_wide ? CP_FP64 : declared->partials),
        .lse = stored_in(declared, declared->lse_type),
        .is_narrow = declared->values == CP_FP16 || declared->values == CP_BF16,
    };
    return f;
}

/* ---- NUM-8 ---- */

/* Two parts that are merged pair by pair are merged at once. */
/*@
  requires valid: \valid_read(declared);
  assigns \nothing;
  ensures way: \result == declared->way || \result == CP_MERGING_AT_ONCE;
*/
static int way_of(const struct cp_merging_class *declared, int n_parts) {
    return n_parts <= 2 && declared->way != CP_MERGING_UNDIVIDED ? CP_MERGING_AT_ONCE
                                                                 : declared->way;
}

/* The most merges between a part and the result: log2 of the number of parts, rounded up, where the
 * tree is balanced. */
/*@
  requires parts: 1 <= n_parts <= CP_TOLERANCE_MOST;
  assigns \nothing;
  ensures levels: 0 <= \result < n_parts;
*/
static int levels_of(int tree, int n_parts) {
    int levels = 0, parts = 1;
    if (tree != CP_MERGING_BALANCED) {
        return n_parts - 1;
    }
    /*@ loop invariant range: 0 <= levels < parts <= 2 * CP_TOLERANCE_MOST &&
          (levels == 0 || levels < n_parts);
        loop assigns levels, parts; loop variant n_parts - parts; */
    while (parts < n_parts) {
        parts *= 2;
        levels++;
    }
    return levels;
}

/*@
  requires parts: 1 <= n_parts <= CP_TOLERANCE_MOST && 0 <= is_narrow <= 1;
  assigns \nothing;
  ensures num_8_ok: counts_ok(\result);
  ensures room: \result.depth_n < INT_MAX && \result.depth_o < INT_MAX;
*/
static struct cp_counts count(int way, int tree, int n_parts, int is_narrow) {
    int merges = n_parts - 1, levels = levels_of(tree, n_parts);
    struct cp_counts counts = {
        .depth_n = merges,
        .depth_o = n_parts,
        .operations_n = merges,
        .operations_o = 2.0 * n_parts,
    };
    if (way == CP_MERGING_STATES) {
        counts = cp_counts_of_chunks(1, n_parts);
    } else if (way == CP_MERGING_PAIRWISE) {
        counts.depth_n = levels;
        counts.depth_o = 2 * levels;
        counts.stores = levels;
        counts.changes = 2 * levels;
        counts.operations_n = 3.0 * merges;
        counts.operations_o = 5.0 * merges;
    }
    counts.depth_o += is_narrow; /* o_i is rounded */
    counts.operations_o += is_narrow * (double)n_parts;
    return counts;
}

/* ---- NUM-7 ---- */

/* Of the numbers below the normal ones: what a weight loses is multiplied by an output, and all is
 * seen in the scale of n, which is at most 2 n_parts; in a merge of a pair at most 4. */
/*@
  requires valid: \valid_read(f);
  requires ok: formats_ok(*f) && 0.0 <= value && 0 <= n_parts;
  assigns \nothing;
  ensures not_negative: 0.0 <= \result;
*/
static double tiny_of_products(int way, const struct cp_merging_formats *f, double value,
                               int n_parts) {
    int is_merge = way == CP_MERGING_STATES || way == CP_MERGING_PAIRWISE;
    double most = 2.0 * (way == CP_MERGING_PAIRWISE ? 2.0 : n_parts);
    double of_weight = f->n.tiny + (is_merge ? f->weights.tiny : 0.0);
    double all = f->values.tiny + f->partials.tiny + f->n.tiny + 2.0 * (value * of_weight);
    //@ assert weight: 0.0 <= value * of_weight;
    //@ assert all: 0.0 <= most * all;
    return MORE * (most * all);
}

/* That of the class alone, wherever references lie. */
/*@
  requires valid: \valid_read(declared) && \valid_read(f);
  requires ok: declared_ok(*declared) && extent_ok(extent) && formats_ok(*f) && 0.0 <= eta_o;
  assigns \nothing;
  ensures num_7_ok: arithmetic_ok(\result);
*/
static struct cp_arithmetic begin(const struct cp_merging_class *declared,
                                  const struct cp_merging_formats *f,
                                  struct cp_merging_extent extent, double eta_o) {
    double u = f->n.unit, tiny = f->n.tiny;
    int is_each = declared->converts == CP_CONVERTS_EACH;
    double of_constant = is_each                                  ? 1.01 * u
                         : declared->converts == CP_CONVERTS_NONE ? 0.0
                                                                  : 2.02 * u;
    double unit_of_l = (extent.base == CP_BASE_2 ? 0x1p-53 : 0.0) + (is_each ? 2.02 * u : 0.0);
    struct cp_arithmetic a = {
        .score = {.scale_unit = unit_of_l, .scale_tiny = is_each ? tiny : 0.0},
        .u_arg = of_constant + u,
        .u_ref = is_each ? 1.01 * u : 0.0,
        .u_move = is_each ? 1.01 * u : 0.0,
        .eps = -log1p(-declared->exp_error) * MORE,
        .kappa = 2.0 * tiny,
        .u_n = u,
        .eta_n = 2.0 * tiny,
        .u_o = f->values.unit,
        .eta_o = eta_o,
        .output = stored_in(declared, declared->out_type),
        .above = declared->above,
    };
    return a;
}

/* The weights are divided by n, which is at most 2 n_parts, and rounded: by div_error, then by u_w.
 * Where the second error is no part of the weight, the first adds little to it. */
/*@
  requires valid: \valid(a) && \valid_read(f);
  requires ok: arithmetic_ok(*a) && formats_ok(*f) && 0.0 <= div_error && 0 <= n_parts;
  assigns a->weights;
  ensures num_7_ok: arithmetic_ok(*a);
*/
static void round_weights(struct cp_arithmetic *a, const struct cp_merging_formats *f,
                          double div_error, int n_parts) {
    const struct cp_format *w = &f->weights;
    double together = w->unit > 0.0 ? w->tiny + 2.0 * div_error * (w->tiny / w->unit) : 0.0;
    a->weights.unit = cp_class_compound(div_error, w->unit);
    a->weights.tiny = MORE * 2.0 * n_parts * together;
    a->weights.largest = f->n.largest;
    //@ assert tiny: 0.0 <= a->weights.tiny;
}

/* Results (o, l) are merged: a reference is the logarithm of a sum. Each merge moves it off by
 * `off` at most, and all together by no more than 1. */
/*@
  requires valid: \valid(a) && \valid_read(declared) && \valid_read(f);
  requires apart: \separated(a, declared, f);
  requires ok: arithmetic_ok(*a) && declared_ok(*declared) && formats_ok(*f) &&
    extent_ok(extent) && 0.0 <= logarithm && 0.0 <= of_parts;
  assigns *a;
  ensures num_7_ok: arithmetic_ok(*a);
*/
static void divide_each(struct cp_arithmetic *a, const struct cp_merging_class *declared,
                        const struct cp_merging_formats *f, struct cp_merging_extent extent,
                        double logarithm, double of_parts) {
    double u = f->n.unit, size = extent.size + of_parts + declared->above + 1.0;
    int is_each = declared->converts == CP_CONVERTS_EACH;
    a->u_move = MORE * (1.01 * (u + f->lse.unit) + (is_each ? 4.1 * u : 0.0));
    a->eps = fmax(a->eps, MORE * (logarithm + 2.0 * (f->n.tiny + f->lse.tiny)));
    //@ assert moved: 0.0 <= a->u_move * size;
    double moved = a->eps + a->u_move * size;
    double off = 2.0 * (a->eps + u + a->u_arg * (1.0 + declared->above) + a->kappa) + 3.0 * moved;
    a->above = declared->above + of_parts + 1.0;
    if (!(extent.n_parts * off <= 1.0)) {
        a->above = BEYOND;
    }
    a->below = MORE * (declared->above + off);
    a->u_part = cp_class_compound(cp_class_compound(declared->div_error, f->weights.unit),
                                  f->partials.unit);
}

/* The reference is the computed l, which is off from the logarithm of the sum by `off`. */
/*@
  requires valid: \valid(a);
  requires ok: arithmetic_ok(*a) && 0.0 <= off && 0.0 <= of_parts;
  assigns a->above, a->below;
  ensures num_7_ok: arithmetic_ok(*a);
*/
static void refer_to_lse(struct cp_arithmetic *a, double off, double of_parts) {
    a->above = MORE * (a->above + of_parts + off);
    a->below = MORE * off;
}

/* What moves a computed log-sum-exp beside lse_error: weights, and the additions of n. */
/*@
  requires valid: \valid_read(a);
  requires ok: arithmetic_ok(*a) && 0.0 <= lse_error && 0.0 <= size && 0 <= n_parts;
  assigns \nothing;
  ensures not_negative: 0.0 <= \result;
*/
static double strays_of_lse(const struct cp_arithmetic *a, double lse_error, double size,
                            int n_parts) {
    double of_argument = a->u_arg * (1.0 + a->above), of_reference = a->u_ref * size;
    double of_sum = (n_parts + 1.0) * (2.0 * a->u_n + a->kappa);
    //@ assert argument: 0.0 <= of_argument;
    //@ assert reference: 0.0 <= of_reference;
    //@ assert sum: 0.0 <= of_sum;
    return lse_error + a->eps + of_argument + of_reference + of_sum;
}

/* x of NUM-11 for l = m + ln n, where m has the size `size`. */
/*@
  requires valid: \valid_read(declared) && \valid_read(f);
  requires ok: declared_ok(*declared) && formats_ok(*f) && 0.0 <= logarithm && 0.0 <= size;
  assigns \nothing;
  ensures not_negative: 0.0 <= \result;
*/
static double error_of_lse(const struct cp_merging_class *declared,
                           const struct cp_merging_formats *f, double logarithm, double size) {
    double u = f->n.unit;
    double units = u + f->lse.unit + (declared->converts == CP_CONVERTS_EACH ? 4.1 * u : 0.0);
    //@ assert rounded: 0.0 <= units * size;
    return MORE * (logarithm + 1.02 * (units * size) + 4.0 * (f->n.tiny + f->lse.tiny));
}

/* How far a computed ln n may be off, where n is at most the number of parts and a little. */
/*@
  requires valid: \valid_read(declared);
  requires ok: declared_ok(*declared) && 0.0 <= u && 0.0 <= of_parts;
  assigns \nothing;
  ensures not_negative: 0.0 <= \result;
*/
static double error_of_log(const struct cp_merging_class *declared, double u, double of_parts) {
    double far = 1.0 + of_parts + declared->above + declared->behind;
    double error = (declared->log_error + 3.0 * u) * far;
    //@ assert not_negative: 0.0 <= error;
    return error;
}

/* ---- References that are near the maximum, and not at it ---- */

/* By how much sums of weights may be larger, where references are below the maximum. */
/*@
  requires valid: \valid_read(declared);
  requires ok: declared_ok(*declared);
  assigns \nothing;
  ensures not_negative: 0.0 <= \result;
*/
static double times_of(const struct cp_merging_class *declared) {
    return declared->behind > 0.0 ? MORE * exp(declared->behind) : 1.0;
}

/* All weights for one reference: it is the slack of NUM-7, and divided weights count so much
 * more. */
/*@
  requires valid: \valid(a) && \valid_read(declared) && \separated(a, declared);
  requires ok: arithmetic_ok(*a) && declared_ok(*declared) && 0.0 <= times;
  assigns a->weights, a->below;
  ensures num_7_ok: arithmetic_ok(*a);
*/
static void lag_once(struct cp_arithmetic *a, const struct cp_merging_class *declared,
                     double times) {
    a->weights.tiny = MORE * (times * a->weights.tiny);
    a->below = declared->behind;
}

/* ---- MERGING-12: parts that are given by a maximum and a sum ----
 *
 * A kernel's weights n_i exp(m_i - m) are those of NUM-8 times the largest sum N, for the reference
 * m + ln N. That is no less than each l_i, and for a part with m_i = m at most ln(N / least) more:
 *
 *   m = 0, (m_i, n_i) = (0, 2), (-1, 8)     N = 8
 *   weights   2, 8 / e                      divided by N: exp(l_i - ln 8) = 1/4, 1/e
 *
 * The argument m_i - m is no longer than l_i - (m + ln N), for n_i is at most N. */
struct reach {
    double above; /* how far such a reference may be above the largest l_i, in nats */
    double far;   /* how far a log-sum-exp may be from m_i, and m from m + ln N */
};

/*@
  requires ok: extent_ok(extent);
  assigns \nothing;
  ensures not_negative: 0.0 <= \result.above && 0.0 <= \result.far;
*/
static struct reach reach_of(struct cp_merging_extent extent) {
    struct reach r = {0.0, 0.0};
    if (extent.most_sum > 0.0) {
        double least = log(extent.least_sum), most = log(extent.most_sum);
        r.above = MORE * fmax(most - least, 0.0);
        r.far = MORE * fmax(fabs(most), fabs(least));
    }
    return r;
}

/* A weight has a rounding more, that of its product with n_i, and m_i is not rounded as l_i would
 * be. A tiny number counts n_i / N times, and that of a product 1 / N times; that of a weight which
 * is divided by n first counts n_i times, if it meets a sum. The numbers l_i and o_i are those of
 * binary64. */
/*@
  requires valid: \valid(a) && \valid_read(f) && \separated(a, f);
  requires ok: arithmetic_ok(*a) && formats_ok(*f) && 0.0 < most_sum;
  requires reach: 0.0 <= r.above && 0.0 <= r.far;
  assigns *a;
  ensures num_7_ok: arithmetic_ok(*a);
*/
static void weigh_sums(struct cp_arithmetic *a, const struct cp_merging_formats *f, double most_sum,
                       struct reach r) {
    double times = 1.0 + 1.0 / most_sum;
    double of_size = (a->u_ref + a->u_move + a->score.scale_unit) * r.far;
    //@ assert times: 1.0 <= times;
    //@ assert size: 0.0 <= of_size;
    a->eps += 1.02 * (f->n.unit + of_size) + 0x1p-50 * (1.0 + r.far);
    a->score.scale_unit += 0x1p-51;
    a->weights.unit = cp_class_compound(a->weights.unit, 0x1p-51);
    a->weights.tiny = MORE * ((times + most_sum) * a->weights.tiny);
    a->weights.largest = f->n.largest;
    a->kappa = MORE * (times * a->kappa);
    a->eta_n = MORE * (times * a->eta_n);
    a->eta_o = MORE * (times * a->eta_o);
    a->above = MORE * (a->above + r.above);
}

/* A product with n_i more for each part, and for its output. */
/*@
  requires ok: counts_ok(counts) && 0 <= n_parts;
  requires room: counts.depth_n < INT_MAX && counts.depth_o < INT_MAX;
  assigns \nothing;
  ensures num_8_ok: counts_ok(\result);
*/
static struct cp_counts count_sums(struct cp_counts counts, int n_parts) {
    counts.depth_n += 1;
    counts.depth_o += 1;
    counts.operations_n += n_parts;
    counts.operations_o += n_parts;
    return counts;
}

struct cp_merging_numbers cp_merging_numbers(const struct cp_merging_class *declared,
                                             struct cp_merging_extent extent) {
    struct cp_merging_formats f = formats_of(declared);
    int way = way_of(declared, extent.n_parts), n_parts = extent.n_parts > 1 ? extent.n_parts : 1;
    struct reach reach = reach_of(extent);
    double of_parts = MORE * log1p(n_parts), of_sums = reach.above + reach.far;
    double size = extent.top + declared->above + declared->behind + of_parts + of_sums;
    double times = times_of(declared);
    double logarithm = error_of_log(declared, f.n.unit, of_parts + of_sums);
    double lse_error = error_of_lse(declared, &f, logarithm, size);
    struct cp_arithmetic a =
        begin(declared, &f, extent, times * tiny_of_products(way, &f, extent.value, n_parts));
    if (way == CP_MERGING_PAIRWISE) {
        divide_each(&a, declared, &f, extent, logarithm, of_parts);
        lse_error = 0.0;
    } else if (way == CP_MERGING_STATES) {
        a.u_part = cp_class_compound(f.weights.unit, f.partials.unit);
    } else if (way == CP_MERGING_AT_ONCE) {
        round_weights(&a, &f, declared->div_error, n_parts);
        lag_once(&a, declared, times);
    } else {
        round_weights(&a, &f, 0.0, n_parts);
        refer_to_lse(&a, strays_of_lse(&a, lse_error, size, n_parts), of_parts);
    }
    //@ assert way: arithmetic_ok(a);
    if (way == CP_MERGING_AT_ONCE || way == CP_MERGING_STATES) {
        a.u_div = declared->div_error;
        a.eta_div = 2.0 * f.n.tiny;
    }
    //@ assert divided: arithmetic_ok(a);
    struct cp_counts counts = count(way, declared->tree, n_parts, f.is_narrow);
    if (extent.most_sum > 0.0) {
        weigh_sums(&a, &f, extent.most_sum, reach);
        counts = count_sums(counts, n_parts);
    }
    //@ assert sums: arithmetic_ok(a);
    double width = declared->above + declared->behind;
    if (way == CP_MERGING_STATES && width > 0.0) {
        double of_scores = a.score.scale_unit * extent.top + a.score.scale_tiny;
        //@ assert scores: 0.0 <= of_scores;
        cp_follow_maximum(&a, width + reach.above, of_scores);
    }
    //@ assert near: arithmetic_ok(a);
    struct cp_merging_numbers numbers = {a, counts, lse_error};
    return numbers;
}

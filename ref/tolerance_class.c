/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-4 to NUM-8: formats, classes and counts, and the error of a score. NUM-21: references
 * near the maximum. */
#include <float.h>
#include <math.h>

#include "tolerance_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/tolerance_class.h"
#endif

#define UNIT_32     0x1p-24
#define UNIT_64     0x1p-53
#define SMALLEST_32 0x1p-149
#define SMALLEST_64 0x1p-1074

struct cp_format cp_format_fp16(void) {
    return (struct cp_format){0x1p-11, 0x1p-25, 65504.0};
}

struct cp_format cp_format_bf16(void) {
    return (struct cp_format){0x1p-8, 0x1p-134, 0x1.FEp127};
}

struct cp_format cp_format_fp32(void) {
    return (struct cp_format){UNIT_32, 0x1p-150, 0x1.FFFFFEp127};
}

struct cp_format cp_format_fp64(void) {
    return (struct cp_format){UNIT_64, SMALLEST_64, DBL_MAX}; /* half of SMALLEST_64 is no number */
}

struct cp_format cp_format_truncating(struct cp_format format) {
    return (struct cp_format){2.0 * format.unit, 2.0 * format.tiny, format.largest};
}

/* The smallest normal number is tiny / unit: below it the error of a rounding no longer shrinks. */
struct cp_format cp_format_flushing(struct cp_format format) {
    return (struct cp_format){format.unit, format.tiny / format.unit, format.largest};
}

struct cp_counts cp_counts_of_chunks(int chunk_size, int n_chunks) {
    int merges = n_chunks - 1;
    double keys = (double)chunk_size * n_chunks;
    return (struct cp_counts){chunk_size + 2 * merges, chunk_size + 1 + 2 * merges, merges, merges,
                              keys + 5.0 * merges,     2.0 * keys + 5.0 * merges};
}

int cp_additions_as_one(int type) {
    return type == CP_FP16 ? 1 << 13 : 1 << 16;
}

int cp_depth_of_short_sums(int type, int additions, int promoted) {
    int each = cp_additions_as_one(type);
    //@ ghost double unit = type == CP_FP16 ? 0x1p-11 : 0x1p-8;
    //@ ghost power_of_short_sums(0x1p-24, unit, each, additions, promoted);
    //@ assert unit: unit == unit_of_short(type);
    int depth = each * additions + promoted;
    /*@ assert errs: product(power(1.0 + unit_of_short(type), additions),
                             power(1.0 + 0x1p-24, promoted)) <= power(1.0 + 0x1p-24, depth); */
    return depth;
}

/* `unit` and `smallest` of the format that all is computed in. An exponential within one unit in
 * the last place is within 2 unit of its value, its logarithm within 2 unit / (1 - 2 unit). */
/*@
  requires size: 0 <= d;
  requires unit: 0.0 < unit < 0.25 && 0.0 <= smallest;
  assigns \nothing;
  ensures ok: arithmetic_ok(\result);
  ensures scores: plain_scores(\result.score, d, unit, smallest);
  ensures units: \result.score.unit == unit && \result.u_n == unit && \result.u_o == unit &&
    \result.u_div == unit;
*/
static struct cp_arithmetic arithmetic_of(int d, double unit, double smallest) {
    struct cp_arithmetic a = {
        .score = {.term_unit = unit,
                  .term_tiny = smallest,
                  .unit = unit,
                  .tiny = 0.0,
                  .depth = d,
                  .n_additions = d,
                  .scale_unit = 3.0 * unit, /* the scale is rounded, too */
                  .scale_tiny = smallest,
                  .scaled_before = 0},
        .u_arg = unit,
        .eps = 2.0 * unit / (1.0 - 2.0 * unit),
        .kappa = smallest,
        .u_n = unit,
        .eta_n = smallest,
        .u_o = unit,
        .eta_o = smallest,
        .u_div = unit,
        .eta_div = smallest,
    };
    return a;
}

struct cp_arithmetic cp_arithmetic_fp32(int d, struct cp_format weights, struct cp_format output) {
    struct cp_arithmetic a = arithmetic_of(d, UNIT_32, SMALLEST_32);
    a.weights = weights;
    a.output = output;
    return a;
}

struct cp_arithmetic cp_arithmetic_fp64(int d) {
    struct cp_arithmetic a = arithmetic_of(d, UNIT_64, SMALLEST_64);
    a.output = cp_format_fp64();
    return a;
}

/* The logarithm of (1 + u)^k, rounded upwards. */
/*@
  requires roundings: 0.0 <= u && 0 <= k;
  assigns \nothing;
  ensures power: 1.0 <= power(1.0 + u, k) <= e(\result);
  ensures not_negative: 0.0 <= \result;
*/
static double compound(double u, int k) {
    double logarithm = log1p(u), one = up_function(logarithm);
    //@ ghost power_of(logarithm, 1.0 + u, k);
    double all = up_times(k, one);
    //@ assert rises: 0.0 <= product(k, logarithm) <= product(k, one) <= all;
    return all;
}

/* What is lost beside the rounding of terms and sums. */
/*@
  requires valid: \valid_read(a);
  requires ok: score_arithmetic_ok(*a) && 0 <= d;
  assigns \nothing;
  ensures lost: 0.0 <= score_lost(*a, scale, d) <= \result;
*/
static double lost_in_score(const struct cp_score_arithmetic *a, double scale, int d) {
    double b = a->scaled_before ? 1.0 : fabs(scale);
    double tiny = up_plus(up_times(d, a->term_tiny), up_times(a->n_additions, a->tiny));
    //@ assert terms: 0.0 <= product(d, a->term_tiny) && 0.0 <= product(a->n_additions, a->tiny);
    //@ assert tiny: 0.0 <= d * a->term_tiny + a->n_additions * a->tiny <= tiny;
    /*@ assert rises: 0.0 <= product(b, d * a->term_tiny + a->n_additions * a->tiny) <=
          product(b, tiny); */
    return up_times(b, tiny);
}

struct cp_score_bound cp_tolerance_score_bound(const struct cp_score_arithmetic *a, double scale,
                                               int d) {
    double additions = compound(a->unit, a->depth), scaling = up_function(log1p(a->scale_unit));
    double sums = up_plus(additions, scaling), terms = up_function(log1p(a->term_unit));
    //@ ghost e_of_both(additions, scaling);
    //@ assert scaling: 1.0 + a->scale_unit <= e(scaling);
    /*@ assert sums: product(power(1.0 + a->unit, a->depth), 1.0 + a->scale_unit) <=
          product(e(additions), e(scaling)); */
    //@ assert score_sums: 1.0 <= score_sums(*a) <= e(sums);
    //@ ghost e_of_both(terms, sums);
    //@ assert of_terms: 1.0 + a->term_unit <= e(terms);
    /*@ assert terms: product(1.0, 1.0) <= product(1.0 + a->term_unit, score_sums(*a)) <=
          product(e(terms), e(sums)); */
    double relative = up_function(expm1(up_plus(terms, sums))), grown = up_function(exp(sums));
    double lost = lost_in_score(a, scale, d);
    //@ assert relative: 0.0 <= score_relative(*a) <= relative;
    //@ assert grown: score_sums(*a) <= grown;
    /*@ assert lost: 0.0 <= product(score_lost(*a, scale, d), score_sums(*a)) <=
          product(lost, grown); */
    return (struct cp_score_bound){relative, up_times(lost, grown), a->scale_tiny};
}

double cp_score_error(const struct cp_score_arithmetic *a, double scale, int d, double magnitude) {
    struct cp_score_bound bound = cp_tolerance_score_bound(a, scale, d);
    /*@ assert relative: 0.0 <= product(score_relative(*a), magnitude) <=
          product(bound.relative, magnitude); */
    return cp_tolerance_of_score(bound, magnitude);
}

void cp_follow_maximum(struct cp_arithmetic *a, double width, double of_scores) {
    double b = up_plus(width, 2.0 * of_scores);
    double unit = up_plus(up_plus(a->u_arg, a->u_ref), 2.0 * a->u_move);
    double times = up_function(exp(b));
    //@ ghost struct cp_arithmetic was = *a;
    //@ assert width: 0.0 <= width + 2.0 * of_scores <= b;
    //@ assert unit: 0.0 <= was.u_arg + was.u_ref + 2.0 * was.u_move <= unit;
    /*@ assert moved: 0.0 <= product(was.u_arg + was.u_ref + 2.0 * was.u_move,
                                     width + 2.0 * of_scores) <= product(unit, b); */
    //@ assert times: 0.0 <= e(width + 2.0 * of_scores) <= e(b) <= times;
    /*@ assert kappa: 0.0 <= product(e(width + 2.0 * of_scores), was.kappa) <=
          product(times, was.kappa); */
    /*@ assert weights: 0.0 <= product(e(width + 2.0 * of_scores), was.weights.tiny) <=
          product(times, was.weights.tiny); */
    /*@ assert eta_n: 0.0 <= product(e(width + 2.0 * of_scores), was.eta_n) <=
          product(times, was.eta_n); */
    /*@ assert eta_o: 0.0 <= product(e(width + 2.0 * of_scores), was.eta_o) <=
          product(times, was.eta_o); */
    a->eps = up_plus(a->eps, up_times(unit, b));
    a->weights.tiny = up_times(times, a->weights.tiny);
    a->kappa = up_times(times, a->kappa);
    a->eta_n = up_times(times, a->eta_n);
    a->eta_o = up_times(times, a->eta_o);
    a->above = 0.0;
    a->below = 0.0;
}

double cp_tolerance_growth(double u, int k, double v, int l) {
    double sums = compound(u, k), stores = compound(v, l);
    //@ ghost e_of_both(sums, stores);
    /*@ assert both: product(1.0, 1.0) <= product(power(1.0 + u, k), power(1.0 + v, l)) <=
          product(e(sums), e(stores)); */
    return up_function(expm1(up_plus(sums, stores)));
}

ptrdiff_t cp_tolerance_row_begin(int j, int d) {
    //@ assert place: 0 <= row_at(j, d) <= row_at(CP_TOLERANCE_MOST, d) == CP_TOLERANCE_MOST * d;
    //@ assert product: row_at(j, d) == j * d;
    return (ptrdiff_t)j * d;
}

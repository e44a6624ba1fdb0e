/* SPDX-License-Identifier: Apache-2.0 */
/* What products with the scales of a cache make of a class (NUM-19). An example: K in INT8 with the
 * scale 1/16, multiplied in binary32 and rounded to binary16, u = 2^-24.
 *
 *   h - 1    2^-11 + 2u and a little: each term of a score errs by so much more
 *   z        2^-25: what is left of a number beside that; times |q_i|, of a term */
#include <math.h>

#include "chunkproof/kernel_class.h"
#include "tolerance_internal.h"

/* Of a number that is multiplied by its scale in binary32, or in binary64, and then rounded to a
 * type. */
struct scaling {
    struct cp_format product; /* u_1, eta_1 */
    double once;              /* g - 1 */
    double more;              /* h - 1: and of what the scale may be multiplied with instead */
    double left;              /* z */
};

/*@
  requires valid: \valid_read(declared);
  requires type: wide_type(type);
  assigns \nothing;
  ensures product: \result.product.unit == unit_before(*declared) &&
    \result.product.tiny == tiny_before(*declared);
  ensures once: 0.0 <= growth_once(*declared, type) <= \result.once;
  ensures more: 0.0 <= growth_of_scale(*declared, type) <= \result.more;
  ensures left: 0.0 <= left_of(*declared, type) <= \result.left;
*/
static struct scaling scaling_of(const struct cp_kernel_class *declared, int type) {
    int wide = declared->score == CP_SUM_FP64;
    struct cp_format product = cp_class_format(declared, wide ? CP_FP64 : CP_FP32, 0);
    struct cp_format to = cp_class_format(declared, type, type == CP_FP32 || wide);
    double once = cp_class_compound(to.unit, product.unit);
    return (struct scaling){product, once, cp_class_compound(once, product.unit),
                            up_plus(to.tiny, up_times(up_plus(1.0, to.unit), product.tiny))};
}

/* Where a number of K is multiplied by its scale, or the query, or the score. What is left of a
 * number is rotated, where keys are. */
/*@
  requires valid: \valid_read(declared) && \valid_read(scales) && \valid(s);
  requires apart: \separated(s, scales, declared);
  requires ok: scales_ok(*scales) && score_arithmetic_ok(*s);
  requires types: CP_E4M3 <= cache <= CP_INT8 && wide_type(declared->k_dequantised);
  assigns s->term_unit, s->term_tiny, s->tiny;
  ensures ok: score_arithmetic_ok(*s);
  ensures scaled: keys_scaled(*declared, *scales, cache, \old(*s), *s);
*/
static void scale_keys(const struct cp_kernel_class *declared, int cache,
                       const struct cp_class_scales *scales, struct cp_score_arithmetic *s) {
    struct scaling by = scaling_of(declared, declared->k_dequantised);
    double number = cp_number8_largest(cache) + 1.0; /* or -128 */
    double larger = up_times(up_plus(1.0, by.more), fmax(1.0, scales->k));
    double left = (scales->rotates ? 4.0 : 1.0) * by.left;
    double lost = fmax(up_times(scales->query, left), up_times(number, by.product.tiny));
    double of_terms = up_plus(s->term_tiny, up_times(up_plus(1.0, s->term_unit), lost));
    /*@ assert larger: 0.0 <= larger_by_scale(*declared, *scales) <=
          product(1.0 + by.more, \max(1.0, scales->k)) <= larger; */
    /*@ assert query: 0.0 <= product(scales->query, (scales->rotates != 0 ? 4.0 : 1.0) *
          left_of(*declared, declared->k_dequantised)) <= product(scales->query, left); */
    //@ assert lost: 0.0 <= lost_of_key(*declared, *scales, cache) <= lost;
    /*@ assert of_lost: 0.0 <= product(1.0 + s->term_unit, lost_of_key(*declared, *scales, cache))
          <= product(1.0 + s->term_unit, lost); */
    /*@ assert terms: product(larger_by_scale(*declared, *scales), s->term_tiny +
          product(1.0 + s->term_unit, lost_of_key(*declared, *scales, cache))) <=
          product(larger, of_terms); */
    /*@ assert sums: product(larger_by_scale(*declared, *scales), s->tiny) <=
          product(larger, s->tiny); */
    /*@ assert unit: 0.0 <= product(growth_of_scale(*declared, declared->k_dequantised),
          s->term_unit) <= product(by.more, s->term_unit); */
    s->term_tiny = up_times(larger, of_terms);
    s->tiny = up_times(larger, s->tiny);
    s->term_unit = cp_class_compound(by.more, s->term_unit);
}

/* Where a number of V is multiplied by its scale, or P, or o. */
/*@
  requires valid: \valid_read(declared) && \valid_read(scales) && \valid(weights);
  requires apart: \separated(weights, scales, declared);
  requires ok: scales_ok(*scales) && format_ok(*weights) && wide_type(declared->v_dequantised);
  assigns weights->unit, weights->tiny;
  ensures ok: format_ok(*weights);
  ensures scaled: weights_scaled(*declared, *scales, \old(*weights), *weights);
*/
static void scale_weights(const struct cp_kernel_class *declared,
                          const struct cp_class_scales *scales, struct cp_format *weights) {
    struct scaling by = scaling_of(declared, declared->v_dequantised);
    double unit = fmax(weights->unit, by.product.unit);
    double more = up_times(by.product.tiny, up(unit / by.product.unit));
    double tiny = up_plus(weights->tiny, 4.0 * more);
    double times = up_plus(up_plus(1.0, by.once), up(by.once / unit));
    //@ assert unit: 0.0 < unit == shared_unit(*declared, *weights);
    //@ assert tiny: 0.0 <= shared_tiny(*declared, *weights) <= tiny;
    /*@ assert times: 0.0 <= 1.0 + growth_once(*declared, declared->v_dequantised) +
          growth_once(*declared, declared->v_dequantised) / unit <= times; */
    /*@ assert both: 0.0 <= product(1.0 + growth_once(*declared, declared->v_dequantised) +
          growth_once(*declared, declared->v_dequantised) / unit,
          shared_tiny(*declared, *weights)) <= product(times, tiny); */
    /*@ assert more: 0.0 <= product(growth_of_scale(*declared, declared->v_dequantised), unit) <=
          product(by.more, unit); */
    weights->tiny = up_times(up_times(times, tiny), scales->over_v);
    weights->unit = cp_class_compound(by.more, unit);
}

void cp_class_dequantise(const struct cp_kernel_class *declared,
                         const struct cp_kernel_cache *cache, const struct cp_class_scales *scales,
                         struct cp_arithmetic *a) {
    if (cache->k != CP_CACHE_PLAIN) {
        scale_keys(declared, cache->k, scales, &a->score);
    }
    if (cache->v != CP_CACHE_PLAIN) {
        struct scaling by = scaling_of(declared, declared->v_dequantised);
        if (!declared->rounded_sum) {
            scale_weights(declared, scales, &a->weights);
        }
        double sum = up_times(a->eta_o, fmax(1.0, scales->v));
        a->eta_o = up_plus(up_plus(sum, by.left), by.product.tiny);
    }
}

/* With more additions than CP_CLASS_MOST, which no format of a cache needs, each errs by more. */
void cp_class_round_values(const struct cp_kernel_class *declared,
                           const struct cp_kernel_cache *cache, struct cp_arithmetic *a,
                           struct cp_counts *counts) {
    if (cache->v == CP_CACHE_PLAIN || !declared->rounded_sum) {
        return;
    }
    double more = scaling_of(declared, declared->v_dequantised).more;
    double enough = up(more / a->u_o);
    int additions = CP_CLASS_MOST;
    if (enough < CP_CLASS_MOST) {
        additions = (int)enough + 1;
    } else {
        a->u_o = fmax(a->u_o, up(more / CP_CLASS_MOST));
    }
    counts->depth_o += additions;
    a->as_one_o = additions > a->as_one_o ? additions : a->as_one_o;
}

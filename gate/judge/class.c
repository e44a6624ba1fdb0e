/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel declares, number by number (NUM-7, NUM-8). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cli/bound/bound.h"
#include "gate/judge/class.h"

#define LSE_ROUNDINGS                                                                              \
    8.0 /* of a logarithm, a product with ln 2, a sum, and the format, each of 1 or 2 units */

static enum bound_score score_of(int sum) {
    return sum == CP_SUM_TENSOR_CORE ? SCORE_TENSOR_CORE
           : sum == CP_SUM_FP16      ? SCORE_FP16
                                     : SCORE_SEQUENTIAL;
}

static enum bound_accumulate accumulate_of(int sum) {
    return sum == CP_SUM_TENSOR_CORE ? ACCUMULATE_TENSOR_CORE
           : sum == CP_SUM_FP16      ? ACCUMULATE_FP16
                                     : ACCUMULATE_FP32;
}

static struct cp_format format_of(int type) {
    return type == CP_FP64   ? cp_format_fp64()
           : type == CP_FP32 ? cp_format_fp32()
           : type == CP_FP16 ? cp_format_fp16()
                             : cp_format_bf16();
}

/* Of the short type, if one is: products of two of these are exact in binary32. */
static int input_of(const struct cp_kernel *kernel) {
    return kernel->q_type == kernel->kv_type ? kernel->kv_type : CP_FP32;
}

static void arithmetic_of(const struct cp_kernel *kernel, int d, struct cp_arithmetic *a) {
    const struct cp_kernel_class *class = &kernel->arithmetic;
    if (class->score == CP_SUM_FP64) {
        *a = cp_arithmetic_fp64(d);
        a->eps = fmax(a->eps, -log1p(-class->exp_error));
        a->output = format_of(kernel->out_type);
        return;
    }
    struct bound_options o;
    memset(&o, 0, sizeof o);
    o.input = input_of(kernel);
    o.weights = class->weights;
    o.partials = class->partials;
    o.output = kernel->out_type == CP_FP64 ? CP_FP32 : kernel->out_type;
    o.score = score_of(class->score);
    o.accumulate = accumulate_of(class->values);
    o.truncate = class->truncates;
    o.flush = class->flushes;
    o.rounded_sum = class->rounded_sum;
    o.exp_error = class->exp_error;
    bound_arithmetic(&o, d, a);
    if (class->in_bits) { /* s log2(e) and m log2(e) may be rounded apart */
        double unit = class->truncates ? 0x1p-23 : 0x1p-24;
        a->score.scale_unit += 2.0 * unit;
        a->u_ref = 2.0 * unit;
        a->u_move = 2.0 * unit;
    }
}

/* Steps in which n keys are weighed, when no step reaches over the end of a chunk. */
static int steps_of(int n, int chunk_size, int step) {
    int of_step = step == 0 || step > chunk_size ? chunk_size : step;
    int full = (chunk_size + of_step - 1) / of_step, rest = n % chunk_size;
    return n / chunk_size * full + (rest + of_step - 1) / of_step;
}

/* GATE-2. Whatever the order: a key's weight is changed when the maximum of its own part changes, which is once for each step of
 * it at most, and when parts are merged, of which there are not more than steps; each change is a product and an
 * addition. Additions come one after the other at worst. Where partial results are divided, its own part is, and then
 * what each merge makes. */
static void count(const struct cp_kernel *kernel, int n, int steps, struct cp_counts *counts) {
    int divides = kernel->arithmetic.divides != 0, divisions = divides * (steps + 1);
    int changes = 2 * steps;
    counts->depth_n = n + 2 * changes;
    counts->depth_o = n + 1 + 2 * changes + divisions;
    counts->stores = changes;
    counts->changes = changes + divisions;
    counts->operations_n = n + (5.0 + 2.0 * divides) * changes;
    counts->operations_o = 2.0 * n + (5.0 + 4.0 * divides) * changes;
}

void gate_class(const struct cp_kernel *kernel, const struct gate_recipe *recipe, int n,
                double largest_score, struct cp_arithmetic *arithmetic, struct cp_counts *counts) {
    int steps = steps_of(n, recipe->chunk_size, kernel->arithmetic.step);
    arithmetic_of(kernel, recipe->head_dim, arithmetic);
    count(kernel, n, steps, counts);
    if (kernel->arithmetic.divides != 0) {
        double off = bound_divide_at_once(n, largest_score, steps, counts, arithmetic);
        arithmetic->u_part += kernel->arithmetic.divides == 2 ? 1.01 * off : 0.0;
    }
}

double gate_lse_error(const struct cp_kernel *kernel, int n, double largest_score) {
    int exact = kernel->arithmetic.score == CP_SUM_FP64 && kernel->lse_type == CP_FP64;
    double unit = exact ? 0x1p-53 : 0x1p-24;
    unit *= kernel->arithmetic.truncates ? 2.0 : 1.0;
    return LSE_ROUNDINGS * unit * (largest_score + log(n + 1.0) + 1.0);
}

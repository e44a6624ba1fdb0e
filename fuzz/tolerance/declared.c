/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/declared.h"

#include <math.h>
#include <string.h>

#include "gate/judge/judge.h"

/* In binary32 to nearest, in any order; or a tensor core's, as NUM-7 has it. -1: neither. */
static int sum_of(const struct sum *s) {
    if (s->promotes > 0) {
        return s->short_type == CP_FP16 ? CP_SUM_FP16 : CP_SUM_BF16;
    }
    if (s->method != SUM_BLOCKS || (!s->truncating && s->fraction >= 40)) {
        return CP_SUM_FP32;
    }
    return s->fraction >= 25 && s->block <= 16 ? CP_SUM_TENSOR_CORE : -1;
}

/* CONV-4. Of inputs in binary32 no query is rounded. */
static int scales_of(const struct options *o) {
    return o->scaling != SCALE_BEFORE_16 ? CP_SCALES_SCORES
           : o->input == CP_FP16         ? CP_SCALES_QUERY_FP16
                                         : CP_SCALES_QUERY_BF16;
}

/* The rounding of 1 / n, beside that of the product. */
static double reciprocal_of(const struct options *o) {
    return o->reciprocal ? 0x1.02p-24 : 0.0;
}

int declared_kernel(const struct options *o, int *chunk_size, struct cp_kernel *kernel) {
    int score = sum_of(&o->dot), row_sum = sum_of(&o->row_sum), values = sum_of(&o->value_sum);
    if (score < 0 || row_sum != CP_SUM_FP32 || values < 0 || (o->flush && !o->flush_exp)) {
        return 0;
    }
    if (o->accumulator != CP_FP32) {
        if (values != CP_SUM_FP32) {
            return 0;
        }
        values = o->accumulator == CP_FP16 ? CP_SUM_FP16 : CP_SUM_BF16;
    }
    memset(kernel, 0, sizeof *kernel);
    kernel->abi = CP_KERNEL_ABI;
    kernel->q_type = o->input;
    kernel->kv_type = o->input;
    kernel->out_type = o->output;
    kernel->lse_type = CP_FP32;
    kernel->arithmetic =
        (struct cp_kernel_class){.score = score,
                                 .weights = o->weights,
                                 .score_promotes = o->dot.promotes,
                                 .values_promotes = o->value_sum.promotes,
                                 .scales = scales_of(o),
                                 .values = values,
                                 .partials = o->partials,
                                 .rounded_sum = o->rounded_sum,
                                 .divides = o->immediate + o->undivided,
                                 .part_lse = o->part_lse,
                                 .normalises = o->normalise,
                                 .factors = o->factors,
                                 .in_bits = o->bits,
                                 .flushes = o->flush_exp,
                                 .exp_error = o->exp_error + 0x1.02p-24, /* and its rounding */
                                 .divide_error = o->divide_error + reciprocal_of(o),
                                 .epsilon = o->epsilon,
                                 .behind = wait_in_nats(o),
                                 .step = o->chunk_size};
    *chunk_size = o->chunk_size * (1 + (int)(o->seed >> 8 & 3));
    if (o->merging == MERGE_RUNNING || o->merging == MERGE_SEPARATE) {
        kernel->arithmetic.n_parts = 1;
    } else {
        kernel->arithmetic.part_keys = o->chunk_size * o->split;
    }
    if (o->normalise) { /* all keys are one step, and one chunk */
        kernel->arithmetic.step = 0;
        *chunk_size = 1 << 20;
    }
    return 1;
}

int judge_as_the_gate(const struct options *o, const struct problem *p,
                      const struct judgement *result, struct judgement *j) {
    const struct gate_rotation none = {CP_KEYS_PLACED, CP_PAIRS_HALVES, 0, 0, NULL};
    struct gate_recipe recipe = {.head_dim = p->d};
    struct gate_rotated largest = {.quarters = 0};
    struct cp_kernel kernel;
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    if (!declared_kernel(o, &recipe.chunk_size, &kernel)) {
        return 0;
    }
    *j = *result;
    for (int key = 0; key < p->n; key++) {
        gate_scaled_extend(&none, 0, p->d, p->scale, p->q, p->k + (ptrdiff_t)key * p->d, &largest);
    }
    int steps = gate_steps(&kernel, recipe.chunk_size, p->n);
    const struct cp_score_arithmetic of_score = gate_class_of_score(&kernel, p->d, &largest);
    const struct gate_row row = {.d = p->d,
                                 .n = p->n,
                                 .steps = steps,
                                 .parts = gate_parts(&kernel, steps, p->n, 1),
                                 .largest_score = result->largest_score,
                                 .shift_error = error_of_scores(&of_score, p),
                                 .rotated = &largest};
    gate_class_of_row(&kernel, &row, &arithmetic, &counts);
    judge_by(&arithmetic, &counts, gate_lse_error(&kernel, p->n, result->largest_score), p, NULL,
             j);
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/declared.h"

#include <math.h>
#include <string.h>

#include "gate/judge/class.h"

/* In binary32 to nearest, in any order; or a tensor core's, as NUM-7 has it. -1: neither. */
static int sum_of(const struct sum *s) {
    if (s->method != SUM_BLOCKS || (!s->truncating && s->fraction >= 40)) {
        return CP_SUM_FP32;
    }
    return s->fraction >= 25 && s->block <= 16 ? CP_SUM_TENSOR_CORE : -1;
}

int declared_kernel(const struct options *o, int *chunk_size, struct cp_kernel *kernel) {
    int score = sum_of(&o->dot), row_sum = sum_of(&o->row_sum), values = sum_of(&o->value_sum);
    if (score < 0 || row_sum != CP_SUM_FP32 || values < 0 || o->lazy > 0.0 ||
        o->scaling == SCALE_BEFORE_16 || (o->flush && !o->flush_exp)) {
        return 0;
    }
    if (o->accumulator == CP_FP16) {
        if (values != CP_SUM_FP32) {
            return 0;
        }
        values = CP_SUM_FP16;
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
                                 .values = values,
                                 .partials = o->partials,
                                 .rounded_sum = o->rounded_sum,
                                 .divides = o->immediate + o->undivided,
                                 .in_bits = o->bits,
                                 .flushes = o->flush_exp,
                                 .exp_error = o->exp_error + 0x1.02p-24, /* and its rounding */
                                 .step = o->chunk_size};
    *chunk_size = o->chunk_size * (1 + (int)(o->seed >> 8 & 3));
    return 1;
}

int judge_as_the_gate(const struct options *o, const struct problem *p,
                      const struct judgement *result, struct judgement *j) {
    struct gate_recipe recipe = {.head_dim = p->d};
    struct cp_kernel kernel;
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    if (!declared_kernel(o, &recipe.chunk_size, &kernel)) {
        return 0;
    }
    *j = *result;
    gate_class(&kernel, &recipe, p->n, result->largest_score, &arithmetic, &counts);
    judge_by(&arithmetic, &counts, gate_lse_error(&kernel, p->n, result->largest_score), p, NULL,
             j);
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/kinds.h"

static const char *const names[N_KINDS] = {
    "all in FP32",
    "P in FP16",
    "P in FP16, row sum of it",
    "P in FP16, flushed",
    "P in BF16",
    "exponential within 2^-12",
    "tensor core, blocks of 4, cut off",
    "tensor core, blocks of 16, rounded",
    "o accumulated in FP16",
    "partials in FP16",
    "divided at once, merged by lse",
    "maximum waits for 2^8",
    "FP16: tensor core, P and output in FP16",
    "BF16: fused exp2, flushed, P and output in BF16",
    "P divided by n, in FP16",
    "factors in BF16",
    "division within 2^-12, n + 1e-3",
    "the query scaled, in FP16",
    "partials in BF16",
};

const char *kind_name(int kind) {
    return names[kind];
}

static struct sum tensor_core(int block, int fraction, int truncating) {
    return (struct sum){SUM_BLOCKS, SUM_FORWARD, 0, block, fraction, truncating, 0, 0};
}

static void use_tensor_core(struct options *o, struct sum sum) {
    o->dot = sum;
    o->value_sum = sum;
}

/* As tensor-core kernels work: one state, exp2 of a fused argument, flushed. */
static void like_flash(struct options *o, int type) {
    o->input = type;
    o->scaling = SCALE_FUSED;
    o->bits = 1;
    o->exp_error = 0x1p-22;
    o->bias = BIAS_ANY;
    o->flush_exp = 1;
    o->weights = type;
    o->merging = MERGE_RUNNING;
    o->reciprocal = 1;
    o->output = type;
    use_tensor_core(o, tensor_core(16, 25, 1));
}

struct options kind_options(int kind) {
    struct sum plain = {SUM_SEQUENTIAL, SUM_FORWARD, 0, 1, 24, 0, 0, 0};
    struct options o = {.input = CP_FP16,
                        .dot = plain,
                        .row_sum = plain,
                        .value_sum = plain,
                        .weights = CP_FP32,
                        .accumulator = CP_FP32,
                        .partials = CP_FP32,
                        .merging = MERGE_CHAIN,
                        .output = CP_FP32,
                        .split = 1,
                        .chunk_size = 64};
    switch (kind) {
    case 1:
    case 2:
    case 3:
        o.weights = CP_FP16;
        o.rounded_sum = kind == 2;
        o.flush = kind == 3;
        break;
    case 4:
        o.weights = CP_BF16;
        break;
    case 5:
        o.exp_error = 0x1p-12;
        o.bias = BIAS_ANY;
        break;
    case 6:
        use_tensor_core(&o, tensor_core(4, 23, 1));
        break;
    case 7:
        use_tensor_core(&o, tensor_core(16, 40, 0));
        break;
    case 8:
        o.accumulator = CP_FP16;
        o.merging = MERGE_BALANCED;
        break;
    case 9:
        o.partials = CP_FP16;
        o.merging = MERGE_BALANCED;
        break;
    case 10:
        o.immediate = 1;
        break;
    case 11:
        o.merging = MERGE_RUNNING;
        o.lazy = 5.545;
        break;
    case 12:
        like_flash(&o, CP_FP16);
        break;
    case 13:
        like_flash(&o, CP_BF16);
        break;
    case 14:
        o.weights = CP_FP16;
        o.normalise = 1;
        break;
    case 15:
        o.factors = CP_FACTORS_BF16;
        break;
    case 16:
        o.divide_error = 0x1p-12;
        o.bias = BIAS_ANY;
        o.epsilon = 1e-3;
        break;
    case 17:
        o.scaling = SCALE_BEFORE_16;
        break;
    case 18:
        o.partials = CP_BF16;
        o.merging = MERGE_BALANCED;
        break;
    default:
        break;
    }
    options_settle(&o);
    return o;
}

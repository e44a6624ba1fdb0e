/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that the gate can check: paged decoding in binary16, one key after the other. It takes
 * plans of trees alone, so that a number of keys says where a row stands and which chunk has a key.
 *
 *   cc -O2 -shared -fPIC -o paged_kernel.so paged_kernel.c $(pkg-config --cflags chunkproof) -lm
 *   chunkproof gate --kernel paged_kernel.so */
#include <chunkproof/kernel.h>
#include <math.h>
#include <string.h>

/* Moves exponent and fraction to their places in binary32, whose exponents count from 127 and
 * not from 15. */
static float from_half(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7FFF) << 13;
    float x;
    memcpy(&x, &bits, sizeof x);
    x *= 0x1p112F;
    if ((half & 0x7C00) == 0x7C00) {
        x = (half & 0x03FF) == 0 ? INFINITY : NAN;
    }
    return half >> 15 ? -x : x;
}

/* Rounds to nearest, ties to even. All numbers below 2^-14 have the same exponent. */
static uint16_t to_half(float x) {
    int sign = signbit(x) ? 1 << 15 : 0, exponent = -13;
    float size = fabsf(x);
    if (!(size < 65520.0F)) {
        return (uint16_t)(sign | (isnan(x) ? 0x7E00 : 0x7C00));
    }
    if (size >= 0x1p-14F) {
        frexpf(size, &exponent);
    }
    int fraction = (int)rintf(ldexpf(size, 11 - exponent)); /* its leading bit adds 1 to exponent */
    return (uint16_t)(sign | (((exponent + 13) << 10) + fraction));
}

/* One query row and head over the first n_keys keys of sequence s: online softmax, with the
 * maximum m so far, the sum n of the weights exp(score - m), and the sum o of weight * v. */
static void attend_row(const struct cp_kernel_call *call, int s, int row, int head, int n_keys) {
    const int *table = call->table + (long long)s * call->table_width;
    const uint16_t *q = (const uint16_t *)call->q + row * call->q_row + head * call->q_head;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    int kv_head = head / (call->n_heads / call->n_kv_heads);
    float *o = call->workspace, m = -INFINITY, n = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
    }
    for (int j = 0; j < n_keys; j++) {
        int chunk = table[j / call->chunk_size], slot = j % call->chunk_size;
        const uint16_t *k = (const uint16_t *)call->k + chunk * call->k_chunk +
                            kv_head * call->k_head + slot * call->k_slot;
        const uint16_t *v = (const uint16_t *)call->v + chunk * call->v_chunk +
                            kv_head * call->v_head + slot * call->v_slot;
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += from_half(q[i]) * from_half(k[i]);
        }
        float score = dot * (float)call->scale, largest = fmaxf(m, score);
        float weight = expf(score - largest);
        float rescale = expf(m - largest); /* for the first key exp(-infinity), which is 0 */
        n = n * rescale + weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] = o[i] * rescale + weight * from_half(v[i]);
        }
        m = largest;
    }
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = to_half(n_keys > 0 ? o[i] / n : 0.0F); /* a row that sees no key gives zeros */
    }
}

/* The last query row of a sequence sees all its keys, the one before it all but one, and so on. */
static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            int n_keys = call->n_tokens[s] - (call->query_begin[s + 1] - 1 - row);
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head, n_keys);
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "paged",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32, /* weights are not rounded before they meet V */
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22, /* expf() of the C library errs by half as much at most */
                   .step = 1},           /* the maximum may change with each key */
    .workspace = workspace,
    .attend = attend,
};

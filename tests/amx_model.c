/* SPDX-License-Identifier: Apache-2.0 */
#include "amx_model.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "random.h"

static float number_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float flush(float x) {
    return fabsf(x) < FLT_MIN ? copysignf(0.0F, x) : x;
}

/* a b + c, rounded once. Subnormal is what would be so with as many digits as others have: 2^-126
 * is not, but what is rounded to it because subnormal numbers have less digits. Just below it
 * binary64 is exact. */
static float fused(float a, float b, float c) {
    a = flush(a);
    b = flush(b);
    c = flush(c);
    float rounded = fmaf(a, b, c), scaled = (float)(0x1p64 * fma((double)a, (double)b, (double)c));
    return fabsf(rounded) <= FLT_MIN && fabsf(scaled) < 0x1p-62F ? copysignf(0.0F, rounded)
                                                                 : flush(rounded);
}

static float sum_of(float x, float y) {
    return flush(flush(x) + flush(y));
}

/* A number of a pair of bfloat16. */
static float half_of(uint32_t pair, int which) {
    return number_of(which == 0 ? pair << 16 : pair & 0xFFFF0000U);
}

struct amx_tile amx_model(const struct amx_tile *c, const struct amx_tile *a,
                          const struct amx_tile *b, int rows, int pairs, int columns) {
    struct amx_tile to = {{{0}}};
    for (int m = 0; m < rows; m++) {
        for (int n = 0; n < columns; n++) {
            float sum[2] = {0.0F, 0.0F};
            for (int k = 0; k < 2 * pairs; k++) {
                float left = half_of(a->word[m][k / 2], k % 2);
                sum[k % 2] = fused(left, half_of(b->word[k / 2][n], k % 2), sum[k % 2]);
            }
            to.word[m][n] = bits_of(sum_of(number_of(c->word[m][n]), sum_of(sum[0], sum[1])));
        }
    }
    return to;
}

/* ---- Numbers ---- */

static float number_of_kind(enum amx_kind kind, unsigned long long *random) {
    static const float special[] = {0.0F,    -0.0F,    1.0F,      -1.0F,    INFINITY,  -INFINITY,
                                    FLT_MIN, -FLT_MIN, 0x1p-133F, 0x1p127F, -0x1p127F, NAN};
    uint32_t bits = (uint32_t)random_bits(random), rest = bits & 0x807FFFFFU;
    switch (kind) {
    case NORMAL:
        return (float)random_normal(random);
    case TINY: /* a product of two of them is near the smallest normal number */
        return number_of(rest | (uint32_t)(55 + random_below(random, 20)) << 23);
    case SUBNORMAL: /* and others that are hardly larger */
        return number_of(rest | (uint32_t)random_below(random, 3) << 23);
    case LARGE:
        return number_of(rest | (uint32_t)(180 + random_below(random, 75)) << 23);
    case SPECIAL:
        return special[random_below(random, (int)(sizeof special / sizeof special[0]))];
    default:
        return number_of(bits);
    }
}

static uint32_t pair_of_kind(enum amx_kind kind, unsigned long long *random) {
    uint32_t low = bits_of(number_of_kind(kind, random)) >> 16;
    return low | (bits_of(number_of_kind(kind, random)) & 0xFFFF0000U);
}

void amx_fill_pairs(struct amx_tile *to, enum amx_kind kind, unsigned long long *random) {
    for (int i = 0; i < AMX_ROWS * AMX_WORDS; i++) {
        to->word[i / AMX_WORDS][i % AMX_WORDS] = pair_of_kind(kind, random);
    }
}

void amx_fill_numbers(struct amx_tile *to, enum amx_kind kind, unsigned long long *random) {
    for (int i = 0; i < AMX_ROWS * AMX_WORDS; i++) {
        to->word[i / AMX_WORDS][i % AMX_WORDS] = bits_of(number_of_kind(kind, random));
    }
}

int amx_same(const struct amx_tile *x, const struct amx_tile *y) {
    for (int i = 0; i < AMX_ROWS * AMX_WORDS; i++) {
        uint32_t one = x->word[i / AMX_WORDS][i % AMX_WORDS];
        uint32_t other = y->word[i / AMX_WORDS][i % AMX_WORDS];
        if (one != other && !(isnan(number_of(one)) && isnan(number_of(other)))) {
            return 0;
        }
    }
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/number.h"

#include <string.h>

/* binary16:  sign 1, exponent 5 (bias 15), fraction 10.
 * binary64:  sign 1, exponent 11 (bias 1023), fraction 52. */
#define FRACTION_16     10
#define FRACTION_64     52
#define EXTRA           (FRACTION_64 - FRACTION_16) /* fraction bits that binary16 lacks */
#define INFINITY_16     ((uint16_t)0x7C00)
#define QUIET_16        ((uint16_t)0x0200) /* the first fraction bit: a quiet NaN has it */
#define INFINITY_64     ((uint64_t)0x7FF << FRACTION_64)
#define BIAS_DIFFERENCE (1023 - 15)

static double double_of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

double cp_fp16_to_double(uint16_t x) {
    uint64_t sign = (uint64_t)(x >> 15) << 63;
    uint64_t fraction = x & 0x03FF;
    uint64_t exponent = x >> FRACTION_16 & 0x1F;
    if (exponent == 0x1F) { /* infinity, or a NaN, which is made quiet */
        uint64_t quiet = fraction == 0 ? 0 : (uint64_t)QUIET_16;
        return double_of_bits(sign | INFINITY_64 | (fraction | quiet) << EXTRA);
    }
    if (exponent == 0) { /* zero or subnormal: a multiple of 2^-24, normal in binary64 */
        double magnitude = (double)fraction * 0x1p-24;
        return sign == 0 ? magnitude : -magnitude;
    }
    return double_of_bits(sign | (exponent + BIAS_DIFFERENCE) << FRACTION_64 | fraction << EXTRA);
}

/* x / 2^shift to the nearest integer, ties to even; 1 <= shift <= 63 and x < 2^63. */
static uint64_t shift_and_round(uint64_t x, int shift) {
    uint64_t below_half = ((uint64_t)1 << (shift - 1)) - 1;
    uint64_t odd = x >> shift & 1;
    return (x + below_half + odd) >> shift;
}

uint16_t cp_fp16_from_double(double x) {
    uint64_t bits = bits_of_double(x);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    uint64_t magnitude = bits & ~((uint64_t)1 << 63);
    int exponent =
        (int)(magnitude >> FRACTION_64) - BIAS_DIFFERENCE; /* as binary16 would have it */
    if (magnitude > INFINITY_64) { /* NaN: the payload's leading bits, and quiet */
        return (uint16_t)(sign | INFINITY_16 | QUIET_16 | (magnitude >> EXTRA & 0x03FF));
    }
    if (exponent >= 0x1F) { /* 2^16 and above */
        return (uint16_t)(sign | INFINITY_16);
    }
    if (exponent >= 1) { /* rounding may carry into the exponent, up to that of infinity: right */
        uint64_t rebiased = magnitude - ((uint64_t)BIAS_DIFFERENCE << FRACTION_64);
        return (uint16_t)(sign | shift_and_round(rebiased, EXTRA));
    }
    /* Subnormal, in units of 2^-24: at exponent 0 that is one bit more than EXTRA up, then a bit more
     * for each power of two. Below half a unit all is zero. */
    int shift = EXTRA + 1 - exponent;
    if (shift > FRACTION_64 + 1) {
        return sign;
    }
    uint64_t leading_one = (uint64_t)1 << FRACTION_64;
    uint64_t significand = (magnitude & (leading_one - 1)) | leading_one;
    return (uint16_t)(sign | shift_and_round(significand, shift));
}

size_t cp_number_size(int type) {
    switch (type) {
    case CP_FP16:
        return sizeof(uint16_t);
    case CP_FP32:
        return sizeof(float);
    case CP_FP64:
        return sizeof(double);
    default:
        return 0;
    }
}

double cp_number_load(const void *array, int type, size_t index) {
    switch (type) {
    case CP_FP16:
        return cp_fp16_to_double(((const uint16_t *)array)[index]);
    case CP_FP32:
        return (double)((const float *)array)[index];
    default:
        return ((const double *)array)[index];
    }
}

void cp_number_store(void *array, int type, size_t index, double x) {
    switch (type) {
    case CP_FP16:
        ((uint16_t *)array)[index] = cp_fp16_from_double(x);
        break;
    case CP_FP32:
        ((float *)array)[index] = (float)x;
        break;
    default:
        ((double *)array)[index] = x;
        break;
    }
}

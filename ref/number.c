/* SPDX-License-Identifier: Apache-2.0 */
#include "number_internal.h"

#include <string.h>

/* binary16:  sign 1, exponent 5 (bias 15), fraction 10.
 * bfloat16:  sign 1, exponent 8 (bias 127), fraction 7.
 * binary64:  sign 1, exponent 11 (bias 1023), fraction 52. */
#define FRACTION_FP16 10
#define FRACTION_BF16 7
#define FRACTION_64   52
#define INFINITY_64   ((uint64_t)0x7FF << FRACTION_64)

/* A format of 16 bits, by the bits of its fraction: 15 - fraction are left for the exponent. */
static inline uint16_t infinity_of(int fraction) {
    return (uint16_t)(0x8000 - (1 << fraction));
}

/* The first fraction bit: a quiet NaN has it. */
static uint16_t quiet_of(int fraction) {
    return (uint16_t)(1 << (fraction - 1));
}

/* How much more binary64 adds to an exponent. */
static int bias_difference(int fraction) {
    return 1023 - ((1 << (14 - fraction)) - 1);
}

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

static inline double to_double(uint16_t x, int fraction_bits) {
    int extra = FRACTION_64 - fraction_bits; /* fraction bits that the format lacks */
    uint16_t infinity = infinity_of(fraction_bits);
    uint64_t rebias = (uint64_t)bias_difference(fraction_bits);
    uint64_t sign = (uint64_t)(x >> 15) << 63;
    uint64_t magnitude = x & 0x7FFF;
    uint64_t fraction = magnitude & (((uint64_t)1 << fraction_bits) - 1);
    uint64_t exponent = magnitude >> fraction_bits;
    if (magnitude >= infinity) { /* infinity, or a NaN, which is made quiet */
        uint64_t quiet = fraction == 0 ? 0 : (uint64_t)quiet_of(fraction_bits);
        return double_of_bits(sign | INFINITY_64 | (fraction | quiet) << extra);
    }
    if (exponent == 0) { /* zero or subnormal: a multiple of the smallest, normal in binary64 */
        uint64_t smallest = (rebias + 1 - (uint64_t)fraction_bits) << FRACTION_64;
        /* From int: a conversion from uint64_t may subtract, and 0 - 0 is -0 rounded downwards. */
        double value = (double)(int)fraction * double_of_bits(smallest);
        return sign == 0 ? value : -value;
    }
    return double_of_bits(sign | (exponent + rebias) << FRACTION_64 | fraction << extra);
}

/* x / 2^shift to the nearest integer, ties to even; 1 <= shift <= 63 and x < 2^63. */
static uint64_t shift_and_round(uint64_t x, int shift) {
    uint64_t below_half = ((uint64_t)1 << (shift - 1)) - 1;
    uint64_t odd = x >> shift & 1;
    return (x + below_half + odd) >> shift;
}

static inline uint16_t from_double(double x, int fraction_bits) {
    int extra = FRACTION_64 - fraction_bits; /* fraction bits that the format lacks */
    int rebias = bias_difference(fraction_bits);
    uint16_t infinity = infinity_of(fraction_bits);
    uint64_t bits = bits_of_double(x);
    uint16_t sign = (uint16_t)(bits >> 63 << 15);
    uint64_t magnitude = bits & ~((uint64_t)1 << 63);
    int exponent = (int)(magnitude >> FRACTION_64) - rebias; /* as the format would have it */
    if (magnitude > INFINITY_64) { /* NaN: the payload's leading bits, and quiet */
        uint64_t quiet = quiet_of(fraction_bits);
        return (uint16_t)(sign | infinity | quiet | (magnitude >> extra & (quiet - 1)));
    }
    if (exponent >= infinity >> fraction_bits) { /* a power of two that the format lacks */
        return (uint16_t)(sign | infinity);
    }
    if (exponent >= 1) { /* rounding may carry into the exponent, up to that of infinity: right */
        uint64_t rebiased = magnitude - ((uint64_t)rebias << FRACTION_64);
        return (uint16_t)(sign | shift_and_round(rebiased, extra));
    }
    /* Subnormal, in units of the smallest: at exponent 0 that is one bit more than `extra` up, then
     * a bit more for each power of two. Below half a unit all is zero. */
    int shift = extra + 1 - exponent;
    if (shift > FRACTION_64 + 1) {
        return sign;
    }
    uint64_t leading_one = (uint64_t)1 << FRACTION_64;
    uint64_t significand = (magnitude & (leading_one - 1)) | leading_one;
    return (uint16_t)(sign | shift_and_round(significand, shift));
}

double cp_fp16_to_double(uint16_t x) {
    return to_double(x, FRACTION_FP16);
}

uint16_t cp_fp16_from_double(double x) {
    return from_double(x, FRACTION_FP16);
}

double cp_bf16_to_double(uint16_t x) {
    return to_double(x, FRACTION_BF16);
}

uint16_t cp_bf16_from_double(double x) {
    return from_double(x, FRACTION_BF16);
}

size_t cp_number_size(int type) {
    switch (type) {
    case CP_FP16:
    case CP_BF16:
        return sizeof(uint16_t);
    case CP_FP32:
        return sizeof(float);
    case CP_FP64:
        return sizeof(double);
    case CP_E4M3:
    case CP_E5M2:
    case CP_INT8:
        return sizeof(uint8_t);
    default:
        return 0;
    }
}

double cp_double_load(const double *array, size_t index) {
    return array[index];
}

double cp_float_load(const float *array, size_t index) {
    return (double)array[index];
}

size_t cp_index_load(const size_t *array, size_t index) {
    return array[index];
}

int cp_position_load(const int *array, size_t index) {
    return array[index];
}

int cp_bit_load(const unsigned char *bits, size_t index) {
    return bits[index / 8] >> index % 8 & 1;
}

double cp_number_load(const void *array, int type, size_t index) {
    switch (type) {
    case CP_FP16:
        return cp_fp16_to_double(((const uint16_t *)array)[index]);
    case CP_FP32:
        return (double)((const float *)array)[index];
    case CP_BF16:
        return cp_bf16_to_double(((const uint16_t *)array)[index]);
    case CP_E4M3:
    case CP_E5M2:
    case CP_INT8:
        return cp_number8_to_double(((const uint8_t *)array)[index], type);
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
    case CP_BF16:
        ((uint16_t *)array)[index] = cp_bf16_from_double(x);
        break;
    case CP_E4M3:
    case CP_E5M2:
    case CP_INT8:
        ((uint8_t *)array)[index] = cp_number8_from_double(x, type);
        break;
    default:
        ((double *)array)[index] = x;
        break;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/number8.h"

#include <math.h>
#include <string.h>

#define SIGN          0x80
#define FRACTION_64   52
#define BIAS_64       1023
#define LEADING_64    ((uint64_t)1 << FRACTION_64)
#define LARGEST_INT8  127
#define SMALLEST_INT8 (-128)

/* A format with a sign, an exponent and a fraction. */
struct format {
    int fraction, bias; /* bits of the fraction; of the exponent */
    int last;           /* the largest number, by its bits */
    double smallest;    /* above 0 */
};

static struct format format_of(int format) {
    return format == CP_E4M3 ? (struct format){3, 7, 0x7E, 0x1p-9}
                             : (struct format){2, 15, 0x7B, 0x1p-16};
}

/* Of a number that is not below 0, and is no NaN. */
static double value_of(int bits, struct format f) {
    uint64_t exponent = (uint64_t)(bits >> f.fraction), ones = ((uint64_t)1 << f.fraction) - 1;
    uint64_t fraction = (uint64_t)bits & ones;
    double x;
    if (exponent == 0) { /* subnormal, or zero: from int, which is never -0 */
        return (double)(int)fraction * f.smallest;
    }
    exponent += (uint64_t)(BIAS_64 - f.bias);
    uint64_t as_64 = exponent << FRACTION_64 | fraction << (FRACTION_64 - f.fraction);
    memcpy(&x, &as_64, sizeof x);
    return x;
}

double cp_number8_to_double(uint8_t x, int format) {
    struct format f = format_of(format);
    int bits = x & (SIGN - 1);
    if (format == CP_INT8) {
        return x < SIGN ? x : x - 2 * SIGN;
    }
    /* Behind the largest number E4M3 has a NaN, and E5M2 an infinity and NaNs. */
    double value = bits <= f.last                            ? value_of(bits, f)
                   : format == CP_E5M2 && bits == f.last + 1 ? (double)INFINITY
                                                             : (double)NAN;
    return (x & SIGN) != 0 ? -value : value;
}

double cp_number8_largest(int format) {
    return format == CP_INT8 ? LARGEST_INT8 : format == CP_E4M3 ? 448.0 : 57344.0;
}

/* x / 2^shift to the nearest integer, ties to even; 1 <= shift <= 53. */
static int shift_and_round(uint64_t x, int shift) {
    uint64_t below_half = ((uint64_t)1 << (shift - 1)) - 1, odd = x >> shift & 1;
    return (int)((x + below_half + odd) >> shift);
}

/* The bits of the number that is nearest to x >= 0. An example, E4M3 and x = 17, which is
 * 1.0001 2^4 in binary: its fraction has three bits, the rest is half of the last one, and the even
 * fraction is 000. So it is 16, with exponent 4 + 7 and fraction 0: 0x58. */
static int nearest(double x, struct format f) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> FRACTION_64) - BIAS_64, least = 1 - f.bias;
    int lost = FRACTION_64 - f.fraction + (exponent < least ? least - exponent : 0);
    if (exponent + f.bias > f.last >> f.fraction) { /* also of an infinity */
        return f.last;
    }
    if (lost > FRACTION_64 + 1) { /* below half of the smallest number */
        return 0;
    }
    /* Normal: the leading one adds 1 to the exponent, and so does a fraction that is rounded up. */
    int rounded = shift_and_round((bits & (LEADING_64 - 1)) | LEADING_64, lost);
    int all = exponent < least ? rounded : rounded + ((exponent - least) << f.fraction);
    return all < f.last ? all : f.last;
}

static int nearest_integer(double x) {
    double size = fabs(x);
    if (!(size < LARGEST_INT8 + 0.5)) {
        return isnan(x) ? 0 : x < 0.0 ? SMALLEST_INT8 : LARGEST_INT8;
    }
    int n = (int)size;
    double rest = size - n;
    n += rest > 0.5 || (rest == 0.5 && n % 2 != 0);
    return x < 0.0 ? -n : n;
}

/* SIGN where x has one: -0 has. */
static int sign_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 != 0 ? SIGN : 0;
}

uint8_t cp_number8_from_double(double x, int format) {
    if (format == CP_INT8) {
        return (uint8_t)(nearest_integer(x) & (2 * SIGN - 1));
    }
    return isnan(x) ? SIGN - 1 : (uint8_t)(sign_of(x) | nearest(fabs(x), format_of(format)));
}

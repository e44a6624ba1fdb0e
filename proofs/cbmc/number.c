/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of numbers, for every bit pattern, against IEEE 754 arithmetic as CBMC defines it: a
 * spec with its own types and its own rounding (spec/number.md). bfloat16 is for CBMC a format of
 * 16 bits with a fraction of 7. */
#include "chunkproof/number.h"

#include <string.h>

#include "model.h"

#define QUIET_64 0x0008000000000000ULL

typedef __CPROVER_floatbv[16][7] bfloat;

unsigned short nondet_half(void);
double nondet_double(void);
int __CPROVER_rounding_mode; /* 0 to nearest, 1 down, 2 up, 3 to zero */

static _Float16 half_of(unsigned short bits) {
    _Float16 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static unsigned short bits_of_half(_Float16 x) {
    unsigned short bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bfloat bfloat_of(unsigned short bits) {
    bfloat x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static unsigned short bits_of_bfloat(bfloat x) {
    unsigned short bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static unsigned long long bits_of(double x) {
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static int is_nan(double x) {
    return x != x;
}

static int any_rounding_mode(void) {
    int mode = any(2);
    __CPROVER_assume(0 <= mode && mode <= 3);
    return mode;
}

/* NUM-1 */
static void read_half(void) {
    unsigned short bits = nondet_half();
    int mode = any_rounding_mode();
    __CPROVER_rounding_mode = mode;
    double x = cp_fp16_to_double(bits);
    __CPROVER_rounding_mode = 0;
    unsigned long long sign = (unsigned long long)(bits >> 15) << 63;
    unsigned long long payload = (unsigned long long)(bits & 0x03FFU) << 42;

    int nan = (bits & 0x7FFFU) > 0x7C00U;
    CHECK("NUM-1: a NaN stays one, quiet, with its sign and payload",
          !nan || bits_of(x) == (sign | 0x7FF0000000000000ULL | payload | QUIET_64));
    CHECK("NUM-1: the same value", nan || x == (double)half_of(bits));
    CHECK("NUM-1: the same sign, of a zero too", nan || (bits_of(x) >> 63) == bits >> 15);
    CHECK("NUM-1: reading and writing back changes no number",
          nan || cp_fp16_from_double(x) == bits);
    REACH("NaN", nan);
    REACH("subnormal", x == 0x1p-24 && mode == 2);
    REACH("minus zero", bits == 0x8000U && x == 0.0);
    REACH("largest", x == 65504.0);
    REACH("infinity", bits == 0xFC00U);
}

/* NUM-2 */
static void write_half(void) {
    double x = nondet_double();
    int mode = any_rounding_mode();
    __CPROVER_rounding_mode = mode;
    unsigned short bits = cp_fp16_from_double(x);
    __CPROVER_rounding_mode = 0;
    double magnitude = x < 0 ? -x : x;
    unsigned short sign = (unsigned short)(bits_of(x) >> 63 << 15);

    CHECK("NUM-2: the nearest, ties to even", is_nan(x) || bits == bits_of_half((_Float16)x));
    CHECK("NUM-2: up to 2^-25 a zero", !(magnitude <= 0x1p-25) || bits == sign);
    CHECK("NUM-2: from 65520 on an infinity", !(magnitude >= 65520.0) || bits == (sign | 0x7C00U));
    CHECK("NUM-2: below 65520 no infinity", !(magnitude < 65520.0) || (bits & 0x7FFFU) < 0x7C00U);
    CHECK("NUM-2: a NaN stays one, quiet, with its sign and the first bits of its payload",
          !is_nan(x) || bits == (sign | 0x7E00U | (bits_of(x) >> 42 & 0x03FFU)));
    REACH("rounded up in another mode",
          mode == 1 && magnitude < 1.0 && x < cp_fp16_to_double(bits));
    REACH("rounds up to infinity", x == 65520.0);
    REACH("subnormal", bits == 0x0001U && x < 0x1p-24);
    REACH("NaN", is_nan(x));
    REACH("tie to even", x == 0x1.002p0 && bits == 0x3C00U);
}

/* NUM-1 */
static void read_bfloat(void) {
    unsigned short bits = nondet_half();
    int mode = any_rounding_mode();
    __CPROVER_rounding_mode = mode;
    double x = cp_bf16_to_double(bits);
    __CPROVER_rounding_mode = 0;
    unsigned long long sign = (unsigned long long)(bits >> 15) << 63;
    unsigned long long payload = (unsigned long long)(bits & 0x007FU) << 45;

    int nan = (bits & 0x7FFFU) > 0x7F80U;
    CHECK("NUM-1: bfloat16: a NaN stays one, quiet, with its sign and payload",
          !nan || bits_of(x) == (sign | 0x7FF0000000000000ULL | payload | QUIET_64));
    CHECK("NUM-1: bfloat16: the same value", nan || x == (double)bfloat_of(bits));
    CHECK("NUM-1: bfloat16: the same sign, of a zero too", nan || (bits_of(x) >> 63) == bits >> 15);
    CHECK("NUM-1: bfloat16: reading and writing back changes no number",
          nan || cp_bf16_from_double(x) == bits);
    REACH("bfloat16 NaN", nan);
    REACH("bfloat16 subnormal", x == 0x1p-133 && mode == 2);
    REACH("bfloat16 minus zero", bits == 0x8000U && x == 0.0);
    REACH("bfloat16 largest", x == 0x1.FEp127);
    REACH("bfloat16 infinity", bits == 0xFF80U);
}

/* NUM-2 */
static void write_bfloat(void) {
    double x = nondet_double();
    int mode = any_rounding_mode();
    __CPROVER_rounding_mode = mode;
    unsigned short bits = cp_bf16_from_double(x);
    __CPROVER_rounding_mode = 0;
    double magnitude = x < 0 ? -x : x;
    unsigned short sign = (unsigned short)(bits_of(x) >> 63 << 15);

    CHECK("NUM-2: bfloat16: the nearest, ties to even",
          is_nan(x) || bits == bits_of_bfloat((bfloat)x));
    CHECK("NUM-2: bfloat16: up to 2^-134 a zero", !(magnitude <= 0x1p-134) || bits == sign);
    CHECK("NUM-2: bfloat16: from (2 - 2^-8) 2^127 on an infinity",
          !(magnitude >= 0x1.FFp127) || bits == (sign | 0x7F80U));
    CHECK("NUM-2: bfloat16: below (2 - 2^-8) 2^127 no infinity",
          !(magnitude < 0x1.FFp127) || (bits & 0x7FFFU) < 0x7F80U);
    CHECK(
        "NUM-2: bfloat16: a NaN stays one, quiet, with its sign and the first bits of its payload",
        !is_nan(x) || bits == (sign | 0x7FC0U | (bits_of(x) >> 45 & 0x007FU)));
    REACH("bfloat16 rounded up in another mode",
          mode == 1 && magnitude < 1.0 && x < cp_bf16_to_double(bits));
    REACH("bfloat16 rounds up to infinity", x == 0x1.FFp127);
    REACH("bfloat16 subnormal", bits == 0x0001U && x < 0x1p-133);
    REACH("bfloat16 NaN", is_nan(x));
    REACH("bfloat16 tie to even", x == 0x1.01p0 && bits == 0x3F80U);
}

/* An array of any type, with bytes before and behind: the element is written and no other byte, and
 * what is read is what is there. */
static void write_element(void) {
    struct {
        unsigned char before[8];
        union {
            unsigned short half[4];
            float single[4];
            double whole[4];
            unsigned char byte[32];
        } array;
        unsigned char behind[8];
    } room, old;
    double x = nondet_double();
    int type = any(2), index = any(2), other = any(5);
    __CPROVER_assume(0 <= type && type <= 3 && 0 <= index && index < 4 && 0 <= other && other < 32);
    old = room;

    cp_number_store(&room.array, type, (size_t)index, x);

    double y = cp_number_load(&room.array, type, (size_t)index);
    double once = type == CP_FP16   ? cp_fp16_to_double(cp_fp16_from_double(x))
                  : type == CP_BF16 ? cp_bf16_to_double(cp_bf16_from_double(x))
                  : type == CP_FP32 ? (double)(float)x
                                    : x;
    size_t size = cp_number_size(type);
    size_t begin = (size_t)index * size;
    int guard = other & 7;
    CHECK("NUM-2: the number, rounded once", is_nan(x) ? is_nan(y) : y == once);
    CHECK("NUM-2: no other byte", ((size_t)other >= begin && (size_t)other < begin + size) ||
                                      room.array.byte[other] == old.array.byte[other]);
    CHECK("NUM-2: no byte before the array and none behind it",
          room.before[guard] == old.before[guard] && room.behind[guard] == old.behind[guard]);
    CHECK("NUM-1: 2, 4 or 8 bytes", size == (type == CP_FP64 ? 8 : type == CP_FP32 ? 4 : 2));
    REACH("half", type == CP_FP16 && index == 3);
    REACH("single", type == CP_FP32 && y != x && !is_nan(x));
    REACH("double", type == CP_FP64 && y == x);
    REACH("double, last", type == CP_FP64 && index == 3);
    REACH("bfloat16", type == CP_BF16 && index == 3 && y != x && !is_nan(x));
}

/* MASK-1: bit i mod 8 of byte i / 8, the lowest one first. */
static void read_bit(void) {
    unsigned char bits[4] = {(unsigned char)any(8), (unsigned char)any(8), (unsigned char)any(8),
                             (unsigned char)any(8)};
    const int power[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    int i = any(5);
    __CPROVER_assume(0 <= i && i < 32);
    int bit = cp_bit_load(bits, (size_t)i);
    CHECK("MASK-1: the bit, as a number", bit == bits[i / 8] / power[i % 8] % 2);
    REACH("the last bit is 1", i == 31 && bit == 1);
    REACH("a bit is 0 in a byte that is not", bits[i / 8] == 255 - power[i % 8] && bit == 0);
}

int main(void) {
    read_half();
    write_half();
    read_bfloat();
    write_bfloat();
    write_element();
    read_bit();
    return 0;
}

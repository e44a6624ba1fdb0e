/* SPDX-License-Identifier: Apache-2.0 */
/* AVX2 with F16C and FMA: 8 numbers in a vector, 16 vectors. */
#include "opt/kernels.h"

#if defined(__x86_64__)
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "opt/cpu.h"
#include "opt/target.h"

TARGET_BEGIN("avx2,fma,f16c")

#define LANES         8
#define MOST          6
#define EACH_MOST(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6)
#define DOTS          2
#define EACH_DOTS(DO) DO(1) DO(2)

typedef __m256 vec;

static inline vec v_zero(void) {
    return _mm256_setzero_ps();
}

static inline vec v_set(float x) {
    return _mm256_set1_ps(x);
}

static inline vec v_load(const float *from) {
    return _mm256_loadu_ps(from);
}

static inline void v_store(float *to, vec a) {
    _mm256_storeu_ps(to, a);
}

static inline vec v_add(vec a, vec b) {
    return _mm256_add_ps(a, b);
}

static inline vec v_sub(vec a, vec b) {
    return _mm256_sub_ps(a, b);
}

static inline vec v_mul(vec a, vec b) {
    return _mm256_mul_ps(a, b);
}

static inline vec v_div(vec a, vec b) {
    return _mm256_div_ps(a, b);
}

static inline vec v_fma(vec a, vec b, vec c) {
    return _mm256_fmadd_ps(a, b, c);
}

static inline vec v_max(vec a, vec b) {
    return _mm256_max_ps(a, b);
}

/* Of the four numbers in 128 bits. */
static inline float sum_of_4(__m128 a) {
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}

static inline float v_sum(vec a) {
    return sum_of_4(_mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
}

static inline float v_largest(vec a) {
    __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_max_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}

static inline vec v_load_16(const uint16_t *from) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
}

static inline vec v_load_b16(const uint16_t *from) {
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

/* E5M2 is the upper half of a binary16. */
static inline vec v_load_e5(const uint8_t *from) {
    __m128i wide = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)from));
    return _mm256_cvtph_ps(_mm_slli_epi16(wide, 8));
}

/* E4M3 has an exponent of 4 bits, counted from 7, not from 15: as a binary16 it is 2^8 times too
 * small. Its only NaN is all ones but the sign. */
static inline vec v_load_e4(const uint8_t *from) {
    __m128i wide = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)from));
    __m128i half = _mm_and_si128(_mm_slli_epi16(wide, 7), _mm_set1_epi16((short)0xBF80));
    __m128i ones = _mm_and_si128(half, _mm_set1_epi16(0x3F80));
    __m128i nan = _mm_cmpeq_epi16(ones, _mm_set1_epi16(0x3F80));
    half = _mm_or_si128(half, _mm_and_si128(nan, _mm_set1_epi16(0x7C00)));
    return v_mul(_mm256_cvtph_ps(half), v_set(0x1p8F));
}

static inline vec v_load_i8(const uint8_t *from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)from)));
}

static inline void v_store_16(uint16_t *to, vec a) {
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

/* Neighbours are added, twice: a, b, c, d in each 128 bits. */
static inline void v_sum_4(float *to, vec a, vec b, vec c, vec d) {
    vec all = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
}

static inline vec v_below(vec a, vec b, vec yes, vec no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}

static inline vec v_lane(void) {
    return _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
}

/* By half of n, exactly, then by the rest: 2^n alone may be below the normal numbers. */
static inline vec v_power(vec p, vec shifted) {
    __m256i n =
        _mm256_sub_epi32(_mm256_castps_si256(shifted), _mm256_castps_si256(v_set(0x1.8p23F)));
    __m256i half = _mm256_srai_epi32(n, 1), one = _mm256_set1_epi32(127);
    __m256i left = _mm256_slli_epi32(_mm256_add_epi32(half, one), 23);
    __m256i right = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(n, half), one), 23);
    return v_mul(v_mul(p, _mm256_castsi256_ps(left)), _mm256_castsi256_ps(right));
}

#include "opt/vector.h"

struct cp_opt_kernels cp_opt_avx2(void) {
    return kernels(8);
}

TARGET_END

int cp_opt_has_avx2(void) {
    return opt_cpu_saves(6) && opt_cpu_has(1, OPT_ECX, 12) && opt_cpu_has(1, OPT_ECX, 29) &&
           opt_cpu_has(7, OPT_EBX, 5);
}

#else

struct cp_opt_kernels cp_opt_avx2(void) {
    return cp_opt_portable();
}

int cp_opt_has_avx2(void) {
    return 0;
}

#endif

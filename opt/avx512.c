/* SPDX-License-Identifier: Apache-2.0 */
/* AVX-512: 16 numbers in a vector, 32 vectors. */
#include "opt/kernels.h"

#if defined(__x86_64__)
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "opt/cpu.h"
#include "opt/target.h"

TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")

#define LANES         16
#define MOST          8
#define EACH_MOST(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8)
#define DOTS          4
#define EACH_DOTS(DO) DO(1) DO(2) DO(3) DO(4)

typedef __m512 vec;

static inline vec v_zero(void) {
    return _mm512_setzero_ps();
}

static inline vec v_set(float x) {
    return _mm512_set1_ps(x);
}

static inline vec v_load(const float *from) {
    return _mm512_loadu_ps(from);
}

static inline void v_store(float *to, vec a) {
    _mm512_storeu_ps(to, a);
}

static inline vec v_add(vec a, vec b) {
    return _mm512_add_ps(a, b);
}

static inline vec v_sub(vec a, vec b) {
    return _mm512_sub_ps(a, b);
}

static inline vec v_mul(vec a, vec b) {
    return _mm512_mul_ps(a, b);
}

static inline vec v_div(vec a, vec b) {
    return _mm512_div_ps(a, b);
}

static inline vec v_fma(vec a, vec b, vec c) {
    return _mm512_fmadd_ps(a, b, c);
}

static inline vec v_max(vec a, vec b) {
    return _mm512_max_ps(a, b);
}

static inline float v_sum(vec a) {
    return _mm512_reduce_add_ps(a);
}

static inline float v_largest(vec a) {
    return _mm512_reduce_max_ps(a);
}

static inline vec v_load_16(const uint16_t *from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
}

static inline vec v_load_b16(const uint16_t *from) {
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

/* E5M2 is the upper half of a binary16. */
static inline vec v_load_e5(const uint8_t *from) {
    __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from));
    return _mm512_cvtph_ps(_mm256_slli_epi16(wide, 8));
}

/* E4M3 has an exponent of 4 bits, counted from 7, not from 15: as a binary16 it is 2^8 times too
 * small. Its only NaN is all ones but the sign. */
static inline vec v_load_e4(const uint8_t *from) {
    __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)from));
    __m256i half = _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16((short)0xBF80));
    __m256i ones = _mm256_set1_epi16(0x3F80);
    __mmask16 number = _mm256_cmpneq_epi16_mask(_mm256_and_si256(half, ones), ones);
    return _mm512_mask_mul_ps(v_set(NAN), number, _mm512_cvtph_ps(half), v_set(0x1p8F));
}

static inline vec v_load_i8(const uint8_t *from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)from)));
}

static inline void v_store_16(uint16_t *to, vec a) {
    _mm256_storeu_si256((__m256i *)to,
                        _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* Halves of pairs, then quarters of fours are added: a vector of a, b, c, d in each 128 bits. */
static inline void v_sum_4(float *to, vec a, vec b, vec c, vec d) {
    vec ab = v_add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    vec cd = v_add(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    vec low = _mm512_shuffle_ps(ab, cd, _MM_SHUFFLE(1, 0, 1, 0));
    vec all = v_add(low, _mm512_shuffle_ps(ab, cd, _MM_SHUFFLE(3, 2, 3, 2)));
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

static inline vec v_below(vec a, vec b, vec yes, vec no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
}

static inline vec v_lane(void) {
    return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

static inline vec v_power(vec p, vec shifted) {
    return _mm512_scalef_ps(p, v_sub(shifted, v_set(0x1.8p23F)));
}

#include "opt/vector.h"

struct cp_opt_kernels cp_opt_avx512(void) {
    return kernels(8);
}

TARGET_END

int cp_opt_has_avx512(void) {
    return cp_opt_has_avx2() && opt_cpu_saves(0xE6) && opt_cpu_has(7, OPT_EBX, 16) &&
           opt_cpu_has(7, OPT_EBX, 17) && opt_cpu_has(7, OPT_EBX, 30) &&
           opt_cpu_has(7, OPT_EBX, 31);
}

#else

struct cp_opt_kernels cp_opt_avx512(void) {
    return cp_opt_portable();
}

int cp_opt_has_avx512(void) {
    return 0;
}

#endif

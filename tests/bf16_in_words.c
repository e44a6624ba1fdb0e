/* SPDX-License-Identifier: Apache-2.0 */
#include "bf16_in_words.h"

#if defined(__x86_64__)
#include "opt/target.h"

TARGET_BEGIN("avx512f,fma")

/* First numbers of pairs, then second ones, with a rounding each. */
static inline __m512 add_in_words(__m512 sum, __m512i a, __m512i b) {
    __m512i upper = _mm512_set1_epi32((int)0xFFFF0000U);
    sum = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(a, 16)),
                          _mm512_castsi512_ps(_mm512_slli_epi32(b, 16)), sum);
    return _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(a, upper)),
                           _mm512_castsi512_ps(_mm512_and_si512(b, upper)), sum);
}

TARGET_END

#define ADD_PRODUCTS add_in_words
#endif

#define cp_opt_avx512_bf16     bf16_in_words
#define cp_opt_has_avx512_bf16 bf16_in_words_can_run
int bf16_in_words_can_run(void);

#include "opt/avx512_bf16.c"

/* SPDX-License-Identifier: Apache-2.0 */
/* opt/avx512_bf16.c for machines with AVX-512 that lack its instruction: two multiplications and
 * additions take the place of it. Everything else is the very code. */
#ifndef CHUNKPROOF_TESTS_BF16_IN_WORDS_H
#define CHUNKPROOF_TESTS_BF16_IN_WORDS_H

#include "opt/kernels.h"

/* cp_opt_avx512_bf16() of that code. */
struct cp_opt_kernels bf16_in_words(void);

#endif

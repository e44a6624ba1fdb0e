/* SPDX-License-Identifier: Apache-2.0 */
/* Functions between TARGET_BEGIN("avx2,...") and TARGET_END are compiled for these instruction
 * sets; the rest is compiled for any machine of the architecture. */
#ifndef CHUNKPROOF_OPT_TARGET_H
#define CHUNKPROOF_OPT_TARGET_H

#include <immintrin.h>

#define TARGET_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TARGET_BEGIN(names)                                                                        \
    TARGET_PRAGMA(clang attribute push(__attribute__((target(names))), apply_to = function))
#define TARGET_END _Pragma("clang attribute pop")
#else
#define TARGET_BEGIN(names) _Pragma("GCC push_options") TARGET_PRAGMA(GCC target(names))
#define TARGET_END          _Pragma("GCC pop_options")
#endif

#endif

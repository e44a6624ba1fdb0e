/* SPDX-License-Identifier: Apache-2.0 */
/* TDPBF16PS in plain C, with which the unit and its emulator are compared; and numbers to try it
 * with. */
#ifndef CHUNKPROOF_TESTS_AMX_MODEL_H
#define CHUNKPROOF_TESTS_AMX_MODEL_H

#include "amx_emulator.h"

/* c[rows][columns] + a b (amx_dot()), zeros outside of it. */
struct amx_tile amx_model(const struct amx_tile *c, const struct amx_tile *a,
                          const struct amx_tile *b, int rows, int pairs, int columns);

/* Of TINY numbers products are near the smallest normal number, SUBNORMAL ones are subnormal or
 * hardly larger, SPECIAL ones are those at the ends, infinities and NaNs. */
enum amx_kind { NORMAL, ANY_BITS, TINY, SUBNORMAL, LARGE, SPECIAL, KINDS };

void amx_fill_pairs(struct amx_tile *to, enum amx_kind kind, unsigned long long *random);
void amx_fill_numbers(struct amx_tile *to, enum amx_kind kind, unsigned long long *random);

/* The same numbers of binary32? Any NaN is as good as another. */
int amx_same(const struct amx_tile *x, const struct amx_tile *y);

#endif

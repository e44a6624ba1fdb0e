/* SPDX-License-Identifier: Apache-2.0 */
/* TDPBF16PS in plain C, to compare the unit and its emulator with, and numbers to try it with. */
#ifndef CHUNKPROOF_TESTS_AMX_MODEL_H
#define CHUNKPROOF_TESTS_AMX_MODEL_H

#include "amx_emulator.h"

/* c[rows][columns] + a b (amx_dot()), zeros outside of it. */
struct amx_tile amx_model(const struct amx_tile *c, const struct amx_tile *a,
                          const struct amx_tile *b, int rows, int pairs, int columns);

/* Products of TINY numbers are near the smallest normal number. SUBNORMAL numbers are subnormal or
 * hardly larger. SPECIAL numbers are the largest and smallest, infinities and NaNs. */
enum amx_kind { NORMAL, ANY_BITS, TINY, SUBNORMAL, LARGE, SPECIAL, KINDS };

void amx_fill_pairs(struct amx_tile *to, enum amx_kind kind, unsigned long long *random);
void amx_fill_numbers(struct amx_tile *to, enum amx_kind kind, unsigned long long *random);

/* Are they the same binary32 numbers? All NaNs count as the same. */
int amx_same(const struct amx_tile *x, const struct amx_tile *y);

#endif

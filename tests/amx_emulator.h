/* SPDX-License-Identifier: Apache-2.0 */
/* AMX where the machine has none: a program that executes LDTILECFG, TILELOADD, TDPBF16PS and the
 * like is answered by a handler of SIGILL, which does what the instruction would have done and goes
 * on behind it. So the very code that is to run on the unit is tested. It needs AVX-512.
 *
 * What links this file also gets its cp_opt_has_amx() (opt/kernels.h), which says yes where the
 * instructions work in either way, and not the library's own. */
#ifndef CHUNKPROOF_TESTS_AMX_EMULATOR_H
#define CHUNKPROOF_TESTS_AMX_EMULATOR_H

#include <stdint.h>

#define AMX_TILES 8
#define AMX_ROWS  16
#define AMX_WORDS                                                                                  \
    16 /* of 32 bits in a row: a number of binary32, or two of bfloat16, the first one in the low  \
          half */

struct amx_tile {
    _Alignas(64) uint32_t word[AMX_ROWS][AMX_WORDS];
};

/* From now on the instructions work in this process, in all its threads: emulated where there is no
 * unit. Returns 0 where that cannot be (other than x86-64 Linux with AVX-512), else 1. May be
 * called again and from several threads; must be called again after another handler of SIGILL was
 * installed, as cmocka does before each test. A SIGILL that is for something else goes to the
 * handler that was there before.
 *
 * Where the unit would fault because of what the instruction asks for, the process prints a line
 * that says what, and aborts. An object that was opened with dlopen() and has called this must not
 * be closed. */
int amx_emulate(void);

/* TDPBF16PS: c[rows][columns] += a b, a of `pairs` pairs of bfloat16 in a row, b of as many rows.
 * First and second numbers of pairs are summed up apart from each other, from 0 on and in the order
 * of pairs, with one rounding each (to nearest, ties to even); then both sums are added, and that
 * is added to c. Subnormal numbers are taken, and given, as zeros of their sign. MXCSR is left as
 * it is. The rest of c becomes 0. Needs AVX-512. */
void amx_dot(struct amx_tile *c, const struct amx_tile *a, const struct amx_tile *b, int rows,
             int pairs, int columns);

#endif

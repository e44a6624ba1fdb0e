/* SPDX-License-Identifier: Apache-2.0 */
/* AMX where the machine has none. A program executes LDTILECFG, TILELOADD, TDPBF16PS and the like;
 * a handler of SIGILL does what the instruction would have done, and continues after it. So the
 * tests run the very code that runs on the unit. The emulator needs AVX-512.
 *
 * A program that links this file also gets its cp_opt_has_amx() (opt/kernels.h) instead of the
 * library's. It says yes where the instructions work in either way. */
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

/* Makes the instructions work in this process, in all its threads: emulated where there is no unit.
 * Returns 1, or 0 where that is impossible (other than x86-64 Linux with AVX-512). It may be called
 * again and from several threads. It must be called again after another handler of SIGILL was
 * installed, as cmocka does before each test. A SIGILL that is for something else goes to the
 * earlier handler.
 *
 * Where the unit would fault because of what the instruction asks for, the process prints a line
 * that says what, and aborts. An object that was opened with dlopen() and has called this must stay
 * open. */
int amx_emulate(void);

/* TDPBF16PS: c[rows][columns] += a b. A row of a has `pairs` pairs of bfloat16, and b has as many
 * rows. First and second numbers of pairs are summed separately, from 0 on and in the order of
 * pairs, with one rounding each (to nearest, ties to even). Then the two sums are added, and that
 * is added to c. Subnormal numbers are taken, and given, as zeros of their sign. MXCSR is left as
 * it is. The rest of c becomes 0. Needs AVX-512. */
void amx_dot(struct amx_tile *c, const struct amx_tile *a, const struct amx_tile *b, int rows,
             int pairs, int columns);

#endif

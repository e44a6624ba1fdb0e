/* SPDX-License-Identifier: Apache-2.0 */
/* Conventions that kernels differ in (spec/conventions.md): what they make of the numbers of a row,
 * and which other one a kernel may have meant. */
#ifndef CHUNKPROOF_GATE_JUDGE_CONVENTIONS_H
#define CHUNKPROOF_GATE_JUDGE_CONVENTIONS_H

#include <stddef.h>

#include "chunkproof/kernel.h"
#include "gate/case/layout.h"

/* ln 2, rounded to nearest. */
#define GATE_LN_2 0x1.62e42fefa39efp-1

/* By the conventions c of a kernel: numbers 0 to d - 1 of out, and number d, the log-sum-exp, of a
 * row that sees so many keys, and a sink or not. They come by those of the specification. A row
 * without keys has a bound of 0, but for the log-sum-exp of its sink; what is unspecified must be
 * neutral (gate_conventions_blank()). */
void gate_conventions_apply(const struct cp_kernel *kernel, int n_keys, int sees_sink, int d,
                            double *expected, double *bound);

/* CONV-2: writes what is neutral over whatever the kernel gave where its conventions leave it
 * open, so that nothing depends on it. */
void gate_conventions_blank(const struct gate_problem *problem, const struct cp_kernel *kernel,
                            const struct gate_arrays *arrays);

/* Conventions that a wrong number speaks for, instead of the kernel's: another base of the
 * log-sum-exp (is_lse) where the row sees keys, or another answer of rows that see none. Where
 * there are keys, *other is the kernel's if the number is not right by the other base. expected and
 * bound are the kernel's. Returns whether there is one. */
int gate_conventions_guess(const struct cp_kernel *kernel, int n_keys, int is_lse, double got,
                           double expected, double bound, struct cp_kernel *other);

/* The fields of `other` that differ, as in a kernel's source: ".lse_base = CP_LSE_BITS". */
#define GATE_CONVENTIONS_TEXT 160
void gate_conventions_words(const struct cp_kernel *kernel, const struct cp_kernel *other,
                            char text[GATE_CONVENTIONS_TEXT]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_JUDGE_CLOSER_H
#define CHUNKPROOF_GATE_JUDGE_CLOSER_H

#include "chunkproof/kernel.h"

/* The fields of a declaration that can be made closer: more exact. */
enum gate_closer {
    GATE_CLOSER_SCORE,
    GATE_CLOSER_WEIGHTS,
    GATE_CLOSER_VALUES,
    GATE_CLOSER_PARTIALS,
    GATE_CLOSER_EXP,
    GATE_CLOSER_ROTATED,
    GATE_CLOSER_SCALES,
    GATE_CLOSER_TANH,
    GATE_CLOSERS
};

extern const char *const gate_closer_names[GATE_CLOSERS]; /* as in the kernel's source */

/* Does the kernel declare this field so wide that a closer one is worth a try? Then *closer is the
 * kernel with the closer field. */
int gate_closer(const struct cp_kernel *kernel, enum gate_closer which, struct cp_kernel *closer);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Masks of bits (MASK-1): the bits of a problem's rows, and which keys each row sees by them. */
#ifndef CHUNKPROOF_GATE_CASE_BITS_H
#define CHUNKPROOF_GATE_CASE_BITS_H

#include "gate/case/problem.h"

/* Makes the bits of a problem whose rows have their positions, as its recipe says. Nothing is done
 * where it has no mask, and where that would take too much memory it has none. 0, or -1: no
 * memory. */
int gate_bits_new(struct gate_problem *problem);
void gate_bits_free(struct gate_mask *mask);

/* After a problem is copied: the bits are the other one's. */
void gate_bits_forget(struct gate_mask *mask);

/* Those of rows `first` on of a problem, which must live longer. 0, or -1: no memory. */
int gate_bits_part(struct gate_problem *part, const struct gate_problem *whole, int first);

#endif

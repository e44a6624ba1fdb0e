/* SPDX-License-Identifier: Apache-2.0 */
/* MERGING-1 in 600 bits: the merged output and log-sum-exp, rounded to double. It shares no code
 * with the reference, and works from the definition: sums of exp(l_i), which has no maximum. */
#ifndef CHUNKPROOF_TESTS_MERGING_ORACLE_H
#define CHUNKPROOF_TESTS_MERGING_ORACLE_H

#include "chunkproof/merging.h"

/* out[d] and the log-sum-exp in the base of the row. */
void merging_oracle(const struct cp_merging_row *row, double *out, double *lse);

#endif

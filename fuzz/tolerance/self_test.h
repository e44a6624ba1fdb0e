/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the check: it must notice wrong kernels, and right kernels that declare too strict a
 * class. */
#ifndef CHUNKPROOF_FUZZ_SELF_TEST_H
#define CHUNKPROOF_FUZZ_SELF_TEST_H

/* Prints a line for each. 0: all were noticed; 1: one was not. */
int self_test(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The check is checked: wrong kernels, and right ones that declare too strict a class, must be
 * seen. */
#ifndef CHUNKPROOF_FUZZ_SELF_TEST_H
#define CHUNKPROOF_FUZZ_SELF_TEST_H

/* Prints a line for each; 0 all seen, 1 not. */
int self_test(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_SORT_H
#define CHUNKPROOF_CLI_BASE_SORT_H

/* Sorts n numbers, the smallest first; none is a NaN. */
void sort_numbers(double *number, int n);

#endif

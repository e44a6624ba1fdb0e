/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzzing the parser of cases of kernels that merge. */
#ifndef CHUNKPROOF_FUZZ_MERGE_CASE_H
#define CHUNKPROOF_FUZZ_MERGE_CASE_H

/* Loads the file, and checks each case of it. */
void fuzz_merge_cases(const char *path);

#endif

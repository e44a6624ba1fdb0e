/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle (SOFTMAX-1, SOFTMAX-2): softmax attention of one query row over a flat list of
 * keys, as in a textbook: no chunks, no states, no merging, and no code of any implementation. */
#ifndef CHUNKPROOF_TESTS_ORACLE_H
#define CHUNKPROOF_TESTS_ORACLE_H

/* out[d] = sum_j w_j v[j], w = softmax(scale * q . k[j]) over the n keys; k and v are [n][d].
 * Returns log sum_j exp(scale * q . k[j]). No keys: zeros and -infinity. */
double oracle_attention(const double *q, const double *k, const double *v, int n, int d,
                        double scale, double *out);

#endif

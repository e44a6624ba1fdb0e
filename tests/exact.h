/* SPDX-License-Identifier: Apache-2.0 */
/* The ground truth: attention of one query row over a flat list of keys (SOFTMAX-1, SOFTMAX-2),
 * correctly rounded. Each result is the number of the output format that is nearest to the exact
 * result, ties to even. No result is closer, and there is no tolerance. exact.c says why it can
 * be trusted. */
#ifndef CHUNKPROOF_TESTS_EXACT_H
#define CHUNKPROOF_TESTS_EXACT_H

/* out[d] and the log-sum-exp (in nats) of the query q over the n keys; k and v are [n][d], all
 * finite. shift: what is added to each score (NUM-14), or NULL. Each out is rounded to `type`
 * (number.h), lse to double. No keys: zeros and -infinity.
 * `precision`: how many bits the computation begins with, 64 or more; where they do not decide, it
 * takes more. Returns the most bits that were needed. */
int exact_attention(const double *q, const double *k, const double *v, int n, int d, double scale,
                    const double *shift, int type, int precision, double *out, double *lse);

#endif

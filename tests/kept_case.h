/* SPDX-License-Identifier: Apache-2.0 */
/* K and V of a random problem (attend_case.h) as a cache keeps them: in types of their own, and
 * with scales (NUM-18). */
#ifndef CHUNKPROOF_TESTS_KEPT_CASE_H
#define CHUNKPROOF_TESTS_KEPT_CASE_H

#include "attend_case.h"

/* K or V: numbers of `type`, and scales, as many as kept_case_scales() says. */
struct kept {
    int type;
    void *numbers;
    float *scales;
};

size_t kept_case_scales(const struct attend_case *c, int per);

/* Makes numbers and scales near those of `exact`, which is c->k or c->v, and then exact what they
 * stand for. powers: scales are powers of two. Slots without a key have NaNs in both, if the type
 * has one, and if there is a scale for each token. Free with kept_case_free(). */
struct kept kept_case_make(const struct attend_case *c, double *exact, int per, int type,
                           int powers, unsigned long long *random);
void kept_case_free(struct kept *kept);

/* K and V of the case become these. Returns what the case had. */
struct cp_attention kept_case_take(struct attend_case *c, const struct kept *k,
                                   const struct kept *v, int per);

#endif

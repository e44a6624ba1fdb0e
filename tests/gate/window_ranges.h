/* SPDX-License-Identifier: Apache-2.0 */
/* Which slots of a run a row sees (WINDOW-2), for window_rows.c and kernels by the same author. */
#ifndef CHUNKPROOF_TESTS_GATE_WINDOW_RANGES_H
#define CHUNKPROOF_TESTS_GATE_WINDOW_RANGES_H

#include "kernel_util.h"

static inline int clamp(long long x, long long low, long long high) {
    return (int)(x < low ? low : x > high ? high : x);
}

struct seen {
    int a, b, e; /* slots 0 .. a-1 and b .. e-1 */
};

static inline struct seen slots_of(const struct cp_kernel_call *call, int p, int first, int n) {
    long long end = (long long)p + call->ahead + 1 - first;
    long long begin = call->window > 0 ? (long long)p - call->window + 1 - first : 0;
    long long kept = call->window > 0 ? (long long)call->kept - first : 0;
    struct seen r;
    r.e = clamp(end, 0, n);
    r.b = clamp(begin, 0, r.e);
    r.a = clamp(kept, 0, r.b);
    return r;
}

#endif

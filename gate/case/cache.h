/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of 8 bits (NUM-16, CONV-10): what K and V of a case are rounded to, and their scales. */
#ifndef CHUNKPROOF_GATE_CASE_CACHE_H
#define CHUNKPROOF_GATE_CASE_CACHE_H

#include "gate/case/problem.h"

/* 1: neither K nor V has 8 bits. */
static inline int gate_is_plain(const struct cp_kernel_cache *cache) {
    return cache->k == CP_CACHE_PLAIN && cache->v == CP_CACHE_PLAIN;
}

/* How many scales an array has that is not plain. */
size_t gate_n_scales(const struct gate_problem *problem);

/* Which of them is that of a place: that of gate_key_row(). */
size_t gate_scale_at(const struct gate_problem *problem, unsigned long long place);

/* Room for the scales. 0, or -1: no memory. */
int gate_cache_new(struct gate_problem *problem);

/* Makes the scales, so that numbers of a size up to `largest` fit. Where `step` is above 0, each
 * scale is it divided by a power of two, so that small multiples of it are exact; else any. */
struct gate_scaling {
    double largest, step;
};
void gate_cache_scale(struct gate_problem *problem, const struct gate_scaling *of_k,
                      const struct gate_scaling *of_v);

/* Once all keys are there: the scale of a token where no key is becomes a NaN. */
void gate_cache_forget(struct gate_problem *problem);

/* Rounds the d numbers of a key, or of its value, to what a cache of 8 bits has at that place. */
void gate_cache_round(const struct gate_problem *problem, int is_v, unsigned long long place,
                      double *x);

/* Bytes of a number of K or V. */
size_t gate_cache_size(const struct gate_problem *problem, int is_v);

/* Number `at` of an array of K or V becomes x, of the key at that place; below, padding, as near to
 * x as the format has. */
void gate_cache_store(const struct gate_problem *problem, int is_v, void *array, size_t at,
                      unsigned long long place, double x);
void gate_cache_pad(const struct gate_problem *problem, int is_v, void *array, size_t at, double x);

/* Number `at` as it stands there, times no scale. */
double gate_cache_load(const struct gate_problem *problem, int is_v, const void *array, size_t at);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 6, before the product: the scales of a cache of 8 bits (CONV-10). The functions declare the
 * variables of ways.h. */
#include <math.h>

#include "gate/case/cache.h"
#include "gate/explain/model.h"

/* The scale of a place; NaN: there is none. */
static double scale_of(const struct gate_problem *p, int is_v, int chunk, int head, int slot) {
    const float *scale = is_v ? p->cache.v_scale : p->cache.k_scale;
    const struct gate_recipe *r = &p->recipe;
    long long place = ((long long)chunk * r->n_kv_heads + head) * r->chunk_size + slot;
    int is_there = head >= 0 && head < r->n_kv_heads && slot >= 0 && place >= 0 &&
                   place < (long long)p->capacity * r->n_kv_heads * r->chunk_size;
    return scale != NULL && is_there ? (double)scale[gate_scale_at(p, (unsigned long long)place)]
                                     : (double)NAN;
}

#define of(chunk, head, slot)    scale_of(p, is_v, chunk, head, slot)
#define other(chunk, head, slot) scale_of(p, !is_v, chunk, head, slot)

double explain_dequantised(const struct explain_model *x, const struct explain_choice *choice,
                           int is_v, int j) {
    const struct gate_problem *p = &x->run->problem;
    int g = x->g, by = choice->dequantise.by, heads = p->recipe.n_kv_heads;
    int is_one = choice->dequantise.array == OF_BOTH || (choice->dequantise.array == OF_V) == is_v;
    if (choice->dequantise.way == DEQUANTISE_OWN || !is_one ||
        (is_v ? p->cache.v_scale : p->cache.k_scale) == NULL) {
        return 1.0;
    }
    struct explain_spot at = explain_spot_of(x, j);
    int chunk = p->table[x->s * p->table_width + at.run], slot = at.slot;
    double scale = of(chunk, g, slot);
    switch ((enum explain_dequantise)choice->dequantise.way) {
#define EXPLAIN_SCALE(name, value)                                                                 \
    case name:                                                                                     \
        return (value) / scale;
        EXPLAIN_DEQUANTISES(EXPLAIN_SCALE)
    }
    return 1.0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The usual test of an attention kernel, as most that are published have one: normal values, contiguous tensors, one
 * query for each of a few sequences of some hundred keys, finite numbers behind the last key. */
#include <string.h>

#include "gate/case/recipe.h"

/* Sequences share a prompt, and have keys of their own behind it. */
struct shape {
    int n_heads, n_kv_heads, head_dim, chunk_size, prompt;
    int own[4];
};

void gate_usual_recipe(int i, struct gate_recipe *r) {
    static const struct shape shapes[GATE_USUAL] = {{8, 8, 64, 16, 128, {1, 40, 150, 300}},
                                                    {8, 2, 128, 16, 256, {3, 64, 100, 233}},
                                                    {4, 4, 128, 64, 512, {64, 65, 17, 130}},
                                                    {6, 1, 80, 32, 300, {12, 90, 31, 240}}};
    const struct shape *s = &shapes[i];
    memset(r, 0, sizeof *r);
    r->n_heads = s->n_heads;
    r->n_kv_heads = s->n_kv_heads;
    r->head_dim = s->head_dim;
    r->chunk_size = s->chunk_size;
    r->values = GATE_NORMAL;
    r->queries = GATE_DECODE;
    r->padding = GATE_STALE;
    r->scale = 100;
    r->seed = (unsigned long long)i;
    r->n_ops = 4;
    for (int j = 0; j < r->n_ops; j++) {
        r->op[j] = j == 0 ? (struct gate_op){GATE_JOIN, 0, 0, s->prompt + s->own[0]}
                          : (struct gate_op){GATE_JOIN, 0, s->prompt, s->own[j]};
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-7: attention of one new token, whose entries come in order of position. Each seen key is a
 * state of its own, and MERGE-4 adds it to those before it. */
#include "chunkproof/layers.h"
#include "chunkproof/softmax.h"
#include "decoder_internal.h"

/* Does new token i see entry e? */
static int sees(const struct run *run, int i, int e) {
    const struct cp_decoder_call *call = run->call;
    if (call->sees == NULL) {
        return run->cache->position[e] <= call->position[i];
    }
    size_t n_entries = (size_t)run->cache->n + (size_t)call->n_new;
    return call->sees[(size_t)i * n_entries + (size_t)e] != 0;
}

static void attend_head(const struct run *run, int l, int i, int head) {
    const struct cp_decoder_shape *shape = run->shape;
    int d = shape->d_head;
    int kv_head = head / (shape->n_heads / shape->n_kv_heads);
    size_t row = ((size_t)i * (size_t)shape->n_heads + (size_t)head) * (size_t)d;
    double slope =
        shape->positions == CP_POSITIONS_ALIBI ? cp_alibi_slope(head, shape->n_heads) : 0.0;
    struct cp_state state;
    cp_state_empty(&state, run->o, d);
    int n_entries = run->cache->n + run->call->n_new;
    for (int j = 0; j < n_entries; j++) {
        int e = run->order[j];
        if (!sees(run, i, e)) {
            continue;
        }
        size_t at = cp_entry_at(shape, run->cache, l, e) + (size_t)kv_head * (size_t)d;
        double behind = (double)run->cache->position[e] - run->call->position[i];
        double score = cp_score(run->q + row, run->cache->k + at, d, shape->scale);
        struct cp_state key = {score + slope * behind, 1.0};
        cp_attn_reduce(&state, run->o, &key, run->cache->v + at, d);
    }
    cp_finish(&state, run->o, run->out + row, d);
}

void cp_attend_token(const struct run *run, int l, int i) {
    for (int head = 0; head < run->shape->n_heads; head++) {
        attend_head(run, l, i, head);
    }
}

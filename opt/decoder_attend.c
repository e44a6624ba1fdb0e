/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of a run. The chunks of the cache are the path of one sequence, of which the last rows
 * are new: row i sees all keys up to its own slot (PREFILL-2). New tokens whose slots follow one
 * another are one call. Two calls, for example, where an argument stands inside of a module:
 *
 *    slot   0 1 2 3 4 5 6 7 8 9
 *           m m m a a m m m q q      m cached, a argument, q question
 *    call 1: rows a a, of 5 keys     call 2: rows q q, of 10 keys
 *
 * The keys behind the 5 are there, and no row of call 1 sees them. */
#include "opt/decoder_internal.h"

/* PLAN-7: n_keys >= 1 of the path. Of its runs only the last one may be partial. */
static void set_length(struct cp_plan_sequence *path, int n_keys, int c) {
    int before = path->n_chunks - 1, last = (n_keys - 1) / c;
    if (before >= 0) {
        path->run[before].n_tokens = c;
    }
    path->n_tokens = n_keys;
    path->n_chunks = last + 1;
    path->run[last].n_tokens = n_keys - last * c;
}

/* Attention of rows first .. first + n - 1, the last of which has n_keys keys. */
static struct cp_attention attention_of(const struct cp_opt_decoder *fast, int n_keys) {
    const struct cp_decoder_shape *shape = &fast->decoder->shape;
    set_length(&fast->plan->sequence[0], n_keys, fast->chunk_size);
    return (struct cp_attention){.plan = fast->plan,
                                 .stamp = fast->plan->stamp,
                                 .n_heads = shape->n_heads,
                                 .n_kv_heads = shape->n_kv_heads,
                                 .head_dim = shape->d_head,
                                 .value_dim = shape->d_head,
                                 .v_row = shape->d_head,
                                 .scale = shape->scale,
                                 .q_type = CP_FP32,
                                 .k_type = CP_FP32,
                                 .v_type = CP_FP32,
                                 .out_type = CP_FP32,
                                 .variant = CP_BUFFERED,
                                 .workspace = fast->workspace,
                                 .workspace_size = fast->workspace_size};
}

size_t cp_opt_decoder_attention_size(const struct cp_opt_decoder *fast) {
    const int begin[2] = {0, fast->most_new};
    struct cp_attention attention = attention_of(fast, fast->capacity);
    attention.query_begin = begin;
    return cp_opt_workspace(fast->opt, &attention);
}

int cp_opt_decoder_attend(const struct opt_run *run, int l) {
    struct cp_opt_decoder *fast = run->fast;
    const int *slot = fast->slot_of_new;
    size_t layer = cp_opt_entry_at(run->shape, run->cache, l, 0, 0);
    size_t heads = (size_t)run->shape->n_heads * (size_t)run->shape->d_head;
    for (int i = 0, end; i < run->call->n_new; i = end) {
        for (end = i + 1; end < run->call->n_new && slot[end] == slot[end - 1] + 1;) {
            end++;
        }
        const int begin[2] = {0, end - i};
        struct cp_attention attention = attention_of(fast, slot[end - 1] + 1);
        attention.query_begin = begin;
        attention.q = fast->q + (size_t)i * heads;
        attention.out = fast->out + (size_t)i * heads;
        attention.k = run->cache->k + layer;
        attention.v = run->cache->v + layer;
        int status = cp_opt_attend(fast->opt, &attention);
        if (status != CP_OK) {
            return status;
        }
    }
    return CP_OK;
}

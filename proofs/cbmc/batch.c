/* SPDX-License-Identifier: Apache-2.0 */
/* Induction over the operations of a batch: from ANY valid batch of this shape, one step. */
#include "batch.h"

#include <limits.h>
#include <stddef.h>

static void any_run(struct cp_run *run) {
    run->chunk = any(3);
    run->n_tokens = any(2);
    run->position = any(3);
}

int is_valid(const struct cp_batch *batch) {
    int ok = cp_batch_check(batch) == NULL;
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        ok = ok && (i >= batch->n_items || batch->item[i].n_runs == 0 ||
                    (batch->item[i].name / CP_MAX_ITEMS <= batch->clock &&
                     batch->item[i].taken <= batch->clock));
    }
    return ok;
}

void any_valid_batch(struct cp_batch *batch) {
    batch->pool.capacity = CP_MAX_CHUNKS;
    batch->pool.n_free = any(2);
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        batch->pool.perm[i] = i;
        batch->pool.pos[i] = i;
        batch->owner[i].owner = any(CP_MAX_SEQUENCES) - CP_MAX_SEQUENCES; /* so many bits do */
        batch->owner[i].run = any(2);
    }
    batch->chunk_size = CHUNK_SIZE;
    batch->n_items = any(2);
    batch->n_prompts = any(2);
    batch->clock = (unsigned)any(3);
    batch->stamp.tree = any_salt();
    batch->stamp.epoch = any_salt();
    batch->stamp.step = any_salt();
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        batch->item[i].name = (unsigned)any(3);
        batch->item[i].n_runs = any(2);
        batch->item[i].n_users = any(2);
        batch->item[i].taken = (unsigned)any(3);
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            any_run(&batch->runs[i].run[k]);
        }
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        batch->prompt[s].id = any_id();
        batch->prompt[s].n_tokens = any(3);
        batch->prompt[s].n_items = any(2);
        batch->prompt[s].n_own = any(2);
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            batch->prompt[s].item[k] = any(2);
            any_run(&batch->prompt[s].own[k]);
        }
    }
    __CPROVER_assume(is_valid(batch));
}

/* ---- Spans ---- */

int any_spans(struct cp_span spans[MAX_SPANS]) {
    for (int i = 0; i < MAX_SPANS; i++) {
        spans[i].position = nondet_bool() ? any(3) - 1 : INT_MAX - any(3);
        spans[i].n_tokens = nondet_bool() ? any(3) : INT_MAX - any(3);
    }
    int n = nondet_int();
    __CPROVER_assume(-1 <= n && n <= MAX_SPANS);
    return n;
}

int spans_in_range(const struct cp_span *spans, int n) {
    int ok = 1;
    for (int i = 0; i < MAX_SPANS; i++) {
        ok &= i >= n || (1 <= spans[i].n_tokens && 0 <= spans[i].position &&
                         (long long)spans[i].position + spans[i].n_tokens <= INT_MAX);
    }
    return ok;
}

static int span_has(struct cp_span span, int position) {
    return span.position <= position && position < (long long)span.position + span.n_tokens;
}

int spans_apart(const struct cp_span *spans, int n) {
    return n < 2 ||
           (!span_has(spans[0], spans[1].position) && !span_has(spans[1], spans[0].position));
}

int spans_have(const struct cp_span *spans, int n, int position) {
    int found = 0;
    for (int i = 0; i < MAX_SPANS; i++) {
        found |= i < n && span_has(spans[i], position);
    }
    return found;
}

/* As many as fit, CP_MAX_DEPTH + 1 for more. */
int spans_runs(const struct cp_span *spans, int n) {
    long long runs = 0;
    for (int i = 0; i < MAX_SPANS; i++) {
        runs += i < n ? ((long long)spans[i].n_tokens + CHUNK_SIZE - 1) / CHUNK_SIZE : 0;
    }
    return runs > CP_MAX_DEPTH ? CP_MAX_DEPTH + 1 : (int)runs;
}

/* ---- Places ---- */

static int run_place(struct cp_run run, int position) {
    int is_in = run.position <= position && position - run.position < run.n_tokens;
    return is_in ? run.chunk * CHUNK_SIZE + position - run.position : -1;
}

int item_place(const struct cp_batch *batch, int item, int position) {
    int place = -1;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        int at = run_place(batch->runs[item].run[k], position);
        place = k < batch->item[item].n_runs && at >= 0 ? at : place;
    }
    return place;
}

int prompt_place(const struct cp_batch *batch, int p, int position) {
    int place = -1;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        int own = run_place(batch->prompt[p].own[k], position);
        place = k < batch->prompt[p].n_own && own >= 0 ? own : place;
        if (k < batch->prompt[p].n_items) {
            int at = item_place(batch, batch->prompt[p].item[k], position);
            place = at >= 0 ? at : place;
        }
    }
    return place;
}

int prompt_has(const struct cp_batch *batch, int p, int item) {
    int found = 0;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        found |= k < batch->prompt[p].n_items && batch->prompt[p].item[k] == item;
    }
    return found;
}

int prompt_runs(const struct cp_batch *batch, int p) {
    int runs = batch->prompt[p].n_own;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        runs += k < batch->prompt[p].n_items ? batch->item[batch->prompt[p].item[k]].n_runs : 0;
    }
    return runs;
}

/* ---- What may leave, and what stays ---- */

int room(const struct cp_batch *batch, const int *kept, int n) {
    int chunks = batch->pool.n_free;
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        int leaves = i < batch->n_items && batch->item[i].n_runs > 0 && !batch->item[i].n_users;
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            leaves = leaves && (k >= n || kept[k] != i);
        }
        chunks += leaves ? batch->item[i].n_runs : 0;
    }
    return chunks;
}

static int run_same(struct cp_run a, struct cp_run b) {
    return a.chunk == b.chunk && a.n_tokens == b.n_tokens && a.position == b.position;
}

int batch_same(const struct cp_batch *a, const struct cp_batch *b) {
    int x = nondet_int(), i = nondet_int(), s = nondet_int(), k = nondet_int();
    __CPROVER_assume(0 <= x && x < CP_MAX_CHUNKS && 0 <= i && i < CP_MAX_ITEMS);
    __CPROVER_assume(0 <= s && s < CP_MAX_SEQUENCES && 0 <= k && k < CP_MAX_DEPTH);
    const struct cp_item *item = &a->item[i], *other = &b->item[i];
    return a->pool.capacity == b->pool.capacity && a->pool.n_free == b->pool.n_free &&
           a->pool.perm[x] == b->pool.perm[x] && a->pool.pos[x] == b->pool.pos[x] &&
           a->owner[x].owner == b->owner[x].owner && a->owner[x].run == b->owner[x].run &&
           a->chunk_size == b->chunk_size && a->n_items == b->n_items &&
           a->n_prompts == b->n_prompts && a->clock == b->clock && a->stamp.tree == b->stamp.tree &&
           a->stamp.epoch == b->stamp.epoch && a->stamp.step == b->stamp.step &&
           item->name == other->name && item->n_runs == other->n_runs &&
           item->n_users == other->n_users && item->taken == other->taken &&
           run_same(a->runs[i].run[k], b->runs[i].run[k]) &&
           (s >= a->n_prompts ||
            (a->prompt[s].id == b->prompt[s].id && a->prompt[s].n_tokens == b->prompt[s].n_tokens &&
             a->prompt[s].n_items == b->prompt[s].n_items &&
             a->prompt[s].n_own == b->prompt[s].n_own &&
             a->prompt[s].item[k] == b->prompt[s].item[k] &&
             run_same(a->prompt[s].own[k], b->prompt[s].own[k])));
}

int prompt_same(const struct cp_batch *a, int q, const struct cp_batch *b, int p) {
    int position = any(4), k = nondet_int();
    __CPROVER_assume(0 <= k && k < CP_MAX_DEPTH);
    return a->prompt[q].id == b->prompt[p].id && a->prompt[q].n_tokens == b->prompt[p].n_tokens &&
           a->prompt[q].n_items == b->prompt[p].n_items &&
           (k >= a->prompt[q].n_items || a->prompt[q].item[k] == b->prompt[p].item[k]) &&
           prompt_place(a, q, position) == prompt_place(b, p, position);
}

int others_ok(const struct cp_batch *a, const struct cp_batch *b) {
    int i = nondet_int(), j = nondet_int(), position = any(4);
    __CPROVER_assume(0 <= i && i < a->n_items && 0 <= j && j < a->n_items);
    __CPROVER_assume(a->item[i].n_runs > 0 && a->item[j].n_runs > 0);
    int stays = cp_batch_find(b, a->item[i].name) == i;
    int other = cp_batch_find(b, a->item[j].name) == j;
    if (stays) {
        return b->item[i].n_runs == a->item[i].n_runs &&
               item_place(a, i, position) == item_place(b, i, position);
    }
    return a->item[i].n_users == 0 && (!other || a->item[j].n_users > 0 || b->item[j].n_users > 0 ||
                                       a->item[j].taken >= a->item[i].taken);
}

int main(void) {
    struct cp_batch batch;
    any_valid_batch(&batch);
    STEP(&batch);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The executable invariant of a batch: BATCH-1 to BATCH-3. Each check comes after those that make
 * its own array accesses safe. */
#include <limits.h>
#include <stddef.h>

#include "batch_internal.h"

/* ---- BATCH-1 ---- */

static int sizes_are_valid(const struct cp_batch *batch) {
    return 1 <= batch->chunk_size && batch->chunk_size <= CP_MAX_CHUNK_SIZE &&
           0 <= batch->n_items && batch->n_items <= CP_MAX_ITEMS && 0 <= batch->n_prompts &&
           batch->n_prompts <= CP_MAX_SEQUENCES;
}

static int run_is_valid(const struct cp_batch *batch, struct cp_run run) {
    return 0 <= run.chunk && run.chunk < batch->pool.capacity && 1 <= run.n_tokens &&
           run.n_tokens <= batch->chunk_size && 0 <= run.position &&
           run.position <= INT_MAX - run.n_tokens;
}

/* Runs in range, no two of which have a position in common. */
static int runs_are_valid(const struct cp_batch *batch, const struct cp_run *run, int n_runs) {
    for (int k = 0; k < n_runs; k++) {
        if (!run_is_valid(batch, run[k]) || !cp_runs_have_room(run, k, cp_span_of(run[k]))) {
            return 0;
        }
    }
    return 1;
}

static int items_are_valid(const struct cp_batch *batch) {
    for (int i = 0; i < batch->n_items; i++) {
        const struct cp_item *item = &batch->item[i];
        if (item->n_runs < 0 || item->n_runs > CP_MAX_DEPTH ||
            !runs_are_valid(batch, batch->runs[i].run, item->n_runs) ||
            (item->n_runs > 0 && cp_batch_find(batch, item->name) != i)) {
            return 0;
        }
    }
    return 1;
}

/* Are the items of a prompt there, and all its runs not too many? Each item has one or more, so
 * that it has no more items than runs. */
static int lists_are_valid(const struct cp_batch *batch, const struct cp_prompt *prompt) {
    if (prompt->n_items < 0 || prompt->n_items > CP_MAX_DEPTH || prompt->n_own < 0 ||
        prompt->n_own > CP_MAX_DEPTH) {
        return 0;
    }
    long long n = prompt->n_own;
    for (int i = 0; i < prompt->n_items; i++) {
        int item = prompt->item[i];
        if (item < 0 || item >= batch->n_items || batch->item[item].n_runs == 0) {
            return 0;
        }
        n += batch->item[item].n_runs;
    }
    return n <= CP_MAX_DEPTH;
}

/* Has item number i of a prompt no position of the items before it, nor of its own runs? */
static int item_is_apart(const struct cp_batch *batch, const struct cp_prompt *prompt, int i) {
    int item = prompt->item[i];
    for (int k = 0; k < batch->item[item].n_runs; k++) {
        struct cp_span span = cp_span_of(batch->runs[item].run[k]);
        for (int j = 0; j < i; j++) {
            int other = prompt->item[j];
            if (!cp_runs_have_room(batch->runs[other].run, batch->item[other].n_runs, span)) {
                return 0;
            }
        }
        if (!cp_runs_have_room(prompt->own, prompt->n_own, span)) {
            return 0;
        }
    }
    return 1;
}

static int tokens_of(const struct cp_run *run, int n_runs) {
    int n = 0;
    for (int k = 0; k < n_runs; k++) {
        n += run[k].n_tokens;
    }
    return n;
}

static int prompt_is_valid(const struct cp_batch *batch, const struct cp_prompt *prompt) {
    if (!lists_are_valid(batch, prompt) || !runs_are_valid(batch, prompt->own, prompt->n_own)) {
        return 0;
    }
    int n_tokens = tokens_of(prompt->own, prompt->n_own);
    for (int i = 0; i < prompt->n_items; i++) {
        int item = prompt->item[i];
        if (!item_is_apart(batch, prompt, i)) {
            return 0;
        }
        n_tokens += tokens_of(batch->runs[item].run, batch->item[item].n_runs);
    }
    return prompt->n_tokens == n_tokens;
}

static int prompts_are_valid(const struct cp_batch *batch) {
    for (int p = 0; p < batch->n_prompts; p++) {
        if (!prompt_is_valid(batch, &batch->prompt[p])) {
            return 0;
        }
    }
    return 1;
}

/* ---- BATCH-2 ---- */

/* Is each of these runs that of its chunk's owner? Then no two runs have one chunk. */
static int runs_are_owned(const struct cp_batch *batch, int owner, const struct cp_run *run,
                          int n_runs) {
    for (int k = 0; k < n_runs; k++) {
        int chunk = run[k].chunk;
        if (!cp_pool_is_used(&batch->pool, chunk) || batch->owner[chunk].owner != owner ||
            batch->owner[chunk].run != k) {
            return 0;
        }
    }
    return 1;
}

/* Are as many chunks in use as there are runs? */
static int chunks_are_owned(const struct cp_batch *batch) {
    long long n_runs = 0;
    for (int i = 0; i < batch->n_items; i++) {
        if (!runs_are_owned(batch, i, batch->runs[i].run, batch->item[i].n_runs)) {
            return 0;
        }
        n_runs += batch->item[i].n_runs;
    }
    for (int p = 0; p < batch->n_prompts; p++) {
        if (!runs_are_owned(batch, -1 - p, batch->prompt[p].own, batch->prompt[p].n_own)) {
            return 0;
        }
        n_runs += batch->prompt[p].n_own;
    }
    return n_runs == batch->pool.capacity - batch->pool.n_free;
}

/* ---- BATCH-3 ---- */

/* An item that a prompt had twice would have its positions twice (BATCH-1). */
static int users_of(const struct cp_batch *batch, int item) {
    int n = 0;
    for (int p = 0; p < batch->n_prompts; p++) {
        for (int i = 0; i < batch->prompt[p].n_items; i++) {
            n += batch->prompt[p].item[i] == item;
        }
    }
    return n;
}

static int users_are_counted(const struct cp_batch *batch) {
    for (int i = 0; i < batch->n_items; i++) {
        if (batch->item[i].n_runs > 0 && batch->item[i].n_users != users_of(batch, i)) {
            return 0;
        }
    }
    return 1;
}

const char *cp_batch_check(const struct cp_batch *batch) {
    const char *broken = cp_pool_check(&batch->pool);
    if (broken != NULL) {
        return broken;
    }
    if (!sizes_are_valid(batch) || !items_are_valid(batch) || !prompts_are_valid(batch)) {
        return "BATCH-1";
    }
    if (!chunks_are_owned(batch)) {
        return "BATCH-2";
    }
    return users_are_counted(batch) ? NULL : "BATCH-3";
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Where new entries stand in a cache. A row of attention sees all keys up to its own slot, so what
 * it must not see has to stand behind it:
 *
 *    before   slot      0  1  2  3  4       n new: 12, 13
 *             position  30 10 31 11 14
 *    after    slot      0  1  2  3  4  5  6
 *             position  10 11 12 13 14 30 31
 *
 * Entries before the first new position stay in their order. Those behind it are put in order of
 * position, with the new ones among them. */
#include <string.h>

#include "opt/decoder_internal.h"

static int numbers_are_valid(const struct cp_opt_decoder *f, const struct cp_opt_cache *cache,
                             const struct cp_opt_decoder_call *call) {
    const struct cp_decoder_shape *shape = &f->decoder->shape;
    if (call->token == NULL || call->position == NULL || call->n_new < 1 ||
        call->n_new > f->most_new || call->first_logits < 0 || call->first_logits > call->n_new ||
        cache->n < 0 || cache->n > cache->capacity || cache->k == NULL || cache->v == NULL ||
        cache->position == NULL) {
        return 0;
    }
    for (int i = 0; i < call->n_new; i++) {
        int p = call->position[i];
        if (call->token[i] < 0 || call->token[i] >= shape->n_vocab ||
            (i > 0 && p <= call->position[i - 1]) ||
            (shape->positions == CP_POSITIONS_LEARNED && (p < 0 || p >= shape->n_positions))) {
            return 0;
        }
    }
    return 1;
}

/* Entry i of the first n of a heap goes down to its place: none stands below one of a lower
 * position. */
static void sink(const int *position, int *entry, int i, int n) {
    int e = entry[i];
    while (i < n / 2) {
        int child = 2 * i + 1;
        child += child + 1 < n && position[entry[child + 1]] > position[entry[child]];
        if (position[entry[child]] <= position[e]) {
            break;
        }
        entry[i] = entry[child];
        i = child;
    }
    entry[i] = e;
}

/* In order of position, in place: a cache may have any order, and a million entries. */
static void sort(const int *position, int *entry, int n) {
    for (int i = n / 2 - 1; i >= 0; i--) {
        sink(position, entry, i, n);
    }
    for (int last = n - 1; last > 0; last--) {
        int e = entry[last];
        entry[last] = entry[0];
        entry[0] = e;
        sink(position, entry, 0, last);
    }
}

/* Cached entries behind the first new position, in order. Returns how many. */
static int find_behind(const struct cp_opt_decoder *f, const struct cp_opt_cache *cache,
                       const struct cp_opt_decoder_call *call) {
    int n = 0;
    for (int e = 0; e < cache->n; e++) {
        if (cache->position[e] >= call->position[0]) {
            f->behind[n++] = e;
        }
    }
    sort(cache->position, f->behind, n);
    return n;
}

/* Gives each entry its slot. 0: a new position is taken. */
static int find_slots(const struct cp_opt_decoder *f, const struct cp_opt_cache *cache,
                      const struct cp_opt_decoder_call *call, int n_behind) {
    int slot = 0, b = 0;
    for (int e = 0; e < cache->n; e++) {
        if (cache->position[e] < call->position[0]) {
            f->slot_of_old[e] = slot++;
        }
    }
    for (int i = 0; i < call->n_new; i++) {
        for (; b < n_behind && cache->position[f->behind[b]] < call->position[i]; b++) {
            f->slot_of_old[f->behind[b]] = slot++;
        }
        if (b < n_behind && cache->position[f->behind[b]] == call->position[i]) {
            return 0;
        }
        f->slot_of_new[i] = slot++;
    }
    for (; b < n_behind; b++) {
        f->slot_of_old[f->behind[b]] = slot++;
    }
    return 1;
}

/* Moves the numbers of one layer and head. */
static void move_numbers(const struct cp_opt_decoder *f, const struct cp_opt_cache *cache,
                         float *numbers, int l, int g) {
    const struct cp_decoder_shape *shape = &f->decoder->shape;
    size_t d = (size_t)shape->d_head;
    for (int e = 0; e < cache->n; e++) {
        memcpy(f->moved + (size_t)e * d, numbers + cp_opt_entry_at(shape, cache, l, e, g),
               d * sizeof *numbers);
    }
    for (int e = 0; e < cache->n; e++) {
        memcpy(numbers + cp_opt_entry_at(shape, cache, l, f->slot_of_old[e], g),
               f->moved + (size_t)e * d, d * sizeof *numbers);
    }
}

static void move(const struct cp_opt_decoder *f, struct cp_opt_cache *cache) {
    for (int l = 0; l < f->decoder->shape.n_layers; l++) {
        for (int g = 0; g < f->decoder->shape.n_kv_heads; g++) {
            move_numbers(f, cache, cache->k, l, g);
            move_numbers(f, cache, cache->v, l, g);
        }
    }
    memcpy(f->behind, cache->position, (size_t)cache->n * sizeof *f->behind);
    for (int e = 0; e < cache->n; e++) {
        cache->position[f->slot_of_old[e]] = f->behind[e];
    }
}

int cp_opt_decoder_place(const struct cp_opt_decoder *f, struct cp_opt_cache *cache,
                         const struct cp_opt_decoder_call *call) {
    if (f == NULL || cache == NULL || call == NULL || !numbers_are_valid(f, cache, call)) {
        return CP_ERROR_ARGUMENT;
    }
    if (cache->capacity != f->capacity || cache->chunk_size != f->chunk_size) {
        return CP_ERROR_SHAPE;
    }
    int n_behind = find_behind(f, cache, call);
    if (!find_slots(f, cache, call, n_behind)) {
        return CP_ERROR_ARGUMENT;
    }
    if (call->n_new > cache->capacity - cache->n) {
        return CP_ERROR_TOO_LONG;
    }
    if (n_behind > 0) {
        move(f, cache);
    }
    for (int i = 0; i < call->n_new; i++) {
        cache->position[f->slot_of_new[i]] = call->position[i];
    }
    cache->n += call->n_new;
    return CP_OK;
}

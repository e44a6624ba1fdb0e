/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/sizes.h"

#include <string.h>

const char *const gate_size_names[GATE_SIZES] = {
    "sequences",     "rows",     "all_rows", "keys",     "chunks",     "pool",     "sharers",
    "shared_chunks", "kv_heads", "group",    "head_dim", "chunk_size", "value_dim"};

const char *const gate_size_words[GATE_SIZES] = {"sequences",
                                                 "query rows of a sequence",
                                                 "query rows in all",
                                                 "keys of a sequence",
                                                 "chunks of a sequence",
                                                 "chunks of the pool",
                                                 "sequences of a shared chunk",
                                                 "shared chunks",
                                                 "K/V heads",
                                                 "query heads of a K/V head",
                                                 "numbers per head (d)",
                                                 "keys of a chunk (c)",
                                                 "numbers of a value (d_v)"};

const char *const gate_asked_names[GATE_ASKED] = {
    "sequences", "rows", "pool", "kv_heads", "group", "head_dim", "chunk_size", "value_dim"};

int gate_asked_is_least(enum gate_asked which) {
    return which <= GATE_ASKED_POOL;
}

static void raise(long long *largest, long long size) {
    *largest = size > *largest ? size : *largest;
}

void gate_sizes_tried(struct gate_sizes *sizes, const struct gate_problem *p) {
    const struct gate_recipe *r = &p->recipe;
    long long *largest = sizes->largest;
    raise(&largest[GATE_SEQUENCES], p->b);
    raise(&largest[GATE_ALL_ROWS], p->n_rows);
    raise(&largest[GATE_POOL], p->pool);
    raise(&largest[GATE_SHARED], p->n_shared);
    raise(&largest[GATE_KV_HEADS], r->n_kv_heads);
    raise(&largest[GATE_GROUP], r->n_heads / r->n_kv_heads);
    raise(&largest[GATE_D], r->head_dim);
    raise(&largest[GATE_C], r->chunk_size);
    raise(&largest[GATE_D_V], r->value_dim > 0 ? p->value_dim : 0);
    for (int s = 0; s < p->b; s++) {
        raise(&largest[GATE_ROWS], p->query_begin[s + 1] - p->query_begin[s]);
        raise(&largest[GATE_KEYS_OF], p->n_tokens[s]);
        raise(&largest[GATE_CHUNKS], (p->n_tokens[s] + r->chunk_size - 1) / r->chunk_size);
    }
    for (int i = 0; i < p->n_shared; i++) {
        raise(&largest[GATE_SHARERS], p->shared[i].end - p->shared[i].begin);
    }
}

/* Adds to the counts of a value; one that finds no room is not counted. */
static void count(struct gate_asked_of *asked, int value, long long taken, long long refused) {
    int i = 0;
    while (i < asked->n && asked->value[i] < value) {
        i++;
    }
    if (i == asked->n || asked->value[i] != value) {
        if (asked->n == GATE_ASKED_VALUES) {
            return;
        }
        size_t behind = (size_t)(asked->n - i);
        memmove(&asked->value[i + 1], &asked->value[i], behind * sizeof asked->value[0]);
        memmove(&asked->taken[i + 1], &asked->taken[i], behind * sizeof asked->taken[0]);
        memmove(&asked->refused[i + 1], &asked->refused[i], behind * sizeof asked->refused[0]);
        asked->value[i] = value;
        asked->taken[i] = asked->refused[i] = 0;
        asked->n++;
    }
    asked->taken[i] += taken;
    asked->refused[i] += refused;
}

/* The largest power of two that is not above it. */
static int power_of(int size) {
    int power = 1;
    while (power <= size / 2) {
        power *= 2;
    }
    return power;
}

void gate_sizes_asked(struct gate_sizes *sizes, const struct gate_recipe *r, int takes) {
    int b = r->sequences > 0 ? r->sequences : r->n_ops;
    const int size[GATE_ASKED] = {power_of(b),
                                  power_of(r->rows > 0 ? r->rows : 1),
                                  r->pool > 0 ? power_of(r->pool) : 0,
                                  r->n_kv_heads,
                                  r->n_heads / r->n_kv_heads,
                                  r->head_dim,
                                  r->chunk_size,
                                  r->value_dim};
    for (int i = 0; i < (r->value_dim > 0 ? GATE_ASKED : GATE_ASKED_D_V); i++) {
        count(&sizes->asked[i], size[i], takes, !takes);
    }
}

int gate_size_is_refused(const struct gate_asked_of *asked, int i) {
    return asked->taken[i] == 0 && asked->refused[i] > 0;
}

void gate_sizes_add(struct gate_sizes *all, const struct gate_sizes *one) {
    for (int i = 0; i < GATE_SIZES; i++) {
        raise(&all->largest[i], one->largest[i]);
    }
    for (int i = 0; i < GATE_ASKED; i++) {
        const struct gate_asked_of *asked = &one->asked[i];
        for (int j = 0; j < asked->n; j++) {
            count(&all->asked[i], asked->value[j], asked->taken[j], asked->refused[j]);
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A piece is a list of symbols, at first its bytes. A heap has the pairs of neighbours that have a
 * merge; the lowest rank is on top, of equal ranks the leftmost. A pair that has changed since it
 * came into the heap is known by its tokens, and skipped.
 *
 *     rank 0: l o -> lo; rank 1: lo w -> low
 *
 *     l o w l o      heap (0 at 0) (0 at 3)
 *     lo w l o       heap (0 at 3) (1 at 0)
 *     lo w lo        heap (1 at 0)
 *     low lo         heap empty: two tokens */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/model/header.h"
#include "cli/model/merge.h"

struct merge_symbol {
    uint32_t token;
    size_t before, after; /* neighbours, or NONE */
};

struct merge_candidate {
    uint32_t rank;
    size_t at; /* the left symbol */
};

#define NONE SIZE_MAX

/* ---- The table of merges ---- */

static size_t hash(uint32_t left, uint32_t right) {
    uint64_t x = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15ULL;
    return (size_t)(x ^ x >> 32);
}

/* The slot that has the pair, or the free one where it would be. */
static size_t slot_of(const struct merge *m, uint32_t left, uint32_t right) {
    size_t at = hash(left, right) & m->mask;
    while (m->slot[at] != 0) {
        const uint32_t *merge = m->tokens->merge[m->slot[at] - 1];
        if (merge[0] == left && merge[1] == right) {
            break;
        }
        at = (at + 1) & m->mask;
    }
    return at;
}

int merge_new(struct merge *merge, const struct weights_name *name,
              const struct weights_tokens *tokens) {
    size_t size = 2;
    uint32_t begin = 0;
    while (size < 2 * (size_t)tokens->n_merges) {
        size *= 2;
    }
    *merge = (struct merge){.tokens = tokens, .mask = size - 1};
    merge->slot = cli_allocate(NULL, size, sizeof *merge->slot);
    memset(merge->slot, 0, size * sizeof *merge->slot);
    for (int i = 0; i < tokens->n_merges; i++) {
        size_t at = slot_of(merge, tokens->merge[i][0], tokens->merge[i][1]);
        if (merge->slot[at] != 0) {
            uint32_t before = merge->slot[at] - 1;
            merge_free(merge);
            return header_refuse(name,
                                 "merges %u and %d are of the same two tokens; convert the model "
                                 "again",
                                 before, i);
        }
        merge->slot[at] = (uint32_t)i + 1;
    }
    for (int i = 0; i < 256; i++) {
        merge->of_byte[i] = -1;
    }
    for (int i = 0; i < tokens->n; begin = tokens->end[i++]) {
        if (!tokens->special[i] && tokens->end[i] - begin == 1) {
            merge->of_byte[(unsigned char)tokens->text[begin]] = i;
        }
    }
    return 0;
}

void merge_free(struct merge *merge) {
    free(merge->slot);
    free(merge->symbol);
    free(merge->heap);
    merge->slot = NULL;
    merge->symbol = NULL;
    merge->heap = NULL;
}

/* ---- The heap ---- */

static int is_before(struct merge_candidate a, struct merge_candidate b) {
    return a.rank < b.rank || (a.rank == b.rank && a.at < b.at);
}

static void push(struct merge *m, struct merge_candidate new) {
    size_t i = m->n_heap++;
    for (; i > 0 && is_before(new, m->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        m->heap[i] = m->heap[(i - 1) / 2];
    }
    m->heap[i] = new;
}

static struct merge_candidate pop(struct merge *m) {
    struct merge_candidate top = m->heap[0], last = m->heap[--m->n_heap];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < m->n_heap) {
        if (child + 1 < m->n_heap && is_before(m->heap[child + 1], m->heap[child])) {
            child++;
        }
        if (!is_before(m->heap[child], last)) {
            break;
        }
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = last;
    return top;
}

/* ---- A piece ---- */

/* A piece of n symbols has n - 1 pairs at first, and each of n - 1 merges at most makes two. */
static void make_room(struct merge *m, size_t n) {
    if (n > m->room) {
        m->symbol = cli_allocate(m->symbol, n, sizeof *m->symbol);
        m->heap = cli_allocate(m->heap, 3 * n, sizeof *m->heap);
        m->room = n;
    }
}

/* The merge of the symbol and the one behind it, or -1. */
static int64_t rank_at(const struct merge *m, size_t at) {
    const struct merge_symbol *left = &m->symbol[at];
    if (left->after == NONE) {
        return -1;
    }
    return (int64_t)m->slot[slot_of(m, left->token, m->symbol[left->after].token)] - 1;
}

static void consider(struct merge *m, size_t at) {
    int64_t rank = at == NONE ? -1 : rank_at(m, at);
    if (rank >= 0) {
        push(m, (struct merge_candidate){(uint32_t)rank, at});
    }
}

/* The symbol takes in the one behind it, which is then no part of the list: its token is none. */
static void join(struct merge *m, struct merge_candidate pair) {
    struct merge_symbol *left = &m->symbol[pair.at], *right = &m->symbol[left->after];
    left->token = m->tokens->merge[pair.rank][2];
    left->after = right->after;
    if (right->after != NONE) {
        m->symbol[right->after].before = pair.at;
    }
    *right = (struct merge_symbol){WEIGHTS_NO_TOKEN, NONE, NONE};
    consider(m, left->before);
    consider(m, pair.at);
}

size_t merge_piece(struct merge *merge, const char *text, size_t n, int *token, size_t *lost) {
    size_t n_symbols = 0, n_tokens = 0;
    make_room(merge, n);
    for (size_t i = 0; i < n; i++) {
        int32_t of_byte = merge->of_byte[(unsigned char)text[i]];
        *lost += of_byte < 0;
        if (of_byte >= 0) {
            size_t at = n_symbols++;
            merge->symbol[at] = (struct merge_symbol){(uint32_t)of_byte, at - 1, at + 1};
        }
    }
    if (n_symbols == 0) {
        return 0;
    }
    merge->symbol[0].before = NONE;
    merge->symbol[n_symbols - 1].after = NONE;
    merge->n_heap = 0;
    for (size_t i = 0; i < n_symbols; i++) {
        consider(merge, i);
    }
    while (merge->n_heap > 0) {
        struct merge_candidate best = pop(merge);
        if (rank_at(merge, best.at) == best.rank) {
            join(merge, best);
        }
    }
    for (size_t i = 0; i != NONE; i = merge->symbol[i].after) {
        token[n_tokens++] = (int)merge->symbol[i].token;
    }
    return n_tokens;
}

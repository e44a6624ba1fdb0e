/* SPDX-License-Identifier: Apache-2.0 */
/* The naive side: flat lists and searches over all of them, in loops with constant bounds. */
#include "model.h"

#include <limits.h>
#include <stddef.h>

/* Two bits, the lowest and the highest, out of two that stand side by side. */
static unsigned long long spread(unsigned long long bits) {
    return (bits & 1) | (bits >> 1 & 1) << 63;
}

/* Any function of a chunk's tokens: it stands for cp_tree_hash(), so that what is shown of the
 * operations holds for every hash, colliding ones included (TREE-15). */
unsigned long long __CPROVER_uninterpreted_hash(int, int, int);

unsigned long long any_hash(const int *token, int n, int bits) {
    _Static_assert(CP_MAX_CHUNK_SIZE <= 3, "any_hash takes up to three tokens");
    int t[3] = {0, 0, 0};
    (void)bits;
    for (int i = 0; i < CP_MAX_CHUNK_SIZE; i++) {
        if (i < n) {
            t[i] = token[i];
        }
    }
    return spread(__CPROVER_uninterpreted_hash(t[0], t[1], t[2]));
}

_Static_assert(CP_MAX_CHUNKS <= 7 && CP_MAX_SEQUENCES <= 6 && CP_MAX_DEPTH <= 3 &&
                   CP_MAX_CHUNK_SIZE <= 3,
               "the bits that any() is asked for below are enough");

int any(int bits) {
#ifdef WIDE
    (void)bits;
    return nondet_int();
#else
    return nondet_byte() & ((1 << bits) - 1);
#endif
}

int any_token(void) {
#ifdef WIDE
    return nondet_int();
#else
    return any(1) + (nondet_bool() ? INT_MIN : 0);
#endif
}

long long any_id(void) {
#ifdef WIDE
    return (long long)nondet_int();
#else
    return any(1) + (nondet_bool() ? LLONG_MIN : 0);
#endif
}

unsigned long long any_salt(void) {
#ifdef WIDE
    return nondet_count();
#else
    return spread(nondet_byte());
#endif
}

static void any_pool(struct cp_pool *pool) {
    pool->n_free = any(3);
#ifdef ONE_ORDER
    pool->capacity = CP_MAX_CHUNKS;
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        int chunk = (i + 2) % CP_MAX_CHUNKS; /* none at its own place */
        pool->perm[i] = chunk;
        pool->pos[chunk] = i;
    }
#else
    pool->capacity = any(3);
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        pool->perm[x] = any(3);
        pool->pos[x] = any(3);
    }
#endif
}

static void any_chunk(struct cp_tree *tree, int x) {
    tree->begin[x] = any(3);
    tree->end[x] = any(3);
    tree->depth[x] = any(2);
    tree->fill[x] = any(2);
    tree->hash[x] = any_salt();
    for (int i = 0; i < CP_MAX_CHUNK_SIZE; i++) {
        tree->tokens[x].token[i] = any_token();
    }
}

static void any_sequence(struct cp_sequence *row) {
    row->id = any_id();
    row->salt = any_salt();
    row->n_chunks = any(2);
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        row->chunk[k] = any(3);
    }
}

void any_tree(struct cp_tree *tree) {
    any_pool(&tree->pool);
    tree->chunk_size = any(2);
    tree->hash_bits = any(7);
    tree->n_sequences = any(3);
    tree->stamp.tree = nondet_count();
    tree->stamp.epoch = nondet_count();
    tree->stamp.step = nondet_count();
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        any_chunk(tree, x);
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        any_sequence(&tree->sequence[s]);
    }
}

#ifndef OPT /* else in opt_tree.c */
void any_valid_tree(struct cp_tree *tree) {
    any_tree(tree);
    tree->chunk_size = CHUNK_SIZE;
    __CPROVER_assume(tree->stamp.epoch < 1ULL << 63 && tree->stamp.step < 1ULL << 63);
    __CPROVER_assume(cp_tree_check(tree) == NULL);
#ifdef HASHES
    __CPROVER_assume(cp_tree_check_hashes(tree) == NULL);
#endif
}
#endif

void flat_read(const struct cp_tree *tree, struct flat *flat) {
    flat->n_sequences = tree->n_sequences;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        struct flat_sequence row = {0};
        if (s < tree->n_sequences) {
            row.id = tree->sequence[s].id;
            row.salt = tree->sequence[s].salt;
            row.n_chunks = tree->sequence[s].n_chunks;
        }
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            if (k < row.n_chunks) {
                int x = tree->sequence[s].chunk[k];
                row.chunk[k] = x;
                row.n_tokens += tree->fill[x];
                for (int i = 0; i < CP_MAX_CHUNK_SIZE; i++) {
                    if (i < tree->fill[x]) {
                        row.token[k * tree->chunk_size + i] = tree->tokens[x].token[i];
                    }
                }
            }
        }
        flat->sequence[s] = row;
    }
}

static int same_row(const struct flat_sequence *a, const struct flat_sequence *b) {
    int same = a->id == b->id && a->salt == b->salt && a->n_tokens == b->n_tokens &&
               a->n_chunks == b->n_chunks;
    for (int i = 0; i < MAX_TOKENS; i++) {
        same = same && a->token[i] == b->token[i];
    }
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        same = same && a->chunk[k] == b->chunk[k];
    }
    return same;
}

int flat_same(const struct flat *a, const struct flat *b) {
    int same = a->n_sequences == b->n_sequences;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        same = same && same_row(&a->sequence[s], &b->sequence[s]);
    }
    return same;
}

void flat_insert(struct flat *flat, int at, const struct flat_sequence *row) {
    for (int s = CP_MAX_SEQUENCES - 1; s > 0; s--) {
        if (s > at) {
            flat->sequence[s] = flat->sequence[s - 1];
        }
    }
    flat->sequence[at] = *row;
    flat->n_sequences++;
}

void flat_remove(struct flat *flat, int at) {
    struct flat_sequence none = {0};
    for (int s = 0; s < CP_MAX_SEQUENCES - 1; s++) {
        if (s >= at) {
            flat->sequence[s] = flat->sequence[s + 1];
        }
    }
    flat->sequence[CP_MAX_SEQUENCES - 1] = none;
    flat->n_sequences--;
}

int flat_match(const struct flat *flat, int s, const struct prompt *prompt, int chunk_size) {
    const struct flat_sequence *row = &flat->sequence[s];
    int same = 0; /* equal leading tokens */
    for (int i = 0; i < MAX_TOKENS; i++) {
        if (same == i && i < prompt->n_tokens && i < row->n_tokens &&
            row->token[i] == prompt->token[i]) {
            same++;
        }
    }
    return s < flat->n_sequences && row->salt == prompt->salt ? same / chunk_size : 0;
}

int flat_longest_match(const struct flat *flat, const struct prompt *prompt, int chunk_size) {
    int longest = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        int match = flat_match(flat, s, prompt, chunk_size);
        longest = match > longest ? match : longest;
    }
    return longest;
}

static int has(const struct flat_sequence *row, int chunk) {
    int found = 0;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        found = found || (k < row->n_chunks && row->chunk[k] == chunk);
    }
    return found;
}

int flat_owners(const struct flat *flat, int chunk) {
    int owners = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        owners += has(&flat->sequence[s], chunk);
    }
    return owners;
}

int flat_end(const struct flat *flat, int chunk) {
    int end = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        end = has(&flat->sequence[s], chunk) ? s + 1 : end;
    }
    return end;
}

int flat_free_chunks(const struct flat *flat, int capacity) {
    int n_free = 0;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        n_free += x < capacity && flat_owners(flat, x) == 0;
    }
    return n_free;
}

int prompt_token[MAX_TOKENS];
static unsigned long long prompt_hash[CP_MAX_DEPTH];

void any_prompt(struct prompt *prompt, const struct cp_tree *tree) {
    prompt->token = prompt_token;
    prompt->chunk_hash = prompt_hash;
    prompt->n_tokens = nondet_int();
    for (int i = 0; i < MAX_TOKENS; i++) {
        prompt->token[i] = any_token();
    }
    prompt->salt = any_salt();
    prompt->hash = NULL;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        prompt->chunk_hash[k] = nondet_count();
    }
#ifdef HASHES
    if (nondet_bool()) {
        prompt->hash = prompt->chunk_hash;
        if (prompt->n_tokens <= tree->chunk_size * CP_MAX_DEPTH) {
            cp_tree_hash_prompt(tree, prompt->token, prompt->n_tokens, prompt->chunk_hash);
        }
    }
#endif
}

static int same_pool(const struct cp_pool *a, const struct cp_pool *b) {
    int same = a->capacity == b->capacity && a->n_free == b->n_free;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        same = same && a->perm[x] == b->perm[x] && a->pos[x] == b->pos[x];
    }
    return same;
}

static int same_chunk(const struct cp_tree *a, const struct cp_tree *b, int x) {
    int same = a->begin[x] == b->begin[x] && a->end[x] == b->end[x] && a->depth[x] == b->depth[x] &&
               a->fill[x] == b->fill[x] && a->hash[x] == b->hash[x];
    for (int i = 0; i < CP_MAX_CHUNK_SIZE; i++) {
        same = same && a->tokens[x].token[i] == b->tokens[x].token[i];
    }
    return same;
}

static int same_sequence(const struct cp_sequence *a, const struct cp_sequence *b) {
    int same = a->id == b->id && a->salt == b->salt && a->n_chunks == b->n_chunks;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        same = same && a->chunk[k] == b->chunk[k];
    }
    return same;
}

int tree_same(const struct cp_tree *a, const struct cp_tree *b) {
    int same = same_pool(&a->pool, &b->pool) && a->chunk_size == b->chunk_size &&
               a->hash_bits == b->hash_bits && a->n_sequences == b->n_sequences &&
               a->stamp.tree == b->stamp.tree && a->stamp.epoch == b->stamp.epoch &&
               a->stamp.step == b->stamp.step;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        same = same && same_chunk(a, b, x);
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        same = same && same_sequence(&a->sequence[s], &b->sequence[s]);
    }
    return same;
}

void check_status(int status, int errors) {
    CHECK("fails only for a documented reason", (status == CP_OK) == (errors == 0));
    CHECK("names a reason that holds", status == CP_OK || (errors >> status & 1) == 1);
}

void check_invariant(const struct cp_tree *tree) {
    CHECK("the tree is valid again", cp_tree_check(tree) == NULL);
#ifdef HASHES
    CHECK("TREE-15: the hashes are right again", cp_tree_check_hashes(tree) == NULL);
#endif
}

void check_stamp(const struct cp_tree *tree, const struct cp_tree *old, int epochs, int steps) {
    CHECK("PLAN-5: stamp", tree->stamp.tree == old->stamp.tree &&
                               tree->stamp.epoch == old->stamp.epoch + (unsigned long long)epochs &&
                               tree->stamp.step == old->stamp.step + (unsigned long long)steps);
}

int plan_same_descriptors(const struct cp_plan *a, const struct cp_plan *b) {
    int same = a->n_shared == b->n_shared;
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        const struct cp_shared_chunk *x = &a->shared[i], *y = &b->shared[i];
        same = same && (i >= a->n_shared ||
                        (x->chunk == y->chunk && x->begin == y->begin && x->end == y->end &&
                         x->n_tokens == y->n_tokens && x->position == y->position));
    }
    return same;
}

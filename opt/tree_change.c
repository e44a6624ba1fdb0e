/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences come, grow and go (TREE-8 to TREE-13). */
#include <string.h>

#include "chunkproof/status.h"
#include "tree_internal.h"

/* ---- Lookup ---- */

/* Is the range of chunk a before that of b? They cover no sequence in common. */
static int is_before(const struct cp_opt_tree *tree, int a, int b) {
    return cp_opt_tree_index(tree, tree->chunk[a].first) <
           cp_opt_tree_index(tree, tree->chunk[b].first);
}

/* The k-th chunk of sequence s, if it is full, has these tokens and no twin, else -1: then nothing
 * else can be meant. */
static int guess(const struct cp_opt_tree *tree, int s, int k, const int *token) {
    int n_full = tree->sequence[s].n_chunks - (tree->sequence[s].room > 0);
    if (k >= n_full) {
        return -1;
    }
    if (k + 3 < n_full) {
        PREFETCH(&tree->chunk[chunk_of(tree, s, k + 3)]);
        PREFETCH(tokens_of(tree, chunk_of(tree, s, k + 3)));
    }
    int x = chunk_of(tree, s, k);
    size_t bytes = (size_t)tree->sizes.chunk_size * sizeof *token;
    return !tree->chunk[x].has_twin && memcmp(tokens_of(tree, x), token, bytes) == 0 ? x : -1;
}

/* A full child of `at`, or a root for -1, with these tokens, or -1. */
static int find_child(const struct cp_opt_tree *tree, int at, unsigned long long salt,
                      const int *token) {
    unsigned long long hash = cp_opt_hash(tree, token);
    int head = tree->bucket[cp_opt_bucket(tree, at, salt, hash)] - 1;
    return cp_opt_find(tree, head, at, salt, hash, token);
}

/* The next chunk after `at` in its bucket with the same parent and tokens, or -1. */
static int find_twin(const struct cp_opt_tree *tree, int at, unsigned long long salt,
                     const int *token) {
    return tree->chunk[at].has_twin
               ? cp_opt_find(tree, tree->chunk[at].next, tree->chunk[at].parent, salt,
                             tree->chunk[at].hash, token)
               : -1;
}

/* Finds the last chunk of the longest match, and its length: depth first, over all chunks that
 * match. There is one at each depth, except for twins. A prompt that has a chunk of a sequence
 * usually continues with the next chunk of that sequence, which is faster to find than by its
 * hash. */
static int longest_match(const struct cp_opt_tree *tree, const int *token, int n_full,
                         unsigned long long salt, int *n_chunks) {
    size_t c = (size_t)tree->sizes.chunk_size;
    int best = -1, at = -1, k = 0;
    *n_chunks = 0;
    do {
        for (; k < n_full; k++) {
            int child = at < 0 ? -1 : guess(tree, tree->chunk[at].first, k, token + (size_t)k * c);
            if (child < 0) {
                child = find_child(tree, at, salt, token + (size_t)k * c);
            }
            if (child < 0) {
                break;
            }
            at = child;
        }
        if (k > *n_chunks || (k > 0 && k == *n_chunks && is_before(tree, at, best))) {
            best = at;
            *n_chunks = k;
        }
        int twin = -1;
        while (at >= 0 && twin < 0) {
            twin = find_twin(tree, at, salt, token + (size_t)(k - 1) * c);
            at = twin >= 0 ? twin : tree->chunk[at].parent;
            k -= twin < 0;
        }
    } while (at >= 0);
    return best;
}

struct cp_match cp_opt_tree_lookup(const struct cp_opt_tree *tree, const int *token, int n_tokens,
                                   unsigned long long salt) {
    struct cp_match match = {0, 0, -1};
    int c = tree->sizes.chunk_size;
    int chunk = longest_match(tree, token, n_tokens / c, salt, &match.n_chunks);
    if (chunk >= 0) {
        match.n_tokens = match.n_chunks * c;
        match.sequence = tree->chunk[chunk].first;
    }
    return match;
}

/* ---- Parts ---- */

/* Notes for plans what has come, or what is about to leave. */
static void note(struct cp_opt_tree *tree, struct cp_opt_change change) {
    tree->change[tree->shape % CP_OPT_CHANGES] = change;
    tree->shape++;
}

/* Makes a new sequence right after the sequence `behind`, with the first n chunks of it, which
 * are full. From depth n on, `behind` is the last sequence of each chunk on its path. If there
 * is no sequence, `behind` is -1 and n is 0. Returns the handle. */
static int new_sequence(struct cp_opt_tree *tree, int behind, int n, long long id,
                        unsigned long long salt) {
    struct cp_opt_sequence *sequence = tree->sequence;
    int s = tree->free_sequence;
    if (s >= 0) {
        tree->free_sequence = sequence[s].next;
    } else {
        s = tree->fresh_sequence++;
    }
    int joint = -1, n_known = n;
    if (n > 0) {
        memcpy(path_of(tree, s), path_of(tree, behind), (size_t)n * sizeof *tree->path);
        joint = chunk_of(tree, s, n - 1);
        if (tree->chunk[joint].first == tree->chunk[joint].last) { /* private until now */
            n_known = sequence[behind].n_shared;
            sequence[behind].n_shared = n;
            sequence[behind].joint = joint;
        }
        /* Ranges nest: if a chunk's range continues past `behind`, so do all above. */
        for (int k = n - 1; k >= 0 && tree->chunk[chunk_of(tree, s, k)].last == behind; k--) {
            tree->chunk[chunk_of(tree, s, k)].last = s;
        }
    }
    cp_opt_insert(tree, s, behind);
    sequence[s].id = id;
    sequence[s].salt = salt;
    sequence[s].n_chunks = n;
    sequence[s].room = 0;
    sequence[s].n_shared = n;
    sequence[s].joint = joint;
    sequence[s].tail = joint;
    sequence[s].marked = 0;
    tree->n_sequences++;
    tree->stamp.epoch++;
    note(tree, (struct cp_opt_change){s, cp_opt_tree_index(tree, s), n_known, n});
    return s;
}

/* Adds a last chunk with n >= 1 tokens to sequence s, whose chunks are full. There is a free
 * chunk. If the new chunk is full, the caller still has to list it. */
static int push_chunk(struct cp_opt_tree *tree, int s, const int *token, int n) {
    int x = tree->free_chunk;
    if (x >= 0) {
        tree->free_chunk = tree->chunk[x].next;
    } else {
        x = tree->fresh_chunk++;
    }
    tree->n_free--;
    tree->chunk[x].parent = tree->sequence[s].n_chunks > 0 ? tree->sequence[s].tail : -1;
    tree->chunk[x].first = tree->chunk[x].last = s;
    tree->chunk[x].depth = (unsigned)tree->sequence[s].n_chunks;
    tree->chunk[x].has_twin = 0;
    tree->chunk[x].next = tree->chunk[x].previous = -1;
    memcpy(tokens_of(tree, x), token, (size_t)n * sizeof *token);
    tree->path[(size_t)s * (size_t)tree->sizes.max_depth + (size_t)tree->sequence[s].n_chunks] = x;
    tree->sequence[s].n_chunks++;
    tree->sequence[s].tail = x;
    tree->sequence[s].room = tree->sizes.chunk_size - n;
    if (tree->sequence[s].room == 0) {
        cp_opt_hash_chunk(tree, x, tree->sequence[s].salt);
    }
    return x;
}

/* ---- Operations ---- */

int cp_opt_tree_join(struct cp_opt_tree *tree, const int *token, int n_tokens,
                     unsigned long long salt, long long id, struct cp_joined *joined) {
    int c = tree->sizes.chunk_size, n;
    CHECK_TREE(tree);
    if (n_tokens < 0) {
        return CP_ERROR_ARGUMENT;
    }
    int n_chunks = chunks_for(tree, n_tokens);
    if (n_chunks > tree->sizes.max_depth) {
        return CP_ERROR_TOO_LONG;
    }
    if (tree->n_sequences == tree->sizes.max_sequences) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    int chunk = longest_match(tree, token, n_tokens / c, salt, &n);
    if (n_chunks - n > tree->n_free) {
        return CP_ERROR_POOL_FULL;
    }
    int s = new_sequence(tree, n > 0 ? tree->chunk[chunk].last : tree->last, n, id, salt);
    for (int k = n; k < n_chunks; k++) {
        int at = k * c;
        push_chunk(tree, s, token + at, n_tokens - at < c ? n_tokens - at : c);
    }
    for (int k = n; k < n_tokens / c; k++) {
        cp_opt_list(tree, path_of(tree, s)[k]);
    }
    joined->sequence = s;
    joined->n_shared = n * c;
    CHECK_TREE(tree);
    return CP_OK;
}

static void append_one(struct cp_opt_tree *tree, int s, int token) {
    if (tree->sequence[s].room == 0) {
        push_chunk(tree, s, &token, 1);
        tree->stamp.epoch++;
    } else {
        tokens_of(tree, tree->sequence[s].tail)[tree->sizes.chunk_size - tree->sequence[s].room] =
            token;
        tree->sequence[s].room--;
        if (tree->sequence[s].room == 0) {
            cp_opt_hash_chunk(tree, tree->sequence[s].tail, tree->sequence[s].salt);
        }
    }
    if (tree->sequence[s].room == 0) {
        cp_opt_list(tree, tree->sequence[s].tail);
    }
}

/* Counts the chunks that a token for each of the sequences takes, and marks those looked at,
 * *n_marked. */
static int count_needed(struct cp_opt_tree *tree, int n, const int *sequence, int *n_marked,
                        int *needed) {
    for (int i = 0; i < n; i++) {
        int s = sequence[i];
        if (!cp_opt_tree_is_alive(tree, s) || tree->sequence[s].marked) {
            return CP_ERROR_ARGUMENT;
        }
        tree->sequence[s].marked = 1;
        *n_marked = i + 1;
        if (tree->sequence[s].room == 0) {
            if (tree->sequence[s].n_chunks == tree->sizes.max_depth) {
                return CP_ERROR_TOO_LONG;
            }
            ++*needed;
        }
    }
    return *needed > tree->n_free ? CP_ERROR_POOL_FULL : CP_OK;
}

int cp_opt_tree_append_each(struct cp_opt_tree *tree, int n, const int *sequence,
                            const int *token) {
    int n_marked = 0, needed = 0;
    CHECK_TREE(tree);
    if (n < 0) {
        return CP_ERROR_ARGUMENT;
    }
    int status = count_needed(tree, n, sequence, &n_marked, &needed);
    for (int i = 0; i < n_marked; i++) {
        tree->sequence[sequence[i]].marked = 0;
        if (status == CP_OK) {
            append_one(tree, sequence[i], token[i]);
        }
    }
    tree->stamp.step += status == CP_OK;
    CHECK_TREE(tree);
    return status;
}

int cp_opt_tree_append(struct cp_opt_tree *tree, int sequence, int token) {
    return cp_opt_tree_append_each(tree, 1, &sequence, &token);
}

/* The last chunk first, so that the first one is the next to be taken: as in the reference. */
static void release_own(struct cp_opt_tree *tree, int s) {
    for (int k = tree->sequence[s].n_chunks - 1; k >= tree->sequence[s].n_shared; k--) {
        int x = chunk_of(tree, s, k);
        if (tree->chunk[x].previous != -1) {
            cp_opt_unlist(tree, x);
        }
        tree->chunk[x].first = -1;
        tree->chunk[x].next = tree->free_chunk;
        tree->free_chunk = x;
        tree->n_free++;
    }
}

int cp_opt_tree_leave(struct cp_opt_tree *tree, int s) {
    struct cp_opt_sequence *sequence = tree->sequence;
    CHECK_TREE(tree);
    if (!cp_opt_tree_is_alive(tree, s)) {
        return CP_ERROR_ARGUMENT;
    }
    release_own(tree, s);
    for (int k = sequence[s].n_shared - 1; k >= 0; k--) {
        int x = chunk_of(tree, s, k);
        if (tree->chunk[x].first == s) {
            tree->chunk[x].first = sequence[s].next;
        } else if (tree->chunk[x].last == s) {
            tree->chunk[x].last = sequence[s].previous;
        } else {
            break; /* inside of its range, and inside of all above */
        }
        if (tree->chunk[x].first ==
            tree->chunk[x].last) { /* private now; the same sequence has all of these chunks */
            sequence[tree->chunk[x].first].n_shared = k;
            sequence[tree->chunk[x].first].joint = k > 0 ? chunk_of(tree, s, k - 1) : -1;
        }
    }
    note(tree, (struct cp_opt_change){-1, cp_opt_tree_index(tree, s), 0, 0});
    cp_opt_remove(tree, s);
    sequence[s].next = tree->free_sequence;
    tree->free_sequence = s;
    tree->n_sequences--;
    tree->stamp.epoch++;
    CHECK_TREE(tree);
    return CP_OK;
}

int cp_opt_tree_fork(struct cp_opt_tree *tree, int s, long long id, struct cp_forked *forked) {
    CHECK_TREE(tree);
    if (!cp_opt_tree_is_alive(tree, s)) {
        return CP_ERROR_ARGUMENT;
    }
    if (tree->n_sequences == tree->sizes.max_sequences) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    int partial = tree->sequence[s].room > 0;
    if (partial && tree->n_free == 0) {
        return CP_ERROR_POOL_FULL;
    }
    forked->copy_from = forked->copy_to = -1;
    forked->sequence =
        new_sequence(tree, s, tree->sequence[s].n_chunks - partial, id, tree->sequence[s].salt);
    if (partial) {
        forked->copy_from = tree->sequence[s].tail;
        forked->copy_to = push_chunk(tree, forked->sequence, tokens_of(tree, forked->copy_from),
                                     tree->sizes.chunk_size - tree->sequence[s].room);
    }
    CHECK_TREE(tree);
    return CP_OK;
}

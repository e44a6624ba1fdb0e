/* SPDX-License-Identifier: Apache-2.0 */
/* The prefix tree for a serving engine (opt/README.md). Clause by clause (spec/tree.md) its
 * functions do what cp_tree_*() of tree.h do. The cost of an operation does not grow with the
 * number of sequences that have nothing in common with the one at hand.
  * What differs for the caller:
 *   - The caller chooses the sizes when it makes a tree (struct cp_opt_sizes). This is one
 *     allocation, and nothing is allocated afterwards.
 *   - A sequence has a handle, 0 .. max_sequences-1, which it keeps until it leaves; then another
 *     sequence may get it. `sequence` in every argument and result is a handle.
 *     cp_opt_tree_index() gives its index, which moves when sequences come and go.
 *   - One append may list its sequences in any order, each once. They get new chunks in that order.
 *
 * Callers may read all fields, and change them only through the functions below.
 *
 * In the costs below, m is the number of chunks that are looked up, copied or released, and b the
 * number of sequences alive. They are expected costs. They hold when chunks are spread over the
 * buckets as if at random, which a secret seed ensures, and so are the heights of the search
 * tree. */
#ifndef CHUNKPROOF_OPT_TREE_H
#define CHUNKPROOF_OPT_TREE_H

#include <stddef.h>

#include "chunkproof/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Upper bounds: chunks and sequences of a tree; tokens of a path. */
#define CP_OPT_MOST        (1 << 28)
#define CP_OPT_MOST_TOKENS (1 << 30)

/* What a tree has room for. */
struct cp_opt_sizes {
    int capacity;      /* chunks in the pool, 1 .. CP_OPT_MOST */
    int chunk_size;    /* c >= 1 */
    int max_sequences; /* alive at once, 1 .. CP_OPT_MOST */
    int max_depth;     /* chunks on a path, >= 1; max_depth * chunk_size <= CP_OPT_MOST_TOKENS */
    int hash_bits;     /* width of the chunk hashes, 0 .. 64: use 64; with fewer they collide */
    unsigned long long seed; /* of the hashes: any number, secret from those who write prompts */
};

/* A chunk. Partial chunks and free chunks are in no bucket. Twins: TREE-10. */
struct cp_opt_chunk {
    int parent; /* the chunk above, -1 at depth 0 */
    int first;  /* the first sequence that it covers, in their order; -1: the chunk is free */
    int last;   /* the last sequence that it covers */
    unsigned depth : 31;
    /* 0: no chunk is its twin, a full chunk with the same parent (or salt) and tokens. */
    unsigned has_twin : 1;
    int next;     /* in its bucket, or on the list of free chunks; -1: none */
    int previous; /* in its bucket; -2 - bucket: it is the first there; -1: in no bucket */
    unsigned long long hash; /* of the tokens of a full chunk */
};

struct cp_opt_sequence {
    long long id;
    unsigned long long salt;
    int n_chunks;
    int room; /* tokens that its last chunk still takes, 0 .. c-1: length = n_chunks * c - room */
    int n_shared;        /* how many of its chunks, from the first, cover other sequences too */
    int joint;           /* the last of these, or -1 */
    int previous;        /* in the order of sequences, -1: none */
    int next;            /* likewise; for a free handle: the next free handle */
    int left, right, up; /* in the search tree of that order */
    int size;   /* sequences in its subtree there, itself included; 0: the handle is free */
    int marked; /* 1: the append at hand has met it; else 0 */
    int tail;   /* its last chunk; meaningless without chunks */
};

/* A join, fork or leave, from which a plan is brought up to date. */
struct cp_opt_change {
    int sequence; /* the one that came; -1: one left */
    int index;    /* where it came or left */
    int n_known;  /* of one that came: how many of its first chunks were shared before, */
    int n_shared; /* and how many are now */
};

#define CP_OPT_CHANGES 16 /* how many a tree keeps */

struct cp_opt_tree {
    struct cp_opt_sizes sizes;
    struct cp_stamp stamp;
    unsigned long long shape; /* +1 for each change of the order or of a range: join, leave, fork */
    /* The last changes: the one that made shape x + 1 is at x % CP_OPT_CHANGES. */
    struct cp_opt_change change[CP_OPT_CHANGES];
    int n_free;        /* chunks */
    int n_sequences;   /* b */
    int free_chunk;    /* the next free chunk: the one released last; -1: none, then */
    int fresh_chunk;   /* the lowest that was never used */
    int free_sequence; /* the same for handles */
    int fresh_sequence;
    int first, last;                  /* sequences, -1: none */
    int root;                         /* of their search tree */
    int n_buckets;                    /* a power of two */
    struct cp_opt_chunk *chunk;       /* [capacity] */
    int *token;                       /* [capacity][c] */
    struct cp_opt_sequence *sequence; /* [max_sequences] */
    int *path;                        /* [max_sequences][max_depth]: the chunks of each sequence */
    int *bucket;             /* [n_buckets]: 1 + a full chunk with that hash and parent, or 0 */
    unsigned long long *key; /* [c rounded up to even]: the keys of the hash */
    size_t bytes;            /* bytes of the one allocation, this structure included */
};

/* An empty tree in memory of its own: about 40 + 4 c bytes for each chunk, and 64 + 4 max_depth for
 * each sequence. Only the memory that is used is touched (memory.h). On CP_OK the caller owns *tree
 * and gives it to cp_opt_tree_free(); otherwise *tree is NULL.
 * Fails with CP_ERROR_ARGUMENT (a size is out of its range), CP_ERROR_UNSUPPORTED (no name was
 * drawn), CP_ERROR_NO_MEMORY. */
int cp_opt_tree_new(struct cp_opt_tree **tree, const struct cp_opt_sizes *sizes);
void cp_opt_tree_free(struct cp_opt_tree *tree);

/* Makes the tree an empty one. The caller has set its sizes, n_buckets and arrays, and bucket[] to
 * 0; it also sets stamp.tree, the name. cp_opt_tree_new() calls this with its memory. */
void cp_opt_tree_init(struct cp_opt_tree *tree);

/* ---- Reading, in constant time unless the comment says otherwise ---- */

/* 1 when a sequence has this handle, else 0. `sequence` may be any number. */
int cp_opt_tree_is_alive(const struct cp_opt_tree *tree, int sequence);

/* Of a sequence that is alive: its number of tokens; its token k, 0 <= k < that number; its chunks,
 * in order. */
int cp_opt_tree_length(const struct cp_opt_tree *tree, int sequence);
int cp_opt_tree_token(const struct cp_opt_tree *tree, int sequence, int k);
const int *cp_opt_tree_path(const struct cp_opt_tree *tree, int sequence);

/* The index of a sequence that is alive; the sequence with an index, 0 <= index < n_sequences.
 * O(log b). */
int cp_opt_tree_index(const struct cp_opt_tree *tree, int sequence);
int cp_opt_tree_at(const struct cp_opt_tree *tree, int index);

/* The range [*begin, *end) of indices that a used chunk covers (TREE-1). O(log b). */
void cp_opt_tree_range(const struct cp_opt_tree *tree, int chunk, int *begin, int *end);

/* TREE-8: the longest match of a prompt of n_tokens >= 0, and the first sequence that has it (-1:
 * none). O(m). Of chunks with equal tokens and parent (TREE-10) all are visited, at O(log b) for
 * each tie. */
struct cp_match cp_opt_tree_lookup(const struct cp_opt_tree *tree, const int *token, int n_tokens,
                                   unsigned long long salt);

/* ---- Operations: all or nothing; a failure names the first reason in the order of TREE-13 ---- */

/* TREE-9. *joined is written on CP_OK. Costs a cp_opt_tree_lookup(), and O(m + log b). Fails with
 * CP_ERROR_ARGUMENT (n_tokens < 0), CP_ERROR_TOO_LONG, CP_ERROR_SEQUENCES_FULL,
 * CP_ERROR_POOL_FULL. */
int cp_opt_tree_join(struct cp_opt_tree *tree, const int *token, int n_tokens,
                     unsigned long long salt, long long id, struct cp_joined *joined);

/* TREE-10, for one sequence. O(1); O(c) for the token that fills a chunk.
 * Fails with CP_ERROR_ARGUMENT (no such sequence), CP_ERROR_TOO_LONG, CP_ERROR_POOL_FULL. */
int cp_opt_tree_append(struct cp_opt_tree *tree, int sequence, int token);

/* TREE-10, for n sequences, all or none. Also fails with CP_ERROR_ARGUMENT when n < 0 or a sequence
 * is listed twice. */
int cp_opt_tree_append_each(struct cp_opt_tree *tree, int n, const int *sequence, const int *token);

/* TREE-11. O(m + log b), where m counts the chunks released and the shared chunks in which the
 * sequence is the first or the last. Fails with CP_ERROR_ARGUMENT (no such sequence). */
int cp_opt_tree_leave(struct cp_opt_tree *tree, int sequence);

/* TREE-12. *forked is written on CP_OK; its sequence is a handle. The caller copies the first
 * cp_opt_tree_length() % c slots. O(length of the path + log b).
 * Fails with CP_ERROR_ARGUMENT (no such sequence), CP_ERROR_SEQUENCES_FULL, CP_ERROR_POOL_FULL. */
int cp_opt_tree_fork(struct cp_opt_tree *tree, int sequence, long long id,
                     struct cp_forked *forked);

/* ---- Invariants ---- */

/* NULL when the tree is valid, else the number of the first clause that it breaks. The sizes and
 * the array pointers must be right; everything else may have any content. What only this tree has
 * counts as part of the clause that it serves: the list of free chunks of POOL-2, the order of
 * sequences of TREE-5, the buckets of TREE-8. Linear in the capacity, the sequences and the sum of
 * path lengths. */
const char *cp_opt_tree_check(const struct cp_opt_tree *tree);

/* TREE-15, of a valid tree. Linear in the number of tokens. */
const char *cp_opt_tree_check_hashes(const struct cp_opt_tree *tree);

/* 1 when both find nothing. With -DCHUNKPROOF_CHECKED each operation asserts this at its start and
 * at its end. */
int cp_opt_tree_is_valid(const struct cp_opt_tree *tree);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The prefix tree for a serving engine (opt/README.md): what cp_tree_*() of tree.h do, clause by clause
 * (spec/tree.md), at a cost that does not grow with sequences that have nothing in common with the one at hand.
 *
 * What differs for the caller:
 * - Room is chosen when a tree is made (struct cp_opt_sizes), in one allocation; nothing is allocated after it.
 * - A sequence has a handle, 0 .. max_sequences-1, which stays its own until it leaves; then it may be given to another.
 *   `sequence` in every argument and result is a handle. Its index, which moves when others come and go, is had from
 *   cp_opt_tree_index().
 * - The sequences of one append may come in any order, each once. They get new chunks in that order.
 *
 * Users read the fields as they like and change them only through the functions below. Cost: m chunks are looked up,
 * copied or released, b sequences are alive; where chunks are spread over the buckets as if at random, which a seed that
 * nobody knows makes them, and heights of the search tree are.
 */
#ifndef CHUNKPROOF_OPT_TREE_H
#define CHUNKPROOF_OPT_TREE_H

#include <stddef.h>

#include "chunkproof/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chunks and sequences of a tree at most; tokens of a path. */
#define CP_OPT_MOST        (1 << 28)
#define CP_OPT_MOST_TOKENS (1 << 30)

/* What a tree has room for. */
struct cp_opt_sizes {
    int capacity;      /* chunks in the pool, 1 .. CP_OPT_MOST */
    int chunk_size;    /* c >= 1 */
    int max_sequences; /* alive at once, 1 .. CP_OPT_MOST */
    int max_depth;     /* chunks on a path, >= 1; max_depth * chunk_size <= CP_OPT_MOST_TOKENS */
    int hash_bits; /* width of the chunk hashes, 0 .. 64: 64 for use, fewer to see them collide */
    unsigned long long seed; /* of the hashes: any number, kept from those who write prompts */
};

/* A chunk. Partial chunks and free ones are in no bucket. */
struct cp_opt_chunk {
    int parent; /* the chunk above, -1 at depth 0 */
    int first;  /* of the sequences that it covers, in their order: -1 when it is free ... */
    int last;   /* ... and the last one */
    unsigned depth : 31;
    unsigned has_twin : 1; /* 0: no full chunk has its parent (or salt) and tokens, too (TREE-10) */
    int next;              /* in its bucket, or on the list of free chunks; -1: none */
    int previous;          /* in its bucket; -2 - bucket for the first one there; -1: in none */
    unsigned long long hash; /* of a full chunk's tokens */
};

struct cp_opt_sequence {
    long long id;
    unsigned long long salt;
    int n_chunks;
    int room; /* tokens that its last chunk still takes, 0 .. c-1: length = n_chunks * c - room */
    int n_shared;        /* leading chunks that cover other sequences too */
    int joint;           /* the last of these, or -1 */
    int previous;        /* in the order of sequences, -1: none; */
    int next;            /* of a handle that is not in use: the one given out after it */
    int left, right, up; /* in the search tree of that order */
    int size;   /* sequences below it there, itself included; 0: the handle is not in use */
    int marked; /* it has been met in the append at hand; else 0 */
    int tail;   /* its last chunk; means nothing without chunks */
};

/* A join, fork or leave, by which a plan is brought up to date. */
struct cp_opt_change {
    int sequence; /* that came; -1: one left */
    int index;    /* where */
    int n_known;  /* of one that came: its leading chunks that were shared before, */
    int n_shared; /* and that are now */
};

#define CP_OPT_CHANGES 16 /* so many are kept */

struct cp_opt_tree {
    struct cp_opt_sizes sizes;
    struct cp_stamp stamp;
    unsigned long long shape; /* +1 for each change of the order or of a range: join, leave, fork */
    struct cp_opt_change
        change[CP_OPT_CHANGES]; /* the last ones: that to shape x + 1 at x % CP_OPT_CHANGES */
    int n_free;                 /* chunks */
    int n_sequences;            /* b */
    int free_chunk;             /* the one released last, or -1 ... */
    int fresh_chunk;            /* ... or else the lowest that was never used */
    int free_sequence;          /* handles alike */
    int fresh_sequence;
    int first, last;                  /* sequences, -1: none */
    int root;                         /* of their search tree */
    int n_buckets;                    /* a power of two */
    struct cp_opt_chunk *chunk;       /* [capacity] */
    int *token;                       /* [capacity][c] */
    struct cp_opt_sequence *sequence; /* [max_sequences] */
    int *path;                        /* [max_sequences][max_depth]: the chunks of each sequence */
    int *bucket;             /* [n_buckets]: 1 + a full chunk with that hash and parent, or 0 */
    unsigned long long *key; /* [c rounded up to even]: of the hash */
    size_t bytes;            /* of the one allocation, this structure included */
};

/* An empty tree in memory of its own, which is touched only where it is used (memory.h): about 40 + 4 c bytes for each
 * chunk, 64 + 4 max_depth for each sequence. On CP_OK *tree is the caller's, to be given to cp_opt_tree_free(); else it
 * is NULL. Fails with CP_ERROR_ARGUMENT (a size out of its range), CP_ERROR_NO_MEMORY. */
int cp_opt_tree_new(struct cp_opt_tree **tree, const struct cp_opt_sizes *sizes);
void cp_opt_tree_free(struct cp_opt_tree *tree);

/* Makes a tree whose sizes, n_buckets and arrays are set, bucket[] to 0, an empty one; what cp_opt_tree_new() does
 * with its memory. stamp.tree is left to the caller. */
void cp_opt_tree_init(struct cp_opt_tree *tree);

/* ---- Reading; constant time unless it says otherwise ---- */

/* 1 when a sequence has this handle, which may be any number, else 0. */
int cp_opt_tree_is_alive(const struct cp_opt_tree *tree, int sequence);

/* Of a sequence that is alive: its number of tokens; its token k, 0 <= k < that; its chunks, in order. */
int cp_opt_tree_length(const struct cp_opt_tree *tree, int sequence);
int cp_opt_tree_token(const struct cp_opt_tree *tree, int sequence, int k);
const int *cp_opt_tree_path(const struct cp_opt_tree *tree, int sequence);

/* The index of a sequence that is alive, and the sequence with an index, 0 <= index < n_sequences. O(log b). */
int cp_opt_tree_index(const struct cp_opt_tree *tree, int sequence);
int cp_opt_tree_at(const struct cp_opt_tree *tree, int index);

/* The range [*begin, *end) of indices that a used chunk covers (TREE-1). O(log b). */
void cp_opt_tree_range(const struct cp_opt_tree *tree, int chunk, int *begin, int *end);

/* TREE-8: the longest match of a prompt of n_tokens >= 0, and the first sequence that has it, -1 for none.
 * O(m); chunks with equal tokens and parent (TREE-10) are all looked at, at O(log b) each where they tie. */
struct cp_match cp_opt_tree_lookup(const struct cp_opt_tree *tree, const int *token, int n_tokens,
                                   unsigned long long salt);

/* ---- Operations: all or nothing, the reasons in the order of TREE-13 ---- */

/* TREE-9. *joined is written on CP_OK. As cp_opt_tree_lookup(), and O(m + log b).
 * Fails with CP_ERROR_ARGUMENT (n_tokens < 0), CP_ERROR_TOO_LONG, CP_ERROR_SEQUENCES_FULL, CP_ERROR_POOL_FULL. */
int cp_opt_tree_join(struct cp_opt_tree *tree, const int *token, int n_tokens,
                     unsigned long long salt, long long id, struct cp_joined *joined);

/* TREE-10, for one sequence. O(1), and O(c) for the token that fills a chunk.
 * Fails with CP_ERROR_ARGUMENT (no such sequence), CP_ERROR_TOO_LONG, CP_ERROR_POOL_FULL. */
int cp_opt_tree_append(struct cp_opt_tree *tree, int sequence, int token);

/* TREE-10, for n sequences, all or none. Also fails with CP_ERROR_ARGUMENT when n < 0 or one comes twice. */
int cp_opt_tree_append_each(struct cp_opt_tree *tree, int n, const int *sequence, const int *token);

/* TREE-11. O(m + log b): the chunks released, and those shared ones where it is the first or the last.
 * Fails with CP_ERROR_ARGUMENT (no such sequence). */
int cp_opt_tree_leave(struct cp_opt_tree *tree, int sequence);

/* TREE-12. *forked is written on CP_OK; its sequence is a handle. To be copied are the first cp_opt_tree_length() % c slots. O(length of the path + log b).
 * Fails with CP_ERROR_ARGUMENT (no such sequence), CP_ERROR_SEQUENCES_FULL, CP_ERROR_POOL_FULL. */
int cp_opt_tree_fork(struct cp_opt_tree *tree, int sequence, long long id,
                     struct cp_forked *forked);

/* ---- Invariants ---- */

/* For any content behind right sizes and arrays: NULL when the tree is valid, else the number of the first clause that
 * it breaks. What only this tree has counts to the clause that it serves: the list of free chunks to POOL-2, the order
 * of sequences to TREE-5, the buckets to TREE-8. Linear in capacity, sequences and sum of path lengths. */
const char *cp_opt_tree_check(const struct cp_opt_tree *tree);

/* TREE-15, of a valid tree: linear in the tokens. */
const char *cp_opt_tree_check_hashes(const struct cp_opt_tree *tree);

/* 1 when both find nothing. With -DCHUNKPROOF_CHECKED each operation asserts it at its beginning and its end. */
int cp_opt_tree_is_valid(const struct cp_opt_tree *tree);

#ifdef __cplusplus
}
#endif

#endif

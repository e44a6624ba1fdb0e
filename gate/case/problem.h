/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: the plan that a recipe makes, of a tree or of prompts with modules; the numbers of Q,
 * K and V, and where each key lies. The keys of a sequence are counted by rising position, so that
 * a row sees the first of them, without a window. */
#ifndef CHUNKPROOF_GATE_CASE_PROBLEM_H
#define CHUNKPROOF_GATE_CASE_PROBLEM_H

#include <stddef.h>

#include "chunkproof/kernel.h"
#include "chunkproof/tree.h"
#include "gate/case/recipe.h"

/* How a kernel reads keys (GATE-14). Where they are placed, dim and n_angles are 0, and there is no
 * table. */
struct gate_rotation {
    int keys, pairs; /* CP_KEYS_..., CP_PAIRS_... */
    int dim;         /* numbers of a head that are rotated */
    int n_angles;
    float *table; /* [n_angles][dim], as a kernel gets it */
};

/* Which keys a row sees beside those up to its position: the numbers of WINDOW-1. */
struct gate_mask {
    int window, ahead, kept;
    int counts; /* CP_WINDOW_...: how the kernel wants the window */
    /* MASK-1, as a kernel gets it; bit NULL: there is no mask. Then the keys that row r sees are
     * key[keys[r]] .. key[keys[r + 1] - 1]. */
    int kind; /* enum gate_bits: what the recipe has, if the kernel takes it */
    size_t n_bytes;
    unsigned char *bit;
    size_t *first;
    int *begin;
    size_t *keys;
    int *key;
};

/* What changes scores (SCORE-1 to SCORE-5), and how the kernel wants it (CONV-7, CONV-8). */
struct gate_scores {
    double cap;            /* 0: none */
    float *slopes, *sinks; /* [h]; NULL: none */
    float *biases;         /* [h][n_biases]; NULL: none, and then both are 0 */
    int n_biases, own_bias;
    int has;         /* a sum of CP_SCORES_...: which of these there are */
    int order, bias; /* CP_CAP_..., CP_BIAS_... */
};

/* How K and V are kept (CONV-10), and gate_n_scales() scales of what has 8 bits; NULL: it is
 * plain. */
struct gate_cache {
    int k, v, scales; /* CP_CACHE_..., CP_CACHE_SCALE_... */
    float *k_scale, *v_scale;
    double least, most; /* of the scales of V, and 1 */
    double most_k;      /* of the scales of K, and 1 */
    int in_half;        /* 1: numbers times scales are rounded to binary16 */
};

/* Where keys lie, if not in the chunks of the plan (CONV-11): in pages, or ragged. A page is of the
 * last sequence that has it. */
struct gate_pages {
    int kind;            /* CP_PAGES_...; of CHUNKS all else is 0 */
    int size;            /* keys of a page, P; of RAGGED 1 */
    int n;               /* pages of the pool that have numbers here */
    int width;           /* above the pages of the longest sequence, also when it has grown */
    int *all;            /* [b][width] pages, with those for keys that may still come */
    int *table;          /* [b][width], */
    int *begin;          /* [b + 1], */
    int *list;           /* [begin[b]], */
    int *last;           /* [b]: as the kernel gets them */
    int *sequence, *key; /* [n] whose it is, -1: nobody's; and its first key there */
};

/* Sizes, plan and numbers of one case. */
struct gate_problem {
    struct gate_recipe recipe;
    int q_type, kv_type, out_type, lse_type; /* number formats of the kernel */
    int is_far;                              /* 1: chunks lie far apart */
    int b, n_rows;
    int also;     /* a pair, row n_heads + head, that is judged in any case; 0: that is the first */
    int capacity; /* chunks that have numbers here; `table` and `shared` count them */
    /* Blocks (pages.h) of the pool that the kernel sees, and the number that each of those that
     * have one here has there; NULL: the same one. */
    int pool, *number;
    int dense; /* blocks of the pool, at least, each of which has a number here, and memory */
    struct cp_kernel_layout layout; /* as the kernel declares it */
    struct gate_pages pages;
    int plan; /* CP_PLANS_TREES, or what the kernel takes */
    struct gate_mask mask;
    struct gate_scores scores;
    struct gate_cache cache;
    int value_dim; /* d_v: numbers of a value, and of a result */
    int scales;    /* CP_SCALES_...: where scores are large they are coarse */
    int *n_tokens, *query_begin, *position, *n_shared_chunks;
    int table_width;
    int *table, *table_tokens, *table_position; /* [b][table_width]: as the kernel gets them, */
    int *first;                                 /* and which key of the sequence is a run's first */
    int n_served, *served;
    int n_shared;
    struct cp_shared_chunk *shared;
    struct gate_rotation rotation;
    double scale;
    /* Both are the recipe's seed. Of a renewed problem `seed`, which decides all numbers of arrays,
     * is another; so is `places`, which decides which chunks and pages are in use, of some. */
    unsigned long long seed, places;
    double *q; /* [n_rows][h][d] */
    double *k; /* [capacity][h_kv][c][d]; NaN where no key is */
    double *v; /* [capacity][h_kv][c][d_v]; likewise */
};

/* CONV-3: what the cases of a kernel must not have: what it says, and what follows. A recipe says
 * this of the kernel that it is made for. */
int gate_never_of(const struct cp_kernel *kernel);

/* What a problem has of this: a sum of CP_NEVER_... */
int gate_problem_has(const struct gate_problem *problem);

/* The tree that the operations of a recipe make. The caller frees it with cp_tree_free(). NULL: no
 * memory. */
struct cp_tree *gate_tree_new(const struct gate_recipe *recipe);

/* Makes all but the numbers, which gate_values_fill() fills in. 0, or -1: no memory. */
int gate_problem_new(struct gate_problem *problem, const struct gate_recipe *recipe,
                     const struct cp_kernel *kernel);
void gate_problem_free(struct gate_problem *problem);

/* A pool in device memory takes as much memory as it has chunks, or pages. 1: that is little. */
int gate_pool_fits(const struct gate_recipe *recipe, const struct cp_kernel *kernel);

/* Likely sizes of the problem, found without a tree, to ask a kernel quickly. There is nothing to
 * free. */
struct gate_problem gate_problem_guess(const struct gate_recipe *recipe,
                                       const struct cp_kernel *kernel);

/* Gives the problem other numbers of the same sizes in each array: slopes, biases, sinks, scales
 * and bits of masks, too. They lie in the same chunks where the recipe has one operation, and in
 * every other recipe with more. 0, or -1: no memory. */
int gate_problem_renew(struct gate_problem *problem, const struct gate_recipe *recipe,
                       const struct cp_kernel *kernel);

/* Adds a key to each sequence whose last chunk is its own and has room, or as many keys as that
 * chunk has room for: only lengths change (PLAN-6, RUNS-8), and where rows stand. The caller then
 * fills in the numbers anew. Returns whether any sequence has grown; -1: no memory. */
int gate_problem_grow(struct gate_problem *problem);

/* The length of a sequence of n_tokens keys after gate_problem_renew() and gate_problem_grow(). */
int gate_grown_length(const struct gate_recipe *recipe, int n_tokens);

/* One sequence of the problem without the others, paged: no chunk is shared. K and V are those of
 * `whole`, which must live longer. 0, or -1: no memory. */
int gate_problem_alone(struct gate_problem *alone, const struct gate_problem *whole, int sequence);

/* Its rows `first` to `end` - 1 alone, of which there is one at least; its table is as wide, and
 * its rotations are as many, as its own runs need. In a plan of a tree the keys
 * behind the last of them are left out, because rows stand at the end (PREFILL-1); it must stand
 * at -1 or behind. */
int gate_problem_part(struct gate_problem *part, const struct gate_problem *whole, int sequence,
                      int first, int end);
void gate_problem_free_alone(struct gate_problem *alone);

/* ---- Places (places.c) ---- */

/* Which run of its sequence has key j, and at which position it stands. */
int gate_run_of(const struct gate_problem *problem, int sequence, int j);
int gate_position_of(const struct gate_problem *problem, int sequence, int j);

/* One behind the last position of a sequence's keys; 0: it has none. */
int gate_positions(const struct gate_problem *problem, int sequence);

/* How many runs a sequence has. */
int gate_runs(const struct gate_problem *problem, int sequence);

/* Which row of k and v a key is: (chunk h_kv + K/V head) c + slot. Its numbers, and its value's. */
size_t gate_key_row(const struct gate_problem *problem, int sequence, int j, int kv_head);
const double *gate_key(const struct gate_problem *problem, int sequence, int j, int kv_head);
const double *gate_value(const struct gate_problem *problem, int sequence, int j, int kv_head);
int gate_sequence_of(const struct gate_problem *problem, int row);

/* Which keys of its sequence a row sees: those before `end`, but not hidden .. shown - 1; or, of a
 * mask of bits, the n keys of a list. */
struct gate_seen {
    int hidden, shown, end;
    const int *list; /* NULL: there is no mask */
    int n;
};
struct gate_seen gate_seen(const struct gate_problem *problem, int row);
struct gate_seen gate_seen_by_window(const struct gate_problem *problem, int row); /* no list */

/* The i-th key that is seen, from 0 on; and how many are. */
static inline int gate_seen_key(const struct gate_seen *seen, int i) {
    return seen->list != NULL ? seen->list[i]
           : i < seen->hidden ? i
                              : i + seen->shown - seen->hidden;
}
static inline int gate_seen_count(const struct gate_seen *seen) {
    return seen->list != NULL ? seen->n : seen->end - (seen->shown - seen->hidden);
}
int gate_visible(const struct gate_problem *problem, int row);

/* MASK-1: does a row's mask leave the key at position t? */
int gate_is_left(const struct gate_problem *problem, int row, int t);

/* Which slots of run k of its sequence a row sees by its window, in the same way; and how many of
 * them by its mask, too. */
struct gate_seen gate_seen_in(const struct gate_problem *problem, int row, int k);
int gate_visible_in(const struct gate_problem *problem, int row, int k);

/* A block's number in the pool that the kernel sees. */
int gate_block_number(const struct gate_problem *problem, int block);

/* A chunk's number for the kernel. Where pages are no chunks, it is a name. */
int gate_chunk_number(const struct gate_problem *problem, int chunk);

#endif

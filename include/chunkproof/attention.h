/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over a plan as a problem: what is given, where the results go (spec/two_phase.md,
 * spec/prefill.md).
 *
 * For each query row r of sequence s, query head a and key/value head g = a / (h / h_kv):
 *   out[r][a] = sum_j softmax_j(scale * q[r][a] . K[j][g]) V[j][g]
 * over the keys j of s that r may see (SOFTMAX-2, TPP-3), with scores that may be changed and a
 * sink besides the keys (struct cp_scores). Sequence s has the query rows
 * query_begin[s] .. query_begin[s+1]-1. A row at position p sees the keys of s at positions up to p
 * (causal), or those of its window; of these, those that its mask leaves. The caller gives the
 * positions; or the rows stand at the last positions of s, in order: then the last row sees all n
 * keys, the one before n-1, and so on. A row that sees no key gives zeros and log-sum-exp
 * -infinity, or its sink. */
#ifndef CHUNKPROOF_ATTENTION_H
#define CHUNKPROOF_ATTENTION_H

#include <stddef.h>

#include "chunkproof/number.h"
#include "chunkproof/plan.h"

#define CP_BUFFERED      0 /* keep every partial result of the chunk-first phase (Algorithm 1) */
#define CP_MERGE_AT_ONCE 1 /* merge each at once (section 3.3): one state per query row and head */

/* WINDOW-1: which keys of its sequence a row at position p sees: those at positions t with
 *
 *     t <= p + ahead    and    (keys = 0 or t > p - keys or t < kept)
 *
 * All zeros: those up to its own position (PREFILL-2). Each is from 0 to CP_MAX_WINDOW. The plan
 * may leave out runs of which no row sees a key (WINDOW-4). */
struct cp_window {
    int keys;  /* W, the row's own position among them; 0: no window */
    int ahead; /* how far after its own position a row sees; 0: causal */
    int kept;  /* the first `kept` positions are seen outside of the window, too */
};

#define CP_MAX_WINDOW (1 << 30)

/* MASK-1: bits that take keys away, of those that a row sees by its window. Query row r sees a key
 * at position t if t < begin[r], or if this bit is 1:
 *
 *     i = first[r] + (t - begin[r])    bits[i / 8] >> i % 8 & 1
 *
 * So a row has consecutive bits at any offset: rows may share them, and need not begin with a byte.
 * All zeros: no mask. Bits of keys that a row does not see by its window are not read. The plan may
 * leave out runs of which no row sees a key (MASK-4). The caller owns the arrays. */
struct cp_mask {
    const unsigned char *bits; /* NULL: no mask */
    const size_t *first;       /* [query rows] the row's first bit; with bits not NULL */
    const int *begin;          /* [query rows] the position that it is of; NULL: 0, for all rows */
};

/* SCORE-5: a bias for each query head and distance. A key at position t has entry own + p - t for a
 * row at p; the first entry where that is below 0, the last where it is above n - 1. */
struct cp_biases {
    const double *bias; /* [h][n]; NULL: none */
    int n;              /* entries for each head, >= 1 */
    int own;            /* the entry of the row's own position, 0 .. n - 1 */
};

/* spec/scores.md: how a score s = scale * q . k of query head a is changed before it is weighed, of
 * a key at position t for a row at position p:
 *
 *     s -> cap tanh(s / cap) + slopes[a] (t - p) + biases.bias[a][i]    i of the distance
 *
 * in this order (SCORE-4); and the sink that is added. All zeros: no change, and no sink. The cap
 * is finite and >= 0. Slopes, biases and sinks are finite, of either sign, and not checked. The
 * caller owns them. */
struct cp_scores {
    double cap;           /* SCORE-1: > 0; 0: none */
    const double *slopes; /* [h] SCORE-2: bias by distance (ALiBi); NULL: none */
    const double *sinks;  /* [h] SCORE-3: the score of one extra key, whose value is zeros; it is
                           * neither scaled nor changed, and all rows see it; NULL: none */
    struct cp_biases biases;
};

/* NUM-18: number x of K stands for x k[i], and one of V for x v[i], where i is of the tensor, of
 * the K/V head, or of the token and head:
 *
 *     CP_CACHE_SCALE_TENSOR   0
 *     CP_CACHE_SCALE_HEAD     the K/V head                          [h_kv]
 *     CP_CACHE_SCALE_TOKEN    (chunk h_kv + K/V head) c + slot      [capacity][h_kv][c]
 *
 * All zeros: numbers stand for themselves. Scales are finite, and not checked. Those of slots
 * without a key are not read. The caller owns them. */
struct cp_scales {
    int per;        /* CP_CACHE_SCALE_... (number8.h) */
    const float *k; /* NULL: 1 */
    const float *v; /* NULL: 1 */
};

struct cp_attention {
    const struct cp_plan *plan;
    struct cp_stamp stamp; /* the tree's, now: attention refuses a plan with another one (PLAN-5) */

    int n_heads;    /* h */
    int n_kv_heads; /* h_kv, a divisor of h (1: MQA, h: MHA, else GQA) */
    int head_dim;   /* d: numbers of a query and of a key */
    int value_dim;  /* d_v: of a value and of a result (WIDTH-1); usually d */
    int v_row;      /* from one value to the next in V, >= d_v (WIDTH-2); usually d_v */
    double scale;   /* usually 1 / sqrt(d) */

    const int *query_begin; /* b + 1 numbers from 0 on, not decreasing; NULL: one query each */
    /* [query rows] where each row stands (PREFILL-1): any numbers. A row below 0 sees no key, and a
     * row behind the last key of its sequence sees all. NULL: row t of r of a sequence with n
     * tokens at n - r + t. */
    const int *position;
    struct cp_window window;              /* all zeros: none */
    struct cp_mask mask;                  /* all zeros: none */
    struct cp_scores scores;              /* all zeros: none */
    struct cp_scales scales;              /* all zeros: none */
    int q_type, k_type, v_type, out_type; /* each one of number.h: CP_FP16, ..., CP_INT8 */
    const void *q;                        /* [query rows][h][d] */
    const void *k; /* [capacity][h_kv][c][d]; only the first n_tokens keys of a chunk are read */
    const void *v; /* [capacity][h_kv][c][v_row], as K; of each row the first d_v numbers are read.
                    * It may lie in K: with v = k and v_row = d, a value is the first d_v numbers of
                    * its key (WIDTH-2) */
    void *out;     /* [query rows][h][d_v] */
    double *lse;   /* [query rows][h], natural logarithm; or NULL */

    int variant;     /* CP_BUFFERED or CP_MERGE_AT_ONCE */
    void *workspace; /* at least cp_attend_workspace() bytes, aligned for double */
    size_t workspace_size;
};

#ifdef __FRAMAC__
#include "proofs/logic/attention.h"
#endif

#endif

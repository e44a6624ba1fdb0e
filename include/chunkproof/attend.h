/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over a plan (spec/two_phase.md, spec/prefill.md): the entry point that every
 * implementation has, the reference here.
 *
 * For each query row r of sequence s, query head a and key/value head g = a / (h / h_kv):
 *   out[r][a] = sum_j softmax_j(scale * q[r][a] . K[j][g]) V[j][g]
 * over the keys j of s that r may see (SOFTMAX-2, TPP-3). Sequence s has the query rows query_begin[s] ..
 * query_begin[s+1]-1, for its last positions in order: the last row sees all n keys of s, the one
 * before n-1, and so on (causal). A row that sees no key gives zeros and log-sum-exp -infinity.
 */
#ifndef CHUNKPROOF_ATTEND_H
#define CHUNKPROOF_ATTEND_H

#include <stddef.h>

#include "chunkproof/number.h"
#include "chunkproof/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CP_BUFFERED      0 /* keep every partial result of the chunk-first phase (Algorithm 1) */
#define CP_MERGE_AT_ONCE 1 /* merge each at once (section 3.3): a state per query row and head */

struct cp_attention {
    const struct cp_plan *plan;
    struct cp_stamp stamp; /* the tree's, now: a plan with another one is refused (PLAN-5) */

    int n_heads;    /* h */
    int n_kv_heads; /* h_kv, a divisor of h (1: MQA, h: MHA, else GQA) */
    int head_dim;   /* d */
    double scale;   /* usually 1 / sqrt(d) */

    const int *query_begin; /* b + 1 numbers from 0 on, not decreasing; NULL: one query each */
    int q_type, kv_type, out_type; /* CP_FP16, CP_FP32 or CP_FP64 */
    const void *q;                 /* [query rows][h][d] */
    const void *k; /* [capacity][h_kv][c][d]; only the first n_tokens keys of a chunk are read */
    const void *v; /* as k */
    void *out;     /* [query rows][h][d] */
    double *lse;   /* [query rows][h], natural logarithm; or NULL */

    int variant;     /* CP_BUFFERED or CP_MERGE_AT_ONCE */
    void *workspace; /* at least cp_attend_workspace() bytes, aligned for double */
    size_t workspace_size;
};

/*@
  // PREFILL-1: the first query row of sequence s; for s = b, the number of query rows.
  logic integer first_row{L}(int *query_begin, integer s) =
    query_begin == \null ? s : query_begin[s];

  predicate query_ranges{L}(int *query_begin, integer b) =
    first_row(query_begin, 0) == 0 &&
    (\forall integer s, t; 0 <= s <= t <= b ==>
      0 <= first_row(query_begin, s) <= first_row(query_begin, t));

  // The position of a query row of sequence s, which has n tokens.
  logic integer row_position{L}(int *query_begin, integer s, integer n, integer row) =
    n - (first_row(query_begin, s + 1) - first_row(query_begin, s)) +
      (row - first_row(query_begin, s));

  // PREFILL-2, PREFILL-3: how many keys a row at position p sees.
  logic integer keys_seen(integer p) = \max(p + 1, 0);

  // PREFILL-4: and how many of the t keys from position f on.
  logic integer keys_seen_in(integer p, integer f, integer t) = \min(\max(p + 1 - f, 0), t);

  // TPP-5: the K/V head of query head a.
  logic integer kv_head_of(struct cp_attention a, integer head) = head / (a.n_heads / a.n_kv_heads);

  // The row of K, and of V, that begins the slice of a chunk for query head `head`.
  logic integer key_row(struct cp_attention a, integer c, integer chunk, integer head) =
    row_at(row_at(chunk, a.n_kv_heads) + kv_head_of(a, head), c);

  // The elements of K can be counted; those of Q and out.
  predicate keys_countable(struct cp_attention a, integer c, integer capacity) =
    row_at(row_at(row_at(capacity, a.n_kv_heads), c), a.head_dim) <= 0x7FFFFFFFFFFFFFFF;

  predicate rows_countable(struct cp_attention a, integer n_rows) =
    row_at(row_at(n_rows, a.n_heads), a.head_dim) <= 0x7FFFFFFFFFFFFFFF;

  predicate attention_heads(struct cp_attention a) =
    1 <= a.n_heads && 1 <= a.n_kv_heads && 1 <= a.head_dim && a.n_heads % a.n_kv_heads == 0;
*/

/* Bytes of workspace that cp_attend() needs for these dimensions, types, query ranges, this plan and
 * this variant; 0 when they do not fit together (cp_attend() says why). The stamp and the pointers to
 * tensors and workspace are not looked at. Linear in the plan. */
size_t cp_attend_workspace(const struct cp_attention *attention);

/* Computes out and, when asked for, lse. Allocates nothing, keeps nothing. The plan is a valid one
 * (cp_plan_is_valid()); the tensors have the sizes given above and out, lse and workspace overlap
 * nothing else. Q, K and V must be finite where they are read: what a row makes of a key that is not is
 * not specified (a NaN, as a rule), but no other row feels it.
 *
 * Checked in this order; nothing is written on failure:
 *   CP_ERROR_ARGUMENT   attention or plan is NULL
 *   CP_ERROR_STALE      the plan's stamp is not `stamp` (PLAN-5)
 *   CP_ERROR_ARGUMENT   q, k, v, out or workspace is NULL, the workspace is not aligned for double,
 *                       scale is not finite, the variant is unknown
 *   CP_ERROR_SHAPE      h, h_kv or d is below 1, h is no multiple of h_kv, a type is unknown,
 *                       query_begin does not begin at 0 or decreases, or these dimensions make a
 *                       tensor or the workspace larger than the address space
 *   CP_ERROR_WORKSPACE  workspace_size is below cp_attend_workspace() */
int cp_attend(const struct cp_attention *attention);

#ifdef __cplusplus
}
#endif

#endif

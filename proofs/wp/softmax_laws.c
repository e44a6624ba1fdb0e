/* SPDX-License-Identifier: Apache-2.0 */
/* MERGE-5, proved from the contracts of ref/softmax.c alone, over the reals: states under merge are
 * a commutative monoid. The identity is in the contract of cp_attn_reduce() itself. */
#include "chunkproof/softmax.h"

/*@
  // A state is determined by its maximum and its weight (MERGE-1): e(m) is never 0.
  lemma determined: \forall real x, y, m; scaled(x, m) == scaled(y, m) ==> x == y;
*/

/* a (+) b = b (+) a. On return (a, a_o) is a (+) b and (b, b_o) is b (+) a; `c` is scratch for a
 * copy of a. */
/*@
  requires valid: \valid(a) && \valid(b) && \valid(c);
  requires valid_o: \valid(a_o + (0 .. d - 1)) && \valid(b_o + (0 .. d - 1)) &&
    \valid(c_o + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(a, b, c, a_o + (0 .. d - 1), b_o + (0 .. d - 1), c_o + (0 .. d - 1));
  requires ok: state_ok(*a, a_o, d) && state_ok(*b, b_o, d) && state_ok(*c, c_o, d);
  requires copy: *c == *a && \forall integer i; 0 <= i < d ==> c_o[i] == a_o[i];
  assigns *a, *b, a_o[0 .. d - 1], b_o[0 .. d - 1];
  ensures merge_5_m: a->m == b->m;
  ensures merge_5_n: a->n == b->n;
  ensures merge_5_o: \forall integer i; 0 <= i < d ==> a_o[i] == b_o[i];
*/
void merge_is_commutative(struct cp_state *a, double *a_o, struct cp_state *b, double *b_o,
                          const struct cp_state *c, const double *c_o, int d) {
    cp_attn_reduce(a, a_o, b, b_o, d);
    cp_attn_reduce(b, b_o, c, c_o, d);
}

/* (a (+) b) (+) c = a (+) (b (+) c). On return (a, a_o) is the former and (x, x_o), a copy of a on
 * entry, is the latter. */
/*@
  requires valid: \valid(a) && \valid(b) && \valid(c) && \valid(x);
  requires valid_o: \valid(a_o + (0 .. d - 1)) && \valid(b_o + (0 .. d - 1)) &&
    \valid(c_o + (0 .. d - 1)) && \valid(x_o + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(a, b, c, x, a_o + (0 .. d - 1), b_o + (0 .. d - 1),
    c_o + (0 .. d - 1), x_o + (0 .. d - 1));
  requires ok: state_ok(*a, a_o, d) && state_ok(*b, b_o, d) && state_ok(*c, c_o, d) &&
    state_ok(*x, x_o, d);
  requires copy: *x == *a && \forall integer i; 0 <= i < d ==> x_o[i] == a_o[i];
  assigns *a, *b, *x, a_o[0 .. d - 1], b_o[0 .. d - 1], x_o[0 .. d - 1];
  ensures merge_5_m: a->m == x->m;
  ensures merge_5_n: a->n == x->n;
  ensures merge_5_o: \forall integer i; 0 <= i < d ==> a_o[i] == x_o[i];
*/
void merge_is_associative(struct cp_state *a, double *a_o, struct cp_state *b, double *b_o,
                          const struct cp_state *c, const double *c_o, struct cp_state *x,
                          double *x_o, int d) {
    cp_attn_reduce(a, a_o, b, b_o, d);
    cp_attn_reduce(a, a_o, c, c_o, d);
    cp_attn_reduce(b, b_o, c, c_o, d);
    cp_attn_reduce(x, x_o, b, b_o, d);
    /*@ assert sums: \forall integer i; 0 <= i < d ==>
          scaled(a_o[i], a->m) == scaled(x_o[i], x->m); */
}

/* MERGE-7: exp of the log-sum-exp of a merge is the sum of those of its parts. */
/*@
  requires valid: \valid(a) && \valid_read(b);
  requires valid_o: \valid(a_o + (0 .. d - 1)) && \valid_read(b_o + (0 .. d - 1)) &&
    \valid(out + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(a, b, a_o + (0 .. d - 1), b_o + (0 .. d - 1), out + (0 .. d - 1));
  requires ok: state_ok(*a, a_o, d) && state_ok(*b, b_o, d);
  requires keys: state_has_key(*a) && state_has_key(*b);
  assigns *a, a_o[0 .. d - 1], out[0 .. d - 1];
  ensures merge_7: \result == 1;
*/
int lse_of_merge(struct cp_state *a, double *a_o, const struct cp_state *b, const double *b_o,
                 double *out, int d) {
    double a_lse = cp_finish(a, a_o, out, d);
    double b_lse = cp_finish(b, b_o, out, d);
    cp_attn_reduce(a, a_o, b, b_o, d);
    double lse = cp_finish(a, a_o, out, d);
    /*@ assert sum: e(lse) == e(a_lse) + e(b_lse); */
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of ref/tolerance_row.h that have their signs, and the terms of NUM-9 and NUM-10.
 * Included by it, after its structure. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TOLERANCE_BOUNDS_H
#define CHUNKPROOF_LOGIC_TOLERANCE_BOUNDS_H

/*@
  // |x| + spare, at least how large x is that may be off by as much.
  logic real size_of(real x, real spare) = (x >= 0.0 ? x : -x) + spare;
  predicate same_number{L1,L2}(double *x, integer i) = \at(x[i], L2) == \at(x[i], L1);
  predicate same_numbers{L1,L2}(double *x, integer n) =
    \forall integer i; 0 <= i < n ==> \at(x[i], L2) == \at(x[i], L1);
*/

/*@
  // NUM-6, of the first n numbers of q and k: sum |q_i k_i|.
  axiomatic SizesOfScores {
    logic real sizes_of{L}(double *q, double *k, integer n) reads q[0 .. n - 1], k[0 .. n - 1];
    axiom sizes_of_0{L}: \forall double *q, double *k; sizes_of(q, k, 0) == 0.0;
    axiom sizes_of_next{L}: \forall double *q, double *k, integer i, n; 0 <= i < n <= i + 1 ==>
      sizes_of(q, k, n) == sizes_of(q, k, i) + size_of(product(q[i], k[i]), 0.0);
  }
  predicate score_bound_ok(struct cp_score_bound s) =
    0.0 <= s.relative && 0.0 <= s.lost && 0.0 <= s.tiny;
  logic real score_error_of{L}(struct cp_score_bound s, struct cp_tolerance_row r, integer j) =
    product(s.relative, product(sizes_of(r.q, r.k + row_at(j, r.head_dim), r.head_dim),
      size_of(r.scale, 0.0))) + s.lost + s.tiny;
  // NUM-14: what is added to a score, how much further a kernel's is off, and the score itself.
  logic real shift_of{L}(struct cp_tolerance_row r, integer j) =
    r.shift == \null ? 0.0 : r.shift[j];
  logic real further_of{L}(struct cp_tolerance_row r, integer j) =
    r.shift == \null ? 0.0 : r.shift_error[j];
  logic real score_of{L}(struct cp_tolerance_row r, integer j) =
    product(r.scale, dot_of(r.q, r.k + row_at(j, r.head_dim), r.head_dim)) + shift_of(r, j);
  // How far binary64 rounds it when the shift is added, at most.
  logic real added_of{L}(struct cp_tolerance_row r, integer j) =
    r.shift == \null ? 0.0 : product(0x1p-52, size_of(score_of(r, j), 0.0));
  // The first n products of the query and key j are the same in both states.
  predicate same_products{L1,L2}(struct cp_tolerance_row r, integer j, integer n) =
    dot_of{L1}(r.q, r.k + row_at(j, r.head_dim), n) ==
      dot_of{L2}(r.q, r.k + row_at(j, r.head_dim), n) &&
    sizes_of{L1}(r.q, r.k + row_at(j, r.head_dim), n) ==
      sizes_of{L2}(r.q, r.k + row_at(j, r.head_dim), n);
  // Scratch has the scores of the first j keys, and at least their errors.
  predicate scores_until{L1,L2}(struct cp_score_bound s, struct cp_tolerance_row r, integer j) =
    (\forall integer i; 0 <= i < j ==> \at(r.scratch[i], L2) == score_of{L1}(r, i)) &&
    (\forall integer i; r.n_keys <= i < r.n_keys + j ==>
      score_error_of{L1}(s, r, i - r.n_keys) + further_of{L1}(r, i - r.n_keys) <=
        \at(r.scratch[i], L2));
  // None of these errors is larger.
  predicate none_beyond{L}(struct cp_score_bound s, struct cp_tolerance_row r, integer j,
                           real largest) =
    \forall integer i; 0 <= i < j ==> score_error_of(s, r, i) + added_of(r, i) <= largest;
*/

/*@
  // From the scores: what all other numbers rest on.
  predicate references_ok(struct cp_row_bounds b) =
    0.0 <= b.largest_z && 0.0 <= b.slack && 0.0 <= b.h && 0.0 <= b.rise && b.top <= b.high;
  predicate growth_ok(struct cp_row_bounds b) =
    references_ok(b) && 0.0 <= b.lack && 0.0 <= b.stretch && 0.0 <= b.growth_n && 0.0 <= b.growth_o;
  predicate bounds_ok(struct cp_row_bounds b) =
    growth_ok(b) && 0.0 < b.weights && 0.0 <= b.shared && 0.0 <= b.lost_n && 0.0 <= b.tiny_o &&
    b.weights <= b.most && b.least <= b.weights - product(b.weights, b.lack) &&
    b.left <= b.least - b.shared - b.lost_n;

  // Scratch has the errors of the first j scores of n, behind the scores; none is larger than most.
  predicate errors_until{L}(double *scratch, integer n, integer j, real most) =
    \forall integer i; n <= i < n + j ==> 0.0 <= scratch[i] <= most;
  // NUM-7: slack, high, low, H and exp(high - top), from the errors and the scores' ends.
  predicate references_from(struct cp_arithmetic a, integer changes, struct cp_row_bounds scores,
                            struct cp_row_bounds b) =
    b.h == \max(size_of(b.low, 0.0), size_of(b.high, 0.0)) &&
    scores.slack + a.below <= b.slack &&
    scores.top + (b.largest_z + scores.slack + a.above) <= b.high &&
    b.low <= scores.low - (b.largest_z + scores.slack + product(changes + 1.0, a.below)) &&
    e(b.largest_z + scores.slack + a.above) <= b.rise;
  // Scratch has w_j, H_j and T_j of the first j keys of n.
  predicate weighed{L}(double *scratch, integer n, integer j) =
    (\forall integer i; 0 <= i < j ==> 0.0 < scratch[i]) &&
    (\forall integer i; n <= i < n + j || 2 * n <= i < 2 * n + j ==> 0.0 <= scratch[i]);
*/

/*@
  // NUM-9: X_j, Z included.
  logic real way(struct cp_row_bounds b, real score, real sigma, integer changes) =
    sigma + (b.high - score + b.largest_z) + 2.0 * b.slack * (changes + 1.0);
  logic real strayed(struct cp_arithmetic a, real h, real way, real sigma, integer changes) =
    sigma + a.u_arg * way + a.u_ref * h + a.eps + changes * (a.eps + 2.0 * a.u_move * h);
  logic real stray(struct cp_arithmetic a, struct cp_row_bounds b, real score, real sigma,
                   integer changes) =
    strayed(a, b.h, way(b, score, sigma, changes), sigma, changes);
*/

/*@
  // A weight, to nearest: exp(s_j - top), or FAINT.
  logic real weight_of(struct cp_row_bounds b, real score) =
    score - b.top < -708.0 ? 0x1p-1021 : e(score - b.top);

  // NUM-9, in the scale of exp(top). M, what an exponential loses; R_j, how large a weight may have
  // been, and what changes of the reference lose of it; what its format loses.
  logic real missed(struct cp_arithmetic a, struct cp_row_bounds b) = product(a.kappa, b.rise);
  logic real reach(struct cp_arithmetic a, struct cp_row_bounds b, real first) =
    product(product(e(b.slack + first) + a.kappa, 1.0 + a.weights.unit) + a.weights.tiny,
      b.stretch);
  logic real lost(struct cp_arithmetic a, struct cp_row_bounds b, real first, integer changes) =
    product(product(missed(a, b), changes), reach(a, b, first));
  logic real rounded_weight(struct cp_arithmetic a, struct cp_row_bounds b, real w) =
    \max(product(a.weights.unit, product(w, 1.0 + b.lack) + missed(a, b)),
      product(a.weights.tiny, b.rise));

  // What n and o have in common, and what o has alone, of a key: H_j, and P_j. Of the first, w_j
  // (1 + lack) is at least the exact weight.
  logic real in_both(struct cp_arithmetic a, struct cp_row_bounds b, real w, real first,
                     integer changes) =
    missed(a, b) + lost(a, b, first, changes) +
    (a.rounded_sum != 0 ? rounded_weight(a, b, w) : 0.0);
  logic real in_o_alone(struct cp_arithmetic a, struct cp_row_bounds b, real w, real first,
                        integer changes) =
    a.rounded_sum != 0 ? 0.0 : rounded_weight(a, b, w) + lost(a, b, first, changes);
  logic real own_error(struct cp_arithmetic a, struct cp_row_bounds b, real score, real sigma,
                       integer changes) =
    product(in_o_alone(a, b, weight_of(b, score), stray(a, b, score, sigma, 0), changes),
      e(stray(a, b, score, sigma, changes)));

  // H_j, and the factor of |v_ji|. Provers see their formulas where the C code computes them alone:
  // there, an assertion has the second name.
  axiomatic ErrorsOfKeys {
    logic real common_error(struct cp_arithmetic a, struct cp_row_bounds b, real score, real sigma,
                            integer changes);
    logic real common_error_here(struct cp_arithmetic a, struct cp_row_bounds b, real score,
                                 real sigma, integer changes, boolean shown);
    axiom common_error_named: \forall struct cp_arithmetic a, struct cp_row_bounds b,
      real score, sigma, integer changes, boolean shown;
      common_error_here(a, b, score, sigma, changes, shown) ==
        common_error(a, b, score, sigma, changes);
    axiom common_error_is: \forall struct cp_arithmetic a, struct cp_row_bounds b,
      real score, sigma, integer changes, boolean shown;
      common_error_here(a, b, score, sigma, changes, shown) ==
        product(product(weight_of(b, score), 1.0 + b.lack),
          e(stray(a, b, score, sigma, changes)) - 1.0) +
        product(in_both(a, b, weight_of(b, score), stray(a, b, score, sigma, 0), changes),
          e(stray(a, b, score, sigma, changes)));
    logic real value_error(struct cp_arithmetic a, struct cp_row_bounds b, real score, real sigma,
                           integer changes);
    logic real value_error_here(struct cp_arithmetic a, struct cp_row_bounds b, real score,
                                real sigma, integer changes, boolean shown);
    axiom value_error_named: \forall struct cp_arithmetic a, struct cp_row_bounds b,
      real score, sigma, integer changes, boolean shown;
      value_error_here(a, b, score, sigma, changes, shown) ==
        value_error(a, b, score, sigma, changes);
    axiom value_error_is: \forall struct cp_arithmetic a, struct cp_row_bounds b,
      real score, sigma, integer changes, boolean shown;
      value_error_here(a, b, score, sigma, changes, shown) ==
        own_error(a, b, score, sigma, changes) +
        product(b.growth_o, product(weight_of(b, score), 1.0 + b.lack) +
          common_error(a, b, score, sigma, changes) + own_error(a, b, score, sigma, changes));
  }
*/

/*@
  // The sum of the first n numbers at x.
  axiomatic Totals {
    logic real total_of{L}(double *x, integer n) reads x[0 .. n - 1];
    axiom total_of_0{L}: \forall double *x; total_of(x, 0) == 0.0;
    axiom total_of_next{L}: \forall double *x, integer j, k; 0 <= j < k <= j + 1 ==>
      total_of(x, k) == total_of(x, j) + x[j];
  }

  // The errors of a key rest on these numbers of its row alone.
  predicate alike(struct cp_row_bounds b, struct cp_row_bounds c) =
    b.largest_z == c.largest_z && b.lack == c.lack && b.top == c.top && b.high == c.high &&
    b.slack == c.slack && b.h == c.h && b.rise == c.rise && b.stretch == c.stretch &&
    b.growth_o == c.growth_o;
  lemma weight_alike: \forall struct cp_row_bounds b, c, real score; alike(b, c) ==>
    weight_of(b, score) == weight_of(c, score);
  lemma way_alike: \forall struct cp_row_bounds b, c, real score, sigma, integer changes;
    alike(b, c) ==> way(b, score, sigma, changes) == way(c, score, sigma, changes);
  lemma stray_alike: \forall struct cp_arithmetic a, struct cp_row_bounds b, c,
    real score, sigma, integer changes; alike(b, c) ==>
    stray(a, b, score, sigma, changes) == stray(a, c, score, sigma, changes);
  lemma lost_alike: \forall struct cp_arithmetic a, struct cp_row_bounds b, c, real first,
    integer changes; alike(b, c) ==>
    lost(a, b, first, changes) == lost(a, c, first, changes);
  lemma rounded_alike: \forall struct cp_arithmetic a, struct cp_row_bounds b, c, real w;
    alike(b, c) ==> rounded_weight(a, b, w) == rounded_weight(a, c, w);
  lemma in_both_alike: \forall struct cp_arithmetic a, struct cp_row_bounds b, c, real w, first,
    integer changes; alike(b, c) ==>
    in_both(a, b, w, first, changes) == in_both(a, c, w, first, changes);
  lemma own_error_alike: \forall struct cp_arithmetic a, struct cp_row_bounds b, c,
    real score, sigma, integer changes; alike(b, c) ==>
    own_error(a, b, score, sigma, changes) == own_error(a, c, score, sigma, changes);
  lemma common_error_shown: \forall struct cp_arithmetic a, struct cp_row_bounds b, c,
    real score, sigma, integer changes; alike(b, c) ==>
    common_error_here(a, b, score, sigma, changes, \true) ==
      common_error_here(a, c, score, sigma, changes, \true);
  lemma common_error_alike: \forall struct cp_arithmetic a, struct cp_row_bounds b, c,
    real score, sigma, integer changes; alike(b, c) ==>
    common_error_here(a, b, score, sigma, changes, \true) ==
      common_error_here(a, c, score, sigma, changes, \true) &&
    common_error(a, b, score, sigma, changes) == common_error(a, c, score, sigma, changes);
  lemma value_error_alike: \forall struct cp_arithmetic a, struct cp_row_bounds b, c,
    real score, sigma, integer changes; alike(b, c) ==>
    value_error_here(a, b, score, sigma, changes, \true) ==
      value_error_here(a, c, score, sigma, changes, \true) &&
    value_error(a, b, score, sigma, changes) == value_error(a, c, score, sigma, changes);

  predicate key_bounded(struct cp_arithmetic a, struct cp_row_bounds b, integer changes, real score,
                        real sigma, real w, real h, real t) =
    w == weight_of(b, score) &&
    common_error(a, b, score, sigma, changes) <= h &&
    value_error(a, b, score, sigma, changes) <= t;

  // Scratch had the score and sigma of key j, and now has w_j, H_j and T_j.
  predicate bounded{L1,L2}(struct cp_arithmetic a, struct cp_row_bounds b, integer changes,
                           double *scratch, integer n, integer j) =
    key_bounded(a, b, changes, \at(scratch[j], L1), \at(scratch[n + j], L1),
      \at(scratch[j], L2), \at(scratch[n + j], L2), \at(scratch[2 * n + j], L2));
*/

/*@
  // S, from the argument of its exponential.
  logic real stretching(struct cp_arithmetic a, struct cp_row_bounds b) =
    b.slack + product(a.u_arg, \max(b.high - b.low, 0.0)) + product(2.0 * a.u_move, b.h) + a.eps;
  logic real stretched(struct cp_arithmetic a, struct cp_row_bounds b) =
    e(stretching(a, b)) + a.kappa;

  // N eta S^C G exp(high), of n or o.
  logic real tiny(struct cp_row_bounds b, real operations, real eta, real growth) =
    product(product(product(operations, b.rise), product(b.stretch, 1.0 + growth)), eta);
*/

/* Ghost code: S^C, and S, from the logarithms that the C code has. */
/*@ ghost
  /@
    requires valid: \valid_read(a) && \valid_read(b);
    requires factor: 0 <= k && 0.0 <= stretched(*a, *b) <= e(l);
    assigns \nothing;
    ensures power: 0.0 <= power(stretched(*a, *b), k) <= e(k * l);
  @/
  static void stretched_often(const struct cp_arithmetic *a, const struct cp_row_bounds *b,
                              double l, int k) {
      e_of_zero();
      /@
        loop invariant range: 0 <= i <= k;
        loop invariant power: 0.0 <= power(stretched(*a, *b), i) <= e(i * l);
        loop assigns i;
        loop variant k - i;
      @/
      for (int i = 0; i < k; i++) {
          /@ assert next: power(stretched(*a, *b), i + 1) ==
                product(stretched(*a, *b), power(stretched(*a, *b), i)); @/
          /@ assert law: e_of_sum(l, i * l) == e((i + 1) * l); @/
          /@ assert same: e_of_sum(l, i * l) == product(e(l), e(i * l)); @/
      }
  }
*/

/*@ ghost
  /@
    requires enough: 0.0 <= kappa && 1.0 + product(kappa, e(-x)) <= e(l);
    assigns \nothing;
    ensures factor: e(x) + kappa <= e(x + l);
  @/
  static void factor_of(double x, double l, double kappa) {
      e_of_zero();
      /@ assert opposite: e_of_sum(x, -x) == e(0.0); @/
      /@ assert inverse: product(e(x), e(-x)) == 1.0; @/
      /@ assert parts: product(e(x), 1.0 + product(kappa, e(-x))) ==
            e(x) + product(e(x), product(kappa, e(-x))); @/
      /@ assert inner: product(kappa, e(-x)) == kappa * e(-x); @/
      /@ assert outer: product(e(x), product(kappa, e(-x))) == e(x) * (kappa * e(-x)); @/
      /@ assert one: e(x) * (kappa * e(-x)) == kappa * product(e(x), e(-x)); @/
      /@ assert law: e_of_sum(x, l) == product(e(x), e(l)); @/
      /@ assert rises: product(e(x), 1.0 + product(kappa, e(-x))) <= product(e(x), e(l)); @/
  }
*/

/*@
  // NUM-10: what a key with w_j, H_j and T_j adds to the sum of a column where v_ji is x; to how
  // far that sum may be off; to E. Shown, too, where they are computed alone.
  axiomatic TermsOfColumns {
    logic real value_added(real w, real x);
    logic real value_added_here(real w, real x, boolean shown);
    axiom value_added_named: \forall real w, x, boolean shown;
      value_added_here(w, x, shown) == value_added(w, x);
    axiom value_added_is: \forall real w, x, boolean shown;
      value_added_here(w, x, shown) == product(w, x);
    logic real doubt_added(real w, real lack, real x);
    logic real doubt_added_here(real w, real lack, real x, boolean shown);
    axiom doubt_added_named: \forall real w, lack, x, boolean shown;
      doubt_added_here(w, lack, x, shown) == doubt_added(w, lack, x);
    axiom doubt_added_is: \forall real w, lack, x, boolean shown;
      doubt_added_here(w, lack, x, shown) == product(product(w, size_of(x, 0.0)), lack);
    logic real error_added(real h, real t, real x, real expected, real spare);
    logic real error_added_here(real h, real t, real x, real expected, real spare, boolean shown);
    axiom error_added_named: \forall real h, t, x, expected, spare, boolean shown;
      error_added_here(h, t, x, expected, spare, shown) == error_added(h, t, x, expected, spare);
    axiom error_added_is: \forall real h, t, x, expected, spare, boolean shown;
      error_added_here(h, t, x, expected, spare, shown) ==
        product(h, size_of(x - expected, spare)) + product(t, size_of(x, 0.0));
  }
*/

/*@
  // NUM-10, of the first j keys of n, for column i of v, whose rows have d numbers. Scratch has
  // w_j, H_j and T_j. The sum of w_j v_ji; how far it may be off; what the keys add to E.
  axiomatic SumsOfColumns {
    logic real values_of{L}(double *scratch, double *v, integer d, integer i, integer j)
      reads scratch[0 .. j - 1], v[0 .. row_at(j, d) - 1];
    axiom values_of_0{L}: \forall double *scratch, double *v, integer d, i;
      values_of(scratch, v, d, i, 0) == 0.0;
    axiom values_of_next{L}: \forall double *scratch, double *v, integer d, i, j, k;
      0 <= j < k <= j + 1 ==> values_of(scratch, v, d, i, k) ==
        values_of(scratch, v, d, i, j) + value_added(scratch[j], v[row_at(j, d) + i]);
    logic real doubts_of{L}(real lack, double *scratch, double *v, integer d, integer i, integer j)
      reads scratch[0 .. j - 1], v[0 .. row_at(j, d) - 1];
    axiom doubts_of_0{L}: \forall real lack, double *scratch, double *v, integer d, i;
      doubts_of(lack, scratch, v, d, i, 0) == 0.0;
    axiom doubts_of_next{L}: \forall real lack, double *scratch, double *v, integer d, i, j, k;
      0 <= j < k <= j + 1 ==> doubts_of(lack, scratch, v, d, i, k) ==
        doubts_of(lack, scratch, v, d, i, j) + doubt_added(scratch[j],
          scratch[j] <= 0x1p-1021 ? 1.0 : lack, v[row_at(j, d) + i]);
    logic real errors_of{L}(double *scratch, integer n, double *v, integer d, integer i,
                            real expected, real spare, integer j)
      reads scratch[0 .. 2 * n + j - 1], v[0 .. row_at(j, d) - 1];
    axiom errors_of_0{L}: \forall double *scratch, double *v, integer n, d, i,
      real expected, spare; errors_of(scratch, n, v, d, i, expected, spare, 0) == 0.0;
    axiom errors_of_next{L}: \forall double *scratch, double *v, integer n, d, i, j, k,
      real expected, spare; 0 <= j < k <= j + 1 ==>
      errors_of(scratch, n, v, d, i, expected, spare, k) ==
        errors_of(scratch, n, v, d, i, expected, spare, j) + error_added(scratch[n + j],
          scratch[2 * n + j], v[row_at(j, d) + i], expected, spare);
  }
*/

/*@
  // NUM-10: E', and what the output's format adds.
  logic real divided(struct cp_arithmetic a, real size, real error) =
    error + a.u_div * (size + error) + a.eta_div;
  logic real rounded_by(struct cp_format f, real size) = \max(f.unit * size, f.tiny);
  logic real written(struct cp_arithmetic a, real size, real error) =
    divided(a, size, error) + rounded_by(a.output, size + divided(a, size, error));
  // NUM-11: how far a computed lse may be off.
  logic real lse_spare(struct cp_row_bounds b, real lse) =
    b.lack + 0x1p-50 * size_of(lse, 0.0);

  // E of a column, times `left`, from what the keys add to it; and what B is then, where it is
  // claimed (NUM-12).
  logic real column_losses(struct cp_row_bounds b, real of_keys, real expected, real spare) =
    of_keys + product(size_of(expected, spare), b.lost_n) + b.tiny_o;
  axiomatic Columns {
    predicate column_bounded(struct cp_arithmetic a, struct cp_row_bounds b, real of_keys,
                             real expected, real spare, real bound);
    predicate column_bounded_here(struct cp_arithmetic a, struct cp_row_bounds b, real of_keys,
                                  real expected, real spare, real bound, boolean shown);
    axiom column_bounded_named: \forall struct cp_arithmetic a, struct cp_row_bounds b,
      real of_keys, expected, spare, bound, boolean shown;
      column_bounded_here(a, b, of_keys, expected, spare, bound, shown) <==>
      column_bounded(a, b, of_keys, expected, spare, bound);
    axiom column_bounded_is: \forall struct cp_arithmetic a, struct cp_row_bounds b,
      real of_keys, expected, spare, bound, boolean shown;
      column_bounded_here(a, b, of_keys, expected, spare, bound, shown) <==> !finite(bound) ||
      written(a, size_of(expected, spare), column_losses(b, of_keys, expected, spare) / b.left) +
        spare <= bound;
  }
*/

/*@
  // Column i: `expected` is the sum of w_j v_ji, by W. It may be off by `spare`, of which NUM-10
  // has a part in E and one in B.
  logic real column_spare{L}(struct cp_row_bounds b, struct cp_tolerance_row row, integer i) =
    doubts_of(b.lack, row.scratch, row.v, row.value_dim, i, row.n_keys) / b.weights +
    row.n_keys * 0x1p-1074;
  predicate column_ok{L}(struct cp_arithmetic a, struct cp_row_bounds b,
                         struct cp_tolerance_row row, integer i, real expected, real bound) =
    expected == values_of(row.scratch, row.v, row.value_dim, i, row.n_keys) / b.weights &&
    \exists real spare; column_spare(b, row, i) <= spare && column_bounded(a, b,
      errors_of(row.scratch, row.n_keys, row.v, row.value_dim, i, expected, spare, row.n_keys),
      expected, spare, bound);
*/

/*@
  // What key j adds to the sums of each column.
  predicate next_sums{L}(struct cp_row_bounds b, struct cp_tolerance_row r, integer j) =
    (\forall integer i; 0 <= i < r.value_dim ==>
      values_of(r.scratch, r.v, r.value_dim, i, j + 1) ==
        values_of(r.scratch, r.v, r.value_dim, i, j) +
          value_added(r.scratch[j], r.v[row_at(j, r.value_dim) + i])) &&
    (\forall integer i; 0 <= i < r.value_dim ==>
      doubts_of(b.lack, r.scratch, r.v, r.value_dim, i, j + 1) ==
        doubts_of(b.lack, r.scratch, r.v, r.value_dim, i, j) +
          doubt_added(r.scratch[j], r.scratch[j] <= 0x1p-1021 ? 1.0 : b.lack,
            r.v[row_at(j, r.value_dim) + i])) &&
    (\forall integer i, real x, spare; 0 <= i < r.value_dim ==>
      errors_of(r.scratch, r.n_keys, r.v, r.value_dim, i, x, spare, j + 1) ==
        errors_of(r.scratch, r.n_keys, r.v, r.value_dim, i, x, spare, j) +
          error_added(r.scratch[r.n_keys + j], r.scratch[2 * r.n_keys + j],
            r.v[row_at(j, r.value_dim) + i], x, spare));
  // The sums of the first j keys are the same in both states, for each column.
  predicate same_sums{L1,L2}(struct cp_row_bounds b, struct cp_tolerance_row r, integer j) =
    \forall integer i; 0 <= i < r.value_dim ==>
      values_of{L1}(r.scratch, r.v, r.value_dim, i, j) ==
        values_of{L2}(r.scratch, r.v, r.value_dim, i, j) &&
      doubts_of{L1}(b.lack, r.scratch, r.v, r.value_dim, i, j) ==
        doubts_of{L2}(b.lack, r.scratch, r.v, r.value_dim, i, j) &&
      (\forall real x, spare;
        errors_of{L1}(r.scratch, r.n_keys, r.v, r.value_dim, i, x, spare, j) ==
        errors_of{L2}(r.scratch, r.n_keys, r.v, r.value_dim, i, x, spare, j));
*/

/*@
  // NUM-6, NUM-14: how far the score of key j may be off in the class; and in binary64, in which
  // none is further off than Z.
  logic real magnitude_of{L}(struct cp_tolerance_row r, integer j) =
    product(sizes_of(r.q, r.k + row_at(j, r.head_dim), r.head_dim), size_of(r.scale, 0.0));
  logic real sigma_of{L}(struct cp_score_arithmetic s, struct cp_tolerance_row r, integer j) =
    product(score_relative(s), magnitude_of(r, j)) + product(score_lost(s, r.scale, r.head_dim),
      score_sums(s)) + s.scale_tiny + further_of(r, j);
  predicate score_bound_of(struct cp_score_arithmetic s, struct cp_tolerance_row r,
                           struct cp_score_bound of) =
    0.0 <= score_relative(s) <= of.relative && of.tiny == s.scale_tiny &&
    product(score_lost(s, r.scale, r.head_dim), score_sums(s)) <= of.lost;
  lemma sigma_within{L}: \forall struct cp_score_arithmetic s, struct cp_tolerance_row r,
    struct cp_score_bound of, integer j;
    score_bound_of(s, r, of) ==> 0.0 <= magnitude_of(r, j) ==>
    sigma_of(s, r, j) <= score_error_of(of, r, j) + further_of(r, j);
  predicate scored_to{L}(struct cp_tolerance_row r, real z) = \exists struct cp_score_arithmetic s;
    plain_scores(s, r.head_dim, 0x1p-53, 0x1p-1074) && (\forall integer j; 0 <= j < r.n_keys ==>
      sigma_of(s, r, j) - further_of(r, j) + added_of(r, j) <= z);

  // NUM-7: the references, from the scores and their errors.
  predicate references_of{L}(struct cp_arithmetic a, integer changes, struct cp_tolerance_row r,
                             struct cp_row_bounds b) =
    \exists struct cp_row_bounds scores; references_from(a, changes, scores, b) &&
      scores.top == b.top && (\forall integer j; 0 <= j < r.n_keys ==>
        scores.low <= score_of(r, j) <= b.top && sigma_of(a.score, r, j) <= scores.slack);

  // Of W, to nearest, and of what is computed with it: see tolerance.c.
  logic real lack_of(struct cp_row_bounds b, integer n) =
    4.0 * b.largest_z + 4.0 * 0x1p-53 * (\min(\max(b.high - b.low, 0.0), 708.0) + n + 8.0);

  // NUM-6: scratch has the score of key j, and at least its error.
  predicate score_ok{L1,L2}(struct cp_arithmetic a, struct cp_tolerance_row r, integer j) =
    \at(r.scratch[j], L2) == score_of{L1}(r, j) &&
    sigma_of{L1}(a.score, r, j) <= \at(r.scratch[r.n_keys + j], L2);
  // NUM-9: scratch has w_j, H_j and T_j of key j, from its score and at least its error.
  predicate key_from{L1,L2}(struct cp_arithmetic a, struct cp_row_bounds b, integer changes,
                            struct cp_tolerance_row r, integer j, real sigma) =
    sigma_of{L1}(a.score, r, j) <= sigma &&
      key_bounded(a, b, changes, score_of{L1}(r, j), sigma, \at(r.scratch[j], L2),
        \at(r.scratch[r.n_keys + j], L2), \at(r.scratch[2 * r.n_keys + j], L2));
  predicate key_ok{L1,L2}(struct cp_arithmetic a, struct cp_row_bounds b, integer changes,
                          struct cp_tolerance_row r, integer j) =
    \exists real sigma; key_from{L1,L2}(a, b, changes, r, j, sigma);
  predicate key_by{L1,L2,L3}(struct cp_arithmetic a, struct cp_row_bounds b, integer changes,
                             struct cp_tolerance_row r, integer j) =
    key_from{L1,L3}(a, b, changes, r, j, \at(r.scratch[r.n_keys + j], L2));
  predicate sums_ok{L}(struct cp_row_bounds b, struct cp_tolerance_row r) =
    b.weights == total_of(r.scratch, r.n_keys) &&
    total_of(r.scratch + r.n_keys, r.n_keys) <= b.shared;

  // All that is known of a row: NUM-5 to NUM-9, each from its formula.
  predicate growths_ok(struct cp_arithmetic a, struct cp_counts c, struct cp_row_bounds b) =
    power(1.0 + a.u_n, c.depth_n) * power(1.0 + a.u_part, c.stores) - 1.0 <= b.growth_n &&
    power(1.0 + a.u_o, c.depth_o) * power(1.0 + a.u_part, c.stores) - 1.0 <= b.growth_o &&
    power(stretched(a, b), c.changes) <= b.stretch;
  predicate losses_ok(struct cp_arithmetic a, struct cp_counts c, struct cp_row_bounds b) =
    product(b.weights, 1.0 + b.lack) <= b.most &&
    product(b.growth_n, b.most + b.shared) + tiny(b, c.operations_n, a.eta_n, b.growth_n) <=
      b.lost_n &&
    tiny(b, c.operations_o, a.eta_o, b.growth_o) <= b.tiny_o;
  predicate row_ok{L1,L2}(struct cp_arithmetic a, struct cp_counts c, struct cp_tolerance_row r,
                          struct cp_row_bounds b) =
    bounds_ok(b) && scored_to{L1}(r, b.largest_z) && references_of{L1}(a, c.changes, r, b) &&
    b.lack == lack_of(b, r.n_keys) && growths_ok(a, c, b) && losses_ok(a, c, b) &&
    (\forall integer j; 0 <= j < r.n_keys ==> key_ok{L1,L2}(a, b, c.changes, r, j)) &&
    sums_ok{L2}(b, r);
*/

/*@
  predicate same_totals{L1,L2}(struct cp_tolerance_row r, integer j) =
    total_of{L1}(r.scratch, j) == total_of{L2}(r.scratch, j) &&
    total_of{L1}(r.scratch + r.n_keys, j) == total_of{L2}(r.scratch + r.n_keys, j);

  // NUM-10 to NUM-12: what may be claimed of a row, of a column, and of the log-sum-exp.
  predicate claimable(struct cp_row_bounds b) = b.largest_z <= 0x1p-30 && 0.0 < b.left;
  predicate column_claimed{L}(struct cp_arithmetic a, struct cp_row_bounds b,
                              struct cp_tolerance_row r, integer i, real expected, real bound) =
    !finite(bound) || (claimable(b) && column_ok(a, b, r, i, expected, bound));
  predicate columns_claimed{L1,L2}(struct cp_arithmetic a, struct cp_row_bounds b,
                                   struct cp_tolerance_row r, double *expected, double *bound) =
    \forall integer i; 0 <= i < r.value_dim ==>
      column_claimed{L1}(a, b, r, i, \at(expected[i], L2), \at(bound[i], L2));
  predicate lse_ok(struct cp_row_bounds b, real lse_error, real lse, real bound) =
    e(lse) == product(e(b.top), b.weights) && (!finite(bound) || (claimable(b) &&
      product(b.least, e(lse_error + lse_spare(b, lse) - bound)) <=
        b.least - b.shared - b.lost_n));

  axiomatic ClaimsOfRows {
    axiom row_claimed_is{L1,L2}: \forall struct cp_arithmetic a, struct cp_counts c,
      struct cp_tolerance_row r, double *expected, *bound;
      row_claimed{L1,L2}(a, c, r, expected, bound) <==> \exists struct cp_row_bounds b;
        row_ok{L1,L2}(a, c, r, b) && columns_claimed{L2,L2}(a, b, r, expected, bound);
    axiom lse_claimed_is{L1,L2}: \forall struct cp_arithmetic a, struct cp_counts c,
      struct cp_tolerance_row r, real lse_error, lse, bound;
      lse_claimed{L1,L2}(a, c, r, lse_error, lse, bound) <==> \exists struct cp_row_bounds b;
        row_ok{L1,L2}(a, c, r, b) && lse_ok(b, lse_error, lse, bound);
  }
*/

#endif

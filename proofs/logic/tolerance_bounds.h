/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of ref/tolerance.c that have their signs, and what it computes of NUM-9 and NUM-10.
 * Included by ref/tolerance.c, after struct row_bounds. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TOLERANCE_BOUNDS_H
#define CHUNKPROOF_LOGIC_TOLERANCE_BOUNDS_H

/*@
  // From the scores: what all other numbers rest on.
  predicate references_ok(struct row_bounds b) =
    0.0 <= b.largest_z && 0.0 <= b.slack && 0.0 <= b.h && 0.0 <= b.rise && b.top <= b.high;
  predicate growth_ok(struct row_bounds b) =
    references_ok(b) && 0.0 <= b.lack && 0.0 <= b.stretch && 0.0 <= b.growth_n && 0.0 <= b.growth_o;
  predicate bounds_ok(struct row_bounds b) =
    growth_ok(b) && 0.0 < b.weights && 0.0 <= b.shared && 0.0 <= b.lost_n && 0.0 <= b.tiny_o &&
    b.weights <= b.most && b.least <= b.weights - product(b.weights, b.lack) &&
    b.left <= b.least - b.shared - b.lost_n;

  // Scratch after compute_weights().
  predicate weighed{L}(double *scratch, integer n, integer j) =
    0.0 < scratch[j] && 0.0 <= scratch[n + j] && 0.0 <= scratch[2 * n + j];
*/

/*@
  // NUM-9: X_j, Z included.
  logic real way(struct row_bounds b, real score, real sigma, integer changes) =
    sigma + (b.high - score + b.largest_z) + 2.0 * b.slack * (changes + 1.0);
  logic real stray(struct cp_arithmetic a, struct row_bounds b, real score, real sigma,
                   integer changes) =
    sigma + a.u_arg * way(b, score, sigma, changes) + a.u_ref * b.h + a.eps +
    changes * (a.eps + 2.0 * a.u_move * b.h);
*/

/*@
  // NUM-10: E', and what the output's format adds.
  logic real divided(struct cp_arithmetic a, real size, real error) =
    error + a.u_div * (size + error) + a.eta_div;
  logic real rounded_by(struct cp_format f, real size) = \max(f.unit * size, f.tiny);
  // |o| at most.
  logic real size_of(real expected, real spare) =
    (expected >= 0.0 ? expected : -expected) + spare;
*/

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/schema.c: what is true of the sizes of every schema. Each function is a lemma, its
 * contract the statement, its body the proof; a loop is an induction. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_SCHEMA_SIZES_H
#define CHUNKPROOF_LOGIC_SCHEMA_SIZES_H

#include "chunkproof/schema.h"

/*@
  // The more parts of x are counted, the larger the size; with all it is the size of x.
  predicate rests_rise{L}(struct cp_part *part, integer n, integer x) =
    \forall integer k; x < k <= n ==>
      0 <= part_rest(part, n, x, k) <= part_size(part, n, x);
  predicate are_nested{L}(struct cp_part *part, integer n) =
    \forall integer x; 0 < x < n ==>
      0 <= part_size(part, n, x) <= part_rest(part, n, part[x].parent, x) <=
        part_size(part, n, part[x].parent);
  predicate are_split{L}(struct cp_part *part, integer n) =
    \forall integer x; 0 < x < n && part[part[x].parent].kind == CP_PART_MODULE ==>
      part_before(part, n, part[x].parent, x) + part_rest(part, n, part[x].parent, x) ==
        part_size(part, n, part[x].parent);
  predicate fit_in_root{L}(struct cp_part *part, integer n) =
    \forall integer x; 0 <= x < n ==> part_size(part, n, x) <= part_size(part, n, 0);

  // The parts of a module before part k, and the others.
  predicate is_split{L}(struct cp_part *part, integer n, integer x) =
    part[x].kind == CP_PART_MODULE ==> \forall integer k; x < k <= n ==>
      part_before(part, n, x, k) + part_rest(part, n, x, k) == part_size(part, n, x);

  // What the loops need of a schema, without its order.
  predicate parents_first{L}(struct cp_part *part, integer n) =
    \forall integer x; 0 < x < n ==> 0 <= part[x].parent < x && has_parts(part[part[x].parent]);
  predicate own_sizes{L}(struct cp_part *part, integer n) =
    \forall integer x; 0 <= x < n ==> part_rest(part, n, x, n) == part[x].size;
  predicate parts_kept{L, M}(struct cp_part *part, integer n) =
    \forall integer x; 0 <= x < n ==> \at(part[x].kind, L) == \at(part[x].kind, M) &&
      \at(part[x].parent, L) == \at(part[x].parent, M);

  predicate same_parents{L, M}(struct cp_part *part, integer n) =
    \forall integer x; 0 < x < n ==>
      \at(part[x].parent, M) == \at(part[x].parent, L) &&
      \at(part[part[x].parent].kind, M) == \at(part[part[x].parent].kind, L);

  predicate sizes_ok{L}(struct cp_part *part, integer n) =
    parents_first(part, n) && own_sizes(part, n) &&
    (\forall integer x; 0 <= x < n ==> rests_rise(part, n, x)) && are_nested(part, n) &&
    are_split(part, n) && fit_in_root(part, n);

  logic integer with_one_more(integer kind, integer size, integer more) =
    kind == CP_PART_UNION ? larger(more, size) : size + more;

  // How far into its parent part x begins, from what measure() has written.
  logic integer offset{L}(struct cp_part *part, int *begin, int *size, integer x) =
    part[part[x].parent].kind == CP_PART_UNION ? 0 : size[part[x].parent] - begin[x];
  predicate parts_fit{L}(struct cp_part *part, integer n, int *begin, int *size) =
    size[0] <= CP_MAX_POSITIONS && parents_first(part, n) &&
    (\forall integer x; 0 <= x < n ==> 0 <= size[x]) &&
    (\forall integer x; 0 < x < n ==> 0 <= offset(part, begin, size, x) &&
      offset(part, begin, size, x) + size[x] <= size[part[x].parent]);

  // The parts from x on have their sizes; begin[] has what is not before a part. L is the state
  // in which the parts are looked at, M that of the arrays.
  predicate measured{L, M}(struct cp_part *part, integer n, integer x, int *size) =
    \forall integer y; x <= y < n ==> \at(size[y], M) == part_size{L}(part, n, y);
  predicate rest_kept{L, M}(struct cp_part *part, integer n, integer x, int *begin) =
    \forall integer y; x < y < n && \at(part[part[y].parent].kind, L) == CP_PART_MODULE ==>
      \at(begin[y], M) == part_rest{L}(part, n, \at(part[y].parent, L), y);
*/

/*@ ghost
  /@ requires ok: schema_ok(part, n) && 0 <= x < n;
     requires valid: \valid_read(part + (0 .. n - 1));
     requires inner: \forall integer y; x < y < n ==> 0 <= part_size(part, n, y);
     assigns \nothing;
     ensures rise: rests_rise(part, n, x); @/
  void sizes_rise(const struct cp_part *part, int n, int x) {
    int k = n - 1;
    int kind = part[x].kind;
    /@ loop invariant k: x <= k < n;
       loop invariant rise: \forall integer j; k < j <= n ==>
         0 <= part_rest(part, n, x, j) <= part_rest(part, n, x, k + 1);
       loop assigns k; loop variant k; @/
    while (k > x) {
      if (part[k].parent == x && (kind == CP_PART_MODULE || kind == CP_PART_UNION)) {
        /@ assert one: 0 <= part_rest(part, n, k, k + 1); @/
        /@ assert more: part_rest(part, n, x, k) ==
             with_one_more(kind, part_rest(part, n, x, k + 1), part_rest(part, n, k, k + 1)); @/
      } else {
        /@ assert same: part_rest(part, n, x, k) == part_rest(part, n, x, k + 1); @/
      }
      /@ assert step: 0 <= part_rest(part, n, x, k + 1) <= part_rest(part, n, x, k); @/
      k--;
    }
  }
*/

/*@ ghost
  /@ requires ok: schema_ok(part, n) && 0 <= x < n;
     requires module: part[x].kind == CP_PART_MODULE;
     requires valid: \valid_read(part + (0 .. n - 1));
     assigns \nothing;
     ensures split: is_split(part, n, x); @/
  void size_is_split(const struct cp_part *part, int n, int x) {
    int k = x + 1;
    /@ assert none: part_before(part, n, x, x + 1) == 0; @/
    /@ loop invariant k: x < k <= n;
       loop invariant split: \forall integer j; x < j <= k ==>
         part_before(part, n, x, j) + part_rest(part, n, x, j) == part_size(part, n, x);
       loop assigns k; loop variant n - k; @/
    while (k < n) {
      /@ assert before: part_before(part, n, x, k + 1) == part_before(part, n, x, k) +
           (part[k].parent == x ? part_rest(part, n, k, k + 1) : 0); @/
      /@ assert rest: part_rest(part, n, x, k) == part_rest(part, n, x, k + 1) +
           (part[k].parent == x ? part_rest(part, n, k, k + 1) : 0); @/
      k++;
    }
  }
*/

/*@ ghost
  /@ requires ok: schema_ok(part, n);
     requires valid: \valid_read(part + (0 .. n - 1));
     assigns \nothing;
     ensures sizes: sizes_ok(part, n); @/
  void sizes_of_schema(const struct cp_part *part, int n) {
    int x = n;
    /@ loop invariant x: 0 <= x <= n;
       loop invariant rise: \forall integer y; x <= y < n ==> rests_rise(part, n, y);
       loop invariant split: \forall integer y; x <= y < n ==> is_split(part, n, y);
       loop invariant sizes: \forall integer y; x <= y < n ==> 0 <= part_size(part, n, y);
       loop assigns x; loop variant x; @/
    while (x > 0) {
      x--;
      sizes_rise(part, n, x);
      if (part[x].kind == CP_PART_MODULE) {
        size_is_split(part, n, x);
      }
    }
    /@ assert parents: parents_first(part, n); @/
    /@ assert own: own_sizes(part, n); @/
    /@ assert parent: \forall integer y; 0 < y < n ==> rests_rise(part, n, part[y].parent); @/
    /@ assert behind: \forall integer y; 0 < y < n ==>
         0 <= part_rest(part, n, part[y].parent, y + 1); @/
    /@ assert module: \forall integer y; 0 < y < n ==> is_split(part, n, part[y].parent); @/
    /@ assert are_split: are_split(part, n); @/
    /@ assert nested: are_nested(part, n); @/
    /@ loop invariant x: 0 <= x <= n;
       loop invariant root: \forall integer y; 0 <= y < x ==>
         part_size(part, n, y) <= part_size(part, n, 0);
       loop assigns x; loop variant n - x; @/
    while (x < n) {
      x++;
    }
  }
*/

#endif

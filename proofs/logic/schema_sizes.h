/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/schema.c: what is true of the sizes of every schema. Each function is a lemma, its
 * contract the statement, its body the proof; a loop is an induction. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_SCHEMA_SIZES_H
#define CHUNKPROOF_LOGIC_SCHEMA_SIZES_H

#include "chunkproof/schema.h"

/*@
  // The more parts of x are counted, the larger the size; with all it is the size of x.
  predicate rests_rise{L}(struct cp_part *schema, integer n, integer x) =
    \forall integer k; x < k <= n ==>
      0 <= part_rest(schema, n, x, k) <= part_size(schema, n, x);
  predicate are_nested{L}(struct cp_part *schema, integer n) =
    \forall integer x; 0 < x < n ==>
      0 <= part_size(schema, n, x) <= part_rest(schema, n, schema[x].parent, x) <=
        part_size(schema, n, schema[x].parent);
  predicate are_split{L}(struct cp_part *schema, integer n) =
    \forall integer x; 0 < x < n && schema[schema[x].parent].kind == CP_PART_MODULE ==>
      part_before(schema, n, schema[x].parent, x) + part_rest(schema, n, schema[x].parent, x) ==
        part_size(schema, n, schema[x].parent);
  predicate fit_in_root{L}(struct cp_part *schema, integer n) =
    \forall integer x; 0 <= x < n ==> part_size(schema, n, x) <= part_size(schema, n, 0);

  // The parts of a module before part k, and the others.
  predicate is_split{L}(struct cp_part *schema, integer n, integer x) =
    schema[x].kind == CP_PART_MODULE ==> \forall integer k; x < k <= n ==>
      part_before(schema, n, x, k) + part_rest(schema, n, x, k) == part_size(schema, n, x);

  // What the loops need of a schema, without its order.
  predicate parents_first{L}(struct cp_part *schema, integer n) =
    \forall integer x; 0 < x < n ==>
      0 <= schema[x].parent < x && has_parts(schema[schema[x].parent]);
  predicate own_sizes{L}(struct cp_part *schema, integer n) =
    \forall integer x; 0 <= x < n ==> part_rest(schema, n, x, n) == schema[x].size;
  predicate parts_kept{L, M}(struct cp_part *schema, integer n) =
    \forall integer x; 0 <= x < n ==> \at(schema[x].kind, L) == \at(schema[x].kind, M) &&
      \at(schema[x].parent, L) == \at(schema[x].parent, M);

  predicate same_parents{L, M}(struct cp_part *schema, integer n) =
    \forall integer x; 0 < x < n ==>
      \at(schema[x].parent, M) == \at(schema[x].parent, L) &&
      \at(schema[schema[x].parent].kind, M) == \at(schema[schema[x].parent].kind, L);

  predicate sizes_ok{L}(struct cp_part *schema, integer n) =
    parents_first(schema, n) && own_sizes(schema, n) &&
    (\forall integer x; 0 <= x < n ==> rests_rise(schema, n, x)) && are_nested(schema, n) &&
    are_split(schema, n) && fit_in_root(schema, n);

  logic integer with_one_more(integer kind, integer size, integer more) =
    kind == CP_PART_UNION ? larger(more, size) : size + more;

  // How far into its parent part x begins, from what measure() has written.
  logic integer offset{L}(struct cp_part *schema, int *begin, int *size, integer x) =
    schema[schema[x].parent].kind == CP_PART_UNION ? 0 : size[schema[x].parent] - begin[x];
  predicate parts_fit{L}(struct cp_part *schema, integer n, int *begin, int *size) =
    size[0] <= CP_MAX_POSITIONS && parents_first(schema, n) &&
    (\forall integer x; 0 <= x < n ==> 0 <= size[x]) &&
    (\forall integer x; 0 < x < n ==> 0 <= offset(schema, begin, size, x) &&
      offset(schema, begin, size, x) + size[x] <= size[schema[x].parent]);

  // The parts from x on have their sizes; begin[] has what is not before a part. L is the state
  // in which the parts are looked at, M that of the arrays.
  predicate measured{L, M}(struct cp_part *schema, integer n, integer x, int *size) =
    \forall integer y; x <= y < n ==> \at(size[y], M) == part_size{L}(schema, n, y);
  predicate rest_kept{L, M}(struct cp_part *schema, integer n, integer x, int *begin) =
    \forall integer y; x < y < n && \at(schema[schema[y].parent].kind, L) == CP_PART_MODULE ==>
      \at(begin[y], M) == part_rest{L}(schema, n, \at(schema[y].parent, L), y);
*/

/*@ ghost
  /@ requires ok: schema_ok(schema, n) && 0 <= x < n;
     requires valid: \valid_read(schema + (0 .. n - 1));
     requires inner: \forall integer y; x < y < n ==> 0 <= part_size(schema, n, y);
     assigns \nothing;
     ensures rise: rests_rise(schema, n, x); @/
  void sizes_rise(const struct cp_part *schema, int n, int x) {
    int k = n - 1;
    int kind = schema[x].kind;
    /@ loop invariant k: x <= k < n;
       loop invariant rise: \forall integer j; k < j <= n ==>
         0 <= part_rest(schema, n, x, j) <= part_rest(schema, n, x, k + 1);
       loop assigns k; loop variant k; @/
    while (k > x) {
      if (schema[k].parent == x && (kind == CP_PART_MODULE || kind == CP_PART_UNION)) {
        /@ assert one: 0 <= part_rest(schema, n, k, k + 1); @/
        /@ assert more: part_rest(schema, n, x, k) ==
             with_one_more(kind, part_rest(schema, n, x, k + 1), part_rest(schema, n, k, k + 1)); @/
      } else {
        /@ assert same: part_rest(schema, n, x, k) == part_rest(schema, n, x, k + 1); @/
      }
      /@ assert step: 0 <= part_rest(schema, n, x, k + 1) <= part_rest(schema, n, x, k); @/
      k--;
    }
  }
*/

/*@ ghost
  /@ requires ok: schema_ok(schema, n) && 0 <= x < n;
     requires module: schema[x].kind == CP_PART_MODULE;
     requires valid: \valid_read(schema + (0 .. n - 1));
     assigns \nothing;
     ensures split: is_split(schema, n, x); @/
  void size_is_split(const struct cp_part *schema, int n, int x) {
    int k = x + 1;
    /@ assert none: part_before(schema, n, x, x + 1) == 0; @/
    /@ loop invariant k: x < k <= n;
       loop invariant split: \forall integer j; x < j <= k ==>
         part_before(schema, n, x, j) + part_rest(schema, n, x, j) == part_size(schema, n, x);
       loop assigns k; loop variant n - k; @/
    while (k < n) {
      /@ assert before: part_before(schema, n, x, k + 1) == part_before(schema, n, x, k) +
           (schema[k].parent == x ? part_rest(schema, n, k, k + 1) : 0); @/
      /@ assert rest: part_rest(schema, n, x, k) == part_rest(schema, n, x, k + 1) +
           (schema[k].parent == x ? part_rest(schema, n, k, k + 1) : 0); @/
      k++;
    }
  }
*/

/*@ ghost
  /@ requires ok: schema_ok(schema, n);
     requires valid: \valid_read(schema + (0 .. n - 1));
     assigns \nothing;
     ensures sizes: sizes_ok(schema, n); @/
  void sizes_of_schema(const struct cp_part *schema, int n) {
    int x = n;
    /@ loop invariant x: 0 <= x <= n;
       loop invariant rise: \forall integer y; x <= y < n ==> rests_rise(schema, n, y);
       loop invariant split: \forall integer y; x <= y < n ==> is_split(schema, n, y);
       loop invariant sizes: \forall integer y; x <= y < n ==> 0 <= part_size(schema, n, y);
       loop assigns x; loop variant x; @/
    while (x > 0) {
      x--;
      sizes_rise(schema, n, x);
      if (schema[x].kind == CP_PART_MODULE) {
        size_is_split(schema, n, x);
      }
    }
    /@ assert parents: parents_first(schema, n); @/
    /@ assert own: own_sizes(schema, n); @/
    /@ assert parent: \forall integer y; 0 < y < n ==> rests_rise(schema, n, schema[y].parent); @/
    /@ assert behind: \forall integer y; 0 < y < n ==>
         0 <= part_rest(schema, n, schema[y].parent, y + 1); @/
    /@ assert module: \forall integer y; 0 < y < n ==> is_split(schema, n, schema[y].parent); @/
    /@ assert are_split: are_split(schema, n); @/
    /@ assert nested: are_nested(schema, n); @/
    /@ loop invariant x: 0 <= x <= n;
       loop invariant root: \forall integer y; 0 <= y < x ==>
         part_size(schema, n, y) <= part_size(schema, n, 0);
       loop assigns x; loop variant n - x; @/
    while (x < n) {
      x++;
    }
  }
*/

#endif

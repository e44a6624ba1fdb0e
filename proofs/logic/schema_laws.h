/* SPDX-License-Identifier: Apache-2.0 */
/* MOD-2: what follows from where the parts of a schema begin (MOD-1). A function is a lemma, its
 * contract the statement, its body the proof; a loop is an induction. Provers alone read this
 * file; proofs/wp/schema_laws.c has them proved. */
#ifndef CHUNKPROOF_LOGIC_SCHEMA_LAWS_H
#define CHUNKPROOF_LOGIC_SCHEMA_LAWS_H

#include "proofs/logic/schema_sizes.h"

/*@
  logic integer part_end{L}(struct cp_part *schema, integer n, integer x) =
    part_begin(schema, n, x) + part_size(schema, n, x);

  // Part y is x, or inside of x: in a schema nothing between them stands in an earlier part than x.
  predicate is_in{L}(struct cp_part *schema, integer y, integer x) =
    x <= y && \forall integer z; x < z <= y ==> x <= schema[z].parent;

  // The positions of y are among those of x.
  predicate covers{L}(struct cp_part *schema, integer n, integer x, integer y) =
    part_begin(schema, n, x) <= part_begin(schema, n, y) &&
    part_end(schema, n, y) <= part_end(schema, n, x);

  // MOD-2: x and y are in different members of one union.
  predicate are_apart{L}(struct cp_part *schema, integer x, integer y) =
    \exists integer a, b; 0 < a <= x && a < b <= y && same_union(schema, a, b) &&
      is_in(schema, x, a) && is_in(schema, y, b);
*/

/* A part has its positions among those of its parent. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n);
     requires valid: \valid_read(schema + (0 .. n - 1));
     requires x: 0 < x < n;
     assigns \nothing;
     ensures covers: covers(schema, n, schema[x].parent, x); @/
  void schema_part_in_parent(const struct cp_part *schema, int n, int x) {
    int of = schema[x].parent;
    /@ assert begin: part_begin(schema, n, x) == part_begin(schema, n, of) +
         offset_in(schema, n, of, x); @/
    /@ assert rest: part_size(schema, n, x) <= part_rest(schema, n, of, x) <=
         part_size(schema, n, of); @/
    /@ assert split: schema[of].kind == CP_PART_MODULE ==>
         part_before(schema, n, of, x) + part_rest(schema, n, of, x) ==
           part_size(schema, n, of); @/
  }
*/

/* MOD-2: if y is inside of x, its positions are inside those of x. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n);
     requires valid: \valid_read(schema + (0 .. n - 1));
     requires inside: 0 <= x && y < n && is_in(schema, y, x);
     assigns \nothing;
     ensures mod_2_inside: covers(schema, n, x, y); @/
  void schema_inside(const struct cp_part *schema, int n, int x, int y) {
    int z = y;
    /@ loop invariant range: x <= z <= y;
       loop invariant covers: covers(schema, n, z, y);
       loop assigns z; loop variant z; @/
    while (z > x) {
      schema_part_in_parent(schema, n, z);
      z = schema[z].parent;
    }
  }
*/

/* The parts of a module follow each other. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n);
     requires valid: \valid_read(schema + (0 .. n - 1));
     requires parts: 0 < a < b < n && schema[a].parent == of && schema[b].parent == of;
     requires module: schema[of].kind == CP_PART_MODULE;
     assigns \nothing;
     ensures follows: part_end(schema, n, a) <= part_begin(schema, n, b); @/
  void schema_siblings(const struct cp_part *schema, int n, int of, int a, int b) {
    int k = a;
    /@ assert first: 0 <= of < a; @/
    /@ assert next: part_before(schema, n, of, a + 1) ==
         part_before(schema, n, of, a) + part_size(schema, n, a); @/
    k = a + 1;
    /@ loop invariant range: a < k <= b;
       loop invariant rises: part_before(schema, n, of, a + 1) <= part_before(schema, n, of, k);
       loop assigns k; loop variant b - k; @/
    while (k < b) {
      /@ assert size: 0 <= part_size(schema, n, k); @/
      /@ assert step: part_before(schema, n, of, k) <= part_before(schema, n, of, k + 1); @/
      k++;
    }
    /@ assert begin_a: part_begin(schema, n, a) == part_begin(schema, n, of) +
         part_before(schema, n, of, a); @/
    /@ assert begin_b: part_begin(schema, n, b) == part_begin(schema, n, of) +
         part_before(schema, n, of, b); @/
  }
*/

/* MOD-2: if y is not inside of x, then x ends before y begins, or both are in different members of
 * a union. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n);
     requires valid: \valid_read(schema + (0 .. n - 1));
     requires outside: 0 <= x < y < n && !is_in(schema, y, x);
     assigns \nothing;
     ensures mod_2_outside: part_end(schema, n, x) <= part_begin(schema, n, y) ||
       are_apart(schema, x, y); @/
  void schema_outside(const struct cp_part *schema, int n, int x, int y) {
    int b = y;
    /@ loop invariant range: x < b <= y;
       loop invariant inside: is_in(schema, y, b);
       loop assigns b; loop variant b; @/
    while (schema[b].parent >= x) {
      /@ assert in_parent: is_in(schema, y, schema[b].parent); @/
      b = schema[b].parent;
    }
    int of = schema[b].parent;
    int a = x;
    /@ assert of: 0 <= of < x; @/
    /@ loop invariant range: of < a <= x;
       loop invariant inside: is_in(schema, x, a);
       loop assigns a; loop variant a; @/
    while (schema[a].parent > of) {
      /@ assert in_parent: is_in(schema, x, schema[a].parent); @/
      a = schema[a].parent;
    }
    /@ assert siblings: schema[a].parent == of; @/
    schema_inside(schema, n, a, x);
    schema_inside(schema, n, b, y);
    if (schema[of].kind == CP_PART_MODULE) {
      schema_siblings(schema, n, of, a, b);
      /@ assert ends: part_end(schema, n, x) <= part_begin(schema, n, y); @/
    } else {
      /@ assert union: schema[of].kind == CP_PART_UNION; @/
      /@ assert members: same_union(schema, a, b); @/
      /@ assert apart: are_apart(schema, x, y); @/
    }
  }
*/

/* MOD-2: a prompt that imports a module imports those around it. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && imports_ok(schema, imported, n);
     requires valid: \valid_read(schema + (0 .. n - 1)) && \valid_read(imported + (0 .. n - 1));
     requires m: 0 <= m < n && schema[m].kind == CP_PART_MODULE && imported[m] != 0;
     assigns \nothing;
     ensures around: \forall integer a; 0 <= a < n && schema[a].kind == CP_PART_MODULE &&
       is_in(schema, m, a) ==> imported[a] != 0; @/
  void schema_modules_around(const struct cp_part *schema, int n, const int *imported, int m) {
    int z = m;
    /@ loop invariant range: 0 <= z <= m;
       loop invariant module: schema[z].kind == CP_PART_MODULE && imported[z] != 0;
       loop invariant around: \forall integer a; z <= a && schema[a].kind == CP_PART_MODULE &&
         is_in(schema, m, a) ==> imported[a] != 0;
       loop assigns z; loop variant z; @/
    while (z > 0) {
      int of = schema[z].parent;
      z = schema[of].kind == CP_PART_UNION ? schema[of].parent : of;
    }
  }
*/

/* MOD-2: of two texts or params that a prompt has, the first ends before the second begins. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n) && imports_ok(schema, imported, n);
     requires valid: \valid_read(schema + (0 .. n - 1)) && \valid_read(imported + (0 .. n - 1));
     requires order: 0 < x < y < n;
     requires leaves: !has_parts(schema[x]) && !has_parts(schema[y]);
     requires has: imported[schema[x].parent] != 0 && imported[schema[y].parent] != 0;
     assigns \nothing;
     ensures mod_2_prompt: part_end(schema, n, x) <= part_begin(schema, n, y); @/
  void schema_prompt(const struct cp_part *schema, int n, const int *imported, int x, int y) {
    /@ assert next: schema[x + 1].parent != x; @/
    /@ assert outside: !is_in(schema, y, x); @/
    schema_outside(schema, n, x, y);
    schema_modules_around(schema, n, imported, schema[x].parent);
    schema_modules_around(schema, n, imported, schema[y].parent);
    /@ assert in_a: \forall integer a; 0 < a < n && schema[a].kind == CP_PART_MODULE &&
         is_in(schema, x, a) ==> is_in(schema, schema[x].parent, a) && imported[a] != 0; @/
    /@ assert in_b: \forall integer b; 0 < b < n && schema[b].kind == CP_PART_MODULE &&
         is_in(schema, y, b) ==> is_in(schema, schema[y].parent, b) && imported[b] != 0; @/
    /@ assert members: \forall integer a, b; 0 < a < b < n && same_union(schema, a, b) ==>
         schema[a].kind == CP_PART_MODULE && schema[b].kind == CP_PART_MODULE; @/
    /@ assert one: \forall integer a, b; 0 < a < b < n && same_union(schema, a, b) &&
         imported[b] != 0 ==> import_ok(schema, imported, b) && imported[a] == 0; @/
    /@ assert together: !are_apart(schema, x, y); @/
  }
*/

#endif

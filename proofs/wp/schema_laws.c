/* SPDX-License-Identifier: Apache-2.0 */
/* MOD-2: what follows from where the parts of a schema begin (MOD-1). A function is a lemma, its
 * contract the statement, its body the proof; a loop is an induction. */
#include "chunkproof/schema.h"
#include "proofs/logic/schema_sizes.h"

/*@
  logic integer part_end{L}(struct cp_part *part, integer n, integer x) =
    part_begin(part, n, x) + part_size(part, n, x);

  // Part y is x, or inside of x: in a schema nothing between them stands in an earlier part than x.
  predicate is_in{L}(struct cp_part *part, integer y, integer x) =
    x <= y && \forall integer z; x < z <= y ==> x <= part[z].parent;

  // The positions of y are among those of x.
  predicate covers{L}(struct cp_part *part, integer n, integer x, integer y) =
    part_begin(part, n, x) <= part_begin(part, n, y) &&
    part_end(part, n, y) <= part_end(part, n, x);

  // MOD-2: x and y are in different members of one union.
  predicate are_apart{L}(struct cp_part *part, integer x, integer y) =
    \exists integer a, b; 0 < a <= x && a < b <= y && same_union(part, a, b) &&
      is_in(part, x, a) && is_in(part, y, b);
*/

/* A part has its positions among those of its parent. */
/*@
  requires ok: schema_ok(part, n) && sizes_ok(part, n);
  requires valid: \valid_read(part + (0 .. n - 1));
  requires x: 0 < x < n;
  assigns \nothing;
  ensures covers: covers(part, n, part[x].parent, x);
*/
void schema_part_in_parent(const struct cp_part *part, int n, int x) {
    int of = part[x].parent;
    /*@ assert begin: part_begin(part, n, x) == part_begin(part, n, of) +
          offset_in(part, n, of, x); */
    /*@ assert rest: part_size(part, n, x) <= part_rest(part, n, of, x) <=
          part_size(part, n, of); */
    /*@ assert split: part[of].kind == CP_PART_MODULE ==>
          part_before(part, n, of, x) + part_rest(part, n, of, x) == part_size(part, n, of); */
}

/* MOD-2: if y is inside of x, its positions are inside those of x. */
/*@
  requires ok: schema_ok(part, n) && sizes_ok(part, n);
  requires valid: \valid_read(part + (0 .. n - 1));
  requires inside: 0 <= x && y < n && is_in(part, y, x);
  assigns \nothing;
  ensures mod_2_inside: covers(part, n, x, y);
*/
void schema_inside(const struct cp_part *part, int n, int x, int y) {
    int z = y;
    /*@ loop invariant range: x <= z <= y;
        loop invariant covers: covers(part, n, z, y);
        loop assigns z; loop variant z; */
    while (z > x) {
        schema_part_in_parent(part, n, z);
        z = part[z].parent;
    }
}

/* The parts of a module follow each other. */
/*@
  requires ok: schema_ok(part, n) && sizes_ok(part, n);
  requires valid: \valid_read(part + (0 .. n - 1));
  requires parts: 0 < a < b < n && part[a].parent == of && part[b].parent == of;
  requires module: part[of].kind == CP_PART_MODULE;
  assigns \nothing;
  ensures follows: part_end(part, n, a) <= part_begin(part, n, b);
*/
void schema_siblings(const struct cp_part *part, int n, int of, int a, int b) {
    int k = a;
    //@ assert first: 0 <= of < a;
    /*@ assert next: part_before(part, n, of, a + 1) ==
          part_before(part, n, of, a) + part_size(part, n, a); */
    k = a + 1;
    /*@ loop invariant range: a < k <= b;
        loop invariant rises: part_before(part, n, of, a + 1) <= part_before(part, n, of, k);
        loop assigns k; loop variant b - k; */
    while (k < b) {
        //@ assert size: 0 <= part_size(part, n, k);
        //@ assert step: part_before(part, n, of, k) <= part_before(part, n, of, k + 1);
        k++;
    }
    /*@ assert begin_a: part_begin(part, n, a) == part_begin(part, n, of) +
          part_before(part, n, of, a); */
    /*@ assert begin_b: part_begin(part, n, b) == part_begin(part, n, of) +
          part_before(part, n, of, b); */
}

/* MOD-2: if y is not inside of x, then x ends before y begins, or both are in different members of
 * a union. */
/*@
  requires ok: schema_ok(part, n) && sizes_ok(part, n);
  requires valid: \valid_read(part + (0 .. n - 1));
  requires outside: 0 <= x < y < n && !is_in(part, y, x);
  assigns \nothing;
  ensures mod_2_outside: part_end(part, n, x) <= part_begin(part, n, y) || are_apart(part, x, y);
*/
void schema_outside(const struct cp_part *part, int n, int x, int y) {
    int b = y;
    /*@ loop invariant range: x < b <= y;
        loop invariant inside: is_in(part, y, b);
        loop assigns b; loop variant b; */
    while (part[b].parent >= x) {
        //@ assert in_parent: is_in(part, y, part[b].parent);
        b = part[b].parent;
    }
    int of = part[b].parent;
    int a = x;
    //@ assert of: 0 <= of < x;
    /*@ loop invariant range: of < a <= x;
        loop invariant inside: is_in(part, x, a);
        loop assigns a; loop variant a; */
    while (part[a].parent > of) {
        //@ assert in_parent: is_in(part, x, part[a].parent);
        a = part[a].parent;
    }
    //@ assert siblings: part[a].parent == of;
    schema_inside(part, n, a, x);
    schema_inside(part, n, b, y);
    if (part[of].kind == CP_PART_MODULE) {
        schema_siblings(part, n, of, a, b);
        //@ assert ends: part_end(part, n, x) <= part_begin(part, n, y);
    } else {
        //@ assert union: part[of].kind == CP_PART_UNION;
        //@ assert members: same_union(part, a, b);
        //@ assert apart: are_apart(part, x, y);
    }
}

/* MOD-2: a prompt that imports a module imports those around it. */
/*@
  requires ok: schema_ok(part, n) && imports_ok(part, imported, n);
  requires valid: \valid_read(part + (0 .. n - 1)) && \valid_read(imported + (0 .. n - 1));
  requires m: 0 <= m < n && part[m].kind == CP_PART_MODULE && imported[m] != 0;
  assigns \nothing;
  ensures around: \forall integer a; 0 <= a < n && part[a].kind == CP_PART_MODULE &&
    is_in(part, m, a) ==> imported[a] != 0;
*/
void schema_modules_around(const struct cp_part *part, int n, const int *imported, int m) {
    int z = m;
    /*@ loop invariant range: 0 <= z <= m;
        loop invariant module: part[z].kind == CP_PART_MODULE && imported[z] != 0;
        loop invariant around: \forall integer a; z <= a && part[a].kind == CP_PART_MODULE &&
          is_in(part, m, a) ==> imported[a] != 0;
        loop assigns z; loop variant z; */
    while (z > 0) {
        int of = part[z].parent;
        z = part[of].kind == CP_PART_UNION ? part[of].parent : of;
    }
}

/* MOD-2: of two texts or params that a prompt has, the first ends before the second begins. */
/*@
  requires ok: schema_ok(part, n) && sizes_ok(part, n) && imports_ok(part, imported, n);
  requires valid: \valid_read(part + (0 .. n - 1)) && \valid_read(imported + (0 .. n - 1));
  requires order: 0 < x < y < n;
  requires leaves: !has_parts(part[x]) && !has_parts(part[y]);
  requires has: imported[part[x].parent] != 0 && imported[part[y].parent] != 0;
  assigns \nothing;
  ensures mod_2_prompt: part_end(part, n, x) <= part_begin(part, n, y);
*/
void schema_prompt(const struct cp_part *part, int n, const int *imported, int x, int y) {
    //@ assert next: part[x + 1].parent != x;
    //@ assert outside: !is_in(part, y, x);
    schema_outside(part, n, x, y);
    schema_modules_around(part, n, imported, part[x].parent);
    schema_modules_around(part, n, imported, part[y].parent);
    /*@ assert in_a: \forall integer a; 0 < a < n && part[a].kind == CP_PART_MODULE &&
          is_in(part, x, a) ==> is_in(part, part[x].parent, a) && imported[a] != 0; */
    /*@ assert in_b: \forall integer b; 0 < b < n && part[b].kind == CP_PART_MODULE &&
          is_in(part, y, b) ==> is_in(part, part[y].parent, b) && imported[b] != 0; */
    /*@ assert members: \forall integer a, b; 0 < a < b < n && same_union(part, a, b) ==>
          part[a].kind == CP_PART_MODULE && part[b].kind == CP_PART_MODULE; */
    /*@ assert one: \forall integer a, b; 0 < a < b < n && same_union(part, a, b) &&
          imported[b] != 0 ==> import_ok(part, imported, b) && imported[a] == 0; */
    //@ assert together: !are_apart(part, x, y);
}

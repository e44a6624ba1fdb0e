/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/schema_place.c: where the texts and params of a prompt stand, by MOD-2. Each function is
 * a lemma, its contract the statement, its body the proof; a loop is an induction. Provers alone
 * read this file; proofs/wp/schema_laws.c has them proved. */
#ifndef CHUNKPROOF_LOGIC_SCHEMA_ROOM_H
#define CHUNKPROOF_LOGIC_SCHEMA_ROOM_H

#include "proofs/logic/schema_laws.h"

/*@
  predicate is_import{L}(struct cp_part *schema, int *imported, integer x) =
    schema[x].kind == CP_PART_MODULE && imported[x] != 0;

  // Text or param y ends before import x begins or in it, or begins behind it.
  predicate beside{L}(struct cp_part *schema, integer n, integer x, integer y) =
    part_end(schema, n, y) <= part_end(schema, n, x) ||
    (x < y && part_end(schema, n, x) <= part_begin(schema, n, y));

  // The same of all, by what cp_schema_layout() has written.
  predicate texts_in_order{L}(struct cp_part *schema, integer n, int *begin, int *size,
      int *imported) =
    \forall integer y, z; 0 < y < z < n && prompt_has(schema, imported, y) &&
      prompt_has(schema, imported, z) ==> begin[y] + size[y] <= begin[z];
  predicate texts_beside{L}(struct cp_part *schema, integer n, int *begin, int *size,
      int *imported, integer x) =
    \forall integer y; 0 < y < n && prompt_has(schema, imported, y) ==>
      begin[y] + size[y] <= begin[x] + size[x] || (x < y && begin[x] + size[x] <= begin[y]);
  predicate all_beside{L}(struct cp_part *schema, integer n, int *begin, int *size,
      int *imported) =
    \forall integer x, y; 0 <= x < n && is_import(schema, imported, x) &&
      0 < y < n && prompt_has(schema, imported, y) ==>
        begin[y] + size[y] <= begin[x] + size[x] || (x < y && begin[x] + size[x] <= begin[y]);

  predicate ranges_ok{L}(integer n, int *begin, int *size) =
    size[0] <= CP_MAX_POSITIONS && \forall integer x; 0 <= x < n ==>
      0 <= begin[x] && 0 <= size[x] && begin[x] + size[x] <= size[0];
  predicate segments_fit{L}(struct cp_segment *segments, int *placed, integer i) =
    \forall integer j; 0 <= j < i ==>
      0 <= segments[j].size && 0 <= placed[j] <= CP_MAX_POSITIONS - segments[j].size;

  // A write to placed[] changes nothing else, nor what is said of the places before it.
  predicate parts_stay{L, M}(struct cp_part *schema, integer n, int *begin, int *size,
      int *imported) =
    \forall integer x; 0 <= x < n ==>
      \at(schema[x].kind, L) == \at(schema[x].kind, M) &&
      \at(schema[x].parent, L) == \at(schema[x].parent, M) &&
      \at(begin[x], L) == \at(begin[x], M) && \at(size[x], L) == \at(size[x], M) &&
      \at(imported[x], L) == \at(imported[x], M);
  predicate segments_stay{L, M}(struct cp_segment *segments, int *placed, integer i, integer k) =
    (\forall integer j; 0 <= j < k ==>
      \at(segments[j].behind, L) == \at(segments[j].behind, M) &&
      \at(segments[j].size, L) == \at(segments[j].size, M)) &&
    (\forall integer j; 0 <= j < i ==> \at(placed[j], L) == \at(placed[j], M));
  predicate texts_stay{L, M}(struct cp_part *schema, integer n, int *begin, int *size,
      int *imported) =
    \forall integer y; 0 < y < n ==>
      (prompt_has{L}(schema, imported, y) <==> prompt_has{M}(schema, imported, y));
  predicate free_stays{L, M}(struct cp_part *schema, integer n, int *begin, int *size,
      int *imported) =
    \forall integer at, k; free_of_texts{L}(schema, n, begin, size, imported, at, k) <==>
      free_of_texts{M}(schema, n, begin, size, imported, at, k);
  predicate gaps_stay{L, M}(struct cp_segment *segments, int *placed, integer i) =
    \forall integer j, at, k; 0 <= j <= i ==>
      (free_of_segments{L}(segments, placed, j, at, k) <==>
       free_of_segments{M}(segments, placed, j, at, k));
  predicate ends_stay{L, M}(int *begin, int *size, struct cp_segment *segments, integer i) =
    \forall integer j; 0 <= j <= i && 0 <= \at(segments[j].behind, L) ==>
      end_of{L}(begin, size, \at(segments[j].behind, L)) ==
        end_of{M}(begin, size, \at(segments[j].behind, M));
  predicate room_stays{L, M}(struct cp_part *schema, integer n, int *begin, int *size,
      int *imported, struct cp_segment *segments, int *placed, integer i) =
    \forall integer j; 0 <= j <= i ==>
      (has_room{L}(schema, n, begin, size, imported, segments, placed, j) <==>
       has_room{M}(schema, n, begin, size, imported, segments, placed, j));
  predicate behind_stays{L, M}(struct cp_segment *segments, int *placed, integer i) =
    \forall integer j, all, at; 0 <= j <= i ==>
      (is_behind{L}(segments, placed, j, all, at) <==> is_behind{M}(segments, placed, j, all, at));
  predicate last_stays{L, M}(struct cp_segment *segments, int *placed, integer i) =
    \forall integer j, all, at; 0 <= j <= i && is_last{L}(segments, placed, j, all, at) ==>
      is_last{M}(segments, placed, j, all, at);
*/

/* MOD-2: of an import, and a text or param that the prompt has. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n) && imports_ok(schema, imported, n);
     requires valid: \valid_read(schema + (0 .. n - 1)) && \valid_read(imported + (0 .. n - 1));
     requires import: 0 <= x < n && is_import(schema, imported, x);
     requires text: 0 < y < n && prompt_has(schema, imported, y);
     assigns \nothing;
     ensures mod_2_beside: beside(schema, n, x, y); @/
  void schema_text_beside(const struct cp_part *schema, int n, const int *imported, int x, int y) {
    schema_modules_around(schema, n, imported, x);
    schema_modules_around(schema, n, imported, schema[y].parent);
    /@ assert in_x: \forall integer a; 0 < a < n && schema[a].kind == CP_PART_MODULE &&
         is_in(schema, x, a) ==> imported[a] != 0; @/
    /@ assert in_y: \forall integer b; 0 < b < n && schema[b].kind == CP_PART_MODULE &&
         is_in(schema, y, b) ==> is_in(schema, schema[y].parent, b) && imported[b] != 0; @/
    /@ assert members: \forall integer a, b; 0 < a < b < n && same_union(schema, a, b) ==>
         schema[a].kind == CP_PART_MODULE && schema[b].kind == CP_PART_MODULE; @/
    /@ assert one: \forall integer a, b; 0 < a < b < n && same_union(schema, a, b) &&
         imported[b] != 0 ==> import_ok(schema, imported, b) && imported[a] == 0; @/
    /@ assert size: 0 <= part_size(schema, n, x); @/
    if (y < x) {
      /@ assert leaf: schema[y + 1].parent != y; @/
      schema_outside(schema, n, y, x);
      /@ assert together: !are_apart(schema, y, x); @/
    } else {
      int z = y;
      /@ loop invariant range: x < z <= y;
         loop invariant inside: \forall integer a; z < a <= y ==> x <= schema[a].parent;
         loop assigns z; loop variant z; @/
      while (z > x + 1 && schema[z].parent >= x) {
        z--;
      }
      if (schema[z].parent >= x) {
        schema_inside(schema, n, x, y);
      } else {
        schema_outside(schema, n, x, y);
        /@ assert together: !are_apart(schema, x, y); @/
      }
    }
  }
*/

/* All of a prompt's texts and params, and one import, by the layout. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n) && imports_ok(schema, imported, n);
     requires valid: \valid_read(schema + (0 .. n - 1)) && \valid_read(imported + (0 .. n - 1));
     requires layout: layout_ok{Here, Here}(schema, n, begin, size);
     requires import: 0 <= x < n && is_import(schema, imported, x);
     assigns \nothing;
     ensures mod_2_texts_beside: texts_beside(schema, n, begin, size, imported, x); @/
  void schema_texts_beside(const struct cp_part *schema, int n, const int *begin, const int *size,
                           const int *imported, int x) {
    int y = 1;
    /@ loop invariant range: 1 <= y <= n;
       loop invariant beside: \forall integer z; 0 < z < y && prompt_has(schema, imported, z) ==>
         beside(schema, n, x, z);
       loop assigns y; loop variant n - y; @/
    while (y < n) {
      if ((schema[y].kind == CP_PART_TEXT || schema[y].kind == CP_PART_PARAM) &&
          imported[schema[y].parent] != 0) {
        schema_text_beside(schema, n, imported, x, y);
      }
      y++;
    }
  }
*/

/* The same of each import. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n) && imports_ok(schema, imported, n);
     requires valid: \valid_read(schema + (0 .. n - 1)) && \valid_read(imported + (0 .. n - 1));
     requires layout: layout_ok{Here, Here}(schema, n, begin, size);
     assigns \nothing;
     ensures mod_2_all_beside: all_beside(schema, n, begin, size, imported); @/
  void schema_all_beside(const struct cp_part *schema, int n, const int *begin, const int *size,
                         const int *imported) {
    int x = 0;
    /@ loop invariant range: 0 <= x <= n;
       loop invariant beside: \forall integer y; 0 <= y < x && is_import(schema, imported, y) ==>
         texts_beside(schema, n, begin, size, imported, y);
       loop assigns x; loop variant n - x; @/
    while (x < n) {
      if (schema[x].kind == CP_PART_MODULE && imported[x] != 0) {
        schema_texts_beside(schema, n, begin, size, imported, x);
      }
      x++;
    }
  }
*/

/* MOD-1: every part is inside of part 0. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n);
     requires valid: \valid_read(schema + (0 .. n - 1));
     requires layout: layout_ok{Here, Here}(schema, n, begin, size) && size[0] <= CP_MAX_POSITIONS;
     assigns \nothing;
     ensures mod_2_ranges: ranges_ok(n, begin, size); @/
  void schema_ranges(const struct cp_part *schema, int n, const int *begin, const int *size) {
    int x = 0;
    /@ assert all: begin[0] == 0 && size[0] == part_size(schema, n, 0); @/
    /@ loop invariant range: 0 <= x <= n;
       loop invariant inside: \forall integer y; 0 <= y < x ==>
         0 <= begin[y] && 0 <= size[y] && begin[y] + size[y] <= size[0];
       loop assigns x; loop variant n - x; @/
    while (x < n) {
      schema_inside(schema, n, 0, x);
      /@ assert here: begin[x] == part_begin(schema, n, x) && size[x] == part_size(schema, n, x); @/
      /@ assert size: 0 <= part_size(schema, n, x); @/
      /@ assert inside: 0 <= begin[x] && begin[x] + size[x] <= size[0]; @/
      x++;
    }
  }
*/

/* All of a prompt's texts and params, by the layout. */
/*@ ghost
  /@ requires ok: schema_ok(schema, n) && sizes_ok(schema, n) && imports_ok(schema, imported, n);
     requires valid: \valid_read(schema + (0 .. n - 1)) && \valid_read(imported + (0 .. n - 1));
     requires layout: layout_ok{Here, Here}(schema, n, begin, size);
     assigns \nothing;
     ensures mod_2_texts_in_order: texts_in_order(schema, n, begin, size, imported); @/
  void schema_texts_in_order(const struct cp_part *schema, int n, const int *begin,
                             const int *size, const int *imported) {
    int z = 1;
    /@ loop invariant range: 1 <= z <= n;
       loop invariant in_order: \forall integer a, b; 0 < a < b < z &&
         prompt_has(schema, imported, a) && prompt_has(schema, imported, b) ==>
           part_end(schema, n, a) <= part_begin(schema, n, b);
       loop assigns z; loop variant n - z; @/
    while (z < n) {
      int y = 1;
      /@ loop invariant range: 1 <= y <= z;
         loop invariant in_order: prompt_has(schema, imported, z) ==>
           \forall integer a; 0 < a < y && prompt_has(schema, imported, a) ==>
             part_end(schema, n, a) <= part_begin(schema, n, z);
         loop assigns y; loop variant z - y; @/
      while (y < z) {
        if ((schema[y].kind == CP_PART_TEXT || schema[y].kind == CP_PART_PARAM) &&
            imported[schema[y].parent] != 0 &&
            (schema[z].kind == CP_PART_TEXT || schema[z].kind == CP_PART_PARAM) &&
            imported[schema[z].parent] != 0) {
          schema_prompt(schema, n, imported, y, z);
        }
        y++;
      }
      z++;
    }
  }
*/

#endif

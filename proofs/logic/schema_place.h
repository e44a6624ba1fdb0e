/* SPDX-License-Identifier: Apache-2.0 */
/* The clause MOD-6 of spec/modules.md over arrays of parts and of segments. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_SCHEMA_PLACE_H
#define CHUNKPROOF_LOGIC_SCHEMA_PLACE_H

#include "chunkproof/schema.h"

/*@
  predicate segment_ok{L}(struct cp_part *schema, integer n, int *imported, struct cp_segment s) =
    0 <= s.size && -1 <= s.behind < n &&
    (0 <= s.behind ==> schema[s.behind].kind == CP_PART_MODULE && imported[s.behind] != 0);
  predicate segments_ok{L}(struct cp_part *schema, integer n, int *imported,
      struct cp_segment *segments, integer k) =
    \forall integer i; 0 <= i < k ==> segment_ok(schema, n, imported, segments[i]);

  // Of the n positions from a on and the m from b on none is the same.
  predicate disjoint(integer a, integer n, integer b, integer m) =
    n == 0 || m == 0 || a + n <= b || b + m <= a;

  // MOD-6: a text or param that the prompt has.
  predicate prompt_has{L}(struct cp_part *schema, int *imported, integer y) =
    (schema[y].kind == CP_PART_TEXT || schema[y].kind == CP_PART_PARAM) &&
    imported[schema[y].parent] != 0;

  // MOD-6: the n positions from `at` on are free of texts and params; of the first i segments.
  predicate free_of_texts{L}(struct cp_part *schema, integer n_parts, int *begin, int *size,
      int *imported, integer at, integer n) =
    \forall integer y; 0 < y < n_parts && prompt_has(schema, imported, y) ==>
      disjoint(at, n, begin[y], size[y]);
  predicate free_of_segments{L}(struct cp_segment *segments, int *placed, integer i, integer at,
      integer n) =
    \forall integer j; 0 <= j < i ==> disjoint(at, n, placed[j], segments[j].size);

  // MOD-6: end(x), the first position behind import x.
  logic integer end_of{L}(int *begin, int *size, integer x) = begin[x] + size[x];

  // MOD-6: segment i is behind an import, and there it has room.
  predicate has_room{L}(struct cp_part *schema, integer n_parts, int *begin, int *size,
      int *imported, struct cp_segment *segments, int *placed, integer i) =
    0 <= segments[i].behind &&
    free_of_texts(schema, n_parts, begin, size, imported,
      end_of(begin, size, segments[i].behind), segments[i].size) &&
    free_of_segments(segments, placed, i,
      end_of(begin, size, segments[i].behind), segments[i].size);

  // MOD-6: `at` is the largest of `all` and of the ends of the first i segments.
  predicate is_behind{L}(struct cp_segment *segments, int *placed, integer i, integer all,
      integer at) =
    all <= at && (\forall integer j; 0 <= j < i ==> placed[j] + segments[j].size <= at);
  predicate is_last{L}(struct cp_segment *segments, int *placed, integer i, integer all,
      integer at) =
    is_behind(segments, placed, i, all, at) &&
    (at != all ==> \exists integer j; 0 <= j < i && at == placed[j] + segments[j].size);

  // MOD-6: segment i takes the positions from `at` on.
  predicate is_place{L}(struct cp_part *schema, integer n_parts, int *begin, int *size,
      int *imported, struct cp_segment *segments, int *placed, integer i, integer at) =
    (has_room(schema, n_parts, begin, size, imported, segments, placed, i) ==>
      at == end_of(begin, size, segments[i].behind)) &&
    (!has_room(schema, n_parts, begin, size, imported, segments, placed, i) ==>
      is_last(segments, placed, i, size[0], at));

  // MOD-6: the first k segments have their places.
  predicate places_ok{L}(struct cp_part *schema, integer n_parts, int *begin, int *size,
      int *imported, struct cp_segment *segments, int *placed, integer k) =
    \forall integer i; 0 <= i < k ==>
      is_place(schema, n_parts, begin, size, imported, segments, placed, i, placed[i]) &&
      0 <= placed[i] <= CP_MAX_POSITIONS - segments[i].size;

  // MOD-6: the place of segment i would end behind the last position there can be.
  predicate is_refused{L}(struct cp_part *schema, integer n_parts, int *begin, int *size,
      int *imported, struct cp_segment *segments, int *placed, integer i) =
    (has_room(schema, n_parts, begin, size, imported, segments, placed, i) ==>
      CP_MAX_POSITIONS < end_of(begin, size, segments[i].behind) + segments[i].size) &&
    (!has_room(schema, n_parts, begin, size, imported, segments, placed, i) ==>
      !is_behind(segments, placed, i, size[0], CP_MAX_POSITIONS - segments[i].size));

  // Of k segments i is the first that is refused: it is marked, and those behind it are untouched.
  predicate stops_at{L, M}(struct cp_part *schema, integer n_parts, int *begin, int *size,
      int *imported, struct cp_segment *segments, int *placed, integer k, integer i) =
    places_ok{M}(schema, n_parts, begin, size, imported, segments, placed, i) &&
    is_refused{M}(schema, n_parts, begin, size, imported, segments, placed, i) &&
    \at(placed[i], M) == -1 &&
    (\forall integer j; i < j < k ==> \at(placed[j], M) == \at(placed[j], L));
*/

#endif

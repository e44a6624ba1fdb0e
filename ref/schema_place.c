/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/schema.h"

#ifdef __FRAMAC__
#include "proofs/logic/schema_room.h"
#endif

/*@
  requires n_parts: 0 <= n_parts <= CP_MAX_PARTS;
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) &&
    \valid_read(imported + (0 .. n_parts - 1));
  assigns \nothing;
  ensures ok: \result != 0 <==> segment_ok(schema, n_parts, imported, segment);
*/
static int is_segment(const struct cp_part *schema, int n_parts, const int *imported,
                      struct cp_segment segment) {
    int x = segment.behind;
    return segment.size >= 0 && x < n_parts &&
           (x == -1 || (x >= 0 && schema[x].kind == CP_PART_MODULE && imported[x] != 0));
}

int cp_segments_check(const struct cp_part *schema, int n_parts, const int *imported,
                      const struct cp_segment *segments, int n_segments) {
    /*@ loop invariant range: 0 <= i <= n_segments;
        loop invariant ok: segments_ok(schema, n_parts, imported, segments, i);
        loop assigns i; loop variant n_segments - i; */
    for (int i = 0; i < n_segments; i++) {
        if (!is_segment(schema, n_parts, imported, segments[i])) {
            return i;
        }
    }
    return -1;
}

/* 1 when the prompt has part y, a text or param with a position. */
/*@
  requires valid: \valid_read(schema + (0 .. y)) && \valid_read(imported + (0 .. y));
  requires parent: 0 < y && 0 <= schema[y].parent < y;
  assigns \nothing;
  ensures has: \result != 0 <==> prompt_has(schema, imported, y) && 0 < size;
*/
static int has_tokens(const struct cp_part *schema, const int *imported, int y, int size) {
    return (schema[y].kind == CP_PART_TEXT || schema[y].kind == CP_PART_PARAM) && size > 0 &&
           imported[schema[y].parent] != 0;
}

/* 1 when no text or param of the prompt has one of the n positions from the end of import x on. By
 * MOD-2 those before x and in it end there, or before, and of those behind it the first is next. */
/*@
  requires parents: parents_first(schema, n_parts);
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) &&
    \valid_read(imported + (0 .. n_parts - 1)) && \valid_read(begin + (0 .. n_parts - 1)) &&
    \valid_read(size + (0 .. n_parts - 1));
  requires import: 0 <= x < n_parts;
  requires ranges: ranges_ok(n_parts, begin, size);
  requires n: 0 <= n <= CP_MAX_POSITIONS;
  requires beside: texts_beside(schema, n_parts, begin, size, imported, x);
  requires in_order: texts_in_order(schema, n_parts, begin, size, imported);
  assigns \nothing;
  ensures free: \result != 0 <==> free_of_texts(schema, n_parts, begin, size, imported,
    end_of(begin, size, x), n);
*/
static int texts_leave_room(const struct cp_part *schema, int n_parts, const int *begin,
                            const int *size, const int *imported, int x, int n) {
    int end = begin[x] + size[x];
    /*@ loop invariant range: x < y <= n_parts;
        loop invariant before: \forall integer z; 0 < z < y && prompt_has(schema, imported, z) ==>
          size[z] == 0 || begin[z] + size[z] <= end;
        loop assigns y; loop variant n_parts - y; */
    for (int y = x + 1; y < n_parts; y++) {
        if (has_tokens(schema, imported, y, size[y]) && begin[y] >= end) {
            /*@ assert next: \forall integer z; y < z < n_parts &&
                  prompt_has(schema, imported, z) ==> begin[y] + size[y] <= begin[z]; */
            return begin[y] - end >= n;
        }
    }
    return 1;
}

/* 1 when none of the first i segments has one of the n positions from `end` on. */
/*@
  requires i: 0 <= i;
  requires valid: \valid_read(segments + (0 .. i)) && \valid_read(placed + (0 .. i - 1));
  requires room: 0 <= end && 0 <= n <= CP_MAX_POSITIONS - end;
  requires fit: segments_fit(segments, placed, i);
  assigns \nothing;
  ensures free: \result != 0 <==> free_of_segments(segments, placed, i, end, n);
*/
static int segments_leave_room(const struct cp_segment *segments, const int *placed, int i, int end,
                               int n) {
    /*@ loop invariant range: 0 <= j <= i;
        loop invariant free: free_of_segments(segments, placed, j, end, n);
        loop assigns j; loop variant i - j; */
    for (int j = 0; j < i; j++) {
        int has_any = n > 0 && segments[j].size > 0;
        if (has_any && placed[j] < end + n && end < placed[j] + segments[j].size) {
            return 0;
        }
    }
    return 1;
}

/* The first position of segment i, when no position is too large; `last` is behind everything. */
/*@
  requires parents: parents_first(schema, n_parts);
  requires i: 0 <= i;
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) &&
    \valid_read(imported + (0 .. n_parts - 1)) && \valid_read(begin + (0 .. n_parts - 1)) &&
    \valid_read(size + (0 .. n_parts - 1));
  requires valid_segments: \valid_read(segments + (0 .. i)) && \valid_read(placed + (0 .. i - 1));
  requires ranges: ranges_ok(n_parts, begin, size);
  requires segment: segment_ok(schema, n_parts, imported, segments[i]);
  requires beside: 0 <= segments[i].behind ==>
    texts_beside(schema, n_parts, begin, size, imported, segments[i].behind);
  requires in_order: texts_in_order(schema, n_parts, begin, size, imported);
  requires fit: segments_fit(segments, placed, i);
  requires last: 0 <= last <= CP_MAX_POSITIONS && is_last(segments, placed, i, size[0], last);
  assigns \nothing;
  ensures place: \result != -1 ==>
    is_place(schema, n_parts, begin, size, imported, segments, placed, i, \result) &&
    0 <= \result <= CP_MAX_POSITIONS - segments[i].size;
  ensures refused: \result == -1 ==>
    is_refused(schema, n_parts, begin, size, imported, segments, placed, i);
*/
static int place_one(const struct cp_part *schema, int n_parts, const int *begin, const int *size,
                     const int *imported, const struct cp_segment *segments, const int *placed,
                     int i, int last) {
    int x = segments[i].behind;
    int n = segments[i].size;
    if (x >= 0) {
        int end = begin[x] + size[x];
        //@ assert before_last: end <= last;
        if (n <= CP_MAX_POSITIONS - end &&
            texts_leave_room(schema, n_parts, begin, size, imported, x, n) &&
            segments_leave_room(segments, placed, i, end, n)) {
            return end;
        }
    }
    return n <= CP_MAX_POSITIONS - last ? last : -1;
}

/* The segments one after the other. */
/*@
  requires parts: 1 <= n_parts && parents_first(schema, n_parts) &&
    ranges_ok(n_parts, begin, size);
  requires in_order: texts_in_order(schema, n_parts, begin, size, imported);
  requires beside: all_beside(schema, n_parts, begin, size, imported);
  requires segments: 0 <= n_segments &&
    segments_ok(schema, n_parts, imported, segments, n_segments);
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) &&
    \valid_read(begin + (0 .. n_parts - 1)) && \valid_read(size + (0 .. n_parts - 1)) &&
    \valid_read(imported + (0 .. n_parts - 1)) && \valid_read(segments + (0 .. n_segments - 1)) &&
    \valid(placed + (0 .. n_segments - 1));
  requires apart_schema: \separated(placed + (0 .. n_segments - 1), schema + (0 .. n_parts - 1));
  requires apart_begin: \separated(placed + (0 .. n_segments - 1), begin + (0 .. n_parts - 1));
  requires apart_size: \separated(placed + (0 .. n_segments - 1), size + (0 .. n_parts - 1));
  requires apart_imported:
    \separated(placed + (0 .. n_segments - 1), imported + (0 .. n_parts - 1));
  requires apart_segments:
    \separated(placed + (0 .. n_segments - 1), segments + (0 .. n_segments - 1));
  assigns placed[0 .. n_segments - 1];
  ensures result: \result == CP_OK || \result == CP_ERROR_TOO_LONG;
  ensures placed: \result == CP_OK ==>
    places_ok(schema, n_parts, begin, size, imported, segments, placed, n_segments);
  ensures refused: \result == CP_ERROR_TOO_LONG ==>
    \exists integer i; 0 <= i < n_segments && stops_at{Old, Here}(schema, n_parts, begin, size,
      imported, segments, placed, n_segments, i);
*/
static int place_all(const struct cp_part *schema, int n_parts, const int *begin, const int *size,
                     const int *imported, const struct cp_segment *segments, int n_segments,
                     int *placed) {
    int last = size[0];
    /*@ loop invariant range: 0 <= i <= n_segments;
        loop invariant parts: parts_stay{Pre, Here}(schema, n_parts, begin, size, imported);
        loop invariant segments: segments_stay{Pre, Here}(segments, placed, 0, n_segments);
        loop invariant places: places_ok(schema, n_parts, begin, size, imported, segments, placed,
          i);
        loop invariant last: 0 <= last <= CP_MAX_POSITIONS &&
          is_last(segments, placed, i, size[0], last);
        loop invariant others: \forall integer j; i <= j < n_segments ==>
          placed[j] == \at(placed[j], Pre);
        loop assigns i, last, placed[0 .. n_segments - 1]; loop variant n_segments - i; */
    for (int i = 0; i < n_segments; i++) {
        //@ assert parents: parents_first(schema, n_parts) && ranges_ok(n_parts, begin, size);
        //@ assert same: texts_stay{Pre, Here}(schema, n_parts, begin, size, imported);
        //@ assert in_order: texts_in_order(schema, n_parts, begin, size, imported);
        //@ assert beside: all_beside(schema, n_parts, begin, size, imported);
        int at = place_one(schema, n_parts, begin, size, imported, segments, placed, i, last);
        placed[i] = at;
        //@ assert parts: parts_stay{LoopCurrent, Here}(schema, n_parts, begin, size, imported);
        //@ assert segments: segments_stay{LoopCurrent, Here}(segments, placed, i, n_segments);
        //@ assert texts: texts_stay{LoopCurrent, Here}(schema, n_parts, begin, size, imported);
        //@ assert free: free_stays{LoopCurrent, Here}(schema, n_parts, begin, size, imported);
        //@ assert gaps: gaps_stay{LoopCurrent, Here}(segments, placed, i);
        //@ assert behind: behind_stays{LoopCurrent, Here}(segments, placed, i);
        //@ assert imports: \forall integer j; 0 <= j <= i ==> segments[j].behind < n_parts;
        //@ assert ends: ends_stay{LoopCurrent, Here}(begin, size, segments, i);
        /*@ assert room: room_stays{LoopCurrent, Here}(schema, n_parts, begin, size, imported,
              segments, placed, i); */
        //@ assert last: last_stays{LoopCurrent, Here}(segments, placed, i);
        //@ assert still_last: is_last(segments, placed, i, size[0], last);
        if (at < 0) {
            /*@ assert refused: is_refused(schema, n_parts, begin, size, imported, segments, placed,
                  i); */
            /*@ assert stop: stops_at{Pre, Here}(schema, n_parts, begin, size, imported, segments,
                  placed, n_segments, i); */
            return CP_ERROR_TOO_LONG;
        }
        last = last < at + segments[i].size ? at + segments[i].size : last;
        //@ assert is_behind: is_behind(segments, placed, i + 1, size[0], last);
        /*@ assert is_an_end: last != size[0] ==>
              \exists integer j; 0 <= j < i + 1 && last == placed[j] + segments[j].size; */
    }
    return CP_OK;
}

int cp_prompt_place(const struct cp_part *schema, int n_parts, const int *begin, const int *size,
                    const int *imported, const struct cp_segment *segments, int n_segments,
                    int *placed) {
    //@ ghost sizes_of_schema(schema, n_parts);
    //@ ghost schema_texts_in_order(schema, n_parts, begin, size, imported);
    //@ ghost schema_all_beside(schema, n_parts, begin, size, imported);
    //@ ghost schema_ranges(schema, n_parts, begin, size);
    return place_all(schema, n_parts, begin, size, imported, segments, n_segments, placed);
}

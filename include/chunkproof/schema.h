/* SPDX-License-Identifier: Apache-2.0 */
/* A schema: texts that many prompts share, in modules, and where each of its parts stands
 * (spec/modules.md).
 *
 *   cp_schema_check()    once: are these parts a schema?
 *   cp_schema_layout()   once: which positions has each part?
 *   cp_prompt_check()    for each prompt: may it import these modules together?
 *   cp_segments_check()  for each prompt: may it add these segments?
 *   cp_prompt_place()    for each prompt: which positions has each segment?
 *
 * None allocates memory or recurses. The first three take time in proportion to the number of
 * parts, and cp_segments_check() to that of segments. */
#ifndef CHUNKPROOF_SCHEMA_H
#define CHUNKPROOF_SCHEMA_H

#include "chunkproof/limits.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of parts. */
#define CP_PART_MODULE 0 /* has parts; a prompt may import it, and imports part 0 */
#define CP_PART_UNION  1 /* has modules, of which a prompt imports one at most */
#define CP_PART_TEXT   2 /* `size` tokens, 0 or more */
#define CP_PART_PARAM  3 /* up to `size` tokens that a prompt supplies, 1 or more */

/* A part of a schema. Parts have the order of the document: a part stands before those in it. */
struct cp_part {
    int kind;
    int parent; /* the part that this one is in; -1 for part 0 */
    int size;   /* of a text or param; 0 of the others */
};

/* Some tokens that a prompt adds, one after the other (MOD-6). */
struct cp_segment {
    int behind; /* the import that they follow: a module that the prompt imports; -1 for none */
    int size;   /* tokens, 0 or more */
};

#ifdef __FRAMAC__
#include "proofs/logic/schema.h"
#include "proofs/logic/schema_place.h"
#endif

/* Returns -1 when the parts are a schema, else the number of the first part that is wrong: 0 also
 * when there is none, and CP_MAX_PARTS when there are more than that; both without reading any.
 * Takes any content. Part 0 is a module with parent -1. Any other part is in a module, or is a
 * module in a union; its parent is the part before it, or one around the part before it. Sizes are
 * as above, however large. */
/*@
  requires valid: 1 <= n_parts <= CP_MAX_PARTS ==> \valid_read(schema + (0 .. n_parts - 1));
  assigns \nothing;
  ensures result: -1 <= \result <= CP_MAX_PARTS;
  ensures ok: \result == -1 <==> schema_ok(schema, n_parts);
  ensures none: n_parts < 1 ==> \result == 0;
  ensures too_many: n_parts > CP_MAX_PARTS ==> \result == CP_MAX_PARTS;
  ensures first: 1 <= n_parts <= CP_MAX_PARTS && \result >= 0 ==>
    \result < n_parts && parts_ok(schema, \result) && !part_ok(schema, \result);
*/
int cp_schema_check(const struct cp_part *schema, int n_parts);

/* Writes the layout of a schema (MOD-1): part x has the positions [begin[x], begin[x] + size[x]).
 * Fails with CP_ERROR_TOO_LONG when part 0 has more than CP_MAX_POSITIONS; then begin[] and size[]
 * have no meaning. An empty part may begin at CP_MAX_POSITIONS. */
/*@
  requires ok: schema_ok(schema, n_parts);
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) && \valid(begin + (0 .. n_parts - 1)) &&
    \valid(size + (0 .. n_parts - 1));
  requires separated: \separated(schema + (0 .. n_parts - 1), begin + (0 .. n_parts - 1),
    size + (0 .. n_parts - 1));
  assigns begin[0 .. n_parts - 1], size[0 .. n_parts - 1];
  ensures result: \result == CP_OK || \result == CP_ERROR_TOO_LONG;
  ensures mod_1_refused: \result == CP_OK <==>
    \old(part_size(schema, n_parts, 0)) <= CP_MAX_POSITIONS;
  ensures mod_1: \result == CP_OK ==> layout_ok{Old, Here}(schema, n_parts, begin, size);
*/
int cp_schema_layout(const struct cp_part *schema, int n_parts, int *begin, int *size);

/* Returns -1 when a prompt may import the modules x with imported[x] != 0 (MOD-2), else the number
 * of the first module that is wrong: part 0 if it is missing; an imported module if the nearest
 * module around it is not imported, or if a member of its union with a smaller number is, too. The
 * entries of other parts say nothing. */
/*@
  requires ok: schema_ok(schema, n_parts);
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) &&
    \valid_read(imported + (0 .. n_parts - 1));
  assigns \nothing;
  ensures result: -1 <= \result < n_parts;
  ensures mod_2: \result == -1 <==> imports_ok(schema, imported, n_parts);
  ensures first: \result >= 0 ==>
    imports_ok(schema, imported, \result) && !import_ok(schema, imported, \result);
*/
int cp_prompt_check(const struct cp_part *schema, int n_parts, const int *imported);

/* Returns -1 when a prompt may add the segments, else the number of the first one that is wrong.
 * Takes any content. A segment has 0 tokens or more, however many, and is behind a module that the
 * prompt imports, or behind -1. */
/*@
  requires n_parts: 0 <= n_parts <= CP_MAX_PARTS && 0 <= n_segments;
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) &&
    \valid_read(imported + (0 .. n_parts - 1)) && \valid_read(segments + (0 .. n_segments - 1));
  assigns \nothing;
  ensures result: -1 <= \result < n_segments;
  ensures mod_6_segments: \result == -1 <==>
    segments_ok(schema, n_parts, imported, segments, n_segments);
  ensures first: \result >= 0 ==> segments_ok(schema, n_parts, imported, segments, \result) &&
    !segment_ok(schema, n_parts, imported, segments[\result]);
*/
int cp_segments_check(const struct cp_part *schema, int n_parts, const int *imported,
                      const struct cp_segment *segments, int n_segments);

/* Writes where the segments of a prompt stand (MOD-6), in their order: segment i has the positions
 * [placed[i], placed[i] + segments[i].size), of 0 to CP_MAX_POSITIONS. It begins where its import
 * ends, if no text or param of the prompt and no segment before it has one of its positions.
 * Otherwise, or if `behind` is -1, it begins after part 0 and all segments before it. So a segment
 * without tokens begins where its import ends, always.
 *
 * Takes the parts and imports that the checks above allow, and the layout of the parts.
 *
 * Fails with CP_ERROR_TOO_LONG when a segment would have a position of CP_MAX_POSITIONS or more.
 * Then placed[] is -1 for the first of these. Those before it have their positions, and what is
 * behind it stays as it was.
 *
 * An argument needs no call: that of param x has n tokens, 0 <= n <= size[x], and the positions
 * [begin[x], begin[x] + n). The others of the param stay empty.
 *
 * Each segment takes time in proportion to the number of segments before it, and of the parts from
 * its import to the first text or param behind the import that the prompt has. Hence all of them
 * take at most n_segments * (n_parts + n_segments). */
/*@
  requires ok: schema_ok(schema, n_parts) && imports_ok(schema, imported, n_parts);
  requires layout: layout_ok{Here, Here}(schema, n_parts, begin, size) &&
    size[0] <= CP_MAX_POSITIONS;
  requires segments: 0 <= n_segments &&
    segments_ok(schema, n_parts, imported, segments, n_segments);
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) &&
    \valid_read(begin + (0 .. n_parts - 1)) && \valid_read(size + (0 .. n_parts - 1)) &&
    \valid_read(imported + (0 .. n_parts - 1)) && \valid_read(segments + (0 .. n_segments - 1)) &&
    \valid(placed + (0 .. n_segments - 1));
  requires separated: \separated(placed + (0 .. n_segments - 1), schema + (0 .. n_parts - 1),
    begin + (0 .. n_parts - 1), size + (0 .. n_parts - 1), imported + (0 .. n_parts - 1),
    segments + (0 .. n_segments - 1));
  assigns placed[0 .. n_segments - 1];
  ensures result: \result == CP_OK || \result == CP_ERROR_TOO_LONG;
  ensures mod_6: \result == CP_OK ==>
    places_ok(schema, n_parts, begin, size, imported, segments, placed, n_segments);
  ensures mod_6_refused: \result == CP_ERROR_TOO_LONG ==>
    \exists integer i; 0 <= i < n_segments && stops_at{Old, Here}(schema, n_parts, begin, size,
      imported, segments, placed, n_segments, i);
*/
int cp_prompt_place(const struct cp_part *schema, int n_parts, const int *begin, const int *size,
                    const int *imported, const struct cp_segment *segments, int n_segments,
                    int *placed);

#ifdef __cplusplus
}
#endif

#endif

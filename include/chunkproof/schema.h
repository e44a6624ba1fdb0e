/* SPDX-License-Identifier: Apache-2.0 */
/* A schema: texts that many prompts share, in modules, and where each of its parts stands
 * (spec/modules.md).
 *
 *   cp_schema_check()    once: are these parts a schema?
 *   cp_schema_layout()   once: which positions has each part?
 *   cp_prompt_check()    for each prompt: may it import these modules together?
 *
 * All three take time in proportion to the number of parts, and no memory of their own: they do not
 * recurse. */
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

#ifdef __FRAMAC__
#include "proofs/logic/schema.h"
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

#ifdef __cplusplus
}
#endif

#endif

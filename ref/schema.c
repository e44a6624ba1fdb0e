/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/schema.h"

#ifdef __FRAMAC__
#include "proofs/logic/schema_sizes.h"
#endif

/* 1 when the parent of x is the part before x, or one around that. Over all parts of a schema the
 * loop takes less than one step for each: what it leaves is not met again. */
/*@
  requires place: 0 <= schema[x].parent < x;
  requires valid: \valid_read(schema + (0 .. x));
  requires ok: parts_ok(schema, x);
  assigns \nothing;
  ensures in_order: \result != 0 <==> order_ok(schema, x);
*/
static int is_in_order(const struct cp_part *schema, int x) {
    int parent = schema[x].parent;
    int y = x - 1;
    /*@ loop invariant range: 0 <= y < x;
        loop invariant inside: \forall integer z; y < z < x ==> y <= schema[z].parent;
        loop invariant outside: y < parent ==>
          \exists integer z; parent < z < x && schema[z].parent < parent;
        loop assigns y; loop variant y; */
    while (y > parent) {
        y = schema[y].parent;
    }
    return y == parent;
}

/*@
  requires x: 0 <= x;
  requires valid: \valid_read(schema + (0 .. x));
  requires ok: parts_ok(schema, x);
  assigns \nothing;
  ensures ok: \result != 0 <==> part_ok(schema, x);
*/
static int is_right(const struct cp_part *schema, int x) {
    int kind = schema[x].kind;
    int parent = schema[x].parent;
    int size = schema[x].size;

    if (kind == CP_PART_TEXT ? size < 0 : kind == CP_PART_PARAM ? size < 1 : size != 0) {
        return 0;
    }
    if (x == 0) {
        return kind == CP_PART_MODULE && parent == -1;
    }
    if (kind < CP_PART_MODULE || kind > CP_PART_PARAM || parent < 0 || parent >= x) {
        return 0;
    }
    int of = schema[parent].kind;
    return (of == CP_PART_MODULE || (of == CP_PART_UNION && kind == CP_PART_MODULE)) &&
           is_in_order(schema, x);
}

int cp_schema_check(const struct cp_part *schema, int n_parts) {
    if (n_parts < 1) {
        return 0;
    }
    if (n_parts > CP_MAX_PARTS) {
        return CP_MAX_PARTS;
    }
    /*@ loop invariant range: 0 <= x <= n_parts;
        loop invariant ok: parts_ok(schema, x);
        loop assigns x; loop variant n_parts - x; */
    for (int x = 0; x < n_parts; x++) {
        if (!is_right(schema, x)) {
            return x;
        }
    }
    return -1;
}

/* What a part takes with one more part in it; -1 when that is too much. */
/*@
  requires size: 0 <= size <= CP_MAX_POSITIONS && 0 <= more;
  assigns \nothing;
  ensures mod_1_refused: \result == -1 <==> CP_MAX_POSITIONS < with_one_more(kind, size, more);
  ensures mod_1: \result != -1 ==> \result == with_one_more(kind, size, more);
  ensures few: \result <= CP_MAX_POSITIONS;
*/
static int join(int kind, int size, int more) {
    if (kind == CP_PART_UNION) {
        size = size < more ? more : size;
        return size > CP_MAX_POSITIONS ? -1 : size;
    }
    return more > CP_MAX_POSITIONS - size ? -1 : size + more;
}

/* The sizes, from the last part to the first: when its turn comes, a part has met all parts in it.
 * begin[x] gets the size of x and of the parts behind it in the same module. */
/*@
  requires n_parts: 1 <= n_parts <= CP_MAX_PARTS;
  requires ok: sizes_ok(schema, n_parts);
  requires root: schema[0].kind == CP_PART_MODULE;
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) && \valid(begin + (0 .. n_parts - 1)) &&
    \valid(size + (0 .. n_parts - 1));
  requires separated: \separated(schema + (0 .. n_parts - 1), begin + (0 .. n_parts - 1),
    size + (0 .. n_parts - 1));
  assigns begin[0 .. n_parts - 1], size[0 .. n_parts - 1];
  ensures result: \result == CP_OK || \result == CP_ERROR_TOO_LONG;
  ensures refused: \result == CP_OK <==>
    \old(part_size(schema, n_parts, 0)) <= CP_MAX_POSITIONS;
  ensures kept: parts_kept{Old, Here}(schema, n_parts);
  ensures measured: \result == CP_OK ==> measured{Old, Here}(schema, n_parts, 0, size);
  ensures behind: \result == CP_OK ==> rest_kept{Old, Here}(schema, n_parts, 0, begin);
*/
static int measure(const struct cp_part *schema, int n_parts, int *begin, int *size) {
    /*@ loop invariant range: 0 <= x <= n_parts;
        loop invariant kept: parts_kept{Pre, Here}(schema, n_parts);
        loop invariant own: \forall integer y; 0 <= y < x ==>
          size[y] == part_rest{Pre}(schema, n_parts, y, n_parts);
        loop assigns x, size[0 .. n_parts - 1]; loop variant n_parts - x; */
    for (int x = 0; x < n_parts; x++) {
        size[x] = schema[x].size;
    }
    /*@ loop invariant range: 0 <= x < n_parts;
        loop invariant kept: parts_kept{Pre, Here}(schema, n_parts);
        loop invariant measured: measured{Pre, Here}(schema, n_parts, x, size);
        loop invariant so_far: \forall integer y; 0 <= y < x ==>
          size[y] == part_rest{Pre}(schema, n_parts, y, x + 1);
        loop invariant few: \forall integer y; 0 <= y <= x && has_parts(schema[y]) ==>
          0 <= size[y] <= CP_MAX_POSITIONS;
        loop invariant behind: rest_kept{Pre, Here}(schema, n_parts, x, begin);
        loop assigns x, begin[0 .. n_parts - 1], size[0 .. n_parts - 1]; loop variant x; */
    for (int x = n_parts - 1; x > 0; x--) {
        int parent = schema[x].parent;
        //@ assert parent: 0 <= parent < x && has_parts(schema[parent]);
        int joined = join(schema[parent].kind, size[parent], size[x]);
        if (joined < 0) {
            //@ assert too_long: part_rest{Pre}(schema, n_parts, parent, x) > CP_MAX_POSITIONS;
            //@ assert in_parent: part_size{Pre}(schema, n_parts, parent) > CP_MAX_POSITIONS;
            //@ assert in_root: part_size{Pre}(schema, n_parts, 0) > CP_MAX_POSITIONS;
            return CP_ERROR_TOO_LONG;
        }
        //@ assert met: joined == part_rest{Pre}(schema, n_parts, parent, x);
        /*@ assert no_others: \forall integer y; 0 <= y < x && y != parent ==>
              part_rest{Pre}(schema, n_parts, y, x) == part_rest{Pre}(schema, n_parts, y, x + 1); */
        size[parent] = joined;
        //@ assert kept: parts_kept{Pre, Here}(schema, n_parts);
        begin[x] = joined;
        //@ assert still_kept: parts_kept{Pre, Here}(schema, n_parts);
        //@ assert others: rest_kept{Pre, Here}(schema, n_parts, x, begin);
        /*@ assert so_far: \forall integer y; 0 <= y < x ==>
              size[y] == part_rest{Pre}(schema, n_parts, y, x); */
        //@ assert measured: measured{Pre, Here}(schema, n_parts, x, size);
        //@ assert next: size[x - 1] == part_rest{Pre}(schema, n_parts, x - 1, x);
        //@ assert now: begin[x] == part_rest{Pre}(schema, n_parts, parent, x);
        //@ assert same: \let y = x; parent == \at(schema[y].parent, Pre);
    }
    //@ assert root: size[0] == part_size{Pre}(schema, n_parts, 0) <= CP_MAX_POSITIONS;
    return CP_OK;
}

/* The begins, from the first part to the last. Of a part of a module, begin[x] has been what does
 * not stand before x. */
/*@
  requires n_parts: 1 <= n_parts <= CP_MAX_PARTS;
  requires valid: \valid_read(schema + (0 .. n_parts - 1)) && \valid(begin + (0 .. n_parts - 1)) &&
    \valid_read(size + (0 .. n_parts - 1));
  requires separated: \separated(schema + (0 .. n_parts - 1), begin + (0 .. n_parts - 1),
    size + (0 .. n_parts - 1));
  requires fit: parts_fit(schema, n_parts, begin, size);
  assigns begin[0 .. n_parts - 1];
  ensures first: begin[0] == 0;
  ensures placed: \forall integer x; 0 < x < n_parts ==>
    begin[x] == begin[\old(schema[x].parent)] + \old(offset(schema, begin, size, x));
*/
static void place(const struct cp_part *schema, int n_parts, int *begin, const int *size) {
    begin[0] = 0;
    /*@ loop invariant range: 1 <= x <= n_parts;
        loop invariant first: begin[0] == 0;
        loop invariant placed: \forall integer y; 0 < y < x ==>
          begin[y] == begin[\at(schema[y].parent, Pre)] + offset{Pre}(schema, begin, size, y);
        loop invariant inside: \forall integer y; 0 <= y < x ==>
          0 <= begin[y] <= \at(size[0], Pre) - \at(size[y], Pre);
        loop invariant others: \forall integer y; x <= y < n_parts ==>
          begin[y] == \at(begin[y], Pre);
        loop assigns x, begin[0 .. n_parts - 1]; loop variant n_parts - x; */
    for (int x = 1; x < n_parts; x++) {
        int parent = schema[x].parent;
        int before = schema[parent].kind == CP_PART_UNION ? 0 : size[parent] - begin[x];
        //@ assert before: before == offset{Pre}(schema, begin, size, x);
        begin[x] = begin[parent] + before;
    }
}

int cp_schema_layout(const struct cp_part *schema, int n_parts, int *begin, int *size) {
    //@ ghost sizes_of_schema(schema, n_parts);
    int status = measure(schema, n_parts, begin, size);
    if (status == CP_OK) {
        //@ assert same: same_parents{Pre, Here}(schema, n_parts);
        /*@ assert offsets: \forall integer x; 0 < x < n_parts ==>
              offset(schema, begin, size, x) ==
                offset_in{Pre}(schema, n_parts, \at(schema[x].parent, Pre), x); */
        /*@ assert fit: \forall integer x; 0 < x < n_parts ==>
              0 <= offset(schema, begin, size, x) &&
              offset(schema, begin, size, x) + size[x] <= size[schema[x].parent]; */
        //@ assert sizes: \forall integer x; 0 <= x < n_parts ==> 0 <= size[x];
        //@ assert parents: parents_first(schema, n_parts);
        place(schema, n_parts, begin, size);
        /*@ assert placed: \forall integer x; 0 < x < n_parts ==>
              begin[x] == begin[\at(schema[x].parent, Pre)] +
                offset_in{Pre}(schema, n_parts, \at(schema[x].parent, Pre), x); */
        /*@ ghost
          /@ loop invariant range: 1 <= i <= n_parts;
             loop invariant begins: \forall integer x; 0 <= x < i ==>
               begin[x] == part_begin{Pre}(schema, n_parts, x);
             loop assigns i; loop variant n_parts - i; @/
          for (int i = 1; i < n_parts; i++) {
          } */
    }
    return status;
}

/* 1 when the prompt may import module x, as far as the parts before x go. Over all modules of a
 * prompt the loop takes at most one step for each part: no module is imported in what it visits,
 * or this is the last call. */
/*@
  requires valid: \valid_read(schema + (0 .. x)) && \valid_read(imported + (0 .. x));
  requires ok: parts_ok(schema, x + 1);
  requires module: 0 < x && schema[x].kind == CP_PART_MODULE && imported[x] != 0;
  assigns \nothing;
  ensures ok: \result != 0 <==> import_ok(schema, imported, x);
*/
static int is_allowed(const struct cp_part *schema, const int *imported, int x) {
    int parent = schema[x].parent;
    if (schema[parent].kind != CP_PART_UNION) {
        return imported[parent] != 0;
    }
    if (imported[schema[parent].parent] == 0) {
        return 0;
    }
    /*@ loop invariant range: parent < y <= x;
        loop invariant none: \forall integer z; parent < z < y && schema[z].parent == parent ==>
          imported[z] == 0;
        loop assigns y; loop variant x - y; */
    for (int y = parent + 1; y < x; y++) {
        if (schema[y].parent == parent && imported[y] != 0) {
            return 0;
        }
    }
    return 1;
}

int cp_prompt_check(const struct cp_part *schema, int n_parts, const int *imported) {
    if (imported[0] == 0) {
        return 0;
    }
    /*@ loop invariant range: 1 <= x <= n_parts;
        loop invariant ok: imports_ok(schema, imported, x);
        loop assigns x; loop variant n_parts - x; */
    for (int x = 1; x < n_parts; x++) {
        if (schema[x].kind == CP_PART_MODULE && imported[x] != 0 &&
            !is_allowed(schema, imported, x)) {
            return x;
        }
    }
    return -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/schema.h"

#ifdef __FRAMAC__
#include "proofs/logic/schema_sizes.h"
#endif

/* 1 when the parent of x is the part before x, or one around that. Over all parts of a schema the
 * loop takes less than one step for each: what it leaves is not met again. */
/*@
  requires place: 0 <= part[x].parent < x;
  requires valid: \valid_read(part + (0 .. x));
  requires ok: parts_ok(part, x);
  assigns \nothing;
  ensures in_order: \result != 0 <==> order_ok(part, x);
*/
static int is_in_order(const struct cp_part *part, int x) {
    int parent = part[x].parent;
    int y = x - 1;
    /*@ loop invariant range: 0 <= y < x;
        loop invariant inside: \forall integer z; y < z < x ==> y <= part[z].parent;
        loop invariant outside: y < parent ==>
          \exists integer z; parent < z < x && part[z].parent < parent;
        loop assigns y; loop variant y; */
    while (y > parent) {
        y = part[y].parent;
    }
    return y == parent;
}

/*@
  requires x: 0 <= x;
  requires valid: \valid_read(part + (0 .. x));
  requires ok: parts_ok(part, x);
  assigns \nothing;
  ensures ok: \result != 0 <==> part_ok(part, x);
*/
static int is_right(const struct cp_part *part, int x) {
    int kind = part[x].kind;
    int parent = part[x].parent;
    int size = part[x].size;

    if (kind == CP_PART_TEXT ? size < 0 : kind == CP_PART_PARAM ? size < 1 : size != 0) {
        return 0;
    }
    if (x == 0) {
        return kind == CP_PART_MODULE && parent == -1;
    }
    if (kind < CP_PART_MODULE || kind > CP_PART_PARAM || parent < 0 || parent >= x) {
        return 0;
    }
    int of = part[parent].kind;
    return (of == CP_PART_MODULE || (of == CP_PART_UNION && kind == CP_PART_MODULE)) &&
           is_in_order(part, x);
}

int cp_schema_check(const struct cp_part *part, int n_parts) {
    if (n_parts < 1) {
        return 0;
    }
    if (n_parts > CP_MAX_PARTS) {
        return CP_MAX_PARTS;
    }
    /*@ loop invariant range: 0 <= x <= n_parts;
        loop invariant ok: parts_ok(part, x);
        loop assigns x; loop variant n_parts - x; */
    for (int x = 0; x < n_parts; x++) {
        if (!is_right(part, x)) {
            return x;
        }
    }
    return -1;
}

/* The sizes, from the last part to the first: when its turn comes, a part has met all parts in it.
 * begin[x] gets the size of x and of the parts behind it in the same module. */
/*@
  requires n_parts: 1 <= n_parts <= CP_MAX_PARTS;
  requires ok: sizes_ok(part, n_parts);
  requires root: part[0].kind == CP_PART_MODULE;
  requires valid: \valid_read(part + (0 .. n_parts - 1)) && \valid(begin + (0 .. n_parts - 1)) &&
    \valid(size + (0 .. n_parts - 1));
  requires separated: \separated(part + (0 .. n_parts - 1), begin + (0 .. n_parts - 1),
    size + (0 .. n_parts - 1));
  assigns begin[0 .. n_parts - 1], size[0 .. n_parts - 1];
  ensures result: \result == CP_OK || \result == CP_ERROR_TOO_LONG;
  ensures refused: \result == CP_OK <==>
    \old(part_size(part, n_parts, 0)) <= CP_MAX_POSITIONS;
  ensures kept: parts_kept{Old, Here}(part, n_parts);
  ensures measured: \result == CP_OK ==> measured{Old, Here}(part, n_parts, 0, size);
  ensures behind: \result == CP_OK ==> rest_kept{Old, Here}(part, n_parts, 0, begin);
*/
static int measure(const struct cp_part *part, int n_parts, int *begin, int *size) {
    /*@ loop invariant range: 0 <= x <= n_parts;
        loop invariant kept: parts_kept{Pre, Here}(part, n_parts);
        loop invariant own: \forall integer y; 0 <= y < x ==>
          size[y] == part_rest{Pre}(part, n_parts, y, n_parts);
        loop assigns x, size[0 .. n_parts - 1]; loop variant n_parts - x; */
    for (int x = 0; x < n_parts; x++) {
        size[x] = part[x].size;
    }
    /*@ loop invariant range: 0 <= x < n_parts;
        loop invariant kept: parts_kept{Pre, Here}(part, n_parts);
        loop invariant measured: measured{Pre, Here}(part, n_parts, x, size);
        loop invariant so_far: \forall integer y; 0 <= y < x ==>
          size[y] == part_rest{Pre}(part, n_parts, y, x + 1);
        loop invariant few: \forall integer y; 0 <= y <= x && has_parts(part[y]) ==>
          0 <= size[y] <= CP_MAX_POSITIONS;
        loop invariant behind: rest_kept{Pre, Here}(part, n_parts, x, begin);
        loop assigns x, begin[0 .. n_parts - 1], size[0 .. n_parts - 1]; loop variant x; */
    for (int x = n_parts - 1; x > 0; x--) {
        int parent = part[x].parent;
        //@ assert parent: 0 <= parent < x && has_parts(part[parent]);
        int others = part[parent].kind == CP_PART_UNION ? 0 : size[parent];
        if (size[x] > CP_MAX_POSITIONS - others) {
            //@ assert too_long: part_rest{Pre}(part, n_parts, parent, x) > CP_MAX_POSITIONS;
            return CP_ERROR_TOO_LONG;
        }
        if (size[parent] < others + size[x]) {
            size[parent] = others + size[x];
        }
        //@ assert met: size[parent] == part_rest{Pre}(part, n_parts, parent, x);
        begin[x] = size[parent];
        //@ assert next: size[x - 1] == part_rest{Pre}(part, n_parts, x - 1, x);
        //@ assert still: measured{Pre, Here}(part, n_parts, x, size);
        //@ assert new: begin[x] == part_rest{Pre}(part, n_parts, parent, x);
        //@ assert old: rest_kept{Pre, Here}(part, n_parts, x, begin);
    }
    return CP_OK;
}

int cp_schema_layout(const struct cp_part *part, int n_parts, int *begin, int *size) {
    //@ ghost sizes_of_schema(part, n_parts);
    int status = measure(part, n_parts, begin, size);
    if (status != CP_OK) {
        return status;
    }
    begin[0] = 0;
    /* Of a part of a module, begin[x] has been what does not stand before x. */
    /*@ loop invariant range: 1 <= x <= n_parts;
        loop invariant kept: parts_kept{Pre, Here}(part, n_parts);
        loop invariant placed: \forall integer y; 0 <= y < x ==>
          begin[y] == part_begin{Pre}(part, n_parts, y);
        loop invariant inside: \forall integer y; 0 <= y < x ==> 0 <= begin[y] &&
          begin[y] + part_size{Pre}(part, n_parts, y) <= part_size{Pre}(part, n_parts, 0);
        loop invariant behind: rest_kept{Pre, Here}(part, n_parts, x - 1, begin);
        loop assigns x, begin[0 .. n_parts - 1]; loop variant n_parts - x; */
    for (int x = 1; x < n_parts; x++) {
        int parent = part[x].parent;
        //@ assert parent: 0 <= parent < x && has_parts(part[parent]);
        int before = part[parent].kind == CP_PART_UNION ? 0 : size[parent] - begin[x];
        //@ assert inside: 0 <= before && before + size[x] <= size[parent];
        begin[x] = begin[parent] + before;
    }
    return CP_OK;
}

/* 1 when the prompt may import module x, as far as the parts before x go. Over all modules of a
 * prompt the loop takes at most one step for each part: no module is imported in what it visits,
 * or this is the last call. */
/*@
  requires valid: \valid_read(part + (0 .. x)) && \valid_read(imported + (0 .. x));
  requires ok: parts_ok(part, x + 1);
  requires module: 0 < x && part[x].kind == CP_PART_MODULE && imported[x] != 0;
  assigns \nothing;
  ensures ok: \result != 0 <==> import_ok(part, imported, x);
*/
static int is_allowed(const struct cp_part *part, const int *imported, int x) {
    int parent = part[x].parent;
    if (part[parent].kind != CP_PART_UNION) {
        return imported[parent] != 0;
    }
    if (imported[part[parent].parent] == 0) {
        return 0;
    }
    /*@ loop invariant range: parent < y <= x;
        loop invariant none: \forall integer z; parent < z < y && part[z].parent == parent ==>
          imported[z] == 0;
        loop assigns y; loop variant x - y; */
    for (int y = parent + 1; y < x; y++) {
        if (part[y].parent == parent && imported[y] != 0) {
            return 0;
        }
    }
    return 1;
}

int cp_prompt_check(const struct cp_part *part, int n_parts, const int *imported) {
    if (imported[0] == 0) {
        return 0;
    }
    /*@ loop invariant range: 1 <= x <= n_parts;
        loop invariant ok: imports_ok(part, imported, x);
        loop assigns x; loop variant n_parts - x; */
    for (int x = 1; x < n_parts; x++) {
        if (part[x].kind == CP_PART_MODULE && imported[x] != 0 && !is_allowed(part, imported, x)) {
            return x;
        }
    }
    return -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses MOD-1 and MOD-2 of spec/modules.md over an array of parts. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_SCHEMA_H
#define CHUNKPROOF_LOGIC_SCHEMA_H

#include "chunkproof/schema.h"

/*@
  predicate kind_ok(struct cp_part x) = CP_PART_MODULE <= x.kind <= CP_PART_PARAM;
  predicate size_ok(struct cp_part x) =
    x.kind == CP_PART_TEXT ? 0 <= x.size : x.kind == CP_PART_PARAM ? 1 <= x.size : x.size == 0;

  // Who may have which parts.
  predicate parent_ok(struct cp_part of, struct cp_part x) =
    of.kind == CP_PART_MODULE || (of.kind == CP_PART_UNION && x.kind == CP_PART_MODULE);

  // The order of the document: what stands between a part and its parent is inside of the parent.
  predicate order_ok{L}(struct cp_part *schema, integer x) =
    \forall integer z; schema[x].parent < z < x ==> schema[x].parent <= schema[z].parent;

  predicate part_ok{L}(struct cp_part *schema, integer x) =
    kind_ok(schema[x]) && size_ok(schema[x]) &&
    (x == 0 ? schema[x].kind == CP_PART_MODULE && schema[x].parent == -1
            : 0 <= schema[x].parent < x && parent_ok(schema[schema[x].parent], schema[x]) &&
                order_ok(schema, x));
  predicate parts_ok{L}(struct cp_part *schema, integer n) =
    \forall integer x; 0 <= x < n ==> part_ok(schema, x);
  predicate schema_ok{L}(struct cp_part *schema, integer n) =
    1 <= n <= CP_MAX_PARTS && parts_ok(schema, n);

  logic integer larger(integer a, integer b) = a < b ? b : a;
  predicate has_parts(struct cp_part x) = x.kind == CP_PART_MODULE || x.kind == CP_PART_UNION;

  // MOD-1, as recursive definitions. Their arguments beside n, the number of parts: part_rest(x, k)
  // is the sum, in a union the maximum, of the sizes of those parts of x that have a number k or
  // more; from k = x + 1 on these are all. part_before(x, k): the sum for those below k.
  axiomatic PartSizes {
    logic integer part_rest{L}(struct cp_part *schema, integer n, integer x, integer k)
      reads schema[0 .. n - 1];
    axiom part_rest_own{L}: \forall struct cp_part *schema, integer n, x, k;
      !has_parts(schema[x]) ==> part_rest(schema, n, x, k) == schema[x].size;
    axiom part_rest_none{L}: \forall struct cp_part *schema, integer n, x;
      has_parts(schema[x]) ==> part_rest(schema, n, x, n) == 0;
    axiom part_rest_other{L}: \forall struct cp_part *schema, integer n, x, k;
      has_parts(schema[x]) && k < n && schema[k].parent != x ==>
        part_rest(schema, n, x, k) == part_rest(schema, n, x, k + 1);
    axiom part_rest_module{L}: \forall struct cp_part *schema, integer n, x, k;
      schema[x].kind == CP_PART_MODULE && k < n && schema[k].parent == x ==>
        part_rest(schema, n, x, k) ==
          part_rest(schema, n, k, k + 1) + part_rest(schema, n, x, k + 1);
    axiom part_rest_union{L}: \forall struct cp_part *schema, integer n, x, k;
      schema[x].kind == CP_PART_UNION && k < n && schema[k].parent == x ==>
        part_rest(schema, n, x, k) ==
          larger(part_rest(schema, n, k, k + 1), part_rest(schema, n, x, k + 1));

    logic integer part_before{L}(struct cp_part *schema, integer n, integer x, integer k)
      reads schema[0 .. n - 1];
    axiom part_before_none{L}: \forall struct cp_part *schema, integer n, x, k; k == x + 1 ==>
      part_before(schema, n, x, k) == 0;
    axiom part_before_next{L}: \forall struct cp_part *schema, integer n, x, k; x < k < n ==>
      part_before(schema, n, x, k + 1) == part_before(schema, n, x, k) +
        (schema[k].parent == x ? part_rest(schema, n, k, k + 1) : 0);

    // How far into the part `of` x begins.
    logic integer offset_in{L}(struct cp_part *schema, integer n, integer of, integer x) =
      schema[of].kind == CP_PART_UNION ? 0 : part_before(schema, n, of, x);
    logic integer part_begin{L}(struct cp_part *schema, integer n, integer x)
      reads schema[0 .. n - 1];
    axiom part_begin_first{L}: \forall struct cp_part *schema, integer n;
      part_begin(schema, n, 0) == 0;
    axiom part_begin_inside{L}: \forall struct cp_part *schema, integer n, x, of;
      0 <= of < x < n && schema[x].parent == of ==>
        part_begin(schema, n, x) == part_begin(schema, n, of) + offset_in(schema, n, of, x);
  }
  logic integer part_size{L}(struct cp_part *schema, integer n, integer x) =
    part_rest(schema, n, x, x + 1);

  // MOD-1: in the state M the arrays have the layout that the parts had in the state L.
  predicate layout_ok{L, M}(struct cp_part *schema, integer n, int *begin, int *size) =
    \forall integer x; 0 <= x < n ==>
      \at(size[x], M) == part_size{L}(schema, n, x) &&
      \at(begin[x], M) == part_begin{L}(schema, n, x);

  // MOD-2: the module around part x, which is in a module, or in a union in a module.
  logic integer module_around{L}(struct cp_part *schema, integer x) =
    schema[schema[x].parent].kind == CP_PART_UNION ? schema[schema[x].parent].parent
                                                   : schema[x].parent;

  // MOD-2: two members of one union.
  predicate same_union{L}(struct cp_part *schema, integer x, integer y) =
    schema[x].parent == schema[y].parent && schema[schema[x].parent].kind == CP_PART_UNION;

  // MOD-2: as far as the parts up to x go, the prompt may import x.
  predicate import_ok{L}(struct cp_part *schema, int *imported, integer x) =
    x == 0 ? imported[0] != 0 :
    schema[x].kind == CP_PART_MODULE && imported[x] != 0 ==>
      imported[module_around(schema, x)] != 0 &&
      \forall integer y; 0 < y < x && same_union(schema, y, x) ==> imported[y] == 0;
  predicate imports_ok{L}(struct cp_part *schema, int *imported, integer n) =
    \forall integer x; 0 <= x < n ==> import_ok(schema, imported, x);
*/

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-12: the order in which attention takes entries. Heap sort needs no memory, and its time
 * does not depend on the order in which a cache was put together. */
#include "decoder_internal.h"

/*@
  requires valid: \valid_read(position + a) && \valid_read(position + b);
  assigns \nothing;
  ensures result: \result == 0 || \result == 1;
  ensures layer_12: \result != 0 <==> !not_behind(position, b, a);
*/
static int is_before(const int *position, int a, int b) {
    return position[a] != position[b] ? position[a] < position[b] : a < b;
}

/* Lets the entry at `at` sink in the heap order[0 .. n), in which no entry is before one of those
 * below it: at 2 at + 1 and 2 at + 2. */
/*@
  requires place: 0 <= at < n <= n_entries;
  requires valid: \valid(order + (0 .. n_entries - 1)) &&
    \valid_read(position + (0 .. n_entries - 1));
  requires entries: entries_below(order, n_entries, n_entries);
  requires differ: entries_differ(order, n_entries);
  requires heap: entries_heap{Here, Here}(order, position, at + 1, n);
  requires before: entries_before{Here, Here}(order, position, n, n_entries);
  requires apart: \separated(order + (0 .. n_entries - 1), position + (0 .. n_entries - 1));
  assigns order[0 .. n - 1];
  ensures entries: entries_below(order, n_entries, n_entries);
  ensures differ: entries_differ(order, n_entries);
  ensures heap: entries_heap{Here, Old}(order, position, at, n);
  ensures before: entries_before{Here, Old}(order, position, n, n_entries);
*/
static void sink(int *order, const int *position, int at, int n) /*@ ghost (int n_entries) */ {
    int entry = order[at];
    //@ ghost int top = at;
    /*@ loop invariant at: top <= at < n && (top < at ==> top <= (at - 1) / 2 < at);
        loop invariant entries: entries_below(order, n_entries, n_entries);
        loop invariant differ: others_differ(order, n_entries, at, entry);
        loop invariant heap: entries_heap{Here, Pre}(order, position, at == top ? top + 1 : top, n);
        loop invariant entry: not_behind{Pre}(position, entry, order[at]);
        loop invariant before: entries_before{Here, Pre}(order, position, n, n_entries);
        loop assigns at, order[0 .. n - 1]; loop variant n - at; */
    while (at < n / 2) {
        int below = 2 * at + 1;
        /*@ assert same: \forall integer e; 0 <= e < n_entries ==>
              position[e] == \at(position[e], Pre); */
        if (below + 1 < n && is_before(position, order[below], order[below + 1])) {
            below++;
        }
        //@ assert left: not_behind{Pre}(position, order[2 * at + 1], order[below]);
        /*@ assert right: 2 * at + 2 < n ==>
              not_behind{Pre}(position, order[2 * at + 2], order[below]); */
        /*@ assert under: \forall integer i; 0 < i && (i - 1) / 2 == at ==>
              2 * at < i <= 2 * at + 2; */
        /*@ assert largest: \forall integer i; 0 < i < n && (i - 1) / 2 == at ==>
              not_behind{Pre}(position, order[i], order[below]); */
        //@ assert above: (below - 1) / 2 == at;
        if (!is_before(position, entry, order[below])) {
            break;
        }
        //@ ghost int hole = at, moved = order[below];
        /*@ assert apart: moved != entry && \forall integer j; 0 <= j < n_entries && j != hole &&
              j != below ==> order[j] != moved; */
        /*@ assert rises: at > top ==>
              not_behind{Pre}(position, order[below], order[at]) &&
              not_behind{Pre}(position, order[at], order[(at - 1) / 2]); */
        order[at] = order[below];
        /*@ assert others: \forall integer i; 0 <= i < n_entries && i != hole ==>
              order[i] == \at(order[i], LoopCurrent); */
        /*@ assert apart_now: order[hole] == moved && \forall integer j; 0 <= j < n_entries &&
              j != hole && j != below ==> order[j] != moved; */
        //@ assert none: \forall integer i; 0 <= i < n_entries && i != below ==> order[i] != entry;
        /*@ assert pairs: \forall integer i, j; 0 <= i < j < n_entries && i != below &&
              j != below && i != hole && j != hole ==> order[i] != order[j]; */
        //@ assert differ: others_differ(order, n_entries, below, entry);
        //@ assert heap: entries_heap{Here, Pre}(order, position, top, n);
        at = below;
    }
    /*@ assert largest: \forall integer i; 0 < i < n && (i - 1) / 2 == at ==>
          not_behind{Pre}(position, order[i], entry); */
    /*@ assert above: at > top ==>
          not_behind{Pre}(position, order[at], order[(at - 1) / 2]) &&
          not_behind{Pre}(position, entry, order[(at - 1) / 2]); */
    order[at] = entry;
}

/* In a heap the first entry is behind all others. */
/*@ ghost
  /@ requires sizes: 0 <= n;
     requires heap: entries_heap{Here, Here}(order, position, 0, n);
     assigns \nothing;
     ensures first: \forall integer i; 0 <= i < n ==> not_behind(position, order[i], order[0]); @/
  void first_is_last(const int *order, const int *position, int n) {
    /@ loop invariant i: 0 <= i <= n;
       loop invariant first: \forall integer j; 0 <= j < i ==>
         not_behind(position, order[j], order[0]);
       loop assigns i; loop variant n - i; @/
    for (int i = 0; i < n; i++) {
      /@ assert above: i > 0 ==> 0 <= (i - 1) / 2 < i; @/
    }
  }
*/

void cp_order_by_position(int *order, const int *position, int n) {
    /*@ loop invariant i: 0 <= i <= n;
        loop invariant same: \forall integer j; 0 <= j < i ==> order[j] == j;
        loop assigns i, order[0 .. n - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        order[i] = i;
    }
    /*@ loop invariant i: -1 <= i <= n / 2 - 1;
        loop invariant entries: entries_below(order, n, n) && entries_differ(order, n);
        loop invariant heap: entries_heap{Here, Pre}(order, position, i + 1, n);
        loop assigns i, order[0 .. n - 1]; loop variant i; */
    for (int i = n / 2 - 1; i >= 0; i--) {
        sink(order, position, i, n) /*@ ghost (n) */;
    }
    /*@ loop invariant end: -1 <= end <= n - 1 && (n > 0 ==> 0 <= end);
        loop invariant entries: entries_below(order, n, n) && entries_differ(order, n);
        loop invariant heap: entries_heap{Here, Pre}(order, position, 0, end + 1);
        loop invariant sorted: entries_sorted{Here, Pre}(order, position, end + 1, n);
        loop assigns end, order[0 .. n - 1]; loop variant end; */
    for (int end = n - 1; end > 0; end--) {
        /*@ assert same: \forall integer e; 0 <= e < n ==> position[e] == \at(position[e], Pre); */
        //@ assert heap: entries_heap{Here, Here}(order, position, 0, end + 1);
        //@ ghost first_is_last(order, position, end + 1);
        /*@ assert largest: \forall integer i; 0 <= i <= end ==>
              not_behind{Pre}(position, order[i], order[0]); */
        //@ ghost int first = order[end];
        int last = order[0];
        order[0] = order[end];
        order[end] = last;
        /*@ assert last: \forall integer i; 0 <= i < end ==>
              not_behind{Pre}(position, order[i], last); */
        /*@ assert rest: \forall integer i, j; 0 <= i < j < n && end < j ==>
              not_behind{Pre}(position, order[i], order[j]); */
        /*@ assert swapped: order[0] == first && order[end] == last && \forall integer i;
              0 < i < n && i != end ==> order[i] == \at(order[i], LoopCurrent); */
        //@ assert below: entries_below(order, n, n);
        //@ assert differ: entries_differ(order, n);
        //@ assert heap_now: entries_heap{Here, Pre}(order, position, 1, end);
        //@ assert before: entries_before{Here, Pre}(order, position, end, n);
        /*@ assert same_now: \forall integer e; 0 <= e < n ==>
              position[e] == \at(position[e], Pre); */
        //@ assert before_now: entries_before{Here, Here}(order, position, end, n);
        sink(order, position, 0, end) /*@ ghost (n) */;
        //@ assert still_before: entries_before{Here, Pre}(order, position, end, n);
        /*@ assert behind: \forall integer i, j; end <= i < j < n ==>
              not_behind{Pre}(position, order[i], order[j]); */
        /*@ assert sorted: \forall integer i, j; 0 <= i < end < j < n ==>
              not_behind{Pre}(position, order[i], order[end]) &&
              not_behind{Pre}(position, order[end], order[j]); */
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-12: the order in which attention takes entries. Heap sort needs no memory, and its time
 * does not depend on the order in which a cache was put together. */
#include "decoder_internal.h"

/*@
  requires valid: \valid_read(position + a) && \valid_read(position + b);
  assigns \nothing;
  ensures result: \result == 0 || \result == 1;
*/
static int is_before(const int *position, int a, int b) {
    return position[a] != position[b] ? position[a] < position[b] : a < b;
}

/* Lets the entry at `at` sink in the heap order[0 .. n), in which no entry is before one of those
 * below it: at 2 at + 1 and 2 at + 2. */
/*@
  requires place: 0 <= at < n <= n_entries;
  requires valid: \valid(order + (0 .. n - 1)) && \valid_read(position + (0 .. n_entries - 1));
  requires entries: entries_below(order, n, n_entries);
  requires apart: \separated(order + (0 .. n - 1), position + (0 .. n_entries - 1));
  assigns order[0 .. n - 1];
  ensures entries: entries_below(order, n, n_entries);
*/
static void sink(int *order, const int *position, int at, int n) /*@ ghost (int n_entries) */ {
    int entry = order[at];
    /*@ loop invariant at: 0 <= at < n;
        loop invariant entries: entries_below(order, n, n_entries);
        loop assigns at, order[0 .. n - 1]; loop variant n - at; */
    while (at < n / 2) {
        int below = 2 * at + 1;
        if (below + 1 < n && is_before(position, order[below], order[below + 1])) {
            below++;
        }
        if (!is_before(position, entry, order[below])) {
            break;
        }
        order[at] = order[below];
        at = below;
    }
    order[at] = entry;
}

void cp_order_by_position(int *order, const int *position, int n) {
    /*@ loop invariant i: 0 <= i <= n && entries_below(order, i, n);
        loop assigns i, order[0 .. n - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        order[i] = i;
    }
    /*@ loop invariant i: -1 <= i <= n / 2 - 1;
        loop invariant entries: entries_below(order, n, n);
        loop assigns i, order[0 .. n - 1]; loop variant i; */
    for (int i = n / 2 - 1; i >= 0; i--) {
        sink(order, position, i, n) /*@ ghost (n) */;
    }
    /*@ loop invariant end: -1 <= end <= n - 1 && (n > 0 ==> 0 <= end);
        loop invariant entries: entries_below(order, n, n);
        loop assigns end, order[0 .. n - 1]; loop variant end; */
    for (int end = n - 1; end > 0; end--) {
        int last = order[0];
        order[0] = order[end];
        order[end] = last;
        sink(order, position, 0, end) /*@ ghost (n) */;
    }
}

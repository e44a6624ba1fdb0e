/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-12: the order in which attention takes entries. Heap sort needs no memory, and its time
 * does not depend on the order in which a cache was put together. */
#include "decoder_internal.h"

static int is_before(const int *position, int a, int b) {
    return position[a] != position[b] ? position[a] < position[b] : a < b;
}

/* Lets the entry at `at` sink in the heap order[0 .. n), in which no entry is before one of those
 * below it: at 2 at + 1 and 2 at + 2. */
static void sink(int *order, const int *position, int at, int n) {
    int entry = order[at];
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
    for (int i = 0; i < n; i++) {
        order[i] = i;
    }
    for (int i = n / 2 - 1; i >= 0; i--) {
        sink(order, position, i, n);
    }
    for (int end = n - 1; end > 0; end--) {
        int last = order[0];
        order[0] = order[end];
        order[end] = last;
        sink(order, position, 0, end);
    }
}

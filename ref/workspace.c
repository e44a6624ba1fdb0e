/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are: in the workspace, in Q and in out. */
#include "workspace_internal.h"

size_t cp_rows_served(const struct cp_attention *attention, const struct cp_plan *plan, int begin,
                      int end) {
    size_t n = 0;
    /*@ loop invariant at: begin <= at <= end;
        loop invariant n: n == entry_row(attention->query_begin, *plan, at) -
          entry_row(attention->query_begin, *plan, begin);
        loop invariant countable: 0 <= n <= (at - begin) * INT_MAX;
        loop assigns at, n; loop variant end - at; */
    for (int at = begin; at < end; at++) {
        int s = plan->served[at];
        n += (size_t)(cp_first_row(attention, s + 1) - cp_first_row(attention, s));
    }
    return n;
}

struct workspace cp_cut_workspace(const struct cp_attention *attention) {
    struct workspace w;
    size_t d_v = (size_t)attention->value_dim;
    size_t rows = cp_partial_rows(attention);
    /*@ assert numbers: 0 <= row_at(rows, attention->n_heads) &&
          0 <= row_at(row_at(rows, attention->n_heads), attention->value_dim); */
    w.n_partials = cp_row_begin(rows, attention->n_heads);
    w.state = attention->workspace;
    w.o = (double *)(w.state + w.n_partials);
    w.q = w.o + cp_row_begin(w.n_partials, attention->value_dim);
    w.part_o = w.q + attention->head_dim;
    w.row_o = w.part_o + d_v;
    w.out = w.row_o + d_v;
    return w;
}

size_t cp_row_offset(const struct cp_attention *attention, int row, int head, int d) {
    //@ ghost pair_is_countable(row, head, attention->n_heads, d);
    size_t index = (size_t)row * (size_t)attention->n_heads + (size_t)head;
    //@ assert index: index == row_at(row, attention->n_heads) + head;
    return index * (size_t)d;
}

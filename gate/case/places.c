/* SPDX-License-Identifier: Apache-2.0 */
/* Where the keys of a problem lie, and which of them a row sees. */
#include "gate/case/problem.h"

int gate_run_of(const struct gate_problem *p, int sequence, int j) {
    ptrdiff_t table = (ptrdiff_t)sequence * p->table_width;
    const int *first = p->first + table, *tokens = p->table_tokens + table;
    int k = 0;
    if (p->plan == CP_PLANS_TREES) {
        return j / p->recipe.chunk_size;
    }
    while (j < first[k] || j >= first[k] + tokens[k]) {
        k++;
    }
    return k;
}

int gate_position_of(const struct gate_problem *p, int sequence, int j) {
    int at = sequence * p->table_width + gate_run_of(p, sequence, j);
    return p->table_position[at] + j - p->first[at];
}

int gate_positions(const struct gate_problem *p, int sequence) {
    int n = p->n_tokens[sequence];
    return n > 0 ? gate_position_of(p, sequence, n - 1) + 1 : 0;
}

int gate_runs(const struct gate_problem *p, int sequence) {
    int k = 0;
    while (p->table_tokens[sequence * p->table_width + k] > 0) {
        k++;
    }
    return k;
}

size_t gate_key_at(const struct gate_problem *p, int sequence, int j, int kv_head) {
    const struct gate_recipe *r = &p->recipe;
    int at = sequence * p->table_width + gate_run_of(p, sequence, j);
    size_t slice = (size_t)p->table[at] * (size_t)r->n_kv_heads + (size_t)kv_head;
    size_t slot = slice * (size_t)r->chunk_size + (size_t)(j - p->first[at]);
    return slot * (size_t)r->head_dim;
}

int gate_sequence_of(const struct gate_problem *p, int row) {
    int s = 0;
    while (p->query_begin[s + 1] <= row) {
        s++;
    }
    return s;
}

int gate_chunk_number(const struct gate_problem *p, int chunk) {
    return p->number != NULL ? p->number[chunk] : chunk;
}

/* RUNS-4, for the run at a place of the table. */
static int visible_in(const struct gate_problem *p, int at, int position) {
    int seen = position + 1 - p->table_position[at], n = p->table_tokens[at];
    return seen < 0 ? 0 : seen < n ? seen : n;
}

int gate_visible(const struct gate_problem *p, int row) {
    int s = gate_sequence_of(p, row), visible = 0;
    if (p->plan == CP_PLANS_TREES) {
        return p->position[row] < 0 ? 0 : p->position[row] + 1;
    }
    for (int k = 0, n = gate_runs(p, s); k < n; k++) {
        visible += visible_in(p, s * p->table_width + k, p->position[row]);
    }
    return visible;
}

int gate_visible_in(const struct gate_problem *p, int row, int k) {
    return visible_in(p, gate_sequence_of(p, row) * p->table_width + k, p->position[row]);
}

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

size_t gate_key_row(const struct gate_problem *p, int sequence, int j, int kv_head) {
    const struct gate_recipe *r = &p->recipe;
    int at = sequence * p->table_width + gate_run_of(p, sequence, j);
    size_t slice = (size_t)p->table[at] * (size_t)r->n_kv_heads + (size_t)kv_head;
    return slice * (size_t)r->chunk_size + (size_t)(j - p->first[at]);
}

const double *gate_key(const struct gate_problem *p, int sequence, int j, int kv_head) {
    return p->k + gate_key_row(p, sequence, j, kv_head) * (size_t)p->recipe.head_dim;
}

const double *gate_value(const struct gate_problem *p, int sequence, int j, int kv_head) {
    return p->v + gate_key_row(p, sequence, j, kv_head) * (size_t)p->value_dim;
}

int gate_sequence_of(const struct gate_problem *p, int row) {
    int s = 0;
    while (p->query_begin[s + 1] <= row) {
        s++;
    }
    return s;
}

int gate_block_number(const struct gate_problem *p, int block) {
    return p->number != NULL ? p->number[block] : block;
}

int gate_chunk_number(const struct gate_problem *p, int chunk) {
    return p->pages.kind == CP_PAGES_CHUNKS ? gate_block_number(p, chunk) : chunk;
}

/* How many keys of the run at a place of the table stand at positions up to `last`. */
static int up_to_in(const struct gate_problem *p, int at, int last) {
    int seen = last + 1 - p->table_position[at], n = p->table_tokens[at];
    return seen < 0 ? 0 : seen < n ? seen : n;
}

/* Of a whole sequence. */
static int up_to(const struct gate_problem *p, int s, int last) {
    int n = 0;
    if (p->plan == CP_PLANS_TREES) {
        return last < 0 ? 0 : last < p->n_tokens[s] ? last + 1 : p->n_tokens[s];
    }
    for (int k = 0, runs = gate_runs(p, s); k < runs; k++) {
        n += up_to_in(p, s * p->table_width + k, last);
    }
    return n;
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

struct gate_seen gate_seen_by_window(const struct gate_problem *p, int row) {
    const struct gate_mask *m = &p->mask;
    int s = gate_sequence_of(p, row), position = p->position[row];
    struct gate_seen seen = {.end = up_to(p, s, position + m->ahead)};
    if (m->window > 0) {
        seen.shown = up_to(p, s, position - m->window);
        seen.hidden = smaller(up_to(p, s, m->kept - 1), seen.shown);
    }
    return seen;
}

int gate_is_left(const struct gate_problem *p, int row, int t) {
    const struct gate_mask *m = &p->mask;
    if (m->bit == NULL || t < m->begin[row]) {
        return 1;
    }
    size_t i = m->first[row] + (size_t)(t - m->begin[row]);
    return m->bit[i / 8] >> i % 8 & 1;
}

struct gate_seen gate_seen(const struct gate_problem *p, int row) {
    const struct gate_mask *m = &p->mask;
    struct gate_seen seen = gate_seen_by_window(p, row);
    if (m->bit != NULL) {
        seen.list = m->key + m->keys[row];
        seen.n = (int)(m->keys[row + 1] - m->keys[row]);
    }
    return seen;
}

int gate_visible(const struct gate_problem *p, int row) {
    struct gate_seen seen = gate_seen(p, row);
    return gate_seen_count(&seen);
}

struct gate_seen gate_seen_in(const struct gate_problem *p, int row, int k) {
    const struct gate_mask *m = &p->mask;
    int at = gate_sequence_of(p, row) * p->table_width + k, position = p->position[row];
    struct gate_seen seen = {.end = up_to_in(p, at, position + m->ahead)};
    if (m->window > 0) {
        seen.shown = up_to_in(p, at, position - m->window);
        seen.hidden = smaller(up_to_in(p, at, m->kept - 1), seen.shown);
    }
    return seen;
}

int gate_visible_in(const struct gate_problem *p, int row, int k) {
    struct gate_seen seen = gate_seen_in(p, row, k);
    int at = gate_sequence_of(p, row) * p->table_width + k, n = 0;
    for (int i = 0; i < gate_seen_count(&seen); i++) {
        n += gate_is_left(p, row, p->table_position[at] + gate_seen_key(&seen, i));
    }
    return n;
}

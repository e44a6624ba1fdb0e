/* SPDX-License-Identifier: Apache-2.0 */
/* An array has up to three indices before that of the number. Their order is the recipe's, and the
 * strides follow from it, from the innermost index out:
 *
 *   o [part][row][head][d], 3 parts, 2 rows, 4 heads, d = 8, without gaps
 *     head 8, row 4 * 8 = 32, part 2 * 32 = 64
 *   with gaps of 16 numbers behind each d, and of 48 behind each part
 *     head 24, row 96, part 192 + 48 = 240 */
#include "gate/merge/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/runner/arena.h"

/* In numbers. Of results they are others: a kernel that takes strides of one for the other errs. */
enum gaps { NO_GAPS, IN_PARTS, IN_RESULTS, GAPS };
static const int gap_inner[GAPS] = {0, 16, 8};
static const int gap_outer[GAPS] = {0, 48, 32};

enum index { PART, ROW, HEAD, INDICES };

struct strides {
    long long of[INDICES];
    long long elements;
};

/* order: the indices from the outermost in. An index of extent 0 is not there. */
static struct strides strides_of(const enum index order[INDICES], const long long extent[INDICES],
                                 long long width, enum gaps gaps) {
    struct strides s = {{0, 0, 0}, width + gap_inner[gaps]};
    for (int i = INDICES - 1; i >= 0; i--) {
        if (extent[order[i]] > 0) {
            s.of[order[i]] = s.elements;
            s.elements *= extent[order[i]];
            s.elements += i == 0 ? gap_outer[gaps] : 0;
        }
    }
    return s;
}

struct all_strides {
    struct strides o, l, out, lse;
};

/* Parts of all rows, where they follow one another, have no index of rows. */
static struct all_strides all_strides(const struct merge_problem *p) {
    static const enum index orders[][INDICES] = {
        {PART, ROW, HEAD}, {PART, ROW, HEAD}, {PART, HEAD, ROW}, {ROW, PART, HEAD}};
    static const enum index by_head[INDICES] = {PART, HEAD, ROW};
    const struct merge_recipe *r = &p->recipe;
    int by_row = p->kernel->parts == CP_PARTS_BY_ROW;
    enum gaps gaps = r->gaps ? IN_PARTS : NO_GAPS, of_out = r->gaps ? IN_RESULTS : NO_GAPS;
    long long parts = by_row ? p->begin[r->n_rows] : r->n_parts - p->kernel->in_place;
    const long long of_parts[] = {parts, by_row ? 0 : r->n_rows, r->n_heads};
    const long long of_results[] = {0, r->n_rows, r->n_heads};
    int o = r->o == CP_O_ORDER_ROW_PART ? CP_L_ORDER_ROW_PART : CP_L_ORDER_PART_ROW;
    static const enum index of_lists[INDICES] = {ROW, HEAD, PART}; /* [head][part of all] */
    const enum index *l = by_row && r->l == CP_L_ORDER_PART_HEAD ? of_lists : orders[r->l];
    return (struct all_strides){
        strides_of(orders[o], of_parts, r->head_dim, gaps), strides_of(l, of_parts, 1, gaps),
        strides_of(orders[0], of_results, r->head_dim, of_out),
        strides_of(r->lse == CP_LSE_ORDER_HEAD ? by_head : orders[0], of_results, 1, of_out)};
}

static void put_strides(struct cp_merge_call *c, const struct all_strides *s) {
    c->o_part = s->o.of[PART];
    c->o_row = s->o.of[ROW];
    c->o_head = s->o.of[HEAD];
    c->l_part = s->l.of[PART];
    c->l_row = s->l.of[ROW];
    c->l_head = s->l.of[HEAD];
    c->out_row = s->out.of[ROW];
    c->out_head = s->out.of[HEAD];
    c->lse_row = s->lse.of[ROW];
    c->lse_head = s->lse.of[HEAD];
}

void merge_call_sizes(struct cp_merge_call *c, const struct merge_problem *p) {
    const struct merge_recipe *r = &p->recipe;
    struct all_strides s = all_strides(p);
    *c = (struct cp_merge_call){.n_parts = r->n_parts,
                                .all_parts = p->begin[r->n_rows],
                                .n_rows = r->n_rows,
                                .n_heads = r->n_heads,
                                .head_dim = r->head_dim};
    put_strides(c, &s);
}

static void count_bytes(const struct merge_problem *p, size_t bytes[RUN_BUFFERS]) {
    const struct cp_merge_kernel *k = p->kernel;
    struct all_strides s = all_strides(p);
    memset(bytes, 0, RUN_BUFFERS * sizeof *bytes);
    bytes[RUN_O] = (size_t)s.o.elements * cp_number_size(k->o_type);
    bytes[RUN_L] = (size_t)s.l.elements * cp_number_size(k->l_type);
    bytes[RUN_N] = k->form != CP_FORM_LSE ? bytes[RUN_L] : 0;
    bytes[RUN_OUT] = (size_t)s.out.elements * cp_number_size(k->arithmetic.out_type);
    if (p->recipe.asks_lse) {
        bytes[RUN_LSE] = (size_t)s.lse.elements * cp_number_size(k->arithmetic.lse_type);
    }
    if (k->parts == CP_PARTS_BY_ROW) {
        bytes[RUN_PART_BEGIN] = ((size_t)p->recipe.n_rows + 1) * sizeof *p->begin;
    }
}

double merge_bytes(const struct merge_problem *p, size_t workspace) {
    size_t bytes[RUN_BUFFERS];
    double sum = 2.0 * (double)workspace; /* of both runs, and of the arena */
    count_bytes(p, bytes);
    for (int b = 0; b < RUN_BUFFERS; b++) {
        sum += 4.0 * (double)bytes[b];
    }
    return sum;
}

void merge_arrays_free(struct merge_arrays *a) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        free(a->memory[b]);
        a->memory[b] = NULL;
    }
}

int merge_arrays_new(struct merge_arrays *a, const struct merge_problem *p, size_t workspace) {
    memset(a, 0, sizeof *a);
    a->problem = p;
    merge_call_sizes(&a->call, p);
    count_bytes(p, a->run.bytes);
    for (int b = 0; b < RUN_BUFFERS; b++) {
        if (a->run.bytes[b] > 0 && (a->memory[b] = malloc(a->run.bytes[b])) == NULL) {
            merge_arrays_free(a);
            return -1;
        }
    }
    a->call.o = a->memory[RUN_O];
    a->call.l = a->memory[RUN_L];
    a->call.n = a->memory[RUN_N];
    a->call.part_begin = (const int *)(const void *)a->memory[RUN_PART_BEGIN];
    a->call.out = a->memory[RUN_OUT];
    a->call.lse = a->memory[RUN_LSE];
    a->call.workspace_size = workspace;
    a->run.bytes[RUN_WORKSPACE] = workspace;
    a->run.merge = &a->call;
    a->run.in_place = p->kernel->in_place;
    return 0;
}

long long merge_result_at(const struct merge_arrays *a, int row, int head, int element) {
    const struct cp_merge_call *c = &a->call;
    return element < 0 ? row * c->lse_row + head * c->lse_head
                       : row * c->out_row + head * c->out_head + element;
}

double merge_result(const struct merge_arrays *a, int row, int head, int element) {
    const struct cp_merging_class *class = &a->problem->kernel->arithmetic;
    size_t at = (size_t)merge_result_at(a, row, head, element);
    return element < 0 ? cp_number_load(a->memory[RUN_LSE], class->lse_type, at)
                       : cp_number_load(a->memory[RUN_OUT], class->out_type, at);
}

/* The log-sum-exp of a part as it lies in memory, or its m. */
static double stored_l(const struct merge_problem *p, int row, int part, int head) {
    const struct cp_merge_kernel *k = p->kernel;
    double l = merge_m_of(p, row, part, head);
    static const double any[] = {-INFINITY, 0.0, 500.0, -1e30, INFINITY, NAN};
    unsigned long long number = p->recipe.seed + (unsigned long long)(5 * row + 3 * part + head);
    return l != -INFINITY                                       ? l
           : k->empty_l == CP_EMPTY_L_VALUE                     ? k->empty_l_value
           : k->empty_l == CP_EMPTY_L_ANY                       ? any[number % 6]
           : k->empty_l == CP_EMPTY_L_EITHER && number % 2 == 1 ? INFINITY
                                                                : l;
}

/* Part p of a row: in out and lse, or in o and l. */
static void put_part(struct merge_arrays *a, int row, int part, int head) {
    const struct merge_problem *p = a->problem;
    const struct cp_merge_kernel *k = p->kernel;
    const struct cp_merge_call *c = &a->call;
    const double *o = merge_o_of(p, row, part, head);
    int here = k->in_place && part == 0;
    long long first = k->parts == CP_PARTS_BY_ROW ? p->begin[row] : -k->in_place;
    long long at = here ? merge_result_at(a, row, head, 0)
                        : (first + part) * c->o_part + row * c->o_row + head * c->o_head;
    long long at_l = here ? merge_result_at(a, row, head, -1)
                          : (first + part) * c->l_part + row * c->l_row + head * c->l_head;
    double n = merge_n_of(p, row, part, head);
    double times = k->form == CP_FORM_UNDIVIDED && n > 0.0 ? n : 1.0;
    for (int i = 0; i < p->recipe.head_dim; i++) {
        cp_number_store(a->memory[here ? RUN_OUT : RUN_O], merge_o_type(k, part), (size_t)(at + i),
                        times * o[i]);
    }
    if (p->n != NULL) {
        cp_number_store(a->memory[RUN_N], k->l_type, (size_t)at_l, n);
    }
    cp_number_store(a->memory[here ? RUN_LSE : RUN_L], merge_l_type(k, part), (size_t)at_l,
                    stored_l(p, row, part, head));
}

void merge_arrays_fill(struct merge_arrays *a, unsigned char poison) {
    const struct merge_problem *p = a->problem;
    for (int b = 0; b < RUN_BUFFERS; b++) {
        if (a->memory[b] != NULL) {
            memset(a->memory[b], poison, a->run.bytes[b]);
        }
    }
    if (a->memory[RUN_PART_BEGIN] != NULL) {
        memcpy(a->memory[RUN_PART_BEGIN], p->begin, a->run.bytes[RUN_PART_BEGIN]);
    }
    for (int row = 0; row < p->recipe.n_rows; row++) {
        for (int part = 0; part < merge_parts_of(p, row); part++) {
            for (int head = 0; head < p->recipe.n_heads; head++) {
                put_part(a, row, part, head);
            }
        }
    }
}

void merge_arrays_blank(struct merge_arrays *a) {
    const struct merge_problem *p = a->problem;
    const struct cp_merge_kernel *k = p->kernel;
    int of_out = k->empty_out == CP_EMPTY_UNSPECIFIED;
    int of_lse = k->empty_lse == CP_EMPTY_UNSPECIFIED && a->memory[RUN_LSE] != NULL;
    for (int row = 0; row < p->recipe.n_rows && (of_out || of_lse); row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            if (merge_has_keys(p, row, head)) {
                continue;
            }
            for (int i = 0; i < p->recipe.head_dim && of_out; i++) {
                cp_number_store(a->memory[RUN_OUT], k->arithmetic.out_type,
                                (size_t)merge_result_at(a, row, head, i), 0.0);
            }
            if (of_lse) {
                cp_number_store(a->memory[RUN_LSE], k->arithmetic.lse_type,
                                (size_t)merge_result_at(a, row, head, -1), 0.0);
            }
        }
    }
}

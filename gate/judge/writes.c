/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-3, GATE-4: compares what two runs of the call wrote. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/judge/judge.h"

/* Marks in `is_result` the bytes that belong to results; the other bytes are gaps. */
static void mark(const struct gate_problem *p, const struct gate_arrays *a, enum run_buffer buffer,
                 unsigned char *is_result) {
    const struct cp_kernel_call *c = &a->run.call;
    int of_out = buffer == RUN_OUT;
    size_t size = cp_number_size(of_out ? p->out_type : p->lse_type);
    size_t width = size * (of_out ? (size_t)p->value_dim : 1);
    for (long long row = 0; row < p->n_rows; row++) {
        for (long long head = 0; head < p->recipe.n_heads; head++) {
            long long at = of_out ? row * c->out_row + head * c->out_head
                                  : row * c->lse_row + head * c->lse_head;
            memset(is_result + (size_t)at * size, 1, width);
        }
    }
}

/* Finds the row, head and element to which a number of out or lse belongs, or which it follows. */
static void place_of(const struct gate_problem *p, const struct gate_arrays *a,
                     enum run_buffer buffer, size_t number, struct gate_finding *f) {
    const struct cp_kernel_call *c = &a->run.call;
    long long nearest = -1;
    for (int row = 0; row < p->n_rows; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            long long at = buffer == RUN_OUT ? row * c->out_row + head * c->out_head
                                             : row * c->lse_row + head * c->lse_head;
            if (at <= (long long)number && at > nearest) {
                nearest = at;
                f->row = row;
                f->head = head;
                f->element = buffer == RUN_OUT ? (int)((long long)number - at) : -1;
            }
        }
    }
}

/* "element 3 of row 0 (sequence 0), head 1"; for lse without the element. */
static void name_place(const struct gate_problem *p, const struct gate_finding *f, char *text,
                       size_t size) {
    char element[32] = "";
    if (f->element >= 0 && f->element < p->value_dim) {
        (void)snprintf(element, sizeof element, "element %d of ", f->element);
    }
    (void)snprintf(text, size, "%srow %d (sequence %d), head %d", element, f->row,
                   gate_sequence_of(p, f->row), f->head);
}

/* What can be wrong with what was written. A new kind states all of its fields here: the compiler
 * refuses a record that leaves one out. */
struct kind_of_write {
    enum gate_verdict verdict;
    const char *clause; /* that is broken */
    const char *before; /* the words around the place, in a finding's text */
    const char *after;
};
static const struct kind_of_write unwritten = {GATE_UNWRITTEN, "GATE-3", ", ", " was not written"};
static const struct kind_of_write other_bits = {GATE_OTHER_BITS, "GATE-4", ", ",
                                                " differs between two runs of the same call"};
static const struct kind_of_write in_a_gap = {GATE_WROTE_BETWEEN, "GATE-3",
                                              " was written past the end of ",
                                              ": in the gap between rows, which belongs to no row"};

/* At a number of out or lse. */
static void find(const struct gate_problem *p, const struct gate_arrays *a, enum run_buffer buffer,
                 size_t number, const struct kind_of_write *kind, struct gate_finding *f) {
    char place[96], at_number[48] = "";
    f->verdict = kind->verdict;
    gate_finding_breaks(f, kind->clause);
    place_of(p, a, buffer, number, f);
    name_place(p, f, place, sizeof place);
    if (kind == &in_a_gap) {
        (void)snprintf(at_number, sizeof at_number, ", at number %zu of the array", number);
        f->element = -1;
    }
    (void)snprintf(f->text, sizeof f->text, "%s%s%s%s%s", run_buffer_names[buffer], kind->before,
                   place, at_number, kind->after);
}

/* From a place on, where the next bytes are that are no results or differ. */
static size_t skip_alike(const unsigned char *a, const unsigned char *b,
                         const unsigned char *is_result, size_t at, size_t end) {
    uint64_t x, y, mask;
    for (; at + sizeof mask <= end; at += sizeof mask) {
        memcpy(&x, a + at, sizeof x);
        memcpy(&y, b + at, sizeof y);
        memcpy(&mask, is_result + at, sizeof mask);
        if (x != y || mask != UINT64_C(0x0101010101010101)) {
            break;
        }
    }
    return at;
}

/* Results that are alike were written: the poison of the two runs differs. */
static void judge_bytes(const struct gate_problem *p, const struct gate_arrays *one,
                        const struct gate_arrays *other, enum run_buffer buffer, size_t size,
                        const unsigned char *is_result, struct gate_finding *f) {
    const unsigned char *a = one->memory[buffer], *b = other->memory[buffer];
    size_t at = 0, end = one->run.bytes[buffer];
    while ((at = skip_alike(a, b, is_result, at, end)) < end && f->verdict == GATE_RIGHT) {
        size_t left = 0; /* bytes that are as they were, in both */
        int same = memcmp(a + at, b + at, size) == 0;
        for (size_t i = 0; i < size; i++) {
            left += a[at + i] == one->run.poison && b[at + i] == other->run.poison;
        }
        if (is_result[at] ? left == size : left != size) {
            find(p, one, buffer, at / size, is_result[at] ? &unwritten : &in_a_gap, f);
        } else if (is_result[at] && !same) {
            find(p, one, buffer, at / size, &other_bits, f);
        }
        at += size;
    }
}

int gate_judge_writes(const struct gate_problem *p, const struct gate_arrays *one,
                      const struct gate_arrays *other, struct gate_finding *f) {
    *f = gate_no_finding;
    for (int buffer = RUN_OUT; buffer <= RUN_LSE; buffer++) {
        size_t size = buffer == RUN_OUT ? cp_number_size(p->out_type) : cp_number_size(p->lse_type);
        if (one->run.bytes[buffer] == 0 || size == 0) {
            continue;
        }
        unsigned char *is_result = calloc(one->run.bytes[buffer], 1);
        if (is_result == NULL) {
            return -1;
        }
        mark(p, one, (enum run_buffer)buffer, is_result);
        judge_bytes(p, one, other, (enum run_buffer)buffer, size, is_result, f);
        free(is_result);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-3, GATE-4: what two runs of a call wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/merge/judge.h"
#include "gate/runner/arena.h"

/* One array of results. */
struct written {
    const struct merge_arrays *one, *other;
    const unsigned char *poison;
    int buffer;
    size_t size;              /* of a number */
    unsigned char *is_result; /* [n] numbers; the others are gaps */
    size_t n;
};

static void mark(const struct written *w) {
    const struct merge_recipe *r = &w->one->problem->recipe;
    int first = w->buffer == RUN_OUT ? 0 : -1, end = w->buffer == RUN_OUT ? r->head_dim : 0;
    for (int row = 0; row < r->n_rows; row++) {
        for (int head = 0; head < r->n_heads; head++) {
            for (int i = first; i < end; i++) {
                w->is_result[merge_result_at(w->one, row, head, i)] = 1;
            }
        }
    }
}

/* Finds the row, head and element of a number, or of that before it. */
static void place_of(const struct written *w, size_t number, struct gate_finding *f) {
    const struct merge_recipe *r = &w->one->problem->recipe;
    int of_out = w->buffer == RUN_OUT;
    long long nearest = -1;
    for (int row = 0; row < r->n_rows; row++) {
        for (int head = 0; head < r->n_heads; head++) {
            long long at = merge_result_at(w->one, row, head, of_out ? 0 : -1);
            if (at <= (long long)number && at > nearest) {
                nearest = at;
                f->row = row;
                f->head = head;
                f->element = of_out ? (int)((long long)number - at) : -1;
            }
        }
    }
}

static void find(const struct written *w, size_t number, enum gate_verdict verdict,
                 struct merge_finding *finding) {
    struct gate_finding *f = &finding->of;
    char element[32] = "";
    finding->verdict = f->verdict = verdict;
    gate_finding_breaks(f, verdict == GATE_OTHER_BITS ? "GATE-4" : "GATE-3");
    place_of(w, number, f);
    if (f->element >= 0 && verdict != GATE_WROTE_BETWEEN) {
        (void)snprintf(element, sizeof element, "element %d of ", f->element);
    }
    (void)snprintf(f->text, sizeof f->text, "%s%s%srow %d, head %d%s", run_buffer_names[w->buffer],
                   verdict == GATE_WROTE_BETWEEN ? " was written past the end of " : ", ", element,
                   f->row, f->head,
                   verdict == GATE_UNWRITTEN    ? " was not written"
                   : verdict == GATE_OTHER_BITS ? " differs between two runs of the same call"
                                                : ": in the gap between rows");
}

static int is_poison(const unsigned char *bytes, size_t size, unsigned char poison) {
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != poison) {
            return 0;
        }
    }
    return 1;
}

/* A result in place may stay as it was. */
static void judge_numbers(const struct written *w, struct merge_finding *finding) {
    for (size_t i = 0; i < w->n && finding->verdict == GATE_RIGHT; i++) {
        const unsigned char *a = w->one->memory[w->buffer] + i * w->size;
        const unsigned char *b = w->other->memory[w->buffer] + i * w->size;
        int left = is_poison(a, w->size, w->poison[0]) && is_poison(b, w->size, w->poison[1]);
        if (!w->is_result[i] && !left) {
            find(w, i, GATE_WROTE_BETWEEN, finding);
        } else if (w->is_result[i] && left) {
            find(w, i, GATE_UNWRITTEN, finding);
        } else if (w->is_result[i] && memcmp(a, b, w->size) != 0) {
            find(w, i, GATE_OTHER_BITS, finding);
        }
    }
}

int merge_judge_writes(const struct merge_arrays *one, const struct merge_arrays *other,
                       const unsigned char poison[2], struct merge_finding *finding) {
    const struct cp_merging_class *class = &one->problem->kernel->arithmetic;
    *finding = (struct merge_finding){.of = gate_no_finding};
    for (int buffer = RUN_OUT; buffer <= RUN_LSE; buffer++) {
        size_t size = cp_number_size(buffer == RUN_OUT ? class->out_type : class->lse_type);
        size_t n = one->run.bytes[buffer] / size;
        struct written w = {one, other, poison, buffer, size, calloc(n + 1, 1), n};
        if (w.is_result == NULL) {
            return -1;
        }
        if (n > 0) {
            mark(&w);
            judge_numbers(&w, finding);
        }
        free(w.is_result);
    }
    return 0;
}

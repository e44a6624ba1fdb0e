/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/invariance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/base/random.h"
#include "gate/judge/conventions.h"
#include "gate/judge/judge.h"
#include "gate/search/outcome.h"

/* ---- What is kept ---- */

static unsigned char *copy(const unsigned char *bytes, size_t n) {
    unsigned char *to = malloc(n + 1);
    if (to != NULL && n > 0) {
        memcpy(to, bytes, n);
    }
    return to;
}

int gate_results_keep(struct gate_results *results, const struct gate_arrays *a) {
    results->call = a->run.call;
    results->out = copy(a->memory[RUN_OUT], a->run.bytes[RUN_OUT]);
    results->lse = copy(a->memory[RUN_LSE], a->run.bytes[RUN_LSE]);
    return results->out != NULL && results->lse != NULL ? 0 : -1;
}

void gate_results_free(struct gate_results *results) {
    free(results->out);
    free(results->lse);
    memset(results, 0, sizeof *results);
}

/* ---- Which rows run again ---- */

/* Rows first .. end - 1 of a sequence, in a call of their own. */
struct part {
    int sequence, first, end;
    const char *words; /* for whom its results differ */
};

/* Any sequence that has rows; -1: none has. */
static int any_sequence(const struct gate_problem *p, struct prng *random) {
    int from = prng_below(random, p->b);
    for (int i = 0; i < p->b; i++) {
        int s = (from + i) % p->b;
        if (p->query_begin[s + 1] > p->query_begin[s]) {
            return s;
        }
    }
    return -1;
}

/* How many of a sequence's rows come first; 0: they cannot be cut. Of a tree the last row of a call
 * stands at its last key, or at -1 where it has none. */
static int cut_of(const struct gate_problem *p, int s, struct prng *random) {
    const int *position = p->position + p->query_begin[s];
    int rows = p->query_begin[s + 1] - p->query_begin[s];
    int cut = rows < 2 ? 0 : 1 + prng_below(random, rows - 1);
    while (cut > 0 && cut < rows && p->plan == CP_PLANS_TREES && position[cut - 1] < -1) {
        cut++;
    }
    return cut < rows ? cut : 0;
}

/* ---- The same bits ---- */

/* Compares one row and head; returns the element that differs, d_v for the log-sum-exp, or -1. */
static int differing_element(const struct gate_problem *p, const struct gate_results *whole,
                             const struct gate_arrays *a, const struct part *part, int row,
                             int head) {
    const struct cp_kernel_call *x = &whole->call, *y = &a->run.call;
    int d = p->value_dim, in_whole = p->query_begin[part->sequence] + part->first + row;
    size_t size = cp_number_size(p->out_type);
    const unsigned char *one =
        whole->out + (size_t)(in_whole * x->out_row + head * x->out_head) * size;
    const unsigned char *other =
        a->memory[RUN_OUT] + (size_t)(row * y->out_row + head * y->out_head) * size;
    for (int i = 0; i < d; i++) {
        if (memcmp(one + (size_t)i * size, other + (size_t)i * size, size) != 0) {
            return i;
        }
    }
    if (a->run.bytes[RUN_LSE] == 0) {
        return -1;
    }
    size = cp_number_size(p->lse_type);
    one = whole->lse + (size_t)(in_whole * x->lse_row + head * x->lse_head) * size;
    other = a->memory[RUN_LSE] + (size_t)(row * y->lse_row + head * y->lse_head) * size;
    return memcmp(one, other, size) != 0 ? d : -1;
}

static void compare(const struct gate_problem *p, const struct gate_results *whole,
                    const struct gate_arrays *a, const struct part *part, struct gate_finding *f) {
    char element[32] = "";
    for (int row = 0; row < part->end - part->first; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            int i = differing_element(p, whole, a, part, row, head);
            if (i < 0) {
                continue;
            }
            f->verdict = GATE_OTHER_BITS;
            gate_finding_breaks(f, "CONV-5");
            f->row = p->query_begin[part->sequence] + part->first + row;
            f->head = head;
            f->element = i < p->value_dim ? i : -1;
            if (f->element >= 0) {
                (void)snprintf(element, sizeof element, "element %d of ", f->element);
            }
            (void)snprintf(f->text, sizeof f->text,
                           "%s, %srow %d (sequence %d), head %d has other bits when %s",
                           f->element < 0 ? "lse" : "out", element, f->row, part->sequence, head,
                           part->words);
            return;
        }
    }
}

/* 0, or -1: no verdict. */
static int run_arrays(struct checking *c, const struct gate_problem *p, struct gate_arrays *a,
                      struct gate_finding *f) {
    struct run_report report;
    a->run.at_end = 1;
    a->run.poison = GATE_POISON;
    c->result->runs++;
    if (runner_run(c->runner, &a->run, &report) != 0) {
        return gate_no_verdict(report.text);
    }
    gate_conventions_blank(p, runner_kernel(c->runner), a);
    gate_take(&report, f);
    return 0;
}

static int run_part(struct checking *c, const struct gate_problem *whole_problem,
                    const struct gate_results *whole, const struct part *part,
                    struct gate_finding *finding) {
    struct gate_problem p;
    struct gate_arrays a;
    struct gate_finding f;
    size_t workspace = 0;
    if (gate_problem_part(&p, whole_problem, part->sequence, part->first, part->end) != 0) {
        return gate_no_verdict("not enough memory for a case");
    }
    int takes = gate_kernel_takes(c, &p, &workspace, &f);
    int result = takes < 0 ? -1 : 0;
    if (takes > 0 && f.verdict == GATE_RIGHT) {
        if (gate_arrays_new(&a, &p) != 0) {
            gate_problem_free_alone(&p);
            return gate_no_verdict("not enough memory for a case");
        }
        a.run.bytes[RUN_WORKSPACE] = a.run.call.workspace_size = workspace;
        result = run_arrays(c, &p, &a, &f);
        c->result->parts++;
        if (result == 0 && f.verdict == GATE_RIGHT) {
            compare(whole_problem, whole, &a, part, &f);
        }
        gate_arrays_free(&a);
    }
    if (takes > 0 && result == 0 && f.verdict != GATE_RIGHT) {
        *finding = f;
    }
    gate_problem_free_alone(&p);
    return result;
}

int gate_run_parts(struct checking *c, const struct gate_problem *p,
                   const struct gate_results *whole, struct gate_finding *f) {
    struct prng random = {p->recipe.seed ^ 0x1A7A81A47ULL};
    int s = any_sequence(p, &random), result = 0;
    if (s < 0) {
        return 0;
    }
    int rows = p->query_begin[s + 1] - p->query_begin[s];
    int cuts = runner_kernel(c->runner)->conventions.invariant == CP_INVARIANT_CUTS;
    int is_behind =
        p->plan == CP_PLANS_TREES && p->mask.ahead > 0; /* keys that are not there yet */
    int cut = cuts && !is_behind ? cut_of(p, s, &random) : 0;
    char words[80];
    (void)snprintf(words, sizeof words, "the sequence's rows come in two calls, of %d and %d rows",
                   cut, rows - cut);
    const struct part parts[] = {
        {s, 0, rows, "the sequence is alone in a call"}, {s, 0, cut, words}, {s, cut, rows, words}};
    for (int i = 0; i < (cut > 0 ? 3 : 1) && result == 0 && f->verdict == GATE_RIGHT; i++) {
        result = run_part(c, p, whole, &parts[i], f);
    }
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runs_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

/* RUNS-1: cuts n tokens from `begin` on into runs in fresh chunks. */
static void cut(struct prompts *p, struct text *text, int begin, int n) {
    int c = p->plan->chunk_size;
    text->begin = begin;
    text->n_runs = 0;
    for (int at = 0; at < n; at += c) {
        struct cp_run run = {p->n_chunks++, n - at < c ? n - at : c, begin + at};
        text->run[text->n_runs++] = run;
    }
}

static void add_runs(struct cp_plan_sequence *sequence, const struct text *text) {
    for (int i = 0; i < text->n_runs; i++) {
        sequence->run[sequence->n_chunks++] = text->run[i];
        sequence->n_tokens += text->run[i].n_tokens;
    }
}

/* A module that two prompts or more have is in descriptors, but for one in five. */
static void place_module(struct prompts *p, int m) {
    struct cp_plan *plan = p->plan;
    int begin = plan->n_served, from = random_below(&p->random, plan->n_sequences);
    for (int i = 0; i < plan->n_sequences; i++) {
        int s = (from + i) % plan->n_sequences;
        if (p->imports[s][m]) {
            plan->served[plan->n_served++] = s;
        }
    }
    if (plan->n_served < begin + 2 || random_below(&p->random, 5) == 0) {
        plan->n_served = begin;
        return;
    }
    for (int i = 0; i < p->module[m].n_runs; i++) {
        struct cp_run run = p->module[m].run[i];
        struct cp_shared_chunk shared = {run.chunk, begin, plan->n_served, run.n_tokens,
                                         run.position};
        plan->shared[plan->n_shared++] = shared;
    }
    for (int at = begin; at < plan->n_served; at++) {
        int s = plan->served[at];
        add_runs(&plan->sequence[s], &p->module[m]);
        plan->sequence[s].n_shared = plan->sequence[s].n_chunks;
        p->imports[s][m] = 2;
    }
}

/* What a prompt has alone: modules, arguments in params, and new text behind everything. */
static void place_rest(struct prompts *p, int s) {
    struct cp_plan_sequence *sequence = &p->plan->sequence[s];
    struct text text;
    for (int m = p->n_modules - 1; m >= 0; m--) {
        if (p->imports[s][m] == 1) {
            add_runs(sequence, &p->module[m]);
        }
        if (p->imports[s][m] != 0) {
            cut(p, &text, p->free_at[m], random_below(&p->random, 4));
            add_runs(sequence, &text);
        }
    }
    cut(p, &text, p->size, random_below(&p->random, 9));
    add_runs(sequence, &text);
}

static void place_rows(struct prompts *p, int s, int n_rows) {
    p->rows[s + 1] = p->rows[s] + n_rows;
    for (int row = p->rows[s]; row < p->rows[s + 1]; row++) {
        p->position[row] = random_below(&p->random, p->size + 10) - 1;
    }
}

void prompts_decode(struct prompts *p) {
    for (int s = 0; s < p->plan->n_sequences; s++) {
        place_rows(p, s, 1);
    }
}

void prompts_new(struct prompts *p) {
    if (cp_plan_new(&p->plan) != CP_OK) {
        abort();
    }
}

void prompts_free(struct prompts *p) {
    cp_plan_free(p->plan);
}

static void empty_plan(struct cp_plan *plan) {
    plan->n_shared = plan->n_served = 0;
    for (int s = 0; s < RUNS_SEQUENCES; s++) {
        struct cp_plan_sequence *sequence = &plan->sequence[s];
        sequence->n_tokens = sequence->n_chunks = sequence->n_shared = 0;
    }
}

void prompts_make(struct prompts *p, unsigned long long seed) {
    struct cp_plan *plan = p->plan;
    memset(p, 0, sizeof *p);
    p->plan = plan;
    p->random = seed;
    empty_plan(plan);
    plan->capacity = RUNS_CAPACITY;
    plan->chunk_size = 1 + random_below(&p->random, RUNS_CHUNK_SIZE);
    plan->n_sequences = 1 + random_below(&p->random, RUNS_SEQUENCES);
    p->n_modules = 1 + random_below(&p->random, RUNS_MODULES);
    for (int m = 0; m < p->n_modules; m++) {
        int n = 1 + random_below(&p->random, 8);
        cut(p, &p->module[m], p->size, n);
        p->free_at[m] = p->size + n;
        p->size += n + 3;
        for (int s = 0; s < p->plan->n_sequences; s++) {
            p->imports[s][m] = random_below(&p->random, 2);
        }
    }
    for (int i = 0, from = random_below(&p->random, p->n_modules); i < p->n_modules; i++) {
        place_module(p, (from + i) % p->n_modules);
    }
    for (int s = 0; s < p->plan->n_sequences; s++) {
        place_rest(p, s);
        place_rows(p, s, random_below(&p->random, 4));
    }
}

void prompts_fill(const struct cp_plan *plan, double *k, double *v) {
    size_t n = (size_t)RUNS_CAPACITY * (size_t)plan->chunk_size * RUNS_POSITIONS;
    for (size_t i = 0; i < n; i++) {
        k[i] = v[i] = NAN;
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int i = 0; i < plan->sequence[s].n_chunks; i++) {
            struct cp_run run = plan->sequence[s].run[i];
            for (int slot = 0; slot < run.n_tokens; slot++) {
                size_t at =
                    ((size_t)run.chunk * (size_t)plan->chunk_size + (size_t)slot) * RUNS_POSITIONS;
                memset(&k[at], 0, RUNS_POSITIONS * sizeof(double));
                memset(&v[at], 0, RUNS_POSITIONS * sizeof(double));
                v[at + (size_t)(run.position + slot)] = 1.0;
            }
        }
    }
}

/* Of the runs, as a set: does a prompt have a token at this position? */
static int has_token(const struct cp_plan_sequence *sequence, int position) {
    for (int i = 0; i < sequence->n_chunks; i++) {
        struct cp_run run = sequence->run[i];
        if (run.position <= position && position < run.position + run.n_tokens) {
            return 1;
        }
    }
    return 0;
}

/* MASK-1 */
static int mask_leaves(const struct cp_mask *mask, int row, int position) {
    int begin = mask->begin == NULL ? 0 : mask->begin[row];
    if (mask->bits == NULL || position < begin) {
        return 1;
    }
    size_t bit = mask->first[row] + (size_t)position - (size_t)begin;
    return (mask->bits[bit / 8] & (1U << bit % 8)) != 0;
}

/* WINDOW-1, MASK-1: does a row of prompt s see a token there? */
static int sees(const struct prompts *p, int s, int row, int position) {
    const struct cp_window *w = &p->window;
    long long at = p->position[row];
    return position <= at + w->ahead &&
           (w->keys == 0 || position > at - w->keys || position < w->kept) &&
           has_token(&p->plan->sequence[s], position) && mask_leaves(&p->mask, row, position);
}

static int tokens_seen(const struct prompts *p, int s, int row) {
    int count = 0;
    for (int j = 0; j < RUNS_POSITIONS; j++) {
        count += sees(p, s, row, j);
    }
    return count;
}

double prompts_output(const struct prompts *p, int s, int row, int j) {
    return sees(p, s, row, j) ? 1.0 / tokens_seen(p, s, row) : 0.0;
}

double prompts_lse(const struct prompts *p, int s, int row) {
    int count = tokens_seen(p, s, row);
    return count == 0 ? -INFINITY : log((double)count);
}

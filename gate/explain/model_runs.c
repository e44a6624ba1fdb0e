/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs a row reads of prompts with modules, and how many keys of each: in place of stages 1
 * and 2 of a path. An example of ways.h: RUNS_AS_CHUNKS has run k begin at position k c. So the row
 * at position p sees min(max(p + 1 - k c, 0), tokens) of its keys, where it should be
 * p + 1 - begins. The functions declare the variables of ways.h. */
#include <limits.h>

#include "gate/explain/model.h"

/* A list of runs: that of sequence s, or what it would have if descriptors served ranges. */
struct list {
    const struct gate_problem *p;
    int s, by_range;
    int of_row, row_position; /* the row's sequence, and where it stands */
    int runs, shared;         /* the first `shared` runs are of descriptors */
};

/* ---- The list ---- */

/* 1: descriptor i serves the sequence. */
static int is_served(const struct list *x, int i) {
    const struct cp_shared_chunk *one = &x->p->shared[i];
    int is_one = x->by_range && one->begin <= x->s && x->s < one->end;
    for (int at = one->begin; !x->by_range && at < one->end; at++) {
        is_one |= x->p->served[at] == x->s;
    }
    return is_one;
}

static struct list list_of(const struct gate_problem *p, int row, int s, int by_range) {
    struct list x = {p, s, by_range, gate_sequence_of(p, row), p->position[row], 0, 0};
    for (int i = 0; i < p->n_shared; i++) {
        x.shared += is_served(&x, i);
    }
    x.runs = x.shared + gate_runs(p, s) - p->n_shared_chunks[s];
    return x;
}

/* The descriptor of run k. */
static const struct cp_shared_chunk *descriptor_of(const struct list *x, int k) {
    int i = 0;
    while ((k -= is_served(x, i)) >= 0) {
        i++;
    }
    return &x->p->shared[i];
}

static struct cp_run run_of(const struct list *x, int k) {
    const struct gate_problem *p = x->p;
    if (k < x->shared) {
        const struct cp_shared_chunk *one = descriptor_of(x, k);
        return (struct cp_run){one->chunk, one->n_tokens, one->position};
    }
    int at = x->s * p->table_width + p->n_shared_chunks[x->s] + k - x->shared;
    return (struct cp_run){p->table[at], p->table_tokens[at], p->table_position[at]};
}

/* ---- What ways ask of it ---- */

static int rank_of(const struct list *x, int k) {
    int rank = 0, position = run_of(x, k).position;
    for (int other = 0; other < x->runs; other++) {
        rank += run_of(x, other).position < position;
    }
    return rank;
}

/* The run of the list that is number `rank` by position. */
static int at_rank(const struct list *x, int rank) {
    int k = 0;
    while (k < x->runs - 1 && rank_of(x, k) != rank) {
        k++;
    }
    return k;
}

static int first_behind_row(const struct list *x) {
    int k = 0;
    while (k < x->runs && run_of(x, k).position <= x->row_position) {
        k++;
    }
    return k;
}

static int first_partial_run(const struct list *x) {
    int k = 0;
    while (k < x->runs && run_of(x, k).n_tokens == x->p->recipe.chunk_size) {
        k++;
    }
    return k;
}

/* Its number among those that the descriptor of run k serves, from the first or from the last. */
static int number_served(const struct list *x, int k, int from_last) {
    const struct cp_shared_chunk *shared = descriptor_of(x, k);
    int at = shared->begin;
    while (at < shared->end - 1 && x->p->served[at] != x->s) {
        at++;
    }
    return from_last ? shared->end - 1 - at : at - shared->begin;
}

#define rank          rank_of(x, k)
#define first_behind  first_behind_row(x)
#define first_partial first_partial_run(x)
#define first_served  number_served(x, k, 0)
#define last_served   number_served(x, k, 1)

/* ---- Ways ---- */

static int times_of(const struct list *x, const struct explain_choice *choice, int k) {
    int runs = x->runs, shared = x->shared, all = x->p->n_tokens[x->s], c = x->p->recipe.chunk_size;
    int at = choice->runs.at, times = choice->runs.times;
    switch ((enum explain_counts)choice->runs.counts) { EXPLAIN_COUNTS(EXPLAIN_CASE) }
    return 1;
}

static int chunk_of(const struct list *x, const struct explain_choice *choice, int k) {
    int runs = x->runs;
    switch ((enum explain_chunks)choice->runs.chunk) { EXPLAIN_CHUNKS(EXPLAIN_CASE) }
    return k;
}

#define NO_WINDOW INT_MAX

/* WINDOW-1. stands: from where a window reaches back. */
struct mask {
    int window, kept, ahead, stands;
};

static struct mask mask_of(const struct list *x, const struct explain_choice *choice, int k) {
    int window = x->p->mask.window > 0 ? x->p->mask.window : NO_WINDOW, kept = x->p->mask.kept,
        ahead = x->p->mask.ahead;
    int p = x->row_position, by = choice->mask.by;
    int last = x->p->position[x->p->query_begin[x->of_row + 1] - 1];
    struct mask got = {window, kept, ahead, p};
    if (x->p->mask.window + ahead > 0 && explain_is_for(choice->mask.keys, k < x->shared)) {
        switch ((enum explain_mask)choice->mask.way) { EXPLAIN_MASKS(EXPLAIN_GET) }
    }
    return got;
}

/* How many of the slots of a run are before a position, from 0 to n. */
static int slots_before(long long position, int begins, int n) {
    long long before = position - begins;
    return before < 0 ? 0 : before < n ? (int)before : n;
}

/* Which of its keys a row sees (RUNS-4, WINDOW-2). */
static struct gate_seen seen_in(const struct list *x, const struct explain_choice *choice, int k,
                                int before, int behind) {
    int runs = x->runs, all = x->p->n_tokens[x->s], c = x->p->recipe.chunk_size;
    int p = x->row_position, by = choice->runs.by;
    int tokens = run_of(x, k).n_tokens, begins = run_of(x, k).position;
    int first = x->p->query_begin[x->of_row], last = x->p->query_begin[x->of_row + 1] - 1;
    int n_rows = x->p->n_rows;
    const int *position = x->p->position;
    struct {
        int tokens, begins, stands;
    } got = {tokens, begins, p};
    if (explain_is_for(choice->runs.keys, k < x->shared)) {
        switch ((enum explain_runs)choice->runs.way) { EXPLAIN_OF_RUNS(EXPLAIN_GET) }
    }
    struct mask mask = mask_of(x, choice, k);
    struct gate_seen seen = {.end = 0};
    seen.end = slots_before((long long)got.stands + 1 + mask.ahead, got.begins, got.tokens);
    seen.shown = slots_before((long long)mask.stands + 1 - mask.window, got.begins, seen.end);
    seen.hidden = slots_before(mask.kept, got.begins, seen.shown);
    return seen;
}

/* ---- All ---- */

int explain_take_runs(const struct gate_problem *p, const struct explain_choice *choice, int row,
                      int s, struct explain_taken *taken, int room) {
    struct list x = list_of(p, row, s, choice->runs.by_range);
    int behind = p->query_begin[x.of_row + 1] - 1 - row, before = 0, n = 0;
    for (int k = 0; k < x.runs; k++) {
        int chunk = run_of(&x, chunk_of(&x, choice, k)).chunk, own = run_of(&x, k).chunk;
        struct gate_seen seen = seen_in(&x, choice, k, before, behind);
        struct explain_taken run = {.run = x.by_range ? -1 : k,
                                    .k = choice->runs.array == OF_V ? own : chunk,
                                    .v = choice->runs.array == OF_K ? own : chunk,
                                    .hidden = seen.hidden,
                                    .shown = seen.shown,
                                    .seen = seen.end,
                                    .is_shared = k < x.shared,
                                    .begins = run_of(&x, k).position};
        before += run_of(&x, k).n_tokens;
        for (int times = times_of(&x, choice, k); times > 0; times--) {
            if (n == room) {
                return -1;
            }
            taken[n++] = run;
        }
    }
    return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-13: prompts with modules as a plan of runs (RUNS-1 to RUNS-3). A module that two prompts or
 * more have lies in one place, and its chunks are in descriptors. An example, with chunks of 4:
 *
 *     prompt   texts                  runs by descriptors      its own runs
 *     S0       A B, 2 new tokens      (C0, 4, 0) (C1, 2, 4)    (C2, 4, 6) (C3, 2, 10)
 *     S1       A, 3 new tokens        (C0, 4, 0) (C1, 2, 4)    (C4, 3, 10)
 *
 * A has 6 tokens and B has 4. In half of the cases descriptors, and own runs of a sequence, stand
 * in any order. Of lists, so do the sequences that a descriptor serves. */
#include "gate/case/modules.h"

#include <stdlib.h>
#include <string.h>

#include "gate/case/lists.h"
#include "gate/case/prompts.h"

#define APART_EVERY 8 /* one module in so many has no descriptors: each prompt has it as its own */

/* What is known of the prompts before the lists are there. */
struct sharing {
    struct gate_problem *p;
    const struct gate_prompts *prompts;
    struct prng random, order;       /* of what there is, and of how it is ordered */
    int *number;                     /* of each chunk, at random */
    int chunk[GATE_MOST_MODULES];    /* the first one of each module */
    int n_users[GATE_MOST_MODULES];  /* prompts that have it */
    int is_apart[GATE_MOST_MODULES]; /* 1: it has no descriptors */
    int next;                        /* chunk that nobody has yet */
};

static int chunks_of(const struct sharing *x, int tokens) {
    int c = x->p->recipe.chunk_size;
    return (tokens + c - 1) / c;
}

static int has(const struct sharing *x, int s, int module) {
    int found = 0;
    for (int i = 0; s >= 0 && s < x->prompts->n && i < x->prompts->prompt[s].n_texts; i++) {
        found |= x->prompts->prompt[s].text[i].module == module;
    }
    return found;
}

/* Has it descriptors? */
static int has_list(const struct sharing *x, int m) {
    return !x->is_apart[m] && x->n_users[m] > 1;
}

/* Does a descriptor give the module to sequence s? Of ranges, none serves one sequence alone. */
static int is_served(const struct sharing *x, int s, int module) {
    int in_range = x->p->plan == CP_PLANS_LISTS || has(x, s - 1, module) || has(x, s + 1, module);
    return module >= 0 && has_list(x, module) && has(x, s, module) && in_range;
}

/* ---- Sizes ---- */

static void count_users(struct sharing *x) {
    for (int m = 0; m < x->p->recipe.n_modules; m++) {
        x->is_apart[m] = prng_below(&x->random, APART_EVERY) == 0;
        for (int s = 0; s < x->prompts->n; s++) {
            x->n_users[m] += has(x, s, m);
        }
        x->chunk[m] = x->next;
        x->next += x->n_users[m] > 0 ? chunks_of(x, x->p->recipe.module[m].tokens) : 0;
    }
}

/* Chunks of new texts, and the most runs of a sequence. */
static int count_texts(const struct sharing *x, int *runs) {
    int chunks = 0;
    *runs = 0;
    for (int s = 0; s < x->prompts->n; s++) {
        const struct gate_prompt *prompt = &x->prompts->prompt[s];
        int n = 0;
        for (int i = 0; i < prompt->n_texts; i++) {
            n += chunks_of(x, prompt->text[i].tokens);
            chunks += prompt->text[i].module < 0 ? chunks_of(x, prompt->text[i].tokens) : 0;
        }
        *runs = n > *runs ? n : *runs;
    }
    return chunks;
}

/* Of lists, one for each module; of ranges, the maximal ones. Where `shared` and `served` are NULL
 * they are counted. */
struct listing {
    int n_served, n_shared;
    int begin[GATE_MOST_MODULES]; /* of a module's list */
    int *served;
    struct cp_shared_chunk *shared;
};

static void shuffle_ints(struct prng *random, int *list, int n) {
    for (int i = n - 1; i > 0; i--) {
        int at = prng_below(random, i + 1), last = list[i];
        list[i] = list[at];
        list[at] = last;
    }
}

/* Chunk k of a module, from slot 0 on. */
static struct cp_run run_of(const struct sharing *x, int first, const struct gate_text *text,
                            int k) {
    int c = x->p->recipe.chunk_size, left = text->tokens - k * c;
    return (struct cp_run){x->number[first + k], left < c ? left : c, text->position + k * c};
}

/* The descriptors of a module for served[begin .. end). */
static void describe(const struct sharing *x, int m, int begin, int end, struct listing *to) {
    const struct gate_module *module = &x->p->recipe.module[m];
    struct gate_text text = {m, module->tokens, module->position};
    for (int k = 0; k < chunks_of(x, module->tokens); k++, to->n_shared++) {
        if (to->shared != NULL) {
            struct cp_run run = run_of(x, x->chunk[m], &text, k);
            to->shared[to->n_shared] =
                (struct cp_shared_chunk){run.chunk, begin, end, run.n_tokens, run.position};
        }
    }
}

/* 1: each prompt that has `one` has the other, too. */
static int is_within(const struct sharing *x, int one, int other) {
    int within = 1;
    for (int s = 0; s < x->prompts->n; s++) {
        within &= !has(x, s, one) || has(x, s, other);
    }
    return within;
}

/* The first module before m whose list has the prompts of m, and perhaps more of them; -1: none, or
 * each module has a list of its own. */
static int outer_of(const struct sharing *x, int m) {
    for (int other = 0; other < m && (x->p->recipe.seed >> 15 & 1) != 0; other++) {
        if (has_list(x, other) && is_within(x, m, other)) {
            return other;
        }
    }
    return -1;
}

/* The first module behind m whose list is the beginning of that of m; -1: none. */
static int inner_of(const struct sharing *x, int m) {
    for (int other = m + 1; other < x->p->recipe.n_modules; other++) {
        if (has_list(x, other) && outer_of(x, other) == m) {
            return other;
        }
    }
    return -1;
}

/* 1: the list of m is the beginning of another: all of that list, or those of its inner module. */
static int begins_list(const struct sharing *x, int m, int outer) {
    int inner = outer >= 0 && outer_of(x, outer) < 0 ? inner_of(x, outer) : -1;
    return inner >= 0 && (inner == m || (is_within(x, inner, m) && is_within(x, m, inner)) ||
                          is_within(x, outer, m));
}

/* The prompts with m, and with or without `inner`, one after the other. */
static void list_prompts(const struct sharing *x, int m, int inner, int with, struct listing *to) {
    for (int s = 0; s < x->prompts->n; s++) {
        if (has(x, s, m) && (inner < 0 || has(x, s, inner) == with)) {
            if (to->served != NULL) {
                to->served[to->n_served] = s;
            }
            to->n_served++;
        }
    }
}

/* Its prompts, those of its inner module first. */
static void list_users(const struct sharing *x, int m, struct listing *to) {
    int outer = outer_of(x, m), inner = inner_of(x, m);
    to->begin[m] = to->n_served;
    if (begins_list(x, m, outer)) {
        to->begin[m] = to->begin[outer];
    } else {
        list_prompts(x, m, inner, 1, to);
        if (inner >= 0) {
            list_prompts(x, m, inner, 0, to);
        }
    }
    describe(x, m, to->begin[m], to->begin[m] + x->n_users[m], to);
}

/* RUNS-9: its maximal ranges of two prompts or more. */
static void list_ranges(const struct sharing *x, int m, struct listing *to) {
    for (int s = 0, begin = 0; s < x->prompts->n; s++) {
        begin = has(x, s - 1, m) ? begin : s;
        if (has(x, s, m) && !has(x, s + 1, m) && s > begin) {
            describe(x, m, begin, s + 1, to);
        }
    }
}

static void list_all(const struct sharing *x, struct listing *to) {
    to->n_served = to->n_shared = 0;
    if (x->p->plan == CP_PLANS_RANGES) {
        for (int s = 0; to->served != NULL && s < x->prompts->n; s++) {
            to->served[s] = s;
        }
        to->n_served = x->prompts->n;
    }
    for (int m = 0; m < x->p->recipe.n_modules; m++) {
        if (has_list(x, m) && x->p->plan == CP_PLANS_RANGES) {
            list_ranges(x, m, to);
        } else if (has_list(x, m)) {
            list_users(x, m, to);
        }
    }
}

/* ---- The lists ---- */

/* How many tokens of the prompt stand before a position. */
static int tokens_before(const struct gate_prompt *prompt, int position) {
    int n = 0;
    for (int i = 0; i < prompt->n_texts; i++) {
        const struct gate_text *text = &prompt->text[i];
        int before = position - text->position;
        n += before < 0 ? 0 : before < text->tokens ? before : text->tokens;
    }
    return n;
}

static void set_run(const struct sharing *x, int s, int k, struct cp_run run) {
    int at = s * x->p->table_width + k;
    x->p->table[at] = run.chunk;
    x->p->table_tokens[at] = run.n_tokens;
    x->p->table_position[at] = run.position;
    x->p->first[at] = tokens_before(&x->prompts->prompt[s], run.position);
}

static struct cp_run get_run(const struct sharing *x, int s, int k) {
    int at = s * x->p->table_width + k;
    return (struct cp_run){x->p->table[at], x->p->table_tokens[at], x->p->table_position[at]};
}

/* The places of a list behind the beginning that is a list, too. */
static void shuffle_list(struct sharing *x, int begin, int end) {
    struct gate_problem *p = x->p;
    int inner = begin;
    for (int i = 0; i < p->n_shared; i++) {
        int other = p->shared[i].end;
        inner = p->shared[i].begin == begin && other < end && other > inner ? other : inner;
    }
    shuffle_ints(&x->order, p->served + inner, end - inner);
}

/* Lists, and descriptors, in any order. */
static void shuffle_shared(struct sharing *x) {
    struct gate_problem *p = x->p;
    for (int i = 0; p->plan == CP_PLANS_LISTS && i < p->n_shared; i++) {
        if (i == 0 || p->shared[i].begin != p->shared[i - 1].begin ||
            p->shared[i].end != p->shared[i - 1].end) { /* the first of a module */
            shuffle_list(x, p->shared[i].begin, p->shared[i].end);
        }
    }
    for (int i = p->n_shared - 1; i > 0; i--) {
        int at = prng_below(&x->order, i + 1);
        struct cp_shared_chunk last = p->shared[i];
        p->shared[i] = p->shared[at];
        p->shared[at] = last;
    }
}

/* RUNS-3: the runs of descriptors, in their order. */
static void give_shared(struct sharing *x) {
    struct gate_problem *p = x->p;
    for (int i = 0; i < p->n_shared; i++) {
        const struct cp_shared_chunk *shared = &p->shared[i];
        for (int at = shared->begin; at < shared->end; at++) {
            int s = p->served[at];
            set_run(x, s, p->n_shared_chunks[s]++,
                    (struct cp_run){shared->chunk, shared->n_tokens, shared->position});
        }
    }
}

static void give_own(struct sharing *x, int s, int in_order) {
    const struct gate_prompt *prompt = &x->prompts->prompt[s];
    int begin = x->p->n_shared_chunks[s], n = begin;
    for (int i = 0; i < prompt->n_texts; i++) {
        const struct gate_text *text = &prompt->text[i];
        if (is_served(x, s, text->module)) {
            continue;
        }
        int chunks = chunks_of(x, text->tokens);
        int first = text->module < 0 ? x->next : x->chunk[text->module];
        x->next += text->module < 0 ? chunks : 0;
        for (int k = 0; k < chunks; k++) {
            set_run(x, s, n++, run_of(x, first, text, k));
        }
    }
    for (int k = n - 1; k > begin && !in_order; k--) {
        int other = begin + prng_below(&x->order, k - begin + 1);
        struct cp_run last = get_run(x, s, k);
        set_run(x, s, k, get_run(x, s, other));
        set_run(x, s, other, last);
    }
}

/* ---- Rows ---- */

/* The last rows of a sequence stand at its last tokens, and further ones before its first token;
 * or all rows anywhere, from two positions before its first token to one behind its last. */
static void place_rows(const struct sharing *x, int s) {
    const struct gate_prompt *prompt = &x->prompts->prompt[s];
    struct gate_problem *p = x->p;
    struct prng random = {(p->recipe.seed ^ 0x20375ULL) + 0x9E3779B97F4A7C15ULL * (unsigned)s};
    int *position = p->position + p->query_begin[s];
    int n = p->query_begin[s + 1] - p->query_begin[s], keys = prompt->n_tokens;
    int begin = (prompt->n_texts > 0 ? prompt->text[0].position : 0) - 2;
    int span = gate_positions(p, s) + 2 - begin,
        anywhere = prng_below(&random, 3) == 0 && span >= n;
    for (int i = 0; i < n; i++) {
        int j = keys - (n - i); /* the key that it stands at; below 0: before the first */
        if (anywhere) {
            int from = (int)((long long)i * span / n), to = (int)((i + 1LL) * span / n);
            position[i] = begin + from + prng_below(&random, to - from);
        } else {
            position[i] = j >= 0 ? gate_position_of(p, s, j) : begin + 2 + j;
        }
    }
}

static int make_rows(struct sharing *x) {
    struct gate_problem *p = x->p;
    struct prng random = {p->recipe.seed ^ 0x0C0DEULL};
    for (int s = 0; s < p->b; s++) {
        p->n_tokens[s] = x->prompts->prompt[s].n_tokens;
        p->query_begin[s + 1] =
            p->query_begin[s] + gate_queries_of(&random, &p->recipe, s, p->n_tokens[s]);
    }
    p->n_rows = p->query_begin[p->b];
    p->position = gate_allocate((size_t)p->n_rows, sizeof(int));
    for (int s = 0; p->position != NULL && s < p->b; s++) {
        place_rows(x, s);
    }
    return p->position != NULL ? 0 : -1;
}

/* ---- All ---- */

static int fill(struct sharing *x) {
    struct gate_problem *p = x->p;
    struct listing lists = {.served = p->served, .shared = p->shared};
    list_all(x, &lists);
    int in_order = (p->recipe.seed >> 14 & 1) != 0;
    if (!in_order) {
        shuffle_shared(x);
    }
    give_shared(x);
    for (int s = 0; s < p->b; s++) {
        give_own(x, s, in_order);
    }
    return make_rows(x);
}

int gate_modules_plan(struct gate_problem *p) {
    struct gate_prompts *prompts = gate_prompts_new(&p->recipe);
    struct sharing x = {.p = p,
                        .prompts = prompts,
                        .random = {p->recipe.seed ^ 0x5A4EULL},
                        .order = {p->seed ^ 0x04DE4ULL}};
    struct listing lists = {.served = NULL};
    int runs = 0, result = -1;
    if (prompts != NULL) {
        count_users(&x);
        list_all(&x, &lists);
        x.number = gate_scatter(p, x.next + count_texts(&x, &runs));
        if (x.number != NULL &&
            gate_lists_new(p, prompts->n, runs, lists.n_served, lists.n_shared) == 0) {
            result = fill(&x);
        }
    }
    free(x.number);
    free(prompts);
    return result;
}

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

#include "cli/base/random.h"
#include "gate/case/lists.h"
#include "gate/case/prompts.h"

#define APART_EVERY  8 /* one module in so many has no descriptors: each prompt has it as its own */
#define IN_TWO_EVERY 4 /* one in so many has two lists, if it has four prompts or more */

/* What is known of the prompts before the lists are there. */
struct sharing {
    struct gate_problem *p;
    const struct gate_prompts *prompts;
    struct prng random, order;         /* of what there is, and of how it is ordered */
    int *number;                       /* of each chunk, at random */
    int chunk[GATE_MOST_MODULES];      /* the first one of each module */
    int n_users[GATE_MOST_MODULES];    /* prompts that have it */
    int is_apart[GATE_MOST_MODULES];   /* 1: it has no descriptors */
    int first_list[GATE_MOST_MODULES]; /* the first of its prompts, for which it has a list */
    int next;                          /* chunk that nobody has yet */
};

static int chunks_of(const struct sharing *x, int tokens) {
    int c = x->p->recipe.chunk_size;
    return (tokens + c - 1) / c;
}

static int has(const struct sharing *x, int s, int module) {
    return s >= 0 && s < x->prompts->n && gate_prompt_has(&x->prompts->prompt[s], module);
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

/* GATE-14: is it the text of the module before it, in the same chunks? */
static int is_alike(const struct sharing *x, int m) {
    return gate_is_alike(&x->p->recipe, m) && x->p->rotation.keys != CP_KEYS_PLACED;
}

static void count_users(struct sharing *x) {
    for (int m = 0; m < x->p->recipe.n_modules; m++) {
        x->is_apart[m] = prng_below(&x->random, APART_EVERY) == 0;
        for (int s = 0; s < x->prompts->n; s++) {
            x->n_users[m] += has(x, s, m);
        }
        int n = x->n_users[m], in_two = n >= 4 && prng_below(&x->random, IN_TWO_EVERY) == 0;
        x->first_list[m] = in_two ? 2 + prng_below(&x->random, n - 3) : n;
        int chunks = chunks_of(x, x->p->recipe.module[m].tokens);
        int is_there = is_alike(x, m) && x->n_users[m - 1] > 0;
        x->chunk[m] = is_there ? x->chunk[m - 1] : x->next;
        x->next += !is_there && n > 0 ? chunks : 0;
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

/* ---- Which prompts a descriptor serves ---- */

/* RUNS-2: the prompts served[begin .. end) have the module in one place. */
struct list {
    int module, begin, end;
};

/* All of them, and `served`: the room that begins with n_served entries is for one list more. */
struct lists {
    int n, n_served;
    struct list *list;
    int *served;
};

static void shuffle_ints(struct prng *random, int *list, int n) {
    for (int i = n - 1; i > 0; i--) {
        int at = prng_below(random, i + 1), last = list[i];
        list[i] = list[at];
        list[at] = last;
    }
}

static int stands_in(const int *set, int n, int s) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        found |= set[i] == s;
    }
    return found;
}

/* 1: all of `part` are in `set`. */
static int is_part(const int *part, int n_part, const int *set, int n) {
    int within = 1;
    for (int i = 0; i < n_part; i++) {
        within &= stands_in(set, n, part[i]);
    }
    return within;
}

/* 1: the n prompts of `set` may be the first ones of all lists that begin at `begin`. Each of these
 * has them, or is a part of them; and one has them all. */
static int may_begin(const struct lists *x, int begin, const int *set, int n) {
    int room = 0;
    for (int i = 0; i < x->n; i++) {
        const int *other = x->served + x->list[i].begin;
        int n_other = x->list[i].end - x->list[i].begin;
        if (x->list[i].begin == begin && is_part(set, n, other, n_other)) {
            room = 1;
        } else if (x->list[i].begin == begin && !is_part(other, n_other, set, n)) {
            return 0;
        }
    }
    return room;
}

/* Puts those of `set` first, and leaves the order as it is otherwise. */
static void bring_forward(int *list, int n_list, const int *set, int n) {
    int first = 0;
    for (int i = 0; i < n_list; i++) {
        int s = list[i];
        if (stands_in(set, n, s)) {
            memmove(list + first + 1, list + first, (size_t)(i - first) * sizeof *list);
            list[first++] = s;
        }
    }
}

/* Where the last list ends that begins at `begin`. */
static int end_of(const struct lists *x, int begin) {
    int end = begin;
    for (int i = 0; i < x->n; i++) {
        end = x->list[i].begin == begin && x->list[i].end > end ? x->list[i].end : end;
    }
    return end;
}

/* A list of the n prompts from served[n_served] on: the beginning of others where that is asked for
 * and possible, else one of its own. */
static void add_list(struct lists *x, int module, int n, int within_others) {
    const int *set = x->served + x->n_served;
    int begin = x->n_served;
    for (int i = 0; i < x->n && within_others && begin == x->n_served; i++) {
        if (may_begin(x, x->list[i].begin, set, n)) {
            begin = x->list[i].begin;
            bring_forward(x->served + begin, end_of(x, begin) - begin, set, n);
        }
    }
    x->n_served += begin == x->n_served ? n : 0;
    x->list[x->n++] = (struct list){module, begin, begin + n};
}

/* The prompts from `from` on that have module m, at most `most` of them, are one list. Returns the
 * first prompt behind them. */
static int list_some(const struct sharing *x, int m, int from, int most, struct lists *to) {
    int n = 0, s = from;
    for (; s < x->prompts->n && n < most; s++) {
        if (has(x, s, m)) {
            to->served[to->n_served + n++] = s;
        }
    }
    add_list(to, m, n, (x->p->recipe.seed >> 15 & 1) != 0);
    return s;
}

/* RUNS-9: its maximal ranges of two prompts or more. */
static void list_ranges(const struct sharing *x, int m, struct lists *to) {
    for (int s = 0, begin = 0; s < x->prompts->n; s++) {
        begin = has(x, s - 1, m) ? begin : s;
        if (has(x, s, m) && !has(x, s + 1, m) && s > begin) {
            to->list[to->n++] = (struct list){m, begin, s + 1};
        }
    }
}

static void list_all(const struct sharing *x, struct lists *to) {
    int b = x->prompts->n, of_ranges = x->p->plan == CP_PLANS_RANGES;
    for (int s = 0; s < b && of_ranges; s++) {
        to->served[to->n_served++] = s;
    }
    for (int m = 0; m < x->p->recipe.n_modules; m++) {
        if (has_list(x, m) && of_ranges) {
            list_ranges(x, m, to);
        } else if (has_list(x, m)) {
            int next = list_some(x, m, 0, x->first_list[m], to);
            if (x->first_list[m] < x->n_users[m]) {
                (void)list_some(x, m, next, b, to);
            }
        }
    }
}

/* ---- The lists ---- */

/* Chunk k of a module, from slot 0 on. */
static struct cp_run run_of(const struct sharing *x, int first, const struct gate_text *text,
                            int k) {
    int c = x->p->recipe.chunk_size, left = text->tokens - k * c;
    return (struct cp_run){x->number[first + k], left < c ? left : c, text->position + k * c};
}

static int descriptors_of(const struct sharing *x, const struct lists *lists) {
    int n = 0;
    for (int i = 0; i < lists->n; i++) {
        n += chunks_of(x, x->p->recipe.module[lists->list[i].module].tokens);
    }
    return n;
}

/* Each list has a descriptor for each chunk of its module. */
static void describe(const struct sharing *x, const struct lists *lists) {
    struct cp_shared_chunk *to = x->p->shared;
    for (int i = 0; i < lists->n; i++) {
        int m = lists->list[i].module;
        const struct gate_module *module = &x->p->recipe.module[m];
        struct gate_text text = {m, module->tokens, module->position};
        for (int k = 0; k < chunks_of(x, module->tokens); k++) {
            struct cp_run run = run_of(x, x->chunk[m], &text, k);
            *to++ = (struct cp_shared_chunk){run.chunk, lists->list[i].begin, lists->list[i].end,
                                             run.n_tokens, run.position};
        }
    }
}

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
 * or all rows anywhere, from two positions before its first token (from the first, if each row sees
 * a key) to one behind its last. */
static void place_rows(const struct sharing *x, int s) {
    const struct gate_prompt *prompt = &x->prompts->prompt[s];
    struct gate_problem *p = x->p;
    struct prng random = {(p->recipe.seed ^ 0x20375ULL) + 0x9E3779B97F4A7C15ULL * (unsigned)s};
    int *position = p->position + p->query_begin[s];
    int n = p->query_begin[s + 1] - p->query_begin[s], keys = prompt->n_tokens;
    int before = (p->recipe.never & CP_NEVER_EMPTY_ROWS) != 0 ? 0 : 2;
    int begin = (prompt->n_texts > 0 ? prompt->text[0].position : 0) - before;
    int span = gate_positions(p, s) + 2 - begin,
        anywhere = prng_below(&random, 3) == 0 && span >= n;
    for (int i = 0; i < n; i++) {
        int j = keys - (n - i); /* the key that it stands at; below 0: before the first */
        if (anywhere) {
            int from = (int)((long long)i * span / n), to = (int)((i + 1LL) * span / n);
            position[i] = begin + from + prng_below(&random, to - from);
        } else {
            position[i] = j >= 0 ? gate_position_of(p, s, j) : begin + before + j;
        }
    }
}

static int make_rows(struct sharing *x) {
    struct gate_problem *p = x->p;
    for (int s = 0; s < p->b; s++) {
        p->n_tokens[s] = x->prompts->prompt[s].n_tokens;
    }
    if (gate_rows_new(p) != 0) {
        return -1;
    }
    for (int s = 0; s < p->b; s++) {
        place_rows(x, s);
    }
    return 0;
}

/* ---- All ---- */

static int fill(struct sharing *x, const struct lists *lists) {
    struct gate_problem *p = x->p;
    memcpy(p->served, lists->served, (size_t)lists->n_served * sizeof *p->served);
    describe(x, lists);
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

/* With room in `lists` for two lists of each module, or all its ranges. */
static int make_plan(struct sharing *x, struct lists *lists) {
    int runs = 0;
    count_users(x);
    list_all(x, lists);
    x->number = gate_scatter(x->p, x->next + count_texts(x, &runs));
    if (x->number == NULL ||
        gate_lists_new(x->p, x->prompts->n, runs, lists->n_served, descriptors_of(x, lists)) != 0) {
        return -1;
    }
    return fill(x, lists);
}

int gate_modules_plan(struct gate_problem *p) {
    struct gate_prompts *prompts = gate_prompts_new(&p->recipe);
    struct sharing x = {.p = p,
                        .prompts = prompts,
                        .random = {p->recipe.seed ^ 0x5A4EULL},
                        .order = {p->places ^ 0x04DE4ULL}};
    size_t most = prompts == NULL ? 0 : (size_t)prompts->n * (GATE_MOST_MODULES + 1);
    struct lists lists = {.served = gate_allocate(most, sizeof *lists.served),
                          .list = gate_allocate(most, sizeof *lists.list)};
    int result = -1;
    if (prompts != NULL && lists.served != NULL && lists.list != NULL) {
        result = make_plan(&x, &lists);
    }
    free(lists.served);
    free(lists.list);
    free(x.number);
    free(prompts);
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of prompts with modules (spec/batch.md), beside a model that knows no chunk: texts with a
 * number for each token, and who has which. A memory of slots is written as a caller writes keys.
 * After each operation each prompt is read through the plan, and must have its tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/batch.h"
#include "tests/random.h"

#define CHUNKS    24
#define ITEMS     8  /* that the model knows of */
#define PROMPTS   5  /* that it lets join at once */
#define POSITIONS 60 /* of a prompt */
#define SPANS     3  /* of an item or a prompt */
#define STEPS     60000

/* ---- The model ---- */

/* The number of the token at each position; 0: none. */
struct text {
    int token[POSITIONS];
};

struct known_item {
    unsigned long long name; /* stays when it has left */
    int number;              /* of the batch; -1: it is not there */
    int n_runs;
    unsigned long long taken;
    struct text text;
};

struct known_prompt {
    int has[ITEMS];
    struct text text;
};

struct world {
    struct cp_batch *batch;
    struct cp_plan *plan;
    struct known_item item[ITEMS];
    struct known_prompt prompt[PROMPTS + 1];
    int n_prompts, tokens; /* that have been numbered */
    unsigned long long clock, random;
    int slot[CHUNKS][CP_MAX_CHUNK_SIZE]; /* the memory: which token it has */
};

static void world_new(struct world *w, unsigned long long seed, int capacity, int chunk_size) {
    memset(w, 0, sizeof *w);
    w->random = seed;
    assert_int_equal(cp_batch_new(&w->batch, capacity, chunk_size), CP_OK);
    assert_int_equal(cp_plan_new(&w->plan), CP_OK);
    for (int i = 0; i < ITEMS; i++) {
        w->item[i].number = -1;
    }
}

static void world_free(struct world *w) {
    cp_batch_free(w->batch);
    cp_plan_free(w->plan);
}

static int users_of(const struct world *w, int i) {
    int n = 0;
    for (int p = 0; p < w->n_prompts; p++) {
        n += w->prompt[p].has[i];
    }
    return n;
}

static int runs_of(const struct world *w, const struct cp_span *span, int n_spans) {
    int n = 0;
    for (int i = 0; i < n_spans; i++) {
        n += (span[i].n_tokens + w->batch->chunk_size - 1) / w->batch->chunk_size;
    }
    return n;
}

static int count_tokens(const struct text *text) {
    int n = 0;
    for (int j = 0; j < POSITIONS; j++) {
        n += text->token[j] != 0;
    }
    return n;
}

/* Numbers the tokens of spans; 0: two have one position. */
static int add_tokens(struct world *w, struct text *text, const struct cp_span *span, int n_spans) {
    for (int i = 0; i < n_spans; i++) {
        for (int j = span[i].position; j < span[i].position + span[i].n_tokens; j++) {
            if (text->token[j] != 0) {
                return 0;
            }
            text->token[j] = ++w->tokens;
        }
    }
    return 1;
}

/* ---- What is there ---- */

static void write_run(struct world *w, const struct text *text, struct cp_run run) {
    for (int i = 0; i < run.n_tokens; i++) {
        w->slot[run.chunk][i] = text->token[run.position + i];
    }
}

/* The item that the model knows by this number; -1: none. */
static int known(const struct world *w, int number) {
    for (int i = 0; i < ITEMS; i++) {
        if (w->item[i].number == number) {
            return i;
        }
    }
    return -1;
}

/* BATCH-6: what has left had no users, was taken before all that could have left and has not, and
 * without the last of it too few of the chunks would be free, of which n were before. `put` is the
 * number of an item that has come, or -1. Forgets what has left, and returns how many. */
static int forget(struct world *w, int put, int n, int needed) {
    unsigned long long last_left = 0, first_here = ~0ULL;
    int count = 0, of_last = 0;
    for (int i = 0; i < ITEMS; i++) {
        int number = w->item[i].number;
        if (number < 0) {
            continue;
        }
        if (users_of(w, i) > 0) {
            assert_int_equal(w->batch->item[number].n_runs, w->item[i].n_runs);
        } else if (number == put || w->batch->item[number].n_runs == 0) {
            of_last = w->item[i].taken > last_left ? w->item[i].n_runs : of_last;
            last_left = w->item[i].taken > last_left ? w->item[i].taken : last_left;
            n += w->item[i].n_runs;
            w->item[i].number = -1;
            count++;
        } else if (w->item[i].taken < first_here) {
            first_here = w->item[i].taken;
        }
    }
    assert_true(count == 0 || (last_left < first_here && n - of_last < needed));
    return count;
}

/* How many chunks are free or may leave. */
static int room(const struct world *w) {
    int n = w->batch->pool.n_free;
    for (int i = 0; i < ITEMS; i++) {
        n += w->item[i].number >= 0 && users_of(w, i) == 0 ? w->item[i].n_runs : 0;
    }
    return n;
}

/* BATCH-9: reads prompt p through its runs of the plan. */
static void expect_prompt(const struct world *w, int p) {
    const struct cp_plan_sequence *sequence = &w->plan->sequence[p];
    struct text text = w->prompt[p].text;
    int left = count_tokens(&text);
    for (int i = 0; i < ITEMS; i++) {
        for (int j = 0; j < POSITIONS && w->prompt[p].has[i]; j++) {
            text.token[j] += w->item[i].text.token[j];
            left += w->item[i].text.token[j] != 0;
        }
    }
    assert_int_equal(sequence->n_tokens, left);
    for (int k = 0; k < sequence->n_chunks; k++) {
        struct cp_run run = sequence->run[k];
        for (int i = 0; i < run.n_tokens; i++, left--) {
            assert_int_equal(w->slot[run.chunk][i], text.token[run.position + i]);
        }
    }
    assert_int_equal(left, 0);
}

/* BATCH-1 to BATCH-3; now and then BATCH-9, of a plan that is some operations old. */
static void expect_all(struct world *w) {
    const char *broken = cp_batch_check(w->batch);
    if (broken != NULL) {
        fail_msg("%s is broken", broken);
    }
    assert_int_equal(w->batch->n_prompts, w->n_prompts);
    if (random_below(&w->random, 3) == 0) {
        return;
    }
    unsigned long long epoch = w->plan->stamp.epoch;
    assert_int_equal(cp_batch_plan(w->batch, w->plan), epoch != w->batch->stamp.epoch);
    assert_int_equal(w->plan->n_sequences, w->n_prompts);
    assert_true(cp_plan_is_current(w->plan, w->batch->stamp));
    broken = cp_plan_check_runs(w->plan);
    if (broken != NULL) {
        fail_msg("%s is broken", broken);
    }
    int shared = 0;
    for (int i = 0; i < ITEMS; i++) {
        shared += w->item[i].number >= 0 && users_of(w, i) >= 2
                      ? w->batch->item[w->item[i].number].n_runs
                      : 0;
    }
    assert_int_equal(w->plan->n_shared, shared);
    for (int p = 0; p < w->n_prompts; p++) {
        expect_prompt(w, p);
    }
}

/* ---- Operations ---- */

enum { PUT, DROPPED, JOINED, APPENDED, GREW, LEFT, EVICTED, FULL, COLLIDED, COUNTS };

static int make_spans(struct world *w, struct cp_span *span, int least) {
    int n = least + random_below(&w->random, SPANS + 1 - least);
    for (int i = 0; i < n; i++) {
        span[i].position = random_below(&w->random, POSITIONS - 12);
        span[i].n_tokens = 1 + random_below(&w->random, 12);
    }
    return n;
}

/* The state without what has no meaning, to see that a failure changed nothing. */
struct seen {
    struct cp_stamp stamp;
    int n_free, n_items, n_prompts, n_runs[ITEMS], n_users[ITEMS], n_own[PROMPTS + 1];
    unsigned long long clock, taken[ITEMS];
};

static struct seen look(const struct world *w) {
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    seen.stamp = w->batch->stamp;
    seen.clock = w->batch->clock;
    seen.n_free = w->batch->pool.n_free;
    seen.n_items = w->batch->n_items;
    seen.n_prompts = w->batch->n_prompts;
    for (int i = 0; i < w->batch->n_items; i++) {
        seen.n_runs[i] = w->batch->item[i].n_runs;
        seen.n_users[i] = w->batch->item[i].n_runs == 0 ? 0 : w->batch->item[i].n_users;
        seen.taken[i] = w->batch->item[i].taken;
    }
    for (int p = 0; p < w->n_prompts; p++) {
        seen.n_own[p] = w->batch->prompt[p].n_own;
    }
    return seen;
}

static void expect_failure(const struct world *w, const struct seen *before, int status,
                           int expected) {
    struct seen after = look(w);
    assert_int_equal(status, expected);
    assert_memory_equal(before, &after, sizeof after);
}

/* BATCH-4 */
static void try_put(struct world *w, int *count) {
    struct cp_span span[SPANS];
    struct text text = {{0}};
    unsigned long long name = 0;
    int i = known(w, -1), n = make_spans(w, span, 1);
    if (i < 0) {
        return;
    }
    struct seen before = look(w);
    int apart = add_tokens(w, &text, span, n), fits = runs_of(w, span, n) <= room(w);
    int status = cp_batch_put(w->batch, span, n, &name);
    if (!apart || !fits) {
        expect_failure(w, &before, status, apart ? CP_ERROR_POOL_FULL : CP_ERROR_ARGUMENT);
        assert_true(name == 0);
        count[apart ? FULL : COLLIDED]++;
        return;
    }
    assert_int_equal(status, CP_OK);
    assert_true(w->batch->stamp.epoch == before.stamp.epoch);
    assert_true(w->batch->stamp.step == before.stamp.step);
    int number = cp_batch_find(w->batch, name);
    assert_in_range(number, 0, ITEMS - 1);
    count[EVICTED] += forget(w, number, before.n_free, runs_of(w, span, n));
    w->item[i] = (struct known_item){name, number, runs_of(w, span, n), ++w->clock, text};
    assert_int_equal(w->batch->item[number].n_runs, w->item[i].n_runs);
    for (int k = 0; k < w->batch->item[number].n_runs; k++) {
        write_run(w, &text, w->batch->runs[number].run[k]);
    }
    count[PUT]++;
}

/* BATCH-7 */
static void try_drop(struct world *w, int *count) {
    int i = random_below(&w->random, ITEMS);
    struct seen before = look(w);
    int may = w->item[i].number >= 0 && users_of(w, i) == 0;
    assert_int_equal(cp_batch_find(w->batch, w->item[i].name), w->item[i].number);
    int status = cp_batch_drop(w->batch, w->item[i].name);
    if (!may) {
        expect_failure(w, &before, status, CP_ERROR_ARGUMENT);
        return;
    }
    assert_int_equal(status, CP_OK);
    assert_true(w->batch->stamp.epoch == before.stamp.epoch);
    w->item[i].number = -1;
    count[DROPPED]++;
}

/* As a prompt of these items has them taken, in its order. */
static void take(struct world *w, const unsigned long long *names, int n) {
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < ITEMS; i++) {
            if (w->item[i].number >= 0 && w->item[i].name == names[k]) {
                w->item[i].taken = ++w->clock;
            }
        }
    }
}

/* Chooses items for the next prompt, at w->prompt[n_prompts], in any order, and its text. 0: two
 * tokens have one position. */
static int choose(struct world *w, unsigned long long *items, int *n_items, struct cp_span *span,
                  int *n_spans) {
    struct known_prompt *prompt = &w->prompt[w->n_prompts];
    struct text all = {{0}};
    int apart = 1;
    memset(prompt, 0, sizeof *prompt);
    *n_items = 0;
    for (int i = 0; i < ITEMS; i++) {
        if (w->item[i].number < 0 || random_below(&w->random, 2) == 0) {
            continue;
        }
        for (int j = 0; j < POSITIONS; j++) {
            apart &= all.token[j] == 0 || w->item[i].text.token[j] == 0;
            all.token[j] += w->item[i].text.token[j];
        }
        prompt->has[i] = 1;
        items[(*n_items)++] = w->item[i].name;
    }
    for (int i = *n_items - 1; i > 0; i--) {
        int at = random_below(&w->random, i + 1);
        unsigned long long last = items[i];
        items[i] = items[at];
        items[at] = last;
    }
    *n_spans = make_spans(w, span, 0);
    apart &= add_tokens(w, &prompt->text, span, *n_spans);
    for (int j = 0; j < POSITIONS; j++) {
        apart &= all.token[j] == 0 || prompt->text.token[j] == 0;
    }
    return apart;
}

/* The chunks that are free or may leave, if the prompt that would join has its items. */
static int room_beside(struct world *w) {
    w->n_prompts++;
    int n = room(w);
    w->n_prompts--;
    return n;
}

/* BATCH-5 */
static void try_join(struct world *w, int *count) {
    struct cp_span span[SPANS];
    unsigned long long items[ITEMS];
    int n_items, n_spans, prompt = -1;
    if (w->n_prompts == PROMPTS) {
        return;
    }
    int apart = choose(w, items, &n_items, span, &n_spans);
    int fits = runs_of(w, span, n_spans) <= room_beside(w);
    struct seen before = look(w);
    int status = cp_batch_join(w->batch, w->tokens, items, n_items, span, n_spans, &prompt);
    if (!apart || !fits) {
        expect_failure(w, &before, status, apart ? CP_ERROR_POOL_FULL : CP_ERROR_ARGUMENT);
        assert_int_equal(prompt, -1);
        count[apart ? FULL : COLLIDED]++;
        return;
    }
    assert_int_equal(status, CP_OK);
    assert_int_equal(prompt, w->n_prompts);
    assert_true(w->batch->stamp.epoch == before.stamp.epoch + 1);
    w->n_prompts++;
    count[EVICTED] += forget(w, -1, before.n_free, runs_of(w, span, n_spans));
    take(w, items, n_items);
    for (int k = 0; k < w->batch->prompt[prompt].n_own; k++) {
        write_run(w, &w->prompt[prompt].text, w->batch->prompt[prompt].own[k]);
    }
    count[JOINED]++;
}

static int has_position(const struct world *w, int p, int position) {
    int found = w->prompt[p].text.token[position] != 0;
    for (int i = 0; i < ITEMS; i++) {
        found |= w->prompt[p].has[i] && w->item[i].text.token[position] != 0;
    }
    return found;
}

/* Mostly behind the last own run. */
static int any_position(struct world *w, const struct cp_prompt *prompt) {
    if (prompt->n_own > 0 && random_below(&w->random, 4) != 0) {
        struct cp_run last = prompt->own[prompt->n_own - 1];
        int next = last.position + last.n_tokens;
        return next < POSITIONS ? next : 0;
    }
    return random_below(&w->random, POSITIONS);
}

/* BATCH-8 */
static void try_append(struct world *w, int *count) {
    if (w->n_prompts == 0) {
        return;
    }
    int p = random_below(&w->random, w->n_prompts), chunk = -1, slot = -1;
    const struct cp_prompt *prompt = &w->batch->prompt[p];
    int position = any_position(w, prompt), collides = has_position(w, p, position);
    struct cp_run last = prompt->n_own > 0 ? prompt->own[prompt->n_own - 1] : (struct cp_run){0};
    int grows = prompt->n_own > 0 && last.n_tokens < w->batch->chunk_size &&
                last.position + last.n_tokens == position;
    int fits = grows || room(w) >= 1;
    struct seen before = look(w);
    int status = cp_batch_append(w->batch, p, position, &chunk, &slot);
    if (collides || !fits) {
        expect_failure(w, &before, status, collides ? CP_ERROR_ARGUMENT : CP_ERROR_POOL_FULL);
        assert_true(chunk == -1 && slot == -1);
        count[collides ? COLLIDED : FULL]++;
        return;
    }
    assert_int_equal(status, CP_OK);
    assert_true(w->batch->stamp.epoch == before.stamp.epoch + !grows);
    assert_true(w->batch->stamp.step == before.stamp.step + 1);
    count[EVICTED] += forget(w, -1, before.n_free, 1);
    w->prompt[p].text.token[position] = w->slot[chunk][slot] = ++w->tokens;
    count[grows ? GREW : APPENDED]++;
}

/* BATCH-7 */
static void try_leave(struct world *w, int *count) {
    int p = random_below(&w->random, PROMPTS) - 1;
    struct seen before = look(w);
    int status = cp_batch_leave(w->batch, p);
    if (p < 0 || p >= w->n_prompts) {
        expect_failure(w, &before, status, CP_ERROR_ARGUMENT);
        return;
    }
    assert_int_equal(status, CP_OK);
    assert_true(w->batch->stamp.epoch == before.stamp.epoch + 1);
    w->prompt[p] = w->prompt[--w->n_prompts];
    count[LEFT]++;
}

/* BATCH-1 to BATCH-9: any operations, in a pool that is often full. */
static void prompts_have_their_tokens(void **unused) {
    (void)unused;
    int count[COUNTS] = {0};
    static void (*const operation[])(struct world *, int *) = {try_put,    try_put,    try_drop,
                                                               try_join,   try_join,   try_append,
                                                               try_append, try_append, try_leave};
    for (unsigned long long seed = 1; seed <= 12; seed++) {
        static struct world w;
        world_new(&w, seed, seed % 3 == 0 ? CHUNKS : 9, 1 + (int)(seed % 5));
        for (int step = 0; step < STEPS / 12; step++) {
            operation[random_below(&w.random, 9)](&w, count);
            expect_all(&w);
        }
        world_free(&w);
    }
    for (int i = 0; i < COUNTS; i++) {
        assert_true(count[i] > STEPS / 200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_have_their_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

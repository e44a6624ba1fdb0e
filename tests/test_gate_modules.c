/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-13: cases of the gate with modules (gate/case/prompts.c, modules.c). Their plans pass
 * cp_plan_check_runs(), which knows nothing of the gate. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/case/layout.h"
#include "gate/case/prompts.h"
#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "gate/search/case_file.h"
#include "tests/gate/contiguous.h"
#include "tests/plain_kernel.h"

#define CASES 400
#define WORK  20000

static struct cp_kernel kernel_of(int plans) {
    struct cp_kernel kernel = plain;
    kernel.plans = plans;
    return kernel;
}

static struct gate_recipe recipe_of(long long index) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 7, index, 0, WORK, NULL);
    gate_recipe_to_modules(&recipe, NULL);
    memset(&recipe.op[recipe.n_ops], 0,
           (size_t)(GATE_MOST_OPS - recipe.n_ops) * sizeof recipe.op[0]);
    return recipe;
}

/* A case of the gate. */
struct made {
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

static void make(struct made *m, const struct gate_recipe *recipe, int plans) {
    struct cp_kernel kernel = kernel_of(plans);
    assert_int_equal(gate_problem_new(&m->p, recipe, &kernel), 0);
    assert_int_equal(m->p.plan, plans);
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

static int with_each(void (*look)(const struct made *m, int *count), int plans, int *count) {
    int n = 0;
    for (long long i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i);
        struct made m;
        make(&m, &recipe, plans);
        look(&m, count);
        n += 1;
        done(&m);
    }
    return n;
}

/* ---- The plan ---- */

enum {
    CHECKED,
    DESCRIPTORS,
    IN_TWO_LISTS,
    WITHIN_OTHERS,
    UNORDERED_LISTS,
    UNORDERED_DESCRIPTORS,
    GAPS,
    PARTIAL,
    COUNTS
};

/* How often the next entry of a list is a sequence before. */
static int falls_in(const struct cp_plan *plan, const struct cp_shared_chunk *list) {
    int n = 0;
    for (int at = list->begin + 1; at < list->end; at++) {
        n += plan->served[at] < plan->served[at - 1];
    }
    return n;
}

/* Descriptors behind others of their chunk; those whose list is a part of another; and the order of
 * lists that are no part and have none. */
static void count_lists(const struct cp_plan *plan, int *count) {
    for (int i = 0; i < plan->n_shared; i++) {
        int again = 0, within = 0, around = 0;
        for (int j = 0; j < plan->n_shared; j++) {
            const struct cp_shared_chunk *one = &plan->shared[i], *other = &plan->shared[j];
            again |= j < i && other->chunk == one->chunk;
            within |= other->begin == one->begin && one->end < other->end;
            around |= other->begin == one->begin && other->end < one->end;
        }
        count[IN_TWO_LISTS] += again;
        count[WITHIN_OTHERS] += within;
        count[UNORDERED_LISTS] += within || around ? 0 : falls_in(plan, &plan->shared[i]);
    }
}

static void count_plan(const struct cp_plan *plan, int *count) {
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        count[DESCRIPTORS]++;
        count[UNORDERED_DESCRIPTORS] += i > 0 && plan->shared[i - 1].position > shared->position;
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        int keys = 0, end = 0;
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            const struct cp_run *run = &plan->sequence[s].run[k];
            keys += run->n_tokens;
            end = run->position + run->n_tokens > end ? run->position + run->n_tokens : end;
            count[PARTIAL] +=
                run->n_tokens < plan->chunk_size && k + 1 < plan->sequence[s].n_chunks;
        }
        count[GAPS] += keys < end;
    }
}

static void check_plan(const struct made *m, int *count) {
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    fill_plan(m->call, plan); /* as the kernel gets it */
    const char *broken = cp_plan_check_runs(plan);
    if (broken != NULL) {
        fail_msg("%s is broken", broken);
    }
    count[CHECKED]++;
    count_lists(plan, count);
    count_plan(plan, count);
    cp_plan_free(plan);
}

/* RUNS-1 to RUNS-3. */
static void plans_are_valid(void **state) {
    int lists[COUNTS] = {0}, ranges[COUNTS] = {0};
    (void)state;
    with_each(check_plan, CP_PLANS_LISTS, lists);
    with_each(check_plan, CP_PLANS_RANGES, ranges);
    assert_true(lists[CHECKED] == CASES && ranges[CHECKED] == CASES);
    for (int i = DESCRIPTORS; i < COUNTS; i++) { /* all that lists may have, they have */
        assert_true(lists[i] > CASES / 20);
    }
    assert_true(ranges[DESCRIPTORS] > CASES / 4 && ranges[UNORDERED_DESCRIPTORS] > CASES / 4);
    assert_int_equal(ranges[UNORDERED_LISTS], 0);
}

/* RUNS-9: of ranges, `served` has each sequence once, in order. */
static void check_served(const struct made *m, int *count) {
    assert_int_equal(m->call->n_served, m->p.b);
    for (int s = 0; s < m->p.b; s++) {
        assert_int_equal(m->call->served[s], s);
    }
    (*count)++;
}

static void ranges_are_of_all_sequences(void **state) {
    int n = 0;
    (void)state;
    with_each(check_served, CP_PLANS_RANGES, &n);
    assert_int_equal(n, CASES);
}

/* ---- Keys ---- */

/* Which text of prompt s stands at a position: of a module the same number in all prompts. */
static int text_at(const struct gate_prompts *prompts, int s, int position) {
    const struct gate_prompt *prompt = &prompts->prompt[s];
    int i = 0;
    while (position >= prompt->text[i].position + prompt->text[i].tokens) {
        i++;
    }
    assert_true(i < prompt->n_texts && position >= prompt->text[i].position);
    int module = prompt->text[i].module;
    return module >= 0 ? 1 + module : 100 + s * GATE_MOST_TEXTS + i;
}

/* POOL-7, RUNS-1: two texts never lie in one chunk. */
static void check_chunks(const struct made *m, int *count) {
    const struct gate_problem *p = &m->p;
    struct gate_prompts *prompts = gate_prompts_new(&p->recipe);
    int *text = calloc((size_t)p->capacity, sizeof *text);
    if (prompts == NULL || text == NULL) {
        abort();
    }
    for (int s = 0; s < p->b; s++) {
        for (int k = 0; k < gate_runs(p, s); k++) {
            int at = s * p->table_width + k, *of = &text[p->table[at]];
            int here = text_at(prompts, s, p->table_position[at]);
            assert_true(*of == 0 || *of == here);
            *count += *of == here;
            *of = here;
        }
    }
    free(text);
    free(prompts);
}

static void no_chunk_has_two_texts(void **state) {
    int again = 0;
    (void)state;
    with_each(check_chunks, CP_PLANS_LISTS, &again);
    assert_true(again > CASES);
}

/* Keys are counted by rising position; each is where its run says, and is the same one in all
 * sequences that have the module. */
static void check_keys(const struct made *m, int *count) {
    const struct gate_problem *p = &m->p;
    for (int s = 0; s < p->b; s++) {
        int before = -1;
        for (int j = 0; j < p->n_tokens[s]; j++) {
            int k = gate_run_of(p, s, j), at = s * p->table_width + k;
            int slot = j - p->first[at], position = gate_position_of(p, s, j);
            assert_in_range(slot, 0, p->table_tokens[at] - 1);
            assert_int_equal(position, p->table_position[at] + slot);
            assert_true(position > before);
            assert_int_equal(gate_key_row(p, s, j, 0), (size_t)p->table[at] *
                                                               (size_t)p->recipe.n_kv_heads *
                                                               (size_t)p->recipe.chunk_size +
                                                           (size_t)slot);
            before = position;
            *count += k >= p->n_shared_chunks[s];
        }
        assert_int_equal(gate_positions(p, s), before + 1);
    }
}

static void keys_are_counted_by_position(void **state) {
    int own = 0;
    (void)state;
    with_each(check_keys, CP_PLANS_LISTS, &own);
    assert_true(own > CASES);
}

/* ---- Rows ---- */

enum { ROWS, IN_GAPS, UNSEEING, BEHIND_ALL, BELOW_0, ROW_COUNTS };

/* RUNS-4: rows rise, and see the keys at positions up to theirs. */
static void check_rows(const struct made *m, int *count) {
    const struct gate_problem *p = &m->p;
    for (int row = 0; row < p->n_rows; row++) {
        int s = gate_sequence_of(p, row), visible = 0, stands = 0,
            position = m->call->position[row];
        assert_true(row == p->query_begin[s] || position > m->call->position[row - 1]);
        for (int j = 0; j < p->n_tokens[s]; j++) {
            visible += gate_position_of(p, s, j) <= position;
            stands |= gate_position_of(p, s, j) == position;
        }
        assert_int_equal(gate_visible(p, row), visible);
        count[ROWS]++;
        count[IN_GAPS] += !stands && visible > 0 && visible < p->n_tokens[s];
        count[UNSEEING] += visible == 0;
        count[BEHIND_ALL] += position >= gate_positions(p, s);
        count[BELOW_0] += position < 0;
    }
}

static void rows_stand_anywhere(void **state) {
    int count[ROW_COUNTS] = {0};
    (void)state;
    with_each(check_rows, CP_PLANS_LISTS, count);
    for (int i = 0; i < ROW_COUNTS; i++) {
        assert_true(count[i] > CASES / 10);
    }
}

/* GATE-2: no step crosses the end of a run. */
static void steps_are_of_runs(void **state) {
    struct cp_kernel kernel = kernel_of(CP_PLANS_LISTS);
    struct gate_recipe recipe = {.n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = 4,
                                 .chunk_size = 4,
                                 .scale = 100,
                                 .n_ops = 1,
                                 .op = {{GATE_PROMPT, 3, 0, 2}},
                                 .n_modules = 2,
                                 .module = {{6, 0, 0}, {4, 6, 0}}};
    struct made m;
    (void)state;
    make(&m, &recipe, CP_PLANS_LISTS);
    m.p.position[0] = 1000;
    kernel.arithmetic.step = 0; /* 4 and 2 keys, 4, 2 */
    assert_int_equal(gate_steps_of_row(&kernel, &m.p, 0), 4);
    kernel.arithmetic.step = 3; /* 3 1 2, 3 1, 2 */
    assert_int_equal(gate_steps_of_row(&kernel, &m.p, 0), 6);
    m.p.position[0] = 6; /* 3 1 2, 1 */
    assert_int_equal(gate_steps_of_row(&kernel, &m.p, 0), 4);
    done(&m);
}

/* ---- The same, but for ... ---- */

/* RUNS-8: only the run that ends at the last position grows, if it is the sequence's own, in a
 * chunk that nobody else has. */
static void growth_is_of_the_last_own_run(void **state) {
    int grown = 0, kept = 0, moved = 0;
    (void)state;
    for (long long i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i);
        struct made before, after;
        make(&before, &recipe, CP_PLANS_LISTS);
        make(&after, &recipe, CP_PLANS_LISTS);
        (void)gate_problem_grow(&after.p);
        const struct gate_problem *p = &before.p, *q = &after.p;
        for (int s = 0; s < p->b; s++) {
            int more = q->n_tokens[s] - p->n_tokens[s], changed = 0;
            int k = p->n_tokens[s] > 0 ? gate_run_of(p, s, p->n_tokens[s] - 1) : -1;
            for (int at = 0; at < p->table_width; at++) {
                int from = s * p->table_width + at;
                int n = q->table_tokens[from] - p->table_tokens[from];
                assert_true(n == 0 || (at == k && n == more && k >= p->n_shared_chunks[s] &&
                                       q->table_tokens[from] <= p->recipe.chunk_size));
                changed += n != 0;
            }
            int chunk = k >= 0 ? p->table[s * p->table_width + k] : -1, others = -1;
            for (int at = 0; at < p->b * p->table_width; at++) {
                others += p->table[at] == chunk;
            }
            int room = k >= p->n_shared_chunks[s] && others == 0 &&
                       p->table_tokens[s * p->table_width + k] < p->recipe.chunk_size;
            assert_int_equal(changed, room);
            grown += changed;
            kept += !changed;
        }
        for (int row = 0; row < p->n_rows; row++) {
            int s = gate_sequence_of(p, row), last = gate_positions(p, s) - 1;
            int goes = p->position[row] == last && row + 1 == p->query_begin[s + 1];
            int more = q->n_tokens[s] - p->n_tokens[s];
            assert_int_equal(q->position[row] - p->position[row], goes ? more : 0);
            moved += goes && more > 0;
        }
        done(&before);
        done(&after);
    }
    assert_true(grown > CASES / 4 && kept > CASES / 4 && moved > CASES / 10);
}

/* GATE-1: a sequence by itself has its own runs and rows, and no descriptor. */
static void alone_it_is_the_same_sequence(void **state) {
    (void)state;
    for (long long i = 0; i < CASES; i += 5) {
        struct gate_recipe recipe = recipe_of(i);
        struct made m;
        struct gate_problem alone;
        make(&m, &recipe, CP_PLANS_LISTS);
        int s = m.p.b - 1, first = m.p.query_begin[s];
        assert_int_equal(gate_problem_alone(&alone, &m.p, s), 0);
        assert_int_equal(alone.n_shared + alone.n_shared_chunks[0] + alone.served[0], 0);
        assert_int_equal(alone.n_tokens[0], m.p.n_tokens[s]);
        assert_int_equal(alone.n_rows, m.p.n_rows - first);
        for (int j = 0; j < alone.n_tokens[0]; j++) {
            assert_int_equal(gate_key_row(&alone, 0, j, 0), gate_key_row(&m.p, s, j, 0));
            assert_int_equal(gate_position_of(&alone, 0, j), gate_position_of(&m.p, s, j));
        }
        for (int row = 0; row < alone.n_rows; row++) {
            assert_int_equal(gate_visible(&alone, row), gate_visible(&m.p, first + row));
        }
        gate_problem_free_alone(&alone);
        done(&m);
    }
}

/* The same recipe gives the same texts and rows, where it is renewed in other chunks, and in half
 * of these cases in another order. */
static void renewed_it_is_the_same_plan(void **state) {
    int same = 0, others = 0, reordered = 0;
    (void)state;
    for (long long i = 0; i < CASES; i += 5) {
        struct gate_recipe recipe = recipe_of(i);
        struct cp_kernel kernel = kernel_of(CP_PLANS_LISTS);
        struct made m;
        struct gate_problem renewed;
        make(&m, &recipe, CP_PLANS_LISTS);
        assert_int_equal(gate_problem_renew(&renewed, &recipe, &kernel), 0);
        size_t table = (size_t)m.p.b * (size_t)m.p.table_width * sizeof(int);
        assert_int_equal(renewed.b, m.p.b);
        for (int s = 0; s < m.p.b; s++) {
            assert_int_equal(renewed.n_tokens[s], m.p.n_tokens[s]);
            assert_int_equal(renewed.n_shared_chunks[s], m.p.n_shared_chunks[s]);
            for (int j = 0; j < m.p.n_tokens[s]; j++) {
                assert_int_equal(gate_position_of(&renewed, s, j), gate_position_of(&m.p, s, j));
            }
        }
        reordered += memcmp(renewed.table_position, m.p.table_position, table) != 0;
        assert_memory_equal(renewed.position, m.p.position, (size_t)m.p.n_rows * sizeof(int));
        int is_same = memcmp(renewed.table, m.p.table, table) == 0;
        same += is_same;
        others += !is_same;
        gate_problem_free(&renewed);
        done(&m);
    }
    assert_true(same > 0 && others > 0 && reordered > 0 && reordered < others);
}

/* ---- Recipes ---- */

/* MOD-2, MOD-6: texts stand apart, each where its module does. */
static void prompts_take_no_position_twice(void **state) {
    int unions = 0, arguments = 0, empty = 0;
    (void)state;
    for (long long i = 0; i < CASES; i++) {
        struct gate_recipe r = recipe_of(i);
        r.sequences = i % 4 == 0 ? 1 + (int)i % 29 : 0;
        struct gate_prompts *prompts = gate_prompts_new(&r);
        assert_non_null(prompts);
        assert_true(prompts->n >= 1 && (r.sequences == 0 || prompts->n == r.sequences));
        for (int s = 0; s < prompts->n; s++) {
            const struct gate_prompt *prompt = &prompts->prompt[s];
            int end = 0, tokens = 0;
            for (int t = 0; t < prompt->n_texts; t++) {
                const struct gate_text *text = &prompt->text[t];
                assert_true(text->tokens > 0 && text->position >= end);
                if (text->module >= 0) {
                    assert_int_equal(text->tokens, r.module[text->module].tokens);
                    assert_int_equal(text->position, r.module[text->module].position);
                }
                arguments += text->module < 0 && t + 1 < prompt->n_texts;
                end = text->position + text->tokens;
                tokens += text->tokens;
            }
            assert_int_equal(tokens, prompt->n_tokens);
            empty += tokens == 0;
        }
        for (int m = 1; m < r.n_modules; m++) {
            unions += r.module[m].position == r.module[m - 1].position;
        }
        free(prompts);
    }

    assert_true(unions > CASES / 10 && arguments > CASES / 10 && empty > CASES / 20);
}

/* As many keys as the caller wants. */
static void wanted_keys_are_there(void **state) {
    (void)state;
    for (long long i = 0; i < 40; i++) {
        struct gate_shape shape = {.keys = 1 + (int)i * 37};
        struct gate_recipe r;
        gate_recipe_make(&r, 3, i, 0, WORK, &shape);
        gate_recipe_to_modules(&r, &shape);
        struct gate_prompts *prompts = gate_prompts_new(&r);
        assert_non_null(prompts);
        assert_int_equal(prompts->prompt[0].n_tokens, shape.keys);
        free(prompts);
    }
}

/* Two of three cases, and none for a kernel that takes trees alone. */
static void two_of_three_cases_have_modules(void **state) {
    int n = 0;
    (void)state;
    for (long long i = 0; i < 300; i++) {
        assert_false(gate_has_modules(CP_PLANS_TREES, i));
        assert_int_equal(gate_has_modules(CP_PLANS_LISTS, i), gate_has_modules(CP_PLANS_RANGES, i));
        n += gate_has_modules(CP_PLANS_LISTS, i);
    }
    assert_int_equal(n, 200);
}

/* A case file keeps all of the recipe. */
static void a_file_keeps_modules(void **state) {
    char file[] = "/tmp/chunkproof-modules-XXXXXX";
    int fd = mkstemp(file);
    (void)state;
    assert_true(fd >= 0);
    for (long long i = 0; i < 20; i++) {
        struct gate_found found = {.recipe = recipe_of(i)};
        struct gate_case *cases;
        assert_int_equal(gate_case_save(file, &found, &plain), 0);
        assert_int_equal(gate_case_load(file, "replay", &cases), 1);
        assert_memory_equal(&cases[0].recipe, &found.recipe, sizeof found.recipe);
        free(cases);
    }
    assert_int_equal(remove(file), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_valid),
        cmocka_unit_test(ranges_are_of_all_sequences),
        cmocka_unit_test(no_chunk_has_two_texts),
        cmocka_unit_test(keys_are_counted_by_position),
        cmocka_unit_test(rows_stand_anywhere),
        cmocka_unit_test(steps_are_of_runs),
        cmocka_unit_test(growth_is_of_the_last_own_run),
        cmocka_unit_test(alone_it_is_the_same_sequence),
        cmocka_unit_test(renewed_it_is_the_same_plan),
        cmocka_unit_test(prompts_take_no_position_twice),
        cmocka_unit_test(wanted_keys_are_there),
        cmocka_unit_test(two_of_three_cases_have_modules),
        cmocka_unit_test(a_file_keeps_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

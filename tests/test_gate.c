/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of the gate (gate/case/), and its verdicts on results made by hand (gate/judge/). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/plan.h"
#include "fuzz/tolerance/setting.h"
#include "gate/case/values.h"
#include "gate/judge/class.h"
#include "gate/judge/judge.h"
#include "gate/runner/arena.h"
#include "oracle.h"
#include "tests/path_runs.h"
#include "tests/plain_kernel.h"

#define CASES 240
#define WORK  200000

/* Of what is to be seen in any of them fewer will do, where each takes long. */
#define ANY_OF_THEM ((int)setting("CHUNKPROOF_CASES", CASES))

static void make(struct gate_problem *p, long long index, const struct cp_kernel *kernel) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 1, index, 0, WORK, NULL);
    recipe.without_lse = recipe.pool = 0; /* large pools: tests/test_gate_serving.c */
    assert_int_equal(gate_problem_new(p, &recipe, kernel), 0);
    gate_values_fill(p);
}

/* ---- Cases ---- */

/* GATE-7 */
static void cases_follow_from_the_seed(void **state) {
    int different = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe one, same, other_seed, other_attempt;
        gate_recipe_make(&one, 1, i, 0, WORK, NULL);
        gate_recipe_make(&same, 1, i, 0, WORK, NULL);
        gate_recipe_make(&other_seed, 2, i, 0, WORK, NULL);
        gate_recipe_make(&other_attempt, 1, i, 1, WORK, NULL);
        assert_memory_equal(&one, &same, sizeof one);
        assert_int_equal(one.values, other_attempt.values);
        different += one.seed != other_seed.seed && one.seed != other_attempt.seed;
    }
    assert_int_equal(different, CASES);
}

/* GATE-3: as a kernel sees them some chunks begin behind 2^32 elements; here they are whole pages,
 * one behind the other. */
static void chunks_are_far_apart_at_times(void **state) {
    int far = 0, beyond = 0;
    (void)state;
    for (int i = 0; i < ANY_OF_THEM; i++) {
        struct gate_problem p;
        struct gate_arrays a;
        struct cp_kernel_call seen;
        make(&p, i, &plain);
        assert_int_equal(gate_arrays_new(&a, &p), 0);
        gate_call_sizes(&seen, &p);
        for (int which = 0; which < 2 && a.run.far[which].n > 0; which++) {
            const struct run_far *one = &a.run.far[which];
            assert_int_equal(one->n, p.capacity);
            assert_int_equal(one->elements, which ? seen.v_chunk : seen.k_chunk);
            assert_int_equal(one->stride, (size_t)one->elements * cp_number_size(p.kv_type));
            assert_int_equal(one->chunk % run_page(), 0);
            assert_int_equal(one->stride % run_page(), 0);
            assert_true(one->stride > one->chunk);
            assert_int_equal(a.run.bytes[RUN_K + which], (size_t)one->n * one->chunk);
            beyond += one->elements * (one->n - 1) > UINT32_MAX;
        }
        far += a.run.far[0].n > 0;
        assert_int_equal(seen.k_chunk != a.run.call.k_chunk, a.run.far[0].n > 0);
        gate_arrays_free(&a);
        gate_problem_free(&p);
    }
    assert_in_range(far, ANY_OF_THEM / 40, ANY_OF_THEM / 10);
    assert_int_equal(beyond, 2 * far);
}

static void problems_follow_from_recipes(void **state) {
    (void)state;
    for (int i = 0; i < ANY_OF_THEM; i++) {
        struct gate_problem p, same;
        make(&p, i, &plain);
        make(&same, i, &plain);
        size_t n = (size_t)p.capacity * (size_t)p.recipe.n_kv_heads * (size_t)p.recipe.chunk_size *
                   (size_t)p.recipe.head_dim;
        assert_int_equal(p.n_rows, same.n_rows);
        assert_int_equal(p.capacity, same.capacity);
        assert_memory_equal(p.k, same.k, n * sizeof *p.k);
        assert_memory_equal(p.v, same.v, n * sizeof *p.v);
        gate_problem_free(&p);
        gate_problem_free(&same);
    }
}

/* PLAN-1 to PLAN-4 of what a kernel is given, by the reference's own check. */
static void problems_have_valid_plans(void **state) {
    struct cp_plan *plan;
    int shared = 0, empty = 0, forks = 0;
    (void)state;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    for (int i = 0; i < ANY_OF_THEM; i++) {
        struct gate_problem p;
        make(&p, i, &plain);
        plan->capacity = p.capacity;
        plan->chunk_size = p.recipe.chunk_size;
        list_sequences(plan, p.b);
        plan->n_shared = p.n_shared;
        memcpy(plan->shared, p.shared, (size_t)p.n_shared * sizeof *p.shared);
        for (int s = 0; s < p.b; s++) {
            struct cp_plan_sequence *path = &plan->sequence[s];
            path->n_tokens = p.n_tokens[s];
            path->n_shared = p.n_shared_chunks[s];
            path->n_chunks = 0;
            while (p.table[s * p.table_width + path->n_chunks] >= 0) {
                path->run[path->n_chunks].chunk = p.table[s * p.table_width + path->n_chunks];
                path->n_chunks++;
            }
            path_runs(path, plan->chunk_size);
            empty += path->n_tokens == 0;
            forks += s > 0 && p.n_tokens[s] > 0 && p.n_tokens[s] == p.n_tokens[s - 1];
        }
        assert_null(cp_plan_check(plan));
        shared += p.n_shared > 0;
        gate_problem_free(&p);
    }
    cp_plan_free(plan);
    assert_true(shared > ANY_OF_THEM / 4); /* there are trees to walk, */
    assert_true(empty > 0);                /* sequences without a token, */
    assert_true(forks > 0);                /* and equal ones */
}

/* One sequence of a problem has the same rows and the same keys without the others. */
static void check_alone(const struct gate_problem *p, int s) {
    struct gate_problem alone;
    size_t row = (size_t)p->recipe.n_heads * (size_t)p->recipe.head_dim;
    assert_int_equal(gate_problem_alone(&alone, p, s), 0);
    assert_int_equal(alone.b, 1);
    assert_int_equal(alone.n_shared + alone.n_shared_chunks[0], 0);
    assert_int_equal(alone.n_rows, p->query_begin[s + 1] - p->query_begin[s]);
    for (int r = 0; r < alone.n_rows; r++) {
        assert_int_equal(gate_visible(&alone, r), gate_visible(p, p->query_begin[s] + r));
    }
    for (int j = 0; j < p->n_tokens[s]; j++) {
        assert_int_equal(gate_key_row(&alone, 0, j, 0), gate_key_row(p, s, j, 0));
    }
    if (alone.n_rows > 0) {
        assert_memory_equal(alone.q, p->q + (size_t)p->query_begin[s] * row,
                            (size_t)alone.n_rows * row * sizeof(double));
    }
    gate_problem_free_alone(&alone);
}

static void a_sequence_can_be_alone(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i += 7) {
        struct gate_problem p;
        make(&p, i, &plain);
        for (int s = 0; s < p.b; s++) {
            check_alone(&p, s);
        }
        gate_problem_free(&p);
    }
}

/* PLAN-6: a key more, or as many as there are, where there is room for it, in a last chunk of one's
 * own, and nowhere else. */
static void lengths_grow_where_there_is_room(void **state) {
    int grown = 0, by_several = 0;
    (void)state;
    for (int i = 0; i < CASES; i += 3) {
        struct gate_problem p, before;
        make(&p, i, &plain);
        make(&before, i, &plain);
        int said = gate_problem_grow(&p), any = 0;
        for (int s = 0; s < p.b; s++) {
            int c = p.recipe.chunk_size, n = before.n_tokens[s], by = p.n_tokens[s] - n;
            int room = (n + c - 1) / c > before.n_shared_chunks[s] ? (c - n % c) % c : 0;
            assert_true(by == room || (by == 1 && room > 1));
            any |= by > 0;
            by_several += by > 1;
        }
        assert_int_equal(said, any);
        grown += said;
        gate_values_fill(&p);
        for (int s = 0; s < p.b; s++) {
            for (int j = 0; j < p.n_tokens[s]; j++) {
                assert_false(isnan(*gate_key(&p, s, j, 0)));
            }
        }
        gate_problem_free(&p);
        gate_problem_free(&before);
    }
    assert_true(grown > CASES / 9 && by_several > CASES / 36);
}

/* Every kind of queries, layout and padding, and many keys. */
static void all_kinds_come_up(void **state) {
    int queries[GATE_QUERIES] = {0}, layouts[GATE_LAYOUTS] = {0}, paddings[GATE_PADDINGS] = {0};
    int values[GATE_VALUES] = {0}, longest = 0, many[GATE_VALUES] = {0};
    (void)state;
    for (int i = 0; i < 400; i++) {
        struct gate_recipe r;
        gate_recipe_make(&r, 1, i, 0, WORK, NULL);
        queries[r.queries]++;
        layouts[r.layout]++;
        paddings[r.padding]++;
        values[r.values]++;
        longest = r.op[0].own > longest ? r.op[0].own : longest;
        many[r.values] += r.op[0].own > 32768;
    }
    for (int i = 0; i < GATE_QUERIES; i++) {
        assert_true(queries[i] > 0);
    }
    for (int one = 1; one < GATE_LAYOUTS; one *= 2) {
        for (int other = 1; other < one; other *= 2) { /* either, both, and none */
            int seen[4] = {0};
            for (int i = 0; i < GATE_LAYOUTS; i++) {
                seen[2 * ((i & one) != 0) + ((i & other) != 0)] += layouts[i];
            }
            int least = one == GATE_FAR ? 0 : 10; /* one case in 20 */
            assert_true(seen[0] > 0 && seen[1] > 10 && seen[2] > least && seen[3] > least);
        }
    }
    for (int i = 0; i < GATE_PADDINGS; i++) {
        assert_true(paddings[i] > 0);
    }
    for (int i = 0; i < GATE_VALUES; i++) {
        assert_true(values[i] >= (i < GATE_LARGE ? 20 : 10));
    }
    assert_true(longest >= 65536);
    assert_true(many[GATE_COUNT] > 1 && many[GATE_SELECT] > 1);
}

/* ---- What the values show ---- */

/* A row and head with its keys, side by side, and what a plain kernel may give. */
struct row {
    int n, d;
    double *k, *v, *q, *scratch, *expected, *bound;
};

static void row_new(struct row *r, const struct gate_problem *p, int row, int head) {
    int g = head / (p->recipe.n_heads / p->recipe.n_kv_heads), s = gate_sequence_of(p, row);
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    *r = (struct row){.n = gate_visible(p, row), .d = p->recipe.head_dim};
    size_t d = (size_t)r->d, n = (size_t)r->n * d;
    r->k = malloc((2 * n + 3 * (size_t)r->n + 2 * d + 1) * sizeof(double));
    assert_non_null(r->k);
    r->v = r->k + n;
    r->scratch = r->v + n;
    r->expected = r->scratch + 3 * r->n;
    r->bound = r->expected + d;
    r->q = p->q + ((size_t)row * (size_t)p->recipe.n_heads + (size_t)head) * d;
    for (int j = 0; j < r->n; j++) {
        memcpy(r->k + (size_t)j * d, gate_key(p, s, j, g), d * sizeof(double));
        memcpy(r->v + (size_t)j * d, gate_value(p, s, j, g), d * sizeof(double));
    }
    struct cp_tolerance_row ask = {r->n, r->d, r->d,       p->scale, r->q,
                                   r->k, r->v, r->scratch, NULL,     NULL};
    gate_class(&plain, &p->recipe, r->n, 1e4, &arithmetic, &counts);
    cp_tolerance(&arithmetic, &counts, &ask, 0.0, r->expected, r->bound, NULL, NULL);
}

/* Another result would be noticed, whatever the kernel that computes it rounds. */
static int is_apart(const struct row *r, const double *other) {
    for (int i = 0; i < r->d; i++) {
        if (fabs(other[i] - r->expected[i]) > 2.0 * r->bound[i]) {
            return 1;
        }
    }
    return 0;
}

static double score(const struct gate_problem *p, const struct row *r, int j) {
    double sum = 0.0;
    for (int i = 0; i < r->d; i++) {
        sum += r->q[i] * r->k[(ptrdiff_t)j * r->d + i];
    }
    return p->scale * sum;
}

/* GATE-5: the chosen keys alone count, and any other key in the place of one of them would show. */
static void check_selection(const struct gate_problem *p, const struct row *r) {
    double best = -INFINITY, *other = malloc((size_t)r->d * sizeof(double));
    int chosen = 0;
    assert_non_null(other);
    for (int j = 0; j < r->n; j++) {
        best = fmax(best, score(p, r, j));
    }
    for (int j = 0; j < r->n; j++) {
        double below = best - score(p, r, j);
        assert_true(below == 0.0 || below >= 32.0);
        chosen += below == 0.0;
    }
    for (int j = 0; chosen == 1 && j < r->n; j++) {
        if (score(p, r, j) < best) {
            assert_true(is_apart(r, r->v + (ptrdiff_t)j * r->d));
        }
    }
    free(other);
}

static void a_selected_key_is_seen(void **state) {
    int rows = 0;
    (void)state;
    for (int i = 0; i < ANY_OF_THEM; i++) {
        struct gate_problem p;
        make(&p, i, &plain);
        for (int row = 0; p.recipe.values == GATE_SELECT && row < p.n_rows; row++) {
            struct row r;
            row_new(&r, &p, row, row % p.recipe.n_heads);
            check_selection(&p, &r);
            rows += r.n > 1;
            free(r.k);
        }
        gate_problem_free(&p);
    }
    assert_true(rows > 50);
}

/* The only number of V of key j; 0 when it is not counted. */
static double counted_as(const struct row *r, int j) {
    double sum = 0.0;
    for (int i = 0; i < r->d; i++) {
        sum += r->v[(ptrdiff_t)j * r->d + i];
    }
    return sum;
}

/* GATE-6: key j left out, or counted twice: about 40 of those in the window. */
static void check_count(const struct gate_problem *p, const struct row *r) {
    double *other = malloc((size_t)r->d * sizeof(double));
    int all = 0, nth = 0;
    assert_non_null(other);
    for (int j = 0; j < r->n; j++) {
        all += counted_as(r, j) != 0.0;
    }
    for (int j = 0; j < r->n; j++) {
        int counted = counted_as(r, j) != 0.0 && nth++ % (all / 40 + 1) == 0;
        for (int times = 0; counted && times <= 2; times += 2) {
            int n = r->n - 1 + times;
            for (int i = 0; i < r->d; i++) {
                double sum = r->expected[i] * r->n + (times - 1) * r->v[(ptrdiff_t)j * r->d + i];
                other[i] = n > 0 ? sum / n : 0.0;
            }
            assert_true((times == 2 && r->n == 1) || is_apart(r, other));
        }
    }
    (void)p;
    free(other);
}

static void a_key_more_or_less_is_seen(void **state) {
    int rows = 0, keys = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_problem p;
        make(&p, i, &plain);
        for (int row = 0; p.recipe.values == GATE_COUNT && row < p.n_rows; row++) {
            struct row r;
            row_new(&r, &p, row, row % p.recipe.n_heads);
            check_count(&p, &r);
            rows++;
            keys = r.n > keys ? r.n : keys;
            free(r.k);
        }
        gate_problem_free(&p);
    }
    assert_true(rows > 50);
    assert_true(keys > 65536);
}

#define OCTAVE  0.6931471805599453 /* a factor of 2, as a difference of scores */
#define OUT_GAP 48                 /* numbers behind a row of out, where there is a gap */

/* GATE-8, of a row that sees all keys of the longest sequence. Returns the limit in octaves, 7 or
 * 25: no V = 0 is further below the largest weight. *is_halved: half of the keys is less. Scores
 * are rounded like K: three keys near the limit may be on either side. */
static int check_light(const struct gate_problem *p, const struct row *r, int *is_halved) {
    double near = 3.0 * fabs(score(p, r, 1) - score(p, r, 0)) / OCTAVE, best = -INFINITY;
    int limit = 7;
    for (int j = 0; j < r->n; j++) {
        best = fmax(best, score(p, r, j));
    }
    for (int j = 0; j < r->n; j++) {
        double octaves = (best - score(p, r, j)) / OCTAVE;
        limit = r->v[(ptrdiff_t)j * r->d] == 0.0 && octaves > 7.0 + near ? 25 : limit;
    }
    *is_halved = 0;
    for (int j = 0; j < r->n; j++) {
        double octaves = (best - score(p, r, j)) / OCTAVE, v = r->v[(ptrdiff_t)j * r->d];
        int behind = p->recipe.values == GATE_RISING ? r->n - 1 - j : j;
        int is_zero = octaves < limit && (limit == 25 || behind < r->n / 2);
        assert_true((v == 0.0) == is_zero || fabs(octaves - limit) < near);
        assert_true(v >= 0.0 && v <= ldexp(6.0, limit == 25 ? 12 : 10));
        *is_halved |= limit == 7 && octaves < limit - near && !is_zero;
    }
    return limit;
}

static void light_keys_count_alone(void **state) {
    int of_7 = 0, of_25 = 0, halved = 0;
    (void)state;
    for (int i = 0; i < 2 * CASES; i++) {
        struct gate_problem p;
        make(&p, i, &plain);
        int kind = p.recipe.values == GATE_RISING || p.recipe.values == GATE_FALLING;
        int longest = 0; /* of which the others see the beginning alone */
        for (int s = 1; s < p.b; s++) {
            longest = p.n_tokens[s] > p.n_tokens[longest] ? s : longest;
        }
        int row = p.query_begin[longest + 1] - 1;
        if (kind && row >= p.query_begin[longest] && p.recipe.head_dim > 1 && p.q[1] == 0.0 &&
            p.n_tokens[longest] > 1) {
            struct row r;
            int is_halved;
            row_new(&r, &p, row, 0);
            int limit = check_light(&p, &r, &is_halved);
            of_25 += limit == 25;
            of_7 += limit == 7 && !is_halved;
            halved += is_halved;
            free(r.k);
        }
        gate_problem_free(&p);
    }
    assert_true(of_7 >= 2);
    assert_true(of_25 >= 2);
    assert_true(halved >= 2);
}

/* ---- Verdicts ---- */

/* Right results: what the oracle says, rounded. */
static void answer(const struct gate_problem *p, struct gate_arrays *a) {
    struct cp_kernel_call *c = &a->run.call;
    double *out = malloc((size_t)p->recipe.head_dim * sizeof(double));
    assert_non_null(out);
    memset(a->memory[RUN_OUT], a->run.poison, a->run.bytes[RUN_OUT]);
    memset(a->memory[RUN_LSE], a->run.poison, a->run.bytes[RUN_LSE]);
    for (int row = 0; row < p->n_rows; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            struct row r;
            row_new(&r, p, row, head);
            double lse = oracle_attention(r.q, r.k, r.v, r.n, r.d, p->scale, out);
            for (int i = 0; i < r.d; i++) {
                cp_number_store(c->out, p->out_type,
                                (size_t)(row * c->out_row + head * c->out_head + i), out[i]);
            }
            cp_number_store(c->lse, p->lse_type, (size_t)(row * c->lse_row + head * c->lse_head),
                            lse);
            free(r.k);
        }
    }
    free(out);
}

static void arrays_of(const struct gate_problem *p, struct gate_arrays *a, unsigned char poison) {
    assert_int_equal(gate_arrays_new(a, p), 0);
    a->run.poison = poison;
    answer(p, a);
}

/* The largest error / bound is above 1 if and only if a number is wrong. */
static enum gate_verdict judged(const struct gate_problem *p, const struct gate_arrays *a) {
    struct gate_finding f;
    assert_int_equal(gate_judge(p, a, &plain, 100000, &f, NULL), 0);
    assert_int_equal(f.largest > 1.0, f.verdict != GATE_RIGHT);
    assert_int_equal(f.clause[0] != '\0', f.verdict != GATE_RIGHT);
    if (f.verdict == GATE_NOT_A_NUMBER) {
        assert_true(isinf(f.largest));
        assert_int_equal(f.keys, gate_visible(p, f.row));
    }
    return f.verdict;
}

static enum gate_verdict writes_of(const struct gate_problem *p, const struct gate_arrays *a,
                                   const struct gate_arrays *b) {
    struct gate_finding f;
    assert_int_equal(gate_judge_writes(p, a, b, &f), 0);
    assert_string_equal(f.clause, f.verdict == GATE_RIGHT        ? ""
                                  : f.verdict == GATE_OTHER_BITS ? "GATE-4"
                                                                 : "GATE-3");
    if (f.verdict != GATE_RIGHT) {
        assert_non_null(strstr(f.text, f.verdict == GATE_UNWRITTEN    ? "was not written"
                                       : f.verdict == GATE_OTHER_BITS ? "differs between two runs"
                                                                      : "in the gap between rows"));
    }
    return f.verdict;
}

/* One number of out or lse is changed: always a finding; and back. */
static void spoil(const struct gate_problem *p, struct gate_arrays *a, int row, int head) {
    struct cp_kernel_call *c = &a->run.call;
    struct row r;
    row_new(&r, p, row, head);
    size_t at = (size_t)(row * c->out_row + head * c->out_head + r.d - 1);
    size_t at_lse = (size_t)(row * c->lse_row + head * c->lse_head);
    double out = cp_number_load(c->out, p->out_type, at),
           lse = cp_number_load(c->lse, p->lse_type, at_lse);
    double off = r.n == 0 ? 0x1p-20 : 2.01 * r.bound[r.d - 1] + 0x1p-24;
    assert_int_equal(judged(p, a), GATE_RIGHT);
    cp_number_store(c->out, p->out_type, at, out + off + fabs(out) * 0x1p-10);
    assert_int_equal(judged(p, a), GATE_WRONG);
    cp_number_store(c->out, p->out_type, at, NAN);
    assert_int_equal(judged(p, a), GATE_NOT_A_NUMBER);
    cp_number_store(c->out, p->out_type, at, out);
    cp_number_store(c->lse, p->lse_type, at_lse, r.n == 0 ? 0.0 : lse + 1.0 + fabs(lse) * 0.01);
    assert_int_equal(judged(p, a), GATE_WRONG);
    cp_number_store(c->lse, p->lse_type, at_lse, lse);
    free(r.k);
}

/* GATE-1 */
static void wrong_numbers_are_found(void **state) {
    int no_key = 0, n = 0;
    (void)state;
    for (int i = 0; i < ANY_OF_THEM; i++) {
        struct gate_problem p;
        struct gate_arrays a;
        make(&p, i, &plain);
        if (p.n_rows > 0 && p.n_rows * p.recipe.n_heads < 40 && p.n_tokens[0] < 500) {
            arrays_of(&p, &a, 0xFF);
            spoil(&p, &a, 0, p.recipe.n_heads - 1);
            spoil(&p, &a, p.n_rows - 1, 0);
            no_key += gate_visible(&p, 0) == 0;
            n++;
            gate_arrays_free(&a);
        }
        gate_problem_free(&p);
    }
    assert_true(n > ANY_OF_THEM / 4);
    assert_true(no_key > 0);
}

/* GATE-3, GATE-4 */
static void wrong_writes_are_found(void **state) {
    int between = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct gate_problem p;
        struct gate_arrays a, b;
        make(&p, i, &plain);
        if (p.n_rows > 0 && p.n_tokens[0] < 500) {
            arrays_of(&p, &a, 0xFF);
            arrays_of(&p, &b, 0xA5);
            assert_int_equal(writes_of(&p, &a, &b), GATE_RIGHT);
            b.memory[RUN_LSE][0] ^= 1; /* of row 0 and head 0 */
            assert_int_equal(writes_of(&p, &a, &b), GATE_OTHER_BITS);
            memset(a.memory[RUN_LSE], 0xFF, sizeof(float));
            memset(b.memory[RUN_LSE], 0xA5, sizeof(float));
            assert_int_equal(writes_of(&p, &a, &b), GATE_UNWRITTEN);
            memset(a.memory[RUN_LSE], 0, sizeof(float));
            memset(b.memory[RUN_LSE], 0, sizeof(float));
            if ((p.recipe.layout & GATE_SPREAD) != 0) {
                size_t width = (size_t)p.recipe.head_dim * cp_number_size(p.out_type);
                b.memory[RUN_OUT][width] = 0;
                assert_int_equal(writes_of(&p, &a, &b), GATE_WROTE_BETWEEN);
                memset(a.memory[RUN_OUT] + width, 0, OUT_GAP * cp_number_size(p.out_type));
                memset(b.memory[RUN_OUT] + width, 0, OUT_GAP * cp_number_size(p.out_type));
                assert_int_equal(writes_of(&p, &a, &b), GATE_WROTE_BETWEEN); /* the same twice */
                between++;
            }
            gate_arrays_free(&a);
            gate_arrays_free(&b);
        }
        gate_problem_free(&p);
    }
    assert_true(between > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_follow_from_the_seed),
        cmocka_unit_test(chunks_are_far_apart_at_times),
        cmocka_unit_test(problems_follow_from_recipes),
        cmocka_unit_test(problems_have_valid_plans),
        cmocka_unit_test(a_sequence_can_be_alone),
        cmocka_unit_test(lengths_grow_where_there_is_room),
        cmocka_unit_test(all_kinds_come_up),
        cmocka_unit_test(a_selected_key_is_seen),
        cmocka_unit_test(a_key_more_or_less_is_seen),
        cmocka_unit_test(light_keys_count_alone),
        cmocka_unit_test(wrong_numbers_are_found),
        cmocka_unit_test(wrong_writes_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

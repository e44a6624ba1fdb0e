/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of any run of `chunkproof simulate`: limits, order, nothing lost or made twice,
 * Little's law, the mean wait of a queue that has a formula, and what sharing can and cannot
 * change. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/random.h"
#include "cli/trace/generate.h"
#include "tests/simulate_case.h"

/* ---- Loads by chance ---- */

/* Conversations and system prompts in blocks of 16 tokens. */
static struct simulate_load generated(unsigned long long seed) {
    struct simulate_load load = {.tick = 1e6};
    struct trace_generator generator = {.seed = seed,
                                        .requests = 120,
                                        .gap = 40000,
                                        .prompts = 3,
                                        .prompt_tokens = 60,
                                        .question_tokens = 30,
                                        .output_tokens = 20,
                                        .continue_percent = 40};
    trace_init(&load.trace, 16);
    assert_int_equal(trace_generate(&load.trace, &generator), TRACE_OK);
    return load;
}

/* A server that is busy with them about half of the time, more or less. */
static struct simulate_settings server(struct prng *random, int sharing) {
    static const int chunk[] = {16, 16, 5, 64};
    struct simulate_settings settings =
        simulate_case_settings(chunk[prng_below(random, 4)], sharing);
    settings.batch = 1 + prng_below(random, 20);
    settings.capacity = prng_below(random, 2) * (1 + prng_below(random, 60));
    settings.cost = (struct simulate_cost){.fixed_us = 500.0 * prng_below(random, 10),
                                           .sequence_us = 10.0 * prng_below(random, 10),
                                           .prefill_token_us = prng_below(random, 200),
                                           .bytes_per_second = 1e6,
                                           .flops_per_second = 1e9};
    return settings;
}

/* ---- What is seen of a run while it goes on ---- */

struct watch {
    const struct simulate_load *load;
    const struct simulate_settings *settings;
    long long end;     /* of the iteration before */
    long long tokens;  /* made */
    long long prompts; /* computed */
    long long batches;
    int *lives; /* iterations, of each request */
    int n;      /* iterations */
    struct {
        long long begin;
        int live;
    } iteration[20000];
};

static long long count_stored(const struct cp_tree *tree) {
    long long stored = 0;
    for (int x = 0; x < tree->pool.capacity; x++) {
        stored += cp_pool_is_used(&tree->pool, x) ? tree->fill[x] : 0;
    }
    return stored;
}

static void look(void *context, const struct simulate_iteration *iteration,
                 const struct cp_tree *tree) {
    struct watch *watch = context;
    long long paths = 0, lengths = 0;
    assert_true(iteration->begin >= watch->end && iteration->end > iteration->begin);
    assert_int_equal(
        iteration->end - iteration->begin,
        simulate_duration(&watch->settings->cost, &watch->settings->model, &iteration->work));
    assert_true(iteration->live >= 1 && iteration->live <= watch->settings->batch);
    assert_int_equal(iteration->live, tree->n_sequences);
    assert_int_equal(iteration->chunks, tree->pool.capacity - tree->pool.n_free);
    assert_true(watch->settings->capacity == 0 || iteration->chunks <= watch->settings->capacity);
    assert_true(cp_tree_is_valid(tree));
    for (int s = 0; s < tree->n_sequences; s++) {
        watch->lives[tree->sequence[s].id]++;
        paths += tree->sequence[s].n_chunks;
        lengths += cp_tree_length(tree, s);
    }
    /* Never more than without sharing, and then as much. */
    assert_true(watch->settings->sharing ? iteration->chunks <= paths : iteration->chunks == paths);
    assert_int_equal(iteration->work.stored_tokens, count_stored(tree));
    assert_true(watch->settings->sharing || iteration->work.stored_tokens == lengths);
    watch->end = iteration->end;
    watch->tokens += iteration->work.decoding;
    watch->prompts += iteration->work.prefill_tokens;
    watch->batches += iteration->live;
    assert_true(watch->n < (int)(sizeof watch->iteration / sizeof watch->iteration[0]));
    watch->iteration[watch->n].begin = iteration->begin;
    watch->iteration[watch->n++].live = iteration->live;
}

/* ---- What is seen afterwards ---- */

static void check_requests(const struct watch *watch, const struct simulate_run *run) {
    const struct trace *trace = &watch->load->trace;
    long long tokens = 0, prompts = 0, last = 0;
    double there = 0.0;
    for (int r = 0; r < trace->n_requests; r++) {
        const struct trace_request *request = &trace->request[r];
        const struct simulate_record *record = &run->record[r];
        int chunk = watch->settings->chunk;
        int needed = (request->input_length + request->output_length + chunk - 1) / chunk;
        int too_large = watch->settings->capacity > 0 && needed > watch->settings->capacity;
        assert_int_equal(record->admitted < 0, too_large);
        assert_int_equal(watch->lives[r], too_large                    ? 0
                                          : request->output_length > 1 ? request->output_length
                                                                       : 1);
        if (too_large) {
            assert_int_equal(record->made, 0);
            continue;
        }
        assert_true(record->arrived <= record->admitted && record->admitted < record->first &&
                    record->first <= record->finished);
        assert_true(record->admitted >= last); /* first come, first served */
        last = record->admitted;
        assert_int_equal(record->made, request->output_length); /* each token exactly once */
        tokens += request->output_length;
        prompts += request->input_length;
        there += (double)(record->finished - record->arrived);
    }
    assert_int_equal(run->completion_tokens, tokens);
    assert_int_equal(watch->tokens, tokens);
    assert_int_equal(run->prompt_tokens, prompts);
    assert_int_equal(watch->prompts, prompts - run->reused_tokens);
    assert_true(watch->settings->sharing || run->reused_tokens == 0);
    assert_int_equal(watch->batches, run->batch_sum);
    assert_int_equal(watch->n, run->iterations);
    assert_true(run->in_system == there); /* Little's law: the sums are exact */
}

/* No room is left while somebody waits: without a limit of memory the batch is full then. And the
 * server is idle only when nobody is there. */
static void check_diligence(const struct watch *watch, const struct simulate_run *run) {
    int n = watch->load->trace.n_requests;
    for (int i = 0; i < watch->n && watch->settings->capacity == 0; i++) {
        long long begin = watch->iteration[i].begin;
        for (int r = 0; r < n; r++) {
            const struct simulate_record *record = &run->record[r];
            if (record->arrived <= begin && record->admitted > begin) {
                assert_int_equal(watch->iteration[i].live, watch->settings->batch);
            }
        }
    }
    long long covered =
        0; /* the time in which somebody is there, by arrivals and departures alone */
    long long until = run->started;
    for (int r = 0; r < n; r++) { /* in order of arrival */
        const struct simulate_record *record = &run->record[r];
        if (record->admitted >= 0 && record->finished > until) {
            covered += record->finished - (record->arrived > until ? record->arrived : until);
            until = record->finished;
        }
    }
    assert_int_equal(run->busy, covered);
}

static void any_run_keeps_the_laws(void **state) {
    struct prng random = {99};
    struct watch *watch = malloc(sizeof *watch);
    int waited = 0, rejected = 0, reused = 0;
    (void)state;
    assert_non_null(watch);
    for (int run_number = 0; run_number < 60; run_number++) {
        struct simulate_load load = generated((unsigned long long)run_number);
        struct simulate_settings settings = server(&random, run_number % 2);
        struct simulate_run run;
        memset(watch, 0, sizeof *watch);
        watch->load = &load;
        watch->settings = &settings;
        watch->lives = calloc((size_t)load.trace.n_requests, sizeof *watch->lives);
        assert_non_null(watch->lives);
        settings.observe = look;
        settings.context = watch;
        simulate(&load, &settings, &run);
        assert_int_equal(run.end, SIMULATE_COMPLETE);
        check_requests(watch, &run);
        check_diligence(watch, &run);
        for (int r = 0; r < load.trace.n_requests; r++) {
            waited += run.record[r].admitted > run.record[r].arrived + 10000000;
        }
        rejected += run.rejected;
        reused += run.reused_tokens > 0;
        free(watch->lives);
        simulate_run_free(&run);
        simulate_load_free(&load);
    }
    free(watch);
    assert_true(waited > 1000 && rejected > 10 &&
                reused > 20); /* they have had something to keep */
}

/* ---- A queue with a formula ---- */

/* Mean time in the system of Poisson arrivals at a server that takes one at a time (Pollaczek and
 * Khinchine): E[S] + rate E[S^2] / (2 (1 - rate E[S])). */
static double mean_time(double rate, double service, double service_squared) {
    return service + rate * service_squared / (2.0 * (1.0 - rate * service));
}

#define RUNS     20
#define REQUESTS 20000
#define T_999    3.883 /* Student's t with 19 degrees of freedom: 99.9 % lie within +- this */

/* The mean time in ms of each of RUNS independent runs, of requests with `few` or `many` tokens,
 * each as often; an iteration takes 10 ms. */
static void queue(double rate, int few, int many, double *mean) {
    static const int ids[] = {0};
    struct simulate_settings settings = simulate_case_settings(1, 0);
    settings.batch = 1;
    settings.cost.fixed_us = 10000.0;
    for (int i = 0; i < RUNS; i++) {
        struct prng random = {(unsigned long long)i};
        struct simulate_load load = simulate_case_load(1);
        struct simulate_run run;
        long long now = 0;
        for (int r = 0; r < REQUESTS; r++) {
            now += prng_exponential(&random, llround(1e6 / rate));
            simulate_case_add(&load, now, 1, prng_below(&random, 2) ? few : many, ids);
        }
        simulate(&load, &settings, &run);
        assert_int_equal(run.end, SIMULATE_COMPLETE);
        mean[i] = 0.0;
        for (int r = 0; r < REQUESTS; r++) {
            mean[i] += (double)(run.record[r].finished - run.record[r].arrived) / 1e6 / REQUESTS;
        }
        simulate_run_free(&run);
        simulate_load_free(&load);
    }
}

static void check_queue(double rate, int few, int many) {
    double service = 5.0 * (few + many);                       /* ms */
    double squared = 50.0 * (double)(few * few + many * many); /* ms^2 */
    double formula = mean_time(rate / 1e3, service, squared);
    double mean[RUNS], sum = 0.0, squares = 0.0;
    queue(rate, few, many, mean);
    for (int i = 0; i < RUNS; i++) {
        sum += mean[i] / RUNS;
    }
    for (int i = 0; i < RUNS; i++) {
        squares += (mean[i] - sum) * (mean[i] - sum) / (RUNS - 1);
    }
    double interval = T_999 * sqrt(squares / RUNS);
    assert_true(fabs(sum - formula) <= interval);
    assert_true(interval < 0.05 * (formula - service)); /* narrow enough to tell */
}

static void one_at_a_time_waits_as_long_as_the_formula_says(void **state) {
    (void)state;
    check_queue(25.0, 2, 2); /* M/D/1, half of the time busy */
    check_queue(10.0, 1, 9); /* M/G/1 */
}

/* ---- With and without sharing ---- */

static void run_both(const struct simulate_load *load, struct simulate_settings settings,
                     struct simulate_run *run) {
    for (int sharing = 0; sharing < 2; sharing++) {
        settings.sharing = sharing;
        simulate(load, &settings, &run[sharing]);
        assert_int_equal(run[sharing].end, SIMULATE_COMPLETE);
    }
}

static void free_both(struct simulate_run *run) {
    simulate_run_free(&run[0]);
    simulate_run_free(&run[1]);
}

static struct simulate_poisson poisson(double rate, int shared, unsigned long long seed) {
    struct simulate_poisson poisson = {.rate = rate,
                                       .requests = 200,
                                       .prompt = 200,
                                       .shared = shared,
                                       .completion = 40,
                                       .seed = seed};
    return poisson;
}

static void same(const struct simulate_run *a, const struct simulate_run *b, int n) {
    struct simulate_run x = *a, y = *b;
    assert_memory_equal(a->record, b->record, (size_t)n * sizeof *a->record);
    x.record = y.record = NULL;
    assert_memory_equal(&x, &y, sizeof x);
}

/* With less in common than a chunk, nothing is different; and the same again is the same. */
static void nothing_in_common_is_no_sharing(void **state) {
    struct prng random = {5};
    (void)state;
    for (unsigned long long seed = 0; seed < 10; seed++) {
        struct simulate_settings settings = server(&random, 0);
        struct simulate_poisson load_of = poisson(20.0, (int)seed % settings.chunk, seed);
        struct simulate_load load;
        struct simulate_run run[2], again[2];
        settings.capacity = 0;
        assert_int_equal(simulate_load_poisson(&load, &load_of, settings.chunk), 0);
        run_both(&load, settings, run);
        run_both(&load, settings, again);
        same(&run[0], &run[1], 200);
        same(&run[0], &again[0], 200);
        same(&run[1], &again[1], 200);
        free_both(run);
        free_both(again);
        simulate_load_free(&load);
    }
}

/* Of requests that are alike. Of others, sharing can need more: what it makes earlier can meet what
 * it would have missed (test_simulate.c). */
static void sharing_a_prompt_never_needs_more_memory(void **state) {
    struct prng random = {17};
    int less = 0;
    (void)state;
    for (unsigned long long seed = 0; seed < 60; seed++) {
        struct simulate_settings settings = server(&random, 0);
        struct simulate_poisson load_of =
            poisson(1.0 + prng_below(&random, 40), prng_below(&random, 201), seed);
        struct simulate_load load;
        struct simulate_run run[2];
        settings.capacity = 0;
        assert_int_equal(simulate_load_poisson(&load, &load_of, settings.chunk), 0);
        run_both(&load, settings, run);
        assert_true(run[1].peak_chunks <= run[0].peak_chunks);
        less += run[1].peak_chunks < run[0].peak_chunks;
        free_both(run);
        simulate_load_free(&load);
    }
    assert_true(less > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_run_keeps_the_laws),
        cmocka_unit_test(one_at_a_time_waits_as_long_as_the_formula_says),
        cmocka_unit_test(nothing_in_common_is_no_sharing),
        cmocka_unit_test(sharing_a_prompt_never_needs_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

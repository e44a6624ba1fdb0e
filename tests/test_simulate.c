/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof simulate`: runs that can be followed by hand, durations, figures.
 * test_simulate_laws.c has what must hold of any run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/simulate/report.h"
#include "cli/simulate/summary.h"
#include "tests/simulate_case.h"

#define assert_near(a, b, error) assert_true(fabs((a) - (b)) <= (error))

/* What is expected of a request, in us. */
struct expected {
    long long admitted, first, finished;
};

static void check(const struct simulate_load *load, const struct simulate_settings *settings,
                  const struct expected *expected, struct simulate_run *run) {
    simulate(load, settings, run);
    assert_int_equal(run->end, SIMULATE_COMPLETE);
    for (int r = 0; r < load->trace.n_requests; r++) {
        assert_int_equal(run->record[r].admitted, expected[r].admitted * 1000);
        assert_int_equal(run->record[r].first, expected[r].first * 1000);
        assert_int_equal(run->record[r].finished, expected[r].finished * 1000);
        assert_int_equal(run->record[r].made, load->trace.request[r].output_length);
    }
}

static const int ab[] = {0, 1};
static const int ac[] = {0, 2};

/* The example of spec/simulate.md, which has the computation. */
static void the_example_of_the_specification(void **state) {
    static const struct expected alone[] = {{0, 14, 28}, {14, 28, 38}};
    static const struct expected shared[] = {{0, 14, 26}, {14, 26, 36}};
    struct simulate_load load = simulate_case_load(2);
    struct simulate_run run;
    struct simulate_summary summary;
    (void)state;
    simulate_case_add(&load, 0, 4, 2, ab);
    simulate_case_add(&load, 5, 4, 2, ac);
    for (int sharing = 0; sharing < 2; sharing++) {
        struct simulate_settings settings = simulate_case_settings(2, sharing);
        settings.cost.prefill_token_us = 1.0;
        check(&load, &settings, sharing ? shared : alone, &run);
        assert_int_equal(run.peak_chunks, sharing ? 5 : 6);
        assert_int_equal(run.peak_batch, 2);
        assert_int_equal(run.iterations, 3);
        assert_int_equal(run.prompt_tokens, 8);
        assert_int_equal(run.reused_tokens, sharing ? 2 : 0);
        assert_int_equal(run.completion_tokens, 4);

        assert_int_equal(simulate_summarise(&load.trace, &settings, &run, &summary), 0);
        double first = sharing ? 0.013 : 0.014; /* ms per token */
        double second = sharing ? 0.0155 : 0.0165;
        double end = sharing ? 36e-6 : 38e-6;
        assert_near(summary.latency.mean, (first + second) / 2.0, 1e-12);
        assert_near(summary.latency.p50, first, 1e-12);
        assert_near(summary.latency.p99, second, 1e-12);
        assert_near(summary.first_token.mean, (0.014 + (sharing ? 0.021 : 0.023)) / 2.0, 1e-12);
        assert_near(summary.tokens_per_second * end, 4.0, 1e-9);
        assert_near(summary.requests_per_second * end, 2.0, 1e-9);
        assert_near(summary.in_system * end, 2.0 * (first + second) * 1e-3, 1e-15);
        assert_near(summary.mean_batch, 4.0 / 3.0, 1e-12);
        assert_near(summary.busy, 1.0, 1e-12);
        assert_near(summary.peak_bytes, sharing ? 20.0 : 24.0, 0.0);
        assert_near(summary.reuse, sharing ? 0.25 : 0.0, 0.0);
        simulate_run_free(&run);
    }
    simulate_load_free(&load);
}

/* Chunks of 2 tokens; r0 has 3 prompt tokens and 2 to come, r1 the first 2 of them and 1 to come.
 * An iteration: 10, 2 for each sequence, 3 for each prompt token, 1 for each token stored and pair.
 *
 * With sharing, the first: r0 computes 3 tokens, which see 1 + 2 + 3 keys; r1 shares the chunk and
 * computes none. Then they have 4 and 3 tokens, the new ones see as many; stored are 2 + 2 + 1.
 *     10 + 2*2 + 3*3 + 5 + (6 + 4 + 3) = 41; r1 leaves
 * The second: r0 has 5 tokens in 3 chunks.  10 + 2 + 0 + 5 + 5 = 22 Without: r1 computes 2, which
 * see 1 + 2; stored are 4 + 3.  10 + 4 + 15 + 7 + (6 + 3 + 7) = 52; 22 */
static void every_term_of_the_duration(void **state) {
    static const struct expected alone[] = {{0, 52, 74}, {0, 52, 52}};
    static const struct expected shared[] = {{0, 41, 63}, {0, 41, 41}};
    struct simulate_load load = simulate_case_load(2);
    struct simulate_run run;
    (void)state;
    simulate_case_add(&load, 0, 3, 2, ab);
    simulate_case_add(&load, 0, 2, 1, ab);
    for (int sharing = 0; sharing < 2; sharing++) {
        struct simulate_settings settings = simulate_case_settings(2, sharing);
        settings.cost = (struct simulate_cost){.fixed_us = 10.0,
                                               .sequence_us = 2.0,
                                               .prefill_token_us = 3.0,
                                               .bytes_per_second = 2e6,
                                               .flops_per_second = 4e6};
        check(&load, &settings, sharing ? shared : alone, &run);
        assert_int_equal(run.peak_chunks, sharing ? 3 : 4);
        simulate_run_free(&run);
    }
    simulate_load_free(&load);
}

/* One at a time, 10 us each: r1 comes at 3 and waits until 10, gets its tokens at 20 and 30; until
 * 100 nobody is there; r2 has no token to come and is there for one iteration. */
static void one_at_a_time(void **state) {
    static const struct expected expected[] = {{0, 10, 10}, {10, 20, 30}, {100, 110, 110}};
    struct simulate_load load = simulate_case_load(2);
    struct simulate_settings settings = simulate_case_settings(2, 1);
    struct simulate_run run;
    struct simulate_summary summary;
    (void)state;
    simulate_case_add(&load, 0, 1, 1, ab);
    simulate_case_add(&load, 3, 1, 2, ab);
    simulate_case_add(&load, 100, 1, 0, ab);
    settings.batch = 1;
    check(&load, &settings, expected, &run);
    assert_int_equal(run.peak_batch, 1);
    assert_int_equal(run.busy, 40000);
    assert_true(run.in_system == 47000.0); /* 10 + 27 + 10 us */
    assert_int_equal(simulate_summarise(&load.trace, &settings, &run, &summary), 0);
    assert_near(summary.latency.mean, (0.010 + 0.0135) / 2.0, 1e-12); /* not of r2 */
    assert_near(summary.busy, 40.0 / 110.0, 1e-12);
    simulate_run_free(&run);
    simulate_load_free(&load);
}

/* Who comes in the moment in which an iteration ends is admitted to the next one; who comes later
 * waits for it to end. */
static void arrivals_at_the_end_of_an_iteration(void **state) {
    static const struct expected expected[] = {{0, 10, 30}, {10, 20, 20}, {20, 30, 30}};
    struct simulate_load load = simulate_case_load(2);
    struct simulate_settings settings = simulate_case_settings(2, 0);
    struct simulate_run run;
    (void)state;
    simulate_case_add(&load, 0, 1, 3, ab);
    simulate_case_add(&load, 10, 1, 1, ab);
    simulate_case_add(&load, 11, 1, 1, ab);
    check(&load, &settings, expected, &run);
    assert_int_equal(run.peak_batch, 2);
    simulate_run_free(&run);
    simulate_load_free(&load);
}

/* 4 chunks of 2 tokens. r0 takes 1 and then another; r1 needs 3: without sharing it waits until r0
 * is gone, and r2, which would fit, waits behind it, though it needs 2 only: 3 + 2 > 4. With
 * sharing r1 has r0's chunk, 2 of its own, and comes at once. r3 needs 5 and is rejected. */
static void memory_is_waited_for(void **state) {
    static const int other[] = {3, 4, 5, 6, 7};
    static const struct expected alone[] = {{0, 10, 20}, {20, 30, 40}, {40, 50, 60}};
    static const struct expected shared[] = {{0, 10, 20}, {0, 10, 20}, {20, 30, 40}};
    struct simulate_load load = simulate_case_load(2);
    struct simulate_run run;
    struct simulate_summary summary;
    (void)state;
    simulate_case_add(&load, 0, 2, 2, ab);
    simulate_case_add(&load, 0, 4, 2, ab);
    simulate_case_add(&load, 0, 2, 2, other);
    for (int sharing = 0; sharing < 2; sharing++) {
        struct simulate_settings settings = simulate_case_settings(2, sharing);
        settings.capacity = 4;
        check(&load, &settings, sharing ? shared : alone, &run);
        assert_int_equal(run.peak_chunks, sharing ? 4 : 3);
        assert_int_equal(run.rejected, 0);
        simulate_run_free(&run);
    }
    simulate_case_add(&load, 5, 9, 1, other);
    for (int sharing = 0; sharing < 2; sharing++) {
        struct simulate_settings settings = simulate_case_settings(2, sharing);
        settings.capacity = 4;
        simulate(&load, &settings, &run);
        assert_int_equal(run.rejected, 1);
        assert_int_equal(run.record[3].admitted, -1);
        assert_int_equal(run.record[3].finished, -1);
        assert_true(run.in_system == (sharing ? 80000.0 : 120000.0)); /* of the others alone */
        assert_int_equal(run.prompt_tokens, 8);
        assert_int_equal(simulate_summarise(&load.trace, &settings, &run, &summary), 0);
        assert_near(summary.requests_per_second * (sharing ? 40e-6 : 60e-6), 3.0, 1e-9);
        simulate_run_free(&run);
    }
    simulate_load_free(&load);
}

/* Sharing can need more memory, by chance. 10 us and 1 for each prompt token; r0 and r1 begin at 0
 * with the same 4 tokens, r2 and r3 come at 15 and 20 with 8 of their own.
 *   without: 10 + 8 = 18, r1 leaves; r2 joins at 18, 10 + 8 more, r0 and r2 leave at 36; r3 until
 *   54
 *            chunks 3 + 3, 3 + 5, 5
 *   with:    10 + 4 = 14, r1 leaves; r0 alone until 24; r2 and r3 join together, 10 + 16, until 50
 *            chunks 2 + 1 + 1, 3, 5 + 5 */
static void sharing_can_need_more_memory(void **state) {
    static const int third[] = {3, 4, 5, 6};
    static const int fourth[] = {7, 8, 9, 10};
    static const struct expected alone[] = {{0, 18, 36}, {0, 18, 18}, {18, 36, 36}, {36, 54, 54}};
    static const struct expected shared[] = {{0, 14, 24}, {0, 14, 14}, {24, 50, 50}, {24, 50, 50}};
    struct simulate_load load = simulate_case_load(2);
    struct simulate_run run;
    (void)state;
    simulate_case_add(&load, 0, 4, 2, ab);
    simulate_case_add(&load, 0, 4, 1, ab);
    simulate_case_add(&load, 15, 8, 1, third);
    simulate_case_add(&load, 20, 8, 1, fourth);
    for (int sharing = 0; sharing < 2; sharing++) {
        struct simulate_settings settings = simulate_case_settings(2, sharing);
        settings.cost.prefill_token_us = 1.0;
        check(&load, &settings, sharing ? shared : alone, &run);
        assert_int_equal(run.peak_chunks, sharing ? 10 : 8);
        simulate_run_free(&run);
    }
    simulate_load_free(&load);
}

/* Chunks need not be the trace's blocks: of 4 common tokens, chunks of 3 share the first. */
static void chunks_of_another_size(void **state) {
    static const struct expected expected[] = {{0, 10, 10}, {0, 10, 10}};
    struct simulate_load load = simulate_case_load(2);
    struct simulate_settings settings = simulate_case_settings(3, 1);
    struct simulate_run run;
    (void)state;
    simulate_case_add(&load, 0, 4, 1, ab);
    simulate_case_add(&load, 0, 4, 1, ab);
    check(&load, &settings, expected, &run);
    assert_int_equal(run.reused_tokens, 3);
    assert_int_equal(run.peak_chunks, 3);
    simulate_run_free(&run);
    simulate_load_free(&load);
}

/* A load with nothing to do: a prompt of nothing and no token to come still takes an iteration. */
static void nothing_to_do(void **state) {
    static const struct expected expected[] = {{7, 17, 17}};
    struct simulate_load load = simulate_case_load(2);
    struct simulate_settings settings = simulate_case_settings(2, 1);
    struct simulate_run run;
    struct simulate_summary summary;
    (void)state;
    simulate_case_add(&load, 7, 0, 0, ab);
    check(&load, &settings, expected, &run);
    assert_int_equal(simulate_summarise(&load.trace, &settings, &run, &summary), 0);
    assert_true(summary.latency.mean == 0.0 && summary.latency.p99 == 0.0);
    assert_near(summary.requests_per_second * 10e-6, 1.0, 1e-9); /* the time begins at 7 */
    assert_int_equal(run.peak_chunks, 0);
    simulate_run_free(&run);
    simulate_load_free(&load);
}

/* ---- Ends ---- */

static int end_of(const struct simulate_load *load, const struct simulate_settings *settings) {
    struct simulate_run run;
    simulate(load, settings, &run);
    simulate_run_free(&run);
    return run.end;
}

static void says_why_it_ends(void **state) {
    static int ids[CP_MAX_DEPTH + 1];
    struct simulate_load load = simulate_case_load(1);
    struct simulate_settings settings = simulate_case_settings(1, 1);
    (void)state;
    simulate_case_add(&load, 0, CP_MAX_DEPTH, 0, ids);
    assert_int_equal(end_of(&load, &settings), SIMULATE_COMPLETE);
    simulate_case_add(&load, 0, CP_MAX_DEPTH, 1, ids);
    assert_int_equal(end_of(&load, &settings), SIMULATE_TOO_LONG);
    settings.chunk = 2;
    assert_int_equal(end_of(&load, &settings), SIMULATE_COMPLETE);
    settings.cost.fixed_us = 1e15; /* 1e18 ns */
    settings.batch = 1;
    assert_int_equal(end_of(&load, &settings), SIMULATE_ENDLESS);
    simulate_load_free(&load);
}

/* More sequences of the longest kind than the pool has chunks for, without a limit of memory. The
 * cost ends the run in its first iteration: all are admitted by what they will have. */
static void says_that_the_pool_is_small(void **state) {
    static const int ids[] = {0};
    struct simulate_load load = simulate_case_load(1);
    struct simulate_settings settings = simulate_case_settings(1, 1);
    int fit = (CP_MAX_CHUNKS - 1) / (CP_MAX_DEPTH - 1); /* all have the first chunk in common */
    (void)state;
    settings.batch = fit + 1;
    settings.cost.fixed_us = 2e15;
    for (int r = 0; r < fit; r++) {
        simulate_case_add(&load, 0, 1, CP_MAX_DEPTH - 1, ids);
    }
    assert_int_equal(end_of(&load, &settings), SIMULATE_ENDLESS);
    simulate_case_add(&load, 0, 1, CP_MAX_DEPTH - 1, ids);
    assert_int_equal(end_of(&load, &settings), SIMULATE_POOL_SMALL);
    settings.capacity = CP_MAX_CHUNKS; /* now it waits */
    assert_int_equal(end_of(&load, &settings), SIMULATE_ENDLESS);
    simulate_load_free(&load);
}

/* ---- Parts ---- */

static void durations_have_bounds(void **state) {
    struct simulate_settings settings = simulate_case_settings(2, 0);
    struct simulate_work work = {.decoding = 1, .stored_tokens = 3, .pairs = 3.0};
    struct simulate_cost cost = {.fixed_us = 0.0};
    (void)state;
    assert_int_equal(simulate_duration(&cost, &settings.model, &work), 1);
    cost.fixed_us = 0.0026;
    assert_int_equal(simulate_duration(&cost, &settings.model, &work), 3);
    cost.fixed_us = 1e18;
    assert_int_equal(simulate_duration(&cost, &settings.model, &work), SIMULATE_END);
    cost = (struct simulate_cost){.bytes_per_second = 1e9};
    settings.model = *cp_dims_find("llama-7b"); /* 2 * 32 * 32 * 128 * 2 bytes per token */
    assert_int_equal(simulate_duration(&cost, &settings.model, &work), 3 * 524288);
    settings.model = *cp_dims_find("llama-70b"); /* 2 * 80 * 8 * 128 * 2 */
    assert_int_equal(simulate_duration(&cost, &settings.model, &work), 3 * 327680);
    cost = (struct simulate_cost){.flops_per_second = 1e9}; /* 4 * 80 * 64 * 128 per pair */
    assert_int_equal(simulate_duration(&cost, &settings.model, &work), 3 * 2621440);
}

/* The data sheets' figures, to three digits: spec/simulate.md. */
static void the_example_follows_from_its_premises(void **state) {
    struct simulate_cost cost = simulate_cost_example();
    double parameters = 6.74e9;
    (void)state;
    assert_near(cost.bytes_per_second, 0.8 * 2039e9, 1e9);
    assert_near(cost.flops_per_second, 0.6 * 312e12, 1e9);
    assert_near(cost.fixed_us, 1e6 * 2.0 * parameters / cost.bytes_per_second, 5.0);
    assert_near(cost.prefill_token_us, 1e6 * 2.0 * parameters / cost.flops_per_second, 0.05);
}

static void spreads_are_nearest_ranks(void **state) {
    double number[101];
    (void)state;
    struct simulate_spread spread = simulate_spread_of(number, 0);
    assert_true(spread.mean == 0.0 && spread.p50 == 0.0 && spread.p99 == 0.0);
    for (int n = 1; n <= 101; n++) {
        for (int i = 0; i < n; i++) {
            number[i] = n - i;
        }
        spread = simulate_spread_of(number, n);
        assert_near(spread.mean, (n + 1) / 2.0, 1e-9);
        /* As defined: at least the part of 1 .. n is <= it, and a smaller one has less. */
        assert_true(spread.p50 * 100.0 >= n * 50.0 && (spread.p50 - 1.0) * 100.0 < n * 50.0);
        assert_true(spread.p99 * 100.0 >= n * 99.0 && (spread.p99 - 1.0) * 100.0 < n * 99.0);
    }
}

/* 100 prompt tokens of which 70 are common, in chunks of 16: 4 chunks have the same numbers. */
static void poisson_prompts_share_whole_chunks(void **state) {
    struct simulate_poisson poisson = {
        .rate = 2.0, .requests = 3, .prompt = 100, .shared = 70, .completion = 5, .seed = 7};
    struct simulate_load slow, load;
    (void)state;
    assert_int_equal(simulate_load_poisson(&load, &poisson, 16), 0);
    poisson.rate = 0.02;
    assert_int_equal(simulate_load_poisson(&slow, &poisson, 16), 0);
    assert_int_equal(load.trace.n_requests, 3);
    assert_int_equal(load.trace.n_ids, 4 + 3 * 3);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(load.trace.request[r].input_length, 100);
        assert_int_equal(load.trace.request[r].output_length, 5);
        for (int k = 0; k < 7; k++) {
            assert_int_equal(trace_blocks(&load.trace, r)[k], k < 4 ? k : 3 * r + k);
        }
        long long fast_ns = simulate_arrival(&load, r), slow_ns = simulate_arrival(&slow, r);
        assert_true(fast_ns > 0 && slow_ns >= 100 * fast_ns && slow_ns <= 100 * fast_ns + 300000);
    }
    simulate_load_free(&load);
    simulate_load_free(&slow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_specification),
        cmocka_unit_test(every_term_of_the_duration),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(arrivals_at_the_end_of_an_iteration),
        cmocka_unit_test(memory_is_waited_for),
        cmocka_unit_test(sharing_can_need_more_memory),
        cmocka_unit_test(chunks_of_another_size),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(says_why_it_ends),
        cmocka_unit_test(says_that_the_pool_is_small),
        cmocka_unit_test(durations_have_bounds),
        cmocka_unit_test(the_example_follows_from_its_premises),
        cmocka_unit_test(spreads_are_nearest_ranks),
        cmocka_unit_test(poisson_prompts_share_whole_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

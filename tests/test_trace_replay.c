/* SPDX-License-Identifier: Apache-2.0 */
/* What `chunkproof trace` does with a trace: schedule, naive model, replay. test_trace_check.c shows
 * that its checks can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/status.h"
#include "cli/base/command.h"
#include "cli/trace/generate.h"
#include "cli/trace/replay.h"
#include "cli/trace/report.h"
#include "small_trace.h"

/* ---- Schedule ---- */

static void expect_event(struct trace_schedule *schedule, int kind, int request,
                         long long iteration) {
    struct trace_event event = trace_schedule_next(schedule);
    assert_int_equal(event.kind, kind);
    assert_int_equal(event.request, request);
    assert_int_equal(schedule->iteration, iteration);
}

static const int ids_01[] = {0, 1};

/* Every 10 ms. Request 1 arrives at 5 ms, so it joins at 10; it has no completion, so it gets no token
 * and leaves; then nothing happens until 1000 ms. */
static struct trace four_requests(void) {
    struct trace trace;
    trace_init(&trace, 2);
    small_trace_add(&trace, 0, 2, 2, ids_01);
    small_trace_add(&trace, 5, 2, 0, ids_01);
    small_trace_add(&trace, 10, 2, 1, ids_01);
    small_trace_add(&trace, 995, 2, 1, ids_01);
    return trace;
}

static void schedule_of_four_requests(void **state) {
    struct trace trace = four_requests();
    struct trace_schedule schedule;
    (void)state;
    assert_int_equal(trace_schedule_init(&schedule, &trace, 10, 0), 0);
    expect_event(&schedule, TRACE_JOIN, 0, 0);
    expect_event(&schedule, TRACE_DECODE, -1, 0);
    assert_true(trace_schedule_decodes(&schedule, 0));
    assert_int_equal(trace_schedule_place(&schedule, 0), 2);
    expect_event(&schedule, TRACE_JOIN, 1, 1);
    expect_event(&schedule, TRACE_JOIN, 2, 1);
    expect_event(&schedule, TRACE_DECODE, -1, 1);
    assert_true(trace_schedule_decodes(&schedule, 0));
    assert_false(trace_schedule_decodes(&schedule, 1));
    assert_true(trace_schedule_decodes(&schedule, 2));
    assert_int_equal(trace_schedule_place(&schedule, 0), 3);
    expect_event(&schedule, TRACE_LEAVE, 0, 1);
    expect_event(&schedule, TRACE_LEAVE, 1, 1);
    expect_event(&schedule, TRACE_LEAVE, 2, 1);
    expect_event(&schedule, TRACE_JOIN, 3, 100);
    expect_event(&schedule, TRACE_DECODE, -1, 100);
    expect_event(&schedule, TRACE_LEAVE, 3, 100);
    expect_event(&schedule, TRACE_END, -1, 101);
    expect_event(&schedule, TRACE_END, -1, 101);
    trace_schedule_free(&schedule);
    trace_free(&trace);
}

static void schedule_drops_and_retains(void **state) {
    struct trace trace = four_requests();
    struct trace_schedule schedule;
    (void)state;
    assert_int_equal(trace_schedule_init(&schedule, &trace, 10, 0), 0);
    expect_event(&schedule, TRACE_JOIN, 0, 0);
    trace_schedule_drop(&schedule);
    expect_event(&schedule, TRACE_JOIN, 1, 1); /* nobody is alive: straight on to its iteration */
    trace_schedule_drop(&schedule);
    expect_event(&schedule, TRACE_JOIN, 2, 1);
    expect_event(&schedule, TRACE_DECODE, -1, 1);
    expect_event(&schedule, TRACE_LEAVE, 2, 1);
    expect_event(&schedule, TRACE_JOIN, 3, 100);
    trace_schedule_drop(&schedule);
    expect_event(&schedule, TRACE_END, -1, 100);
    trace_schedule_free(&schedule);

    assert_int_equal(trace_schedule_init(&schedule, &trace, 10, 1), 0);
    for (int r = 0; r < 4; r++) {
        expect_event(&schedule, TRACE_JOIN, r, 0);
    }
    expect_event(&schedule, TRACE_END, -1, 0);
    trace_schedule_free(&schedule);
    trace_free(&trace);
}

/* ---- The naive model, by hand ---- */

static void expect_model(const struct trace_model *model, int live, int used, int shared_nodes,
                         int shared_pairs, int path_chunks) {
    assert_int_equal(model->live, live);
    assert_int_equal(trace_model_used(model), used);
    assert_int_equal(model->shared_nodes, shared_nodes);
    assert_int_equal(model->shared_pairs, shared_pairs);
    assert_int_equal(model->path_chunks, path_chunks);
}

static void model_counts_by_hand(void **state) {
    static const int forward[] = {0, 1, 2};
    static const int backward[] = {1, 0};
    struct trace_model model;
    (void)state;
    assert_int_equal(trace_model_init(&model, 2, 4), 0);
    expect_model(&model, 0, 0, 0, 0, 0);
    assert_int_equal(trace_model_join(&model, 0, forward, 5),
                     0); /* 0 1 and half of a private one */
    expect_model(&model, 1, 3, 0, 0, 3);
    assert_int_equal(trace_model_join(&model, 1, forward, 4), 2); /* 0 1, both there */
    expect_model(&model, 2, 3, 2, 4, 5);
    assert_int_equal(trace_model_join(&model, 2, backward, 4), 0); /* 1 0: the order tells */
    expect_model(&model, 3, 5, 2, 4, 7);
    assert_int_equal(trace_model_match(&model, forward, 3), 2);
    assert_int_equal(trace_model_join(&model, 3, forward, 6), 2); /* 0 1 2, full this time */
    expect_model(&model, 4, 6, 2, 6, 10);

    assert_int_equal(trace_model_needs_chunk(&model, 0), 0);
    trace_model_append(&model, 0); /* fills its private chunk, which stays private */
    expect_model(&model, 4, 6, 2, 6, 10);
    assert_int_equal(trace_model_needs_chunk(&model, 0), 1);
    trace_model_append(&model, 0);
    expect_model(&model, 4, 7, 2, 6, 11);
    assert_int_equal(trace_model_needs_chunk(&model, 1), 1); /* behind shared chunks */
    trace_model_append(&model, 1);
    expect_model(&model, 4, 8, 2, 6, 12);
    assert_int_equal(trace_model_chunks(&model, 0), 4);
    assert_int_equal(model.length[0], 7);

    trace_model_leave(&model, 0, forward); /* frees two private chunks */
    expect_model(&model, 3, 6, 2, 4, 8);
    trace_model_leave(&model, 3, forward); /* frees block 2; 1 has 0 1 alone now */
    expect_model(&model, 2, 5, 0, 0, 5);
    trace_model_leave(&model, 1, forward);
    expect_model(&model, 1, 2, 0, 0, 2);
    assert_int_equal(trace_model_match(&model, forward, 3), 0); /* what nobody has is not there */
    assert_int_equal(trace_model_match(&model, backward, 2), 2);
    trace_model_leave(&model, 2, backward);
    expect_model(&model, 0, 0, 0, 0, 0);
    assert_int_equal(trace_model_join(&model, 0, NULL, 0), 0); /* an empty sequence has no chunk */
    expect_model(&model, 1, 0, 0, 0, 0);
    assert_int_equal(trace_model_needs_chunk(&model, 0), 1);
    trace_model_free(&model);
}

/* ---- Whole replays ---- */

static void replay_of_the_small_trace(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = small_trace_settings(20);
    struct trace_figures figures;
    long long needed = 0;
    (void)state;
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(figures.end, TRACE_COMPLETE);
    assert_int_equal(figures.requests, 4);
    assert_int_equal(figures.rejected, 0);
    assert_int_equal(figures.full_blocks, 2 + 2 + 2 + 1);
    assert_int_equal(figures.matched_blocks, 0 + 1 + 2 + 0);
    /* 0: 3 at the join, 1 at token 7, 1 at token 9; 1: 1 + 1; 2: 0 + 1; 3: 2. */
    assert_int_equal(figures.allocated_chunks, 5 + 2 + 1 + 2);
    /* Iteration 1: 0 1 a a', 3 b, c. */
    assert_int_equal(figures.peak.used, 7);
    assert_int_equal(figures.peak.paths, 4 + 3 + 3);
    assert_int_equal(figures.peak.tokens, 7 + 6 + 5);
    assert_int_equal(figures.peak.shared_pairs, 3 + 2);
    assert_int_equal(figures.paths_peak, 10);
    assert_int_equal(figures.live_peak, 3);
    assert_int_equal(figures.prompt_tokens, 5 + 4 + 4 + 3);
    assert_int_equal(figures.output_tokens, 4 + 2 + 1);
    assert_int_equal(figures.iterations, 4 + 1);
    /* After the tokens of each iteration: 3+1+1, then the peak, then 0 alone with 4 and 5. */
    assert_int_equal(figures.sum.used, 5 + 7 + 4 + 5 + 2);
    assert_int_equal(figures.sum.paths, (3 + 3) + 10 + 4 + 5 + 2);
    assert_int_equal(figures.sum.tokens, (6 + 5) + 18 + 8 + 9 + 3);
    assert_int_equal(figures.sum.shared_pairs, 2 + 5);
    assert_int_equal(figures.now.used, 0);
    assert_int_equal(figures.now.shared_pairs, 0);
    assert_int_equal(figures.now.tokens, 0);
    assert_int_equal(figures.invariant_checks, 4 + 5 + 4 + 1);
    assert_int_equal(trace_needed_chunks(&trace, &settings, &needed), 0);
    assert_int_equal(needed, 7);
    trace_free(&trace);
}

/* The peak is the first moment with the most chunks: 3 tokens at the join, not 4 after the step. */
static void the_peak_is_the_first_one(void **state) {
    struct trace trace;
    struct trace_settings settings = small_trace_settings(2);
    struct trace_figures figures;
    (void)state;
    trace_init(&trace, 2);
    small_trace_add(&trace, 0, 3, 1, ids_01);
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(figures.end, TRACE_COMPLETE);
    assert_int_equal(figures.peak.used, 2);
    assert_int_equal(figures.peak.tokens, 3);
    trace_free(&trace);
}

static void gains_are_those_of_the_papers(void **state) {
    const struct trace_moment moment = {.used = 5, .paths = 8, .shared_pairs = 4, .tokens = 16};
    const struct trace_moment nothing = {0, 0, 0, 0};
    (void)state;
    assert_true(trace_sharing_ratio(&moment, 2) == 0.5); /* 4 chunks of 2 tokens of 16 */
    assert_true(trace_exact_gain(&moment) == 1.6);
    assert_true(trace_sharing_ratio(&nothing, 2) == 0.0);
    assert_true(trace_exact_gain(&nothing) == 1.0);
}

/* A pool of 6 has no room for the tokens of iteration 1; one of 2 none for the prompt of request 0, nor
 * then for the first token of request 1, which fills it. */
static void small_pools_reject_or_stop(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = small_trace_settings(6);
    struct trace_figures figures;
    (void)state;
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(figures.end, TRACE_POOL_FULL);
    assert_int_equal(figures.requests, 3);
    assert_int_equal(figures.rejected, 0);
    assert_int_equal(figures.iteration, 1);
    assert_int_equal(figures.iterations, 1);
    assert_int_equal(figures.peak.used, 5);
    settings.capacity = 2; /* too small for 0, enough for the others one by one */
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(figures.end, TRACE_POOL_FULL);
    assert_int_equal(figures.rejected, 1);
    settings.retain = 1;
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(figures.end, TRACE_COMPLETE);
    assert_int_equal(figures.requests, 4);
    assert_int_equal(figures.rejected, 3); /* 1 takes both chunks; 2 and 3 need one each */
    settings.check = TRACE_CHECK_NONE;
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(figures.end, TRACE_COMPLETE);
    assert_int_equal(figures.rejected, 3);
    assert_int_equal(figures.invariant_checks, 0);
    trace_free(&trace);
}

/* One sequence more than the tree can hold; they are all empty and cost nothing. */
static void too_many_sequences_are_rejected(void **state) {
    struct trace trace;
    struct trace_settings settings = small_trace_settings(1);
    struct trace_figures figures;
    long long needed = -1;
    (void)state;
    trace_init(&trace, 2);
    for (int r = 0; r < CP_MAX_SEQUENCES + 3; r++) {
        small_trace_add(&trace, r, 0, 0, NULL);
    }
    settings.retain = 1;
    settings.check = TRACE_CHECK_NONE; /* with checks it takes ten seconds */
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(figures.end, TRACE_COMPLETE);
    assert_int_equal(figures.live_peak, CP_MAX_SEQUENCES);
    assert_int_equal(figures.rejected, 3);
    assert_int_equal(trace_needed_chunks(&trace, &settings, &needed), 0);
    assert_int_equal(needed, 0);
    trace_free(&trace);
}

static struct trace generated(unsigned long long seed, int block_size) {
    struct trace_generator generator = {.seed = seed,
                                        .requests = 120,
                                        .gap = 100000,
                                        .prompts = 3,
                                        .prompt_tokens = 40,
                                        .question_tokens = 15,
                                        .output_tokens = 20,
                                        .continue_percent = 40};
    struct trace trace;
    trace_init(&trace, block_size);
    assert_int_equal(trace_generate(&trace, &generator), TRACE_OK);
    return trace;
}

/* All of it, with every check: any block size, any width of hashes (1 bit collides all the time). The
 * needed capacity is enough, and one chunk less is not. */
static void generated_traces_have_no_violation(void **state) {
    static const int block_sizes[] = {1, 2, 3, 16, 512};
    static const int hash_bits[] = {0, 1, 64};
    (void)state;
    for (int i = 0; i < 30; i++) {
        struct trace trace = generated((unsigned long long)i, block_sizes[i % 5]);
        struct trace_settings settings = small_trace_settings(1);
        struct trace_figures figures;
        long long needed = 0;
        int tails = 0;
        settings.hash_bits = hash_bits[i % 3];
        settings.retain = i % 2;
        assert_int_equal(trace_needed_chunks(&trace, &settings, &needed), 0);
        settings.capacity = (int)needed;
        trace_replay(&trace, &settings, &figures);
        assert_string_equal(figures.violation.clause, "");
        assert_int_equal(figures.end, TRACE_COMPLETE);
        assert_int_equal(figures.rejected, 0);
        assert_int_equal(figures.peak.used, needed);
        for (int r = 0; r < trace.n_requests; r++) {
            tails += trace.request[r].n_blocks > trace_full_blocks(&trace, r);
        }
        if (settings.retain) {
            assert_int_equal(figures.allocated_chunks,
                             figures.full_blocks - figures.matched_blocks + tails);
        } else {
            assert_int_equal(figures.output_tokens, trace.n_outputs);
        }
        settings.capacity = (int)needed - 1;
        trace_replay(&trace, &settings, &figures);
        assert_true(figures.end == TRACE_POOL_FULL ||
                    (figures.end == TRACE_COMPLETE && figures.rejected > 0));
        trace_free(&trace);
    }
}

static int stop_at_third(void *context, struct trace_replay *replay) {
    (void)replay;
    return ++*(int *)context == 3;
}

static void an_observer_ends_the_replay(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = small_trace_settings(20);
    struct trace_figures figures;
    int calls = 0;
    (void)state;
    settings.observe = stop_at_third;
    settings.context = &calls;
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(calls, 3);
    assert_int_equal(figures.end, TRACE_INTERRUPTED);
    assert_int_equal(figures.requests, 2);
    assert_int_equal(figures.iterations, 1);
    assert_int_equal(figures.peak.used, 5);
    trace_free(&trace);
}

static void ends_have_their_exit_status(void **state) {
    (void)state;
    assert_int_equal(trace_exit_status(TRACE_COMPLETE), EXIT_RIGHT);
    assert_int_equal(trace_exit_status(TRACE_VIOLATION), EXIT_FINDING);
    assert_int_equal(trace_exit_status(TRACE_POOL_FULL), EXIT_BAD_USE);
    assert_int_equal(trace_exit_status(TRACE_INTERRUPTED), EXIT_INTERRUPTED);
    assert_int_equal(trace_exit_status(TRACE_OUT_OF_MEMORY), EXIT_BAD_USE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedule_of_four_requests),
        cmocka_unit_test(schedule_drops_and_retains),
        cmocka_unit_test(model_counts_by_hand),
        cmocka_unit_test(replay_of_the_small_trace),
        cmocka_unit_test(the_peak_is_the_first_one),
        cmocka_unit_test(gains_are_those_of_the_papers),
        cmocka_unit_test(small_pools_reject_or_stop),
        cmocka_unit_test(too_many_sequences_are_rejected),
        cmocka_unit_test(generated_traces_have_no_violation),
        cmocka_unit_test(an_observer_ends_the_replay),
        cmocka_unit_test(ends_have_their_exit_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

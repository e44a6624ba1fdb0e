/* SPDX-License-Identifier: Apache-2.0 */
/* What `chunkproof trace` does with a trace: schedule, naive model, replay; and that each of its
 * checks can fail: a replay with something broken on purpose must end with the right violation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "chunkproof/status.h"
#include "gate/command.h"
#include "gate/trace_generate.h"
#include "gate/trace_replay.h"
#include "gate/trace_report.h"

/* A request of 2-token blocks; ids[] are used as they are. */
static void add(struct trace *trace, long long arrival, int input, int output, const int *ids) {
    for (int k = 0; k < (input + 1) / 2; k++) {
        trace->n_ids = ids[k] >= trace->n_ids ? ids[k] + 1 : trace->n_ids;
    }
    assert_int_equal(trace_add(trace, arrival, input, output, ids), TRACE_OK);
}

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
    add(&trace, 0, 2, 2, ids_01);
    add(&trace, 5, 2, 0, ids_01);
    add(&trace, 10, 2, 1, ids_01);
    add(&trace, 995, 2, 1, ids_01);
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

/* 0 and 1 share block 0 at iteration 0: 5 + 1 chunks. */
static struct trace small_trace(void) {
    static const int first[] = {0, 1, 2};
    static const int second[] = {0, 3};
    static const int third[] = {0, 1};
    struct trace trace;
    trace_init(&trace, 2);
    add(&trace, 0, 5, 4, first);   /* chunks 0 1 + private; tokens 5 .. 9: one chunk at 7, at 9 */
    add(&trace, 0, 4, 2, second);  /* 0 shared, 3; one chunk for its completion */
    add(&trace, 30, 4, 1, third);  /* 0 1, both shared */
    add(&trace, 900, 3, 0, third); /* alone: 0 and a private one */
    return trace;
}

static struct trace_settings settings_for(int capacity) {
    struct trace_settings settings = {
        .ms_per_token = 30, .check = TRACE_CHECK_EVERY, .capacity = capacity, .hash_bits = 64};
    return settings;
}

static void replay_of_the_small_trace(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = settings_for(20);
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
    struct trace_settings settings = settings_for(6);
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
    struct trace_settings settings = settings_for(1);
    struct trace_figures figures;
    long long needed = -1;
    (void)state;
    trace_init(&trace, 2);
    for (int r = 0; r < CP_MAX_SEQUENCES + 3; r++) {
        add(&trace, r, 0, 0, NULL);
    }
    settings.retain = 1;
    settings.check = TRACE_CHECK_SAMPLED;
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
        struct trace_settings settings = settings_for(1);
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
    struct trace_settings settings = settings_for(20);
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

/* ---- Each check can fail: something is broken after an operation and before its checks ---- */

static struct cp_sequence *sequence(struct trace_replay *replay, int s) {
    return &replay->tree->sequence[s];
}

static int last_chunk(struct trace_replay *replay, int s) {
    return sequence(replay, s)->chunk[sequence(replay, s)->n_chunks - 1];
}

static void nothing(struct trace_replay *replay) {
    (void)replay;
}
static void other_token(struct trace_replay *replay) {
    replay->tree->tokens[last_chunk(replay, 0)].token[0] += 1;
}
static void longer_chunk(struct trace_replay *replay) {
    replay->tree->fill[last_chunk(replay, 0)] += 1;
}
static void shorter_range(struct trace_replay *replay) {
    replay->tree->end[sequence(replay, 1)->chunk[0]] -= 1;
}
static void lost_chunk(struct trace_replay *replay) {
    cp_pool_take(&replay->tree->pool);
}
static void swapped_pool(struct trace_replay *replay) {
    replay->tree->pool.perm[0] = replay->tree->pool.perm[1];
}
static void wrong_hash(struct trace_replay *replay) {
    replay->tree->hash[sequence(replay, 0)->chunk[0]] ^= 1;
}
static void wrong_salt(struct trace_replay *replay) {
    sequence(replay, 1)->salt = 5;
}
static void same_id(struct trace_replay *replay) {
    sequence(replay, 1)->id = sequence(replay, 0)->id;
}
static void unknown_id(struct trace_replay *replay) {
    sequence(replay, 2)->id = 99;
}
static void swapped_ids(struct trace_replay *replay) {
    long long id = sequence(replay, 0)->id;
    sequence(replay, 0)->id = sequence(replay, 1)->id;
    sequence(replay, 1)->id = id;
}
static void gone_sequence(struct trace_replay *replay) {
    replay->tree->n_sequences -= 1;
}
static void shorter_path(struct trace_replay *replay) {
    sequence(replay, 1)->n_chunks -= 1;
}
static void path_to_nowhere(struct trace_replay *replay) {
    sequence(replay, 1)->chunk[1] = -1;
}
static void newer_epoch(struct trace_replay *replay) {
    replay->tree->stamp.epoch += 1;
}
static void older_epoch(struct trace_replay *replay) {
    replay->tree->stamp.epoch -= 1;
}
static void plan_of_no_chunk(struct trace_replay *replay) {
    replay->checker.plan->row[0].chunk[0] = -1;
}
static void model_with_a_chunk(struct trace_replay *replay) {
    replay->model.private_chunks += 1;
}
static void model_without_block(struct trace_replay *replay) {
    replay->model.references[1] = 0;
}
static void model_with_shared(struct trace_replay *replay) {
    replay->model.shared_nodes += 1;
}
static void model_with_pair(struct trace_replay *replay) {
    replay->model.shared_pairs += 1;
}
static void model_with_path(struct trace_replay *replay) {
    replay->model.path_chunks += 1;
}
static void model_with_token(struct trace_replay *replay) {
    replay->model.length[0] += 1;
}

/* The operations on the small trace: join 0, join 1, decode, join 2, decode, leave 1, leave 2, decode
 * (without a new chunk), decode, leave 0, join 3, decode, leave 3. */
struct breakage {
    const char *name;
    void (*apply)(struct trace_replay *replay);
    int after; /* operation number, from 1 */
    int check;
    int retain;
    const char *clause; /* of the violation ... */
    int kind;           /* ... found at this operation, */
    int request;        /* which is on this request */
};

#define EVERY   TRACE_CHECK_EVERY
#define SAMPLED TRACE_CHECK_SAMPLED
static const struct breakage breakages[] = {
    {"a token of a join", other_token, 1, EVERY, 0, "TREE-6", TRACE_JOIN, 0},
    {"a token of a join, sampled", other_token, 1, SAMPLED, 1, "TREE-6", TRACE_JOIN, 0},
    {"a token, at the end", other_token, 2, SAMPLED, 1, "TREE-6", TRACE_END, -1},
    {"a token while decoding", other_token, 8, EVERY, 0, "TREE-6", TRACE_DECODE, -1},
    {"a longer chunk", longer_chunk, 1, EVERY, 0, "TREE-6", TRACE_JOIN, 0},
    {"a shorter range", shorter_range, 2, EVERY, 0, "TREE-3", TRACE_JOIN, 1},
    {"a chunk lost at a join", lost_chunk, 4, SAMPLED, 0, "TREE-9", TRACE_JOIN, 2},
    {"a chunk lost while decoding", lost_chunk, 3, SAMPLED, 0, "TREE-10", TRACE_DECODE, -1},
    {"a chunk lost at a leave", lost_chunk, 6, SAMPLED, 0, "TREE-11", TRACE_LEAVE, 1},
    {"a chunk twice in the pool", swapped_pool, 3, EVERY, 0, "POOL-2", TRACE_DECODE, -1},
    {"a wrong hash", wrong_hash, 1, EVERY, 0, "TREE-15", TRACE_JOIN, 0},
    {"a wrong salt", wrong_salt, 2, EVERY, 0, "TREE-14", TRACE_JOIN, 1},
    {"an id twice", same_id, 2, EVERY, 0, "TREE-11", TRACE_JOIN, 1},
    {"swapped ids", swapped_ids, 3, EVERY, 0, "TREE-6", TRACE_DECODE, -1},
    {"an unknown id", unknown_id, 5, EVERY, 0, "TREE-11", TRACE_DECODE, -1},
    {"an unknown id, sampled", unknown_id, 5, SAMPLED, 0, "TREE-11", TRACE_LEAVE, 1},
    {"a sequence is gone", gone_sequence, 4, SAMPLED, 0, "TREE-9", TRACE_JOIN, 2},
    {"a shorter path", shorter_path, 2, SAMPLED, 1, "TREE-6", TRACE_JOIN, 1},
    {"a path to nowhere", path_to_nowhere, 2, SAMPLED, 1, "TREE-3", TRACE_JOIN, 1},
    {"an epoch too many", newer_epoch, 8, EVERY, 0, "PLAN-6", TRACE_DECODE, -1},
    {"an epoch too few", older_epoch, 4, EVERY, 0, "PLAN-6", TRACE_JOIN, 2},
    {"a plan that is not rebuilt", plan_of_no_chunk, 8, EVERY, 0, "PLAN-2", TRACE_DECODE, -1},
    {"a model with a chunk more", model_with_a_chunk, 3, SAMPLED, 0, "TREE-10", TRACE_DECODE, -1},
    {"a model without a block", model_without_block, 1, SAMPLED, 1, "TREE-8", TRACE_JOIN, 1},
    {"a model with more shared", model_with_shared, 2, EVERY, 0, "PLAN-1", TRACE_JOIN, 1},
    {"a model with more pairs", model_with_pair, 2, EVERY, 0, "PLAN-3", TRACE_JOIN, 1},
    {"a model with longer paths", model_with_path, 2, EVERY, 0, "PLAN-3", TRACE_JOIN, 1},
    {"a model with a token more", model_with_token, 8, EVERY, 0, "TREE-6", TRACE_DECODE, -1},
};

struct breaking {
    const struct breakage *breakage;
    int operations;
};

static int break_it(void *context, struct trace_replay *replay) {
    struct breaking *breaking = context;
    if (++breaking->operations == breaking->breakage->after) {
        breaking->breakage->apply(replay);
    }
    return 0;
}

static struct trace_figures replay_with(const struct breakage *breakage) {
    struct trace trace = small_trace();
    struct trace_settings settings = settings_for(20);
    struct breaking breaking = {breakage, 0};
    struct trace_figures figures;
    settings.check = breakage->check;
    settings.retain = breakage->retain;
    settings.observe = break_it;
    settings.context = &breaking;
    trace_replay(&trace, &settings, &figures);
    trace_free(&trace);
    return figures;
}

static void every_breakage_is_reported(void **state) {
    int n_wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof breakages / sizeof breakages[0]; i++) {
        const struct breakage *breakage = &breakages[i];
        struct breakage harmless = *breakage;
        struct trace_figures figures = replay_with(breakage);
        if (figures.end != TRACE_VIOLATION ||
            strcmp(figures.violation.clause, breakage->clause) != 0 ||
            figures.last_event.kind != breakage->kind ||
            figures.last_event.request != breakage->request) {
            print_error("%s: end %d, operation %d on %d, clause '%s': %s\n", breakage->name,
                        figures.end, figures.last_event.kind, figures.last_event.request,
                        figures.violation.clause, figures.violation.text);
            n_wrong++;
        }
        harmless.apply = nothing; /* and it is the breakage that does it */
        assert_int_equal(replay_with(&harmless).end, TRACE_COMPLETE);
    }
    assert_int_equal(n_wrong, 0);
}

/* Answers that no operation of the small trace gives, put to the checks themselves. */
static int wrong_answers(void *context, struct trace_replay *replay) {
    struct trace_checker *checker = &replay->checker;
    struct cp_tree *tree = replay->tree;
    struct cp_stamp stamp = tree->stamp;
    struct cp_match match = cp_tree_lookup(tree, replay->token, 4, 0, NULL);
    struct cp_joined joined = {0, 2};
    if (++*(int *)context != 4) {
        return 0;
    }
    assert_int_equal(trace_check_unchanged(checker, 2, stamp, tree->pool.n_free), 0);
    stamp.epoch--;
    assert_int_equal(trace_check_unchanged(checker, 2, stamp, tree->pool.n_free), -1);
    assert_string_equal(checker->violation.clause, "TREE-13");
    assert_int_equal(trace_check_unchanged(checker, 2, tree->stamp, tree->pool.n_free - 1), -1);
    stamp = tree->stamp;
    stamp.step++;
    assert_int_equal(trace_check_unchanged(checker, 2, stamp, tree->pool.n_free), -1);

    assert_int_equal(match.n_chunks, 2);
    assert_int_equal(trace_check_lookup(checker, 2, &match), 0);
    match.n_tokens = 3;
    assert_int_equal(trace_check_lookup(checker, 2, &match), -1);
    assert_string_equal(checker->violation.clause, "TREE-8");

    assert_int_equal(trace_check_joined(checker, 0, 1, &joined), 0);
    joined.sequence = 1;
    assert_int_equal(trace_check_joined(checker, 0, 1, &joined), -1);
    assert_string_equal(checker->violation.clause, "TREE-9");
    joined.sequence = 99;
    assert_int_equal(trace_check_joined(checker, 0, 1, &joined), -1);
    joined.sequence = 0;
    joined.n_shared = 4;
    assert_int_equal(trace_check_joined(checker, 0, 1, &joined), -1);

    assert_int_equal(trace_expect_append(checker, 20 - 5), CP_OK);
    assert_int_equal(trace_expect_append(checker, 20 - 5 + 1), CP_ERROR_POOL_FULL);
    return 1;
}

static void wrong_answers_are_reported(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = settings_for(20);
    struct trace_figures figures;
    int calls = 0;
    (void)state;
    settings.observe = wrong_answers;
    settings.context = &calls;
    trace_replay(&trace, &settings, &figures);
    assert_int_equal(figures.end, TRACE_INTERRUPTED);
    trace_free(&trace);
}

/* ---- Reports ---- */

static void report_names_the_violation(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = settings_for(20);
    struct trace_figures figures = replay_with(&breakages[8]); /* a chunk lost at a leave */
    struct trace_report report = {"a trace", &trace, &settings, &figures, 0, 0.5};
    char line[512] = "";
    FILE *out = tmpfile();
    (void)state;
    assert_non_null(out);
    trace_report_problem(&report, out);
    rewind(out);
    assert_non_null(fgets(line, sizeof line, out));
    assert_string_equal(line,
                        "chunkproof trace: violation of TREE-11 at request 2 (leave of request "
                        "2, iteration 1): 6 chunks are in use; the model has 5\n");
    assert_null(fgets(line, sizeof line, out));
    fclose(out);
    trace_free(&trace);
}

/* The JSON object has the figures, and the violation with its request counted from 1. */
static void report_as_json(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = settings_for(20);
    struct trace_figures figures = replay_with(&breakages[8]);
    struct trace_report report = {"a trace", &trace, &settings, &figures, 0, 0.5};
    json_error_t error;
    FILE *out = tmpfile();
    (void)state;
    assert_non_null(out);
    assert_int_equal(trace_report_json(&report, out), 0);
    rewind(out);
    json_t *object = json_loadf(out, 0, &error);
    assert_non_null(object);
    assert_int_equal(json_integer_value(json_object_get(object, "violations")), 1);
    assert_int_equal(json_integer_value(json_object_get(object, "peak_chunks")), 7);
    assert_string_equal(json_string_value(json_object_get(object, "end")), "violation");
    json_t *violation = json_object_get(object, "violation");
    assert_string_equal(json_string_value(json_object_get(violation, "clause")), "TREE-11");
    assert_string_equal(json_string_value(json_object_get(violation, "operation")), "leave");
    assert_int_equal(json_integer_value(json_object_get(violation, "request")), 2);
    json_decref(object);
    fclose(out);
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedule_of_four_requests),
        cmocka_unit_test(schedule_drops_and_retains),
        cmocka_unit_test(model_counts_by_hand),
        cmocka_unit_test(replay_of_the_small_trace),
        cmocka_unit_test(gains_are_those_of_the_papers),
        cmocka_unit_test(small_pools_reject_or_stop),
        cmocka_unit_test(too_many_sequences_are_rejected),
        cmocka_unit_test(generated_traces_have_no_violation),
        cmocka_unit_test(an_observer_ends_the_replay),
        cmocka_unit_test(ends_have_their_exit_status),
        cmocka_unit_test(every_breakage_is_reported),
        cmocka_unit_test(wrong_answers_are_reported),
        cmocka_unit_test(report_names_the_violation),
        cmocka_unit_test(report_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

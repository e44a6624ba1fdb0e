/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `chunkproof trace --tree opt` can fail: as test_trace_check.c, with the tree of
 * opt/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/status.h"
#include "small_trace.h"

static struct cp_opt_sequence *sequence(struct trace_replay *replay, int r) {
    return &replay->opt_tree->sequence[replay->handle[r]];
}

static int *path(struct trace_replay *replay, int r) {
    return replay->opt_tree->path +
           (size_t)replay->handle[r] * (size_t)replay->opt_tree->sizes.max_depth;
}

static void nothing(struct trace_replay *replay) {
    (void)replay;
}
static void other_token(struct trace_replay *replay) {
    replay->opt_tree->token[sequence(replay, 0)->tail * 2] += 1;
}
static void longer_tail(struct trace_replay *replay) {
    sequence(replay, 0)->room -= 1;
}
static void other_last(struct trace_replay *replay) {
    replay->opt_tree->chunk[path(replay, 0)[0]].last = replay->handle[0];
}
static void lost_chunk(struct trace_replay *replay) {
    replay->opt_tree->n_free -= 1;
    replay->opt_tree->fresh_chunk += 1;
    replay->opt_tree->chunk[replay->opt_tree->fresh_chunk - 1].first = replay->handle[0];
}
static void wrong_hash(struct trace_replay *replay) {
    replay->opt_tree->chunk[path(replay, 0)[0]].hash ^= 1;
}
static void same_id(struct trace_replay *replay) {
    sequence(replay, 1)->id = 0;
}
static void unknown_id(struct trace_replay *replay) {
    sequence(replay, 2)->id = 99;
}
static void wrong_handle(struct trace_replay *replay) {
    replay->handle[0] = replay->handle[1];
}
static void path_to_nowhere(struct trace_replay *replay) {
    path(replay, 1)[1] = -1;
    sequence(replay, 1)->tail = -1;
}
static void gone_sequence(struct trace_replay *replay) {
    replay->opt_tree->n_sequences -= 1;
}
static void newer_epoch(struct trace_replay *replay) {
    replay->opt_tree->stamp.epoch += 1;
}
static void older_epoch(struct trace_replay *replay) {
    replay->opt_tree->stamp.epoch -= 1;
}
static void newer_step(struct trace_replay *replay) {
    replay->opt_tree->stamp.step += 1;
}
static void plan_of_no_chunk(struct trace_replay *replay) {
    replay->checker.plan->sequence[0].run[0].chunk = -1;
}
static void model_with_a_chunk(struct trace_replay *replay) {
    replay->model.private_chunks += 1;
}
static void model_without_block(struct trace_replay *replay) {
    replay->model.references[2] = 0; /* of block 1, which only request 0 has */
}
static void model_with_shared(struct trace_replay *replay) {
    replay->model.shared_nodes += 1;
}
static void model_with_pair(struct trace_replay *replay) {
    replay->model.shared_pairs += 1;
}
static void model_with_token(struct trace_replay *replay) {
    replay->model.length[0] += 1;
}

struct breakage {
    const char *name;
    void (*apply)(struct trace_replay *replay);
    int after; /* operation number, see small_trace.h */
    int check;
    const char *clause;
    int kind, request; /* of the operation that finds it */
};

#define EVERY   TRACE_CHECK_EVERY
#define SAMPLED TRACE_CHECK_SAMPLED
static const struct breakage breakages[] = {
    {"a token of a join", other_token, 1, SAMPLED, "TREE-6", TRACE_JOIN, 0},
    {"a token, seen when all are compared", other_token, 2, EVERY, "TREE-6", TRACE_JOIN, 1},
    {"a longer tail", longer_tail, 1, SAMPLED, "TREE-6", TRACE_JOIN, 0},
    {"another last sequence", other_last, 2, EVERY, "TREE-5", TRACE_JOIN, 1},
    {"a chunk lost at a join", lost_chunk, 4, SAMPLED, "TREE-9", TRACE_JOIN, 2},
    {"a chunk lost while decoding", lost_chunk, 3, SAMPLED, "TREE-10", TRACE_DECODE, -1},
    {"a chunk lost at a leave", lost_chunk, 6, SAMPLED, "TREE-11", TRACE_LEAVE, 1},
    {"a wrong hash", wrong_hash, 1, EVERY, "TREE-8", TRACE_JOIN, 0},
    {"an id twice", same_id, 2, EVERY, "TREE-9", TRACE_JOIN, 1},
    {"an id twice, later", same_id, 3, EVERY, "TREE-11", TRACE_DECODE, -1},
    {"an unknown id", unknown_id, 5, EVERY, "TREE-11", TRACE_DECODE, -1},
    {"a wrong handle", wrong_handle, 3, EVERY, "TREE-11", TRACE_DECODE, -1},
    {"a wrong handle, in the next step", wrong_handle, 5, SAMPLED, "TREE-10", TRACE_DECODE, -1},
    {"a path to nowhere", path_to_nowhere, 2, SAMPLED, "TREE-3", TRACE_JOIN, 1},
    {"a sequence is gone", gone_sequence, 4, SAMPLED, "TREE-9", TRACE_JOIN, 2},
    {"an epoch too many", newer_epoch, 8, EVERY, "PLAN-6", TRACE_DECODE, -1},
    {"an epoch too few", older_epoch, 4, EVERY, "PLAN-6", TRACE_JOIN, 2},
    {"a step too many", newer_step, 3, SAMPLED, "PLAN-5", TRACE_DECODE, -1},
    {"a plan that is not exported anew", plan_of_no_chunk, 8, EVERY, "PLAN-2", TRACE_DECODE, -1},
    {"a model with a chunk more", model_with_a_chunk, 3, SAMPLED, "TREE-10", TRACE_DECODE, -1},
    {"a model without a block", model_without_block, 3, SAMPLED, "TREE-8", TRACE_JOIN, 2},
    {"a model with more shared", model_with_shared, 2, EVERY, "PLAN-1", TRACE_JOIN, 1},
    {"a model with more pairs", model_with_pair, 2, EVERY, "PLAN-3", TRACE_JOIN, 1},
    {"a model with a token more", model_with_token, 8, EVERY, "TREE-6", TRACE_DECODE, -1},
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
    struct trace_settings settings = small_trace_settings(20);
    struct breaking breaking = {breakage, 0};
    struct trace_figures figures;
    settings.check = breakage->check;
    settings.opt = 1;
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

/* The figures of a replay are those that the reference gives, whatever the pool has room for. */
static void figures_are_those_of_the_reference(void **state) {
    (void)state;
    for (int capacity = 1; capacity <= 8; capacity++) {
        struct trace trace = small_trace();
        struct trace_settings settings = small_trace_settings(capacity);
        struct trace_figures figures, expected;
        trace_replay(&trace, &settings, &expected);
        settings.opt = 1;
        trace_replay(&trace, &settings, &figures);
        figures.invariant_checks = expected.invariant_checks;
        assert_int_equal(figures.violation.clause[0], 0);
        assert_memory_equal(&figures, &expected, sizeof figures);
        trace_free(&trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_breakage_is_reported),
        cmocka_unit_test(figures_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `chunkproof trace` can fail: something is broken on purpose after an operation and
 * before its checks, in the tree, the plan or the model, and the replay must end with the right
 * violation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "chunkproof/status.h"
#include "cli/trace/report.h"
#include "small_trace.h"

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
static void other_token_2(struct trace_replay *replay) {
    replay->tree->tokens[last_chunk(replay, 2)].token[0] += 1;
}
static void other_token_3(struct trace_replay *replay) {
    replay->tree->tokens[last_chunk(replay, 3)].token[0] += 1;
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
static void newer_step(struct trace_replay *replay) {
    replay->tree->stamp.step += 1;
}
static void plan_of_no_chunk(struct trace_replay *replay) {
    replay->checker.plan->sequence[0].run[0].chunk = -1;
}
static void plan_of_other_path(struct trace_replay *replay) {
    replay->checker.plan->sequence[0].run[0].chunk = replay->checker.plan->sequence[0].run[1].chunk;
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
static void model_with_path(struct trace_replay *replay) {
    replay->model.path_chunks += 1;
}
static void model_with_token(struct trace_replay *replay) {
    replay->model.length[0] += 1;
}

struct breakage {
    const char *name;
    void (*apply)(struct trace_replay *replay);
    int after; /* operation number, see small_trace.h */
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
    {"a token of the one whose turn it is", other_token_2, 3, SAMPLED, 1, "TREE-6", TRACE_JOIN, 2},
    {"a token, seen when all are compared", other_token, 3, SAMPLED, 1, "TREE-6", TRACE_JOIN, 3},
    {"a token, seen at the end", other_token_3, 5, SAMPLED, 1, "TREE-6", TRACE_END, -1},
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
    {"a shorter path", shorter_path, 2, SAMPLED, 1, "TREE-4", TRACE_JOIN, 1},
    {"a path to nowhere", path_to_nowhere, 2, SAMPLED, 1, "TREE-3", TRACE_JOIN, 1},
    {"an epoch too many", newer_epoch, 8, EVERY, 0, "PLAN-6", TRACE_DECODE, -1},
    {"an epoch too few", older_epoch, 4, EVERY, 0, "PLAN-6", TRACE_JOIN, 2},
    {"a plan that is not rebuilt", plan_of_no_chunk, 8, EVERY, 0, "PLAN-2", TRACE_DECODE, -1},
    {"a plan of another path", plan_of_other_path, 8, EVERY, 0, "PLAN-2", TRACE_DECODE, -1},
    {"a step too many", newer_step, 3, SAMPLED, 0, "PLAN-5", TRACE_DECODE, -1},
    {"a model with a chunk more", model_with_a_chunk, 3, SAMPLED, 0, "TREE-10", TRACE_DECODE, -1},
    {"a model without a block", model_without_block, 3, SAMPLED, 0, "TREE-8", TRACE_JOIN, 2},
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
    struct trace_settings settings = small_trace_settings(20);
    struct breaking breaking = {breakage, 0};
    struct trace_figures figures;
    settings.check = breakage->check;
    settings.retain = breakage->retain;
    if (breakage->retain) { /* a fifth join, so that the last check is not one that compares all */
        small_trace_add(&trace, 950, 3, 0, (const int[]){0, 1});
    }
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
    static const int prompt[] = {0, 1, 2, 3}; /* of request 2 */
    struct cp_match match = cp_tree_lookup(tree, prompt, 4, 0, NULL);
    struct cp_joined joined = {0, 2};
    if (++*(int *)context != 3) {
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
    replay->model.live++;
    assert_int_equal(trace_check_unchanged(checker, 2, tree->stamp, tree->pool.n_free), -1);
    replay->model.live--;

    assert_int_equal(match.n_chunks, 2);
    assert_int_equal(trace_check_lookup(checker, 2, &match), 0);
    match.n_chunks = 1;
    assert_int_equal(trace_check_lookup(checker, 2, &match), -1);
    match.n_chunks = 2;
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
    joined.n_shared = 2;
    tree->fill[last_chunk(replay, 0)] -= 1;
    assert_int_equal(trace_check_joined(checker, 0, 1, &joined), -1);
    assert_string_equal(checker->violation.clause, "TREE-6");
    tree->fill[last_chunk(replay, 0)] += 1;

    assert_int_equal(trace_check_all(checker), 0);
    checker->plan->shared[0].position += 2; /* kept: there is nothing to rebuild */
    assert_int_equal(trace_check_all(checker), -1);
    assert_string_equal(checker->violation.clause, "PLAN-3");

    sequence(replay, 0)->n_chunks -= 1;
    assert_int_equal(trace_check_joined(checker, 0, 1, &joined), -1);
    assert_string_equal(checker->violation.clause, "TREE-6");
    sequence(replay, 0)->n_chunks += 1;
    sequence(replay, 0)->chunk[1] = tree->pool.capacity;
    assert_int_equal(trace_check_joined(checker, 0, 1, &joined), -1);
    assert_string_equal(checker->violation.clause, "TREE-3");

    int live = replay->model.live;
    assert_int_equal(trace_expect_join(checker, 2), CP_OK);
    replay->model.live = CP_MAX_SEQUENCES;
    assert_int_equal(trace_expect_join(checker, 2), CP_ERROR_SEQUENCES_FULL);
    replay->model.live = live;
    assert_int_equal(trace_expect_append(checker, 20 - 5), CP_OK);
    assert_int_equal(trace_expect_append(checker, 20 - 5 + 1), CP_ERROR_POOL_FULL);
    return 1;
}

static void wrong_answers_are_reported(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = small_trace_settings(20);
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

static const struct breakage lost_at_leave = {
    "a chunk lost at a leave", lost_chunk, 6, TRACE_CHECK_SAMPLED, 0, "TREE-11", TRACE_LEAVE, 1};

static void report_names_the_violation(void **state) {
    struct trace trace = small_trace();
    struct trace_settings settings = small_trace_settings(20);
    struct trace_figures figures = replay_with(&lost_at_leave);
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
    struct trace_settings settings = small_trace_settings(20);
    struct trace_figures figures = replay_with(&lost_at_leave);
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
        cmocka_unit_test(every_breakage_is_reported),
        cmocka_unit_test(wrong_answers_are_reported),
        cmocka_unit_test(report_names_the_violation),
        cmocka_unit_test(report_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

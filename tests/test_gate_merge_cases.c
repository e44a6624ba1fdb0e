/* SPDX-License-Identifier: Apache-2.0 */
/* MERGING-11: cases of a kernel that merges as files, made smaller, run again and explained. */
#define _POSIX_C_SOURCE 200809L /* readlink, mkstemp */

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/clock.h"
#include "cli/base/text.h"
#include "gate/merge/declared.h"
#include "gate/merge/replay.h"
#include "gate/merge/seen.h"
#include "gate/merge/shrink.h"
#include "tests/merge_made.h"
#include "tests/runner_files.h"

static const volatile int on = 0; /* never stops */
static const struct gate_until never = {&on, 0.0};

/* ---- Files ---- */

static void in_file(char name[32], const char *text) {
    (void)snprintf(name, 32, "/tmp/merging-XXXXXX");
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static void merging_11_a_case_in_a_file_is_the_same(void **state) {
    char name[32];
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct merge_found found = {.finding = {.verdict = GATE_OTHER_BITS, .of = gate_no_finding}};
        struct merge_case *cases = NULL;
        merge_recipe_make(&found.recipe, &plain, SEED + (1ULL << 63), i, 0, 0, WORK);
        merge_recipe_make(&found.before, &plain, SEED, i + 1, 0, 0, WORK);
        found.has_before = i % 3 == 0;
        found.finding.verdict = i % 2 == 0 ? GATE_OTHER_BITS : MERGE_ORDER;
        in_file(name, "");
        assert_int_equal(merge_case_save(name, &found, &plain), 0);
        assert_int_equal(merge_case_load(name, "replay", &cases), 1);
        assert_memory_equal(&cases->recipe, &found.recipe, sizeof found.recipe);
        assert_int_equal(cases->has_before, found.has_before);
        if (found.has_before) {
            assert_memory_equal(&cases->before, &found.before, sizeof found.before);
        }
        assert_int_equal(cases->other_bits, i % 2 == 0);
        assert_int_equal(cases->line, 0);
        free(cases);
        assert_int_equal(unlink(name), 0);
    }
}

/* A file with text in place of what stands there; -1 is what is to come of it. */
static int loads(const char *right, const char *wrong) {
    static const char whole[] =
        "{\"format\":\"chunkproof merging case 1\",\"recipe\":{\"values\":\"count\",\"n_parts\":2,"
        "\"n_rows\":3,\"n_heads\":4,\"head_dim\":5,\"empties\":false,\"o\":\"part-row\",\"l\":"
        "\"row-part\",\"lse\":\"head\",\"gaps\":true,\"asks_lse\":true,\"renewed\":false,\"seed\":"
        "\"7\"}}\n";
    char text[2 * sizeof whole + 200], name[32];
    const char *at = strstr(whole, right);
    struct merge_case *cases = NULL;
    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s%s", (int)(at - whole), whole, wrong,
                   at + strlen(right), whole);
    in_file(name, text);
    int n = merge_case_load(name, "replay", &cases);
    assert_true(n == 2 ? cases[1].line == 2 && cases[1].recipe.n_heads == 4 : cases == NULL);
    free(cases);
    assert_int_equal(unlink(name), 0);
    return n;
}

static void merging_11_a_malformed_case_is_refused(void **state) {
    static const char *const wrong[][2] = {
        {"merging case 1", "case 1"},
        {"\"count\"", "\"counts\""},
        {"\"n_parts\":2", "\"n_parts\":0"},
        {"\"n_parts\":2", "\"n_parts\":1001"},
        {"\"n_rows\":3", "\"n_rows\":65537"},
        {"\"n_rows\":3", "\"n_rows\":0"},
        {"\"n_heads\":4", "\"n_heads\":1025"},
        {"\"n_heads\":4", "\"n_heads\":\"4\""},
        {"\"head_dim\":5", "\"head_dim\":4097"},
        {"\"head_dim\":5", "\"head_dim\":-1"},
        {"\"part-row\"", "\"head\""},
        {"\"row-part\"", "3"},
        {"\"lse\":\"head\"", "\"lse\":\"part-row\""},
        {"\"7\"", "\"-7\""},
        {"\"7\"", "\"18446744073709551616\""},
        {"\"7\"", "7"},
        {"}}", "}"},
    };
    (void)state;
    assert_int_equal(loads("\"7\"", "\"18446744073709551615\""), 2);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (loads(wrong[i][0], wrong[i][1]) != -1) {
            fail_msg("taken: %s", wrong[i][1]);
        }
    }
}

/* ---- What no call has ---- */

static void merging_11_a_case_of_another_kernel_may_be_excluded(void **state) {
    struct merge_recipe r = {.n_parts = 3,
                             .n_rows = 1,
                             .n_heads = 1,
                             .head_dim = 4,
                             .o = 2,
                             .l = 3,
                             .lse = 2,
                             .gaps = 1,
                             .asks_lse = 1,
                             .empties = 1};
    struct cp_merge_kernel k = plain;
    (void)state;
    assert_null(merge_recipe_excluded(&r, &k));
#define EXCLUDES(change, words)                                                                    \
    do {                                                                                           \
        k = plain;                                                                                 \
        k.change;                                                                                  \
        assert_non_null(merge_recipe_excluded(&r, &k));                                            \
        assert_non_null(strstr(merge_recipe_excluded(&r, &k), words));                             \
    } while (0)
    EXCLUDES(least_parts = 4, "least_parts excludes");
    EXCLUDES(most_parts = 2, "most_parts excludes");
    EXCLUDES(layout.o = 1, "layout.o excludes");
    EXCLUDES(layout.l = 1, "layout.l excludes");
    EXCLUDES(layout.lse = 1, "layout.lse excludes");
    EXCLUDES(layout.gaps = CP_GAPS_NONE, "layout.gaps excludes");
    EXCLUDES(lse = CP_LSE_NEVER, "lse excludes: log-sum-exps");
    EXCLUDES(never = CP_NEVER_EMPTY_PARTS, "never excludes");
    r.asks_lse = 0;
    EXCLUDES(lse = CP_LSE_ALWAYS, "lse excludes: no log-sum-exps");
    EXCLUDES(in_place = 1, "lse excludes: no log-sum-exps");
}

/* ---- In a process ---- */

static struct runner *start_with(const char *name, double seconds) {
    const struct run_limits limits = {
        .seconds = seconds, .bytes = (size_t)1 << 32, .heap = 1 << 30};
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner = NULL;
    if (runner_new(&runner, own_program(program), beside(file, name), &limits, error) != 0) {
        fail_msg("%s: %s", name, error);
    }
    return runner;
}

static struct runner *start(const char *name) {
    return start_with(name, 20.0);
}

/* ---- Asked for sizes ---- */

#define SLOW    "gate/merge_slow.so" /* refuses each of 1,000 sizes, after 20 ms */
#define IN_TIME 8.0                  /* seconds: less than it would take for all of them */

static double seconds_of(struct runner *runner, const struct gate_until *until,
                         struct merge_found *found, struct merge_counts *counts) {
    static const struct gate_options options = {.tier = GATE_QUICK, .seed = SEED};
    double began = seconds_now();
    assert_int_equal(merge_check_case(&options, runner, 0, until, found, counts), 0);
    return seconds_now() - began;
}

static void merging_11_a_case_has_the_time_of_a_call(void **state) {
    struct runner *runner = start_with(SLOW, 0.5);
    struct merge_counts counts = {.runs = 0};
    struct merge_found found;
    (void)state;
    assert_true(seconds_of(runner, &never, &found, &counts) < IN_TIME);
    assert_non_null(strstr(found.finding.of.text, "took the time of a call before they took any"));
    assert_int_equal(counts.ended, 0);
    runner_free(runner);
}

static void merging_11_the_deadline_ends_what_is_asked(void **state) {
    static const volatile int rang = 1;
    const struct gate_until soon = {&on, seconds_now() + 0.3}, now = {&rang, 0.0};
    struct runner *runner = start(SLOW);
    struct merge_counts counts = {.runs = 0};
    struct merge_found found;
    (void)state;
    assert_true(seconds_of(runner, &soon, &found, &counts) < IN_TIME);
    assert_int_equal(counts.ended, 1);
    counts.ended = 0;
    assert_true(seconds_of(runner, &now, &found, &counts) < IN_TIME);
    assert_int_equal(counts.ended, 1);
    runner_free(runner);
}

static struct runner *start_slow(void *context) {
    (void)context;
    return start(SLOW);
}

/* The case that the end came into is neither run nor refused, be it the last one. */
static void merging_11_the_time_of_a_run_ends_its_last_case(void **state) {
    const struct gate_options options = {.cases = 1, .only = -1, .jobs = 1, .time = 0.3};
    struct merge_result *result = calloc(1, sizeof *result);
    struct runner *runner = start(SLOW);
    double began = seconds_now();
    (void)state;
    assert_non_null(result);
    assert_int_equal(merge_check(&options, runner, start_slow, NULL, result, &on), 0);
    assert_true(seconds_now() - began < IN_TIME);
    assert_true(result->is_late && !result->interrupted);
    assert_int_equal(result->cases + result->refused, 0);
    assert_string_equal(merge_no_answer(result), "--time left too few cases");
    runner_free(runner);
    free(result);
}

/* ---- Cases ---- */

/* The first case of a seed with this verdict. */
static struct merge_found find(struct runner *runner, int verdict) {
    static const struct gate_options options = {.tier = GATE_QUICK, .seed = SEED};
    struct merge_counts counts = {.runs = 0};
    struct merge_found found;
    for (int i = 0; i < 400; i++) {
        assert_int_equal(merge_check_case(&options, runner, i, &never, &found, &counts), 1);
        if (found.finding.verdict == verdict) {
            return found;
        }
    }
    fail_msg("no case has this verdict");
    return found;
}

static void merging_11_a_case_becomes_smaller(void **state) {
    static const struct gate_shape any, of_32 = {.head_dim = 32};
    struct runner *runner = start("gate/cheats/merge_few.so");
    struct merge_found found = find(runner, GATE_WRONG), other = found;
    struct merge_finding again;
    (void)state;
    assert_true(merge_shrink(runner, &found, &any, 20.0, &on) > 10);
    const struct merge_recipe *r = &found.recipe;
    assert_int_equal(found.finding.verdict, GATE_WRONG);
    assert_true(r->n_parts > 64 && r->n_parts < other.recipe.n_parts);
    assert_true(r->n_parts < 70); /* numbers are others with each size */
    assert_int_equal(r->n_rows * r->n_heads * r->head_dim, 1);
    assert_true(r->o == 1 && r->l == 1 && r->lse == 1 && !r->gaps && !r->asks_lse);
    assert_int_equal(r->values, MERGE_COUNT);
    assert_int_equal(merge_check_recipe(runner, r, 0, &again), 1);
    assert_string_equal(again.of.text, found.finding.of.text);
    other.recipe.head_dim = 32;
    assert_true(merge_shrink(runner, &other, &of_32, 20.0, &on) >= 0);
    assert_int_equal(other.recipe.head_dim, 32);
    runner_free(runner);
}

static void merging_11_the_laws_name_what_is_kept(void **state) {
    struct runner *runner = start("gate/cheats/merge_kept.so");
    struct merge_recipe recipe;
    struct merge_finding finding;
    int remembers = 0;
    (void)state;
    for (int i = 0; i < 12; i++) {
        runner_restart(runner);
        merge_recipe_make(&recipe, runner_merge_kernel(runner), SEED, i, 0, 0, WORK);
        assert_int_equal(merge_check_recipe(runner, &recipe, 0, &finding), 1);
        assert_int_not_equal(finding.verdict, MERGE_ORDER);
        remembers += finding.verdict == GATE_REMEMBERS;
    }
    assert_true(remembers > 6);
    runner_free(runner);
}

/* What explain prints, which the caller frees. */
static char *explained(struct runner *runner, const struct merge_case *one) {
    static const struct gate_options options = {.explain = 1, .time = 60.0, .command = "explain"};
    struct merge_finding finding;
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_open(&text, &size);
    assert_int_equal(merge_replay(out, &options, runner, one, &on, &finding), 1);
    assert_int_not_equal(finding.verdict, GATE_RIGHT);
    text_close(out);
    return text;
}

static void merging_11_what_wrong_rows_share_is_said(void **state) {
    struct runner *runner = start("gate/cheats/merge_few.so");
    struct merge_case one = {.recipe = find(runner, GATE_WRONG).recipe};
    (void)state;
    char *text = explained(runner, &one);
    if (strstr(text, "each has 65 parts or more; with 64 or fewer all") == NULL ||
        strstr(text, "only the first 64 parts count") == NULL || strstr(text, "must be ") == NULL ||
        strstr(text, "weight") == NULL) {
        fail_msg("%s", text);
    }
    free(text);
    runner_free(runner);
}

static void merging_11_what_needs_an_earlier_case_is_said(void **state) {
    struct runner *runner = start("gate/cheats/merge_kept.so");
    struct merge_case one = {.has_before = 1};
    (void)state;
    merge_recipe_make(&one.before, runner_merge_kernel(runner), SEED, 2, 0, 16, WORK);
    merge_recipe_make(&one.recipe, runner_merge_kernel(runner), SEED, 14, 0, 16, WORK);
    one.before.n_rows = one.recipe.n_rows = one.before.n_heads = one.recipe.n_heads = 2;
    char *text = explained(runner, &one);
    if (strstr(text, "after this case, in the same process: normal values, 2 parts") == NULL ||
        strstr(text, "in a fresh process: remembers: right in a new process, but wrong") == NULL) {
        fail_msg("%s", text);
    }
    free(text);
    /* A case before it that the kernel does not take. */
    static const struct gate_options options = {.command = "replay"};
    struct merge_finding finding;
    one.before.n_parts = 3;
    assert_int_equal(merge_replay(stdout, &options, runner, &one, &on, &finding), 0);
    assert_non_null(strstr(finding.of.text, "cp_merge_kernel.most_parts excludes"));
    runner_free(runner);
}

/* ---- What wrong rows and heads have in common ---- */

/* Makes numbers wrong where `is_wrong` says so, and returns what is said of them: from an
 * element on; -1: log-sum-exps alone; -2: all. */
static char *said(const struct cp_merge_kernel *kernel, int element,
                  int (*is_wrong)(const struct merge_problem *, int row, int head)) {
    struct merge_seen *seen = calloc(1, sizeof *seen);
    char *text = NULL;
    size_t size = 0;
    assert_non_null(seen);
    for (int i = 0; i < CASES; i++) {
        struct made m;
        make_of(&m, kernel, i, 8);
        answer(&m.a);
        for (int x = 0; x < m.recipe.n_rows * m.recipe.n_heads; x++) {
            int row = x / m.recipe.n_heads, head = x % m.recipe.n_heads;
            int first = element < 0 ? -1 : element, end = element == -1 ? 0 : 8;
            for (int e = first; e < end && is_wrong(&m.p, row, head); e++) {
                if (e >= 0 || m.recipe.asks_lse) {
                    put(&m.a, row, head, e, 1e9);
                }
            }
        }
        assert_int_equal(merge_see(seen, &m.a), 0);
        done(&m);
    }
    FILE *out = text_open(&text, &size);
    merge_say_seen(out, seen);
    text_close(out);
    free(seen);
    return text;
}

static void has_and_has_not(char *text, const char *words, const char *no_words) {
    if (strstr(text, words) == NULL || (no_words != NULL && strstr(text, no_words) != NULL)) {
        fail_msg("not '%s', or '%s', in:\n%s", words, no_words != NULL ? no_words : "", text);
    }
    free(text);
}

static int all(const struct merge_problem *p, int row, int head) {
    (void)p;
    return row + head >= 0;
}

static int no_first_head(const struct merge_problem *p, int row, int head) {
    (void)p;
    return row >= 0 && head > 0;
}

static int later_rows(const struct merge_problem *p, int row, int head) {
    (void)p;
    return row > 1 && head >= 0;
}

static int with_empty(const struct merge_problem *p, int row, int head) {
    for (int i = 0; i < merge_parts_of(p, row); i++) {
        if (merge_l_of(p, row, i, head) == -INFINITY) {
            return 1;
        }
    }
    return 0;
}

static int with_empty_later(const struct merge_problem *p, int row, int head) {
    return head > 0 && with_empty(p, row, head);
}

static int without_keys(const struct merge_problem *p, int row, int head) {
    return !merge_has_keys(p, row, head);
}

static int many_parts(const struct merge_problem *p, int row, int head) {
    return merge_parts_of(p, row) > 8 && head >= 0;
}

static int few_parts(const struct merge_problem *p, int row, int head) {
    return merge_parts_of(p, row) < 4 && head >= 0;
}

static int odd_parts(const struct merge_problem *p, int row, int head) {
    return merge_parts_of(p, row) % 2 != 0 && head >= 0;
}

static int below_0(const struct merge_problem *p, int row, int head) {
    double most = -INFINITY;
    for (int i = 0; i < merge_parts_of(p, row); i++) {
        most = fmax(most, merge_l_of(p, row, i, head));
    }
    return most < 0.0 && most > -INFINITY;
}

static int by_strides(const struct merge_problem *p, int row, int head) {
    return row + head >= 0 && p->recipe.gaps;
}

static int by_row_part(const struct merge_problem *p, int row, int head) {
    return row + head >= 0 && p->recipe.o == CP_O_ORDER_ROW_PART;
}

static int by_part_head(const struct merge_problem *p, int row, int head) {
    return row + head >= 0 && p->recipe.l == CP_L_ORDER_PART_HEAD;
}

static void merging_11_common_properties_are_named(void **state) {
    struct cp_merge_kernel k = plain;
    (void)state;
    has_and_has_not(said(&k, 0, all), "no row and head is right", "all of these");
    has_and_has_not(said(&k, 0, no_first_head), "none of these is head 0: those are right",
                    "row 0");
    has_and_has_not(said(&k, 0, later_rows), "none of these is row 0, or one right behind it",
                    "head 0");
    has_and_has_not(said(&k, 0, with_empty), "and none of the right ones, have a part without keys",
                    "no key in any part");
    has_and_has_not(said(&k, 0, with_empty_later), "none of these is head 0",
                    "and none of the right ones, have a part without keys");
    has_and_has_not(said(&k, 0, without_keys), "have no key in any part", "an odd number");
    has_and_has_not(said(&k, 0, many_parts), "each has 9 parts or more; with 8 or fewer all",
                    "head 0");
    has_and_has_not(said(&k, 0, few_parts), "each has 3 parts or fewer; with 4 or more all",
                    "an odd number");
    has_and_has_not(said(&k, 0, odd_parts), "have an odd number of parts", "without keys");
    has_and_has_not(said(&k, 0, below_0), "have log-sum-exps below 0 alone", "an odd number");
    has_and_has_not(said(&k, 0, by_strides), "have gaps between rows or heads", "[row][part]");
    has_and_has_not(said(&k, 0, by_row_part), "have outputs by [row][part][head][d]", "gaps");
    has_and_has_not(said(&k, 0, by_part_head), "have log-sum-exps by [part][head][row]", "gaps");
}

static void merging_11_wrong_elements_are_named(void **state) {
    struct cp_merge_kernel k = plain;
    (void)state;
    k.lse = CP_LSE_ALWAYS;
    has_and_has_not(said(&k, -1, all), "all outputs are right, and log-sum-exps are wrong",
                    "elements");
    has_and_has_not(said(&k, 0, all), "all log-sum-exps are right, and outputs are wrong",
                    "elements");
    has_and_has_not(said(&k, 5, all),
                    "elements below 5 are right in all: wrong are those from 5 to "
                    "7 of 8",
                    NULL);
}

/* Rows without keys that give -FLT_MAX. */
static void merging_11_a_number_for_no_keys_is_named(void **state) {
    struct cp_merge_kernel k = plain;
    struct merge_seen *seen = calloc(1, sizeof *seen);
    char *text = NULL;
    size_t size = 0;
    (void)state;
    assert_non_null(seen);
    k.lse = CP_LSE_ALWAYS;
    for (int i = 0; i < CASES; i++) {
        struct made m;
        make_of(&m, &k, i, 8);
        answer(&m.a);
        for (int x = 0; x < m.recipe.n_rows * m.recipe.n_heads; x++) {
            int row = x / m.recipe.n_heads, head = x % m.recipe.n_heads;
            if (!merge_has_keys(&m.p, row, head)) {
                put(&m.a, row, head, -1, -(double)FLT_MAX);
            }
        }
        assert_int_equal(merge_see(seen, &m.a), 0);
        done(&m);
    }
    FILE *out = text_open(&text, &size);
    merge_say_seen(out, seen);
    text_close(out);
    free(seen);
    has_and_has_not(text, "are -3.40282347e+38: `.empty_lse = CP_EMPTY_VALUE` and",
                    "no row and head");
}

/* ---- Other declarations ---- */

/* What is left of all declarations for the answers of a kernel that declares otherwise. */
static char *declared(const struct cp_merge_kernel *does, const struct cp_merge_kernel *declares) {
    unsigned long long left = (1ULL << merge_declarations()) - 1;
    char *text = NULL;
    size_t size = 0;
    for (int i = 0; i < CASES / 2; i++) {
        struct made m;
        make_of(&m, does, i, 8);
        answer(&m.a);
        m.p.kernel = declares;
        assert_int_equal(merge_try_declarations(&m.a, &left), 0);
        m.p.kernel = does;
        done(&m);
    }
    FILE *out = text_open(&text, &size);
    assert_true(merge_say_declarations(out, left) <= 4);
    text_close(out);
    return text;
}

static void merging_11_the_other_convention_is_named(void **state) {
    struct cp_merge_kernel k = plain, other = plain;
    (void)state;
    k.lse = other.lse = CP_LSE_ALWAYS;
    other.base = CP_BASE_2;
    has_and_has_not(declared(&other, &k), ".base = CP_BASE_2", "empty");
    has_and_has_not(declared(&k, &other), ".base = CP_BASE_E", "empty");
    other = k;
    other.empty_out = CP_EMPTY_NAN;
    has_and_has_not(declared(&other, &k), ".empty_out = CP_EMPTY_NAN", "base");
    other = k;
    other.empty_lse = CP_EMPTY_NAN;
    has_and_has_not(declared(&other, &k), ".empty_lse = CP_EMPTY_NAN", "base");
}

/* Numbers that no declaration makes right, and one that has no bound for parts given by sums. */
static void merging_11_a_declaration_without_bounds_is_not_named(void **state) {
    unsigned long long left = (1ULL << merge_declarations()) - 1;
    struct cp_merge_kernel k = plain;
    struct made m;
    (void)state;
    k.form = CP_FORM_SUMS;
    make_of(&m, &k, 2, 8);
    answer(&m.a);
    for (int e = 0; e < 8; e++) {
        put(&m.a, 0, 0, e, 1e30);
    }
    assert_int_equal(merge_try_declarations(&m.a, &left), 0);
    assert_true(left == 0);
    done(&m);
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_11_a_case_in_a_file_is_the_same),
        cmocka_unit_test(merging_11_a_malformed_case_is_refused),
        cmocka_unit_test(merging_11_a_case_of_another_kernel_may_be_excluded),
        cmocka_unit_test(merging_11_a_case_has_the_time_of_a_call),
        cmocka_unit_test(merging_11_the_deadline_ends_what_is_asked),
        cmocka_unit_test(merging_11_the_time_of_a_run_ends_its_last_case),
        cmocka_unit_test(merging_11_a_case_becomes_smaller),
        cmocka_unit_test(merging_11_the_laws_name_what_is_kept),
        cmocka_unit_test(merging_11_what_wrong_rows_share_is_said),
        cmocka_unit_test(merging_11_what_needs_an_earlier_case_is_said),
        cmocka_unit_test(merging_11_common_properties_are_named),
        cmocka_unit_test(merging_11_wrong_elements_are_named),
        cmocka_unit_test(merging_11_a_number_for_no_keys_is_named),
        cmocka_unit_test(merging_11_the_other_convention_is_named),
        cmocka_unit_test(merging_11_a_declaration_without_bounds_is_not_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

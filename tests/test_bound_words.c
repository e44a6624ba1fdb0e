/* SPDX-License-Identifier: Apache-2.0 */
/* What `chunkproof bound` says: of a sink that is too far away, of changed scores, of each number.
 * Rows of two keys; expected scores by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/text.h"
#include "cli/bound/bound.h"

#define DIM 3

/* Scores 3 and -1 of keys of one number, values of DIM numbers. */
static void two_keys(struct bound_row *row) {
    assert_int_equal(bound_row_new(row, 2, 1, DIM), 0);
    row->scale = 1.0;
    row->q[0] = 1.0;
    row->k[0] = 3.0;
    row->k[1] = -1.0;
    for (int x = 0; x < DIM; x++) {
        row->v[x] = 1.0 + x;
        row->v[DIM + x] = 5.0 - x;
    }
}

static struct bound_options read_options(int argc, char **argv) {
    struct bound_options o;
    assert_int_equal(bound_options_parse(&o, argc, argv), 0);
    return o;
}

static struct bound_options plain(void) {
    char *argv[] = {"bound", NULL};
    return read_options(1, argv);
}

/* NUM-10, NUM-15: the sink that is named has a bound, and one of twice the size may have none. */
static void a_sink_too_far_away_is_named_with_one_that_is_not(void **unused) {
    static const double sinks[] = {-1e30, 1e30, -2e9};
    struct bound_row row;
    struct bound_figures f;
    char text[BOUND_TEXT];
    (void)unused;
    two_keys(&row);
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        struct bound_options o = plain();
        o.has_sink = 1;
        o.sink = sinks[i];
        assert_int_equal(bound_figures(&o, &row, &f), 0);
        assert_true(f.claimed == 0 && f.reason == REASON_LEFT);
        bound_reason_text(&o, &row, &f, text, sizeof text);
        assert_non_null(strstr(text, "the sink of "));
        assert_non_null(
            strstr(text, sinks[i] < 0.0 ? "attention is the same without it" : "attention is 0"));
        const char *with = strstr(text, "and with --sink ");
        assert_non_null(with);
        double near = strtod(with + strlen("and with --sink "), NULL);
        assert_true(near * sinks[i] > 0.0 && fabs(near) > 1e5);
        o.sink = near;
        assert_int_equal(bound_figures(&o, &row, &f), 0);
        assert_int_equal(f.claimed, DIM);
        o.sink = 2.0 * near;
        assert_int_equal(bound_figures(&o, &row, &f), 0);
        assert_int_equal(f.claimed, 0);
    }
    bound_row_free(&row);
}

/* A sink is blamed only where it is the reason. */
static void a_score_too_large_is_no_sink(void **unused) {
    struct bound_row row;
    struct bound_figures f;
    struct bound_options o = plain();
    char text[BOUND_TEXT];
    (void)unused;
    two_keys(&row);
    row.k[0] = 1e9;
    o.has_sink = 1;
    o.sink = -2.0;
    assert_int_equal(bound_figures(&o, &row, &f), 0);
    assert_int_equal(f.reason, REASON_LEFT);
    bound_reason_text(&o, &row, &f, text, sizeof text);
    assert_null(strstr(text, "the sink of "));
    assert_non_null(strstr(text, "A score is too large"));
    bound_row_free(&row);
}

/* SCORE-1, SCORE-3: 2 tanh(3 / 2) = 1.81; a sink is no score of a key. */
static void scores_are_said_before_and_after_they_are_changed(void **unused) {
    struct bound_row row;
    struct bound_figures f;
    struct bound_options o = plain();
    char *text;
    size_t size;
    (void)unused;
    two_keys(&row);
    o.has_cap = 1;
    o.cap = 2.0;
    o.has_sink = 1;
    o.sink = -7.0;
    assert_int_equal(bound_figures(&o, &row, &f), 0);
    assert_true(f.largest_plain == 3.0 && f.largest_score == 7.0);
    assert_true(fabs(f.largest_changed - 2.0 * tanh(1.5)) < 1e-9);
    FILE *out = text_open(&text, &size);
    bound_print_text(out, &o, &row, &f);
    text_close(out);
    assert_non_null(strstr(text, "scores up to 3, "));
    assert_non_null(strstr(text, "scores up to 1.81 once changed, scores capped at 2 "));
    free(text);
    bound_row_free(&row);
}

/* NUM-10: each number's B is there, and the summary is of these. */
static void each_number_has_its_bound(void **unused) {
    double attention[DIM], bound[DIM], rms[DIM], w = exp(-4.0);
    struct bound_numbers each = {attention, bound, rms};
    struct bound_row row;
    struct bound_figures f;
    struct bound_options o = plain();
    double largest = 0.0, usual = 0.0;
    (void)unused;
    two_keys(&row);
    assert_int_equal(bound_figures_each(&o, &row, &f, &each), 0);
    for (int x = 0; x < DIM; x++) {
        double expected = (1.0 + x + w * (5.0 - x)) / (1.0 + w);
        assert_true(fabs(attention[x] - expected) < 1e-12);
        assert_true(bound[x] > rms[x] && rms[x] > 0.0);
        largest = fmax(largest, bound[x]);
        usual = fmax(usual, rms[x]);
    }
    assert_true(largest == f.bound.largest && usual == f.rms.largest);
    assert_true(bound[0] != bound[2]);
    bound_row_free(&row);
}

/* NUM-15: a slope is a normal number of the type that kernels have it in, or 0. */
static void a_slope_or_a_cap_is_a_normal_number(void **unused) {
    static const struct {
        char *option, *value, *score;
        int refused;
    } lines[] = {
        {"--slope", "1e-40", "sequential", 1}, {"--slope", "-1e-40", "pairwise", 1},
        {"--slope", "1e-5", "fp16", 1},        {"--cap", "1e-5", "fp16", 1},
        {"--slope", "0", "sequential", 0},     {"--slope", "-1.2e-38", "sequential", 0},
        {"--slope", "1e-5", "bf16", 0},        {"--slope", "6.2e-5", "fp16", 0},
        {"--cap", "1e-5", "bf16", 0},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *argv[] = {"bound", lines[i].option, lines[i].value, "--score", lines[i].score, NULL};
        struct bound_options o;
        assert_int_equal(bound_options_parse(&o, 5, argv), -lines[i].refused);
    }
    char *promoted[] = {"bound", "--slope=1e-5", "--score=fp16", "--score-promotes=4", NULL};
    (void)read_options(4, promoted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sink_too_far_away_is_named_with_one_that_is_not),
        cmocka_unit_test(a_score_too_large_is_no_sink),
        cmocka_unit_test(scores_are_said_before_and_after_they_are_changed),
        cmocka_unit_test(each_number_has_its_bound),
        cmocka_unit_test(a_slope_or_a_cap_is_a_normal_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

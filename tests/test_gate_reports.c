/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate's reports (gate/report/) say of a result made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/report/report.h"
#include "tests/plain_kernel.h"

#define WORK 200000

/* An interval ends where the next one begins, and 1 is within the bound. */
static void intervals_have_no_gaps(void **state) {
    (void)state;
    assert_int_equal(gate_ratio_interval(0.0), 0);
    assert_int_equal(gate_ratio_interval(0x1p-12), 0);
    assert_int_equal(gate_ratio_interval(1.0), GATE_RATIO_ONE);
    assert_int_equal(gate_ratio_interval(nextafter(1.0, 2.0)), GATE_RATIO_ONE + 1);
    assert_int_equal(gate_ratio_interval(INFINITY), GATE_RATIOS - 1);
    for (int i = 0; i < GATE_RATIOS - 1; i += 2) { /* those that end at a power of 2 */
        double end = ldexp(1.0, (i - GATE_RATIO_ONE) / 2);
        assert_int_equal(gate_ratio_interval(end), i);
        assert_int_equal(gate_ratio_interval(end * (1.0 + 1e-9)), i + 1);
    }
    assert_int_equal(gate_keys_interval(0), 0);
    for (int i = 1; i < GATE_KEYS; i++) {
        assert_int_equal(gate_keys_interval(1 << (i - 1)), i);
        assert_int_equal(gate_keys_interval((1 << i) - 1), i);
    }
    assert_int_equal(gate_keys_interval(1 << 30), GATE_KEYS - 1);
}

static void strange_texts_are_made_clean(void **state) {
    static const struct {
        const char *text, *clean;
    } texts[] = {
        {"", ""},
        {"plain <&\">", "plain <&\">"},
        {"\x1b[31m\n\t\x7f", "\\x1B[31m\\x0A\\x09\\x7F"},
        {"\xc3\xa9 \xf0\x9f\x98\x80", "\xc3\xa9 \xf0\x9f\x98\x80"},
        {"\xff \xc3", "\\xFF \\xC3"},                                       /* stray, cut off */
        {"\xc0\xaf", "\\xC0\\xAF"},                                         /* overlong */
        {"\xed\xa0\x80", "\\xED\\xA0\\x80"},                                /* a surrogate */
        {"\xe2\x80\xae b\xe2\x80\xac", "\\xE2\\x80\\xAE b\\xE2\\x80\\xAC"}, /* order */
        {"\xe2\x81\xa6 b\xe2\x81\xa9", "\\xE2\\x81\\xA6 b\\xE2\\x81\\xA9"},
        {"\xd8\x9c\xe2\x80\x8f\xe2\x80\x90", "\\xD8\\x9C\\xE2\\x80\\x8F\xe2\x80\x90"},
        {"\xc2\x85 \xef\xbf\xbf", "\\xC2\\x85 \\xEF\\xBF\\xBF"}, /* control, no character */
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *clean = text_clean(texts[i].text), *again = text_clean(clean);
        assert_string_equal(clean, texts[i].clean);
        assert_string_equal(again, clean);
        free(clean);
        free(again);
    }
}

/* One wrong case, with texts that are not UTF-8. */
static void strange_result(struct gate_result *r) {
    struct gate_found found = {.finding = gate_no_finding};
    memset(r, 0, sizeof *r);
    found.finding.verdict = GATE_WRONG;
    gate_finding_breaks(&found.finding, "NUM-10");
    found.finding.got = NAN;
    found.finding.bound = INFINITY;
    (void)snprintf(found.finding.text, sizeof found.finding.text, "out is \xff\x01");
    (void)snprintf(found.file, sizeof found.file, "a b\xfe.json");
    gate_recipe_make(&found.recipe, 1, 0, 0, WORK, NULL);
    r->cases = r->verdicts[GATE_WRONG] = 1;
    r->found[GATE_WRONG] = found;
    r->tally[found.recipe.values].cases = r->tally[found.recipe.values].verdicts[GATE_WRONG] = 1;
    r->tally[found.recipe.values].largest = INFINITY;
    r->tally[found.recipe.values].smallest = found;
}

static char *printed(int (*print)(FILE *file, const struct gate_report *report),
                     const struct gate_report *report) {
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(print(file, report), 0);
    long size = ftell(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

/* No report leaves a finding out because of its texts. */
static void strange_findings_are_reported(void **state) {
    int (*const print[])(FILE * file, const struct gate_report *report) = {
        gate_print_json, gate_print_junit, gate_print_html};
    static struct gate_result result;
    struct gate_options options = {.kernel = "it's", .save = "a b", .seed = 1, .only = -1};
    struct gate_report report = {&options, &plain, &result, 0, NULL};
    (void)state;
    strange_result(&result);
    for (size_t i = 0; i < sizeof print / sizeof print[0]; i++) {
        char *text = printed(print[i], &report);
        assert_non_null(strstr(text, i == 0 ? "out is \\\\xFF\\\\x01" : "out is \\xFF\\x01"));
        assert_non_null(strstr(text, i == 0 ? "'a b\\\\xFE.json' --kernel 'it'\\\\''s'"
                                            : "'a b\\xFE.json' --kernel 'it'\\''s'"));
        free(text);
    }
}

/* What most cases show comes first: of a race a few show wrong numbers, too. */
static void frequent_findings_come_first(void **state) {
    static struct gate_result result;
    const int expected[] = {GATE_RACES, GATE_WRONG, GATE_OTHER_BITS, GATE_HANGS};
    int order[GATE_VERDICTS];
    (void)state;
    memset(&result, 0, sizeof result);
    assert_int_equal(gate_found_order(result.verdicts, GATE_VERDICTS, order), 0);
    result.verdicts[GATE_RIGHT] = 400;
    result.verdicts[GATE_WRONG] = result.verdicts[GATE_OTHER_BITS] = 3;
    result.verdicts[GATE_HANGS] = 1;
    result.verdicts[GATE_RACES] = 90;
    assert_int_equal(gate_found_order(result.verdicts, GATE_VERDICTS, order), 4);
    assert_memory_equal(order, expected, sizeof expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_have_no_gaps),
        cmocka_unit_test(strange_texts_are_made_clean),
        cmocka_unit_test(strange_findings_are_reported),
        cmocka_unit_test(frequent_findings_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `chunkproof show`: what has no effect is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/show/options.h"

/* What show_read_options() says of up to nine arguments; the last one is NULL. */
static int read_line(char *const *argument) {
    struct show_options options;
    char *line[11] = {"show"};
    int n = 1;
    for (; argument[n - 1] != NULL; n++) {
        line[n] = argument[n - 1];
    }
    return show_read_options(&options, n, line);
}

static void what_has_no_effect_is_refused(void **unused) {
    static char *const lines[][10] = {
        {"-f", "json", "-w", "100", "a"},
        {"-f", "dot", "--width", "80", "a"},
        {"-f", "json", "--ascii", "a"},
        {"--ascii", "-f", "dot", "a"},
        {"-f", "dot", "--page-size", "2", "a"},
        {"-f", "json", "--steps", "a"},
        {"--source", "--example", "figure2", "--window", "3"},
        {"--steps", "--source", "--example", "figure2"},
        {"--script", "-", "--mask", "-"},
        {"--mask", "-", "-"},
        {"--window", "3", "--window", "5", "a"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(read_line(lines[i]), -1);
    }
}

static void what_has_one_is_not(void **unused) {
    static char *const lines[][10] = {
        {"-f", "svg", "-w", "100", "--ascii", "a"},
        {"-f", "text", "-w", "100", "--ascii", "--steps", "a"},
        {"-f", "json", "--window", "3", "a"},
        {"-f", "dot", "--steps", "a"},
        {"--source", "--example", "figure2"},
        {"--mask", "-", "a"},
        {"--mask", "file", "-"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(read_line(lines[i]), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_effect_is_refused),
        cmocka_unit_test(what_has_one_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

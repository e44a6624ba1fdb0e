/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of all sub-commands: an option with a value counts once. */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/argument.h"

static const struct option names[] = {
    {"window", required_argument, NULL, 'w'}, {"word", required_argument, NULL, 'x'},
    {"peer", required_argument, NULL, 'p'},   {"steps", no_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
};

/* What argument_once() says of up to seven arguments; the last one is NULL. */
static int once(const char *const *argument) {
    char *line[9] = {"test"};
    int n = 1;
    for (; argument[n - 1] != NULL; n++) {
        line[n] = (char *)argument[n - 1];
    }
    int result = argument_once("test", n, line, "w:sh", names, "peer");
    assert_int_equal(optind, 0);
    for (int i = 1; i < n; i++) {
        assert_ptr_equal(line[i], argument[i - 1]); /* nothing has moved */
    }
    return result;
}

static void a_second_value_is_refused(void **unused) {
    static const char *const lines[][8] = {
        {"--window", "3", "--window", "5"},
        {"--window=3", "--window", "3"},
        {"-w", "3", "--window", "5"},
        {"--win", "3", "-w5"},
        {"--window", "3", "text", "-sw3"},
        {"--unknown", "--word", "a", "--word", "b"},
        {"--word", "a", "-w", "1", "--word", "--help"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(once(lines[i]), -1);
    }
}

static void what_may_stand_twice_is_not(void **unused) {
    static const char *const lines[][8] = {
        {NULL},
        {"--window", "3", "--word", "3"},
        {"--steps", "-s", "--steps"},                 /* it has no value */
        {"--peer", "a", "--peer", "b"},               /* each counts */
        {"--window", "3", "--", "--window", "5"},     /* no option any more */
        {"--word", "--window", "--window", "5"},      /* the first is a value */
        {"--window", "3", "--help", "--window", "5"}, /* not looked at */
        {"--unknown", "--window", "3", "--w", "1"},   /* the caller says what is wrong */
    };
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(once(lines[i]), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_value_is_refused),
        cmocka_unit_test(what_may_stand_twice_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of places in an object (gate/source/lines.h), tried on this program. */
#define _GNU_SOURCE /* dladdr, realpath */

#include <dlfcn.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/source/lines.h"

/* A function of one line: which. */
/* clang-format off */
__attribute__((noinline)) static int line_of_this(void) { return __LINE__; }
/* clang-format on */

static const char *this_program(void) {
    static char name[PATH_MAX];
    assert_non_null(realpath("/proc/self/exe", name));
    return name;
}

/* Where it begins in this program's file. */
static size_t place(void) {
    int (*function)(void) = line_of_this;
    const char *code;
    Dl_info object;
    memcpy(&code, &function, sizeof code);
    assert_int_not_equal(dladdr(code, &object), 0);
    return (size_t)(code - (const char *)object.dli_fbase);
}

static void stays(const char *object, const char *before, size_t size) {
    char text[512];
    (void)snprintf(text, sizeof text, "%s", before);
    gate_name_lines(object, text, size);
    assert_string_equal(text, before);
}

/* A directory stands before the name where the program was built elsewhere than it runs. */
static void places_become_lines(void **state) {
    char text[2048], expected[64];
    (void)state;
    (void)snprintf(text, sizeof text, "reads in code+0x%zx, after code+0x%zx", place(), place());
    (void)snprintf(expected, sizeof expected, "tests/test_lines.c:%d", line_of_this());
    gate_name_lines(this_program(), text, sizeof text);
    const char *first = strstr(text, expected);
    assert_non_null(first);
    assert_int_equal(strncmp(text, "reads in ", 9), 0);
    const char *second = first + strlen(expected);
    assert_int_equal(strncmp(second, ", after ", 8), 0);
    second = strstr(second, expected);
    assert_non_null(second);
    assert_string_equal(second, expected);
}

static void what_is_not_known_stays(void **state) {
    char text[512];
    (void)state;
    stays(this_program(), "nothing of that kind", 512);
    stays(this_program(), "", 512);
    stays(this_program(), "code+0x1", 512); /* of the file's header */
    stays(this_program(), "code+0x", 512);
    stays("/no/such/file", "reads in code+0x1a2b", 512);
    (void)snprintf(text, sizeof text, "in code+0x%zx", place());
    stays(this_program(), text, strlen(text) + 1); /* a line would be longer */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_become_lines),
        cmocka_unit_test(what_is_not_known_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

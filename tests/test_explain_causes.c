/* SPDX-License-Identifier: Apache-2.0 */
/* What explain says of a kernel with one mistake that is none of a table (tests/gate/mistaken.c):
 * the declaration, the bytes or the access that it comes from (gate/explain/explain.h). */
#define _POSIX_C_SOURCE 200809L /* setenv, readlink, open_memstream */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/explained.h"

/* ---- Declarations, bytes, accesses ---- */

/* What is said somewhere, and what is not; NULL: nothing. */
static const struct somewhere {
    const char *mistake;
    enum gate_verdict verdict;
    const char *words, *never;
} somewhere[] = {
    /* declared.c */
    {"weights in binary16", GATE_WRONG, "  or `weights` as CP_FP16: it allows ",
     "too many for a verdict"},
    {"weights in binary16", GATE_WRONG,
     "      in this case and in 52 others, of which 37 are right as it is declared;", NULL},
    {"weights in binary16", GATE_WRONG, "as of P in FP16 before it is multiplied with V", NULL},
    {"score in binary16", GATE_WRONG, "  or `score` as CP_SUM_FP16: it allows ", "`weights`"},
    {"in bits", GATE_WRONG, "right if it declared .lse_base = CP_LSE_BITS in cp_kernel.conventions",
     "mistakes are tried"},
    /* bytes.c */
    {"workspace", GATE_OTHER_BITS, "it depends on the bytes that were in the workspace before",
     "out or lse before"},
    {"workspace", GATE_OTHER_BITS, "1 of 40 elements differ between two runs, 0; element 0 is nan",
     NULL},
    {"workspace", GATE_OTHER_BITS,
     "the first that matters is 147, the last 147; as numbers of 4 "
     "bytes, 36 to 36 of 116",
     NULL},
    {"out", GATE_OTHER_BITS, "it depends on the bytes that were in out or lse before", "workspace"},
    {"nothing", GATE_NOT_A_NUMBER,
     "V is read where no key is: slot 31 of chunk 2 of the pool, "
     "behind the last key of sequence 1",
     "K is read where no key"},
    /* access.c */
    {"unwritten", GATE_UNWRITTEN, "    1 not written of 40 elements: 39\n", NULL},
    {"unwritten", GATE_UNWRITTEN, "elements of out are missing in 54 of 54 rows and heads", NULL},
    {"outside", GATE_OUT_OF_BOUNDS,
     "that is element 896 of k: by the strides of the call chunk 10, slot 0, K/V head 0; there are "
     "chunks 0 to 9, slots 0 to 0, K/V heads 0 to 0",
     NULL},
    {"outside", GATE_OUT_OF_BOUNDS, "by those of v it would be chunk 6, slot 0, K/V head 0", NULL},
    {"one more", GATE_WROTE_BETWEEN, "lie as far apart as the call's strides say, not d", NULL},
};

static void what_is_no_mistake_of_a_table_is_said(void **state) {
    struct gate_finding finding = {.verdict = GATE_RIGHT};
    char *text = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof somewhere / sizeof somewhere[0]; i++) {
        const struct somewhere *said = &somewhere[i];
        if (i == 0 || strcmp(said->mistake, said[-1].mistake) != 0) {
            free(text);
            text = explained(0, said->mistake, &finding);
        }
        if (text == NULL || finding.verdict != said->verdict) {
            fail_msg("'%s': %s", said->mistake, text == NULL ? "right" : finding.text);
        }
        if (strstr(text, said->words) == NULL) {
            fail_with(said->mistake, said->words, text);
        }
        if (said->never != NULL && strstr(text, said->never) != NULL) {
            fail_with(said->mistake, said->never, text);
        }
    }
    free(text);
}

/* V of whole numbers and equal weights round nothing: no declaration is offered. */
static void what_is_no_rounding_gets_no_declaration(void **state) {
    struct gate_finding finding;
    char *text = explained(1, "value before", &finding);
    (void)state;
    assert_non_null(text);
    assert_non_null(strstr(text, "no mistake that is known here gives any of them: "));
    assert_non_null(strstr(text, "  it is no rounding, and no wider declaration makes it right: "
                                 "where all weights are equal and V small whole numbers, sums "
                                 "round nothing, and it is wrong there"));
    assert_null(strstr(text, "would be right if it declared"));
    free(text);
}

/* ---- Races: what two threads are to each other ---- */

static void expect_race(const char *text, const char *words, const char *never) {
    struct runner *runner = runner_that("gate/mistaken.so", "none");
    struct gate_recipe recipe;
    make_recipe(&recipe, 0, 0);
    struct explain x = {.runner = runner, .recipe = &recipe, .kernel = runner_kernel(runner)};
    struct gate_finding finding = {.verdict = GATE_RACES};
    char *said = NULL;
    size_t size;
    (void)snprintf(finding.text, sizeof finding.text, "%s", text);
    x.file = open_memstream(&said, &size);
    assert_non_null(x.file);
    explain_access(&x, &finding);
    assert_int_equal(fclose(x.file), 0);
    if (strstr(said, words) == NULL) {
        fail_with(text, words, said);
    }
    assert_true(never == NULL || strstr(said, never) == NULL);
    free(said);
    runner_free(runner);
}

static void races_say_what_would_order_them(void **state) {
    (void)state;
    expect_race("a race: block (0,0,0) thread 3 of 64 wrote in a.cu:7, then; block (0,0,0) thread "
                "5 of 64 read in a.cu:9",
                "they are of one warp, of a block of 64 threads", "two warps");
    expect_race("a race: block (0,0,0) thread 3 of 64 wrote in a.cu:7; block (0,0,0) thread 35 of "
                "64 read in a.cu:9",
                "they are of two warps of a block", "one warp,");
    expect_race("a race: block (0,0,0) thread 3 of 64 wrote in a.cu:7; block (1,0,0) thread 3 of "
                "64 read in a.cu:9",
                "they are of two blocks", "it is one line");
    expect_race("a race: block (0,0,0) thread 3 wrote in a.cu:7; block (0,0,0) thread 4 read in "
                "a.cu:7",
                "it is one line, by which two threads come to the same place", "two warps");
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_mistake_of_a_table_is_said),
        cmocka_unit_test(what_is_no_rounding_gets_no_declaration),
        cmocka_unit_test(races_say_what_would_order_them),
    };
    return cmocka_run_group_tests_name("explain causes", tests, NULL, NULL);
}

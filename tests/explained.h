/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: what explain says of a kernel with one mistake (tests/gate/mistaken.c). Needs
 * setenv(), readlink() and open_memstream(), and cmocka before it. */
#ifndef CHUNKPROOF_TESTS_EXPLAINED_H
#define CHUNKPROOF_TESTS_EXPLAINED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/case/prompts.h"
#include "gate/explain/explain.h"
#include "gate/search/check.h"
#include "tests/runner_files.h"

#define EXPLAIN_WORK    20000
#define EXPLAIN_CASES   60
#define EXPLAIN_SECONDS 600.0 /* so that a machine with other work says the same */

static const struct run_limits explain_limits = {20.0, 20.0, (size_t)1 << 30, (size_t)64 << 20,
                                                 NULL, 0};

static inline struct runner *runner_that(const char *kernel, const char *mistake) {
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner;
    setenv("MISTAKE", mistake, 1);
    if (runner_new(&runner, own_program(program), beside(file, kernel), &explain_limits, error) !=
        0) {
        fail_msg("%s", error);
    }
    return runner;
}

static inline void make_recipe(struct gate_recipe *recipe, int index, int is_of_lists) {
    gate_recipe_make(recipe, 5, index, 0, EXPLAIN_WORK, NULL);
    recipe->renewed = 0;
    recipe->without_lse = 0;
    if (is_of_lists) {
        gate_recipe_to_modules(recipe, NULL);
    }
}

/* The first case that is not right, and what is said of it, to be freed; NULL: all are right. */
static inline char *explained(int is_of_lists, const char *mistake, struct gate_finding *finding) {
    const char *kernel = is_of_lists ? "gate/mistaken_lists.so" : "gate/mistaken.so";
    struct runner *runner = runner_that(kernel, mistake);
    char *text = NULL;
    size_t size = 0;
    for (int i = 0; i < EXPLAIN_CASES && text == NULL; i++) {
        struct gate_recipe recipe;
        make_recipe(&recipe, i, is_of_lists);
        if (gate_check_recipe(runner, &recipe, finding) == 1 && finding->verdict != GATE_RIGHT) {
            FILE *file = open_memstream(&text, &size);
            assert_non_null(file);
            assert_int_equal(gate_explain(file, runner, &recipe, EXPLAIN_SECONDS, NULL, finding),
                             1);
            assert_int_equal(fclose(file), 0);
        }
    }
    runner_free(runner);
    return text;
}

static inline void fail_with(const char *mistake, const char *words, char *text) {
    fprintf(stderr, "of '%s' explain does not say '%s':\n%s", mistake, words, text);
    free(text);
    fail();
}

#endif

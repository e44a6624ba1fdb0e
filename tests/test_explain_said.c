/* SPDX-License-Identifier: Apache-2.0 */
/* What explain says of a kernel with one mistake (tests/gate/mistaken.c): the words of its table
 * first (gate/explain/mistakes.h). */
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

/* ---- Mistakes of tables ---- */

/* A mistake, and what is said first of it; words that begin with a space stand behind that. */
struct said {
    const char *mistake, *words;
    int is_part; /* it is not all of the wrong numbers that it gives, or these are few */
};

static const struct said of_paths[] = {
    /* mistakes_keys.c */
    {"no last key", "as if the last key had been left out (TPP-1)"},
    {"own runs", "as if the shared chunks had been left out (TPP-1)"},
    {"all keys", "as if each row saw all keys of its sequence: those behind its own position, too"},
    {"head modulo", "as if it had taken K and V of K/V head head % h_kv, not head / (h / h_kv)"},
    {"value before", "as if V of each key had been that of the key before (TPP-1)"},
    /* mistakes_scores.c */
    {"unscaled", "as if the scores had not been scaled (SOFTMAX-1)"},
    {"scaled twice", "as if the scores had been scaled twice (SOFTMAX-1)"},
    {"sign", "as if the scores had the wrong sign (SOFTMAX-1)"},
    {"first query", "as if the query of row s had been taken for each row of sequence s"},
    {"first query", "    or, which gives the same numbers here, as if the query of a sequence's "
                    "first row had been taken for all its rows (PREFILL-1)"},
    /* mistakes_sums.c */
    {"o not rescaled", "as if the sum of weighted values had not been rescaled when the maximum "
                       "grew (MERGE-4), in steps of 1 key"},
    {"n not rescaled", "as if the sum of weights had not been rescaled when the maximum grew "
                       "(MERGE-4), in steps of 1 key"},
    {"upside down", "as if the sums had been rescaled by exp(new - old), not exp(old - new)", 1},
    {"averaged",
     "as if the results of both halves of the keys (the first one of whole tiles of 1) "
     "had been averaged, each counting the same",
     1},
    /* mistakes_results.c */
    {"undivided", "as if the sum had not been divided by the sum of weights (MERGE-6)"},
    {"by the number", "as if the sum had been divided by the number of keys (MERGE-6)"},
    {"shifted", "as if each element were the one before it (GATE-3)", 1},
    {"shifted", "      in elements 1 to 71 alone", 1},
    {"largest alone",
     "lse is as if it were the largest score alone, without the logarithm of the "
     "sum (MERGE-7)",
     1},
};

static const struct said of_lists[] = {
    /* mistakes_runs.c */
    {"own runs", "as if only its own runs had been read, none of a descriptor (RUNS-5)"},
    {"all keys", "as if all keys of each run were seen: no mask by position (RUNS-4)"},
    {"no last run", "as if the last run of the list had been left out (RUNS-3)"},
    {"whole if seen", "as if a run were seen to its end once the row stands at its first key or "
                      "behind (RUNS-4)"},
    {"shared runs", "as if only runs of descriptors had been read, none of its own (RUNS-5)"},
};

/* The text from the first cause on, behind how many numbers it is tried on. */
static const char *first_cause(const char *text) {
    const char *tried = strstr(text, "\n  mistakes are tried on ");
    const char *end = tried != NULL ? strstr(tried, " cases are wrong\n  ") : NULL;
    return end != NULL ? end + strlen(" cases are wrong\n  ") : "";
}

/* "gives N of N wrong numbers, M different ones": all of some hundred, and no other cause, nor a
 * declaration, is said. */
static int gives_all(const char *text) {
    const char *gives = strstr(first_cause(text), "\n      gives ");
    int given = 0, wrong = 0, different = 0;
    return gives != NULL &&
           sscanf(gives, " gives %d of %d wrong numbers, %d", &given, &wrong, &different) == 3 &&
           given == wrong && wrong > 100 && different > 50 && strstr(text, "besides, ") == NULL &&
           strstr(text, "no mistake that is known here") == NULL &&
           strstr(text, "would be right if it declared") == NULL &&
           strstr(text, "would be wrong by it") == NULL;
}

static void expect_said(const struct said *table, size_t n, int are_lists) {
    char *text = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct said *said = &table[i];
        struct gate_finding finding;
        if (i == 0 || strcmp(said->mistake, said[-1].mistake) != 0) {
            free(text);
            text = explained(are_lists, said->mistake, &finding);
        }
        if (text == NULL) {
            fail_msg("'%s': no case is wrong", said->mistake);
        }
        const char *cause = first_cause(text), *at = strstr(cause, said->words);
        if (at == NULL || (said->words[0] != ' ' && at != cause)) {
            fail_with(said->mistake, said->words, text);
        }
        if (!said->is_part && !gives_all(text)) {
            fail_with(said->mistake, "gives all", text);
        }
    }
    free(text);
}

static void mistakes_of_paths_are_said_first(void **state) {
    (void)state;
    expect_said(of_paths, sizeof of_paths / sizeof of_paths[0], 0);
}

static void mistakes_of_runs_are_said_first(void **state) {
    (void)state;
    expect_said(of_lists, sizeof of_lists / sizeof of_lists[0], 1);
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_of_paths_are_said_first),
        cmocka_unit_test(mistakes_of_runs_are_said_first),
    };
    return cmocka_run_group_tests_name("explain said", tests, NULL, NULL);
}

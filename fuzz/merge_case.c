/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/merge_case.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/parse.h"
#include "fuzz/target.h"
#include "gate/merge/arrays.h"
#include "gate/merge/case_file.h"
#include "gate/merge/values.h"
#include "tests/merge_plain.h"

#define MOST_NUMBERS 4096 /* of a problem that is made */

static int load(struct merge_case **cases, const char *path) {
    struct parse_said said;
    parse_listen(&said);
    int n = merge_case_load(path, "replay", cases);
    parse_heard(&said, n < 0);
    if (n == 0) {
        fuzz_fail("a file without a case is accepted");
    }
    return n;
}

static int is_within(int x, int least, int most) {
    return least <= x && x <= most;
}

static void check_recipe(const struct merge_recipe *r) {
    if (!is_within((int)r->values, 0, MERGE_VALUES - 1) ||
        !is_within(r->n_parts, 1, CP_MERGE_MOST_PARTS) || !is_within(r->n_rows, 1, 65536) ||
        !is_within(r->n_heads, 1, 1024) || !is_within(r->head_dim, 1, 4096) ||
        !is_within(r->o, CP_O_ORDER_PART_ROW, CP_O_ORDER_ROW_PART) ||
        !is_within(r->l, CP_L_ORDER_PART_ROW, CP_L_ORDER_ROW_PART) ||
        !is_within(r->lse, CP_LSE_ORDER_ROW, CP_LSE_ORDER_HEAD)) {
        fuzz_fail("a recipe is accepted that is out of its ranges");
    }
}

static void check_round_trip(const struct merge_case *one) {
    struct merge_found found = {.recipe = one->recipe,
                                .has_before = one->has_before,
                                .before = one->before,
                                .finding = {.of = gate_no_finding}};
    struct merge_case *again;
    struct parse_file file;
    parse_file_new(&file, "", 0);
    if (merge_case_save(file.path, &found, &plain) != 0 || load(&again, file.path) != 1) {
        fuzz_fail("a case that is saved cannot be loaded");
    }
    if (memcmp(&again->recipe, &one->recipe, sizeof one->recipe) != 0 ||
        memcmp(&again->before, &one->before, sizeof one->before) != 0) {
        fuzz_fail("a case that is saved is another one");
    }
    free(again);
    parse_file_free(&file);
}

static void make(const struct merge_recipe *r) {
    long long numbers = (long long)r->n_parts * r->n_rows * r->n_heads * r->head_dim;
    struct merge_problem problem;
    struct merge_arrays arrays;
    if (numbers > MOST_NUMBERS || merge_recipe_excluded(r, &plain) != NULL) {
        return;
    }
    if (merge_problem_new(&problem, r, &plain) != 0) {
        fuzz_fail("no memory for a small problem");
    }
    merge_values_fill(&problem);
    if (merge_arrays_new(&arrays, &problem, 0) != 0) {
        fuzz_fail("no memory for a small problem's arrays");
    }
    merge_arrays_fill(&arrays, 0xA5);
    merge_arrays_free(&arrays);
    merge_problem_free(&problem);
}

void fuzz_merge_cases(const char *path) {
    struct merge_case *cases;
    int n = load(&cases, path);
    for (int i = 0; i < n; i++) {
        char line[MERGE_LINE];
        check_recipe(&cases[i].recipe);
        if (cases[i].has_before) {
            check_recipe(&cases[i].before);
        }
        check_round_trip(&cases[i]);
        merge_recipe_print(&cases[i].recipe, line);
        make(&cases[i].recipe);
        if (i > 0 && cases[i].line < cases[i - 1].line) {
            fuzz_fail("a case stands above the one before it");
        }
    }
    free(cases);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers of files of cases (gate/search/case_file.c, gate/merge/case_file.c): no crash, no
 * leak. A case that they accept is in the ranges of its recipe, and is the same after saving and
 * loading. A small case becomes a problem with its numbers. */
#include <stdlib.h>

#include "chunkproof/limits.h"
#include "chunkproof/number.h"
#include "fuzz/merge_case.h"
#include "fuzz/parse.h"
#include "fuzz/target.h"
#include "gate/case/layout.h"
#include "gate/case/values.h"
#include "gate/search/case_file.h"
#include "tests/plain_kernel.h"

#define MOST_TOKENS  256 /* of a problem that is made */
#define MOST_NUMBERS 256 /* of a key's heads */

/* How many cases, or -1. */
static int load(struct gate_case **cases, const char *path) {
    struct parse_said said;
    parse_listen(&said);
    int n = gate_case_load(path, "replay", cases);
    parse_heard(&said, n < 0);
    if (n == 0) {
        fuzz_fail("a file without a case is accepted");
    }
    return n;
}

static int is_within(long long x, long long least, long long most) {
    return least <= x && x <= most;
}

static void check_recipe(const struct gate_recipe *r) {
    int right =
        is_within(r->n_kv_heads, 1, 1024) && is_within(r->n_heads, 1, 1024) &&
        r->n_heads % r->n_kv_heads == 0 && is_within(r->head_dim, 1, 4096) &&
        is_within(r->chunk_size, 1, CP_MAX_CHUNK_SIZE) && is_within(r->scale, 1, 1000) &&
        is_within(r->layout, 0, GATE_LAYOUTS - 1) && is_within(r->values, 0, GATE_VALUES - 1) &&
        is_within(r->queries, 0, GATE_QUERIES - 1) && is_within(r->padding, 0, GATE_PADDINGS - 1) &&
        is_within(r->n_ops, 0, GATE_MOST_OPS) && is_within(r->sequences, 0, GATE_MOST_SEQUENCES) &&
        is_within(r->rows, 0, GATE_MOST_ROWS) && is_within(r->pool, 0, GATE_MOST_POOL) &&
        is_within(r->biases, 0, r->slopes == GATE_NO_SLOPES ? GATE_BIASES - 1 : 0) &&
        is_within(r->n_biases, r->biases > 0, r->biases > 0 ? GATE_MOST_BIASES : 0) &&
        is_within(r->own_bias, 0, r->n_biases > 0 ? r->n_biases - 1 : 0);
    for (int i = 0; i < r->n_ops; i++) {
        const struct gate_op *op = &r->op[i];
        right = right && is_within(op->kind, 0, GATE_OPS - 1) && op->sequence >= 0 &&
                op->tokens >= 0 && op->own >= 0;
    }
    if (!right) {
        fuzz_fail("a recipe is accepted that is out of its ranges");
    }
}

/* After saving and loading the case is the same. */
static void check_round_trip(const struct gate_recipe *recipe) {
    struct gate_found found = {.recipe = *recipe, .finding = gate_no_finding};
    struct gate_case *again;
    struct parse_file file;
    parse_file_new(&file, "", 0);
    if (gate_case_save(file.path, &found, &plain) != 0 || load(&again, file.path) != 1) {
        fuzz_fail("a case that is saved cannot be loaded");
    }
    json_t *one = gate_recipe_json(recipe), *other = gate_recipe_json(&again->recipe);
    if (!json_equal(one, other)) {
        fuzz_fail("a case that is saved is another one");
    }
    json_decref(one);
    json_decref(other);
    free(again);
    parse_file_free(&file);
}

static void make(const struct gate_recipe *recipe) {
    struct gate_problem problem;
    struct gate_arrays arrays;
    long long tokens = 0;
    for (int i = 0; i < recipe->n_ops; i++) {
        tokens += recipe->op[i].tokens + recipe->op[i].own;
    }
    if (tokens > MOST_TOKENS || recipe->sequences > MOST_TOKENS || recipe->rows > MOST_TOKENS ||
        recipe->n_heads * recipe->head_dim > MOST_NUMBERS) {
        return;
    }
    if (gate_problem_new(&problem, recipe, &plain) != 0) {
        fuzz_fail("no memory for a small problem");
    }
    gate_values_fill(&problem);
    if (gate_arrays_new(&arrays, &problem) != 0) {
        fuzz_fail("no memory for a small problem's arrays");
    }
    gate_arrays_free(&arrays);
    gate_problem_free(&problem);
}

static void check_case(const struct gate_case *one) {
    char line[GATE_LINE];
    check_recipe(&one->recipe);
    if (one->has_before) {
        check_recipe(&one->before);
    }
    check_round_trip(&one->recipe);
    gate_recipe_print(&one->recipe, line);
    make(&one->recipe);
}

static void test_attention(const char *path) {
    struct gate_case *cases;
    int n = load(&cases, path);
    for (int i = 0; i < n; i++) {
        check_case(&cases[i]);
        if (i > 0 && cases[i].line < cases[i - 1].line) {
            fuzz_fail("a case stands above the one before it");
        }
    }
    free(cases);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct parse_file file;
    parse_file_new(&file, data, size);
    test_attention(file.path);
    fuzz_merge_cases(file.path);
    parse_file_free(&file);
    return 0;
}

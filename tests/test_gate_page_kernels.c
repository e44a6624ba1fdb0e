/* SPDX-License-Identifier: Apache-2.0 */
/* CONV-11, CONV-12, GATE-10: kernels with pages, run on cases that few others are: that grow, with
 * pages far apart, of a large pool, in one tensor and without gaps. */
#define _POSIX_C_SOURCE 200809L /* readlink */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/case/pages.h"
#include "gate/search/check.h"
#include "tests/runner_files.h"

static const struct run_limits limits = {
    .seconds = 20.0, .bytes = (size_t)1 << 32, .heap = 1 << 30};

static struct runner *start(const char *name) {
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner = NULL;
    beside(file, name);
    if (runner_new(&runner, own_program(program), file, &limits, error) != 0) {
        fail_msg("%s: %s", name, error);
    }
    return runner;
}

/* Two sequences that share their first keys. */
static struct gate_recipe recipe_of(int index) {
    struct gate_recipe r;
    gate_recipe_make(&r, 71, index, 0, GATE_SMALL_WORK, NULL);
    r.values = index % 2 == 0 ? GATE_SELECT : GATE_COUNT;
    r.head_dim = 64;
    r.chunk_size = 16;
    r.n_heads = r.n_kv_heads = 2;
    r.renewed = r.pool = r.rows = r.sequences = r.page = 0;
    r.layout &= ~GATE_FAR;
    r.n_ops = 2;
    r.op[0] = (struct gate_op){GATE_JOIN, 0, 0, 50};
    r.op[1] = (struct gate_op){GATE_JOIN, 0, 40, 60};
    return r;
}

static void expect(const char *name, const struct gate_recipe *r, enum gate_verdict verdict) {
    struct runner *runner = start(name);
    struct gate_finding f;
    assert_int_equal(gate_check_recipe(runner, r, &f), 1);
    if (f.verdict != verdict) {
        fail_msg("%s: %s: %s", name, gate_verdict_names[f.verdict], f.text);
    }
    runner_free(runner);
}

static const char *const kernels[] = {
    "gate/page_table.so",   "gate/page_joined.so",      "gate/page_lists.so",
    "gate/page_packed.so",  "gate/page_blocks.so",      "gate/page_capped.so",
    "gate/page_parts.so",   "gate/page_e4m3.so",        "gate/page_chunks_packed.so",
    "gate/page_windows.so", "gate/page_ragged_pairs.so"};
#define KERNELS (sizeof kernels / sizeof kernels[0])

/* Sequences of 31 keys become 32: one page more in pages of 16, and more keys. The workspace of
 * page_capped is as large as the table. */
static void workspace_is_asked_for_again(void **state) {
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        for (int index = 0; index < 6; index++) {
            struct gate_recipe r = recipe_of(index);
            r.renewed = 1;
            r.chunk_size = 64;
            expect(kernels[k], &r, GATE_RIGHT);
        }
    }
}

static void pages_far_apart(void **state) {
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        struct gate_recipe r = recipe_of((int)k);
        r.layout |= GATE_FAR;
        expect(kernels[k], &r, GATE_RIGHT);
    }
}

static void pages_of_a_large_pool(void **state) {
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        struct gate_recipe r = recipe_of((int)k);
        r.pool = 300000;
        expect(kernels[k], &r, GATE_RIGHT);
    }
}

/* CONV-13: values of other widths than keys, and in their keys: as they lie, far apart, of a large
 * pool, and when the case runs again with more keys. */
static void values_of_other_widths(void **state) {
    static const char *const of_widths[] = {"gate/width_strides.so", "gate/latent_splits.so",
                                            "gate/width_reference.so", "gate/latent_reference.so"};
    (void)state;
    for (size_t k = 0; k < sizeof of_widths / sizeof of_widths[0]; k++) {
        for (int index = 0; index < 4; index++) {
            struct gate_recipe r = recipe_of(index);
            r.value_dim = 40;
            r.renewed = 1;
            r.layout |= index == 1 && k < 2 ? GATE_FAR : 0;
            r.pool = index >= 2 && k < 2 ? 300000 : 0; /* of which nobody makes a copy */
            expect(of_widths[k], &r, GATE_RIGHT);
        }
    }
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workspace_is_asked_for_again),
        cmocka_unit_test(pages_far_apart),
        cmocka_unit_test(pages_of_a_large_pool),
        cmocka_unit_test(values_of_other_widths),
    };
    return cmocka_run_group_tests_name("gate page kernels", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Other acceptance rules, at their limits (gate/judge/rules.h), and the usual test. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "fuzz/tolerance/rules.h"
#include "gate/case/layout.h"
#include "gate/judge/rules.h"

static const struct cp_kernel plain = {.abi = CP_KERNEL_ABI,
                                       .name = "plain",
                                       .q_type = CP_FP16,
                                       .kv_type = CP_FP16,
                                       .out_type = CP_FP16,
                                       .lse_type = CP_FP32};

/* Whether a rule takes x for r. */
static int accepts(enum gate_rule rule, const double *x, const double *r, int n,
                   double plain_error) {
    struct gate_tensor tensor = {.plain_error = plain_error};
    gate_tensor_add(&tensor, x, r, n);
    return (gate_tensor_rejected(&tensor) >> rule & 1) == 0;
}

static int accepts_one(enum gate_rule rule, double x, double r) {
    return accepts(rule, &x, &r, 1, 0.125);
}

static void rules_have_their_edges(void **state) {
    (void)state;
    assert_true(accepts_one(GATE_ALLCLOSE_2, 1.0199, 1.0));
    assert_false(accepts_one(GATE_ALLCLOSE_2, 1.0201, 1.0));
    assert_true(accepts_one(GATE_ALLCLOSE_2, 0.0099, 0.0));
    assert_false(accepts_one(GATE_ALLCLOSE_2, -0.0101, 0.0));
    assert_true(accepts_one(GATE_ALLCLOSE_3, -10.0109, -10.0));
    assert_false(accepts_one(GATE_ALLCLOSE_3, -10.0111, -10.0));
    assert_true(accepts_one(GATE_BOTH_LARGE, 100.9, 100.0));   /* 0.9 off, which is 0.9 % */
    assert_true(accepts_one(GATE_BOTH_LARGE, 0.0099, 0.0001)); /* 99 times, which is 0.0098 off */
    assert_false(accepts_one(GATE_BOTH_LARGE, 0.0202, 0.01));
    assert_true(accepts_one(GATE_TWICE_PLAIN, 1.25, 1.0)); /* the plain kernel's is 1/8 */
    assert_false(accepts_one(GATE_TWICE_PLAIN, 1.25000001, 1.0));
}

/* One number beyond a rule is enough, wherever it is; the cosine is of all. */
static void a_tensor_is_judged_whole(void **state) {
    const double r[4] = {1.0, 1.0, 1.0, 1.0};
    (void)state;
    for (int i = 0; i < 4; i++) {
        double x[4] = {1.0, 1.0, 1.0, 1.0};
        x[i] = 1.26;
        assert_false(accepts(GATE_ALLCLOSE_2, x, r, 4, 0.125));
        assert_false(accepts(GATE_BOTH_LARGE, x, r, 4, 0.125));
        assert_false(accepts(GATE_TWICE_PLAIN, x, r, 4, 0.125));
        assert_true(accepts(GATE_COSINE, x, r, 4, 0.125));
    }
    const double across[4] = {1.0, 1.0, 1.0, 0.5}; /* 3.5 / (2 sqrt(3.25)) = 0.97 */
    assert_false(accepts(GATE_COSINE, across, r, 4, 0.0));
    const double longer[4] = {7.0, 7.0, 7.0, 7.0}; /* of which only the direction is looked at */
    assert_true(accepts(GATE_COSINE, longer, r, 4, 0.0));
}

/* Not even where another number follows it. */
static void no_rule_takes_a_nan(void **state) {
    const double r[2] = {1.0, 1.0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double x[2] = {1.0, 1.0};
        assert_true(accepts(GATE_TWICE_PLAIN, x, r, 2, 0.0));
        x[i] = NAN;
        for (int rule = 0; rule < GATE_RULES; rule++) {
            assert_false(accepts((enum gate_rule)rule, x, r, 2, 0.125));
        }
    }
}

/* Equal weights of 1/11, which binary16 has not: 4 becomes the number before it. */
static void the_plain_kernel_rounds_to_its_type(void **state) {
    const double q = 1.0, r = 4.0, k[11] = {0.0};
    const double v[11] = {4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0};
    struct gate_plain_row row = {CP_FP16, 11, 1, 1, 1.0, &q, k, v, NULL, -INFINITY};
    struct gate_tensor tensor = {.error = 0.0};
    (void)state;
    assert_int_equal(gate_tensor_plain(&tensor, &row, &r), 0);
    assert_true(tensor.plain_error == 0x1p-9);
    row.n = 1; /* a weight of 1, and then nothing to round */
    tensor.plain_error = 0.0;
    assert_int_equal(gate_tensor_plain(&tensor, &row, &r), 0);
    assert_true(tensor.plain_error == 0.0);
    const double off = 5.0;
    assert_int_equal(gate_tensor_plain(&tensor, &row, &off), 0);
    assert_true(tensor.plain_error == 1.0);
    assert_int_equal(gate_tensor_plain(&tensor, &row, &r), 0); /* the largest of all rows */
    assert_true(tensor.plain_error == 1.0);
}

/* SCORE-1 to SCORE-3: a shift of each score, and a sink: both weigh as if they were a kernel's. */
static void the_plain_kernel_changes_scores(void **state) {
    const double q = 1.0, k[2] = {0.0, 0.0}, v[2] = {4.0, 8.0}, shift[2] = {0.0, -40.0};
    struct gate_plain_row row = {CP_FP16, 2, 1, 1, 1.0, &q, k, v, shift, -INFINITY};
    struct gate_tensor tensor = {.error = 0.0};
    const double first = 4.0, half = 2.0;
    (void)state;
    assert_int_equal(gate_tensor_plain(&tensor, &row, &first), 0);
    assert_true(tensor.plain_error == 0.0);
    row.sink = 0.0;
    assert_int_equal(gate_tensor_plain(&tensor, &row, &half), 0);
    assert_true(tensor.plain_error == 0.0);
}

/* The emulated kernels are judged by the same ones. */
static void one_place_has_the_rules(void **state) {
    static struct judgement judgement;
    (void)state;
    assert_int_equal(N_RULES, GATE_RULES + 1);
    judgement.out[0] = 1.0;
    judgement.expected[0] = 1.0015;
    for (int rule = 0; rule < GATE_RULES; rule++) {
        assert_string_equal(rule_name((enum rule)(rule + 1)), gate_rule_names[rule]);
        assert_int_equal(rules_accept((enum rule)(rule + 1), &judgement, 1, 0.0),
                         rule != GATE_TWICE_PLAIN);
    }
}

/* Normal values, contiguous, and some keys that sequences share. */
static void the_usual_test_is_usual(void **state) {
    (void)state;
    for (int i = 0; i < GATE_USUAL; i++) {
        struct gate_recipe r;
        struct gate_problem p;
        struct cp_kernel_call call;
        gate_usual_recipe(i, &r);
        assert_int_equal(gate_problem_new(&p, &r, &plain), 0);
        gate_call_sizes(&call, &p);
        assert_int_equal(r.values, GATE_NORMAL);
        assert_true(p.n_rows == p.b && p.b == 4 && p.n_shared > 0);
        assert_true(call.k_slot == r.head_dim && call.k_head == r.chunk_size * call.k_slot &&
                    call.k_chunk == r.n_kv_heads * call.k_head);
        assert_true(call.out_head == r.head_dim && call.out_row == r.n_heads * call.out_head);
        gate_problem_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_have_their_edges),
        cmocka_unit_test(a_tensor_is_judged_whole),
        cmocka_unit_test(no_rule_takes_a_nan),
        cmocka_unit_test(the_plain_kernel_rounds_to_its_type),
        cmocka_unit_test(the_plain_kernel_changes_scores),
        cmocka_unit_test(one_place_has_the_rules),
        cmocka_unit_test(the_usual_test_is_usual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

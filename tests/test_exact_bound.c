/* SPDX-License-Identifier: Apache-2.0 */
/* exact_bound_judge(), which holds cp_tolerance() to its formula in test_tolerance_bound.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/tolerance.h"
#include "exact_bound.h"

/* A claim that is one unit too small, one that is twice what it must be, one
 * that is not founded, one that is missing. */
static void judge_sees_what_is_wrong(void **state) {
    const double q = 1.0, k[] = {0.0, log(3.0)}, v[] = {1.0, 5.0};
    double scratch[6], expected, bound, lse, lse_bound;
    struct cp_arithmetic a = cp_arithmetic_fp32(1, cp_format_fp16(), cp_format_fp16());
    struct cp_counts counts = cp_counts_of_chunks(1, 2);
    struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, v, scratch, NULL, NULL};
    enum claim claim, of_lse;
    (void)state;
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, &lse, &lse_bound);
    const struct {
        double factor;
        enum claim claim;
    } tries[] = {{1.0, CLAIM_HOLDS},
                 {1.0 - 0x1p-20, CLAIM_TOO_SMALL},
                 {0.5, CLAIM_TOO_SMALL},
                 {2.0, CLAIM_TOO_LARGE},
                 {INFINITY, CLAIM_WITHOUT_NEED}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        double changed = bound * tries[i].factor, changed_lse = lse_bound * tries[i].factor;
        exact_bound_judge(&a, &counts, &row, 0.0, &expected, &changed, lse, changed_lse, &claim,
                          &of_lse);
        assert_int_equal(claim, tries[i].claim);
        assert_int_equal(of_lse, tries[i].claim);
    }
    a.eps = 0.7; /* nothing is left */
    exact_bound_judge(&a, &counts, &row, 0.0, &expected, &bound, lse, lse_bound, &claim, &of_lse);
    assert_int_equal(claim, CLAIM_UNFOUNDED);
    assert_int_equal(of_lse, CLAIM_UNFOUNDED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judge_sees_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys a row sees (PREFILL-2 to PREFILL-4, WINDOW-2) is written twice: in ref/row_chunk.c,
 * and in kernels/index.h, which CUDA compiles and which may not include ref/. Both are the same,
 * and what the clauses say, key by key. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define cp_keys_from cp_index_keys_from
#include "kernels/index.h"
#undef cp_keys_from

#include "ref/row_chunk_internal.h"

#define FIRST 3 /* the position of the first key */
#define MOST  6 /* keys */

/* PREFILL-2, by counting. */
static int counted(long long p, int position, int n) {
    int seen = 0;
    for (int j = 0; j < n; j++) {
        seen += (long long)position + j <= p;
    }
    return seen;
}

static void the_kernels_count_keys_as_the_reference(void **state) {
    static const long long ends[] = {LLONG_MIN, INT_MIN, INT_MAX, LLONG_MAX};
    (void)state;
    for (int n = 0; n <= MOST; n++) {
        for (long long p = -2; p < FIRST + MOST + 2; p++) {
            assert_int_equal(cp_keys_from(p, FIRST, n), counted(p, FIRST, n));
            assert_int_equal(cp_index_keys_from(p, FIRST, n), counted(p, FIRST, n));
        }
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            assert_int_equal(cp_keys_from(ends[i], FIRST, n), ends[i] < 0 ? 0 : n);
            assert_int_equal(cp_index_keys_from(ends[i], FIRST, n), ends[i] < 0 ? 0 : n);
        }
    }
}

/* WINDOW-1. */
static int is_in_window(const struct cp_window *w, long long p, long long t) {
    return t <= p + w->ahead && (w->keys == 0 || t > p - w->keys || t < w->kept);
}

static void expect_window(struct cp_window window, int p, int n) {
    struct cp_attention attention = {.window = window};
    struct cp_seen of_ref = cp_seen_of(&attention, p, FIRST, n);
    struct cp_keys_seen seen = cp_keys_seen_from(&window, p, FIRST, n);
    assert_int_equal(seen.kept, of_ref.kept);
    assert_int_equal(seen.begin, of_ref.begin);
    assert_int_equal(seen.end, of_ref.end);
    for (int j = 0; j < n; j++) {
        assert_int_equal(cp_sees(&seen, j), is_in_window(&window, p, FIRST + j));
    }
}

static void the_kernels_have_the_windows_of_the_reference(void **state) {
    int n_windows = 0;
    (void)state;
    for (int keys = 0; keys <= MOST; keys++) {
        for (int ahead = 0; ahead <= 3; ahead++) {
            for (int kept = 0; kept <= (keys > 0 ? FIRST + 3 : 0); kept++, n_windows++) {
                for (int at = 0; at < (FIRST + MOST + 4) * (MOST + 1); at++) {
                    expect_window((struct cp_window){.keys = keys, .ahead = ahead, .kept = kept},
                                  at / (MOST + 1) - 2, at % (MOST + 1));
                }
            }
        }
    }
    assert_true(n_windows > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_count_keys_as_the_reference),
        cmocka_unit_test(the_kernels_have_the_windows_of_the_reference),
    };
    return cmocka_run_group_tests_name("keys seen", tests, NULL, NULL);
}

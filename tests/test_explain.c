/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of mistakes (gate/explain/mistakes.h): what a row says fits its axes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gate/explain/explain.h"

typedef void row_check(const struct explain_mistake *row);

static void each_row(row_check *check) {
    int n = 0;
    for (int i = 0; explain_tables[i] != NULL; i++) {
        for (const struct explain_table *table = explain_tables[i]; table->name != NULL; table++) {
            for (size_t row = 0; row < table->n; row++, n++) {
                check(&table->mistake[row]);
            }
        }
    }
    assert_true(n > 100);
}

static int axes_of(const struct explain_mistake *row) {
    int n = 0;
    while (n < EXPLAIN_AXES && row->axis[n].walk != NO_AXIS) {
        n++;
    }
    return n;
}

/* How many values an axis has that are numbered: 0 where a row of a case says how many. */
static int values_of(const struct explain_axis *axis) {
    return axis->walk == WALK_VALUES                            ? axis->to
           : axis->walk == WALK_EACH || axis->walk == WALK_WAYS ? axis->to - axis->from + 1
                                                                : 0;
}

static void check_letters(const struct explain_mistake *row) {
    for (const char *at = strchr(row->text, '{'); at != NULL; at = strchr(at + 1, '{')) {
        const char *letter = at + 1 + (at[1] == '+');
        int words = 0, length = (int)strcspn(at, "}");
        assert_int_equal(at[length], '}');
        assert_null(memchr(at + 1, '{', (size_t)length));
        for (int i = 0; i < length; i++) {
            words += at[i] == '|';
        }
        if (*letter >= 'a' && *letter < 'a' + EXPLAIN_AXES) {
            assert_in_range(*letter - 'a', 0, axes_of(row) - 1);
            if (words > 0) {
                assert_in_range(values_of(&row->axis[*letter - 'a']), 1, words);
            }
        } else {
            assert_true(*letter == 't' || *letter == 'n' || *letter == '0');
            assert_int_equal(words, 0);
        }
    }
}

/* An axis has a word for each of its values (rows that share words may have more), and letters are
 * of axes that the row has. */
static void words_fit_their_axes(void **state) {
    (void)state;
    each_row(check_letters);
}

static void check_axes(const struct explain_mistake *row) {
    for (int i = axes_of(row); i < EXPLAIN_AXES; i++) {
        assert_int_equal(row->axis[i].walk, NO_AXIS);
    }
    for (int i = 0; i < axes_of(row); i++) {
        assert_true(row->axis[i].at < sizeof(struct explain_choice));
        for (int j = 0; j < i; j++) {
            assert_true(row->axis[i].at != row->axis[j].at);
        }
    }
}

/* Two axes of a row are two fields. */
static void axes_are_of_different_fields(void **state) {
    (void)state;
    each_row(check_axes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_fit_their_axes),
                                       cmocka_unit_test(axes_are_of_different_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

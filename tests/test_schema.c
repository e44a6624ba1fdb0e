/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas, clause by clause (spec/modules.md): the chapter's example, every tiny schema against the
 * clauses said in another way, and content that is no schema. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/schema.h"

#define MODULE CP_PART_MODULE
#define UNION  CP_PART_UNION
#define TEXT   CP_PART_TEXT
#define PARAM  CP_PART_PARAM

/* The example of spec/modules.md. */
#define N 11
static const struct cp_part example[N] = {
    {MODULE, -1, 0}, {TEXT, 0, 5},  {MODULE, 0, 0}, {TEXT, 2, 4},  {PARAM, 2, 4}, {UNION, 0, 0},
    {MODULE, 5, 0},  {TEXT, 6, 40}, {MODULE, 5, 0}, {TEXT, 8, 30}, {TEXT, 0, 6},
};

/* MOD-1. The table gives the last position; no part of the example is empty. */
static void the_example_of_the_chapter(void **unused) {
    (void)unused;
    const int sizes[N] = {59, 5, 8, 4, 4, 40, 40, 40, 30, 30, 6};
    const int begins[N] = {0, 0, 5, 5, 9, 13, 13, 13, 13, 13, 53};
    int begin[N], size[N];
    assert_int_equal(cp_schema_check(example, N), -1);
    assert_int_equal(cp_schema_layout(example, N, begin, size), CP_OK);
    assert_memory_equal(begin, begins, sizeof begins);
    assert_memory_equal(size, sizes, sizeof sizes);
}

/* MOD-2 */
static void a_prompt_of_the_example_has_one_city(void **unused) {
    (void)unused;
    int imported[N] = {1, 0, 1, 0, 0, 0, 1};
    assert_int_equal(cp_prompt_check(example, N, imported), -1);
    imported[8] = INT_MIN;
    assert_int_equal(cp_prompt_check(example, N, imported), 8);
    imported[6] = 0;
    assert_int_equal(cp_prompt_check(example, N, imported), -1);
    imported[0] = 0;
    assert_int_equal(cp_prompt_check(example, N, imported), 0);
}

/* MOD-1: modules of 50 and 60 tokens, then a third one. */
static void a_module_begins_where_those_before_it_end(void **unused) {
    (void)unused;
    const struct cp_part part[] = {{MODULE, -1, 0}, {MODULE, 0, 0}, {TEXT, 1, 50},
                                   {MODULE, 0, 0},  {TEXT, 3, 60},  {MODULE, 0, 0}};
    int begin[6], size[6];
    assert_int_equal(cp_schema_check(part, 6), -1);
    assert_int_equal(cp_schema_layout(part, 6, begin, size), CP_OK);
    assert_int_equal(begin[5], 110);
    assert_int_equal(size[5], 0);
}

/* ---- The clauses, said in another way: recursive, from the part to those in it ---- */

static int is_around(const struct cp_part *part, int x, int y) {
    return y >= 0 && (part[y].parent == x || is_around(part, x, part[y].parent));
}

static int is_part(const struct cp_part *part, int x) {
    const struct cp_part *p = &part[x];
    int smallest[] = {0, 0, 0, 1}; /* by kind */
    if (p->kind < 0 || p->kind > 3 || p->size < smallest[p->kind] ||
        (p->kind < 2 && p->size != 0)) {
        return 0;
    }
    if (x == 0) {
        return p->kind == MODULE && p->parent == -1;
    }
    if (p->parent != x - 1 && (p->parent < 0 || !is_around(part, p->parent, x - 1))) {
        return 0;
    }
    int of = part[p->parent].kind;
    return of == MODULE || (of == UNION && p->kind == MODULE);
}

static int first_wrong_part(const struct cp_part *part, int n) {
    for (int x = 0; x < n; x++) {
        if (!is_part(part, x)) {
            return x;
        }
    }
    return -1;
}

static int size_of(const struct cp_part *part, int n, int x) {
    if (part[x].kind == TEXT || part[x].kind == PARAM) {
        return part[x].size;
    }
    int sum = 0;
    int most = 0;
    for (int y = 1; y < n; y++) {
        if (part[y].parent == x) {
            int of = size_of(part, n, y);
            sum += of;
            most = of > most ? of : most;
        }
    }
    return part[x].kind == UNION ? most : sum;
}

static int begin_of(const struct cp_part *part, int n, int x) {
    int begin = 0;
    if (x > 0) {
        int of = part[x].parent;
        begin = begin_of(part, n, of);
        for (int y = 1; y < x && part[of].kind == MODULE; y++) {
            begin += part[y].parent == of ? size_of(part, n, y) : 0;
        }
    }
    return begin;
}

static int first_wrong_import(const struct cp_part *part, int n, const int *imported) {
    if (!imported[0]) {
        return 0;
    }
    for (int x = 1; x < n; x++) {
        if (part[x].kind != MODULE || !imported[x]) {
            continue;
        }
        for (int m = 0; m < x; m++) {
            if (is_around(part, m, x) && part[m].kind == MODULE && !imported[m]) {
                return x;
            }
            if (part[m].kind == MODULE && imported[m] && part[m].parent == part[x].parent &&
                part[part[x].parent].kind == UNION) {
                return x;
            }
        }
    }
    return -1;
}

/* ---- Every tiny schema ---- */

#define TINY 5

struct found {
    int schemas;
    int prompts; /* right ones */
    int pairs;   /* of texts or params that such a prompt has */
};

/* MOD-2: in every set of imports. */
static void check_prompts(const struct cp_part *part, int n, const int *begin, const int *size,
                          struct found *found) {
    for (int set = 0; set < 1 << n; set++) {
        int imported[TINY] = {0};
        for (int x = 0; x < n; x++) {
            imported[x] = set >> x & 1;
        }
        int wrong = cp_prompt_check(part, n, imported);
        assert_int_equal(wrong, first_wrong_import(part, n, imported));
        if (wrong >= 0) {
            continue;
        }
        found->prompts++;
        for (int y = 1; y < n; y++) {
            for (int x = 1; x < y; x++) {
                if (part[x].kind >= TEXT && part[y].kind >= TEXT && imported[part[x].parent] &&
                    imported[part[y].parent]) {
                    assert_true(begin[x] + size[x] <= begin[y]);
                    found->pairs++;
                }
            }
        }
    }
}

static void check_tiny(const struct cp_part *part, int n, struct found *found) {
    int begin[TINY], size[TINY];
    int wrong = cp_schema_check(part, n);
    assert_int_equal(wrong, first_wrong_part(part, n));
    if (wrong >= 0) {
        return;
    }
    found->schemas++;
    assert_int_equal(cp_schema_layout(part, n, begin, size), CP_OK);
    for (int x = 0; x < n; x++) {
        assert_int_equal(size[x], size_of(part, n, x));
        assert_int_equal(begin[x], begin_of(part, n, x));
    }
    for (int y = 1; y < n; y++) { /* MOD-2: what is inside of a part has its positions inside */
        for (int x = 0; x < y; x++) {
            if (is_around(part, x, y)) {
                assert_true(begin[x] <= begin[y] && begin[y] + size[y] <= begin[x] + size[x]);
            }
        }
    }
    check_prompts(part, n, begin, size, found);
}

/* All parts of number x, kinds and sizes a little out of range too, when those before are right. */
static void each_part(struct cp_part *part, int x, int n, struct found *found) {
    for (int kind = -1; kind <= 4; kind++) {
        for (int parent = -2; parent <= x + 1; parent++) {
            for (int size = -1; size <= 2; size++) {
                part[x] = (struct cp_part){kind, parent, size};
                if (x + 1 == n || !is_part(part, x)) {
                    check_tiny(part, x + 1, found);
                } else {
                    each_part(part, x + 1, n, found);
                }
            }
        }
    }
}

/* MOD-1, MOD-2 */
static void every_tiny_schema_is_as_the_clauses_say(void **unused) {
    (void)unused;
    const int schemas[TINY + 1] = {0, 1, 7, 57, 520, 5143};
    struct cp_part part[TINY];
    for (int n = 1; n <= TINY; n++) {
        struct found found = {0, 0, 0};
        each_part(part, 0, n, &found);
        assert_int_equal(found.schemas, schemas[n]);
        assert_true(found.prompts >= found.schemas);
        assert_true(n < 3 || found.pairs > 0);
    }
}

/* ---- Limits ---- */

static void the_number_of_parts_is_checked_before_they_are_read(void **unused) {
    (void)unused;
    const int too_few[] = {0, -1, INT_MIN};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cp_schema_check(NULL, too_few[i]), 0);
    }
    assert_int_equal(cp_schema_check(NULL, CP_MAX_PARTS + 1), CP_MAX_PARTS);
    assert_int_equal(cp_schema_check(NULL, INT_MAX), CP_MAX_PARTS);
}

static void numbers_out_of_range_are_found(void **unused) {
    (void)unused;
    const int extremes[] = {INT_MIN, INT_MAX};
    for (int x = 0; x < N; x++) {
        for (int i = 0; i < 2; i++) {
            struct cp_part part[N];
            for (int field = 0; field < 3; field++) {
                for (int y = 0; y < N; y++) {
                    part[y] = example[y];
                }
                int *of[] = {&part[x].kind, &part[x].parent, &part[x].size};
                *of[field] = extremes[i];
                /* A text or a param may be as large as an int; its schema is refused. */
                int is_large = field == 2 && i == 1 && part[x].kind >= TEXT;
                assert_int_equal(cp_schema_check(part, N), is_large ? -1 : x);
                if (is_large) {
                    int begin[N], size[N];
                    assert_int_equal(cp_schema_layout(part, N, begin, size), CP_ERROR_TOO_LONG);
                }
            }
        }
    }
}

/* MOD-1 */
static void one_position_too_many_is_refused(void **unused) {
    (void)unused;
    int begin[6], size[6];
    for (int more = 0; more < 2; more++) {
        int status = more ? CP_ERROR_TOO_LONG : CP_OK;
        const struct cp_part sum[] = {
            {MODULE, -1, 0}, {TEXT, 0, 1}, {TEXT, 0, CP_MAX_POSITIONS - 1 + more}};
        assert_int_equal(cp_schema_layout(sum, 3, begin, size), status);
        const struct cp_part most[] = {{MODULE, -1, 0}, {UNION, 0, 0},
                                       {MODULE, 1, 0},  {TEXT, 2, CP_MAX_POSITIONS + more},
                                       {MODULE, 1, 0},  {TEXT, 4, CP_MAX_POSITIONS}};
        assert_int_equal(cp_schema_layout(most, 6, begin, size), status);
    }
}

/* As many parts as can be: each in the one before it, and all in part 0. */
static void the_largest_schemas_are_laid_out(void **unused) {
    (void)unused;
    struct cp_part *part = calloc(CP_MAX_PARTS, sizeof *part);
    int *begin = calloc(CP_MAX_PARTS, sizeof *begin);
    int *size = calloc(CP_MAX_PARTS, sizeof *size);
    assert_non_null(part);
    assert_non_null(begin);
    assert_non_null(size);
    for (int deep = 0; deep < 2; deep++) {
        for (int x = 0; x < CP_MAX_PARTS; x++) {
            part[x] = (struct cp_part){x == 0 || deep ? MODULE : TEXT, deep || x == 0 ? x - 1 : 0,
                                       x > 0 && !deep};
        }
        part[CP_MAX_PARTS - 1] = (struct cp_part){TEXT, deep ? CP_MAX_PARTS - 2 : 0, 1};
        assert_int_equal(cp_schema_check(part, CP_MAX_PARTS), -1);
        assert_int_equal(cp_schema_layout(part, CP_MAX_PARTS, begin, size), CP_OK);
        for (int x = 0; x < CP_MAX_PARTS; x++) {
            if (begin[x] != (deep || x == 0 ? 0 : x - 1) ||
                size[x] != (deep || x > 0 ? 1 : CP_MAX_PARTS - 1)) {
                fail_msg("part %d: begin %d, size %d", x, begin[x], size[x]);
            }
        }
    }
    free(size);
    free(begin);
    free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_chapter),
        cmocka_unit_test(a_prompt_of_the_example_has_one_city),
        cmocka_unit_test(a_module_begins_where_those_before_it_end),
        cmocka_unit_test(every_tiny_schema_is_as_the_clauses_say),
        cmocka_unit_test(the_number_of_parts_is_checked_before_they_are_read),
        cmocka_unit_test(numbers_out_of_range_are_found),
        cmocka_unit_test(one_position_too_many_is_refused),
        cmocka_unit_test(the_largest_schemas_are_laid_out),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}

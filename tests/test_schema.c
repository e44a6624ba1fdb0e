/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas, clause by clause (spec/modules.md): the chapter's example, every tiny schema and random
 * ones against the clauses said in another way, and content that is no schema. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static long long size_of(const struct cp_part *part, int n, int x) {
    if (part[x].kind == TEXT || part[x].kind == PARAM) {
        return part[x].size;
    }
    long long sum = 0, most = 0;
    for (int y = 1; y < n; y++) {
        if (part[y].parent == x) {
            long long of = size_of(part, n, y);
            sum += of;
            most = of > most ? of : most;
        }
    }
    return part[x].kind == UNION ? most : sum;
}

static long long begin_of(const struct cp_part *part, int n, int x) {
    long long begin = 0;
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

/* ---- Random schemas, between pages that nobody may touch ---- */

#define MOST     12 /* parts */
#define SCHEMAS  60000
#define IMPORTS  8 /* sets of them, for each schema */
#define POISONED 0x5A5A5A5A

/* Arrays that end, and with `front` begin, where nothing may be accessed. */
struct guarded {
    unsigned char *pages;
    size_t page;
};

static struct guarded guarded_new(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
    return (struct guarded){pages, page};
}

static void guarded_free(struct guarded g) {
    munmap(g.pages, 3 * g.page);
}

static void *place_in(struct guarded g, size_t bytes, int front) {
    return front ? g.pages + g.page : g.pages + 2 * g.page - bytes;
}

static unsigned random_to(unsigned *state, unsigned n) {
    *state = *state * 1664525U + 1013904223U;
    return (*state >> 8) % n;
}

/* A schema whose parts are each in a random part that is open: the last one, or around it. Then up
 * to two of its numbers change. */
static int random_parts(struct cp_part part[MOST], unsigned *state) {
    static const int kinds[] = {MODULE, MODULE, UNION, UNION, TEXT, PARAM};
    static const int sizes[] = {0, 1, 2, 3, 5, 32767, 32768, 65536, CP_MAX_POSITIONS, INT_MAX};
    static const int odd[] = {INT_MIN, -1, 0, 1, 2, 3, 4, 256, INT_MAX};
    int n = 1 + (int)random_to(state, MOST);
    part[0] = (struct cp_part){MODULE, -1, 0};
    for (int x = 1; x < n; x++) {
        int open[MOST] = {0}, n_open = 0;
        for (int y = x - 1; y >= 0; y = part[y].parent) {
            open[n_open] = y;
            n_open += part[y].kind < TEXT;
        }
        int of = open[random_to(state, (unsigned)n_open)];
        int kind = part[of].kind == UNION ? MODULE : kinds[random_to(state, 6)];
        int size = kind < TEXT ? 0 : sizes[random_to(state, random_to(state, 8) == 0 ? 10 : 5)];
        part[x] = (struct cp_part){kind, of, size + (kind == PARAM && size == 0)};
    }
    for (unsigned i = random_to(state, 6); i >= 4; i--) {
        struct cp_part *p = &part[random_to(state, (unsigned)n)];
        int *field[] = {&p->kind, &p->parent, &p->size};
        *field[random_to(state, 3)] = odd[random_to(state, 9)];
    }
    return n;
}

/* In any state of begin[] and size[]. */
static void check_layout(const struct cp_part *part, int n, int *begin, int *size) {
    for (int x = 0; x < n; x++) {
        begin[x] = size[x] = POISONED;
    }
    int is_long = size_of(part, n, 0) > CP_MAX_POSITIONS;
    assert_int_equal(cp_schema_layout(part, n, begin, size), is_long ? CP_ERROR_TOO_LONG : CP_OK);
    for (int x = 0; x < n && !is_long; x++) {
        assert_int_equal(size[x], size_of(part, n, x));
        assert_int_equal(begin[x], begin_of(part, n, x));
    }
}

static void check_imports(const struct cp_part *part, int n, int *imported, unsigned *state) {
    static const int yes[] = {1, 1, -7, 256, 65536, INT_MIN};
    for (int i = 0; i < IMPORTS; i++) {
        int most = (int)random_to(state, 4);
        for (int x = 0; x < n; x++) {
            int is_in = (int)random_to(state, 4) <= most || (x == 0 && i > 0);
            imported[x] = is_in ? yes[random_to(state, 6)] : 0;
        }
        assert_int_equal(cp_prompt_check(part, n, imported), first_wrong_import(part, n, imported));
    }
}

/* MOD-1, MOD-2 */
static void random_schemas_are_as_the_clauses_say(void **unused) {
    (void)unused;
    struct guarded g[4] = {guarded_new(), guarded_new(), guarded_new(), guarded_new()};
    unsigned state = 1;
    int right = 0;
    for (int i = 0; i < SCHEMAS; i++) {
        struct cp_part drawn[MOST];
        int n = random_parts(drawn, &state), front = i % 2;
        struct cp_part *part = place_in(g[0], (size_t)n * sizeof *part, front);
        int *begin = place_in(g[1], (size_t)n * sizeof *begin, front);
        int *size = place_in(g[2], (size_t)n * sizeof *size, front);
        int *imported = place_in(g[3], (size_t)n * sizeof *imported, front);
        memcpy(part, drawn, (size_t)n * sizeof *part);
        int wrong = cp_schema_check(part, n);
        assert_int_equal(wrong, first_wrong_part(part, n));
        if (wrong < 0) {
            right++;
            check_layout(part, n, begin, size);
            check_imports(part, n, imported, &state);
        }
        assert_memory_equal(part, drawn, (size_t)n * sizeof *part);
    }
    assert_in_range(right, SCHEMAS / 2, SCHEMAS - SCHEMAS / 20);
    for (int i = 0; i < 4; i++) {
        guarded_free(g[i]);
    }
}

/* ---- Limits ---- */

static void the_number_of_parts_is_checked_before_they_are_read(void **unused) {
    (void)unused;
    const int too_few[] = {0, -1, INT_MIN};
    struct guarded g = guarded_new();
    const struct cp_part *none = (const void *)g.pages; /* may not be read */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cp_schema_check(none, too_few[i]), 0);
    }
    assert_int_equal(cp_schema_check(none, CP_MAX_PARTS + 1), CP_MAX_PARTS);
    assert_int_equal(cp_schema_check(none, INT_MAX), CP_MAX_PARTS);
    guarded_free(g);
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

/* Sums beyond an int, in part 0 and in a module. */
static void sums_do_not_overflow(void **unused) {
    (void)unused;
    static struct cp_part part[2050];
    static int begin[2050], size[2050];
    for (int of = 0; of < 2; of++) {
        part[0] = (struct cp_part){MODULE, -1, 0};
        part[1] = (struct cp_part){MODULE, 0, 0};
        for (int x = 1 + of; x < 2050; x++) {
            part[x] = (struct cp_part){TEXT, of, CP_MAX_POSITIONS};
        }
        for (int n = 2048; n <= 2050; n++) {
            assert_int_equal(cp_schema_layout(part, n, begin, size), CP_ERROR_TOO_LONG);
        }
    }
}

/* Modules in modules, and then a text in part 0: at depths around powers of two. */
static void from_any_depth_back_to_the_schema(void **unused) {
    (void)unused;
    struct cp_part *part = calloc(CP_MAX_PARTS, sizeof *part);
    int *begin = calloc(CP_MAX_PARTS, sizeof *begin);
    int *size = calloc(CP_MAX_PARTS, sizeof *size);
    assert_non_null(part);
    assert_non_null(begin);
    assert_non_null(size);
    for (int x = 0; x < CP_MAX_PARTS - 2; x++) {
        part[x] = (struct cp_part){MODULE, x - 1, 0};
    }
    for (int deep = 2; deep<CP_MAX_PARTS - 2; deep = deep> 1000 ? 2 * deep + 1 : deep + 1) {
        const struct cp_part kept[] = {part[deep], part[deep + 1]};
        part[deep] = (struct cp_part){TEXT, deep - 1, 2};
        part[deep + 1] = (struct cp_part){TEXT, 0, 1};
        assert_int_equal(cp_schema_check(part, deep + 2), -1);
        assert_int_equal(cp_schema_layout(part, deep + 2, begin, size), CP_OK);
        assert_int_equal(begin[deep + 1], 2);
        part[deep + 1].parent = deep; /* which is a text */
        assert_int_equal(cp_schema_check(part, deep + 2), deep + 1);
        part[deep] = kept[0];
        part[deep + 1] = kept[1];
    }
    free(size);
    free(begin);
    free(part);
}

/* A part of an earlier module whose number ends as that of the last one. */
static void numbers_are_compared_whole(void **unused) {
    (void)unused;
    static struct cp_part part[65539];
    for (int period = 256; period <= 65536; period *= 256) {
        for (int x = 0; x < period + 2; x++) {
            part[x] = (struct cp_part){MODULE, x == 0 ? -1 : 0, 0};
        }
        part[period + 2] = (struct cp_part){TEXT, 1, 1};
        assert_int_equal(cp_schema_check(part, period + 3), period + 2);
        part[period + 2].parent = period;
        assert_int_equal(cp_schema_check(part, period + 3), period + 2);
        part[period + 2].parent = period + 1;
        assert_int_equal(cp_schema_check(part, period + 3), -1);
    }
}

/* Two members of a union far from each other, in a union far from part 0. */
static void the_second_member_is_found_anywhere(void **unused) {
    (void)unused;
    static const int far[] = {1, 31, 62, 1000, 65535, 65536};
    static struct cp_part part[140000];
    static int imported[140000];
    for (int i = 0; i < 6; i++) {
        for (int nested = 0; nested < 2; nested++) {
            int of = far[i], n = 2 * of + 3;
            for (int x = 0; x < n; x++) {
                part[x] = (struct cp_part){nested || x == 0 ? MODULE : TEXT, nested ? x - 1 : 0, 0};
                imported[x] = 1;
            }
            part[0].parent = -1;
            part[of] = (struct cp_part){UNION, nested ? of - 1 : 0, 0};
            part[of + 1] = (struct cp_part){MODULE, of, 0};
            for (int x = of + 2; x < n - 1; x++) {
                part[x] = (struct cp_part){TEXT, of + 1, 1};
            }
            part[of + 64 < n - 1 ? of + 64 : of + 2] = (struct cp_part){UNION, of + 1, 0};
            part[n - 1] = (struct cp_part){MODULE, of, 0};
            assert_int_equal(cp_schema_check(part, n), -1);
            assert_int_equal(cp_prompt_check(part, n, imported), n - 1);
            imported[of + 1] = 0;
            assert_int_equal(cp_prompt_check(part, n, imported), -1);
        }
    }
}

/* As many parts as can be, in shapes in which a climb to part 0 for each part would take hours:
 * all in part 0; each in the one before; half of them so, and the others in the last of these; and
 * modules in unions in modules, all imported. */
enum shape { FLAT, DEEP, DEEP_AND_FLAT, UNIONS, SHAPES };

static struct cp_part part_of(enum shape shape, int x) {
    const int last_module[SHAPES] = {0, CP_MAX_PARTS - 2, CP_MAX_PARTS / 2, CP_MAX_PARTS};
    if (x <= last_module[shape]) {
        return (struct cp_part){shape == UNIONS && x % 2 == 1 ? UNION : MODULE, x - 1, 0};
    }
    return (struct cp_part){TEXT, last_module[shape], 1};
}

static void the_largest_schemas_take_a_moment(void **unused) {
    (void)unused;
    struct cp_part *part = calloc(CP_MAX_PARTS, sizeof *part);
    int *begin = calloc(CP_MAX_PARTS, sizeof *begin);
    int *size = calloc(CP_MAX_PARTS, sizeof *size);
    int *imported = calloc(CP_MAX_PARTS, sizeof *imported);
    assert_non_null(part);
    assert_non_null(begin);
    assert_non_null(size);
    assert_non_null(imported);
    const int last[SHAPES] = {CP_MAX_PARTS - 2, 0, CP_MAX_PARTS / 2 - 2, 0};
    for (enum shape shape = FLAT; shape < SHAPES; shape++) {
        for (int x = 0; x < CP_MAX_PARTS; x++) {
            part[x] = part_of(shape, x);
            imported[x] = 1;
        }
        assert_int_equal(cp_schema_check(part, CP_MAX_PARTS), -1);
        assert_int_equal(cp_schema_layout(part, CP_MAX_PARTS, begin, size), CP_OK);
        assert_int_equal(begin[CP_MAX_PARTS - 1], last[shape]);
        assert_int_equal(size[0], shape == UNIONS ? 0 : last[shape] + 1);
        assert_int_equal(cp_prompt_check(part, CP_MAX_PARTS, imported), -1);
    }
    free(imported);
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
        cmocka_unit_test(random_schemas_are_as_the_clauses_say),
        cmocka_unit_test(the_number_of_parts_is_checked_before_they_are_read),
        cmocka_unit_test(numbers_out_of_range_are_found),
        cmocka_unit_test(one_position_too_many_is_refused),
        cmocka_unit_test(sums_do_not_overflow),
        cmocka_unit_test(from_any_depth_back_to_the_schema),
        cmocka_unit_test(numbers_are_compared_whole),
        cmocka_unit_test(the_second_member_is_found_anywhere),
        cmocka_unit_test(the_largest_schemas_take_a_moment),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}

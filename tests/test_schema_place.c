/* SPDX-License-Identifier: Apache-2.0 */
/* Where the segments of a prompt stand (spec/modules.md, MOD-6): the chapter's example, every tiny
 * prompt and random ones against sets of positions, and what is refused. */
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
#include "tests/random.h"

#define MODULE CP_PART_MODULE
#define UNION  CP_PART_UNION
#define TEXT   CP_PART_TEXT
#define PARAM  CP_PART_PARAM

/* ---- The examples ---- */

/* The example of spec/modules.md, with trip-plan and miami. */
#define N 11
static const struct cp_part guide[N] = {
    {MODULE, -1, 0}, {TEXT, 0, 5},  {MODULE, 0, 0}, {TEXT, 2, 4},  {PARAM, 2, 4}, {UNION, 0, 0},
    {MODULE, 5, 0},  {TEXT, 6, 40}, {MODULE, 5, 0}, {TEXT, 8, 30}, {TEXT, 0, 6},
};
static const int with_miami[N] = {1, 0, 1, 0, 0, 0, 0, 0, 1};
#define SCHEMA    0
#define TRIP_PLAN 2
#define TOKYO     6
#define MIAMI     8

/* MOD-6: where the segments of a prompt with trip-plan and miami begin. */
static void expect_in_guide(const struct cp_segment *segments, int n, const int *expected) {
    int begin[N], size[N], placed[8];
    assert_in_range(n, 0, 8);
    assert_int_equal(cp_schema_layout(guide, N, begin, size), CP_OK);
    assert_int_equal(cp_segments_check(guide, N, with_miami, segments, n), -1);
    assert_int_equal(cp_prompt_place(guide, N, begin, size, with_miami, segments, n, placed),
                     CP_OK);
    for (int i = 0; i < n; i++) {
        assert_int_equal(placed[i], expected[i]);
    }
}

/* MOD-6: the examples of the chapter and of proofs/coq/ModulesPlace.v. */
static void there_is_room_for_ten_behind_miami(void **unused) {
    (void)unused;
    expect_in_guide((const struct cp_segment[]){{MIAMI, 5}}, 1, (const int[]){43});
    expect_in_guide((const struct cp_segment[]){{MIAMI, 10}}, 1, (const int[]){43});
    expect_in_guide((const struct cp_segment[]){{MIAMI, 11}}, 1, (const int[]){59});
    expect_in_guide((const struct cp_segment[]){{MIAMI, 4}, {MIAMI, 5}, {-1, 2}, {TRIP_PLAN, 1}}, 4,
                    (const int[]){43, 59, 64, 66});
    expect_in_guide((const struct cp_segment[]){{SCHEMA, 3}, {SCHEMA, 3}, {-1, 0}, {SCHEMA, 0}}, 4,
                    (const int[]){59, 62, 65, 59});
}

/* MOD-6: modules of 50 and 60 tokens, and no gap between them (ERRATA-54). */
static void without_a_gap_a_segment_is_the_last(void **unused) {
    (void)unused;
    const struct cp_part part[] = {
        {MODULE, -1, 0}, {MODULE, 0, 0}, {TEXT, 1, 50}, {MODULE, 0, 0}, {TEXT, 3, 60}};
    const int imported[] = {1, 1, 0, 1, 0};
    const struct cp_segment segments[] = {{1, 3}, {1, 0}, {3, 3}, {-1, 1}};
    const int expected[] = {110, 50, 113, 116};
    int begin[5], size[5], placed[4];
    assert_int_equal(cp_schema_layout(part, 5, begin, size), CP_OK);
    assert_int_equal(cp_prompt_place(part, 5, begin, size, imported, segments, 4, placed), CP_OK);
    assert_memory_equal(placed, expected, sizeof expected);
}

/* MOD-6: an empty module, a param of 4, and a module of 9 that the prompt leaves out. The param is
 * not free, however short its argument is. The second segment has room for 9, and then the segment
 * behind everything begins. */
static void a_param_is_not_free(void **unused) {
    (void)unused;
    const struct cp_part part[] = {{MODULE, -1, 0}, {MODULE, 0, 0}, {MODULE, 0, 0},
                                   {PARAM, 2, 4},   {MODULE, 0, 0}, {TEXT, 4, 9}};
    const int imported[] = {1, 1, 1, 0, 0, 0};
    for (int more = 0; more < 2; more++) {
        const struct cp_segment segments[] = {{1, 1}, {2, 9 + more}, {1, 0}};
        const int expected[] = {13, more ? 14 : 4, 0};
        int begin[6], size[6], placed[3];
        assert_int_equal(cp_schema_layout(part, 6, begin, size), CP_OK);
        assert_int_equal(cp_prompt_place(part, 6, begin, size, imported, segments, 3, placed),
                         CP_OK);
        assert_memory_equal(placed, expected, sizeof expected);
    }
}

/* ---- The clause, as sets of positions ---- */

struct prompt {
    const struct cp_part *part;
    int n_parts;
    const int *begin, *size, *imported;
    const struct cp_segment *segments;
    int n_segments;
};

/* What the prompts of a test were like. */
struct found {
    int prompts;
    int free;       /* segments in a gap */
    int by_texts;   /* segments whose gap has a text or param */
    int by_another; /* segments whose gap has a segment only */
    int past_all;   /* segments in a gap that goes beyond part 0 */
    int refused;
};

enum { NOBODY, OF_SCHEMA, OF_SEGMENT };
static unsigned char owner[CP_MAX_POSITIONS];

static void take(long long begin, long long n, int who) {
    for (long long p = begin; p < begin + n; p++) {
        assert_int_equal(owner[p], NOBODY); /* with MOD-2: no two tokens have one position */
        owner[p] = (unsigned char)who;
    }
}

/* Who has one of n positions from `begin` on: a text or param rather than a segment. */
static int taker_of(long long begin, long long n) {
    int who = NOBODY;
    for (long long p = begin; p < begin + n && p < CP_MAX_POSITIONS; p++) {
        who = owner[p] == OF_SCHEMA || who == NOBODY ? owner[p] : who;
    }
    return who;
}

static int places_by_clause(const struct prompt *p, int *expected, struct found *found) {
    long long all = p->size[0], last = all;
    int status = CP_OK;
    for (int x = 1; x < p->n_parts; x++) {
        if (p->part[x].kind >= TEXT && p->imported[p->part[x].parent]) {
            take(p->begin[x], p->part[x].size, OF_SCHEMA);
        }
    }
    for (int i = 0; i < p->n_segments && status == CP_OK; i++) {
        int x = p->segments[i].behind;
        long long n = p->segments[i].size, at = last;
        if (x >= 0) {
            long long end = p->begin[x] + p->size[x];
            int who = taker_of(end, n);
            at = who == NOBODY ? end : last;
            found->free += who == NOBODY && n > 0 && end < all;
            found->past_all += who == NOBODY && end < all && end + n > all;
            found->by_texts += who == OF_SCHEMA;
            found->by_another += who == OF_SEGMENT;
        }
        if (at + n > CP_MAX_POSITIONS) {
            status = CP_ERROR_TOO_LONG;
            expected[i] = -1;
            found->refused++;
        } else {
            take(at, n, OF_SEGMENT);
            expected[i] = (int)at;
            last = at + n > last ? at + n : last;
        }
    }
    found->prompts++;
    memset(owner, NOBODY, (size_t)last);
    return status;
}

#define POISONED 0x5A5A5A5A
#define MOST     12 /* parts, or segments */

static void check_places(const struct prompt *p, int *placed, struct found *found) {
    int expected[MOST];
    for (int i = 0; i < p->n_segments; i++) {
        expected[i] = placed[i] = POISONED;
    }
    int status = places_by_clause(p, expected, found);
    assert_int_equal(
        cp_segments_check(p->part, p->n_parts, p->imported, p->segments, p->n_segments), -1);
    assert_int_equal(cp_prompt_place(p->part, p->n_parts, p->begin, p->size, p->imported,
                                     p->segments, p->n_segments, placed),
                     status);
    for (int i = 0; i < p->n_segments; i++) {
        assert_int_equal(placed[i], expected[i]);
    }
}

/* ---- Every tiny prompt ---- */

#define TINY         5 /* parts */
#define SEGMENTS     3 /* one fewer if there are so many parts */
#define TINY_PROMPTS 1592180

/* All segments of 0 to 2 tokens, behind each import or none. */
static void each_segment(struct prompt *p, struct cp_segment *segments, struct found *found) {
    int placed[MOST];
    check_places(p, placed, found);
    if (p->n_segments == (p->n_parts < TINY ? SEGMENTS : SEGMENTS - 1)) {
        return;
    }
    struct cp_segment *next = &segments[p->n_segments++];
    for (next->behind = -1; next->behind < p->n_parts; next->behind++) {
        if (next->behind == -1 ||
            (p->part[next->behind].kind == MODULE && p->imported[next->behind])) {
            for (next->size = 0; next->size <= 2; next->size++) {
                each_segment(p, segments, found);
            }
        }
    }
    p->n_segments--;
}

static void each_prompt(const struct cp_part *part, int n, struct found *found) {
    int begin[TINY], size[TINY], imported[TINY];
    struct cp_segment segments[SEGMENTS];
    assert_int_equal(cp_schema_layout(part, n, begin, size), CP_OK);
    for (int set = 1; set < 1 << n; set += 2) {
        int others = 0; /* entries that say nothing */
        for (int x = 0; x < n; x++) {
            imported[x] = set >> x & 1;
            others |= imported[x] && part[x].kind != MODULE;
        }
        if (!others && cp_prompt_check(part, n, imported) == -1) {
            struct prompt p = {part, n, begin, size, imported, segments, 0};
            each_segment(&p, segments, found);
        }
    }
}

/* All schemas of n parts whose sizes are 2 at most, from part x on. */
static void each_schema(struct cp_part *part, int x, int n, struct found *found) {
    for (int kind = MODULE; kind <= PARAM; kind++) {
        for (int parent = x == 0 ? -1 : 0; parent < x; parent++) {
            for (int size = 0; size <= 2; size++) {
                part[x] = (struct cp_part){kind, parent, size};
                if (cp_schema_check(part, x + 1) != -1) {
                    continue;
                }
                if (x + 1 == n) {
                    each_prompt(part, n, found);
                } else {
                    each_schema(part, x + 1, n, found);
                }
            }
        }
    }
}

/* MOD-6 */
static void every_tiny_prompt_is_as_the_clause_says(void **unused) {
    (void)unused;
    struct cp_part part[TINY];
    struct found found = {0};
    for (int n = 1; n <= TINY; n++) {
        each_schema(part, 0, n, &found);
    }
    assert_int_equal(found.prompts, TINY_PROMPTS);
    assert_in_range(found.free, TINY_PROMPTS / 10000, INT_MAX);
    assert_in_range(found.by_texts, TINY_PROMPTS / 10000, INT_MAX);
    assert_in_range(found.by_another, TINY_PROMPTS / 10000, INT_MAX);
    assert_in_range(found.past_all, TINY_PROMPTS / 10000, INT_MAX);
}

/* ---- Random prompts, between pages that nobody may touch ---- */

#define PROMPTS 200000
#define LARGE   2000

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

static void *put(struct guarded g, const void *what, size_t bytes, int front) {
    void *place = front ? g.pages + g.page : g.pages + 2 * g.page - bytes;
    return memcpy(place, what, bytes);
}

/* A schema whose parts are each in a random part that is open: the last one, or around it. Most
 * modules have a text or a param. */
static int random_schema(struct cp_part part[MOST], const int sizes[8], unsigned long long *state) {
    static const int kinds[] = {TEXT, PARAM, MODULE, MODULE, MODULE, UNION};
    int n = MOST - random_below(state, MOST) * random_below(state, MOST) / MOST;
    part[0] = (struct cp_part){MODULE, -1, 0};
    for (int x = 1; x < n; x++) {
        int open[MOST] = {0}, n_open = 1; /* part 0 */
        for (int y = x - 1; y > 0; y = part[y].parent) {
            open[n_open] = y;
            n_open += part[y].kind < TEXT;
        }
        int fills = x > 1 && part[x - 1].kind == MODULE && random_below(state, 4) > 0;
        int of = fills ? x - 1 : open[random_below(state, n_open)];
        int kind = part[of].kind == UNION ? MODULE : kinds[random_below(state, fills ? 2 : 6)];
        int size = kind < TEXT ? 0 : sizes[random_below(state, 8)];
        part[x] = (struct cp_part){kind, of, size + (kind == PARAM && size == 0)};
    }
    return n;
}

/* Imports that are right: a module that is wrong is left out. */
static void random_imports(const struct cp_part *part, int n, int *imported,
                           unsigned long long *state) {
    static const int yes[] = {1, 1, -7, 256, 65536, INT_MIN};
    int most = 1 + random_below(state, 3);
    for (int x = 0; x < n; x++) {
        imported[x] = x == 0 || random_below(state, 4) < most ? yes[random_below(state, 6)] : 0;
    }
    for (int x = cp_prompt_check(part, n, imported); x >= 0;
         x = cp_prompt_check(part, n, imported)) {
        imported[x] = 0;
    }
}

static int random_segments(const struct cp_part *part, int n, const int *imported,
                           const int sizes[8], struct cp_segment *segments,
                           unsigned long long *state) {
    int modules[MOST + 1] = {-1}, n_modules = 1;
    for (int x = 0; x < n; x++) {
        modules[n_modules] = x;
        n_modules += part[x].kind == MODULE && imported[x] != 0;
    }
    int k = random_below(state, MOST + 1);
    for (int i = 0; i < k; i++) {
        segments[i] = (struct cp_segment){modules[random_below(state, n_modules)],
                                          sizes[random_below(state, 8)]};
    }
    return k;
}

static void random_prompts(int prompts, const int of_texts[8], const int of_segments[8],
                           struct found *found) {
    struct guarded g[6];
    unsigned long long state = 1;
    for (int i = 0; i < 6; i++) {
        g[i] = guarded_new();
    }
    for (int i = 0; i < prompts; i++) {
        struct cp_part part[MOST];
        struct cp_segment segments[MOST];
        int begin[MOST], size[MOST], imported[MOST], placed[MOST] = {0}, front = i % 2;
        int n = random_schema(part, of_texts, &state);
        if (cp_schema_layout(part, n, begin, size) != CP_OK) {
            continue;
        }
        random_imports(part, n, imported, &state);
        int k = random_segments(part, n, imported, of_segments, segments, &state);
        size_t bytes = (size_t)n * sizeof(int);
        struct prompt p = {put(g[0], part, (size_t)n * sizeof *part, front),
                           n,
                           put(g[1], begin, bytes, front),
                           put(g[2], size, bytes, front),
                           put(g[3], imported, bytes, front),
                           put(g[4], segments, (size_t)k * sizeof *segments, front),
                           k};
        check_places(&p, put(g[5], placed, (size_t)k * sizeof *placed, front), found);
        assert_memory_equal(p.part, part, (size_t)n * sizeof *part);
        assert_memory_equal(p.begin, begin, bytes);
        assert_memory_equal(p.size, size, bytes);
        assert_memory_equal(p.imported, imported, bytes);
        assert_memory_equal(p.segments, segments, (size_t)k * sizeof *segments);
    }
    for (int i = 0; i < 6; i++) {
        guarded_free(g[i]);
    }
}

/* MOD-6 */
static void random_prompts_are_as_the_clause_says(void **unused) {
    (void)unused;
    const int of_texts[8] = {0, 0, 1, 1, 2, 3, 5, 8};
    const int of_segments[8] = {0, 1, 1, 2, 2, 3, 5, 8};
    struct found found = {0};
    random_prompts(PROMPTS, of_texts, of_segments, &found);
    assert_int_equal(found.prompts, PROMPTS);
    assert_in_range(found.free, PROMPTS / 20, INT_MAX);
    assert_in_range(found.by_texts, PROMPTS / 20, INT_MAX);
    assert_in_range(found.by_another, PROMPTS / 20, INT_MAX);
    assert_in_range(found.past_all, PROMPTS / 100, INT_MAX);
    assert_int_equal(found.refused, 0);
}

/* MOD-6 */
static void large_prompts_are_as_the_clause_says(void **unused) {
    (void)unused;
    const int many = CP_MAX_POSITIONS;
    const int of_texts[8] = {0, 1, 2, 32768, 65535, many / 4, many / 2 - 1, many};
    const int of_segments[8] = {0, 1, 1, 32768, 65536, many / 4, many / 2, INT_MAX};
    struct found found = {0};
    random_prompts(LARGE, of_texts, of_segments, &found);
    assert_in_range(found.prompts, LARGE / 4, LARGE);
    assert_in_range(found.free, LARGE / 100, INT_MAX);
    assert_in_range(found.refused, found.prompts / 4, found.prompts - found.prompts / 10);
}

/* ---- Limits ---- */

/* Numbers at the ends of their ranges, and just outside of them. */
static void a_wrong_segment_is_found(void **unused) {
    (void)unused;
    const int behinds[] = {INT_MIN, -2, -1, N, INT_MAX};
    const int sizes[] = {INT_MIN, -1, 0, 1, INT_MAX};
    for (int b = 0; b < 5 + N; b++) {
        for (int s = 0; s < 5; s++) {
            int behind = b < 5 ? behinds[b] : b - 5;
            int is_right = sizes[s] >= 0 && (behind == -1 || behind == SCHEMA ||
                                             behind == TRIP_PLAN || behind == MIAMI);
            struct cp_segment segments[] = {{-1, 0}, {behind, sizes[s]}, {MIAMI, 1}};
            assert_int_equal(cp_segments_check(guide, N, with_miami, segments, 3),
                             is_right ? -1 : 1);
        }
    }
    struct cp_segment segments[] = {{TOKYO, 1}, {MIAMI, -1}};
    assert_int_equal(cp_segments_check(guide, N, with_miami, segments, 2), 0);
    assert_int_equal(cp_segments_check(guide, N, with_miami, segments, 0), -1);
    struct cp_segment behind_all = {MIAMI, 1}; /* of a schema that ends before miami */
    assert_int_equal(cp_segments_check(guide, MIAMI + 1, with_miami, &behind_all, 1), -1);
    assert_int_equal(cp_segments_check(guide, MIAMI, with_miami, &behind_all, 1), 0);
}

/* Entries of what is no module say nothing. */
static void only_modules_are_imports(void **unused) {
    (void)unused;
    int imported[N];
    for (int x = 0; x < N; x++) {
        imported[x] = 1;
    }
    for (int x = 0; x < N; x++) {
        const struct cp_segment segment = {x, 1};
        assert_int_equal(cp_segments_check(guide, N, imported, &segment, 1),
                         guide[x].kind == MODULE ? -1 : 0);
    }
}

/* MOD-6: in a gap that ends with the last position there can be, and behind everything. */
static void one_position_too_many_is_refused(void **unused) {
    (void)unused;
    const struct cp_part part[] = {
        {MODULE, -1, 0}, {MODULE, 0, 0}, {MODULE, 0, 0}, {TEXT, 2, CP_MAX_POSITIONS - 5}};
    const int imported[] = {1, 1, 0, 0}, with_text[] = {1, 1, 1, 0};
    int begin[4], size[4], placed[2];
    assert_int_equal(cp_schema_layout(part, 4, begin, size), CP_OK);
    for (int more = 0; more < 2; more++) {
        int status = more ? CP_ERROR_TOO_LONG : CP_OK;
        const struct cp_segment whole[] = {{1, CP_MAX_POSITIONS + more}, {1, 0}};
        placed[1] = POISONED;
        assert_int_equal(cp_prompt_place(part, 4, begin, size, imported, whole, 2, placed), status);
        assert_int_equal(placed[0], more ? -1 : 0);
        assert_int_equal(placed[1], more ? POISONED : 0);
        for (int behind = -1; behind <= 1; behind++) {
            const struct cp_segment last[] = {{1, 0}, {behind, 5 + more}};
            assert_int_equal(cp_prompt_place(part, 4, begin, size, with_text, last, 2, placed),
                             status);
            assert_int_equal(placed[0], 0);
            assert_int_equal(placed[1], more ? -1 : CP_MAX_POSITIONS - 5);
        }
    }
}

/* MOD-6: a segment without tokens has a place even where there are no more positions. */
static void an_empty_segment_always_fits(void **unused) {
    (void)unused;
    const struct cp_part part[] = {{MODULE, -1, 0}, {TEXT, 0, CP_MAX_POSITIONS}};
    const int imported[] = {1, 0};
    const struct cp_segment segments[] = {{-1, 0}, {0, 0}, {-1, 1}};
    int begin[2], size[2], placed[3];
    assert_int_equal(cp_schema_layout(part, 2, begin, size), CP_OK);
    assert_int_equal(cp_prompt_place(part, 2, begin, size, imported, segments, 2, placed), CP_OK);
    assert_int_equal(placed[0], CP_MAX_POSITIONS);
    assert_int_equal(placed[1], CP_MAX_POSITIONS);
    assert_int_equal(cp_prompt_place(part, 2, begin, size, imported, segments, 3, placed),
                     CP_ERROR_TOO_LONG);
    assert_int_equal(placed[2], -1);
}

/* As many parts as can be, and thousands of segments. The last text alone has tokens. */
static void the_largest_prompts_take_a_moment(void **unused) {
    (void)unused;
    enum { MANY = 10000 };
    static struct cp_part part[CP_MAX_PARTS];
    static int begin[CP_MAX_PARTS], size[CP_MAX_PARTS], imported[CP_MAX_PARTS];
    static struct cp_segment segments[MANY];
    static int placed[MANY];
    for (int x = 0; x < CP_MAX_PARTS; x++) {
        part[x] = (struct cp_part){x == CP_MAX_PARTS - 1 ? TEXT : MODULE, 0, 0};
        imported[x] = 1;
    }
    part[0].parent = -1;
    part[CP_MAX_PARTS - 1].size = 7;
    assert_int_equal(cp_schema_layout(part, CP_MAX_PARTS, begin, size), CP_OK);
    for (int i = 0; i < MANY; i++) {
        segments[i] = (struct cp_segment){CP_MAX_PARTS - 1 - MANY + i, 1};
    }
    segments[0] = (struct cp_segment){0, 2};
    segments[1] = (struct cp_segment){1, 1};
    assert_int_equal(
        cp_prompt_place(part, CP_MAX_PARTS, begin, size, imported, segments, MANY, placed), CP_OK);
    assert_int_equal(placed[0], 7);
    for (int i = 1; i < MANY; i++) {
        assert_int_equal(placed[i], 8 + i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_room_for_ten_behind_miami),
        cmocka_unit_test(without_a_gap_a_segment_is_the_last),
        cmocka_unit_test(a_param_is_not_free),
        cmocka_unit_test(every_tiny_prompt_is_as_the_clause_says),
        cmocka_unit_test(random_prompts_are_as_the_clause_says),
        cmocka_unit_test(large_prompts_are_as_the_clause_says),
        cmocka_unit_test(a_wrong_segment_is_found),
        cmocka_unit_test(only_modules_are_imports),
        cmocka_unit_test(one_position_too_many_is_refused),
        cmocka_unit_test(an_empty_segment_always_fits),
        cmocka_unit_test(the_largest_prompts_take_a_moment),
    };
    return cmocka_run_group_tests_name("schema_place", tests, NULL, NULL);
}

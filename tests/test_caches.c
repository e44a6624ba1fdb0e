/* SPDX-License-Identifier: Apache-2.0 */
/* Items and tiers of a simulated cache of modules (spec/caches.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/random.h"
#include "cli/modules/cache.h"
#include "cli/modules/items.h"
#include "tests/pml_case.h"

/* ---- Items ---- */

static const char nested[] = "<schema name='s'>one two"
                             "<module name='a'>a1 a2<module name='b'>b1 b2 b3</module>a3</module>"
                             "three"
                             "<union><module name='c'>c1</module><module name='d'/></union>"
                             "<module name='e'>e1 e2<param name='p' len='4'/>e3</module>"
                             "<scaffold modules='a e'/><scaffold modules='c e a'/></schema>";

static struct modules_items items_of(struct pml_case *c, const char *text) {
    struct modules_items items;
    assert_int_equal(pml_case_schema(c, "words", "none", text, strlen(text)), 0);
    modules_items_build(&items, &c->schema);
    return items;
}

static int part_of(const struct pml_case *c, int scope, const char *name) {
    int x = pml_find(&c->schema, scope, CP_PART_MODULE, name, strlen(name));
    assert_true(x > 0);
    return x;
}

/* CACHE-1: by hand. d has no text of its own; b is held by what holds a. */
static void an_item_is_a_modules_own_text_alone_and_in_each_scaffold(void **unused) {
    (void)unused;
    struct pml_case c;
    struct modules_items items = items_of(&c, nested);
    int a = part_of(&c, 0, "a"), b = part_of(&c, a, "b"), e = part_of(&c, 0, "e");
    int cc = part_of(&c, 0, "c"), d = part_of(&c, 0, "d");
    const struct modules_item wanted[] = {
        {0, -1, 3, 0}, {a, -1, 3, 0},  {a, 0, 3, 0},  {a, 1, 3, 0},  {b, -1, 3, 0}, {b, 0, 3, 0},
        {b, 1, 3, 0},  {cc, -1, 1, 0}, {cc, 1, 1, 0}, {e, -1, 3, 0}, {e, 0, 3, 0},  {e, 1, 3, 0},
    };
    assert_int_equal(items.n, sizeof wanted / sizeof wanted[0]);
    for (int i = 0; i < items.n; i++) {
        assert_int_equal(items.item[i].module, wanted[i].module);
        assert_int_equal(items.item[i].scaffold, wanted[i].scaffold);
        assert_int_equal(items.item[i].tokens, wanted[i].tokens);
        assert_int_equal(modules_item_find(&items, wanted[i].module, wanted[i].scaffold), i);
    }
    assert_int_equal(modules_item_find(&items, d, -1), -1);
    assert_int_equal(modules_item_find(&items, cc, 0), -1);
    modules_items_free(&items);
    pml_case_free(&c);
}

/* CACHE-1: a scaffold that needs x never counts for y, nor for z in it. The next one needs y. */
static void what_a_scaffold_excludes_is_no_item_of_it(void **unused) {
    (void)unused;
    struct pml_case c;
    struct modules_items items =
        items_of(&c, "<schema name='s'><module name='a'>a<union><module name='x'>x</module>"
                     "<module name='y'>y<module name='z'>z</module></module></union>"
                     "<union><module name='v'>v</module><module name='w'>w</module></union>"
                     "</module><scaffold modules='a a/x a/v'/><scaffold modules='a a/y'/>"
                     "</schema>");
    int a = part_of(&c, 0, "a"), x = part_of(&c, a, "x"), y = part_of(&c, a, "y");
    int z = part_of(&c, y, "z"), v = part_of(&c, a, "v"), w = part_of(&c, a, "w");
    const int module[] = {a, x, y, z, v, w};
    const int is_item[][2] = {{1, 1}, {1, 0}, {0, 1}, {0, 1}, {1, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof module / sizeof module[0]; i++) {
        for (int scaffold = 0; scaffold < 2; scaffold++) {
            assert_int_equal(modules_item_find(&items, module[i], scaffold) >= 0,
                             is_item[i][scaffold]);
        }
    }
    assert_int_equal(items.n, 6 + 8);
    modules_items_free(&items);
    pml_case_free(&c);
}

/* MOD-3 by the letter: a position, and whose own text it is, of each token of a schema. */
struct token {
    int position, module;
};

static int list_tokens(const struct pml_schema *s, struct token *token) {
    int n = 0;
    for (int x = 0; x < s->n_parts; x++) {
        for (int i = 0; s->part[x].kind == CP_PART_TEXT && i < s->part[x].size; i++) {
            token[n++] = (struct token){s->begin[x] + i, s->part[x].parent};
        }
    }
    return n;
}

static int is_among(int x, const int *list, int n) {
    for (int i = 0; i < n; i++) {
        if (list[i] == x) {
            return 1;
        }
    }
    return 0;
}

static void check_pairs(const char *text) {
    struct pml_case c;
    struct modules_items items = items_of(&c, text);
    static struct token token[1000];
    int seen[100], n_tokens = list_tokens(&c.schema, token);
    for (int i = 0; i < items.n; i++) {
        const struct modules_item *it = &items.item[i];
        int n = pml_mask_sees(&c.schema, it->module, it->scaffold, seen);
        long long pairs = 0;
        for (int j = 0; j < n_tokens; j++) {
            for (int k = 0; token[j].module == it->module && k < n_tokens; k++) {
                pairs +=
                    token[k].position <= token[j].position && is_among(token[k].module, seen, n);
            }
        }
        assert_int_equal(it->pairs, pairs);
    }
    modules_items_free(&items);
    pml_case_free(&c);
}

/* CACHE-1, CACHE-4. By hand: b's three tokens see one, two, a1, a2 and themselves. */
static void pairs_are_those_of_the_mask(void **unused) {
    (void)unused;
    struct pml_case c;
    struct modules_items items = items_of(&c, nested);
    int a = part_of(&c, 0, "a"), b = part_of(&c, a, "b");
    assert_int_equal(items.item[modules_item_find(&items, b, -1)].pairs, 5 + 6 + 7);
    assert_int_equal(items.item[modules_item_find(&items, a, -1)].pairs, 3 + 4 + 5);
    modules_items_free(&items);
    pml_case_free(&c);
    check_pairs(nested);
    check_pairs("<schema name='s'><module name='m'>x y</module></schema>");
    check_pairs("<schema name='s'>s<module name='a'>a b</module><module name='b'>c</module>"
                "<module name='c'>d e<module name='d'>f</module>g</module><module name='e'>h i"
                "</module><scaffold modules='a b'/><scaffold modules='c/d e'/></schema>");
}

/* ---- Tiers, beside a cache that keeps nothing but times ---- */

#define MOST 12

struct naive {
    long long capacity[MODULES_TIERS];
    int size[MOST];
    int is_in_use[MOST];
    long long time[MODULES_TIERS][MOST]; /* when it came or was taken; 0: it is not there */
    long long now;
    long long peak[MODULES_TIERS];
    int n;
    int gone[4 * MOST][2], n_gone;
    long long to_host;
};

static long long used(const struct naive *naive, int t, int only_in_use) {
    long long sum = 0;
    for (int i = 0; i < naive->n; i++) {
        int counts = naive->time[t][i] > 0 && (!only_in_use || naive->is_in_use[i]);
        sum += counts ? naive->size[i] : 0;
    }
    return sum;
}

static int naive_enter(struct naive *naive, int t, int item) {
    if (naive->time[t][item] > 0 || naive->size[item] > naive->capacity[t] - used(naive, t, 1)) {
        return 0;
    }
    while (naive->size[item] > naive->capacity[t] - used(naive, t, 0)) {
        int out = -1;
        for (int i = 0; i < naive->n; i++) {
            int may = naive->time[t][i] > 0 && !naive->is_in_use[i];
            out = may && (out < 0 || naive->time[t][i] < naive->time[t][out]) ? i : out;
        }
        if (out < 0) {
            fail_msg("nothing can leave tier %d", t);
            return 0;
        }
        naive->time[t][out] = 0;
        naive->gone[naive->n_gone][0] = out;
        naive->gone[naive->n_gone++][1] = t;
        if (t == MODULES_GPU && naive_enter(naive, MODULES_CPU, out)) {
            naive->to_host += naive->size[out];
        }
    }
    naive->time[t][item] = ++naive->now;
    naive->peak[t] = used(naive, t, 0) > naive->peak[t] ? used(naive, t, 0) : naive->peak[t];
    return 1;
}

static int naive_take(struct naive *naive, int item) {
    int from = naive->time[MODULES_GPU][item] > 0   ? MODULES_GPU
               : naive->time[MODULES_CPU][item] > 0 ? MODULES_CPU
                                                    : MODULES_NOWHERE;
    naive->n_gone = 0;
    naive->to_host = 0;
    naive->is_in_use[item] = 1;
    for (int t = 0; t < MODULES_TIERS; t++) {
        naive->time[t][item] = naive->time[t][item] > 0 ? ++naive->now : 0;
    }
    if (from != MODULES_GPU && !naive_enter(naive, MODULES_GPU, item) &&
        naive_enter(naive, MODULES_CPU, item)) {
        naive->to_host += naive->size[item];
    }
    return from;
}

static void check_take(struct modules_cache *cache, struct naive *naive, int item) {
    struct modules_taken taken = modules_cache_take(cache, item);
    assert_int_equal(taken.from, naive_take(naive, item));
    assert_int_equal(taken.is_in_gpu, naive->time[MODULES_GPU][item] > 0);
    assert_int_equal(taken.is_in_cpu, naive->time[MODULES_CPU][item] > 0);
    assert_int_equal(taken.to_host, naive->to_host);
    assert_int_equal(taken.n_gone, naive->n_gone);
    for (int i = 0; i < taken.n_gone; i++) {
        assert_int_equal(taken.gone[i].item, naive->gone[i][0]);
        assert_int_equal(taken.gone[i].tier, naive->gone[i][1]);
        assert_false(naive->is_in_use[taken.gone[i].item]);
    }
    for (int t = 0; t < MODULES_TIERS; t++) {
        assert_int_equal(cache->tier[t].used, used(naive, t, 0));
        assert_int_equal(cache->tier[t].in_use, used(naive, t, 1));
        assert_int_equal(cache->tier[t].peak, naive->peak[t]);
        assert_true(cache->tier[t].used <= cache->tier[t].capacity);
    }
    assert_true(modules_cache_check(cache));
}

/* CACHE-2, CACHE-3. */
static void any_cache_is_the_naive_one(void **unused) {
    (void)unused;
    struct prng random = {2026};
    for (int world = 0; world < 2000; world++) {
        struct naive naive = {.n = 1 + prng_below(&random, MOST)};
        struct modules_cache cache;
        for (int t = 0; t < MODULES_TIERS; t++) {
            naive.capacity[t] = prng_below(&random, 30);
        }
        modules_cache_new(&cache, naive.n, naive.capacity);
        for (int i = 0; i < naive.n; i++) {
            naive.size[i] = 1 + prng_below(&random, 9);
            modules_cache_size(&cache, i, naive.size[i]);
        }
        for (int step = 0; step < 60; step++) {
            check_take(&cache, &naive, prng_below(&random, naive.n));
            if (prng_below(&random, 4) == 0) {
                modules_cache_release(&cache);
                memset(naive.is_in_use, 0, sizeof naive.is_in_use);
            }
        }
        modules_cache_free(&cache);
    }
}

static struct modules_cache cache_of(int n, const int *size, long long gpu, long long cpu) {
    struct modules_cache cache;
    const long long capacity[MODULES_TIERS] = {gpu, cpu};
    modules_cache_new(&cache, n, capacity);
    for (int i = 0; i < n; i++) {
        modules_cache_size(&cache, i, size[i]);
    }
    return cache;
}

/* CACHE-2, CACHE-3: the table that begins spec/caches.md. */
static void the_chapters_example(void **unused) {
    (void)unused;
    struct modules_cache cache = cache_of(3, (const int[]){4, 3, 2}, 6, 8);
    static const struct {
        int item, from, gpu, cpu;
        long long to_host;
    } step[] = {{0, MODULES_NOWHERE, 4, 0, 0},
                {1, MODULES_NOWHERE, 3, 4, 4},
                {2, MODULES_NOWHERE, 5, 4, 0},
                {0, MODULES_CPU, 6, 7, 3},
                {2, MODULES_GPU, 6, 7, 0}};
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++) {
        struct modules_taken taken = modules_cache_take(&cache, step[i].item);
        assert_int_equal(taken.from, step[i].from);
        assert_int_equal(taken.to_host, step[i].to_host);
        assert_int_equal(cache.tier[MODULES_GPU].used, step[i].gpu);
        assert_int_equal(cache.tier[MODULES_CPU].used, step[i].cpu);
        modules_cache_release(&cache);
    }
    assert_int_equal(cache.tier[MODULES_GPU].first, 2);
    assert_int_equal(cache.tier[MODULES_GPU].last, 0);
    assert_int_equal(cache.tier[MODULES_CPU].first, 1);
    assert_int_equal(cache.tier[MODULES_CPU].last, 0);
    modules_cache_free(&cache);
}

/* CACHE-2: the counterexample, with the rule. Item 1 goes to the CPU's memory, or nowhere. */
static void what_is_in_use_stays(void **unused) {
    (void)unused;
    for (int cpu = 0; cpu <= 4; cpu += 4) {
        struct modules_cache cache = cache_of(2, (const int[]){4, 4}, 4, cpu);
        (void)modules_cache_take(&cache, 0);
        struct modules_taken taken = modules_cache_take(&cache, 1);
        assert_int_equal(taken.n_gone, 0);
        assert_false(taken.is_in_gpu);
        assert_int_equal(taken.is_in_cpu, cpu > 0);
        assert_int_equal(taken.to_host, cpu);
        assert_int_equal(modules_cache_take(&cache, 0).from, MODULES_GPU);
        modules_cache_release(&cache);
        assert_int_equal(modules_cache_take(&cache, 1).from,
                         cpu > 0 ? MODULES_CPU : MODULES_NOWHERE);
        modules_cache_free(&cache);
    }
}

/* CACHE-2: an item that is larger than the tier. */
static void where_there_can_be_no_room_nothing_leaves(void **unused) {
    (void)unused;
    struct modules_cache cache = cache_of(3, (const int[]){2, 2, 9}, 5, 5);
    (void)modules_cache_take(&cache, 0);
    (void)modules_cache_take(&cache, 1);
    modules_cache_release(&cache);
    struct modules_taken taken = modules_cache_take(&cache, 2);
    assert_int_equal(taken.n_gone, 0);
    assert_false(taken.is_in_gpu || taken.is_in_cpu);
    assert_int_equal(cache.tier[MODULES_GPU].used, 4);
    assert_int_equal(cache.tier[MODULES_GPU].peak, 4);
    modules_cache_free(&cache);
}

/* CACHE-2: a wrong account is a finding. */
static void a_wrong_account_is_noticed(void **unused) {
    (void)unused;
    struct modules_cache cache = cache_of(3, (const int[]){2, 2, 1}, 5, 5);
    (void)modules_cache_take(&cache, 0);
    (void)modules_cache_take(&cache, 1);
    assert_true(modules_cache_check(&cache));
    cache.tier[MODULES_GPU].used++;
    assert_false(modules_cache_check(&cache));
    cache.tier[MODULES_GPU].used--;
    cache.tier[MODULES_GPU].in_use--;
    assert_false(modules_cache_check(&cache));
    cache.tier[MODULES_GPU].in_use++;
    cache.entry[2].is_in[MODULES_CPU] = 1;
    assert_false(modules_cache_check(&cache));
    cache.entry[2].is_in[MODULES_CPU] = 0;
    cache.tier[MODULES_GPU].capacity = 3;
    assert_false(modules_cache_check(&cache));
    modules_cache_free(&cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_is_a_modules_own_text_alone_and_in_each_scaffold),
        cmocka_unit_test(what_a_scaffold_excludes_is_no_item_of_it),
        cmocka_unit_test(pairs_are_those_of_the_mask),
        cmocka_unit_test(any_cache_is_the_naive_one),
        cmocka_unit_test(the_chapters_example),
        cmocka_unit_test(what_is_in_use_stays),
        cmocka_unit_test(where_there_can_be_no_room_nothing_leaves),
        cmocka_unit_test(a_wrong_account_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

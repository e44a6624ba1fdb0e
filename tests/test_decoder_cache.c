/* SPDX-License-Identifier: Apache-2.0 */
/* What a run, cp_decoder_cache_append() and cp_decoder_cache_move() write, and what they leave as
 * it is: whole caches of any capacity are compared with what they must be (spec/layers.md). */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/layers.h"
#include "tests/decoder_case.h"
#include "tests/random.h"

#define ROUNDS 300
#define MOST   9 /* entries of a cache */

/* A cache of any capacity with any entries, and any numbers where it has none and behind it. */
static void make_cache(struct decoder_cache *c, unsigned long long *random) {
    for (int i = 0; i < CASE_NUMBERS; i++) {
        c->k[i] = random_normal(random);
        c->v[i] = random_normal(random);
    }
    for (int e = 0; e < CASE_TOKENS; e++) {
        c->position[e] = random_below(random, 2001) - 1000;
    }
    int capacity = 1 + random_below(random, MOST), n = random_below(random, capacity + 1);
    c->cache = (struct cp_decoder_cache){n, capacity, c->position, c->k, c->v};
}

/* The same arrays, to be compared later. */
static void copy_cache(struct decoder_cache *to, const struct decoder_cache *from) {
    *to = *from;
    to->cache.position = to->position;
    to->cache.k = to->k;
    to->cache.v = to->v;
}

static void assert_same_cache(const struct decoder_cache *a, const struct decoder_cache *b) {
    assert_int_equal(a->cache.n, b->cache.n);
    assert_int_equal(a->cache.capacity, b->cache.capacity);
    assert_memory_equal(a->position, b->position, sizeof a->position);
    assert_memory_equal(a->k, b->k, sizeof a->k);
    assert_memory_equal(a->v, b->v, sizeof a->v);
}

/* DEC-7, LAYER-15: entries of one cache stand behind those of another, whatever the two capacities
 * are, and nothing else is written; without room nothing is. */
static void appended_entries_are_copies_and_nothing_else_is_written(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache to, from, expected, of_from;
    unsigned long long random = 21;
    int n_without_room = 0;
    for (int i = 0; i < ROUNDS; i++) {
        decoder_case_make(&c, &random, i % 3, 1 + i % CASE_LAYERS);
        const struct cp_decoder_shape *s = &c.decoder.shape;
        make_cache(&to, &random);
        make_cache(&from, &random);
        int first = random_below(&random, from.cache.n + 1);
        int n = random_below(&random, from.cache.n - first + 1);
        int has_room = n <= to.cache.capacity - to.cache.n;
        copy_cache(&expected, &to);
        copy_cache(&of_from, &from);
        for (int e = 0; e < n && has_room; e++) {
            for (int l = 0; l < s->n_layers; l++) {
                for (int x = 0; x < s->n_kv_heads * s->d_head; x++) {
                    size_t target = decoder_case_at(&c, &to, l, to.cache.n + e, 0) + (size_t)x;
                    size_t source = decoder_case_at(&c, &from, l, first + e, 0) + (size_t)x;
                    expected.k[target] = from.k[source];
                    expected.v[target] = from.v[source];
                }
            }
            expected.position[to.cache.n + e] = from.position[first + e];
        }
        expected.cache.n += has_room ? n : 0;
        n_without_room += !has_room;
        assert_int_equal(cp_decoder_cache_append(s, &to.cache, &from.cache, first, n),
                         has_room ? CP_OK : CP_ERROR_TOO_LONG);
        assert_same_cache(&to, &expected);
        assert_same_cache(&from, &of_from);
    }
    assert_true(n_without_room > ROUNDS / 15 && n_without_room < ROUNDS * 2 / 3);
}

/* DEC-8, DEC-9, LAYER-15: of the moved entries the positions change, and under rotary positions the
 * keys of all layers and heads, by R_t. Nothing else is written. */
static void moved_entries_are_rotated_and_nothing_else_is_written(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache a, expected;
    unsigned long long random = 22;
    for (int i = 0; i < ROUNDS; i++) {
        double workspace[2 * CASE_WIDTH + 1], cosine[CASE_WIDTH], sine[CASE_WIDTH];
        int is_rotary = i % 2, t = i % 10 < 2 ? 0 : random_below(&random, 2001) - 1000;
        decoder_case_make(&c, &random, is_rotary ? CP_POSITIONS_ROTARY : CP_POSITIONS_ALIBI,
                          1 + i / 2 % CASE_LAYERS);
        const struct cp_decoder_shape *s = &c.decoder.shape;
        make_cache(&a, &random);
        int first = random_below(&random, a.cache.n + 1);
        int n = random_below(&random, a.cache.n - first + 1);
        copy_cache(&expected, &a);
        cp_rotation(cosine, sine, c.frequency, s->n_pairs, t);
        for (int e = first; e < first + n; e++) {
            for (int l = 0; l < s->n_layers && is_rotary; l++) {
                for (int g = 0; g < s->n_kv_heads; g++) {
                    cp_rotate(expected.k + decoder_case_at(&c, &a, l, e, g), cosine, sine,
                              s->n_pairs, s->pair_distance);
                }
            }
            expected.position[e] += t;
        }
        workspace[2 * s->n_pairs] = 7.0;
        assert_int_equal(
            cp_decoder_cache_move(&c.decoder, &a.cache, first, n, t, is_rotary ? workspace : NULL),
            CP_OK);
        assert_true(workspace[2 * s->n_pairs] == 7.0);
        assert_same_cache(&a, &expected);
    }
}

/* LAYER-15: when one of the positions would be no int, none is moved. */
static void a_position_that_would_be_no_int_stops_the_move(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache a, before;
    unsigned long long random = 23;
    double workspace[2 * CASE_WIDTH];
    for (int i = 0; i < 40; i++) {
        int up = i / 2 % 2, t = up ? 6 : -6, limit = up ? INT_MAX - 5 : INT_MIN + 5;
        decoder_case_make(&c, &random, i % 2 ? CP_POSITIONS_ROTARY : CP_POSITIONS_ALIBI, 1);
        make_cache(&a, &random);
        a.cache.capacity = a.cache.n = MOST;
        a.position[1 + i % (MOST - 1)] = limit;
        copy_cache(&before, &a);
        assert_int_equal(cp_decoder_cache_move(&c.decoder, &a.cache, 0, MOST, t, workspace),
                         CP_ERROR_ARGUMENT);
        assert_same_cache(&a, &before);
        a.position[0] = limit; /* not moved, so not looked at */
        a.position[1 + i % (MOST - 1)] = limit + (up ? -1 : 1);
        assert_int_equal(cp_decoder_cache_move(&c.decoder, &a.cache, 1, MOST - 1, t, workspace),
                         CP_OK);
        assert_int_equal(a.position[1 + i % (MOST - 1)], up ? INT_MAX : INT_MIN);
        assert_int_equal(a.position[0], limit);
    }
}

/* DEC-2, LAYER-15: a run writes its own entries at the end of a cache of any capacity, and leaves
 * the others as they are. */
static void a_run_writes_its_own_entries_alone(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache a, before;
    unsigned long long random = 24;
    const int token[MOST] = {0, 1, 2, 1, 0, 2, 2, 1, 0};
    int n_runs = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int position[MOST];
        double states[MOST * CASE_WIDTH];
        decoder_case_make(&c, &random, i % 3, 1 + i % CASE_LAYERS);
        const struct cp_decoder_shape *s = &c.decoder.shape;
        make_cache(&a, &random);
        int room = a.cache.capacity - a.cache.n,
            n = room == 0 ? 1 : 1 + random_below(&random, room);
        for (int t = 0; t < n; t++) {
            position[t] = random_below(&random, CASE_TOKENS);
        }
        copy_cache(&before, &a);
        int status = decoder_case_run(&c, &a, n, token, position, NULL, states, NULL);
        assert_int_equal(status, room == 0 ? CP_ERROR_TOO_LONG : CP_OK);
        for (int e = before.cache.n; e < before.cache.n + n && room > 0; e++) {
            for (int l = 0; l < s->n_layers; l++) {
                size_t at = decoder_case_at(&c, &a, l, e, 0);
                size_t bytes = (size_t)(s->n_kv_heads * s->d_head) * sizeof(double);
                assert_memory_not_equal(before.v + at, a.v + at, bytes);
                memcpy(before.k + at, a.k + at, bytes);
                memcpy(before.v + at, a.v + at, bytes);
            }
            before.position[e] = position[e - before.cache.n];
        }
        before.cache.n += room == 0 ? 0 : n;
        n_runs += room > 0;
        assert_same_cache(&a, &before);
    }
    assert_true(n_runs > ROUNDS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_entries_are_copies_and_nothing_else_is_written),
        cmocka_unit_test(moved_entries_are_rotated_and_nothing_else_is_written),
        cmocka_unit_test(a_position_that_would_be_no_int_stops_the_move),
        cmocka_unit_test(a_run_writes_its_own_entries_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

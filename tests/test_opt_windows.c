/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of fast attention (spec/windows.md), in every version that the machine can run: within
 * the certified tolerance of attention over the keys of WINDOW-1; the same bits from any number of
 * threads; what no row sees is not read. Runs at any positions are in test_runs_library.c, numbers
 * that are no window's in test_windows.c. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/status.h"
#include "opt_case.h"

static const struct shape small = {.b = 5,
                                   .max_depth = 4,
                                   .chunk_size = 3,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = 24,
                                   .query_mode = CASE_SEVERAL};

static struct cp_opt *opt_of(int n_threads, int version) {
    struct cp_opt *opt;
    assert_int_equal(cp_opt_new(&opt, n_threads, version), CP_OK);
    return opt;
}

/* How many pairs of a row and a key of its sequence there are, and how many of them are seen. */
static long long pairs_seen, pairs;

static void count_pairs(const struct attend_case *c) {
    for (int row = 0; row < c->n_rows; row++) {
        int n = c->plan->sequence[case_sequence_of(c, row)].n_tokens;
        for (int j = 0; j < n; j++) {
            pairs_seen += case_sees(c, row, j);
        }
        pairs += n;
    }
}

/* Right in each version, and nothing but results written. */
static void check(const struct shape *shape, struct cp_window window, unsigned long long seed,
                  double *largest) {
    struct attend_case c;
    case_make(&c, shape, seed);
    c.attention.window = window;
    count_pairs(&c);
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(2, version);
        int status = opt_case_run(opt, &c, (int)(seed % 8));
        int wrong = status == CP_OK ? opt_case_wrong(&c, 40, largest) : 0;
        if (status != CP_OK || wrong > 0) {
            print_error("version %d, window of %d, %d ahead, %d kept\n", version, window.keys,
                        window.ahead, window.kept);
            case_print(&c);
        }
        assert_int_equal(status, CP_OK);
        assert_int_equal(wrong, 0);
        cp_opt_free(opt);
    }
    case_free(&c);
}

/* WINDOW-3: forests of small chunks, with rows at positions of PREFILL-1 and at others, also below
 * 0 and behind all keys. */
static void forests_have_windows(void **unused) {
    const int keys[] = {1, 2, 3, 4, 5, 9, 0}, ahead[] = {0, 0, 1, 2, 5}, kept[] = {0, 1, 3, 4, 7};
    double largest = 0.0;
    (void)unused;
    pairs_seen = pairs = 0;
    for (int seed = 0; seed < 300; seed++) {
        struct shape shape = small;
        struct cp_window window = {keys[seed % 7], ahead[seed / 2 % 5], kept[seed / 3 % 5]};
        shape.b = seed % 12;
        shape.max_depth = 1 + seed % 5;
        shape.chunk_size = 1 + seed % 4;
        shape.query_mode = seed % CASE_N_QUERY_MODE;
        shape.poison = seed / 5 % 3;
        check(&shape, window, 2000 + (unsigned)seed, &largest);
    }
    assert_true(pairs_seen > pairs / 10 && pairs_seen < pairs * 9 / 10);
    assert_true(largest > 0.01 && largest < 1.0); /* not by too wide a bound */
}

/* WINDOW-2: windows and kept tokens that end at the border of a chunk or a tile, and one off; kept
 * ones that end in the chunk in which the window begins; with few rows and with many. */
static void windows_end_at_borders_and_beside_them(void **unused) {
    const int chunk_sizes[] = {16, 63, 64, 100}, off[] = {-1, 0, 1};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 72; i++) {
        struct shape shape = small;
        int c = chunk_sizes[i % 4], side = off[i / 4 % 3];
        struct cp_window window = {i % 5 == 0 ? 64 + side : c + side, i % 7 == 0 ? c / 2 : 0,
                                   i % 2   ? c + off[i / 12 % 3]
                                   : i % 3 ? 64 + side
                                           : 0};
        shape.chunk_size = c;
        shape.max_depth = 4;
        shape.n_heads = i / 2 % 2 ? 4 : 36;
        shape.query_mode = i / 24 == 0 ? CASE_DECODE : i / 24 == 1 ? CASE_ALL : CASE_OWN;
        check(&shape, window, 2400 + (unsigned)i, &largest);
    }
}

/* Paths that are cut into several tasks, most of which no row sees. */
static void long_paths(void **unused) {
    const struct cp_window window[] = {{1, 0, 0},  {65, 0, 4},   {700, 0, 70}, {64, 64, 0},
                                       {64, 0, 1}, {1000, 9, 3}, {3, 0, 600},  {5, 2, 2000}};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 16; i++) {
        struct shape shape = small;
        shape.b = 1 + i % 3;
        shape.chunk_size = i % 2 ? 64 : 100;
        shape.max_depth = 24;
        shape.n_heads = 2;
        shape.n_kv_heads = 1;
        shape.head_dim = 8;
        shape.query_mode = i / 8 ? CASE_OWN : i % 4 ? CASE_DECODE : CASE_ALL;
        check(&shape, window[i % 8], 2500 + (unsigned)i, &largest);
    }
}

static void types_and_values(void **unused) {
    const int types[] = {CP_FP16, CP_BF16, CP_FP32};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 3 * CASE_N_VALUES; i++) {
        struct shape shape = small;
        shape.values = i % CASE_N_VALUES;
        shape.head_dim = i % 2 ? 48 : 100;
        shape.chunk_size = 16;
        shape.n_heads = i / 2 % 2 ? 4 : 40;
        shape.q_type = shape.kv_type = shape.out_type = types[i / CASE_N_VALUES];
        check(&shape, (struct cp_window){11, i % 3, 5}, 2600 + (unsigned)i, &largest);
    }
}

/* ---- The same bits ---- */

/* Without a window kept says nothing, and a window that is large enough hides nothing: tiles are
 * the same, and so are the bits. */
static void a_large_window_and_none_are_the_same(void **unused) {
    const struct cp_window same[] = {
        {0, 0, CP_MAX_WINDOW}, {CP_MAX_WINDOW, 0, 0}, {CP_MAX_WINDOW, 0, 3}, {1, 0, CP_MAX_WINDOW}};
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(2, version);
        for (unsigned seed = 0; seed < 40; seed++) {
            struct shape shape = small;
            struct attend_case c;
            shape.query_mode = (int)seed % CASE_OWN;
            shape.chunk_size = seed % 3 ? 7 : 64;
            shape.n_heads = seed % 2 ? 4 : 36;
            case_make(&c, &shape, 2700 + seed);
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            struct opt_results results = opt_results_of(&c);
            for (int x = 0; x < 4; x++) {
                c.attention.window = same[x];
                assert_int_equal(opt_case_run(opt, &c, x), CP_OK);
                assert_true(opt_results_same(&c, &results));
            }
            opt_results_free(&results);
            case_free(&c);
        }
        cp_opt_free(opt);
    }
}

static void results_do_not_depend_on_threads(void **unused) {
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        for (unsigned seed = 0; seed < 6; seed++) {
            struct shape shape = small;
            struct attend_case c;
            shape.chunk_size = 64;
            shape.max_depth = seed % 2 ? 24 : 2;
            shape.query_mode = seed % 2 ? CASE_DECODE : CASE_ALL;
            case_make(&c, &shape, 2800 + seed);
            c.attention.window = (struct cp_window){100 + (int)seed * 50, 0, (int)seed};
            struct cp_opt *one = opt_of(1, version);
            assert_int_equal(opt_case_run(one, &c, 0), CP_OK);
            struct opt_results results = opt_results_of(&c);
            cp_opt_free(one);
            for (int threads = 2; threads <= 8; threads += 3) {
                struct cp_opt *opt = opt_of(threads, version);
                assert_int_equal(opt_case_run(opt, &c, threads), CP_OK);
                assert_true(opt_results_same(&c, &results));
                cp_opt_free(opt);
            }
            opt_results_free(&results);
            case_free(&c);
        }
    }
}

/* Layers with windows and layers without may share a workspace. */
static void the_workspace_does_not_depend_on_the_window(void **unused) {
    struct shape shape = small;
    struct attend_case c;
    struct cp_opt *opt = opt_of(2, CP_OPT_BEST);
    (void)unused;
    shape.chunk_size = 64;
    shape.max_depth = 24;
    shape.query_mode = CASE_OWN;
    case_make(&c, &shape, 2900);
    c.attention.variant = CP_BUFFERED;
    size_t size = cp_opt_workspace(opt, &c.attention);
    c.attention.window = (struct cp_window){64, 1, 2};
    assert_true(size > 0 && cp_opt_workspace(opt, &c.attention) == size);
    c.attention.position = NULL;
    assert_int_equal(cp_opt_workspace(opt, &c.attention), size);
    cp_opt_free(opt);
    case_free(&c);
}

/* ---- What is felt, and what is read ---- */

static int is_nan(const struct attend_case *c, int at) {
    int nan = 0;
    for (int x = 0; x < c->shape.head_dim; x++) {
        size_t place = (size_t)at * (size_t)c->shape.head_dim + (size_t)x;
        nan += isnan(cp_number_load(c->attention.out, c->attention.out_type, place));
    }
    return nan > 0;
}

/* TPP-6: a key that is a NaN, in K or in V, makes the rows that see it NaN, and no other. */
static void a_key_is_felt_by_those_that_see_it(void **unused) {
    int felt = 0, not_felt = 0;
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(1, version);
        for (unsigned seed = 0; seed < 200; seed++) {
            struct shape shape = small;
            struct attend_case c;
            shape.query_mode = (int)seed % CASE_N_QUERY_MODE;
            shape.chunk_size = seed % 4 ? 3 : 9;
            shape.n_heads = seed % 3 ? 4 : 24;
            case_make(&c, &shape, 3000 + seed);
            c.attention.window = (struct cp_window){1 + (int)(seed / 5 % 7), (int)(seed / 2 % 3),
                                                    (int)(seed / 3 % 5)};
            int s = (int)seed % shape.b, n = c.plan->sequence[s].n_tokens;
            int j = n == 0 ? 0 : (int)(seed * 7) % n, g = (int)seed % shape.n_kv_heads;
            size_t poisoned = n == 0 ? SIZE_MAX : case_key(&c, s, j, g);
            for (size_t x = 0; x < (size_t)shape.head_dim && n > 0; x++) {
                cp_number_store(seed % 2 ? c.typed_k : c.typed_v, shape.kv_type, poisoned + x, NAN);
            }
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            for (int at = 0; at < c.n_rows * shape.n_heads; at++) {
                int row = at / shape.n_heads, of_row = case_sequence_of(&c, row);
                int of = at % shape.n_heads / (shape.n_heads / shape.n_kv_heads);
                int sees = j < c.plan->sequence[of_row].n_tokens && case_sees(&c, row, j) &&
                           case_key(&c, of_row, j, of) == poisoned;
                assert_int_equal(is_nan(&c, at), sees);
                felt += sees;
                not_felt += !sees;
            }
            case_free(&c);
        }
        cp_opt_free(opt);
    }
    assert_in_range(felt, 300, 1000000); /* the case has occurred often */
    assert_in_range(not_felt, 500, 1000000);
}

/* Does the row see one of the keys begin .. end - 1 of its sequence? */
static int sees_one_of(const struct attend_case *c, int row, int begin, int end) {
    int n = c->plan->sequence[case_sequence_of(c, row)].n_tokens, seen = 0;
    for (int j = begin; j < end && j < n; j++) {
        seen |= case_sees(c, row, j);
    }
    return seen;
}

#define TILE 64 /* keys that opt/ takes at once, counted from the first of a path on */

/* A chunk of which a row sees a key; or one between keys of the same tile that the row sees. */
static int may_be_read(const struct attend_case *c, int chunk) {
    int size = c->shape.chunk_size;
    for (int row = 0; row < c->n_rows; row++) {
        const struct cp_plan_sequence *path = &c->plan->sequence[case_sequence_of(c, row)];
        for (int k = 0; k < path->n_chunks; k++) {
            int begin = k * size, end = begin + size, tile = begin / TILE * TILE;
            if (path->run[k].chunk == chunk &&
                (sees_one_of(c, row, begin, end) ||
                 (sees_one_of(c, row, tile, begin) && sees_one_of(c, row, end, tile + TILE)))) {
                return 1;
            }
        }
    }
    return 0;
}

/* A copy of K or V, in which nothing of what no row sees can be read. A chunk is some pages. Counts
 * the chunks that cannot be read. */
static void *guard(const struct attend_case *c, const void *from, size_t chunk_bytes, int *hidden) {
    size_t n = (size_t)c->plan->capacity * chunk_bytes;
    char *copy = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(copy != MAP_FAILED);
    memcpy(copy, from, n);
    for (int chunk = 0; chunk < c->plan->capacity; chunk++) {
        if (!may_be_read(c, chunk)) {
            assert_int_equal(mprotect(copy + (size_t)chunk * chunk_bytes, chunk_bytes, PROT_NONE),
                             0);
            ++*hidden;
        }
    }
    return copy;
}

/* WINDOW-4: a kernel need not read what no row sees; opt/ does not. So a window costs what its keys
 * cost. Chunks as large as tiles; then smaller ones, of one row, so that it alone has the tiles. */
static void what_no_row_sees_is_not_read(void **unused) {
    const struct cp_window window[] = {
        {1, 0, 0}, {64, 0, 0}, {65, 0, 1}, {130, 0, 3}, {63, 10, 65}};
    int hidden = 0;
    (void)unused;
    for (int i = 0; i < 30; i++) {
        struct shape shape = small;
        struct attend_case c;
        shape.b = i < 10 ? shape.b : 1;
        shape.chunk_size = i < 10 ? 64 : 16;
        shape.max_depth = i < 10 ? 20 : 40;
        shape.n_kv_heads = 1;
        shape.head_dim = 256;
        shape.kv_type = CP_FP32;
        shape.n_heads = i % 2 ? 1 : 24;
        shape.query_mode = i / 5 == 1 ? CASE_OWN : CASE_DECODE;
        case_make(&c, &shape, 3300 + (unsigned)i);
        c.attention.window = window[i % 5];
        size_t bytes = (size_t)shape.chunk_size * 256 * sizeof(float);
        assert_int_equal(bytes % (size_t)sysconf(_SC_PAGESIZE), 0);
        void *k = guard(&c, c.typed_k, bytes, &hidden), *v = guard(&c, c.typed_v, bytes, &hidden);
        c.attention.k = k;
        c.attention.v = v;
        for (int n = 0, version; (version = opt_case_version(n)) != 0; n++) {
            struct cp_opt *opt = opt_of(1, version);
            double largest = 0.0;
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            assert_int_equal(opt_case_wrong(&c, 40, &largest), 0);
            cp_opt_free(opt);
        }
        assert_int_equal(munmap(k, (size_t)c.plan->capacity * bytes), 0);
        assert_int_equal(munmap(v, (size_t)c.plan->capacity * bytes), 0);
        case_free(&c);
    }
    assert_true(hidden > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forests_have_windows),
        cmocka_unit_test(windows_end_at_borders_and_beside_them),
        cmocka_unit_test(long_paths),
        cmocka_unit_test(types_and_values),
        cmocka_unit_test(a_large_window_and_none_are_the_same),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(the_workspace_does_not_depend_on_the_window),
        cmocka_unit_test(a_key_is_felt_by_those_that_see_it),
        cmocka_unit_test(what_no_row_sees_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

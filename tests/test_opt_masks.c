/* SPDX-License-Identifier: Apache-2.0 */
/* Masks of fast attention (spec/masks.md), in every version that the machine can run: within the
 * certified tolerance of attention over the keys of MASK-1; the same bits from any number of
 * threads, and for all bits 1 those without a mask; what no row sees is not read. */
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
#include "mask_case.h"
#include "opt_case.h"
#include "random.h"
#include "score_case.h"

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

/* Right in each version, and nothing but results written. Scores change if asked (SCORE-4). */
static void check(const struct shape *shape, struct cp_window window, int kind, int changes,
                  unsigned long long seed, double *largest) {
    struct attend_case c;
    struct mask_case m;
    struct score_case drawn;
    case_make(&c, shape, seed);
    c.attention.window = window;
    mask_case_take(&m, &c, kind, seed);
    if (changes) {
        score_case_draw(&c, &drawn, seed);
    }
    count_pairs(&c);
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(2, version);
        int status = opt_case_run(opt, &c, (int)(seed % 8));
        int wrong = status == CP_OK ? opt_case_wrong(&c, 40, largest) : 0;
        if (status != CP_OK || wrong > 0) {
            print_error("version %d, mask of kind %d, window of %d, %d ahead, %d kept\n", version,
                        kind, window.keys, window.ahead, window.kept);
            case_print(&c);
        }
        assert_int_equal(status, CP_OK);
        assert_int_equal(wrong, 0);
        cp_opt_free(opt);
    }
    mask_case_free(&m);
    case_free(&c);
}

/* MASK-3: forests of small chunks, with windows and without, at any positions. */
static void forests_have_masks(void **unused) {
    const int keys[] = {0, 0, 3, 0, 9}, ahead[] = {0, 0, 2, CP_MAX_WINDOW}, kept[] = {0, 1, 4};
    double largest = 0.0;
    (void)unused;
    pairs_seen = pairs = 0;
    for (int seed = 0; seed < 300; seed++) {
        struct shape shape = small;
        struct cp_window window = {keys[seed % 5], ahead[seed / 2 % 4], kept[seed / 3 % 3]};
        shape.b = seed % 12;
        shape.max_depth = 1 + seed % 5;
        shape.chunk_size = 1 + seed % 4;
        shape.n_heads = seed % 7 ? 4 : 36;
        shape.query_mode = seed / 5 % CASE_N_QUERY_MODE;
        shape.poison = seed / 5 % 3;
        check(&shape, window, seed / 2 % MASK_N_KIND, seed % 3 == 0, 4000 + (unsigned)seed,
              &largest);
    }
    assert_true(pairs_seen > pairs / 10 && pairs_seen < pairs * 9 / 10);
    assert_true(largest > 0.01 && largest < 1.0); /* not by too wide a bound */
}

/* Chunks at the borders of tiles and beside them; with few rows and with many; all types. */
static void tiles_are_masked(void **unused) {
    const int chunk_sizes[] = {16, 63, 64, 100}, types[] = {CP_FP32, CP_FP16, CP_BF16};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 80; i++) {
        struct shape shape = small;
        struct cp_window window = {i % 3 == 0 ? 90 : 0, i % 4 == 1 ? 70 : 0, i % 9};
        shape.chunk_size = chunk_sizes[i % 4];
        shape.n_heads = i / 2 % 2 ? 4 : 36;
        shape.head_dim = i % 5 ? 24 : 72;
        shape.q_type = shape.kv_type = shape.out_type = types[i % 3];
        shape.query_mode = i / 28 == 0 ? CASE_DECODE : i / 28 == 1 ? CASE_ALL : CASE_OWN;
        check(&shape, window, i % MASK_N_KIND, i % 7 == 0, 4400 + (unsigned)i, &largest);
    }
}

/* Paths that are cut into several tasks, of which masks take some away. */
static void long_paths(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 20; i++) {
        struct shape shape = small;
        shape.b = 1 + i % 3;
        shape.chunk_size = i % 2 ? 64 : 100;
        shape.max_depth = 24;
        shape.n_heads = 2;
        shape.n_kv_heads = 1;
        shape.head_dim = 8;
        shape.query_mode = i / 10 ? CASE_OWN : i % 4 ? CASE_DECODE : CASE_ALL;
        check(&shape, (struct cp_window){0, i % 3, 0}, i % MASK_N_KIND, 0, 4500 + (unsigned)i,
              &largest);
    }
}

/* MASK-3: a mask whose bits are all 1 gives the bits of none; one that takes the keys that a window
 * takes, its results; results do not depend on threads. */
static void the_same_bits(void **unused) {
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(2, version), *other = opt_of(5, version);
        for (unsigned seed = 0; seed < 40; seed++) {
            struct shape shape = small;
            struct attend_case c;
            struct mask_case m;
            shape.query_mode = (int)seed % CASE_N_QUERY_MODE;
            shape.chunk_size = seed % 3 ? 7 : 64;
            shape.max_depth = seed % 5 ? 4 : 24;
            shape.n_heads = seed % 2 ? 4 : 36;
            case_make(&c, &shape, 4700 + seed);
            c.attention.window = (struct cp_window){seed % 4 ? 0 : 5, (int)seed % 2, 1};
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            struct opt_results results = opt_results_of(&c);
            mask_case_take(&m, &c, MASK_ALL, seed);
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            assert_true(opt_results_same(&c, &results));
            opt_results_free(&results);
            mask_case_free(&m);
            mask_case_take(&m, &c, MASK_BLOCKS, seed);
            assert_int_equal(opt_case_run(opt, &c, 1), CP_OK);
            results = opt_results_of(&c);
            assert_int_equal(opt_case_run(other, &c, 2), CP_OK);
            assert_true(opt_results_same(&c, &results));
            opt_results_free(&results);
            mask_case_free(&m);
            case_free(&c);
        }
        cp_opt_free(opt);
        cp_opt_free(other);
    }
}

/* ---- Trees of tokens ---- */

#define NODES 24

/* MASK-3: rows are nodes of a tree behind a prefix, at the last positions of each sequence. */
static void trees_of_tokens(void **unused) {
    unsigned long long random = 3;
    (void)unused;
    for (unsigned seed = 0; seed < 40; seed++) {
        struct shape shape = small;
        struct attend_case c;
        unsigned char *bits;
        size_t *first;
        int *begin;
        double largest = 0.0;
        shape.query_mode = CASE_ALL; /* up to 12 nodes */
        shape.chunk_size = seed % 2 ? 16 : 5;
        shape.n_heads = seed % 3 ? 4 : 16;
        case_make(&c, &shape, 4900 + seed);
        bits = calloc((size_t)c.n_rows + 1, NODES / 8);
        first = calloc((size_t)c.n_rows + 1, sizeof *first);
        begin = calloc((size_t)c.n_rows + 1, sizeof *begin);
        assert_true(bits != NULL && first != NULL && begin != NULL);
        for (int row = 0; row < c.n_rows; row++) {
            int s = case_sequence_of(&c, row), node = row - c.query_begin[s];
            int m = c.query_begin[s + 1] - c.query_begin[s];
            int parent = random_below(&random, node + 1) - 1;
            unsigned char *its = bits + (size_t)row * (NODES / 8);
            if (parent >= 0) {
                memcpy(its, bits + (size_t)(row - node + parent) * (NODES / 8), NODES / 8);
            }
            its[node / 8] |= (unsigned char)(1 << node % 8);
            first[row] = (size_t)row * NODES;
            begin[row] = c.plan->sequence[s].n_tokens - m;
        }
        c.attention.mask = (struct cp_mask){bits, first, begin};
        for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
            struct cp_opt *opt = opt_of(2, version);
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            assert_int_equal(opt_case_wrong(&c, 60, &largest), 0);
            cp_opt_free(opt);
        }
        free(bits);
        free(first);
        free(begin);
        case_free(&c);
    }
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

/* A key that is a NaN, in K or in V, makes the rows that see it NaN, and no other; with scales of
 * scores that are negative or 0, too. */
static void a_key_is_felt_by_those_that_see_it(void **unused) {
    const double scale[] = {0.2, 0.0, -0.2};
    int felt = 0, not_felt = 0;
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(1, version);
        for (unsigned seed = 0; seed < 200; seed++) {
            struct shape shape = small;
            struct attend_case c;
            struct mask_case m;
            shape.query_mode = (int)seed % CASE_N_QUERY_MODE;
            shape.chunk_size = seed % 4 ? 3 : 9;
            shape.n_heads = seed % 3 ? 4 : 24;
            case_make(&c, &shape, 5000 + seed);
            c.attention.scale = scale[seed % 3];
            mask_case_take(&m, &c, (int)seed / 2 % MASK_N_KIND, seed);
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
            mask_case_free(&m);
            case_free(&c);
        }
        cp_opt_free(opt);
    }
    assert_in_range(felt, 200, 1000000); /* the case has occurred often */
    assert_in_range(not_felt, 500, 1000000);
}

static int is_seen(const struct attend_case *c, int chunk) {
    int seen = 0, size = c->shape.chunk_size;
    for (int row = 0; row < c->n_rows; row++) {
        const struct cp_plan_sequence *path = &c->plan->sequence[case_sequence_of(c, row)];
        for (int j = 0; j < path->n_tokens; j++) {
            seen |= path->run[j / size].chunk == chunk && case_sees(c, row, j);
        }
    }
    return seen;
}

/* A copy of K or V, in which a chunk of which no row sees a key cannot be read. */
static void *guard(const struct attend_case *c, const void *from, size_t chunk_bytes, int *hidden) {
    size_t n = (size_t)c->plan->capacity * chunk_bytes;
    char *copy = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(copy != MAP_FAILED);
    memcpy(copy, from, n);
    for (int chunk = 0; chunk < c->plan->capacity; chunk++) {
        if (!is_seen(c, chunk)) {
            assert_int_equal(mprotect(copy + (size_t)chunk * chunk_bytes, chunk_bytes, PROT_NONE),
                             0);
            ++*hidden;
        }
    }
    return copy;
}

/* MASK-4: opt/ does not read chunks as large as its tiles of which no row sees a key. */
static void what_no_row_sees_is_not_read(void **unused) {
    int hidden = 0;
    (void)unused;
    for (int i = 0; i < 10; i++) {
        struct shape shape = small;
        struct attend_case c;
        struct mask_case m;
        shape.chunk_size = 64;
        shape.max_depth = 20;
        shape.n_kv_heads = 1;
        shape.head_dim = 256;
        shape.kv_type = CP_FP32;
        shape.n_heads = i % 2 ? 1 : 24;
        shape.query_mode = CASE_DECODE;
        case_make(&c, &shape, 5300 + (unsigned)i);
        mask_case_take(&m, &c, i % 3 ? MASK_BLOCKS : MASK_NONE, (unsigned)i % 3);
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
        mask_case_free(&m);
        case_free(&c);
    }
    assert_true(hidden > 50);
}

/* MASK-1: bits, and no first ones. The workspace does not depend on the mask. */
static void what_is_refused(void **unused) {
    const unsigned char bits[] = {0};
    struct attend_case c;
    struct cp_opt *opt = opt_of(1, CP_OPT_BEST);
    (void)unused;
    case_make(&c, &small, 1);
    c.attention.variant = CP_BUFFERED;
    size_t size = cp_opt_workspace(opt, &c.attention);
    c.attention.mask.bits = bits;
    assert_int_equal(opt_case_run(opt, &c, 0), CP_ERROR_ARGUMENT);
    assert_true(size > 0 && cp_opt_workspace(opt, &c.attention) == size);
    cp_opt_free(opt);
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forests_have_masks),
        cmocka_unit_test(tiles_are_masked),
        cmocka_unit_test(long_paths),
        cmocka_unit_test(the_same_bits),
        cmocka_unit_test(trees_of_tokens),
        cmocka_unit_test(a_key_is_felt_by_those_that_see_it),
        cmocka_unit_test(what_no_row_sees_is_not_read),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

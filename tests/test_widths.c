/* SPDX-License-Identifier: Apache-2.0 */
/* Widths, clause by clause (spec/widths.md): the chapter's example; trees against sums over the
 * keys, with values narrower and wider than keys, in rows of their own or in the keys; the same
 * bits for the first numbers of longer values; tolerances; what is refused. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attend_case.h"
#include "chunkproof/chunkproof.h"
#include "path_runs.h"
#include "random.h"

#define MOST_WIDTH 8
#define MOST_HEADS 4
#define N_TYPES    (CP_INT8 + 1)

/* ---- What a row must give ---- */

static double scale_of(const struct cp_attention *a, const float *scales, int g, size_t row) {
    if (scales == NULL) {
        return 1.0;
    }
    return scales[a->scales.per == CP_CACHE_SCALE_TOKEN  ? row
                  : a->scales.per == CP_CACHE_SCALE_HEAD ? (size_t)g
                                                         : 0];
}

/* The sums of a row and head: of exp(score), and of that times the values, as in a textbook. The
 * values of row r of V are numbers r v_row .. r v_row + d_v - 1 (WIDTH-2). Returns how many keys it
 * sees. */
static int sums(const struct attend_case *c, int row, int head, double *weight, double *total) {
    const struct cp_attention *a = &c->attention;
    int s = case_sequence_of(c, row), g = head / (a->n_heads / a->n_kv_heads), n = 0;
    size_t query = ((size_t)row * (size_t)a->n_heads + (size_t)head) * (size_t)a->head_dim;
    *weight = a->scores.sinks == NULL ? 0.0 : exp(a->scores.sinks[head]);
    memset(total, 0, MOST_WIDTH * sizeof *total);
    for (int j = 0; j < c->plan->sequence[s].n_tokens; j++) {
        if (!case_sees(c, row, j)) {
            continue;
        }
        size_t at = case_key(c, s, j, g) / (size_t)a->head_dim; /* the row of K, and of V */
        double score = 0.0;
        for (int x = 0; x < a->head_dim; x++) {
            score += cp_number_load(a->q, a->q_type, query + (size_t)x) *
                     cp_number_load(a->k, a->k_type, at * (size_t)a->head_dim + (size_t)x);
        }
        score *= a->scale * scale_of(a, a->scales.k, g, at);
        score = a->scores.cap == 0.0 ? score : a->scores.cap * tanh(score / a->scores.cap);
        if (a->scores.slopes != NULL) {
            score += a->scores.slopes[head] * ((double)j - (double)case_position(c, row));
        }
        double e = exp(score);
        *weight += e;
        for (int x = 0; x < a->value_dim; x++) {
            total[x] += e * scale_of(a, a->scales.v, g, at) *
                        cp_number_load(a->v, a->v_type, at * (size_t)a->v_row + (size_t)x);
        }
        n++;
    }
    return n;
}

static double rounded(double x, int type) {
    double stored[1];
    cp_number_store(stored, type, 0, x);
    return cp_number_load(stored, type, 0);
}

/* Rounding keeps order: what is near `should` is between its neighbours, rounded. */
static void expect_near(double is, double should, int type) {
    double error = 1e-11 * (1.0 + fabs(should));
    assert_true(rounded(should - error, type) <= is && is <= rounded(should + error, type));
}

/* Returns the keys that all rows see together. */
static long long expect_right(const struct attend_case *c) {
    const struct cp_attention *a = &c->attention;
    double weight, total[MOST_WIDTH];
    long long n_keys = 0;
    for (int row = 0; row < c->n_rows; row++) {
        for (int head = 0; head < a->n_heads; head++) {
            size_t at = (size_t)row * (size_t)a->n_heads + (size_t)head;
            n_keys += sums(c, row, head, &weight, total);
            if (weight == 0.0) {
                assert_true(isinf(a->lse[at]) && a->lse[at] < 0.0);
            } else {
                expect_near(a->lse[at], log(weight), CP_FP64);
            }
            for (int x = 0; x < a->value_dim; x++) {
                expect_near(
                    cp_number_load(a->out, a->out_type, at * (size_t)a->value_dim + (size_t)x),
                    weight == 0.0 ? 0.0 : total[x] / weight, a->out_type);
            }
        }
    }
    return n_keys;
}

static long long expect_both_variants(struct attend_case *c) {
    long long n_keys = 0;
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        assert_int_equal(case_run(c, variant), CP_OK);
        n_keys += expect_right(c);
    }
    return n_keys;
}

/* ---- The example of the chapter ---- */

/* Queries 1, keys 0 and ln 3, values (4, 0) and (8, 4): the result is (7, 3). */
static void the_example_of_the_chapter(void **unused) {
    (void)unused;
    const double q = 1.0, k[] = {0.0, log(3.0)};
    const double close[] = {4.0, 0.0, 8.0, 4.0}, apart[] = {4.0, 0.0, NAN, 8.0, 4.0, NAN};
    double out[2], lse;
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = plan->n_sequences = 1;
    plan->chunk_size = plan->sequence[0].n_tokens = 2;
    plan->sequence[0].n_chunks = 1;
    plan->sequence[0].run[0] = (struct cp_run){0, 2, 0};
    for (int i = 0; i < 4; i++) {
        struct cp_attention a = {.plan = plan,
                                 .stamp = plan->stamp,
                                 .n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = 1,
                                 .value_dim = 2,
                                 .v_row = i / 2 == 0 ? 2 : 3,
                                 .scale = 1.0,
                                 .q_type = CP_FP64,
                                 .k_type = CP_FP64,
                                 .v_type = CP_FP64,
                                 .out_type = CP_FP64,
                                 .q = &q,
                                 .k = k,
                                 .v = i / 2 == 0 ? close : apart,
                                 .out = out,
                                 .lse = &lse,
                                 .variant = i % 2};
        a.workspace_size = cp_attend_workspace(&a);
        a.workspace = malloc(a.workspace_size);
        assert_non_null(a.workspace);
        assert_int_equal(cp_attend(&a), CP_OK);
        assert_true(fabs(out[0] - 7.0) < 1e-14 && fabs(out[1] - 3.0) < 1e-14);
        assert_true(fabs(lse - log(4.0)) < 1e-15);
        free(a.workspace);
    }
    cp_plan_free(plan);
}

/* ---- Trees ---- */

/* What a case asks for besides: the memory stands here, as long as the case does. */
struct beside {
    unsigned char bits[64];
    size_t first[64];
    int begin[64];
    double slopes[MOST_HEADS], sinks[MOST_HEADS];
    float *k_scales, *v_scales;
};

static float *random_scales(unsigned long long *random, size_t n) {
    float *scales = malloc(n * sizeof *scales);
    assert_non_null(scales);
    for (size_t i = 0; i < n; i++) {
        scales[i] = (float)(1.0 + 0.5 * random_uniform(random));
    }
    return scales;
}

/* Windows, masks, changed scores and scales, each in one case of three. */
static void ask_for_more(struct attend_case *c, struct beside *x, unsigned long long *random) {
    struct cp_attention *a = &c->attention;
    if (random_below(random, 3) == 0) {
        a->window = (struct cp_window){1 + random_below(random, 6), random_below(random, 3),
                                       random_below(random, 3)};
    }
    if (random_below(random, 3) == 0 && c->n_rows <= 64) {
        for (int i = 0; i < 64; i++) {
            x->bits[i] = (unsigned char)random_below(random, 256);
            x->first[i] = (size_t)random_below(random, 200);
            x->begin[i] = random_below(random, 5);
        }
        a->mask = (struct cp_mask){x->bits, x->first, random_below(random, 2) ? x->begin : NULL};
    }
    for (int head = 0; head < MOST_HEADS; head++) {
        x->slopes[head] = 0.25 * random_uniform(random);
        x->sinks[head] = random_normal(random);
    }
    a->scores.cap = random_below(random, 3) == 0 ? 2.0 : 0.0;
    a->scores.slopes =
        c->position == NULL && random_below(random, 3) == 0 ? x->slopes : NULL; /* no far rows */
    a->scores.sinks = random_below(random, 3) == 0 ? x->sinks : NULL;
    x->k_scales = x->v_scales = NULL;
    if (random_below(random, 3) == 0) {
        size_t n = (size_t)c->plan->capacity * (size_t)a->n_kv_heads * (size_t)c->shape.chunk_size;
        a->scales.per = random_below(random, 3);
        a->scales.k = x->k_scales = random_scales(random, n);
        a->scales.v = x->v_scales = random_scales(random, n);
    }
}

static void free_beside(const struct beside *x) {
    free(x->k_scales);
    free(x->v_scales);
}

static struct shape shape_of(unsigned long long seed, int d, int k_type) {
    const int out_types[] = {CP_FP64, CP_FP32, CP_FP16, CP_BF16};
    const struct shape shape = {5,
                                4,
                                1 + (int)(seed % 5),
                                seed % 3 == 0 ? 4 : 2,
                                seed % 2 == 0 ? 2 : 1,
                                d,
                                0,
                                0,
                                0,
                                0,
                                (int)(seed / 3 % 2) ? CP_FP32 : CP_FP64,
                                k_type,
                                out_types[seed % 4],
                                (int)(seed / 2 % CASE_N_QUERY_MODE),
                                CASE_NORMAL,
                                seed % 2 ? CASE_POISON_NAN : CASE_POISON_HUGE};
    return shape;
}

/* WIDTH-1, WIDTH-2: d_v below d, d, above d; rows as long as values, or longer; all types. */
static void trees_are_sums_of_values_of_any_width(void **unused) {
    (void)unused;
    unsigned long long random = 1;
    long long n_keys = 0;
    int narrower = 0, equal = 0, wider = 0;
    for (int i = 0; i < N_TYPES * N_TYPES * 24; i++) {
        struct attend_case c;
        struct beside x;
        int d = 1 + random_below(&random, 5);
        struct shape shape = shape_of((unsigned long long)i + 1, d, i % N_TYPES);
        shape.value_dim = 1 + random_below(&random, MOST_WIDTH);
        shape.v_row = shape.value_dim + random_below(&random, 4);
        shape.v_type = 1 + i / N_TYPES % N_TYPES;
        narrower += shape.value_dim < d;
        equal += shape.value_dim == d;
        wider += shape.value_dim > d;
        case_make(&c, &shape, (unsigned long long)i + 1);
        ask_for_more(&c, &x, &random);
        n_keys += expect_both_variants(&c);
        free_beside(&x);
        case_free(&c);
    }
    assert_true(narrower > 100 && equal > 100 && wider > 100 && n_keys > 100000);
}

/* WIDTH-2: V is K from some number on, of its type and with its scales. */
static void values_lie_in_their_keys(void **unused) {
    (void)unused;
    unsigned long long random = 2;
    long long n_keys = 0;
    for (int i = 0; i < N_TYPES * 60; i++) {
        struct attend_case c;
        struct beside x;
        int d = 1 + random_below(&random, MOST_WIDTH), type = i % N_TYPES;
        int from = random_below(&random, d);
        struct shape shape = shape_of((unsigned long long)i + 1, d, type);
        shape.value_dim = 1 + random_below(&random, d - from);
        shape.v_row = d;
        case_make(&c, &shape, (unsigned long long)i + 1);
        ask_for_more(&c, &x, &random);
        c.attention.v = (const char *)c.attention.k + (size_t)from * cp_number_size(type);
        c.attention.scales.v = c.attention.scales.k;
        n_keys += expect_both_variants(&c);
        free_beside(&x);
        case_free(&c);
    }
    assert_true(n_keys > 20000);
}

/* ---- The same bits ---- */

static void *copy_of(const void *from, size_t bytes) {
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

/* The call with fewer numbers of each value, and those numbers of the results `whole`. */
static void expect_first_numbers(struct attend_case *c, int variant, int value_dim,
                                 const double *whole, int whole_dim, const void *lse) {
    const double *out = c->attention.out;
    c->attention.value_dim = value_dim;
    assert_int_equal(case_run(c, variant), CP_OK);
    assert_memory_equal(c->attention.lse, lse, case_lse_bytes(c));
    for (ptrdiff_t i = 0; i < (ptrdiff_t)c->n_rows * c->attention.n_heads; i++) {
        assert_memory_equal(out + i * value_dim, whole + i * whole_dim,
                            (size_t)value_dim * sizeof *out);
    }
}

/* WIDTH-1: attention to values of d_v numbers is the first d_v numbers of attention to longer
 * ones, for each number is computed by itself. */
static void fewer_numbers_are_the_first_ones(void **unused) {
    (void)unused;
    unsigned long long random = 3;
    for (unsigned long long seed = 1; seed <= 200; seed++) {
        struct attend_case c;
        struct beside x;
        struct shape shape = shape_of(seed, 1 + (int)(seed % 4), CP_FP64);
        shape.value_dim = MOST_WIDTH;
        shape.v_row = MOST_WIDTH + 1;
        shape.out_type = CP_FP64;
        case_make(&c, &shape, seed);
        ask_for_more(&c, &x, &random);
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            c.attention.value_dim = MOST_WIDTH;
            assert_int_equal(case_run(&c, variant), CP_OK);
            double *out = copy_of(c.attention.out, case_out_bytes(&c));
            void *lse = copy_of(c.attention.lse, case_lse_bytes(&c));
            for (int d_v = 1; d_v < MOST_WIDTH; d_v++) {
                expect_first_numbers(&c, variant, d_v, out, MOST_WIDTH, lse);
            }
            free(out);
            free(lse);
        }
        free_beside(&x);
        case_free(&c);
    }
}

/* ---- What is refused ---- */

static const struct shape small = {.b = 5,
                                   .max_depth = 3,
                                   .chunk_size = 2,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = 3,
                                   .query_mode = CASE_SEVERAL};

/* One with something shared and some rows. */
static void make_small(struct attend_case *c, int value_dim, int v_row) {
    struct shape shape = small;
    shape.value_dim = value_dim;
    shape.v_row = v_row;
    for (unsigned long long seed = 1;; seed++) {
        case_make(c, &shape, seed);
        if (c->plan->n_shared >= 2 && c->n_rows >= 4) {
            break;
        }
        case_free(c);
    }
    assert_int_equal(case_run(c, CP_BUFFERED), CP_OK);
}

/* cp_attend() says `status`, and out, lse and workspace stay as they were. */
static void expect_refused(const struct attend_case *c, const struct cp_attention *a, int status) {
    unsigned char *memory[] = {c->attention.out, (unsigned char *)c->attention.lse,
                               c->attention.workspace};
    size_t bytes[] = {case_out_bytes(c), case_lse_bytes(c), c->attention.workspace_size};
    for (int i = 0; i < 3; i++) {
        memset(memory[i], 0xA5, bytes[i]);
    }
    assert_int_equal(cp_attend(a), status);
    for (int i = 0; i < 3; i++) {
        for (size_t at = 0; at < bytes[i]; at++) {
            assert_int_equal(memory[i][at], 0xA5);
        }
    }
}

static void expect_shape_refused(const struct attend_case *c, const struct cp_attention *a) {
    expect_refused(c, a, CP_ERROR_SHAPE);
    assert_int_equal(cp_attend_workspace(a), 0);
}

static void widths_that_do_not_fit(void **unused) {
    (void)unused;
    const int bad[][2] = {{0, 3}, {-1, 3},      {INT_MIN, 3}, {0, 0},       {-2, -2}, {4, 3},
                          {2, 1}, {INT_MAX, 3}, {1, 0},       {2, INT_MIN}, {1, -1}};
    struct attend_case c;
    make_small(&c, 2, 3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cp_attention a = c.attention;
        a.value_dim = bad[i][0];
        a.v_row = bad[i][1];
        expect_shape_refused(&c, &a);
    }
    case_free(&c);
}

/* Where V, the results or the partial results alone are too large for the address space. */
static void sizes_that_overflow(void **unused) {
    (void)unused;
    struct attend_case c;
    int begin[2] = {0, 0};
    make_small(&c, 2, 3);
    struct cp_attention a = c.attention;
    struct cp_plan *plan = c.plan;
    list_sequences(plan, 1);
    plan->n_shared = 0;
    a.query_begin = begin;
    a.workspace_size = 0;
    a.n_heads = a.n_kv_heads = 1 << 30;
    a.k_type = a.v_type = CP_INT8;
    a.head_dim = a.value_dim = a.v_row = 1;
    expect_refused(&c, &a, CP_ERROR_WORKSPACE);
    a.v_row = INT_MAX; /* V: 2^30 heads of rows of 2^31 numbers, 2 slots or more */
    expect_shape_refused(&c, &a);
    a.v_row = 1 << 20;
    expect_refused(&c, &a, CP_ERROR_WORKSPACE);
    a.value_dim = 1 << 20; /* no row, so no result */
    expect_refused(&c, &a, CP_ERROR_WORKSPACE);

    a.n_heads = a.n_kv_heads = 1;
    a.v_row = a.value_dim = INT_MAX;
    a.variant = CP_BUFFERED; /* without shared chunks no partial result */
    a.q_type = CP_INT8;
    a.out_type = CP_FP64;
    begin[1] = 1 << 30; /* the results: 2^30 of 2^31 numbers of 8 bytes */
    expect_shape_refused(&c, &a);
    a.out_type = CP_FP16;
    expect_refused(&c, &a, CP_ERROR_WORKSPACE);
    assert_true(cp_attend_workspace(&a) == 8 + 24 * (size_t)INT_MAX);
    a.variant = CP_MERGE_AT_ONCE; /* partial results are of doubles */
    expect_shape_refused(&c, &a);
    a.value_dim = 1;
    expect_refused(&c, &a, CP_ERROR_WORKSPACE);
    a.head_dim = INT_MAX; /* which makes no partial result longer */
    expect_refused(&c, &a, CP_ERROR_WORKSPACE);
    assert_true(cp_attend_workspace(&a) == ((size_t)24 << 30) + 8 * (size_t)INT_MAX + 24);
    case_free(&c);
}

/* As two_phase.h says: for each partial result 2 numbers and d_v of o; then d and three rows of
 * d_v. It is enough, and one byte less is refused. */
static void the_workspace_is_as_large_as_documented(void **unused) {
    (void)unused;
    const int value_dims[] = {1, 2, 3, 4, MOST_WIDTH};
    for (int i = 0; i < 5; i++) {
        struct attend_case c;
        size_t rows[2] = {0, 0}, d_v = (size_t)value_dims[i];
        make_small(&c, value_dims[i], value_dims[i] + i % 2);
        for (int t = 0; t < c.plan->n_shared; t++) {
            for (int s = c.plan->shared[t].begin; s < c.plan->shared[t].end; s++) {
                rows[CP_BUFFERED] += (size_t)(c.query_begin[s + 1] - c.query_begin[s]);
            }
        }
        rows[CP_MERGE_AT_ONCE] = (size_t)c.n_rows;
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            assert_int_equal(case_run(&c, variant), CP_OK); /* and nothing behind it is written */
            assert_int_equal(c.attention.workspace_size,
                             8 * (rows[variant] * 4 * (2 + d_v) + 3 + 3 * d_v));
            struct cp_attention a = c.attention;
            a.workspace_size--;
            expect_refused(&c, &a, CP_ERROR_WORKSPACE);
        }
        case_free(&c);
    }
}

/* ---- Tolerances ---- */

#define MOST_KEYS    12
#define MOST_COLUMNS 300

struct bounds {
    double expected[MOST_COLUMNS], bound[MOST_COLUMNS], rms[MOST_COLUMNS];
    double parts[MOST_COLUMNS * CP_TOLERANCE_PARTS];
    double lse, lse_bound, left;
};

static void bounds_of(const struct cp_tolerance_row *row, struct bounds *b) {
    struct cp_arithmetic a = cp_arithmetic_fp32(row->head_dim, cp_format_fp16(), cp_format_fp16());
    struct cp_counts counts = cp_counts_of_chunks(4, 3);
    double lost[CP_TOLERANCE_PARTS];
    cp_tolerance(&a, &counts, row, 0.0, b->expected, b->bound, &b->lse, &b->lse_bound);
    cp_tolerance_rms(&a, &counts, row, b->expected, b->rms);
    b->left = cp_tolerance_parts(&a, &counts, row, b->expected, b->parts, lost);
}

/* WIDTH-1: d_v is in no bound. A column has the same bound, and the same parts of it, by itself. */
static void a_column_is_bounded_by_itself(void **unused) {
    (void)unused;
    static struct bounds all, one;
    static double v[MOST_KEYS * MOST_COLUMNS];
    double q[3], k[MOST_KEYS * 3], column[MOST_KEYS], scratch[3 * MOST_KEYS] = {0};
    const int value_dims[] = {1, 2, 3, 4, 17, MOST_COLUMNS};
    unsigned long long random = 4;
    for (int i = 0; i < 6; i++) {
        int n = 1 + random_below(&random, MOST_KEYS), d_v = value_dims[i];
        for (int x = 0; x < 3; x++) {
            q[x] = random_normal(&random);
        }
        for (int x = 0; x < 3 * n; x++) {
            k[x] = random_normal(&random);
        }
        for (int x = 0; x < n * d_v; x++) {
            v[x] = random_normal(&random);
        }
        struct cp_tolerance_row row = {n, 3, d_v, 0.5, q, k, v, scratch, NULL, NULL};
        bounds_of(&row, &all);
        row.value_dim = 1;
        row.v = column;
        for (int t = 0; t < d_v; t++) {
            for (int j = 0; j < n; j++) {
                column[j] = v[j * d_v + t];
            }
            bounds_of(&row, &one);
            assert_true(isfinite(one.bound[0]) && all.expected[t] == one.expected[0] &&
                        all.bound[t] == one.bound[0] && all.rms[t] == one.rms[0]);
            assert_true(all.lse == one.lse && all.lse_bound == one.lse_bound &&
                        all.left == one.left);
            assert_memory_equal(all.parts + (ptrdiff_t)t * CP_TOLERANCE_PARTS, one.parts,
                                CP_TOLERANCE_PARTS * sizeof(double));
        }
    }
}

/* NUM-12: of more numbers nothing is claimed, whether of keys or of values. */
static void too_many_numbers_claim_nothing(void **unused) {
    (void)unused;
    size_t many = CP_TOLERANCE_MOST + 1;
    double *numbers = calloc(many, sizeof(double)), *expected = calloc(many, sizeof(double));
    double *bound = calloc(many, sizeof(double)),
           *parts = calloc(many * CP_TOLERANCE_PARTS, sizeof(double));
    double scratch[3] = {0}, lse, lse_bound, lost[CP_TOLERANCE_PARTS];
    struct cp_arithmetic a = cp_arithmetic_fp64(1);
    struct cp_counts counts = cp_counts_of_chunks(1, 1);
    assert_true(numbers != NULL && expected != NULL && bound != NULL && parts != NULL);
    for (int of_values = 0; of_values < 2; of_values++) {
        for (int more = 0; more < 2; more++) {
            int width = CP_TOLERANCE_MOST + more;
            struct cp_tolerance_row row = {1,
                                           of_values ? 1 : width,
                                           of_values ? width : 1,
                                           1.0,
                                           numbers,
                                           numbers,
                                           numbers,
                                           scratch,
                                           NULL,
                                           NULL};
            cp_tolerance(&a, &counts, &row, 0.0, expected, bound, &lse, &lse_bound);
            for (int i = 0; i < row.value_dim; i++) {
                assert_int_equal(isinf(bound[i]) != 0, more);
            }
            assert_int_equal(isinf(lse_bound) != 0, more);
            cp_tolerance_rms(&a, &counts, &row, expected, bound);
            assert_int_equal(isinf(bound[row.value_dim - 1]) != 0, more);
            double left = cp_tolerance_parts(&a, &counts, &row, expected, parts, lost);
            assert_int_equal(isinf(left) != 0, more);
        }
    }
    free(numbers);
    free(expected);
    free(bound);
    free(parts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_chapter),
        cmocka_unit_test(trees_are_sums_of_values_of_any_width),
        cmocka_unit_test(values_lie_in_their_keys),
        cmocka_unit_test(fewer_numbers_are_the_first_ones),
        cmocka_unit_test(widths_that_do_not_fit),
        cmocka_unit_test(sizes_that_overflow),
        cmocka_unit_test(the_workspace_is_as_large_as_documented),
        cmocka_unit_test(a_column_is_bounded_by_itself),
        cmocka_unit_test(too_many_numbers_claim_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

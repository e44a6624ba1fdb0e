/* SPDX-License-Identifier: Apache-2.0 */
/* cp_tolerance() against its formula (NUM-6, NUM-9 to NUM-12, NUM-14) in interval arithmetic: on
 * rows of every kind, over every field of a class, no claim is below the formula, none is far
 * above, and none is missing without need. CHUNKPROOF_CASES rows (1,500), CHUNKPROOF_SEED (1). */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/tolerance.h"
#include "exact_bound.h"
#include "fuzz/tolerance/setting.h"
#include "random.h"

#define MOST_KEYS 600
#define MOST_DIM  4

struct problem {
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    double lse_error;
    int n, d;
    double scale;
    double q[MOST_DIM], k[MOST_KEYS * MOST_DIM], v[MOST_KEYS * MOST_DIM];
    int shifted;
    double shift[MOST_KEYS], shift_error[MOST_KEYS];
};

/* Where the numbers of key j begin. */
static ptrdiff_t place(const struct problem *p, int j) {
    return (ptrdiff_t)j * p->d;
}

static const char *const claim_names[] = {"holds", "too small", "too large", "unfounded",
                                          "without need"};

/* What the claims were. */
struct tally {
    long claims[5];
    long finite, rows;
};

static void print_class(const struct problem *p) {
    const struct cp_arithmetic *a = &p->arithmetic;
    const struct cp_score_arithmetic *s = &a->score;
    print_error("  score %a %a; %a %a, %d, %d; %a %a, %d\n", s->term_unit, s->term_tiny, s->unit,
                s->tiny, s->depth, s->n_additions, s->scale_unit, s->scale_tiny, s->scaled_before);
    print_error("  u_arg %a u_ref %a u_move %a eps %a kappa %a\n", a->u_arg, a->u_ref, a->u_move,
                a->eps, a->kappa);
    print_error("  weights %a %a, %d; n %a %a o %a %a part %a div %a %a\n", a->weights.unit,
                a->weights.tiny, a->rounded_sum, a->u_n, a->eta_n, a->u_o, a->eta_o, a->u_part,
                a->u_div, a->eta_div);
    print_error("  output %a %a %a; above %a below %a\n", a->output.unit, a->output.tiny,
                a->output.largest, a->above, a->below);
    print_error("  counts %d %d, %d, %d, %a %a; n %d, d %d, scale %a\n", p->counts.depth_n,
                p->counts.depth_o, p->counts.stores, p->counts.changes, p->counts.operations_n,
                p->counts.operations_o, p->n, p->d, p->scale);
    for (int j = 0; j < p->n && j < 6; j++) {
        print_error("  key %d: k %a v %a, shift %a %a\n", j, p->k[place(p, j)], p->v[place(p, j)],
                    p->shifted ? p->shift[j] : 0.0, p->shifted ? p->shift_error[j] : 0.0);
    }
}

/* Adds the claims of a row to the tally; fails when one does not hold. */
static void try_row(const struct problem *p, const char *family, long index, struct tally *tally) {
    static double scratch[3 * MOST_KEYS];
    double expected[MOST_DIM], bound[MOST_DIM], lse, lse_bound;
    enum claim claims[MOST_DIM + 1];
    struct cp_tolerance_row row = {p->n, p->d, p->d,    p->scale, p->q,
                                   p->k, p->v, scratch, NULL,     NULL};
    row.shift = p->shifted ? p->shift : NULL;
    row.shift_error = p->shifted ? p->shift_error : NULL;
    cp_tolerance(&p->arithmetic, &p->counts, &row, p->lse_error, expected, bound, &lse, &lse_bound);
    exact_bound_judge(&p->arithmetic, &p->counts, &row, p->lse_error, expected, bound, lse,
                      lse_bound, claims, &claims[p->d]);
    for (int i = 0; i <= p->d; i++) {
        tally->claims[claims[i]]++;
        tally->finite += isfinite(i < p->d ? bound[i] : lse_bound) != 0;
        if (claims[i] != CLAIM_HOLDS) {
            print_error("%s, row %ld, %s %d: %s: %a +- %a\n", family, index,
                        i < p->d ? "column" : "log-sum-exp", i, claim_names[claims[i]],
                        i < p->d ? expected[i] : lse, i < p->d ? bound[i] : lse_bound);
            print_class(p);
            fail();
        }
    }
    tally->rows++;
}

static double one_of(unsigned long long *random, const double *x, int n) {
    return x[random_below(random, n)];
}
#define ONE_OF(random, ...)                                                                        \
    one_of(random, (const double[]){__VA_ARGS__},                                                  \
           (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* ---- Classes ---- */

/* The fields of a class that are numbers, as a list. */
#define FIELDS 26
static void list_fields(struct problem *p, double *field[FIELDS]) {
    struct cp_arithmetic *a = &p->arithmetic;
    double *const all[FIELDS] = {&a->score.term_unit,
                                 &a->score.term_tiny,
                                 &a->score.unit,
                                 &a->score.tiny,
                                 &a->score.scale_unit,
                                 &a->score.scale_tiny,
                                 &a->u_arg,
                                 &a->u_ref,
                                 &a->u_move,
                                 &a->eps,
                                 &a->kappa,
                                 &a->weights.unit,
                                 &a->weights.tiny,
                                 &a->u_n,
                                 &a->eta_n,
                                 &a->u_o,
                                 &a->eta_o,
                                 &a->u_part,
                                 &a->u_div,
                                 &a->eta_div,
                                 &a->output.unit,
                                 &a->output.tiny,
                                 &a->above,
                                 &a->below,
                                 &p->counts.operations_n,
                                 &p->counts.operations_o};
    memcpy(field, all, sizeof all);
}

static void no_errors(struct problem *p) {
    memset(&p->arithmetic, 0, sizeof p->arithmetic);
    memset(&p->counts, 0, sizeof p->counts);
    p->arithmetic.output.largest = DBL_MAX;
    p->lse_error = 0.0;
}

/* Every magnitude that a field can have, from the smallest double on. */
static double extreme(unsigned long long *random) {
    return ONE_OF(random, 0.0, 0x1p-1074, 0x1.8p-1070, 0x1p-1022, 0x1p-500, 0x1p-150, 0x1p-53,
                  0x1p-30, 0x1p-24, 0x1p-11, 0x1p-8, 0.01, 0.1, 0.3, 1.0, 3.0, 700.0, 710.0, 0x1p60,
                  0x1p500, 0x1p1000);
}

static int extreme_count(unsigned long long *random) {
    return (int)ONE_OF(random, 0, 1, 2, 3, 100, 4096, 1 << 20, 1 << 30, INT32_MAX);
}

/* A usual class, with `n` fields changed to something extreme. */
static void make_class(struct problem *p, unsigned long long *random, int changes) {
    struct cp_format formats[] = {cp_format_fp16(),
                                  cp_format_bf16(),
                                  cp_format_fp32(),
                                  cp_format_fp64(),
                                  {0.0, 0.0, INFINITY}};
    double *field[FIELDS];
    no_errors(p);
    switch (random_below(random, 3)) {
    case 0:
        p->arithmetic = cp_arithmetic_fp32(p->d, formats[random_below(random, 5)],
                                           formats[random_below(random, 5)]);
        break;
    case 1:
        p->arithmetic = cp_arithmetic_fp64(p->d);
        break;
    default:
        break;
    }
    p->arithmetic.rounded_sum = random_below(random, 2);
    p->arithmetic.score.scaled_before = random_below(random, 2);
    p->counts = cp_counts_of_chunks(1 + random_below(random, 64), 1 + random_below(random, 8));
    list_fields(p, field);
    for (int i = 0; i < changes; i++) {
        *field[random_below(random, FIELDS)] = extreme(random);
    }
    int *counts[] = {&p->counts.depth_n,         &p->counts.depth_o,
                     &p->counts.stores,          &p->counts.changes,
                     &p->arithmetic.score.depth, &p->arithmetic.score.n_additions};
    for (int i = 0; i < changes / 2; i++) {
        *counts[random_below(random, 6)] = extreme_count(random);
    }
    if (random_below(random, 4) == 0) { /* a reference far above the scores */
        p->arithmetic.above = ONE_OF(random, 1e-3, 1.0, 20.0, 300.0, 650.0, 700.0, 709.0, 709.9);
    }
    p->lse_error = random_below(random, 2) == 0 ? 0.0 : extreme(random);
}

/* ---- Rows ---- */

static void make_row(struct problem *p, unsigned long long *random) {
    double size = ONE_OF(random, 0.0, 1e-3, 1.0, 1.0, 10.0, 40.0, 400.0, 800.0, 1e5, 1e8);
    double values = ONE_OF(random, 0x1p-1074, 0x1p-1022, 1e-30, 1.0, 1.0, 6e4, 1e30, 0x1p1000);
    p->n = random_below(random, 8) == 0 ? 1 + random_below(random, MOST_KEYS)
                                        : 1 + random_below(random, 6);
    p->d = 1 + random_below(random, MOST_DIM);
    p->scale = ONE_OF(random, 1.0, 1.0, 0.125, -1.0, 1.0 / 3.0);
    for (int x = 0; x < p->d; x++) {
        p->q[x] = x == 0 ? 1.0 : 0.1 * random_uniform(random);
    }
    int whole = random_below(random, 2), same = random_below(random, 4) == 0;
    for (int i = 0; i < p->n * p->d; i++) {
        double k = size * random_uniform(random), v = values * random_uniform(random);
        p->k[i] = whole ? floor(k) : k;
        p->v[i] = same && i >= p->d ? p->v[i - p->d] : v;
    }
}

static void make_shifts(struct problem *p, unsigned long long *random) {
    double size = ONE_OF(random, 0.0, 1e-3, 1.0, 10.0, 400.0, 1e5, 1e8, 0x1p1000);
    double error = extreme(random);
    p->shifted = 1;
    for (int j = 0; j < p->n; j++) {
        p->shift[j] = size * random_uniform(random);
        p->shift_error[j] = random_below(random, 2) == 0 ? 0.0 : fmin(error, extreme(random));
    }
}

/* ---- Tests ---- */

/* Each field alone, at each extreme, in a class that has no other error. */
static void each_field_alone(void **state) {
    static struct problem p;
    static const double sizes[] = {0x1p-1074, 0x1.8p-1073, 0x1p-1022, 0x1p-149, 0x1p-53,
                                   0x1p-24,   0x1p-11,     0.01,      0.25,     1.0};
    struct tally tally = {{0}, 0, 0};
    unsigned long long random = 2;
    (void)state;
    for (int f = 0; f < FIELDS; f++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (int j = 0; j < 4; j++) {
                double *field[FIELDS];
                make_row(&p, &random);
                no_errors(&p);
                p.counts = cp_counts_of_chunks(4, 1 + j);
                list_fields(&p, field);
                *field[f] = sizes[i];
                try_row(&p, "one field", f, &tally);
            }
        }
    }
    assert_true(tally.finite > tally.rows);
}

/* What an exponential loses is rounded to P, too, and multiplied by what changes lose. */
static void fields_that_multiply(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    unsigned long long random = 5;
    (void)state;
    for (int i = 0; i < 64; i++) {
        make_row(&p, &random);
        no_errors(&p);
        p.n = p.n < 6 ? p.n : 6;
        p.counts = cp_counts_of_chunks(4, 1 + i % 3);
        p.arithmetic.kappa = ldexp(1.0, -4 - i % 8);
        p.arithmetic.weights.unit = ldexp(1.0, -2 - i / 8);
        p.arithmetic.rounded_sum = i / 4 % 2;
        try_row(&p, "two fields", i, &tally);
    }
    assert_true(tally.finite > tally.rows);
}

static void every_class_on_every_row(void **state) {
    static struct problem p;
    unsigned long long random = (unsigned long long)setting("CHUNKPROOF_SEED", 1);
    long rows = setting("CHUNKPROOF_CASES", 1500);
    struct tally tally = {{0}, 0, 0};
    (void)state;
    for (long i = 0; i < rows; i++) {
        make_row(&p, &random);
        make_class(&p, &random, random_below(&random, 6));
        try_row(&p, "random", i, &tally);
    }
    printf("rows %ld, finite claims %ld\n", tally.rows, tally.finite);
    assert_true(tally.finite > tally.rows / 2);
}

static void every_class_with_shifts(void **state) {
    static struct problem p;
    unsigned long long random = (unsigned long long)setting("CHUNKPROOF_SEED", 1) + 1;
    long rows = setting("CHUNKPROOF_CASES", 1500);
    struct tally tally = {{0}, 0, 0};
    (void)state;
    for (long i = 0; i < rows; i++) {
        make_row(&p, &random);
        make_class(&p, &random, random_below(&random, 3));
        make_shifts(&p, &random);
        try_row(&p, "random, shifted", i, &tally);
    }
    printf("rows %ld, finite claims %ld\n", tally.rows, tally.finite);
    assert_true(tally.finite > tally.rows / 2);
}

/* Large shifts of small scores, in a class without errors: all that is wrong is the rounding of the
 * sums. Or all that is wrong is the error of shifts. */
static void shifts_alone(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    unsigned long long random = 9;
    (void)state;
    for (int i = 0; i < 400; i++) {
        no_errors(&p);
        p.n = 2 + i % 3;
        p.d = p.shifted = 1;
        p.scale = ONE_OF(&random, 1.0, -1.0, 1.0 / 3.0);
        p.q[0] = 1.0;
        for (int j = 0; j < p.n; j++) {
            p.k[j] = random_uniform(&random);
            p.v[j] = j % 2 == 0 ? 1.0 : -1.0;
            p.shift[j] = ldexp(1.0, 4 + i % 16) + j * 0.25;
            p.shift_error[j] = i % 4 == 3 ? ldexp(1.0 + random_uniform(&random), -i / 20 - j) : 0.0;
        }
        try_row(&p, "shifts alone", i, &tally);
    }
    assert_true(tally.finite > 3 * tally.rows / 2);
}

/* A class whose only error is what an exponential loses: this part of the weights in all. */
static void use_up_by_kappa(struct problem *p, double part) {
    double largest = -INFINITY, weights = 0.0;
    for (int j = 0; j < p->n; j++) {
        p->k[place(p, j)] = fmod(p->k[place(p, j)], 4.0);
        largest = fmax(largest, p->scale * p->q[0] * p->k[place(p, j)]);
        for (int x = 1; x < p->d; x++) {
            p->k[place(p, j) + x] = 0.0;
        }
    }
    for (int j = 0; j < p->n; j++) {
        weights += exp(p->scale * p->q[0] * p->k[place(p, j)] - largest);
    }
    no_errors(p);
    p->arithmetic.kappa = part * weights / p->n;
}

/* Errors that almost use up the weights: 1 - sum H_j - E_n is 2^-k, so that what the bound adds is
 * amplified. */
static void little_is_left(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    unsigned long long random = 3;
    (void)state;
    for (int k = 2; k < 50; k += 3) {
        for (int i = 0; i < 20; i++) {
            make_row(&p, &random);
            make_class(&p, &random, 0);
            p.n = 1 + i % 5;
            p.counts.changes = 0;
            p.arithmetic.eps = log1p(1.0 - ldexp(1.0, -k)) * (1.0 - (i % 3) * 0x1p-50);
            try_row(&p, "little left", k, &tally);
            use_up_by_kappa(&p, 1.0 - ldexp(1.0, -k) - (i % 3) * 0x1p-50);
            try_row(&p, "little left by kappa", k, &tally);
        }
    }
    assert_true(tally.finite > 100);
}

/* The sum of weights loses each small one, and the sum of values doubles it: both sums of
 * cp_tolerance() are then as far off as they can be. */
static void sums_round_one_way(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    (void)state;
    for (int i = 0; i < 200; i += 8) {
        no_errors(&p);
        p.n = MOST_KEYS;
        p.d = 2;
        p.scale = 1.0;
        p.q[0] = 1.0;
        p.q[1] = 0.0;
        for (int j = 0; j < p.n; j++) {
            p.k[place(&p, j)] = j == 0 ? 0.0 : log(0x1p-53 * (0.9 + 0.0005 * i));
            p.k[place(&p, j) + 1] = 0.0;
            p.v[place(&p, j)] = j == 0 ? 1.0 : 1.15;
            p.v[place(&p, j) + 1] = j == 0 ? -1.0 : 1.15;
        }
        try_row(&p, "one way", i, &tally);
        for (int j = 1; j < p.n; j++) { /* now the sum of weights doubles each, ... */
            p.k[place(&p, j)] = log(0x1p-53 * (1.1 + 0.0005 * i));
        }
        p.arithmetic.kappa = (1.0 - 0x1p-40) / p.n; /* ... and little of it is left */
        try_row(&p, "one way, little left", i, &tally);
    }
    assert_int_equal(tally.finite, 3 * tally.rows);
}

/* The sum of errors loses each small one. */
static void errors_round_one_way(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    (void)state;
    for (int i = 0; i < 100; i += 8) {
        no_errors(&p);
        p.arithmetic.weights.tiny = 1e6 + i;
        p.n = MOST_KEYS;
        p.d = 1;
        p.scale = p.q[0] = 1.0;
        for (int j = 0; j < p.n; j++) {
            p.k[j] = 0.0;
            p.v[j] = j == 0 ? 1.0 : 0x1p-53 * (0.5 + 0.004 * i);
        }
        try_row(&p, "errors one way", i, &tally);
    }
    assert_int_equal(tally.finite, 2 * tally.rows);
}

/* Values one unit in the last place apart, with attention between them: `expected` is one of the
 * two, and no further away than it seems. Little is left, so that it counts. */
static void values_side_by_side(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    (void)state;
    for (int i = 1; i < 20; i++) {
        no_errors(&p);
        p.arithmetic.eps = log1p(1.0 - 0x1p-20);
        p.n = 2;
        p.d = 1;
        p.scale = p.q[0] = 1.0;
        p.k[0] = log(0.05 * i);
        p.k[1] = log(1.0 - 0.05 * i);
        p.v[0] = 1.0;
        p.v[1] = 1.0 + 0x1p-52;
        try_row(&p, "side by side", i, &tally);
    }
    assert_int_equal(tally.finite, 2 * tally.rows);
}

/* A key of which only its error is to be seen: a weight below the normal numbers, a huge value, and
 * an argument whose error grows with its size. */
static void faint_weights(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    (void)state;
    for (int i = 0; i < 100; i++) {
        no_errors(&p);
        p.arithmetic.u_arg = 0.01;
        p.n = 2;
        p.d = 1;
        p.scale = p.q[0] = 1.0;
        p.k[0] = 0.0;
        p.k[1] = -707.5 - 0.02 * i;
        p.v[0] = 0.0;
        p.v[1] = 0x1p1000;
        try_row(&p, "faint", i, &tally);
    }
    assert_int_equal(tally.finite, 2 * tally.rows);
}

/* References far above the scores: weights that binary64 cannot have in their scale. */
static void far_references(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    (void)state;
    for (int above = 600; above < 720; above++) {
        no_errors(&p);
        p.arithmetic = cp_arithmetic_fp64(1);
        p.counts = cp_counts_of_chunks(4, 1);
        p.arithmetic.above = above;
        p.n = 4;
        p.d = 1;
        p.scale = p.q[0] = 1.0;
        for (int j = 0; j < p.n; j++) {
            p.k[j] = j == 0 ? 0.0 : -50.0;
            p.v[j] = j == 0 ? 1.0 : -1.0;
        }
        try_row(&p, "far references", above, &tally);
    }
    assert_int_equal(tally.claims[CLAIM_HOLDS], 2 * tally.rows);
}

/* A factor that is 1 in binary64, 2^30 times over. */
static void many_changes(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    unsigned long long random = 4;
    (void)state;
    for (int i = 0; i < 400; i++) {
        make_row(&p, &random);
        make_class(&p, &random, 0);
        p.counts.changes = INT32_MAX - i;
        p.arithmetic.eps = ONE_OF(&random, 0x1p-60, 0x1p-53, 0x1p-40, 0x1p-33);
        p.arithmetic.eta_n = p.arithmetic.eta_o = ONE_OF(&random, 0.0, 0x1p-60, 0x1p-30);
        try_row(&p, "many changes", i, &tally);
    }
    assert_true(tally.finite > tally.rows / 2);
}

/* Scores that cancel: all that is wrong is the error of a score in binary64, which only Z knows. */
static void scores_that_cancel(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    unsigned long long random = 6;
    (void)state;
    for (int i = 0; i < 300; i++) {
        double size = ldexp(1.0, 6 + i % 10);
        no_errors(&p);
        p.n = 2 + i % 3;
        p.d = 3;
        p.scale = ONE_OF(&random, 1.0, -1.0, 1.0 / 3.0);
        for (int x = 0; x < p.d; x++) {
            p.q[x] = 1.0 + fabs(random_uniform(&random));
        }
        for (int j = 0; j < p.n; j++) {
            double *k = &p.k[place(&p, j)];
            k[0] = size * (1.0 + random_uniform(&random) / 4.0);
            k[1] = size * (1.0 + random_uniform(&random) / 4.0);
            k[2] = -(p.q[0] * k[0] + p.q[1] * k[1]) / p.q[2];
            for (int x = 0; x < p.d; x++) {
                p.v[place(&p, j) + x] = j % 2 == 0 ? 1.0 : -1.0;
            }
        }
        try_row(&p, "scores that cancel", i, &tally);
    }
    assert_int_equal(tally.finite, tally.rows * (p.d + 1));
}

/* What an exponential loses, through changes of a reference that is below the scores. */
static void losses_through_changes(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    unsigned long long random = 7;
    (void)state;
    for (int i = 0; i < 240; i++) {
        make_row(&p, &random);
        no_errors(&p);
        p.n = 1 + i % 3;
        for (int y = 0; y < p.n * p.d; y++) {
            p.k[y] = fmod(p.k[y], 1.0);
        }
        p.counts = cp_counts_of_chunks(2, 2);
        p.counts.changes = 1 + i % 4;
        p.arithmetic.kappa = ldexp(1.0, -3 - i % 5);
        p.arithmetic.below = 0.25 * (1 + i % 7);
        p.arithmetic.eta_n = p.arithmetic.eta_o = ONE_OF(&random, 0x1p-8, 0x1p-12);
        try_row(&p, "losses through changes", i, &tally);
    }
    assert_true(tally.finite > tally.rows);
}

/* A weight that a change could make larger than binary64 has numbers: nothing is to be claimed. */
static void weights_that_overflow(void **state) {
    static struct problem p;
    struct tally tally = {{0}, 0, 0};
    unsigned long long random = 8;
    (void)state;
    for (int below = 400; below < 700; below += 5) {
        make_row(&p, &random);
        no_errors(&p);
        p.n = 1 + below % 4;
        p.counts = cp_counts_of_chunks(2, 2);
        p.counts.changes = 1;
        p.arithmetic.kappa = ONE_OF(&random, 0x1p-1074, 0x1p-1000, 0x1p-60);
        p.arithmetic.below = below;
        try_row(&p, "weights that overflow", below, &tally);
    }
    assert_int_equal(tally.finite, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_alone),
        cmocka_unit_test(fields_that_multiply),
        cmocka_unit_test(far_references),
        cmocka_unit_test(many_changes),
        cmocka_unit_test(scores_that_cancel),
        cmocka_unit_test(losses_through_changes),
        cmocka_unit_test(weights_that_overflow),
        cmocka_unit_test(little_is_left),
        cmocka_unit_test(sums_round_one_way),
        cmocka_unit_test(errors_round_one_way),
        cmocka_unit_test(faint_weights),
        cmocka_unit_test(values_side_by_side),
        cmocka_unit_test(every_class_on_every_row),
        cmocka_unit_test(every_class_with_shifts),
        cmocka_unit_test(shifts_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

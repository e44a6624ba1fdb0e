/* SPDX-License-Identifier: Apache-2.0 */
/* Online softmax: the laws of merge as loops, and states of any partition against the oracle
 * (SOFTMAX-1, SOFTMAX-2, MERGE-1 .. MERGE-7). */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bound.h"
#include "chunkproof/limits.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "oracle.h"
#include "random.h"

#define D        5
#define MAX_KEYS 64

/* A state with its o. */
struct row {
    struct cp_state state;
    double o[D];
};

/* One query and its keys. */
struct problem {
    int n;
    double scale;
    double q[D];
    double k[MAX_KEYS * D];
    double v[MAX_KEYS * D];
};

/* The regimes of scores: how far they spread and where they lie. */
struct regime {
    double spread;
    double shift;
};

static const struct regime regimes[] = {
    {1.0, 0.0},     {20.0, 0.0}, {0.0, 0.0},    {1.0, -900.0}, {1.0, 900.0},
    {700.0, 0.0},   {1e4, 0.0},  {1.0, -1e4},   {300.0, -1e4}, {1e-3, 700.0},
    {1e-3, -700.0}, {1e4, -1e4}, {5.0, -745.0}, {5.0, -708.0},
};

#define N_REGIMES (int)(sizeof regimes / sizeof regimes[0])

/* Column 0 of K carries the score, the others make it a sum of several terms. */
static void make_problem(struct problem *p, unsigned long long *random, struct regime regime,
                         int n) {
    p->n = n;
    p->scale = 0.25;
    for (int x = 0; x < D; x++) {
        p->q[x] = x == 0 ? 4.0 : 0.125;
    }
    for (int i = 0; i < n * D; i++) {
        double score = regime.shift + regime.spread * random_uniform(random);
        p->k[i] = i % D == 0 ? score : regime.spread * random_uniform(random);
        p->v[i] = random_normal(random);
    }
}

static void partial(struct row *row, const struct problem *p, int first, int n_keys) {
    cp_partial_attn(&row->state, row->o, p->q, p->k, p->v, CP_FP64, (size_t)first, n_keys, D,
                    p->scale);
}

static struct row merge(struct row a, const struct row *b) {
    cp_attn_reduce(&a.state, a.o, &b->state, b->o, D);
    return a;
}

static struct row empty(void) {
    struct row row;
    memset(&row, 0xFF, sizeof row);
    cp_state_empty(&row.state, row.o, D);
    return row;
}

/* Of n, o and (but for the sign of a zero) m. */
static int same_bits(const struct row *a, const struct row *b) {
    return a->state.m == b->state.m && memcmp(&a->state.n, &b->state.n, sizeof(double)) == 0 &&
           memcmp(a->o, b->o, sizeof a->o) == 0;
}

/* ---- Scores ---- */

static void score_is_the_scaled_dot_product(void **unused) {
    const double q[] = {1.0, 2.0, -3.0};
    const double k[] = {5.0, 0.5, 2.0};
    const double ones[] = {1.0, 1.0, 1.0};
    const double cancel[] = {1e16, 1.0, -1e16};
    (void)unused;
    assert_true(cp_score(q, k, 3, 1.0) == 0.0);
    assert_true(cp_score(q, k, 2, 0.5) == 3.0);
    assert_true(cp_score(q, k, 1, -2.0) == -10.0);
    /* From the first element on: 1e16 + 1 is 1e16. From the last on it would be 1. */
    assert_true(cp_score(ones, cancel, 3, 1.0) == 0.0);
}

/* ---- MERGE-5: the laws ---- */

static void empty_is_the_identity(void **unused) {
    unsigned long long random = 1;
    (void)unused;
    for (int i = 0; i < 100 * N_REGIMES; i++) {
        struct problem p;
        struct row a;
        struct row nothing = empty();
        make_problem(&p, &random, regimes[i % N_REGIMES], 1 + random_below(&random, 8));
        partial(&a, &p, 0, p.n);
        struct row left = merge(nothing, &a);
        struct row right = merge(a, &nothing);
        assert_memory_equal(&left, &a, sizeof a);
        assert_memory_equal(&right, &a, sizeof a);
    }
}

static void two_empty_states_make_an_empty_one(void **unused) {
    struct row a = empty();
    struct row b = empty();
    double out[D] = {1.0, 2.0, 3.0, 4.0, 5.0};
    (void)unused;
    a = merge(a, &b);
    assert_true(a.state.n == 0.0 && a.state.m == 0.0);
    assert_true(cp_finish(&a.state, a.o, out, D) == -INFINITY);
    for (int x = 0; x < D; x++) {
        assert_true(a.o[x] == 0.0 && out[x] == 0.0);
    }
}

static void merge_commutes_bit_for_bit(void **unused) {
    unsigned long long random = 2;
    (void)unused;
    for (int i = 0; i < 100 * N_REGIMES; i++) {
        struct problem p;
        struct row a;
        struct row b;
        make_problem(&p, &random, regimes[i % N_REGIMES], 2 + random_below(&random, 12));
        int cut = random_below(&random, p.n + 1);
        partial(&a, &p, 0, cut);
        partial(&b, &p, cut, p.n - cut);
        struct row ab = merge(a, &b);
        struct row ba = merge(b, &a);
        assert_true(same_bits(&ab, &ba));
    }
}

/* How far two orders of merging the same parts can be apart in n (part value n_p) or in one o (part
 * value |o_p|). With u and U as in bound.c, whose steps these are: the largest m is exact; a part
 * meets at most n_parts - 1 merges, each with an exponential (2U), a product and an addition (U
 * each), and differences of maxima that add up to M - m_p, each off by a factor 1 + e: together a
 * factor within exp(+-t), t = U (4 (n_parts - 1) + M - m_p). Two orders: twice that. Underflow: two
 * exponentials and two products for each merge, 2^-1074 each times what they scale. SLACK as in
 * bound.c, point 8. */
static double reassociation_bound(const double *m, const double *value, int n_parts,
                                  double highest) {
    double sum = 0.0;
    double size = 1.0;
    for (int p = 0; p < n_parts; p++) {
        double t = BOUND_BIG_U * (4.0 * (n_parts - 1) + highest - m[p]);
        sum += fabs(value[p]) * exp(m[p] - highest) * expm1(t);
        size += fabs(value[p]);
    }
    return 2.0 * (1.0 + 0x1p-20) * (sum + 4.0 * (n_parts - 1) * size * 0x1p-1074);
}

static void expect_within(double a, double b, double bound) {
    assert_true(fabs(a - b) <= bound); /* false for a NaN */
}

static void merge_is_associative_within_the_bound(void **unused) {
    unsigned long long random = 3;
    (void)unused;
    for (int i = 0; i < 200 * N_REGIMES; i++) {
        struct problem p;
        struct row part[3];
        double m[3];
        double value[3];
        make_problem(&p, &random, regimes[i % N_REGIMES], 9);
        for (int t = 0; t < 3; t++) {
            partial(&part[t], &p, 3 * t, 1 + random_below(&random, 3));
            m[t] = part[t].state.m;
            value[t] = part[t].state.n;
        }
        struct row left = merge(merge(part[0], &part[1]), &part[2]);
        struct row right = merge(part[1], &part[2]);
        right = merge(part[0], &right);
        assert_true(left.state.m == right.state.m);
        expect_within(left.state.n, right.state.n, reassociation_bound(m, value, 3, left.state.m));
        for (int x = 0; x < D; x++) {
            for (int t = 0; t < 3; t++) {
                value[t] = part[t].o[x];
            }
            expect_within(left.o[x], right.o[x], reassociation_bound(m, value, 3, left.state.m));
        }
    }
}

/* ---- Any partition, any order of merging, against the oracle ---- */

typedef void merge_function(struct row *a, const struct row *b);

static void right_merge(struct row *a, const struct row *b) {
    cp_attn_reduce(&a->state, a->o, &b->state, b->o, D);
}

/* Cuts the keys into parts at random (some of them empty), merges them two by two at random, and
 * returns 1 when the result is what the oracle says, within the bound. */
static int partition_agrees(const struct problem *p, unsigned long long *random,
                            merge_function *merge_into) {
    struct row part[MAX_KEYS + 4];
    double out[D];
    double expected[D];
    double bound[D];
    int n_parts = 0;
    int n_empty = 0;
    int largest = 0;
    for (int first = 0; first < p->n;) {
        int n_keys = random_below(random, 9);
        n_keys = n_keys < p->n - first ? n_keys : p->n - first;
        if (n_keys > 0 || n_empty < 4) {
            partial(&part[n_parts++], p, first, n_keys);
            n_empty += n_keys == 0;
        }
        first += n_keys;
        largest = n_keys > largest ? n_keys : largest;
    }
    double lse_bound =
        bound_attention(p->q, p->k, p->v, p->n, D, p->scale, n_parts - n_empty, largest, bound);
    for (int left = n_parts; left > 1; left--) {
        int a = random_below(random, left);
        struct row last = part[left - 1];
        merge_into(a < left - 1 ? &part[a] : &part[0], &last);
    }
    double lse = cp_finish(&part[0].state, part[0].o, out, D);
    double expected_lse = oracle_attention(p->q, p->k, p->v, p->n, D, p->scale, expected);
    int agrees = part[0].state.n >= 1.0 && fabs(lse - expected_lse) <= lse_bound;
    for (int x = 0; x < D; x++) {
        agrees = agrees && fabs(out[x] - expected[x]) <= bound[x];
    }
    return agrees;
}

/* How many of 50 random problems of a regime, with at least `fewest` keys, agree. */
static int agreeing(struct regime regime, int fewest, unsigned long long seed,
                    merge_function *merge_into) {
    int n = 0;
    for (int i = 0; i < 50; i++) {
        struct problem p;
        int n_keys = fewest + random_below(&seed, MAX_KEYS + 1 - fewest);
        make_problem(&p, &seed, regime, n_keys);
        n += partition_agrees(&p, &seed, merge_into);
    }
    return n;
}

static void any_partition_is_softmax_attention(void **unused) {
    (void)unused;
    for (int i = 0; i < N_REGIMES; i++) {
        for (unsigned long long seed = 0; seed < 20; seed++) {
            assert_int_equal(agreeing(regimes[i], 1, 1000 * seed + (unsigned)i, right_merge), 50);
        }
    }
}

/* Wrong merges, to see that the comparison above refuses each, always: with 40 keys there are five
 * parts or more. */
static void without_rescale(struct row *a, const struct row *b) {
    a->state.n += b->state.n;
    a->state.m = fmax(a->state.m, b->state.m);
    for (int x = 0; x < D; x++) {
        a->o[x] += b->o[x];
    }
}

/* The new part is rescaled, what was there before is not. */
static void rescale_one_side(struct row *a, const struct row *b) {
    double m = fmax(a->state.m, b->state.m);
    double factor = exp(b->state.m - m);
    a->state.n += factor * b->state.n;
    a->state.m = m;
    for (int x = 0; x < D; x++) {
        a->o[x] += factor * b->o[x];
    }
}

static void rescale_to_the_smaller_base(struct row *a, const struct row *b) {
    struct row c = *b;
    c.state.m *= 0.69314718055994530942; /* a maximum in units of base 2 */
    right_merge(a, &c);
}

static void forget_the_normaliser(struct row *a, const struct row *b) {
    double n = a->state.n;
    right_merge(a, b);
    a->state.n = fmax(n, 1.0);
}

static void drop_the_part(struct row *a, const struct row *b) {
    (void)a;
    (void)b;
}

static void wrong_merges_are_refused(void **unused) {
    merge_function *const wrong[] = {without_rescale, rescale_one_side, rescale_to_the_smaller_base,
                                     forget_the_normaliser, drop_the_part};
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(agreeing((struct regime){3.0, 0.0}, 40, 77, wrong[i]), 0);
        assert_int_equal(agreeing((struct regime){3.0, -900.0}, 40, 78, wrong[i]), 0);
    }
}

/* The papers' start, (m, n, o) = 0 as if it were a key's state: right for ordinary scores, 0 / 0
 * when all of them are so low that exp(score) underflows. And the other usual start, m = -infinity:
 * NaN as soon as two of them meet. Both differ from the empty state (MERGE-2). */
static void merge_eqn_2(struct row *a, const struct row *b) {
    double m = fmax(a->state.m, b->state.m);
    double x = exp(b->state.m - m);
    double y = exp(a->state.m - m);
    a->state.n = x * b->state.n + y * a->state.n;
    a->state.m = m;
    for (int i = 0; i < D; i++) {
        a->o[i] = x * b->o[i] + y * a->o[i];
    }
}

static void the_start_decides(void **unused) {
    unsigned long long random = 6;
    struct problem p;
    struct row part;
    double out[D];
    double expected[D];
    double bound[D];
    (void)unused;
    make_problem(&p, &random, (struct regime){1.0, -900.0}, 10);
    oracle_attention(p.q, p.k, p.v, p.n, D, p.scale, expected);
    bound_attention(p.q, p.k, p.v, p.n, D, p.scale, 1, p.n, bound);
    partial(&part, &p, 0, p.n);

    struct row zero = {{0.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 0.0}};
    merge_eqn_2(&zero, &part);
    assert_true(isnan(zero.o[0] / zero.state.n));

    struct row low = {{-INFINITY, 0.0}, {0.0, 0.0, 0.0, 0.0, 0.0}};
    const struct row same = low;
    merge_eqn_2(&low, &same);
    assert_true(isnan(low.state.n));

    struct row right = empty();
    const struct row nothing = empty();
    right = merge(merge(right, &nothing), &part);
    cp_finish(&right.state, right.o, out, D);
    for (int x = 0; x < D; x++) {
        expect_within(out[x], expected[x], bound[x]);
    }
}

/* ---- Results that are exact ---- */

static void a_single_key_returns_its_value(void **unused) {
    unsigned long long random = 7;
    (void)unused;
    for (int i = 0; i < 20 * N_REGIMES; i++) {
        struct problem p;
        struct row row;
        double out[D];
        make_problem(&p, &random, regimes[i % N_REGIMES], 1);
        partial(&row, &p, 0, 1);
        double lse = cp_finish(&row.state, row.o, out, D);
        assert_true(row.state.n == 1.0);
        assert_true(lse == cp_score(p.q, p.k, D, p.scale));
        assert_memory_equal(out, p.v, sizeof out);
    }
}

/* exp(-1e4) is 0: the winner's value comes back bit for bit, from whatever part it is in. */
static void a_winner_takes_all(void **unused) {
    unsigned long long random = 8;
    (void)unused;
    for (int winner = 0; winner < 12; winner++) {
        struct problem p;
        struct row row = empty();
        double out[D];
        make_problem(&p, &random, (struct regime){1.0, -1e4}, 12);
        p.k[(ptrdiff_t)winner * D] += 1e4;
        for (int first = 0; first < 12; first += 4) {
            struct row part;
            partial(&part, &p, first, 4);
            row = merge(row, &part);
        }
        double lse = cp_finish(&row.state, row.o, out, D);
        assert_true(lse == cp_score(p.q, p.k + (ptrdiff_t)winner * D, D, p.scale));
        assert_memory_equal(out, p.v + (ptrdiff_t)winner * D, sizeof out);
    }
}

/* Equal scores: every weight is 1, sums of small integers are exact, one rounding in the mean. */
static void ties_give_the_mean(void **unused) {
    for (int shift = -900; shift <= 900; shift += 300) {
        struct problem p = {.n = 60, .scale = 1.0, .q = {1.0}};
        struct row row = empty();
        double out[D];
        double sum[D] = {0.0};
        (void)unused;
        for (int i = 0; i < p.n * D; i++) {
            p.k[i] = i % D == 0 ? shift : i;
            p.v[i] = (i * i) % 101;
            sum[i % D] += p.v[i];
        }
        for (int first = 0; first < p.n; first += 7) {
            struct row part;
            partial(&part, &p, first, p.n - first < 7 ? p.n - first : 7);
            row = merge(row, &part);
        }
        assert_true(row.state.n == 60.0);
        assert_true(cp_finish(&row.state, row.o, out, D) == shift + log(60.0));
        for (int x = 0; x < D; x++) {
            assert_true(out[x] == sum[x] / 60.0);
        }
    }
}

/* A shift of all scores changes no bit of n and o, when the scores are exact. */
static void a_common_shift_changes_nothing(void **unused) {
    unsigned long long random = 9;
    (void)unused;
    for (int i = 0; i < 200; i++) {
        struct problem p;
        struct row plain;
        struct row shifted;
        make_problem(&p, &random, (struct regime){0.0, 0.0}, 1 + random_below(&random, 30));
        for (int j = 0; j < p.n; j++) {
            p.k[(ptrdiff_t)j * D] = random_below(&random, 41) - 20;
        }
        partial(&plain, &p, 0, p.n);
        for (int j = 0; j < p.n; j++) {
            p.k[(ptrdiff_t)j * D] -= 900.0;
        }
        partial(&shifted, &p, 0, p.n);
        assert_true(shifted.state.m == plain.state.m - 900.0);
        shifted.state.m = plain.state.m;
        assert_true(same_bits(&plain, &shifted));
    }
}

/* MERGE-7: the log-sum-exp of a merge is logsumexp of both, and natural. With two keys n is 1 +
 * exp(x), x <= 0: off by 2U for exp, 1/e U for the difference x, U for the addition at 2: below 5U,
 * so that its log-sum-exp is off by 5U + 2U ln 2 + U |lse| < 6.4U + U |lse|. One merge adds 2U + U
 * + U + 1/e U to n: below 9.4U, and with 2U ln 4 for the logarithm lse is off by 12.2U + U |lse|.
 * In logsumexp(a, b) both count with weights that add up to 1: 6.4U + U |max(a, b)| + 1/e U as the
 * smaller one is larger in size by their distance only; its own operations add 1/e U (difference),
 * U (exp), 2U ln 2 (log1p) and U |lse|: below 9.6U + U |max(a, b)| + U |lse|, and |max(a, b)| <=
 * |lse| + ln 2. In all below 22.5U + 3U |lse|; one more of each for what is of second order. */
static void lse_of_a_merge(void **unused) {
    unsigned long long random = 10;
    (void)unused;
    for (int i = 0; i < 100; i++) {
        struct problem p;
        struct row a;
        struct row b;
        double out[D];
        make_problem(&p, &random, (struct regime){5.0, (i % 3 - 1) * 900.0}, 4);
        partial(&a, &p, 0, 2);
        partial(&b, &p, 2, 2);
        struct row ab = merge(a, &b);
        double lse_a = cp_finish(&a.state, a.o, out, D);
        double lse_b = cp_finish(&b.state, b.o, out, D);
        double lse = cp_finish(&ab.state, ab.o, out, D);
        double expected = fmax(lse_a, lse_b) + log1p(exp(fmin(lse_a, lse_b) - fmax(lse_a, lse_b)));
        expect_within(lse, expected, BOUND_BIG_U * (24.0 + 4.0 * fabs(lse)));
    }
}

/* spec/softmax.md: scores 0 and ln 3, weights 1/4 and 3/4. The key log(3) is off by 2U ln 3, which
 * moves output (sum_j w_j |v_j - o| < 1) and lse by no more than that; bound_attention() is for two
 * computed results, so its second half pays for log(4). */
static void example_of_the_specification(void **unused) {
    const double q = 1.0;
    const double k[] = {0.0, log(3.0)};
    const double v[][2] = {{1.0, 0.0}, {0.0, 1.0}};
    const double expected[] = {0.25, 0.75};
    (void)unused;
    for (int x = 0; x < 2; x++) {
        const double column[] = {v[0][x], v[1][x]};
        struct cp_state a;
        struct cp_state b;
        double o_a;
        double o_b;
        double out;
        double bound;
        double lse_bound = bound_attention(&q, k, column, 2, 1, 1.0, 2, 1, &bound);
        cp_partial_attn(&a, &o_a, &q, k, column, CP_FP64, 0, 1, 1, 1.0);
        cp_partial_attn(&b, &o_b, &q, k, column, CP_FP64, 1, 1, 1, 1.0);
        assert_true(a.m == 0.0 && a.n == 1.0 && b.m == k[1] && b.n == 1.0);
        cp_attn_reduce(&a, &o_a, &b, &o_b, 1);
        assert_true(a.m == k[1]);
        expect_within(cp_finish(&a, &o_a, &out, 1), log(4.0), lse_bound + 2.0 * BOUND_BIG_U * k[1]);
        expect_within(out, expected[x], bound + 2.0 * BOUND_BIG_U * k[1]);
    }
}

/* ---- MERGE-3: what partial_attn reads ---- */

static void any_type_of_key(void **unused) {
    unsigned long long random = 11;
    struct problem p;
    struct row expected;
    double room_k[MAX_KEYS * D];
    double room_v[MAX_KEYS * D];
    (void)unused;
    make_problem(&p, &random, (struct regime){1.0, 0.0}, 20);
    for (int i = 0; i < p.n * D; i++) { /* every type has these */
        p.k[i] = (random_below(&random, 513) - 256) * 0x1p-8;
        p.v[i] = (random_below(&random, 513) - 256) * 0x1p-20;
    }
    partial(&expected, &p, 3, 9);
    for (int type = CP_FP16; type <= CP_BF16; type++) {
        struct row row;
        for (int i = 0; i < p.n * D; i++) {
            int used = i >= 3 * D && i < 12 * D; /* and NaN on both sides */
            cp_number_store(room_k, type, (size_t)i, used ? p.k[i] : NAN);
            cp_number_store(room_v, type, (size_t)i, used ? p.v[i] : NAN);
        }
        cp_partial_attn(&row.state, row.o, p.q, room_k, room_v, type, 3, 9, D, p.scale);
        assert_memory_equal(&row, &expected, sizeof row);
    }
}

static void no_key_and_as_many_as_a_chunk_holds(void **unused) {
    static double k[CP_MAX_CHUNK_SIZE];
    static double v[CP_MAX_CHUNK_SIZE];
    const double q = 1.0;
    double o = 7.0;
    double out;
    struct cp_state state = {7.0, 7.0};
    (void)unused;
    cp_partial_attn(&state, &o, &q, NULL, NULL, CP_FP32, 0, 0, 1, 1.0);
    assert_true(state.m == 0.0 && state.n == 0.0 && o == 0.0);
    for (int j = 0; j < CP_MAX_CHUNK_SIZE; j++) {
        v[j] = j;
    }
    cp_partial_attn(&state, &o, &q, k, v, CP_FP64, 0, CP_MAX_CHUNK_SIZE, 1, 1.0);
    cp_finish(&state, &o, &out, 1);
    assert_true(state.n == CP_MAX_CHUNK_SIZE && out == (CP_MAX_CHUNK_SIZE - 1) / 2.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(score_is_the_scaled_dot_product),
        cmocka_unit_test(empty_is_the_identity),
        cmocka_unit_test(two_empty_states_make_an_empty_one),
        cmocka_unit_test(merge_commutes_bit_for_bit),
        cmocka_unit_test(merge_is_associative_within_the_bound),
        cmocka_unit_test(any_partition_is_softmax_attention),
        cmocka_unit_test(wrong_merges_are_refused),
        cmocka_unit_test(the_start_decides),
        cmocka_unit_test(a_single_key_returns_its_value),
        cmocka_unit_test(a_winner_takes_all),
        cmocka_unit_test(ties_give_the_mean),
        cmocka_unit_test(a_common_shift_changes_nothing),
        cmocka_unit_test(lse_of_a_merge),
        cmocka_unit_test(example_of_the_specification),
        cmocka_unit_test(any_type_of_key),
        cmocka_unit_test(no_key_and_as_many_as_a_chunk_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

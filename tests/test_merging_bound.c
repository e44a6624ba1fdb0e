/* SPDX-License-Identifier: Apache-2.0 */
/* The certified tolerance of kernels that merge: emulated kernels of every class within their
 * bounds, and wrong merges beyond them (MERGING-4 to MERGING-7). CHUNKPROOF_CASES rows (4,000),
 * CHUNKPROOF_SEED (1). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/merging.h"
#include "chunkproof/number.h"
#include "merging_case.h"
#include "merging_kernels.h"
#include "merging_oracle.h"
#include "random.h"

static int one_of(unsigned long long *random, const int *x, int n) {
    return x[random_below(random, n)];
}

static struct merging_kernel any_kernel(unsigned long long *random) {
    static const int types[] = {CP_FP32, CP_FP32, CP_FP16, CP_BF16};
    struct cp_merging_class c = plain(random_below(random, 4));
    c.converts = random_below(random, 3);
    c.weights = one_of(random, types, 4);
    c.values = one_of(random, types, 4);
    c.partials = one_of(random, types, 4);
    c.out_type = one_of(random, types, 4);
    c.lse_type = random_below(random, 4) == 0 ? CP_FP64 : CP_FP32;
    c.truncates = random_below(random, 4) == 0;
    c.flushes = random_below(random, 4) == 0;
    c.exp_error = random_below(random, 2) ? 0x1p-20 : 0x1p-21;
    c.log_error = random_below(random, 2) ? 0x1p-19 : 0x1p-21;
    c.div_error = random_below(random, 2) ? 0x1p-20 : 0x1p-23;
    c.above = random_below(random, 3) == 0 ? 3.0 * random_below(random, 3) : 0.0;
    /* Weights of up to exp(40) leave binary16 (MERGING-8). */
    int is_short = c.values == CP_FP16 || c.partials == CP_FP16 || c.out_type == CP_FP16 ||
                   c.weights == CP_FP16;
    if (c.way <= CP_MERGING_STATES && !is_short && random_below(random, 3) == 0) {
        c.behind = random_below(random, 2) ? 6.0 : 40.0;
    }
    struct merging_kernel k = {c,
                               random_below(random, 2),
                               random_below(random, 2),
                               random_below(random, 2),
                               random_below(random, 2),
                               NULL};
    k.declared.tree = c.way == CP_MERGING_PAIRWISE && k.balanced && random_below(random, 2);
    /* A weight that is rounded is divided before (MERGING-5). */
    k.divides_weights |= c.weights != CP_FP32;
    return k;
}

/* ---- MERGING-6, MERGING-7: emulated kernels ---- */

static double narrowest(const struct merging_kernel *k) {
    int half = k->declared.values == CP_FP16 || k->declared.partials == CP_FP16 ||
               k->declared.out_type == CP_FP16;
    return half ? 1000.0 : k->declared.behind > 0.0 ? 0x1p40 : 0x1p120;
}

/* A row for the kernel: sums stay within its types (MERGING-8). */
static void make_for(struct problem *p, const struct merging_kernel *k, long t,
                     unsigned long long *random) {
    int type = t % 3 == 0 ? CP_FP16 : t % 3 == 1 ? CP_BF16 : CP_FP32;
    double most = narrowest(k), largest = 0.0;
    make(p, (enum family)(t % FAMILIES), type, random_below(random, 2), random);
    int n = p->row.n_parts * p->row.head_dim;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(p->o[i]));
    }
    for (int i = 0; i < n && largest > most; i++) {
        p->o[i] = merging_round(type, p->o[i] * (most / largest));
    }
}

struct tally {
    long judged, without_bound;
    double nearest[4]; /* of each way: the largest part of a bound that was used */
};

static void judge(const struct merging_kernel *k, const struct problem *p, const struct claim *c,
                  const struct result *r, struct tally *tally) {
    int d = p->row.head_dim, way = k->declared.way;
    tally->judged++;
    tally->without_bound += !isfinite(c->bound.lse);
    for (int i = 0; i < d; i++) {
        double used = fabs(r->out[i] - c->expected.out[i]) / c->bound.out[i];
        tally->nearest[way] = fmax(tally->nearest[way], used);
    }
    if (!is_within(c, r, d)) {
        print_error("way %d converts %d weights %d values %d partials %d out %d lse %d, %d %d\n",
                    way, k->declared.converts, k->declared.weights, k->declared.values,
                    k->declared.partials, k->declared.out_type, k->declared.lse_type,
                    k->declared.truncates, k->declared.flushes);
        print_error("above %g, first %d fuses %d, base %d, %d parts; lse %.17g, %.17g +- %g\n",
                    k->declared.above, k->divides_weights, k->fuses, p->row.base, p->row.n_parts,
                    r->lse, c->expected.lse, c->bound.lse);
        for (int i = 0; i < d; i++) {
            print_error("  %.17g, %.17g +- %g\n", r->out[i], c->expected.out[i], c->bound.out[i]);
        }
        for (int j = 0; j < p->row.n_parts; j++) {
            print_error("  l %a o %a\n", p->lse[j], p->o[(ptrdiff_t)j * d]);
        }
        fail();
    }
}

static void emulated_kernels_stay_within_their_bounds(void **unused) {
    unsigned long long random = seed();
    struct tally tally = {0};
    (void)unused;
    for (long t = 0; t < 10 * cases(); t++) {
        struct merging_kernel k = any_kernel(&random);
        struct problem p;
        make_for(&p, &k, t, &random);
        struct claim c = claimed(&k.declared, &p);
        if (c.expected.lse == -INFINITY) {
            continue;
        }
        struct result r = {{0.0}, 0.0};
        merging_emulate(&k, &p.row, &random, r.out, &r.lse);
        judge(&k, &p, &c, &r, &tally);
    }
    print_message("%ld rows, %ld without a bound, used %.2f %.2f %.2f %.2f\n", tally.judged,
                  tally.without_bound, tally.nearest[0], tally.nearest[1], tally.nearest[2],
                  tally.nearest[3]);
    assert_true(tally.judged > 5 * cases());
}

/* ---- MERGING-12 ---- */

/* The parts of a row, given by sums. */
struct given {
    struct cp_merging_sums parts;
    double m[P], n[P], o[P * D];
};

/* Parts whose log-sum-exps and outputs are nearly those of p, which becomes the row of them. */
static void give(struct given *g, struct problem *p, const struct merging_kernel *k, int type,
                 unsigned long long *random) {
    int n_parts = p->row.n_parts, d = p->row.head_dim, base = p->row.base;
    double power = random_below(random, 3) == 0 ? 40.0 : 17.0;
    int is_divided = random_below(random, 2);
    int below_1 = k->declared.weights != CP_FP16 && random_below(random, 2); /* it overflows */
    double most = type == CP_FP16 ? fmin(narrowest(k), 6e4) : narrowest(k);
    g->parts = (struct cp_merging_sums){n_parts, d, base, is_divided, g->m, g->n, g->o};
    for (int j = 0; j < n_parts; j++) {
        double exponent = power * random_uniform(random), largest = 1.0;
        double n = exp2(below_1 ? exponent : fabs(exponent));
        for (int i = 0; i < d; i++) {
            largest = fmax(largest, fabs(p->o[j * d + i]));
        }
        n = n * largest < most ? merging_round(CP_FP32, n) : 1.0;
        int is_empty = p->lse[j] == -INFINITY;
        double logarithm = base == CP_BASE_2 ? log2(n) : log(n);
        g->n[j] = is_empty ? 0.0 : n;
        g->m[j] = is_empty ? NAN : merging_round(CP_FP32, p->lse[j] - logarithm);
        for (int i = 0; i < d; i++) {
            double o = p->o[j * d + i];
            g->o[j * d + i] = is_empty ? NAN : is_divided ? o : merging_round(type, n * o);
        }
    }
    assert_int_equal(cp_merging_of_sums(&g->parts, p->o, p->lse, &p->row), CP_OK);
}

static void merging_12_emulated_kernels_stay_within_their_bounds(void **unused) {
    unsigned long long random = seed() + 12;
    struct tally tally = {0};
    (void)unused;
    for (long t = 0; t < 10 * cases(); t++) {
        struct merging_kernel k = any_kernel(&random);
        struct problem p;
        struct given g;
        k.declared.way = k.declared.way & 1;
        k.declared.tree = CP_MERGING_ANY_TREE;
        make_for(&p, &k, t, &random);
        int type = t % 3 == 0 ? CP_FP16 : t % 3 == 1 ? CP_BF16 : CP_FP32;
        give(&g, &p, &k, type, &random);
        k.given = &g.parts;
        if (narrowest(&k) < 0x1p30) { /* sums leave binary16 otherwise (MERGING-8) */
            k.declared.way = CP_MERGING_AT_ONCE;
            k.divides_weights = 1;
        }
        struct claim c = claimed(&k.declared, &p);
        if (c.expected.lse == -INFINITY) {
            continue;
        }
        struct result r = {{0.0}, 0.0};
        merging_emulate(&k, &p.row, &random, r.out, &r.lse);
        judge(&k, &p, &c, &r, &tally);
    }
    print_message("%ld rows, %ld without a bound, used %.2f %.2f\n", tally.judged,
                  tally.without_bound, tally.nearest[0], tally.nearest[1]);
    assert_true(tally.judged > 4 * cases());
}

/* Of a part (m, n) = (2, 4) and sums 12: l = 2 + ln 4, o = 3. */
static void merging_12_sums_become_a_row(void **unused) {
    const double m[] = {2.0, NAN, -1.0}, n[] = {4.0, 0.0, 1.0}, o[] = {12.0, NAN, 5.0};
    struct cp_merging_sums given = {3, 1, CP_BASE_E, 0, m, n, o};
    double to[3], lse[3], out, merged_lse;
    struct cp_merging_row row;
    (void)unused;
    assert_int_equal(cp_merging_of_sums(&given, to, lse, &row), CP_OK);
    assert_true(lse[0] == 2.0 + log(4.0) && lse[1] == -INFINITY && lse[2] == -1.0);
    assert_true(to[0] == 3.0 && to[1] == 0.0 && to[2] == 5.0);
    assert_true(row.n_parts == 3 && row.head_dim == 1 && row.base == CP_BASE_E);
    assert_true(row.lse == lse && row.o == to && row.least_sum == 1.0 && row.most_sum == 4.0);
    assert_int_equal(cp_merging(&row, &out, &merged_lse), CP_OK);
    double weight = 4.0 * exp(3.0);
    assert_true(fabs(out - (3.0 * weight + 5.0) / (weight + 1.0)) < 1e-14);
    given.is_divided = 1;
    given.base = CP_BASE_2;
    assert_int_equal(cp_merging_of_sums(&given, to, lse, &row), CP_OK);
    assert_true(lse[0] == 4.0 && lse[2] == -1.0 && to[0] == 12.0 && to[1] == 0.0);
    given.n_parts = 0;
    assert_int_equal(cp_merging_of_sums(&given, to, lse, &row), CP_OK);
    assert_true(row.least_sum == 0.0 && row.most_sum == 0.0);
}

static void merging_12_parts_out_of_range_are_refused(void **unused) {
    static const double bad_n[] = {-1.0, 0x1p-65, 0x1p65, INFINITY, NAN}, o[2] = {1.0, 2.0};
    double m[2] = {1.0, 1.0}, n[2] = {1.0, 2.0}, to[2], lse[2];
    struct cp_merging_row row;
    (void)unused;
    for (int i = 0; i < 11; i++) {
        struct cp_merging_sums given = {2, 1, CP_BASE_E, 1, m, n, o};
        n[1] = i < 5 ? bad_n[i] : 2.0;
        m[1] = i == 5 ? INFINITY : i == 6 ? NAN : 1.0;
        given.n_parts = i == 7 ? -1 : i == 8 ? CP_TOLERANCE_MOST + 1 : 2;
        given.head_dim = i == 9 ? -1 : 1;
        given.base = i == 10 ? 2 : CP_BASE_E;
        assert_int_equal(cp_merging_of_sums(&given, to, lse, &row), CP_ERROR_ARGUMENT);
        assert_int_equal(row.n_parts, 0);
    }
}

/* A row of sums has wider bounds, and no bound where merges are of log-sum-exps. */
static void merging_12_sums_widen_the_bound(void **unused) {
    struct problem p = {.o = {8.0, 4.0, 1.0}, .lse = {10.0, 11.0, 9.0}};
    (void)unused;
    use(&p, 3, 1, CP_BASE_E);
    for (int way = CP_MERGING_AT_ONCE; way <= CP_MERGING_UNDIVIDED; way++) {
        struct cp_merging_class declared = plain(way);
        double out[1], bound[1], lse, lse_bound, scratch[15], before = 0.0;
        static const double sums[][2] = {{0.0, 0.0}, {1.0, 1.0}, {1.0, 100.0}, {0.5, 100.0}};
        for (int i = 0; i < 4; i++) {
            p.row.least_sum = sums[i][0];
            p.row.most_sum = sums[i][1];
            int status =
                cp_merging_tolerance(&declared, &p.row, scratch, out, bound, &lse, &lse_bound);
            assert_int_equal(status, i > 0 && way > CP_MERGING_STATES ? CP_ERROR_ARGUMENT : CP_OK);
            if (status == CP_OK) {
                assert_true(bound[0] > before);
                before = bound[0];
            }
        }
        assert_true(before < 1e-4);
    }
    static const double bad[][2] = {{0.0, 1.0}, {1.0, 0.0},     {2.0, 1.0},
                                    {-1, 1.0},  {0x1p-65, 1.0}, {1.0, 0x1p65}};
    for (int i = 0; i < 6; i++) {
        double out[1], lse;
        p.row.least_sum = bad[i][0];
        p.row.most_sum = bad[i][1];
        assert_int_equal(cp_merging(&p.row, out, &lse), CP_ERROR_ARGUMENT);
    }
}

/* The bound of two parts of equal weight with sums n, in units of 2^-24; of the output, or of the
 * log-sum-exp. */
static double units(double first, double second, int converts, double n, int of_lse) {
    struct problem p = {.o = {first, second}, .lse = {0.0, 0.0}};
    struct cp_merging_class declared = plain(CP_MERGING_AT_ONCE);
    declared.converts = converts;
    use(&p, 2, 1, CP_BASE_E);
    p.row.least_sum = p.row.most_sum = n;
    struct claim c = claimed(&declared, &p);
    return 0x1p24 * (of_lse ? c.bound.lse : c.bound.out[0]);
}

/* By the table of the clause. An addition more in n and in o, 1 u each: 2 |o|. The product with
 * n_i: 1.02 u, which counts where values differ. A maximum that is t = ln N longer: 1.02 t times
 * 4.04 u where each is converted; and in the log-sum-exp (log_error + 3 u) t and 1.02 u t. */
static void merging_12_each_term_of_the_bound(void **unused) {
    double t = log(0x1p20), far = 0x1p20;
    int each = CP_CONVERTS_EACH, none = CP_CONVERTS_NONE;
    (void)unused;
    double added = units(1.0, 1.0, none, 1.0, 0) - units(1.0, 1.0, none, 0.0, 0);
    assert_true(added > 1.99 && added < 2.01);
    added = units(1.0, -1.0, none, 1.0, 0) - units(1.0, -1.0, none, 0.0, 0);
    assert_true(added > 2.01 && added < 2.03);
    added = units(1.0, -1.0, each, far, 0) - units(1.0, -1.0, each, 1.0, 0);
    assert_true(added > 1.01 * 4.04 * t && added < 1.03 * 4.04 * t);
    assert_true(fabs(units(1.0, -1.0, none, far, 0) - units(1.0, -1.0, none, 1.0, 0)) < 1e-3);
    added = units(1.0, 1.0, none, far, 1) - units(1.0, 1.0, none, 1.0, 1);
    assert_true(added > 8.01 * t && added < 8.04 * t);
}

/* A pair is merged at once, whatever the way; other parts are not. */
static void two_parts_have_one_bound(void **unused) {
    struct problem p = {.o = {8.0, 4.0, 1.0}, .lse = {0.0, 1.0, 2.0}};
    struct cp_merging_class at_once = plain(CP_MERGING_AT_ONCE);
    (void)unused;
    for (int way = CP_MERGING_STATES; way <= CP_MERGING_PAIRWISE; way++) {
        struct cp_merging_class declared = plain(way);
        use(&p, 2, 1, CP_BASE_E);
        assert_true(claimed(&declared, &p).bound.out[0] == claimed(&at_once, &p).bound.out[0]);
        use(&p, 3, 1, CP_BASE_E);
        assert_true(claimed(&declared, &p).bound.out[0] > claimed(&at_once, &p).bound.out[0]);
    }
}

/* The first part is all there is, and each merge takes one unit of bfloat16 from its output: P - 1
 * merges take more than the log2 P of a balanced tree may. */
static void a_balanced_tree_has_its_own_bound(void **unused) {
    struct merging_kernel k = {plain(CP_MERGING_PAIRWISE), 0, 0, 0, 0, NULL};
    unsigned long long random = seed();
    struct problem p = {.row = {0}};
    (void)unused;
    k.declared.partials = k.declared.out_type = CP_BF16;
    k.declared.truncates = 1;
    for (int j = 0; j < P; j++) {
        p.o[j] = j == 0 ? 1.1953125 : 0.0;
        p.lse[j] = j == 0 ? 0.0 : -9.0;
    }
    for (int n = 3; n <= P; n++) {
        struct result chain = {{0.0}, 0.0}, tree = chain;
        use(&p, n, 1, CP_BASE_E);
        k.declared.tree = k.balanced = 0;
        merging_emulate(&k, &p.row, &random, chain.out, &chain.lse);
        struct claim of_any = claimed(&k.declared, &p);
        k.declared.tree = k.balanced = 1;
        merging_emulate(&k, &p.row, &random, tree.out, &tree.lse);
        struct claim of_tree = claimed(&k.declared, &p);
        assert_true(is_within(&of_any, &chain, 1) && is_within(&of_tree, &tree, 1));
        assert_true(n == 3 ? of_tree.bound.out[0] == of_any.bound.out[0]
                           : of_tree.bound.out[0] < of_any.bound.out[0]);
        assert_true(n < P || !is_within(&of_tree, &chain, 1));
    }
}

/* MERGING-7: what an output loses between two merges moves no log-sum-exp. */
static void outputs_do_not_move_the_lse(void **unused) {
    struct problem p = {.o = {8.0, 4.0, 1.0}, .lse = {10.0, 11.0, 9.0}};
    struct cp_merging_class declared = plain(CP_MERGING_PAIRWISE);
    (void)unused;
    use(&p, 3, 1, CP_BASE_E);
    struct claim exact = claimed(&declared, &p);
    declared.partials = CP_BF16;
    struct claim rounded = claimed(&declared, &p);
    assert_true(rounded.bound.lse == exact.bound.lse);
    assert_true(rounded.bound.out[0] > 100.0 * exact.bound.out[0]);
    declared.way = CP_MERGING_STATES;
    rounded = claimed(&declared, &p);
    assert_true(rounded.bound.lse > 100.0 * exact.bound.lse);
}

/* MERGING-6: the bound of the example, by hand in units of 2^-24. */
static void the_bound_of_the_example(void **unused) {
    struct problem p = {.o = {8.0, 4.0}, .lse = {0.0, 1.0986122886681098}};
    struct cp_merging_class declared = plain(CP_MERGING_PAIRWISE);
    (void)unused;
    use(&p, 2, 1, CP_BASE_E);
    double bound = claimed(&declared, &p).bound.out[0] * 0x1p24;
    assert_true(bound > 31.7 && bound < 31.9);
    declared.out_type = CP_BF16;
    bound = claimed(&declared, &p).bound.out[0];
    assert_true(bound > 5.0 * 0x1p-8 && bound < 5.001 * 0x1p-8);
}

/* Each field widens the bound of the output, or that of the log-sum-exp. */
static void every_error_counts(void **unused) {
    struct problem p = {.o = {8.0, 4.0, 1.0}, .lse = {10.0, 11.0, 9.0}};
    (void)unused;
    use(&p, 3, 1, CP_BASE_E);
    for (int way = CP_MERGING_AT_ONCE; way <= CP_MERGING_UNDIVIDED; way++) {
        struct cp_merging_class least = plain(way);
        struct claim narrow = claimed(&least, &p);
        for (int field = 0; field < 10 + (way <= CP_MERGING_STATES); field++) {
            struct cp_merging_class c = least;
            int *const types[] = {&c.weights, &c.values, &c.out_type, &c.lse_type};
            int *const flags[] = {&c.truncates, &c.converts};
            double *const errors[] = {&c.exp_error, &c.log_error, &c.div_error, &c.above,
                                      &c.behind};
            if (field < 4) {
                *types[field] = CP_BF16;
            } else if (field < 6) {
                *flags[field - 4] = 1;
            } else {
                *errors[field - 6] = 0x1p-10;
            }
            struct claim wide = claimed(&c, &p);
            int is_wider = wide.bound.out[0] > narrow.bound.out[0];
            if (field == 3 || field == 7) {
                assert_true(is_wider || wide.bound.lse > narrow.bound.lse);
            } else if (field != 8 || way != CP_MERGING_UNDIVIDED) {
                assert_true(is_wider);
            }
        }
    }
}

/* ---- Wrong merges ---- */

enum mistake {
    OTHER_BASE,    /* bits are taken for nats */
    SWAPPED,       /* each part has the weight of another one */
    EMPTY_COUNTS,  /* the output of a part without keys counts as the largest does */
    COUNTED_TWICE, /* a part is there twice */
    EVEN_MEAN,     /* weights do not matter */
    MISTAKES
};

/* The row whose right merge is what the mistake makes of p. */
static void mistake_in(enum mistake mistake, const struct problem *p, struct problem *wrong) {
    int n = p->row.n_parts, d = p->row.head_dim;
    double largest = -INFINITY;
    *wrong = *p;
    use(wrong, n, d, mistake == OTHER_BASE ? CP_BASE_E : p->row.base);
    for (int j = 0; j < n; j++) {
        largest = fmax(largest, p->lse[j]);
    }
    for (int j = 0; j < n; j++) {
        if (mistake == EVEN_MEAN || (mistake == EMPTY_COUNTS && p->lse[j] == -INFINITY)) {
            wrong->lse[j] = largest;
        } else if (mistake == SWAPPED) {
            wrong->lse[j] = p->lse[n - 1 - j];
        }
    }
    if (mistake == COUNTED_TWICE && n < P) { /* rows of P parts do not count */
        wrong->lse[n] = p->lse[0];
        memcpy(wrong->o + (ptrdiff_t)n * d, p->o, (size_t)d * sizeof(double));
        wrong->row.n_parts = n + 1;
    }
}

static void wrong_merges_are_beyond_the_bound(void **unused) {
    unsigned long long random = seed();
    (void)unused;
    for (int mistake = 0; mistake < MISTAKES; mistake++) {
        int beyond = 0, rows = 0;
        while (rows < 300) {
            struct cp_merging_class declared = plain(random_below(&random, 4));
            struct problem p, wrong;
            struct result right = {{0.0}, 0.0}, r = right;
            make(&p, mistake == EMPTY_COUNTS ? EMPTY_SOME : USUAL, CP_BF16, CP_BASE_2, &random);
            declared.out_type = CP_BF16;
            mistake_in((enum mistake)mistake, &p, &wrong);
            int is_empty = 0;
            for (int j = 0; j < p.row.n_parts; j++) {
                is_empty += p.lse[j] == -INFINITY;
            }
            if (p.row.n_parts < 2 || p.row.n_parts == P || is_empty == p.row.n_parts ||
                (mistake == EMPTY_COUNTS && is_empty == 0)) {
                continue;
            }
            struct claim c = claimed(&declared, &p);
            merging_oracle(&p.row, right.out, &right.lse);
            merging_oracle(&wrong.row, r.out, &r.lse);
            for (int i = 0; i < D; i++) {
                right.out[i] = merging_round(CP_BF16, right.out[i]);
            }
            assert_true(is_within(&c, &right, p.row.head_dim));
            r.lse = right.lse; /* outputs alone must show it */
            beyond += !is_within(&c, &r, p.row.head_dim);
            rows++;
        }
        print_message("mistake %d: %d of %d rows\n", mistake, beyond, rows);
        assert_true(beyond >= rows / 2);
    }
}

static void classes_out_of_range_are_refused(void **unused) {
    struct problem p = {.o = {1.0, 2.0}, .lse = {0.5, 0.0}};
    double out[1], bound[1], lse, lse_bound, scratch[10];
    (void)unused;
    use(&p, 2, 1, CP_BASE_E);
    for (int field = 0; field < 15; field++) {
        for (int side = 0; side < 2; side++) {
            struct cp_merging_class c = plain(CP_MERGING_AT_ONCE);
            int *const integers[] = {&c.way,      &c.converts, &c.weights,  &c.values,
                                     &c.partials, &c.out_type, &c.lse_type, &c.truncates,
                                     &c.flushes,  &c.tree};
            double *const numbers[] = {&c.exp_error, &c.log_error, &c.div_error, &c.above,
                                       &c.behind};
            if (field < 10) {
                *integers[field] = side ? -1 : field == 9 ? CP_MERGING_BALANCED : 4;
            } else {
                *numbers[field - 10] = side ? NAN : field >= 13 ? 64.5 : 0x1.1p-6;
            }
            assert_int_equal(
                cp_merging_tolerance(&c, &p.row, scratch, out, bound, &lse, &lse_bound),
                CP_ERROR_ARGUMENT);
        }
    }
    for (int way = CP_MERGING_AT_ONCE; way <= CP_MERGING_UNDIVIDED; way++) {
        struct cp_merging_class c = plain(way);
        c.behind = 1.0;
        assert_int_equal(cp_merging_tolerance(&c, &p.row, scratch, out, bound, &lse, &lse_bound),
                         way <= CP_MERGING_STATES ? CP_OK : CP_ERROR_ARGUMENT);
    }
}

/* NUM-8: references near the maximum of states have no slack, whatever the number of parts. */
static void states_near_their_maximum_have_a_bound(void **unused) {
    enum { MANY = 600 };
    static double o[MANY], l[MANY], scratch[5 * MANY];
    struct cp_merging_row row = {
        .n_parts = MANY, .head_dim = 1, .base = CP_BASE_E, .o = o, .lse = l};
    struct cp_merging_class declared = plain(CP_MERGING_STATES);
    double out, bound[3], lse, lse_bound[3];
    (void)unused;
    for (int j = 0; j < MANY; j++) {
        o[j] = j % 2 == 0 ? 1.0 : -1.0;
        l[j] = j % 7;
    }
    for (int i = 0; i < 3; i++) {
        declared.above = i == 1 ? 5.6 : 0.0;
        declared.behind = i == 2 ? 5.6 : 0.0;
        assert_int_equal(
            cp_merging_tolerance(&declared, &row, scratch, &out, &bound[i], &lse, &lse_bound[i]),
            CP_OK);
    }
    /* An argument may be 5.6 nats longer, in 599 changes: eps grows from 4 u by 5.6 u. */
    for (int i = 1; i < 3; i++) {
        assert_true(bound[i] > bound[0] && bound[i] < 2.5 * bound[0]);
        assert_true(lse_bound[i] > lse_bound[0] && lse_bound[i] < 2.5 * lse_bound[0]);
    }
}

/* The bound of three parts of equal weight with these outputs. */
static struct claim of_three(const struct cp_merging_class *declared, const double o[3]) {
    struct problem p = {.o = {o[0], o[1], o[2]}, .lse = {0.0, 0.0, 0.0}};
    use(&p, 3, 1, CP_BASE_E);
    return claimed(declared, &p);
}

static int is_about(double x, double expected) {
    return fabs(x - expected) < 0.01 * expected;
}

/* By the table of MERGING-6: with b = 75, numbers below the normal ones, t, count exp(b) times. In
 * n that is 13 eta_n / 3 and, in weights and two changes, 3 kappa, each 2 t; in o, of 0 alone, 16
 * eta_o / 3, where eta_o is 12 t and exp(behind) times as much. */
static void each_term_of_references_near_the_maximum(void **unused) {
    static const double zeros[3], ones[3] = {1.0, 1.0, 1.0}, apart[3] = {1.0, 1.0, -2.0};
    struct cp_merging_class states = plain(CP_MERGING_STATES), once = plain(CP_MERGING_AT_ONCE);
    double before, t = 0x1p-126 * exp(75.0);
    (void)unused;
    states.flushes = once.flushes = 1;
    before = of_three(&states, zeros).bound.lse;
    states.above = 64.0;
    states.behind = 11.0;
    /* The argument: 3 (u_arg + u_ref + 2 u_move) b, by weights and two changes; and the sizes of
     * the logarithm and of the reference, which are b more. */
    double u = 0x1p-24, moved = 3.0 * 75.0 * u;
    double written = 75.0 * (states.log_error + 3.0 * u) + 1.02 * 75.0 * u;
    double added = of_three(&states, zeros).bound.lse - before - moved - written;
    assert_true(is_about(added, (13.0 / 3.0 + 3.0) * 2.0 * t));
    assert_true(is_about(of_three(&states, zeros).bound.out[0], 64.0 * t * exp(11.0)));
    /* At once: the slack, twice in an argument; eta_o and eta_P. */
    before = of_three(&once, apart).bound.out[0];
    once.behind = 20.0;
    added = of_three(&once, apart).bound.out[0] - before;
    assert_true(is_about(added, 2.0 * 20.0 * u * 4.0 / 3.0));
    assert_true(is_about(of_three(&once, zeros).bound.out[0], 24.0 * 0x1p-126 * exp(20.0)));
    once.flushes = 0;
    once.weights = CP_FP16;
    once.behind = 0.0;
    before = of_three(&once, ones).bound.out[0];
    once.behind = 10.0;
    assert_true(of_three(&once, ones).bound.out[0] > 5.0 * before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emulated_kernels_stay_within_their_bounds),
        cmocka_unit_test(merging_12_emulated_kernels_stay_within_their_bounds),
        cmocka_unit_test(merging_12_sums_become_a_row),
        cmocka_unit_test(merging_12_parts_out_of_range_are_refused),
        cmocka_unit_test(merging_12_sums_widen_the_bound),
        cmocka_unit_test(merging_12_each_term_of_the_bound),
        cmocka_unit_test(two_parts_have_one_bound),
        cmocka_unit_test(a_balanced_tree_has_its_own_bound),
        cmocka_unit_test(outputs_do_not_move_the_lse),
        cmocka_unit_test(the_bound_of_the_example),
        cmocka_unit_test(every_error_counts),
        cmocka_unit_test(wrong_merges_are_beyond_the_bound),
        cmocka_unit_test(classes_out_of_range_are_refused),
        cmocka_unit_test(states_near_their_maximum_have_a_bound),
        cmocka_unit_test(each_term_of_references_near_the_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that are missing in one of the two sums, or in both; weights that became 0; keys that are none, and weigh. Which
 * keys these are is looked for quickly, in a few elements, before it is tried. */
#include <math.h>
#include <string.h>

#include "gate/explain/explain.h"

#define MOST_PERIOD 256 /* keys after which what happens to them happens again */
#define MOST_PADDED 256

enum sum { OF_N = 1, OF_O = 2, OF_BOTH = 3 };

/* ---- A row ---- */

/* What the quick look knows: of each key its weight against the largest, the largest before it, and in the elements
 * that are tested its values. */
struct quick {
    struct explain_test test;
    double largest, all[EXPLAIN_TESTED + 1];
};

static void add_quickly(const struct explain *x, const struct quick *q, int j, double *sum) {
    double weight = exp(x->scratch[j] - q->largest);
    for (int t = 0; t < q->test.n; t++) {
        sum[t] += weight * x->v[(ptrdiff_t)j * x->d + q->test.element[t]];
    }
    sum[q->test.n] += weight;
}

static void look(struct explain *x, struct quick *q) {
    explain_test_new(x, &q->test);
    explain_take_all(x);
    explain_score_all(x);
    q->largest = -INFINITY;
    memset(q->all, 0, sizeof q->all);
    for (int j = 0; j < x->m; j++) {
        q->largest = fmax(q->largest, x->scratch[j]);
    }
    for (int j = 0; j < x->m; j++) {
        add_quickly(x, q, j, q->all);
    }
}

/* 1: with `times` times this part of a sum it might give the elements. */
static int might(const struct quick *q, const double *part, enum sum which, int times) {
    double sum[EXPLAIN_TESTED + 1];
    for (int t = 0; t <= q->test.n; t++) {
        int counted = (t == q->test.n ? OF_N : OF_O) & (int)which;
        sum[t] = q->all[t] + (counted != 0 ? (times - 1) * part[t] : 0.0);
    }
    return explain_might_give(&q->test, sum);
}

/* ---- Keys that one sum misses, or has twice ---- */

enum which_keys { EACH_PERIOD, LAST_KEY, FIRST_KEYS, LAST_TILE, BEHIND_TILES };

/* a: which keys; a number, and in those with a period begin and end * 1024; how often, and * 4 in which sum. */
static int is_one(const struct explain *x, const int *a, int j) {
    int begin = a[2] % 1024, end = a[2] / 1024;
    switch ((enum which_keys)a[0]) {
    case EACH_PERIOD:
        return begin <= j % a[1] && j % a[1] < end;
    case LAST_KEY:
        return j == x->n - 1;
    case FIRST_KEYS:
        return j < a[1];
    case LAST_TILE:
        return j >= (x->n - 1) / a[1] * a[1];
    default:
        return j >= x->n / a[1] * a[1];
    }
}

static int miscount(struct explain *x, const int *a) {
    struct explain_state s;
    int changed = 0, times = a[3] % 4, which = a[3] / 4;
    explain_take_all(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_score_all(x);
    explain_begin(x, &s, 0);
    explain_find_largest(x, &s);
    for (int j = 0; j < x->m; j++) {
        int one = is_one(x, a, j);
        explain_add_key(x, &s, j, one && (which & OF_N) != 0 ? times : 1.0,
                        one && (which & OF_O) != 0 ? times : 1.0);
        changed |= one;
    }
    return changed && explain_finish(x, &s, s.n);
}

static void name_keys(const int *a, char *text, size_t size) {
    int begin = a[2] % 1024, end = a[2] / 1024;
    switch ((enum which_keys)a[0]) {
    case EACH_PERIOD:
        if (end - begin == 1) {
            (void)snprintf(text, size, "key %d of each %d", begin, a[1]);
        } else {
            (void)snprintf(text, size, "keys %d to %d of each %d", begin, end - 1, a[1]);
        }
        return;
    case LAST_KEY:
        (void)snprintf(text, size, "the last key");
        return;
    case FIRST_KEYS:
        (void)snprintf(text, size, a[1] == 1 ? "the first key" : "the first %d keys", a[1]);
        return;
    case LAST_TILE:
        (void)snprintf(text, size, "the last tile, of up to %d keys", a[1]);
        return;
    default:
        (void)snprintf(text, size, "the keys behind the last multiple of %d", a[1]);
    }
}

static void try_miscount(struct explain *x, const struct quick *q, const int *keys,
                         const double *part, int rank) {
    static const char *const sums[] = {"", "the sum of weights", "the sum of weighted values"};
    char words[80];
    name_keys(keys, words, sizeof words);
    for (int which = OF_N; which <= OF_O; which++) {
        for (int times = 0; times <= 2; times += 2) {
            const int a[EXPLAIN_NUMBERS] = {keys[0], keys[1], keys[2], times + 4 * which};
            if (might(q, part, (enum sum)which, times)) {
                explain_try(x, miscount, a, rank, "as if %s %s %s%s (MERGE-4)", sums[which],
                            times == 0 ? "lacks" : "has", words, times == 0 ? "" : " twice");
            }
        }
    }
}

/* Sums of the keys j of each j % period. */
static void sum_by_place(const struct explain *x, const struct quick *q, int period,
                         double sum[MOST_PERIOD][EXPLAIN_TESTED + 1]) {
    memset(sum, 0, (size_t)period * sizeof sum[0]);
    for (int j = 0; j < x->m; j++) {
        add_quickly(x, q, j, sum[j % period]);
    }
}

/* A warp, a lane, a half of what a block of threads has. */
static void try_periods(struct explain *x, const struct quick *q) {
    double by_place[MOST_PERIOD][EXPLAIN_TESTED + 1];
    for (int period = 2; period <= MOST_PERIOD; period *= 2) {
        sum_by_place(x, q, period, by_place);
        for (int width = 1; width < period; width *= 2) {
            for (int begin = 0; begin < period && begin < x->n; begin += width) {
                double part[EXPLAIN_TESTED + 1] = {0.0};
                for (int j = begin; j < begin + width; j++) {
                    for (int t = 0; t <= q->test.n; t++) {
                        part[t] += by_place[j][t];
                    }
                }
                const int keys[] = {EACH_PERIOD, period, begin + (begin + width) * 1024};
                try_miscount(x, q, keys, part, 24 + (width > 1));
            }
        }
        x->work -= (long long)x->n * EXPLAIN_TESTED;
    }
}

static void try_ends(struct explain *x, const struct quick *q) {
    for (int which = LAST_KEY; which <= BEHIND_TILES; which++) {
        for (int tile = 1; tile <= MOST_PERIOD && (tile == 1 || which != LAST_KEY); tile *= 2) {
            double part[EXPLAIN_TESTED + 1] = {0.0};
            const int keys[] = {which, tile, 0};
            for (int j = 0; j < x->m; j++) {
                if (is_one(x, keys, j)) {
                    add_quickly(x, q, j, part);
                }
            }
            try_miscount(x, q, keys, part, 22 + (which != LAST_KEY));
        }
        x->work -= (long long)8 * x->n;
    }
}

/* ---- Weights that are 0 ---- */

/* a: the logarithm of the smallest weight that counts, in thousandths; in which sum; 1: against the largest score up to
 * there, not of all. */
static int drop_light(struct explain *x, const int *a) {
    struct explain_state s;
    double least = a[0] / 1000.0, so_far = -INFINITY;
    int dropped = 0;
    explain_take_all(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_score_all(x);
    explain_begin(x, &s, 0);
    explain_find_largest(x, &s);
    for (int j = 0; j < x->m; j++) {
        so_far = fmax(so_far, x->scratch[j]);
        int light = x->scratch[j] - (a[2] ? so_far : s.m) < least;
        explain_add_key(x, &s, j, light && (a[1] & OF_N) != 0 ? 0.0 : 1.0,
                        light && (a[1] & OF_O) != 0 ? 0.0 : 1.0);
        dropped |= light;
    }
    return dropped && explain_finish(x, &s, s.n);
}

static int might_drop(const struct explain *x, const struct quick *q, const int *a) {
    double part[EXPLAIN_TESTED + 1] = {0.0}, so_far = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        so_far = fmax(so_far, x->scratch[j]);
        if (x->scratch[j] - (a[2] ? so_far : q->largest) < a[0] / 1000.0) {
            add_quickly(x, q, j, part);
        }
    }
    return might(q, part, (enum sum)a[1], 0);
}

static void try_threshold(struct explain *x, const struct quick *q, double least, int rank,
                          const char *words) {
    static const char *const sums[] = {"", " in the sum of weights alone",
                                       " in the sum of weighted values alone", ""};
    for (int which = OF_BOTH; which >= OF_N; which--) {
        for (int so_far = 0; so_far < 2; so_far++) {
            const int a[EXPLAIN_NUMBERS] = {(int)lround(1000.0 * least), which, so_far};
            if (might_drop(x, q, a)) {
                explain_try(x, drop_light, a, rank + (which != OF_BOTH) + so_far,
                            "as if weights below %s of the heaviest key's%s had been dropped%s "
                            "(SOFTMAX-1)",
                            words, so_far ? " so far" : "", sums[which]);
            }
        }
    }
    x->work -= (long long)6 * x->n;
}

static void try_thresholds(struct explain *x, const struct quick *q) {
    char words[40];
    for (int power = 1; power <= 8; power++) {
        (void)snprintf(words, sizeof words, "1e-%d", power);
        try_threshold(x, q, -power * log(10.0), 30, words);
    }
    for (int power = 1; power <= 24; power++) {
        (void)snprintf(words, sizeof words, "2^-%d", power);
        try_threshold(x, q, -power * log(2.0), 31, words);
    }
    for (int quarters = 2; quarters <= 64; quarters++) {
        (void)snprintf(words, sizeof words, quarters % 4 == 0 ? "e^-%.0f" : "e^-%.2f",
                       quarters / 4.0);
        try_threshold(x, q, -quarters / 4.0, quarters % 4 == 0 ? 32 : 34, words);
    }
}

/* ---- Weights by another function ---- */

enum function { SQUARE, FIRST_ORDER, SECOND_ORDER, POWER_OF_2 };

/* Of x, the score of a key against the maximum: at most 0. */
static double other_weight(int function, double x) {
    switch ((enum function)function) {
    case SQUARE:
        return exp(2.0 * x);
    case FIRST_ORDER:
        return fmax(1.0 + x, 0.0);
    case SECOND_ORDER:
        return 1.0 + x + 0.5 * x * x;
    default:
        return exp2(x);
    }
}

/* a: function; in which sum; 1: the maximum is that of the keys so far, and sums are rescaled as they should be. */
static int reweigh(struct explain *x, const int *a) {
    struct explain_state s;
    double so_far = -INFINITY;
    explain_take_all(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_score_all(x);
    explain_begin(x, &s, 0);
    explain_find_largest(x, &s);
    for (int j = 0; j < x->m; j++) {
        so_far = a[2] ? fmax(so_far, x->scratch[j]) : s.m;
        double right = exp(x->scratch[j] - so_far);
        double times = right > 0.0 ? other_weight(a[0], x->scratch[j] - so_far) / right : 0.0;
        explain_add_key(x, &s, j, (a[1] & OF_N) != 0 ? times : 1.0,
                        (a[1] & OF_O) != 0 ? times : 1.0);
    }
    return explain_finish(x, &s, s.n);
}

static void try_functions(struct explain *x) {
    static const char *const functions[] = {"the square of exp(x)", "1 + x (0 below x = -1)",
                                            "1 + x + x^2 / 2", "2^x"};
    static const char *const sums[] = {"", ", in the sum of weights alone",
                                       ", in the sum of weighted values alone", ""};
    for (int function = SQUARE; function <= POWER_OF_2; function++) {
        for (int which = OF_BOTH; which >= OF_N; which--) {
            for (int so_far = 0; so_far < 2; so_far++) {
                const int a[EXPLAIN_NUMBERS] = {function, which, so_far};
                explain_try(x, reweigh, a, 16 + (which != OF_BOTH) + so_far,
                            "as if a weight were %s, not exp(x), for x = score - %s%s (SOFTMAX-1)",
                            functions[function], so_far ? "maximum so far" : "maximum",
                            sums[which]);
            }
        }
    }
}

/* ---- Keys that are none ---- */

/* a: up to a multiple of so many keys, 0 of a chunk's, or -1: one more. Their score is 0, and so are their values. */
static int count_padding(struct explain *x, const int *a) {
    struct explain_state s;
    int multiple = a[0] == 0 ? x->c : a[0];
    int more = a[0] < 0 ? -a[0] : (x->n + multiple - 1) / multiple * multiple - x->n;
    explain_take_all(x);
    if (x->outside || x->m == 0 || more == 0) {
        return 0;
    }
    explain_score_all(x);
    explain_begin(x, &s, 0);
    explain_find_largest(x, &s);
    s.m = fmax(s.m, 0.0);
    for (int j = 0; j < x->m; j++) {
        explain_add_key(x, &s, j, 1.0, 1.0);
    }
    s.n += more * exp(-s.m);
    return explain_finish(x, &s, s.n);
}

static void try_padding(struct explain *x) {
    static const int of_chunk[EXPLAIN_NUMBERS] = {0}, one[EXPLAIN_NUMBERS] = {-1};
    explain_try(x, count_padding, one, 26,
                "as if there were a key more with score 0 and values 0: 1 had been added to the "
                "sum, or it begins with 1 (SOFTMAX-1)");
    explain_try(x, count_padding, of_chunk, 26,
                "as if slots without a key, up to the end of the last chunk, had score 0 and "
                "values 0, and a weight: they are not masked (SOFTMAX-2)");
    for (int multiple = 2; multiple <= MOST_PADDED; multiple *= 2) {
        const int a[EXPLAIN_NUMBERS] = {multiple};
        explain_try(x, count_padding, a, 27,
                    "as if slots without a key, up to a multiple of %d, had score 0 and values 0, "
                    "and a weight: they are not masked (SOFTMAX-2)",
                    multiple);
    }
}

/* ---- One factor ---- */

#define TELLING 3 /* elements of a row that one factor must give: one of them says what it is */

/* The kernel's row is attention's, times a factor: the one of the element that says most. */
static int scale_row(struct explain *x, const int *a) {
    size_t at = (size_t)x->pair * (size_t)x->at->width;
    const double *expected = x->at->expected + at, *bound = x->at->bound + at,
                 *got = x->at->got + at;
    int best = -1, telling = 0;
    (void)a;
    for (int i = 0; i < x->d; i++) {
        double says = bound[i] > 0.0 ? fabs(expected[i]) / bound[i] : 0.0;
        telling += says > 1.0;
        if (says > 1.0 && (best < 0 || says * bound[best] > fabs(expected[best]))) {
            best = i;
        }
    }
    if (telling < TELLING || !isfinite(got[best] / expected[best])) {
        return 0;
    }
    double factor = got[best] / expected[best];
    for (int i = 0; i < x->d; i++) {
        x->numbers.expected[i] = factor * expected[i];
        x->numbers.bound[i] = bound[i] * fmax(1.0, 2.0 * fabs(factor));
    }
    x->numbers.expected[x->d] = 0.0;
    x->numbers.bound[x->d] = INFINITY;
    return 1;
}

void explain_try_weights(struct explain *x) {
    static const int none[EXPLAIN_NUMBERS] = {0};
    struct quick q;
    if (x->n == 0) {
        return;
    }
    look(x, &q);
    if (!x->outside) {
        try_periods(x, &q);
        try_ends(x, &q);
        try_thresholds(x, &q);
    }
    try_functions(x);
    try_padding(x);
    explain_try(x, scale_row, none, EXPLAIN_ONE_FACTOR,
                "as if each row and head had a factor of its own: the sum of weighted values is "
                "right, and what it is divided by is not: the sum of weights misses keys, or has "
                "some twice, or is another row's (MERGE-6)");
}

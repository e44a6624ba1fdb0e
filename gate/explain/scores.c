/* SPDX-License-Identifier: Apache-2.0 */
/* Other scores: elements of Q and K that are left out of them, or counted twice, a scale of another d, scores that go on
 * from one key to the next, or are bent. What may be is looked for quickly, in a few elements, before it is tried. */
#include <math.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/explain/explain.h"

#define MOST_AT_END 16 /* elements at either end */
#define MOST_STEP   128
#define LOG_E       1.4426950408889634

/* ---- Elements ---- */

enum elements { FROM_TO, EVERY, LAST_OF_ALL, BEHIND };

/* a: which; two numbers of it; how often they are counted. */
static int is_one(const struct explain *x, const int *a, int i) {
    switch ((enum elements)a[0]) {
    case FROM_TO:
        return a[1] <= i && i < a[2];
    case EVERY:
        return i % a[1] == a[2];
    case BEHIND:
        return i >= x->d / a[1] * a[1] && x->d >= a[1];
    default:
        return i >= x->d - a[1];
    }
}

static int count_elements(struct explain *x, const int *a) {
    int counted = 0;
    explain_take_all(x);
    for (int i = 0; i < x->d; i++) {
        if (is_one(x, a, i)) {
            x->q[i] *= a[3];
            counted++;
        }
    }
    return counted > 0 && counted < x->d && explain_attend(x, 1.0);
}

/* The scores of the pair, in x->scratch, and room for others behind them. */
static double *others(const struct explain *x) {
    return x->scratch + x->room;
}

/* What is looked for, and whether the scores are in their place. */
struct look {
    struct explain_test test;
    int has_scores;
};

static int might(const struct explain *x, const struct explain_test *test, const double *score) {
    double sum[EXPLAIN_TESTED + 1] = {0.0}, largest = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        largest = fmax(largest, score[j]);
    }
    for (int j = 0; j < x->m; j++) {
        double weight = exp(score[j] - largest);
        for (int t = 0; t < test->n; t++) {
            sum[t] += weight * x->v[(ptrdiff_t)j * x->d + test->element[t]];
        }
        sum[test->n] += weight;
    }
    return explain_might_give(test, sum);
}

static int might_count(struct explain *x, const struct explain_test *test, const int *a) {
    double *score = others(x), scale = x->at->problem.scale;
    memcpy(score, x->scratch, (size_t)x->m * sizeof(double));
    for (int i = 0; i < x->d; i++) {
        if (is_one(x, a, i)) {
            for (int j = 0; j < x->m; j++) {
                score[j] += (a[3] - 1) * scale * x->q[i] * x->k[(ptrdiff_t)j * x->d + i];
            }
        }
    }
    x->work -= (long long)(EXPLAIN_TESTED + 1) * x->m;
    return might(x, test, score);
}

static void name_elements(const int *a, char *text, size_t size) {
    if (a[0] == FROM_TO && a[2] - a[1] == 1) {
        (void)snprintf(text, size, "element %d", a[1]);
    } else if (a[0] == FROM_TO) {
        (void)snprintf(text, size, "elements %d to %d", a[1], a[2] - 1);
    } else if (a[0] == EVERY) {
        (void)snprintf(text, size, "elements %d, %d, ...", a[2], a[1] + a[2]);
    } else if (a[0] == BEHIND) {
        (void)snprintf(text, size, "the elements behind the last multiple of %d", a[1]);
    } else if (a[1] == 1) {
        (void)snprintf(text, size, "the last element");
    } else {
        (void)snprintf(text, size, "the last %d elements", a[1]);
    }
}

static void try_count(struct explain *x, struct look *look, enum elements which, int one, int two,
                      int rank) {
    char words[60];
    for (int times = 0; times <= 2; times += 2) {
        const int a[EXPLAIN_NUMBERS] = {(int)which, one, two, times};
        if (!look->has_scores) {
            explain_take_all(x);
            explain_score_all(x);
            look->has_scores = 1;
        }
        if (!x->outside && might_count(x, &look->test, a)) {
            look->has_scores = 0;
            name_elements(a, words, sizeof words);
            explain_try(x, count_elements, a, rank + (times == 2),
                        "as if %s of Q and K had been %s the scores (SOFTMAX-1)", words,
                        times == 0 ? "left out of" : "counted twice in");
        }
    }
}

static void try_elements(struct explain *x) {
    struct look look = {.has_scores = 0};
    explain_test_new(x, &look.test);
    for (int n = 1; n <= MOST_AT_END && n < x->d; n++) {
        try_count(x, &look, LAST_OF_ALL, n, 0, 13);
        try_count(x, &look, FROM_TO, 0, n, 13);
    }
    for (int multiple = 4; multiple <= MOST_STEP; multiple *= 2) {
        try_count(x, &look, BEHIND, multiple, 0, 13);
    }
    for (int i = 0; i < x->d; i++) {
        try_count(x, &look, FROM_TO, i, i + 1, 14);
    }
    for (int width = 2; width < x->d; width *= 2) {
        for (int begin = 0; begin < x->d; begin += width) {
            int end = begin + width < x->d ? begin + width : x->d;
            try_count(x, &look, FROM_TO, begin, end, 15);
            try_count(x, &look, FROM_TO, begin, x->d, 15);
            try_count(x, &look, FROM_TO, 0, end, 15);
        }
    }
    for (int step = 2; step <= MOST_STEP && step < x->d; step *= 2) {
        for (int rest = 0; rest < step; rest++) {
            try_count(x, &look, EVERY, step, rest, 15);
        }
    }
}

/* ---- Lanes that do not get the whole sum ---- */

/* Lanes have elements of K, and the same ones of V; a sum over all lanes that misses a step leaves each with its own part
 * of it. Lanes that get the same: elements that agree in i / a[1], in i % a[1], or in the bit a[1]. */
enum lanes { BLOCKS, RESTS, BITS };

static int part_of(const int *a, int i) {
    return a[0] == BLOCKS ? i / a[1] : a[0] == RESTS ? i % a[1] : (i & a[1]) != 0;
}

static int parts_of(const struct explain *x, const int *a) {
    return a[0] == BLOCKS ? (x->d + a[1] - 1) / a[1] : a[0] == RESTS ? a[1] : 2;
}

/* The sum of weights of keys that were taken. */
static double sum_of_weights(struct explain *x) {
    double largest = -INFINITY, sum = 0.0;
    explain_score_all(x);
    for (int j = 0; j < x->m; j++) {
        largest = fmax(largest, x->scratch[j]);
    }
    for (int j = 0; j < x->m; j++) {
        sum += exp(x->scratch[j] - largest);
    }
    return sum;
}

/* a[2]: 1: all lanes divide by the first one's sum of weights. */
static int sum_in_parts(struct explain *x, const int *a) {
    double *expected = x->prefix, *bound = x->prefix + x->d + 1, first = 1.0, factor = 1.0;
    for (int part = 0; part < parts_of(x, a); part++) {
        explain_take_all(x);
        for (int i = 0; i < x->d; i++) {
            x->q[i] *= part_of(a, i) == part;
        }
        if (!explain_attend(x, 1.0)) {
            return 0;
        }
        if (a[2]) {
            double n = sum_of_weights(x);
            first = part == 0 ? n : first;
            factor = n / first;
        }
        for (int i = 0; i < x->d; i++) {
            if (part_of(a, i) == part) {
                expected[i] = factor * x->numbers.expected[i];
                bound[i] = factor * x->numbers.bound[i];
            }
        }
        if (part == 0) { /* by the first lane */
            expected[x->d] = x->numbers.expected[x->d];
            bound[x->d] = x->numbers.bound[x->d];
        }
        x->work -= (long long)x->m * x->d;
    }
    memcpy(x->numbers.expected, expected, ((size_t)x->d + 1) * sizeof(double));
    memcpy(x->numbers.bound, bound, ((size_t)x->d + 1) * sizeof(double));
    return 1;
}

/* Of some elements alone. */
static int might_sum_in_parts(struct explain *x, const struct explain_test *test, const int *a) {
    double *score = others(x), scale = x->at->problem.scale;
    for (int t = 0; t < test->n && !a[2]; t++) {
        struct explain_test one = {1, {test->element[t]}, {test->got[t]}, {test->allowed[t]}};
        memset(score, 0, (size_t)x->m * sizeof(double));
        for (int i = 0; i < x->d; i++) {
            for (int j = 0; j < x->m && part_of(a, i) == part_of(a, one.element[0]); j++) {
                score[j] += scale * x->q[i] * x->k[(ptrdiff_t)j * x->d + i];
            }
        }
        if (!might(x, &one, score)) {
            return 0;
        }
    }
    return test->n > 0 || x->n == 1; /* of one key nothing but the log-sum-exp is wrong */
}

static void try_lanes(struct explain *x) {
    static const char *const words[] = {"blocks of %d elements", "elements i of the same i %% %d",
                                        "elements i of the same i & %d"};
    struct explain_test test;
    char which[60];
    explain_test_new(x, &test);
    for (int kind = BLOCKS; kind <= BITS; kind++) {
        for (int size = kind == RESTS ? 2 : 1; size < x->d; size *= 2) {
            for (int by_first = 0; by_first < 2; by_first++) {
                const int a[EXPLAIN_NUMBERS] = {kind, size, by_first};
                explain_take_all(x);
                if (x->outside || !might_sum_in_parts(x, &test, a)) {
                    continue;
                }
                (void)snprintf(which, sizeof which, words[kind], size);
                explain_try(x, sum_in_parts, a, 16 + by_first,
                            "as if the sum of a score's products missed a step over lanes: %s of "
                            "the output have scores of their own ones of Q and K alone%s "
                            "(SOFTMAX-1)",
                            which, by_first ? ", and are divided by the first lane's sum" : "");
            }
        }
    }
}

/* ---- Scales of another d ---- */

/* a: which; a number of it. */
enum other_d { A_NUMBER, NEXT_POWER, NEXT_MULTIPLE, OF_A_CHUNK, OF_ALL_HEADS };

static double d_of(const struct explain *x, int which, int number) {
    int d = 1, multiples = number > 0 ? (x->d + number - 1) / number : 0;
    switch ((enum other_d)which) {
    case A_NUMBER:
        return number;
    case NEXT_POWER:
        while (d < x->d) {
            d *= 2;
        }
        return d;
    case NEXT_MULTIPLE:
        return number * multiples;
    case OF_A_CHUNK:
        return x->c;
    default:
        return (double)x->d * x->at->problem.recipe.n_heads;
    }
}

static int scale_by_d(struct explain *x, const int *a) {
    double factor = 1.0 / (sqrt(d_of(x, a[0], a[1])) * x->at->problem.scale);
    explain_take_all(x);
    return fabs(factor - 1.0) > 1e-6 && explain_attend(x, factor);
}

static void try_scales(struct explain *x) {
    static const int sizes[] = {16,  32,  40,  48,  64,  72,  80,  96,
                                100, 112, 128, 160, 192, 256, 320, 512};
    const int power[EXPLAIN_NUMBERS] = {NEXT_POWER}, chunk[EXPLAIN_NUMBERS] = {OF_A_CHUNK},
              heads[EXPLAIN_NUMBERS] = {OF_ALL_HEADS};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const int a[EXPLAIN_NUMBERS] = {A_NUMBER, sizes[i]};
        explain_try(x, scale_by_d, a, 12,
                    "as if the scale were that of another d: 1 / sqrt(%d), not the call's "
                    "(SOFTMAX-1)",
                    sizes[i]);
    }
    explain_try(x, scale_by_d, power, 12,
                "as if the scale were that of another d: 1 / sqrt(d up to a power of 2), not the "
                "call's (SOFTMAX-1)");
    for (int multiple = 8; multiple <= 128; multiple *= 2) {
        const int a[EXPLAIN_NUMBERS] = {NEXT_MULTIPLE, multiple};
        explain_try(x, scale_by_d, a, 13,
                    "as if the scale were that of another d: 1 / sqrt(d up to a multiple of %d), "
                    "not the call's (SOFTMAX-1)",
                    multiple);
    }
    explain_try(x, scale_by_d, chunk, 13,
                "as if the scale were 1 / sqrt(c), not the call's (SOFTMAX-1)");
    explain_try(x, scale_by_d, heads, 13,
                "as if the scale were that of all heads: 1 / sqrt(h d), not the call's "
                "(SOFTMAX-1)");
}

/* ---- Rounded too early ---- */

enum rounded { QUERY_AND_SCALE, QUERY_AND_SCALE_IN_BITS, SCALE, SCALE_IN_BITS, SCORES };

/* a: what is rounded; to which type. */
static int round_early(struct explain *x, const int *a) {
    int in_bits = a[0] == QUERY_AND_SCALE_IN_BITS || a[0] == SCALE_IN_BITS;
    double scale = x->at->problem.scale * (in_bits ? LOG_E : 1.0);
    explain_take_all(x);
    if (a[0] == SCALE || a[0] == SCALE_IN_BITS) {
        double rounded = gate_round(a[1], scale);
        return rounded != scale && explain_attend(x, rounded / scale);
    }
    for (int i = 0; i < x->d; i++) {
        x->q[i] = gate_round(a[1], x->q[i] * scale) / scale;
    }
    return explain_attend(x, 1.0);
}

/* Attention by the scores as they are in the scratch now. */
static int weigh_scores(struct explain *x) {
    struct explain_state s;
    explain_begin(x, &s, 0);
    for (int j = 0; j < x->m; j++) {
        s.m = fmax(s.m, x->scratch[j]);
    }
    for (int j = 0; j < x->m; j++) {
        explain_add_key(x, &s, j, 1.0, 1.0);
    }
    return explain_finish(x, &s, s.n);
}

/* Scores are rounded before they are weighed. a: as above. */
static int round_scores(struct explain *x, const int *a) {
    double unit = a[0] == SCORES ? 1.0 : LOG_E; /* in bits, or in nats */
    explain_take_all(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_score_all(x);
    for (int j = 0; j < x->m; j++) {
        x->scratch[j] = gate_round(a[1], x->scratch[j] * unit) / unit;
    }
    return weigh_scores(x);
}

static void try_rounded(struct explain *x) {
    static const struct {
        int type;
        const char *name;
    } types[] = {{CP_FP16, "binary16"}, {CP_BF16, "bfloat16"}};
    static const char *const words[] = {"q times the scale were",
                                        "q times the scale and log2(e) were", "the scale were",
                                        "the scale times log2(e) were"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (int what = QUERY_AND_SCALE; what <= SCALE_IN_BITS; what++) {
            const int a[EXPLAIN_NUMBERS] = {what, types[i].type};
            explain_try(x, round_early, a, 13 + (what == QUERY_AND_SCALE_IN_BITS),
                        "as if %s rounded to %s%s (SOFTMAX-1)", words[what], types[i].name,
                        what < SCALE ? " before the product with K" : "");
        }
        for (int in_bits = 0; in_bits < 2; in_bits++) {
            const int a[EXPLAIN_NUMBERS] = {SCORES + in_bits, types[i].type};
            explain_try(x, round_scores, a, 15 + in_bits,
                        "as if each score%s were rounded to %s (SOFTMAX-1)",
                        in_bits ? ", times log2(e)," : "", types[i].name);
        }
    }
}

/* ---- From key to key ---- */

enum along { ADDED_UP, OF_THE_NEXT, OF_THE_ONE_BEFORE };

/* The scores of a row: K of a key is that of all keys up to it, or of a neighbour. */
static int go_along(struct explain *x, const int *a) {
    size_t d = (size_t)x->d;
    explain_take_all(x);
    if (x->outside || x->m < 2) {
        return 0;
    }
    for (int j = 1; a[0] == ADDED_UP && j < x->m; j++) {
        for (size_t i = 0; i < d; i++) {
            x->k[(size_t)j * d + i] += x->k[(size_t)(j - 1) * d + i];
        }
    }
    if (a[0] == OF_THE_NEXT) {
        memmove(x->k, x->k + d, (size_t)(x->m - 1) * d * sizeof(double));
    } else if (a[0] == OF_THE_ONE_BEFORE) {
        memmove(x->k + d, x->k, (size_t)(x->m - 1) * d * sizeof(double));
    }
    return explain_attend(x, 1.0);
}

static void try_along(struct explain *x) {
    static const char *const words[] = {
        "the score of each key had been added to the next one's: a sum is not cleared",
        "each key had the score of the next one, the last one its own",
        "each key had the score of the one before, the first one its own"};
    for (int how = ADDED_UP; how <= OF_THE_ONE_BEFORE; how++) {
        const int a[EXPLAIN_NUMBERS] = {how};
        explain_try(x, go_along, a, 16, "as if %s (SOFTMAX-1)", words[how]);
    }
}

/* ---- Elements in another order ---- */

enum order { PAIRS, HALVES, BACKWARDS };

/* Those of Q meet others of K. */
static int permute_query(struct explain *x, const int *a) {
    explain_take_all(x);
    if (x->outside || x->d % 2 != 0) {
        return 0;
    }
    double *q = x->prefix; /* with room for more */
    memcpy(q, x->q, (size_t)x->d * sizeof(double));
    for (int i = 0; i < x->d; i++) {
        int from = a[0] == PAIRS ? i ^ 1 : a[0] == HALVES ? (i + x->d / 2) % x->d : x->d - 1 - i;
        x->q[i] = q[from];
    }
    return explain_attend(x, 1.0);
}

static void try_orders(struct explain *x) {
    static const char *const words[] = {"elements 2i and 2i + 1 of Q, but not of K,",
                                        "the halves of Q, but not of K,",
                                        "all elements of Q, but not of K,"};
    for (int order = PAIRS; order <= BACKWARDS; order++) {
        const int a[EXPLAIN_NUMBERS] = {order};
        explain_try(x, permute_query, a, 15, "as if %s had been %s (SOFTMAX-1)", words[order],
                    order == BACKWARDS ? "read from the last on" : "swapped");
    }
}

/* ---- Other scores of the same products ---- */

enum bend { CAPPED, MAGNITUDE, NOT_BELOW_0, LESS_BY_DISTANCE, MORE_BY_DISTANCE, MORE_BY_POSITION };

/* What becomes of the score of key j. a: how; a number. */
static double bend(const struct explain *x, const int *a, int j) {
    double score = x->scratch[j];
    double slope = exp2(-8.0 * (x->head + 1) / x->at->problem.recipe.n_heads);
    switch ((enum bend)a[0]) {
    case CAPPED:
        return a[1] * tanh(score / a[1]);
    case MAGNITUDE:
        return fabs(score);
    case NOT_BELOW_0:
        return fmax(score, 0.0);
    case LESS_BY_DISTANCE:
        return score - slope * (x->m - 1 - j);
    case MORE_BY_DISTANCE:
        return score + slope * (x->m - 1 - j);
    default:
        return score + slope * j;
    }
}

static int bend_scores(struct explain *x, const int *a) {
    explain_take_all(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_score_all(x);
    for (int j = 0; j < x->m; j++) {
        x->scratch[j] = bend(x, a, j);
    }
    return weigh_scores(x);
}

/* The magnitude of each product of an element of Q and one of K. */
static int take_magnitudes(struct explain *x, const int *a) {
    (void)a;
    explain_take_all(x);
    if (x->outside) {
        return 0;
    }
    for (int i = 0; i < x->d; i++) {
        x->q[i] = fabs(x->q[i]);
    }
    for (ptrdiff_t i = 0; i < (ptrdiff_t)x->m * x->d; i++) {
        x->k[i] = fabs(x->k[i]);
    }
    return explain_attend(x, 1.0);
}

static void try_bends(struct explain *x) {
    static const int caps[] = {10, 15, 20, 30, 50, 100}, none[EXPLAIN_NUMBERS] = {0};
    static const char *const words[] = {
        "",
        "the magnitude of each score had been taken",
        "scores below 0 had been taken as 0",
        "each score were less by 2^(-8 (head + 1) / h) times the distance to the last key seen",
        "each score were more by 2^(-8 (head + 1) / h) times the distance to the last key seen",
        "each score were more by 2^(-8 (head + 1) / h) times the key's position"};
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        const int a[EXPLAIN_NUMBERS] = {CAPPED, caps[i]};
        explain_try(x, bend_scores, a, 15,
                    "as if scores s had been capped: %d tanh(s / %d) (SOFTMAX-1)", caps[i],
                    caps[i]);
    }
    for (int how = MAGNITUDE; how <= MORE_BY_POSITION; how++) {
        const int a[EXPLAIN_NUMBERS] = {how};
        explain_try(x, bend_scores, a, 15, "as if %s (SOFTMAX-1)", words[how]);
    }
    explain_try(x, take_magnitudes, none, 15,
                "as if the magnitude of each product of Q and K had been added up (SOFTMAX-1)");
}

void explain_try_scores(struct explain *x) {
    try_orders(x);
    try_bends(x);
    try_scales(x);
    try_rounded(x);
    try_along(x);
    if (x->n > 0) {
        try_elements(x);
        try_lanes(x);
    }
}

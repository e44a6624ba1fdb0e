/* SPDX-License-Identifier: Apache-2.0 */
/* Infinities and NaNs: what a number format cannot hold, and what comes of it; and rows that see no key. */
#include <math.h>
#include <string.h>

#include "gate/explain/explain.h"

#define MOST_ROWS     2
#define HEAVIEST      3
#define MOST_TILE     256
#define OVER_BINARY16 65520.0 /* from there on the nearest is infinity */
#define LOG_BINARY32  88.7228 /* exp() of more overflows */
#define LOG_BINARY16  11.0902
#define ZERO_BINARY32 (-103.98) /* exp() of less is 0 */

/* ---- Weights against another number than the largest score ---- */

enum reference { NO_REFERENCE, FIRST_SCORE, NOT_BELOW_0, NOT_BELOW_MINUS_1E4 };

static double reference_of(const struct explain *x, int which) {
    double largest = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        largest = fmax(largest, x->scratch[j]);
    }
    return which == NO_REFERENCE  ? 0.0
           : which == FIRST_SCORE ? x->scratch[0]
           : which == NOT_BELOW_0 ? fmax(largest, 0.0)
                                  : fmax(largest, -1e4);
}

/* A weight, in binary32 or binary16. */
static float weight_of(double distance, int is_short) {
    float weight = expf((float)distance);
    return !is_short                        ? weight
           : weight >= (float)OVER_BINARY16 ? INFINITY
           : weight <= 0x1p-25F             ? 0.0F
                                            : weight;
}

/* What is infinite or no number is said of an element; of others that they are what they must be, where no weight
 * became 0. */
static void say_element(struct explain *x, int i, float o, float n, int lost) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)i;
    float value = o / n;
    if (n == 0.0F) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = EXPLAIN_NOTHING;
    } else if (!isfinite(value)) {
        x->numbers.expected[i] = value;
        x->numbers.bound[i] = 0.0;
    } else {
        x->numbers.expected[i] = x->at->expected[at];
        x->numbers.bound[i] = lost ? INFINITY : x->at->bound[at];
    }
}

/* a: against what; 1: weights in binary16. */
static int weigh_against(struct explain *x, const int *a) {
    float n = 0.0F;
    int lost = 0;
    explain_take_all(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_score_all(x);
    double reference = reference_of(x, a[0]);
    for (int j = 0; j < x->m; j++) {
        float weight = weight_of(x->scratch[j] - reference, a[1]);
        n += weight;
        lost |= weight == 0.0F || isinf(weight);
    }
    for (int i = 0; i < x->d; i++) {
        float o = 0.0F;
        for (int j = 0; j < x->m; j++) {
            o += weight_of(x->scratch[j] - reference, a[1]) * (float)x->v[(ptrdiff_t)j * x->d + i];
        }
        say_element(x, i, o, n, lost);
    }
    x->numbers.expected[x->d] = n == 0.0F ? -INFINITY : 0.0;
    x->numbers.bound[x->d] = n == 0.0F ? EXPLAIN_NOTHING : INFINITY;
    return 1;
}

static void try_references(struct explain *x) {
    static const char *const words[] = {
        "weights were exp(score), without the largest score subtracted",
        "weights were exp(score - the first key's), not with the largest score subtracted",
        "the maximum began with 0, not with -infinity: where all scores are far below, every "
        "weight is 0",
        "the maximum began with -10000, not with -infinity: where all scores are far below, every "
        "weight is 0"};
    for (int which = NO_REFERENCE; which <= NOT_BELOW_MINUS_1E4; which++) {
        for (int is_short = 0; is_short < 2; is_short++) {
            const int a[EXPLAIN_NUMBERS] = {which, is_short};
            explain_try(x, weigh_against, a, 10 + which + is_short, "as if %s%s (SOFTMAX-1)",
                        words[which],
                        which >= NOT_BELOW_0
                            ? (is_short ? ", in binary16" : "")
                            : (is_short ? "; in binary16, where exp(11.1) is infinity"
                                        : "; exp(88.8) is infinity in binary32, exp(-104) is 0"));
        }
    }
}

/* ---- Scores that binary16 cannot hold ---- */

enum overflow { PRODUCTS, SCORES };

/* Of a score: of its products, summed up, or of the whole. */
static double largest_on_the_way(const struct explain *x, int j, int which) {
    double sum = 0.0, largest = 0.0;
    for (int i = 0; i < x->d; i++) {
        double product = x->q[i] * x->k[(ptrdiff_t)j * x->d + i];
        sum += product;
        largest = fmax(largest, fmax(fabs(product), fabs(sum)));
    }
    return which == PRODUCTS ? copysign(largest, sum) : sum * x->at->problem.scale;
}

static void say_all(struct explain *x, double expected, double bound) {
    for (int i = 0; i <= x->d; i++) {
        x->numbers.expected[i] = expected;
        x->numbers.bound[i] = bound;
    }
}

/* A score of infinity is the maximum, and inf - inf no number; of -infinity it counts only where all are. */
static int overflow_scores(struct explain *x, const int *a) {
    int above = 0, below = 0;
    explain_take_all(x);
    for (int j = 0; j < x->m; j++) {
        double largest = largest_on_the_way(x, j, a[0]);
        above += largest >= OVER_BINARY16;
        below += largest <= -OVER_BINARY16;
    }
    say_all(x, above > 0 || below == x->m ? NAN : 0.0, INFINITY);
    return x->m > 0 && !x->outside;
}

static void try_overflows(struct explain *x) {
    const int products[EXPLAIN_NUMBERS] = {PRODUCTS}, scores[EXPLAIN_NUMBERS] = {SCORES};
    explain_try(x, overflow_scores, scores, 11,
                "as if a score overflows binary16: it is above 65504, infinity then, and as the "
                "maximum it gives inf - inf (NUM-7)");
    explain_try(x, overflow_scores, products, 12,
                "as if a score overflows binary16 before it is scaled: the sum of q k is above "
                "65504, infinity then, and as the maximum it gives inf - inf (NUM-7)");
}

void explain_try_floats(struct explain *x) {
    size_t at = (size_t)x->pair * (size_t)x->at->width;
    int is_finite = 1;
    for (int i = 0; i < x->d; i++) {
        is_finite = is_finite && (isfinite(x->at->got[at + (size_t)i]) != 0 &&
                                  x->at->got[at + (size_t)i] != 0.0);
    }
    if (!is_finite && x->n > 0) { /* zeros may be a sum of weights that are all 0 */
        try_references(x);
        try_overflows(x);
    }
}

/* ---- What there is to see ---- */

/* The heaviest keys of a pair that was scored. */
static void print_heaviest(const struct explain *x, double largest, double sum) {
    int said[HEAVIEST], n = 0;
    fputs("      heaviest: ", x->file);
    for (; n < HEAVIEST && n < x->m; n++) {
        int best = -1;
        for (int j = 0; j < x->m; j++) {
            int is_new = 1;
            for (int t = 0; t < n; t++) {
                is_new = is_new && said[t] != j;
            }
            best = is_new && (best < 0 || x->scratch[j] > x->scratch[best]) ? j : best;
        }
        said[n] = best;
        fprintf(x->file, "%skey %d (chunk %d of the path, slot %d), score %.6g, weight %.2g",
                n > 0 ? "; " : "", best, best / x->c, best % x->c, x->scratch[best],
                exp(x->scratch[best] - largest) / sum);
    }
    fputs("\n", x->file);
}

static void print_what_overflows(const struct explain *x, double smallest, double largest,
                                 double products) {
    int said = 0;
    if (largest > LOG_BINARY16) {
        fprintf(x->file,
                "      a score of %.6g: exp() of it, without the largest score subtracted, is "
                "infinity in %s, and inf / inf is NaN\n",
                largest, largest > LOG_BINARY32 ? "binary32" : "binary16 (not in binary32)");
        said++;
    }
    if (largest < ZERO_BINARY32) {
        fprintf(x->file,
                "      all scores are below %.6g: exp() of them, without the largest score "
                "subtracted, or against a maximum that began with 0, is 0, and 0 / 0 is NaN\n",
                largest);
        said++;
    }
    if (products >= OVER_BINARY16) {
        fprintf(x->file,
                "      products of Q and K, summed up, reach %.3g: in binary16 that is infinity, "
                "and inf - inf is NaN\n",
                products);
        said++;
    }
    if (said == 0) {
        fprintf(
            x->file,
            "      scores are from %.3g to %.3g, and q k up to %.3g: nothing overflows. What is "
            "left is inf - inf, a\n      score of -infinity (a masked key) against a maximum "
            "that is still -infinity; 0 / 0, a sum of no weights; or a\n      NaN that is no "
            "key's, read beside the keys (0 * NaN is NaN, too)\n",
            smallest, largest, products);
    }
}

/* The pair x is at. */
static void print_infinities(struct explain *x, int not_numbers, int infinite) {
    double smallest = INFINITY, largest = -INFINITY, products = 0.0, sum = 0.0;
    explain_take_all(x);
    for (int j = 0; j < x->m; j++) {
        products = fmax(products, fabs(largest_on_the_way(x, j, PRODUCTS)));
    }
    explain_score_all(x);
    for (int j = 0; j < x->m; j++) {
        smallest = fmin(smallest, x->scratch[j]);
        largest = fmax(largest, x->scratch[j]);
    }
    for (int j = 0; j < x->m; j++) {
        sum += exp(x->scratch[j] - largest);
    }
    fprintf(x->file, "  row %d, head %d, of %d elements: %d NaN, %d infinite\n", x->row, x->head,
            x->d, not_numbers, infinite);
    print_heaviest(x, largest, sum);
    print_what_overflows(x, smallest, largest, products);
}

void explain_infinities(struct explain *x) {
    const struct explain_run *run = &x->run[0];
    int said = 0;
    for (int pair = 0; pair < run->pairs && said < MOST_ROWS; pair++) {
        const double *got = run->got + (ptrdiff_t)pair * run->width;
        int not_numbers = 0, infinite = 0;
        for (int i = 0; i < run->width - 1; i++) {
            not_numbers += isnan(got[i]) != 0;
            infinite += isinf(got[i]) != 0;
        }
        explain_go_to(x, 0, pair);
        if (x->n > 0 && explain_is_wrong(run, pair) && not_numbers + infinite > 0) {
            print_infinities(x, not_numbers, infinite);
            said++;
        }
    }
}

/* ---- Rows that see no key ---- */

/* Are these the sums of V over the sequence's first keys, divided by n? */
static int is_average(const struct explain *x, const double *got, int keys, int n) {
    for (int i = 0; i < x->d; i++) {
        double sum = 0.0, size = 0.0;
        for (int j = 0; j < keys; j++) {
            sum += x->v[(ptrdiff_t)j * x->d + i] / n;
            size += fabs(x->v[(ptrdiff_t)j * x->d + i]) / n;
        }
        if (!(fabs(sum - got[i]) <= 0.01 * size)) {
            return 0;
        }
    }
    return 1;
}

/* All keys are masked by a score that is a number, so that they weigh the same: all of the sequence, or those of the first
 * tile; and what is behind them in a tile, as zeros. */
static int print_average(struct explain *x, const double *got) {
    int all = x->at->problem.n_tokens[x->s];
    x->m = x->outside = 0;
    for (int j = 0; j < all; j++) {
        explain_take_key(x, x->s, j, x->g, x->g);
    }
    for (int tile = 1; tile <= MOST_TILE && !x->outside; tile *= 2) {
        for (int whole = 0; whole < 2; whole++) {
            int keys = whole || all < tile ? all : tile, n = (keys + tile - 1) / tile * tile;
            if (is_average(x, got, keys, n)) {
                if (keys == 1 && n == 1) {
                    fputs(
                        "      they are V of its sequence's first key: as if the row saw a key "
                        "more, or that key were\n      masked by a score that is a finite number, "
                        "as -10000, not -infinity\n",
                        x->file);
                    return 1;
                }
                fprintf(x->file,
                        "      they are the average of V of its sequence's first %d %s%s: as if "
                        "all were masked by a score that is\n      a finite number, as -10000, not "
                        "-infinity, so that they weigh the same\n",
                        keys, keys == 1 ? "key" : "keys",
                        n > keys ? " and of zeros behind them in a tile" : "");
                return 1;
            }
        }
    }
    return 0;
}

/* What such a row has instead of zeros and -infinity. */
static void print_empty(struct explain *x, const double *got) {
    int not_numbers = 0, others = 0, d = x->d;
    for (int i = 0; i < d; i++) {
        not_numbers += isnan(got[i]) != 0;
        others += !isnan(got[i]) && got[i] != 0.0;
    }
    fprintf(x->file,
            "  row %d, head %d sees no key: a row that sees no key must give zeros%s "
            "(PREFILL-3)\n",
            x->row, x->head,
            x->at->problem.lse_type != CP_NO_LSE ? ", and a log-sum-exp of -infinity" : "");
    if (not_numbers > 0) {
        fprintf(
            x->file,
            "      %d elements are NaN: 0 / 0, a sum of nothing divided by a sum of no weights, "
            "or exp(-inf - -inf); such a row has to be left out before\n",
            not_numbers);
    }
    if (others > 0 && !print_average(x, got)) {
        fprintf(x->file,
                "      %d %s: a key was read that the row does not see; it "
                "is one of more query rows than keys, or its sequence is empty\n",
                others, others == 1 ? "element is another number" : "elements are other numbers");
    }
    if (not_numbers + others == 0) {
        fprintf(x->file, "      its zeros are right; its log-sum-exp is %.9g\n",
                gate_plain(got[d]));
    }
}

int explain_empty_rows(struct explain *x) {
    const struct explain_run *run = &x->run[0];
    int said = 0;
    for (int pair = 0; pair < run->pairs; pair++) {
        explain_go_to(x, 0, pair);
        if (x->n == 0 && explain_is_wrong(run, pair) && said++ < MOST_ROWS) {
            print_empty(x, run->got + (ptrdiff_t)pair * run->width);
        }
    }
    if (said > MOST_ROWS) {
        fprintf(x->file, "      and %d more such rows and heads\n", said - MOST_ROWS);
    }
    return said > 0;
}

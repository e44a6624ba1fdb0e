/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to see of infinities and NaNs: the heaviest keys, and what a number format cannot
 * hold; and rows that see no key. */
#include <math.h>
#include <stdio.h>

#include "gate/explain/explain.h"

#define MOST_ROWS     2
#define HEAVIEST      3
#define MOST_TILE     256
#define OVER_BINARY16 65520.0 /* from there on the nearest is infinity */
#define LOG_BINARY32  88.7228 /* exp() of more overflows */
#define LOG_BINARY16  11.0902
#define ZERO_BINARY32 (-103.98) /* exp() of less is 0 */

/* ---- What there is to see ---- */

/* The heaviest keys of a pair that was scored. */
static void print_heaviest(FILE *file, const struct explain_model *x, double largest, double sum) {
    int said[HEAVIEST], n = 0;
    fputs("      heaviest: ", file);
    for (; n < HEAVIEST && n < x->m; n++) {
        int best = -1;
        for (int j = 0; j < x->m; j++) {
            int is_new = 1;
            for (int t = 0; t < n; t++) {
                is_new = is_new && said[t] != j;
            }
            best = is_new && (best < 0 || x->score[j] > x->score[best]) ? j : best;
        }
        said[n] = best;
        fprintf(file, "%skey %d (chunk %d of the path, slot %d), score %.6g, weight %.2g",
                n > 0 ? "; " : "", best, best / x->c, best % x->c, x->score[best],
                exp(x->score[best] - largest) / sum);
    }
    fputs("\n", file);
}

static void print_what_overflows(FILE *file, double smallest, double largest, double products) {
    int said = 0;
    if (largest > LOG_BINARY16) {
        fprintf(file,
                "      a score of %.6g: exp() of it, without the largest score subtracted, is "
                "infinity in %s, and inf / inf is NaN\n",
                largest, largest > LOG_BINARY32 ? "binary32" : "binary16 (not in binary32)");
        said++;
    }
    if (largest < ZERO_BINARY32) {
        fprintf(file,
                "      all scores are below %.6g: exp() of them, without the largest score "
                "subtracted, or against a maximum that began with 0, is 0, and 0 / 0 is NaN\n",
                largest);
        said++;
    }
    if (products >= OVER_BINARY16) {
        fprintf(file,
                "      products of Q and K, summed up, reach %.3g: in binary16 that is infinity, "
                "and inf - inf is NaN\n",
                products);
        said++;
    }
    if (said == 0) {
        fprintf(
            file,
            "      scores are from %.3g to %.3g, and q k up to %.3g: nothing overflows. What is "
            "left is inf - inf, a\n      score of -infinity (a masked key) against a maximum "
            "that is still -infinity; 0 / 0, a sum of no weights; or a\n      NaN that is no "
            "key's, read beside the keys (0 * NaN is NaN, too)\n",
            smallest, largest, products);
    }
}

/* Of the products of a score with key j, summed up: the largest on the way. */
static double largest_on_the_way(const struct explain_model *x, int j) {
    double sum = 0.0, largest = 0.0;
    for (int i = 0; i < x->d; i++) {
        sum += x->q[i] * x->k[j][i];
        largest = fmax(largest, fmax(fabs(x->q[i] * x->k[j][i]), fabs(sum)));
    }
    return largest;
}

/* The pair x is at. */
static void print_infinities(FILE *file, struct explain_model *x, int not_numbers, int infinite) {
    static const struct explain_choice right;
    double smallest = INFINITY, largest = -INFINITY, products = 0.0, sum = 0.0;
    (void)explain_take_keys(x, &right);
    explain_take_scores(x, &right, 0);
    for (int j = 0; j < x->m; j++) {
        products = fmax(products, largest_on_the_way(x, j));
        smallest = fmin(smallest, x->score[j]);
        largest = fmax(largest, x->score[j]);
    }
    for (int j = 0; j < x->m; j++) {
        sum += exp(x->score[j] - largest);
    }
    fprintf(file, "  row %d, head %d, of %d elements: %d NaN, %d infinite\n", x->row, x->head, x->d,
            not_numbers, infinite);
    print_heaviest(file, x, largest, sum);
    print_what_overflows(file, smallest, largest, products);
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
        explain_go_to(&x->model, run, pair);
        if (x->model.n > 0 && explain_is_wrong(run, pair) && not_numbers + infinite > 0) {
            print_infinities(x->file, &x->model, not_numbers, infinite);
            said++;
        }
    }
}

/* ---- Rows that see no key ---- */

/* Are these the sums of V over the sequence's first keys, divided by n? */
static int is_average(const struct explain_model *x, const double *got, int keys, int n) {
    for (int i = 0; i < x->d; i++) {
        double sum = 0.0, size = 0.0;
        for (int j = 0; j < keys; j++) {
            sum += x->v[j][i] / n;
            size += fabs(x->v[j][i]) / n;
        }
        if (!(fabs(sum - got[i]) <= 0.01 * size)) {
            return 0;
        }
    }
    return 1;
}

/* All keys are masked by a score that is a number, so that they weigh the same: all of the
 * sequence, or those of the first tile; and what is behind them in a tile, as zeros. */
static int print_average(FILE *file, struct explain_model *x, const double *got) {
    int all = x->run->problem.n_tokens[x->s];
    x->m = x->outside = 0;
    for (int j = 0; j < all; j++) {
        explain_take_key(x, x->s, j, x->g);
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
                        file);
                    return 1;
                }
                fprintf(file,
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
static void print_empty(FILE *file, struct explain_model *x, const double *got) {
    int not_numbers = 0, others = 0, d = x->d;
    for (int i = 0; i < d; i++) {
        not_numbers += isnan(got[i]) != 0;
        others += !isnan(got[i]) && got[i] != 0.0;
    }
    fprintf(file,
            "  row %d, head %d sees no key: a row that sees no key must give zeros%s "
            "(PREFILL-3)\n",
            x->row, x->head,
            x->run->problem.lse_type != CP_NO_LSE ? ", and a log-sum-exp of -infinity" : "");
    if (not_numbers > 0) {
        fprintf(
            file,
            "      %d elements are NaN: 0 / 0, a sum of nothing divided by a sum of no weights, "
            "or exp(-inf - -inf); such a row has to be left out before\n",
            not_numbers);
    }
    if (others > 0 && !print_average(file, x, got)) {
        fprintf(file,
                "      %d %s: a key was read that the row does not see; it "
                "is one of more query rows than keys, or its sequence is empty\n",
                others, others == 1 ? "element is another number" : "elements are other numbers");
    }
    if (not_numbers + others == 0) {
        fprintf(file, "      its zeros are right; its log-sum-exp is %.9g\n", gate_plain(got[d]));
    }
}

int explain_empty_rows(struct explain *x) {
    const struct explain_run *run = &x->run[0];
    int said = 0;
    for (int pair = 0; pair < run->pairs; pair++) {
        explain_go_to(&x->model, run, pair);
        if (x->model.n == 0 && explain_is_wrong(run, pair) && said++ < MOST_ROWS) {
            print_empty(x->file, &x->model, run->got + (ptrdiff_t)pair * run->width);
        }
    }
    if (said > MOST_ROWS) {
        fprintf(x->file, "      and %d more such rows and heads\n", said - MOST_ROWS);
    }
    return said > 0;
}

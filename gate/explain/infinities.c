/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to see of infinities and NaNs: the heaviest keys, and what a number format cannot
 * hold; and rows that see no key. */
#include <math.h>
#include <stdio.h>

#include "gate/explain/explain.h"

#define HEAVIEST  3
#define MOST_TILE 256

/* ---- What there is to see ---- */

/* The scores of those that were printed are gone. */
static void print_heaviest(FILE *file, struct explain_model *x) {
    double sum = 0.0;
    for (int j = 0; j < x->m; j++) {
        sum += x->weight[j];
    }
    fputs("      heaviest: ", file);
    for (int n = 0; n < HEAVIEST && n < x->m; n++) {
        int key = 0;
        for (int j = 1; j < x->m; j++) {
            key = x->score[j] > x->score[key] ? j : key;
        }
        int is_tree = x->run->problem.plan == CP_PLANS_TREES;
        struct explain_spot at = explain_spot_of(x, key);
        fprintf(file, "%skey %d (%s %d%s, slot %d), score %.6g, weight %.2g", n > 0 ? "; " : "",
                explain_key_number(x, key), is_tree ? "chunk" : "run", at.run,
                is_tree ? " of the path" : "", at.slot, x->score[key], x->weight[key] / sum);
        x->score[key] = -INFINITY;
    }
    fputs("\n", file);
}

/* How large numbers of the row are. `apart`: how far its scores are. */
struct sizes {
    double largest, products, apart;
};

/* Each fact that holds; the last one where no other does. */
static void print_what_overflows(FILE *file, const struct cp_kernel_class *class,
                                 const struct sizes *of) {
    double largest = of->largest, products = of->products;
    double most = class->weights == CP_FP16 ? LOG_HALF : LOG_FLOAT; /* of a weight of P */
    const struct fact {
        int holds;
        double number;
        const char *words;
    } facts[] = {
        {class->behind > 0.0 && of->apart > most, of->apart,
         "scores %.6g nats apart: a weight for a reference that stays behind by so much is "
         "infinity in P (NUM-21).\n      `behind` is declared; does each growth beyond it move the "
         "reference, also of many small steps?"},
        {largest > LOG_FLOAT, largest,
         "a score of %.6g: exp() of it, without the largest score subtracted, is infinity in "
         "binary32, and inf / inf is NaN"},
        {LOG_HALF < largest && largest <= LOG_FLOAT, largest,
         "a score of %.6g: exp() of it, without the largest score subtracted, is infinity in "
         "binary16 (not in binary32), and inf / inf is NaN"},
        {largest < ZERO_FLOAT, largest,
         "all scores are below %.6g: exp() of them, without the largest score subtracted, or "
         "against a maximum that began with 0, is 0, and 0 / 0 is NaN"},
        {products >= OVER_BINARY16, products,
         "products of Q and K, summed up, reach %.3g: in binary16 that is infinity, and inf - inf "
         "is NaN"},
        {1, largest,
         "no score is above %.3g, and nothing overflows. What is left is inf - inf, a score of "
         "-infinity\n      (a masked key) against a maximum that is still -infinity; 0 / 0, a sum "
         "of no weights; or a NaN\n      that is no key's, read beside the keys (0 * NaN is NaN, "
         "too)"},
    };
    int n = sizeof facts / sizeof facts[0], said = 0;
    for (int i = 0; i < n && (i < n - 1 || said == 0); i++) {
        if (facts[i].holds) {
            fputs("      ", file);
            fprintf(file, facts[i].words, facts[i].number);
            fputs("\n", file);
            said++;
        }
    }
}

/* An infinity or a NaN that is wrong, in a row that sees keys. */
static int is_no_number(const struct explain_results *r, int i) {
    return i < r->d && explain_is_wrong_number(r, i) && !isfinite(r->got[i]) && r->sees > 0;
}

static void say_no_number(struct explain *x, const struct explain_results *r,
                          const unsigned char *picked, int n) {
    static const struct explain_choice right;
    struct explain_model *m = &x->model;
    struct sizes of = {-INFINITY, 0.0, 0.0};
    double least = INFINITY;
    int infinite = 0;
    explain_go_to(m, r->run, r->pair);
    (void)explain_take_keys(m, &right);
    (void)explain_take_scores(m, &right, 0);
    for (int j = 0; j < m->m; j++) {
        of.products = fmax(of.products, fabs(explain_largest_on_the_way(m, explain_key(m, j))));
        of.largest = fmax(of.largest, m->score[j]);
        least = fmin(least, m->score[j]);
    }
    of.apart = of.largest - least;
    for (int i = 0; i < m->d_v; i++) {
        infinite += picked[i] && !isnan(r->got[i]);
    }
    fprintf(x->file, "    of %d elements: %d NaN, %d infinite\n", m->d_v, n - infinite, infinite);
    print_heaviest(x->file, m);
    print_what_overflows(x->file, &x->kernel->arithmetic, &of);
}

void explain_infinities(struct explain *x) {
    (void)explain_show(x, is_no_number, say_no_number);
}

/* ---- Rows that see no key ---- */

/* Are these the sums of V over the sequence's first keys, divided by n? */
static int is_average(const struct explain_model *x, const double *got, int keys, int n) {
    for (int i = 0; i < x->d_v; i++) {
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
 * sequence, or those of the first tile; and what is behind them in a tile, as zeros. Returns
 * whether that was said. */
static int print_average(FILE *file, struct explain_model *x, const double *got) {
    static const struct explain_choice of_path = {.sees = {SEES_ALL}},
                                       of_list = {.runs = {RUNS_WHOLE}};
    int is_path = explain_is_path(&x->run->problem);
    int taken = explain_take_keys(x, is_path ? &of_path : &of_list), all = x->m;
    for (int tile = 1; tile <= MOST_TILE && taken && all > 0; tile *= 2) {
        for (int whole = 0; whole < 2; whole++) {
            int keys = whole || all < tile ? all : tile, n = (keys + tile - 1) / tile * tile;
            if (is_average(x, got, keys, n)) {
                fprintf(file,
                        "      they are the average of V of its sequence's first %d %s%s: as if "
                        "the row saw them, or all were masked by a score that is\n      a finite "
                        "number, as -10000, not -infinity, so that they weigh the same\n",
                        keys, keys == 1 ? "key" : "keys",
                        n > keys ? " and of zeros behind them in a tile" : "");
                return 1;
            }
        }
    }
    return 0;
}

static int is_of_empty_row(const struct explain_results *r, int i) {
    return r->sees == 0 && explain_is_wrong_number(r, i);
}

static int has_own_convention(const struct cp_kernel *kernel) {
    return kernel->conventions.empty_out != CP_EMPTY_NEUTRAL ||
           kernel->conventions.empty_lse != CP_EMPTY_NEUTRAL;
}

/* What such a row has instead of zeros and -infinity, or of what is declared. */
static void say_empty(struct explain *x, const struct explain_results *r,
                      const unsigned char *picked, int n) {
    int not_numbers = 0;
    for (int i = 0; i < r->d; i++) {
        not_numbers += picked[i] && isnan(r->got[i]);
    }
    explain_go_to(&x->model, r->run, r->pair);
    fprintf(x->file, "    a row that sees no key must give %s",
            isnan(r->expected[0]) ? "NaNs" : "zeros");
    if (r->run->problem.lse_type != CP_NO_LSE && r->expected[r->d] == -INFINITY) {
        fputs(", and a log-sum-exp of -infinity", x->file);
    } else if (r->run->problem.lse_type != CP_NO_LSE) {
        fprintf(x->file, ", and a log-sum-exp of %.9g", gate_plain(r->expected[r->d]));
    }
    fprintf(x->file, " (%s)\n", has_own_convention(x->kernel) ? "CONV-2" : "PREFILL-3");
    if (not_numbers > 0) {
        fprintf(
            x->file,
            "      %d elements are NaN: 0 / 0, a sum of nothing divided by a sum of no weights, "
            "or exp(-inf - -inf); such a row has to be left out before\n",
            not_numbers);
    }
    if (n > not_numbers && !print_average(x->file, &x->model, r->got)) {
        fprintf(x->file,
                "      %d %s: a key was read that the row does not see; it is one of more query "
                "rows than keys, or its sequence is empty\n",
                n - not_numbers,
                n - not_numbers == 1 ? "element is another number" : "elements are other numbers");
    }
    if (n == 0) {
        fprintf(x->file, "      its elements are right; its log-sum-exp is %.9g\n",
                gate_plain(r->got[r->d]));
    }
}

int explain_empty_rows(struct explain *x) {
    return explain_show(x, is_of_empty_row, say_empty) > 0;
}

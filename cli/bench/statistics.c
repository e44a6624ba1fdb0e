/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/statistics.h"

#include <math.h>
#include <string.h>

#include "cli/base/sort.h"

struct bench_spread bench_spread_of(const double *x, int n) {
    double sorted[BENCH_MOST_ROUNDS];
    memcpy(sorted, x, (size_t)n * sizeof *x);
    sort_numbers(sorted, n);
    return (struct bench_spread){(sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0, sorted[0],
                                 sorted[n - 1]};
}

struct bench_spread bench_ratio_of(const double *a, const double *b, int n) {
    double ratio[BENCH_MOST_ROUNDS] = {0.0};
    for (int i = 0; i < n; i++) {
        ratio[i] = a[i] / b[i];
    }
    return bench_spread_of(ratio, n);
}

int bench_fit_law(const double *x, const double *y, int n, struct bench_law *law) {
    double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
    for (int i = 0; i < n; i++) {
        mean_x += log(x[i]) / n;
        mean_y += log(y[i]) / n;
    }
    for (int i = 0; i < n; i++) {
        double away = log(x[i]) - mean_x;
        xx += away * away;
        xy += away * (log(y[i]) - mean_y);
    }
    if (n < 2 || !(xx > 0.0)) {
        return -1;
    }
    law->exponent = xy / xx;
    law->factor = exp(mean_y - law->exponent * mean_x);
    law->off = 1.0;
    for (int i = 0; i < n; i++) {
        double ratio = y[i] / (law->factor * pow(x[i], law->exponent));
        law->off = fmax(law->off, fmax(ratio, 1.0 / ratio));
    }
    return 0;
}

/* ---- Cost: a few non-negative terms ---- */

/* Of a point, by its seconds: the law is 1 then. */
static void terms_of(const struct bench_cost_point *p, double *term) {
    term[0] = 1.0 / p->seconds;
    term[1] = p->bytes / p->seconds;
    term[2] = p->flops / p->seconds;
}

/* Solves m x = r for the terms in `set`, by elimination with pivots; the others are 0. -1: there
 * is no unique solution. */
static int solve(double m[BENCH_COST_TERMS][BENCH_COST_TERMS], const double *r, unsigned set,
                 double *x) {
    double row[BENCH_COST_TERMS][BENCH_COST_TERMS + 1];
    for (int i = 0; i < BENCH_COST_TERMS; i++) {
        for (int j = 0; j < BENCH_COST_TERMS; j++) {
            int both = (set >> i & 1U) != 0 && (set >> j & 1U) != 0;
            row[i][j] = both ? m[i][j] : i == j;
        }
        row[i][BENCH_COST_TERMS] = (set >> i & 1U) != 0 ? r[i] : 0.0;
    }
    for (int i = 0; i < BENCH_COST_TERMS; i++) { /* positive definite: the diagonal will do */
        if (!(row[i][i] > 1e-12)) {
            return -1;
        }
        for (int k = 0; k < BENCH_COST_TERMS; k++) {
            double factor = k == i ? 0.0 : row[k][i] / row[i][i];
            for (int j = i; j <= BENCH_COST_TERMS; j++) {
                row[k][j] -= factor * row[i][j];
            }
        }
    }
    for (int i = 0; i < BENCH_COST_TERMS; i++) {
        x[i] = row[i][BENCH_COST_TERMS] / row[i][i];
    }
    return 0;
}

static double law_of(const struct bench_cost_point *p, const double *x) {
    return x[0] + x[1] * p->bytes + x[2] * p->flops;
}

static double squares(const struct bench_cost_point *point, int n, const double *x) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double off = law_of(&point[i], x) / point[i].seconds - 1.0;
        sum += off * off;
    }
    return sum;
}

/* Every set of terms is tried. Columns are scaled to length 1 before. */
int bench_fit_cost(const struct bench_cost_point *point, int n, struct bench_cost_fit *fit) {
    double m[BENCH_COST_TERMS][BENCH_COST_TERMS] = {{0.0}}, r[BENCH_COST_TERMS] = {0.0};
    double scale[BENCH_COST_TERMS], x[BENCH_COST_TERMS], best[BENCH_COST_TERMS] = {0.0};
    double least = INFINITY, term[BENCH_COST_TERMS];
    for (int i = 0; i < n; i++) {
        terms_of(&point[i], term);
        for (int j = 0; j < BENCH_COST_TERMS; j++) {
            r[j] += term[j];
            for (int k = 0; k < BENCH_COST_TERMS; k++) {
                m[j][k] += term[j] * term[k];
            }
        }
    }
    for (int j = 0; j < BENCH_COST_TERMS; j++) {
        scale[j] = m[j][j] > 0.0 ? 1.0 / sqrt(m[j][j]) : 0.0;
    }
    for (int j = 0; j < BENCH_COST_TERMS; j++) {
        r[j] *= scale[j];
        for (int k = 0; k < BENCH_COST_TERMS; k++) {
            m[j][k] *= scale[j] * scale[k];
        }
    }
    for (unsigned set = 1; set < 1U << BENCH_COST_TERMS; set++) {
        int bad = solve(m, r, set, x);
        for (int j = 0; j < BENCH_COST_TERMS && !bad; j++) {
            x[j] *= scale[j];
            bad = x[j] < 0.0;
        }
        double off = bad ? INFINITY : squares(point, n, x);
        if (off < least) {
            least = off;
            memcpy(best, x, sizeof best);
        }
    }
    *fit = (struct bench_cost_fit){best[0], best[1], best[2], 0.0};
    for (int i = 0; i < n; i++) {
        fit->off = fmax(fit->off, fabs(law_of(&point[i], best) / point[i].seconds - 1.0));
    }
    return n > 0 && isfinite(least) ? 0 : -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that make mistakes show (MERGING-10). Log-sum-exps are chosen in nats, and brought to the
 * base of the kernel. Everything comes from integers, so that it is the same on every machine. */
#include "gate/merge/values.h"

#include <math.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/base/random.h"
#include "gate/case/values.h"
#include "gate/merge/garbage.h"

#define LOG_2      0x1.71547652b82fep+0 /* log2(e): bits of a nat */
#define NATS       0x1.62e42fefa39efp-1 /* of a bit */
#define MOST_LIGHT 12                   /* outputs of light parts are at most 2^12 times as large */

/* What the parts of a row and head without keys are. */
enum pattern { NONE_EMPTY, FIRST, LAST, SOME, ALL_BUT_ONE, ALL, PATTERNS };

/* One row and head: its parts, and the scale of their outputs. */
struct sample {
    struct prng *random;
    int n, d;
    double most; /* no output is larger: sums stay within the declared types */
};

/* The sum of 12 uniform numbers: about normal, with the variance 1. */
static double normal(struct prng *random) {
    double sum = 0.0;
    for (int i = 0; i < 12; i++) {
        sum += merge_uniform(random) * 0.5;
    }
    return sum;
}

static int is_short(int type) {
    return type == CP_FP16;
}

/* Outputs, and sums of all that a row has, stay far below 65504 where something is kept in
 * binary16 (MERGING-9). */
static double most_of(const struct cp_merge_kernel *kernel, int n_parts) {
    const struct cp_merging_class *a = &kernel->arithmetic;
    int sums = is_short(a->values) || is_short(a->partials);
    int numbers = is_short(kernel->o_type) || is_short(a->out_type);
    return sums ? 16000.0 / (n_parts > 0 ? n_parts : 1) : numbers ? 30000.0 : 0x1p20;
}

/* ---- Log-sum-exps, in nats ---- */

static double far_from_zero(struct prng *random) {
    static const double at[] = {90.0, 120.0, 300.0, 1000.0, 5000.0, 20000.0, 70000.0, 100000.0};
    return at[prng_below(random, 8)];
}

static void weigh(const struct sample *s, enum merge_values values, double *l) {
    static const double log_of[] = {0.0, NATS, 0x1.193ea7aad030bp+0, 2 * NATS}; /* ln 1 .. ln 4 */
    double from = merge_uniform(s->random) * 5.0;
    int selected = s->n > 0 ? prng_below(s->random, s->n) : 0;
    double away = values == MERGE_LOW    ? -far_from_zero(s->random)
                  : values == MERGE_HIGH ? far_from_zero(s->random)
                                         : 0.0;
    if (values == MERGE_EMPTY) {
        static const double at[] = {0.0, 0.0, -3.0, 3.0, -300.0, 300.0};
        away = at[prng_below(s->random, 6)];
    }
    for (int i = 0; i < s->n; i++) {
        double step = 1.0 + fabs(merge_uniform(s->random));
        switch (values) {
        case MERGE_COUNT:
            l[i] = log_of[prng_below(s->random, 4)];
            break;
        case MERGE_SELECT:
            l[i] = from - (i == selected ? 0.0 : 20.0 + 40.0 * fabs(merge_uniform(s->random)));
            break;
        case MERGE_EQUAL:
            l[i] = from;
            break;
        case MERGE_LIGHT:
            l[i] = from - (i == selected ? 0.0 : 8.0 * step * fabs(merge_uniform(s->random)));
            break;
        case MERGE_RISING:
            l[i] = from + 2.0 * i + step;
            break;
        case MERGE_FALLING:
            l[i] = from - 2.0 * i - step;
            break;
        case MERGE_APART:
            l[i] = 3000.0 * normal(s->random);
            break;
        default:
            l[i] = away + 2.0 * normal(s->random);
        }
    }
}

/* Where parts without keys have a finite log-sum-exp, all others are larger: by 16 at least, for
 * results between two merges to be so, too. */
static void keep_above(double least, double *l, int n) {
    double lowest = n > 0 ? l[0] : 0.0;
    for (int i = 1; i < n; i++) {
        lowest = l[i] < lowest ? l[i] : lowest;
    }
    for (int i = 0; i < n && lowest < least; i++) {
        l[i] += least - lowest;
    }
}

/* ---- Outputs ---- */

/* Part i has a 1 or a 2 in some places, the others of a group of d have not. */
static void fill_counted(const struct sample *s, int i, double *o) {
    for (int e = 0; e < s->d; e++) {
        o[e] = (e - i) % (s->n < s->d ? s->n : s->d) == 0 ? 1.0 + prng_below(s->random, 2) : 0.0;
    }
}

static void fill_selected(const struct sample *s, int i, double *o) {
    for (int e = 0; e < s->d; e++) {
        o[e] = 1 + (7 * i + 3 * e + prng_below(s->random, 3)) % 61;
    }
}

/* Numbers of light parts are larger, and those of the heaviest one 0 half of the time, so that the
 * light ones make up the result. */
static void fill_light(const struct sample *s, double below, double *o) {
    int gap = (int)(below * LOG_2), heaviest = below == 0.0 && prng_below(s->random, 2) == 0;
    double scale = ldexp(1.0, gap < MOST_LIGHT ? gap : MOST_LIGHT);
    for (int e = 0; e < s->d; e++) {
        double x = normal(s->random);
        o[e] = heaviest ? 0.0 : scale * x;
    }
}

static void fill_normal(const struct sample *s, double scale, double *o) {
    for (int e = 0; e < s->d; e++) {
        o[e] = scale * normal(s->random);
    }
}

static double within(double x, double most) {
    return x > most ? most : x < -most ? -most : x;
}

/* ---- Sums (MERGING-12) ---- */

/* From 1 to CP_MERGE_MOST_SUM: a whole number, as keys of equal scores have it, or one between.
 * Sums that are stored or added up stay below `most`. */
static double sum_of(const struct sample *s, const struct cp_merge_kernel *kernel,
                     const double *o) {
    const struct cp_merging_class *a = &kernel->arithmetic;
    int sums = is_short(a->values) || is_short(a->partials) || kernel->form == CP_FORM_UNDIVIDED;
    double largest = 1.0, n = exp2(8.5 * (1.0 + merge_uniform(s->random)));
    int whole = prng_below(s->random, 2), one = prng_below(s->random, 8) == 0;
    for (int e = 0; e < s->d && sums; e++) {
        largest = fmax(largest, fabs(o[e]));
    }
    double most = sums ? fmin(CP_MERGE_MOST_SUM, s->most / largest) : CP_MERGE_MOST_SUM;
    n = one || n > most ? 1.0 : whole ? floor(n) : n;
    return gate_round(kernel->l_type, n);
}

/* A part of the row and head as m and n: what it finishes to takes the place of o and l. */
static void give_by_sums(struct merge_problem *p, const struct sample *s, ptrdiff_t number,
                         int is_counted) {
    const struct cp_merge_kernel *k = p->kernel;
    double *o = p->o + number * s->d, l = p->l[number];
    double n = sum_of(s, k, o), whole = exp(l * (k->base == CP_BASE_2 ? NATS : 1.0));
    if (is_counted && whole < 5.0 && prng_below(s->random, 2) == 0) { /* m is 0, exactly */
        n = floor(whole + 0.5);
    }
    double logarithm = k->base == CP_BASE_2 ? log2(n) : log(n);
    p->n[number] = n;
    p->m[number] = gate_round(k->l_type, fabs(l - logarithm) < 0x1p-20 ? 0.0 : l - logarithm);
    p->l[number] = p->m[number] + logarithm;
    for (int e = 0; e < s->d && k->form == CP_FORM_UNDIVIDED; e++) {
        o[e] = gate_round(k->o_type, n * o[e]) / n;
    }
}

/* ---- Parts without keys ---- */

static int is_empty(struct prng *random, enum pattern pattern, int i, int n, int kept) {
    return pattern == FIRST         ? i == 0
           : pattern == LAST        ? i == n - 1
           : pattern == SOME        ? prng_below(random, 2) == 0
           : pattern == ALL_BUT_ONE ? i != kept
                                    : pattern == ALL;
}

/* A row keeps a key where the kernel gets no others. */
static void empty_some(const struct merge_problem *p, struct prng *random, int n, double *const o[],
                       double *const l[]) {
    enum pattern pattern = (enum pattern)prng_below(random, PATTERNS);
    int kept = n > 0 ? prng_below(random, n) : 0;
    int keeps = (p->kernel->never & CP_NEVER_EMPTY_ROWS) != 0;
    for (int i = 0; i < n; i++) {
        int empty = is_empty(random, pattern, i, n, kept);
        unsigned long long seed = prng_next(random);
        if (empty && !(keeps && i == kept)) {
            *l[i] = -INFINITY;
            if (p->n != NULL) {
                p->m[l[i] - p->l] = -INFINITY;
                p->n[l[i] - p->l] = 0.0;
            }
            merge_garbage(p->kernel, seed, merge_o_type(p->kernel, i), p->recipe.head_dim, o[i]);
        }
    }
}

/* ---- All ---- */

static void fill_pair(struct merge_problem *p, struct prng *random, int row, int head) {
    static const double scales[] = {1.0, 1.0, 1.0, 0x1p-6, 0x1p5};
    const struct merge_recipe *r = &p->recipe;
    struct sample s = {random, merge_parts_of(p, row), r->head_dim, most_of(p->kernel, r->n_parts)};
    double nats[CP_MERGE_MOST_PARTS], *o[CP_MERGE_MOST_PARTS], *l[CP_MERGE_MOST_PARTS];
    double largest = -INFINITY, scale = scales[prng_below(random, 5)];
    double unit = p->kernel->base == CP_BASE_2 ? LOG_2 : 1.0;
    weigh(&s, r->values, nats);
    if (p->kernel->empty_l == CP_EMPTY_L_VALUE) {
        double value = p->kernel->empty_l_value / unit;
        keep_above(value + 16.0 + 0x1p-10 * fabs(value), nats, s.n);
    }
    for (int i = 0; i < s.n; i++) {
        ptrdiff_t number = (ptrdiff_t)(p->begin[row] + i) * r->n_heads + head;
        o[i] = p->o + number * r->head_dim;
        l[i] = p->l + number;
        largest = nats[i] > largest ? nats[i] : largest;
    }
    for (int i = 0; i < s.n; i++) {
        if (r->values == MERGE_COUNT || r->values == MERGE_MANY) {
            fill_counted(&s, i, o[i]);
        } else if (r->values == MERGE_SELECT) {
            fill_selected(&s, i, o[i]);
        } else if (r->values == MERGE_LIGHT) {
            fill_light(&s, largest - nats[i], o[i]);
        } else {
            fill_normal(&s, scale, o[i]);
        }
        for (int e = 0; e < r->head_dim; e++) {
            o[i][e] = gate_round(merge_o_type(p->kernel, i), within(o[i][e], s.most));
        }
        *l[i] = gate_round(merge_l_type(p->kernel, i), nats[i] * unit);
        if (p->n != NULL) {
            give_by_sums(p, &s, l[i] - p->l, r->values == MERGE_COUNT);
        }
    }
    if (r->empties) {
        empty_some(p, random, s.n, o, l);
    }
}

void merge_values_fill(struct merge_problem *p) {
    struct prng random = {p->recipe.seed};
    for (int row = 0; row < p->recipe.n_rows; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            fill_pair(p, &random, row, head);
        }
    }
}

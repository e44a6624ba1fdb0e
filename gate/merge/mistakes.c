/* SPDX-License-Identifier: Apache-2.0 */
/* A mistake is tried by doing it: on the parts of the wrong row and head, in double, with weights
 * in the range of binary32. Its numbers must agree with all that the kernel wrote there. The hint
 * is for people, and decides nothing. */
#include "gate/merge/mistakes.h"

#include <math.h>
#include <stdlib.h>

#include "chunkproof/number.h"

#define NATS        0x1.62e42fefa39efp-1 /* of a bit */
#define CLOSE       0x1p-20              /* relative, beside the unit of the type and the bound */
#define MOST_OTHERS 4096                 /* rows and heads that are looked at */

/* Mistakes that are no row of the table. */
enum step {
    STALE_O,
    STALE_N,
    LIGHT_PAIRS,
    HEAVIEST,
    OTHER_RESULTS,
    OTHER_WEIGHTS,
    NO_SUMS,
    SUMS_ONCE,
    SUMS_TWICE,
    SUMS_AS_THEY_ARE,
    SUMS_ABOVE_ALONE,
    STEPS
};

/* A row and head: its parts, and what a mistake makes of them. */
struct tried {
    const struct merge_arrays *arrays;
    const struct merge_problem *problem;
    int row, head;
    int n, d, base;
    /* Weights: n exp(m). Of parts with log-sum-exps m is that, and n is 1. */
    double *m, *sum;   /* [n] */
    double *out, *lse; /* [d], and one */
    struct merge_expected right, other;
};

/* How a merge goes wrong in its reference, its weights or its logarithm. All zeros: it does not. */
struct wrong {
    enum { LARGEST, ZERO, LARGEST_OR_FROM, SMALLEST } reference;
    double from;      /* of LARGEST_OR_FROM: where the maximum begins */
    int other_base;   /* of the exponential and the logarithm */
    int undivided;    /* sums are not divided */
    int empty_is_0;   /* the log-sum-exp of a part without keys counts as 0 */
    int multiplies;   /* what a part without keys has is multiplied by the weight 0 */
    int unguarded;    /* -infinity - -infinity is computed */
    int none_of_0;    /* a sum of weights that is 0 counts as no key */
    int sum_of_other; /* the sum has exponentials of the other base, and weights have not */
    int most_in_sum;  /* so many parts count in the sum of weights; 0: all */
    int most;         /* so many parts count; 0: all */
    int first;        /* the first part that counts */
    int all_but_last; /* the last one does not */
    int stops;        /* nothing counts from the first part without keys on */
    int equal;        /* all weights are 1 */
    int shift;        /* part i has the weight of part i + shift */
    int reversed;     /* part i has the weight of part P - 1 - i */
    enum { LSE_RIGHT, LSE_LARGEST, LSE_LOG, LSE_FIRST, LSE_OTHER_BASE, LSE_OTHER_LOG } lse;
};

static double to_exp(int base, double x) {
    return (double)(float)(base == CP_BASE_2 ? exp2(x) : exp(x));
}

static double to_log(int base, double x) {
    return base == CP_BASE_2 ? log2(x) : log(x);
}

static int begin_of(const struct tried *t, const struct wrong *w) {
    return w->first < t->n ? w->first : t->n;
}

static int end_of(const struct tried *t, const struct wrong *w) {
    int end = w->most > 0 && w->most < t->n ? w->most : t->n - w->all_but_last;
    for (int i = 0; w->stops && i < end; i++) {
        end = t->m[i] == -INFINITY ? i : end;
    }
    return end;
}

static int place_of(const struct tried *t, const struct wrong *w, int i) {
    return w->reversed ? t->n - 1 - i : (i + w->shift) % t->n;
}

static double m_of(const struct tried *t, const struct wrong *w, int i) {
    double m = t->m[place_of(t, w, i)];
    return w->equal ? 0.0 : w->empty_is_0 && m == -INFINITY ? 0.0 : m;
}

static double reference_of(const struct tried *t, const struct wrong *w) {
    double m = w->reference == SMALLEST ? INFINITY : -INFINITY;
    for (int i = begin_of(t, w); i < end_of(t, w); i++) {
        double m_i = m_of(t, w, i);
        m = w->reference == SMALLEST ? fmin(m, m_i) : fmax(m, m_i);
    }
    return w->reference == ZERO ? 0.0 : w->reference == LARGEST_OR_FROM ? fmax(m, w->from) : m;
}

static double lse_of(const struct tried *t, const struct wrong *w, double m, double n) {
    int base = w->other_base ? !t->base : t->base;
    double right = m + to_log(base, n);
    switch (w->lse) {
    case LSE_LARGEST:
        return m;
    case LSE_LOG:
        return to_log(base, n);
    case LSE_FIRST:
        return t->n > 0 ? t->m[0] : -INFINITY;
    case LSE_OTHER_BASE:
        return t->base == CP_BASE_2 ? right * NATS : right / NATS;
    case LSE_OTHER_LOG:
        return m + to_log(!base, n);
    default:
        return right;
    }
}

static void nothing(const struct tried *t) {
    for (int e = 0; e < t->d; e++) {
        t->out[e] = 0.0;
    }
    *t->lse = -INFINITY;
}

static void merge_wrongly(const struct tried *t, const struct wrong *w) {
    double m = reference_of(t, w), n = 0.0;
    int base = w->other_base ? !t->base : t->base;
    nothing(t);
    if (m == -INFINITY && !w->unguarded) {
        return;
    }
    for (int i = begin_of(t, w); i < end_of(t, w); i++) {
        const double *o = merge_o_of(t->problem, t->row, i, t->head);
        double sum = t->sum[place_of(t, w, i)], p = to_exp(base, m_of(t, w, i) - m) * sum;
        int counts = p != 0.0 || w->multiplies;
        double in_sum = w->sum_of_other ? to_exp(!base, m_of(t, w, i) - m) * sum : p;
        n += w->most_in_sum > 0 && i >= w->most_in_sum ? 0.0 : in_sum;
        for (int e = 0; e < t->d && counts; e++) {
            t->out[e] += p * o[e];
        }
    }
    if (n == 0.0 && w->none_of_0) {
        nothing(t);
        return;
    }
    for (int e = 0; e < t->d && !w->undivided; e++) {
        t->out[e] /= n;
    }
    *t->lse = lse_of(t, w, m, (double)(float)n);
}

/* Part by part: sums that are not brought to a new reference. */
static void merge_stale(const struct tried *t, int stale_o, int stale_n) {
    double m = -INFINITY, n = 0.0;
    nothing(t);
    for (int i = 0; i < t->n; i++) {
        const double *o = merge_o_of(t->problem, t->row, i, t->head);
        double m_i = t->m[i], m_new = fmax(m, m_i);
        if (m_i == -INFINITY) {
            continue;
        }
        double factor = m == -INFINITY ? 0.0 : to_exp(t->base, m - m_new);
        double p = to_exp(t->base, m_i - m_new) * t->sum[i];
        n = n * (stale_n && m != -INFINITY ? 1.0 : factor) + p;
        for (int e = 0; e < t->d; e++) {
            t->out[e] = t->out[e] * (stale_o ? 1.0 : factor) + p * o[e];
        }
        m = m_new;
    }
    for (int e = 0; e < t->d && n > 0.0; e++) {
        t->out[e] /= n;
    }
    *t->lse = n > 0.0 ? m + to_log(t->base, n) : -INFINITY;
}

/* Result by result: a merged pair goes on with the log-sum-exp of its heavier part. */
static void merge_light_pairs(const struct tried *t) {
    double l = -INFINITY;
    nothing(t);
    for (int i = 0; i < t->n; i++) {
        const double *o = merge_o_of(t->problem, t->row, i, t->head);
        double l_i = merge_l_of(t->problem, t->row, i, t->head), m = fmax(l, l_i);
        if (m == -INFINITY) {
            continue;
        }
        double a = to_exp(t->base, l - m), b = to_exp(t->base, l_i - m);
        for (int e = 0; e < t->d && b > 0.0; e++) {
            t->out[e] = (a * t->out[e] + b * o[e]) / (a + b);
        }
        l = m;
    }
    *t->lse = l;
}

static void take_heaviest(const struct tried *t) {
    int heaviest = 0;
    nothing(t);
    for (int i = 0; i < t->n; i++) {
        heaviest = merge_l_of(t->problem, t->row, i, t->head) >
                           merge_l_of(t->problem, t->row, heaviest, t->head)
                       ? i
                       : heaviest;
    }
    if (t->n > 0 && merge_has_keys(t->problem, t->row, t->head)) {
        const double *o = merge_o_of(t->problem, t->row, heaviest, t->head);
        for (int e = 0; e < t->d; e++) {
            t->out[e] = o[e];
        }
        *t->lse = merge_l_of(t->problem, t->row, heaviest, t->head);
    }
}

/* Parts that are given by sums, with the weight exp(m_i - m): it counts n_i times in the divisor,
 * `times` of it in the sum of outputs as the kernel has them. */
static void merge_sums_wrongly(const struct tried *t, enum step step) {
    const struct merge_problem *p = t->problem;
    double m = -INFINITY, n = 0.0;
    nothing(t);
    for (int i = 0; i < t->n; i++) {
        m = fmax(m, t->m[i]);
    }
    for (int i = 0; i < t->n; i++) {
        const double *o = merge_o_of(p, t->row, i, t->head);
        double sum = t->sum[i], f = t->m[i] > -INFINITY ? to_exp(t->base, t->m[i] - m) : 0.0;
        double times = step == SUMS_TWICE                     ? sum * sum
                       : step == SUMS_ONCE || step == NO_SUMS ? 1.0
                                                              : sum;
        n += step == NO_SUMS || step == SUMS_ABOVE_ALONE ? f
             : step == SUMS_AS_THEY_ARE                  ? sum
                                                         : f * sum;
        for (int e = 0; e < t->d && f > 0.0; e++) {
            t->out[e] += f * times * o[e];
        }
    }
    for (int e = 0; e < t->d && n > 0.0; e++) {
        t->out[e] /= n;
    }
    *t->lse = n > 0.0 ? m + to_log(t->base, n) : -INFINITY;
}

/* ---- Do its numbers agree? ---- */

static double unit_of(int type) {
    return type == CP_FP16 ? 0x1p-10 : type == CP_BF16 ? 0x1p-7 : CLOSE;
}

/* A wrong number must be nearer to the mistake's than to the right one. */
static int agrees(double got, double x, double expected, double bound, int type) {
    if (isnan(got) || isnan(x) || isinf(got) || isinf(x)) {
        return (isnan(got) && isnan(x)) || got == x;
    }
    double slack = isfinite(bound) ? bound : 0.0, away = fabs(got - expected);
    return fabs(got - x) <= 2.0 * slack + unit_of(type) * fabs(x) &&
           (away <= slack || !(fabs(got - x) > 0.5 * away));
}

/* In all numbers of the row and head that were written. */
static int agree(const struct tried *t) {
    const struct cp_merging_class *class = &t->problem->kernel->arithmetic;
    for (int e = 0; e < t->d; e++) {
        if (!agrees(merge_result(t->arrays, t->row, t->head, e), t->out[e], t->right.expected[e],
                    t->right.bound[e], class->out_type)) {
            return 0;
        }
    }
    return !t->problem->recipe.asks_lse ||
           agrees(merge_result(t->arrays, t->row, t->head, -1), *t->lse, t->right.expected[t->d],
                  t->right.bound[t->d], class->lse_type);
}

/* ---- The table ---- */

struct mistake {
    const char *words;
    struct wrong wrong;
};

static const struct mistake mistakes[] = {
    {"a row without keys is computed as any other: -infinity - -infinity is a NaN (MERGING-1)",
     {.unguarded = 1}},
    {"the output of a part without keys is multiplied by the weight 0, and 0 times what is there "
     "is "
     "no 0 (MERGING-9; `empty_o` declares it)",
     {.multiplies = 1}},
    {"the output of a part without keys is multiplied by the weight 0, and a row without keys is "
     "computed as any other (MERGING-9)",
     {.multiplies = 1, .unguarded = 1}},
    {"the maximum begins at 0, and not at -infinity (MERGING-1)",
     {.reference = LARGEST_OR_FROM, .unguarded = 1}},
    {"the maximum begins at 0, and not at -infinity, and a sum of 0 counts as no key (MERGING-1)",
     {.reference = LARGEST_OR_FROM, .none_of_0 = 1}},
    {"the maximum begins at -10000, and not at -infinity (MERGING-1)",
     {.reference = LARGEST_OR_FROM, .from = -1e4, .unguarded = 1}},
    {"the maximum begins at -10000, and not at -infinity, and a sum of 0 counts as no key",
     {.reference = LARGEST_OR_FROM, .from = -1e4, .none_of_0 = 1}},
    {"the maximum begins at -50000, and not at -infinity (MERGING-1)",
     {.reference = LARGEST_OR_FROM, .from = -5e4, .unguarded = 1}},
    {"the maximum begins at -50000, and not at -infinity, and a sum of 0 counts as no key",
     {.reference = LARGEST_OR_FROM, .from = -5e4, .none_of_0 = 1}},
    {"the maximum is not subtracted from log-sum-exps: weights overflow or vanish (MERGING-1)",
     {.reference = ZERO, .unguarded = 1}},
    {"the smallest log-sum-exp is subtracted, and not the largest",
     {.reference = SMALLEST, .unguarded = 1}},
    {"weights are exponentials of the other base; `base` declares it (CONV-1)", {.other_base = 1}},
    {"the sum of weights has exponentials of the other base, and the weights have not",
     {.sum_of_other = 1}},
    {"the log-sum-exp is written in the other base (CONV-1)", {.lse = LSE_OTHER_BASE}},
    {"the logarithm in the log-sum-exp has the other base", {.lse = LSE_OTHER_LOG}},
    {"sums are not divided by the sum of weights", {.undivided = 1}},
    {"sums are not divided, and the log-sum-exp is the largest of the parts'",
     {.undivided = 1, .lse = LSE_LARGEST}},
    {"the log-sum-exp is the largest of the parts', without the logarithm of the sum",
     {.lse = LSE_LARGEST}},
    {"the log-sum-exp is the logarithm of the sum alone: the maximum is not added",
     {.lse = LSE_LOG}},
    {"the log-sum-exp is that of the first part", {.lse = LSE_FIRST}},
    {"a part without keys counts as if its log-sum-exp were 0", {.empty_is_0 = 1, .multiplies = 1}},
    {"only the first two parts count", {.most = 2}},
    {"only the first part counts", {.most = 1}},
    {"only the first 32 parts count", {.most = 32}},
    {"only the first 64 parts count", {.most = 64}},
    {"only the first 128 parts count", {.most = 128}},
    {"only the first 256 parts count", {.most = 256}},
    {"only the first 512 parts count", {.most = 512}},
    {"the sum of weights has only the first 32 parts", {.most_in_sum = 32}},
    {"the sum of weights has only the first 64 parts", {.most_in_sum = 64}},
    {"the sum of weights has only the first 128 parts", {.most_in_sum = 128}},
    {"the sum of weights has only the first 256 parts", {.most_in_sum = 256}},
    {"the last part does not count", {.all_but_last = 1}},
    {"the first part does not count", {.first = 1}},
    {"nothing counts from the first part without keys on", {.stops = 1}},
    {"all parts weigh the same", {.equal = 1, .multiplies = 1}},
    {"each part has the weight of the next one", {.shift = 1}},
    {"each part has the weight of the one before", {.shift = -1}},
    {"parts have the weights in reverse order: the first that of the last", {.reversed = 1}},
};

static const char *const step_words[STEPS] = {
    "the sum of outputs is not rescaled when the maximum grows (MERGE-4)",
    "the sum of weights is not rescaled when the maximum grows (MERGE-4)",
    "a merged pair goes on with the log-sum-exp of its heavier part",
    "the heaviest part is taken, and the others do not count",
    "these are results of another row or head: strides of o, or of out and lse",
    "weights are those of another row or head: strides of l",
    "a part has the weight exp(m): its sum n is left out (MERGING-12)",
    "outputs are taken for sums of weighted values: they are not multiplied by n (MERGING-12)",
    "sums of weighted values are taken for outputs: n multiplies them again (MERGING-12)",
    "sums n are added up as they are, whatever the maxima of their parts (MERGING-12)",
    "the sum of weights has exp(m) of a part, without its n (MERGING-12)",
};

#define TABLE ((int)(sizeof mistakes / sizeof mistakes[0]))

int merge_mistakes(void) {
    return TABLE + STEPS;
}

const char *merge_mistake_words(int i) {
    return i < TABLE ? mistakes[i].words : step_words[i - TABLE];
}

/* Right results, of another row or head that has keys: those of none may come from anywhere. */
static int are_of_others(struct tried *t) {
    const struct merge_problem *p = t->problem;
    int n = p->recipe.n_rows * p->recipe.n_heads, found = 0;
    for (int x = 0; x < n && x < MOST_OTHERS && !found; x++) {
        int row = x / p->recipe.n_heads, head = x % p->recipe.n_heads;
        if ((row != t->row || head != t->head) && merge_certify(p, row, head, &t->other) > 0) {
            for (int e = 0; e < t->d; e++) {
                t->out[e] = t->other.expected[e];
            }
            *t->lse = t->other.expected[t->d];
            found = agree(t);
        }
    }
    return found;
}

/* What the parts of a row and head weigh; of as many as there are in the one that is tried. */
static void take_weights(const struct tried *t, int row, int head) {
    const struct merge_problem *p = t->problem;
    for (int i = 0; i < t->n; i++) {
        t->m[i] = merge_m_of(p, row, i, head);
        t->sum[i] = p->n != NULL ? merge_n_of(p, row, i, head) : 1.0;
    }
}

/* Right outputs, with the log-sum-exps of another row or head. */
static int have_other_weights(struct tried *t) {
    static const struct wrong right = {.reference = LARGEST};
    const struct merge_problem *p = t->problem;
    int n = p->recipe.n_rows * p->recipe.n_heads, found = 0;
    for (int x = 0; x < n && x < MOST_OTHERS && !found; x++) {
        int row = x / p->recipe.n_heads, head = x % p->recipe.n_heads;
        if ((row != t->row || head != t->head) && merge_parts_of(p, row) >= t->n) {
            take_weights(t, row, head);
            merge_wrongly(t, &right);
            found = agree(t);
        }
    }
    take_weights(t, t->row, t->head);
    return found;
}

static int gives(struct tried *t, int mistake) {
    if (mistake < TABLE) {
        struct wrong w = mistakes[mistake].wrong;
        w.shift = w.shift < 0 ? t->n - 1 : w.shift;
        if (t->n > 0) {
            merge_wrongly(t, &w);
        }
        return t->n > 0 && agree(t);
    }
    switch (mistake - TABLE) {
    case STALE_O:
        merge_stale(t, 1, 0);
        break;
    case STALE_N:
        merge_stale(t, 0, 1);
        break;
    case LIGHT_PAIRS:
        merge_light_pairs(t);
        break;
    case HEAVIEST:
        take_heaviest(t);
        break;
    case OTHER_RESULTS:
        return are_of_others(t);
    case OTHER_WEIGHTS:
        return have_other_weights(t);
    default:
        if (t->problem->n == NULL) {
            return 0;
        }
        merge_sums_wrongly(t, (enum step)(mistake - TABLE));
    }
    return agree(t);
}

/* Takes back those that do not give the numbers of this row and head. */
static void try_pair(struct tried *t, unsigned long long *left) {
    take_weights(t, t->row, t->head);
    if (merge_certify(t->problem, t->row, t->head, &t->right) < 0) {
        *left = 0;
    }
    for (int i = 0; i < TABLE + STEPS; i++) {
        if ((*left >> i & 1) != 0 && !gives(t, i)) {
            *left &= ~(1ULL << i);
        }
    }
}

void merge_find_mistakes(const struct merge_arrays *a, struct merge_finding *finding) {
    const struct merge_problem *p = a->problem;
    size_t d = (size_t)p->recipe.head_dim, n = CP_MERGE_MOST_PARTS;
    double *memory = malloc((5 * (d + 1) + 2 * n) * sizeof *memory);
    unsigned long long left = memory != NULL ? (1ULL << (TABLE + STEPS)) - 1 : 0;
    for (int i = 0; i < finding->n_pairs && left != 0; i++) {
        double *out = memory + 4 * (d + 1);
        int row = finding->pair[i].row, head = finding->pair[i].head;
        struct tried t = {.arrays = a,
                          .problem = p,
                          .row = row,
                          .head = head,
                          .n = merge_parts_of(p, row),
                          .d = (int)d,
                          .base = p->kernel->base,
                          .m = out + d + 1,
                          .sum = out + d + 1 + n,
                          .out = out,
                          .lse = out + d,
                          .right = {memory, memory + d + 1},
                          .other = {memory + 2 * (d + 1), memory + 3 * (d + 1)}};
        try_pair(&t, &left);
    }
    finding->mistakes = finding->n_pairs > 0 ? left : 0;
    free(memory);
}

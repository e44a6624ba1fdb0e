/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels. class.c says what each declares. */
#include "fuzz/tolerance/emulate.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/tolerance/shift.h"
#include "tests/random.h"

#define LOG2_E   1.4426950408889634
#define LN_2     0.6931471805599453
#define SENTINEL (-20.0)

struct state {
    double m, n;
    double *o; /* [d] */
};

/* The state of one row's computation. */
struct kernel {
    const struct options *options;
    const struct problem *problem;
    double constant;           /* the scale, with log2(e) if that is folded in, in binary32 */
    unsigned long long random; /* for random orders */
    int overflow;
    int t;          /* chunks */
    double *score;  /* [n] in the kernel's unit: nats, bits, or unscaled */
    double *weight; /* [chunk_size + 1] */
    double *a, *b;  /* [chunk_size + 1 or d]: terms of a sum */
    double *o;      /* [t + 1][d] */
    struct state *state;
    int *left, *right;
};

void options_settle(struct options *o) {
    struct sum *sums[] = {&o->dot, &o->row_sum, &o->value_sum};
    for (int i = 0; i < 3; i++) {
        sums[i]->fused = sums[i]->fused && sums[i]->method != SUM_BLOCKS &&
                         sums[i]->method != SUM_PAIRWISE && i != 1;
        sums[i]->block = sums[i]->block < 1 ? 1 : sums[i]->block;
        if (sums[i]->method == SUM_BLOCKS || i == 1 || o->wrong != RIGHT) {
            sums[i]->promotes = 0;
        }
    }
    if (o->accumulator != CP_FP32) {
        o->value_sum.promotes = 0;
    }
    if (o->input == CP_FP32 && o->scaling == SCALE_BEFORE_16) {
        o->scaling = SCALE_BEFORE;
    }
    if (o->merging == MERGE_RUNNING || o->merging == MERGE_SEPARATE || o->scaling == SCALE_FUSED) {
        o->immediate = 0; /* a log-sum-exp is no unscaled score, and a running state has no parts */
    }
    if (o->merging == MERGE_RUNNING || o->merging == MERGE_SEPARATE || o->split < 1) {
        o->split = 1;
    }
    if (o->merging != MERGE_RUNNING && o->merging != MERGE_SEPARATE && o->split == 1) {
        o->lazy = 0.0;
    }
    o->normalise = o->normalise && o->wrong == RIGHT;
    if (o->normalise) {
        o->merging = MERGE_CHAIN;
        o->split = 1;
        o->lazy = 0.0;
        o->immediate = o->rounded_sum = 0;
    }
    o->undivided = o->undivided && o->immediate;
    o->part_lse = o->immediate ? o->part_lse : CP_PART_LSE_FP32;
    o->moves_apart = o->moves_apart && o->scaling == SCALE_FUSED;
    o->flush = o->flush && o->weights != CP_FP32;
    o->rounded_sum = o->rounded_sum && o->weights != CP_FP32;
}

struct options options_of_row(const struct options *options, int n) {
    struct options o = *options;
    o.chunk_size = o.normalise && n > 0 ? n : o.chunk_size;
    return o;
}

/* ---- Scores ---- */

static double single(double x) {
    return (double)(float)x;
}

/* The query as the dot products take it. */
static void prepare_query(const struct kernel *k, double *q) {
    const struct options *o = k->options;
    for (int i = 0; i < k->problem->d; i++) {
        double x = k->problem->q[i];
        if (o->scaling == SCALE_BEFORE || o->scaling == SCALE_BEFORE_16) {
            x = single(x * k->constant);
        }
        q[i] = o->scaling == SCALE_BEFORE_16 ? sums_round(o->input, x) : x;
    }
}

static void compute_scores(struct kernel *k) {
    const struct problem *p = k->problem;
    const struct options *o = k->options;
    double *q = malloc((size_t)p->d * sizeof *q);
    int d = p->d - (o->wrong == SHORT_DOT && p->d > 1);
    assert(q != NULL);
    prepare_query(k, q);
    for (int j = 0; j < p->n; j++) {
        memcpy(k->a, q, (size_t)d * sizeof *q);
        memcpy(k->b, p->k + (ptrdiff_t)j * p->d, (size_t)d * sizeof *q);
        double sum = sums_products(&o->dot, CP_FP32, k->a, k->b, d, 0.0, &k->random);
        k->overflow |= sums_in_half(&o->dot, CP_FP32) && !isfinite(sum);
        sum = o->scaling == SCALE_AFTER ? single(sum * k->constant) : sum;
        k->score[j] = shifted_score(o, p, j, sum);
    }
    free(q);
}

/* ---- Weights and factors ---- */

static double bias_of(const struct options *o, double z) {
    unsigned long long bits = 0;
    switch (o->bias) {
    case BIAS_UP:
        return 1.0;
    case BIAS_DOWN:
        return -1.0;
    case BIAS_ANY:
        memcpy(&bits, &z, sizeof z);
        return random_uniform(&bits);
    default:
        return 0.0;
    }
}

static double exponential(const struct kernel *k, double z, int bits) {
    const struct options *o = k->options;
    double p = single((bits ? exp2(z) : exp(z)) * (1.0 + o->exp_error * bias_of(o, z)));
    return o->flush_exp && p < 0x1p-126 ? 0.0 : p;
}

static double weight_of(const struct kernel *k, double score, double m) {
    double z = score - m;
    if (k->options->scaling == SCALE_FUSED) {
        z = sums_add_odd(score * k->constant, -single(m * k->constant));
    }
    return exponential(k, single(z), k->options->bits);
}

/* From the reference m to the higher one. */
static double factor(const struct kernel *k, double m, double higher) {
    double z = single(m - higher);
    if (k->options->moves_apart) {
        z = single(single(m * k->constant) - single(higher * k->constant));
    } else if (k->options->scaling == SCALE_FUSED) {
        z = single(z * k->constant);
    }
    int other = k->options->wrong == WRONG_BASE;
    double f = exponential(k, z, other ? !k->options->bits : k->options->bits);
    return k->options->factors == CP_FACTORS_FP16   ? sums_round(CP_FP16, f)
           : k->options->factors == CP_FACTORS_BF16 ? sums_round(CP_BF16, f)
                                                    : f;
}

/* With its error, before it is rounded. */
static double divided(const struct options *o, double x, double n) {
    return x / n * (1.0 + o->divide_error * bias_of(o, n));
}

/* x / n, or x (1 / n), in binary32. */
static double quotient(const struct options *o, double x, double n) {
    double by = o->epsilon > 0.0 ? single(n + o->epsilon) : n;
    return o->reciprocal ? single(x * single(divided(o, 1.0, by))) : single(divided(o, x, by));
}

static double rounded_weight(const struct options *o, double p) {
    double smallest = o->weights == CP_FP16 ? 0x1p-14 : 0x1p-126;
    double rounded = sums_round(o->weights, p);
    return o->flush && rounded < smallest ? 0.0 : rounded;
}

/* ---- A chunk ---- */

static double to_accumulator(struct kernel *k, double x) {
    double y = sums_round(k->options->accumulator, x);
    k->overflow |= k->options->accumulator == CP_FP16 && isinf(y);
    return y;
}

static double largest_score(const struct kernel *k, int first, int n) {
    double m = k->options->wrong == SENTINEL_MAXIMUM ? SENTINEL : -INFINITY;
    for (int j = first; j < first + n; j++) {
        m = fmax(m, k->score[j]);
    }
    return m;
}

/* Which row of V goes with key j of the row. */
static int value_row(const struct kernel *k, int j, int first, int n) {
    int chunk = first / k->options->chunk_size;
    switch (k->options->wrong) {
    case VALUE_ROW_OFF:
        return chunk == k->t / 2 ? first + (j + 1 - first) % n : j;
    case STALE_VALUES:
        return chunk == k->t - 1 && chunk > 0 ? j - k->options->chunk_size : j;
    default:
        return j;
    }
}

/* Weights become quotients, rounded. */
static void normalise(struct kernel *k, int n, double sum) {
    for (int j = 0; j < n; j++) {
        k->weight[j] = rounded_weight(k->options, quotient(k->options, k->weight[j], sum));
    }
}

/* Adds n keys from `first` on to the state, whose reference is s->m; weights are made at m. */
static void sum_keys(struct kernel *k, int first, int n, double m, struct state *s) {
    const struct options *o = k->options;
    const struct problem *p = k->problem;
    for (int j = 0; j < n; j++) {
        double weight = weight_of(k, k->score[first + j], m);
        k->weight[j] = o->normalise ? weight : rounded_weight(o, weight);
        k->a[j] = o->rounded_sum ? k->weight[j] : weight;
    }
    s->n = sums_products(&o->row_sum, CP_FP32, k->a, NULL, n, s->n, &k->random);
    if (o->normalise) {
        normalise(k, n, s->n);
    }
    for (int x = 0; x < p->d; x++) {
        memcpy(k->a, k->weight, (size_t)n * sizeof *k->a);
        for (int j = 0; j < n; j++) {
            k->b[j] = p->v[(ptrdiff_t)value_row(k, first + j, first, n) * p->d + x];
        }
        s->o[x] = sums_products(&o->value_sum, o->accumulator, k->a, k->b, n, s->o[x], &k->random);
        k->overflow |= sums_in_half(&o->value_sum, o->accumulator) && !isfinite(s->o[x]);
    }
    int last_is_short = n < o->chunk_size && first + n >= p->n;
    if (o->wrong == PADDING_COUNTED && last_is_short) {
        s->n = single(s->n + weight_of(k, 0.0, m));
    }
    if (o->wrong == POISON_READ && last_is_short) {
        s->o[0] += 0.0 * NAN;
    }
}

/* How many keys the kernel takes chunk i to have. */
static int keys_of(const struct kernel *k, int i) {
    int c = k->options->chunk_size, n = k->problem->n, left = n - i * c;
    switch (k->options->wrong) {
    case KEY_DROPPED:
        return i == k->t - 1 ? left - 1 : c;
    case KEY_TWICE:
        return i == 0 && n > c ? c + 1 : left < c ? left : c;
    case CHUNK_DROPPED:
        return i == k->t / 2 && k->t > 1 ? 0 : left < c ? left : c;
    case TAIL_DROPPED:
        return left < c && k->t > 1 ? 0 : left < c ? left : c;
    default:
        return left < c ? left : c;
    }
}

static void clear(const struct kernel *k, struct state *s) {
    s->n = k->options->wrong == WRONG_IDENTITY ? 1.0 : 0.0;
    memset(s->o, 0, (size_t)k->problem->d * sizeof *s->o);
}

/* ---- Merges ---- */

static double logarithm_added(const struct kernel *k, double m, double n) {
    return single(m + single(k->options->bits ? log2(n) : log(n)));
}

/* NUM-22: as it is kept. */
static double log_sum_exp(const struct options *o, double l) {
    return o->part_lse == CP_PART_LSE_FP32
               ? l
               : sums_round(o->part_lse == CP_PART_LSE_FP16 ? CP_FP16 : CP_BF16, l);
}

/* factor x + factor' x', each product and the sum rounded, or the first product not. */
static double combine(const struct options *o, int type, double f, double x, double f2, double x2) {
    double second = sums_round(type, f2 * x2);
    if (o->fused_merge) {
        return sums_round(type, sums_add_odd(f * x, second));
    }
    return sums_round(type, sums_round(type, f * x) + second);
}

/* For parts that are divided: where their sum is not divided, the reference is its log-sum-exp. */
static double reference_of(const struct kernel *k, const struct state *s, int n) {
    double m = s[0].m, sum = 0.0;
    for (int i = 1; i < n; i++) {
        m = fmax(m, s[i].m);
    }
    for (int i = 0; i < n && k->options->undivided; i++) {
        sum = single(sum + factor(k, s[i].m, m));
    }
    return k->options->undivided ? logarithm_added(k, m, sum) : m;
}

static void merge(struct kernel *k, struct state *a, const struct state *b) {
    const struct options *o = k->options;
    struct state both[] = {*a, *b};
    double m = reference_of(k, both, 2);
    double of_a = factor(k, a->m, m), of_b = factor(k, b->m, m);
    if (o->wrong == FACTORS_SWAPPED) {
        double x = of_a;
        of_a = of_b;
        of_b = x;
    }
    int plain = o->wrong == MEAN_OF_PARTS;
    double n_a = plain || o->wrong == NO_RESCALE_N ? 1.0 : of_a, n_b = plain ? 1.0 : of_b;
    double o_a = plain || o->wrong == NO_RESCALE_O ? 1.0 : of_a, o_b = n_b;
    a->n = o->undivided              ? 1.0
           : o->wrong == SUM_OF_LAST ? b->n
                                     : combine(o, CP_FP32, n_a, a->n, n_b, b->n);
    for (int x = 0; x < k->problem->d; x++) {
        a->o[x] = combine(o, o->accumulator, o_a, a->o[x], o_b, b->o[x]);
        k->overflow |= o->accumulator == CP_FP16 && isinf(a->o[x]);
    }
    a->m = o->undivided ? log_sum_exp(o, m) : m;
}

/* Divides the state at once: n = 1. Where something is added to n, half of the kernels have it in
 * the log-sum-exp. */
static void divide_state(struct kernel *k, struct state *s) {
    const struct options *o = k->options;
    double by = o->epsilon > 0.0 ? single(s->n + o->epsilon) : s->n;
    double inverse = single(divided(o, 1.0, by));
    for (int x = 0; x < k->problem->d; x++) {
        s->o[x] = to_accumulator(k, o->reciprocal ? s->o[x] * inverse : divided(o, s->o[x], by));
    }
    s->m = log_sum_exp(o, logarithm_added(k, s->m, (o->seed >> 16 & 1) != 0 ? by : s->n));
    s->n = 1.0;
}

static void store(struct kernel *k, struct state *s) {
    if (k->options->partials == CP_FP32) {
        return;
    }
    s->n = sums_round(k->options->partials, s->n);
    k->overflow |= isinf(s->n);
    for (int x = 0; x < k->problem->d; x++) {
        s->o[x] = sums_round(k->options->partials, s->o[x]);
        k->overflow |= isinf(s->o[x]);
    }
}

int merge_plan(const struct options *o, int t, int *left, int *right) {
    unsigned long long random = o->seed;
    int *live = malloc((size_t)t * sizeof *live), *height = calloc((size_t)t, sizeof *height);
    int n = t, merges = 0, highest = 0;
    assert(live != NULL && height != NULL);
    for (int i = 0; i < t; i++) {
        live[i] = i;
    }
    while (n > 1) {
        int before = n, i = 0;
        /* one merge; of a balanced tree, one level */
        do {
            int a = i, b = i + 1;
            if (o->merging == MERGE_RANDOM) {
                a = random_below(&random, n);
                b = random_below(&random, n - 1);
                b += b >= a;
            }
            int x = live[a], y = live[b];
            left[merges] = x;
            right[merges++] = y;
            height[x] = 1 + (height[x] > height[y] ? height[x] : height[y]);
            highest = height[x] > highest ? height[x] : highest;
            memmove(live + b, live + b + 1, (size_t)(n - b - 1) * sizeof *live);
            n--;
            i++;
        } while (o->merging == MERGE_BALANCED && i < before / 2);
    }
    free(live);
    free(height);
    return highest;
}

/* ---- The whole row ---- */

/* Chunks `from` to `to` on one state; `part` is for sums made apart. */
static void run_on(struct kernel *k, int from, int to, struct state *s, struct state *part) {
    const struct options *o = k->options;
    clear(k, s);
    s->m = largest_score(k, from * o->chunk_size, keys_of(k, from));
    for (int i = from; i < to; i++) {
        int n = keys_of(k, i), first = i * o->chunk_size;
        double unit = o->scaling == SCALE_FUSED ? k->constant : 1.0;
        double m = largest_score(k, first, n), old = s->m;
        if (n == 0) {
            continue;
        }
        if (i > from && m - s->m > o->lazy / unit) {
            double f = factor(k, s->m, m);
            s->n = o->wrong == NO_RESCALE_N ? s->n : single(f * s->n);
            for (int x = 0; x < k->problem->d && o->wrong != NO_RESCALE_O; x++) {
                s->o[x] = to_accumulator(k, f * s->o[x]);
            }
            s->m = m;
        }
        int times = o->wrong == CHUNK_TWICE && i == k->t / 2 ? 2 : 1;
        double at = o->wrong == STALE_MAXIMUM ? old : s->m;
        for (int again = 0; again < times; again++) {
            if (o->merging != MERGE_SEPARATE) {
                sum_keys(k, first, n, at, s);
                continue;
            }
            part->n = 0.0;
            memset(part->o, 0, (size_t)k->problem->d * sizeof *part->o);
            sum_keys(k, first, n, at, part);
            s->n = o->wrong == SUM_OF_LAST ? part->n : single(s->n + part->n);
            for (int x = 0; x < k->problem->d; x++) {
                s->o[x] = to_accumulator(k, s->o[x] + part->o[x]);
            }
        }
        if (i < to - 1) {
            store(k, s);
        }
    }
}

/* One chunk by itself. */
static void sum_chunk(struct kernel *k, int i, struct state *s, const struct state *before) {
    const struct options *o = k->options;
    int n = keys_of(k, i), stale = o->wrong == STALE_MAXIMUM && before != NULL;
    clear(k, s);
    s->m = largest_score(k, i * o->chunk_size, n);
    sum_keys(k, i * o->chunk_size, n, stale ? before->m : s->m, s);
}

/* Makes a state for each `split` chunks. Returns how many there are. */
static int make_parts(struct kernel *k) {
    const struct options *o = k->options;
    int t = 0;
    for (int i = 0; i < k->t; i += o->split) {
        int to = i + o->split < k->t ? i + o->split : k->t;
        int times = o->split == 1 && o->wrong == CHUNK_TWICE && i == k->t / 2 ? 2 : 1;
        for (; times > 0 && (o->split > 1 || keys_of(k, i) > 0); times--, t++) {
            struct state *s = &k->state[t];
            if (o->split > 1) {
                run_on(k, i, to, s, &k->state[k->t]);
            } else {
                sum_chunk(k, i, s, t > 0 ? s - 1 : NULL);
            }
            if (o->immediate) {
                divide_state(k, s);
            }
            if (k->t > o->split) {
                store(k, s);
            }
        }
    }
    return t;
}

/* Merges all states into the first. */
static void merge_at_once(struct kernel *k, int t) {
    struct state *s = k->state;
    double m = reference_of(k, s, t), first = factor(k, s[0].m, m);
    s[0].n = single(first * s[0].n);
    for (int x = 0; x < k->problem->d; x++) {
        s[0].o[x] = to_accumulator(k, first * s[0].o[x]);
    }
    for (int i = 1; i < t; i++) {
        double f = factor(k, s[i].m, m);
        s[0].n = combine(k->options, CP_FP32, f, s[i].n, 1.0, s[0].n);
        for (int x = 0; x < k->problem->d; x++) {
            s[0].o[x] = to_accumulator(
                k, combine(k->options, k->options->accumulator, f, s[i].o[x], 1.0, s[0].o[x]));
        }
    }
    s[0].n = k->options->undivided ? 1.0 : s[0].n;
    s[0].m = k->options->undivided ? log_sum_exp(k->options, m) : m;
}

/* MERGE_CHAIN, MERGE_BALANCED, MERGE_RANDOM */
static void merge_by_plan(struct kernel *k, int t) {
    const struct options *o = k->options;
    merge_plan(o, t, k->left, k->right);
    for (int i = 0; i < t - 1; i++) {
        struct state *s = &k->state[k->left[i]];
        merge(k, s, &k->state[k->right[i]]);
        if (o->immediate && !o->undivided) {
            divide_state(k, s);
        }
        if (i < t - 2) {
            store(k, s);
        }
    }
    if (t > 1 && k->left[t - 2] != 0) {
        k->state[0] = k->state[k->left[t - 2]];
    }
}

static void run_tree(struct kernel *k) {
    const struct options *o = k->options;
    int t = make_parts(k);
    if (t == 0) { /* only where a key was dropped */
        clear(k, &k->state[0]);
        k->state[0].m = 0.0;
    } else if (o->merging != MERGE_AT_ONCE) {
        merge_by_plan(k, t);
    } else if (t > 1) {
        merge_at_once(k, t);
        if (o->immediate && !o->undivided) {
            divide_state(k, &k->state[0]);
        }
    }
}

static void finish(struct kernel *k, struct result *result) {
    const struct options *o = k->options;
    const struct state *s = &k->state[0];
    for (int x = 0; x < k->problem->d; x++) {
        double q = s->o[x];
        if (!o->immediate && !o->normalise && o->wrong != NO_DIVISION) {
            q = quotient(o, q, s->n);
        }
        result->out[x] = o->wrong == ALL_ZERO ? 0.0 : sums_round(o->output, q);
        if (o->wrong == SENTINEL_MAXIMUM && s->n == 0.0) {
            result->out[x] = 0.0;
        }
    }
    double log_n = single(o->bits ? log2(s->n) : log(s->n));
    double m = o->scaling == SCALE_FUSED ? single(s->m * k->constant) : s->m;
    double nats = o->bits ? LN_2 : 1.0;
    result->lse = (o->immediate ? m : single(m + log_n)) * nats;
    result->lse_of = (fabs(m) + fabs(log_n)) * nats;
    result->overflow = k->overflow;
}

static void allocate(struct kernel *k) {
    size_t n = (size_t)k->problem->n, d = (size_t)k->problem->d, t = (size_t)k->t + 1;
    size_t c = (size_t)k->options->chunk_size + 1, most = c > d ? c : d;
    double *numbers = calloc(n + c + 2 * most + t * d, sizeof *numbers);
    k->state = calloc(t, sizeof *k->state);
    k->left = calloc(2 * t, sizeof *k->left);
    assert(numbers != NULL && k->state != NULL && k->left != NULL);
    k->right = k->left + t;
    k->score = numbers;
    k->weight = k->score + n;
    k->a = k->weight + c;
    k->b = k->a + most;
    k->o = k->b + most;
    for (size_t i = 0; i < t; i++) {
        k->state[i].o = k->o + i * d;
    }
}

void emulate(const struct options *asked, const struct problem *problem, struct result *result) {
    const struct options taken = options_of_row(asked, problem->n), *options = &taken;
    const double log2_e = options->bits ? LOG2_E : 1.0;
    struct kernel k = {.options = options, .problem = problem, .random = options->seed};
    double scale = options->wrong == SCALE_WRONG ? problem->scale * problem->scale : problem->scale;
    k.constant = single(scale * log2_e);
    k.t = (problem->n + options->chunk_size - 1) / options->chunk_size;
    allocate(&k);
    compute_scores(&k);
    if (options->merging == MERGE_RUNNING || options->merging == MERGE_SEPARATE) {
        run_on(&k, 0, k.t, &k.state[0], &k.state[1]);
    } else {
        run_tree(&k);
    }
    finish(&k, result);
    double unit = options->scaling == SCALE_FUSED ? problem->scale : options->bits ? LN_2 : 1.0;
    result->largest_score = 0.0;
    for (int j = 0; j < problem->n; j++) {
        result->largest_score = fmax(result->largest_score, fabs(k.score[j]) * unit);
    }
    free(k.score);
    free(k.state);
    free(k.left);
}

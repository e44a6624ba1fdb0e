/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/inputs.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/tolerance/shift.h"
#include "tests/random.h"

const char *family_name(enum family family) {
    static const char *const names[N_FAMILIES] = {
        "normal",     "massive", "one-hot", "ties",  "shifted", "far",       "subnormal",  "offset",
        "cancelling", "wide",    "rising",  "equal", "edges",   "underflow", "adversarial"};
    return names[family];
}

void problem_new(struct problem *problem, int most_n, int most_d) {
    size_t row = (size_t)most_d, all = (size_t)most_n * row;
    double *numbers = malloc((row + 2 * all + (size_t)most_n) * sizeof *numbers);
    assert(numbers != NULL);
    problem->n = 0;
    problem->d = 0;
    problem->scale = 1.0;
    problem->q = numbers;
    problem->k = numbers + row;
    problem->v = numbers + row + all;
    problem->shift = NULL;
    problem->room = numbers + row + 2 * all;
}

void problem_free(struct problem *problem) {
    free(problem->q);
    problem->q = NULL;
}

/* A number of mean 0 and variance 1, nearly normal, from two words: four terms from one, and finer
 * terms from the other. */
static double normal_number(unsigned long long *random) {
    unsigned long long x = random_bits(random);
    double sum = (double)((x & 0xFFFF) + (x >> 16 & 0xFFFF) + (x >> 32 & 0xFFFF) + (x >> 48));
    return ((sum + random_uniform(random)) * 0x1p-16 - 2.0) * 1.7320508;
}

/* ---- Keys ---- */

static double one_query(enum family family, int x, unsigned long long *random) {
    double normal = normal_number(random);
    switch (family) {
    case EQUAL:
        return 0.0;
    case FAR:
        return x == 0 ? 64.0 : normal;
    case SHIFTED:
    case RISING:
        return x == 0 ? 2.0 : normal;
    case ADVERSARIAL:
        return x == 0 ? 1.0 + fabs(normal) : 0.5 * normal;
    case UNDERFLOW:
        return x == 0 ? 1.0 : 0.0;
    default:
        return normal;
    }
}

/* A score, as a power of 2, at which the weight is barely a number of P's format, or no longer
 * one. */
static double lowest_weight(const struct options *o, unsigned long long *random) {
    double least = o->weights == CP_FP16 ? -14.0 : -126.0;
    return least - 5.0 + 6.0 * random_uniform(random);
}

/* A key at the end of a range: of the row, of its first, middle and last chunk. */
static int is_edge(const struct problem *p, const struct options *o, int j) {
    int c = o->chunk_size, middle = p->n / c / 2 * c, last = (p->n - 1) / c * c;
    return j == 0 || j == c - 1 || j == c || j == p->n - 1 || j == last || j == last - 1 ||
           j == middle || j == middle + c - 1;
}

static double one_key(const struct problem *p, const struct options *o, enum family family, int j,
                      int x, unsigned long long *random) {
    double normal = normal_number(random);
    switch (family) {
    case MASSIVE:
        return x < 2 ? 50.0 * normal : normal;
    case ONE_HOT:
        return j == p->n / 3 ? 6.0 * p->q[x] : normal;
    case TIES:
        return x == 0 ? random_below(random, 3) - 1.0 : 0.25 * (x % 5);
    case SHIFTED:
        return x == 0 ? -200.0 / p->scale / 2.0 : normal;
    case FAR:
        return x == 0 ? (o->seed & 1 ? 70000.0 : -70000.0) / 64.0 / p->scale : normal;
    case SUBNORMAL:
        return 0x1p-20 * normal;
    case RISING:
        return x == 0 ? 4.0 * j / p->n : normal * 0.25;
    case EDGES:
        return 0.25 * normal + (is_edge(p, o, j) ? 2.0 * p->q[x] : 0.0);
    case UNDERFLOW:
        return x > 0 || j == 0 ? 0.0 : lowest_weight(o, random) * 0.6931 / p->scale;
    case WIDE:
        return ldexp(normal, random_below(random, 8) - 6);
    default:
        return normal;
    }
}

static double one_value(const struct options *o, enum family family, int j,
                        unsigned long long *random) {
    double normal = normal_number(random);
    switch (family) {
    case SUBNORMAL:
        return 0x1p-24 * normal;
    case OFFSET:
        return 100.0 + normal;
    case CANCELLING:
        return (j % 2 == 0 ? 1.0 : -1.0) * (3.0 + 0.001 * normal);
    case WIDE:
        return ldexp(normal, random_below(random, 24) - 14);
    case UNDERFLOW:
        return j == 0 ? 0.0
                      : ldexp(normal, o->weights == CP_FP16 || o->input == CP_FP16 ? 12 : 120);
    default:
        return normal;
    }
}

static double score_of(const struct problem *p, int j) {
    double score = 0.0;
    for (int x = 0; x < p->d; x++) {
        score += p->q[x] * p->k[(ptrdiff_t)j * p->d + x];
    }
    return p->scale * score;
}

/* Values of similar magnitude that all have the sign of the rounding error of their weights, or all
 * the opposite sign: the errors add up. The weights are those of a kernel that is otherwise exact,
 * at the references that it has: the largest score of the chunk, or the largest so far. */
static void sign_values(struct problem *p, const struct options *o, unsigned long long *random) {
    int running = o->merging == MERGE_RUNNING || o->merging == MERGE_SEPARATE;
    double m = -INFINITY;
    for (int j = 0; j < p->n; j++) {
        if (j % o->chunk_size == 0) {
            m = running ? m : -INFINITY;
            for (int i = j; i < p->n && i < j + o->chunk_size; i++) {
                m = fmax(m, score_of(p, i));
            }
        }
        double w = exp(score_of(p, j) - m);
        double sign = sums_round(o->weights, w) < w ? -1.0 : 1.0;
        for (int x = 0; x < p->d; x++) {
            double size = 1.0 + 0.1 * fabs(normal_number(random));
            double v = sign * (x % 2 == 0 ? 1.0 : -1.0) * size;
            p->v[(ptrdiff_t)j * p->d + x] = sums_round(o->input, v);
        }
    }
}

void problem_fill(struct problem *p, enum family family, const struct options *options,
                  unsigned long long *random) {
    p->scale = 1.0 / sqrt(p->d);
    for (int x = 0; x < p->d; x++) {
        p->q[x] = sums_round(options->input, one_query(family, x, random));
    }
    for (int j = 0; j < p->n; j++) {
        for (int x = 0; x < p->d; x++) {
            ptrdiff_t at = (ptrdiff_t)j * p->d + x;
            p->k[at] = sums_round(options->input, one_key(p, options, family, j, x, random));
            p->v[at] = sums_round(options->input, one_value(options, family, j, random));
        }
    }
    if (family == ADVERSARIAL) {
        sign_values(p, options, random);
    }
}

void problem_size(struct problem *p, int most_n, int most_d, unsigned long long *random) {
    static const int reach[] = {2, 4, 8, 16, 16, 32, 32, 64, 64, 128};
    int rare = random_below(random, 200);
    int most = rare == 0 ? 2048 : rare < 6 ? 512 : reach[random_below(random, 10)];
    p->n = 1 + random_below(random, most < most_n ? most : most_n);
    p->d = 1 + random_below(random, most_d);
    static const int usual[] = {16, 32, 64, 80, 96, 128};
    int d = usual[random_below(random, 6)];
    p->d = random_below(random, 2) == 0 && d <= most_d ? d : p->d;
}

/* ---- Kernels ---- */

static int one_of(unsigned long long *random, int a, int b, int c) {
    int which = random_below(random, 3);
    return which == 0 ? a : which == 1 ? b : c;
}

static struct sum random_sum(unsigned long long *random) {
    static const int methods[] = {SUM_SEQUENTIAL, SUM_SEQUENTIAL, SUM_PAIRWISE,
                                  SUM_LANES,      SUM_BLOCKS,     SUM_BLOCKS};
    struct sum sum = {.promotes = 0};
    sum.method = (enum sum_method)methods[random_below(random, 6)];
    sum.order = (enum sum_order)random_below(random, N_SUM_ORDERS);
    sum.fused = random_below(random, 2);
    sum.block = one_of(random, 4, 8, 16);
    sum.truncating = random_below(random, 2);
    sum.fraction = sum.truncating ? 23 + random_below(random, 4) : 40;
    return sum;
}

/* One sum in six, by sums of up to 64 products. */
static void promote(struct sum *sum, unsigned long long *random) {
    int promotes = 1 << random_below(random, 7), type = one_of(random, CP_FP16, CP_FP16, CP_BF16);
    sum->promotes = random_below(random, 6) == 0 ? promotes : 0;
    sum->short_type = type;
}

/* Drawn from numbers of their own, so that all that is drawn elsewhere stays as it was. */
static void more_options(struct options *o) {
    unsigned long long own = o->seed ^ 0x9E3779B97F4A7C15ULL, *random = &own;
    static const double errors[] = {0.0, 0.0, 0x1p-22, 0x1p-12}, added[] = {0.0, 0.0, 1e-9, 1e-3};
    int short_type = random_below(random, 3);
    if (short_type == 0 && o->accumulator == CP_FP16) {
        o->accumulator = CP_BF16;
    }
    if (short_type == 0 && o->partials == CP_FP16) {
        o->partials = CP_BF16;
    }
    o->factors = random_below(random, 4) == 0 ? 1 + random_below(random, 2) : CP_FACTORS_FP32;
    o->divide_error = errors[random_below(random, 4)];
    o->epsilon = added[random_below(random, 4)];
    o->normalise = random_below(random, 6) == 0 && !o->rounded_sum;
    promote(&o->dot, random);
    promote(&o->value_sum, random);
    int of_lse = random_below(random, 6);
    o->part_lse = of_lse == 1   ? CP_PART_LSE_FP16
                  : of_lse == 2 ? CP_PART_LSE_BF16
                                : CP_PART_LSE_FP32;
}

void options_random(struct options *o, int n, unsigned long long *random) {
    static const int chunks[] = {1, 2, 3, 16, 16, 32, 64, 64, 128};
    static const double errors[] = {0.0, 0.0, 0x1p-23, 0x1p-22, 0x1p-18, 0x1p-12};
    memset(o, 0, sizeof *o);
    o->input = one_of(random, CP_FP16, CP_BF16, CP_FP32);
    o->scaling = (enum scaling)random_below(random, N_SCALINGS);
    o->bits = random_below(random, 2);
    o->moves_apart = random_below(random, 2);
    o->dot = random_sum(random);
    o->row_sum = random_sum(random);
    o->value_sum = random_sum(random);
    o->exp_error = errors[random_below(random, 6)];
    o->bias = (enum bias)random_below(random, N_BIASES);
    o->flush_exp = random_below(random, 2);
    o->weights = one_of(random, CP_FP32, CP_FP16, CP_BF16);
    o->flush = random_below(random, 3) == 0;
    o->rounded_sum = random_below(random, 3) == 0;
    o->accumulator = random_below(random, 6) == 0 ? CP_FP16 : CP_FP32;
    o->partials = random_below(random, 3) == 0 ? CP_FP16 : CP_FP32;
    o->merging = (enum merging)random_below(random, N_MERGINGS);
    o->fused_merge = random_below(random, 2);
    o->lazy = random_below(random, 3) == 0 ? random_below(random, 6) : 0.0;
    o->immediate = random_below(random, 3) == 0;
    o->reciprocal = random_below(random, 2);
    o->output = one_of(random, CP_FP32, CP_FP16, CP_BF16);
    o->chunk_size = chunks[random_below(random, 9)];
    while (n / o->chunk_size > 128) { /* more merges than that claim little in binary16 */
        o->chunk_size *= 2;
    }
    o->split = random_below(random, 2) == 0 ? 1 : 2 + random_below(random, 6);
    o->undivided = random_below(random, 2);
    o->seed = random_bits(random);
    more_options(o);
    options_settle(o);
}

void mass_case(unsigned long long seed, struct options *options, enum family *family,
               struct problem *problem) {
    unsigned long long random = seed;
    problem_size(problem, MASS_MOST_KEYS, MASS_MOST_DIM, &random);
    options_random(options, problem->n, &random);
    *family = (enum family)random_below(&random, N_FAMILIES);
    problem_fill(problem, *family, options, &random);
    problem_shift(problem, seed);
}

static const char *type_name(int type) {
    return type == CP_FP16 ? "FP16" : type == CP_BF16 ? "BF16" : "FP32";
}

static const char *sum_name(const struct sum *s, char *text, size_t size) {
    static const char *const methods[] = {"sequential", "pairwise", "lanes", "blocks"};
    static const char *const orders[] = {"", " backward", " shuffled"};
    int n = snprintf(text, size, "%s%s%s", methods[s->method], orders[s->order],
                     s->fused ? " fused" : "");
    if (s->method == SUM_BLOCKS) {
        snprintf(text + n, size - (size_t)n, " of %d, %d bits, %s", s->block, s->fraction,
                 s->truncating ? "cut off" : "rounded");
    }
    if (s->promotes > 0) {
        snprintf(text + n, size - (size_t)n, ", %d in %s, promoted", s->promotes,
                 type_name(s->short_type));
    }
    return text;
}

void options_print(const struct options *o, char *text, int size) {
    static const char *const scalings[] = {"after", "before", "before, rounded", "fused"};
    static const char *const mergings[] = {"running",  "separate", "chain",
                                           "balanced", "random",   "at once"};
    static const char *const biases[] = {"none", "any", "up", "down"};
    char dot[80], row_sum[80], value_sum[80];
    snprintf(text, (size_t)size,
             "input %s; dot %s; scale %s%s%s; exp error %.3g (%s)%s; P %s%s; row sum of %s P, %s; "
             "o in %s, %s; partials %s; merges %s%s of %d, chunks of %d, wait %g; %s division%s%s; "
             "output %s; factors %s, division within %.3g, n + %.3g%s; log-sum-exps %s",
             type_name(o->input), sum_name(&o->dot, dot, sizeof dot), scalings[o->scaling],
             o->bits ? ", bits" : "", o->moves_apart ? ", moves apart" : "", o->exp_error,
             biases[o->bias], o->flush_exp ? " flushed" : "", type_name(o->weights),
             o->flush ? " flushed" : "", o->rounded_sum ? "rounded" : "unrounded",
             sum_name(&o->row_sum, row_sum, sizeof row_sum), type_name(o->accumulator),
             sum_name(&o->value_sum, value_sum, sizeof value_sum), type_name(o->partials),
             mergings[o->merging], o->fused_merge ? " fused" : "", o->split, o->chunk_size, o->lazy,
             o->immediate ? "immediate" : "deferred", o->reciprocal ? " by 1/n" : "",
             o->undivided ? " but of merges" : "", type_name(o->output),
             o->factors == CP_FACTORS_FP16   ? "FP16"
             : o->factors == CP_FACTORS_BF16 ? "BF16"
                                             : "FP32",
             o->divide_error, o->epsilon, o->normalise ? ", P divided by n" : "",
             o->part_lse == CP_PART_LSE_FP16   ? "FP16"
             : o->part_lse == CP_PART_LSE_BF16 ? "BF16"
                                               : "FP32");
}

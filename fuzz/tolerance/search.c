/* SPDX-License-Identifier: Apache-2.0 */
/* Adversarial inputs by hill climbing: for each kind of kernel, what makes error / bound largest?
 * It changes single bits of q, k and v, copies and drops numbers, and changes orders and the
 * exponential's error. In every other start the scores are shifted (NUM-14), and it changes the
 * shifts, too.
 *
 *     search       CHUNKPROOF_STEPS for each start (20000), CHUNKPROOF_STARTS (4), CHUNKPROOF_SEED
 * (1)
 *
 * Writes build/tolerance/search.csv. Exit status: 0 no bound exceeded, and one attained to 0.9
 * where the output is in binary32 (its rounding is no merit); 1 otherwise. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/tolerance/judge.h"
#include "fuzz/tolerance/kinds.h"
#include "fuzz/tolerance/setting.h"
#include "tests/random.h"

#define MOST_KEYS 16
#define MOST_DIM  4
#define ATTAINED  0.9
#define LARGEST   0x1p10 /* limit of q, k and v: for larger numbers no bound is finite */

/* What is being changed: the kernel's free choices and the numbers. */
struct candidate {
    struct options options;
    int n, d;
    double q[MOST_DIM], k[MOST_KEYS * MOST_DIM], v[MOST_KEYS * MOST_DIM];
    int shifted;
    double shift[MOST_KEYS];
};

static struct problem problem_of(struct candidate *c) {
    return (struct problem){
        c->n, c->d, 1.0 / sqrt(c->d), c->q, c->k, c->v, c->shifted ? c->shift : NULL, NULL};
}

static double ratio_of(struct candidate *c, int exactly) {
    static struct judgement j;
    struct problem p = problem_of(c);
    judge(&c->options, &c->options, &p, exactly, &j);
    return j.no_execution ? 0.0 : j.worst;
}

/* ---- Changes ---- */

/* Flips one bit of a number of the input's format. */
static double flip(int type, double x, unsigned long long *random) {
    if (type == CP_FP32) {
        float y = (float)x;
        uint32_t bits;
        memcpy(&bits, &y, sizeof bits);
        bits ^= 1U << random_below(random, 32);
        memcpy(&y, &bits, sizeof y);
        return (double)y;
    }
    uint16_t bit = (uint16_t)(1U << random_below(random, 16));
    return type == CP_FP16 ? cp_fp16_to_double(cp_fp16_from_double(x) ^ bit)
                           : cp_bf16_to_double(cp_bf16_from_double(x) ^ bit);
}

static double *number(struct candidate *c, unsigned long long *random) {
    int keys = c->n * c->d;
    if (c->shifted && random_below(random, 6) == 0) {
        return &c->shift[random_below(random, c->n)];
    }
    switch (random_below(random, 5)) {
    case 0:
        return &c->q[random_below(random, c->d)];
    case 1:
    case 2:
        return &c->k[random_below(random, keys)];
    default:
        return &c->v[random_below(random, keys)];
    }
}

static void change_number(struct candidate *c, unsigned long long *random) {
    double *x = number(c, random), old = *x;
    switch (random_below(random, 8)) {
    case 0:
        *x = -old;
        break;
    case 1:
        *x = *number(c, random);
        break;
    case 2:
        *x = random_below(random, 2) == 0 ? 0.0 : 2.0 * old;
        break;
    case 3:
        *x = sums_round(c->options.input, random_normal(random));
        break;
    default:
        *x = flip(c->options.input, old, random);
    }
    if (!(fabs(*x) <= LARGEST)) {
        *x = old;
    }
}

/* Adds a key, a copy of another; or removes one. */
static void change_size(struct candidate *c, unsigned long long *random) {
    int from = random_below(random, c->n), to = c->n;
    size_t row = (size_t)c->d * sizeof c->k[0];
    if (c->n > 1 && random_below(random, 2) == 0) {
        c->n--;
        from = c->n;
        to = random_below(random, c->n + 1);
    } else if (c->n < MOST_KEYS) {
        c->n++;
    } else {
        return;
    }
    memmove(c->k + (ptrdiff_t)to * c->d, c->k + (ptrdiff_t)from * c->d, row);
    memmove(c->v + (ptrdiff_t)to * c->d, c->v + (ptrdiff_t)from * c->d, row);
    c->shift[to] = c->shift[from];
}

static void change_order(struct candidate *c, unsigned long long *random) {
    struct options *o = &c->options;
    switch (random_below(random, 5)) {
    case 0:
        o->value_sum.order = (enum sum_order)random_below(random, N_SUM_ORDERS);
        break;
    case 1:
        o->row_sum.order = (enum sum_order)random_below(random, N_SUM_ORDERS);
        break;
    case 2:
        o->chunk_size = 1 << random_below(random, 5);
        break;
    case 3:
        o->bias = o->exp_error > 0.0 ? (enum bias)random_below(random, N_BIASES) : BIAS_NONE;
        break;
    default:
        o->seed = random_bits(random);
    }
}

static void change(struct candidate *c, unsigned long long *random) {
    int times = 1 + random_below(random, 3);
    for (int i = 0; i < times; i++) {
        int what = random_below(random, 12);
        if (what == 0) {
            change_size(c, random);
        } else if (what == 1) {
            change_order(c, random);
        } else {
            change_number(c, random);
        }
    }
}

/* ---- Climbing ---- */

static void start(struct candidate *c, int kind, int shifted, unsigned long long *random) {
    memset(c, 0, sizeof *c);
    c->options = kind_options(kind);
    c->options.chunk_size = 1 << random_below(random, 5);
    c->options.seed = random_bits(random);
    c->n = 1 + random_below(random, MOST_KEYS);
    c->d = 1 << random_below(random, 3);
    struct problem p = problem_of(c);
    int family = random_below(random, 2) == 0 ? NORMAL : ADVERSARIAL;
    problem_fill(&p, (enum family)family, &c->options, random);
    c->shifted = shifted;
    for (int j = 0; shifted && j < c->n; j++) {
        c->shift[j] = sums_round(c->options.input, random_normal(random));
    }
}

struct climb {
    double first, best; /* error / bound */
    struct candidate candidate;
};

static struct climb climb(int kind, long starts, long steps, unsigned long long *random) {
    struct climb top = {0.0, -1.0, {.n = 0}};
    for (long s = 0; s < starts; s++) {
        struct candidate now, next;
        start(&now, kind, s % 2 == 1, random);
        double ratio = ratio_of(&now, 0), first = ratio;
        for (long i = 0; i < steps && ratio <= 1.0; i++) {
            next = now;
            change(&next, random);
            double other = ratio_of(&next, 0);
            if (other >= ratio) {
                ratio = other;
                now = next;
            }
        }
        ratio = ratio_of(&now, 1); /* compared with the truth */
        if (ratio > top.best) {
            top = (struct climb){first, ratio, now};
        }
    }
    return top;
}

static void print_numbers(const char *name, const double *x, int n) {
    printf("  %s", name);
    for (int i = 0; i < n; i++) {
        printf(" %a", x[i]);
    }
    printf("\n");
}

static void print_candidate(const struct candidate *c) {
    char text[1024];
    options_print(&c->options, text, sizeof text);
    printf("  %s\n  %d keys, d %d, seed %llu\n", text, c->n, c->d, c->options.seed);
    print_numbers("q", c->q, c->d);
    print_numbers("k", c->k, c->n * c->d);
    print_numbers("v", c->v, c->n * c->d);
    print_numbers("shift", c->shift, c->shifted ? c->n : 0);
}

int main(void) {
    long starts = setting("CHUNKPROOF_STARTS", 4), steps = setting("CHUNKPROOF_STEPS", 20000);
    unsigned long long random = (unsigned long long)setting("CHUNKPROOF_SEED", 1);
    double attained = 0.0;
    int exceeded = 0;
    (void)mkdir("build", 0777);
    (void)mkdir("build/tolerance", 0777);
    FILE *csv = fopen("build/tolerance/search.csv", "w");
    if (csv == NULL) {
        perror("search: build/tolerance/search.csv");
        return 1;
    }
    fprintf(csv, "kernel,output,start,largest\n");
    printf("largest error / bound, by hill climbing\n%-48s  start   found\n", "kernel");
    for (int kind = 0; kind < N_KINDS; kind++) {
        struct climb top = climb(kind, starts, steps, &random);
        int single = top.candidate.options.output == CP_FP32;
        printf("%-48s  %.4f  %.4f\n", kind_name(kind), top.first, top.best);
        fprintf(csv, "\"%s\",%s,%.6f,%.6f\n", kind_name(kind), single ? "FP32" : "16 bits",
                top.first, top.best);
        if (!(top.best <= 1.0)) {
            print_candidate(&top.candidate);
            exceeded++;
        }
        attained = single ? fmax(attained, top.best) : attained;
        (void)fflush(stdout);
    }
    (void)fclose(csv);
    printf("kernels %d, attained %.4f, exceeded %d\n", N_KINDS, attained, exceeded);
    return exceeded == 0 && attained >= ATTAINED ? 0 : 1;
}

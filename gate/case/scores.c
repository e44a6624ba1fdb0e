/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/case/scores.h"

#include <math.h>
#include <stdlib.h>

#include "chunkproof/kernel.h"
#include "chunkproof/number.h"
#include "cli/base/random.h"
#include "gate/case/values.h"

#define OCTAVES 8.0 /* from a slope of 1 to the last one of ALiBi */

#define STEEP 6       /* one table of so many has biases far apart */
#define ALONE 8       /* distances below it have buckets of their own */
#define ORDER 4194304 /* above all bucket numbers and distances of a table, of either sign */

/* ---- Recipes ---- */

/* Eighths: from one that all scores reach to one that hardly any does. */
static const int caps[] = {4, 8, 20, 40, 120, 160, 240, 400, 800, 8000};
#define CAPS ((int)(sizeof caps / sizeof caps[0]))

/* About how many keys the longest sequence has. */
static int longest_of(const struct gate_recipe *r) {
    int longest = 1;
    for (int i = 0; i < r->n_ops; i++) {
        int keys = r->op[i].tokens + r->op[i].own;
        longest = keys > longest ? keys : longest;
    }
    return longest;
}

/* Entries that few distances of a row need, about as many as some chunks, any, or about all of
 * them; or more than all. */
static int any_entries(struct prng *random, int c, int longest) {
    int kind = prng_below(random, 5);
    int n = kind == 0   ? 1 + prng_below(random, 4)
            : kind == 1 ? c * (1 + prng_below(random, 3)) - 1 + prng_below(random, 3)
            : kind == 2 ? 1 + prng_below(random, longest)
            : kind == 3 ? longest - 2 + prng_below(random, 4)
                        : longest + 1 + prng_below(random, longest);
    return n < 1 ? 1 : n > GATE_MOST_BIASES ? GATE_MOST_BIASES : n;
}

/* Beside slopes there is no table: where a kernel takes both, one of the two is left out. */
static void choose_biases(struct gate_recipe *r, int scores) {
    struct prng random = {r->seed ^ 0xB1A5E5ULL};
    int kind = prng_below(&random, GATE_BIASES + 1), c = r->chunk_size;
    int n = any_entries(&random, c, longest_of(r)), ahead = prng_below(&random, 4);
    int own = ahead == 0   ? 0
              : ahead == 1 ? 1 + prng_below(&random, 4)
              : ahead == 2 ? prng_below(&random, c + 2)
                           : prng_below(&random, n / 2 + 1);
    int instead = prng_below(&random, 2);
    r->biases = r->n_biases = r->own_bias = 0;
    if ((scores & CP_SCORES_BIASES) == 0 || kind == GATE_NO_BIASES ||
        (r->slopes != GATE_NO_SLOPES && !instead)) {
        return;
    }
    r->slopes = GATE_NO_SLOPES;
    r->biases = kind == GATE_BIASES ? GATE_ANY_BIASES : kind;
    r->n_biases = n;
    r->own_bias = own < n ? own : n - 1;
}

void gate_recipe_scores(struct gate_recipe *r, int scores) {
    struct prng random = {r->seed ^ 0x5C02E5ULL};
    int cap = prng_below(&random, 4) == 0 ? 0 : caps[prng_below(&random, CAPS)];
    int slopes = prng_below(&random, GATE_SLOPES + 1);
    int sinks = prng_below(&random, 4) != 0;
    slopes = slopes == GATE_SLOPES ? GATE_ANY_SLOPES : slopes;
    r->cap = (scores & CP_SCORES_CAP) != 0 ? cap : 0;
    r->slopes = (scores & CP_SCORES_SLOPES) != 0 ? slopes : GATE_NO_SLOPES;
    r->sinks = (scores & CP_SCORES_SINKS) != 0 ? sinks : 0;
    choose_biases(r, scores);
}

int gate_recipe_changes(const struct gate_recipe *r) {
    return (r->cap > 0 ? CP_SCORES_CAP : 0) | (r->slopes > 0 ? CP_SCORES_SLOPES : 0) |
           (r->sinks > 0 ? CP_SCORES_SINKS : 0) | (r->biases > 0 ? CP_SCORES_BIASES : 0);
}

/* ---- Slopes ---- */

/* A power of two with a fraction that is linear between: the same on every machine. */
static double slope_of_alibi(int head, int heads) {
    double octaves = OCTAVES * (head + 1) / heads, whole = floor(octaves);
    return ldexp(1.0 - 0.5 * (octaves - whole), -(int)whole);
}

/* Times the longest sequence it is from 2^-3 to 2^4. It has all digits of bfloat16, so that a
 * product with a large distance has more than binary32. */
static double any_slope(struct prng *random, int longest) {
    double size = ldexp(1.0 + prng_below(random, 128) / 128.0, prng_below(random, 7) - 3);
    int kind = prng_below(random, 8);
    for (int n = 1; n < longest; n *= 2) {
        size *= 0.5;
    }
    return kind == 0 ? 0.0 : kind < 4 ? -size : size;
}

static void fill_slopes(struct gate_problem *p) {
    struct prng random = {p->seed ^ 0x510FE5ULL};
    int h = p->recipe.n_heads, longest = 1;
    for (int s = 0; s < p->b; s++) {
        int positions = gate_positions(p, s);
        longest = positions > longest ? positions : longest;
    }
    for (int a = 0; a < h; a++) {
        double slope =
            p->recipe.slopes == GATE_ALIBI ? slope_of_alibi(a, h) : any_slope(&random, longest);
        p->scores.slopes[a] = (float)gate_round(CP_BF16, slope);
    }
}

/* ---- Biases ---- */

/* 8 to 11, 12 to 15, 16 to 23, 24 to 31, 32 to 47 ...; and the same ahead of the row. */
static int bucket_of(int distance) {
    int far = distance < 0 ? -distance : distance, length = ALONE, bucket = ALONE;
    if (far < ALONE) {
        return distance;
    }
    for (; far >= 2 * length; length *= 2) {
        bucket += 2;
    }
    bucket += far >= length + length / 2;
    return distance < 0 ? -bucket : bucket;
}

/* Of either sign, from 2^-3 to 2^2, with all digits of bfloat16: as large as scores, and another
 * one for nearly every place. In one case of STEEP they are from 2^3 to 2^8: a maximum that is
 * taken without them gives weights beyond each format. */
static float any_bias(const struct gate_problem *p, int head, int place) {
    struct prng random = {(p->seed ^ 0x7AB1EULL) + ((unsigned long long)head << 40)};
    prng_skip(&random, (unsigned long long)(ORDER + place));
    struct prng of_place = {prng_next(&random)};
    double size = ldexp(1.0 + prng_below(&of_place, 128) / 128.0, prng_below(&of_place, 5) - 3);
    size *= p->recipe.seed / 64 % STEEP == 0 ? 64.0 : 1.0;
    return (float)(prng_below(&of_place, 2) == 0 ? size : -size);
}

static void fill_biases(struct gate_problem *p) {
    int n = p->scores.n_biases;
    for (int a = 0; a < p->recipe.n_heads; a++) {
        float *biases = p->scores.biases + (ptrdiff_t)a * n;
        for (int i = 0; i < n; i++) {
            int distance = i - p->scores.own_bias;
            int place = p->recipe.biases == GATE_BUCKETS ? bucket_of(distance) : distance;
            biases[i] = any_bias(p, a, place);
        }
    }
}

int gate_scores_new(struct gate_problem *p, int scores) {
    size_t h = (size_t)p->recipe.n_heads;
    if (p->scores.n_biases > 0) {
        p->scores.biases = malloc(h * (size_t)p->scores.n_biases * sizeof *p->scores.biases);
        if (p->scores.biases == NULL) {
            return -1;
        }
        fill_biases(p);
    }
    if ((scores & CP_SCORES_SLOPES) != 0 && p->recipe.slopes != GATE_NO_SLOPES) {
        p->scores.slopes = malloc(h * sizeof *p->scores.slopes);
        if (p->scores.slopes == NULL) {
            return -1;
        }
        fill_slopes(p);
    }
    if ((scores & CP_SCORES_SINKS) != 0 && p->recipe.sinks != 0) {
        p->scores.sinks = calloc(h, sizeof *p->scores.sinks);
        return p->scores.sinks == NULL ? -1 : 0;
    }
    return 0;
}

/* ---- Scores ---- */

double gate_bias_distance(const struct gate_scores *scores, int key, int row) {
    double distance = (double)key - row;
    if (scores->biases != NULL) {
        return fmax(0.0, fmin(scores->own_bias - distance, scores->n_biases - 1.0));
    }
    return scores->bias == CP_BIAS_POSITION   ? key
           : scores->bias == CP_BIAS_DISTANCE ? -fabs(distance)
                                              : distance;
}

double gate_bias_of(const struct gate_scores *scores, int head, double distance) {
    ptrdiff_t row = (ptrdiff_t)head * scores->n_biases;
    return scores->slopes != NULL   ? (double)scores->slopes[head] * distance
           : scores->biases != NULL ? (double)scores->biases[row + (ptrdiff_t)distance]
                                    : 0.0;
}

double gate_change_score(double cap, int order, double s, double bias) {
    s += order == CP_CAP_LAST ? bias : 0.0;
    s = cap > 0.0 ? cap * tanh(s / cap) : s;
    return s + (order == CP_CAP_LAST ? 0.0 : bias);
}

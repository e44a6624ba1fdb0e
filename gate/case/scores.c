/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/case/scores.h"

#include <math.h>
#include <stdlib.h>

#include "chunkproof/kernel.h"
#include "chunkproof/number.h"
#include "cli/base/random.h"
#include "gate/case/values.h"

#define OCTAVES 8.0 /* from a slope of 1 to the last one of ALiBi */

/* ---- Recipes ---- */

/* Eighths: from one that all scores reach to one that hardly any does. */
static const int caps[] = {4, 8, 20, 40, 120, 160, 240, 400, 800, 8000};
#define CAPS ((int)(sizeof caps / sizeof caps[0]))

void gate_recipe_scores(struct gate_recipe *r, int scores) {
    struct prng random = {r->seed ^ 0x5C02E5ULL};
    int cap = prng_below(&random, 4) == 0 ? 0 : caps[prng_below(&random, CAPS)];
    int slopes = prng_below(&random, GATE_SLOPES + 1);
    int sinks = prng_below(&random, 4) != 0;
    slopes = slopes == GATE_SLOPES ? GATE_ANY_SLOPES : slopes;
    r->cap = (scores & CP_SCORES_CAP) != 0 ? cap : 0;
    r->slopes = (scores & CP_SCORES_SLOPES) != 0 ? slopes : GATE_NO_SLOPES;
    r->sinks = (scores & CP_SCORES_SINKS) != 0 ? sinks : 0;
}

int gate_recipe_changes(const struct gate_recipe *r) {
    return (r->cap > 0 ? CP_SCORES_CAP : 0) | (r->slopes > 0 ? CP_SCORES_SLOPES : 0) |
           (r->sinks > 0 ? CP_SCORES_SINKS : 0);
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
    struct prng random = {p->recipe.seed ^ 0x510FE5ULL};
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

int gate_scores_new(struct gate_problem *p, int scores) {
    size_t h = (size_t)p->recipe.n_heads;
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
    return scores->bias == CP_BIAS_POSITION   ? key
           : scores->bias == CP_BIAS_DISTANCE ? -fabs(distance)
                                              : distance;
}

double gate_change_score(double cap, int order, double s, double bias) {
    s += order == CP_CAP_LAST ? bias : 0.0;
    s = cap > 0.0 ? cap * tanh(s / cap) : s;
    return s + (order == CP_CAP_LAST ? 0.0 : bias);
}

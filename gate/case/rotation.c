/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-14: the table of a case, and the keys that are rotated by it. An example of a head of 4
 * numbers, all rotated, in halves. The pairs are (k0, k2) and (k1, k3), and row t of the table is
 * c0 c1 s0 s1:
 *
 *     key      k0 k1 k2 k3
 *     rotated  c0 k0 - s0 k2,  c1 k1 - s1 k3,  s0 k0 + c0 k2,  s1 k1 + c1 k3
 *     terms    c0 k0, -s0 k2;  c0 k2, s0 k0;   c1 k1, -s1 k3;  c1 k3, s1 k1
 *     of q     q0,    q0;      q2,    q2;      q1,    q1;      q3,    q3
 */
#include "gate/case/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/random.h"
#include "gate/case/prompts.h"

#define PART_EVERY  4    /* one recipe in so many rotates a part of each head, */
#define PART_FIRST  3    /* in the first attempts */
#define ALIKE_EVERY 3    /* one module in so many is the text of the one before it */
#define OCTAVES     13.0 /* from the largest angle of a position to the least */
#define LENGTH      1.25 /* of the rows of some tables, as some encodings of long contexts have */

/* ---- Recipes ---- */

/* Each second prompt has module m, and not the one of the same text before it. */
static void import_alike(struct gate_recipe *r, int m) {
    for (int i = 1; i < r->n_ops; i += 2) {
        r->op[i].sequence = (r->op[i].sequence & ~(1 << (m - 1))) | 1 << m;
    }
}

/* A module is the text of the one before it: both have as many tokens. */
static void make_alike(struct gate_recipe *r, struct prng *random) {
    for (int m = 1; m < r->n_modules; m++) {
        struct gate_module *one = &r->module[m - 1], *other = &r->module[m];
        if (!one->alike && prng_below(random, ALIKE_EVERY) == 0) {
            int n = one->tokens < other->tokens ? one->tokens : other->tokens;
            one->tokens = other->tokens = n;
            other->alike = 1;
            import_alike(r, m);
        }
    }
}

void gate_recipe_rotate(struct gate_recipe *r, int attempt, const struct gate_shape *shape) {
    struct prng random = {r->seed ^ 0x207A7EULL};
    int any_length = shape == NULL || shape->keys == 0;
    if (prng_below(&random, PART_EVERY) == 0 && attempt < PART_FIRST) {
        r->rotary = r->head_dim / 2 / 2 * 2;
    }
    if (!gate_values_have_order(r->values) && any_length) {
        make_alike(r, &random);
    }
}

/* ---- The table ---- */

int gate_has_quarter_turns(enum gate_values values) {
    switch (values) {
    case GATE_NORMAL:
    case GATE_MASSIVE:
    case GATE_ONE_HOT:
    case GATE_OFFSET:
    case GATE_SUBNORMAL:
    case GATE_ZERO:
        return 0;
    default:
        return 1;
    }
}

int gate_rotary_dim(const struct gate_problem *p) {
    int d = p->recipe.head_dim, part = p->recipe.rotary;
    return p->rotation.keys == CP_KEYS_PLACED ? 0 : (part > 0 && part < d ? part : d) / 2 * 2;
}

/* Cosine and sine of an angle, exact but for rounding. */
struct turn {
    double c, s;
};

static struct turn add_turns(struct turn a, struct turn b) {
    return (struct turn){a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s};
}

/* The turn of pair i for one position: its angle is 2 atan(1/2) for the first pair, and OCTAVES
 * octaves less for the last. By products alone, which give the same numbers on every machine. */
static struct turn turn_of_pair(int i, int pairs) {
    double octaves = pairs > 1 ? OCTAVES * i / (pairs - 1) : 0.0, whole = floor(octaves);
    double half = ldexp(1.0 - 0.5 * (octaves - whole), -1 - (int)whole); /* its tangent */
    double square = half * half;
    return (struct turn){(1.0 - square) / (1.0 + square), 2.0 * half / (1.0 + square)};
}

double gate_rotation_length(const struct gate_problem *p) {
    int longer = !gate_has_quarter_turns(p->recipe.values) && (p->recipe.seed >> 17 & 1) != 0;
    return longer ? LENGTH : 1.0;
}

/* Angles of a rotary encoding: each turn follows from the one 64 positions before it, or from the
 * last one, so that few roundings add up. */
static void fill_angles(struct gate_rotation *r, int n_angles, double length) {
    int half = r->dim / 2;
    for (int i = 0; i < half; i++) {
        struct turn one = turn_of_pair(i, half), many = {1.0, 0.0}, block = {1.0, 0.0};
        for (int step = 0; step < 64; step++) {
            many = add_turns(many, one);
        }
        struct turn at = block;
        for (int t = 0; t < n_angles; t++) {
            if (t % 64 == 0) {
                block = t == 0 ? block : add_turns(block, many);
                at = block;
            }
            float *row = r->table + (size_t)t * (size_t)r->dim;
            row[i] = (float)(length * at.c);
            row[half + i] = (float)(length * at.s);
            at = add_turns(at, one);
        }
    }
}

/* Any quarter turn for each row and pair. */
static void fill_quarters(struct gate_rotation *r, int n_angles, unsigned long long seed) {
    static const float cosines[] = {1.0F, 0.0F, -1.0F, 0.0F};
    struct prng random = {seed ^ 0x90DE6ULL};
    int half = r->dim / 2;
    for (int t = 0; t < n_angles; t++) {
        float *row = r->table + (size_t)t * (size_t)r->dim;
        for (int i = 0; i < half; i++) {
            unsigned turn = (unsigned)(prng_next(&random) >> 61) & 3;
            row[i] = cosines[turn];
            row[half + i] = cosines[(turn + 3) % 4];
        }
    }
}

/* Rows for all positions of keys, and none for the slots behind them. */
void gate_rotation_count(struct gate_problem *p) {
    int n = 1;
    for (int at = 0; at < p->b * p->table_width; at++) {
        int end = p->table[at] >= 0 ? p->table_position[at] + p->table_tokens[at] : 0;
        n = end > n ? end : n;
    }
    p->rotation.n_angles = p->rotation.keys == CP_KEYS_PLACED ? 0 : n;
}

int gate_rotation_new(struct gate_problem *p) {
    struct gate_rotation *r = &p->rotation;
    if (r->keys == CP_KEYS_PLACED) {
        return 0;
    }
    gate_rotation_count(p);
    int n = r->n_angles + p->recipe.chunk_size; /* a run may grow */
    r->table = malloc(((size_t)n * (size_t)r->dim + 1) * sizeof *r->table);
    if (r->table == NULL) {
        return -1;
    }
    if (gate_has_quarter_turns(p->recipe.values)) {
        fill_quarters(r, n, p->recipe.seed);
    } else {
        fill_angles(r, n, gate_rotation_length(p));
    }
    return 0;
}

/* ---- Keys ---- */

int gate_angle_of(const struct gate_problem *p, int s, int j) {
    if (p->rotation.keys == CP_KEYS_PLACED) { /* no walk over its runs */
        return 0;
    }
    return p->rotation.keys == CP_KEYS_LOCAL
               ? p->table_position[s * p->table_width + gate_run_of(p, s, j)]
               : gate_position_of(p, s, j);
}

struct gate_pair gate_numbers_of_pair(const struct gate_rotation *r, int pair) {
    int beside = r->pairs == CP_PAIRS_NEIGHBOURS, half = r->dim / 2;
    return (struct gate_pair){beside ? 2 * pair : pair, beside ? 2 * pair + 1 : pair + half, 0.0,
                              0.0};
}

struct gate_pair gate_pair_of(const struct gate_rotation *r, int angle, int pair) {
    const float *row = r->table + (size_t)angle * (size_t)r->dim;
    struct gate_pair at = gate_numbers_of_pair(r, pair);
    at.c = (double)row[pair];
    at.s = (double)row[r->dim / 2 + pair];
    return at;
}

void gate_rotate(const struct gate_rotation *r, int angle, double *x) {
    for (int i = 0; i < r->dim / 2; i++) {
        struct gate_pair at = gate_pair_of(r, angle, i);
        double a = x[at.x], b = x[at.y];
        x[at.x] = at.c * a - at.s * b;
        x[at.y] = at.s * a + at.c * b;
    }
}

void gate_rotate_back(const struct gate_rotation *r, int angle, double *x) {
    for (int i = 0; i < r->dim / 2; i++) {
        struct gate_pair at = gate_pair_of(r, angle, i);
        double a = x[at.x], b = x[at.y];
        x[at.x] = at.c * a + at.s * b;
        x[at.y] = at.c * b - at.s * a;
    }
}

/* ---- Products ---- */

int gate_n_terms(const struct gate_rotation *r, int d) {
    return d + r->dim;
}

void gate_key_terms(const struct gate_rotation *r, int angle, int d, const double *k,
                    double *terms) {
    for (int i = 0; i < r->dim / 2; i++) {
        struct gate_pair at = gate_pair_of(r, angle, i);
        *terms++ = at.c * k[at.x];
        *terms++ = -at.s * k[at.y];
        *terms++ = at.c * k[at.y];
        *terms++ = at.s * k[at.x];
    }
    memcpy(terms, k + r->dim, (size_t)(d - r->dim) * sizeof *terms);
}

void gate_query_terms(const struct gate_rotation *r, int d, const double *q, double *terms) {
    for (int i = 0; i < r->dim / 2; i++) {
        struct gate_pair at = gate_numbers_of_pair(r, i);
        *terms++ = q[at.x];
        *terms++ = q[at.x];
        *terms++ = q[at.y];
        *terms++ = q[at.y];
    }
    memcpy(terms, q + r->dim, (size_t)(d - r->dim) * sizeof *terms);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a problem. Integer arithmetic makes them, so that they are the same on every machine; each
 * key's follow from its place in the pool, so that sequences that share a chunk share them.
 *
 * GATE_SELECT (GATE-5): each key of each K/V head has an address, its place in the pool, and K has +A or -A for each bit of it.
 * A query with the address of a key has a score that is larger by 2 A^2 scale for each bit than that of any other key:
 * these then weigh less than
 * e^-32. Where a query has 0 for a bit, keys that differ in it alone are chosen with equal
 * weights. Each key has small integers in V: which keys were taken can be read from the result.
 *
 * GATE_COUNT (GATE-6): all weights are 1/n, and column i of V is 0 but for every d-th key: a key that is missing or counted twice
 * changes a column by a good part, also where there are many. Columns of more than IN_COLUMN keys are
 * avoided: keys outside of a window have 0 everywhere. */
#include <math.h>

#include "chunkproof/number.h"
#include "gate/gate/gate.h"
#include "gate/random.h"

#define APART     32.0 /* e^-32 is 2^-46: nothing beside 1, for 2^16 keys */
#define IN_COLUMN 8

double gate_round(int type, double x) {
    union {
        double fp64;
        float fp32;
        unsigned short bits;
    } number;
    cp_number_store(&number, type, 0, x);
    return cp_number_load(&number, type, 0);
}

/* Mean 0, variance 1, nearly normal: the sum of twelve numbers of variance 1/12. */
static double normal(struct gate_random *random) {
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        sum += (double)(gate_random_next(random) >> 32) * 0x1p-32;
    }
    return sum;
}

static struct gate_random random_of(const struct gate_problem *p, unsigned long long what,
                                    unsigned long long which) {
    struct gate_random random = {p->seed + what * 0xA0761D6478BD642FULL};
    random.state ^= gate_random_next(&random) + which * 0xE7037ED1A0B428DBULL;
    (void)gate_random_next(&random);
    return random;
}

/* A key: where it is. */
struct key {
    int position;               /* in its sequence */
    unsigned long long address; /* (chunk h_kv + head) c + slot */
};

static double sign_of(unsigned long long x, int bit) {
    return x >> bit & 1 ? 1.0 : -1.0;
}

/* Bits of an address, at most d. */
static int address_bits(const struct gate_problem *p) {
    unsigned long long places = (unsigned long long)p->capacity *
                                (unsigned long long)p->recipe.n_kv_heads *
                                (unsigned long long)p->recipe.chunk_size;
    int bits = 1;
    while (bits < p->recipe.head_dim && bits < 63 && 1ULL << bits < places) {
        bits++;
    }
    return bits;
}

static double amplitude(const struct gate_problem *p) {
    double a = 1.0;
    while (2.0 * a * a * p->scale < APART) {
        a += 1.0;
    }
    return a;
}

static int ties(const struct gate_problem *p) {
    return (int)(p->seed >> 7 & 1);
}

/* Below what binary32 can rescale from 0; and below bounds on scores that a kernel may have put in, where d is so small
 * that something can still be claimed of sums as large. */
static double low(const struct gate_problem *p) {
    return p->recipe.head_dim <= 16 && (p->seed >> 8 & 1) ? -70000.0 : -900.0;
}

static double key_number(const struct gate_problem *p, const struct key *key, int i,
                         struct gate_random *random) {
    double x = normal(random);
    switch (p->recipe.values) {
    case GATE_COUNT: /* q = 0, or all keys alike */
        return ties(p) ? 1.0 - 0.25 * (i % 5) : x;
    case GATE_SELECT:
        return i < address_bits(p) ? sign_of(key->address, i) * amplitude(p) : 0.0;
    case GATE_MASSIVE:
        return i % 16 == 0 ? 50.0 * x : x;
    case GATE_ONE_HOT:
        return key->position % 7 == 3 ? 20.0 * x : x;
    case GATE_LOW:
        return i == 0 ? low(p) / (64.0 * p->scale) : x;
    case GATE_RISING:
        return i == 0 ? 0.25 * key->position : x;
    case GATE_FALLING:
        return i == 0 ? -0.25 * key->position : x;
    default:
        return x;
    }
}

/* Keys begin, begin + 1, ... have numbers in V when they are counted. */
static int window_of(const struct gate_problem *p, int *begin) {
    int window = IN_COLUMN * p->recipe.head_dim, longest = 0;
    for (int s = 0; s < p->b; s++) {
        longest = p->n_tokens[s] > longest ? p->n_tokens[s] : longest;
    }
    *begin = longest <= window         ? 0
             : (p->seed >> 9 & 1) != 0 ? longest - window
                                       : (int)(p->seed % (unsigned)(longest - window + 1));
    return window;
}

static double counted(const struct gate_problem *p, const struct key *key, int i,
                      struct gate_random *random) {
    int begin, window = window_of(p, &begin);
    int in = begin <= key->position && key->position < begin + window;
    int size = 1 + gate_random_below(random, 2);
    return in && key->position % p->recipe.head_dim == i ? size : 0.0;
}

static double value_number(const struct gate_problem *p, const struct key *key, int i,
                           struct gate_random *random) {
    switch (p->recipe.values) {
    case GATE_COUNT:
        return counted(p, key, i, random);
    case GATE_SELECT:
        return 1 + gate_random_below(random, 61);
    case GATE_MASSIVE:
        return (i % 16 == 0 ? 50.0 : 1.0) * normal(random);
    case GATE_OFFSET:
        return 8.0 + 0.02 * normal(random);
    case GATE_SUBNORMAL:
        return normal(random) * (p->kv_type == CP_FP16 ? 0x1p-20 : 0x1p-130);
    case GATE_ZERO:
        return gate_random_below(random, 2) ? 0.0 : -0.0;
    default:
        return normal(random);
    }
}

static void fill_key(struct gate_problem *p, int s, int j, int kv_head) {
    size_t at = gate_key_at(p, s, j, kv_head), d = (size_t)p->recipe.head_dim;
    struct key key = {j, at / d};
    struct gate_random for_k = random_of(p, 1, key.address);
    struct gate_random for_v = random_of(p, 2, key.address);
    for (size_t i = 0; i < d; i++) {
        p->k[at + i] = gate_round(p->kv_type, key_number(p, &key, (int)i, &for_k));
        p->v[at + i] = gate_round(p->kv_type, value_number(p, &key, (int)i, &for_v));
    }
}

static void fill_keys(struct gate_problem *p) {
    const struct gate_recipe *r = &p->recipe;
    size_t n =
        (size_t)p->capacity * (size_t)r->n_kv_heads * (size_t)r->chunk_size * (size_t)r->head_dim;
    for (size_t i = 0; i < n; i++) {
        p->k[i] = NAN;
        p->v[i] = NAN;
    }
    for (int s = 0; s < p->b; s++) {
        for (int j = 0; j < p->n_tokens[s]; j++) {
            for (int g = 0; g < r->n_kv_heads && isnan(p->k[gate_key_at(p, s, j, g)]); g++) {
                fill_key(p, s, j, g);
            }
        }
    }
}

/* The address that a query asks for: of a key that its row sees, often at an edge. */
static unsigned long long target(const struct gate_problem *p, int row, int head,
                                 struct gate_random *random) {
    int s = gate_sequence_of(p, row), visible = gate_visible(p, row), c = p->recipe.chunk_size;
    int g = head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    int n = visible > 0 ? visible : p->n_tokens[s], kind = gate_random_below(random, 4);
    if (n == 0) {
        return 0;
    }
    int j = gate_random_below(random, n);
    if (kind == 0) { /* the last one, or the first of the last chunk */
        j = gate_random_below(random, 2) ? n - 1 : (n - 1) / c * c;
    } else if (kind == 1) { /* the edge of a chunk */
        j = j / c * c + (gate_random_below(random, 2) ? c - 1 : 0);
        j = j < n ? j : n - 1;
    }
    return gate_key_at(p, s, j, g) / (size_t)p->recipe.head_dim;
}

static void fill_selecting(struct gate_problem *p, int row, int head, double *q) {
    struct gate_random random = random_of(
        p, 3, (unsigned long long)row * (unsigned long long)p->recipe.n_heads + (unsigned)head);
    unsigned long long address = target(p, row, head, &random);
    int bits = address_bits(p), open = gate_random_below(&random, 4);
    for (int i = 0; i < p->recipe.head_dim; i++) {
        q[i] = i < bits ? sign_of(address, i) * amplitude(p) : 0.0;
    }
    for (; open > 0; open--) {
        q[gate_random_below(&random, bits)] = 0.0;
    }
}

static double query_number(const struct gate_problem *p, int i, struct gate_random *random) {
    double x = normal(random);
    switch (p->recipe.values) {
    case GATE_COUNT:
        return ties(p) ? x : 0.0;
    case GATE_MASSIVE:
        return i % 16 == 0 ? 50.0 * x : x;
    case GATE_LOW:
        return i == 0 ? 64.0 : x;
    case GATE_RISING:
    case GATE_FALLING:
        return i == 0 ? 4.0 : x;
    case GATE_ZERO:
        return x < 0.0 ? -0.0 : 0.0;
    default:
        return x;
    }
}

static void fill_queries(struct gate_problem *p) {
    int d = p->recipe.head_dim;
    struct gate_random random = random_of(p, 4, 0);
    for (int row = 0; row < p->n_rows; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            double *q = p->q + ((ptrdiff_t)row * p->recipe.n_heads + head) * d;
            if (p->recipe.values == GATE_SELECT) {
                fill_selecting(p, row, head, q);
                continue;
            }
            for (int i = 0; i < d; i++) {
                q[i] = gate_round(p->q_type, query_number(p, i, &random));
            }
        }
    }
}

void gate_values_fill(struct gate_problem *p) {
    fill_keys(p);
    fill_queries(p);
}

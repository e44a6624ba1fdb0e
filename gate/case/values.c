/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a problem. They are made by integer arithmetic, so they are the same on every
 * machine. A key's numbers follow from its place in the pool, so sequences that share a chunk
 * share its numbers.
 *
 * GATE_SELECT (GATE-5): each key of each K/V head has an address, its place in the pool. K has
 * +A or -A for each bit of the address. A query with the address of a key scores this key higher
 * than any other, by at least 2 A^2 scale for each bit that differs; the other keys then weigh
 * less than e^-32. Where a query has 0 for a bit, two keys that differ only in this bit are
 * selected with equal weights. Each key has small integers in V, so the result shows which keys
 * were taken.
 *
 * GATE_COUNT (GATE-6): all weights are 1/n, and column i of V is 0 except for every d-th key. A
 * key that is missing or counted twice changes a column noticeably, even among many keys.
 * Columns of more than 8 keys are avoided, and with more than IN_ALL / 8 keys columns of fewer:
 * the others have 0 everywhere. */
#include <math.h>

#include "chunkproof/number.h"
#include "cli/base/random.h"
#include "gate/case/cache.h"
#include "gate/case/rotation.h"
#include "gate/case/values.h"
#include "gate/case/widths.h"

#define MANY_CHUNKS 1024 /* of a path: half of the queries select keys beyond so many */

/* GATE-11. */
#define LARGEST_V      52000.0 /* of binary16, with room for errors */
#define VERY_LARGE     0x1p100 /* for types that have it: sums of it are in binary32 */
#define DIGIT          128     /* a position is digits of so much, which all types have */
#define DIGITS         3
#define LEAST_CREEP    4 /* octaves below 1: a step of the scores */
#define CREEPS         9
#define SMALL_16       14 /* octaves: Q or K of binary16 is about 2^-14, and the other 2^14, */
#define SMALL          60 /* and of wider types */
#define SUBNORMAL_STEP 5  /* every so many numbers of wider types are subnormal */

#define APART  32.0 /* e^-32 is 2^-46: negligible, for 2^16 keys */
#define IN_ALL (8 * 20000)

/* Rising and falling scores: SLOPE STEEP scale from key to key, for one number of K and of Q. */
#define SLOPE         0.25
#define STEEP         4.0
#define LIGHT_OCTAVES 7  /* below the largest: a light key */
#define MOST_OCTAVES  10 /* binary16 has 2^10 times a normal number, and 2^-10 of its weights */
#define DEEP_OCTAVES  25 /* beside a weight of 1, less than binary16 and a sum in binary32 hold, */
#define DEEP_MOST                                                                                  \
    12 /* and by 2^12 still a normal number of binary16, as sums of the heaviest such keys are */
#define DEEP_STEPS                                                                                 \
    4 /* so many times the slope, for shorter paths to reach it and few keys to add up, */
#define DEEP_LONGEST 4096 /* where binary16 still has K */

double gate_plain(double x) {
    return isnan(x) ? (double)NAN : x;
}

double gate_round(int type, double x) {
    union {
        double fp64;
        float fp32;
        unsigned short bits;
    } number;
    if (type == CP_FP32) {
        return (double)(float)x;
    }
    cp_number_store(&number, type, 0, x);
    return cp_number_load(&number, type, 0);
}

/* Nearly normal, with mean 0 and variance 1: the sum of twelve numbers of variance 1/12. */
static double normal(struct prng *random) {
    unsigned long long sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += prng_next(random) >> 32;
    }
    return (double)sum * 0x1p-32 - 6.0;
}

static struct prng random_of(const struct gate_problem *p, unsigned long long what,
                             unsigned long long which) {
    struct prng random = {p->seed + what * 0xA0761D6478BD642FULL};
    random.state ^= prng_next(&random) + which * 0xE7037ED1A0B428DBULL;
    (void)prng_next(&random);
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

/* The offset of all scores. It is further from 0 than binary32 can rescale. For a d so small
 * that sums as large still have a finite bound, it is beyond binary16's range, and beyond limits
 * on scores that a kernel may have put in. Of a scaled query in a short format the bounds of such
 * scores are infinite. */
static double shift(const struct gate_problem *p) {
    double far = p->scales == CP_SCALES_QUERY_BF16   ? 20.0
                 : p->scales == CP_SCALES_QUERY_FP16 ? 150.0
                 : p->recipe.head_dim <= 16          ? 70000.0
                                                     : 900.0;
    return (p->seed >> 8 & 1) != 0 ? far : -far;
}

/* What all keys of a problem have in common. */
struct making {
    int in_keys;      /* 1: values are in keys: each value is a part of its key (CONV-13) */
    int first;        /* where the numbers of a key begin by which it is chosen: behind its value */
    int bits;         /* of an address */
    double amplitude; /* of each */
    int begin, end;   /* keys with numbers in V when they are counted */
    int longest;      /* positions of a sequence */
    double octaves;  /* by which weights rise or fall with each key when light keys count; else 0 */
    double slope;    /* of K, from key to key */
    int light, most; /* a light key is so many of them below the largest; V by so many at most */
};

/* GATE-8: rising and falling scores of one product each, whose sum is not rounded, and V such
 * that light keys count. What remains are the exponential, the scale, and how maxima change. */
static int weighs_light(const struct gate_problem *p) {
    return (int)(p->seed >> 10 & 1);
}

/* For GATE_COUNT: which of the longest sequence's keys are counted. */
static void place_counted(const struct gate_problem *p, struct making *m) {
    int in_column = 8;
    while (in_column > 2 && in_column * m->longest > IN_ALL) {
        in_column /= 2;
    }
    int counted = in_column * p->value_dim;
    m->begin = m->longest <= counted     ? 0
               : (p->seed >> 9 & 1) != 0 ? m->longest - counted
                                         : (int)(p->seed % (unsigned)(m->longest - counted + 1));
    m->end = m->begin + counted;
}

static struct making making_of(const struct gate_problem *p) {
    struct making m = {.in_keys = gate_is_in_keys(p),
                       .first = gate_is_in_keys(p) ? p->value_dim % p->recipe.head_dim : 0,
                       .bits = address_bits(p),
                       .amplitude = amplitude(p)};
    for (int s = 0; s < p->b; s++) {
        int positions = gate_positions(p, s);
        m.longest = positions > m.longest ? positions : m.longest;
    }
    place_counted(p, &m);
    double octaves = SLOPE * STEEP * p->scale * 0x1.715476p0;
    int deep = weighs_light(p) && (p->seed >> 11 & 1) != 0 && m.longest <= DEEP_LONGEST &&
               DEEP_STEPS * octaves * (m.longest - 1) > DEEP_OCTAVES;
    m.slope = deep ? DEEP_STEPS * SLOPE : SLOPE;
    m.octaves = weighs_light(p) ? m.slope / SLOPE * octaves : 0.0;
    m.light = deep ? DEEP_OCTAVES : LIGHT_OCTAVES;
    m.most = deep ? DEEP_MOST : MOST_OCTAVES;
    return m;
}

/* The factor of V, so that only light keys count: 0 for heavy keys, else a power of two, which
 * changes no digit. An error of a score shows in proportion to how far the score is below the
 * largest. */
static double counterweight(const struct gate_problem *p, const struct making *m, int position) {
    int behind = p->recipe.values == GATE_RISING ? m->longest - 1 - position : position;
    double octaves = m->octaves * behind, factor = 1.0;
    if (m->octaves == 0.0) {
        return 1.0;
    }
    if (octaves < m->light && (behind < m->longest / 2 || m->light == DEEP_OCTAVES)) {
        return 0.0;
    }
    for (int i = 1; i <= m->most && i <= octaves; i++) {
        factor *= 2.0;
    }
    return factor;
}

static void make_normal(double *x, int d, struct prng *random) {
    for (int i = 0; i < d; i++) {
        x[i] = normal(random);
    }
}

static void multiply(double *x, int d, int step, double factor) {
    for (int i = 0; i < d; i += step) {
        x[i] *= factor;
    }
}

/* Where the i-th number of a key is by which it is chosen. */
static int place_of(const struct making *m, int i, int d) {
    return (m->first + i) % d;
}

static void make_address(const struct making *m, unsigned long long address, double *x, int d) {
    for (int i = 0; i < d; i++) {
        x[place_of(m, i, d)] = i < m->bits ? sign_of(address, i) * m->amplitude : 0.0;
    }
}

static int is_half(const struct gate_problem *p) {
    return p->q_type == CP_FP16 || p->kv_type == CP_FP16 || p->scales == CP_SCALES_QUERY_FP16 ||
           p->cache.in_half;
}

/* Half of the cases have tiny K, the others tiny Q. */
static int has_tiny_k(const struct gate_problem *p) {
    return (int)(p->seed >> 12 & 1);
}

/* Number i of an extreme query or key. */
static double extreme_number(const struct gate_problem *p, int tiny, int i, double x) {
    int octaves = is_half(p) ? SMALL_16 : SMALL;
    if (!is_half(p) && i % SUBNORMAL_STEP == SUBNORMAL_STEP - 1) {
        return x * 0x1p-130;
    }
    if (tiny) {
        return ldexp(x, -octaves);
    }
    double size = 1.0 + fabs(x) / 8.0; /* below 2 */
    return ldexp(x < 0.0 ? -size : size, octaves);
}

/* The step of a creeping score from key to key, 2^-4 to 2^-12. Over thousands of keys it is 2^-3 or
 * 2^-4, so that scores rise by more than a weight may be, in each of a few parts, too. */
static double creep(const struct gate_problem *p, const struct making *m) {
    int steps = (int)((p->seed >> 13) % CREEPS);
    return ldexp(1.0,
                 m->longest >= GATE_THOUSANDS ? steps % 2 - LEAST_CREEP : -LEAST_CREEP - steps);
}

/* The digits of the position, from the lowest; the other numbers of a creeping key meet zeros. */
static void make_digits(const struct making *m, double *k, int d, int position) {
    for (int i = 0; i < DIGITS && i < d; i++) {
        k[place_of(m, i, d)] = i == DIGITS - 1 || i == d - 1 ? position : position % DIGIT;
        position /= DIGIT;
    }
}

/* The numbers of a key, or of its value, to what the kernel gets of them. */
static void round_key(const struct gate_problem *p, int is_v, unsigned long long place, double *x) {
    if ((is_v ? p->cache.v : p->cache.k) != CP_CACHE_PLAIN) {
        gate_cache_round(p, is_v, place, x);
        return;
    }
    for (int i = 0, n = is_v ? p->value_dim : p->recipe.head_dim; i < n; i++) {
        x[i] = gate_round(p->kv_type, x[i]);
    }
}

/* ... without rounding them, which may be done once more when a value is in it. */
static void make_k(const struct gate_problem *p, const struct making *m, const struct key *key,
                   double *k) {
    int d = p->recipe.head_dim;
    struct prng random = random_of(p, 1, key->address);
    if (p->recipe.values == GATE_SELECT) { /* integers */
        make_address(m, key->address, k, d);
        return;
    }
    if (p->recipe.values == GATE_COUNT && ties(p)) { /* all keys alike; else q = 0 */
        for (int i = 0; i < d; i++) {
            k[i] = 1.0 - 0.25 * (i % 5);
        }
        return;
    }
    make_normal(k, d, &random);
    if (p->recipe.values == GATE_MASSIVE) {
        multiply(k, d, 16, 50.0);
    } else if (p->recipe.values == GATE_ONE_HOT && key->position % 7 == 3) {
        multiply(k, d, 1, 20.0);
    } else if (p->recipe.values == GATE_SHIFTED) {
        k[m->first] = shift(p) / (64.0 * p->scale);
    } else if (p->recipe.values == GATE_RISING || p->recipe.values == GATE_FALLING) {
        k[m->first] = (p->recipe.values == GATE_RISING ? m->slope : -m->slope) * key->position;
    } else if (p->recipe.values == GATE_CREEPING) {
        make_digits(m, k, d, key->position);
    } else if (p->recipe.values == GATE_EXTREME) {
        for (int i = 0; i < d; i++) {
            k[i] = extreme_number(p, has_tiny_k(p), i, k[i]);
        }
    }
}

/* One number of V for each key that is counted. */
static void make_counted(const struct making *m, const struct key *key, double *v, int d,
                         struct prng *random) {
    int at = key->position % d;
    for (int i = 0; i < d; i++) {
        v[i] = 0.0;
    }
    if (m->begin <= key->position && key->position < m->end) {
        prng_skip(random, (unsigned long long)at);
        v[at] = 1 + prng_below(random, 2);
    }
}

/* Large numbers of one sign in a third of the columns, of the other in a third, and of both in the
 * rest. */
static void make_large(const struct gate_problem *p, double *v, int d) {
    int very = !is_half(p) && p->out_type != CP_FP16 && p->cache.v == CP_CACHE_PLAIN &&
               (p->seed >> 12 & 1) != 0;
    double largest = very ? VERY_LARGE : LARGEST_V;
    for (int i = 0; i < d; i++) {
        double size = largest * (1.0 - fabs(v[i]) / 12.0); /* from a half on */
        v[i] = i % 3 == 0 || (i % 3 == 2 && v[i] < 0.0) ? size : -size;
    }
}

static void make_v(const struct gate_problem *p, const struct making *m, const struct key *key,
                   double *v) {
    int d = p->value_dim;
    enum gate_values values = p->recipe.values;
    struct prng random = random_of(p, 2, key->address);
    if (values == GATE_COUNT) {
        make_counted(m, key, v, d, &random);
        round_key(p, 1, key->address, v);
        return;
    }
    if (values == GATE_SELECT || values == GATE_ZERO) {
        for (int i = 0; i < d; i++) {
            v[i] = values == GATE_SELECT    ? 1 + prng_below(&random, 61)
                   : prng_below(&random, 2) ? 0.0
                                            : -0.0;
        }
        round_key(p, 1, key->address, v);
        return;
    }
    make_normal(v, d, &random);
    if (values == GATE_MASSIVE) {
        multiply(v, d, 16, 50.0);
    } else if (values == GATE_SUBNORMAL) {
        multiply(v, d, 1,
                 p->kv_type == CP_FP16 || p->cache.v != CP_CACHE_PLAIN ? 0x1p-20 : 0x1p-130);
    } else if (values == GATE_RISING || values == GATE_FALLING) {
        multiply(v, d, 1, counterweight(p, m, key->position));
        for (int i = 0; i < d && m->octaves != 0.0; i++) { /* none makes up for another */
            v[i] = fabs(v[i]);
        }
    } else if (values == GATE_LARGE) {
        make_large(p, v, d);
    } else if (values == GATE_CREEPING) { /* the first half counts most */
        for (int i = 0; i < d; i++) {
            v[i] = (key->position < m->longest / 2 ? 2.0 : 0.25) + 0.25 * v[i];
        }
    } else if (values == GATE_OFFSET) {
        for (int i = 0; i < d; i++) {
            v[i] = 8.0 + 0.02 * v[i];
        }
    }
    round_key(p, 1, key->address, v);
}

/* CONV-13: a key has its value in it, but for the numbers by which it is chosen, and is the
 * value's first numbers then. */
static void join(const struct gate_problem *p, const struct making *m, const struct key *key,
                 double *k, double *v) {
    int d = p->recipe.head_dim, chosen = p->recipe.values == GATE_SELECT     ? m->bits
                                         : p->recipe.values == GATE_CREEPING ? DIGITS
                                                                             : 1;
    int behind = d - p->value_dim; /* numbers of the key: the first of those are there */
    int begin = chosen > behind ? chosen - behind : 0;
    begin = p->recipe.values == GATE_COUNT || p->recipe.values == GATE_ZERO ? 0 : begin;
    for (int i = begin; i < p->value_dim && gate_has_its_values(p); i++) {
        k[i] = v[i];
    }
    round_key(p, 0, key->address, k);
    for (int i = 0; i < p->value_dim; i++) {
        v[i] = k[i];
    }
}

static void fill_key(struct gate_problem *p, const struct making *m, int s, int j, int kv_head) {
    size_t row = gate_key_row(p, s, j, kv_head);
    double *k = p->k + row * (size_t)p->recipe.head_dim, *v = p->v + row * (size_t)p->value_dim;
    struct key key = {gate_position_of(p, s, j), row};
    make_k(p, m, &key, k);
    make_v(p, m, &key, v);
    if (m->in_keys) {
        join(p, m, &key, k, v);
        return;
    }
    round_key(p, 0, row, k);
    if (gate_has_quarter_turns(p->recipe.values)) { /* GATE-14: which is exact */
        gate_rotate_back(&p->rotation, gate_angle_of(p, s, j), k);
        round_key(p, 0, row, k); /* integers have -128, and no 128 */
    }
}

static void fill_keys(struct gate_problem *p, const struct making *m) {
    const struct gate_recipe *r = &p->recipe;
    size_t rows = (size_t)p->capacity * (size_t)r->n_kv_heads * (size_t)r->chunk_size;
    for (size_t i = 0; i < rows * (size_t)r->head_dim; i++) {
        p->k[i] = NAN;
    }
    for (size_t i = 0; i < rows * (size_t)p->value_dim; i++) {
        p->v[i] = NAN;
    }
    for (int s = 0; s < p->b; s++) {
        for (int j = 0; j < p->n_tokens[s]; j++) {
            for (int g = 0; g < r->n_kv_heads && isnan(*gate_key(p, s, j, g)); g++) {
                fill_key(p, m, s, j, g);
            }
        }
    }
}

/* The first or last key of the run that has key j. */
static int edge(const struct gate_problem *p, int s, int j, int last) {
    int at = s * p->table_width + gate_run_of(p, s, j);
    return p->first[at] + (last ? p->table_tokens[at] - 1 : 0);
}

/* A key at an edge of what a row sees, on either side. */
static int at_edge(const struct gate_problem *p, int s, const struct gate_seen *seen,
                   struct prng *random) {
    const int edges[] = {seen->hidden, seen->shown, seen->end};
    int j = edges[prng_below(random, 3)] - prng_below(random, 2);
    return j < 0 ? 0 : j < p->n_tokens[s] ? j : p->n_tokens[s] - 1;
}

/* The address that a query selects: that of a key that its row sees, often at a boundary. */
static unsigned long long target(const struct gate_problem *p, int row, int head,
                                 struct prng *random) {
    struct gate_seen seen = gate_seen(p, row);
    int s = gate_sequence_of(p, row), c = p->recipe.chunk_size;
    int g = head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    int n = seen.end > 0 ? seen.end : p->n_tokens[s], kind = prng_below(random, 4);
    if (n == 0) {
        return 0;
    }
    int j = prng_below(random, n);
    if (p->mask.window + p->mask.ahead > 0 && prng_below(random, 4) != 0) {
        return gate_key_row(p, s, at_edge(p, s, &seen, random), g);
    }
    if (n > MANY_CHUNKS * c &&
        prng_below(random, 2) == 0) { /* beyond them, or as far from the end */
        int beyond = n - MANY_CHUNKS * c;
        j = prng_below(random, beyond) + (prng_below(random, 2) ? MANY_CHUNKS * c : 0);
    } else if (kind == 0) { /* the last one, or the first of the last chunk */
        j = prng_below(random, 2) ? n - 1 : edge(p, s, n - 1, 0);
    } else if (kind == 1) { /* the edge of a chunk */
        j = edge(p, s, j, prng_below(random, 2));
        j = j < n ? j : n - 1;
    }
    return gate_key_row(p, s, j, g);
}

static void fill_selecting(struct gate_problem *p, const struct making *m, int row, int head,
                           double *q) {
    struct prng random = random_of(
        p, 3, (unsigned long long)row * (unsigned long long)p->recipe.n_heads + (unsigned)head);
    unsigned long long address = target(p, row, head, &random);
    make_address(m, address, q, p->recipe.head_dim);
    for (int open = prng_below(&random, 4); open > 0; open--) {
        q[place_of(m, prng_below(&random, m->bits), p->recipe.head_dim)] = 0.0;
    }
}

/* Number i of a query, counted from where keys are chosen by. */
static double query_number(const struct gate_problem *p, const struct making *m, int i,
                           struct prng *random) {
    double x = normal(random);
    int meets_value = m->in_keys && i >= p->recipe.head_dim - p->value_dim;
    switch (p->recipe.values) {
    case GATE_COUNT:
        return ties(p) && !meets_value ? x : 0.0;
    case GATE_MASSIVE:
        return i % 16 == 0 ? 50.0 * x : x;
    case GATE_SHIFTED:
        return i == 0 ? 64.0 : x;
    case GATE_RISING:
    case GATE_FALLING:
        return i == 0 ? STEEP : weighs_light(p) ? 0.0 : x;
    case GATE_ZERO:
        return x < 0.0 ? -0.0 : 0.0;
    case GATE_LARGE:
        return meets_value ? 0.0 : 0x1p-6 * x;
    case GATE_CREEPING:
        x = ldexp(gate_round(p->q_type, creep(p, m) / p->scale), 7 * i);
        return i < DIGITS && x <= LARGEST_V ? x : 0.0;
    case GATE_EXTREME:
        return extreme_number(p, !has_tiny_k(p), i, x);
    default:
        return x;
    }
}

static void fill_queries(struct gate_problem *p, const struct making *m) {
    int d = p->recipe.head_dim;
    struct prng random = random_of(p, 4, 0);
    for (int row = 0; row < p->n_rows; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            double *q = p->q + ((ptrdiff_t)row * p->recipe.n_heads + head) * d;
            if (p->recipe.values == GATE_SELECT) {
                fill_selecting(p, m, row, head, q);
                continue;
            }
            for (int i = 0; i < d; i++) {
                q[place_of(m, i, d)] = gate_round(p->q_type, query_number(p, m, i, &random));
            }
        }
    }
}

/* CONV-10: how large the numbers of K are, and of V; of what is small and whole, whose multiples
 * they are. */
static struct gate_scaling scaling_of(const struct gate_problem *p, const struct making *m,
                                      int is_v) {
    double digits = fmax(DIGIT, (double)m->longest / DIGIT / DIGIT);
    switch (p->recipe.values) {
    case GATE_SELECT:
        return (struct gate_scaling){0.0, is_v ? 1.0 : m->amplitude};
    case GATE_COUNT:
        return (struct gate_scaling){0.0, 1.0};
    case GATE_MASSIVE:
        return (struct gate_scaling){250.0, 0.0};
    case GATE_ONE_HOT:
        return (struct gate_scaling){is_v ? 5.0 : 100.0, 0.0};
    case GATE_SHIFTED:
        return (struct gate_scaling){is_v ? 5.0 : fabs(shift(p)) / (64.0 * p->scale) + 5.0, 0.0};
    case GATE_RISING:
    case GATE_FALLING:
        return (struct gate_scaling){is_v ? ldexp(5.0, m->most) : 5.0 + m->slope * m->longest, 0.0};
    case GATE_OFFSET:
        return (struct gate_scaling){is_v ? 8.5 : 5.0, 0.0};
    case GATE_SUBNORMAL:
        return (struct gate_scaling){is_v ? 0x1p-18 : 5.0, 0.0};
    case GATE_LARGE:
        return (struct gate_scaling){is_v ? LARGEST_V : 5.0, 0.0};
    case GATE_CREEPING:
        return (struct gate_scaling){is_v ? 4.0 : digits, 0.0};
    case GATE_EXTREME:
        return (struct gate_scaling){
            is_v ? 5.0 : ldexp(5.0, (has_tiny_k(p) ? -1 : 1) * (is_half(p) ? SMALL_16 : SMALL)),
            0.0};
    default:
        return (struct gate_scaling){5.0, 0.0};
    }
}

/* Where the largest scores of a row are about. */
static double typical_score(const struct gate_problem *p, const struct making *m) {
    double cap = p->scores.cap > 0.0 ? p->scores.cap : (double)INFINITY;
    double score = p->recipe.values == GATE_SELECT    ? m->bits * m->amplitude * m->amplitude
                   : p->recipe.values == GATE_SHIFTED ? shift(p) / p->scale
                                                      : 0.0;
    return fmax(-cap, fmin(p->scale * score, cap));
}

/* SCORE-3: sinks that weigh about as much as the keys of a row together, or as one of them; some
 * that weigh all or nothing. */
static void fill_sinks(struct gate_problem *p, const struct making *m) {
    struct prng random = random_of(p, 5, 0);
    double most = typical_score(p, m), octaves = 0.0;
    for (int n = 1; n < m->longest; n *= 2) {
        octaves += 1.0;
    }
    for (int a = 0; a < p->recipe.n_heads && p->scores.sinks != NULL; a++) {
        int kind = prng_below(&random, 8);
        double off = kind == 0 ? -30.0 : kind == 1 ? 30.0 : kind < 5 ? 0.6875 * octaves : 0.0;
        p->scores.sinks[a] = (float)gate_round(CP_BF16, most + off + normal(&random));
    }
}

void gate_values_fill(struct gate_problem *p) {
    struct making m = making_of(p);
    struct gate_scaling of_k = scaling_of(p, &m, 0), of_v = scaling_of(p, &m, 1);
    of_k.largest = m.in_keys ? fmax(of_k.largest, of_v.largest) : of_k.largest;
    gate_cache_scale(p, &of_k, &of_v);
    fill_keys(p, &m);
    gate_cache_forget(p);
    fill_queries(p, &m);
    fill_sinks(p, &m);
}

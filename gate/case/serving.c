/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-10: sizes that servers have. One case has few of them at once, so that it stays quick. */
#include "gate/case/serving.h"

#include "chunkproof/limits.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define POOL_AT_LEAST 100000
#define BEYOND        (1LL << 31) /* elements: 32 bits with a sign do not hold their offsets */
#define MOST_TIMES    40          /* as much work as an ordinary case, at most */
#define LARGE_WORK    1500000     /* of the tiers above the first */
#define PATH_AT_LEAST 1030        /* chunks */
#define CHEAP_FIRST   6           /* attempts of few, whose heads are the narrowest */

static int one_of(struct prng *random, const int *choice, int n) {
    return choice[prng_below(random, n)];
}

#define ONE_OF(random, ...)                                                                        \
    one_of(random, (const int[]){__VA_ARGS__}, COUNT_OF(((int[]){__VA_ARGS__})))

/* Number n of a list that begins again at its end. */
#define NTH_OF(n, ...) ((const int[]){__VA_ARGS__}[(n) % COUNT_OF(((int[]){__VA_ARGS__}))])

static void heads(struct gate_recipe *r, int n_kv_heads, int group) {
    r->n_kv_heads = n_kv_heads;
    r->n_heads = n_kv_heads * group;
}

/* One sequence of `keys` tokens, and one that shares the first `shared` of them. */
static void two_sequences(struct gate_recipe *r, int keys, int shared, int own) {
    r->n_ops = 2;
    r->op[0] = (struct gate_op){GATE_JOIN, 0, 0, keys};
    r->op[1] = (struct gate_op){GATE_JOIN, 0, shared, own};
}

static void make_crowd(struct gate_recipe *r, struct prng *random, long long n) {
    heads(r, ONE_OF(random, 1, 2, 1, 4), NTH_OF(n, 1, 6, 5, 12, 4));
    r->head_dim = ONE_OF(random, 64, 32, 128);
    r->chunk_size = ONE_OF(random, 16, 8, 32);
    r->queries = prng_below(random, 3) == 0 ? GATE_SEVERAL : GATE_DECODE;
    r->sequences = NTH_OF(n, 300, 128, 257, 64, 256, 200);
    two_sequences(r, r->chunk_size * 2 + prng_below(random, 40), r->chunk_size,
                  prng_below(random, 20));
}

/* Chunks of whole pages of 4,096 bytes, so that the pool has no gaps. */
static void make_pooled(struct gate_recipe *r, struct prng *random, long long n) {
    static const struct {
        int chunk_size, n_kv_heads, head_dim;
    } of[] = {{16, 8, 128}, {64, 1, 64}, {32, 2, 128}, {64, 2, 64}, {16, 4, 64}, {64, 8, 128}};
    int which = (int)(n % COUNT_OF(of));
    heads(r, of[which].n_kv_heads, ONE_OF(random, 1, 4, 5));
    r->head_dim = of[which].head_dim;
    r->chunk_size = of[which].chunk_size;
    long long beyond = BEYOND / ((long long)r->n_kv_heads * r->chunk_size * r->head_dim);
    int least = beyond > POOL_AT_LEAST ? (int)beyond : POOL_AT_LEAST;
    r->pool = least + least / 4 + prng_below(random, least / 4);
    r->queries = GATE_DECODE;
    r->sequences = 2 + prng_below(random, 6);
    r->layout = prng_below(random, 4) > 0 ? 0 : r->layout & ~GATE_FAR;
    two_sequences(r, r->chunk_size + prng_below(random, 3 * r->chunk_size), r->chunk_size,
                  prng_below(random, r->chunk_size));
}

static void make_heads(struct gate_recipe *r, struct prng *random, long long n) {
    heads(r, NTH_OF(n, 32, 16, 40, 64), NTH_OF(n, 5, 12, 6, 4, 1, 8, 2));
    r->head_dim = ONE_OF(random, 64, 128, 32);
    r->chunk_size = ONE_OF(random, 16, 5, 32, 64);
    r->queries = GATE_DECODE;
    two_sequences(r, 20 + prng_below(random, 60), prng_below(random, 40), prng_below(random, 20));
}

/* Chunked prefill: the last rows of a long context. The lists of rows and of values have a factor
 * in common: the first of the larger numbers meet values by which a query row matters. */
static void make_prefill(struct gate_recipe *r, struct prng *random, long long n, long long work) {
    heads(r, 1, ONE_OF(random, 1, 2, 6));
    r->head_dim = ONE_OF(random, 32, 64);
    r->chunk_size = ONE_OF(random, 16, 64, 128, 32);
    r->rows = NTH_OF(n, 300, 64, 256, 512, 65, 128);
    r->queries = prng_below(random, 2) == 0 ? GATE_DECODE : GATE_SEVERAL;
    long long of_key = 2LL * r->rows * r->n_heads * r->head_dim, most = MOST_TIMES * work / of_key;
    int keys = 600 + prng_below(random, 900), least = r->rows + 100;
    keys = keys > most ? (int)most : keys;
    keys = keys < least ? least : keys;
    two_sequences(r, keys, prng_below(random, keys), prng_below(random, 80));
}

static void make_path(struct gate_recipe *r, struct prng *random) {
    int c = 1 + prng_below(random, 4);
    int chunks = PATH_AT_LEAST + prng_below(random, CP_MAX_DEPTH - PATH_AT_LEAST - 50);
    int keys = c * chunks + prng_below(random, c);
    heads(r, 1, ONE_OF(random, 1, 2));
    r->values = GATE_SELECT;
    r->head_dim = ONE_OF(random, 32, 64, 48);
    r->chunk_size = c;
    r->queries = GATE_SEVERAL;
    two_sequences(r, keys, prng_below(random, keys), prng_below(random, 20 * c));
}

static void make_batch(struct gate_recipe *r, struct prng *random, long long work) {
    heads(r, 8, ONE_OF(random, 4, 5, 6));
    r->head_dim = work >= LARGE_WORK ? 128 : 64;
    r->chunk_size = 16;
    r->queries = GATE_DECODE;
    r->sequences = work >= LARGE_WORK ? 64 + prng_below(random, 193) : 64;
    r->pool = POOL_AT_LEAST + prng_below(random, POOL_AT_LEAST);
    r->layout = 0;
    two_sequences(r, 32 + prng_below(random, 16), 16, prng_below(random, 16));
}

void gate_recipe_serve(struct gate_recipe *r, struct prng *random, long long n, long long work) {
    static const enum gate_values values[] = {GATE_SELECT, GATE_COUNT, GATE_NORMAL};
    long long nth = n / GATE_SERVINGS;
    r->values = values[(n + nth + nth / GATE_SERVINGS) % COUNT_OF(values)];
    r->layout &= ~GATE_FAR;
    switch ((enum gate_serving)(n % GATE_SERVINGS)) {
    case GATE_POOLED:
        make_pooled(r, random, nth);
        break;
    case GATE_HEADS:
        make_heads(r, random, nth);
        break;
    case GATE_PREFILL:
        make_prefill(r, random, nth, work);
        break;
    case GATE_PATH:
        make_path(r, random);
        break;
    case GATE_BATCH:
        make_batch(r, random, work);
        break;
    default:
        make_crowd(r, random, nth);
        break;
    }
}

/* ---- On the executor ---- */

/* There a query row and head costs as much as several keys. */
enum few { FEW_SEQUENCES, FEW_CHUNKS, FEW_HEADS, FEW_ROWS, FEWS };

/* Chunks are as small as that, because in device memory a pool is memory (gate_pool_fits()). More
 * than a third of the numbers do not fit in 16 bits. */
static void make_few_chunks(struct gate_recipe *r, struct prng *random, long long n) {
    heads(r, r->head_dim > 16 ? 1 : NTH_OF(n, 2, 1), NTH_OF(n, 12, 5, 6, 16));
    r->chunk_size = r->n_kv_heads * r->head_dim > 16 ? 1 : ONE_OF(random, 1, 2);
    r->pool = POOL_AT_LEAST + prng_below(random, POOL_AT_LEAST / 5);
    two_sequences(r, 8 + prng_below(random, 12), prng_below(random, 8), prng_below(random, 8));
}

/* Every second time most rows stand before the first key and see none; else at the end of a longer
 * context. */
static void make_few_rows(struct gate_recipe *r, struct prng *random, long long n) {
    r->rows = NTH_OF(n, 300, 260, 520, 270);
    int keys = n % 2 == 0 ? 20 + prng_below(random, 40) : r->rows + 1 + prng_below(random, 40);
    two_sequences(r, keys, prng_below(random, 20), prng_below(random, 8));
    r->queries = GATE_SEVERAL;
    r->n_ops = n % 2 == 0 ? 2 : 1;
}

void gate_recipe_serve_few(struct gate_recipe *r, struct prng *random, long long n, int attempt) {
    static const enum gate_values values[] = {GATE_SELECT, GATE_COUNT, GATE_NORMAL};
    long long nth = n / FEWS;
    r->values = values[(n + nth) % COUNT_OF(values)];
    r->layout &= ~GATE_FAR;
    r->head_dim = attempt < CHEAP_FIRST ? ONE_OF(random, 16, 32) : ONE_OF(random, 64, 128);
    r->chunk_size = ONE_OF(random, 4, 16, 5, 8, 16);
    r->queries = GATE_DECODE;
    heads(r, 1, 1);
    switch ((enum few)(n % FEWS)) {
    case FEW_CHUNKS:
        make_few_chunks(r, random, nth);
        break;
    case FEW_HEADS:
        heads(r, NTH_OF(nth, 40, 2, 33, 20, 64), NTH_OF(nth, 1, 12, 6, 5, 2));
        two_sequences(r, 5 + prng_below(random, 12), prng_below(random, 8), prng_below(random, 8));
        break;
    case FEW_ROWS:
        make_few_rows(r, random, nth);
        break;
    default:
        r->sequences = NTH_OF(nth, 300, 260, 290, 270);
        two_sequences(r, r->chunk_size + prng_below(random, 8), r->chunk_size,
                      prng_below(random, 4));
        break;
    }
}

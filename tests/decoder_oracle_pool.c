/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of decoders in double whose keys and values are in a pool. An entry is off by what its
 * number is, and by what storing rounds; who sees an entry that is not rounded is within this, too,
 * as tokens of a module are that is encoded elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "tests/decoder_oracle.h"

static struct ball stored(const struct oracle *o, struct ball a);
static void known_state(struct ball *state, const struct oracle *o, int l, int i);
static void known_entry(struct ball *key, struct ball *value, const struct oracle *o, int l, int i,
                        int g);

#define ORACLE_UNIT         0x1p-53L
#define ORACLE_TINY         0.0L
#define ORACLE_SCALE        0
#define ORACLE(name)        oracle_pool_##name
#define ORACLE_STORED(o, a) stored(o, a)
#define ORACLE_BIAS         1
#define ORACLE_STATE        known_state
#define ORACLE_ENTRY        known_entry
#include "tests/decoder_oracle_of.h"

static const struct oracle_pool *pool_of(const struct oracle *o) {
    return (const struct oracle_pool *)o; /* its first field */
}

static struct ball stored(const struct oracle *o, struct ball a) {
    const struct oracle_pool *pool = pool_of(o);
    struct ball b = {a.x, a.e + pool->unit * (fabsl(a.x) + a.e) * MORE + pool->tiny};
    return b;
}

static void known_state(struct ball *state, const struct oracle *o, int l, int i) {
    const struct oracle_pool *pool = pool_of(o);
    int at = l * o->n + i, d = o->decoder->shape.d_model;
    struct ball *known = pool->state + at * d;
    if (!pool->knows_state[at]) {
        oracle_pool_state(known, o, l, i);
        pool->knows_state[at] = 1;
    }
    memcpy(state, known, (size_t)d * sizeof *known);
}

static void known_entry(struct ball *key, struct ball *value, const struct oracle *o, int l, int i,
                        int g) {
    const struct oracle_pool *pool = pool_of(o);
    int at = (l * o->n + i) * o->decoder->shape.n_kv_heads + g, d = o->decoder->shape.d_head;
    if (!pool->knows_entry[at]) {
        oracle_pool_entry(pool->key + at * d, pool->value + at * d, o, l, i, g);
        pool->knows_entry[at] = 1;
    }
    memcpy(key, pool->key + at * d, (size_t)d * sizeof *key);
    memcpy(value, pool->value + at * d, (size_t)d * sizeof *value);
}

static void *memory(int n, size_t size) {
    void *p = calloc((size_t)n + 1, size);
    if (p == NULL) {
        abort();
    }
    return p;
}

void oracle_pool_new(struct oracle_pool *pool, const struct oracle *oracle, int type) {
    const struct cp_decoder_shape *s = &oracle->decoder->shape;
    int n_states = (s->n_layers + 1) * oracle->n,
        n_entries = s->n_layers * oracle->n * s->n_kv_heads;
    pool->oracle = *oracle;
    /* Half a unit in the last place, and half of the smallest number (NUM-4). */
    pool->unit = type == CP_FP64   ? 0.0L
                 : type == CP_FP32 ? 0x1p-24L
                 : type == CP_FP16 ? 0x1p-11L
                                   : 0x1p-8L;
    pool->tiny = type == CP_FP64   ? 0.0L
                 : type == CP_FP32 ? 0x1p-150L
                 : type == CP_FP16 ? 0x1p-25L
                                   : 0x1p-134L;
    pool->state = memory(n_states * s->d_model, sizeof *pool->state);
    pool->key = memory(n_entries * s->d_head, sizeof *pool->key);
    pool->value = memory(n_entries * s->d_head, sizeof *pool->value);
    pool->knows_state = memory(n_states, 1);
    pool->knows_entry = memory(n_entries, 1);
}

void oracle_pool_free(struct oracle_pool *pool) {
    free(pool->state);
    free(pool->key);
    free(pool->value);
    free(pool->knows_state);
    free(pool->knows_entry);
}

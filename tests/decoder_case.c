/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/decoder_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/layers.h"
#include "tests/random.h"

#define BEHIND 64 /* bytes behind a workspace, that a run leaves as they are */

/* n random weights of about 1 / sqrt(n_in), or NULL for a bias that is left out. */
static const float *weights(struct decoder_case *c, unsigned long long *random, int n, int n_in) {
    float *w = c->weight + c->n_weights;
    c->n_weights += n;
    if (c->n_weights > CASE_WEIGHTS) {
        abort();
    }
    for (int i = 0; i < n; i++) {
        w[i] = (float)(1.7 * random_uniform(random) / sqrt(n_in));
    }
    return w;
}

static const float *bias(struct decoder_case *c, unsigned long long *random, int n) {
    return random_below(random, 2) ? weights(c, random, n, 9) : NULL;
}

static const float *norm_bias(struct decoder_case *c, unsigned long long *random) {
    return c->decoder.shape.norm == CP_NORM_RMS ? NULL : bias(c, random, c->decoder.shape.d_model);
}

static void make_shape(struct cp_decoder_shape *s, unsigned long long *random, int positions,
                       int n_layers) {
    memset(s, 0, sizeof *s);
    s->n_layers = n_layers;
    s->n_vocab = 3 + random_below(random, 10);
    s->d_model = 2 + random_below(random, 9);
    s->n_kv_heads = 1 + random_below(random, 3);
    s->n_heads = s->n_kv_heads * (1 + random_below(random, 3));
    s->d_head = 1 + random_below(random, CASE_WIDTH / s->n_heads < 8 ? CASE_WIDTH / s->n_heads : 8);
    s->d_hidden = 1 + random_below(random, 10);
    s->norm = random_below(random, 2);
    s->network = random_below(random, 3);
    s->positions = positions;
    s->norm_epsilon = random_below(random, 2) ? 0.125 : 1e-3;
    s->scale = 1.0 / sqrt(s->d_head);
    if (positions == CP_POSITIONS_ROTARY) {
        s->d_head += s->d_head % 2;
        s->n_pairs = 1 + random_below(random, s->d_head / 2);
        s->pair_distance = 1 + random_below(random, s->n_pairs);
        while (s->n_pairs % s->pair_distance != 0) {
            s->pair_distance--;
        }
    }
    s->n_positions = positions == CP_POSITIONS_LEARNED ? CASE_TOKENS : 0;
}

static void make_layer(struct decoder_case *c, struct cp_decoder_layer *layer,
                       unsigned long long *random) {
    const struct cp_decoder_shape *s = &c->decoder.shape;
    int d = s->d_model, q = s->n_heads * s->d_head, kv = s->n_kv_heads * s->d_head;
    int is_gated = s->network == CP_NETWORK_SWIGLU;
    memset(layer, 0, sizeof *layer);
    layer->attention_norm = weights(c, random, d, 1);
    layer->attention_norm_bias = norm_bias(c, random);
    layer->query = weights(c, random, q * d, d);
    layer->query_bias = bias(c, random, q);
    layer->key = weights(c, random, kv * d, d);
    layer->key_bias = bias(c, random, kv);
    layer->value = weights(c, random, kv * d, d);
    layer->value_bias = bias(c, random, kv);
    layer->mix = weights(c, random, d * q, q);
    layer->mix_bias = bias(c, random, d);
    layer->network_norm = weights(c, random, d, 1);
    layer->network_norm_bias = norm_bias(c, random);
    layer->gate = is_gated ? weights(c, random, s->d_hidden * d, d) : NULL;
    layer->gate_bias = is_gated ? bias(c, random, s->d_hidden) : NULL;
    layer->up = weights(c, random, s->d_hidden * d, d);
    layer->up_bias = bias(c, random, s->d_hidden);
    layer->down = weights(c, random, d * s->d_hidden, s->d_hidden);
    layer->down_bias = bias(c, random, d);
}

void decoder_case_make(struct decoder_case *c, unsigned long long *random, int positions,
                       int n_layers) {
    struct cp_decoder *decoder = &c->decoder;
    memset(c, 0, sizeof *c);
    make_shape(&decoder->shape, random, positions, n_layers);
    const struct cp_decoder_shape *s = &decoder->shape;
    if (positions == CP_POSITIONS_ROTARY) {
        cp_rotary_frequencies(c->frequency, s->n_pairs, 100.0, 1.0 + random_below(random, 2));
        decoder->frequency = c->frequency;
    }
    decoder->embedding = weights(c, random, s->n_vocab * s->d_model, 1);
    decoder->position_embedding = positions == CP_POSITIONS_LEARNED
                                      ? weights(c, random, s->n_positions * s->d_model, 1)
                                      : NULL;
    for (int l = 0; l < n_layers; l++) {
        make_layer(c, &c->layer[l], random);
    }
    decoder->layer = c->layer;
    decoder->final_norm = weights(c, random, s->d_model, 1);
    decoder->final_norm_bias = norm_bias(c, random);
    decoder->output =
        random_below(random, 2) ? weights(c, random, s->n_vocab * s->d_model, s->d_model) : NULL;
}

void decoder_case_cache(struct decoder_cache *c) {
    for (int i = 0; i < CASE_NUMBERS; i++) {
        c->k[i] = c->v[i] = NAN;
    }
    memset(c->position, 0x7E, sizeof c->position);
    c->cache = (struct cp_decoder_cache){0, CASE_TOKENS, c->position, c->k, c->v};
}

int decoder_case_run(const struct decoder_case *c, struct decoder_cache *cache, int n,
                     const int *token, const int *position, const unsigned char *sees,
                     double *states, double *logits) {
    size_t size = cp_decoder_workspace(&c->decoder.shape, n, cache->cache.n + n);
    unsigned char *workspace = malloc(size + BEHIND);
    if (size == 0 || workspace == NULL) {
        abort();
    }
    memset(workspace, 0xFF, size + BEHIND); /* all bits 1: a NaN */
    struct cp_decoder_call call = {n, token, position, sees, states, logits, 0, workspace, size};
    int status = cp_decoder_run(&c->decoder, &cache->cache, &call);
    for (size_t i = size; i < size + BEHIND; i++) {
        if (workspace[i] != 0xFF) {
            abort(); /* the size was too small for what the run wrote */
        }
    }
    free(workspace);
    return status;
}

size_t decoder_case_at(const struct decoder_case *c, const struct decoder_cache *cache, int l,
                       int e, int g) {
    const struct cp_decoder_shape *s = &c->decoder.shape;
    size_t head =
        ((size_t)l * (size_t)cache->cache.capacity + (size_t)e) * (size_t)s->n_kv_heads + (size_t)g;
    return head * (size_t)s->d_head;
}

int decoder_case_same_entry(const struct decoder_case *c, const struct decoder_cache *a, int e,
                            const struct decoder_cache *b, int f) {
    const struct cp_decoder_shape *s = &c->decoder.shape;
    size_t bytes = (size_t)s->n_kv_heads * (size_t)s->d_head * sizeof(double);
    int is_same = a->position[e] == b->position[f];
    for (int l = 0; l < s->n_layers; l++) {
        size_t of_a = decoder_case_at(c, a, l, e, 0), of_b = decoder_case_at(c, b, l, f, 0);
        is_same = is_same && memcmp(a->k + of_a, b->k + of_b, bytes) == 0 &&
                  memcmp(a->v + of_a, b->v + of_b, bytes) == 0;
    }
    return is_same;
}

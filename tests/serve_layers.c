/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of a server (spec/layers.md): all rows of a step go through a layer together, and
 * attention is the two phases over the pool.
 *
 *     x = embedding                                          LAYER-1
 *     in each layer
 *         q, k, v = projections of norm(x), rotated          LAYER-2 to 5
 *         k, v of each row into its slot                     POOL-7
 *         x = x + mix of cp_attend() over the plan           LAYER-7, RUNS-5, LAYER-10
 *         x = x + network(norm(x))                           LAYER-8 to 10
 *     logits = output of norm(x)                             LAYER-11
 *
 * With ALiBi a score has slope (j - p) in addition (LAYER-6). cp_attend() has no bias, so a head
 * has one number more: the position j in keys, and slope in queries, which are scaled before. The
 * rest, -slope p, is the same for all keys of a row and changes no weight. */
#include <stdlib.h>
#include <string.h>

#include "chunkproof/attend.h"
#include "chunkproof/layers.h"
#include "tests/serve.h"

/* [rows][numbers], poisoned: all bits 1 are a NaN. */
static double *numbers(int n_rows, int n) {
    size_t bytes = (size_t)(n_rows * n + 1) * sizeof(double);
    double *x = malloc(bytes);
    if (x == NULL) {
        abort();
    }
    memset(x, 0xFF, bytes);
    return x;
}

int serve_head_dim(const struct cp_decoder_shape *shape) {
    return shape->d_head + (shape->positions == CP_POSITIONS_ALIBI);
}

static void embed(const struct cp_decoder *decoder, const struct serve_rows *rows, double *x) {
    int d = decoder->shape.d_model;
    for (int r = 0; r < rows->n; r++) {
        const struct serve_token *row = &rows->token[r];
        for (int i = 0; i < d; i++) {
            x[r * d + i] = decoder->embedding[row->token * d + i];
            if (decoder->position_embedding != NULL) {
                x[r * d + i] += decoder->position_embedding[row->position * d + i];
            }
        }
    }
}

static void norm(const struct cp_decoder_shape *s, double *y, const double *x, int n,
                 const float *weight, const float *bias) {
    for (int r = 0; r < n; r++) {
        int at = r * s->d_model;
        if (s->norm == CP_NORM_RMS) {
            cp_norm_rms(y + at, x + at, weight, s->d_model, s->norm_epsilon);
        } else {
            cp_norm_layer(y + at, x + at, weight, bias, s->d_model, s->norm_epsilon);
        }
    }
}

/* LAYER-5: all heads of all rows. */
static void rotate(const struct cp_decoder *decoder, const struct serve_rows *rows, double *x,
                   int n_heads) {
    const struct cp_decoder_shape *s = &decoder->shape;
    double cosine[CASE_WIDTH], sine[CASE_WIDTH];
    for (int r = 0; r < rows->n && s->positions == CP_POSITIONS_ROTARY; r++) {
        cp_rotation(cosine, sine, decoder->frequency, s->n_pairs, rows->token[r].position);
        for (int head = 0; head < n_heads; head++) {
            cp_rotate(x + (r * n_heads + head) * s->d_head, cosine, sine, s->n_pairs,
                      s->pair_distance);
        }
    }
}

void serve_store(const struct server *server, int layer, int chunk, int kv_head, int slot,
                 int position, const double *key, const double *value) {
    const struct cp_decoder_shape *s = &server->decoder->decoder.shape;
    double k[CASE_WIDTH + 1], v[CASE_WIDTH + 1];
    memcpy(k, key, (size_t)s->d_head * sizeof *k);
    memcpy(v, value, (size_t)s->d_head * sizeof *v);
    k[s->d_head] = position; /* of ALiBi; else not stored */
    v[s->d_head] = 0.0;
    cp_kv_write(&server->kv[layer], chunk, kv_head, slot, k, v);
}

/* The queries as cp_attend() takes them. */
static void widen_queries(const struct cp_decoder_shape *s, double *to, const double *q, int n) {
    int d = s->d_head, wide = serve_head_dim(s);
    for (int r = 0; r < n; r++) {
        for (int head = 0; head < s->n_heads; head++) {
            double *row = to + (r * s->n_heads + head) * wide;
            memcpy(row, q + (r * s->n_heads + head) * d, (size_t)d * sizeof *q);
            for (int i = 0; i < d && wide > d; i++) {
                row[i] *= s->scale;
            }
            if (wide > d) {
                row[d] = cp_alibi_slope(head, s->n_heads);
            }
        }
    }
}

/* The two phases: out is [rows][heads][d_head]. */
static void attend(const struct server *server, int layer, const struct serve_rows *rows,
                   const double *q, double *out) {
    const struct cp_decoder_shape *s = &server->decoder->decoder.shape;
    int wide = serve_head_dim(s), position[SERVE_ROWS];
    double *wide_q = numbers(rows->n * s->n_heads, wide);
    double *wide_out = numbers(rows->n * s->n_heads, wide);
    for (int r = 0; r < rows->n; r++) {
        position[r] = rows->token[r].position;
    }
    widen_queries(s, wide_q, q, rows->n);
    struct cp_attention a = {
        .plan = server->plan,
        .stamp = server->batch->stamp,
        .n_heads = s->n_heads,
        .n_kv_heads = s->n_kv_heads,
        .head_dim = wide,
        .value_dim = wide,
        .v_row = wide,
        .scale = wide > s->d_head ? 1.0 : s->scale,
        .query_begin = rows->begin,
        .position = position,
        .q_type = CP_FP64,
        .k_type = server->kv[layer].type,
        .v_type = server->kv[layer].type,
        .out_type = CP_FP64,
        .q = wide_q,
        .k = server->kv[layer].k,
        .v = server->kv[layer].v,
        .out = wide_out,
        .variant = server->variant,
    };
    a.workspace_size = cp_attend_workspace(&a);
    a.workspace = malloc(a.workspace_size);
    if (a.workspace == NULL || cp_attend(&a) != CP_OK) {
        abort();
    }
    for (int i = 0; i < rows->n * s->n_heads; i++) {
        memcpy(out + i * s->d_head, wide_out + i * wide, (size_t)s->d_head * sizeof *out);
    }
    free(a.workspace);
    free(wide_q);
    free(wide_out);
}

static void add(double *x, const double *y, int n) {
    for (int i = 0; i < n; i++) {
        x[i] += y[i];
    }
}

static void attention(const struct server *server, int l, const struct serve_rows *rows, double *x,
                      double *y) {
    const struct cp_decoder *decoder = &server->decoder->decoder;
    const struct cp_decoder_shape *s = &decoder->shape;
    const struct cp_decoder_layer *layer = &decoder->layer[l];
    int n_q = s->n_heads * s->d_head, n_kv = s->n_kv_heads * s->d_head, d = s->d_model;
    double *q = numbers(rows->n, n_q), *k = numbers(rows->n, n_kv), *v = numbers(rows->n, n_kv);
    double *out = numbers(rows->n, n_q);
    norm(s, y, x, rows->n, layer->attention_norm, layer->attention_norm_bias);
    cp_project(q, y, rows->n, layer->query, layer->query_bias, n_q, d);
    cp_project(k, y, rows->n, layer->key, layer->key_bias, n_kv, d);
    cp_project(v, y, rows->n, layer->value, layer->value_bias, n_kv, d);
    rotate(decoder, rows, q, s->n_heads);
    rotate(decoder, rows, k, s->n_kv_heads);
    for (int r = 0; r < rows->n; r++) {
        const struct serve_token *row = &rows->token[r];
        for (int g = 0; g < s->n_kv_heads; g++) {
            int at = (r * s->n_kv_heads + g) * s->d_head;
            serve_store(server, l, row->chunk, g, row->slot, row->position, k + at, v + at);
        }
    }
    attend(server, l, rows, q, out);
    cp_project(y, out, rows->n, layer->mix, layer->mix_bias, d, n_q);
    add(x, y, rows->n * d);
    free(q);
    free(k);
    free(v);
    free(out);
}

static double activated(double x, int kind) {
    return kind == CP_NETWORK_SWIGLU      ? cp_silu(x)
           : kind == CP_NETWORK_GELU_TANH ? cp_gelu_tanh(x)
                                          : cp_gelu_erf(x);
}

static void network(const struct cp_decoder *decoder, int l, int n, double *x, double *y) {
    const struct cp_decoder_shape *s = &decoder->shape;
    const struct cp_decoder_layer *layer = &decoder->layer[l];
    double *up = numbers(n, s->d_hidden), *gate = numbers(n, s->d_hidden);
    norm(s, y, x, n, layer->network_norm, layer->network_norm_bias);
    cp_project(up, y, n, layer->up, layer->up_bias, s->d_hidden, s->d_model);
    if (layer->gate != NULL) {
        cp_project(gate, y, n, layer->gate, layer->gate_bias, s->d_hidden, s->d_model);
    }
    for (int i = 0; i < n * s->d_hidden; i++) {
        up[i] = layer->gate != NULL ? activated(gate[i], s->network) * up[i]
                                    : activated(up[i], s->network);
    }
    cp_project(y, up, n, layer->down, layer->down_bias, s->d_model, s->d_hidden);
    add(x, y, n * s->d_model);
    free(up);
    free(gate);
}

void serve_layers(const struct server *server, const struct serve_rows *rows, double *states,
                  double *logits) {
    const struct cp_decoder *decoder = &server->decoder->decoder;
    const struct cp_decoder_shape *s = &decoder->shape;
    double *y = numbers(rows->n, s->d_model);
    embed(decoder, rows, states);
    for (int l = 0; l < s->n_layers; l++) {
        attention(server, l, rows, states, y);
        network(decoder, l, rows->n, states, y);
    }
    norm(s, y, states, rows->n, decoder->final_norm, decoder->final_norm_bias);
    cp_project(logits, y, rows->n, decoder->output == NULL ? decoder->embedding : decoder->output,
               NULL, s->n_vocab, s->d_model);
    free(y);
}

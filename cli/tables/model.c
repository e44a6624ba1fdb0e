/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tables/model.h"

#include <math.h>
#include <string.h>

struct cp_layer cp_layer_llama2_7b(void) {
    return (struct cp_layer){.hidden = 4096,
                             .heads = 32,
                             .head_dim = 128,
                             .inner = 11008,
                             .vocabulary = 32000,
                             .number_bytes = 2};
}

static struct cp_cost times(double factor, struct cp_cost cost) {
    return (struct cp_cost){factor * cost.flops, factor * cost.bytes};
}

static struct cp_cost plus(struct cp_cost a, struct cp_cost b) {
    return (struct cp_cost){a.flops + b.flops, a.bytes + b.bytes};
}

struct cp_cost cp_cost_matmul(double m, double k, double n, int number_bytes) {
    return (struct cp_cost){2.0 * m * k * n, number_bytes * (m * k + k * n + m * n)};
}

struct cp_cost cp_cost_qkv(const struct cp_layer *layer, double tokens) {
    return cp_cost_matmul(tokens, layer->hidden, 3.0 * layer->hidden, layer->number_bytes);
}

/* Gate, up and down; the element-wise product between them is not counted. */
struct cp_cost cp_cost_mlp(const struct cp_layer *layer, double tokens) {
    return plus(
        times(2.0, cp_cost_matmul(tokens, layer->hidden, layer->inner, layer->number_bytes)),
        cp_cost_matmul(tokens, layer->inner, layer->hidden, layer->number_bytes));
}

struct cp_cost cp_cost_hidden_projection(const struct cp_layer *layer, double tokens) {
    return cp_cost_matmul(tokens, layer->hidden, layer->hidden, layer->number_bytes);
}

struct cp_cost cp_cost_vocabulary_projection(const struct cp_layer *layer, double tokens) {
    return cp_cost_matmul(tokens, layer->hidden, layer->vocabulary, layer->number_bytes);
}

struct cp_cost cp_cost_attention(const struct cp_layer *layer, double batch, double n_queries,
                                 double n_keys) {
    int d = layer->head_dim;
    struct cp_cost scores = cp_cost_matmul(n_queries, d, n_keys, layer->number_bytes);
    struct cp_cost values = cp_cost_matmul(n_queries, n_keys, d, layer->number_bytes);
    return times(batch * layer->heads, plus(scores, values));
}

double cp_intensity(struct cp_cost cost) {
    return cost.flops / cost.bytes;
}

double cp_mops_naive(const struct cp_kernel_shape *s) {
    return s->b * s->h * s->d * (2.0 + 2.0 * s->n);
}

/* n r is n_shared in both lines. */
double cp_mops_chunk_line_1(const struct cp_kernel_shape *s) {
    double private_tokens = s->n - s->n_shared;
    return s->h * (2.0 * s->c * s->d + 2.0 * s->b * s->d) * s->n_shared / s->c +
           2.0 * s->h * s->b * (s->d + private_tokens * s->d + s->d);
}

double cp_mops_chunk_line_2(const struct cp_kernel_shape *s) {
    double shared = 2.0 * s->n_shared * (s->b + s->c) / s->c; /* times b: 2nr(1/b + 1/c) */
    return s->h * s->d * (shared + s->b * (2.0 + 2.0 * (s->n - s->n_shared)));
}

double cp_mops_two_phase(const struct cp_kernel_shape *s) {
    double k = s->b >= 2.0 ? floor(s->n_shared / s->c) : 0.0;
    double shared_keys = 2.0 * k * s->c * s->d;
    double chunk_first = k * s->b * (s->d + (s->d + 2.0)); /* q in; o, m, n out */
    double partials = k * s->b * (s->d + 2.0);             /* o, m, n in again */
    double sequence_first = s->b * (2.0 * s->d + 2.0 * (s->n - k * s->c) * s->d);
    return s->h * (shared_keys + chunk_first + partials + sequence_first);
}

/* Published architectures. Parameters as the papers round them; of Llama 7B and 13B all of them. */
static const struct cp_dims known[] = {
    {"gpt3-175b", "GPT-3 175B", 175e9, 96, 96, 96, 128, 2},
    {"bert-base", "BERT base", 0, 12, 12, 12, 64, 2},
    {"falcon-1b", "Falcon 1B", 0, 24, 32, 32, 64, 2},
    {"falcon-7b", "Falcon 7B", 0, 32, 71, 1, 64, 2},
    {"falcon-40b", "Falcon 40B", 0, 60, 128, 8, 64, 2},
    {"falcon-180b", "Falcon 180B", 0, 80, 232, 8, 64, 2},
    {"llama-7b", "Llama 7B", 6738415616.0, 32, 32, 32, 128, 2},
    {"llama-13b", "Llama 13B", 13015864320.0, 40, 40, 40, 128, 2},
    {"llama-65b", "LLaMA 65B", 65e9, 80, 64, 64, 128, 2},
    {"llama-70b", "Llama 70B", 0, 80, 64, 8, 128, 2},
    {"mistral-7b", "Mistral 7B", 0, 32, 32, 8, 128, 2},
    {"mpt-7b", "MPT 7B", 0, 32, 32, 32, 128, 2},
    {"mpt-30b", "MPT 30B", 0, 48, 64, 64, 112, 2},
};

const struct cp_dims *cp_dims_at(int i) {
    int n = sizeof known / sizeof known[0];
    return i >= 0 && i < n ? &known[i] : NULL;
}

const struct cp_dims *cp_dims_find(const char *name) {
    for (int i = 0; cp_dims_at(i) != NULL; i++) {
        if (strcmp(cp_dims_at(i)->name, name) == 0) {
            return cp_dims_at(i);
        }
    }
    return NULL;
}

double cp_kv_bytes(const struct cp_dims *dims) {
    return 2.0 * dims->layers * dims->kv_heads * dims->head_dim * dims->number_bytes;
}

double cp_kv_bytes_all_heads(const struct cp_dims *dims) {
    return 2.0 * dims->layers * dims->heads * dims->head_dim * dims->number_bytes;
}

double cp_capacity_gain(double b, double n, double n_shared) {
    return n > n_shared ? (b * n - n_shared) / (b * (n - n_shared)) : HUGE_VAL;
}

double cp_capacity_gain_limit(double n, double n_shared) {
    return n > n_shared ? n / (n - n_shared) : HUGE_VAL;
}

struct cp_capacity cp_capacity_in_chunks(long long b, long long n, long long n_shared,
                                         long long c) {
    long long path = (n + c - 1) / c;
    long long common = n_shared / c;
    long long own = path - common;
    struct cp_capacity capacity = {
        .chunks_unshared = b * path,
        .chunks_shared = common + b * own,
        .stored_again = (b - 1) * (n_shared % c),
        .padding = b * (path * c - n),
    };
    if (own == 0) {
        capacity.fits = -1;
    } else {
        capacity.fits = (capacity.chunks_unshared - common) / own;
    }
    return capacity;
}

void cp_dims_resize(struct cp_dims *model, const struct cp_dims *given) {
    int is_grouped = model->kv_heads < model->heads;
    model->parameters = given->parameters > 0.0 ? given->parameters : model->parameters;
    model->layers = given->layers > 0 ? given->layers : model->layers;
    model->heads = given->heads > 0 ? given->heads : model->heads;
    model->kv_heads = given->kv_heads > 0 ? given->kv_heads
                      : is_grouped        ? model->kv_heads
                                          : model->heads;
    model->head_dim = given->head_dim > 0 ? given->head_dim : model->head_dim;
    model->number_bytes = given->number_bytes > 0 ? given->number_bytes : model->number_bytes;
}

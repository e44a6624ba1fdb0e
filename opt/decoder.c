/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a fast decoder: the steps of ref/decoder.c, each for all new tokens. Threads share the
 * rows of each step. */
#include <stdatomic.h>
#include <string.h>

#include "chunkproof/layers.h"
#include "opt/decoder_internal.h"

/* ---- Rows, shared by threads ---- */

typedef void row_function(const struct opt_run *run, int l, int i);

struct rows {
    const struct opt_run *run;
    row_function *work;
    int l;
    atomic_int next;
};

#define ROWS_AT_ONCE 8

static void work_on_rows(void *shared, int thread) {
    struct rows *rows = shared;
    int n = rows->run->call->n_new;
    (void)thread;
    for (int i; (i = atomic_fetch_add(&rows->next, ROWS_AT_ONCE)) < n;) {
        for (int end = i + ROWS_AT_ONCE; i < end && i < n; i++) {
            rows->work(rows->run, rows->l, i);
        }
    }
}

/* work(run, l, i) for each new token i. To call threads for a few rows would take longer. */
static void each_row(const struct opt_run *run, int l, row_function *work) {
    struct rows rows = {.run = run, .work = work, .l = l};
    atomic_init(&rows.next, 0);
    if (run->call->n_new <= ROWS_AT_ONCE) {
        work_on_rows(&rows, 0);
    } else {
        cp_opt_team_run(run->fast->opt->team, work_on_rows, &rows);
    }
}

static float *row_of(float *rows, int i, int width) {
    return rows + (size_t)i * (size_t)width;
}

/* LAYER-1 */
static void embed(const struct opt_run *run, int l, int i) {
    const struct cp_decoder *decoder = run->fast->decoder;
    size_t d = (size_t)run->shape->d_model;
    const float *word = decoder->embedding + (size_t)run->call->token[i] * d;
    float *x = run->fast->x + (size_t)i * d;
    (void)l;
    memcpy(x, word, d * sizeof *x);
    if (run->shape->positions == CP_POSITIONS_LEARNED) {
        const float *place = decoder->position_embedding + (size_t)run->call->position[i] * d;
        for (size_t c = 0; c < d; c++) {
            x[c] += place[c];
        }
    }
}

/* LAYER-10 */
static void add(const struct opt_run *run, int i) {
    float *x = row_of(run->fast->x, i, run->shape->d_model);
    const float *y = row_of(run->fast->y, i, run->shape->d_model);
    for (int c = 0; c < run->shape->d_model; c++) {
        x[c] += y[c];
    }
}

static void norm(const struct opt_run *run, int i, const float *weight, const float *bias) {
    int d = run->shape->d_model;
    cp_opt_norm(row_of(run->fast->y, i, d), row_of(run->fast->x, i, d), weight, bias, run->shape);
}

static void norm_for_attention(const struct opt_run *run, int l, int i) {
    const struct cp_decoder_layer *layer = &run->fast->decoder->layer[l];
    norm(run, i, layer->attention_norm, layer->attention_norm_bias);
}

static void add_and_norm_for_network(const struct opt_run *run, int l, int i) {
    const struct cp_decoder_layer *layer = &run->fast->decoder->layer[l];
    add(run, i);
    norm(run, i, layer->network_norm, layer->network_norm_bias);
}

static void add_network(const struct opt_run *run, int l, int i) {
    (void)l;
    add(run, i);
}

static void norm_for_output(const struct opt_run *run, int l, int i) {
    (void)l;
    norm(run, i, run->fast->decoder->final_norm, run->fast->decoder->final_norm_bias);
}

/* LAYER-5, of one head. */
static void rotate(const struct opt_run *run, float *x, int i) {
    int n = run->shape->n_pairs, distance = run->shape->pair_distance;
    const float *cosine = row_of(run->fast->cosine, i, n), *sine = row_of(run->fast->sine, i, n);
    for (int group = 0; group < n; group += distance) {
        float *first = x + 2 * (ptrdiff_t)group, *second = first + distance;
        for (int c = 0; c < distance; c++) {
            float a = first[c], b = second[c];
            first[c] = cosine[group + c] * a - sine[group + c] * b;
            second[c] = sine[group + c] * a + cosine[group + c] * b;
        }
    }
}

/* The query's heads are rotated; the key's too, and it goes to the cache with the value. */
static void rotate_and_store(const struct opt_run *run, int l, int i) {
    const struct cp_opt_decoder *fast = run->fast;
    int d = run->shape->d_head, n_kv = run->shape->n_kv_heads;
    for (int head = 0; head < run->shape->n_heads; head++) {
        rotate(run, fast->q + ((size_t)i * (size_t)run->shape->n_heads + (size_t)head) * (size_t)d,
               i);
    }
    for (int g = 0; g < n_kv; g++) {
        size_t from = ((size_t)i * (size_t)n_kv + (size_t)g) * (size_t)d;
        size_t to = cp_opt_entry_at(run->shape, run->cache, l, fast->slot_of_new[i], g);
        rotate(run, fast->k + from, i);
        memcpy(run->cache->k + to, fast->k + from, (size_t)d * sizeof(float));
        memcpy(run->cache->v + to, fast->v + from, (size_t)d * sizeof(float));
    }
}

static void activate(const struct opt_run *run, int l, int i) {
    const struct cp_opt_decoder *fast = run->fast;
    int n = run->shape->d_hidden;
    (void)l;
    cp_opt_activate(&fast->opt->kernels, row_of(fast->up, i, n), row_of(fast->gate, i, n), n,
                    run->shape->network);
}

/* ---- Layers ---- */

static void project(const struct opt_run *run, const float *x, int n_in,
                    const struct opt_projection *to, int n_to) {
    const struct opt_rows rows = {x, run->call->n_new, n_in};
    cp_opt_project(run->fast->opt, rows, to, n_to, run->fast->room);
}

static int attention(const struct opt_run *run, int l) {
    const struct cp_decoder_layer *layer = &run->fast->decoder->layer[l];
    const struct cp_opt_decoder *fast = run->fast;
    int d = run->shape->d_model, heads = run->shape->n_heads * run->shape->d_head;
    int kv = run->shape->n_kv_heads * run->shape->d_head;
    const struct opt_projection to[] = {{fast->q, layer->query, layer->query_bias, heads},
                                        {fast->k, layer->key, layer->key_bias, kv},
                                        {fast->v, layer->value, layer->value_bias, kv}};
    const struct opt_projection mix = {fast->y, layer->mix, layer->mix_bias, d};
    each_row(run, l, norm_for_attention);
    project(run, fast->y, d, to, 3);
    each_row(run, l, rotate_and_store);
    int status = cp_opt_decoder_attend(run, l);
    if (status == CP_OK) {
        project(run, fast->out, heads, &mix, 1);
    }
    return status;
}

static void network(const struct opt_run *run, int l) {
    const struct cp_decoder_layer *layer = &run->fast->decoder->layer[l];
    const struct cp_opt_decoder *fast = run->fast;
    int d = run->shape->d_model, n = run->shape->d_hidden;
    const struct opt_projection to[] = {{fast->up, layer->up, layer->up_bias, n},
                                        {fast->gate, layer->gate, layer->gate_bias, n}};
    const struct opt_projection down = {fast->y, layer->down, layer->down_bias, d};
    each_row(run, l, add_and_norm_for_network);
    project(run, fast->y, d, to, run->shape->network == CP_NETWORK_SWIGLU ? 2 : 1);
    each_row(run, l, activate);
    project(run, fast->up, n, &down, 1);
    each_row(run, l, add_network);
}

/* LAYER-11 */
static void output(const struct opt_run *run) {
    const struct cp_decoder *decoder = run->fast->decoder;
    int d = run->shape->d_model, first = run->call->first_logits;
    const struct opt_projection to = {
        run->call->logits, decoder->output == NULL ? decoder->embedding : decoder->output, NULL,
        run->shape->n_vocab};
    const struct opt_rows rows = {row_of(run->fast->y, first, d), run->call->n_new - first, d};
    if (run->call->logits == NULL || rows.n == 0) {
        return;
    }
    each_row(run, 0, norm_for_output);
    cp_opt_project(run->fast->opt, rows, &to, 1, run->fast->room);
}

static void find_rotations(const struct opt_run *run) {
    struct cp_opt_decoder *fast = run->fast;
    int n = run->shape->n_pairs;
    for (int i = 0; i < run->call->n_new; i++) {
        cp_rotation(fast->angle, fast->angle + n, fast->decoder->frequency, n,
                    run->call->position[i]);
        for (int c = 0; c < n; c++) {
            row_of(fast->cosine, i, n)[c] = (float)fast->angle[c];
            row_of(fast->sine, i, n)[c] = (float)fast->angle[n + c];
        }
    }
}

int cp_opt_decoder_run(struct cp_opt_decoder *fast, struct cp_opt_cache *cache,
                       const struct cp_opt_decoder_call *call) {
    int status = cp_opt_decoder_place(fast, cache, call);
    if (status != CP_OK) {
        return status;
    }
    const struct opt_run run = {fast, &fast->decoder->shape, cache, call};
    find_rotations(&run);
    each_row(&run, 0, embed);
    for (int l = 0; l < run.shape->n_layers; l++) {
        status = attention(&run, l);
        if (status != CP_OK) {
            return status;
        }
        network(&run, l);
    }
    if (call->states != NULL) {
        memcpy(call->states, fast->x,
               (size_t)call->n_new * (size_t)run.shape->d_model * sizeof *call->states);
    }
    output(&run);
    return CP_OK;
}

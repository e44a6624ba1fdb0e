/* SPDX-License-Identifier: Apache-2.0 */
/* How balls grow; a file that includes this has said in which arithmetic:
 *   ORACLE_UNIT     u, the unit roundoff
 *   ORACLE_TINY     what an operation is off by, however small its result
 *   ORACLE_SCALE    how often the scale of scores is rounded
 *   ORACLE(name)    the names of its three functions
 *
 * It may also say how a pool keeps keys and values, and how attention over it is computed:
 *   ORACLE_STORED   what rounding an entry adds to a ball
 *   ORACLE_BIAS     1: the bias of a key is one more term of its score, slope j without slope p,
 *                   and the query is scaled before (ALiBi)
 *   ORACLE_STATE, ORACLE_ENTRY    the functions that the recursion calls, which may remember
 *
 * One operation, computed from numbers that are off by no more than their e, is off by what these
 * make of it and by u times its result. Sums hold in any order of their terms. libm is taken to be
 * within 2 ulp, which is 4 u, and erf within 8: glibc's manual says 1 for the former, 5 for erfc.
 * What the oracle's own long double rounds is below 2^-10 of u for each operation; MORE covers it,
 * and products of two errors. */
#ifndef CHUNKPROOF_TESTS_DECODER_ORACLE_OF_H
#define CHUNKPROOF_TESTS_DECODER_ORACLE_OF_H

#include <math.h>
#include <stddef.h>

#include "tests/decoder_oracle.h"

#ifndef ORACLE_STORED
static struct ball not_rounded(const struct oracle *o, struct ball a) {
    (void)o;
    return a;
}

#define ORACLE_STORED(o, a) not_rounded(o, a)
#define ORACLE_BIAS         0
#define ORACLE_STATE        ORACLE(state)
#define ORACLE_ENTRY        ORACLE(entry)
#endif

static const long double U = ORACLE_UNIT, TINY = ORACLE_TINY;
static const long double LIBM = 4.0L, ERF = 16.0L, MORE = 1.02L;
static const long double UNBOUNDED = 1e30L; /* the error of a number that may be any */

static struct ball rounded(long double x, long double e, long double roundings) {
    struct ball b = {x, (e + roundings * U * (fabsl(x) + e)) * MORE + roundings * TINY};
    return b;
}

static struct ball exact(long double x) {
    struct ball b = {x, 0.0L};
    return b;
}

static struct ball times(struct ball a, struct ball b) {
    return rounded(a.x * b.x, fabsl(a.x) * b.e + fabsl(b.x) * a.e + a.e * b.e, 1);
}

static struct ball plus(struct ball a, struct ball b) {
    return rounded(a.x + b.x, a.e + b.e, 1);
}

static struct ball over(struct ball a, struct ball b) {
    long double x = a.x / b.x;
    long double least = fabsl(b.x) - b.e;
    return rounded(x, least > 0.0L ? (a.e + fabsl(x) * b.e) / least : UNBOUNDED, 1);
}

/* A sum of n terms in any order. */
static struct ball sum(const struct ball *term, int n) {
    long double x = 0.0L, e = 0.0L, size = 0.0L;
    for (int i = 0; i < n; i++) {
        x += term[i].x;
        e += term[i].e;
        size += fabsl(term[i].x) + term[i].e;
    }
    struct ball b = {x, (e + (long double)n * U * size) * MORE + (long double)n * TINY};
    return b;
}

static struct ball root(struct ball a) {
    long double x = sqrtl(a.x);
    return rounded(x, a.e / x, 1);
}

/* ---- The parts ---- */

static void embed(struct ball *state, const struct oracle *o, int i) {
    const struct cp_decoder *decoder = o->decoder;
    int d = decoder->shape.d_model;
    for (int c = 0; c < d; c++) {
        state[c] = exact(decoder->embedding[o->token[i] * d + c]);
        if (decoder->shape.positions == CP_POSITIONS_LEARNED) {
            state[c] = plus(state[c], exact(decoder->position_embedding[o->position[i] * d + c]));
        }
    }
}

static void norm(struct ball *y, const struct ball *x, const float *weight, const float *bias,
                 const struct cp_decoder_shape *shape) {
    struct ball term[ORACLE_MAX], n = exact(shape->d_model), mean = exact(0.0L);
    if (shape->norm == CP_NORM_LAYER) {
        mean = over(sum(x, shape->d_model), n);
    }
    mean.x = -mean.x;
    for (int c = 0; c < shape->d_model; c++) {
        y[c] = shape->norm == CP_NORM_LAYER ? plus(x[c], mean) : x[c];
        term[c] = times(y[c], y[c]);
    }
    struct ball by = root(plus(over(sum(term, shape->d_model), n), exact(shape->norm_epsilon)));
    for (int c = 0; c < shape->d_model; c++) {
        y[c] = times(over(y[c], by), exact(weight[c]));
        if (bias != NULL) {
            y[c] = plus(y[c], exact(bias[c]));
        }
    }
}

/* Number r of W x + b. */
static struct ball project(const struct ball *x, const float *weight, const float *bias, int n_in,
                           int r) {
    struct ball term[ORACLE_MAX];
    for (int c = 0; c < n_in; c++) {
        term[c] = times(exact(weight[r * n_in + c]), x[c]);
    }
    struct ball total = sum(term, n_in);
    return bias == NULL ? total : plus(total, exact(bias[r]));
}

/* DEC-8, with LAYER-5's pairs: coordinate c of a rotated head. A pair is two coordinates of one
 * group of 2 h that are h apart; pairs are counted group by group. */
static void rotate(struct ball *head, const struct cp_decoder *decoder, int position) {
    const struct cp_decoder_shape *shape = &decoder->shape;
    int h = shape->pair_distance, pair = 0;
    for (int group = 0; group < 2 * shape->n_pairs; group += 2 * h) {
        for (int c = group; c < group + h; c++, pair++) {
            long double angle = (long double)position * (long double)decoder->frequency[pair];
            struct ball cosine = rounded(cosl(angle), U * fabsl(angle), LIBM);
            struct ball sine = rounded(sinl(angle), U * fabsl(angle), LIBM);
            struct ball a = head[c], b = head[c + h], back = times(sine, b);
            back.x = -back.x;
            head[c] = plus(times(cosine, a), back);
            head[c + h] = plus(times(sine, a), times(cosine, b));
        }
    }
}

/* The slopes as the paper's code has them: a recursion over the number of heads. */
static long double slope_of(int head, int n_heads) {
    int m = 1;
    while (2 * m <= n_heads) {
        m *= 2;
    }
    if (m == n_heads) {
        long double ratio = powl(2.0L, -8.0L / n_heads), slope = ratio;
        for (int i = 0; i < head; i++) {
            slope *= ratio;
        }
        return slope;
    }
    return head < m ? slope_of(head, m) : slope_of(2 * (head - m), 2 * m);
}

/* Query `head` of token i, or its key in K/V head g: the projection, and the rotation. */
static void project_head(struct ball *y, const struct oracle *o, const struct ball *normed, int i,
                         const float *weight, const float *bias, int head, int is_rotated) {
    const struct cp_decoder_shape *shape = &o->decoder->shape;
    for (int c = 0; c < shape->d_head; c++) {
        y[c] = project(normed, weight, bias, shape->d_model, head * shape->d_head + c);
    }
    if (is_rotated && shape->positions == CP_POSITIONS_ROTARY) {
        rotate(y, o->decoder, o->position[i]);
    }
}

void ORACLE(entry)(struct ball *key, struct ball *value, const struct oracle *o, int l, int i,
                   int g) {
    const struct cp_decoder_layer *layer = &o->decoder->layer[l];
    struct ball state[ORACLE_MAX], normed[ORACLE_MAX];
    ORACLE_STATE(state, o, l, i);
    norm(normed, state, layer->attention_norm, layer->attention_norm_bias, &o->decoder->shape);
    project_head(key, o, normed, i, layer->key, layer->key_bias, g, 1);
    project_head(value, o, normed, i, layer->value, layer->value_bias, g, 0);
    for (int c = 0; c < o->decoder->shape.d_head; c++) {
        key[c] = ORACLE_STORED(o, key[c]);
        value[c] = ORACLE_STORED(o, value[c]);
    }
}

/* Attention over n keys (LAYER-7). A weight, computed by merges in any order, is off by
 *   u R        R the range of the scores: the differences of maxima add up to no more
 *   6 u        for each merge: exp (4), a product and a sum
 * relatively, and by the error of its score. So it is where K parts of n keys are merged, of which
 * that of the key has n' <= n - (K - 1): the part takes exp, a product and n' sums, hence
 * (5 + n') u, and K - 1 merges take 6 u each. Together this is no more than 6 n u, as n' >= 1. */
static void average(struct ball *out, const struct ball *score, struct ball (*value)[ORACLE_MAX],
                    int n, int d) {
    long double most = -INFINITY, least = INFINITY, e = 0.0L, weight[ORACLE_MAX], total = 0.0L;
    for (int j = 0; j < n; j++) {
        most = fmaxl(most, score[j].x);
        least = fminl(least, score[j].x);
        e = fmaxl(e, score[j].e);
    }
    for (int j = 0; j < n; j++) {
        weight[j] = expl(score[j].x - most);
        total += weight[j];
    }
    long double off = expm1l(e + U * (most - least + 2.0L * e + 6.0L * (long double)n)) * MORE;
    for (int c = 0; c < d; c++) {
        long double mean = 0.0L, size = 0.0L, of_values = 0.0L;
        for (int j = 0; j < n; j++) {
            mean += weight[j] / total * value[j][c].x;
            size += weight[j] / total * fabsl(value[j][c].x);
            of_values += weight[j] / total * value[j][c].e;
        }
        long double of_mean = ((1.0L + off) * of_values + 2.0L * off * size) / (1.0L - off);
        out[c] = rounded(mean, off < 1.0L ? of_mean : UNBOUNDED, 1);
    }
}

/* How far the sum of the scaled terms and slope j is from what it is over the reals. The bias of
 * LAYER-6 has -slope p in addition, in all scores of a row: the weights are the same. */
static long double error_of_sum(const struct oracle *o, const struct ball *query,
                                const struct ball *key, int j, long double slope) {
    const struct cp_decoder_shape *shape = &o->decoder->shape;
    struct ball term[ORACLE_MAX + 1];
    for (int c = 0; c < shape->d_head; c++) {
        term[c] = times(times(exact(shape->scale), query[c]), key[c]);
    }
    term[shape->d_head] = times(rounded(slope, 0.0L, LIBM), exact(o->position[j]));
    return sum(term, shape->d_head + 1).e;
}

static void attend(struct ball *out, const struct oracle *o, const struct ball *normed, int l,
                   int i, int head) {
    const struct cp_decoder_shape *shape = &o->decoder->shape;
    const struct cp_decoder_layer *layer = &o->decoder->layer[l];
    struct ball query[ORACLE_MAX], key[ORACLE_MAX], term[ORACLE_MAX];
    struct ball score[ORACLE_MAX], value[ORACLE_MAX][ORACLE_MAX];
    int n = 0, group = shape->n_heads / shape->n_kv_heads;
    project_head(query, o, normed, i, layer->query, layer->query_bias, head, 1);
    for (int j = o->n - 1; j >= 0; j--) {
        if (!o->sees[i * o->n + j]) {
            continue;
        }
        ORACLE_ENTRY(key, value[n], o, l, j, head / group);
        for (int c = 0; c < shape->d_head; c++) {
            term[c] = times(query[c], key[c]);
        }
        score[n] = times(rounded(shape->scale, 0.0L, ORACLE_SCALE), sum(term, shape->d_head));
        if (shape->positions == CP_POSITIONS_ALIBI) {
            long double slope = slope_of(head, shape->n_heads);
            struct ball bias = times(rounded(slope, 0.0L, LIBM),
                                     exact((long double)o->position[j] - o->position[i]));
            score[n] = plus(score[n], bias);
            score[n].e += ORACLE_BIAS ? error_of_sum(o, query, key, j, slope) : 0.0L;
        }
        n++;
    }
    average(out, score, value, n, shape->d_head);
    for (int c = 0; n == 0 && c < shape->d_head; c++) {
        out[c] = exact(0.0L);
    }
}

/* LAYER-8 and LAYER-9. Each of these functions rises and falls by less than 1.2 times its
 * argument. */
static struct ball activate(struct ball a, int network) {
    long double x = a.x, y, u, roundings;
    if (network == CP_NETWORK_SWIGLU) {
        y = x / (1.0L + expl(-x));
        u = 0.0L;
        roundings = LIBM + 2;
    } else if (network == CP_NETWORK_GELU_TANH) {
        u = sqrtl(2.0L / acosl(-1.0L)) * (x + 0.044715L * x * x * x);
        y = 0.5L * x * (1.0L + tanhl(u));
        u *= 2.0L * 8.0L * U * x; /* 8 roundings in exp's argument 2 u; sigmoid' is below 1 */
        roundings = LIBM + 2;
    } else {
        y = 0.5L * x * (1.0L + erfl(x / sqrtl(2.0L)));
        u = x * x * 2.0L * U; /* 2 roundings in erfc's argument; 0.5 erf' is below 1 */
        roundings = ERF + 2;
    }
    return rounded(y, 1.2L * a.e + fabsl(u), roundings);
}

static void feed_forward(struct ball *y, const struct oracle *o, const struct ball *normed, int l) {
    const struct cp_decoder_shape *shape = &o->decoder->shape;
    const struct cp_decoder_layer *layer = &o->decoder->layer[l];
    struct ball hidden[ORACLE_MAX];
    for (int c = 0; c < shape->d_hidden; c++) {
        hidden[c] = project(normed, layer->up, layer->up_bias, shape->d_model, c);
        if (shape->network == CP_NETWORK_SWIGLU) {
            struct ball gate = project(normed, layer->gate, layer->gate_bias, shape->d_model, c);
            hidden[c] = times(hidden[c], activate(gate, shape->network));
        } else {
            hidden[c] = activate(hidden[c], shape->network);
        }
    }
    for (int c = 0; c < shape->d_model; c++) {
        y[c] = project(hidden, layer->down, layer->down_bias, shape->d_hidden, c);
    }
}

/* ---- The recursion ---- */

void ORACLE(state)(struct ball *state, const struct oracle *o, int l, int i) {
    const struct cp_decoder_shape *shape = &o->decoder->shape;
    if (l == 0) {
        embed(state, o, i);
        return;
    }
    const struct cp_decoder_layer *layer = &o->decoder->layer[l - 1];
    struct ball normed[ORACLE_MAX], out[ORACLE_MAX], y[ORACLE_MAX];
    ORACLE_STATE(state, o, l - 1, i);
    norm(normed, state, layer->attention_norm, layer->attention_norm_bias, shape);
    for (int head = 0; head < shape->n_heads; head++) {
        attend(out + head * shape->d_head, o, normed, l - 1, i, head);
    }
    for (int c = 0; c < shape->d_model; c++) {
        y[c] = project(out, layer->mix, layer->mix_bias, shape->n_heads * shape->d_head, c);
    }
    for (int c = 0; c < shape->d_model; c++) {
        state[c] = plus(state[c], y[c]);
    }
    norm(normed, state, layer->network_norm, layer->network_norm_bias, shape);
    feed_forward(y, o, normed, l - 1);
    for (int c = 0; c < shape->d_model; c++) {
        state[c] = plus(state[c], y[c]);
    }
}

void ORACLE(logits)(struct ball *logits, const struct oracle *o, int i) {
    const struct cp_decoder *decoder = o->decoder;
    struct ball state[ORACLE_MAX], normed[ORACLE_MAX];
    ORACLE_STATE(state, o, decoder->shape.n_layers, i);
    norm(normed, state, decoder->final_norm, decoder->final_norm_bias, &decoder->shape);
    const float *output = decoder->output == NULL ? decoder->embedding : decoder->output;
    for (int w = 0; w < decoder->shape.n_vocab; w++) {
        logits[w] = project(normed, output, NULL, decoder->shape.d_model, w);
    }
}

#endif

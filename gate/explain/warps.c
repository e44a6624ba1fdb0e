/* SPDX-License-Identifier: Apache-2.0 */
/* Warps or lanes that take tiles of keys in turn, each with a state of its own: sums of one that are not rescaled, and what
 * goes wrong when all are merged. */
#include <math.h>

#include "gate/explain/explain.h"

#define MOST_TILE     256
#define MOST_WARPS    32
#define WARP          32   /* threads */
#define MOST_SHUFFLED 2048 /* keys of a row */
#define LOG2_E        1.4426950408889634
#define LN_2          0.6931471805599453
#define LOG_FLOAT     88.0 /* exp() of more may be infinite in binary32 */

/* ---- A warp's sums ---- */

/* By what the sums are multiplied when the maximum of a warp grows: 1.0 and 1.0 were right. */
static const struct lag {
    double of_n, of_o; /* times the logarithm of the factor */
    const char *words;
} lags[] = {
    {0.0, 1.0, "the sum of weights had not been rescaled when the maximum grew (MERGE-4)"},
    {1.0, 0.0, "the sum of weighted values had not been rescaled when the maximum grew (MERGE-4)"},
    {0.0, 0.0, "neither sum had been rescaled when the maximum grew (MERGE-4)"},
    {LOG2_E, LOG2_E,
     "the sums had been rescaled by a power of e, and scores were in bits: it is 2^(old - new) "
     "(MERGE-4)"},
    {LN_2, LN_2,
     "the sums had been rescaled by a power of 2, and scores were in nats: it is exp(old - new) "
     "(MERGE-4)"},
};

static void weigh_tile(const struct explain *x, const struct lag *lag, struct explain_state *s,
                       int first, int end) {
    double largest = s->m;
    for (int j = first; j < end; j++) {
        largest = fmax(largest, x->scratch[j]);
    }
    double of_n = exp(lag->of_n * (s->m - largest)), of_o = exp(lag->of_o * (s->m - largest));
    s->n *= s->m == -INFINITY ? 0.0 : of_n;
    for (int i = 0; i < x->d; i++) {
        s->o[i] *= s->m == -INFINITY ? 0.0 : of_o;
        s->size[i] *= s->m == -INFINITY ? 0.0 : of_o;
    }
    s->m = largest;
    for (int j = first; j < end; j++) {
        explain_add_key(x, s, j, 1.0, 1.0);
    }
}

static void merge_rightly(const struct explain *x, struct explain_state *whole,
                          const struct explain_state *part) {
    double factor = part->n > 0.0 ? exp(part->m - whole->m) : 0.0;
    whole->n += factor * part->n;
    for (int i = 0; i < x->d; i++) {
        whole->o[i] += factor * part->o[i];
        whole->size[i] += factor * part->size[i];
    }
}

/* a: what is wrong; keys of a tile; warps, that take tiles in turn; 1: of the sequence's own chunks alone. All are merged as
 * they should be. */
static int sum_by_warps(struct explain *x, const int *a) {
    struct explain_state whole, part;
    explain_take_scores(x);
    int begin = a[3] ? x->at->problem.n_shared_chunks[x->s] * x->c : 0;
    int tile = explain_keys_of_step(x, a[1]);
    if (x->outside || x->m <= begin + tile * a[2] || (a[3] && begin == 0)) {
        return 0;
    }
    explain_begin(x, &whole, 0);
    explain_begin(x, &part, 1);
    explain_find_largest(x, &whole);
    for (int j = 0; j < begin; j++) {
        explain_add_key(x, &whole, j, 1.0, 1.0);
    }
    for (int warp = 0; warp < a[2] && begin + warp * tile < x->m; warp++) {
        explain_clear(x, &part);
        for (int first = begin + warp * tile; first < x->m; first += tile * a[2]) {
            weigh_tile(x, &lags[a[0]], &part, first, first + tile < x->m ? first + tile : x->m);
        }
        merge_rightly(x, &whole, &part);
    }
    return explain_finish(x, &whole, whole.n);
}

static void try_lag(struct explain *x, int lag, int tile, int warps) {
    const int a[EXPLAIN_NUMBERS] = {lag, tile, warps}, own[EXPLAIN_NUMBERS] = {lag, tile, warps, 1};
    char step[60];
    explain_name_step(tile, step, sizeof step);
    if (warps > 1) {
        explain_try(x, sum_by_warps, a, 49,
                    "as if %s, in steps of %s that %d warps or lanes take in turn", lags[lag].words,
                    step, warps);
        return;
    }
    if (lags[lag].of_n == lags[lag].of_o && lags[lag].of_n > 0.0) {
        explain_try(x, sum_by_warps, a, 48, "as if %s, in steps of %s", lags[lag].words, step);
    }
    explain_try(x, sum_by_warps, own, 48,
                "as if %s, in steps of %s, of the sequence's own chunks alone: those that are "
                "shared are merged as they should be",
                lags[lag].words, step);
}

static void try_warps(struct explain *x) {
    for (int lag = 0; lag < (int)(sizeof lags / sizeof lags[0]); lag++) {
        try_lag(x, lag, EXPLAIN_A_CHUNK, 1);
        for (int tile = 1; tile <= MOST_TILE / 2; tile *= 2) {
            for (int warps = 1; warps <= MOST_WARPS && tile * warps < x->n; warps *= 2) {
                try_lag(x, lag, tile, warps);
            }
        }
    }
}

/* ---- What a thread merges ---- */

/* What a thread takes in the merge of all warps' sums of weighted values: its own warp's, which has elements of its own. */
enum own { OWN_FOR_ALL, OWN_ALONE, OWN_DIVIDED, N_OWN };

static double maximum_of_warp(const struct explain *x, const int *a, int warp) {
    double m = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        m = j / a[1] % a[2] == warp ? fmax(m, x->scratch[j]) : m;
    }
    return m;
}

/* a: which; keys of a tile; warps, of 32 threads, one for each element. */
static int take_own_warp(struct explain *x, const int *a) {
    struct explain_state whole, part;
    double factors = 0.0;
    explain_take_scores(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_begin(x, &whole, 0);
    explain_begin(x, &part, 1);
    explain_find_largest(x, &whole);
    for (int warp = 0; warp < a[2]; warp++) {
        factors += exp(maximum_of_warp(x, a, warp) - whole.m);
    }
    for (int warp = 0; warp < a[2]; warp++) {
        explain_clear(x, &part);
        part.m = maximum_of_warp(x, a, warp);
        for (int j = 0; j < x->m; j++) {
            if (j / a[1] % a[2] == warp) {
                explain_add_key(x, &part, j, 1.0, 1.0);
            }
        }
        double factor = exp(part.m - whole.m), times = a[0] == OWN_FOR_ALL ? factors : factor;
        whole.n += factor * part.n;
        times = a[0] == OWN_DIVIDED ? (part.n > 0.0 ? 1.0 / part.n : 0.0) : times;
        for (int i = 0; i < x->d; i++) {
            if (i / WARP % a[2] == warp) {
                whole.o[i] = times * part.o[i];
                whole.size[i] = times * part.size[i];
            }
        }
    }
    return explain_finish(x, &whole, a[0] == OWN_DIVIDED ? 1.0 : whole.n);
}

/* Each thread has scaled the sums of all warps to its own warp's maximum, not to the largest: what is divided by what is
 * right for all that, but where its warp has no key it is inf / inf. a: keys of a tile; warps; 1: the thread that writes
 * the log-sum-exp adds the largest to it. */
static int scale_to_own(struct explain *x, const int *a) {
    size_t at = (size_t)x->pair * (size_t)x->at->width;
    const int of_tile[EXPLAIN_NUMBERS] = {0, a[0], a[1]};
    struct explain_state whole;
    int changed = 0;
    explain_take_scores(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_begin(x, &whole, 0);
    explain_find_largest(x, &whole);
    for (int i = 0; i < x->d; i++) {
        double m = maximum_of_warp(x, of_tile, i / WARP % a[1]);
        x->numbers.expected[i] = m == -INFINITY ? NAN : x->at->expected[at + (size_t)i];
        x->numbers.bound[i] = whole.m - m > LOG_FLOAT ? INFINITY : x->at->bound[at + (size_t)i];
        changed |= m == -INFINITY;
    }
    double off = a[2] ? whole.m - maximum_of_warp(x, of_tile, 0) : 0.0;
    x->numbers.expected[x->d] = x->at->expected[at + (size_t)x->d] + off;
    x->numbers.bound[x->d] = off > LOG_FLOAT ? INFINITY : 2.0 * x->at->bound[at + (size_t)x->d];
    return changed || off > 0.0;
}

static void try_scales_of_own(struct explain *x) {
    for (int tile = 1; tile <= MOST_TILE / 4; tile *= 2) {
        for (int warps = 2; warps <= MOST_WARPS / 2; warps *= 2) {
            for (int of_lse = 1; of_lse >= 0; of_lse--) {
                const int a[EXPLAIN_NUMBERS] = {tile, warps, of_lse};
                explain_try(
                    x, scale_to_own, a, 10,
                    "as if in the merge of %d warps, which take tiles of %d %s in turn, each "
                    "thread had scaled all sums to its own warp's maximum, not to the "
                    "largest: where its warp has no key that is inf / inf%s (MERGE-4)",
                    warps, tile, tile == 1 ? "key" : "keys",
                    of_lse ? ", and lse has the largest added" : "");
            }
        }
    }
}

static void try_own_warp(struct explain *x) {
    static const char *const words[N_OWN] = {
        "had taken its own warp's sum of weighted values for that of each",
        "had taken its own warp's sum of weighted values alone",
        "had taken its own warp's result alone"};
    for (int tile = 1; tile <= MOST_TILE / 4; tile *= 2) {
        for (int warps = 2; warps <= MOST_WARPS / 2; warps *= 2) {
            for (int which = 0; which < N_OWN; which++) {
                const int a[EXPLAIN_NUMBERS] = {which, tile, warps};
                explain_try(x, take_own_warp, a, 47,
                            "as if in the merge of %d warps, which take tiles of %d %s in turn, "
                            "each thread %s (MERGE-4)",
                            warps, tile, tile == 1 ? "key" : "keys", words[which]);
            }
        }
    }
}

/* ---- Weights that are handed on by shuffles ---- */

/* Lanes have a key's weight each, and elements of o. Shuffled within some lanes alone, a lane gets the weight of another
 * key from its own part of the warp. a: lanes of a part; 1: a lane has elements side by side, 0: every 32nd. */
static int shuffle_within(struct explain *x, const int *a) {
    struct explain_state s;
    int side = (x->d + WARP - 1) / WARP;
    explain_take_scores(x);
    if (x->outside || x->m == 0 || (a[1] && side == 1)) {
        return 0;
    }
    explain_begin(x, &s, 0);
    explain_find_largest(x, &s);
    for (int j = 0; j < x->m; j++) {
        s.n += exp(x->scratch[j] - s.m);
    }
    for (int i = 0; i < x->d; i++) {
        int part = (a[1] ? i / side : i % WARP) / a[0] * a[0];
        for (int j = 0; j < x->m; j++) {
            int from = j / WARP * WARP + part + j % a[0];
            double weight = from < x->m ? exp(x->scratch[from] - s.m) : 0.0;
            double value = weight * x->v[(ptrdiff_t)j * x->d + i];
            s.o[i] += value;
            s.size[i] += fabs(value);
        }
    }
    return explain_finish(x, &s, s.n);
}

static void try_shuffles(struct explain *x) {
    for (int lanes = 2; lanes < WARP && x->n <= MOST_SHUFFLED; lanes *= 2) {
        for (int side = 0; side < 2; side++) {
            const int a[EXPLAIN_NUMBERS] = {lanes, side};
            explain_try(x, shuffle_within, a, 47,
                        "as if the weights of a warp's keys had been handed on within %d lanes, "
                        "not %d (a shuffle's width), each lane with %s: it multiplies V with "
                        "weights of other keys (SOFTMAX-1)",
                        lanes, WARP, side ? "elements side by side" : "every 32nd element");
        }
    }
}

void explain_try_warps(struct explain *x) {
    try_warps(x);
    try_shuffles(x);
    try_own_warp(x);
    try_scales_of_own(x);
}

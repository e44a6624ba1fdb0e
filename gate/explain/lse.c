/* SPDX-License-Identifier: Apache-2.0 */
/* A log-sum-exp that is wrong by itself: out is not looked at. */
#include <math.h>

#include "gate/explain/explain.h"

#define LN_2           0.6931471805599453
#define MOST_TILE      256
#define MOST_LANES     8
#define MOST_WARPS     16
#define MOST_WARP_TILE 64

/* Of which keys alone it is. a: which, a number. */
enum part {
    LAST_TILE_ALONE,
    FIRST_TILE_ALONE,
    LAST_CHUNK_ALONE,
    SHARED_ALONE,
    OWN_ALONE,
    ODD_PART
};

enum way { BASE_2, TIMES_LN_2, LARGEST, NOT_ADDED, SUM, SIGN, NOT_SCALED, COUNT, NO_MAXIMUM_SCALE };

/* Of the scaled scores. */
static double largest_score(struct explain *x) {
    double largest = -INFINITY;
    explain_take_all(x);
    explain_score_all(x);
    for (int j = 0; j < x->m; j++) {
        largest = fmax(largest, x->scratch[j]);
    }
    return largest;
}

static double value_of(struct explain *x, enum way way, double lse) {
    double largest = largest_score(x), scale = x->at->problem.scale;
    switch (way) {
    case BASE_2:
        return lse / LN_2;
    case TIMES_LN_2:
        return lse * LN_2;
    case LARGEST:
        return largest;
    case NOT_ADDED:
        return lse - largest;
    case SUM:
        return exp(lse - largest);
    case SIGN:
        return -lse;
    case NOT_SCALED:
        return lse / scale;
    case COUNT:
        return largest + log(x->n);
    default:
        return largest / scale + (lse - largest);
    }
}

static int other_lse(struct explain *x, const int *a) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)x->d;
    double lse = x->at->expected[at], bound = x->at->bound[at];
    double value = value_of(x, (enum way)a[0], lse);
    for (int i = 0; i < x->d; i++) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = INFINITY;
    }
    x->numbers.expected[x->d] = value;
    x->numbers.bound[x->d] = bound * fmax(1.0, fabs(value) / fmax(fabs(lse), 1.0));
    return x->n > 0 && !x->outside && isfinite(value) && fabs(value - lse) > bound;
}

/* ---- Of some keys alone ---- */

static int is_of_part(const struct explain *x, const int *a, int j) {
    int shared = x->at->problem.n_shared_chunks[x->s] * x->c;
    switch ((enum part)a[0]) {
    case LAST_TILE_ALONE:
        return j >= (x->n - 1) / a[1] * a[1];
    case FIRST_TILE_ALONE:
        return j < a[1];
    case LAST_CHUNK_ALONE:
        return j >= (x->n - 1) / x->c * x->c;
    case SHARED_ALONE:
        return j < shared;
    case OWN_ALONE:
        return j >= shared;
    default:
        return j % a[1] == a[2];
    }
}

static int lse_of_part(struct explain *x, const int *a) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)x->d;
    double largest = -INFINITY, sum = 0.0;
    explain_take_all(x);
    explain_score_all(x);
    for (int j = 0; j < x->m; j++) {
        largest = is_of_part(x, a, j) ? fmax(largest, x->scratch[j]) : largest;
    }
    for (int j = 0; j < x->m; j++) {
        sum += is_of_part(x, a, j) ? exp(x->scratch[j] - largest) : 0.0;
    }
    for (int i = 0; i < x->d; i++) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = INFINITY;
    }
    double lse = x->numbers.expected[x->d] = sum > 0.0 ? largest + log(sum) : -INFINITY;
    x->numbers.bound[x->d] =
        x->at->bound[at] * fmax(1.0, fabs(lse) / fmax(fabs(x->at->expected[at]), 1.0));
    return x->n > 0 && !x->outside && isfinite(lse);
}

/* Parts (chunks: 0, or tiles of so many keys) that were merged with a logarithm to another base than the largest of them
 * is in. a: keys; 1: the largest is in bits, 0: the logarithm of the sum is. */
static int lse_of_two_bases(struct explain *x, const int *a) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)x->d;
    double lse = x->at->expected[at], top = -INFINITY;
    int keys = explain_keys_of_step(x, a[0]), parts = 0;
    explain_take_all(x);
    explain_score_all(x);
    for (int from = 0; from < x->m; from += keys, parts++) {
        double largest = x->scratch[from], sum = 0.0;
        for (int j = from + 1; j < x->m && j < from + keys; j++) {
            largest = fmax(largest, x->scratch[j]);
        }
        for (int j = from; j < x->m && j < from + keys; j++) {
            sum += exp(x->scratch[j] - largest);
        }
        top = sum > 0.0 ? fmax(top, largest + log(sum)) : top;
    }
    for (int i = 0; i < x->d; i++) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = INFINITY;
    }
    double value = a[1] ? top / LN_2 + (lse - top) : top + (lse - top) / LN_2;
    x->numbers.expected[x->d] = value;
    x->numbers.bound[x->d] = x->at->bound[at] * fmax(1.0, fabs(value) / fmax(fabs(lse), 1.0));
    return (parts > 1 || (parts == 1 && keys == 1)) && !x->outside && isfinite(value);
}

/* The sum is right, and what is added to its logarithm is the largest score of the first of some warps, that take tiles in
 * turn. a: keys of a tile; warps; 1: shared chunks are taken in turn, too, each as a whole, and tiles from there on. */
static int maximum_of_first_warp(struct explain *x, const int *a) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)x->d;
    double largest = largest_score(x), of_first = -INFINITY, lse = x->at->expected[at];
    int shared = a[2] ? x->at->problem.n_shared_chunks[x->s] * x->c : 0;
    for (int j = 0; j < x->m; j++) {
        int turn = j < shared ? j / x->c : (j - shared) / a[0];
        of_first = turn % a[1] == 0 ? fmax(of_first, x->scratch[j]) : of_first;
    }
    for (int i = 0; i < x->d; i++) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = INFINITY;
    }
    double value = of_first + (lse - largest);
    x->numbers.expected[x->d] = value;
    x->numbers.bound[x->d] = x->at->bound[at] * fmax(1.0, fabs(value) / fmax(fabs(lse), 1.0));
    return x->n > 0 && !x->outside && isfinite(value);
}

static void try_first_warp(struct explain *x) {
    for (int tile = 1; tile <= MOST_WARP_TILE; tile *= 2) {
        for (int warps = 2; warps <= MOST_WARPS; warps *= 2) {
            for (int by_chunks = 0; by_chunks < 2; by_chunks++) {
                const int a[EXPLAIN_NUMBERS] = {tile, warps, by_chunks};
                explain_try(x, maximum_of_first_warp, a, 23 + by_chunks,
                            "lse is as if to the logarithm of the sum the largest score of the "
                            "first of %d warps alone were added, which take tiles of %d %s in "
                            "turn%s: the sum is right (MERGE-7)",
                            warps, tile, tile == 1 ? "key" : "keys",
                            by_chunks ? ", and before these the shared chunks" : "");
            }
        }
    }
}

static void try_two_bases(struct explain *x) {
    static const char *const words[] = {"the largest part's is in nats, the logarithm of their sum "
                                        "in bits",
                                        "the largest part's is in bits, the logarithm of their sum "
                                        "in nats"};
    char step[60];
    for (int in_bits = 0; in_bits < 2; in_bits++) {
        for (int keys = 0; keys <= MOST_TILE; keys = keys == 0 ? 1 : 2 * keys) {
            const int a[EXPLAIN_NUMBERS] = {keys, in_bits};
            if (keys == 1) {
                explain_try(x, lse_of_two_bases, a, 21,
                            "lse is as if the largest score in it were in %s, and the logarithm of "
                            "the sum, that is added to it, in %s (MERGE-7)",
                            in_bits ? "bits" : "nats", in_bits ? "nats" : "bits");
                continue;
            }
            explain_name_step(keys, step, sizeof step);
            explain_try(x, lse_of_two_bases, a, 22,
                        "lse is as if those of parts of %s were merged in two bases: %s (MERGE-7)",
                        step, words[in_bits]);
        }
    }
}

static void try_parts(struct explain *x) {
    static const char *const words[] = {"the last chunk", "the shared chunks",
                                        "the sequence's own chunks"};
    for (int tile = 1; tile <= MOST_TILE; tile *= 2) {
        const int last[EXPLAIN_NUMBERS] = {LAST_TILE_ALONE, tile};
        const int first[EXPLAIN_NUMBERS] = {FIRST_TILE_ALONE, tile};
        explain_try(x, lse_of_part, last, 22,
                    "lse is as if it were that of the last tile alone, of up to %d keys (MERGE-4)",
                    tile);
        explain_try(x, lse_of_part, first, 23,
                    "lse is as if it were that of the first tile alone, of %d keys (MERGE-4)",
                    tile);
        for (int rest = 0; rest < tile && tile <= MOST_LANES; rest++) {
            const int lane[EXPLAIN_NUMBERS] = {ODD_PART, tile, rest};
            explain_try(x, lse_of_part, lane, 24,
                        "lse is as if it were that of keys %d, %d, ... alone: one lane's (MERGE-4)",
                        rest, rest + tile);
        }
    }
    for (int part = LAST_CHUNK_ALONE; part <= OWN_ALONE; part++) {
        const int a[EXPLAIN_NUMBERS] = {part};
        explain_try(x, lse_of_part, a, 21, "lse is as if it were that of %s alone (MERGE-4)",
                    words[part - LAST_CHUNK_ALONE]);
    }
}

void explain_try_lse(struct explain *x) {
    static const char *const words[] = {
        "it were in bits, a logarithm to the base 2",
        "it had been multiplied by ln 2 once too often",
        "it were the largest score alone, without the logarithm of the sum",
        "the largest score had not been added",
        "it were the sum of weights, not its logarithm",
        "its sign were wrong",
        "the scores in it had not been scaled",
        "all weights in it were 1",
        "the largest score that was added had not been scaled"};
    if (x->at->problem.lse_type == CP_NO_LSE) {
        return;
    }
    for (int way = BASE_2; way <= NO_MAXIMUM_SCALE; way++) {
        const int a[EXPLAIN_NUMBERS] = {way};
        explain_try(x, other_lse, a, 20 + (way > BASE_2) + (way >= SIGN),
                    "lse is as if %s (MERGE-7)", words[way]);
    }
    try_parts(x);
    try_two_bases(x);
    try_first_warp(x);
}

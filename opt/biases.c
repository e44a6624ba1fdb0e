/* SPDX-License-Identifier: Apache-2.0 */
/* A table of biases by distance (SCORE-5), added to the scores of a tile behind all other changes.
 * Keys of a tile stand at consecutive positions, so that their entries fall by one from key to key,
 * down to 0. With 5 entries, own = 1, and rows 2 and 70 behind the tile's key 0:
 *
 *     key                      0   1   2   3   4 ..  67   68   69   70   71   72 ..
 *     row 2: own + p - t       3   2   1   0  -1 .. -64   below 0
 *            entry             3   2   1   0   0 ..   0
 *     row 70: own + p - t     71  70  69  68  67 ..   4    3    2    1    0   -1 ..
 *            entry             4   4   4   4   4 ..   4    3    2    1    0    0 ..
 */
#include "opt/slice.h"

/* The nearest number from 0 to n. */
static int within(long long x, int n) {
    return x < 0 ? 0 : x > n ? n : (int)x;
}

/* The biases of n keys, of which the first has this entry, or the one next to it. */
static void take(float *to, const double *bias, int last, long long entry, int n) {
    int behind = within(entry - last, n), ahead = within(entry + 1, n);
    for (int j = 0; j < behind; j++) {
        to[j] = (float)bias[last];
    }
    for (int j = behind; j < ahead; j++) {
        to[j] = (float)bias[entry - j];
    }
    for (int j = ahead; j < n; j++) {
        to[j] = (float)bias[0];
    }
}

void cp_opt_add_biases(const struct opt_head *h, const struct opt_tile *tile) {
    const struct opt_slice *slice = h->slice;
    const struct cp_biases *biases = &slice->call->attention->scores.biases;
    long long position = (long long)slice->task->position + tile->first;
    int padded = (tile->n + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
    float bias[CP_OPT_KEYS] = {0};
    for (int i = 0; i < slice->rows; i++) {
        const double *of_head = biases->bias + (size_t)cp_opt_query_head(h, i) * (size_t)biases->n;
        take(bias, of_head, biases->n - 1, biases->own + slice->position[i] - position, padded);
        if (!slice->many) {
            float *row = h->at.score + (size_t)i * CP_OPT_KEYS;
            slice->kernels->add(row, bias, 1.0F, padded);
        }
        for (int j = 0; j < tile->n && slice->many; j++) {
            h->at.score[(size_t)j * (size_t)slice->padded_rows + (size_t)i] += bias[j];
        }
    }
}

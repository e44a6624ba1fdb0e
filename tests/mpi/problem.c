/* SPDX-License-Identifier: Apache-2.0 */
#include "problem.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "chunkproof/number.h"
#include "chunkproof/tolerance.h"
#include "tests/random.h"

#define SCALE 0.08838834764831845 /* 1 / sqrt(D) */
#define U     0x1p-53

/* Scores are about shift + slope j / n for key j, and differ by `spread`. */
static const struct {
    int n;
    double spread, shift, slope;
} sequences[N_SEQUENCES] = {
    {MAX_KEYS, 4.0, 0.0, 0.0},
    {777, 1.0, -750.0, 1500.0}, /* in a contiguous shard, nothing beside the next one */
    {300, 1.0, -2000.0, 0.0},   /* every weight would underflow beside a score of 0 */
    {65, 1.0, 900.0, -1e4},     /* the first key decides */
    {1, 1.0, 0.0, 0.0},         /* fewer keys than ranks */
    {0, 1.0, 0.0, 0.0},         /* TREE-16 */
};

int keys_of_row(int row) {
    return sequences[row / HEADS].n;
}

int keys_up_to(int n, int rank, int n_ranks) {
    return (int)((long long)n * (rank + 1) / n_ranks);
}

static int owner(int j, int n, int n_ranks) {
    int rank = 0;
    while (keys_up_to(n, rank, n_ranks) <= j) {
        rank++;
    }
    return rank;
}

static int has(enum sharding sharding, int j, int n, int rank, int n_ranks) {
    switch (sharding) {
    case ROUND_ROBIN:
        return j % n_ranks == rank;
    case PAGES:
        return j / 16 % n_ranks == rank;
    case EVERY_SECOND:
        return 2 * owner(j, n, (n_ranks + 1) / 2) == rank;
    case ON_THE_LAST:
        return rank == n_ranks - 1;
    case PREFIX_ON_ALL:
        return j < 16 || owner(j, n, n_ranks) == rank;
    case ALL_ON_ALL:
        return 1;
    default:
        return owner(j, n, n_ranks) == rank;
    }
}

/* Column 0 of a key carries its score; the others differ from head to head of a group. */
void problem_keys(struct shard *all, int sequence, int kv_head) {
    unsigned long long random = 1000ULL * (unsigned)sequence + (unsigned)kv_head;
    int n = sequences[sequence].n;
    all->n = n;
    for (int j = 0; j < n; j++) {
        double score = sequences[sequence].shift + sequences[sequence].slope * j / n +
                       sequences[sequence].spread * random_uniform(&random);
        for (int i = 0; i < D; i++) {
            size_t at = (size_t)j * D + (size_t)i;
            all->k[at] = i == 0 ? score / (4.0 * SCALE) : random_uniform(&random);
            all->v[at] = random_uniform(&random);
        }
    }
}

void problem_query(double *q, int row) {
    unsigned long long random = 1000000ULL + (unsigned)row;
    q[0] = 4.0;
    for (int i = 1; i < D; i++) {
        q[i] = random_uniform(&random);
    }
}

void shard_of(struct shard *mine, const struct shard *all, enum sharding sharding, int rank,
              int n_ranks) {
    mine->n = 0;
    for (int j = 0; j < all->n; j++) {
        if (has(sharding, j, all->n, rank, n_ranks)) {
            size_t to = (size_t)mine->n++ * D, from = (size_t)j * D;
            memcpy(mine->k + to, all->k + from, sizeof(double) * D);
            memcpy(mine->v + to, all->v + from, sizeof(double) * D);
        }
    }
}

void state_of_shard(double *element, const struct shard *mine, int row) {
    double q[D], chunk[ELEMENT];
    problem_query(q, row);
    element_empty(element, D);
    for (int first = 0; first < mine->n; first += CHUNK) {
        int n_keys = mine->n - first < CHUNK ? mine->n - first : CHUNK;
        element_partial(chunk, q, mine->k, mine->v, CP_FP64, (size_t)first, n_keys, D, SCALE);
        element_merge(element, chunk, D);
    }
}

/* What changes when a rank divides its state (NUM-8): o is multiplied by 1 / n, and the reference
 * moves once more, by ln n <= ln N with an error of 2u ln n and u of the sum. N is the number of
 * keys; what errs by less than 2^-30 in references has no weight in the bound. */
static void divide(struct cp_arithmetic *a, struct cp_counts *counts, int n, int n_ranks) {
    a->eps = fmax(a->eps, 4.0 * U * (1.0 + log(n)));
    a->u_move = 2.0 * U;
    a->above = log(n) + 0x1p-30;
    a->below = 0x1p-30;
    counts->depth_n++;
    counts->depth_o++;
    counts->changes++;
    counts->operations_n += n_ranks;
    counts->operations_o += n_ranks;
}

void claim(double *expected, double *bound, const struct shard *all, int n, int row, int n_ranks,
           int divided) {
    static double scratch[3 * MAX_KEYS];
    double q[D], largest = 0.0;
    problem_query(q, row);
    for (int j = 0; j < n; j++) {
        largest = fmax(largest, fabs(cp_score(q, all->k + (size_t)j * D, D, SCALE)));
    }
    /* Each rank has at most one chunk that is not full. */
    struct cp_arithmetic arithmetic = cp_arithmetic_fp64(D);
    struct cp_counts counts = cp_counts_of_chunks(CHUNK, n / CHUNK + n_ranks);
    if (divided && n > 0) {
        divide(&arithmetic, &counts, n, n_ranks);
    }
    struct cp_tolerance_row question = {n, D, D, SCALE, q, all->k, all->v, scratch, NULL, NULL};
    /* m + ln n: 2u of the logarithm, u of the sum; half of this would do. */
    double of_sum = 4.0 * U * (largest + log(n + 1.0) + 1.0);
    cp_tolerance(&arithmetic, &counts, &question, of_sum, expected, bound, expected + D, bound + D);
    for (int i = 0; i <= D && n > 0; i++) {
        assert(bound[i] < 1e-6);
    }
    for (int i = 0; i <= D && n == 0; i++) { /* exactly zeros and -infinity (SOFTMAX-2) */
        bound[i] = 0.0;
    }
}

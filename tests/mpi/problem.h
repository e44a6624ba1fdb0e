/* SPDX-License-Identifier: Apache-2.0 */
/* The problem that check.c cuts into shards: a batch of sequences that are decoded, one query each,
 * with the heads of a common language model. Every rank makes the same numbers, and computes the
 * partial results of its own keys alone. */
#ifndef CHUNKPROOF_TESTS_MPI_PROBLEM_H
#define CHUNKPROOF_TESTS_MPI_PROBLEM_H

#include "merge_op.h"

#define D           128
#define HEADS       32
#define KV_HEADS    8
#define GROUP       (HEADS / KV_HEADS)
#define CHUNK       64 /* keys that a rank takes at once */
#define MAX_KEYS    4096
#define N_SEQUENCES 6
#define N_ROWS      (N_SEQUENCES * HEADS) /* row: sequence * HEADS + head */
#define ELEMENT     (2 + D)

/* Whose keys they are. Of the last two a rank has keys that others have as well: wrong. */
enum sharding {
    CONTIGUOUS,
    ROUND_ROBIN,
    PAGES,         /* 16 keys to each in turn */
    EVERY_SECOND,  /* contiguous; every second rank has none */
    ON_THE_LAST,   /* the last rank has all */
    PREFIX_ON_ALL, /* contiguous, but each rank has the first 16 keys */
    ALL_ON_ALL,
    N_SHARDINGS
};
#define N_RIGHT PREFIX_ON_ALL

/* One row's keys, and those among them that a rank has. */
struct shard {
    int n;
    double k[MAX_KEYS * D];
    double v[MAX_KEYS * D];
};

/* Elements of all rows. */
struct states {
    double of[N_ROWS][ELEMENT];
};

/* Attention of all rows, and how far a result may be from it: [D] is the log-sum-exp. */
struct claims {
    double expected[N_ROWS][D + 1];
    double bound[N_ROWS][D + 1];
};

int keys_of_row(int row);

/* The keys before key `begin` of rank `rank` + 1: those of ranks 0 to `rank`, where they are
 * contiguous. */
int keys_up_to(int n, int rank, int n_ranks);

/* The keys and values of a K/V head, and the query of a row. */
void problem_keys(struct shard *all, int sequence, int kv_head);
void problem_query(double *q, int row);

/* Those that a rank has of all. */
void shard_of(struct shard *mine, const struct shard *all, enum sharding sharding, int rank,
              int n_ranks);

/* The state of a row and these keys, chunk by chunk. */
void state_of_shard(double *element, const struct shard *mine, int row);

/* Attention of a row and n of the keys, and the bounds for the class of the reference, merged in
 * any order on n_ranks ranks (NUM-8, NUM-10, NUM-11). divided: each rank divides its state, and
 * merges go on from its output and log-sum-exp. */
void claim(double *expected, double *bound, const struct shard *all, int n, int row, int n_ranks,
           int divided);

#endif

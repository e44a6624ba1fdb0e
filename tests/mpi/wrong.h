/* SPDX-License-Identifier: Apache-2.0 */
/* Merges that are wrong, as projects have had them: check.c must see each. */
#ifndef CHUNKPROOF_TESTS_MPI_WRONG_H
#define CHUNKPROOF_TESTS_MPI_WRONG_H

#include <mpi.h>

#include "problem.h"

struct wrong {
    const char *name;
    MPI_User_function *op;    /* NULL: the right one */
    enum sharding sharding;   /* with which it is seen */
    double weight_of_nothing; /* the n that a rank without keys sends; 0 is right */
    int in_lse_alone;         /* 1: its outputs are right */
};

#define N_WRONG 7
extern const struct wrong wrong[N_WRONG];

#endif

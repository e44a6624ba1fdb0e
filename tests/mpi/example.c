/* SPDX-License-Identifier: Apache-2.0 */
/* The example of spec/softmax.md on several ranks: scores 0 and ln 3 of values (1, 0) and (0, 1).
 * Rank 0 has the first key and rank 1 the second one; other ranks have none (MERGE-2). Each rank
 * ends with all of attention.
 *
 *   mpicc example.c $(pkg-config --cflags --libs chunkproof) -lm -o example
 *   mpirun -n 3 ./example */
#include <math.h>
#include <stdio.h>

#include <chunkproof/number.h>

#include "merge_op.h"

#define D 2

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);

    MPI_Datatype type;
    MPI_Op op;
    state_type_new(D, &type);
    merge_op_new(&op);

    /* The keys of all ranks; a rank looks at its own. A single rank has both. */
    double q[D] = {1.0, 0.0};
    double k[2 * D] = {0.0, 0.0, log(3.0), 0.0};
    double v[2 * D] = {1.0, 0.0, 0.0, 1.0};
    int n_keys = n_ranks == 1 ? 2 : rank < 2;
    double mine[2 + D], all[2 + D], out[D];
    element_partial(mine, q, k, v, CP_FP64, rank == 1, n_keys, D, 1.0);
    MPI_Allreduce(mine, all, 1, type, op, MPI_COMM_WORLD);
    double lse = element_finish(all, out, D);
    if (rank == 0) {
        printf("%d ranks: output %.4f %.4f, exp of the log-sum-exp %.4f\n", n_ranks, out[0], out[1],
               exp(lse));
    }

    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* merge_op.h on ranks of a real MPI: however keys are cut into shards, and whichever reduction
 * merges the states, each rank's result is within the certified bound of attention (MERGE-5, NUM-8,
 * NUM-10, NUM-11). Wrong merges are beyond it.
 *
 *   mpirun -n 3 check             exit status 0: all is right; 1: not, rank 0 says what is wrong
 *   mpirun -n 3 check misuse      reduces with a datatype that the op must refuse */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge_op.h"
#include "problem.h"
#include "wrong.h"

/* What a rank knows. */
struct world {
    int rank, n_ranks;
    MPI_Datatype type;
    MPI_Op op;
    struct states mine[N_SHARDINGS];
    struct states divided;         /* mine[CONTIGUOUS], of outputs and log-sum-exps */
    struct claims whole, of_parts; /* of all keys; of_parts: where ranks divide */
    struct claims before;          /* of the keys of ranks 0 .. rank, for one row of each group */
    struct states merged;
    int n_wrong;    /* findings of this rank */
    long n_results; /* numbers of this rank that were compared */
    double nearest; /* the largest error, as a part of its bound */
};

/* The first one of a rank is printed. */
static void finding(struct world *w, const char *what, const char *where) {
    if (w->n_wrong++ == 0) {
        printf("rank %d of %d: %s: %s\n", w->rank, w->n_ranks, what, where);
    }
}

/* Number D of a row is its log-sum-exp. */
static void finding_at(struct world *w, const char *what, int row, int i) {
    char where[64];
    snprintf(where, sizeof where, "row %d, number %d", row, i);
    finding(w, what, where);
}

/* ---- The problem ---- */

/* The states of this rank's keys, and every n_ranks-th row's claims. */
static void prepare_head(struct world *w, const struct shard *all, struct shard *mine,
                         int first_row) {
    for (int s = 0; s < N_SHARDINGS; s++) {
        shard_of(mine, all, (enum sharding)s, w->rank, w->n_ranks);
        for (int row = first_row; row < first_row + GROUP; row++) {
            state_of_shard(w->mine[s].of[row], mine, row);
        }
    }
    for (int row = first_row; row < first_row + GROUP; row++) {
        double out[D], lse = element_finish(w->mine[CONTIGUOUS].of[row], out, D);
        element_of_output(w->divided.of[row], out, lse, D);
        if (row % w->n_ranks == w->rank) {
            claim(w->whole.expected[row], w->whole.bound[row], all, all->n, row, w->n_ranks, 0);
            claim(w->of_parts.expected[row], w->of_parts.bound[row], all, all->n, row, w->n_ranks,
                  1);
        }
    }
    claim(w->before.expected[first_row], w->before.bound[first_row], all,
          keys_up_to(all->n, w->rank, w->n_ranks), first_row, w->n_ranks, 0);
}

/* Claims were 0 but for those that this rank has made. */
static void share(struct claims *claims) {
    MPI_Allreduce(MPI_IN_PLACE, claims, sizeof *claims / sizeof(double), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

static void prepare(struct world *w) {
    struct shard *all = malloc(sizeof *all), *mine = malloc(sizeof *mine);
    if (all == NULL || mine == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return;
    }
    for (int row = 0; row < N_ROWS; row += GROUP) {
        problem_keys(all, row / HEADS, row % HEADS / GROUP);
        prepare_head(w, all, mine, row);
    }
    free(all);
    free(mine);
    share(&w->whole);
    share(&w->of_parts);
}

/* ---- What is asked of results ---- */

/* 1 when one of numbers begin .. end - 1 is further from its claim than the bound; *at: which. */
static int is_beyond(struct world *w, const struct claims *claims, int row, const double *result,
                     int begin, int end, int *at) {
    for (int i = begin; i < end; i++) {
        double expected = claims->expected[row][i], bound = claims->bound[row][i];
        double error = result[i] == expected ? 0.0 : fabs(result[i] - expected);
        if (!(error <= bound)) {
            *at = i;
            return 1;
        }
        w->nearest = error > 0.0 ? fmax(w->nearest, error / bound) : w->nearest;
    }
    return 0;
}

/* Rows first, first + step, ... before `end` are right; `states` begins with row first. */
static void expect_rows(struct world *w, const struct claims *claims, double (*states)[ELEMENT],
                        int first, int end, int step, const char *what) {
    for (int row = first; row < end; row += step) {
        double result[D + 1];
        int at = 0;
        result[D] = element_finish(states[row - first], result, D);
        if (is_beyond(w, claims, row, result, 0, D + 1, &at)) {
            finding_at(w, what, row, at);
        }
        w->n_results += D + 1;
    }
}

/* Two ranks may have merged in another order, and are at most two bounds apart. */
static void expect_like_first_rank(struct world *w, const char *what) {
    static struct states first;
    memcpy(&first, &w->merged, sizeof first);
    MPI_Bcast(&first, N_ROWS, w->type, 0, MPI_COMM_WORLD);
    for (int row = 0; row < N_ROWS; row++) {
        double here[D + 1], there[D + 1];
        here[D] = element_finish(w->merged.of[row], here, D);
        there[D] = element_finish(first.of[row], there, D);
        for (int i = 0; i <= D; i++) {
            double apart = here[i] == there[i] ? 0.0 : fabs(here[i] - there[i]);
            if (!(apart <= 2.0 * w->whole.bound[row][i])) {
                finding_at(w, what, row, i);
            }
        }
    }
}

/* ---- Reductions ---- */

static void all_ranks_have_attention(struct world *w) {
    for (int s = 0; s < N_RIGHT; s++) {
        MPI_Allreduce(&w->mine[s], &w->merged, N_ROWS, w->type, w->op, MPI_COMM_WORLD);
        expect_rows(w, &w->whole, w->merged.of, 0, N_ROWS, 1, "MPI_Allreduce");
        expect_like_first_rank(w, "ranks differ after MPI_Allreduce");
    }
    MPI_Allreduce(&w->divided, &w->merged, N_ROWS, w->type, w->op, MPI_COMM_WORLD);
    expect_rows(w, &w->of_parts, w->merged.of, 0, N_ROWS, 1, "MPI_Allreduce of outputs");
}

static void one_rank_has_attention(struct world *w) {
    for (int s = 0; s < N_RIGHT; s++) {
        int root = s % w->n_ranks, is_root = w->rank == root;
        memcpy(&w->merged, &w->mine[s], sizeof w->merged);
        MPI_Reduce(is_root ? MPI_IN_PLACE : &w->merged, &w->merged, N_ROWS, w->type, w->op, root,
                   MPI_COMM_WORLD);
        if (is_root) {
            expect_rows(w, &w->whole, w->merged.of, 0, N_ROWS, 1, "MPI_Reduce");
        }
    }
}

/* As a server does it whose ranks go on with a part of the heads each. */
static void each_rank_has_some_rows(struct world *w) {
    int *n_rows = calloc((size_t)w->n_ranks, sizeof *n_rows), first = 0;
    if (n_rows == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return;
    }
    for (int rank = 0; rank < w->n_ranks; rank++) {
        n_rows[rank] =
            keys_up_to(N_ROWS, rank, w->n_ranks) - keys_up_to(N_ROWS, rank - 1, w->n_ranks);
        first += rank < w->rank ? n_rows[rank] : 0;
    }
    for (int s = 0; s < N_RIGHT; s++) {
        MPI_Reduce_scatter(&w->mine[s], &w->merged, n_rows, w->type, w->op, MPI_COMM_WORLD);
        expect_rows(w, &w->whole, w->merged.of, first, first + n_rows[w->rank], 1,
                    "MPI_Reduce_scatter");
    }
    free(n_rows);
}

/* Keys of earlier ranks alone, as for a causal mask: with those of this rank, and without. */
static void a_rank_has_what_is_before_it(struct world *w) {
    static struct claims earlier; /* of the rank before */
    int next = w->rank + 1 < w->n_ranks ? w->rank + 1 : MPI_PROC_NULL;
    int last = w->rank > 0 ? w->rank - 1 : MPI_PROC_NULL, n = sizeof earlier / sizeof(double);
    MPI_Sendrecv(&w->before, n, MPI_DOUBLE, next, 0, &earlier, n, MPI_DOUBLE, last, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Scan(&w->mine[CONTIGUOUS], &w->merged, N_ROWS, w->type, w->op, MPI_COMM_WORLD);
    expect_rows(w, &w->before, w->merged.of, 0, N_ROWS, GROUP, "MPI_Scan");
    MPI_Exscan(&w->mine[CONTIGUOUS], &w->merged, N_ROWS, w->type, w->op, MPI_COMM_WORLD);
    if (w->rank > 0) { /* MPI gives rank 0 nothing: the empty state is its own to write */
        expect_rows(w, &earlier, w->merged.of, 0, N_ROWS, GROUP, "MPI_Exscan");
    }
}

/* ---- What is wrong must be seen ---- */

static int is_seen(struct world *w, const struct wrong *how) {
    int begin = how->in_lse_alone ? D : 0, end = how->in_lse_alone ? D + 1 : D, at = 0;
    double nearest = w->nearest;
    for (int row = 0; row < N_ROWS; row++) {
        double result[D + 1];
        result[D] = element_finish(w->merged.of[row], result, D);
        if (is_beyond(w, &w->whole, row, result, begin, end, &at)) {
            w->nearest = nearest;
            return 1;
        }
    }
    return 0;
}

static void wrong_merges_are_seen(struct world *w) {
    static struct states sent;
    for (int i = 0; i < N_WRONG; i++) {
        MPI_Op op = w->op;
        if (wrong[i].op != NULL) {
            MPI_Op_create(wrong[i].op, 1, &op);
        }
        memcpy(&sent, &w->mine[wrong[i].sharding], sizeof sent);
        for (int row = 0; row < N_ROWS; row++) {
            sent.of[row][1] = sent.of[row][1] == 0.0 ? wrong[i].weight_of_nothing : sent.of[row][1];
        }
        MPI_Allreduce(&sent, &w->merged, N_ROWS, w->type, op, MPI_COMM_WORLD);
        if (!is_seen(w, &wrong[i])) {
            finding(w, "not seen", wrong[i].name);
        }
        if (wrong[i].op != NULL) {
            MPI_Op_free(&op);
        }
    }
}

static void bad_sizes_are_refused(struct world *w) {
    int commutes = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op_commutative(w->op, &commutes);
    if (!commutes || state_type_new(0, &type) != MPI_ERR_ARG ||
        state_type_new(INT_MAX / 8 - 1, &type) != MPI_ERR_ARG || state_type_d(w->type) != D ||
        state_type_d(MPI_DOUBLE) != 0 || state_type_d(MPI_INT) != 0) {
        finding(w, "refusals", "a size is accepted, or the op does not commute");
    }
}

/* ---- All of it ---- */

static void misuse(const struct world *w) {
    double mine = 0.0, all = 0.0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, w->op, MPI_COMM_WORLD);
}

static void check(struct world *w) {
    prepare(w);
    all_ranks_have_attention(w);
    one_rank_has_attention(w);
    each_rank_has_some_rows(w);
    a_rank_has_what_is_before_it(w);
    if (w->n_ranks > 1) {
        wrong_merges_are_seen(w);
    }
    bad_sizes_are_refused(w);
    MPI_Allreduce(MPI_IN_PLACE, &w->n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &w->n_results, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &w->nearest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (w->rank == 0) {
        printf(
            "ranks %d, results %ld, at most %.3f of the bound, wrong merges seen %d, findings %d\n",
            w->n_ranks, w->n_results, w->nearest, w->n_ranks > 1 ? N_WRONG : 0, w->n_wrong);
    }
}

int main(int argc, char **argv) {
    static struct world w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.n_ranks);
    if (state_type_new(D, &w.type) != MPI_SUCCESS || merge_op_new(&w.op) != MPI_SUCCESS) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (argc > 1 && strcmp(argv[1], "misuse") == 0) {
        misuse(&w);
    } else {
        check(&w);
    }
    MPI_Op_free(&w.op);
    MPI_Type_free(&w.type);
    MPI_Finalize();
    return w.n_wrong > 0;
}

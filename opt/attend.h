/* SPDX-License-Identifier: Apache-2.0 */
/* A call, as its threads see it. */
#ifndef CHUNKPROOF_OPT_ATTEND_H
#define CHUNKPROOF_OPT_ATTEND_H

#include <stdatomic.h>

#include "chunkproof/attention.h"
#include "opt/kernels.h"
#include "opt/tasks.h"
#include "opt/team.h"

struct opt_call {
    const struct cp_attention *attention;
    const struct cp_opt_kernels *kernels;
    struct opt_team *team;
    struct opt_sizes sizes;
    struct opt_work work;
    atomic_size_t next_slice;  /* the first slice that no thread has taken */
    atomic_size_t next_result; /* the first pair (query row, head) that no thread has taken */
};

/* The opt_work_function of a struct opt_call. Takes slices until none is left: then all partial
 * results exist. Computes results after a barrier. */
void cp_opt_work(void *of, int thread);

/* A thread's scratch. */
struct opt_scratch {
    float *q;         /* [rows][stride] */
    float *q_columns; /* [d][padded rows], for many rows */
    float *tile;      /* [OPT_AT_ONCE][stride] of K, then [keys][CP_OPT_PANEL] of V */
    float *o;         /* [rows][o_stride] */
    float *score;     /* [rows][CP_OPT_KEYS] or [keys][padded rows] */
    float *m, *n, *factor, *seen, *begin, *kept; /* behind these, those of struct opt_change */
    float *queries, *room;                       /* the multiplier's */
};

/* The slopes of rows, and the distances to them. The struct has no pointers to these: it is copied
 * for each head of each tile, and two more took a tenth of the time of a small call. */
static inline float *opt_slopes(const struct opt_scratch *scratch) {
    return scratch->kept + CP_OPT_ROWS;
}

static inline float *opt_distances(const struct opt_scratch *scratch) {
    return scratch->kept + 2 * CP_OPT_ROWS;
}

/* Computes the partial results of a slice. */
void cp_opt_slice(const struct opt_call *call, size_t number, const struct opt_scratch *scratch);

/* Computes the result of a query row and head from its partial results. */
void cp_opt_result(const struct opt_call *call, int s, int row, int head,
                   const struct opt_scratch *scratch);

#endif

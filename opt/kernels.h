/* SPDX-License-Identifier: Apache-2.0 */
/* What a version is made of: a few loops over numbers in binary32. Everything else (which rows meet which keys, where
 * results go, threads) is the same for all versions and stands in attend.c.
 *
 * A tile is up to CP_OPT_KEYS keys of a path with up to CP_OPT_ROWS query rows (row: a query row and head). Rows of
 * numbers are padded to a multiple of CP_OPT_PAD, which every version's vectors divide; what lies there is 0. Scores,
 * and the weights that they become, lie
 *   for a few rows     row by row, [rows][CP_OPT_KEYS]: dots(), weigh_rows(), values(); K and V are read as they are
 *   for many rows      key by key, [keys][padded rows]: product(), weigh_columns(): a vector is of rows, so that
 *                      neither keys are transposed nor vectors added up across */
#ifndef CHUNKPROOF_OPT_KERNELS_H
#define CHUNKPROOF_OPT_KERNELS_H

#include <float.h>
#include <stddef.h>

#include "chunkproof/limits.h"
#include "chunkproof/number.h"

#define CP_OPT_KEYS 64
#define CP_OPT_ROWS 64
#define CP_OPT_PAD  16

#define CP_OPT_PANEL 64 /* numbers of each value of a tile that are worked on at once */

#define CP_OPT_LEAST_FEW 4 /* rows that are few for every version */

CP_STATIC_ASSERT(CP_OPT_KEYS % CP_OPT_PAD == 0 && CP_OPT_ROWS % CP_OPT_PAD == 0 &&
                     CP_OPT_PANEL % CP_OPT_PAD == 0,
                 "a tile needs no padding of its own");

/* A maximum before any key was seen. Below every score, and scores minus it are -infinity or finite: no NaN. */
#define CP_OPT_NO_SCORE (-FLT_MAX)

/* A matrix whose element (i, k) is at[i row + k column]. */
struct opt_matrix {
    const float *at;
    size_t row, column;
};

/* Memory that is wanted soon: lines that a product asks for on its way, a few steps from one to the next, so that what it
 * multiplies need not wait for them. */
struct opt_wanted {
    const char *at, *end;
};

/* The states of the rows of a tile, each an array of padded rows: maximum, sum of weights, what the latter and o must be
 * multiplied by since the maximum has grown; and how many keys of the tile each row sees, always the first ones. */
struct opt_states {
    float *m, *n, *factor;
    const float *seen;
};

/* Keys of a tile, or their values: where each of them begins. */
struct opt_keys {
    const void *const *at;
    int type, n;
};

/* A unit that multiplies matrices for many rows (amx.c), or only NULLs. It takes ordinary numbers alone: where one is not, a
 * function returns 0 and has written nothing but the room, and the loops below do the work. Weights that are 0 are multiplied, too. */
struct opt_multiplier {
    size_t (*query_size)(int d); /* bytes of the queries of a row, as the unit has them */
    size_t (*room_size)(int d);  /* bytes that are needed beside them */

    /* columns: [d][padded rows], numbers of a type in binary32. 0 also where d is too small to gain anything. */
    int (*take_queries)(void *queries, const float *columns, int type, int padded_rows, int d);

    /* score[j][i] = q[i] . k[j]; up to a multiple of CP_OPT_PAD keys are written. */
    int (*scores)(float *score, void *queries, int q_type, int padded_rows, struct opt_keys k,
                  int d, void *room, struct opt_wanted *wanted);

    /* weight: [keys][padded rows]. They are kept in the room for add_values(): numbers x .. x + CP_OPT_PANEL - 1 of
     * o[i] += sum of weight[j][i] v[j]. */
    void (*take_weights)(const float *weight, int padded_rows, int keys, int d, void *room);
    int (*add_values)(float *o, size_t stride, int rows, int padded_rows, struct opt_keys v, int x,
                      int d, void *room, struct opt_wanted *wanted);
};

struct cp_opt_kernels {
    int few; /* rows: above, scores lie key by key */

    struct opt_multiplier multiplier;

    /* to[n][stride] = from[n][d], a type but CP_FP64, zeros behind the d numbers; the rows of `from` begin from_row
     * numbers one behind the other. */
    void (*widen)(float *to, size_t stride, const void *from, size_t from_row, int type, int n,
                  int d);

    /* score[i][j] = q[i] . k[j], the rows of q with `stride` numbers, those of k with d. */
    void (*dots)(float *score, const float *q, size_t stride, int rows, const void *k, int type,
                 int keys, int d);

    /* o[i] += sum of weight[i][j] v[j], in the same way; behind the d numbers of a row of o is no matter. */
    void (*values)(float *o, size_t stride, const float *weight, int rows, const void *v, int type,
                   int keys, int d);

    /* c[m][n] = a b, or c += a b: a is [m][k], b is [k][n], and n a multiple of CP_OPT_PAD. */
    void (*product)(float *c, size_t c_row, struct opt_matrix a, const float *b, size_t b_row,
                    int m, int n, int k, int add, struct opt_wanted *wanted);

    /* One step of online softmax (MERGE-4): scores become weights, 0 where a row does not see the key; m, n and factor
     * follow. */
    void (*weigh_rows)(float *score, int rows, float scale, const struct opt_states *states);
    void (*weigh_columns)(float *score, int keys, int padded_rows, float scale,
                          const struct opt_states *states);

    /* to[n] = from[n] * x, to[n] += from[n] * x, to[n] = from[n] / x; n as for product(). */
    void (*scale)(float *to, const float *from, float x, int n);
    void (*add)(float *to, const float *from, float x, int n);
    void (*divide)(float *to, const float *from, float x, int n);

    /* Stores n numbers from element `at` on, each rounded once. */
    void (*store)(void *to, int type, size_t at, const float *from, int n);

    /* to[n] = e^from[n] as weigh_rows() has it, for its tests; from -infinity to 0, n as for product(). */
    void (*exponentials)(float *to, const float *from, int n);
};

/* Returned, not kept as constants: those would hold addresses, which a loader must write. */
struct cp_opt_kernels cp_opt_portable(void);
struct cp_opt_kernels cp_opt_avx2(void);
struct cp_opt_kernels cp_opt_avx512(void);
struct cp_opt_kernels cp_opt_neon(void);
struct cp_opt_kernels cp_opt_amx(void);

/* By its number (chunkproof/opt.h), not CP_OPT_BEST. */
struct cp_opt_kernels cp_opt_kernels_of(int version);

/* Can this machine run it? */
int cp_opt_has_avx2(void);
int cp_opt_has_avx512(void);
int cp_opt_has_neon(void);
int cp_opt_has_amx(void); /* asks the system for it: the process may use it from then on */

#endif

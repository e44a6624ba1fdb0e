/* SPDX-License-Identifier: Apache-2.0 */
/* What each version provides: a few loops over numbers in binary32. Everything else (which rows
 * meet which keys, where results go, threads) is the same for all versions and stands in attend.c.
 *
 * A tile is up to CP_OPT_KEYS keys of a path with up to CP_OPT_ROWS rows; here a row is a query row
 * and head. Rows of numbers are padded with zeros to a multiple of CP_OPT_PAD, which every
 * version's vector length divides. Scores, and the weights that they become, are stored in one of
 * two layouts:
 *   few rows    row by row, [rows][CP_OPT_KEYS]: dots(), weigh_rows(), values(). K and V are
 *               read as stored.
 *   many rows   key by key, [keys][padded rows]: product(), weigh_columns(). A vector holds
 *               several rows, so no keys are transposed and nothing is added across a vector. */
#ifndef CHUNKPROOF_OPT_KERNELS_H
#define CHUNKPROOF_OPT_KERNELS_H

#include <float.h>
#include <stddef.h>

#include "chunkproof/limits.h"
#include "chunkproof/number.h"

#define CP_OPT_KEYS 64
#define CP_OPT_ROWS 64
#define CP_OPT_PAD  16

#define CP_OPT_PANEL 64 /* how many numbers of each value of a tile are worked on at once */

#define CP_OPT_LEAST_FEW 4 /* up to this many rows are few for every version */

CP_STATIC_ASSERT(CP_OPT_KEYS % CP_OPT_PAD == 0 && CP_OPT_ROWS % CP_OPT_PAD == 0 &&
                     CP_OPT_PANEL % CP_OPT_PAD == 0,
                 "a tile needs no padding of its own");

/* The maximum before any key was seen: below every score. A score minus this maximum is finite or
 * -infinity, never NaN. */
#define CP_OPT_NO_SCORE (-FLT_MAX)

/* A matrix whose element (i, k) is at[i row + k column]. */
struct opt_matrix {
    const float *at;
    size_t row, column;
};

/* Memory that is needed soon. A product prefetches its cache lines, with a few steps between two
 * lines, so that the product's own operands need not wait for them. */
struct opt_wanted {
    const char *at, *end;
};

/* The states of the rows of a tile; each is an array of padded rows. */
struct opt_states {
    float *m;          /* maximum */
    float *n;          /* sum of weights */
    float *factor;     /* what n and o must be multiplied by, because the maximum has grown */
    const float *seen; /* the row sees these first keys of the tile */
    /* WINDOW-2: but not those from the kept-th on that are before the begin-th. NULL, both of them:
     * no row has such keys. */
    const float *begin, *kept;
};

/* SCORE-1, SCORE-2: the sum q . k of key j of a tile becomes
 *
 *     s = scale q . k  ->  cap tanh(s inverse)  ->  + slope[i] (distance[i] + j)
 *
 * for row i. A distance below 2^24 is exact; one above that is
 * rounded, and so is its sum with j. */
struct opt_change {
    float scale;
    float cap, inverse; /* and 1 / cap; 0: no cap */
    /* Arrays of padded rows; distance: of the tile's key 0, its position less the row's. NULL, both
     * of them: no bias. */
    const float *slope, *distance;
};

/* Keys of a tile, or their values: where each of them begins. */
struct opt_keys {
    const void *const *at;
    int type, n;
};

static inline int opt_has_8_bits(int type) {
    return type >= CP_E4M3 && type <= CP_INT8;
}

/* A unit that multiplies matrices for many rows (amx.c, avx512_bf16.c); all pointers are NULL if
 * there is none. It takes only ordinary numbers, which its file defines. If a number is not
 * ordinary, the function returns 0 and has written only to the room, and the loops below do the
 * work. Weights of 0 are multiplied, too. */
struct opt_multiplier {
    size_t (*query_size)(int d); /* bytes of a row's query in the unit's format */
    size_t (*room_size)(int d);  /* bytes of room needed in addition, for any d_v */

    int (*takes)(int q_type, int k_type, int v_type); /* 0: not these types */

    /* columns: [d][padded rows], numbers of a type, in binary32. Also returns 0 where d is too
     * small to gain anything. */
    int (*take_queries)(void *queries, const float *columns, int type, int padded_rows, int d);

    /* score[j][i] = q[i] . k[j]. The number of keys written is rounded up to a multiple of
     * CP_OPT_PAD. */
    int (*scores)(float *score, void *queries, int q_type, int padded_rows, struct opt_keys k,
                  int d, void *room, struct opt_wanted *wanted);

    /* take_weights() keeps weight, [keys][padded rows], in the room for add_values(), which
     * computes numbers x .. x + CP_OPT_PANEL - 1 of o[i] += sum of weight[j][i] v[j]. Both are NULL
     * if the unit computes scores alone. */
    void (*take_weights)(const float *weight, int padded_rows, int keys, void *room);
    int (*add_values)(float *o, size_t stride, int rows, int padded_rows, struct opt_keys v, int x,
                      int d_v, void *room, struct opt_wanted *wanted);
};

struct cp_opt_kernels {
    int few; /* with more rows than this, scores are stored key by key */

    struct opt_multiplier multiplier;

    /* to[n][stride] = from[n][d], of any type but CP_FP64; each row of `to` ends in zeros. The rows
     * of `from` begin from_row numbers apart. */
    void (*widen)(float *to, size_t stride, const void *from, size_t from_row, int type, int n,
                  int d);

    /* score[i][j] = q[i] . k[j]. The rows of q have `stride` numbers, those of k have d. */
    void (*dots)(float *score, const float *q, size_t stride, int rows, const void *k, int type,
                 int keys, int d);

    /* o[i] += sum of weight[i][j] v[j], in the same way, of d_v numbers. The rows of v begin v_row
     * numbers apart. What a row of o holds after its d_v numbers does not matter. */
    void (*values)(float *o, size_t stride, const float *weight, int rows, const void *v,
                   size_t v_row, int type, int keys, int d_v);

    /* c[m][n] = a b, or c += a b. a is [m][k], b is [k][n]; n is a multiple of CP_OPT_PAD. */
    void (*product)(float *c, size_t c_row, struct opt_matrix a, const float *b, size_t b_row,
                    int m, int n, int k, int add, struct opt_wanted *wanted);

    /* Scores as struct opt_change says, of the first keys of a tile, also of keys that a row does
     * not see: whatever these become, weighing ignores it. Then they are weighed with the scale 1.
     * In rows, what follows `keys` up to a multiple of CP_OPT_PAD may change, too. */
    void (*change_rows)(float *score, int rows, int keys, const struct opt_change *change);
    void (*change_columns)(float *score, int keys, int padded_rows,
                           const struct opt_change *change);

    /* One step of online softmax (MERGE-4): scores become weights, 0 where a row does not see the
     * key, and m, n and factor are updated. */
    void (*weigh_rows)(float *score, int rows, float scale, const struct opt_states *states);
    void (*weigh_columns)(float *score, int keys, int padded_rows, float scale,
                          const struct opt_states *states);

    /* scale: to[n] = from[n] * x; add: to[n] += from[n] * x; divide: to[n] = from[n] / x. n as for
     * product(). */
    void (*scale)(float *to, const float *from, float x, int n);
    void (*add)(float *to, const float *from, float x, int n);
    void (*divide)(float *to, const float *from, float x, int n);

    /* Stores n numbers, from element `at` on, each rounded once. */
    void (*store)(void *to, int type, size_t at, const float *from, int n);

    /* to[n] = e^from[n], as weigh_rows() computes it, for the tests. from[n] is at most 0 and may
     * be -infinity; n as for product(). */
    void (*exponentials)(float *to, const float *from, int n);
};

/* Functions, and not constants: constants would contain addresses, which a loader would have to
 * write. */
struct cp_opt_kernels cp_opt_portable(void);
struct cp_opt_kernels cp_opt_avx2(void);
struct cp_opt_kernels cp_opt_avx512(void);
struct cp_opt_kernels cp_opt_neon(void);
struct cp_opt_kernels cp_opt_amx(void);
struct cp_opt_kernels cp_opt_avx512_bf16(void);

/* The version with this number (chunkproof/opt.h); not CP_OPT_BEST. */
struct cp_opt_kernels cp_opt_kernels_of(int version);

/* Can this machine run it? */
int cp_opt_has_avx2(void);
int cp_opt_has_avx512(void);
int cp_opt_has_avx512_bf16(void);
int cp_opt_has_neon(void);
int cp_opt_has_amx(void); /* requests AMX from the system; the process may use it from then on */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The loads on which attention is measured: decoding, one query for each sequence, over trees of
 * prefixes. */
#ifndef CHUNKPROOF_CLI_BENCH_LOAD_H
#define CHUNKPROOF_CLI_BENCH_LOAD_H

#include <stddef.h>

#include "chunkproof/plan.h"

#define BENCH_MOST_LOADS  64
#define BENCH_MOST_LEVELS 3

/* Each of `groups` groups of neighbouring sequences shares `tokens` tokens. */
struct bench_level {
    int groups, tokens;
};

/* b sequences of n tokens each. */
struct bench_load {
    const char *part; /* "table3", ... */
    int b, n, n_heads, n_kv_heads, head_dim, chunk_size;
    int n_levels;
    struct bench_level level[BENCH_MOST_LEVELS];
    int window; /* keys of each row (WINDOW-1); 0: all of its n. Only where nothing is shared. */
    int type;   /* of K and V: CP_FP16 (0), CP_BF16, or of 8 bits. These only where nothing is
                 * shared. With CP_BF16 Q and out have it, too; else theirs is CP_FP16. */
};

#define BENCH_TYPE_BYTES 2 /* of a number of Q and out */

/* K and V have 8 bits, and scales? */
int bench_load_is_short(const struct bench_load *load);

/* "fp16", "bf16", "e4m3", "e5m2" or "int8" */
const char *bench_load_type(const struct bench_load *load);

/* The papers' Table 3 and Figures 3 and 4, trees of two and three levels, grouped heads, bfloat16,
 * sliding windows, caches of 8 bits, for h = `heads`. `smoke`: a few small loads instead. Writes at
 * most BENCH_MOST_LOADS; returns how many. */
int bench_loads(struct bench_load *load, int heads, int smoke);

/* n_s: how many tokens a sequence shares with another one. */
int bench_load_shared(const struct bench_load *load);

/* How many keys each row sees. */
int bench_load_seen(const struct bench_load *load);

/* "table3 b=32 n=1024 n_s=512 h=32/32" */
#define BENCH_LOAD_TEXT 96
void bench_load_print(const struct bench_load *load, char text[BENCH_LOAD_TEXT]);

/* The load's tree as plans: over a pool with shared chunks, and over a pool in which each sequence
 * has its own pages. */
struct bench_plans {
    struct cp_plan *tree;  /* shared chunks first */
    struct cp_plan *pages; /* PagedAttn*: each sequence alone, shared pages stored once */
    struct cp_plan *paged; /* PagedAttn: each sequence alone, shared pages copied */
    long long distinct;    /* tokens with K and V that some row sees */
};

/* Returns 0, or -1: out of memory, or beyond the plan's bounds (limits.h). */
int bench_plans_new(struct bench_plans *plans, const struct bench_load *load);
void bench_plans_free(struct bench_plans *plans);

/* Bytes of one chunk in K; V takes the same. */
size_t bench_chunk_bytes(const struct bench_load *load);

/* The least that decoding must move and do: the bytes of distinct K and V, of Q and of out; 4 b h n
 * d operations (MODEL-3), where n are the keys that a row sees. */
double bench_load_bytes(const struct bench_load *load, long long distinct);
double bench_load_flops(const struct bench_load *load);

/* So many operations in binary32 take as long: CP_OPT_AVX512_BF16 does those of scores in bfloat16,
 * which are half of all, at up to twice the rate. `version`: of opt/. */
double bench_load_fp32_flops(const struct bench_load *load, int version);

#endif

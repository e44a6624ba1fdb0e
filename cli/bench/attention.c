/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"
#include "cli/base/clock.h"
#include "cli/base/random.h"
#include "cli/bench/check.h"

/* What a cell needs: one pool, and one with a copy of each page for each sequence that has it. */
struct site {
    struct bench_plans plans;
    struct cp_attention attention[BENCH_MOST_OURS];
    size_t pool_bytes[2]; /* of K, and as much of V: the tree's, the copies */
    char *pool[2];        /* K, then V; [1]: also K and V in binary16, of 8 bits; or NULL */
    void *q, *out[BENCH_MOST_OURS];
    void *workspace[BENCH_MOST_OURS];
    struct peer *peer[BENCH_MOST_SERIES]; /* whose series it is, ... */
    int number[BENCH_MOST_SERIES];        /* ... and its number there */
};

static const char *const our_names[] = {"tree", "paged", "paged*", "whole", "wide"};
static const char *const our_notes[] = {
    "two phases over the tree",
    "each sequence alone, with copies of shared pages (the papers' PagedAttn)",
    "each sequence alone, with shared pages stored once (PagedAttn*)",
    "two phases over the tree, without the window",
    "two phases over the tree, K and V in binary16"};

/* Of these, that of a series. */
static int name_of(const struct bench_load *load, int series) {
    return series == BENCH_WIDE && bench_load_is_short(load) ? series + 1 : series;
}

/* Of all numbers of 8 bits: so that those of binary16 between -1 and 1 fit. */
static const float scale_of_short = 0x1p-6F;

/* ---- Memory ---- */

static size_t pool_bytes(const struct bench_load *load, const struct cp_plan *plan) {
    int chunks = 0;
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            chunks = plan->sequence[s].run[k].chunk >= chunks ? plan->sequence[s].run[k].chunk + 1
                                                              : chunks;
        }
    }
    return (size_t)chunks * bench_chunk_bytes(load);
}

double bench_cell_memory(const struct bench_load *load, const struct bench_plans *plans) {
    size_t tree = pool_bytes(load, plans->tree), copies = pool_bytes(load, plans->paged);
    size_t wide = bench_load_is_short(load) ? tree * BENCH_TYPE_BYTES : 0;
    return 2.0 * (double)(plans->tree->n_shared > 0 ? tree + copies : tree + wide);
}

/* Numbers of binary16 or bfloat16 between -1 and 1: signs, and exponents of 2^-1 .. 2^-4. */
static void fill(void *to, size_t bytes, int type, unsigned long long seed) {
    const unsigned long long each = 0x0001000100010001ULL; /* of four numbers */
    int is_brain = type == CP_BF16;
    unsigned long long others = each * (is_brain ? 0x807F : 0x83FF); /* than of exponents */
    unsigned long long two_bits = each * (is_brain ? 0x0180 : 0x0C00);
    unsigned long long least = each * (is_brain ? 0x3D80 : 0x2C00); /* 2^-4 */
    struct prng random = {seed};
    unsigned long long *word = to;
    for (size_t i = 0; i < bytes / sizeof *word; i++) {
        unsigned long long x = prng_next(&random);
        word[i] = (x & others) | (least + (x & two_bits));
    }
}

/* Chunk by chunk, as the paths say. */
static void copy_pages(const struct site *site, const struct bench_load *load) {
    const struct cp_plan *from = site->plans.tree, *to = site->plans.paged;
    size_t bytes = bench_chunk_bytes(load);
    for (int s = 0; s < from->n_sequences; s++) {
        for (int k = 0; k < from->sequence[s].n_chunks; k++) {
            for (size_t v = 0; v < 2; v++) {
                memcpy(site->pool[1] + v * site->pool_bytes[1] +
                           (size_t)to->sequence[s].run[k].chunk * bytes,
                       site->pool[0] + v * site->pool_bytes[0] +
                           (size_t)from->sequence[s].run[k].chunk * bytes,
                       bytes);
            }
        }
    }
}

static size_t rows_bytes(const struct bench_load *load) {
    return (size_t)load->b * (size_t)load->n_heads * (size_t)load->head_dim * BENCH_TYPE_BYTES;
}

/* Of Q and out. */
static int type_of_rows(const struct bench_load *load) {
    return load->type == CP_BF16 ? CP_BF16 : CP_FP16;
}

/* What cp_opt_attend() is given, but for the workspace. */
static void describe(struct site *site, const struct bench_load *load, int which) {
    const struct cp_plan *plan[BENCH_MOST_OURS] = {site->plans.tree, site->plans.paged,
                                                   site->plans.pages, site->plans.tree};
    int is_short = bench_load_is_short(load), is_wide = is_short && which == BENCH_WIDE;
    int pool = (which == BENCH_PAGED && !is_short && site->pool[1] != NULL) || is_wide;
    int window = which == BENCH_WHOLE ? 0 : load->window, type = is_wide ? CP_FP16 : load->type;
    const float *scale = is_short && !is_wide ? &scale_of_short : NULL;
    if (which == BENCH_PAGED && !pool) {
        plan[which] = site->plans.pages; /* nothing is shared: the same pages */
    }
    site->attention[which] = (struct cp_attention){.plan = plan[which],
                                                   .stamp = plan[which]->stamp,
                                                   .n_heads = load->n_heads,
                                                   .n_kv_heads = load->n_kv_heads,
                                                   .head_dim = load->head_dim,
                                                   .value_dim = load->head_dim,
                                                   .v_row = load->head_dim,
                                                   .scale = 1.0 / sqrt(load->head_dim),
                                                   .window = {window, 0, 0},
                                                   .scales = {CP_CACHE_SCALE_TENSOR, scale, scale},
                                                   .q_type = type_of_rows(load),
                                                   .k_type = type,
                                                   .v_type = type,
                                                   .out_type = type_of_rows(load),
                                                   .q = site->q,
                                                   .k = site->pool[pool],
                                                   .v = site->pool[pool] + site->pool_bytes[pool],
                                                   .out = site->out[which],
                                                   .variant = CP_BUFFERED};
}

static int add_ours(struct site *site, const struct bench_bench *bench,
                    const struct bench_load *load) {
    for (int i = 0; i < bench_ours_of(load); i++) {
        site->out[i] = calloc(1, rows_bytes(load));
        describe(site, load, i);
        struct cp_attention *a = &site->attention[i];
        a->workspace_size = cp_opt_workspace(bench->opt, a);
        site->workspace[i] = aligned_alloc(64, (a->workspace_size + 63) / 64 * 64);
        a->workspace = site->workspace[i];
        if (site->out[i] == NULL || site->workspace[i] == NULL) {
            return -1;
        }
    }
    return 0;
}

/* Two pools, of the tree and of the copies; or of 8 bits and of binary16. */
static int add_pools(struct site *site, const struct bench_load *load) {
    const struct cp_plan *plan[2] = {site->plans.tree, site->plans.paged};
    int is_short = bench_load_is_short(load);
    for (int i = 0; i < (site->plans.tree->n_shared > 0 || is_short ? 2 : 1); i++) {
        site->pool_bytes[i] =
            is_short && i > 0 ? site->pool_bytes[0] * BENCH_TYPE_BYTES : pool_bytes(load, plan[i]);
        site->pool[i] = bench_memory_new(2 * site->pool_bytes[i]);
        if (site->pool[i] == NULL) {
            return -1;
        }
    }
    return 0;
}

/* Those of 8 bits are the nearest to the others. */
static void fill_pools(struct site *site, const struct bench_load *load) {
    if (!bench_load_is_short(load)) {
        fill(site->pool[0], 2 * site->pool_bytes[0], load->type, 2);
        return;
    }
    fill(site->pool[1], 2 * site->pool_bytes[1], CP_FP16, 2);
    for (size_t i = 0; i < 2 * site->pool_bytes[0]; i++) {
        double x = cp_number_load(site->pool[1], CP_FP16, i);
        cp_number_store(site->pool[0], load->type, i, x / (double)scale_of_short);
    }
}

static int furnish(struct site *site, const struct bench_bench *bench,
                   const struct bench_load *load) {
    site->q = malloc(rows_bytes(load));
    if (site->q == NULL || add_pools(site, load) != 0 || add_ours(site, bench, load) != 0) {
        return -1;
    }
    fill(site->q, rows_bytes(load), type_of_rows(load), 1);
    fill_pools(site, load);
    if (site->plans.tree->n_shared > 0) {
        copy_pages(site, load);
    }
    return 0;
}

static void clear(struct site *site) {
    for (int i = 0; i < BENCH_MOST_OURS; i++) {
        free(site->out[i]);
        free(site->workspace[i]);
    }
    free(site->q);
    for (int i = 0; i < 2; i++) {
        bench_memory_free(site->pool[i], 2 * site->pool_bytes[i]);
    }
    bench_plans_free(&site->plans);
}

/* ---- Right before it is timed ---- */

/* All of ours, once. 0, or -1 with the cell's end set or memory out. */
static int check(const struct bench_bench *bench, const struct site *site,
                 struct bench_cell *cell) {
    struct check_wrong wrong;
    int first = 0;
    for (int i = 0; i < bench_ours_of(&cell->load); i++) {
        int status = cp_opt_attend(bench->opt, &site->attention[i]);
        if (status != CP_OK) {
            cell->end = BENCH_WRONG;
            (void)snprintf(cell->note, sizeof cell->note, "%s: %s",
                           our_names[name_of(&cell->load, i)], cp_status_text(status));
            return 0;
        }
    }
    const void *out[BENCH_MOST_OURS] = {site->out[0], site->out[1], site->out[2], site->out[3]};
    int right =
        bench_check(&site->attention[BENCH_TREE], out, BENCH_OURS, bench->head_of_check, &wrong);
    if (right == 1 && bench_ours_of(&cell->load) > BENCH_OURS) {
        first = BENCH_OURS;
        right = bench_check(&site->attention[first], out + first, 1, bench->head_of_check, &wrong);
    }
    if (right == 0) {
        cell->end = BENCH_WRONG;
        (void)snprintf(cell->note, sizeof cell->note,
                       "%s: out[%d][%d][%d] is %.9g and must be %.9g within %.3g",
                       our_names[name_of(&cell->load, first + wrong.result)], wrong.row, wrong.head,
                       wrong.i, wrong.got, wrong.expected, wrong.bound);
    }
    return right < 0 ? -1 : 0;
}

/* ---- Time ---- */

/* Peers have neither windows nor 8 bits: their question (peer.h) knows none. */
static void add_peers(const struct bench_bench *bench, struct site *site, struct bench_cell *cell) {
    struct peer_series found[PEER_MOST_SERIES];
    int has_peers = bench_ours_of(&cell->load) == BENCH_OURS;
    for (int p = 0; p < bench->n_peers && has_peers; p++) {
        int n = peer_cell(bench->peer[p], &cell->load, cp_opt_threads(bench->opt), bench->memory,
                          found, BENCH_MOST_SERIES - cell->n_series);
        for (int i = 0; i < n; i++) {
            struct bench_series *series = &cell->series[cell->n_series];
            memcpy(series->name, found[i].name, sizeof series->name);
            memcpy(series->note, found[i].note, sizeof series->note);
            series->measured = found[i].number >= 0;
            site->peer[cell->n_series] = bench->peer[p];
            site->number[cell->n_series++] = found[i].number;
        }
    }
}

static void run_ours(const struct bench_bench *bench, const struct site *site,
                     struct bench_series *series, int which, int round) {
    double worked = seconds_worked(), begin = seconds_now();
    (void)cp_opt_attend(bench->opt, &site->attention[which]); /* it has succeeded before */
    series->wall[round] = seconds_now() - begin;
    series->cpu[round] = seconds_worked() - worked;
}

/* Of an interrupted round nothing counts, but those before it do. */
static void run_peer(const struct bench_bench *bench, const struct site *site,
                     struct bench_series *series, int which, int round) {
    struct peer *peer = site->peer[which];
    if (peer_run(peer, site->number[which], &series->wall[round], &series->cpu[round]) != 0 &&
        !*bench->interrupted) {
        series->measured = 0;
        (void)snprintf(series->note, sizeof series->note, "%s", peer_why(peer));
    }
}

/* What was found out about the machine in a round. */
struct found {
    double read[BENCH_MOST_SERIES], cpu_read[BENCH_MOST_SERIES];
    double multiply[BENCH_MOST_SERIES], cpu_multiply[BENCH_MOST_SERIES];
    int n;
};

/* What the machine can do now; afterwards nothing that was computed before is in its caches. */
static int probe(const struct bench_bench *bench, struct bench_cell *cell, int round,
                 struct found *all) {
    struct bench_probe found[2];
    if (bench_limits_multiply(bench->limits, &found[0]) != 0 ||
        bench_limits_read(bench->limits, &found[1]) != 0) {
        return -1;
    }
    all->multiply[all->n] = found[0].rate;
    all->read[all->n] = found[1].rate;
    all->cpu_multiply[all->n] = found[0].cpu_rate;
    all->cpu_read[all->n++] = found[1].cpu_rate;
    cell->share[round] = fmin(cell->share[round], fmin(found[0].share, found[1].share));
    return 0;
}

/* Each series once, after a look at the limits; each round begins with another series. 0, or -1: no
 * thread. */
static int run_round(const struct bench_bench *bench, const struct site *site,
                     struct bench_cell *cell, int round) {
    struct found found;
    found.n = 0;
    cell->share[round] = 1.0;
    for (int i = 0; i < cell->n_series; i++) {
        int which = (i + round) % cell->n_series;
        struct bench_series *series = &cell->series[which];
        if (!series->measured) {
            continue;
        }
        if (probe(bench, cell, round, &found) != 0) {
            return -1;
        }
        if (which < bench_ours_of(&cell->load)) {
            run_ours(bench, site, series, which, round);
        } else {
            run_peer(bench, site, series, which, round);
        }
    }
    cell->read[round] = bench_spread_of(found.read, found.n).median;
    cell->multiply[round] = bench_spread_of(found.multiply, found.n).median;
    cell->cpu_read[round] = bench_spread_of(found.cpu_read, found.n).median;
    cell->cpu_multiply[round] = bench_spread_of(found.cpu_multiply, found.n).median;
    return 0;
}

static int measure(const struct bench_bench *bench, struct site *site, struct bench_cell *cell) {
    double until;
    for (int i = 0; i < bench_ours_of(&cell->load); i++) {
        struct bench_series *series = &cell->series[cell->n_series++];
        series->measured = 1;
        int name = name_of(&cell->load, i);
        (void)snprintf(series->name, sizeof series->name, "%s", our_names[name]);
        (void)snprintf(series->note, sizeof series->note, "%s", our_notes[name]);
    }
    add_peers(bench, site, cell);
    until = seconds_now() + bench->seconds;
    while (!*bench->interrupted && cell->n_rounds < bench->most_rounds &&
           (cell->n_rounds < bench->least_rounds || seconds_now() < until)) {
        if (run_round(bench, site, cell, cell->n_rounds) != 0) {
            return -1;
        }
        if (!*bench->interrupted) { /* else a peer may have been cut off */
            cell->n_rounds++;
            cell->end = BENCH_MEASURED;
        }
    }
    return 0;
}

/* A plan takes address space for the bounds of limits.h, and memory as the load has sequences. */
static int measure_site(const struct bench_bench *bench, struct site *site,
                        struct bench_cell *cell) {
    double needed = bench_cell_memory(&cell->load, &site->plans);
    cell->distinct = site->plans.distinct;
    cell->bytes = bench_load_bytes(&cell->load, cell->distinct);
    cell->flops = bench_load_flops(&cell->load);
    cell->fp32_flops = bench_load_fp32_flops(&cell->load, cp_opt_version(bench->opt));
    if (needed > bench->memory) {
        cell->end = BENCH_NO_ROOM;
        (void)snprintf(cell->note, sizeof cell->note,
                       "it takes %.2f GiB, more than the limit of %.2f", needed / 0x1p30,
                       bench->memory / 0x1p30);
        return 0;
    }
    if (furnish(site, bench, &cell->load) != 0 || check(bench, site, cell) != 0) {
        return -1;
    }
    return cell->end == BENCH_WRONG ? 0 : measure(bench, site, cell);
}

int bench_cell_measure(struct bench_bench *bench, struct bench_cell *cell) {
    struct site site;
    memset(&site, 0, sizeof site);
    if (bench_plans_new(&site.plans, &cell->load) != 0) {
        return -1;
    }
    int status = measure_site(bench, &site, cell);
    clear(&site);
    return status;
}

/* ---- What it says ---- */

double bench_cell_limit(const struct bench_cell *cell, int i) {
    return fmax(cell->bytes / cell->read[i], cell->fp32_flops / cell->multiply[i]);
}

double bench_cell_cpu_limit(const struct bench_cell *cell, int i) {
    return fmax(cell->bytes / cell->cpu_read[i], cell->fp32_flops / cell->cpu_multiply[i]);
}

struct bench_spread bench_of_limit(const struct bench_cell *cell, int series) {
    double limit[BENCH_MOST_ROUNDS];
    for (int i = 0; i < cell->n_rounds; i++) {
        limit[i] = bench_cell_limit(cell, i);
    }
    return bench_ratio_of(cell->series[series].wall, limit, cell->n_rounds);
}

struct bench_spread bench_cpu_of_limit(const struct bench_cell *cell, int series) {
    double limit[BENCH_MOST_ROUNDS];
    for (int i = 0; i < cell->n_rounds; i++) {
        limit[i] = bench_cell_cpu_limit(cell, i);
    }
    return bench_ratio_of(cell->series[series].cpu, limit, cell->n_rounds);
}

struct bench_spread bench_of_tree(const struct bench_cell *cell, int series) {
    return bench_ratio_of(cell->series[series].wall, cell->series[BENCH_TREE].wall, cell->n_rounds);
}

struct bench_spread bench_cpu_of_tree(const struct bench_cell *cell, int series) {
    return bench_ratio_of(cell->series[series].cpu, cell->series[BENCH_TREE].cpu, cell->n_rounds);
}

double bench_cell_share(const struct bench_cell *cell) {
    double least = 1.0;
    for (int i = 0; i < cell->n_rounds; i++) {
        least = fmin(least, cell->share[i]);
    }
    return least;
}

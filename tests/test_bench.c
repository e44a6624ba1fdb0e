/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
/* `chunkproof bench`: what is made of times, what a load is, what is right, how a peer is spoken
 * with. No time is asserted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/status.h"
#include "cli/bench/attention.h"
#include "cli/bench/check.h"
#include "cli/bench/goals.h"
#include "cli/bench/report.h"
#include "cli/bench/threads.h"
#include "path_runs.h"

#define assert_near(a, b, error) assert_true(fabs((a) - (b)) <= (error))

static const volatile sig_atomic_t never = 0;

/* ---- Statistics ---- */

static void spreads(void **state) {
    static const double odd[] = {5.0, 1.0, 3.0}, even[] = {4.0, 1.0, 2.0, 8.0}, one[] = {7.0};
    static const double twice[] = {10.0, 2.0, 3.0};
    struct bench_spread s = bench_spread_of(odd, 3);
    (void)state;
    assert_true(s.median == 3.0 && s.least == 1.0 && s.most == 5.0);
    assert_true(odd[0] == 5.0); /* not sorted in place */
    s = bench_spread_of(even, 4);
    assert_true(s.median == 3.0 && s.least == 1.0 && s.most == 8.0);
    s = bench_spread_of(one, 1);
    assert_true(s.median == 7.0 && s.least == 7.0 && s.most == 7.0);
    s = bench_ratio_of(twice, odd, 3); /* 2, 2, 1: round by round, not of the medians */
    assert_true(s.median == 2.0 && s.least == 1.0 && s.most == 2.0);
}

static void laws(void **state) {
    static const double x[] = {10.0, 100.0, 1000.0, 10000.0};
    double y[4];
    struct bench_law law;
    (void)state;
    for (int i = 0; i < 4; i++) {
        y[i] = 3.0 * pow(x[i], 0.5);
    }
    assert_int_equal(bench_fit_law(x, y, 4, &law), 0);
    assert_near(law.exponent, 0.5, 1e-12);
    assert_near(law.factor, 3.0, 1e-12);
    assert_near(law.off, 1.0, 1e-12);
    y[2] *= 2.0; /* one that is off pulls the law along, and is seen in it */
    assert_int_equal(bench_fit_law(x, y, 4, &law), 0);
    assert_true(law.off > 1.3 && law.off < 2.0);
    assert_int_equal(bench_fit_law(x, y, 1, &law), -1);
    static const double same[] = {2.0, 2.0};
    assert_int_equal(bench_fit_law(same, y, 2, &law), -1);
}

static void costs(void **state) {
    struct bench_cost_point point[6];
    struct bench_cost_fit fit;
    (void)state;
    for (int i = 0; i < 6; i++) {
        double bytes = 1e8 * (i + 1), flops = 1e9 * (i % 3 + 1);
        point[i] = (struct bench_cost_point){bytes, flops, 2e-3 + bytes / 1e10 + flops / 2e11};
    }
    assert_int_equal(bench_fit_cost(point, 6, &fit), 0);
    assert_near(fit.fixed, 2e-3, 1e-9);
    assert_near(fit.per_byte, 1e-10, 1e-16);
    assert_near(fit.per_flop, 5e-12, 1e-18);
    assert_near(fit.off, 0.0, 1e-9);
    /* A term that would come out negative is none. */
    for (int i = 0; i < 6; i++) {
        point[i].seconds = point[i].bytes / 1e10 + point[i].flops / 2e11 - 3e-3;
    }
    assert_int_equal(bench_fit_cost(point, 6, &fit), 0);
    assert_true(fit.fixed == 0.0 && fit.per_byte > 0.0 && fit.per_flop >= 0.0 && fit.off > 0.01);
    assert_int_equal(bench_fit_cost(point, 0, &fit), -1);
    assert_int_equal(bench_fit_cost(point, 1, &fit), 0); /* of one point: a term will do */
    assert_near(fit.off, 0.0, 1e-9);
}

/* ---- Loads ---- */

static const struct bench_load *find(const struct bench_load *load, int n, const char *name) {
    for (int i = 0; i < n; i++) {
        char text[BENCH_LOAD_TEXT];
        bench_load_print(&load[i], text);
        if (strcmp(text, name) == 0) {
            return &load[i];
        }
    }
    return NULL;
}

static void grids(void **state) {
    static const char *const papers[] = {
        "table3 b=32 n=1024 n_s=0 h=32/32",      "table3 b=32 n=1024 n_s=512 h=32/32",
        "table3 b=32 n=2048 n_s=1536 h=32/32",   "table3 b=32 n=4096 n_s=4096 h=32/32",
        "figure3 b=32 n=4096 n_s=2048 h=32/32",  "figure4 b=96 n=2112 n_s=2048 h=32/32",
        "levels b=64 n=3072 n_s=2560 h=32/32",   "gqa b=32 n=2048 n_s=2048 h=32/8",
        "gqa b=32 n=2048 n_s=0 h=32/4",          "bf16 b=32 n=2048 n_s=1536 h=32/32 bf16",
        "bf16 b=32 n=2048 n_s=2048 h=32/4 bf16", "windows b=4 n=16384 n_s=0 h=32/8 window=4096",
        "caches b=4 n=4096 n_s=0 h=32/32 e4m3",  "caches b=4 n=4096 n_s=0 h=32/32 int8"};
    struct bench_load load[BENCH_MOST_LOADS];
    int n = bench_loads(load, 32, 0), table3 = 0;
    (void)state;
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++) {
        assert_non_null(find(load, n, papers[i]));
    }
    for (int i = 0; i < n; i++) {
        table3 += strcmp(load[i].part, "table3") == 0;
    }
    assert_int_equal(table3, 12);
    assert_int_equal(n, 42);
    n = bench_loads(load, 32, 1); /* each kind of load is tried, small */
    for (int i = 0; i < BENCH_ATTENTION; i++) {
        int has = 0;
        for (int k = 0; k < n; k++) {
            has |= strcmp(load[k].part, bench_part_names[i]) == 0;
        }
        assert_true(has);
    }
}

/* Four sequences of 250 tokens, chunks of 64; 64 in common, then 128 in pairs: 1 + 2 * 2 shared
 * chunks, 1 of each. */
static const struct bench_load pairs = {.part = "levels",
                                        .b = 4,
                                        .n = 250,
                                        .n_heads = 4,
                                        .n_kv_heads = 2,
                                        .head_dim = 128,
                                        .chunk_size = 64,
                                        .n_levels = 2,
                                        .level = {{1, 64}, {2, 128}}};

static void plans_by_hand(void **state) {
    struct bench_plans plans;
    (void)state;
    assert_int_equal(bench_plans_new(&plans, &pairs), 0);
    assert_int_equal(plans.tree->n_shared, 5);
    assert_int_equal(plans.tree->sequence[0].n_shared, 3);
    assert_int_equal(plans.distinct, 5 * 64 + 4 * 58);
    assert_int_equal(plans.pages->n_shared, 0);
    assert_int_equal(plans.paged->n_shared, 0);
    for (int s = 0; s < 4; s++) {
        assert_int_equal(plans.pages->sequence[s].n_chunks, 4);
        assert_int_equal(plans.pages->sequence[s].run[0].chunk,
                         plans.pages->sequence[0].run[0].chunk);
        assert_int_equal(plans.pages->sequence[s].run[1].chunk,
                         plans.tree->sequence[s].run[1].chunk);
        assert_int_equal(plans.paged->sequence[s].run[0].chunk, 4 * s);
        assert_int_equal(plans.paged->sequence[s].n_tokens, 250);
    }
    assert_true(cp_plan_is_valid(plans.tree) && cp_plan_is_valid(plans.pages) &&
                cp_plan_is_valid(plans.paged));
    /* A chunk of K: 2 heads, 64 keys, 128 numbers of 2 bytes. The tree has 5 + 4 of them, the
     * copies 16. */
    assert_int_equal(bench_chunk_bytes(&pairs), 2 * 64 * 128 * 2);
    assert_true(bench_cell_memory(&pairs, &plans) == 2.0 * (9 + 16) * 2 * 64 * 128 * 2);
    /* K and V of 552 tokens, Q and out of 4 sequences with 4 heads. */
    assert_true(bench_load_bytes(&pairs, plans.distinct) ==
                2.0 * (2 * 552 * 2 * 128 + 2 * 4 * 4 * 128));
    assert_true(bench_load_flops(&pairs) == 4.0 * 4 * 4 * 250 * 128);
    assert_true(bench_load_fp32_flops(&pairs, CP_OPT_AVX512_BF16) == 4.0 * 4 * 4 * 250 * 128);
    struct bench_load bfloat = pairs;
    bfloat.type = CP_BF16;
    assert_true(bench_load_fp32_flops(&bfloat, CP_OPT_AVX512) == 4.0 * 4 * 4 * 250 * 128);
    assert_true(bench_load_fp32_flops(&bfloat, CP_OPT_AVX512_BF16) == 3.0 * 4 * 4 * 250 * 128);
    bench_plans_free(&plans);
}

static void limits_by_hand(void **state) {
    struct bench_cell *cell = calloc(1, sizeof *cell);
    (void)state;
    assert_non_null(cell);
    cell->bytes = 1e9;
    cell->fp32_flops = 1e9;
    cell->n_rounds = 2;
    cell->read[0] = 1e10, cell->multiply[0] = 1e11; /* 0.1 s of reading */
    cell->read[1] = 1e10, cell->multiply[1] = 5e9;  /* 0.2 s of multiplying */
    cell->share[0] = 0.97, cell->share[1] = 0.42;
    cell->series[BENCH_TREE].wall[0] = 0.15, cell->series[BENCH_TREE].wall[1] = 0.5;
    cell->series[BENCH_PAGED].wall[0] = 0.45, cell->series[BENCH_PAGED].wall[1] = 1.0;
    assert_near(bench_cell_limit(cell, 0), 0.1, 1e-12);
    assert_near(bench_cell_limit(cell, 1), 0.2, 1e-12);
    assert_near(bench_of_limit(cell, BENCH_TREE).least, 1.5, 1e-12);
    assert_near(bench_of_limit(cell, BENCH_TREE).most, 2.5, 1e-12);
    assert_near(bench_of_tree(cell, BENCH_PAGED).median, 2.5, 1e-12);
    assert_near(bench_cell_share(cell), 0.42, 1e-12);
    cell->cpu_read[0] = cell->cpu_read[1] = 5e9; /* 0.2 s of two processors */
    cell->cpu_multiply[0] = cell->cpu_multiply[1] = 1e12;
    cell->series[BENCH_TREE].cpu[0] = 0.3, cell->series[BENCH_TREE].cpu[1] = 0.5;
    assert_near(bench_cell_cpu_limit(cell, 0), 0.2, 1e-12);
    assert_near(bench_cpu_of_limit(cell, BENCH_TREE).median, 2.0, 1e-12);
    free(cell);
}

/* ---- Threads, limits ---- */

struct seen {
    int number[3];
};

static void see(void *context, int number) {
    struct seen *seen = context;
    volatile double x = 1.0;
    for (int i = 0; i < 200000; i++) {
        x = x * 1.0000001;
    }
    seen->number[number]++;
}

static void all_threads_work(void **state) {
    struct seen seen = {{0}};
    struct bench_time time = {-1.0, -1.0};
    (void)state;
    assert_int_equal(bench_threads_run(3, see, &seen, &time), 0);
    assert_true(seen.number[0] == 1 && seen.number[1] == 1 && seen.number[2] == 1);
    assert_true(time.wall > 0.0 && time.cpu > 0.0);
}

static void limits_are_found(void **state) {
    (void)state;
    for (int version = CP_OPT_PORTABLE; version <= CP_OPT_LAST; version++) {
        struct cp_opt *opt;
        struct bench_limits *limits;
        struct bench_probe probe[2];
        if (cp_opt_new(&opt, 1, version) != CP_OK) {
            continue;
        }
        cp_opt_free(opt);
        assert_int_equal(bench_limits_new(&limits, 2, version, 1 << 20), 0);
        assert_int_equal(bench_limits_read(limits, &probe[0]), 0);
        assert_int_equal(bench_limits_multiply(limits, &probe[1]), 0);
        for (int i = 0; i < 2; i++) {
            assert_true(probe[i].rate > 0.0 && isfinite(probe[i].rate));
            assert_true(probe[i].share > 0.0 && probe[i].share <= 1.0);
        }
        assert_true(strstr(bench_limits_way(limits), "stream") != NULL);
        bench_limits_free(limits);
    }
}

/* ---- Right before it is timed ---- */

#define KEYS 70 /* of each of two sequences, chunks of 64 */

struct problem {
    struct cp_plan *plan;
    struct cp_attention attention;
    uint16_t q[2 * 2 * 32], k[4 * 64 * 32], v[4 * 64 * 32], out[2 * 2 * 32];
    struct cp_opt *opt;
};

static void problem_new(struct problem *p) {
    memset(p, 0, sizeof *p);
    assert_int_equal(cp_plan_new(&p->plan), CP_OK);
    p->plan->capacity = 4;
    p->plan->chunk_size = 64;
    list_sequences(p->plan, 2);
    for (int s = 0; s < 2; s++) {
        p->plan->sequence[s].n_tokens = KEYS;
        p->plan->sequence[s].n_chunks = 2;
        p->plan->sequence[s].run[0].chunk = 2 * s;
        p->plan->sequence[s].run[1].chunk = 2 * s + 1;
        path_runs(&p->plan->sequence[s], 64);
    }
    for (size_t i = 0; i < sizeof p->k / sizeof *p->k; i++) {
        p->k[i] = cp_fp16_from_double(sin((double)i));
        p->v[i] = cp_fp16_from_double(cos(0.3 * (double)i));
    }
    for (size_t i = 0; i < sizeof p->q / sizeof *p->q; i++) {
        p->q[i] = cp_fp16_from_double(sin(1.7 * (double)i));
    }
    p->attention = (struct cp_attention){.plan = p->plan,
                                         .stamp = p->plan->stamp,
                                         .n_heads = 2,
                                         .n_kv_heads = 1,
                                         .head_dim = 32,
                                         .value_dim = 32,
                                         .v_row = 32,
                                         .scale = 0.18,
                                         .q_type = CP_FP16,
                                         .k_type = CP_FP16,
                                         .v_type = CP_FP16,
                                         .out_type = CP_FP16,
                                         .q = p->q,
                                         .k = p->k,
                                         .v = p->v,
                                         .out = p->out,
                                         .variant = CP_BUFFERED};
    assert_int_equal(cp_opt_new(&p->opt, 1, CP_OPT_BEST), CP_OK);
    p->attention.workspace_size = cp_opt_workspace(p->opt, &p->attention);
    p->attention.workspace = aligned_alloc(64, (p->attention.workspace_size + 63) / 64 * 64);
    assert_non_null(p->attention.workspace);
    assert_int_equal(cp_opt_attend(p->opt, &p->attention), CP_OK);
}

static void problem_free(struct problem *p) {
    cp_opt_free(p->opt);
    free(p->attention.workspace);
    cp_plan_free(p->plan);
}

/* What is right passes; one number that is changed by some units, a key less, a NaN are seen, and
 * where. */
static void what_is_wrong_is_seen(void **state) {
    struct problem *p = malloc(sizeof *p);
    struct check_wrong wrong;
    uint16_t other[2 * 2 * 32];
    const void *out[2];
    (void)state;
    assert_non_null(p);
    problem_new(p);
    out[0] = p->out;
    out[1] = other;
    memcpy(other, p->out, sizeof other);
    assert_int_equal(bench_check(&p->attention, out, 2, 0, &wrong), 1);
    assert_int_equal(bench_check(&p->attention, out, 2, 1, &wrong), 1);

    other[(1 * 2 + 1) * 32 + 5] ^= 0x40; /* sequence 1, head 1 */
    assert_int_equal(bench_check(&p->attention, out, 2, 0, &wrong), 0);
    assert_true(wrong.result == 1 && wrong.row == 1 && wrong.head == 1 && wrong.i == 5);
    assert_true(fabs(wrong.got - wrong.expected) > wrong.bound);
    assert_int_equal(bench_check(&p->attention, out, 1, 0, &wrong), 1);

    other[(1 * 2 + 1) * 32 + 5] = 0x7E00; /* a NaN */
    assert_int_equal(bench_check(&p->attention, out, 2, 0, &wrong), 0);

    p->plan->sequence[0].n_tokens--; /* the results are now those of a key too many */
    assert_int_equal(bench_check(&p->attention, out, 1, 0, &wrong), 0);
    assert_int_equal(wrong.row, 0);
    problem_free(p);
    free(p);
}

/* ---- Peers ---- */

#define ANSWER "read line; "

static int ask(const char *command, struct peer_series *series, struct peer **peer) {
    *peer = peer_new(command, 5.0, &never);
    assert_non_null(*peer);
    return peer_cell(*peer, &pairs, 2, 1e9, series, PEER_MOST_SERIES);
}

static void a_peer_that_answers(void **state) {
    struct peer_series series[PEER_MOST_SERIES];
    struct peer *peer;
    double wall = 0.0, cpu = 0.0;
    (void)state;
    assert_int_equal(ask(ANSWER "[ \"$line\" = 'cell levels 4 250 192 4 2 128 2 1000000000' ] && "
                                "echo 'skip slow: too slow'; echo 'series fast: by magic'; "
                                "echo 'series other'; echo ready; read line; "
                                "[ \"$line\" = 'run 1' ] && echo time 0.5 0.75; read line; "
                                "echo failed by chance",
                         series, &peer),
                     3);
    assert_string_equal(series[0].name, "slow");
    assert_string_equal(series[0].note, "too slow");
    assert_int_equal(series[0].number, -1);
    assert_string_equal(series[1].name, "fast");
    assert_string_equal(series[1].note, "by magic");
    assert_int_equal(series[1].number, 0);
    assert_string_equal(series[2].name, "other");
    assert_int_equal(series[2].number, 1);
    assert_int_equal(peer_run(peer, 1, &wall, &cpu), 0);
    assert_true(wall == 0.5 && cpu == 0.75);
    assert_int_equal(peer_run(peer, 1, &wall, &cpu), -1);
    assert_string_equal(peer_why(peer), "it answers 'failed by chance'");
    assert_int_equal(peer_cell(peer, &pairs, 2, 1e9, series, 1), 1); /* and so from now on */
    assert_int_equal(series[0].number, -1);
    peer_free(peer);
}

/* Each is one series that is skipped, by its command's name. */
static void peers_that_do_not(void **state) {
    static const struct {
        const char *command, *why;
    } cases[] = {{"exec /nowhere/at-all 2>/dev/null", "it has ended without an answer"},
                 {"exit 3", "it has ended"},
                 {ANSWER "echo hello", "it answers 'hello'"},
                 {ANSWER "printf 'serie\\033 x\\n'", "it answers 'serie? x'"},
                 {ANSWER "head -c 5000 /dev/zero", "it wrote a line of more than 1024 bytes"},
                 {ANSWER "yes series x", "it names more than 100 series"},
                 {ANSWER "printf ready", "it has ended without an answer"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct peer_series series[PEER_MOST_SERIES];
        struct peer *peer;
        assert_int_equal(ask(cases[i].command, series, &peer), 1);
        assert_int_equal(series[0].number, -1);
        assert_string_equal(series[0].name, cases[i].command);
        assert_true(strncmp(series[0].note, cases[i].why, strlen("it has ended")) == 0);
        peer_free(peer);
    }
    struct peer_series series[PEER_MOST_SERIES];
    struct peer *peer = peer_new("sleep 100", 0.2, &never);
    assert_int_equal(peer_cell(peer, &pairs, 2, 1e9, series, PEER_MOST_SERIES), 1);
    assert_string_equal(series[0].note, "no answer for 0.2 s");
    peer_free(peer);
    peer_free(NULL);
}

static void times_that_are_none(void **state) {
    static const char *const lines[] = {"time",     "time 1",     "time 0 1",  "time -1 1",
                                        "time 1 x", "time 1 1 1", "time nan 1"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char command[128];
        struct peer_series series[PEER_MOST_SERIES];
        struct peer *peer;
        double wall, cpu;
        (void)snprintf(command, sizeof command,
                       ANSWER "echo series a; echo ready; read line; echo '%s'", lines[i]);
        assert_int_equal(ask(command, series, &peer), 1);
        assert_int_equal(peer_run(peer, 0, &wall, &cpu), -1);
        peer_free(peer);
    }
}

/* ---- Goals ---- */

static void goals(void **state) {
    struct bench_goal goal[GOALS_OF_ATTENTION];
    struct bench_cell *cell = calloc(2, sizeof *cell);
    (void)state;
    assert_non_null(cell);
    for (int i = 0; i < 2; i++) {
        cell[i].load = pairs;
        cell[i].load.b = 32;
        cell[i].load.n_kv_heads = 4;
        cell[i].load.n_levels = i;
        cell[i].load.level[0].tokens = 250; /* the second one: n_s = n */
        cell[i].end = BENCH_MEASURED;
        cell[i].n_rounds = 1;
        cell[i].n_series = BENCH_OURS + 1;
        cell[i].bytes = 1e9;
        cell[i].share[0] = 1.0;
        cell[i].read[0] = 1e10;
        cell[i].multiply[0] = 1e12;
        cell[i].cpu_read[0] = 1e10;
        cell[i].cpu_multiply[0] = 1e12;
        cell[i].series[BENCH_TREE].wall[0] = 0.125;
        cell[i].series[BENCH_PAGES].wall[0] = 0.75;
        cell[i].series[BENCH_OURS].wall[0] = 0.25 * (i + 1);
        cell[i].series[BENCH_OURS].measured = 1;
    }
    bench_goals_of_attention(goal, cell, 2);
    assert_true(goal[0].n == 1 && goal[0].worst == 6.0 && bench_goal_met(&goal[0]));
    assert_true(goal[1].n == 1 && goal[1].worst == 1.25 && bench_goal_met(&goal[1]));
    assert_true(goal[2].n == 1 && goal[2].worst == 0.8 && !bench_goal_met(&goal[2]));
    assert_true(goal[3].n == 2 && goal[3].worst == 2.0 && goal[3].best == 4.0);
    cell[0].share[0] = cell[1].share[0] = 0.5; /* others were at work: CPU time counts */
    for (int i = 0; i < 2; i++) {
        cell[i].series[BENCH_TREE].cpu[0] = 0.5;
        cell[i].series[BENCH_PAGES].cpu[0] = 1.0;
        cell[i].series[BENCH_OURS].cpu[0] = 4.0;
    }
    bench_goals_of_attention(goal, cell, 2);
    assert_true(goal[0].worst == 2.0 && goal[1].worst == 5.0 && goal[2].worst == 0.2 &&
                goal[3].worst == 8.0);
    cell[0].load.type = CP_INT8; /* which has no peer, and K and V in binary16 instead */
    cell[0].series[BENCH_WIDE].cpu[0] = 0.75;
    bench_goals_of_attention(goal, cell, 1);
    assert_true(goal[3].n == 0 && goal[4].n == 1 && goal[4].worst == 1.5 &&
                !bench_goal_met(&goal[4]));
    cell[0].load.type = CP_FP16;
    cell[0].series[BENCH_OURS].measured = 0;
    cell[1].end = BENCH_WRONG; /* what is wrong does not count */
    bench_goals_of_attention(goal, cell, 2);
    assert_true(goal[0].n == 0 && !bench_goal_met(&goal[0]) && goal[3].n == 0);
    free(cell);
}

/* What limits: 1 GB at 10 GB/s takes 0.1 s, and 50 GFLOP at 1 TFLOP/s 0.05 s. */
static void standing(void **state) {
    struct bench_cell *cell = calloc(1, sizeof *cell);
    (void)state;
    assert_non_null(cell);
    cell->load = pairs;
    cell->n_rounds = 1;
    cell->n_series = BENCH_OURS + 2;
    cell->bytes = 1e9;
    cell->fp32_flops = 5e10;
    cell->share[0] = 1.0;
    cell->read[0] = cell->cpu_read[0] = 1e10;
    cell->multiply[0] = 1e12;
    cell->cpu_multiply[0] = 5e11;
    cell->series[BENCH_TREE].wall[0] = 0.125;
    cell->series[BENCH_TREE].cpu[0] = 0.25;
    assert_null(bench_stands(cell).peer);
    for (int i = 0; i < 2; i++) {
        struct bench_series *peer = &cell->series[BENCH_OURS + i];
        peer->measured = 1;
        peer->wall[0] = 0.25 - 0.0625 * i;
        peer->cpu[0] = 1.0 + i;
        (void)snprintf(peer->name, sizeof peer->name, "peer %d", i);
    }
    struct bench_standing found = bench_stands(cell);
    assert_string_equal(found.peer, "peer 1");
    assert_true(found.ahead == 1.5 && found.at_limit == 1.5 * 1.25);
    assert_near(found.reading, 0.8, 1e-12);
    assert_near(found.multiplying, 0.4, 1e-12);
    assert_string_equal(bench_limited_by(&found), "reading");
    cell->share[0] = 0.5; /* by CPU time */
    found = bench_stands(cell);
    assert_string_equal(found.peer, "peer 0");
    assert_true(found.ahead == 4.0 && found.reading == 0.4 && found.multiplying == 0.4);
    assert_string_equal(bench_limited_by(&found), "our loops");
    found.multiplying = 0.85;
    assert_string_equal(bench_limited_by(&found), "multiplying");
    found.reading = 0.8;
    assert_string_equal(bench_limited_by(&found), "both");
    free(cell);
}

static void goals_of_trees(void **state) {
    struct bench_goal goal[GOALS_OF_TREES];
    struct forest *forest = calloc(1, sizeof *forest);
    struct traffic traffic = {.source = "x", .replay = 2.5};
    (void)state;
    assert_non_null(forest);
    forest->n_long = 1;
    forest->warm[0] = 1e-5;
    forest->cold[0] = 3e-5;
    bench_goals_of_trees(goal, forest, &traffic, 1);
    assert_true(goal[0].n == 2 && !bench_goal_met(&goal[0]));
    assert_near(goal[0].worst, 30.0, 1e-9);
    assert_near(goal[0].best, 10.0, 1e-9);
    assert_true(goal[1].n == 1 && goal[1].worst == 2.5 && !bench_goal_met(&goal[1]));
    forest->n_long = 0;
    bench_goals_of_trees(goal, forest, &traffic, 0); /* a generated trace is no goal */
    assert_true(goal[0].n == 0 && goal[1].n == 0);
    free(forest);
}

/* ---- The gate's reports ---- */

static void write_text(const char *file, const char *text) {
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void tiers(void **state) {
    static const char *const none[] = {"", "[]", "{\"cases\": 0, \"seconds\": 1.0}",
                                       "{\"cases\": 5}", "{\"cases\": 5, \"seconds\": 0.0}"};
    char file[] = "/tmp/test_bench-XXXXXX";
    struct tier tier;
    int made = mkstemp(file);
    (void)state;
    assert_true(made >= 0);
    write_text(file, "{\"cases\": 50, \"seconds\": 5.0}");
    assert_int_equal(tier_read(file, 400, &tier), 0);
    assert_true(tier.measured && tier.rate == 10.0 && tier.whole == 40.0); /* cut short */
    assert_int_equal(tier_read(file, 50, &tier), 0);
    assert_true(tier.whole == 5.0 && tier.cases == 50);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        write_text(file, none[i]);
        assert_int_equal(tier_read(file, 400, &tier), -1);
    }
    (void)remove(file);
    assert_int_equal(tier_read(file, 400, &tier), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spreads),
        cmocka_unit_test(laws),
        cmocka_unit_test(costs),
        cmocka_unit_test(grids),
        cmocka_unit_test(plans_by_hand),
        cmocka_unit_test(limits_by_hand),
        cmocka_unit_test(all_threads_work),
        cmocka_unit_test(limits_are_found),
        cmocka_unit_test(what_is_wrong_is_seen),
        cmocka_unit_test(a_peer_that_answers),
        cmocka_unit_test(peers_that_do_not),
        cmocka_unit_test(times_that_are_none),
        cmocka_unit_test(goals),
        cmocka_unit_test(standing),
        cmocka_unit_test(goals_of_trees),
        cmocka_unit_test(tiers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Every version of the kernels over the whole grid of shapes, in binary16 and bfloat16, and with K
 * and V of 8 bits, through the launcher, against the certified tolerance: on a GPU, or on the CPU's
 * device (make gpu, make simt).
 *
 *     grid          all shapes, then large ones
 *     grid --small  a few shapes with small head dimensions, for the sanitizers and for a CPU
 *
 * Exit status 0: all results are within their bounds; 1: one is not, or a call failed. */
#include <cstdio>

#include "tests/gpu/program.h"
#include "tests/kernels/rig.h"

struct Totals {
    int run = 0, wrong = 0, left_out = 0;
    double largest[N_VERSIONS + 1] = {};
};

static const char *const query_modes[] = {"decode", "several", "all", "more"};

/* How a case is changed: the chunks lie `far` places later in the pool; K and V have 8 bits; values
 * have another width, and lie in rows of v_row or in their keys (WIDTH-2). */
struct Change {
    int far = 0;
    bool cached = false;
    int value_dim = 0, v_row = 0, begin = -1;
};

/* Runs one version on one case. */
static void run(Totals &totals, const shape &s, int seed, int version, int most_rows,
                const Change &change) {
    Judgement judgement;
    try {
        Rig rig(s, seed, 1 + seed % 4);
        rig.attention.version = version;
        if (change.cached) {
            rig.change_cache(seed);
        }
        if (change.value_dim > 0) {
            rig.change_widths(change.value_dim, change.v_row, change.begin);
        }
        rig.must(rig.make());
        rig.must(change.far > 0 ? rig.update_far_away(change.far) : rig.update());
        int status = rig.attend();
        if (status == CP_ERROR_UNSUPPORTED) {
            totals.left_out++;
            std::printf("left out: %s\n", cp_cuda_text(rig.cuda));
            return;
        }
        rig.must(status);
        judgement = rig.judged(version, most_rows);
    } catch (const std::exception &exception) {
        judgement.wrong = exception.what();
    }
    totals.run++;
    totals.largest[version] = std::fmax(totals.largest[version], judgement.largest);
    if (!judgement.wrong.empty()) {
        totals.wrong++;
        std::printf("WRONG: version %d, seed %d, b %d, depth %d, c %d, h %d, h_kv %d, d %d, %s, "
                    "d_v %d, type %d, far %d, 8 bits %d: %s\n",
                    version, seed, s.b, s.max_depth, s.chunk_size, s.n_heads, s.n_kv_heads,
                    s.head_dim, query_modes[s.query_mode], change.value_dim, s.q_type, change.far,
                    change.cached ? 1 : 0, judgement.wrong.c_str());
    }
    std::fflush(stdout);
}

static void each_version(Totals &totals, const shape &s, int seed, int most_rows = INT_MAX,
                         const Change &change = {}) {
    for (int version = 1; version <= N_VERSIONS; version++) {
        run(totals, s, seed, version, most_rows, change);
    }
}

/* The product of what matters, everything else in turn. */
static void grid(Totals &totals, bool small) {
    const int heads[][2] = {{8, 8}, {8, 1}, {6, 3}, {1, 1}};
    const int modes[] = {CASE_DECODE, CASE_SEVERAL, CASE_MORE, CASE_ALL};
    int seed = 1;
    for (int head_dim : {64, 80, 96, 128, 256, 48}) {
        for (int chunk_size : {16, 64, 5}) {
            for (const auto &h : heads) {
                for (int mode : modes) {
                    seed++;
                    if (small && (head_dim > 64 || seed % 7 != 0)) {
                        continue;
                    }
                    const int type = seed % 5 < 2 ? CP_BF16 : CP_FP16;
                    shape s = {small ? 4 : 12,
                               small ? 3 : 6,
                               chunk_size,
                               h[0],
                               h[1],
                               head_dim,
                               0,
                               0,
                               0,
                               0,
                               type,
                               type,
                               seed % 3 == 0 ? CP_FP32 : type,
                               mode,
                               seed % CASE_N_VALUES,
                               seed % 2 == 0 ? CASE_POISON_NAN : CASE_POISON_HUGE};
                    each_version(totals, s, seed);
                    if (seed % 2 == 0) {
                        each_version(totals, s, seed, INT_MAX, {0, true, 0, 0, -1});
                    }
                }
            }
        }
        std::printf("d %3d: %d run, %d wrong\n", head_dim, totals.run, totals.wrong);
    }
}

/* WIDTH-1, WIDTH-2: all widths that version 3 has, with blocks of 16, 32 and 64 queries. */
static void widths(Totals &totals, bool small) {
    const struct {
        int head_dim;
        Change change;
    } all[] = {{64, {0, false, 32, 40, -1}},   {96, {0, false, 64, 96, 0}},
               {96, {0, false, 64, 96, 32}},   {192, {0, false, 128, 128, -1}},
               {192, {0, false, 128, 192, 0}}, {576, {0, false, 512, 576, 0}},
               {576, {0, false, 512, 576, 64}}};
    int seed = 1;
    for (const auto &one : all) {
        for (int heads : {16, 5, 32, 128}) {
            for (int type : {CP_FP16, CP_BF16}) {
                seed++;
                if (small && (one.head_dim > 96 || heads > 16)) {
                    continue;
                }
                shape s = {small ? 3 : 8,
                           small ? 2 : 6,
                           seed % 2 == 0 ? 16 : 64,
                           heads,
                           1,
                           one.head_dim,
                           0,
                           0,
                           0,
                           0,
                           type,
                           type,
                           seed % 3 == 0 ? CP_FP32 : type,
                           seed % 4,
                           seed % CASE_N_VALUES,
                           CASE_POISON_NAN};
                run(totals, s, seed, 3, small ? INT_MAX : 400, one.change);
            }
        }
    }
    std::printf("widths: %d run, %d wrong\n", totals.run, totals.wrong);
}

/* Many chunks, and chunks behind the 2^31st element of K and of V. */
static void large(Totals &totals) {
    const shape shapes[] = {
        {32, 48, 64, 32, 4, 128, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL,
         CASE_POISON_NAN},
        {64, 12, 64, 32, 32, 64, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_MASSIVE,
         CASE_POISON_NAN},
        {16, 20, 16, 64, 8, 128, 0, 0, 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_MORE, CASE_NORMAL,
         CASE_POISON_NAN},
    };
    for (const shape &s : shapes) {
        each_version(totals, s, 1, 200);
    }
    shape far = {4, 4, 64,      8,       8,       128,         0,           0,
                 0, 0, CP_FP16, CP_FP16, CP_FP16, CASE_DECODE, CASE_NORMAL, CASE_POISON_NAN};
    int chunk = far.n_kv_heads * far.chunk_size * far.head_dim;
    each_version(totals, far, 2, INT_MAX, {INT_MAX / chunk + 1, false, 0, 0, -1});
    std::printf("large: %d run, %d wrong\n", totals.run, totals.wrong);
}

int main(int n, char **arguments) {
    Program program(n, arguments);
    Totals totals;
    grid(totals, program.small);
    widths(totals, program.small);
    if (!program.small) {
        large(totals);
    }
    for (int version = 1; version <= N_VERSIONS; version++) {
        std::printf("version %d: largest error / bound %.3f\n", version, totals.largest[version]);
    }
    std::printf("grid: %d passed, %d failed, %d left out\n", totals.run - totals.wrong,
                totals.wrong, totals.left_out);
    return totals.wrong == 0 && totals.run > 0 ? 0 : 1;
}

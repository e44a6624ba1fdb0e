/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the kernels share: a case's schedule, and the verdict on numbers by the certified tolerance. */
#ifndef CHUNKPROOF_TESTS_KERNELS_JUDGE_H
#define CHUNKPROOF_TESTS_KERNELS_JUDGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>

#include "chunkproof/tolerance.h"
#include "tests/attend_case.h"
}

#include <cmath>
#include <cstdio>
#include <vector>

#include "kernels/schedule.h"

struct Schedule {
    cp_schedule of;
    std::vector<int> numbers;

    Schedule(const attend_case &c, int chunks_per_task) {
        assert_int_equal(cp_schedule_measure(&of, c.plan, c.query_begin, chunks_per_task), CP_OK);
        numbers.assign(of.n_numbers, -1);
        cp_schedule_write(&of, c.plan, c.query_begin, numbers.data());
    }
};

static inline void fail_case(const attend_case &c, int version, const char *text) {
    case_print(&c);
    fail_msg("version %d: %s", version, text);
}

/* NUM-8 for a version: `keys` keys in all, `tasks` tasks on the path. Version 1 merges
 * chunk after chunk; the others add key after key, and rescale once for each tile. */
static inline cp_counts counts_of(int version, const attend_case &c, int keys, int tasks) {
    int chunk = c.shape.chunk_size;
    int chunks = (keys + chunk - 1) / chunk;
    if (version == 1) {
        return cp_counts_of_chunks(chunk, chunks + tasks + 1);
    }
    int tiles = keys / 32 + tasks + 1;
    cp_counts counts;
    counts.depth_n = 7 * tiles + 2 * tasks;
    counts.depth_o = keys + 1 + tiles + 2 * tasks;
    counts.stores = tasks;
    counts.changes = tiles + tasks;
    counts.operations_n = 40.0 * tiles + 5.0 * tasks;
    counts.operations_o = 2.0 * keys + tiles + 5.0 * tasks;
    return counts;
}

/* NUM-7 for a version. Version 3 has weights in binary16, and a scale that was rounded when it was made. */
static inline cp_arithmetic arithmetic_of(int version, const attend_case &c) {
    cp_format output = c.shape.out_type == CP_FP16 ? cp_format_fp16() : cp_format_fp32();
    cp_format weights = version < 3 ? cp_format{0, 0, INFINITY} : cp_format_fp16();
    cp_arithmetic arithmetic = cp_arithmetic_fp32(c.shape.head_dim, weights, output);
    if (version == 3) {
        arithmetic.score.scale_unit = 0x1.01p-23;
    }
    return arithmetic;
}

struct Row {
    std::vector<double> k, v, scratch, expected, bound;
    double lse, lse_bound;

    /* What the kernel may give for a query row and head. */
    Row(const attend_case &c, int version, const Schedule &schedule, int row, int head) {
        std::size_t d = c.shape.head_dim;
        int s = case_sequence_of(&c, row), keys = case_visible(&c, row);
        int kv_head = head / (c.shape.n_heads / c.shape.n_kv_heads);
        for (int j = 0; j < keys; j++) {
            std::size_t at = case_key(&c, s, j, kv_head);
            k.insert(k.end(), c.k + at, c.k + at + d);
            v.insert(v.end(), c.v + at, c.v + at + d);
        }
        scratch.resize(3 * keys + 1);
        expected.resize(d);
        bound.resize(d);
        const int *begin = schedule.numbers.data() + schedule.of.source_begin;
        cp_counts counts = counts_of(version, c, keys, begin[s + 1] - begin[s]);
        cp_arithmetic arithmetic = arithmetic_of(version, c);
        cp_tolerance_row question = {
            keys,
            c.shape.head_dim,
            c.attention.scale,
            c.q + (static_cast<std::size_t>(row) * c.shape.n_heads + head) * d,
            k.data(),
            v.data(),
            scratch.data()};
        /* log() and the sum are in double; the sum itself was rounded: NUM-11 has that in its bound. */
        cp_tolerance(&arithmetic, &counts, &question, 0x1p-50, expected.data(), bound.data(), &lse,
                     &lse_bound);
    }
};

/* The largest error as a part of the bound. */
static inline double judge(const attend_case &c, int version, const Schedule &schedule,
                           const void *out, int out_type, const double *lse) {
    double largest = 0.0;
    char text[200];
    for (int row = 0; row < c.n_rows; row++) {
        for (int head = 0; head < c.shape.n_heads; head++) {
            Row right(c, version, schedule, row, head);
            std::size_t at = static_cast<std::size_t>(row) * c.shape.n_heads + head;
            bool no_key = case_visible(&c, row) == 0;
            double x_lse = lse[at];
            if (no_key ? x_lse != -INFINITY : !(std::fabs(x_lse - right.lse) <= right.lse_bound)) {
                std::snprintf(text, sizeof text, "row %d, head %d: lse %.17g, not %.17g +- %g", row,
                              head, x_lse, right.lse, right.lse_bound);
                fail_case(c, version, text);
            }
            for (int i = 0; i < c.shape.head_dim; i++) {
                double x = cp_number_load(out, out_type, at * c.shape.head_dim + i);
                double error = std::fabs(x - right.expected[i]);
                if (no_key ? x != 0.0 : !(error <= right.bound[i])) {
                    std::snprintf(text, sizeof text,
                                  "row %d, head %d, element %d: %.9g, not %.9g +- %g", row, head, i,
                                  x, right.expected[i], right.bound[i]);
                    fail_case(c, version, text);
                }
                if (!no_key && right.bound[i] > 0.0) {
                    largest = std::fmax(largest, error / right.bound[i]);
                }
            }
        }
    }
    return largest;
}

#endif

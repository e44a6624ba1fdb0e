/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the kernels share: a case's schedule, and the verdict on numbers by the
 * certified tolerance. */
#ifndef CHUNKPROOF_TESTS_KERNELS_JUDGE_H
#define CHUNKPROOF_TESTS_KERNELS_JUDGE_H

extern "C" {
#include "chunkproof/tolerance.h"
#include "tests/attend_case.h"
#include "tests/kept_case.h"
#include "tests/score_case.h"
}

#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/schedule.h"

struct Schedule {
    cp_schedule of;
    std::vector<int> numbers;

    Schedule(const attend_case &c, int chunks_per_task) {
        if (cp_schedule_measure(&of, c.plan, c.query_begin, chunks_per_task) != CP_OK) {
            throw std::runtime_error("the case has no schedule");
        }
        numbers.assign(of.n_numbers, -1);
        cp_schedule_write(&of, c.plan, c.query_begin, c.position, numbers.data());
    }
};

/* MASK-1: as many bytes as have bits of keys. */
static inline std::size_t mask_bytes(const attend_case &c) {
    const cp_mask &mask = c.attention.mask;
    std::size_t bits = 0;
    for (int row = 0; row < c.n_rows; row++) {
        long long begin = mask.begin == nullptr ? 0 : mask.begin[row];
        long long n = c.plan->sequence[case_sequence_of(&c, row)].n_tokens - begin;
        std::size_t end = mask.first[row] + static_cast<std::size_t>(n > 0 ? n : 0);
        bits = end > bits ? end : bits;
    }
    return (bits + 7) / 8;
}

/* Those have kernels of their own, of which up to 16 lanes add up the weights of 32 keys. */
static inline bool has_widths(const attend_case &c) {
    return c.attention.value_dim != c.shape.head_dim || c.attention.v_row != c.shape.head_dim;
}

/* NUM-8 for a version: `keys` keys in all, `tasks` tasks on the path. Version 1 merges
 * chunk after chunk; the others add key after key, and rescale once for each tile. Kept keys and
 * those of a window may begin and end in the middle of a chunk or of a tile. `keys` has those that
 * a mask takes away, which lie between the others. */
static inline cp_counts counts_of(int version, const attend_case &c, int keys, int tasks) {
    int chunk = c.shape.chunk_size, more = c.attention.window.keys == 0 ? 0 : 2;
    int chunks = (keys + chunk - 1) / chunk + more;
    if (version == 1) {
        return cp_counts_of_chunks(chunk, chunks + tasks + 1);
    }
    int tiles = keys / 32 + tasks + 1 + more;
    cp_counts counts;
    counts.depth_n = 7 * tiles + 2 * tasks;
    counts.depth_o = keys + 1 + tiles + 2 * tasks;
    counts.stores = tasks;
    counts.changes = tiles + tasks;
    counts.operations_n = (has_widths(c) ? 48.0 : 40.0) * tiles + 5.0 * tasks;
    counts.operations_o = 2.0 * keys + tiles + 5.0 * tasks;
    return counts;
}

static inline cp_format format_of(int type) {
    return type == CP_FP16   ? cp_format_fp16()
           : type == CP_BF16 ? cp_format_bf16()
                             : cp_format_fp32();
}

static inline bool is_cached(const attend_case &c) {
    return c.attention.k_type >= CP_E4M3;
}

/* The largest of 1 and of the scales, or of what they divide 1 into. Some are NaN. */
static inline double most_of(const attend_case &c, const float *scales, bool inverse) {
    double most = 1.0;
    for (std::size_t i = 0; scales != nullptr && i < kept_case_scales(&c, c.attention.scales.per);
         i++) {
        double scale = static_cast<double>(scales[i]);
        most = std::fmax(most, inverse ? 1.0 / scale : scale);
    }
    return most;
}

/* NUM-19. Scores are multiplied by the scale of K, and the weight or o by that of V; or numbers of
 * V are, and rounded to the type of Q: in version 3, with scales of tokens. Sums as they come are
 * off by a little more, for what binary64 rounds here. */
static inline void add_scales(const attend_case &c, int version, cp_arithmetic &a) {
    const cp_scales &scales = c.attention.scales;
    const cp_format by = cp_format_fp32();
    const bool rounds = version == 3 && scales.per == CP_CACHE_SCALE_TOKEN;
    const cp_format to = rounds ? format_of(c.shape.q_type) : cp_format{0, 0, INFINITY};
    const double more = 1.0 + 0x1p-40, twice = (1.0 + by.unit) * (1.0 + by.unit);
    double query = 0.0, number = cp_number8_largest(c.attention.k_type) + 1.0;
    for (int i = 0; i < c.n_rows * c.shape.n_heads * c.shape.head_dim; i++) {
        query = std::fmax(query, std::fabs(c.q[i]));
    }
    double w = twice * most_of(c, scales.k, false), e = by.tiny * std::fmax(query, number);
    a.score.term_tiny = w * (a.score.term_tiny + (1.0 + a.score.term_unit) * e) * more;
    a.score.tiny *= w;
    a.score.term_unit = (twice * (1.0 + a.score.term_unit) - 1.0) * more;

    double u = std::fmax(a.weights.unit, by.unit), h = (1.0 + to.unit) * twice;
    double g = (1.0 + to.unit) * (1.0 + by.unit);
    double tiny = a.weights.tiny + 4.0 * by.tiny * u / by.unit;
    a.weights.tiny = (g + (g - 1.0) / u) * tiny * most_of(c, scales.v, true) * more;
    a.weights.unit = ((1.0 + u) * h - 1.0) * more;
    a.eta_o = a.eta_o * most_of(c, scales.v, false) + to.tiny + 3.0 * by.tiny;
}

/* NUM-7 for a version. Version 3 has weights in the type of Q, and a scale that was rounded when it
 * was made. */
static inline cp_arithmetic arithmetic_of(int version, const attend_case &c) {
    cp_format output = format_of(c.shape.out_type);
    cp_format weights = version < 3 ? cp_format{0, 0, INFINITY} : format_of(c.shape.q_type);
    cp_arithmetic arithmetic = cp_arithmetic_fp32(c.shape.head_dim, weights, output);
    if (version == 3) {
        arithmetic.score.scale_unit = 0x1.01p-23;
    }
    if (is_cached(c)) {
        add_scales(c, version, arithmetic);
    }
    return arithmetic;
}

/* NUM-15. 2^-22 is what CUDA documents of tanhf(), two units in the last place; test_kernels.cpp
 * holds that of the C library to it. */
static inline cp_shift_arithmetic shift_arithmetic() {
    return {0x1p-24, 0x1p-149, 0x1p-22, 0.0};
}

struct Row {
    std::vector<double> k, v, shift, shift_error, scratch, expected, bound;
    double lse, lse_bound;
    bool no_key;

    /* What the kernel must give for a query row and head, and how far it may be off. */
    Row(const attend_case &c, int version, const Schedule &schedule, int row, int head) {
        std::size_t d = c.shape.head_dim, d_v = c.attention.value_dim;
        int s = case_sequence_of(&c, row), keys = 0, sinks = c.attention.scores.sinks != nullptr;
        const cp_arithmetic arithmetic = arithmetic_of(version, c);
        const cp_shift_arithmetic of_shift = shift_arithmetic();
        double score;
        int kv_head = head / (c.shape.n_heads / c.shape.n_kv_heads);
        for (int j = 0; j < c.plan->sequence[s].n_tokens; j++) {
            if (case_sees(&c, row, j) == 0) {
                continue;
            }
            keys++;
            std::size_t at = case_key(&c, s, j, kv_head);
            k.insert(k.end(), c.k + at, c.k + at + d);
            v.insert(v.end(), c.v + at, c.v + at + d_v);
            add_shift(score_case_shift(&c, row, head, j, &arithmetic.score, &of_shift, &score));
        }
        if (sinks != 0) { /* a key more, of zeros */
            keys++;
            k.resize(k.size() + d);
            v.resize(v.size() + d_v);
            add_shift(score_case_shift_sink(&c, head, &of_shift, &score));
        }
        no_key = keys == 0;
        scratch.resize(3 * keys + 1);
        expected.resize(d_v);
        bound.resize(d_v);
        const int *begin = schedule.numbers.data() + schedule.of.source_begin;
        const bool has_mask = c.attention.mask.bits != nullptr;
        const int over = has_mask ? c.plan->sequence[s].n_tokens + sinks : keys;
        cp_counts counts = counts_of(version, c, over, begin[s + 1] - begin[s] + sinks);
        const bool changes = score_case_changes(&c) != 0;
        cp_tolerance_row question = {
            keys,
            c.shape.head_dim,
            c.attention.value_dim,
            c.attention.scale,
            c.q + (static_cast<std::size_t>(row) * c.shape.n_heads + head) * d,
            k.data(),
            v.data(),
            scratch.data(),
            changes ? shift.data() : nullptr,
            changes ? shift_error.data() : nullptr};
        /* log() and the sum are in double; the sum itself was rounded: NUM-11 has that in its
         * bound. */
        cp_tolerance(&arithmetic, &counts, &question, 0x1p-50, expected.data(), bound.data(), &lse,
                     &lse_bound);
    }

    void add_shift(cp_shift one) {
        shift.push_back(one.shift);
        shift_error.push_back(one.error);
    }
};

/* A verdict on a result: the largest error / bound, and the first number that is wrong, "" for
 * none. */
struct Judgement {
    double largest = 0.0;
    std::string wrong;
};

[[gnu::format(printf, 2, 3)]] static inline void say(std::string &wrong, const char *format, ...) {
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    wrong = wrong.empty() ? text : wrong;
}

/* One query row and head. */
static inline void judge_row(Judgement &judgement, const attend_case &c, const Row &right, int row,
                             int head, const void *out, int out_type, const double *lse) {
    std::size_t at = static_cast<std::size_t>(row) * c.shape.n_heads + head;
    bool no_key = right.no_key;
    double x_lse = lse[at];
    if (no_key ? x_lse != -INFINITY : !(std::fabs(x_lse - right.lse) <= right.lse_bound)) {
        say(judgement.wrong, "row %d, head %d: lse %.17g, not %.17g +- %g", row, head, x_lse,
            right.lse, right.lse_bound);
    }
    for (int i = 0; i < c.attention.value_dim; i++) {
        double x = cp_number_load(out, out_type, at * c.attention.value_dim + i);
        double error = std::fabs(x - right.expected[i]);
        if (no_key ? x != 0.0 : !(error <= right.bound[i])) {
            say(judgement.wrong, "row %d, head %d, element %d: %.9g, not %.9g +- %g", row, head, i,
                x, right.expected[i], right.bound[i]);
        }
        if (!no_key && right.bound[i] > 0.0) {
            judgement.largest = std::fmax(judgement.largest, error / right.bound[i]);
        }
    }
}

/* `most_rows`: judges at most so many pairs (query row, head), spread evenly. */
static inline Judgement judge(const attend_case &c, int version, const Schedule &schedule,
                              const void *out, int out_type, const double *lse,
                              int most_rows = INT_MAX) {
    Judgement judgement;
    int n = c.n_rows * c.shape.n_heads;
    int step = n / most_rows + 1;
    for (int x = 0; x < n; x += step) {
        int row = x / c.shape.n_heads, head = x % c.shape.n_heads;
        judge_row(judgement, c, Row(c, version, schedule, row, head), row, head, out, out_type,
                  lse);
    }
    return judgement;
}

#endif

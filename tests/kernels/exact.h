/* SPDX-License-Identifier: Apache-2.0 */
/* A case over finite fields (kernels/field.h): what a kernel must give is exactly the formula's. */
#ifndef CHUNKPROOF_TESTS_KERNELS_EXACT_H
#define CHUNKPROOF_TESTS_KERNELS_EXACT_H

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/field.h"
#include "tests/kernels/accept.h"
#include "tests/kernels/memory.h"
#include "tests/random.h"

using chunkproof::Field;

/* Q and K in Z_q, V in Z_p; also where no key is: whoever reads that gets something else. */
struct FieldData {
    std::vector<std::uint16_t> q, k, v;
    std::vector<std::uint8_t> cached_k, cached_v; /* in a case with a cache; else none */
    std::vector<unsigned> k_scales, v_scales;
    std::vector<unsigned> slopes, sinks, biases; /* in a case with changed scores; else none */
    cp_biases table;                             /* of the case */
    unsigned scale, cap = 0;

    explicit FieldData(const attend_case &c) {
        unsigned long long random = c.seed + 1;
        q.resize(query_numbers(c));
        k.resize(key_numbers(c));
        v.resize(key_numbers(c));
        for (std::uint16_t &x : q) {
            x = static_cast<std::uint16_t>(random_below(&random, Field::q));
        }
        for (std::uint16_t &x : k) {
            x = static_cast<std::uint16_t>(random_below(&random, Field::q));
        }
        for (std::uint16_t &x : v) {
            x = static_cast<std::uint16_t>(random_below(&random, Field::p));
        }
        scale = 1 + static_cast<unsigned>(random_below(&random, Field::q - 1));
        draw_scores(c, &random);
        if (is_cached(c)) {
            draw_cache(c, c.attention.k_type, Field::q, &random, cached_k, k_scales, k);
            draw_cache(c, c.attention.v_type, Field::p, &random, cached_v, v_scales, v);
        }
    }

    /* NUM-18: bytes and scales, and what they stand for. */
    static void draw_cache(const attend_case &c, int type, unsigned modulus,
                           unsigned long long *random, std::vector<std::uint8_t> &bytes,
                           std::vector<unsigned> &scales, std::vector<std::uint16_t> &stands_for) {
        const int per = c.attention.scales.per;
        const std::size_t d = c.shape.head_dim, of_head = c.shape.chunk_size * d;
        scales.resize(kept_case_scales(&c, per));
        for (unsigned &x : scales) {
            x = static_cast<unsigned>(random_below(random, static_cast<int>(modulus)));
        }
        bytes.resize(stands_for.size());
        for (std::size_t i = 0; i < bytes.size(); i++) {
            std::size_t at = per == CP_CACHE_SCALE_TOKEN  ? i / d
                             : per == CP_CACHE_SCALE_HEAD ? i / of_head % c.shape.n_kv_heads
                                                          : 0;
            bytes[i] = static_cast<std::uint8_t>(random_below(random, 256));
            stands_for[i] = static_cast<std::uint16_t>(
                chunkproof::FieldCached::wide(type, bytes[i]) * scales[at] % modulus);
        }
    }

    /* As many of a cap, slopes, sinks and biases as the case has. */
    void draw_scores(const attend_case &c, unsigned long long *random) {
        const cp_scores &scores = c.attention.scores;
        for (int head = 0; head < c.shape.n_heads; head++) {
            if (scores.slopes != nullptr) {
                slopes.push_back(static_cast<unsigned>(random_below(random, Field::q)));
            }
            if (scores.sinks != nullptr) {
                sinks.push_back(static_cast<unsigned>(random_below(random, Field::q)));
            }
        }
        table = scores.biases;
        for (int i = 0; table.bias != nullptr && i < c.shape.n_heads * table.n; i++) {
            biases.push_back(static_cast<unsigned>(random_below(random, Field::q)));
        }
        cap = scores.cap == 0.0 ? 0 : 1 + static_cast<unsigned>(random_below(random, 1000));
    }

    /* SCORE-4, SCORE-5 in the field, of a distance t - p. */
    unsigned long long changed(unsigned long long s, int head, long long distance) const {
        const long long q_ = Field::q;
        s = cap == 0 ? s : s * s % Field::q * s % Field::q * cap % Field::q;
        s = slopes.empty() ? s : (s + slopes[head] * ((distance % q_ + q_) % q_)) % q_;
        if (!biases.empty()) {
            long long i = std::min(std::max(table.own - distance, 0LL), table.n - 1LL);
            s = (s + biases[static_cast<std::size_t>(head * table.n + i)]) % Field::q;
        }
        return s;
    }
};

/* The formula itself, over a list of keys: sum w^s v / sum w^s. No maximum, no state, no chunk. */
static inline unsigned long long to_the(unsigned long long x, unsigned long long exponent,
                                        unsigned long long p) {
    unsigned long long result = 1;
    while (exponent-- != 0) {
        result = result * x % p;
    }
    return result;
}

struct FieldRow {
    std::vector<unsigned long long> o;
    unsigned long long n = 0;

    FieldRow(const attend_case &c, const FieldData &data,
             const std::vector<unsigned long long> &powers, int row, int head)
        : o(c.shape.head_dim, 0) {
        std::size_t d = c.shape.head_dim;
        int s = case_sequence_of(&c, row);
        int kv_head = head / (c.shape.n_heads / c.shape.n_kv_heads);
        const std::uint16_t *q =
            &data.q[(static_cast<std::size_t>(row) * c.shape.n_heads + head) * d];
        for (int j = 0; j < c.plan->sequence[s].n_tokens; j++) {
            if (case_sees(&c, row, j) == 0) {
                continue;
            }
            std::size_t at = case_key(&c, s, j, kv_head);
            unsigned long long score = 0;
            for (std::size_t i = 0; i < d; i++) {
                score += static_cast<unsigned long long>(q[i]) * data.k[at + i];
            }
            score = score % Field::q * data.scale % Field::q;
            unsigned long long weight =
                powers[data.changed(score, head, j - case_position(&c, row))];
            n = (n + weight) % Field::p;
            for (std::size_t i = 0; i < d; i++) {
                o[i] = (o[i] + weight * data.v[at + i]) % Field::p;
            }
        }
        n = data.sinks.empty() ? n : (n + powers[data.sinks[head]]) % Field::p;
    }
};

/* Exact: the arithmetic of one of the namespaces of versions.h. */
template <class Exact>
static void compare_in(const attend_case &c, int version, const Schedule &schedule,
                       const std::vector<unsigned long long> &powers, int seed) {
    FieldData data(c);
    Memory<Exact> memory(c, schedule.of);
    chunkproof::Problem<Exact> p = problem_of(c, schedule, memory);
    p.scale = data.scale;
    p.cap = data.cap;
    p.slopes = data.slopes.empty() ? nullptr : data.slopes.data();
    p.sinks = data.sinks.empty() ? nullptr : data.sinks.data();
    p.biases = data.biases.empty() ? nullptr : data.biases.data();
    p.q = data.q.data();
    if constexpr (Exact::OF_8_BITS) {
        p.k = data.cached_k.data();
        p.v = data.cached_v.data();
        p.k_type = c.attention.k_type;
        p.v_type = c.attention.v_type;
        p.per = c.attention.scales.per;
        p.k_scales = data.k_scales.data();
        p.v_scales = data.v_scales.data();
    } else {
        p.k = data.k.data();
        p.v = data.v.data();
    }
    if constexpr (Exact::HAS_MASK) {
        p.mask = c.attention.mask;
    }
    simt::Report report = attend(version, config_of(c, schedule, p, memory, seed), p, schedule.of);
    if (!report.ok()) {
        fail_case(c, version, report.text.c_str());
    }
    for (int row = 0; row < c.n_rows; row++) {
        for (int head = 0; head < c.shape.n_heads; head++) {
            FieldRow right(c, data, powers, row, head);
            std::size_t at = static_cast<std::size_t>(row) * c.shape.n_heads + head;
            bool same = memory.lse[at] == right.n;
            for (int i = 0; i < c.shape.head_dim; i++) { /* o = mean * n, without an inverse */
                unsigned mean;
                std::memcpy(&mean, &memory.out[(at * c.shape.head_dim + i) * sizeof mean],
                            sizeof mean);
                same = same && mean < Field::p &&
                       (right.n == 0 ? mean == 0 : mean * right.n % Field::p == right.o[i]);
            }
            if (!same) {
                char text[100];
                std::snprintf(text, sizeof text, "row %d, head %d is not exact over the field", row,
                              head);
                fail_case(c, version, text);
            }
        }
    }
}

static inline std::vector<unsigned long long> powers_of_w() {
    std::vector<unsigned long long> powers(Field::q, 1);
    for (unsigned i = 1; i < Field::q; i++) {
        powers[i] = powers[i - 1] * 4 % Field::p;
    }
    return powers;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A case as a problem for the kernels, with its memory on the executor. */
#ifndef CHUNKPROOF_TESTS_KERNELS_MEMORY_H
#define CHUNKPROOF_TESTS_KERNELS_MEMORY_H

#include "tests/kernels/judge.h"

#include <cstring>

#include "kernels/problem.h"
#include "kernels/simt/simt.h"

/* Everything a kernel writes, poisoned; and what is said of memory to the executor. */
template <class A> struct Memory {
    std::vector<unsigned char> out;
    std::vector<typename A::Log> lse;
    std::vector<typename A::Score> part_m;
    std::vector<typename A::Weight> part_n, part_o;
    int out_type;

    Memory(const attend_case &c, const cp_schedule &schedule) {
        std::size_t heads = c.shape.n_heads, d = c.shape.head_dim;
        out_type = sizeof(typename A::Log) == 8 ? c.shape.out_type
                                                : CP_FP32; /* a field's numbers have 32 bits */
        out.resize(c.n_rows * heads * d * cp_number_size(out_type));
        lse.resize(c.n_rows * heads);
        part_m.resize(schedule.n_parts * heads);
        part_n.resize(schedule.n_parts * heads);
        part_o.resize(schedule.n_parts * heads * d);
        poison(out);
        poison(lse);
        poison(part_m);
        poison(part_n);
        poison(part_o);
    }

    template <class T> static void poison(std::vector<T> &numbers) {
        if (!numbers.empty()) {
            std::memset(static_cast<void *>(numbers.data()), 0xFF, numbers.size() * sizeof(T));
        }
    }

    template <class T> static simt::Buffer buffer(const char *name, const std::vector<T> &numbers) {
        return {name, numbers.data(), numbers.size() * sizeof(T), true};
    }
};

template <class A>
static inline chunkproof::Problem<A> problem_of(const attend_case &c, const Schedule &schedule,
                                                Memory<A> &memory) {
    chunkproof::Problem<A> p = {};
    p.lists = chunkproof::lists_of(schedule.of, schedule.numbers.data());
    p.n_heads = c.shape.n_heads;
    p.n_kv_heads = c.shape.n_kv_heads;
    p.head_dim = c.shape.head_dim;
    p.chunk_size = c.shape.chunk_size;
    p.window = c.attention.window;
    p.slopes = nullptr;
    p.sinks = nullptr;
    p.biases = nullptr;
    p.n_biases = c.attention.scores.biases.n;
    p.own_bias = c.attention.scores.biases.own;
    p.out = memory.out.data();
    p.out_type = memory.out_type;
    p.lse = memory.lse.data();
    p.part_m = memory.part_m.data();
    p.part_n = memory.part_n.data();
    p.part_o = memory.part_o.data();
    return p;
}

static inline std::size_t query_numbers(const attend_case &c) {
    return static_cast<std::size_t>(c.n_rows) * c.shape.n_heads * c.shape.head_dim;
}

static inline std::size_t key_numbers(const attend_case &c) {
    return static_cast<std::size_t>(c.plan->capacity) * c.shape.n_kv_heads * c.shape.chunk_size *
           c.shape.head_dim;
}

template <class A>
static inline simt::Config config_of(const attend_case &c, const Schedule &schedule,
                                     const chunkproof::Problem<A> &p, const Memory<A> &memory,
                                     int seed) {
    simt::Config config;
    config.seed = static_cast<std::uint64_t>(seed);
    config.buffers = {
        {"schedule", schedule.numbers.data(), schedule.numbers.size() * sizeof(int), false},
        {"q", p.q, query_numbers(c) * sizeof *p.q, false},
        {"k", p.k, key_numbers(c) * sizeof *p.k, false},
        {"v", p.v, key_numbers(c) * sizeof *p.v, false},
        Memory<A>::buffer("out", memory.out),
        Memory<A>::buffer("lse", memory.lse),
        Memory<A>::buffer("part_m", memory.part_m),
        Memory<A>::buffer("part_n", memory.part_n),
        Memory<A>::buffer("part_o", memory.part_o),
    };
    std::size_t of_heads = static_cast<std::size_t>(p.n_heads) * sizeof *p.slopes;
    if (p.slopes != nullptr) {
        config.buffers.push_back({"slopes", p.slopes, of_heads, false});
    }
    if (p.sinks != nullptr) {
        config.buffers.push_back({"sinks", p.sinks, of_heads, false});
    }
    if (p.biases != nullptr) {
        const std::size_t n = static_cast<std::size_t>(p.n_biases);
        config.buffers.push_back({"biases", p.biases, n * of_heads, false});
    }
    if constexpr (A::HAS_MASK) {
        const std::size_t rows = static_cast<std::size_t>(c.n_rows);
        config.buffers.push_back({"mask.bits", p.mask.bits, mask_bytes(c), false});
        config.buffers.push_back({"mask.first", p.mask.first, rows * sizeof(std::size_t), false});
        if (p.mask.begin != nullptr) {
            config.buffers.push_back({"mask.begin", p.mask.begin, rows * sizeof(int), false});
        }
    }
    if constexpr (A::OF_8_BITS) {
        const std::size_t bytes = kept_case_scales(&c, p.per) * sizeof *p.k_scales;
        for (const auto *scales : {p.k_scales, p.v_scales}) {
            if (scales != nullptr) {
                config.buffers.push_back({"scales", scales, bytes, false});
            }
        }
    }
    return config;
}

#endif

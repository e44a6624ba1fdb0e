/* SPDX-License-Identifier: Apache-2.0 */
/* A case, its tensors on the CPU's device, and the launcher. */
#ifndef CHUNKPROOF_TESTS_KERNELS_RIG_H
#define CHUNKPROOF_TESTS_KERNELS_RIG_H

#include "tests/kernels/judge.h"

#include <algorithm>
#include <cstring>

#include "chunkproof/cuda.h"
#include "kernels/simt/device.h"

static const int CHUNKS_PER_TASK = 2;
static const int N_VERSIONS = 3;

/* Limits that the case's plan just needs. */
static inline cp_cuda_limits limits_of(const attend_case &c, int chunks_per_task) {
    cp_cuda_limits l = {1, c.n_rows, 0, 1, 1, c.shape.n_heads, c.shape.head_dim, chunks_per_task};
    const cp_plan &plan = *c.plan;
    l.n_sequences = plan.n_sequences > 0 ? plan.n_sequences : 1;
    l.n_rows = l.n_rows > 0 ? l.n_rows : 1;
    l.n_chunks = plan.n_shared;
    for (int s = 0; s < plan.n_sequences; s++) {
        const cp_plan_row &row = plan.row[s];
        l.n_chunks += row.n_chunks - row.n_shared;
        l.depth = std::max(l.depth, row.n_chunks);
        int levels = row.n_chunks > row.n_shared, end = -1;
        for (int i = 0; i < plan.n_shared; i++) {
            if (plan.shared[i].begin <= s && s < plan.shared[i].end) {
                levels += plan.shared[i].end != end; /* ranges on a path are nested */
                end = plan.shared[i].end;
            }
        }
        l.levels = std::max(l.levels, levels);
    }
    l.n_chunks = std::max(l.n_chunks, 1);
    return l;
}

/* All of it lives as long as this does; a call that fails here ends the test. */
struct Rig {
    simt::Device device;
    cudaStream_t stream = nullptr;
    attend_case c;
    cp_cuda *cuda = nullptr;
    void *workspace = nullptr;
    cp_cuda_limits limits;
    cp_cuda_attention attention = {};
    std::size_t out_bytes, lse_bytes;
    std::vector<void *> memory;

    explicit Rig(const shape &s, int seed = 1, int chunks_per_task = CHUNKS_PER_TASK) {
        case_make(&c, &s, static_cast<unsigned long long>(seed));
        c.plan->stamp = {7, 1, 1};
        limits = limits_of(c, chunks_per_task);
        assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
        std::size_t numbers = static_cast<std::size_t>(c.n_rows) * s.n_heads * s.head_dim;
        std::size_t keys =
            static_cast<std::size_t>(c.plan->capacity) * s.n_kv_heads * s.chunk_size * s.head_dim;
        out_bytes = case_out_bytes(&c);
        lse_bytes = case_lse_bytes(&c);
        attention.stamp = c.plan->stamp;
        attention.n_heads = s.n_heads;
        attention.n_kv_heads = s.n_kv_heads;
        attention.head_dim = s.head_dim;
        attention.scale = c.attention.scale;
        attention.q = loaded(c.attention.q, 2 * numbers);
        attention.k = loaded(c.attention.k, 2 * keys);
        attention.v = loaded(c.attention.v, 2 * keys);
        attention.out_type = s.out_type;
        attention.out = loaded(nullptr, out_bytes);
        attention.lse = static_cast<double *>(loaded(nullptr, lse_bytes));
        workspace = loaded(nullptr, cp_cuda_workspace(&limits));
        settle();
        device.copies = device.pageable_copies = device.waits = 0;
        device.copied_bytes = 0;
    }

    ~Rig() {
        cp_cuda_free(cuda);
        case_free(&c);
    }

    /* Device memory with these bytes in it; NULL: 0xFF. */
    void *loaded(const void *bytes, std::size_t n) {
        void *to = nullptr;
        std::vector<unsigned char> poison(n + 1, 0xFF);
        assert_int_equal(cudaMalloc(&to, n + 1), cudaSuccess);
        assert_int_equal(cudaMemcpyAsync(to, bytes == nullptr ? poison.data() : bytes, n,
                                         cudaMemcpyHostToDevice, stream),
                         cudaSuccess);
        memory.push_back(to);
        return to;
    }

    /* Everything that was started is done, and no kernel did anything wrong. */
    void settle() {
        cudaError_t error = cudaStreamSynchronize(stream);
        if (!device.report.ok()) {
            fail_case(c, attention.version, device.report.text.c_str());
        }
        assert_int_equal(error, cudaSuccess);
    }

    std::vector<unsigned char> fetch(const void *from, std::size_t n) {
        std::vector<unsigned char> bytes(n);
        assert_int_equal(cudaMemcpyAsync(bytes.data(), from, n, cudaMemcpyDeviceToHost, stream),
                         cudaSuccess);
        settle();
        return bytes;
    }

    std::vector<unsigned char> results() {
        std::vector<unsigned char> all = fetch(attention.out, out_bytes);
        std::vector<unsigned char> lse = fetch(attention.lse, lse_bytes);
        all.insert(all.end(), lse.begin(), lse.end());
        return all;
    }

    int make() {
        return cp_cuda_new(&cuda, &limits, workspace, cp_cuda_workspace(&limits));
    }

    int update() {
        return cp_cuda_update(cuda, c.plan, c.query_begin, stream);
    }

    int attend() {
        return cp_cuda_attend(cuda, &attention, stream);
    }

    void must(int status) {
        if (status != CP_OK) {
            case_print(&c);
            fail_msg("status %d: %s", status, cp_cuda_text(cuda));
        }
    }

    void start() {
        must(make());
        must(update());
    }

    std::vector<unsigned char> attended() {
        must(attend());
        return results();
    }

    /* The results of a version, by the certified tolerance. */
    void judge_results(int version) {
        std::vector<unsigned char> out = fetch(attention.out, out_bytes);
        std::vector<unsigned char> bytes = fetch(attention.lse, lse_bytes);
        std::vector<double> lse(lse_bytes / sizeof(double) + 1);
        std::memcpy(lse.data(), bytes.data(), lse_bytes);
        judge(c, version, Schedule(c, limits.chunks_per_task), out.data(), c.shape.out_type,
              lse.data());
    }

    /* As after an append, or before it: the sequences that have two keys of their own in their last chunk have `by`
     * keys more. Only lengths change (PLAN-6). */
    void change_lengths(int by) {
        for (int s = 0; s < c.plan->n_sequences; s++) {
            cp_plan_row &row = c.plan->row[s];
            int fill = row.n_tokens - (row.n_chunks - 1) * c.plan->chunk_size;
            if (row.n_chunks > row.n_shared && fill > 1) {
                row.n_tokens += by;
            }
        }
        c.plan->stamp.step++;
        attention.stamp = c.plan->stamp;
    }
};

#endif

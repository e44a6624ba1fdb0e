/* SPDX-License-Identifier: Apache-2.0 */
/* A case, its tensors on a device, and the launcher. */
#ifndef CHUNKPROOF_TESTS_KERNELS_RIG_H
#define CHUNKPROOF_TESTS_KERNELS_RIG_H

#include "tests/kernels/judge.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "chunkproof/cuda.h"
#include "kernels/simt/host.h"
#include "tests/kernels/cached.h"

extern "C" {
#include "tests/mask_case.h"
}

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
        const cp_plan_sequence &path = plan.sequence[s];
        l.n_chunks += path.n_chunks - path.n_shared;
        l.depth = std::max(l.depth, path.n_chunks);
        int levels = path.n_chunks > path.n_shared;
        const cp_shared_chunk *parent = nullptr;
        for (int i = 0; i < plan.n_shared; i++) {
            const cp_shared_chunk *one = &plan.shared[i];
            if (one->begin <= s && s < one->end) {
                levels +=
                    parent == nullptr || one->begin != parent->begin || one->end != parent->end;
                parent = one;
            }
        }
        l.levels = std::max(l.levels, levels);
    }
    l.n_chunks = std::max(l.n_chunks, 1);
    return l;
}

/* Owns all that it makes. Errors are thrown: std::runtime_error. */
struct Rig {
    cudaStream_t stream = nullptr;
    attend_case c;
    cp_cuda *cuda = nullptr;
    void *workspace = nullptr;
    cp_cuda_limits limits;
    cp_cuda_attention attention = {};
    std::size_t out_bytes, lse_bytes;
    std::vector<void *> memory;
    std::unique_ptr<CacheOf> cache;

    /* Over a plan of the case's own, or over one that becomes the case's. */
    explicit Rig(const shape &s, int seed = 1, int chunks_per_task = CHUNKS_PER_TASK,
                 cp_plan *plan = nullptr) {
        if (plan == nullptr) {
            case_make(&c, &s, static_cast<unsigned long long>(seed));
        } else {
            case_make_of(&c, &s, plan, static_cast<unsigned long long>(seed));
        }
        c.plan->stamp = {7, 1, 1};
        limits = limits_of(c, chunks_per_task);
        must(cudaStreamCreate(&stream));
        std::size_t numbers = static_cast<std::size_t>(c.n_rows) * s.n_heads * s.head_dim;
        std::size_t keys =
            static_cast<std::size_t>(c.plan->capacity) * s.n_kv_heads * s.chunk_size * s.head_dim;
        out_bytes = case_out_bytes(&c);
        lse_bytes = case_lse_bytes(&c);
        attention.stamp = c.plan->stamp;
        attention.n_heads = s.n_heads;
        attention.n_kv_heads = s.n_kv_heads;
        attention.head_dim = attention.value_dim = attention.v_row = s.head_dim;
        attention.scale = c.attention.scale;
        attention.q_type = s.q_type;
        attention.k_type = attention.v_type = s.kv_type;
        attention.q = loaded(c.attention.q, 2 * numbers);
        attention.k = loaded(c.attention.k, 2 * keys);
        attention.v = loaded(c.attention.v, 2 * keys);
        attention.out_type = s.out_type;
        attention.out = poisoned(out_bytes);
        attention.lse = static_cast<double *>(poisoned(lse_bytes));
        workspace = poisoned(cp_cuda_workspace(&limits));
        settle();
    }

    /* Changed scores and sinks, on the device and in the case, which stay as long as `drawn`. */
    void change_scores(score_case &drawn, int seed) {
        const std::size_t bytes = static_cast<std::size_t>(c.shape.n_heads) * sizeof(double);
        score_case_draw(&c, &drawn, static_cast<unsigned long long>(seed));
        cp_scores &scores = attention.scores = c.attention.scores;
        const std::size_t n = static_cast<std::size_t>(scores.biases.n);
        const std::pair<const double **, std::size_t> lists[] = {
            {&scores.slopes, bytes}, {&scores.sinks, bytes}, {&scores.biases.bias, n * bytes}};
        for (const auto &[list, size] : lists) {
            *list = *list == nullptr ? nullptr : static_cast<double *>(loaded(*list, size));
        }
        settle();
    }

    /* A mask, on the device and in the case, which stays as long as `drawn`. */
    void change_mask(mask_case &drawn, int kind, int seed) {
        mask_case_take(&drawn, &c, kind, static_cast<unsigned long long>(seed));
        set_mask(c.attention.mask);
    }

    void set_mask(const cp_mask &mask) {
        const std::size_t rows = static_cast<std::size_t>(c.n_rows);
        c.attention.mask = mask;
        attention.mask.bits = static_cast<unsigned char *>(loaded(mask.bits, mask_bytes(c)));
        attention.mask.first =
            static_cast<std::size_t *>(loaded(mask.first, rows * sizeof(std::size_t)));
        attention.mask.begin = mask.begin == nullptr
                                   ? nullptr
                                   : static_cast<int *>(loaded(mask.begin, rows * sizeof(int)));
        settle();
    }

    /* K and V of 8 bits, on the device and in the case. */
    void change_cache(int seed) {
        const std::size_t numbers = static_cast<std::size_t>(c.plan->capacity) *
                                    c.shape.n_kv_heads * c.shape.chunk_size * c.shape.head_dim;
        cache.reset(new CacheOf(c, seed));
        attention.k_type = c.attention.k_type;
        attention.v_type = c.attention.v_type;
        attention.k = loaded(c.attention.k, numbers);
        attention.v = loaded(c.attention.v, numbers);
        attention.scales = c.attention.scales;
        const std::size_t bytes = kept_case_scales(&c, attention.scales.per) * sizeof(float);
        for (const float **list : {&attention.scales.k, &attention.scales.v}) {
            *list = *list == nullptr ? nullptr : static_cast<float *>(loaded(*list, bytes));
        }
        settle();
    }

    /* WIDTH-1, WIDTH-2: of each value the first value_dim numbers, in rows of v_row, with NaNs
     * behind them; or the numbers of its key from number `begin` on, unless that is -1. On the
     * device and in the case, which keeps them in rows of head_dim. */
    void change_widths(int value_dim, int v_row, int begin) {
        const std::size_t d = c.shape.head_dim, d_v = value_dim, row = v_row;
        const std::size_t rows =
            static_cast<std::size_t>(c.plan->capacity) * c.shape.n_kv_heads * c.shape.chunk_size;
        attention.value_dim = c.attention.value_dim = value_dim;
        attention.v_row = c.attention.v_row = v_row;
        if (begin >= 0) {
            for (std::size_t i = 0; i < rows; i++) {
                std::copy_n(c.k + i * d + begin, d_v, c.v + i * d);
            }
            attention.v = static_cast<const char *>(attention.k) + 2 * begin;
        } else {
            std::vector<unsigned char> bytes(2 * rows * row, 0xFF);
            const unsigned char *from = static_cast<const unsigned char *>(c.attention.v);
            for (std::size_t i = 0; i < rows; i++) {
                std::copy_n(from + 2 * i * d, 2 * d_v, &bytes[2 * i * row]);
            }
            attention.v = loaded(bytes.data(), bytes.size());
        }
        out_bytes = case_out_bytes(&c);
        attention.out = poisoned(out_bytes);
        settle();
    }

    ~Rig() {
        cache.reset();
        cp_cuda_free(cuda);
        for (void *one : memory) {
            (void)cudaFree(one);
        }
        (void)cudaStreamDestroy(stream);
        case_free(&c);
    }
    Rig(const Rig &) = delete;
    Rig &operator=(const Rig &) = delete;

    void must(cudaError_t error) const {
        if (error != cudaSuccess) {
            throw std::runtime_error(cudaGetErrorString(error));
        }
    }

    void must(int status) const {
        if (status != CP_OK) {
            throw std::runtime_error(cp_cuda_text(cuda));
        }
    }

    /* Device memory with these bytes in it, and with 0xFF: a NaN in every type. */
    void *loaded(const void *bytes, std::size_t n) {
        void *to = nullptr;
        must(cudaMalloc(&to, n > 0 ? n : 1));
        memory.push_back(to);
        must(cudaMemcpyAsync(to, bytes, n, cudaMemcpyHostToDevice, stream));
        return to;
    }

    void *poisoned(std::size_t n) {
        return loaded(std::vector<unsigned char>(n, 0xFF).data(), n);
    }

    /* Waits until everything that was started is done. */
    void settle() const {
        must(cudaStreamSynchronize(stream));
    }

    std::vector<unsigned char> fetch(const void *from, std::size_t n) const {
        std::vector<unsigned char> bytes(n);
        must(cudaMemcpyAsync(bytes.data(), from, n, cudaMemcpyDeviceToHost, stream));
        settle();
        return bytes;
    }

    std::vector<unsigned char> results() const {
        std::vector<unsigned char> all = fetch(attention.out, out_bytes);
        std::vector<unsigned char> lse = fetch(attention.lse, lse_bytes);
        all.insert(all.end(), lse.begin(), lse.end());
        return all;
    }

    int make() {
        return cp_cuda_new(&cuda, &limits, workspace, cp_cuda_workspace(&limits));
    }

    int update() {
        return cp_cuda_update(cuda, c.plan, c.query_begin, c.position, stream);
    }

    int attend() {
        return cp_cuda_attend(cuda, &attention, stream);
    }

    void start() {
        must(make());
        must(update());
    }

    std::vector<unsigned char> attended() {
        must(attend());
        return results();
    }

    /* Judges the results of a version by the certified tolerance (judge.h). */
    Judgement judged(int version, int most_rows = INT_MAX) const {
        std::vector<unsigned char> out = fetch(attention.out, out_bytes);
        std::vector<unsigned char> bytes = fetch(attention.lse, lse_bytes);
        std::vector<double> lse(lse_bytes / sizeof(double));
        if (lse_bytes > 0) {
            std::memcpy(lse.data(), bytes.data(), lse_bytes);
        }
        return judge(c, version, Schedule(c, limits.chunks_per_task), out.data(), c.shape.out_type,
                     lse.data(), most_rows);
    }

    /* Moves the chunks `by` places later in a pool that has room for them. The launcher sees the
     * plan so, K and V are copied there, and the case stays. Update with this plan instead. */
    int update_far_away(int by) {
        std::size_t slots = static_cast<std::size_t>(c.shape.n_kv_heads) * c.shape.chunk_size;
        std::size_t chunk = 2 * slots * c.shape.head_dim, all = c.plan->capacity * chunk;
        for (const void **tensor : {&attention.k, &attention.v}) {
            void *far = nullptr;
            must(cudaMalloc(&far, by * chunk + all));
            memory.push_back(far);
            const void *from = tensor == &attention.k ? c.attention.k : c.attention.v;
            must(cudaMemcpyAsync(static_cast<char *>(far) + by * chunk, from, all,
                                 cudaMemcpyHostToDevice, stream));
            *tensor = far;
        }
        move_chunks(by);
        int status = update();
        move_chunks(-by);
        return status;
    }

    void move_chunks(int by) {
        for (int i = 0; i < c.plan->n_shared; i++) {
            c.plan->shared[i].chunk += by;
        }
        for (int s = 0; s < c.plan->n_sequences; s++) {
            for (int k = 0; k < c.plan->sequence[s].n_chunks; k++) {
                c.plan->sequence[s].run[k].chunk += by;
            }
        }
    }

    /* Makes lengths as after an append, or before it: the sequences that have two keys of their own
     * in their last chunk have `by` keys more. Only lengths change (PLAN-6). */
    void change_lengths(int by) {
        for (int s = 0; s < c.plan->n_sequences; s++) {
            cp_plan_sequence &path = c.plan->sequence[s];
            int fill = path.n_tokens - (path.n_chunks - 1) * c.plan->chunk_size;
            if (path.n_chunks > path.n_shared && fill > 1) {
                path.n_tokens += by;
            }
        }
        c.plan->stamp.step++;
        attention.stamp = c.plan->stamp;
    }
};

#endif

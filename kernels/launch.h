/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the launcher share: its state, and a version's kernels in any arithmetic with
 * any way to launch. */
#ifndef CHUNKPROOF_KERNELS_LAUNCH_H
#define CHUNKPROOF_KERNELS_LAUNCH_H

#include "chunkproof/cuda.h"
#include "kernels/cache.h"
#include "kernels/layout.h"
#include "kernels/mask.h"
#include "kernels/real.h"
#include "kernels/schedule.h"
#include "kernels/simt/host.h"
#include "kernels/v1.h"
#include "kernels/v2.h"
#include "kernels/v3.h"

struct cp_cuda {
    cp_cuda_limits limits;
    cp_layout layout;
    char *workspace;
    int device;
    int capability;          /* 80: 8.0 */
    std::size_t most_shared; /* bytes of shared memory that a block can have */
    int *staged;             /* the schedule in pinned memory of the host, as it was last copied; */
    cudaEvent_t copied;      /* when this has come it may be changed */
    bool loaded;             /* the schedule below is on the device */
    cp_schedule schedule;
    int chunk_size;
    cp_stamp stamp;
    unsigned long long generation;
    char text[256];
};

namespace chunkproof {

/* The most shared memory that a launch of attend() asks for. */
struct Measure {
    std::size_t *bytes;

    template <class... P, class... A>
    void operator()(dim3, dim3, std::size_t asked, void (*)(P...), const A &...) const {
        *bytes = asked > *bytes ? asked : *bytes;
    }
};

/* Launches until something goes wrong. */
struct Launch {
    cudaStream_t stream;
    cudaError_t *error;

    template <class P>
    void operator()(dim3 grid, dim3 block, std::size_t bytes, void (*kernel)(P), const P &p) const {
        if (*error == cudaSuccess && grid.x != 0 && grid.y != 0 && grid.z != 0) {
            *error = simt::launch_on(stream, grid, block, bytes, kernel, p);
        }
    }
};

/* run(problem) with what a version needs. */
template <class A, class Run>
void with_problem(const cp_cuda *cuda, const cp_cuda_attention *a, const Run &run) {
    const cp_layout &layout = cuda->layout;
    Problem<A> p = {};
    p.lists = lists_of(cuda->schedule, reinterpret_cast<const int *>(cuda->workspace));
    p.n_heads = a->n_heads;
    p.n_kv_heads = a->n_kv_heads;
    p.head_dim = a->head_dim;
    p.chunk_size = cuda->chunk_size;
    p.window = a->window;
    p.scale = A::scale_of(a->scale);
    p.cap = A::cap_of(a->scores.cap);
    p.slopes = a->scores.slopes;
    p.sinks = a->scores.sinks;
    p.biases = a->scores.biases.bias;
    p.n_biases = a->scores.biases.n;
    p.own_bias = a->scores.biases.own;
    p.q = static_cast<const typename A::Key *>(a->q);
    p.k = static_cast<const typename A::StoredKey *>(a->k);
    p.v = static_cast<const typename A::StoredValue *>(a->v);
    if constexpr (A::OF_8_BITS) {
        p.k_type = a->k_type;
        p.v_type = a->v_type;
        p.per = a->scales.per;
        p.k_scales = a->scales.k;
        p.v_scales = a->scales.v;
    }
    if constexpr (A::HAS_MASK) {
        p.mask = a->mask;
    }
    p.out = a->out;
    p.out_type = a->out_type;
    p.lse = a->lse;
    char *parts = cuda->workspace + layout.numbers;
    p.part_m = reinterpret_cast<float *>(parts);
    p.part_n = reinterpret_cast<float *>(parts + layout.part_m);
    p.part_o = reinterpret_cast<float *>(parts + layout.part_m + layout.part_n);
    run(p);
}

/* A version's two phases in an arithmetic, of scores in nats and in bits. */
template <class Nats, class Bits, class Launcher>
void attend_in(const Launcher &launch, int version, const cp_cuda *cuda,
               const cp_cuda_attention *a) {
    const cp_schedule &schedule = cuda->schedule;
    if (version == 1) {
        with_problem<Nats>(cuda, a, [&](const auto &p) { v1::attend(launch, p, schedule); });
    } else if (version == 2) {
        with_problem<Nats>(cuda, a, [&](const auto &p) { v2::attend(launch, p, schedule); });
    } else {
        with_problem<Bits>(cuda, a, [&](const auto &p) { v3::attend(launch, p, schedule); });
    }
}

/* The same in the arithmetic of a call with K and V of 8 bits. These kernels are in a file of their
 * own, cuda_cache.cu: beside them nvcc gives some of the others other registers. */
void attend_cached(const Measure &measure, int version, const cp_cuda *cuda,
                   const cp_cuda_attention *a);
void attend_cached(const Launch &launch, int version, const cp_cuda *cuda,
                   const cp_cuda_attention *a);

/* The same of a call with a mask, in cuda_mask.cu; and why a version cannot do it, or NULL. */
const char *obstacle_of_mask(int version, const cp_cuda_attention *a);
void attend_masked(const Measure &measure, const cp_cuda *cuda, const cp_cuda_attention *a);
void attend_masked(const Launch &launch, const cp_cuda *cuda, const cp_cuda_attention *a);

/* Has the call values of another width than keys, or in longer rows? */
bool has_widths(const cp_cuda_attention *a);

/* Of such calls, in cuda_width.cu: why a version cannot do it, or NULL; and version 3 of it. */
const char *obstacle_of_widths(int version, const cp_cuda_attention *a);
void attend_widths(const Measure &measure, const cp_cuda *cuda, const cp_cuda_attention *a);
void attend_widths(const Launch &launch, const cp_cuda *cuda, const cp_cuda_attention *a);

} // namespace chunkproof

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of values that have a width of their own (v3_widths.h), for the launcher. */
#include <cstdint>

#include "kernels/launch.h"
#include "kernels/v3_widths.h"

namespace chunkproof {

bool has_widths(const cp_cuda_attention *a) {
    return a->value_dim != a->head_dim || a->v_row != a->head_dim;
}

/* WIDTH-2: at which number of its key a value begins; -1: it is not in its key. */
static int begin_in_keys(const cp_cuda_attention *a) {
    const std::uintptr_t size = 2;
    std::uintptr_t k = reinterpret_cast<std::uintptr_t>(a->k);
    std::uintptr_t v = reinterpret_cast<std::uintptr_t>(a->v);
    std::uintptr_t at = (v - k) / size, most = static_cast<std::uintptr_t>(a->head_dim);
    bool is_in_keys = a->v_row == a->head_dim && a->value_dim <= a->head_dim && v >= k &&
                      at + static_cast<std::uintptr_t>(a->value_dim) <= most;
    return is_in_keys ? static_cast<int>(at) : -1;
}

const char *obstacle_of_widths(int version, const cp_cuda_attention *a) {
    if (version < 3) {
        return "values of another width than keys, or in longer rows, take version 3";
    }
    if (a->k_type != a->q_type) {
        return "K and V of 8 bits take values of the width of keys, in rows of their own";
    }
    if (a->v_row % v3::PIECE != 0) {
        return "rows of V are to be a multiple of 8 numbers";
    }
    bool in_keys = begin_in_keys(a) >= 0, has_tiles = false, has_in_keys = false;
    with_widths(a->head_dim, a->value_dim, in_keys, [&](auto) { has_tiles = true; });
    with_widths(a->head_dim, a->value_dim, true, [&](auto) { has_in_keys = true; });
    return has_tiles     ? nullptr
           : has_in_keys ? "it is compiled for these widths with values in their keys alone"
                         : "it is compiled for other widths of keys and values";
}

template <class A, class Launcher>
static void attend_in_widths(const Launcher &launch, const cp_cuda *cuda,
                             const cp_cuda_attention *a) {
    with_problem<A>(cuda, a, [&](const Problem<A> &given) {
        WideProblem<A> p = {};
        static_cast<Problem<A> &>(p) = given;
        p.head_dim = a->value_dim;
        p.key_dim = a->head_dim;
        p.v_row = a->v_row;
        p.v_begin = begin_in_keys(a);
        v3::widths::attend(launch, p, cuda->schedule);
    });
}

template <class Launcher>
static void attend_by(const Launcher &launch, const cp_cuda *cuda, const cp_cuda_attention *a) {
    if (a->q_type == CP_BF16) {
        attend_in_widths<RealBf16WidthsInBits>(launch, cuda, a);
    } else {
        attend_in_widths<RealWidthsInBits>(launch, cuda, a);
    }
}

void attend_widths(const Measure &measure, const cp_cuda *cuda, const cp_cuda_attention *a) {
    attend_by(measure, cuda, a);
}

void attend_widths(const Launch &launch, const cp_cuda *cuda, const cp_cuda_attention *a) {
    attend_by(launch, cuda, a);
}

} // namespace chunkproof

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS
#define KERNELS checked
#endif
#include "tests/kernels/versions.h"

#include <cstring>
#include <type_traits>

#include "kernels/v1.h"
#include "kernels/v2.h"
#include "kernels/v3.h"

namespace KERNELS {

/* Launches on the executor until something is found. */
struct Executor {
    simt::Config &config;
    simt::Report &report;

    template <class... P, class... A>
    void operator()(dim3 grid, dim3 block, std::size_t bytes, void (*kernel)(P...),
                    const A &...arguments) const {
        if (report.ok() && grid.x != 0 && grid.y != 0 && grid.z != 0) {
            config.grid = grid;
            config.block = block;
            config.dynamic_bytes = bytes;
            report = simt::launch(config, kernel, arguments...);
        }
    }
};

/* A version alone, or all of them: scripts/faults compiles the one that has the fault. */
constexpr bool is_compiled(int version) {
#ifdef CHUNKPROOF_ONE_VERSION
    return version == CHUNKPROOF_ONE_VERSION;
#else
    return version > 0;
#endif
}

template <class A> struct is_in_bits : std::false_type {};
template <> struct is_in_bits<Bits> : std::true_type {};
template <> struct is_in_bits<BfloatBits> : std::true_type {};
template <> struct is_in_bits<CachedBits> : std::true_type {};
template <> struct is_in_bits<BfloatCachedBits> : std::true_type {};

/* Versions 1 and 2 have scores in nats, or exact ones; version 3 in bits. */
template <class A> constexpr bool is_for(int version) {
    return is_compiled(version) && (version == 1 || !A::HAS_MASK) &&
           (std::is_base_of<chunkproof::Field, A>::value || is_in_bits<A>::value == (version == 3));
}

template <class A>
simt::Report attend(int version, simt::Config config, const chunkproof::Problem<A> &problem,
                    const cp_schedule &schedule) {
    simt::Report report;
    Executor launch = {config, report};
    (void)launch;
    if constexpr (is_for<A>(1)) {
        if (version == 1) {
            chunkproof::v1::attend(launch, problem, schedule);
        }
    }
    if constexpr (is_for<A>(2)) {
        if (version == 2) {
            chunkproof::v2::attend(launch, problem, schedule);
        }
    }
    if constexpr (is_for<A>(3)) {
        if (version == 3) {
            chunkproof::v3::attend(launch, problem, schedule);
        }
    }
    return report;
}

float number_of_8_bits(int type, std::uint8_t x) {
    return CachedNats::wide(type, x);
}

void pairs_of_8_bits(int type, unsigned low, unsigned high, unsigned (*pairs)[4]) {
    const uint4 of[] = {chunkproof::unpacked<CachedNats>(type, low, high, 1.0f),
                        chunkproof::unpacked<BfloatCachedNats>(type, low, high, 1.0f)};
    std::memcpy(pairs, of, sizeof of);
}

#define ATTEND(A)                                                                                  \
    template simt::Report attend(int, simt::Config, const chunkproof::Problem<A> &,                \
                                 const cp_schedule &);

ATTEND(Nats)
ATTEND(Bits)
ATTEND(BfloatNats)
ATTEND(BfloatBits)
ATTEND(CachedNats)
ATTEND(CachedBits)
ATTEND(BfloatCachedNats)
ATTEND(BfloatCachedBits)
ATTEND(Exact)
ATTEND(ExactCached)
ATTEND(ExactMasked)
ATTEND(ExactCachedMasked)

} // namespace KERNELS

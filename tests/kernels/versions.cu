/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS
#define KERNELS checked
#endif
#include "tests/kernels/versions.h"

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

template <class A>
simt::Report attend(int version, simt::Config config, const chunkproof::Problem<A> &problem,
                    const cp_schedule &schedule) {
    simt::Report report;
    Executor launch = {config, report};
    if constexpr (!std::is_same<A, Bits>::value) {
        if (version == 1) {
            chunkproof::v1::attend(launch, problem, schedule);
        } else if (version == 2) {
            chunkproof::v2::attend(launch, problem, schedule);
        }
    }
    if constexpr (!std::is_same<A, Nats>::value) {
        if (version == 3) {
            chunkproof::v3::attend(launch, problem, schedule);
        }
    }
    return report;
}

template simt::Report attend(int, simt::Config, const chunkproof::Problem<Nats> &,
                             const cp_schedule &);
template simt::Report attend(int, simt::Config, const chunkproof::Problem<Bits> &,
                             const cp_schedule &);
template simt::Report attend(int, simt::Config, const chunkproof::Problem<Exact> &,
                             const cp_schedule &);

} // namespace KERNELS

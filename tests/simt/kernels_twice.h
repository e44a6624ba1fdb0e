/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of tests/simt/ in both ways, and what their tests share. */
#ifndef CHUNKPROOF_TESTS_SIMT_KERNELS_TWICE_H
#define CHUNKPROOF_TESTS_SIMT_KERNELS_TWICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern "C" {
#include <cmocka.h>
}

#define KERNELS checked
#include "tests/simt/kernels.h"
#undef KERNELS
#define KERNELS plain
#include "tests/simt/kernels.h"
#undef KERNELS

#include "kernels/simt/simt.h"

/* One block of so many threads, in ascending order. */
inline simt::Config block_of(unsigned threads) {
    simt::Config config;
    config.block = threads;
    return config;
}

template <class T> simt::Buffer writable(const char *name, const std::vector<T> &data) {
    return {name, data.data(), data.size() * sizeof(T), true};
}

template <class T> simt::Buffer constant(const char *name, const std::vector<T> &data) {
    return {name, data.data(), data.size() * sizeof(T), false};
}

/* Did the launch find nothing? Else prints what it found. */
inline void assert_ok(const simt::Report &report) {
    if (!report.ok()) {
        fail_msg("%s", report.text.c_str());
    }
}

#endif

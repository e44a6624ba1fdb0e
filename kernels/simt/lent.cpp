/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/lent.h"

#include <cstdint>
#include <cstdio>
#include <memory>

#include "kernels/simt/device.h"

using simt::Finding;

static thread_local std::unique_ptr<simt::Device> lent;

void simt_begin(unsigned long long seed) {
    if (lent == nullptr) {
        lent.reset(new simt::Device());
        lent->step_limit = UINT64_MAX; /* the borrower ends what takes too long */
    }
    lent->seed = seed;
    lent->report = simt::Report();
    lent->declared.clear();
}

void simt_declare(void *memory, const char *name, std::size_t bytes, int writable) {
    lent->declared[static_cast<char *>(memory)] = {name, memory, bytes, writable != 0};
}

static int kind_of(Finding finding) {
    switch (finding) {
    case Finding::none:
        return SIMT_NOTHING;
    case Finding::out_of_bounds_shared:
    case Finding::out_of_bounds_global:
        return SIMT_OUT_OF_BOUNDS;
    case Finding::write_to_constant:
        return SIMT_WROTE_INPUT;
    case Finding::race_shared:
    case Finding::race_global:
    case Finding::in_flight:
        return SIMT_RACED;
    case Finding::step_limit:
        return SIMT_ENDLESS;
    default:
        return SIMT_UNDEFINED;
    }
}

int simt_found(char *text, std::size_t size) {
    (void)std::snprintf(text, size, "%s", lent->report.text.c_str());
    return kind_of(lent->report.finding);
}

int simt_is_idle() {
    bool idle = lent->default_stream.steps.empty();
    for (cudaStream_t one : lent->streams) {
        idle = idle && one->steps.empty();
    }
    return idle;
}

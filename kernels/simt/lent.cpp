/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/lent.h"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "kernels/simt/device.h"

using simt::Finding;

static thread_local std::unique_ptr<simt::Device> lent;

/* An object that is loaded. */
struct Object {
    std::uintptr_t code; /* an address in it, */
    simt::Buffer variables;
};

/* What may be written to of an object: its writable segments, but for what only the loader writes
 * to. */
static int find_variables(struct dl_phdr_info *info, std::size_t, void *context) {
    Object &object = *static_cast<Object *>(context);
    std::uintptr_t begin = 0, end = 0, fixed = 0;
    bool is_it = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        std::uintptr_t from = info->dlpi_addr + part.p_vaddr;
        is_it = is_it || (part.p_type == PT_LOAD && object.code - from < part.p_memsz);
        if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) {
            begin = begin == 0 ? from : begin;
            end = from + part.p_memsz;
        } else if (part.p_type == PT_GNU_RELRO) {
            fixed = from + part.p_memsz;
        }
    }
    if (is_it && end > std::max(begin, fixed)) {
        begin = std::max(begin, fixed);
        object.variables = {"the variables of the device", reinterpret_cast<const void *>(begin),
                            end - begin, true};
    }
    return is_it ? 1 : 0;
}

/* A kernel's __device__ variables lie among all of the object's, so that these are legal memory. */
static simt::Buffer own_variables() {
    Object object = {reinterpret_cast<std::uintptr_t>(&simt_begin), {nullptr, nullptr, 0, true}};
    dl_iterate_phdr(find_variables, &object);
    return object.variables;
}

void simt_begin(unsigned long long seed) {
    if (lent == nullptr) {
        lent.reset(new simt::Device());
        lent->variables = own_variables();
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

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dlfcn.h */

#include "gate/runner/fence.h"

#include <dlfcn.h>
#include <string.h>

#include "gate/runner/function.h"

/* Of the driver's header. */
#define PINNED     1 /* CU_MEM_ALLOCATION_TYPE_PINNED */
#define ON_DEVICE  1 /* CU_MEM_LOCATION_TYPE_DEVICE */
#define READ_WRITE 3 /* CU_MEM_ACCESS_FLAGS_PROT_READWRITE */

static int look_up(struct run_fence *fence, void *driver) {
    RUN_SET_FUNCTION(fence->reserve, dlsym(driver, "cuMemAddressReserve"));
    RUN_SET_FUNCTION(fence->create, dlsym(driver, "cuMemCreate"));
    RUN_SET_FUNCTION(fence->map, dlsym(driver, "cuMemMap"));
    RUN_SET_FUNCTION(fence->allow, dlsym(driver, "cuMemSetAccess"));
    RUN_SET_FUNCTION(fence->unmap, dlsym(driver, "cuMemUnmap"));
    RUN_SET_FUNCTION(fence->release, dlsym(driver, "cuMemRelease"));
    RUN_SET_FUNCTION(fence->give_back, dlsym(driver, "cuMemAddressFree"));
    return fence->reserve != NULL && fence->create != NULL && fence->map != NULL &&
           fence->allow != NULL && fence->unmap != NULL && fence->release != NULL &&
           fence->give_back != NULL;
}

/* The device, and in which pieces its memory comes. */
static int ask(struct run_fence *fence, void *driver) {
    int (*this_device)(int *number);
    int (*granule_of)(size_t * granule, const struct run_fence_kind *kind, int option);
    RUN_SET_FUNCTION(this_device, dlsym(driver, "cuCtxGetDevice"));
    RUN_SET_FUNCTION(granule_of, dlsym(driver, "cuMemGetAllocationGranularity"));
    fence->kind.type = PINNED;
    fence->kind.place.type = ON_DEVICE;
    return this_device != NULL && granule_of != NULL &&
           this_device(&fence->kind.place.number) == 0 &&
           granule_of(&fence->granule, &fence->kind, 0) == 0 && fence->granule > 0;
}

int run_fence_open(struct run_fence *fence, void *object) {
    memset(fence, 0, sizeof *fence);
    void *driver = object;
    if (dlsym(object, "cuMemCreate") == NULL) {
        driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    }
    return driver != NULL && look_up(fence, driver) && ask(fence, driver) ? 0 : -1;
}

static int map(const struct run_fence *fence, const struct run_fenced *fenced) {
    const struct run_fence_access access = {fence->kind.place, READ_WRITE};
    if (fence->map(fenced->address, fenced->bytes, 0, fenced->memory, 0) != 0) {
        return -1;
    }
    if (fence->allow(fenced->address, fenced->bytes, &access, 1) != 0) {
        (void)fence->unmap(fenced->address, fenced->bytes);
        return -1;
    }
    return 0;
}

int run_fence_new(const struct run_fence *fence, size_t bytes, struct run_fenced *fenced) {
    size_t granule = fence->granule;
    memset(fenced, 0, sizeof *fenced);
    if (bytes > SIZE_MAX - 3 * granule) {
        return -1;
    }
    size_t memory = (bytes + granule - 1) / granule * granule;
    if (fence->reserve(&fenced->reserved, memory + 2 * granule, 0, 0, 0) != 0) {
        return -1;
    }
    fenced->address = fenced->reserved + granule;
    fenced->bytes = memory;
    if (fence->create(&fenced->memory, memory, &fence->kind, 0) == 0) {
        if (map(fence, fenced) == 0) {
            return 0;
        }
        (void)fence->release(fenced->memory);
    }
    (void)fence->give_back(fenced->reserved, memory + 2 * granule);
    fenced->bytes = 0;
    return -1;
}

void run_fence_free(const struct run_fence *fence, struct run_fenced *fenced) {
    if (fenced->bytes > 0) {
        (void)fence->unmap(fenced->address, fenced->bytes);
        (void)fence->release(fenced->memory);
        (void)fence->give_back(fenced->reserved, fenced->bytes + 2 * fence->granule);
    }
    fenced->bytes = 0;
}

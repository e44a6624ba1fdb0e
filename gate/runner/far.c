/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mremap */

#include "gate/runner/far.h"

#include <string.h>
#include <sys/mman.h>

static size_t span_of(const struct run_far *far) {
    int n = far->pool > 0 ? far->pool : far->n;
    return n > 0 ? (size_t)(n - 1) * far->stride + far->chunk : 0;
}

/* A second mapping of the same pages: mremap() does this for shared memory when the old size is
 * 0. */
static int map_again(unsigned char *from, const struct run_far *far, const int *number,
                     unsigned char *to) {
    for (int x = 0; x < far->n; x++) {
        void *there = to + (size_t)number[x] * far->stride;
        if (mremap(from + (size_t)x * far->chunk, 0, far->chunk, MREMAP_MAYMOVE | MREMAP_FIXED,
                   there) != there) {
            return -1;
        }
    }
    return 0;
}

/* Where a buffer with far chunks begins; NULL: not enough address space. */
static void *enter(struct run_control *control, int which, unsigned char *from) {
    const struct run_far *far = &control->far[which];
    unsigned char *to = mmap(NULL, span_of(far), far->pool > 0 ? PROT_READ : PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (to == MAP_FAILED) {
        return NULL;
    }
    control->far_begin[which] = to;
    return map_again(from, far, control->far_number, to) == 0 ? to : NULL;
}

int run_far_enter(struct run_control *control, unsigned char *arena) {
    struct cp_kernel_call *call = &control->call;
    const struct run_place *place = control->current.place;
    if (control->far[0].n == 0) {
        return 0;
    }
    call->k = enter(control, 0, arena + place[RUN_K].begin);
    call->k_chunk = call->v_chunk = control->far[0].elements;
    if (call->v_offset > 0) {
        call->v_offset = control->far[0].v_offset;
    }
    if (control->far[1].n > 0) {
        call->v = enter(control, 1, arena + place[RUN_V].begin);
        call->v_chunk = control->far[1].elements;
    }
    return call->k != NULL && call->v != NULL ? 0 : -1;
}

void run_far_leave(struct run_control *control) {
    for (int which = 0; which < 2; which++) {
        if (control->far_begin[which] != NULL) {
            munmap(control->far_begin[which], span_of(&control->far[which]));
            control->far_begin[which] = NULL;
        }
    }
}

int run_far_locate(const struct run_control *control, unsigned long long address,
                   struct run_spot *spot, int *inside) {
    for (int which = 0; which < 2; which++) {
        const struct run_far *far = &control->far[which];
        unsigned long long begin = (uintptr_t)control->far_begin[which], span = span_of(far);
        if (begin != 0 && address + span - begin < 3 * span) {
            long long offset = (long long)(address - begin), stride = (long long)far->stride;
            *inside =
                offset >= 0 && offset < (long long)span && offset % stride < (long long)far->chunk;
            *spot = (struct run_spot){RUN_K + which, offset, span};
            if (*inside && far->pool == 0) {
                spot->offset = offset / stride * (long long)far->chunk + offset % stride;
                spot->bytes = (size_t)far->n * far->chunk;
            }
            return 1;
        }
    }
    return 0;
}

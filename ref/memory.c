/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */

#include "chunkproof/memory.h"

#include <sys/mman.h>

/* The smallest page any supported system has: a step that misses none. */
#define PAGE_STEP 4096

void *cp_memory_new(size_t bytes, int mode) {
    char *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        return NULL;
    }
    if (mode == CP_PREALLOCATED) {
        for (size_t at = 0; at < bytes; at += PAGE_STEP) {
            *(volatile char *)(address + at) = 0;
        }
    }
    return address;
}

void cp_memory_free(void *address, size_t bytes) {
    if (address != NULL) {
        munmap(address, bytes);
    }
}

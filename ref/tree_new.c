/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* clock_gettime */

#include <stdint.h>
#include <time.h>

#include "chunkproof/memory.h"
#include "chunkproof/status.h"
#include "chunkproof/tree.h"

/* A number that no other tree of this process has (PLAN-5). A plan of a freed tree must not pass
 * for one of a new tree at the same address. Trees that exist together differ in their address, the
 * others in the time when they were made. */
static unsigned long long identity(const struct cp_tree *tree) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((unsigned long long)now.tv_sec * 1000000000U + (unsigned long long)now.tv_nsec) ^
           ((unsigned long long)(uintptr_t)tree << 24);
}

int cp_tree_new(struct cp_tree **tree, int capacity, int chunk_size, int hash_bits) {
    *tree = NULL;
    if (capacity < 1 || capacity > CP_MAX_CHUNKS || chunk_size < 1 ||
        chunk_size > CP_MAX_CHUNK_SIZE || hash_bits < 0 || hash_bits > 64) {
        return CP_ERROR_ARGUMENT;
    }
    *tree = cp_memory_new(sizeof(struct cp_tree), CP_ON_DEMAND);
    if (*tree == NULL) {
        return CP_ERROR_NO_MEMORY;
    }
    cp_tree_init(*tree, capacity, chunk_size, hash_bits);
    (*tree)->stamp.tree = identity(*tree);
    return CP_OK;
}

void cp_tree_free(struct cp_tree *tree) {
    cp_memory_free(tree, sizeof(struct cp_tree));
}

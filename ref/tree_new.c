/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/random.h>

#include "chunkproof/memory.h"
#include "chunkproof/status.h"
#include "chunkproof/tree.h"

int cp_tree_draw_name(unsigned long long *name) {
    unsigned long long drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn) {
        return CP_ERROR_UNSUPPORTED;
    }
    *name = drawn;
    return CP_OK;
}

int cp_tree_new(struct cp_tree **tree, int capacity, int chunk_size, int hash_bits) {
    *tree = NULL;
    if (capacity < 1 || capacity > CP_MAX_CHUNKS || chunk_size < 1 ||
        chunk_size > CP_MAX_CHUNK_SIZE || hash_bits < 0 || hash_bits > 64) {
        return CP_ERROR_ARGUMENT;
    }
    unsigned long long name;
    int status = cp_tree_draw_name(&name);
    if (status != CP_OK) {
        return status;
    }
    *tree = cp_memory_new(sizeof(struct cp_tree), CP_ON_DEMAND);
    if (*tree == NULL) {
        return CP_ERROR_NO_MEMORY;
    }
    cp_tree_init(*tree, capacity, chunk_size, hash_bits, name);
    return CP_OK;
}

void cp_tree_free(struct cp_tree *tree) {
    cp_memory_free(tree, sizeof(struct cp_tree));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "chunkproof/batch.h"
#include "chunkproof/memory.h"
#include "chunkproof/tree.h"

int cp_batch_new(struct cp_batch **batch, int capacity, int chunk_size) {
    unsigned long long name;
    *batch = NULL;
    if (capacity < 1 || capacity > CP_MAX_CHUNKS || chunk_size < 1 ||
        chunk_size > CP_MAX_CHUNK_SIZE) {
        return CP_ERROR_ARGUMENT;
    }
    int status = cp_tree_draw_name(&name);
    if (status != CP_OK) {
        return status;
    }
    *batch = cp_memory_new(sizeof(struct cp_batch), CP_ON_DEMAND);
    if (*batch == NULL) {
        return CP_ERROR_NO_MEMORY;
    }
    cp_batch_init(*batch, capacity, chunk_size, name);
    return CP_OK;
}

void cp_batch_free(struct cp_batch *batch) {
    cp_memory_free(batch, sizeof(struct cp_batch));
}

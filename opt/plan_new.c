/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/memory.h"
#include "chunkproof/opt_plan.h"
#include "chunkproof/status.h"
#include "tree_internal.h"

int cp_opt_plan_new(struct cp_opt_plan **plan, const struct cp_opt_sizes *sizes) {
    *plan = NULL;
    if (!cp_opt_sizes_are_valid(sizes)) {
        return CP_ERROR_ARGUMENT;
    }
    struct cp_opt_plan made = {.sizes = *sizes};
    size_t sequences = (size_t)sizes->max_sequences, bytes = 0;
    (void)cp_opt_put(&bytes, 1, sizeof made);
    size_t sequence = cp_opt_put(&bytes, sequences, sizeof *made.sequence);
    size_t n_tokens = cp_opt_put(&bytes, sequences, sizeof *made.n_tokens);
    size_t n_chunks = cp_opt_put(&bytes, sequences, sizeof *made.n_chunks);
    size_t n_shared = cp_opt_put(&bytes, sequences, sizeof *made.n_shared_chunks);
    size_t open = cp_opt_put(&bytes, (size_t)sizes->max_depth, sizeof *made.open);
    size_t shared = cp_opt_put(&bytes, (size_t)sizes->capacity, sizeof *made.shared);
    char *memory = cp_memory_new(bytes, CP_ON_DEMAND);
    if (memory == NULL) {
        return CP_ERROR_NO_MEMORY;
    }
    made.bytes = bytes;
    made.stamp.epoch = ~0ULL; /* a tree begins at 0 and will not come this far */
    made.shape = ~0ULL;
    made.capacity = made.chunk_size = 1;
    made.sequence = (int *)(void *)(memory + sequence);
    made.n_tokens = (int *)(void *)(memory + n_tokens);
    made.n_chunks = (int *)(void *)(memory + n_chunks);
    made.n_shared_chunks = (int *)(void *)(memory + n_shared);
    made.open = (int *)(void *)(memory + open);
    made.shared = (struct cp_shared_chunk *)(void *)(memory + shared);
    *plan = (struct cp_opt_plan *)(void *)memory;
    **plan = made;
    return CP_OK;
}

void cp_opt_plan_free(struct cp_opt_plan *plan) {
    if (plan != NULL) {
        cp_memory_free(plan, plan->bytes);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/memory.h"
#include "chunkproof/opt_tree.h"
#include "chunkproof/status.h"
#include "tree_internal.h"

CP_STATIC_ASSERT(sizeof(size_t) == 8, "the sizes of all arrays, and their sum, are in range");
CP_STATIC_ASSERT(sizeof(struct cp_opt_sequence) == 64, "a sequence is a line of the cache");

int cp_opt_sizes_are_valid(const struct cp_opt_sizes *sizes) {
    return 1 <= sizes->capacity && sizes->capacity <= CP_OPT_MOST && 1 <= sizes->max_sequences &&
           sizes->max_sequences <= CP_OPT_MOST && 1 <= sizes->chunk_size && 1 <= sizes->max_depth &&
           (long long)sizes->chunk_size * sizes->max_depth <= CP_OPT_MOST_TOKENS &&
           0 <= sizes->hash_bits && sizes->hash_bits <= 64;
}

size_t cp_opt_put(size_t *bytes, size_t n, size_t element) {
    size_t at = *bytes;
    *bytes += (n * element + 63) / 64 * 64;
    return at;
}

int cp_opt_tree_new(struct cp_opt_tree **tree, const struct cp_opt_sizes *sizes) {
    *tree = NULL;
    if (!cp_opt_sizes_are_valid(sizes)) {
        return CP_ERROR_ARGUMENT;
    }
    size_t capacity = (size_t)sizes->capacity, c = (size_t)sizes->chunk_size;
    size_t sequences = (size_t)sizes->max_sequences, buckets = 1, bytes = 0;
    while (buckets <
           2 * capacity) { /* a chunk of another prompt in the way is a line of the cache in vain */
        buckets *= 2;
    }
    struct cp_opt_tree made = {.sizes = *sizes, .n_buckets = (int)buckets};
    int status = cp_tree_draw_name(&made.stamp.tree);
    if (status != CP_OK) {
        return status;
    }
    (void)cp_opt_put(&bytes, 1, sizeof made);
    size_t key = cp_opt_put(&bytes, c + c % 2, sizeof *made.key);
    size_t sequence = cp_opt_put(&bytes, sequences, sizeof *made.sequence);
    size_t bucket = cp_opt_put(&bytes, buckets, sizeof *made.bucket);
    size_t chunk = cp_opt_put(&bytes, capacity, sizeof *made.chunk);
    size_t path = cp_opt_put(&bytes, sequences * (size_t)sizes->max_depth, sizeof *made.path);
    size_t token = cp_opt_put(&bytes, capacity * c, sizeof *made.token);

    char *memory = cp_memory_new(bytes, CP_ON_DEMAND);
    if (memory == NULL) {
        return CP_ERROR_NO_MEMORY;
    }
    made.bytes = bytes;
    made.key = (unsigned long long *)(void *)(memory + key);
    made.sequence = (struct cp_opt_sequence *)(void *)(memory + sequence);
    made.bucket = (int *)(void *)(memory + bucket);
    made.chunk = (struct cp_opt_chunk *)(void *)(memory + chunk);
    made.path = (int *)(void *)(memory + path);
    made.token = (int *)(void *)(memory + token);
    *tree = (struct cp_opt_tree *)(void *)memory;
    **tree = made;
    cp_opt_tree_init(*tree);
    return CP_OK;
}

void cp_opt_tree_free(struct cp_opt_tree *tree) {
    if (tree != NULL) {
        cp_memory_free(tree, tree->bytes);
    }
}

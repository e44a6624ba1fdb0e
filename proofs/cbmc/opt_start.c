/* SPDX-License-Identifier: Apache-2.0 */
/* The base of the induction for the tree of opt/: whatever was in memory, with the buckets 0 it
 * becomes an empty valid tree. */
#include <stddef.h>

#include "chunkproof/opt_tree.h"
#include "model.h"

int main(void) {
    struct cp_opt_chunk chunk[CP_MAX_CHUNKS]; /* any content */
    int token[CP_MAX_CHUNKS * CP_MAX_CHUNK_SIZE];
    struct cp_opt_sequence sequence[CP_MAX_SEQUENCES];
    int path[CP_MAX_SEQUENCES * CP_MAX_DEPTH];
    int bucket[2] = {0};
    unsigned long long key[CP_MAX_CHUNK_SIZE + CP_MAX_CHUNK_SIZE % 2];
    struct cp_opt_tree tree;
    int capacity = nondet_int(), max_sequences = nondet_int();
    __CPROVER_assume(1 <= capacity && capacity <= CP_MAX_CHUNKS);
    __CPROVER_assume(1 <= max_sequences && max_sequences <= CP_MAX_SEQUENCES);
    tree.sizes.capacity = capacity;
    tree.sizes.chunk_size = CHUNK_SIZE;
    tree.sizes.max_sequences = max_sequences;
    tree.sizes.max_depth = CP_MAX_DEPTH;
    tree.sizes.hash_bits = 64;
    tree.n_buckets = 2;
    tree.chunk = chunk;
    tree.token = token;
    tree.sequence = sequence;
    tree.path = path;
    tree.bucket = bucket;
    tree.key = key;

    cp_opt_tree_init(&tree);

    CHECK("valid", cp_opt_tree_is_valid(&tree));
    CHECK("no sequences, all chunks free", tree.n_sequences == 0 && tree.n_free == capacity);
    CHECK("PLAN-5: stamp", tree.stamp.epoch == 0 && tree.stamp.step == 0);
    REACH("smallest", capacity == 1 && max_sequences == 1);
    REACH("largest", capacity == CP_MAX_CHUNKS && max_sequences == CP_MAX_SEQUENCES);
    return 0;
}

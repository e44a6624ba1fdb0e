/* SPDX-License-Identifier: Apache-2.0 */
/* The base of the induction: whatever was in memory, an empty valid tree is made of it. */
#include "model.h"

int main(void) {
    struct cp_tree tree; /* any content */
    int capacity = nondet_int();
    int chunk_size = nondet_int();
    int hash_bits = nondet_int();
    unsigned long long name = nondet_count();
    __CPROVER_assume(1 <= capacity && capacity <= CP_MAX_CHUNKS);
    __CPROVER_assume(1 <= chunk_size && chunk_size <= CP_MAX_CHUNK_SIZE);
    __CPROVER_assume(0 <= hash_bits && hash_bits <= 64);

    cp_tree_init(&tree, capacity, chunk_size, hash_bits, name);

    CHECK("valid", cp_tree_is_valid(&tree));
    CHECK("no sequences, all chunks free", tree.n_sequences == 0 && tree.pool.n_free == capacity);
    CHECK("as asked for", tree.pool.capacity == capacity && tree.chunk_size == chunk_size &&
                              tree.hash_bits == hash_bits);
    CHECK("PLAN-5: stamp",
          tree.stamp.tree == name && tree.stamp.epoch == 0 && tree.stamp.step == 0);
    REACH("smallest", capacity == 1 && hash_bits == 0);
    REACH("largest",
          capacity == CP_MAX_CHUNKS && chunk_size == CP_MAX_CHUNK_SIZE && hash_bits == 64);
    return 0;
}

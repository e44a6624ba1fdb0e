/* SPDX-License-Identifier: Apache-2.0 */
/* Induction: from ANY valid tree of these sizes, one step. With start.c this covers operation
 * sequences of every length. STEP is the step to take. */
#include "model.h"

int main(void) {
    struct cp_tree tree;
#ifdef CHUNK_SIZE
    tree.chunk_size = CHUNK_SIZE;
#endif
    __CPROVER_assume(cp_tree_is_valid(&tree));
    /* The counters do not come to their end: 2^64 operations. */
    __CPROVER_assume(tree.stamp.epoch < 1ULL << 63 && tree.stamp.step < 1ULL << 63);
    STEP(&tree);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Every sequence of STEPS operations from the empty tree, each with any arguments. The induction
 * covers them too; this shows that the states it starts from are not only valid but can come about:
 * the labels of the operations have to be reached from here as well. */
#include "model.h"

int main(void) {
    struct cp_tree tree;
    cp_tree_init(&tree, CP_MAX_CHUNKS, CHUNK_SIZE, 0, nondet_count());
    for (int i = 0; i < STEPS; i++) {
        int operation = any(2);
        if (operation == 0) {
            step_join(&tree);
        } else if (operation == 1) {
            step_append(&tree);
        } else if (operation == 2) {
            step_leave(&tree);
        } else {
            step_fork(&tree);
        }
    }
    return 0;
}

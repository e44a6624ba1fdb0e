/* SPDX-License-Identifier: Apache-2.0 */
/* Induction: from ANY valid tree of this shape, one step. With start.c this covers operation
 * sequences of every length. STEP is the step to take. */
#include "model.h"

int main(void) {
    struct cp_tree tree;
    any_valid_tree(&tree);
    STEP(&tree);
    return 0;
}

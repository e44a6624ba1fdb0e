/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup (TREE-8). */
#include "model.h"

#include <stddef.h>

void step_lookup(struct cp_tree *tree) {
    struct cp_tree old = *tree;
    struct flat flat;
    struct prompt prompt;
    flat_read(tree, &flat);
    any_prompt(&prompt, tree);
    __CPROVER_assume(0 <= prompt.n_tokens && prompt.n_tokens <= MAX_TOKENS);
    int c = tree->chunk_size, longest = flat_longest_match(&flat, &prompt, c), first = 0;
    while (first < CP_MAX_SEQUENCES && flat_match(&flat, first, &prompt, c) < longest) {
        first++;
    }

    struct cp_match match =
        cp_tree_lookup(tree, prompt.token, prompt.n_tokens, prompt.salt, prompt.hash);

    CHECK("TREE-8: the longest match", match.n_chunks == longest && match.n_tokens == longest * c);
    CHECK("TREE-8: the first sequence that has it", match.sequence == (longest == 0 ? -1 : first));
    CHECK("TREE-8: unchanged", tree_same(tree, &old));
    REACH("no match", longest == 0 && flat.n_sequences == CP_MAX_SEQUENCES);
    REACH("the last sequence only",
          longest == CP_MAX_DEPTH && match.sequence == CP_MAX_SEQUENCES - 1);
    REACH("two chunks with the same tokens",
          longest == 1 && first == 0 && flat_match(&flat, 1, &prompt, c) == 1 &&
              flat.sequence[0].chunk[0] != flat.sequence[1].chunk[0]);
#if CP_MAX_SEQUENCES > 2
    REACH("the longest is neither first nor last",
          longest == CP_MAX_DEPTH && match.sequence == 1 &&
              flat_match(&flat, 0, &prompt, c) == longest - 1 && flat.n_sequences == 3);
#endif
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What only reads: length, token, find. */
#include "model.h"

#include <stddef.h>

static void check_row(const struct cp_tree *tree, const struct flat *flat) {
    int s = nondet_int();
    int k = nondet_int();
    __CPROVER_assume(0 <= s && s < flat->n_sequences);
    int n = cp_tree_length(tree, s);
    CHECK("TREE-6: length", n == flat->sequence[s].n_tokens);
    CHECK("TREE-7: all chunks but the last are full",
          flat->sequence[s].n_chunks == (n + tree->chunk_size - 1) / tree->chunk_size);
    REACH("an empty sequence", n == 0);
    REACH("a sequence of the greatest length", n == tree->chunk_size * CP_MAX_DEPTH);
    __CPROVER_assume(0 <= k && k < n);
    CHECK("TREE-6: token", cp_tree_token(tree, s, k) == flat->sequence[s].token[k]);
    REACH("a token of the last chunk", k == tree->chunk_size * CP_MAX_DEPTH - 1);
}

static void check_find(const struct cp_tree *tree, const struct flat *flat) {
    long long id = any_id();
    int expected = -1;
    for (int s = CP_MAX_SEQUENCES - 1; s >= 0; s--) {
        expected = s < flat->n_sequences && flat->sequence[s].id == id ? s : expected;
    }
    CHECK("the first with this id, or -1", cp_tree_find(tree, id) == expected);
    REACH("an id that nobody has", expected == -1 && flat->n_sequences > 0);
    REACH("an id that two have",
          expected == 0 && flat->n_sequences > 1 && flat->sequence[1].id == id);
}

void step_read(struct cp_tree *tree) {
    struct flat flat;
    flat_read(tree, &flat);
    if (nondet_bool()) {
        check_row(tree, &flat);
    } else {
        check_find(tree, &flat);
    }
}

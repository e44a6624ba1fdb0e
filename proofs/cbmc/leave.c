/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

/* Chunks that sequence s alone has. */
static int private_chunks(const struct flat *flat, int s) {
    int private = 0;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        const struct flat_sequence *row = &flat->sequence[s];
        private += k < row->n_chunks && flat_owners(flat, row->chunk[k]) == 1;
    }
    return private;
}

static void reach_leave(const struct flat *before, int s, int status, int freed) {
    REACH("a sequence below 0", status == CP_ERROR_ARGUMENT && s < 0);
    REACH("a sequence that is not there", status == CP_ERROR_ARGUMENT && s == before->n_sequences);
    if (status != CP_OK) {
        return;
    }
    const struct flat_sequence *row = &before->sequence[s];
    int root = row->chunk[0];
    int owners = row->n_chunks > 0 ? flat_owners(before, root) : 0;
    REACH("an empty sequence leaves", row->n_chunks == 0);
    REACH("the only sequence leaves", before->n_sequences == 1);
    REACH("others are behind it", s + 1 < before->n_sequences);
    REACH("frees all its chunks", freed > 0 && freed == row->n_chunks);
    REACH("frees none: all are shared", freed == 0 && row->n_chunks > 0);
#if CP_MAX_SEQUENCES > 2
    REACH("first of a chunk's three", owners == 3 && flat_end(before, root) == s + 3);
    REACH("in the middle of a chunk's three", owners == 3 && flat_end(before, root) == s + 2);
    REACH("last of a chunk's three", owners == 3 && flat_end(before, root) == s + 1);
#endif
#if CP_MAX_DEPTH > 1
    REACH("frees some, keeps some", 0 < freed && freed < row->n_chunks);
    REACH("frees two", freed == 2);
#if CP_MAX_SEQUENCES > 2
    REACH("last of a chunk's two, inside an outer chunk's three",
          owners == 3 && row->n_chunks == 2 && flat_owners(before, row->chunk[1]) == 2 &&
              flat_end(before, row->chunk[1]) == s + 1 && flat_end(before, root) == s + 2);
#endif
#endif
}

void step_leave(struct cp_tree *tree) {
    struct cp_tree old = *tree;
    struct flat before, after;
    int s = nondet_int();
    flat_read(tree, &before);
    int n_free = flat_free_chunks(&before, tree->pool.capacity);
    int there = 0 <= s && s < before.n_sequences;
    int freed = there ? private_chunks(&before, s) : 0;

    int status = cp_tree_leave(tree, s);

    check_status(status, !there << CP_ERROR_ARGUMENT);
    reach_leave(&before, s, status, freed);
    if (status != CP_OK) {
        CHECK("TREE-13: unchanged", tree_same(tree, &old));
        return;
    }
    check_invariant(tree);
    struct flat expected = before;
    flat_remove(&expected, s);
    flat_read(tree, &after);
    CHECK("TREE-11: the others are as before, one index down behind it",
          flat_same(&after, &expected));
    CHECK("TREE-11: frees what no other has", tree->pool.n_free == n_free + freed);
    check_stamp(tree, &old, 1, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a tree that several drawings ask. */
#include "cli/show/show.h"

int show_ends_at(const struct cp_tree *tree, int chunk, int from) {
    int s = from > tree->begin[chunk] ? from : tree->begin[chunk];
    while (s < tree->end[chunk] && tree->sequence[s].n_chunks > tree->depth[chunk] + 1) {
        s++;
    }
    return s < tree->end[chunk] ? s : -1;
}

int show_parent(const struct cp_tree *tree, int chunk) {
    int depth = tree->depth[chunk];
    return depth > 0 ? tree->sequence[tree->begin[chunk]].chunk[depth - 1] : -1;
}

struct show_figures show_count(const struct cp_tree *tree) {
    struct show_figures figures = {0, 0, 0, 0};
    for (int s = 0; s < tree->n_sequences; s++) {
        const struct cp_sequence *row = &tree->sequence[s];
        figures.apart_chunks += row->n_chunks;
        figures.apart_tokens += cp_tree_length(tree, s);
        for (int k = 0; k < row->n_chunks; k++) {
            if (tree->begin[row->chunk[k]] == s) {
                figures.chunks++;
                figures.tokens += tree->fill[row->chunk[k]];
            }
        }
    }
    return figures;
}

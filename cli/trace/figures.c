/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/figures.h"

/* (sequence, chunk) pairs that are shared because of sequence s: its own with each chunk that it
 * shares, and its partner's where it has only one. */
static int pairs_of(const struct cp_tree *tree, int s) {
    const struct cp_sequence *row = &tree->sequence[s];
    int pairs = 0;
    for (int k = 0; k < row->n_chunks; k++) {
        int width = tree->end[row->chunk[k]] - tree->begin[row->chunk[k]];
        pairs += width == 2 ? 2 : width > 2;
    }
    return pairs;
}

void trace_count_sequence(struct trace_figures *figures, const struct cp_tree *tree, int s,
                          int sign) {
    long long with = sign;
    struct trace_moment *now = &figures->now;
    now->paths += with * tree->sequence[s].n_chunks;
    now->shared_pairs += with * pairs_of(tree, s);
    now->tokens += with * cp_tree_length(tree, s);
}

void trace_count_opt_sequence(struct trace_figures *figures, const struct cp_opt_tree *tree, int s,
                              int sign) {
    const struct cp_opt_sequence *sequence = &tree->sequence[s];
    const int *path = cp_opt_tree_path(tree, s);
    struct trace_moment *now = &figures->now;
    long long with = sign, pairs = sequence->n_shared;
    for (int k = 0; k < sequence->n_shared; k++) {
        const struct cp_opt_chunk *chunk = &tree->chunk[path[k]];
        pairs += tree->sequence[chunk->first].next == chunk->last; /* a partner has it, too */
    }
    now->paths += with * sequence->n_chunks;
    now->shared_pairs += with * pairs;
    now->tokens += with * cp_opt_tree_length(tree, s);
}

void trace_count_step(struct trace_figures *figures, int n, int taken) {
    figures->iterations++;
    figures->output_tokens += n;
    figures->now.tokens += n;
    figures->now.used += taken;
    figures->now.paths += taken; /* a chunk that an append takes is one sequence's */
    figures->sum.used += figures->now.used;
    figures->sum.paths += figures->now.paths;
    figures->sum.shared_pairs += figures->now.shared_pairs;
    figures->sum.tokens += figures->now.tokens;
}

void trace_count_chunks(struct trace_figures *figures, int used, int n_sequences, int before) {
    figures->allocated_chunks += used > before ? used - before : 0;
    figures->now.used = used;
    if (figures->now.paths > figures->paths_peak) {
        figures->paths_peak = figures->now.paths;
    }
    if (used > figures->peak.used) {
        figures->peak = figures->now;
    }
    if (n_sequences > figures->live_peak) {
        figures->live_peak = n_sequences;
    }
}

double trace_sharing_ratio(const struct trace_moment *moment, int block_size) {
    return moment->tokens == 0
               ? 0.0
               : (double)(moment->shared_pairs * block_size) / (double)moment->tokens;
}

double trace_exact_gain(const struct trace_moment *moment) {
    return moment->used == 0 ? 1.0 : (double)moment->paths / (double)moment->used;
}

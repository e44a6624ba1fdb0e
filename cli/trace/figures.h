/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay found: counted from the tree as it ran, not from the model. */
#ifndef CHUNKPROOF_CLI_TRACE_FIGURES_H
#define CHUNKPROOF_CLI_TRACE_FIGURES_H

#include "chunkproof/opt_tree.h"
#include "chunkproof/tree.h"
#include "cli/trace/check.h"
#include "cli/trace/schedule.h"

/* How a replay ended. */
#define TRACE_COMPLETE      0
#define TRACE_VIOLATION     1
#define TRACE_POOL_FULL     2 /* a decoding step found too few free chunks */
#define TRACE_INTERRUPTED   3
#define TRACE_OUT_OF_MEMORY 4

/* Chunks and tokens at one moment. */
struct trace_moment {
    long long used;         /* chunks in use */
    long long paths;        /* sum of all path lengths: the chunks in use if nothing were shared */
    long long shared_pairs; /* (sequence, chunk) with a chunk that two or more have */
    long long tokens;       /* of all sequences */
};

struct trace_figures {
    int end;
    int requests; /* that arrived */
    int rejected; /* of these, how many found no room in the pool or among the sequences */
    long long full_blocks;
    long long matched_blocks;
    long long allocated_chunks;
    long long prompt_tokens; /* of the requests that joined */
    long long output_tokens;
    long long iterations; /* decoding steps */
    int live_peak;
    long long paths_peak; /* the largest value of `paths` */
    struct trace_moment now;
    struct trace_moment peak; /* when most chunks were in use, the first time */
    struct trace_moment sum;  /* over all decoding steps */
    long long invariant_checks;
    long long iteration; /* when the replay ended: ms / ms_per_token */
    struct trace_event last_event;
    struct trace_violation violation;
};

/* Counts sequence s when it has come (sign 1) or is about to leave (sign -1). In the tree of opt/,
 * s is a handle. */
void trace_count_sequence(struct trace_figures *figures, const struct cp_tree *tree, int s,
                          int sign);
void trace_count_opt_sequence(struct trace_figures *figures, const struct cp_opt_tree *tree, int s,
                              int sign);

/* A decoding step has given n sequences a token, and taken `taken` chunks for them. */
void trace_count_step(struct trace_figures *figures, int n, int taken);

/* Counts the chunks taken, and the peaks. Called after each operation: `before` it chunks were in
 * use, and `used` are in use now, by n_sequences sequences. */
void trace_count_chunks(struct trace_figures *figures, int used, int n_sequences, int before);

/* The papers' sharing ratio r: the part of the tokens of all sequences that is shared; 0 when there
 * are none. */
double trace_sharing_ratio(const struct trace_moment *moment, int block_size);

/* How many times as many sequences fit: exactly, in chunks; 1 when there are none. */
double trace_exact_gain(const struct trace_moment *moment);

#endif

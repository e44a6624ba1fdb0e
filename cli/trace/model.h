/* SPDX-License-Identifier: Apache-2.0 */
/* A naive model of what the prefix tree must do with a trace. It knows blocks, not tokens: a trie
 * whose edges are block ids, a count of the live sequences through each node, and for each sequence
 * how many tokens it has. No ranges, no pool, no order of sequences; no code of the reference. */
#ifndef CHUNKPROOF_CLI_TRACE_MODEL_H
#define CHUNKPROOF_CLI_TRACE_MODEL_H

#include <stddef.h>

#include "cli/trace/map.h"

struct trace_model {
    int block_size;
    struct trace_map child; /* (node, block id) -> node; node 0 is the root; nodes stay for ever */
    int *references;        /* live sequences through a node */
    int n_nodes;
    size_t room;
    int *length;              /* tokens of request r while it is alive, else -1 */
    int *prompt;              /* how many of these are prompt tokens */
    int n_requests;           /* request numbers are below this */
    int live;                 /* sequences */
    int used_nodes;           /* nodes with one reference or more: one chunk each */
    int shared_nodes;         /* nodes with two references or more */
    long long shared_pairs;   /* (sequence, shared node) */
    long long private_chunks; /* partial prompt blocks and completions */
    long long path_chunks;    /* sum of the path lengths of all sequences */
};

/* Returns 0, or -1 when there is no memory. */
int trace_model_init(struct trace_model *model, int block_size, int n_requests);
void trace_model_free(struct trace_model *model);

/* How many of the first n_full blocks a live sequence has, in this order, from the start. */
int trace_model_match(const struct trace_model *model, const int *block, int n_full);

/* Request r joins with a prompt of input_length tokens, whose full blocks are block[]. Returns how
 * many of these blocks were there before, or -1: out of memory. */
int trace_model_join(struct trace_model *model, int r, const int *block, int input_length);

/* 1 when the next token of r takes a new chunk, else 0. */
int trace_model_needs_chunk(const struct trace_model *model, int r);

/* Request r gets one more token. */
void trace_model_append(struct trace_model *model, int r);

/* Request r leaves; block[] as when it joined. */
void trace_model_leave(struct trace_model *model, int r, const int *block);

/* Chunks in use. */
long long trace_model_used(const struct trace_model *model);

/* Chunks on the path of request r, which is alive. */
int trace_model_chunks(const struct trace_model *model, int r);

#endif

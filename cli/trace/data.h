/* SPDX-License-Identifier: Apache-2.0 */
/* A request trace in memory, and the tokens that stand for it.
 *
 * A trace names the content of each block of `block_size` prompt tokens by an id; equal ids are
 * equal content. Ids are renumbered 0, 1, 2, ... in order of appearance, and place k of a block
 * with number h is the token h * block_size + k. Output tokens are negative, each of them used
 * once. */
#ifndef CHUNKPROOF_CLI_TRACE_DATA_H
#define CHUNKPROOF_CLI_TRACE_DATA_H

#include <stddef.h>

struct trace_request {
    long long arrival; /* ms */
    int input_length;  /* prompt tokens */
    int output_length; /* completion tokens */
    int n_blocks;      /* ceil(input_length / block_size); a partial last block counts */
    size_t first_block;
    long long first_output; /* completion tokens of all requests before */
};

struct trace {
    int block_size;
    int n_requests;
    int n_ids;   /* distinct blocks so far: their numbers are 0 .. n_ids-1 */
    int max_ids; /* with more of them a token would not fit an int */
    long long max_outputs;
    long long n_outputs;
    size_t n_blocks;
    struct trace_request *request;
    int *block; /* request r has block[first_block .. first_block + n_blocks) */
    size_t request_room;
    size_t block_room;
};

#define TRACE_OK               0
#define TRACE_NO_MEMORY        1
#define TRACE_TOO_MANY_OUTPUTS 2 /* an output token would not fit an int */

/* 1 <= block_size <= CP_MAX_CHUNK_SIZE. */
void trace_init(struct trace *trace, int block_size);
void trace_free(struct trace *trace);

/* The longest prompt with its completion that a path of the tree can hold. */
int trace_max_length(const struct trace *trace);

/* A number for content that was not there before, or -1 when there are max_ids already. */
int trace_new_id(struct trace *trace);

/* Adds a request; block[] has ceil(input_length / block_size) numbers below n_ids. Arrivals do not
 * go back. The trace is unchanged when the result is not TRACE_OK. */
int trace_add(struct trace *trace, long long arrival, int input_length, int output_length,
              const int *block);

/* The blocks of request r, and how many of them are full. */
const int *trace_blocks(const struct trace *trace, int r);
int trace_full_blocks(const struct trace *trace, int r);

/* Token number k of request r: of its prompt for k < input_length, else of its completion. */
int trace_token(const struct trace *trace, int r, int k);

/* The first n of them, all at once. */
void trace_tokens(const struct trace *trace, int r, int n, int *token);

#endif

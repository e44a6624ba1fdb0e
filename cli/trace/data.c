/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/data.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"

void trace_init(struct trace *trace, int block_size) {
    memset(trace, 0, sizeof *trace);
    trace->block_size = block_size;
    /* The largest token: (max_ids - 1) * block_size + block_size - 1 <= INT_MAX. */
    long long ids = ((long long)INT_MAX + 1) / block_size;
    trace->max_ids = ids > INT_MAX ? INT_MAX : (int)ids;
    /* The smallest: -1 - (max_outputs - 1) = INT_MIN. */
    trace->max_outputs = (long long)INT_MAX + 1;
}

void trace_free(struct trace *trace) {
    free(trace->request);
    free(trace->block);
    trace->request = NULL;
    trace->block = NULL;
}

int trace_max_length(const struct trace *trace) {
    return CP_MAX_DEPTH * trace->block_size;
}

int trace_new_id(struct trace *trace) {
    return trace->n_ids < trace->max_ids ? trace->n_ids++ : -1;
}

/* Room for `needed` elements, doubling. Returns 0, or -1 and changes nothing. */
static int reserve(void **array, size_t *room, size_t needed, size_t element) {
    if (needed <= *room) {
        return 0;
    }
    size_t more = *room * 2 > needed ? *room * 2 : needed + 64;
    void *larger = realloc(*array, more * element);
    if (larger == NULL) {
        return -1;
    }
    *array = larger;
    *room = more;
    return 0;
}

int trace_add(struct trace *trace, long long arrival, int input_length, int output_length,
              const int *block) {
    int n_blocks = input_length / trace->block_size + (input_length % trace->block_size > 0);
    void *requests = trace->request;
    void *blocks = trace->block;
    if (output_length > trace->max_outputs - trace->n_outputs) {
        return TRACE_TOO_MANY_OUTPUTS;
    }
    if (trace->n_requests == INT_MAX ||
        reserve(&requests, &trace->request_room, (size_t)trace->n_requests + 1,
                sizeof *trace->request) != 0) {
        return TRACE_NO_MEMORY;
    }
    trace->request = requests;
    if (reserve(&blocks, &trace->block_room, trace->n_blocks + (size_t)n_blocks + 1,
                sizeof *trace->block) != 0) {
        return TRACE_NO_MEMORY;
    }
    trace->block = blocks;

    struct trace_request *request = &trace->request[trace->n_requests++];
    request->arrival = arrival;
    request->input_length = input_length;
    request->output_length = output_length;
    request->n_blocks = n_blocks;
    request->first_block = trace->n_blocks;
    request->first_output = trace->n_outputs;
    for (int k = 0; k < n_blocks; k++) {
        trace->block[trace->n_blocks++] = block[k];
    }
    trace->n_outputs += output_length;
    return TRACE_OK;
}

const int *trace_blocks(const struct trace *trace, int r) {
    return trace->block + trace->request[r].first_block;
}

int trace_full_blocks(const struct trace *trace, int r) {
    return trace->request[r].input_length / trace->block_size;
}

int trace_token(const struct trace *trace, int r, int k) {
    const struct trace_request *request = &trace->request[r];
    if (k < request->input_length) {
        int number = trace_blocks(trace, r)[k / trace->block_size];
        return number * trace->block_size + k % trace->block_size;
    }
    return (int)(-1 - (request->first_output + (k - request->input_length)));
}

void trace_tokens(const struct trace *trace, int r, int n, int *token) {
    const struct trace_request *request = &trace->request[r];
    const int *block = trace_blocks(trace, r);
    int size = trace->block_size, k = 0;
    while (k < n && k < request->input_length) {
        int first = block[k / size] * size;
        int end = n - k < size ? n - k : size;
        end = request->input_length - k < end ? request->input_length - k : end;
        for (int i = 0; i < end; i++) {
            token[k + i] = first + i;
        }
        k += end;
    }
    for (; k < n; k++) {
        token[k] = trace_token(trace, r, k);
    }
}

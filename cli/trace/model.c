/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/model.h"

#include <stdlib.h>
#include <string.h>

int trace_model_init(struct trace_model *model, int block_size, int n_requests) {
    memset(model, 0, sizeof *model);
    model->block_size = block_size;
    model->n_requests = n_requests;
    model->n_nodes = 1;
    model->room = 1024;
    model->references = calloc(model->room, sizeof *model->references);
    model->length = calloc((size_t)n_requests + 1, sizeof *model->length);
    model->prompt = calloc((size_t)n_requests + 1, sizeof *model->prompt);
    if (model->references == NULL || model->length == NULL || model->prompt == NULL) {
        trace_model_free(model);
        return -1;
    }
    for (int r = 0; r < n_requests; r++) {
        model->length[r] = -1;
    }
    return 0;
}

void trace_model_free(struct trace_model *model) {
    trace_map_free(&model->child);
    free(model->references);
    free(model->length);
    free(model->prompt);
    memset(model, 0, sizeof *model);
}

static int child_of(const struct trace_model *model, int node, int block) {
    return trace_map_get(&model->child, (unsigned long long)node, (unsigned long long)block, -1);
}

int trace_model_match(const struct trace_model *model, const int *block, int n_full) {
    int node = 0;
    int k = 0;
    while (k < n_full) {
        node = child_of(model, node, block[k]);
        if (node < 0 || model->references[node] == 0) {
            break;
        }
        k++;
    }
    return k;
}

/* A new node without references, or -1 when there is no memory. */
static int add_child(struct trace_model *model, int node, int block) {
    if ((size_t)model->n_nodes == model->room) {
        int *larger = realloc(model->references, model->room * 2 * sizeof *larger);
        if (larger == NULL) {
            return -1;
        }
        model->references = larger;
        model->room *= 2;
    }
    int child = model->n_nodes;
    if (trace_map_add(&model->child, (unsigned long long)node, (unsigned long long)block, child)) {
        return -1;
    }
    model->references[child] = 0;
    model->n_nodes++;
    return child;
}

/* Tokens after the full blocks of the prompt are in the sequence's own chunks. */
static int private_chunks(const struct trace_model *model, int r) {
    int n_full = model->prompt[r] / model->block_size;
    int behind = model->length[r] - n_full * model->block_size;
    return (behind + model->block_size - 1) / model->block_size;
}

int trace_model_chunks(const struct trace_model *model, int r) {
    return model->prompt[r] / model->block_size + private_chunks(model, r);
}

int trace_model_join(struct trace_model *model, int r, const int *block, int input_length) {
    int n_full = input_length / model->block_size;
    int matched = trace_model_match(model, block, n_full);
    int node = 0;
    for (int k = 0; k < n_full; k++) {
        int child = child_of(model, node, block[k]);
        if (child < 0) {
            child = add_child(model, node, block[k]);
        }
        if (child < 0) {
            return -1;
        }
        node = child;
        model->references[node]++;
        model->used_nodes += model->references[node] == 1;
        model->shared_nodes += model->references[node] == 2;
        model->shared_pairs += model->references[node] == 2 ? 2 : model->references[node] > 2;
    }
    model->live++;
    model->length[r] = input_length;
    model->prompt[r] = input_length;
    model->private_chunks += private_chunks(model, r);
    model->path_chunks += trace_model_chunks(model, r);
    return matched;
}

int trace_model_needs_chunk(const struct trace_model *model, int r) {
    /* Full blocks of the prompt are whole chunks, so only the remainder counts. */
    return model->length[r] % model->block_size == 0;
}

void trace_model_append(struct trace_model *model, int r) {
    int before = private_chunks(model, r);
    model->length[r]++;
    int more = private_chunks(model, r) - before;
    model->private_chunks += more;
    model->path_chunks += more;
}

void trace_model_leave(struct trace_model *model, int r, const int *block) {
    int node = 0;
    model->private_chunks -= private_chunks(model, r);
    model->path_chunks -= trace_model_chunks(model, r);
    for (int k = 0; k < model->prompt[r] / model->block_size; k++) {
        node = child_of(model, node, block[k]);
        model->shared_pairs -= model->references[node] == 2 ? 2 : model->references[node] > 2;
        model->shared_nodes -= model->references[node] == 2;
        model->used_nodes -= model->references[node] == 1;
        model->references[node]--;
    }
    model->live--;
    model->length[r] = -1;
}

long long trace_model_used(const struct trace_model *model) {
    return model->used_nodes + model->private_chunks;
}

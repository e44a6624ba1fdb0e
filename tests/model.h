/* SPDX-License-Identifier: Apache-2.0 */
/* A naive model of the prefix tree, for tests: every sequence is a flat list of tokens and a
 * list of names of its chunks. Two sequences share a chunk when both have its name. No ranges,
 * no pool, no cleverness; no code of the reference. */
#ifndef CHUNKPROOF_TESTS_MODEL_H
#define CHUNKPROOF_TESTS_MODEL_H

#include "chunkproof/plan.h"
#include "chunkproof/tree.h"

#define MODEL_MAX_SEQUENCES 32
#define MODEL_MAX_TOKENS    64

struct model_sequence {
    long long id;
    unsigned long long salt;
    int n_tokens;
    int token[MODEL_MAX_TOKENS];
    int name[MODEL_MAX_TOKENS]; /* name[k] of the k-th chunk */
};

struct model {
    int capacity;
    int chunk_size;
    int max_sequences;
    int next_name;
    int n_sequences;
    struct model_sequence sequence[MODEL_MAX_SEQUENCES];
};

void model_init(struct model *model, int capacity, int chunk_size, int max_sequences);

/* Each returns the status that the tree must return, and changes the model only on CP_OK. */
int model_join(struct model *model, const int *token, int n_tokens, unsigned long long salt,
               long long id, struct cp_joined *joined);
int model_append_each(struct model *model, int n, const int *sequence, const int *token);
int model_leave(struct model *model, int sequence);
int model_fork(struct model *model, int sequence, long long id, int *at);

int model_chunks(const struct model *model, int sequence); /* of one sequence */
int model_used_chunks(const struct model *model);          /* distinct ones */
int model_match(const struct model *model, const int *token, int n_tokens, unsigned long long salt,
                int *sequence); /* leading full chunks */

/* NULL when the tree equals the model, else what differs. */
const char *model_compare(const struct model *model, const struct cp_tree *tree);

/* NULL when the plan covers every (sequence, chunk) pair of the tree exactly once: by a descriptor
 * when the chunk is shared, by the sequence's private part when it is not. Else what is wrong. */
const char *model_compare_plan(const struct cp_tree *tree, const struct cp_plan *plan);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <stddef.h>
#include <string.h>

#include "chunkproof/status.h"

void model_init(struct model *model, int capacity, int chunk_size, int max_sequences) {
    memset(model, 0, sizeof *model);
    model->capacity = capacity;
    model->chunk_size = chunk_size;
    model->max_sequences = max_sequences;
}

int model_chunks(const struct model *model, int sequence) {
    return (model->sequence[sequence].n_tokens + model->chunk_size - 1) / model->chunk_size;
}

int model_used_chunks(const struct model *model) {
    int used = 0;
    for (int s = 0; s < model->n_sequences; s++) {
        for (int k = 0; k < model_chunks(model, s); k++) {
            int first = 1; /* is s the first sequence with this name? */
            for (int r = 0; r < s; r++) {
                if (k < model_chunks(model, r) &&
                    model->sequence[r].name[k] == model->sequence[s].name[k]) {
                    first = 0;
                }
            }
            used += first;
        }
    }
    return used;
}

int model_match(const struct model *model, const int *token, int n_tokens, unsigned long long salt,
                int *sequence) {
    int best = 0;
    *sequence = -1;
    for (int s = 0; s < model->n_sequences; s++) {
        const struct model_sequence *other = &model->sequence[s];
        int same = 0; /* equal leading tokens */
        while (same < n_tokens && same < other->n_tokens && other->token[same] == token[same]) {
            same++;
        }
        if (other->salt == salt && same / model->chunk_size > best) {
            best = same / model->chunk_size;
            *sequence = s;
        }
    }
    return best;
}

static void insert(struct model *model, int at, const struct model_sequence *added) {
    for (int s = model->n_sequences; s > at; s--) {
        model->sequence[s] = model->sequence[s - 1];
    }
    model->sequence[at] = *added;
    model->n_sequences++;
}

int model_join(struct model *model, const int *token, int n_tokens, unsigned long long salt,
               long long id, struct cp_joined *joined) {
    struct model_sequence added = {.id = id, .salt = salt, .n_tokens = n_tokens};
    int from;
    int n_chunks = (n_tokens + model->chunk_size - 1) / model->chunk_size;
    int n_shared = model_match(model, token, n_tokens, salt, &from);
    if (model->n_sequences == model->max_sequences) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    if (model_used_chunks(model) + n_chunks - n_shared > model->capacity) {
        return CP_ERROR_POOL_FULL;
    }
    int at = model->n_sequences;
    if (n_shared > 0) { /* behind the last sequence that has the deepest shared chunk */
        for (int s = 0; s < model->n_sequences; s++) {
            if (model_chunks(model, s) >= n_shared &&
                model->sequence[s].name[n_shared - 1] == model->sequence[from].name[n_shared - 1]) {
                at = s + 1;
            }
        }
    }
    for (int i = 0; i < n_tokens; i++) {
        added.token[i] = token[i];
    }
    for (int k = 0; k < n_chunks; k++) {
        added.name[k] = k < n_shared ? model->sequence[from].name[k] : model->next_name++;
    }
    insert(model, at, &added);
    joined->sequence = at;
    joined->n_shared = n_shared * model->chunk_size;
    return CP_OK;
}

int model_append_each(struct model *model, int n, const int *sequence, const int *token) {
    int needed = 0;
    for (int i = 0; i < n; i++) {
        if (sequence[i] < 0 || sequence[i] >= model->n_sequences ||
            (i > 0 && sequence[i] <= sequence[i - 1])) {
            return CP_ERROR_ARGUMENT;
        }
        needed += model->sequence[sequence[i]].n_tokens % model->chunk_size == 0;
    }
    if (model_used_chunks(model) + needed > model->capacity) {
        return CP_ERROR_POOL_FULL;
    }
    for (int i = 0; i < n; i++) {
        struct model_sequence *s = &model->sequence[sequence[i]];
        if (s->n_tokens % model->chunk_size == 0) {
            s->name[s->n_tokens / model->chunk_size] = model->next_name++;
        }
        s->token[s->n_tokens++] = token[i];
    }
    return CP_OK;
}

int model_leave(struct model *model, int sequence) {
    if (sequence < 0 || sequence >= model->n_sequences) {
        return CP_ERROR_ARGUMENT;
    }
    model->n_sequences--;
    for (int s = sequence; s < model->n_sequences; s++) {
        model->sequence[s] = model->sequence[s + 1];
    }
    return CP_OK;
}

int model_fork(struct model *model, int sequence, long long id, int *at) {
    if (sequence < 0 || sequence >= model->n_sequences) {
        return CP_ERROR_ARGUMENT;
    }
    struct model_sequence added = model->sequence[sequence];
    int partial = added.n_tokens % model->chunk_size != 0;
    if (model->n_sequences == model->max_sequences) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    if (model_used_chunks(model) + partial > model->capacity) {
        return CP_ERROR_POOL_FULL;
    }
    added.id = id;
    if (partial) {
        added.name[added.n_tokens / model->chunk_size] = model->next_name++;
    }
    *at = sequence + 1;
    insert(model, sequence + 1, &added);
    return CP_OK;
}

/* Sequences s and r have the same chunks in common in the tree and in the model. */
static int same_sharing(const struct model *model, const struct cp_tree *tree, int s, int r) {
    for (int k = 0; k < model_chunks(model, s) && k < model_chunks(model, r); k++) {
        int in_tree = tree->sequence[s].chunk[k] == tree->sequence[r].chunk[k];
        int in_model = model->sequence[s].name[k] == model->sequence[r].name[k];
        if (in_tree != in_model) {
            return 0;
        }
    }
    return 1;
}

const char *model_compare(const struct model *model, const struct cp_tree *tree) {
    if (tree->n_sequences != model->n_sequences) {
        return "number of sequences";
    }
    for (int s = 0; s < model->n_sequences; s++) {
        const struct model_sequence *expected = &model->sequence[s];
        if (tree->sequence[s].id != expected->id || tree->sequence[s].salt != expected->salt) {
            return "order of sequences";
        }
        if (tree->sequence[s].n_chunks != model_chunks(model, s) ||
            cp_tree_length(tree, s) != expected->n_tokens) {
            return "length of a sequence";
        }
        for (int k = 0; k < expected->n_tokens; k++) {
            if (cp_tree_token(tree, s, k) != expected->token[k]) {
                return "token of a sequence";
            }
        }
        for (int r = 0; r < s; r++) {
            if (!same_sharing(model, tree, s, r)) {
                return "sharing";
            }
        }
    }
    if (tree->pool.n_free != model->capacity - model_used_chunks(model)) {
        return "free chunks";
    }
    return NULL;
}

const char *model_compare_plan(const struct cp_tree *tree, const struct cp_plan *plan) {
    int pairs_left = 0;
    if (plan->n_sequences != tree->n_sequences || plan->chunk_size != tree->chunk_size) {
        return "dimensions";
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        if (plan->n_served != plan->n_sequences || plan->served[s] != s) {
            return "list of sequences";
        }
    }
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *d = &plan->shared[i];
        if (d->begin != tree->begin[d->chunk] || d->end != tree->end[d->chunk] ||
            d->n_tokens != tree->fill[d->chunk] ||
            d->position != tree->depth[d->chunk] * tree->chunk_size) {
            return "descriptor";
        }
        pairs_left -= d->end - d->begin;
    }
    for (int s = 0; s < tree->n_sequences; s++) {
        const struct cp_sequence *path = &tree->sequence[s];
        const struct cp_plan_sequence *planned = &plan->sequence[s];
        if (planned->n_chunks != path->n_chunks || planned->n_tokens != cp_tree_length(tree, s)) {
            return "length of a path";
        }
        for (int k = 0; k < path->n_chunks; k++) {
            int x = path->chunk[k];
            int covered = k >= planned->n_shared; /* by the sequence's own part */
            for (int i = 0; i < plan->n_shared; i++) {
                const struct cp_shared_chunk *d = &plan->shared[i];
                covered += d->chunk == x && d->begin <= s && s < d->end;
            }
            if (covered != 1 || planned->run[k].chunk != x) {
                return "coverage of a pair";
            }
            if (planned->run[k].n_tokens != tree->fill[x] ||
                planned->run[k].position != tree->depth[x] * tree->chunk_size) {
                return "the keys of a chunk of a path";
            }
            if ((tree->end[x] - tree->begin[x] >= 2) != (k < planned->n_shared)) {
                return "shared or private";
            }
            pairs_left += k < planned->n_shared;
        }
    }
    return pairs_left == 0 ? NULL : "a descriptor covers a sequence that has not its chunk";
}

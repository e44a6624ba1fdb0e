/* SPDX-License-Identifier: Apache-2.0 */
/* cp_plan_check() on any content: it reads nothing out of bounds, and it says yes exactly when
 * spec/ plan.md calls the plan valid. */
#include "any_plan.h"
#include "model.h"

#include <stddef.h>

static int sizes_ok(const struct cp_plan *plan) {
    return 1 <= plan->capacity && plan->capacity <= CP_MAX_CHUNKS && 1 <= plan->chunk_size &&
           plan->chunk_size <= CP_MAX_CHUNK_SIZE && 0 <= plan->n_sequences &&
           plan->n_sequences <= CP_MAX_SEQUENCES && 0 <= plan->n_shared &&
           plan->n_shared <= plan->capacity;
}

/* PLAN-1: the list of those whom descriptors serve. */
static int list_ok(const struct cp_plan *plan) {
    int ok = plan->n_served == plan->n_sequences;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        ok = ok && (s >= plan->n_sequences || plan->served[s] == s);
    }
    return ok;
}

/* PLAN-2 and PLAN-7. */
static int sequence_ok(const struct cp_plan *plan, const struct cp_plan_sequence *path) {
    int c = plan->chunk_size;
    if (path->n_chunks < 0 || path->n_chunks > CP_MAX_DEPTH || path->n_shared < 0 ||
        path->n_shared > path->n_chunks) {
        return 0;
    }
    int ok = path->n_chunks == 0 ? path->n_tokens == 0
                                 : (path->n_chunks - 1) * c < path->n_tokens &&
                                       path->n_tokens <= path->n_chunks * c;
    ok = ok && path->n_shared * c <= path->n_tokens; /* no shared chunk is the partial one */
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        if (ok && k < path->n_chunks) {
            int left = path->n_tokens - k * c;
            ok = 0 <= path->run[k].chunk && path->run[k].chunk < plan->capacity &&
                 path->run[k].n_tokens == (left < c ? left : c) && path->run[k].position == k * c;
        }
    }
    return ok;
}

/* PLAN-1, as far as it does not speak of a tree. */
static int descriptor_ok(const struct cp_plan *plan, const struct cp_shared_chunk *shared) {
    return 0 <= shared->chunk && shared->chunk < plan->capacity && 0 <= shared->begin &&
           shared->begin < shared->end && shared->end - shared->begin >= 2 &&
           shared->end <= plan->n_sequences && shared->n_tokens == plan->chunk_size &&
           0 <= shared->position && shared->position % plan->chunk_size == 0;
}

/* PLAN-3: how many descriptors say that sequence s has chunk x at depth k; x < 0 for any chunk. */
static int covered(const struct cp_plan *plan, int s, int k, int x) {
    int times = 0;
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        times += i < plan->n_shared && shared->begin <= s && s < shared->end &&
                 shared->position == k * plan->chunk_size && (x < 0 || shared->chunk == x);
    }
    return times;
}

static int pairs_ok(const struct cp_plan *plan) {
    int ok = 1;
    int pairs = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        if (s < plan->n_sequences) {
            for (int k = 0; k < CP_MAX_DEPTH; k++) {
                int shared = k < plan->sequence[s].n_shared;
                ok = ok && covered(plan, s, k, -1) == shared &&
                     (!shared || covered(plan, s, k, plan->sequence[s].run[k].chunk) == 1);
            }
            pairs += plan->sequence[s].n_shared;
        }
    }
    for (int i = 0; i < CP_MAX_CHUNKS; i++) { /* none beyond the deepest path */
        pairs -= i < plan->n_shared ? plan->shared[i].end - plan->shared[i].begin : 0;
    }
    return ok && pairs == 0;
}

/* PLAN-4. */
static int order_ok(const struct cp_plan *plan) {
    int ok = 1;
    for (int i = 1; i < CP_MAX_CHUNKS; i++) {
        const struct cp_shared_chunk *a = &plan->shared[i - 1];
        const struct cp_shared_chunk *b = &plan->shared[i];
        ok = ok && (i >= plan->n_shared || a->begin < b->begin ||
                    (a->begin == b->begin && a->position < b->position));
    }
    return ok;
}

static int plan_ok(const struct cp_plan *plan) {
    if (!sizes_ok(plan) || !list_ok(plan)) {
        return 0;
    }
    int ok = 1;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        ok = ok && (s >= plan->n_sequences || sequence_ok(plan, &plan->sequence[s]));
    }
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        ok = ok && (i >= plan->n_shared || descriptor_ok(plan, &plan->shared[i]));
    }
    return ok && pairs_ok(plan) && order_ok(plan);
}

/* Is the number of the clause that was found to be broken this one? */
static int says(const char *broken, char number) {
    return broken != NULL && broken[0] == 'P' && broken[1] == 'L' && broken[5] == number;
}

int main(void) {
    struct cp_plan plan;
    any_plan(&plan);
    const char *broken = cp_plan_check(&plan);
    CHECK("valid exactly when the clauses hold", (broken == NULL) == plan_ok(&plan));
    CHECK("is_valid says the same", cp_plan_is_valid(&plan) == (broken == NULL));
    REACH("valid with two descriptors", broken == NULL && plan.n_shared == 2);
    REACH("valid with three sequences on one chunk",
          broken == NULL && plan.n_shared == 1 && plan.shared[0].end == 3);
    REACH("valid without sequences", broken == NULL && plan.n_sequences == 0);
    REACH("PLAN-1", says(broken, '1'));
    REACH("PLAN-2", says(broken, '2'));
    REACH("PLAN-3", says(broken, '3'));
    REACH("PLAN-4", says(broken, '4'));
    REACH("PLAN-7", says(broken, '7'));
    return 0;
}

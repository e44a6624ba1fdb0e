/* SPDX-License-Identifier: Apache-2.0 */
/* cp_plan_check_runs() on any content: it reads nothing out of bounds, and it says yes exactly when
 * the clauses RUNS-1 to RUNS-3 hold, which are said here in another way. With so few sequences all
 * ranges of a valid plan nest, so that it passes, too (RUNS-6). */
#include "any_plan.h"
#include "model.h"

#include <limits.h>
#include <stddef.h>

static int sizes_ok(const struct cp_plan *plan) {
    return 1 <= plan->capacity && plan->capacity <= CP_MAX_CHUNKS && 1 <= plan->chunk_size &&
           plan->chunk_size <= CP_MAX_CHUNK_SIZE && 0 <= plan->n_sequences &&
           plan->n_sequences <= CP_MAX_SEQUENCES && 0 <= plan->n_shared &&
           plan->n_shared <= CP_MAX_CHUNKS && 0 <= plan->n_served &&
           plan->n_served <= CP_MAX_SERVED;
}

/* Does the run have the token at this position? */
static int has_token(struct cp_run run, int position) {
    return run.position <= position && position - run.position < run.n_tokens;
}

/* RUNS-1: each token of a sequence is that of one run. */
static int list_ok(const struct cp_plan *plan, const struct cp_plan_sequence *list, int token) {
    int ok = 0 <= list->n_chunks && list->n_chunks <= CP_MAX_DEPTH;
    int tokens = 0, times = 0;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        struct cp_run run = list->run[k];
        if (ok && k < list->n_chunks) {
            ok = 0 <= run.chunk && run.chunk < plan->capacity && 1 <= run.n_tokens &&
                 run.n_tokens <= plan->chunk_size && 0 <= run.position &&
                 run.position <= INT_MAX - run.n_tokens;
            tokens += ok ? run.n_tokens : 0;
            times += ok && has_token(run, token);
        }
    }
    return ok && times <= 1 && list->n_tokens == tokens;
}

/* RUNS-2, by pairs. */
static int served_ok(const struct cp_plan *plan, const struct cp_shared_chunk *shared) {
    int ok = 0 <= shared->begin && shared->begin < shared->end &&
             shared->end - shared->begin >= 2 && shared->end <= plan->n_served;
    for (int x = 0; x < CP_MAX_SERVED; x++) {
        if (ok && shared->begin <= x && x < shared->end) {
            ok = 0 <= plan->served[x] && plan->served[x] < plan->n_sequences;
            for (int y = 0; y < CP_MAX_SERVED; y++) {
                ok = ok && (y < shared->begin || y >= x || plan->served[y] != plan->served[x]);
            }
        }
    }
    return ok;
}

static int serves(const struct cp_plan *plan, int i, int s) {
    int found = 0;
    for (int x = 0; x < CP_MAX_SERVED; x++) {
        found |= plan->shared[i].begin <= x && x < plan->shared[i].end && plan->served[x] == s;
    }
    return found;
}

/* RUNS-3: what the descriptors give to sequence s is the beginning of its runs. */
static int given_ok(const struct cp_plan *plan, int s) {
    int ok = 1, n = 0;
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        if (i < plan->n_shared && serves(plan, i, s)) {
            const struct cp_shared_chunk *shared = &plan->shared[i];
            struct cp_run run = {0, 0, 0};
            for (int k = 0; k < CP_MAX_DEPTH; k++) {
                run = k == n ? plan->sequence[s].run[k] : run;
            }
            ok = ok && n < plan->sequence[s].n_chunks && run.chunk == shared->chunk &&
                 run.n_tokens == shared->n_tokens && run.position == shared->position;
            n++;
        }
    }
    return ok && n == plan->sequence[s].n_shared;
}

/* The clauses, of RUNS-1 for one position. */
static int runs_ok(const struct cp_plan *plan, int token) {
    int ok = sizes_ok(plan);
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        ok = ok && (s >= plan->n_sequences || list_ok(plan, &plan->sequence[s], token));
    }
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        ok = ok && (i >= plan->n_shared || served_ok(plan, &plan->shared[i]));
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        ok = ok && (s >= plan->n_sequences || given_ok(plan, s));
    }
    return ok;
}

/* The same for all positions: a run begins where two overlap. */
static int runs_ok_everywhere(const struct cp_plan *plan) {
    int ok = runs_ok(plan, 0);
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            int in_use = ok && s < plan->n_sequences && k < plan->sequence[s].n_chunks;
            ok = ok &&
                 (!in_use || list_ok(plan, &plan->sequence[s], plan->sequence[s].run[k].position));
        }
    }
    return ok;
}

static int says(const char *broken, char number) {
    return broken != NULL && broken[0] == 'R' && broken[1] == 'U' && broken[5] == number;
}

static int has_a_gap(const struct cp_plan *plan) {
    return plan->sequence[0].n_chunks == 2 &&
           plan->sequence[0].run[0].position + plan->sequence[0].run[0].n_tokens <
               plan->sequence[0].run[1].position;
}

int main(void) {
    struct cp_plan plan;
    any_plan(&plan);
    const char *broken = cp_plan_check_runs(&plan);
    CHECK("valid exactly when the clauses hold", (broken == NULL) == runs_ok_everywhere(&plan));
    CHECK("RUNS-1: no position is that of two tokens", broken != NULL || runs_ok(&plan, any(4)));
    CHECK("RUNS-6: a valid plan of so few sequences is one of runs",
          !cp_plan_is_valid(&plan) || broken == NULL);
    REACH("valid with two descriptors", broken == NULL && plan.n_shared == 2);
    REACH("valid, with a list that is no range", broken == NULL && plan.n_shared == 1 &&
                                                     plan.served[plan.shared[0].begin] == 2 &&
                                                     plan.served[plan.shared[0].begin + 1] == 0);
    REACH("valid, with a gap", broken == NULL && has_a_gap(&plan));
    REACH("valid, with runs that fall",
          broken == NULL && plan.sequence[0].n_chunks == 2 &&
              plan.sequence[0].run[1].position < plan.sequence[0].run[0].position);
    REACH("valid, of a tree", cp_plan_is_valid(&plan) && plan.n_shared == 2);
    REACH("RUNS-1", says(broken, '1'));
    REACH("RUNS-2", says(broken, '2'));
    REACH("RUNS-3", says(broken, '3'));
    return 0;
}

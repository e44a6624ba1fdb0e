/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runs.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/softmax.h"

/* ---- The check: RunsCheck.v in proofs/coq proves that this walk decides validity ---- */

static int is_apart(struct cp_run one, struct cp_run other) {
    return one.position + one.n_tokens <= other.position ||
           other.position + other.n_tokens <= one.position;
}

/* RUNS-1 */
static int sequence_is_valid(const struct run_plan *plan, const struct run_sequence *sequence) {
    for (int i = 0; i < sequence->n_runs; i++) {
        struct cp_run run = sequence->run[i];
        if (run.chunk < 0 || run.chunk >= plan->capacity || run.n_tokens < 1 ||
            run.n_tokens > plan->chunk_size || run.position < 0) {
            return 0;
        }
        for (int j = 0; j < i; j++) {
            if (!is_apart(run, sequence->run[j])) {
                return 0;
            }
        }
    }
    return 1;
}

/* RUNS-2 */
static int descriptor_is_valid(const struct run_plan *plan, const struct cp_shared_chunk *shared) {
    int is_served[RUNS_SEQUENCES] = {0};
    if (shared->begin < 0 || shared->end > plan->n_served || shared->end < shared->begin + 2) {
        return 0;
    }
    for (int at = shared->begin; at < shared->end; at++) {
        int s = plan->served[at];
        if (s < 0 || s >= plan->n_sequences || is_served[s]) {
            return 0;
        }
        is_served[s] = 1;
    }
    return 1;
}

/* RUNS-3: a descriptor gives each of its sequences the run that comes next there. */
static int runs_come_next(const struct run_plan *plan, const struct cp_shared_chunk *shared,
                          int *place) {
    for (int at = shared->begin; at < shared->end; at++) {
        int s = plan->served[at];
        const struct cp_run *run = &plan->sequence[s].run[place[s]];
        if (place[s] >= plan->sequence[s].n_shared || run->chunk != shared->chunk ||
            run->n_tokens != shared->n_tokens || run->position != shared->position) {
            return 0;
        }
        place[s]++;
    }
    return 1;
}

const char *runs_check(const struct run_plan *plan) {
    int place[RUNS_SEQUENCES] = {0};
    for (int s = 0; s < plan->n_sequences; s++) {
        if (!sequence_is_valid(plan, &plan->sequence[s])) {
            return "RUNS-1";
        }
    }
    for (int i = 0; i < plan->n_shared; i++) {
        if (!descriptor_is_valid(plan, &plan->shared[i])) {
            return "RUNS-2";
        }
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        if (plan->sequence[s].n_shared < 0 ||
            plan->sequence[s].n_shared > plan->sequence[s].n_runs) {
            return "RUNS-3";
        }
    }
    for (int i = 0; i < plan->n_shared; i++) {
        if (!runs_come_next(plan, &plan->shared[i], place)) {
            return "RUNS-3";
        }
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        if (place[s] != plan->sequence[s].n_shared) {
            return "RUNS-3";
        }
    }
    return NULL;
}

/* ---- Attention ---- */

/* A partial result is a state, and d numbers behind it in an array of their own. */
struct parts {
    struct cp_state *state;
    double *o;
};

struct call {
    const struct run_plan *plan;
    const struct cp_attention *a;
    const int *position;
    struct parts
        kept; /* CP_BUFFERED: of each descriptor, row and head; else of each row and head */
    struct cp_state part;
    double *part_o, *q;
};

static int first_row(const struct cp_attention *a, int s) {
    return a->query_begin == NULL ? s : a->query_begin[s];
}

static int rows_of(const struct cp_attention *a, int s) {
    return first_row(a, s + 1) - first_row(a, s);
}

static void *room(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* RUNS-4 */
static int keys_seen(struct cp_run run, int position) {
    long long n = (long long)position + 1 - run.position;
    n = n > 0 ? n : 0;
    return n < run.n_tokens ? (int)n : run.n_tokens;
}

static struct cp_run run_of(const struct cp_shared_chunk *shared) {
    struct cp_run run = {shared->chunk, shared->n_tokens, shared->position};
    return run;
}

/* The state of the keys of a run that a row sees, as the call's part. */
static void attend_run(struct call *call, struct cp_run run, int row, int head) {
    const struct cp_attention *a = call->a;
    size_t at = ((size_t)row * (size_t)a->n_heads + (size_t)head) * (size_t)a->head_dim;
    for (int j = 0; j < a->head_dim; j++) {
        call->q[j] = cp_number_load(a->q, a->q_type, at + (size_t)j);
    }
    int kv_head = head / (a->n_heads / a->n_kv_heads);
    size_t slice = (size_t)run.chunk * (size_t)a->n_kv_heads + (size_t)kv_head;
    cp_partial_attn(&call->part, call->part_o, call->q, a->k, a->v, a->kv_type,
                    slice * (size_t)call->plan->chunk_size, keys_seen(run, call->position[row]),
                    a->head_dim, a->scale);
}

/* Merges the call's part into partial result `at`. */
static void merge_part(struct call *call, struct parts into, size_t at) {
    size_t d = (size_t)call->a->head_dim;
    cp_attn_reduce(&into.state[at], &into.o[at * d], &call->part, call->part_o, call->a->head_dim);
}

/* How many rows come before the first one of s in the buffer of descriptor i. */
static size_t offset_of(const struct call *call, int i, int s) {
    size_t rows = 0;
    for (int at = call->plan->shared[i].begin; call->plan->served[at] != s; at++) {
        rows += (size_t)rows_of(call->a, call->plan->served[at]);
    }
    return rows;
}

static size_t rows_of_descriptor(const struct call *call, int i) {
    size_t rows = 0;
    for (int at = call->plan->shared[i].begin; at < call->plan->shared[i].end; at++) {
        rows += (size_t)rows_of(call->a, call->plan->served[at]);
    }
    return rows;
}

/* Where the state of descriptor i for row t of s and a head is kept; `before`: rows of the
 * descriptors before. */
static size_t place_of(const struct call *call, size_t before, int i, int s, int t, int head) {
    size_t h = (size_t)call->a->n_heads;
    size_t row = call->a->variant == CP_MERGE_AT_ONCE ? (size_t)(first_row(call->a, s) + t)
                                                      : before + offset_of(call, i, s) + (size_t)t;
    return row * h + (size_t)head;
}

static void chunk_first(struct call *call) {
    size_t before = 0;
    for (int i = 0; i < call->plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &call->plan->shared[i];
        for (int at = shared->begin; at < shared->end; at++) {
            int s = call->plan->served[at];
            for (int t = 0; t < rows_of(call->a, s); t++) {
                for (int head = 0; head < call->a->n_heads; head++) {
                    attend_run(call, run_of(shared), first_row(call->a, s) + t, head);
                    merge_part(call, call->kept, place_of(call, before, i, s, t, head));
                }
            }
        }
        before += rows_of_descriptor(call, i);
    }
}

static int serves(const struct run_plan *plan, int i, int s) {
    for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) {
        if (plan->served[at] == s) {
            return 1;
        }
    }
    return 0;
}

static void take_kept(struct call *call, size_t place) {
    size_t d = (size_t)call->a->head_dim;
    call->part = call->kept.state[place];
    memcpy(call->part_o, &call->kept.o[place * d], d * sizeof(double));
}

/* One row and head. */
static void sequence_first(struct call *call, int s, int t, int head) {
    const struct cp_attention *a = call->a;
    const struct run_sequence *sequence = &call->plan->sequence[s];
    size_t before = 0, d = (size_t)a->head_dim;
    int row = first_row(a, s) + t;
    struct cp_state state;
    struct parts result = {&state, room(d, sizeof(double))};
    cp_state_empty(&state, result.o, a->head_dim);
    if (a->variant == CP_MERGE_AT_ONCE) {
        take_kept(call, place_of(call, 0, 0, s, t, head));
        merge_part(call, result, 0);
    }
    for (int i = 0; i < call->plan->n_shared && a->variant != CP_MERGE_AT_ONCE; i++) {
        if (serves(call->plan, i, s)) {
            take_kept(call, place_of(call, before, i, s, t, head));
            merge_part(call, result, 0);
        }
        before += rows_of_descriptor(call, i);
    }
    for (int k = sequence->n_shared; k < sequence->n_runs; k++) {
        attend_run(call, sequence->run[k], row, head);
        merge_part(call, result, 0);
    }
    size_t at = (size_t)row * (size_t)a->n_heads + (size_t)head;
    double lse = cp_finish(&state, result.o, (double *)a->out + at * d, a->head_dim);
    if (a->lse != NULL) {
        a->lse[at] = lse;
    }
    free(result.o);
}

void runs_attend(const struct run_plan *plan, const struct cp_attention *a, const int *position) {
    struct call call = {.plan = plan, .a = a, .position = position};
    size_t rows = (size_t)first_row(a, plan->n_sequences), d = (size_t)a->head_dim;
    for (int i = 0; i < plan->n_shared; i++) {
        rows += rows_of_descriptor(&call, i);
    }
    size_t n = rows * (size_t)a->n_heads;
    struct cp_state *state = room(n, sizeof(struct cp_state));
    double *o = room(n * d, sizeof(double)), *part_o = room(d, sizeof(double));
    double *q = room(d, sizeof(double));
    call.kept.state = state;
    call.kept.o = o;
    call.part_o = part_o;
    call.q = q;
    for (size_t at = 0; at < n; at++) {
        cp_state_empty(&state[at], &o[at * d], a->head_dim);
    }
    chunk_first(&call);
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int t = 0; t < rows_of(a, s); t++) {
            for (int head = 0; head < a->n_heads; head++) {
                sequence_first(&call, s, t, head);
            }
        }
    }
    free(q);
    free(part_o);
    free(o);
    free(state);
}

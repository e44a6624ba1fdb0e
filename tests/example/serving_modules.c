/* SPDX-License-Identifier: Apache-2.0 */
/* How a server keeps modules: two of them in a pool, three prompts that have one or both,
 * attention, and a decoding iteration (spec/batch.md).
 *
 *   cc serving_modules.c $(pkg-config --cflags --libs chunkproof) -lm
 *
 * Keys and values are made up: one head of one number, where the token at position p has key p / 10
 * and value p. A real server computes those of a module once, with the module alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <chunkproof/chunkproof.h>

#define C 4 /* tokens per chunk */

static void stop_unless_ok(int status) {
    if (status != CP_OK) {
        fprintf(stderr, "%s\n", cp_status_text(status));
        exit(1);
    }
}

static void write_token(const struct cp_kv *kv, int chunk, int slot, int position) {
    double key = position / 10.0;
    double value = position;
    cp_kv_write(kv, chunk, 0, slot, &key, &value);
}

/* K and V of new runs: token i of a run is in slot i of its chunk. */
static void write_runs(const struct cp_kv *kv, const struct cp_run *run, int n_runs) {
    for (int k = 0; k < n_runs; k++) {
        for (int i = 0; i < run[k].n_tokens; i++) {
            write_token(kv, run[k].chunk, i, run[k].position + i);
        }
    }
}

/* Computes attention of one query per prompt, and the same from the definition: each query stands
 * at the last token of its prompt, and sees all of them. */
static void attend(const struct cp_batch *batch, const struct cp_plan *plan, const struct cp_kv *kv,
                   const int *position) {
    float q[3] = {1.0F, 2.0F, 3.0F};
    float out[3];
    struct cp_attention attention = {
        .plan = plan,
        .stamp = batch->stamp, /* attention refuses a plan that is older than the batch */
        .n_heads = 1,
        .n_kv_heads = 1,
        .head_dim = 1,
        .value_dim = 1,
        .v_row = 1,
        .scale = 1.0,
        .position = position,
        .q_type = CP_FP32,
        .k_type = CP_FP32,
        .v_type = CP_FP32,
        .out_type = CP_FP32,
        .q = q,
        .k = kv->k,
        .v = kv->v,
        .out = out,
        .variant = CP_BUFFERED,
    };
    attention.workspace_size = cp_attend_workspace(&attention);
    attention.workspace = malloc(attention.workspace_size);
    if (attention.workspace == NULL) {
        stop_unless_ok(CP_ERROR_NO_MEMORY);
    }
    stop_unless_ok(cp_attend(&attention));
    free(attention.workspace);

    for (int s = 0; s < plan->n_sequences; s++) {
        double n = 0.0;
        double o = 0.0;
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            struct cp_run run = plan->sequence[s].run[k];
            for (int p = run.position; p < run.position + run.n_tokens; p++) {
                double weight = exp(q[s] * p / 10.0);
                n += weight;
                o += weight * p;
            }
        }
        printf("P%d: %d tokens, attention %.4f, by the definition %.4f\n", s,
               plan->sequence[s].n_tokens, out[s], o / n);
    }
}

int main(void) {
    static const struct cp_span guide = {0, 6}; /* modules: where their tokens stand */
    static const struct cp_span city = {6, 4};
    static const struct cp_span question[3] = {{10, 2}, {10, 3}, {10, 1}};
    int position[3] = {11, 12, 10}; /* of the last token of each prompt */
    struct cp_batch *batch;
    struct cp_plan *plan;
    struct cp_kv kv;
    unsigned long long item[2];
    int prompt;
    stop_unless_ok(cp_batch_new(&batch, 16, C));
    stop_unless_ok(cp_plan_new(&plan));
    stop_unless_ok(cp_kv_new(&kv, 16, 1, C, 1, CP_FP32, CP_ON_DEMAND));

    stop_unless_ok(cp_batch_put(batch, &guide, 1, &item[0]));
    stop_unless_ok(cp_batch_put(batch, &city, 1, &item[1]));
    for (int i = 0; i < 2; i++) {
        int number = cp_batch_find(batch, item[i]);
        write_runs(&kv, batch->runs[number].run, batch->item[number].n_runs);
    }

    static const int first[3] = {0, 0, 1}; /* P0 has both, P1 the guide, P2 the city */
    static const int n_items[3] = {2, 1, 1};
    for (int i = 0; i < 3; i++) {
        stop_unless_ok(
            cp_batch_join(batch, i, &item[first[i]], n_items[i], &question[i], 1, &prompt));
        write_runs(&kv, batch->prompt[prompt].own, batch->prompt[prompt].n_own);
    }
    (void)cp_batch_plan(batch, plan);
    printf("%d chunks are read once for two prompts\n", plan->n_shared);
    attend(batch, plan, &kv, position);

    for (int s = 0; s < 3; s++) {
        int chunk;
        int slot;
        stop_unless_ok(cp_batch_append(batch, s, ++position[s], &chunk, &slot));
        write_token(&kv, chunk, slot, position[s]);
    }
    printf("plan %s\n", cp_batch_plan(batch, plan) ? "rebuilt" : "has new lengths");
    attend(batch, plan, &kv, position);

    cp_kv_free(&kv);
    cp_plan_free(plan);
    cp_batch_free(batch);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How a server uses the library: two prompts with the same beginning, attention, a decoding
 * iteration.
 *
 *   cc serving.c $(pkg-config --cflags --libs chunkproof) -lm
 *
 * Keys and values are made up: one head of one number, where token t has key t / 10 and value t. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <chunkproof/chunkproof.h>

#define C 2 /* tokens per chunk */

static void stop_unless_ok(int status) {
    if (status != CP_OK) {
        fprintf(stderr, "%s\n", cp_status_text(status));
        exit(1);
    }
}

/* K and V of token number `position` of a sequence: in slot position % C of chunk position / C of
 * its path. */
static void write_kv(const struct cp_tree *tree, const struct cp_kv *kv, int s, int position) {
    int token = cp_tree_token(tree, s, position);
    double key = token / 10.0;
    double value = token;
    cp_kv_write(kv, tree->sequence[s].chunk[position / C], 0, position % C, &key, &value);
}

/* Computes attention of one query per sequence, and the same from the definition. */
static void attend(const struct cp_tree *tree, const struct cp_plan *plan, const struct cp_kv *kv) {
    float q[2] = {1.0F, 2.0F};
    float out[2];
    struct cp_attention attention = {
        .plan = plan,
        .stamp = tree->stamp, /* attention refuses a plan that is older than the tree */
        .n_heads = 1,
        .n_kv_heads = 1,
        .head_dim = 1,
        .value_dim = 1,
        .v_row = 1,
        .scale = 1.0,
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

    for (int s = 0; s < tree->n_sequences; s++) {
        double n = 0.0;
        double o = 0.0;
        for (int i = 0; i < cp_tree_length(tree, s); i++) {
            int token = cp_tree_token(tree, s, i);
            double weight = exp(q[s] * token / 10.0);
            n += weight;
            o += weight * token;
        }
        printf("S%d: %d tokens, attention %.4f, by the definition %.4f\n", s,
               cp_tree_length(tree, s), out[s], o / n);
    }
}

int main(void) {
    static const int prompt[2][5] = {{1, 2, 3, 4, 5}, {1, 2, 3, 9, 5}};
    struct cp_tree *tree;
    struct cp_plan *plan;
    struct cp_kv kv;
    struct cp_joined joined;
    stop_unless_ok(cp_tree_new(&tree, 16, C, 0));
    stop_unless_ok(cp_plan_new(&plan));
    stop_unless_ok(cp_kv_new(&kv, 16, 1, C, 1, CP_FP32, CP_ON_DEMAND));

    for (int i = 0; i < 2; i++) {
        stop_unless_ok(cp_tree_join(tree, prompt[i], 5, 0, i, NULL, &joined));
        printf("S%d: K and V of %d tokens are there already\n", joined.sequence, joined.n_shared);
        for (int position = joined.n_shared; position < 5; position++) {
            write_kv(tree, &kv, joined.sequence, position);
        }
    }
    cp_plan_build(plan, tree);
    attend(tree, plan, &kv);

    static const int sequence[] = {0, 1};
    static const int token[] = {7, 8};
    stop_unless_ok(cp_tree_append_each(tree, 2, sequence, token));
    write_kv(tree, &kv, 0, 5);
    write_kv(tree, &kv, 1, 5);
    printf("plan %s\n", cp_plan_update(plan, tree) ? "rebuilt" : "has new lengths");
    attend(tree, plan, &kv);

    cp_kv_free(&kv);
    cp_plan_free(plan);
    cp_tree_free(tree);
    return 0;
}

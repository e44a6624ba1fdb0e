/* SPDX-License-Identifier: Apache-2.0 */
/* The program of serving.c with the fast tree and attention. A sequence has a handle, which
 * stays the same, and an index, which moves when other sequences come and go. Rows of Q and of
 * results go by index.
 *
 *   cc serving_fast.c $(pkg-config --cflags --libs chunkproof) -lm
 *
 * Keys and values are made up: one head of one number, where token t has key t / 10 and value t. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <chunkproof/chunkproof.h>

#define C    2 /* tokens per chunk */
#define MOST 4 /* sequences at once */

struct server {
    struct cp_opt_tree *tree;
    struct cp_opt_plan *plan; /* the tree's plan, in arrays */
    struct cp_plan *rows;     /* the same plan, as attention takes it */
    struct cp_kv kv;
    struct cp_opt *opt;
    void *workspace;
    size_t workspace_size;
};

static void stop_unless_ok(int status) {
    if (status != CP_OK) {
        fprintf(stderr, "%s\n", cp_status_text(status));
        exit(1);
    }
}

/* K and V of token number `position` of the sequence with a handle. */
static void write_kv(const struct server *x, int handle, int position) {
    int token = cp_opt_tree_token(x->tree, handle, position);
    double key = token / 10.0, value = token;
    int chunk = cp_opt_tree_path(x->tree, handle)[position / C];
    cp_kv_write(&x->kv, chunk, 0, position % C, &key, &value);
}

static int join(const struct server *x, const int *prompt, int n) {
    struct cp_joined joined;
    stop_unless_ok(cp_opt_tree_join(x->tree, prompt, n, 0, prompt[n - 1], &joined));
    for (int position = joined.n_shared; position < n; position++) {
        write_kv(x, joined.sequence, position);
    }
    return joined.sequence;
}

/* Prints results in the order of indices. */
static void print(const struct server *x, const float *q, const float *out) {
    for (int i = 0; i < x->plan->n_sequences; i++) {
        int handle = x->plan->sequence[i], n_tokens = x->plan->n_tokens[i];
        double n = 0.0, o = 0.0;
        for (int k = 0; k < n_tokens; k++) {
            int token = cp_opt_tree_token(x->tree, handle, k);
            double weight = exp((double)q[i] * token / 10.0);
            n += weight;
            o += weight * token;
        }
        printf("S%d: %d tokens, attention %.4f, by the definition %.4f\n", handle, n_tokens,
               (double)out[i], o / n);
    }
}

/* One query for each sequence. */
static void attend(struct server *x) {
    const float q[MOST] = {1.0F, 2.0F, 0.5F, -1.0F};
    float out[MOST];
    int changed = cp_opt_plan_update(x->plan, x->tree);
    stop_unless_ok(cp_opt_plan_export(x->plan, x->rows));
    struct cp_attention attention = {.plan = x->rows,
                                     .stamp = x->tree->stamp,
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
                                     .k = x->kv.k,
                                     .v = x->kv.v,
                                     .out = out};
    size_t needed = changed ? cp_opt_workspace(x->opt, &attention) : 0;
    if (needed > x->workspace_size) { /* it rarely grows, with the plan */
        free(x->workspace);
        x->workspace = malloc(needed);
        x->workspace_size = needed;
        stop_unless_ok(x->workspace != NULL ? CP_OK : CP_ERROR_NO_MEMORY);
    }
    attention.workspace = x->workspace;
    attention.workspace_size = x->workspace_size;
    stop_unless_ok(cp_opt_attend(x->opt, &attention));
    print(x, q, out);
}

int main(void) {
    static const int prompt[4][5] = {
        {1, 2, 3, 4, 5}, {1, 2, 3, 9, 6}, {1, 2, 3, 4, 7}, {1, 2, 8, 8, 8}};
    const struct cp_opt_sizes sizes = {.capacity = 32,
                                       .chunk_size = C,
                                       .max_sequences = MOST,
                                       .max_depth = 8,
                                       .hash_bits = 64,
                                       .seed = 1};
    struct server x = {0};
    int handle[4], token[] = {7, 8, 9};
    stop_unless_ok(cp_opt_tree_new(&x.tree, &sizes));
    stop_unless_ok(cp_opt_plan_new(&x.plan, &sizes));
    stop_unless_ok(cp_plan_new(&x.rows));
    stop_unless_ok(cp_kv_new(&x.kv, sizes.capacity, 1, C, 1, CP_FP32, CP_ON_DEMAND));
    stop_unless_ok(cp_opt_new(&x.opt, 0, CP_OPT_BEST));

    for (int i = 0; i < 3; i++) {
        handle[i] = join(&x, prompt[i], 5);
    }
    attend(&x);

    /* The handle of a sequence that leaves may be given to another one. */
    stop_unless_ok(cp_opt_tree_leave(x.tree, handle[0]));
    handle[0] = join(&x, prompt[3], 5);
    stop_unless_ok(cp_opt_tree_append_each(x.tree, 3, handle, token));
    for (int i = 0; i < 3; i++) {
        write_kv(&x, handle[i], 5);
    }
    attend(&x);

    cp_opt_free(x.opt);
    free(x.workspace);
    cp_kv_free(&x.kv);
    cp_plan_free(x.rows);
    cp_opt_plan_free(x.plan);
    cp_opt_tree_free(x.tree);
    return 0;
}

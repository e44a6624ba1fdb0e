/* SPDX-License-Identifier: Apache-2.0 */
/* The whole house, as a server uses it: sequences join, decode, fork and leave; K and V are
 * computed only for the tokens that the tree says are new; every iteration's attention is compared
 * with the oracle, which computes K and V of each sequence from the beginning.
 *
 * K and V of a token depend on all tokens before it, as in a model of more than one layer: a
 * sequence that was given another prefix's chunk, a tail that was not copied at a fork or a slot
 * that was not written changes the output by far more than rounding. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "oracle.h"
#include "random.h"

#define N_HEADS    4
#define N_KV_HEADS 2
#define HEAD_DIM   8
#define CHUNK_SIZE 4
#define CAPACITY   64
#define MAX_BATCH  12
#define MAX_LENGTH 64

struct server {
    struct cp_tree *tree;
    struct cp_plan *plan;
    struct cp_kv kv;
    unsigned long long random;
    int forget_copy; /* seeded faults, to see that the comparison can fail */
    int forget_write;
    int compared; /* elements */
};

static unsigned long long mix(unsigned long long code) {
    return random_bits(&code);
}

static int below(struct server *server, int n) {
    return random_below(&server->random, n);
}

/* A number in [-1, 1] that every type represents exactly, so that storing it changes nothing. */
static double coded(unsigned long long code) {
    return (double)((int)(mix(code) % 513) - 256) / 256.0;
}

/* K and V of the token at `position` of a sequence, for one head. */
static void key_and_value(const int *token, int position, unsigned long long salt, int kv_head,
                          double *key, double *value) {
    unsigned long long code = mix(salt);
    for (int i = 0; i <= position; i++) {
        code = mix(code ^ (unsigned)token[i]);
    }
    for (int x = 0; x < HEAD_DIM; x++) {
        key[x] = 2.0 * coded(code + (unsigned)(2 * (kv_head * HEAD_DIM + x)));
        value[x] = coded(code + (unsigned)(2 * (kv_head * HEAD_DIM + x) + 1));
    }
}

static int tokens_of(const struct server *server, int s, int *token) {
    int n = cp_tree_length(server->tree, s);
    for (int i = 0; i < n; i++) {
        token[i] = cp_tree_token(server->tree, s, i);
    }
    return n;
}

/* The model's work: K and V of tokens first .. end of sequence s, into its chunks. */
static void compute_kv(struct server *server, int s, int first) {
    int token[MAX_LENGTH];
    double key[HEAD_DIM];
    double value[HEAD_DIM];
    const struct cp_sequence *row = &server->tree->sequence[s];
    int n = tokens_of(server, s, token);
    for (int i = first; i < n - server->forget_write; i++) {
        for (int g = 0; g < N_KV_HEADS; g++) {
            key_and_value(token, i, row->salt, g, key, value);
            cp_kv_write(&server->kv, row->chunk[i / CHUNK_SIZE], g, i % CHUNK_SIZE, key, value);
        }
    }
}

static void join(struct server *server, long long id) {
    int token[MAX_LENGTH];
    struct cp_joined joined;
    int n = below(server, 25);
    for (int i = 0; i < n; i++) {
        token[i] = below(server, 6) == 0;
    }
    unsigned long long salt = (unsigned)below(server, 2);
    if (cp_tree_join(server->tree, token, n, salt, id, NULL, &joined) == CP_OK) {
        compute_kv(server, joined.sequence, joined.n_shared);
    }
}

static void fork_one(struct server *server, long long id) {
    struct cp_forked forked;
    int s = below(server, server->tree->n_sequences);
    if (cp_tree_fork(server->tree, s, id, &forked) == CP_OK && forked.copy_to >= 0 &&
        !server->forget_copy) {
        cp_kv_copy(&server->kv, forked.copy_from, forked.copy_to,
                   server->tree->fill[forked.copy_from]);
    }
}

static void decode(struct server *server) {
    int sequence[MAX_BATCH];
    int token[MAX_BATCH];
    int n = 0;
    for (int s = 0; s < server->tree->n_sequences; s++) {
        if (cp_tree_length(server->tree, s) < MAX_LENGTH) {
            sequence[n] = s;
            token[n++] = below(server, 6) == 0;
        }
    }
    if (cp_tree_append_each(server->tree, n, sequence, token) == CP_OK) {
        for (int i = 0; i < n; i++) {
            compute_kv(server, sequence[i], cp_tree_length(server->tree, sequence[i]) - 1);
        }
    }
}

/* The largest difference between attention over the plan and the oracle, this iteration. */
static double largest_error(struct server *server, int variant) {
    static double q[MAX_BATCH * N_HEADS * HEAD_DIM];
    static double out[MAX_BATCH * N_HEADS * HEAD_DIM];
    static double lse[MAX_BATCH * N_HEADS];
    static double key[MAX_LENGTH * HEAD_DIM];
    static double value[MAX_LENGTH * HEAD_DIM];
    int b = server->tree->n_sequences;
    double worst = 0.0;
    for (int i = 0; i < b * N_HEADS * HEAD_DIM; i++) {
        q[i] = 2.0 * coded(random_bits(&server->random));
    }
    cp_plan_update(server->plan, server->tree);
    struct cp_attention a = {.plan = server->plan,
                             .stamp = server->tree->stamp,
                             .n_heads = N_HEADS,
                             .n_kv_heads = N_KV_HEADS,
                             .head_dim = HEAD_DIM,
                             .value_dim = HEAD_DIM,
                             .v_row = HEAD_DIM,
                             .scale = 1.0 / sqrt(HEAD_DIM),
                             .q_type = CP_FP64,
                             .k_type = server->kv.type,
                             .v_type = server->kv.type,
                             .out_type = CP_FP64,
                             .q = q,
                             .k = server->kv.k,
                             .v = server->kv.v,
                             .out = out,
                             .lse = lse,
                             .variant = variant};
    a.workspace_size = cp_attend_workspace(&a);
    a.workspace = malloc(a.workspace_size + 1);
    assert_non_null(a.workspace);
    assert_int_equal(cp_attend(&a), CP_OK);
    free(a.workspace);
    for (int s = 0; s < b; s++) {
        int token[MAX_LENGTH];
        int n = tokens_of(server, s, token);
        for (int head = 0; head < N_HEADS; head++) {
            double expected[HEAD_DIM];
            for (int i = 0; i < n; i++) {
                key_and_value(token, i, server->tree->sequence[s].salt,
                              head / (N_HEADS / N_KV_HEADS), key + (ptrdiff_t)i * HEAD_DIM,
                              value + (ptrdiff_t)i * HEAD_DIM);
            }
            const double *row = q + (ptrdiff_t)(s * N_HEADS + head) * HEAD_DIM;
            double expected_lse = oracle_attention(row, key, value, n, HEAD_DIM, a.scale, expected);
            for (int x = 0; x < HEAD_DIM; x++) {
                double error = fabs(out[(s * N_HEADS + head) * HEAD_DIM + x] - expected[x]);
                worst = error <= worst ? worst : error;
                server->compared++;
            }
            if (n > 0) {
                double error = fabs(lse[s * N_HEADS + head] - expected_lse);
                worst = error <= worst ? worst : error;
            }
        }
    }
    return worst;
}

/* Serves for a while; returns the largest error seen. */
static double serve(struct server *server, int type, int iterations) {
    double worst = 0.0;
    server->random = 4242;
    assert_int_equal(cp_tree_new(&server->tree, CAPACITY, CHUNK_SIZE, 64), CP_OK);
    assert_int_equal(cp_plan_new(&server->plan), CP_OK);
    assert_int_equal(
        cp_kv_new(&server->kv, CAPACITY, N_KV_HEADS, CHUNK_SIZE, HEAD_DIM, type, CP_ON_DEMAND),
        CP_OK);
    for (int i = 0; i < iterations; i++) {
        if (server->tree->n_sequences < MAX_BATCH && below(server, 3) == 0) {
            join(server, i);
        }
        if (server->tree->n_sequences > 0 && server->tree->n_sequences < MAX_BATCH &&
            below(server, 6) == 0) {
            fork_one(server, i);
        }
        if (server->tree->n_sequences > 0 && below(server, 4) == 0) {
            assert_int_equal(cp_tree_leave(server->tree, below(server, server->tree->n_sequences)),
                             CP_OK);
        }
        decode(server);
        assert_true(cp_tree_is_valid(server->tree));
        double error = largest_error(server, i % 2 ? CP_BUFFERED : CP_MERGE_AT_ONCE);
        worst = error <= worst ? worst : error;
        assert_true(cp_plan_is_valid(server->plan));
    }
    cp_kv_free(&server->kv);
    cp_plan_free(server->plan);
    cp_tree_free(server->tree);
    return worst;
}

/* Weights sum to 1 and |v| <= 1. With u = 2^-53: a score is a sum of d <= 8 products and one
 * scaling, off by at most (d + 2) u sum |q k| scale <= 10 u * 32 / sqrt(8) < 114 u; a weight exp(s
 * - m) / n is then off by a factor 1 + 2 * 114 u for the scores, and a few u each for exp, n <= 64
 * additions and at most 16 rescalings: |error| <= (228 + 3 * (64 + 16 + 8)) u < 500 u to first
 * order, and as much again in the oracle. |lse| < 16 adds less. */
#define BOUND (1000.0 * 0x1p-53)

static void attention_of_a_server_is_the_oracles(void **unused) {
    struct server server = {0};
    (void)unused;
    for (int type = CP_FP16; type <= CP_BF16; type++) {
        double worst = serve(&server, type, 300);
        assert_true(worst <= BOUND);
    }
    assert_in_range(server.compared, 100000, 10000000);
}

static void a_tail_not_copied_is_seen(void **unused) {
    struct server server = {.forget_copy = 1};
    (void)unused;
    assert_false(serve(&server, CP_FP32, 100) <= 0.01);
}

static void a_token_not_written_is_seen(void **unused) {
    struct server server = {.forget_write = 1};
    (void)unused;
    assert_false(serve(&server, CP_FP32, 100) <= 0.01);
}

/* POOL-7. What a page costs is in tests/test_memory.c. */
static void memory_for_chunks(void **unused) {
    struct cp_kv kv;
    (void)unused;
    for (int field = 0; field < 6; field++) {
        int bad[] = {1, 1, 1, 1, CP_FP16, CP_ON_DEMAND};
        bad[field] = field < 4 ? 0 : 9;
        assert_int_equal(cp_kv_new(&kv, bad[0], bad[1], bad[2], bad[3], bad[4], bad[5]),
                         CP_ERROR_ARGUMENT);
        cp_kv_free(&kv); /* not needed, and harmless */
    }
    const int big = 1 << 30;
    assert_int_equal(cp_kv_new(&kv, big, big, big, 1, CP_FP16, CP_ON_DEMAND), CP_ERROR_SHAPE);
    assert_int_equal(cp_kv_new(&kv, big, big, 1, 1, CP_FP16, CP_ON_DEMAND), CP_ERROR_NO_MEMORY);
    assert_int_equal(cp_kv_new(&kv, 3, 2, 4, 8, CP_FP16, CP_PREALLOCATED), CP_OK);
    assert_int_equal(cp_kv_row(&kv, 2, 1, 3), ((2 * 2 + 1) * 4 + 3) * 8);
    cp_kv_free(&kv);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_of_a_server_is_the_oracles),
        cmocka_unit_test(a_tail_not_copied_is_seen),
        cmocka_unit_test(a_token_not_written_is_seen),
        cmocka_unit_test(memory_for_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

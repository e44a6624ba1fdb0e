/* SPDX-License-Identifier: Apache-2.0 */
/* How a server calls the kernels: two prompts with the same beginning, and one iteration of
 * decoding on a GPU.
 *
 *   cc decode_cuda.c -I/usr/local/cuda/include -lchunkproof_cuda \
 *      $(pkg-config --cflags --libs chunkproof) -L/usr/local/cuda/lib64 -lcudart -lstdc++ -lm
 *
 * Keys and values are made up on the host: token t has the key (t/100, t/100, ...) and the value
 * (t, t, ...). All queries are (1/8, 1/8, ...). Exit status 0: the kernels agree with the
 * definition. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <chunkproof/chunkproof.h>
#include <chunkproof/cuda.h>
#include <cuda_runtime_api.h>

enum { B = 2, C = 4, H = 4, H_KV = 2, D = 64, CAPACITY = 64 };

static void must(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void must_succeed(cudaError_t error) {
    must(error == cudaSuccess, cudaGetErrorString(error));
}

/* Allocates device memory, and copies to it what is at `from`, unless that is NULL. */
static void *on_device(const void *from, size_t bytes) {
    void *memory = NULL;
    must_succeed(cudaMalloc(&memory, bytes));
    if (from != NULL) {
        must_succeed(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    }
    return memory;
}

/* Writes K and V of all tokens of a sequence. Returns what each number of its result must be, by
 * the definition. */
static double write_kv(const struct cp_tree *tree, const struct cp_kv *kv, int s, double scale) {
    double key[D], value[D], n = 0.0, o = 0.0;
    for (int p = 0; p < cp_tree_length(tree, s); p++) {
        for (int i = 0; i < D; i++) {
            value[i] = cp_tree_token(tree, s, p);
            key[i] = value[i] / 100.0;
        }
        for (int g = 0; g < H_KV; g++) {
            cp_kv_write(kv, tree->sequence[s].chunk[p / C], g, p % C, key, value);
        }
        double weight = exp(scale * D * key[0] / 8.0);
        n += weight;
        o += weight * value[0];
    }
    return o / n;
}

int main(void) {
    static const int prompt[B][6] = {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 9, 6}};
    static const int sequence[B] = {0, 1}, token[B] = {70, 80};
    const double scale = 1.0 / sqrt(D);
    struct cp_tree *tree;
    struct cp_plan *plan;
    struct cp_kv kv;
    struct cp_joined joined;
    must(cp_tree_new(&tree, CAPACITY, C, 0) == CP_OK && cp_plan_new(&plan) == CP_OK, "no memory");
    must(cp_kv_new(&kv, CAPACITY, H_KV, C, D, CP_FP16, CP_ON_DEMAND) == CP_OK, "no memory");
    for (int i = 0; i < B; i++) {
        must(cp_tree_join(tree, prompt[i], 6, 0, i, NULL, &joined) == CP_OK, "no room");
    }

    /* Once: the launcher, with room for the largest batch that is to come. */
    struct cp_cuda *cuda;
    const struct cp_cuda_limits limits = {.n_sequences = B,
                                          .n_rows = B,
                                          .n_chunks = CAPACITY,
                                          .depth = 8,
                                          .levels = 2, /* a common prefix, and a sequence's own */
                                          .n_heads = H,
                                          .head_dim = D,
                                          .chunks_per_task = 512 / C};
    size_t size = cp_cuda_workspace(&limits);
    void *workspace = on_device(NULL, size);
    int status = cp_cuda_new(&cuda, &limits, workspace, size);
    must(status == CP_OK, cp_cuda_text(cuda));

    /* In each iteration: a token for each sequence with its K and V, the plan, and what has changed
     * of it. */
    must(cp_tree_append_each(tree, B, sequence, token) == CP_OK, "no room");
    double right[B] = {write_kv(tree, &kv, 0, scale), write_kv(tree, &kv, 1, scale)};
    cp_plan_update(plan, tree);
    must(cp_cuda_update(cuda, plan, NULL, NULL, NULL) == CP_OK, cp_cuda_text(cuda));

    /* In each layer. */
    uint16_t q[B * H * D];
    float out[B * H * D];
    for (int i = 0; i < B * H * D; i++) {
        q[i] = cp_fp16_from_double(1.0 / 8.0);
    }
    size_t bytes = (size_t)CAPACITY * H_KV * C * D * sizeof(uint16_t);
    void *memory[] = {on_device(q, sizeof q), on_device(kv.k, bytes), on_device(kv.v, bytes),
                      on_device(NULL, sizeof out)};
    struct cp_cuda_attention attention = {
        .stamp = tree->stamp, /* a plan on the device that is older than the tree is refused */
        .n_heads = H,
        .n_kv_heads = H_KV,
        .head_dim = D,
        .value_dim = D,
        .v_row = D,
        .scale = scale,
        .q = memory[0],
        .k = memory[1],
        .v = memory[2],
        .out = memory[3],
        .out_type = CP_FP32};
    must(cp_cuda_attend(cuda, &attention, NULL) == CP_OK, cp_cuda_text(cuda));
    must_succeed(cudaMemcpy(out, attention.out, sizeof out, cudaMemcpyDeviceToHost)); /* waits */

    for (int i = 0; i < B * H * D; i++) {
        must(fabs(out[i] - right[i / (H * D)]) < 0.01 * right[i / (H * D)], "wrong");
    }
    printf("S0 %.4f, S1 %.4f; by the definition %.4f, %.4f\n", out[0], out[H * D], right[0],
           right[1]);
    cp_cuda_free(cuda);
    cp_kv_free(&kv);
    cp_plan_free(plan);
    cp_tree_free(tree); /* device memory goes with the process */
    return 0;
}

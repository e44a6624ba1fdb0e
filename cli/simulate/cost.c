/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate/cost.h"

#include <math.h>
#include <stddef.h>

#include "cli/base/number_file.h"

static const struct number_field fields[] = {
    {"fixed_us", offsetof(struct simulate_cost, fixed_us), 0.0, 1},
    {"sequence_us", offsetof(struct simulate_cost, sequence_us), 0.0, 0},
    {"prefill_token_us", offsetof(struct simulate_cost, prefill_token_us), 0.0, 0},
    {"kv_bytes_per_second", offsetof(struct simulate_cost, bytes_per_second), 1.0, 0},
    {"attention_flops_per_second", offsetof(struct simulate_cost, flops_per_second), 1.0, 0},
};
static const struct number_file cost_file = {"chunkproof cost 1",
                                             "chunkproof simulate --print-cost", fields,
                                             sizeof fields / sizeof fields[0]};

/* 80 % of 2039 GB/s and 60 % of 312 TFLOP/s; 6.74e9 parameters of 2 bytes, 2 FLOPs each. */
struct simulate_cost simulate_cost_example(void) {
    struct simulate_cost cost = {.fixed_us = 8260.0, /* 13.48 GB at 1.632 TB/s */
                                 .sequence_us = 0.0, /* below the ridge: behind that reading */
                                 .prefill_token_us = 72.0, /* 13.48 GFLOP at 187.2 TFLOP/s */
                                 .bytes_per_second = 1.632e12,
                                 .flops_per_second = 1.872e14};
    return cost;
}

int simulate_cost_load(struct simulate_cost *cost, const char *file) {
    return number_file_load(&cost_file, file, cost, sizeof *cost);
}

void simulate_cost_print(const struct simulate_cost *cost, FILE *out) {
    number_file_print(&cost_file, cost, out);
}

long long simulate_duration(const struct simulate_cost *cost, const struct cp_dims *model,
                            const struct simulate_work *work) {
    double us = cost->fixed_us + cost->sequence_us * work->decoding +
                cost->prefill_token_us * (double)work->prefill_tokens;
    double bytes = cp_kv_bytes(model) * (double)work->stored_tokens;
    double flops = 4.0 * model->layers * model->heads * model->head_dim * work->pairs; /* MODEL-3 */
    double seconds = cost->bytes_per_second > 0.0 ? bytes / cost->bytes_per_second : 0.0;
    seconds += cost->flops_per_second > 0.0 ? flops / cost->flops_per_second : 0.0;
    double ns = us * 1e3 + seconds * 1e9;
    return ns < 1.0 ? 1 : ns < (double)SIMULATE_END ? llround(ns) : SIMULATE_END;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Takes its time to refuse any sizes. What comes of it: tests/cli_gate_fight.sh. */
#define _GNU_SOURCE /* usleep */

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "merge_util.h"

#define MICROSECONDS 20000

static const char *refuses(const struct cp_merge_call *call) {
    (void)call;
    usleep(MICROSECONDS);
    return "not yet";
}

static int merge(const struct cp_merge_call *call) {
    (void)call;
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-slow",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .parts = CP_PARTS_BY_ROW,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP32,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR,
                   .div_error = DIVISION_ERROR},
    .refuses = refuses,
    .merge = merge,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cli/modules/report.h"

static int compare(const void *a, const void *b) {
    long long x = *(const long long *)a;
    long long y = *(const long long *)b;
    return (x > y) - (x < y);
}

/* The place of the smallest of n numbers that `percent` of them do not exceed. */
static int rank(int n, int percent) {
    return (int)(((long long)n * percent + 99) / 100) - 1;
}

static struct modules_spread spread(long long *ns, int n) {
    struct modules_spread spread = {0.0, 0.0, 0.0};
    double sum = 0.0;
    if (n == 0) {
        return spread;
    }
    qsort(ns, (size_t)n, sizeof *ns, compare);
    for (int i = 0; i < n; i++) {
        sum += (double)ns[i];
    }
    spread.mean = sum / n / 1e6;
    spread.p50 = (double)ns[rank(n, 50)] / 1e6;
    spread.p99 = (double)ns[rank(n, 99)] / 1e6;
    return spread;
}

struct modules_summary modules_summarise(const struct modules_settings *settings,
                                         struct modules_run *run) {
    struct modules_summary summary = {
        .cached = spread(run->cached_ns, run->prompts),
        .full = spread(run->full_ns, run->prompts),
        .token_bytes = cp_kv_bytes(&settings->model),
    };
    if (run->prompts > 0) { /* each has a token or more, which takes time */
        summary.faster = summary.full.mean / summary.cached.mean;
        summary.reduction = 1.0 - (double)run->shared.sum / (double)run->own.sum;
    }
    return summary;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate/summary.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/sort.h"

/* The place of the smallest of n numbers that `percent` of them do not exceed. */
static int rank(int n, int percent) {
    return (int)(((long long)n * percent + 99) / 100) - 1;
}

struct simulate_spread simulate_spread_of(double *number, int n) {
    struct simulate_spread spread = {0.0, 0.0, 0.0};
    if (n == 0) {
        return spread;
    }
    sort_numbers(number, n);
    for (int i = 0; i < n; i++) {
        spread.mean += number[i];
    }
    spread.mean /= n;
    spread.p50 = number[rank(n, 50)];
    spread.p99 = number[rank(n, 99)];
    return spread;
}

static void summarise_requests(const struct trace *trace, const struct simulate_run *run,
                               double *number, struct simulate_summary *summary) {
    int n = 0;
    for (int r = 0; r < trace->n_requests; r++) {
        const struct simulate_record *record = &run->record[r];
        if (record->made > 0) { /* a latency per token needs a token */
            number[n++] = (double)(record->finished - record->arrived) / 1e6 / record->made;
        }
    }
    summary->latency = simulate_spread_of(number, n);
    n = 0;
    for (int r = 0; r < trace->n_requests; r++) {
        const struct simulate_record *record = &run->record[r];
        if (record->made > 0) {
            number[n++] = (double)(record->first - record->arrived) / 1e6;
        }
    }
    summary->first_token = simulate_spread_of(number, n);
}

int simulate_summarise(const struct trace *trace, const struct simulate_settings *settings,
                       const struct simulate_run *run, struct simulate_summary *summary) {
    double ns = (double)(run->finished - run->started);
    double *number = malloc((size_t)trace->n_requests * sizeof *number);
    memset(summary, 0, sizeof *summary);
    if (number == NULL) {
        return -1;
    }
    summarise_requests(trace, run, number, summary);
    free(number);
    if (run->iterations > 0) { /* then it took time */
        summary->tokens_per_second = (double)run->completion_tokens / ns * 1e9;
        summary->requests_per_second = (double)(trace->n_requests - run->rejected) / ns * 1e9;
        summary->in_system = run->in_system / ns;
        summary->busy = (double)run->busy / ns;
        summary->mean_batch = (double)run->batch_sum / (double)run->iterations;
    }
    if (run->prompt_tokens > 0) {
        summary->reuse = (double)run->reused_tokens / (double)run->prompt_tokens;
    }
    summary->peak_bytes = simulate_chunk_bytes(settings) * run->peak_chunks;
    return 0;
}

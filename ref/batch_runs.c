/* SPDX-License-Identifier: Apache-2.0 */
/* Positions: those of a span, and which of them a prompt has (RUNS-1). */
#include <limits.h>

#include "batch_internal.h"

int cp_span_is_valid(struct cp_span span) {
    return span.n_tokens >= 1 && 0 <= span.position && span.position <= INT_MAX - span.n_tokens;
}

int cp_spans_are_apart(struct cp_span one, struct cp_span other) {
    return one.position + one.n_tokens <= other.position ||
           other.position + other.n_tokens <= one.position;
}

struct cp_span cp_span_of(struct cp_run run) {
    return (struct cp_span){run.position, run.n_tokens};
}

long long cp_spans_runs(const struct cp_span *spans, int n_spans, int chunk_size) {
    long long n = 0;
    for (int i = 0; i < n_spans; i++) {
        n += (spans[i].n_tokens - 1) / chunk_size + 1;
    }
    return n;
}

int cp_prompt_runs(const struct cp_batch *batch, const struct cp_prompt *prompt) {
    int n = prompt->n_own;
    for (int i = 0; i < prompt->n_items; i++) {
        n += batch->item[prompt->item[i]].n_runs;
    }
    return n;
}

int cp_runs_have_room(const struct cp_run *run, int n_runs, struct cp_span span) {
    for (int k = 0; k < n_runs; k++) {
        if (!cp_spans_are_apart(cp_span_of(run[k]), span)) {
            return 0;
        }
    }
    return 1;
}

int cp_prompt_has_room(const struct cp_batch *batch, const struct cp_prompt *prompt,
                       struct cp_span span) {
    for (int i = 0; i < prompt->n_items; i++) {
        int item = prompt->item[i];
        if (!cp_runs_have_room(batch->runs[item].run, batch->item[item].n_runs, span)) {
            return 0;
        }
    }
    return cp_runs_have_room(prompt->own, prompt->n_own, span);
}

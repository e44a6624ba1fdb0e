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

int cp_span_is_apart(const struct cp_span *spans, int i) {
    /*@ loop invariant j: 0 <= j <= i;
        loop invariant apart: \forall integer h; 0 <= h < j ==> spans_apart(spans[h], spans[i]);
        loop assigns j; loop variant i - j; */
    for (int j = 0; j < i; j++) {
        //@ assert counts: span_ok(spans[j]) && span_ok(spans[i]);
        if (!cp_spans_are_apart(spans[j], spans[i])) {
            return 0;
        }
    }
    return 1;
}

long long cp_spans_runs(const struct cp_span *spans, int n_spans, int chunk_size) {
    long long n = 0;
    /*@ loop invariant i: 0 <= i <= n_spans;
        loop invariant n: n == spans_runs(spans, i, chunk_size);
        loop invariant bound: 0 <= n <= i * 0x7FFFFFFF;
        loop assigns i, n; loop variant n_spans - i; */
    for (int i = 0; i < n_spans; i++) {
        //@ assert span: span_ok(spans[i]);
        n += (spans[i].n_tokens - 1) / chunk_size + 1;
    }
    return n;
}

int cp_batch_n_runs(const struct cp_batch *batch, int owner) {
    return owner < 0 ? batch->prompt[-1 - owner].n_own : batch->item[owner].n_runs;
}

struct cp_run cp_batch_run(const struct cp_batch *batch, int owner, int k) {
    return owner < 0 ? batch->prompt[-1 - owner].own[k] : batch->runs[owner].run[k];
}

struct cp_span cp_batch_span(const struct cp_batch *batch, int owner, int k) {
    struct cp_run run = cp_batch_run(batch, owner, k);
    return (struct cp_span){run.position, run.n_tokens};
}

int cp_prompt_runs(const struct cp_batch *batch, int prompt) {
    int n = batch->prompt[prompt].n_own;
    /*@ loop invariant i: 0 <= i <= batch->prompt[prompt].n_items;
        loop invariant n: n == batch->prompt[prompt].n_own + items_runs(*batch, prompt, i);
        loop invariant bound: 0 <= n <= (i + 1) * CP_MAX_DEPTH;
        loop assigns i, n; loop variant batch->prompt[prompt].n_items - i; */
    for (int i = 0; i < batch->prompt[prompt].n_items; i++) {
        n += batch->item[batch->prompt[prompt].item[i]].n_runs;
    }
    return n;
}

int cp_prompt_has_item(const struct cp_batch *batch, int prompt, int item) {
    /*@ loop invariant i: 0 <= i <= batch->prompt[prompt].n_items;
        loop invariant before: !items_have(*batch, prompt, i, item);
        loop assigns i; loop variant batch->prompt[prompt].n_items - i; */
    for (int i = 0; i < batch->prompt[prompt].n_items; i++) {
        //@ assert here: batch->prompt[prompt].item[i] == prompt_item(*batch, prompt, i);
        if (batch->prompt[prompt].item[i] == item) {
            return 1;
        }
    }
    return 0;
}

int cp_batch_n_tokens(const struct cp_batch *batch, int owner) {
    int n = 0;
    /*@ loop invariant k: 0 <= k <= owner_runs(*batch, owner);
        loop invariant n: n == owner_sum(*batch, owner, k);
        loop invariant bound: 0 <= n <= k * CP_MAX_CHUNK_SIZE;
        loop assigns k, n; loop variant owner_runs(*batch, owner) - k; */
    for (int k = 0; k < cp_batch_n_runs(batch, owner); k++) {
        n += cp_batch_span(batch, owner, k).n_tokens;
    }
    return n;
}

int cp_runs_have_room(const struct cp_batch *batch, int owner, int n_runs, struct cp_span span) {
    /*@ loop invariant k: 0 <= k <= n_runs;
        loop invariant room: runs_avoid(*batch, owner, k, span.position, span.n_tokens);
        loop assigns k; loop variant n_runs - k; */
    for (int k = 0; k < n_runs; k++) {
        //@ assert counts: run_counts(*batch, owner, k);
        if (!cp_spans_are_apart(cp_batch_span(batch, owner, k), span)) {
            return 0;
        }
    }
    return 1;
}

int cp_prompt_has_room(const struct cp_batch *batch, int prompt, int n_items, struct cp_span span) {
    /*@ loop invariant i: 0 <= i <= n_items;
        loop invariant room: items_avoid(*batch, prompt, i, span.position, span.n_tokens);
        loop assigns i; loop variant n_items - i; */
    for (int i = 0; i < n_items; i++) {
        int item = batch->prompt[prompt].item[i];
        //@ assert item: item == prompt_item(*batch, prompt, i);
        if (!cp_runs_have_room(batch, item, batch->item[item].n_runs, span)) {
            return 0;
        }
    }
    return cp_runs_have_room(batch, -1 - prompt, batch->prompt[prompt].n_own, span);
}

int cp_item_has_room(const struct cp_batch *batch, int prompt, int n_items, int item) {
    /*@ loop invariant k: 0 <= k <= owner_runs(*batch, item);
        loop invariant room: \forall integer j; 0 <= j < k ==> prompt_avoids(*batch, prompt,
          n_items, owner_position(*batch, item, j), owner_tokens(*batch, item, j));
        loop assigns k; loop variant owner_runs(*batch, item) - k; */
    for (int k = 0; k < batch->item[item].n_runs; k++) {
        //@ assert counts: run_counts(*batch, item, k);
        if (!cp_prompt_has_room(batch, prompt, n_items, cp_batch_span(batch, item, k))) {
            return 0;
        }
    }
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What an item or a prompt gets: spans, cut into runs (RUNS-1). */
#include "batch_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/batch_spans.h"
#endif

/* One run more, in a free chunk. */
/*@
  requires valid: \valid(batch);
  requires ok: batch_ok(*batch);
  requires owner: owner_exists(*batch, owner) && owner_has_room(*batch, owner, position, n_tokens);
  requires free: 0 < batch->pool.n_free;
  assigns batch->pool.n_free, batch->owner[0 .. CP_MAX_CHUNKS - 1],
    batch->item[0 .. CP_MAX_ITEMS - 1], batch->runs[0 .. CP_MAX_ITEMS - 1],
    batch->prompt[0 .. CP_MAX_SEQUENCES - 1];
  ensures ok: batch_ok(*batch);
  ensures added: run_added(\old(*batch), *batch, owner, position, n_tokens);
*/
static void add_run(struct cp_batch *batch, int owner, int position, int n_tokens) {
    //@ ghost struct cp_batch before = *batch;
    //@ assert owner: owner_ok(*batch, owner);
    //@ ghost if (owner < 0) { tokens_are_bound(*batch, -1 - owner); }
    int k = cp_batch_n_runs(batch, owner);
    struct cp_run run = {cp_batch_take(batch, owner, k), n_tokens, position};
    if (owner < 0) {
        batch->prompt[-1 - owner].own[k] = run;
        batch->prompt[-1 - owner].n_own++;
        batch->prompt[-1 - owner].n_tokens += n_tokens;
    } else {
        batch->runs[owner].run[k] = run;
        batch->item[owner].n_runs++;
    }
    //@ assert grew: owner_grew(before, *batch, owner);
    //@ assert added: run_added(before, *batch, owner, position, n_tokens);
    //@ ghost added_is_ok(before, *batch, owner, position, n_tokens);
}

/* The runs of a span. */
/*@
  requires valid: \valid(batch);
  requires ok: batch_ok(*batch);
  requires owner: owner_exists(*batch, owner) &&
    owner_takes(*batch, owner, cuts(span.n_tokens, batch->chunk_size));
  requires span: span_ok(span) && owner_avoids(*batch, owner, span.position, span.n_tokens);
  requires free: cuts(span.n_tokens, batch->chunk_size) <= batch->pool.n_free;
  assigns batch->pool.n_free, batch->owner[0 .. CP_MAX_CHUNKS - 1],
    batch->item[0 .. CP_MAX_ITEMS - 1], batch->runs[0 .. CP_MAX_ITEMS - 1],
    batch->prompt[0 .. CP_MAX_SEQUENCES - 1];
  ensures ok: batch_ok(*batch);
  ensures grew: owner_grew(\old(*batch), *batch, owner);
  ensures runs_1: span_is_cut(*batch, owner, owner_runs(\old(*batch), owner),
    owner_runs(*batch, owner), span);
  ensures count: owner_runs(*batch, owner) ==
    owner_runs(\old(*batch), owner) + cuts(span.n_tokens, batch->chunk_size);
*/
static void add_span(struct cp_batch *batch, int owner, struct cp_span span) {
    //@ ghost struct cp_batch before = *batch;
    //@ ghost int first = owner < 0 ? batch->prompt[-1 - owner].n_own : batch->item[owner].n_runs;
    int end = span.position + span.n_tokens;
    int at = span.position;
    /*@ loop invariant at: span.position <= at <= end;
        loop invariant ok: batch_ok(*batch);
        loop invariant grew: owner_grew(before, *batch, owner);
        loop invariant cut: span_cut_to(*batch, owner, owner_runs(before, owner),
          owner_runs(*batch, owner), span, at);
        loop invariant count: owner_runs(*batch, owner) == owner_runs(before, owner) +
          cuts(span.n_tokens, before.chunk_size) - cuts(end - at, before.chunk_size);
        loop invariant takes: owner_takes(*batch, owner, cuts(end - at, before.chunk_size));
        loop invariant room: owner_avoids(*batch, owner, at, end - at);
        loop assigns at, batch->pool.n_free, batch->owner[0 .. CP_MAX_CHUNKS - 1],
          batch->item[0 .. CP_MAX_ITEMS - 1], batch->runs[0 .. CP_MAX_ITEMS - 1],
          batch->prompt[0 .. CP_MAX_SEQUENCES - 1];
        loop variant end - at; */
    while (at < end) {
        //@ ghost struct cp_batch with = *batch;
        int n = end - at < batch->chunk_size ? end - at : batch->chunk_size;
        //@ ghost one_cut_less(end - at, batch->chunk_size);
        //@ assert part: owner_avoids(*batch, owner, at, n);
        add_run(batch, owner, at, n);
        //@ ghost grew_on(before, with, *batch, owner);
        //@ ghost takes_on(with, *batch, owner);
        //@ ghost rest_avoided(with, *batch, owner, at, n, end);
        //@ ghost cut_next(with, *batch, owner, first, span, at, n);
        at += n;
    }
}

void cp_batch_add_spans(struct cp_batch *batch, int owner, const struct cp_span *spans,
                        int n_spans) {
    //@ ghost struct cp_batch before = *batch;
    //@ assert none: spans_runs(spans, 0, batch->chunk_size) == 0;
    /*@ loop invariant i: 0 <= i <= n_spans;
        loop invariant ok: batch_ok(*batch);
        loop invariant grew: owner_grew(before, *batch, owner);
        loop invariant cut: spans_are_cut(*batch, owner, spans, i);
        loop invariant count:
          owner_runs(*batch, owner) == spans_runs(spans, i, before.chunk_size);
        loop invariant takes: owner_takes(*batch, owner, spans_runs(spans, n_spans,
          before.chunk_size) - spans_runs(spans, i, before.chunk_size));
        loop invariant room: owner_avoids_spans(*batch, owner, spans, i, n_spans);
        loop assigns i, batch->pool.n_free, batch->owner[0 .. CP_MAX_CHUNKS - 1],
          batch->item[0 .. CP_MAX_ITEMS - 1], batch->runs[0 .. CP_MAX_ITEMS - 1],
          batch->prompt[0 .. CP_MAX_SEQUENCES - 1];
        loop variant n_spans - i; */
    for (int i = 0; i < n_spans; i++) {
        //@ ghost struct cp_batch with = *batch;
        //@ ghost spans_runs_rise(spans, n_spans, i + 1, batch->chunk_size);
        /*@ assert next: spans_runs(spans, i + 1, batch->chunk_size) ==
              spans_runs(spans, i, batch->chunk_size) +
              cuts(spans[i].n_tokens, batch->chunk_size); */
        add_span(batch, owner, spans[i]);
        //@ ghost grew_on(before, with, *batch, owner);
        //@ ghost takes_on(with, *batch, owner);
        //@ ghost spans_cut_still(with, *batch, owner, spans, i);
        /*@ assert this: span_is_cut(*batch, owner, spans_runs(spans, i, batch->chunk_size),
              spans_runs(spans, i + 1, batch->chunk_size), spans[i]); */
        //@ ghost one_span_more(*batch, owner, spans, i);
        //@ ghost spans_avoided_still(with, *batch, owner, spans, i, n_spans);
    }
}

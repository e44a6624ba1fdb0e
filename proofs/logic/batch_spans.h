/* SPDX-License-Identifier: Apache-2.0 */
/* Spans are cut into runs (RUNS-1): steps of the proofs of ref/batch_add.c and batch.c. Provers
 * alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_SPANS_H
#define CHUNKPROOF_LOGIC_BATCH_SPANS_H

#include "proofs/logic/batch_add.h"

/*@ ghost
  /@ requires spans: 0 <= i <= n && spans_ok(spans, n) && 1 <= c;
     assigns \nothing;
     ensures rise: 0 <= spans_runs(spans, i, c) <= spans_runs(spans, n, c); @/
  void spans_runs_rise(const struct cp_span *spans, int n, int i, int c) {
    /@ loop invariant j: 0 <= j <= n;
       loop invariant some: 0 <= spans_runs(spans, j, c);
       loop invariant rise: i <= j ==> 0 <= spans_runs(spans, i, c) <= spans_runs(spans, j, c);
       loop assigns j; loop variant n - j; @/
    for (int j = 0; j < n; j++) {
      /@ assert ok: span_ok(spans[j]); @/
      /@ assert one: 1 <= cut_into(spans[j].n_tokens, c); @/
    }
  }

  /@ requires size: b.chunk_size == a.chunk_size && 0 <= k <= n;
     requires same: \forall integer j; 0 <= j < n ==> run_same(a, o, b, o, j);
     requires cut: span_is_cut(a, o, k, n, span);
     assigns \nothing;
     ensures cut: span_is_cut(b, o, k, n, span); @/
  void cut_still(struct cp_batch a, struct cp_batch b, int o, int k, int n, struct cp_span span) {
    /@ assert places: \forall integer j; 0 <= j < n ==>
         owner_position(b, o, j) == owner_position(a, o, j) &&
         owner_tokens(b, o, j) == owner_tokens(a, o, j); @/
    /@ assert end: \forall integer j; k <= j <= n ==>
         runs_end(b, o, k, j, span.position) == runs_end(a, o, k, j, span.position); @/
    /@ assert runs: \forall integer j; k <= j < n ==> run_is_cut(a, o, k, j, span) &&
         run_same(a, o, b, o, j); @/
    /@ assert cut: \forall integer j; k <= j < n ==> run_is_cut(b, o, k, j, span); @/
  }

  /@ requires cut: span_cut_to(a, o, k, owner_runs(a, o), span, at) && 0 <= k <= owner_runs(a, o);
     requires added: run_added(a, b, o, at, n) && 0 <= n;
     requires n: n == \min(b.chunk_size, span.position + span.n_tokens - at) &&
       span.position <= at;
     assigns \nothing;
     ensures cut: span_cut_to(b, o, k, owner_runs(b, o), span, at + n); @/
  void cut_next(struct cp_batch a, struct cp_batch b, int o, int k, struct cp_span span, int at,
                int n) {
    /@ assert grew: runs_grew(a, b, o) && b.chunk_size == a.chunk_size; @/
    /@ assert places: \forall integer j; 0 <= j < owner_runs(a, o) ==>
         owner_position(b, o, j) == owner_position(a, o, j) &&
         owner_tokens(b, o, j) == owner_tokens(a, o, j); @/
    /@ assert end: \forall integer j; k <= j <= owner_runs(a, o) ==>
         runs_end(b, o, k, j, span.position) == runs_end(a, o, k, j, span.position); @/
    /@ assert runs: \forall integer j; k <= j < owner_runs(a, o) ==>
         run_is_cut(a, o, k, j, span) && run_same(a, o, b, o, j); @/
    /@ assert cut: \forall integer j; k <= j < owner_runs(a, o) ==>
         run_is_cut(b, o, k, j, span); @/
    /@ assert last: run_is_cut(b, o, k, owner_runs(a, o), span); @/
    /@ assert one: \forall integer j; k <= j < owner_runs(b, o) ==>
         j < owner_runs(a, o) || j == owner_runs(a, o); @/
  }

  /@ requires cut: 0 <= i && spans_are_cut(b, o, spans, i);
     requires next: span_is_cut(b, o, spans_runs(spans, i, b.chunk_size),
       spans_runs(spans, i + 1, b.chunk_size), spans[i]);
     assigns \nothing;
     ensures cut: spans_are_cut(b, o, spans, i + 1); @/
  void one_span_more(struct cp_batch b, int o, const struct cp_span *spans, int i) {
  }

  /@ requires spans: 0 <= i && spans_ok(spans, i) && 1 <= a.chunk_size;
     requires valid: \valid_read(spans + (0 .. i - 1));
     requires few: spans_runs(spans, i, a.chunk_size) <= CP_MAX_DEPTH;
     requires grew: owner_grew(a, b, o) && spans_are_cut(a, o, spans, i);
     requires runs: owner_runs(a, o) == spans_runs(spans, i, a.chunk_size);
     assigns \nothing;
     ensures cut: spans_are_cut(b, o, spans, i); @/
  void spans_cut_still(struct cp_batch a, struct cp_batch b, int o,
                       const struct cp_span *spans, int i) {
    int first = 0;
    /@ loop invariant j: 0 <= j <= i;
       loop invariant cut: spans_are_cut(b, o, spans, j);
       loop invariant first: first == spans_runs(spans, j, a.chunk_size);
       loop assigns j, first; loop variant i - j; @/
    for (int j = 0; j < i; j++) {
      /@ assert ok: span_ok(spans[j]); @/
      spans_runs_rise(spans, i, j, a.chunk_size);
      spans_runs_rise(spans, i, j + 1, a.chunk_size);
      /@ assert was: span_is_cut(a, o, spans_runs(spans, j, a.chunk_size),
           spans_runs(spans, j + 1, a.chunk_size), spans[j]); @/
      /@ assert same: \forall integer k; 0 <= k < spans_runs(spans, j + 1, a.chunk_size) ==>
           run_same(a, o, b, o, k); @/
      /@ assert next: spans_runs(spans, j, a.chunk_size) <=
           spans_runs(spans, j + 1, a.chunk_size); @/
      /@ assert upto: spans_runs(spans, j + 1, a.chunk_size) ==
           first + (spans[j].n_tokens - 1) / a.chunk_size + 1; @/
      cut_still(a, b, o, first, first + (spans[j].n_tokens - 1) / a.chunk_size + 1, spans[j]);
      one_span_more(b, o, spans, j);
      first += (spans[j].n_tokens - 1) / a.chunk_size + 1;
    }
  }

  /@ requires ok: batch_ok(a) && owner_exists(a, o) && owner_grew(a, b, o);
     requires valid: \valid_read(spans + (0 .. n - 1));
     requires spans: 0 <= i < n && spans_ok(spans, n) && spans_all_apart(spans, n);
     requires avoids: owner_avoids_spans(a, o, spans, i, n);
     requires cut: span_is_cut(b, o, owner_runs(a, o), owner_runs(b, o), spans[i]);
     assigns \nothing;
     ensures avoids: owner_avoids_spans(b, o, spans, i + 1, n); @/
  void spans_avoided_still(struct cp_batch a, struct cp_batch b, int o,
                           const struct cp_span *spans, int i, int n) {
    /@ loop invariant j: i + 1 <= j <= n;
       loop invariant avoids: owner_avoids_spans(b, o, spans, i + 1, j);
       loop assigns j; loop variant n - j; @/
    for (int j = i + 1; j < n; j++) {
      /@ assert apart: spans_apart(spans[i], spans[j]); @/
      /@ assert new: \forall integer k; owner_runs(a, o) <= k < owner_runs(b, o) ==>
           run_avoids(b, o, k, spans[j].position, spans[j].n_tokens); @/
      avoided_on(a, b, o, spans[j].position, spans[j].n_tokens);
    }
  }
*/

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Ghost code, for the proofs alone: the query rows of a list of sequences (RUNS-2) come one behind
 * the other, and no list has more than all sequences, because its entries differ. Each function is
 * a lemma, its contract the statement, its body the proof; a loop is an induction. */
#ifndef CHUNKPROOF_LOGIC_ATTENTION_ROWS_H
#define CHUNKPROOF_LOGIC_ATTENTION_ROWS_H

#include "chunkproof/attention.h"

/*@
  // Of the rows from entry `from` to entry `to` of the list, those of the sequences below b.
  logic integer rows_between{L}(int *query_begin, struct cp_plan p, integer b, integer from,
                                integer to) =
    list_rows(query_begin, p, b, to) - list_rows(query_begin, p, b, from);

  // The rows of the entries of descriptor i begin one behind the other.
  predicate list_rises{L}(int *query_begin, struct cp_plan p, integer i) =
    \forall integer x, y; p.shared[i].begin <= x <= y <= p.shared[i].end ==>
      entry_row(query_begin, p, x) <= entry_row(query_begin, p, y);
*/

/* A list whose sequences differ has those below b + 1 when it has those below b, and at most one
 * time sequence b. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires list: 0 <= i < CP_MAX_CHUNKS && runs_sizes(*plan) && runs_served(*plan, i);
     requires ranges: ranges_ok(*attention, *plan);
     requires sequence: 0 <= b < plan->n_sequences;
     assigns \nothing;
     ensures more: rows_between(attention->query_begin, *plan, b + 1, plan->shared[i].begin,
         plan->shared[i].end) <=
       rows_between(attention->query_begin, *plan, b, plan->shared[i].begin,
         plan->shared[i].end) +
       first_row(attention->query_begin, b + 1) - first_row(attention->query_begin, b); @/
  void one_sequence_more(const struct cp_attention *attention, const struct cp_plan *plan, int i,
                         int b) {
    int begin = plan->shared[i].begin;
    /@ loop invariant at: begin <= at <= plan->shared[i].end;
       loop invariant none: (\forall integer x; begin <= x < at ==> plan->served[x] != b) ==>
         rows_between(attention->query_begin, *plan, b + 1, begin, at) ==
           rows_between(attention->query_begin, *plan, b, begin, at);
       loop invariant one: rows_between(attention->query_begin, *plan, b + 1, begin, at) <=
         rows_between(attention->query_begin, *plan, b, begin, at) +
         first_row(attention->query_begin, b + 1) - first_row(attention->query_begin, b);
       loop assigns at;
       loop variant plan->shared[i].end - at; @/
    for (int at = begin; at < plan->shared[i].end; at++) {
      /@ assert differ: plan->served[at] == b ==>
           \forall integer x; begin <= x < at ==> plan->served[x] != b; @/
      /@ assert below: plan->served[at] < b || plan->served[at] == b ||
           b + 1 <= plan->served[at]; @/
    }
  }
*/

/* So it has no more rows than all sequences. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires list: 0 <= i < CP_MAX_CHUNKS && runs_sizes(*plan) && runs_served(*plan, i);
     requires ranges: ranges_ok(*attention, *plan);
     assigns \nothing;
     ensures rises: list_rises(attention->query_begin, *plan, i);
     ensures countable: 0 <= covered_rows(attention->query_begin, *plan, i) <=
       first_row(attention->query_begin, plan->n_sequences) <= 0x7FFFFFFF; @/
  void list_is_countable(const struct cp_attention *attention, const struct cp_plan *plan, int i) {
    int begin = plan->shared[i].begin, end = plan->shared[i].end;
    /@ loop invariant at: begin <= at <= end;
       loop invariant none: rows_between(attention->query_begin, *plan, 0, begin, at) == 0;
       loop invariant rises: \forall integer x, y; begin <= x <= y <= at ==>
         entry_row(attention->query_begin, *plan, x) <= entry_row(attention->query_begin, *plan, y);
       loop assigns at;
       loop variant end - at; @/
    for (int at = begin; at < end; at++) {
      /@ assert next: entry_row(attention->query_begin, *plan, at) <=
           entry_row(attention->query_begin, *plan, at + 1); @/
    }
    /@ loop invariant b: 0 <= b <= plan->n_sequences;
       loop invariant countable: rows_between(attention->query_begin, *plan, b, begin, end) <=
         first_row(attention->query_begin, b);
       loop assigns b;
       loop variant plan->n_sequences - b; @/
    for (int b = 0; b < plan->n_sequences; b++) {
      one_sequence_more(attention, plan, i, b);
    }
    int all = attention->query_begin ? attention->query_begin[plan->n_sequences]
                                     : plan->n_sequences;
    /@ assert all: all == first_row(attention->query_begin, plan->n_sequences); @/
  }
*/

#endif

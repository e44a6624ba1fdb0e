/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-4: what is put, and where. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_PUT_H
#define CHUNKPROOF_LOGIC_BATCH_PUT_H

#include "proofs/logic/batch_valid.h"

/*@
  // No two of the first n spans have a position in common; spans that can be an item.
  predicate spans_all_apart{L}(struct cp_span *a, integer n) =
    \forall integer i, j; 0 <= j < i < n ==> spans_apart(a[j], a[i]);
  predicate spans_to_put{L}(struct cp_span *a, integer n) =
    1 <= n && spans_ok(a, n) && spans_all_apart(a, n);

  // Each of the first n numbers is that of an item; number i is the lowest that is not.
  predicate items_all_there(struct cp_batch b, integer n) =
    \forall integer i; 0 <= i < n ==> b.item[i].n_runs != 0;
  predicate number_is_free(struct cp_batch b, integer i) =
    items_all_there(b, i) && (i < b.n_items ==> b.item[i].n_runs == 0);
*/

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/decoder.c: the bytes of a workspace are those of its parts. The ghost function is a
 * lemma: its contract is the statement, its body the proof. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_DECODER_BYTES_H
#define CHUNKPROOF_LOGIC_DECODER_BYTES_H

#include "proofs/logic/layers.h"

/*@ ghost
  /@ requires sizes: 1 <= n_new && 0 <= a <= 0x7FFFFFFF && 0 <= b <= 0x7FFFFFFF &&
       0 <= c <= 0x7FFFFFFF && 0 <= d <= 0x7FFFFFFF;
     requires sum: sum == 16 * (a + b + c + d);
     assigns \nothing;
     ensures product: sum * n_new == row_at(sum, n_new);
     ensures parts: row_at(sum, n_new) == 16 * (row_at(n_new, a) + row_at(n_new, b) +
       row_at(n_new, c) + row_at(n_new, d)); @/
  void parts_of_token(int n_new, size_t a, size_t b, size_t c, size_t d, size_t sum) {
    /@ assert a: row_at(n_new, a) == n_new * a; @/
    /@ assert b: row_at(n_new, b) == n_new * b; @/
    /@ assert c: row_at(n_new, c) == n_new * c; @/
    /@ assert d: row_at(n_new, d) == n_new * d; @/
    /@ assert all: row_at(sum, n_new) == 16 * (a + b + c + d) * n_new; @/
  }
*/

#endif

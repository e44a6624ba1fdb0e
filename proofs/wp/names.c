/* SPDX-License-Identifier: Apache-2.0 */
/* The lemmas of the headers and of proofs/logic/, which other proofs use. Each is proved here. */
#include "chunkproof/chunkproof.h"

#ifdef __FRAMAC__
#include "proofs/logic/softmax_rescale.h"
#include "proofs/logic/tolerance_internal.h"
#include "proofs/logic/tree_append.h"
#include "ref/tolerance_row.h"
#endif

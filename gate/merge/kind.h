/* SPDX-License-Identifier: Apache-2.0 */
/* What a file of --state has of a kernel that merges (gate/search/state.h). */
#ifndef CHUNKPROOF_GATE_MERGE_KIND_H
#define CHUNKPROOF_GATE_MERGE_KIND_H

#include "gate/merge/result.h"
#include "gate/search/kind.h"

/* Its result is a struct merge_result. */
extern const struct gate_kind merge_kind;

#endif

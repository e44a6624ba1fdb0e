/* SPDX-License-Identifier: Apache-2.0 */
/* Everything: include this one. The order of calls, of which tests/example/serving.c is an example, and serving_fast.c
 * of those of opt_tree.h:
 *
 *   cp_tree_new(), cp_plan_new(), cp_kv_new()
 *   for each prompt   cp_tree_join(), then cp_kv_write() for its tokens n_shared, n_shared + 1, ...:
 *                     token p is in slot p % c of tree->sequence[s].chunk[p / c]
 *   cp_plan_build(), cp_attend() with stamp = tree->stamp
 *   each iteration    cp_tree_append_each(), cp_kv_write() for the new tokens, cp_plan_update(),
 *                     cp_attend()
 *   cp_tree_leave() when a sequence is finished; cp_tree_fork(), then cp_kv_copy() as it says
 *
 * With the tree of opt_tree.h it is the same, but that sequences have handles: token p of s is in slot p % c of chunk
 * cp_opt_tree_path(tree, s)[p / c]; before each iteration cp_opt_plan_update(), and cp_opt_plan_export() to a plan of
 * cp_plan_new() for cp_attend() or cp_opt_attend(), whose rows go by index.
 *
 * There is no global state. Threads may use different trees at the same time; for one tree, its plan,
 * K and V, at most one thread writes, and none reads meanwhile. */
#ifndef CHUNKPROOF_CHUNKPROOF_H
#define CHUNKPROOF_CHUNKPROOF_H

#include "chunkproof/attend.h"
#include "chunkproof/attention.h"
#include "chunkproof/kv.h"
#include "chunkproof/limits.h"
#include "chunkproof/memory.h"
#include "chunkproof/number.h"
#include "chunkproof/opt.h"
#include "chunkproof/opt_plan.h"
#include "chunkproof/opt_tree.h"
#include "chunkproof/plan.h"
#include "chunkproof/pool.h"
#include "chunkproof/softmax.h"
#include "chunkproof/status.h"
#include "chunkproof/tolerance.h"
#include "chunkproof/tolerance_parts.h"
#include "chunkproof/tree.h"
#include "chunkproof/two_phase.h"
#include "chunkproof/version.h"

#endif

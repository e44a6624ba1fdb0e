/* SPDX-License-Identifier: Apache-2.0 */
/* The whole library: include this header. The order of calls (tests/example/serving.c is a complete
 * program, tests/example/serving_fast.c one with the tree of opt_tree.h):
 *
 *   cp_tree_new(), cp_plan_new(), cp_kv_new()
 *   for each prompt   cp_tree_join(), then cp_kv_write() for tokens n_shared, n_shared + 1, ...:
 *                     token p is in slot p % c of tree->sequence[s].chunk[p / c]
 *   cp_plan_build(), cp_attend() with stamp = tree->stamp
 *   each iteration    cp_tree_append_each(), cp_kv_write() for the new tokens, cp_plan_update(),
 *                     cp_attend()
 *   cp_tree_leave() when a sequence is finished; after cp_tree_fork(), the cp_kv_copy() that it
 *                     asks for
  * With the tree of opt_tree.h the order is the same, except for handles and plans:
 *   - Sequences have handles. Token p of sequence s is in slot p % c of chunk number p / c of
 *     cp_opt_tree_path(tree, s).
 *   - Before each iteration call cp_opt_plan_update(), then cp_opt_plan_export() to a plan made by
 *     cp_plan_new(). cp_attend() and cp_opt_attend() take that plan; its sequences go by index.
 *
 * Prompts that have modules in common are no paths of a tree: see batch.h, and
 * tests/example/serving_modules.c.
 *
 * There is no global state. Threads may use different trees at the same time. While a thread writes
 * to one tree, its plan, K or V, no other thread may read or write them. */
#ifndef CHUNKPROOF_CHUNKPROOF_H
#define CHUNKPROOF_CHUNKPROOF_H

#include "chunkproof/attend.h"
#include "chunkproof/attention.h"
#include "chunkproof/batch.h"
#include "chunkproof/decoder.h"
#include "chunkproof/kv.h"
#include "chunkproof/layers.h"
#include "chunkproof/limits.h"
#include "chunkproof/memory.h"
#include "chunkproof/merging.h"
#include "chunkproof/number.h"
#include "chunkproof/number8.h"
#include "chunkproof/opt.h"
#include "chunkproof/opt_decoder.h"
#include "chunkproof/opt_plan.h"
#include "chunkproof/opt_tree.h"
#include "chunkproof/plan.h"
#include "chunkproof/pool.h"
#include "chunkproof/schema.h"
#include "chunkproof/score_shift.h"
#include "chunkproof/softmax.h"
#include "chunkproof/status.h"
#include "chunkproof/tolerance.h"
#include "chunkproof/tolerance_parts.h"
#include "chunkproof/tree.h"
#include "chunkproof/two_phase.h"
#include "chunkproof/version.h"

#endif

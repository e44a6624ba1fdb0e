/* SPDX-License-Identifier: Apache-2.0 */
/* A tree is valid when each clause of spec/tree.md holds: a ghost function, so that each clause is
 * proved by itself. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_OK_H
#define CHUNKPROOF_LOGIC_TREE_OK_H

#include "chunkproof/tree.h"

/*@ ghost
  /@ requires valid: \valid_read(tree);
     requires pool: pool_ok(tree->pool);
     requires sizes: tree_sizes(*tree);
     requires ranges: tree_ranges(*tree);
     requires private: tree_private(*tree);
     requires paths: tree_paths(*tree);
     requires cover: tree_cover(*tree);
     requires nested: tree_nested(*tree);
     requires salts: tree_salts(*tree);
     assigns \nothing;
     ensures ok: tree_ok(*tree); @/
  void tree_is_ok(const struct cp_tree *tree) {}
*/

#endif

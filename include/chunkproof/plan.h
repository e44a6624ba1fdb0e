/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: the tree, or a batch of prompts with modules (batch.h), as the kernels need it, as
 * plain data (spec/plan.md, spec/runs.md). The papers call it the context (C, i, j).
 *
 * shared[] lists each shared chunk once, with the sequences that it covers, parents before
 * children. They are a range of served[], which for a tree is 0, 1, ..., b - 1. sequence[s] has the
 * whole path of sequence s, or all runs of a prompt, shared ones first. The chunk-first phase walks
 * shared[], the sequence-first phase walks sequence[s].run[n_shared .. n_chunks), and a paged
 * kernel walks sequence[s].run[0 .. n_chunks). */
#ifndef CHUNKPROOF_PLAN_H
#define CHUNKPROOF_PLAN_H

#include "chunkproof/limits.h"
#include "chunkproof/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (C, i, j): chunk C holds n_tokens keys that the sequences served[begin .. end) of the plan attend
 * to (RUNS-2); its first key has position `position` in each of them. end - begin >= 2, and in the
 * plan of a tree the chunk is full (PLAN-1). */
struct cp_shared_chunk {
    int chunk;
    int begin;
    int end;
    int n_tokens;
    int position;
};

/* A run (RUNS-1): the slots 0 .. n_tokens-1 of the chunk hold the keys at the positions
 * position .. position + n_tokens - 1 of a sequence. Slots behind them are not read. */
struct cp_run {
    int chunk;
    int n_tokens;
    int position;
};

/* One sequence. Of a prompt, its runs are in any order (RUNS-1, RUNS-3), and n_tokens is the sum of
 * theirs. Of a tree (PLAN-2), run k is that of chunk k of its path, with the keys at the positions
 * k*c .. min((k+1)*c, n_tokens)-1 (PLAN-7). The chunks of the first n_shared runs are in shared[],
 * the others are this sequence's own. */
struct cp_plan_sequence {
    int n_tokens;
    int n_chunks;
    int n_shared;
    struct cp_run run[CP_MAX_DEPTH];
};

struct cp_plan {
    struct cp_stamp stamp; /* the tree's, when the plan was made or last updated */
    int capacity;          /* chunks in the pool: every chunk index is below */
    int chunk_size;        /* c */
    int n_sequences;       /* b */
    int n_shared;
    int n_served;
    int served[CP_MAX_SERVED]; /* sequences, of which each descriptor has a range (RUNS-2) */
    struct cp_shared_chunk shared[CP_MAX_CHUNKS];
    struct cp_plan_sequence sequence[CP_MAX_SEQUENCES];
};

#ifdef __FRAMAC__
#include "proofs/logic/plan.h"
#include "proofs/logic/plan_of_runs.h"
#endif

/* Makes an empty plan in memory of its own, of which only the pages in use are touched. Its stamp
 * equals that of no tree. On CP_OK the caller owns *plan and gives it to cp_plan_free(); otherwise
 * *plan is NULL. Fails with CP_ERROR_NO_MEMORY. */
int cp_plan_new(struct cp_plan **plan);
void cp_plan_free(struct cp_plan *plan);

/* Makes the plan of a valid tree (PLAN-1 .. PLAN-4). */
/*@
  requires valid: \valid(plan) && \valid_read(tree);
  requires separated: \separated(plan, tree);
  requires ok: tree_ok(*tree);
  assigns *plan;
  ensures of_tree: plan_of(*plan, *tree);
  ensures ok: plan_ok(*plan);
  ensures other_sequences: \forall integer s; tree->n_sequences <= s < CP_MAX_SEQUENCES ==>
    plan->sequence[s] == \old(plan->sequence[s]);
  ensures other_descriptors: \forall integer i; plan->n_shared <= i < CP_MAX_CHUNKS ==>
    plan->shared[i] == \old(plan->shared[i]);
  ensures other_entries: \forall integer at; plan->n_served <= at < CP_MAX_SERVED ==>
    plan->served[at] == \old(plan->served[at]);
*/
void cp_plan_build(struct cp_plan *plan, const struct cp_tree *tree);

/* Brings a plan of this tree up to date (PLAN-6). Call it before each decoding iteration. Returns 1
 * when it rebuilt the plan because a path or a range had changed. Returns 0 when it refreshed only
 * the lengths: a copy on a device stays valid, except for n_tokens of each sequence and of its last
 * run. Between equal epochs of a tree no path and no range changes (PLAN-5). */
/*@
  requires valid: \valid(plan) && \valid_read(tree);
  requires separated: \separated(plan, tree);
  requires ok: tree_ok(*tree);
  requires epoch: same_epoch(plan->stamp, tree->stamp) ==> plan_paths_of(*plan, *tree);
  assigns *plan;
  ensures of_tree: plan_of(*plan, *tree);
  ensures ok: plan_ok(*plan);
  ensures plan_6_rebuilt: !same_epoch(\old(plan->stamp), tree->stamp) ==> \result == 1;
  ensures plan_6_refreshed: same_epoch(\old(plan->stamp), tree->stamp) ==> \result == 0;
  ensures plan_6_kept: same_epoch(\old(plan->stamp), tree->stamp) ==>
    plan_refreshed(\old(*plan), *plan);
*/
int cp_plan_update(struct cp_plan *plan, const struct cp_tree *tree);

/* 1 when the plan describes the tree as it is now, 0 when it is stale (PLAN-5). */
/*@
  requires valid: \valid_read(plan);
  assigns \nothing;
  ensures result: \result == 1 || \result == 0;
  ensures current: \result == 1 <==> same_stamp(plan->stamp, stamp);
*/
int cp_plan_is_current(const struct cp_plan *plan, struct cp_stamp stamp);

/* Returns NULL when the plan may be that of a tree, else the number of the first clause that it
 * breaks. Takes any content. Needs no tree. Linear in the plan. */
/*@
  requires valid: \valid_read(plan);
  assigns \result \from *plan;
  ensures valid: \result == \null <==> plan_ok(*plan);
*/
const char *cp_plan_check(const struct cp_plan *plan);

/* 1 when cp_plan_check() finds nothing, else 0. */
/*@
  requires valid: \valid_read(plan);
  assigns \nothing;
  ensures valid: \result != 0 <==> plan_ok(*plan);
*/
int cp_plan_is_valid(const struct cp_plan *plan);

/* Returns NULL for a plan of runs (RUNS-1 to RUNS-3), which the plan of a tree always is (RUNS-6),
 * else the number of the first clause that it breaks. Takes any content. Linear in the plan where
 * the positions of a sequence rise; a run that stands before others is compared with these. */
/*@
  requires valid: \valid_read(plan);
  assigns \result \from *plan;
  ensures valid: \result == \null <==> runs_ok(*plan);
*/
const char *cp_plan_check_runs(const struct cp_plan *plan);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where the keys of a problem lie for the kernel: in blocks, which are the chunks of its plan,
 * pages of their own, or single keys where these are ragged (CONV-11). */
#ifndef CHUNKPROOF_GATE_CASE_PAGES_H
#define CHUNKPROOF_GATE_CASE_PAGES_H

#include "gate/case/problem.h"

/* Chooses a size of pages for a recipe, where the kernel takes any. */
void gate_recipe_pages(struct gate_recipe *recipe, const struct cp_kernel_layout *layout);

/* The fields that follow from the recipe and the kernel, without lists. */
struct gate_pages gate_pages_of(const struct gate_recipe *recipe, const struct cp_kernel *kernel);

/* Gives the keys of a problem with a plan their pages, which are scattered over the pool. Nothing
 * is done where pages are chunks. 0, or -1: no memory. */
int gate_pages_new(struct gate_problem *problem);
void gate_pages_free(struct gate_pages *g);

/* How wide the table is that the kernel gets: as wide as the longest sequence has pages, or one
 * more. */
int gate_page_table_width(const struct gate_problem *problem);

/* Brings the lists up to date after sequences have grown. */
void gate_pages_grow(struct gate_problem *problem);

/* The pages of a problem that has one sequence of `whole`: the same ones of the same pool, or
 * ragged keys from row 0 on. 0, or -1: no memory. */
int gate_pages_part(struct gate_problem *part, const struct gate_problem *whole, int sequence);

/* Copies the pages of a problem, whose lists `to` has. 0, or -1: no memory. */
int gate_pages_copy(struct gate_problem *to, const struct gate_problem *problem);

/* Blocks that have numbers here, and slots of each. */
int gate_blocks(const struct gate_problem *problem);
int gate_block_size(const struct gate_problem *problem);

/* The chunk and the slot of it that a block's slot is: chunk -1: no key is there. */
struct gate_slot {
    int chunk, slot;
};
struct gate_slot gate_slot_of(const struct gate_problem *problem, int block, int slot);

/* Which key of K and V, (chunk h_kv + head) c + slot, is in a head and slot of a block; -1: none
 * is. */
long long gate_key_in(const struct gate_problem *problem, int block, int head, int slot);

/* Turns a problem into one whose chunks are its pages, which is then no case of the gate: the lists
 * of runs, and scales of tokens, are those of pages, none of which is in a descriptor. The numbers
 * are left alone, and no longer fit. Where pages are chunks nothing changes. 0, or -1: no
 * memory. */
int gate_pages_view(struct gate_problem *problem);

#endif

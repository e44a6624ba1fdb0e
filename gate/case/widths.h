/* SPDX-License-Identifier: Apache-2.0 */
/* Values that have another width than keys, or that are a part of them (CONV-13). */
#ifndef CHUNKPROOF_GATE_CASE_WIDTHS_H
#define CHUNKPROOF_GATE_CASE_WIDTHS_H

#include "gate/case/problem.h"

/* Gives a recipe widths of keys and values, if the kernel takes any, and sizes of latent attention,
 * if its values are in its keys. `work`: as of gate_recipe_make(). */
void gate_recipe_widths(struct gate_recipe *recipe, const struct cp_kernel *kernel, long long work,
                        const struct gate_shape *shape);

/* The numbers of a value in a case of the kernel. */
int gate_value_dim(const struct gate_recipe *recipe, const struct cp_kernel *kernel);

/* 1: a value is the first numbers of its key. */
int gate_is_in_keys(const struct gate_problem *problem);

/* 1: its keys may have any numbers where a value is. A scale that holds other numbers of a key does
 * not hold subnormal ones beside them. */
int gate_has_its_values(const struct gate_problem *problem);

#endif

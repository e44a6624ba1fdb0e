/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/kind.h"

#include <stdio.h>
#include <string.h>

#include "gate/search/result.h"
#include "gate/search/sane.h"

static void declare(char line[GATE_DECLARED], const struct runner *runner) {
    const struct cp_kernel *k = runner_kernel(runner);
    const struct cp_kernel_class *a = &k->arithmetic;
    const struct cp_kernel_conventions *c = &k->conventions;
    const struct cp_kernel_layout *l = &k->layout;
    (void)snprintf(
        line, GATE_DECLARED,
        "%d %d %d %d %d %d %d %d %d %d %d %d %d %d, %d %d %d %d %d %d %d %d %d, %d %d %d %a %d "
        "%d %d %d %d %d, %d %d %d %d %d %d "
        "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %a %a %a %a %a %a %a %d",
        k->q_type, k->kv_type, k->out_type, k->lse_type, k->memory, k->plans, k->keys, k->pairs,
        k->widths, k->masks, k->scores, k->cache.k, k->cache.v, k->cache.scales, l->pages,
        l->page_size, l->page_unit, l->order, l->gaps, l->tensors, l->k_pack, l->v_pack,
        l->scale_order, c->lse_base, c->empty_out, c->empty_lse, c->empty_value, c->never,
        c->invariant, c->window, c->cap, c->bias, c->sink, a->score, a->score_promotes,
        a->values_promotes, a->weights, a->rotated, a->scales, a->k_dequantised, a->v_dequantised,
        a->values, a->partials, a->rounded_sum, a->divides, a->part_lse, a->n_parts, a->part_keys,
        a->normalises, a->factors, a->in_bits, a->truncates, a->flushes, a->exp_error,
        a->tanh_error, a->tanh_absolute, a->divide_error, a->epsilon, a->above, a->behind, a->step);
}

/* --state and --rules do not go together, so that no result in a file has logs. */
static int is_sane(void *result, long long cases) {
    struct gate_result *r = result;
    memset(&r->each, 0, sizeof r->each);
    memset(&r->usual, 0, sizeof r->usual);
    return gate_result_is_sane(r, cases);
}

const struct gate_kind gate_attention = {"computes attention", sizeof(struct gate_result), declare,
                                         is_sane};

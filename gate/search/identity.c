/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/identity.h"

#include <stdio.h>
#include <string.h>

#include "gate/search/result.h"

static void declare(char line[512], const struct cp_kernel *k) {
    const struct cp_kernel_class *a = &k->arithmetic;
    const struct cp_kernel_conventions *c = &k->conventions;
    const struct cp_kernel_layout *l = &k->layout;
    (void)snprintf(
        line, 512,
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

int gate_identify(char identity[GATE_IDENTITY], const struct gate_options *o,
                  const struct runner *runner) {
    struct run_digests digests;
    char declared[512], error[RUN_TEXT];
    if (runner_digest(runner, &digests, error) != 0) {
        fprintf(stderr, "chunkproof gate: --state %s: %s\n", o->state, error);
        return -1;
    }
    declare(declared, runner_kernel(runner));
    memset(identity, 0, GATE_IDENTITY);
    (void)snprintf(
        identity, GATE_IDENTITY,
        "chunkproof %016llx, %zu\nkernel %016llx\ndeclaration %s\nlibraries %016llx\n"
        "options tier %s, seed %llu, cases %lld, h %d, h_kv %d, d %d, c %d, group %d, b %d, "
        "rows %d, keys %d, window %d, d_v %d, executor %d, seconds %a, memory %a\n",
        digests.program, sizeof(struct gate_result), digests.kernel, declared, digests.libraries,
        gate_tier_names[o->tier], o->seed, gate_cases(o), o->shape.n_heads, o->shape.n_kv_heads,
        o->shape.head_dim, o->shape.chunk_size, o->shape.group, o->shape.sequences, o->shape.rows,
        o->shape.keys, o->shape.window, o->shape.value_dim, runner_is_simulated(runner), o->seconds,
        o->memory);
    return 0;
}

void gate_identity_differs(const char *one, const char *other, char word[GATE_IDENTITY]) {
    while (*one != '\0') {
        size_t length = strcspn(one, "\n");
        if (strcspn(other, "\n") != length || strncmp(one, other, length) != 0) {
            break;
        }
        one += length + (one[length] == '\n');
        other += length + (other[length] == '\n');
    }
    const char *from = *one != '\0' ? one : "options"; /* the other says more */
    (void)snprintf(word, GATE_IDENTITY, "%.*s", (int)strcspn(from, " \n"), from);
}

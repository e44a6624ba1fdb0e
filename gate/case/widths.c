/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/case/widths.h"

#include "cli/base/random.h"

#define ONE_HEAD  3 /* of latent attention all recipes but one in so many have one K/V head */
#define MOST_WORK 4 /* times as much as a recipe of other kernels */
#define FEW_OPS   3

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

struct widths {
    int d, d_v;
};

/* Those that models have, and those that a kernel's vectors do not divide. */
static const struct widths any_widths[] = {
    {192, 128}, {64, 128}, {576, 512}, {128, 64}, {33, 17}, {40, 72},   {72, 8},  {64, 320},
    {17, 50},   {16, 1},   {96, 64},   {1, 16},   {80, 80}, {256, 128}, {65, 72}, {16, 33}};
static const struct widths of_keys[] = {{576, 512}, {192, 128}, {576, 512}, {96, 64}, {40, 32},
                                        {33, 17},   {80, 64},   {320, 256}, {64, 64}, {288, 256},
                                        {24, 8},    {17, 16},   {200, 100}};
static const int latent_heads[] = {16, 4, 1, 20, 2, 8, 64, 128, 16, 32};

/* About how many products q_i k_i a recipe has. */
static double work_of(const struct gate_recipe *r) {
    static const int of_kind[GATE_QUERIES] = {1, 2, 8, 20};
    double keys = 0.0;
    for (int i = 0; i < r->n_ops; i++) {
        keys += r->op[i].tokens + r->op[i].own;
    }
    return keys * r->n_heads * r->head_dim * (r->rows > 0 ? r->rows : of_kind[r->queries]);
}

static void shorten(struct gate_recipe *r) {
    for (int i = 0; i < r->n_ops; i++) {
        r->op[i].tokens = (r->op[i].tokens + 1) / 2;
        r->op[i].own = (r->op[i].own + 1) / 2;
    }
}

/* Reduces what nobody asked for until there is not much more to compute than before. */
static void reduce(struct gate_recipe *r, double most, const struct gate_shape *shape) {
    int sizes = shape->keys == 0 && shape->rows == 0 && shape->sequences == 0;
    while (sizes && work_of(r) > most) {
        if (r->queries != GATE_DECODE) {
            r->queries = GATE_DECODE;
        } else if (r->n_ops > FEW_OPS) {
            r->n_ops = FEW_OPS;
        } else if (r->op[0].own > 2 * r->chunk_size + 2) {
            shorten(r);
        } else {
            return;
        }
    }
}

void gate_recipe_widths(struct gate_recipe *r, const struct cp_kernel *kernel, long long work,
                        const struct gate_shape *shape) {
    struct prng random = {r->seed ^ 0x31D7455ULL};
    int in_keys = kernel->layout.tensors == CP_TENSORS_KEYS;
    struct widths any = in_keys ? of_keys[prng_below(&random, COUNT_OF(of_keys))]
                                : any_widths[prng_below(&random, COUNT_OF(any_widths))];
    int one_head = prng_below(&random, ONE_HEAD) != 0;
    int heads = latent_heads[prng_below(&random, COUNT_OF(latent_heads))];
    double before = work_of(r);
    r->value_dim = 0;
    if (kernel->widths == CP_WIDTHS_ANY) {
        r->head_dim = shape->head_dim > 0 ? shape->head_dim : any.d;
        r->value_dim = shape->value_dim > 0 ? shape->value_dim : any.d_v;
        r->value_dim = in_keys && r->value_dim > r->head_dim ? r->head_dim : r->value_dim;
    }
    if (in_keys && one_head && shape->n_heads == 0 && shape->n_kv_heads == 0 && shape->group == 0) {
        r->n_kv_heads = 1;
        r->n_heads = heads;
    }
    if (work_of(r) > before) {
        reduce(r, before > (double)work ? before : MOST_WORK * (double)work, shape);
    }
}

int gate_value_dim(const struct gate_recipe *r, const struct cp_kernel *kernel) {
    int any = kernel->widths == CP_WIDTHS_ANY && r->value_dim > 0 ? r->value_dim : r->head_dim;
    return kernel->layout.tensors == CP_TENSORS_KEYS && any > r->head_dim ? r->head_dim : any;
}

int gate_is_in_keys(const struct gate_problem *p) {
    return p->layout.tensors == CP_TENSORS_KEYS;
}

int gate_has_its_values(const struct gate_problem *p) {
    enum gate_values values = p->recipe.values;
    return !(values == GATE_SUBNORMAL && p->cache.k != CP_CACHE_PLAIN) && values != GATE_NORMAL &&
           values != GATE_MASSIVE && values != GATE_ONE_HOT && values != GATE_SHIFTED &&
           values != GATE_EXTREME;
}

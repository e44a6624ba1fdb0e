/* SPDX-License-Identifier: Apache-2.0 */
/* Cases like the one that is explained. In a case as small as can be many mistakes give the same:
 * an element of one, a chunk of one key, one head. With other numbers, more keys and larger sizes
 * they differ. In all of them numbers of nobody lie where no key is. */
#include "gate/explain/explain.h"

#define AS_IT_IS  GATE_VALUES
#define NUMBERS   32           /* that are wrong are enough */
#define WIDE      72           /* elements, at least */
#define ANY_ORDER (1ULL << 14) /* of a seed: lists of runs are in order, or in any (modules.c) */
#define FEW_SLOTS 6            /* of a chunk: fewer are too few to tell others of the same */

static const struct like {
    enum gate_values values;
    int chunks, keys; /* that each prompt has more */
    int is_wider;
} likes[] = {
    {AS_IT_IS, 0, 0, 0}, /* needed where the case itself has something else where no key is, */
    {AS_IT_IS, 0, 0, 0}, /* and where few numbers are wrong */
    {GATE_NORMAL, 0, 0, 0}, {GATE_NORMAL, 2, 1, 0}, {GATE_RISING, 4, 10, 0}, {AS_IT_IS, 3, 21, 0},
    {GATE_COUNT, 1, 3, 0},  {GATE_NORMAL, 5, 7, 1}, {GATE_COUNT, 5, 77, 1},
};

#define LIKES ((int)(sizeof likes / sizeof likes[0]))

static int is_needed(const struct explain *x, int which) {
    int wrong = 0;
    for (int i = 0; i < x->n_runs; i++) {
        wrong += x->run[i].has_number ? x->run[i].wrong : 0;
    }
    return which == 0 ? x->recipe->padding != GATE_STALE : which > 1 || wrong < NUMBERS;
}

/* So many tokens more for each operation of a kind that brings some, and for each prompt. Returns
 * how many there are. */
static int lengthen_all(struct gate_recipe *recipe, enum gate_op_kind kind, int more) {
    int n = 0;
    for (int i = 0; i < recipe->n_ops; i++) {
        struct gate_op *op = &recipe->op[i];
        int *tokens = kind == GATE_APPEND ? &op->tokens : &op->own;
        if (op->kind == kind && (*tokens > 0 || kind == GATE_PROMPT)) {
            *tokens += more;
            n++;
        }
    }
    return n;
}

/* Longer prompts: what begins or ends somewhere shows where. Where no prompt has a token, more are
 * appended; and where none are, one more sequence joins. */
static void lengthen(struct gate_recipe *recipe, int more) {
    enum gate_op_kind kind = recipe->n_modules > 0 ? GATE_PROMPT : GATE_JOIN;
    if (lengthen_all(recipe, kind, more) == 0 && lengthen_all(recipe, GATE_APPEND, more) == 0 &&
        recipe->n_ops < GATE_MOST_OPS) {
        recipe->op[recipe->n_ops++] = (struct gate_op){kind, 0, 0, 1 + more};
    }
}

/* One more prompt that has all modules, so that descriptors serve some. */
static void add_prompt(struct gate_recipe *recipe) {
    if (recipe->n_modules > 0 && recipe->n_ops < GATE_MOST_OPS) {
        int all = (1 << recipe->n_modules) - 1;
        recipe->op[recipe->n_ops++] = (struct gate_op){GATE_PROMPT, all, 0, 3};
    }
}

/* Longer modules. What stands behind one moves on, and what stands at one place still does. */
static void lengthen_modules(struct gate_recipe *recipe, int more) {
    int before[GATE_MOST_MODULES] = {0};
    for (int i = 0; i < recipe->n_modules; i++) {
        for (int other = 0; other < recipe->n_modules; other++) {
            before[i] += recipe->module[other].position < recipe->module[i].position;
        }
    }
    for (int i = 0; i < recipe->n_modules; i++) {
        recipe->module[i].tokens += more;
        recipe->module[i].position += before[i] * more;
    }
}

/* Larger sizes; and more of what is shared, too. */
static void widen(struct gate_recipe *recipe) {
    recipe->head_dim = recipe->head_dim < WIDE ? WIDE : recipe->head_dim;
    recipe->chunk_size = recipe->chunk_size < FEW_SLOTS ? FEW_SLOTS : recipe->chunk_size;
    if (recipe->n_heads == 1) {
        recipe->n_kv_heads = 2;
        recipe->n_heads = 6;
    }
    for (int i = 0; i < recipe->n_ops; i++) {
        struct gate_op *op = &recipe->op[i];
        if (op->kind == GATE_JOIN && op->tokens > 0) {
            op->tokens += 3 * recipe->chunk_size;
        }
    }
    lengthen_modules(recipe, 3 * recipe->chunk_size);
    add_prompt(recipe);
}

int explain_make_like(const struct explain *x, int which, struct gate_recipe *like) {
    if (which >= LIKES) {
        return -1;
    }
    const struct like *l = &likes[which];
    *like = *x->recipe;
    like->renewed = 0;
    like->padding = GATE_STALE;
    like->seed += 2ULL * (unsigned)which;
    like->seed ^= like->n_modules > 0 && which % 2 != 0 ? ANY_ORDER : 0;
    like->values = l->values != AS_IT_IS ? l->values : like->values;
    if (l->is_wider) {
        widen(like);
    }
    if (l->chunks > 0) {
        lengthen(like, l->chunks * like->chunk_size + l->keys);
    }
    return is_needed(x, which);
}

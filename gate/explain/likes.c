/* SPDX-License-Identifier: Apache-2.0 */
/* Cases like the one that is explained. In a case as small as can be many mistakes are the same;
 * with other numbers, more keys and larger sizes they differ. Something else lies where no key
 * is. */
#include "gate/explain/explain.h"

#define NUMBERS   32 /* that are wrong are enough: then no more cases are run */
#define WIDE      72 /* elements, at least, and */
#define FEW_SLOTS 6  /* of a chunk, where others of the same are too few to tell */

static int wrong_numbers(const struct explain *x) {
    int n = 0;
    for (int i = 0; i < x->n_runs; i++) {
        n += x->run[i].has_number ? x->run[i].wrong : 0;
    }
    return n;
}

/* Operations of a kind that bring tokens, by so many more. Returns how many there are. */
static int lengthen_all(struct gate_recipe *recipe, enum gate_op_kind kind, int more) {
    int n = 0;
    for (int i = 0; i < recipe->n_ops; i++) {
        struct gate_op *op = &recipe->op[i];
        int *tokens = kind == GATE_JOIN ? &op->own : &op->tokens;
        if (op->kind == kind && *tokens > 0) {
            *tokens += more;
            n++;
        }
    }
    return n;
}

static int has_join(const struct gate_recipe *recipe) {
    for (int i = 0; i < recipe->n_ops; i++) {
        if (recipe->op[i].kind == GATE_JOIN) {
            return 1;
        }
    }
    return 0;
}

/* Longer prompts: what begins or ends somewhere shows where. Where no prompt has a token, more are
 * appended; and where none is, the sequence of one token that a tree without a sequence gets is
 * made longer. */
static void lengthen(struct gate_recipe *recipe, int chunks, int keys) {
    int more = chunks * recipe->chunk_size + keys;
    if (lengthen_all(recipe, GATE_JOIN, more) > 0 || lengthen_all(recipe, GATE_APPEND, more) > 0 ||
        has_join(recipe)) {
        return;
    }
    recipe->n_ops = 1;
    recipe->op[0] = (struct gate_op){GATE_JOIN, 0, 0, 1 + more};
}

/* What is shared, too: several chunks of it. */
static void share_more(struct gate_recipe *recipe) {
    for (int i = 0; i < recipe->n_ops; i++) {
        struct gate_op *op = &recipe->op[i];
        if (op->kind == GATE_JOIN && op->tokens > 0) {
            op->tokens += 3 * recipe->chunk_size;
        }
    }
}

/* In a case as small as can be many mistakes are the same: an element of one, a chunk of one key,
 * one head. */
static int widen(struct gate_recipe *recipe, int keys) {
    recipe->head_dim = recipe->head_dim < WIDE ? WIDE : recipe->head_dim;
    recipe->chunk_size = recipe->chunk_size < FEW_SLOTS ? FEW_SLOTS : recipe->chunk_size;
    if (recipe->n_heads == 1) {
        recipe->n_kv_heads = 2;
        recipe->n_heads = 6;
    }
    lengthen(recipe, 5, keys);
    share_more(recipe);
    return 1;
}

int explain_make_like(const struct explain *x, const struct gate_recipe *recipe, int which,
                      struct gate_recipe *like) {
    *like = *recipe;
    like->renewed = 0;
    like->padding = GATE_STALE;
    like->seed += 2ULL * (unsigned)which;
    switch (which) {
    case 0:
        return recipe->padding != GATE_STALE;
    case 1:
        return wrong_numbers(x) < NUMBERS;
    case 2:
        like->values = GATE_NORMAL;
        return 1;
    case 3:
        like->values = GATE_NORMAL;
        lengthen(like, 2, 1);
        return 1;
    case 4:
        like->values = GATE_RISING;
        lengthen(like, 4, 10);
        return 1;
    case 5:
        lengthen(like, 3, 21);
        return 1;
    case 6:
        like->values = GATE_COUNT;
        lengthen(like, 1, 3);
        return 1;
    case 7:
        like->values = GATE_NORMAL;
        return widen(like, 7);
    case 8:
        like->values = GATE_COUNT;
        return widen(like, 77);
    default:
        return -1;
    }
}

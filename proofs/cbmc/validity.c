/* SPDX-License-Identifier: Apache-2.0 */
/* cp_tree_check() on any content: it reads nothing out of bounds, and it says yes exactly when the
 * predicates of the headers hold, which it decides by counting. */
#include "model.h"

#include <stddef.h>

static int used(const struct cp_pool *pool, int x) {
    return 0 <= x && x < pool->capacity && pool->n_free <= pool->pos[x];
}

static int pool_ok(const struct cp_pool *pool) {
    if (pool->capacity < 1 || pool->capacity > CP_MAX_CHUNKS || pool->n_free < 0 ||
        pool->n_free > pool->capacity) {
        return 0;
    }
    int ok = 1;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        if (x < pool->capacity) {
            ok = ok && 0 <= pool->perm[x] && pool->perm[x] < pool->capacity && 0 <= pool->pos[x] &&
                 pool->pos[x] < pool->capacity && pool->pos[pool->perm[x]] == x &&
                 pool->perm[pool->pos[x]] == x;
        }
    }
    return ok;
}

static int sizes_ok(const struct cp_tree *t) {
    int ok = 1 <= t->chunk_size && t->chunk_size <= CP_MAX_CHUNK_SIZE && 0 <= t->hash_bits &&
             t->hash_bits <= 64 && 0 <= t->n_sequences && t->n_sequences <= CP_MAX_SEQUENCES;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        ok = ok && (s >= t->n_sequences ||
                    (0 <= t->sequence[s].n_chunks && t->sequence[s].n_chunks <= CP_MAX_DEPTH));
    }
    return ok;
}

/* TREE-1 and TREE-2 for chunk x. */
static int chunk_ok(const struct cp_tree *t, int x) {
    if (!(0 <= t->begin[x] && t->begin[x] < t->end[x] && t->end[x] <= t->n_sequences &&
          1 <= t->fill[x] && t->fill[x] <= t->chunk_size)) {
        return 0;
    }
    return t->fill[x] == t->chunk_size ||
           (t->end[x] == t->begin[x] + 1 && t->depth[x] == t->sequence[t->begin[x]].n_chunks - 1);
}

/* TREE-4 and TREE-14 for chunk x and sequence s in its range. */
static int owner_ok(const struct cp_tree *t, int x, int s) {
    return 0 <= t->depth[x] && t->depth[x] < t->sequence[s].n_chunks &&
           t->sequence[s].chunk[t->depth[x]] == x &&
           t->sequence[s].salt == t->sequence[t->begin[x]].salt;
}

/* TREE-3 for the k-th chunk of sequence s, and TREE-5 for it and the j-th. */
static int entry_ok(const struct cp_tree *t, int s, int k) {
    int x = t->sequence[s].chunk[k];
    return used(&t->pool, x) && t->depth[x] == k && t->begin[x] <= s && s < t->end[x];
}

static int nested_ok(const struct cp_tree *t, int s, int j, int k) {
    int outer = t->sequence[s].chunk[j];
    int inner = t->sequence[s].chunk[k];
    return t->begin[outer] <= t->begin[inner] && t->end[inner] <= t->end[outer];
}

static int tree_ok(const struct cp_tree *t) {
    if (!pool_ok(&t->pool) || !sizes_ok(t)) {
        return 0;
    }
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        if (used(&t->pool, x) && !chunk_ok(t, x)) {
            return 0;
        }
        for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
            if (used(&t->pool, x) && t->begin[x] <= s && s < t->end[x] && !owner_ok(t, x, s)) {
                return 0;
            }
        }
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            if (s < t->n_sequences && k < t->sequence[s].n_chunks && !entry_ok(t, s, k)) {
                return 0;
            }
        }
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            for (int j = 0; j <= k; j++) {
                if (s < t->n_sequences && k < t->sequence[s].n_chunks && !nested_ok(t, s, j, k)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

int main(void) {
    struct cp_tree tree;
    any_tree(&tree);
    const char *broken = cp_tree_check(&tree);
    int ok = tree_ok(&tree);
    CHECK("valid exactly when the predicates hold", (broken == NULL) == ok);
    REACH("valid and full", broken == NULL && tree.n_sequences == CP_MAX_SEQUENCES &&
                                tree.pool.n_free == 0 && tree.pool.capacity == CP_MAX_CHUNKS);
    REACH("POOL-1", broken != NULL && broken[0] == 'P' && broken[5] == '1');
    REACH("POOL-2", broken != NULL && broken[0] == 'P' && broken[5] == '2');
    REACH("TREE-1", broken != NULL && broken[0] == 'T' && broken[5] == '1' && broken[6] == 0);
    REACH("TREE-2", broken != NULL && broken[0] == 'T' && broken[5] == '2');
    REACH("TREE-3", broken != NULL && broken[0] == 'T' && broken[5] == '3');
    REACH("TREE-4", broken != NULL && broken[0] == 'T' && broken[5] == '4');
    REACH("TREE-5", broken != NULL && broken[0] == 'T' && broken[5] == '5');
    REACH("TREE-14", broken != NULL && broken[0] == 'T' && broken[5] == '1' && broken[6] == '4');
    return 0;
}

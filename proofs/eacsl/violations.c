/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a contract forbids. Each is named by the function and the clause that must stop it;
 * mem_access is what E-ACSL says of memory that is not there, before it comes to `valid`.
 *
 *     violations          the names
 *     violations NAME     does it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/softmax.h"
#include "chunkproof/status.h"
#include "chunkproof/tree.h"

#define D 2

static const char *const names[] = {
    "cp_pool_init.size",        "cp_pool_take.ok",          "cp_pool_release.used",
    "cp_pool_is_used.chunk",    "cp_pool_check.mem_access", "cp_tree_init.chunk_size",
    "cp_tree_length.sequence",  "cp_tree_token.k",          "cp_tree_join.tokens",
    "cp_tree_join.separated",   "cp_tree_append.ok",        "cp_tree_append_each.arguments",
    "cp_tree_leave.mem_access", "cp_tree_fork.separated",   "cp_tree_lookup.hashes",
    "cp_attn_reduce.apart",     "cp_attn_reduce.ok_part",   "cp_state_empty.valid",
};

static int is(const char *name, const char *other) {
    return strcmp(name, other) == 0;
}

static void violate_pool(const char *name) {
    struct cp_pool pool;
    cp_pool_init(&pool, is(name, "cp_pool_init.size") ? CP_MAX_CHUNKS + 1 : 3);
    int chunk = cp_pool_take(&pool);
    if (is(name, "cp_pool_take.ok")) {
        pool.perm[0] = pool.perm[1];
        cp_pool_take(&pool);
    } else if (is(name, "cp_pool_release.used")) {
        cp_pool_release(&pool, chunk);
        cp_pool_release(&pool, chunk);
    } else if (is(name, "cp_pool_is_used.chunk")) {
        cp_pool_is_used(&pool, 3);
    } else if (is(name, "cp_pool_check.mem_access")) {
        cp_pool_check(NULL);
    }
}

static void violate_tree(const char *name) {
    struct cp_tree *tree;
    struct cp_joined joined;
    struct cp_forked *forked;
    int token[3] = {1, 2, 3};
    unsigned long long hash[1] = {0};
    if (cp_tree_new(&tree, 4, 2, 0) != CP_OK ||
        cp_tree_join(tree, token, 3, 0, 1, NULL, &joined) != CP_OK) {
        exit(2);
    }
    if (is(name, "cp_tree_init.chunk_size")) {
        cp_tree_init(tree, 4, 0, 0, 1);
    } else if (is(name, "cp_tree_length.sequence")) {
        cp_tree_length(tree, 1);
    } else if (is(name, "cp_tree_token.k")) {
        cp_tree_token(tree, 0, 3);
    } else if (is(name, "cp_tree_join.tokens")) {
        cp_tree_join(tree, token, 4, 0, 2, NULL, &joined);
    } else if (is(name, "cp_tree_join.separated")) {
        cp_tree_join(tree, tree->tokens[0].token, 2, 0, 2, NULL, &joined);
    } else if (is(name, "cp_tree_append.ok")) {
        tree->sequence[0].n_chunks = 1;
        cp_tree_append(tree, 0, 1);
    } else if (is(name, "cp_tree_append_each.arguments")) {
        cp_tree_append_each(tree, 4, token, token);
    } else if (is(name, "cp_tree_leave.mem_access")) {
        cp_tree_free(tree);
        cp_tree_leave(tree, 0);
    } else if (is(name, "cp_tree_fork.separated")) {
        forked = (struct cp_forked *)&tree->begin[0];
        cp_tree_fork(tree, 0, 2, forked);
    } else if (is(name, "cp_tree_lookup.hashes")) {
        int prompt[4] = {1, 2, 3, 4};
        cp_tree_lookup(tree, prompt, 4, 0, hash);
    }
}

static void violate_softmax(const char *name) {
    struct cp_state state = {0.0, 0.0};
    struct cp_state part = {0.0, 0.0};
    double o[D] = {0.0, 0.0};
    double part_o[D] = {0.0, 0.0};
    if (is(name, "cp_attn_reduce.apart")) {
        cp_attn_reduce(&state, o, &part, o, D);
    } else if (is(name, "cp_attn_reduce.ok_part")) {
        part.n = 0.5;
        cp_attn_reduce(&state, o, &part, part_o, D);
    } else if (is(name, "cp_state_empty.valid")) {
        cp_state_empty(&state, o, D + 1);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            puts(names[i]);
        }
        return 0;
    }
    violate_pool(argv[1]);
    violate_tree(argv[1]);
    violate_softmax(argv[1]);
    return 0;
}

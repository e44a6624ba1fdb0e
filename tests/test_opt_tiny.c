/* SPDX-License-Identifier: Apache-2.0 */
/* Every tree of the tiny universe of test_tiny.c, built by the reference and by opt/ at once: at
 * most 3 sequences of at most 4 tokens out of {0, 1}, chunks of 2, and every operation on each of
 * them, until no tree is new. The reference is compiled in with tiny capacities; what a failed
 * operation must leave is compared byte by byte. */
#define CP_MAX_CHUNKS     8
#define CP_MAX_SEQUENCES  3
#define CP_MAX_DEPTH      3
#define CP_MAX_CHUNK_SIZE 2

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ref/plan.c"
#include "../ref/pool.c"
#include "../ref/tree.c"
#include "../ref/tree_append.c"
#include "../ref/tree_change.c"
#include "../ref/tree_chunks.c"
#include "../ref/tree_join.c"
#include "../ref/tree_match.c"
#include "../ref/tree_rows.c"
#include "opt_pair.c"

#define MAX_TOKENS 4
#define MAX_STATES 100000
#define TABLE_SIZE (1 << 18)
#define OPT_BYTES  2048

/* Both trees. That of opt/ is put back where it was, so that its arrays are where it says. */
struct state {
    struct cp_tree tree;
    unsigned char opt[OPT_BYTES];
};

/* A state up to the numbering of chunks; perhaps with the handles. */
struct key {
    unsigned char content[3 * (3 + MAX_TOKENS + 2)];
};

struct universe {
    struct opt_pair pair; /* of the state at hand */
    int handles;          /* of two states that differ in them only, both count */
    struct state *state;
    int n_states;
    int *table; /* open addressing: state index + 1 by key */
    struct key *key;
    long operations;
    long refused[CP_ERROR_WORKSPACE + 1];
};

static struct key key_of(const struct universe *universe) {
    const struct cp_tree *tree = universe->pair.tree;
    struct key key = {{0}};
    unsigned char *out = key.content;
    int seen[8], n_seen = 0;
    for (int s = 0; s < tree->n_sequences; s++) {
        *out++ = (unsigned char)(cp_tree_length(tree, s) + 1);
        *out++ = (unsigned char)tree->sequence[s].salt;
        *out++ =
            (unsigned char)(universe->handles ? cp_opt_tree_at(universe->pair.opt_tree, s) : 0);
        for (int k = 0; k < MAX_TOKENS; k++) {
            *out++ =
                (unsigned char)(k < cp_tree_length(tree, s) ? cp_tree_token(tree, s, k) + 1 : 0);
        }
        for (int k = 0; k < 2; k++) {
            int name = 0;
            if (k < tree->sequence[s].n_chunks) {
                while (name < n_seen && seen[name] != tree->sequence[s].chunk[k]) {
                    name++;
                }
                if (name == n_seen) {
                    seen[n_seen++] = tree->sequence[s].chunk[k];
                }
                name++;
            }
            *out++ = (unsigned char)name;
        }
    }
    return key;
}

/* The stamp goes back, too: the plan is made anew, to be brought up to date from there. */
static void put_back(struct universe *universe, const struct state *state) {
    *universe->pair.tree = state->tree;
    memcpy(universe->pair.opt_tree, state->opt, universe->pair.opt_tree->bytes);
    universe->pair.opt_plan->stamp.tree = ~universe->pair.opt_tree->stamp.tree;
    cp_opt_plan_update(universe->pair.opt_plan, universe->pair.opt_tree);
}

static void add_if_new(struct universe *universe) {
    struct key key = key_of(universe);
    unsigned long long h = 1469598103934665603ULL;
    for (size_t i = 0; i < sizeof key.content; i++) {
        h = (h ^ key.content[i]) * 1099511628211ULL;
    }
    size_t at = (size_t)(h >> 20) % TABLE_SIZE;
    while (universe->table[at] != 0) {
        if (memcmp(&universe->key[universe->table[at] - 1], &key, sizeof key) == 0) {
            return;
        }
        at = (at + 1) % TABLE_SIZE;
    }
    assert_in_range(universe->n_states, 0, MAX_STATES - 1);
    struct state *state = &universe->state[universe->n_states];
    state->tree = *universe->pair.tree;
    memcpy(state->opt, universe->pair.opt_tree, universe->pair.opt_tree->bytes);
    universe->key[universe->n_states] = key;
    universe->table[at] = ++universe->n_states;
}

/* After an operation on the state `before`. */
static void check_step(struct universe *universe, const struct state *before, const char *differs) {
    universe->operations++;
    if (differs != NULL) {
        fail_msg("%s", differs);
    }
    if (universe->pair.status == CP_OK) {
        add_if_new(universe);
    } else { /* TREE-13 */
        universe->refused[universe->pair.status]++;
        assert_memory_equal(universe->pair.opt_tree, before->opt, universe->pair.opt_tree->bytes);
    }
    put_back(universe, before);
}

static void try_joins(struct universe *universe, const struct state *before, int n_salts) {
    for (int n = 0; n <= MAX_TOKENS; n++) {
        for (int bits = 0; bits < 1 << n; bits++) {
            for (unsigned long long salt = 0; salt < (unsigned long long)n_salts; salt++) {
                int token[MAX_TOKENS + 1];
                for (int k = 0; k < n; k++) {
                    token[k] = bits >> k & 1;
                }
                assert_null(pair_lookup(&universe->pair, token, n, salt, NULL));
                check_step(universe, before, pair_join(&universe->pair, token, n, salt, 7, NULL));
            }
        }
    }
}

static void try_appends(struct universe *universe, const struct state *before) {
    int b = before->tree.n_sequences;
    for (int subset = 1; subset < 1 << b; subset++) { /* one, some or all sequences */
        int sequence[3];
        int n = 0;
        for (int s = 0; s < b; s++) {
            if ((subset >> s & 1) != 0 && cp_tree_length(&before->tree, s) < MAX_TOKENS) {
                sequence[n++] = s;
            }
        }
        for (int bits = 0; bits < 1 << n; bits++) {
            int token[3] = {bits & 1, bits >> 1 & 1, bits >> 2 & 1};
            check_step(universe, before, pair_append_each(&universe->pair, n, sequence, token));
        }
    }
}

static void try_leaves_and_forks(struct universe *universe, const struct state *before) {
    for (int s = -1; s <= before->tree.n_sequences; s++) {
        check_step(universe, before, pair_leave(&universe->pair, s));
        check_step(universe, before, pair_fork(&universe->pair, s, 7, NULL));
    }
}

static void explore(int capacity, int n_salts, int hash_bits, struct universe *universe) {
    struct cp_opt_sizes sizes;
    memset(&sizes, 0, sizeof sizes); /* gaps between fields as well: trees are compared as memory */
    sizes.capacity = capacity;
    sizes.chunk_size = 2;
    sizes.max_sequences = CP_MAX_SEQUENCES;
    sizes.max_depth = CP_MAX_DEPTH;
    sizes.hash_bits = hash_bits;
    sizes.seed = 20;
    struct opt_pair *pair = &universe->pair;
    universe->state = malloc(MAX_STATES * sizeof *universe->state);
    universe->key = malloc(MAX_STATES * sizeof *universe->key);
    universe->table = calloc(TABLE_SIZE, sizeof *universe->table);
    pair->tree = calloc(1, sizeof *pair->tree);
    pair->plan = calloc(1, sizeof *pair->plan);
    assert_true(universe->state != NULL && universe->key != NULL && universe->table != NULL &&
                pair->tree != NULL && pair->plan != NULL);
    assert_int_equal(cp_opt_tree_new(&pair->opt_tree, &sizes), CP_OK);
    assert_int_equal(cp_opt_plan_new(&pair->opt_plan, &sizes), CP_OK);
    assert_in_range(pair->opt_tree->bytes, 1, OPT_BYTES);
    cp_tree_init(pair->tree, capacity, 2, hash_bits, 1);
    add_if_new(universe);
    for (int i = 0; i < universe->n_states; i++) {
        struct state before = universe->state[i];
        put_back(universe, &before);
        try_joins(universe, &before, n_salts);
        try_appends(universe, &before);
        try_leaves_and_forks(universe, &before);
    }
    cp_opt_tree_free(pair->opt_tree);
    cp_opt_plan_free(pair->opt_plan);
    free(pair->tree);
    free(pair->plan);
    free(universe->state);
    free(universe->key);
    free(universe->table);
    print_message("capacity %d, %d sharing domain(s), %d hash bits: %d trees, %ld operations\n",
                  capacity, n_salts, hash_bits, universe->n_states, universe->operations);
}

/* Room for three private paths of two chunks: the pool is never full. */
static void ample_pool(void **unused) {
    struct universe universe = {0};
    (void)unused;
    explore(6, 1, 64, &universe);
    assert_int_equal(universe.refused[CP_ERROR_POOL_FULL], 0);
    assert_in_range(universe.refused[CP_ERROR_SEQUENCES_FULL], 1, 1L << 40);
    assert_in_range(universe.n_states, 29791, MAX_STATES); /* at least all triples of prompts */
}

/* All hashes are equal, and each order of handles counts. */
static void scarce_pool(void **unused) {
    struct universe universe = {.handles = 1};
    (void)unused;
    explore(3, 1, 0, &universe);
    assert_in_range(universe.refused[CP_ERROR_POOL_FULL], 1, 1L << 40);
}

static void two_domains(void **unused) {
    struct universe universe = {0};
    (void)unused;
    explore(2, 2, 1, &universe);
    assert_in_range(universe.refused[CP_ERROR_POOL_FULL], 1, 1L << 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ample_pool),
        cmocka_unit_test(scarce_pool),
        cmocka_unit_test(two_domains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

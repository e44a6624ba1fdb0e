/* SPDX-License-Identifier: Apache-2.0 */
/* Every tree of a tiny universe: at most 3 sequences of at most 4 tokens out of {0, 1}, chunks of
 * 2, and every operation on each of them. Trees are explored breadth first until none is new, so
 * this is every order of operations of any length. The reference is compiled in with tiny
 * capacities. */
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
#include "../ref/plan_check.c"
#include "../ref/pool.c"
#include "../ref/tree.c"
#include "../ref/tree_append.c"
#include "../ref/tree_change.c"
#include "../ref/tree_check.c"
#include "../ref/tree_chunks.c"
#include "../ref/tree_join.c"
#include "../ref/tree_match.c"
#include "../ref/tree_rows.c"
#include "model.c"

#define MAX_TOKENS 4
#define MAX_STATES 400000
#define TABLE_SIZE (1 << 20)

struct state {
    struct cp_tree tree;
    struct model model;
};

/* A state up to the numbering of chunks: two states with one key behave alike. */
struct key {
    unsigned char content[3 * (2 + MAX_TOKENS + 2)];
};

struct universe {
    struct state *state; /* found so far, in the order of finding */
    int n_states;
    int *table; /* open addressing: state index + 1 by key */
    struct key *key;
    long transitions;
    long refused[CP_ERROR_WORKSPACE + 1];
};

static struct key key_of(const struct model *model) {
    struct key key = {{0}};
    unsigned char *out = key.content;
    int seen[16];
    int n_seen = 0;
    for (int s = 0; s < model->n_sequences; s++) {
        const struct model_sequence *sequence = &model->sequence[s];
        *out++ = (unsigned char)(sequence->n_tokens + 1);
        *out++ = (unsigned char)sequence->salt;
        for (int k = 0; k < MAX_TOKENS; k++) {
            *out++ = (unsigned char)(k < sequence->n_tokens ? sequence->token[k] + 1 : 0);
        }
        for (int k = 0; k < 2; k++) {
            int name = 0;
            if (k < model_chunks(model, s)) {
                while (name < n_seen && seen[name] != sequence->name[k]) {
                    name++;
                }
                if (name == n_seen) {
                    seen[n_seen++] = sequence->name[k];
                }
                name++;
            }
            *out++ = (unsigned char)name;
        }
    }
    return key;
}

static void add_if_new(struct universe *universe, const struct state *state) {
    struct key key = key_of(&state->model);
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
    universe->state[universe->n_states] = *state;
    universe->key[universe->n_states] = key;
    universe->table[at] = ++universe->n_states;
}

/* After an operation on a copy of `before` gave `status` where the model says `expected`. */
static void check_step(struct universe *universe, const struct state *before, struct state *after,
                       int status, int expected) {
    static struct cp_plan plan; /* large; overwritten each time */
    universe->transitions++;
    assert_int_equal(status, expected);
    if (status != CP_OK) { /* TREE-13 */
        universe->refused[status]++;
        assert_memory_equal(&before->tree, &after->tree, sizeof after->tree);
        return;
    }
    const char *broken = cp_tree_check(&after->tree);
    const char *differs = model_compare(&after->model, &after->tree);
    if (broken != NULL || differs != NULL) {
        fail_msg("clause %s, model: %s", broken ? broken : "-", differs ? differs : "-");
    }
    assert_null(cp_tree_check_hashes(&after->tree));
    cp_plan_build(&plan, &after->tree);
    assert_null(cp_plan_check(&plan));
    assert_null(model_compare_plan(&after->tree, &plan));
    add_if_new(universe, after);
}

static void try_joins(struct universe *universe, const struct state *before, int n_salts) {
    for (int n = 0; n <= MAX_TOKENS; n++) {
        for (int bits = 0; bits < 1 << n; bits++) {
            for (unsigned long long salt = 0; salt < (unsigned long long)n_salts; salt++) {
                struct state after = *before;
                struct cp_joined got = {-1, -1};
                struct cp_joined expected = {-1, -1};
                int token[MAX_TOKENS + 1];
                unsigned long long hash[MAX_TOKENS];
                for (int k = 0; k < n; k++) {
                    token[k] = bits >> k & 1;
                }
                cp_tree_hash_prompt(&after.tree, token, n, hash);
                int status = cp_tree_join(&after.tree, token, n, salt, 7, hash, &got);
                check_step(universe, before, &after, status,
                           model_join(&after.model, token, n, salt, 7, &expected));
                assert_int_equal(got.sequence, expected.sequence);
                assert_int_equal(got.n_shared, expected.n_shared);
            }
        }
    }
}

static void try_appends(struct universe *universe, const struct state *before) {
    int b = before->model.n_sequences;
    for (int subset = 1; subset < 1 << b; subset++) { /* one, some or all sequences */
        int sequence[3];
        int n = 0;
        for (int s = 0; s < b; s++) {
            if ((subset >> s & 1) != 0 && before->model.sequence[s].n_tokens < MAX_TOKENS) {
                sequence[n++] = s;
            }
        }
        for (int bits = 0; bits < 1 << n; bits++) {
            struct state after = *before;
            int token[3] = {bits & 1, bits >> 1 & 1, bits >> 2 & 1};
            int status = cp_tree_append_each(&after.tree, n, sequence, token);
            check_step(universe, before, &after, status,
                       model_append_each(&after.model, n, sequence, token));
        }
    }
}

static void try_leaves_and_forks(struct universe *universe, const struct state *before) {
    for (int s = -1; s <= before->model.n_sequences; s++) {
        struct state after = *before;
        struct cp_forked forked;
        int at = -1;
        int status = cp_tree_leave(&after.tree, s);
        check_step(universe, before, &after, status, model_leave(&after.model, s));
        after = *before;
        status = cp_tree_fork(&after.tree, s, 7, &forked);
        check_step(universe, before, &after, status, model_fork(&after.model, s, 7, &at));
        if (status == CP_OK) {
            assert_int_equal(forked.sequence, at);
        }
    }
}

/* Explores all trees in a pool of this size; says how many there were. */
static void explore(int capacity, int n_salts, int hash_bits, struct universe *universe) {
    struct state *empty = calloc(1, sizeof *empty);
    universe->state = malloc(MAX_STATES * sizeof *universe->state);
    universe->key = malloc(MAX_STATES * sizeof *universe->key);
    universe->table = calloc(TABLE_SIZE, sizeof *universe->table);
    assert_true(empty != NULL && universe->state != NULL && universe->key != NULL &&
                universe->table != NULL);
    cp_tree_init(&empty->tree, capacity, 2, hash_bits, 1);
    model_init(&empty->model, capacity, 2, CP_MAX_SEQUENCES);
    add_if_new(universe, empty);
    free(empty);
    for (int i = 0; i < universe->n_states; i++) {
        struct state before = universe->state[i];
        try_joins(universe, &before, n_salts);
        try_appends(universe, &before);
        try_leaves_and_forks(universe, &before);
    }
    free(universe->state);
    free(universe->key);
    free(universe->table);
    print_message("capacity %d, %d sharing domain(s), %d hash bits: %d trees, %ld operations\n",
                  capacity, n_salts, hash_bits, universe->n_states, universe->transitions);
}

/* Room for three private paths of two chunks: the pool is never full. */
static void ample_pool(void **unused) {
    struct universe universe = {0};
    (void)unused;
    explore(6, 1, 0, &universe);
    assert_int_equal(universe.refused[CP_ERROR_POOL_FULL], 0);
    assert_in_range(universe.refused[CP_ERROR_SEQUENCES_FULL], 1, 1L << 40);
    assert_in_range(universe.n_states, 29791, MAX_STATES); /* at least all triples of prompts */
}

static void scarce_pool(void **unused) {
    struct universe universe = {0};
    (void)unused;
    explore(3, 1, 1, &universe);
    assert_in_range(universe.refused[CP_ERROR_POOL_FULL], 1, 1L << 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ample_pool),
        cmocka_unit_test(scarce_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

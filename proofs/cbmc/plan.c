/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

/* The first sequence that has this chunk. */
static int flat_begin(const struct flat *flat, int chunk) {
    return flat_end(flat, chunk) - flat_owners(flat, chunk); /* owners are consecutive: TREE-5 */
}

/* PLAN-1: the chunk of each descriptor is shared, and described as it is. */
static int descriptor_is_right(const struct cp_shared_chunk *shared, const struct flat *flat) {
    int x = shared->chunk;
    int k = shared->position / CHUNK_SIZE;
    return flat_owners(flat, x) >= 2 && shared->begin == flat_begin(flat, x) &&
           shared->end == flat_end(flat, x) && shared->n_tokens == CHUNK_SIZE &&
           shared->position == k * CHUNK_SIZE && 0 <= k &&
           k < flat->sequence[shared->begin].n_chunks &&
           flat->sequence[shared->begin].chunk[k] == x;
}

/* PLAN-2: the plan has the sequence's path, and its first n_shared chunks are those that another
 * sequence has too. */
static int path_is_right(const struct cp_plan_sequence *path, const struct flat *flat, int s) {
    const struct flat_sequence *sequence = &flat->sequence[s];
    int right = path->n_tokens == sequence->n_tokens && path->n_chunks == sequence->n_chunks;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        if (k < sequence->n_chunks) {
            int shared = flat_owners(flat, sequence->chunk[k]) >= 2;
            int left = sequence->n_tokens - k * CHUNK_SIZE; /* PLAN-7 */
            right = right && path->run[k].chunk == sequence->chunk[k] &&
                    path->run[k].n_tokens == (left < CHUNK_SIZE ? left : CHUNK_SIZE) &&
                    path->run[k].position == k * CHUNK_SIZE && shared == (k < path->n_shared);
        }
    }
    return right && 0 <= path->n_shared && path->n_shared <= path->n_chunks;
}

/* PLAN-3: how often the pair (sequence s, its k-th chunk) is covered. */
static int covered(const struct cp_plan *plan, int s, int k) {
    int times = k >= plan->sequence[s].n_shared;
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        times += i < plan->n_shared && shared->chunk == plan->sequence[s].run[k].chunk &&
                 shared->begin <= s && s < shared->end;
    }
    return times;
}

static void check_descriptors(const struct cp_plan *plan, const struct flat *flat) {
    int n_shared = 0;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        n_shared += flat_owners(flat, x) >= 2;
    }
    CHECK("PLAN-1: as many descriptors as shared chunks", plan->n_shared == n_shared);
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        CHECK("PLAN-1: a descriptor is right", i >= n_shared || descriptor_is_right(shared, flat));
        for (int j = 0; j < i; j++) {
            const struct cp_shared_chunk *earlier = &plan->shared[j];
            CHECK("PLAN-1: no chunk has two", i >= n_shared || shared->chunk != earlier->chunk);
            CHECK("PLAN-4: by first sequence, then from the root down",
                  i >= n_shared || earlier->begin < shared->begin ||
                      (earlier->begin == shared->begin && earlier->position < shared->position));
        }
    }
}

/* PLAN-1: a range of the list is one of sequences. */
static int list_is_right(const struct cp_plan *plan, const struct flat *flat) {
    int right = plan->n_served == flat->n_sequences;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        right = right && (s >= flat->n_sequences || plan->served[s] == s);
    }
    return right;
}

static void check_rows(const struct cp_plan *plan, const struct flat *flat) {
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        if (s < flat->n_sequences) {
            CHECK("PLAN-2: a row is right", path_is_right(&plan->sequence[s], flat, s));
            for (int k = 0; k < CP_MAX_DEPTH; k++) {
                CHECK("PLAN-3: each pair is covered exactly once",
                      k >= flat->sequence[s].n_chunks || covered(plan, s, k) == 1);
            }
        }
    }
}

static void reach_plan(const struct cp_plan *plan, const struct flat *flat) {
    const struct cp_shared_chunk *shared = plan->shared;
    REACH("no sequences", flat->n_sequences == 0);
    REACH("nothing shared", flat->n_sequences == CP_MAX_SEQUENCES && plan->n_shared == 0 &&
                                flat->sequence[1].n_chunks > 0);
    REACH("one chunk of all sequences",
          plan->n_shared == 1 && shared[0].end - shared[0].begin == CP_MAX_SEQUENCES);
#if CP_MAX_SEQUENCES > 2
    REACH("a private root in front of a shared one", plan->n_shared == 1 && shared[0].begin == 1);
    REACH("an empty sequence beside a shared chunk",
          plan->n_shared == 1 && flat->sequence[2].n_chunks == 0 && flat->n_sequences == 3);
#endif
#if CP_MAX_DEPTH > 1
    REACH("a shared chunk under a shared one",
          plan->n_shared == 2 && shared[1].position > 0 && shared[1].begin == shared[0].begin);
#if CP_MAX_SEQUENCES > 2
    REACH("a shared chunk under a shared chunk with more sequences",
          plan->n_shared == 2 && shared[1].position > 0 && shared[1].begin > shared[0].begin);
#endif
    REACH("private chunks behind a shared one", plan->sequence[0].n_shared == 1 &&
                                                    flat->n_sequences == 2 &&
                                                    plan->sequence[0].n_chunks == 2);
#endif
}

void step_plan(struct cp_tree *tree) {
    struct flat flat;
    struct cp_plan plan;
    flat_read(tree, &flat);

    cp_plan_build(&plan, tree);

    CHECK("the phases accept it", cp_plan_check(&plan) == 0);
    CHECK("PLAN-5: it is current", cp_plan_is_current(&plan, tree->stamp));
    CHECK("dimensions", plan.n_sequences == flat.n_sequences && plan.chunk_size == CHUNK_SIZE &&
                            plan.capacity == tree->pool.capacity);
    CHECK("PLAN-1: the list is 0, 1, ...", list_is_right(&plan, &flat));
    check_descriptors(&plan, &flat);
    check_rows(&plan, &flat);
    reach_plan(&plan, &flat);
}

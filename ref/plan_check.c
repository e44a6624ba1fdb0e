/* SPDX-License-Identifier: Apache-2.0 */
/* The executable invariant of a tree's plan. It needs no tree, so it can check a plan from
 * anywhere. Each check comes after those that make its own array accesses safe.
 *
 * Example (the plan of plan.c). Per depth, covered_to[] is the end of the last range:
 *
 *     check_descriptors()   A [0,3) at depth 0: nothing was covered there; covered_to[0] = 3
 *                           B [0,2) at depth 1: nothing was covered there; covered_to[1] = 2
 *     paths_are_covered()   sequence 0 shares 2 chunks: covered_to[0] and covered_to[1] are above 0
 *                           sequence 1 shares 2 chunks: covered_to[0] and covered_to[1] are above 1
 *                           sequence 2 shares 1 chunk: covered_to[0] is above 2
 *
 * If sequence 2 claimed 2 shared chunks, covered_to[1] = 2 would not be above 2: PLAN-3. */
#include <stddef.h>

#include "chunkproof/plan.h"

#ifdef __FRAMAC__
#include "proofs/logic/plan_check.h"
#endif

/*@
  requires valid: \valid_read(plan);
  assigns \nothing;
  ensures sizes: \result != 0 <==> plan_sizes(*plan);
*/
static int plan_sizes_are_valid(const struct cp_plan *plan) {
    return 1 <= plan->chunk_size && plan->chunk_size <= CP_MAX_CHUNK_SIZE && 1 <= plan->capacity &&
           plan->capacity <= CP_MAX_CHUNKS && 0 <= plan->n_sequences &&
           plan->n_sequences <= CP_MAX_SEQUENCES && 0 <= plan->n_shared &&
           plan->n_shared <= plan->capacity;
}

/* PLAN-1: is the list 0, 1, ..., b - 1? */
/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  assigns \nothing;
  ensures list: \result != 0 <==> plan_list(*plan);
*/
static int list_is_valid(const struct cp_plan *plan) {
    if (plan->n_served != plan->n_sequences) {
        return 0;
    }
    /*@ loop invariant s: 0 <= s <= plan->n_sequences;
        loop invariant list: \forall integer at; 0 <= at < s ==> plan->served[at] == at;
        loop assigns s; loop variant plan->n_sequences - s; */
    for (int s = 0; s < plan->n_sequences; s++) {
        if (plan->served[s] != s) {
            return 0;
        }
    }
    return 1;
}

/* The position of the first key of the k-th chunk of a path. */
/*@
  requires k: -1 <= k <= CP_MAX_DEPTH;
  requires c: 1 <= c <= CP_MAX_CHUNK_SIZE;
  assigns \nothing;
  ensures key: \result == key_at(k, c);
*/
static int first_key(int k, int c) {
    /*@ assert bound: -CP_MAX_CHUNK_SIZE <= k * c <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE; */
    return k * c;
}

/* PLAN-7: run k of sequence s has the keys of the k-th chunk of a path. */
/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  requires sequence: 0 <= s < plan->n_sequences;
  requires run: 0 <= k < plan->sequence[s].n_chunks <= CP_MAX_DEPTH;
  requires tokens: 0 <= plan->sequence[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
  assigns \nothing;
  ensures run: \result != 0 <==> plan_run(*plan, s, k);
*/
static int run_is_valid(const struct cp_plan *plan, int s, int k) {
    int first = first_key(k, plan->chunk_size);
    int full = k + 1 < plan->sequence[s].n_chunks;
    int n_tokens = full ? plan->chunk_size : plan->sequence[s].n_tokens - first;
    return plan->sequence[s].run[k].position == first &&
           plan->sequence[s].run[k].n_tokens == n_tokens;
}

/* PLAN-2 and PLAN-7 for one sequence: all its chunks but the last are full, and all shared ones. */
/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  requires sequence: 0 <= s < plan->n_sequences;
  assigns \result \from *plan, s;
  ensures sequence: \result == \null <==> plan_path(*plan, s) && plan_length(*plan, s);
*/
static const char *check_sequence(const struct cp_plan *plan, int s) {
    int c = plan->chunk_size;
    int n_tokens = plan->sequence[s].n_tokens;
    int n_chunks = plan->sequence[s].n_chunks;
    int n_shared = plan->sequence[s].n_shared;
    if (n_chunks < 0 || n_chunks > CP_MAX_DEPTH || n_shared < 0 || n_shared > n_chunks) {
        return "PLAN-2";
    }
    if (n_tokens < 0 || n_tokens > first_key(n_chunks, c) ||
        n_tokens <= first_key(n_chunks - 1, c) || n_tokens < first_key(n_shared, c)) {
        return "PLAN-7";
    }
    /*@ loop invariant k: 0 <= k <= n_chunks;
        loop invariant path: \forall integer j; 0 <= j < k ==>
          0 <= plan_chunk(*plan, s, j) < plan->capacity;
        loop invariant runs: \forall integer j; 0 <= j < k ==> plan_run(*plan, s, j);
        loop assigns k; loop variant n_chunks - k; */
    for (int k = 0; k < n_chunks; k++) {
        int chunk = plan->sequence[s].run[k].chunk;
        if (chunk < 0 || chunk >= plan->capacity) {
            return "PLAN-2";
        }
        if (!run_is_valid(plan, s, k)) {
            return "PLAN-7";
        }
    }
    return NULL;
}

/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  assigns \result \from *plan;
  ensures sequences: \result == \null <==> plan_sequences(*plan);
*/
static const char *check_sequences(const struct cp_plan *plan) {
    /*@ loop invariant s: 0 <= s <= plan->n_sequences;
        loop invariant sequences: \forall integer r; 0 <= r < s ==>
          plan_path(*plan, r) && plan_length(*plan, r);
        loop assigns s; loop variant plan->n_sequences - s; */
    for (int s = 0; s < plan->n_sequences; s++) {
        const char *broken = check_sequence(plan, s);
        if (broken != NULL) {
            return broken;
        }
    }
    return NULL;
}

/* PLAN-1 for one descriptor. */
/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  requires descriptor: 0 <= i < plan->n_shared;
  assigns \nothing;
  ensures descriptor: \result != 0 <==> plan_descriptor(*plan, i);
*/
static int descriptor_is_valid(const struct cp_plan *plan, int i) {
    int chunk = plan->shared[i].chunk;
    int begin = plan->shared[i].begin;
    int end = plan->shared[i].end;
    int position = plan->shared[i].position;
    return 0 <= chunk && chunk < plan->capacity && 0 <= begin && begin < end &&
           end <= plan->n_sequences && end - begin >= 2 &&
           plan->shared[i].n_tokens == plan->chunk_size && 0 <= position &&
           position % plan->chunk_size == 0 && position / plan->chunk_size < CP_MAX_DEPTH;
}

/* How deep the chunk of a valid descriptor is. */
/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  requires descriptor: 0 <= i < plan->n_shared && plan_descriptor(*plan, i);
  assigns \nothing;
  ensures depth: \result == plan_depth(*plan, i);
*/
static int descriptor_depth(const struct cp_plan *plan, int i) {
    return plan->shared[i].position / plan->chunk_size;
}

/* PLAN-3: the chunk is on the shared part of every path in its range, at its position. */
/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  requires sequences: plan_sequences(*plan);
  requires descriptor: 0 <= i < plan->n_shared && plan_descriptor(*plan, i);
  assigns \nothing;
  ensures on_paths: \result != 0 <==>
    \forall integer s; plan_serves(*plan, i, s) ==> plan_on_path(*plan, i, s);
*/
static int descriptor_is_on_paths(const struct cp_plan *plan, int i) {
    int k = descriptor_depth(plan, i);
    /*@ loop invariant s: plan->shared[i].begin <= s <= plan->shared[i].end;
        loop invariant on_path: \forall integer r; plan->shared[i].begin <= r < s ==>
          plan_on_path(*plan, i, r);
        loop assigns s; loop variant plan->shared[i].end - s; */
    for (int s = plan->shared[i].begin; s < plan->shared[i].end; s++) {
        if (k >= plan->sequence[s].n_shared ||
            plan->sequence[s].run[k].chunk != plan->shared[i].chunk) {
            return 0;
        }
    }
    return 1;
}

/* PLAN-4: by first sequence, then from the root down. */
/*@
  requires valid: \valid_read(plan);
  requires descriptors: 0 <= i < CP_MAX_CHUNKS && 0 <= j < CP_MAX_CHUNKS;
  assigns \nothing;
  ensures before: \result != 0 <==> plan_before(*plan, i, j);
*/
static int is_before(const struct cp_plan *plan, int i, int j) {
    return plan->shared[i].begin < plan->shared[j].begin ||
           (plan->shared[i].begin == plan->shared[j].begin &&
            plan->shared[i].position < plan->shared[j].position);
}

/* PLAN-1, PLAN-4, and of PLAN-3 that what the descriptors cover is on the paths, each pair once. */
/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  requires sequences: plan_sequences(*plan);
  assigns \result \from *plan;
  ensures descriptors: \result == \null <==>
    plan_descriptors(*plan, plan->n_shared) && plan_sorted(*plan, plan->n_shared) &&
    plan_on_paths(*plan, plan->n_shared) && plan_disjoint(*plan, plan->n_shared);
*/
static const char *check_descriptors(const struct cp_plan *plan) {
    int covered_to[CP_MAX_DEPTH] = {0}; /* per depth: sequences below have been covered */
    /*@ loop invariant i: 0 <= i <= plan->n_shared;
        loop invariant descriptors: plan_descriptors(*plan, i);
        loop invariant sorted: plan_sorted(*plan, i);
        loop invariant on_paths: plan_on_paths(*plan, i);
        loop invariant disjoint: plan_disjoint(*plan, i);
        loop invariant ends: ends_covered(*plan, i, &covered_to[0]);
        loop invariant latest: latest_ends(*plan, i, &covered_to[0]);
        loop assigns i, covered_to[0 .. CP_MAX_DEPTH - 1]; loop variant plan->n_shared - i; */
    for (int i = 0; i < plan->n_shared; i++) {
        if (!descriptor_is_valid(plan, i)) {
            return "PLAN-1";
        }
        if (i > 0 && !is_before(plan, i - 1, i)) {
            return "PLAN-4";
        }
        /*@ assert behind: i > 0 ==> plan_before(*plan, i - 1, i); */
        /*@ assert sorted: \forall integer j; 0 <= j < i ==> plan_before(*plan, j, i); */
        /* Ranges at one depth are disjoint, so no pair is covered twice, and the work is bounded by
         * the number of pairs. */
        int k = descriptor_depth(plan, i);
        if (plan->shared[i].begin < covered_to[k] || !descriptor_is_on_paths(plan, i)) {
            return "PLAN-3";
        }
        covered_to[k] = plan->shared[i].end;
    }
    return NULL;
}

/* The rest of PLAN-3: every chunk in the shared part of a path is covered. Goes through the
 * sequences in order, because the descriptors are sorted by their first sequence. */
/*@
  requires valid: \valid_read(plan);
  requires sizes: plan_sizes(*plan);
  requires sequences: plan_sequences(*plan);
  requires descriptors: plan_descriptors(*plan, plan->n_shared);
  requires sorted: plan_sorted(*plan, plan->n_shared);
  requires disjoint: plan_disjoint(*plan, plan->n_shared);
  assigns \nothing;
  ensures covers: \result != 0 <==> plan_covers(*plan, plan->n_sequences);
*/
static int paths_are_covered(const struct cp_plan *plan) {
    int covered_to[CP_MAX_DEPTH] = {0}; /* per depth, by the descriptors that begin so far */
    int i = 0;
    /*@ loop invariant s: 0 <= s <= plan->n_sequences;
        loop invariant i: 0 <= i <= plan->n_shared;
        loop invariant covers: plan_covers(*plan, s);
        loop invariant begun: \forall integer j; 0 <= j < i ==> plan->shared[j].begin < s;
        loop invariant ends: ends_covered(*plan, i, &covered_to[0]);
        loop invariant latest: latest_ends(*plan, i, &covered_to[0]);
        loop assigns s, i, covered_to[0 .. CP_MAX_DEPTH - 1]; loop variant plan->n_sequences - s; */
    for (int s = 0; s < plan->n_sequences; s++) {
        /*@ loop invariant i: 0 <= i <= plan->n_shared;
            loop invariant begun: \forall integer j; 0 <= j < i ==> plan->shared[j].begin <= s;
            loop invariant ends: ends_covered(*plan, i, &covered_to[0]);
            loop invariant latest: latest_ends(*plan, i, &covered_to[0]);
            loop assigns i, covered_to[0 .. CP_MAX_DEPTH - 1]; loop variant plan->n_shared - i; */
        for (; i < plan->n_shared && plan->shared[i].begin <= s; i++) {
            covered_to[descriptor_depth(plan, i)] = plan->shared[i].end;
        }
        /*@ assert later: \forall integer j; i <= j < plan->n_shared ==>
              s < plan->shared[j].begin; */
        /*@ loop invariant k: 0 <= k <= plan->sequence[s].n_shared;
            loop invariant covered: \forall integer j; 0 <= j < k ==> plan_covered(*plan, s, j);
            loop assigns k; loop variant plan->sequence[s].n_shared - k; */
        for (int k = 0; k < plan->sequence[s].n_shared; k++) {
            if (covered_to[k] <= s) {
                /*@ assert over: \forall integer j; 0 <= j < i ==> plan_depth(*plan, j) == k ==>
                      plan->shared[j].end <= s; */
                /*@ assert left_out: !plan_covered(*plan, s, k); */
                return 0;
            }
        }
    }
    return 1;
}

const char *cp_plan_check(const struct cp_plan *plan) {
    if (!plan_sizes_are_valid(plan) || !list_is_valid(plan)) {
        return "PLAN-1";
    }
    const char *broken = check_sequences(plan);
    if (broken == NULL) {
        broken = check_descriptors(plan);
    }
    if (broken == NULL && !paths_are_covered(plan)) {
        broken = "PLAN-3";
    }
    return broken;
}

int cp_plan_is_valid(const struct cp_plan *plan) {
    return cp_plan_check(plan) == NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The executable invariant of a plan of runs: RUNS-1 to RUNS-3. RunsCheck.v proves that such a walk
 * decides validity. Each check comes after those that make its own array accesses safe.
 *
 * Example (the picture of spec/runs.md): descriptor by descriptor, place[] is how many runs each
 * sequence has been given.
 *
 *     descriptor        serves     gives                  place of 0, 1, 2
 *                                                          0  0  0
 *     (C0, 0, 2, 4, 0)  S0 S1      run[0] of both          1  1  0
 *     (C1, 0, 2, 2, 4)  S0 S1      run[1] of both          2  2  0
 *     (C2, 2, 4, 4, 6)  S0 S2      run[2] of 0, run[0] of 2   3  2  1
 *     n_shared                                             3  2  1
 *
 * If the first two descriptors changed places, run[0] of S0 would not be that of C1: RUNS-3. */
#include <limits.h>
#include <stddef.h>

#include "chunkproof/plan.h"

#ifdef __FRAMAC__
#include "proofs/logic/plan_runs.h"
#endif

/*@
  requires valid: \valid_read(plan);
  assigns \nothing;
  ensures sizes: \result != 0 <==> runs_sizes(*plan);
*/
static int sizes_are_valid(const struct cp_plan *plan) {
    return 1 <= plan->chunk_size && plan->chunk_size <= CP_MAX_CHUNK_SIZE && 1 <= plan->capacity &&
           plan->capacity <= CP_MAX_CHUNKS && 0 <= plan->n_sequences &&
           plan->n_sequences <= CP_MAX_SEQUENCES && 0 <= plan->n_shared &&
           plan->n_shared <= CP_MAX_CHUNKS && 0 <= plan->n_served &&
           plan->n_served <= CP_MAX_SERVED;
}

/* ---- RUNS-1: the runs of a sequence ---- */

/*@
  requires valid: \valid_read(plan);
  requires sizes: runs_sizes(*plan);
  assigns \nothing;
  ensures run: \result != 0 <==> run_ok(*plan, run);
*/
static int run_is_valid(const struct cp_plan *plan, struct cp_run run) {
    return 0 <= run.chunk && run.chunk < plan->capacity && 1 <= run.n_tokens &&
           run.n_tokens <= plan->chunk_size && 0 <= run.position &&
           run.position <= INT_MAX - run.n_tokens;
}

/* Have they no position in common? */
/*@
  requires positions: 0 <= one.position && 0 <= one.n_tokens &&
    one.position + one.n_tokens <= 0x7FFFFFFF;
  requires other_positions: 0 <= other.position && 0 <= other.n_tokens &&
    other.position + other.n_tokens <= 0x7FFFFFFF;
  assigns \nothing;
  ensures apart: \result != 0 <==> runs_apart(other, one);
*/
static int are_apart(struct cp_run one, struct cp_run other) {
    return one.position + one.n_tokens <= other.position ||
           other.position + other.n_tokens <= one.position;
}

/* Has run k of sequence s no position of a run before it? `end` is behind all of these: most
 * sequences rise, so that no two runs need be compared. */
/*@
  requires valid: \valid_read(plan);
  requires sizes: runs_sizes(*plan);
  requires run: 0 <= s < CP_MAX_SEQUENCES && 0 <= k < CP_MAX_DEPTH;
  requires runs: \forall integer j; 0 <= j <= k ==> run_ok(*plan, plan->sequence[s].run[j]);
  requires end: ends_before(*plan, s, k, end);
  assigns \nothing;
  ensures apart: \result != 0 <==> apart_from_all(*plan, s, k);
*/
static int is_apart(const struct cp_plan *plan, int s, int k, int end) {
    if (end <= plan->sequence[s].run[k].position) {
        return 1;
    }
    /*@ loop invariant j: 0 <= j <= k;
        loop invariant apart: \forall integer i; 0 <= i < j ==>
          runs_apart(plan->sequence[s].run[i], plan->sequence[s].run[k]);
        loop assigns j; loop variant k - j; */
    for (int j = 0; j < k; j++) {
        if (!are_apart(plan->sequence[s].run[k], plan->sequence[s].run[j])) {
            return 0;
        }
    }
    return 1;
}

/*@
  requires valid: \valid_read(plan);
  requires sizes: runs_sizes(*plan);
  requires sequence: 0 <= s < plan->n_sequences;
  assigns \nothing;
  ensures runs: \result != 0 <==> runs_alone(*plan, s);
*/
static int sequence_is_valid(const struct cp_plan *plan, int s) {
    int n_tokens = 0, end = 0;
    int n_chunks = plan->sequence[s].n_chunks;
    if (n_chunks < 0 || n_chunks > CP_MAX_DEPTH) {
        return 0;
    }
    /*@ loop invariant k: 0 <= k <= n_chunks;
        loop invariant runs: runs_before(*plan, s, k);
        loop invariant tokens: n_tokens == run_tokens(*plan, s, k);
        loop invariant count: 0 <= n_tokens <= k * CP_MAX_CHUNK_SIZE;
        loop invariant end: ends_before(*plan, s, k, end);
        loop assigns k, n_tokens, end; loop variant n_chunks - k; */
    for (int k = 0; k < n_chunks; k++) {
        struct cp_run run = plan->sequence[s].run[k];
        if (!run_is_valid(plan, run) || !is_apart(plan, s, k, end)) {
            return 0;
        }
        n_tokens += run.n_tokens;
        end = end < run.position + run.n_tokens ? run.position + run.n_tokens : end;
    }
    return plan->sequence[s].n_tokens == n_tokens;
}

/*@
  requires valid: \valid_read(plan);
  requires sizes: runs_sizes(*plan);
  assigns \nothing;
  ensures runs: \result != 0 <==> all_alone(*plan, plan->n_sequences);
*/
static int sequences_are_valid(const struct cp_plan *plan) {
    /*@ loop invariant s: 0 <= s <= plan->n_sequences;
        loop invariant runs: all_alone(*plan, s);
        loop assigns s; loop variant plan->n_sequences - s; */
    for (int s = 0; s < plan->n_sequences; s++) {
        if (!sequence_is_valid(plan, s)) {
            return 0;
        }
    }
    return 1;
}

/* ---- RUNS-2: the sequences that a descriptor serves ---- */

/* For descriptor i. served_by[s] is 1 + the number of the last descriptor before that serves
 * sequence s, and is brought up to date; 0: none. */
/*@
  requires valid: \valid_read(plan) && \valid(served_by + (0 .. CP_MAX_SEQUENCES - 1));
  requires separated: \separated(plan, served_by + (0 .. CP_MAX_SEQUENCES - 1));
  requires sizes: runs_sizes(*plan);
  requires descriptor: 0 <= i < plan->n_shared;
  requires before: served_to(served_by, i);
  assigns served_by[0 .. CP_MAX_SEQUENCES - 1];
  ensures list: \result != 0 <==> runs_served(*plan, i);
  ensures after: served_to(served_by, i + 1);
*/
static int list_is_valid(const struct cp_plan *plan, int i, int *served_by) {
    int begin = plan->shared[i].begin;
    int end = plan->shared[i].end;
    if (begin < 0 || end <= begin || end - begin < 2 || end > plan->n_served) {
        return 0;
    }
    /*@ loop invariant at: begin <= at <= end;
        loop invariant served: served_before(*plan, i, at, served_by);
        loop invariant by: served_to(served_by, i + 1);
        loop assigns at, served_by[0 .. CP_MAX_SEQUENCES - 1]; loop variant end - at; */
    for (int at = begin; at < end; at++) {
        int s = plan->served[at];
        if (s < 0 || s >= plan->n_sequences || served_by[s] == i + 1) {
            return 0;
        }
        served_by[s] = i + 1;
    }
    return 1;
}

/*@
  requires valid: \valid_read(plan);
  requires sizes: runs_sizes(*plan);
  assigns \nothing;
  ensures lists: \result != 0 <==> runs_all_served(*plan, plan->n_shared);
*/
static int lists_are_valid(const struct cp_plan *plan) {
    int served_by[CP_MAX_SEQUENCES] = {0};
    /*@ loop invariant i: 0 <= i <= plan->n_shared;
        loop invariant lists: runs_all_served(*plan, i);
        loop invariant by: served_to(&served_by[0], i);
        loop assigns i, served_by[0 .. CP_MAX_SEQUENCES - 1]; loop variant plan->n_shared - i; */
    for (int i = 0; i < plan->n_shared; i++) {
        if (!list_is_valid(plan, i, served_by)) {
            return 0;
        }
    }
    return 1;
}

/* ---- RUNS-3: the walk ---- */

/* Are the shared runs of each sequence among its runs? */
/*@
  requires valid: \valid_read(plan);
  requires sizes: runs_sizes(*plan);
  assigns \nothing;
  ensures among: \result != 0 <==> shared_among(*plan, plan->n_sequences);
*/
static int shared_are_among_runs(const struct cp_plan *plan) {
    /*@ loop invariant s: 0 <= s <= plan->n_sequences;
        loop invariant among: shared_among(*plan, s);
        loop assigns s; loop variant plan->n_sequences - s; */
    for (int s = 0; s < plan->n_sequences; s++) {
        if (plan->sequence[s].n_shared < 0 ||
            plan->sequence[s].n_shared > plan->sequence[s].n_chunks) {
            return 0;
        }
    }
    return 1;
}

/* Is the shared run at this place of sequence s that of descriptor i? */
/*@
  requires valid: \valid_read(plan);
  requires place: 0 <= s < CP_MAX_SEQUENCES && 0 <= i < CP_MAX_CHUNKS && 0 <= place &&
    0 <= plan->sequence[s].n_shared <= CP_MAX_DEPTH;
  assigns \nothing;
  ensures next: \result != 0 <==> is_next(*plan, i, s, place);
*/
static int comes_next(const struct cp_plan *plan, int i, int s, int place) {
    return place < plan->sequence[s].n_shared &&
           plan->sequence[s].run[place].chunk == plan->shared[i].chunk &&
           plan->sequence[s].run[place].n_tokens == plan->shared[i].n_tokens &&
           plan->sequence[s].run[place].position == plan->shared[i].position;
}

/* For descriptor i. place[s] is how many runs the descriptors before have given to sequence s, and
 * is brought up to date. */
/*@
  requires valid: \valid_read(plan) && \valid(place + (0 .. CP_MAX_SEQUENCES - 1));
  requires separated: \separated(plan, place + (0 .. CP_MAX_SEQUENCES - 1));
  requires sizes: runs_sizes(*plan) && runs_lists(*plan, plan->n_sequences);
  requires descriptor: 0 <= i < plan->n_shared && runs_served(*plan, i);
  requires places: places_are(*plan, i, place);
  assigns place[0 .. CP_MAX_SEQUENCES - 1];
  ensures next: \result != 0 <==> \forall integer at;
    plan->shared[i].begin <= at < plan->shared[i].end ==>
    runs_comes_next(*plan, i, plan->served[at]);
  ensures places: \result != 0 ==> places_are(*plan, i + 1, place);
*/
static int give(const struct cp_plan *plan, int i, int *place) {
    /*@ loop invariant at: plan->shared[i].begin <= at <= plan->shared[i].end;
        loop invariant next: \forall integer by; plan->shared[i].begin <= by < at ==>
          runs_comes_next(*plan, i, plan->served[by]);
        loop invariant given: places_to(*plan, i, at, place);
        loop assigns at, place[0 .. CP_MAX_SEQUENCES - 1];
        loop variant plan->shared[i].end - at; */
    for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) {
        int s = plan->served[at];
        if (!comes_next(plan, i, s, place[s])) {
            return 0;
        }
        place[s]++;
    }
    return 1;
}

/*@
  requires valid: \valid_read(plan);
  requires sizes: runs_sizes(*plan) && runs_lists(*plan, plan->n_sequences);
  requires lists: runs_all_served(*plan, plan->n_shared);
  assigns \nothing;
  ensures given: \result != 0 <==>
    runs_come_next(*plan, plan->n_shared) && runs_all_given(*plan, plan->n_sequences);
*/
static int all_are_given(const struct cp_plan *plan) {
    int place[CP_MAX_SEQUENCES] = {0};
    /*@ loop invariant i: 0 <= i <= plan->n_shared;
        loop invariant next: runs_come_next(*plan, i);
        loop invariant places: places_are(*plan, i, &place[0]);
        loop assigns i, place[0 .. CP_MAX_SEQUENCES - 1]; loop variant plan->n_shared - i; */
    for (int i = 0; i < plan->n_shared; i++) {
        if (!give(plan, i, place)) {
            return 0;
        }
    }
    /*@ loop invariant s: 0 <= s <= plan->n_sequences;
        loop invariant given: runs_all_given(*plan, s);
        loop assigns s; loop variant plan->n_sequences - s; */
    for (int s = 0; s < plan->n_sequences; s++) {
        if (place[s] != plan->sequence[s].n_shared) {
            return 0;
        }
    }
    return 1;
}

const char *cp_plan_check_runs(const struct cp_plan *plan) {
    if (!sizes_are_valid(plan) || !sequences_are_valid(plan)) {
        return "RUNS-1";
    }
    if (!lists_are_valid(plan)) {
        return "RUNS-2";
    }
    return shared_are_among_runs(plan) && all_are_given(plan) ? NULL : "RUNS-3";
}

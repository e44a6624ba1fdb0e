/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of opt/ in the place of the reference's: any valid one, and the operations of tree.h on
 * it, so that the same steps ask the same of it. What they read is a view: the tree as the
 * reference has it, made anew after each operation.
 *
 * Its arrays are objects of their own type, and an element is named by its index: an address of one
 * that is not known would be a choice of bytes. Of three functions CBMC knows only that they are
 * some: the hash, the bucket for a parent (or salt) and hash, and the heights in the search tree.
 * So what is shown holds for every seed. */

#include <stddef.h>

#include "chunkproof/opt_plan.h"
#include "model.h"
#include "opt/tree_internal.h"

/* Any number of buckets would do, a power of two. */
#define N_BUCKETS 2

static struct cp_opt_tree opt;

static struct cp_opt_chunk chunk[CP_MAX_CHUNKS];
static int token[CP_MAX_CHUNKS * CHUNK_SIZE];
static struct cp_opt_sequence sequence[CP_MAX_SEQUENCES];
static int path[CP_MAX_SEQUENCES * CP_MAX_DEPTH];
static int bucket[N_BUCKETS];
static unsigned long long key[CHUNK_SIZE + CHUNK_SIZE % 2];

static struct cp_shared_chunk shared[CP_MAX_CHUNKS]; /* of a plan */

/* What *p is. Tokens and paths are told by their index, which makes smaller formulas than an
 * address. */
static int read_int(const int *p) {
    if (__CPROVER_same_object(p, prompt_token)) {
        return prompt_token[(unsigned char)(__CPROVER_POINTER_OFFSET(p) / sizeof *p)];
    }
    if (__CPROVER_same_object(p, token)) {
        return token[(unsigned char)(__CPROVER_POINTER_OFFSET(p) / sizeof *p)];
    }
    if (__CPROVER_same_object(p, path)) {
        return path[(unsigned char)(__CPROVER_POINTER_OFFSET(p) / sizeof *p)];
    }
    return *p;
}

int memcmp(const void *a, const void *b, size_t bytes) {
    const int *x = a, *y = b;
    int differs = 0;
    for (int k = 0; k < (int)(bytes / sizeof *x); k++) {
        differs = differs || read_int(x + k) != read_int(y + k);
    }
    return differs;
}

void *memcpy(void *to, const void *from, size_t bytes) {
    int *x = to;
    const int *y = from;
    if (from == shared) {
        for (int i = 0; i < CP_MAX_CHUNKS; i++) {
            if ((size_t)i < bytes / sizeof shared[0]) {
                ((struct cp_shared_chunk *)to)[i] = shared[i];
            }
        }
        return to;
    }
    for (int k = 0; k < (int)(bytes / sizeof *x); k++) {
        if (__CPROVER_same_object(x, token)) {
            token[(unsigned char)(__CPROVER_POINTER_OFFSET(x + k) / sizeof *x)] = read_int(y + k);
        } else if (__CPROVER_same_object(x, path)) {
            path[(unsigned char)(__CPROVER_POINTER_OFFSET(x + k) / sizeof *x)] = read_int(y + k);
        } else {
            x[k] = read_int(y + k);
        }
    }
    return to;
}

/* Of handles in a plan alone. */
void *memmove(void *to, const void *from, size_t bytes) {
    int kept[CP_MAX_SEQUENCES], n = (int)(bytes / sizeof kept[0]);
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        kept[s] = s < n ? ((const int *)from)[s] : 0;
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        if (s < n) {
            ((int *)to)[s] = kept[s];
        }
    }
    return to;
}

unsigned long long any_hash(const int *t, int n, int bits);

unsigned long long any_hash_of_chunk(const struct cp_opt_tree *tree, const int *t) {
    (void)tree;
    int copy[CHUNK_SIZE];
    for (int i = 0; i < CHUNK_SIZE; i++) {
        copy[i] = read_int(t + i);
    }
    return any_hash(copy, CHUNK_SIZE, 64);
}

int __CPROVER_uninterpreted_bucket(int, int, int);

int any_bucket(const struct cp_opt_tree *tree, int parent, unsigned long long salt,
               unsigned long long hash) {
    (void)tree;
    unsigned above = parent < 0 ? (unsigned)(salt ^ salt >> 32) : 0;
    return __CPROVER_uninterpreted_bucket(parent, (int)above, (int)(hash ^ hash >> 32)) &
           (N_BUCKETS - 1);
}

static int height[CP_MAX_SEQUENCES];

int any_is_higher(const struct cp_opt_tree *tree, int a, int b) {
    (void)tree;
    return height[a] > height[b] || (height[a] == height[b] && a < b);
}

static int small(void) {
    return any(3) - 1;
}

static void set_sizes(void) {
    opt.sizes.capacity = CP_MAX_CHUNKS;
    opt.sizes.chunk_size = CHUNK_SIZE;
    opt.sizes.max_sequences = CP_MAX_SEQUENCES;
    opt.sizes.max_depth = CP_MAX_DEPTH;
    opt.sizes.hash_bits = 64;
    opt.sizes.seed = 0;
    opt.n_buckets = N_BUCKETS;
    opt.chunk = chunk;
    opt.token = token;
    opt.sequence = sequence;
    opt.path = path;
    opt.bucket = bucket;
    opt.key = key;
}

static void any_chunk_of_opt(int x) {
    chunk[x].parent = small();
    chunk[x].first = small();
    chunk[x].last = small();
    chunk[x].depth = (unsigned)any(2);
    chunk[x].has_twin = (unsigned)any(1);
    chunk[x].next = small();
    chunk[x].previous = any(3) - 1 - N_BUCKETS;
    chunk[x].hash = any_salt();
    for (int i = 0; i < CHUNK_SIZE; i++) {
        token[x * CHUNK_SIZE + i] = any_token();
    }
}

static void any_sequence_of_opt(int s) {
    height[s] = any(2);
    sequence[s].id = any_id();
    sequence[s].salt = any_salt();
    sequence[s].n_chunks = any(2);
    sequence[s].room = any(2);
    sequence[s].n_shared = any(2);
    sequence[s].joint = small();
    sequence[s].previous = small();
    sequence[s].next = small();
    sequence[s].left = small();
    sequence[s].right = small();
    sequence[s].up = small();
    sequence[s].size = any(3);
    sequence[s].marked = any(1);
    sequence[s].tail = small();
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        path[s * CP_MAX_DEPTH + k] = small();
    }
}

/* Any content of the memory behind right sizes. */
static void any_opt_tree(void) {
    set_sizes();
    opt.stamp.tree = nondet_count();
    opt.stamp.epoch = nondet_count();
    opt.stamp.step = nondet_count();
    opt.shape = nondet_count();
    opt.n_free = any(3);
    opt.n_sequences = any(3);
    opt.free_chunk = small();
    opt.fresh_chunk = any(3);
    opt.free_sequence = small();
    opt.fresh_sequence = any(3);
    opt.first = small();
    opt.last = small();
    opt.root = small();
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        any_chunk_of_opt(x);
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        any_sequence_of_opt(s);
    }
    for (int i = 0; i < N_BUCKETS; i++) {
        bucket[i] = any(3);
    }
}

static int handle[CP_MAX_SEQUENCES]; /* of each index */
static int at[CP_MAX_SEQUENCES];     /* index of each handle */

/* What the tree is, in the terms of the reference. */
static void view_opt_tree(struct cp_tree *view) {
    int next = opt.first;
    view->pool.capacity = CP_MAX_CHUNKS;
    view->pool.n_free = opt.n_free;
    view->chunk_size = CHUNK_SIZE;
    view->hash_bits = 64;
    view->n_sequences = opt.n_sequences;
    view->stamp = opt.stamp;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        view->pool.perm[x] = view->pool.pos[x] = x;
        view->begin[x] = view->end[x] = 0;
        view->depth[x] = (int)chunk[x].depth;
        view->fill[x] = 0;
        view->hash[x] = chunk[x].hash;
        for (int i = 0; i < CHUNK_SIZE; i++) {
            view->tokens[x].token[i] = token[x * CHUNK_SIZE + i];
        }
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        struct cp_sequence row = {0};
        if (s < opt.n_sequences) {
            int n = sequence[next].n_chunks;
            handle[s] = next;
            at[next] = s;
            row.id = sequence[next].id;
            row.salt = sequence[next].salt;
            row.n_chunks = n;
            for (int k = 0; k < CP_MAX_DEPTH; k++) {
                if (k < n) {
                    int x = path[next * CP_MAX_DEPTH + k];
                    row.chunk[k] = x;
                    view->fill[x] = k + 1 < n ? CHUNK_SIZE : CHUNK_SIZE - sequence[next].room;
                }
            }
            next = sequence[next].next;
        }
        view->sequence[s] = row;
    }
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        if (view->fill[x] > 0) {
            view->begin[x] = at[chunk[x].first];
            view->end[x] = at[chunk[x].last] + 1;
        }
    }
}

void any_valid_tree(struct cp_tree *view) {
    any_opt_tree();
    __CPROVER_assume(opt.stamp.epoch < 1ULL << 63 && opt.stamp.step < 1ULL << 63);
    __CPROVER_assume(cp_opt_tree_check(&opt) == NULL);
    __CPROVER_assume(cp_opt_tree_check_hashes(&opt) == NULL);
    view_opt_tree(view);
}

/* What check_invariant() asks for: of the tree of opt/, whose view it is handed. */
static const char *broken, *broken_hashes;

const char *cp_tree_check(const struct cp_tree *view) {
    (void)view;
    return broken;
}

const char *cp_tree_check_hashes(const struct cp_tree *view) {
    (void)view;
    return broken_hashes;
}

/* shape: before it. */
static void after_operation(struct cp_tree *view, int changes_shape, unsigned long long shape) {
#ifndef FOLLOW
    broken = cp_opt_tree_check(&opt);
    broken_hashes = cp_opt_tree_check_hashes(&opt);
#endif
    CHECK("valid, whether done or refused", broken == NULL && broken_hashes == NULL);
    CHECK("the shape tells of a join, leave or fork", opt.shape == shape + (unsigned)changes_shape);
    view_opt_tree(view);
}

void cp_tree_hash_prompt(const struct cp_tree *view, const int *t, int n_tokens,
                         unsigned long long *hash) {
    (void)view;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        if (k < n_tokens / CHUNK_SIZE) {
            hash[k] = any_hash(t + k * CHUNK_SIZE, CHUNK_SIZE, 64);
        }
    }
}

/* The handle of an index; of one that no sequence has, any that none has. */
static int handle_of(int s) {
    if (0 <= s && s < opt.n_sequences) {
        return handle[s];
    }
    int h = nondet_int();
    __CPROVER_assume(!cp_opt_tree_is_alive(&opt, h));
    return h;
}

/* What a join makes of a prompt; opt-lookup shows that the one in opt/ is this (TREE-8). */
int the_longest_match(const struct cp_opt_tree *tree, const int *t, int n_full,
                      unsigned long long salt, int *n_chunks) {
    int best = -1;
    (void)tree;
    *n_chunks = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        int n = 0, h = handle[s];
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            int x = path[h * CP_MAX_DEPTH + k];
            int full = n == k && k < n_full && s < opt.n_sequences && sequence[h].salt == salt &&
                       k < sequence[h].n_chunks - (sequence[h].room > 0);
            for (int i = 0; i < CHUNK_SIZE; i++) {
                full = full && token[x * CHUNK_SIZE + i] == t[k * CHUNK_SIZE + i];
            }
            n += full;
        }
        if (n > *n_chunks) {
            *n_chunks = n;
            best = path[h * CP_MAX_DEPTH + n - 1];
        }
    }
    return best;
}

struct cp_match cp_tree_lookup(const struct cp_tree *view, const int *t, int n_tokens,
                               unsigned long long salt, const unsigned long long *hash) {
    (void)view;
    (void)hash;
    struct cp_match match = cp_opt_tree_lookup(&opt, t, n_tokens, salt);
    if (match.sequence >= 0) {
        match.sequence = at[match.sequence];
    }
    return match;
}

int cp_tree_join(struct cp_tree *view, const int *t, int n_tokens, unsigned long long salt,
                 long long id, const unsigned long long *hash, struct cp_joined *joined) {
    (void)hash;
    unsigned long long shape = opt.shape;
    int status = cp_opt_tree_join(&opt, t, n_tokens, salt, id, joined);
    after_operation(view, status == CP_OK, shape);
    if (status == CP_OK) {
        joined->sequence = at[joined->sequence];
    }
    return status;
}

int cp_tree_append(struct cp_tree *view, int s, int t) {
    unsigned long long shape = opt.shape;
    int status = cp_opt_tree_append(&opt, handle_of(s), t);
    after_operation(view, 0, shape);
    return status;
}

int cp_tree_append_each(struct cp_tree *view, int n, const int *s, const int *t) {
    int h[MAX_BATCH];
    for (int i = 0; i < MAX_BATCH; i++) {
        h[i] = handle_of(s[i]);
    }
    unsigned long long shape = opt.shape;
    int status = cp_opt_tree_append_each(&opt, n, h, t);
    after_operation(view, 0, shape);
    return status;
}

int cp_tree_leave(struct cp_tree *view, int s) {
    unsigned long long shape = opt.shape;
    int status = cp_opt_tree_leave(&opt, handle_of(s));
    after_operation(view, status == CP_OK, shape);
    return status;
}

int cp_tree_fork(struct cp_tree *view, int s, long long id, struct cp_forked *forked) {
    unsigned long long shape = opt.shape;
    int status = cp_opt_tree_fork(&opt, handle_of(s), id, forked);
    after_operation(view, status == CP_OK, shape);
    if (status == CP_OK) {
        forked->sequence = at[forked->sequence];
    }
    return status;
}

/* ---- Plans ---- */

static int handle_of_row[CP_MAX_SEQUENCES];
static int n_tokens[CP_MAX_SEQUENCES];
static int n_chunks[CP_MAX_SEQUENCES];
static int n_shared_chunks[CP_MAX_SEQUENCES];
static int open[CP_MAX_DEPTH];
static struct cp_opt_plan plan;

struct cp_shared_chunk nondet_descriptor(void);

/* Any content. */
static void any_opt_plan(void) {
    plan.stamp.tree = nondet_count();
    plan.stamp.epoch = nondet_count();
    plan.stamp.step = nondet_count();
    plan.shape = nondet_count();
    plan.n_sequences = nondet_int();
    plan.n_shared = nondet_int();
    plan.shared = shared;
    plan.sequence = handle_of_row;
    plan.n_tokens = n_tokens;
    plan.n_chunks = n_chunks;
    plan.n_shared_chunks = n_shared_chunks;
    plan.open = open;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        shared[x] = nondet_descriptor();
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        handle_of_row[s] = nondet_int();
        n_tokens[s] = nondet_int();
        n_chunks[s] = nondet_int();
        n_shared_chunks[s] = nondet_int();
    }
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        open[k] = nondet_int();
    }
}

/* What has an effect is no part of a CHECK, which is compiled for the properties alone. */
static void export_plan(struct cp_plan *to) {
    int status = cp_opt_plan_export(&plan, to);
    CHECK("it fits", status == CP_OK);
}

/* A plan in the terms of the reference, of one of opt/ that knows nothing of this tree, or what was
 * before more joins, leaves and forks than the tree keeps: each changes epoch and shape. */
void opt_plan_build(struct cp_plan *to, const struct cp_tree *view) {
    (void)view;
    any_opt_plan();
    __CPROVER_assume(
        plan.stamp.tree != opt.stamp.tree ||
        (plan.stamp.epoch != opt.stamp.epoch && opt.shape - plan.shape > CP_OPT_CHANGES));
    __CPROVER_assume(to->stamp.tree != opt.stamp.tree || to->stamp.epoch != opt.stamp.epoch);
    int changed = cp_opt_plan_update(&plan, &opt);
    CHECK("PLAN-6: made anew", changed == 1);
    export_plan(to);
}

void opt_plan_is(const struct cp_plan *right, const struct cp_tree *view) {
    any_opt_plan();
    plan.stamp = view->stamp;
    plan.shape = opt.shape;
    plan.n_sequences = right->n_sequences;
    plan.n_shared = right->n_shared;
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        shared[x] = right->shared[x];
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        handle_of_row[s] = handle[s];
        n_chunks[s] = view->sequence[s].n_chunks;
    }
}

int opt_plan_has_order(void) {
    int same = plan.n_sequences == opt.n_sequences;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        same = same && (s >= opt.n_sequences || handle_of_row[s] == handle[s]);
    }
    return same;
}

/* The plan made last, brought up to date. */
int opt_plan_update(struct cp_plan *to, const struct cp_tree *view) {
    (void)view;
    plan.stamp.tree = to->stamp.tree; /* of another tree, if the step says so */
    int changed = cp_opt_plan_update(&plan, &opt);
    export_plan(to);
    return changed;
}

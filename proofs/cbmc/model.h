/* SPDX-License-Identifier: Apache-2.0 */
/* What the harnesses share: the tree as flat lists, which is all that the operations are judged by,
 * and the two kinds of properties.
 *
 * CHECK(clause, condition) must hold. REACH(label, condition) must be possible: a proof about
 * states that do not exist proves nothing. A harness is compiled once for its checks and once with
 * -DREACH for its labels, where each label is an assertion that has to fail.
 */
#ifndef CHUNKPROOF_PROOFS_MODEL_H
#define CHUNKPROOF_PROOFS_MODEL_H

#include "chunkproof/plan.h"
#include "chunkproof/status.h"
#include "chunkproof/tree.h"

#if defined SAFETY
#define REACH(label, condition)  ((void)0)
#define CHECK(clause, condition) ((void)0)
#elif defined REACH
#undef REACH
#define REACH(label, condition)  __CPROVER_assert(!(condition), "reach: " label)
#define CHECK(clause, condition) ((void)0)
#else
#define REACH(label, condition)  ((void)0)
#define CHECK(clause, condition) __CPROVER_assert(condition, clause)
#endif

#define MAX_TOKENS (CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE)

#ifdef OPT
#define MAX_BATCH CP_MAX_SEQUENCES /* in any order: all of them, or one twice */
#else
#define MAX_BATCH (CP_MAX_SEQUENCES + 1) /* one more than can be in increasing order */
#endif

/* CBMC gives any value to a function nondet_* without a body, and to a local without
 * initializer. */
_Bool nondet_bool(void);
unsigned char nondet_byte(void);
int nondet_int(void);
unsigned long long nondet_count(void);

/* Any value of `bits` bits. Small numbers keep the formulas small: see README.md for what is
 * thereby left out, and -DWIDE, which takes any int instead. */
int any(int bits);

/* Any of four numbers, which differ in the lowest and in the highest bit of their type: code that
 * compares or copies fewer bits is noticed. A salt may also be a hash. With -DWIDE any number. */
int any_token(void);
long long any_id(void);
unsigned long long any_salt(void);

/* Any content; with -DONE_ORDER the pool has one order of the chunks instead of any. */
void any_tree(struct cp_tree *tree);

/* Any valid tree with chunks of CHUNK_SIZE tokens; with -DHASHES its hashes are right too. */
void any_valid_tree(struct cp_tree *tree);

/* One sequence: its tokens one after the other (TREE-6), and the chunks they are in, because keys
 * and values stay in a chunk and a path must not change under them. Unused entries are 0. */
struct flat_sequence {
    long long id;
    unsigned long long salt;
    int n_tokens;
    int n_chunks;
    int token[MAX_TOKENS];
    int chunk[CP_MAX_DEPTH];
};

struct flat {
    int n_sequences;
    struct flat_sequence sequence[CP_MAX_SEQUENCES];
};

/* A prompt with its sharing domain and, when `hash` is not NULL, its hashes (TREE-15). */
struct prompt {
    int n_tokens; /* any value: most are too long or negative */
    int *token;
    unsigned long long salt;
    unsigned long long *chunk_hash; /* or what these would be */
    const unsigned long long *hash; /* NULL, or chunk_hash */
};

/* The tokens of the prompt of a harness: an object of their own, so that they have an index. */
extern int prompt_token[MAX_TOKENS];

/* Do both have the same descriptors, in the same order? */
int plan_same_descriptors(const struct cp_plan *a, const struct cp_plan *b);

void flat_read(const struct cp_tree *tree, struct flat *flat);
int flat_same(const struct flat *a, const struct flat *b);
void flat_insert(struct flat *flat, int at, const struct flat_sequence *row);
void flat_remove(struct flat *flat, int at);

/* Leading full chunks that sequence s and the prompt have in common. */
int flat_match(const struct flat *flat, int s, const struct prompt *prompt, int chunk_size);
int flat_longest_match(const struct flat *flat, const struct prompt *prompt, int chunk_size);

/* How many sequences have this chunk, and one past the last of them. */
int flat_owners(const struct flat *flat, int chunk);
int flat_end(const struct flat *flat, int chunk);

/* Chunks that no sequence has. */
int flat_free_chunks(const struct flat *flat, int capacity);

/* Any prompt; its hashes are of the tree's kind when it has them. */
void any_prompt(struct prompt *prompt, const struct cp_tree *tree);

/* Every field the same, also where it has no meaning at present (TREE-13). */
int tree_same(const struct cp_tree *a, const struct cp_tree *b);

/* Bit s of `errors` says that the condition for status s holds: then, and only then, the operation
 * fails, with one of those. */
void check_status(int status, int errors);

#ifdef OPT
/* The plan of opt/ has these descriptors, and the order of the tree as it is; of lengths any. */
void opt_plan_is(const struct cp_plan *right, const struct cp_tree *view);

/* It has the order of the tree as it is. */
int opt_plan_has_order(void);
#endif

/* The tree is valid again; with -DHASHES its hashes too. */
void check_invariant(const struct cp_tree *tree);

/* PLAN-5: the counters have gone up by exactly this much since `old`. */
void check_stamp(const struct cp_tree *tree, const struct cp_tree *old, int epochs, int steps);

/* Each takes a valid tree, does one operation with any arguments, and checks what it has done. */
void step_join(struct cp_tree *tree);
void step_append(struct cp_tree *tree);
void step_leave(struct cp_tree *tree);
void step_fork(struct cp_tree *tree);
void step_lookup(struct cp_tree *tree);
void step_read(struct cp_tree *tree);
void step_plan(struct cp_tree *tree);
void step_update(struct cp_tree *tree);
void step_follow(struct cp_tree *tree);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a problem from a recipe: its operations make a tree, the tree makes a plan, and the plan
 * makes the arrays of a call. */
#include "gate/case/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/plan.h"
#include "chunkproof/tree.h"
#include "cli/base/random.h"
#include "gate/runner/runner.h"

#define SPARE 3 /* chunks of the pool that nobody uses */

/* ---- The tree ---- */

/* The operations, as far as they have come. */
struct growth {
    struct cp_tree *tree;
    int *token;  /* room for one prompt */
    int next;    /* a token that was never used */
    int longest; /* tokens of a prompt, at most */
    long long id;
};

/* One more sequence of `sequences` has at most so many tokens of its own. */
static int most_own(const struct gate_recipe *r) {
    return 2 * r->chunk_size + 1;
}

/* The longest prompt, and more chunks than are ever in use at once. */
static void measure(const struct gate_recipe *r, int *longest, int *chunks) {
    *longest = 1;
    *chunks = 2;
    for (int i = 0; i < r->n_ops; i++) {
        const struct gate_op *op = &r->op[i];
        if (op->kind == GATE_JOIN) {
            int common = op->tokens < *longest ? op->tokens : *longest;
            int tokens = common + op->own;
            *chunks += tokens / r->chunk_size + 1;
            *longest = tokens > *longest ? tokens : *longest;
        } else if (op->kind == GATE_APPEND) {
            *chunks += op->tokens / r->chunk_size + 1;
            *longest += op->tokens;
        } else {
            *chunks += 1;
        }
    }
    *chunks += r->sequences * (most_own(r) / r->chunk_size + 2);
}

static void join(struct growth *g, const struct gate_op *op) {
    int n = 0, b = g->tree->n_sequences, s = b > 0 ? op->sequence % b : 0;
    int common = b > 0 ? cp_tree_length(g->tree, s) : 0;
    struct cp_joined joined;
    for (; n < op->tokens && n < common; n++) {
        g->token[n] = cp_tree_token(g->tree, s, n);
    }
    for (int i = 0; i < op->own; i++) {
        g->token[n++] = g->next++;
    }
    (void)cp_tree_join(g->tree, g->token, n, 0, g->id++, NULL, &joined);
}

/* Operations that do not fit are left out, in every run of this recipe alike. */
static void grow(struct growth *g, const struct gate_op *op) {
    int b = g->tree->n_sequences, s = b > 0 ? op->sequence % b : -1;
    struct cp_forked forked;
    if (op->kind == GATE_JOIN) {
        join(g, op);
    } else if (op->kind == GATE_APPEND && s >= 0) {
        for (int i = 0; i < op->tokens; i++) {
            (void)cp_tree_append(g->tree, s, g->next++);
        }
    } else if (op->kind == GATE_LEAVE && b > 1) {
        (void)cp_tree_leave(g->tree, s);
    } else if (op->kind == GATE_FORK && s >= 0) {
        (void)cp_tree_fork(g->tree, s, g->id++, &forked);
    }
}

/* Others join, or leave, until there are as many sequences as the recipe says. One that joins
 * shares some tokens with another, or all, up to the longest prompt. */
static void fill_up(struct growth *g, const struct gate_recipe *r) {
    struct prng random = {r->seed ^ 0xC20DEDULL};
    while (r->sequences > 0 && g->tree->n_sequences > r->sequences) {
        grow(g, &(struct gate_op){GATE_LEAVE, g->tree->n_sequences - 1, 0, 0});
    }
    while (g->tree->n_sequences < r->sequences) {
        int s = prng_below(&random, g->tree->n_sequences), before = g->tree->n_sequences;
        int length = cp_tree_length(g->tree, s), room = g->longest - length;
        int own = prng_below(&random, most_own(r) + 1), all = prng_below(&random, 4) > 0;
        grow(g, &(struct gate_op){GATE_JOIN, s, all ? length : prng_below(&random, length + 1),
                                  own < room ? own : room});
        if (g->tree->n_sequences == before) { /* no chunk is left */
            return;
        }
    }
}

struct cp_tree *gate_tree_new(const struct gate_recipe *r) {
    int longest, chunks;
    measure(r, &longest, &chunks);
    struct growth g = {NULL, NULL, 1, longest, 1};
    g.token = malloc((size_t)longest * sizeof *g.token);
    if (g.token != NULL && cp_tree_new(&g.tree, chunks, r->chunk_size, 0) == CP_OK) {
        for (int i = 0; i < r->n_ops; i++) {
            grow(&g, &r->op[i]);
        }
        if (g.tree->n_sequences == 0) {
            grow(&g, &(struct gate_op){GATE_JOIN, 0, 0, 1});
        }
        fill_up(&g, r);
    }
    free(g.token);
    return g.tree;
}

/* ---- The plan, as arrays ---- */

/* Allocates at least one byte, so that NULL always means out of memory. */
static void *allocate(size_t n, size_t size) {
    return calloc(n + 1, size);
}

/* Chunks get random numbers: a path is scattered over the pool, as in a pool that has been in
 * use for long. */
static int *scatter(struct gate_problem *p, const struct cp_plan *plan) {
    int *number = allocate((size_t)plan->capacity, sizeof(int)), n = 0;
    struct prng random = {p->seed ^ 0x5CA77E2ULL};
    if (number == NULL) {
        return NULL;
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            number[plan->sequence[s].run[k].chunk] = 1;
        }
    }
    for (int i = 0; i < plan->capacity; i++) {
        n += number[i];
    }
    p->capacity = n + SPARE;
    int *order = allocate((size_t)p->capacity, sizeof(int));
    for (int i = 0; order != NULL && i < p->capacity; i++) { /* a permutation, grown by insertion */
        int at = prng_below(&random, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (int i = 0, x = 0; order != NULL && i < plan->capacity; i++) {
        number[i] = number[i] ? order[x++] : -1;
    }
    if (order == NULL) {
        free(number);
        number = NULL;
    }
    free(order);
    return number;
}

/* Numbers in the kernel's pool: one in each of `capacity` equal parts of it, at random, and the
 * last number of all. 0, or -1: no memory. */
static int spread_over_pool(struct gate_problem *p) {
    struct prng random = {p->seed ^ 0x9001ULL};
    if (p->pool <= p->capacity || p->capacity > RUN_FAR_CHUNKS) {
        p->pool = p->capacity;
        return 0;
    }
    p->number = allocate((size_t)p->capacity, sizeof(int));
    for (int i = 0; p->number != NULL && i < p->capacity; i++) {
        long long begin = (long long)i * p->pool / p->capacity;
        long long end = (i + 1LL) * p->pool / p->capacity;
        p->number[i] = (int)begin + prng_below(&random, (int)(end - begin));
    }
    if (p->number == NULL) {
        return -1;
    }
    p->number[p->capacity - 1] = p->pool - 1;
    return 0;
}

static int queries_of(struct prng *random, const struct gate_recipe *r, int s, int n_tokens) {
    enum gate_queries kind = r->queries;
    int several = prng_below(random, 5);
    if (r->rows > 0 && (kind == GATE_DECODE || s == 0 || several % 2 == 1)) {
        return r->rows;
    }
    if (kind == GATE_DECODE) {
        return 1;
    }
    if (kind == GATE_MORE) {
        return (n_tokens < 5 ? n_tokens : 5) + several % 4;
    }
    int rows = kind == GATE_MANY ? 10 * several : several;
    return rows < n_tokens ? rows : n_tokens;
}

static int allocate_plan(struct gate_problem *p, const struct cp_plan *plan) {
    size_t b = (size_t)plan->n_sequences;
    for (int s = 0; s < plan->n_sequences; s++) {
        int n = plan->sequence[s].n_chunks;
        p->table_width = n > p->table_width ? n : p->table_width;
    }
    p->table_width += 1; /* each row ends with a -1 at least */
    p->n_tokens = allocate(b, sizeof(int));
    p->query_begin = allocate(b + 1, sizeof(int));
    p->n_shared_chunks = allocate(b, sizeof(int));
    p->table = allocate(b * (size_t)p->table_width, sizeof(int));
    p->shared = allocate((size_t)plan->n_shared, sizeof *p->shared);
    return p->n_tokens != NULL && p->query_begin != NULL && p->n_shared_chunks != NULL &&
                   p->table != NULL && p->shared != NULL
               ? 0
               : -1;
}

static void fill_plan(struct gate_problem *p, const struct cp_plan *plan, const int *number) {
    struct prng random = {p->recipe.seed ^ 0x0C0DEULL};
    p->b = plan->n_sequences;
    p->n_shared = plan->n_shared;
    for (int i = 0; i < plan->n_shared; i++) {
        p->shared[i] = plan->shared[i];
        p->shared[i].chunk = number[plan->shared[i].chunk];
    }
    for (int s = 0; s < p->b; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        p->n_tokens[s] = path->n_tokens;
        p->n_shared_chunks[s] = path->n_shared;
        for (int i = 0; i < p->table_width; i++) {
            p->table[s * p->table_width + i] = i < path->n_chunks ? number[path->run[i].chunk] : -1;
        }
        p->query_begin[s + 1] =
            p->query_begin[s] + queries_of(&random, &p->recipe, s, path->n_tokens);
    }
    p->n_rows = p->query_begin[p->b];
}

static int make_plan(struct gate_problem *p, const struct cp_tree *tree) {
    struct cp_plan *plan = NULL;
    int *number = NULL, result = -1;
    if (cp_plan_new(&plan) == CP_OK) {
        cp_plan_build(plan, tree);
        number = scatter(p, plan);
        if (number != NULL && spread_over_pool(p) == 0 && allocate_plan(p, plan) == 0) {
            fill_plan(p, plan, number);
            result = 0;
        }
    }
    free(number);
    cp_plan_free(plan);
    return result;
}

/* ---- The problem ---- */

/* Allocates n d numbers and one more, and does not write them: a problem that turns out to be
 * too large is never filled. */
static double *allocate_rows(size_t n, const struct gate_problem *p) {
    return malloc((n * (size_t)p->recipe.head_dim + 1) * sizeof(double));
}

static int allocate_numbers(struct gate_problem *p) {
    size_t keys = (size_t)p->capacity * (size_t)p->recipe.n_kv_heads * (size_t)p->recipe.chunk_size;
    p->q = allocate_rows((size_t)p->n_rows * (size_t)p->recipe.n_heads, p);
    p->k = allocate_rows(keys, p);
    p->v = allocate_rows(keys, p);
    return p->q != NULL && p->k != NULL && p->v != NULL ? 0 : -1;
}

/* All that follows without a tree. */
static void describe(struct gate_problem *p, const struct gate_recipe *recipe,
                     const struct cp_kernel *kernel, unsigned long long seed) {
    memset(p, 0, sizeof *p);
    p->recipe = *recipe;
    p->seed = seed;
    p->q_type = kernel->q_type;
    p->kv_type = kernel->kv_type;
    p->out_type = kernel->out_type;
    p->lse_type = recipe->without_lse ? CP_NO_LSE : kernel->lse_type;
    p->scale = 0.01 * recipe->scale / sqrt(recipe->head_dim);
    int on_host = kernel->memory == CP_HOST_MEMORY;
    p->pool = on_host ? recipe->pool : 0;
    p->is_far = on_host && (recipe->layout & GATE_FAR) != 0;
}

struct gate_problem gate_problem_guess(const struct gate_recipe *recipe,
                                       const struct cp_kernel *kernel) {
    struct gate_problem p;
    describe(&p, recipe, kernel, recipe->seed);
    p.b = recipe->sequences > 0 ? recipe->sequences : recipe->n_ops;
    p.n_rows = p.b * (recipe->rows > 0 ? recipe->rows : 1);
    p.capacity = p.table_width = 4 * recipe->n_ops;
    p.pool = p.pool > p.capacity ? p.pool : p.capacity;
    return p;
}

static int make_problem(struct gate_problem *p, const struct gate_recipe *recipe,
                        const struct cp_kernel *kernel, unsigned long long seed) {
    struct cp_tree *tree = gate_tree_new(recipe);
    describe(p, recipe, kernel, seed);
    int result = tree != NULL && make_plan(p, tree) == 0 && allocate_numbers(p) == 0 ? 0 : -1;
    cp_tree_free(tree);
    if (result != 0) {
        gate_problem_free(p);
    }
    return result;
}

int gate_problem_new(struct gate_problem *p, const struct gate_recipe *recipe,
                     const struct cp_kernel *kernel) {
    return make_problem(p, recipe, kernel, recipe->seed);
}

static unsigned long long renewed_seed(const struct gate_recipe *recipe) {
    return recipe->seed ^ 0x9E6C63D0876A9A47ULL;
}

int gate_problem_renew(struct gate_problem *p, const struct gate_recipe *recipe,
                       const struct cp_kernel *kernel) {
    unsigned long long numbers = renewed_seed(recipe);
    int same_chunks = recipe->n_ops == 1 || (recipe->seed & 1) != 0;
    int result = make_problem(p, recipe, kernel, same_chunks ? recipe->seed : numbers);
    p->seed = numbers;
    return result;
}

void gate_problem_free(struct gate_problem *p) {
    void *memory[] = {p->n_tokens, p->query_begin, p->table, p->n_shared_chunks,
                      p->number,   p->shared,      p->q,     p->k,
                      p->v};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        free(memory[i]);
    }
    memset(p, 0, sizeof *p);
}

/* ---- The same, but for ... ---- */

/* Adds one key, or as many as the last chunk has room for. */
static int grown_length(unsigned long long seed, int n_tokens, int c) {
    int fills = (int)(seed >> 11 & 1);
    return n_tokens % c == 0 ? n_tokens : fills ? (n_tokens / c + 1) * c : n_tokens + 1;
}

int gate_grown_length(const struct gate_recipe *recipe, int n_tokens) {
    return grown_length(renewed_seed(recipe), n_tokens, recipe->chunk_size);
}

int gate_problem_grow(struct gate_problem *p) {
    int c = p->recipe.chunk_size, grown = 0;
    for (int s = 0; s < p->b; s++) {
        int chunks = (p->n_tokens[s] + c - 1) / c;
        if (p->n_tokens[s] % c != 0 && chunks > p->n_shared_chunks[s]) {
            p->n_tokens[s] = grown_length(p->seed, p->n_tokens[s], c);
            grown = 1;
        }
    }
    return grown;
}

static void fill_alone(struct gate_problem *alone, const struct gate_problem *p, int s) {
    size_t row = (size_t)p->recipe.n_heads * (size_t)p->recipe.head_dim;
    alone->n_tokens[0] = p->n_tokens[s];
    alone->query_begin[1] = alone->n_rows;
    for (int i = 0; i < p->table_width; i++) {
        alone->table[i] = p->table[s * p->table_width + i];
    }
    for (size_t i = 0; i < (size_t)alone->n_rows * row; i++) {
        alone->q[i] = p->q[(size_t)p->query_begin[s] * row + i];
    }
}

int gate_problem_alone(struct gate_problem *alone, const struct gate_problem *whole, int sequence) {
    const struct gate_problem *p = whole;
    int s = sequence;
    *alone = *p;
    alone->b = 1;
    alone->n_rows = p->query_begin[s + 1] - p->query_begin[s];
    alone->n_shared = 0;
    size_t numbers = (size_t)alone->n_rows * (size_t)p->recipe.n_heads * (size_t)p->recipe.head_dim;
    alone->n_tokens = allocate(1, sizeof(int));
    alone->query_begin = allocate(2, sizeof(int));
    alone->n_shared_chunks = allocate(1, sizeof(int));
    alone->table = allocate((size_t)p->table_width, sizeof(int));
    alone->shared = allocate(1, sizeof *alone->shared);
    alone->q = allocate(numbers, sizeof(double));
    if (alone->n_tokens == NULL || alone->query_begin == NULL || alone->n_shared_chunks == NULL ||
        alone->table == NULL || alone->shared == NULL || alone->q == NULL) {
        gate_problem_free_alone(alone);
        return -1;
    }
    fill_alone(alone, p, s);
    return 0;
}

void gate_problem_free_alone(struct gate_problem *alone) {
    alone->k = alone->v = NULL; /* the whole's */
    alone->number = NULL;
    gate_problem_free(alone);
}

/* ---- Places ---- */

size_t gate_key_at(const struct gate_problem *p, int sequence, int j, int kv_head) {
    const struct gate_recipe *r = &p->recipe;
    int chunk = p->table[sequence * p->table_width + j / r->chunk_size];
    size_t slice = (size_t)chunk * (size_t)r->n_kv_heads + (size_t)kv_head;
    size_t slot = slice * (size_t)r->chunk_size + (size_t)(j % r->chunk_size);
    return slot * (size_t)r->head_dim;
}

int gate_sequence_of(const struct gate_problem *p, int row) {
    int s = 0;
    while (p->query_begin[s + 1] <= row) {
        s++;
    }
    return s;
}

int gate_chunk_number(const struct gate_problem *p, int chunk) {
    return p->number != NULL ? p->number[chunk] : chunk;
}

int gate_visible(const struct gate_problem *p, int row) {
    int s = gate_sequence_of(p, row);
    int visible = p->n_tokens[s] - (p->query_begin[s + 1] - 1 - row);
    return visible > 0 ? visible : 0;
}

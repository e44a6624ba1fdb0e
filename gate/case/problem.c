/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a problem from a recipe: its operations make a tree, the tree makes a plan, and the plan
 * makes the arrays of a call. Where there are modules, lists.c makes the arrays. */
#include "gate/case/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/plan.h"
#include "chunkproof/tree.h"
#include "cli/base/random.h"
#include "gate/case/bits.h"
#include "gate/case/cache.h"
#include "gate/case/lists.h"
#include "gate/case/modules.h"
#include "gate/case/pages.h"
#include "gate/case/rotation.h"
#include "gate/case/scores.h"
#include "gate/case/strides.h"
#include "gate/case/widths.h"
#include "gate/runner/runner.h"

#define MOST_SCALES (1 << 18) /* of K, or V, in a large pool: 1 MiB */
#define MOST_DENSE  (1 << 22) /* numbers of K, or V, in one that takes memory */

/* Rows that see a key, of sequences that have some or all have as many, need a key in each. */
int gate_never_of(const struct cp_kernel *kernel) {
    int never = kernel->conventions.never;
    int needs_keys = (never & CP_NEVER_EMPTY_ROWS) != 0 &&
                     (never & (CP_NEVER_ROWLESS | CP_NEVER_UNEQUAL_ROWS)) != 0;
    return never | (needs_keys ? CP_NEVER_EMPTY_SEQUENCES : 0);
}

int gate_problem_has(const struct gate_problem *p) {
    int has = 0;
    for (int s = 0; s < p->b; s++) {
        int begin = p->query_begin[s], end = p->query_begin[s + 1];
        has |= p->n_tokens[s] == 0 ? CP_NEVER_EMPTY_SEQUENCES : 0;
        has |= begin == end ? CP_NEVER_ROWLESS : 0;
        has |= end - begin != p->query_begin[1] ? CP_NEVER_UNEQUAL_ROWS : 0;
        for (int row = begin; row < end; row++) {
            has |= gate_visible(p, row) == 0 ? CP_NEVER_EMPTY_ROWS : 0;
        }
    }
    return has;
}

/* ---- The tree ---- */

/* The operations, as far as they have come. */
struct growth {
    struct cp_tree *tree;
    int *token;  /* room for one prompt */
    int next;    /* a token that was never used */
    int longest; /* tokens of a prompt, at most */
    long long id;
    int never_empty; /* 1: an empty prompt gets a token */
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
    int own = n == 0 && op->own == 0 ? g->never_empty : op->own;
    for (int i = 0; i < own; i++) {
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
    struct growth g = {NULL, NULL, 1, longest, 1, (r->never & CP_NEVER_EMPTY_SEQUENCES) != 0};
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

/* Chunks get random numbers: a path is scattered over the pool, as in a pool that has been in
 * use for long. */
static int *scatter(struct gate_problem *p, const struct cp_plan *plan) {
    int *number = gate_allocate((size_t)plan->capacity, sizeof(int)), n = 0;
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
    int *order = gate_scatter(p, n);
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

/* Numbers in the kernel's pool: one in each of as many equal parts of it as there are blocks, at
 * random, and the last of all. Those that can be are multiples of a unit. 0, or -1: no memory. */
static int spread_over_pool(struct gate_problem *p) {
    struct prng random = {p->places ^ 0x9001ULL};
    int n = gate_blocks(p), unit = gate_pool_unit(p), units = unit > 0 ? p->pool / unit : 0;
    if (units <= n || gate_halves(p) * n > RUN_FAR_CHUNKS) {
        p->pool = n;
        return 0;
    }
    p->pool = units * unit;
    p->number = gate_allocate((size_t)n, sizeof(int));
    for (int i = 0; p->number != NULL && i < n; i++) {
        long long begin = (long long)i * units / n, end = (i + 1LL) * units / n;
        p->number[i] = unit * ((int)begin + prng_below(&random, (int)(end - begin)));
    }
    if (p->number == NULL) {
        return -1;
    }
    p->number[n - 1] = p->pool - unit;
    return 0;
}

/* PLAN-7: the keys of each chunk of a path, and the position of the first. PREFILL-1: its rows
 * stand at the last positions. */
static void set_length(struct gate_problem *p, int s, int n_tokens) {
    int c = p->recipe.chunk_size, end = p->query_begin[s + 1];
    p->n_tokens[s] = n_tokens;
    for (int at = s * p->table_width, left = n_tokens; left > 0; at++, left -= c) {
        p->table_tokens[at] = left < c ? left : c;
        p->table_position[at] = p->first[at] = n_tokens - left;
    }
    for (int row = p->query_begin[s]; row < end; row++) {
        p->position[row] = n_tokens - (end - row);
    }
}

static int fill_plan(struct gate_problem *p, const struct cp_plan *plan, const int *number) {
    for (int i = 0; i < plan->n_shared; i++) {
        p->shared[i] = plan->shared[i];
        p->shared[i].chunk = number[plan->shared[i].chunk];
    }
    for (int s = 0; s < p->b; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        p->served[s] = s;
        p->n_shared_chunks[s] = path->n_shared;
        for (int i = 0; i < path->n_chunks; i++) {
            p->table[s * p->table_width + i] = number[path->run[i].chunk];
        }
        p->n_tokens[s] = path->n_tokens;
    }
    if (gate_rows_new(p) != 0) {
        return -1;
    }
    for (int s = 0; s < p->b; s++) {
        set_length(p, s, p->n_tokens[s]);
    }
    return 0;
}

static int longest_path(const struct cp_plan *plan) {
    int longest = 0;
    for (int s = 0; s < plan->n_sequences; s++) {
        int n = plan->sequence[s].n_chunks;
        longest = n > longest ? n : longest;
    }
    return longest;
}

static int make_plan(struct gate_problem *p) {
    struct cp_tree *tree = gate_tree_new(&p->recipe);
    struct cp_plan *plan = NULL;
    int *number = NULL, result = -1;
    if (tree != NULL && cp_plan_new(&plan) == CP_OK) {
        cp_plan_build(plan, tree);
        number = scatter(p, plan);
        if (number != NULL && gate_lists_new(p, plan->n_sequences, longest_path(plan),
                                             plan->n_sequences, plan->n_shared) == 0) {
            result = fill_plan(p, plan, number);
        }
    }
    free(number);
    cp_plan_free(plan);
    cp_tree_free(tree);
    return result;
}

/* ---- The problem ---- */

/* Allocates n d numbers and one more, and does not write them: a problem that turns out to be
 * too large is never filled. */
static double *allocate_rows(size_t n, int d) {
    return malloc((n * (size_t)d + 1) * sizeof(double));
}

static int allocate_numbers(struct gate_problem *p) {
    size_t keys = (size_t)p->capacity * (size_t)p->recipe.n_kv_heads * (size_t)p->recipe.chunk_size;
    p->q = allocate_rows((size_t)p->n_rows * (size_t)p->recipe.n_heads, p->recipe.head_dim);
    p->k = allocate_rows(keys, p->recipe.head_dim);
    p->v = allocate_rows(keys, p->value_dim);
    return p->q != NULL && p->k != NULL && p->v != NULL ? 0 : -1;
}

/* WINDOW-1, as far as the kernel takes it. */
static struct gate_mask mask_of(const struct gate_recipe *r, const struct cp_kernel *kernel) {
    int window = (kernel->masks & CP_MASKS_WINDOW) != 0 ? r->window : 0;
    return (struct gate_mask){
        .window = window,
        .ahead = (kernel->masks & CP_MASKS_AHEAD) != 0 ? r->ahead : 0,
        .kept = window > 0 && (kernel->masks & CP_MASKS_KEPT) != 0 ? r->kept : 0,
        .counts = kernel->conventions.window,
        .kind = (kernel->masks & CP_MASKS_BITS) != 0 ? r->bits : GATE_NO_BITS,
    };
}

/* SCORE-1, SCORE-5, and the conventions: as far as the kernel takes it. */
static struct gate_scores scores_of(const struct gate_recipe *r, const struct cp_kernel *kernel) {
    int has = gate_recipe_changes(r) & kernel->scores, has_biases = has & CP_SCORES_BIASES;
    return (struct gate_scores){
        .has = has,
        .cap = (kernel->scores & CP_SCORES_CAP) != 0 ? 0.125 * r->cap : 0.0,
        .n_biases = has_biases ? r->n_biases : 0,
        .own_bias = has_biases ? r->own_bias : 0,
        .order = kernel->conventions.cap,
        .bias = kernel->conventions.bias,
    };
}

/* Is K, or V, in binary16 once its numbers are multiplied by their scales? */
static int in_half(const struct cp_kernel *kernel) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    return (kernel->cache.k != CP_CACHE_PLAIN && a->k_dequantised == CP_FP16) ||
           (kernel->cache.v != CP_CACHE_PLAIN && a->v_dequantised == CP_FP16);
}

static struct gate_cache cache_of(const struct cp_kernel *kernel) {
    const struct cp_kernel_cache *c = &kernel->cache;
    return (struct gate_cache){
        .k = c->k, .v = c->v, .scales = c->scales, .least = 1.0, .in_half = in_half(kernel)};
}

/* Chunks of a large pool. A scale for each place of it takes memory, as keys do not: then it is
 * smaller, and has places enough for indices of 16 bits to overflow. */
static int pool_of(const struct gate_recipe *r, const struct gate_problem *p) {
    const struct gate_cache *c = &p->cache;
    int most = MOST_SCALES / (r->n_kv_heads * gate_block_size(p));
    int has_scales =
        c->scales == CP_CACHE_SCALE_TOKEN && (c->k != CP_CACHE_PLAIN || c->v != CP_CACHE_PLAIN);
    return has_scales && r->pool > most ? most : r->pool;
}

int gate_pool_fits(const struct gate_recipe *r, const struct cp_kernel *kernel) {
    struct gate_pages pages = gate_pages_of(r, kernel);
    long long width = gate_value_dim(r, kernel),
              slots = pages.kind == CP_PAGES_CHUNKS ? r->chunk_size : pages.size;
    width = width > r->head_dim ? width : r->head_dim;
    return pages.kind != CP_PAGES_RAGGED &&
           (long long)r->pool * r->n_kv_heads * slots * width <= MOST_DENSE;
}

/* All that follows without a plan. */
static void describe(struct gate_problem *p, const struct gate_recipe *recipe,
                     const struct cp_kernel *kernel, unsigned long long seed,
                     unsigned long long places) {
    memset(p, 0, sizeof *p);
    p->recipe = *recipe;
    p->recipe.never = recipe->never | gate_never_of(kernel);
    p->seed = seed;
    p->places = places;
    p->q_type = kernel->q_type;
    p->kv_type = kernel->kv_type;
    p->out_type = kernel->out_type;
    p->lse_type = recipe->without_lse ? CP_NO_LSE : kernel->lse_type;
    p->scale = 0.01 * recipe->scale / sqrt(recipe->head_dim);
    int on_host = kernel->memory == CP_HOST_MEMORY;
    p->cache = cache_of(kernel);
    p->layout = kernel->layout;
    p->pages = gate_pages_of(recipe, kernel);
    int has_blocks = on_host && kernel->layout.pages != CP_PAGES_RAGGED;
    p->pool = has_blocks ? pool_of(recipe, p) : 0;
    p->dense = !on_host && gate_pool_fits(recipe, kernel) ? recipe->pool : 0;
    p->is_far =
        has_blocks && kernel->layout.gaps != CP_GAPS_NONE && (recipe->layout & GATE_FAR) != 0;
    p->plan = recipe->n_modules == 0            ? CP_PLANS_TREES
              : kernel->plans == CP_PLANS_TREES ? CP_PLANS_LISTS
                                                : kernel->plans;
    p->mask = mask_of(recipe, kernel);
    p->scores = scores_of(recipe, kernel);
    p->value_dim = gate_value_dim(recipe, kernel);
    p->scales = kernel->arithmetic.scales;
    p->rotation.keys = kernel->keys;
    p->rotation.pairs = kernel->pairs;
    p->rotation.dim = gate_rotary_dim(p);
}

struct gate_problem gate_problem_guess(const struct gate_recipe *recipe,
                                       const struct cp_kernel *kernel) {
    struct gate_problem p;
    describe(&p, recipe, kernel, recipe->seed, recipe->seed);
    p.b = recipe->sequences > 0 ? recipe->sequences : recipe->n_ops;
    p.n_rows = p.b * (recipe->rows > 0 ? recipe->rows : 1);
    p.capacity = p.table_width = 4 * recipe->n_ops;
    p.pages.n = p.pages.width = p.pages.kind == CP_PAGES_CHUNKS ? 0 : 4 * recipe->n_ops;
    p.n_served = p.b;
    p.mask.n_bytes = p.mask.kind != GATE_NO_BITS ? (size_t)p.n_rows : 0;
    p.pool = p.pool > p.capacity ? p.pool : p.capacity;
    p.pool = p.pool > p.dense ? p.pool : p.dense;
    p.rotation.n_angles = kernel->keys == CP_KEYS_PLACED ? 0 : p.table_width * recipe->chunk_size;
    return p;
}

static int make_problem(struct gate_problem *p, const struct gate_recipe *recipe,
                        const struct cp_kernel *kernel, unsigned long long seed,
                        unsigned long long places) {
    describe(p, recipe, kernel, seed, places);
    int result = recipe->n_modules > 0 ? gate_modules_plan(p) : make_plan(p);
    if (result == 0 && (p->recipe.never & CP_NEVER_EMPTY_ROWS) != 0 &&
        (gate_problem_has(p) & CP_NEVER_EMPTY_ROWS) != 0) {
        p->mask.window = p->mask.kept = 0; /* where no token stands, a window may hide all */
    }
    if (result != 0 || gate_bits_new(p) != 0 || gate_pages_new(p) != 0 ||
        spread_over_pool(p) != 0 || gate_rotation_new(p) != 0 ||
        gate_scores_new(p, kernel->scores) != 0 || gate_cache_new(p) != 0 ||
        allocate_numbers(p) != 0) {
        gate_problem_free(p);
        return -1;
    }
    return 0;
}

int gate_problem_new(struct gate_problem *p, const struct gate_recipe *recipe,
                     const struct cp_kernel *kernel) {
    return make_problem(p, recipe, kernel, recipe->seed, recipe->seed);
}

static unsigned long long renewed_seed(const struct gate_recipe *recipe) {
    return recipe->seed ^ 0x9E6C63D0876A9A47ULL;
}

int gate_problem_renew(struct gate_problem *p, const struct gate_recipe *recipe,
                       const struct cp_kernel *kernel) {
    unsigned long long numbers = renewed_seed(recipe);
    int same_chunks = (recipe->n_ops == 1 && recipe->n_modules == 0) || (recipe->seed & 1) != 0;
    return make_problem(p, recipe, kernel, numbers, same_chunks ? recipe->seed : numbers);
}

void gate_problem_free(struct gate_problem *p) {
    void *memory[] = {p->n_tokens,
                      p->query_begin,
                      p->position,
                      p->n_shared_chunks,
                      p->table,
                      p->table_tokens,
                      p->table_position,
                      p->first,
                      p->served,
                      p->number,
                      p->shared,
                      p->rotation.table,
                      p->scores.slopes,
                      p->scores.biases,
                      p->scores.sinks,
                      p->cache.k_scale,
                      p->cache.v_scale,
                      p->q,
                      p->k,
                      p->v};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        free(memory[i]);
    }
    gate_pages_free(&p->pages);
    gate_bits_free(&p->mask);
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

/* 1: no other entry of the table is that chunk. Of a tree, no own chunk is another's. */
static int is_once(const struct gate_problem *p, int chunk) {
    int n = p->plan == CP_PLANS_TREES;
    for (int at = 0; at < p->b * p->table_width && p->plan != CP_PLANS_TREES; at++) {
        n += p->table[at] == chunk;
    }
    return n == 1;
}

/* Its last run in the order of positions, if that is its own and nobody else has the chunk
 * (RUNS-8); else -1. */
static int last_own_run(const struct gate_problem *p, int s) {
    int k = p->n_tokens[s] > 0 ? gate_run_of(p, s, p->n_tokens[s] - 1) : -1;
    int is_own = k >= p->n_shared_chunks[s] && is_once(p, p->table[s * p->table_width + k]);
    return is_own ? k : -1;
}

/* RUNS-8: that run has `more` keys more, and a row that stood at its last key goes along. */
static void lengthen(struct gate_problem *p, int s, int k, int more) {
    int last = gate_positions(p, s) - 1, row = p->query_begin[s + 1] - 1;
    p->table_tokens[s * p->table_width + k] += more;
    p->n_tokens[s] += more;
    if (row >= p->query_begin[s] && p->position[row] == last) {
        p->position[row] += more;
    }
}

int gate_problem_grow(struct gate_problem *p) {
    int c = p->recipe.chunk_size, grown = 0;
    for (int s = 0; s < p->b; s++) {
        int k = last_own_run(p, s), n = k < 0 ? c : p->table_tokens[s * p->table_width + k];
        if (n < c && p->plan == CP_PLANS_TREES) {
            set_length(p, s, grown_length(p->seed, p->n_tokens[s], c));
        } else if (n < c) {
            lengthen(p, s, k, grown_length(p->seed, n, c) - n);
        }
        grown |= n < c;
    }
    gate_rotation_count(p);
    gate_pages_grow(p);
    return gate_bits_new(p) == 0 ? grown : -1;
}

/* Runs behind n keys are none, and the one that has the last key ends with it. */
static void shorten(struct gate_problem *p, int n) {
    for (int k = 0; k < p->table_width; k++) {
        int left = n - p->first[k];
        if (left <= 0) {
            p->table[k] = -1;
            p->table_tokens[k] = p->table_position[k] = p->first[k] = 0;
        } else if (left < p->table_tokens[k]) {
            p->table_tokens[k] = left;
        }
    }
    p->n_tokens[0] = n;
}

/* Its table is as wide as its runs need, and one entry more, which is none. */
static void narrow(struct gate_problem *p) {
    int runs = 0;
    while (runs < p->table_width && p->table[runs] >= 0) {
        runs++;
    }
    p->table_width = runs < p->table_width ? runs + 1 : p->table_width;
}

static void fill_part(struct gate_problem *part, const struct gate_problem *p, int s, int first) {
    size_t row = (size_t)p->recipe.n_heads * (size_t)p->recipe.head_dim;
    size_t table = (size_t)s * (size_t)p->table_width, all = (size_t)p->table_width * sizeof(int);
    size_t begin = (size_t)p->query_begin[s] + (size_t)first, n = (size_t)part->n_rows;
    part->n_tokens[0] = p->n_tokens[s];
    part->query_begin[1] = part->n_rows;
    memcpy(part->table, p->table + table, all);
    memcpy(part->table_tokens, p->table_tokens + table, all);
    memcpy(part->table_position, p->table_position + table, all);
    memcpy(part->first, p->first + table, all);
    memcpy(part->position, p->position + begin, n * sizeof *part->position);
    memcpy(part->q, p->q + begin * row, n * row * sizeof *part->q);
    if (p->plan == CP_PLANS_TREES && n > 0) {
        shorten(part, part->position[n - 1] + 1);
    }
    narrow(part);
    if (part->rotation.keys != CP_KEYS_PLACED) {
        gate_rotation_count(part);
    }
}

int gate_problem_part(struct gate_problem *part, const struct gate_problem *whole, int sequence,
                      int first, int end) {
    const struct gate_problem *p = whole;
    *part = *p;
    part->n_rows = end - first;
    part->pages = (struct gate_pages){0};
    gate_bits_forget(&part->mask);
    size_t numbers = (size_t)part->n_rows * (size_t)p->recipe.n_heads * (size_t)p->recipe.head_dim;
    part->position = gate_allocate((size_t)part->n_rows, sizeof(int));
    part->q = gate_allocate(numbers, sizeof(double));
    if (gate_lists_new(part, 1, p->table_width - 1, 1, 0) != 0 || part->position == NULL ||
        part->q == NULL) {
        gate_problem_free_alone(part);
        return -1;
    }
    fill_part(part, p, sequence, first);
    if (gate_bits_part(part, p, p->query_begin[sequence] + first) != 0 ||
        gate_pages_part(part, p, sequence) != 0) {
        gate_problem_free_alone(part);
        return -1;
    }
    return 0;
}

int gate_problem_alone(struct gate_problem *alone, const struct gate_problem *whole, int sequence) {
    int rows = whole->query_begin[sequence + 1] - whole->query_begin[sequence];
    return gate_problem_part(alone, whole, sequence, 0, rows);
}

void gate_problem_free_alone(struct gate_problem *alone) {
    alone->k = alone->v = NULL; /* the whole's */
    alone->rotation.table = NULL;
    alone->scores.slopes = alone->scores.biases = alone->scores.sinks = NULL;
    alone->cache.k_scale = alone->cache.v_scale = NULL;
    alone->number = NULL;
    gate_problem_free(alone);
}

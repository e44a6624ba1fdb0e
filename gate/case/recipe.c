/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "cli/base/random.h"
#include "gate/case/problem.h"
#include "gate/case/prompts.h"
#include "gate/case/recipe.h"
#include "gate/case/serving.h"

/* GATE-7: in integers. */
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define LONG_EVERY  32 /* one recipe in so many has */
#define DEEP_EVERY  40
#define WIDE_EVERY  24
#define FAR_EVERY   20
#define FAR_FIRST   3  /* attempts: a kernel may refuse such strides */
#define SERVE_EVERY 25 /* has sizes of a server, */
#define SERVE_FIRST 12 /* in the first attempts */
#define ODD_EVERY   11 /* has a head dimension that no vector divides, */
#define ODD_FIRST   2  /* in the first attempts */
#define WIDE_FIRST  8  /* attempts with wide heads, before the kernel is assumed to refuse them */
#define ONE_EVERY                                                                                  \
    17 /* is one sequence with few keys and one K/V head, run again with other numbers */
#define ONE_FIRST 3
#define FEW_KEYS  16
#define LITTLE    100000 /* work that leaves room for only one head with many keys */

const char *const gate_values_names[GATE_VALUES + 1] = {
    "count",  "select",    "normal", "massive", "one-hot",  "shifted", "rising", "falling",
    "offset", "subnormal", "zero",   "large",   "creeping", "extreme", NULL};

const char *const gate_values_words[GATE_VALUES] = {"each key counts once",
                                                    "the right keys, each at its place",
                                                    "random numbers",
                                                    "a few channels 50 times as large",
                                                    "one key in seven has by far the largest score",
                                                    "all scores far from 0",
                                                    "each key is a new maximum",
                                                    "the first key is the maximum",
                                                    "V is far from 0, with little spread",
                                                    "V is below the smallest normal number",
                                                    "zeros of both signs",
                                                    "V is large, its sums are larger",
                                                    "each key is a new maximum, by little",
                                                    "tiny Q and large K, or the reverse"};

/* Addresses come first, because they show more than random numbers do. */
static const enum gate_values turns[] = {GATE_COUNT,   GATE_SELECT,  GATE_NORMAL, GATE_SELECT,
                                         GATE_SHIFTED, GATE_COUNT,   GATE_SELECT, GATE_MASSIVE,
                                         GATE_RISING,  GATE_COUNT,   GATE_SELECT, GATE_ONE_HOT,
                                         GATE_OFFSET,  GATE_FALLING, GATE_ZERO,   GATE_SUBNORMAL};

/* The turns of these in every second round are those of other kinds. */
static enum gate_values values_of(long long index) {
    long long turn = index % COUNT_OF(turns), round = index / COUNT_OF(turns);
    return round % 2 == 0 ? turns[turn]
           : turn == 3    ? GATE_EXTREME
           : turn == 9    ? GATE_CREEPING
           : turn == 10   ? GATE_LARGE
                          : turns[turn];
}

static int one_of(struct prng *random, const int *choice, int n) {
    return choice[prng_below(random, n)];
}

/* A random number of tokens up to `most`, usually near a chunk boundary. */
static int tokens_near(struct prng *random, int c, int most) {
    int chunks = prng_below(random, most / c + 1);
    int tokens = prng_below(random, 4) == 0 ? prng_below(random, most + 1)
                                            : chunks * c + prng_below(random, 3) - 1;
    return tokens < 0 ? 0 : tokens > most ? most : tokens;
}

static struct gate_op any_op(struct prng *random, int i, int c, int most) {
    struct gate_op op = {GATE_JOIN, prng_below(random, 64), 0, 0};
    int kind = i == 0 ? 0 : prng_below(random, 10);
    if (kind < 6) {
        int all = prng_below(random, 4) == 0; /* of the other sequence's tokens */
        op.tokens = i == 0 ? 0 : all ? most : tokens_near(random, c, most);
        op.own = tokens_near(random, c, most - (op.tokens < most ? op.tokens : most));
    } else if (kind < 8) {
        op.kind = GATE_APPEND;
        op.tokens = 1 + prng_below(random, c + 1 < most ? c + 1 : most);
    } else {
        op.kind = kind == 8 ? GATE_FORK : GATE_LEAVE;
    }
    return op;
}

/* How many tokens a path may have, so that n_ops sequences of one row each stay within `work`. */
static int most_tokens(const struct gate_recipe *r, int n_ops, long long work) {
    int rows = r->queries == GATE_DECODE ? 1 : r->queries == GATE_MANY ? 20 : 4;
    long long most = work / ((long long)n_ops * rows * r->n_heads * r->head_dim);
    int longest = 12 * r->chunk_size + 40;
    return most < 4 ? 4 : most > longest ? longest : (int)most;
}

/* Reduces the other sizes until a path may have two chunks or more. Chunks that no path fills
 * show few of the mistakes at their ends. */
static void make_room(struct gate_recipe *r, long long work) {
    while (most_tokens(r, r->n_ops, work) < 2 * r->chunk_size + 2) {
        if (r->n_heads > r->n_kv_heads) {
            r->n_heads = r->n_kv_heads;
        } else if (r->queries != GATE_DECODE) {
            r->queries = GATE_DECODE;
        } else if (r->n_kv_heads > 1) {
            r->n_kv_heads = r->n_heads = 1;
        } else if (r->n_ops > 3) {
            r->n_ops = 3;
        } else {
            return;
        }
    }
}

/* On the executor each query row and head costs as much as many keys. */
static void make_few(struct gate_recipe *r, long long work) {
    for (;;) {
        int rows = r->queries == GATE_DECODE ? 1 : 4;
        long long numbers = (long long)r->n_ops * rows * r->n_heads * r->head_dim;
        if (numbers <= work || (r->n_ops <= 3 && rows == 1 && r->n_heads == r->n_kv_heads)) {
            return;
        }
        if (r->n_ops > 3) {
            r->n_ops--;
        } else if (rows > 1) {
            r->queries = GATE_DECODE;
        } else {
            r->n_heads = r->n_kv_heads;
        }
    }
}

/* Chooses the values of a long recipe, and its number of keys. If the kernel divides each
 * partial result, the bound for many selected keys is infinite; for counted keys it is finite. */
struct many {
    int keys;
    enum gate_values values;
};

/* Many of the counted keys are beyond 2^14 and 2^15, and the last ones beyond 2^16. */
static const struct many all_many[] = {
    {18000, GATE_COUNT}, {32768, GATE_SELECT}, {18000, GATE_SELECT}, {65536, GATE_COUNT},
    {36000, GATE_COUNT}, {65536, GATE_SELECT}, {18000, GATE_COUNT},  {18000, GATE_SELECT}};

/* Many keys: few sequences, one of which forks off midway, and few runs. */
static void make_long(struct gate_recipe *r, struct prng *random, int longest, long long work) {
    static const int chunk_sizes[] = {64, 128, 16, 17}; /* a path has CP_MAX_DEPTH chunks */
    int keys = longest + prng_below(random, 200);
    r->chunk_size = one_of(random, chunk_sizes, longest > 20000 ? 2 : COUNT_OF(chunk_sizes));
    r->n_kv_heads = 1;
    r->n_heads = longest > 20000 ? 2 : 4;
    r->queries = GATE_DECODE;
    r->n_ops = 2;
    r->op[0] = (struct gate_op){GATE_JOIN, 0, 0, keys};
    r->op[1] = (struct gate_op){GATE_JOIN, 0, keys - 200 + prng_below(random, 200),
                                prng_below(random, 100)};
    r->renewed = 0;
    if (work < LITTLE) {
        r->n_heads = 1;
        r->head_dim = longest > 20000 ? 16 : 16 << prng_below(random, 3);
    } else if (longest > 20000 || prng_below(random, 2) == 0) {
        r->head_dim = longest > 40000 ? 16 : 64;
    } else if (r->head_dim > 64) {
        r->n_heads = 1;
    }
}

/* Many small steps of the maximum, which add up to more than a weight may be; or many values to add
 * up. */
static void make_lengthy(struct gate_recipe *r, struct prng *random, int thousands) {
    int keys =
        thousands ? GATE_THOUSANDS + prng_below(random, 2000) : 200 + prng_below(random, 800);
    /* a path has CP_MAX_DEPTH chunks */
    r->chunk_size += thousands && r->chunk_size < 16 ? 16 : 0;
    r->n_kv_heads = 1;
    r->n_heads = thousands ? 1 : 1 + prng_below(random, 3);
    r->head_dim = r->head_dim <= 128 ? r->head_dim : 64;
    r->queries = GATE_DECODE;
    r->n_ops = 2;
    r->op[0] = (struct gate_op){GATE_JOIN, 0, 0, keys};
    r->op[1] = (struct gate_op){GATE_JOIN, 0, prng_below(random, keys), prng_below(random, 40)};
}

/* Paths of several hundred chunks. */
static void make_deep(struct gate_recipe *r, struct prng *random) {
    int tokens = 300 + prng_below(random, 400);
    r->chunk_size = 1 + prng_below(random, 3);
    r->n_heads = r->n_kv_heads = 1;
    r->queries = GATE_SEVERAL;
    r->n_ops = 2;
    r->op[0] = (struct gate_op){GATE_JOIN, 0, 0, tokens};
    r->op[1] = (struct gate_op){GATE_JOIN, 0, prng_below(random, tokens), 20};
}

/* Wide heads with more keys than a kernel takes at a time. Otherwise wider heads would have
 * fewer keys. This is the n-th such recipe: each width meets each of these kinds of values. */
static void make_wide(struct gate_recipe *r, struct prng *random, long long n, int attempt) {
    static const enum gate_values values[] = {GATE_COUNT, GATE_SELECT, GATE_NORMAL};
    static const int head_dims[] = {256, 128, 320, 192, 100};
    static const int chunk_sizes[] = {16, 64, 17, 32, 128, 5};
    int keys = 140 + prng_below(random, 200);
    r->values = values[n % COUNT_OF(values)];
    r->head_dim = attempt < WIDE_FIRST ? head_dims[n % COUNT_OF(head_dims)] : r->head_dim;
    r->chunk_size = one_of(random, chunk_sizes, COUNT_OF(chunk_sizes));
    r->n_kv_heads = 1;
    r->n_heads = 1 + prng_below(random, 2);
    r->queries = GATE_DECODE;
    r->n_ops = 2;
    r->op[0] = (struct gate_op){GATE_JOIN, 0, 0, keys};
    r->op[1] = (struct gate_op){GATE_JOIN, 0, prng_below(random, keys), prng_below(random, 40)};
}

/* Chooses query heads as a multiple of K/V heads, even where one of the two is given. */
static void apply(struct gate_recipe *r, const struct gate_shape *shape) {
    int group = shape->group > 0 ? shape->group : r->n_heads / r->n_kv_heads;
    r->n_heads = r->n_kv_heads * group;
    r->head_dim = shape->head_dim > 0 ? shape->head_dim : r->head_dim;
    r->chunk_size = shape->chunk_size > 0 ? shape->chunk_size : r->chunk_size;
    if (shape->n_kv_heads > 0) {
        r->n_kv_heads = shape->n_kv_heads;
        r->n_heads = shape->n_kv_heads * group;
    }
    if (shape->n_heads > 0) {
        r->n_heads = shape->n_heads;
        r->n_kv_heads = shape->group > 0 ? shape->n_heads / shape->group : r->n_kv_heads;
        while (r->n_heads % r->n_kv_heads != 0) {
            r->n_kv_heads--;
        }
    }
    r->sequences = shape->sequences > 0 ? shape->sequences : r->sequences;
    if (shape->rows > 0) {
        r->rows = shape->rows;
        r->queries = GATE_DECODE;
    }
}

#define MOST_TIMES 20 /* as much work as an ordinary recipe, with a number of keys that is wanted */

/* Reduces sizes that nobody asked for: so many keys, rows or sequences would take long. */
static void fit(struct gate_recipe *r, const struct gate_shape *shape, int keys, long long work) {
    int n = r->sequences > r->n_ops ? r->sequences : r->n_ops, rows = r->rows > 0 ? r->rows : 1;
    long long of_head = (long long)keys * n * rows;
    r->queries = GATE_DECODE;
    if (of_head * r->n_heads * r->head_dim > MOST_TIMES * work && shape->n_heads == 0) {
        r->n_kv_heads = shape->n_kv_heads > 0 ? shape->n_kv_heads : 1;
        r->n_heads = r->n_kv_heads * (shape->group > 0 ? shape->group : 1);
    }
    if (of_head * r->n_heads * r->head_dim > MOST_TIMES * work && shape->head_dim == 0) {
        r->head_dim = 64;
    }
    while ((long long)r->chunk_size * CP_MAX_DEPTH < keys && shape->chunk_size == 0) {
        r->chunk_size *= 2;
    }
}

/* The first sequence has as many keys as are wanted, or enough for its rows. The others share some
 * of them, and none has more. */
static void make_keys(struct gate_recipe *r, struct prng *random, const struct gate_shape *shape,
                      long long work) {
    int keys = shape->keys > 0   ? shape->keys
               : shape->rows > 0 ? shape->rows + prng_below(random, 2 * shape->rows)
                                 : 20 + prng_below(random, 60);
    r->n_ops = 1 + prng_below(random, 3);
    fit(r, shape, keys, work);
    r->op[0] = (struct gate_op){GATE_JOIN, 0, 0, keys};
    for (int i = 1; i < r->n_ops; i++) {
        int shared = tokens_near(random, r->chunk_size, keys), own = prng_below(random, 40);
        r->op[i] = (struct gate_op){GATE_JOIN, prng_below(random, 64), shared,
                                    own < keys - shared ? own : keys - shared};
    }
}

/* A path has at most CP_MAX_DEPTH chunks. The other sequences that join have a few keys. */
static void shorten(struct gate_recipe *r) {
    int most = CP_MAX_DEPTH * r->chunk_size - 100;
    most = most > 4 ? most : 4;
    r->op[0].own = r->op[0].own < most ? r->op[0].own : most;
    r->op[1].tokens = r->op[1].tokens < most ? r->op[1].tokens : most;
}

/* Keys that a kernel kept from the call before would be used again in this one, because their
 * place in the batch and in memory is the same. */
static void make_one(struct gate_recipe *r, struct prng *random) {
    int group = r->n_heads / r->n_kv_heads;
    r->n_kv_heads = 1;
    r->n_heads = group;
    r->renewed = 1;
    r->n_ops = 1;
    r->op[0] = (struct gate_op){GATE_JOIN, 0, 0, 1 + prng_below(random, FEW_KEYS)};
}

void gate_recipe_make(struct gate_recipe *r, unsigned long long seed, long long index, int attempt,
                      long long work, const struct gate_shape *shape) {
    static const struct gate_shape any = {.n_heads = 0};
    const struct gate_shape *wanted = shape != NULL ? shape : &any;
    static const int head_dims[] = {64, 128, 32, 80, 96, 256, 16, 128, 64, 40, 100, 320};
    static const int odd_head_dims[] = {17, 66, 33, 50, 7, 121, 1, 130, 3};
    static const int chunk_sizes[] = {16, 64, 1, 2, 3, 5, 17, 32, 128, 4, 256, 512};
    static const int groups[] = {1, 2, 4, 8, 1, 3, 7, 16};
    static const int kv_heads[] = {1, 2, 3, 1, 4, 8};
    static const int scales[] = {100, 100, 100, 50, 170};
    struct prng random = {seed ^ (unsigned long long)index * 0xD1342543DE82EF95ULL};
    random.state += (unsigned long long)attempt * 0x8CB92BA72F3D8DD7ULL;
    memset(r, 0, sizeof *r);
    r->seed = prng_next(&random);
    r->values = values_of(index);
    r->head_dim = one_of(&random, head_dims, COUNT_OF(head_dims));
    r->chunk_size = one_of(&random, chunk_sizes, COUNT_OF(chunk_sizes));
    r->n_kv_heads = one_of(&random, kv_heads, COUNT_OF(kv_heads));
    r->n_heads = r->n_kv_heads * one_of(&random, groups, COUNT_OF(groups));
    r->queries = (enum gate_queries)(prng_below(&random, 6) % GATE_QUERIES);
    r->layout = prng_below(&random, 2) == 0 ? 0 : prng_below(&random, GATE_FAR);
    r->padding = (enum gate_padding)prng_below(&random, GATE_PADDINGS);
    if (r->values == GATE_SHIFTED && attempt == 0 && index / COUNT_OF(turns) % 2 == 0) {
        r->head_dim = 16; /* for the scores furthest from 0 */
    } else if (attempt < ODD_FIRST && index % ODD_EVERY == ODD_EVERY / 2) {
        r->head_dim = odd_head_dims[index / ODD_EVERY % COUNT_OF(odd_head_dims)];
    }
    r->scale = one_of(&random, scales, COUNT_OF(scales));
    r->without_lse = prng_below(&random, 6) == 0;
    r->renewed = prng_below(&random, 3) == 0;
    int any_size = work > GATE_SMALL_WORK;
    if (attempt < FAR_FIRST && index % FAR_EVERY == FAR_EVERY / 2 + index / FAR_EVERY % 8) {
        r->layout |= GATE_FAR;
    }
    if (wanted->keys > 0 || wanted->rows > 0 || wanted->sequences > 0) {
        apply(r, wanted);
        make_keys(r, &random, wanted, work);
        return;
    }
    if (any_size && attempt < SERVE_FIRST &&
        index % SERVE_EVERY == SERVE_EVERY / 2 + index / SERVE_EVERY % 8) {
        if (work >= GATE_SERVING_WORK) {
            gate_recipe_serve(r, &random, index / SERVE_EVERY, work);
        } else {
            gate_recipe_serve_few(r, &random, index / SERVE_EVERY, attempt);
        }
        apply(r, wanted);
        shorten(r);
        return;
    }
    if (any_size && index % LONG_EVERY == LONG_EVERY / 2 + index / LONG_EVERY % 8) {
        /* other values each time */
        const struct many *many = &all_many[index / LONG_EVERY % COUNT_OF(all_many)];
        r->values = many->values;
        make_long(r, &random, many->keys, work);
        apply(r, wanted);
        shorten(r);
        return;
    }
    if (any_size && index % DEEP_EVERY == DEEP_EVERY / 2 + index / DEEP_EVERY % 8) {
        make_deep(r, &random);
        apply(r, wanted);
        return;
    }
    if (any_size && index % WIDE_EVERY == WIDE_EVERY / 2 + index / WIDE_EVERY % 8) {
        make_wide(r, &random, index / WIDE_EVERY, attempt);
        apply(r, wanted);
        shorten(r);
        return;
    }
    if (any_size && (r->values == GATE_CREEPING || r->values == GATE_LARGE) &&
        index / COUNT_OF(turns) % 4 == 1) {
        int every_other = index / COUNT_OF(turns) / 4 % 2 == 0;
        make_lengthy(r, &random, r->values == GATE_CREEPING && work >= LITTLE && every_other);
        apply(r, wanted);
        shorten(r);
        return;
    }
    r->n_ops = 1 + prng_below(&random, prng_below(&random, 8) == 0 ? 40 : 12);
    apply(r, wanted);
    if (prng_below(&random, 2) == 0) {
        make_room(r, work);
        apply(r, wanted);
    }
    if (work < LITTLE) {
        make_few(r, work);
    }
    int most = most_tokens(r, r->n_ops, work);
    for (int i = 0; i < r->n_ops; i++) {
        r->op[i] = any_op(&random, i, r->chunk_size, most);
    }
    if (attempt < ONE_FIRST && index % ONE_EVERY == ONE_EVERY / 2) {
        make_one(r, &random);
        apply(r, wanted);
    }
}

static void print_queries(const struct gate_recipe *r, char *text, size_t size) {
    static const char *const queries[] = {"one query row each", "0 to 4 query rows each",
                                          "as many query rows as keys or more, up to 8 each",
                                          "up to 40 query rows each"};
    const char *others = r->queries == GATE_DECODE ? " each" : " for some, else ";
    if (r->rows == 0) {
        (void)snprintf(text, size, "%s", queries[r->queries]);
    } else {
        (void)snprintf(text, size, "%d query row%s%s%s", r->rows, r->rows == 1 ? "" : "s", others,
                       r->queries == GATE_DECODE ? "" : queries[r->queries]);
    }
}

/* The sequences after all operations. grown: the keys of the longest one when the case runs again
 * with more keys; of prompts 0, because only the plan shows which can grow. */
struct sequences {
    int n, most, grown;
};

static struct sequences sequences_of_tree(const struct gate_recipe *r) {
    struct cp_tree *tree = gate_tree_new(r);
    struct sequences found = {tree != NULL ? tree->n_sequences : 0, 0, 0};
    for (int s = 0; s < found.n; s++) {
        int length = cp_tree_length(tree, s), then = gate_grown_length(r, length);
        found.most = length > found.most ? length : found.most;
        found.grown = then > found.grown ? then : found.grown;
    }
    cp_tree_free(tree);
    return found;
}

static struct sequences sequences_of_prompts(const struct gate_recipe *r) {
    struct gate_prompts *prompts = gate_prompts_new(r);
    struct sequences found = {prompts != NULL ? prompts->n : 0, 0, 0};
    for (int s = 0; s < found.n; s++) {
        int n = prompts->prompt[s].n_tokens;
        found.most = n > found.most ? n : found.most;
    }
    free(prompts);
    return found;
}

/* "2 sequences of 7 keys at most". */
static void print_sequences(const struct sequences *is, char *text, size_t size) {
    (void)snprintf(text, size, is->n == 0 ? "no sequence" : "%d sequence%s of %d key%s%s", is->n,
                   is->n == 1 ? "" : "s", is->most, is->most == 1 ? "" : "s",
                   is->n == 1 ? "" : " at most");
}

/* "2 operations, 1 join"; "3 modules at 0 to 9, 10 to 14, 10 to 12". */
static void print_operations(const struct gate_recipe *r, char *text, size_t size) {
    int joins = 0, n = 0;
    for (int i = 0; i < r->n_ops; i++) {
        joins += r->op[i].kind == GATE_JOIN;
    }
    if (r->n_modules == 0) {
        (void)snprintf(text, size, "%d operation%s, %d join%s", r->n_ops, r->n_ops == 1 ? "" : "s",
                       joins, joins == 1 ? "" : "s");
        return;
    }
    n = snprintf(text, size, "%d module%s at", r->n_modules, r->n_modules == 1 ? "" : "s");
    for (int i = 0; i < r->n_modules && n > 0 && n < (int)size; i++) {
        const struct gate_module *module = &r->module[i];
        n += snprintf(text + n, size - (size_t)n, "%s %d to %d%s", i > 0 ? "," : "",
                      module->position, module->position + module->tokens - 1,
                      module->alike ? " (as before)" : "");
    }
}

static int print_mask(const struct gate_recipe *r, char *text, size_t size) {
    static const char *const bits[GATE_BITS] = {"", ", a mask of trees", ", a mask of bits",
                                                ", a mask of all keys"};
    const struct {
        int value;
        const char *words;
    } spans[] = {{r->window, "a window of %d"}, {r->ahead, "%d ahead"}, {r->kept, "%d kept"}};
    int n = 0;
    for (int i = 0; i < COUNT_OF(spans) && size > 0; i++) {
        if (spans[i].value > 0 && n < (int)size) {
            n += snprintf(text + n, size - (size_t)n, ", ");
            n += n < (int)size
                     ? snprintf(text + n, size - (size_t)n, spans[i].words, spans[i].value)
                     : 0;
        }
    }
    n += n < (int)size ? snprintf(text + n, size - (size_t)n, "%s", bits[r->bits]) : 0;
    return n;
}

/* The words of what changes scores. */
static int print_scores(const struct gate_recipe *r, char *text, size_t size) {
    static const char *const slopes[GATE_SLOPES] = {"", ", slopes of ALiBi", ", any slopes"};
    static const char *const biases[GATE_BIASES] = {"", "biases in buckets as T5's", "biases"};
    char cap[32] = "", table[96] = "";
    if (size == 0) {
        return 0;
    }
    if (r->cap > 0) {
        (void)snprintf(cap, sizeof cap, ", scores capped at %g", 0.125 * r->cap);
    }
    if (r->biases != GATE_NO_BIASES) {
        (void)snprintf(table, sizeof table, ", a table of %d %s, the row's own is %d", r->n_biases,
                       biases[r->biases], r->own_bias);
    }
    return snprintf(text, size, "%s%s%s%s", cap, slopes[r->slopes], table,
                    r->sinks ? ", sinks" : "");
}

void gate_recipe_print(const struct gate_recipe *r, char *line) {
    static const char *const layouts[] = {
        "K [slot][head]",   "V in the opposite order to K",   "Q [head][row]",
        "gaps after rows",  "out in the opposite order to Q", "gaps after chunks",
        "chunks 2^32 apart"};
    char sequences[80], queries[120], operations[160];
    struct sequences is = r->n_modules > 0 ? sequences_of_prompts(r) : sequences_of_tree(r);
    print_queries(r, queries, sizeof queries);
    print_sequences(&is, sequences, sizeof sequences);
    print_operations(r, operations, sizeof operations);
    int n = snprintf(line, GATE_LINE, "%s values, h %d, h_kv %d, d %d, c %d, %s (%s), %s",
                     gate_values_names[r->values], r->n_heads, r->n_kv_heads, r->head_dim,
                     r->chunk_size, sequences, operations, queries);
    if (r->pool > 0 && n > 0 && n < GATE_LINE) {
        n += snprintf(line + n, GATE_LINE - (size_t)n, ", a pool of %d chunks", r->pool);
    }
    if (r->rotary > 0 && n > 0 && n < GATE_LINE) {
        n += snprintf(line + n, GATE_LINE - (size_t)n, ", %d numbers of a head rotated", r->rotary);
    }
    if (r->page > 0 && n > 0 && n < GATE_LINE) {
        n += snprintf(line + n, GATE_LINE - (size_t)n, ", pages of %d keys", r->page);
    }
    if (r->value_dim > 0 && n > 0 && n < GATE_LINE) {
        n += snprintf(line + n, GATE_LINE - (size_t)n, ", values of %d numbers", r->value_dim);
    }
    n += print_mask(r, line + n, n > 0 && n < GATE_LINE ? GATE_LINE - (size_t)n : 0);
    n += print_scores(r, line + n, n > 0 && n < GATE_LINE ? GATE_LINE - (size_t)n : 0);
    for (int bit = 0; bit < COUNT_OF(layouts); bit++) {
        if ((r->layout >> bit & 1) != 0 && n > 0 && n < GATE_LINE) {
            n += snprintf(line + n, GATE_LINE - (size_t)n, ", %s", layouts[bit]);
        }
    }
    if (r->renewed && n > 0 && n < GATE_LINE) {
        n += snprintf(line + n, GATE_LINE - (size_t)n,
                      ", then again with other numbers, and with more keys where chunks have room");
    }
    if (r->renewed && is.grown > 0 && n > 0 && n < GATE_LINE) {
        (void)snprintf(line + n, GATE_LINE - (size_t)n, ", up to %d", is.grown);
    }
}

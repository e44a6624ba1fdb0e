/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/recipe.h"

#include <stdio.h>

#include "cli/base/random.h"

#define RENEWED 17 /* one case in so many runs again with other numbers */
#define SERVER  25 /* one in so many has many rows, and one as many heads */

const char *const merge_values_names[MERGE_VALUES + 1] = {
    "count",  "select",  "normal", "equal", "light", "low", "high",
    "rising", "falling", "empty",  "many",  "apart", NULL};
const char *const merge_values_words[MERGE_VALUES] = {
    "whole weights: which parts count, and how often",
    "one part is far heavier: where it lies",
    "usual values",
    "equal log-sum-exps",
    "light parts with large outputs",
    "log-sum-exps far below 0",
    "log-sum-exps far above 0",
    "each part heavier than the one before",
    "each part lighter than the one before",
    "parts and rows without keys",
    "up to 1000 parts",
    "log-sum-exps thousands apart",
};

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

int merge_least_parts(const struct cp_merge_kernel *kernel) {
    return larger(kernel->least_parts, kernel->in_place ? 2 : 1);
}

int merge_most_parts(const struct cp_merge_kernel *kernel) {
    return kernel->most_parts > 0 ? smaller(kernel->most_parts, CP_MERGE_MOST_PARTS)
                                  : CP_MERGE_MOST_PARTS;
}

static int between(struct prng *random, int least, int most) {
    return least + prng_below(random, most - least + 1);
}

/* Few parts as a rule: two above all. */
static int parts_of(struct prng *random, enum merge_values values) {
    int which = prng_below(random, 20);
    if (values == MERGE_MANY) {
        return which < 10 ? between(random, 65, 300) : between(random, 300, CP_MERGE_MOST_PARTS);
    }
    if (values == MERGE_RISING || values == MERGE_FALLING) {
        return between(random, 3, 24);
    }
    return which == 0   ? 1
           : which < 8  ? 2
           : which < 16 ? between(random, 3, 8)
                        : between(random, 9, 64);
}

/* As of attention (GATE-7): multiples of 4, and widths that end in the middle of a vector. */
static int width_of(struct prng *random) {
    static const int usual[] = {64, 128, 80, 96, 192, 256};
    static const int odd[] = {1, 3, 7, 17, 33, 50, 66, 121, 130};
    int which = prng_below(random, 11);
    return which < 6   ? usual[prng_below(random, 6)]
           : which < 9 ? 4 * between(random, 4, 80)
                       : odd[prng_below(random, 9)];
}

static void choose_sizes(struct merge_recipe *r, const struct cp_merge_kernel *kernel,
                         struct prng *random, long long index, int d, int work) {
    int least = merge_least_parts(kernel), most = merge_most_parts(kernel);
    r->head_dim = d > 0 ? d : width_of(random);
    r->n_parts = smaller(larger(parts_of(random, r->values), least), most);
    int left = larger(1, work / larger(1, r->head_dim * r->n_parts));
    int heads = prng_below(random, 4) == 0 ? between(random, 5, 16) : between(random, 1, 4);
    int rows = prng_below(random, 3) == 0 ? between(random, 9, 40) : between(random, 1, 8);
    if (index % SERVER == 5) {
        rows = 300;
        heads = between(random, 1, 2);
    } else if (index % SERVER == 15) {
        heads = between(random, 32, 64);
    }
    r->n_heads = smaller(heads, left);
    r->n_rows = smaller(rows, larger(1, left / r->n_heads));
}

/* The order that the kernel takes, or any of n. */
static int order_of(struct prng *random, int declared, int n) {
    int any = 1 + prng_below(random, n);
    return declared != 0 ? declared : any;
}

void merge_recipe_make(struct merge_recipe *r, const struct cp_merge_kernel *kernel,
                       unsigned long long seed, long long index, int attempt, int d, int work) {
    struct prng random = {seed * PRNG_STEP ^ (unsigned long long)index * 0xBF58476D1CE4E5B9ULL ^
                          (unsigned long long)attempt * 0x94D049BB133111EBULL};
    *r = (struct merge_recipe){.values = (enum merge_values)(index % MERGE_VALUES)};
    r->seed = prng_next(&random);
    choose_sizes(r, kernel, &random, index, d, work);
    int sprinkled = prng_below(&random, 4) == 0;
    r->empties =
        (kernel->never & CP_NEVER_EMPTY_PARTS) == 0 && (sprinkled || r->values == MERGE_EMPTY);
    r->o = order_of(&random, kernel->layout.o, 2);
    r->l = order_of(&random, kernel->layout.l, 3);
    r->lse = order_of(&random, kernel->layout.lse, 2);
    r->gaps = prng_below(&random, 2) == 0 && kernel->layout.gaps == CP_GAPS_ANY;
    int asks = prng_below(&random, 4) != 0;
    r->asks_lse =
        kernel->lse == CP_LSE_ALWAYS || kernel->in_place || (kernel->lse == CP_LSE_ASKED && asks);
    r->renewed = index % RENEWED == 3;
}

/* The order that the kernel takes, or the first. */
static int first_order(int declared) {
    return declared != 0 ? declared : 1;
}

void merge_usual_recipe(struct merge_recipe *r, const struct cp_merge_kernel *k, int i) {
    static const int sizes[MERGE_USUAL][4] = {/* parts, rows, heads, d */
                                              {2, 16, 8, 64},
                                              {2, 32, 4, 128},
                                              {4, 7, 8, 128},
                                              {8, 16, 4, 80}};
    const int *of = sizes[i];
    *r = (struct merge_recipe){.seed = (unsigned long long)i, .values = MERGE_NORMAL};
    r->n_parts = smaller(larger(of[0], merge_least_parts(k)), merge_most_parts(k));
    r->n_rows = of[1];
    r->n_heads = of[2];
    r->head_dim = of[3];
    r->o = first_order(k->layout.o);
    r->l = first_order(k->layout.l);
    r->lse = first_order(k->layout.lse);
    r->asks_lse = k->lse != CP_LSE_NEVER;
}

static int is_another(int order, int declared) {
    return declared != 0 && order != declared;
}

const char *merge_recipe_excluded(const struct merge_recipe *r, const struct cp_merge_kernel *k) {
    return r->n_parts < merge_least_parts(k)   ? "least_parts excludes: so few parts"
           : r->n_parts > merge_most_parts(k)  ? "most_parts excludes: so many parts"
           : is_another(r->o, k->layout.o)     ? "layout.o excludes: another order of outputs"
           : is_another(r->l, k->layout.l)     ? "layout.l excludes: another order"
           : is_another(r->lse, k->layout.lse) ? "layout.lse excludes: another order"
           : r->gaps && k->layout.gaps == CP_GAPS_NONE ? "layout.gaps excludes: gaps"
           : r->asks_lse && k->lse == CP_LSE_NEVER     ? "lse excludes: log-sum-exps"
           : !r->asks_lse && (k->lse == CP_LSE_ALWAYS || k->in_place)
               ? "lse excludes: no log-sum-exps"
           : r->empties && (k->never & CP_NEVER_EMPTY_PARTS) != 0
               ? "never excludes: CP_NEVER_EMPTY_PARTS"
               : NULL;
}

void merge_recipe_print(const struct merge_recipe *r, char line[MERGE_LINE]) {
    static const char *const o[] = {"", "[part][row][head][d]", "[row][part][head][d]"};
    static const char *const l[] = {"", "[part][row][head]", "[part][head][row]",
                                    "[row][part][head]"};
    static const char *const lse[] = {"", "[row][head]", "[head][row]"};
    (void)snprintf(
        line, MERGE_LINE, "%s values, %d part%s, %d row%s, %d head%s, d %d; o %s, l %s%s%s%s%s%s",
        merge_values_names[r->values], r->n_parts, r->n_parts == 1 ? "" : "s", r->n_rows,
        r->n_rows == 1 ? "" : "s", r->n_heads, r->n_heads == 1 ? "" : "s", r->head_dim, o[r->o],
        l[r->l], r->asks_lse ? ", lse " : ", no lse", r->asks_lse ? lse[r->lse] : "",
        r->gaps ? ", with gaps" : "", r->empties ? "; parts without keys" : "",
        r->renewed ? "; again with other numbers" : "");
}

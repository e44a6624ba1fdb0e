/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "chunkproof/opt.h"
#include "chunkproof/opt_plan.h"
#include "chunkproof/status.h"

#define HEAD_DIM   128
#define CHUNK_SIZE 64

/* ---- The grids ---- */

struct list {
    struct bench_load *load;
    int n;
};

static void add(struct list *list, const char *part, int b, int n, int heads, int kv_heads,
                const struct bench_level *level, int n_levels) {
    struct bench_load *load = &list->load[list->n++];
    *load = (struct bench_load){.part = part,
                                .b = b,
                                .n = n,
                                .n_heads = heads,
                                .n_kv_heads = kv_heads,
                                .head_dim = HEAD_DIM,
                                .chunk_size = CHUNK_SIZE};
    for (int i = 0; i < n_levels; i++) {
        if (level[i].tokens > 0) {
            load->level[load->n_levels++] = level[i];
        }
    }
}

/* One prefix that all have in common. */
static void add_one(struct list *list, const char *part, int b, int n, int shared, int heads,
                    int kv_heads) {
    struct bench_level level = {1, shared};
    add(list, part, b, n, heads, kv_heads, &level, 1);
}

static void add_table3(struct list *list, int heads) {
    static const int quarters[] = {0, 2, 3, 4};
    for (int n = 1024; n <= 4096; n *= 2) {
        for (int i = 0; i < 4; i++) {
            add_one(list, "table3", 32, n, n / 4 * quarters[i], heads, heads);
        }
    }
}

static void add_figures(struct list *list, int heads) {
    static const int completed[] = {1, 256, 512, 1024, 2048}, b[] = {16, 32, 48, 64, 80, 96};
    for (int i = 0; i < 5; i++) {
        add_one(list, "figure3", 32, 2048 + completed[i], 2048, heads, heads);
    }
    for (int i = 0; i < 6; i++) {
        add_one(list, "figure4", b[i], 2048 + 64, 2048, heads, heads);
    }
}

static void add_levels(struct list *list, int heads) {
    static const struct bench_level level[] = {{1, 1024}, {4, 1024}, {16, 512}};
    add(list, "levels", 32, 2560, heads, heads, level, 2);
    add(list, "levels", 64, 3072, heads, heads, level, 3);
}

/* Groups of 4 and of 8 heads. */
static void add_grouped(struct list *list, int heads) {
    for (int group = 4; group <= 8 && heads % group == 0; group *= 2) {
        add_one(list, "gqa", 32, 2048, 0, heads, heads / group);
        add_one(list, "gqa", 32, 2048, 2048, heads, heads / group);
    }
}

/* All of bfloat16: as much shared as in Table 3, and grouped heads. */
static void add_bfloat16(struct list *list, int heads) {
    int begin = list->n;
    for (int quarters = 0; quarters <= 4; quarters += quarters == 0 ? 2 : 1) {
        add_one(list, "bf16", 32, 2048, 2048 / 4 * quarters, heads, heads);
    }
    for (int group = 4; group <= 8 && heads % group == 0; group *= 2) {
        add_one(list, "bf16", 32, 2048, 0, heads, heads / group);
        add_one(list, "bf16", 32, 2048, 2048, heads, heads / group);
    }
    for (int i = begin; i < list->n; i++) {
        list->load[i].type = CP_BF16;
    }
}

/* Windows that are a quarter of the context, and an eighth. */
static void add_windows(struct list *list, int heads) {
    for (int n = 16384; n <= 32768; n *= 2) {
        add_one(list, "windows", 4, n, 0, heads, heads % 4 == 0 ? heads / 4 : heads);
        list->load[list->n - 1].window = 4096;
    }
}

/* K and V of 8 bits: half of what binary16 takes. */
static void add_caches(struct list *list, int heads) {
    for (int type = CP_E4M3; type <= CP_INT8; type++) {
        add_one(list, "caches", 4, 4096, 0, heads, heads);
        list->load[list->n - 1].type = type;
    }
}

static void add_small(struct list *list) {
    static const struct bench_level level[] = {{1, 64}, {2, 128}};
    add_one(list, "table3", 4, 192, 0, 4, 4);
    add_one(list, "table3", 4, 192, 128, 4, 4);
    add_one(list, "table3", 4, 192, 192, 4, 4);
    add_one(list, "figure3", 4, 192 + 70, 192, 4, 4);
    add_one(list, "figure4", 6, 192 + 64, 192, 4, 4);
    add(list, "levels", 4, 250, 4, 4, level, 2);
    add_one(list, "gqa", 4, 192, 128, 4, 1);
    add_one(list, "bf16", 4, 192, 128, 4, 2);
    list->load[list->n - 1].type = CP_BF16;
    add_one(list, "windows", 4, 700, 0, 4, 1);
    list->load[list->n - 1].window = 100;
    add_one(list, "caches", 4, 192, 0, 4, 2);
    list->load[list->n - 1].type = CP_E4M3;
}

int bench_loads(struct bench_load *load, int heads, int smoke) {
    struct list list = {load, 0};
    if (smoke) {
        add_small(&list);
        return list.n;
    }
    add_table3(&list, heads);
    add_figures(&list, heads);
    add_levels(&list, heads);
    add_grouped(&list, heads);
    add_bfloat16(&list, heads);
    add_windows(&list, heads);
    add_caches(&list, heads);
    return list.n;
}

int bench_load_shared(const struct bench_load *load) {
    int sum = 0;
    for (int i = 0; i < load->n_levels; i++) {
        sum += load->level[i].tokens;
    }
    return sum;
}

int bench_load_seen(const struct bench_load *load) {
    return load->window > 0 && load->window < load->n ? load->window : load->n;
}

int bench_load_is_short(const struct bench_load *load) {
    return load->type >= CP_E4M3;
}

const char *bench_load_type(const struct bench_load *load) {
    return load->type == CP_BF16   ? "bf16"
           : load->type == CP_E4M3 ? "e4m3"
           : load->type == CP_E5M2 ? "e5m2"
           : load->type == CP_INT8 ? "int8"
                                   : "fp16";
}

void bench_load_print(const struct bench_load *load, char text[BENCH_LOAD_TEXT]) {
    int n = snprintf(text, BENCH_LOAD_TEXT, "%s b=%d n=%d n_s=%d h=%d/%d", load->part, load->b,
                     load->n, bench_load_shared(load), load->n_heads, load->n_kv_heads);
    if (load->window > 0 && n > 0 && n < BENCH_LOAD_TEXT) {
        (void)snprintf(text + n, (size_t)(BENCH_LOAD_TEXT - n), " window=%d", load->window);
    }
    if (load->type != CP_FP16 && n > 0 && n < BENCH_LOAD_TEXT) {
        (void)snprintf(text + n, (size_t)(BENCH_LOAD_TEXT - n), " %s", bench_load_type(load));
    }
}

/* ---- Plans ---- */

/* The tokens of sequence s: a number for each group that it is in, then its own. */
static void tokens_of(const struct bench_load *load, int s, int *token) {
    int at = 0, id = 1;
    for (int i = 0; i < load->n_levels; i++) {
        const struct bench_level *level = &load->level[i];
        int group = (int)((long long)s * level->groups / load->b);
        for (int x = 0; x < level->tokens; x++) {
            token[at++] = id + group;
        }
        id += level->groups;
    }
    while (at < load->n) {
        token[at++] = id + s;
    }
}

static int join_all(struct cp_opt_tree *tree, const struct bench_load *load, int *token) {
    int status = CP_OK;
    for (int s = 0; s < load->b && status == CP_OK; s++) {
        struct cp_joined joined;
        tokens_of(load, s, token);
        status = cp_opt_tree_join(tree, token, load->n, 0, s, &joined);
    }
    return status;
}

static int per_path(const struct bench_load *load) {
    return (load->n + load->chunk_size - 1) / load->chunk_size;
}

/* The plan of a tree with these sequences. */
static int plan_of_tree(struct cp_plan *plan, const struct bench_load *load) {
    struct cp_opt_sizes sizes = {.capacity = load->b * per_path(load),
                                 .chunk_size = load->chunk_size,
                                 .max_sequences = load->b,
                                 .max_depth = per_path(load),
                                 .hash_bits = 64,
                                 .seed = 1};
    struct cp_opt_tree *tree = NULL;
    struct cp_opt_plan *made = NULL;
    int *token = malloc((size_t)load->n * sizeof *token);
    int failed = token == NULL || cp_opt_tree_new(&tree, &sizes) != CP_OK ||
                 cp_opt_plan_new(&made, &sizes) != CP_OK || join_all(tree, load, token) != CP_OK;
    if (!failed) {
        cp_opt_plan_update(made, tree);
        failed = cp_opt_plan_export(made, plan) != CP_OK;
    }
    cp_opt_plan_free(made);
    cp_opt_tree_free(tree);
    free(token);
    return failed ? -1 : 0;
}

/* Each sequence without the others: of the tree's chunks, or of some of its own. */
static void plan_alone(struct cp_plan *plan, const struct cp_plan *tree, int copies) {
    int next = 0;
    plan->stamp = tree->stamp;
    plan->capacity = tree->capacity;
    plan->chunk_size = tree->chunk_size;
    plan->n_sequences = tree->n_sequences;
    plan->n_shared = 0;
    plan->n_served = tree->n_served;
    memcpy(plan->served, tree->served, (size_t)tree->n_served * sizeof *tree->served);
    for (int s = 0; s < tree->n_sequences; s++) {
        struct cp_plan_sequence *path = &plan->sequence[s];
        path->n_tokens = tree->sequence[s].n_tokens;
        path->n_chunks = tree->sequence[s].n_chunks;
        path->n_shared = 0;
        for (int k = 0; k < path->n_chunks; k++) {
            path->run[k] = tree->sequence[s].run[k];
            path->run[k].chunk = copies ? next++ : path->run[k].chunk;
        }
    }
}

int bench_plans_new(struct bench_plans *plans, const struct bench_load *load) {
    memset(plans, 0, sizeof *plans);
    if (cp_plan_new(&plans->tree) != CP_OK || cp_plan_new(&plans->pages) != CP_OK ||
        cp_plan_new(&plans->paged) != CP_OK || plan_of_tree(plans->tree, load) != 0) {
        bench_plans_free(plans);
        return -1;
    }
    const struct cp_plan *tree = plans->tree;
    plan_alone(plans->pages, tree, 0);
    plan_alone(plans->paged, tree, 1);
    plans->distinct = (long long)tree->n_shared * tree->chunk_size;
    for (int s = 0; s < tree->n_sequences; s++) {
        plans->distinct +=
            tree->sequence[s].n_tokens - tree->sequence[s].n_shared * tree->chunk_size;
    }
    if (load->window > 0) {
        plans->distinct = (long long)load->b * bench_load_seen(load);
    }
    return 0;
}

void bench_plans_free(struct bench_plans *plans) {
    cp_plan_free(plans->tree);
    cp_plan_free(plans->pages);
    cp_plan_free(plans->paged);
    memset(plans, 0, sizeof *plans);
}

/* ---- Amounts ---- */

size_t bench_chunk_bytes(const struct bench_load *load) {
    return (size_t)load->n_kv_heads * (size_t)load->chunk_size * (size_t)load->head_dim *
           cp_number_size(load->type);
}

double bench_load_bytes(const struct bench_load *load, long long distinct) {
    double kept = 2.0 * (double)distinct * load->n_kv_heads * load->head_dim;
    double rows = 2.0 * load->b * (double)load->n_heads * load->head_dim;
    return kept * (double)cp_number_size(load->type) + rows * BENCH_TYPE_BYTES;
}

double bench_load_flops(const struct bench_load *load) {
    return 4.0 * load->b * (double)load->n_heads * bench_load_seen(load) * load->head_dim;
}

double bench_load_fp32_flops(const struct bench_load *load, int version) {
    int is_halved = version == CP_OPT_AVX512_BF16 && load->type == CP_BF16;
    return bench_load_flops(load) * (is_halved ? 0.75 : 1.0);
}

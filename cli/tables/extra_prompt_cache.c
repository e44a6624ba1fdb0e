/* SPDX-License-Identifier: Apache-2.0 */
/* What section prompt-cache shows beside the published cells: how many modules fit, where the gain
 * comes from, and what no model gives. */
#include <math.h>
#include <stddef.h>

#include "cli/base/text.h"
#include "cli/tables/tables.h"

#define MODULE 1024.0 /* tokens of a module */

/* The models of the paper's Table 2. */
static const char *const models[] = {"bert-base", "falcon-1b",  "llama-7b",  "llama-13b",
                                     "mpt-30b",   "falcon-40b", "llama-70b", "falcon-180b"};
#define N_MODELS (sizeof models / sizeof models[0])

/* GiB of an RTX 4090, an A40, an A100, and of the host of the paper's CPU measurements. */
static const double memories[] = {24, 48, 80, 128};
#define N_MEMORIES (sizeof memories / sizeof memories[0])

double cp_modules_that_fit(const struct cp_dims *dims, double tokens, double gib) {
    return floor(gib * CP_GIB / (tokens * cp_kv_bytes(dims)));
}

static void print_fits(FILE *file) {
    fprintf(file, "\nModules of %.0f tokens that fit, beside nothing else\n%-13s%12s", MODULE,
            "model", "MiB each");
    for (size_t j = 0; j < N_MEMORIES; j++) {
        fprintf(file, "%8.0f GiB", memories[j]);
    }
    fprintf(file, "\n");
    for (size_t i = 0; i < N_MODELS; i++) {
        const struct cp_dims *dims = cp_dims_find(models[i]);
        fprintf(file, "%-13s%12.1f", dims->title, MODULE * cp_kv_bytes(dims) / CP_MIB);
        for (size_t j = 0; j < N_MEMORIES; j++) {
            fprintf(file, "%12.0f", cp_modules_that_fit(dims, MODULE, memories[j]));
        }
        fprintf(file, "\n");
    }
}

/* Prompts of Llama 7B: tokens, and how many of these are new. */
static const int prompts[][2] = {{1000, 10},   {1000, 100},  {1000, 500},   {3000, 30},
                                 {3000, 300},  {3000, 1500}, {5000, 50},    {5000, 500},
                                 {5000, 2500}, {10000, 100}, {10000, 1000}, {10000, 5000}};
#define N_PROMPTS (sizeof prompts / sizeof prompts[0])

struct cp_prefill cp_prefill_of(double n, double n_new) {
    struct cp_layer layer = cp_layer_llama2_7b();
    const struct cp_dims *dims = cp_dims_find("llama-7b");
    double token = cp_cost_qkv(&layer, 1).flops + cp_cost_hidden_projection(&layer, 1).flops +
                   cp_cost_mlp(&layer, 1).flops;
    double pair = cp_cost_attention(&layer, 1, 1, 1).flops;
    double cached = n - n_new;
    struct cp_prefill prefill = {
        .linear = dims->layers * token * n,
        .attention = dims->layers * pair * n * (n + 1.0) / 2.0,
        .copied = cached * cp_kv_bytes(dims),
    };
    prefill.left =
        dims->layers * (token * n_new + pair * (n_new * cached + n_new * (n_new + 1.0) / 2.0));
    return prefill;
}

static void print_prefills(FILE *file) {
    fprintf(file,
            "\nWhere the gain comes from: causal prefill of Llama 7B, TFLOP of its layers\n"
            "%8s%8s%10s%11s%8s%10s%12s%12s\n",
            "tokens", "new", "linear", "attention", "%", "of new", "times less", "GB cached");
    for (size_t i = 0; i < N_PROMPTS; i++) {
        struct cp_prefill p = cp_prefill_of(prompts[i][0], prompts[i][1]);
        double all = p.linear + p.attention;
        fprintf(file, "%8d%8d%10.2f%11.2f%8.1f%10.3f%12.2f%12.3f\n", prompts[i][0], prompts[i][1],
                p.linear / 1e12, p.attention / 1e12, 100.0 * p.attention / all, p.left / 1e12,
                all / p.left, p.copied / 1e9);
    }
}

static const char *const no_model[] = {
    "Table 1: how good answers are.",
    "Figures 3, 4, 6, 7, 8: times of prompts whose numbers of tokens are not given.",
    "The ratios of 1, 5.2.1 and 5.2.2, which sum these times up.",
    "Figure 5: a picture; of its times the text gives those of 3K and 5K tokens above.",
};

static void print_no_model(FILE *file) {
    fprintf(file, "\nWhat no model gives\n");
    for (size_t i = 0; i < sizeof no_model / sizeof no_model[0]; i++) {
        fputs("- ", file);
        text_put_wrapped(file, no_model[i], 2, 2, 99);
    }
}

void cp_prompt_cache_print_text(FILE *file) {
    print_fits(file);
    print_prefills(file);
    print_no_model(file);
}

json_t *cp_prompt_cache_json(void) {
    json_t *fits = json_array(), *prefills = json_array(), *none = json_array();
    for (size_t i = 0; i < N_MODELS; i++) {
        const struct cp_dims *dims = cp_dims_find(models[i]);
        for (size_t j = 0; j < N_MEMORIES; j++) {
            json_array_append_new(fits, json_pack("{s:s,s:f,s:f,s:f}", "model", dims->name,
                                                  "tokens", MODULE, "gib", memories[j], "modules",
                                                  cp_modules_that_fit(dims, MODULE, memories[j])));
        }
    }
    for (size_t i = 0; i < N_PROMPTS; i++) {
        struct cp_prefill p = cp_prefill_of(prompts[i][0], prompts[i][1]);
        json_array_append_new(
            prefills, json_pack("{s:i,s:i,s:f,s:f,s:f,s:f}", "tokens", prompts[i][0], "new",
                                prompts[i][1], "linear_flops", p.linear, "attention_flops",
                                p.attention, "new_flops", p.left, "cached_bytes", p.copied));
    }
    for (size_t i = 0; i < sizeof no_model / sizeof no_model[0]; i++) {
        json_array_append_new(none, json_string(no_model[i]));
    }
    return json_pack("{s:o,s:o,s:o}", "fits", fits, "prefills", prefills, "no_model", none);
}

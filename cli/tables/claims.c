/* SPDX-License-Identifier: Apache-2.0 */
/* Published numbers outside the FLOPs tables: KV sizes, memory, and ratios that the text quotes.
 * A wrong formula beside a claim is a conjecture of how the number came about; it is shown only
 * when it gives the number. */
#include "cli/tables/published.h"

#include <stddef.h>

#include "cli/tables/tables.h"

static double kv_mib(const struct cp_dims *dims, double tokens) {
    return tokens * cp_kv_bytes(dims) / CP_MIB;
}

static double kv_mib_all_heads(const struct cp_dims *dims, double tokens) {
    return tokens * cp_kv_bytes_all_heads(dims) / CP_MIB;
}

static double kv_gib(const struct cp_dims *dims, double tokens) {
    return tokens * cp_kv_bytes(dims) / CP_GIB;
}

static double kv_gib_all_heads(const struct cp_dims *dims, double tokens) {
    return tokens * cp_kv_bytes_all_heads(dims) / CP_GIB;
}

static double heads_per_kv_head(const struct cp_dims *dims, double unused) {
    (void)unused;
    return (double)dims->heads / dims->kv_heads;
}

static double kv_heads(const struct cp_dims *dims, double unused) {
    (void)unused;
    return dims->kv_heads;
}

static double constant(const struct cp_dims *dims, double value) {
    (void)dims;
    return value;
}

static double weights_gb(const struct cp_dims *dims, double unused) {
    (void)unused;
    return dims->parameters * dims->number_bytes / 1e9;
}

/* GiB that the weights leave free. */
static double free_gib(const struct cp_dims *dims, double memory_gib) {
    return memory_gib - dims->parameters * dims->number_bytes / CP_GIB;
}

static double ten_thousand_tokens(const struct cp_dims *dims, double memory_gib) {
    return free_gib(dims, memory_gib) * CP_GIB / cp_kv_bytes(dims) / 1e4;
}

static double sequences_of_2048(const struct cp_dims *dims, double memory_gib) {
    return free_gib(dims, memory_gib) * CP_GIB / cp_kv_bytes(dims) / 2048.0;
}

/* Milliseconds to move the KV of 2048 tokens at `rate` bytes per second. */
static double move_2048_ms(const struct cp_dims *dims, double rate) {
    return 1e3 * 2048.0 * cp_kv_bytes(dims) / rate;
}

/* GiB/s at which prefilling 2048 tokens in `seconds` makes KV, and seconds until it fills the
 * memory of four GPUs of 80 GiB beside the weights. */
static double fill_gib_per_s(const struct cp_dims *dims, double seconds) {
    return 2048.0 * cp_kv_bytes(dims) / CP_GIB / seconds;
}

static double fill_s(const struct cp_dims *dims, double seconds) {
    return free_gib(dims, 4.0 * 80.0) / fill_gib_per_s(dims, seconds);
}

#define NONE          NULL, 0, NULL
#define ALL_HEADS(fn) fn, 1, "one KV head per query head, which this model does not have,"

/* clang-format off */
const struct cp_kv_claim cp_kv_claims[] = {
    {"ICLR 1", "GPT-3 175B, a token", "gpt3-175b", "4.5", "MiB", kv_mib, 1, NONE},
    {"ICLR 1", "GPT-3 175B, 2K tokens", "gpt3-175b", "9", "GiB", kv_gib, 2048, NONE},
    {"ICLR 1", "tokens in 8 x 80 GiB next to GPT-3 (roughly)", "gpt3-175b",
     "7", "10^4 tokens", ten_thousand_tokens, 640, NONE},
    {"ICLR 1", "the same, requests of 2K tokens", "gpt3-175b",
     "35", "requests", sequences_of_2048, 640, NONE},
    {"ACL 1", "GPT-3 175B, a token", "gpt3-175b", "4.5", "MiB", kv_mib, 1, NONE},
    {"ACL 1", "tokens in 8 x 80 GiB next to GPT-3 (roughly)", "gpt3-175b",
     "7", "10^4 tokens", ten_thousand_tokens, 640, NONE},
    {"ACL 1", "the same, sequences of 2K tokens", "gpt3-175b",
     "35", "sequences", sequences_of_2048, 640, NONE},
    {"Prompt Cache Table 2", "BERT", "bert-base", "0.03", "MiB", kv_mib, 1, NONE},
    {"Prompt Cache Table 2", "Falcon 1B", "falcon-1b", "0.18", "MiB", kv_mib, 1, NONE},
    {"Prompt Cache Table 2", "Llama 7B", "llama-7b", "0.50", "MiB", kv_mib, 1, NONE},
    {"Prompt Cache Table 2", "Llama 13B", "llama-13b", "0.78", "MiB", kv_mib, 1, NONE},
    {"Prompt Cache Table 2", "MPT 30B", "mpt-30b", "1.31", "MiB", kv_mib, 1, NONE},
    {"Prompt Cache Table 2", "Falcon 40B", "falcon-40b", "1.87", "MiB", kv_mib, 1,
     ALL_HEADS(kv_mib_all_heads)},
    {"Prompt Cache Table 2", "Llama 70B", "llama-70b", "2.5", "MiB", kv_mib, 1,
     ALL_HEADS(kv_mib_all_heads)},
    {"Prompt Cache Table 2", "Falcon 180B", "falcon-180b", "4.53", "MiB", kv_mib, 1,
     ALL_HEADS(kv_mib_all_heads)},
    {"Prompt Cache 5.5", "Falcon 1B, 1K tokens (approximately)", "falcon-1b",
     "180", "MiB", kv_mib, 1024, constant, 1000 * 0.18, "1000 times Table 2's 0.18"},
    {"Prompt Cache 5.5", "Llama 70B, 1K tokens", "llama-70b", "2.5", "GiB", kv_gib, 1024,
     kv_gib_all_heads, 1024, "one KV head per query head, which this model does not have,"},
    {"AttentionStore 2.1", "GPT-3, a token", "gpt3-175b", "4.5", "MiB", kv_mib, 1, NONE},
    {"AttentionStore 2.4", "LLaMA-65B, 2K tokens", "llama-65b", "5", "GiB", kv_gib, 2048, NONE},
    {"AttentionStore 2.4", "LLaMA-65B, loading 2K tokens at 26 GB/s (about)", "llama-65b",
     "192", "ms", move_2048_ms, 26e9, constant, 1e3 * 5 / 26, "5 GB written for 5 GiB"},
    {"AttentionStore 2.4", "LLaMA-65B, making 2K tokens in 360 ms", "llama-65b",
     "13.9", "GiB/s", fill_gib_per_s, 0.36, NONE},
    {"AttentionStore 2.4", "LLaMA-65B, weights", "llama-65b", "130", "GB", weights_gb, 0, NONE},
    {"AttentionStore 2.4", "free beside them on 4 GPUs of 80 GiB", "llama-65b",
     "190", "GiB", free_gib, 320, constant, 320 - 130, "320 GiB minus 130 GB, units mixed,"},
    {"AttentionStore 2.4", "time to fill them", "llama-65b", "14", "s", fill_s, 0.36, NONE},
    {"AttentionStore 4.2", "LLaMA-65B, a token", "llama-65b", "2.5", "MiB", kv_mib, 1, NONE},
    {"AttentionStore 4.2", "LLaMA-13B, a token", "llama-13b", "0.78", "MiB", kv_mib, 1, NONE},
    {"AttentionStore 4.2", "LLaMA-70B, a token", "llama-70b", "0.31", "MiB", kv_mib, 1, NONE},
    {"AttentionStore 4.2", "Falcon-40B, a token", "falcon-40b", "0.12", "MiB", kv_mib, 1, NONE},
    {"AttentionStore 4.2", "LLaMA-70B, GQA factor", "llama-70b",
     "8", "heads/KV head", heads_per_kv_head, 0, NONE},
    {"AttentionStore 4.2", "Falcon-40B, GQA factor", "falcon-40b",
     "16", "heads/KV head", heads_per_kv_head, 0, NONE},
    {"AttentionStore 4.3.8", "Mistral-7B, GQA factor", "mistral-7b",
     "8", "heads/KV head", heads_per_kv_head, 0, kv_heads, 0, "the number of KV heads"},
};

const int cp_n_kv_claims = sizeof cp_kv_claims / sizeof cp_kv_claims[0];

#define TABLE_3 "no kernels of Table 3 give it: PagedAttn* 2.8 to 3.2, PagedAttn 6.3 to 6.8"

/* The numbers compared are those of ACL Tables 3 and 4 and of the text around Figures 3 and 5. */
const struct cp_ratio_claim cp_ratio_claims[] = {
    {CP_SECTION_CAPACITY, CP_REDUCTION, "ACL 4.2", "KV reduced by, n_s = 1024", "70-90",
     3.28, 14.79, 0, 0, NULL},
    {CP_SECTION_CAPACITY, CP_REDUCTION, "ACL 4.2", "KV reduced by, n_s = 2048", "70-90",
     3.40, 21.09, 0, 0, NULL},
    {CP_SECTION_CAPACITY, CP_REDUCTION, "ACL 4.2", "KV reduced by, n_s = 4096", "70-90",
     4.00, 35.42, 0, 0, NULL},
    {CP_SECTION_CAPACITY, CP_REDUCTION, "ACL 4.2", "peak batch reduced by, n_s = 1024", "20-40",
     14, 23, 0, 0, NULL},
    {CP_SECTION_CAPACITY, CP_REDUCTION, "ACL 4.2", "peak batch reduced by, n_s = 2048", "20-40",
     12, 19, 0, 0, NULL},
    {CP_SECTION_CAPACITY, CP_REDUCTION, "ACL 4.2", "peak batch reduced by, n_s = 4096", "20-40",
     11, 16, 0, 0, NULL},
    {CP_SECTION_CAPACITY, CP_REDUCTION, "Prompt Cache 5.4", "100 prompts of 2K, the same 1K", "50",
     1 + 100 * 1, 100 * 2, 0, 0, NULL},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL 4.1", "Naive / ChunkAttn, n_s = 4096", "6.6",
     1370.41, 206.22, 0, 0, NULL},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL 4.1", "Naive / PagedAttn*, n_s = 4096", "2.1",
     1370.41, 663.84, 0, 0, NULL},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL 4.1", "PagedAttn* / ChunkAttn, n_s = 1024", "2.8",
     154.46, 56.00, 0, 0, NULL},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL 4.1", "PagedAttn* / ChunkAttn, n_s = 4096", "3.2",
     663.84, 206.22, 0, 0, NULL},
    {CP_SECTION_RATIOS, CP_REDUCTION, "ACL 4.1", "largest reduction PagedAttn -> PagedAttn*", "52",
     154.46, 355.44, 663.84, 1399.51,
     "n_s = 4096 alone (the largest is at n_s = 1024)"},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL abstract, 6", "PagedAttn / ChunkAttn, n_s = 1024", "3.2",
     355.44, 56.00, 0, 0, TABLE_3},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL abstract, 6", "PagedAttn / ChunkAttn, n_s = 4096", "4.8",
     1399.51, 206.22, 0, 0, TABLE_3},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL 4.1", "token rate on PagedAttn*, n_c = 512", "2.0",
     145, 73, 0, 0, NULL},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL 4.1", "token rate on PagedAttn*, n_c = 2048", "1.5",
     70, 46, 0, 0, NULL},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL 4.2", "requests/s on vLLM, n_s = 1024", "1.6",
     2.9, 1.8, 0, 0, NULL},
    {CP_SECTION_RATIOS, CP_RATIO, "ACL 4.2", "requests/s on vLLM, n_s = 2048", "2.3",
     2.3, 1.0, 0, 0, NULL},
};

const int cp_n_ratio_claims = sizeof cp_ratio_claims / sizeof cp_ratio_claims[0];

const struct cp_peak_row cp_peak_rows[] = {
    {"vLLM", 1024, 0, 512, 23, "14.73", 1.0, 19.92},
    {"ChunkLlama", 1024, 0, 512, 18, "11.90", 1.0, 19.11},
    {"vLLM", 1024, 0, 512, 23, "14.79", 1.0, 20.80},
    {"ChunkLlama", 1024, 1024, 512, 14, "3.28", 1.0, 14.07},
    {"vLLM", 2048, 0, 512, 19, "21.70", 0.6, 21.90},
    {"ChunkLlama", 2048, 0, 512, 20, "22.41", 0.6, 19.43},
    {"vLLM", 2048, 0, 512, 19, "21.09", 0.6, 21.61},
    {"ChunkLlama", 2048, 2048, 512, 12, "3.40", 0.6, 15.20},
    {"vLLM", 4096, 0, 512, 16, "34.59", 0.4, 26.23},
    {"ChunkLlama", 4096, 0, 512, 16, "35.13", 0.4, 26.88},
    {"vLLM", 4096, 0, 512, 16, "35.42", 0.4, 27.62},
    {"ChunkLlama", 4096, 4096, 512, 11, "4.00", 0.4, 17.16},
};

const int cp_n_peak_rows = sizeof cp_peak_rows / sizeof cp_peak_rows[0];

const int cp_kernel_loads[][2] = {
    {1024, 0}, {1024, 512}, {1024, 768}, {1024, 1024}, {2048, 0}, {2048, 1024},
    {2048, 1536}, {2048, 2048}, {4096, 0}, {4096, 2048}, {4096, 3072}, {4096, 4096},
};
/* clang-format on */

const int cp_n_kernel_loads = sizeof cp_kernel_loads / sizeof cp_kernel_loads[0];

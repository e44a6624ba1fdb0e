/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of the Prompt Cache paper beside those of kv-bytes and capacity: times, which data sheets
 * bound from below, and ratios of times. The paper gives most times without a number of tokens, and
 * then no formula says anything about them. */
#include <stddef.h>
#include <stdlib.h>

#include "cli/tables/tables.h"

/* Data sheets: bytes per second of two channels of DDR5-5600, of PCIe 4.0 x16, of an RTX 4090's
 * memory; FLOPs per second of tensor cores at 16 bits, of an RTX 4090 (sums of 16 bits) and an
 * A40. */
#define HOST    (2.0 * 8.0 * 5600e6)
#define PCIE    31.5e9
#define MEMORY  1008e9
#define RTX4090 330.3e12
#define A40     149.7e12

#define TOKENS_3K 3000.0 /* "3K", the smaller of its two meanings, as for bounds */
#define TOKENS_5K 5000.0

/* FLOPs of a causal prefill: layers alone, without the vocabulary's projection. */
static double prefill_flops(double n, double layers, double hidden, double inner) {
    double weights = layers * (4.0 * hidden * hidden + 3.0 * hidden * inner);
    return 2.0 * n * weights + 4.0 * layers * hidden * (n * (n + 1.0) / 2.0); /* MODEL-2, 3 */
}

static double kv(const char *model) {
    return cp_kv_bytes(cp_dims_find(model));
}

static struct cp_cell *add(struct cp_cells *cells, const char *table, const char *row,
                           const char *unit) {
    struct cp_cell *cell = cp_cell_add(cells, CP_SECTION_PROMPT_CACHE);
    cp_cell_text(cell->table, sizeof cell->table, "%s", table);
    cp_cell_text(cell->row, sizeof cell->row, "%s", row);
    cp_cell_text(cell->unit, sizeof cell->unit, "%s", unit);
    return cell;
}

/* A time that was measured, and the least that it can be. */
static void at_least(struct cp_cells *cells, const char *row, const char *published, double least,
                     const char *note) {
    struct cp_cell *cell = add(cells, "Prompt Cache 5.4", row, "ms");
    int is_possible = strtod(published, NULL) >= least;
    cp_cell_text(cell->published, sizeof cell->published, "%s", published);
    cp_cell_text(cell->recomputed, sizeof cell->recomputed, "at least %.4g", least);
    cell->status = is_possible ? CP_CELL_WITHIN : CP_CELL_DIFFERS;
    if (!is_possible) {
        cp_cell_text(cell->note, sizeof cell->note, "%s", note);
        cell->has_value = 1;
        cell->value = least;
    }
}

static void add_copies(struct cp_cells *cells) {
    double bytes = TOKENS_5K * kv("llama-7b");
    at_least(cells, "5K tokens of Llama 7B, host to host", "3.79", 2e3 * bytes / HOST,
             "read and written at 89.6 GB/s; one layer of the 32 in that time is 21.6 GB/s");
    at_least(cells, "5K tokens of Llama 7B, host to device", "5.34", 1e3 * bytes / PCIE,
             "at the 31.5 GB/s of PCIe 4.0 x16; one layer of the 32 in that time is 15.3 GB/s");
    at_least(cells, "5K tokens of Llama 7B, device to device", "0.23", 2e3 * bytes / MEMORY,
             "read and written at 1008 GB/s; one layer of the 32 takes at least 0.16 ms");
}

static void add_prefills(struct cp_cells *cells) {
    const struct cp_dims *model = cp_dims_find("llama-7b");
    double small = prefill_flops(TOKENS_3K, 32, 4096, 11008);
    double large = prefill_flops(TOKENS_3K, 40, 5120, 13824);
    double more = TOKENS_3K * (kv("llama-13b") - kv("llama-7b"));
    at_least(cells, "3K tokens of Llama 7B on an RTX 4090, no cache", "900", 1e3 * small / RTX4090,
             "");
    at_least(cells, "the same, all cached in the CPU's memory", "90",
             1e3 * TOKENS_3K * kv("llama-7b") / PCIE, "");
    at_least(cells, "the next token", "32", 1e3 * model->parameters * model->number_bytes / MEMORY,
             "");
    at_least(cells, "Llama 13B instead of 7B, 3K tokens, no cache", "220",
             1e3 * (large - small) / A40,
             "at an A40's 149.7 TFLOP/s; 5.4 names no other GPU that has room for Llama 13B");
    at_least(cells, "the same, all cached in the CPU's memory", "30", 1e3 * more / PCIE, "");
    struct cp_cell *cell =
        add(cells, "Prompt Cache 5.4", "tokens of 32 ms in 900 - 90 ms", "tokens");
    cp_cell_compare(cell, "25", (900.0 - 90.0) / 32.0);
}

/* A ratio of two printed times, as the text has it. */
static void ratio(struct cp_cells *cells, const char *table, const char *row, const char *published,
                  double slow, double fast, const char *note) {
    struct cp_cell *cell = add(cells, table, row, "times");
    if (cp_cell_compare_interval(cell, published, slow / fast) == CP_CELL_DIFFERS) {
        cp_cell_text(cell->note, sizeof cell->note, "%s", note);
    }
}

/* Figures 6 to 8: Llama2 7B, modules in the memory of the device that computes. */
static const struct {
    const char *row;
    const char *baseline;
    const char *cached;
} times[] = {
    {"Figure 6, code, GPU", "924", "93"},    {"Figure 6, code, CPU", "75976", "861"},
    {"Figure 7, persons, GPU", "216", "65"}, {"Figure 7, persons, CPU", "22449", "686"},
    {"Figure 8, travel, GPU", "75", "54"},   {"Figure 8, travel, CPU", "4725", "479"},
};

static void add_times(struct cp_cells *cells) {
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const char *const published[] = {times[i].baseline, times[i].cached};
        for (int j = 0; j < 2; j++) {
            struct cp_cell *cell = add(cells, "Prompt Cache 5.6", times[i].row, "ms");
            cp_cell_text(cell->column, sizeof cell->column, "%s", j == 0 ? "baseline" : "cached");
            cp_cell_text(cell->published, sizeof cell->published, "%s", published[j]);
            cell->status = CP_CELL_MEASURED;
        }
    }
}

static void add_ratios(struct cp_cells *cells) {
    static const char gpu[] = "outside of what the paper says of GPUs";
    static const char cpu[] = "outside of what the paper says of CPUs";
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        int is_gpu = i % 2 == 0;
        ratio(cells, "Prompt Cache 1", times[i].row, is_gpu ? "1.5-10" : "20-70",
              strtod(times[i].baseline, NULL), strtod(times[i].cached, NULL), is_gpu ? gpu : cpu);
    }
    ratio(cells, "Prompt Cache 5.2", times[4].row, "5-10", 75, 54,
          "modules in the GPU's memory, as in Figure 8");
    ratio(cells, "Prompt Cache 5.6", "code generation is faster on GPUs by", "4", 924, 93,
          "the times that Figure 6 prints are 9.9 apart");
    ratio(cells, "Prompt Cache abstract", "GPUs, up to (Figure 6)", "8", 924, 93,
          "the paper's own figures have more");
    ratio(cells, "Prompt Cache abstract", "CPUs, up to (Figure 6)", "60", 75976, 861,
          "the paper's own figures have more");
}

void cp_cells_prompt_cache(struct cp_cells *cells) {
    add_copies(cells);
    add_prefills(cells);
    add_ratios(cells);
    add_times(cells);
}

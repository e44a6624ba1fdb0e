/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text. */
#include <stdlib.h>

#include "cli/base/clean.h"
#include "cli/modules/report.h"

#define GIB 0x1p30

/* ---- What was simulated ---- */

/* A file's name may be long, and of any bytes. */
static void print_name(const char *what, const char *name, FILE *out) {
    char *clean = text_clean(name);
    fprintf(out, "%-11s%s\n", what, clean);
    free(clean);
}

static void print_load(const struct modules_report *report, FILE *out) {
    const struct modules_options *o = report->options;
    const struct pml_schema *s = report->items->schema;
    int modules = 0;
    for (int x = 1; x < s->n_parts; x++) {
        modules += s->part[x].kind == CP_PART_MODULE;
    }
    print_name("schema", o->schema != NULL ? o->schema : "made up", out);
    fprintf(out, "           %d modules, %d positions, %d items to cache\n", modules, s->size[0],
            report->items->n);
    fprintf(out, "prompts    %d, of %d draws with weights 1/r^%g and %d new tokens, seed %llu\n",
            o->prompts, o->imports, o->zipf, o->new, o->seed);
}

static void print_server(const struct modules_report *report, FILE *out) {
    const struct modules_options *o = report->options;
    const struct cp_dims *model = &o->model;
    const struct modules_machine *machine = &report->settings->machine;
    fprintf(out,
            "model      %d layers, %d K/V heads of %d numbers of %d bytes: %.0f bytes per token\n",
            model->layers, model->kv_heads, model->head_dim, model->number_bytes,
            report->summary.token_bytes);
    fprintf(out, "           %g weights\n", model->parameters);
    print_name("machine", o->machine != NULL ? o->machine : "a100", out);
    fprintf(out, "           %g TFLOP/s, memory %g GB/s, copies from the CPU %g GB/s\n",
            machine->flops_per_second / 1e12, machine->bytes_per_second / 1e9,
            machine->copy_bytes_per_second / 1e9);
    if (machine->join_bytes_per_second > 0.0) {
        fprintf(out, "           cached states are copied together at %g GB/s\n",
                machine->join_bytes_per_second / 1e9);
    }
    fprintf(out,
            "server     batches of %d prompts; for modules %g GiB of the GPU, %g GiB of the CPU\n",
            o->batch, o->memory[MODULES_GPU], o->memory[MODULES_CPU]);
}

/* ---- What came of it ---- */

static double percent(long long part, long long all) {
    return all > 0 ? 100.0 * (double)part / (double)all : 0.0;
}

static void print_counts(const char *name, const struct modules_counts *counts,
                         const struct modules_counts *all, FILE *out) {
    fprintf(out, "%-36s%12lld%9.1f %%%16lld%9.1f %%\n", name, counts->items,
            percent(counts->items, all->items), counts->tokens,
            percent(counts->tokens, all->tokens));
}

static void print_hits(const struct modules_run *run, FILE *out) {
    struct modules_counts all = {0, 0};
    for (int i = 0; i <= MODULES_TIERS; i++) {
        all.items += run->from[i].items;
        all.tokens += run->from[i].tokens;
    }
    fprintf(out, "\n%-36s%12s%11s%16s\n", "", "items", "", "tokens");
    print_counts("taken by prompts", &all, &all, out);
    print_counts("  in the GPU's memory: hits", &run->from[MODULES_GPU], &all, out);
    print_counts("  in the CPU's memory: hits, copied", &run->from[MODULES_CPU], &all, out);
    print_counts("  nowhere: encoded", &run->from[MODULES_NOWHERE], &all, out);
    print_counts("    and kept nowhere", &run->unkept, &all, out);
    fprintf(out, "%-36s%12lld\n", "left the GPU's memory", run->left[MODULES_GPU]);
    fprintf(out, "%-36s%12lld\n", "left the CPU's memory", run->left[MODULES_CPU]);
    fprintf(out, "%-36s%12lld\n", "draws that a union excluded", run->dropped);
}

static void print_memory(const struct modules_report *report, FILE *out) {
    const struct modules_run *run = report->run;
    double gib = report->summary.token_bytes / GIB;
    double batches = run->batches > 0 ? run->batches : 1;
    fprintf(out, "\n%-36s%12s%12s\n", "K/V memory, GiB", "GPU", "CPU");
    fprintf(out, "%-36s%12.3f%12.3f\n", "modules, at most", gib * (double)run->peak[MODULES_GPU],
            gib * (double)run->peak[MODULES_CPU]);
    fprintf(out, "%-36s%12.3f%12.3f\n", "copied to it", gib * (double)run->from[MODULES_CPU].tokens,
            gib * (double)run->to_host);
    fprintf(out, "\n%-36s%12s%12s%12s\n", "a batch's K/V memory, GiB", "each its own", "shared",
            "less");
    fprintf(out, "%-36s%12.3f%12.3f%10.2f %%\n", "mean", gib * (double)run->own.sum / batches,
            gib * (double)run->shared.sum / batches, 100.0 * report->summary.reduction);
    fprintf(out, "%-36s%12.3f%12.3f\n", "at most", gib * (double)run->own.most,
            gib * (double)run->shared.most);
}

static void print_time(const char *name, double full, double cached, FILE *out) {
    fprintf(out, "%-36s%12.2f%12.2f\n", name, full, cached);
}

static void print_times(const struct modules_report *report, FILE *out) {
    const struct modules_summary *summary = &report->summary;
    const struct modules_time *full = &report->run->full, *cached = &report->run->cached;
    double ms = report->run->prompts > 0 ? 1e3 / report->run->prompts : 0.0;
    fprintf(out, "\n%-36s%12s%12s%12s\n", "time to the first token, ms", "all of it", "cached",
            "faster");
    fprintf(out, "%-36s%12.2f%12.2f%10.2f x\n", "mean", summary->full.mean, summary->cached.mean,
            summary->faster);
    print_time("median", summary->full.p50, summary->cached.p50, out);
    print_time("99th percentile", summary->full.p99, summary->cached.p99, out);
    fputs("of which, on average\n", out);
    print_time("  the weights' FLOPs", ms * full->linear, ms * cached->linear, out);
    print_time("  attention's FLOPs", ms * full->attention, ms * cached->attention, out);
    print_time("  or reading, where that is longer", ms * full->reading, ms * cached->reading, out);
    print_time("  copying from the CPU's memory", 0.0, ms * cached->copying, out);
    print_time("  copying cached states together", 0.0, ms * cached->joining, out);
}

void modules_report_text(const struct modules_report *report, FILE *out) {
    print_load(report, out);
    print_server(report, out);
    if (report->is_interrupted) {
        fprintf(out, "\ninterrupted after %d prompts\n", report->run->prompts);
    }
    print_hits(report->run, out);
    print_times(report, out);
    print_memory(report, out);
}

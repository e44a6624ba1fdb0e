/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/clean.h"
#include "gate/case/cache.h"
#include "gate/report/report.h"
#include "gate/search/log.h"

/* A CUDA source that does not ask for device memory. This can be intended, but usually it was
 * forgotten. */
static int may_lack_memory(const struct gate_report *report) {
    const char *suffix = strrchr(report->options->kernel, '.');
    return report->kernel->memory == CP_HOST_MEMORY && suffix != NULL && strcmp(suffix, ".cu") == 0;
}

static void print_held(FILE *file, unsigned contained, int held) {
    for (int i = 0, n = 0; i < GATE_HOLDS; i++) {
        if (((contained & gate_holds[i].bit) != 0) == held) {
            fprintf(file, "%s%s",
                    n++ > 0 ? ", "
                    : held  ? "held from  "
                            : "; NOT HELD from ",
                    gate_holds[i].words);
        }
    }
}

void gate_print_held(FILE *file, unsigned contained) {
    print_held(file, contained, 1);
    if (contained != 0) {
        print_held(file, contained, 0);
    } else {
        fputs("held from  nothing: this system has neither Landlock nor namespaces", file);
    }
    fputc('\n', file);
}

static int has_usual_conventions(const struct cp_kernel *kernel) {
    const struct cp_kernel_conventions *c = &kernel->conventions;
    return c->lse_base == CP_LSE_NATURAL && c->empty_out == CP_EMPTY_NEUTRAL &&
           c->empty_lse == CP_EMPTY_NEUTRAL && c->never == 0 && c->invariant == CP_INVARIANT_NOT &&
           c->window == CP_WINDOW_OF_KEYS && c->cap == CP_CAP_FIRST && c->bias == CP_BIAS_SIGNED &&
           c->sink == CP_SINK_IN_LSE;
}

static void print_kernel(FILE *file, const struct gate_report *report) {
    const struct cp_kernel *kernel = report->kernel;
    fputs("kernel     ", file);
    text_put_clean(file, kernel->name);
    fputs(" (", file);
    text_put_clean(file, report->options->kernel);
    fprintf(file,
            ")\n"
            "takes      Q %s, K and V %s; writes out %s, lse %s\n",
            gate_type_name(kernel->q_type), gate_type_name(kernel->kv_type),
            gate_type_name(kernel->out_type), gate_type_name(kernel->lse_type));
    if (kernel->masks != 0) {
        fputs("masks      causal", file);
        for (int i = 0; i < GATE_MASKS; i++) {
            fprintf(file, "%s%s", (kernel->masks >> i & 1) != 0 ? ", " : "",
                    (kernel->masks >> i & 1) != 0 ? gate_mask_names[i] : "");
        }
        int others = kernel->masks != CP_MASKS_BITS, bits = (kernel->masks & CP_MASKS_BITS) != 0;
        fprintf(file, " (%s%s%s)\n", others ? "WINDOW-1" : "", others && bits ? ", " : "",
                bits ? "MASK-1" : "");
    }
    if (kernel->scores != 0) {
        fputs("scores     scaled", file);
        for (int i = 0; i < GATE_CHANGES; i++) {
            fprintf(file, "%s%s", (kernel->scores >> i & 1) != 0 ? ", " : "",
                    (kernel->scores >> i & 1) != 0 ? gate_change_names[i] : "");
        }
        fputs(" (SCORE-1 to SCORE-5)\n", file);
    }
    if (!gate_is_plain(&kernel->cache)) {
        fprintf(file, "cache      K %s, V %s, with a scale for each %s (CONV-10)\n",
                gate_cache_name(kernel->cache.k), gate_cache_name(kernel->cache.v),
                gate_cache_scales_name(kernel->cache.scales));
    }
    if (!gate_is_by_strides(kernel)) {
        text_put_line(file, "layout     ", gate_layout_of(kernel), " (CONV-11, CONV-12)\n");
    }
    if (kernel->widths == CP_WIDTHS_ANY) {
        fputs("widths     values have another one than keys (CONV-13)\n", file);
    }
    if (kernel->plans != CP_PLANS_TREES) {
        fprintf(file, "plans      of trees, and of runs with %s of sequences (GATE-13)\n",
                gate_plans_name(kernel->plans));
    }
    if (kernel->keys != CP_KEYS_PLACED) {
        fprintf(file, "keys       rotated when they are read, by %s; pairs are %s (GATE-14)\n",
                kernel->keys == CP_KEYS_RAW ? "their positions" : "the positions of their runs",
                gate_pairs_name(kernel->pairs));
    }
    if (!has_usual_conventions(kernel)) {
        text_put_line(file, "by         ", gate_conventions_of(kernel), "\n");
    }
    text_put_line(file, "declares   ", gate_declares(kernel), "\n");
    if (may_lack_memory(report)) {
        fputs("memory     the host's; for device memory set cp_kernel.memory to CP_DEVICE_MEMORY\n",
              file);
    }
    gate_print_held(file, report->contained);
    fprintf(file, "cases      tier %s, seed %llu\n\n", gate_tier_names[report->options->tier],
            report->options->seed);
}

static void print_tallies(FILE *file, const struct gate_result *r) {
    fputs("values       cases   wrong      numbers   largest error/bound   what they show\n", file);
    for (int i = 0; i < GATE_VALUES; i++) {
        const struct gate_tally *t = &r->tally[i];
        if (t->cases > 0) {
            char ratio[GATE_RATIO_TEXT];
            gate_ratio(t->largest, ratio);
            fprintf(file, "%-10s %7lld %7lld %12lld   %19s   %s\n", gate_values_names[i], t->cases,
                    gate_wrong_cases_of(t), t->compared, ratio, gate_values_words[i]);
        }
    }
}

static void print_found(FILE *file, const struct gate_report *report,
                        const struct gate_found *found) {
    const struct gate_finding *f = &found->finding;
    long long cases = report->result->verdicts[f->verdict];
    char *why = gate_case_why(report, found), line[GATE_LINE];
    gate_recipe_print(&found->recipe, line);
    fprintf(file, "\n%s, %lld %s; breaks %s\n  ", gate_verdict_names[f->verdict], cases,
            cases == 1 ? "case" : "cases", f->clause);
    text_put_clean(file, f->text);
    fprintf(file, "\n  smallest case: %s\n", line);
    text_put_line(file, "  again: ", gate_case_again(report, found),
                  gate_case_needs_others(report, found) ? " (it needs the cases before it)\n"
                                                        : "\n");
    if (why != NULL) {
        text_put_line(file, "  why:   ", why, "\n");
    }
}

static void print_all_found(FILE *file, const struct gate_report *report) {
    int order[GATE_VERDICTS], n = gate_found_order(report->result->verdicts, GATE_VERDICTS, order);
    for (int i = 0; i < n; i++) {
        print_found(file, report, &report->result->found[order[i]]);
    }
    if (gate_wrong_cases(report->result) > 0 && report->options->save == NULL) {
        fputs(
            "\n"
            "--save DIRECTORY makes these cases smaller and keeps them, for `chunkproof explain`\n",
            file);
    }
}

static void print_notes(FILE *file, const struct gate_report *report) {
    char *why = gate_no_answer(report);
    for (int i = 0; i < GATE_NOTES; i++) {
        char *note = gate_note(report, i);
        if (note[0] != '\0') {
            text_put_line(file, "\n", note, "\n");
        } else {
            free(note);
        }
    }
    if (why != NULL) {
        text_put_line(file, report->result->cases > 0 ? "\n" : "", why, "\n");
    }
}

void gate_print_text(FILE *file, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    const char *answer = gate_answer(r);
    print_kernel(file, report);
    if (r->cases > 0) {
        print_tallies(file, r);
        text_put_line(file, "\nkeys       at most, by d: ", gate_keys_at_most(r), "\n");
        text_put_line(file, "sizes      at most: ", gate_sizes_at_most(r), "\n");
    }
    print_all_found(file, report);
    print_notes(file, report);
    if (report->options->rules) {
        gate_log_print(file, &r->each, &r->usual);
    }
    const struct gate_options whole = {.tier = report->options->tier};
    char of_tier[60] = "";
    if (report->options->cases > 0 && r->cases < gate_cases(&whole)) {
        (void)snprintf(of_tier, sizeof of_tier, "; tier %s has %lld cases",
                       gate_tier_names[whole.tier], gate_cases(&whole));
    }
    fprintf(file, "\n%s: %lld of %lld cases wrong, %lld runs, %.1f s%s%s\n",
            strcmp(answer, "wrong") == 0  ? "WRONG"
            : strcmp(answer, "none") == 0 ? "NO VERDICT"
                                          : answer,
            gate_wrong_cases(r), r->cases, r->runs, r->seconds, of_tier,
            !r->interrupted ? ""
            : gate_wrong_cases(r) > 0 && report->options->save != NULL
                ? ", interrupted: cases may not be as small as possible"
                : ", interrupted");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/clean.h"
#include "gate/merge/mistakes.h"
#include "gate/merge/report.h"
#include "gate/report/report.h"
#include "gate/search/log.h"

static void print_kernel(FILE *file, const struct merge_report *report) {
    const struct gate_options *o = report->options;
    char *conventions = merge_conventions(report->kernel);
    fputs("kernel     ", file);
    text_put_clean(file, report->kernel->name);
    fputs(", which merges (", file);
    text_put_clean(file, o->kernel);
    fputs(")\n", file);
    text_put_line(file, "takes      ", merge_takes(report->kernel), "\n");
    if (conventions[0] != '\0') {
        text_put_line(file, "by         ", conventions, "\n");
    } else {
        free(conventions);
    }
    text_put_line(file, "declares   ", merge_declares(report->kernel), "\n");
    gate_print_held(file, report->contained);
    fprintf(file, "cases      tier %s, seed %llu\n\n", gate_tier_names[o->tier], o->seed);
}

static void print_tallies(FILE *file, const struct merge_result *r) {
    fputs("values       cases   wrong      numbers   largest error/bound   what they show\n", file);
    for (int i = 0; i < MERGE_VALUES; i++) {
        const struct merge_tally *t = &r->tally[i];
        if (t->cases > 0) {
            char ratio[GATE_RATIO_TEXT];
            gate_ratio(t->largest, ratio);
            fprintf(file, "%-10s %7lld %7lld %12lld   %19s   %s\n", merge_values_names[i], t->cases,
                    t->wrong, t->compared, ratio, merge_values_words[i]);
        }
    }
    fprintf(file, "\nsizes      at most: %d parts, %d rows, %d heads, d %d\n", r->sizes.n_parts,
            r->sizes.n_rows, r->sizes.n_heads, r->sizes.head_dim);
    fprintf(file,
            "laws       %lld merges of a row alone, in another order, with and without parts that "
            "have no key\n",
            r->laws);
}

static void print_found(FILE *file, const struct merge_report *report,
                        const struct merge_found *found) {
    const struct merge_finding *f = &found->finding;
    long long cases = report->result->verdicts[f->verdict];
    char line[MERGE_LINE];
    merge_recipe_print(&found->recipe, line);
    fprintf(file, "\n%s, %lld %s; breaks %s\n  ", merge_verdict_name(f->verdict), cases,
            cases == 1 ? "case" : "cases", f->of.clause);
    text_put_clean(file, f->of.text);
    fprintf(file, "\n  smallest case: %s\n", line);
    text_put_line(file, "  again: ", merge_again(report, found),
                  merge_needs_others(found) ? " (it needs the cases before it)\n" : "\n");
    int likeliest = merge_likeliest(report->result, f->verdict);
    if (likeliest >= 0) {
        fprintf(file, "  why:   %s: all wrong numbers of %lld of these cases\n",
                merge_mistake_words(likeliest), report->result->explained[f->verdict][likeliest]);
    }
    char *explain = merge_why(report, found);
    if (explain != NULL) {
        text_put_line(file, "  more:  ", explain, "\n");
    }
}

/* What the verdict leaves open. */
static void print_notes(FILE *file, const struct merge_report *report) {
    const struct merge_result *r = report->result;
    const char *why = merge_no_answer(r);
    if (r->refused > 0) {
        fprintf(file, "\n%lld case%s refused; the last one because ", r->refused,
                r->refused == 1 ? " was" : "s were");
        text_put_clean(file, r->refusal);
        fputc('\n', file);
    }
    if (merge_unclaimed(r) > 0) {
        fprintf(file,
                "\n%lld numbers have no finite bound, and were not judged; %lld cases have too few "
                "that were\n",
                merge_unclaimed(r), r->unjudged);
    }
    for (int i = 0; i < MERGE_VALUES; i++) {
        const struct merge_tally *t = &r->tally[i];
        if (2 * t->unclaimed > t->compared + t->unclaimed) {
            fprintf(
                file,
                "of `%s` values only %lld of %lld numbers were judged: the declaration is wide\n",
                merge_values_names[i], t->compared, t->compared + t->unclaimed);
        }
    }
    if (why != NULL) {
        fprintf(file, "\nno verdict: %s\n", why);
    }
}

void merge_print_text(FILE *file, const struct merge_report *report) {
    const struct merge_result *r = report->result;
    const char *answer = merge_answer(r);
    int order[MERGE_VERDICTS], n = gate_found_order(r->verdicts, MERGE_VERDICTS, order);
    print_kernel(file, report);
    if (r->cases > 0) {
        print_tallies(file, r);
    }
    for (int i = 0; i < n; i++) {
        print_found(file, report, &r->found[order[i]]);
    }
    print_notes(file, report);
    if (report->options->rules) {
        gate_log_print(file, &r->each, &r->usual);
    }
    fprintf(file, "\n%s: %lld of %lld cases wrong, %lld runs, %.1f s%s\n",
            strcmp(answer, "wrong") == 0  ? "WRONG"
            : strcmp(answer, "none") == 0 ? "NO VERDICT"
                                          : answer,
            merge_wrong_cases(r), r->cases, r->runs, r->seconds,
            r->interrupted ? ", interrupted" : "");
}

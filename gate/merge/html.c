/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one page, as of attention: HTML that is also XML, without scripts. */
#include <stdlib.h>
#include <string.h>

#include "gate/merge/mistakes.h"
#include "gate/merge/report.h"
#include "gate/report/page.h"
#include "gate/report/report.h"

static void put_answer(struct markup *m, const struct merge_report *report) {
    const struct merge_result *r = report->result;
    const char *answer = merge_answer(r), *why = merge_no_answer(r);
    markup_open(m, "header");
    markup_attribute(m, "class", "answer %s", answer);
    markup_element(m, "h1", NULL, "%s",
                   strcmp(answer, "none") == 0    ? "? No verdict"
                   : strcmp(answer, "right") == 0 ? "\u2713 Right"
                                                  : "\u2717 Wrong");
    markup_element(m, "p", NULL,
                   "%s: %lld of %lld cases wrong; %lld runs of the kernel in %.1f s%s",
                   report->kernel->name, merge_wrong_cases(r), r->cases, r->runs, r->seconds,
                   r->interrupted ? "; interrupted before the end" : "");
    if (why != NULL) {
        markup_element(m, "p", NULL, "There is no verdict: %s.", why);
    }
    gate_page_close(m);
}

static void put_kernel(struct markup *m, const struct merge_report *report) {
    char *conventions = merge_conventions(report->kernel);
    markup_element(m, "h2", NULL, "The kernel");
    gate_page_open(m, "dl", "kernel");
    gate_page_term(m, "name", report->kernel->name);
    gate_page_term(m, "file", report->options->kernel);
    gate_page_own_term(m, "takes", merge_takes(report->kernel));
    gate_page_term(m, "conventions",
                   conventions[0] != '\0' ? conventions : "those of the specification (MERGING-9)");
    gate_page_own_term(m, "declares", merge_declares(report->kernel));
    markup_element(m, "dt", NULL, "cases");
    markup_element(m, "dd", NULL, "tier %s, seed %llu", gate_tier_names[report->options->tier],
                   report->options->seed);
    gate_page_close(m);
    markup_element(m, "p", "note",
                   "It is held to what it declares: each number must be within the certified "
                   "bound of that arithmetic (MERGING-6, MERGING-7).");
    free(conventions);
}

/* ---- What is wrong ---- */

static void put_found(struct markup *m, const struct merge_report *report,
                      const struct merge_found *found) {
    const struct merge_finding *f = &found->finding;
    long long cases = report->result->verdicts[f->verdict];
    int why = merge_likeliest(report->result, f->verdict);
    char line[MERGE_LINE];
    merge_recipe_print(&found->recipe, line);
    gate_page_open(m, "article", "found");
    markup_element(m, "h3", NULL, "\u2717 %s: %lld case%s; breaks %s",
                   merge_verdict_name(f->verdict), cases, cases == 1 ? "" : "s", f->of.clause);
    markup_element(m, "p", "says", "%s", f->of.text);
    if (why >= 0) {
        markup_element(m, "p", "says", "Why: %s (all wrong numbers of %lld of these cases).",
                       merge_mistake_words(why), report->result->explained[f->verdict][why]);
    }
    markup_element(m, "p", NULL, "Smallest case: %s", line);
    gate_page_command(m,
                      merge_needs_others(found)
                          ? "To repeat it, with the cases before it, which it needs:"
                          : "To repeat it:",
                      merge_again(report, found));
    gate_page_command(m, "What the wrong rows and heads have in common:", merge_why(report, found));
    gate_page_close(m);
}

static void put_all_found(struct markup *m, const struct merge_report *report) {
    int order[MERGE_VERDICTS];
    int n = gate_found_order(report->result->verdicts, MERGE_VERDICTS, order);
    if (n == 0) {
        return;
    }
    markup_element(m, "h2", NULL, "What is wrong");
    if (report->options->save == NULL) {
        markup_element(m, "p", "note",
                       "--save DIRECTORY makes these cases smaller and keeps them, for chunkproof "
                       "replay and chunkproof explain.");
    }
    for (int i = 0; i < n; i++) {
        put_found(m, report, &report->result->found[order[i]]);
    }
}

/* ---- The evidence ---- */

static void put_evidence(struct markup *m, const struct merge_report *report) {
    static const char *const heading[] = {
        "values",          "what they show",     "cases", "wrong", "numbers",
        "without a bound", "largest error/bound"};
    const struct merge_result *r = report->result;
    markup_element(m, "h2", NULL, "Evidence");
    gate_page_open(m, "div", "wide");
    gate_page_open(m, "table", "evidence");
    gate_page_headings(m, heading, (int)(sizeof heading / sizeof heading[0]));
    for (int i = 0; i < MERGE_VALUES; i++) {
        const struct merge_tally *t = &r->tally[i];
        char ratio[GATE_RATIO_TEXT];
        markup_open(m, "tr");
        markup_element(m, "th", NULL, "%s", merge_values_names[i]);
        markup_element(m, "td", NULL, "%s", merge_values_words[i]);
        gate_page_number(m, t->cases, 0);
        gate_page_number(m, t->wrong, 1);
        gate_page_number(m, t->compared, 0);
        gate_page_number(m, t->unclaimed, 0);
        gate_ratio(t->largest, ratio);
        markup_element(m, "td", t->largest > 1.0 ? "bad" : "number", "%s", ratio);
        gate_page_close(m);
    }
    markup_close(m);
    gate_page_close(m);
    markup_element(m, "p", "note", "Sizes at most: %d parts, %d rows, %d heads, d %d",
                   r->sizes.n_parts, r->sizes.n_rows, r->sizes.n_heads, r->sizes.head_dim);
    markup_element(m, "p", "note",
                   "%lld merges of a row alone, in another order, with and without parts that have "
                   "no key (MERGING-2)",
                   r->laws);
    if (r->refused > 0) {
        markup_element(m, "p", "note", "%lld cases were refused; the last one because %s",
                       r->refused, r->refusal);
    }
}

int merge_print_html(FILE *file, const struct merge_report *report) {
    struct markup m;
    gate_page_begin(&m, report->kernel->name, merge_answer(report->result));
    put_answer(&m, report);
    put_kernel(&m, report);
    put_all_found(&m, report);
    put_evidence(&m, report);
    return gate_page_end(&m, merge_run_again(report), file);
}

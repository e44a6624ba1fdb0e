/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one page: HTML that is also XML, without scripts and without external content. */
#include "gate/report/html.h"

#include <stdlib.h>
#include <string.h>

#include "gate/report/page.h"

/* ---- The verdict ---- */

static void put_answer(struct markup *m, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    const char *answer = gate_answer(r);
    char *no_answer = gate_no_answer(report);
    int is_right = strcmp(answer, "right") == 0;
    markup_open(m, "header");
    markup_attribute(m, "class", "answer %s", answer);
    markup_element(m, "h1", NULL, "%s",
                   no_answer != NULL ? "? No verdict"
                   : is_right        ? "\u2713 Right"
                                     : "\u2717 Wrong");
    markup_element(m, "p", NULL,
                   "%s: %lld of %lld cases wrong; %lld runs of the kernel in %.1f s%s",
                   report->kernel->name, gate_wrong_cases(r), r->cases, r->runs, r->seconds,
                   r->interrupted ? "; interrupted before the end" : "");
    if (no_answer != NULL) {
        markup_element(m, "p", NULL, "There is no verdict: %s.", no_answer);
    }
    gate_page_close(m);
    free(no_answer);
}

static void put_kernel(struct markup *m, const struct gate_report *report) {
    const struct cp_kernel *k = report->kernel;
    char types[100];
    (void)snprintf(types, sizeof types, "Q %s, K and V %s; writes out %s, log-sum-exp %s",
                   gate_type_name(k->q_type), gate_type_name(k->kv_type),
                   gate_type_name(k->out_type), gate_type_name(k->lse_type));
    markup_element(m, "h2", NULL, "The kernel");
    gate_page_open(m, "dl", "kernel");
    gate_page_term(m, "name", k->name);
    gate_page_term(m, "file", report->options->kernel);
    gate_page_term(m, "takes", types);
    gate_page_term(m, "plans", gate_plans_name(k->plans));
    gate_page_term(m, "keys",
                   k->keys == CP_KEYS_PLACED ? "at their positions"
                   : k->keys == CP_KEYS_RAW  ? "without positions (GATE-14)"
                                             : "at positions of their runs (GATE-14)");
    gate_page_own_term(m, "conventions", gate_conventions_of(k));
    gate_page_own_term(m, "declares", gate_declares(k));
    markup_element(m, "dt", NULL, "cases");
    markup_element(m, "dd", NULL, "tier %s, seed %llu", gate_tier_names[report->options->tier],
                   report->options->seed);
    gate_page_close(m);
    markup_element(m, "p", "note",
                   "It is held to what it declares: each number must be within the certified "
                   "tolerance of that arithmetic (NUM-10).");
}

/* ---- The evidence ---- */

static void put_covered(struct markup *m, const struct gate_result *r) {
    char *keys = gate_keys_at_most(r);
    char *sizes = gate_sizes_at_most(r);
    markup_element(m, "p", "note", "Keys at most, by d: %s", keys);
    markup_newline(m);
    markup_element(m, "p", "note", "Sizes at most: %s", sizes);
    free(keys);
    free(sizes);
    markup_newline(m);
}

static void put_evidence(struct markup *m, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    static const char *const heading[] = {
        "values",      "what they show",     "cases", "wrong", "numbers",
        "not claimed", "largest error/bound"};
    markup_element(m, "h2", NULL, "The evidence");
    gate_page_open(m, "div", "wide");
    gate_page_open(m, "table", "evidence");
    gate_page_headings(m, heading, (int)(sizeof heading / sizeof heading[0]));
    for (int i = 0; i < GATE_VALUES; i++) {
        const struct gate_tally *t = &r->tally[i];
        char ratio[GATE_RATIO_TEXT];
        markup_open(m, "tr");
        markup_element(m, "th", NULL, "%s", gate_values_names[i]);
        markup_element(m, "td", NULL, "%s", gate_values_words[i]);
        gate_page_number(m, t->cases, 0);
        gate_page_number(m, gate_wrong_cases_of(t), 1);
        gate_page_number(m, t->compared, 0);
        gate_page_number(m, t->unclaimed, 0);
        gate_ratio(t->largest, ratio);
        markup_element(m, "td", t->largest > 1.0 ? "bad" : "number", "%s", ratio);
        gate_page_close(m);
    }
    markup_close(m);
    gate_page_close(m);
    put_covered(m, r);
    for (int i = 0; i < GATE_NOTES; i++) {
        char *note = gate_note(report, i);
        if (note[0] != '\0') {
            markup_element(m, "p", "note", "%s", note);
        }
        free(note);
    }
}

static void put_plots(struct markup *m, const struct gate_result *r) {
    markup_element(m, "h2", NULL, "How near to the bound");
    markup_element(m, "p", "note",
                   "Each case counts once, with its largest error/bound. Cases beyond the line at "
                   "1 are wrong, and striped. The leftmost bars include errors of 0; the rightmost "
                   "bars include everything above 4096, and results that are not numbers. Cases "
                   "without numbers, for example after a crash, are not shown.");
    gate_html_spread(m, r);
    markup_element(m, "h2", NULL, "By the number of keys");
    markup_element(m, "p", "note",
                   "Discs are within the bound, striped squares outside; a larger mark stands for "
                   "more cases.");
    gate_html_keys(m, r);
}

static void put_matrix(struct markup *m, const struct gate_result *r) {
    markup_element(m, "h2", NULL, "Evidence and verdicts");
    gate_page_open(m, "div", "wide");
    gate_page_open(m, "table", "matrix");
    markup_open(m, "thead");
    markup_open(m, "tr");
    markup_element(m, "th", NULL, "values");
    for (int i = 0; i < GATE_VERDICTS; i++) {
        markup_element(m, "th", NULL, "%s", gate_verdict_names[i]);
    }
    markup_close(m);
    gate_page_close(m);
    for (int values = 0; values < GATE_VALUES; values++) {
        const long long *n = r->tally[values].verdicts;
        markup_open(m, "tr");
        markup_element(m, "th", NULL, "%s", gate_values_names[values]);
        for (int i = 0; i < GATE_VERDICTS; i++) {
            if (n[i] > 0) {
                gate_page_number(m, n[i], i != GATE_RIGHT);
            } else {
                markup_element(m, "td", "number", "\u00b7");
            }
        }
        gate_page_close(m);
    }
    markup_close(m);
    gate_page_close(m);
}

/* ---- Findings ---- */

static void put_found(struct markup *m, const struct gate_report *report,
                      const struct gate_found *found) {
    const struct gate_finding *f = &found->finding;
    long long cases = report->result->verdicts[f->verdict];
    char line[GATE_LINE];
    gate_recipe_print(&found->recipe, line);
    gate_page_open(m, "article", "found");
    markup_element(m, "h3", NULL, "\u2717 %s: %lld case%s; breaks %s",
                   gate_verdict_names[f->verdict], cases, cases == 1 ? "" : "s", f->clause);
    markup_element(m, "p", "says", "%s", f->text);
    markup_element(m, "p", NULL, "Smallest case: %s", line);
    gate_page_command(m,
                      gate_case_needs_others(report, found)
                          ? "To repeat it, with the cases before it, which it needs:"
                          : "To repeat it:",
                      gate_case_again(report, found));
    gate_page_command(m,
                      "Which single mistake would give this result:", gate_case_why(report, found));
    gate_html_case(m, &found->recipe, report->kernel);
    gate_page_close(m);
}

static void put_all_found(struct markup *m, const struct gate_report *report) {
    if (gate_wrong_cases(report->result) == 0) {
        return;
    }
    markup_element(m, "h2", NULL, "What is wrong");
    if (report->options->save == NULL) {
        markup_element(m, "p", "note",
                       "--save DIRECTORY makes these cases smaller and keeps them, for chunkproof "
                       "replay and chunkproof explain.");
    }
    int order[GATE_VERDICTS], n = gate_found_order(report->result->verdicts, GATE_VERDICTS, order);
    for (int i = 0; i < n; i++) {
        put_found(m, report, &report->result->found[order[i]]);
    }
}

/* ---- The page ---- */

int gate_print_html(FILE *file, const struct gate_report *report) {
    struct markup m;
    gate_page_begin(&m, report->kernel->name, gate_answer(report->result));
    gate_html_definitions(&m);
    put_answer(&m, report);
    put_kernel(&m, report);
    put_all_found(&m, report);
    put_evidence(&m, report);
    put_matrix(&m, report->result);
    put_plots(&m, report->result);
    return gate_page_end(&m, gate_run_again(report), file);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JUnit XML, as of attention: a test case for each kind of values. */
#include <stdlib.h>

#include "chunkproof/version.h"
#include "gate/merge/report.h"
#include "gate/report/report.h"
#include "gate/report/suite.h"

static enum gate_outcome outcome_of(const struct merge_result *r, int values) {
    const struct merge_tally *t = &r->tally[values];
    return gate_suite_outcome(t->cases, t->wrong,
                              gate_claims_few(t->compared + t->unclaimed, t->unclaimed), r->cases,
                              merge_no_answer(r) == NULL);
}

static void put_case(struct markup *m, const struct merge_report *report, const char *what,
                     const struct merge_found *found) {
    char line[MERGE_LINE];
    merge_recipe_print(&found->recipe, line);
    markup_text(m, "%s: %s", what, line);
    markup_newline(m);
    gate_suite_line(
        m, merge_needs_others(found) ? "to repeat it, with the cases before it: " : "again: ",
        merge_again(report, found));
    gate_suite_line(m, "why: ", merge_why(report, found));
}

/* Another kind of values may have a smaller case with the same verdict. */
static void put_failure(struct markup *m, const struct merge_report *report,
                        const struct merge_tally *t) {
    const struct merge_finding *f = &t->smallest.finding;
    markup_open(m, "failure");
    markup_attribute(m, "type", "%s", merge_verdict_name(f->verdict));
    markup_attribute(m, "message", "%s", f->of.text);
    markup_newline(m);
    markup_text(m, "breaks %s; ", f->of.clause);
    for (int i = GATE_RIGHT + 1, n = 0; i < MERGE_VERDICTS; i++) {
        if (t->verdicts[i] > 0) {
            markup_text(m, "%s%s %lld of %lld cases", n++ > 0 ? ", " : "", merge_verdict_name(i),
                        t->verdicts[i], t->cases);
        }
    }
    markup_newline(m);
    put_case(m, report, "smallest case", &t->smallest);
    put_case(m, report, "smallest case of any values", &report->result->found[f->verdict]);
    markup_close(m);
}

static void put_values(struct markup *m, const struct merge_report *report, int values) {
    const struct merge_tally *t = &report->result->tally[values];
    enum gate_outcome outcome = outcome_of(report->result, values);
    gate_suite_open_case(m, report->kernel->name, merge_values_names[values], t->seconds);
    if (outcome == GATE_FAILURE) {
        put_failure(m, report, t);
    } else {
        gate_suite_message(m, outcome, merge_no_answer(report->result),
                           report->result->interrupted);
    }
    markup_element(m, "system-out", NULL,
                   "%s: %lld cases, %lld wrong, %lld numbers, largest error/bound %.3g",
                   merge_values_words[values], t->cases, t->wrong, t->compared, t->largest);
    markup_close(m);
    markup_newline(m);
}

static void put_properties(struct markup *m, const struct merge_report *report) {
    char seed[32];
    (void)snprintf(seed, sizeof seed, "%llu", report->options->seed);
    markup_open(m, "properties");
    markup_newline(m);
    gate_suite_property(m, "chunkproof", cp_version());
    gate_suite_property(m, "kernel", report->kernel->name);
    gate_suite_property(m, "file", report->options->kernel);
    gate_suite_own_property(m, "takes", merge_takes(report->kernel));
    gate_suite_own_property(m, "declares", merge_declares(report->kernel));
    gate_suite_property(m, "tier", gate_tier_names[report->options->tier]);
    gate_suite_property(m, "seed", seed);
    gate_suite_property(m, "verdict", merge_answer(report->result));
    gate_suite_property(m, "interrupted", report->result->interrupted ? "true" : "false");
    gate_suite_own_property(m, "again", merge_run_again(report));
    markup_close(m);
    markup_newline(m);
}

int merge_print_junit(FILE *file, const struct merge_report *report) {
    struct markup m;
    int n[GATE_OUTCOMES] = {0};
    for (int i = 0; i < MERGE_VALUES; i++) {
        n[outcome_of(report->result, i)]++;
    }
    gate_suite_begin(&m, report->kernel->name, n, report->result->seconds);
    put_properties(&m, report);
    for (int i = 0; i < MERGE_VALUES; i++) {
        put_values(&m, report, i);
    }
    markup_close(&m);
    markup_newline(&m);
    return markup_end(&m, file);
}

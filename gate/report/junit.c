/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JUnit XML, for a CI service: a test case for each kind of values. It fails when a
 * case is wrong, is an error when there is no verdict, and is skipped when it had no case. */
#include <stdlib.h>

#include "chunkproof/version.h"
#include "gate/report/report.h"
#include "gate/report/suite.h"

/* ---- One kind of values ---- */

static enum gate_outcome outcome_of(const struct gate_result *r, int values, int has_verdict) {
    const struct gate_tally *t = &r->tally[values];
    return gate_suite_outcome(t->cases, gate_wrong_cases_of(t),
                              gate_claims_few(t->compared, t->unclaimed), r->cases, has_verdict);
}

static void put_case(struct markup *m, const struct gate_report *report, const char *what,
                     const struct gate_found *found) {
    char line[GATE_LINE];
    gate_recipe_print(&found->recipe, line);
    markup_text(m, "%s: %s", what, line);
    markup_newline(m);
    gate_suite_line(m,
                    gate_case_needs_others(report, found)
                        ? "to repeat it, with the cases before it: "
                        : "again: ",
                    gate_case_again(report, found));
    gate_suite_line(m, "why: ", gate_case_why(report, found));
}

/* The smallest case of this kind of values says what is wrong; another kind may have a smaller
 * case with the same verdict. */
static void put_failure(struct markup *m, const struct gate_report *report,
                        const struct gate_tally *t) {
    const struct gate_finding *f = &t->smallest.finding;
    markup_open(m, "failure");
    markup_attribute(m, "type", "%s", gate_verdict_names[f->verdict]);
    markup_attribute(m, "message", "%s", f->text);
    markup_newline(m);
    markup_text(m, "breaks %s; ", f->clause);
    for (int i = GATE_RIGHT + 1, n = 0; i < GATE_VERDICTS; i++) {
        if (t->verdicts[i] > 0) {
            markup_text(m, "%s%s %lld of %lld cases", n++ > 0 ? ", " : "", gate_verdict_names[i],
                        t->verdicts[i], t->cases);
        }
    }
    markup_newline(m);
    put_case(m, report, "smallest case", &t->smallest);
    put_case(m, report, "smallest case of any values", &report->result->found[f->verdict]);
    markup_close(m);
}

static void put_values(struct markup *m, const struct gate_report *report, int values,
                       const char *no_answer) {
    const struct gate_tally *t = &report->result->tally[values];
    enum gate_outcome outcome = outcome_of(report->result, values, no_answer == NULL);
    gate_suite_open_case(m, report->kernel->name, gate_values_names[values], t->seconds);
    if (outcome == GATE_FAILURE) {
        put_failure(m, report, t);
    } else {
        gate_suite_message(m, outcome, no_answer, report->result->interrupted);
    }
    markup_element(
        m, "system-out", NULL, "%s: %lld cases, %lld wrong, %lld numbers, largest error/bound %.3g",
        gate_values_words[values], t->cases, gate_wrong_cases_of(t), t->compared, t->largest);
    markup_close(m);
    markup_newline(m);
}

/* ---- The suite ---- */

static void put_properties(struct markup *m, const struct gate_report *report) {
    char seed[32];
    (void)snprintf(seed, sizeof seed, "%llu", report->options->seed);
    markup_open(m, "properties");
    markup_newline(m);
    gate_suite_property(m, "chunkproof", cp_version());
    gate_suite_property(m, "kernel", report->kernel->name);
    gate_suite_property(m, "file", report->options->kernel);
    gate_suite_own_property(m, "declares", gate_declares(report->kernel));
    gate_suite_property(m, "tier", gate_tier_names[report->options->tier]);
    gate_suite_property(m, "seed", seed);
    gate_suite_property(m, "verdict", gate_answer(report->result));
    gate_suite_property(m, "interrupted", report->result->interrupted ? "true" : "false");
    gate_suite_own_property(m, "warning", gate_warning(report));
    gate_suite_own_property(m, "again", gate_run_again(report));
    markup_close(m);
    markup_newline(m);
}

int gate_print_junit(FILE *file, const struct gate_report *report) {
    struct markup m;
    char *no_answer = gate_no_answer(report);
    int n[GATE_OUTCOMES] = {0};
    for (int i = 0; i < GATE_VALUES; i++) {
        n[outcome_of(report->result, i, no_answer == NULL)]++;
    }
    gate_suite_begin(&m, report->kernel->name, n, report->result->seconds);
    put_properties(&m, report);
    for (int i = 0; i < GATE_VALUES; i++) {
        put_values(&m, report, i, no_answer);
    }
    markup_close(&m);
    markup_newline(&m);
    free(no_answer);
    return markup_end(&m, file);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JUnit XML, for a CI service: a test case for each kind of values. It fails when a
 * case is wrong, is an error when there is no verdict, and is skipped when it had no case. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */

#include <stdlib.h>
#include <time.h>

#include "chunkproof/version.h"
#include "cli/base/markup.h"
#include "gate/report/report.h"

/* ---- One kind of values ---- */

enum outcome { PASSED, FAILED, IN_ERROR, SKIPPED, OUTCOMES };

/* Without a verdict, kinds of values with enough claimed numbers are not errors. If the kernel
 * took no case at all, none counts as skipped. */
static enum outcome outcome_of(const struct gate_result *r, int values, int has_verdict) {
    const struct gate_tally *t = &r->tally[values];
    return gate_wrong_cases_of(t) > 0 ? FAILED
           : !has_verdict && (r->cases == 0 || gate_claims_few(t->compared, t->unclaimed))
               ? IN_ERROR
           : t->cases == 0 ? SKIPPED
                           : PASSED;
}

static void put_line(struct markup *m, const char *head, char *text) {
    if (text != NULL) {
        markup_text(m, "%s%s", head, text);
        markup_newline(m);
    }
    free(text);
}

static void put_case(struct markup *m, const struct gate_report *report, const char *what,
                     const struct gate_found *found) {
    char line[GATE_LINE];
    gate_recipe_print(&found->recipe, line);
    markup_text(m, "%s: %s", what, line);
    markup_newline(m);
    put_line(m,
             gate_case_needs_others(report, found) ? "to repeat it, with the cases before it: "
                                                   : "again: ",
             gate_case_again(report, found));
    put_line(m, "why: ", gate_case_why(report, found));
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

static void put_message(struct markup *m, const char *element, const char *message) {
    markup_open(m, element);
    markup_attribute(m, "message", "%s", message);
    markup_close(m);
}

static void put_values(struct markup *m, const struct gate_report *report, int values,
                       const char *no_answer) {
    const struct gate_tally *t = &report->result->tally[values];
    enum outcome outcome = outcome_of(report->result, values, no_answer == NULL);
    markup_open(m, "testcase");
    markup_attribute(m, "classname", "gate.%s", report->kernel->name);
    markup_attribute(m, "name", "%s", gate_values_names[values]);
    markup_attribute(m, "time", "%.3f", t->seconds);
    if (outcome == FAILED) {
        put_failure(m, report, t);
    } else if (outcome == IN_ERROR) {
        put_message(m, "error", no_answer);
    } else if (outcome == SKIPPED) {
        put_message(m, "skipped",
                    report->result->interrupted ? "interrupted before a case with these values"
                                                : "no case with these values");
    }
    markup_element(
        m, "system-out", NULL, "%s: %lld cases, %lld wrong, %lld numbers, largest error/bound %.3g",
        gate_values_words[values], t->cases, gate_wrong_cases_of(t), t->compared, t->largest);
    markup_close(m);
    markup_newline(m);
}

/* ---- The suite ---- */

static void put_property(struct markup *m, const char *name, const char *value) {
    markup_open(m, "property");
    markup_attribute(m, "name", "%s", name);
    markup_attribute(m, "value", "%s", value);
    markup_close(m);
    markup_newline(m);
}

static void put_own_property(struct markup *m, const char *name, char *value) {
    put_property(m, name, value);
    free(value);
}

static void put_properties(struct markup *m, const struct gate_report *report) {
    char seed[32];
    (void)snprintf(seed, sizeof seed, "%llu", report->options->seed);
    markup_open(m, "properties");
    markup_newline(m);
    put_property(m, "chunkproof", cp_version());
    put_property(m, "kernel", report->kernel->name);
    put_property(m, "file", report->options->kernel);
    put_own_property(m, "declares", gate_declares(report->kernel));
    put_property(m, "tier", gate_tier_names[report->options->tier]);
    put_property(m, "seed", seed);
    put_property(m, "verdict", gate_answer(report->result));
    put_property(m, "interrupted", report->result->interrupted ? "true" : "false");
    put_own_property(m, "warning", gate_warning(report));
    put_own_property(m, "again", gate_run_again(report));
    markup_close(m);
    markup_newline(m);
}

static void put_counts(struct markup *m, const struct gate_result *r, int has_verdict) {
    int n[OUTCOMES] = {0};
    for (int i = 0; i < GATE_VALUES; i++) {
        n[outcome_of(r, i, has_verdict)]++;
    }
    markup_attribute(m, "tests", "%d", GATE_VALUES);
    markup_attribute(m, "failures", "%d", n[FAILED]);
    markup_attribute(m, "errors", "%d", n[IN_ERROR]);
    markup_attribute(m, "skipped", "%d", n[SKIPPED]);
}

int gate_print_junit(FILE *file, const struct gate_report *report) {
    struct markup m;
    struct tm utc;
    char *no_answer = gate_no_answer(report->result), when[32] = "";
    time_t began = time(NULL) - (time_t)report->result->seconds;
    if (gmtime_r(&began, &utc) != NULL) {
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    markup_begin(&m);
    markup_raw(&m, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    markup_open(&m, "testsuite");
    markup_attribute(&m, "name", "chunkproof gate: %s", report->kernel->name);
    put_counts(&m, report->result, no_answer == NULL);
    markup_attribute(&m, "time", "%.3f", report->result->seconds);
    markup_attribute(&m, "timestamp", "%s", when);
    markup_newline(&m);
    put_properties(&m, report);
    for (int i = 0; i < GATE_VALUES; i++) {
        put_values(&m, report, i, no_answer);
    }
    markup_close(&m);
    markup_newline(&m);
    free(no_answer);
    return markup_end(&m, file);
}

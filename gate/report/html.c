/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one page: HTML that is also XML, without scripts and without external content. */
#include "gate/report/html.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/version.h"

/* Colour-blind readers can tell blue and vermilion apart; everything wrong also has a sign. */
static const char style[] =
    "\n"
    ":root { color-scheme: light dark; --page: #ffffff; --text: #1a1a1a; --note: #555555;\n"
    "  --line: #c8c8c8; --row: #f3f3f3; --good: #0060a0; --bad: #b34700; --none: #6a5a00;\n"
    "  --shared: #d3e9f8; --own: #fdeccb; --slot: #ffffff; --edge: #8c8c8c }\n"
    "@media (prefers-color-scheme: dark) { :root { --page: #16181b; --text: #e8e8e8;\n"
    "  --note: #b0b0b0; --line: #4a4d52; --row: #212429; --good: #6cb8ee; --bad: #ff9a4d;\n"
    "  --none: #e0c94f; --shared: #12344a; --own: #46320c; --slot: #16181b; --edge: #85888d } }\n"
    "body { margin: 0 auto; padding: 1rem 1.5rem 3rem; max-width: 62rem; background: var(--page);\n"
    "  color: var(--text); font: 16px/1.5 system-ui, sans-serif }\n"
    "h1 { margin: 0.5rem 0 0 } h2 { margin: 2.5rem 0 0.5rem } h3 { margin: 0 }\n"
    "p { margin: 0.5rem 0 }\n"
    ".answer { padding: 0.7rem 1.2rem; border: 3px solid; border-radius: 8px }\n"
    ".answer.right { border-color: var(--good) } .answer.right h1 { color: var(--good) }\n"
    ".answer.wrong { border-color: var(--bad); border-style: double; border-width: 6px }\n"
    ".answer.wrong h1 { color: var(--bad) }\n"
    ".answer.none { border-color: var(--none); border-style: dashed }\n"
    ".answer.none h1 { color: var(--none) }\n"
    ".note, footer { color: var(--note) }\n"
    ".wide { overflow-x: auto }\n"
    "table { border-collapse: collapse; margin: 0.8rem 0 }\n"
    "caption { text-align: left; color: var(--note) }\n"
    "th, td { padding: 0.15rem 0.8rem; border-bottom: 1px solid var(--line); text-align: left }\n"
    "th.number, td.number, td.bad { text-align: right; font-variant-numeric: tabular-nums }\n"
    "td.bad { color: var(--bad); font-weight: bold }\n"
    ".matrix th { vertical-align: bottom } .matrix td { padding: 0.15rem 0.5rem }\n"
    ".matrix thead th + th { writing-mode: vertical-rl; transform: rotate(180deg);\n"
    "  text-align: left; padding: 0.5rem 0.3rem }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1.2rem }\n"
    "dt { color: var(--note) } dd { margin: 0; overflow-wrap: anywhere }\n"
    "article { border: 1px solid var(--line); border-left: 6px double var(--bad);\n"
    "  border-radius: 8px; padding: 0.8rem 1.2rem; margin: 1rem 0 }\n"
    ".says { overflow-wrap: anywhere }\n"
    "pre { overflow-x: auto; background: var(--row); padding: 0.5rem 0.8rem; border-radius: 6px }\n"
    "svg text { font: 12px ui-monospace, monospace; fill: var(--text); white-space: pre }\n"
    "svg .bold { font-weight: bold } svg .middle { text-anchor: middle }\n"
    ".plot { max-width: 100%; height: auto } .definitions { position: absolute }\n"
    ".grid { stroke: var(--line) } .one { stroke: var(--bad); stroke-width: 2 }\n"
    ".within { fill: var(--good) } .outside { fill: url(#stripes); stroke: var(--bad) }\n"
    ".mark { fill-opacity: 0.75 }\n"
    ".stripe-ground { fill: var(--page) } .stripe { stroke: var(--bad); stroke-width: 2 }\n"
    ".row { fill: var(--row) } .slot { fill: var(--slot); stroke: var(--edge) }\n"
    ".shared { fill: var(--shared); stroke: #0072b2; stroke-width: 3 }\n"
    ".own { fill: var(--own); stroke: #b35900; stroke-width: 1.5 }\n"
    ".unused { fill: url(#hatch); stroke: var(--edge); stroke-dasharray: 3 2 }\n"
    ".hatch { stroke: var(--edge) } .arrow-head { fill: var(--note) }\n"
    ".arrow { stroke: var(--note); stroke-width: 1.5; marker-end: url(#head) }\n";

/* ---- Parts ---- */

static void open_of(struct markup *m, const char *element, const char *class) {
    markup_open(m, element);
    markup_attribute(m, "class", "%s", class);
    markup_newline(m);
}

static void close_line(struct markup *m) {
    markup_close(m);
    markup_newline(m);
}

static void put_term(struct markup *m, const char *term, const char *text) {
    markup_element(m, "dt", NULL, "%s", term);
    markup_element(m, "dd", NULL, "%s", text);
    markup_newline(m);
}

static void put_own_term(struct markup *m, const char *term, char *text) {
    if (text != NULL) {
        put_term(m, term, text);
    }
    free(text);
}

/* A command to copy; none of NULL. */
static void put_command(struct markup *m, const char *what, char *command) {
    if (command != NULL) {
        markup_element(m, "p", "note", "%s", what);
        markup_open(m, "pre");
        markup_element(m, "code", NULL, "%s", command);
        close_line(m);
    }
    free(command);
}

static void put_number(struct markup *m, long long n, int is_bad) {
    markup_element(m, "td", is_bad && n > 0 ? "bad" : "number", "%lld", n);
}

/* ---- The verdict ---- */

static void put_answer(struct markup *m, const struct gate_report *report) {
    const struct gate_result *r = report->result;
    const char *answer = gate_answer(r);
    char *no_answer = gate_no_answer(r);
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
    close_line(m);
    free(no_answer);
}

static void put_kernel(struct markup *m, const struct gate_report *report) {
    const struct cp_kernel *k = report->kernel;
    char types[100];
    (void)snprintf(types, sizeof types, "Q %s, K and V %s; writes out %s, log-sum-exp %s",
                   gate_type_name(k->q_type), gate_type_name(k->kv_type),
                   gate_type_name(k->out_type), gate_type_name(k->lse_type));
    markup_element(m, "h2", NULL, "The kernel");
    open_of(m, "dl", "kernel");
    put_term(m, "name", k->name);
    put_term(m, "file", report->options->kernel);
    put_term(m, "takes", types);
    put_term(m, "plans", gate_plans_name(k->plans));
    put_term(m, "keys",
             k->keys == CP_KEYS_PLACED ? "at their positions"
             : k->keys == CP_KEYS_RAW  ? "without positions (GATE-14)"
                                       : "at positions of their runs (GATE-14)");
    put_own_term(m, "conventions", gate_conventions_of(k));
    put_own_term(m, "declares", gate_declares(k));
    markup_element(m, "dt", NULL, "cases");
    markup_element(m, "dd", NULL, "tier %s, seed %llu", gate_tier_names[report->options->tier],
                   report->options->seed);
    close_line(m);
    markup_element(m, "p", "note",
                   "It is held to what it declares: each number must be within the certified "
                   "tolerance of that arithmetic (NUM-10).");
}

/* ---- The evidence ---- */

static void put_headings(struct markup *m, const char *const *heading, int n) {
    markup_open(m, "thead");
    markup_open(m, "tr");
    for (int i = 0; i < n; i++) {
        markup_element(m, "th", i >= 2 ? "number" : NULL, "%s", heading[i]);
    }
    markup_close(m);
    close_line(m);
}

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
    open_of(m, "div", "wide");
    open_of(m, "table", "evidence");
    put_headings(m, heading, (int)(sizeof heading / sizeof heading[0]));
    for (int i = 0; i < GATE_VALUES; i++) {
        const struct gate_tally *t = &r->tally[i];
        char ratio[GATE_RATIO_TEXT];
        markup_open(m, "tr");
        markup_element(m, "th", NULL, "%s", gate_values_names[i]);
        markup_element(m, "td", NULL, "%s", gate_values_words[i]);
        put_number(m, t->cases, 0);
        put_number(m, gate_wrong_cases_of(t), 1);
        put_number(m, t->compared, 0);
        put_number(m, t->unclaimed, 0);
        gate_ratio(t->largest, ratio);
        markup_element(m, "td", t->largest > 1.0 ? "bad" : "number", "%s", ratio);
        close_line(m);
    }
    markup_close(m);
    close_line(m);
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
    open_of(m, "div", "wide");
    open_of(m, "table", "matrix");
    markup_open(m, "thead");
    markup_open(m, "tr");
    markup_element(m, "th", NULL, "values");
    for (int i = 0; i < GATE_VERDICTS; i++) {
        markup_element(m, "th", NULL, "%s", gate_verdict_names[i]);
    }
    markup_close(m);
    close_line(m);
    for (int values = 0; values < GATE_VALUES; values++) {
        const long long *n = r->tally[values].verdicts;
        markup_open(m, "tr");
        markup_element(m, "th", NULL, "%s", gate_values_names[values]);
        for (int i = 0; i < GATE_VERDICTS; i++) {
            if (n[i] > 0) {
                put_number(m, n[i], i != GATE_RIGHT);
            } else {
                markup_element(m, "td", "number", "\u00b7");
            }
        }
        close_line(m);
    }
    markup_close(m);
    close_line(m);
}

/* ---- Findings ---- */

static void put_found(struct markup *m, const struct gate_report *report,
                      const struct gate_found *found) {
    const struct gate_finding *f = &found->finding;
    long long cases = report->result->verdicts[f->verdict];
    char line[GATE_LINE];
    gate_recipe_print(&found->recipe, line);
    open_of(m, "article", "found");
    markup_element(m, "h3", NULL, "\u2717 %s: %lld case%s; breaks %s",
                   gate_verdict_names[f->verdict], cases, cases == 1 ? "" : "s", f->clause);
    markup_element(m, "p", "says", "%s", f->text);
    markup_element(m, "p", NULL, "Smallest case: %s", line);
    put_command(m,
                gate_case_needs_others(report, found)
                    ? "To repeat it, with the cases before it, which it needs:"
                    : "To repeat it:",
                gate_case_again(report, found));
    put_command(m, "Which single mistake would give this result:", gate_case_why(report, found));
    gate_html_case(m, &found->recipe, report->kernel);
    close_line(m);
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

static void put_head(struct markup *m, const struct gate_report *report) {
    markup_open(m, "head");
    markup_raw(m, "\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                  "content=\"width=device-width, initial-scale=1\"/>\n");
    markup_element(m, "title", NULL, "%s: %s - chunkproof gate", report->kernel->name,
                   gate_answer(report->result));
    markup_open(m, "style");
    markup_raw(m, style);
    markup_close(m);
    close_line(m);
}

static void put_footer(struct markup *m, const struct gate_report *report) {
    markup_open(m, "footer");
    put_command(m, "To repeat the whole run:", gate_run_again(report));
    markup_element(m, "p", NULL,
                   "chunkproof %s; the clauses (GATE-1, NUM-10, ...) are those of its "
                   "specification.",
                   cp_version());
    close_line(m);
}

int gate_print_html(FILE *file, const struct gate_report *report) {
    struct markup m;
    markup_begin(&m);
    markup_raw(&m, "<!DOCTYPE html>\n");
    markup_open(&m, "html");
    markup_attribute(&m, "xmlns", "http://www.w3.org/1999/xhtml");
    markup_attribute(&m, "lang", "en");
    markup_newline(&m);
    put_head(&m, report);
    markup_open(&m, "body");
    markup_newline(&m);
    gate_html_definitions(&m);
    put_answer(&m, report);
    put_kernel(&m, report);
    put_all_found(&m, report);
    put_evidence(&m, report);
    put_matrix(&m, report->result);
    put_plots(&m, report->result);
    put_footer(&m, report);
    markup_close(&m);
    close_line(&m);
    return markup_end(&m, file);
}

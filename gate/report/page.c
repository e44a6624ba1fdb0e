/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/report/page.h"

#include <stdlib.h>

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

void gate_page_begin(struct markup *m, const char *kernel, const char *answer) {
    markup_begin(m);
    markup_raw(m, "<!DOCTYPE html>\n");
    markup_open(m, "html");
    markup_attribute(m, "xmlns", "http://www.w3.org/1999/xhtml");
    markup_attribute(m, "lang", "en");
    markup_newline(m);
    markup_open(m, "head");
    markup_raw(m, "\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                  "content=\"width=device-width, initial-scale=1\"/>\n");
    markup_element(m, "title", NULL, "%s: %s - chunkproof gate", kernel, answer);
    markup_open(m, "style");
    markup_raw(m, style);
    markup_close(m);
    gate_page_close(m);
    markup_open(m, "body");
    markup_newline(m);
}

int gate_page_end(struct markup *m, char *again, FILE *file) {
    markup_open(m, "footer");
    gate_page_command(m, "To repeat the whole run:", again);
    markup_element(m, "p", NULL,
                   "chunkproof %s; the clauses (GATE-1, NUM-10, ...) are those of its "
                   "specification.",
                   cp_version());
    gate_page_close(m);
    markup_close(m);
    gate_page_close(m);
    return markup_end(m, file);
}

void gate_page_open(struct markup *m, const char *element, const char *class) {
    markup_open(m, element);
    markup_attribute(m, "class", "%s", class);
    markup_newline(m);
}

void gate_page_close(struct markup *m) {
    markup_close(m);
    markup_newline(m);
}

void gate_page_term(struct markup *m, const char *term, const char *text) {
    markup_element(m, "dt", NULL, "%s", term);
    markup_element(m, "dd", NULL, "%s", text);
    markup_newline(m);
}

void gate_page_own_term(struct markup *m, const char *term, char *text) {
    if (text != NULL) {
        gate_page_term(m, term, text);
    }
    free(text);
}

void gate_page_command(struct markup *m, const char *what, char *command) {
    if (command != NULL) {
        markup_element(m, "p", "note", "%s", what);
        markup_open(m, "pre");
        markup_element(m, "code", NULL, "%s", command);
        gate_page_close(m);
    }
    free(command);
}

void gate_page_number(struct markup *m, long long n, int is_bad) {
    markup_element(m, "td", is_bad && n > 0 ? "bad" : "number", "%lld", n);
}

void gate_page_headings(struct markup *m, const char *const *heading, int n) {
    markup_open(m, "thead");
    markup_open(m, "tr");
    for (int i = 0; i < n; i++) {
        markup_element(m, "th", i >= 2 ? "number" : NULL, "%s", heading[i]);
    }
    markup_close(m);
    gate_page_close(m);
}

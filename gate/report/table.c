/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the page. */
#include "gate/report/html.h"

void gate_html_open_table(struct markup *m, const char *caption) {
    markup_open(m, "div");
    markup_attribute(m, "class", "wide");
    markup_open(m, "table");
    markup_element(m, "caption", NULL, "%s", caption);
    markup_newline(m);
}

void gate_html_row(struct markup *m, const char *element, const char *const *cell, int n) {
    markup_open(m, "tr");
    for (int i = 0; i < n; i++) {
        markup_element(m, element, i > 0 ? "number" : NULL, "%s", cell[i]);
    }
    markup_close(m);
    markup_newline(m);
}

void gate_html_close_table(struct markup *m) {
    markup_close(m);
    markup_close(m);
    markup_newline(m);
}

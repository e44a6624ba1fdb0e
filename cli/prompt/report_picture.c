/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, lines and boxes of a picture. */
#include "cli/prompt/report_picture.h"

void picture_text(struct picture *p, const char *class, double x, double y, const char *text) {
    markup_open(&p->m, "text");
    markup_attribute(&p->m, "class", "%s", class);
    markup_attribute(&p->m, "x", "%.1f", x);
    markup_attribute(&p->m, "y", "%.1f", y);
    markup_text(&p->m, "%s", text);
    markup_close(&p->m);
    markup_newline(&p->m);
}

/* Not every program that draws SVG knows paint-order. */
void picture_label(struct picture *p, const char *class, double x, double y, const char *text) {
    char halo[32];
    (void)snprintf(halo, sizeof halo, "%s halo", class);
    picture_text(p, halo, x, y, text);
    picture_text(p, class, x, y, text);
}

void picture_line(struct picture *p, const char *class, double x1, double y1, double x2,
                  double y2) {
    markup_open(&p->m, "line");
    markup_attribute(&p->m, "class", "%s", class);
    markup_attribute(&p->m, "x1", "%.1f", x1);
    markup_attribute(&p->m, "y1", "%.1f", y1);
    markup_attribute(&p->m, "x2", "%.1f", x2);
    markup_attribute(&p->m, "y2", "%.1f", y2);
    markup_close(&p->m);
    markup_newline(&p->m);
}

void picture_open_rect(struct picture *p, const char *class, double x, double y, double width,
                       double height) {
    markup_open(&p->m, "rect");
    markup_attribute(&p->m, "class", "%s", class);
    markup_attribute(&p->m, "x", "%.1f", x);
    markup_attribute(&p->m, "y", "%.1f", y);
    markup_attribute(&p->m, "width", "%.1f", width);
    markup_attribute(&p->m, "height", "%.1f", height);
}

const char *picture_class(enum pml_run_kind kind) {
    static const char *const classes[] = {
        [PML_CACHED] = "cache", [PML_ARGUMENT] = "argument", [PML_NEW] = "new"};
    return classes[kind];
}

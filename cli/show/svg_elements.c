/* SPDX-License-Identifier: Apache-2.0 */
/* What the drawings are made of: boxes, text, lines. */
#include <stdarg.h>
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/show/svg.h"

int show_svg_columns_width(int columns) {
    return (columns * 723 + 99) / 100;
}

void show_svg_box(FILE *out, const char *class, int x, int y, int width, int height) {
    fprintf(out, "  <rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", class, x,
            y, width, height);
}

void show_svg_text(FILE *out, const char *class, int x, int y, const char *format, ...) {
    char *text;
    size_t size;
    va_list arguments;
    FILE *plain = text_open(&text, &size);
    va_start(arguments, format);
    vfprintf(plain, format, arguments);
    va_end(arguments);
    text_close(plain);
    fprintf(out, "  <text class=\"%s\" x=\"%d\" y=\"%d\" xml:space=\"preserve\">", class, x, y);
    text_put_escaped(out, text);
    fputs("</text>\n", out);
    free(text);
}

void show_svg_line(FILE *out, const char *class, int x1, int x2, int y) {
    fprintf(out, "  <line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", class, x1, y,
            x2, y);
}

void show_svg_reach(struct show_svg *svg, int x) {
    svg->width = x > svg->width ? x : svg->width;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing as SVG: the document. */
#include "cli/show/svg.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/show/keys.h"
#include "cli/show/pages.h"

/* Shared and own chunks also differ in their frame, not only in colour. */
static const char style[] =
    "  <style>\n"
    "    text { font: 12px \"DejaVu Sans Mono\", Menlo, Consolas, monospace; fill: #1a1a1a;\n"
    "      white-space: pre }\n"
    "    .title { font-size: 16px; font-weight: bold }\n"
    "    .head, .bold { font-weight: bold }\n"
    "    .middle { text-anchor: middle }\n"
    "    .note { fill: #555555 }\n"
    "    .page { fill: #ffffff }\n"
    "    .row { fill: #f3f3f3 }\n"
    "    .shared { fill: #d3e9f8; stroke: #0072b2; stroke-width: 3 }\n"
    "    .own { fill: #fdeccb; stroke: #b35900; stroke-width: 1.5 }\n"
    "    .slot { fill: #ffffff; stroke: #8c8c8c }\n"
    "    .unused { fill: url(#hatch); stroke: #8c8c8c; stroke-dasharray: 3 2 }\n"
    "    .query, .out { fill: #e3f2e1; stroke: #2f7d32 }\n"
    "    .part { fill: #ffffff; stroke: #0072b2; stroke-dasharray: 3 2 }\n"
    "    .link { stroke: #555555; stroke-width: 1.5 }\n"
    "    .arrow { stroke: #555555; stroke-width: 1.5; marker-end: url(#head) }\n"
    "  </style>\n"
    "  <defs>\n"
    "    <pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\n"
    "      <rect width=\"6\" height=\"6\" fill=\"#ffffff\"/>\n"
    "      <path d=\"M0 6 L6 0\" stroke=\"#b0b0b0\"/>\n"
    "    </pattern>\n"
    "    <marker id=\"head\" markerWidth=\"8\" markerHeight=\"8\" refX=\"6\" refY=\"4\" "
    "orient=\"auto\"\n"
    "        markerUnits=\"userSpaceOnUse\">\n"
    "      <path d=\"M0 0 L8 4 L0 8 z\" fill=\"#555555\"/>\n"
    "    </marker>\n"
    "  </defs>\n";

/* ---- The document ---- */

void show_svg_begin(struct show_svg *svg) {
    svg->out = text_open(&svg->text, &svg->size);
    svg->width = 0;
    svg->height = SVG_MARGIN;
}

static void put_line(struct show_svg *svg, const char *class, int x, const char *text) {
    svg->height += SVG_LINE;
    if (text[0] != '\0') {
        show_svg_text(svg->out, class, x, svg->height, "%s", text);
    }
    show_svg_reach(svg, x + show_svg_columns_width(text_columns(text)));
}

/* What print() prints as text, line by line from x on. Returns its width. */
static int put_lines(struct show_svg *svg, int x, const struct show_view *view,
                     void (*print)(FILE *out, const struct show_view *view)) {
    char *text;
    size_t size;
    int longest = 0;
    FILE *out = text_open(&text, &size);
    print(out, view);
    text_close(out);
    for (char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        char *next = line[length] == '\n' ? line + length + 1 : line + length;
        line[length] = '\0';
        put_line(svg, "lines", x, line);
        longest = text_columns(line) > longest ? text_columns(line) : longest;
        line = next;
    }
    free(text);
    return show_svg_columns_width(longest);
}

static void put_heading(struct show_svg *svg, const struct show_view *view, int is_end) {
    char *title;
    if (is_end) {
        title = text_cut(view->title, 90, "…");
        put_line(svg, "title", SVG_MARGIN, title);
    } else {
        const struct show_step *step = &view->step[view->n_steps - 1];
        title = text_cut(step->title, 110, "…");
        svg->height += SVG_LINE;
        show_svg_text(svg->out, "head", SVG_MARGIN, svg->height, "%d  %s", view->n_steps, title);
        show_svg_reach(svg, SVG_MARGIN + show_svg_columns_width(text_columns(title) + 6));
        put_line(svg, "note", SVG_MARGIN, step->effect);
    }
    free(title);
    svg->height += 10;
}

void show_svg_frame(struct show_svg *svg, const struct show_view *view, int is_end) {
    put_heading(svg, view, is_end);
    show_svg_tree(svg, view);
    if (is_end) {
        if (view->pages != NULL) {
            show_svg_pages(svg, view);
            put_lines(svg, SVG_MARGIN, view, show_pages_arrays);
            svg->height += SVG_LINE;
        }
        if (view->keys != NULL) {
            show_svg_keys(svg, view);
            if (view->keys->question->parent != NULL) {
                put_lines(svg, SVG_MARGIN, view, show_keys_nodes);
                svg->height += SVG_LINE;
            }
        }
        show_svg_phases(svg, view);
        int top = svg->height;
        int left = put_lines(svg, SVG_MARGIN, view, show_tables_plan);
        int bottom = svg->height;
        svg->height = top;
        put_lines(svg, SVG_MARGIN + left + 2 * SVG_MARGIN, view, show_tables_phases);
        svg->height = svg->height > bottom ? svg->height : bottom;
        show_svg_legend(svg);
    }
    svg->height += SVG_LINE;
}

void show_svg_end(struct show_svg *svg, FILE *out, const char *title) {
    text_close(svg->out);
    if (out != NULL) {
        int width = svg->width + SVG_MARGIN;
        fprintf(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" role=\"img\">\n  <title>chunkproof show: ",
                width, svg->height, width, svg->height);
        text_put_escaped(out, title);
        fprintf(out, "</title>\n%s", style);
        show_svg_box(out, "page", 0, 0, width, svg->height);
        fputs(svg->text, out);
        fputs("</svg>\n", out);
    }
    free(svg->text);
}

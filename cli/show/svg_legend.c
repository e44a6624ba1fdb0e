/* SPDX-License-Identifier: Apache-2.0 */
/* What the colours and frames of the picture mean. Marks of keys have a legend of their own, beside
 * them (svg_keys.c). */
#include <stddef.h>

#include "cli/base/text.h"
#include "cli/show/svg.h"

#define BOX_WIDTH  34
#define BOX_HEIGHT 16
#define IN_A_LINE  3
#define ROOM       42 /* columns of an entry's words */

static const struct {
    const char *class, *words;
} looks[] = {
    {"shared", "a chunk or page of several sequences"},
    {"own", "a chunk or page of one sequence alone"},
    {"query", "a query q, and its output"},
    {"slot", "a token in its slot"},
    {"unused", "a slot or chunk that nobody uses"},
    {"part", "a partial result, (m, n, o)"},
};

void show_svg_legend(struct show_svg *svg) {
    int step = BOX_WIDTH + show_svg_columns_width(ROOM);
    svg->height += SVG_LINE;
    show_svg_text(svg->out, "head", SVG_MARGIN, svg->height, "Legend");
    svg->height += 10;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        int x = SVG_MARGIN + (int)(i % IN_A_LINE) * step;
        int y = svg->height + (int)(i / IN_A_LINE) * (BOX_HEIGHT + 8);
        show_svg_box(svg->out, looks[i].class, x, y, BOX_WIDTH, BOX_HEIGHT);
        show_svg_text(svg->out, "note", x + BOX_WIDTH + 8, y + BOX_HEIGHT - 4, "%s",
                      looks[i].words);
        show_svg_reach(svg,
                       x + BOX_WIDTH + 8 + show_svg_columns_width(text_columns(looks[i].words)));
    }
    svg->height += (int)(sizeof looks / sizeof looks[0]) / IN_A_LINE * (BOX_HEIGHT + 8);
}

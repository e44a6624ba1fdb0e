/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the SVG drawing. All measures are pixels; a frame's parts are drawn one under the
 * other, each from svg->height on, and make the document as wide and as high as they need. */
#ifndef CHUNKPROOF_CLI_SHOW_SVG_H
#define CHUNKPROOF_CLI_SHOW_SVG_H

#include "cli/show/show.h"

#define SVG_MARGIN 20
#define SVG_LINE   18 /* from one line of text to the next */

/* Width of text in the monospaced font of 12 pixels: 0.602 em, rounded up. */
int show_svg_columns_width(int columns);

void show_svg_box(FILE *out, const char *class, int x, int y, int width, int height);

/* Text, its baseline's left end (class "middle ...": its middle) at (x, y). */
void show_svg_text(FILE *out, const char *class, int x, int y, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A horizontal line to the right, with an arrow's head when the class is "arrow". */
void show_svg_line(FILE *out, const char *class, int x1, int x2, int y);

/* The document reaches at least this far. */
void show_svg_reach(struct show_svg *svg, int x);

void show_svg_tree(struct show_svg *svg, const struct show_view *view);
void show_svg_phases(struct show_svg *svg, const struct show_view *view);

/* What each colour means. */
void show_svg_legend(struct show_svg *svg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pages beside chunks, as SVG: for each sequence a line of boxes for its chunks and one for its
 * pages, in which the same key stands at the same place. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/show/pages.h"
#include "cli/show/svg.h"

#define LEAST_NAME 48 /* width of a box, for its name */
#define LEAST_KEY  14
#define BOX_HEIGHT 22
#define LABEL      150

static int key_width(const struct show_pages *pages) {
    int least = pages->size < pages->plan->chunk_size ? pages->size : pages->plan->chunk_size;
    int width = (LEAST_NAME + least - 1) / least;
    return width > LEAST_KEY ? width : LEAST_KEY;
}

/* A box of `size` keys from key `from` on, of which n are used. */
static void put_box(struct show_svg *svg, const struct show_pages *pages, int y, int from, int size,
                    int n, const char *letter, int number, int is_shared) {
    int width = key_width(pages), x = SVG_MARGIN + LABEL + from * width;
    if (n < size) {
        show_svg_box(svg->out, "unused", x + n * width, y, (size - n) * width, BOX_HEIGHT);
    }
    show_svg_box(svg->out, is_shared ? "shared" : "own", x, y, n * width, BOX_HEIGHT);
    show_svg_text(svg->out, "bold", x + 5, y + BOX_HEIGHT - 7, is_shared ? "(%s%d)" : "%s%d",
                  letter, number);
    show_svg_reach(svg, x + size * width);
}

static void put_sequence(struct show_svg *svg, const struct show_view *view, int s) {
    const struct show_pages *pages = view->pages;
    const struct cp_plan *plan = pages->plan;
    const struct cp_plan_sequence *path = &plan->sequence[s];
    int n_pages = pages->begin[s + 1] - pages->begin[s];
    char *name = text_cut(show_sequence_name(view->world, s), 12, "…");
    show_svg_text(svg->out, "bold", SVG_MARGIN, svg->height + BOX_HEIGHT - 7, "S%d %s", s, name);
    free(name);
    for (int k = 0; k < path->n_chunks; k++) {
        put_box(svg, pages, svg->height, k * plan->chunk_size, plan->chunk_size,
                path->run[k].n_tokens, "C", path->run[k].chunk, k < path->n_shared);
    }
    svg->height += BOX_HEIGHT + 4;
    for (int i = 0; i < n_pages; i++) {
        int page = show_pages_table(pages, s, i);
        put_box(svg, pages, svg->height, i * pages->size, pages->size,
                i + 1 < n_pages ? pages->size : pages->last_tokens[s], "P", page,
                pages->n_owners[page] > 1);
    }
    svg->height += BOX_HEIGHT + SVG_LINE;
}

void show_svg_pages(struct show_svg *svg, const struct show_view *view) {
    const struct show_pages *pages = view->pages;
    svg->height += SVG_LINE;
    show_svg_text(svg->out, "head", SVG_MARGIN, svg->height,
                  "Pages of %d keys (P) beside chunks of %d (C)", pages->size,
                  pages->plan->chunk_size);
    svg->height += SVG_LINE;
    show_svg_text(svg->out, "note", SVG_MARGIN, svg->height,
                  "key j is in slot j mod %d of page block_table[s][j div %d]; sequences share a "
                  "page (P) where all its keys are in chunks that they share (C)",
                  pages->size, pages->size);
    show_svg_reach(svg, SVG_MARGIN + show_svg_columns_width(140));
    svg->height += SVG_LINE;
    for (int s = 0; s < pages->plan->n_sequences; s++) {
        put_sequence(svg, view, s);
    }
}

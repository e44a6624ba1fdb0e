/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys each row sees, as SVG: for each sequence its chunks in a line, below them a row of
 * squares for each query row, and a legend. Squares differ in their mark, not only in colour. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/show/keys.h"
#include "cli/show/svg.h"

#define SQUARE     14
#define GAP        10 /* between chunks */
#define LABEL      190
#define LEAST_NAME 34 /* width of a chunk, whose name stands above it */

static const char style[] = "  <style>\n"
                            "    .seen { fill: #2f7d32; stroke: #1a1a1a }\n"
                            "    .its-own { fill: #0b3d0d; stroke: #1a1a1a }\n"
                            "    .kept { fill: #0072b2; stroke: #1a1a1a }\n"
                            "    .ahead { fill: #7b4ea3; stroke: #1a1a1a }\n"
                            "    .hidden { fill: #ffffff; stroke: #b0b0b0 }\n"
                            "    .taken { fill: #fdeccb; stroke: #b35900 }\n"
                            "    .mark { font-size: 10px; text-anchor: middle; fill: #ffffff }\n"
                            "    .dark { font-size: 10px; text-anchor: middle; fill: #1a1a1a }\n"
                            "  </style>\n";

struct look {
    const char *class;
    const char *mark;
    const char *mark_class;
    const char *words;
};

enum { SEEN, ITS_OWN, KEPT, AHEAD, TAKEN, HIDDEN, UNUSED, N_LOOKS };

static const struct look looks[N_LOOKS] = {
    [SEEN] = {"seen", "x", "mark", "the row sees the key"},
    [ITS_OWN] = {"its-own", "o", "mark", "... at its own position"},
    [KEPT] = {"kept", "k", "mark", "... only because it is kept"},
    [AHEAD] = {"ahead", "a", "mark", "... ahead of the row"},
    [TAKEN] = {"taken", "-", "dark", "the mask takes it away"},
    [HIDDEN] = {"hidden", ".", "dark", "not seen"},
    [UNUSED] = {"unused", "", "dark", "unused slot"},
};

static int look_of(const struct show_keys *keys, int s, int row, int j) {
    int p = show_keys_position(keys, s, row);
    switch (show_keys_sight(keys, s, row, j)) {
    case SHOW_KEPT:
        return KEPT;
    case SHOW_TAKEN:
        return TAKEN;
    case SHOW_SEEN:
        return j == p ? ITS_OWN : j > p ? AHEAD : SEEN;
    case SHOW_HIDDEN:
        break;
    }
    return HIDDEN;
}

static void put_square(FILE *out, int look, int x, int y) {
    show_svg_box(out, looks[look].class, x, y, SQUARE, SQUARE);
    show_svg_text(out, looks[look].mark_class, x + SQUARE / 2, y + SQUARE - 4, "%s",
                  looks[look].mark);
}

static int is_possible(const struct show_question *question, int look) {
    return look == KEPT    ? question->window.kept > 0
           : look == AHEAD ? question->window.ahead > 0
           : look == TAKEN ? question->n_bits > 0
                           : 1;
}

static void put_legend(struct show_svg *svg, const struct show_view *view) {
    const struct show_keys *keys = view->keys;
    char *text;
    size_t size;
    FILE *title = text_open(&text, &size);
    fputs("each row q sees, of the tokens of its sequence, ", title);
    show_keys_title(title, keys);
    text_close(title);
    svg->height += SVG_LINE;
    show_svg_text(svg->out, "head", SVG_MARGIN, svg->height, "Keys that each row sees");
    svg->height += SVG_LINE;
    show_svg_text(svg->out, "note", SVG_MARGIN, svg->height, "%s", text);
    show_svg_reach(svg, SVG_MARGIN + show_svg_columns_width(text_columns(text)));
    free(text);
    int x = SVG_MARGIN;
    svg->height += 8;
    for (int look = 0; look < N_LOOKS; look++) {
        if (is_possible(keys->question, look)) {
            put_square(svg->out, look, x, svg->height);
            show_svg_text(svg->out, "note", x + SQUARE + 5, svg->height + SQUARE - 3, "%s",
                          looks[look].words);
            x += SQUARE + 20 + show_svg_columns_width(text_columns(looks[look].words));
        }
    }
    show_svg_reach(svg, x);
    svg->height += SQUARE + SVG_LINE;
    show_svg_text(svg->out, "note", SVG_MARGIN, svg->height,
                  "(C0): a chunk that several sequences share. C3: one of its sequence alone");
    svg->height += 8;
}

static int chunk_width(const struct show_keys *keys) {
    int width = keys->plan->chunk_size * SQUARE;
    return width > LEAST_NAME ? width : LEAST_NAME;
}

/* Run k of the sequence: its name, its frame, and the squares of all rows. */
static void put_run(struct show_svg *svg, const struct show_keys *keys, int s, int k) {
    const struct cp_plan_sequence *path = &keys->plan->sequence[s];
    const struct cp_run *run = &path->run[k];
    int width = chunk_width(keys), rows = keys->question->n_rows;
    int x = SVG_MARGIN + LABEL + k * (width + GAP);
    int is_shared = k < path->n_shared;
    show_svg_text(svg->out, "middle bold", x + width / 2, svg->height - 6,
                  is_shared ? "(C%d)" : "C%d", run->chunk);
    show_svg_box(svg->out, is_shared ? "shared" : "own", x - 3, svg->height - 3, width + 6,
                 rows * SQUARE + 6);
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < keys->plan->chunk_size; i++) {
            int look = i < run->n_tokens ? look_of(keys, s, row, run->position + i) : UNUSED;
            put_square(svg->out, look, x + i * SQUARE, svg->height + row * SQUARE);
        }
    }
    show_svg_reach(svg, x + width);
}

static void put_sequence(struct show_svg *svg, const struct show_view *view, int s) {
    const struct show_keys *keys = view->keys;
    char *name = text_cut(show_sequence_name(view->world, s), 12, "…");
    svg->height += SVG_LINE + 4;
    show_svg_text(svg->out, "bold", SVG_MARGIN, svg->height - 6, "S%d %s", s, name);
    free(name);
    for (int row = 0; row < keys->question->n_rows; row++) {
        char label[SHOW_ROW_NAME];
        show_keys_name(label, keys, s, row);
        show_svg_text(svg->out, "row-label", SVG_MARGIN, svg->height + (row + 1) * SQUARE - 3,
                      "%s at %d sees %d", label, show_keys_position(keys, s, row),
                      show_keys_of_row(keys, s, row));
    }
    for (int k = 0; k < keys->plan->sequence[s].n_chunks; k++) {
        put_run(svg, keys, s, k);
    }
    svg->height += keys->question->n_rows * SQUARE + 8;
}

void show_svg_keys(struct show_svg *svg, const struct show_view *view) {
    fputs(style, svg->out);
    put_legend(svg, view);
    for (int s = 0; s < view->keys->plan->n_sequences; s++) {
        put_sequence(svg, view, s);
    }
    svg->height += SVG_LINE;
}

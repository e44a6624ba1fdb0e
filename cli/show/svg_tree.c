/* SPDX-License-Identifier: Apache-2.0 */
/* The tree as SVG: sequences are rows, depths are columns, and a chunk is a box that reaches over
 * the rows of the sequences that it covers. That these rows are neighbours is what TREE-1 says. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/show/svg.h"

#define PAD          6
#define HEAD         20
#define SLOT_HEIGHT  20
#define ROW_GAP      10
#define COLUMN_GAP   26
#define MOST_LETTERS 12 /* of a word in a slot */

struct geometry {
    const struct show_world *world;
    int top;
    int row_height;
    int slots_in_row;
    int n_depths;
    int *x;          /* by depth: left edge of the column */
    int *slot_width; /* by depth */
};

static int slots_in_row(int chunk_size) {
    return chunk_size <= 4 ? chunk_size : chunk_size <= 16 ? 4 : 8;
}

static int at_most(int value, int limit) {
    return value < limit ? value : limit;
}

/* Columns of the longest word in the chunks at this depth. */
static int longest_word(const struct cp_tree *tree, const struct show_world *world, int depth) {
    int longest = 2;
    for (int s = 0; s < tree->n_sequences; s++) {
        int chunk = tree->sequence[s].n_chunks > depth ? tree->sequence[s].chunk[depth] : -1;
        for (int i = 0; chunk >= 0 && i < tree->fill[chunk]; i++) {
            int columns = text_columns(show_token_word(world, chunk, i));
            longest = columns > longest ? columns : longest;
        }
    }
    return at_most(longest, MOST_LETTERS);
}

static int column_width(const struct geometry *geometry, int depth) {
    int slots = geometry->slots_in_row * geometry->slot_width[depth] + 2 * PAD;
    int head = show_svg_columns_width(20) + 2 * PAD; /* "C123 [123,123) 64/64" */
    return slots > head ? slots : head;
}

static int names_width(const struct show_world *world) {
    int longest = 0;
    for (int s = 0; s < world->tree->n_sequences; s++) {
        int columns = at_most(text_columns(show_sequence_name(world, s)), MOST_LETTERS);
        longest = columns > longest ? columns : longest;
    }
    return show_svg_columns_width(longest + 6) + 2 * PAD;
}

static struct geometry measure(const struct show_svg *svg, const struct show_world *world) {
    const struct cp_tree *tree = world->tree;
    struct geometry geometry = {world, svg->height, 0, 0, 0, NULL, NULL};
    for (int s = 0; s < tree->n_sequences; s++) {
        int n = tree->sequence[s].n_chunks;
        geometry.n_depths = n > geometry.n_depths ? n : geometry.n_depths;
    }
    size_t n = (size_t)geometry.n_depths;
    geometry.x = cli_allocate(NULL, n + 1, sizeof *geometry.x);
    geometry.slot_width = cli_allocate(NULL, n, sizeof *geometry.slot_width);
    geometry.slots_in_row = slots_in_row(tree->chunk_size);
    int slot_rows = (tree->chunk_size + geometry.slots_in_row - 1) / geometry.slots_in_row;
    geometry.row_height = HEAD + slot_rows * SLOT_HEIGHT + PAD + ROW_GAP;
    geometry.x[0] = SVG_MARGIN + names_width(world);
    for (int k = 0; k < geometry.n_depths; k++) {
        int letters = longest_word(tree, world, k);
        geometry.slot_width[k] = show_svg_columns_width(letters) + 2 * PAD;
        geometry.x[k + 1] = geometry.x[k] + column_width(&geometry, k) + COLUMN_GAP;
    }
    return geometry;
}

static void put_rows(struct show_svg *svg, const struct geometry *geometry) {
    const struct show_world *world = geometry->world;
    int right = geometry->x[geometry->n_depths];
    for (int s = 0; s < world->tree->n_sequences; s++) {
        int y = geometry->top + s * geometry->row_height;
        char *name = text_cut(show_sequence_name(world, s), MOST_LETTERS, "…");
        show_svg_box(svg->out, "row", SVG_MARGIN, y, right - SVG_MARGIN,
                     geometry->row_height - ROW_GAP);
        int middle = y + (geometry->row_height - ROW_GAP) / 2 + 4;
        show_svg_text(svg->out, "bold", SVG_MARGIN + PAD, middle, "S%d", s);
        show_svg_text(svg->out, "name", SVG_MARGIN + PAD + show_svg_columns_width(5), middle, "%s",
                      name);
        free(name);
    }
}

static void put_slots(FILE *out, const struct geometry *geometry, int chunk, int y) {
    const struct cp_tree *tree = geometry->world->tree;
    int width = geometry->slot_width[tree->depth[chunk]];
    int left = geometry->x[tree->depth[chunk]] + PAD;
    for (int i = 0; i < tree->chunk_size; i++) {
        int x = left + i % geometry->slots_in_row * width;
        int top = y + i / geometry->slots_in_row * SLOT_HEIGHT;
        if (i >= tree->fill[chunk]) {
            show_svg_box(out, "unused", x, top, width, SLOT_HEIGHT);
            continue;
        }
        char *word = text_cut(show_token_word(geometry->world, chunk, i), MOST_LETTERS, "…");
        show_svg_box(out, "slot", x, top, width, SLOT_HEIGHT);
        show_svg_text(out, "middle", x + width / 2, top + 14, "%s", word);
        free(word);
    }
}

/* The box, its content half way down, and the line from the chunk above: a child's middle is beside
 * its parent, so the line is straight (TREE-5). */
static void put_chunk(FILE *out, const struct geometry *geometry, int chunk) {
    const struct cp_tree *tree = geometry->world->tree;
    int depth = tree->depth[chunk];
    int rows = tree->end[chunk] - tree->begin[chunk];
    int x = geometry->x[depth];
    int y = geometry->top + tree->begin[chunk] * geometry->row_height;
    int height = rows * geometry->row_height - ROW_GAP;
    int content = y + (height - (geometry->row_height - ROW_GAP)) / 2;
    show_svg_box(out, rows >= 2 ? "shared" : "own", x, y, column_width(geometry, depth), height);
    show_svg_text(out, "bold", x + PAD, content + 15, "C%d [%d,%d) %d/%d", chunk,
                  tree->begin[chunk], tree->end[chunk], tree->fill[chunk], tree->chunk_size);
    put_slots(out, geometry, chunk, content + HEAD);
    if (depth > 0) {
        show_svg_line(out, "arrow", x - COLUMN_GAP + 2, x - 3, y + height / 2);
    }
}

void show_svg_tree(struct show_svg *svg, const struct show_view *view) {
    const struct cp_tree *tree = view->world->tree;
    struct geometry geometry = measure(svg, view->world);
    put_rows(svg, &geometry);
    for (int s = 0; s < tree->n_sequences; s++) {
        for (int k = 0; k < tree->sequence[s].n_chunks; k++) {
            if (tree->begin[tree->sequence[s].chunk[k]] == s) {
                put_chunk(svg->out, &geometry, tree->sequence[s].chunk[k]);
            }
        }
    }
    svg->height += tree->n_sequences * geometry.row_height + SVG_LINE;
    show_svg_reach(svg, geometry.x[geometry.n_depths]);
    free(geometry.x);
    free(geometry.slot_width);
}

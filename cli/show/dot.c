/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing as DOT, one digraph for each: chunks as tables of slots, sequences below the chunks
 * at which they end; sequences, plan, phases and memory in the label below. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/show/show.h"

/* Slots of a chunk side by side. */
static int slots_per_row(int chunk_size) {
    return chunk_size <= 6 ? chunk_size : 8;
}

static void put_slot(FILE *out, const struct show_world *world, int chunk, int slot) {
    if (slot < world->tree->fill[chunk]) {
        fputs("<TD>", out);
        text_put_escaped(out, show_token_word(world, chunk, slot));
        fputs("</TD>", out);
    } else {
        fputs("<TD BGCOLOR=\"#d9d9d9\">&#160;</TD>", out);
    }
}

/* A chunk that several sequences share has a thick frame. */
static void put_chunk(FILE *out, const struct show_world *world, int chunk) {
    const struct cp_tree *tree = world->tree;
    int c = tree->chunk_size;
    int in_row = slots_per_row(c);
    int shared = tree->end[chunk] - tree->begin[chunk] >= 2;
    fprintf(out,
            "    c%d [label=<<TABLE BORDER=\"%d\" CELLBORDER=\"1\" CELLSPACING=\"0\" "
            "BGCOLOR=\"%s\">\n",
            chunk, shared ? 3 : 1, shared ? "#d3e9f8" : "#fdeccb");
    fprintf(out, "      <TR><TD COLSPAN=\"%d\"><B>C%d</B>  [%d,%d)  %d/%d</TD></TR>\n", in_row,
            chunk, tree->begin[chunk], tree->end[chunk], tree->fill[chunk], c);
    for (int first = 0; first < c; first += in_row) {
        fputs("      <TR>", out);
        for (int i = first; i < first + in_row && i < c; i++) {
            put_slot(out, world, chunk, i);
        }
        fputs("</TR>\n", out);
    }
    fputs("    </TABLE>>];\n", out);
}

static void put_sequence(FILE *out, const struct show_world *world, int s) {
    const struct cp_sequence *row = &world->tree->sequence[s];
    fprintf(out, "    s%d [shape=ellipse, label=<S%d ", s, s);
    text_put_escaped(out, show_sequence_name(world, s));
    fputs(row->n_chunks == 0 ? " (empty)>];\n" : ">];\n", out);
    if (row->n_chunks > 0) {
        fprintf(out, "    c%d -> s%d [style=dashed];\n", row->chunk[row->n_chunks - 1], s);
    }
}

static void put_forest(FILE *out, const struct show_world *world) {
    const struct cp_tree *tree = world->tree;
    for (int s = 0; s < tree->n_sequences; s++) {
        for (int k = 0; k < tree->sequence[s].n_chunks; k++) {
            int chunk = tree->sequence[s].chunk[k];
            if (tree->begin[chunk] != s) {
                continue;
            }
            put_chunk(out, world, chunk);
            if (k > 0) {
                fprintf(out, "    c%d -> c%d;\n", show_parent(tree, chunk), chunk);
            }
        }
        put_sequence(out, world, s);
    }
}

/* Lines of text, to the left, with all their blanks: DOT would take several for one. */
static void put_lines(FILE *out, const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        char one[2] = {*at, '\0'};
        if (*at == ' ') {
            fputs("&#160;", out);
        } else if (*at == '\n') {
            fputs("<BR ALIGN=\"LEFT\"/>\n", out);
        } else {
            text_put_escaped(out, one);
        }
    }
}

static void put_label(FILE *out, const struct show_view *view, int is_end) {
    char *text;
    size_t size;
    FILE *label = text_open(&text, &size);
    if (is_end) {
        fprintf(label, "%s\n\n", view->title);
        show_tables_plan(label, view);
        fputc('\n', label);
        show_tables_phases(label, view);
    } else {
        const struct show_step *step = &view->step[view->n_steps - 1];
        fprintf(label, "%d  %s\n%s\n", view->n_steps, step->title, step->effect);
    }
    text_close(label);
    fputs("    label=<", out);
    put_lines(out, text);
    fputs(">;\n", out);
    free(text);
}

void show_dot(FILE *out, const struct show_view *view, int is_end) {
    fprintf(out, "digraph %s%d {\n", is_end ? "end_after_" : "step_", view->n_steps);
    fputs("    graph [ordering=out, labelloc=b, labeljust=l, fontname=\"monospace\"];\n"
          "    node [shape=plain, fontname=\"monospace\"];\n",
          out);
    put_label(out, view, is_end);
    put_forest(out, view->world);
    fputs("}\n", out);
}

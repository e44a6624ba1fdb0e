/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing as text: the steps and the tree. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/show/keys.h"
#include "cli/show/pages.h"
#include "cli/show/show.h"

/* The characters that the tree is drawn with. */
struct marks {
    const char *fork;   /* before a chunk that has later siblings */
    const char *last;   /* before the last of its siblings */
    const char *bar;    /* next to the descendants of such a chunk */
    const char *wall;   /* between slots */
    const char *unused; /* an unused slot */
    const char *end;    /* before the sequences that end at a chunk */
    const char *cut;    /* where a word was cut */
};

static const struct marks unicode_marks = {"├─ ", "└─ ", "│  ", "│", "░░", " ◄", "…"};
static const struct marks ascii_marks = {"|- ", "`- ", "|  ", "|", "..", " <-", "~"};

static const struct marks *marks_of(const struct show_view *view) {
    return view->ascii ? &ascii_marks : &unicode_marks;
}

/* ---- Steps ---- */

static void put_step(FILE *out, const struct show_view *view, int number) {
    const struct show_step *step = &view->step[number - 1];
    int indent = fprintf(out, "%2d  ", number);
    char *title = text_cut(step->title, 4 * view->width, marks_of(view)->cut);
    text_put_wrapped(out, title, indent, indent, view->width);
    text_put_blanks(out, indent);
    text_put_wrapped(out, step->effect, indent, indent, view->width);
    free(title);
}

/* ---- The tree ---- */

/* Where the walk over the tree is. A chunk that covers what its parent covers stands right below
 * it; any other starts a branch one level further in. */
struct walk {
    FILE *out;
    const struct show_view *view;
    const struct cp_tree *tree;
    int id_width;    /* of "C12" */
    int range_width; /* of "[0,3)" */
    int *level;      /* by depth: of the current path's chunk */
    int *goes_on;    /* by level: the current branch has later siblings */
};

static int is_branch(const struct cp_tree *tree, int chunk) {
    int parent = show_parent(tree, chunk);
    return parent < 0 ||
           tree->end[parent] - tree->begin[parent] > tree->end[chunk] - tree->begin[chunk];
}

/* Does this chunk have a later sibling? */
static int has_next(const struct cp_tree *tree, int chunk) {
    int parent = show_parent(tree, chunk);
    int end = parent < 0 ? tree->n_sequences : tree->end[parent];
    int s = tree->end[chunk];
    while (s < end && tree->sequence[s].n_chunks <= tree->depth[chunk]) {
        s++;
    }
    return s < end;
}

static int range_columns(const struct cp_tree *tree, int chunk) {
    return snprintf(NULL, 0, "[%d,%d)", tree->begin[chunk], tree->end[chunk]);
}

static int put_branch(struct walk *walk, int chunk) {
    const struct cp_tree *tree = walk->tree;
    const struct marks *marks = marks_of(walk->view);
    int depth = tree->depth[chunk];
    int above = depth > 0 ? walk->level[depth - 1] : 0;
    int branches = is_branch(tree, chunk);
    int level = above + branches;
    walk->level[depth] = level;
    for (int i = 1; i <= above; i++) {
        fputs(walk->goes_on[i] ? marks->bar : "   ", walk->out);
    }
    if (branches) {
        walk->goes_on[level] = has_next(tree, chunk);
        fputs(walk->goes_on[level] ? marks->fork : marks->last, walk->out);
    }
    return 3 * level;
}

/* "S0 ann" when one sequence ends at the chunk, "S0 S1" when several do. */
static void put_ends(FILE *out, const struct walk *walk, int chunk) {
    const struct cp_tree *tree = walk->tree;
    const struct marks *marks = marks_of(walk->view);
    int first = show_ends_at(tree, chunk, 0);
    if (first < 0) {
        return;
    }
    fputs(marks->end, out);
    int n = 0;
    for (int s = first; s >= 0 && n < 4; s = show_ends_at(tree, chunk, s + 1)) {
        fprintf(out, " S%d", s);
        n++;
    }
    if (n == 1) {
        fputc(' ', out);
        text_put_cut(out, show_sequence_name(walk->view->world, first), 12, marks->cut);
    } else if (n == 4) {
        fprintf(out, " %s", marks->cut);
    }
}

/* Columns of the slots when words are cut to `longest`. */
static int slots_columns(const struct walk *walk, int chunk, int longest) {
    int columns = 1 + 3 * (walk->tree->chunk_size - walk->tree->fill[chunk]);
    for (int i = 0; i < walk->tree->fill[chunk]; i++) {
        int word = text_columns(show_token_word(walk->view->world, chunk, i));
        columns += 1 + (word < longest ? word : longest);
    }
    return columns;
}

/* All slots of the chunk if they fit, words cut when that helps; else the first ones and a
 * count. */
static void put_slots(const struct walk *walk, int chunk, int room) {
    const struct marks *marks = marks_of(walk->view);
    int fill = walk->tree->fill[chunk];
    int longest = 20;
    while (longest > 4 && slots_columns(walk, chunk, longest) > room) {
        longest--;
    }
    int all = slots_columns(walk, chunk, longest) <= room;
    int shown = 0;
    int left =
        room - 1 -
        (all ? 0 : snprintf(NULL, 0, " +%d, %d unused", fill, walk->tree->chunk_size - fill));
    fputs(marks->wall, walk->out);
    while (shown < fill) {
        const char *word = show_token_word(walk->view->world, chunk, shown);
        int columns = text_columns(word) < longest ? text_columns(word) : longest;
        left -= columns + 1;
        if (!all && left < 0) {
            break;
        }
        text_put_cut(walk->out, word, longest, marks->cut);
        fputs(marks->wall, walk->out);
        shown++;
    }
    for (int i = fill; all && i < walk->tree->chunk_size; i++) {
        fprintf(walk->out, "%s%s", marks->unused, marks->wall);
    }
    if (!all) {
        fprintf(walk->out, " +%d, %d unused", fill - shown, walk->tree->chunk_size - fill);
    }
}

static void put_chunk(struct walk *walk, int chunk) {
    const struct cp_tree *tree = walk->tree;
    char *ends;
    size_t size;
    FILE *ends_out = text_open(&ends, &size);
    put_ends(ends_out, walk, chunk);
    text_close(ends_out);

    int used = put_branch(walk, chunk);
    used += fprintf(walk->out, "C%-*d  [%d,%d)", walk->id_width - 1, chunk, tree->begin[chunk],
                    tree->end[chunk]);
    text_put_blanks(walk->out, walk->range_width - range_columns(tree, chunk));
    used += walk->range_width - range_columns(tree, chunk);
    used += fprintf(walk->out, "  %d/%d  ", tree->fill[chunk], tree->chunk_size);
    put_slots(walk, chunk, walk->view->width - used - text_columns(ends));
    fprintf(walk->out, "%s\n", ends);
    free(ends);
}

/* Calls visit for each used chunk, parents before children, in the order of their sequences. */
static void for_each_chunk(struct walk *walk, void (*visit)(struct walk *walk, int chunk)) {
    const struct cp_tree *tree = walk->tree;
    for (int s = 0; s < tree->n_sequences; s++) {
        for (int k = 0; k < tree->sequence[s].n_chunks; k++) {
            if (tree->begin[tree->sequence[s].chunk[k]] == s) {
                visit(walk, tree->sequence[s].chunk[k]);
            }
        }
    }
}

static void measure(struct walk *walk, int chunk) {
    int id = snprintf(NULL, 0, "C%d", chunk);
    int range = range_columns(walk->tree, chunk);
    walk->id_width = id > walk->id_width ? id : walk->id_width;
    walk->range_width = range > walk->range_width ? range : walk->range_width;
}

static void put_tree(FILE *out, const struct show_view *view) {
    const struct cp_tree *tree = view->world->tree;
    size_t most = (size_t)tree->pool.capacity + 1;
    struct walk walk = {out, view, tree, 0, 0, NULL, NULL};
    walk.level = cli_allocate(NULL, most, sizeof *walk.level);
    walk.goes_on = cli_allocate(NULL, most + 1, sizeof *walk.goes_on);
    char heading[128];
    snprintf(heading, sizeof heading,
             "Tree: chunk, the sequences [i,j) that it covers, tokens/c, slots (%s unused)",
             marks_of(view)->unused);
    text_put_wrapped(out, heading, 0, 0, view->width);
    for_each_chunk(&walk, measure);
    for_each_chunk(&walk, put_chunk);
    if (tree->pool.n_free == tree->pool.capacity) {
        fputs("(no chunk is used)\n", out);
    }
    free(walk.level);
    free(walk.goes_on);
}

/* ---- Both drawings ---- */

void show_text_step(FILE *out, const struct show_view *view) {
    put_step(out, view, view->n_steps);
    fputc('\n', out);
    put_tree(out, view);
    fputs("Plan, in the papers' form:\n", out);
    show_plan_in_short(out, view, 2);
    fputc('\n', out);
}

void show_text_end(FILE *out, const struct show_view *view) {
    const struct cp_tree *tree = view->world->tree;
    fprintf(out, "%s: c = %d, %d sequence%s, %d of %d chunks used\n\n", view->title,
            tree->chunk_size, tree->n_sequences, tree->n_sequences == 1 ? "" : "s",
            tree->pool.capacity - tree->pool.n_free, tree->pool.capacity);
    if (!view->in_steps && view->n_steps > 0) {
        fputs("Steps\n", out);
        for (int i = 1; i <= view->n_steps; i++) {
            put_step(out, view, i);
        }
        fputc('\n', out);
    }
    put_tree(out, view);
    fputc('\n', out);
    show_tables_plan(out, view);
    fputc('\n', out);
    if (view->pages != NULL) {
        show_pages_text(out, view);
        fputc('\n', out);
    }
    if (view->keys != NULL) {
        show_keys_text(out, view);
        fputc('\n', out);
    }
    show_tables_phases(out, view);
}

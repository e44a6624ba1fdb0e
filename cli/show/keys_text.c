/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys each row sees, as text: a line of marks for each row, a mark for each slot of its
 * sequence's path. A path that is wider than the text goes on in lines below. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/show/keys.h"

#define MOST_SLOTS 32 /* of a chunk in a line: more go on behind the next wall */

/* ---- What the marks mean ---- */

static const char *mark_of(const struct show_view *view, int s, int row, int j) {
    const struct show_keys *keys = view->keys;
    int p = show_keys_position(keys, s, row);
    switch (show_keys_sight(keys, s, row, j)) {
    case SHOW_KEPT:
        return "k";
    case SHOW_TAKEN:
        return "-";
    case SHOW_SEEN:
        return j == p ? "o" : j > p ? "a" : "x";
    case SHOW_HIDDEN:
        break;
    }
    return ".";
}

static const char *unused_mark(const struct show_view *view) {
    return view->ascii ? "_" : "░";
}

static void put_legend(FILE *out, const struct show_view *view) {
    const struct show_question *question = view->keys->question;
    char *text;
    size_t size;
    FILE *legend = text_open(&text, &size);
    fputs("Keys: each row q sees, of the tokens of its sequence, ", legend);
    show_keys_title(legend, view->keys);
    fputs(". x is a key that it sees, o one at its own position", legend);
    fputs(question->window.kept > 0 ? ", k one that is kept" : "", legend);
    fputs(question->window.ahead > 0 ? ", a one ahead of it" : "", legend);
    fputs(question->n_bits > 0 ? ", - one that the mask takes away" : "", legend);
    fprintf(legend, ", . one that it does not see, %s an unused slot. (C) is a shared chunk",
            unused_mark(view));
    text_close(legend);
    text_put_wrapped(out, text, 0, 0, view->width);
    free(text);
}

/* ---- A tree of speculative tokens ---- */

/* The nodes on the way from node 0 to this one: a parent is a node before its own. */
static void put_path(FILE *out, const int *parent, int node) {
    for (int i = 0; i < node; i++) {
        int above = node;
        while (above > i) {
            above = parent[above];
        }
        if (above == i) {
            fprintf(out, "%d ", i);
        }
    }
    fprintf(out, "%d", node);
}

void show_keys_nodes(FILE *out, const struct show_view *view) {
    const struct show_question *question = view->keys->question;
    text_put_wrapped(out,
                     "Tree of speculative tokens: node i is token i of the last ones of each "
                     "sequence, row i its query, which sees all before node 0 and, of the nodes, "
                     "its path (x)",
                     0, 0, view->width);
    fputs("  node  parent  sees\n", out);
    for (int i = 0; i < question->n_rows; i++) {
        char *path;
        size_t size;
        char parent[16] = "none";
        FILE *path_out = text_open(&path, &size);
        put_path(path_out, question->parent, i);
        text_close(path_out);
        if (i > 0) {
            snprintf(parent, sizeof parent, "%d", question->parent[i]);
        }
        int used = fprintf(out, "%6d  %6s  ", i, parent);
        for (int j = 0; j < question->n_bits; j++) {
            fputc(question->is_left[i * question->n_bits + j] ? 'x' : '.', out);
        }
        used += question->n_bits + 8;
        if (used < view->width - 8) {
            fputs("  path: ", out);
            text_put_cut(out, path, view->width - used, view->ascii ? "~" : "…");
        }
        fputc('\n', out);
        free(path);
    }
}

/* ---- The rows of a sequence ---- */

/* Slots from .. to - 1 of run k, drawn in `width` columns behind a wall. */
struct piece {
    int k;
    int from;
    int to;
    int width;
    char name[32];
};

static struct piece piece_at(const struct show_view *view, int s, int k, int from) {
    const struct cp_plan *plan = view->keys->plan;
    int rest = plan->chunk_size - from;
    struct piece piece = {k, from, from + (rest < MOST_SLOTS ? rest : MOST_SLOTS), 0, ""};
    int chunk = plan->sequence[s].run[k].chunk;
    if (from > 0) {
        snprintf(piece.name, sizeof piece.name, "slot %d", from);
    } else {
        snprintf(piece.name, sizeof piece.name, k < plan->sequence[s].n_shared ? "(C%d)" : "C%d",
                 chunk);
    }
    int slots = piece.to - piece.from, name = (int)strlen(piece.name);
    piece.width = slots > name ? slots : name;
    return piece;
}

static void put_piece(FILE *out, const struct show_view *view, int s, int row,
                      const struct piece *piece) {
    const struct cp_run *run = &view->keys->plan->sequence[s].run[piece->k];
    const char *wall = view->ascii ? "|" : "│";
    fputs(wall, out);
    for (int i = piece->from; i < piece->to; i++) {
        fputs(i < run->n_tokens ? mark_of(view, s, row, run->position + i) : unused_mark(view),
              out);
    }
    text_put_blanks(out, piece->width - (piece->to - piece->from));
}

/* One line of each row, with the pieces from *k and *from on that fit. Sets both behind these. */
static void put_block(FILE *out, const struct show_view *view, int s, int *k, int *from) {
    const struct cp_plan_sequence *path = &view->keys->plan->sequence[s];
    int label = fprintf(out, "%8s  %5s  %7s  ", "row", "at", "sees");
    struct piece *piece = cli_allocate(NULL, (size_t)view->width, sizeof *piece);
    int n = 0, used = label + 1;
    while (*k < path->n_chunks) {
        piece[n] = piece_at(view, s, *k, *from);
        used += 1 + piece[n].width;
        if (n > 0 && used > view->width) {
            break;
        }
        fprintf(out, "%*s%s", n > 0 ? piece[n - 1].width - (int)strlen(piece[n - 1].name) + 1 : 1,
                "", piece[n].name);
        *from = piece[n].to < view->keys->plan->chunk_size ? piece[n].to : 0;
        *k += *from == 0;
        n++;
    }
    fputc('\n', out);
    for (int row = 0; row < view->keys->question->n_rows; row++) {
        char name[SHOW_ROW_NAME];
        show_keys_name(name, view->keys, s, row);
        fprintf(out, "%8s  %5d  %7d  ", name, show_keys_position(view->keys, s, row),
                show_keys_of_row(view->keys, s, row));
        for (int i = 0; i < n; i++) {
            put_piece(out, view, s, row, &piece[i]);
        }
        fputs(view->ascii ? "|\n" : "│\n", out);
    }
    free(piece);
}

void show_keys_text(FILE *out, const struct show_view *view) {
    const struct cp_plan *plan = view->keys->plan;
    put_legend(out, view);
    fputc('\n', out);
    if (view->keys->question->parent != NULL) {
        show_keys_nodes(out, view);
        fputc('\n', out);
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        int k = 0, from = 0;
        fprintf(out, "  S%d ", s);
        text_put_cut(out, show_sequence_name(view->world, s), 30, view->ascii ? "~" : "…");
        fprintf(out, ": %d key%s\n", plan->sequence[s].n_tokens,
                plan->sequence[s].n_tokens == 1 ? "" : "s");
        while (k < plan->sequence[s].n_chunks) {
            put_block(out, view, s, &k, &from);
        }
    }
}

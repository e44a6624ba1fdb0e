/* SPDX-License-Identifier: Apache-2.0 */
/* Pages beside chunks, as text: two strips for each sequence, one above the other, in which a key
 * has the same columns; and the arrays. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/show/list.h"
#include "cli/show/pages.h"

#define LABEL 10 /* columns before a strip */

/* ---- Strips ---- */

/* What is drawn: a string for each column. */
struct strip {
    const char *label;
    const char **column;
    int n;
};

struct marks {
    const char *wall;
    const char *key;
    const char *unused;
};

static const struct marks *marks_of(const struct show_view *view) {
    static const struct marks unicode = {"│", "─", "░"}, ascii = {"|", "-", "_"};
    return view->ascii ? &ascii : &unicode;
}

/* A character of a name, as a string. */
static const char *character(char c) {
    static const char letters[][2] = {"0", "1", "2", "3", "4", "5", "6",
                                      "7", "8", "9", "(", ")", "C", "P"};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        if (letters[i][0] == c) {
            return letters[i];
        }
    }
    return " ";
}

/* A box of `size` keys, of which n are used, each `per_key` columns wide. */
static void put_box(struct strip *strip, const struct marks *marks, const char *name, int size,
                    int n, int per_key) {
    int begin = strip->n, length = (int)strlen(name);
    for (int i = 0; i < size * per_key; i++) {
        const char *fill = i / per_key < n ? marks->key : marks->unused;
        strip->column[begin + i] = i == 0        ? marks->wall
                                   : i <= length ? character(name[i - 1])
                                                 : fill;
    }
    strip->n = begin + size * per_key;
}

static void chunk_name(char name[32], const struct cp_plan_sequence *path, int k) {
    snprintf(name, 32, k < path->n_shared ? "(C%d)" : "C%d", path->run[k].chunk);
}

static void page_name(char name[32], const struct show_pages *pages, int page) {
    snprintf(name, 32, pages->n_owners[page] > 1 ? "(P%d)" : "P%d", page);
}

/* Columns for each key, so that each name and a wall fit into its box. */
static int columns_per_key(const struct show_pages *pages) {
    const struct cp_plan *plan = pages->plan;
    int most = 1;
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        char name[32];
        for (int k = 0; k < path->n_chunks; k++) {
            chunk_name(name, path, k);
            int columns = (int)strlen(name) / plan->chunk_size + 1;
            most = columns > most ? columns : most;
        }
        for (int i = pages->begin[s]; i < pages->begin[s + 1]; i++) {
            page_name(name, pages, pages->list[i]);
            int columns = (int)strlen(name) / pages->size + 1;
            most = columns > most ? columns : most;
        }
    }
    return most;
}

static void put_strip(FILE *out, const struct strip *strip, const struct marks *marks, int from,
                      int to) {
    if (from >= strip->n) {
        return;
    }
    fprintf(out, "    %-*s", LABEL - 4, strip->label);
    for (int i = from; i < to && i < strip->n; i++) {
        fputs(strip->column[i], out);
    }
    fputs(to >= strip->n ? marks->wall : "", out);
    fputc('\n', out);
}

static void put_sequence(FILE *out, const struct show_view *view, int s, int per_key) {
    const struct show_pages *pages = view->pages;
    const struct cp_plan *plan = pages->plan;
    const struct cp_plan_sequence *path = &plan->sequence[s];
    const struct marks *marks = marks_of(view);
    int n_pages = pages->begin[s + 1] - pages->begin[s];
    char name[32];
    struct strip chunk = {"chunk", NULL, 0}, page = {"page", NULL, 0};
    size_t slots = (size_t)path->n_chunks * (size_t)plan->chunk_size;
    size_t in_pages = (size_t)n_pages * (size_t)pages->size;
    chunk.column = cli_allocate(NULL, slots * (size_t)per_key, sizeof *chunk.column);
    page.column = cli_allocate(NULL, in_pages * (size_t)per_key, sizeof *page.column);
    for (int k = 0; k < path->n_chunks; k++) {
        chunk_name(name, path, k);
        put_box(&chunk, marks, name, plan->chunk_size, path->run[k].n_tokens, per_key);
    }
    for (int i = 0; i < n_pages; i++) {
        page_name(name, pages, show_pages_table(pages, s, i));
        put_box(&page, marks, name, pages->size,
                i + 1 < n_pages ? pages->size : pages->last_tokens[s], per_key);
    }
    fprintf(out, "  S%d ", s);
    text_put_cut(out, show_sequence_name(view->world, s), 30, view->ascii ? "~" : "…");
    fprintf(out, ": %d key%s\n", path->n_tokens, path->n_tokens == 1 ? "" : "s");
    int room = (view->width - LABEL - 1) / per_key * per_key;
    for (int from = 0; from < chunk.n || from < page.n; from += room) {
        put_strip(out, &chunk, marks, from, from + room);
        put_strip(out, &page, marks, from, from + room);
    }
    free(chunk.column);
    free(page.column);
}

/* ---- Arrays ---- */

static void put_numbers(FILE *out, const struct show_view *view, const char *name,
                        const int *number, int n) {
    int label = fprintf(out, "    %-14s", name);
    struct show_list list = {out, view->width, label + 1, label, 1};
    for (int i = 0; i < n; i++) {
        show_list_put_number(&list, "", number[i], "");
    }
    fputc('\n', out);
}

void show_pages_arrays(FILE *out, const struct show_view *view) {
    const struct show_pages *pages = view->pages;
    const struct cp_plan *plan = pages->plan;
    int b = plan->n_sequences;
    struct show_figures figures = show_count(view->world->tree);
    int *number = cli_allocate(NULL, (size_t)b + (size_t)pages->width, sizeof *number);
    fputs("Page tables as kernels of vLLM or FlashAttention get them\n", out);
    for (int s = 0; s < b; s++) {
        for (int i = 0; i < pages->width; i++) {
            number[i] = show_pages_table(pages, s, i);
        }
        put_numbers(out, view, s == 0 ? "block_table" : "", number, pages->width);
    }
    for (int s = 0; s < b; s++) {
        number[s] = plan->sequence[s].n_tokens;
    }
    put_numbers(out, view, "seq_lens", number, b);
    free(number);
    fputs("The same for kernels of FlashInfer\n", out);
    put_numbers(out, view, "indptr", pages->begin, b + 1);
    put_numbers(out, view, "indices", pages->list, pages->begin[b]);
    put_numbers(out, view, "last_page_len", pages->last_tokens, b);
    fprintf(out, "Stored: %d keys in %d page%s; %d in %d chunk%s\n", show_pages_stored(pages),
            pages->n, pages->n == 1 ? "" : "s", figures.tokens, figures.chunks,
            figures.chunks == 1 ? "" : "s");
}

void show_pages_text(FILE *out, const struct show_view *view) {
    const struct show_pages *pages = view->pages;
    char heading[512];
    snprintf(heading, sizeof heading, SHOW_PAGES_HEADING ". %s is a key, %s an unused slot",
             pages->size, pages->plan->chunk_size, pages->size, pages->size, marks_of(view)->key,
             marks_of(view)->unused);
    text_put_wrapped(out, heading, 0, 0, view->width);
    fputc('\n', out);
    int per_key = columns_per_key(pages);
    for (int s = 0; s < pages->plan->n_sequences; s++) {
        put_sequence(out, view, s, per_key);
    }
    fputc('\n', out);
    show_pages_arrays(out, view);
}

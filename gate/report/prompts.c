/* SPDX-License-Identifier: Apache-2.0 */
/* A case with modules on the page: no tree, but its modules, its prompts, and its plan of runs. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "gate/case/prompts.h"
#include "gate/report/html.h"

/* Larger ones show nothing to anybody. */
#define MOST_ROWS 40 /* of a table, */
#define MOST_RUNS 24 /* and runs, or sequences, of a row of it */

/* ---- Cells ---- */

/* A row of texts that are written one after the other. */
struct cells {
    int n;
    struct cell {
        char *text;
        size_t size;
        FILE *file;
    } cell[5];
};

static void open_cells(struct cells *cells, int n) {
    cells->n = n;
    for (int i = 0; i < n; i++) {
        cells->cell[i].file = text_open(&cells->cell[i].text, &cells->cell[i].size);
    }
}

/* Puts the row, and frees the texts. */
static void put_cells(struct markup *m, struct cells *cells) {
    const char *text[5];
    for (int i = 0; i < cells->n; i++) {
        text_close(cells->cell[i].file);
        text[i] = cells->cell[i].text;
    }
    gate_html_row(m, "td", text, cells->n);
    for (int i = 0; i < cells->n; i++) {
        free(cells->cell[i].text);
    }
}

/* A list in a cell: what stands before item i. Of those behind the last one "..." is said once. */
static const char *before(int i) {
    return i == 0 ? "" : i < MOST_RUNS ? ", " : ", ...";
}

static void put_sequence(FILE *file, int i, int s) {
    fputs(before(i), file);
    if (i < MOST_RUNS) {
        fprintf(file, "S%d", s);
    }
}

static void put_more(struct markup *m, int more, int n) {
    if (more > 0) {
        struct cells cells;
        open_cells(&cells, n);
        fprintf(cells.cell[0].file, "and %d more", more);
        put_cells(m, &cells);
    }
}

static void put_positions(FILE *file, int tokens, int position) {
    fprintf(file, tokens > 1 ? "%d to %d" : "%d", position, position + tokens - 1);
}

/* ---- Modules and prompts ---- */

static void put_modules(struct markup *m, const struct gate_recipe *r,
                        const struct gate_prompts *prompts) {
    gate_html_open_table(m, "The modules");
    gate_html_row(m, "th", (const char *[]){"module", "tokens", "positions", "sequences"}, 4);
    for (int i = 0; i < r->n_modules; i++) {
        struct cells cells;
        open_cells(&cells, 4);
        int n = 0;
        fprintf(cells.cell[0].file, r->module[i].alike ? "M%d, the text of M%d" : "M%d", i, i - 1);
        fprintf(cells.cell[1].file, "%d", r->module[i].tokens);
        put_positions(cells.cell[2].file, r->module[i].tokens, r->module[i].position);
        for (int s = 0; s < prompts->n && n <= MOST_RUNS; s++) {
            if (gate_prompt_has(&prompts->prompt[s], i)) {
                put_sequence(cells.cell[3].file, n++, s);
            }
        }
        put_cells(m, &cells);
    }
    gate_html_close_table(m);
}

/* Its modules in one cell, its new tokens in another, by rising position. */
static void put_texts(FILE *modules, FILE *own, const struct gate_prompt *prompt) {
    int n = 0, n_own = 0;
    for (int i = 0; i < prompt->n_texts; i++) {
        const struct gate_text *text = &prompt->text[i];
        if (text->module >= 0) {
            fprintf(modules, n++ > 0 ? ", M%d" : "M%d", text->module);
        } else if (text->tokens > 0) {
            fprintf(own, n_own++ > 0 ? ", %d at " : "%d at ", text->tokens);
            put_positions(own, text->tokens, text->position);
        }
    }
    fputs(n == 0 ? "none" : "", modules);
    fputs(n_own == 0 ? "none" : "", own);
}

static void put_prompts(struct markup *m, const struct gate_prompts *prompts) {
    gate_html_open_table(m, "The prompts");
    gate_html_row(m, "th", (const char *[]){"sequence", "modules", "new tokens", "keys"}, 4);
    for (int s = 0; s < prompts->n && s < MOST_ROWS; s++) {
        struct cells cells;
        open_cells(&cells, 4);
        fprintf(cells.cell[0].file, "S%d", s);
        put_texts(cells.cell[1].file, cells.cell[2].file, &prompts->prompt[s]);
        fprintf(cells.cell[3].file, "%d", prompts->prompt[s].n_tokens);
        put_cells(m, &cells);
    }
    put_more(m, prompts->n - MOST_ROWS, 4);
    gate_html_close_table(m);
}

/* ---- The plan ---- */

static void put_descriptors(struct markup *m, const struct gate_problem *p) {
    gate_html_open_table(m, "The plan: descriptors, with the sequences that they serve");
    gate_html_row(m, "th", (const char *[]){"chunk", "keys", "positions", "sequences"}, 4);
    for (int i = 0; i < p->n_shared && i < MOST_ROWS; i++) {
        const struct cp_shared_chunk *shared = &p->shared[i];
        struct cells cells;
        open_cells(&cells, 4);
        fprintf(cells.cell[0].file, "%d", gate_chunk_number(p, shared->chunk));
        fprintf(cells.cell[1].file, "%d", shared->n_tokens);
        put_positions(cells.cell[2].file, shared->n_tokens, shared->position);
        for (int n = 0; n < shared->end - shared->begin && n <= MOST_RUNS; n++) {
            put_sequence(cells.cell[3].file, n, p->served[shared->begin + n]);
        }
        put_cells(m, &cells);
    }
    put_more(m, p->n_shared - MOST_ROWS, 4);
    gate_html_close_table(m);
}

static void put_runs(FILE *file, const struct gate_problem *p, int s, int begin, int end) {
    for (int k = begin; k < end && k - begin <= MOST_RUNS; k++) {
        int at = s * p->table_width + k;
        fputs(before(k - begin), file);
        if (k - begin < MOST_RUNS) {
            fprintf(file, "%d: %d at %d", gate_chunk_number(p, p->table[at]), p->table_tokens[at],
                    p->table_position[at]);
        }
    }
    fputs(begin == end ? "none" : "", file);
}

static void put_rows(FILE *file, const struct gate_problem *p, int s) {
    int begin = p->query_begin[s], end = p->query_begin[s + 1];
    for (int row = begin; row < end && row - begin <= MOST_RUNS; row++) {
        fputs(before(row - begin), file);
        if (row - begin < MOST_RUNS) {
            fprintf(file, "%d at %d", row, p->position[row]);
        }
    }
    fputs(begin == end ? "none" : "", file);
}

static void put_sequences(struct markup *m, const struct gate_problem *p) {
    gate_html_open_table(m, "The sequences, by runs: a chunk, its keys, the position of the first");
    gate_html_row(
        m, "th",
        (const char *[]){"sequence", "runs of descriptors", "its own runs", "keys", "query rows"},
        5);
    for (int s = 0; s < p->b && s < MOST_ROWS; s++) {
        struct cells cells;
        open_cells(&cells, 5);
        fprintf(cells.cell[0].file, "S%d", s);
        put_runs(cells.cell[1].file, p, s, 0, p->n_shared_chunks[s]);
        put_runs(cells.cell[2].file, p, s, p->n_shared_chunks[s], gate_runs(p, s));
        fprintf(cells.cell[3].file, "%d", p->n_tokens[s]);
        put_rows(cells.cell[4].file, p, s);
        put_cells(m, &cells);
    }
    put_more(m, p->b - MOST_ROWS, 5);
    gate_html_close_table(m);
}

void gate_html_prompts(struct markup *m, const struct gate_recipe *recipe,
                       const struct cp_kernel *kernel) {
    struct gate_prompts *prompts = gate_prompts_new(recipe);
    struct gate_problem problem;
    if (prompts == NULL || gate_problem_new(&problem, recipe, kernel) != 0) {
        free(prompts);
        m->failed = 1;
        return;
    }
    markup_element(m, "p", "note",
                   "Prompts with modules (RUNS-1): a module stands at its positions in each "
                   "sequence that has it, and new tokens stand in the gaps and behind.");
    put_modules(m, recipe, prompts);
    put_prompts(m, prompts);
    if (problem.n_shared > 0) {
        put_descriptors(m, &problem);
    } else {
        markup_element(m, "p", "note", "The plan: no chunk has a descriptor.");
    }
    put_sequences(m, &problem);
    gate_problem_free(&problem);
    free(prompts);
}

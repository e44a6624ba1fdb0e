/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a prompt sees which (MOD-3), as a matrix. A row and a column are a piece of the
 * prompt: cached texts of one module in a row, an argument, or new text. Pieces are in the order of
 * their positions, so that a token sees all of an earlier piece or none of it, and of its own one
 * what stands before it. The matrix of tests/golden/prompt/tokyo.xml, with a scaffold of 2
 * and 4:
 *
 *                                   1 2 3 4 5 6
 *      1 the schema (1 of 2)        \            .
 *      2 trip-plan                  # \          +  scaffold 0: trip-plan, tokyo
 *      3 argument ...               # # \        |
 *      4 tokyo                      # #   \      +
 *      5 the schema (2 of 2)        #       \    .
 *      6 new text ...               # # # # # \  .
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/report_picture.h"

#define MOST  40 /* pieces that are drawn */
#define CELL  16
#define HEAD  36  /* height of a heading */
#define NOTE  20  /* height of a line of text */
#define LEFT  272 /* from the margin to the first column */
#define NAME  44  /* ... to the names */
#define LANES 60  /* width of all brackets */

struct piece {
    int first, n;    /* runs */
    int module;      /* whose own text it is; -1: it is computed */
    int number;      /* of the pieces of its module, from 1 on */
    int scaffold;    /* that counts for the module, or -1 */
    char *name;      /* "trip-plan", "the schema (1 of 2)", "new text behind miami" */
    int begin, size; /* its first position, its tokens */
};

struct matrix {
    const struct pml_prompt *prompt;
    int n;               /* pieces */
    int n_drawn;         /* the first ones */
    struct piece *piece; /* [n], of them n_drawn with names and scaffolds */
    int *n_of;           /* by part: the pieces of a module */
};

/* ---- Pieces ---- */

/* The module whose own text a run is, or -1. */
static int module_of(const struct pml_prompt *prompt, const struct pml_run *run) {
    return run->kind == PML_CACHED ? prompt->schema->part[run->from].parent : -1;
}

static char *name_of(const struct matrix *m, const struct piece *piece) {
    const struct pml_prompt *prompt = m->prompt;
    char *text, *line;
    size_t size;
    if (piece->module < 0) {
        return report_label(prompt, &prompt->run[piece->first]);
    }
    FILE *out = text_open(&text, &size);
    line = report_paths(prompt->schema, &piece->module, 1);
    fputs(line, out);
    if (m->n_of[piece->module] > 1) {
        fprintf(out, " (%d of %d)", piece->number, m->n_of[piece->module]);
    }
    text_close(out);
    free(line);
    return text;
}

/* Returns how many there are. */
static int find_pieces(const struct matrix *m) {
    const struct pml_prompt *prompt = m->prompt;
    int n = 0;
    for (int i = 0; i < prompt->n_runs; i++) {
        const struct pml_run *run = &prompt->run[i];
        int module = module_of(prompt, run);
        if (module < 0 || n == 0 || module != m->piece[n - 1].module) {
            int number = module >= 0 ? ++m->n_of[module] : 1;
            m->piece[n++] = (struct piece){.first = i,
                                           .module = module,
                                           .number = number,
                                           .scaffold = -1,
                                           .begin = run->begin};
        }
        m->piece[n - 1].n++;
        m->piece[n - 1].size += run->size;
    }
    return n;
}

/* Of a prompt with a run. */
static void matrix_new(struct matrix *m, const struct pml_prompt *prompt) {
    size_t n_parts = (size_t)prompt->schema->n_parts;
    m->prompt = prompt;
    m->piece = cli_allocate(NULL, (size_t)prompt->n_runs, sizeof *m->piece);
    m->n_of = cli_allocate(NULL, n_parts, sizeof *m->n_of);
    memset(m->n_of, 0, n_parts * sizeof *m->n_of);
    m->n = find_pieces(m);
    m->n_drawn = m->n < MOST ? m->n : MOST;
    for (int i = 0; i < m->n_drawn; i++) {
        struct piece *piece = &m->piece[i];
        piece->name = name_of(m, piece);
        piece->scaffold = piece->module >= 0 ? pml_mask_scaffold(prompt, piece->module) : -1;
    }
}

static void matrix_free(struct matrix *m) {
    for (int i = 0; i < m->n_drawn; i++) {
        free(m->piece[i].name);
    }
    free(m->piece);
    free(m->n_of);
}

/* ---- Names and cells ---- */

static double x_of(int column) {
    return PICTURE_MARGIN + LEFT + (double)column * CELL;
}

static void put_title(struct picture *p, const struct matrix *m, const struct piece *piece) {
    const struct pml_run *last = &m->prompt->run[piece->first + piece->n - 1];
    markup_element(&p->m, "title", NULL, "%s: positions %d .. %d, tokens: %d", piece->name,
                   piece->begin, last->begin + last->size - 1, piece->size);
}

/* A number with its last digit where the others have theirs. */
static void put_number(struct picture *p, int number, double x, double y) {
    char text[16];
    (void)snprintf(text, sizeof text, "%d", number);
    picture_text(p, "note", x + (number < 10 ? PICTURE_LETTER / 2 : 0), y, text);
}

static void put_columns(struct picture *p, const struct matrix *m) {
    for (int i = 0; i < m->n_drawn; i++) {
        markup_open(&p->m, "g");
        put_number(p, i + 1, x_of(i) + 1, p->top + 12);
        put_title(p, m, &m->piece[i]);
        markup_close(&p->m);
        markup_newline(&p->m);
    }
    p->top += NOTE;
}

static void put_name(struct picture *p, const struct matrix *m, int i) {
    const struct piece *piece = &m->piece[i];
    double y = p->top + (double)i * CELL;
    char *shown = text_cut(piece->name, (int)((LEFT - NAME - 8) / PICTURE_LETTER), "…");
    markup_open(&p->m, "g");
    picture_open_rect(p, picture_class(m->prompt->run[piece->first].kind), PICTURE_MARGIN, y + 3,
                      12, CELL - 6);
    markup_close(&p->m);
    put_number(p, i + 1, PICTURE_MARGIN + 20, y + 12);
    picture_text(p, "name", PICTURE_MARGIN + NAME, y + 12, shown);
    put_title(p, m, piece);
    markup_close(&p->m);
    markup_newline(&p->m);
    free(shown);
}

static void put_grid(struct picture *p, int n) {
    double end = p->top + (double)n * CELL;
    for (int i = 0; i <= n; i++) {
        double y = p->top + (double)i * CELL;
        picture_line(p, "tick", x_of(0), y, x_of(n), y);
        picture_line(p, "tick", x_of(i), p->top, x_of(i), end);
    }
}

static void open_square(struct picture *p, double x, double y) {
    picture_open_rect(p, "sees", x + 2, y + 2, CELL - 4, CELL - 4);
}

/* Below the diagonal of a square: each row of it sees one key more. */
static void put_triangle(struct picture *p, double x, double y) {
    markup_open(&p->m, "path");
    markup_attribute(&p->m, "class", "sees");
    markup_attribute(&p->m, "d", "M%.1f %.1f V%.1f H%.1f Z", x + 2, y + 2, y + CELL - 2,
                     x + CELL - 2);
    markup_close(&p->m);
    markup_newline(&p->m);
}

static int is_in(int module, const int *seen, int n) {
    int i = 0;
    while (i < n && seen[i] != module) {
        i++;
    }
    return i < n;
}

/* The squares of a row. `seen` has room for all parts. */
static void put_row(struct picture *p, const struct matrix *m, int i, int *seen) {
    const struct piece *row = &m->piece[i];
    double y = p->top + (double)i * CELL;
    int is_new = row->module < 0;
    int n = is_new ? 0 : pml_mask_sees(m->prompt->schema, row->module, row->scaffold, seen);
    for (int k = 0; k < i; k++) {
        if (is_new || is_in(m->piece[k].module, seen, n)) {
            open_square(p, x_of(k), y);
            markup_element(&p->m, "title", NULL, "%s sees %s", row->name, m->piece[k].name);
            markup_close(&p->m);
            markup_newline(&p->m);
        }
    }
    put_triangle(p, x_of(i), y);
}

/* ---- Scaffolds ---- */

/* The rows for which a scaffold counts: from `first` to `last`, and others in between. */
struct bracket {
    int scaffold, first, last, lane;
};

/* Two brackets that have a row in common stand in two lanes. Returns how many lanes there are. */
static int set_lanes(struct bracket *bracket, int n) {
    int end[MOST], n_lanes = 0; /* the last row of each lane's last bracket */
    for (int i = 0; i < n; i++) {
        int lane = 0;
        while (lane < n_lanes && end[lane] >= bracket[i].first) {
            lane++;
        }
        n_lanes += lane == n_lanes;
        end[lane] = bracket[i].last;
        bracket[i].lane = lane;
    }
    return n_lanes;
}

/* The brackets, by their first rows. */
static int find_brackets(const struct matrix *m, struct bracket *bracket) {
    int n = 0;
    for (int i = 0; i < m->n_drawn; i++) {
        int k = 0, scaffold = m->piece[i].scaffold;
        while (k < n && bracket[k].scaffold != scaffold) {
            k++;
        }
        if (scaffold >= 0 && k == n) {
            bracket[n++] = (struct bracket){scaffold, i, i, 0};
        }
        if (scaffold >= 0) {
            bracket[k].last = i;
        }
    }
    return n;
}

static double middle_of(const struct picture *p, int row) {
    return p->top + (row + 0.5) * CELL;
}

static void put_bracket(struct picture *p, const struct matrix *m, const struct bracket *b,
                        double x, double name_x) {
    const struct pml_schema *s = m->prompt->schema;
    const struct pml_scaffold *f = &s->scaffold[b->scaffold];
    char *modules = report_paths(s, s->module + f->first, f->n), *text, *shown;
    size_t size;
    FILE *out = text_open(&text, &size);
    fprintf(out, "scaffold %d: %s", b->scaffold, modules);
    text_close(out);
    markup_open(&p->m, "g");
    picture_line(p, "scaffold", x, middle_of(p, b->first), x, middle_of(p, b->last));
    picture_line(p, "scaffold", x, middle_of(p, b->first), name_x - 4, middle_of(p, b->first));
    for (int i = b->first; i <= b->last; i++) {
        if (m->piece[i].scaffold == b->scaffold) {
            picture_open_rect(p, "held", x - 3, middle_of(p, i) - 3, 6, 6);
            markup_close(&p->m);
        }
    }
    int columns = (int)((PICTURE_MARGIN + PICTURE_WIDTH - name_x) / PICTURE_LETTER);
    shown = text_cut(text, columns, "…");
    picture_text(p, "name", name_x, middle_of(p, b->first) + 4, shown);
    markup_element(&p->m, "title", NULL, "%s", text);
    markup_close(&p->m);
    markup_newline(&p->m);
    free(shown);
    free(text);
    free(modules);
}

static void put_scaffolds(struct picture *p, const struct matrix *m) {
    struct bracket bracket[MOST];
    int n = find_brackets(m, bracket), n_lanes = set_lanes(bracket, n);
    double step = n_lanes > LANES / 12 ? (double)LANES / n_lanes : 12, x = x_of(m->n_drawn) + 12;
    for (int i = 0; i < n; i++) {
        put_bracket(p, m, &bracket[i], x + bracket[i].lane * step, x + n_lanes * step + 8);
    }
}

/* ---- One prompt, and all ---- */

static int height_of(const struct matrix *m) {
    return HEAD + NOTE + m->n_drawn * CELL + (m->n > m->n_drawn ? NOTE : 0);
}

static void put_matrix(struct picture *p, const struct matrix *m, int *seen) {
    char *path = report_line(m->prompt->document.path), text[64];
    char *shown = text_cut(path, 150, "…");
    picture_text(p, "head", PICTURE_MARGIN, p->top + 24, shown);
    p->top += HEAD;
    put_columns(p, m);
    put_grid(p, m->n_drawn);
    for (int i = 0; i < m->n_drawn; i++) {
        put_name(p, m, i);
        put_row(p, m, i, seen);
    }
    put_scaffolds(p, m);
    p->top += m->n_drawn * CELL;
    if (m->n > m->n_drawn) {
        (void)snprintf(text, sizeof text, "%d more parts are not drawn", m->n - m->n_drawn);
        picture_text(p, "name", PICTURE_MARGIN + NAME, p->top + 14, text);
        p->top += NOTE;
    }
    free(shown);
    free(path);
}

static void put_legend(struct picture *p, int has_scaffolds) {
    double x = PICTURE_MARGIN, y = p->top + HEAD + NOTE;
    picture_text(p, "head", x, p->top + 24, "Which part of a prompt sees which");
    picture_text(
        p, "name", x, p->top + HEAD + 12,
        "Each part is a row and, under the same number, a column, in the order of positions. "
        "A token uses the keys and values of what it sees.");
    open_square(p, x, y);
    markup_close(&p->m);
    picture_text(p, "name", x + 24, y + 12, "the row's part sees all of the column's");
    put_triangle(p, x + 345, y);
    picture_text(p, "name", x + 369, y + 12, "each token sees itself and those before it");
    picture_open_rect(p, "empty", x + 712, y + 2, CELL - 4, CELL - 4);
    markup_close(&p->m);
    picture_text(p, "name", x + 736, y + 12, "sees none of it");
    if (has_scaffolds) {
        picture_line(p, "scaffold", x + 8, y + NOTE + 2, x + 8, y + NOTE + 14);
        picture_open_rect(p, "held", x + 5, y + NOTE + 5, 6, 6);
        markup_close(&p->m);
        picture_text(p, "name", x + 24, y + NOTE + 12,
                     "a scaffold of the schema: the prompt has all of its modules, which were "
                     "encoded together, so that a later one sees an earlier one");
    }
    p->top += HEAD + 3 * NOTE;
}

void picture_matrices(struct picture *p, const struct pml_prompt *prompts, int n) {
    if (n == 0) {
        return;
    }
    const struct pml_schema *s = prompts[0].schema;
    int *seen = cli_allocate(NULL, (size_t)s->n_parts, sizeof *seen);
    put_legend(p, s->n_scaffolds > 0);
    for (int i = 0; i < n; i++) {
        if (prompts[i].n_runs > 0) {
            struct matrix m;
            matrix_new(&m, &prompts[i]);
            put_matrix(p, &m, seen);
            matrix_free(&m);
        }
    }
    free(seen);
    p->top += PICTURE_MARGIN;
}

int picture_matrices_height(const struct pml_prompt *prompts, int n) {
    int height = n > 0 ? HEAD + 3 * NOTE + PICTURE_MARGIN : 0;
    for (int i = 0; i < n; i++) {
        if (prompts[i].n_runs > 0) {
            struct matrix m;
            matrix_new(&m, &prompts[i]);
            height += height_of(&m);
            matrix_free(&m);
        }
    }
    return height;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The report as a picture. Positions go from left to right. The schema stands above: a module has a
 * bar with its name and, below, its texts and params and what is in it; members of a union stand
 * one below the other. Below the schema each prompt is a row. What is cached has a plain fill, what
 * is computed a pattern, so that the picture is readable without colours. At the end each prompt
 * has a matrix of what sees what (report_matrix.c). */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/report_picture.h"

#define ROW 26 /* from a row to the next */
#define BOX 22 /* height of a box */

static const char style[] =
    "\n  <style>\n"
    "    text { font: 12px \"DejaVu Sans Mono\", Menlo, Consolas, monospace; fill: #1a1a1a }\n"
    "    .title { font-size: 16px; font-weight: bold }\n"
    "    .head { font-weight: bold }\n"
    "    .note { fill: #555555 }\n"
    "    .page { fill: #ffffff }\n"
    "    .tick { stroke: #c4c4c4 }\n"
    "    .module { fill: #ffffff; stroke: #4d4d4d; stroke-width: 1.5 }\n"
    "    .gap { stroke: #8c8c8c; stroke-width: 1.5; stroke-dasharray: 2 4 }\n"
    "    .cache { fill: #b9dbf2; stroke: #0072b2; stroke-width: 1.5 }\n"
    "    .argument { fill: url(#lines); stroke: #b35900; stroke-width: 1.5 }\n"
    "    .new { fill: url(#dots); stroke: #7a3b00; stroke-width: 1.5 }\n"
    "    .param { fill: #ffffff; stroke: #b35900; stroke-width: 1.5; stroke-dasharray: 5 3 }\n"
    "    .sees { fill: #333333 }\n"
    "    .empty { fill: #ffffff; stroke: #c4c4c4 }\n"
    "    .scaffold { stroke: #009e73; stroke-width: 2 }\n"
    "    .held { fill: #009e73 }\n"
    "    .halo { fill: #ffffff; stroke: #ffffff; stroke-width: 4; stroke-linejoin: round }\n"
    "  </style>\n"
    "  <defs>\n"
    "    <pattern id=\"lines\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\">\n"
    "      <rect width=\"7\" height=\"7\" fill=\"#fdeccb\"/>\n"
    "      <path d=\"M0 7 L7 0\" stroke=\"#c97a1e\" stroke-width=\"1.5\"/>\n"
    "    </pattern>\n"
    "    <pattern id=\"dots\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\">\n"
    "      <rect width=\"7\" height=\"7\" fill=\"#ffd08a\"/>\n"
    "      <circle cx=\"3.5\" cy=\"3.5\" r=\"1.4\" fill=\"#7a3b00\"/>\n"
    "    </pattern>\n"
    "  </defs>\n";

/* ---- Boxes ---- */

static double x_of(const struct picture *p, int position) {
    return PICTURE_MARGIN + (double)PICTURE_WIDTH * position / p->positions;
}

/* A box of positions; its text is cut to fit, and all of it in its tooltip. */
static void put_box(struct picture *p, const char *class, int begin, int size, int y,
                    const char *text, const char *title) {
    double x = x_of(p, begin), width = x_of(p, begin + size) - x;
    int columns = (int)((width - 8) / PICTURE_LETTER);
    markup_open(&p->m, "g");
    picture_open_rect(p, class, x, y, width, BOX);
    markup_close(&p->m);
    markup_element(&p->m, "title", NULL, "%s", title);
    if (columns >= 2) {
        int is_computed = strcmp(class, "argument") == 0 || strcmp(class, "new") == 0;
        char *shown = text_cut(text, columns, "…");
        (is_computed ? picture_label : picture_text)(p, "name", x + 4, y + 15.5, shown);
        free(shown);
    }
    markup_close(&p->m);
    markup_newline(&p->m);
}

/* ---- The axis ---- */

static int step_of(int positions) {
    static const int factors[] = {1, 2, 5};
    int power = 1, i = 0;
    while (power * factors[i] * 12 < positions) {
        i = (i + 1) % 3;
        power *= i == 0 ? 10 : 1;
    }
    return power * factors[i];
}

static void put_axis(struct picture *p, int bottom) {
    int step = step_of(p->positions);
    for (int at = 0; at <= p->positions; at += step) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", at);
        picture_line(p, "tick", x_of(p, at), p->top + 4, x_of(p, at), bottom);
        picture_text(p, "note", x_of(p, at) + 2, p->top, number);
    }
    p->top += 8;
}

/* ---- The schema ---- */

/* row[x] is the row of a module's or union's bar, or that of a text or param, from 0 on. First the
 * number of rows that each part takes, from the last part to the first; a module has its bar and
 * the rows of what takes most, a union all rows of its members. */
static int set_rows(const struct pml_schema *s, int *row) {
    int n = s->n_parts, *height = cli_allocate(NULL, (size_t)n, sizeof *height);
    for (int x = 0; x < n; x++) {
        height[x] = s->part[x].kind == CP_PART_TEXT || s->part[x].kind == CP_PART_PARAM;
    }
    for (int x = n - 1; x >= 0; x--) {
        height[x] += s->part[x].kind == CP_PART_MODULE && x > 0;
        int parent = s->part[x].parent;
        if (parent < 0) {
            continue;
        }
        if (s->part[parent].kind == CP_PART_UNION) {
            height[parent] += height[x];
        } else if (height[parent] < height[x]) {
            height[parent] = height[x];
        }
    }
    int rows = height[0], *taken = cli_allocate(NULL, (size_t)n, sizeof *taken);
    row[0] = -1; /* part 0 has no bar: its texts are in row 0 */
    for (int x = 0; x < n; x++) {
        taken[x] = 0; /* of a union: rows of the members so far */
    }
    for (int x = 1; x < n; x++) {
        int parent = s->part[x].parent;
        int is_member = s->part[parent].kind == CP_PART_UNION;
        row[x] = row[parent] + (is_member ? taken[parent] : 1);
        taken[parent] += height[x];
    }
    free(taken);
    free(height);
    return rows;
}

static void put_part(struct picture *p, const struct pml_schema *s, int x, int row) {
    const struct pml_part *about = &s->about[x];
    char *line, title[64];
    int y = p->top + row * ROW, end = s->begin[x] + s->size[x] - 1;
    (void)snprintf(title, sizeof title, "part %d, positions %d .. %d", x, s->begin[x], end);
    switch (s->part[x].kind) {
    case CP_PART_MODULE:
        put_box(p, "module", s->begin[x], s->size[x], y, about->name, title);
        break;
    case CP_PART_PARAM:
        put_box(p, "param", s->begin[x], s->size[x], y, about->name, title);
        break;
    case CP_PART_TEXT:
        line = report_line(s->texts.text + about->text.at);
        put_box(p, "cache", s->begin[x], s->size[x], y, line, line);
        free(line);
        break;
    default:
        break;
    }
}

static void put_schema(struct picture *p, const struct pml_schema *s) {
    int *row = cli_allocate(NULL, (size_t)s->n_parts, sizeof *row);
    int rows = set_rows(s, row);
    for (int x = 1; x < s->n_parts; x++) {
        if (s->size[x] > 0) {
            put_part(p, s, x, row[x]);
        }
    }
    p->top += rows * ROW;
    free(row);
}

/* ---- Prompts ---- */

static void put_prompt(struct picture *p, const struct pml_prompt *prompt) {
    char *path = report_line(prompt->document.path), *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    fprintf(out, "%s: %d tokens, %d from the cache, %d computed", path,
            prompt->n_cached + prompt->n_new, prompt->n_cached, prompt->n_new);
    text_close(out);
    picture_label(p, "head", PICTURE_MARGIN, p->top + 26, text);
    p->top += 36;
    picture_line(p, "gap", PICTURE_MARGIN, p->top + BOX / 2.0, PICTURE_MARGIN + PICTURE_WIDTH,
                 p->top + BOX / 2.0);
    for (int i = 0; i < prompt->n_runs; i++) {
        const struct pml_run *run = &prompt->run[i];
        char *line = report_line(report_run_text(prompt, run)), *title = report_run(prompt, run);
        put_box(p, picture_class(run->kind), run->begin, run->size, p->top, line, title);
        free(line);
        free(title);
    }
    p->top += ROW;
    free(text);
    free(path);
}

static void put_legend(struct picture *p) {
    static const struct {
        const char *class, *text;
    } entries[] = {{"cache", "cached text"},
                   {"param", "param, for an argument"},
                   {"argument", "argument, computed"},
                   {"new", "new text, computed"}};
    double x = PICTURE_MARGIN;
    p->top += 18;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        picture_open_rect(p, entries[i].class, x, p->top, 26, 14);
        markup_close(&p->m);
        picture_text(p, "name", x + 33, p->top + 11.5, entries[i].text);
        x += 62 + PICTURE_LETTER * (double)strlen(entries[i].text);
    }
    picture_line(p, "gap", x, p->top + 7, x + 26, p->top + 7);
    picture_text(p, "name", x + 33, p->top + 11.5, "no token");
    p->top += 14 + PICTURE_MARGIN;
}

/* ---- The document ---- */

static int last_position(const struct pml_schema *s, const struct pml_prompt *prompts, int n) {
    int end = s->size[0] > 0 ? s->size[0] : 1;
    for (int i = 0; i < n; i++) {
        if (prompts[i].n_runs > 0) {
            const struct pml_run *last = &prompts[i].run[prompts[i].n_runs - 1];
            end = last->begin + last->size > end ? last->begin + last->size : end;
        }
    }
    return end;
}

int report_is_drawable(const struct pml_schema *schema, const struct pml_prompt *prompts, int n) {
    int most = schema->n_parts > n ? schema->n_parts : n;
    for (int i = 0; i < n; i++) {
        most = prompts[i].n_runs > most ? prompts[i].n_runs : most;
    }
    return most <= REPORT_MOST_DRAWN;
}

/* Where the lines of positions end. */
static int axis_end(const struct pml_schema *s, int n_prompts) {
    int *row = cli_allocate(NULL, (size_t)s->n_parts, sizeof *row);
    int rows = set_rows(s, row);
    free(row);
    return 78 + rows * ROW + n_prompts * (36 + ROW);
}

int report_svg(FILE *out, const struct pml_schema *schema, const struct pml_prompt *prompts,
               int n_prompts) {
    struct picture p = {.positions = last_position(schema, prompts, n_prompts), .top = 64};
    int width = PICTURE_WIDTH + 2 * PICTURE_MARGIN, bottom = axis_end(schema, n_prompts);
    int height = bottom + 32 + PICTURE_MARGIN + picture_matrices_height(prompts, n_prompts);
    markup_begin(&p.m);
    markup_raw(&p.m, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    markup_open(&p.m, "svg");
    markup_attribute(&p.m, "xmlns", "http://www.w3.org/2000/svg");
    markup_attribute(&p.m, "width", "%d", width);
    markup_attribute(&p.m, "height", "%d", height);
    markup_attribute(&p.m, "viewBox", "0 0 %d %d", width, height);
    markup_attribute(&p.m, "role", "img");
    markup_element(&p.m, "title", NULL, "schema %s", schema->about[0].name);
    markup_raw(&p.m, style);
    markup_raw(&p.m, "  <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
    char *name = text_cut(schema->about[0].name, 100, "…");
    picture_text(&p, "title", PICTURE_MARGIN, 34, name);
    free(name);
    put_axis(&p, bottom);
    put_schema(&p, schema);
    for (int i = 0; i < n_prompts; i++) {
        put_prompt(&p, &prompts[i]);
    }
    put_legend(&p);
    picture_matrices(&p, prompts, n_prompts);
    return markup_end(&p.m, out);
}

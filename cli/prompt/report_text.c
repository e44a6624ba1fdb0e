/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text: tables of at most 100 columns. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/report.h"

#define WIDTH      100
#define NAME_WIDTH 36
#define RUN_INDENT 38 /* before what a run is */
#define MOST_LABEL 30 /* columns of a label that has its text in the same row anyway */

/* A line's last column has no blanks at its end. */
static void put_last(FILE *out, char *text, int width) {
    size_t size = strlen(text);
    while (size > 0 && text[size - 1] == ' ') {
        text[--size] = '\0';
    }
    text_put_cut(out, text, width, "…");
    fputc('\n', out);
}

/* Prints a column of text, cut or filled up to its width. */
static void put_column(FILE *out, const char *text, int width) {
    text_put_cut(out, text, width, "…");
    text_put_blanks(out, width - (text_columns(text) < width ? text_columns(text) : width));
}

/* "5 .. 12", and behind it what stands in the next column. */
static char *range_text(int begin, int size, const char *next) {
    char range[32] = "-", *text;
    size_t length;
    if (size > 0) {
        (void)snprintf(range, sizeof range, "%d .. %d", begin, begin + size - 1);
    }
    FILE *out = text_open(&text, &length);
    fprintf(out, "%-18s%s", range, next);
    text_close(out);
    return text;
}

/* "0 2 3", in as many columns as are left. */
static char *modules_text(const int *module, int n) {
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    for (int i = 0; i < n; i++) {
        fprintf(out, "%s%d", i > 0 ? " " : "", module[i]);
    }
    text_close(out);
    return text;
}

static char *name_of(const struct pml_schema *s, int x) {
    const struct pml_part *about = &s->about[x];
    if (s->part[x].kind == CP_PART_TEXT) {
        return report_words(&s->texts, &about->text);
    }
    return report_line(about->name != NULL ? about->name : "");
}

static void put_part(FILE *out, const struct pml_schema *s, int x, int *seen) {
    char *name = name_of(s, x), in[16] = "-";
    int kind = s->part[x].kind;
    if (x > 0) {
        (void)snprintf(in, sizeof in, "%d", s->part[x].parent);
    }
    fprintf(out, "%6d  %-6s  %6s  ", x, report_kind(kind), in);
    put_column(out, name, NAME_WIDTH);
    fprintf(out, " %7d  ", s->size[x]);
    char *sees = kind == CP_PART_TEXT
                     ? modules_text(seen, pml_mask_sees(s, s->part[x].parent, -1, seen))
                     : modules_text(seen, 0);
    char *last = range_text(s->begin[x], s->size[x], sees);
    put_last(out, last, 33);
    free(last);
    free(sees);
    free(name);
}

static void put_scaffold(FILE *out, const struct pml_schema *s, int i) {
    const struct pml_scaffold *f = &s->scaffold[i];
    char *modules = report_paths(s, s->module + f->first, f->n);
    fprintf(out, "%8d  ", i);
    text_put_wrapped(out, modules, 10, 10, WIDTH);
    free(modules);
}

static void put_schema(FILE *out, const struct pml_schema *s, int *seen) {
    char *name = report_line(s->about[0].name);
    fprintf(out, "schema %s: %d parts, %d positions; tokens: %s, template: %s\n\n", name,
            s->n_parts, s->size[0], s->texts.tokenizer->name, s->template->name);
    free(name);
    fprintf(out,
            "  part  kind        in  name or text                            size  positions   "
            "      sees\n");
    for (int x = 0; x < s->n_parts; x++) {
        put_part(out, s, x, seen);
    }
    fputs("\nA text sees itself and the own text before it of the modules in the last column. What "
          "a prompt\nadds sees all that stands before it.\n",
          out);
    if (s->n_scaffolds > 0) {
        fputs("\nscaffold  modules that are also encoded together\n", out);
    }
    for (int i = 0; i < s->n_scaffolds; i++) {
        put_scaffold(out, s, i);
    }
}

/* ---- Prompts ---- */

/* A text that a long label leaves no room for gets a row of its own. */
static void put_run(FILE *out, const struct pml_prompt *p, const struct pml_run *run) {
    char *label = report_label(p, run), *words = report_run_words(p, run);
    char *what = report_run(p, run);
    if (text_columns(label) <= MOST_LABEL || text_columns(what) <= WIDTH - RUN_INDENT) {
        put_last(out, what, WIDTH - RUN_INDENT);
    } else {
        text_put_cut(out, label, WIDTH - RUN_INDENT - 1, "…");
        fputs(":\n", out);
        text_put_blanks(out, RUN_INDENT);
        put_last(out, words, WIDTH - RUN_INDENT);
    }
    free(label);
    free(words);
    free(what);
}

static void put_runs(FILE *out, const struct pml_prompt *p) {
    fputs("positions           tokens  from      what\n", out);
    for (int i = 0; i < p->n_runs; i++) {
        const struct pml_run *run = &p->run[i];
        char *range = range_text(run->begin, run->size, "");
        fprintf(out, "%s%8d  %-8s  ", range, run->size,
                run->kind == PML_CACHED ? "cache" : "computed");
        put_run(out, p, run);
        free(range);
    }
}

static void put_counting(FILE *out, const struct pml_schema *s, int scaffold, int x, int *seen) {
    const struct pml_scaffold *f = &s->scaffold[scaffold];
    char *modules = report_paths(s, s->module + f->first, f->n), *module = report_paths(s, &x, 1);
    char *sees = report_paths(s, seen, pml_mask_sees(s, x, scaffold, seen)), *text;
    size_t size;
    FILE *to = text_open(&text, &size);
    fprintf(to, "scaffold %d (%s) counts for %s, which sees %s", scaffold, modules, module, sees);
    text_close(to);
    text_put_wrapped(out, text, 0, 2, WIDTH);
    free(text);
    free(sees);
    free(module);
    free(modules);
}

/* The modules for which a scaffold counts: they see more. */
static void put_scaffolds(FILE *out, const struct pml_prompt *p, int *seen) {
    const struct pml_schema *s = p->schema;
    for (int x = 1; s->n_scaffolds > 0 && x < s->n_parts; x++) {
        int scaffold =
            s->part[x].kind == CP_PART_MODULE && p->imported[x] != 0 ? pml_mask_scaffold(p, x) : -1;
        if (scaffold >= 0) {
            put_counting(out, s, scaffold, x, seen);
        }
    }
}

static void put_prompt(FILE *out, const struct pml_prompt *p, int *seen) {
    char *path = report_line(p->document.path);
    int n = p->n_cached + p->n_new;
    fprintf(out, "\nprompt %s: %d tokens, %d from the cache, %d computed\n\n", path, n, p->n_cached,
            p->n_new);
    free(path);
    put_runs(out, p);
    put_scaffolds(out, p, seen);
    if (p->answer != NULL) {
        report_answer_text(out, p->answer);
    }
}

void report_text(FILE *out, const struct pml_schema *schema, const struct pml_prompt *prompts,
                 int n_prompts) {
    int *seen = cli_allocate(NULL, (size_t)schema->n_parts, sizeof *seen);
    put_schema(out, schema, seen);
    for (int i = 0; i < n_prompts; i++) {
        put_prompt(out, &prompts[i], seen);
    }
    free(seen);
}

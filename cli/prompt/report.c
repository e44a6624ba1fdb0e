/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports share: words for parts and runs. */
#include "cli/prompt/report.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/clean.h"
#include "cli/base/text.h"

const char *report_kind(int kind) {
    static const char *const kinds[] = {[CP_PART_MODULE] = "module",
                                        [CP_PART_UNION] = "union",
                                        [CP_PART_TEXT] = "text",
                                        [CP_PART_PARAM] = "param"};
    return kinds[kind];
}

char *report_line(const char *text) {
    char *line, *clean;
    size_t size;
    FILE *out = text_open(&line, &size);
    for (; *text != '\0'; text++) {
        if (*text == '\n' || *text == '\t') {
            fputs(*text == '\n' ? "\\n" : "\\t", out);
        } else {
            fputc(*text, out);
        }
    }
    text_close(out);
    clean = text_clean(line);
    free(line);
    return clean;
}

char *report_paths(const struct pml_schema *s, const int *module, int n) {
    char *text, *line;
    size_t size;
    FILE *out = text_open(&text, &size);
    for (int i = 0; i < n; i++) {
        char *path = pml_path(s, module[i]);
        fprintf(out, "%s%s", i > 0 ? ", " : "", module[i] > 0 ? path : "the schema");
        free(path);
    }
    text_close(out);
    line = report_line(text);
    free(text);
    return line;
}

const struct pml_text *report_text_of(const struct pml_prompt *prompt, const struct pml_run *run) {
    switch (run->kind) {
    case PML_CACHED:
        return &prompt->schema->about[run->from].text;
    case PML_ARGUMENT:
        return &prompt->argument[run->from].text;
    case PML_NEW:
    default:
        return &prompt->segment[run->from].text;
    }
}

const char *report_run_text(const struct pml_prompt *prompt, const struct pml_run *run) {
    const struct pml_texts *texts =
        run->kind == PML_CACHED ? &prompt->schema->texts : &prompt->texts;
    return texts->text + report_text_of(prompt, run)->at;
}

/* MOD-6: a text without room behind its import stands behind everything. */
static void put_place(FILE *out, const struct pml_schema *s, const struct pml_segment *segment) {
    int behind = segment->behind;
    fputs("new text", out);
    if (behind >= 0) {
        int has_room = segment->placed == s->begin[behind] + s->size[behind];
        char *path = pml_path(s, behind);
        fprintf(out, " behind %s%s", path, has_room ? "" : " (no room there)");
        free(path);
    }
}

char *report_label(const struct pml_prompt *prompt, const struct pml_run *run) {
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    if (run->kind == PML_CACHED) {
        fprintf(out, "part %d", run->from);
    } else if (run->kind == PML_ARGUMENT) {
        char *path = pml_path(prompt->schema, prompt->argument[run->from].param);
        fprintf(out, "argument %s", path);
        free(path);
    } else {
        put_place(out, prompt->schema, &prompt->segment[run->from]);
    }
    text_close(out);
    return text;
}

/* The texts of two roles are divided by a mark, where no blank does. */
char *report_words(const struct pml_texts *texts, const struct pml_text *text) {
    const char *all = texts->text;
    char *joined, *line;
    size_t size, at = text->at;
    FILE *out = text_open(&joined, &size);
    for (int i = 0; i < text->n_joints; i++) {
        size_t joint = texts->joint[text->first_joint + i];
        fprintf(out, "%.*s | ", (int)(joint - at), all + at);
        at = joint;
    }
    int is_blank = text->size > 0 && strspn(all + at, " ") == text->size;
    fprintf(out, "%s%s%s", is_blank ? "\"" : "", all + at, is_blank ? "\"" : "");
    text_close(out);
    line = report_line(joined);
    free(joined);
    return line;
}

char *report_run_words(const struct pml_prompt *prompt, const struct pml_run *run) {
    return report_words(run->kind == PML_CACHED ? &prompt->schema->texts : &prompt->texts,
                        report_text_of(prompt, run));
}

char *report_run(const struct pml_prompt *prompt, const struct pml_run *run) {
    char *text, *label = report_label(prompt, run), *words = report_run_words(prompt, run);
    size_t size;
    FILE *out = text_open(&text, &size);
    fprintf(out, "%s: %s", label, words);
    text_close(out);
    free(label);
    free(words);
    return text;
}

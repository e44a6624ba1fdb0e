/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports share: words for parts and runs. */
#include "cli/prompt/report.h"

#include <stdlib.h>

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

char *report_run(const struct pml_prompt *prompt, const struct pml_run *run) {
    const struct pml_schema *s = prompt->schema;
    char *text, *line = report_line(report_run_text(prompt, run));
    size_t size;
    FILE *out = text_open(&text, &size);
    if (run->kind == PML_CACHED) {
        fprintf(out, "part %d: %s", run->from, line);
    } else if (run->kind == PML_ARGUMENT) {
        char *path = pml_path(s, prompt->argument[run->from].param);
        fprintf(out, "argument %s: %s", path, line);
        free(path);
    } else {
        put_place(out, s, &prompt->segment[run->from]);
        fprintf(out, ": %s", line);
    }
    text_close(out);
    free(line);
    return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* The Prompt Markup Language (cli/prompt/): no crash, no leak; a refusal says why. An input is a
 * byte that chooses tokens and template, a schema, and prompts, each behind a NUL. A schema that is
 * accepted is a schema (MOD-1), and the same after it was written and read again; of an accepted
 * prompt no two tokens have one position. Then both are reported in each format. */
#include <stdlib.h>
#include <string.h>

#include "cli/prompt/report.h"
#include "fuzz/parse.h"
#include "fuzz/target.h"

#define MOST_PROMPTS 4
#define MOST_DRAWN   200 /* parts of what is reported */

static int read_schema(struct pml_schema *schema, const char *text, size_t size,
                       const struct pml_tokenizer *tokenizer, const struct pml_template *template) {
    struct pml_document document;
    struct parse_said said;
    memset(schema, 0, sizeof *schema);
    parse_listen(&said);
    int status = pml_document_parse(&document, "schema", text, size) != 0 ||
                         pml_schema_from(schema, &document, tokenizer, template) != 0
                     ? -1
                     : 0;
    parse_heard(&said, status != 0);
    pml_document_free(&document);
    return status;
}

/* ---- A schema ---- */

static void put_escaped(FILE *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (strchr("<>&\r", text[i]) != NULL) {
            fprintf(out, "&#%d;", text[i]);
        } else {
            (void)fputc(text[i], out);
        }
    }
}

static void put_part(FILE *out, const struct pml_schema *s, int x) {
    const struct pml_part *about = &s->about[x];
    switch (s->part[x].kind) {
    case CP_PART_MODULE:
        fprintf(out, "<module name='%s'>", about->name);
        break;
    case CP_PART_UNION:
        fputs("<union>", out);
        break;
    case CP_PART_PARAM:
        fprintf(out, "<param name='%s' len='%d'/>", about->name, s->part[x].size);
        break;
    default: /* in a role, so that two texts stay two */
        fputs("<user>", out);
        put_escaped(out, s->texts.text + about->text.at, about->text.size);
        fputs("</user>", out);
    }
}

static void write_schema(FILE *out, const struct pml_schema *s) {
    int open = 0;
    fprintf(out, "<schema name='%s' xml:space='preserve'>", s->about[0].name);
    for (int x = 1; x <= s->n_parts; x++) {
        for (; open > (x < s->n_parts ? s->part[x].parent : 0); open = s->part[open].parent) {
            fputs(s->part[open].kind == CP_PART_MODULE ? "</module>" : "</union>", out);
        }
        if (x < s->n_parts) {
            put_part(out, s, x);
            open = s->part[x].kind <= CP_PART_UNION ? x : open;
        }
    }
    fputs("</schema>", out);
}

/* Without a template. */
static void check_round_trip(const struct pml_schema *s) {
    struct pml_schema again;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    write_schema(out, s);
    (void)fclose(out);
    if (read_schema(&again, text, size, s->texts.tokenizer, &pml_templates[0]) != 0) {
        fuzz_fail("a schema that is written is refused:\n%s", text);
    }
    size_t n = (size_t)s->n_parts;
    int same = again.n_parts == s->n_parts &&
               memcmp(again.part, s->part, n * sizeof *s->part) == 0 &&
               memcmp(again.begin, s->begin, n * sizeof *s->begin) == 0;
    for (int x = 0; same && x < s->n_parts; x++) {
        const struct pml_text *a = &s->about[x].text, *b = &again.about[x].text;
        same =
            a->size == b->size &&
            (a->size == 0 || memcmp(s->texts.text + a->at, again.texts.text + b->at, a->size) == 0);
    }
    if (!same) {
        fuzz_fail("a schema that is written is another one:\n%s", text);
    }
    pml_schema_free(&again);
    free(text);
}

static void check_schema(const struct pml_schema *s) {
    if (cp_schema_check(s->part, s->n_parts) != -1) {
        fuzz_fail("what is accepted is no schema");
    }
    for (int i = 0; i < s->n_scaffolds; i++) {
        if (s->scaffold[i].n < 1) {
            fuzz_fail("scaffold %d has no module", i);
        }
    }
    if (s->template == &pml_templates[0]) {
        check_round_trip(s);
    }
}

/* ---- A prompt ---- */

static void check_prompt(const struct pml_prompt *p) {
    const struct pml_schema *s = p->schema;
    int end = 0, n = 0;
    if (cp_prompt_check(s->part, s->n_parts, p->imported) != -1) {
        fuzz_fail("imports that exclude each other");
    }
    for (int i = 0; i < p->n_runs; i++) {
        if (p->run[i].begin < end || p->run[i].size < 1) {
            fuzz_fail("run %d begins at %d, and that before it ends at %d", i, p->run[i].begin,
                      end);
        }
        end = p->run[i].begin + p->run[i].size;
        n += p->run[i].size;
    }
    if (n != p->n_cached + p->n_new || end > CP_MAX_POSITIONS) {
        fuzz_fail("%d tokens, not %d and %d", n, p->n_cached, p->n_new);
    }
    for (int i = 0; i < p->n_arguments; i++) {
        if (p->argument[i].text.n_tokens > s->size[p->argument[i].param]) {
            fuzz_fail("argument %d is too long", i);
        }
    }
}

static int read_prompt(struct pml_prompt *prompt, const struct pml_schema *schema, const char *text,
                       size_t size) {
    struct pml_document document;
    struct parse_said said;
    memset(prompt, 0, sizeof *prompt);
    parse_listen(&said);
    int status = pml_document_parse(&document, "prompt", text, size) != 0 ||
                         pml_prompt_from(prompt, &document, schema) != 0
                     ? -1
                     : 0;
    parse_heard(&said, status != 0);
    pml_document_free(&document);
    return status;
}

/* ---- Reports ---- */

static void report(const struct pml_schema *schema, const struct pml_prompt *prompts, int n) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    report_text(out, schema, prompts, n);
    int failed = report_json(out, schema, prompts, n) != 0;
    failed = report_svg(out, schema, prompts, n) != 0 || failed;
    (void)fclose(out);
    if (failed || size == 0) {
        fuzz_fail("no report");
    }
    free(text);
}

static void read_prompts(const struct pml_schema *schema, const char *at, size_t size) {
    struct pml_prompt prompt[MOST_PROMPTS];
    int n = 0;
    while (size > 0 && n < MOST_PROMPTS) {
        const char *end = memchr(at, 0, size);
        size_t length = end != NULL ? (size_t)(end - at) : size;
        if (read_prompt(&prompt[n], schema, at, length) == 0) {
            check_prompt(&prompt[n++]);
        } else {
            pml_prompt_free(&prompt[n]);
        }
        at += end != NULL ? length + 1 : length;
        size -= end != NULL ? length + 1 : length;
    }
    if (schema->n_parts <= MOST_DRAWN) {
        report(schema, prompt, n);
    }
    while (n > 0) {
        pml_prompt_free(&prompt[--n]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pml_schema schema;
    if (size == 0) {
        return 0;
    }
    const char *text = (const char *)data + 1, *end = memchr(text, 0, size - 1);
    size_t length = end != NULL ? (size_t)(end - text) : size - 1;
    struct pml_tokenizer tokenizer = (data[0] & 1) != 0 ? pml_tokens_bytes() : pml_tokens_words();
    if (read_schema(&schema, text, length, &tokenizer, &pml_templates[data[0] / 2 % 3]) == 0) {
        check_schema(&schema);
        read_prompts(&schema, text + length + (end != NULL), size - 1 - length - (end != NULL));
    }
    pml_schema_free(&schema);
    pml_tokenizer_free(&tokenizer);
    return 0;
}

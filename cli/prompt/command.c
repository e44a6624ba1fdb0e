/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof prompt`: from the files to the report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"
#include "cli/base/text.h"
#include "cli/prompt/options.h"
#include "cli/prompt/report.h"

static int print(const struct prompt_options *o, const struct pml_schema *schema,
                 const struct pml_prompt *prompts) {
    int status = 0;
    if (o->json) {
        status = report_json(stdout, schema, prompts, o->n_prompts);
    } else if (!o->svg) {
        report_text(stdout, schema, prompts, o->n_prompts);
    } else if (report_is_drawable(schema, prompts, o->n_prompts)) {
        status = report_svg(stdout, schema, prompts, o->n_prompts);
    } else {
        fprintf(stderr,
                "chunkproof prompt: a picture of more than %d parts or prompts is not readable; "
                "--json has them\n",
                REPORT_MOST_DRAWN);
        return -1;
    }
    if (status != 0) {
        fputs("chunkproof prompt: cannot write the report\n", stderr);
    }
    return status;
}

/* Reads all prompts, also behind one that is wrong; then prints, unless one is. */
static int read_prompts(const struct prompt_options *o, const struct pml_schema *schema) {
    struct pml_prompt *prompt = cli_allocate(NULL, (size_t)o->n_prompts, sizeof *prompt);
    int status = 0;
    for (int i = 0; i < o->n_prompts; i++) {
        struct pml_document document;
        memset(&prompt[i], 0, sizeof prompt[i]);
        if (pml_document_read(&document, o->prompt[i]) != 0 ||
            pml_prompt_from(&prompt[i], &document, schema) != 0) {
            status = -1;
        }
        pml_document_free(&document);
    }
    if (status == 0) {
        status = print(o, schema, prompt);
    }
    for (int i = 0; i < o->n_prompts; i++) {
        pml_prompt_free(&prompt[i]);
    }
    free(prompt);
    return status;
}

static int run(const struct prompt_options *o) {
    struct pml_tokenizer tokenizer = o->is_bytes ? pml_tokens_bytes() : pml_tokens_words();
    struct pml_document document;
    struct pml_schema schema;
    memset(&schema, 0, sizeof schema);
    int status =
        pml_document_read(&document, o->schema) != 0 ||
                pml_schema_from(&schema, &document, &tokenizer, &pml_templates[o->template]) != 0
            ? -1
            : read_prompts(o, &schema);
    pml_document_free(&document);
    pml_schema_free(&schema);
    pml_tokenizer_free(&tokenizer);
    return status;
}

int cp_command_prompt(int argc, char **argv) {
    struct prompt_options options;
    if (prompt_read_options(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        prompt_help(stdout);
    } else if (run(&options) != 0) {
        return EXIT_BAD_USE;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "chunkproof prompt: cannot write the report: %s\n", strerror(errno));
        return EXIT_BAD_USE;
    }
    return EXIT_RIGHT;
}

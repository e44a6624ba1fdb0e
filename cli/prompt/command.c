/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof prompt`: from the files to the report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clean.h"
#include "cli/base/command.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "cli/model/weights.h"
#include "cli/prompt/answer.h"
#include "cli/prompt/fast.h"
#include "cli/prompt/options.h"
#include "cli/prompt/report.h"

/* What all steps use. */
struct work {
    const struct prompt_options *options;
    struct weights weights; /* of a model, where there is one */
    struct pml_tokenizer tokenizer;
    struct pml_schema schema;
    struct pml_prompt *prompt;    /* [n_prompts] */
    struct prompt_answer *answer; /* [n_prompts], or NULL */
};

static int print(const struct work *work) {
    const struct prompt_options *o = work->options;
    int status = 0, n = o->n_prompts;
    if (o->json) {
        status = report_json(stdout, &work->schema, work->prompt, n);
    } else if (!o->svg) {
        report_text(stdout, &work->schema, work->prompt, n);
    } else if (report_is_drawable(&work->schema, work->prompt, n)) {
        status = report_svg(stdout, &work->schema, work->prompt, n);
    } else {
        fprintf(stderr,
                "chunkproof prompt: a picture of more than %d parts or prompts is not readable; "
                "--json has them\n",
                REPORT_MOST_DRAWN);
        return EXIT_BAD_USE;
    }
    if (status != 0) {
        fputs("chunkproof prompt: cannot write the report\n", stderr);
        return EXIT_BAD_USE;
    }
    return EXIT_RIGHT;
}

/* Reads all prompts, also behind one that is wrong. */
static int read_prompts(struct work *work) {
    const struct prompt_options *o = work->options;
    int status = 0;
    for (int i = 0; i < o->n_prompts; i++) {
        struct pml_document document;
        if (pml_document_read(&document, o->prompt[i]) != 0 ||
            pml_prompt_from(&work->prompt[i], &document, &work->schema) != 0) {
            status = -1;
        }
        pml_document_free(&document);
    }
    return status;
}

static int threads_of(const struct prompt_options *o) {
    return o->threads > 0 ? o->threads : 1;
}

/* How many tokens a prompt has, or what is encoded together, at the most. */
static int most_tokens(const struct work *work) {
    int most = 0, in_schema = 0;
    for (int x = 0; x < work->schema.n_parts; x++) {
        in_schema += work->schema.about[x].text.n_tokens;
    }
    for (int i = 0; i < work->options->n_prompts; i++) {
        most = work->prompt[i].n_new > most ? work->prompt[i].n_new : most;
    }
    return most + in_schema;
}

/* Answers the prompts one after the other, each with what those before it had encoded. EXIT_RIGHT;
 * EXIT_FINDING: an answer has other logits than the whole prompt; EXIT_BAD_USE after a message. */
static int answer_prompts(struct work *work, FILE *logits) {
    const struct prompt_options *o = work->options;
    struct prompt_fast fast = {0};
    struct prompt_fast *with = o->is_fast ? &fast : NULL;
    struct prompt_cache cache = {
        .decoder = &work->weights.decoder, .fast = with, .schema = &work->schema};
    const struct prompt_question question = {
        &work->weights, with,  o->answer > 0 ? o->answer : 1, o->is_compared, o->is_each,
        o->is_scored,   logits};
    int status = EXIT_RIGHT;
    if (with != NULL && prompt_fast_new(with, &work->weights.decoder, threads_of(o),
                                        most_tokens(work) + question.n_most) != 0) {
        return EXIT_BAD_USE;
    }
    for (int i = 0; i < o->n_prompts && status != EXIT_BAD_USE; i++) {
        if (prompt_answer(&work->answer[i], &question, &cache, &work->prompt[i]) != 0) {
            status = EXIT_BAD_USE;
            break;
        }
        work->prompt[i].answer = &work->answer[i];
        if (o->is_compared && !work->answer[i].is_same) {
            status = EXIT_FINDING;
        }
    }
    prompt_cache_free(&cache);
    if (with != NULL) {
        prompt_fast_free(with);
    }
    return status;
}

/* The same, with the new tokens' logits in a file where one is named. */
static int answer_and_write(struct work *work) {
    const char *name = work->options->logits;
    struct output output = {0};
    if (name != NULL && output_open(&output, name) != 0) {
        text_say("chunkproof prompt: %s: %s", name, strerror(errno));
        return EXIT_BAD_USE;
    }
    int status = answer_prompts(work, output.file);
    if (name != NULL && status == EXIT_BAD_USE) {
        output_drop(&output);
    } else if (name != NULL && output_keep(&output) != 0) {
        text_say("chunkproof prompt: %s: the logits could not be written", name);
        status = EXIT_BAD_USE;
    }
    return status;
}

static int read_and_print(struct work *work) {
    const struct prompt_options *o = work->options;
    struct pml_document document;
    int status = pml_document_read(&document, o->schema) != 0 ||
                         pml_schema_from(&work->schema, &document, &work->tokenizer,
                                         &pml_templates[o->template]) != 0 ||
                         read_prompts(work) != 0
                     ? EXIT_BAD_USE
                     : EXIT_RIGHT;
    pml_document_free(&document);
    if (status == EXIT_RIGHT && work->answer != NULL) {
        status = answer_and_write(work);
    }
    if (status != EXIT_BAD_USE && print(work) != EXIT_RIGHT) {
        status = EXIT_BAD_USE;
    }
    return status;
}

/* The model, and its tokens. -1 after a message. */
static int open_model(struct work *work) {
    const struct weights_name name = {"prompt", work->options->model};
    if (weights_open(&work->weights, &name) != 0) {
        return -1;
    }
    if (work->weights.tokens.add_begin) {
        text_say("chunkproof prompt: %s: this model's prompts begin with a token of their own, and "
                 "a schema cannot say so. Take another model",
                 name.file);
    } else if (pml_tokens_model(&work->tokenizer, &name, &work->weights.tokens) == 0) {
        return 0;
    }
    weights_close(&work->weights);
    return -1;
}

static int run(const struct prompt_options *o) {
    size_t n = (size_t)o->n_prompts;
    struct work work = {.options = o};
    if (o->model == NULL) {
        work.tokenizer = o->tokens == 1 ? pml_tokens_bytes() : pml_tokens_words();
    } else if (open_model(&work) != 0) {
        return EXIT_BAD_USE;
    }
    work.prompt = cli_allocate(NULL, n, sizeof *work.prompt);
    memset(work.prompt, 0, n * sizeof *work.prompt);
    if (o->model != NULL) {
        work.answer = cli_allocate(NULL, n, sizeof *work.answer);
        memset(work.answer, 0, n * sizeof *work.answer);
    }
    int status = read_and_print(&work);
    for (size_t i = 0; i < n; i++) {
        pml_prompt_free(&work.prompt[i]);
        if (o->model != NULL) {
            prompt_answer_free(&work.answer[i]);
        }
    }
    free(work.prompt);
    free(work.answer);
    pml_schema_free(&work.schema);
    pml_tokenizer_free(&work.tokenizer);
    if (o->model != NULL) {
        weights_close(&work.weights);
    }
    return status;
}

int cp_command_prompt(int argc, char **argv) {
    struct prompt_options options;
    if (prompt_read_options(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    int status = EXIT_RIGHT;
    if (options.help) {
        prompt_help(stdout);
    } else {
        status = run(&options);
    }
    return output_end(stdout, "prompt") == 0 ? status : EXIT_BAD_USE;
}

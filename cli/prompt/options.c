/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/prompt/options.h"

#include <getopt.h>
#include <string.h>

#include "cli/base/argument.h"
#include "cli/model/options.h"
#include "cli/prompt/pml.h"

#define COMMAND     "prompt"
#define MOST_ANSWER 65536

void prompt_help(FILE *out) {
    fputs("usage: chunkproof prompt [OPTION]... SCHEMA.xml [PROMPT.xml]...\n"
          "\n"
          "Reads a schema and prompts of it in the Prompt Markup Language (spec/pml.md), and\n"
          "says at which position each token stands, which tokens it sees, and which of a\n"
          "prompt's tokens come from the cache. A language model answers the prompts: it\n"
          "computes only what they add.\n"
          "\n"
          "options:\n"
          "  -t, --tokens WHAT    what a token is: words (default) or bytes\n"
          "      --template NAME  what <system>, <user> and <assistant> add: none (default),\n"
          "                       chatml or llama2\n"
          "      --model FILE     a language model (see `chunkproof model`): tokens are its own\n"
          "      --answer N       tokens of its answer to each prompt (1); the model's context\n"
          "                       ends it, with a warning\n"
          "      --fast           on the fast decoder, in single precision (spec/fast.md)\n"
          "      --threads N      ... with N threads (1)\n"
          "      --compare        also compute each whole prompt, and compare all logits;\n"
          "                       not with --fast\n"
          "      --score          also say how likely each new token was, and its rank\n"
          "      --logits OUT     write the logits of each new token to OUT, as float32:\n"
          "                       [tokens of all prompts][vocabulary]\n"
          "      --each           also list the tokens of each prompt, one a line; needs a\n"
          "                       --model, as do --answer, --fast, --compare, --score\n"
          "                       and --logits\n"
          "      --json           the report as JSON (spec/prompt-report.schema.json)\n"
          "      --svg            a picture, also of which part of a prompt sees which; of at\n"
          "                       most 2000 parts, and runs of each prompt\n"
          "  -h, --help           this help\n"
          "\n",
          out);
    fputs("A schema:                                 A prompt of it:\n"
          "  <schema name=\"travel\">                    <prompt schema=\"travel\">\n"
          "    You are a travel guide.                 <trip-plan duration=\"3 days\"/>\n"
          "    <module name=\"trip-plan\">               <miami/>\n"
          "      Plan a trip of                        Where can one surf?\n"
          "      <param name=\"duration\" len=\"4\"/>    </prompt>\n"
          "    </module>\n"
          "    <union>\n"
          "      <module name=\"tokyo\">...</module>\n"
          "      <module name=\"miami\">...</module>\n"
          "    </union>\n"
          "  </schema>\n"
          "\n",
          out);
    fputs("A file with an error gets one message, FILE:LINE:COLUMN: what, and how to mend\n"
          "it. Then nothing is printed of any file. /dev/stdin is a file, too; - is not.\n"
          "\n"
          "exit status:\n"
          "  0  printed\n"
          "  1  --compare found other logits\n"
          "  2  bad use, an error in a file, or output that cannot be written\n",
          out);
}

static int read_option(struct prompt_options *options, int option) {
    static const char *const tokens[] = {"words", "bytes", NULL};
    const char *templates[8];
    int n = 0;
    switch (option) {
    case 't':
        return argument_name(COMMAND, "tokens", optarg, tokens, &options->tokens);
    case 'e':
        do {
            templates[n] = pml_templates[n].name;
        } while (templates[n++] != NULL);
        return argument_name(COMMAND, "template", optarg, templates, &options->template);
    case 'm':
        options->model = optarg;
        return 0;
    case 'a':
        return argument_int(COMMAND, "answer", optarg, 1, MOST_ANSWER, &options->answer);
    case 'f':
        options->is_fast = 1;
        return 0;
    case 'n':
        return argument_int(COMMAND, "threads", optarg, 1, MODEL_MOST_THREADS, &options->threads);
    case 'i':
        options->is_each = 1;
        return 0;
    case 'l':
        options->logits = optarg;
        return 0;
    case 'o':
        options->is_scored = 1;
        return 0;
    case 'c':
        options->is_compared = 1;
        return 0;
    case 'j':
        options->json = 1;
        return 0;
    case 's':
        options->svg = 1;
        return 0;
    case 'h':
        options->help = 1;
        return 0;
    default: /* argument_next() said what is wrong */
        return -1;
    }
}

/* The logits may take the place of no file that is read. */
static int check_logits(const struct prompt_options *o) {
    const struct argument_file files[] = {
        {"--logits", o->logits, 1}, {"--model", o->model, 0}, {"SCHEMA.xml", o->schema, 0}};
    int status = argument_distinct(COMMAND, files, 3);
    for (int i = 0; i < o->n_prompts && status == 0; i++) {
        const struct argument_file two[] = {files[0], {"PROMPT.xml", o->prompt[i], 0}};
        status = argument_distinct(COMMAND, two, 2);
    }
    return status;
}

int prompt_read_options(struct prompt_options *options, int argc, char **argv) {
    static const struct option names[] = {
        {"tokens", required_argument, NULL, 't'}, {"template", required_argument, NULL, 'e'},
        {"model", required_argument, NULL, 'm'},  {"answer", required_argument, NULL, 'a'},
        {"compare", no_argument, NULL, 'c'},      {"each", no_argument, NULL, 'i'},
        {"json", no_argument, NULL, 'j'},         {"svg", no_argument, NULL, 's'},
        {"fast", no_argument, NULL, 'f'},         {"threads", required_argument, NULL, 'n'},
        {"score", no_argument, NULL, 'o'},        {"logits", required_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    *options = (struct prompt_options){.tokens = -1};
    if (argument_once(COMMAND, argc, argv, "t:h", names, NULL) != 0) {
        return -1;
    }
    for (;;) {
        int option = argument_next(COMMAND, argc, argv, "t:h", names, NULL);
        if (option == -1) {
            break;
        }
        int status = read_option(options, option);
        if (status != 0 || options->help) {
            return status;
        }
    }
    if (options->model == NULL &&
        (options->answer > 0 || options->is_compared || options->is_each || options->is_fast)) {
        return argument_refuse(COMMAND, "--answer, --fast, --compare and --each need a --model");
    }
    if (options->model == NULL && (options->is_scored || options->logits != NULL)) {
        return argument_refuse(COMMAND, "--score and --logits need a --model");
    }
    if (options->threads > 0 && !options->is_fast) {
        return argument_refuse(COMMAND, "--threads are those of --fast: give both");
    }
    if (options->is_fast && options->is_compared) {
        return argument_refuse(COMMAND, "--compare asks for the same bits, which --fast has only "
                                        "by chance: leave one of them out");
    }
    if (options->model != NULL && options->tokens >= 0) {
        return argument_refuse(COMMAND, "with --model, tokens are the model's: leave --tokens out");
    }
    if (optind == argc) {
        return argument_refuse(COMMAND, "name a schema's file, and prompts' files behind it");
    }
    if (options->json && options->svg) {
        return argument_refuse(COMMAND, "give only one of --json and --svg");
    }
    options->schema = argv[optind];
    options->n_prompts = argc - optind - 1;
    options->prompt = argv + optind + 1;
    return check_logits(options);
}

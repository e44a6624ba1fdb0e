/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stddef.h>

#include "cli/base/argument.h"
#include "cli/model/options.h"

#define COMMAND "model"

enum option_value {
    TEXT = 1000,
    TOKENS,
    SPECIAL,
    GENERATE,
    LOGITS,
    WINDOW,
    LIMIT,
    THREADS,
    FAST,
    HELP
};

static const struct option names[] = {
    {"text", required_argument, NULL, TEXT},
    {"tokens", no_argument, NULL, TOKENS},
    {"special", no_argument, NULL, SPECIAL},
    {"generate", required_argument, NULL, GENERATE},
    {"logits", required_argument, NULL, LOGITS},
    {"window", required_argument, NULL, WINDOW},
    {"limit", required_argument, NULL, LIMIT},
    {"threads", required_argument, NULL, THREADS},
    {"fast", no_argument, NULL, FAST},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

void model_options_help(FILE *file) {
    fputs(
        "usage: chunkproof model FILE\n"
        "       chunkproof model FILE --text TEXT [OPTION]...\n"
        "\n"
        "Runs a real language model on the reference decoder, all of it in double precision, or\n"
        "with --fast on another one that rounds to single precision (spec/fast.md).\n"
        "FILE is a weights file (spec/weights.md), as\n"
        "    python3 -m chunkproof.convert MODEL.gguf FILE\n"
        "writes it. With FILE alone, checks it and says which model it is.\n"
        "\n"
        "  --text TEXT      the perplexity of the text in this file; TEXT - is the standard "
        "input\n"
        "  --tokens         print the text's tokens instead, a number a line\n"
        "  --generate N     continue the text by N tokens instead, each the most likely one; an\n"
        "                   end token ends it, and so does the model's context, with a warning\n"
        "  --special        texts such as <|im_start|> are read as special tokens\n"
        "  --window N       cut the text into windows of N tokens, each a prompt of its own "
        "(512)\n"
        "  --limit N        only the first N tokens of the text\n"
        "  --logits OUT     write the logits of each token to OUT, as float32: [tokens]"
        "[vocabulary]\n"
        "  --fast           on the fast decoder\n"
        "  --threads N      compute N windows at a time (1), or with --fast each window by N\n"
        "                   threads; the results are the same\n"
        "  -h, --help       this text\n"
        "\n"
        "The perplexity is exp(-mean of ln p), p of each token but the first of each window\n"
        "(spec/tokens.md). A text with modules, which are computed once and cached, is a prompt:\n"
        "`chunkproof prompt --model FILE`.\n"
        "\n"
        "exit status:\n"
        "  0  the model was run\n"
        "  2  bad use, a file that is no model, no memory, or output that cannot be written\n",
        file);
}

static int read_option(struct model_options *o, int option, const char *name, const char *text) {
    switch (option) {
    case TEXT:
        o->text_file = text;
        return 0;
    case TOKENS:
        o->tokens = 1;
        return 0;
    case SPECIAL:
        o->special = 1;
        return 0;
    case GENERATE:
        return argument_int(COMMAND, name, text, 1, MODEL_MOST_TOKENS, &o->generate);
    case LOGITS:
        o->logits_file = text;
        return 0;
    case WINDOW:
        return argument_int(COMMAND, name, text, 2, MODEL_MOST_TOKENS, &o->window);
    case LIMIT:
        return argument_int(COMMAND, name, text, 1, 0x7FFFFFFF, &o->limit);
    case THREADS:
        return argument_int(COMMAND, name, text, 1, MODEL_MOST_THREADS, &o->threads);
    case FAST:
        o->is_fast = 1;
        return 0;
    case HELP:
        o->help = 1;
        return 0;
    default: /* argument_next() said what is wrong */
        return -1;
    }
}

/* Options that do not go together. */
static int check(const struct model_options *o, unsigned given) {
    const unsigned needs_text = 1U << (TOKENS - TEXT) | 1U << (SPECIAL - TEXT) |
                                1U << (GENERATE - TEXT) | 1U << (LOGITS - TEXT) |
                                1U << (WINDOW - TEXT) | 1U << (LIMIT - TEXT) |
                                1U << (THREADS - TEXT) | 1U << (FAST - TEXT);
    const unsigned of_scores =
        1U << (LOGITS - TEXT) | 1U << (WINDOW - TEXT) | (o->is_fast ? 0U : 1U << (THREADS - TEXT));
    if (o->text_file == NULL && (given & needs_text) != 0) {
        return argument_refuse(COMMAND, "there is no text; name one with --text FILE");
    }
    if (o->tokens && o->generate > 0) {
        return argument_refuse(COMMAND, "--tokens and --generate exclude each other");
    }
    if (o->tokens && o->is_fast) {
        return argument_refuse(COMMAND, "--tokens runs no model: leave out --fast");
    }
    if ((o->tokens || o->generate > 0) && (given & of_scores) != 0) {
        return argument_refuse(COMMAND, "--logits, --window and --threads are of the perplexity: "
                                        "leave out --tokens and --generate");
    }
    const struct argument_file files[] = {
        {"FILE", o->file, 0}, {"--text", o->text_file, 0}, {"--logits", o->logits_file, 1}};
    return argument_distinct(COMMAND, files, sizeof files / sizeof files[0]);
}

int model_options_parse(struct model_options *o, int argc, char **argv) {
    int option, index = 0;
    unsigned given = 0;
    *o = (struct model_options){.window = 512, .threads = 1};
    if (argument_once(COMMAND, argc, argv, "h", names, NULL) != 0) {
        return -1;
    }
    while ((option = argument_next(COMMAND, argc, argv, "h", names, &index)) != -1) {
        option = option == 'h' ? HELP : option;
        if (read_option(o, option, names[index].name, optarg) != 0) {
            return -1;
        }
        given |= 1U << (option - TEXT);
    }
    if (o->help) {
        return 0;
    }
    if (optind >= argc) {
        return argument_refuse(COMMAND, "name a weights file");
    }
    if (optind + 1 < argc) {
        return argument_refuse(COMMAND, "unexpected argument '%s'; one weights file is enough",
                               argv[optind + 1]);
    }
    o->file = argv[optind];
    return check(o, given);
}

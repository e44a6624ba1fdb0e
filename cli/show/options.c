/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* access */
#include "cli/show/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/argument.h"
#include "cli/show/show.h"

#define COMMAND "show"

#define SMALLEST_WIDTH 60
#define LARGEST_WIDTH  1000

void show_help(FILE *out) {
    fputs("usage: chunkproof show [OPTION]... PROMPT...\n"
          "       chunkproof show [OPTION]... --script FILE\n"
          "       chunkproof show [OPTION]... -\n"
          "       chunkproof show [OPTION]... --example NAME\n"
          "\n"
          "Builds a small forest of chunks and draws it: the tree with the sequences [i,j)\n"
          "that each chunk covers, the plan (C, i, j), the two phases of attention, and the\n"
          "memory saved. Each word is a token. Each PROMPT joins as a sequence, called p1,\n"
          "p2, and so on.\n"
          "\n",
          out);
    fputs("options:\n"
          "  -c, --chunk-size N   tokens in a chunk, 1..64 (default: the script's, else 4)\n"
          "  -p, --capacity N     chunks in the pool, 1..1024 (default: the script's, else\n"
          "                       64)\n"
          "  -s, --steps          draw after each operation, not only at the end\n"
          "  -f, --format FORMAT  text (default), dot (for graphviz: one digraph for each\n"
          "                       drawing), svg (one picture with all drawings) or json\n"
          "                       (the end alone; spec/show-report.schema.json)\n"
          "      --script FILE    read operations from FILE; - is the standard input\n"
          "      --example NAME   a built-in script: ",
          out);
    fprintf(out, "%s\n", show_example_names());
    fputs("      --source         print the script of the --example, and draw nothing\n"
          "  -w, --width N        columns of the text, 60..1000 (default 80)\n"
          "      --ascii          text without box characters\n"
          "  -h, --help           this help\n"
          "\n",
          out);
    fputs("which keys the query rows at the end of each sequence see, drawn as marks; both\n"
          "phases are then those of these rows:\n"
          "      --window W       the last W keys, the row's own among them (WINDOW-1)\n"
          "      --ahead A        and A after its own (default 0)\n"
          "      --kept N         and the first N, beside the window (default 0)\n"
          "      --rows N         N rows at the last positions, 1..64 (default 1)\n"
          "      --tree PARENTS   the last tokens are a tree of speculative tokens, with a\n"
          "                       row each: 0,0,1,2 has the parents of nodes 1, 2, 3, 4;\n"
          "                       node 0 is the first of these tokens (MASK-3)\n"
          "      --mask FILE      a line of marks for each of the last rows, with one for\n"
          "                       each of the last keys: 1 or x if the mask leaves it, 0\n"
          "                       or . if it takes it away (MASK-1)\n"
          "      --sinks          a sink, which each row merges once (SCORE-3)\n"
          "\n"
          "pages that are no chunks:\n"
          "      --page-size N    pages of N keys, 1..256, beside the chunks, and the page\n"
          "                       tables as engines have them (CONV-11)\n"
          "\n",
          out);
    fputs("a script is UTF-8 text with one operation in each line:\n"
          "  # ...                     a comment; comments and empty lines are skipped\n"
          "  chunk-size N              tokens in a chunk; before the first operation\n"
          "  capacity N                chunks in the pool; before the first operation\n"
          "  join NAME: word ...       a new sequence; it shares every full chunk it can\n"
          "  join NAME in TENANT: ...  the same; shares only with this tenant's sequences\n"
          "  append NAME word ...      adds these words to the sequence, a token each\n"
          "  append-all word ...       adds one token to every sequence at once: one word\n"
          "                            for each (S0's first), or one word for all\n"
          "  leave NAME                the sequence leaves; its own chunks are released\n"
          "  fork NAME as NEWNAME      a second sequence with the same tokens, next to it\n"
          "An operation that fails changes nothing. The drawing ends there, with a message\n"
          "FILE:LINE: ... that says why. Names are only for the script. The drawing numbers\n"
          "sequences S0, S1, ... in the order of the tree; the numbers change when a\n"
          "sequence joins or leaves in between.\n"
          "\n",
          out);
    fputs("examples:\n"
          "  chunkproof show -c 2 'you are a bot . hello' 'you are a bot . how are you'\n"
          "  chunkproof show --example figure2 --steps\n"
          "  chunkproof show --example figure2 --format svg >figure2.svg\n"
          "  chunkproof show --example forest --format dot | dot -Tpdf >forest.pdf\n"
          "  chunkproof show --example figure2 --window 6 --kept 1\n"
          "  chunkproof show --example figure2 --tree 0,0,1,2\n"
          "  chunkproof show --example figure2 --page-size 3\n"
          "  chunkproof show --example forest --source >my.script\n"
          "\n"
          "exit status:\n"
          "  0  drawn\n"
          "  1  a finding: the tree or the plan broke a clause of the specification; both\n"
          "     are checked after each operation\n"
          "  2  bad use or bad input, the pool is full, or the drawing cannot be written\n",
          out);
}

int show_options_ask(const struct show_options *options) {
    return options->window > 0 || options->has_ahead || options->rows > 0 || options->sinks ||
           options->tree != NULL || options->mask != NULL;
}

/* Options about keys that fit together, and a format that draws them. */
static int check_keys(const struct show_options *options) {
    int is_asked = show_options_ask(options);
    const char *rows = options->tree != NULL ? "--tree" : "--mask";
    if (options->kept > 0 && options->window == 0) {
        return argument_refuse(COMMAND, "--kept needs --window W: a row without a window sees the "
                                        "first keys anyway");
    }
    if (options->tree != NULL && options->mask != NULL) {
        return argument_refuse(COMMAND, "give only one of --tree and --mask");
    }
    if (options->rows > 0 && (options->tree != NULL || options->mask != NULL)) {
        return argument_refuse(COMMAND, "%s says how many rows there are; leave --rows out", rows);
    }
    if ((is_asked || options->page_size > 0) && options->format == SHOW_DOT) {
        return argument_refuse(COMMAND, "--format dot draws the tree alone; to see keys or pages "
                                        "give --format text, svg or json");
    }
    if (options->steps && options->format == SHOW_JSON) {
        return argument_refuse(COMMAND, "--format json has the end alone, with what each step "
                                        "changed; leave --steps out");
    }
    return 0;
}

/* One source of operations, and only one. */
static int check_sources(struct show_options *options) {
    int n_sources =
        (options->n_prompts > 0) + (options->script != NULL) + (options->example != NULL);
    if (n_sources == 0) {
        return argument_refuse(COMMAND,
                               "nothing to draw: give prompts, --script FILE or --example NAME");
    }
    if (n_sources > 1) {
        return argument_refuse(COMMAND, "give only one of prompts, --script and --example");
    }
    if (options->example != NULL && show_example(options->example) == NULL) {
        return argument_refuse(COMMAND, "no example is called '%s'; there are %s", options->example,
                               show_example_names());
    }
    if (options->source && options->example == NULL) {
        return argument_refuse(COMMAND, "--source needs --example NAME");
    }
    return 0;
}

/* 1 when the option is one about keys or pages; *status is then 0, or -1 after a message. */
static int read_key_option(struct show_options *options, int option, int *status) {
    *status = 0;
    switch (option) {
    case 'W':
        *status = argument_int(COMMAND, "window", optarg, 1, SHOW_MAX_WINDOW, &options->window);
        return 1;
    case 'A':
        *status = argument_int(COMMAND, "ahead", optarg, 0, SHOW_MAX_WINDOW, &options->ahead);
        options->has_ahead = 1;
        return 1;
    case 'K':
        *status = argument_int(COMMAND, "kept", optarg, 0, SHOW_MAX_WINDOW, &options->kept);
        return 1;
    case 'R':
        *status = argument_int(COMMAND, "rows", optarg, 1, SHOW_MAX_ROWS, &options->rows);
        return 1;
    case 'T':
        options->tree = optarg;
        return 1;
    case 'M':
        options->mask = optarg;
        return 1;
    case 'S':
        options->sinks = 1;
        return 1;
    case 'P':
        *status = argument_int(COMMAND, "page-size", optarg, 1, SHOW_MAX_PAGE, &options->page_size);
        return 1;
    default:
        return 0;
    }
}

static int read_option(struct show_options *options, int option) {
    static const char *const formats[] = {
        [SHOW_TEXT] = "text", [SHOW_DOT] = "dot", [SHOW_SVG] = "svg", [SHOW_JSON] = "json", NULL};
    int format = 0, status;
    if (read_key_option(options, option, &status)) {
        return status;
    }
    switch (option) {
    case 'c':
        return argument_int(COMMAND, "chunk-size", optarg, 1, SHOW_MAX_CHUNK_SIZE,
                            &options->chunk_size);
    case 'p':
        return argument_int(COMMAND, "capacity", optarg, 1, SHOW_MAX_CHUNKS, &options->capacity);
    case 'w':
        return argument_int(COMMAND, "width", optarg, SMALLEST_WIDTH, LARGEST_WIDTH,
                            &options->width);
    case 'f':
        if (argument_name(COMMAND, "format", optarg, formats, &format) != 0) {
            return -1;
        }
        options->format = (enum show_format)format;
        return 0;
    case 's':
        options->steps = 1;
        return 0;
    case 'a':
        options->ascii = 1;
        return 0;
    case 'o':
        options->source = 1;
        return 0;
    case 'i':
        options->script = optarg;
        return 0;
    case 'e':
        options->example = optarg;
        return 0;
    case 'h':
        options->help = 1;
        return 0;
    default: /* argument_next() said what is wrong */
        return -1;
    }
}

int show_read_options(struct show_options *options, int argc, char **argv) {
    static const struct option names[] = {
        {"chunk-size", required_argument, NULL, 'c'},
        {"capacity", required_argument, NULL, 'p'},
        {"format", required_argument, NULL, 'f'},
        {"steps", no_argument, NULL, 's'},
        {"script", required_argument, NULL, 'i'},
        {"example", required_argument, NULL, 'e'},
        {"source", no_argument, NULL, 'o'},
        {"width", required_argument, NULL, 'w'},
        {"window", required_argument, NULL, 'W'},
        {"ahead", required_argument, NULL, 'A'},
        {"kept", required_argument, NULL, 'K'},
        {"rows", required_argument, NULL, 'R'},
        {"tree", required_argument, NULL, 'T'},
        {"mask", required_argument, NULL, 'M'},
        {"sinks", no_argument, NULL, 'S'},
        {"page-size", required_argument, NULL, 'P'},
        {"ascii", no_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    memset(options, 0, sizeof *options);
    options->width = SHOW_DEFAULT_WIDTH;
    if (argument_once(COMMAND, argc, argv, "c:p:f:sw:h", names, NULL) != 0) {
        return -1;
    }
    for (;;) {
        int option = argument_next(COMMAND, argc, argv, "c:p:f:sw:h", names, NULL);
        if (option == -1) {
            break;
        }
        int status = read_option(options, option);
        if (status != 0 || options->help) {
            return status;
        }
    }
    options->n_prompts = argc - optind;
    options->prompt = argv + optind;
    if (options->script == NULL && options->n_prompts == 1 &&
        strcmp(options->prompt[0], "-") == 0) {
        options->script = "-";
        options->n_prompts = 0;
    }
    if (options->n_prompts == 1 && access(options->prompt[0], F_OK) == 0) {
        fprintf(stderr,
                "chunkproof show: %s is taken as a prompt, but a file has this name; --script %s "
                "reads the file\n",
                options->prompt[0], options->prompt[0]);
    }
    return check_sources(options) != 0 ? -1 : check_keys(options);
}

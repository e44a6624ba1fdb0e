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

int show_options_ask(const struct show_options *options) {
    return options->window > 0 || options->has_ahead || options->rows > 0 || options->sinks ||
           options->tree != NULL || options->mask != NULL;
}

/* Options about keys that fit together. */
static int check_keys(const struct show_options *options) {
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
    return 0;
}

/* What the format has no use for. */
static int check_format(const struct show_options *options) {
    int has_text = options->format == SHOW_TEXT || options->format == SHOW_SVG;
    int has_keys = show_options_ask(options) || options->page_size > 0;
    if (has_keys && options->format == SHOW_DOT) {
        return argument_refuse(COMMAND, "--format dot draws the tree alone; to see keys or pages "
                                        "give --format text, svg or json");
    }
    if (options->steps && options->format == SHOW_JSON) {
        return argument_refuse(COMMAND, "--format json has only the end, with what each step "
                                        "changed; leave --steps out");
    }
    if ((options->has_width || options->ascii) && !has_text) {
        return argument_refuse(COMMAND, "--%s is of text, which --format %s has not; leave it out",
                               options->has_width ? "width" : "ascii",
                               options->format == SHOW_DOT ? "dot" : "json");
    }
    return 0;
}

/* One source of operations, and only one. */
static int check_sources(struct show_options *options, int n_options) {
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
    if (options->source && n_options > 2) {
        return argument_refuse(COMMAND, "--source prints the script of the --example as it is; "
                                        "leave the other options out");
    }
    if (options->mask != NULL && strcmp(options->mask, "-") == 0 && options->script != NULL &&
        strcmp(options->script, "-") == 0) {
        return argument_refuse(COMMAND, "--mask and the script are both the standard input; name "
                                        "a file for one of them");
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
        options->has_width = 1;
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
    int n_options = 0;
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
        n_options++;
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
    if (check_sources(options, n_options) != 0 || check_format(options) != 0) {
        return -1;
    }
    return check_keys(options);
}

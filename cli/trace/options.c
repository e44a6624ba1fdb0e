/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/options.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "cli/base/argument.h"

#define COMMAND "trace"

/* The block of the published traces. */
#define DEFAULT_BLOCK 512
_Static_assert(DEFAULT_BLOCK <= CP_MAX_CHUNK_SIZE, "a block is a chunk");

static const char *const check_names[] = {"none", "sampled", "every", NULL};

const char *trace_check_name(int check) {
    return check_names[check];
}

enum { OTHER, REPLAY, GENERATOR }; /* what an option is about */

enum {
    HELP = 1,
    BLOCK,
    PROGRESS,
    GENERATE,
    MS_PER_TOKEN,
    RETAIN,
    CHECK,
    CAPACITY,
    HASH_BITS,
    TREE,
    JSON,
    REQUESTS,
    SEED,
    RATE,
    PROMPTS,
    PROMPT_TOKENS,
    QUESTION_TOKENS,
    OUTPUT_TOKENS,
    CONTINUE
};

static const struct option names[] = {
    {"help", no_argument, NULL, HELP},
    {"block", required_argument, NULL, BLOCK},
    {"progress", no_argument, NULL, PROGRESS},
    {"generate", no_argument, NULL, GENERATE},
    {"ms-per-token", required_argument, NULL, MS_PER_TOKEN},
    {"retain", no_argument, NULL, RETAIN},
    {"check", required_argument, NULL, CHECK},
    {"capacity", required_argument, NULL, CAPACITY},
    {"hash-bits", required_argument, NULL, HASH_BITS},
    {"tree", required_argument, NULL, TREE},
    {"json", no_argument, NULL, JSON},
    {"requests", required_argument, NULL, REQUESTS},
    {"seed", required_argument, NULL, SEED},
    {"rate", required_argument, NULL, RATE},
    {"prompts", required_argument, NULL, PROMPTS},
    {"prompt-tokens", required_argument, NULL, PROMPT_TOKENS},
    {"question-tokens", required_argument, NULL, QUESTION_TOKENS},
    {"output-tokens", required_argument, NULL, OUTPUT_TOKENS},
    {"continue", required_argument, NULL, CONTINUE},
    {NULL, 0, NULL, 0},
};

static int kind_of(int option) {
    return option >= REQUESTS ? GENERATOR : option >= MS_PER_TOKEN ? REPLAY : OTHER;
}

void trace_options_help(void) {
    printf(
        "usage: chunkproof trace [OPTION]... [FILE]\n"
        "       chunkproof trace --generate [OPTION]...\n"
        "\n"
        "Replays a request trace through the prefix tree. Requests join as they arrive. In each\n"
        "decoding iteration every request gets one token of its own; it leaves when it has them\n"
        "all. The tree and its plan are checked against their invariants, against a naive model\n"
        "and against the tokens that went in. At the end the command reports how much was shared.\n"
        "\n"
        "FILE has one JSON object per line, a request: \"timestamp\" (ms), \"input_length\",\n"
        "\"output_length\" and \"hash_ids\", an id for each block of the prompt, including the "
        "last,\n"
        "partial one. FILE - is standard input. Without FILE a synthetic trace is replayed.\n"
        "\n"
        "  --block N             tokens in a block; a block is a chunk (512; 1 to %d)\n"
        "  --ms-per-token N      time from one decoding iteration to the next (30)\n"
        "  --retain              arrivals only: nothing is decoded, nobody leaves\n"
        "  --check MODE          when to compare with the model: after each operation (every);\n"
        "                        after each join and leave and each %dth iteration (sampled, the\n"
        "                        default); never (none)\n"
        "  --capacity N          chunks in the pool (as many as the trace needs; 1 to %d)\n"
        "  --hash-bits N         width of the chunk hashes, 0 for none (64)\n"
        "  --tree ref|opt        the tree: the reference's (ref, the default), or the one for\n"
        "                        serving engines (opt). For opt, --check sampled compares each\n"
        "                        join, and everything else at operations 1, 2, 4, 8, ..., at each\n"
        "                        %dth operation, and at the end\n"
        "  --json                print one JSON object instead of the table\n"
        "  --progress            show progress even if standard error is not a terminal\n"
        "\n"
        "the synthetic trace (Poisson arrivals, shared system prompts, conversations; the same\n"
        "options give the same trace on every machine):\n"
        "  --generate            print the trace as JSON lines and replay nothing\n"
        "  --requests N          how many requests (1000)\n"
        "  --seed N              another seed gives another trace (1)\n"
        "  --rate X              requests per second, on average (4)\n"
        "  --prompts N           how many system prompts there are (8)\n"
        "  --prompt-tokens N     mean length of a system prompt (2000)\n"
        "  --question-tokens N   mean length of what a request adds to it (500)\n"
        "  --output-tokens N     mean length of a completion (200)\n"
        "  --continue PERCENT    how many requests continue a recent one (30)\n"
        "\n"
        "When the pool has no room for a request, the request is dropped and counted. When a\n"
        "decoding iteration finds the pool full, the replay ends with a report so far and exit\n"
        "status 2: a scheduler would choose a sequence to evict, and a trace does not say which.\n"
        "\n"
        "exit status:\n"
        "  0    the whole trace was replayed and no check found anything\n"
        "  1    a violation: its clause, request and operation are printed\n"
        "  2    bad use, a malformed trace (FILE:LINE:COLUMN: message), a pool that was too small\n"
        "       to go on, or no memory\n"
        "  130  interrupted with Ctrl-C; the report covers what was replayed until then\n",
        CP_MAX_CHUNK_SIZE, TRACE_SAMPLE, CP_MAX_CHUNKS, TRACE_OPT_SAMPLE);
}

/* Requests per second, to the mean time between two in microseconds. */
static int read_rate(const char *name, const char *text, long long *gap) {
    double rate = 0.0;
    if (argument_number(COMMAND, name, text, 0.001, 1e6, &rate) != 0) {
        return -1;
    }
    *gap = llround(1e6 / rate);
    return 0;
}

static int read_option(struct trace_options *options, int option, const char *name,
                       const char *text) {
    static const char *const trees[] = {"ref", "opt", NULL};
    struct trace_settings *settings = &options->settings;
    struct trace_generator *generator = &options->generator;
    switch (option) {
    case HELP:
        options->help = 1;
        return 0;
    case BLOCK:
        return argument_int(COMMAND, name, text, 1, CP_MAX_CHUNK_SIZE, &options->block_size);
    case PROGRESS:
        options->progress = 1;
        return 0;
    case GENERATE:
        options->generate = 1;
        return 0;
    case MS_PER_TOKEN:
        return argument_whole(COMMAND, name, text, 1, 86400000, &settings->ms_per_token);
    case RETAIN:
        settings->retain = 1;
        return 0;
    case CHECK:
        return argument_name(COMMAND, name, text, check_names, &settings->check);
    case CAPACITY:
        return argument_int(COMMAND, name, text, 1, CP_MAX_CHUNKS, &settings->capacity);
    case HASH_BITS:
        return argument_int(COMMAND, name, text, 0, 64, &settings->hash_bits);
    case TREE:
        return argument_name(COMMAND, name, text, trees, &settings->opt);
    case JSON:
        options->json = 1;
        return 0;
    case REQUESTS:
        return argument_int(COMMAND, name, text, 1, 10000000, &generator->requests);
    case SEED:
        return argument_seed(COMMAND, text, LLONG_MAX, &generator->seed);
    case RATE:
        return read_rate(name, text, &generator->gap);
    case PROMPTS:
        return argument_int(COMMAND, name, text, 1, 1000000, &generator->prompts);
    case PROMPT_TOKENS:
        return argument_int(COMMAND, name, text, 0, 1000000, &generator->prompt_tokens);
    case QUESTION_TOKENS:
        return argument_int(COMMAND, name, text, 0, 1000000, &generator->question_tokens);
    case OUTPUT_TOKENS:
        return argument_int(COMMAND, name, text, 0, 1000000, &generator->output_tokens);
    case CONTINUE:
        return argument_int(COMMAND, name, text, 0, 100, &generator->continue_percent);
    default: /* argument_next() said what is wrong */
        return -1;
    }
}

int trace_options_parse(struct trace_options *options, int argc, char **argv) {
    const char *last[GENERATOR + 1] = {NULL}; /* option of each kind */
    int index = 0;
    int option;
    memset(options, 0, sizeof *options);
    options->block_size = DEFAULT_BLOCK;
    options->settings.ms_per_token = 30;
    options->settings.check = TRACE_CHECK_SAMPLED;
    options->settings.hash_bits = 64;
    options->generator = (struct trace_generator){.seed = 1,
                                                  .requests = 1000,
                                                  .gap = 250000,
                                                  .prompts = 8,
                                                  .prompt_tokens = 2000,
                                                  .question_tokens = 500,
                                                  .output_tokens = 200,
                                                  .continue_percent = 30};
    if (argument_once(COMMAND, argc, argv, "h", names, NULL) != 0) {
        return -1;
    }
    while ((option = argument_next(COMMAND, argc, argv, "h", names, &index)) != -1) {
        option = option == 'h' ? HELP : option;
        if (read_option(options, option, names[index].name, optarg) != 0) {
            return -1;
        }
        last[kind_of(option)] = names[index].name;
    }
    if (options->help) {
        return 0;
    }
    if (argc - optind > 1) {
        return argument_refuse(COMMAND, "at most one FILE: '%s' is a second one", argv[optind + 1]);
    }
    options->file = argc > optind ? argv[optind] : NULL;
    if (options->file != NULL && options->generate) {
        return argument_refuse(COMMAND, "--generate makes its own trace and takes no FILE");
    }
    if (options->file != NULL && last[GENERATOR] != NULL) {
        return argument_refuse(COMMAND, "--%s applies only to the synthetic trace, not to FILE",
                               last[GENERATOR]);
    }
    if (options->generate && last[REPLAY] != NULL) {
        return argument_refuse(COMMAND, "--%s applies only to a replay, not to --generate",
                               last[REPLAY]);
    }
    return 0;
}

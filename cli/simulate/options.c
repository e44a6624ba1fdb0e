/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "cli/base/argument.h"
#include "cli/tables/dims.h"

#define COMMAND "simulate"

/* The published traces' block, and the papers' chunk. */
#define DEFAULT_BLOCK (CP_MAX_CHUNK_SIZE < 512 ? CP_MAX_CHUNK_SIZE : 512)
#define DEFAULT_CHUNK (CP_MAX_CHUNK_SIZE < 64 ? CP_MAX_CHUNK_SIZE : 64)
#define DEFAULT_BATCH (CP_MAX_SEQUENCES < 32 ? CP_MAX_SEQUENCES : 32)

enum { OTHER, LOAD_FILE, LOAD_POISSON, LOAD_ANY_POISSON }; /* what an option is about */

enum {
    HELP = 1,
    BATCH,
    MEMORY,
    CHUNK,
    COST,
    PRINT_COST,
    MODEL,
    LAYERS,
    HEADS,
    KV_HEADS,
    HEAD_DIM,
    BYTES,
    JSON,
    CSV,
    TABLE4,
    BLOCK,
    SPEED,
    POISSON,
    RATES,
    PROMPT,
    SHARED,
    COMPLETION,
    REQUESTS,
    SEED,
    MODULES
};

static const struct option names[] = {
    {"help", no_argument, NULL, HELP},
    {"batch", required_argument, NULL, BATCH},
    {"memory", required_argument, NULL, MEMORY},
    {"chunk", required_argument, NULL, CHUNK},
    {"cost", required_argument, NULL, COST},
    {"print-cost", no_argument, NULL, PRINT_COST},
    {"model", required_argument, NULL, MODEL},
    {"layers", required_argument, NULL, LAYERS},
    {"heads", required_argument, NULL, HEADS},
    {"kv-heads", required_argument, NULL, KV_HEADS},
    {"head-dim", required_argument, NULL, HEAD_DIM},
    {"bytes", required_argument, NULL, BYTES},
    {"json", required_argument, NULL, JSON},
    {"csv", required_argument, NULL, CSV},
    {"table4", no_argument, NULL, TABLE4},
    {"block", required_argument, NULL, BLOCK},
    {"speed", required_argument, NULL, SPEED},
    {"poisson", required_argument, NULL, POISSON},
    {"rates", required_argument, NULL, RATES},
    {"prompt", required_argument, NULL, PROMPT},
    {"shared", required_argument, NULL, SHARED},
    {"completion", required_argument, NULL, COMPLETION},
    {"requests", required_argument, NULL, REQUESTS},
    {"seed", required_argument, NULL, SEED},
    {"modules", no_argument, NULL, MODULES},
    {NULL, 0, NULL, 0},
};

static int kind_of(int option) {
    return option == MODULES    ? OTHER
           : option >= REQUESTS ? LOAD_ANY_POISSON
           : option >= POISSON  ? LOAD_POISSON
           : option >= BLOCK    ? LOAD_FILE
                                : OTHER;
}

void simulate_options_help(void) {
    printf(
        "usage: chunkproof simulate [OPTION]... [FILE]\n"
        "       chunkproof simulate [OPTION]... --rates X,X,...\n"
        "       chunkproof simulate [OPTION]... --table4\n"
        "       chunkproof simulate --modules ...   a cache of modules: see its own --help\n"
        "\n"
        "Simulates a server that decodes in iterations, with and without shared prefixes. A\n"
        "request waits until the batch and the memory have room. Its prompt is computed, except\n"
        "for the part that is in the prefix tree. It gets one token per iteration and leaves when\n"
        "it has them all. The time of an iteration comes from a formula with given numbers\n"
        "(spec/simulate.md); nothing is measured. The report has normalized latency (ms from\n"
        "arrival to last token, per token), peak batch size and peak K/V memory.\n"
        "\n"
        "the load, a trace:\n"
        "  FILE                  a trace as `chunkproof trace --help` describes it; - is standard\n"
        "                        input\n"
        "  --block N             tokens in a block of the trace (%d; 1 to %d)\n"
        "  --speed X             requests arrive X times as fast (1)\n"
        "or Poisson arrivals of equal requests:\n"
        "  --poisson X           requests per second (1)\n"
        "  --rates X,X,...       one row for each of these rates, at most %d\n"
        "  --prompt N            prompt tokens (1024)\n"
        "  --shared N            how many of these all prompts share, from the start (all)\n"
        "  --completion N        completion tokens (512)\n"
        "  --requests N          how many requests (1000)\n"
        "  --seed N              another seed gives other arrivals (1)\n"
        "or the paper's:\n"
        "  --table4              the six loads of the paper's Table 4, and what it measured\n"
        "\n"
        "the server:\n"
        "  --batch N             sequences at once, at most (%d; 1 to %d)\n"
        "  --memory X            GiB for K and V: a request waits until it fits whole (no limit)\n"
        "  --chunk N             tokens in a chunk (with FILE its block, else %d; 1 to %d)\n"
        "  --cost FILE           what an iteration costs (spec/simulate-cost.schema.json)\n"
        "  --print-cost          print the costs as such a file (without --cost the example's),\n"
        "                        and stop\n"
        "  --model NAME          as in `chunkproof tables` (llama-7b)\n"
        "  --layers N, --heads N, --kv-heads N, --head-dim N, --bytes N\n"
        "                        where your model differs from that; --bytes is of one number\n"
        "\n"
        "output:\n"
        "  --json FILE           also write the report to FILE (spec/simulate-report.schema.json)\n"
        "  --csv FILE            also write comma-separated values to FILE, a row for each run\n"
        "  -h, --help            this text\n"
        "\n"
        "exit status:\n"
        "  0    simulated, whatever the figures are\n"
        "  1    a finding: the prefix tree refused a request for which it has room\n"
        "  2    bad use, a malformed trace (FILE:LINE:COLUMN: message) or cost, no memory, or\n"
        "       output that cannot be written\n",
        DEFAULT_BLOCK, CP_MAX_CHUNK_SIZE, SIMULATE_RATES, DEFAULT_BATCH, CP_MAX_SEQUENCES,
        DEFAULT_CHUNK, CP_MAX_CHUNK_SIZE);
}

/* Numbers between commas. */
static int read_rates(struct simulate_options *options, const char *text) {
    char item[32];
    options->n_rates = 0;
    for (const char *from = text;; from++) {
        size_t length = strcspn(from, ",");
        if (options->n_rates == SIMULATE_RATES) {
            return argument_refuse(COMMAND, "--rates takes at most %d numbers", SIMULATE_RATES);
        }
        if (length >= sizeof item) {
            return argument_refuse(COMMAND, "--rates needs numbers separated by commas, not '%s'",
                                   text);
        }
        memcpy(item, from, length);
        item[length] = '\0';
        if (argument_number(COMMAND, "rates", item, SIMULATE_LEAST_RATE, SIMULATE_MOST_RATE,
                            &options->rate[options->n_rates++]) != 0) {
            return -1;
        }
        from += length;
        if (*from == '\0') {
            return 0;
        }
    }
}

static int read_one_rate(struct simulate_options *options, const char *name, const char *text) {
    if (options->n_rates > 0) {
        return argument_refuse(COMMAND, "--%s: the arrival rate was already given", name);
    }
    if (strcmp(name, "rates") == 0) {
        return read_rates(options, text);
    }
    options->n_rates = 1;
    return argument_number(COMMAND, name, text, SIMULATE_LEAST_RATE, SIMULATE_MOST_RATE,
                           options->rate);
}

static int read_load(struct simulate_options *options, int option, const char *name,
                     const char *text) {
    struct simulate_poisson *poisson = &options->poisson;
    switch (option) {
    case BLOCK:
        return argument_int(COMMAND, name, text, 1, CP_MAX_CHUNK_SIZE, &options->block);
    case SPEED:
        return argument_number(COMMAND, name, text, 1e-6, 1e6, &options->speed);
    case POISSON:
    case RATES:
        return read_one_rate(options, name, text);
    case PROMPT:
        return argument_int(COMMAND, name, text, 0, SIMULATE_MOST_TOKENS, &poisson->prompt);
    case SHARED:
        return argument_int(COMMAND, name, text, 0, SIMULATE_MOST_TOKENS, &poisson->shared);
    case COMPLETION:
        return argument_int(COMMAND, name, text, 1, SIMULATE_MOST_TOKENS, &poisson->completion);
    case REQUESTS:
        return argument_int(COMMAND, name, text, 1, SIMULATE_MOST_REQUESTS, &poisson->requests);
    case MODULES:
        return argument_refuse(COMMAND, "--modules is another simulation: give it first, as in "
                                        "`chunkproof simulate --modules --help`");
    case SEED:
        return argument_seed(COMMAND, text, LLONG_MAX, &poisson->seed);
    default: /* argument_next() said what is wrong */
        return -1;
    }
}

static int read_option(struct simulate_options *options, struct cp_dims *given, int option,
                       const char *name, const char *text) {
    const struct cp_dims *known;
    switch (option) {
    case HELP:
        options->help = 1;
        return 0;
    case BATCH:
        return argument_int(COMMAND, name, text, 1, CP_MAX_SEQUENCES, &options->settings.batch);
    case MEMORY:
        return argument_number(COMMAND, name, text, 1e-9, SIMULATE_MOST_GIB, &options->memory);
    case CHUNK:
        return argument_int(COMMAND, name, text, 1, CP_MAX_CHUNK_SIZE, &options->settings.chunk);
    case COST:
        options->cost = text;
        return 0;
    case PRINT_COST:
        options->print_cost = 1;
        return 0;
    case MODEL:
        known = dims_read_model(COMMAND, text);
        options->settings.model = known != NULL ? *known : options->settings.model;
        return known != NULL ? 0 : -1;
    case JSON:
        options->json = text;
        return 0;
    case CSV:
        options->csv = text;
        return 0;
    case TABLE4:
        options->table4 = 1;
        return 0;
    default:
        return option >= LAYERS && option <= BYTES ? dims_read_size(COMMAND, name, text, given)
                                                   : read_load(options, option, name, text);
    }
}

/* The default settings. */
static void preset(struct simulate_options *options) {
    memset(options, 0, sizeof *options);
    options->block = DEFAULT_BLOCK;
    options->speed = 1.0;
    options->poisson = (struct simulate_poisson){
        .requests = 1000, .prompt = 1024, .shared = -1, .completion = 512, .seed = 1};
    options->settings.batch = DEFAULT_BATCH;
    options->settings.model = *cp_dims_find("llama-7b");
}

static int check_load(struct simulate_options *options, const char *const *last) {
    const char *poisson = last[LOAD_POISSON];
    if (options->file != NULL && options->table4) {
        return argument_refuse(COMMAND, "--table4 has its own loads and takes no FILE");
    }
    if (options->table4 && poisson != NULL) {
        return argument_refuse(COMMAND, "--table4 has its own loads: --%s does not apply", poisson);
    }
    if (options->file != NULL && (poisson != NULL || last[LOAD_ANY_POISSON] != NULL)) {
        return argument_refuse(COMMAND, "--%s applies only to Poisson arrivals, not to FILE",
                               poisson != NULL ? poisson : last[LOAD_ANY_POISSON]);
    }
    if (options->file == NULL && last[LOAD_FILE] != NULL) {
        return argument_refuse(COMMAND, "--%s applies only to a trace: it needs FILE",
                               last[LOAD_FILE]);
    }
    if (options->n_rates == 0) {
        options->rate[0] = 1.0;
        options->n_rates = 1;
    }
    if (options->poisson.shared < 0) {
        options->poisson.shared = options->poisson.prompt;
    }
    if (options->poisson.shared > options->poisson.prompt) {
        return argument_refuse(COMMAND, "--shared %d: the prompts have only %d tokens",
                               options->poisson.shared, options->poisson.prompt);
    }
    return 0;
}

static int check_server(struct simulate_options *options) {
    struct simulate_settings *settings = &options->settings;
    if (dims_check(COMMAND, &settings->model) != 0) {
        return -1;
    }
    if (settings->chunk == 0) {
        settings->chunk = options->file != NULL ? options->block : DEFAULT_CHUNK;
    }
    double chunks = options->memory * 0x1p30 / simulate_chunk_bytes(settings);
    if (options->memory > 0.0 && chunks < 1.0) {
        return argument_refuse(COMMAND,
                               "--memory %g is too small for one chunk, which takes %g GiB",
                               options->memory, simulate_chunk_bytes(settings) / 0x1p30);
    }
    settings->capacity = chunks < 1e18 ? (long long)chunks : (long long)1e18;
    return 0;
}

int simulate_options_parse(struct simulate_options *options, int argc, char **argv) {
    const char *last[LOAD_ANY_POISSON + 1] = {NULL};
    struct cp_dims given = {.name = NULL};
    int index = 0;
    int option;
    preset(options);
    if (argument_once(COMMAND, argc, argv, "h", names, NULL) != 0) {
        return -1;
    }
    while ((option = argument_next(COMMAND, argc, argv, "h", names, &index)) != -1) {
        option = option == 'h' ? HELP : option;
        if (read_option(options, &given, option, names[index].name, optarg) != 0) {
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
    cp_dims_resize(&options->settings.model, &given);
    const struct argument_file files[] = {{"FILE", options->file, 0},
                                          {"--cost", options->cost, 0},
                                          {"--json", options->json, 1},
                                          {"--csv", options->csv, 1}};
    return check_load(options, last) != 0 || check_server(options) != 0 ||
                   argument_distinct(COMMAND, files, sizeof files / sizeof files[0]) != 0
               ? -1
               : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/opt.h"
#include "cli/base/argument.h"

#define COMMAND "bench"

const char *const bench_part_names[BENCH_PARTS] = {"table3", "figure3", "figure4", "levels",
                                                   "gqa",    "bf16",    "windows", "caches",
                                                   "tree",   "trace",   "gate"};

enum {
    HELP = 1,
    LIST,
    SMOKE,
    PROGRESS,
    ONLY,
    SECONDS,
    THREADS,
    UNIT,
    HEADS,
    MEMORY,
    KERNEL,
    TRACE,
    PEER,
    CSV,
    JSON,
    COST
};

static const struct option names[] = {
    {"help", no_argument, NULL, HELP},
    {"list", no_argument, NULL, LIST},
    {"smoke", no_argument, NULL, SMOKE},
    {"progress", no_argument, NULL, PROGRESS},
    {"only", required_argument, NULL, ONLY},
    {"seconds", required_argument, NULL, SECONDS},
    {"threads", required_argument, NULL, THREADS},
    {"unit", required_argument, NULL, UNIT},
    {"heads", required_argument, NULL, HEADS},
    {"memory", required_argument, NULL, MEMORY},
    {"kernel", required_argument, NULL, KERNEL},
    {"trace", required_argument, NULL, TRACE},
    {"peer", required_argument, NULL, PEER},
    {"csv", required_argument, NULL, CSV},
    {"json", required_argument, NULL, JSON},
    {"cost", required_argument, NULL, COST},
    {NULL, 0, NULL, 0},
};

static const char *const units[] = {"best", "portable", "avx2",        "avx512",
                                    "neon", "amx",      "avx512-bf16", NULL}; /* CP_OPT_... */

void bench_options_help(void) {
    fputs(
        "usage: chunkproof bench [OPTION]...\n"
        "\n"
        "Measures the library's fast attention and prefix tree (spec/bench.md). In the same run "
        "it\n"
        "measures what the machine can do, the same loops without the tree, and the other\n"
        "implementations that --peer names. A wrong result is reported and not timed. The exit\n"
        "status does not depend on any figure.\n"
        "\n"
        "  --only PART,PART,...  the parts to measure (all): table3, figure3, figure4 (the "
        "papers'\n"
        "                        loads), levels (trees of two and three levels), gqa (grouped\n"
        "                        heads), bf16 (bfloat16), windows (sliding ones), caches (of 8\n"
        "                        bits), tree, trace, gate\n"
        "  --list                print what would be measured, and how much memory it takes\n"
        "  --smoke               small loads and few rounds: does everything run?\n"
        "  --seconds X           for the rounds of each load (2; a few rounds are always made)\n"
        "  --threads N           for everything that is measured (as many as there are "
        "processors)\n"
        "  --unit NAME           best, portable, avx2, avx512, neon, amx or avx512-bf16 (best: "
        "never\n"
        "                        amx)\n"
        "  --heads N             query heads of the loads, a multiple of 8 (32)\n"
        "  --memory X            GiB that K and V of a load may take (half of what is free)\n"
        "  --trace FILE          a trace for the part `trace` (a generated one)\n"
        "  --kernel FILE         a kernel for the part `gate`; without it that part is skipped\n"
        "  --peer COMMAND        another implementation, a process that runs when asked\n"
        "                        (spec/bench.md); may be given several times\n"
        "  --progress            show progress even if standard error is not a terminal\n"
        "\n"
        "output:\n"
        "  --json FILE           also write the report to FILE (spec/bench-report.schema.json)\n"
        "  --csv FILE            also write comma-separated values to FILE, a row for each series\n"
        "  --cost FILE           also write to FILE what an iteration costs on this machine, for\n"
        "                        `chunkproof simulate`\n"
        "  -h, --help            this text\n"
        "\n"
        "exit status:\n"
        "  0    measured, whatever the figures are\n"
        "  1    a finding: a result is outside the certified tolerance, or the tree is wrong\n"
        "  2    bad use, bad input, no memory or no thread, or output that cannot be written\n"
        "  130  interrupted with Ctrl-C, after printing what was measured so far\n",
        stdout);
}

/* The place of a text of some length among others, or -1. */
static int find(const char *text, size_t length, const char *const *among, int n) {
    for (int i = 0; i < n; i++) {
        if (strlen(among[i]) == length && memcmp(among[i], text, length) == 0) {
            return i;
        }
    }
    return -1;
}

static int read_parts(const char *text, unsigned *parts) {
    *parts = 0;
    for (const char *from = text;; from++) {
        size_t length = strcspn(from, ",");
        int part = find(from, length, bench_part_names, BENCH_PARTS);
        if (part < 0) {
            return argument_refuse(
                COMMAND,
                "--only needs some of table3, figure3, figure4, levels, gqa, "
                "bf16, windows, caches, tree, trace, gate, separated by commas, not '%s'",
                text);
        }
        *parts |= 1U << part;
        from += length;
        if (*from == '\0') {
            return 0;
        }
    }
}

static int read_heads(const char *text, int *heads) {
    if (argument_int(COMMAND, "heads", text, 8, BENCH_MOST_HEADS, heads) != 0) {
        return -1;
    }
    return *heads % 8 == 0 ? 0
                           : argument_refuse(COMMAND, "--heads %d is not a multiple of 8", *heads);
}

static int add_peer(struct bench_options *options, const char *command) {
    if (options->n_peers == PEER_MOST) {
        return argument_refuse(COMMAND, "--peer can be given at most %d times", PEER_MOST);
    }
    options->peer[options->n_peers++] = command;
    return 0;
}

static int read_file(struct bench_options *options, int option, const char *text) {
    const char **file = option == KERNEL  ? &options->kernel
                        : option == TRACE ? &options->trace
                        : option == CSV   ? &options->csv
                        : option == JSON  ? &options->json
                                          : &options->cost;
    *file = text;
    return 0;
}

static int read_option(struct bench_options *options, int option, const char *text) {
    switch (option) {
    case HELP:
        options->help = 1;
        return 0;
    case LIST:
        options->list = 1;
        return 0;
    case SMOKE:
        options->smoke = 1;
        return 0;
    case PROGRESS:
        options->progress = 1;
        return 0;
    case ONLY:
        return read_parts(text, &options->parts);
    case SECONDS:
        return argument_number(COMMAND, "seconds", text, 0.0, BENCH_MOST_SECONDS,
                               &options->seconds);
    case THREADS:
        return argument_int(COMMAND, "threads", text, 1, CP_OPT_MOST_THREADS, &options->threads);
    case UNIT:
        return argument_name(COMMAND, "unit", text, units, &options->version);
    case HEADS:
        return read_heads(text, &options->heads);
    case MEMORY:
        return argument_number(COMMAND, "memory", text, 1e-6, BENCH_MOST_GIB, &options->memory);
    case PEER:
        return add_peer(options, text);
    case KERNEL:
    case TRACE:
    case CSV:
    case JSON:
    case COST:
        return read_file(options, option, text);
    default:
        return -1; /* argument_next() said what is wrong */
    }
}

int bench_options_parse(struct bench_options *options, int argc, char **argv) {
    int option;
    *options =
        (struct bench_options){.parts = (1U << BENCH_PARTS) - 1, .seconds = 2.0, .heads = 32};
    if (argument_once(COMMAND, argc, argv, "h", names, "peer") != 0) {
        return -1;
    }
    while ((option = argument_next(COMMAND, argc, argv, "h", names, NULL)) != -1) {
        if (read_option(options, option == 'h' ? HELP : option, optarg) != 0) {
            return -1;
        }
    }
    if (argc > optind) {
        return argument_refuse(COMMAND, "unexpected argument '%s'", argv[optind]);
    }
    unsigned attention = (1U << BENCH_ATTENTION) - 1;
    if (options->cost != NULL && (options->parts & attention) == 0) {
        return argument_refuse(COMMAND,
                               "--cost needs figures of attention, and --only leaves them all out");
    }
    const struct argument_file files[] = {{"--kernel", options->kernel, 0},
                                          {"--trace", options->trace, 0},
                                          {"--json", options->json, 1},
                                          {"--csv", options->csv, 1},
                                          {"--cost", options->cost, 1}};
    return argument_distinct(COMMAND, files, sizeof files / sizeof files[0]);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/modules/options.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "cli/base/argument.h"
#include "cli/tables/dims.h"

#define COMMAND "simulate --modules"

enum {
    HELP = 1,
    MACHINE,
    PRINT_MACHINE,
    PRINT_SCHEMA,
    TOKENS,
    GPU_MEMORY,
    CPU_MEMORY,
    BATCH,
    PROMPTS,
    IMPORTS,
    NEW,
    ZIPF,
    SEED,
    JSON,
    EVENTS,
    MODEL,
    PARAMETERS,
    LAYERS,
    HEADS,
    KV_HEADS,
    HEAD_DIM,
    BYTES,
    COUNT, /* from here on they say how a schema is made up */
    UNION,
    LEAST,
    MOST,
    SYSTEM,
    PARAM
};

static const struct option names[] = {
    {"help", no_argument, NULL, HELP},
    {"machine", required_argument, NULL, MACHINE},
    {"print-machine", no_argument, NULL, PRINT_MACHINE},
    {"print-schema", no_argument, NULL, PRINT_SCHEMA},
    {"tokens", required_argument, NULL, TOKENS},
    {"gpu-memory", required_argument, NULL, GPU_MEMORY},
    {"cpu-memory", required_argument, NULL, CPU_MEMORY},
    {"batch", required_argument, NULL, BATCH},
    {"prompts", required_argument, NULL, PROMPTS},
    {"imports", required_argument, NULL, IMPORTS},
    {"new", required_argument, NULL, NEW},
    {"zipf", required_argument, NULL, ZIPF},
    {"seed", required_argument, NULL, SEED},
    {"json", required_argument, NULL, JSON},
    {"events", required_argument, NULL, EVENTS},
    {"model", required_argument, NULL, MODEL},
    {"parameters", required_argument, NULL, PARAMETERS},
    {"layers", required_argument, NULL, LAYERS},
    {"heads", required_argument, NULL, HEADS},
    {"kv-heads", required_argument, NULL, KV_HEADS},
    {"head-dim", required_argument, NULL, HEAD_DIM},
    {"bytes", required_argument, NULL, BYTES},
    {"count", required_argument, NULL, COUNT},
    {"union", required_argument, NULL, UNION},
    {"least", required_argument, NULL, LEAST},
    {"most", required_argument, NULL, MOST},
    {"system", required_argument, NULL, SYSTEM},
    {"param", required_argument, NULL, PARAM},
    {NULL, 0, NULL, 0},
};

void modules_options_help(void) {
    fputs(
        "usage: chunkproof simulate --modules [OPTION]... [SCHEMA.xml]\n"
        "\n"
        "Simulates a cache of modules in the memory of a GPU and of a CPU, under prompts that are\n"
        "drawn from a schema (spec/caches.md). What a prompt needs comes from the GPU's memory,\n"
        "is copied from the CPU's, or is encoded and kept. The report has hit rates, the time to\n"
        "the first token (TTFT) against a prefill of the whole prompt, bytes moved, and the\n"
        "memory of a batch whose prompts share modules. Times come from a formula with given\n"
        "numbers; nothing is measured.\n"
        "\n"
        "the schema, a file of PML (see `chunkproof prompt --help`):\n"
        "  SCHEMA.xml            its name\n"
        "  --tokens WHAT         what a token is: words (default) or bytes\n"
        "or a generated one:\n"
        "  --count N             modules (32)\n"
        "  --union N             every N consecutive modules are a union (0: no unions)\n"
        "  --least N, --most N   tokens of a module: at random from least to most (256, 2048)\n"
        "  --system N            tokens that every prompt has (64)\n"
        "  --param N             tokens of a param that each module has (0: none)\n"
        "  --print-schema        print it, and stop\n"
        "\n"
        "the prompts:\n"
        "  --prompts N           how many (1000)\n"
        "  --imports N           modules that are drawn for each (3)\n"
        "  --zipf X              module r of the schema is drawn with weight 1/r^X (1)\n"
        "  --new N               tokens of new text (64)\n"
        "  --seed N              another seed draws other prompts (1)\n"
        "\n",
        stdout);
    fputs(
        "the server:\n"
        "  --batch N             prompts that are served together: what they have taken is in use\n"
        "                        until all are done, and stays (8)\n"
        "  --gpu-memory X        GiB for modules in the GPU's memory (8)\n"
        "  --cpu-memory X        GiB for modules in the CPU's memory (64; 0: none)\n"
        "  --machine NAME|FILE   how long work takes: on a100 (default), rtx4090, or by a file\n"
        "                        (spec/simulate-machine.schema.json)\n"
        "  --print-machine       print that as such a file, and stop\n"
        "  --model NAME          as in `chunkproof tables` (llama-7b)\n"
        "  --parameters X        the model's weights, needed where `tables` does not know them\n"
        "  --layers N, --heads N, --kv-heads N, --head-dim N, --bytes N\n"
        "                        where your model differs from that; --bytes is of one number\n"
        "\n"
        "output:\n"
        "  --json FILE           also write the report to FILE\n"
        "                        (spec/simulate-modules-report.schema.json)\n"
        "  --events FILE         also write what happened to FILE: a line of JSON for each item\n"
        "                        of the cache and for each prompt\n"
        "  -h, --help            this text\n"
        "\n"
        "exit status:\n"
        "  0    simulated, whatever the figures are\n"
        "  1    a finding: the contents of a tier do not match its account\n"
        "  2    bad use, an error in a file, no memory, or output that cannot be written\n"
        "  130  interrupted with Ctrl-C; the report covers the prompts until then\n",
        stdout);
}

static int read_made(struct modules_made *made, int option, const char *name, const char *text) {
    switch (option) {
    case COUNT:
        return argument_int(COMMAND, name, text, 1, MODULES_MOST_COUNT, &made->count);
    case UNION:
        return argument_int(COMMAND, name, text, 0, MODULES_MOST_COUNT, &made->members);
    case LEAST:
        return argument_int(COMMAND, name, text, 1, MODULES_MOST_TOKENS, &made->least);
    case MOST:
        return argument_int(COMMAND, name, text, 1, MODULES_MOST_TOKENS, &made->most);
    case SYSTEM:
        return argument_int(COMMAND, name, text, 0, MODULES_MOST_TOKENS, &made->system);
    default:
        return argument_int(COMMAND, name, text, 0, MODULES_MOST_TOKENS, &made->param);
    }
}

static int read_load(struct modules_options *o, int option, const char *name, const char *text) {
    switch (option) {
    case GPU_MEMORY:
        return argument_number(COMMAND, name, text, 0.0, MODULES_MOST_GIB, &o->memory[0]);
    case CPU_MEMORY:
        return argument_number(COMMAND, name, text, 0.0, MODULES_MOST_GIB, &o->memory[1]);
    case BATCH:
        return argument_int(COMMAND, name, text, 1, MODULES_MOST_BATCH, &o->batch);
    case PROMPTS:
        return argument_int(COMMAND, name, text, 1, MODULES_MOST_PROMPTS, &o->prompts);
    case IMPORTS:
        return argument_int(COMMAND, name, text, 0, MODULES_MOST_IMPORTS, &o->imports);
    case NEW:
        return argument_int(COMMAND, name, text, 1, MODULES_MOST_NEW, &o->new);
    case ZIPF:
        return argument_number(COMMAND, name, text, 0.0, MODULES_MOST_ZIPF, &o->zipf);
    default:
        return argument_seed(COMMAND, text, LLONG_MAX, &o->seed);
    }
}

static int read_option(struct modules_options *o, struct cp_dims *given, int option,
                       const char *name, const char *text) {
    const struct cp_dims *known;
    static const char *const tokens[] = {"words", "bytes", NULL};
    switch (option) {
    case HELP:
        o->help = 1;
        return 0;
    case MACHINE:
        o->machine = text;
        return 0;
    case PRINT_MACHINE:
        o->print_machine = 1;
        return 0;
    case PRINT_SCHEMA:
        o->print_schema = 1;
        return 0;
    case TOKENS:
        return argument_name(COMMAND, name, text, tokens, &o->in_bytes);
    case JSON:
        o->json = text;
        return 0;
    case EVENTS:
        o->events = text;
        return 0;
    case MODEL:
        known = dims_read_model(COMMAND, text);
        o->model = known != NULL ? *known : o->model;
        return known != NULL ? 0 : -1;
    case '?': /* argument_next() said what is wrong */
        return -1;
    default:
        return option >= COUNT        ? read_made(&o->made, option, name, text)
               : option >= PARAMETERS ? dims_read_size(COMMAND, name, text, given)
                                      : read_load(o, option, name, text);
    }
}

static int check_model(const struct cp_dims *model) {
    if (dims_check(COMMAND, model) != 0) {
        return -1;
    }
    if (!(model->parameters > 0.0)) {
        return argument_refuse(COMMAND,
                               "how many weights %s has is not known; give --parameters, such as "
                               "7e9",
                               model->title);
    }
    return 0;
}

static int check_made(const struct modules_options *o, const char *last) {
    const struct modules_made *made = &o->made;
    long long positions = made->system + (long long)made->count * (made->most + made->param);
    if (o->schema != NULL && (last != NULL || o->print_schema)) {
        return argument_refuse(COMMAND,
                               "--%s applies only to a schema that is made up, not to SCHEMA.xml",
                               last != NULL ? last : "print-schema");
    }
    if (o->print_schema && o->print_machine) {
        return argument_refuse(COMMAND, "--print-schema and --print-machine each print a file and "
                                        "stop: give only one of them");
    }
    if (o->schema == NULL && o->in_bytes) {
        return argument_refuse(COMMAND, "--tokens bytes needs a SCHEMA.xml: a schema that is made "
                                        "up counts in words");
    }
    if (made->least > made->most) {
        return argument_refuse(COMMAND, "--least %d is above --most %d", made->least, made->most);
    }
    if (positions > CP_MAX_POSITIONS) {
        return argument_refuse(COMMAND,
                               "such a schema may have %lld positions, and %d is the most; give a "
                               "smaller --count or --most",
                               positions, CP_MAX_POSITIONS);
    }
    return 0;
}

/* The default settings. */
static void preset(struct modules_options *o) {
    *o = (struct modules_options){
        .made = {.count = 32, .least = 256, .most = 2048, .system = 64},
        .prompts = 1000,
        .batch = 8,
        .imports = 3,
        .new = 64,
        .zipf = 1.0,
        .seed = 1,
        .memory = {8.0, 64.0},
        .model = *cp_dims_find("llama-7b"),
    };
}

int modules_options_parse(struct modules_options *options, int argc, char **argv) {
    const char *last = NULL; /* that says how a schema is made up */
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
        last = option >= COUNT && option <= PARAM ? names[index].name : last;
    }
    if (options->help) {
        return 0;
    }
    if (argc - optind > 1) {
        return argument_refuse(COMMAND, "at most one SCHEMA.xml: '%s' is a second one",
                               argv[optind + 1]);
    }
    options->schema = argc > optind ? argv[optind] : NULL;
    cp_dims_resize(&options->model, &given);
    int is_preset = options->machine != NULL && modules_machine_find(options->machine) != NULL;
    const struct argument_file files[] = {{"SCHEMA.xml", options->schema, 0},
                                          {"--machine", is_preset ? NULL : options->machine, 0},
                                          {"--json", options->json, 1},
                                          {"--events", options->events, 1}};
    return check_made(options, last) != 0 || check_model(&options->model) != 0 ||
                   argument_distinct(COMMAND, files, sizeof files / sizeof files[0]) != 0
               ? -1
               : 0;
}

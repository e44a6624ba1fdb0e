/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getopt_long, getsubopt */

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chunkproof/limits.h"
#include "cli/base/argument.h"
#include "gate/gate.h"
#include "gate/judge/finding.h"

#define LEAST_SECONDS   0.001
#define MOST_SECONDS    86400.0 /* of a call, */
#define MOST_TIME       1e9     /* and of all */
#define EXPLAIN_SECONDS 60.0
#define COMPILE_SECONDS 600.0
#define MOST_CASES      1000000000LL
#define LEAST_GIB       1e-9
#define MOST_GIB        65536.0
#define MOST_JOBS       1024

enum option_value {
    KERNEL = 1000,
    ON,
    TIER,
    SEED,
    CASES,
    CASE,
    SECONDS,
    COMPILE,
    TIME,
    MEMORY,
    FIRST,
    RULES,
    SAVE,
    JSON,
    JUNIT,
    HTML,
    SHAPE,
    JOBS,
    STATE,
    SANDBOX,
    HELP
};

static const struct option names[] = {
    {"kernel", required_argument, NULL, KERNEL},
    {"on", required_argument, NULL, ON},
    {"tier", required_argument, NULL, TIER},
    {"seed", required_argument, NULL, SEED},
    {"cases", required_argument, NULL, CASES},
    {"case", required_argument, NULL, CASE},
    {"seconds", required_argument, NULL, SECONDS},
    {"compile", required_argument, NULL, COMPILE},
    {"time", required_argument, NULL, TIME},
    {"memory", required_argument, NULL, MEMORY},
    {"first", no_argument, NULL, FIRST},
    {"rules", no_argument, NULL, RULES}, /* of others */
    {"save", required_argument, NULL, SAVE},
    {"json", required_argument, NULL, JSON},
    {"junit", required_argument, NULL, JUNIT},
    {"html", required_argument, NULL, HTML},
    {"shape", required_argument, NULL, SHAPE},
    {"jobs", required_argument, NULL, JOBS},
    {"state", required_argument, NULL, STATE},
    {"sandbox", no_argument, NULL, SANDBOX},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

void gate_options_help(FILE *file) {
    fputs(
        "usage: chunkproof gate --kernel FILE [OPTION]...\n"
        "\n"
        "Decides whether an attention kernel computes attention. The kernel has the interface of\n"
        "<chunkproof/kernel.h>; or that of <chunkproof/merge_kernel.h>, and then the gate decides\n"
        "whether it merges results (spec/merging.md). It runs in a process of its own, on\n"
        "problems made from a seed. Each of its results must be within the certified tolerance\n"
        "of the arithmetic that it declares (spec/tolerance.md).\n"
        "\n"
        "the kernel:\n"
        "  --kernel FILE         a shared object; a source in C (*.c, compiled by $CC with -O2 or\n"
        "                        $CFLAGS); or a source in CUDA (*.cu, compiled by nvcc, for the\n"
        "                        executor by $CXX with -O2 or $CXXFLAGS)\n"
        "  --on gpu|executor     where a CUDA source (*.cu) runs: on a GPU, or on the CPU, on an\n"
        "                        executor that also detects races (a GPU if there is one)\n"
        "\n"
        "the cases:\n"
        "  --tier TIER           quick (default), full or deep: more cases, and larger ones:\n"
        "                        ",
        file);
    for (enum gate_tier tier = GATE_QUICK; tier < GATE_TIERS; tier++) {
        struct gate_options of_tier = {.tier = tier};
        fprintf(file, "%lld%s", gate_cases(&of_tier), tier + 1 < GATE_TIERS ? ", " : " cases\n");
    }
    fputs(
        "  --seed N              another seed gives other cases; equal seeds give equal cases (1)\n"
        "  --cases N             how many cases, instead of the tier's number\n"
        "  --case I              only case I\n"
        "  --shape h=32,h_kv=8,d=128,c=16,group=4,b=64,rows=128,keys=4096,window=128,d_v=64\n"
        "                        only these sizes; each may be left out. group: h / h_kv; b:\n"
        "                        sequences; rows: query rows of each; keys: of the longest;\n"
        "                        window: its keys, or no window; d_v: of values, where a kernel\n"
        "                        declares that they have another width\n"
        "  --first               stop at the first finding\n"
        "  --rules               also say what other acceptance rules make of the results\n"
        "\n"
        "limits:\n"
        "  --jobs N              kernel processes at once (1; for tier deep one per processor)\n"
        "  --seconds X           for one call (10; on the executor 100)\n"
        "  --compile X           seconds for the compiler of a source (600)\n"
        "  --time X              seconds for all cases; no verdict if too few are done by then\n"
        "  --memory X            GiB for all cases that run at once, not counting what the kernel\n"
        "                        allocates itself (4)\n"
        "  --sandbox             no verdict without the sandbox: no network, no other processes\n"
        "                        (without the option: where the system has it)\n"
        "\n"
        "output:\n"
        "  --state FILE          save progress to FILE every few seconds; the same command\n"
        "                        continues from there\n"
        "  --save DIRECTORY      keep the smallest case of each kind of finding in DIRECTORY, for\n"
        "                        `chunkproof replay` and `chunkproof explain`\n"
        "  --json FILE           also write the report to FILE (spec/gate-report.schema.json, or\n"
        "                        gate-merging-report.schema.json)\n"
        "  --junit FILE          also write JUnit XML, one test case for each kind of values\n"
        "  --html FILE           also write a page; of attention with plots, and the tree of each\n"
        "                        smallest case\n"
        "\n"
        "Where an option is given twice, the last one counts, so that a script can put its own\n"
        "before its user's.\n"
        "\n"
        "exit status:\n"
        "  0    right: nothing was found in all cases, or in 400 when --time left some out\n"
        "  1    wrong: each kind of finding is printed with its smallest case\n"
        "  2    bad use, or no verdict: the kernel cannot be loaded, takes no case, or declares "
        "so\n"
        "       little that too many of its numbers have an infinite bound; or --time left too "
        "few\n"
        "  130  interrupted (Ctrl-C, SIGTERM, SIGHUP), after printing the results so far; nothing "
        "wrong was\n"
        "       found\n",
        file);
}

/* As the command that was called. */
static int read_size(const struct gate_options *o, const char *name, const char *text, int most,
                     int *size) {
    long long n = 0;
    char option[32];
    if (text == NULL) {
        return argument_refuse(o->command, "--shape: %s has no number: %s=N", name, name);
    }
    (void)snprintf(option, sizeof option, "shape %s", name);
    if (argument_whole(o->command, option, text, 1, most, &n) != 0) {
        return -1;
    }
    *size = (int)n;
    return 0;
}

/* Do the sizes go together? */
static int check_shape(const struct gate_options *o, const struct gate_shape *s) {
    if (s->n_heads > 0 && s->n_kv_heads > 0 && s->n_heads % s->n_kv_heads != 0) {
        return argument_refuse(
            o->command, "--shape: h must be a multiple of h_kv, but %d is not a multiple of %d",
            s->n_heads, s->n_kv_heads);
    }
    if (s->n_heads > 0 && s->group > 0 &&
        (s->n_heads % s->group != 0 ||
         (s->n_kv_heads > 0 && s->n_heads != s->n_kv_heads * s->group))) {
        return argument_refuse(o->command,
                               "--shape: h must be group times h_kv, but %d is not for group %d",
                               s->n_heads, s->group);
    }
    if (s->chunk_size > 0 && s->keys > s->chunk_size * CP_MAX_DEPTH) {
        return argument_refuse(o->command, "--shape: a path has at most %d chunks: %d keys of c %d",
                               CP_MAX_DEPTH, s->chunk_size * CP_MAX_DEPTH, s->chunk_size);
    }
    if (s->n_kv_heads * s->group > 1024) {
        return argument_refuse(o->command, "--shape: h is at most 1024, not %d",
                               s->n_kv_heads * s->group);
    }
    return 0;
}

/* Cut at the commas: a copy. */
static int read_shape(const struct gate_options *o, const char *text, struct gate_shape *shape) {
    static char h[] = "h", h_kv[] = "h_kv", d[] = "d", c[] = "c";
    static char group[] = "group", b[] = "b", rows[] = "rows", keys[] = "keys";
    static char window[] = "window", d_v[] = "d_v";
    char *const sizes[] = {h, h_kv, d, c, group, b, rows, keys, window, d_v, NULL};
    const int most[] = {1024,           1024,
                        4096,           CP_MAX_CHUNK_SIZE,
                        1024,           GATE_MOST_SEQUENCES,
                        GATE_MOST_ROWS, CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE,
                        GATE_MOST_SPAN, 4096};
    int *const to[] = {&shape->n_heads, &shape->n_kv_heads, &shape->head_dim, &shape->chunk_size,
                       &shape->group,   &shape->sequences,  &shape->rows,     &shape->keys,
                       &shape->window,  &shape->value_dim};
    char copy[128], *rest = copy, *value;
    size_t length = strlen(text);
    if (length >= sizeof copy) {
        return argument_refuse(o->command, "--shape is too long");
    }
    if (length == 0 || text[length - 1] == ',') {
        return argument_refuse(
            o->command, "--shape: a size is missing at the end of '%s', as in h=32,h_kv=8", text);
    }
    memcpy(copy, text, length + 1);
    while (*rest != '\0') {
        int which = getsubopt(&rest, sizes, &value);
        if (which < 0) {
            return argument_refuse(
                o->command,
                "--shape: unknown size '%s'; the sizes are h, h_kv, d, c, group, b, rows, keys, "
                "window and d_v, as in h=32,h_kv=8",
                value);
        }
        if (read_size(o, sizes[which], value, most[which], to[which]) != 0) {
            return -1;
        }
    }
    return check_shape(o, shape);
}

/* Where the text of an option is kept as it is; NULL: that option's text is read. */
static const char **text_of(struct gate_options *o, int option) {
    switch (option) {
    case KERNEL:
        return &o->kernel;
    case SAVE:
        return &o->save;
    case JSON:
        return &o->json;
    case JUNIT:
        return &o->junit;
    case HTML:
        return &o->html;
    case STATE:
        return &o->state;
    default:
        return NULL;
    }
}

/* What an option without a text sets to 1; NULL: that option has a text. */
static int *flag_of(struct gate_options *o, int option) {
    return option == FIRST     ? &o->first
           : option == RULES   ? &o->rules
           : option == SANDBOX ? &o->sandbox
           : option == HELP    ? &o->help
                               : NULL;
}

static int read_place(struct gate_options *o, const char *text) {
    static const char *const places[] = {"gpu", "executor", NULL};
    int index = 0;
    if (argument_name(o->command, "on", text, places, &index) != 0) {
        return -1;
    }
    o->place = index == 0 ? GATE_ON_GPU : GATE_ON_EXECUTOR;
    return 0;
}

static int read_tier(struct gate_options *o, const char *text) {
    int index = 0;
    if (argument_name(o->command, "tier", text, gate_tier_names, &index) != 0) {
        return -1;
    }
    o->tier = (enum gate_tier)index;
    return 0;
}

static int read_memory(struct gate_options *o, const char *text) {
    double gib = 0.0;
    if (argument_number(o->command, "memory", text, LEAST_GIB, MOST_GIB, &gib) != 0) {
        return -1;
    }
    o->memory = gib * 0x1p30;
    return 0;
}

/* An option whose text is read. */
static int read_text(struct gate_options *o, int option, const char *text) {
    const char *command = o->command;
    switch (option) {
    case ON:
        return read_place(o, text);
    case TIER:
        return read_tier(o, text);
    case SEED:
        return argument_seed(command, text, ULLONG_MAX, &o->seed);
    case CASES:
        return argument_whole(command, "cases", text, 1, MOST_CASES, &o->cases);
    case CASE:
        return argument_whole(command, "case", text, 0, MOST_CASES - 1, &o->only);
    case SECONDS:
        return argument_number(command, "seconds", text, LEAST_SECONDS, MOST_SECONDS, &o->seconds);
    case COMPILE:
        return argument_number(command, "compile", text, LEAST_SECONDS, MOST_SECONDS, &o->compile);
    case TIME:
        return argument_number(command, "time", text, LEAST_SECONDS, MOST_TIME, &o->time);
    case MEMORY:
        return read_memory(o, text);
    case SHAPE:
        return read_shape(o, text, &o->shape);
    case JOBS:
        return argument_int(command, "jobs", text, 1, MOST_JOBS, &o->jobs);
    default: /* getopt_long() said what is wrong */
        fprintf(stderr, "see `chunkproof %s --help`\n", command);
        return -1;
    }
}

static int read_option(struct gate_options *o, int option, const char *text) {
    const char **kept = text_of(o, option);
    int *flag = flag_of(o, option);
    if (kept != NULL) {
        *kept = text;
    } else if (flag != NULL) {
        *flag = 1;
    } else {
        return read_text(o, option, text);
    }
    return 0;
}

/* No two options name one file: not by a link, and not by a name that --save or --state makes. */
static int check_files(const struct gate_options *o) {
    enum { NAMED = 5, STATES = 2 };
    struct argument_file files[NAMED + STATES + GATE_VERDICTS] = {{"--kernel", o->kernel, 0},
                                                                  {"--json", o->json, 1},
                                                                  {"--junit", o->junit, 1},
                                                                  {"--html", o->html, 1},
                                                                  {"--state", o->state, 1}};
    static const char *const ends[STATES] = {".new", ".old"};
    char made[STATES + GATE_VERDICTS][4096];
    int n = NAMED, n_made = 0;
    for (int i = 0; o->state != NULL && i < STATES; i++, n++, n_made++) {
        (void)snprintf(made[n_made], sizeof made[0], "%s%s", o->state, ends[i]);
        files[n] = (struct argument_file){"--state", made[n_made], 1};
    }
    for (int i = GATE_RIGHT; o->save != NULL && i < GATE_VERDICTS; i++, n++, n_made++) {
        (void)snprintf(made[n_made], sizeof made[0], "%s/%s.json", o->save, gate_verdict_names[i]);
        files[n] = (struct argument_file){"--save", made[n_made], 1};
    }
    return argument_distinct(o->command, files, n);
}

int gate_options_parse(struct gate_options *o, int argc, char **argv) {
    static char program[] = "chunkproof gate"; /* as getopt_long() calls it */
    int option;
    argv[0] = program;
    *o = (struct gate_options){.command = "gate",
                               .tier = GATE_QUICK,
                               .seed = 1,
                               .only = -1,
                               .compile = COMPILE_SECONDS,
                               .memory = GATE_MEMORY};
    optind = 0; /* the command line may have been read before */
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (read_option(o, option, optarg) != 0) {
            return -1;
        }
    }
    if (optind < argc) {
        return argument_refuse(o->command,
                               "unexpected argument '%s'; a kernel is given with --kernel %s",
                               argv[optind], argv[optind]);
    }
    if (!o->help && o->kernel == NULL) {
        return argument_refuse(o->command,
                               "--kernel FILE is missing: the shared object, or source, to check");
    }
    if (o->state != NULL && (o->only >= 0 || o->rules || o->first)) {
        return argument_refuse(
            o->command,
            "--state saves the progress of all cases: leave out --case, --first and --rules");
    }
    if (o->jobs == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        o->jobs = o->tier == GATE_DEEP && processors > 1 ? (int)processors : 1;
    }
    if (o->only >= 0 && o->cases > 0) {
        return argument_refuse(o->command,
                               "give only one of --case (one case) and --cases (how many)");
    }
    return check_files(o);
}

/* ---- chunkproof replay, chunkproof explain ---- */

static const char of_replay[] =
    "Runs cases that `chunkproof gate --save` kept, on the same kernel or another one. Says\n"
    "which of them are wrong, and how. `chunkproof explain` says why.\n";

static const char of_explain[] = "Runs cases that `chunkproof gate --save` kept, draws their "
                                 "sequences, and says where results are wrong\n"
                                 "and which mistakes would give them: of each mistake how many "
                                 "wrong numbers it gives, in the case and in\n"
                                 "a few cases like it, which explain runs as well; which wider "
                                 "declaration would make the results right;\n"
                                 "which bytes outside of the keys matter. The mistake that gives "
                                 "the most numbers comes first. Try\n"
                                 "several cases of a kernel; some tell more. Of a kernel that "
                                 "merges, it says what the wrong rows and\n"
                                 "heads have in common, and the right ones have not.\n";

static const char replay_options[] =
    "A case is described by how it is made: its values; its sizes (h, h_kv, d, c); what is\n"
    "done to the tree (operations: joins, appends, leaves, forks); how many query rows there\n"
    "are; unusual strides; and whether it runs again with other numbers in the same memory.\n"
    "\n"
    "CASES is a file of `chunkproof gate --save`, or a file with a case on each line, each named\n"
    "FILE:LINE in what is printed. A file with a line that is no case is refused as a whole.\n"
    "\n"
    "  --kernel FILE         a shared object, or a source, as for `chunkproof gate`\n"
    "  --on gpu|executor     where a kernel in device memory runs\n"
    "  --seconds X           for one call (10; on the executor 100)\n"
    "  --compile X           seconds for the compiler of a source (600)\n"
    "  --memory X            GiB for a case (4)\n"
    "  --sandbox             only in the sandbox, as for `chunkproof gate`\n";

void gate_replay_help(FILE *file, int explains) {
    fprintf(
        file,
        "usage: chunkproof %s CASES... --kernel FILE [OPTION]...\n"
        "\n"
        "%s%s%s"
        "\n"
        "Of an option that is given twice the last one counts.\n"
        "\n"
        "exit status: 0 right, 1 wrong, 2 bad use, or no verdict: no case is taken and judged%s\n",
        explains ? "explain" : "replay", explains ? of_explain : of_replay, replay_options,
        explains ? "  --time X              seconds for each case (60); what was not tried by "
                   "then is named\n"
                 : "",
        explains ? ",\n130 interrupted with Ctrl-C, after printing what was found so far" : "");
}

int gate_replay_parse(struct gate_options *o, int argc, char **argv) {
    static const struct option replay_names[] = {
        {"time", required_argument, NULL, TIME}, /* of explain */
        {"kernel", required_argument, NULL, KERNEL},
        {"on", required_argument, NULL, ON},
        {"seconds", required_argument, NULL, SECONDS},
        {"compile", required_argument, NULL, COMPILE},
        {"memory", required_argument, NULL, MEMORY},
        {"sandbox", no_argument, NULL, SANDBOX},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0}};
    static char replay[] = "chunkproof replay", explain[] = "chunkproof explain";
    int option, explains = strcmp(argv[0], "explain") == 0;
    const char *command = explains ? "explain" : "replay";
    argv[0] = explains ? explain : replay; /* as getopt_long() calls it */
    *o = (struct gate_options){.command = command,
                               .only = -1,
                               .compile = COMPILE_SECONDS,
                               .memory = GATE_MEMORY,
                               .time = EXPLAIN_SECONDS};
    optind = 0; /* the command line may have been read before */
    while ((option = getopt_long(argc, argv, "", replay_names + !explains, NULL)) != -1) {
        if (read_option(o, option, optarg) != 0) {
            return -1;
        }
    }
    if (!o->help && (optind >= argc || o->kernel == NULL)) {
        fprintf(stderr,
                "chunkproof %s: give a case and a kernel: chunkproof %s CASE.json --kernel FILE\n",
                command, command);
        return -1;
    }
    o->replay = argv + optind;
    o->n_replay = argc - optind;
    return 0;
}

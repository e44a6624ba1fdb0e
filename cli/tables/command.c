/* SPDX-License-Identifier: Apache-2.0 */
/* chunkproof tables: options and sections. */
#include "cli/tables/tables.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/argument.h"
#include "cli/base/command.h"
#include "cli/base/output.h"
#include "cli/tables/dims.h"

static const char usage[] =
    "Usage: chunkproof tables [OPTION...] [SECTION...]\n"
    "Recomputes the analytical tables of the papers and marks each published number that does\n"
    "not follow from the formulas. Without a SECTION it prints all of them.\n"
    "\n"
    "Sections\n"
    "  prefill      FLOPs, bytes and intensity of a prompt (ICLR Tables 1, 2)\n"
    "  decode       the same for one token of each sequence (ICLR Table 3, ACL Table 1)\n"
    "  kernel-mops  memory operations of the kernels (ICLR Appendix B)\n"
    "  capacity     how many more sequences fit when prefixes are shared (ACL 3.1, Table 4)\n"
    "  kv-bytes     KV bytes per token of the models that the papers name\n"
    "  ratios       speed-ups that ACL quotes from its own measurements\n"
    "  prompt-cache every number of the Prompt Cache paper with the relative difference, and what\n"
    "               its gain comes from\n"
    "  errors       every number that does not follow, with the reason where it is known\n"
    "\n"
    "Your own model (for kv-bytes, capacity); --model gives what the other options do not\n"
    "  --model NAME        a known model (default llama-7b)\n"
    "  --layers N, --heads N, --head-dim N\n"
    "  --kv-heads N        default: as many as heads, unless the model has fewer\n"
    "  --bytes N           bytes of one number (2 for FP16)\n"
    "Your own load (for capacity)\n"
    "  --batch N           sequences, b (default 32)\n"
    "  --prompt N          prompt tokens, n_p (default 2048)\n"
    "  --shared N          how many of these are shared, n_s (default 1024)\n"
    "  --completion N      completion tokens, n_c (default 512)\n"
    "  --chunk-size N      tokens in a chunk, c (default 64)\n"
    "\n"
    "  --json              print everything as one JSON object\n"
    "  --csv               print the cells as comma-separated values\n"
    "  --help              this text\n"
    "\n"
    "Exit status: 0, whatever the tables show; 2 for bad use.\n";

#define OPTION_JSON  1000
#define OPTION_CSV   1001
#define OPTION_HELP  1002
#define OPTION_MODEL 1003

/* Options that take a number have their index as value. */
#define LAYERS     0
#define HEADS      1
#define KV_HEADS   2
#define HEAD_DIM   3
#define BYTES      4
#define BATCH      5 /* from here on they describe a load, before it a model */
#define PROMPT     6
#define SHARED     7
#define COMPLETION 8
#define CHUNK_SIZE 9
#define NUMBERS    10
#define LARGEST    1000000
#define NOT_GIVEN  (-1)

static const struct option options[] = {
    {"layers", required_argument, NULL, LAYERS},
    {"heads", required_argument, NULL, HEADS},
    {"kv-heads", required_argument, NULL, KV_HEADS},
    {"head-dim", required_argument, NULL, HEAD_DIM},
    {"bytes", required_argument, NULL, BYTES},
    {"batch", required_argument, NULL, BATCH},
    {"prompt", required_argument, NULL, PROMPT},
    {"shared", required_argument, NULL, SHARED},
    {"completion", required_argument, NULL, COMPLETION},
    {"chunk-size", required_argument, NULL, CHUNK_SIZE},
    {"model", required_argument, NULL, OPTION_MODEL},
    {"json", no_argument, NULL, OPTION_JSON},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const int least[NUMBERS] = {1, 1, 1, 1, 1, 1, 1, 0, 0, 1};

struct request {
    const struct cp_dims *model; /* NULL: none named */
    int number[NUMBERS];
    int selected[CP_SECTIONS];
    int json;
    int csv;
    int help;
};

static int bad_number(const char *name, const char *text, int smallest) {
    fprintf(stderr, "chunkproof tables: --%s %s: give a whole number from %d to %d\n", name, text,
            smallest, LARGEST);
    return EXIT_BAD_USE;
}

static int read_number(struct request *request, int i, const char *text) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least[i] || value > LARGEST) {
        return bad_number(options[i].name, text, least[i]);
    }
    request->number[i] = (int)value;
    return 0;
}

static int read_options(struct request *request, int argc, char **argv) {
    int option, failed = 0;
    if (argument_once("tables", argc, argv, "h", options, NULL) != 0) {
        return EXIT_BAD_USE;
    }
    while (failed == 0 &&
           (option = argument_next("tables", argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case OPTION_JSON:
            request->json = 1;
            break;
        case OPTION_CSV:
            request->csv = 1;
            break;
        case 'h':
        case OPTION_HELP:
            request->help = 1;
            break;
        case OPTION_MODEL:
            request->model = dims_read_model("tables", optarg);
            failed = request->model != NULL ? 0 : EXIT_BAD_USE;
            break;
        case '?':
            failed = EXIT_BAD_USE;
            break;
        default:
            failed = read_number(request, option, optarg);
        }
    }
    return failed;
}

static int read_sections(struct request *request, int n, char **name) {
    for (int section = 0; n == 0 && section < CP_SECTIONS; section++) {
        request->selected[section] = 1;
    }
    for (int i = 0; i < n; i++) {
        int section = 0;
        while (section < CP_SECTIONS && strcmp(name[i], cp_section_name(section)) != 0) {
            section++;
        }
        if (section == CP_SECTIONS) {
            fprintf(stderr, "chunkproof tables: no section is called %s; there are", name[i]);
            for (section = 0; section < CP_SECTIONS; section++) {
                fprintf(stderr, "%s %s", section > 0 ? "," : "", cp_section_name(section));
            }
            fputs("\n", stderr);
            return EXIT_BAD_USE;
        }
        request->selected[section] = 1;
    }
    return 0;
}

/* The number given, or the default. */
static int number(const struct request *request, int i, int otherwise) {
    return request->number[i] == NOT_GIVEN ? otherwise : request->number[i];
}

/* How many of the numbers from `from` up to, not with, `to` were given. */
static int given(const struct request *request, int from, int to) {
    int n = 0;
    for (int i = from; i < to; i++) {
        n += request->number[i] != NOT_GIVEN;
    }
    return n;
}

static struct cp_case make_case(const struct request *request) {
    const struct cp_dims *base = request->model != NULL ? request->model : cp_dims_find("llama-7b");
    int heads = number(request, HEADS, base->heads);
    int kv_heads = base->kv_heads == base->heads ? heads : base->kv_heads;
    struct cp_case c = {
        .is_custom = given(request, LAYERS, BATCH) > 0,
        .has_load = given(request, BATCH, NUMBERS) > 0,
        .dims = *base,
        .batch = number(request, BATCH, 32),
        .prompt = number(request, PROMPT, 2048),
        .shared = number(request, SHARED, 1024),
        .completion = number(request, COMPLETION, 512),
        .chunk_size = number(request, CHUNK_SIZE, 64),
    };
    c.has_model = c.is_custom || request->model != NULL;
    if (c.is_custom) {
        c.dims.name = c.dims.title = "yours";
    }
    c.dims.layers = number(request, LAYERS, base->layers);
    c.dims.heads = heads;
    c.dims.kv_heads = number(request, KV_HEADS, kv_heads);
    c.dims.head_dim = number(request, HEAD_DIM, base->head_dim);
    c.dims.number_bytes = number(request, BYTES, base->number_bytes);
    return c;
}

static int check(const struct request *request, const struct cp_case *c) {
    const char *wrong = cp_case_check(c);
    int of_use = request->selected[CP_SECTION_CAPACITY] ||
                 (request->selected[CP_SECTION_KV_BYTES] && !c->has_load);
    if (wrong == NULL && request->json && request->csv) {
        wrong = "--json and --csv exclude each other";
    }
    if (wrong == NULL && (c->has_model || c->has_load) && request->csv) {
        wrong = "--csv has only published cells; use --json for a case of your own";
    }
    if (wrong == NULL && (c->has_model || c->has_load) && !of_use) {
        wrong = "options of a model apply only to the sections kv-bytes and capacity, those of a "
                "load only to capacity";
    }
    if (wrong == NULL) {
        return 0;
    }
    fprintf(stderr, "chunkproof tables: %s\n", wrong);
    return EXIT_BAD_USE;
}

int cp_command_tables(int argc, char **argv) {
    struct request request = {0};
    for (int i = 0; i < NUMBERS; i++) {
        request.number[i] = NOT_GIVEN;
    }
    int failed = read_options(&request, argc, argv);
    if (failed == 0 && request.help) {
        fputs(usage, stdout);
        return output_end(stdout, "tables") == 0 ? EXIT_RIGHT : EXIT_BAD_USE;
    }
    if (failed == 0) {
        failed = read_sections(&request, argc - optind, argv + optind);
    }
    struct cp_case c = make_case(&request);
    if (failed == 0) {
        failed = check(&request, &c);
    }
    if (failed != 0) {
        return failed;
    }

    struct cp_cells cells;
    cp_cells_build(&cells);
    if (request.json) {
        failed = cp_tables_print_json(stdout, &cells, request.selected, &c);
    } else if (request.csv) {
        cp_tables_print_csv(stdout, &cells, request.selected);
    } else {
        cp_tables_print_text(stdout, &cells, request.selected, &c);
    }
    free(cells.cell);
    if (failed != 0 && !ferror(stdout)) {
        fputs("chunkproof tables: not enough memory for the report\n", stderr);
    }
    return output_end(stdout, "tables") == 0 && failed == 0 ? EXIT_RIGHT : EXIT_BAD_USE;
}

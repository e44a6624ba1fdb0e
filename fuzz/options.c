/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* The command lines of trace, simulate, bench, show, prompt, bound, model, gate and replay: the
 * first line of an input names the command (`simulate --modules` is "--modules" here), each further
 * line is an argument. No crash, no leak; a
 * refusal says why; what is accepted is in its ranges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "chunkproof/opt.h"
#include "cli/base/command.h"
#include "cli/bench/options.h"
#include "cli/bound/bound.h"
#include "cli/model/options.h"
#include "cli/modules/options.h"
#include "cli/prompt/options.h"
#include "cli/show/options.h"
#include "cli/show/show.h"
#include "cli/simulate/options.h"
#include "cli/trace/options.h"
#include "fuzz/target.h"
#include "gate/gate.h"

#define MOST_ARGUMENTS 32
#define MOST_BYTES     2048

static int is_within(long long x, long long least, long long most) {
    return least <= x && x <= most;
}

/* Each returns -1 when it refuses the line, else whether what it has read is in its ranges. */

static int read_trace(int argc, char **argv) {
    struct trace_options o;
    if (trace_options_parse(&o, argc, argv) != 0) {
        return -1;
    }
    return is_within(o.block_size, 1, CP_MAX_CHUNK_SIZE) && o.settings.ms_per_token >= 1 &&
           is_within(o.settings.capacity, 0, CP_MAX_CHUNKS) &&
           is_within(o.settings.hash_bits, 0, 64) && is_within(o.settings.opt, 0, 1) &&
           is_within(o.settings.check, TRACE_CHECK_NONE, TRACE_CHECK_EVERY) &&
           o.generator.requests >= 1 && is_within(o.generator.gap, 0, 1LL << 32) &&
           o.generator.prompts >= 1 && o.generator.prompt_tokens >= 0 &&
           o.generator.question_tokens >= 0 && o.generator.output_tokens >= 0 &&
           is_within(o.generator.continue_percent, 0, 100);
}

static int check_rates(const struct simulate_options *o) {
    for (int i = 0; i < o->n_rates; i++) {
        if (!(o->rate[i] >= SIMULATE_LEAST_RATE && o->rate[i] <= SIMULATE_MOST_RATE)) {
            return 0;
        }
    }
    return is_within(o->n_rates, 1, SIMULATE_RATES);
}

static int read_simulate(int argc, char **argv) {
    struct simulate_options o;
    if (simulate_options_parse(&o, argc, argv) != 0) {
        return -1;
    }
    const struct cp_dims *model = &o.settings.model;
    return o.help ||
           (is_within(o.block, 1, CP_MAX_CHUNK_SIZE) && o.speed > 0.0 && isfinite(o.speed) &&
            check_rates(&o) && is_within(o.poisson.requests, 1, SIMULATE_MOST_REQUESTS) &&
            is_within(o.poisson.prompt, 0, SIMULATE_MOST_TOKENS) &&
            is_within(o.poisson.shared, 0, o.poisson.prompt) &&
            is_within(o.poisson.completion, 1, SIMULATE_MOST_TOKENS) &&
            is_within(o.settings.batch, 1, CP_MAX_SEQUENCES) &&
            is_within(o.settings.chunk, 1, CP_MAX_CHUNK_SIZE) &&
            is_within(o.settings.capacity, o.memory > 0.0, (long long)1e18) && model->layers >= 1 &&
            model->head_dim >= 1 && model->kv_heads >= 1 && model->heads % model->kv_heads == 0 &&
            is_within(model->number_bytes, 1, 16) && !(o.table4 && o.file != NULL));
}

static int read_modules(int argc, char **argv) {
    struct modules_options o;
    if (modules_options_parse(&o, argc, argv) != 0) {
        return -1;
    }
    const struct modules_made *made = &o.made;
    const struct cp_dims *model = &o.model;
    return o.help ||
           (is_within(o.prompts, 1, MODULES_MOST_PROMPTS) &&
            is_within(o.batch, 1, MODULES_MOST_BATCH) &&
            is_within(o.imports, 0, MODULES_MOST_IMPORTS) &&
            is_within(o.new, 1, MODULES_MOST_NEW) && o.zipf >= 0.0 && o.zipf <= MODULES_MOST_ZIPF &&
            o.memory[0] >= 0.0 && o.memory[0] <= MODULES_MOST_GIB && o.memory[1] >= 0.0 &&
            o.memory[1] <= MODULES_MOST_GIB && is_within(made->least, 1, made->most) &&
            made->system + (long long)made->count * (made->most + made->param) <=
                CP_MAX_POSITIONS &&
            model->parameters >= 1.0 && model->heads % model->kv_heads == 0 &&
            !(o.schema != NULL && o.print_schema) && !(o.print_machine && o.print_schema));
}

static int read_bench(int argc, char **argv) {
    struct bench_options o;
    if (bench_options_parse(&o, argc, argv) != 0) {
        return -1;
    }
    unsigned attention = (1U << BENCH_ATTENTION) - 1;
    return o.parts > 0 && o.parts < 1U << BENCH_PARTS && o.seconds >= 0.0 &&
           o.seconds <= BENCH_MOST_SECONDS && is_within(o.threads, 0, CP_OPT_MOST_THREADS) &&
           is_within(o.version, CP_OPT_BEST, CP_OPT_LAST) &&
           is_within(o.heads, 8, BENCH_MOST_HEADS) && o.heads % 8 == 0 && o.memory >= 0.0 &&
           o.memory <= BENCH_MOST_GIB && is_within(o.n_peers, 0, PEER_MOST) &&
           (o.cost == NULL || (o.parts & attention) != 0);
}

static int read_show(int argc, char **argv) {
    struct show_options o;
    if (show_read_options(&o, argc, argv) != EXIT_RIGHT) {
        return -1;
    }
    int sources = (o.n_prompts > 0) + (o.script != NULL) + (o.example != NULL);
    return o.help ||
           (is_within(o.chunk_size, 0, SHOW_MAX_CHUNK_SIZE) &&
            is_within(o.capacity, 0, SHOW_MAX_CHUNKS) && is_within(o.width, 60, 1000) &&
            is_within(o.window, 0, SHOW_MAX_WINDOW) && is_within(o.ahead, 0, SHOW_MAX_WINDOW) &&
            is_within(o.kept, 0, o.window > 0 ? SHOW_MAX_WINDOW : 0) &&
            is_within(o.rows, 0, SHOW_MAX_ROWS) && is_within(o.page_size, 0, SHOW_MAX_PAGE) &&
            sources == 1 && (o.example == NULL || show_example(o.example) != NULL));
}

static int read_bound(int argc, char **argv) {
    struct bound_options o;
    if (bound_options_parse(&o, argc, argv) != 0) {
        return -1;
    }
    return is_within(o.keys, 1, BOUND_MOST_KEYS) && is_within(o.head_dim, 1, BOUND_MOST_DIM) &&
           is_within(o.value_dim, 0, BOUND_MOST_DIM) && is_within(o.chunk, 1, BOUND_MOST_KEYS) &&
           is_within(o.family, 0, BOUND_FAMILIES - 1) && is_within(o.score, 0, SCORE_KINDS - 1) &&
           is_within(o.accumulate, 0, ACCUMULATE_KINDS - 1) &&
           is_within(o.score_promotes, 0, BOUND_MOST_SHORT) &&
           is_within(o.accumulate_promotes, 0, BOUND_MOST_SHORT) &&
           is_within(o.merges, 0, MERGES_KINDS - 1) && isfinite(o.exp_error) &&
           o.exp_error >= 0.0 && isfinite(o.slope) && isfinite(o.sink) && o.cap >= 0.0 &&
           isfinite(o.cap) && o.bias >= 0.0 && isfinite(o.bias) && o.divide_error >= 0.0 &&
           o.divide_error <= 0x1p-6 && o.epsilon >= 0.0 && o.epsilon <= 0x1p-6 &&
           is_within(o.factors, 0, CP_FACTORS_BF16) && o.k_scale >= 0.0 && isfinite(o.k_scale) &&
           o.v_scale >= 0.0 && isfinite(o.v_scale) && is_within(o.n_parts, 0, BOUND_MOST_PARTS) &&
           is_within(o.part_keys, 0, BOUND_MOST_PARTS) && !(o.has_slope && o.has_bias && !o.help) &&
           (o.help || ((long long)o.keys * o.head_dim <= BOUND_MOST_NUMBERS &&
                       (long long)o.keys * o.value_dim <= BOUND_MOST_NUMBERS));
}

static int read_model(int argc, char **argv) {
    struct model_options o;
    if (model_options_parse(&o, argc, argv) != 0) {
        return -1;
    }
    return is_within(o.window, 2, MODEL_MOST_TOKENS) &&
           is_within(o.generate, 0, MODEL_MOST_TOKENS) && o.limit >= 0 &&
           is_within(o.threads, 1, MODEL_MOST_THREADS) &&
           (o.help || (o.file != NULL && !(o.tokens && (o.generate > 0 || o.is_fast))));
}

static int read_prompt(int argc, char **argv) {
    struct prompt_options o;
    if (prompt_read_options(&o, argc, argv) != 0) {
        return -1;
    }
    return is_within(o.tokens, -1, 1) && o.answer >= 0 && is_within(o.template, 0, 2) &&
           (o.help || (o.schema != NULL && o.n_prompts >= 0 && !(o.json && o.svg)));
}

static int check_gate(const struct gate_options *o) {
    return is_within(o->tier, 0, GATE_TIERS - 1) && o->cases >= 0 && o->only >= -1 &&
           o->seconds >= 0.0 && o->seconds <= 86400.0 && o->time >= 0.0 && o->memory > 0.0 &&
           o->only < 1000000000 && o->cases <= 1000000000 &&
           (o->help || (o->compile > 0.0 && o->compile <= 86400.0)) &&
           (o->help || o->kernel != NULL);
}

static int read_gate(int argc, char **argv) {
    struct gate_options o;
    return gate_options_parse(&o, argc, argv) != 0 ? -1 : check_gate(&o);
}

static int read_replay(int argc, char **argv) {
    struct gate_options o;
    if (gate_replay_parse(&o, argc, argv) != 0) {
        return -1;
    }
    return check_gate(&o) && (o.help || o.n_replay > 0);
}

static const struct command {
    const char *name;
    int (*read)(int argc, char **argv);
} commands[] = {{"trace", read_trace},      {"simulate", read_simulate}, {"bench", read_bench},
                {"show", read_show},        {"bound", read_bound},       {"gate", read_gate},
                {"replay", read_replay},    {"model", read_model},       {"prompt", read_prompt},
                {"--modules", read_modules}};

/* The lines of a text, in place. */
static int split(char *text, char **argv) {
    int argc = 0;
    for (char *line = text; line != NULL && argc < MOST_ARGUMENTS; argc++) {
        char *end = strchr(line, '\n');
        argv[argc] = line;
        if (end != NULL) {
            *end++ = '\0';
        }
        line = end == NULL || *end == '\0' ? NULL : end;
    }
    argv[argc] = NULL;
    return argc;
}

static void run(const struct command *command, int argc, char **argv) {
    char *text = NULL;
    size_t size = 0;
    FILE *before = stderr, *said = open_memstream(&text, &size);
    if (said == NULL) {
        fuzz_fail("no memory to keep what is said");
    }
    stderr = said; /* the C library lets it be another stream; an argument may be quoted as it is */
    int right = command->read(argc, argv);
    stderr = before;
    (void)fclose(said);
    if (right == 0) {
        fuzz_fail("%s: options are accepted that are out of their ranges", command->name);
    }
    if (right < 0 && size == 0) {
        fuzz_fail("%s: refused, and not said why", command->name);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *argv[MOST_ARGUMENTS + 1];
    size = size < MOST_BYTES ? size : MOST_BYTES;
    char *text = calloc(size + 1, 1);
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    int argc = split(text, argv);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[0], commands[i].name) == 0) {
            run(&commands[i], argc, argv);
        }
    }
    free(text);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/base/argument.h"
#include "cli/bound/bound.h"

#define COMMAND "bound"

#define LEAST_CAP   0x1p-126 /* a normal number of binary32 */
#define MOST_SCORE  1e30     /* of a cap, a slope, a bias or a sink */
#define LEAST_SCALE 1e-30
#define MOST_ERROR  0x1p-6 /* of a function, as the gate has it */

enum option_value {
    KEYS = 1000,
    HEAD_DIM,
    VALUE_DIM,
    CHUNK,
    FAMILY,
    SEED,
    INPUT,
    WEIGHTS,
    ACCUMULATE,
    PARTIALS,
    OUTPUT,
    SCORE,
    MERGES,
    DIVIDE,
    EXP_ERROR,
    TRUNCATE,
    FLUSH,
    ROUNDED_SUM,
    SCALED_QUERY,
    SCORE_PROMOTES,
    ACCUMULATE_PROMOTES,
    ABOVE,
    BEHIND,
    PART_LSE,
    CAP,
    CAP_LAST,
    TANH_ERROR,
    TANH_ABSOLUTE,
    SLOPE,
    BIAS,
    SINK,
    PARTS,
    PART_KEYS,
    FACTORS,
    NORMALISES,
    DIVIDE_ERROR,
    EPSILON,
    CACHE,
    CACHE_K,
    CACHE_V,
    SCALE_K,
    SCALE_V,
    DEQUANTISED_K,
    DEQUANTISED_V,
    CASE,
    SAVE,
    JSON,
    TIME,
    HELP
};

static const struct option names[] = {
    {"keys", required_argument, NULL, KEYS},
    {"head-dim", required_argument, NULL, HEAD_DIM},
    {"value-dim", required_argument, NULL, VALUE_DIM},
    {"chunk", required_argument, NULL, CHUNK},
    {"family", required_argument, NULL, FAMILY},
    {"seed", required_argument, NULL, SEED},
    {"input", required_argument, NULL, INPUT},
    {"weights", required_argument, NULL, WEIGHTS},
    {"accumulate", required_argument, NULL, ACCUMULATE},
    {"partials", required_argument, NULL, PARTIALS},
    {"output", required_argument, NULL, OUTPUT},
    {"score", required_argument, NULL, SCORE},
    {"merges", required_argument, NULL, MERGES},
    {"divide", required_argument, NULL, DIVIDE},
    {"exp-error", required_argument, NULL, EXP_ERROR},
    {"truncate", no_argument, NULL, TRUNCATE},
    {"flush", no_argument, NULL, FLUSH},
    {"rounded-sum", no_argument, NULL, ROUNDED_SUM},
    {"scaled-query", required_argument, NULL, SCALED_QUERY},
    {"score-promotes", required_argument, NULL, SCORE_PROMOTES},
    {"accumulate-promotes", required_argument, NULL, ACCUMULATE_PROMOTES},
    {"above", required_argument, NULL, ABOVE},
    {"behind", required_argument, NULL, BEHIND},
    {"part-lse", required_argument, NULL, PART_LSE},
    {"cap", required_argument, NULL, CAP},
    {"cap-last", no_argument, NULL, CAP_LAST},
    {"tanh-error", required_argument, NULL, TANH_ERROR},
    {"tanh-absolute", required_argument, NULL, TANH_ABSOLUTE},
    {"slope", required_argument, NULL, SLOPE},
    {"bias", required_argument, NULL, BIAS},
    {"sink", required_argument, NULL, SINK},
    {"parts", required_argument, NULL, PARTS},
    {"part-keys", required_argument, NULL, PART_KEYS},
    {"factors", required_argument, NULL, FACTORS},
    {"normalises", no_argument, NULL, NORMALISES},
    {"divide-error", required_argument, NULL, DIVIDE_ERROR},
    {"epsilon", required_argument, NULL, EPSILON},
    {"cache", required_argument, NULL, CACHE},
    {"cache-k", required_argument, NULL, CACHE_K},
    {"cache-v", required_argument, NULL, CACHE_V},
    {"scale-k", required_argument, NULL, SCALE_K},
    {"scale-v", required_argument, NULL, SCALE_V},
    {"dequantised-k", required_argument, NULL, DEQUANTISED_K},
    {"dequantised-v", required_argument, NULL, DEQUANTISED_V},
    {"case", required_argument, NULL, CASE},
    {"save", required_argument, NULL, SAVE},
    {"json", no_argument, NULL, JSON},
    {"time", no_argument, NULL, TIME},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static const char *const format_names[] = {"fp32", "fp16", "bf16", NULL};
static const char *const partials_names[] = {"fp32", "fp16", "bf16", NULL};
static const int formats[] = {CP_FP32, CP_FP16, CP_BF16};
static const char *const divide_names[] = {"deferred", "immediate", NULL};

/* A format, of a table of names that begins with them. */
static int read_format(const char *option, const char *text, const char *const *name, int *format) {
    int i = 0;
    if (argument_name(COMMAND, option, text, name, &i) != 0) {
        return -1;
    }
    *format = formats[i];
    return 0;
}

/* Caches of 8 bits. */
static int read_cache(struct bound_options *o, int option, const char *name, const char *text) {
    int i = 0;
    switch (option) {
    case CACHE:
    case CACHE_K:
    case CACHE_V:
        if (argument_name(COMMAND, name, text, bound_cache_names, &i) != 0) {
            return -1;
        }
        o->cache.k = option == CACHE_V ? o->cache.k : bound_cache_of(i);
        o->cache.v = option == CACHE_K ? o->cache.v : bound_cache_of(i);
        return 0;
    case SCALE_K:
        return argument_number(COMMAND, name, text, LEAST_SCALE, MOST_SCORE, &o->k_scale);
    case SCALE_V:
        return argument_number(COMMAND, name, text, LEAST_SCALE, MOST_SCORE, &o->v_scale);
    case DEQUANTISED_K:
        return read_format(name, text, format_names, &o->k_dequantised);
    case DEQUANTISED_V:
        return read_format(name, text, format_names, &o->v_dequantised);
    default: /* argument_next() said what is wrong */
        return -1;
    }
}

/* What else a kernel declares (GATE-15). */
static int read_declared(struct bound_options *o, int option, const char *name, const char *text) {
    switch (option) {
    case PARTS:
        return argument_int(COMMAND, name, text, 0, BOUND_MOST_PARTS, &o->n_parts);
    case PART_KEYS:
        return argument_int(COMMAND, name, text, 0, BOUND_MOST_PARTS, &o->part_keys);
    case FACTORS:
        return argument_name(COMMAND, name, text, bound_factors_names, &o->factors);
    case NORMALISES:
        o->normalises = 1;
        return 0;
    case DIVIDE_ERROR:
        return argument_number(COMMAND, name, text, 0.0, MOST_ERROR, &o->divide_error);
    case EPSILON:
        return argument_number(COMMAND, name, text, 0.0, MOST_ERROR, &o->epsilon);
    default:
        return read_cache(o, option, name, text);
    }
}

/* What changes scores. */
static int read_change(struct bound_options *o, int option, const char *name, const char *text) {
    switch (option) {
    case CAP:
        o->has_cap = 1;
        return argument_number(COMMAND, name, text, LEAST_CAP, MOST_SCORE, &o->cap);
    case CAP_LAST:
        o->cap_last = 1;
        return 0;
    case TANH_ERROR:
        return argument_number(COMMAND, name, text, 0.0, MOST_ERROR, &o->tanh_error);
    case TANH_ABSOLUTE:
        return argument_number(COMMAND, name, text, 0.0, MOST_ERROR, &o->tanh_absolute);
    case SLOPE:
        o->has_slope = 1;
        return argument_number(COMMAND, name, text, -MOST_SCORE, MOST_SCORE, &o->slope);
    case BIAS:
        o->has_bias = 1;
        return argument_number(COMMAND, name, text, 0.0, MOST_SCORE, &o->bias);
    case SINK:
        o->has_sink = 1;
        return argument_number(COMMAND, name, text, -MOST_SCORE, MOST_SCORE, &o->sink);
    default:
        return read_declared(o, option, name, text);
    }
}

static int read_class(struct bound_options *o, int option, const char *name, const char *text) {
    int i = 0, result;
    switch (option) {
    case INPUT:
        o->input_given = 1;
        for (const char *const *of = bound_cache_names + 1; *of != NULL; of++) {
            if (strcmp(text, *of) == 0) {
                return argument_refuse(COMMAND,
                                       "--input %s: a query has 16 or 32 bits; K and V "
                                       "may have 8: --cache %s",
                                       text, text);
            }
        }
        return read_format(name, text, format_names, &o->input);
    case WEIGHTS:
        return read_format(name, text, format_names, &o->weights);
    case ACCUMULATE:
        result = argument_name(COMMAND, name, text, bound_accumulate_names, &i);
        o->accumulate = (enum bound_accumulate)i;
        return result;
    case PARTIALS:
        return read_format(name, text, partials_names, &o->partials);
    case PART_LSE:
        return read_format(name, text, partials_names, &o->part_lse);
    case OUTPUT:
        return read_format(name, text, format_names, &o->output);
    case SCORE:
        result = argument_name(COMMAND, name, text, bound_score_names, &i);
        o->score = (enum bound_score)i;
        return result;
    case SCALED_QUERY:
        return argument_name(COMMAND, name, text, bound_scaled_names, &o->scales);
    case SCORE_PROMOTES:
        return argument_int(COMMAND, name, text, 0, BOUND_MOST_SHORT, &o->score_promotes);
    case ACCUMULATE_PROMOTES:
        return argument_int(COMMAND, name, text, 0, BOUND_MOST_SHORT, &o->accumulate_promotes);
    case MERGES:
        result = argument_name(COMMAND, name, text, bound_merges_names, &i);
        o->merges = (enum bound_merges)i;
        return result;
    case DIVIDE:
        return argument_name(COMMAND, name, text, divide_names, &o->immediate);
    case ABOVE:
        return argument_number(COMMAND, name, text, 0.0, BOUND_FARTHEST, &o->above);
    case BEHIND:
        return argument_number(COMMAND, name, text, 0.0, BOUND_FARTHEST, &o->behind);
    case EXP_ERROR:
        return argument_number(COMMAND, name, text, 0.0, 0.5, &o->exp_error);
    default:
        return read_change(o, option, name, text);
    }
}

static int read_option(struct bound_options *o, int option, const char *name, const char *text) {
    int i = 0, result;
    switch (option) {
    case KEYS:
        o->keys_given = 1;
        return argument_int(COMMAND, name, text, 1, BOUND_MOST_KEYS, &o->keys);
    case HEAD_DIM:
        o->dim_given = 1;
        return argument_int(COMMAND, name, text, 1, BOUND_MOST_DIM, &o->head_dim);
    case VALUE_DIM:
        o->dim_given = 1;
        return argument_int(COMMAND, name, text, 1, BOUND_MOST_DIM, &o->value_dim);
    case CHUNK:
        return argument_int(COMMAND, name, text, 1, BOUND_MOST_KEYS, &o->chunk);
    case FAMILY:
        o->row_given = 1;
        result = argument_name(COMMAND, name, text, bound_family_names, &i);
        o->family = (enum bound_family)i;
        return result;
    case SEED:
        o->row_given = 1;
        return argument_seed(COMMAND, text, LLONG_MAX, &o->seed);
    case TRUNCATE:
        o->truncate = 1;
        return 0;
    case FLUSH:
        o->flush = 1;
        return 0;
    case ROUNDED_SUM:
        o->rounded_sum = 1;
        return 0;
    case CASE:
        o->case_file = text;
        return 0;
    case SAVE:
        o->save_file = text;
        return 0;
    case JSON:
        o->json = 1;
        return 0;
    case TIME:
        o->time = 1;
        return 0;
    case HELP:
        o->help = 1;
        return 0;
    default:
        return read_class(o, option, name, text);
    }
}

_Static_assert(HELP - KEYS < 64, "a bit for each option");

static int is_given(unsigned long long given, int option) {
    return (given >> (option - KEYS) & 1U) != 0;
}

/* The class and the row make no difference to the time. */
static int check_time(unsigned long long given) {
    for (int i = 0; names[i].name != NULL; i++) {
        int value = names[i].val;
        int known = value == KEYS || value == HEAD_DIM || value == CHUNK || value == TIME;
        if (is_given(given, value) && !known) {
            return argument_refuse(COMMAND,
                                   "--time measures its own rows and prints a table; it takes only "
                                   "--keys, --head-dim and --chunk, not --%s",
                                   names[i].name);
        }
    }
    return 0;
}

/* NUM-15: what is below the normal numbers of the type that changes are computed in is rounded by
 * more than that type's unit. */
static int check_normal(const struct bound_options *o, const char *name, double x) {
    int in_fp16 = o->score == SCORE_FP16 && o->score_promotes == 0;
    if (x != 0.0 && fabs(x) < (in_fp16 ? 0x1p-14 : 0x1p-126)) {
        return argument_refuse(COMMAND,
                               "--%s %g is below the normal numbers of %s, where a kernel rounds "
                               "it by more than NUM-15 allows: give %s%s or more in size",
                               name, x, in_fp16 ? "fp16 (--score fp16)" : "fp32",
                               strcmp(name, "slope") == 0 ? "0, or " : "",
                               in_fp16 ? "6.2e-5" : "1.2e-38");
    }
    return 0;
}

static int check_changes(const struct bound_options *o, unsigned long long given) {
    if (!o->has_cap &&
        (o->cap_last || is_given(given, TANH_ERROR) || is_given(given, TANH_ABSOLUTE))) {
        return argument_refuse(COMMAND, "--%s is of scores that are capped: add --cap",
                               o->cap_last                   ? "cap-last"
                               : is_given(given, TANH_ERROR) ? "tanh-error"
                                                             : "tanh-absolute");
    }
    if (o->has_cap && o->tanh_error == 0.0 && o->tanh_absolute == 0.0) {
        return argument_refuse(COMMAND, "--tanh-error 0: no tanh is exact; 2.4e-7 (2^-22) holds "
                                        "tanhf(), 9.8e-4 (2^-10) tanh.approx.f32");
    }
    if (check_normal(o, "slope", o->slope) != 0 || check_normal(o, "cap", o->cap) != 0) {
        return -1;
    }
    if (o->has_slope && o->has_bias) {
        return argument_refuse(COMMAND, "--slope and --bias: scores have a slope or a table; leave "
                                        "out one");
    }
    if (o->has_bias && o->case_file != NULL) {
        return argument_refuse(COMMAND, "--bias makes a table for a row that is made; a --case has "
                                        "its own: \"biases\": [...], one for each key");
    }
    return 0;
}

static int check_cache(const struct bound_options *o, unsigned long long given) {
    static const struct {
        int option, is_v;
        const char *name;
    } of[] = {{SCALE_K, 0, "scale-k"},
              {SCALE_V, 1, "scale-v"},
              {DEQUANTISED_K, 0, "dequantised-k"},
              {DEQUANTISED_V, 1, "dequantised-v"}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        int cache = of[i].is_v ? o->cache.v : o->cache.k;
        if (is_given(given, of[i].option) && cache == CP_CACHE_PLAIN) {
            return argument_refuse(COMMAND,
                                   "--%s is of a cache of 8 bits: add --cache-%s e4m3, "
                                   "e5m2 or int8",
                                   of[i].name, of[i].is_v ? "v" : "k");
        }
    }
    return 0;
}

static int check_declared(const struct bound_options *o) {
    if (o->n_parts + o->part_keys > 0 && o->merges != MERGES_ANY) {
        return argument_refuse(COMMAND,
                               "--%s counts partial results that are merged in any order: "
                               "add --merges any",
                               o->n_parts > 0 ? "parts" : "part-keys");
    }
    if (o->normalises && o->immediate) {
        return argument_refuse(COMMAND, "--normalises divides weights by the sum of the whole row: "
                                        "leave out --divide immediate");
    }
    if (o->normalises && o->rounded_sum) {
        return argument_refuse(COMMAND, "--normalises rounds P after the row sum is known: leave "
                                        "out --rounded-sum");
    }
    if (o->normalises && o->above + o->behind > 0.0) {
        return argument_refuse(COMMAND, "--normalises has no bound with references that are not "
                                        "the maximum: leave out --above and --behind");
    }
    return 0;
}

/* Options that do not go together. `given`: a bit for each option, from KEYS on. */
static int check(struct bound_options *o, unsigned long long given) {
    if (o->time && check_time(given) != 0) {
        return -1;
    }
    if (o->case_file != NULL && (o->row_given || o->keys_given || o->dim_given)) {
        return argument_refuse(
            COMMAND,
            "--case brings its own row: --keys, --head-dim, --value-dim, --family and --seed do "
            "not apply");
    }
    if (check_changes(o, given) != 0 || check_declared(o) != 0 || check_cache(o, given) != 0) {
        return -1;
    }
    if (o->save_file != NULL && strcmp(o->save_file, "-") == 0) {
        return argument_refuse(COMMAND,
                               "--save -: the report goes to the standard output; name a file");
    }
    if ((long long)o->keys * o->head_dim > BOUND_MOST_NUMBERS) {
        return argument_refuse(COMMAND, "--keys times --head-dim must be %d at most, not %lld",
                               BOUND_MOST_NUMBERS, (long long)o->keys * o->head_dim);
    }
    if ((long long)o->keys * o->value_dim > BOUND_MOST_NUMBERS) {
        return argument_refuse(COMMAND, "--keys times --value-dim must be %d at most, not %lld",
                               BOUND_MOST_NUMBERS, (long long)o->keys * o->value_dim);
    }
    if (o->merges == MERGES_RUNNING && o->partials != CP_FP32) {
        return argument_refuse(COMMAND, "--merges running stores no state: leave out --partials");
    }
    if (o->merges == MERGES_RUNNING && o->immediate) {
        return argument_refuse(
            COMMAND, "--merges running divides only at the end: leave out --divide immediate");
    }
    if (o->part_lse != CP_FP32 && !o->immediate) {
        return argument_refuse(COMMAND, "--part-lse is of states that are divided at once: add "
                                        "--divide immediate");
    }
    if (o->rounded_sum && o->weights == CP_FP32) {
        return argument_refuse(
            COMMAND, "--rounded-sum needs --weights fp16 or bf16: in fp32 P is not rounded");
    }
    if (o->score_promotes > 0 && o->score != SCORE_FP16 && o->score != SCORE_BF16) {
        return argument_refuse(
            COMMAND, "--score-promotes needs --score fp16 or bf16: others are in fp32 at once");
    }
    if (o->accumulate_promotes > 0 && o->accumulate != ACCUMULATE_FP16 &&
        o->accumulate != ACCUMULATE_BF16) {
        return argument_refuse(COMMAND, "--accumulate-promotes needs --accumulate fp16 or bf16: "
                                        "others are in fp32 at once");
    }
    if (o->case_file != NULL && !o->input_given) {
        o->input = CP_FP32; /* their products may need rounding */
    }
    return 0;
}

int bound_value_dim(const struct bound_options *o) {
    return o->value_dim > 0 ? o->value_dim : o->head_dim;
}

int bound_options_parse(struct bound_options *o, int argc, char **argv) {
    int option, index = 0;
    unsigned long long given = 0;
    *o = (struct bound_options){.keys = 1024,
                                .head_dim = 128,
                                .chunk = 64,
                                .seed = 1,
                                .input = CP_FP16,
                                .weights = CP_FP16,
                                .accumulate = ACCUMULATE_FP32,
                                .partials = CP_FP32,
                                .part_lse = CP_FP32,
                                .output = CP_FP16,
                                .exp_error = 0x1p-23,
                                .tanh_error = 0x1p-22,
                                .k_dequantised = CP_FP32,
                                .v_dequantised = CP_FP32};
    if (argument_once(COMMAND, argc, argv, "h", names, NULL) != 0) {
        return -1;
    }
    while ((option = argument_next(COMMAND, argc, argv, "h", names, &index)) != -1) {
        option = option == 'h' ? HELP : option;
        if (read_option(o, option, names[index].name, optarg) != 0) {
            return -1;
        }
        given |= 1ULL << (option - KEYS);
    }
    if (!o->help && optind < argc) {
        return argument_refuse(COMMAND, "unexpected argument '%s'; a case is given with --case",
                               argv[optind]);
    }
    return o->help ? 0 : check(o, given);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of stage 7: sums that are not rescaled, parts that are merged by wrong factors, weights
 * that one of the two sums misses, weights of another function or against another maximum, and
 * weights in a short format. */
#include <math.h>
#include <stdio.h>

#include "chunkproof/number.h"
#include "gate/explain/mistakes.h"

/* Rows of tables are laid out by hand. */
/* clang-format off */

#define N(table)  (table), sizeof(table) / sizeof(table)[0]
#define MOST_TILE 256
#define ALL       (1 << 20)

/* ---- Names ---- */

EXPLAIN_NAMER(name_step) {
    int step = c->weight.parts.tile;
    if (step <= 0) {
        (void)snprintf(text, size,
                       step == 0 ? "a chunk" : "a chunk, those that are shared at once");
    } else {
        (void)snprintf(text, size, step == ALL ? "all keys" : "%d %s", step,
                       step == 1 ? "key" : "keys");
    }
}

static void name_partition(const struct explain_partition *parts, char *text, size_t size) {
    static const char *const words[] = {
        "the keys", "the chunks", "the shared chunks and the sequence's own",
        "each shared chunk and the sequence's own", "both halves of the keys"};
    switch ((enum explain_parts)parts->kind) {
    case PART_TILES:
        (void)snprintf(text, size, "splits of %d keys", parts->tile);
        return;
    case PART_HALVES_OF_TILES:
        (void)snprintf(text, size, "both halves of the keys (the first one of whole tiles of %d)",
                       parts->tile);
        return;
    case PART_SPLITS:
        (void)snprintf(text, size, "up to %d splits (each of a multiple of %d %s)", parts->n,
                       parts->tile, parts->tile == 1 ? "key" : "keys");
        return;
    case PART_WARPS:
        (void)snprintf(text, size, "%d warps, which take tiles of %d %s in turn", parts->n,
                       parts->tile, parts->tile == 1 ? "key" : "keys");
        return;
    default:
        (void)snprintf(text, size, "%s", words[parts->kind]);
    }
}

EXPLAIN_NAMER(name_parts) {
    name_partition(&c->weight.parts, text, size);
}

EXPLAIN_NAMER(name_selected) {
    name_partition(&c->select.parts, text, size);
}

/* ---- Tile by tile ---- */

static const char *const sums[] = {"both sums", "the sum of weights", "the sum of weighted values"};
static const char *const backwards[] = {"", " from the last one on"};
static const int steps[] = {1, 0, -1, 8, 16, 32, 64, 128};

#define STEPS {AT(weight.parts.tile), VALUES, 0, 8, .values = steps, .name = name_step, .cost = 1}
#define BACKWARDS {AT(weight.backwards), EACH, 0, 1, .words = backwards, .cost = 8}
#define TILES(from, to) {AT(weight.parts.tile), POWERS, from, to, BELOW_KEYS}
#define IN_STEPS ", in steps of {0}{1}"
#define ANY_STEPS {STEPS, BACKWARDS}
#define O_NOT "as if the sum of weighted values had not been rescaled when the maximum grew " \
    "(MERGE-4)"
#define N_NOT   "as if the sum of weights had not been rescaled when the maximum grew (MERGE-4)"
#define NEITHER "as if neither sum had been rescaled when the maximum grew (MERGE-4)"
#define BY_E "as if the sums had been rescaled by a power of e, and scores were in bits: it is " \
    "2^(old - new) (MERGE-4)"
#define BY_2 "as if the sums had been rescaled by a power of 2, and scores were in nats: it is " \
    "exp(old - new) (MERGE-4)"
#define RATES(n, o) .rescale_n = (n), .rescale_o = (o)

static const struct explain_mistake online[] = {
    {O_NOT IN_STEPS, 40, {.weight = {ONLINE, RATES(RESCALE, RESCALE_NOT)}}, ANY_STEPS},
    {N_NOT IN_STEPS, 40, {.weight = {ONLINE, RATES(RESCALE_NOT, RESCALE)}}, ANY_STEPS},
    {NEITHER IN_STEPS, 40, {.weight = {ONLINE, RATES(RESCALE_NOT, RESCALE_NOT)}}, ANY_STEPS},
    {"as if the sums had been rescaled by exp(new - old), not exp(old - new) (MERGE-4)" IN_STEPS,
     40, {.weight = {ONLINE, RATES(RESCALE_UPSIDE_DOWN, RESCALE_UPSIDE_DOWN)}}, ANY_STEPS},
    {BY_E IN_STEPS, 48, {.weight = {ONLINE, RATES(RESCALE_BY_E, RESCALE_BY_E)}}, ANY_STEPS},
    {BY_2 IN_STEPS, 48, {.weight = {ONLINE, RATES(RESCALE_BY_2, RESCALE_BY_2)}}, ANY_STEPS},
    {"as if weights had been taken against the maximum before them, the sums then rescaled for the "
     "new one (MERGE-4)" IN_STEPS, 40, {.weight = {ONLINE, WEIGHS_BY_OLD}}, ANY_STEPS},
    {"as if the maximum kept had been that of the last step, not the largest so far "
     "(MERGE-4)" IN_STEPS, 40, {.weight = {ONLINE, KEEPS_LAST}}, ANY_STEPS},
};

static const char *const ends[] = {"", ", or up to its chunk's end"};
static const double rooms[] = {
    5.545177444479562, 8.0, 2.772588722239781, 6.931471805599453, 10.0, 4.0};
static const char *const room_words[] = {"2^8", "e^8", "2^4", "2^10", "e^10", "e^4"};
static const char *const queries[] = {
    "the first head of its group",
    "the query before it",
    "the query behind it",
};
#define ROOM {AT(weight.limit), LIMITS, 0, 6, .limits = rooms, .words = room_words}
#define UP_TO_CHUNK {AT(weight.own), EACH, 0, 1, .words = ends, .cost = 1}
#define OTHER_QUERY_ { AT(weight.whose), EACH, FIRST_OF_GROUP, ONE_BEHIND, \
    .words = queries, .cost = 1 }
#define LAZILY_IN                                                                                  \
    "as if weights had been taken against the largest score so far, in tiles of {0 key}, and the " \
    "sums rescaled only where it had grown by more than {1}, so that they belong to another "      \
    "maximum until then: "

static const struct explain_mistake maxima[] = {
    {"as if the maximum were that of each tile of {0 key} alone, to which the sums are rescaled: "
     "it is not carried on, and where a later tile is far below, exp(old - new) overflows "
     "(MERGE-4)", 43, {.weight = {ONLINE, KEEPS_OF_TILE}}, {TILES(1, 128)}},
    {"as if weights had been taken against the maximum of their own tile of {0 key}{1}, and the "
     "sums kept against the largest so far: a tile that is below it weighs too much (MERGE-4)", 43,
     {.weight = {ONLINE, WEIGHS_BY_TILE}}, {TILES(1, 128), UP_TO_CHUNK}},
    {LAZILY_IN "the keys (MERGE-4)", 47, {.weight = {ONLINE, KEEPS_LAZILY}}, {TILES(1, MOST_TILE),
     ROOM}},
    {LAZILY_IN "each part, {2} (MERGE-4)", 48, {.weight = {ONLINE, KEEPS_LAZILY,
     .parts = {PART_HALVES_OF_TILES}}}, {TILES(1, MOST_TILE), ROOM,
     {AT(weight.parts.kind), EACH, PART_HALVES_OF_TILES, PART_HALVES_OF_TILES,
     .name = name_parts}}},
    {LAZILY_IN "each part, {2} (MERGE-4)", 49, {.weight = {ONLINE, KEEPS_LAZILY,
     .parts = {PART_SPLITS}}}, {TILES(1, 128), ROOM, {AT(weight.parts.n), POWERS, 2, 32,
     .name = name_parts}}},
};

static const struct explain_mistake other_maxima[] = {
    {"as if the sums had been rescaled from the maximum of {1} when their own maximum grew, in "
     "steps of {0 key} (MERGE-4)", 45, {.weight = {ONLINE, RESCALES_FROM_OTHER}}, {TILES(1, 128),
     OTHER_QUERY_}},
    {"as if the sums had been rescaled to the maximum of {1} when their own maximum grew, in steps "
     "of {0 key} (MERGE-4)", 45, {.weight = {ONLINE, RESCALES_TO_OTHER}}, {TILES(1, 128),
     OTHER_QUERY_}},
};

/* ---- Warps and splits, each with a state of its own ---- */

#define RATE(n, o) {.weight = { ONLINE, RATES(n, o), .parts = {PART_WARPS} }}
#define OWN(n, o) {.weight = { ONLINE, RATES(n, o), .own_alone = 1 }}
#define IN_TURN ", in steps of {0 key} that {1} warps or lanes take in turn"
#define WARPS {TILES(1, 128), { AT(weight.parts.n), POWERS, 2, 32, BELOW_KEYS }}
#define OF_OWN ", in steps of {0}, of the sequence's own chunks alone: those that are shared are " \
    "merged as they should be"

static const struct explain_mistake warps[] = {
    {N_NOT IN_TURN, 49, RATE(RESCALE_NOT, RESCALE), WARPS},
    {O_NOT IN_TURN, 49, RATE(RESCALE, RESCALE_NOT), WARPS},
    {NEITHER IN_TURN, 49, RATE(RESCALE_NOT, RESCALE_NOT), WARPS},
    {BY_E IN_TURN, 49, RATE(RESCALE_BY_E, RESCALE_BY_E), WARPS},
    {BY_2 IN_TURN, 49, RATE(RESCALE_BY_2, RESCALE_BY_2), WARPS},
    {N_NOT OF_OWN, 48, OWN(RESCALE_NOT, RESCALE), {STEPS}},
    {O_NOT OF_OWN, 48, OWN(RESCALE, RESCALE_NOT), {STEPS}},
    {NEITHER OF_OWN, 48, OWN(RESCALE_NOT, RESCALE_NOT), {STEPS}},
    {BY_E OF_OWN, 48, OWN(RESCALE_BY_E, RESCALE_BY_E), {STEPS}},
    {BY_2 OF_OWN, 48, OWN(RESCALE_BY_2, RESCALE_BY_2), {STEPS}},
};

static const char *const own_words[] = {
    "had taken its own warp's sum of weighted values for that of each",
    "had taken its own warp's sum of weighted values alone",
    "had taken its own warp's result alone",
};
static const char *const lse_words[] = {"", ", and lse has the largest added"};
static const char *const lane_words[] = {"every 32nd element", "elements side by side"};
#define IN_MERGE {AT(weight.parts.tile), POWERS, 1, 64}, { AT(weight.parts.n), \
    POWERS, 2, 16, .name = name_parts }
#define NUMBER(most, ...) {AT(weight.number), EACH, 0, most, __VA_ARGS__}

static const struct explain_mistake threads[] = {
    {"as if in the merge of {1}, each thread {2} (MERGE-4)", 47, {.weight = {OWN_WARP,
     .parts = {PART_WARPS}}}, {IN_MERGE, NUMBER(2, .words = own_words)}},
    {"as if in the merge of {1}, each thread had scaled all sums to its own warp's maximum, not to "
     "the largest: where its warp has no key that is inf / inf{2} (MERGE-4)", 10,
     {.weight = {OWN_MAXIMUM, .parts = {PART_WARPS}}}, {IN_MERGE, NUMBER(1, .words = lse_words)}},
    {"as if the weights of a warp's keys had been handed on within {0} lanes, not 32 (a shuffle's "
     "width), each lane with {1}: it multiplies V with weights of other keys (SOFTMAX-1)", 47,
     {.weight = {SHUFFLED}}, {{AT(weight.number), POWERS, 2, 16},
     {AT(weight.own), EACH, 0, 1, .words = lane_words}}},
};

/* ---- Merged ---- */

static const char *const merge_words[] = {
    "had been added up, each divided by its own sum, and not weighted by exp(its log-sum-exp - the "
    "largest)",
    "had been added up without weighting their sums of weighted values by exp(its maximum - the "
    "largest), where the sums of weights are",
    "had been added up as they are: neither sum is weighted by exp(its maximum - the largest), "
    "which is not carried on",
    "had been weighted by exp(its maximum), not by exp(its log-sum-exp): a part that is divided by "
    "its sum of weights n keeps m + log(n), not m",
    "had been merged without weighting their sums of weights by exp(its maximum - the largest), "
    "where the sums of weighted values are",
    "had been weighted, and then divided by how many there are, not by the sum of the weights",
    "had been averaged, each counting the same",
    "had been merged by log-sum-exps in nats as if these were in bits, by powers of 2: what is "
    "kept and what is taken are of two bases",
    "had been merged by log-sum-exps in bits as if these were in nats, by powers of e: what is "
    "kept and what is taken are of two bases",
};
static const char *const part_words[] = {"with the first part twice", "with the last part twice"};
static const char *const carried_words[] = {
    "both sums of the one before: they are not begun anew",
    "the sum of weights of the one before: it is not begun anew",
    "the sum of weighted values of the one before: it is not begun anew",
};
static const char *const kept_words[] = {"maxima", "maxima, times log2(e),"};
static const char *const types[] = {"binary16", "bfloat16"};
static const int type_values[] = {CP_FP16, CP_BF16}, part_values[] = {0, -1}, times[] = {0, 2};
static const char *const alone_words[] = {"the first part alone", "the last part alone"};
static const char *const without_words[] = {"without the first part", "without the last part"};

#define MERGE_RULE {AT(weight.merge), EACH, 0, MERGES - 1, .words = merge_words}
#define KINDS {AT(weight.parts.kind), EACH, PART_CHUNKS, PART_HALVES, .name = name_parts}
#define WITH_TILE(least) {AT(weight.parts.tile), POWERS, least, MOST_TILE, .name = name_parts}
#define SPLITS WITH_TILE(1), {AT(weight.parts.n), POWERS, 2, 32}
#define CARRIED_ON {AT(weight.sums), EACH, 0, 2, .words = carried_words}
#define IN_TYPE {AT(weight.type), VALUES, 0, 2, .values = type_values, .words = types}
#define RESULTS_OF "as if the results of {0} "

/* Of chunks, tiles and halves; of splits. */
#define OF_PARTS(rule, words, ...)                                                                 \
    {RESULTS_OF words " (MERGE-4)", 45, {.weight = {rule}}, {KINDS, __VA_ARGS__}},                 \
    {RESULTS_OF words " (MERGE-4)", 46, {.weight = {rule, .parts = {PART_TILES}}},                 \
     {WITH_TILE(2), __VA_ARGS__}},                                                                 \
    {RESULTS_OF words " (MERGE-4)", 48, {.weight = {rule, .parts = {PART_HALVES_OF_TILES}}},       \
     {WITH_TILE(1), __VA_ARGS__}}
#define OF_SPLITS(rule, words, ...)                                                                \
    {RESULTS_OF words " (MERGE-4)", 50, {.weight = {rule, .parts = {PART_SPLITS}}},                \
     {SPLITS, __VA_ARGS__}}
#define EMPTY                                                                                      \
    RESULTS_OF "had been merged, and one without a key gave NaN: exp(-inf - -inf) (MERGE-2)"

static const struct explain_mistake merges[] = {
    OF_PARTS(MERGED, "{1}", MERGE_RULE),
    OF_SPLITS(MERGED, "{2}", MERGE_RULE),
    OF_PARTS(CARRIED, "had each gone on with {1}", CARRIED_ON),
    OF_SPLITS(CARRIED, "had each gone on with {2}", CARRIED_ON),
    OF_PARTS(KEPT_SHORT, "had been merged by {1} that were rounded to {2} when they were kept: the "
     "sums belong to the unrounded ones", NUMBER(1, .words = kept_words), IN_TYPE),
    {EMPTY, 12, {.weight = {EMPTY_PART}},
     {{AT(weight.parts.kind), EACH, PART_SHARED, PART_SHARED_CHUNKS, .name = name_parts}}},
    {EMPTY, 13, {.weight = {EMPTY_PART, .parts = {PART_SPLITS}}}, {SPLITS}},
    {EMPTY, 13, {.weight = {EMPTY_PART, .parts = {PART_WARPS}}}, {SPLITS}},
};

#define SELECT_KINDS {AT(select.parts.kind), EACH, PART_CHUNKS, PART_HALVES, .name = name_selected}
#define SELECT_TILE(least) {AT(select.parts.tile), POWERS, least, MOST_TILE, .name = name_selected}
#define SELECT_SPLITS SELECT_TILE(1), {AT(select.parts.n), POWERS, 2, 32}
#define PART(words_) {AT(select.a), VALUES, 0, 2, .values = part_values, .words = (words_)}
#define BORDERS                                                                                    \
    {AT(select.which), EACH, SELECT_FIRST_OF_PARTS, SELECT_LAST_OF_PARTS, .words = border_words}
#define SELECTED(which_, kind_, times_)                                                            \
    {.select = {.which = (which_), .times = (times_), .parts = {kind_}}}

/* The keys of parts, or at their borders, that are counted so many times. */
#define OF_SELECTED(words, which_, times_, ...)                                                    \
    {RESULTS_OF words " (MERGE-4)", 46, SELECTED(which_, PART_CHUNKS, times_),                     \
     {SELECT_KINDS, __VA_ARGS__}},                                                                 \
    {RESULTS_OF words " (MERGE-4)", 47, SELECTED(which_, PART_TILES, times_),                      \
     {SELECT_TILE(2), __VA_ARGS__}},                                                               \
    {RESULTS_OF words " (MERGE-4)", 49, SELECTED(which_, PART_HALVES_OF_TILES, times_),            \
     {SELECT_TILE(2), __VA_ARGS__}}
#define OF_SELECTED_SPLITS(words, which_, times_, ...)                                             \
    {RESULTS_OF words " (MERGE-4)", 51, SELECTED(which_, PART_SPLITS, times_),                     \
     {SELECT_SPLITS, __VA_ARGS__}}

static const char *const border_words[] = {
    "the first one of each part but the first",
    "the last one of each part but the last",
};

static const struct explain_mistake borders[] = {
    OF_SELECTED("had been merged {1}", SELECT_PART, 2, PART(part_words)),
    OF_SELECTED_SPLITS("had been merged {2}", SELECT_PART, 2, PART(part_words)),
    OF_SELECTED("had been merged {1}", SELECT_PART, 0, PART(without_words)),
    OF_SELECTED_SPLITS("had been merged {2}", SELECT_PART, 0, PART(without_words)),
    OF_SELECTED("overlapped by a key: {1} counts twice", SELECT_NONE, 2, BORDERS),
    OF_SELECTED_SPLITS("overlapped by a key: {2} counts twice", SELECT_NONE, 2, BORDERS),
    OF_SELECTED("had a gap of a key: {1} is missing", SELECT_NONE, 0, BORDERS),
    OF_SELECTED_SPLITS("had a gap of a key: {2} is missing", SELECT_NONE, 0, BORDERS),
};

static const struct explain_mistake alone[] = {
    OF_SELECTED("had not been merged: {1}", SELECT_NOT_PART, 0, PART(alone_words)),
    OF_SELECTED_SPLITS("had not been merged: {2}", SELECT_NOT_PART, 0, PART(alone_words)),
};

#define SOME_TILES {AT(weight.parts.tile), POWERS, 1, MOST_TILE, BELOW_KEYS}
#define BIG_TILES {AT(weight.parts.tile), POWERS, 8, 128, BELOW_KEYS}
#define FIRST_TILES {AT(weight.behind), EACH, 2, 8, .cost = 1}
#define OF_HALVES { AT(weight.parts.kind), EACH, PART_HALVES_OF_TILES, \
    PART_HALVES_OF_TILES, .name = name_parts }
#define OF_SPLIT {AT(weight.parts.n), POWERS, 2, 32, .name = name_parts}
#define AT_FIRST(sum_) "as if the sum of " sum_ " had been rescaled when the maximum grew in the " \
    "first {1} tiles of {0 key} of "
#define IN_EACH(n, o, kind_) {.weight = {ONLINE, RATES(n, o), .parts = {kind_}}}
#define NOT_BEHIND "each part: {2}, and not behind them (MERGE-4)"
#define WITHIN ", in tiles of {0 key} within each part: {1}"

static const struct explain_mistake behind[] = {
    {N_NOT WITHIN, 57, IN_EACH(RESCALE_NOT, RESCALE, PART_HALVES_OF_TILES),
     {SOME_TILES, OF_HALVES}},
    {O_NOT WITHIN, 57, IN_EACH(RESCALE, RESCALE_NOT, PART_HALVES_OF_TILES),
     {SOME_TILES, OF_HALVES}},
    {N_NOT WITHIN, 58, IN_EACH(RESCALE_NOT, RESCALE, PART_SPLITS), {BIG_TILES, OF_SPLIT}},
    {O_NOT WITHIN, 58, IN_EACH(RESCALE, RESCALE_NOT, PART_SPLITS), {BIG_TILES, OF_SPLIT}},
    {AT_FIRST("weights") "the keys, and not behind them (MERGE-4)", 48,
     IN_EACH(RESCALE_AT_FIRST, RESCALE, PART_WHOLE), {SOME_TILES, FIRST_TILES}},
    {AT_FIRST("weighted values") "the keys, and not behind them (MERGE-4)", 48,
     IN_EACH(RESCALE, RESCALE_AT_FIRST, PART_WHOLE), {SOME_TILES, FIRST_TILES}},
    {AT_FIRST("weights") NOT_BEHIND, 58, IN_EACH(RESCALE_AT_FIRST, RESCALE, PART_HALVES_OF_TILES),
     {SOME_TILES, FIRST_TILES, OF_HALVES}},
    {AT_FIRST("weighted values") NOT_BEHIND, 58,
     IN_EACH(RESCALE, RESCALE_AT_FIRST, PART_HALVES_OF_TILES),
     {SOME_TILES, FIRST_TILES, OF_HALVES}},
    {AT_FIRST("weights") NOT_BEHIND, 59, IN_EACH(RESCALE_AT_FIRST, RESCALE, PART_SPLITS),
     {BIG_TILES, FIRST_TILES, OF_SPLIT}},
    {AT_FIRST("weighted values") NOT_BEHIND, 59, IN_EACH(RESCALE, RESCALE_AT_FIRST, PART_SPLITS),
     {BIG_TILES, FIRST_TILES, OF_SPLIT}},
};

/* ---- Weights of one sum ---- */

EXPLAIN_NAMER(name_width) {
    int begin = c->select.b, end = begin + c->select.width;
    if (end - begin == 1) {
        (void)snprintf(text, size, "key %d of each %d", begin, c->select.a);
    } else {
        (void)snprintf(text, size, "keys %d to %d of each %d", begin, end - 1, c->select.a);
    }
}

static const char *const lacks[] = {"lacks", "has twice"};
#define ONE_SUM {AT(select.sums), EACH, IN_N, IN_O, .words = sums + 1}
#define LACKS {AT(select.times), VALUES, 0, 2, .values = times, .words = lacks}
#define OF_A(from, to) {AT(select.a), POWERS, from, to}

static const struct explain_mistake miscounted[] = {
    {"as if {0} {1} the last key (MERGE-4)", 22, {.select = {SELECT_FROM_END, 1}}, {ONE_SUM,
     LACKS}},
    {"as if {0} {1} the first {2 key} (MERGE-4)", 23, {.select = {SELECT_FIRST_TILE}}, {ONE_SUM,
     LACKS, OF_A(1, MOST_TILE)}},
    {"as if {0} {1} the last tile, of up to {2} keys (MERGE-4)", 23, {.select = {SELECT_LAST_TILE}},
     {ONE_SUM, LACKS, OF_A(1, MOST_TILE)}},
    {"as if {0} {1} the keys behind the last multiple of {2} (MERGE-4)", 23,
     {.select = {SELECT_BEHIND}}, {ONE_SUM, LACKS, OF_A(2, MOST_TILE)}},
    {"as if {3} {4} {2} (MERGE-4)", 24, {.select = {SELECT_OF_EACH}}, {{AT(select.a),
     POWERS, 2, MOST_TILE}, {AT(select.width), WIDTHS, 1, 0}, {AT(select.b),
     PERIODS, .name = name_width}, ONE_SUM, LACKS}},
    {"as if {1} {2} the last part of {0} (MERGE-4)", 46, {.select = {SELECT_PART, -1,
     .parts = {PART_CHUNKS}}}, {SELECT_KINDS, ONE_SUM, LACKS}},
    {"as if {1} {2} the last part of {0} (MERGE-4)", 47, {.select = {SELECT_PART, -1,
     .parts = {PART_TILES}}}, {SELECT_TILE(2), ONE_SUM, LACKS}},
    {"as if {2} {3} the last part of {0} (MERGE-4)", 51, {.select = {SELECT_PART, -1,
     .parts = {PART_SPLITS}}}, {SELECT_SPLITS, ONE_SUM, LACKS}},
};

/* ---- Weights of another function ---- */

#define LN(x) ((x)*0.6931471805599453)
static const double powers_of_10[] = {
    -2.302585092994046, -4.605170185988092, -6.907755278982137, -9.210340371976184,
    -11.512925464970229, -13.815510557964274, -16.11809565095832, -18.420680743952367};
static const double powers_of_2[] = {
    LN(-1), LN(-2), LN(-3), LN(-4), LN(-5), LN(-6), LN(-7), LN(-8), LN(-9), LN(-10), LN(-11),
    LN(-12), LN(-13), LN(-14), LN(-15), LN(-16), LN(-17), LN(-18), LN(-19), LN(-20), LN(-21),
    LN(-22), LN(-23), LN(-24)};
static const double powers_of_e[] = {
    -0.5, -1, -1.5, -2, -2.5, -3, -3.5, -4, -4.5, -5, -5.5, -6, -6.5, -7, -7.5, -8, -8.5, -9, -9.5,
    -10, -11, -12, -13, -14, -15, -16};

EXPLAIN_NAMER(name_power_of_10) {
    (void)snprintf(text, size, "1e%.0f", c->weight.limit / 2.302585092994046);
}

EXPLAIN_NAMER(name_power_of_2) {
    (void)snprintf(text, size, "2^%.0f", c->weight.limit / LN(1));
}

EXPLAIN_NAMER(name_power_of_e) {
    (void)snprintf(text, size, "e^%g", c->weight.limit);
}

static const char *const functions[] = {
    "the square of exp(x)", "1 + x (0 below x = -1)", "1 + x + x^2 / 2", "2^x"};
static const char *const so_far[] = { "", " so far"};
static const char *const alone_in[] = {
    "",
    " in the sum of weights alone",
    " in the sum of weighted values alone",
};
#define SO_FAR {AT(weight.so_far), EACH, 0, 1, .words = so_far, .cost = 1}
#define ALONE_IN {AT(weight.sums), EACH, 0, 2, .words = alone_in, .cost = 1}
#define LIMIT(table, ...) { AT(weight.limit), LIMITS, 0, \
    sizeof(table) / sizeof(table)[0], .limits = (table), __VA_ARGS__ }
#define LIGHT "as if weights below {0} of the heaviest key's{1} had been dropped{2} (SOFTMAX-1)"

static const struct explain_mistake light[] = {
    {LIGHT, 30, {.weight = {DROPPED}}, {LIMIT(powers_of_10, .name = name_power_of_10), SO_FAR,
     ALONE_IN}},
    {LIGHT, 31, {.weight = {DROPPED}}, {LIMIT(powers_of_2, .name = name_power_of_2), SO_FAR,
     ALONE_IN}},
    {LIGHT, 32, {.weight = {DROPPED}}, {LIMIT(powers_of_e, .name = name_power_of_e), SO_FAR,
     ALONE_IN}},
    {"as if a weight were {0}, not exp(x), for x = score - maximum{1},{2} (SOFTMAX-1)", 16,
     {.weight = {FUNCTION}}, {NUMBER(3, .words = functions), SO_FAR, ALONE_IN}},
};

/* ---- Keys that are none ---- */

static const double masks[] = {
    -100, -1000, -10000, -50000}, lows[] = {0, -100, -1000, -10000, -50000};
static const char *const mask_words[] = { "-100", "-1000", "-10000", "-50000"};
static const char *const low_words[] = {"0", "-100", "-1000", "-10000", "-50000", };
#define MASK LIMIT(masks, .words = mask_words)

static const struct explain_mistake padding[] = {
    {"as if there were a key more with score 0 and values 0: 1 had been added to the sum, or it "
     "begins with 1 (SOFTMAX-1)", 26, {.weight = {PADDED, .number = -1}}},
    {"as if slots without a key, up to the end of the last chunk, had score 0 and values 0, and a "
     "weight: they are not masked (SOFTMAX-2)", 26, {.weight = {PADDED}}},
    {"as if slots without a key, up to a multiple of {0}, had score 0 and values 0, and a weight: "
     "they are not masked (SOFTMAX-2)", 27, {.weight = {PADDED}}, {{AT(weight.number),
     POWERS, 2, MOST_TILE}}},
    {"as if slots without a key, up to the end of the last chunk, were masked by a finite number, "
     "{0}, and weighed where all scores are lower (SOFTMAX-2)", 27, {.weight = {PADDED}}, {MASK}},
    {"as if slots without a key, up to a multiple of {1}, were masked by a finite number, {0}, and "
     "weighed where all scores are lower (SOFTMAX-2)", 28, {.weight = {PADDED}}, {MASK,
     {AT(weight.number), POWERS, 2, MOST_TILE}}},
};

/* ---- Against another maximum ---- */

static const char *const half[] = {"", ", in binary16"};
static const int half_values[] = {CP_FP32, CP_FP16};
#define IN_HALF { AT(weight.type), VALUES, 0, 2, .values = half_values, .words = half, \
    .cost = 1 }

static const struct explain_mistake references[] = {
    {"as if weights were exp(score){0}, without the largest score subtracted: exp(88.8) is "
     "infinity in binary32 and exp(11.1) in binary16, exp(-104) is 0 (SOFTMAX-1)", 10,
     {.weight = {REFERENCE, .number = NO_REFERENCE}}, {IN_HALF}},
    {"as if weights were exp(score - the first key's){0}, not with the largest score subtracted: "
     "exp(88.8) is infinity in binary32 and exp(11.1) in binary16, exp(-104) is 0 (SOFTMAX-1)", 11,
     {.weight = {REFERENCE, .number = FIRST_SCORE}}, {IN_HALF}},
    {"as if the maximum began with {0}, not with -infinity: where all scores are far below, every "
     "weight is 0, and 0 / 0 no number{1} (SOFTMAX-1)", 12, {.weight = {REFERENCE,
     .number = NOT_BELOW}}, {LIMIT(lows, .words = low_words, .cost = 1), IN_HALF}},
};

static const char *const whose_words[] = {
    "the first head of its group",
    "the query before it",
    "the query behind it",
};
static const int maximum_parts[] = {PART_SHARED_CHUNKS, PART_CHUNKS, PART_WHOLE};
static const char *const maximum_words[] = {"in each shared chunk", "in each chunk", "in all keys"};
static const char *const merged_by[] = { "; which shows where the two are far apart and exp() "
    "overflows, or is 0", ", and then merged by their own"};
#define MAXIMUM_OF {AT(weight.parts.kind), VALUES, 0, 3, .values = maximum_parts, \
    .words = maximum_words, .cost = 1}, { AT(weight.own), EACH, 0, 1, .words = merged_by }
#define AGAINST "as if weights had been taken against the largest score of "

static const struct explain_mistake others[] = {
    {AGAINST "the first query of those that share the chunk {0}, not their own query's{1} "
     "(SOFTMAX-1)", 46, {.weight = {OTHER_QUERY, .whose = FIRST_OF_CHUNK}}, {MAXIMUM_OF}},
    {AGAINST "{2} {0}, not their own query's{1} (SOFTMAX-1)", 46, {.weight = {OTHER_QUERY}},
     {MAXIMUM_OF, {AT(weight.whose), EACH, FIRST_OF_GROUP, ONE_BEHIND,
     .words = whose_words}}},
    {AGAINST "the first query of its block of {2} {0}, not their own query's{1} (SOFTMAX-1)", 46,
     {.weight = {OTHER_QUERY, .whose = FIRST_OF_BLOCK}}, {MAXIMUM_OF, {AT(weight.block),
     POWERS, 2, 128}}},
};

/* ---- In a short format ---- */

static const char *const names[] = { "FP16", "BF16"};
static const char *const own_step[] = { "all keys so far, in steps of ", "", };
static const char *const summed[] = { " and summed up", ""};
static const char *const declared[] = { " and `rounded_sum` as 1", "", };
static const int rounding_steps[] = {1, 0, 8, 16, 32, 64, 128, ALL}, both_or_o[] = {IN_BOTH, IN_O};
EXPLAIN_NAMER(name_in_turn) {
    int n = c->weight.parts.n, of_warp = c->weight.number;
    text[0] = '\0';
    if (n > 1 || of_warp > 1) {
        (void)snprintf(text, size, ", %d warp%s taking tiles in turn, each in %d lane%s", n,
                       n > 1 ? "s" : "", of_warp, of_warp > 1 ? "s" : "");
    }
}

EXPLAIN_NAMER(name_declared) {
    (void)snprintf(text, size, "`weights` as CP_%s%s", names[c->weight.type == CP_BF16],
                   declared[c->weight.sums == IN_O]);
}

static const struct explain_mistake rounded[] = {
    {"P in {0} before it is multiplied with V{1}, rounded against the maximum of {2}{3}: {4}",
     EXPLAIN_ROUNDED, {.weight = {ROUNDED}}, {{AT(weight.type), VALUES, 0, 2,
     .values = type_values, .words = names}, {AT(weight.sums), VALUES, 0, 2,
     .values = both_or_o, .words = summed}, {AT(weight.own), EACH, 0, 1,
     .words = own_step}, {AT(weight.parts.tile), VALUES, 0, 8, .values = rounding_steps,
     .name = name_step}, {AT(weight.rule), EACH, ROUNDED, ROUNDED,
     .name = name_declared}}},
    {"the sum of weighted values in FP16, rounded after each key (tiles of {0 key}{2}): accumulate "
     "in FP32, or declare `values` as CP_SUM_FP16", EXPLAIN_ROUNDED, {.weight = {ROUNDED_SUM,
     .type = CP_FP16, .parts = {PART_WARPS}}}, {{AT(weight.parts.tile), POWERS, 1, 128},
     {AT(weight.parts.n), POWERS, 1, 8}, {AT(weight.number), POWERS, 1, 32,
     .name = name_in_turn}}},
};

const struct explain_table explain_sum_tables[] = {
    {"sums that are not rescaled", WITH_KEYS, N(online)},
    {"weights against another number than the largest score", NOT_FINITE, N(references)},
    {"maxima of tiles", WITH_KEYS, N(maxima)},
    {"maxima of other queries", WITH_QUERIES, N(others)},
    {"sums that are rescaled by the maximum of another query", WITH_QUERIES, N(other_maxima)},
    {"parts of the keys that are merged wrongly", WITH_KEYS, N(merges)},
    {"parts of the keys that are not merged", WITH_KEYS, N(alone)},
    {"borders of parts of the keys", WITH_KEYS, N(borders)},
    {"keys that one of the two sums misses", WITH_KEYS, N(miscounted)},
    {"weights of another function", WITH_KEYS, N(light)},
    {"slots without a key that weigh", WITH_KEYS, N(padding)},
    {"warps that take tiles in turn", WITH_KEYS, N(warps)},
    {"what threads of a warp merge", WITH_KEYS, N(threads)},
    {"sums that are not rescaled behind some tiles", WITH_KEYS, N(behind)},
    {"numbers in a short format", NEARLY_RIGHT, N(rounded)},
    {NULL, ALWAYS, NULL, 0},
};

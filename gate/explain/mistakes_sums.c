/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of stage 7: sums that are not rescaled, parts that are merged by wrong factors, weights
 * that one of the two sums misses, weights of another function or against another maximum, and
 * weights in a short format. */
#include "chunkproof/number.h"
#include "gate/explain/mistakes.h"

/* Entries of tables are laid out by hand. */
/* clang-format off */

/* ---- Tile by tile ---- */

#define STEP_WORDS(axis, more) \
    "{" axis "|1 key|a chunk" more "|8 keys|16 keys|32 keys|64 keys|128 keys|all keys}"
#define IN_STEPS  ", in steps of " STEP_WORDS("b", "|a chunk, those that are shared at once")
#define STEPS     COSTLY(parts.tile, 1, A_CHUNK, SHARED_FIRST, 8, 16, 32, 64, 128)
#define FROM_LAST IN_STEPS "{c|| from the last one on}"
#define BACKWARDS {AT(weight.backwards), WALK_EACH, 0, 1, .cost = 8}
#define TILES     POWERS_BELOW(BELOW_KEYS, parts.tile, 1, 128)

/* The sums should be rescaled by exp(old - new); which way is the value of axis a. */
#define BY_BASE \
    "|the sums had been rescaled by a power of e, and scores were in bits: it is 2^(old - new)" \
    "|the sums had been rescaled by a power of 2, and scores were in nats: it is exp(old - new)" \
    "} (MERGE-4)"
#define WRONGLY_RESCALED "as if {a" \
    "|the sum of weighted values had not been rescaled when the maximum grew" \
    "|the sum of weights had not been rescaled when the maximum grew" \
    "|neither sum had been rescaled when the maximum grew" \
    "|the sums had been rescaled by exp(new - old), not exp(old - new)" BY_BASE
#define RESCALED(from, to) WAYS(weight.rescale, from, to)
#define ANY_RESCALED       RESCALED(RESCALES_N_ALONE, RESCALES_BY_2)

static const struct explain_mistake online[] = {
    {WRONGLY_RESCALED FROM_LAST, 40, {.weight = {ONLINE}},
     {RESCALED(RESCALES_N_ALONE, RESCALES_UPSIDE_DOWN), STEPS, BACKWARDS}},
    {"as if {a" BY_BASE FROM_LAST, 48, {.weight = {ONLINE}},
     {RESCALED(RESCALES_BY_E, RESCALES_BY_2), STEPS, BACKWARDS}},
    {"as if {a|the maximum kept had been that of the last step, not the largest so far"
     "|weights had been taken against the maximum before them, the sums then rescaled for the new "
     "one} (MERGE-4)" FROM_LAST, 40, {.weight = {ONLINE}},
     {WAYS(weight.maximum, KEEPS_LAST, WEIGHS_BY_OLD), STEPS, BACKWARDS}},
};

#define LAZILY_IN "as if weights had been taken against the largest score so far, in tiles of " \
    "{t key}, and the sums rescaled only where it had grown by more than {b|2|e}^{c}, so that " \
    "they belong to another maximum until then: "
#define ROOM VALUES(weight.unit, BITS, NATS), VALUES(weight.limit, 8, 4, 10)

static const struct explain_mistake maxima[] = {
    {"as if the maximum were that of each tile of {a key} alone, to which the sums are rescaled: "
     "it is not carried on, and where a later tile is far below, exp(old - new) overflows "
     "(MERGE-4)", 43, {.weight = {ONLINE, KEEPS_OF_TILE}}, {TILES}},
    {"as if weights had been taken against the maximum of their own tile of {a key}{b||, or up to "
     "its chunk's end}, and the sums kept against the largest so far: a tile that is below it "
     "weighs too much (MERGE-4)", 43, {.weight = {ONLINE, WEIGHS_BY_TILE}},
     {TILES, VARIANTS(weight.to_chunk, 0, 1)}},
    {LAZILY_IN "the keys (MERGE-4)", 47, {.weight = {ONLINE, KEEPS_LAZILY}},
     {POWERS_BELOW(BELOW_KEYS, parts.tile, 1, MOST_TILE), ROOM}},
    {LAZILY_IN "each part, {a} (MERGE-4)", 45, {.weight = {ONLINE, KEEPS_LAZILY}},
     {PARTS(PART_HALVES_OF_TILES, PART_SPLITS), ROOM}},
};

/* ---- References that are near the maximum, and not at it (NUM-21) ---- */

#define MOVED_WRONGLY "as if {a" \
    "|a tile had moved the reference where its maximum was far above the tile's before, so that " \
    "small steps never move it" \
    "|a tile had moved the reference where its maximum was far above the largest score so far, " \
    "so that small steps never move it" \
    "|a tile whose maximum is far below the reference had moved it, too" \
    "|a tile with fewer keys than others had not moved the reference} (NUM-21), in tiles of "
#define MOVES WAYS(weight.maximum, MOVES_FROM_LAST, MOVES_NOT_AT_END)

static const struct explain_mistake lazily[] = {
    {MOVED_WRONGLY "{b key}", 41, {.weight = {ONLINE}}, {MOVES, TILES}},
    {"as if n, o and the log-sum-exp had been taken for those of the largest score, not of the "
     "reference that the weights have (NUM-21), in tiles of {a key}", 41,
     {.weight = {ONLINE, .by_most = 1}}, {TILES}},
    {MOVED_WRONGLY "{t key} within each part: {b}", 44, {.weight = {ONLINE}},
     {MOVES, PARTS(PART_HALVES_OF_TILES, PART_SPLITS)}},
    {"as if parts had been merged by their largest scores, not by the references that their "
     "weights have (NUM-21): {a}, in tiles of {t key}", 44, {.weight = {ONLINE, .by_most = 1}},
     {PARTS(PART_HALVES_OF_TILES, PART_SPLITS)}},
};

/* ---- Warps and splits, each with a state of its own ---- */

static const struct explain_mistake warps[] = {
    {WRONGLY_RESCALED ", in steps of {b key} that {c} warps or lanes take in turn", 49,
     {.weight = {ONLINE}, .parts = {PART_WARPS}},
     {ANY_RESCALED, TILES, POWERS_BELOW(BELOW_KEYS, parts.n, 2, 32)}},
    {WRONGLY_RESCALED IN_STEPS ", of the sequence's own chunks alone: those that are shared are "
     "merged as they should be", 48, {.weight = {ONLINE, .own_alone = 1}}, {ANY_RESCALED, STEPS}},
};

#define IN_MERGE "as if in the merge of {a}, each thread had "

static const struct explain_mistake threads[] = {
    {IN_MERGE "taken its own warp's {b|sum of weighted values for that of each"
     "|sum of weighted values alone|result alone} (MERGE-4)", 42, {.weight = {MERGED}},
     {PARTS(PART_WARPS, PART_WARPS), EACH(weight.merge, MERGE_OWN_FOR_ALL, MERGE_OWN_DIVIDED)}},
    {IN_MERGE "scaled all sums to its own warp's maximum, not to the largest: where its warp has "
     "no key that is inf / inf{b||, and lse has the largest added} (MERGE-4)", 5,
     {.weight = {OWN_MAXIMUM}}, {PARTS(PART_WARPS, PART_WARPS), EACH(weight.own, 0, 1)}},
    {"as if the weights of a warp's keys had been handed on within {a} lanes, not 32 (a shuffle's "
     "width), each lane with {b|every 32nd element|elements side by side}: it multiplies V with "
     "weights of other keys (SOFTMAX-1)", 47, {.weight = {SHUFFLED}},
     {POWERS(weight.lanes, 2, 16), EACH(weight.side_by_side, 0, 1)}},
};

#define OF_EACH "each part: {b}"
#define AT_FIRST(letter) "as if the sum of {a|weights|weighted values} had been rescaled when " \
    "the maximum grew in the first {c} tiles of {" letter " key} of "
#define FIRST_TILES RESCALED(RESCALES_N_AT_FIRST, RESCALES_O_AT_FIRST)

static const struct explain_mistake behind[] = {
    {WRONGLY_RESCALED ", in tiles of {t key} within " OF_EACH, 54, {.weight = {ONLINE}},
     {RESCALED(RESCALES_N_ALONE, RESCALES_O_ALONE),
      PARTS(PART_HALVES_OF_TILES, PART_SPLITS)}},
    {AT_FIRST("b") "the keys, and not behind them (MERGE-4)", 48, {.weight = {ONLINE}},
     {FIRST_TILES, POWERS_BELOW(BELOW_KEYS, parts.tile, 1, MOST_TILE),
      VARIANTS(weight.tiles, 2, 8)}},
    {AT_FIRST("t") OF_EACH ", and not behind them (MERGE-4)", 55, {.weight = {ONLINE}},
     {FIRST_TILES, PARTS(PART_HALVES_OF_TILES, PART_SPLITS), VARIANTS(weight.tiles, 2, 8)}},
};

/* ---- Merged ---- */

#define RESULTS_OF "as if the results of {a} "
#define ANY_PARTS  PARTS(PART_CHUNKS, PART_SPLITS)

static const struct explain_mistake merges[] = {
    {RESULTS_OF "{b"
     "|had been added up, each divided by its own sum, and not weighted by exp(its log-sum-exp - "
     "the largest)"
     "|had been added up without weighting their sums of weighted values by exp(its maximum - the "
     "largest), where the sums of weights are"
     "|had been added up as they are: neither sum is weighted by exp(its maximum - the largest), "
     "which is not carried on"
     "|had been weighted by exp(its maximum), not by exp(its log-sum-exp): a part that is divided "
     "by its sum of weights n keeps m + log(n), not m"
     "|had been merged without weighting their sums of weights by exp(its maximum - the largest), "
     "where the sums of weighted values are"
     "|had been weighted, and then divided by how many there are, not by the sum of the weights"
     "|had been averaged, each counting the same"
     "|had been merged by log-sum-exps in nats as if these were in bits, by powers of 2: what is "
     "kept and what is taken are of two bases"
     "|had been merged by log-sum-exps in bits as if these were in nats, by powers of e: what is "
     "kept and what is taken are of two bases"
     "|had each gone on with both sums of the one before: they are not begun anew"
     "|had each gone on with the sum of weights of the one before: it is not begun anew"
     "|had each gone on with the sum of weighted values of the one before: it is not begun anew"
     "} (MERGE-4)", 45, {.weight = {MERGED}},
     {ANY_PARTS, EACH(weight.merge, MERGE_ADDED_DIVIDED, MERGE_CARRIED_O)}},
    {RESULTS_OF "had been merged by {b|maxima|maxima, times log2(e),} that were rounded to "
     "{c|binary16|bfloat16} when they were kept: the sums belong to the unrounded ones (MERGE-4)",
     45, {.weight = {MERGED, .merge = MERGE_KEPT_SHORT}},
     {PARTS(PART_CHUNKS, PART_HALVES_OF_TILES), EACH(weight.unit, NATS, BITS),
      VALUES(weight.type, CP_FP16, CP_BF16)}},
    {RESULTS_OF "had been merged, and one without a key gave NaN: exp(-inf - -inf) (MERGE-2)", 12,
     {.weight = {EMPTY_PART}}, {PARTS(PART_SHARED, PART_SHARED_CHUNKS)}},
    {RESULTS_OF "had been merged, and one without a key gave NaN: exp(-inf - -inf) (MERGE-2)", 8,
     {.weight = {EMPTY_PART}}, {PARTS(PART_SPLITS, PART_WARPS)}},
};

#define AN_END  VALUES(select.a, 0, -1)
#define BORDERS EACH(select.which, SELECT_FIRST_OF_PARTS, SELECT_LAST_OF_PARTS)
#define AT_BORDER \
    "{b|the first one of each part but the first|the last one of each part but the last}"

static const struct explain_mistake borders[] = {
    {RESULTS_OF "had not been merged: {b|the first|the last} part alone (MERGE-4)", 46,
     {.select = {SELECT_NOT_PART}}, {ANY_PARTS, AN_END}},
    {RESULTS_OF "had been merged with {b|the first|the last} part twice (MERGE-4)", 46,
     {.select = {SELECT_PART, .times = 2}}, {ANY_PARTS, AN_END}},
    {RESULTS_OF "had been merged without {b|the first|the last} part (MERGE-4)", 46,
     {.select = {SELECT_PART}}, {ANY_PARTS, AN_END}},
    {RESULTS_OF "overlapped by a key: " AT_BORDER " counts twice (MERGE-4)", 46,
     {.select = {.times = 2}}, {ANY_PARTS, BORDERS}},
    {RESULTS_OF "had a gap of a key: " AT_BORDER " is missing (MERGE-4)", 46, {{0}},
     {ANY_PARTS, BORDERS}},
};

/* ---- Weights of one sum ---- */

#define LACKS   "as if {a|the sum of weights|the sum of weighted values} {b|lacks|has twice} "
#define ONE_SUM EACH(select.sums, IN_N, IN_O), COUNTS

static const struct explain_mistake miscounted[] = {
    {LACKS "the last key (MERGE-4)", 22, {.select = {SELECT_FROM_END, 1}}, {ONE_SUM}},
    {LACKS "the first {c key} (MERGE-4)", 23, {.select = {SELECT_FIRST_TILE}},
     {ONE_SUM, POWERS(select.a, 1, MOST_TILE)}},
    {LACKS "the last tile, of up to {c} keys (MERGE-4)", 23, {.select = {SELECT_LAST_TILE}},
     {ONE_SUM, POWERS(select.a, 1, MOST_TILE)}},
    {LACKS "the keys behind the last multiple of {c} (MERGE-4)", 23, {.select = {SELECT_BEHIND}},
     {ONE_SUM, POWERS(select.a, 2, MOST_TILE)}},
    {"as if {d|the sum of weights|the sum of weighted values} {e|lacks|has twice} {c..c+b key} of "
     "each {a} (MERGE-4)", 24, {.select = {SELECT_OF_EACH}},
     {POWERS(select.a, 2, MOST_TILE), AS_MANY(select.width, WIDTHS), AS_MANY(select.b, PERIODS),
      ONE_SUM}},
    {LACKS "the last part of {c} (MERGE-4)", 46, {.select = {SELECT_PART, -1}},
     {ONE_SUM, ANY_PARTS}},
};

/* ---- Weights of another function ---- */

#define SO_FAR   COSTLY(parts.tile, ALL_AT_ONCE, 1)
#define ALONE_IN VARIANTS(weight.sums, IN_BOTH, IN_O)
#define IN_SUMS \
    "{c|| in the sum of weights alone| in the sum of weighted values alone} (SOFTMAX-1)"
#define DROPS(unit_) {.weight = {FUNCTION, .function = DROPPED, .so_far = 1, .unit = (unit_)}}
#define LIGHT(limit) "as if weights below " limit " of the heaviest key's{b|| so far} had been " \
    "dropped" IN_SUMS

static const struct explain_mistake light[] = {
    {LIGHT("1e-{a}"), 30, DROPS(DECADES), {EACH(weight.limit, 1, 8), SO_FAR, ALONE_IN}},
    {LIGHT("2^-{a}"), 31, DROPS(BITS), {EACH(weight.limit, 1, 24), SO_FAR, ALONE_IN}},
    {LIGHT("e^(-{a} / 2)"), 32, DROPS(HALF_NATS),
     {EACH(weight.limit, 1, 32), SO_FAR, ALONE_IN}},
    {"as if a weight were {a|the square of exp(x)|1 + x (0 below x = -1)|1 + x + x^2 / 2|2^x}, not "
     "exp(x), for x = score - maximum{b|| so far}," IN_SUMS, 16,
     {.weight = {FUNCTION, .so_far = 1}},
     {EACH(weight.function, SQUARE, POWER_OF_2), SO_FAR, ALONE_IN}},
};

/* ---- Keys that are none ---- */

#define SLOTS      "as if slots without a key, up to "
#define NOT_MASKED ", had score 0 and values 0, and a weight: they are not masked (SOFTMAX-2)"
#define MASKED \
    ", were masked by a finite number, {a}, and weighed where all scores are lower (SOFTMAX-2)"
#define MASK       VALUES(weight.limit, -100, -1000, -10000, -50000)

static const struct explain_mistake padding[] = {
    {"as if there were a key more with score 0 and values 0: 1 had been added to the sum, or it "
     "begins with 1 (SOFTMAX-1)", 26, {.weight = {PADDED, .slots = -1}}},
    {SLOTS "the end of the last chunk" NOT_MASKED, 26, {.weight = {PADDED}}},
    {SLOTS "a multiple of {a}" NOT_MASKED, 27, {.weight = {PADDED}},
     {POWERS(weight.slots, 2, MOST_TILE)}},
    {SLOTS "the end of the last chunk" MASKED, 27, {.weight = {PADDED}}, {MASK}},
    {SLOTS "a multiple of {b}" MASKED, 28, {.weight = {PADDED}},
     {MASK, POWERS(weight.slots, 2, MOST_TILE)}},
};

/* ---- Against another maximum ---- */

#define IN_HALF   COSTLY(weight.type, CP_FP32, CP_FP16)
#define HALF      "|, in binary16}"
#define OVERFLOWS " the largest score subtracted: exp(88.8) is infinity in binary32 and " \
    "exp(11.1) in binary16, exp(-104) is 0 (SOFTMAX-1)"

static const struct explain_mistake references[] = {
    {"as if weights were exp(score){a|" HALF ", without" OVERFLOWS, 10,
     {.weight = {REFERENCE, .reference = NO_REFERENCE}}, {IN_HALF}},
    {"as if weights were exp(score - the first key's){a|" HALF ", not with" OVERFLOWS, 11,
     {.weight = {REFERENCE, .reference = FIRST_SCORE}}, {IN_HALF}},
    {"as if the maximum began with {a}, not with -infinity: where all scores are far below, every "
     "weight is 0, and 0 / 0 no number{b|" HALF " (SOFTMAX-1)", 12,
     {.weight = {REFERENCE, .reference = NOT_BELOW}},
     {COSTLY(weight.limit, 0, -100, -1000, -10000, -50000), IN_HALF}},
};

#define AGAINST "as if weights had been taken against the largest score of "
#define NOT_OWN " {a|in each shared chunk|in each chunk|in all keys}, not their own query's{b" \
    "|; which shows where the two are far apart and exp() overflows, or is 0" \
    "|, and then merged by their own} (SOFTMAX-1)"
#define MAXIMUM_OF COSTLY(parts.kind, PART_SHARED_CHUNKS, PART_CHUNKS, PART_WHOLE), \
    EACH(weight.merged_by_own, 0, 1)

static const struct explain_mistake others[] = {
    {AGAINST "the first query of those that share the chunk" NOT_OWN, 46,
     {.weight = {OTHER_QUERY, .whose = FIRST_OF_CHUNK}}, {MAXIMUM_OF}},
    {AGAINST OTHER_WORDS("c") NOT_OWN, 46, {.weight = {OTHER_QUERY}},
     {MAXIMUM_OF, OF_OTHER(weight.whose)}},
    {AGAINST "the first query of its block of {c}" NOT_OWN, 46,
     {.weight = {OTHER_QUERY, .whose = FIRST_OF_BLOCK}},
     {MAXIMUM_OF, POWERS(weight.block, 2, 128)}},
    {"as if the sums had been rescaled {a|from|to} the maximum of " OTHER_WORDS("c")
     " when their own maximum grew, in steps of {b key} (MERGE-4)", 45, {.weight = {ONLINE}},
     {WAYS(weight.maximum, RESCALES_FROM_OTHER, RESCALES_TO_OTHER), TILES,
      VARIANTS(weight.whose, FIRST_OF_GROUP, ONE_BEHIND)}},
};

/* ---- In a short format ---- */

static const struct explain_mistake rounded[] = {
    {"P in {a|FP16|BF16} before it is multiplied with V{b| and summed up|}, rounded against the "
     "maximum of {c|all keys so far, in steps of |}" STEP_WORDS("d", "") ": `weights` as "
     "CP_{a|FP16|BF16}{b| and `rounded_sum` as 1|}", EXPLAIN_ROUNDED,
     {.weight = {FUNCTION, .function = ROUNDED}},
     {VALUES(weight.type, CP_FP16, CP_BF16), VALUES(weight.sums, IN_BOTH, IN_O),
      VALUES(weight.so_far, 1, 0),
      VALUES(parts.tile, 1, A_CHUNK, 8, 16, 32, 64, 128, ALL_AT_ONCE)}},
    {"the sum of weighted values in FP16, rounded after each key (tiles of {a key}, {b warp} "
     "taking tiles in turn, each in {c lane}): accumulate in FP32, or declare `values` as "
     "CP_SUM_FP16", EXPLAIN_ROUNDED,
     {.weight = {ROUNDED_SUM, .type = CP_FP16}, .parts = {PART_WARPS}},
     {POWERS(parts.tile, 1, 128), POWERS(parts.n, 1, 8), POWERS(weight.lanes, 1, 32)}},
};

const struct explain_table explain_sum_tables[] = {
    {"sums that are not rescaled", WITH_KEYS, N(online)},
    {"weights against another number than the largest score", NOT_FINITE, N(references)},
    {"references near the maximum", WITH_KEYS, N(lazily), OF_LAZY},
    {"maxima of tiles", WITH_KEYS, N(maxima)},
    {"maxima of other queries", WITH_QUERIES, N(others)},
    {"parts of the keys that are merged wrongly", WITH_KEYS, N(merges)},
    {"parts of the keys that are not merged, and their borders", WITH_KEYS, N(borders)},
    {"keys that one of the two sums misses", WITH_KEYS, N(miscounted)},
    {"weights of another function", WITH_KEYS, N(light)},
    {"slots without a key that weigh", WITH_KEYS, N(padding)},
    {"warps that take tiles in turn", WITH_KEYS, N(warps)},
    {"what threads of a warp merge", WITH_KEYS, N(threads)},
    {"sums that are not rescaled behind some tiles", WITH_KEYS, N(behind)},
    {"numbers in a short format", NEARLY_RIGHT, N(rounded)},
    {NULL, ALWAYS, NULL, 0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of stages 5 and 6: another query, elements of it, other scores. */
#include "chunkproof/number.h"
#include "gate/explain/mistakes.h"

/* Entries of tables are laid out by hand. */
/* clang-format off */

/* ---- 5: another query ---- */

#define ANOTHER_QUERY "as if the query of "

static const struct explain_mistake queries[] = {
    {ANOTHER_QUERY "{a|row s had been taken for each row of sequence s"
     "|a sequence's first row had been taken for all its rows"
     "|a sequence's last row had been taken for all its rows"
     "|its row counted in its sequence, not in the call, had been taken"
     "|head a of the K/V heads, its own K/V head's number, had been taken} (PREFILL-1)", 12, {{0}},
     {EACH(query.way, QUERY_OF_SEQUENCE, QUERY_OF_KV_HEAD)}},
    {"as if Q were [head][row], not [row][head] (PREFILL-1)", 12, {.query = {QUERY_TRANSPOSED}}},
    {ANOTHER_QUERY "head a had been that of head a % {a}: its number does not fit (PREFILL-1)", 18,
     {.query = {QUERY_HEAD_WRAPS}}, {FALLING(query.head, 2, 256)}},
    {"as if Q had been read {a|with the strides of row and head swapped|as if it lay in one piece, "
     "[row][head]} (GATE-3)", 12, {{0}}, {EACH(query.way, QUERY_STRIDES, QUERY_PACKED)}},
    {"as if rows and heads of a group were taken {a} at a time, {b|row by row, and a head were"
     "|head by head, and a row were} counted from the first of these, not from its own: its query "
     "is another one's (PREFILL-1)", 12, {.query = {QUERY_FROM_TILE}},
     {POWERS(query.pairs, 2, 128), VARIANTS(query.by_heads, 0, 1)}},
    {ANOTHER_QUERY "row r {+a} had been taken for row r (PREFILL-1)", 14, {.query = {QUERY_BY}},
     {EACH(query.row, -12, 12)}},
    {ANOTHER_QUERY "head a {+a} had been taken for head a (PREFILL-1)", 14, {.query = {QUERY_BY}},
     {EACH(query.head, -12, 12)}},
    {ANOTHER_QUERY "row r {+a}, head a {+b} had been taken for row r, head a (PREFILL-1)", 16,
     {.query = {QUERY_BY}}, {UP_TO_3(query.row), UP_TO_3(query.head)}},
};

/* ---- 5: elements ---- */

#define OF_ELEMENTS(times) " of Q and K had been {" times \
    "|left out of the scores|counted twice in the scores} (SOFTMAX-1)"
#define TIMES VARIANTS(elements.times, 0, 1)
#define BEHIND_MULTIPLE "the elements behind the last multiple of {a} of Q and K had been {b" \
    "|left out of the scores|counted twice in the scores}"

static const struct explain_mistake elements[] = {
    {"as if the last element" OF_ELEMENTS("a"), 13, {.elements = {ELEMENTS_LAST, 1}}, {TIMES}},
    {"as if the last {a} elements" OF_ELEMENTS("b"), 13, {.elements = {ELEMENTS_LAST}},
     {EACH_BELOW(BELOW_D, elements.a, 2, 16), TIMES}},
    {"as if the elements behind a value, from d_v on,"
     OF_ELEMENTS("a"), 12, {.elements = {ELEMENTS_BEHIND_VALUE}}, {TIMES}},
    {"as if {0..a element}" OF_ELEMENTS("b"), 13, {.elements = {ELEMENTS_FROM_TO}},
     {EACH_BELOW(BELOW_D, elements.b, 1, 16), TIMES}},
    {"as if " BEHIND_MULTIPLE " (SOFTMAX-1)", 13, {.elements = {ELEMENTS_BEHIND}},
     {POWERS_BELOW(UP_TO_D, elements.a, 4, 256), TIMES}},
    {"as if " BEHIND_MULTIPLE ", and all where d is smaller (SOFTMAX-1)", 13,
     {.elements = {ELEMENTS_BEHIND, .b = 1}}, {POWERS(elements.a, 4, 256), TIMES}},
    {"as if {a..b element}" OF_ELEMENTS("c"), 14, {.elements = {ELEMENTS_FROM_TO}},
     {AS_MANY(elements.a, ELEMENTS), AS_MANY(elements.b, BLOCKS), TIMES}},
    {"as if {a..b element}" OF_ELEMENTS("c"), 15, {.elements = {ELEMENTS_FROM_TO}},
     {{AT(elements.a), ELEMENTS, 8}, {AT(elements.b), BLOCKS, 8}, TIMES}},
    {"as if elements {b}, {b+a}, ..." OF_ELEMENTS("c"), 15, {.elements = {ELEMENTS_EVERY}},
     {POWERS_BELOW(BELOW_D, elements.a, 2, 128), AS_MANY(elements.b, PERIOD), TIMES}},
    {"as if the sum of a score's products missed a step over lanes: elements i of the same "
     "{a|i / |i % |i & }{b} of the output have scores of their own ones of Q and K alone{c||, and "
     "are divided by the first lane's sum} (SOFTMAX-1)", 16, {{0}},
     {WAYS(elements.way, ELEMENTS_BLOCKS, ELEMENTS_BITS),
      POWERS_BELOW(BELOW_D, elements.a, 1, 256), VARIANTS(elements.b, 0, 1)}},
};

/* ---- 6: scales ---- */

#define ANOTHER_D "as if the scale were that of another d: 1 / sqrt("

static const struct explain_mistake scales[] = {
    {"as if {a|the scores had not been scaled|the scores had been scaled twice"
     "|the scores had been multiplied by log2(e), or weights were powers of e for scores in bits"
     "|the scores had been multiplied by ln 2, or weights were powers of 2 for scores in nats"
     "|the scale were 1 / sqrt(d), not the call's|the scale were 1 / sqrt(d_v), not the call's"
     "|the scale were 1 / sqrt(d - d_v), not the call's|the scale were 1 / d"
     "|the scale were its square root}{b||, of keys in shared chunks alone"
     "|, of keys in the sequence's own chunks alone} (SOFTMAX-1)", 10, {{0}},
     {EACH(score.way, SCORE_UNSCALED, SCORE_ROOT_OF_SCALE),
      {AT(score.keys), WALK_EACH, ALL_KEYS, OWN_KEYS, .cost = 4}}},
    {"as if the scores had been {a} times as large (SOFTMAX-1)", 12, {.score = {SCORE_TIMES}},
     {POWERS(score.by, 2, 16)}},
    {"as if the scores had been divided by {a} (SOFTMAX-1)", 12, {.score = {SCORE_OVER}},
     {POWERS(score.by, 2, 16)}},
    {"as if the scores had the wrong sign (SOFTMAX-1)", 12, {.score = {SCORE_NEGATIVE}}},
    {ANOTHER_D "{a}), not the call's (SOFTMAX-1)", 12, {.score = {SCORE_OF_D}},
     {VALUES(score.by, 16, 32, 40, 48, 64, 72, 80, 96, 100, 112, 128, 160, 192, 256, 320, 512)}},
    {ANOTHER_D "d up to a power of 2), not the call's (SOFTMAX-1)", 12,
     {.score = {SCORE_OF_POWER}}},
    {ANOTHER_D "d up to a multiple of {a}), not the call's (SOFTMAX-1)", 13,
     {.score = {SCORE_OF_MULTIPLE}}, {POWERS(score.by, 8, 128)}},
    {"as if the scale were 1 / sqrt(c), not the call's (SOFTMAX-1)", 13,
     {.score = {SCORE_OF_CHUNK}}},
    {"as if the scale were that of all heads: 1 / sqrt(h d), not the call's (SOFTMAX-1)", 13,
     {.score = {SCORE_OF_HEADS}}},
};

/* ---- 5, 6: rounded too early ---- */

#define WERE_ROUNDED " were rounded to " TYPE_WORDS("b")

static const struct explain_mistake early[] = {
    {"as if q{a| times the scale|| times the scale and log2(e)}" WERE_ROUNDED
     "{a| before the product with K|| before the product with K} (SOFTMAX-1)", 13, {{0}},
     {EACH(elements.way, ELEMENTS_SCALED, ELEMENTS_SCALED_BITS), OF_TYPE(elements.a)}},
    {"as if the scale{a|| times log2(e)}" WERE_ROUNDED " (SOFTMAX-1)", 13, {{0}},
     {EACH(score.way, SCORE_ROUNDED_SCALE, SCORE_ROUNDED_SCALE_BITS), OF_TYPE(score.type)}},
    {"as if each score{a||, times log2(e),}" WERE_ROUNDED " (SOFTMAX-1)", 15, {{0}},
     {VARIANTS(score.way, SCORE_ROUNDED, SCORE_ROUNDED_BITS), OF_TYPE(score.type)}},
};

/* ---- 5, 6: bent ---- */

static const struct explain_mistake bends[] = {
    {"as if {a|elements 2i and 2i + 1 of Q, but not of K, had been swapped"
     "|the halves of Q, but not of K, had been swapped"
     "|all elements of Q, but not of K, had been read from the last on"
     "|the magnitude of each product of Q and K had been added up} (SOFTMAX-1)", 15, {{0}},
     {EACH(elements.way, ELEMENTS_PAIRS, ELEMENTS_MAGNITUDES)}},
    {"as if scores s had been capped: {a} tanh(s / {a}) (SOFTMAX-1)", 15, {.score = {SCORE_CAPPED}},
     {VALUES(score.by, 10, 15, 20, 30, 50, 100)}},
    {"as if scores had been cut off at 65504, the largest number of binary16 (SOFTMAX-1)", 15,
     {.score = {SCORE_AT_MOST, 65504}}},
    {"as if {a|the magnitude of each score had been taken|scores below 0 had been taken as 0"
     "|each score were less by 2^(-8 (head + 1) / h) times the distance to the last key seen"
     "|each score were more by 2^(-8 (head + 1) / h) times the distance to the last key seen"
     "|each score were more by 2^(-8 (head + 1) / h) times the key's position} (SOFTMAX-1)", 15,
     {{0}}, {EACH(score.way, SCORE_MAGNITUDE, SCORE_MORE_BY_POSITION)}},
    {"as if the score of each key had been added to the next one's: a sum is not cleared "
     "(SOFTMAX-1)", 16, {.score = {SCORE_ADDED_UP}}},
};

#define INFINITE ", infinity then, and as the maximum it gives inf - inf (NUM-7)"

static const struct explain_mistake overflows[] = {
    {"as if a score overflows binary16: it is above 65504" INFINITE, 11,
     {.score = {SCORE_OVERFLOWS}}},
    {"as if a score overflows binary16 before it is scaled: the sum of q k is above 65504"
     INFINITE, 12, {.score = {SCORE_PRODUCTS_OVERFLOW}}},
};

/* ---- 6: rotated otherwise ---- */

#define WHICH_KEYS(axis) "{" axis "||, of shared chunks,|, of its own chunks,}"
#define OF_KEYS          VARIANTS(rotate.keys, ALL_KEYS, OWN_KEYS)

static const struct explain_mistake rotations[] = {
    {"as if keys" WHICH_KEYS("b") " had {a|not been rotated|been rotated twice"
     "|been rotated the other way: the sine has the wrong sign} (GATE-14)", 10, {{0}},
     {EACH(rotate.way, ROTATED_NOT, ROTATED_BACK), OF_KEYS}},
    {"as if a key" WHICH_KEYS("b") " had been rotated by {a|its position"
     "|the position of its run|its slot|the number of tokens before it} (GATE-14)", 11, {{0}},
     {EACH(rotate.way, ROTATED_BY_POSITION, ROTATED_BY_NUMBER), OF_KEYS}},
    {"as if a key had been rotated by {a|the row's position"
     "|the distance between the row and the key} (GATE-14)", 12, {{0}},
     {EACH(rotate.way, ROTATED_BY_ROW, ROTATED_BY_DISTANCE)}},
    {"as if a chunk had been rotated by the position that it has where it comes first: it stands "
     "at another one, too (GATE-14)", 11, {.rotate = {ROTATED_AS_FIRST}}},
    {"as if keys" WHICH_KEYS("b") " had been rotated by t {+a} (GATE-14)", 12,
     {.rotate = {ROTATED_BY}}, {UP_TO_3(rotate.by), OF_KEYS}},
    {"as if keys of a tile of {a} slots had been rotated as its first one (GATE-14)", 13,
     {.rotate = {ROTATED_BY_TILE}}, {POWERS(rotate.by, 4, 128)}},
    {"as if {a|row 0 of the table were no rotation|the last key that a row sees had not been "
     "rotated} (GATE-14)", 13, {{0}}, {EACH(rotate.way, ROTATED_NOT_BY_0, ROTATED_NOT_LAST)}},
    {"as if t had been taken modulo {a} (GATE-14)", 13, {.rotate = {ROTATED_MODULO}},
     {POWERS(rotate.by, 16, 65536)}},
    {"as if t had been {a} at most (GATE-14)", 14, {.rotate = {ROTATED_AT_MOST}},
     {VALUES(rotate.by, 127, 255, 511, 1023, 2047, 4095, 8191, 16383, 32767, 65535)}},
    {"as if {a|pairs were of the other kind: neighbours for halves, or halves for neighbours"
     "|pairs were i and i + d / 2, not i and i + rotary_dim / 2"
     "|cosines and sines of the table had changed places"
     "|the table had a cosine and a sine in turn, not all cosines first"
     "|the first number of each pair alone had been rotated"
     "|the second number of each pair had been made of the first one when it was rotated already"
     "|all pairs had been rotated as the first one"
     "|rows of the table were d apart, not rotary_dim} (GATE-14)", 12, {{0}},
     {EACH(rotate.way, ROTATED_OTHER_PAIRS, ROTATED_STRIDE_D)}},
};

/* ---- 6: changed otherwise ---- */

static const struct explain_mistake changes[] = {
    {"as if scores had {a|not been capped|been cut off at the cap: the smaller of both, not tanh"
     "|not been divided by the cap before tanh|not been multiplied by the cap after tanh"
     "|been capped before they were scaled|been scaled twice before they were capped"
     "|been through tanh twice|been capped in bits: log2(e) s was divided by a cap in nats"
     "|been capped in nats, and the cap were not multiplied by log2(e)"
     "|been capped when they were in bits, and weighed as powers of e"
     "|been divided by twice the cap before tanh"
     "|been capped by the cap without its fraction} (SCORE-1)", 8, {{0}},
     {EACH(change.way, CHANGE_NO_CAP, CHANGE_WHOLE_CAP)}},
    {"as if cap and bias had been applied in the other order (SCORE-4)", 7,
     {.change = {CHANGE_OTHER_ORDER}}},
};

static const struct explain_mistake slopes[] = {
    {"as if {a|there were no bias|the bias had the other sign|the bias had been added twice"
     "|the bias had been added before scores were scaled"
     "|the bias had not been multiplied by log2(e)|the bias had been multiplied by log2(e)"
     "|the slope of its K/V head's number had been taken"
     "|slopes were counted in the group, not among all heads"
     "|slopes were ALiBi's own, 2^(-8 (head + 1) / h), not the call's} (SCORE-2)", 8, {{0}},
     {EACH(change.way, CHANGE_NO_BIAS, CHANGE_SLOPE_OF_ALIBI)}},
    {"as if the bias were {a|of the signed distance, t - p|of the distance without its sign"
     "|of the key's position, t, not of its distance"
     "|of the distance to the last row of the sequence"
     "|of the distance to the last key of the sequence|of the slot in the chunk} (CONV-8)", 9,
     {{0}}, {EACH(change.way, CHANGE_SIGNED, CHANGE_OF_SLOT)}},
    {"as if the bias were of the distance {+a} (SCORE-2)", 11, {.change = {CHANGE_BY}},
     {UP_TO_3(change.by)}},
    {"as if the slope of head a {+a} had been taken for head a (SCORE-2)", 11,
     {.change = {CHANGE_SLOPE_BY}}, {EACH(change.by, -8, 8)}},
};

static const struct explain_mistake biases[] = {
    {"as if {a|there were no bias|the bias had the other sign|the bias had been added twice"
     "|the bias had been added before scores were scaled"
     "|the bias had not been multiplied by log2(e)|the bias had been multiplied by log2(e)} "
     "(SCORE-5)", 8, {{0}}, {EACH(change.way, CHANGE_NO_BIAS, CHANGE_BIAS_LOG2_E)}},
    {"as if the entry of the table were {a|of t - p, not of p - t|of p - t alone, without own_bias"
     "|of the key's position, not of its distance|of the distance to the first row of the sequence"
     "|of the distance to the last row of the sequence"
     "|of the distance to the last key of the sequence"
     "|of the row's number among the queries, not of its position"
     "|of the key's number in the sequence, not of its position"
     "|of the key's number among those that the row sees, not of its position"
     "|of the key's slot, not of its position"
     "|of the first key of the run, for all of its keys|of the distance without its sign"
     "|a number of 16 bits} (SCORE-5)", 9, {{0}},
     {EACH(change.way, BIAS_REVERSED, BIAS_OF_16_BITS)}},
    {"as if {a|entries had been taken modulo n_biases|entries above the last had been taken modulo "
     "n_biases|entries below 0 had been taken modulo n_biases|the first entry had been taken above "
     "the last|the last entry had been taken below 0|there were no bias above the last entry"
     "|there were no bias below entry 0|there were no bias of keys ahead of the row"
     "|keys ahead of the row had the row's own} (SCORE-5)", 8,
     {{0}}, {EACH(change.way, BIAS_MODULO, BIAS_OWN_AHEAD)}},
    {"as if the table {a|of its K/V head's number had been taken"
     "|were counted in the group, not among all heads"
     "|of the first head of its group had been taken|of head 0 had been taken for all heads"
     "|were [n_biases][h], not [h][n_biases]} (SCORE-5)", 8, {{0}},
     {EACH(change.way, BIAS_OF_KV_HEAD, BIAS_TRANSPOSED)}},
    {"as if entry i {+a} of the table had been taken for entry i (SCORE-5)", 10,
     {.change = {BIAS_BY}}, {UP_TO_3(change.by)}},
    {"as if keys of a tile of {a} slots had the bias of its first one (SCORE-5)", 10,
     {.change = {BIAS_OF_TILE}}, {POWERS(change.by, 2, 128)}},
    {"as if the table of head a {+a} had been taken for head a (SCORE-5)", 11,
     {.change = {BIAS_HEAD_BY}}, {EACH(change.by, -8, 8)}},
};

#define MASKED_TO_CAP \
    "as if scores had been capped when they were masked: a masked key's is -cap then (SCORE-4)"

static const struct explain_mistake masked_on_paths[] = {
    {MASKED_TO_CAP, 9, {.sees = {SEES_ALL}, .change = {CHANGE_MASKED_TO_CAP}}},
};

static const struct explain_mistake masked_in_runs[] = {
    {MASKED_TO_CAP, 9, {.mask = {MASK_NO_WINDOW}, .change = {CHANGE_MASKED_TO_CAP}}},
};

#define IN_WHICH "{b||, in the result alone|, in the log-sum-exp alone}"
#define OF_SUMS  VARIANTS(sink.sums, IN_BOTH, IN_O)

static const struct explain_mistake sinks[] = {
    {"as if {a|there were no sink|there were a sink in each run of its sequence"
     "|there were a sink in each chunk}" IN_WHICH " (SCORE-3)", 7, {{0}},
     {EACH(sink.way, SINK_NONE, SINK_EACH_CHUNK), OF_SUMS}},
    {"as if the sink {a|of its K/V head's number had been taken"
     "|had been counted in the group, not among all heads|had been scaled|had been capped"
     "|had not been multiplied by log2(e)|had been multiplied by log2(e)"
     "|were not less by the maximum: exp(sink), not exp(sink - m)"
     "|were no logarithm: the sink itself had been added to the sum of weights"
     "|had become the maximum, and nothing had been rescaled"
     "|were only of rows that see keys}" IN_WHICH " (SCORE-3)", 9, {{0}},
     {EACH(sink.way, SINK_OF_KV_HEAD, SINK_WITH_KEYS), OF_SUMS}},
    {"as if the log-sum-exp had the sink in it where it has not, or not where it has (CONV-9)", 6,
     {.sink = {SINK_IN_OTHER_LSE}}},
    {"as if the sink had been counted {a} times" IN_WHICH " (SCORE-3)", 11,
     {.sink = {SINK_TIMES}}, {EACH(sink.by, 2, 32), OF_SUMS}},
    {"as if the sink of head a {+a} had been taken for head a" IN_WHICH " (SCORE-3)", 12,
     {.sink = {SINK_BY}}, {EACH(sink.by, -8, 8), OF_SUMS}},
};

/* ---- 6: scales of a cache ---- */

static const struct explain_mistake dequantises[] = {
    {"as if " ARRAY_WORDS("b") " had {a|not been multiplied by the scale of the cache"
     "|been multiplied twice by the scale of the cache|been divided by the scale of the cache"
     "|been multiplied by the scale of the other array: of V for K, of K for V} (CONV-10)", 7,
     {{0}},
     {EACH(dequantise.way, DEQUANTISE_NOT, DEQUANTISE_OF_OTHER_ARRAY),
      OF_ARRAY(dequantise.array)}},
    {"as if " ARRAY_WORDS("b") " had been multiplied by the scale {a|of place 0|of K/V head 0"
     "|of K/V head a % h_kv for query head a|of slot 0 of the chunk|of chunk 0"
     "|of the key's number in its sequence} (CONV-10)", 8, {{0}},
     {EACH(dequantise.way, DEQUANTISE_OF_FIRST, DEQUANTISE_OF_KEY_NUMBER),
      OF_ARRAY(dequantise.array)}},
    {"as if the scale of slot j {+a} had been taken for slot j, of " ARRAY_WORDS("b") " (CONV-10)",
     10, {.dequantise = {DEQUANTISE_BY_SLOT}},
     {UP_TO_3(dequantise.by), OF_ARRAY(dequantise.array)}},
    {"as if the scale of K/V head g {+a} had been taken for K/V head g, of " ARRAY_WORDS("b")
     " (CONV-10)", 10, {.dequantise = {DEQUANTISE_BY_HEAD}},
     {UP_TO_3(dequantise.by), OF_ARRAY(dequantise.array)}},
    {"as if " ARRAY_WORDS("b") " had been {a|multiplied by a scale that is a power of two: the one "
     "below|half as large: E4M3 as FNUZ has it, with another bias"
     "|twice as large: another bias of the exponent} (NUM-16)", 10, {{0}},
     {EACH(dequantise.way, DEQUANTISE_OF_POWER, DEQUANTISE_DOUBLE), OF_ARRAY(dequantise.array)}},
};

const struct explain_table explain_score_tables[] = {
    {"scales of the cache", WITH_KEYS, N(dequantises), OF_CACHES},
    {"sinks", ALWAYS, N(sinks), OF_SINKS},
    {"scores that are changed otherwise", WITH_KEYS, N(changes), OF_CHANGED},
    {"other biases by slope", WITH_KEYS, N(slopes), OF_SLOPES},
    {"other tables of biases", WITH_KEYS, N(biases), OF_BIASES},
    {"masks that are capped", WITH_KEYS, N(masked_on_paths), OF_PATHS | OF_CAPPED},
    {"masks of runs that are capped", WITH_KEYS, N(masked_in_runs), OF_LISTS | OF_CAPPED},
    {"keys that are rotated otherwise", WITH_KEYS, N(rotations), OF_ROTATED},
    {"scales", WITH_KEYS, N(scales)},
    {"other queries", WITH_QUERIES, N(queries)},
    {"numbers that are rounded too early", WITH_KEYS, N(early)},
    {"elements of the scores", WITH_KEYS, N(elements)},
    {"scores of another formula", WITH_KEYS, N(bends)},
    {"scores that overflow", NOT_FINITE, N(overflows)},
    {NULL, ALWAYS, NULL, 0},
};

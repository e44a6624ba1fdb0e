/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of stages 5 and 6: another query, elements of it, other scores. */
#include <stdio.h>

#include "chunkproof/number.h"
#include "gate/explain/mistakes.h"

/* Rows of tables are laid out by hand. */
/* clang-format off */

#define N(table) (table), sizeof(table) / sizeof(table)[0]

static const char *const types[] = {"binary16", "bfloat16", "binary32"};
static const int type_values[] = {CP_FP16, CP_BF16, CP_FP32}, times[] = {0, 1};
#define OF_TYPE(field) {AT(field), VALUES, 0, 3, .values = type_values, .words = types}

/* ---- 5: another query ---- */

EXPLAIN_NAMER(name_away) {
    explain_name_away(c->query.row, c->query.head, "had been taken", text, size);
}

#define AWAY(field, from, to) {AT(field), EACH, from, to, .cost = 0}
static const char *const orders[] = {"row by row, and a head were", "head by head, and a row were"};
static const char *const which_rows[] = {
    "row s had been taken for each row of sequence s",
    "a sequence's first row had been taken for all its rows",
    "a sequence's last row had been taken for all its rows",
    "its row counted in its sequence, not in the call, had been taken",
    "head a of the K/V heads, its own K/V head's number, had been taken",
};

static const struct explain_mistake queries[] = {
    {"as if the query of {0} (PREFILL-1)", 12, {{0}}, {{AT(query.rule), EACH, QUERY_OF_SEQUENCE,
     QUERY_OF_KV_HEAD, .words = which_rows}}},
    {"as if Q were [head][row], not [row][head] (PREFILL-1)", 12, {.query = {QUERY_TRANSPOSED}}},
    {"as if Q had been read with the strides of row and head swapped (GATE-3)", 12,
     {.query = {QUERY_STRIDES}}},
    {"as if the query of head a had been that of head a % {0}: its number does not fit (PREFILL-1)",
     18, {.query = {QUERY_HEAD_WRAPS}}, {{AT(query.head), POWERS, 2, 256, .cost = -1}}},
    {"as if Q had been read as if it lay in one piece, [row][head] (GATE-3)", 12,
     {.query = {QUERY_PACKED}}},
    {"as if rows and heads of a group were taken {0} at a time, {1} counted from the first of "
     "these, not from its own: its query is another one's (PREFILL-1)", 12,
     {.query = {QUERY_FROM_TILE}}, {{AT(query.pairs), POWERS, 2, 128}, {AT(query.by_heads), EACH, 0,
     1, .words = orders, .cost = 1}}},
    {"as if the query of {0} (PREFILL-1)", 14, {.query = {QUERY_BY}}, {{AT(query.row), EACH, -12,
     12, .name = name_away}}},
    {"as if the query of {0} (PREFILL-1)", 14, {.query = {QUERY_BY}}, {{AT(query.head), EACH, -12,
     12, .name = name_away}}},
    {"as if the query of {0} (PREFILL-1)", 16, {.query = {QUERY_BY}}, {{AT(query.row), EACH, -3, 3,
     .name = name_away}, AWAY(query.head, -3, 3)}},
};

/* ---- 5: elements ---- */

EXPLAIN_NAMER(name_elements) {
    int a = c->elements.a, b = c->elements.b;
    if (c->elements.rule == ELEMENTS_FROM_TO && b - a == 1) {
        (void)snprintf(text, size, "element %d", a);
    } else if (c->elements.rule == ELEMENTS_FROM_TO) {
        (void)snprintf(text, size, "elements %d to %d", a, b - 1);
    } else if (c->elements.rule == ELEMENTS_EVERY) {
        (void)snprintf(text, size, "elements %d, %d, ...", b, a + b);
    } else if (c->elements.rule == ELEMENTS_BEHIND) {
        (void)snprintf(text, size, "the elements behind the last multiple of %d", a);
    } else {
        (void)snprintf(text, size, a == 1 ? "the last element" : "the last %d elements", a);
    }
}

static const char *const counted[] = {"left out of the scores", "counted twice in the scores"};
#define OF_TIMES { AT(elements.times), VALUES, 0, 2, .values = times, .words = counted, .cost = 1 }
#define OF_A(walk, ...) {AT(elements.a), walk, __VA_ARGS__}
#define OF_B(walk, ...) {AT(elements.b), walk, __VA_ARGS__, .name = name_elements}

static const struct explain_mistake elements[] = {
    {"as if {0} of Q and K had been {1} (SOFTMAX-1)", 13, {.elements = {ELEMENTS_LAST}}, {OF_A(EACH,
     1, 16, BELOW_D, .name = name_elements), OF_TIMES}},
    {"as if {0} of Q and K had been {1} (SOFTMAX-1)", 13, {.elements = {ELEMENTS_FROM_TO}},
     {OF_B(EACH, 1, 16, BELOW_D), OF_TIMES}},
    {"as if {0} of Q and K had been {1} (SOFTMAX-1)", 13, {.elements = {ELEMENTS_BEHIND}},
     {OF_A(POWERS, 4, 256, UP_TO_D, .name = name_elements), OF_TIMES}},
    {"as if {0} of Q and K had been {1}, and all where d is smaller (SOFTMAX-1)", 13,
     {.elements = {ELEMENTS_BEHIND, .b = 1}}, {OF_A(POWERS, 4, 256, .name = name_elements),
     OF_TIMES}},
    {"as if {1} of Q and K had been {2} (SOFTMAX-1)", 14, {.elements = {ELEMENTS_FROM_TO}},
     {OF_A(ELEMENTS, 0, 0), OF_B(BLOCKS, 1, 0), OF_TIMES}},
    {"as if {1} of Q and K had been {2} (SOFTMAX-1)", 15, {.elements = {ELEMENTS_FROM_TO}},
     {OF_A(ELEMENTS, 8, 0), OF_B(BLOCKS, 8, 0), OF_TIMES}},
    {"as if {1} of Q and K had been {2} (SOFTMAX-1)", 15, {.elements = {ELEMENTS_EVERY}},
     {OF_A(POWERS, 2, 128, BELOW_D), OF_B(PERIOD, 0, 0), OF_TIMES}},
};

static const char *const lane_words[] = {"", ", and are divided by the first lane's sum"};
#define BY_FIRST {AT(elements.b), EACH, 0, 1, .words = lane_words, .cost = 1}
#define LANES(which) "as if the sum of a score's products missed a step over " \
    "lanes: " which " of the output have scores of their own ones of Q and K alone{1} (SOFTMAX-1)"

static const struct explain_mistake lanes[] = {
    {LANES("blocks of {0} elements"), 16, {.elements = {ELEMENTS_BLOCKS}}, {OF_A(POWERS, 1, 256,
     BELOW_D), BY_FIRST}},
    {LANES("elements i of the same i % {0}"), 16, {.elements = {ELEMENTS_RESTS}}, {OF_A(POWERS, 2,
     256, BELOW_D), BY_FIRST}},
    {LANES("elements i of the same i & {0}"), 16, {.elements = {ELEMENTS_BITS}}, {OF_A(POWERS, 1,
     256, BELOW_D), BY_FIRST}},
};

/* ---- 6: scales ---- */

static const char *const scale_words[] = {
    "the scores had not been scaled",
    "the scores had been scaled twice",
    "the scores had been multiplied by log2(e), or weights were powers of e for scores in bits",
    "the scores had been multiplied by ln 2, or weights were powers of 2 for scores in nats",
    "the scale were 1 / sqrt(d), not the call's",
    "the scale were 1 / d",
    "the scale were its square root",
};
static const char *const parts[] = {
    "",
    ", of keys in shared chunks alone",
    ", of keys in the sequence's own chunks alone",
};
static const int sizes[] = {16, 32, 40, 48, 64, 72, 80, 96, 100, 112, 128, 160, 192, 256, 320, 512};

#define BY(walk, ...) {AT(score.by), walk, __VA_ARGS__}
#define ANOTHER_D "as if the scale were that of another d: 1 / sqrt("

static const struct explain_mistake scales[] = {
    {"as if {0}{1} (SOFTMAX-1)", 10, {{0}}, {{AT(score.rule), EACH, SCORE_UNSCALED,
     SCORE_ROOT_OF_SCALE, .words = scale_words}, {AT(score.keys), EACH, ALL_KEYS, OWN_KEYS,
     .words = parts, .cost = 4}}},
    {"as if the scores had been {0} times as large (SOFTMAX-1)", 12, {.score = {SCORE_TIMES}},
     {BY(POWERS, 2, 16)}},
    {"as if the scores had been divided by {0} (SOFTMAX-1)", 12, {.score = {SCORE_OVER}},
     {BY(POWERS, 2, 16)}},
    {"as if the scores had the wrong sign (SOFTMAX-1)", 12, {.score = {SCORE_NEGATIVE}}},
    {ANOTHER_D "{0}), not the call's (SOFTMAX-1)", 12, {.score = {SCORE_OF_D}}, {BY(VALUES, 0, 16,
     .values = sizes)}},
    {ANOTHER_D "d up to a power of 2), not the call's (SOFTMAX-1)", 12,
     {.score = {SCORE_OF_POWER}}},
    {ANOTHER_D "d up to a multiple of {0}), not the call's (SOFTMAX-1)", 13,
     {.score = {SCORE_OF_MULTIPLE}}, {BY(POWERS, 8, 128)}},
    {"as if the scale were 1 / sqrt(c), not the call's (SOFTMAX-1)", 13,
     {.score = {SCORE_OF_CHUNK}}},
    {"as if the scale were that of all heads: 1 / sqrt(h d), not the call's (SOFTMAX-1)", 13,
     {.score = {SCORE_OF_HEADS}}},
};

/* ---- 5, 6: rounded too early ---- */

static const struct explain_mistake early[] = {
    {"as if q times the scale were rounded to {0} before the product with K (SOFTMAX-1)", 13,
     {.elements = {ELEMENTS_SCALED}}, {OF_TYPE(elements.a)}},
    {"as if q times the scale and log2(e) were rounded to {0} before the product with K "
     "(SOFTMAX-1)", 14, {.elements = {ELEMENTS_SCALED_BITS}}, {OF_TYPE(elements.a)}},
    {"as if q were rounded to {0} (SOFTMAX-1)", 13, {.elements = {ELEMENTS_ROUNDED}},
     {OF_TYPE(elements.a)}},
    {"as if the scale were rounded to {0} (SOFTMAX-1)", 13, {.score = {SCORE_ROUNDED_SCALE}},
     {OF_TYPE(score.type)}},
    {"as if the scale times log2(e) were rounded to {0} (SOFTMAX-1)", 13,
     {.score = {SCORE_ROUNDED_SCALE_BITS}}, {OF_TYPE(score.type)}},
    {"as if each score were rounded to {0} (SOFTMAX-1)", 15, {.score = {SCORE_ROUNDED}},
     {OF_TYPE(score.type)}},
    {"as if each score, times log2(e), were rounded to {0} (SOFTMAX-1)", 16,
     {.score = {SCORE_ROUNDED_BITS}}, {OF_TYPE(score.type)}},
};

/* ---- 5, 6: bent ---- */

static const int caps[] = {10, 15, 20, 30, 50, 100};
static const char *const bend_words[] = {
    "the magnitude of each score had been taken",
    "scores below 0 had been taken as 0",
    "each score were less by 2^(-8 (head + 1) / h) times the distance to the last key seen",
    "each score were more by 2^(-8 (head + 1) / h) times the distance to the last key seen",
    "each score were more by 2^(-8 (head + 1) / h) times the key's position",
};
static const char *const swap_words[] = {
    "elements 2i and 2i + 1 of Q, but not of K, had been swapped",
    "the halves of Q, but not of K, had been swapped",
    "all elements of Q, but not of K, had been read from the last on",
    "the magnitude of each product of Q and K had been added up",
};

static const struct explain_mistake bends[] = {
    {"as if {0} (SOFTMAX-1)", 15, {{0}}, {{AT(elements.rule), EACH, ELEMENTS_PAIRS,
     ELEMENTS_MAGNITUDES, .words = swap_words}}},
    {"as if scores s had been capped: {0} tanh(s / {0}) (SOFTMAX-1)", 15, {.score = {SCORE_CAPPED}},
     {BY(VALUES, 0, 6, .values = caps)}},
    {"as if scores had been cut off at 65504, the largest number of binary16 (SOFTMAX-1)", 15,
     {.score = {SCORE_AT_MOST, 65504}}},
    {"as if {0} (SOFTMAX-1)", 15, {{0}}, {{AT(score.rule), EACH, SCORE_MAGNITUDE,
     SCORE_MORE_BY_POSITION, .words = bend_words}}},
    {"as if the score of each key had been added to the next one's: a sum is not cleared "
     "(SOFTMAX-1)", 16, {.score = {SCORE_ADDED_UP}}},
};

static const struct explain_mistake overflows[] = {
    {"as if a score overflows binary16: it is above 65504, infinity then, and as the maximum it "
     "gives inf - inf (NUM-7)", 11, {.score = {SCORE_OVERFLOWS}}},
    {"as if a score overflows binary16 before it is scaled: the sum of q k is above 65504, "
     "infinity then, and as the maximum it gives inf - inf (NUM-7)", 12,
     {.score = {SCORE_PRODUCTS_OVERFLOW}}},
};

const struct explain_table explain_score_tables[] = {
    {"scales", WITH_KEYS, N(scales)},
    {"other queries", WITH_QUERIES, N(queries)},
    {"numbers that are rounded too early", WITH_KEYS, N(early)},
    {"elements of the scores", WITH_KEYS, N(elements)},
    {"lanes that miss a part of a sum", WITH_KEYS, N(lanes)},
    {"scores of another formula", WITH_KEYS, N(bends)},
    {"scores that overflow", NOT_FINITE, N(overflows)},
    {NULL, ALWAYS, NULL, 0},
};

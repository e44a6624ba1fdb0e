/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of stages 8 and 9: what sums are divided by, the log-sum-exp alone, results in a wrong
 * place. */
#include <stdio.h>
#include <stdlib.h>

#include "chunkproof/number.h"
#include "gate/explain/mistakes.h"

/* Rows of tables are laid out by hand. */
/* clang-format off */

#define N(table)  (table), sizeof(table) / sizeof(table)[0]
#define MOST_TILE 256

/* ---- 8: divided ---- */

static const char *const whose[] = {
    "the first head of its group",
    "the query before it",
    "the query behind it",
};

static const char *const rounded[] = {
    "the reciprocal of the sum of weights",
    "the sum of weights, as a divisor,",
};
#define BITS {AT(divide.bits), EACH, 6, 24}
#define N_OR_RECIPROCAL {AT(divide.whose), EACH, 0, 1, .words = rounded, .cost = 1}

static const struct explain_mistake divisors[] = {
    {"as if the sum had not been divided by the sum of weights (MERGE-6)", 40,
     {.divide = {DIVIDES_NOT}}},
    {"as if the sum had been divided by the number of keys (MERGE-6)", 40,
     {.divide = {DIVIDES_BY_COUNT}}},
    {"as if the sum had been divided by the sum of weights twice (MERGE-6)", 40,
     {.divide = {DIVIDES_TWICE}}},
    {"as if the sum had been divided by the sum of weights of {0} (MERGE-6)", 41,
     {.divide = {DIVIDES_BY_OTHER}}, {{AT(divide.whose), EACH, FIRST_OF_GROUP, ONE_BEHIND,
     .words = whose}}},
    {"as if {1} were rounded to {0} bits (MERGE-6)", 44, {.divide = {DIVIDES_ROUNDED}}, {BITS,
     N_OR_RECIPROCAL}},
    {"as if {1} were cut off to {0} bits (MERGE-6)", 44, {.divide = {DIVIDES_CUT}}, {BITS,
     N_OR_RECIPROCAL}},
    {"as if each row and head had a factor of its own: the sum of weighted values is right, and "
     "what it is divided by is not: the sum of weights misses keys, or has some twice, or is "
     "another row's (MERGE-6)", EXPLAIN_ONE_FACTOR, {.divide = {DIVIDES_BY_ANY}}},
};

/* ---- 8: the log-sum-exp ---- */

EXPLAIN_NAMER(name_step) {
    int tile = c->weight.parts.tile;
    if (c->weight.parts.kind == PART_CHUNKS) {
        (void)snprintf(text, size, "a chunk");
    } else {
        (void)snprintf(text, size, "%d keys", tile);
    }
}

EXPLAIN_NAMER(name_lane) {
    (void)snprintf(text, size, "keys %d, %d, ...", c->select.b, c->select.b + c->select.a);
}

EXPLAIN_NAMER(name_factor) {
    (void)snprintf(text, size, "%.6f", c->lse.factor);
}

static const char *const lse_words[] = {
    "it were in bits, a logarithm to the base 2",
    "it had been multiplied by ln 2 once too often",
    "it were the largest score alone, without the logarithm of the sum",
    "the largest score had not been added",
    "it were the sum of weights, not its logarithm",
    "its sign were wrong",
    "the scores in it had not been scaled",
    "all weights in it were 1",
    "the largest score that was added had not been scaled",
};
static const char *const alone_words[] = {"the last chunk", "the shared chunks"};
static const char *const bases[] = {
    "nats, and the logarithm of the sum, that is added to it, in bits",
    "bits, and the logarithm of the sum, that is added to it, in nats",
};
static const char *const part_bases[] = {
    "the largest part's is in nats, the logarithm of their sum in bits",
    "the largest part's is in bits, the logarithm of their sum in nats",
};
static const char *const in_turn[] = {"", ", and before these the shared chunks"};

#define RULE(first, last, words_) {AT(lse.rule), EACH, first, last, .words = (words_)}
#define ALONE(which_, ...) {.lse = {LSE_OF_SELECTED}, .select = { which_, __VA_ARGS__ }}
#define TILE(from, to) {AT(select.a), POWERS, from, to}

static const struct explain_mistake lse[] = {
    {"lse is as if {0} (MERGE-7)", 20, {{0}}, {{AT(lse.rule), EACH, LSE_IN_BITS,
     LSE_LARGEST_NOT_SCALED, .words = lse_words}}},
    {"lse is as if it were that of {0} alone (MERGE-4)", 21, ALONE(SELECT_LAST_CHUNK, 0),
     {{AT(select.which), EACH, SELECT_LAST_CHUNK, SELECT_SHARED, .words = alone_words}}},
    {"lse is as if it were that of the sequence's own chunks alone (MERGE-4)", 21, ALONE(SELECT_OWN,
     0)},
    {"lse is as if it were that of the last tile alone, of up to {0} keys (MERGE-4)", 22,
     ALONE(SELECT_LAST_TILE, 0), {TILE(1, MOST_TILE)}},
    {"lse is as if it were that of the first tile alone, of {0} keys (MERGE-4)", 23,
     ALONE(SELECT_FIRST_TILE, 0), {TILE(1, MOST_TILE)}},
    {"lse is as if it were that of {1} alone: one lane's (MERGE-4)", 24, ALONE(SELECT_EVERY, 0),
     {TILE(2, 8), {AT(select.b), PERIOD, .name = name_lane}}},
    {"lse is as if it were that of the first half of the keys alone (whole tiles of {0}) (MERGE-4)",
     23, ALONE(SELECT_PART, 0, .parts = {PART_HALVES_OF_TILES}), {{AT(select.parts.tile), POWERS, 1,
     MOST_TILE}}},
    {"lse is as if the largest score in it were in {0} (MERGE-7)", 21, {{0}}, {RULE(LSE_LOG_IN_BITS,
     LSE_LARGEST_IN_BITS, bases)}},
    {"lse is as if those of parts of {1} were merged in two bases: {0} (MERGE-7)", 22,
     {.weight = {.parts = {PART_CHUNKS}}}, {RULE(LSE_LOG_IN_BITS, LSE_LARGEST_IN_BITS, part_bases),
     {AT(weight.parts.kind), EACH, PART_CHUNKS, PART_CHUNKS, .name = name_step}}},
    {"lse is as if those of parts of {1} were merged in two bases: {0} (MERGE-7)", 23,
     {.weight = {.parts = {PART_TILES}}}, {RULE(LSE_LOG_IN_BITS, LSE_LARGEST_IN_BITS, part_bases),
     {AT(weight.parts.tile), POWERS, 2, MOST_TILE, .name = name_step}}},
    {"lse is as if to the logarithm of the sum the largest score of the first of {1} warps alone "
     "were added, which take tiles of {0 key} in turn{2}: the sum is right (MERGE-7)", 24,
     {.lse = {LSE_OF_FIRST_WARP}}, {{AT(weight.parts.tile), POWERS, 1, 64}, {AT(weight.parts.n),
     POWERS, 2, 16}, {AT(weight.own), EACH, 0, 1, .words = in_turn, .cost = 1}}},
};

static const char *const types[] = {"binary16", "bfloat16", "binary32"};
static const int type_values[] = {CP_FP16, CP_BF16, CP_FP32};
#define OF_TYPE(field) {AT(field), VALUES, 0, 3, .values = type_values, .words = types}

static const struct explain_mistake formats[] = {
    {"lse is as if it had been rounded to {0} (MERGE-7)", 21, {.lse = {LSE_ROUNDED}},
     {OF_TYPE(lse.type)}},
};

/* Constants that the search finds: what is measured of one row must hold for all. */
static const struct explain_mistake factors[] = {
    {"lse is as if it had been multiplied by {0}: a constant, as ln 2 or log2(e), that is not "
     "exact (MERGE-7)", 25, {.lse = {LSE_FACTOR}}, {{AT(lse.rule), EACH, LSE_FACTOR, LSE_FACTOR,
     .name = name_factor}}},
    {"lse is as if the logarithm of the sum in it had been multiplied by {0}: a constant, as ln 2, "
     "or a logarithm that is not exact (MERGE-7)", 25, {.lse = {LSE_FACTOR_OF_LOG}}, {{AT(lse.rule),
     EACH, LSE_FACTOR_OF_LOG, LSE_FACTOR_OF_LOG, .name = name_factor}}},
    {"lse is as if the largest score in it had been multiplied by {0}: a constant, as ln 2 or "
     "log2(e), that is not exact (MERGE-7)", 25, {.lse = {LSE_FACTOR_OF_LARGEST}}, {{AT(lse.rule),
     EACH, LSE_FACTOR_OF_LARGEST, LSE_FACTOR_OF_LARGEST, .name = name_factor}}},
};

/* ---- 9: where ---- */

/* So many rows and heads away. */
static void name_place(int row, int head, char from[60], char to[60]) {
    if (row == 0) {
        (void)snprintf(from, 60, "head a %c %d", head < 0 ? '-' : '+', abs(head));
        (void)snprintf(to, 60, "head a");
    } else if (head == 0) {
        (void)snprintf(from, 60, "row r %c %d", row < 0 ? '-' : '+', abs(row));
        (void)snprintf(to, 60, "row r");
    } else {
        (void)snprintf(from, 60, "row r %c %d, head a %c %d", row < 0 ? '-' : '+', abs(row),
                       head < 0 ? '-' : '+', abs(head));
        (void)snprintf(to, 60, "row r, head a");
    }
}

void explain_name_away(int row, int head, const char *what, char *text, size_t size) {
    char from[60], to[60];
    name_place(row, head, from, to);
    (void)snprintf(text, size, "%s %s for %s", from, what, to);
}

EXPLAIN_NAMER(name_away) {
    explain_name_away(c->write.row, c->write.head, "had been written", text, size);
}

static const int signs[] = {-1, 1};
static const char *const shifted[] = {"before", "behind"};
static const char *const swapped[] = {
    "elements 2i and 2i + 1 had been swapped",
    "the halves of a row had been swapped",
};

static const struct explain_mistake written[] = {
    {"as if each element were the one {0} it (GATE-3)", 14, {.write = {WRITE_SHIFTED}},
     {{AT(write.row), VALUES, 0, 2, .values = signs, .words = shifted}}},
    {"as if {0} (GATE-3)", 14, {{0}}, {{AT(write.rule), EACH, WRITE_PAIRS, WRITE_HALVES,
     .words = swapped}}},
    {"as if element i were element i % {0}: of V, or of the sum (GATE-3)", 14,
     {.write = {WRITE_MODULO}}, {{AT(write.row), POWERS, 8, 512, BELOW_D}}},
    {"as if results had been rounded to {0} (MERGE-6)", 43, {.write = {WRITE_ROUNDED}},
     {OF_TYPE(write.row)}},
    {"0: as if nothing had been added up (GATE-1)", 90, {.write = {WRITE_ZERO}}},
    {"not a number (GATE-1)", 190, {.write = {WRITE_NO_NUMBER}}},
};

#define RESULT_OF "as if the result of {0} (GATE-3)"

static const struct explain_mistake results[] = {
    {"as if results had been written as [head][row], not [row][head] (GATE-3)", 12,
     {.write = {WRITE_TRANSPOSED}}},
    {RESULT_OF, 15, {.write = {WRITE_BY}}, {{AT(write.row), EACH, -12, 12, .name = name_away}}},
    {RESULT_OF, 15, {.write = {WRITE_BY}}, {{AT(write.head), EACH, -12, 12, .name = name_away}}},
    {RESULT_OF, 17, {.write = {WRITE_BY}}, {{AT(write.row), EACH, -3, 3, .name = name_away},
     {AT(write.head), EACH, -3, 3}}},
};

const struct explain_table explain_result_tables[] = {
    {"elements of a result in another place", ALWAYS, N(written)},
    {"results of other rows and heads", WITH_QUERIES, N(results)},
    {"what sums are divided by", WITH_KEYS, N(divisors)},
    {"the log-sum-exp alone", WITH_LSE, N(lse)},
    {"a format of the log-sum-exp", WITH_LSE, N(formats)},
    {"constants in the log-sum-exp", WITH_LSE, N(factors)},
    {NULL, ALWAYS, NULL, 0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of stages 8 and 9: what sums are divided by, the log-sum-exp alone, results in a wrong
 * place. */
#include "chunkproof/number.h"
#include "gate/explain/mistakes.h"

/* Entries of tables are laid out by hand. */
/* clang-format off */

/* ---- 8: divided ---- */

static const struct explain_mistake divisors[] = {
    {"as if the sum had {a|not been divided by the sum of weights|been divided by the number of "
     "keys|been divided by the sum of weights twice} (MERGE-6)", 40, {{0}},
     {EACH(divide.way, DIVIDES_NOT, DIVIDES_TWICE)}},
    {"as if the sum had been divided by the sum of weights of " OTHER_WORDS("a") " (MERGE-6)", 41,
     {.divide = {DIVIDES_BY_OTHER}}, {OF_OTHER(divide.whose)}},
    {"as if the reciprocal of the sum of weights were {b|rounded|cut off} to {a} bits (MERGE-6)",
     44, {{0}}, {EACH(divide.bits, 6, 24), EACH(divide.way, MULTIPLIES_ROUNDED, MULTIPLIES_CUT)}},
    {"as if the sum of weights, as a divisor, were {b|rounded|cut off} to {a} bits (MERGE-6)", 45,
     {{0}}, {EACH(divide.bits, 6, 24), EACH(divide.way, DIVIDES_ROUNDED, DIVIDES_CUT)}},
    {"as if each row and head had a factor of its own: the sum of weighted values is right, and "
     "what it is divided by is not: the sum of weights misses keys, or has some twice, or is "
     "another row's (MERGE-6)", EXPLAIN_ONE_FACTOR, {.write = {WRITE_SCALED}}},
};

/* ---- 8: the log-sum-exp ---- */

#define ALONE(which_, ...) {.lse = {LSE_OF_SELECTED}, .select = {which_, __VA_ARGS__}}
#define THAT_OF            "lse is as if it were that of "
#define OF_BASE          EACH(lse.way, LSE_LOG_IN_BITS, LSE_LARGEST_IN_BITS)

static const struct explain_mistake lse[] = {
    {"lse is as if {a|it were in bits, a logarithm to the base 2"
     "|it had been multiplied by ln 2 once too often"
     "|it were the largest score alone, without the logarithm of the sum"
     "|the largest score had not been added|it were the sum of weights, not its logarithm"
     "|its sign were wrong|the scores in it had not been scaled|all weights in it were 1"
     "|the largest score that was added had not been scaled} (MERGE-7)", 20, {{0}},
     {EACH(lse.way, LSE_IN_BITS, LSE_LARGEST_NOT_SCALED)}},
    {THAT_OF "{a|the last chunk|the sequence's own chunks|the shared chunks} alone (MERGE-4)", 21,
     ALONE(SELECT_NONE, 0), {EACH(select.which, SELECT_LAST_CHUNK, SELECT_SHARED)}},
    {THAT_OF "the last tile alone, of up to {a} keys (MERGE-4)", 22, ALONE(SELECT_LAST_TILE, 0),
     {POWERS(select.a, 1, MOST_TILE)}},
    {THAT_OF "the first tile alone, of {a} keys (MERGE-4)", 23, ALONE(SELECT_FIRST_TILE, 0),
     {POWERS(select.a, 1, MOST_TILE)}},
    {THAT_OF "keys {b}, {b+a}, ... alone: one lane's (MERGE-4)", 24,
     ALONE(SELECT_OF_EACH, .width = 1), {POWERS(select.a, 2, 8), AS_MANY(select.b, PERIOD)}},
    {THAT_OF "the first half of the keys alone (whole tiles of {a}) (MERGE-4)", 23,
     {.lse = {LSE_OF_SELECTED}, .select = {SELECT_PART}, .parts = {PART_HALVES_OF_TILES}},
     {POWERS(parts.tile, 1, MOST_TILE)}},
    {"lse is as if the largest score in it were in {a"
     "|nats, and the logarithm of the sum, that is added to it, in bits"
     "|bits, and the logarithm of the sum, that is added to it, in nats} (MERGE-7)", 21, {{0}},
     {OF_BASE}},
    {"lse is as if those of {b} were merged in two bases: {a"
     "|the largest part's is in nats, the logarithm of their sum in bits"
     "|the largest part's is in bits, the logarithm of their sum in nats} (MERGE-7)", 22, {{0}},
     {OF_BASE, PARTS(PART_CHUNKS, PART_TILES)}},
    {"lse is as if to the logarithm of the sum the largest score of the first of {b} warps alone "
     "were added, which take tiles of {a key} in turn{c||, and before these the shared chunks}: "
     "the sum is right (MERGE-7)", 24, {.lse = {LSE_OF_FIRST_WARP}},
     {POWERS(parts.tile, 1, 64), POWERS(parts.n, 2, 16), VARIANTS(lse.shared_first, 0, 1)}},
    {"lse is as if it had been rounded to " TYPE_WORDS("a") " (MERGE-7)", 21,
     {.lse = {LSE_ROUNDED}}, {OF_TYPE(lse.type)}},
    /* Constants that the search finds: what is measured of one row must hold for all. */
    {"lse is as if {a|it|the logarithm of the sum in it|the largest score in it} had been "
     "multiplied by {b}: a constant, as ln 2{a| or log2(e), that|, or a logarithm that"
     "| or log2(e), that} is not exact (MERGE-7)", 25, {{0}},
     {EACH(lse.way, LSE_FACTOR, LSE_FACTOR_OF_LARGEST), AS_MANY(lse.factor, MEASURED)}},
};

/* ---- 9: where ---- */

static const struct explain_mistake written[] = {
    {"as if each element were the one {a|before|behind} it (GATE-3)", 14,
     {.write = {WRITE_SHIFTED}}, {ONE_BY(write.by)}},
    {"as if {a|elements 2i and 2i + 1 had been swapped|the halves of a row had been swapped} "
     "(GATE-3)", 14, {{0}}, {EACH(write.way, WRITE_PAIRS, WRITE_HALVES)}},
    {"as if element i were element i % {a}: of V, or of the sum (GATE-3)", 14,
     {.write = {WRITE_MODULO}}, {POWERS_BELOW(BELOW_D, write.by, 8, 512)}},
    {"as if the elements of V from {a} on had not been added up (WIDTH-1)", 13,
     {.write = {WRITE_FIRST}}, {POWERS_BELOW(BELOW_D, write.by, 8, 512)}},
    {"as if the elements of V from d on had not been added up (WIDTH-1)", 12,
     {.write = {WRITE_FIRST_D}}},
    {"as if the elements of V behind the last multiple of {a} had not been added up (WIDTH-1)", 14,
     {.write = {WRITE_FIRST_MULTIPLE}}, {POWERS_BELOW(BELOW_D, write.by, 4, 256)}},
    {"as if results had been rounded to " TYPE_WORDS("a") " (MERGE-6)", 43,
     {.write = {WRITE_ROUNDED}}, {OF_TYPE(write.by)}},
    {"0: as if nothing had been added up (GATE-1)", 90, {.write = {WRITE_ZERO}}},
    {"not a number (GATE-1)", 190, {.write = {WRITE_NO_NUMBER}}},
};

static const struct explain_mistake results[] = {
    {"as if results had been written as [head][row], not [row][head] (GATE-3)", 12,
     {.write = {WRITE_TRANSPOSED}}},
    {"as if the result of row r {+a} had been written for row r (GATE-3)", 15,
     {.write = {WRITE_BY}}, {EACH(write.row, -12, 12)}},
    {"as if the result of head a {+a} had been written for head a (GATE-3)", 15,
     {.write = {WRITE_BY}}, {EACH(write.head, -12, 12)}},
    {"as if the result of row r {+a}, head a {+b} had been written for row r, head a (GATE-3)", 17,
     {.write = {WRITE_BY}}, {UP_TO_3(write.row), UP_TO_3(write.head)}},
};

const struct explain_table explain_result_tables[] = {
    {"elements of a result in another place", ALWAYS, N(written)},
    {"results of other rows and heads", WITH_QUERIES, N(results)},
    {"what sums are divided by", WITH_KEYS, N(divisors)},
    {"the log-sum-exp alone", WITH_LSE, N(lse)},
    {NULL, ALWAYS, NULL, 0},
};

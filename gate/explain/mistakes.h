/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of mistakes. An entry has the text that is said, a rank, and the fields of a choice that
 * it sets; its axes are fields that the odometer of search.c walks, the last one fastest. In the
 * text a is the value of the first axis, b that of the second, ...; t and n are parts.tile and
 * parts.n:
 *
 *      {a}           its value; where the axis has words of its own, these
 *      {a|one|two}   "one" at the first value of the axis, "two" at the second
 *      {a key}       1 key, 2 keys
 *      {a..b key}    keys 3 to 7, key 3: b is the one behind
 *      {a+b}, {a+1}  a sum
 *      {+a}          + 3, - 3 */
#ifndef CHUNKPROOF_GATE_EXPLAIN_MISTAKES_H
#define CHUNKPROOF_GATE_EXPLAIN_MISTAKES_H

#include <stddef.h>

#include "gate/explain/model.h"

/* Entries of tables say the fields that they set; all others are 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces"

#define FEW         16 /* of anything that is tried one by one */
#define MOST_TILE   256
#define MOST_WINDOW 4096
#define N(table)    (table), sizeof(table) / sizeof(table)[0]

/* ---- Axes ---- */

/* clang-format off */

/* Value i of an axis, and whether there is one. n keys, d elements, slots c and `chunks` chunks of
 * the pair; `first` is the value of the first axis, `before` that of the axis before. */
#define EXPLAIN_WALKS(WALK) \
    WALK(NO_AXIS, 0, 0) \
    WALK(WALK_EACH, from + i, value <= to) \
    WALK(WALK_WAYS, from + i, value <= to) /* the same, each as if it were an entry of its own */ \
    WALK(WALK_POWERS, i < 30 ? from << i : to + 1, value <= to) \
    WALK(WALK_VALUES, i < to ? values[i] : 0, i < to) \
    WALK(KV_HEADS, i, i < least(p->recipe.n_kv_heads, FEW)) \
    WALK(SEQUENCES, i, i < least(p->b, FEW)) \
    WALK(FIRST_CHUNKS, i, i < least(chunks, FEW)) \
    WALK(LAST_CHUNKS, chunks - 1 - i, i < least(chunks, FEW)) \
    WALK(FIRST_RUNS, i, i < least(gate_runs(p, x->s), FEW)) \
    WALK(POOL_CHUNKS, i, i < least(p->capacity, MOST_POOL)) \
    WALK(KEYS, i * step, value < n)  /* each, or each chunk's first one where there are many */ \
    WALK(KEYS_UPTO, least(before + (i + 1) * step, n), before + i * step < n) \
    WALK(PERIOD, i, i < before && i < n + d) \
    WALK(PERIODS, i * before, value < first && value < n) \
    WALK(WIDTHS, from << i, value < first) \
    WALK(ELEMENTS, i * from, value < d) \
    WALK(BLOCKS, least(before + (from << i), d), \
         i == 0 || (from > 1 && before + (from << (i - 1)) < d)) \
    WALK(WALK_PARTS, 0, set_parts(&c->parts, from, to, i)) \
    WALK(MEASURED, 0, i == 0)        /* lse.factor, that the search finds of a row */

enum explain_walk { EXPLAIN_WALKS(EXPLAIN_NAME) };

/* An axis of an entry: a field of the choice, and its values. Of VARIANTS and COSTLY each value is
 * less simple than the one before; of FALLING, which are powers of two, simpler. */
#define AT(field)                 offsetof(struct explain_choice, field)
#define EACH(field, from, to)     {AT(field), WALK_EACH, from, to}
#define VARIANTS(field, from, to) {AT(field), WALK_EACH, from, to, .cost = 1}
#define WAYS(field, from, to)     {AT(field), WALK_WAYS, from, to}
#define POWERS(field, from, to)   {AT(field), WALK_POWERS, from, to}
#define FALLING(field, from, to)  {AT(field), WALK_POWERS, from, to, .cost = -1}
#define EACH_BELOW(limit, field, from, to)   {AT(field), WALK_EACH, from, to, limit}
#define POWERS_BELOW(limit, field, from, to) {AT(field), WALK_POWERS, from, to, limit}
#define VALUES(field, ...) \
    {AT(field), WALK_VALUES, 0, N_INTS(__VA_ARGS__), .values = (const int[]){__VA_ARGS__}}
#define COSTLY(field, ...) \
    {AT(field), WALK_VALUES, 0, N_INTS(__VA_ARGS__), .values = (const int[]){__VA_ARGS__}, \
     .cost = 1}
#define N_INTS(...)               sizeof((const int[]){__VA_ARGS__}) / sizeof(int)
#define AS_MANY(field, walk)      {AT(field), walk, 1} /* as the row of the case has of something */
#define PARTS(from, to)           {AT(parts), WALK_PARTS, from, to} /* kinds, each of all sizes */

/* clang-format on */

enum explain_below { ANY, BELOW_KEYS, BELOW_D, UP_TO_D };

struct explain_axis {
    size_t at; /* of the field in struct explain_choice */
    int walk, from, to;
    int below; /* an enum explain_below that values must be */
    const int *values;
    int cost; /* each step is so much less simple */
};

#define EXPLAIN_AXES 5

/* Ranks: the smaller, the simpler. From the first of these on they say what is seen, not what it
 * comes from. */
#define EXPLAIN_NO_REASON  100
#define EXPLAIN_ONE_FACTOR 150
#define EXPLAIN_ROUNDED    170 /* which of wider declarations it is */

struct explain_mistake {
    const char *text;
    int rank;
    struct explain_choice choice;
    struct explain_axis axis[EXPLAIN_AXES];
};

/* Value `i` of axis `at` into its field. 0: there are no more. */
int explain_set_axis(const struct explain_model *x, const struct explain_mistake *mistake,
                     struct explain_choice *choice, int at, int i);

/* How much less simple the choice is by value `i` of the axis. */
int explain_cost(const struct explain_axis *axis, const struct explain_choice *choice, int i);

/* The text of a mistake with what its axes are at. */
void explain_name(const struct explain_model *x, const struct explain_mistake *mistake,
                  const struct explain_choice *choice, char *text, size_t size);

/* ---- Words that tables share ---- */

#define ARRAY_WORDS(axis) "{" axis "|K and V|K|V}"
#define OF_ARRAY(field)   EACH(field, OF_BOTH, OF_V)
#define COUNTED(axis)     "{" axis "|left out|counted twice}"
#define COUNTS            VALUES(select.times, 0, 2)
#define ONE_BY(field)     VALUES(field, -1, 1)
#define UP_TO_3(field)    VALUES(field, -3, -2, -1, 1, 2, 3)
#define TYPE_WORDS(axis)  "{" axis "|binary16|bfloat16|binary32}"
#define OF_TYPE(field)    VALUES(field, CP_FP16, CP_BF16, CP_FP32)
#define OTHER_WORDS(axis)                                                                          \
    "{" axis "|the first head of its group|the query before it|the query behind it}"
#define OF_OTHER(field) EACH(field, FIRST_OF_GROUP, ONE_BEHIND)

/* ---- Tables ---- */

/* Where a table is tried. */
enum explain_when {
    ALWAYS,
    WITH_KEYS,    /* rows that see some */
    WITH_QUERIES, /* and there is another row or head */
    WITH_LSE,
    NOT_FINITE,  /* and an element is 0, infinite or NaN */
    NEARLY_RIGHT /* and no element is far off */
};

/* Of which cases, all of these: a mistake of paths is none of prompts with modules, nor one of runs
 * of a tree; one of rotations is none of keys that have their positions in them; and so on. */
#define OF_PATHS   1
#define OF_LISTS   2
#define OF_ROTATED 4
#define OF_CHANGED 8 /* with a cap or biases */
#define OF_CAPPED  16
#define OF_SINKS   32
#define OF_CACHES  64
#define OF_LAZY    128 /* of kernels whose reference is near the maximum */
#define OF_SLOPES  256
#define OF_BIASES  512 /* with a table */

struct explain_table {
    const char *name; /* as it is said that it was not tried */
    enum explain_when when;
    const struct explain_mistake *mistake;
    unsigned n;
    unsigned of; /* a sum of OF_... */
};

/* The tables of each file; the last one has no name. And all of these in the order in which they
 * are tried (search.c); NULL is behind them. */
extern const struct explain_table explain_key_tables[], explain_run_tables[],
    explain_score_tables[], explain_sum_tables[], explain_result_tables[], explain_range_tables[];
extern const struct explain_table *const explain_tables[];

#endif

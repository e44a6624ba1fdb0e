/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of mistakes: a row has the text that is said, and the fields of a choice that it sets; its
 * axes are fields that the odometer of search.c walks. In the text, {0} is the value of axis 0, or
 * its words, and {0 key} is that many keys. */
#ifndef CHUNKPROOF_GATE_EXPLAIN_MISTAKES_H
#define CHUNKPROOF_GATE_EXPLAIN_MISTAKES_H

#include <stddef.h>

#include "gate/explain/model.h"

/* Rows of tables say the fields that they set; all others are 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces"

/* A field of a choice, for an axis. */
#define AT(field) offsetof(struct explain_choice, field)

enum explain_walk {
    NO_AXIS,
    POWERS,   /* of two, `from` to `to` */
    EACH,     /* `from` to `to` */
    VALUES,   /* so many, `to` */
    LIMITS,   /* the same of a field that is a double */
    KV_HEADS, /* from here on the pair says how many: */
    SEQUENCES,
    FIRST_CHUNKS, /* of the path */
    LAST_CHUNKS,
    POOL_CHUNKS,
    KEYS,      /* each key, or each chunk's first one where there are many */
    KEYS_UPTO, /* the same, behind the one of the axis before */
    PERIOD,    /* 0 to the axis before, less 1; */
    PERIODS,   /* the same, in steps of the width, axis 1 */
    WIDTHS,    /* powers of two below axis 0 */
    ELEMENTS,
    BLOCKS /* of elements, as wide as axis 0 */
};

struct explain_axis {
    size_t at; /* of the field */
    int walk, from, to;
    int below; /* 1: the row's keys must be more, 2: d, 3: at most d */
    const int *values;
    const double *limits;
    const char *const
        *words; /* of the values, from `from` on; of VALUES and LIMITS, in their order */
    void (*name)(const struct explain_model *x, const struct explain_choice *choice, char *text,
                 size_t size);
    int cost; /* each step is so much less simple */
};

/* The head of a function that names the value of an axis. */
#define EXPLAIN_NAMER(function)                                                                    \
    static void function(__attribute__((unused)) const struct explain_model *x,                    \
                         const struct explain_choice *c, char *text, size_t size)

#define EXPLAIN_AXES 5
#define BELOW_KEYS   1
#define BELOW_D      2
#define UP_TO_D      3

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

/* Where a table is tried. */
enum explain_when {
    ALWAYS,
    WITH_KEYS,    /* rows that see some */
    WITH_QUERIES, /* and there is another row or head */
    WITH_LSE,
    NOT_FINITE,  /* and an element is 0, infinite or NaN */
    NEARLY_RIGHT /* and no element is far off */
};

struct explain_table {
    const char *name; /* as it is said that it was not tried */
    enum explain_when when;
    const struct explain_mistake *mistake;
    size_t n;
};

/* The tables of each file; the last one has no name. */
extern const struct explain_table explain_key_tables[], explain_score_tables[],
    explain_sum_tables[], explain_result_tables[], explain_range_tables[];

/* The text of a mistake with what its axes are at. */
void explain_name(const struct explain_model *x, const struct explain_mistake *mistake,
                  const struct explain_choice *choice, char *text, size_t size);

/* So many rows and heads away from row r and head a: "row r + 1 had been taken for row r". */
void explain_name_away(int row, int head, const char *what, char *text, size_t size);

/* The value of an axis in a choice. */
int explain_at(const struct explain_choice *choice, const struct explain_axis *axis);

#endif

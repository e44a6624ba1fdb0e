/* SPDX-License-Identifier: Apache-2.0 */
/* The right keys by another formula: other scales, elements left out, another query; and right results in the wrong
 * place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/explain/explain.h"

#define FEW   12 /* rows or heads away that are tried */
#define LOG_E 1.4426950408889634
#define LN_2  0.6931471805599453

/* ---- Scales ---- */

enum scale { NONE, TWICE, LOG2_E, LN2, ROOT_OF_D, PART_OF_D, ROOT_OF_SCALE, TIMES, OVER, NEGATIVE };

static double factor_of(const struct explain *x, int which, int by) {
    double scale = x->at->problem.scale;
    switch ((enum scale)which) {
    case NONE:
        return 1.0 / scale;
    case TWICE:
        return scale;
    case LOG2_E:
        return LOG_E;
    case LN2:
        return LN_2;
    case ROOT_OF_D:
        return 1.0 / (sqrt(x->d) * scale);
    case PART_OF_D:
        return 1.0 / (x->d * scale);
    case ROOT_OF_SCALE:
        return 1.0 / sqrt(scale);
    case TIMES:
        return by;
    case OVER:
        return 1.0 / by;
    default:
        return -1.0;
    }
}

static int scale_by(struct explain *x, const int *a) {
    double factor = factor_of(x, a[0], a[1]);
    if (fabs(factor - 1.0) < 1e-6) {
        return 0;
    }
    explain_take_all(x);
    return explain_attend(x, factor);
}

/* a: as above; 1: the shared chunks alone, 0: the others alone. */
static int scale_part(struct explain *x, const int *a) {
    double factor = factor_of(x, a[0], a[1]);
    int shared = x->at->problem.n_shared_chunks[x->s] * x->c;
    shared = shared < x->n ? shared : x->n;
    if (fabs(factor - 1.0) < 1e-6) {
        return 0;
    }
    explain_take_all(x);
    for (ptrdiff_t i = a[2] ? 0 : (ptrdiff_t)shared * x->d;
         i < (ptrdiff_t)(a[2] ? shared : x->m) * x->d && !x->outside; i++) {
        x->k[i] *= factor;
    }
    return explain_attend(x, 1.0);
}

static void try_scales(struct explain *x) {
    static const char *const words[] = {
        "the scores had not been scaled",
        "the scores had been scaled twice",
        "the scores had been multiplied by log2(e), or weights were powers of e for scores in bits",
        "the scores had been multiplied by ln 2, or weights were powers of 2 for scores in nats",
        "the scale were 1 / sqrt(d), not the call's",
        "the scale were 1 / d",
        "the scale were its square root"};
    for (int which = NONE; which <= ROOT_OF_SCALE; which++) {
        const int a[EXPLAIN_NUMBERS] = {which};
        explain_try(x, scale_by, a, 10 + (which > LN2), "as if %s (SOFTMAX-1)", words[which]);
        for (int of_shared = 1; of_shared >= 0; of_shared--) {
            const int part[EXPLAIN_NUMBERS] = {which, 0, of_shared};
            explain_try(x, scale_part, part, 14 + (which > LN2),
                        "as if %s, of keys in %s alone (SOFTMAX-1)", words[which],
                        of_shared ? "shared chunks" : "the sequence's own chunks");
        }
    }
    for (int by = 2; by <= 16; by *= 2) {
        const int times[EXPLAIN_NUMBERS] = {TIMES, by}, over[EXPLAIN_NUMBERS] = {OVER, by};
        explain_try(x, scale_by, times, 12,
                    "as if the scores had been %d times as large (SOFTMAX-1)", by);
        explain_try(x, scale_by, over, 12, "as if the scores had been divided by %d (SOFTMAX-1)",
                    by);
    }
    const int negative[EXPLAIN_NUMBERS] = {NEGATIVE};
    explain_try(x, scale_by, negative, 12, "as if the scores had the wrong sign (SOFTMAX-1)");
}

/* ---- Another query ---- */

enum query { OF_SEQUENCE_NUMBER, OF_FIRST_ROW, OF_LAST_ROW };

/* a: which row's query is taken for all rows of a sequence. */
static int take_one_query(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    int row = a[0] == OF_SEQUENCE_NUMBER ? x->s
              : a[0] == OF_FIRST_ROW     ? p->query_begin[x->s]
                                         : p->query_begin[x->s + 1] - 1;
    if (row == x->row || row >= p->n_rows) {
        return 0;
    }
    explain_take_all(x);
    explain_take_query(x, row, x->head);
    return explain_attend(x, 1.0);
}

/* a: so many rows and heads away; or 1: as if rows and heads were the other way round. */
static int take_other_query(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    int h = p->recipe.n_heads, row = x->row + a[0], head = x->head + a[1];
    if (a[2]) {
        int other = x->head * p->n_rows + x->row;
        row = other / h;
        head = other % h;
    }
    if (row < 0 || row >= p->n_rows || head < 0 || head >= h ||
        (row == x->row && head == x->head)) {
        return 0;
    }
    explain_take_all(x);
    explain_take_query(x, row, head);
    return explain_attend(x, 1.0);
}

/* a: as above. The result of another row and head is right, in the wrong place. */
static int take_other_result(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    int h = p->recipe.n_heads, row = x->row + a[0], head = x->head + a[1];
    if (a[2]) {
        int other = x->head * p->n_rows + x->row;
        row = other / h;
        head = other % h;
    }
    if (row < 0 || row >= p->n_rows || head < 0 || head >= h ||
        (row == x->row && head == x->head)) {
        return 0;
    }
    size_t at = ((size_t)row * (size_t)h + (size_t)head) * (size_t)x->at->width;
    size_t bytes = (size_t)x->at->width * sizeof(double);
    memcpy(x->numbers.expected, x->at->expected + at, bytes);
    memcpy(x->numbers.bound, x->at->bound + at, bytes);
    return 1;
}

/* So many rows and heads away from row r and head a. */
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

static void try_places(struct explain *x) {
    const int swapped[EXPLAIN_NUMBERS] = {0, 0, 1};
    explain_try(x, take_other_query, swapped, 12,
                "as if Q were [head][row], not [row][head] (PREFILL-1)");
    explain_try(x, take_other_result, swapped, 12,
                "as if results had been written as [head][row], not [row][head] (GATE-3)");
    static const char *const queries[] = {"row s had been taken for each row of sequence s",
                                          "a sequence's first row had been taken for all its rows",
                                          "a sequence's last row had been taken for all its rows"};
    for (int which = OF_SEQUENCE_NUMBER; which <= OF_LAST_ROW; which++) {
        const int a[EXPLAIN_NUMBERS] = {which};
        explain_try(x, take_one_query, a, 12, "as if the query of %s (PREFILL-1)", queries[which]);
    }
    for (int row = -FEW; row <= FEW; row++) {
        for (int head = -FEW; head <= FEW; head++) {
            const int a[EXPLAIN_NUMBERS] = {row, head, 0};
            char from[60], to[60];
            int rank = 13 + (row != 0) + (head != 0) + (row != 0 && head != 0);
            if (row != 0 && head != 0 && row * row + head * head > FEW) {
                continue;
            }
            name_place(row, head, from, to);
            explain_try(x, take_other_query, a, rank,
                        "as if the query of %s had been taken for %s (PREFILL-1)", from, to);
            explain_try(x, take_other_result, a, rank + 1,
                        "as if the result of %s had been written for %s (GATE-3)", from, to);
        }
    }
}

/* ---- The row's own results ---- */

enum own { SHIFTED_ELEMENTS, MODULO_ELEMENTS, PAIRS_SWAPPED, HALVES_SWAPPED, ZERO, NO_NUMBER };

static int source_of(const struct explain *x, const int *a, int i) {
    switch ((enum own)a[0]) {
    case SHIFTED_ELEMENTS:
        return i + a[1];
    case MODULO_ELEMENTS:
        return i % a[1];
    case PAIRS_SWAPPED:
        return i ^ 1;
    case HALVES_SWAPPED:
        return (i + x->d / 2) % x->d;
    default:
        return i;
    }
}

static int take_own(struct explain *x, const int *a) {
    const double *expected = x->at->expected + (size_t)x->pair * (size_t)x->at->width;
    const double *bound = x->at->bound + (size_t)x->pair * (size_t)x->at->width;
    for (int i = 0; i <= x->d; i++) {
        int from = source_of(x, a, i), is_there = i < x->d && from >= 0 && from < x->d;
        x->numbers.expected[i] = is_there ? expected[from] : 0.0;
        x->numbers.bound[i] = is_there ? bound[from] : INFINITY;
        if (a[0] == ZERO || a[0] == NO_NUMBER) {
            x->numbers.expected[i] = a[0] == ZERO ? 0.0 : NAN;
            x->numbers.bound[i] = i < x->d || a[0] == NO_NUMBER ? 0.0 : INFINITY;
        }
    }
    return 1;
}

static void try_own(struct explain *x) {
    static const struct {
        int a[2], rank;
        const char *words;
    } ways[] = {
        {{SHIFTED_ELEMENTS, 1}, 14, "as if each element were the one behind it (GATE-3)"},
        {{SHIFTED_ELEMENTS, -1}, 14, "as if each element were the one before it (GATE-3)"},
        {{PAIRS_SWAPPED, 0}, 14, "as if elements 2i and 2i + 1 had been swapped (GATE-3)"},
        {{HALVES_SWAPPED, 0}, 14, "as if the halves of a row had been swapped (GATE-3)"},
        {{ZERO, 0}, 90, "0: as if nothing had been added up (GATE-1)"},
        {{NO_NUMBER, 0}, 190, "not a number (GATE-1)"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const int a[EXPLAIN_NUMBERS] = {ways[i].a[0], ways[i].a[1]};
        explain_try(x, take_own, a, ways[i].rank, "%s", ways[i].words);
    }
    for (int elements = 8; elements < x->d; elements *= 2) {
        const int a[EXPLAIN_NUMBERS] = {MODULO_ELEMENTS, elements};
        explain_try(x, take_own, a, 14,
                    "as if element i were element i %% %d: of V, or of the sum (GATE-3)", elements);
    }
}

void explain_try_rules(struct explain *x) {
    try_scales(x);
    try_own(x);
    try_places(x);
}

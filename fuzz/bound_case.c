/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of rows for `chunkproof bound` (cli/bound/case.c): no crash, no leak. A row that it
 * accepts has its sizes and finite numbers, and is the same after saving and loading. A small row
 * has a bound or a reason. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/bound/bound.h"
#include "fuzz/parse.h"
#include "fuzz/target.h"

#define MOST_NUMBERS 512 /* in a row for which the bound is computed */

static int load(struct bound_row *row, const char *path) {
    struct parse_said said;
    parse_listen(&said);
    int result = bound_case_load(row, path);
    parse_heard(&said, result != 0);
    return result;
}

static ptrdiff_t numbers_of(const struct bound_row *row) {
    return row->d + (ptrdiff_t)row->n * (row->d + row->d_v);
}

static void check_row(const struct bound_row *row) {
    int right = row->n >= 0 && row->n <= BOUND_MOST_KEYS && row->d >= 1 &&
                row->d <= BOUND_MOST_DIM && row->d_v >= 1 && row->d_v <= BOUND_MOST_DIM &&
                isfinite(row->scale);
    for (ptrdiff_t i = 0; right && i < numbers_of(row); i++) {
        right = isfinite(row->q[i]);
    }
    if (!right) {
        fuzz_fail("a row is accepted that is out of its ranges");
    }
}

/* After saving and loading the row is the same, bit for bit. */
static void check_round_trip(const struct bound_row *row) {
    struct bound_row again;
    struct parse_file file;
    parse_file_new(&file, "", 0);
    if (bound_case_save(row, file.path) != 0 || load(&again, file.path) != 0 || again.n != row->n ||
        again.d != row->d || again.d_v != row->d_v || again.scale != row->scale ||
        again.at != row->at || again.has_biases != row->has_biases ||
        memcmp(again.q, row->q, (size_t)numbers_of(row) * sizeof *row->q) != 0 ||
        memcmp(again.position, row->position, 2 * (size_t)row->n * sizeof *row->q) != 0) {
        fuzz_fail("a row that is saved is another one");
    }
    bound_row_free(&again);
    parse_file_free(&file);
}

/* Each element has a bound, or there is a reason why not. */
static void check_figures(const struct bound_row *row) {
    struct bound_options options;
    struct bound_figures figures;
    char *argv[] = {"bound", NULL};
    if (bound_options_parse(&options, 1, argv) != 0 ||
        bound_figures(&options, row, &figures) != 0) {
        fuzz_fail("no figures of a small row");
    }
    if (figures.claimed < 0 || figures.claimed > figures.elements || figures.elements != row->d_v ||
        (figures.claimed < figures.elements) != (figures.reason != REASON_NONE) ||
        (figures.claimed > 0 &&
         !(figures.bound.median >= 0.0 && figures.bound.median <= figures.bound.largest))) {
        fuzz_fail("%d of %d elements have a bound, median %g, largest %g, reason %d",
                  figures.claimed, figures.elements, figures.bound.median, figures.bound.largest,
                  (int)figures.reason);
    }
}

/* Rounding to binary16 gives a row of binary16, or a refusal. */
static void check_rounding(struct bound_row *row) {
    struct parse_said said;
    parse_listen(&said);
    int result = bound_case_round(row, "a case", CP_FP16);
    parse_heard(&said, result != 0);
    for (ptrdiff_t i = 0; result == 0 && i < numbers_of(row); i++) {
        if (bound_round(CP_FP16, row->q[i]) != row->q[i]) {
            fuzz_fail("number %td is not of binary16", i);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bound_row row;
    struct parse_file file;
    parse_file_new(&file, data, size);
    if (load(&row, file.path) == 0) {
        check_row(&row);
        check_round_trip(&row);
        if (numbers_of(&row) <= MOST_NUMBERS) {
            check_figures(&row);
        }
        check_rounding(&row);
        bound_row_free(&row);
    }
    parse_file_free(&file);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof bound`: gets a row, computes its bound, reports. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"
#include "cli/base/output.h"
#include "cli/bound/bound.h"

static int no_memory(void) {
    fputs("chunkproof bound: not enough memory for such a row\n", stderr);
    return -1;
}

static int round_to_caches(const struct bound_options *o, struct bound_row *row) {
    if (bound_cache_round(o, row, o->case_file) != 0) {
        bound_row_free(row);
        return -1;
    }
    return 0;
}

static int get_row(const struct bound_options *o, struct bound_row *row) {
    if (o->case_file == NULL) {
        if (bound_row_new(row, o->keys, o->head_dim, bound_value_dim(o)) != 0) {
            return no_memory();
        }
        bound_row_fill(row, o);
        return round_to_caches(o, row);
    }
    if (bound_case_load(row, o->case_file) != 0) {
        return -1;
    }
    if (o->has_slope && row->has_biases) {
        fprintf(stderr,
                "chunkproof bound: --slope: %s has biases, and scores have a slope or a table; "
                "leave out one (see --help)\n",
                strcmp(o->case_file, "-") == 0 ? "<stdin>" : o->case_file);
        bound_row_free(row);
        return -1;
    }
    if (o->input_given && bound_case_round(row, o->case_file, o->input) != 0) {
        bound_row_free(row);
        return -1;
    }
    return round_to_caches(o, row);
}

/* 0; or -1 after a message, or where standard output has an error. */
static int print(const struct bound_options *o, const struct bound_row *row) {
    struct bound_figures figures;
    size_t d = (size_t)row->d_v;
    double *numbers = malloc(3 * d * sizeof *numbers);
    if (numbers == NULL) {
        return no_memory();
    }
    struct bound_numbers each = {numbers, numbers + d, numbers + 2 * d};
    int failed = 0;
    if (bound_figures_each(o, row, &figures, &each) != 0) {
        failed = no_memory();
    } else if (o->json) {
        failed = bound_print_json(stdout, o, row, &figures, &each);
    } else {
        bound_print_text(stdout, o, row, &figures);
    }
    free(numbers);
    return failed;
}

static int report(const struct bound_options *o) {
    struct bound_row row;
    if (get_row(o, &row) != 0) {
        return -1;
    }
    int failed = o->save_file != NULL && bound_case_save(&row, o->save_file) != 0;
    failed = failed || print(o, &row) != 0;
    bound_row_free(&row);
    return failed;
}

int cp_command_bound(int argc, char **argv) {
    struct bound_options options;
    if (bound_options_parse(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        bound_options_help(stdout);
    } else if (options.time ? bound_print_time(stdout, &options) != 0 && no_memory() != 0
                            : report(&options) != 0) {
        (void)output_end(stdout, "bound"); /* a message, where that was the reason */
        return EXIT_BAD_USE;
    }
    return output_end(stdout, "bound") == 0 ? EXIT_RIGHT : EXIT_BAD_USE;
}

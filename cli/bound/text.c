/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text of at most 100 columns. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "cli/bound/bound.h"

#define BAR  40
#define LIST 320 /* characters of a line of the class, broken or not */

static const char *plural(int n) {
    return n == 1 ? "" : "s";
}

/* Broken before column 100; `indent` spaces before each line. */
static void print_wrapped(FILE *file, int indent, const char *text) {
    int column = fprintf(file, "%*s", indent, "");
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > 99) {
            column = fprintf(file, "\n%*s", indent, "") - 1;
        }
        column += fprintf(file, "%s%.*s", column > indent ? " " : "", length, text);
        text += length + (text[length] == ' ');
    }
    fputs("\n", file);
}

static void print_row(FILE *file, const struct bound_options *o, const struct bound_row *row,
                      const struct bound_figures *f) {
    fprintf(file, "row     %d key%s of %d number%s, ", row->n, plural(row->n), row->d,
            plural(row->d));
    if (row->d_v != row->d) {
        fprintf(file, "values of %d, ", row->d_v);
    }
    fputs("scores ", file);
    if (isfinite(f->largest_plain)) {
        fprintf(file, "up to %.3g, ", f->largest_plain);
    } else {
        fputs("beyond binary64, ", file);
    }
    if (o->case_file != NULL) {
        const char *name = strcmp(o->case_file, "-") == 0 ? "standard input" : o->case_file;
        fprintf(file, "%s%s%s\n", name, o->input_given ? " in " : "",
                o->input_given ? bound_format_name(o->input) : "");
    } else {
        fprintf(file, "family %s, seed %llu, in %s\n", bound_family_names[o->family], o->seed,
                bound_format_name(o->input));
    }
}

/* NUM-20: how many products are in a short sum; nothing where sums are not promoted. */
static const char *promotes(const char *sums, int n, char text[48]) {
    text[0] = '\0';
    if (n > 0) {
        snprintf(text, 48, "%s promoted every %d products; ", sums, n);
    }
    return text;
}

/* NUM-21; nothing where the reference is the maximum. */
static const char *references(const char *where, double distance, char text[64]) {
    text[0] = '\0';
    if (distance > 0.0) {
        snprintf(text, 64, "references up to %.4g nats %s the maximum, ", distance, where);
    }
    return text;
}

/* One more item of a list. */
static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    used += (size_t)snprintf(text + used, LIST - used, "%s", used == 0 ? "" : ", ");
    va_start(arguments, format);
    vsnprintf(text + used, LIST - used, format, arguments);
    va_end(arguments);
}

static void print_list(FILE *file, const char *text) {
    if (text[0] != '\0') {
        print_wrapped(file, 8, text);
    }
}

/* What changes scores, and how large they are then; nothing where nothing does. */
static void print_changes(FILE *file, const struct bound_options *o, const struct bound_row *row,
                          const struct bound_figures *f) {
    char text[LIST] = "";
    if ((o->has_cap || o->has_slope || row->has_biases) && isfinite(f->largest_changed)) {
        append(text, "scores up to %.3g once changed", f->largest_changed);
    }
    if (o->has_cap) {
        append(text, "%s capped at %.4g by a tanh within %.2g",
               o->cap_last ? "sums of score and bias" : "scores", o->cap,
               fmax(o->tanh_error, o->tanh_absolute));
    }
    if (o->has_slope) {
        append(text, "biases of slope %.4g", o->slope);
    }
    if (row->has_biases) {
        append(text, "biases of a table");
    }
    if (o->has_sink) {
        append(text, "a sink of %.4g", o->sink);
    }
    print_list(file, text);
}

/* Of K or V; nothing where it is plain. */
static void append_cache(char *text, const char *name, int cache, double scale, int type) {
    if (cache != CP_CACHE_PLAIN) {
        append(text, "%s in %s times %.4g, which is multiplied in %s", name,
               bound_cache_name(cache), scale, bound_format_name(type));
    }
}

static void print_cache(FILE *file, const struct bound_options *o, const struct bound_row *row) {
    char text[LIST] = "";
    append_cache(text, "K", o->cache.k, row->k_scale, o->k_dequantised);
    append_cache(text, "V", o->cache.v, row->v_scale, o->v_dequantised);
    print_list(file, text);
}

/* What else a kernel declares; nothing where that is usual. */
static void print_declared(FILE *file, const struct bound_options *o) {
    char text[LIST] = "";
    if (o->factors != CP_FACTORS_FP32) {
        append(text, "factors in %s", bound_factors_names[o->factors]);
    }
    if (o->normalises) {
        append(text, "P divided by the row sum before P V");
    }
    if (o->divide_error > 0.0) {
        append(text, "divisions within %.2g", o->divide_error);
    }
    if (o->epsilon > 0.0) {
        append(text, "row sums plus %.2g", o->epsilon);
    }
    if (o->n_parts > 0) {
        append(text, "%d partial result%s at most", o->n_parts, plural(o->n_parts));
    }
    if (o->part_keys > 0) {
        append(text, "partial results of %d key%s at least", o->part_keys, plural(o->part_keys));
    }
    print_list(file, text);
}

static void print_class(FILE *file, const struct bound_options *o, const struct bound_row *row,
                        const struct bound_figures *f) {
    char text[448], of_scores[48], of_values[48], above[64], behind[64];
    const char *scaled = o->scales == CP_SCALES_SCORES       ? ""
                         : o->scales == CP_SCALES_QUERY_FP16 ? "queries scaled, in fp16; "
                                                             : "queries scaled, in bf16; ";
    fprintf(file, "class   scores %s, exp within %.2g, P in %s%s, sums of P V %s %s\n",
            bound_score_names[o->score], o->exp_error, bound_format_name(o->weights),
            o->rounded_sum ? " (row sum too)" : "",
            o->accumulate == ACCUMULATE_TENSOR_CORE ? "by" : "in",
            bound_accumulate_names[o->accumulate]);
    snprintf(
        text, sizeof text,
        "%s%s%schunks of %d key%s, merges %s, %s%sstates in %s, division %s%s, output in %s%s%s",
        promotes("scores", o->score_promotes, of_scores),
        promotes("P V", o->accumulate_promotes, of_values), scaled, o->chunk, plural(o->chunk),
        bound_merges_names[o->merges], references("above", o->above, above),
        references("below", o->behind, behind), bound_format_name(o->partials),
        o->immediate ? "immediate" : "deferred",
        o->part_lse == CP_FP32   ? ""
        : o->part_lse == CP_FP16 ? " by log-sum-exps in fp16"
                                 : " by log-sum-exps in bf16",
        bound_format_name(o->output), o->truncate ? ", truncated" : "",
        o->flush ? ", flushed" : "");
    print_wrapped(file, 8, text);
    print_changes(file, o, row, f);
    print_declared(file, o);
    print_cache(file, o, row);
}

static void print_shares(FILE *file, const struct bound_figures *f) {
    fputs("\npart      share of B   largest in\n", file);
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        int bar = (int)lround(f->share[p] * BAR);
        fprintf(file, "%-8s %9.2f %%  %7d of %d%s%.*s\n", bound_part_names[p], 100.0 * f->share[p],
                f->dominates[p], f->claimed, bar > 0 ? "  " : "", bar,
                "########################################");
    }
}

static void print_pair(FILE *file, const char *name, struct bound_pair pair, const char *what) {
    fprintf(file, "%-8s %11.4g %11.4g   %s\n", name, pair.median, pair.largest, what);
}

static void print_figures(FILE *file, const struct bound_figures *f) {
    fprintf(file, "\n              median     largest   of %d number%s of the output\n", f->claimed,
            plural(f->claimed));
    print_pair(file, "B", f->bound, "a right kernel is never further away (NUM-10)");
    print_pair(file, "|o|", f->size, "the numbers themselves");
    print_pair(file, "B / ulp", f->ulps, "B in units in the last place of the output");
    print_pair(file, "usual", f->rms, "error if roundings are independent (NUM-13): no verdict");
    if (isfinite(f->lse_bound)) {
        fprintf(
            file,
            "lse      %11.4g               bound of the log-sum-exp, without its own rounding;\n"
            "         %11.4g               the same in bits (CONV-1)\n",
            f->lse_bound, f->lse_bound / log(2.0));
    }
}

void bound_print_text(FILE *file, const struct bound_options *o, const struct bound_row *row,
                      const struct bound_figures *f) {
    char text[BOUND_TEXT], advice[BOUND_TEXT - 64];
    print_row(file, o, row, f);
    print_class(file, o, row, f);
    if (f->claimed > 0) {
        print_shares(file, f);
        print_figures(file, f);
        fputs("\n", file);
        bound_advice(o, row, f, f->largest_part, advice, sizeof advice);
        snprintf(text, sizeof text, "%s: %.0f %% of B. %s", bound_part_names[f->largest_part],
                 100.0 * f->share[f->largest_part], advice);
        print_wrapped(file, 0, text);
        print_wrapped(file, 0,
                      "The shares are those of the formula's terms (NUM-10), over all numbers.");
    }
    if (f->claimed < f->elements) {
        fprintf(file, "\nNo bound for %d of %d number%s.\n", f->elements - f->claimed, f->elements,
                plural(f->elements));
        bound_reason_text(o, row, f, text, sizeof text);
        print_wrapped(file, 0, text);
    }
}

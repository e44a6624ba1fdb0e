/* SPDX-License-Identifier: Apache-2.0 */
/* The command `chunkproof bound`: how far a kernel of a class may be from attention on one row, and
 * why.
 *
 *   options.c  the command line       class.c    the class and counts that it declares
 *   help.c     --help                 declared.c what of them the gate has, too
 *   shift.c    changed scores         cache.c    numbers of 8 bits, and their scales
 *   input.c    rows of numbers        case.c     the same from and to a file
 *   figures.c  what is printed        text.c, json.c    prints it
 *   advice.c   the same in words      time.c     what it costs */
#ifndef CHUNKPROOF_CLI_BOUND_BOUND_H
#define CHUNKPROOF_CLI_BOUND_BOUND_H

#include <stdio.h>

#include "chunkproof/kernel.h"
#include "chunkproof/score_shift.h"
#include "chunkproof/tolerance_parts.h"

#define BOUND_MOST_KEYS     (1 << 20)
#define BOUND_MOST_DIM      (1 << 16)
#define BOUND_MOST_NUMBERS  (1 << 26) /* in K, and in V */
#define BOUND_MOST_SHORT    1024      /* products in a short sum (NUM-20) */
#define BOUND_FARTHEST      11.0      /* nats (NUM-21) */
#define BOUND_MOST_PARTS    (1 << 20)
#define BOUND_MOST_POSITION (1 << 22) /* exact in binary32 (NUM-15) */

enum bound_family {
    BOUND_NORMAL,
    BOUND_MASSIVE,
    BOUND_ONE_HOT,
    BOUND_TIES,
    BOUND_SHIFTED,
    BOUND_SUBNORMAL,
    BOUND_OFFSET,
    BOUND_CANCELLING,
    BOUND_WIDE,
    BOUND_RISING,
    BOUND_EQUAL,
    BOUND_UNDERFLOW,
    BOUND_EDGES, /* of chunks */
    BOUND_FAMILIES
};

enum bound_score {
    SCORE_SEQUENTIAL,
    SCORE_PAIRWISE,
    SCORE_TENSOR_CORE,
    SCORE_FP16,
    SCORE_BF16,
    SCORE_KINDS
};
enum bound_accumulate {
    ACCUMULATE_FP32,
    ACCUMULATE_FP16,
    ACCUMULATE_TENSOR_CORE,
    ACCUMULATE_BF16,
    ACCUMULATE_KINDS
};
enum bound_merges {
    MERGES_CHAIN,
    MERGES_BALANCED,
    MERGES_RUNNING,
    MERGES_ANY, /* any order: what the gate counts (GATE-2) */
    MERGES_KINDS
};

struct bound_options {
    int keys, head_dim, chunk;
    int value_dim; /* 0: head_dim */
    enum bound_family family;
    unsigned long long seed;
    int input, weights, partials, output; /* CP_FP32, CP_FP16, CP_BF16 */
    enum bound_score score;
    enum bound_accumulate accumulate;
    enum bound_merges merges;
    int immediate, truncate, flush, rounded_sum;
    int scales; /* CP_SCALES_...: of the query (CONV-4) */
    /* NUM-20: of sums in 16 bits, so many products are added before the sum is promoted to
     * binary32; 0: all of them. */
    int score_promotes, accumulate_promotes;
    double exp_error;
    int part_lse;         /* NUM-22: of the log-sum-exps of divided states: as `weights` */
    double above, behind; /* NUM-21: how far references may be from the maximum, in nats */
    /* NUM-15: what changes scores, in nats. `bias`: the largest size of an entry of the table. */
    double cap, slope, bias, sink, tanh_error, tanh_absolute;
    int has_cap, has_slope, has_bias, has_sink, cap_last;
    /* GATE-15: as in struct cp_kernel_class. */
    int factors, normalises; /* factors: CP_FACTORS_... */
    double epsilon, divide_error;
    int n_parts, part_keys; /* 0: a part for each chunk; of MERGES_ANY */
    /* NUM-18, NUM-19: CP_CACHE_..., and to what numbers times their scale are rounded. */
    struct cp_kernel_cache cache;
    int k_dequantised, v_dequantised;
    double k_scale, v_scale;           /* 0: the largest number becomes that of the format */
    const char *case_file, *save_file; /* NULL: none */
    int json, time, help;
    int row_given, keys_given, dim_given, input_given; /* --family or --seed; --keys; ... */
};

/* The names of an option's values; NULL after the last. */
extern const char *const bound_family_names[];
extern const char *const bound_score_names[];
extern const char *const bound_accumulate_names[];
extern const char *const bound_merges_names[];
extern const char *const bound_scaled_names[];  /* of CP_SCALES_... */
extern const char *const bound_factors_names[]; /* of CP_FACTORS_... */
extern const char *const bound_cache_names[];   /* see bound_cache_of() */
/* CP_FP32, CP_FP16 or CP_BF16, to nearest. */
struct cp_format bound_format(int type);
const char *bound_format_name(int format);

/* Returns 0, or -1 after a message. */
int bound_options_parse(struct bound_options *options, int argc, char **argv);
void bound_options_help(FILE *file);
int bound_value_dim(const struct bound_options *options);

/* One row. */
struct bound_row {
    int n, d, d_v;
    double scale;
    double *q, *k, *v; /* [d], [n][d], [n][d_v]; one allocation, that of q */
    /* [n], behind v: where the keys stand, 0, 1, ... at first; what a table adds to scores. */
    double *position, *bias;
    double at;                     /* where the row stands: at its last key at first */
    int has_positions, has_biases; /* 1: they are the row's own, for a file */
    double k_scale, v_scale;       /* of a cache of 8 bits; else 1 */
};

/* 0, or -1 when there is no memory. */
int bound_row_new(struct bound_row *row, int n, int d, int d_v);
void bound_row_free(struct bound_row *row);

/* The nearest number of the format. */
double bound_round(int format, double x);

/* Makes the row of --family and --seed: the same on every machine, up to the last digit of sqrt and
 * exp2. */
void bound_row_fill(struct bound_row *row, const struct bound_options *options);

/* A file of the form {"scale": s, "q": [d numbers], "k": [[d numbers], ...], "v": [[d_v numbers],
 * ...]}, with as many rows of V as of K, and perhaps "position": p, "positions": [n whole numbers],
 * "biases": [n numbers]. 0, or -1 after saying what is wrong, and where. */
int bound_case_load(struct bound_row *row, const char *name);
int bound_case_save(const struct bound_row *row, const char *name);

/* Rounds the numbers of a case to the format. 0, or -1 after saying which number does not fit in
 * it. */
int bound_case_round(struct bound_row *row, const char *name, int format);

/* CP_CACHE_... of a name. */
int bound_cache_of(int name);
const char *bound_cache_name(int cache);

/* K and V become numbers of the caches, times their scales. 0, or -1 after saying which number does
 * not fit. `name`: the case, or NULL. */
int bound_cache_round(const struct bound_options *options, struct bound_row *row, const char *file);

/* The largest magnitudes of a row: of a score, changed or not, of the sum of its products'
 * magnitudes, of a number of a key, of the error of a shift (NUM-14), and of a number of q. */
struct bound_largest {
    double score, products, key, shift_error, query;
};

/* NUM-6 of that: how a score is computed before it is changed. */
void bound_class_of_score(const struct bound_options *options, const struct bound_row *row,
                          const struct bound_largest *largest, struct cp_arithmetic *arithmetic);

/* NUM-7, NUM-8: what a kernel as described by the options declares for a row. Returns the largest
 * error of a score. */
double bound_class(const struct bound_options *options, const struct bound_row *row,
                   const struct bound_largest *largest, struct cp_arithmetic *arithmetic,
                   struct cp_counts *counts);

/* NUM-20: the counts of a sum of values in binary32 become those of one by short sums, where the
 * options have such. */
void bound_count_short_sums(const struct bound_options *options, int n, struct cp_counts *counts);

/* A part of bound_class(), for callers with other counts: what does not depend on the counts. */
void bound_arithmetic(const struct bound_options *options, int d, struct cp_arithmetic *arithmetic);

/* What the options are in the words of a kernel's declaration, as far as kernel_class.h reads
 * them. */
struct cp_kernel_class bound_declared(const struct bound_options *options);

/* NUM-15: how the scores of the row's keys are changed where a score is computed as `score` says,
 * to shift[n_keys] and error[n_keys]. change->bias counts for nothing: bias[j] is that of key j,
 * read only where there is one. It may be the array `shift`. */
void bound_shift_keys(const struct cp_score_arithmetic *score,
                      const struct cp_shift_arithmetic *arithmetic, struct cp_score_change change,
                      const struct cp_tolerance_row *row, const double *bias, double *shift,
                      double *error);

/* 1: the options, or the row's table, change a score, or there is a sink. */
int bound_changes_scores(const struct bound_options *options, const struct bound_row *row);

/* Of a row with scores that are changed: shifts of its keys, and of the sink, which comes first
 * where there is one. row->n + has_sink numbers each. `score`: that of bound_class_of_score(). */
void bound_shift_row(const struct bound_options *options, const struct bound_row *row,
                     const struct cp_score_arithmetic *score, double *shift, double *error);

/* Why some elements have no bound. */
enum bound_reason {
    REASON_NONE,
    REASON_NO_KEY,
    REASON_INFINITE, /* the products that make a score are too large for binary64 */
    REASON_LEFT,
    REASON_OVERFLOW,
    REASON_SCORES
};

struct bound_pair {
    double median, largest;
};

/* Over the elements with a bound. */
struct bound_figures {
    int elements, claimed;
    struct bound_pair bound, size, ulps,
        rms;                           /* B, |o|, B in units in the last place of o, NUM-13 */
    double share[CP_TOLERANCE_PARTS];  /* of the sum of all B; they add up to 1 */
    int dominates[CP_TOLERANCE_PARTS]; /* in how many elements each part is the largest */
    int largest_part;
    enum bound_reason reason;
    double left, lost[CP_TOLERANCE_PARTS];
    double largest_score;    /* changed or not, or a sink's; INFINITY: none is known */
    double largest_plain;    /* of a key, before it is changed; likewise */
    double largest_changed;  /* of a key; 0 where nothing is changed */
    double largest_products; /* |scale| sum |q_i k_i| */
    double largest_key;      /* number */
    double largest_shift_error, largest_query;
    double largest_sigma, lse_bound;
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
};

extern const char *const bound_part_names[CP_TOLERANCE_PARTS];

struct bound_largest bound_largest_of(const struct bound_figures *figures);

/* Of each number of the output: [d_v] each. Infinite: nothing is claimed. */
struct bound_numbers {
    double *attention, *bound, *rms;
};

/* 0, or -1 when there is no memory. The second one writes each number, too, unless `each` is
 * NULL. */
int bound_figures(const struct bound_options *options, const struct bound_row *row,
                  struct bound_figures *figures);
int bound_figures_each(const struct bound_options *options, const struct bound_row *row,
                       struct bound_figures *figures, struct bound_numbers *each);

/* In words: what makes the dominating part smaller; and why some elements have no bound ("" if all
 * have one). */
#define BOUND_TEXT 1024
void bound_advice(const struct bound_options *options, const struct bound_row *row,
                  const struct bound_figures *figures, int part, char *text, size_t size);
void bound_reason_text(const struct bound_options *options, const struct bound_row *row,
                       const struct bound_figures *figures, char *text, size_t size);

void bound_print_text(FILE *file, const struct bound_options *options, const struct bound_row *row,
                      const struct bound_figures *figures);
int bound_print_json(FILE *file, const struct bound_options *options, const struct bound_row *row,
                     const struct bound_figures *figures, const struct bound_numbers *each);

/* Compares the time of cp_tolerance() with that of the reference's attention. 0, or -1: out of
 * memory. */
int bound_print_time(FILE *file, const struct bound_options *options);

#endif

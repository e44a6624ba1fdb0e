/* SPDX-License-Identifier: Apache-2.0 */
/* Was the kernel loaded, and is what it declares possible? */
#include "gate/runner/words.h"

#include "gate/runner/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Fields ---- */

#define TYPE_NAMES RUN_TYPE_NAMES
#define SUM_NAMES                                                                                  \
    "CP_SUM_FP32 (0), CP_SUM_TENSOR_CORE (1), CP_SUM_FP16 (2), CP_SUM_FP64 (3) or CP_SUM_BF16 (4)"

#define BIT(value) RUN_BIT(value)
#define TYPES      RUN_TYPES

/* Kept tokens without a window, beside these. */
#define KEPT_ALONE(others) BIT(CP_MASKS_KEPT | (others))

#define SUMS                                                                                       \
    (BIT(CP_SUM_FP32) | BIT(CP_SUM_TENSOR_CORE) | BIT(CP_SUM_FP16) | BIT(CP_SUM_FP64) |            \
     BIT(CP_SUM_BF16))

#define MOST_PACK   256  /* CONV-12 */
#define MOST_SHORT  1024 /* NUM-20 */
#define FARTHEST    11.0 /* NUM-21, in nats */
#define MOST_PARTS  (1 << 20)
#define OF_8_BITS   (BIT(CP_CACHE_E4M3) | BIT(CP_CACHE_E5M2) | BIT(CP_CACHE_INT8))
#define CACHES      (BIT(CP_CACHE_PLAIN) | OF_8_BITS)
#define CACHE_NAMES "CP_CACHE_PLAIN (0), CP_CACHE_E4M3 (4), CP_CACHE_E5M2 (5) or CP_CACHE_INT8 (6)"

static int check_choices(const struct cp_kernel *kernel, const char *file, char text[RUN_TEXT]) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    const struct cp_kernel_conventions *c = &kernel->conventions;
    const struct cp_kernel_layout *l = &kernel->layout;
    const unsigned yes_or_no = BIT(0) | BIT(1);
    const struct run_field fields[] = {
        {"q_type", kernel->q_type, TYPES, TYPE_NAMES},
        {"kv_type", kernel->kv_type, TYPES, TYPE_NAMES},
        {"out_type", kernel->out_type, TYPES, TYPE_NAMES},
        {"lse_type", kernel->lse_type, BIT(CP_NO_LSE) | BIT(CP_FP32) | BIT(CP_FP64),
         "CP_NO_LSE (-1), CP_FP32 (1) or CP_FP64 (2)"},
        {"memory", kernel->memory, yes_or_no, "CP_HOST_MEMORY (0) or CP_DEVICE_MEMORY (1)"},
        {"plans", kernel->plans, yes_or_no | BIT(CP_PLANS_LISTS),
         "CP_PLANS_TREES (0), CP_PLANS_RANGES (1) or CP_PLANS_LISTS (2)"},
        {"keys", kernel->keys, yes_or_no | BIT(CP_KEYS_LOCAL),
         "CP_KEYS_PLACED (0), CP_KEYS_RAW (1) or CP_KEYS_LOCAL (2)"},
        {"pairs", kernel->pairs, yes_or_no, "CP_PAIRS_HALVES (0) or CP_PAIRS_NEIGHBOURS (1)"},
        {"widths", kernel->widths, yes_or_no, "CP_WIDTHS_EQUAL (0) or CP_WIDTHS_ANY (1)"},
        {"masks", kernel->masks,
         (0xFFFFU << 1) & ~(KEPT_ALONE(0) | KEPT_ALONE(CP_MASKS_AHEAD) | KEPT_ALONE(CP_MASKS_BITS) |
                            KEPT_ALONE(CP_MASKS_AHEAD | CP_MASKS_BITS)),
         "a sum of CP_MASKS_WINDOW (1), CP_MASKS_AHEAD (2), CP_MASKS_BITS (8) and, with "
         "CP_MASKS_WINDOW, CP_MASKS_KEPT (4)"},
        {"scores", kernel->scores, 0xFFFFU << 1,
         "a sum of CP_SCORES_CAP (1), CP_SCORES_SLOPES (2), CP_SCORES_SINKS (4) and "
         "CP_SCORES_BIASES (8)"},
        {"cache.k", kernel->cache.k, CACHES, CACHE_NAMES},
        {"cache.v", kernel->cache.v, CACHES, CACHE_NAMES},
        {"cache.scales", kernel->cache.scales, yes_or_no | BIT(CP_CACHE_SCALE_TOKEN),
         "CP_CACHE_SCALE_TENSOR (0), CP_CACHE_SCALE_HEAD (1) or CP_CACHE_SCALE_TOKEN (2)"},
        {"layout.pages", l->pages, yes_or_no | BIT(CP_PAGES_RAGGED),
         "CP_PAGES_CHUNKS (0), CP_PAGES_OWN (1) or CP_PAGES_RAGGED (2)"},
        {"layout.order", l->order, yes_or_no | BIT(CP_ORDER_HND),
         "CP_ORDER_ANY (0), CP_ORDER_NHD (1) or CP_ORDER_HND (2)"},
        {"layout.gaps", l->gaps, yes_or_no | BIT(CP_GAPS_NONE),
         "CP_GAPS_ANY (0), CP_GAPS_PAGES (1) or CP_GAPS_NONE (2)"},
        {"layout.tensors", l->tensors, yes_or_no | BIT(CP_TENSORS_HALVES) | BIT(CP_TENSORS_KEYS),
         "CP_TENSORS_TWO (0), CP_TENSORS_PAGES (1), CP_TENSORS_HALVES (2) or CP_TENSORS_KEYS (3)"},
        {"layout.scale_order", l->scale_order, yes_or_no,
         "CP_SCALES_BY_HEAD (0) or CP_SCALES_BY_SLOT (1)"},
        {"conventions.lse_base", c->lse_base, yes_or_no, "CP_LSE_NATURAL (0) or CP_LSE_BITS (1)"},
        {"conventions.empty_out", c->empty_out, yes_or_no | BIT(CP_EMPTY_UNSPECIFIED),
         "CP_EMPTY_NEUTRAL (0), CP_EMPTY_NAN (1) or CP_EMPTY_UNSPECIFIED (3)"},
        {"conventions.empty_lse", c->empty_lse,
         yes_or_no | BIT(CP_EMPTY_VALUE) | BIT(CP_EMPTY_UNSPECIFIED),
         "CP_EMPTY_NEUTRAL (0), CP_EMPTY_NAN (1), CP_EMPTY_VALUE (2) or CP_EMPTY_UNSPECIFIED (3)"},
        {"conventions.never", c->never, 0xFFFFU << 1,
         "a sum of CP_NEVER_EMPTY_SEQUENCES (1), CP_NEVER_EMPTY_ROWS (2), CP_NEVER_ROWLESS (4) and "
         "CP_NEVER_UNEQUAL_ROWS (8)"},
        {"conventions.window", c->window, yes_or_no,
         "CP_WINDOW_OF_KEYS (0) or CP_WINDOW_BEFORE (1)"},
        {"conventions.cap", c->cap, yes_or_no, "CP_CAP_FIRST (0) or CP_CAP_LAST (1)"},
        {"conventions.bias", c->bias, yes_or_no | BIT(CP_BIAS_POSITION),
         "CP_BIAS_SIGNED (0), CP_BIAS_DISTANCE (1) or CP_BIAS_POSITION (2)"},
        {"conventions.sink", c->sink, yes_or_no, "CP_SINK_IN_LSE (0) or CP_SINK_BESIDE_LSE (1)"},
        {"conventions.invariant", c->invariant, yes_or_no | BIT(CP_INVARIANT_CUTS),
         "CP_INVARIANT_NOT (0), CP_INVARIANT_BATCH (1) or CP_INVARIANT_CUTS (2)"},
        {"arithmetic.score", a->score, SUMS, SUM_NAMES},
        {"arithmetic.weights", a->weights, BIT(CP_FP32) | BIT(CP_FP16) | BIT(CP_BF16),
         "CP_FP32 (1: not rounded), CP_FP16 (0) or CP_BF16 (3)"},
        {"arithmetic.rotated", a->rotated, BIT(CP_FP32) | BIT(CP_FP16) | BIT(CP_BF16),
         "CP_FP32 (1: not rounded), CP_FP16 (0) or CP_BF16 (3)"},
        {"arithmetic.k_dequantised", a->k_dequantised, BIT(CP_FP32) | BIT(CP_FP16) | BIT(CP_BF16),
         "CP_FP32 (1: not rounded), CP_FP16 (0) or CP_BF16 (3)"},
        {"arithmetic.v_dequantised", a->v_dequantised, BIT(CP_FP32) | BIT(CP_FP16) | BIT(CP_BF16),
         "CP_FP32 (1: not rounded), CP_FP16 (0) or CP_BF16 (3)"},
        {"arithmetic.scales", a->scales, yes_or_no | BIT(CP_SCALES_QUERY_BF16),
         "CP_SCALES_SCORES (0), CP_SCALES_QUERY_FP16 (1) or CP_SCALES_QUERY_BF16 (2)"},
        {"arithmetic.values", a->values, SUMS, SUM_NAMES},
        {"arithmetic.partials", a->partials, BIT(CP_FP32) | BIT(CP_FP16) | BIT(CP_BF16),
         "CP_FP32 (1), CP_FP16 (0) or CP_BF16 (3)"},
        {"arithmetic.rounded_sum", a->rounded_sum, yes_or_no, "0 or 1"},
        {"arithmetic.divides", a->divides, yes_or_no | BIT(2), "0, 1 or 2"},
        {"arithmetic.part_lse", a->part_lse,
         BIT(CP_PART_LSE_FP32) | BIT(CP_PART_LSE_FP16) | BIT(CP_PART_LSE_BF16),
         "CP_PART_LSE_FP32 (0), CP_PART_LSE_FP16 (16) or CP_PART_LSE_BF16 (17)"},
        {"arithmetic.normalises", a->normalises, yes_or_no, "0 or 1"},
        {"arithmetic.factors", a->factors, yes_or_no | BIT(CP_FACTORS_BF16),
         "CP_FACTORS_FP32 (0), CP_FACTORS_FP16 (1) or CP_FACTORS_BF16 (2)"},
        {"arithmetic.in_bits", a->in_bits, yes_or_no, "0 or 1"},
        {"arithmetic.truncates", a->truncates, yes_or_no, "0 or 1"},
        {"arithmetic.flushes", a->flushes, yes_or_no, "0 or 1"},
    };
    return run_check_fields("cp_kernel", fields, sizeof fields / sizeof fields[0], file, text);
}

/* NUM-20. */
static int check_promotes(const struct cp_kernel *kernel, const char *file, char text[RUN_TEXT]) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    const int promotes[] = {a->score_promotes, a->values_promotes}, sum[] = {a->score, a->values};
    const char *const name[] = {"score", "values"};
    for (int i = 0; i < 2; i++) {
        if (!(0 <= promotes[i] && promotes[i] <= MOST_SHORT)) {
            snprintf(text, RUN_TEXT,
                     "%s: cp_kernel.arithmetic.%s_promotes is %d; it may be from 1 to 1024, the "
                     "products whose sum is promoted to binary32, or 0: sums are not promoted",
                     file, name[i], promotes[i]);
            return -1;
        }
        if (promotes[i] > 0 && sum[i] != CP_SUM_FP16 && sum[i] != CP_SUM_BF16) {
            snprintf(text, RUN_TEXT,
                     "%s: cp_kernel.arithmetic.%s_promotes needs .%s = CP_SUM_FP16 or CP_SUM_BF16: "
                     "only sums in 16 bits are promoted",
                     file, name[i], name[i]);
            return -1;
        }
    }
    return 0;
}

/* NUM-21. */
static int check_references(const struct cp_kernel *kernel, const char *file, char text[RUN_TEXT]) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    const double distance[] = {a->above, a->behind};
    const char *const name[] = {"above", "behind"};
    for (int i = 0; i < 2; i++) {
        if (!(0.0 <= distance[i] && distance[i] <= FARTHEST)) {
            snprintf(text, RUN_TEXT,
                     "%s: cp_kernel.arithmetic.%s is %g; it may be from 0 to 11 nats, how far the "
                     "reference may be %s the largest score",
                     file, name[i], distance[i], i == 0 ? "above" : "below");
            return -1;
        }
        if (distance[i] > 0.0 && a->normalises) {
            snprintf(text, RUN_TEXT,
                     "%s: cp_kernel.arithmetic.%s needs .normalises = 0: weights that are divided "
                     "by n have no bound with it",
                     file, name[i]);
            return -1;
        }
    }
    return 0;
}

static int check_division(const struct cp_kernel *kernel, const char *file, char text[RUN_TEXT]) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    if (!run_is_share(a->divide_error) || !run_is_share(a->epsilon)) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.arithmetic.%s is %g; it may be from 0 to 0x1p-6 (0.015625)", file,
                 run_is_share(a->divide_error) ? "epsilon" : "divide_error",
                 run_is_share(a->divide_error) ? a->epsilon : a->divide_error);
        return -1;
    }
    if (a->divides != 0 && a->normalises) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.arithmetic.normalises needs .divides = 0, and it is %d: only a "
                 "kernel that divides once, at the end, has it",
                 file, a->divides);
        return -1;
    }
    if (a->normalises && a->rounded_sum) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.arithmetic.normalises needs .rounded_sum = 0: weights that are "
                 "divided by n are rounded after n is known",
                 file);
        return -1;
    }
    return 0;
}

/* GATE-2, NUM-22. */
static int check_parts(const struct cp_kernel *kernel, const char *file, char text[RUN_TEXT]) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    const int number[] = {a->n_parts, a->part_keys};
    const char *const name[] = {"n_parts", "part_keys"};
    const char *const what[] = {"the most partial results of a row",
                                "the fewest keys of a partial result"};
    for (int i = 0; i < 2; i++) {
        if (!(0 <= number[i] && number[i] <= MOST_PARTS)) {
            snprintf(text, RUN_TEXT,
                     "%s: cp_kernel.arithmetic.%s is %d; it may be from 1 to %d, %s, or 0: there "
                     "may be one for each step",
                     file, name[i], number[i], MOST_PARTS, what[i]);
            return -1;
        }
    }
    if (a->part_lse != CP_PART_LSE_FP32 && (a->divides == 0 || a->score == CP_SUM_FP64)) {
        snprintf(text, RUN_TEXT, "%s: cp_kernel.arithmetic.part_lse needs %s: %s", file,
                 a->divides == 0 ? ".divides = 1 or 2" : "sums in another format than binary64",
                 a->divides == 0 ? "only a partial result that was divided has a log-sum-exp for "
                                   "its reference"
                                 : "all else is binary64, too");
        return -1;
    }
    return 0;
}

static int check_tanh(const struct cp_kernel *kernel, const char *file, char text[RUN_TEXT]) {
    const struct cp_kernel_class *a = &kernel->arithmetic;
    int is_relative = !run_is_share(a->tanh_error);
    if (is_relative || !run_is_share(a->tanh_absolute)) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.arithmetic.%s is %g; it may be from 0 to 0x1p-6 (0.015625)", file,
                 is_relative ? "tanh_error" : "tanh_absolute",
                 is_relative ? a->tanh_error : a->tanh_absolute);
        return -1;
    }
    if ((kernel->scores & CP_SCORES_CAP) != 0 && a->tanh_error == 0.0 && a->tanh_absolute == 0.0) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.arithmetic.tanh_error is 0, and scores are capped: no tanh is "
                 "exact; 0x1p-22 holds tanhf(), 0x1p-10 tanh.approx.f32",
                 file);
        return -1;
    }
    return 0;
}

static int is_size(int size, int most) {
    return 0 <= size && size <= most;
}

/* CONV-11, CONV-12: what does not go together; NULL: all does. */
static const char *wrong_layout(const struct cp_kernel *kernel) {
    const struct cp_kernel_layout *l = &kernel->layout;
    int is_packed = l->k_pack > 0 || l->v_pack > 0;
    return l->pages != CP_PAGES_CHUNKS && kernel->plans != CP_PLANS_TREES
               ? "pages needs .plans = CP_PLANS_TREES: keys of modules lie in the chunks of runs"
           : l->pages != CP_PAGES_CHUNKS && kernel->keys == CP_KEYS_LOCAL
               ? "pages needs keys that have positions of their own, or none: runs have no pages"
           : !is_size(l->page_size, CP_MOST_PAGE)
               ? "page_size may be from 1 to CP_MOST_PAGE (4096), or 0: any"
           : !is_size(l->page_unit, CP_MOST_PAGE) || (l->page_unit > 0 && l->page_size > 0)
               ? "page_unit may be from 1 to CP_MOST_PAGE (4096), where .page_size is 0; or 0"
           : l->page_size + l->page_unit > 0 && l->pages != CP_PAGES_OWN
               ? "page_size, or .page_unit, needs .pages = CP_PAGES_OWN; a chunk's size is refused "
                 "by refuses()"
           : !is_size(l->k_pack, MOST_PACK) || !is_size(l->v_pack, MOST_PACK)
               ? "k_pack and .v_pack may be from 1 to 256, or 0: not packed"
           : is_packed && (l->order == CP_ORDER_NHD || l->pages == CP_PAGES_RAGGED)
               ? "k_pack and .v_pack are for pages by K/V head: not with CP_ORDER_NHD, nor ragged"
           : l->pages == CP_PAGES_RAGGED && l->order == CP_ORDER_HND
               ? "order is CP_ORDER_HND, and ragged keys lie [key][K/V head][d]: it may be "
                 "CP_ORDER_NHD"
           : l->scale_order != CP_SCALES_BY_HEAD && kernel->cache.scales != CP_CACHE_SCALE_TOKEN
               ? "scale_order needs .cache.scales = CP_CACHE_SCALE_TOKEN: others have no slots"
           : l->tensors != CP_TENSORS_TWO &&
                   (l->k_pack != l->v_pack || kernel->cache.k != kernel->cache.v)
               ? "tensors has K and V in one: .k_pack and .v_pack must be alike, and .cache.k and "
                 ".cache.v"
           : kernel->widths != CP_WIDTHS_EQUAL &&
                   (l->tensors == CP_TENSORS_PAGES || l->tensors == CP_TENSORS_HALVES)
               ? "tensors has V behind K with the strides of K, so that .widths must be "
                 "CP_WIDTHS_EQUAL"
           : l->tensors == CP_TENSORS_KEYS && kernel->keys != CP_KEYS_PLACED
               ? "tensors is CP_TENSORS_KEYS: values in keys need .keys = CP_KEYS_PLACED"
               : NULL;
}

static int check_layout(const struct cp_kernel *kernel, const char *file, char text[RUN_TEXT]) {
    const char *wrong = wrong_layout(kernel);
    if (wrong != NULL) {
        snprintf(text, RUN_TEXT, "%s: cp_kernel.layout.%s", file, wrong);
    }
    return wrong != NULL ? -1 : 0;
}

int run_check_declared(const struct cp_kernel *kernel, const char *path, char text[RUN_TEXT]) {
    const char *file = run_short_name(path);
    double exp_error = kernel->arithmetic.exp_error;
    if (check_choices(kernel, file, text) != 0) {
        return -1;
    }
    if (!(exp_error >= 0.0 && exp_error <= 0x1p-6)) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.arithmetic.exp_error is %g; it may be from 0 to 0x1p-6 (0.015625); "
                 "0x1p-22 holds exp2f() on a GPU",
                 file, exp_error);
        return -1;
    }
    if (check_promotes(kernel, file, text) != 0 || check_division(kernel, file, text) != 0 ||
        check_references(kernel, file, text) != 0 || check_parts(kernel, file, text) != 0 ||
        check_tanh(kernel, file, text) != 0 || check_layout(kernel, file, text) != 0) {
        return -1;
    }
    if (!run_is_empty_value(kernel->conventions.empty_lse, kernel->conventions.empty_value,
                            kernel->lse_type)) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.conventions.empty_value is %g; with CP_EMPTY_VALUE it may be any "
                 "number of lse_type and no NaN, and otherwise it must be 0",
                 file, kernel->conventions.empty_value);
        return -1;
    }
    if (kernel->arithmetic.step < 0) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.arithmetic.step is %d; it may be 0 (a chunk), 1 (key by key) or "
                 "the number of keys that are weighed against one maximum",
                 file, kernel->arithmetic.step);
        return -1;
    }
    return 0;
}

int run_check_kernel(const struct cp_kernel *kernel, const char *path, char text[RUN_TEXT]) {
    if (run_check_declared(kernel, path, text) != 0) {
        return -1;
    }
    if (kernel->attend == NULL) {
        snprintf(text, RUN_TEXT,
                 "%s: cp_kernel.attend is NULL; it must be the function that computes attention",
                 run_short_name(path));
        return -1;
    }
    return 0;
}

/* ---- Loading ---- */

/* The loader's message usually begins with the path, and so does the caller's sentence. */
static const char *without_path(const char *words, const char *path) {
    size_t length = strlen(path);
    return strncmp(words, path, length) == 0 && strncmp(words + length, ": ", 2) == 0
               ? words + length + 2
               : words;
}

static const char *how_to_mend(const char *words) {
    if (strstr(words, "undefined symbol") != NULL) {
        return "link it with the object or library that has it";
    }
    if (strstr(words, "cannot open shared object file") != NULL) {
        return "set LD_LIBRARY_PATH to its directory, or link with -Wl,-rpath";
    }
    if (strstr(words, "failed to map segment") != NULL) {
        return "no program may run from where it is, as on a mount with noexec: set TMPDIR to "
               "another directory";
    }
    return "build it as a shared object: cc -shared -fPIC -o mine.so mine.c -lm";
}

/* What a kernel of an older version has to say more, and what it may leave out. */
static const char *what_is_new(int version) {
    return version == 12   ? "; new is CP_SCORES_BIASES, for kernels that take a table of biases"
           : version == 11 ? "; new are fields of `arithmetic`, whose zeros mean what was so before"
           : version == 10 ? "; new are `widths` and fields of `arithmetic`, whose zeros mean what "
                             "was so before"
           : version == 9  ? "; new are `widths`, `layout` and fields of `arithmetic`, whose zeros "
                             "mean what was so before"
           : version == 8
               ? "; `arithmetic.dequantised` is `k_dequantised` and `v_dequantised`, and "
                 "CP_CACHE_... have other numbers; new are `widths` and `layout`"
           : version == 7
               ? "; new are `widths`, `scores`, `conventions.cap`, `.bias` and `.sink`, `cache`, "
                 "`layout`, and "
                 "`arithmetic.tanh_error`, `.tanh_absolute`, `.k_dequantised` and "
                 "`.v_dequantised`, whose zeros mean what was so before"
           : version == 6 ? "; new are `widths`, `masks`, `scores`, `cache`, `layout` and fields "
                            "of `conventions` and "
                            "`arithmetic`, whose zeros mean what was so before"
           : version == 5 ? "; new are `widths`, `conventions`, `masks`, `scores`, `cache`, "
                            "`layout` and fields of "
                            "`arithmetic`, whose zeros mean what was so before"
           : version == 4 ? "; new are `keys`, `pairs`, `widths`, `conventions`, `masks`, "
                            "`scores`, `cache`, `layout` "
                            "and fields of `arithmetic`, whose zeros mean what was so before (but "
                            "`rotated`, which counts only with `keys`)"
                          : "; CHANGELOG.md says what is new";
}

static void other_version(int abi, const char *file, char text[RUN_TEXT]) {
    int version = abi / 1000000;
    if (run_later_version(abi, CP_KERNEL_VERSION, "kernel.h", file, text)) {
        return;
    }
    if (version < 1 || version == CP_KERNEL_VERSION) {
        snprintf(text, RUN_TEXT,
                 "%s: it was compiled with another chunkproof/kernel.h: cp_kernel.abi is %d, and "
                 "this program takes %d; recompile it, with .abi = CP_KERNEL_ABI",
                 file, abi, CP_KERNEL_ABI);
        return;
    }
    snprintf(text, RUN_TEXT,
             "%s: it was compiled with version %d of chunkproof/kernel.h, and this program takes "
             "version %d; recompile it%s",
             file, version, CP_KERNEL_VERSION, what_is_new(version));
}

static int not_loaded(const struct run_control *control, const char *path, char text[RUN_TEXT]) {
    const char *file = run_short_name(path);
    switch (control->load) {
    case RUN_LOADED:
        if ((control->merges ? control->merging.name : control->kernel.name) != NULL) {
            return 0;
        }
        snprintf(text, RUN_TEXT, "%s: %s.name is NULL; give it a name for reports", file,
                 control->merges ? "cp_merge_kernel" : "cp_kernel");
        return -1;
    case RUN_NOT_OPENED: {
        const char *words = without_path(control->text, path);
        snprintf(text, RUN_TEXT, "%s: %.90s; %s", file, words, how_to_mend(words));
        return -1;
    }
    case RUN_NO_DEVICE:
    case RUN_NO_STACK:
        snprintf(text, RUN_TEXT, "%s: %.170s", file, control->text);
        return -1;
    case RUN_NO_SYMBOL:
        snprintf(text, RUN_TEXT,
                 "%s: it has no symbol cp_kernel; define `const struct cp_kernel cp_kernel` as "
                 "chunkproof/kernel.h shows, visible and in C++ as extern \"C\"; or, for a kernel "
                 "that merges results, `cp_merge_kernel` as chunkproof/merge_kernel.h shows",
                 file);
        return -1;
    case RUN_TWO_SYMBOLS:
        snprintf(text, RUN_TEXT,
                 "%s: it has the symbols cp_kernel and cp_merge_kernel; give the gate an object "
                 "with one of them",
                 file);
        return -1;
    default:
        if (control->merges) {
            run_other_merge_version(control->merging.abi, file, text);
        } else {
            other_version(control->kernel.abi, file, text);
        }
        return -1;
    }
}

/* No code of the kernel ran: the program is not chunkproof, or the system did not let it run. */
static void not_started(const struct run_control *control, const char *file, char text[RUN_TEXT]) {
    snprintf(text, RUN_TEXT,
             "%s: the process that loads the kernel ended, or did not answer within %g s; is there "
             "enough memory, and is this program chunkproof?",
             file, control->limits.seconds);
}

int run_check_load(const struct run_process *process, enum run_answer answer, const char *path,
                   char text[RUN_TEXT]) {
    const struct run_control *control = process->control;
    const char *file = run_short_name(path);
    struct run_report report;
    if (answer == RUN_ANSWERED) {
        return not_loaded(control, path, text) != 0 ? -1
               : control->merges ? run_check_merging(&control->merging, path, text)
                                 : run_check_kernel(&control->kernel, path, text);
    }
    if (control->phase == RUN_STARTING) {
        not_started(control, file, text);
    } else if (answer == RUN_NOT_IN_TIME) {
        snprintf(text, RUN_TEXT,
                 "%s: loading it did not end within %g s: one of its constructors hangs", file,
                 control->limits.seconds);
    } else {
        memset(&report, 0, sizeof report);
        run_explain(process, answer, &report);
        snprintf(text, RUN_TEXT, "%s: loading it failed: one of its constructors %.130s", file,
                 report.text);
    }
    return -1;
}

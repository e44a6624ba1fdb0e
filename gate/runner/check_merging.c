/* SPDX-License-Identifier: Apache-2.0 */
/* Is what a kernel that merges declares possible? */
#include <math.h>
#include <stdio.h>

#include "gate/runner/fields.h"
#include "gate/runner/words.h"

#define LSE_TYPES      (RUN_BIT(CP_FP32) | RUN_BIT(CP_FP64))
#define LSE_TYPE_NAMES "CP_FP32 (1) or CP_FP64 (2)"
#define FARTHEST       64.0

static int check_choices(const struct cp_merge_kernel *kernel, const char *file,
                         char text[RUN_TEXT]) {
    const struct cp_merging_class *a = &kernel->arithmetic;
    const struct cp_merge_layout *l = &kernel->layout;
    const unsigned two = RUN_BIT(0) | RUN_BIT(1), three = two | RUN_BIT(2),
                   four = three | RUN_BIT(3);
    const struct run_field fields[] = {
        {"o_type", kernel->o_type, RUN_TYPES, RUN_TYPE_NAMES},
        {"l_type", kernel->l_type, LSE_TYPES, LSE_TYPE_NAMES},
        {"memory", kernel->memory, two, "CP_HOST_MEMORY (0) or CP_DEVICE_MEMORY (1)"},
        {"base", kernel->base, two, "CP_BASE_E (0) or CP_BASE_2 (1)"},
        {"lse", kernel->lse, three, "CP_LSE_ASKED (0), CP_LSE_ALWAYS (1) or CP_LSE_NEVER (2)"},
        {"parts", kernel->parts, two, "CP_PARTS_EQUAL (0) or CP_PARTS_BY_ROW (1)"},
        {"form", kernel->form, three, "CP_FORM_LSE (0), CP_FORM_SUMS (1) or CP_FORM_UNDIVIDED (2)"},
        {"in_place", kernel->in_place, two, "0 or 1"},
        {"layout.o", l->o, three,
         "CP_O_ORDER_ANY (0), CP_O_ORDER_PART_ROW (1) or CP_O_ORDER_ROW_PART (2)"},
        {"layout.l", l->l, four,
         "CP_L_ORDER_ANY (0), CP_L_ORDER_PART_ROW (1), CP_L_ORDER_PART_HEAD (2) or "
         "CP_L_ORDER_ROW_PART (3)"},
        {"layout.lse", l->lse, three,
         "CP_LSE_ORDER_ANY (0), CP_LSE_ORDER_ROW (1) or CP_LSE_ORDER_HEAD (2)"},
        {"layout.gaps", l->gaps, RUN_BIT(CP_GAPS_ANY) | RUN_BIT(CP_GAPS_NONE),
         "CP_GAPS_ANY (0) or CP_GAPS_NONE (2)"},
        {"empty_out", kernel->empty_out, two | RUN_BIT(CP_EMPTY_UNSPECIFIED),
         "CP_EMPTY_NEUTRAL (0), CP_EMPTY_NAN (1) or CP_EMPTY_UNSPECIFIED (3)"},
        {"empty_lse", kernel->empty_lse, four,
         "CP_EMPTY_NEUTRAL (0), CP_EMPTY_NAN (1), CP_EMPTY_VALUE (2) or CP_EMPTY_UNSPECIFIED (3)"},
        {"empty_o", kernel->empty_o, two, "CP_EMPTY_O_ANY (0) or CP_EMPTY_O_NUMBERS (1)"},
        {"empty_l", kernel->empty_l, RUN_BIT(CP_EMPTY_L_ANY) | three,
         "CP_EMPTY_L_MINUS (0), CP_EMPTY_L_EITHER (1), CP_EMPTY_L_VALUE (2) or CP_EMPTY_L_ANY (3)"},
        {"never", kernel->never,
         RUN_BIT(0) | RUN_BIT(CP_NEVER_EMPTY_ROWS) | RUN_BIT(CP_NEVER_EMPTY_PARTS) |
             RUN_BIT(CP_NEVER_EMPTY_ROWS | CP_NEVER_EMPTY_PARTS),
         "a sum of CP_NEVER_EMPTY_ROWS (2) and CP_NEVER_EMPTY_PARTS (16)"},
        {"arithmetic.way", a->way, four,
         "CP_MERGING_AT_ONCE (0), CP_MERGING_STATES (1), CP_MERGING_PAIRWISE (2) or "
         "CP_MERGING_UNDIVIDED (3)"},
        {"arithmetic.tree", a->tree, two, "CP_MERGING_ANY_TREE (0) or CP_MERGING_BALANCED (1)"},
        {"arithmetic.converts", a->converts, three,
         "CP_CONVERTS_NONE (0), CP_CONVERTS_DIFFERENCE (1) or CP_CONVERTS_EACH (2)"},
        {"arithmetic.weights", a->weights, RUN_TYPES, RUN_TYPE_NAMES},
        {"arithmetic.values", a->values, RUN_TYPES, RUN_TYPE_NAMES},
        {"arithmetic.partials", a->partials, RUN_TYPES, RUN_TYPE_NAMES},
        {"arithmetic.out_type", a->out_type, RUN_TYPES, RUN_TYPE_NAMES},
        {"arithmetic.lse_type", a->lse_type, LSE_TYPES, LSE_TYPE_NAMES},
        {"arithmetic.truncates", a->truncates, two, "0 or 1"},
        {"arithmetic.flushes", a->flushes, two, "0 or 1"},
    };
    return run_check_fields("cp_merge_kernel", fields, sizeof fields / sizeof fields[0], file,
                            text);
}

struct share {
    const char *name;
    double value;
};

static int check_errors(const struct cp_merge_kernel *kernel, const char *file,
                        char text[RUN_TEXT]) {
    const struct cp_merging_class *a = &kernel->arithmetic;
    const struct share errors[] = {
        {"exp_error", a->exp_error}, {"log_error", a->log_error}, {"div_error", a->div_error}};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (!run_is_share(errors[i].value)) {
            snprintf(text, RUN_TEXT,
                     "%s: cp_merge_kernel.arithmetic.%s is %g; it may be from 0 to 0x1p-6 "
                     "(0.015625)",
                     file, errors[i].name, errors[i].value);
            return -1;
        }
    }
    const struct share nats[] = {{"above", a->above}, {"behind", a->behind}};
    for (size_t i = 0; i < sizeof nats / sizeof nats[0]; i++) {
        if (!(nats[i].value >= 0.0 && nats[i].value <= FARTHEST)) {
            snprintf(text, RUN_TEXT,
                     "%s: cp_merge_kernel.arithmetic.%s is %g; it may be from 0 to %g nats", file,
                     nats[i].name, nats[i].value, FARTHEST);
            return -1;
        }
    }
    return 0;
}

static int is_empty_l(const struct cp_merge_kernel *kernel) {
    double value = kernel->empty_l_value;
    int is_double =
        kernel->l_type == CP_FP64 && !(kernel->in_place && kernel->arithmetic.lse_type != CP_FP64);
    return kernel->empty_l != CP_EMPTY_L_VALUE
               ? value == 0.0
               : value < 0.0 && isfinite(value) && (is_double || (double)(float)value == value);
}

/* NULL: all fits. */
static const char *what_does_not_fit(const struct cp_merge_kernel *kernel) {
    const struct cp_merging_class *a = &kernel->arithmetic;
    int least = kernel->least_parts, most = kernel->most_parts;
    return least < 0 || least > CP_MERGE_MOST_PARTS
               ? "least_parts may be from 1 to CP_MERGE_MOST_PARTS (1000), or 0: 1"
           : most < 0 || (most > 0 && most < least)
               ? "most_parts may be from .least_parts on, or 0: any number"
           : kernel->form != CP_FORM_LSE && kernel->in_place
               ? "in_place needs .form = CP_FORM_LSE: the result in out and lse is no sum"
           : kernel->form != CP_FORM_LSE && a->way > CP_MERGING_STATES
               ? "form, of parts that are given by sums, needs .arithmetic.way = "
                 "CP_MERGING_AT_ONCE or CP_MERGING_STATES"
           : kernel->form != CP_FORM_LSE && kernel->empty_l == CP_EMPTY_L_EITHER
               ? "empty_l may be CP_EMPTY_L_EITHER only of log-sum-exps (.form = CP_FORM_LSE)"
           : kernel->form == CP_FORM_LSE && kernel->empty_l == CP_EMPTY_L_ANY
               ? "empty_l may be CP_EMPTY_L_ANY only of parts that are given by sums: a "
                 "log-sum-exp says whether a part has keys"
           : kernel->in_place && kernel->lse == CP_LSE_NEVER
               ? "in_place needs a log-sum-exp: .lse must not be CP_LSE_NEVER"
           : kernel->in_place && kernel->parts != CP_PARTS_EQUAL
               ? "in_place needs .parts = CP_PARTS_EQUAL: each row has a part 0"
           : kernel->in_place && most == 1 ? "in_place needs .most_parts = 2 at least, or 0"
           : a->behind > 0.0 && a->way > CP_MERGING_STATES
               ? "arithmetic.behind needs .way = CP_MERGING_AT_ONCE or CP_MERGING_STATES"
           : a->tree == CP_MERGING_BALANCED && a->way != CP_MERGING_PAIRWISE
               ? "arithmetic.tree = CP_MERGING_BALANCED needs .way = CP_MERGING_PAIRWISE"
           : !is_empty_l(kernel)
               ? "empty_l_value, with CP_EMPTY_L_VALUE, must be finite, below 0 and a number of "
                 "l_type, in place of lse_type, too; otherwise it must be 0"
           : !run_is_empty_value(kernel->empty_lse, kernel->empty_value, a->lse_type)
               ? "empty_value, with CP_EMPTY_VALUE, may be any number of lse_type and no NaN, and "
                 "otherwise it must be 0"
               : NULL;
}

int run_check_merging(const struct cp_merge_kernel *kernel, const char *path, char text[RUN_TEXT]) {
    const char *file = run_short_name(path);
    if (check_choices(kernel, file, text) != 0 || check_errors(kernel, file, text) != 0) {
        return -1;
    }
    const char *wrong = what_does_not_fit(kernel);
    if (wrong == NULL && kernel->merge == NULL) {
        wrong = "merge is NULL; it must be the function that merges";
    }
    if (wrong != NULL) {
        snprintf(text, RUN_TEXT, "%s: cp_merge_kernel.%s", file, wrong);
    }
    return wrong != NULL ? -1 : 0;
}

void run_other_merge_version(int abi, const char *file, char text[RUN_TEXT]) {
    if (run_later_version(abi, CP_MERGE_VERSION, "merge_kernel.h", file, text)) {
        return;
    }
    if (abi / 1000000 == 1) {
        snprintf(text, RUN_TEXT,
                 "%s: it was compiled with version 1 of chunkproof/merge_kernel.h, and this "
                 "program takes version %d; recompile it; new are `form` and, in calls, `n`, whose "
                 "zeros mean what was so before",
                 file, CP_MERGE_VERSION);
        return;
    }
    snprintf(text, RUN_TEXT,
             "%s: it was compiled with another chunkproof/merge_kernel.h: cp_merge_kernel.abi is "
             "%d, and this program takes %d; recompile it, with .abi = CP_MERGE_ABI",
             file, abi, CP_MERGE_ABI);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Results that would be right if the kernel had declared a wider arithmetic: which field it is, or
 * which two. That one case would be right says little; so does it of some cases of every kind of
 * values. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/case/masks.h"
#include "gate/case/pages.h"
#include "gate/case/scores.h"
#include "gate/explain/explain.h"
#include "gate/judge/scores.h"
#include "gate/runner/words.h"

#define SEED         7
#define NARROW       0x1p-16 /* an exponential that is declared together with something else */
#define MOST_SAID    6
#define ENOUGH       3      /* different numbers: less may be chance */
#define FAR          0.25   /* in the logarithm of a sum of weights: no sum is rounded so, */
#define FAR_OF_LARGE 0x1p-8 /* nor, of a large maximum, of that */
#define ALIKE        0.02   /* factors of the elements of a row */
#define EXACT_KEYS   256    /* so many ones are a whole number in each format */
#define NO_KEY       0x1p-9 /* in a logarithm: less than one key of so many */
#define ROUNDINGS    8      /* of the output, in its units */
#define A_KEY        0.0625 /* of an element: columns have at most 8 keys */

/* Cases in addition to the one that is explained. */
static const struct effort {
    int cases, of_its_kind; /* so many more with its kind of values */
    long long work, work_of_its_kind;
} on_host = {33, 16, 15000, 100000}, simulated = {6, 4, 3000, 3000};

/* ---- Declarations ---- */

#define OFFSET(field) offsetof(struct cp_kernel_class, field)
#define ALL_FIELDS    sizeof(struct cp_kernel_class) /* in binary32, where binary64 is declared */

/* What a field says, which decides how it is declared and what is wider. */
enum kind {
    A_CHOICE, /* one of several, an int */
    A_TYPE,   /* the same, of two in 16 bits: the first is not tried where the second is declared */
    AN_ERROR, /* a double, which is larger where more is allowed */
    A_COARSER,    /* a choice that is not said where the row before it is right */
    A_CONVENTION, /* an int that two sides may differ in (spec/conventions.md) */
    ALL           /* several fields */
};

/* A field, and what might be declared. */
static const struct wider {
    size_t at;
    enum kind kind;
    double value;
    const char *words;
} wider[] = {
    {ALL_FIELDS, ALL, 0x1p-22,
     "`score` and `values` as CP_SUM_FP32, `weights` and `partials` as CP_FP32 and `exp_error` as "
     "0x1p-22"},
#define FIELD(kind, name, value)                                                                   \
    { OFFSET(name), kind, value, "`" #name "` as " #value }
    FIELD(AN_ERROR, tanh_error, 0x1p-20),
    FIELD(AN_ERROR, tanh_error, 0x1p-16),
    FIELD(AN_ERROR, tanh_error, 0x1p-10),
    FIELD(AN_ERROR, tanh_absolute, 0x1p-21),
    FIELD(AN_ERROR, tanh_absolute, 0x1p-18),
    FIELD(AN_ERROR, tanh_absolute, 0x1p-10),
    FIELD(A_CHOICE, score, CP_SUM_TENSOR_CORE),
    FIELD(A_CHOICE, score, CP_SUM_FP16),
    FIELD(A_COARSER, score, CP_SUM_BF16),
    FIELD(A_CHOICE, score_promotes, 4),
    FIELD(A_CHOICE, score_promotes, 16),
    FIELD(A_CHOICE, score_promotes, 64),
    FIELD(A_CHOICE, score_promotes, 0),
    FIELD(A_CHOICE, values, CP_SUM_TENSOR_CORE),
    FIELD(A_CHOICE, values, CP_SUM_FP16),
    FIELD(A_COARSER, values, CP_SUM_BF16),
    FIELD(A_CHOICE, values_promotes, 4),
    FIELD(A_CHOICE, values_promotes, 16),
    FIELD(A_CHOICE, values_promotes, 64),
    FIELD(A_CHOICE, values_promotes, 0),
    FIELD(A_CHOICE, weights, CP_FP16),
    FIELD(A_CHOICE, weights, CP_BF16),
    FIELD(A_CHOICE, rotated, CP_FP16),
    FIELD(A_CHOICE, rotated, CP_BF16),
    FIELD(A_CHOICE, k_dequantised, CP_FP16),
    FIELD(A_CHOICE, k_dequantised, CP_BF16),
    FIELD(A_CHOICE, v_dequantised, CP_FP16),
    FIELD(A_CHOICE, v_dequantised, CP_BF16),
    FIELD(A_CONVENTION, scales, CP_SCALES_QUERY_FP16),
    FIELD(A_CONVENTION, scales, CP_SCALES_QUERY_BF16),
    FIELD(A_CHOICE, partials, CP_FP16),
    FIELD(A_COARSER, partials, CP_BF16),
    FIELD(A_CHOICE, rounded_sum, 0),
    FIELD(A_CHOICE, rounded_sum, 1),
    FIELD(A_CHOICE, divides, 1),
    FIELD(A_CHOICE, divides, 2),
    FIELD(A_TYPE, part_lse, CP_PART_LSE_FP16),
    FIELD(A_TYPE, part_lse, CP_PART_LSE_BF16),
    FIELD(A_CHOICE, n_parts, 0),
    FIELD(A_CHOICE, part_keys, 0),
    FIELD(A_CHOICE, normalises, 1),
    FIELD(A_TYPE, factors, CP_FACTORS_FP16),
    FIELD(A_TYPE, factors, CP_FACTORS_BF16),
    FIELD(AN_ERROR, epsilon, 1e-6),
    FIELD(AN_ERROR, epsilon, 0x1p-14),
    FIELD(AN_ERROR, epsilon, 0x1p-10),
    FIELD(AN_ERROR, divide_error, 0x1p-18),
    FIELD(AN_ERROR, divide_error, 0x1p-14),
    FIELD(AN_ERROR, divide_error, 0x1p-10),
    FIELD(AN_ERROR, above, 0.6932),
    FIELD(AN_ERROR, behind, 5.5453),
    FIELD(A_CHOICE, in_bits, 1),
    FIELD(A_CHOICE, truncates, 1),
    FIELD(A_CHOICE, flushes, 1),
    FIELD(A_CHOICE, step, 1),
    FIELD(AN_ERROR, exp_error, 0x1p-20),
    FIELD(AN_ERROR, exp_error, 0x1p-18),
    FIELD(AN_ERROR, exp_error, 0x1p-16),
    FIELD(AN_ERROR, exp_error, 0x1p-14),
    FIELD(AN_ERROR, exp_error, 0x1p-12),
    FIELD(AN_ERROR, exp_error, 0x1p-10),
    FIELD(AN_ERROR, exp_error, 0x1p-8),
#undef FIELD
};

#define WIDER ((int)(sizeof wider / sizeof wider[0]))

/* One declaration, and what came of it. */
struct declaration {
    int i, j;                      /* entries of the table; j is i where there is one field */
    int wrong;                     /* rows and heads */
    long long compared, unclaimed; /* numbers */
    long long mended;              /* that are wrong as the kernel declares itself */
    int mended_cases, last;        /* with such numbers; the last of them */
    double largest;                /* error / bound of these */
};

#define DECLARATIONS (WIDER * (WIDER + 1) / 2)

struct trying {
    const struct explain *x;
    struct declaration declaration[DECLARATIONS];
    int n, cases, right; /* of the cases so many are right as it is declared */
    int no_memory;
};

static int is_of(int i, size_t field) {
    return wider[i].at == field;
}

static int is_a(int i, enum kind kind) {
    return wider[i].kind == kind;
}

static int *field_of(struct cp_kernel_class *class, size_t at) {
    return (int *)(void *)((char *)class + at);
}

static int is_of_tanh(int i) {
    return is_of(i, OFFSET(tanh_error)) || is_of(i, OFFSET(tanh_absolute));
}

static double *error_of(struct cp_kernel_class *class, size_t at) {
    return (double *)(void *)((char *)class + at);
}

static void declare(struct cp_kernel_class *class, int i) {
    if (is_a(i, AN_ERROR)) {
        *error_of(class, wider[i].at) = wider[i].value;
    } else if (is_a(i, ALL)) {
        class->score = class->values = CP_SUM_FP32;
        class->weights = class->partials = CP_FP32;
        class->exp_error = fmax(class->exp_error, wider[i].value);
    } else {
        *field_of(class, wider[i].at) = (int)wider[i].value;
    }
}

/* NUM-20: only a sum that is declared in 16 bits is promoted. */
static int is_of_other_sum(const struct cp_kernel_class *class, int i) {
    int of_score = is_of(i, OFFSET(score_promotes)), of_values = is_of(i, OFFSET(values_promotes));
    int sum = of_score ? class->score : class->values;
    return (of_score || of_values) && sum != CP_SUM_FP16 && sum != CP_SUM_BF16;
}

/* 1: the next row of the field, bfloat16, is declared, which errs more than binary16. */
static int is_less(struct cp_kernel_class *class, int i) {
    return is_a(i, A_TYPE) && i + 1 < WIDER && is_of(i + 1, wider[i].at) &&
           *field_of(class, wider[i].at) == (int)wider[i + 1].value;
}

/* 1: a number that a call of the kernel has not. */
static int is_of_nothing(const struct cp_kernel *kernel, int i) {
    return (is_of(i, OFFSET(rotated)) && kernel->keys == CP_KEYS_PLACED) ||
           (is_of(i, OFFSET(k_dequantised)) && kernel->cache.k == CP_CACHE_PLAIN) ||
           (is_of(i, OFFSET(v_dequantised)) && kernel->cache.v == CP_CACHE_PLAIN) ||
           (is_of_tanh(i) && (kernel->scores & CP_SCORES_CAP) == 0);
}

/* 1: a kernel may declare both. */
static int is_class(const struct cp_kernel *declared, int i, int j) {
    struct cp_kernel kernel = *declared;
    char why_not[RUN_TEXT];
    declare(&kernel.arithmetic, i);
    declare(&kernel.arithmetic, j);
    return run_check_declared(&kernel, "", why_not) == 0;
}

/* 1: it is another declaration than the kernel's, and no smaller error. */
static int changes(const struct cp_kernel *kernel, int i) {
    struct cp_kernel_class class = kernel->arithmetic;
    if ((class.score == CP_SUM_FP64) != is_a(i, ALL)) {
        return 0;
    }
    if (is_of_nothing(kernel, i) || is_of_other_sum(&class, i) || is_less(&class, i)) {
        return 0;
    }
    return is_a(i, ALL)        ? 1
           : is_a(i, AN_ERROR) ? wider[i].value > *error_of(&class, wider[i].at)
                               : *field_of(&class, wider[i].at) != (int)wider[i].value;
}

static int is_narrow(int i) {
    return !is_a(i, AN_ERROR) || wider[i].value <= NARROW;
}

/* Weights that are rounded before they are summed up, too: one thing that a kernel does, of two
 * fields. */
static int is_rounded_weights(int i, int j) {
    return is_of(i, OFFSET(weights)) && is_of(j, OFFSET(rounded_sum)) && wider[j].value == 1.0;
}

/* All fields, or all pairs of them. */
static void add_all(struct trying *t, int pairs) {
    t->n = 0;
    for (int i = 0; i < WIDER; i++) {
        for (int j = i; j < WIDER; j++) {
            int is_asked = i == j ? !pairs
                                  : pairs != is_rounded_weights(i, j) && is_narrow(i) &&
                                        is_narrow(j) && !is_of(i, wider[j].at);
            if (is_asked && changes(t->x->kernel, i) && changes(t->x->kernel, j) &&
                is_class(t->x->kernel, i, j)) {
                t->declaration[t->n++] = (struct declaration){.i = i, .j = j};
            }
        }
    }
}

/* ---- Cases ---- */

/* 1: all elements of a row are what they must be, times one factor that is far from 1. Bounds are
 * of the worst case; but what is rounded in a sum is not the same for each element, and the sum of
 * weights is not rounded so far. */
static int is_scaled(const double *got, const double *expected, int d) {
    double least = INFINITY, most = -INFINITY;
    int n = 0;
    for (int i = 0; i < d; i++) {
        if (expected[i] != 0.0) {
            least = fmin(least, got[i] / expected[i]);
            most = fmax(most, got[i] / expected[i]);
            n++;
        }
    }
    return n > 1 && least > 0.0 && isfinite(most) && most - least <= ALIKE * most &&
           fabs(log(most)) > FAR;
}

/* 1: a row that is wrong as it is declared is off by more than sums are rounded; or its log-sum-exp
 * is, which only scores may be. */
static int is_far(const struct explain_results *r, const struct declaration *by) {
    int d = r->d, wrong = memchr(r->rightness, GATE_NUMBER_WRONG, (size_t)d) != NULL;
    if (wrong && is_scaled(r->got, r->expected, d)) {
        return 1;
    }
    return explain_is_wrong_number(r, d) && !is_of(by->i, OFFSET(score)) &&
           !is_of(by->j, OFFSET(score)) &&
           fabs(r->got[d] - r->expected[d]) > FAR + FAR_OF_LARGE * fabs(r->expected[d]);
}

/* A row and head by such a declaration, whose numbers are these. */
static void judge_pair(const struct trying *t, struct declaration *by,
                       const struct explain_results *r, const struct gate_numbers *n) {
    int numbers = r->d + (r->run->problem.lse_type != CP_NO_LSE), wrong = is_far(r, by);
    for (int i = 0; i < numbers; i++) {
        double got = r->got[i];
        enum gate_rightness right = gate_judge_number(r->sees, got, n->expected[i], n->bound[i]);
        wrong |= right == GATE_NUMBER_WRONG;
        by->compared += right == GATE_NUMBER_RIGHT;
        by->unclaimed += right == GATE_NUMBER_UNCLAIMED;
        if (right == GATE_NUMBER_RIGHT && explain_is_wrong_number(r, i)) {
            double off = fabs(got - n->expected[i]);
            by->mended++;
            by->mended_cases += by->last != t->cases;
            by->last = t->cases;
            by->largest = fmax(by->largest, n->bound[i] > 0.0 ? off / n->bound[i] : 0.0);
        }
    }
    by->wrong += wrong;
}

/* The judge's verdict on the same numbers, for each declaration that is right up to here. */
static void judge_all(void *context, const struct gate_problem *p, const struct gate_arrays *one,
                      const struct gate_arrays *other, const struct gate_finding *finding) {
    struct trying *t = context;
    struct explain_run run;
    struct gate_scratch *scratch = gate_scratch_new(p);
    size_t width = (size_t)p->value_dim + 1;
    double *numbers = malloc(3 * width * sizeof *numbers);
    struct gate_numbers n = {numbers, numbers + width, t->x->unusual ? numbers + 2 * width : NULL,
                             NULL};
    t->cases++;
    t->right += finding->verdict == GATE_RIGHT;
    t->no_memory |=
        explain_run_new(&run, t->x->kernel, t->x->lse_unit, p, one, other, t->x->unusual) != 0 ||
        scratch == NULL || numbers == NULL;
    for (int i = 0; i < t->n && !t->no_memory; i++) {
        struct declaration *by = &t->declaration[i];
        struct cp_kernel kernel = *t->x->kernel;
        declare(&kernel.arithmetic, by->i);
        declare(&kernel.arithmetic, by->j);
        for (int pair = 0; pair < run.pairs && by->wrong == 0; pair++) {
            const struct explain_results is = explain_results(&run, pair);
            gate_certify_row(scratch, &kernel, pair / p->recipe.n_heads, pair % p->recipe.n_heads,
                             &n);
            explain_narrow(&n, is.d);
            judge_pair(t, by, &is, &n);
        }
    }
    explain_run_free(&run);
    free(numbers);
    gate_scratch_free(scratch);
}

/* 1: some declaration is right up to here, and there is time. */
static int goes_on(const struct trying *t) {
    int left = 0;
    for (int i = 0; i < t->n; i++) {
        left += t->declaration[i].wrong == 0;
    }
    return left > 0 && !t->no_memory && !explain_is_over(t->x, 0.0);
}

/* One of the gate's cases, of its own sizes or else of those that are known to be taken. 0, or -1:
 * no verdict. */
static int run_case(struct trying *t, long long index, long long work) {
    const struct gate_recipe *r = t->x->recipe;
    struct gate_shape shape = {.n_heads = r->n_heads,
                               .n_kv_heads = r->n_kv_heads,
                               .head_dim = r->head_dim,
                               .chunk_size = r->chunk_size};
    struct gate_finding finding;
    int ran = 0;
    for (int own = 1; own >= 0 && ran == 0; own--) {
        struct gate_recipe other;
        gate_recipe_make(&other, SEED, index, 0, work, own ? NULL : &shape);
        gate_recipe_mask(&other, t->x->kernel->masks, NULL);
        gate_recipe_scores(&other, t->x->kernel->scores);
        gate_recipe_pages(&other, &t->x->kernel->layout);
        other.renewed = 0;
        ran = gate_look(t->x->runner, &other, &finding, judge_all, t);
    }
    return ran < 0 ? -1 : 0;
}

static enum gate_values values_of(long long index) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, SEED, index, 0, GATE_SMALL_WORK, NULL);
    return recipe.values;
}

/* The cases that were explained; some of the gate's; and more with the same kind of values, where
 * few of those show what is wrong. 0, or -1: no verdict. */
static int run_all(struct trying *t) {
    const struct explain *x = t->x;
    const struct effort *effort = runner_is_simulated(x->runner) ? &simulated : &on_host;
    int result = 0;
    t->cases = t->right = 0;
    for (int i = 0; i < x->n_runs && goes_on(t) && result >= 0; i++) {
        struct gate_finding finding;
        if (i == 0 || x->run[i].wrong > 0) {
            result = gate_look(x->runner, &x->run[i].recipe, &finding, judge_all, t);
        }
    }
    for (int i = 0; i < effort->cases && goes_on(t) && result >= 0; i++) {
        result = run_case(t, i, effort->work);
    }
    for (int i = effort->cases, n = 0; n < effort->of_its_kind && goes_on(t) && result >= 0; i++) {
        if (values_of(i) == x->recipe->values) {
            result = run_case(t, i, effort->work_of_its_kind);
            n++;
        }
    }
    return t->no_memory || result < 0 ? -1 : 0;
}

/* ---- Is it rounding? ---- */

/* Where all weights are equal, and V are small whole numbers in few keys, the sum of weighted
 * values rounds nothing, nor does that of the weights of EXACT_KEYS. What is left is the output's
 * rounding, a few times, and what the division adds: less than a key is of EXACT_KEYS, and the
 * same for all elements. Of more keys the sum of weights may be rounded, as that. */
static int is_inexact_row(const struct explain_results *r, double unit) {
    const double *got = r->got, *expected = r->expected;
    double factor = 1.0, allowed = ROUNDINGS * unit;
    int largest = 0;
    for (int i = 1; i < r->d; i++) {
        largest = fabs(expected[i]) > fabs(expected[largest]) ? i : largest;
    }
    double off = expected[largest] != 0.0 ? got[largest] / expected[largest] : 1.0;
    if (r->sees > EXACT_KEYS) {
        factor = off;
        allowed = A_KEY;
        if (!(fabs(log(factor)) <= FAR)) {
            return 1;
        }
    } else if (fabs(log(off)) <= NO_KEY) {
        factor = off;
    }
    for (int i = 0; r->sees > 0 && i < r->d; i++) {
        if (!(fabs(got[i] - factor * expected[i]) <= allowed * fabs(expected[i]))) {
            return 1;
        }
    }
    return 0;
}

const char *explain_why_no_rounding(const struct explain *x) {
    for (int i = 0; i < x->n_runs; i++) {
        const struct explain_run *run = &x->run[i];
        struct cp_arithmetic arithmetic;
        struct cp_counts counts;
        gate_class(x->kernel, &run->problem.recipe, 1, 0.0, &arithmetic, &counts);
        double unit = fmax(arithmetic.output.unit, arithmetic.u_div); /* of a division, at least */
        int is_counted =
            run->problem.recipe.values == GATE_COUNT && !gate_changes_scores(&run->problem.scores);
        for (int pair = 0; is_counted && pair < run->pairs; pair++) {
            const struct explain_results is = explain_results(run, pair);
            if (is_inexact_row(&is, unit)) {
                return "where all weights are equal and V small whole numbers, sums round nothing, "
                       "and it is wrong there";
            }
        }
    }
    return NULL;
}

/* ---- What is said ---- */

static int claims_few(const struct declaration *d) {
    return gate_claims_few(d->compared, d->unclaimed);
}

/* 1: what is less coarse is right, too. */
static int is_needless(const struct trying *t, const struct declaration *d) {
    for (int i = 0; i < t->n && is_a(d->i, A_COARSER); i++) {
        const struct declaration *less = &t->declaration[i];
        if (less->i == d->i - 1 && less->j == d->j - (d->i == d->j) && less->wrong == 0) {
            return 1;
        }
    }
    return 0;
}

/* The narrowest: the error comes nearest to its bound. */
static struct declaration *narrowest(struct trying *t, int least) {
    struct declaration *best = NULL;
    for (int i = 0; i < t->n; i++) {
        struct declaration *d = &t->declaration[i];
        int is_shown = d->i == d->j && d->mended_cases >= EXPLAIN_ENOUGH_CASES;
        if (d->wrong == 0 && !is_needless(t, d) && d->mended_cases >= least &&
            (is_shown || !claims_few(d)) && (best == NULL || d->largest > best->largest)) {
            best = d;
        }
    }
    return best;
}

static void say_declaration(const struct trying *t, const struct declaration *d, int said) {
    FILE *file = t->x->file;
    int few = d->mended_cases < EXPLAIN_ENOUGH_CASES, is_one = d->mended == 1;
    if (said == 0 && few) {
        fputs("  too few cases show it to tell a coarser arithmetic from a mistake. If it is the "
              "first:\n",
              file);
    }
    char words[sizeof t->x->cause->text];
    (void)snprintf(words, sizeof words, "%s%s%s", wider[d->i].words, d->j != d->i ? " and " : "",
                   d->j != d->i ? wider[d->j].words : "");
    explain_keep_cause(t->x, "it would be usual if it declared ", words);
    fprintf(file, "  %s %s", said == 0 ? "its results would be right if it declared" : "or", words);
    if (said == 0) {
        fprintf(file,
                " (NUM-7):\n      in this case and in %d others, of which %d are right as it is "
                "declared;\n     ",
                t->cases - 1, t->right);
    } else {
        fputs(":", file);
    }
    fprintf(file, " it allows %lld number%s wrong now, by %.2g of %s bound at most%s\n", d->mended,
            is_one ? " that is" : "s that are", d->largest, is_one ? "its" : "their",
            few ? ": too few cases to be sure" : "");
    if (claims_few(d)) {
        fprintf(file,
                "      (of %lld of %lld numbers nothing can be claimed then: too many for a "
                "verdict)\n",
                d->unclaimed, d->compared + d->unclaimed);
    }
}

/* Others of the same fields are not said. */
static void rule_out(struct trying *t, const struct declaration *said) {
    int i = said->i, j = said->j;
    for (int k = 0; k < t->n; k++) {
        struct declaration *d = &t->declaration[k];
        d->wrong += is_of(d->i, wider[i].at) && is_of(d->j, wider[j].at);
    }
}

/* The mistake that is none by a convention: it gives at least half of the wrong numbers. */
static const struct explain_reason *reason_of(const struct explain *x, int i) {
    int type = wider[i].value == CP_SCALES_QUERY_FP16 ? CP_FP16 : CP_BF16;
    for (const struct explain_reason *r = x->reason; r < x->reason + x->n_reasons; r++) {
        int way = r->choice.elements.way;
        if ((way == ELEMENTS_SCALED || way == ELEMENTS_SCALED_BITS) &&
            r->choice.elements.a == type && r->different >= ENOUGH && 2 * r->n >= x->n_wrong) {
            return r;
        }
    }
    return NULL;
}

/* 1: all is right by that convention, and that was said. */
static int say_convention(struct explain *x, int i) {
    const struct explain_reason *r = reason_of(x, i);
    struct trying t = {.x = x, .declaration = {{.i = i, .j = i}}, .n = 1};
    if (r == NULL || !changes(x->kernel, i) || !is_class(x->kernel, i, i) || run_all(&t) != 0 ||
        explain_is_over(x, 0.0) || narrowest(&t, 1) == NULL) {
        return 0;
    }
    fprintf(x->file,
            "  right if it declared %s in cp_kernel.arithmetic (CONV-4):\n  by that convention "
            "this case is right, and %d other cases, of which %d are right as it is declared;\n"
            "  %s\n      gives %d of %d wrong numbers, %d different ones\n",
            wider[i].words, t.cases - 1, t.right, r->text, r->n, x->n_wrong, r->different);
    explain_keep_cause(x, "it would be right if it declared ", wider[i].words);
    return 1;
}

int explain_scales(struct explain *x) {
    for (int i = 0; i < WIDER; i++) {
        if (is_a(i, A_CONVENTION) && say_convention(x, i)) {
            return 1;
        }
    }
    return 0;
}

int explain_declared(struct explain *x, int least) {
    struct trying t = {.x = x};
    int said = 0;
    for (int pairs = 0; pairs < 2 && said == 0; pairs++) {
        add_all(&t, pairs);
        if (run_all(&t) != 0) {
            return 0;
        }
        if (explain_is_over(x, 0.0)) {
            x->untried[x->n_untried++] = "wider declarations";
            return 0;
        }
        for (struct declaration *d; said < MOST_SAID && (d = narrowest(&t, least)) != NULL;
             said++) {
            say_declaration(&t, d, said);
            rule_out(&t, d);
        }
    }
    return said > 0;
}

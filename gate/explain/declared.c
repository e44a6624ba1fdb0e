/* SPDX-License-Identifier: Apache-2.0 */
/* Results that would be right if the kernel had declared a wider arithmetic: which field it is, or
 * which two. That one case would be right says little; so does it of some cases of every kind of
 * values. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "gate/explain/explain.h"

#define CASES           33 /* beside the one that is explained, */
#define SIMULATED_CASES 6  /* and on the executor of CUDA kernels */
#define CASE_WORK       15000
#define SIMULATED_WORK  3000
#define LONGER_WORK     100000
#define OF_ITS_KIND                                                                                \
    16 /* of these with the same kind of values as the one that is explained, and so many more */
#define SEED         7
#define NARROW       0x1p-16 /* an exponential that is declared together with something else */
#define MOST_SAID    6
#define FAR          0.25   /* in the logarithm of a sum of weights: no sum is rounded so, */
#define FAR_OF_LARGE 0x1p-8 /* nor, of a large maximum, of that */
#define ALIKE        0.02   /* factors of the elements of a row */
#define EXACT_KEYS   256    /* so many ones are a whole number in each format; */
#define ROUNDINGS    8      /* of the output, in its units */
#define PART_OF_A_KEY                                                                              \
    0.0625 /* of an element: columns have 8 keys at most, and one is missed by more */

/* A field, by its name in chunkproof/kernel.h, and what might be declared. */
static const struct wider {
    size_t at; /* of an int; exp_error otherwise */
    int value;
    double exp_error;
    const char *words;
} wider[] = {
#define FIELD(name, value)                                                                         \
    { offsetof(struct cp_kernel_class, name), value, 0.0, "`" #name "` as " #value }
    FIELD(score, CP_SUM_TENSOR_CORE),
    FIELD(score, CP_SUM_FP16),
    FIELD(values, CP_SUM_TENSOR_CORE),
    FIELD(values, CP_SUM_FP16),
    FIELD(weights, CP_FP16),
    FIELD(weights, CP_BF16),
    FIELD(partials, CP_FP16),
    FIELD(rounded_sum, 0),
    FIELD(rounded_sum, 1),
    FIELD(divides, 1),
    FIELD(divides, 2),
    FIELD(in_bits, 1),
    FIELD(truncates, 1),
    FIELD(flushes, 1),
    FIELD(step, 1),
#undef FIELD
    {0, 0, 0x1p-20, "`exp_error` as 0x1p-20"},
    {0, 0, 0x1p-18, "`exp_error` as 0x1p-18"},
    {0, 0, 0x1p-16, "`exp_error` as 0x1p-16"},
    {0, 0, 0x1p-14, "`exp_error` as 0x1p-14"},
    {0, 0, 0x1p-12, "`exp_error` as 0x1p-12"},
    {0, 0, 0x1p-10, "`exp_error` as 0x1p-10"},
    {0, 0, 0x1p-8, "`exp_error` as 0x1p-8"},
};

#define WIDER ((int)(sizeof wider / sizeof wider[0]))

/* One declaration: field i, and j unless it is -1; and what came of it. */
struct declaration {
    int i, j, is_fp32; /* 1: all in binary32, of a kernel that declares binary64 */
    int wrong;         /* rows and heads */
    long long compared, unclaimed,
        mended; /* numbers; of the last the kernel's own declaration says that they are wrong */
    int mended_cases, last; /* with such numbers; the last of them */
    double largest;         /* error / bound of these */
};

#define DECLARATIONS (WIDER * WIDER / 2 + 1)

struct trying {
    const struct explain *x;
    const struct cp_kernel *kernel;
    struct declaration declaration[DECLARATIONS];
    int n, cases, right; /* of the cases so many are right as it is declared */
    int other_values;    /* 1: it is wrong where V is not below the normal numbers, too */
    int no_memory;
};

static int *field_of(struct cp_kernel_class *class, size_t at) {
    return (int *)(void *)((char *)class + at);
}

static int is_exp(int i) {
    return wider[i].exp_error > 0.0;
}

static int is_same_field(int i, int j) {
    return is_exp(i) ? is_exp(j) : !is_exp(j) && wider[i].at == wider[j].at;
}

/* 1: it is another declaration than the kernel's, and no narrower exponential. */
static int changes(const struct cp_kernel *kernel, int i) {
    struct cp_kernel_class class = kernel->arithmetic;
    return is_exp(i) ? wider[i].exp_error > class.exp_error
                     : *field_of(&class, wider[i].at) != wider[i].value;
}

static void declare(struct cp_kernel_class *class, int i) {
    if (i < 0) {
        return;
    }
    if (is_exp(i)) {
        class->exp_error = wider[i].exp_error;
    } else {
        *field_of(class, wider[i].at) = wider[i].value;
    }
}

static struct cp_kernel declared(const struct cp_kernel *kernel, const struct declaration *d) {
    struct cp_kernel other = *kernel;
    if (d->is_fp32) {
        other.arithmetic.score = other.arithmetic.values = CP_SUM_FP32;
        other.arithmetic.weights = other.arithmetic.partials = CP_FP32;
        other.arithmetic.exp_error = fmax(other.arithmetic.exp_error, 0x1p-22);
        return other;
    }
    declare(&other.arithmetic, d->i);
    declare(&other.arithmetic, d->j);
    return other;
}

static void add(struct trying *t, int i, int j, int is_fp32) {
    t->declaration[t->n++] = (struct declaration){.i = i, .j = j, .is_fp32 = is_fp32};
}

/* Weights that are rounded before they are summed up, too: one thing that a kernel does, of two
 * fields. */
static int is_rounded_weights(int i, int j) {
    return wider[i].at == offsetof(struct cp_kernel_class, weights) && !is_exp(i) && !is_exp(j) &&
           wider[j].at == offsetof(struct cp_kernel_class, rounded_sum) && wider[j].value == 1;
}

static void add_all(struct trying *t, int pairs) {
    t->n = 0;
    if (t->kernel->arithmetic.score == CP_SUM_FP64) {
        add(t, -1, -1, 1);
        return;
    }
    for (int i = 0; i < WIDER; i++) {
        if (!pairs && changes(t->kernel, i)) {
            add(t, i, -1, 0);
        }
        for (int j = i + 1; j < WIDER; j++) {
            if (pairs != is_rounded_weights(i, j) && changes(t->kernel, i) &&
                changes(t->kernel, j) && !is_same_field(i, j) && wider[i].exp_error <= NARROW &&
                wider[j].exp_error <= NARROW) {
                add(t, i, j, 0);
            }
        }
    }
}

/* ---- Cases ---- */

/* What a row and head is given, and must be by a declaration. */
struct judging {
    const struct gate_problem *p;
    const struct gate_arrays *arrays;
    struct gate_row *room;
    struct gate_numbers numbers;
    unsigned char *is_wrong;    /* as it is declared; [d + 1] */
    int index;                  /* of the case, from 1 on */
    int lse_is_far, row_is_far; /* of a row that is wrong: by more than sums are rounded */
};

static double got_of(const struct judging *j, int row, int head, int i) {
    return i < j->p->recipe.head_dim ? gate_out_at(j->arrays, j->p, row, head, i)
                                     : gate_lse_at(j->arrays, j->p, row, head);
}

/* 1: all elements of a row are what they must be, times one factor that is far from 1. Bounds are
 * of the worst case; but what is rounded in a sum is not the same for each element, and the sum of
 * weights is not rounded so far. */
static int is_scaled(const struct judging *j, int row, int head) {
    double least = INFINITY, most = -INFINITY;
    int n = 0;
    for (int i = 0; i < j->p->recipe.head_dim; i++) {
        double expected = j->numbers.expected[i], factor = got_of(j, row, head, i) / expected;
        if (expected != 0.0) {
            least = fmin(least, factor);
            most = fmax(most, factor);
            n++;
        }
    }
    return n > 1 && least > 0.0 && isfinite(most) && most - least <= ALIKE * most &&
           fabs(log(most)) > FAR;
}

/* By how much a row is off that the kernel's own declaration says is wrong. */
static void measure(struct judging *j, int row, int head) {
    int d = j->p->recipe.head_dim, wrong = 0;
    for (int i = 0; i < d; i++) {
        wrong |= j->is_wrong[i];
    }
    j->row_is_far = wrong && is_scaled(j, row, head);
    j->lse_is_far = 0;
    if (j->p->lse_type != CP_NO_LSE && j->is_wrong[d]) {
        double expected = j->numbers.expected[d];
        j->lse_is_far =
            fabs(got_of(j, row, head, d) - expected) > FAR + FAR_OF_LARGE * fabs(expected);
    }
}

static int is_of_score(const struct declaration *d) {
    size_t score = offsetof(struct cp_kernel_class, score);
    return (d->i >= 0 && !is_exp(d->i) && wider[d->i].at == score) ||
           (d->j >= 0 && !is_exp(d->j) && wider[d->j].at == score);
}

static void judge_pair(struct judging *j, const struct cp_kernel *kernel, int pair,
                       struct declaration *d) {
    const struct gate_problem *p = j->p;
    int row = pair / p->recipe.n_heads, head = pair % p->recipe.n_heads;
    int numbers = p->recipe.head_dim + (p->lse_type != CP_NO_LSE), wrong = 0;
    gate_row_certify(j->room, kernel, row, head, &j->numbers);
    for (int i = 0; i < numbers; i++) {
        double got = got_of(j, row, head, i);
        double expected = j->numbers.expected[i], bound = j->numbers.bound[i];
        enum gate_rightness right = gate_judge_number(gate_visible(p, row), got, expected, bound);
        if (d == NULL) {
            j->is_wrong[i] = right == GATE_NUMBER_WRONG;
            continue;
        }
        wrong += right == GATE_NUMBER_WRONG;
        d->compared += right == GATE_NUMBER_RIGHT;
        d->unclaimed += right == GATE_NUMBER_UNCLAIMED;
        if (j->is_wrong[i] && right == GATE_NUMBER_RIGHT) {
            d->mended++;
            d->mended_cases += d->last != j->index;
            d->last = j->index;
            d->largest = fmax(d->largest, bound > 0.0 ? fabs(got - expected) / bound : 0.0);
        }
    }
    if (d == NULL) {
        measure(j, row, head);
    } else {
        d->wrong += wrong > 0 || j->row_is_far || (j->lse_is_far && !is_of_score(d));
    }
}

/* The judge's verdict on the same numbers, for each declaration that is right up to here. */
static void judge_all(void *context, const struct gate_problem *problem,
                      const struct gate_arrays *one, const struct gate_arrays *other,
                      const struct gate_finding *finding) {
    struct trying *t = context;
    size_t width = (size_t)problem->recipe.head_dim + 1;
    struct judging j = {.p = problem, .arrays = one, .room = gate_row_new(problem)};
    (void)other;
    t->cases++;
    t->right += finding->verdict == GATE_RIGHT;
    t->other_values |= finding->verdict != GATE_RIGHT && problem->recipe.values != GATE_SUBNORMAL;
    j.index = t->cases;
    j.numbers.expected = malloc(width * sizeof(double));
    j.numbers.bound = malloc(width * sizeof(double));
    j.is_wrong = malloc(width);
    t->no_memory |= j.room == NULL || j.numbers.expected == NULL || j.numbers.bound == NULL ||
                    j.is_wrong == NULL;
    for (int pair = 0; !t->no_memory && pair < problem->n_rows * problem->recipe.n_heads; pair++) {
        judge_pair(&j, t->kernel, pair, NULL);
        for (int i = 0; i < t->n; i++) {
            struct cp_kernel kernel = declared(t->kernel, &t->declaration[i]);
            if (t->declaration[i].wrong == 0) {
                judge_pair(&j, &kernel, pair, &t->declaration[i]);
            }
        }
    }
    free(j.numbers.expected);
    free(j.numbers.bound);
    free(j.is_wrong);
    gate_row_free(j.room);
}

static int has_any(const struct trying *t) {
    if (explain_is_over(t->x, 0.0)) {
        return 0;
    }
    for (int i = 0; i < t->n; i++) {
        if (t->declaration[i].wrong == 0) {
            return 1;
        }
    }
    return 0;
}

/* One of the gate's cases, of its own sizes or else of those that are known to be taken. */
static int run_case(struct trying *t, struct runner *runner, const struct gate_recipe *recipe,
                    long long index, long long work) {
    struct gate_shape shape = {recipe->n_heads, recipe->n_kv_heads, recipe->head_dim,
                               recipe->chunk_size};
    struct gate_finding finding;
    int ran = 0;
    for (int own = 1; own >= 0 && ran == 0; own--) {
        struct gate_recipe other;
        gate_recipe_make(&other, SEED, index, 0, work, own ? NULL : &shape);
        other.renewed = 0;
        ran = gate_look(runner, &other, &finding, judge_all, t);
    }
    return ran < 0 ? -1 : 0;
}

/* More of the gate's cases with such values: where few show what is wrong. */
static int run_of_its_kind(struct trying *t, struct runner *runner,
                           const struct gate_recipe *recipe) {
    int is_slow = runner_is_simulated(runner), most = is_slow ? OF_ITS_KIND / 4 : OF_ITS_KIND;
    for (int i = CASES, n = 0; n < most && i < 100 * CASES && has_any(t) && !t->no_memory; i++) {
        struct gate_recipe other;
        gate_recipe_make(&other, SEED, i, 0, SIMULATED_WORK, NULL);
        if (other.values != recipe->values) {
            continue;
        }
        n++;
        if (run_case(t, runner, recipe, i, is_slow ? SIMULATED_WORK : LONGER_WORK) != 0) {
            return -1;
        }
    }
    return 0;
}

/* 0, or -1: no verdict. */
static int run_all(struct trying *t, struct runner *runner, const struct explain *x,
                   const struct gate_recipe *recipe) {
    int cases = runner_is_simulated(runner) ? SIMULATED_CASES : CASES;
    struct gate_finding finding;
    t->cases = t->right = t->other_values = 0;
    if (gate_look(runner, recipe, &finding, judge_all, t) < 0) {
        return -1;
    }
    for (int i = 1; i < x->n_runs && has_any(t) && !t->no_memory; i++) {
        if (x->run[i].wrong > 0 &&
            gate_look(runner, &x->run[i].problem.recipe, &finding, judge_all, t) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < cases && has_any(t) && !t->no_memory; i++) {
        if (run_case(t, runner, recipe, i,
                     runner_is_simulated(runner) ? SIMULATED_WORK : CASE_WORK) != 0) {
            return -1;
        }
    }
    if (run_of_its_kind(t, runner, recipe) != 0) {
        return -1;
    }
    return t->no_memory ? -1 : 0;
}

/* ---- Is it rounding? ---- */

/* Where all weights are equal, and V are small whole numbers in few keys, the sum of weighted
 * values rounds nothing, nor does that of the weights of EXACT_KEYS. What is left is the output's
 * rounding, a few times. */
static int is_inexact_row(const struct explain_run *run, int pair, double unit) {
    const double *got = run->got + (ptrdiff_t)pair * run->width;
    const double *expected = run->expected + (ptrdiff_t)pair * run->width;
    int n = gate_visible(&run->problem, pair / run->problem.recipe.n_heads), largest = 0;
    double factor = 1.0, allowed = ROUNDINGS * unit;
    for (int i = 1; i < run->width - 1; i++) {
        largest = fabs(expected[i]) > fabs(expected[largest]) ? i : largest;
    }
    if (n > EXACT_KEYS &&
        expected[largest] != 0.0) { /* the sum of weights may be rounded: the same for all */
        factor = got[largest] / expected[largest];
        allowed = PART_OF_A_KEY;
        if (!(fabs(log(factor)) <= FAR)) {
            return 1;
        }
    }
    for (int i = 0; n > 0 && i < run->width - 1; i++) {
        if (!(fabs(got[i] - factor * expected[i]) <= allowed * fabs(expected[i]))) {
            return 1;
        }
    }
    return 0;
}

static int is_inexact_count(const struct explain *x, const struct explain_run *run) {
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    gate_class(x->kernel, &run->problem.recipe, 1, 0.0, &arithmetic, &counts);
    double unit = fmax(arithmetic.output.unit, arithmetic.u_div); /* of a division, at least */
    for (int pair = 0; pair < run->pairs; pair++) {
        if (is_inexact_row(run, pair, unit)) {
            return 1;
        }
    }
    return 0;
}

/* Why it cannot be; NULL: it may be. */
const char *explain_why_no_rounding(const struct explain *x) {
    for (int i = 0; i < x->n_runs; i++) {
        const struct explain_run *run = &x->run[i];
        if (run->problem.recipe.values == GATE_COUNT && is_inexact_count(x, run)) {
            return "where all weights are equal and V small whole numbers, sums round nothing, and "
                   "it is wrong there";
        }
    }
    return NULL;
}

/* ---- What is said ---- */

/* 1: it allows an error that does not grow with the numbers: of a short format, or of what is
 * flushed. */
static int is_absolute(int i) {
    size_t at = wider[i].at;
    return !is_exp(i) &&
           ((at == offsetof(struct cp_kernel_class, values) && wider[i].value == CP_SUM_FP16) ||
            ((at == offsetof(struct cp_kernel_class, weights) ||
              at == offsetof(struct cp_kernel_class, partials)) &&
             wider[i].value == CP_FP16) ||
            at == offsetof(struct cp_kernel_class, flushes));
}

/* What grows with the numbers would be seen where V is larger, too. */
static int is_likelier(const struct trying *t, const struct declaration *a,
                       const struct declaration *b) {
    int of_a = !t->other_values && a->i >= 0 && is_absolute(a->i);
    int of_b = !t->other_values && b->i >= 0 && is_absolute(b->i);
    return of_a != of_b ? of_a : a->largest > b->largest;
}

/* The narrowest of those that are left, one of each field: the error comes nearest to its bound. */
static struct declaration *narrowest(struct trying *t, int least) {
    struct declaration *best = NULL;
    for (int i = 0; i < t->n; i++) {
        struct declaration *d = &t->declaration[i];
        if (d->wrong == 0 && d->mended_cases >= least &&
            ((d->j < 0 && d->mended_cases >= EXPLAIN_ENOUGH_CASES) ||
             !gate_claims_few(d->compared, d->unclaimed)) &&
            (best == NULL || is_likelier(t, d, best))) {
            best = d;
        }
    }
    return best;
}

static int same_fields(const struct declaration *a, const struct declaration *b) {
    return is_same_field(a->i, b->i) &&
           (a->j < 0 ? b->j < 0 : b->j >= 0 && is_same_field(a->j, b->j));
}

static void say_declaration(FILE *file, const struct trying *t, const struct declaration *d,
                            int said) {
    int few = d->mended_cases < EXPLAIN_ENOUGH_CASES;
    if (said == 0 && few) {
        fputs("  too few cases show it to tell a coarser arithmetic from a mistake. If it is the "
              "first:\n",
              file);
    }
    fputs(said == 0 ? "  its results would be right if it declared " : "  or ", file);
    if (d->is_fp32) {
        fputs("`score` and `values` as CP_SUM_FP32, `weights` and `partials` as CP_FP32 and "
              "`exp_error` as 0x1p-22",
              file);
    } else {
        fputs(wider[d->i].words, file);
        if (d->j >= 0) {
            fprintf(file, " and %s", wider[d->j].words);
        }
    }
    if (said == 0) {
        fprintf(file,
                " (NUM-7):\n      in this case and in %d others, of which %d are right as it is "
                "declared;\n     ",
                t->cases - 1, t->right);
    } else {
        fputs(":", file);
    }
    fprintf(file, " it allows %lld number%s wrong now, by %.2g of %s bound at most%s\n", d->mended,
            d->mended == 1 ? " that is" : "s that are", d->largest,
            d->mended == 1 ? "its" : "their", few ? ": too few cases to be sure" : "");
    if (gate_claims_few(d->compared, d->unclaimed)) {
        fprintf(
            file,
            "      (of %lld of %lld numbers nothing can be claimed then: too many for a verdict)\n",
            d->unclaimed, d->compared + d->unclaimed);
    }
}

int explain_declared(struct explain *x, struct runner *runner, const struct gate_recipe *recipe,
                     int least) {
    struct trying t = {.x = x, .kernel = runner_kernel(runner)};
    int said = 0;
    for (int pairs = 0; pairs < 2 && said == 0; pairs++) {
        add_all(&t, pairs);
        if (run_all(&t, runner, x, recipe) != 0) {
            return 0;
        }
        if (explain_is_over(x, 0.0)) {
            x->untried[x->n_untried++] = "wider declarations";
            return 0;
        }
        for (struct declaration *d; said < MOST_SAID && (d = narrowest(&t, least)) != NULL;
             said++) {
            say_declaration(x->file, &t, d, said);
            struct declaration best = *d;
            for (int i = 0; i < t.n; i++) {
                t.declaration[i].wrong += best.is_fp32 || same_fields(&best, &t.declaration[i]);
            }
        }
    }
    return said > 0;
}

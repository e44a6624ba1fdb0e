/* SPDX-License-Identifier: Apache-2.0 */
/* What a wrong result is the result of. The case is run, and so are some like it with other
 * numbers: a mistake that gives what the kernel gave in all of them is no chance. */
#include "gate/explain/explain.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clock.h"

#define MOST_ROWS 3 /* that are shown */
#define LIKE_WORK                                                                                  \
    2000000LL /* of a case, what it takes to compute it, for those like it to be run */

/* ---- Runs ---- */

/* What look() keeps: the run of the verdict. */
struct keeping {
    const struct cp_kernel *kernel;
    struct explain_run *run;
    int right_too; /* 1: it is kept, whatever comes of it */
    int kept, no_memory;
};

static int is_of_numbers(enum gate_verdict verdict) {
    return verdict == GATE_WRONG || verdict == GATE_DEPENDS || verdict == GATE_NOT_A_NUMBER;
}

static void keep(void *context, const struct gate_problem *problem, const struct gate_arrays *one,
                 const struct gate_arrays *other, const struct gate_finding *finding) {
    struct keeping *keeping = context;
    if (keeping->kept || !(is_of_numbers(finding->verdict) || finding->verdict == GATE_OTHER_BITS ||
                           finding->verdict == GATE_UNWRITTEN ||
                           (finding->verdict == GATE_RIGHT && keeping->right_too))) {
        return;
    }
    keeping->kept = 1;
    keeping->no_memory = explain_run_new(keeping->run, keeping->kernel, problem, one, other) != 0;
    if (keeping->no_memory) {
        explain_run_free(keeping->run);
    }
}

/* One more run: as gate_look(). It is kept when it is wrong. */
static int look(struct explain *x, struct runner *runner, const struct gate_recipe *recipe,
                struct gate_finding *finding) {
    struct keeping keeping = {x->kernel, &x->run[x->n_runs], x->n_runs > 0, 0, 0};
    int ran = gate_look(runner, recipe, finding, keep, &keeping);
    x->n_runs += keeping.kept && !keeping.no_memory;
    return keeping.no_memory ? -1 : ran;
}

static long long work_of(const struct explain_run *run) {
    const struct gate_problem *p = &run->problem;
    long long keys = 0;
    for (int row = 0; row < p->n_rows; row++) {
        keys += gate_visible(p, row) + 1;
    }
    return keys * p->recipe.n_heads * p->recipe.head_dim;
}

static int look_at_like(struct explain *x, struct runner *runner,
                        const struct gate_recipe *recipe) {
    struct gate_finding finding;
    struct gate_recipe like;
    if (work_of(&x->run[0]) > LIKE_WORK) {
        return 0;
    }
    for (int i = 0, is_one; (is_one = explain_make_like(x, recipe, i, &like)) >= 0; i++) {
        if (explain_is_over(x, 0.0)) {
            x->untried[x->n_untried++] = "cases like it";
            return 0;
        }
        if (is_one && look(x, runner, &like, &finding) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- Rows that are shown ---- */

static void print_elements(FILE *file, const struct explain_run *run, int pair) {
    size_t at = (size_t)pair * (size_t)run->width;
    const double *got = run->got + at, *expected = run->expected + at, *bound = run->bound + at;
    int d = run->width - 1, wrong = 0, worst = -1;
    double most = 0.0;
    unsigned char *is_wrong = calloc((size_t)d + 1, 1);
    for (int i = 0; is_wrong != NULL && i < d; i++) {
        double off = fabs(got[i] - expected[i]);
        double bounds = bound[i] > 0.0 && isfinite(bound[i]) ? off / bound[i] : INFINITY;
        is_wrong[i] = run->rightness[at + (size_t)i] == GATE_NUMBER_WRONG;
        wrong += is_wrong[i];
        if (is_wrong[i] && (worst < 0 || !(bounds <= most))) {
            worst = i;
            most = bounds;
        }
    }
    if (wrong > 0) {
        fprintf(file, "    %d of %d elements wrong: ", wrong, d);
        explain_print_elements(file, is_wrong, d);
        fprintf(file, "; element %d most: it is %.9g and must be %.9g", worst,
                gate_plain(got[worst]), expected[worst]);
        if (isfinite(most)) {
            fprintf(file, ", %.3g bounds away", most);
        }
        fputs("\n", file);
    }
    if (run->rightness[at + (size_t)d] == GATE_NUMBER_WRONG) {
        fprintf(file, "    lse is %.9g and must be %.9g\n", gate_plain(got[d]),
                fabs(expected[d]) < FLT_MIN ? 0.0 : expected[d]);
    }
    free(is_wrong);
}

static void print_rows(struct explain *x) {
    const struct explain_run *run = &x->run[0];
    int said = 0;
    for (int pair = 0; pair < run->pairs && said < MOST_ROWS; pair++) {
        if (explain_is_wrong(run, pair)) {
            const struct gate_problem *p = &run->problem;
            int h = p->recipe.n_heads, n = gate_visible(p, pair / h);
            fprintf(x->file, "  row %d, head %d (sequence %d, %d %s, K/V head %d):\n", pair / h,
                    pair % h, gate_sequence_of(p, pair / h), n, n == 1 ? "key" : "keys",
                    pair % h / (h / p->recipe.n_kv_heads));
            print_elements(x->file, run, pair);
            said++;
        }
    }
}

/* 1: out is right, and the log-sum-exp alone is wrong. */
static int is_of_lse(const struct explain_run *run) {
    for (int at = 0; at < run->pairs * run->width; at++) {
        if (at % run->width < run->width - 1 && run->rightness[at] == GATE_NUMBER_WRONG) {
            return 0;
        }
    }
    return 1;
}

static int print_where(const struct explain *x) {
    const struct explain_run *run = &x->run[0];
    fprintf(x->file, "  wrong in %d of %d rows and heads, %d %s%s\n", run->wrong_pairs, run->pairs,
            run->wrong, run->wrong == 1 ? "number" : "numbers",
            is_of_lse(run) ? ": out is right, the log-sum-exp alone is wrong" : "");
    return explain_where(x->file, run, 1);
}

/* ---- Numbers ---- */

/* 1: all wrong numbers are of rows that see no key: what they must be was said. */
static int sees_no_key(const struct explain *x) {
    for (int w = 0; w < x->n_wrong; w++) {
        const struct gate_problem *p = &x->run[x->wrong[w].run].problem;
        if (gate_visible(p, x->wrong[w].pair / p->recipe.n_heads) > 0) {
            return 0;
        }
    }
    return 1;
}

static int count_wrong(const struct explain *x, int first_run) {
    int n = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        n += (x->wrong[w].run == 0) == (first_run != 0);
    }
    return n;
}

static void print_what_is_tried(const struct explain *x) {
    int of_case = count_wrong(x, 1), wrong_runs = 0;
    for (int i = 1; i < x->n_runs; i++) {
        wrong_runs += x->run[i].wrong > 0;
    }
    fprintf(x->file, "  mistakes are tried on %d wrong %s of this case", of_case,
            of_case == 1 ? "number" : "numbers");
    if (x->n_runs > 1) {
        fprintf(x->file,
                " and %d more, of cases like it: other numbers in Q, K\n  and V and where no key "
                "is, more keys, larger sizes; %d of these %d cases %s wrong",
                count_wrong(x, 0), wrong_runs, x->n_runs - 1, wrong_runs == 1 ? "is" : "are");
    }
    fputs("\n", x->file);
}

/* Mistakes first; where they give too little, and rounding may be it, wider declarations. */
static void explain_mistakes(struct explain *x, struct runner *runner,
                             const struct gate_recipe *recipe) {
    explain_search(x);
    enum explain_found found = explain_find(x);
    int least = found == EXPLAIN_NOT_FOUND ? 1 : EXPLAIN_ENOUGH_CASES;
    const char *why = explain_why_no_rounding(x);
    int is_said = found == EXPLAIN_FOUND || found == EXPLAIN_INFINITIES || why != NULL;
    int may_be_declared = found != EXPLAIN_FOUND && why == NULL && !x->named && x->n_untried == 0;
    if (is_said) {
        explain_say(x, why);
    }
    if (may_be_declared) {
        explain_say_rounded(x);
    }
    if (!(may_be_declared && explain_declared(x, runner, recipe, least)) && !is_said) {
        explain_say(x, why);
    }
    explain_say_untried(x);
}

static int explain_wrong(struct explain *x, struct runner *runner,
                         const struct gate_recipe *recipe) {
    int looked = look_at_like(x, runner, recipe);
    explain_tree(x->file, &x->run[0].problem);
    if (looked < 0 || explain_search_new(x) != 0) {
        fputs("  not enough memory to explain more\n", x->file);
        return looked;
    }
    fputs("\n", x->file);
    print_rows(x);
    int placed = print_where(x);
    x->named = explain_padding(x->file, runner, recipe);
    fputs("\n", x->file);
    if (explain_empty_rows(x)) {
        x->named |= sees_no_key(x);
        if (x->n_wrong == 0) {
            return 0;
        }
    }
    explain_infinities(x);
    print_what_is_tried(x);
    if (!placed && x->n_runs > 1) {
        (void)explain_where(x->file, x->run, x->n_runs);
    }
    explain_mistakes(x, runner, recipe);
    return 0;
}

static void free_all(struct explain *x) {
    for (int i = 0; x->reason != NULL && i < x->n_reasons; i++) {
        free(x->reason[i].gives);
    }
    for (int i = 0; i < x->n_runs; i++) {
        explain_run_free(&x->run[i]);
    }
    explain_model_free(&x->model);
    free(x->reason);
    free(x->wrong);
    free(x);
}

int gate_explain(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                 double seconds, const volatile int *stop, struct gate_finding *finding) {
    struct explain *x = calloc(1, sizeof *x);
    if (x == NULL) {
        return -1;
    }
    x->file = file;
    x->kernel = runner_kernel(runner);
    x->until = seconds_now() + seconds;
    x->stop = stop;
    int ran = look(x, runner, recipe, finding);
    if (ran > 0 && x->n_runs > 0 && finding->verdict != GATE_REMEMBERS) {
        if (finding->verdict == GATE_OTHER_BITS) {
            explain_tree(file, &x->run[0].problem);
            explain_other_bits(file, runner, recipe, &x->run[0]);
        } else if (finding->verdict == GATE_UNWRITTEN) {
            explain_unwritten(file, &x->run[0]);
        } else if (is_of_numbers(finding->verdict)) {
            ran = explain_wrong(x, runner, recipe) < 0 ? -1 : ran;
        }
    } else if (ran > 0) {
        explain_access(file, runner, recipe, finding);
    }
    free_all(x);
    return ran;
}

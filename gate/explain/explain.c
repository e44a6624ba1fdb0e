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
#include "cli/base/text.h"
#include "gate/search/tally.h"

#define LIKE_WORK 2000000 /* of a case: of a larger one no others like it are run */

/* ---- Runs ---- */

/* What look() keeps: of the case the first run that is wrong, of others like it the first one. */
struct keeping {
    struct explain *x;
    int kept; /* -1: no memory */
};

static void keep(void *context, const struct gate_problem *problem, const struct gate_arrays *one,
                 const struct gate_arrays *other, const struct gate_finding *finding) {
    struct keeping *keeping = context;
    struct explain *x = keeping->x;
    struct explain_run *run = &x->run[x->n_runs];
    enum gate_verdict verdict = finding->verdict;
    int may_be_right = x->n_runs > 0 || finding->unusual > 0;
    if (keeping->kept || !(gate_is_of_numbers(verdict) || verdict == GATE_OTHER_BITS ||
                           verdict == GATE_UNWRITTEN || (verdict == GATE_RIGHT && may_be_right))) {
        return;
    }
    x->unusual |= x->n_runs == 0 && verdict == GATE_RIGHT;
    int made = explain_run_new(run, x->kernel, x->lse_unit, problem, one, other, x->unusual);
    keeping->kept = made == 0 ? 1 : -1;
    if (keeping->kept < 0) {
        explain_run_free(run);
    }
}

/* One more run: as gate_look(). */
static int look(struct explain *x, const struct gate_recipe *recipe, struct gate_finding *finding) {
    struct keeping keeping = {x, 0};
    int ran = gate_look(x->runner, recipe, finding, keep, &keeping);
    x->n_runs += keeping.kept > 0;
    return keeping.kept < 0 ? -1 : ran;
}

static int look_at_like(struct explain *x) {
    struct gate_finding finding;
    struct gate_recipe like;
    if (gate_work_of(x->recipe) > LIKE_WORK) {
        return 0;
    }
    for (int i = 0, is_one; (is_one = explain_make_like(x, i, &like)) >= 0; i++) {
        if (explain_is_over(x, 0.0)) {
            x->untried[x->n_untried++] = "cases like it";
            return 0;
        }
        if (is_one && look(x, &like, &finding) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- Wrong numbers ---- */

/* How many bounds a number is away. */
static double distance_of(const struct explain_results *r, int i) {
    double off = fabs(r->got[i] - r->expected[i]), bound = r->bound[i];
    return bound > 0.0 && isfinite(bound) ? off / bound : INFINITY;
}

static void say_wrong(struct explain *x, const struct explain_results *r,
                      const unsigned char *picked, int n) {
    int d = r->d, worst = d;
    for (int i = 0; i < d; i++) {
        if (picked[i] && (worst == d || !(distance_of(r, i) <= distance_of(r, worst)))) {
            worst = i;
        }
    }
    if (n > 0) {
        double bounds = distance_of(r, worst);
        fprintf(x->file, "    %d of %d elements wrong: ", n, d);
        explain_print_elements(x->file, picked, d);
        fprintf(x->file, "; element %d most: it is %.9g and must be %.9g", worst,
                gate_plain(r->got[worst]), r->expected[worst]);
        if (isfinite(bounds)) {
            fprintf(x->file, ", %.3g bounds away", bounds);
        }
        fputs("\n", x->file);
    }
    if (picked[d]) {
        double unit = r->sees > 0 ? r->run->lse_unit : 1.0, lse = r->expected[d] / unit;
        fprintf(x->file, "    lse is %.9g and must be %.9g\n", gate_plain(r->got[d] / unit),
                fabs(lse) < FLT_MIN ? 0.0 : lse);
    }
}

static int print_where(const struct explain *x) {
    const struct explain_run *run = &x->run[0];
    fprintf(x->file, "  wrong in %d of %d rows and heads, %d %s%s\n", run->wrong_pairs, run->pairs,
            run->wrong, run->wrong == 1 ? "number" : "numbers",
            run->wrong == run->wrong_lse ? ": out is right, the log-sum-exp alone is wrong" : "");
    return explain_where(x, 1);
}

/* 1: all wrong numbers are of rows that see no key: what they must be was said. */
static int sees_no_key(const struct explain *x) {
    for (int w = 0; w < x->n_wrong; w++) {
        if (explain_results(&x->run[x->wrong[w].run], x->wrong[w].pair).sees > 0) {
            return 0;
        }
    }
    return 1;
}

static void print_what_is_tried(const struct explain *x) {
    int of_case = explain_of_case(x, NULL), wrong_runs = 0;
    for (int i = 1; i < x->n_runs; i++) {
        wrong_runs += x->run[i].wrong > 0;
    }
    fprintf(x->file, "  mistakes are tried on %d wrong %s of this case", of_case,
            of_case == 1 ? "number" : "numbers");
    if (x->n_runs > 1) {
        fprintf(x->file,
                " and %d more, of cases like it: other numbers in Q, K\n  and V and where no key "
                "is, more keys, larger sizes; %d of these %d cases %s wrong",
                x->n_wrong - of_case, wrong_runs, x->n_runs - 1, wrong_runs == 1 ? "is" : "are");
    }
    fputs("\n", x->file);
}

/* What is a mistake by one convention, and right by another, then mistakes. Where they give too
 * little, and rounding may be it, wider declarations. */
static void explain_mistakes(struct explain *x) {
    explain_search(x);
    if (explain_scales(x)) {
        return;
    }
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
    if (!(may_be_declared && explain_declared(x, least)) && !is_said) {
        explain_say(x, why);
    }
    explain_say_untried(x);
}

static int explain_wrong(struct explain *x) {
    int looked = look_at_like(x);
    explain_tree(x->file, &x->run[0].problem);
    if (looked < 0 || explain_search_new(x) != 0) {
        fputs("  not enough memory to explain more\n", x->file);
        return looked;
    }
    fputs("\n", x->file);
    (void)explain_show(x, explain_is_wrong_number, say_wrong);
    int placed = print_where(x);
    x->named = explain_padding(x);
    fputs("\n", x->file);
    int has_empty = explain_empty_rows(x);
    int has_convention = explain_conventions(x);
    if (!x->unusual) {
        explain_never(x);
    }
    if (has_convention) {
        return 0;
    }
    if (has_empty) {
        x->named |= sees_no_key(x);
        if (x->n_wrong == 0) {
            return 0;
        }
    }
    explain_infinities(x);
    print_what_is_tried(x);
    if (!placed && x->n_runs > 1) {
        (void)explain_where(x, x->n_runs);
    }
    explain_mistakes(x);
    return 0;
}

/* The key with the most weight in the row and head of the farthest number; or of the first wrong
 * one, as all rows and heads are looked at here, and the gate looks at some of many. */
static void name_key(struct explain *x, const struct gate_finding *f) {
    int pair = f->unusual > 0 ? f->unusual_row * x->run[0].problem.recipe.n_heads + f->unusual_head
                              : x->wrong[0].pair;
    const struct explain_choice own = {0};
    struct explain_model *m = &x->model;
    double sum = 0.0;
    int key = 0;
    explain_go_to(m, &x->run[f->unusual > 0 ? 0 : x->wrong[0].run], pair);
    if (!explain_take_keys(m, &own) || !explain_take_scores(m, &own, 0)) {
        return;
    }
    for (int j = 0; j < m->m; j++) {
        sum += m->weight[j];
        key = m->weight[j] > m->weight[key] ? j : key;
    }
    x->cause->key = m->m > 0 ? explain_key_number(m, key) : 0;
    x->cause->weight = m->m > 0 ? m->weight[key] / sum : 0.0;
}

static int explain_unusual(struct explain *x, const struct gate_finding *f) {
    fprintf(x->file,
            "  right; but here a number counts as wrong that is more than %g times as far from\n"
            "  attention as is usual for this arithmetic (NUM-13): the farthest is %.3g times\n",
            GATE_UNUSUAL, f->most_unusual);
    return explain_wrong(x);
}

static void free_all(struct explain *x) {
    for (int i = 0; i < x->n_runs; i++) {
        explain_run_free(&x->run[i]);
    }
    explain_model_free(&x->model);
    free(x->reason);
    free(x->gives);
    free(x->wrong);
    free(x);
}

static int explain(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                   double seconds, const volatile int *stop, struct gate_finding *finding,
                   struct gate_cause *cause) {
    struct explain *x = calloc(1, sizeof *x);
    if (x == NULL) {
        return -1;
    }
    x->file = file;
    x->runner = runner;
    x->recipe = recipe;
    x->in_nats = explain_in_nats(runner_kernel(runner), &x->lse_unit);
    x->kernel = &x->in_nats;
    x->cause = cause;
    x->until = seconds_now() + seconds;
    x->stop = stop;
    int ran = look(x, recipe, finding);
    int is_kept = x->n_runs > 0 && finding->verdict != GATE_REMEMBERS;
    if (ran > 0 && !is_kept) {
        explain_access(x, finding);
        explain_never(x);
        if (finding->verdict == GATE_OTHER_BITS) {
            explain_invariant(x);
        }
    } else if (ran > 0 && finding->verdict == GATE_OTHER_BITS) {
        explain_tree(file, &x->run[0].problem);
        explain_other_bits(x);
    } else if (ran > 0 && finding->verdict == GATE_UNWRITTEN) {
        explain_unwritten(x);
        explain_never(x);
    } else if (ran > 0 && gate_is_of_numbers(finding->verdict)) {
        ran = explain_wrong(x) < 0 ? -1 : ran;
    } else if (ran > 0 && x->unusual && finding->verdict == GATE_RIGHT) {
        ran = explain_unusual(x, finding) < 0 ? -1 : ran;
    }
    if (cause != NULL && ran > 0 && x->n_wrong > 0) {
        explain_keep_cause(x, x->n_untried > 0 ? "nothing that was tried" : "nothing that is known",
                           " gives it");
        name_key(x, finding);
    }
    free_all(x);
    return ran;
}

int gate_explain(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                 double seconds, const volatile int *stop, struct gate_finding *finding) {
    return explain(file, runner, recipe, seconds, stop, finding, NULL);
}

int gate_explain_unusual(struct runner *runner, const struct gate_recipe *recipe, double seconds,
                         const volatile int *stop, struct gate_cause *cause) {
    struct gate_finding finding;
    char *text;
    size_t size;
    FILE *file = text_open(&text, &size);
    int ran = explain(file, runner, recipe, seconds, stop, &finding, cause);
    text_close(file);
    free(text);
    return ran;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How a wrong merge is explained:
 *
 *   the case -----------+--> say_place      the parts of its first wrong place
 *                       |
 *   cases like it ------+--> merge_see      which rows and heads are wrong, and which are not
 *     other values,     +--> mistakes       which mistake gives all wrong numbers of the most
 *     parts and orders  +--> declarations   with which all results would be right */
#include "gate/merge/explain.h"

#include <math.h>
#include <stdlib.h>

#include "cli/base/clock.h"
#include "gate/judge/judge.h"
#include "gate/merge/declared.h"
#include "gate/merge/mistakes.h"
#include "gate/merge/seen.h"
#include "gate/merge/values.h"
#include "gate/runner/arena.h"
#include "gate/search/outcome.h"

#define LIKES      24 /* cases like it */
#define MOST_ROWS  6  /* of these */
#define MOST_HEADS 3
#define MOST_PARTS 12 /* that are printed */
#define MOST_WORK  2000000

/* What is known of the case and of those like it. */
struct explaining {
    struct runner *runner;
    const struct merge_recipe *recipe;
    const volatile int *stop;
    double end;
    struct merge_seen *seen;
    int wrong;                   /* cases with wrong numbers */
    int gives[64];               /* of these, those whose wrong numbers a mistake gives, all */
    unsigned long long declared; /* bits of the declarations with which all are right */
};

static int no_memory(void) {
    return gate_no_verdict("not enough memory to explain a case");
}

/* ---- The first wrong place ---- */

static double unit_of(const struct merge_problem *p) {
    return p->kernel->base == CP_BASE_2 ? 0x1.62e42fefa39efp-1 : 1.0;
}

/* How many parts weigh more than part i, or as much and come before it. */
static int rank_of(const struct merge_problem *p, int row, int head, int i) {
    double l = merge_l_of(p, row, i, head);
    int rank = 0;
    for (int other = 0; other < merge_parts_of(p, row); other++) {
        double x = merge_l_of(p, row, other, head);
        rank += x > l || (x == l && other < i);
    }
    return rank;
}

static void say_part(FILE *out, const struct merge_problem *p, int row, int head, int element,
                     int i, double share) {
    double l = merge_l_of(p, row, i, head);
    fprintf(out, "  %4d %14.9g", i, l);
    if (p->n != NULL) {
        fprintf(out, " %14.9g %14.9g", merge_m_of(p, row, i, head), merge_n_of(p, row, i, head));
    }
    fprintf(out, " %10.4g", share);
    if (element >= 0 && l != -INFINITY) {
        fprintf(out, " %14.9g", merge_o_of(p, row, i, head)[element]);
    }
    fputs(l == -INFINITY ? "   no key\n" : "\n", out);
}

/* The heaviest parts, in their order. */
static void say_parts(FILE *out, const struct merge_problem *p, int row, int head, int element) {
    double most = -INFINITY, sum = 0.0;
    int n = merge_parts_of(p, row), without = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, merge_l_of(p, row, i, head));
    }
    for (int i = 0; i < n && most > -INFINITY; i++) {
        sum += exp((merge_l_of(p, row, i, head) - most) * unit_of(p));
    }
    fprintf(out, "  part %14s", "l");
    if (p->n != NULL) {
        fprintf(out, " %14s %14s", "m", "n");
    }
    fprintf(out, " %10s", "weight");
    if (element >= 0) {
        fprintf(out, " %14s", "o");
    }
    fputc('\n', out);
    for (int i = 0; i < n; i++) {
        double l = merge_l_of(p, row, i, head);
        without += l == -INFINITY;
        if (n <= MOST_PARTS || (l != -INFINITY && rank_of(p, row, head, i) < MOST_PARTS)) {
            double share = l == -INFINITY ? 0.0 : exp((l - most) * unit_of(p)) / sum;
            say_part(out, p, row, head, element, i, share);
        }
    }
    if (n - without > MOST_PARTS) {
        fprintf(out, "  and %d more, which weigh no more than these\n", n - without - MOST_PARTS);
    }
    if (n > MOST_PARTS && without > 0) {
        fprintf(out, "  and %d without keys\n", without);
    }
}

static void say_place(FILE *out, const struct merge_problem *p, const struct gate_finding *f) {
    if (f->element < 0) {
        fprintf(out, "row %d, head %d: its parts\n", f->row, f->head);
    } else {
        fprintf(out, "row %d, head %d: its parts, and element %d of each\n", f->row, f->head,
                f->element);
    }
    say_parts(out, p, f->row, f->head, f->element);
    fprintf(out, "  must be %.9g, and is %.9g\n", f->expected, f->got);
}

/* ---- One case ---- */

static int look_at(struct explaining *x, const struct merge_arrays *a, struct merge_finding *f) {
    if (merge_judge(a, f) != 0 || merge_see(x->seen, a) != 0) {
        return no_memory();
    }
    if (gate_is_of_numbers(f->of.verdict)) {
        merge_find_mistakes(a, f);
        x->wrong++;
        for (int i = 0; i < merge_mistakes(); i++) {
            x->gives[i] += (int)(f->mistakes >> i & 1);
        }
    }
    return merge_try_declarations(a, &x->declared) != 0 ? no_memory() : 0;
}

/* Runs the problem once. 1: it was judged; 0: the kernel does not take it, or did not end as it
 * should; -1 after a message. */
static int run_once(struct explaining *x, const struct merge_problem *p, struct merge_finding *f) {
    struct run_report report;
    struct cp_merge_call call;
    struct merge_arrays a;
    char reason[RUN_TEXT];
    size_t workspace = 0;
    merge_call_sizes(&call, p);
    if (runner_ask_merge(x->runner, &call, reason, &workspace, &report) != 0 || reason[0] != '\0' ||
        merge_bytes(p, workspace) > runner_memory(x->runner)) {
        return 0;
    }
    if (merge_arrays_new(&a, p, workspace) != 0) {
        return no_memory();
    }
    merge_arrays_fill(&a, GATE_POISON);
    a.run.at_end = 1;
    a.run.poison = GATE_POISON;
    int result = runner_run(x->runner, &a.run, &report) != 0 ? gate_no_verdict(report.text) : 1;
    merge_arrays_blank(&a);
    if (result > 0 && report.outcome != RUN_DONE) {
        result = 0;
    }
    if (result > 0 && look_at(x, &a, f) != 0) {
        result = -1;
    }
    merge_arrays_free(&a);
    return result;
}

/* out: where to print the first wrong place, or NULL. */
static int run_recipe(struct explaining *x, const struct merge_recipe *recipe, FILE *out) {
    struct merge_finding finding;
    struct merge_problem p;
    if (merge_problem_new(&p, recipe, runner_merge_kernel(x->runner)) != 0) {
        return no_memory();
    }
    merge_values_fill(&p);
    int result = run_once(x, &p, &finding);
    if (result > 0 && out != NULL && gate_is_of_numbers(finding.of.verdict)) {
        say_place(out, &p, &finding.of);
    }
    merge_problem_free(&p);
    return result;
}

/* ---- Cases like it ---- */

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* Case i like this one: its d, its own kind of values every other time, and few rows. Numbers of
 * parts are those where loops end, and vectors, warps and blocks. */
static void make_alike(const struct explaining *x, int i, struct merge_recipe *r) {
    static const int parts[] = {1,  2,  3,  4,  5,  8,   9,   16,  17,
                                31, 32, 33, 64, 65, 128, 129, 257, 600};
    const struct cp_merge_kernel *k = runner_merge_kernel(x->runner);
    int least = merge_least_parts(k), most = merge_most_parts(k);
    int n =
        i % 3 == 0 ? x->recipe->n_parts : parts[i * 2 / 3 % (int)(sizeof parts / sizeof parts[0])];
    merge_recipe_make(r, k, x->recipe->seed, i, 0, x->recipe->head_dim, MOST_WORK);
    r->n_parts = smaller(larger(n, least), most);
    r->n_rows = smaller(r->n_rows, MOST_ROWS);
    r->n_heads = smaller(r->n_heads, MOST_HEADS);
    r->renewed = 0;
    if (i % 2 == 0) {
        r->values = x->recipe->values;
    }
}

static int run_likes(struct explaining *x) {
    int result = 0;
    for (int i = 0; i < LIKES && result >= 0 && *x->stop == 0 && seconds_now() < x->end; i++) {
        struct merge_recipe r;
        make_alike(x, i, &r);
        result = run_recipe(x, &r, NULL);
    }
    return result < 0 ? -1 : 0;
}

/* ---- What is said ---- */

#define MOST_MISTAKES 3

/* Those that give the most, all of the most. */
static void say_mistakes(FILE *out, const struct explaining *x) {
    int most = 0, said = 0;
    for (int i = 0; i < merge_mistakes(); i++) {
        most = x->gives[i] > most ? x->gives[i] : most;
    }
    if (4 * most < x->wrong || most == 0) { /* so few may be by chance */
        fprintf(out,
                "none of %d usual mistakes gives all wrong numbers of more than %d of %d wrong "
                "cases\n",
                merge_mistakes(), most, x->wrong);
        return;
    }
    fprintf(out, "%swhat gives all wrong numbers of %d of %d wrong cases:\n",
            2 * most < x->wrong ? "perhaps, " : "", most, x->wrong);
    for (int i = 0; i < merge_mistakes() && said < MOST_MISTAKES; i++) {
        if (x->gives[i] == most) {
            fprintf(out, "    %s\n", merge_mistake_words(i));
            said++;
        }
    }
}

static void say_declarations(FILE *out, const struct explaining *x) {
    if (x->declared == 0) {
        return;
    }
    fprintf(out, "all results of these %d cases would be right if the kernel declared one of\n",
            x->seen->cases);
    (void)merge_say_declarations(out, x->declared);
}

int merge_explain(FILE *out, struct runner *runner, const struct merge_recipe *recipe,
                  const struct merge_finding *finding, double seconds, const volatile int *stop) {
    if (!gate_is_of_numbers(finding->of.verdict)) {
        fputs("  its text says where; explain is for wrong numbers\n", out);
        return 0;
    }
    struct merge_seen *seen = calloc(1, sizeof *seen);
    if (seen == NULL) {
        return no_memory();
    }
    struct explaining x = {.runner = runner,
                           .recipe = recipe,
                           .stop = stop,
                           .end = seconds_now() + (seconds > 0.0 ? seconds : INFINITY),
                           .seen = seen,
                           .declared = (1ULL << merge_declarations()) - 1};
    int result = run_recipe(&x, recipe, out);
    if (result >= 0) {
        result = run_likes(&x);
    }
    if (result == 0 && x.wrong > 0) {
        merge_say_seen(out, seen);
        say_mistakes(out, &x);
        say_declarations(out, &x);
    }
    if (*stop != 0 || seconds_now() >= x.end) {
        fprintf(out, "%d of %d cases like it were tried by then\n", larger(seen->cases - 1, 0),
                LIKES);
    }
    free(seen);
    return result;
}

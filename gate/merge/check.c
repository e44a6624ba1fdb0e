/* SPDX-License-Identifier: Apache-2.0 */
/* How a case is checked (MERGING-11). Who calls whom:
 *
 *   merge_check_case      case i: sizes that the kernel takes, then
 *     run_problem         arrays, two runs in different memory, the judge
 *     blame               wrong: the row and head alone; without parts that have no key; in another
 *                         order (MERGING-2)
 *     try_laws            right: the same of some row and head, which must be right, too
 *     run_elsewhere       right: the same call in a new process, which must have the same bits
 *     run_renewed         right: other numbers of the same sizes, at the same addresses */
#include "gate/merge/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clock.h"
#include "cli/base/random.h"
#include "gate/judge/judge.h"
#include "gate/merge/mistakes.h"
#include "gate/merge/rules.h"
#include "gate/merge/values.h"
#include "gate/runner/arena.h"
#include "gate/search/outcome.h"

#define ATTEMPTS  1000 /* to find sizes that the kernel takes */
#define SIMULATED 8    /* how many times smaller cases are for the executor of CUDA kernels */
#define LAWS      2    /* each so many cases, the laws are tried on a row and head */

#define ELSEWHERE 15 /* each so many cases, one runs in a new process, too: */
#define THERE     7  /* ... that with index % ELSEWHERE == THERE */

/* In how many a case runs that was kept for other bits: half of all pairs may have the same. */
#define PROCESSES 10

static const int tier_work[GATE_TIERS] = {40000, 150000, 400000};

struct checking {
    struct runner *runner;
    const struct cp_merge_kernel *kernel;
    struct merge_counts *counts;
    int rules; /* 1: the rules of others judge each run, too */
};

/* ---- A problem ---- */

static int no_memory(void) {
    return gate_no_verdict("not enough memory for a case");
}

/* To misbehave is a finding. 1 the kernel takes it, 0 it does not, -1 no verdict. */
static int ask(const struct checking *c, const struct merge_problem *p, size_t *workspace,
               struct merge_finding *f) {
    struct cp_merge_call call;
    struct run_report report;
    char reason[RUN_TEXT];
    merge_call_sizes(&call, p);
    *f = (struct merge_finding){.of = gate_no_finding};
    if (runner_ask_merge(c->runner, &call, reason, workspace, &report) != 0) {
        gate_take(&report, &f->of);
        f->verdict = f->of.verdict;
        return f->verdict == GATE_RIGHT ? gate_no_verdict(report.text) : 1;
    }
    double bytes = merge_bytes(p, *workspace), most = runner_memory(c->runner);
    if (reason[0] == '\0' && bytes > most) {
        (void)snprintf(reason, sizeof reason,
                       "it would take %.2g GiB of memory, more than --memory %.2g", bytes * 0x1p-30,
                       most * 0x1p-30);
    }
    (void)snprintf(f->of.text, sizeof f->of.text, "%s", reason);
    return reason[0] == '\0';
}

static int run(const struct checking *c, struct merge_arrays *a, int at_end, unsigned char poison,
               struct merge_finding *f) {
    struct run_report report;
    merge_arrays_fill(a, poison);
    a->run.at_end = at_end;
    a->run.poison = poison;
    c->counts->runs++;
    if (runner_run(c->runner, &a->run, &report) != 0) {
        return gate_no_verdict(report.text);
    }
    merge_arrays_blank(a);
    *f = (struct merge_finding){.of = gate_no_finding};
    gate_take(&report, &f->of);
    f->verdict = f->of.verdict;
    return 0;
}

/* The rules of others judge the results: any run that they reject rejects the case. */
static int judge_by_rules(const struct checking *c, const struct merge_arrays *a) {
    struct gate_tensor tensor = {.beyond = 0};
    int shown = c->rules ? merge_show(a, &tensor) : 0;
    if (shown > 0) {
        c->counts->judged = 1;
        c->counts->rejected |= gate_tensor_rejected(&tensor);
    }
    return shown < 0 ? -1 : 0;
}

static int run_twice(const struct checking *c, struct merge_arrays *one, struct merge_arrays *other,
                     int at_end, struct merge_finding *f) {
    static const unsigned char poison[2] = {GATE_POISON, GATE_POISON_AGAIN};
    struct merge_finding writes;
    if (run(c, one, at_end, poison[0], f) != 0 ||
        (f->verdict == GATE_RIGHT && run(c, other, !at_end, poison[1], f) != 0)) {
        return -1;
    }
    if (f->verdict != GATE_RIGHT) {
        return 0;
    }
    if (merge_judge_writes(one, other, poison, &writes) != 0 || merge_judge(one, f) != 0 ||
        judge_by_rules(c, one) != 0) {
        return no_memory();
    }
    if (writes.verdict != GATE_RIGHT) { /* it says more than that numbers are wrong */
        *f = writes;
    } else if (gate_is_of_numbers(f->of.verdict)) {
        merge_find_mistakes(one, f);
    }
    return 0;
}

/* Of all bytes of the results. */
static uint64_t digest_of(const struct merge_arrays *a) {
    uint64_t digest = 0;
    for (int buffer = RUN_OUT; buffer <= RUN_LSE; buffer++) {
        const struct run_place all = {.bytes = a->run.bytes[buffer]};
        digest = digest * UINT64_C(0x9E3779B97F4A7C15) + run_place_hash(&all, a->memory[buffer]);
    }
    return digest;
}

static int run_problem(const struct checking *c, const struct merge_problem *p, size_t workspace,
                       int at_end, struct merge_finding *f, uint64_t *digest) {
    struct merge_arrays one, other;
    if (merge_arrays_new(&one, p, workspace) != 0) {
        return no_memory();
    }
    if (merge_arrays_new(&other, p, workspace) != 0) {
        merge_arrays_free(&one);
        return no_memory();
    }
    int result = run_twice(c, &one, &other, at_end, f);
    if (digest != NULL) {
        *digest = digest_of(&one);
    }
    merge_arrays_free(&other);
    merge_arrays_free(&one);
    return result;
}

/* ---- MERGING-2 ---- */

enum law { ALONE, WITHOUT_EMPTY, CLEANED, REVERSED, WITH_EMPTY, LAWS_OF_ALL };

/* What a wrong row and head is tried with: one more part without keys says nothing there. */
#define BLAMED WITH_EMPTY

static const struct {
    int verdict;
    const char *clause, *wrong_with, *right_with;
} laws[LAWS_OF_ALL] = {
    [ALONE] = {GATE_DEPENDS, "", "wrong for this row and head alone: ",
               "right for this row and head alone, but wrong together with the others: "},
    [WITHOUT_EMPTY] = {MERGE_EMPTY_PARTS, "MERGING-2",
                       "right, but wrong once the parts without keys are left out: ",
                       "right without the parts that have no key, but wrong with them: "},
    [CLEANED] = {MERGE_EMPTY_PARTS, "MERGING-2", "",
                 "right with zeros in the parts that have no key, but wrong with what is there: "},
    [REVERSED] = {MERGE_ORDER, "MERGING-2",
                  "right, but wrong once the parts are in reverse order: ",
                  "right with the parts in reverse order, but wrong as they come: "},
    [WITH_EMPTY] = {MERGE_EMPTY_PARTS, "MERGING-2",
                    "right, but wrong once a part without keys is added: ", ""},
};

/* The parts of a row and head, as the law has them. Returns how many; -1: it says nothing here. */
static int list_parts(const struct merge_problem *p, int row, int head, enum law law, int *list) {
    const struct cp_merge_kernel *k = p->kernel;
    int n = merge_parts_of(p, row), kept = 0, cleaned = 0;
    for (int i = 0; i < n; i++) {
        int at = law == REVERSED ? n - 1 - i : i;
        int is_empty = merge_l_of(p, row, at, head) == -INFINITY;
        int is_out = law == WITHOUT_EMPTY && is_empty;
        if (law == WITH_EMPTY && i == n / 2) {
            list[kept++] = -1;
        }
        if (!is_out) {
            list[kept++] = law == CLEANED && is_empty ? MERGE_CLEANED - at : at;
            cleaned += is_empty;
        }
    }
    int changes =
        law == ALONE || (law == REVERSED && n > 1) || (law == CLEANED && cleaned > 0) || kept != n;
    int may = law != WITH_EMPTY || (k->never & CP_NEVER_EMPTY_PARTS) == 0;
    return changes && may && kept >= merge_least_parts(k) && kept <= merge_most_parts(k) ? kept
                                                                                         : -1;
}

/* 1: ran, with the finding; 0: it does not apply, or the kernel does not take it; -1: no
 * verdict. */
static int run_law(const struct checking *c, const struct merge_problem *p, int row, int head,
                   enum law law, struct merge_finding *f) {
    int list[CP_MERGE_MOST_PARTS + 1];
    struct merge_problem alone;
    size_t workspace = 0;
    int n = list_parts(p, row, head, law, list);
    *f = (struct merge_finding){.of = gate_no_finding};
    if (n < 0) {
        return 0;
    }
    if (merge_problem_alone(&alone, p, row, head, list, n) != 0) {
        return no_memory();
    }
    int takes = ask(c, &alone, &workspace, f);
    if (takes > 0 && f->verdict == GATE_RIGHT) {
        c->counts->laws++;
        takes = run_problem(c, &alone, workspace, 1, f, NULL) == 0 ? 1 : -1;
    }
    merge_problem_free(&alone);
    return takes;
}

/* The wrong row and head by itself: what makes it right? */
static int blame(const struct checking *c, const struct merge_problem *p, struct merge_finding *f) {
    int is_one = p->recipe.n_rows * p->recipe.n_heads == 1;
    for (enum law law = is_one ? WITHOUT_EMPTY : ALONE; law < BLAMED; law++) {
        struct merge_finding alone = {.of = gate_no_finding};
        int ran = run_law(c, p, f->of.row, f->of.head, law, &alone);
        if (ran < 0) {
            return -1;
        }
        if (ran > 0 && alone.verdict == GATE_RIGHT) {
            if (law != REVERSED) { /* a part in another place may hide any mistake */
                f->verdict = laws[law].verdict;
                if (law != ALONE) { /* alone or not, the numbers break their own clause */
                    gate_finding_breaks(&f->of, laws[law].clause);
                }
            }
            gate_put_before(&f->of, laws[law].right_with);
            break;
        }
    }
    return 0;
}

/* A law is broken: also in a new process, or does the kernel keep something? 0, or -1: no
 * verdict. */
static int name_law(const struct checking *c, const struct merge_problem *p, int row, int head,
                    enum law law, struct merge_finding *f) {
    struct merge_finding first = {.of = gate_no_finding};
    runner_restart(c->runner);
    int ran = run_law(c, p, row, head, law, &first);
    if (ran < 0) {
        return -1;
    }
    int keeps = ran > 0 && first.verdict == GATE_RIGHT;
    if (keeps) {
        f->verdict = GATE_REMEMBERS;
        gate_finding_breaks(&f->of, "GATE-4");
        gate_put_before(&f->of, "right in a new process, but wrong after another call: ");
    } else {
        if (gate_is_of_numbers(f->of.verdict) && law != ALONE) {
            f->verdict = laws[law].verdict;
            gate_finding_breaks(&f->of, laws[law].clause);
        }
        gate_put_before(&f->of, laws[law].wrong_with);
    }
    return 0;
}

/* A row and head that was right. */
static int try_laws(const struct checking *c, const struct merge_problem *p,
                    struct merge_finding *f) {
    struct prng random = {p->recipe.seed ^ 0x1A75ULL};
    int row = prng_below(&random, p->recipe.n_rows), head = prng_below(&random, p->recipe.n_heads);
    for (enum law law = ALONE; law < LAWS_OF_ALL && f->verdict == GATE_RIGHT; law++) {
        struct merge_finding alone = {.of = gate_no_finding};
        int ran = law == CLEANED ? 0 : run_law(c, p, row, head, law, &alone);
        if (ran < 0) {
            return -1;
        }
        if (ran > 0 && alone.verdict != GATE_RIGHT) {
            alone.of.compared += f->of.compared;
            alone.of.unclaimed += f->of.unclaimed;
            alone.of.largest = fmax(alone.of.largest, f->of.largest);
            *f = alone;
            if (name_law(c, p, row, head, law, f) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* ---- GATE-4 ---- */

/* The kernel must answer the same question in the same way. */
static int ask_again(const struct checking *c, const struct merge_problem *p, size_t workspace,
                     struct merge_finding *f) {
    struct merge_finding again = {.of = gate_no_finding};
    size_t bytes = 0;
    int takes = ask(c, p, &bytes, &again);
    if (takes < 0) {
        return -1;
    }
    if (again.verdict != GATE_RIGHT) {
        *f = again;
    } else if (takes == 0 || bytes != workspace) {
        f->verdict = f->of.verdict = GATE_REMEMBERS;
        gate_finding_breaks(&f->of, "GATE-4");
        (void)snprintf(f->of.text, sizeof f->of.text,
                       takes == 0 ? "refuses() took this call, and refused it when it was asked "
                                    "again"
                                  : "workspace() asked for %zu bytes, and for %zu when it was "
                                    "asked again with the same numbers",
                       workspace, bytes);
    }
    return 0;
}

/* Other numbers of the same sizes, at the same addresses. A kernel that is wrong here, and right in
 * a new process, has kept something. */
static int run_renewed(const struct checking *c, struct merge_problem *p, size_t workspace,
                       struct merge_finding *f) {
    struct merge_finding first = {.of = gate_no_finding};
    p->recipe.seed += PRNG_STEP;
    merge_values_fill(p);
    if (run_problem(c, p, workspace, 1, f, NULL) != 0) {
        return -1;
    }
    if (!gate_is_of_numbers(f->of.verdict) && f->verdict != GATE_OTHER_BITS) {
        return 0;
    }
    runner_restart(c->runner);
    if (run_problem(c, p, workspace, 1, &first, NULL) != 0) {
        return -1;
    }
    if (first.verdict == GATE_RIGHT) {
        f->verdict = GATE_REMEMBERS;
        gate_finding_breaks(&f->of, "GATE-4");
        gate_put_before(&f->of, "right at first, but wrong when it runs again with other numbers "
                                "of the same sizes: ");
    }
    return 0;
}

/* The same call in a new process must have the same bits. */
static int run_elsewhere(const struct checking *c, const struct merge_problem *p, size_t workspace,
                         int at_end, uint64_t digest, struct merge_finding *f) {
    struct merge_finding there = {.of = gate_no_finding};
    uint64_t other = digest;
    runner_restart(c->runner);
    if (run_problem(c, p, workspace, at_end, &there, &other) != 0) {
        return -1;
    }
    if (there.verdict != GATE_RIGHT) {
        *f = there;
    } else if (other != digest) {
        f->verdict = f->of.verdict = GATE_OTHER_BITS;
        gate_finding_breaks(&f->of, "GATE-4");
        (void)snprintf(f->of.text, sizeof f->of.text,
                       "the results have other bits when the call runs in another process");
    }
    return 0;
}

/* ---- A case ---- */

/* What else a case gets. */
struct how {
    int at_end;    /* 1: arrays end at a guard page first, and begin at one then */
    int laws;      /* 1: the laws of MERGING-2, where it is right */
    int elsewhere; /* so many other processes, one after the other, where it is right */
};

static int run_case(const struct checking *c, struct merge_problem *p, size_t workspace,
                    const struct how *how, struct merge_finding *f) {
    merge_values_fill(p);
    uint64_t digest = 0;
    int result = run_problem(c, p, workspace, how->at_end, f, &digest);
    if (result == 0 && gate_is_of_numbers(f->of.verdict)) {
        result = blame(c, p, f);
    }
    if (result == 0 && f->verdict == GATE_RIGHT && how->laws) {
        result = try_laws(c, p, f);
    }
    for (int i = 0; i < how->elsewhere && result == 0 && f->verdict == GATE_RIGHT; i++) {
        result = run_elsewhere(c, p, workspace, how->at_end, digest, f);
    }
    if (result == 0 && f->verdict == GATE_RIGHT) {
        result = ask_again(c, p, workspace, f);
    }
    if (result == 0 && f->verdict == GATE_RIGHT && p->recipe.renewed) {
        result = run_renewed(c, p, workspace, f);
    }
    return result;
}

/* Asks for a recipe, and runs it if `how` is not NULL. 1, 0 or -1, as in check.h. */
static int try_recipe(const struct checking *c, const struct merge_recipe *recipe,
                      const struct how *how, struct merge_finding *f) {
    struct merge_problem p;
    size_t workspace = 0;
    if (merge_problem_new(&p, recipe, c->kernel) != 0) {
        return no_memory();
    }
    int result = ask(c, &p, &workspace, f);
    if (result > 0 && f->verdict == GATE_RIGHT && how != NULL) {
        result = run_case(c, &p, workspace, how, f) == 0 ? 1 : -1;
    }
    merge_problem_free(&p);
    return result;
}

long long merge_work_of(const struct merge_recipe *r) {
    return (long long)r->n_parts * r->n_rows * r->n_heads * r->head_dim;
}

/* Attempts, until the kernel takes one, or has taken too long. */
static int try_case(const struct checking *c, const struct gate_options *o, long long index,
                    const struct gate_until *until, const struct how *how,
                    struct merge_recipe *recipe, struct merge_finding *f) {
    int work = tier_work[o->tier] / (runner_is_simulated(c->runner) ? SIMULATED : 1), result = 0;
    double began = seconds_now();
    c->counts->ended = 0;
    for (int attempt = 0; attempt < ATTEMPTS && result == 0; attempt++) {
        if (gate_is_over(until)) {
            c->counts->ended = 1;
            return 0;
        }
        merge_recipe_make(recipe, c->kernel, o->seed, index, attempt, o->shape.head_dim, work);
        result = try_recipe(c, recipe, how, f);
        const char *reason = result == 0 ? gate_took_too_long(c->runner, began) : NULL;
        if (reason != NULL) {
            (void)snprintf(f->of.text, sizeof f->of.text, "%s", reason);
            attempt = ATTEMPTS;
        }
    }
    return result;
}

int merge_check_case(const struct gate_options *options, struct runner *runner, long long index,
                     const struct gate_until *until, struct merge_found *found,
                     struct merge_counts *counts) {
    const struct checking c = {runner, runner_merge_kernel(runner), counts, options->rules};
    const struct how how = {index % 4 != 3, index % LAWS == 0, index % ELSEWHERE == THERE};
    *found = (struct merge_found){.index = index};
    int result = try_case(&c, options, index, until, &how, &found->recipe, &found->finding);
    found->work = merge_work_of(&found->recipe);
    return result;
}

int merge_recipe_taken(const struct gate_options *options, struct runner *runner, long long index,
                       const volatile int *stop, struct merge_recipe *recipe) {
    struct merge_counts counts = {.runs = 0};
    const struct checking c = {runner, runner_merge_kernel(runner), &counts, 0};
    const struct gate_until until = {stop, 0.0};
    struct merge_finding finding;
    return try_case(&c, options, index, &until, NULL, recipe, &finding);
}

int merge_check_usual(struct runner *runner, int i, struct merge_finding *f,
                      struct merge_counts *counts) {
    const struct checking c = {runner, runner_merge_kernel(runner), counts, 1};
    const struct how how = {.at_end = 1};
    struct merge_recipe recipe;
    merge_usual_recipe(&recipe, c.kernel, i);
    return try_recipe(&c, &recipe, &how, f);
}

int merge_check_recipe(struct runner *runner, const struct merge_recipe *recipe, int elsewhere,
                       struct merge_finding *f) {
    struct merge_counts counts = {.runs = 0};
    const struct checking c = {runner, runner_merge_kernel(runner), &counts, 0};
    const struct how how = {.at_end = 1, .laws = 1, .elsewhere = elsewhere ? PROCESSES : 0};
    const char *why_not = merge_recipe_excluded(recipe, c.kernel);
    *f = (struct merge_finding){.of = gate_no_finding};
    if (why_not != NULL) {
        (void)snprintf(f->of.text, sizeof f->of.text, "it has what cp_merge_kernel.%s", why_not);
        return 0;
    }
    return try_recipe(&c, recipe, &how, f);
}

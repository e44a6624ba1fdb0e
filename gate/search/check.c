/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-1, GATE-3, GATE-4: how a case is checked. Each case runs twice: in memory whose end
 * borders on protected memory, then in memory whose start does, with different bytes in the
 * results before the call. The two answers must be the same, complete, and attention within the
 * certified tolerance. Now and then an earlier case runs once more, and must give its earlier
 * answer. Who calls whom:
 *
 *   check_case           case i, and maybe an earlier one
 *     gate_find_recipe   a recipe that the kernel takes (ask.c)
 *     run_recipe         recipe -> problem -> values; the verdict
 *       run_problem      values -> layout; the arrays of both runs
 *         run_twice        run, run          the runner calls the kernel
 *                          gate_judge_writes, judge
 *       gate_run_parts   right: one sequence alone, and its rows in two calls (invariance.c)
 *       run_alone        wrong: the same for the wrong sequence by itself
 *       run_renewed      right: the same for other numbers, then for more keys
 *         run_next         and, if that is wrong, once more in a new process
 *     record             the finding -> tally
 *     run_earlier        run_recipe of an earlier case that was right */
#include "gate/search/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clock.h"
#include "gate/case/values.h"
#include "gate/judge/closer.h"
#include "gate/judge/conventions.h"
#include "gate/judge/judge.h"
#include "gate/runner/arena.h"
#include "gate/search/budget.h"
#include "gate/search/checking.h"
#include "gate/search/elsewhere.h"
#include "gate/search/invariance.h"
#include "gate/search/log.h"
#include "gate/search/outcome.h"
#include "gate/search/tally.h"

#define SIMULATED  8    /* how many times smaller cases are for the executor of CUDA kernels */
#define AGAIN      6    /* after each case whose index is a multiple, an earlier case runs again */
#define KEPT       2    /* ... that with index % AGAIN == KEPT, or else the first right one since */
#define ELSEWHERE  15   /* each so many cases, one runs in a second process, too: */
#define THERE      7    /* ... that with index % ELSEWHERE == THERE */
#define OF_TWO     1.5  /* memory of a case that has two processes */
#define CLOSER     3    /* each so many cases, one is also held to closer declarations */
#define HANGS      3    /* after so many nothing more is asked */
#define REFUSALS   3    /* after so many refused cases, and none taken: the kernel takes none */
#define MOST_PAIRS 96   /* so many pairs (row, head) of a case are judged at most; */
#define LONG_PAIRS 6    /* so many where some sequence has */
#define LONG_KEYS  8192 /* so many keys */

const char *const gate_tier_names[GATE_TIERS + 1] = {"quick", "full", "deep", NULL};
static const long long tier_cases[GATE_TIERS] = {400, 6000, 1000000};
static const long long tier_work[GATE_TIERS] = {400000, 1500000, 3000000};

/* ---- A case ---- */

static int run(struct checking *c, const struct gate_problem *p, struct gate_arrays *arrays,
               int at_end, unsigned char poison, struct gate_finding *finding) {
    struct run_report report;
    arrays->run.at_end = at_end;
    arrays->run.poison = poison;
    c->result->runs++;
    if (runner_run(c->runner, &arrays->run, &report) != 0) {
        return gate_no_verdict(report.text);
    }
    gate_conventions_blank(p, runner_kernel(c->runner), arrays);
    gate_take(&report, finding);
    return 0;
}

/* Of all bytes of the results. */
static unsigned long long digest_of(const struct gate_arrays *arrays) {
    unsigned long long digest = 0;
    for (int buffer = RUN_OUT; buffer <= RUN_LSE; buffer++) {
        struct run_place all = {.begin = 0, .bytes = arrays->run.bytes[buffer]};
        digest = digest * 0x9E3779B97F4A7C15ULL + run_place_hash(&all, arrays->memory[buffer]);
    }
    return digest;
}

static int most_pairs(const struct gate_problem *p) {
    for (int s = 0; s < p->b; s++) {
        if (p->n_tokens[s] >= LONG_KEYS) {
            return LONG_PAIRS;
        }
    }
    return MOST_PAIRS;
}

/* Would the results also be right by closer declarations? */
static int try_closer(struct checking *c, const struct gate_problem *p,
                      const struct gate_arrays *arrays) {
    struct cp_kernel closer;
    struct gate_finding f;
    for (enum gate_closer i = 0; i < GATE_CLOSERS; i++) {
        if ((c->result->needed >> i & 1) != 0 ||
            !gate_closer(runner_kernel(c->runner), i, &closer)) {
            continue;
        }
        if (gate_judge(p, arrays, &closer, most_pairs(p), &f, NULL) != 0) {
            return -1;
        }
        c->result->needed |= (unsigned)(f.verdict != GATE_RIGHT) << i;
    }
    c->result->tried_closer++;
    return 0;
}

static int judge(struct checking *c, const struct gate_problem *p, const struct gate_arrays *arrays,
                 struct gate_finding *f) {
    struct gate_tensor tensor = {.beyond = 0};
    if (c->is_again && !c->rules && digest_of(arrays) == c->digest) {
        *f = gate_no_finding;
    } else if (gate_judge(p, arrays, runner_kernel(c->runner), most_pairs(p), f,
                          c->rules ? &tensor : NULL) != 0) {
        return -1;
    }
    if (c->rules && f->compared + f->unclaimed > 0) {
        c->judged = 1;
        c->rejected |= gate_tensor_rejected(&tensor);
    }
    if (f->verdict == GATE_RIGHT && c->result->cases % CLOSER == 0) {
        return try_closer(c, p, arrays);
    }
    return 0;
}

/* Runs the case twice and compares. The verdict is the first thing that is wrong. Protected
 * memory follows the buffers in the first run (at_end: 1), or in the second. */
static int run_twice(struct checking *c, const struct gate_problem *p, struct gate_arrays *one,
                     struct gate_arrays *other, int at_end, struct gate_finding *f) {
    if (run(c, p, one, at_end, GATE_POISON, f) != 0) {
        return -1;
    }
    if (f->verdict == GATE_RIGHT && run(c, p, other, !at_end, GATE_POISON_AGAIN, f) != 0) {
        return -1;
    }
    if (f->verdict != GATE_RIGHT) {
        return 0;
    }
    struct gate_finding writes;
    if (gate_judge_writes(p, one, other, &writes) != 0 || judge(c, p, one, f) != 0) {
        return gate_no_verdict("not enough memory to judge a result");
    }
    if (writes.verdict != GATE_RIGHT) { /* it says more than that numbers are wrong */
        *f = writes;
    }
    return 0;
}

static int run_problem(struct checking *c, struct gate_problem *p, size_t workspace, int at_end,
                       struct gate_finding *f, unsigned long long *digest) {
    struct gate_arrays one, other;
    if (gate_arrays_new(&one, p) != 0) {
        return gate_no_verdict("not enough memory for a case");
    }
    one.run.bytes[RUN_WORKSPACE] = one.run.call.workspace_size = workspace;
    if (gate_arrays_again(&other, &one) != 0) {
        gate_arrays_free(&one);
        return gate_no_verdict("not enough memory for a case");
    }
    int result = run_twice(c, p, &one, &other, at_end, f), runs = 0;
    if (result == 0 && f->verdict == GATE_RIGHT && c->elsewhere > 0) {
        runs = gate_run_elsewhere(c->runner, p, &one, &other, c->elsewhere, f);
        result = runs < 0 ? -1 : 0;
        c->result->runs += runs > 0 ? runs : 0;
    }
    if (c->kept != NULL && result == 0 && gate_results_keep(c->kept, &one) != 0) {
        result = gate_no_verdict("not enough memory for a case");
    }
    if (c->look != NULL && result == 0) {
        c->look(c->context, p, &one, &other, f);
    }
    *digest = digest_of(&one);
    gate_arrays_free_again(&other);
    gate_arrays_free(&one);
    return result;
}

/* Runs a problem after another one of the same sizes, at the same addresses, which was right. If
 * it is wrong, either it is also wrong in a new process, or the kernel has kept something. */
static int run_next(struct checking *c, struct gate_problem *p, size_t workspace, const char *words,
                    struct gate_finding *f) {
    unsigned long long digest;
    struct gate_finding first = {0};
    gate_values_fill(p);
    if (run_problem(c, p, workspace, 0, f, &digest) != 0) {
        return -1;
    }
    if (!gate_is_of_numbers(f->verdict) && f->verdict != GATE_OTHER_BITS) {
        return 0;
    }
    gate_looker *look = c->look;
    c->look = NULL;
    runner_restart(c->runner);
    int result = run_problem(c, p, workspace, 0, &first, &digest);
    c->look = look;
    if (result != 0) {
        return -1;
    }
    if (first.verdict == GATE_RIGHT) {
        f->verdict = GATE_REMEMBERS;
        gate_finding_breaks(f, "GATE-4");
        gate_put_before(f, words);
    }
    return 0;
}

/* Longer sequences may need more workspace, and more pages in the table. A kernel that does not
 * take them is not run. */
static int run_grown(struct checking *c, struct gate_problem *p, struct gate_finding *f) {
    size_t workspace = 0;
    struct gate_finding asked;
    int takes = gate_kernel_takes(c, p, &workspace, &asked);
    if (takes >= 0 && asked.verdict != GATE_RIGHT) {
        *f = asked;
    }
    if (takes <= 0 || asked.verdict != GATE_RIGHT) {
        return takes < 0 ? -1 : 0;
    }
    return run_next(
        c, p, workspace,
        "right at first, but wrong when it runs again with more keys for each sequence: ", f);
}

/* Runs the case once more, with other numbers and other chunks of the same sizes; then with one
 * more key for each sequence, as in the next step of decoding, or with several more. */
static int run_renewed(struct checking *c, const struct gate_recipe *recipe, size_t workspace,
                       struct gate_finding *f) {
    struct gate_problem p;
    if (gate_problem_renew(&p, recipe, runner_kernel(c->runner)) != 0) {
        return gate_no_verdict("not enough memory for a case");
    }
    int result = run_next(
        c, &p, workspace,
        "right at first, but wrong when it runs again with other numbers of the same sizes: ", f);
    int grown = result == 0 && f->verdict == GATE_RIGHT ? gate_problem_grow(&p) : 0;
    if (grown != 0) {
        result = grown > 0 ? run_grown(c, &p, f) : gate_no_verdict("not enough memory for a case");
    }
    gate_problem_free(&p);
    return result;
}

/* GATE-1: runs the wrong sequence without the others, and looks at the wrong row and head again. If
 * the kernel does not take this, nothing follows. */
static int run_alone(struct checking *c, const struct gate_problem *whole, struct gate_finding *f) {
    struct gate_problem p;
    struct gate_finding alone;
    unsigned long long digest;
    size_t workspace = 0;
    gate_looker *look = c->look;
    int sequence = gate_sequence_of(whole, f->row), row = f->row - whole->query_begin[sequence];
    if (gate_problem_alone(&p, whole, sequence) != 0) {
        return gate_no_verdict("not enough memory for a case");
    }
    p.also = row * p.recipe.n_heads + f->head;
    c->look = NULL;
    int takes = gate_kernel_takes(c, &p, &workspace, &alone);
    int result = takes < 0 ? -1 : 0;
    if (takes > 0 && alone.verdict == GATE_RIGHT) {
        result = run_problem(c, &p, workspace, 1, &alone, &digest);
        if (result == 0 && alone.verdict == GATE_RIGHT) {
            f->verdict = GATE_DEPENDS;
            gate_put_before(f,
                            "right for this sequence alone, but wrong together with the others: ");
        }
    }
    c->look = look;
    gate_problem_free_alone(&p);
    return result;
}

/* 1: done, 0: the kernel does not take the case after all, -1: no verdict. */
static int run_recipe(struct checking *c, const struct gate_recipe *recipe, struct gate_finding *f,
                      unsigned long long *digest) {
    struct gate_problem p;
    struct gate_results kept = {.out = NULL};
    size_t workspace = 0;
    int elsewhere = c->elsewhere;
    int is_invariant = runner_kernel(c->runner)->conventions.invariant != CP_INVARIANT_NOT;
    if (gate_problem_new(&p, recipe, runner_kernel(c->runner)) != 0) {
        return gate_no_verdict("not enough memory for a case");
    }
    int takes = gate_kernel_takes(c, &p, &workspace, f);
    double bytes = gate_case_bytes(&p, workspace) * (elsewhere > 0 ? OF_TWO : 1.0);
    c->covers = gate_covers(&p);
    if (takes > 0 && gate_refuse_too_large(c, bytes, f)) {
        takes = 0;
    }
    if (takes > 0 && f->verdict == GATE_RIGHT && gate_has_no_memory(bytes)) {
        takes = -1;
    }
    if (takes > 0 && f->verdict == GATE_RIGHT) {
        gate_budget_take(c->budget, bytes);
        gate_sizes_asked(&c->result->sizes, recipe, 1);
        gate_sizes_tried(&c->result->sizes, &p);
        gate_values_fill(&p);
        c->kept = is_invariant ? &kept : NULL;
        takes = run_problem(c, &p, workspace, 1, f, digest) == 0 ? 1 : -1;
        c->kept = NULL;
        if (takes > 0 && is_invariant && f->verdict == GATE_RIGHT &&
            gate_run_parts(c, &p, &kept, f) != 0) {
            takes = -1;
        }
        gate_results_free(&kept);
        c->elsewhere = c->is_again = 0; /* the rest is about this process, and other numbers */
        if (takes > 0 && f->verdict == GATE_WRONG && p.b > 1 && run_alone(c, &p, f) != 0) {
            takes = -1;
        }
        if (takes > 0 && recipe->renewed && f->verdict == GATE_RIGHT) {
            takes = run_renewed(c, recipe, workspace, f) == 0 ? 1 : -1;
        }
        if (takes > 0 && f->verdict == GATE_RIGHT) {
            takes = gate_answers_again(c, &p, 1, workspace, f) < 0 ? -1 : 1;
        }
        gate_budget_give(c->budget, bytes);
    }
    c->elsewhere = elsewhere;
    gate_problem_free(&p);
    return takes;
}

int gate_check_recipe(struct runner *runner, const struct gate_recipe *recipe,
                      struct gate_finding *finding) {
    return gate_look(runner, recipe, finding, NULL, NULL);
}

int gate_recipe_taken(const struct gate_options *options, struct runner *runner, long long index,
                      const volatile int *stop, struct gate_recipe *recipe) {
    struct gate_result *result = calloc(1, sizeof *result);
    struct checking c = {
        .options = options, .runner = runner, .result = result, .until = {stop, 0.0}};
    int attempt = 0;
    if (result == NULL) {
        return gate_no_verdict("not enough memory for a case");
    }
    struct gate_finding finding;
    int found = gate_find_recipe(&c, index, &attempt, recipe, &finding);
    free(result);
    return found;
}

int gate_look(struct runner *runner, const struct gate_recipe *recipe, struct gate_finding *finding,
              gate_looker *look, void *context) {
    struct gate_result *result = calloc(1, sizeof *result);
    struct checking c = {.runner = runner, .result = result, .look = look, .context = context};
    unsigned long long digest;
    if (result == NULL) {
        return gate_no_verdict("not enough memory for a case");
    }
    int taken = run_recipe(&c, recipe, finding, &digest);
    free(result);
    return taken;
}

int gate_check_elsewhere(struct runner *runner, const struct gate_recipe *recipe,
                         struct gate_finding *finding) {
    struct gate_result *result = calloc(1, sizeof *result);
    struct checking c = {.runner = runner, .result = result, .elsewhere = GATE_PROCESSES};
    unsigned long long digest;
    if (result == NULL) {
        return gate_no_verdict("not enough memory for a case");
    }
    int taken = run_recipe(&c, recipe, finding, &digest);
    free(result);
    return taken;
}

/* Runs the earlier case once more, after others have run in between. It was right: numbers that are
 * wrong now, or other bits, show that the kernel remembers something. Any other finding says more
 * than that, and stays. */
static int run_earlier(struct checking *c, struct gate_finding *f) {
    unsigned long long digest = 0;
    c->is_again = 1;
    int taken = run_recipe(c, &c->earlier, f, &digest);
    c->is_again = 0;
    if (taken < 0) {
        return -1;
    }
    if (taken == 0) { /* f->text has the reason */
        f->verdict = GATE_REMEMBERS;
        gate_finding_breaks(f, "GATE-4");
        gate_put_before(
            f, "an earlier case that it took is refused when it comes again after others: ");
        return 0;
    }
    if (gate_is_of_numbers(f->verdict) || (f->verdict == GATE_RIGHT && digest != c->digest)) {
        f->verdict = GATE_REMEMBERS;
        gate_finding_breaks(f, "GATE-4");
        (void)snprintf(f->text, sizeof f->text,
                       "an earlier case gives another result when it runs again after others");
    }
    return 0;
}

/* ---- All cases ---- */

/* The verdicts of other acceptance rules; nothing when they were not asked for. */
static int note(struct checking *c, struct gate_log *log, long long index,
                const struct gate_recipe *recipe, const struct gate_finding *f) {
    struct gate_entry entry = {
        .index = index, .values = (int)recipe->values, .verdict = (int)f->verdict};
    gate_entry_judge(&entry, c->judged, c->rejected);
    entry.seconds = seconds_now() - c->case_began;
    c->judged = 0;
    c->rejected = 0;
    c->case_began = seconds_now();
    return !c->rules || gate_log_add(log, &entry) == 0
               ? 0
               : gate_no_verdict("not enough memory for so many cases");
}

/* Counts a finding under case `index`. The recipe is that of the earlier case where this one, run
 * again after case `index`, is what was found wrong. */
static int record(struct checking *c, long long index, const struct gate_recipe *recipe,
                  const struct gate_finding *f) {
    double now = seconds_now();
    struct gate_found this = {.index = index,
                              .work = gate_work_of(recipe),
                              .needs_others = recipe == &c->earlier,
                              .recipe = *recipe,
                              .finding = *f};
    gate_result_count(c->result, runner_file(c->runner), &this, &c->covers, now - c->recorded);
    c->recorded = now;
    return note(c, &c->result->each, index, recipe, f);
}

static int check_case(struct checking *c, long long index) {
    struct gate_recipe recipe;
    struct gate_finding f = gate_no_finding;
    unsigned long long digest = 0;
    int taken = 0, attempt = 0;
    c->work = tier_work[c->options->tier] / (runner_is_simulated(c->runner) ? SIMULATED : 1);
    while (taken == 0 && attempt < GATE_ATTEMPTS &&
           !c->ended) { /* the kernel may refuse after all what it seemed to take */
        taken = gate_find_recipe(c, index, &attempt, &recipe, &f);
        if (taken > 0 && f.verdict == GATE_RIGHT) {
            c->elsewhere = index % ELSEWHERE == THERE;
            taken = run_recipe(c, &recipe, &f, &digest);
            c->elsewhere = 0;
        }
    }
    if (taken <= 0) {
        c->result->refused += taken == 0 && !c->ended;
        return taken;
    }
    if (record(c, index, &recipe, &f) != 0) {
        return -1;
    }
    if (c->has_earlier && index % AGAIN == 0) {
        if (run_earlier(c, &f) != 0) {
            return -1;
        }
        if (f.verdict != GATE_RIGHT && /* one more case, and a wrong one: it was right before */
            record(c, index, &c->earlier, &f) != 0) {
            return -1;
        }
        c->has_earlier = 0;
    } else if (f.verdict == GATE_RIGHT && (!c->has_earlier || index % AGAIN == KEPT)) {
        c->earlier = recipe;
        c->digest = digest;
        c->has_earlier = 1;
    }
    return 0;
}

int gate_is_enough(const struct gate_options *o, const struct gate_result *r) {
    return r->verdicts[GATE_HANGS] >= HANGS || (r->cases == 0 && r->refused >= REFUSALS) ||
           (o->first && r->verdicts[GATE_RIGHT] < r->cases);
}

/* A check in addition to the cases, and before them: nothing has run yet. */
static int run_usual(struct checking *c) {
    for (int i = 0; i < GATE_USUAL; i++) {
        struct gate_recipe recipe;
        struct gate_finding f = gate_no_finding;
        unsigned long long digest;
        gate_usual_recipe(i, &recipe);
        c->judged = 0;
        c->rejected = 0;
        int taken = run_recipe(c, &recipe, &f, &digest);
        if (taken < 0 || (taken > 0 && note(c, &c->result->usual, i, &recipe, &f) != 0)) {
            return -1;
        }
    }
    return 0;
}

/* Left out on the executor, where it would take longer than the cases, and where the first
 * finding is enough. */
static int asks_usual(const struct gate_options *options, const struct runner *runner) {
    return options->rules && !options->first && !runner_is_simulated(runner);
}

void gate_result_free(struct gate_result *result) {
    free(result->each.entry);
    free(result->usual.entry);
}

long long gate_cases(const struct gate_options *o) {
    return o->cases > 0 ? o->cases : tier_cases[o->tier];
}

int gate_check_block(const struct gate_options *options, struct runner *runner,
                     const struct gate_block *block, struct gate_result *result) {
    struct checking c = {.options = options,
                         .runner = runner,
                         .until = block->until,
                         .budget = block->budget,
                         .result = result,
                         .rules = options->rules};
    int stop = 0;
    double start = c.recorded = c.case_began = seconds_now();
    memset(result, 0, sizeof *result);
    if (asks_usual(options, runner) && block->is_first && run_usual(&c) != 0) {
        return -1;
    }
    for (long long i = block->first; i < block->end && !stop && !gate_is_enough(options, result);
         i++) {
        if (check_case(&c, i) < 0) {
            return -1;
        }
        stop = block->done(block->context, result);
    }
    result->interrupted = stop;
    result->seconds = seconds_now() - start;
    return 0;
}

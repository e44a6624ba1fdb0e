/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel is asked before it runs: does it take these sizes, and how much workspace does it
 * need? */
#include <stdio.h>
#include <string.h>

#include "cli/base/clock.h"
#include "gate/case/masks.h"
#include "gate/case/pages.h"
#include "gate/case/prompts.h"
#include "gate/case/rotation.h"
#include "gate/case/scores.h"
#include "gate/case/widths.h"
#include "gate/search/checking.h"
#include "gate/search/outcome.h"

/* ---- A recipe that the kernel takes ---- */

static void refuse(struct checking *c, const char *reason, struct gate_finding *finding) {
    (void)snprintf(finding->text, sizeof finding->text, "%s", reason);
    (void)snprintf(c->result->refusal, sizeof c->result->refusal, "%s", reason);
}

/* Does the kernel take the call? 1 yes, 0 no, -1 no verdict. To misbehave is a finding. */
static int ask(struct checking *c, const struct cp_kernel_call *call, size_t *workspace,
               struct gate_finding *finding) {
    struct run_report report;
    char reason[RUN_TEXT];
    *finding = gate_no_finding;
    if (call->plan > runner_kernel(c->runner)->plans) {
        refuse(c, "it has a plan of modules, and cp_kernel.plans is CP_PLANS_TREES", finding);
        return 0;
    }
    if (runner_ask(c->runner, call, reason, workspace, &report) != 0) {
        gate_take(&report, finding);
        return finding->verdict == GATE_RIGHT ? gate_no_verdict(report.text) : 1;
    }
    if (reason[0] != '\0') {
        refuse(c, reason, finding);
    }
    return reason[0] == '\0';
}

/* The kernel gave another answer to the same question. */
static void note_other_answer(int takes, size_t bytes, size_t other_bytes,
                              struct gate_finding *finding) {
    char reason[256];
    (void)snprintf(reason, sizeof reason, "%.200s", finding->text);
    *finding = gate_no_finding;
    finding->verdict = GATE_REMEMBERS;
    gate_finding_breaks(finding, "GATE-4");
    if (takes == 0) {
        (void)snprintf(finding->text, sizeof finding->text,
                       "refuses() took this call, and refused it when it was asked again: %s",
                       reason);
    } else if (bytes != other_bytes) {
        (void)snprintf(finding->text, sizeof finding->text,
                       "workspace() asked for %zu bytes, and for %zu when it was asked again with "
                       "the same numbers",
                       bytes, other_bytes);
    } else {
        (void)snprintf(finding->text, sizeof finding->text,
                       "refuses() refused this call, and took it when it was asked again");
    }
}

int gate_answers_again(struct checking *c, const struct gate_problem *problem, int took,
                       size_t workspace, struct gate_finding *finding) {
    struct cp_kernel_call call;
    size_t again = 0;
    struct gate_finding f;
    gate_call_sizes(&call, problem);
    int takes = ask(c, &call, &again, &f);
    if (takes < 0) {
        return -1;
    }
    if (f.verdict != GATE_RIGHT) {
        *finding = f;
        return 0;
    }
    if (takes != took || again != workspace) {
        note_other_answer(takes, workspace, again, &f);
        *finding = f;
        return 0;
    }
    return 1;
}

/* As ask(), of a problem, and asks again. */
int gate_kernel_takes(struct checking *c, const struct gate_problem *problem, size_t *workspace,
                      struct gate_finding *finding) {
    struct cp_kernel_call call;
    gate_call_sizes(&call, problem);
    int takes = ask(c, &call, workspace, finding);
    if (takes < 0 || finding->verdict != GATE_RIGHT) {
        return takes;
    }
    int same = gate_answers_again(c, problem, takes, *workspace, finding);
    return same < 0 ? -1 : same == 0 ? 1 : takes;
}

int gate_refuse_too_large(struct checking *c, double bytes, struct gate_finding *finding) {
    char reason[128];
    double most = runner_memory(c->runner);
    if (bytes > most) {
        (void)snprintf(reason, sizeof reason,
                       "it would take %.2g GiB of memory, more than --memory %.2g", bytes * 0x1p-30,
                       most * 0x1p-30);
        refuse(c, reason, finding);
        c->result->too_large++;
        c->work /= 2; /* of the recipe that is tried instead */
    }
    return bytes > most;
}

/* The sizes that are asked for. Chunks are half of the time as large as the pages that the kernel
 * has, so that sequences have many pages. */
static struct gate_shape shape_of(const struct checking *c, long long index) {
    struct gate_shape shape = c->options->shape;
    int size = runner_kernel(c->runner)->layout.page_size;
    if (shape.chunk_size == 0 && size > 0 && size <= CP_MAX_CHUNK_SIZE && index % 2 == 0) {
        shape.chunk_size = size;
    }
    return shape;
}

/* Only the first question of a case is asked twice: with what is found, run_recipe() asks again. */
int gate_find_recipe(struct checking *c, long long index, int *attempt, struct gate_recipe *recipe,
                     struct gate_finding *finding) {
    double began = seconds_now();
    const struct gate_shape shape = shape_of(c, index);
    while (*attempt < GATE_ATTEMPTS) {
        int first = *attempt == 0;
        if (gate_is_over(&c->until)) {
            c->ended = 1;
            return 0;
        }
        gate_recipe_make(recipe, c->options->seed, index, (*attempt)++, c->work, &shape);
        recipe->never = gate_never_of(runner_kernel(c->runner));
        gate_recipe_widths(recipe, runner_kernel(c->runner), c->work, &shape);
        gate_recipe_scores(recipe, runner_kernel(c->runner)->scores);
        if (gate_has_modules(runner_kernel(c->runner)->plans, index)) {
            gate_recipe_to_modules(recipe, &shape);
        }
        if (runner_kernel(c->runner)->keys != CP_KEYS_PLACED) {
            gate_recipe_rotate(recipe, *attempt - 1, &shape);
        }
        gate_recipe_mask(recipe, runner_kernel(c->runner)->masks, &shape);
        gate_recipe_pages(recipe, &runner_kernel(c->runner)->layout);
        if (runner_kernel(c->runner)->memory != CP_HOST_MEMORY) {
            recipe->layout &= ~GATE_FAR;
            recipe->pool = gate_pool_fits(recipe, runner_kernel(c->runner)) ? recipe->pool : 0;
        }
        struct gate_problem p = gate_problem_guess(recipe, runner_kernel(c->runner));
        struct cp_kernel_call call;
        size_t workspace = 0;
        gate_call_sizes(&call, &p);
        int takes = first ? gate_kernel_takes(c, &p, &workspace, finding)
                          : ask(c, &call, &workspace, finding);
        c->covers = (struct gate_covered){recipe->head_dim, 1, 0};
        if (takes != 0) {
            return takes;
        }
        gate_sizes_asked(&c->result->sizes, recipe, 0);
        const char *reason = gate_took_too_long(c->runner, began);
        if (reason != NULL) {
            refuse(c, reason, finding);
            *attempt = GATE_ATTEMPTS;
        }
    }
    return 0;
}

int gate_has_no_memory(double bytes) {
    char text[160];
    double available = run_memory_available();
    if (bytes > available) {
        (void)snprintf(text, sizeof text,
                       "a case takes %.2g GiB of memory, and the system has %.2g GiB left; "
                       "--memory X allows only cases of up to X GiB",
                       bytes * 0x1p-30, available * 0x1p-30);
        return gate_no_verdict(text) != 0;
    }
    return 0;
}

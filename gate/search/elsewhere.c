/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/elsewhere.h"

#include "gate/judge/conventions.h"
#include "gate/judge/judge.h"
#include "gate/runner/runner.h"
#include "gate/search/outcome.h"

/* In one more process. 0, or -1: no verdict. */
static int run_once(const struct runner *runner, const struct gate_problem *p,
                    struct gate_arrays *other, struct gate_finding *f) {
    struct runner *again = NULL;
    struct run_report report;
    char error[RUN_TEXT];
    if (runner_again(&again, runner, error) != 0) {
        return gate_no_verdict(error);
    }
    int result = runner_run(again, &other->run, &report);
    runner_free(again);
    if (result != 0) {
        return gate_no_verdict(report.text);
    }
    gate_conventions_blank(p, runner_kernel(runner), other);
    gate_take(&report, f);
    return 0;
}

int gate_run_elsewhere(const struct runner *runner, const struct gate_problem *p,
                       const struct gate_arrays *one, struct gate_arrays *other, int processes,
                       struct gate_finding *f) {
    int runs = 0;
    struct gate_finding right = *f;
    other->run.at_end = one->run.at_end;
    other->run.poison = GATE_POISON_AGAIN;
    for (; runs < processes && f->verdict == GATE_RIGHT; runs++) {
        if (run_once(runner, p, other, f) != 0) {
            return -1;
        }
        if (f->verdict == GATE_RIGHT && gate_judge_writes(p, one, other, f) != 0) {
            return gate_no_verdict("not enough memory to judge a result");
        }
    }
    if (f->verdict == GATE_RIGHT) {
        *f = right;
    } else {
        gate_put_before(f, "the same in each run of one process, and otherwise in a new process: ");
    }
    return runs;
}

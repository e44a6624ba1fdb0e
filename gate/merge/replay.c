/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/replay.h"

#include "gate/merge/explain.h"

static const char keeps[] =
    "  right in a fresh process: the kernel keeps something from call to call (GATE-4). Look for "
    "what is\n  static or global, and for a workspace that is read before it is written\n";

/* After the case before it, in the same process. */
static int run_with_before(FILE *out, const struct gate_options *o, struct runner *runner,
                           const struct merge_case *one, struct merge_finding *finding) {
    struct merge_finding alone;
    char line[MERGE_LINE];
    int ran = merge_check_recipe(runner, &one->before, 0, finding);
    if (ran <= 0) {
        return ran;
    }
    merge_recipe_print(&one->before, line);
    fprintf(out, "  after this case, in the same process: %s\n", line);
    ran = merge_check_recipe(runner, &one->recipe, 0, finding);
    if (ran > 0 && o->explain && finding->verdict != GATE_RIGHT) {
        runner_restart(runner);
        ran = merge_check_recipe(runner, &one->recipe, 0, &alone);
        if (ran > 0 && alone.verdict == GATE_RIGHT) {
            fputs(keeps, out);
        } else if (ran > 0 && alone.verdict == finding->verdict) {
            fputs("  also wrong in a fresh process, so earlier cases are not the cause\n", out);
        } else if (ran > 0) {
            fprintf(out, "  in a fresh process: %s: %s\n", merge_verdict_name(alone.verdict),
                    alone.of.text);
        }
    }
    return ran;
}

int merge_replay(FILE *out, const struct gate_options *o, struct runner *runner,
                 const struct merge_case *one, const volatile int *stop,
                 struct merge_finding *finding) {
    int ran = one->has_before ? run_with_before(out, o, runner, one, finding)
                              : merge_check_recipe(runner, &one->recipe, one->other_bits, finding);
    if (ran <= 0 || !o->explain || one->has_before || finding->verdict == GATE_RIGHT) {
        return ran;
    }
    if (finding->verdict == GATE_REMEMBERS) {
        fputs(keeps, out);
        return ran;
    }
    return merge_explain(out, runner, &one->recipe, finding, o->time, stop) == 0 ? 1 : -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/save.h"

#include <stdio.h>

#include "gate/merge/case_file.h"
#include "gate/merge/shrink.h"
#include "gate/source/lines.h"

#define SHRINK_SECONDS 10.0 /* for each kind of finding */
#define MOST_BEFORE    12   /* how many earlier cases are tried before a case that is right alone */

struct saving {
    const struct gate_options *o;
    struct runner *runner;
    gate_starter *start;
    void *context;
    const volatile int *stop;
};

/* Runs the case in a new process. 1: the same verdict, 0: another one, -1 after a message. */
static int happens_alone(const struct saving *s, const struct merge_found *found) {
    struct merge_finding finding;
    int verdict = found->finding.verdict;
    struct runner *runner = s->start(s->context);
    if (runner == NULL) {
        return -1;
    }
    int ran = merge_check_recipe(runner, &found->recipe, verdict == GATE_OTHER_BITS, &finding);
    runner_free(runner);
    return ran <= 0 ? ran : finding.verdict == verdict;
}

/* Runs case `index`, then the found case, in a new process. Is the first right, and the found case
 * wrong after it? Then `found` has the first as the case before. 1: yes, 0: no, -1 after a
 * message. */
static int happens_after(const struct saving *s, struct merge_found *found, long long index) {
    struct merge_finding first = {.of = gate_no_finding}, then = first;
    struct runner *runner = s->start(s->context);
    if (runner == NULL) {
        return -1;
    }
    int ran = merge_recipe_taken(s->o, runner, index, s->stop, &found->before);
    if (ran > 0) {
        ran = merge_check_recipe(runner, &found->before, 0, &first);
    }
    if (ran > 0) {
        ran =
            first.verdict == GATE_RIGHT ? merge_check_recipe(runner, &found->recipe, 0, &then) : 0;
    }
    runner_free(runner);
    found->has_before = ran > 0 && then.verdict != GATE_RIGHT;
    return ran < 0 ? -1 : found->has_before;
}

static int write_case(const struct saving *s, struct merge_found *found) {
    (void)snprintf(found->file, sizeof found->file, "%s/%s.json", s->o->save,
                   merge_verdict_name(found->finding.verdict));
    return merge_case_save(found->file, found, runner_merge_kernel(s->runner));
}

/* A case that is right in a new process, with an earlier case that makes it wrong there, if
 * there is one among the last; else nothing is written. */
static int save_with_before(const struct saving *s, struct merge_found *found) {
    int before = 0;
    for (long long i = found->index;
         i >= 0 && i > found->index - MOST_BEFORE && before == 0 && *s->stop == 0; i--) {
        before = happens_after(s, found, i);
    }
    return before > 0 ? write_case(s, found) : before;
}

/* Makes the case smaller and writes it, if it is wrong in a new process. 0, or -1 after a
 * message. */
static int save(const struct saving *s, struct merge_found *found) {
    struct merge_found original = *found;
    if (merge_shrink(s->runner, found, &s->o->shape, SHRINK_SECONDS, s->stop) < 0) {
        return -1;
    }
    int alone = happens_alone(s, found);
    if (alone > 0) {
        return write_case(s, found);
    }
    /* The kernel may keep something between calls, which may have made any smaller case wrong. */
    *found = original;
    alone = alone < 0 ? alone : happens_alone(s, found);
    if (alone > 0) {
        return write_case(s, found);
    }
    found->needs_others = 1;
    return alone < 0 ? -1 : save_with_before(s, found);
}

int merge_save_all(const struct gate_options *o, struct runner *runner, gate_starter *start,
                   void *context, struct merge_result *r, const volatile int *stop) {
    const struct saving s = {o, runner, start, context, stop};
    for (int i = GATE_RIGHT + 1; i < MERGE_VERDICTS && *stop == 0; i++) {
        struct merge_found *found = &r->found[i];
        int alone = 1;
        if (r->verdicts[i] == 0) {
            continue;
        }
        gate_name_lines(runner_file(runner), found->finding.of.text, sizeof found->finding.of.text);
        if (o->save != NULL) {
            alone = save(&s, found) == 0 ? 1 : -1;
        } else if (i != GATE_HANGS) { /* a call that hangs takes its time */
            alone = happens_alone(&s, found);
            found->needs_others = alone == 0;
        }
        if (alone < 0) {
            return -1;
        }
    }
    return 0;
}

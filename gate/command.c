/* SPDX-License-Identifier: Apache-2.0 */
/* The command `chunkproof gate`, which starts a kernel, checks it and reports. */
#define _POSIX_C_SOURCE 200809L /* access */

#include "cli/base/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/children.h"
#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "gate/explain/explain.h"
#include "gate/gate.h"
#include "gate/merge/merge.h"
#include "gate/report/report.h"
#include "gate/search/case_file.h"
#include "gate/search/shrink.h"
#include "gate/start.h"

#define SHRINK_SECONDS  10.0 /* for each kind of finding */
#define EXPLAIN_SECONDS 30.0 /* for what is right and unusual */

#define MOST_BEFORE 12 /* how many earlier cases are tried before a case that is right alone */

#define LONGEST_CASE_NAME 32 /* of a file in the directory of --save */

static int status_of(const struct gate_result *r) {
    if (r->verdicts[GATE_RIGHT] < r->cases) {
        return EXIT_FINDING;
    }
    if (r->interrupted) {
        return EXIT_INTERRUPTED;
    }
    return gate_is_right(r) ? EXIT_RIGHT : EXIT_BAD_USE;
}

/* With those above it. */
static int make_directories(const char *name) {
    char path[sizeof((struct gate_found *)0)->file];
    for (size_t i = 1; name[i - 1] != '\0'; i++) {
        if (name[i] == '/' || name[i] == '\0') {
            (void)snprintf(path, sizeof path, "%.*s", (int)i, name);
            if (mkdir(path, 0777) != 0 && errno != EEXIST) {
                return -1;
            }
        }
    }
    return access(name, W_OK | X_OK);
}

/* Checks the directory of --save before anything runs. Returns 0, or -1 after a message. */
static int make_directory(const char *name) {
    if (strlen(name) + LONGEST_CASE_NAME > sizeof((struct gate_found *)0)->file) {
        fprintf(stderr, "chunkproof gate: --save %s: this name is too long\n", name);
        return -1;
    }
    if (make_directories(name) != 0) {
        fprintf(stderr, "chunkproof gate: --save %s: no file can be written there: %s\n", name,
                strerror(errno));
        return -1;
    }
    return 0;
}

/* Runs the case in a new process. 1: the same verdict, 0: another one, -1 after a message. */
static int happens_alone(const struct gate_options *o, const struct gate_object *object,
                         const struct gate_found *found) {
    struct gate_finding finding;
    struct runner *runner = gate_start_object(o, object);
    if (runner == NULL) {
        return -1;
    }
    int ran = found->finding.verdict == GATE_OTHER_BITS
                  ? gate_check_elsewhere(runner, &found->recipe, &finding)
                  : gate_check_recipe(runner, &found->recipe, &finding);
    runner_free(runner);
    return ran <= 0 ? ran : finding.verdict == found->finding.verdict;
}

/* Runs case `index`, then the found case, in a new process. Is the first right, and the found case
 * wrong after it? Then `found` gets the first as the case before, and the finding. 1: yes, 0: no,
 * -1 after a message. */
static int happens_after(const struct gate_options *o, const struct gate_object *object,
                         struct gate_found *found, long long index) {
    struct gate_finding first = gate_no_finding, then = gate_no_finding;
    struct runner *runner = gate_start_object(o, object);
    if (runner == NULL) {
        return -1;
    }
    int ran = gate_recipe_taken(o, runner, index, &interrupted, &found->before);
    if (ran > 0) {
        ran = gate_check_recipe(runner, &found->before, &first);
    }
    if (ran > 0) {
        ran = first.verdict == GATE_RIGHT ? gate_check_recipe(runner, &found->recipe, &then) : 0;
    }
    runner_free(runner);
    if (ran > 0 && then.verdict != GATE_RIGHT) {
        found->finding = then;
        found->has_before = 1;
    }
    return ran < 0 ? -1 : found->has_before;
}

/* Looks for an earlier case that makes this one wrong in a new process: tries the last MOST_BEFORE,
 * from the found case's own number down. 1: found, 0: there is none, -1 after a message. */
static int find_before(const struct gate_options *o, const struct gate_object *object,
                       struct gate_found *found) {
    int before = 0;
    for (long long i = found->index; i >= 0 && i > found->index - MOST_BEFORE && !interrupted;
         i--) {
        before = happens_after(o, object, found, i);
        if (before != 0) {
            break;
        }
    }
    return before;
}

static int write_case(const struct gate_options *o, struct runner *runner,
                      struct gate_found *found) {
    (void)snprintf(found->file, sizeof found->file, "%s/%s.json", o->save,
                   gate_verdict_names[found->finding.verdict]);
    return gate_case_save(found->file, found, runner_kernel(runner));
}

/* Writes a case that is right in a new process together with an earlier case that makes it wrong,
 * if there is one; else writes nothing. The case keeps the finding with which it was found, and is
 * not made smaller. */
static int save_with_before(const struct gate_options *o, const struct gate_object *object,
                            struct runner *runner, struct gate_found *found) {
    struct gate_finding finding = found->finding;
    int before = find_before(o, object, found);
    found->finding = finding;
    return before > 0 ? write_case(o, runner, found) : before;
}

/* Shrinks the case and writes it to a file, if it is wrong in a new process: a case that needs
 * earlier calls is of no use by itself. Returns 0, or -1 after a message. */
static int save(const struct gate_options *o, const struct gate_object *object,
                struct runner *runner, struct gate_found *found) {
    struct gate_found original = *found;
    if (gate_shrink(runner, found, &o->shape, SHRINK_SECONDS, &interrupted) < 0) {
        return -1;
    }
    int alone = happens_alone(o, object, found);
    if (alone > 0) {
        return write_case(o, runner, found);
    }
    /* The kernel may keep something between calls, which may have made any smaller case wrong. */
    *found = original;
    alone = alone < 0 ? alone : happens_alone(o, object, found);
    if (alone > 0) {
        return write_case(o, runner, found);
    }
    found->needs_others = 1;
    return alone < 0 ? -1 : save_with_before(o, object, runner, found);
}

/* For the smallest case of each verdict: keeps it, or only checks whether it is wrong without
 * the earlier calls. A call that hangs takes its time. */
static int save_all(const struct gate_options *o, const struct gate_object *object,
                    struct runner *runner, struct gate_result *r) {
    for (int i = GATE_RIGHT + 1; i < GATE_VERDICTS; i++) {
        struct gate_found *found = &r->found[i];
        int alone = 1, saved = 0;
        if (r->verdicts[i] == 0) {
            continue;
        }
        if (o->save != NULL) {
            saved = save(o, object, runner, found);
        } else if (i != GATE_HANGS && !interrupted) {
            alone = happens_alone(o, object, found);
            found->needs_others = found->needs_others || alone == 0;
        }
        if (saved != 0 || alone < 0) {
            return -1;
        }
    }
    return 0;
}

/* The smallest case with an unusual number, as it is: a right one. Returns 0, or -1 after a
 * message. */
static int save_unusual(const struct gate_options *o, struct runner *runner,
                        struct gate_result *r) {
    struct gate_found *found = &r->found[GATE_RIGHT];
    if (o->save == NULL || !gate_is_unusual(found)) {
        return 0;
    }
    gate_finding_breaks(&found->finding, "NUM-13");
    (void)snprintf(found->finding.text, sizeof found->finding.text,
                   "right, and %.3g times as far from attention as is usual: element %d of row %d, "
                   "head %d",
                   found->finding.most_unusual, found->finding.unusual_element,
                   found->finding.unusual_row, found->finding.unusual_head);
    return write_case(o, runner, found);
}

/* What may cause what is unusual, by the smallest case. It is for a warning: where it fails, none
 * is named. */
static void name_cause(const struct gate_options *o, const struct gate_object *object,
                       const struct gate_result *r, struct gate_cause *cause) {
    const struct gate_found *smallest = &r->found[GATE_RIGHT];
    struct runner *runner =
        gate_is_unusual(smallest) && !interrupted ? gate_start_object(o, object) : NULL;
    if (runner != NULL) {
        (void)gate_explain_unusual(runner, &smallest->recipe, EXPLAIN_SECONDS, &interrupted, cause);
    }
    runner_free(runner);
}

/* What each process is started with. */
struct starting {
    const struct gate_options *o;
    const struct gate_object *object;
};

static struct runner *start_one_more(void *context) {
    const struct starting *s = context;
    return gate_start_object(s->o, s->object);
}

/* Returns an exit status. What was found counts, whatever ended the run; else there is no verdict
 * without all of it, and no report is written. */
static int check_with(const struct gate_options *o, struct gate_files *files,
                      const struct gate_object *object, struct runner *runner,
                      struct gate_result *result) {
    struct gate_cause cause = {.key = -1};
    struct gate_report report = {o, runner_kernel(runner), result, runner_contained(runner),
                                 &cause};
    struct starting starting = {o, object};
    int failed = gate_check(o, runner, start_one_more, &starting, result, &interrupted) != 0;
    int found = gate_wrong_cases(result) > 0;
    result->failed = failed;
    if (!failed || found) {
        failed = save_all(o, object, runner, result) != 0 || save_unusual(o, runner, result) != 0 ||
                 failed;
    }
    if (failed && !found) {
        gate_files_remove(files);
        return EXIT_BAD_USE;
    }
    name_cause(o, object, result, &cause);
    gate_print_text(stdout, &report);
    return gate_files_write(files, &report) != 0 ? EXIT_BAD_USE : status_of(result);
}

/* 0 after saying why not: the kernel takes no windows. */
static int takes_shape(const struct gate_options *o, const struct cp_kernel *kernel) {
    int takes = o->shape.window == 0 || (kernel->masks & CP_MASKS_WINDOW) != 0;
    if (!takes) {
        fprintf(stderr,
                "chunkproof gate: --shape window=%d: the kernel takes no window; if it does, it "
                "declares .masks = CP_MASKS_WINDOW\n",
                o->shape.window);
    }
    return takes;
}

static int check(const struct gate_options *o) {
    struct gate_files files;
    struct gate_object object;
    struct runner *runner;
    struct gate_result *result = cli_allocate(NULL, 1, sizeof *result);
    memset(result, 0, sizeof *result);
    catch_termination();
    catch_interrupt(); /* before there is anything to remove */
    (void)children_adopt();
    if ((o->save != NULL && make_directory(o->save) != 0) || gate_files_open(&files, o) != 0) {
        free(result);
        return EXIT_BAD_USE;
    }
    if (gate_start(o, &object, &runner) != 0) {
        gate_files_remove(&files);
        free(result);
        return interrupted ? EXIT_INTERRUPTED : EXIT_BAD_USE;
    }
    int status = EXIT_BAD_USE;
    if (runner_merge_kernel(runner) != NULL) {
        struct starting starting = {o, &object};
        status = merge_gate(o, &files, runner, start_one_more, &starting, &interrupted);
    } else if (takes_shape(o, runner_kernel(runner))) {
        status = check_with(o, &files, &object, runner, result);
    } else {
        gate_files_remove(&files);
    }
    gate_result_free(result);
    free(result);
    runner_free(runner);
    gate_object_free(&object);
    return status;
}

int cp_command_gate(int argc, char **argv) {
    struct gate_options options;
    int status = EXIT_RIGHT;
    if (gate_options_parse(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        gate_options_help(stdout);
    } else {
        status = check(&options);
    }
    return output_end(stdout, "gate") == 0 ? status : EXIT_BAD_USE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof replay` and `chunkproof explain`: run cases that the gate kept. */
#include "cli/base/command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/children.h"
#include "cli/base/clean.h"
#include "cli/base/interrupt.h"
#include "cli/base/text.h"
#include "gate/case/masks.h"
#include "gate/case/scores.h"
#include "gate/explain/explain.h"
#include "gate/gate.h"
#include "gate/search/case_file.h"
#include "gate/search/check.h"
#include "gate/search/outcome.h"
#include "gate/source/lines.h"
#include "gate/start.h"

/* The outcome of a case. NOT_TAKEN: the kernel does not take it. NOT_JUDGED: it is right, but too
 * few of its numbers have a finite bound (GATE-1). FAILED: a message said why. */
enum came_of_it { RIGHT, WRONG, NOT_TAKEN, NOT_JUDGED, FAILED };

static enum came_of_it outcome_of(int ran, const struct gate_finding *f) {
    return ran < 0                                      ? FAILED
           : ran == 0                                   ? NOT_TAKEN
           : f->verdict != GATE_RIGHT                   ? WRONG
           : gate_claims_few(f->compared, f->unclaimed) ? NOT_JUDGED
                                                        : RIGHT;
}

static void put_clean(const char *before, const char *text, const char *after) {
    char *clean = text_clean(text);
    printf("%s%s%s", before, clean, after);
    free(clean);
}

static void print_finding(const struct gate_recipe *recipe, const struct gate_finding *f,
                          enum came_of_it came) {
    char line[GATE_LINE];
    gate_recipe_print(recipe, line);
    printf("%s%s%s: %s\n", came == NOT_JUDGED ? "no verdict" : gate_verdict_names[f->verdict],
           f->clause[0] != '\0' ? "; breaks " : "", f->clause, line);
    if (came == NOT_JUDGED) {
        printf(
            "  nothing can be claimed of %lld of its %lld numbers for this arithmetic (NUM-12)\n",
            f->unclaimed, f->compared + f->unclaimed);
    } else if (came == WRONG) {
        put_clean("  ", f->text, "\n");
    }
}

/* The cases of all files, one after the other. */
struct replayed {
    struct gate_case one;
    const char *file;
};

/* Runs the case after the one before it. 1: it ran, 0: the kernel did not take it, -1: no
 * verdict. Messages go to `out`. */
static int run_with_before(FILE *out, const struct gate_options *o, struct runner *runner,
                           const struct gate_case *r, struct gate_finding *finding) {
    struct gate_finding other = gate_no_finding;
    char line[GATE_LINE];
    int ran = gate_check_recipe(runner, &r->before, &other);
    if (ran <= 0) {
        *finding = other;
        return ran;
    }
    gate_recipe_print(&r->before, line);
    fprintf(out, "  after this case, in the same process: %s\n", line);
    ran = gate_check_recipe(runner, &r->recipe, finding);
    if (ran > 0 && o->explain && finding->verdict != GATE_RIGHT) {
        runner_restart(runner);
        ran = gate_check_recipe(runner, &r->recipe, &other);
        fputs("  ", out);
        text_put_wrapped(out,
                         other.verdict == GATE_RIGHT
                             ? gate_keeps_something
                             : "also wrong in a fresh process, so earlier cases are not the cause",
                         2, 2, 100);
    }
    return ran;
}

/* A case that was kept for other bits, and is right in this process: runs it in others. Returns as
 * run_with_before() does. */
static int run_elsewhere(FILE *out, const struct gate_options *o, struct runner *runner,
                         const struct gate_recipe *recipe, struct gate_finding *finding) {
    int ran = gate_check_elsewhere(runner, recipe, finding);
    if (ran > 0 && o->explain && finding->verdict == GATE_OTHER_BITS) {
        fputs("  it has the same bits in each run of one process, with any bytes in its memory: "
              "they depend on\n  the process, as by its number, or by an address that the system "
              "chose (GATE-4)\n",
              out);
    }
    return ran;
}

/* CONV-3: a case that was kept for another kernel may have what no call of this one has. 1: it has,
 * and the finding says so; -1: no verdict. */
static int is_excluded(const struct cp_kernel *kernel, const struct gate_recipe *recipe,
                       struct gate_finding *finding) {
    struct cp_kernel any = *kernel;
    struct gate_problem p;
    *finding = gate_no_finding;
    int masks = gate_recipe_masks(recipe) & ~kernel->masks;
    int changes = gate_recipe_changes(recipe) & ~kernel->scores;
    if (masks != 0) {
        (void)snprintf(finding->text, sizeof finding->text,
                       "it has what cp_kernel.masks does not take: CP_MASKS_%s",
                       (masks & CP_MASKS_WINDOW) != 0  ? "WINDOW"
                       : (masks & CP_MASKS_AHEAD) != 0 ? "AHEAD"
                       : (masks & CP_MASKS_KEPT) != 0  ? "KEPT"
                                                       : "BITS");
        return 1;
    }
    if (changes != 0) {
        (void)snprintf(finding->text, sizeof finding->text,
                       "it has what cp_kernel.scores does not take: CP_SCORES_%s",
                       (changes & CP_SCORES_CAP) != 0      ? "CAP"
                       : (changes & CP_SCORES_SLOPES) != 0 ? "SLOPES"
                                                           : "SINKS");
        return 1;
    }
    if (kernel->conventions.never == 0) {
        return 0;
    }
    any.conventions.never = 0;
    if (gate_problem_new(&p, recipe, &any) != 0) {
        return gate_no_verdict("not enough memory for a case");
    }
    int has = gate_problem_has(&p) & kernel->conventions.never;
    gate_problem_free(&p);
    if (has != 0) {
        (void)snprintf(finding->text, sizeof finding->text,
                       "it has what cp_kernel.conventions.never excludes: CP_NEVER_%s",
                       (has & CP_NEVER_EMPTY_SEQUENCES) != 0 ? "EMPTY_SEQUENCES"
                       : (has & CP_NEVER_EMPTY_ROWS) != 0    ? "EMPTY_ROWS"
                       : (has & CP_NEVER_ROWLESS) != 0       ? "ROWLESS"
                                                             : "UNEQUAL_ROWS");
    }
    return has != 0;
}

/* As gate_check_recipe(), explained if that was asked for. */
static int run_one(FILE *out, const struct gate_options *o, struct runner *runner,
                   const struct replayed *r, struct gate_finding *finding) {
    const struct gate_recipe *recipe = &r->one.recipe;
    int excluded = is_excluded(runner_kernel(runner), recipe, finding);
    if (excluded != 0) {
        return excluded > 0 ? 0 : -1;
    }
    return r->one.has_before ? run_with_before(out, o, runner, &r->one, finding)
           : o->explain      ? gate_explain(out, runner, recipe, o->time, &interrupted, finding)
                             : gate_check_recipe(runner, recipe, finding);
}

/* alone: there is no other case, and more is said. */
static enum came_of_it run_case(const struct gate_options *o, struct runner *runner,
                                const struct replayed *r, int alone) {
    const struct gate_recipe *recipe = &r->one.recipe;
    struct gate_finding finding;
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_open(&text, &size);
    int ran = run_one(out, o, runner, r, &finding);
    if (ran > 0 && finding.verdict == GATE_RIGHT && r->one.other_bits) {
        ran = run_elsewhere(out, o, runner, recipe, &finding);
    }
    text_close(out);
    enum came_of_it came = outcome_of(ran, &finding);
    if (came == WRONG || came == NOT_JUDGED || (came == RIGHT && alone)) {
        if (r->one.line > 0) {
            printf("%s:%d: ", r->file, r->one.line);
        } else if (!alone) {
            printf("%s: ", r->file);
        }
        gate_name_lines(runner_file(runner), finding.text, sizeof finding.text);
        print_finding(recipe, &finding, came);
        fputs(text, stdout);
    }
    free(text);
    if (came == NOT_TAKEN && alone) {
        char line[GATE_LINE];
        gate_recipe_print(recipe, line);
        fprintf(stderr, "chunkproof %s: the kernel does not take this case: %s: %s\n", o->command,
                line, finding.text);
    }
    return came;
}

/* One after the other: an exit status. */
static int run_cases(const struct gate_options *o, struct runner *runner,
                     const struct replayed *cases, int n_cases) {
    int n[FAILED + 1] = {0};
    for (int i = 0; i < n_cases && n[FAILED] == 0 && !interrupted; i++) {
        n[run_case(o, runner, &cases[i], n_cases == 1)]++;
    }
    if (n_cases > 1 && n[FAILED] == 0 && !interrupted) {
        printf("%d of %d cases right, %d wrong, %d not taken", n[RIGHT], n_cases, n[WRONG],
               n[NOT_TAKEN]);
        if (n[NOT_JUDGED] > 0) {
            printf(", %d not judged", n[NOT_JUDGED]);
        }
        putchar('\n');
    }
    return interrupted     ? EXIT_INTERRUPTED
           : n[WRONG] > 0  ? EXIT_FINDING
           : n[FAILED] > 0 ? EXIT_BAD_USE
           : n[RIGHT] > 0  ? EXIT_RIGHT
                           : EXIT_BAD_USE;
}

/* The cases of all files, which the caller frees: how many, -1 after saying what is wrong. */
static int load_cases(const struct gate_options *o, struct replayed **cases) {
    int n = 0;
    *cases = NULL;
    for (int i = 0; i < o->n_replay; i++) {
        struct gate_case *of_file;
        int more = gate_case_load(o->replay[i], o->command, &of_file);
        struct replayed *all =
            more < 0 ? NULL : realloc(*cases, (size_t)(n + more) * sizeof **cases);
        if (all == NULL) {
            if (more >= 0) {
                fprintf(stderr, "chunkproof %s: no memory for the cases\n", o->command);
                free(of_file);
            }
            return -1;
        }
        *cases = all;
        for (int c = 0; c < more; c++) {
            all[n++] = (struct replayed){of_file[c], o->replay[i]};
        }
        free(of_file);
    }
    return n;
}

static int replay(const struct gate_options *o) {
    struct replayed *cases;
    struct gate_object object;
    struct runner *runner;
    int status = EXIT_BAD_USE, n = load_cases(o, &cases);
    if (n > 0 && gate_start(o, &object, &runner) == 0) {
        if (runner_merge_kernel(runner) == NULL) {
            status = run_cases(o, runner, cases, n);
        } else {
            fprintf(stderr,
                    "chunkproof %s: %s merges results, and these are cases of attention; "
                    "`chunkproof gate --case N` runs a case of its own\n",
                    o->command, o->kernel);
        }
        runner_free(runner);
        gate_object_free(&object);
    }
    free(cases);
    return status;
}

static int replay_command(int argc, char **argv, int explains) {
    struct gate_options options;
    if (gate_replay_parse(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    int status = EXIT_RIGHT;
    options.explain = explains;
    if (options.help) {
        gate_replay_help(stdout, explains);
    } else {
        catch_termination();
        catch_interrupt();
        (void)children_adopt();
        status = replay(&options);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "chunkproof %s: the output could not be written\n", options.command);
        return EXIT_BAD_USE;
    }
    return status;
}

int cp_command_replay(int argc, char **argv) {
    return replay_command(argc, argv, 0);
}

int cp_command_explain(int argc, char **argv) {
    return replay_command(argc, argv, 1);
}

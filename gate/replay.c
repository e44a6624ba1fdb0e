/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof replay` and `chunkproof explain`: run cases that the gate kept. */
#include "cli/base/command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/children.h"
#include "cli/base/clean.h"
#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "gate/case/masks.h"
#include "gate/case/scores.h"
#include "gate/explain/explain.h"
#include "gate/gate.h"
#include "gate/merge/case_file.h"
#include "gate/merge/replay.h"
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

/* A case that ran: of attention, or of a kernel that merges. */
struct ran {
    struct gate_finding finding;
    const char *verdict;
    char line[GATE_LINE]; /* the case in one line */
};

static void print_finding(const struct ran *ran, enum came_of_it came) {
    const struct gate_finding *f = &ran->finding;
    printf("%s%s%s: %s\n", came == NOT_JUDGED ? "no verdict" : ran->verdict,
           f->clause[0] != '\0' ? "; breaks " : "", f->clause, ran->line);
    if (came == NOT_JUDGED) {
        printf("  no bound holds for %lld of its %lld numbers in this arithmetic (NUM-12)\n",
               f->unclaimed, f->compared + f->unclaimed);
    } else if (came == WRONG) {
        put_clean("  ", f->text, "\n");
    }
}

/* The cases of all files, one after the other: all are of one kind. */
struct replayed {
    struct gate_case one;
    struct merge_case merge;
    const char *file;
    int line;
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
                       : (changes & CP_SCORES_SINKS) != 0  ? "SINKS"
                                                           : "BIASES");
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

/* Of attention: as gate_check_recipe(). */
static int run_attention(FILE *out, const struct gate_options *o, struct runner *runner,
                         const struct replayed *r, struct ran *of) {
    int ran = run_one(out, o, runner, r, &of->finding);
    if (ran > 0 && of->finding.verdict == GATE_RIGHT && r->one.other_bits) {
        ran = run_elsewhere(out, o, runner, &r->one.recipe, &of->finding);
    }
    of->verdict = gate_verdict_names[of->finding.verdict];
    gate_recipe_print(&r->one.recipe, of->line);
    return ran;
}

/* Of a kernel that merges: the same. */
static int run_merge(FILE *out, const struct gate_options *o, struct runner *runner,
                     const struct replayed *r, struct ran *of) {
    struct merge_finding finding;
    int ran = merge_replay(out, o, runner, &r->merge, &interrupted, &finding);
    of->finding = finding.of;
    of->verdict = merge_verdict_name(finding.verdict);
    merge_recipe_print(&r->merge.recipe, of->line);
    return ran;
}

/* alone: there is no other case, and more is said. */
static enum came_of_it run_case(const struct gate_options *o, struct runner *runner,
                                const struct replayed *r, int alone) {
    struct ran of = {.finding = gate_no_finding};
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_open(&text, &size);
    int ran = runner_merge_kernel(runner) != NULL ? run_merge(out, o, runner, r, &of)
                                                  : run_attention(out, o, runner, r, &of);
    text_close(out);
    enum came_of_it came = outcome_of(ran, &of.finding);
    if (came == WRONG || came == NOT_JUDGED || (came == RIGHT && alone)) {
        if (r->line > 0) {
            printf("%s:%d: ", r->file, r->line);
        } else if (!alone) {
            printf("%s: ", r->file);
        }
        gate_name_lines(runner_file(runner), of.finding.text, sizeof of.finding.text);
        print_finding(&of, came);
        fputs(text, stdout);
    }
    free(text);
    if (came == NOT_TAKEN && alone) {
        fprintf(stderr, "chunkproof %s: the kernel does not take this case: %s: %s\n", o->command,
                of.line, of.finding.text);
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

/* All cases that were read; the first one says of which kind they are. */
struct taken {
    struct replayed *cases;
    int n, merges;
};

static int take_case(void *context, struct gate_fields *in, const json_t *json) {
    struct taken *all = context;
    struct replayed *cases = gate_json_room(all->cases, sizeof *cases, all->n);
    const char *format = json_string_value(json_object_get(json, "format"));
    if (cases == NULL) {
        return -1;
    }
    if (all->n == 0) {
        all->merges = format != NULL && strcmp(format, MERGE_CASE_FORMAT) == 0;
    }
    struct replayed *one = &cases[all->n++];
    all->cases = cases;
    one->file = in->file;
    one->line = in->line;
    return all->merges ? merge_case_read(in, json, &one->merge)
                       : gate_case_read(in, json, &one->one);
}

/* The cases of all files, which the caller frees: 0, or -1 after saying what is wrong. */
static int load_cases(const struct gate_options *o, struct taken *all) {
    int failed = 0;
    *all = (struct taken){NULL, 0, 0};
    for (int i = 0; i < o->n_replay && !failed; i++) {
        failed = gate_json_read(o->replay[i], o->command, take_case, all) < 0;
    }
    return failed ? -1 : 0;
}

static int is_of_kind(const struct gate_options *o, const struct runner *runner, int merges) {
    int fits = merges == (runner_merge_kernel(runner) != NULL);
    if (!fits) {
        fprintf(stderr,
                "chunkproof %s: %s %s, and these are cases of %s; give the cases that "
                "`chunkproof gate --save` kept of such a kernel\n",
                o->command, o->kernel, merges ? "computes attention" : "merges results",
                merges ? "kernels that merge" : "attention");
    }
    return fits;
}

static int replay(const struct gate_options *o) {
    struct taken all;
    struct gate_object object;
    struct runner *runner;
    int status = EXIT_BAD_USE;
    if (load_cases(o, &all) == 0 && gate_start(o, &object, &runner) == 0) {
        if (is_of_kind(o, runner, all.merges)) {
            status = run_cases(o, runner, all.cases, all.n);
        }
        runner_free(runner);
        gate_object_free(&object);
    }
    free(all.cases);
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
    return output_end(stdout, options.command) == 0 ? status : EXIT_BAD_USE;
}

int cp_command_replay(int argc, char **argv) {
    return replay_command(argc, argv, 0);
}

int cp_command_explain(int argc, char **argv) {
    return replay_command(argc, argv, 1);
}

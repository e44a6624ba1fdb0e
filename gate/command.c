/* SPDX-License-Identifier: Apache-2.0 */
/* The commands `chunkproof gate`, which starts a kernel, checks it and reports, and `chunkproof
 * replay` and `chunkproof explain`, which run cases of files. */
#define _POSIX_C_SOURCE 200809L /* access */

#include "cli/base/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/interrupt.h"
#include "cli/base/text.h"
#include "gate/explain/explain.h"
#include "gate/gate.h"
#include "gate/report/report.h"
#include "gate/search/case_file.h"
#include "gate/search/shrink.h"
#include "gate/source/compile.h"
#include "gate/source/lines.h"

#define SECONDS           10.0              /* of a call, */
#define SIMULATED_SECONDS 100.0             /* and of one on the executor of CUDA kernels */
#define SHRINK_SECONDS    10.0              /* for each kind of finding */
#define MOST_HEAP         ((size_t)1 << 30) /* and of what a kernel allocates */

#define MOST_BEFORE 12 /* how many earlier cases are tried before a case that is right alone */

#define LONGEST_CASE_NAME 32 /* of a file in the directory of --save */

static int status_of(const struct gate_result *r) {
    if (r->verdicts[GATE_RIGHT] < r->cases) {
        return EXIT_FINDING;
    }
    if (r->interrupted) {
        return EXIT_INTERRUPTED;
    }
    return r->cases > 0 && !gate_claims_too_little(r) ? EXIT_RIGHT : EXIT_BAD_USE;
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

static struct run_limits limits_of(const struct gate_options *o) {
    double seconds = o->seconds > 0.0 ? o->seconds : SECONDS;
    double simulated = o->seconds > 0.0 ? o->seconds : SIMULATED_SECONDS;
    return (struct run_limits){seconds, simulated, (size_t)o->memory, MOST_HEAP};
}

/* A compiled kernel is called by the name of its source. */
static void say_of_file(const struct gate_options *o, const char *file, const char *error) {
    const char *slash = strrchr(o->kernel, '/'), *name = slash != NULL ? slash + 1 : o->kernel;
    const char *at = strcmp(file, o->kernel) != 0 ? strstr(error, file) : NULL;
    if (at != NULL) {
        fprintf(stderr, "chunkproof %s: %.*s%s%s\n", o->command, (int)(at - error), error,
                o->kernel, at + strlen(file));
    } else if (strstr(error, name) != NULL) {
        fprintf(stderr, "chunkproof %s: %s\n", o->command, error);
    } else {
        fprintf(stderr, "chunkproof %s: %s: %s\n", o->command, o->kernel, error);
    }
}

/* Starts the object in a process of its own. NULL after a message. */
static struct runner *start_file(const struct gate_options *o, const char *file) {
    struct run_limits limits = limits_of(o);
    struct runner *runner = NULL;
    char error[RUN_TEXT];
    if (runner_new(&runner, "/proc/self/exe", file, &limits, error) != 0) {
        say_of_file(o, file, error);
    }
    return runner;
}

/* Runs the case in a new process. 1: the same verdict, 0: another one, -1 after a message. */
static int happens_alone(const struct gate_options *o, const char *file,
                         const struct gate_found *found) {
    struct gate_finding finding;
    struct runner *runner = start_file(o, file);
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
static int happens_after(const struct gate_options *o, const char *file, struct gate_found *found,
                         long long index) {
    struct gate_finding first = gate_no_finding, then = gate_no_finding;
    struct runner *runner = start_file(o, file);
    if (runner == NULL) {
        return -1;
    }
    int ran = gate_recipe_taken(o, runner, index, &found->before);
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
static int find_before(const struct gate_options *o, const char *file, struct gate_found *found) {
    int before = 0;
    for (long long i = found->index; i >= 0 && i > found->index - MOST_BEFORE && !interrupted;
         i--) {
        before = happens_after(o, file, found, i);
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
static int save_with_before(const struct gate_options *o, const char *file, struct runner *runner,
                            struct gate_found *found) {
    struct gate_finding finding = found->finding;
    int before = find_before(o, file, found);
    found->finding = finding;
    return before > 0 ? write_case(o, runner, found) : before;
}

/* Shrinks the case and writes it to a file, if it is wrong in a new process: a case that needs
 * earlier calls is of no use by itself. Returns 0, or -1 after a message. */
static int save(const struct gate_options *o, const char *file, struct runner *runner,
                struct gate_found *found) {
    struct gate_found original = *found;
    if (gate_shrink(runner, found, &o->shape, SHRINK_SECONDS, &interrupted) < 0) {
        return -1;
    }
    int alone = happens_alone(o, file, found);
    if (alone > 0) {
        return write_case(o, runner, found);
    }
    /* The kernel may keep something between calls, which may have made any smaller case wrong. */
    *found = original;
    alone = alone < 0 ? alone : happens_alone(o, file, found);
    if (alone > 0) {
        return write_case(o, runner, found);
    }
    found->needs_others = 1;
    return alone < 0 ? -1 : save_with_before(o, file, runner, found);
}

/* For the smallest case of each verdict: keeps it, or only checks whether it is wrong without
 * the earlier calls. A call that hangs takes its time. */
static int save_all(const struct gate_options *o, const char *file, struct runner *runner,
                    struct gate_result *r) {
    for (int i = GATE_RIGHT + 1; i < GATE_VERDICTS; i++) {
        struct gate_found *found = &r->found[i];
        int alone = 1, saved = 0;
        if (r->verdicts[i] == 0) {
            continue;
        }
        if (o->save != NULL) {
            saved = save(o, file, runner, found);
        } else if (i != GATE_HANGS && !interrupted) {
            alone = happens_alone(o, file, found);
            found->needs_others = found->needs_others || alone == 0;
        }
        if (saved != 0 || alone < 0) {
            return -1;
        }
    }
    return 0;
}

/* Starts the kernel in its process, compiled first if it is a source. 0, or -1 after a message. */
static int start(const struct gate_options *o, struct gate_object *object, struct runner **runner) {
    const char *file = o->kernel;
    if (gate_object_new(object, &file, o->place, o->command) != 0) {
        return -1;
    }
    *runner = start_file(o, file);
    if (*runner == NULL) {
        gate_object_free(object);
    }
    return *runner != NULL ? 0 : -1;
}

/* What each process is started with. */
struct starting {
    const struct gate_options *o;
    const char *file;
};

static struct runner *start_one_more(void *context) {
    const struct starting *s = context;
    return start_file(s->o, s->file);
}

/* Returns an exit status. Without a verdict no report is written. */
static int check_with(const struct gate_options *o, struct gate_files *files,
                      struct gate_object *object, struct runner *runner) {
    const char *file = object->directory[0] != '\0' ? object->file : o->kernel;
    struct gate_result result;
    struct gate_report report = {o, runner_kernel(runner), &result};
    struct starting starting = {o, file};
    int status = EXIT_BAD_USE;
    if (gate_check(o, runner, start_one_more, &starting, &result, &interrupted) != 0 ||
        save_all(o, file, runner, &result) != 0) {
        gate_files_remove(files);
    } else {
        gate_print_text(stdout, &report);
        status = gate_files_write(files, &report) != 0 ? EXIT_BAD_USE : status_of(&result);
    }
    gate_result_free(&result);
    return status;
}

static int check(const struct gate_options *o) {
    struct gate_files files;
    struct gate_object object;
    struct runner *runner;
    if ((o->save != NULL && make_directory(o->save) != 0) || gate_files_open(&files, o) != 0) {
        return EXIT_BAD_USE;
    }
    catch_termination();
    catch_interrupt(); /* before there is anything to remove */
    if (start(o, &object, &runner) != 0) {
        gate_files_remove(&files);
        return interrupted ? EXIT_INTERRUPTED : EXIT_BAD_USE;
    }
    int status = check_with(o, &files, &object, runner);
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
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("chunkproof gate: the output could not be written\n", stderr);
        return EXIT_BAD_USE;
    }
    return status;
}

/* ---- chunkproof replay, chunkproof explain ---- */

static void print_finding(const struct gate_recipe *recipe, const struct gate_finding *f) {
    char line[GATE_LINE];
    gate_recipe_print(recipe, line);
    printf("%s%s%s: %s\n", gate_verdict_names[f->verdict], f->clause[0] != '\0' ? "; breaks " : "",
           f->clause, line);
    if (f->verdict != GATE_RIGHT) {
        printf("  %s\n", f->text);
    }
}

/* The outcome of a case. NOT_TAKEN: the kernel does not take it. NO_VERDICT: a message said why. */
enum came_of_it { RIGHT, WRONG, NOT_TAKEN, NO_VERDICT };

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
 * run_behind() does. */
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

/* alone: there is no other case, and more is said. */
static enum came_of_it run_case(const struct gate_options *o, struct runner *runner,
                                const struct replayed *r, int alone) {
    const struct gate_recipe *recipe = &r->one.recipe;
    struct gate_finding finding;
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_open(&text, &size);
    int ran = r->one.has_before ? run_with_before(out, o, runner, &r->one, &finding)
              : o->explain      ? gate_explain(out, runner, recipe, o->time, &interrupted, &finding)
                                : gate_check_recipe(runner, recipe, &finding);
    if (ran > 0 && finding.verdict == GATE_RIGHT && r->one.other_bits) {
        ran = run_elsewhere(out, o, runner, recipe, &finding);
    }
    text_close(out);
    if (ran > 0 && (finding.verdict != GATE_RIGHT || alone)) {
        if (r->one.line > 0) {
            printf("%s:%d: ", r->file, r->one.line);
        } else if (!alone) {
            printf("%s: ", r->file);
        }
        gate_name_lines(runner_file(runner), finding.text, sizeof finding.text);
        print_finding(recipe, &finding);
        fputs(text, stdout);
    }
    free(text);
    if (ran == 0 && alone) {
        char line[GATE_LINE];
        gate_recipe_print(recipe, line);
        fprintf(stderr, "chunkproof %s: the kernel does not take this case: %s: %s\n", o->command,
                line, finding.text);
    }
    return ran < 0                         ? NO_VERDICT
           : ran == 0                      ? NOT_TAKEN
           : finding.verdict == GATE_RIGHT ? RIGHT
                                           : WRONG;
}

/* One after the other: an exit status. */
static int run_cases(const struct gate_options *o, struct runner *runner,
                     const struct replayed *cases, int n_cases) {
    int n[NO_VERDICT + 1] = {0};
    for (int i = 0; i < n_cases && n[NO_VERDICT] == 0 && !interrupted; i++) {
        n[run_case(o, runner, &cases[i], n_cases == 1)]++;
    }
    if (interrupted) {
        return EXIT_INTERRUPTED;
    }
    if (n[NO_VERDICT] > 0) {
        return EXIT_BAD_USE;
    }
    if (n_cases > 1) {
        printf("%d of %d cases right, %d wrong, %d not taken\n", n[RIGHT], n_cases, n[WRONG],
               n[NOT_TAKEN]);
    }
    return n[WRONG] > 0 ? EXIT_FINDING : n[RIGHT] > 0 ? EXIT_RIGHT : EXIT_BAD_USE;
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
    if (n > 0 && start(o, &object, &runner) == 0) {
        status = run_cases(o, runner, cases, n);
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
        if (explains) {
            catch_interrupt();
        }
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

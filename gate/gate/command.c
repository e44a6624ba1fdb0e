/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof gate`: starts the kernel, checks it, reports. */
#define _POSIX_C_SOURCE 200809L /* sigaction */

#include "gate/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "gate/gate/compile.h"
#include "gate/gate/gate.h"

#define MOST_BYTES     ((size_t)2 << 30) /* of the buffers of a call, */
#define SHRINK_SECONDS 10.0              /* for each kind of finding */
#define MOST_HEAP      ((size_t)1 << 30) /* and of what a kernel allocates */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/* The first Ctrl-C ends the checking and prints what was found, a second one ends the process. */
static void catch_interrupt(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    sigaction(SIGINT, &action, NULL);
}

static int status_of(const struct gate_result *r) {
    if (r->verdicts[GATE_RIGHT] < r->cases) {
        return EXIT_FINDING;
    }
    if (r->interrupted) {
        return EXIT_INTERRUPTED;
    }
    return r->cases > 0 && !gate_claims_too_little(r) ? EXIT_RIGHT : EXIT_BAD_USE;
}

static int make_directory(const char *name) {
    if (mkdir(name, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "chunkproof gate: --save %s: the directory cannot be made: %s\n", name,
                strerror(errno));
        return -1;
    }
    return 0;
}

/* In a process that has run nothing before: 1 the same verdict, 0 another one, -1 after saying what is wrong. */
static int happens_alone(const struct gate_options *o, const char *file,
                         const struct gate_found *found) {
    struct run_limits limits = {o->seconds, MOST_BYTES, MOST_HEAP};
    struct gate_finding finding;
    struct runner *runner;
    char error[256];
    if (runner_new(&runner, "/proc/self/exe", file, &limits, error) != 0) {
        fprintf(stderr, "chunkproof gate: %s: %s\n", o->kernel, error);
        return -1;
    }
    int ran = gate_check_recipe(runner, &found->recipe, &finding);
    runner_free(runner);
    return ran <= 0 ? ran : finding.verdict == found->finding.verdict;
}

/* The smallest case of each verdict, made smaller and kept. */
static int save(const struct gate_options *o, const char *file, struct runner *runner,
                struct gate_result *r) {
    for (int i = GATE_RIGHT + 1; i < GATE_VERDICTS; i++) {
        struct gate_found *found = &r->found[i];
        if (r->verdicts[i] == 0) {
            continue;
        }
        struct gate_found original = *found;
        if (gate_shrink(runner, found, SHRINK_SECONDS, &interrupted) < 0) {
            return -1;
        }
        int alone = happens_alone(o, file, found);
        if (alone < 0) {
            return -1;
        }
        if (alone == 0) { /* a case that needs the calls before it is no use as a file */
            found->recipe = original.recipe;
            found->finding = original.finding;
            continue;
        }
        (void)snprintf(found->file, sizeof found->file, "%s/%s.json", o->save,
                       gate_verdict_names[i]);
        if (gate_case_save(found->file, found, runner_kernel(runner)) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The kernel, compiled if it is a source, in its process. 0, or -1 after saying what is wrong. */
static int start(const struct gate_options *o, struct gate_object *object, struct runner **runner) {
    struct run_limits limits = {o->seconds, MOST_BYTES, MOST_HEAP};
    const char *file = o->kernel;
    char error[256];
    if (gate_object_new(object, &file) != 0) {
        return -1;
    }
    if (runner_new(runner, "/proc/self/exe", file, &limits, error) != 0) {
        fprintf(stderr, "chunkproof gate: %s: %s\n", o->kernel, error);
        gate_object_free(object);
        return -1;
    }
    return 0;
}

static int check(const struct gate_options *o) {
    struct gate_object object;
    struct gate_result result;
    struct runner *runner;
    if (start(o, &object, &runner) != 0) {
        return EXIT_BAD_USE;
    }
    catch_interrupt();
    int status = EXIT_BAD_USE;
    if (gate_check(o, runner, &result, &interrupted) == 0 &&
        (o->save == NULL ||
         (make_directory(o->save) == 0 &&
          save(o, object.directory[0] != '\0' ? object.file : o->kernel, runner, &result) == 0))) {
        status = status_of(&result);
        gate_print_text(stdout, o, runner_kernel(runner), &result);
        if (o->json != NULL && gate_print_json(o->json, o, runner_kernel(runner), &result) != 0) {
            status = EXIT_BAD_USE;
        }
    }
    gate_result_free(&result);
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

/* The kernel whose results are explained. */
struct explaining {
    const struct cp_kernel *kernel;
};

static void explain(void *context, const struct gate_problem *problem,
                    const struct gate_arrays *arrays) {
    const struct explaining *explaining = context;
    gate_explain(stdout, explaining->kernel, problem, arrays);
}

static void print_finding(const struct gate_recipe *recipe, const struct gate_finding *f) {
    char line[GATE_LINE];
    gate_recipe_print(recipe, line);
    printf("%s%s%s: %s\n", gate_verdict_names[f->verdict], f->clause[0] != '\0' ? "; breaks " : "",
           f->clause, line);
    if (f->verdict != GATE_RIGHT) {
        printf("  %s\n", f->text);
    }
}

/* What came of it: an exit status. A result that is wrong is explained after the verdict, by a second run. */
static int run_case(const struct gate_options *o, struct runner *runner,
                    const struct gate_recipe *recipe) {
    struct gate_finding finding, again;
    struct explaining explaining = {runner_kernel(runner)};
    int ran = gate_check_recipe(runner, recipe, &finding);
    if (ran == 0) {
        char line[GATE_LINE];
        gate_recipe_print(recipe, line);
        fprintf(stderr, "chunkproof %s: the kernel does not take this case: %s\n", o->command,
                line);
    }
    if (ran <= 0) {
        return EXIT_BAD_USE;
    }
    print_finding(recipe, &finding);
    int computed = finding.verdict == GATE_WRONG || finding.verdict == GATE_NOT_A_NUMBER;
    if (o->explain && computed && gate_look(runner, recipe, &again, explain, &explaining) < 0) {
        return EXIT_BAD_USE;
    }
    return finding.verdict == GATE_RIGHT ? EXIT_RIGHT : EXIT_FINDING;
}

static int replay(const struct gate_options *o) {
    struct gate_recipe recipe;
    struct gate_object object;
    struct runner *runner;
    if (gate_case_load(o->replay, &recipe) != 0 || start(o, &object, &runner) != 0) {
        return EXIT_BAD_USE;
    }
    int status = run_case(o, runner, &recipe);
    runner_free(runner);
    gate_object_free(&object);
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
        gate_replay_help(stdout);
    } else {
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

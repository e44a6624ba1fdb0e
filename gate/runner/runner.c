/* SPDX-License-Identifier: Apache-2.0 */
/* The asking side: prepares a call, has it done, and checks what became of the memory.
 *
 * What the kernel does after attend() has returned is detected as long as its process lives. A
 * fault (no buffer may be accessed then) is detected in the time that child.c gives, or at the
 * next request. A change that came another way (from a process that attend() forked) is detected
 * at the next request. What the kernel does after the last call is not detected. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "gate/runner/runner.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/children.h"
#include "gate/runner/box.h"
#include "gate/runner/maps.h"
#include "gate/runner/words.h"

/* Loading gets this many seconds, or as many as a call. */
#define LOAD_SECONDS 5.0

struct runner {
    struct run_limits limits;
    char *program, *file; /* file is absolute: the loader looks for others elsewhere */
    struct run_process process;
    int processes;

    struct cp_kernel kernel; /* as the first process told it */
    int merges;              /* 1: it has `merging` instead */
    struct cp_merge_kernel merging;
    char name[RUN_TEXT];
    int simulated;
    unsigned contained;

    /* The content of out, lse and workspace after the last call; none when this process made no
     * call. */
    int called;
    struct run_layout layout;
    uint64_t hash[RUN_BUFFERS];
};

/* ---- Its life ---- */

static char *copy_string(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

/* Does the system have a box? A process that loads no kernel tries, once. Writes why not. */
static int has_box(const struct runner *runner, const struct run_limits *limits,
                   char text[RUN_TEXT]) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char why[RUN_TEXT];
    static int known, has;
    char none[] = "";
    struct run_process process;
    pthread_mutex_lock(&lock);
    run_process_init(&process);
    if (!known && run_process_start(&process, runner->program, none, limits, 1, why) == 0) {
        known = 1;
        has = run_process_await(&process, limits->seconds) == RUN_ANSWERED &&
              (process.control->contained & RUN_NO_OTHERS) != 0;
        run_box_explain(process.control, why);
    }
    run_process_free(&process);
    int result = has;
    snprintf(text, RUN_TEXT, "%s", why);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Is the kernel to be in a box? 1, 0, or -1 after writing why it cannot be. */
static int choose_box(const struct runner *runner, const struct run_limits *limits,
                      char text[RUN_TEXT]) {
    int box = 0;
    if (!run_box_is_left_out()) {
        box = has_box(runner, limits, text);
    } else {
        snprintf(text, RUN_TEXT,
                 "there is no sandbox while CHUNKPROOF_SANDBOX is \"off\"; unset it");
    }
    return box || !limits->sandbox ? box : -1;
}

/* Starts a process and has it load the kernel. */
static int start(struct runner *runner, char text[RUN_TEXT]) {
    double seconds = runner->limits.seconds;
    struct run_limits limits = runner->limits;
    struct run_process *process = &runner->process;
    if (limits.stamp != NULL && !file_stamp_is(limits.stamp, runner->file)) {
        snprintf(text, RUN_TEXT,
                 "%s: the file was replaced during the run, so there is no verdict on either",
                 run_short_name(runner->file));
        return -1;
    }
    limits.seconds = seconds > LOAD_SECONDS ? seconds : LOAD_SECONDS;
    int box = choose_box(runner, &limits, text);
    if (box < 0 ||
        run_process_start(process, runner->program, runner->file, &limits, box, text) != 0) {
        return -1;
    }
    runner->processes++;
    runner->called = 0;
    enum run_answer answer = run_process_await(process, limits.seconds);
    if (answer != RUN_ANSWERED) {
        run_process_end(process); /* its status is wanted */
    }
    if (run_check_load(process, answer, runner->file, text) != 0) {
        run_process_free(process);
        return -1;
    }
    if (process->control->simulated) {
        runner->limits.seconds = runner->limits.simulated;
    }
    process->control->limits = runner->limits;
    return 0;
}

static void keep_kernel(struct runner *runner) {
    const struct run_control *control = runner->process.control;
    snprintf(runner->name, sizeof runner->name, "%.255s", control->name);
    runner->kernel = control->kernel;
    runner->kernel.name = runner->name;
    runner->simulated = control->simulated;
    runner->contained = control->contained;
    runner->contained |= runner->process.tasks > 0 ? RUN_FEW_PROCESSES : 0; /* they are counted */
    if (children_are_adopted() || (runner->contained & RUN_NO_OTHERS) != 0) {
        runner->contained |= RUN_NO_ORPHANS;
    }
    runner->kernel.refuses = NULL;
    runner->kernel.workspace = NULL;
    runner->kernel.attend = NULL;
    runner->merges = control->merges;
    runner->merging = control->merging;
    runner->merging.name = runner->name;
    runner->merging.refuses = NULL;
    runner->merging.workspace = NULL;
    runner->merging.merge = NULL;
}

/* The rest of runner_new(), once there is a runner. */
static int begin(struct runner *runner, const char *program, const char *kernel_file,
                 char text[RUN_TEXT]) {
    runner->program = copy_string(program);
    runner->file = realpath(kernel_file, NULL);
    if (runner->program == NULL || runner->file == NULL) {
        snprintf(text, RUN_TEXT, "%s: %s; give the path of a shared object",
                 run_short_name(kernel_file), strerror(errno));
        return -1;
    }
    if (start(runner, text) != 0) {
        return -1;
    }
    keep_kernel(runner);
    return 0;
}

int runner_new(struct runner **runner, const char *program, const char *kernel_file,
               const struct run_limits *limits, char *error) {
    struct runner *r = calloc(1, sizeof *r);
    *runner = NULL;
    if (r == NULL) {
        snprintf(error, RUN_TEXT, "not enough memory");
        return -1;
    }
    run_process_init(&r->process);
    r->limits = *limits;
    if (begin(r, program, kernel_file, error) != 0) {
        runner_free(r);
        return -1;
    }
    *runner = r;
    return 0;
}

int runner_again(struct runner **again, const struct runner *runner, char *error) {
    return runner_new(again, runner->program, runner->file, &runner->limits, error);
}

void runner_free(struct runner *runner) {
    if (runner != NULL) {
        run_process_free(&runner->process);
        free(runner->program);
        free(runner->file);
        free(runner);
    }
}

void runner_declare(struct runner *runner, const struct cp_kernel *other) {
    runner->kernel.layout = other->layout;
    runner->kernel.cache = other->cache;
    runner->kernel.conventions.invariant = other->conventions.invariant;
}

const struct cp_kernel *runner_kernel(const struct runner *runner) {
    return &runner->kernel;
}

const struct cp_merge_kernel *runner_merge_kernel(const struct runner *runner) {
    return runner->merges ? &runner->merging : NULL;
}

unsigned runner_contained(const struct runner *runner) {
    return runner->contained;
}

double runner_memory(const struct runner *runner) {
    return (double)runner->limits.bytes;
}

double runner_seconds(const struct runner *runner) {
    return runner->limits.seconds;
}

const char *runner_file(const struct runner *runner) {
    return runner->file;
}

int runner_is_simulated(const struct runner *runner) {
    return runner->simulated;
}

void runner_restart(struct runner *runner) {
    run_process_end(&runner->process);
    runner->called = 0;
}

int runner_processes(const struct runner *runner) {
    return runner->processes;
}

int runner_digest(const struct runner *runner, struct run_digests *digests, char *error) {
    return run_maps_digest(run_process_worker(&runner->process), runner->file, digests, error);
}

/* ---- Between two requests ---- */

static void remember(struct runner *runner) {
    const unsigned char *arena = runner->process.arena;
    runner->called = 1;
    runner->layout = runner->process.control->layout;
    for (int b = RUN_OUT; b < RUN_BUFFERS; b++) {
        runner->hash[b] = run_place_hash(&runner->layout.place[b], arena);
    }
}

/* The buffer that has changed since the last call; -1 when none has. */
static int changed_since(const struct runner *runner) {
    for (int b = RUN_OUT; runner->called && b < RUN_BUFFERS; b++) {
        const struct run_place *place = &runner->layout.place[b];
        if (run_place_hash(place, runner->process.arena) != runner->hash[b]) {
            return b;
        }
    }
    return -1;
}

enum ready { READY, FOUND, NO_PROCESS };

/* Makes sure that there is a process to ask. FOUND: the last process did something after it had
 * answered; the report says what, and the request is not made. */
static enum ready get_ready(struct runner *runner, struct run_report *report) {
    struct run_process *process = &runner->process;
    memset(report, 0, sizeof *report);
    if (process->pid == 0) {
        return start(runner, report->text) == 0 ? READY : NO_PROCESS;
    }
    int changed = changed_since(runner);
    if (changed >= 0) {
        report->outcome = RUN_WROTE_LATE;
        snprintf(report->text, sizeof report->text,
                 "wrote to %s after it had returned from the call before this one",
                 run_buffer_names[changed]);
    } else if (run_process_disturbed(process)) {
        run_explain(process, RUN_DISTURBED, report);
    } else {
        return READY;
    }
    run_process_end(process);
    return FOUND;
}

/* Makes the request. 0: it was answered; else the process has ended, and the report says why. */
static int request(struct runner *runner, enum run_request kind, struct run_report *report) {
    struct run_process *process = &runner->process;
    double began = seconds_now();
    process->control->request = kind;
    run_process_ask(process);
    enum run_answer answer = run_process_await(process, runner->limits.seconds + RUN_LATE_SECONDS);
    report->seconds = seconds_now() - began;
    if (answer != RUN_ANSWERED) {
        run_process_end(process);
        run_explain(process, answer, report);
        return -1;
    }
    return 0;
}

/* ---- Requests ---- */

/* NULL: there is no process to ask, and the report says why; else what it shares. */
static struct run_control *begin_asking(struct runner *runner, char *reason, size_t *workspace,
                                        struct run_report *report) {
    reason[0] = '\0';
    *workspace = 0;
    return get_ready(runner, report) == READY ? runner->process.control : NULL;
}

static int ask(struct runner *runner, char *reason, size_t *workspace, struct run_report *report) {
    const struct run_control *control = runner->process.control;
    if (request(runner, RUN_REQUEST_ASK, report) != 0) {
        return -1;
    }
    snprintf(reason, RUN_TEXT, "%.255s", control->text);
    *workspace = control->workspace;
    return 0;
}

int runner_ask(struct runner *runner, const struct cp_kernel_call *call, char *reason,
               size_t *workspace, struct run_report *report) {
    struct run_control *control = begin_asking(runner, reason, workspace, report);
    if (control == NULL) {
        return -1;
    }
    control->asked = *call;
    return ask(runner, reason, workspace, report);
}

int runner_ask_merge(struct runner *runner, const struct cp_merge_call *call, char *reason,
                     size_t *workspace, struct run_report *report) {
    struct run_control *control = begin_asking(runner, reason, workspace, report);
    if (control == NULL) {
        return -1;
    }
    control->asked_merge = *call;
    return ask(runner, reason, workspace, report);
}

/* Places the buffers and fills them. -1: they do not fit, or there is not enough memory. */
static int prepare(struct runner *runner, const struct run_call *call, struct run_report *report) {
    struct run_process *process = &runner->process;
    struct run_control *control = process->control;
    if (run_process_reserve(process, &control->layout) != 0) {
        snprintf(report->text, sizeof report->text, "not enough memory for the buffers: %s",
                 strerror(errno));
        return -1;
    }
    run_layout_fill(&control->layout, process->arena, call);
    control->asked = call->call;
    if (call->merge != NULL) {
        control->asked_merge = *call->merge;
    }
    control->poison = call->poison;
    memcpy(control->far, call->far, sizeof control->far);
    for (int i = 0; i < call->far[0].n && i < RUN_FAR_CHUNKS; i++) {
        control->far_number[i] = call->far_number != NULL ? call->far_number[i] : i;
    }
    return 0;
}

/* Checks an answer: is the memory unchanged except for the results? */
static void judge(const struct run_process *process, const struct run_call *call,
                  struct run_report *report) {
    const struct run_control *control = process->control;
    struct run_spot spot;
    report->seconds = control->seconds;
    if (run_layout_changed(&control->layout, process->arena, call, &spot) == 0) {
        run_explain_change(&spot, report);
    } else if (control->outcome != RUN_DONE) {
        report->outcome = control->outcome;
        snprintf(report->text, sizeof report->text, "%.*s", RUN_TEXT - 1, control->text);
    } else if (control->seconds > control->limits.seconds &&
               control->worked > control->limits.seconds) {
        run_explain(process, RUN_NOT_IN_TIME, report);
    } else if (control->status != 0) {
        report->outcome = RUN_RETURNED;
        snprintf(report->text, sizeof report->text, "returned %d", control->status);
    } else {
        report->outcome = RUN_DONE;
        snprintf(report->text, sizeof report->text, "returned 0");
    }
}

/* As take() when nothing was run. */
static void leave_poison(const struct run_call *call) {
    if (call->bytes[RUN_OUT] > 0) {
        memset(run_result(call, RUN_OUT), call->poison, call->bytes[RUN_OUT]);
    }
    if (call->bytes[RUN_LSE] > 0) {
        memset(run_result(call, RUN_LSE), call->poison, call->bytes[RUN_LSE]);
    }
}

/* 1: done, 0: the system gave its process no memory, -1: there is none. The report says which. */
static int run(struct runner *runner, const struct run_call *call, struct run_report *report) {
    struct run_process *process = &runner->process;
    if (prepare(runner, call, report) != 0) {
        return -1;
    }
    if (request(runner, RUN_REQUEST_ATTEND, report) == 0) {
        if (process->control->no_memory) {
            snprintf(report->text, sizeof report->text, "%.255s", process->control->text);
            run_process_end(process);
            return 0;
        }
        judge(process, call, report);
        if (report->outcome != RUN_DONE && report->outcome != RUN_RETURNED) {
            run_process_end(process);
        }
    }
    run_layout_take(&process->control->layout, process->arena, call);
    if (process->pid != 0) {
        remember(runner);
    }
    return 1;
}

/* A kernel may have used up what its process may have, or lowered its limits: then a new process
 * has what it needs. */
int runner_run(struct runner *runner, const struct run_call *call, struct run_report *report) {
    struct run_layout layout;
    memset(report, 0, sizeof *report);
    if (run_layout_make(&layout, call, runner->limits.bytes) == SIZE_MAX) {
        snprintf(report->text, sizeof report->text,
                 "the buffers have more than %zu bytes, the limit of a call", runner->limits.bytes);
        return -1;
    }
    for (int fresh = 0; fresh < 2; fresh++) {
        enum ready ready = get_ready(runner, report);
        if (ready != READY) {
            leave_poison(call);
            return ready == FOUND ? 0 : -1;
        }
        runner->process.control->layout = layout;
        int ran = run(runner, call, report);
        if (ran != 0) {
            return ran > 0 ? 0 : -1;
        }
    }
    return -1;
}

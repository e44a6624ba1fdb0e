/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* SI_KERNEL */

#include "gate/runner/words.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *const run_outcome_names[RUN_OUTCOMES] = {
    "done",   "returned", "out-of-bounds", "wrote-input", "wrote-beside", "wrote-late",
    "signal", "exited",   "timed-out",     "raced",       "undefined",
};

const char *run_short_name(const char *file) {
    size_t length = strlen(file);
    return length > 80 ? file + length - 80 : file;
}

static enum run_phase phase_of(const struct run_control *control) {
    return (int)control->phase >= 0 && control->phase < RUN_PHASES ? control->phase : RUN_STARTING;
}

/* Adds to a text what still fits. */
__attribute__((format(printf, 2, 3))) static void add(char text[RUN_TEXT], const char *format,
                                                      ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, RUN_TEXT - length, format, arguments);
    va_end(arguments);
}

/* ---- Places ---- */

/* Adds how far a place is from the buffer, then ", at byte 4100 of 4096". */
static void add_spot(char text[RUN_TEXT], const struct run_spot *spot) {
    const char *name = run_buffer_names[spot->buffer];
    long long behind = spot->offset - (long long)spot->bytes;
    if (spot->offset < 0) {
        add(text, "%lld byte%s before the start of %s", -spot->offset,
            spot->offset == -1 ? "" : "s", name);
    } else if (behind == 0) {
        add(text, "just past the end of %s", name);
    } else if (behind > 0) {
        add(text, "%lld byte%s past the end of %s", behind, behind == 1 ? "" : "s", name);
    } else {
        add(text, "%s", name);
    }
    add(text, ", at byte %lld of %zu", spot->offset, spot->bytes);
}

static int is_inside(const struct run_spot *spot) {
    return spot->offset >= 0 && spot->offset < (long long)spot->bytes;
}

void run_explain_change(const struct run_spot *spot, struct run_report *report) {
    report->text[0] = '\0';
    if (is_inside(spot)) {
        report->outcome = RUN_WROTE_INPUT;
        add(report->text, "wrote to ");
        add_spot(report->text, spot);
        add(report->text, ", which is read-only and was made writable");
    } else {
        report->outcome = RUN_WROTE_BESIDE;
        add(report->text, "wrote ");
        add_spot(report->text, spot);
    }
}

/* ---- Faults ---- */

static const char *const verbs[] = {"touched", "read", "wrote", "jumped to"};

static const char *verb_of(const struct run_fault *fault) {
    return (int)fault->access >= 0 && fault->access <= RUN_JUMPED ? verbs[fault->access]
                                                                  : verbs[RUN_TOUCHED];
}

/* An address in or near a buffer. Where the processor does not say whether the access was a
 * write, the buffer tells: an input may be read, so it was a write. */
static void explain_spot(const struct run_control *control, struct run_report *report) {
    const struct run_fault *fault = &control->fault;
    const struct run_spot *spot = &fault->spot;
    int may_write = fault->access == RUN_WROTE || fault->access == RUN_TOUCHED;
    int late = phase_of(control) == RUN_RETURNED_FROM;
    int input = may_write && phase_of(control) == RUN_IN_ATTEND && is_inside(spot) &&
                run_read_only(spot->buffer);
    report->outcome = RUN_OUT_OF_BOUNDS;
    if (input) {
        report->outcome = RUN_WROTE_INPUT;
    } else if (is_inside(spot) && may_write && late) {
        report->outcome = RUN_WROTE_LATE;
    }
    add(report->text, "%s ",
        report->outcome == RUN_OUT_OF_BOUNDS ? verb_of(fault) : verbs[RUN_WROTE]);
    if (is_inside(spot) && fault->access == RUN_WROTE) {
        add(report->text, "to ");
    }
    add_spot(report->text, spot);
    if (input) {
        add(report->text, ", which is read-only");
    } else if (is_inside(spot) && !late) {
        add(report->text, ", which must not be accessed at that time");
    }
}

static void explain_address(const struct run_control *control, struct run_report *report) {
    const struct run_fault *fault = &control->fault;
    add(report->text, "%s address 0x%llx, which is in no buffer", verb_of(fault), fault->address);
    if (fault->address < 65536) {
        add(report->text,
            ": a null pointer, perhaps from a failed allocation (its limit is %zu MiB)",
            control->limits.heap >> 20);
    }
}

/* Between chunks, or beside them all. */
static void explain_far(const struct run_control *control, struct run_report *report) {
    const struct run_spot *spot = &control->fault.spot;
    const char *name = run_buffer_names[spot->buffer];
    const struct run_far *far = &control->far[spot->buffer - RUN_K];
    char pool[64] = "";
    if (far->pool > 0) {
        (void)snprintf(pool, sizeof pool, ", and there are %d of them", far->pool);
    }
    add(report->text,
        "%s %lld bytes %s the start of %s, where there is no chunk: chunks are %zu bytes apart%s, "
        "so 32 bits cannot hold %s_chunk times a chunk number",
        verb_of(&control->fault), llabs(spot->offset), spot->offset < 0 ? "before" : "after", name,
        far->stride, pool, name);
}

static void explain_fault(const struct run_control *control, struct run_report *report) {
    const struct run_fault *fault = &control->fault;
    report->outcome = RUN_OUT_OF_BOUNDS;
    if (fault->code <= 0) {
        report->outcome = RUN_SIGNAL;
        add(report->text, "was sent signal %d (%s)", fault->signal, strsignal(fault->signal));
    } else if (fault->code == SI_KERNEL) {
        add(report->text, "used an address that no memory can have, or one that is not aligned as "
                          "its instruction requires");
    } else if (fault->where == RUN_IN_ARENA && fault->spot.buffer >= 0 &&
               fault->spot.buffer < RUN_BUFFERS) {
        explain_spot(control, report);
    } else if (fault->where == RUN_FAR && fault->spot.buffer >= 0 &&
               fault->spot.buffer < RUN_BUFFERS) {
        explain_far(control, report);
    } else if (fault->where == RUN_IN_CALL) {
        report->outcome = RUN_WROTE_INPUT;
        add(report->text, "wrote to the call itself (struct cp_%s_call), which is read-only",
            control->merges ? "merge" : "kernel");
    } else if (fault->where == RUN_IN_DEVICE && fault->spot.buffer >= 0 &&
               fault->spot.buffer < RUN_BUFFERS) {
        add(report->text, "%s ", verb_of(fault));
        add_spot(report->text, &fault->spot);
        add(report->text, ", on the host, but it is in the device's memory");
    } else if (fault->where == RUN_BELOW_STACK) {
        report->outcome = RUN_SIGNAL;
        add(report->text,
            "ran out of stack (%llu MiB): large local arrays, or an endless recursion",
            control->stack_size >> 20);
    } else {
        explain_address(control, report);
    }
}

/* ---- Ends ---- */

static const char *hint_of(int signal) {
    switch (signal) {
    case SIGABRT:
        return ": abort(), a failed assertion, or an exception that nobody caught";
    case SIGFPE:
        return ": most likely an integer division by 0";
    case SIGILL:
        return ": an instruction that this processor does not have";
    case SIGKILL:
        return ": sent from outside; perhaps the system ran out of memory";
    case SIGSEGV:
    case SIGBUS:
        return ": in a thread without a stack, or the kernel catches this signal itself";
    default:
        return "";
    }
}

static void explain_end(const struct run_process *process, struct run_report *report) {
    const struct run_control *control = process->control;
    int signal = WIFSIGNALED(process->status) ? WTERMSIG(process->status) : 0;
    if (signal == SIGXCPU) {
        report->outcome = RUN_TIMED_OUT;
        add(report->text, "used more processor time than it may");
    } else if (signal != 0) {
        report->outcome = RUN_SIGNAL;
        add(report->text, "died of signal %d (%s)%s", signal, strsignal(signal), hint_of(signal));
    } else if (control->socket_closed) {
        report->outcome = RUN_EXITED;
        add(report->text, "closed file descriptors that are not its own, so its process could not "
                          "answer any more");
    } else {
        report->outcome = RUN_EXITED;
        add(report->text, "ended the process: exit(%d)", WEXITSTATUS(process->status));
    }
}

/* Names the function, unless it is attend(). */
static void add_who(const struct run_control *control, char text[RUN_TEXT]) {
    static const char *const who[RUN_PHASES] = {
        [RUN_IN_REFUSES] = "refuses() ",
        [RUN_IN_WORKSPACE] = "workspace() ",
    };
    const char *name = who[phase_of(control)];
    add(text, "%s", name != NULL ? name : "");
}

static void add_when(const struct run_control *control, char text[RUN_TEXT]) {
    if (phase_of(control) == RUN_RETURNED_FROM) {
        add(text, ", after it had returned%s",
            control->serving == control->number ? "" : " from the call before this one");
    }
}

void run_explain(const struct run_process *process, enum run_answer answer,
                 struct run_report *report) {
    const struct run_control *control = process->control;
    report->text[0] = '\0';
    add_who(control, report->text);
    if (control->fault.happened) {
        explain_fault(control, report);
        add_when(control, report->text);
    } else if (answer == RUN_DISTURBED) {
        report->outcome = RUN_EXITED;
        add(report->text, "wrote to a file descriptor that is not its own: its process sends its "
                          "answers through it");
    } else if (answer == RUN_NOT_IN_TIME) {
        report->outcome = RUN_TIMED_OUT;
        add(report->text, "had not returned after %g s", control->limits.seconds);
    } else if (answer == RUN_CROWDED || control->crowded) {
        report->outcome = RUN_SIGNAL;
        add(report->text, "started more than %d processes", RUN_MOST_TASKS);
    } else if (answer == RUN_TOO_LARGE) {
        report->outcome = RUN_SIGNAL;
        add(report->text, "used more memory than it may: %zu MiB besides the buffers of the call",
            control->limits.heap >> 20);
    } else {
        explain_end(process, report);
        add_when(control, report->text);
    }
}

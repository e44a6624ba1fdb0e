/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel in a process of its own. Whatever it does there, the process that asks goes on: it is
 * told what happened, and the next call starts a new process if the old one is not to be trusted
 * any more.
 *
 * The other process is this program once more (`chunkproof --run-kernel FILE FD`, child.c). Both
 * have an arena of memory in common. For each call every buffer has pages of its own in it, with a
 * page that nobody may touch on both sides; inputs may only be read there, results and workspace
 * are filled with `poison` before. The rest of the arena may not be touched at all. Nothing that
 * the kernel could copy its answer from is in that process. */
#ifndef CHUNKPROOF_GATE_RUNNER_RUNNER_H
#define CHUNKPROOF_GATE_RUNNER_RUNNER_H

#include <stddef.h>

#include "chunkproof/kernel.h"

/* The buffers of a call, in the order of struct cp_kernel_call. */
enum run_buffer {
    RUN_N_TOKENS,
    RUN_QUERY_BEGIN,
    RUN_TABLE,
    RUN_SHARED,
    RUN_N_SHARED_CHUNKS,
    RUN_Q,
    RUN_K,
    RUN_V,
    RUN_OUT,
    RUN_LSE,
    RUN_WORKSPACE,
    RUN_BUFFERS
};

extern const char *const run_buffer_names[RUN_BUFFERS]; /* as the fields are called */

enum run_outcome {
    RUN_DONE,
    RUN_RETURNED,      /* attend() returned another number than 0 */
    RUN_OUT_OF_BOUNDS, /* touched what lies beside a buffer, or memory that is nobody's */
    RUN_WROTE_INPUT,   /* wrote to a buffer that is read-only (also one that got another way around)
                        */
    RUN_WROTE_BESIDE,  /* the bytes between a buffer and its pages' ends are not what they were */
    RUN_WROTE_LATE,    /* out, lse or workspace changed after it had returned */
    RUN_SIGNAL,        /* died of any other signal */
    RUN_EXITED,        /* ended the process */
    RUN_TIMED_OUT,
    RUN_RACED,     /* on a device: threads that nothing orders touched the same bytes */
    RUN_UNDEFINED, /* on a device: what CUDA does not define, or an error of it */
    RUN_OUTCOMES
};

extern const char
    *const run_outcome_names[RUN_OUTCOMES]; /* "done", "returned", "out-of-bounds", ... */

struct run_limits {
    double seconds;   /* of one call, */
    double simulated; /* and of one on the executor of CUDA kernels */
    size_t bytes;     /* of all buffers of a call */
    size_t heap;      /* that the kernel may allocate itself */
};

/* Chunks of K or V that the kernel gets far apart (far.h): n of `chunk` bytes, which are whole
 * pages and here one behind the other, `stride` bytes, or `elements`, apart. n is 0: as they are
 * here. */
struct run_far {
    int n;
    size_t chunk, stride;
    long long elements;
};

/* The pointers of `call` are the caller's memory, of bytes[] bytes: contents of inputs, and where
 * the results go (out and lse; workspace may be NULL, its size is workspace_size). bytes[RUN_LSE]
 * is 0 and lse NULL when it is not asked for. */
struct run_call {
    struct cp_kernel_call call; /* strides as they are here */
    size_t bytes[RUN_BUFFERS];
    struct run_far far[2]; /* of K, of V: both or none; in host memory alone */
    int at_end; /* 1: buffers end where the page that nobody may touch begins (up to alignment to 64
                   bytes at their beginning), so that reading on is seen; 0: they begin there */
    unsigned char poison; /* each byte of out, lse, workspace and of the gaps; and the order in
                             which a device that has no order of its own runs threads and blocks */
    unsigned char other_workspace; /* on the host bytes other_begin .. other_end - 1 of workspace
                                      are poison ^ this */
    size_t other_begin, other_end;
};

/* Bytes of a text, with its end. */
#define RUN_TEXT 1024

struct run_report {
    enum run_outcome outcome;
    double seconds;
    char text[RUN_TEXT]; /* what happened, in a sentence: "wrote 4 bytes behind the end of out, at
                            byte 4096 of 4096" */
};

struct runner;

/* Starts the process, which loads the kernel. Returns 0, or -1 after writing into error (at most
 * RUN_TEXT bytes) what is wrong and how to mend it: no such file, not a shared object (dlerror's
 * own words), no symbol cp_kernel, another ABI, a type that is none, attend is NULL, ... `program`
 * is the path of this program ("/proc/self/exe" of the command). */
int runner_new(struct runner **runner, const char *program, const char *kernel_file,
               const struct run_limits *limits, char *error);
void runner_free(struct runner *runner); /* takes NULL; ends the process */

/* What the kernel says of itself; name is a copy, the functions are NULL. */
const struct cp_kernel *runner_kernel(const struct runner *runner);

/* The file that it is in. */
const char *runner_file(const struct runner *runner);

/* Does it run on the executor of CUDA kernels (kernels/simt), and not on a device? */
int runner_is_simulated(const struct runner *runner);

/* Bytes of a case, as the limits say. */
double runner_memory(const struct runner *runner);

/* Asks refuses(), and workspace() when it is not refused, with the sizes of `call` (arrays are
 * NULL). Returns 0 and writes the reason ("" when the call is taken; at most RUN_TEXT bytes) and
 * the size; or -1: it misbehaved, see report. */
int runner_ask(struct runner *runner, const struct cp_kernel_call *call, char *reason,
               size_t *workspace, struct run_report *report);

/* Runs attend(). After anything but RUN_DONE and RUN_RETURNED the next call starts a new process.
 * Returns 0, or -1 when there is no verdict: the system gave no memory or no process, or the
 * buffers are larger than the limit; report.text says which. The results are copied out whatever
 * the outcome. */
int runner_run(struct runner *runner, const struct run_call *call, struct run_report *report);

/* The next call is the first of a new process. */
void runner_restart(struct runner *runner);

/* How many processes were started so far. */
int runner_processes(const struct runner *runner);

/* The other process: what `chunkproof --run-kernel` does. Returns its exit status. */
int runner_child(int argc, char **argv);

#endif

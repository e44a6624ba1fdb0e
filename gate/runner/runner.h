/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a kernel in a process of its own. Whatever the kernel does there, the asking process goes
 * on: it learns what happened, and the next call starts a new process if the old one can no longer
 * be trusted.
 *
 * The kernel's process is this program once more (`chunkproof --run-kernel FILE FD`, child.c). Both
 * processes share an arena of memory. For each call every buffer has pages of its own in the arena,
 * with memory on both sides that nobody may touch. Inputs are read-only there; results and
 * workspace are filled with `poison` first. Nobody may touch the rest of the arena. The kernel's
 * process holds nothing that the kernel could copy its answer from. */
#ifndef CHUNKPROOF_GATE_RUNNER_RUNNER_H
#define CHUNKPROOF_GATE_RUNNER_RUNNER_H

#include <stddef.h>

#include "chunkproof/kernel.h"
#include "chunkproof/merge_kernel.h"
#include "cli/base/stamp.h"

/* The buffers of a call, in the order of struct cp_kernel_call; part_begin, o and l are those of
 * struct cp_merge_call, which has out, lse and workspace, too. */
enum run_buffer {
    RUN_N_TOKENS,
    RUN_QUERY_BEGIN,
    RUN_POSITION,
    RUN_TABLE,
    RUN_TABLE_TOKENS,
    RUN_TABLE_POSITION,
    RUN_PAGE_TABLE,
    RUN_PAGE_BEGIN,
    RUN_PAGE_LIST,
    RUN_LAST_PAGE_TOKENS,
    RUN_SERVED,
    RUN_SHARED,
    RUN_N_SHARED_CHUNKS,
    RUN_PART_BEGIN,
    RUN_Q,
    RUN_K,
    RUN_V,
    RUN_ROTATION,
    RUN_MASK_BITS,
    RUN_MASK_FIRST,
    RUN_MASK_BEGIN,
    RUN_SLOPES,
    RUN_BIASES,
    RUN_SINKS,
    RUN_K_SCALES,
    RUN_V_SCALES,
    RUN_O,
    RUN_L,
    RUN_N,
    RUN_OUT,
    RUN_LSE,
    RUN_WORKSPACE,
    RUN_BUFFERS
};

extern const char *const run_buffer_names[RUN_BUFFERS]; /* as the fields are called */

enum run_outcome {
    RUN_DONE,
    RUN_RETURNED,      /* attend(), or merge(), returned another number than 0 */
    RUN_OUT_OF_BOUNDS, /* touched memory outside every buffer */
    /* Wrote to a read-only buffer, also by another mapping of it. */
    RUN_WROTE_INPUT,
    RUN_WROTE_BESIDE, /* changed bytes between a buffer and the ends of its pages */
    RUN_WROTE_LATE,   /* out, lse or workspace changed after attend() had returned */
    RUN_SIGNAL,       /* died of another signal */
    RUN_EXITED,       /* ended the process */
    RUN_TIMED_OUT,
    RUN_RACED,     /* on a device: threads that nothing orders touched the same bytes */
    RUN_UNDEFINED, /* on a device: behaviour that CUDA leaves undefined, or an error */
    RUN_OUTCOMES
};

extern const char
    *const run_outcome_names[RUN_OUTCOMES]; /* "done", "returned", "out-of-bounds", ... */

struct run_limits {
    double seconds;   /* for one call */
    double simulated; /* for one call on the executor of CUDA kernels */
    size_t bytes;     /* of all buffers of a call */
    size_t heap;      /* that the kernel may allocate itself */
    /* What the kernel's file must be each time that a process loads it; NULL: whatever it is. */
    const struct file_stamp *stamp;
    int sandbox; /* 1: no kernel runs without the box (box.h); 0: in one where the system has it */
};

/* Chunks of K or V that the kernel gets at other distances (far.h). There are n chunks of `chunk`
 * bytes, which are whole pages and follow one another in the arena. The kernel gets chunk i
 * far_number[i] times `stride` bytes, or `elements` elements, from the first; where far_number is
 * NULL, i times. pool = 0: nothing between them may be read. Else there are so many chunks, and
 * those that the arena lacks are zeros. n = 0: the kernel gets all as they lie in the arena. */
struct run_far {
    int n, pool;
    size_t chunk, stride;
    long long elements;
    long long v_offset; /* of K: where V begins then, if it is in the same memory */
};

#define RUN_FAR_CHUNKS 1000 /* at most: each is a mapping of its own */

/* A call. Its pointers are the caller's memory, of bytes[] bytes: the contents of inputs, and the
 * places for out and lse. workspace may be NULL; its size is workspace_size. When no log-sum-exp is
 * asked for, lse is NULL and bytes[RUN_LSE] is 0. */
struct run_call {
    struct cp_kernel_call call; /* strides as in the caller's memory */
    /* Of a kernel that merges: its call, instead of the one above. NULL: attention. */
    const struct cp_merge_call *merge;
    int in_place; /* 1: out and lse begin with what the caller has there, and not with poison */
    size_t bytes[RUN_BUFFERS];
    struct run_far far[2]; /* of K and of V: both far or neither, where V is not in the memory of
                            * K (v_offset); in host memory alone */
    const int *far_number; /* [n] */
    /* 1: each buffer ends where its guard begins (up to alignment to 64 bytes at its beginning), so
     * that reading on is seen. 0: each buffer begins where its guard ends. */
    int at_end;
    /* Each byte of out, lse, workspace and the gaps. It also decides the order of threads and
     * blocks on a device that has no order of its own. */
    unsigned char poison;
    /* On the host, bytes other_begin .. other_end - 1 of workspace are poison ^ other_workspace. */
    unsigned char other_workspace;
    size_t other_begin, other_end;
};

/* Bytes of a text, with the 0 at its end. */
#define RUN_TEXT 1024

struct run_report {
    enum run_outcome outcome;
    double seconds;
    /* What happened, in a sentence: "wrote 4 bytes behind the end of out, at byte 4096 of 4096". */
    char text[RUN_TEXT];
};

struct runner;

/* Starts the process, which loads the kernel. Returns 0, or -1 after writing into error (at most
 * RUN_TEXT bytes) what is wrong and how to mend it: no such file, not a shared object (dlerror's
 * own words), no symbol cp_kernel, another ABI, an invalid type, attend is NULL, ... `program` is
 * the path of this program ("/proc/self/exe" for the command). */
int runner_new(struct runner **runner, const char *program, const char *kernel_file,
               const struct run_limits *limits, char *error);
/* One more, with the same program, kernel and limits. */
int runner_again(struct runner **again, const struct runner *runner, char *error);

void runner_free(struct runner *runner); /* takes NULL; ends the process */

/* What the kernel says of itself. name is a copy, and the functions are NULL. */
const struct cp_kernel *runner_kernel(const struct runner *runner);

/* The same of a kernel that merges; NULL: it computes attention. */
const struct cp_merge_kernel *runner_merge_kernel(const struct runner *runner);

/* What the system lets the gate do to hold a kernel (contain.h, process.h, box.h). */
enum run_contained {
    RUN_NO_WRITES = 1,     /* it changes no file, and makes none */
    RUN_NO_TCP = 2,        /* it has no TCP */
    RUN_NO_SIGNALS = 4,    /* it signals no other process */
    RUN_FEW_PROCESSES = 8, /* it has some thousand processes and threads at most */
    RUN_NO_ORPHANS = 16,   /* what it leaves behind is ended */
    /* The box (box.h): */
    RUN_NO_NETWORK = 32,     /* no network, and no abstract socket of others */
    RUN_NO_OTHERS = 64,      /* it sees no other process, and nothing of it outlives the gate */
    RUN_NO_IPC = 128,        /* System V memory and the like is its own, and ends with it */
    RUN_NO_ATTRIBUTES = 256, /* it changes no file's mode, owner, times and attributes */
    RUN_NO_HANDLERS = 512    /* it does not hide its faults (filter.h) */
};
unsigned runner_contained(const struct runner *runner);

/* As if the kernel declared the layout, the cache and the invariance of this one, and no others:
 * for who tries what it may have meant. */
void runner_declare(struct runner *runner, const struct cp_kernel *other);

/* The file that the kernel is in. */
const char *runner_file(const struct runner *runner);

/* Does the kernel run on the executor of CUDA kernels (kernels/simt), and not on a GPU? */
int runner_is_simulated(const struct runner *runner);

/* The most bytes of a case, as the limits say. */
double runner_memory(const struct runner *runner);

/* How many seconds a call may take. */
double runner_seconds(const struct runner *runner);

/* How many bytes the system can give without ending a program: of its memory, and of what limits
 * this process (cgroups). Infinite when the system does not say. */
double run_memory_available(void);

/* Calls refuses(), and workspace() when the kernel takes the call, with the sizes of `call` (arrays
 * are NULL). Returns 0 after writing the reason ("" when the call is taken; at most RUN_TEXT bytes)
 * and the size; or -1 when the kernel misbehaved: see report. */
int runner_ask(struct runner *runner, const struct cp_kernel_call *call, char *reason,
               size_t *workspace, struct run_report *report);
int runner_ask_merge(struct runner *runner, const struct cp_merge_call *call, char *reason,
                     size_t *workspace, struct run_report *report);

/* Runs attend(), or merge(). After any outcome but RUN_DONE and RUN_RETURNED the next call starts a
 * new process. The results are copied out whatever the outcome. Returns 0; or -1 when there is no
 * verdict, because the system gave no memory or no process, or the buffers are larger than the
 * limit: report.text says which. */
int runner_run(struct runner *runner, const struct run_call *call, struct run_report *report);

/* Hashes of the files that the kernel's process has loaded: this program, the kernel, and all
 * others together (the libraries, wherever the loader found them). They find changes, not
 * forgeries. */
struct run_digests {
    unsigned long long program, kernel, libraries;
};

/* 0, or -1 after writing why there are none (at most RUN_TEXT bytes). */
int runner_digest(const struct runner *runner, struct run_digests *digests, char *error);

/* Makes the next call the first of a new process. */
void runner_restart(struct runner *runner);

/* How many processes have been started. */
int runner_processes(const struct runner *runner);

/* The kernel's process: what `chunkproof --run-kernel` does. Returns its exit status. */
int runner_child(int argc, char **argv);

#endif

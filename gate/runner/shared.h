/* SPDX-License-Identifier: Apache-2.0 */
/* What the asking process and the kernel's process share: some memory and a socket.
 *
 * The memory has a struct run_control first, then the arena. The socket is a doorbell and no more:
 * a request and its answer are one byte each, and struct run_control says what they mean. While
 * code of the kernel runs, its process may read that struct and not write to it. So a kernel that
 * is merely wrong can neither spoil a report nor make one up. A kernel that writes to the socket is
 * found out, because then more than one byte comes, or no answer. */
#ifndef CHUNKPROOF_GATE_RUNNER_SHARED_H
#define CHUNKPROOF_GATE_RUNNER_SHARED_H

#include <stddef.h>
#include <sys/types.h>

#include "cli/base/clock.h"
#include "gate/runner/arena.h"
#include "gate/runner/runner.h"

/* File descriptors of the kernel's process. */
#define RUN_SOCKET 3
#define RUN_MEMORY 4 /* closed before the kernel is loaded */

/* Processes and threads of a kernel, where they are counted for each kernel (box.h, tasks.h). */
#define RUN_MOST_TASKS 2048

/* How many seconds the runner waits for writes by threads that attend() left behind. */
#define RUN_LATE_SECONDS 0.2

enum run_request { RUN_REQUEST_ASK, RUN_REQUEST_ATTEND };

/* What the kernel's process is doing. */
enum run_phase {
    RUN_STARTING,
    RUN_LOADING,
    RUN_IN_REFUSES,
    RUN_IN_WORKSPACE,
    RUN_IN_ATTEND,
    RUN_ON_DEVICE,     /* attend() has returned; its work on the device is waited for */
    RUN_RETURNED_FROM, /* a function has returned: no code of the kernel should run */
    RUN_PHASES
};

enum run_load {
    RUN_LOADED,
    RUN_NOT_OPENED,
    RUN_NO_SYMBOL,
    RUN_TWO_SYMBOLS, /* a kernel that computes attention, and one that merges */
    RUN_OTHER_ABI,
    RUN_NO_DEVICE,
    RUN_NO_STACK /* the system does not allow what a kernel may use */
};

/* What a box is made of, in this order. */
enum run_box_step { RUN_BOX_UNSHARE, RUN_BOX_USER, RUN_BOX_PROC, RUN_BOX_PROCESSES };

enum run_access { RUN_TOUCHED, RUN_READ, RUN_WROTE, RUN_JUMPED };

/* Where an address lies. */
enum run_where {
    RUN_IN_ARENA,
    RUN_FAR, /* between chunks that lie far apart */
    RUN_IN_CALL,
    RUN_BELOW_STACK,
    RUN_IN_DEVICE, /* touched by the host */
    RUN_ELSEWHERE
};

/* What a signal handler found. */
struct run_fault {
    int happened;
    int signal;
    int code; /* si_code */
    enum run_access access;
    enum run_where where;
    struct run_spot spot; /* of the arena */
    unsigned long long address;
};

struct run_control {
    /* Written by the asking process, while the kernel's process waits. */
    size_t size;  /* of this struct: both processes must be of one build */
    pid_t asking; /* its process number */
    size_t arena_size;
    struct run_limits limits;
    int box;         /* 1: the process makes a box, or ends */
    unsigned number; /* of the request; 0: loading, which needs no doorbell */
    enum run_request request;
    struct cp_kernel_call asked;      /* its pointers mean nothing */
    struct cp_merge_call asked_merge; /* the same, of a kernel that merges */
    unsigned char poison;
    struct run_layout layout;
    struct run_far far[2];
    int far_number[RUN_FAR_CHUNKS];

    /* Written by the kernel's process, for itself. */
    pid_t pid;                                   /* its number, in its box */
    unsigned long long arena, stack, stack_size; /* addresses, and the size of the stack */
    unsigned long long on_device[RUN_BUFFERS];   /* addresses of buffers; 0: none */
    unsigned char *far_begin[2];   /* of K and V that lie far apart; NULL: close together */
    struct run_layout current;     /* of the last request */
    struct cp_kernel_call call;    /* what the kernel sees */
    struct cp_kernel_call on_host; /* what its launcher sees */
    struct cp_merge_call merge;    /* what a kernel that merges sees */

    /* Written by the kernel's process, for the asking one. */
    enum run_phase phase;
    int box_error; /* of the system: there is no box, and this process has ended; 0: none */
    enum run_box_step box_step; /* that failed */
    pid_t outside;              /* the number of the kernel's process outside of its box; 0: none */
    int crowded;                /* 1: there were more than RUN_MOST_TASKS processes */
    unsigned serving;           /* the last request that it took */
    unsigned answered;          /* one more than the last request that it answered */
    enum run_load load;
    int merges;              /* 1: the kernel merges: `merging`, and not `kernel` */
    struct cp_kernel kernel; /* name and functions are addresses in the kernel's process */
    struct cp_merge_kernel merging;
    char name[RUN_TEXT];
    char text[RUN_TEXT];      /* from the loader, from refuses(), or from the device */
    enum run_outcome outcome; /* RUN_DONE, or what was found on the device */
    unsigned contained;       /* enum run_contained */
    int simulated;            /* 1: the device is the executor */
    int status;               /* what attend() returned */
    double seconds;           /* of the clock, for the call */
    double worked;            /* of processors, for the call */
    size_t workspace;
    /* 1: the system did not protect memory, or the device has too little: no verdict. */
    int no_memory;
    int socket_closed; /* 1: the kernel closed the socket */
    struct run_fault fault;
};

/* Bytes before the arena: whole pages. */
size_t run_control_size(void);

void run_sleep(double seconds);

#endif

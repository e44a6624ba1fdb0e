/* SPDX-License-Identifier: Apache-2.0 */
/* What the asking process and the other one have in common: some memory and a socket.
 *
 * The memory has a struct run_control first, then the arena. The socket is a doorbell and no more:
 * a request and its answer are one byte each, and what they say is in struct run_control. The other
 * process may read that struct but not write to it while a kernel's code runs, so a kernel that is
 * merely wrong can neither spoil a report nor make one up; what it sends through the socket is
 * seen, because there is then more than one byte or no answer. */
#ifndef CHUNKPROOF_GATE_RUNNER_SHARED_H
#define CHUNKPROOF_GATE_RUNNER_SHARED_H

#include <stddef.h>
#include <sys/types.h>

#include "cli/base/clock.h"
#include "gate/runner/arena.h"
#include "gate/runner/runner.h"

/* File descriptors of the other process. */
#define RUN_SOCKET 3
#define RUN_MEMORY 4 /* closed again before the kernel is loaded */

/* Seconds that threads which attend() started and left behind are given to show themselves. */
#define RUN_LATE_SECONDS 0.2

enum run_request { RUN_REQUEST_ASK, RUN_REQUEST_ATTEND };

/* What the other process is doing. */
enum run_phase {
    RUN_STARTING,
    RUN_LOADING,
    RUN_IN_REFUSES,
    RUN_IN_WORKSPACE,
    RUN_IN_ATTEND,
    RUN_ON_DEVICE,     /* it has returned; what it started is waited for */
    RUN_RETURNED_FROM, /* one of these: no code of the kernel ought to run */
    RUN_PHASES
};

enum run_load { RUN_LOADED, RUN_NOT_OPENED, RUN_NO_SYMBOL, RUN_OTHER_ABI, RUN_NO_DEVICE };

enum run_access { RUN_TOUCHED, RUN_READ, RUN_WROTE, RUN_JUMPED };

/* Where an address is that is not of the arena. */
enum run_where {
    RUN_IN_ARENA,
    RUN_FAR, /* outside of chunks that lie far apart */
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
    /* Written by the asking process, while the other one waits. */
    size_t size;  /* of this struct: both are to be of one build */
    pid_t asking; /* its number */
    size_t arena_size;
    struct run_limits limits;
    unsigned number; /* of the request; 0 is loading, which needs no doorbell */
    enum run_request request;
    struct cp_kernel_call asked; /* its pointers mean nothing */
    unsigned char poison;
    struct run_layout layout;
    struct run_far far[2];

    /* Written by the other process, for itself. */
    pid_t pid;
    unsigned long long arena, stack, stack_size; /* addresses: where the stack begins */
    unsigned long long on_device[RUN_BUFFERS];   /* addresses of buffers there; 0: none */
    unsigned char *far_begin[2];   /* of K and V that lie far apart; NULL: they do not */
    struct run_layout current;     /* of the last request */
    struct cp_kernel_call call;    /* what the kernel sees, */
    struct cp_kernel_call on_host; /* and what its launcher does */

    /* Written by the other process, for the asking one. */
    enum run_phase phase;
    unsigned serving;  /* the request that it took last */
    unsigned answered; /* one more than the last request that it answered */
    enum run_load load;
    struct cp_kernel kernel; /* name and functions: the other process' addresses */
    char name[RUN_TEXT];
    char text[RUN_TEXT];      /* of the loader, of refuses(), or of the device: */
    enum run_outcome outcome; /* RUN_DONE, or what was found there */
    int simulated;            /* it is the executor */
    int status;               /* what attend() returned */
    double seconds;           /* that it took, */
    double worked;            /* and in which processors worked for it */
    size_t workspace;
    int no_memory; /* the system did not protect memory, or there is too little on the device: no
                      verdict */
    int socket_closed; /* the kernel closed it */
    struct run_fault fault;
};

/* Bytes before the arena: whole pages. */
size_t run_control_size(void);

void run_sleep(double seconds);

#endif

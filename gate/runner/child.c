/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's process: it gets ready, loads the kernel, and answers requests until it is ended.
 *
 * The runner is made for kernels that are wrong, not for kernels that fight it: a kernel that
 * maps memory anew gets around it (contain.h has what holds it then). Not detected are: reads
 * into a gap, or by more than RUN_GUARD into another buffer that may be read or written; changes
 * of the kernel's own memory; and what a thread or process that attend() left behind does after
 * this process has ended. */
#define _GNU_SOURCE /* close_range */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/command.h"
#include "gate/runner/asked.h"
#include "gate/runner/box.h"
#include "gate/runner/contain.h"
#include "gate/runner/device.h"
#include "gate/runner/far.h"
#include "gate/runner/fault.h"
#include "gate/runner/filter.h"

/* Of a thread's stack, and of this one's. */
#define STACK_BYTES ((rlim_t)8 << 20)

/* Of a file that it writes to, where the system does not keep it from writing. */
#define FILE_BYTES ((rlim_t)1 << 30)

/* Memory that loading and the C library itself may need. */
#define LOADER_BYTES ((rlim_t)32 << 20)

/* For how many seconds threads that existed before attend() are watched for work in the
 * background. */
#define KNOWN_THREADS_SECONDS 0.0005

struct child {
    struct run_control *control;
    unsigned char *arena;
    ino_t socket; /* the file behind RUN_SOCKET */
    struct run_device device;
};

/* ---- Getting ready ---- */

/* Standard input is empty. What the kernel prints goes to standard error, or nowhere. All other
 * files but the two descriptors are closed. */
static int settle_files(void) {
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) {
        return -1;
    }
    if (fcntl(STDERR_FILENO, F_GETFD) < 0 && dup2(null, STDERR_FILENO) < 0) {
        return -1;
    }
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || fcntl(RUN_SOCKET, F_SETFD, FD_CLOEXEC) < 0) {
        return -1;
    }
    if (close_range(RUN_MEMORY + 1, ~0U, 0) != 0) { /* a system before Linux 5.9 */
        for (long fd = sysconf(_SC_OPEN_MAX); fd > RUN_MEMORY; fd--) {
            close((int)fd);
        }
    }
    return 0;
}

/* Lowers a limit of this process. The hard limit stays. */
static void limit(int resource, rlim_t value) {
    struct rlimit now;
    if (getrlimit(resource, &now) == 0) {
        now.rlim_cur = value < now.rlim_max ? value : now.rlim_max;
        setrlimit(resource, &now);
    }
}

/* The limits of memory and of files become hard ones, so that the kernel cannot raise them. */
static void seal_limits(void) {
    static const int which[] = {RLIMIT_DATA, RLIMIT_CORE, RLIMIT_FSIZE};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        struct rlimit now;
        if (getrlimit(which[i], &now) == 0) {
            now.rlim_max = now.rlim_cur;
            setrlimit(which[i], &now);
        }
    }
}

/* The bytes of memory that RLIMIT_DATA counts: private and writable. 0 when the system does not
 * tell. */
static rlim_t data_bytes(void) {
    char line[128];
    unsigned long long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && kilobytes == 0 && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmData:", 7) == 0) {
            kilobytes = strtoull(line + 7, NULL, 10);
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return (rlim_t)kilobytes << 10;
}

/* This sets RLIMIT_DATA and not RLIMIT_AS, because sanitizers and GPU drivers reserve huge
 * amounts of address space. The stacks of as many threads as there are processors do not count
 * against the kernel. */
static void limit_heap(size_t heap) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    rlim_t used = data_bytes();
    rlim_t more = LOADER_BYTES + STACK_BYTES * (rlim_t)(processors > 0 ? processors : 1);
    if (used != 0 && heap < RLIM_INFINITY - used - more) {
        limit(RLIMIT_DATA, used + more + heap);
    }
}

/* A core limit of 1 also keeps a core dump from being piped to a program, which 0 does not. The
 * stack has the size that nearly all systems give, whatever this system does. */
static void limit_the_rest(void) {
    limit(RLIMIT_CORE, 1);
    limit(RLIMIT_STACK, STACK_BYTES);
    limit(RLIMIT_FSIZE, FILE_BYTES);
}

/* Maps the common memory, and the arena without any access. */
static int map(struct child *child) {
    struct stat memory, socket;
    size_t before = run_control_size();
    if (fstat(RUN_MEMORY, &memory) != 0 || memory.st_size < (off_t)before ||
        fstat(RUN_SOCKET, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
        return -1;
    }
    void *control = mmap(NULL, before, PROT_READ | PROT_WRITE, MAP_SHARED, RUN_MEMORY, 0);
    if (control == MAP_FAILED) {
        return -1;
    }
    child->control = control;
    child->socket = socket.st_ino;
    if (child->control->size != sizeof *child->control) {
        return -1;
    }
    void *arena = mmap(NULL, child->control->arena_size, PROT_NONE, MAP_SHARED | MAP_NORESERVE,
                       RUN_MEMORY, (off_t)before);
    child->arena = arena;
    close(RUN_MEMORY);
    return arena == MAP_FAILED ? -1 : 0;
}

/* This process ends with the process that started it; for the system, that is with the thread
 * that started it. */
static int stay_with_parent(const struct run_control *control) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == control->asking ? 0 : -1;
}

static int get_ready(struct child *child, const void *stack) {
    if (map(child) != 0 || stay_with_parent(child->control) != 0 || settle_files() != 0 ||
        run_fault_init(child->control) != 0) {
        return -1;
    }
    struct run_control *control = child->control;
    unsigned boxed = control->box ? run_box_enter(control) : 0;
    control->pid = getpid();
    control->arena = (uintptr_t)child->arena;
    control->stack = (uintptr_t)stack;
    control->stack_size = STACK_BYTES;
    limit_the_rest();
    limit_heap(control->limits.heap);
    control->contained = boxed | run_contain();
    return 0;
}

/* ---- Answering ---- */

static void enter(struct run_control *control, enum run_phase phase) {
    run_control_open(control);
    control->phase = phase;
    run_control_close(control);
}

/* A process that attend() forked, and that also returned from attend(), is not the one that was
 * asked. */
static void leave(struct run_control *control) {
    if (getpid() != control->pid) {
        _exit(0);
    }
    enter(control, RUN_RETURNED_FROM);
}

static void answer(const struct child *child) {
    struct run_control *control = child->control;
    struct stat socket;
    int closed = fstat(RUN_SOCKET, &socket) != 0 || !S_ISSOCK(socket.st_mode) ||
                 socket.st_ino != child->socket;
    run_control_open(control);
    control->socket_closed = closed;
    control->answered = control->serving + 1;
    run_control_close(control);
    if (closed || send(RUN_SOCKET, "", 1, MSG_NOSIGNAL) != 1) {
        _exit(0);
    }
}

/* Returns 0, or -1: the asking process is gone, or the kernel closed the socket. */
static int wait_for_request(struct run_control *control) {
    char byte;
    ssize_t got;
    do {
        got = recv(RUN_SOCKET, &byte, 1, 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        run_control_open(control);
        control->socket_closed = 1;
    }
    return got == 1 ? 0 : -1;
}

/* ---- Loading ---- */

/* Copies a string of the kernel, which may be NULL. It does not look for the string's end past
 * the bytes that fit. */
static void copy_text(struct run_control *control, char to[RUN_TEXT], const char *from) {
    char text[RUN_TEXT];
    size_t length = strnlen(from, sizeof text - 1);
    memcpy(text, from, length);
    text[length] = '\0';
    run_control_open(control);
    memcpy(to, text, sizeof text);
    run_control_close(control);
}

static enum run_load find_device(struct child *child, void *object) {
    struct run_control *control = child->control;
    char text[RUN_TEXT];
    if (run_device_open(&child->device, object, text) != 0) {
        copy_text(control, control->text, text);
        return RUN_NO_DEVICE;
    }
    if (child->device.begin != NULL) { /* its memory, and the shadow of each byte, would count */
        limit(RLIMIT_DATA, RLIM_INFINITY);
    }
    run_control_open(control);
    control->simulated = child->device.begin != NULL;
    run_control_close(control);
    return RUN_LOADED;
}

static enum run_load load_merging(struct child *child, void *object,
                                  const struct cp_merge_kernel *kernel) {
    struct run_control *control = child->control;
    int abi = kernel->abi;
    run_control_open(control);
    control->merges = 1;
    control->merging.abi = abi;
    run_control_close(control);
    if (abi != CP_MERGE_ABI) {
        return RUN_OTHER_ABI;
    }
    const struct cp_merge_kernel copy = *kernel;
    run_control_open(control);
    control->merging = copy;
    run_control_close(control);
    if (copy.name != NULL) {
        copy_text(control, control->name, copy.name);
    }
    return copy.memory == CP_DEVICE_MEMORY ? find_device(child, object) : RUN_LOADED;
}

static enum run_load load_kernel(struct child *child, const char *file) {
    struct run_control *control = child->control;
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        const char *why = dlerror();
        copy_text(control, control->text, why != NULL ? why : "it cannot be loaded");
        return RUN_NOT_OPENED;
    }
    const struct cp_kernel *kernel = dlsym(object, "cp_kernel");
    const struct cp_merge_kernel *merging = dlsym(object, "cp_merge_kernel");
    if (merging != NULL) {
        return kernel != NULL ? RUN_TWO_SYMBOLS : load_merging(child, object, merging);
    }
    if (kernel == NULL) {
        return RUN_NO_SYMBOL;
    }
    int abi = kernel->abi;
    run_control_open(control);
    control->kernel.abi = abi;
    run_control_close(control);
    if (abi != CP_KERNEL_ABI) {
        return RUN_OTHER_ABI;
    }
    const struct cp_kernel copy = *kernel;
    run_control_open(control);
    control->kernel = copy;
    run_control_close(control);
    if (copy.name != NULL) {
        copy_text(control, control->name, copy.name);
    }
    return copy.memory == CP_DEVICE_MEMORY ? find_device(child, object) : RUN_LOADED;
}

/* A kernel gets the usual stack, or it would be blamed for having less. */
static int has_stack(struct run_control *control) {
    struct rlimit stack;
    char text[RUN_TEXT];
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_max >= STACK_BYTES) {
        return 1;
    }
    (void)snprintf(text, sizeof text,
                   "the stack may have only %llu KiB here (ulimit -H -s), and a kernel gets %llu",
                   (unsigned long long)stack.rlim_max >> 10, (unsigned long long)STACK_BYTES >> 10);
    copy_text(control, control->text, text);
    return 0;
}

static void load(struct child *child, const char *file) {
    struct run_control *control = child->control;
    enter(control, RUN_LOADING);
    run_fault_arm();
    enum run_load result = has_stack(control) ? load_kernel(child, file) : RUN_NO_STACK;
    leave(control);
    seal_limits();
    run_fault_arm(); /* once more: a constructor may have set handlers */
    int on_host = result != RUN_LOADED || control->kernel.memory == CP_HOST_MEMORY;
    unsigned filtered = run_box_is_left_out() ? 0 : run_filter(on_host);
    run_control_open(control);
    control->contained |= filtered;
    control->load = result;
    run_control_close(control);
    answer(child);
}

/* ---- Requests ---- */

/* The asking process ends this one in time. If the asking process ends in a way that
 * stay_with_parent() does not detect, the system ends this process once all its processors have
 * worked for this long. Between calls there is no limit, because threads of the kernel may be
 * busy waiting then. */
static void limit_time(double seconds) {
    struct rusage used;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (seconds <= 0.0 || getrusage(RUSAGE_SELF, &used) != 0) {
        limit(RLIMIT_CPU, RLIM_INFINITY);
        return;
    }
    double before = (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec;
    double most = (ceil(seconds) + 1.0) * (double)(processors > 0 ? processors : 1);
    limit(RLIMIT_CPU, (rlim_t)fmin(before + most + 2.0, 1e9));
}

static void take_request(const struct child *child) {
    struct run_control *control = child->control;
    control->serving = control->number;
    control->call = control->asked;
    control->merge = control->asked_merge;
    control->status = 0;
    control->no_memory = 0;
    control->outcome = RUN_DONE;
    control->text[0] = '\0';
    control->workspace = 0;
}

static void serve_ask(const struct child *child) {
    struct run_control *control = child->control;
    const char *reason = NULL;
    size_t workspace = 0;
    run_control_open(control);
    take_request(child);
    run_layout_point(NULL, NULL, &control->call);
    run_layout_point_merge(NULL, NULL, &control->merge);
    control->phase = RUN_IN_REFUSES;
    run_control_close(control);
    reason = run_refuses(control);
    if (reason != NULL) {
        copy_text(control, control->text, reason[0] != '\0' ? reason : "it gives no reason");
    } else {
        enter(control, RUN_IN_WORKSPACE);
        workspace = run_workspace(control);
    }
    leave(control);
    run_control_open(control);
    control->workspace = workspace;
    run_control_close(control);
}

/* Gives the kernel access to the buffers, and to nothing else: to all of them, or only to the
 * lists. */
static int open_arena(const struct child *child, const struct run_layout *layout, int all) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        const struct run_place *place = &layout->place[b];
        size_t bytes = place->pages_end - place->pages_begin;
        int access = run_read_only(b) ? PROT_READ : PROT_READ | PROT_WRITE;
        if (bytes > 0 && (all || run_is_list(b)) &&
            mprotect(child->arena + place->pages_begin, bytes, access) != 0) {
            return -1;
        }
    }
    return 0;
}

static int close_arena(const struct child *child) {
    return mprotect(child->arena, child->control->arena_size, PROT_NONE);
}

/* Is all of the arena still mapped? */
static int is_mapped(const struct child *child) {
    enum { PAGES = 1024 };
    unsigned char present[PAGES];
    size_t page = run_page(), size = child->control->arena_size;
    for (size_t at = 0; at < size; at += PAGES * page) {
        size_t bytes = size - at < PAGES * page ? size - at : PAGES * page;
        if (mincore(child->arena + at, bytes, present) != 0 && errno == ENOMEM) {
            return 0;
        }
    }
    return 1;
}

/* The directory has one link for each thread, and two more. */
static int count_threads(void) {
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 ? (int)tasks.st_nlink - 2 : 1;
}

/* No buffer may be accessed any more, so work in the background ends this process with a fault:
 * before it answers, or at the next request, when it is found dead. A kernel without threads
 * costs no time here. Threads that attend() started and left alive cost time: once for a pool,
 * which is allowed and known from then on; otherwise in each call. */
static void give_time_to_late_threads(int before) {
    int now = count_threads();
    double wait = now > before ? RUN_LATE_SECONDS : now > 1 ? KNOWN_THREADS_SECONDS : 0.0;
    double end = seconds_now() + wait;
    while (wait > 0.0 && seconds_now() < end && count_threads() > (now > before ? before : 1)) {
        run_sleep(0.0001);
    }
}

/* Runs the kernel: what it returns, and how long it took. */
static int attend(const struct child *child, double *seconds) {
    double start = seconds_now();
    int status = run_call_kernel(child->control);
    *seconds = seconds_now() - start;
    return status;
}

/* The kernel's arrays are on the device; in the arena it may read only the lists. The report's
 * text is written to `text`. */
static enum run_outcome attend_on_device(struct child *child, int *status, double *seconds,
                                         char *text) {
    struct run_control *control = child->control;
    const struct run_layout *layout = &control->current;
    double start = seconds_now();
    *status = attend(child, seconds);
    enter(control, RUN_ON_DEVICE);
    enum run_outcome outcome = run_device_wait(&child->device, text), after = RUN_DONE;
    *seconds = seconds_now() - start;
    if (outcome == RUN_DONE && open_arena(child, layout, 1) == 0) {
        after = run_device_leave(&child->device, layout, child->arena, control->poison, text);
    }
    return outcome == RUN_DONE ? after : outcome;
}

/* Bytes of a number of K. */
static size_t element_of(const struct cp_kernel *kernel) {
    return cp_number_size(kernel->cache.k != CP_CACHE_PLAIN ? kernel->cache.k : kernel->kv_type);
}

/* Prepares the arena, or the device. 0, or -1 after writing why there is no verdict. The report
 * may be written to. */
static int prepare(struct child *child, char *text) {
    struct run_control *control = child->control;
    const struct run_layout *layout = &control->current;
    void *pointer[RUN_BUFFERS];
    int on_device = run_memory(control) == CP_DEVICE_MEMORY;
    run_layout_point(layout, child->arena, &control->call);
    run_layout_point_merge(layout, child->arena, &control->merge);
    (void)snprintf(text, RUN_TEXT, "the system cannot protect so many pieces of memory");
    if (open_arena(child, layout, 1) != 0) {
        return -1;
    }
    if (!on_device) {
        (void)snprintf(
            text, RUN_TEXT,
            "the system does not have enough addresses, or cannot map so many pieces of memory");
        int result = run_far_enter(control, child->arena);
        run_join(&control->call, control->kernel.layout.tensors, element_of(&control->kernel));
        return result;
    }
    control->on_host = control->call;
    control->on_host.q = control->on_host.k = control->on_host.v = NULL;
    control->on_host.out = control->on_host.lse = control->on_host.workspace = NULL;
    control->call.on_host = &control->on_host;
    if (run_device_enter(&child->device, layout, child->arena, control->poison, pointer, text) !=
        0) {
        return -1;
    }
    run_layout_set(pointer, &control->call);
    run_layout_set_merge(pointer, &control->merge);
    control->call.stream = control->merge.stream = child->device.stream;
    run_join(&control->call, control->kernel.layout.tensors, element_of(&control->kernel));
    for (int b = 0; b < RUN_BUFFERS; b++) {
        const struct run_device_array *array = &child->device.array[b];
        control->on_device[b] = (uintptr_t)array->memory + array->at;
    }
    return close_arena(child) == 0 && open_arena(child, layout, 0) == 0 ? 0 : -1;
}

static void serve_attend(struct child *child) {
    struct run_control *control = child->control;
    char text[RUN_TEXT] = "";
    double seconds = 0.0;
    int threads = count_threads(), status = 0;
    enum run_outcome outcome = RUN_DONE;
    run_control_open(control);
    take_request(child);
    control->current = control->layout;
    control->no_memory = prepare(child, control->text) != 0;
    control->phase = control->no_memory ? RUN_RETURNED_FROM : RUN_IN_ATTEND;
    run_control_close(control);
    if (control->no_memory) {
        run_control_open(control);
        run_far_leave(control);
        run_control_close(control);
        close_arena(child);
        return;
    }
    double worked = seconds_worked();
    if (run_memory(control) == CP_DEVICE_MEMORY) {
        outcome = attend_on_device(child, &status, &seconds, text);
    } else {
        status = attend(child, &seconds);
    }
    worked = seconds_worked() - worked;
    leave(control);
    int no_memory = close_arena(child) != 0;
    if (no_memory && !is_mapped(child)) {
        no_memory = 0;
        outcome = RUN_OUT_OF_BOUNDS;
        (void)snprintf(text, sizeof text,
                       "unmapped memory that is not its own: buffers of the call, or what lies "
                       "between them");
    } else if (no_memory) {
        (void)snprintf(text, sizeof text, "the system cannot protect so many pieces of memory");
    }
    run_control_open(control);
    run_far_leave(control);
    control->status = status;
    control->seconds = seconds;
    control->worked = worked;
    control->no_memory = no_memory;
    control->outcome = outcome;
    memcpy(control->text, text, sizeof text);
    run_control_close(control);
    give_time_to_late_threads(threads);
}

int runner_child(int argc, char **argv) {
    struct child child;
    memset(&child, 0, sizeof child);
    if (argc != 2 || get_ready(&child, __builtin_frame_address(0)) != 0) {
        fputs(
            "chunkproof: --run-kernel is not a command: `chunkproof gate` starts itself with it\n",
            stderr);
        return EXIT_BAD_USE;
    }
    load(&child, argv[1]);
    while (wait_for_request(child.control) == 0) {
        limit_time(child.control->limits.seconds);
        run_fault_arm();
        if (child.control->request == RUN_REQUEST_ATTEND) {
            serve_attend(&child);
        } else {
            serve_ask(&child);
        }
        limit_time(0.0);
        answer(&child);
    }
    _exit(EXIT_RIGHT); /* nothing of the kernel's is to run any more */
}

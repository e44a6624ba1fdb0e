/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create, the seals, fallocate */

#include "gate/runner/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/children.h"
#include "gate/runner/tasks.h"

/* How often the end of a process is checked. Its socket usually shows the end at once, but not
 * while another process that it started still has the socket. */
#define SLICE 0.02

/* A wait that lasts longer than this was no wait: this process itself had no processor, or was
 * stopped. */
#define LONGEST_SLICE 0.1

/* A process that would work but gets no processor has this many times as long. */
#define PATIENCE 20.0

/* Memory beyond what a kernel may allocate: libraries, stacks, and what the loader keeps. */
#define SLACK_BYTES ((size_t)256 << 20)

/* A process that the system cannot end (it waits inside a driver) is abandoned after this many
 * seconds. */
#define END_SECONDS 10.0

void run_process_init(struct run_process *process) {
    memset(process, 0, sizeof *process);
    process->socket = -1;
    process->memory = -1;
    process->output.pipe = -1;
}

/* ---- Starting ---- */

/* Another number for a descriptor, above those of the new process; -1 when there is none. */
static int moved_up(int fd) {
    int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);
    if (fd >= 0) {
        close(fd);
    }
    return moved;
}

/* Nobody can change its size any more. If it were shrunk, this process would die when it touches
 * the memory. */
static int get_memory(struct run_process *process, size_t arena_size) {
    size_t size = run_control_size() + arena_size;
    int fd = moved_up(memfd_create("chunkproof-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    process->memory = fd;
    if (fd < 0 || size > INT64_MAX || ftruncate(fd, (off_t)size) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
        fallocate(fd, 0, 0, (off_t)run_control_size()) != 0) {
        return -1;
    }
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (mapped == MAP_FAILED) {
        return -1;
    }
    process->mapped = mapped;
    process->size = size;
    process->control = mapped;
    process->arena = process->mapped + run_control_size();
    return 0;
}

/* The new process has default signal handling, whatever this process does, and a process group
 * of its own, so that everything that it starts can be ended with it. */
static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    return posix_spawnattr_setsigdefault(attributes, &all) ||
           posix_spawnattr_setsigmask(attributes, &none) ||
           posix_spawnattr_setpgroup(attributes, 0) ||
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETPGROUP);
}

/* Returns 0 or an error number. Only three descriptors are passed on purpose; the new process
 * closes all others before it loads anything. */
static int spawn(struct run_process *process, const char *program, char *file, int socket,
                 int output) {
    char name[] = "chunkproof", option[] = "--run-kernel";
    char *const argv[] = {name, option, file, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = ENOMEM;
    if (access(program, X_OK) != 0) {
        return errno;
    }
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return error;
    }
    if (posix_spawnattr_init(&attributes) == 0) {
        if (posix_spawn_file_actions_adddup2(&actions, socket, RUN_SOCKET) == 0 &&
            posix_spawn_file_actions_adddup2(&actions, process->memory, RUN_MEMORY) == 0 &&
            posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO) == 0 &&
            set_attributes(&attributes) == 0) {
            error = children_spawn(&process->pid, program, &actions, &attributes, argv);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int move_both(int pair[2]) {
    pair[0] = moved_up(pair[0]);
    pair[1] = moved_up(pair[1]);
    return pair[0] < 0 || pair[1] < 0 ? -1 : 0;
}

/* The socket, and a pipe for what the kernel prints. */
static int get_ends(int pair[2], int pipe_of[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 && move_both(pair) == 0 &&
                   pipe2(pipe_of, O_CLOEXEC) == 0 && move_both(pipe_of) == 0 &&
                   fcntl(pipe_of[0], F_SETFL, O_NONBLOCK) == 0
               ? 0
               : -1;
}

static void close_if_open(int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

static void close_both(int pair[2]) {
    close_if_open(&pair[0]);
    close_if_open(&pair[1]);
}

int run_process_start(struct run_process *process, const char *program, char *file,
                      const struct run_limits *limits, int box, char text[RUN_TEXT]) {
    int pair[2] = {-1, -1}, pipe_of[2] = {-1, -1};
    size_t arena_size = run_arena_size(limits->bytes);
    run_process_free(process);
    if (arena_size == 0 || get_memory(process, arena_size) != 0 || get_ends(pair, pipe_of) != 0) {
        snprintf(text, RUN_TEXT,
                 "there is not enough memory, or there are not enough file descriptors, for "
                 "another process: %s",
                 strerror(arena_size == 0 ? ENOMEM : errno));
        close_both(pair);
        close_both(pipe_of);
        run_process_free(process);
        return -1;
    }
    process->socket = pair[0];
    process->output.pipe = pipe_of[0];
    process->control->size = sizeof *process->control;
    process->control->asking = getpid();
    process->control->arena_size = arena_size;
    process->control->limits = *limits;
    process->control->box = box;
    process->tasks = run_tasks();
    int error = spawn(process, program, file, pair[1], pipe_of[1]);
    close_if_open(&pair[1]);
    close_if_open(&pipe_of[1]);
    if (error != 0) {
        snprintf(text, RUN_TEXT, "%.160s cannot be started: %s", program, strerror(error));
        process->pid = 0;
        run_process_free(process);
        return -1;
    }
    return 0;
}

int run_process_reserve(struct run_process *process, const struct run_layout *layout) {
    for (int b = 0; b < RUN_BUFFERS; b++) {
        const struct run_place *place = &layout->place[b];
        off_t from = (off_t)(run_control_size() + place->pages_begin);
        int done = place->pages_end == place->pages_begin ? 0 : -1;
        while (done != 0) {
            done =
                fallocate(process->memory, 0, from, (off_t)(place->pages_end - place->pages_begin));
            if (done != 0 && errno != EINTR) {
                return -1;
            }
        }
    }
    return 0;
}

/* ---- Asking ---- */

/* More than one byte: what came from the socket. 0: it was closed. -1: nothing. */
static ssize_t take(struct run_process *process) {
    char bytes[64];
    ssize_t got = recv(process->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? -1 : 0;
    }
    return got;
}

int run_process_disturbed(struct run_process *process) {
    return take(process) > 0;
}

void run_process_ask(struct run_process *process) {
    ssize_t sent;
    process->control->number++;
    do {
        sent = send(process->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
}

/* Has the process answered? Writes 0 to `open` once no answer can come any more. */
static int look(struct run_process *process, int *open, enum run_answer *answer) {
    ssize_t got = *open ? take(process) : -1;
    *open = *open && got != 0;
    if (got <= 0) {
        return 0;
    }
    const struct run_control *control = process->control;
    *answer = got == 1 && control->answered == control->number + 1 ? RUN_ANSWERED : RUN_DISTURBED;
    return 1;
}

/* Also takes what the kernel prints, so that it can print on. */
static void wait_a_slice(struct run_process *process, int open, double seconds) {
    struct pollfd poll_for[] = {{process->socket, POLLIN, 0}, {process->output.pipe, POLLIN, 0}};
    if (!open) {
        run_sleep(seconds < 0.0005 ? seconds : 0.0005);
    } else {
        poll(poll_for, 2, (int)(1e3 * seconds) + 1);
    }
    run_output_take(&process->output);
}

pid_t run_process_worker(const struct run_process *process) {
    pid_t inside = process->control->outside;
    return inside > 0 ? inside : process->pid;
}

/* Processor time of the process so far, in seconds; -1: unknown. */
static double worked(const struct run_process *process) {
    struct timespec time;
    clockid_t clock;
    return clock_getcpuclockid(run_process_worker(process), &clock) == 0 &&
                   clock_gettime(clock, &time) == 0
               ? (double)time.tv_sec + 1e-9 * (double)time.tv_nsec
               : -1.0;
}

/* The state of a thread: the character after its name, which may itself contain brackets. */
static char state_of(const char *file) {
    char text[512];
    FILE *stat = fopen(file, "r");
    size_t n = stat != NULL ? fread(text, 1, sizeof text - 1, stat) : 0;
    if (stat != NULL) {
        (void)fclose(stat);
    }
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    return end != NULL && strlen(end) > 2 ? end[2] : '?';
}

/* Has it a thread that works, or would? */
static int wants_to_work(const struct run_process *process) {
    char name[300];
    int wants = 0;
    (void)snprintf(name, sizeof name, "/proc/%d/task", (int)run_process_worker(process));
    DIR *threads = opendir(name);
    const struct dirent *thread;
    while (threads != NULL && !wants && (thread = readdir(threads)) != NULL) {
        (void)snprintf(name, sizeof name, "/proc/%d/task/%.20s/stat",
                       (int)run_process_worker(process), thread->d_name);
        wants = thread->d_name[0] != '.' && state_of(name) == 'R';
    }
    if (threads != NULL) {
        (void)closedir(threads);
    }
    return wants;
}

/* On a busy machine a process may get no processor for a while. That is not its fault. */
static int is_starved(const struct run_process *process, double before, double seconds) {
    double now = worked(process);
    return before >= 0.0 && now >= 0.0 && now - before < seconds && wants_to_work(process);
}

/* RLIMIT_DATA does not count memory that is shared, and the kernel may share it with itself. On the
 * executor of CUDA kernels memory has shadows, and no limit. */
static int is_too_large(const struct run_process *process) {
    const struct run_control *control = process->control;
    char text[128] = "";
    (void)snprintf(text, sizeof text, "/proc/%d/statm", (int)run_process_worker(process));
    FILE *file = control->kernel.memory == CP_HOST_MEMORY ? fopen(text, "r") : NULL;
    text[0] = '\0';
    if (file != NULL) {
        (void)!fgets(text, sizeof text, file);
        (void)fclose(file);
    }
    const char *second = strchr(text, ' '); /* of the numbers: pages that are in memory */
    unsigned long long pages = second != NULL ? strtoull(second, NULL, 10) : 0;
    size_t call = control->layout.place[RUN_BUFFERS - 1].pages_end;
    return pages > (call + control->limits.heap + SLACK_BYTES) / run_page();
}

/* Has it too many processes and threads, where neither the box nor the system counts them? A kernel
 * is looked at only when the whole system has more than it had. */
static int is_crowded(struct run_process *process) {
    if (process->tasks == 0 || (process->control->contained & RUN_FEW_PROCESSES) != 0) {
        return 0;
    }
    unsigned long now = run_tasks();
    if (now <= process->tasks + RUN_MOST_TASKS) {
        return 0;
    }
    unsigned long of_it = run_tasks_of(process->pid);
    process->tasks = of_it < now ? now - of_it : 1;
    return of_it > RUN_MOST_TASKS;
}

enum run_answer run_process_await(struct run_process *process, double seconds) {
    double before = worked(process), waited = 0.0;
    enum run_answer answer = RUN_NOT_IN_TIME;
    int open = 1;
    for (;;) {
        double began = seconds_now(), left = seconds - waited;
        int ended =
            children_has_ended(process->pid); /* before the look: it may answer and then end */
        if (look(process, &open, &answer)) {
            return answer == RUN_ANSWERED && is_crowded(process) ? RUN_CROWDED : answer;
        }
        if (ended || (left <= 0.0 &&
                      (waited > PATIENCE * seconds || !is_starved(process, before, seconds)))) {
            return ended ? RUN_ENDED : RUN_NOT_IN_TIME;
        }
        wait_a_slice(process, open, left > 0.0 && left < SLICE ? left : SLICE);
        if (seconds_now() - began >= SLICE / 2 && is_too_large(process)) {
            return RUN_TOO_LARGE;
        }
        if (seconds_now() - began >= SLICE / 2 && is_crowded(process)) {
            return RUN_CROWDED;
        }
        double took = seconds_now() - began;
        waited += took < LONGEST_SLICE ? took : LONGEST_SLICE;
    }
}

/* ---- Ending ---- */

/* Waits for its end: 1, or 0: the system could not end it. */
static int wait_for_end(struct run_process *process) {
    double deadline = seconds_now() + END_SECONDS;
    pid_t got = 0;
    process->status = 0;
    while (got == 0 && seconds_now() < deadline) {
        got = waitpid(process->pid, &process->status, WNOHANG);
        if (got < 0 && errno == EINTR) {
            got = 0;
        } else if (got == 0) {
            run_sleep(0.0002);
        }
    }
    return got != 0;
}

void run_process_end(struct run_process *process) {
    if (process->pid > 0) {
        kill(-process->pid, SIGKILL); /* its group; first, while the number is still its own */
        kill(process->pid, SIGKILL);
        if (wait_for_end(process)) {
            children_forget(process->pid);
        }
        (void)children_end_orphans();
    }
    process->pid = 0;
    run_output_end(&process->output);
    close_if_open(&process->socket);
}

void run_process_free(struct run_process *process) {
    run_process_end(process);
    if (process->mapped != NULL) {
        munmap(process->mapped, process->size);
    }
    close_if_open(&process->memory);
    run_process_init(process);
}

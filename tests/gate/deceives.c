/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is wrong, and tries that nobody sees it: $DECEIVE says how. Most words give zeros
 * and hide them; some are right and break another rule. What comes of it:
 * tests/cli_gate_deceive.sh. */
#define _GNU_SOURCE /* fork, clone, feenableexcept, memfd_create, MAP_ANONYMOUS */

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "attention.h"

static int deceives(const char *word) {
    const char *wanted = getenv("DECEIVE");
    return wanted != NULL && strcmp(wanted, word) == 0;
}

/* By way of numbers: neither the compiler nor a sanitizer is to see it first. */
static char *at_address(uintptr_t address) {
    volatile uintptr_t hidden = address;
    return (char *)hidden; /* NOLINT */
}

static void right(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
}

static void zero_row(const struct cp_kernel_call *call, int s, int row, int head) {
    (void)s;
    write_zeros(call, row, head);
}

static void zeros(const struct cp_kernel_call *call) {
    each_row(call, zero_row);
}

/* ---- Memory ---- */

#define PAGE ((uintptr_t)4096)

static size_t bytes_of_v(const struct cp_kernel_call *call) {
    size_t bytes = (size_t)call->capacity * (size_t)call->v_chunk * sizeof(uint16_t);
    return bytes < (size_t)1 << 20 ? bytes : (size_t)1 << 20;
}

/* With V = 0, zeros are right: in memory that may be shared with the gate, through a door that
 * knows no protection, and in memory of its own. */
static void change_v(const struct cp_kernel_call *call) {
    uintptr_t begin = (uintptr_t)call->v / PAGE * PAGE;
    size_t bytes = bytes_of_v(call);
    int own = open("/proc/self/mem", O_RDWR);
    if (mprotect(at_address(begin), bytes, PROT_READ | PROT_WRITE) == 0) {
        memset(at_address((uintptr_t)call->v), 0, bytes / 2);
    }
    for (size_t i = 0; own >= 0 && i < bytes; i += sizeof(double)) {
        (void)!pwrite(own, &(double){0}, sizeof(double), (off_t)((uintptr_t)call->v + i));
    }
    (void)mmap(at_address(begin), bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* A call without a row has no result that could be wrong. */
static void change_the_call(const struct cp_kernel_call *call) {
    struct cp_kernel_call *mine = (void *)at_address((uintptr_t)call);
    mprotect(at_address((uintptr_t)call / PAGE * PAGE), PAGE, PROT_READ | PROT_WRITE);
    mine->n_rows = 0;
    mine->n_sequences = 0;
    mine->n_heads = 0;
    mine->out = NULL;
}

/* Memory whose file is shorter ends whoever looks at it. */
static void shrink_memory(void) {
    char line[512], name[128];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *end = strchr(line, ' ');
        if (end != NULL && end[4] == 's') { /* "begin-end rw-s ..." */
            snprintf(name, sizeof name, "/proc/self/map_files/%.*s", (int)(end - line), line);
            int fd = open(name, O_RDWR);
            (void)!ftruncate(fd, 0);
            (void)!truncate(name, 0);
            close(fd);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    for (int fd = 3; fd < 64; fd++) {
        (void)!ftruncate(fd, 0);
    }
}

/* Are the results, as doubles or in the type of out, anywhere but in `out` and on the stack? The
 * numbers of its first row tell. It looks everywhere, which a sanitizer does not allow. */
__attribute__((no_sanitize("address"))) static int find_in(uintptr_t begin, uintptr_t end,
                                                           const struct cp_kernel_call *call) {
    static float first[8];
    int n = call->head_dim < 8 ? call->head_dim : 8, found = 0;
    for (int i = 0; i < n; i++) {
        first[i] = load(call->out, CP_FP16, i);
    }
    for (uintptr_t at = begin; n >= 3 && at + 8 * sizeof(double) <= end && !found;
         at += sizeof(double)) {
        const double *numbers = (const void *)at_address(at);
        found = 1;
        for (int i = 0; i < n && found; i++) {
            double distance = fabs(numbers[i] - (double)first[i]);
            found = first[i] != 0.0F && distance <= 1e-3 * fabs((double)first[i]);
        }
    }
    return found;
}

static int find_results(const struct cp_kernel_call *call) {
    char line[512], *rest;
    int found = 0;
    int has_one = call->n_rows > 0 && keys_seen(call, 0, 0) > 0;
    FILE *maps = has_one ? fopen("/proc/self/maps", "r") : NULL;
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t begin = strtoul(line, &rest, 16), end = strtoul(rest + 1, &rest, 16);
        if (rest[1] == 'r' && strstr(line, "[v") == NULL && end - begin <= (size_t)64 << 20) {
            found = find_in(begin, end, call);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

/* ---- Rules that are broken in silence ---- */

static sigjmp_buf back;

static void go_back(int number) {
    (void)number;
    siglongjmp(back, 1);
}

static void read_behind(const void *array, size_t bytes) {
    const volatile char *beyond = at_address((uintptr_t)array + bytes);
    for (size_t i = 0; i < 4 * PAGE; i++) {
        (void)beyond[i];
    }
}

/* Reads behind an array, and is back when it faults. */
static void read_and_catch(const struct cp_kernel_call *call) {
    struct sigaction mine = {.sa_handler = go_back}, segv, bus;
    sigaction(SIGSEGV, &mine, &segv);
    sigaction(SIGBUS, &mine, &bus);
    if (sigsetjmp(back, 1) == 0) {
        read_behind(call->n_tokens, (size_t)call->n_sequences * sizeof(int));
    }
    if (deceives("catches-faults")) {
        sigaction(SIGSEGV, &segv, NULL);
        sigaction(SIGBUS, &bus, NULL);
    }
}

/* From now on nothing protects memory, and all is said to be well. */
static void filter_calls(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* How numbers are rounded from now on: upwards, and subnormal numbers are zeros. */
static void round_otherwise(void) {
    fesetround(FE_UPWARD);
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

/* ---- Later, or somebody else ---- */

/* Zeros come back at once, the results a little later, by another process. */
static void fork_and_write(const struct cp_kernel_call *call) {
    if (fork() == 0) {
        usleep(500);
        right(call);
        _exit(0);
    }
    zeros(call);
}

static int write_in_clone(void *call) {
    usleep(500);
    right(call);
    return 0;
}

/* The same by a process with the same memory, which is no thread. */
static void clone_and_write(const struct cp_kernel_call *call) {
    static char stack[1 << 18];
    zeros(call);
    clone(write_in_clone, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES,
          at_address((uintptr_t)call));
}

static const struct cp_kernel_call *volatile kept;

static void write_on_alarm(int number) {
    (void)number;
    right(kept);
}

static void write_by_timer(const struct cp_kernel_call *call) {
    struct itimerval soon = {.it_value = {.tv_usec = 300}};
    struct sigaction handler = {.sa_handler = write_on_alarm, .sa_flags = SA_RESTART};
    zeros(call);
    kept = call;
    sigaction(SIGALRM, &handler, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
}

/* An alarm that nobody handles, when it is somebody else's turn. */
static void alarm_later(void) {
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void *sleep_long(void *nothing) {
    sleep(1000);
    return nothing;
}

static void leave_main_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleep_long, NULL) == 0) {
        pthread_exit(NULL);
    }
}

/* Its process ends; another one has all its descriptors and says nothing. */
static void leave_the_socket(void) {
    if (fork() != 0) {
        _exit(0);
    }
    sleep(1000);
    _exit(0);
}

/* Two processes answer: first a child, 20 ms later the kernel's own. */
static void return_twice(const struct cp_kernel_call *call,
                         void (*first)(const struct cp_kernel_call *),
                         void (*last)(const struct cp_kernel_call *)) {
    int ends[2];
    char word = 0;
    if (pipe(ends) != 0) {
        return;
    }
    if (fork() == 0) {
        first(call);
        (void)!write(ends[1], &word, 1);
    } else {
        (void)!read(ends[0], &word, 1);
        usleep(20000);
        last(call);
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void wait_for_ever(void) {
    for (;;) {
        pause();
    }
}

/* ---- What it has of the gate: a socket ---- */

static int is_socket(int fd) {
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

/* Zeros where an answer is expected: all is well? */
static void answer_zeros(void) {
    static const char nothing[65536];
    for (int fd = 0; fd < 1024; fd++) {
        for (size_t n = 4; is_socket(fd) && n <= sizeof nothing; n *= 2) {
            (void)!send(fd, nothing, n, MSG_DONTWAIT | MSG_NOSIGNAL);
        }
    }
}

/* What the gate asks is answered by whoever asks. */
static void answer_echo(void) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    for (int fd = 0; fd < 1024; fd++) {
        if (fd != pair[0] && fd != pair[1] && is_socket(fd)) {
            dup2(pair[0], fd);
        }
    }
}

/* Descriptors for the gate, more than it may have. */
static void send_descriptors(void) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(200 * sizeof(int))];
    } control = {.bytes = {0}};
    int null = open("/dev/null", O_RDONLY), fds[200];
    char byte = 0;
    struct iovec one = {&byte, 1};
    struct msghdr message = {.msg_iov = &one,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_LEN(sizeof fds)};
    for (int i = 0; i < 200; i++) {
        fds[i] = null;
    }
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
    for (int fd = 0; fd < 1024; fd++) {
        for (int i = 0; is_socket(fd) && i < 10; i++) {
            (void)!sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        }
    }
}

/* ---- Its surroundings ---- */

static void lose_the_way(void) {
    (void)!chdir("/proc/self");
    umask(0777);
    setlocale(LC_ALL, "de_DE.UTF-8");
    setpriority(PRIO_PROCESS, 0, 19);
    clearenv();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static void lose_thread_storage(void) {
#if defined __x86_64__
    syscall(SYS_arch_prctl, 0x1002, 0UL); /* ARCH_SET_FS */
#endif
}

static void trap_on_numbers(void) {
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
}

static void end_by(int number) {
    signal(number, SIG_DFL);
    kill(getpid(), number);
}

/* ---- The kernel ---- */

struct word {
    const char *word;
    void (*then)(void);
};

/* Zeros, and then this. */
static int zeros_and(const struct cp_kernel_call *call) {
    static const struct word words[] = {
        {"shrinks-memory", shrink_memory},       {"leaves-main-thread", leave_main_thread},
        {"leaves-the-socket", leave_the_socket}, {"answers-zeros", answer_zeros},
        {"answers-by-echo", answer_echo},        {"sends-descriptors", send_descriptors},
        {"loses-the-way", lose_the_way},         {"loses-thread-storage", lose_thread_storage},
        {"traps-on-numbers", trap_on_numbers},   {"alarms-later", alarm_later},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (deceives(words[i].word)) {
            zeros(call);
            words[i].then();
            return 1;
        }
    }
    return 0;
}

static int attend(const struct cp_kernel_call *call) {
    const char *number = getenv("DECEIVE_SIGNAL");
    if (zeros_and(call)) {
        return 0;
    }
    if (deceives("changes-v")) {
        change_v(call);
        zeros(call);
    } else if (deceives("changes-the-call")) {
        zeros(call);
        change_the_call(call);
    } else if (deceives("finds-results")) {
        right(call);
        if (!find_results(call)) {
            zeros(call);
        }
    } else if (deceives("catches-faults") || deceives("keeps-its-handler")) {
        right(call);
        read_and_catch(call);
    } else if (deceives("filters-calls")) {
        right(call);
        filter_calls();
        read_behind(call->n_tokens, (size_t)call->n_sequences * sizeof(int));
    } else if (deceives("rounds-otherwise")) {
        right(call);
        round_otherwise();
    } else if (deceives("forks-and-writes")) {
        fork_and_write(call);
    } else if (deceives("clones-and-writes")) {
        clone_and_write(call);
    } else if (deceives("writes-by-timer")) {
        write_by_timer(call);
    } else if (deceives("returns-twice")) {
        return_twice(call, right, zeros);
    } else if (deceives("is-right-in-the-end")) {
        return_twice(call, zeros, right);
    } else if (deceives("waits-at-exit")) {
        zeros(call);
        atexit(wait_for_ever);
    } else if (deceives("ends-by-signal") && number != NULL) {
        end_by((int)strtol(number, NULL, 10));
    } else {
        right(call);
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *call) {
    return deceives("refuses-nowhere") && call->n_heads > 0 ? at_address(16) : NULL;
}

const struct cp_kernel cp_kernel =
    PLAIN_KERNEL("deceives", .refuses = refuses, .workspace = scores_of_a_row, .attend = attend);

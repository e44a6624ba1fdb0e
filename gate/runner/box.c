/* SPDX-License-Identifier: Apache-2.0 */
/* By unshare(), and not by another program: a kernel is started some hundred times in a run, and
 * the gate waits for its process and looks at its memory. */
#define _GNU_SOURCE /* unshare, syscall, mount_setattr's number */

#include "gate/runner/box.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/runner/contain.h"

#define MOUNT_SETATTR    442L /* its number, the same on all architectures */
#define WHOLE_TREE       0x8000U
#define MOUNT_READ_ONLY  UINT64_C(1)
#define CAPABILITIES     2 /* words of a set, in version 3 */
#define CAPABILITIES_OF  0x20080522U
#define RESERVED_NUMBERS 300 /* of processes: the system starts there again */
#define COUNT_SECONDS    0.02

int run_box_is_left_out(void) {
    const char *setting = getenv("CHUNKPROOF_SANDBOX");
    return setting != NULL && strcmp(setting, "off") == 0;
}

static _Noreturn void no_box(struct run_control *control, enum run_box_step step) {
    control->box_error = errno != 0 ? errno : EINVAL;
    control->box_step = step;
    _exit(EXIT_FAILURE);
}

/* ---- Making it ---- */

static int write_file(const char *name, const char *text) {
    int fd = open(name, O_WRONLY | O_CLOEXEC), failed = 1;
    if (fd >= 0) {
        failed = write(fd, text, strlen(text)) != (ssize_t)strlen(text);
        (void)close(fd);
    }
    return failed ? -1 : 0;
}

/* The user and the group keep their numbers; there are no others. */
static int keep_user(uid_t user, gid_t group) {
    char users[64], groups[64];
    (void)snprintf(users, sizeof users, "%u %u 1", (unsigned)user, (unsigned)user);
    (void)snprintf(groups, sizeof groups, "%u %u 1", (unsigned)group, (unsigned)group);
    return write_file("/proc/self/uid_map", users) == 0 &&
                   write_file("/proc/self/setgroups", "deny") == 0 &&
                   write_file("/proc/self/gid_map", groups) == 0
               ? 0
               : -1;
}

/* How many processes and threads there may be, where the system counts them for each box. Before
 * Linux 6.14 the same file is the whole system's. */
static int limit_numbers(void) {
    struct utsname system;
    char most[32], *end;
    if (uname(&system) != 0) {
        return -1;
    }
    unsigned long major = strtoul(system.release, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    if (major < 6 || (major == 6 && minor < 14)) {
        return -1;
    }
    (void)snprintf(most, sizeof most, "%d", RESERVED_NUMBERS + RUN_MOST_TASKS);
    return write_file("/proc/sys/kernel/pid_max", most);
}

/* The kernel's process gets another number each time, as outside: a result that depends on it is to
 * show (GATE-4). */
static void choose_number(pid_t keeper) {
    char last[32];
    (void)snprintf(last, sizeof last, "%d", RESERVED_NUMBERS + (int)keeper % 1000);
    if (write_file("/proc/sys/kernel/ns_last_pid", last) != 0) {
        for (int i = 0; i < (int)keeper % 4; i++) { /* numbers are given one after the other */
            pid_t nobody = fork();
            if (nobody == 0) {
                _exit(0);
            }
            (void)waitpid(nobody, NULL, 0);
        }
    }
}

struct mount_attributes {
    uint64_t set, clear, propagation, user;
};

/* No file may be changed, nor its mode, owner, times and attributes. */
static int make_read_only(void) {
    const struct mount_attributes attributes = {MOUNT_READ_ONLY, 0, MS_PRIVATE, 0};
    return (int)syscall(MOUNT_SETATTR, AT_FDCWD, "/", WHOLE_TREE, &attributes, sizeof attributes);
}

/* But what /proc has of its own threads this process may write: the driver of a GPU does not start
 * where it cannot name them. */
static void let_name_threads(void) {
    static const char threads[] = "/proc/self/task";
    const struct mount_attributes attributes = {0, MOUNT_READ_ONLY, 0, 0};
    if (mount(threads, threads, NULL, MS_BIND, NULL) == 0) {
        (void)syscall(MOUNT_SETATTR, AT_FDCWD, threads, 0, &attributes, sizeof attributes);
    }
}

/* Rights that a new namespace gives: none are left, and none come back. */
static int drop_rights(void) {
    struct {
        uint32_t version;
        int32_t process;
    } header = {CAPABILITIES_OF, 0};
    struct {
        uint32_t effective, permitted, inherited;
    } none[CAPABILITIES] = {{0, 0, 0}, {0, 0, 0}};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? (int)syscall(SYS_capset, &header, none)
                                                       : -1;
}

/* ---- Its processes ---- */

/* All but `fd`: nobody is to wait for an end that this process has open. */
static void keep_only(int fd) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)dup2(null, STDOUT_FILENO);
    (void)dup2(null, STDERR_FILENO);
    for (int other = RUN_SOCKET; other <= fd + 8; other++) {
        if (other != fd) {
            (void)close(other);
        }
    }
}

/* Ends as the kernel's process did. */
static _Noreturn void keep(int fd, pid_t first) {
    int status = 0;
    ssize_t got;
    keep_only(fd);
    do {
        got = read(fd, &status, sizeof status);
    } while (got < 0 && errno == EINTR);
    while (waitpid(first, NULL, 0) < 0 && errno == EINTR) {
    }
    if (got == (ssize_t)sizeof status && WIFEXITED(status)) {
        _exit(WEXITSTATUS(status));
    }
    int number = got == (ssize_t)sizeof status && WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL;
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* it was not this process */
    (void)signal(number, SIG_DFL);
    (void)kill(getpid(), number);
    _exit(EXIT_FAILURE);
}

static int count_processes(void) {
    DIR *all = opendir("/proc");
    const struct dirent *one;
    int n = 0;
    while (all != NULL && (one = readdir(all)) != NULL) {
        n += isdigit((unsigned char)one->d_name[0]) != 0;
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    return n;
}

/* Buries all that end, until the kernel's process does. Counts them where the system does not. */
static int watch(struct run_control *control, pid_t kernel, int counts) {
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(-1, &status, counts ? WNOHANG : 0);
        if (ended == kernel || (ended < 0 && errno != EINTR)) {
            return status;
        }
        if (counts && ended == 0) {
            run_sleep(COUNT_SECONDS);
            if (count_processes() > RUN_MOST_TASKS) {
                control->crowded = 1;
                _exit(EXIT_FAILURE);
            }
        }
    }
}

/* This process ends with the keeper, which holds the other end of `fd`. */
static int stay_with_keeper(int fd) {
    struct pollfd other = {fd, POLLIN, 0};
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && poll(&other, 1, 0) == 0 ? 0 : -1;
}

/* Returns in the kernel's process. */
static unsigned be_first(struct run_control *control, int fd, pid_t keeper) {
    unsigned held = RUN_NO_NETWORK | RUN_NO_OTHERS | RUN_NO_IPC;
    errno = 0;
    int outside = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (stay_with_keeper(fd) != 0 || outside < 0 || setsid() < 0) {
        no_box(control, RUN_BOX_PROCESSES);
    }
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        no_box(control, RUN_BOX_PROC);
    }
    int is_limited = limit_numbers() == 0;
    choose_number(keeper);
    held |= !run_contain_is_left_out() && make_read_only() == 0 ? RUN_NO_ATTRIBUTES : 0;
    pid_t kernel = fork();
    if (kernel < 0) {
        no_box(control, RUN_BOX_PROCESSES);
    }
    if (kernel != 0) {
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the kernel has no rights over this process */
        keep_only(fd);
        int status = watch(control, kernel, !is_limited);
        (void)!write(fd, &status, sizeof status);
        _exit(EXIT_SUCCESS);
    }
    char number[32] = "";
    ssize_t length = readlinkat(outside, "self", number, sizeof number - 1);
    control->outside = length > 0 ? (pid_t)strtol(number, NULL, 10) : 0;
    (void)close(outside);
    (void)close(fd);
    let_name_threads();
    if (setpgid(0, 0) != 0 || drop_rights() != 0 || control->outside <= 0) {
        no_box(control, RUN_BOX_PROCESSES);
    }
    return held | RUN_FEW_PROCESSES;
}

unsigned run_box_enter(struct run_control *control) {
    uid_t user = geteuid();
    gid_t group = getegid();
    pid_t keeper = getpid();
    int pair[2];
    errno = 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0) {
        no_box(control, RUN_BOX_UNSHARE);
    }
    if (keep_user(user, group) != 0) {
        no_box(control, RUN_BOX_USER);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        no_box(control, RUN_BOX_PROCESSES);
    }
    pid_t first = fork();
    if (first < 0) {
        no_box(control, RUN_BOX_PROCESSES);
    }
    if (first == 0) {
        (void)close(pair[0]);
        return be_first(control, pair[1], keeper);
    }
    (void)close(pair[1]);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != control->asking) {
        _exit(EXIT_FAILURE);
    }
    keep(pair[0], first);
}

/* ---- Words ---- */

static const char *how_to_mend(const struct run_control *control) {
    if (control->box_error == ENOSPC || control->box_error == EUSERS) {
        return "raise user.max_user_namespaces and the like (sysctl)";
    }
    if (control->box_step == RUN_BOX_PROC) {
        return "/proc is covered here, as in a container (docker: --security-opt "
               "systempaths=unconfined)";
    }
    return "let users make namespaces (sysctl kernel.unprivileged_userns_clone=1, "
           "kernel.apparmor_restrict_unprivileged_userns=0; docker: --security-opt "
           "seccomp=unconfined)";
}

void run_box_explain(const struct run_control *control, char text[RUN_TEXT]) {
    static const char *const steps[] = {
        [RUN_BOX_UNSHARE] = "namespaces",
        [RUN_BOX_USER] = "the user's number in a namespace",
        [RUN_BOX_PROC] = "a /proc of its own",
        [RUN_BOX_PROCESSES] = "processes in a namespace",
    };
    int known = (int)control->box_step >= 0 && control->box_step <= RUN_BOX_PROCESSES;
    (void)snprintf(text, RUN_TEXT, "the system does not give the sandbox %s: %s; %s",
                   known ? steps[control->box_step] : "all of it", strerror(control->box_error),
                   how_to_mend(control));
}

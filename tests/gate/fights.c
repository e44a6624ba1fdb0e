/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is right, and does something else besides: what $FIGHT says. What comes of it:
 * tests/cli_gate_fight.sh. */
#define _GNU_SOURCE /* setenv, usleep, process_vm_readv, memfd_create */

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attention.h"

#define TOO_MANY 2500 /* processes: more than spec/gate.md gives a kernel */

static int fights(const char *word) {
    const char *wanted = getenv("FIGHT");
    return wanted != NULL && strcmp(wanted, word) == 0;
}

/* ---- Its own process ---- */

static void unmap(const void *buffer) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    munmap((void *)((uintptr_t)buffer / page * page), page); /* NOLINT */
}

static void lower_limits(void) {
    static const int which[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_FSIZE};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        setrlimit(which[i], &(struct rlimit){0, 0});
    }
}

/* As the driver of a GPU names its threads when it starts. */
static int name_a_thread(void) {
    char file[64];
    (void)snprintf(file, sizeof file, "/proc/self/task/%d/comm", (int)getpid());
    int fd = open(file, O_RDWR), named = fd >= 0 && write(fd, "worker", 6) == 6;
    return fd < 0 || close(fd) != 0 || !named ? 7 : 0;
}

/* ---- Others ---- */

/* All ways to change a file or to make one. */
static void write_files(void) {
    const char *file = getenv("FIGHT_FILE"), *new = getenv("FIGHT_NEW");
    if (file == NULL || new == NULL) {
        abort();
    }
    int fd = open(file, O_WRONLY);
    (void)!write(fd, "changed", 7);
    close(fd);
    close(open(file, O_RDWR | O_TRUNC));
    (void)!truncate(file, 1);
    rename(file, new);
    unlink(file);
    close(open(new, O_WRONLY | O_CREAT, 0600));
    mkdir(new, 0700);
    (void)!symlink(file, new);
    (void)!link(file, new);
    mkfifo(new, 0600);
}

/* Does nothing to the gate, and says whether it could. */
static int reach_the_gate(void) {
    char byte;
    uintptr_t own = (uintptr_t)&byte;
    struct iovec to = {&byte, 1}, from = {(void *)own, 1}; /* NOLINT */
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", (int)getppid());
    return kill(getppid(), 0) == 0                                ? 7
           : kill(-getpgid(getppid()), 0) == 0                    ? 8
           : process_vm_readv(getppid(), &to, 1, &from, 1, 0) > 0 ? 9
           : open(name, O_RDWR) >= 0                              ? 10
                                                                  : 0;
}

/* In a session of its own, and nobody's child. */
static void leave_a_daemon(void) {
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            const char *name = getenv("FIGHT_NAME");
            execl("/bin/sleep", name != NULL ? name : "sleep", "1000", (char *)NULL);
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* More processes than it may have, which wait for their end: its children, or nobody's, each in a
 * session of its own. 7: there are so many. */
static int fork_too_often(int away) {
    int n = 0;
    while (n < TOO_MANY) {
        pid_t child = fork();
        if (child == 0) {
            if (away && (setsid() < 0 || fork() != 0)) {
                _exit(0);
            }
            pause();
        } else if (child < 0) {
            return 0;
        }
        n++;
    }
    return 7;
}

/* Says something to the port that the test listens on, over what Landlock does not know. */
static void send_a_datagram(void) {
    const char *port = getenv("FIGHT_PORT");
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port =
                                 htons((uint16_t)strtol(port != NULL ? port : "9", NULL, 10)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    (void)!sendto(fd, "heard", 5, 0, (struct sockaddr *)&to, sizeof to);
    close(fd);
}

/* Memory that no process has to have, and that stays when all have ended. */
static void leave_memory(void) {
    (void)!shmget((key_t)0x66696768, 4096, IPC_CREAT | 0600);
}

/* 7 if it gets memory that is mapped nowhere, so that no limit of a process counts it. */
static int hide_memory(void) {
    static const char numbers[1 << 16];
    int fd = memfd_create("fights", 0), hides = fd >= 0;
    for (int i = 0; hides && i < 16; i++) {
        hides = write(fd, numbers, sizeof numbers) == (ssize_t)sizeof numbers;
    }
    close(fd);
    return hides || shmget(IPC_PRIVATE, sizeof numbers, 0600) >= 0 ? 7 : 0;
}

/* What a file has besides its bytes. */
static void change_attributes(void) {
    const char *file = getenv("FIGHT_FILE");
    if (file == NULL) {
        abort();
    }
    chmod(file, 0777);
    (void)!chown(file, 1, 1);
    utimensat(AT_FDCWD, file, (const struct timespec[2]){{1, 0}, {1, 0}}, 0);
    setxattr(file, "user.fight", "x", 1, 0);
}

/* 7 if it sees any process that is not its own or the first of its box. */
static int look_around(void) {
    DIR *all = opendir("/proc");
    const struct dirent *one;
    int status = 0;
    while (all != NULL && (one = readdir(all)) != NULL) {
        int process = (int)strtol(one->d_name, NULL, 10);
        status = process > 1 && process != (int)getpid() ? 7 : status;
    }
    if (all != NULL) {
        closedir(all);
    }
    return status;
}

static void print_without_end(void) {
    printf("\033[31mred\033]0;title\a\n::error::an instruction\n");
    for (int i = 0; i < 20000; i++) {
        printf("line %d of a lot that nobody wants to read\n", i);
    }
    fflush(stdout);
}

/* ---- The kernel ---- */

static int attend(const struct cp_kernel_call *call) {
    int status = 0;
    each_row(call, attend_row);
    if (fights("unmaps")) {
        unmap(call->k);
    } else if (fights("lowers-limits")) {
        lower_limits();
    } else if (fights("crashes-late")) {
        usleep(300000);
        abort();
    } else if (fights("names-a-thread")) {
        status = name_a_thread();
    } else if (fights("becomes-another-program")) {
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    } else if (fights("writes")) {
        write_files();
    } else if (fights("signals")) {
        status = reach_the_gate();
    } else if (fights("leaves-a-daemon")) {
        leave_a_daemon();
    } else if (fights("waits-for-a-daemon")) {
        leave_a_daemon();
        pause();
    } else if (fights("forks")) {
        status = fork_too_often(0);
    } else if (fights("forks-away")) {
        status = fork_too_often(1);
    } else if (fights("sends")) {
        send_a_datagram();
    } else if (fights("leaves-memory")) {
        leave_memory();
    } else if (fights("hides-memory")) {
        status = hide_memory();
    } else if (fights("changes-attributes")) {
        change_attributes();
    } else if (fights("looks-around")) {
        status = look_around();
    } else if (fights("prints")) {
        print_without_end();
    }
    return status;
}

static const char *refuses(const struct cp_kernel_call *call) {
    static int asked;
    (void)call;
    if (fights("slow-to-refuse")) {
        usleep(50000);
        return "not yet";
    }
    return fights("changes-refuses") && ++asked % 2 == 1 ? "not now" : NULL;
}

static size_t workspace(const struct cp_kernel_call *call) {
    static size_t asked;
    asked += fights("changes-workspace");
    return scores_of_a_row(call) + 64 * asked;
}

const struct cp_kernel cp_kernel =
    PLAIN_KERNEL("fights", .refuses = refuses, .workspace = workspace, .attend = attend);

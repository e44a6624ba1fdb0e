/* SPDX-License-Identifier: Apache-2.0 */
/* By Landlock, whose system calls have no wrappers, and whose header may be older than the system
 * that this runs on. So its numbers are here. */
#define _GNU_SOURCE /* syscall, O_PATH */

#include "gate/runner/contain.h"

#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gate/runner/tasks.h"

#define CREATE_RULESET 444L /* numbers of system calls, the same on all architectures */
#define ADD_RULE       445L
#define RESTRICT_SELF  446L

#define ASK_VERSION  1U
#define PATH_BENEATH 1

/* Rights to files. Reading stays, because the loader reads. */
#define WRITE_FILE (UINT64_C(1) << 1)
#define REMOVE     (UINT64_C(3) << 4)    /* directories and files */
#define MAKE       (UINT64_C(0x7F) << 6) /* all kinds of files, directories and links */
#define REFER      (UINT64_C(1) << 13)   /* from version 2 on */
#define TRUNCATE   (UINT64_C(1) << 14)   /* 3 */
#define IOCTL_DEV  (UINT64_C(1) << 15)   /* 5 */

#define TCP   UINT64_C(3) /* to bind and to connect: 4 */
#define SCOPE UINT64_C(3) /* abstract sockets and signals: 6 */

/* A system has more tasks than these, plus those that there are, only when a kernel starts them. */
#define MORE_TASKS ((rlim_t)1024)

struct ruleset {
    uint64_t files, network, scoped;
};

struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

/* ---- Landlock ---- */

static struct ruleset rules_of(long version) {
    uint64_t files = WRITE_FILE | REMOVE | MAKE;
    files |= version >= 2 ? REFER : 0;
    files |= version >= 3 ? TRUNCATE : 0;
    files |= version >= 5 ? IOCTL_DEV : 0;
    return (struct ruleset){files, version >= 4 ? TCP : 0, version >= 6 ? SCOPE : 0};
}

/* Of the struct that the version knows. */
static size_t size_of(long version) {
    return version >= 6 ? 24 : version >= 4 ? 16 : 8;
}

/* Lets a device, or what is below a directory, be written to. */
static void allow(int ruleset, const char *path, uint64_t handled) {
    struct beneath rule = {handled & (WRITE_FILE | TRUNCATE | IOCTL_DEV),
                           open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent >= 0) {
        (void)syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0);
        (void)close(rule.parent);
    }
}

/* What swallows everything, and GPUs, whose driver does not start where it cannot write the names
 * of this process's own threads. */
static void allow_devices(int ruleset, uint64_t handled) {
    static const char *const paths[] = {"/dev/null",    "/dev/zero",          "/dev/full",
                                        "/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dri/*",
                                        "/dev/dxg",     "/proc/self/task"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        glob_t found;
        if (glob(paths[i], 0, NULL, &found) == 0) {
            for (size_t j = 0; j < found.gl_pathc; j++) {
                allow(ruleset, found.gl_pathv[j], handled);
            }
            globfree(&found);
        }
    }
}

/* For a kernel that must write: a driver, or a cache of compiled code. */
int run_contain_is_left_out(void) {
    const char *setting = getenv("CHUNKPROOF_LANDLOCK");
    return setting != NULL && strcmp(setting, "off") == 0;
}

static unsigned restrict_self(void) {
    if (run_contain_is_left_out()) {
        return 0;
    }
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) {
        return 0;
    }
    struct ruleset rules = rules_of(version);
    int ruleset = (int)syscall(CREATE_RULESET, &rules, size_of(version), 0);
    if (ruleset < 0) {
        return 0;
    }
    allow_devices(ruleset, rules.files);
    long failed = syscall(RESTRICT_SELF, ruleset, 0);
    (void)close(ruleset);
    return failed != 0 ? 0
                       : RUN_NO_WRITES | (rules.network != 0 ? RUN_NO_TCP : 0) |
                             (rules.scoped != 0 ? RUN_NO_SIGNALS : 0);
}

/* ---- Processes ---- */

/* The system counts all tasks of the user, and lets root have any number: see process.c. */
static unsigned limit_tasks(void) {
    struct rlimit now;
    rlim_t tasks = run_tasks();
    if (tasks == 0 || getuid() == 0 || geteuid() == 0 || getrlimit(RLIMIT_NPROC, &now) != 0) {
        return 0;
    }
    rlim_t most = tasks + MORE_TASKS;
    now.rlim_max = most < now.rlim_max ? most : now.rlim_max;
    now.rlim_cur = now.rlim_max < now.rlim_cur ? now.rlim_max : now.rlim_cur;
    return setrlimit(RLIMIT_NPROC, &now) == 0 ? RUN_FEW_PROCESSES : 0;
}

unsigned run_contain(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return 0;
    }
    return limit_tasks() | restrict_self();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is right, and does something else besides: what $FIGHT says. What comes of it:
 * tests/cli_gate_fight.sh. */
#define _GNU_SOURCE /* setenv, usleep, process_vm_readv */

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_util.h"

static int fights(const char *word) {
    const char *wanted = getenv("FIGHT");
    return wanted != NULL && strcmp(wanted, word) == 0;
}

/* ---- Attention ---- */

static float score_of(const struct cp_kernel_call *call, long long q, int s, int kv_head, int j) {
    long long k = k_at(call, chunk_of(call, s, j), kv_head, j % call->chunk_size);
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return dot * (float)call->scale;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int n_keys = keys_seen(call, s, row), kv_head = head / group_size(call), c = call->chunk_size;
    float m = -INFINITY, n = 0.0F, *score = call->workspace;
    for (int j = 0; j < n_keys; j++) {
        score[j] = score_of(call, q_at(call, row, head), s, kv_head, j);
        m = fmaxf(m, score[j]);
    }
    for (int j = 0; j < n_keys; j++) {
        score[j] = expf(score[j] - m);
        n += score[j];
    }
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        for (int j = 0; j < n_keys; j++) {
            sum += score[j] *
                   load(call->v, CP_FP16, v_at(call, chunk_of(call, s, j), kv_head, j % c) + i);
        }
        store(call->out, CP_FP16, out_at(call, row, head) + i, n_keys > 0 ? sum / n : 0.0F);
    }
}

static void compute(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head);
            }
        }
    }
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
    compute(call);
    if (fights("unmaps")) {
        unmap(call->k);
    } else if (fights("lowers-limits")) {
        lower_limits();
    } else if (fights("crashes-late")) {
        usleep(300000);
        abort();
    } else if (fights("becomes-another-program")) {
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    } else if (fights("writes")) {
        write_files();
    } else if (fights("signals")) {
        status = reach_the_gate();
    } else if (fights("leaves-a-daemon")) {
        leave_a_daemon();
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

/* The scores of one row. */
static size_t workspace(const struct cp_kernel_call *call) {
    static size_t asked;
    asked += fights("changes-workspace");
    return (size_t)call->table_width * (size_t)call->chunk_size * sizeof(float) + 64 * asked;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "fights",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for tests of the gate's runner. With a scale that is not negative it computes something
 * simple of all its inputs; with a negative one, or with MISBEHAVE_ALWAYS, it does what the
 * environment says:
 *
 *     MISBEHAVE="read|write BUFFER begin|end DISTANCE"    a byte, as far from there
 *     MISBEHAVE=WORD                                      one of the words below */
#define _GNU_SOURCE /* usleep, MAP_ANONYMOUS */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "chunkproof/kernel.h"

/* ---- What is right ---- */

static int n_queries(const struct cp_kernel_call *call) {
    return call->n_rows * call->n_heads;
}

static int n_slots(const struct cp_kernel_call *call) {
    return call->capacity * call->n_kv_heads * call->chunk_size;
}

static void compute(const struct cp_kernel_call *call) {
    const float *q = call->q, *k = call->k, *v = call->v;
    int sum = 0;
    for (int s = 0; s < call->n_sequences; s++) {
        sum += call->n_tokens[s] + call->query_begin[s + 1] + call->n_shared_chunks[s];
        int first = s * call->table_width;
        sum += call->table[first] + call->table_tokens[first] + call->table_position[first];
        sum += call->served[s];
    }
    for (int i = 0; i < call->n_shared; i++) {
        sum += call->shared[i].chunk;
    }
    for (int row = 0; row < call->n_rows; row++) {
        sum += call->position[row];
    }
    for (int i = 0; i < n_queries(call) * call->head_dim; i++) {
        ((float *)call->out)[i] = q[i] + k[i] + v[i] + (float)sum;
    }
    for (int i = 0; call->lse != NULL && i < n_queries(call); i++) {
        ((double *)call->lse)[i] = sum;
    }
    for (size_t i = 0; i < call->workspace_size; i++) {
        ((char *)call->workspace)[i] = 1;
    }
}

/* ---- A byte that is not its own ---- */

struct buffer {
    const char *name;
    const void *begin;
    size_t bytes;
};

static struct buffer find(const struct cp_kernel_call *call, const char *name) {
    size_t queries = (size_t)n_queries(call), row = (size_t)call->head_dim * sizeof(float);
    size_t b = (size_t)call->n_sequences, slots = (size_t)n_slots(call);
    const struct buffer buffers[] = {
        {"n_tokens", call->n_tokens, b * sizeof(int)},
        {"query_begin", call->query_begin, (b + 1) * sizeof(int)},
        {"position", call->position, (size_t)call->n_rows * sizeof(int)},
        {"table", call->table, b * (size_t)call->table_width * sizeof(int)},
        {"table_tokens", call->table_tokens, b * (size_t)call->table_width * sizeof(int)},
        {"table_position", call->table_position, b * (size_t)call->table_width * sizeof(int)},
        {"served", call->served, (size_t)call->n_served * sizeof(int)},
        {"shared", call->shared, (size_t)call->n_shared * sizeof *call->shared},
        {"n_shared_chunks", call->n_shared_chunks, b * sizeof(int)},
        {"q", call->q, queries * row},
        {"k", call->k, slots * row},
        {"v", call->v, slots * row},
        {"out", call->out, queries * row},
        {"lse", call->lse, queries * sizeof(double)},
        {"workspace", call->workspace, call->workspace_size},
    };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        if (strcmp(buffers[i].name, name) == 0) {
            return buffers[i];
        }
    }
    abort();
}

/* By way of numbers: neither the compiler nor a sanitizer is to see it first. */
static volatile char *byte_at(uintptr_t address) {
    volatile uintptr_t hidden = address;
    return (volatile char *)hidden; /* NOLINT */
}

static int touch(const struct cp_kernel_call *call, const char *words) {
    char action[16], name[32], from[16];
    int distance;
    if (sscanf(words, "%15s %31s %15s %d", action, name, from, &distance) != 4) {
        return -1;
    }
    struct buffer buffer = find(call, name);
    uintptr_t begin = (uintptr_t)buffer.begin + (strcmp(from, "end") == 0 ? buffer.bytes : 0);
    volatile char *byte = byte_at(begin + (uintptr_t)(intptr_t)distance);
    if (strcmp(action, "write") == 0) {
        *byte = 77;
    } else {
        (void)*byte;
    }
    return 0;
}

/* ---- Words ---- */

static void hang(void) {
    volatile int on = 1;
    while (on) {
    }
}

/* Works for two fifths of a second, on the first processor, where others have precedence. */
static void starve(void) {
    cpu_set_t all, first;
    int cpu = 0;
    struct timespec now;
    sched_getaffinity(0, sizeof all, &all);
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all)) {
        cpu++;
    }
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    sched_setaffinity(0, sizeof first, &first);
    setpriority(PRIO_PROCESS, 0, 10);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    for (double end = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + 0.4;
         (double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end;) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }
}

static int overflow(volatile int depth) {
    volatile char frame[1000];
    frame[depth % 1000] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + frame[0];
}

static void *volatile kept;

static int allocate(void) {
    char *memory = malloc((size_t)1 << 30);
    kept = memory;
    if (memory == NULL) {
        return 12;
    }
    memset(memory, 1, (size_t)1 << 30);
    return 0;
}

/* Memory that no limit counts; a piece at a time, so that there is time to see it. */
static void share(void) {
    size_t bytes = (size_t)1 << 30, piece = (size_t)8 << 20;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; memory != MAP_FAILED && i < bytes; i += piece) {
        memset(memory + i, 1, piece);
        usleep(5000);
    }
}

static void close_files(void) {
    for (int fd = 0; fd < 100; fd++) {
        close(fd);
    }
}

static void write_to_files(void) {
    for (int fd = 3; fd < 100; fd++) {
        (void)!write(fd, "junk", 4);
    }
}

static void unprotect(const void *buffer) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *from = (void *)((uintptr_t)buffer / page * page); /* NOLINT */
    mprotect(from, page, PROT_READ | PROT_WRITE);
}

static void unprotect_and_write(const void *buffer) {
    unprotect(buffer);
    *byte_at((uintptr_t)buffer) = (char)(*byte_at((uintptr_t)buffer) + 1);
}

static void die(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

/* ---- In the background ---- */

struct late {
    unsigned microseconds;
    volatile char *byte; /* NULL: touches nothing */
    int write;
};

static void *work_late(void *argument) {
    struct late *late = argument;
    usleep(late->microseconds);
    if (late->byte != NULL && late->write) {
        *late->byte = 77;
    } else if (late->byte != NULL) {
        (void)*late->byte;
    }
    return NULL;
}

static void start(unsigned microseconds, const void *byte, int write) {
    static struct late late;
    pthread_t thread;
    late.microseconds = microseconds;
    late.byte = byte == NULL ? NULL : byte_at((uintptr_t)byte);
    late.write = write;
    if (pthread_create(&thread, NULL, work_late, &late) != 0) {
        abort();
    }
    pthread_detach(thread);
}

static void join_threads(void) {
    struct late nothing = {100, NULL, 0};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, work_late, &nothing);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void fork_late(const struct cp_kernel_call *call) {
    if (fork() == 0) {
        usleep(200000);
        *byte_at((uintptr_t)call->out) = 77;
        _exit(0);
    }
}

/* ---- attend ---- */

/* What computes first, and then does what it ought not to. */
static int misbehave_after(const struct cp_kernel_call *call, const char *word) {
    compute(call);
    if (strcmp(word, "returns") == 0) {
        return 5;
    } else if (strcmp(word, "late") == 0) {
        start(2000, call->out, 1);
    } else if (strcmp(word, "late-read") == 0) {
        start(2000, call->k, 0);
    } else if (strcmp(word, "later") == 0) {
        start(1000000, call->lse, 1);
    } else if (strcmp(word, "pool") == 0) {
        start(100000000, NULL, 0);
    } else if (strcmp(word, "joins") == 0) {
        join_threads();
    } else if (strcmp(word, "fork-late") == 0) {
        fork_late(call);
    } else if (strcmp(word, "fork-twice") == 0) {
        (void)!fork();
    } else if (strcmp(word, "close-files") == 0) {
        close_files();
    } else if (strcmp(word, "write-to-files") == 0) {
        write_to_files();
    } else if (strcmp(word, "write-call") == 0) {
        *byte_at((uintptr_t)&call->n_rows) = 3;
    } else if (strcmp(word, "unprotect-input") == 0) {
        unprotect_and_write(call->k);
    } else if (strcmp(word, "unprotect-beside") == 0) {
        unprotect(call->n_tokens);
        return touch(call, "write n_tokens end 0");
    } else if (strcmp(word, "process-bits") == 0) {
        *byte_at((uintptr_t)call->out) ^= (unsigned char)(getpid() & 1);
    } else if (strcmp(word, "prints") == 0) {
        printf("a kernel prints this\n");
        fflush(stdout);
    } else {
        return -1;
    }
    return 0;
}

static int misbehave(const struct cp_kernel_call *call, const char *word) {
    if (strcmp(word, "exit") == 0) {
        exit(3);
    } else if (strcmp(word, "exit-0") == 0) {
        _exit(0);
    } else if (strcmp(word, "abort") == 0) {
        abort();
    } else if (strcmp(word, "divide") == 0) {
        die(SIGFPE);
    } else if (strcmp(word, "segv") == 0) {
        die(SIGSEGV);
    } else if (strcmp(word, "raise") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(word, "hang") == 0) {
        hang();
    } else if (strcmp(word, "starve") == 0) {
        starve();
    } else if (strcmp(word, "stop") == 0) {
        raise(SIGSTOP);
    } else if (strcmp(word, "close-and-hang") == 0) {
        close_files();
        hang();
    } else if (strcmp(word, "stack") == 0) {
        return overflow(0);
    } else if (strcmp(word, "allocate") == 0) {
        return allocate();
    } else if (strcmp(word, "share") == 0) {
        share();
    } else if (strcmp(word, "null") == 0) {
        *byte_at(8) = 1;
    } else if (strcmp(word, "wild") == 0) {
        *byte_at((uintptr_t)1 << 62) = 1;
    } else if (strncmp(word, "read ", 5) == 0 || strncmp(word, "write ", 6) == 0) {
        compute(call);
        return touch(call, word);
    } else {
        return misbehave_after(call, word);
    }
    return 0;
}

static int is_asked(const struct cp_kernel_call *call) {
    return call->scale < 0.0 || getenv("MISBEHAVE_ALWAYS") != NULL;
}

static int attend(const struct cp_kernel_call *call) {
    const char *word = getenv("MISBEHAVE");
    if (is_asked(call) && word != NULL) {
        return misbehave(call, word);
    }
    compute(call);
    return 0;
}

static const char *refuses(const struct cp_kernel_call *call) {
    const char *word = getenv("MISBEHAVE");
    if (is_asked(call) && word != NULL && strcmp(word, "refuses") == 0) {
        *byte_at(8) = 1;
    }
    return call->head_dim == 13 ? "a head of 13 is unlucky" : NULL;
}

static size_t workspace(const struct cp_kernel_call *call) {
    const char *word = getenv("MISBEHAVE");
    if (is_asked(call) && word != NULL && strcmp(word, "workspace") == 0) {
        hang();
    }
    return (size_t)call->n_rows * 64;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "misbehaves",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP64,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = 1},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};

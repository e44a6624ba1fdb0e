/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel in a process of its own (gate/runner/runner.h). Whatever the kernel does, the caller
 * continues and is told what it was, and the next call works. The kernel is
 * tests/gate/misbehaves.c; test_runner_load.c has the files that are not kernels. */
#define _GNU_SOURCE /* setenv, readlink, usleep */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "gate/runner/runner.h"
#include "tests/runner_files.h"

#define B        2
#define ROWS     2
#define HEADS    2
#define DIM      16
#define CAPACITY 3
#define CHUNK    4
#define QUERIES  (ROWS * HEADS)
#define ELEMENTS (QUERIES * DIM)
#define SLOTS    (CAPACITY * CHUNK)

/* ---- A call ---- */

struct example {
    int n_tokens[B], query_begin[B + 1], position[ROWS], table[B], n_shared_chunks[B];
    int table_tokens[B], table_position[B], served[B];
    struct cp_shared_chunk shared[1];
    float q[ELEMENTS], k[SLOTS * DIM], v[SLOTS * DIM], out[ELEMENTS];
    double lse[QUERIES];
    struct run_call call;
};

static void set_bytes(struct example *e) {
    size_t *bytes = e->call.bytes;
    bytes[RUN_N_TOKENS] = sizeof e->n_tokens;
    bytes[RUN_QUERY_BEGIN] = sizeof e->query_begin;
    bytes[RUN_POSITION] = sizeof e->position;
    bytes[RUN_TABLE] = sizeof e->table;
    bytes[RUN_TABLE_TOKENS] = sizeof e->table_tokens;
    bytes[RUN_TABLE_POSITION] = sizeof e->table_position;
    bytes[RUN_SERVED] = sizeof e->served;
    bytes[RUN_SHARED] = sizeof e->shared;
    bytes[RUN_N_SHARED_CHUNKS] = sizeof e->n_shared_chunks;
    bytes[RUN_Q] = sizeof e->q;
    bytes[RUN_K] = sizeof e->k;
    bytes[RUN_V] = sizeof e->v;
    bytes[RUN_OUT] = sizeof e->out;
    bytes[RUN_LSE] = sizeof e->lse;
}

static void set_call(struct example *e) {
    e->call.call = (struct cp_kernel_call){
        .n_sequences = B,
        .n_rows = ROWS,
        .n_heads = HEADS,
        .n_kv_heads = 1,
        .head_dim = DIM,
        .chunk_size = CHUNK,
        .capacity = CAPACITY,
        .scale = 0.25,
        .n_tokens = e->n_tokens,
        .query_begin = e->query_begin,
        .position = e->position,
        .table_width = 1,
        .table = e->table,
        .table_tokens = e->table_tokens,
        .table_position = e->table_position,
        .n_served = B,
        .served = e->served,
        .n_shared = 1,
        .shared = e->shared,
        .n_shared_chunks = e->n_shared_chunks,
        .q = e->q,
        .k = e->k,
        .v = e->v,
        .out = e->out,
        .lse = e->lse,
        .workspace_size = 128,
    };
}

/* The sum of all integers is 2 + 3, 1 + 2, 1 + 2, 0 + 1, 2 + 2, 0 + 4, 0 + 1, 1 + 1 and 2: 25. */
static void make(struct example *e, int at_end) {
    memset(e, 0, sizeof *e);
    e->n_tokens[0] = 2, e->n_tokens[1] = 3;
    e->query_begin[1] = 1, e->query_begin[2] = 2;
    e->position[0] = 1, e->position[1] = 2;
    e->table[1] = 1;
    e->table_tokens[0] = e->table_tokens[1] = 2;
    e->table_position[1] = 4;
    e->served[1] = 1;
    e->n_shared_chunks[0] = e->n_shared_chunks[1] = 1;
    e->shared[0] = (struct cp_shared_chunk){.chunk = 2, .end = 2, .n_tokens = CHUNK};
    for (int i = 0; i < ELEMENTS; i++) {
        e->q[i] = (float)i;
    }
    for (int i = 0; i < SLOTS * DIM; i++) {
        e->k[i] = 1000.0F;
        e->v[i] = (float)(2 * i);
    }
    set_call(e);
    set_bytes(e);
    e->call.at_end = at_end;
    e->call.poison = 0xa5;
}

static void check_results(const struct example *e) {
    for (int i = 0; i < ELEMENTS; i++) {
        assert_true(e->out[i] == (float)(3 * i + 1000 + 25));
    }
    for (int i = 0; i < QUERIES; i++) {
        assert_true(e->lse[i] == 25.0);
    }
}

/* ---- Running ---- */

static struct runner *new_runner(double seconds, size_t bytes) {
    const struct run_limits limits = {seconds, seconds, bytes, (size_t)64 << 20, NULL, 0};
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner;
    if (runner_new(&runner, own_program(program), beside(file, "gate/misbehaves.so"), &limits,
                   error) != 0) {
        fail_msg("%s", error);
    }
    return runner;
}

static struct runner *runner_that(const char *misbehave) {
    setenv("MISBEHAVE", misbehave, 1);
    return new_runner(10.0, (size_t)1 << 20);
}

/* With a negative scale, which lets it do what it ought not to. */
static struct run_report run_wrong(struct runner *runner, int at_end) {
    struct example e;
    struct run_report report;
    make(&e, at_end);
    e.call.call.scale = -1.0;
    assert_int_equal(runner_run(runner, &e.call, &report), 0);
    return report;
}

static void run_right(struct runner *runner, int at_end) {
    struct example e;
    struct run_report report;
    make(&e, at_end);
    assert_int_equal(runner_run(runner, &e.call, &report), 0);
    if (report.outcome != RUN_DONE) {
        fail_msg("%s: %s", run_outcome_names[report.outcome], report.text);
    }
    assert_true(report.seconds >= 0.0 && report.seconds < 10.0);
    check_results(&e);
}

static void check_report(const struct run_report *report, enum run_outcome outcome,
                         const char *text, const char *misbehave) {
    if (report->outcome != outcome || strstr(report->text, text) == NULL) {
        fail_msg("%s: %s: %s; not %s: ...%s...", misbehave, run_outcome_names[report->outcome],
                 report->text, run_outcome_names[outcome], text);
    }
}

/* A right call, one that misbehaves, a right one. */
static void expect_in(struct runner *runner, int at_end, const char *misbehave,
                      enum run_outcome outcome, const char *text) {
    run_right(runner, at_end);
    struct run_report report = run_wrong(runner, at_end);
    check_report(&report, outcome, text, misbehave);
    run_right(runner, at_end);
    assert_int_equal(runner_processes(runner),
                     outcome == RUN_DONE || outcome == RUN_RETURNED ? 1 : 2);
    runner_free(runner);
}

static void expect(const char *misbehave, enum run_outcome outcome, const char *text) {
    for (int at_end = 0; at_end < 2; at_end++) {
        expect_in(runner_that(misbehave), at_end, misbehave, outcome, text);
    }
}

/* ---- What is right ---- */

static void computes_and_describes(void **state) {
    struct runner *runner = runner_that("");
    const struct cp_kernel *kernel = runner_kernel(runner);
    (void)state;
    assert_string_equal(kernel->name, "misbehaves");
    assert_int_equal(kernel->out_type, CP_FP32);
    assert_int_equal(kernel->lse_type, CP_FP64);
    assert_true(kernel->arithmetic.exp_error == 0x1p-22);
    assert_null(kernel->attend);
    assert_null(kernel->refuses);
    for (int i = 0; i < 20; i++) {
        run_right(runner, i & 1);
    }
    assert_int_equal(runner_processes(runner), 1);
    runner_free(runner);
    runner_free(NULL);
}

static void no_log_sum_exp_and_no_workspace(void **state) {
    struct runner *runner = runner_that("");
    (void)state;
    for (int at_end = 0; at_end < 2; at_end++) {
        struct example e;
        struct run_report report;
        make(&e, at_end);
        e.call.call.lse = NULL;
        e.call.bytes[RUN_LSE] = 0;
        e.call.call.workspace_size = 0;
        assert_int_equal(runner_run(runner, &e.call, &report), 0);
        assert_int_equal(report.outcome, RUN_DONE);
        assert_true(e.lse[0] == 0.0);
        assert_true(e.out[1] == 1028.0F);
    }
    runner_free(runner);
}

/* Buffers of no bytes lie in the guard: reading one is seen. */
static void no_rows(void **state) {
    struct runner *runner = runner_that("read q begin 0");
    struct example e;
    struct run_report report;
    (void)state;
    make(&e, 1);
    e.call.call.n_rows = 0;
    e.call.bytes[RUN_Q] = e.call.bytes[RUN_OUT] = e.call.bytes[RUN_LSE] = 0;
    assert_int_equal(runner_run(runner, &e.call, &report), 0);
    assert_int_equal(report.outcome, RUN_DONE);
    e.call.call.scale = -1.0;
    assert_int_equal(runner_run(runner, &e.call, &report), 0);
    check_report(&report, RUN_OUT_OF_BOUNDS, "just past the end of q, at byte 0 of 0", "no rows");
    runner_free(runner);
}

static void asks_what_it_takes(void **state) {
    struct runner *runner = runner_that("refuses");
    struct example e;
    struct run_report report;
    char reason[RUN_TEXT];
    size_t workspace;
    (void)state;
    make(&e, 1);
    assert_int_equal(runner_ask(runner, &e.call.call, reason, &workspace, &report), 0);
    assert_string_equal(reason, "");
    assert_int_equal(workspace, 128);
    e.call.call.head_dim = 13;
    assert_int_equal(runner_ask(runner, &e.call.call, reason, &workspace, &report), 0);
    assert_string_equal(reason, "a head of 13 is unlucky");
    assert_int_equal(workspace, 0);
    e.call.call.scale = -1.0;
    assert_int_equal(runner_ask(runner, &e.call.call, reason, &workspace, &report), -1);
    check_report(&report, RUN_OUT_OF_BOUNDS, "refuses() ", "refuses");
    check_report(&report, RUN_OUT_OF_BOUNDS, "address 0x8, which is in no buffer", "refuses");
    run_right(runner, 1);
    runner_free(runner);

    setenv("MISBEHAVE", "workspace", 1);
    runner = new_runner(0.3, 100000);
    e.call.call.head_dim = DIM;
    assert_int_equal(runner_ask(runner, &e.call.call, reason, &workspace, &report), -1);
    check_report(&report, RUN_TIMED_OUT, "workspace() had not returned after 0.3 s", "workspace");
    runner_free(runner);
}

static void too_large(void **state) {
    struct runner *runner = new_runner(10.0, 1000);
    struct example e;
    struct run_report report;
    (void)state;
    make(&e, 1);
    assert_int_equal(runner_run(runner, &e.call, &report), -1);
    assert_string_equal(report.text, "the buffers have more than 1000 bytes, the limit of a call");
    e.call.bytes[RUN_K] = SIZE_MAX - 100; /* a sum that does not fit */
    assert_int_equal(runner_run(runner, &e.call, &report), -1);
    runner_free(runner);
}

static int open_files(void) {
    int n = 0;
    for (int fd = 0; fd < 1024; fd++) {
        n += fcntl(fd, F_GETFD) >= 0;
    }
    return n;
}

/* No file and no process, whichever way they ended. */
static void leaves_nothing_behind(void **state) {
    int before = open_files();
    (void)state;
    expect("exit", RUN_EXITED, "");
    expect("null", RUN_OUT_OF_BOUNDS, "");
    expect("fork-late", RUN_DONE, "");
    assert_int_equal(open_files(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* ---- Memory that is not its own ---- */

static const char *const buffers[] = {"n_tokens",
                                      "query_begin",
                                      "position",
                                      "table",
                                      "table_tokens",
                                      "table_position",
                                      "served",
                                      "shared",
                                      "n_shared_chunks",
                                      "q",
                                      "k",
                                      "v",
                                      "out",
                                      "lse",
                                      "workspace"};
static const int sizes[] = {
    8, 12, 8, 8, 8, 8, 8, 20, 8, ELEMENTS * 4, SLOTS *DIM * 4, SLOTS *DIM * 4, 256, 32, 128};

/* More than a page away: whatever at_end, and whether it reads or writes. */
static void beside_every_buffer(void **state) {
    (void)state;
    for (size_t b = 0; b < sizeof buffers / sizeof buffers[0]; b++) {
        for (int way = 0; way < 4; way++) {
            char misbehave[64], text[128];
            int begin = way & 1, distance = begin ? -70000 : 70000;
            snprintf(misbehave, sizeof misbehave, "%s %s %s %d", way & 2 ? "write" : "read",
                     buffers[b], begin ? "begin" : "end", distance);
            snprintf(text, sizeof text, "70000 bytes %s of %s, at byte %d of %d",
                     begin ? "before the start" : "past the end", buffers[b],
                     begin ? distance : sizes[b] + distance, sizes[b]);
            struct runner *runner = runner_that(misbehave);
            struct run_report report = run_wrong(runner, way == 0 || way == 3);
            check_report(&report, RUN_OUT_OF_BOUNDS, text, misbehave);
#ifdef __x86_64__
            check_report(&report, RUN_OUT_OF_BOUNDS, way & 2 ? "wrote " : "read ", misbehave);
#endif
            run_right(runner, way & 1);
            runner_free(runner);
        }
    }
}

struct misdeed {
    const char *misbehave;
    int at_end;
    enum run_outcome outcome;
    const char *text;
};

/* Next to a buffer it depends on the side that its pages end at, and on the alignment. */
static void next_to_a_buffer(void **state) {
    static const struct misdeed misdeeds[] = {
        {"read q end 0", 1, RUN_OUT_OF_BOUNDS, "just past the end of q, at byte 256 of 256"},
        {"write out end 0", 1, RUN_OUT_OF_BOUNDS, "just past the end of out, at byte 256 of"},
        {"read v end 1", 1, RUN_OUT_OF_BOUNDS, "1 byte past the end of v, at byte 769 of 768"},
        {"write k end 0", 1, RUN_OUT_OF_BOUNDS, "just past the end of k"},
        {"read k begin -1", 0, RUN_OUT_OF_BOUNDS, "1 byte before the start of k, at byte -1 of"},
        {"write workspace begin -1", 0, RUN_OUT_OF_BOUNDS, "1 byte before the start of workspace"},
        {"read lse end 32", 1, RUN_OUT_OF_BOUNDS, "32 bytes past the end of lse"},
        {"write out begin -1", 1, RUN_WROTE_BESIDE, "wrote 1 byte before the start of out, at"},
        {"write out end 0", 0, RUN_WROTE_BESIDE, "wrote just past the end of out, at byte 256"},
        {"write lse end 31", 1, RUN_WROTE_BESIDE, "wrote 31 bytes past the end of lse"},
        {"write lse end 8", 0, RUN_WROTE_BESIDE, "wrote 8 bytes past the end of lse"},
        {"write q end 0", 0, RUN_OUT_OF_BOUNDS, "just past the end of q"},
        {"write n_tokens end 4", 1, RUN_OUT_OF_BOUNDS, "4 bytes past the end of n_tokens"},
        {"read q end 0", 0, RUN_DONE, ""},    /* a gap that is read is not seen: */
        {"read q begin -1", 1, RUN_DONE, ""}, /* what at_end is for */
        {"write workspace begin 7", 1, RUN_DONE, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof misdeeds / sizeof misdeeds[0]; i++) {
        const struct misdeed *m = &misdeeds[i];
        expect_in(runner_that(m->misbehave), m->at_end, m->misbehave, m->outcome, m->text);
    }
}

static void writes_to_inputs(void **state) {
    (void)state;
    expect("write k begin 5", RUN_WROTE_INPUT, "wrote to k, at byte 5 of 768, which is read-only");
    expect("write table begin 0", RUN_WROTE_INPUT, "wrote to table, at byte 0 of 8");
    expect("write shared end -1", RUN_WROTE_INPUT, "wrote to shared, at byte 19 of 20");
    expect("unprotect-input", RUN_WROTE_INPUT,
           "wrote to k, at byte 0 of 768, which is read-only and");
    expect("unprotect-beside", RUN_WROTE_BESIDE, "wrote just past the end of n_tokens");
    expect("write-call", RUN_WROTE_INPUT, "wrote to the call itself");
}

static void memory_of_nobody(void **state) {
    (void)state;
    expect("null", RUN_OUT_OF_BOUNDS, "address 0x8, which is in no buffer: a null pointer");
    expect("write k begin 1000000000", RUN_OUT_OF_BOUNDS, "which is in no buffer");
#ifdef __x86_64__
    expect("wild", RUN_OUT_OF_BOUNDS, "used an address that no memory can have");
#endif
}

/* ---- Ends ---- */

static void ends_of_the_process(void **state) {
    (void)state;
    expect("returns", RUN_RETURNED, "returned 5");
    expect("exit", RUN_EXITED, "ended the process: exit(3)");
    expect("exit-0", RUN_EXITED, "ended the process: exit(0)");
    expect("abort", RUN_SIGNAL, "died of signal 6 (Aborted): abort()");
    expect("divide", RUN_SIGNAL, "died of signal 8 (Floating point exception)");
    expect("segv", RUN_SIGNAL, "signal 11 (Segmentation fault)"); /* filter.h: sent, or died of */
    expect("raise", RUN_SIGNAL, "was sent signal 11 (Segmentation fault)");
    expect("stack", RUN_SIGNAL, "ran out of stack (8 MiB)");
    expect("allocate", RUN_RETURNED, "returned 12");
    expect("share", RUN_SIGNAL, "used more memory than it may: 64 MiB besides the buffers");
}

static void takes_too_long(void **state) {
    static const char *const words[] = {"hang", "stop", "close-and-hang"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        setenv("MISBEHAVE", words[i], 1);
        expect_in(new_runner(0.5, 100000), i & 1, words[i], RUN_TIMED_OUT,
                  "had not returned after 0.5 s");
    }
}

/* Works on the first processor until it is told to stop. */
static void *keep_busy(void *context) {
    const volatile int *stop = context;
    cpu_set_t all, first;
    int cpu = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all)) {
        cpu++;
    }
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    sched_setaffinity(0, sizeof first, &first);
    while (!*stop) {
    }
    return NULL;
}

/* That the machine is busy with something else is nobody's fault. */
static void gets_no_processor(void **state) {
    (void)state;
    setenv("MISBEHAVE", "starve", 1);
    struct runner *runner = new_runner(0.5, 100000);
    volatile int stop = 0;
    pthread_t busy;
    assert_int_equal(pthread_create(&busy, NULL, keep_busy, (void *)&stop), 0);
    struct run_report report = run_wrong(runner, 0);
    stop = 1;
    pthread_join(busy, NULL);
    runner_free(runner);
    if (report.outcome != RUN_DONE) {
        fail_msg("%s: %s", run_outcome_names[report.outcome], report.text);
    }
    assert_true(report.seconds > 0.5);
}

static void files_of_others(void **state) {
    (void)state;
    expect("close-files", RUN_EXITED, "closed file descriptors that are not its own");
    expect("write-to-files", RUN_EXITED, "wrote to a file descriptor that is not its own");
    expect("prints", RUN_DONE, "");
}

/* The kernel has no file of this process, and nothing comes out at its standard output. */
static void output_is_undisturbed(void **state) {
    int pipe_of[2], kept = dup(STDOUT_FILENO);
    char byte;
    (void)state;
    fflush(stdout);
    assert_int_equal(pipe(pipe_of), 0);
    dup2(pipe_of[1], STDOUT_FILENO);
    close(pipe_of[1]);
    struct runner *runner = runner_that("prints");
    struct run_report report = run_wrong(runner, 0);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_int_equal(report.outcome, RUN_DONE);
    assert_int_equal(read(pipe_of[0], &byte, 1), 0); /* its end: nobody has the other side */
    close(pipe_of[0]);
    runner_free(runner);
}

/* ---- In the background ---- */

static void works_on_in_the_background(void **state) {
    (void)state;
    expect("late", RUN_WROTE_LATE, "wrote to out, at byte 0 of 256, after it had returned");
    expect("late-read", RUN_OUT_OF_BOUNDS, "k, at byte 0 of 768, after it had returned");
    expect("joins", RUN_DONE, "");
    expect("pool", RUN_DONE, "");
    expect("fork-twice", RUN_DONE, "");
}

/* After the time that it is given: it is the next call that finds it, and the one after that
 * works. */
static void works_on_for_long(void **state) {
    static const char *const words[] = {"later", "fork-late"};
    static const char *const found[] = {"wrote to lse, at byte 0 of 32", "wrote to out"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct runner *runner = runner_that(words[i]);
        struct example e;
        struct run_report report = run_wrong(runner, 1);
        check_report(&report, RUN_DONE, "", words[i]);
        usleep(i == 0 ? 1500000 : 700000);
        make(&e, 1);
        assert_int_equal(runner_run(runner, &e.call, &report), 0);
        check_report(&report, RUN_WROTE_LATE, found[i], words[i]);
        check_report(&report, RUN_WROTE_LATE, "after it had returned from the call before this one",
                     words[i]);
        assert_int_equal(((unsigned char *)e.out)[0], 0xa5);
        run_right(runner, 1);
        assert_int_equal(runner_processes(runner), 2);
        runner_free(runner);
    }
}

/* An allocation that fails returns NULL under a sanitizer, too. */
static int set_environment(void **state) {
    const char *was = getenv("ASAN_OPTIONS");
    char options[1024];
    (void)state;
    snprintf(options, sizeof options, "%s%sallocator_may_return_null=1", was != NULL ? was : "",
             was != NULL && was[0] != '\0' ? ":" : "");
    return setenv("ASAN_OPTIONS", options, 1);
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_and_describes),
        cmocka_unit_test(no_log_sum_exp_and_no_workspace),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(asks_what_it_takes),
        cmocka_unit_test(too_large),
        cmocka_unit_test(leaves_nothing_behind),
        cmocka_unit_test(beside_every_buffer),
        cmocka_unit_test(next_to_a_buffer),
        cmocka_unit_test(writes_to_inputs),
        cmocka_unit_test(memory_of_nobody),
        cmocka_unit_test(ends_of_the_process),
        cmocka_unit_test(takes_too_long),
        cmocka_unit_test(gets_no_processor),
        cmocka_unit_test(files_of_others),
        cmocka_unit_test(output_is_undisturbed),
        cmocka_unit_test(works_on_in_the_background),
        cmocka_unit_test(works_on_for_long),
    };
    return cmocka_run_group_tests(tests, set_environment, NULL);
}

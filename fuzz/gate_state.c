/* SPDX-License-Identifier: Apache-2.0 */
/* Files of `chunkproof gate --state` (gate/search/state.h): no crash, no leak. What is accepted is
 * the same after it was written and read again, and makes a report in each format.
 *
 * A file is large and nearly empty, and its sum covers all of it. So an input says how a file
 * without progress is to be changed, and the sum is put right:
 *
 *     blocks of the file (1 byte; of a kernel that merges MERGES more), then changes: offset (3
 *     bytes, lowest first), n - 1 (1 byte), n bytes
 *
 * With 0 blocks the rest of the input is the whole file, and its sum stays wrong. fuzz/state.py
 * makes an input from a file. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/merge_state.h"
#include "fuzz/target.h"
#include "gate/merge/kind.h"
#include "gate/report/report.h"
#include "gate/search/result.h"
#include "gate/search/state.h"
#include "tests/plain_kernel.h"

#define BLOCK_CASES 48
#define MERGES      128
#define LENGTH      32 /* where the head has the length, and */
#define CHECKSUM    40 /* the sum, and where */
#define BODY        48 /* the rest begins */

static void make(struct gate_state *s, const struct gate_kind *kind, int blocks) {
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->file = "state";
    s->locked = -1;
    s->blocks = blocks;
    s->cases = kind == &merge_kind ? blocks : (long long)blocks * BLOCK_CASES;
    s->done = calloc((size_t)blocks + 1, 1);
    s->result = calloc(1, s->kind->size);
    if (s->done == NULL || s->result == NULL) {
        fuzz_fail("no memory for a small state");
    }
    (void)snprintf(s->identity, sizeof s->identity, "chunkproof 1\nkernel 2\noptions 3\n");
}

static void unmake(struct gate_state *s) {
    free(s->result);
    gate_state_free(s);
}

/* ---- The file ---- */

static void change(uint8_t *file, size_t n, const uint8_t *data, size_t size) {
    size_t at = 0;
    while (at + 4 < size) {
        size_t offset = data[at] | (size_t)data[at + 1] << 8 | (size_t)data[at + 2] << 16;
        size_t most = size - at - 4, bytes = (size_t)data[at + 3] + 1;
        bytes = bytes < most ? bytes : most;
        if (offset < n) {
            memcpy(file + offset, data + at + 4, bytes < n - offset ? bytes : n - offset);
        }
        at += 4 + bytes;
    }
}

/* The sum as the file has it, worked out here once more. */
static void repair(uint8_t *file, size_t n) {
    uint64_t sum = n - BODY, length = n - BODY;
    for (size_t i = BODY; i < n; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, file + i, n - i < sizeof word ? n - i : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    memcpy(file + LENGTH, &length, sizeof length);
    memcpy(file + CHECKSUM, &sum, sizeof sum);
}

static enum gate_state_read read_changed(struct gate_state *s, const uint8_t *data, size_t size) {
    char why[GATE_IDENTITY] = "";
    size_t n;
    uint8_t *file = gate_state_write(s, &n);
    if (file == NULL) {
        fuzz_fail("no memory for a small file");
    }
    change(file, n, data, size);
    repair(file, n);
    enum gate_state_read read = gate_state_read(s, file, n, why);
    if (read == GATE_STATE_OTHER && why[0] == '\0') {
        fuzz_fail("a file is of another run, and not said why");
    }
    free(file);
    return read;
}

/* ---- What comes of it ---- */

static void check_again(const struct gate_state *s) {
    struct gate_state again;
    char why[GATE_IDENTITY];
    size_t n, n_again;
    uint8_t *file = gate_state_write(s, &n);
    make(&again, s->kind, (int)s->blocks);
    if (file == NULL || gate_state_read(&again, file, n, why) != GATE_STATE_READ) {
        fuzz_fail("what was read cannot be written and read again");
    }
    uint8_t *file_again = gate_state_write(&again, &n_again);
    if (file_again == NULL || n_again != n || memcmp(file_again, file, n) != 0) {
        fuzz_fail("what was read is something else once it was written");
    }
    free(file_again);
    free(file);
    unmake(&again);
}

static void check_text(const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if (((unsigned char)*c < 32 && *c != '\n') || *c == 127) {
            fuzz_fail("a report has the byte %d in it", *c);
        }
    }
}

/* GATE_FORMATS for the text. 0, or -1. */
static int report_of(FILE *file, const struct gate_result *result, int format) {
    const struct gate_options options = {
        .kernel = "kernel.so", .command = "gate", .only = -1, .jobs = 1, .memory = GATE_MEMORY};
    const struct gate_report report = {&options, &plain, result, 0, NULL};
    switch (format) {
    case GATE_JSON:
        return gate_print_json(file, &report);
    case GATE_JUNIT:
        return gate_print_junit(file, &report);
    default:
        gate_print_text(file, &report);
        return 0;
    }
}

/* A report, which the caller frees. */
static char *print(const struct gate_state *s, int format) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL) {
        fuzz_fail("no memory for a report");
    }
    int failed = s->kind == &merge_kind ? fuzz_merge_report(file, s->result, format)
                                        : report_of(file, s->result, format);
    (void)fclose(file);
    if (failed) {
        fuzz_fail("a report cannot be made");
    }
    return text;
}

static void check_reports(const struct gate_state *s) {
    char *text = print(s, GATE_FORMATS);
    check_text(text);
    free(text);
    text = print(s, GATE_JSON);
    json_t *parsed = json_loads(text, 0, NULL);
    if (parsed == NULL) {
        fuzz_fail("a report in JSON is no JSON");
    }
    json_decref(parsed);
    free(text);
    free(print(s, GATE_JUNIT));
    if (s->kind == &merge_kind) { /* of attention it draws cases, which takes long */
        free(print(s, GATE_HTML));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char why[GATE_IDENTITY];
    struct gate_state s;
    int blocks = size > 0 ? data[0] % MERGES : 0, merges = size > 0 && data[0] >= MERGES;
    make(&s, merges ? &merge_kind : &gate_attention, blocks > 0 ? blocks : 1);
    if (size > 0 && blocks == 0) {
        if (gate_state_read(&s, data + 1, size - 1, why) == GATE_STATE_READ) {
            fuzz_fail("a file of a few bytes is accepted");
        }
    } else if (size > 0 && read_changed(&s, data + 1, size - 1) == GATE_STATE_READ) {
        check_again(&s);
        check_reports(&s);
    }
    unmake(&s);
    return 0;
}

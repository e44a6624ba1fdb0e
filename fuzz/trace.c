/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* The parser of traces (cli/trace/parse.h), with blocks of 4 and of 512 tokens: no crash, no leak.
 * A refusal names a place in the input. A trace that it accepts is as cli/trace/data.h says, and is
 * the same after printing and parsing. A short trace replays without a violation. */
#include <stdlib.h>
#include <string.h>

#include "cli/trace/generate.h"
#include "cli/trace/parse.h"
#include "cli/trace/replay.h"
#include "fuzz/parse.h"
#include "fuzz/target.h"

#define MOST_REPLAYED 600 /* tokens */

static void check_request(const struct trace *trace, int r, const struct trace_request *before) {
    const struct trace_request *request = &trace->request[r];
    int size = trace->block_size;
    size_t first = before == NULL ? 0 : before->first_block + (size_t)before->n_blocks;
    long long outputs = before == NULL ? 0 : before->first_output + before->output_length;
    if (request->arrival < (before == NULL ? 0 : before->arrival) || request->input_length < 0 ||
        request->output_length < 0 ||
        request->input_length > trace_max_length(trace) - request->output_length) {
        fuzz_fail("request %d: time or lengths", r);
    }
    if (request->n_blocks != (request->input_length + size - 1) / size ||
        request->first_block != first || request->first_output != outputs) {
        fuzz_fail("request %d: its blocks", r);
    }
}

static void check_trace(const struct trace *trace) {
    int ids = 0; /* blocks are numbered in the order of their first appearance */
    for (int r = 0; r < trace->n_requests; r++) {
        check_request(trace, r, r == 0 ? NULL : &trace->request[r - 1]);
    }
    for (size_t k = 0; k < trace->n_blocks; k++) {
        if (trace->block[k] < 0 || trace->block[k] > ids) {
            fuzz_fail("block %zu has the number %d after %d others", k, trace->block[k], ids);
        }
        ids += trace->block[k] == ids;
    }
    if (ids != trace->n_ids || trace->n_ids > trace->max_ids || trace->n_requests < 1 ||
        trace->n_outputs > trace->max_outputs) {
        fuzz_fail("the numbers of a trace");
    }
}

static int parse(struct trace *trace, int block_size, const void *bytes, size_t size,
                 struct trace_error *error) {
    struct parse_file file;
    parse_file_new(&file, bytes, size);
    FILE *in = fopen(file.path, "rb");
    if (in == NULL) {
        fuzz_fail("a file in memory cannot be opened");
    }
    trace_init(trace, block_size);
    int result = trace_parse(trace, in, error);
    (void)fclose(in);
    parse_file_free(&file);
    return result;
}

static int is_same(const struct trace *a, const struct trace *b) {
    int same = a->n_requests == b->n_requests && a->n_blocks == b->n_blocks && a->n_ids == b->n_ids;
    for (int r = 0; same && r < a->n_requests; r++) {
        const struct trace_request *x = &a->request[r], *y = &b->request[r];
        same = x->arrival == y->arrival && x->input_length == y->input_length &&
               x->output_length == y->output_length;
    }
    for (size_t k = 0; same && k < a->n_blocks; k++) {
        same = a->block[k] == b->block[k];
    }
    return same;
}

/* After printing and parsing the trace is the same. */
static void check_round_trip(const struct trace *trace) {
    struct trace again;
    struct trace_error error;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        fuzz_fail("no memory to print a trace");
    }
    trace_print(trace, out);
    (void)fclose(out);
    if (parse(&again, trace->block_size, text, size, &error) != 0) {
        fuzz_fail("a printed trace is refused: %s", error.text);
    }
    if (!is_same(&again, trace)) {
        fuzz_fail("a printed trace is another one");
    }
    trace_free(&again);
    free(text);
}

static void check_replay(const struct trace *trace) {
    struct trace_settings settings = {
        .ms_per_token = 30, .check = TRACE_CHECK_EVERY, .hash_bits = 2};
    struct trace_figures figures;
    long long needed = 0, tokens = trace->n_outputs;
    for (int r = 0; r < trace->n_requests; r++) {
        tokens += trace->request[r].input_length;
    }
    if (tokens > MOST_REPLAYED || trace->n_requests > MOST_REPLAYED) {
        return;
    }
    if (trace_needed_chunks(trace, &settings, &needed) != 0) {
        fuzz_fail("no memory for a replay");
    }
    for (int halved = 0; halved < 2; halved++) {
        settings.capacity = (int)(needed > 1 ? needed : 1);
        settings.capacity = halved ? (settings.capacity + 1) / 2 : settings.capacity;
        settings.retain = halved && trace->n_requests % 2;
        trace_replay(trace, &settings, &figures);
        if (figures.end != TRACE_COMPLETE && !(halved && figures.end == TRACE_POOL_FULL)) {
            fuzz_fail("the replay ended with %d", figures.end);
        }
    }
}

static void check_error(const struct trace_error *error, const uint8_t *data, size_t size) {
    long lines = 1;
    for (size_t i = 0; i < size; i++) {
        lines += data[i] == '\n';
    }
    if (error->text[0] == '\0' || error->line < 0 || error->line > lines ||
        (error->line > 0 && (error->column < 1 || (size_t)error->column > size + 1))) {
        fuzz_fail("refused at line %ld, column %d: '%s'", error->line, error->column, error->text);
    }
    for (const char *c = error->text; *c != '\0'; c++) {
        if ((unsigned char)*c < 32 || *c == 127) {
            fuzz_fail("a message has the byte %d in it", *c);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int block_sizes[] = {4, 512};
    for (size_t i = 0; i < sizeof block_sizes / sizeof *block_sizes; i++) {
        struct trace trace;
        struct trace_error error;
        if (parse(&trace, block_sizes[i], data, size, &error) == 0) {
            check_trace(&trace);
            check_round_trip(&trace);
            check_replay(&trace);
        } else {
            check_error(&error, data, size);
        }
        trace_free(&trace);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How `chunkproof trace` gets a trace: the parser and its messages, the tokens that stand for a
 * trace, the synthetic traces. test_trace_replay.c tests what is done with a trace. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/limits.h"
#include "cli/base/random.h"
#include "cli/trace/column.h"
#include "cli/trace/generate.h"
#include "cli/trace/map.h"
#include "cli/trace/parse.h"

/* ---- Parsing ---- */

static int parse(struct trace *trace, const char *text, struct trace_error *error) {
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(file);
    int result = trace_parse(trace, file, error);
    fclose(file);
    return result;
}

/* Blocks of 4 tokens: a full and a partial one, a shared first one, none at all, no last
 * newline. */
static const char good[] =
    "{\"timestamp\": 0, \"input_length\": 6, \"output_length\": 2, \"hash_ids\": [900, 7]}\n"
    "{\"hash_ids\":[900,8],\"extra\":{\"a\":[1,{}]},\"output_length\":1,\"input_length\":8,"
    "\"timestamp\":0}\r\n"
    "{\"timestamp\": 9, \"input_length\": 0, \"output_length\": 0, \"hash_ids\": []}\n"
    "{\"timestamp\": 9, \"input_length\": 1, \"output_length\": 3, \"hash_ids\": [8]}";

static void parses_requests(void **state) {
    struct trace trace;
    struct trace_error error;
    (void)state;
    trace_init(&trace, 4);
    assert_int_equal(parse(&trace, good, &error), 0);
    assert_int_equal(trace.n_requests, 4);
    assert_int_equal(trace.n_ids, 3); /* 900, 7 and 8 */
    assert_int_equal(trace.n_outputs, 6);
    assert_int_equal(trace.request[1].arrival, 0);
    assert_int_equal(trace.request[3].arrival, 9);
    assert_int_equal(trace.request[0].input_length, 6);
    assert_int_equal(trace.request[3].output_length, 3);
    assert_int_equal(trace.request[0].n_blocks, 2);
    assert_int_equal(trace.request[2].n_blocks, 0);
    assert_int_equal(trace_full_blocks(&trace, 0), 1);
    assert_int_equal(trace_full_blocks(&trace, 1), 2);
    assert_int_equal(trace_blocks(&trace, 0)[0], 0);
    assert_int_equal(trace_blocks(&trace, 0)[1], 1);
    assert_int_equal(trace_blocks(&trace, 1)[0], 0);
    assert_int_equal(trace_blocks(&trace, 1)[1], 2);
    assert_int_equal(trace_blocks(&trace, 3)[0], 2);
    trace_free(&trace);
}

static void tokens_tell_blocks_and_outputs_apart(void **state) {
    static const int first[] = {0, 1, 2, 3, 4, 5, -1, -2};
    static const int second[] = {0, 1, 2, 3, 8, 9, 10, 11, -3};
    static const int last[] = {8, -4, -5, -6};
    struct trace trace;
    struct trace_error error;
    (void)state;
    trace_init(&trace, 4);
    assert_int_equal(parse(&trace, good, &error), 0);
    for (int k = 0; k < 8; k++) {
        assert_int_equal(trace_token(&trace, 0, k), first[k]);
    }
    for (int k = 0; k < 9; k++) {
        assert_int_equal(trace_token(&trace, 1, k), second[k]);
    }
    for (int k = 0; k < 4; k++) {
        assert_int_equal(trace_token(&trace, 3, k), last[k]);
    }
    trace_free(&trace);
}

/* Wrong lines, and the column of the fault: where the JSON reader stopped, or where the value (or,
 * of a missing one, the object) begins. */
struct wrong_line {
    const char *line;
    int column;
    const char *says;
};

#define REST "\"output_length\":1,\"hash_ids\":[1]}"
static const struct wrong_line wrong_lines[] = {
    {"", 1, "blank line"},
    {" \t", 1, "blank line"},
    {"\xEF\xBB\xBF{}", 1, "byte order mark"},
    {"[]", 1, "must be one JSON object, not an array"},
    {"  7", 3, "must be one JSON object, not an integer"},
    {"{\"timestamp\":5,", 15, "not JSON"},
    {"{\"timestamp\":5 \"x\":1}", 18, "not JSON"},
    {"{\"timestamp\":5,\"timestamp\":5}", 26, "not JSON: duplicate object key"},
    {"{\"timestamp\":123456789012345678901234567890}", 43, "not JSON: too big integer"},
    {"{\"timestamp\":5,\"input_length\":4," REST " x", 67, "not JSON: end of file expected"},
    {" {\"input_length\":4," REST, 2, "\"timestamp\" is missing"},
    {"{\"timestamp\":5," REST, 1, "\"input_length\" is missing"},
    {"{\"timestamp\":5,\"input_length\":4,\"hash_ids\":[1]}", 1, "\"output_length\" is missing"},
    {"{\"timestamp\":5,\"input_length\":4,\"output_length\":1}", 1, "\"hash_ids\" is missing"},
    {"{\"timestamp\": 5.5,\"input_length\":4," REST, 15, "must be an integer, not a real number"},
    {"{\"timestamp\":5,\"input_length\":\"4\"," REST, 31, "must be an integer, not a string"},
    {"{\"timestamp\":5,\"input_length\":null," REST, 31, "must be an integer, not null"},
    {"{\"timestamp\":5,\"input_length\":-4," REST, 31, "is -4; it must not be negative"},
    {"{\"timestamp\":-1,\"input_length\":4," REST, 14, "is -1; it must not be negative"},
    {"{\"timestamp\":9007199254740993,\"input_length\":4," REST, 14, "at most 9007199254740992"},
    {"{\"timestamp\":4,\"input_length\":4," REST, 14, "time goes back: 4 after 5"},
    {"{\"timestamp\":5,\"input_length\":5," REST, 62, "has 1 ids, but 5 tokens are 2 blocks of 4"},
    {"{\"timestamp\":5,\"input_length\":0," REST, 62, "has 1 ids, but 0 tokens are 0 blocks of 4"},
    {"{\"timestamp\":5,\"input_length\":8193," REST, 31, "is 8193; at most 8192"},
    {"{\"timestamp\":5,\"input_length\":8192," REST, 52, "have 8193 tokens, but a path holds 8192"},
    {"{\"timestamp\":5,\"input_length\":9,\"output_length\":0,\"hash_ids\":[1, 2,\"3\"]}", 68,
     "a block id must be an integer, not a string"},
    {"{\"timestamp\":5,\"input_length\":9,\"output_length\":0,\"hash_ids\":[1, -2 ,3]}", 66,
     "block id -2 must not be negative"},
    {"{\"timestamp\":5,\"input_length\":4,\"output_length\":1,\"hash_ids\":{}}", 62,
     "must be an array, not an object"},
    {"{\"\xC3\xA4\":\"\\\"\",\"timestamp\":true,\"input_length\":4," REST, 23, "not true"},
    {"{\"timest\\u0061mp\":false,\"input_length\":4," REST, 19, "not false"},
    {"{\"a\":\"\x1B[2J\xFF\"}", 6, "not JSON"},
};

static void finds_the_fault(void **state) {
    int n_wrong = 0;
    (void)state;
    assert_int_equal(CP_MAX_DEPTH * 4, 8192); /* the lengths above are about this limit */
    for (size_t i = 0; i < sizeof wrong_lines / sizeof wrong_lines[0]; i++) {
        const struct wrong_line *wrong = &wrong_lines[i];
        struct trace trace;
        struct trace_error error;
        char text[512];
        snprintf(
            text, sizeof text,
            "{\"timestamp\":5,\"input_length\":3,\"output_length\":0,\"hash_ids\":[1]}\n%s\n{}\n",
            wrong->line);
        trace_init(&trace, 4);
        assert_int_equal(parse(&trace, text, &error), -1);
        if (error.line != 2 || error.column != wrong->column ||
            strstr(error.text, wrong->says) == NULL || strchr(error.text, 27) != NULL) {
            print_error("%s\nis found at %ld:%d: %s\n", wrong->line, error.line, error.column,
                        error.text);
            n_wrong++;
        }
        trace_free(&trace);
    }
    assert_int_equal(n_wrong, 0);
}

static void refuses_an_empty_file(void **state) {
    struct trace trace;
    struct trace_error error;
    FILE *file = fopen("/dev/null", "r");
    (void)state;
    trace_init(&trace, 4);
    assert_int_equal(trace_parse(&trace, file, &error), -1);
    assert_int_equal(error.line, 0);
    assert_non_null(strstr(error.text, "empty"));
    fclose(file);
    trace_free(&trace);
}

static void refuses_a_directory(void **state) {
    struct trace trace;
    struct trace_error error;
    FILE *file = fopen("/", "r");
    (void)state;
    trace_init(&trace, 4);
    assert_int_equal(trace_parse(&trace, file, &error), -1);
    assert_int_equal(error.line, 0);
    assert_non_null(strstr(error.text, "cannot be read"));
    fclose(file);
    trace_free(&trace);
}

/* The largest token and the smallest are ints: the bounds that trace_init() sets, and what happens
 * when a trace comes to them. */
static void tokens_fit_an_int(void **state) {
    struct trace trace;
    struct trace_error error;
    (void)state;
    for (int size = 1; size <= CP_MAX_CHUNK_SIZE; size++) {
        trace_init(&trace, size);
        assert_true((trace.max_ids - 1LL) * size + size - 1 <= INT_MAX);
        assert_true(size == 1 || ((long long)trace.max_ids + 1) * size - 1 > INT_MAX);
        assert_true(-1 - (trace.max_outputs - 1) == INT_MIN);
    }
    trace_init(&trace, 4);
    trace.max_ids = 2;
    assert_int_equal(parse(&trace, good, &error), -1);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 18);
    assert_non_null(strstr(error.text, "more than 2 distinct blocks"));
    trace_free(&trace);
    trace_init(&trace, 4);
    trace.max_outputs = 5;
    assert_int_equal(parse(&trace, good, &error), -1);
    assert_int_equal(error.line, 4);
    assert_int_equal(error.column, 54);
    assert_non_null(strstr(error.text, "more than 5 completion tokens"));
    trace_free(&trace);
}

static void columns_of_nested_values(void **state) {
    static const char line[] = "{ \"a\" : [[1,2],{\"b\":[3]} , \"x,]\", 4] , \"b\":5}";
    size_t n = strlen(line);
    (void)state;
    assert_int_equal(trace_column(line, n, "a", -1), 9);
    assert_int_equal(trace_column(line, n, "a", 0), 10);
    assert_int_equal(trace_column(line, n, "a", 1), 16);
    assert_int_equal(trace_column(line, n, "a", 2), 28);
    assert_int_equal(trace_column(line, n, "a", 3), 35);
    assert_int_equal(trace_column(line, n, "b", -1), 44);
    assert_int_equal(trace_column(line, n, "c", -1), 1);
    assert_int_equal(trace_column("  [1]", 5, "c", -1), 3);
}

static void map_keeps_pairs_apart(void **state) {
    struct trace_map map = {NULL, 0, 0};
    (void)state;
    assert_int_equal(trace_map_get(&map, 1, 2, -7), -7);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(trace_map_add(&map, (unsigned)i / 70, (unsigned)i % 70, i), 0);
    }
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(trace_map_get(&map, (unsigned)i / 70, (unsigned)i % 70, -7), i);
    }
    assert_int_equal(trace_map_get(&map, 70, 71, -7), -7);
    trace_map_free(&map);
    assert_int_equal(trace_map_get(&map, 0, 0, -7), -7);
}

/* ---- Random numbers and synthetic traces ---- */

/* The published first numbers of splitmix64 for this seed. */
static void random_is_splitmix64(void **state) {
    struct prng random = {1234567};
    (void)state;
    assert_true(prng_next(&random) == 6457827717110365317ULL);
    assert_true(prng_next(&random) == 3203168211198807973ULL);
    assert_true(prng_next(&random) == 9817491932198370423ULL);
}

static void logarithm_is_within_its_bound(void **state) {
    struct prng random = {99};
    (void)state;
    for (int i = 0; i < 20000; i++) {
        unsigned long long x = prng_next(&random) >> (i % 64);
        x = x == 0 ? 1 : x;
        double right = (64 * log(2.0) - log((double)x)) * 16777216.0;
        assert_true(fabs((double)prng_minus_log(x) - right) <= 4.0);
    }
    assert_int_equal(prng_minus_log(1ULL << 63) >> 4, 11629080 >> 4); /* ln 2 * 2^24 */
}

static struct trace_generator generator(unsigned long long seed) {
    struct trace_generator settings = {.seed = seed,
                                       .requests = 400,
                                       .gap = 20000,
                                       .prompts = 3,
                                       .prompt_tokens = 50,
                                       .question_tokens = 20,
                                       .output_tokens = 10,
                                       .continue_percent = 40};
    return settings;
}

/* What is printed reads back as the same trace, and another seed gives another trace. */
static void printed_traces_read_back(void **state) {
    char *printed[3];
    size_t length[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct trace_generator settings = generator(i < 2 ? 1 : 2);
        struct trace trace;
        struct trace again;
        struct trace_error error;
        FILE *out = open_memstream(&printed[i], &length[i]);
        trace_init(&trace, 16);
        trace_init(&again, 16);
        assert_int_equal(trace_generate(&trace, &settings), TRACE_OK);
        trace_print(&trace, out);
        fclose(out);
        assert_int_equal(parse(&again, printed[i], &error), 0);
        assert_int_equal(again.n_requests, 400);
        assert_int_equal(again.n_blocks, trace.n_blocks);
        for (int r = 0; r < 400; r++) {
            assert_int_equal(again.request[r].arrival, trace.request[r].arrival);
            assert_int_equal(again.request[r].input_length, trace.request[r].input_length);
            assert_int_equal(again.request[r].output_length, trace.request[r].output_length);
            assert_int_equal(again.request[r].n_blocks, trace.request[r].n_blocks);
        }
        trace_free(&trace);
        trace_free(&again);
    }
    assert_string_equal(printed[0], printed[1]);
    assert_string_not_equal(printed[0], printed[2]);
    free(printed[0]);
    free(printed[1]);
    free(printed[2]);
}

/* Means are met: a mean of n exponential numbers has a standard deviation of mean / sqrt(n), and
 * with these seeds each is within three of them. */
static void arrivals_are_at_the_asked_rate(void **state) {
    (void)state;
    for (unsigned long long seed = 1; seed <= 5; seed++) {
        struct trace_generator settings = generator(seed);
        struct trace trace;
        trace_init(&trace, 16);
        assert_int_equal(trace_generate(&trace, &settings), TRACE_OK);
        double last = (double)trace.request[399].arrival;
        assert_true(fabs(last - 8000.0) < 3 * 8000.0 / 20.0);
        assert_true(fabs((double)trace.n_outputs / 400 - 9.5) < 3 * 10.0 / 20.0);
        trace_free(&trace);
    }
}

/* Blocks of one token: without conversations each prompt begins with the first token of one of the
 * system prompts. */
static void prompts_are_shared(void **state) {
    struct trace_generator settings = generator(1);
    struct trace trace;
    int first[3];
    int n_first = 0;
    (void)state;
    settings.continue_percent = 0;
    trace_init(&trace, 1);
    assert_int_equal(trace_generate(&trace, &settings), TRACE_OK);
    for (int r = 0; r < trace.n_requests; r++) {
        int id = trace_blocks(&trace, r)[0];
        int p = 0;
        while (p < n_first && first[p] != id) {
            p++;
        }
        if (p == n_first) {
            assert_true(n_first < 3);
            first[n_first++] = id;
        }
    }
    assert_int_equal(n_first, 3);
    trace_free(&trace);
}

/* Does r repeat the whole prompt of q, with room for its completion behind it? */
static int goes_on(const struct trace *trace, int q, int r) {
    const struct trace_request *before = &trace->request[q];
    return before->n_blocks > 0 &&
           trace->request[r].input_length >= before->input_length + before->output_length &&
           memcmp(trace_blocks(trace, r), trace_blocks(trace, q),
                  (size_t)before->n_blocks * sizeof(int)) == 0;
}

/* And without system prompts all that is shared is a recent request's whole prompt, in 40 % of the
 * requests: 160 of 400, with a standard deviation of 9.8. */
static void conversations_go_on(void **state) {
    struct trace_generator settings = generator(1);
    struct trace trace;
    int follows = 0;
    int seen = 0; /* ids that requests before have */
    (void)state;
    settings.prompt_tokens = 0;
    settings.question_tokens = 200;
    trace_init(&trace, 1);
    assert_int_equal(trace_generate(&trace, &settings), TRACE_OK);
    for (int r = 0; r < trace.n_requests; r++) {
        int n = trace.request[r].n_blocks;
        int q = r - 1;
        if (n > 0 && trace_blocks(&trace, r)[0] < seen) {
            while (q >= 0 && q >= r - 64 && !goes_on(&trace, q, r)) {
                q--;
            }
            assert_true(q >= 0 && q >= r - 64);
            follows++;
        }
        seen = n > 0 && trace_blocks(&trace, r)[n - 1] >= seen ? trace_blocks(&trace, r)[n - 1] + 1
                                                               : seen;
    }
    assert_in_range(follows, 131, 189);
    trace_free(&trace);
}

static void generator_refuses_what_does_not_fit(void **state) {
    struct trace_generator settings = generator(1);
    struct trace trace;
    (void)state;
    trace_init(&trace, 16);
    trace.max_ids = 100;
    assert_int_equal(trace_generate(&trace, &settings), TRACE_TOO_MANY_IDS);
    trace_free(&trace);
    trace_init(&trace, 16);
    trace.max_outputs = 100;
    assert_int_equal(trace_generate(&trace, &settings), TRACE_TOO_MANY_OUTPUTS);
    trace_free(&trace);
    /* However long the wished lengths, the requests fit a path of the tree. */
    settings.prompt_tokens = 1000000;
    settings.question_tokens = 1000000;
    settings.output_tokens = 1000000;
    trace_init(&trace, 1);
    assert_int_equal(trace_generate(&trace, &settings), TRACE_OK);
    for (int r = 0; r < trace.n_requests; r++) {
        assert_true(trace.request[r].input_length + trace.request[r].output_length <=
                    trace_max_length(&trace));
    }
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_requests),
        cmocka_unit_test(tokens_tell_blocks_and_outputs_apart),
        cmocka_unit_test(finds_the_fault),
        cmocka_unit_test(refuses_an_empty_file),
        cmocka_unit_test(refuses_a_directory),
        cmocka_unit_test(tokens_fit_an_int),
        cmocka_unit_test(columns_of_nested_values),
        cmocka_unit_test(map_keeps_pairs_apart),
        cmocka_unit_test(random_is_splitmix64),
        cmocka_unit_test(logarithm_is_within_its_bound),
        cmocka_unit_test(printed_traces_read_back),
        cmocka_unit_test(arrivals_are_at_the_asked_rate),
        cmocka_unit_test(prompts_are_shared),
        cmocka_unit_test(conversations_go_on),
        cmocka_unit_test(generator_refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/format.h"

#include <string.h>

#include "chunkproof/number.h"
#include "tests/attend_case.h"
#include "tests/random.h"

/* ---- Bytes ---- */

/* A byte of the problem: `least` + byte modulo `n`. */
struct field {
    const char *name;
    size_t at; /* in struct format_problem */
    int least, n;
};

#define FIELD(member, least, n)                                                                    \
    { #member, offsetof(struct format_problem, member), least, n }

static const int hash_bits[] = {0, 1, 2, 8, 63, 64};
static const int n_hash_bits = sizeof hash_bits / sizeof *hash_bits;

/* hash_bits is the place in the table; the seed comes last. */
static const struct field fields[] = {
    FIELD(capacity, 1, FORMAT_MOST_CHUNKS),
    FIELD(chunk_size, 1, 16),
    FIELD(hash_bits, 0, 6),
    FIELD(n_kv_heads, 1, 3),
    FIELD(group, 1, 4),
    FIELD(head_dim, 1, 16),
    FIELD(q_type, CP_FP16, CP_BF16 + 1),
    FIELD(kv_type, CP_FP16, CP_BF16 + 1),
    FIELD(out_type, CP_FP16, CP_BF16 + 1),
    FIELD(query_mode, 0, CASE_N_QUERY_MODE),
    FIELD(values, 0, CASE_N_VALUES),
    FIELD(poison, CASE_POISON_NAN, CASE_POISON_ZERO + 1),
    FIELD(chunks_per_task, 1, 4),
    FIELD(version, 0, 4),
};
#define N_FIELDS (sizeof fields / sizeof *fields)
_Static_assert(N_FIELDS + 2 == FORMAT_PROBLEM, "two bytes for the seed");

static int *member(struct format_problem *problem, const struct field *field) {
    return (int *)(void *)((char *)problem + field->at);
}

static void decode_problem(struct format_problem *problem, const uint8_t *byte) {
    for (size_t i = 0; i < N_FIELDS; i++) {
        *member(problem, &fields[i]) = fields[i].least + byte[i] % fields[i].n;
    }
    problem->hash_bits = hash_bits[problem->hash_bits];
    problem->seed = byte[N_FIELDS] + 256 * byte[N_FIELDS + 1];
}

static void encode_problem(struct format_problem problem, uint8_t *byte) {
    int place = 0;
    while (place < n_hash_bits - 1 && hash_bits[place] != problem.hash_bits) {
        place++;
    }
    problem.hash_bits = place;
    for (size_t i = 0; i < N_FIELDS; i++) {
        byte[i] = (uint8_t)(*member(&problem, &fields[i]) - fields[i].least);
    }
    byte[N_FIELDS] = (uint8_t)(problem.seed % 256);
    byte[N_FIELDS + 1] = (uint8_t)(problem.seed / 256);
}

static struct format_operation decode_operation(const uint8_t *byte) {
    return (struct format_operation){.kind = (enum format_kind)(byte[0] % FORMAT_KINDS),
                                     .sequence = byte[1],
                                     .tokens = byte[2] % FORMAT_MOST_TOKENS,
                                     .common = byte[3] % FORMAT_MOST_TOKENS,
                                     .pattern = byte[4] + 256 * byte[5],
                                     .flags = byte[6] % 32,
                                     .id = byte[7] % 8};
}

static void encode_operation(const struct format_operation *o, uint8_t *byte) {
    const int number[FORMAT_OPERATION] = {(int)o->kind,     o->sequence,      o->tokens, o->common,
                                          o->pattern % 256, o->pattern / 256, o->flags,  o->id};
    for (int i = 0; i < FORMAT_OPERATION; i++) {
        byte[i] = (uint8_t)number[i];
    }
}

void format_decode(struct format_input *input, const uint8_t *data, size_t size) {
    uint8_t byte[FORMAT_MOST] = {0};
    size = size < FORMAT_MOST ? size : FORMAT_MOST;
    if (size > 0) {
        memcpy(byte, data, size);
    }
    memset(input, 0, sizeof *input);
    decode_problem(&input->problem, byte);
    if (size > FORMAT_PROBLEM) { /* the last operation may be incomplete */
        input->n = (int)((size - FORMAT_PROBLEM + FORMAT_OPERATION - 1) / FORMAT_OPERATION);
    }
    for (int i = 0; i < input->n; i++) {
        input->operation[i] =
            decode_operation(byte + FORMAT_PROBLEM + (ptrdiff_t)i * FORMAT_OPERATION);
    }
}

size_t format_encode(const struct format_input *input, uint8_t *bytes) {
    encode_problem(input->problem, bytes);
    for (int i = 0; i < input->n; i++) {
        encode_operation(&input->operation[i],
                         bytes + FORMAT_PROBLEM + (ptrdiff_t)i * FORMAT_OPERATION);
    }
    return FORMAT_PROBLEM + (size_t)input->n * FORMAT_OPERATION;
}

/* ---- Words ---- */

static const char *sequence_name(int sequence, char name[24]) {
    if (sequence == FORMAT_NO_SEQUENCE) {
        return "-1";
    }
    if (sequence == FORMAT_BEHIND_THE_LAST) {
        return "behind the last";
    }
    (void)snprintf(name, 24, "%d", sequence);
    return name;
}

static void print_pattern(FILE *out, int pattern) {
    for (int k = 0; k < 8; k++) {
        fprintf(out, "%d", pattern >> (2 * k) & 3);
    }
}

static void print_prompt(FILE *out, const struct format_operation *o) {
    char name[24];
    fprintf(out, "%d tokens: %d of sequence %s, then ", o->tokens, o->common,
            sequence_name(o->sequence, name));
    print_pattern(out, o->pattern);
    fprintf(out, "...; domain %d%s", o->flags & FORMAT_SALTED,
            o->flags & FORMAT_HASHED ? ", hashed" : "");
}

static void print_step(FILE *out, const struct format_operation *o) {
    fputs("sequences", out);
    for (int s = 0; s < 16; s++) {
        if (o->pattern >> s & 1) {
            fprintf(out, " %d", s);
        }
    }
    fprintf(out, "%s%s%s; tokens from %d on", o->flags & FORMAT_REVERSED ? ", reversed" : "",
            o->flags & FORMAT_TWICE ? ", the last twice" : "",
            o->flags & FORMAT_ONE_MORE ? ", and one that is not there" : "", o->tokens % 4);
}

static void print_operation(FILE *out, const struct format_operation *o) {
    static const char *const names[FORMAT_KINDS] = {"join", "append", "step",   "leave",
                                                    "fork", "lookup", "update", "other"};
    char name[24];
    fprintf(out, "%-6s ", names[o->kind]);
    switch (o->kind) {
    case FORMAT_JOIN:
    case FORMAT_LOOKUP:
        print_prompt(out, o);
        break;
    case FORMAT_APPEND:
        fprintf(out, "sequence %s, %d tokens: ", sequence_name(o->sequence, name), o->tokens);
        print_pattern(out, o->pattern);
        fputs("...", out);
        break;
    case FORMAT_STEP:
        print_step(out, o);
        break;
    case FORMAT_LEAVE:
    case FORMAT_FORK:
        fprintf(out, "sequence %s", sequence_name(o->sequence, name));
        break;
    default:
        break;
    }
    if (o->kind == FORMAT_JOIN || o->kind == FORMAT_FORK) {
        fprintf(out, "; id %d", o->id);
    }
    fputs("\n", out);
}

void format_print(FILE *out, const struct format_input *input) {
    struct format_problem problem = input->problem;
    for (size_t i = 0; i < N_FIELDS; i++) {
        fprintf(out, "%s %d%s", fields[i].name, *member(&problem, &fields[i]),
                i == N_FIELDS / 2 - 1 ? "\n" : ", ");
    }
    fprintf(out, "seed %d\n", problem.seed);
    for (int i = 0; i < input->n; i++) {
        fprintf(out, "%2d  ", i + 1);
        print_operation(out, &input->operation[i]);
    }
}

/* ---- Changes ---- */

/* Prefers small numbers, so that operations meet on the same sequences. */
static struct format_operation random_operation(unsigned long long *random) {
    uint8_t byte[FORMAT_OPERATION];
    for (int i = 0; i < FORMAT_OPERATION; i++) {
        byte[i] = (uint8_t)random_bits(random);
    }
    if (random_below(random, 4) > 0) {
        byte[0] = (uint8_t)(random_below(random, 2) ? FORMAT_JOIN : byte[0]);
        byte[1] %= 16;
        byte[2] %= 24;
        byte[3] %= 24;
        byte[6] %= 4;
    }
    return decode_operation(byte);
}

/* Removes `n` operations from `from` on, or makes room for them. */
static void close_gap(struct format_input *input, int from, int n) {
    memmove(&input->operation[from], &input->operation[from + n],
            (size_t)(input->n - from - n) * sizeof *input->operation);
    input->n -= n;
}

static void open_gap(struct format_input *input, int at, int n) {
    memmove(&input->operation[at + n], &input->operation[at],
            (size_t)(input->n - at) * sizeof *input->operation);
    input->n += n;
}

static void insert(struct format_input *input, unsigned long long *random) {
    if (input->n < FORMAT_MOST_OPERATIONS) {
        int at = random_below(random, input->n + 1);
        open_gap(input, at, 1);
        input->operation[at] = random_operation(random);
    }
}

/* Copies a run of operations to another place; `moved`: and removes the original. */
static void copy_run(struct format_input *input, int moved, unsigned long long *random) {
    struct format_operation run[FORMAT_MOST_OPERATIONS];
    int from = random_below(random, input->n), most = input->n - from;
    most = most < 8 ? most : 8;
    int n = 1 + random_below(random, most);
    memcpy(run, &input->operation[from], (size_t)n * sizeof *run);
    if (moved) {
        close_gap(input, from, n);
    }
    if (input->n + n <= FORMAT_MOST_OPERATIONS) {
        int at = random_below(random, input->n + 1);
        open_gap(input, at, n);
        memcpy(&input->operation[at], run, (size_t)n * sizeof *run);
    }
}

static void swap(struct format_input *input, unsigned long long *random) {
    struct format_operation *a = &input->operation[random_below(random, input->n)];
    struct format_operation *b = &input->operation[random_below(random, input->n)];
    struct format_operation held = *a;
    *a = *b;
    *b = held;
}

/* Changes one byte, by a little or to any value. */
static uint8_t other_byte(uint8_t byte, unsigned long long *random) {
    switch (random_below(random, 3)) {
    case 0:
        return (uint8_t)(byte + 1);
    case 1:
        return (uint8_t)(byte - 1);
    default:
        return (uint8_t)random_bits(random);
    }
}

static void change_operation(struct format_input *input, unsigned long long *random) {
    struct format_operation *one = &input->operation[random_below(random, input->n)];
    uint8_t byte[FORMAT_OPERATION];
    encode_operation(one, byte);
    int i = random_below(random, FORMAT_OPERATION);
    byte[i] = other_byte(byte[i], random);
    *one = decode_operation(byte);
}

static void change_problem(struct format_input *input, unsigned long long *random) {
    uint8_t byte[FORMAT_PROBLEM];
    encode_problem(input->problem, byte);
    int i = random_below(random, FORMAT_PROBLEM);
    byte[i] = other_byte(byte[i], random);
    decode_problem(&input->problem, byte);
}

void format_mutate(struct format_input *input, unsigned long long *random) {
    int what = input->n == 0 ? random_below(random, 4) : random_below(random, 12);
    if (what < 3) {
        insert(input, random);
    } else if (what == 3) {
        change_problem(input, random);
    } else if (what < 7) {
        change_operation(input, random);
    } else if (what < 9) {
        int from = random_below(random, input->n), most = input->n - from;
        close_gap(input, from, 1 + random_below(random, most < 6 ? most : 6));
    } else if (what == 9) {
        swap(input, random);
    } else {
        copy_run(input, what == 10, random);
    }
}

void format_cross(struct format_input *input, const struct format_input *other,
                  unsigned long long *random) {
    int first = random_below(random, input->n + 1);
    int from = random_below(random, other->n + 1);
    int n = other->n - from;
    n = first + n <= FORMAT_MOST_OPERATIONS ? n : FORMAT_MOST_OPERATIONS - first;
    memcpy(&input->operation[first], &other->operation[from], (size_t)n * sizeof *input->operation);
    input->n = first + n;
}

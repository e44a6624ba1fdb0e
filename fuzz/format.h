/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes <-> operations: the format of the inputs of tree, plan, opt_tree, attention, schedule and
 * kernels.
 *
 * An input is 16 bytes that describe a problem, then 8 bytes for each operation. Missing bytes are
 * 0, and bytes after the last operation are ignored; each byte is taken modulo the number of values
 * possible. So every string of bytes is a problem with operations, and every operation can be cut
 * out, moved or repeated.
 *
 *   problem    bytes 0 .. 15 are the members of struct format_problem, in this order; the seed is
 *              the last two
 *   operation  kind, sequence, tokens, common, pattern (two bytes, the lower first), flags, id */
#ifndef CHUNKPROOF_FUZZ_FORMAT_H
#define CHUNKPROOF_FUZZ_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FORMAT_PROBLEM         16 /* bytes */
#define FORMAT_OPERATION       8
#define FORMAT_MOST_OPERATIONS 64
#define FORMAT_MOST            (FORMAT_PROBLEM + FORMAT_MOST_OPERATIONS * FORMAT_OPERATION)

#define FORMAT_MOST_CHUNKS 48
#define FORMAT_MOST_TOKENS 72 /* of one operation */

struct format_problem {
    int capacity;   /* 1 .. FORMAT_MOST_CHUNKS */
    int chunk_size; /* 1 .. 16 */
    int hash_bits;  /* 0, 1, 2, 8, 63 or 64 */
    int n_kv_heads; /* 1 .. 3 */
    int group;      /* 1 .. 4 */
    int head_dim;   /* 1 .. 16 */
    int q_type, kv_type, out_type;
    int query_mode, values, poison; /* of tests/attend_case.h */
    int chunks_per_task;            /* 1 .. 4 */
    int version;                    /* of the kernels; 0: the highest that supports the problem */
    int seed;                       /* of the numbers, 0 .. 65535 */
};

enum format_kind {
    /* A prompt of `tokens` tokens: `common` tokens of `sequence`, then tokens of the pattern. */
    FORMAT_JOIN,
    FORMAT_APPEND, /* `tokens` tokens for `sequence`, one at a time */
    FORMAT_STEP,   /* a token for each sequence in the pattern, all at once */
    FORMAT_LEAVE,
    FORMAT_FORK,
    FORMAT_LOOKUP, /* lookup of the prompt of a join */
    FORMAT_UPDATE, /* the plan is brought up to date */
    FORMAT_OTHER,  /* the plan becomes that of another tree */
    FORMAT_KINDS
};

/* Invalid sequences and tokens, on purpose. */
#define FORMAT_NO_SEQUENCE     255 /* -1 */
#define FORMAT_BEHIND_THE_LAST 254

/* Flags. */
#define FORMAT_SALTED   1  /* another sharing domain */
#define FORMAT_HASHED   2  /* with the hashes of the prompt */
#define FORMAT_REVERSED 4  /* step: the sequences in the wrong order; */
#define FORMAT_TWICE    8  /* the last of them twice; */
#define FORMAT_ONE_MORE 16 /* one that does not exist */

struct format_operation {
    enum format_kind kind;
    int sequence; /* 0 .. 255, modulo the number of sequences, but for the two above */
    int tokens;   /* 0 .. FORMAT_MOST_TOKENS - 1 */
    int common;   /* the same */
    int pattern;  /* 0 .. 65535: tokens of two bits each, repeated; or a bit for each sequence */
    int flags;
    int id; /* 0 .. 7 */
};

struct format_input {
    struct format_problem problem;
    int n;
    struct format_operation operation[FORMAT_MOST_OPERATIONS];
};

void format_decode(struct format_input *input, const uint8_t *data, size_t size);

/* Writes bytes[FORMAT_MOST] and returns how many. Decoding them gives the same input again. */
size_t format_encode(const struct format_input *input, uint8_t *bytes);

void format_print(FILE *out, const struct format_input *input);

/* Changes an input in one place: adds, removes, copies, moves or changes an operation, or changes
 * the problem. *random is a state of tests/random.h. */
void format_mutate(struct format_input *input, unsigned long long *random);

/* Joins the first operations of one input and the last of another. */
void format_cross(struct format_input *input, const struct format_input *other,
                  unsigned long long *random);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A language model's file, mapped: spec/weights.md. All of it is checked before any is used, so
 * that no file makes a reader access memory out of bounds. One rule of FILE-9 is merge_new()'s: no
 * two merges have the same two tokens, which its table finds. */
#ifndef CHUNKPROOF_CLI_MODEL_WEIGHTS_H
#define CHUNKPROOF_CLI_MODEL_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include "chunkproof/decoder.h"

#define WEIGHTS_NO_TOKEN     0xFFFFFFFFU /* of begin, end, unknown: there is no such token */
#define WEIGHTS_SPLIT_GPT2   1           /* TOKEN-3 */
#define WEIGHTS_SPLIT_DIGITS 2

/* The tokenizer's tables, in the file. Token i is the bytes [end[i - 1], end[i]) of text, end[-1]
 * being 0; at least one byte. */
struct weights_tokens {
    int n;
    const uint32_t *end;          /* [n] */
    const unsigned char *special; /* [n]: 1, a special token; 0, a piece of text */
    const char *text;
    int n_merges;
    const uint32_t (*merge)[3]; /* [n_merges]: left, right, what they become; the first first */
    int split;
    int add_begin;                 /* 1: a prompt begins with the token `begin` */
    uint32_t begin, stop, unknown; /* tokens, or WEIGHTS_NO_TOKEN */
};

struct weights {
    const unsigned char *bytes;
    size_t size;
    struct cp_decoder decoder; /* its weights are in the file; it is for reading alone */
    struct cp_decoder_layer *layer;
    double *frequency;
    int context;                /* tokens that the model was trained for */
    unsigned long long rounded; /* weights that are not the original's, but rounded */
    struct weights_tokens tokens;
};

/* For messages: the command, and the file that it is about. */
struct weights_name {
    const char *command; /* "model", "prompt" */
    const char *file;
};

/* Maps the file and checks it. 0; or -1 after a message that says what is wrong and how to mend it.
 * The caller calls weights_close() after 0. */
int weights_open(struct weights *weights, const struct weights_name *name);
void weights_close(struct weights *weights);

/* The same of bytes in memory, which begin at a multiple of 64 and stay as long as they are used.
 * The caller calls weights_forget() after 0. */
int weights_read(struct weights *weights, const struct weights_name *name,
                 const unsigned char *bytes, size_t size);
void weights_forget(struct weights *weights);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Random schemas and prompts of modules (spec/modules.md) for a decoder, who sees whom in them, and
 * how modules are encoded. */
#ifndef CHUNKPROOF_TESTS_MODULE_CASE_H
#define CHUNKPROOF_TESTS_MODULE_CASE_H

#include "chunkproof/schema.h"
#include "tests/decoder_case.h"

#define PARTS     24
#define SCAFFOLDS 3
#define SEGMENTS  3

/* A schema with the words of its texts, and its scaffolds. */
struct schema {
    int n_parts;
    struct cp_part part[PARTS];
    int begin[PARTS], size[PARTS];
    int n_scaffolds;
    unsigned char scaffold[SCAFFOLDS][PARTS]; /* 1: a module of it */
};

/* A token of a prompt: own text of a module, or new. */
struct word {
    int token, position;
    int module; /* -1: new */
};

struct words {
    int n;
    struct word word[CASE_TOKENS];
};

/* Entries of modules in order of their first use, and where those of each module are. */
struct store {
    struct decoder_cache cache;
    int first[PARTS], n[PARTS]; /* n < 0: not encoded yet */
};

void module_case_schema(struct schema *s, unsigned long long *random);

/* Which modules a random prompt imports. */
void module_case_import(int *imported, const struct schema *s, unsigned long long *random);

/* The scaffold that counts for a module: of those that apply and hold it, the one of most
 * modules; -1: none. */
int module_case_scaffold(const struct schema *s, const int *imported, int module);

/* Token i of text x. The token of a position is the same in every prompt, and that of a text's
 * position differs from text to text. */
int module_case_token(int x, int i, int n_vocab);

/* Adds own text of the modules with is_in[module], in order of the document. */
void module_case_texts(struct words *w, const struct schema *s, const int *is_in, int n_vocab);

/* Adds a new token, and all that a random prompt adds. */
void module_case_new(struct words *w, int position, int n_vocab, unsigned long long *random);
void module_case_prompt(struct words *w, const struct schema *s, const int *imported, int n_vocab,
                        unsigned long long *random);

/* The mask of MOD-3, [n - from][n], for the words from `from` on. */
void module_case_mask(unsigned char *mask, const struct words *w, int from, const struct schema *s,
                      const int *imported);

/* The decoder over some words; those before `from` are in the cache in this order. With the mask of
 * MOD-3, or under that of new tokens, which see all that is not behind them. */
void module_case_run(const struct decoder_case *c, struct decoder_cache *cache,
                     const struct words *w, int from, const struct schema *s, const int *imported,
                     int with_mask, double *states);

/* MOD-4: encodes a module in the prompt that has it and what is around it, with the modules of the
 * scaffold that counts for it and around those, and nothing else. Its entries join the cache. */
void module_case_encode(const struct decoder_case *c, struct decoder_cache *cache,
                        const struct schema *s, const int *imported, int module);

/* Puts the entries of an imported module behind those of `cache`, from a store, where they come
 * when they are first used. */
void module_case_load(const struct decoder_case *c, struct decoder_cache *cache,
                      struct store *store, const struct schema *s, const int *imported, int module);

#endif

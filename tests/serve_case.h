/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for a server, and what its answers must be: the words of a prompt at positions that are
 * worked out anew, the oracle of the whole decoder under the mask of MOD-3, and cached inference.
 * Of tests/serve.h it takes the form of requests and answers, and none of its functions. */
#ifndef CHUNKPROOF_TESTS_SERVE_CASE_H
#define CHUNKPROOF_TESTS_SERVE_CASE_H

#include "tests/decoder_oracle.h"
#include "tests/serve.h"

/* A prompt, and all that is known of it. It stays where it is. */
struct expected {
    const struct decoder_case *decoder;
    long long id;
    struct words words; /* own texts of modules; what the request adds, by rising position; then
                           what is appended */
    int n_own, n_asked; /* words of modules; these and those of the request */
    int n_computed;     /* words whose states the server has given */
    unsigned char mask[ORACLE_MAX * ORACLE_MAX];
    int token[ORACLE_MAX], position[ORACLE_MAX];
    struct oracle_pool oracle;
    struct decoder_cache cached; /* entries of the words that have been computed */
};

/* How near the states and logits were. */
struct nearness {
    int n_rows, n_wrong;
    int n_tight;  /* rows whose bounds are below `tight` */
    double tight; /* the caller's */
    double worst; /* the largest distance, in bounds */
};

/* A random decoder whose bounds tell: for a short text in a pool of this type they are below
 * `least`. In others a state that is divided by its own size is a small one, and so on. */
void telling_decoder_make(struct decoder_case *decoder, unsigned long long *random, int positions,
                          int n_layers, int type, double least);

/* A random request. `imported` may be NULL: random modules. */
void request_make(struct request *request, const struct schema *schema, const int *imported,
                  long long id, int n_vocab, unsigned long long *random);

/* What must come of a request and of up to n_more words that are appended to its prompt, at random
 * positions behind all that it adds. The pool has keys and values of this type. */
void expected_new(struct expected *expected, const struct decoder_case *decoder,
                  const struct schema *schema, const struct request *request, int n_more, int type,
                  unsigned long long *random);
void expected_free(struct expected *expected);

/* Compares the rows of a prompt in a step, which are those of the words from n_computed to `end`:
 * with the oracle, and with cp_decoder_run() on a cache of modules. Everything else of a step is
 * the matter of other prompts. */
void expected_compare(struct expected *expected, const struct served *served, int end,
                      struct nearness *nearness);

#endif

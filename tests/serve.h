/* SPDX-License-Identifier: Apache-2.0 */
/* A small server: prompts of modules, on a decoder whose attention is the two phases over the pool
 * of a batch (spec/batch.md, modules.md, layers.md). It is written from these chapters, so that it
 * may be read as an example of how they go together:
 *
 *   serve_join()    encodes the modules that are not in the pool (serve_encode.c), and joins
 *   serve_append()  a token more, which is to be computed
 *   serve_step()    computes the new tokens of all prompts, layer by layer (serve_layers.c)
 *   serve_leave()   a prompt has ended
 *
 * It keeps one array of keys and one of values for each layer, and one batch for all. */
#ifndef CHUNKPROOF_TESTS_SERVE_H
#define CHUNKPROOF_TESTS_SERVE_H

#include "chunkproof/batch.h"
#include "chunkproof/kv.h"
#include "tests/module_case.h"

#define SERVE_PROMPTS 6
#define SERVE_ROWS    (SERVE_PROMPTS * CASE_TOKENS)

/* What a client asks for. */
struct request {
    long long id; /* no other prompt of the batch has it */
    int imported[PARTS];
    int n_order;
    int order[PARTS];      /* the imported modules, in any order */
    int n_argument[PARTS]; /* tokens for each param of an imported module; 0 of other parts */
    int n_segments;
    struct cp_segment segment[SEGMENTS];
    int token[CASE_TOKENS]; /* those of arguments, param by param, then those of segments */
};

/* A token of a prompt whose states are to be computed, or have been. */
struct serve_token {
    long long id; /* of its prompt */
    int token, position;
    int chunk, slot; /* of its key and value */
};

/* The item of a module, encoded with a scaffold or without one. */
struct serve_item {
    int is_put;
    unsigned long long name;
};

/* Mistakes of a server, to see that somebody notices. */
enum {
    SERVE_RIGHT,
    SERVE_SHIFTED,   /* a module's keys are those of other positions */
    SERVE_BY_NUMBER, /* it keeps an item's number, not the name */
};

struct server {
    const struct decoder_case *decoder;
    const struct schema *schema;
    int begin[PARTS], size[PARTS];
    int variant, mistake;
    int most; /* tokens of a prompt that a step computes: a long one takes several */
    struct cp_batch *batch;
    struct cp_plan *plan;
    struct cp_kv kv[CASE_LAYERS];
    struct serve_item item[PARTS][SCAFFOLDS + 1];
    int n_waiting;
    struct serve_token waiting[SERVE_ROWS]; /* to be computed; those of a prompt rise */
    int n_encoded, n_again;                 /* items that were put; those that had left */
    int n_scaffolded, n_apart;              /* those with a scaffold; those of several texts */
};

/* What a step has computed: row r is of token row[r]. */
struct served {
    int n;
    struct serve_token row[SERVE_ROWS];
    double state[SERVE_ROWS * CASE_WIDTH]; /* [n][d_model] */
    double logits[SERVE_ROWS * 16];        /* [n][n_vocab] */
};

/* A server of a decoder and a schema, which stay where they are; type is that of keys and values,
 * variant that of cp_attend(). Aborts when the system gives no memory. */
void serve_new(struct server *server, const struct decoder_case *decoder,
               const struct schema *schema, int capacity, int chunk_size, int type, int variant);
void serve_free(struct server *server);

/* Statuses are those of the batch. CP_ERROR_POOL_FULL: some prompt has to leave first. */
int serve_join(struct server *server, const struct request *request);
int serve_append(struct server *server, long long id, int token, int position);
void serve_leave(struct server *server, long long id);

/* Computes the tokens that wait, of each prompt the first ones. Those behind them have no keys yet,
 * and none of the first ones sees them. */
void serve_step(struct server *server, struct served *served);

/* ---- For the other files of the server ---- */

/* The nearest module around a part. */
int serve_module_of(const struct schema *schema, int part);

/* The scaffold that counts for a module (MOD-3); -1: none. */
int serve_scaffold(const struct server *server, const int *imported, int module);

/* Entries of a module's own text, encoded with a scaffold or without one (-1), in any order
 * (MOD-4). */
void serve_encode(const struct server *server, struct decoder_cache *entries, int module,
                  int scaffold);

/* What the rows of a call are: [n], and those of prompt p are begin[p] .. begin[p + 1] - 1. */
struct serve_rows {
    int n;
    const int *begin;
    const struct serve_token *token;
};

/* Computes rows layer by layer; the plan is that of the batch. */
void serve_layers(const struct server *server, const struct serve_rows *rows, double *states,
                  double *logits);

/* Stores the key and the value of a token and a K/V head, d_head numbers each, with what attention
 * needs beside them. */
void serve_store(const struct server *server, int layer, int chunk, int kv_head, int slot,
                 int position, const double *key, const double *value);

/* Numbers of a head in the pool: those of the decoder, and one more for the bias of ALiBi. */
int serve_head_dim(const struct cp_decoder_shape *shape);

#endif

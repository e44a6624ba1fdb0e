/* SPDX-License-Identifier: Apache-2.0 */
/* The whole system: a decoder whose attention is the two phases over the pool of a batch
 * (tests/serve.h) computes what the decoder over each whole prompt does under the mask of MOD-3
 * (RUNS-7), and what cached inference does (MOD-5). Decoders, schemas, requests and operations are
 * random; pools are so small that modules leave and are encoded again.
 *
 * Two other ways say what each state and logit must be (tests/serve_case.h): the oracle, which
 * shares no code with ref/ or the server, gives a number and how far any computation may be from it
 * that stores keys and values in the format of the pool; and cp_decoder_run() on a cache of
 * modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/attention.h"
#include "chunkproof/number.h"
#include "tests/random.h"
#include "tests/serve_case.h"

#define STEPS 12 /* of a world */

/* What happened: a test of a server without work shows nothing. */
struct happened {
    int joined, appended, left, refused, dropped, encoded, again, shared, in_middle, in_parts,
        scaffolded, apart;
};

struct world {
    unsigned long long random;
    struct decoder_case decoder;
    struct schema schema;
    struct server server;
    struct served served;
    int type, n_prompts;
    long long n_requests;
    struct expected *prompt[SERVE_PROMPTS]; /* in slots of `room` */
    struct expected room[SERVE_PROMPTS];
    int n_given[SERVE_PROMPTS]; /* words that the server has been given, of prompt[i] */
    struct nearness nearness;
    struct happened happened;
};

static struct world world;

static void open_server(struct world *w, int capacity, int chunk_size, int type, int mistake) {
    serve_new(&w->server, &w->decoder, &w->schema, capacity, chunk_size, type,
              random_below(&w->random, 2) ? CP_BUFFERED : CP_MERGE_AT_ONCE);
    w->server.mistake = mistake;
    w->type = type;
    w->n_prompts = 0;
    for (int i = 0; i < SERVE_PROMPTS; i++) {
        w->prompt[i] = &w->room[i];
    }
}

/* Prompt i is no more: the last one takes its place. */
static void forget(struct world *w, int i) {
    struct expected *gone = w->prompt[i];
    expected_free(gone);
    w->n_prompts--;
    w->prompt[i] = w->prompt[w->n_prompts];
    w->n_given[i] = w->n_given[w->n_prompts];
    w->prompt[w->n_prompts] = gone;
}

static void leave(struct world *w, int i) {
    serve_leave(&w->server, w->prompt[i]->id);
    forget(w, i);
    w->happened.left++;
}

static void close_server(struct world *w) {
    w->happened.encoded += w->server.n_encoded;
    w->happened.again += w->server.n_again;
    w->happened.scaffolded += w->server.n_scaffolded;
    w->happened.apart += w->server.n_apart;
    while (w->n_prompts > 0) {
        forget(w, 0);
    }
    serve_free(&w->server);
}

/* No prompt may read a chunk that nobody has, nor what somebody has left in its slots. */
static void poison(const struct world *w) {
    const struct cp_batch *batch = w->server.batch;
    for (int l = 0; l < w->decoder.decoder.shape.n_layers; l++) {
        const struct cp_kv *kv = &w->server.kv[l];
        size_t bytes = cp_kv_row(kv, 1, 0, 0) * cp_number_size(kv->type);
        for (int i = 0; i < batch->pool.n_free; i++) {
            memset((char *)kv->k + (size_t)batch->pool.perm[i] * bytes, 0xFF, bytes);
            memset((char *)kv->v + (size_t)batch->pool.perm[i] * bytes, 0xFF, bytes);
        }
    }
}

/* ---- Operations ---- */

static int ask(struct world *w, const struct request *request, int n_more) {
    int i = w->n_prompts, status = serve_join(&w->server, request);
    if (status != CP_OK) {
        assert_int_equal(status, CP_ERROR_POOL_FULL);
        w->happened.refused++;
        return status;
    }
    expected_new(w->prompt[i], &w->decoder, &w->schema, request, n_more, w->type, &w->random);
    w->n_given[i] = w->prompt[i]->n_asked;
    w->n_prompts++;
    w->happened.joined++;
    return CP_OK;
}

static int join(struct world *w, const int *imported, int n_more) {
    struct request request;
    request_make(&request, &w->schema, imported, ++w->n_requests, w->decoder.decoder.shape.n_vocab,
                 &w->random);
    return ask(w, &request, n_more);
}

/* A token more of a prompt; one without room for it leaves, and so does one that has had all. */
static int append(struct world *w, int i) {
    const struct expected *e = w->prompt[i];
    int at = w->n_given[i], status = CP_ERROR_POOL_FULL;
    if (at < e->words.n) {
        status = serve_append(&w->server, e->id, e->token[at], e->position[at]);
    }
    if (status != CP_OK) {
        assert_int_equal(status, CP_ERROR_POOL_FULL);
        leave(w, i);
        return status;
    }
    w->n_given[i]++;
    w->happened.appended++;
    w->happened.in_middle += e->n_own > 0 && e->position[at] < e->position[e->n_own - 1];
    return CP_OK;
}

/* Drops an item that nobody has, if there is one with this number. */
static void drop(struct world *w) {
    const struct cp_batch *batch = w->server.batch;
    int number = random_below(&w->random, batch->n_items + 1);
    if (number < batch->n_items && batch->item[number].n_runs > 0) {
        int status = cp_batch_drop(w->server.batch, batch->item[number].name);
        w->happened.dropped += status == CP_OK;
    }
}

static void step(struct world *w) {
    serve_step(&w->server, &w->served);
    w->happened.shared += w->server.plan->n_shared;
    for (int i = 0; i < w->n_prompts; i++) {
        int end = w->prompt[i]->n_computed + w->server.most;
        end = end < w->n_given[i] ? end : w->n_given[i];
        w->happened.in_parts += end < w->n_given[i];
        expected_compare(w->prompt[i], &w->served, end, &w->nearness);
    }
}

/* ---- Random worlds ---- */

static void any_operations(struct world *w) {
    for (int i = w->n_prompts - 1; i >= 0; i--) {
        if (random_below(&w->random, 8) == 0) {
            leave(w, i);
        } else if (random_below(&w->random, 4) != 0) {
            (void)append(w, i);
        }
    }
    if (random_below(&w->random, 4) == 0) {
        drop(w);
    }
    for (int n = random_below(&w->random, 3); n > 0 && w->n_prompts < SERVE_PROMPTS; n--) {
        (void)join(w, NULL, random_below(&w->random, 8));
    }
}

/* A decoder, a schema, and a server of them for some steps. */
static void serve_world(struct world *w, int positions, int n_layers, int type, int mistake) {
    telling_decoder_make(&w->decoder, &w->random, positions, n_layers, type,
                         w->nearness.tight / (type == CP_FP64 ? 100 : 10));
    module_case_schema(&w->schema, &w->random);
    int chunk_size = 1 + random_below(&w->random, 5);
    int chunks = 10 + 50 / chunk_size;
    open_server(w, chunks / 2 + random_below(&w->random, chunks), chunk_size, type, mistake);
    if (random_below(&w->random, 3) == 0) {
        w->server.most = 1 + random_below(&w->random, 4);
    }
    for (int i = 0; i < STEPS; i++) {
        poison(w);
        any_operations(w);
        step(w);
    }
    close_server(w);
}

static void begin(struct world *w, unsigned long long seed, double tight) {
    memset(w, 0, sizeof *w);
    w->random = seed;
    w->nearness.tight = tight;
}

static void report(const struct world *w) {
    const struct happened *h = &w->happened;
    print_message("%d rows, %d tight, the worst %.3f of its bound\n", w->nearness.n_rows,
                  w->nearness.n_tight, w->nearness.worst);
    print_message(
        "prompts: joined %d, refused %d, left %d; appended %d, %d in the middle; %d steps "
        "in parts\n",
        h->joined, h->refused, h->left, h->appended, h->in_middle, h->in_parts);
    print_message("items: put %d, again %d, with a scaffold %d, of several texts %d; dropped %d; "
                  "%d descriptors\n",
                  h->encoded, h->again, h->scaffolded, h->apart, h->dropped, h->shared);
}

/* MOD-5, BATCH-4 to BATCH-9, RUNS-5, RUNS-8, POOL-7, LAYER-1 to LAYER-11: in binary64, decoders of
 * one to three layers. The bound is small enough to tell: it is below 1e-6 for nine rows of ten. */
static void served_prompts_have_the_states_of_the_whole_decoder(void **unused) {
    (void)unused;
    struct world *w = &world;
    const struct happened *h = &w->happened;
    begin(w, 1, 1e-6);
    for (int i = 0; i < 126; i++) {
        serve_world(w, i % 3, 1 + i / 3 % CASE_LAYERS, CP_FP64, SERVE_RIGHT);
        assert_int_equal(w->nearness.n_wrong, 0);
    }
    report(w);
    assert_true(10 * w->nearness.n_tight > 9 * w->nearness.n_rows && w->nearness.n_rows > 5000);
    assert_true(h->joined > 800 && h->left > 600 && h->appended > 1200 && h->in_middle > 30);
    assert_true(h->in_parts > 100 && h->scaffolded > 20 && h->apart > 20);
    assert_true(h->refused > 50 && h->again > 20 && h->dropped > 20 && h->shared > 2000);
}

/* NUM-2, POOL-7: keys and values are rounded once, when they are stored, and all else is double. In
 * 16 bits the decoders have one layer, as the bound grows with each. */
static void pools_of_shorter_numbers_are_within_what_they_round(void **unused) {
    (void)unused;
    struct world *w = &world;
    const int type[] = {CP_FP32, CP_FP16, CP_BF16};
    const double tight[] = {1e-3, 1.0, 4.0};
    for (int t = 0; t < 3; t++) {
        begin(w, 2 + (unsigned)t, tight[t]);
        for (int i = 0; i < 30; i++) {
            serve_world(w, i % 3, t == 0 ? 1 + i / 3 % 2 : 1, type[t], SERVE_RIGHT);
            assert_int_equal(w->nearness.n_wrong, 0);
        }
        report(w);
        assert_true(5 * w->nearness.n_tight > 4 * w->nearness.n_rows);
    }
}

/* ---- Small schemas ---- */

/* Modules A and B, behind a text of the schema's own or not. */
enum { A = 2, B = 4 };

static void make_two_modules(struct world *w, int i, int of_schema, int of_a, int of_b) {
    const struct schema schema = {.n_parts = 6,
                                  .part = {{CP_PART_MODULE, -1, 0},
                                           {CP_PART_TEXT, 0, of_schema},
                                           {CP_PART_MODULE, 0, 0},
                                           {CP_PART_TEXT, A, of_a},
                                           {CP_PART_MODULE, 0, 0},
                                           {CP_PART_TEXT, B, of_b}}};
    w->schema = schema;
    assert_int_equal(
        cp_schema_layout(w->schema.part, w->schema.n_parts, w->schema.begin, w->schema.size),
        CP_OK);
    telling_decoder_make(&w->decoder, &w->random, i % 3, 1 + i / 3 % CASE_LAYERS, CP_FP64,
                         w->nearness.tight / 100);
}

/* MOD-5, BATCH-9: the requests [B], [A B] and [A], each of which is computed before the next one
 * comes: while the earlier ones are still there, or after they have left. */
static void three_requests_are_served_one_after_the_other(void **unused) {
    (void)unused;
    struct world *w = &world;
    const int imports[3][PARTS] = {{[0] = 1, [B] = 1}, {[0] = 1, [A] = 1, [B] = 1}, {1, [A] = 1}};
    begin(w, 5, 1e-6);
    for (int i = 0; i < 60; i++) {
        make_two_modules(w, i, i % 2 * 2, 3, 4);
        open_server(w, 12 + i % 20, 1 + i % 5, CP_FP64, SERVE_RIGHT);
        for (int request = 0; request < 3; request++) {
            poison(w);
            if (i % 4 == 3 && w->n_prompts > 0) {
                leave(w, 0);
            }
            if (join(w, imports[request], 3) != CP_OK) {
                break;
            }
            step(w);
            for (int p = w->n_prompts - 1; p >= 0; p--) {
                (void)append(w, p);
            }
            step(w);
        }
        close_server(w);
        assert_int_equal(w->nearness.n_wrong, 0);
    }
    report(w);
    assert_true(w->happened.joined > 150 && w->nearness.n_tight == w->nearness.n_rows);
}

/* A request of one segment of two tokens behind all. */
static void make_short(struct world *w, struct request *request, const int *imported) {
    request_make(request, &w->schema, imported, ++w->n_requests, w->decoder.decoder.shape.n_vocab,
                 &w->random);
    request->n_segments = 1;
    request->segment[0] = (struct cp_segment){-1, 2};
}

/* DEC-6, MOD-5, BATCH-9: prompts of [A B] and of [B A] that add the same, in one batch. Both have
 * both modules, so that they even merge them in one order. */
static void the_order_of_modules_changes_nothing(void **unused) {
    (void)unused;
    struct world *w = &world;
    const int imported[PARTS] = {[0] = 1, [A] = 1, [B] = 1};
    begin(w, 6, 1e-6);
    for (int i = 0; i < 60; i++) {
        struct request request;
        make_two_modules(w, i, i % 2 * 2, 3, 4);
        open_server(w, 30, 1 + i % 5, CP_FP64, SERVE_RIGHT);
        make_short(w, &request, imported);
        for (int p = 0; p < 2; p++) {
            request.id = p;
            request.order[p] = A;
            request.order[1 - p] = B;
            request.order[2] = 0;
            assert_int_equal(ask(w, &request, 0), CP_OK);
        }
        step(w);
        assert_int_equal(w->served.n, 4);
        assert_int_equal(w->nearness.n_wrong, 0);
        size_t half = 2 * (size_t)w->decoder.decoder.shape.d_model;
        assert_memory_equal(w->served.state, w->served.state + half, half * sizeof(double));
        close_server(w);
    }
    assert_true(w->nearness.n_tight == w->nearness.n_rows);
}

/* ---- That a server which is wrong is noticed ---- */

/* MOD-1, DEC-8: a server that encodes modules one position behind theirs, for each kind of
 * positions. */
static void keys_at_other_positions_are_noticed(void **unused) {
    (void)unused;
    struct world *w = &world;
    begin(w, 7, 1e-6);
    for (int positions = 0; positions < 3; positions++) {
        int n_noticed = 0;
        for (int i = 0; i < 8; i++) {
            w->nearness.n_wrong = 0;
            serve_world(w, positions, 1 + i % 2, CP_FP64, SERVE_SHIFTED);
            n_noticed += w->nearness.n_wrong > 0;
        }
        print_message("noticed in %d worlds of 8\n", n_noticed);
        assert_true(n_noticed >= 6);
    }
}

/* [B], [A] and [B] one after the other, in a pool of three chunks, of which a module takes two.
 * How many rows of the last one are wrong? */
static int count_wrong(struct world *w, int i, int mistake) {
    const int imports[3][PARTS] = {{[0] = 1, [B] = 1}, {[0] = 1, [A] = 1}, {[0] = 1, [B] = 1}};
    unsigned long long name_of_b = 0;
    w->nearness.n_wrong = 0;
    make_two_modules(w, i, 0, 6, 6);
    open_server(w, 3, 4, CP_FP64, mistake);
    for (int k = 0; k < 3; k++) {
        struct request request;
        poison(w);
        make_short(w, &request, imports[k]);
        assert_int_equal(ask(w, &request, 0), CP_OK);
        step(w);
        assert_true(k == 2 || w->nearness.n_wrong == 0);
        name_of_b = k == 0 ? w->server.item[B][0].name : name_of_b;
        leave(w, 0);
    }
    /* A had the number of B. */
    assert_true(w->server.item[A][0].name % CP_MAX_ITEMS == name_of_b % CP_MAX_ITEMS);
    close_server(w);
    return w->nearness.n_wrong;
}

/* BATCH-1: a server that keeps the number of an item gives prompts what has the number now. */
static void an_item_whose_number_has_been_given_again_is_noticed(void **unused) {
    (void)unused;
    begin(&world, 8, 1e-6);
    for (int i = 0; i < 18; i++) {
        assert_int_equal(count_wrong(&world, i, SERVE_RIGHT), 0);
        assert_int_equal(count_wrong(&world, i, SERVE_BY_NUMBER), 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(served_prompts_have_the_states_of_the_whole_decoder),
        cmocka_unit_test(pools_of_shorter_numbers_are_within_what_they_round),
        cmocka_unit_test(three_requests_are_served_one_after_the_other),
        cmocka_unit_test(the_order_of_modules_changes_nothing),
        cmocka_unit_test(keys_at_other_positions_are_noticed),
        cmocka_unit_test(an_item_whose_number_has_been_given_again_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder worked by hand, and what the decoder refuses (spec/layers.md). */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/decoder.h"
#include "tests/decoder_case.h"
#include "tests/random.h"

/* ---- By hand ---- */

/* spec/layers.md, "An example": states 5 and 1, logits 0.5 and -0.5 of token 1. */
static const float one = 1.0F, zero = 0.0F, two = 2.0F, four = 4.0F, words[] = {1.0F, -1.0F};
static const struct cp_decoder_layer hand_layer = {.attention_norm = &one,
                                                   .query = &zero,
                                                   .key = &one,
                                                   .value = &four,
                                                   .mix = &one,
                                                   .network_norm = &one,
                                                   .up = &zero,
                                                   .down = &one,
                                                   .down_bias = &two};
static const struct cp_decoder hand = {.shape = {.n_layers = 1,
                                                 .n_vocab = 2,
                                                 .d_model = 1,
                                                 .n_heads = 1,
                                                 .n_kv_heads = 1,
                                                 .d_head = 1,
                                                 .d_hidden = 1,
                                                 .norm = CP_NORM_RMS,
                                                 .network = CP_NETWORK_GELU_ERF,
                                                 .positions = CP_POSITIONS_ALIBI,
                                                 .norm_epsilon = 3.0,
                                                 .scale = 1.0},
                                       .embedding = words,
                                       .layer = &hand_layer,
                                       .final_norm = &one};

#define HAND_NUMBERS 4
struct hand_memory {
    int position[HAND_NUMBERS];
    double k[HAND_NUMBERS], v[HAND_NUMBERS], workspace[64];
    struct cp_decoder_cache cache;
    struct cp_decoder_call call;
};

static const int hand_token[] = {0, 1, 0, 1}, hand_position[] = {0, 0, 0, 0};

static void hand_make(struct hand_memory *m, int n) {
    memset(m, 0, sizeof *m);
    for (int i = 0; i < HAND_NUMBERS; i++) {
        m->position[i] = 7; /* not what a run writes */
        m->k[i] = m->v[i] = 7.0;
    }
    m->cache = (struct cp_decoder_cache){0, HAND_NUMBERS, m->position, m->k, m->v};
    m->call = (struct cp_decoder_call){n, hand_token,   hand_position,      NULL, NULL, NULL,
                                       0, m->workspace, sizeof m->workspace};
}

/* LAYER-1, 2, 4, 7, 9, 10, 11: the example of the chapter. Both tokens are at position 0, so ALiBi
 * adds nothing; token 0 sees itself alone. */
static void the_example_of_the_chapter(void **unused) {
    (void)unused;
    struct hand_memory m;
    const unsigned char sees[] = {1, 0, 1, 1};
    double states[2], logits[2];
    hand_make(&m, 2);
    m.call.sees = sees;
    m.call.states = states;
    m.call.logits = logits;
    m.call.first_logits = 1;
    assert_int_equal(cp_decoder_run(&hand, &m.cache, &m.call), CP_OK);
    assert_true(m.k[0] == 0.5 && m.k[1] == -0.5 && m.v[0] == 2.0 && m.v[1] == -2.0);
    assert_true(states[0] == 5.0 && states[1] == 1.0);
    assert_true(logits[0] == 0.5 && logits[1] == -0.5);
}

/* LAYER-10: a bias is added to its projection, and then the sum to x: 1 + (u + u) is not
 * (1 + u) + u = 1. */
static void a_bias_belongs_to_its_projection(void **unused) {
    (void)unused;
    const float value = 0x1p-52F, unit = 0x1p-53F; /* norm(x) is 1/2 */
    struct cp_decoder_layer layer = hand_layer;
    struct cp_decoder decoder = hand;
    struct hand_memory m;
    double state;
    layer.value = &value;
    layer.mix_bias = &unit;
    layer.down_bias = NULL;
    decoder.layer = &layer;
    hand_make(&m, 1);
    m.call.states = &state;
    assert_int_equal(cp_decoder_run(&decoder, &m.cache, &m.call), CP_OK);
    assert_true(state == 1.0 + 0x1p-52);
}

/* LAYER-7, SOFTMAX-2: scores far from 0 on either side, for which exp alone would be 0 or infinite.
 * With query 1, scores are scale times the product of +-1/2 and +-1/2. Token 1 sees both, or itself
 * alone. Its state is -1 + out + 2. */
static void scores_may_be_far_from_zero(void **unused) {
    (void)unused;
    const double scale[] = {4000.0, -4000.0, 60.0, -60.0, 0.0};
    const double small = 4.0 * exp(-30.0) / (1.0 + exp(-30.0)); /* of 2 and -2 with weights e, 1 */
    const double out[] = {-2.0, 2.0, small - 2.0, 2.0 - small, 0.0};
    struct cp_decoder_layer layer = hand_layer;
    struct cp_decoder decoder = hand;
    layer.query = &one;
    decoder.layer = &layer;
    for (int i = 0; i < 5; i++) {
        for (int alone = 0; alone < 2; alone++) {
            struct hand_memory m;
            const unsigned char sees[] = {1, 1, (unsigned char)!alone, 1};
            double states[2];
            hand_make(&m, 2);
            m.call.sees = sees;
            m.call.states = states;
            decoder.shape.scale = scale[i];
            assert_int_equal(cp_decoder_run(&decoder, &m.cache, &m.call), CP_OK);
            double expected = 1.0 + (alone ? -2.0 : out[i]);
            assert_true(fabs(states[1] - expected) <= 16 * 0x1p-53);
        }
    }
}

/* ---- What is refused ---- */

static void assert_refused(struct hand_memory *m, int status) {
    struct hand_memory before = *m;
    assert_int_equal(cp_decoder_run(&hand, &m->cache, &m->call), status);
    assert_memory_equal(m, &before, sizeof before);
}

/* LAYER-15 */
static void a_run_refuses_what_it_cannot_do(void **unused) {
    (void)unused;
    struct hand_memory m;
    const int bad_token[] = {0, 2}, below[] = {-1, 0};
    double logits[8], states[4];
#define REFUSED(status, change)                                                                    \
    do {                                                                                           \
        hand_make(&m, 2);                                                                          \
        m.call.logits = logits;                                                                    \
        m.call.states = states;                                                                    \
        logits[0] = states[0] = 5.0;                                                               \
        change;                                                                                    \
        assert_refused(&m, status);                                                                \
        assert_true(logits[0] == 5.0 && states[0] == 5.0);                                         \
    } while (0)
    REFUSED(CP_ERROR_ARGUMENT, m.call.n_new = 0);
    REFUSED(CP_ERROR_ARGUMENT, m.call.n_new = -1);
    REFUSED(CP_ERROR_ARGUMENT, m.call.token = NULL);
    REFUSED(CP_ERROR_ARGUMENT, m.call.token = bad_token);
    REFUSED(CP_ERROR_ARGUMENT, m.call.token = below);
    REFUSED(CP_ERROR_ARGUMENT, m.call.position = NULL);
    REFUSED(CP_ERROR_ARGUMENT, m.call.first_logits = -1);
    REFUSED(CP_ERROR_ARGUMENT, m.call.first_logits = 3);
    REFUSED(CP_ERROR_ARGUMENT, m.call.first_logits = 3; m.call.logits = NULL);
    REFUSED(CP_ERROR_ARGUMENT, m.cache.n = 3; m.call.token = bad_token);
    REFUSED(CP_ERROR_ARGUMENT, m.cache.n = -1);
    REFUSED(CP_ERROR_ARGUMENT, m.cache.n = 5);
    REFUSED(CP_ERROR_ARGUMENT, m.cache.k = NULL);
    REFUSED(CP_ERROR_ARGUMENT, m.cache.v = NULL);
    REFUSED(CP_ERROR_ARGUMENT, m.cache.position = NULL);
    REFUSED(CP_ERROR_SHAPE, m.cache.capacity = 0);
    REFUSED(CP_ERROR_TOO_LONG, m.cache.n = 3);
    REFUSED(CP_ERROR_TOO_LONG, m.cache.n = 4; m.call.n_new = 1);
    REFUSED(CP_ERROR_TOO_LONG, m.cache.n = 4; m.call.workspace = NULL);
    REFUSED(CP_ERROR_WORKSPACE, m.call.workspace = NULL);
    REFUSED(CP_ERROR_WORKSPACE, m.call.workspace = (char *)m.call.workspace + 4);
    REFUSED(CP_ERROR_WORKSPACE,
            m.call.workspace_size = cp_decoder_workspace(&hand.shape, 2, 2) - 1);
    REFUSED(CP_ERROR_WORKSPACE, m.cache.n = 1;
            m.call.workspace_size = cp_decoder_workspace(&hand.shape, 2, 3) - 1);
#undef REFUSED
    hand_make(&m, 2);
    m.call.workspace_size = cp_decoder_workspace(&hand.shape, 2, 2);
    assert_int_equal(cp_decoder_run(&hand, &m.cache, &m.call), CP_OK);
    hand_make(&m, 4);
    m.call.first_logits = 4;
    m.call.logits = logits;
    assert_int_equal(cp_decoder_run(&hand, &m.cache, &m.call), CP_OK);
    assert_int_equal(m.cache.n, 4);
    static const float many[1000] = {0.0F};
    const int last[] = {999};
    struct cp_decoder large = hand;
    large.shape.n_vocab = 1000;
    large.embedding = many;
    hand_make(&m, 1);
    m.call.token = last;
    assert_int_equal(cp_decoder_run(&large, &m.cache, &m.call), CP_OK);
    struct cp_decoder wrong = hand;
    wrong.shape.n_heads = 0;
    hand_make(&m, 2);
    assert_int_equal(cp_decoder_run(&wrong, &m.cache, &m.call), CP_ERROR_SHAPE);
}

/* LAYER-1, LAYER-15: learned positions are those of the table, whatever the number of keys. */
static void a_learned_position_is_in_its_table(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache cache;
    unsigned long long random = 10;
    const int token = 0;
    decoder_case_make(&c, &random, CP_POSITIONS_LEARNED, 1);
    const int positions[] = {-1, CASE_TOKENS, INT_MIN, INT_MAX, 0, CASE_TOKENS - 1};
    for (int i = 0; i < 6; i++) {
        decoder_case_cache(&cache);
        assert_int_equal(decoder_case_run(&c, &cache, 1, &token, &positions[i], NULL, NULL, NULL),
                         i < 4 ? CP_ERROR_ARGUMENT : CP_OK);
        assert_int_equal(cache.cache.n, i < 4 ? 0 : 1);
    }
    const int move[][3] = {{0, 1, -1}, {0, 1, 0}, {0, 0, 1}, {-1, 1, 1}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cp_decoder_cache_move(&c.decoder, &cache.cache, move[i][0], move[i][1],
                                               move[i][2], NULL),
                         CP_ERROR_UNSUPPORTED);
    }
    const int few[] = {0, 1, 1, 0, 1}, tokens[] = {0, 1, 2, 1, 0};
    c.decoder.shape.n_positions = 2;
    decoder_case_cache(&cache);
    assert_int_equal(decoder_case_run(&c, &cache, 5, tokens, few, NULL, NULL, NULL), CP_OK);
}

/* LAYER-15 */
static void a_cache_refuses_entries_that_are_not_there(void **unused) {
    (void)unused;
    struct hand_memory a, b;
    hand_make(&a, 3);
    hand_make(&b, 2);
    assert_int_equal(cp_decoder_run(&hand, &a.cache, &a.call), CP_OK);
    assert_int_equal(cp_decoder_run(&hand, &b.cache, &b.call), CP_OK);
    const int bad[][2] = {{-1, 1}, {0, 4}, {3, 1}, {4, 0}, {1, -1}, {1, INT_MAX}, {INT_MIN, 1}};
    for (int i = 0; i < (int)(sizeof bad / sizeof bad[0]); i++) {
        struct hand_memory before = b, of_a = a;
        assert_int_equal(
            cp_decoder_cache_append(&hand.shape, &b.cache, &a.cache, bad[i][0], bad[i][1]),
            CP_ERROR_ARGUMENT);
        assert_int_equal(cp_decoder_cache_move(&hand, &a.cache, bad[i][0], bad[i][1], 1, NULL),
                         CP_ERROR_ARGUMENT);
        assert_memory_equal(&before, &b, sizeof b);
        assert_memory_equal(&of_a, &a, sizeof a);
    }
    assert_int_equal(cp_decoder_cache_append(&hand.shape, &b.cache, &a.cache, 0, 3),
                     CP_ERROR_TOO_LONG);
    assert_int_equal(cp_decoder_cache_append(&hand.shape, &b.cache, &a.cache, 3, 0), CP_OK);
    assert_int_equal(cp_decoder_cache_append(&hand.shape, &b.cache, &a.cache, 1, 2), CP_OK);
    assert_int_equal(b.cache.n, 4);
    a.position[1] = INT_MAX - 5;
    assert_int_equal(cp_decoder_cache_move(&hand, &a.cache, 0, 2, 6, NULL), CP_ERROR_ARGUMENT);
    assert_int_equal(a.position[0], 0);
    assert_int_equal(cp_decoder_cache_move(&hand, &a.cache, 0, 2, 5, NULL), CP_OK);
    assert_int_equal(a.position[0], 5);
    assert_int_equal(a.position[1], INT_MAX);
    assert_int_equal(a.position[2], 0);
    a.position[0] = INT_MIN + 5;
    assert_int_equal(cp_decoder_cache_move(&hand, &a.cache, 0, 1, -6, NULL), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_decoder_cache_move(&hand, &a.cache, 0, 1, -5, NULL), CP_OK);
    assert_int_equal(a.position[0], INT_MIN);
    a.cache.n = 5;
    assert_int_equal(cp_decoder_cache_append(&hand.shape, &b.cache, &a.cache, 0, 0),
                     CP_ERROR_ARGUMENT);
    assert_int_equal(cp_decoder_cache_append(&hand.shape, &a.cache, &b.cache, 0, 0),
                     CP_ERROR_ARGUMENT);
}

/* LAYER-15: each field that may be wrong is named. */
static void a_decoder_that_is_none_is_named(void **unused) {
    (void)unused;
    static struct decoder_case c;
    unsigned long long random = 11;
    const float *w = c.weight;
    double frequency[CASE_WIDTH];
    struct cp_decoder *d = &c.decoder;
    struct cp_decoder_shape *s = &c.decoder.shape;
    struct cp_decoder_layer *last = &c.layer[1];
    int layer;
#define NAMED(kind, name, of_layer, change)                                                        \
    do {                                                                                           \
        do {                                                                                       \
            decoder_case_make(&c, &random, kind, 2);                                               \
        } while (s->norm != CP_NORM_RMS || s->network != CP_NETWORK_SWIGLU || s->d_head < 2);      \
        assert_null(cp_decoder_check(d, &layer));                                                  \
        assert_int_equal(layer, -1);                                                               \
        change;                                                                                    \
        const char *problem = cp_decoder_check(d, &layer);                                         \
        assert_non_null(problem);                                                                  \
        assert_non_null(strstr(problem, name));                                                    \
        assert_int_equal(layer, of_layer);                                                         \
    } while (0)
    NAMED(0, "n_layers:", -1, s->n_layers = 0);
    NAMED(0, "n_vocab:", -1, s->n_vocab = 0);
    NAMED(0, "d_model:", -1, s->d_model = 0);
    NAMED(0, "n_heads:", -1, s->n_heads = 0);
    NAMED(0, "n_kv_heads:", -1, s->n_kv_heads = 0);
    NAMED(0, "n_kv_heads:", -1, s->n_kv_heads = s->n_heads + 1);
    NAMED(0, "n_kv_heads:", -1, s->n_kv_heads = -1);
    NAMED(0, "n_kv_heads:", -1, s->n_heads = 6; s->n_kv_heads = 4);
    NAMED(0, "d_head:", -1, s->d_head = -1);
    NAMED(0, "d_head:", -1, s->d_head = 0);
    NAMED(0, "d_head:", -1, s->d_head = INT_MAX / s->n_heads + 1);
    NAMED(0, "d_hidden:", -1, s->d_hidden = 0);
    NAMED(0, "norm_epsilon:", -1, s->norm_epsilon = 0.0);
    NAMED(0, "norm_epsilon:", -1, s->norm_epsilon = NAN);
    NAMED(0, "norm_epsilon:", -1, s->norm_epsilon = INFINITY);
    NAMED(0, "scale:", -1, s->scale = NAN);
    NAMED(0, "norm:", -1, s->norm = 2);
    NAMED(0, "norm:", -1, s->norm = -1);
    NAMED(0, "network:", -1, s->network = 3);
    NAMED(0, "network:", -1, s->network = -1);
    NAMED(0, "positions:", -1, s->positions = 3);
    NAMED(0, "positions:", -1, s->positions = -1);
    NAMED(0, "scale:", -1, s->scale = -INFINITY);
    NAMED(0, "n_pairs:", -1, s->n_pairs = 0);
    NAMED(0, "n_pairs:", -1, s->n_pairs = s->d_head / 2 + 1);
    NAMED(0, "n_pairs:", -1, s->n_pairs = -1);
    NAMED(0, "n_pairs:", -1, s->n_pairs = -1; d->embedding = NULL);
    NAMED(0, "n_pairs:", -1, s->d_head = 3; s->n_pairs = 2; s->pair_distance = 1);
    NAMED(0, "n_pairs:", -1, s->n_pairs = 1 << 30);
    NAMED(1, "n_pairs:", -1, s->n_pairs = 1);
    NAMED(2, "n_pairs:", -1, s->n_pairs = 1);
    NAMED(1, "n_pairs:", -1, s->n_pairs = -1);
    NAMED(0, "pair_distance:", -1, s->pair_distance = -1);
    NAMED(2, "pair_distance:", -1, s->pair_distance = 1);
    NAMED(1, "pair_distance:", -1, s->pair_distance = -1);
    NAMED(0, "pair_distance:", -1, s->pair_distance = 0);
    NAMED(0, "pair_distance:", -1, s->pair_distance = s->n_pairs + 1);
    NAMED(1, "pair_distance:", -1, s->pair_distance = 1);
    NAMED(0, "frequency:", -1, d->frequency = NULL);
    NAMED(2, "frequency:", -1, d->frequency = frequency);
    NAMED(0, "frequency:", -1, c.frequency[s->n_pairs - 1] = NAN);
    NAMED(0, "frequency:", -1, c.frequency[0] = -INFINITY);
    NAMED(2, "n_positions:", -1, s->n_positions = 0);
    NAMED(2, "n_positions:", -1, s->n_positions = -1);
    NAMED(0, "n_positions:", -1, s->n_positions = 1);
    NAMED(0, "n_positions:", -1, s->n_positions = -1);
    NAMED(1, "n_positions:", -1, s->n_positions = 1);
    NAMED(1, "frequency:", -1, d->frequency = frequency);
    NAMED(0, "position_embedding:", -1, d->position_embedding = w);
    NAMED(2, "position_embedding:", -1, d->position_embedding = NULL);
    NAMED(1, "position_embedding:", -1, d->position_embedding = w);
    NAMED(0, "embedding:", -1, d->embedding = NULL);
    NAMED(0, "layer:", -1, d->layer = NULL);
    NAMED(0, "final_norm:", -1, d->final_norm = NULL);
    NAMED(0, "final_norm_bias:", -1, d->final_norm_bias = w);
    NAMED(0, "query", 0, c.layer[0].query = NULL; last->query = NULL);
    NAMED(0, "n_vocab:", -1, s->n_vocab = 0; d->embedding = NULL);
    NAMED(0, "attention_norm", 1, last->attention_norm = NULL);
    NAMED(0, "network_norm", 1, last->network_norm = NULL);
    NAMED(0, "attention_norm_bias", 1, last->attention_norm_bias = w);
    NAMED(0, "network_norm_bias", 1, last->network_norm_bias = w);
    NAMED(0, "query", 1, last->query = NULL);
    NAMED(0, "key", 1, last->key = NULL);
    NAMED(0, "value", 1, last->value = NULL);
    NAMED(0, "mix", 1, last->mix = NULL);
    NAMED(0, "up", 1, last->up = NULL);
    NAMED(0, "down", 1, last->down = NULL);
    NAMED(0, "gate:", 1, last->gate = NULL);
    NAMED(0, "gate:", 0, s->network = CP_NETWORK_GELU_ERF);
    NAMED(0, "gate_bias:", 0, s->network = CP_NETWORK_GELU_ERF; c.layer[0].gate = NULL;
          c.layer[0].gate_bias = w);
#undef NAMED
}

/* LAYER-15 */
static void sizes_that_cannot_be_counted_are_none(void **unused) {
    (void)unused;
    struct cp_decoder_shape s = hand.shape;
    assert_int_equal(cp_decoder_cache_numbers(&s, 4), 4);
    assert_int_equal(cp_decoder_cache_numbers(&s, 0), 0);
    s.n_layers = 3;
    s.n_kv_heads = s.n_heads = 5;
    s.d_head = 7;
    assert_int_equal(cp_decoder_cache_numbers(&s, 4), 3 * 4 * 5 * 7);
    s.n_heads = 10;
    assert_int_equal(cp_decoder_cache_numbers(&s, 4), 3 * 4 * 5 * 7);
    assert_int_equal(cp_decoder_cache_numbers(&s, -1), 0);
    assert_true(cp_decoder_workspace(&s, 2, 9) > 0);
    assert_true(cp_decoder_workspace(&s, 1 << 20, 1 << 20) > 0);
    assert_int_equal(cp_decoder_workspace(&s, 0, 9), 0);
    assert_int_equal(cp_decoder_workspace(&s, 2, 1), 0);
    s.n_layers = INT_MAX;
    s.n_heads = 5;
    s.d_head = INT_MAX / 5;
    assert_int_equal(cp_decoder_cache_numbers(&s, INT_MAX), 0);
    s.n_heads = s.n_kv_heads = s.d_head = 1;
    s.n_layers = 1 << 30;
    assert_int_equal(cp_decoder_cache_numbers(&s, (1 << 30) - 1),
                     ((size_t)1 << 60) - ((size_t)1 << 30));
    assert_int_equal(cp_decoder_cache_numbers(&s, 1 << 30), 0); /* 2^63 bytes */
    assert_int_equal(cp_decoder_cache_numbers(&s, -1), 0);
    assert_int_equal(cp_decoder_workspace(&s, -1, 9), 0);
    const int most = 2147483638; /* of tokens and entries; one more number for each is too much */
    s.n_layers = 1;
    s.d_hidden = 268435455;
    assert_true(cp_decoder_workspace(&s, most, most) > PTRDIFF_MAX - ((size_t)1 << 32));
    s.d_hidden++;
    assert_int_equal(cp_decoder_workspace(&s, most, most), 0);
    s.d_hidden = INT_MAX;
    s.d_model = INT_MAX;
    s.d_head = INT_MAX;
    assert_int_equal(cp_decoder_workspace(&s, INT_MAX, INT_MAX), 0);
}

/* LAYER-15: sizes rise with the number of tokens, from some number of them on there is no size, and
 * then there is none of more. Shapes go up to the largest ones. */
static void sizes_rise_until_there_are_none(void **unused) {
    (void)unused;
    const int sizes[] = {1, 1000, 1 << 20, 1 << 30, INT_MAX};
    for (int i = 0; i < 125; i++) {
        struct cp_decoder_shape s = hand.shape;
        size_t last = 1;
        s.d_model = sizes[i % 5];
        s.d_hidden = sizes[i / 5 % 5];
        s.d_head = sizes[i / 25];
        for (int k = 1; k <= 31; k++) {
            int n = (int)((1U << k) - 1U);
            size_t size = cp_decoder_workspace(&s, n, INT_MAX);
            assert_true(last == 0 ? size == 0 : size == 0 || size >= last);
            assert_true(size <= PTRDIFF_MAX);
            assert_true(cp_decoder_workspace(&s, n, n) <= size || size == 0);
            last = size;
        }
        assert_true(s.d_model < 1 << 30 || last == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_chapter),
        cmocka_unit_test(a_bias_belongs_to_its_projection),
        cmocka_unit_test(scores_may_be_far_from_zero),
        cmocka_unit_test(a_run_refuses_what_it_cannot_do),
        cmocka_unit_test(a_learned_position_is_in_its_table),
        cmocka_unit_test(a_cache_refuses_entries_that_are_not_there),
        cmocka_unit_test(a_decoder_that_is_none_is_named),
        cmocka_unit_test(sizes_that_cannot_be_counted_are_none),
        cmocka_unit_test(sizes_rise_until_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

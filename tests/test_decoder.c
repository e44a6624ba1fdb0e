/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder against an oracle that shares no code with it, its laws, and what it refuses
 * (spec/layers.md; DEC-1 to DEC-11). */
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

#include "chunkproof/decoder.h"
#include "tests/decoder_case.h"
#include "tests/decoder_oracle.h"
#include "tests/random.h"
#include "tests/rotation_bound.h"

#define N       7  /* tokens of a prompt, at most */
#define N_KINDS 3  /* of positions */
#define N_STEEP 60 /* decoders with scores far apart */

/* A prompt: tokens at different positions, and who sees whom. */
struct prompt {
    int n;
    int token[N], position[N];
    unsigned char sees[N * N];
};

static void shuffle(int *x, int n, unsigned long long *random) {
    for (int i = n - 1; i > 0; i--) {
        int j = random_below(random, i + 1), of_i = x[i];
        x[i] = x[j];
        x[j] = of_i;
    }
}

/* Positions at the ends of int, where differences are no int, and some that float does not tell. */
static const int far_position[N] = {INT_MIN,     INT_MAX, (1 << 24) + 1, 1 << 24, -(1 << 24) - 1,
                                    INT_MAX - 1, -3};

/* Different positions, in any order: below 0 where the decoder takes them, up to CASE_TOKENS. */
static void make_positions(int *position, int n, const struct decoder_case *c,
                           unsigned long long *random) {
    int any[CASE_TOKENS];
    int least = c->decoder.shape.positions == CP_POSITIONS_LEARNED ? 0 : -20;
    for (int i = 0; i < CASE_TOKENS; i++) {
        any[i] = least + i;
    }
    shuffle(any, CASE_TOKENS, random);
    memcpy(position, any, (size_t)n * sizeof *position);
}

static void make_far_positions(int *position, int n, unsigned long long *random) {
    int any[N];
    memcpy(any, far_position, sizeof any);
    shuffle(any, N, random);
    memcpy(position, any, (size_t)n * sizeof *position);
}

/* Masks: causal, all, and any. */
static void make_prompt(struct prompt *p, const struct decoder_case *c,
                        unsigned long long *random) {
    int mask = random_below(random, 3);
    p->n = 1 + random_below(random, N);
    if (c->decoder.shape.positions != CP_POSITIONS_LEARNED && random_below(random, 4) == 0) {
        make_far_positions(p->position, p->n, random);
    } else {
        make_positions(p->position, p->n, c, random);
    }
    for (int i = 0; i < p->n; i++) {
        p->token[i] = random_below(random, c->decoder.shape.n_vocab);
        for (int j = 0; j < p->n; j++) {
            p->sees[i * p->n + j] = mask == 0   ? p->position[j] <= p->position[i]
                                    : mask == 1 ? 1
                                                : (unsigned char)random_below(random, 2);
        }
    }
}

/* How often the oracle's bound is met, at the worst: 1 is as far as it allows. */
static double worst = 0.0;

static void assert_in_ball(double x, struct ball b, double *largest_bound) {
    double off = (double)(fabsl(x - b.x) / (b.e + 0x1p-1000L));
    worst = off > worst ? off : worst;
    *largest_bound = (double)b.e > *largest_bound ? (double)b.e : *largest_bound;
    assert_true(fabsl(x - b.x) <= b.e);
}

/* DEC-2, LAYER-1 to LAYER-10, LAYER-11: states, entries and logits of random decoders of all
 * kinds. The bound is small enough to tell: half of the prompts have one below 1e-9, and few have
 * one above 1e-2, of those with positions at the ends of int. LAYER-13: some more have scores so
 * far apart that keys weigh less than e^-20, and these count, too. */
static void decoders_are_within_the_bound_of_the_oracle(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache cache;
    unsigned long long random = 1;
    int n_tight = 0, n_wide = 0, n_cases = 600;
    for (int i = 0; i < n_cases + N_STEEP; i++) {
        struct prompt p;
        double states[N * CASE_WIDTH], logits[N * 16], bound = 0.0;
        struct ball state[ORACLE_MAX], key[ORACLE_MAX], value[ORACLE_MAX];
        decoder_case_make(&c, &random, i % N_KINDS, 1 + i % 7 % 2);
        make_prompt(&p, &c, &random);
        if (i >= n_cases) {
            c.decoder.shape.scale *= 24.0;
        }
        decoder_case_cache(&cache);
        assert_int_equal(
            decoder_case_run(&c, &cache, p.n, p.token, p.position, p.sees, states, logits), CP_OK);
        const struct cp_decoder_shape *s = &c.decoder.shape;
        const struct oracle oracle = {&c.decoder, p.n, p.token, p.position, p.sees};
        for (int t = 0; t < p.n; t++) {
            oracle_state(state, &oracle, s->n_layers, t);
            for (int x = 0; x < s->d_model; x++) {
                assert_in_ball(states[t * s->d_model + x], state[x], &bound);
            }
            oracle_logits(state, &oracle, t);
            for (int w = 0; w < s->n_vocab; w++) {
                assert_in_ball(logits[t * s->n_vocab + w], state[w], &bound);
            }
            int l = s->n_layers - 1, g = s->n_kv_heads - 1;
            oracle_entry(key, value, &oracle, l, t, g);
            for (int x = 0; x < s->d_head; x++) {
                size_t at = decoder_case_at(&c, &cache, l, t, g) + (size_t)x;
                assert_in_ball(cache.k[at], key[x], &bound);
                assert_in_ball(cache.v[at], value[x], &bound);
            }
        }
        n_wide += i < n_cases && bound >= 1e-2;
        n_tight += i < n_cases && bound < 1e-9;
    }
    print_message("the worst is %.3f of its bound, %d of %d tight, %d wide\n", worst, n_tight,
                  n_cases, n_wide);
    assert_true(2 * n_tight >= n_cases && 10 * n_wide <= n_cases);
}

/* ---- What does not matter (LAYER-12) ---- */

static void assert_same_bits(const double *x, const double *y, int n) {
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
}

/* LAYER-12, DEC-6: the same tokens in another order have the same bits. */
static void the_order_of_tokens_changes_no_bit(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache a, b;
    unsigned long long random = 5;
    for (int i = 0; i < 2000; i++) {
        struct prompt p, q;
        int order[N] = {0, 1, 2, 3, 4, 5, 6};
        double of_p[N * CASE_WIDTH], of_q[N * CASE_WIDTH];
        decoder_case_make(&c, &random, i % N_KINDS, 1 + i % CASE_LAYERS);
        make_prompt(&p, &c, &random);
        shuffle(order, p.n, &random);
        q = p;
        for (int t = 0; t < p.n; t++) {
            q.token[t] = p.token[order[t]];
            q.position[t] = p.position[order[t]];
            for (int j = 0; j < p.n; j++) {
                q.sees[t * p.n + j] = p.sees[order[t] * p.n + order[j]];
            }
        }
        decoder_case_cache(&a);
        decoder_case_cache(&b);
        decoder_case_run(&c, &a, p.n, p.token, p.position, p.sees, of_p, NULL);
        decoder_case_run(&c, &b, q.n, q.token, q.position, q.sees, of_q, NULL);
        int d = c.decoder.shape.d_model;
        for (int t = 0; t < p.n; t++) {
            assert_same_bits(of_q + t * d, of_p + order[t] * d, d);
            assert_true(decoder_case_same_entry(&c, &b, t, &a, order[t]));
        }
    }
}

/* LAYER-12, DEC-4, DEC-7: a text in pieces, each on top of the cache of those before it, has the
 * bits of the text in one run, with or without a mask that says the same. */
static void a_text_in_pieces_is_the_text(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache whole, pieces;
    unsigned long long random = 6;
    for (int i = 0; i < 600; i++) {
        enum { LONG = 20 };
        int n = 1 + random_below(&random, LONG), token[LONG], position[LONG];
        unsigned char sees[LONG * LONG];
        double states[LONG * CASE_WIDTH], of_piece[LONG * CASE_WIDTH];
        decoder_case_make(&c, &random, i % N_KINDS, 1 + i % CASE_LAYERS);
        make_positions(position, n, &c, &random);
        for (int t = 0; t < n; t++) {
            token[t] = random_below(&random, c.decoder.shape.n_vocab);
            position[t] = t == 0 ? position[0] / 4 : position[t - 1] + 1 + t % 3;
            for (int j = 0; j < n; j++) {
                sees[t * n + j] = j <= t ? 255 : 0;
            }
        }
        decoder_case_cache(&whole);
        decoder_case_cache(&pieces);
        decoder_case_run(&c, &whole, n, token, position, sees, states, NULL);
        int d = c.decoder.shape.d_model;
        for (int begin = 0, end; begin < n; begin = end) {
            end = begin + 1 + random_below(&random, n - begin);
            decoder_case_run(&c, &pieces, end - begin, token + begin, position + begin, NULL,
                             of_piece, NULL);
            assert_same_bits(of_piece, states + begin * d, (end - begin) * d);
        }
        for (int t = 0; t < n; t++) {
            assert_true(decoder_case_same_entry(&c, &whole, t, &pieces, t));
        }
    }
}

/* LAYER-7, DEC-5: without a mask a token sees what is not behind its position, with the same bits
 * as under the mask that says so. Positions are in any order, also at the ends of int, and some are
 * the same; some tokens are cached. */
static void no_mask_is_the_mask_of_positions(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache a, b;
    unsigned long long random = 12;
    for (int i = 0; i < 600; i++) {
        struct prompt p;
        unsigned char sees[N * N];
        double of_a[N * CASE_WIDTH], of_b[N * CASE_WIDTH];
        decoder_case_make(&c, &random, i % N_KINDS, 1 + i % 2);
        make_prompt(&p, &c, &random);
        int n_cached = random_below(&random, p.n), n = p.n - n_cached;
        if (i % 5 == 0) {
            p.position[p.n - 1] = p.position[0];
        }
        for (int t = 0; t < n; t++) {
            for (int j = 0; j < p.n; j++) {
                sees[t * p.n + j] = p.position[j] <= p.position[n_cached + t] ? 0x80 : 0;
            }
        }
        decoder_case_cache(&a);
        decoder_case_cache(&b);
        if (n_cached > 0) {
            decoder_case_run(&c, &a, n_cached, p.token, p.position, NULL, NULL, NULL);
            decoder_case_run(&c, &b, n_cached, p.token, p.position, NULL, NULL, NULL);
        }
        decoder_case_run(&c, &a, n, p.token + n_cached, p.position + n_cached, NULL, of_a, NULL);
        decoder_case_run(&c, &b, n, p.token + n_cached, p.position + n_cached, sees, of_b, NULL);
        assert_same_bits(of_a, of_b, n * c.decoder.shape.d_model);
    }
}

/* LAYER-11: logits are those of the tokens from first_logits on, with the states or without them,
 * and nothing is written behind either. */
static void logits_are_those_of_the_tokens_that_are_asked_for(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache a;
    unsigned long long random = 13;
    static double workspace[8192];
    for (int i = 0; i < 200; i++) {
        struct prompt p;
        double states[N * CASE_WIDTH + 1], logits[N * 16], of_some[N * 16 + 1];
        decoder_case_make(&c, &random, i % N_KINDS, 1);
        make_prompt(&p, &c, &random);
        const struct cp_decoder_shape *s = &c.decoder.shape;
        decoder_case_cache(&a);
        assert_int_equal(decoder_case_run(&c, &a, p.n, p.token, p.position, p.sees, NULL, logits),
                         CP_OK);
        for (int first = 0; first <= p.n; first++) {
            int n_numbers = (p.n - first) * s->n_vocab;
            states[p.n * s->d_model] = of_some[n_numbers] = 7.0;
            decoder_case_cache(&a);
            struct cp_decoder_call call = {
                p.n,     p.token, p.position, p.sees,          first % 2 ? NULL : states,
                of_some, first,   workspace,  sizeof workspace};
            assert_int_equal(cp_decoder_run(&c.decoder, &a.cache, &call), CP_OK);
            assert_same_bits(of_some, logits + first * s->n_vocab, n_numbers);
            assert_true(states[p.n * s->d_model] == 7.0 && of_some[n_numbers] == 7.0);
        }
    }
}

/* LAYER-12: entries of one position are taken in the order of the cache, the new ones last. Learned
 * positions whose vectors are all 0 say nothing else: then equal positions are rising ones, bit for
 * bit, and falling ones are not. */
static void entries_of_one_position_keep_their_order(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache a;
    unsigned long long random = 7;
    int n_different = 0;
    for (int i = 0; i < 300; i++) {
        const int rising[N] = {1, 2, 3, 4, 5, 6, 7}, falling[N] = {7, 6, 5, 4, 3, 2, 1};
        const int equal[N] = {3, 3, 3, 3, 3, 3, 3}, token[N] = {0, 1, 2, 0, 2, 1, 1};
        unsigned char sees[N * N];
        double states[3][N * CASE_WIDTH];
        int n_cached = i / 2 % N;
        decoder_case_make(&c, &random, CP_POSITIONS_LEARNED, 1 + i % 2);
        int d = c.decoder.shape.d_model;
        memset(sees, 1, sizeof sees);
        memset(c.weight + (c.decoder.position_embedding - c.weight), 0,
               (size_t)(CASE_TOKENS * d) * sizeof(float));
        const int *position[] = {rising, equal, falling};
        for (int k = 0; k < 3; k++) {
            decoder_case_cache(&a);
            if (n_cached > 0) {
                decoder_case_run(&c, &a, n_cached, token, position[k], sees, NULL, NULL);
            }
            decoder_case_run(&c, &a, N - n_cached, token + n_cached, position[k] + n_cached, sees,
                             states[k], NULL);
        }
        size_t bytes = (size_t)((N - n_cached) * d) * sizeof(double);
        assert_memory_equal(states[0], states[1], bytes);
        n_different += memcmp(states[0], states[2], bytes) != 0;
    }
    assert_true(n_different > 150);
}

/* ---- What may be moved, and dropped ---- */

/* A random text at ascending positions from `begin` on. */
static int make_text(int *token, int *position, int n, int begin, const struct decoder_case *c,
                     unsigned long long *random) {
    for (int t = 0; t < n; t++) {
        token[t] = random_below(random, c->decoder.shape.n_vocab);
        position[t] = begin;
        begin += 1 + random_below(random, 2);
    }
    return begin;
}

/* DEC-9, LAYER-14: under ALiBi a moved cache is the cache of the moved text, bit for bit, and so
 * are the states of what is computed from it. Under rotary positions the same holds of values and
 * keys in layer 0, but that a key is off by the roundings of LAYER-14. */
static void a_cache_may_be_moved(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache moved, there;
    unsigned long long random = 8;
    for (int i = 0; i < 1000; i++) {
        int token[9], position[9], shifted[9], t = random_below(&random, 2000) - 1000;
        double from_moved[3 * CASE_WIDTH], from_there[3 * CASE_WIDTH], workspace[2 * CASE_WIDTH];
        int is_alibi = i % 2;
        decoder_case_make(&c, &random, is_alibi ? CP_POSITIONS_ALIBI : CP_POSITIONS_ROTARY,
                          1 + i % CASE_LAYERS);
        const struct cp_decoder_shape *s = &c.decoder.shape;
        make_text(token, position, 9, random_below(&random, 20) - 10, &c, &random);
        for (int e = 0; e < 9; e++) {
            shifted[e] = position[e] + t;
        }
        decoder_case_cache(&moved);
        decoder_case_cache(&there);
        decoder_case_run(&c, &moved, 6, token, position, NULL, NULL, NULL);
        decoder_case_run(&c, &there, 6, token, shifted, NULL, NULL, NULL);
        assert_int_equal(
            cp_decoder_cache_move(&c.decoder, &moved.cache, 0, 6, t, is_alibi ? NULL : workspace),
            CP_OK);
        assert_memory_equal(moved.position, shifted, 6 * sizeof(int));
        for (int e = 0; e < 6 && is_alibi; e++) {
            assert_true(decoder_case_same_entry(&c, &moved, e, &there, e));
        }
        for (int at = 0; at < 6 * s->n_kv_heads * s->d_head; at++) {
            int x = at % s->d_head, e = at / (s->n_kv_heads * s->d_head);
            assert_same_bits(&moved.v[at], &there.v[at], 1);
            if (x >= 2 * s->n_pairs) {
                assert_same_bits(&moved.k[at], &there.k[at], 1);
                continue;
            }
            double length = 0.0; /* of the rotated part: no pair of it is longer */
            for (int y = 0; y < 2 * s->n_pairs; y++) {
                length = hypot(length, there.k[at - x + y]);
            }
            length /= 1.0 - rotation_loss(shifted[e]); /* before it was rotated */
            assert_true(fabs(moved.k[at] - there.k[at]) <=
                        moved_loss(position[e], t, shifted[e]) * length); /* frequencies are <= 1 */
        }
        decoder_case_run(&c, &moved, 3, token + 6, shifted + 6, NULL, from_moved, NULL);
        decoder_case_run(&c, &there, 3, token + 6, shifted + 6, NULL, from_there, NULL);
        if (is_alibi) {
            assert_same_bits(from_moved, from_there, 3 * s->d_model);
        }
    }
}

/* DEC-10, DEC-11: the first tokens of a text are dropped from its cache. New tokens have the bits
 * of a run over the whole text with a mask under which they do not see what was dropped. In layer 0
 * the kept entries are those of recomputation, in the last of several layers they are not. */
static void a_truncated_cache_is_a_decoder_under_a_mask(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache old, kept, whole, anew;
    unsigned long long random = 9;
    int n_different = 0;
    for (int i = 0; i < 300; i++) {
        int token[10], position[10], dropped = 1 + random_below(&random, 5);
        unsigned char sees[100];
        double states[10 * CASE_WIDTH], from_kept[3 * CASE_WIDTH];
        decoder_case_make(&c, &random, i % N_KINDS, 2);
        const struct cp_decoder_shape *s = &c.decoder.shape;
        make_text(token, position, 10, 0, &c, &random);
        for (int t = 0; t < 10; t++) {
            for (int j = 0; j < 10; j++) {
                sees[t * 10 + j] = j <= t && (t < 7 || j >= dropped);
            }
        }
        decoder_case_cache(&old);
        decoder_case_cache(&kept);
        decoder_case_cache(&whole);
        decoder_case_cache(&anew);
        decoder_case_run(&c, &whole, 10, token, position, sees, states, NULL);
        decoder_case_run(&c, &old, 7, token, position, NULL, NULL, NULL);
        assert_int_equal(cp_decoder_cache_append(s, &kept.cache, &old.cache, dropped, 7 - dropped),
                         CP_OK);
        decoder_case_run(&c, &anew, 7 - dropped, token + dropped, position + dropped, NULL, NULL,
                         NULL);
        size_t numbers = (size_t)(7 - dropped) * (size_t)(s->n_kv_heads * s->d_head);
        assert_memory_equal(kept.k, anew.k, numbers * sizeof(double));
        assert_memory_equal(kept.v, anew.v, numbers * sizeof(double));
        size_t last = decoder_case_at(&c, &kept, s->n_layers - 1, 0, 0);
        n_different += memcmp(kept.k + last, anew.k + last, numbers * sizeof(double)) != 0;
        decoder_case_run(&c, &kept, 3, token + 7, position + 7, NULL, from_kept, NULL);
        assert_same_bits(from_kept, states + 7 * s->d_model, 3 * s->d_model);
        for (int e = 0; e < 3; e++) {
            assert_true(decoder_case_same_entry(&c, &kept, 7 - dropped + e, &whole, 7 + e));
        }
    }
    assert_true(n_different > 290);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoders_are_within_the_bound_of_the_oracle),
        cmocka_unit_test(the_order_of_tokens_changes_no_bit),
        cmocka_unit_test(a_text_in_pieces_is_the_text),
        cmocka_unit_test(no_mask_is_the_mask_of_positions),
        cmocka_unit_test(logits_are_those_of_the_tokens_that_are_asked_for),
        cmocka_unit_test(entries_of_one_position_keep_their_order),
        cmocka_unit_test(a_cache_may_be_moved),
        cmocka_unit_test(a_truncated_cache_is_a_decoder_under_a_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The fast decoder against the oracle of decoders, whose balls are those of binary32. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/layers.h"
#include "chunkproof/opt_decoder.h"
#include "tests/decoder_case.h"
#include "tests/decoder_oracle.h"
#include "tests/random.h"

#define MOST  48 /* tokens of a prompt, at most */
#define VOCAB 16 /* more than a random decoder has */

/* Tokens in order of position. Those of `cached` see each other, the others see all. */
struct prompt {
    int n;
    int token[MOST], position[MOST];
    unsigned char is_cached[MOST];
    unsigned char sees[MOST * MOST];
};

static void make_prompt(struct prompt *p, const struct decoder_case *c, int n, int is_cut,
                        unsigned long long *random) {
    int position = 0;
    p->n = n;
    for (int i = 0; i < n; i++) {
        position += random_below(random, CASE_TOKENS / n);
        p->token[i] = random_below(random, c->decoder.shape.n_vocab);
        p->position[i] = position++;
        p->is_cached[i] = is_cut ? (unsigned char)random_below(random, 2) : i < n / 2;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            p->sees[i * n + j] = j <= i && (!p->is_cached[i] || p->is_cached[j]);
        }
    }
}

/* A decoder, its caches, and what a run is to write, which begins as NaN. */
struct fast {
    struct cp_opt *opt;
    struct cp_opt_decoder *decoder;
    struct cp_opt_cache cache;
    float states[MOST * CASE_WIDTH], logits[MOST * VOCAB];
};

static float *poisoned(size_t n) {
    float *x = malloc(n * sizeof *x);
    assert_true(n > 0 && x != NULL);
    for (size_t i = 0; i < n; i++) {
        x[i] = NAN;
    }
    return x;
}

static void make_cache(struct cp_opt_cache *cache, const struct cp_decoder_shape *shape,
                       int chunk_size, int capacity) {
    size_t n = cp_opt_cache_numbers(shape, chunk_size, capacity);
    *cache = (struct cp_opt_cache){.capacity = capacity, .chunk_size = chunk_size};
    cache->position = calloc((size_t)capacity, sizeof *cache->position);
    assert_non_null(cache->position);
    cache->k = poisoned(n);
    cache->v = poisoned(n);
}

static void free_cache(struct cp_opt_cache *cache) {
    free(cache->position);
    free(cache->k);
    free(cache->v);
}

/* With room for MOST tokens or some more. */
static void make_fast(struct fast *f, const struct decoder_case *c, int threads, int version,
                      int chunk_size) {
    int capacity = (MOST + chunk_size - 1) / chunk_size * chunk_size;
    assert_int_equal(cp_opt_new(&f->opt, threads, version), CP_OK);
    assert_int_equal(
        cp_opt_decoder_new(&f->decoder, f->opt, &c->decoder, MOST, chunk_size, capacity), CP_OK);
    make_cache(&f->cache, &c->decoder.shape, chunk_size, capacity);
    for (int i = 0; i < MOST * CASE_WIDTH; i++) {
        f->states[i] = NAN;
    }
    for (int i = 0; i < MOST * VOCAB; i++) {
        f->logits[i] = NAN;
    }
}

static void free_fast(struct fast *f) {
    free_cache(&f->cache);
    cp_opt_decoder_free(f->decoder);
    cp_opt_free(f->opt);
}

/* Runs those tokens of a prompt that are cached, or the others. Returns how many. */
static int run(struct fast *f, const struct prompt *p, int cached) {
    int token[MOST], position[MOST], n = 0;
    for (int i = 0; i < p->n; i++) {
        if (p->is_cached[i] == cached) {
            token[n] = p->token[i];
            position[n++] = p->position[i];
        }
    }
    const struct cp_opt_decoder_call call = {n, token, position, f->states, f->logits, 0};
    if (n > 0) {
        assert_int_equal(cp_opt_decoder_run(f->decoder, &f->cache, &call), CP_OK);
    }
    return n;
}

/* The bounds that were met, and how many of them tell: 2^-7 is small beside states of 1 to 10. */
struct tally {
    int n, n_tight;
    double worst;
};

static void assert_in_ball(float x, struct ball b, struct tally *tally) {
    double off = (double)(fabsl((long double)x - b.x) / b.e);
    tally->n++;
    tally->n_tight += b.e < 0x1p-7L;
    tally->worst = off > tally->worst ? off : tally->worst;
    assert_true(fabsl((long double)x - b.x) <= b.e);
}

/* The states and logits that a run of the cached tokens, or of the others, has written. */
static void assert_right(const struct fast *f, const struct decoder_case *c, const struct prompt *p,
                         int cached, struct tally *tally) {
    const struct cp_decoder_shape *s = &c->decoder.shape;
    const struct oracle oracle = {&c->decoder, p->n, p->token, p->position, p->sees};
    struct ball state[ORACLE_MAX], logit[ORACLE_MAX];
    for (int i = 0, row = 0; i < p->n; i++) {
        if (p->is_cached[i] != cached) {
            continue;
        }
        oracle_fp32_state(state, &oracle, s->n_layers, i);
        oracle_fp32_logits(logit, &oracle, i);
        for (int x = 0; x < s->d_model; x++) {
            assert_in_ball(f->states[(ptrdiff_t)row * s->d_model + x], state[x], tally);
        }
        for (int x = 0; x < s->n_vocab; x++) {
            assert_in_ball(f->logits[(ptrdiff_t)row * s->n_vocab + x], logit[x], tally);
        }
        row++;
    }
}

static int can_run(int version) {
    struct cp_opt *opt;
    int status = cp_opt_new(&opt, 1, version);
    cp_opt_free(opt);
    return status == CP_OK;
}

static int any_version(unsigned long long *random) {
    int version;
    do {
        version = CP_OPT_PORTABLE + random_below(random, CP_OPT_NEON - CP_OPT_PORTABLE + 1);
    } while (!can_run(version));
    return version;
}

static int any_positions(unsigned long long *random) {
    return random_below(random, 2) ? CP_POSITIONS_ROTARY : CP_POSITIONS_LEARNED;
}

/* Puts the entries in any order, in a cache of another chunk size. */
static void shuffle(struct fast *f, const struct cp_decoder_shape *shape,
                    unsigned long long *random) {
    struct cp_opt_cache all;
    int order[MOST], n = f->cache.n;
    make_cache(&all, shape, 7, 49);
    assert_int_equal(cp_opt_cache_append(shape, &all, &f->cache, 0, n), CP_OK);
    for (int i = 0; i < n; i++) {
        int j = random_below(random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    f->cache.n = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(cp_opt_cache_append(shape, &f->cache, &all, order[i], 1), CP_OK);
    }
    free_cache(&all);
}

/* All weights below the normal numbers of binary32, of which a sign and 14 bits stay: so are
 * embeddings, biases and their sums. By bits alone, as arithmetic may have lost such numbers. */
static void make_small(struct decoder_case *c) {
    for (int i = 0; i < c->n_weights; i++) {
        uint32_t bits;
        memcpy(&bits, &c->weight[i], sizeof bits);
        bits = (bits & 0x80000000U) | (bits & 0x7FFFFFU) >> 9;
        memcpy(&c->weight[i], &bits, sizeof bits);
    }
}

/* FAST-1, FAST-2, FAST-4: random decoders, of which some tokens are cached, in any order, and
 * others stand among them. Most of the bounds tell. */
static void decoders_are_within_the_bound_of_the_oracle(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct fast f;
    static struct prompt p;
    unsigned long long random = 11;
    struct tally tally = {0};
    for (int i = 0; i < 400; i++) {
        int n = 1 + random_below(&random, 6), n_layers = 1 + i % 5 / 4;
        decoder_case_make(&c, &random, any_positions(&random), n_layers);
        make_prompt(&p, &c, n, random_below(&random, 2), &random);
        if (i % 20 == 19) {
            make_small(&c);
        }
        make_fast(&f, &c, 1 + random_below(&random, 3), any_version(&random),
                  1 + random_below(&random, 5));
        (void)run(&f, &p, 1);
        assert_right(&f, &c, &p, 1, &tally);
        shuffle(&f, &c.decoder.shape, &random);
        (void)run(&f, &p, 0);
        assert_right(&f, &c, &p, 0, &tally);
        free_fast(&f);
    }
    print_message("%d numbers, %d of them with a bound below 2^-7; %.2g of a bound at most\n",
                  tally.n, tally.n_tight, tally.worst);
    assert_true(tally.n_tight > tally.n / 2);
}

/* The cached tokens computed, their entries laid out in one order or another, then the others. */
static void run_shuffled(struct fast *f, const struct decoder_case *c, const struct prompt *p,
                         unsigned long long seed) {
    make_fast(f, c, 1, CP_OPT_BEST, 4);
    (void)run(f, p, 1);
    shuffle(f, &c->decoder.shape, &seed);
    (void)run(f, p, 0);
}

/* FAST-2, FAST-4, DEC-6: another order of the cached entries changes no logit by more than twice
 * its ball, and does change bits. */
static void orders_differ_by_no_more_than_two_balls(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct fast one, other;
    static struct prompt p;
    unsigned long long random = 17;
    int n = 0, n_tight = 0, n_other = 0;
    double worst = 0.0, largest = 0.0;
    for (int i = 0; i < 100; i++) {
        decoder_case_make(&c, &random, CP_POSITIONS_ROTARY, 1 + i % 5 / 4);
        make_prompt(&p, &c, 6, 0, &random);
        run_shuffled(&one, &c, &p, 1);
        run_shuffled(&other, &c, &p, 2 + (unsigned)i);
        const struct oracle oracle = {&c.decoder, p.n, p.token, p.position, p.sees};
        for (int row = 0, n_vocab = c.decoder.shape.n_vocab; row < p.n - p.n / 2; row++) {
            struct ball logit[ORACLE_MAX];
            oracle_fp32_logits(logit, &oracle, p.n / 2 + row);
            for (int x = 0; x < n_vocab; x++) {
                double a = one.logits[row * n_vocab + x], b = other.logits[row * n_vocab + x];
                double off = fabs(a - b);
                assert_true(off <= 2 * logit[x].e);
                n++;
                n_tight += logit[x].e < 0x1p-7L;
                n_other += off > 0;
                largest = fmax(largest, off);
                worst = fmax(worst, off / (2 * (double)logit[x].e));
            }
        }
        free_fast(&one);
        free_fast(&other);
    }
    print_message("%d logits, %d of them with a ball below 2^-7, %d with other bits; up to %.2g "
                  "apart, %.2g of the bound at most\n",
                  n, n_tight, n_other, largest, worst);
    assert_true(n_other > 0 && n_tight > 0);
}

/* FAST-1, FAST-2: more tokens at once than are few rows for any unit, in prompts of one layer. */
static void long_prompts_are_within_the_bound_of_the_oracle(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct fast f;
    static struct prompt p;
    unsigned long long random = 12;
    struct tally tally = {0};
    for (int i = 0; i < 40; i++) {
        decoder_case_make(&c, &random, any_positions(&random), 1);
        make_prompt(&p, &c, 25 + random_below(&random, MOST - 24), i % 2, &random);
        make_fast(&f, &c, 1 + random_below(&random, 3), any_version(&random),
                  1 + random_below(&random, 20));
        (void)run(&f, &p, 1);
        assert_right(&f, &c, &p, 1, &tally);
        shuffle(&f, &c.decoder.shape, &random);
        (void)run(&f, &p, 0);
        assert_right(&f, &c, &p, 0, &tally);
        free_fast(&f);
    }
    assert_true(tally.n_tight > tally.n / 2);
}

/* FAST-3. */
static void threads_change_no_bit(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct fast one, more;
    static struct prompt p;
    unsigned long long random = 13;
    for (int i = 0; i < 20; i++) {
        int version = any_version(&random);
        decoder_case_make(&c, &random, any_positions(&random), 2);
        make_prompt(&p, &c, 1 + random_below(&random, MOST), 0, &random);
        make_fast(&one, &c, 1, version, 4);
        make_fast(&more, &c, 2 + i % 4, version, 4);
        for (int cached = 1; cached >= 0; cached--) {
            assert_int_equal(run(&one, &p, cached), run(&more, &p, cached));
            assert_memory_equal(one.states, more.states, sizeof one.states);
            assert_memory_equal(one.logits, more.logits, sizeof one.logits);
        }
        free_fast(&one);
        free_fast(&more);
    }
}

/* FAST-4: the example of the clause, with the cached entries in some orders. */
static void entries_behind_a_new_position_move_behind_its_entry(void **unused) {
    (void)unused;
    static const int cached[] = {10, 11, 14, 30, 31}, after[] = {10, 11, 12, 13, 14, 30, 31};
    static const int orders[][5] = {{3, 0, 4, 1, 2}, {4, 2, 0, 1, 3}, {0, 1, 3, 2, 4}};
    static struct decoder_case c;
    static struct fast f, other;
    unsigned long long random = 14;
    const int token[] = {0, 1, 2, 0, 1}, new_position[] = {12, 13};
    decoder_case_make(&c, &random, CP_POSITIONS_ROTARY, 2);
    make_fast(&f, &c, 2, CP_OPT_BEST, 3);
    make_fast(&other, &c, 2, CP_OPT_BEST, 3);
    const struct cp_opt_decoder_call first = {5, token, cached, NULL, NULL, 0};
    const struct cp_opt_decoder_call second = {2, token, new_position, NULL, NULL, 0};
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        f.cache.n = other.cache.n = 0;
        memset(other.cache.position, -1, (size_t)other.cache.capacity * sizeof(int));
        assert_int_equal(cp_opt_decoder_run(f.decoder, &f.cache, &first), CP_OK);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(
                cp_opt_cache_append(&c.decoder.shape, &other.cache, &f.cache, orders[k][i], 1),
                CP_OK);
        }
        assert_int_equal(cp_opt_decoder_run(f.decoder, &other.cache, &second), CP_OK);
        assert_int_equal(other.cache.n, 7);
        assert_memory_equal(other.cache.position, after, sizeof after);
    }
    free_fast(&f);
    free_fast(&other);
}

/* FAST-1: a decoder that takes one token at a time has memory for attention over a whole cache, of
 * so many keys that threads share them. One that takes many has it, too. */
static void a_decoder_of_one_token_sees_a_long_cache(void **unused) {
    (void)unused;
    enum { KEYS = 8192, CHUNK = 16 };
    static struct decoder_case c;
    struct cp_opt *opt;
    struct cp_opt_decoder *one, *many;
    struct cp_opt_cache cache;
    float found[VOCAB], wanted[VOCAB];
    unsigned long long random = 20;
    const int token[] = {0}, position[] = {KEYS};
    const struct cp_opt_decoder_call call = {1, token, position, NULL, found, 0};
    const struct cp_opt_decoder_call again = {1, token, position, NULL, wanted, 0};
    decoder_case_make(&c, &random, CP_POSITIONS_ROTARY, 1);
    const struct cp_decoder_shape *s = &c.decoder.shape;
    assert_int_equal(cp_opt_new(&opt, 3, CP_OPT_BEST), CP_OK);
    assert_int_equal(cp_opt_decoder_new(&one, opt, &c.decoder, 1, CHUNK, KEYS + CHUNK), CP_OK);
    assert_int_equal(cp_opt_decoder_new(&many, opt, &c.decoder, 999, CHUNK, KEYS + CHUNK), CP_OK);
    make_cache(&cache, s, CHUNK, KEYS + CHUNK);
    for (size_t i = 0; i < cp_opt_cache_numbers(s, CHUNK, KEYS + CHUNK); i++) {
        cache.k[i] = (float)random_uniform(&random);
        cache.v[i] = (float)random_uniform(&random);
    }
    for (int i = 0; i < KEYS; i++) {
        cache.position[i] = i;
    }
    cache.n = KEYS;
    assert_int_equal(cp_opt_decoder_run(many, &cache, &again), CP_OK);
    cache.n = KEYS;
    assert_int_equal(cp_opt_decoder_run(one, &cache, &call), CP_OK);
    assert_memory_equal(found, wanted, (size_t)s->n_vocab * sizeof *found);
    free_cache(&cache);
    cp_opt_decoder_free(one);
    cp_opt_decoder_free(many);
    cp_opt_free(opt);
}

/* first_logits: logits of the tokens behind it alone, with the bits that they have among all. */
static void logits_are_those_of_the_tokens_asked_for(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct fast all, some;
    static struct prompt p;
    unsigned long long random = 15;
    decoder_case_make(&c, &random, CP_POSITIONS_ROTARY, 2);
    make_prompt(&p, &c, 6, 0, &random);
    make_fast(&all, &c, 1, CP_OPT_BEST, 4);
    make_fast(&some, &c, 1, CP_OPT_BEST, 4);
    int n_vocab = c.decoder.shape.n_vocab;
    const struct cp_opt_decoder_call of_all = {6, p.token, p.position, NULL, all.logits, 0};
    const struct cp_opt_decoder_call of_some = {6, p.token, p.position, NULL, some.logits, 4};
    const struct cp_opt_decoder_call of_none = {6, p.token, p.position, NULL, all.states, 6};
    assert_int_equal(cp_opt_decoder_run(all.decoder, &all.cache, &of_all), CP_OK);
    assert_int_equal(cp_opt_decoder_run(some.decoder, &some.cache, &of_some), CP_OK);
    assert_memory_equal(some.logits, all.logits + (ptrdiff_t)4 * n_vocab,
                        2 * (size_t)n_vocab * sizeof(float));
    assert_true(isnan(some.logits[2 * n_vocab]));
    all.cache.n = 0;
    assert_int_equal(cp_opt_decoder_run(all.decoder, &all.cache, &of_none), CP_OK);
    assert_true(isnan(all.states[0]));
    free_fast(&all);
    free_fast(&some);
}

/* FAST-1, LAYER-5: angles are computed in double, so that a key far behind is the key at position
 * 0, rotated. cos, sin and two products are rounded, and then the sum: 3 u of what is added. */
static void a_key_is_rotated_by_its_angle_in_double(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct fast f;
    unsigned long long random = 19;
    for (int i = 0; i < 20; i++) {
        decoder_case_make(&c, &random, CP_POSITIONS_ROTARY, 1);
        make_fast(&f, &c, 1, any_version(&random), 1);
        const struct cp_decoder_shape *s = &c.decoder.shape;
        const int token[] = {0, 0}, position[] = {0, 99991 + i};
        const struct cp_opt_decoder_call call = {2, token, position, NULL, NULL, 0};
        double cosine[CASE_WIDTH], sine[CASE_WIDTH], there[2 * CASE_WIDTH], size[2 * CASE_WIDTH];
        assert_int_equal(cp_opt_decoder_run(f.decoder, &f.cache, &call), CP_OK);
        cp_rotation(cosine, sine, c.decoder.frequency, s->n_pairs, position[1]);
        for (int x = 0; x < s->d_head; x++) {
            there[x] = f.cache.k[x];
            size[x] = fabs(there[x]);
        }
        cp_rotate(there, cosine, sine, s->n_pairs, s->pair_distance);
        for (int x = 0; x < s->n_pairs; x++) {
            int first = x / s->pair_distance * 2 * s->pair_distance + x % s->pair_distance;
            int second = first + s->pair_distance;
            size[first] = size[second] = size[first] + size[second];
        }
        for (int x = 0; x < s->d_head; x++) {
            float found = f.cache.k[(ptrdiff_t)s->n_kv_heads * s->d_head + x];
            assert_true(fabs(found - there[x]) <= 3.0 * 0x1p-24 * size[x] * (1.0 + 0x1p-20));
        }
        free_fast(&f);
    }
}

/* States are those of all new tokens, as many as a decoder takes, however few logits are asked for.
 * They have the bits that they have without logits. */
static void states_are_those_of_all_new_tokens(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct fast all, some;
    static struct prompt p;
    unsigned long long random = 18;
    decoder_case_make(&c, &random, CP_POSITIONS_ROTARY, 1);
    make_prompt(&p, &c, MOST, 0, &random);
    make_fast(&all, &c, 1, CP_OPT_BEST, 4);
    make_fast(&some, &c, 1, CP_OPT_BEST, 4);
    const struct cp_opt_decoder_call of_all = {MOST, p.token, p.position, all.states, NULL, 0};
    const struct cp_opt_decoder_call of_last = {MOST,        p.token,     p.position,
                                                some.states, some.logits, MOST - 1};
    assert_int_equal(cp_opt_decoder_run(all.decoder, &all.cache, &of_all), CP_OK);
    assert_int_equal(cp_opt_decoder_run(some.decoder, &some.cache, &of_last), CP_OK);
    assert_memory_equal(all.states, some.states, sizeof all.states);
    int n = MOST * c.decoder.shape.d_model;
    assert_false(isnan(all.states[n - 1]));
    assert_true(n == MOST * CASE_WIDTH || isnan(all.states[n]));
    free_fast(&all);
    free_fast(&some);
}

/* What run() refuses, each after a cache of some entries, of which nothing changes. */
static void refusals_change_nothing(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct fast f;
    unsigned long long random = 16;
    int far = 0, token[MOST] = {0}, position[MOST], wrong_token[] = {c.decoder.shape.n_vocab};
    decoder_case_make(&c, &random, CP_POSITIONS_LEARNED, 1);
    make_fast(&f, &c, 1, CP_OPT_BEST, 16);
    for (int i = 0; i < MOST; i++) {
        position[i] = i;
    }
    const struct cp_opt_decoder_call three = {3, token, position, NULL, NULL, 0};
    assert_int_equal(cp_opt_decoder_run(f.decoder, &f.cache, &three), CP_OK);
    wrong_token[0] = c.decoder.shape.n_vocab;
    const int falling[] = {9, 8}, equal[] = {8, 8}, taken[] = {1}, outside[] = {CASE_TOKENS};
    const int below[] = {-1}, next[] = {5};
    const struct {
        struct cp_opt_decoder_call call;
        int status;
    } refused[] = {
        {{0, token, next, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{MOST + 1, token, position, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{1, NULL, next, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{1, token, NULL, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{1, wrong_token, next, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{2, token, falling, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{2, token, equal, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{1, token, taken, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{1, token, outside, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{1, token, below, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{1, token, next, NULL, NULL, 2}, CP_ERROR_ARGUMENT},
        {{MOST - 2, token, position + 2, NULL, NULL, 0}, CP_ERROR_ARGUMENT},
        {{MOST - 3, token, position + 3, NULL, NULL, 0}, CP_OK},
        {{1, token, &far, NULL, NULL, 0}, CP_ERROR_TOO_LONG},
    };
    far = CASE_TOKENS - 1;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        int n = f.cache.n, before[MOST];
        memcpy(before, f.cache.position, sizeof before);
        assert_int_equal(cp_opt_decoder_run(f.decoder, &f.cache, &refused[i].call),
                         refused[i].status);
        if (refused[i].status != CP_OK) {
            assert_int_equal(f.cache.n, n);
            assert_memory_equal(before, f.cache.position, sizeof before);
        }
    }
    struct cp_opt_cache other = f.cache;
    other.chunk_size = 8;
    assert_int_equal(cp_opt_decoder_run(f.decoder, &other, &three), CP_ERROR_SHAPE);
    other = f.cache;
    other.capacity = 2 * MOST;
    assert_int_equal(cp_opt_decoder_run(f.decoder, &other, &three), CP_ERROR_SHAPE);
    other = f.cache;
    assert_int_equal(cp_opt_decoder_run(f.decoder, NULL, &three), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_cache_append(&c.decoder.shape, &f.cache, &other, 0, 1),
                     CP_ERROR_TOO_LONG);
    f.cache.n = MOST - 2;
    assert_int_equal(cp_opt_cache_append(&c.decoder.shape, &f.cache, &other, 0, 3),
                     CP_ERROR_TOO_LONG);
    assert_int_equal(f.cache.n, MOST - 2);
    make_cache(&other, &c.decoder.shape, 8, 8);
    assert_int_equal(cp_opt_cache_append(&c.decoder.shape, &other, &f.cache, 1, 8), CP_OK);
    assert_int_equal(other.n, 8);
    free_cache(&other);
    other = f.cache;
    assert_int_equal(cp_opt_cache_append(&c.decoder.shape, &f.cache, &other, MOST, 1),
                     CP_ERROR_ARGUMENT);
    free_fast(&f);
}

static void new_refuses_what_it_cannot_run(void **unused) {
    (void)unused;
    static struct decoder_case c;
    struct cp_opt *opt;
    struct cp_opt_decoder *made;
    unsigned long long random = 17;
    assert_int_equal(cp_opt_new(&opt, 1, CP_OPT_PORTABLE), CP_OK);
    decoder_case_make(&c, &random, CP_POSITIONS_ALIBI, 1);
    assert_int_equal(cp_opt_decoder_new(&made, opt, &c.decoder, 4, 4, 8), CP_ERROR_UNSUPPORTED);
    assert_null(made);
    decoder_case_make(&c, &random, CP_POSITIONS_ROTARY, 1);
    assert_int_equal(cp_opt_decoder_new(&made, opt, &c.decoder, 9, 4, 8), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_decoder_new(&made, opt, &c.decoder, 0, 4, 8), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_decoder_new(&made, NULL, &c.decoder, 4, 4, 8), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_decoder_new(&made, opt, &c.decoder, 4, 3, 8), CP_ERROR_SHAPE);
    assert_int_equal(cp_opt_decoder_new(&made, opt, &c.decoder, 4, 1, CP_MAX_DEPTH + 1),
                     CP_ERROR_SHAPE);
    c.decoder.shape.scale = 1e39;
    assert_int_equal(cp_opt_decoder_new(&made, opt, &c.decoder, 4, 4, 8), CP_ERROR_UNSUPPORTED);
    c.decoder.shape.scale = -1e39;
    assert_int_equal(cp_opt_decoder_new(&made, opt, &c.decoder, 4, 4, 8), CP_ERROR_UNSUPPORTED);
    c.decoder.shape.d_model = 0;
    assert_int_equal(cp_opt_decoder_new(&made, opt, &c.decoder, 4, 4, 8), CP_ERROR_SHAPE);
    cp_opt_decoder_free(NULL);
    cp_opt_free(opt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoders_are_within_the_bound_of_the_oracle),
        cmocka_unit_test(orders_differ_by_no_more_than_two_balls),
        cmocka_unit_test(long_prompts_are_within_the_bound_of_the_oracle),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(entries_behind_a_new_position_move_behind_its_entry),
        cmocka_unit_test(a_decoder_of_one_token_sees_a_long_cache),
        cmocka_unit_test(logits_are_those_of_the_tokens_asked_for),
        cmocka_unit_test(a_key_is_rotated_by_its_angle_in_double),
        cmocka_unit_test(states_are_those_of_all_new_tokens),
        cmocka_unit_test(refusals_change_nothing),
        cmocka_unit_test(new_refuses_what_it_cannot_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

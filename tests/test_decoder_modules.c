/* SPDX-License-Identifier: Apache-2.0 */
/* Cached inference (DEC-7, MOD-5): random schemas and prompts. Modules are encoded by themselves,
 * their entries concatenated in any order, and only what the prompt adds is computed; the other way
 * is one run of the decoder over the whole prompt with the mask of MOD-3. Both have the same bits,
 * because entries are summed in order of position (LAYER-12). A third way is the oracle, which
 * shares no code with the decoder and has no cache. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "tests/decoder_case.h"
#include "tests/decoder_oracle.h"
#include "tests/module_case.h"
#include "tests/random.h"

/* The imported modules in any order. */
static int in_any_order(int *order, const struct schema *s, const int *imported,
                        unsigned long long *random) {
    int n = 0;
    for (int x = 0; x < s->n_parts; x++) {
        if (imported[x]) {
            int at = random_below(random, n + 1);
            order[n++] = order[at];
            order[at] = x;
        }
    }
    return n;
}

/* Where the entry of a position of own text is. */
static int entry_of(const struct decoder_cache *cache, int n, int position) {
    for (int e = 0; e < n; e++) {
        if (cache->position[e] == position) {
            return e;
        }
    }
    return -1;
}

/* What the prompts had: a test of empty prompts shows nothing. */
struct had {
    int modules, scaffolded, added; /* modules with text; those of a scaffold; new tokens */
};

static void count(struct had *had, const struct schema *s, const int *imported,
                  const struct words *w, int n_own) {
    had->added += w->n - n_own;
    for (int i = 0; i < n_own; i++) {
        int module = w->word[i].module, is_first = i == 0 || w->word[i - 1].module != module;
        had->modules += is_first;
        had->scaffolded += is_first && module_case_scaffold(s, imported, module) >= 0;
    }
}

static void compare(struct had *had, const struct decoder_case *c, const struct schema *s,
                    unsigned long long *random) {
    static struct decoder_cache whole, cached;
    static double states[CASE_TOKENS * CASE_WIDTH], of_new[CASE_TOKENS * CASE_WIDTH];
    struct words w = {.n = 0};
    int imported[PARTS], order[PARTS];
    module_case_import(imported, s, random);
    module_case_texts(&w, s, imported, c->decoder.shape.n_vocab);
    int n_own = w.n;
    module_case_prompt(&w, s, imported, c->decoder.shape.n_vocab, random);
    count(had, s, imported, &w, n_own);
    decoder_case_cache(&whole);
    module_case_run(c, &whole, &w, 0, s, imported, 1, states);

    decoder_case_cache(&cached);
    int n_modules = in_any_order(order, s, imported, random);
    for (int i = 0; i < n_modules; i++) {
        module_case_encode(c, &cached, s, imported, order[i]);
    }
    assert_int_equal(cached.cache.n, n_own);
    module_case_run(c, &cached, &w, n_own, s, imported, 0, of_new);

    int d = c->decoder.shape.d_model;
    assert_memory_equal(of_new, states + n_own * d,
                        (size_t)(w.n - n_own) * (size_t)d * sizeof(double));
    for (int i = 0; i < w.n; i++) {
        int e = i < n_own ? entry_of(&cached, n_own, w.word[i].position) : i;
        assert_true(e >= 0 && decoder_case_same_entry(c, &whole, i, &cached, e));
    }
}

/* MOD-1 to MOD-6, DEC-5 to DEC-7, LAYER-12 */
static void cached_inference_has_the_bits_of_the_decoder(void **unused) {
    (void)unused;
    static struct decoder_case c;
    struct had had = {0, 0, 0};
    unsigned long long random = 1;
    for (int i = 0; i < 1500; i++) {
        struct schema s;
        decoder_case_make(&c, &random, i % 3, 1 + random_below(&random, CASE_LAYERS));
        module_case_schema(&s, &random);
        for (int k = 0; k < 3; k++) {
            compare(&had, &c, &s, &random);
        }
    }
    print_message("%d modules, %d in a scaffold, %d new tokens\n", had.modules, had.scaffolded,
                  had.added);
    assert_true(had.modules > 5000 && had.scaffolded > 500 && had.added > 10000);
}

/* The states of new tokens, computed from modules in any order, are in the balls of the whole
 * prompt. Returns the widest. */
static double compare_with_oracle(const struct decoder_case *c, const struct schema *s,
                                  unsigned long long *random) {
    static struct decoder_cache cached;
    static double states[CASE_TOKENS * CASE_WIDTH];
    static unsigned char mask[CASE_TOKENS * CASE_TOKENS];
    struct words w = {.n = 0};
    struct oracle_pool pool; /* of numbers that are not rounded */
    struct ball state[ORACLE_MAX];
    int imported[PARTS], order[PARTS], token[CASE_TOKENS], position[CASE_TOKENS];
    int n_layers = c->decoder.shape.n_layers, d = c->decoder.shape.d_model;
    long double widest = 0.0L;
    module_case_import(imported, s, random);
    module_case_texts(&w, s, imported, c->decoder.shape.n_vocab);
    int n_own = w.n;
    module_case_prompt(&w, s, imported, c->decoder.shape.n_vocab, random);
    if (w.n > ORACLE_MAX) {
        return 0.0;
    }
    decoder_case_cache(&cached);
    int n_modules = in_any_order(order, s, imported, random);
    for (int i = 0; i < n_modules; i++) {
        module_case_encode(c, &cached, s, imported, order[i]);
    }
    module_case_run(c, &cached, &w, n_own, s, imported, 0, states);
    for (int i = 0; i < w.n; i++) {
        token[i] = w.word[i].token;
        position[i] = w.word[i].position;
    }
    module_case_mask(mask, &w, 0, s, imported);
    const struct oracle whole = {&c->decoder, w.n, token, position, mask};
    oracle_pool_new(&pool, &whole, CP_FP64);
    for (int i = n_own; i < w.n; i++) {
        oracle_pool_state(state, &pool.oracle, n_layers, i);
        for (int x = 0; x < d; x++) {
            assert_true(fabsl(states[(i - n_own) * d + x] - state[x].x) <= state[x].e);
            widest = fmaxl(widest, state[x].e);
        }
    }
    oracle_pool_free(&pool);
    return (double)widest;
}

/* DEC-2, MOD-3, MOD-5, of rotary positions, of ALiBi and of learned ones. For half of the prompts
 * the bound is below 1e-6, which tells a wrong formula from rounding. */
static void cached_inference_is_what_an_oracle_says_of_the_whole_prompt(void **unused) {
    (void)unused;
    static struct decoder_case c;
    unsigned long long random = 3;
    int n_tight = 0, n = 0;
    for (int i = 0; i < 300; i++) {
        struct schema s;
        decoder_case_make(&c, &random, i % 3, 1 + i % CASE_LAYERS);
        module_case_schema(&s, &random);
        double widest = compare_with_oracle(&c, &s, &random);
        n += widest > 0.0;
        n_tight += widest > 0.0 && widest < 1e-6;
    }
    print_message("%d prompts, %d with a bound below 1e-6\n", n, n_tight);
    assert_true(n > 200 && n_tight > n / 2);
}

/* MOD-5: three requests, [B], [A B] and [A], of which the modules are encoded when they are first
 * used. Loaded in order of import, they are what the decoder has over the whole prompt. */
static void three_requests_find_the_modules_that_they_import(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct store store;
    static struct decoder_cache cached, whole;
    static double states[CASE_TOKENS * CASE_WIDTH], of_new[CASE_TOKENS * CASE_WIDTH];
    unsigned long long random = 2;
    struct schema s = {.n_parts = 5,
                       .part = {{CP_PART_MODULE, -1, 0},
                                {CP_PART_MODULE, 0, 0},
                                {CP_PART_TEXT, 1, 3},
                                {CP_PART_MODULE, 0, 0},
                                {CP_PART_TEXT, 3, 4}}};
    const int imports[3][PARTS] = {{1, 0, 0, 1}, {1, 1, 0, 1}, {1, 1, 0, 0}};
    assert_int_equal(cp_schema_layout(s.part, s.n_parts, s.begin, s.size), CP_OK);
    for (int i = 0; i < 30; i++) {
        decoder_case_make(&c, &random, i % 3, 2);
        decoder_case_cache(&store.cache);
        memset(store.n, -1, sizeof store.n);
        for (int request = 0; request < 3; request++) {
            const int *imported = imports[request];
            struct words w = {.n = 0};
            module_case_texts(&w, &s, imported, c.decoder.shape.n_vocab);
            int n_own = w.n, d = c.decoder.shape.d_model;
            module_case_new(&w, s.size[0], c.decoder.shape.n_vocab, &random);
            decoder_case_cache(&whole);
            module_case_run(&c, &whole, &w, 0, &s, imported, 1, states);
            decoder_case_cache(&cached);
            for (int x = 1; x < s.n_parts; x++) {
                if (imported[x]) {
                    module_case_load(&c, &cached, &store, &s, imported, x);
                }
            }
            module_case_run(&c, &cached, &w, n_own, &s, imported, 0, of_new);
            assert_memory_equal(of_new, states + n_own * d, (size_t)d * sizeof(double));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_inference_has_the_bits_of_the_decoder),
        cmocka_unit_test(cached_inference_is_what_an_oracle_says_of_the_whole_prompt),
        cmocka_unit_test(three_requests_find_the_modules_that_they_import),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Cached inference (DEC-7, MOD-5): random schemas and prompts. Modules are encoded by themselves,
 * their entries concatenated in any order, and only what the prompt adds is computed; the other way
 * is one run of the decoder over the whole prompt with the mask of MOD-3. Both have the same bits,
 * because entries are summed in order of position (LAYER-12). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/decoder.h"
#include "chunkproof/schema.h"
#include "tests/decoder_case.h"
#include "tests/random.h"

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

/* ---- Schemas ---- */

static int is_around(const struct schema *s, int x, int y) {
    for (; y >= 0; y = s->part[y].parent) {
        if (y == x) {
            return 1;
        }
    }
    return 0;
}

/* The module that a part stands in: the nearest one. */
static int module_of(const struct schema *s, int x) {
    int y = s->part[x].parent;
    return s->part[y].kind == CP_PART_MODULE ? y : s->part[y].parent;
}

/* Random parts: the parent of each is the part before it, or one around that. Texts and params
 * close nothing, so a part behind one stands beside it. */
static void make_parts(struct schema *s, unsigned long long *random) {
    const int kinds[] = {CP_PART_MODULE, CP_PART_MODULE, CP_PART_UNION, CP_PART_TEXT,
                         CP_PART_TEXT,   CP_PART_TEXT,   CP_PART_PARAM};
    s->n_parts = PARTS / 2 + random_below(random, PARTS / 2 + 1);
    s->part[0] = (struct cp_part){CP_PART_MODULE, -1, 0};
    for (int x = 1; x < s->n_parts; x++) {
        int parent = x - 1;
        while (s->part[parent].kind >= CP_PART_TEXT ||
               (parent > 0 && random_below(random, 2) == 0)) {
            parent = s->part[parent].parent;
        }
        int kind =
            s->part[parent].kind == CP_PART_UNION ? CP_PART_MODULE : kinds[random_below(random, 7)];
        int size = kind == CP_PART_TEXT    ? random_below(random, 5)
                   : kind == CP_PART_PARAM ? 1 + random_below(random, 3)
                                           : 0;
        s->part[x] = (struct cp_part){kind, parent, size};
    }
}

/* MOD-3: may two scaffolds apply together? Not when two members of a union are among their modules
 * and those around them. */
static int apply_together(const struct schema *s, const unsigned char *a, const unsigned char *b) {
    for (int x = 0; x < s->n_parts; x++) {
        for (int y = 0; y < s->n_parts; y++) {
            if (!(a[x] || b[x]) || !(a[y] || b[y])) {
                continue;
            }
            for (int u = 0; u < s->n_parts; u++) {
                for (int m = 0, of_x = -1, of_y = -1; m < s->n_parts; m++) {
                    if (s->part[u].kind == CP_PART_UNION && s->part[m].parent == u) {
                        of_x = is_around(s, m, x) ? m : of_x;
                        of_y = is_around(s, m, y) ? m : of_y;
                        if (of_x >= 0 && of_y >= 0 && of_x != of_y) {
                            return 0;
                        }
                    }
                }
            }
        }
    }
    return 1;
}

/* The modules that a scaffold holds: its own, and all inside of them. */
static int holds(const struct schema *s, const unsigned char *scaffold, int module) {
    for (int x = module; x >= 0; x = s->part[x].parent) {
        if (scaffold[x]) {
            return 1;
        }
    }
    return 0;
}

static int is_part_of(const struct schema *s, const unsigned char *a, const unsigned char *b) {
    int is = 1;
    for (int x = 0; x < s->n_parts; x++) {
        is = is && (!a[x] || b[x]);
    }
    return is;
}

/* MOD-3's rule for two scaffolds that hold a module in common. */
static int may_stand_together(const struct schema *s, const unsigned char *a,
                              const unsigned char *b) {
    int have_common = 0;
    for (int x = 0; x < s->n_parts; x++) {
        have_common =
            have_common || (s->part[x].kind == CP_PART_MODULE && holds(s, a, x) && holds(s, b, x));
    }
    return !have_common || is_part_of(s, a, b) || is_part_of(s, b, a) || !apply_together(s, a, b);
}

static void make_scaffolds(struct schema *s, unsigned long long *random) {
    s->n_scaffolds = 0;
    for (int tries = 0; tries < 12 && s->n_scaffolds < SCAFFOLDS; tries++) {
        unsigned char *scaffold = s->scaffold[s->n_scaffolds];
        int n = 0, is_right = 1;
        for (int x = 0; x < PARTS; x++) {
            scaffold[x] = x > 0 && x < s->n_parts && s->part[x].kind == CP_PART_MODULE &&
                          random_below(random, 3) == 0;
            n += scaffold[x];
        }
        for (int other = 0; other < s->n_scaffolds; other++) {
            is_right = is_right && may_stand_together(s, scaffold, s->scaffold[other]);
        }
        s->n_scaffolds += n >= 2 && is_right && apply_together(s, scaffold, scaffold);
    }
}

static void make_schema(struct schema *s, unsigned long long *random) {
    do {
        make_parts(s, random);
        assert_int_equal(cp_schema_check(s->part, s->n_parts), -1);
        assert_int_equal(cp_schema_layout(s->part, s->n_parts, s->begin, s->size), CP_OK);
    } while (s->size[0] > CASE_TOKENS / 2);
    make_scaffolds(s, random);
}

/* ---- Prompts ---- */

/* Imports: as many as the schema allows, each with a chance. */
static void import(int *imported, const struct schema *s, unsigned long long *random) {
    for (int x = 0; x < s->n_parts; x++) {
        imported[x] = s->part[x].kind == CP_PART_MODULE && (x == 0 || random_below(random, 6) > 0);
    }
    for (int wrong; (wrong = cp_prompt_check(s->part, s->n_parts, imported)) >= 0;) {
        imported[wrong] = 0;
    }
}

/* The scaffold that counts for a module: of those that apply and hold it, the one of most
 * modules; -1: none. */
static int scaffold_of(const struct schema *s, const int *imported, int module) {
    int counts = -1, most = 0;
    for (int i = 0; i < s->n_scaffolds; i++) {
        int n = 0, applies = 1;
        for (int x = 0; x < s->n_parts; x++) {
            n += s->scaffold[i][x];
            applies = applies && (!s->scaffold[i][x] || imported[x]);
        }
        if (applies && holds(s, s->scaffold[i], module) && n > most) {
            most = n;
            counts = i;
        }
    }
    return counts;
}

/* Is the own text of module y seen from module x, as far as modules go (MOD-3)? */
static int module_sees(const struct schema *s, const int *imported, int x, int y) {
    int counts = scaffold_of(s, imported, x), is_seen = is_around(s, y, x);
    for (int m = 0; counts >= 0 && m < s->n_parts; m++) {
        is_seen = is_seen || (s->scaffold[counts][m] && is_around(s, y, m));
    }
    return is_seen;
}

static int sees(const struct schema *s, const int *imported, struct word i, struct word j) {
    return j.position <= i.position &&
           (i.module < 0 || (j.module >= 0 && module_sees(s, imported, i.module, j.module)));
}

/* Own text of the modules with is_in[module], in order of the document. The token of a position is
 * the same in every prompt, and that of a text's position differs from text to text. */
static void add_texts(struct words *w, const struct schema *s, const int *is_in, int n_vocab) {
    for (int x = 1; x < s->n_parts; x++) {
        int module = module_of(s, x);
        if (s->part[x].kind != CP_PART_TEXT || !is_in[module]) {
            continue;
        }
        for (int i = 0; i < s->size[x]; i++) {
            int token = (7 * x + 3 * i + x * i) % n_vocab;
            w->word[w->n++] = (struct word){token, s->begin[x] + i, module};
        }
    }
}

static void add_new(struct words *w, int position, int n_vocab, unsigned long long *random) {
    w->word[w->n++] = (struct word){random_below(random, n_vocab), position, -1};
}

/* Arguments: a prefix of each param that the prompt has (MOD-6). */
static void add_arguments(struct words *w, unsigned char *is_taken, const struct schema *s,
                          const int *imported, int n_vocab, unsigned long long *random) {
    for (int x = 1; x < s->n_parts; x++) {
        if (s->part[x].kind != CP_PART_PARAM || !imported[module_of(s, x)]) {
            continue;
        }
        memset(is_taken + s->begin[x], 1, (size_t)s->size[x]);
        for (int i = random_below(random, s->size[x] + 1); i > 0; i--) {
            add_new(w, s->begin[x] + i - 1, n_vocab, random);
        }
    }
}

/* Segments behind imports, or behind none (MOD-6). */
static void add_segments(struct words *w, unsigned char *is_taken, const struct schema *s,
                         const int *imported, int n_vocab, unsigned long long *random) {
    int end = s->size[0];
    for (int i = 0; i < SEGMENTS; i++) {
        int x = random_below(random, s->n_parts), n = random_below(random, 5), free = 1;
        int begin = s->begin[x] + s->size[x];
        for (int p = begin; p < begin + n; p++) {
            free = free && !is_taken[p];
        }
        if (s->part[x].kind != CP_PART_MODULE || !imported[x] || !free) {
            begin = end;
        }
        memset(is_taken + begin, 1, (size_t)n);
        end = begin + n > end ? begin + n : end;
        for (int t = 0; t < n; t++) {
            add_new(w, begin + t, n_vocab, random);
        }
    }
}

/* All that a prompt adds. */
static void add_prompt(struct words *w, const struct schema *s, const int *imported, int n_vocab,
                       unsigned long long *random) {
    unsigned char is_taken[4 * CASE_TOKENS] = {0};
    for (int x = 1; x < s->n_parts; x++) {
        if (s->part[x].kind == CP_PART_TEXT && imported[module_of(s, x)]) {
            memset(is_taken + s->begin[x], 1, (size_t)s->size[x]);
        }
    }
    add_arguments(w, is_taken, s, imported, n_vocab, random);
    add_segments(w, is_taken, s, imported, n_vocab, random);
    if (w->n == 0 || w->word[w->n - 1].module >= 0) {
        add_new(w, 2 * CASE_TOKENS / 3, n_vocab, random);
    }
}

/* ---- The two ways ---- */

/* The decoder over some words; those before `from` are in the cache in this order. With a mask, or
 * under the mask of new tokens, which see all that is not behind them. */
static void run(const struct decoder_case *c, struct decoder_cache *cache, const struct words *w,
                int from, const struct schema *s, const int *imported, int with_mask,
                double *states) {
    static unsigned char mask[CASE_TOKENS * CASE_TOKENS];
    int token[CASE_TOKENS], position[CASE_TOKENS], n = w->n - from;
    for (int i = 0; i < n; i++) {
        token[i] = w->word[from + i].token;
        position[i] = w->word[from + i].position;
        for (int j = 0; j < w->n; j++) {
            mask[i * w->n + j] = (unsigned char)sees(s, imported, w->word[from + i], w->word[j]);
        }
    }
    assert_int_equal(
        decoder_case_run(c, cache, n, token, position, with_mask ? mask : NULL, states, NULL),
        CP_OK);
}

/* MOD-4: encodes a module in the prompt that has it and what is around it, with the modules of the
 * scaffold that counts for it and around those, and nothing else. Its entries join the cache. */
static void encode(const struct decoder_case *c, struct decoder_cache *cache,
                   const struct schema *s, const int *imported, int module) {
    static struct decoder_cache alone;
    struct words w = {.n = 0};
    int is_in[PARTS];
    for (int x = 0; x < s->n_parts; x++) {
        is_in[x] = s->part[x].kind == CP_PART_MODULE && module_sees(s, imported, module, x);
    }
    add_texts(&w, s, is_in, c->decoder.shape.n_vocab);
    decoder_case_cache(&alone);
    if (w.n > 0) {
        run(c, &alone, &w, 0, s, is_in, 1, NULL);
    }
    for (int i = 0; i < w.n; i++) {
        if (w.word[i].module == module) {
            assert_int_equal(
                cp_decoder_cache_append(&c->decoder.shape, &cache->cache, &alone.cache, i, 1),
                CP_OK);
        }
    }
}

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
        had->scaffolded += is_first && scaffold_of(s, imported, module) >= 0;
    }
}

static void compare(struct had *had, const struct decoder_case *c, const struct schema *s,
                    unsigned long long *random) {
    static struct decoder_cache whole, cached;
    static double states[CASE_TOKENS * CASE_WIDTH], of_new[CASE_TOKENS * CASE_WIDTH];
    struct words w = {.n = 0};
    int imported[PARTS], order[PARTS];
    import(imported, s, random);
    add_texts(&w, s, imported, c->decoder.shape.n_vocab);
    int n_own = w.n;
    add_prompt(&w, s, imported, c->decoder.shape.n_vocab, random);
    count(had, s, imported, &w, n_own);
    decoder_case_cache(&whole);
    run(c, &whole, &w, 0, s, imported, 1, states);

    decoder_case_cache(&cached);
    int n_modules = in_any_order(order, s, imported, random);
    for (int i = 0; i < n_modules; i++) {
        encode(c, &cached, s, imported, order[i]);
    }
    assert_int_equal(cached.cache.n, n_own);
    run(c, &cached, &w, n_own, s, imported, 0, of_new);

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
        make_schema(&s, &random);
        for (int k = 0; k < 3; k++) {
            compare(&had, &c, &s, &random);
        }
    }
    print_message("%d modules, %d in a scaffold, %d new tokens\n", had.modules, had.scaffolded,
                  had.added);
    assert_true(had.modules > 5000 && had.scaffolded > 500 && had.added > 10000);
}

/* MOD-5: three requests, [B], [A B] and [A], of which the modules are encoded when they are first
 * used. A store has their entries in this order, and where each module's begin. Taken from there in
 * order of import, they are what the decoder has over the whole prompt. */
static void three_requests_find_the_modules_that_they_import(void **unused) {
    (void)unused;
    static struct decoder_case c;
    static struct decoder_cache store, cached, whole;
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
        int first[PARTS], n[PARTS] = {0};
        decoder_case_make(&c, &random, i % 3, 2);
        decoder_case_cache(&store);
        for (int request = 0; request < 3; request++) {
            const int *imported = imports[request];
            struct words w = {.n = 0};
            add_texts(&w, &s, imported, c.decoder.shape.n_vocab);
            int n_own = w.n, d = c.decoder.shape.d_model;
            add_new(&w, s.size[0], c.decoder.shape.n_vocab, &random);
            decoder_case_cache(&whole);
            run(&c, &whole, &w, 0, &s, imported, 1, states);
            decoder_case_cache(&cached);
            for (int x = 1; x < s.n_parts; x += 2) {
                if (imported[x] && n[x] == 0) {
                    first[x] = store.cache.n;
                    encode(&c, &store, &s, imported, x);
                    n[x] = store.cache.n - first[x];
                }
                if (imported[x]) {
                    assert_int_equal(cp_decoder_cache_append(&c.decoder.shape, &cached.cache,
                                                             &store.cache, first[x], n[x]),
                                     CP_OK);
                }
            }
            run(&c, &cached, &w, n_own, &s, imported, 0, of_new);
            assert_memory_equal(of_new, states + n_own * d, (size_t)d * sizeof(double));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_inference_has_the_bits_of_the_decoder),
        cmocka_unit_test(three_requests_find_the_modules_that_they_import),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/module_case.h"
#include "tests/random.h"

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

void module_case_schema(struct schema *s, unsigned long long *random) {
    do {
        make_parts(s, random);
        assert_int_equal(cp_schema_check(s->part, s->n_parts), -1);
        assert_int_equal(cp_schema_layout(s->part, s->n_parts, s->begin, s->size), CP_OK);
    } while (s->size[0] > CASE_TOKENS / 2);
    make_scaffolds(s, random);
}

/* ---- Prompts ---- */

/* Imports: as many as the schema allows, each with a chance. */
void module_case_import(int *imported, const struct schema *s, unsigned long long *random) {
    for (int x = 0; x < s->n_parts; x++) {
        imported[x] = s->part[x].kind == CP_PART_MODULE && (x == 0 || random_below(random, 6) > 0);
    }
    for (int wrong; (wrong = cp_prompt_check(s->part, s->n_parts, imported)) >= 0;) {
        imported[wrong] = 0;
    }
}

int module_case_scaffold(const struct schema *s, const int *imported, int module) {
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
    int counts = module_case_scaffold(s, imported, x), is_seen = is_around(s, y, x);
    for (int m = 0; counts >= 0 && m < s->n_parts; m++) {
        is_seen = is_seen || (s->scaffold[counts][m] && is_around(s, y, m));
    }
    return is_seen;
}

static int sees(const struct schema *s, const int *imported, struct word i, struct word j) {
    return j.position <= i.position &&
           (i.module < 0 || (j.module >= 0 && module_sees(s, imported, i.module, j.module)));
}

int module_case_token(int x, int i, int n_vocab) {
    return (7 * x + 3 * i + x * i) % n_vocab;
}

void module_case_texts(struct words *w, const struct schema *s, const int *is_in, int n_vocab) {
    for (int x = 1; x < s->n_parts; x++) {
        int module = module_of(s, x);
        if (s->part[x].kind != CP_PART_TEXT || !is_in[module]) {
            continue;
        }
        for (int i = 0; i < s->size[x]; i++) {
            w->word[w->n++] =
                (struct word){module_case_token(x, i, n_vocab), s->begin[x] + i, module};
        }
    }
}

void module_case_new(struct words *w, int position, int n_vocab, unsigned long long *random) {
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
            module_case_new(w, s->begin[x] + i - 1, n_vocab, random);
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
            module_case_new(w, begin + t, n_vocab, random);
        }
    }
}

void module_case_prompt(struct words *w, const struct schema *s, const int *imported, int n_vocab,
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
        module_case_new(w, 2 * CASE_TOKENS / 3, n_vocab, random);
    }
}

/* ---- The two ways ---- */

void module_case_mask(unsigned char *mask, const struct words *w, int from, const struct schema *s,
                      const int *imported) {
    for (int i = from; i < w->n; i++) {
        for (int j = 0; j < w->n; j++) {
            *mask++ = (unsigned char)sees(s, imported, w->word[i], w->word[j]);
        }
    }
}

void module_case_run(const struct decoder_case *c, struct decoder_cache *cache,
                     const struct words *w, int from, const struct schema *s, const int *imported,
                     int with_mask, double *states) {
    static unsigned char mask[CASE_TOKENS * CASE_TOKENS];
    int token[CASE_TOKENS], position[CASE_TOKENS], n = w->n - from;
    for (int i = 0; i < n; i++) {
        token[i] = w->word[from + i].token;
        position[i] = w->word[from + i].position;
    }
    module_case_mask(mask, w, from, s, imported);
    assert_int_equal(
        decoder_case_run(c, cache, n, token, position, with_mask ? mask : NULL, states, NULL),
        CP_OK);
}

void module_case_encode(const struct decoder_case *c, struct decoder_cache *cache,
                        const struct schema *s, const int *imported, int module) {
    static struct decoder_cache alone;
    struct words w = {.n = 0};
    int is_in[PARTS];
    for (int x = 0; x < s->n_parts; x++) {
        is_in[x] = s->part[x].kind == CP_PART_MODULE && module_sees(s, imported, module, x);
    }
    module_case_texts(&w, s, is_in, c->decoder.shape.n_vocab);
    decoder_case_cache(&alone);
    if (w.n > 0) {
        module_case_run(c, &alone, &w, 0, s, is_in, 1, NULL);
    }
    for (int i = 0; i < w.n; i++) {
        if (w.word[i].module == module) {
            assert_int_equal(
                cp_decoder_cache_append(&c->decoder.shape, &cache->cache, &alone.cache, i, 1),
                CP_OK);
        }
    }
}

void module_case_load(const struct decoder_case *c, struct decoder_cache *cache,
                      struct store *store, const struct schema *s, const int *imported,
                      int module) {
    if (store->n[module] < 0) {
        store->first[module] = store->cache.cache.n;
        module_case_encode(c, &store->cache, s, imported, module);
        store->n[module] = store->cache.cache.n - store->first[module];
    }
    assert_int_equal(cp_decoder_cache_append(&c->decoder.shape, &cache->cache, &store->cache.cache,
                                             store->first[module], store->n[module]),
                     CP_OK);
}

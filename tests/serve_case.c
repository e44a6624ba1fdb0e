/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/serve_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

static void must(int holds) {
    if (!holds) {
        abort();
    }
}

/* ---- Decoders ---- */

#define SHORT 6 /* tokens */

/* The largest bound of the logits of the last token of a text. */
static double bound_of(const struct decoder_case *decoder, int type) {
    int token[SHORT], position[SHORT];
    unsigned char mask[SHORT * SHORT];
    struct ball ball[ORACLE_MAX];
    struct oracle_pool pool;
    double bound = 0.0;
    for (int i = 0; i < SHORT; i++) {
        token[i] = i % decoder->decoder.shape.n_vocab;
        position[i] = i;
        for (int j = 0; j < SHORT; j++) {
            mask[i * SHORT + j] = j <= i;
        }
    }
    const struct oracle oracle = {&decoder->decoder, SHORT, token, position, mask};
    oracle_pool_new(&pool, &oracle, type);
    oracle_pool_logits(ball, &pool.oracle, SHORT - 1);
    for (int w = 0; w < decoder->decoder.shape.n_vocab; w++) {
        bound = fmax(bound, (double)ball[w].e);
    }
    oracle_pool_free(&pool);
    return bound;
}

void telling_decoder_make(struct decoder_case *decoder, unsigned long long *random, int positions,
                          int n_layers, int type, double least) {
    do {
        decoder_case_make(decoder, random, positions, n_layers);
    } while (!(bound_of(decoder, type) < least));
}

/* ---- Requests ---- */

static int module_of(const struct schema *s, int x) {
    int y = s->part[x].parent;
    return s->part[y].kind == CP_PART_UNION ? s->part[y].parent : y;
}

static void shuffle(int *x, int n, unsigned long long *random) {
    for (int i = n - 1; i > 0; i--) {
        int at = random_below(random, i + 1), last = x[i];
        x[i] = x[at];
        x[at] = last;
    }
}

void request_make(struct request *request, const struct schema *schema, const int *imported,
                  long long id, int n_vocab, unsigned long long *random) {
    memset(request, 0, sizeof *request);
    request->id = id;
    if (imported == NULL) {
        module_case_import(request->imported, schema, random);
    } else {
        memcpy(request->imported, imported, (size_t)schema->n_parts * sizeof *imported);
    }
    for (int x = 0; x < schema->n_parts; x++) {
        if (request->imported[x]) {
            request->order[request->n_order++] = x;
        }
        if (schema->part[x].kind == CP_PART_PARAM && request->imported[module_of(schema, x)]) {
            request->n_argument[x] = random_below(random, schema->part[x].size + 1);
        }
    }
    shuffle(request->order, request->n_order, random);
    request->n_segments = 1 + random_below(random, SEGMENTS);
    for (int i = 0; i < request->n_segments; i++) {
        int behind = request->order[random_below(random, request->n_order)];
        request->segment[i] = (struct cp_segment){
            .behind = random_below(random, 3) == 0 ? -1 : behind,
            .size = random_below(random, 4),
        };
    }
    for (int i = 0; i < CASE_TOKENS; i++) {
        request->token[i] = random_below(random, n_vocab);
    }
}

/* ---- Positions, as MOD-1 and MOD-6 say ---- */

static int size_of(const struct schema *s, int x) {
    int sum = 0, most = 0;
    if (s->part[x].kind == CP_PART_TEXT || s->part[x].kind == CP_PART_PARAM) {
        return s->part[x].size;
    }
    for (int y = x + 1; y < s->n_parts; y++) {
        int size = s->part[y].parent == x ? size_of(s, y) : 0;
        sum += size;
        most = size > most ? size : most;
    }
    return s->part[x].kind == CP_PART_UNION ? most : sum;
}

static int begin_of(const struct schema *s, int x) {
    int around = s->part[x].parent;
    if (x == 0) {
        return 0;
    }
    int begin = begin_of(s, around);
    for (int y = around + 1; y < x && s->part[around].kind == CP_PART_MODULE; y++) {
        begin += s->part[y].parent == around ? size_of(s, y) : 0;
    }
    return begin;
}

static void add_word(struct words *w, int token, int position, int module) {
    must(w->n < ORACLE_MAX && position < CASE_TOKENS);
    w->word[w->n++] = (struct word){token, position, module};
}

static void add_texts(struct words *w, const struct schema *s, const int *imported, int n_vocab) {
    for (int x = 1; x < s->n_parts; x++) {
        int module = module_of(s, x);
        for (int i = 0; i < s->part[x].size; i++) {
            if (s->part[x].kind == CP_PART_TEXT && imported[module]) {
                add_word(w, module_case_token(x, i, n_vocab), begin_of(s, x) + i, module);
            }
        }
    }
}

static void add_asked(struct words *w, const struct schema *s, const struct request *request) {
    unsigned char is_taken[2 * CASE_TOKENS] = {0};
    int end = size_of(s, 0), n_tokens = 0;
    for (int x = 1; x < s->n_parts; x++) {
        int begin = begin_of(s, x);
        if (s->part[x].kind >= CP_PART_TEXT && request->imported[module_of(s, x)]) {
            memset(is_taken + begin, 1, (size_t)s->part[x].size);
        }
        for (int i = 0; i < request->n_argument[x]; i++) {
            add_word(w, request->token[n_tokens++], begin + i, -1);
        }
    }
    for (int i = 0; i < request->n_segments; i++) {
        int behind = request->segment[i].behind, n = request->segment[i].size;
        int begin = behind < 0 ? end : begin_of(s, behind) + size_of(s, behind);
        if (memchr(is_taken + begin, 1, (size_t)n) != NULL) {
            begin = end;
        }
        memset(is_taken + begin, 1, (size_t)n);
        end = begin + n > end ? begin + n : end;
        for (int t = 0; t < n; t++) {
            add_word(w, request->token[n_tokens++], begin + t, -1);
        }
    }
}

static void sort_words(struct word *word, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            if (word[j].position > word[i].position) {
                struct word later = word[j];
                word[j] = word[i];
                word[i] = later;
            }
        }
    }
}

/* Behind all that the prompt adds, at positions where it has no text; now and then with a gap. */
static void add_more(struct words *w, int n_own, int n_more, int n_vocab,
                     unsigned long long *random) {
    int position = 0;
    for (int i = n_own; i < w->n; i++) {
        position = w->word[i].position >= position ? w->word[i].position + 1 : position;
    }
    for (int i = 0; i < n_more && w->n < ORACLE_MAX; i++, position++) {
        position += random_below(random, 4) == 0 ? random_below(random, 4) : 0;
        for (int j = 0; j < n_own; j++) { /* texts are in order of position */
            position += w->word[j].position == position;
        }
        if (position >= CASE_TOKENS) {
            return;
        }
        add_word(w, random_below(random, n_vocab), position, -1);
    }
}

/* ---- What must come of them ---- */

void expected_new(struct expected *e, const struct decoder_case *decoder,
                  const struct schema *schema, const struct request *request, int n_more, int type,
                  unsigned long long *random) {
    int n_vocab = decoder->decoder.shape.n_vocab;
    e->decoder = decoder;
    e->id = request->id;
    e->words.n = 0;
    add_texts(&e->words, schema, request->imported, n_vocab);
    e->n_own = e->n_computed = e->words.n;
    add_asked(&e->words, schema, request);
    sort_words(e->words.word + e->n_own, e->words.n - e->n_own);
    e->n_asked = e->words.n;
    add_more(&e->words, e->n_own, n_more, n_vocab, random);
    module_case_mask(e->mask, &e->words, 0, schema, request->imported);
    for (int i = 0; i < e->words.n; i++) {
        e->token[i] = e->words.word[i].token;
        e->position[i] = e->words.word[i].position;
    }
    const struct oracle oracle = {&decoder->decoder, e->words.n, e->token, e->position, e->mask};
    oracle_pool_new(&e->oracle, &oracle, type);
    decoder_case_cache(&e->cached);
    for (int i = 0; i < request->n_order; i++) {
        module_case_encode(decoder, &e->cached, schema, request->imported, request->order[i]);
    }
    must(e->cached.cache.n == e->n_own);
}

void expected_free(struct expected *e) {
    oracle_pool_free(&e->oracle);
}

/* Of n numbers: is each in its ball, and no farther from that of cached inference than both may be
 * from the middle? A NaN is not. */
static int are_near(const double *x, const double *cached, const struct ball *ball, int n,
                    struct nearness *nearness, double *bound) {
    int all = 1;
    for (int i = 0; i < n; i++) {
        long double off = fabsl(x[i] - ball[i].x), apart = fabsl((long double)x[i] - cached[i]);
        long double e = ball[i].e;
        all = all && off <= e && apart <= 2.0L * e;
        nearness->worst = fmax(nearness->worst, (double)(off / (e + 0x1p-1000L)));
        *bound = fmax(*bound, (double)e);
    }
    return all;
}

static void compare_row(const struct expected *e, int i, const double *state, const double *logits,
                        const double *cached_state, const double *cached_logits,
                        struct nearness *nearness) {
    const struct cp_decoder_shape *s = &e->decoder->decoder.shape;
    struct ball ball[ORACLE_MAX];
    double bound = 0.0;
    oracle_pool_state(ball, &e->oracle.oracle, s->n_layers, i);
    int is_near = are_near(state, cached_state, ball, s->d_model, nearness, &bound);
    oracle_pool_logits(ball, &e->oracle.oracle, i);
    is_near &= are_near(logits, cached_logits, ball, s->n_vocab, nearness, &bound);
    nearness->n_rows++;
    nearness->n_wrong += !is_near;
    nearness->n_tight += bound < nearness->tight;
}

void expected_compare(struct expected *e, const struct served *served, int end,
                      struct nearness *nearness) {
    static double states[CASE_TOKENS * CASE_WIDTH], logits[CASE_TOKENS * 16];
    const struct cp_decoder_shape *s = &e->decoder->decoder.shape;
    int n = end - e->n_computed, first = e->n_computed, n_found = 0;
    if (n > 0) {
        must(decoder_case_run(e->decoder, &e->cached, n, e->token + first, e->position + first,
                              NULL, states, logits) == CP_OK);
    }
    for (int r = 0; r < served->n; r++) {
        if (served->row[r].id != e->id) {
            continue;
        }
        int i = first + n_found++;
        if (i >= end || served->row[r].token != e->token[i] ||
            served->row[r].position != e->position[i]) {
            nearness->n_wrong++;
            continue;
        }
        compare_row(e, i, served->state + r * s->d_model, served->logits + r * s->n_vocab,
                    states + (i - first) * s->d_model, logits + (i - first) * s->n_vocab, nearness);
    }
    nearness->n_wrong += n_found != n;
    e->n_computed = end;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How a server encodes a module (MOD-3, MOD-4) without any mask: in several runs, each of which
 * sees all that was computed before it, up to the position of each token. With a scaffold of
 * `guide` and `tokyo`, and `tokyo` in `cities` in the schema:
 *
 *     1. what is around one of these, and not held by the scaffold    the schema; cities
 *     2. the scaffold's modules, and what is between them             guide and tokyo, in one run
 *     3. what is around the module and not there yet; the module      e.g. a module in tokyo
 *
 * Without a scaffold there is no 2, and 1 is what is around the module, from the outermost one. */
#include <stdlib.h>

#include "tests/serve.h"

static int is_around(const struct schema *schema, int x, int y) {
    while (y > x) {
        y = schema->part[y].parent;
    }
    return y == x;
}

int serve_module_of(const struct schema *schema, int part) {
    do {
        part = schema->part[part].parent;
    } while (schema->part[part].kind != CP_PART_MODULE);
    return part;
}

/* Is the module one of the scaffold's, or in one? */
static int is_held(const struct schema *schema, int scaffold, int module) {
    int found = 0;
    for (int x = 0; x <= module && scaffold >= 0; x++) {
        found |= schema->scaffold[scaffold][x] && is_around(schema, x, module);
    }
    return found;
}

/* Is the module one of the scaffold's, or around one? */
static int is_of(const struct schema *schema, int scaffold, int module) {
    int found = 0;
    for (int x = module; x < schema->n_parts && scaffold >= 0; x++) {
        found |= schema->scaffold[scaffold][x] && is_around(schema, module, x);
    }
    return found;
}

int serve_scaffold(const struct server *server, const int *imported, int module) {
    const struct schema *schema = server->schema;
    int best = -1, most = 0;
    for (int i = 0; i < schema->n_scaffolds; i++) {
        int n = 0, missing = 0;
        for (int x = 0; x < schema->n_parts; x++) {
            n += schema->scaffold[i][x];
            missing += schema->scaffold[i][x] && !imported[x];
        }
        if (missing == 0 && n > most && is_held(schema, i, module)) {
            best = i;
            most = n;
        }
    }
    return best;
}

struct texts {
    int n;
    int token[CASE_TOKENS], position[CASE_TOKENS];
};

static void add_text(const struct server *server, struct texts *texts, int module) {
    const struct schema *schema = server->schema;
    for (int x = module + 1; x < schema->n_parts; x++) {
        if (schema->part[x].kind != CP_PART_TEXT || serve_module_of(schema, x) != module) {
            continue;
        }
        for (int i = 0; i < schema->part[x].size; i++) {
            texts->token[texts->n] =
                module_case_token(x, i, server->decoder->decoder.shape.n_vocab);
            texts->position[texts->n++] = server->begin[x] + i;
        }
    }
}

/* Computes texts, which see the entries before them in the cache; empty texts are nothing. */
static void compute(const struct server *server, struct decoder_cache *cache,
                    const struct texts *texts) {
    if (texts->n > 0 && decoder_case_run(server->decoder, cache, texts->n, texts->token,
                                         texts->position, NULL, NULL, NULL) != CP_OK) {
        abort();
    }
}

/* The own text of a module, and before it what is around it, from the outermost one on. The entries
 * of the module are put behind those of `to`. */
static void add_alone(const struct server *server, struct decoder_cache *to, int module) {
    static struct decoder_cache alone;
    decoder_case_cache(&alone);
    int first = 0;
    for (int x = 0; x <= module; x++) {
        struct texts texts = {.n = 0};
        if (server->schema->part[x].kind == CP_PART_MODULE &&
            is_around(server->schema, x, module)) {
            first = alone.cache.n;
            add_text(server, &texts, x);
            compute(server, &alone, &texts);
        }
    }
    if (cp_decoder_cache_append(&server->decoder->decoder.shape, &to->cache, &alone.cache, first,
                                alone.cache.n - first) != CP_OK) {
        abort();
    }
}

void serve_encode(const struct server *server, struct decoder_cache *entries, int module,
                  int scaffold) {
    static struct decoder_cache cache;
    const struct schema *schema = server->schema;
    struct texts together = {.n = 0}, own = {.n = 0};
    decoder_case_cache(&cache);
    for (int x = 0; x < schema->n_parts; x++) {
        int is_needed = is_of(schema, scaffold, x) || (is_around(schema, x, module) && x != module);
        if (schema->part[x].kind != CP_PART_MODULE || !is_needed) {
            continue;
        }
        if (is_held(schema, scaffold, x)) {
            if (is_of(schema, scaffold, x)) {
                add_text(server, &together, x);
            }
        } else {
            add_alone(server, &cache, x); /* 1 */
        }
    }
    compute(server, &cache, &together); /* 2 */
    for (int x = 0; x <= module; x++) { /* 3 */
        struct texts texts = {.n = 0};
        int is_last = schema->part[x].kind == CP_PART_MODULE && is_around(schema, x, module) &&
                      !is_of(schema, scaffold, x) && (x == module || is_held(schema, scaffold, x));
        if (is_last) {
            add_text(server, &texts, x);
            compute(server, &cache, &texts);
        }
    }
    add_text(server, &own, module);
    decoder_case_cache(entries);
    for (int e = 0; e < cache.cache.n; e++) {
        int is_own = 0;
        for (int i = 0; i < own.n; i++) {
            is_own |= own.position[i] == cache.position[e];
        }
        if (is_own && cp_decoder_cache_append(&server->decoder->decoder.shape, &entries->cache,
                                              &cache.cache, e, 1) != CP_OK) {
            abort();
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/prompt/cache.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/model/session.h"
#include "cli/prompt/fast.h"

static int refuse(const char *why) {
    fprintf(stderr, "chunkproof prompt: %s\n", why);
    return -1;
}

/* ---- Tokens ---- */

void prompt_tokens_add(struct prompt_tokens *tokens, const struct pml_texts *texts,
                       const struct pml_text *text, int position, int module, int scaffold) {
    if (tokens->room - tokens->n < text->n_tokens) {
        tokens->room = 2 * (tokens->n + text->n_tokens);
        tokens->of = cli_allocate(tokens->of, (size_t)tokens->room, sizeof *tokens->of);
    }
    for (int i = 0; i < text->n_tokens; i++) {
        tokens->of[tokens->n++] = (struct prompt_token){texts->token[text->first_token + i],
                                                        position + i, module, scaffold};
    }
}

void prompt_tokens_free(struct prompt_tokens *tokens) {
    free(tokens->of);
    *tokens = (struct prompt_tokens){0};
}

static void add_own_text(struct prompt_tokens *tokens, const struct pml_schema *s, int module,
                         int scaffold) {
    for (int x = module + 1; x < s->n_parts && s->part[x].parent >= module; x++) {
        if (s->part[x].kind == CP_PART_TEXT && s->part[x].parent == module) {
            prompt_tokens_add(tokens, &s->texts, &s->about[x].text, s->begin[x], module, scaffold);
        }
    }
}

/* ---- The mask ---- */

unsigned char *prompt_mask(const struct pml_schema *schema, const struct prompt_tokens *tokens) {
    size_t n = (size_t)tokens->n;
    unsigned char *sees = n > 0 && n <= SIZE_MAX / n ? calloc(n, n) : NULL;
    int *seen = cli_allocate(NULL, (size_t)schema->n_parts, sizeof *seen);
    unsigned char *is_seen = cli_allocate(NULL, (size_t)schema->n_parts, 1);
    for (size_t i = 0; i < n && sees != NULL; i++) {
        const struct prompt_token *token = &tokens->of[i];
        if (token->module >= 0 && (i == 0 || token->module != token[-1].module)) {
            memset(is_seen, 0, (size_t)schema->n_parts);
            for (int m = pml_mask_sees(schema, token->module, token->scaffold, seen); m > 0; m--) {
                is_seen[seen[m - 1]] = 1;
            }
        }
        for (size_t j = 0; j < n; j++) {
            const struct prompt_token *other = &tokens->of[j];
            sees[i * n + j] = other->position <= token->position &&
                              (token->module < 0 || (other->module >= 0 && is_seen[other->module]));
        }
    }
    free(seen);
    free(is_seen);
    if (sees == NULL) {
        (void)refuse("not enough memory for the mask of so many tokens");
    }
    return sees;
}

/* ---- Entries ---- */

int prompt_entries_new(struct cp_decoder_cache *entries, const struct cp_decoder *decoder,
                       int capacity) {
    return session_entries_new(entries, decoder, capacity) == 0
               ? 0
               : refuse("not enough memory for the keys and values of so many tokens");
}

/* token[] and position[] are of n numbers each. */
static int run(const struct cp_decoder *decoder, struct cp_decoder_cache *entries, int n,
               const int *token, const unsigned char *sees, struct prompt_logits logits) {
    size_t size = cp_decoder_workspace(&decoder->shape, n, entries->n + n);
    void *workspace = size > 0 ? malloc(size) : NULL;
    if (workspace == NULL) {
        return refuse("not enough memory to compute so many tokens");
    }
    struct cp_decoder_call call = {.n_new = n,
                                   .token = token,
                                   .position = token + n,
                                   .sees = sees,
                                   .first_logits = logits.first,
                                   .workspace = workspace,
                                   .workspace_size = size};
    call.logits = logits.of;
    int status = cp_decoder_run(decoder, entries, &call);
    free(workspace);
    return status == CP_OK ? 0 : refuse("the model has no such position, or no such token");
}

int prompt_compute(const struct cp_decoder *decoder, struct cp_decoder_cache *entries,
                   const struct prompt_tokens *tokens, const unsigned char *sees,
                   struct prompt_logits logits) {
    int n = tokens->n;
    if (n == 0) {
        return 0;
    }
    int *token = cli_allocate(NULL, 2 * (size_t)n, sizeof *token);
    for (int i = 0; i < n; i++) {
        token[i] = tokens->of[i].token;
        token[n + i] = tokens->of[i].position;
    }
    int status = run(decoder, entries, n, token, sees, logits);
    free(token);
    return status;
}

/* ---- Modules ---- */

static const struct prompt_logits nowhere = {NULL, 0};

static const struct prompt_encoded *find(const struct prompt_cache *cache, int module,
                                         int scaffold) {
    for (int i = 0; i < cache->n; i++) {
        if (cache->encoded[i].module == module && cache->encoded[i].scaffold == scaffold) {
            return &cache->encoded[i];
        }
    }
    return NULL;
}

/* Computes the module's own text behind the entries of the modules around it: together they are
 * closed. */
static int encode_alone(const struct prompt_cache *cache, int module,
                        struct cp_decoder_cache *entries) {
    const struct cp_decoder *decoder = cache->decoder;
    struct prompt_tokens tokens = {0};
    struct cp_decoder_cache all;
    int n_around = 0, status;
    add_own_text(&tokens, cache->schema, module, -1);
    for (int x = pml_scope(cache->schema, module); x >= 0; x = pml_scope(cache->schema, x)) {
        n_around += find(cache, x, -1)->entries.n;
    }
    if (prompt_entries_new(&all, decoder, n_around + tokens.n + 1) != 0) {
        prompt_tokens_free(&tokens);
        return -1;
    }
    for (int x = pml_scope(cache->schema, module); x >= 0; x = pml_scope(cache->schema, x)) {
        const struct cp_decoder_cache *around = &find(cache, x, -1)->entries;
        (void)cp_decoder_cache_append(&decoder->shape, &all, around, 0, around->n);
    }
    status = cache->fast != NULL ? prompt_fast_compute(cache->fast, &all, &tokens, 0, nowhere)
                                 : prompt_compute(decoder, &all, &tokens, NULL, nowhere);
    if (status == 0 && prompt_entries_new(entries, decoder, tokens.n + 1) == 0) {
        (void)cp_decoder_cache_append(&decoder->shape, entries, &all, n_around, tokens.n);
    } else {
        status = -1;
    }
    session_entries_free(&all);
    prompt_tokens_free(&tokens);
    return status;
}

/* Computes all that is closed with the module: the modules of the scaffold, and those around. Of
 * each of these the scaffold counts, or none (MOD-4). */
static int encode_together(const struct prompt_cache *cache, int module, int scaffold,
                           struct cp_decoder_cache *entries) {
    const struct pml_schema *s = cache->schema;
    const struct cp_decoder *decoder = cache->decoder;
    int *seen = cli_allocate(NULL, (size_t)s->n_parts, sizeof *seen), status = -1;
    int n = pml_mask_sees(s, module, scaffold, seen);
    struct prompt_tokens tokens = {0};
    struct cp_decoder_cache all = {0};
    for (int i = 0; i < n; i++) {
        add_own_text(&tokens, s, seen[i], pml_mask_holds(s, scaffold, seen[i]) ? scaffold : -1);
    }
    free(seen);
    unsigned char *sees = tokens.n > 0 ? prompt_mask(s, &tokens) : NULL;
    if ((tokens.n == 0 || sees != NULL) && prompt_entries_new(&all, decoder, tokens.n + 1) == 0 &&
        prompt_compute(decoder, &all, &tokens, sees, nowhere) == 0 &&
        prompt_entries_new(entries, decoder, tokens.n + 1) == 0) {
        status = 0;
    }
    for (int i = 0; status == 0 && i < tokens.n; i++) {
        if (tokens.of[i].module == module) {
            (void)cp_decoder_cache_append(&decoder->shape, entries, &all, i, 1);
        }
    }
    free(sees);
    session_entries_free(&all);
    prompt_tokens_free(&tokens);
    return status;
}

static int by_position(const void *a, const void *b) {
    const struct prompt_token *x = a, *y = b;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Computes the own texts of these modules together. Behind `all` they see each other. */
static int compute_group(const struct prompt_cache *cache, const int *module, int n, int scaffold,
                         struct cp_decoder_cache *all, struct prompt_tokens *tokens) {
    tokens->n = 0;
    for (int i = 0; i < n; i++) {
        add_own_text(tokens, cache->schema, module[i], scaffold);
    }
    if (tokens->n == 0) {
        return 0;
    }
    qsort(tokens->of, (size_t)tokens->n, sizeof *tokens->of, by_position);
    return prompt_fast_compute(cache->fast, all, tokens, 0, nowhere);
}

/* Which of the seen modules are computed together: of those that the scaffold holds, those that see
 * the fewest modules, for these all see the same. Each other one is inside of one of them, and a
 * group by itself. */
static int find_group(const struct pml_schema *s, const int *seen, int n, int scaffold, int least,
                      int *group, int *room) {
    int n_group = 0;
    for (int i = 0; i < n; i++) {
        if (pml_mask_holds(s, scaffold, seen[i]) &&
            pml_mask_sees(s, seen[i], scaffold, room) == least) {
            group[n_group++] = seen[i];
        }
    }
    return n_group;
}

static void push(struct prompt_cache *cache, const struct prompt_encoded *now) {
    if (cache->n == cache->room) {
        cache->room = 2 * cache->room + 8;
        cache->encoded = cli_allocate(cache->encoded, (size_t)cache->room, sizeof *cache->encoded);
    }
    cache->encoded[cache->n++] = *now;
    cache->n_tokens += now->entries.n;
}

/* Copies the entries of a module's tokens, which stand in `all` from `first` on. */
static int copy_own(const struct cp_decoder *decoder, struct cp_decoder_cache *entries, int module,
                    const struct cp_decoder_cache *all, int first,
                    const struct prompt_tokens *tokens) {
    int n_own = 0;
    for (int i = 0; i < tokens->n; i++) {
        n_own += tokens->of[i].module == module;
    }
    int status = prompt_entries_new(entries, decoder, n_own + 1);
    for (int i = 0; status == 0 && i < tokens->n; i++) {
        if (tokens->of[i].module == module) {
            (void)cp_decoder_cache_append(&decoder->shape, entries, all, first + i, 1);
        }
    }
    return status;
}

/* Keeps what was computed with `module`: a prompt for which the scaffold counts has all modules of
 * the group. */
static int keep_others(struct prompt_cache *cache, const int *group, int n, int module,
                       int scaffold, const struct cp_decoder_cache *all, int first,
                       const struct prompt_tokens *tokens) {
    for (int i = 0; i < n; i++) {
        if (group[i] != module && find(cache, group[i], scaffold) == NULL) {
            struct prompt_encoded other = {.module = group[i], .scaffold = scaffold};
            if (copy_own(cache->decoder, &other.entries, group[i], all, first, tokens) != 0) {
                return -1;
            }
            push(cache, &other);
        }
    }
    return 0;
}

/* As encode_together(), without a mask: the modules around are there, then the group of those that
 * see each other, then each module inside of these. `all` has what the next one sees. */
static int encode_in_groups(struct prompt_cache *cache, int module, int scaffold,
                            struct cp_decoder_cache *entries) {
    const struct pml_schema *s = cache->schema;
    int *seen = cli_allocate(NULL, 3 * (size_t)s->n_parts, sizeof *seen);
    int *group = seen + s->n_parts, *room = group + s->n_parts;
    int n = pml_mask_sees(s, module, scaffold, seen), least = n, n_tokens = 0, first = 0, status;
    struct prompt_tokens tokens = {0};
    struct cp_decoder_cache all = {0};
    for (int i = 0; i < n; i++) {
        add_own_text(&tokens, s, seen[i], -1);
        int n_seen = pml_mask_sees(s, seen[i], scaffold, room);
        least = pml_mask_holds(s, scaffold, seen[i]) && n_seen < least ? n_seen : least;
    }
    n_tokens = tokens.n;
    status = prompt_entries_new(&all, cache->decoder, n_tokens + 1);
    for (int i = 0; status == 0 && i < n; i++) {
        if (!pml_mask_holds(s, scaffold, seen[i])) {
            const struct cp_decoder_cache *around = &find(cache, seen[i], -1)->entries;
            (void)cp_decoder_cache_append(&cache->decoder->shape, &all, around, 0, around->n);
        }
    }
    int n_group = find_group(s, seen, n, scaffold, least, group, room);
    first = all.n;
    status = status == 0 ? compute_group(cache, group, n_group, scaffold, &all, &tokens) : -1;
    status = status == 0
                 ? keep_others(cache, group, n_group, module, scaffold, &all, first, &tokens)
                 : -1;
    for (int i = 0; status == 0 && i < n; i++) {
        if (pml_mask_holds(s, scaffold, seen[i]) &&
            pml_mask_sees(s, seen[i], scaffold, room) > least) {
            first = all.n;
            status = compute_group(cache, &seen[i], 1, scaffold, &all, &tokens);
        }
    }
    status = status == 0 ? copy_own(cache->decoder, entries, module, &all, first, &tokens) : -1;
    free(seen);
    session_entries_free(&all);
    prompt_tokens_free(&tokens);
    return status;
}

/* Encodes a module that is not there yet. Returns which of encoded[] it is, or -1. */
static int add_module(struct prompt_cache *cache, int module, int scaffold) {
    struct prompt_encoded now = {.module = module, .scaffold = scaffold};
    int status = scaffold < 0          ? encode_alone(cache, module, &now.entries)
                 : cache->fast != NULL ? encode_in_groups(cache, module, scaffold, &now.entries)
                                       : encode_together(cache, module, scaffold, &now.entries);
    if (status != 0) {
        session_entries_free(&now.entries);
        return -1;
    }
    push(cache, &now);
    return cache->n - 1;
}

/* What encode_in_groups() asks for: the modules around that the scaffold does not hold, from the
 * outermost on. */
static int add_around(struct prompt_cache *cache, int module, int scaffold) {
    const struct pml_schema *s = cache->schema;
    int *seen = cli_allocate(NULL, (size_t)s->n_parts, sizeof *seen), status = 0;
    int n = pml_mask_sees(s, module, scaffold, seen);
    for (int i = 0; i < n && status == 0; i++) {
        if (!pml_mask_holds(s, scaffold, seen[i]) && find(cache, seen[i], -1) == NULL &&
            add_module(cache, seen[i], -1) < 0) {
            status = -1;
        }
    }
    free(seen);
    return status;
}

int prompt_cache_module(struct prompt_cache *cache, int module, int scaffold) {
    const struct prompt_encoded *there = find(cache, module, scaffold);
    if (there != NULL) {
        return (int)(there - cache->encoded);
    }
    if (cache->fast != NULL && scaffold >= 0 && add_around(cache, module, scaffold) != 0) {
        return -1;
    }
    return add_module(cache, module, scaffold);
}

void prompt_cache_free(struct prompt_cache *cache) {
    for (int i = 0; i < cache->n; i++) {
        session_entries_free(&cache->encoded[i].entries);
    }
    free(cache->encoded);
    cache->encoded = NULL;
}

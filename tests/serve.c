/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/serve.h"

#include <stdlib.h>
#include <string.h>

static void must(int holds) {
    if (!holds) {
        abort();
    }
}

void serve_new(struct server *server, const struct decoder_case *decoder,
               const struct schema *schema, int capacity, int chunk_size, int type, int variant) {
    const struct cp_decoder_shape *s = &decoder->decoder.shape;
    memset(server, 0, sizeof *server);
    server->decoder = decoder;
    server->schema = schema;
    server->variant = variant;
    server->most = CASE_TOKENS;
    must(cp_schema_layout(schema->part, schema->n_parts, server->begin, server->size) == CP_OK);
    must(cp_batch_new(&server->batch, capacity, chunk_size) == CP_OK);
    must(cp_plan_new(&server->plan) == CP_OK);
    for (int l = 0; l < s->n_layers; l++) {
        must(cp_kv_new(&server->kv[l], capacity, s->n_kv_heads, chunk_size, serve_head_dim(s), type,
                       CP_ON_DEMAND) == CP_OK);
    }
}

void serve_free(struct server *server) {
    for (int l = 0; l < server->decoder->decoder.shape.n_layers; l++) {
        cp_kv_free(&server->kv[l]);
    }
    cp_plan_free(server->plan);
    cp_batch_free(server->batch);
}

/* ---- Items ---- */

/* The own text of a module as spans: one for each text. */
static int spans_of(const struct server *server, int module, struct cp_span *span) {
    const struct schema *schema = server->schema;
    int n = 0;
    for (int x = module + 1; x < schema->n_parts; x++) {
        if (schema->part[x].kind == CP_PART_TEXT && schema->part[x].size > 0 &&
            serve_module_of(schema, x) == module) {
            span[n++] = (struct cp_span){server->begin[x], schema->part[x].size};
        }
    }
    return n;
}

static int entry_at(const struct decoder_cache *entries, int position) {
    int e = 0;
    while (e < entries->cache.n && entries->position[e] != position) {
        e++;
    }
    must(e < entries->cache.n);
    return e;
}

/* Writes the keys and values of a module where the runs of its item say, at all layers. */
static void write_entries(const struct server *server, int item,
                          const struct decoder_cache *entries) {
    const struct cp_decoder_shape *s = &server->decoder->decoder.shape;
    int shift = server->mistake == SERVE_SHIFTED;
    for (int k = 0; k < server->batch->item[item].n_runs; k++) {
        struct cp_run run = server->batch->runs[item].run[k];
        for (int slot = 0; slot < run.n_tokens; slot++) {
            int e = entry_at(entries, run.position + slot + shift);
            for (int l = 0; l < s->n_layers; l++) {
                for (int g = 0; g < s->n_kv_heads; g++) {
                    size_t at = decoder_case_at(server->decoder, entries, l, e, g);
                    serve_store(server, l, run.chunk, g, slot, entries->position[e],
                                entries->k + at, entries->v + at);
                }
            }
        }
    }
}

static void shift_all(struct server *server, int by) {
    for (int x = 0; x < server->schema->n_parts; x++) {
        server->begin[x] += by;
    }
}

/* Encodes a module, and puts it into the pool. */
static int put(struct server *server, int module, int scaffold, struct serve_item *item) {
    static struct decoder_cache entries;
    struct cp_span span[PARTS];
    int n = spans_of(server, module, span);
    int status = cp_batch_put(server->batch, span, n, &item->name);
    if (status != CP_OK) {
        return status;
    }
    shift_all(server, server->mistake == SERVE_SHIFTED);
    serve_encode(server, &entries, module, scaffold);
    shift_all(server, -(server->mistake == SERVE_SHIFTED));
    write_entries(server, cp_batch_find(server->batch, item->name), &entries);
    server->n_encoded++;
    server->n_again += item->is_put;
    server->n_scaffolded += scaffold >= 0;
    server->n_apart += n > 1;
    item->is_put = 1;
    return CP_OK;
}

/* Is the item in the pool? Also where it has another name, if the server goes by its number. */
static int is_there(const struct server *server, struct serve_item *item) {
    if (server->mistake == SERVE_BY_NUMBER && item->is_put) {
        const struct cp_item *of_number = &server->batch->item[item->name % CP_MAX_ITEMS];
        item->name = of_number->n_runs > 0 ? of_number->name : item->name;
    }
    return item->is_put && cp_batch_find(server->batch, item->name) >= 0;
}

/* ---- Prompts ---- */

static int prompt_of(const struct server *server, long long id) {
    for (int p = 0; p < server->batch->n_prompts; p++) {
        if (server->batch->prompt[p].id == id) {
            return p;
        }
    }
    return -1;
}

/* The items of a prompt's modules with text, in its order. */
static int items_of(struct server *server, const struct request *request,
                    struct serve_item **items) {
    struct cp_span span[PARTS];
    int n = 0;
    for (int i = 0; i < request->n_order; i++) {
        int module = request->order[i];
        if (spans_of(server, module, span) > 0) {
            int scaffold = serve_scaffold(server, request->imported, module);
            items[n++] = &server->item[module][scaffold + 1];
        }
    }
    return n;
}

/* Puts what is not there. What was there, or was just put, may leave for another one; then it is
 * put again, a few times. */
static int make_items(struct server *server, struct serve_item **items, int n) {
    for (int tries = 0; tries < 4; tries++) {
        int n_missing = 0;
        for (int i = 0; i < n; i++) {
            if (is_there(server, items[i])) {
                continue;
            }
            int at = (int)(items[i] - server->item[0]);
            int status = put(server, at / (SCAFFOLDS + 1), at % (SCAFFOLDS + 1) - 1, items[i]);
            if (status != CP_OK) {
                return status;
            }
        }
        for (int i = 0; i < n; i++) {
            n_missing += !is_there(server, items[i]);
        }
        if (n_missing == 0) {
            return CP_OK;
        }
    }
    return CP_ERROR_POOL_FULL;
}

static int add_span(struct server *server, const struct request *request, struct cp_span *spans,
                    int n_spans, int *n_tokens, int position, int n) {
    for (int i = 0; i < n; i++) {
        server->waiting[server->n_waiting + *n_tokens] =
            (struct serve_token){request->id, request->token[*n_tokens], position + i, -1, -1};
        ++*n_tokens;
    }
    spans[n_spans] = (struct cp_span){position, n};
    return n_spans + (n > 0);
}

/* MOD-6: the spans of what a prompt adds. Its tokens are behind those that wait. */
static int spans_of_prompt(struct server *server, const struct request *request,
                           struct cp_span *spans, int *n_tokens) {
    const struct schema *schema = server->schema;
    int placed[SEGMENTS], n = 0;
    *n_tokens = 0;
    must(cp_prompt_check(schema->part, schema->n_parts, request->imported) == -1);
    must(cp_prompt_place(schema->part, schema->n_parts, server->begin, server->size,
                         request->imported, request->segment, request->n_segments,
                         placed) == CP_OK);
    for (int x = 0; x < schema->n_parts; x++) {
        n = add_span(server, request, spans, n, n_tokens, server->begin[x], request->n_argument[x]);
    }
    for (int i = 0; i < request->n_segments; i++) {
        n = add_span(server, request, spans, n, n_tokens, placed[i], request->segment[i].size);
    }
    return n;
}

/* Where the key and value of an own token of a prompt are. */
static void find_slot(const struct cp_prompt *prompt, struct serve_token *token) {
    for (int k = 0; k < prompt->n_own; k++) {
        struct cp_run run = prompt->own[k];
        if (run.position <= token->position && token->position < run.position + run.n_tokens) {
            token->chunk = run.chunk;
            token->slot = token->position - run.position;
        }
    }
}

static void sort_by_position(struct serve_token *token, int n) {
    for (int i = 1; i < n; i++) {
        struct serve_token moved = token[i];
        int at = i;
        for (; at > 0 && token[at - 1].position > moved.position; at--) {
            token[at] = token[at - 1];
        }
        token[at] = moved;
    }
}

int serve_join(struct server *server, const struct request *request) {
    struct serve_item *items[PARTS];
    unsigned long long names[PARTS];
    struct cp_span spans[PARTS + SEGMENTS];
    int n_tokens, prompt, n_items = items_of(server, request, items);
    int status = make_items(server, items, n_items);
    if (status != CP_OK) {
        return status;
    }
    for (int i = 0; i < n_items; i++) {
        names[i] = items[i]->name;
    }
    int n_spans = spans_of_prompt(server, request, spans, &n_tokens);
    status = cp_batch_join(server->batch, request->id, names, n_items, spans, n_spans, &prompt);
    if (status != CP_OK) {
        return status;
    }
    sort_by_position(server->waiting + server->n_waiting, n_tokens);
    for (int i = 0; i < n_tokens; i++) {
        find_slot(&server->batch->prompt[prompt], &server->waiting[server->n_waiting++]);
    }
    return CP_OK;
}

int serve_append(struct server *server, long long id, int token, int position) {
    struct serve_token *waiting = &server->waiting[server->n_waiting];
    *waiting = (struct serve_token){id, token, position, -1, -1};
    int status = cp_batch_append(server->batch, prompt_of(server, id), position, &waiting->chunk,
                                 &waiting->slot);
    server->n_waiting += status == CP_OK;
    return status;
}

void serve_leave(struct server *server, long long id) {
    int n = 0;
    must(cp_batch_leave(server->batch, prompt_of(server, id)) == CP_OK);
    for (int i = 0; i < server->n_waiting; i++) {
        if (server->waiting[i].id != id) {
            server->waiting[n++] = server->waiting[i];
        }
    }
    server->n_waiting = n;
}

/* Moves the first tokens of a prompt from those that wait to those of a step. */
static void take_rows(struct server *server, struct served *served, long long id) {
    int n_kept = 0, n_taken = 0;
    for (int i = 0; i < server->n_waiting; i++) {
        if (server->waiting[i].id == id && n_taken < server->most) {
            served->row[served->n++] = server->waiting[i];
            n_taken++;
        } else {
            server->waiting[n_kept++] = server->waiting[i];
        }
    }
    server->n_waiting = n_kept;
}

/* The rows stand prompt by prompt, as the plan has these. */
void serve_step(struct server *server, struct served *served) {
    int begin[SERVE_PROMPTS + 1] = {0};
    served->n = 0;
    (void)cp_batch_plan(server->batch, server->plan);
    for (int p = 0; p < server->batch->n_prompts; p++) {
        take_rows(server, served, server->batch->prompt[p].id);
        begin[p + 1] = served->n;
    }
    if (served->n > 0) {
        struct serve_rows rows = {served->n, begin, served->row};
        serve_layers(server, &rows, served->state, served->logits);
    }
}

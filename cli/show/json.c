/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing as JSON: spec/show-report.schema.json says what is in it. */
#include "cli/base/json.h"

#include "chunkproof/version.h"
#include "cli/show/keys.h"
#include "cli/show/pages.h"

/* ---- Tree and plan ---- */

static json_t *steps_json(const struct show_view *view) {
    json_t *array = json_array();
    for (int i = 0; i < view->n_steps; i++) {
        array = json_with(array, json_pack("{s:o,s:o}", "title", json_clean(view->step[i].title),
                                           "effect", json_clean(view->step[i].effect)));
    }
    return array;
}

static json_t *chunk_json(const struct show_world *world, int chunk) {
    const struct cp_tree *tree = world->tree;
    json_t *tokens = json_array();
    for (int i = 0; i < tree->fill[chunk]; i++) {
        tokens = json_with(tokens, json_clean(show_token_word(world, chunk, i)));
    }
    return json_pack("{s:i,s:i,s:i,s:i,s:o}", "chunk", chunk, "begin", tree->begin[chunk], "end",
                     tree->end[chunk], "position", tree->depth[chunk] * tree->chunk_size, "tokens",
                     tokens);
}

static json_t *chunks_json(const struct show_world *world) {
    const struct cp_tree *tree = world->tree;
    json_t *array = json_array();
    for (int chunk = 0; chunk < tree->pool.capacity; chunk++) {
        if (cp_pool_is_used(&tree->pool, chunk)) {
            array = json_with(array, chunk_json(world, chunk));
        }
    }
    return array;
}

static json_t *sequence_json(const struct show_world *world, int s) {
    const struct cp_plan_sequence *path = &world->plan->sequence[s];
    const char *tenant = show_tenant_name(world, s);
    json_t *runs = json_array();
    for (int k = 0; k < path->n_chunks; k++) {
        const struct cp_run *run = &path->run[k];
        runs = json_with(runs, json_pack("{s:i,s:i,s:i}", "chunk", run->chunk, "n_tokens",
                                         run->n_tokens, "position", run->position));
    }
    return json_pack("{s:i,s:o,s:o,s:i,s:i,s:o}", "sequence", s, "name",
                     json_clean(show_sequence_name(world, s)), "tenant",
                     tenant != NULL ? json_clean(tenant) : json_null(), "n_tokens", path->n_tokens,
                     "n_shared", path->n_shared, "runs", runs);
}

static json_t *shared_json(const struct cp_plan *plan) {
    json_t *array = json_array();
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        array = json_with(array, json_pack("{s:i,s:i,s:i,s:i,s:i}", "chunk", shared->chunk, "begin",
                                           shared->begin, "end", shared->end, "n_tokens",
                                           shared->n_tokens, "position", shared->position));
    }
    return array;
}

static json_t *memory_json(const struct cp_tree *tree) {
    struct show_figures figures = show_count(tree);
    return json_pack("{s:i,s:i,s:i,s:i}", "chunks", figures.chunks, "tokens", figures.tokens,
                     "apart_chunks", figures.apart_chunks, "apart_tokens", figures.apart_tokens);
}

/* ---- Keys ---- */

static json_t *mask_json(const struct show_question *question) {
    json_t *array = json_array();
    for (int row = 0; row < question->n_rows; row++) {
        json_t *bits = json_array();
        for (int i = 0; i < question->n_bits; i++) {
            bits = json_with(bits, json_integer(question->is_left[row * question->n_bits + i]));
        }
        array = json_with(array, bits);
    }
    return array;
}

static json_t *parents_json(const struct show_question *question) {
    json_t *array = json_array();
    for (int node = 0; node < question->n_rows; node++) {
        array = json_with(array, node == 0 ? json_null() : json_integer(question->parent[node]));
    }
    return array;
}

/* The ranges of slots that a row sees, of its runs first .. end - 1. */
static json_t *ranges_json(const struct show_keys *keys, int s, int row, int first, int end) {
    json_t *array = json_array();
    for (int k = first; k < end; k++) {
        struct show_range range = {0, 0};
        while (show_keys_range(keys, s, row, k, range.end, &range)) {
            array = json_with(array, json_pack("{s:i,s:i,s:i}", "chunk",
                                               keys->plan->sequence[s].run[k].chunk, "begin",
                                               range.begin, "end", range.end));
        }
    }
    return array;
}

static json_t *rows_json(const struct show_keys *keys) {
    json_t *array = json_array();
    for (int s = 0; s < keys->plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &keys->plan->sequence[s];
        for (int row = 0; row < keys->question->n_rows; row++) {
            array = json_with(array,
                              json_pack("{s:i,s:i,s:i,s:i,s:o,s:o}", "row",
                                        s * keys->question->n_rows + row, "sequence", s, "position",
                                        show_keys_position(keys, s, row), "n_seen",
                                        show_keys_of_row(keys, s, row), "shared",
                                        ranges_json(keys, s, row, 0, path->n_shared), "own",
                                        ranges_json(keys, s, row, path->n_shared, path->n_chunks)));
        }
    }
    return array;
}

static json_t *chunk_first_json(const struct show_keys *keys) {
    json_t *array = json_array();
    for (int i = 0; i < keys->plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &keys->plan->shared[i];
        int k = show_keys_run_of(keys->plan, shared);
        json_t *rows = json_array();
        for (int s = shared->begin; s < shared->end; s++) {
            for (int row = 0; row < keys->question->n_rows; row++) {
                int at = s * keys->question->n_rows + row;
                if (show_keys_of_run(keys, s, row, k) > 0) {
                    rows = json_with(rows, json_integer(at));
                }
            }
        }
        array = json_with(array, json_pack("{s:i,s:o}", "chunk", shared->chunk, "rows", rows));
    }
    return array;
}

/* Chunks of which no row sees a key (WINDOW-4, MASK-4): shared ones, then those of one sequence. */
static json_t *left_out_json(const struct show_keys *keys) {
    const struct cp_plan *plan = keys->plan;
    json_t *array = json_array();
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        if (show_keys_is_left_out(keys, shared->begin, shared->end,
                                  show_keys_run_of(plan, shared))) {
            array = json_with(array, json_integer(shared->chunk));
        }
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        for (int k = path->n_shared; k < path->n_chunks; k++) {
            if (show_keys_is_left_out(keys, s, s + 1, k)) {
                array = json_with(array, json_integer(path->run[k].chunk));
            }
        }
    }
    return array;
}

static json_t *keys_json(const struct show_keys *keys) {
    const struct show_question *question = keys->question;
    json_t *object = json_pack("{s:i,s:i,s:i,s:b,s:o,s:o}", "window", question->window.keys,
                               "ahead", question->window.ahead, "kept", question->window.kept,
                               "sinks", question->has_sink, "parents",
                               question->parent != NULL ? parents_json(question) : json_null(),
                               "mask", question->n_bits > 0 ? mask_json(question) : json_null());
    object = json_with_member(object, "rows", rows_json(keys));
    object = json_with_member(object, "chunk_first", chunk_first_json(keys));
    return json_with_member(object, "left_out", left_out_json(keys));
}

/* ---- Pages ---- */

static json_t *pages_json(const struct show_pages *pages) {
    int b = pages->plan->n_sequences;
    json_t *table = json_array(), *lengths = json_array();
    for (int s = 0; s < b; s++) {
        json_t *row = json_array();
        for (int i = 0; i < pages->width; i++) {
            row = json_with(row, json_integer(show_pages_table(pages, s, i)));
        }
        table = json_with(table, row);
        lengths = json_with(lengths, json_integer(pages->plan->sequence[s].n_tokens));
    }
    return json_pack("{s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o}", "page_size", pages->size, "n_pages",
                     pages->n, "stored", show_pages_stored(pages), "block_table", table, "seq_lens",
                     lengths, "indptr", json_numbers(pages->begin, b + 1), "indices",
                     json_numbers(pages->list, pages->begin[b]), "last_page_len",
                     json_numbers(pages->last_tokens, b));
}

/* ---- All of it ---- */

int show_json(FILE *out, const struct show_view *view) {
    const struct show_world *world = view->world;
    json_t *sequences = json_array();
    for (int s = 0; s < world->plan->n_sequences; s++) {
        sequences = json_with(sequences, sequence_json(world, s));
    }
    json_t *report = json_pack("{s:s,s:s,s:o,s:i,s:i}", "command", "show", "version", cp_version(),
                               "title", json_clean(view->title), "chunk_size",
                               world->plan->chunk_size, "capacity", world->tree->pool.capacity);
    report = json_with_member(report, "steps", steps_json(view));
    report = json_with_member(report, "chunks", chunks_json(world));
    report = json_with_member(report, "sequences", sequences);
    report = json_with_member(report, "shared", shared_json(world->plan));
    report = json_with_member(report, "memory", memory_json(world->tree));
    report =
        json_with_member(report, "keys", view->keys != NULL ? keys_json(view->keys) : json_null());
    report = json_with_member(report, "pages",
                              view->pages != NULL ? pages_json(view->pages) : json_null());
    int status = report != NULL ? json_dumpf(report, out, JSON_INDENT(1)) : -1;
    json_decref(report);
    if (status == 0) {
        fputc('\n', out);
    }
    return status;
}

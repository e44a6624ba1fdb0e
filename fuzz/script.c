/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* The parser of scripts of `chunkproof show` (cli/show/script.c): no crash, no leak. A script that
 * it accepts is the same after its operations are written and parsed again. Then the target plays
 * the script, checks each clause after each operation, and draws it in every format. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"
#include "cli/show/keys.h"
#include "cli/show/pages.h"
#include "cli/show/show.h"
#include "fuzz/parse.h"
#include "fuzz/target.h"

#define MOST_OPERATIONS 48 /* operations that are played */

/* The file is freed after the script, which holds its name. */
static int load(struct show_script *script, struct parse_file *file, const void *bytes,
                size_t size) {
    struct parse_said said;
    parse_file_new(file, bytes, size);
    parse_listen(&said);
    int status = show_script_from_file(script, file->path);
    parse_heard(&said, status != EXIT_RIGHT);
    if (status != EXIT_RIGHT && status != EXIT_BAD_USE) {
        fuzz_fail("a script is read with status %d", status);
    }
    return status;
}

static FILE *open_text(char **text, size_t *size) {
    FILE *out = open_memstream(text, size);
    if (out == NULL) {
        fuzz_fail("no memory to write a script");
    }
    return out;
}

/* ---- What was read ---- */

static void check_operation(const struct show_script *script, int i) {
    const struct show_operation *o = &script->operation[i];
    int named = o->kind != SHOW_APPEND_ALL, least = o->kind == SHOW_APPEND_ALL;
    if ((o->name != NULL) != named || (o->kind == SHOW_FORK && o->other == NULL) ||
        o->first_word < 0 || o->n_words < least || o->first_word > script->n_words - o->n_words ||
        (o->kind == SHOW_APPEND && o->n_words != 1) || o->place.line < 1) {
        fuzz_fail("operation %d of a script", i);
    }
}

static int is_same(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void check_round_trip(const struct show_script *script) {
    struct show_script again;
    struct parse_file file;
    char *text;
    size_t size;
    FILE *out = open_text(&text, &size);
    for (int i = 0; i < script->n_operations; i++) {
        char *title = show_operation_title(script, &script->operation[i]);
        fprintf(out, "%s\n", title);
        free(title);
    }
    (void)fclose(out);
    if (load(&again, &file, text, size) != EXIT_RIGHT ||
        again.n_operations != script->n_operations) {
        fuzz_fail("a script that is written is another one:\n%s", text);
    }
    for (int i = 0; i < script->n_operations; i++) {
        const struct show_operation *a = &script->operation[i], *b = &again.operation[i];
        int same = a->kind == b->kind && a->n_words == b->n_words && is_same(a->name, b->name) &&
                   is_same(a->other, b->other);
        for (int k = 0; same && k < a->n_words; k++) {
            same = is_same(script->word[a->first_word + k], again.word[b->first_word + k]);
        }
        if (!same) {
            fuzz_fail("operation %d of a script that is written is another one:\n%s", i, text);
        }
    }
    show_script_free(&again);
    parse_file_free(&file);
    free(text);
}

/* ---- What is made of it ---- */

static void draw(const struct show_view *view) {
    char *text;
    size_t size;
    struct show_svg svg;
    FILE *out = open_text(&text, &size);
    show_text_step(out, view);
    show_text_end(out, view);
    if (view->keys == NULL) {
        show_dot(out, view, 1);
    }
    show_svg_begin(&svg);
    show_svg_frame(&svg, view, 1);
    show_svg_end(&svg, out, "a script");
    (void)fclose(out);
    if (size == 0) {
        fuzz_fail("nothing was drawn");
    }
    free(text);
}

/* With a window, kept tokens and pages that follow from how long the script is. */
static void draw_sights(struct show_view view) {
    int n = view.n_steps;
    const struct cp_plan *plan = view.world->plan;
    const struct show_question question = {.n_rows = 1 + n % 3, .window = {n % 5, n % 2, n % 4}};
    struct show_keys keys;
    struct show_pages pages;
    if (show_keys_new(&keys, plan, &question) != EXIT_RIGHT) {
        fuzz_fail("the reference does not say which keys rows see");
    }
    show_pages_new(&pages, plan, 1 + n % 7);
    view.keys = &keys;
    view.pages = &pages;
    draw(&view);
    show_pages_free(&pages);
    show_keys_free(&keys);
}

static void play(const struct show_script *script) {
    struct show_world world;
    struct show_step step[MOST_OPERATIONS];
    struct parse_said said;
    int chunk_size = script->chunk_size > 0 ? script->chunk_size : SHOW_DEFAULT_CHUNK_SIZE;
    int capacity = script->capacity > 0 ? script->capacity : SHOW_DEFAULT_CAPACITY;
    int status = show_world_new(&world, script, chunk_size, capacity), n = 0;
    if (status != EXIT_RIGHT) {
        fuzz_fail("a world of %d chunks of %d tokens cannot be made", capacity, chunk_size);
    }
    for (int i = 0; i < script->n_operations && status == EXIT_RIGHT; i++) {
        parse_listen(&said);
        status = show_world_apply(&world, &script->operation[i], &step[n++]);
        parse_heard(&said, status != EXIT_RIGHT);
    }
    if (status == EXIT_FINDING) {
        fuzz_fail("operation %d breaks a clause", n);
    }
    struct show_view view = {&world, "a script", SHOW_DEFAULT_WIDTH, n % 2, 1, n, step, NULL, NULL};
    if (status == EXIT_RIGHT && n > 0) {
        draw(&view);
        draw_sights(view);
    }
    for (int i = 0; i < n; i++) {
        show_step_free(&step[i]);
    }
    show_world_free(&world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct show_script script;
    struct parse_file file;
    if (load(&script, &file, data, size) == EXIT_RIGHT) {
        if (script.chunk_size < 0 || script.chunk_size > SHOW_MAX_CHUNK_SIZE ||
            script.capacity < 0 || script.capacity > SHOW_MAX_CHUNKS) {
            fuzz_fail("the sizes of a script");
        }
        for (int i = 0; i < script.n_operations; i++) {
            check_operation(&script, i);
        }
        check_round_trip(&script);
        if (script.n_operations <= MOST_OPERATIONS) {
            play(&script);
        }
    }
    show_script_free(&script);
    parse_file_free(&file);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof show`: from the options to the drawings. */
#include "cli/base/output.h"
#include "cli/show/show.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"
#include "cli/base/text.h"
#include "cli/show/keys.h"
#include "cli/show/options.h"
#include "cli/show/pages.h"

/* ---- Input ---- */

static int read_input(struct show_script *script, const struct show_options *options) {
    if (options->example != NULL) {
        return show_script_from_text(script, options->example, show_example(options->example));
    }
    if (options->script != NULL) {
        return show_script_from_file(script, options->script);
    }
    return show_script_from_prompts(script, options->n_prompts, options->prompt);
}

/* What the command line says, else what the script says, else the default. */
static int choose(int option, int script, int otherwise) {
    return option > 0 ? option : script > 0 ? script : otherwise;
}

static const char *title_of(const struct show_options *options) {
    if (options->example != NULL) {
        return options->example;
    }
    if (options->script != NULL) {
        return strcmp(options->script, "-") == 0 ? "script on standard input" : options->script;
    }
    return "prompts";
}

/* ---- Drawing ---- */

/* Returns an exit status. */
static int draw(const struct show_options *options, struct show_svg *svg,
                const struct show_view *view, int is_end) {
    switch (options->format) {
    case SHOW_DOT:
        show_dot(stdout, view, is_end);
        break;
    case SHOW_SVG:
        show_svg_frame(svg, view, is_end);
        break;
    case SHOW_TEXT:
        if (is_end) {
            show_text_end(stdout, view);
        } else {
            show_text_step(stdout, view);
        }
        break;
    case SHOW_JSON:
        return show_json(stdout, view) == 0 ? EXIT_RIGHT : EXIT_BAD_USE;
    }
    return EXIT_RIGHT;
}

/* Each sequence needs as many tokens as a row has bits. */
static int check_lengths(const struct show_options *options, const struct show_world *world,
                         const struct show_question *question) {
    const struct cp_plan *plan = world->plan;
    for (int s = 0; s < plan->n_sequences; s++) {
        if (plan->sequence[s].n_tokens < question->n_bits) {
            fprintf(stderr,
                    "chunkproof show: --%s is about the last %d tokens of each sequence, but S%d "
                    "(%s) has %d; append %d more to it, or let it leave\n",
                    options->tree != NULL ? "tree" : "mask", question->n_bits, s,
                    show_sequence_name(world, s), plan->sequence[s].n_tokens,
                    question->n_bits - plan->sequence[s].n_tokens);
            return EXIT_BAD_USE;
        }
    }
    return EXIT_RIGHT;
}

/* The same with which keys each row sees, where that is asked. */
static int draw_keys(const struct show_options *options, struct show_svg *svg,
                     const struct show_view *view, const struct show_question *question) {
    struct show_view with = *view;
    struct show_keys keys;
    if (question->n_rows == 0) {
        return draw(options, svg, view, 1);
    }
    int status = check_lengths(options, view->world, question);
    if (status == EXIT_RIGHT) {
        status = show_keys_new(&keys, view->world->plan, question);
        with.keys = &keys;
        if (status == EXIT_RIGHT) {
            status = draw(options, svg, &with, 1);
        }
        show_keys_free(&keys);
    }
    return status;
}

/* The last drawing, with pages where they are asked for. */
static int draw_end(const struct show_options *options, struct show_svg *svg,
                    const struct show_view *view, const struct show_question *question) {
    struct show_view with = *view;
    struct show_pages pages;
    if (options->page_size == 0) {
        return draw_keys(options, svg, view, question);
    }
    show_pages_new(&pages, view->world->plan, options->page_size);
    with.pages = &pages;
    int status = draw_keys(options, svg, &with, question);
    show_pages_free(&pages);
    return status;
}

/* Applies the operations one after the other, drawing as asked for. When one fails, text ends with
 * what was right before it; a picture that would lack its end is not begun. */
static int play(const struct show_options *options, struct show_svg *svg, struct show_world *world,
                struct show_step *step, const struct show_question *question) {
    const struct show_script *script = world->script;
    struct show_view view = {
        world, title_of(options), options->width, options->ascii, options->steps, 0, step, NULL,
        NULL};
    for (int i = 0; i < script->n_operations; i++) {
        int status = show_world_apply(world, &script->operation[i], &step[i]);
        if (status != EXIT_RIGHT) {
            if (i > 0 && options->format == SHOW_TEXT) {
                draw(options, svg, &view, 1);
            }
            return status;
        }
        view.n_steps = i + 1;
        if (options->steps) {
            draw(options, svg, &view, 0);
        }
    }
    return draw_end(options, svg, &view, question);
}

static int show_script(const struct show_options *options, const struct show_script *script,
                       const struct show_question *question) {
    int chunk_size = choose(options->chunk_size, script->chunk_size, SHOW_DEFAULT_CHUNK_SIZE);
    int capacity = choose(options->capacity, script->capacity, SHOW_DEFAULT_CAPACITY);
    struct show_world world;
    struct show_svg svg;
    struct show_step *step = cli_allocate(NULL, (size_t)script->n_operations, sizeof *step);
    for (int i = 0; i < script->n_operations; i++) {
        step[i].title = NULL;
        step[i].effect = NULL;
    }
    show_svg_begin(&svg);
    int status = show_world_new(&world, script, chunk_size, capacity);
    if (status == EXIT_RIGHT) {
        status = play(options, &svg, &world, step, question);
    }
    int is_drawn = options->format == SHOW_SVG && status == EXIT_RIGHT;
    show_svg_end(&svg, is_drawn ? stdout : NULL, title_of(options));
    show_world_free(&world);
    for (int i = 0; i < script->n_operations; i++) {
        show_step_free(&step[i]);
    }
    free(step);
    return status;
}

/* What the options ask about keys: all zeros where they ask nothing. */
static int read_question(struct show_question *question, const struct show_options *options) {
    int status = EXIT_RIGHT;
    memset(question, 0, sizeof *question);
    if (options->tree != NULL) {
        status = show_question_from_tree(question, options->tree);
    } else if (options->mask != NULL) {
        status = show_question_from_mask(question, options->mask);
    } else if (show_options_ask(options)) {
        question->n_rows = options->rows > 0 ? options->rows : 1;
    }
    question->window = (struct cp_window){options->window, options->ahead, options->kept};
    question->has_sink = options->sinks;
    return status;
}

static int read_and_show(const struct show_options *options) {
    struct show_question question;
    struct show_script script;
    int status = read_question(&question, options);
    if (status == EXIT_RIGHT) {
        status = read_input(&script, options);
        if (status == EXIT_RIGHT) {
            status = show_script(options, &script, &question);
        }
        show_script_free(&script);
    }
    show_question_free(&question);
    return status;
}

int cp_command_show(int argc, char **argv) {
    struct show_options options;
    int status = EXIT_RIGHT;
    if (show_read_options(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        show_help(stdout);
    } else if (options.source) {
        fputs(show_example(options.example), stdout);
    } else {
        status = read_and_show(&options);
    }
    return output_end(stdout, "show") == 0 ? status : EXIT_BAD_USE;
}

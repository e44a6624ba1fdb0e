/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof show`: from the options to the drawings. */
#include "cli/show/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"
#include "cli/base/text.h"
#include "cli/show/options.h"

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

static void draw(const struct show_options *options, struct show_svg *svg,
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
    }
}

/* Applies the operations one after the other, drawing as asked for. When one fails, text ends with what
 * was right before it; a picture that would lack its end is not begun. */
static int play(const struct show_options *options, struct show_svg *svg, struct show_world *world,
                struct show_step *step) {
    const struct show_script *script = world->script;
    struct show_view view = {
        world, title_of(options), options->width, options->ascii, options->steps, 0, step};
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
    draw(options, svg, &view, 1);
    return EXIT_RIGHT;
}

static int show_script(const struct show_options *options, const struct show_script *script) {
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
        status = play(options, &svg, &world, step);
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

int cp_command_show(int argc, char **argv) {
    struct show_options options;
    struct show_script script;
    int status = EXIT_RIGHT;
    if (show_read_options(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        show_help(stdout);
    } else if (options.source) {
        fputs(show_example(options.example), stdout);
    } else {
        status = read_input(&script, &options);
        if (status == EXIT_RIGHT) {
            status = show_script(&options, &script);
        }
        show_script_free(&script);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "chunkproof show: cannot write the drawing: %s\n", strerror(errno));
        return EXIT_BAD_USE;
    }
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* isatty */
/* `chunkproof model`: maps a model, reads a text, and runs the model on it. */
#include "cli/base/command.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/output.h"
#include "cli/base/text.h"
#include "cli/model/options.h"
#include "cli/model/run.h"
#include "cli/model/tokenizer.h"

#define MOST_TEXT INT_MAX /* bytes, and so tokens */

static int refuse(const char *name, const char *why) {
    fprintf(stderr, "chunkproof model: %s: %s\n", name, why);
    return -1;
}

/* The whole file; the caller frees *text. */
static int read_text(const char *name, char **text, size_t *size) {
    int is_input = strcmp(name, "-") == 0;
    FILE *file = is_input ? stdin : fopen(name, "rb");
    size_t room = 1 << 16;
    if (file == NULL) {
        return refuse(name, strerror(errno));
    }
    *text = cli_allocate(NULL, room, 1);
    *size = 0;
    for (size_t n; (n = fread(*text + *size, 1, room - *size, file)) > 0;) {
        *size += n;
        if (*size == room) {
            room *= 2;
            *text = cli_allocate(*text, room, 1);
        }
    }
    int failed = ferror(file) != 0;
    if (!is_input) {
        (void)fclose(file);
    }
    if (failed || *size > MOST_TEXT) {
        free(*text);
        return refuse(name, failed ? "it cannot be read" : "it is longer than 2 GiB; take a part");
    }
    return 0;
}

static void describe(const struct model_options *o, const struct weights *w) {
    const struct cp_decoder_shape *s = &w->decoder.shape;
    printf("%s: %zu bytes, checksum right\n", o->file, w->size);
    printf("layers %d, width %d, network %d, query heads %d, K/V heads %d, head dimension %d\n",
           s->n_layers, s->d_model, s->d_hidden, s->n_heads, s->n_kv_heads, s->d_head);
    printf("rotary pairs %d, distance %d; output %s; context %d; rounded weights %llu\n",
           s->n_pairs, s->pair_distance, w->decoder.output == NULL ? "tied to embedding" : "apart",
           w->context, w->rounded);
    printf("tokens %d, merges %d\n", w->tokens.n, w->tokens.n_merges);
}

static void print_tokens(const struct token_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        printf("%d\n", list->token[i]);
    }
}

static int score(const struct model_options *o, const struct weights *w,
                 const struct token_list *list) {
    struct output output = {0};
    struct run_score result;
    if (o->logits_file != NULL && output_open(&output, o->logits_file) != 0) {
        return refuse(o->logits_file, strerror(errno));
    }
    const struct run_text text = {.weights = w,
                                  .token = list->token,
                                  .n_tokens = (int)list->n,
                                  .window = o->window < (int)list->n ? o->window : (int)list->n,
                                  .threads = o->threads,
                                  .is_fast = o->is_fast,
                                  .logits = output.file};
    if (run_score(&text, &result) != 0) {
        if (o->logits_file != NULL) {
            output_drop(&output);
        }
        return -1;
    }
    if (o->logits_file != NULL && output_keep(&output) != 0) {
        return refuse(o->logits_file, "the logits could not be written");
    }
    printf("tokens %zu, windows of %d, predicted %d\n", list->n, o->window, result.n);
    printf("perplexity %.9g\n", exp(-result.log_sum / result.n));
    printf("best token right %d\n", result.n_best);
    return 0;
}

/* A token as it is; on a terminal without bytes that would steer it, as a model may write any. */
static int print_token(void *context, int token) {
    size_t n;
    const char *bytes = tokenizer_bytes(context, token, &n);
    int terminal = isatty(STDOUT_FILENO);
    for (size_t i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        int steers = (byte < 32 && byte != '\n' && byte != '\t') || byte == 127;
        putchar(terminal && steers ? '?' : byte);
    }
    return fflush(stdout) == 0 ? 0 : -1;
}

static int generate(const struct model_options *o, struct weights *w,
                    const struct token_list *list) {
    const struct weights_name name = {"model", o->text_file};
    int n = (int)list->n, n_more = run_most(&name, w, n, o->generate);
    if (run_generate(w, list->token, n, n_more, o->is_fast ? o->threads : 0, print_token,
                     &w->tokens) != 0) {
        return -1;
    }
    putchar('\n');
    return 0;
}

/* The text's tokens, with the token that a prompt begins with where the model asks for one. */
static int get_tokens(const struct model_options *o, const struct weights *w,
                      struct token_list *list) {
    struct tokenizer tokenizer;
    char *text = NULL;
    size_t size = 0;
    const struct weights_name name = {"model", o->file};
    if (tokenizer_new(&tokenizer, &name, &w->tokens) != 0) {
        return -1;
    }
    if (read_text(o->text_file, &text, &size) != 0) {
        tokenizer_free(&tokenizer);
        return -1;
    }
    if (w->tokens.add_begin) {
        token_list_add(list, (int)w->tokens.begin);
    }
    tokenizer_encode(&tokenizer, text, size, o->special, list);
    if (list->lost > 0) {
        fprintf(stderr, "chunkproof model: %s: %zu bytes have no token and are left out\n",
                o->text_file, list->lost);
    }
    if (o->limit > 0 && list->n > (size_t)o->limit) {
        list->n = (size_t)o->limit;
    }
    free(text);
    tokenizer_free(&tokenizer);
    return 0;
}

static int run(const struct model_options *o, struct weights *w) {
    struct token_list list = {0};
    size_t fewest = o->tokens ? 0 : o->generate > 0 ? 1 : 2;
    int result;
    if (o->text_file == NULL) {
        describe(o, w);
        return 0;
    }
    if (get_tokens(o, w, &list) != 0) {
        return -1;
    }
    if (list.n < fewest || list.n > INT_MAX - MODEL_MOST_TOKENS) {
        result = refuse(o->text_file, list.n < fewest ? "too short: nothing follows a first token"
                                                      : "too long; take a part of it");
    } else if (o->tokens) {
        print_tokens(&list);
        result = 0;
    } else {
        result = o->generate > 0 ? generate(o, w, &list) : score(o, w, &list);
    }
    token_list_free(&list);
    return result;
}

int cp_command_model(int argc, char **argv) {
    struct model_options options;
    struct weights weights;
    if (model_options_parse(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        model_options_help(stdout);
    } else {
        const struct weights_name name = {"model", options.file};
        if (weights_open(&weights, &name) != 0) {
            return EXIT_BAD_USE;
        }
        int result = run(&options, &weights);
        weights_close(&weights);
        if (result != 0) {
            return EXIT_BAD_USE;
        }
    }
    return output_end(stdout, "model") == 0 ? EXIT_RIGHT : EXIT_BAD_USE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From the input language to a list of operations. Names of sequences are looked up only when an
 * operation is applied: a script is read whole before anything is drawn. */
#define _POSIX_C_SOURCE 200809L /* strdup */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/base/command.h"
#include "cli/base/text.h"
#include "cli/show/show.h"

#define BLANKS " \t\v\f\r\n"

/* ---- Words ---- */

/* Splits the text in place and adds its words to the script; returns how many. */
static int add_words(struct show_script *script, char *text) {
    int n = 0;
    char *at = text + strspn(text, BLANKS);
    while (*at != '\0') {
        char *end = at + strcspn(at, BLANKS);
        char *next = end + strspn(end, BLANKS);
        *end = '\0';
        /* Room grows to the next power of two whenever it is full. */
        if ((script->n_words & (script->n_words - 1)) == 0) {
            size_t room = script->n_words > 0 ? (size_t)script->n_words * 2 : 1;
            script->word = cli_allocate(script->word, room, sizeof *script->word);
        }
        script->word[script->n_words++] = at;
        n++;
        at = next;
    }
    return n;
}

static struct show_operation *add_operation(struct show_script *script, enum show_kind kind,
                                            struct show_place place) {
    if ((script->n_operations & (script->n_operations - 1)) == 0) {
        size_t room = script->n_operations > 0 ? (size_t)script->n_operations * 2 : 1;
        script->operation = cli_allocate(script->operation, room, sizeof *script->operation);
    }
    struct show_operation *operation = &script->operation[script->n_operations++];
    operation->kind = kind;
    operation->place = place;
    operation->name = NULL;
    operation->other = NULL;
    operation->first_word = script->n_words;
    operation->n_words = 0;
    return operation;
}

/* ---- One line each ---- */

/* join NAME: words; join NAME in TENANT: words. */
static int parse_join(struct show_script *script, struct show_place place, char *rest) {
    char *colon = strchr(rest, ':');
    if (colon == NULL) {
        return show_error(place, "no colon between name and prompt; write: join NAME: word ...");
    }
    *colon = '\0';
    int first = script->n_words;
    int n = add_words(script, rest);
    if (n != 1 && !(n == 3 && strcasecmp(script->word[first + 1], "in") == 0)) {
        return show_error(place, "write: join NAME: word ... or: join NAME in TENANT: word ...");
    }
    struct show_operation *operation = add_operation(script, SHOW_JOIN, place);
    operation->name = script->word[first];
    operation->other = n == 3 ? script->word[first + 2] : NULL;
    operation->n_words = add_words(script, colon + 1);
    return EXIT_RIGHT;
}

/* append NAME word ...: each word is an operation, a decoding iteration of that sequence alone. */
static int parse_append(struct show_script *script, struct show_place place, char *rest) {
    int first = script->n_words;
    int n = add_words(script, rest);
    if (n < 2) {
        return show_error(place, "a name or a word is missing; write: append NAME word ...");
    }
    for (int i = 1; i < n; i++) {
        struct show_operation *operation = add_operation(script, SHOW_APPEND, place);
        operation->name = script->word[first];
        operation->first_word = first + i;
        operation->n_words = 1;
    }
    return EXIT_RIGHT;
}

static int parse_append_all(struct show_script *script, struct show_place place, char *rest) {
    struct show_operation *operation = add_operation(script, SHOW_APPEND_ALL, place);
    operation->n_words = add_words(script, rest);
    if (operation->n_words == 0) {
        return show_error(place, "no word; write: append-all word ..., one word for each sequence "
                                 "or one for all");
    }
    return EXIT_RIGHT;
}

static int parse_leave(struct show_script *script, struct show_place place, char *rest) {
    int first = script->n_words;
    if (add_words(script, rest) != 1) {
        return show_error(place, "one name is needed; write: leave NAME");
    }
    add_operation(script, SHOW_LEAVE, place)->name = script->word[first];
    return EXIT_RIGHT;
}

static int parse_fork(struct show_script *script, struct show_place place, char *rest) {
    int first = script->n_words;
    int n = add_words(script, rest);
    if (n != 3 || strcasecmp(script->word[first + 1], "as") != 0) {
        return show_error(place, "two names are needed; write: fork NAME as NEWNAME");
    }
    if (strchr(script->word[first + 2], ':') != NULL) {
        return show_error(place, "a name cannot have a colon: %s", script->word[first + 2]);
    }
    struct show_operation *operation = add_operation(script, SHOW_FORK, place);
    operation->name = script->word[first];
    operation->other = script->word[first + 2];
    return EXIT_RIGHT;
}

static int parse_size(struct show_script *script, struct show_place place, char *rest, int *value,
                      int largest) {
    int first = script->n_words;
    char *end = NULL;
    long number = 0;
    if (script->n_operations > 0) {
        return show_error(place, "a size must come before the first operation");
    }
    if (add_words(script, rest) == 1) {
        number = strtol(script->word[first], &end, 10);
    }
    if (end == NULL || *end != '\0' || number < 1 || number > largest) {
        return show_error(place, "one number from 1 to %d is needed", largest);
    }
    *value = (int)number;
    return EXIT_RIGHT;
}

static int parse_chunk_size(struct show_script *script, struct show_place place, char *rest) {
    return parse_size(script, place, rest, &script->chunk_size, SHOW_MAX_CHUNK_SIZE);
}

static int parse_capacity(struct show_script *script, struct show_place place, char *rest) {
    return parse_size(script, place, rest, &script->capacity, SHOW_MAX_CHUNKS);
}

static int parse_line(struct show_script *script, struct show_place place, char *line) {
    static const struct {
        const char *name;
        int (*parse)(struct show_script *script, struct show_place place, char *rest);
    } verbs[] = {
        {"join", parse_join},         {"append", parse_append}, {"append-all", parse_append_all},
        {"leave", parse_leave},       {"fork", parse_fork},     {"chunk-size", parse_chunk_size},
        {"capacity", parse_capacity},
    };
    char *verb = line + strspn(line, BLANKS);
    size_t length = strcspn(verb, BLANKS);
    if (!text_is_plain(line)) {
        return show_error(place, "not UTF-8 text, or a control character in it");
    }
    if (length == 0 || verb[0] == '#') {
        return EXIT_RIGHT;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strlen(verbs[i].name) == length && strncmp(verbs[i].name, verb, length) == 0) {
            return verbs[i].parse(script, place, verb + length);
        }
    }
    return show_error(place,
                      "unknown operation '%.*s'; there are join, append, append-all, leave, fork, "
                      "chunk-size, capacity",
                      (int)(length < 40 ? length : 40), verb);
}

/* ---- Whole scripts ---- */

static void empty_script(struct show_script *script) {
    memset(script, 0, sizeof *script);
}

int show_script_from_prompts(struct show_script *script, int n, char **prompt) {
    size_t size;
    int status = EXIT_RIGHT;
    empty_script(script);
    FILE *copy = text_open(&script->text, &size);
    for (int i = 0; i < n; i++) {
        fprintf(copy, "p%d%c%s%c", i + 1, '\0', prompt[i], '\0');
    }
    text_close(copy);
    char *at = script->text;
    for (int i = 0; i < n && status == EXIT_RIGHT; i++) {
        struct show_place place = {NULL, i + 1};
        struct show_operation *operation = add_operation(script, SHOW_JOIN, place);
        operation->name = at;
        at += strlen(at) + 1;
        char *next = at + strlen(at) + 1;
        if (!text_is_plain(at)) {
            status = show_error(place, "not UTF-8 text, or a control character in it");
        } else {
            operation->n_words = add_words(script, at);
        }
        at = next;
    }
    return status;
}

int show_script_from_text(struct show_script *script, const char *file, const char *text) {
    int status = EXIT_RIGHT;
    empty_script(script);
    size_t size = strlen(text) + 1;
    script->text = cli_allocate(NULL, size, 1);
    memcpy(script->text, text, size);
    char *line = script->text;
    for (int number = 1; *line != '\0' && status == EXIT_RIGHT; number++) {
        struct show_place place = {file, number};
        char *end = line + strcspn(line, "\n");
        char *next = *end == '\n' ? end + 1 : end;
        *end = '\0';
        status = parse_line(script, place, line);
        line = next;
    }
    return status;
}

/* Everything of the stream, with a NUL behind it; NULL after printing why not. */
static char *read_all(FILE *in, const char *file) {
    char *text = cli_allocate(NULL, SHOW_MAX_SCRIPT_BYTES + 1, 1);
    size_t size = fread(text, 1, SHOW_MAX_SCRIPT_BYTES + 1, in);
    const char *why = NULL;
    if (ferror(in)) {
        why = strerror(errno);
    } else if (size > SHOW_MAX_SCRIPT_BYTES) {
        why = "more than 1 MiB";
    } else if (memchr(text, '\0', size) != NULL) {
        why = "not text: a byte in it is 0";
    } else {
        text[size] = '\0';
        return text;
    }
    fprintf(stderr, "chunkproof show: %s: %s\n", file, why);
    free(text);
    return NULL;
}

int show_script_from_file(struct show_script *script, const char *path) {
    int is_standard = strcmp(path, "-") == 0;
    const char *file = is_standard ? "<stdin>" : path;
    FILE *in = is_standard ? stdin : fopen(path, "r");
    empty_script(script);
    if (in == NULL) {
        fprintf(stderr, "chunkproof show: %s: %s\n", path, strerror(errno));
        return EXIT_BAD_USE;
    }
    char *text = read_all(in, file);
    if (!is_standard) {
        fclose(in);
    }
    if (text == NULL) {
        return EXIT_BAD_USE;
    }
    int status = show_script_from_text(script, file, text);
    free(text);
    return status;
}

void show_script_free(struct show_script *script) {
    free(script->operation);
    free(script->word);
    free(script->text);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/source/cuda_source.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES  ((size_t)16 << 20) /* of a source */
#define MOST_CONFIG 4                  /* grid, block, bytes, stream */

/* A piece of the text. */
struct piece {
    const char *at;
    size_t length;
};

struct writing {
    const char *file; /* for messages */
    const char *text; /* all of it, */
    const char *at;   /* and what comes next */
    char *out;        /* what is written so far */
    size_t n, room;
    int depth; /* of braces */
    int failed;
};

/* ---- Output ---- */

static void put(struct writing *w, const char *text, size_t length) {
    if (w->n + length > w->room) {
        size_t room = 2 * (w->room + length);
        char *more = realloc(w->out, room);
        if (more == NULL) {
            w->failed = 1;
            return;
        }
        w->out = more;
        w->room = room;
    }
    memcpy(w->out + w->n, text, length);
    w->n += length;
}

static void put_text(struct writing *w, const char *text) {
    put(w, text, strlen(text));
}

/* The ends of lines there, so that all behind it stays in its line; in a macro's definition, too. */
static void put_lines_of(struct writing *w, const char *from, const char *to) {
    for (const char *at = from; at < to; at++) {
        if (*at == '\n') {
            put_text(w, at > from && at[-1] == '\\' ? "\\\n" : "\n");
        }
    }
}

__attribute__((format(printf, 2, 3))) static void refuse(struct writing *w, const char *format,
                                                         ...) {
    int line = 1;
    va_list arguments;
    if (w->failed) {
        return;
    }
    for (const char *at = w->text; at < w->at; at++) {
        line += *at == '\n';
    }
    fprintf(stderr, "chunkproof: %s:%d: ", w->file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n", stderr);
    w->failed = 1;
}

/* ---- Reading ---- */

static int in_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind a comment, a string or a character that begins here; `at` when none does. */
static const char *skip_dead(const char *at) {
    if (at[0] == '/' && at[1] == '/') {
        return at + strcspn(at, "\n");
    }
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end != NULL ? end + 2 : at + strlen(at);
    }
    if (at[0] != '"' && at[0] != '\'') {
        return at;
    }
    const char *end = at + 1;
    while (*end != '\0' && *end != at[0] && *end != '\n') {
        end += end[0] == '\\' && end[1] != '\0' ? 2 : 1;
    }
    return *end == at[0] ? end + 1 : end;
}

static const char *skip_space(const char *at) {
    for (;;) {
        const char *next = at + strspn(at, " \t\r\n\v\f\\");
        if (next[0] == '/') {
            next = skip_dead(next);
        }
        if (next == at) {
            return at;
        }
        at = next;
    }
}

static size_t name_length(const char *at) {
    size_t length = 0;
    while (in_name(at[length])) {
        length++;
    }
    return length;
}

static int is_word(const char *at, size_t length, const char *word) {
    return length == strlen(word) && strncmp(at, word, length) == 0;
}

/* The first of the characters `ends` outside of any bracket, comment or string; the end of the text if there is none.
 * Angle brackets count with `angles`. */
static const char *find_end(const char *at, const char *ends, int angles) {
    int depth = 0;
    while (*at != '\0') {
        const char *behind = skip_dead(at);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (depth == 0 && strchr(ends, *at) != NULL) {
            return at;
        }
        depth += strchr("([{", *at) != NULL || (angles && *at == '<');
        depth -= strchr(")]}", *at) != NULL || (angles && *at == '>');
        at++;
    }
    return at;
}

static struct piece trimmed(const char *from, const char *to) {
    while (from < to && isspace((unsigned char)*from)) {
        from++;
    }
    while (from < to && isspace((unsigned char)to[-1])) {
        to--;
    }
    return (struct piece){from, (size_t)(to - from)};
}

/* In one line, without comments: put_lines_of() is for its lines. */
static void put_piece(struct writing *w, struct piece piece) {
    const char *at = piece.at, *end = at + piece.length;
    while (at < end) {
        const char *behind = skip_dead(at);
        int is_space = *at == '\n' || (at[0] == '\\' && at[1] == '\n');
        if (behind == at) {
            behind = at + 1 + (is_space && *at == '\\');
        }
        if (is_space || *at == '/') {
            put(w, behind == at + 1 && *at == '/' ? "/" : " ", 1);
        } else {
            put(w, at, (size_t)(behind - at));
        }
        at = behind;
    }
}

/* ---- Shared memory ---- */

/* Behind alignas(...) or __align__(...), if that begins here: shared arrays begin at multiples of 128 bytes. */
static const char *skip_alignment(const char *at) {
    size_t length = name_length(at);
    if (is_word(at, length, "alignas") || is_word(at, length, "__align__")) {
        const char *open = skip_space(at + length);
        if (*open == '(') {
            const char *close = find_end(open + 1, ")", 0);
            return skip_space(close + (*close == ')'));
        }
    }
    return at;
}

/* Do storage classes begin here that end in __shared__? Then where that ends, and whether one of them is extern. */
static const char *find_shared(const char *at, int *is_extern) {
    *is_extern = 0;
    for (;;) {
        const char *next = skip_alignment(at);
        size_t length = name_length(next);
        if (is_word(next, length, "__shared__")) {
            return next + length;
        }
        if (is_word(next, length, "extern")) {
            *is_extern = 1;
        } else if (!is_word(next, length, "static") && next == at) {
            return NULL;
        }
        at = skip_space(next + length);
    }
}

/* One of `name[2][64]`, which ends before `end`. */
static void put_shared(struct writing *w, struct piece type, const char *from, const char *end,
                       int is_extern) {
    const char *bracket = find_end(from, "[", 0);
    const char *name_end = bracket < end ? bracket : end;
    struct piece name = trimmed(from, name_end), dimensions = trimmed(name_end, end);
    put_text(w, is_extern ? "SIMT_SHARED_DYNAMIC(" : "SIMT_SHARED(");
    put_piece(w, type);
    put_text(w, ", ");
    put_piece(w, name);
    if (!is_extern) {
        put_text(w, ", ");
        put_piece(w, dimensions);
    }
    put_text(w, "); ");
}

/* The last name before an array's bracket, a comma or the end: what is declared. */
static const char *find_declared(const char *from, const char *end) {
    const char *at = find_end(from, "[,;=", 1);
    at = at < end ? at : end;
    while (at > from && !in_name(at[-1])) {
        at--;
    }
    while (at > from && in_name(at[-1])) {
        at--;
    }
    return at;
}

static void translate_shared(struct writing *w, const char *declaration, int is_extern) {
    const char *from = skip_alignment(skip_space(declaration));
    const char *end = find_end(from, ";", 0), *name = find_declared(from, end);
    struct piece type = trimmed(from, name);
    char alias[64] = "";
    if (*end != ';' || type.length == 0) {
        refuse(w, "__shared__: a type, names and ';' are expected after it");
        return;
    }
    if (w->depth == 0) {
        refuse(w, "__shared__ outside of a function: move it into the kernel");
        return;
    }
    if (memchr(type.at, ',', type.length) != NULL) { /* a macro's argument has none */
        (void)snprintf(alias, sizeof alias, "simt_type_%zu", w->n);
        put_text(w, "using ");
        put_text(w, alias);
        put_text(w, " = ");
        put_piece(w, type);
        put_text(w, "; ");
        type = (struct piece){alias, strlen(alias)};
    }
    while (name < end) {
        const char *comma = find_end(name, ",;", 0);
        put_shared(w, type, name, comma, is_extern);
        name = *comma == ',' ? skip_space(comma + 1) : end;
    }
    put_lines_of(w, w->at, end);
    w->at = end + 1;
}

/* ---- Launches ---- */

/* Where the name of the kernel begins that ends what is written: `space::kernel`, `kernel<float, 64>`. */
static size_t find_kernel(const struct writing *w) {
    size_t at = w->n;
    while (at > 0 && isspace((unsigned char)w->out[at - 1])) {
        at--;
    }
    if (at > 0 && w->out[at - 1] == '>') {
        int depth = 0;
        do {
            at--;
            depth += w->out[at] == '>';
            depth -= w->out[at] == '<';
        } while (at > 0 && depth > 0);
    }
    while (at > 0 && (in_name(w->out[at - 1]) || w->out[at - 1] == ':')) {
        at--;
    }
    return at;
}

/* The arguments between <<< and >>>; returns how many, and where >>> is. */
static int split_config(const char *at, struct piece config[MOST_CONFIG], const char **end) {
    int n = 0;
    for (;;) {
        const char *from = at;
        do {
            at = find_end(at, ",>", 0);
            at += *at == '>' && strncmp(at, ">>>", 3) != 0;
        } while (*at != '\0' && *at != ',' && strncmp(at, ">>>", 3) != 0);
        if (*at == '\0' || n == MOST_CONFIG) {
            return 0;
        }
        config[n++] = trimmed(from, at);
        if (*at == '>') {
            *end = at;
            return n;
        }
        at++;
    }
}

static void translate_launch(struct writing *w) {
    struct piece config[MOST_CONFIG];
    const char *end = w->at;
    int n = split_config(w->at + 3, config, &end);
    const char *open = n > 0 ? skip_space(end + 3) : end;
    size_t begin = find_kernel(w);
    if (n < 2 || *open != '(' || begin == w->n) {
        refuse(w, "a launch is kernel<<<grid, block, bytes, stream>>>(arguments)");
        return;
    }
    size_t length = w->n - begin;
    char *kernel = malloc(length + 1);
    if (kernel == NULL) {
        refuse(w, "no memory");
        return;
    }
    memcpy(kernel, w->out + begin, length);
    w->n = begin;
    put_text(w, "simt::launch_plain(");
    put_piece(w, n > 3 ? config[3] : (struct piece){"nullptr", 7});
    for (int i = 0; i < 3; i++) {
        put_text(w, ", ");
        put_piece(w, i < n ? config[i] : (struct piece){"0", 1});
    }
    put_text(w, ", ");
    put(w, kernel, length);
    free(kernel);
    put_text(w, *skip_space(open + 1) == ')' ? "" : ", ");
    put_lines_of(w, w->at, open + 1);
    w->at = open + 1; /* the arguments follow as they are, with their bracket */
}

/* ---- All of it ---- */

/* Copies or translates what is next. */
static void step(struct writing *w) {
    const char *behind = skip_dead(w->at);
    int is_extern = 0;
    if (behind != w->at) {
        put(w, w->at, (size_t)(behind - w->at));
        w->at = behind;
        return;
    }
    if (in_name(*w->at)) {
        const char *declaration = find_shared(w->at, &is_extern);
        if (declaration != NULL) {
            translate_shared(w, declaration, is_extern);
            return;
        }
        put(w, w->at, name_length(w->at));
        w->at += name_length(w->at);
        return;
    }
    if (strncmp(w->at, "<<<", 3) == 0) {
        translate_launch(w);
        return;
    }
    w->depth += *w->at == '{';
    w->depth -= *w->at == '}';
    put(w, w->at++, 1);
}

/* The whole file with a zero behind it; NULL after saying what is wrong. */
static char *read_file(const char *name) {
    FILE *file = fopen(name, "rb");
    char *text = malloc(MOST_BYTES + 1);
    size_t n = file != NULL && text != NULL ? fread(text, 1, MOST_BYTES, file) : 0;
    int good = file != NULL && text != NULL && !ferror(file) && n < MOST_BYTES;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!good) {
        fprintf(stderr, "chunkproof: %s: %s\n", name,
                n == MOST_BYTES ? "it has more than 16 MiB" : "it cannot be read");
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

static int write_file(const char *name, const char *source, const struct writing *w) {
    FILE *file = fopen(name, "wb");
    int good = file != NULL;
    if (good) {
        good = fprintf(file, "#include \"kernels/simt/as_cuda/cuda_runtime.h\"\n#line 1 \"%s\"\n",
                       source) > 0 &&
               fwrite(w->out, 1, w->n, file) == w->n;
        good = fclose(file) == 0 && good;
    }
    if (!good) {
        fprintf(stderr, "chunkproof: %s: %s\n", name, strerror(errno));
    }
    return good ? 0 : -1;
}

int gate_cuda_source(const char *from, const char *to) {
    char *text = read_file(from);
    struct writing w = {.file = from, .text = text, .at = text, .room = 4096};
    w.out = malloc(w.room);
    w.failed = text == NULL || w.out == NULL;
    while (!w.failed && *w.at != '\0') {
        step(&w);
    }
    int result = w.failed ? -1 : write_file(to, from, &w);
    free(w.out);
    free(text);
    return result;
}

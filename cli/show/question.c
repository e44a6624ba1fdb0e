/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked about keys, as the user writes it: parents of a tree of tokens, marks of a mask. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/argument.h"
#include "cli/base/command.h"
#include "cli/base/text.h"
#include "cli/show/show.h"

void show_question_free(struct show_question *question) {
    free(question->is_left);
    free(question->parent);
}

/* ---- A tree of tokens ---- */

static int refuse_parents(const char *text) {
    argument_refuse("show",
                    "--tree: '%.40s' is no list of parents; give those of node 1, of node 2, and "
                    "so on, as 0,0,1,2: node 0 has none",
                    text);
    return EXIT_BAD_USE;
}

/* Reads the parents of nodes 1, 2, ...; sets n_rows to the number of nodes. */
static int read_parents(struct show_question *question, const char *parents) {
    const char *at = parents;
    question->n_rows = 1;
    question->parent[0] = -1;
    for (;;) {
        char *end;
        int node = question->n_rows;
        long long parent = strtoll(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0') || *at == ' ' || *at == '+') {
            return refuse_parents(parents);
        }
        if (node == SHOW_MAX_ROWS) {
            argument_refuse("show", "--tree: more than %d nodes; leave some out", SHOW_MAX_ROWS);
            return EXIT_BAD_USE;
        }
        if (parent < 0 || parent >= node) {
            argument_refuse("show",
                            "--tree: node %d has the parent %.*s; a parent comes before its "
                            "children, so give %s%d",
                            node, (int)(end - at), at,
                            node == 1   ? ""
                            : node == 2 ? "0 or "
                                        : "a number from 0 to ",
                            node - 1);
            return EXIT_BAD_USE;
        }
        question->parent[node] = (int)parent;
        question->n_rows++;
        if (*end == '\0') {
            return EXIT_RIGHT;
        }
        at = end + 1;
    }
}

/* A row sees its own node and what its parent's sees. For parents 0, 0, 1, row 3 has 1 1 0 1. */
int show_question_from_tree(struct show_question *question, const char *parents) {
    question->parent = cli_allocate(NULL, SHOW_MAX_ROWS, sizeof *question->parent);
    int status = read_parents(question, parents);
    if (status != EXIT_RIGHT) {
        return status;
    }
    size_t n = (size_t)question->n_rows;
    question->n_bits = question->n_rows;
    question->is_left = cli_allocate(NULL, n * n, 1);
    memset(question->is_left, 0, n * n);
    for (size_t i = 0; i < n; i++) {
        for (int j = (int)i; j >= 0; j = question->parent[j]) {
            question->is_left[i * n + (size_t)j] = 1;
        }
    }
    return EXIT_RIGHT;
}

/* ---- A file of marks ---- */

struct marks {
    struct show_question *question;
    struct show_place place;
    int n; /* marks of the line so far */
    int is_comment;
};

static int add_mark(struct marks *marks, int c) {
    struct show_question *question = marks->question;
    if (c == '\0' || strchr("1x0.", c) == NULL) {
        if (c < ' ' || c > '~') {
            return show_error(marks->place,
                              "byte %d is no mark; write 1 or x where the row sees a "
                              "key, 0 or . where the mask takes it away",
                              c);
        }
        return show_error(marks->place,
                          "'%c' is no mark; write 1 or x where the row sees a key, 0 "
                          "or . where the mask takes it away",
                          c);
    }
    if (marks->n == SHOW_MAX_BITS || question->n_rows == SHOW_MAX_ROWS) {
        return show_error(marks->place,
                          "more than %d rows or than %d marks in a row; leave some out",
                          SHOW_MAX_ROWS, SHOW_MAX_BITS);
    }
    question->is_left[question->n_rows * SHOW_MAX_BITS + marks->n++] = c == '1' || c == 'x';
    return EXIT_RIGHT;
}

static int end_line(struct marks *marks) {
    struct show_question *question = marks->question;
    if (marks->n > 0) {
        if (question->n_rows > 0 && marks->n != question->n_bits) {
            return show_error(marks->place,
                              "%d mark%s, but the rows before it have %d; give each row as many",
                              marks->n, marks->n == 1 ? "" : "s", question->n_bits);
        }
        question->n_bits = marks->n;
        question->n_rows++;
    }
    marks->n = 0;
    marks->is_comment = 0;
    marks->place.line++;
    return EXIT_RIGHT;
}

static int read_marks(struct marks *marks, FILE *in) {
    int status = EXIT_RIGHT;
    for (int c = fgetc(in); c != EOF && status == EXIT_RIGHT; c = fgetc(in)) {
        if (c == '\n') {
            status = end_line(marks);
        } else if (c == '#') {
            marks->is_comment = 1;
        } else if (!marks->is_comment && c != ' ' && c != '\t' && c != '\r') {
            status = add_mark(marks, c);
        }
    }
    return status == EXIT_RIGHT ? end_line(marks) : status;
}

/* Rows of SHOW_MAX_BITS bits become rows of n_bits. */
static void close_up(struct show_question *question) {
    for (int row = 1; row < question->n_rows; row++) {
        memmove(question->is_left + (size_t)row * (size_t)question->n_bits,
                question->is_left + (size_t)row * SHOW_MAX_BITS, (size_t)question->n_bits);
    }
}

int show_question_from_mask(struct show_question *question, const char *path) {
    int is_standard = strcmp(path, "-") == 0;
    const char *file = is_standard ? "<stdin>" : path;
    struct marks marks = {question, {file, 1}, 0, 0};
    FILE *in = is_standard ? stdin : fopen(path, "r");
    if (in == NULL) {
        fprintf(stderr, "chunkproof show: %s: %s\n", file, strerror(errno));
        return EXIT_BAD_USE;
    }
    question->is_left = cli_allocate(NULL, (size_t)SHOW_MAX_ROWS * SHOW_MAX_BITS, 1);
    int status = read_marks(&marks, in);
    if (ferror(in)) {
        fprintf(stderr, "chunkproof show: %s: %s\n", file, strerror(errno));
        status = EXIT_BAD_USE;
    } else if (status == EXIT_RIGHT && question->n_rows == 0) {
        fprintf(stderr,
                "chunkproof show: %s: no row; write a line for each of the last rows, with 1 or x "
                "where it sees a key and 0 or . where not\n",
                file);
        status = EXIT_BAD_USE;
    }
    if (!is_standard) {
        fclose(in);
    }
    close_up(question);
    return status;
}

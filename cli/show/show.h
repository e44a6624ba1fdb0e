/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof show`: draws a small forest, its plan and the two phases.
 *
 * Files of this directory: a script (script.c) is a list of operations; a world (world.c) is the
 * tree and the plan that they are applied to (apply.c), with the words behind the tokens; a view is
 * what is drawn of it, as text (text.c, tables.c), DOT (dot.c) or SVG (svg*.c), or written as JSON
 * (json.c). Which keys each row sees (keys.c) and pages of another size (pages.c) are drawn where
 * they are asked for. */
#ifndef CHUNKPROOF_CLI_SHOW_SHOW_H
#define CHUNKPROOF_CLI_SHOW_SHOW_H

#include <stdio.h>

#include "chunkproof/attention.h"
#include "chunkproof/plan.h"
#include "chunkproof/tree.h"

/* Limits: a larger drawing would not be readable. */
#define SHOW_MAX_CHUNK_SIZE   64
#define SHOW_MAX_CHUNKS       1024
#define SHOW_MAX_SCRIPT_BYTES (1 << 20)
#define SHOW_MAX_ROWS         64   /* of a sequence */
#define SHOW_MAX_BITS         1024 /* of a row of a mask */
#define SHOW_MAX_PAGE         256
#define SHOW_MAX_WINDOW       (1 << 22) /* and ahead, kept: as of the gate's calls (WINDOW-1) */

#define SHOW_DEFAULT_CHUNK_SIZE 4
#define SHOW_DEFAULT_CAPACITY   64
#define SHOW_DEFAULT_WIDTH      80

/* ---- Scripts ---- */

enum show_kind { SHOW_JOIN, SHOW_APPEND, SHOW_APPEND_ALL, SHOW_LEAVE, SHOW_FORK };

/* Where an operation was written; file NULL: it is prompt number `line` of the command line. */
struct show_place {
    const char *file;
    int line;
};

/* Prints "FILE:LINE: ..." to the standard error and returns EXIT_BAD_USE. */
int show_error(struct show_place place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct show_operation {
    enum show_kind kind;
    struct show_place place;
    const char *name;  /* of the sequence; NULL for append-all */
    const char *other; /* fork: the new name; join: the tenant, or NULL */
    int first_word;    /* words script->word[first_word .. first_word + n_words) */
    int n_words;
};

struct show_script {
    int chunk_size; /* 0: the script does not say */
    int capacity;   /* 0: the script does not say */
    int n_operations;
    struct show_operation *operation;
    int n_words;
    const char **word;
    char *text; /* what names and words point into */
};

/* Each returns an exit status, after a message unless it is EXIT_RIGHT. In any case the caller
 * gives the script to show_script_free(). */
int show_script_from_prompts(struct show_script *script, int n, char **prompt);
int show_script_from_text(struct show_script *script, const char *file, const char *text);
int show_script_from_file(struct show_script *script, const char *path);
void show_script_free(struct show_script *script);

/* The operation as a line of a script. The caller frees it. */
char *show_operation_title(const struct show_script *script,
                           const struct show_operation *operation);

/* The built-in script with this name, or NULL; and the names, "a, b, c". */
const char *show_example(const char *name);
const char *show_example_names(void);

/* ---- The world ---- */

/* Words and their tokens: word[t] is the word of token t. slot is a hash table of tokens. */
struct show_words {
    int n;
    const char **word;
    int n_slots;
    int *slot;
};

/* Room for `most` different words, which stay the caller's. */
void show_words_new(struct show_words *words, int most);
void show_words_free(struct show_words *words);
int show_words_token(struct show_words *words, const char *word);

struct show_world {
    const struct show_script *script;
    struct cp_tree *tree;
    struct cp_plan *plan;
    struct show_words words;
    int n_names;
    const char **name; /* by the id of a sequence */
    int n_tenants;
    const char **tenant; /* tenant k has salt k + 1; without a tenant the salt is 0 */
};

/* One operation that was applied. */
struct show_step {
    char *title;  /* the operation as it was asked for */
    char *effect; /* what it changed */
};

/* What sharing saves. */
struct show_figures {
    int chunks;       /* used */
    int tokens;       /* stored in them */
    int apart_chunks; /* if each sequence had chunks of its own */
    int apart_tokens;
};

/* Both return an exit status, after a message unless it is EXIT_RIGHT. In any case the caller gives
 * world and step to show_world_free() and show_step_free(). */
int show_world_new(struct show_world *world, const struct show_script *script, int chunk_size,
                   int capacity);
int show_world_apply(struct show_world *world, const struct show_operation *operation,
                     struct show_step *step);
void show_world_free(struct show_world *world);
void show_step_free(struct show_step *step);

const char *show_sequence_name(const struct show_world *world, int sequence);
const char *show_tenant_name(const struct show_world *world, int sequence); /* or NULL */
const char *show_token_word(const struct show_world *world, int chunk, int slot);
int show_find_sequence(const struct show_world *world, const char *name); /* or -1 */

/* The salt of a tenant, who may be new or NULL. */
unsigned long long show_salt(struct show_world *world, const char *tenant);

struct show_figures show_count(const struct cp_tree *tree);

/* The first sequence, from `from` on, that ends at this chunk; or -1. */
int show_ends_at(const struct cp_tree *tree, int chunk, int from);

/* The chunk above this one, or -1 for a root. */
int show_parent(const struct cp_tree *tree, int chunk);

/* ---- What is asked about keys ---- */

/* All zeros: nothing. The rows of each sequence stand at its last positions (PREFILL-1). */
struct show_question {
    int n_rows; /* of each sequence */
    struct cp_window window;
    int n_bits;             /* of each row, for the last so many tokens; 0: no mask (MASK-1) */
    unsigned char *is_left; /* [n_rows][n_bits] 1: the mask leaves the key; 0: it takes it away */
    int *parent;            /* [n_rows] of the nodes of a tree, -1 of node 0; NULL: no tree */
    int has_sink;           /* SCORE-3 */
};

/* Sets rows and mask: those of a tree of tokens, "0,0,1,2", the parents of the nodes 1 to 4; those
 * of a file, a line of marks for each row. Returns an exit status, after a message unless it is
 * EXIT_RIGHT. In any case the caller gives the question to show_question_free(). */
int show_question_from_tree(struct show_question *question, const char *parents);
int show_question_from_mask(struct show_question *question, const char *path);
void show_question_free(struct show_question *question);

/* ---- Views ---- */

struct show_view {
    const struct show_world *world;
    const char *title;
    int width; /* columns of text */
    int ascii;
    int in_steps; /* a drawing after each operation */
    int n_steps;  /* applied so far */
    const struct show_step *step;
    const struct show_keys *keys;   /* which keys each row sees (keys.h); NULL: not asked */
    const struct show_pages *pages; /* of their own size (pages.h); NULL: not asked */
};

void show_text_step(FILE *out, const struct show_view *view);
void show_text_end(FILE *out, const struct show_view *view);

/* The parts that the other formats use, too: sequences and plan; phases and memory. */
void show_tables_plan(FILE *out, const struct show_view *view);
void show_tables_phases(FILE *out, const struct show_view *view);

/* The plan in the papers' short form, "[C0,C1] x [0,2)  [C2] x [0,1)", wrapped. */
void show_plan_in_short(FILE *out, const struct show_view *view, int indent);

/* 0, or -1 when it cannot be written. */
int show_json(FILE *out, const struct show_view *view);

void show_dot(FILE *out, const struct show_view *view, int is_end);

/* An SVG document is drawn into memory, frame under frame, and printed when its size is known. */
struct show_svg {
    FILE *out;
    char *text;
    size_t size;
    int width;
    int height;
};

void show_svg_begin(struct show_svg *svg);
void show_svg_frame(struct show_svg *svg, const struct show_view *view, int is_end);
void show_svg_end(struct show_svg *svg, FILE *out, const char *title);

#endif

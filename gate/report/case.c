/* SPDX-License-Identifier: Apache-2.0 */
/* A case on the page: what was done to the tree, the tree as `chunkproof show` draws it, the plan;
 * prompts.c has cases with modules. */
#include <stdlib.h>
#include <string.h>

#include "chunkproof/plan.h"
#include "chunkproof/tree.h"
#include "cli/base/text.h"
#include "cli/show/svg.h"
#include "gate/report/html.h"

/* Larger ones show nothing to anybody. */
#define MOST_SEQUENCES 16
#define MOST_SLOTS     400
#define MOST_RANGES    40

/* ---- Operations ---- */

static void put_operation(struct markup *m, const struct gate_op *op) {
    markup_open(m, "li");
    if (op->kind == GATE_JOIN && op->tokens > 0) {
        markup_text(m, "join: the first %d tokens of sequence %d, then %d of its own", op->tokens,
                    op->sequence, op->own);
    } else if (op->kind == GATE_JOIN) {
        markup_text(m, "join: %d tokens of its own", op->own);
    } else if (op->kind == GATE_APPEND) {
        markup_text(m, "append: %d tokens to sequence %d", op->tokens, op->sequence);
    } else {
        markup_text(m, "%s: sequence %d", op->kind == GATE_LEAVE ? "leave" : "fork", op->sequence);
    }
    markup_close(m);
    markup_newline(m);
}

static void put_operations(struct markup *m, const struct gate_recipe *r) {
    markup_element(m, "p", "note",
                   "Operations, in order. Sequence numbers count the sequences in the tree at that "
                   "time, modulo their number; a shorter sequence has fewer tokens to share:");
    markup_open(m, "ol");
    for (int i = 0; i < r->n_ops; i++) {
        put_operation(m, &r->op[i]);
    }
    markup_close(m);
}

/* ---- The tree ---- */

/* Tokens are the numbers 1, 2, ..., and so are the ids of sequences; names are these numbers. */
struct numbers {
    char (*text)[16];
    const char **name;
};

static struct numbers numbers_new(int n) {
    struct numbers numbers;
    numbers.text = cli_allocate(NULL, (size_t)n, sizeof *numbers.text);
    numbers.name = cli_allocate(NULL, (size_t)n, sizeof *numbers.name);
    for (int i = 0; i < n; i++) {
        (void)snprintf(numbers.text[i], sizeof numbers.text[i], "%d", i);
        numbers.name[i] = numbers.text[i];
    }
    return numbers;
}

static void numbers_free(struct numbers *numbers) {
    free(numbers->text);
    free(numbers->name);
}

static int largest_token(const struct cp_tree *tree) {
    int largest = 0;
    for (int s = 0; s < tree->n_sequences; s++) {
        for (int i = 0; i < cp_tree_length(tree, s); i++) {
            int token = cp_tree_token(tree, s, i);
            largest = token > largest ? token : largest;
        }
    }
    return largest;
}

static int is_small(const struct cp_tree *tree) {
    struct show_figures figures = show_count(tree);
    return tree->n_sequences <= MOST_SEQUENCES && figures.chunks * tree->chunk_size <= MOST_SLOTS;
}

static void draw_tree(struct markup *m, struct cp_tree *tree) {
    int most = largest_token(tree) > GATE_MOST_OPS + 1 ? largest_token(tree) : GATE_MOST_OPS + 1;
    struct numbers numbers = numbers_new(most + 1);
    struct show_world world = {.tree = tree, .words = {.word = numbers.name}, .name = numbers.name};
    struct show_view view = {.world = &world};
    struct show_svg svg;
    show_svg_begin(&svg);
    show_svg_tree(&svg, &view);
    text_close(svg.out);
    markup_open(m, "div");
    markup_attribute(m, "class", "wide");
    markup_open(m, "svg");
    markup_attribute(m, "xmlns", "http://www.w3.org/2000/svg");
    markup_attribute(m, "class", "tree");
    markup_attribute(m, "role", "img");
    markup_attribute(m, "aria-label", "the tree of %d sequences", tree->n_sequences);
    markup_attribute(m, "width", "%d", svg.width + SVG_MARGIN);
    markup_attribute(m, "height", "%d", svg.height);
    markup_newline(m);
    markup_raw(m, svg.text); /* of numbers alone */
    markup_close(m);
    markup_close(m);
    markup_newline(m);
    free(svg.text);
    numbers_free(&numbers);
}

static void put_tree(struct markup *m, struct cp_tree *tree) {
    struct show_figures figures = show_count(tree);
    if (!is_small(tree)) {
        markup_element(m, "p", "note",
                       "The tree has %d sequences and %d tokens in %d chunks: too large to be "
                       "drawn. --save makes cases smaller.",
                       tree->n_sequences, figures.tokens, figures.chunks);
        return;
    }
    markup_element(m, "p", "note",
                   "The tree: a row for each sequence, a box for each chunk with its tokens. A box "
                   "spans the sequences that share the chunk (blue and thick: two or more).");
    draw_tree(m, tree);
}

/* ---- The plan ---- */

static void put_row(struct markup *m, const char *element, const char *a, const char *b,
                    const char *c, const char *d) {
    gate_html_row(m, element, (const char *[]){a, b, c, d}, 4);
}

static void put_more(struct markup *m, int more) {
    if (more > 0) {
        char text[40];
        (void)snprintf(text, sizeof text, "and %d more", more);
        put_row(m, "td", text, "", "", "");
    }
}

/* A chunk has one number in the call and another in the tree; the page shows both. */
static void put_shared(struct markup *m, const struct gate_problem *p, const struct cp_tree *tree) {
    gate_html_open_table(m, "The plan: shared chunks");
    put_row(m, "th", "chunk", "in the call", "sequences", "keys");
    for (int i = 0; i < p->n_shared && i < MOST_RANGES; i++) {
        const struct cp_shared_chunk *shared = &p->shared[i];
        int k = shared->position / p->recipe.chunk_size;
        char a[16], b[16], c[40], d[40];
        (void)snprintf(a, sizeof a, "C%d", tree->sequence[shared->begin].chunk[k]);
        (void)snprintf(b, sizeof b, "%d", gate_chunk_number(p, shared->chunk));
        (void)snprintf(c, sizeof c, "[%d, %d)", shared->begin, shared->end);
        (void)snprintf(d, sizeof d, "%d to %d", shared->position,
                       shared->position + shared->n_tokens - 1);
        put_row(m, "td", a, b, c, d);
    }
    put_more(m, p->n_shared - MOST_RANGES);
    gate_html_close_table(m);
}

static void put_sequences(struct markup *m, const struct gate_problem *p) {
    gate_html_open_table(m, "The sequences");
    put_row(m, "th", "sequence", "keys", "chunks of its own", "query rows");
    for (int s = 0; s < p->b && s < MOST_RANGES; s++) {
        int c = p->recipe.chunk_size, chunks = (p->n_tokens[s] + c - 1) / c;
        int first = p->query_begin[s], n = p->query_begin[s + 1] - first;
        char name[16], keys[16], own[16], rows[40] = "none";
        (void)snprintf(name, sizeof name, "S%d", s);
        (void)snprintf(keys, sizeof keys, "%d", p->n_tokens[s]);
        (void)snprintf(own, sizeof own, "%d", chunks - p->n_shared_chunks[s]);
        if (n > 0) {
            (void)snprintf(rows, sizeof rows, "%d to %d", first, first + n - 1);
        }
        put_row(m, "td", name, keys, own, rows);
    }
    put_more(m, p->b - MOST_RANGES);
    gate_html_close_table(m);
}

static void put_case(struct markup *m, const struct gate_recipe *recipe,
                     const struct cp_kernel *kernel) {
    struct gate_problem problem;
    put_operations(m, recipe);
    if (gate_problem_new(&problem, recipe, kernel) != 0) {
        m->failed = 1;
        return;
    }
    struct cp_tree *tree = gate_tree_new(&problem.recipe);
    if (tree == NULL) {
        gate_problem_free(&problem);
        m->failed = 1;
        return;
    }
    put_tree(m, tree);
    if (problem.n_shared > 0) {
        put_shared(m, &problem, tree);
    } else {
        markup_element(m, "p", "note", "The plan: no chunk is shared.");
    }
    put_sequences(m, &problem);
    gate_problem_free(&problem);
    cp_tree_free(tree);
}

void gate_html_case(struct markup *m, const struct gate_recipe *recipe,
                    const struct cp_kernel *kernel) {
    if (recipe->n_modules > 0) {
        gate_html_prompts(m, recipe, kernel);
    } else {
        put_case(m, recipe, kernel);
    }
}

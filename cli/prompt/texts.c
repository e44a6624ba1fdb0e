/* SPDX-License-Identifier: Apache-2.0 */
/* White space, and texts with their tokens. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/pml.h"

/* ---- White space (PML-4) ---- */

/* The end of the white space at `i`; *has_line says whether a line ends in it. */
static size_t end_of_space(const char *text, size_t size, size_t i, int *has_line) {
    *has_line = 0;
    for (; i < size && pml_is_space(text[i]); i++) {
        *has_line |= text[i] == '\n' || text[i] == '\r';
    }
    return i;
}

size_t pml_space(const char *text, size_t size, int keeps_space, char *to) {
    size_t n = 0;
    int has_line;
    if (keeps_space) {
        memcpy(to, text, size);
        return size;
    }
    if (end_of_space(text, size, 0, &has_line) == size) {
        return 0;
    }
    for (size_t i = 0; i < size;) {
        size_t end = end_of_space(text, size, i, &has_line);
        if (end == i) {
            to[n++] = text[i++];
        } else {
            int is_edge = i == 0 || end == size;
            if (!is_edge || !has_line) {
                to[n++] = ' ';
            }
            i = end;
        }
    }
    return n;
}

size_t pml_space_argument(const char *text, size_t size, int keeps_space, char *to) {
    if (!keeps_space) {
        while (size > 0 && pml_is_space(text[size - 1])) {
            size--;
        }
        while (size > 0 && pml_is_space(text[0])) {
            text++;
            size--;
        }
    }
    return pml_space(text, size, keeps_space, to);
}

int pml_is_blank(const struct pml_node *node) {
    int has_line;
    return node->name == NULL && end_of_space(node->text, node->size, 0, &has_line) == node->size;
}

/* ---- Texts ---- */

void pml_texts_free(struct pml_texts *texts) {
    free(texts->text);
    free(texts->token);
    free(texts->joint);
    free(texts->template_text);
    texts->template_text = NULL;
    texts->text = NULL;
    texts->token = NULL;
    texts->joint = NULL;
}

/* Room for `size` bytes with as many tokens, and for a NUL on both sides. */
static void reserve(struct pml_texts *t, size_t size) {
    if (t->room < t->size + size + 2) {
        t->room = 2 * (t->size + size + 2);
        t->text = cli_allocate(t->text, t->room, 1);
    }
    if (t->token_room < (size_t)t->n_tokens + size + 1) {
        t->token_room = 2 * ((size_t)t->n_tokens + size + 1);
        t->token = cli_allocate(t->token, t->token_room, sizeof *t->token);
    }
}

struct pml_text pml_texts_begin(struct pml_texts *texts) {
    reserve(texts, 0);
    texts->size += texts->size > 0; /* the NUL */
    texts->text[texts->size] = '\0';
    return (struct pml_text){.at = texts->size,
                             .first_token = texts->n_tokens,
                             .first_joint = texts->n_joints,
                             .first_template = texts->n_templates};
}

/* `size` bytes have been written behind the last text. */
static void take(struct pml_texts *t, struct pml_text *text, size_t size, int is_template) {
    int n = t->tokenizer->encode(t->tokenizer->state, t->text + t->size, size, is_template,
                                 t->token + t->n_tokens);
    t->size += size;
    t->text[t->size] = '\0';
    t->n_tokens += n;
    text->size += size;
    text->n_tokens += n;
}

void pml_texts_add_template(struct pml_texts *texts, struct pml_text *text, const char *bytes,
                            size_t size) {
    reserve(texts, size);
    if (size == 0) {
        return;
    }
    texts->template_text =
        cli_grow(texts->template_text, texts->n_templates, sizeof *texts->template_text);
    texts->template_text[texts->n_templates++] = (struct pml_span){texts->size, texts->size + size};
    text->n_templates++;
    memcpy(texts->text + texts->size, bytes, size);
    take(texts, text, size, 1);
}

/* The last text goes on at `at`, where another node begins. */
static void add_joint(struct pml_texts *t, struct pml_text *text, size_t at) {
    if (at == text->at || at == t->size || pml_is_space(t->text[at - 1]) ||
        pml_is_space(t->text[at])) {
        return;
    }
    if (t->joint_room < (size_t)t->n_joints + 1) {
        t->joint_room = 2 * ((size_t)t->n_joints + 1);
        t->joint = cli_allocate(t->joint, t->joint_room, sizeof *t->joint);
    }
    t->joint[t->n_joints++] = at;
    text->n_joints++;
}

void pml_texts_add_node(struct pml_texts *texts, struct pml_text *text,
                        const struct pml_node *node) {
    size_t at = texts->size;
    reserve(texts, node->size);
    take(texts, text,
         pml_space(node->text, node->size, node->keeps_space, texts->text + texts->size), 0);
    add_joint(texts, text, at);
}

void pml_texts_add_argument(struct pml_texts *texts, struct pml_text *text, const char *value,
                            int keeps_space) {
    size_t size = strlen(value);
    reserve(texts, size);
    take(texts, text, pml_space_argument(value, size, keeps_space, texts->text + texts->size), 0);
}

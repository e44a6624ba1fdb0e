/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/model/header.h"
#include "cli/model/tokenizer.h"

const char *tokenizer_bytes(const struct weights_tokens *tokens, int token, size_t *n) {
    size_t begin = token == 0 ? 0 : tokens->end[token - 1];
    *n = tokens->end[token] - begin;
    return tokens->text + begin;
}

/* ---- Special tokens ---- */

/* Puts the token where the longer ones end. */
static void insert_special(struct tokenizer *t, int token) {
    size_t length, other;
    int at = t->n_special++;
    const char *text = tokenizer_bytes(t->tokens, token, &length);
    for (; at > 0; at--) {
        (void)tokenizer_bytes(t->tokens, t->special[at - 1], &other);
        if (other >= length) {
            break;
        }
        t->special[at] = t->special[at - 1];
    }
    t->special[at] = token;
    t->begins[(unsigned char)text[0]] = 1;
}

/* The longest special token that the n bytes begin with, or -1. */
static int special_at(const struct tokenizer *t, const char *text, size_t n, size_t *length) {
    if (t->begins[(unsigned char)text[0]]) {
        for (int i = 0; i < t->n_special; i++) {
            const char *special = tokenizer_bytes(t->tokens, t->special[i], length);
            if (*length <= n && memcmp(special, text, *length) == 0) {
                return t->special[i];
            }
        }
    }
    return -1;
}

int tokenizer_new(struct tokenizer *tokenizer, const struct weights_name *name,
                  const struct weights_tokens *tokens) {
    int n_special = 0;
    for (int i = 0; i < tokens->n; i++) {
        n_special += tokens->special[i] != 0;
    }
    if (n_special > TOKENIZER_MOST_SPECIAL) {
        return header_refuse(name, "it has %d special tokens; %d are the most that are looked for",
                             n_special, TOKENIZER_MOST_SPECIAL);
    }
    *tokenizer = (struct tokenizer){.tokens = tokens};
    if (merge_new(&tokenizer->merge, name, tokens) != 0) {
        return -1;
    }
    if (split_new(&tokenizer->split, name, tokens->split) != 0) {
        merge_free(&tokenizer->merge);
        return -1;
    }
    tokenizer->special = cli_allocate(NULL, (size_t)n_special, sizeof *tokenizer->special);
    for (int i = 0; i < tokens->n; i++) {
        if (tokens->special[i]) {
            insert_special(tokenizer, i);
        }
    }
    return 0;
}

void tokenizer_free(struct tokenizer *tokenizer) {
    free(tokenizer->special);
    split_free(&tokenizer->split);
    merge_free(&tokenizer->merge);
}

/* ---- Encoding ---- */

static void make_room(struct token_list *list, size_t more) {
    if (more > list->room - list->n) {
        list->room = list->n + more > 2 * list->room ? list->n + more : 2 * list->room;
        list->token = cli_allocate(list->token, list->room, sizeof *list->token);
    }
}

void token_list_add(struct token_list *list, int token) {
    make_room(list, 1);
    list->token[list->n++] = token;
}

void token_list_free(struct token_list *list) {
    free(list->token);
    *list = (struct token_list){0};
}

static void add_piece(struct tokenizer *t, const char *text, size_t n, struct token_list *list) {
    make_room(list, n);
    list->n += merge_piece(&t->merge, text, n, list->token + list->n, &list->lost);
}

/* Text without special tokens: runs of UTF-8, between bytes that are none (TOKEN-2). */
static void add_text(struct tokenizer *t, const char *text, size_t n, struct token_list *list) {
    for (size_t at = 0; at < n;) {
        size_t end = at + split_valid(text + at, n - at);
        while (at < end) {
            size_t length = split_next(&t->split, text + at, end - at);
            add_piece(t, text + at, length, list);
            at += length;
        }
        if (at < n) {
            add_piece(t, text + at, 1, list);
            at++;
        }
    }
}

void tokenizer_encode(struct tokenizer *tokenizer, const char *text, size_t n, int special,
                      struct token_list *list) {
    size_t done = 0, length = 0;
    for (size_t at = 0; special && at < n;) {
        int token = special_at(tokenizer, text + at, n - at, &length);
        if (token < 0) {
            at++;
            continue;
        }
        add_text(tokenizer, text + done, at - done, list);
        token_list_add(list, token);
        at += length;
        done = at;
    }
    add_text(tokenizer, text + done, n - done, list);
}

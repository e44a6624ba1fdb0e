/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/prompt/tokens.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/prompt/document.h"

/* ---- Bytes ---- */

static int encode_bytes(void *state, const char *text, size_t size, int is_template, int *token) {
    (void)state;
    (void)is_template;
    for (size_t i = 0; i < size; i++) {
        token[i] = (unsigned char)text[i];
    }
    return (int)size;
}

static void free_nothing(void *state) {
    (void)state;
}

struct pml_tokenizer pml_tokens_bytes(void) {
    return (struct pml_tokenizer){"bytes", encode_bytes, free_nothing, NULL};
}

/* ---- Words ---- */

struct word {
    char *text;
    size_t size;
    uint64_t hash;
};

/* slot[] is a hash table, at most half full: the number of a word, or -1. */
struct words {
    int n;
    struct word *word;
    size_t n_slots;
    int *slot;
};

static uint64_t hash_of(const char *text, size_t size) {
    uint64_t hash = 0xCBF29CE484222325ULL;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3ULL;
    }
    return hash ^ (hash >> 29);
}

static size_t slot_of(const struct words *w, const char *text, size_t size, uint64_t hash) {
    size_t slot = (size_t)hash & (w->n_slots - 1);
    while (w->slot[slot] >= 0) {
        const struct word *word = &w->word[w->slot[slot]];
        if (word->hash == hash && word->size == size && memcmp(word->text, text, size) == 0) {
            break;
        }
        slot = (slot + 1) & (w->n_slots - 1);
    }
    return slot;
}

static void grow(struct words *w) {
    w->n_slots = w->n_slots > 0 ? w->n_slots * 2 : 64;
    w->slot = cli_allocate(w->slot, w->n_slots, sizeof *w->slot);
    w->word = cli_allocate(w->word, w->n_slots / 2, sizeof *w->word);
    for (size_t i = 0; i < w->n_slots; i++) {
        w->slot[i] = -1;
    }
    for (int i = 0; i < w->n; i++) {
        w->slot[slot_of(w, w->word[i].text, w->word[i].size, w->word[i].hash)] = i;
    }
}

static int number_of(struct words *w, const char *text, size_t size) {
    if ((size_t)w->n * 2 >= w->n_slots) {
        grow(w);
    }
    uint64_t hash = hash_of(text, size);
    size_t slot = slot_of(w, text, size, hash);
    if (w->slot[slot] < 0) {
        struct word *word = &w->word[w->n];
        word->text = cli_allocate(NULL, size, 1);
        memcpy(word->text, text, size);
        word->size = size;
        word->hash = hash;
        w->slot[slot] = w->n++;
    }
    return w->slot[slot];
}

static int encode_words(void *state, const char *text, size_t size, int is_template, int *token) {
    (void)is_template;
    int n = 0;
    for (size_t i = 0; i < size;) {
        size_t end = i;
        while (end < size && !pml_is_space(text[end])) {
            end++;
        }
        if (end > i) {
            token[n++] = number_of(state, text + i, end - i);
        }
        i = end + 1;
    }
    return n;
}

static void free_words(void *state) {
    struct words *w = state;
    for (int i = 0; i < w->n; i++) {
        free(w->word[i].text);
    }
    free(w->word);
    free(w->slot);
    free(w);
}

struct pml_tokenizer pml_tokens_words(void) {
    struct words *w = cli_allocate(NULL, 1, sizeof *w);
    memset(w, 0, sizeof *w);
    return (struct pml_tokenizer){"words", encode_words, free_words, w};
}

void pml_tokenizer_free(struct pml_tokenizer *tokenizer) {
    tokenizer->free(tokenizer->state);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Words as tokens: equal words are equal tokens, numbered in the order in which they appear. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/show/show.h"

void show_words_new(struct show_words *words, int most) {
    int n_slots = 16;
    while (n_slots / 2 < most) {
        n_slots *= 2; /* at most half full: a free slot ends every search */
    }
    words->n = 0;
    words->word = cli_allocate(NULL, (size_t)most, sizeof *words->word);
    words->n_slots = n_slots;
    words->slot = cli_allocate(NULL, (size_t)n_slots, sizeof *words->slot);
    for (int i = 0; i < n_slots; i++) {
        words->slot[i] = -1;
    }
}

void show_words_free(struct show_words *words) {
    free(words->word);
    free(words->slot);
}

int show_words_token(struct show_words *words, const char *word) {
    unsigned hash = 5381;
    for (const char *at = word; *at != '\0'; at++) {
        hash = hash * 33 + (unsigned char)*at;
    }
    unsigned mask = (unsigned)words->n_slots - 1;
    unsigned i = hash & mask;
    while (words->slot[i] >= 0 && strcmp(words->word[words->slot[i]], word) != 0) {
        i = (i + 1) & mask;
    }
    if (words->slot[i] < 0) {
        words->slot[i] = words->n;
        words->word[words->n++] = word;
    }
    return words->slot[i];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Text in pieces, each of which is tokenized by itself: TOKEN-2, TOKEN-3. */
#ifndef CHUNKPROOF_CLI_MODEL_SPLIT_H
#define CHUNKPROOF_CLI_MODEL_SPLIT_H

#include <stddef.h>

#include "cli/model/weights.h"

/* Not for two threads at once. */
struct split {
    struct pcre2_real_code_8 *code;
    struct pcre2_real_match_data_8 *match;
};

/* `pattern` is WEIGHTS_SPLIT_GPT2 or WEIGHTS_SPLIT_DIGITS. 0; or -1 after a message: the library
 * lacks Unicode, or there is no memory. */
int split_new(struct split *split, const struct weights_name *name, int pattern);
void split_free(struct split *split);

/* How many of the n >= 1 bytes are whole characters of UTF-8, from the first on; may be 0. */
size_t split_valid(const char *text, size_t n);

/* The length of the first piece of n >= 1 bytes, which are UTF-8; 1 or more. */
size_t split_next(const struct split *split, const char *text, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A language model's tokens (PML-13). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/text.h"
#include "cli/model/tokenizer.h"
#include "cli/prompt/tokens.h"

struct model_tokens {
    struct tokenizer tokenizer;
    struct token_list list; /* of the last text */
    const char *file;
};

static int encode(void *state, const char *text, size_t size, int is_template, int *token) {
    struct model_tokens *model = state;
    struct token_list *list = &model->list;
    list->n = 0;
    list->lost = 0;
    tokenizer_encode(&model->tokenizer, text, size, is_template, list);
    if (list->lost > 0) {
        fprintf(stderr, "chunkproof prompt: %s has no token for %zu bytes of a text: left out\n",
                model->file, list->lost);
    }
    if (list->n > 0) {
        memcpy(token, list->token, list->n * sizeof *token);
    }
    return (int)list->n;
}

static void free_model(void *state) {
    struct model_tokens *model = state;
    tokenizer_free(&model->tokenizer);
    token_list_free(&model->list);
    free(model);
}

int pml_tokens_model(struct pml_tokenizer *tokenizer, const struct weights_name *name,
                     const struct weights_tokens *tokens) {
    struct model_tokens *model = cli_allocate(NULL, 1, sizeof *model);
    memset(model, 0, sizeof *model);
    model->file = name->file;
    if (tokenizer_new(&model->tokenizer, name, tokens) != 0) {
        free(model);
        return -1;
    }
    *tokenizer = (struct pml_tokenizer){"model", encode, free_model, model};
    return 0;
}

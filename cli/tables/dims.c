/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tables/dims.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/argument.h"

#define MOST_SIZE       1000000
#define MOST_BYTES      16 /* of a number */
#define MOST_PARAMETERS 1e15

const struct cp_dims *dims_read_model(const char *command, const char *text) {
    const struct cp_dims *known = cp_dims_find(text);
    if (known == NULL) {
        fprintf(stderr, "chunkproof %s: --model %s is unknown; the models are", command, text);
        for (int i = 0; cp_dims_at(i) != NULL; i++) {
            fprintf(stderr, " %s", cp_dims_at(i)->name);
        }
        fputs("\n", stderr);
    }
    return known;
}

int dims_read_size(const char *command, const char *name, const char *text, struct cp_dims *given) {
    int *const size[] = {&given->layers, &given->heads, &given->kv_heads, &given->head_dim};
    static const char *const names[] = {"layers", "heads", "kv-heads", "head-dim"};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return argument_int(command, name, text, 1, MOST_SIZE, size[i]);
        }
    }
    return strcmp(name, "bytes") == 0
               ? argument_int(command, name, text, 1, MOST_BYTES, &given->number_bytes)
               : argument_number(command, name, text, 1.0, MOST_PARAMETERS, &given->parameters);
}

int dims_check(const char *command, const struct cp_dims *model) {
    return model->heads % model->kv_heads == 0
               ? 0
               : argument_refuse(command, "--kv-heads %d must divide --heads %d", model->kv_heads,
                                 model->heads);
}

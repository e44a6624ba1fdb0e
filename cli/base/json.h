/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_JSON_H
#define CHUNKPROOF_CLI_BASE_JSON_H

#include <jansson.h>

/* The array with one more, which becomes its own; NULL if either is. */
static inline json_t *json_with(json_t *array, json_t *item) {
    if (json_array_append_new(array, item) != 0) {
        json_decref(array);
        return NULL;
    }
    return array;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_JSON_H
#define CHUNKPROOF_CLI_BASE_JSON_H

#include <jansson.h>

/* Appends an item, which the array then owns. Returns the array, or NULL if the array or the item
 * is NULL. */
static inline json_t *json_with(json_t *array, json_t *item) {
    if (json_array_append_new(array, item) != 0) {
        json_decref(array);
        return NULL;
    }
    return array;
}

#endif

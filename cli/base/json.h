/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_JSON_H
#define CHUNKPROOF_CLI_BASE_JSON_H

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cli/base/clean.h"

/* Appends an item, which the array then owns. Returns the array, or NULL if the array or the item
 * is NULL. */
static inline json_t *json_with(json_t *array, json_t *item) {
    if (json_array_append_new(array, item) != 0) {
        json_decref(array);
        return NULL;
    }
    return array;
}

/* Sets a member, which may be NULL where there is no memory: then the object is freed. */
static inline json_t *json_with_member(json_t *object, const char *name, json_t *value) {
    if (json_object_set_new(object, name, value) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static inline json_t *json_numbers(const int *number, int n) {
    json_t *array = json_array();
    for (int i = 0; i < n; i++) {
        array = json_with(array, json_integer(number[i]));
    }
    return array;
}

/* null for what JSON has no number for. */
static inline json_t *json_number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

/* Of any text (text_clean()); and of one that is freed, null of NULL. */
static inline json_t *json_clean(const char *text) {
    char *clean = text_clean(text);
    json_t *json = json_string(clean);
    free(clean);
    return json;
}

static inline json_t *json_own(char *text) {
    json_t *json = text != NULL ? json_clean(text) : json_null();
    free(text);
    return json;
}

#endif

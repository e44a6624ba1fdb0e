/* SPDX-License-Identifier: Apache-2.0 */
/* One call with any arguments, on caches of any content. */
#include "decoder.h"

#include <string.h>

int any_from(int first, int last) {
    int any = nondet_int();
    __CPROVER_assume(first <= any && any <= last);
    return any;
}

void any_shape(struct cp_decoder_shape *shape) {
    struct cp_decoder_shape any;
    *shape = any;
    shape->n_layers = any_from(1, LAYERS);
    shape->n_kv_heads = any_from(1, HEADS);
    shape->d_head = any_from(1, NUMBERS);
}

void remember(struct cp_decoder_cache *old, const struct cp_decoder_cache *cache) {
    memcpy(old->position, cache->position, ENTRIES * sizeof old->position[0]);
    memcpy(old->k, cache->k, ALL * sizeof old->k[0]);
    memcpy(old->v, cache->v, ALL * sizeof old->v[0]);
}

struct place any_place(const struct cp_decoder_shape *shape, int entries) {
    struct place place = {any_from(0, shape->n_layers - 1), any_from(0, entries - 1),
                          any_from(0, shape->n_kv_heads * shape->d_head - 1)};
    return place;
}

int index_of(const struct cp_decoder_shape *shape, int capacity, struct place place) {
    int width = shape->n_kv_heads * shape->d_head;
    return (place.layer * capacity + place.entry) * width + place.number;
}

int same_number(double a, double b) {
    unsigned long long bits_a, bits_b;
    memcpy(&bits_a, &a, sizeof a);
    memcpy(&bits_b, &b, sizeof b);
    return bits_a == bits_b;
}

int place_same(const struct cp_decoder_shape *shape, const struct cp_decoder_cache *cache,
               const struct cp_decoder_cache *old, struct place place) {
    int at = index_of(shape, cache->capacity, place);
    return same_number(cache->k[at], old->k[at]) && same_number(cache->v[at], old->v[at]) &&
           cache->position[place.entry] == old->position[place.entry];
}

int has_all(const struct cp_decoder_cache *cache, int first, int n) {
    return 0 <= cache->n && cache->n <= cache->capacity && 0 <= first && 0 <= n &&
           (long long)first + n <= cache->n;
}

int main(void) {
    struct cp_decoder_shape shape;
    any_shape(&shape);
    STEP(&shape);
    return 0;
}

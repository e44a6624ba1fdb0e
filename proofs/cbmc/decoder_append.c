/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-15, DEC-7: entries of one cache, put behind those of another. */
#include "decoder.h"

void step_decoder_append(const struct cp_decoder_shape *shape) {
    ARRAYS(cache);
    ARRAYS(from);
    int n_before = cache.n, n_from = from.n, first = nondet_int(), n = nondet_int();

    int status = cp_decoder_cache_append(shape, &cache, &from, first, n);

    int there = has_all(&from_old, first, n) && has_all(&cache_old, 0, 0);
    CHECK("LAYER-15: the first reason that holds",
          status == (!there                          ? CP_ERROR_ARGUMENT
                     : n > cache.capacity - n_before ? CP_ERROR_TOO_LONG
                                                     : CP_OK));
    CHECK("LAYER-15: the entries are counted", cache.n == n_before + (status == CP_OK ? n : 0));
    struct place place = any_place(shape, cache.capacity);
    int is_new = status == CP_OK && place.entry >= n_before && place.entry < n_before + n;
    CHECK("LAYER-15: what is cached stays", is_new || place_same(shape, &cache, &cache_old, place));
    if (is_new) {
        struct place source = {place.layer, first + place.entry - n_before, place.number};
        int at = index_of(shape, cache.capacity, place);
        int at_source = index_of(shape, from.capacity, source);
        CHECK("DEC-7: the same key", same_number(cache.k[at], from_old.k[at_source]));
        CHECK("DEC-7: the same value", same_number(cache.v[at], from_old.v[at_source]));
        CHECK("DEC-7: the same position",
              cache.position[place.entry] == from_old.position[source.entry]);
    }
    struct place other = any_place(shape, from.capacity);
    CHECK("DEC-7: the other cache stays",
          from.n == n_from && place_same(shape, &from, &from_old, other));
    REACH("an entry behind another one, in the last layer",
          is_new && n_before > 0 && first > 0 && place.layer == LAYERS - 1);
    REACH("two entries into another capacity", is_new && n == 2 && from.capacity < cache.capacity);
    REACH("a full cache", is_new && cache.n == cache.capacity);
    REACH("no entries at the end", status == CP_OK && n == 0 && first == n_from && first > 0);
    REACH("no such entries", status == CP_ERROR_ARGUMENT && n > 0 && n_from >= 0);
    REACH("a cache with too many entries", status == CP_ERROR_ARGUMENT && n_before > ENTRIES);
    REACH("no room", status == CP_ERROR_TOO_LONG);
}

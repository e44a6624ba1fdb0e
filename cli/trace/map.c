/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/map.h"

#include <stdlib.h>

static unsigned long long mix(unsigned long long x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

/* The place of (a, b), or the free place where it belongs; there is always a free one. */
static struct trace_map_entry *place(struct trace_map_entry *entry, size_t size,
                                     unsigned long long a, unsigned long long b) {
    size_t i = (size_t)mix(mix(a) + b) & (size - 1);
    while (entry[i].used && (entry[i].a != a || entry[i].b != b)) {
        i = (i + 1) & (size - 1);
    }
    return &entry[i];
}

int trace_map_get(const struct trace_map *map, unsigned long long a, unsigned long long b,
                  int absent) {
    if (map->size == 0) {
        return absent;
    }
    const struct trace_map_entry *found = place(map->entry, map->size, a, b);
    return found->used ? found->value : absent;
}

/* Keeps the map at most half full, so that probing stays short. */
static int grow(struct trace_map *map) {
    size_t size = map->size == 0 ? 64 : map->size * 2;
    struct trace_map_entry *entry = calloc(size, sizeof *entry);
    if (entry == NULL) {
        return -1;
    }
    for (size_t i = 0; i < map->size; i++) {
        if (map->entry[i].used) {
            *place(entry, size, map->entry[i].a, map->entry[i].b) = map->entry[i];
        }
    }
    free(map->entry);
    map->entry = entry;
    map->size = size;
    return 0;
}

int trace_map_add(struct trace_map *map, unsigned long long a, unsigned long long b, int value) {
    if (map->n >= map->size / 2 && grow(map) != 0) {
        return -1;
    }
    struct trace_map_entry *added = place(map->entry, map->size, a, b);
    added->a = a;
    added->b = b;
    added->value = value;
    added->used = 1;
    map->n++;
    return 0;
}

void trace_map_free(struct trace_map *map) {
    free(map->entry);
    map->entry = NULL;
    map->size = 0;
    map->n = 0;
}

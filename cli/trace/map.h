/* SPDX-License-Identifier: Apache-2.0 */
/* A map from pairs of numbers to an int that only grows: block ids to dense ids, (node, block) to
 * node. */
#ifndef CHUNKPROOF_CLI_TRACE_MAP_H
#define CHUNKPROOF_CLI_TRACE_MAP_H

#include <stddef.h>

struct trace_map_entry {
    unsigned long long a;
    unsigned long long b;
    int value;
    int used;
};

/* All zero is an empty map. */
struct trace_map {
    struct trace_map_entry *entry; /* `size` places, a power of two, linear probing */
    size_t size;
    size_t n;
};

/* The value of (a, b), or `absent`. */
int trace_map_get(const struct trace_map *map, unsigned long long a, unsigned long long b,
                  int absent);

/* Adds (a, b), which must not be there yet. Returns 0, or -1 when there is no memory. */
int trace_map_add(struct trace_map *map, unsigned long long a, unsigned long long b, int value);

void trace_map_free(struct trace_map *map);

#endif

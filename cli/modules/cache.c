/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/modules/cache.h"

#include <stdlib.h>

#include "cli/base/text.h"

void modules_cache_new(struct modules_cache *cache, int n, const long long *capacity) {
    size_t room = (size_t)n + 1;
    *cache = (struct modules_cache){.n = n};
    cache->entry = cli_allocate(NULL, room, sizeof *cache->entry);
    cache->user = cli_allocate(NULL, room, sizeof *cache->user);
    cache->gone = cli_allocate(NULL, 3 * room, sizeof *cache->gone);
    for (int i = 0; i < n; i++) {
        cache->entry[i] = (struct modules_entry){.size = 1};
    }
    for (int t = 0; t < MODULES_TIERS; t++) {
        cache->tier[t] = (struct modules_tier){.capacity = capacity[t], .first = -1, .last = -1};
    }
}

void modules_cache_free(struct modules_cache *cache) {
    free(cache->entry);
    free(cache->user);
    free(cache->gone);
    *cache = (struct modules_cache){0};
}

void modules_cache_size(struct modules_cache *cache, int item, int size) {
    cache->entry[item].size = size;
}

/* ---- The order of a tier ---- */

static void put_first(struct modules_cache *cache, int t, int item) {
    struct modules_tier *tier = &cache->tier[t];
    struct modules_entry *entry = &cache->entry[item];
    entry->before[t] = -1;
    entry->behind[t] = tier->first;
    if (tier->first >= 0) {
        cache->entry[tier->first].before[t] = item;
    } else {
        tier->last = item;
    }
    tier->first = item;
}

static void take_out(struct modules_cache *cache, int t, int item) {
    struct modules_tier *tier = &cache->tier[t];
    const struct modules_entry *entry = &cache->entry[item];
    int before = entry->before[t], behind = entry->behind[t];
    *(before >= 0 ? &cache->entry[before].behind[t] : &tier->first) = behind;
    *(behind >= 0 ? &cache->entry[behind].before[t] : &tier->last) = before;
}

/* ---- What comes and goes ---- */

static void leave(struct modules_cache *cache, int t, int item) {
    take_out(cache, t, item);
    cache->entry[item].is_in[t] = 0;
    cache->tier[t].used -= cache->entry[item].size;
    cache->gone[cache->n_gone++] = (struct modules_gone){item, t};
}

static void come(struct modules_cache *cache, int t, int item) {
    struct modules_tier *tier = &cache->tier[t];
    struct modules_entry *entry = &cache->entry[item];
    put_first(cache, t, item);
    entry->is_in[t] = 1;
    tier->used += entry->size;
    tier->in_use += entry->is_in_use ? entry->size : 0;
    tier->peak = tier->used > tier->peak ? tier->used : tier->peak;
}

/* The least recent item that is not in use. There is one. */
static int victim(const struct modules_cache *cache, int t) {
    int item = cache->tier[t].last;
    while (cache->entry[item].is_in_use) {
        item = cache->entry[item].before[t];
    }
    return item;
}

/* Would there be room if all left that is not in use? */
static int can_hold(const struct modules_cache *cache, int t, int item) {
    const struct modules_tier *tier = &cache->tier[t];
    return cache->entry[item].size <= tier->capacity - tier->in_use;
}

/* 1: the item is in the CPU's memory now, and was not. What leaves there is gone. */
static int enter_cpu(struct modules_cache *cache, int item) {
    const struct modules_tier *tier = &cache->tier[MODULES_CPU];
    if (cache->entry[item].is_in[MODULES_CPU] || !can_hold(cache, MODULES_CPU, item)) {
        return 0;
    }
    while (cache->entry[item].size > tier->capacity - tier->used) {
        leave(cache, MODULES_CPU, victim(cache, MODULES_CPU));
    }
    come(cache, MODULES_CPU, item);
    return 1;
}

/* 1: the item is in the GPU's memory now. What leaves there goes to the CPU's memory, if it is not
 * there already. Tokens that are copied for that are added to *to_host. */
static int enter_gpu(struct modules_cache *cache, int item, long long *to_host) {
    const struct modules_tier *tier = &cache->tier[MODULES_GPU];
    if (!can_hold(cache, MODULES_GPU, item)) {
        return 0;
    }
    while (cache->entry[item].size > tier->capacity - tier->used) {
        int out = victim(cache, MODULES_GPU);
        leave(cache, MODULES_GPU, out);
        *to_host += enter_cpu(cache, out) ? cache->entry[out].size : 0;
    }
    come(cache, MODULES_GPU, item);
    return 1;
}

/* The item is in use, and the most recent one where it is. */
static void use(struct modules_cache *cache, int item) {
    struct modules_entry *entry = &cache->entry[item];
    for (int t = 0; t < MODULES_TIERS; t++) {
        if (entry->is_in[t]) {
            take_out(cache, t, item);
            put_first(cache, t, item);
            cache->tier[t].in_use += entry->is_in_use ? 0 : entry->size;
        }
    }
    if (!entry->is_in_use) {
        entry->is_in_use = 1;
        cache->user[cache->n_users++] = item;
    }
}

struct modules_taken modules_cache_take(struct modules_cache *cache, int item) {
    struct modules_entry *entry = &cache->entry[item];
    struct modules_taken taken = {.from = entry->is_in[MODULES_GPU]   ? MODULES_GPU
                                          : entry->is_in[MODULES_CPU] ? MODULES_CPU
                                                                      : MODULES_NOWHERE};
    cache->n_gone = 0;
    use(cache, item);
    if (taken.from != MODULES_GPU && !enter_gpu(cache, item, &taken.to_host)) {
        taken.to_host += enter_cpu(cache, item) ? entry->size : 0;
    }
    taken.is_in_gpu = entry->is_in[MODULES_GPU];
    taken.is_in_cpu = entry->is_in[MODULES_CPU];
    taken.gone = cache->gone;
    taken.n_gone = cache->n_gone;
    return taken;
}

void modules_cache_release(struct modules_cache *cache) {
    for (int i = 0; i < cache->n_users; i++) {
        cache->entry[cache->user[i]].is_in_use = 0;
    }
    cache->n_users = 0;
    for (int t = 0; t < MODULES_TIERS; t++) {
        cache->tier[t].in_use = 0;
    }
}

static int check_tier(const struct modules_cache *cache, int t) {
    const struct modules_tier *tier = &cache->tier[t];
    long long used = 0, in_use = 0;
    int n = 0, before = -1;
    for (int i = tier->first; i >= 0 && n <= cache->n; i = cache->entry[i].behind[t]) {
        const struct modules_entry *entry = &cache->entry[i];
        if (!entry->is_in[t] || entry->before[t] != before) {
            return 0;
        }
        before = i;
        used += entry->size;
        in_use += entry->is_in_use ? entry->size : 0;
        n++;
    }
    for (int i = 0; i < cache->n; i++) {
        n -= cache->entry[i].is_in[t] != 0;
    }
    return n == 0 && before == tier->last && used == tier->used && in_use == tier->in_use &&
           used <= tier->peak && tier->peak <= tier->capacity;
}

int modules_cache_check(const struct modules_cache *cache) {
    return check_tier(cache, MODULES_GPU) && check_tier(cache, MODULES_CPU);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Items in the memory of a GPU and of a CPU (CACHE-2, CACHE-3). Sizes are in tokens. */
#ifndef CHUNKPROOF_CLI_MODULES_CACHE_H
#define CHUNKPROOF_CLI_MODULES_CACHE_H

enum { MODULES_GPU, MODULES_CPU, MODULES_TIERS, MODULES_NOWHERE = MODULES_TIERS };

/* A tier and the order in which its items were used or came: the first is the most recent. */
struct modules_tier {
    long long capacity;
    long long used;
    long long in_use; /* the part of it that items in use take */
    long long peak;   /* the most that was used */
    int first, last;  /* items; -1: none */
};

struct modules_entry {
    int size;
    int is_in_use;
    int is_in[MODULES_TIERS];
    int before[MODULES_TIERS], behind[MODULES_TIERS]; /* more recent, less recent; or -1 */
};

/* An item that left a tier. */
struct modules_gone {
    int item, tier;
};

/* What taking an item did. */
struct modules_taken {
    int from;          /* where it was: a tier, or MODULES_NOWHERE */
    int is_in_gpu;     /* it is there now */
    int is_in_cpu;     /* it is there now */
    long long to_host; /* tokens copied from the GPU's memory to the CPU's */
    int n_gone;
    const struct modules_gone *gone; /* in order; the cache's, until the next item is taken */
};

struct modules_cache {
    struct modules_tier tier[MODULES_TIERS];
    int n;
    struct modules_entry *entry;
    int *user; /* items in use */
    int n_users;
    struct modules_gone *gone; /* room for 3 n: each leaves the GPU once, and twice the CPU */
    int n_gone;
};

/* An empty cache for n items; the caller frees it. A capacity of 0: there is no such tier. */
void modules_cache_new(struct modules_cache *cache, int n, const long long *capacity);
void modules_cache_free(struct modules_cache *cache);

/* Size of an item, before it is first taken: at least 1. */
void modules_cache_size(struct modules_cache *cache, int item, int size);

/* A prompt takes an item, which is in use from now on. */
struct modules_taken modules_cache_take(struct modules_cache *cache, int item);

/* The batch ends: nothing is in use. */
void modules_cache_release(struct modules_cache *cache);

/* 1 when both tiers are what CACHE-2 says. */
int modules_cache_check(const struct modules_cache *cache);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/case/pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/random.h"
#include "gate/case/lists.h"

#define LONG  2000 /* keys */
#define UNITS 5    /* as many powers of two, from the unit on */

/* 1: some sequence has many keys. */
static int is_long(const struct gate_recipe *r) {
    int longest = 0;
    for (int i = 0; i < r->n_ops; i++) {
        longest = r->op[i].own > longest ? r->op[i].own : longest;
    }
    return longest >= LONG;
}

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Pages as large as a chunk, half as large, twice as large; of one key; and sizes in use. Long
 * sequences have sizes that are no power of two, by which few divide as they should. */
void gate_recipe_pages(struct gate_recipe *r, const struct cp_kernel_layout *layout) {
    struct prng random = {r->seed ^ 0x9A6E5ULL};
    int c = r->chunk_size;
    const int any[] = {c, c > 1 ? c / 2 : 1, 2 * c, 1, 16, 64, 3, 128, 5, 16, 256, c};
    static const int of_long[] = {3, 7, 16, 5, 48, 100, 3, 24};
    int size = is_long(r) ? of_long[prng_below(&random, COUNT_OF(of_long))]
                          : any[prng_below(&random, COUNT_OF(any))];
    if (layout->page_unit > 0) {
        size = layout->page_unit << prng_below(&random, UNITS);
        size = size <= CP_MOST_PAGE ? size : layout->page_unit;
    }
    r->page = layout->pages != CP_PAGES_OWN || layout->page_size > 0 ? 0 : size;
}

/* The next power of two times a unit. */
static int round_to(int size, int unit) {
    int rounded = unit;
    while (rounded < size && rounded <= CP_MOST_PAGE / 2) {
        rounded *= 2;
    }
    return rounded;
}

/* A recipe of another kernel may have another size. */
static int size_of(const struct gate_recipe *r, const struct cp_kernel_layout *layout) {
    int size = r->page > 0 ? r->page : r->chunk_size;
    return layout->page_size > 0   ? layout->page_size
           : layout->page_unit > 0 ? round_to(size, layout->page_unit)
                                   : size;
}

struct gate_pages gate_pages_of(const struct gate_recipe *r, const struct cp_kernel *kernel) {
    const struct cp_kernel_layout *layout = &kernel->layout;
    int size = size_of(r, layout);
    return (struct gate_pages){.kind = layout->pages,
                               .size = layout->pages == CP_PAGES_OWN      ? size
                                       : layout->pages == CP_PAGES_RAGGED ? 1
                                                                          : 0};
}

static int pages_for(int keys, int size) {
    return (keys + size - 1) / size;
}

/* ---- Lists ---- */

/* Block `block` has the keys of sequence s from key j on. */
static void own(struct gate_pages *g, int block, int s, int j) {
    g->sequence[block] = s;
    g->key[block] = j;
}

static void list_pages(struct gate_pages *g, int s, int keys) {
    int n = pages_for(keys, g->size), at = g->begin[s];
    for (int i = 0; i < g->width; i++) {
        int is_there = i < n, page = is_there ? g->all[s * g->width + i] : -1;
        g->table[s * g->width + i] = page;
        if (is_there) {
            g->list[at++] = page;
            own(g, page, s, i * g->size);
        }
    }
    g->begin[s + 1] = at;
    g->last[s] = n > 0 ? keys - (n - 1) * g->size : 0;
}

static void list_keys(struct gate_pages *g, int s, int keys) {
    g->begin[s + 1] = g->begin[s] + keys;
    for (int j = 0; j < keys; j++) {
        own(g, g->begin[s] + j, s, j);
    }
}

static void list_all(struct gate_problem *p) {
    struct gate_pages *g = &p->pages;
    for (int i = 0; i < g->n; i++) {
        own(g, i, -1, 0);
    }
    for (int s = 0; s < p->b; s++) {
        if (g->kind == CP_PAGES_RAGGED) {
            list_keys(g, s, p->n_tokens[s]);
        } else {
            list_pages(g, s, p->n_tokens[s]);
        }
    }
}

static int allocate_lists(struct gate_problem *p, int n, int width) {
    struct gate_pages *g = &p->pages;
    size_t size = sizeof(int), b = (size_t)p->b, table = b * (size_t)width;
    g->n = n;
    g->width = width;
    g->table = gate_allocate(table, size);
    g->list = gate_allocate(table, size);
    g->begin = gate_allocate(b + 1, size);
    g->last = gate_allocate(b, size);
    g->sequence = gate_allocate((size_t)n, size);
    g->key = gate_allocate((size_t)n, size);
    return g->table != NULL && g->list != NULL && g->begin != NULL && g->last != NULL &&
                   g->sequence != NULL && g->key != NULL
               ? 0
               : -1;
}

void gate_pages_free(struct gate_pages *g) {
    free(g->all);
    free(g->table);
    free(g->begin);
    free(g->list);
    free(g->last);
    free(g->sequence);
    free(g->key);
    *g = (struct gate_pages){.kind = g->kind, .size = g->size};
}

/* ---- Pages of all sequences ---- */

/* Keys that a sequence has, or will have once it has grown: up to the end of its last chunk. */
static int most_keys(const struct gate_problem *p, int s) {
    int c = p->recipe.chunk_size, n = p->n_tokens[s];
    return p->recipe.renewed ? (n + c - 1) / c * c : n;
}

/* Counts pages, each once: page i of sequence s is the one whose last key lies where its own last
 * key does. at[]: for each slot of each chunk the page that ends there. */
static int count_pages(struct gate_problem *p, int *at) {
    struct gate_pages *g = &p->pages;
    int c = p->recipe.chunk_size, n = 0;
    for (int s = 0; s < p->b; s++) {
        for (int i = 0, last = g->size - 1; i < pages_for(most_keys(p, s), g->size);
             i++, last += g->size) {
            int is_full = last < p->n_tokens[s];
            int chunk = is_full ? p->table[s * p->table_width + last / c] : 0;
            int *page = &at[(ptrdiff_t)chunk * c + last % c];
            if (!is_full) {
                g->all[s * g->width + i] = n++;
            } else {
                *page = *page >= 0 ? *page : n++;
                g->all[s * g->width + i] = *page;
            }
        }
    }
    return n;
}

static int scatter_pages(struct gate_problem *p, int n) {
    struct gate_pages *g = &p->pages;
    int pool = n + GATE_SPARE > p->dense ? n + GATE_SPARE : p->dense;
    int *order = gate_permutation(p->places ^ 0x9A6EULL, pool);
    for (int i = 0; order != NULL && i < p->b * g->width; i++) {
        g->all[i] = order[g->all[i]];
    }
    free(order);
    return order != NULL && allocate_lists(p, pool, g->width) == 0 ? 0 : -1;
}

static int new_pages(struct gate_problem *p) {
    struct gate_pages *g = &p->pages;
    size_t slots = (size_t)p->capacity * (size_t)p->recipe.chunk_size;
    g->width = 1;
    for (int s = 0; s < p->b; s++) {
        int n = pages_for(most_keys(p, s), g->size) + 1;
        g->width = n > g->width ? n : g->width;
    }
    g->all = gate_allocate((size_t)p->b * (size_t)g->width, sizeof(int));
    int *at = malloc((slots + 1) * sizeof *at);
    int result = -1;
    if (g->all != NULL && at != NULL) {
        memset(at, 0xFF, slots * sizeof *at);
        result = scatter_pages(p, count_pages(p, at));
    }
    free(at);
    return result;
}

static int new_ragged(struct gate_problem *p) {
    int keys = 0;
    for (int s = 0; s < p->b; s++) {
        keys += most_keys(p, s);
    }
    return allocate_lists(p, keys + GATE_SPARE, 0);
}

int gate_pages_new(struct gate_problem *p) {
    if (p->pages.kind == CP_PAGES_CHUNKS) {
        return 0;
    }
    if ((p->pages.kind == CP_PAGES_RAGGED ? new_ragged(p) : new_pages(p)) != 0) {
        return -1;
    }
    list_all(p);
    return 0;
}

void gate_pages_grow(struct gate_problem *p) {
    if (p->pages.kind != CP_PAGES_CHUNKS) {
        list_all(p);
    }
}

static int longest_list(const struct gate_problem *p) {
    int longest = 0;
    for (int s = 0; s < p->b; s++) {
        int n = p->pages.begin[s + 1] - p->pages.begin[s];
        longest = n > longest ? n : longest;
    }
    return longest;
}

int gate_page_table_width(const struct gate_problem *p) {
    const struct gate_pages *g = &p->pages;
    if (g->kind != CP_PAGES_OWN || g->begin == NULL) {
        return g->kind == CP_PAGES_OWN ? g->width : 0;
    }
    int width = longest_list(p) + (int)(p->recipe.seed >> 13 & 1);
    return width > 0 ? width : 1;
}

/* ---- Of one sequence ---- */

int gate_pages_part(struct gate_problem *part, const struct gate_problem *whole, int sequence) {
    const struct gate_pages *g = &whole->pages;
    int n = part->n_tokens[0];
    part->pages = (struct gate_pages){.kind = g->kind, .size = g->size};
    if (g->kind == CP_PAGES_CHUNKS) {
        return 0;
    }
    if (g->kind == CP_PAGES_RAGGED) {
        int result = gate_pages_new(part);
        part->pool = part->pages.n;
        return result;
    }
    int width = pages_for(n, g->size) + 1;
    part->pages.all = gate_allocate((size_t)width, sizeof(int));
    if (allocate_lists(part, g->n, width) != 0 || part->pages.all == NULL) {
        return -1;
    }
    memcpy(part->pages.all, g->all + (ptrdiff_t)sequence * g->width,
           (size_t)(width - 1) * sizeof(int));
    list_all(part);
    return 0;
}

int gate_pages_copy(struct gate_problem *to, const struct gate_problem *p) {
    const struct gate_pages *g = &p->pages;
    size_t all = (size_t)p->b * (size_t)g->width;
    to->pages = (struct gate_pages){.kind = g->kind, .size = g->size};
    to->pages.all = gate_allocate(all, sizeof(int));
    if (allocate_lists(to, g->n, g->width) != 0 || to->pages.all == NULL) {
        return -1;
    }
    if (g->all != NULL) {
        memcpy(to->pages.all, g->all, all * sizeof(int));
    }
    list_all(to);
    return 0;
}

/* ---- Blocks ---- */

int gate_blocks(const struct gate_problem *p) {
    return p->pages.kind == CP_PAGES_CHUNKS ? p->capacity : p->pages.n;
}

int gate_block_size(const struct gate_problem *p) {
    return p->pages.kind == CP_PAGES_CHUNKS ? p->recipe.chunk_size : p->pages.size;
}

struct gate_slot gate_slot_of(const struct gate_problem *p, int block, int slot) {
    const struct gate_pages *g = &p->pages;
    int c = p->recipe.chunk_size;
    if (g->kind == CP_PAGES_CHUNKS) {
        return (struct gate_slot){block, slot};
    }
    int s = g->sequence[block], j = g->key[block] + slot;
    if (s < 0 || j >= p->n_tokens[s]) {
        return (struct gate_slot){-1, 0};
    }
    return (struct gate_slot){p->table[s * p->table_width + j / c], j % c};
}

long long gate_key_in(const struct gate_problem *p, int block, int head, int slot) {
    const struct gate_recipe *r = &p->recipe;
    struct gate_slot at = gate_slot_of(p, block, slot);
    return at.chunk < 0 ? -1
                        : ((long long)at.chunk * r->n_kv_heads + head) * r->chunk_size + at.slot;
}

/* ---- Pages as chunks ---- */

/* 1: another sequence has that page, too. */
static int is_shared(const struct gate_pages *g, const int *owners, int page) {
    return g->kind == CP_PAGES_OWN && owners[page] > 1;
}

/* Scales of tokens as pages lie. */
static int view_scales(const struct gate_problem *p, float **scales) {
    int heads = p->recipe.n_kv_heads, slots = p->pages.size;
    size_t of_page = (size_t)heads * (size_t)slots;
    if (*scales == NULL || p->cache.scales != CP_CACHE_SCALE_TOKEN) {
        return 0;
    }
    float *to = gate_allocate((size_t)p->pages.n * of_page, sizeof *to);
    for (int x = 0; to != NULL && x < p->pages.n * (int)of_page; x++) {
        int in_page = x % (int)of_page;
        long long key = gate_key_in(p, x / (int)of_page, in_page / slots, in_page % slots);
        to[x] = key < 0 ? NAN : (*scales)[key];
    }
    free(*scales);
    *scales = to;
    return to != NULL ? 0 : -1;
}

/* The row of page i of sequence s in the list of pages; of ragged keys that is the page. */
static int page_of(const struct gate_pages *g, int s, int i) {
    int at = g->begin[s] + i;
    return g->kind == CP_PAGES_OWN ? g->list[at] : at;
}

static int *count_owners(const struct gate_problem *p) {
    const struct gate_pages *g = &p->pages;
    int *owners = gate_allocate((size_t)g->n, sizeof *owners);
    for (int s = 0; owners != NULL && s < p->b; s++) {
        for (int i = 0; i < g->begin[s + 1] - g->begin[s]; i++) {
            owners[page_of(g, s, i)]++;
        }
    }
    return owners;
}

static void view_sequence(struct gate_problem *to, const struct gate_pages *g, const int *owners,
                          int s) {
    int n = to->n_tokens[s];
    for (int i = 0; i < g->begin[s + 1] - g->begin[s]; i++) {
        int at = s * to->table_width + i, page = page_of(g, s, i), left = n - i * g->size;
        to->table[at] = page;
        to->table_tokens[at] = left < g->size ? left : g->size;
        to->table_position[at] = to->first[at] = i * g->size;
        to->n_shared_chunks[s] += is_shared(g, owners, page);
    }
}

int gate_pages_view(struct gate_problem *p) {
    struct gate_problem lists = *p;
    if (p->pages.kind == CP_PAGES_CHUNKS) {
        return 0;
    }
    int *owners = count_owners(p);
    int result = owners != NULL && view_scales(p, &p->cache.k_scale) == 0 &&
                         view_scales(p, &p->cache.v_scale) == 0
                     ? gate_lists_new(&lists, p->b, longest_list(p), 0, 0)
                     : -1;
    if (result == 0) {
        memcpy(lists.n_tokens, p->n_tokens, (size_t)p->b * sizeof(int));
        memcpy(lists.query_begin, p->query_begin, ((size_t)p->b + 1) * sizeof(int));
        for (int s = 0; s < p->b; s++) {
            view_sequence(&lists, &p->pages, owners, s);
        }
        int *old[] = {p->n_tokens,     p->query_begin,    p->n_shared_chunks, p->table,
                      p->table_tokens, p->table_position, p->first,           p->served};
        for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
            free(old[i]);
        }
        free(p->shared);
        lists.cache = p->cache;
        lists.capacity = p->pages.n;
        lists.recipe.chunk_size = p->pages.size;
        gate_pages_free(&p->pages);
        lists.pages = (struct gate_pages){.kind = CP_PAGES_CHUNKS};
        *p = lists;
    }
    free(owners);
    return result;
}

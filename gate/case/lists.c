/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a problem, whatever plan they have. */
#include "gate/case/lists.h"

#include <stdlib.h>

#include "cli/base/random.h"

void *gate_allocate(size_t n, size_t size) {
    return calloc(n + 1, size);
}

int gate_lists_new(struct gate_problem *p, int b, int runs, int n_served, int n_shared) {
    size_t table = (size_t)b * ((size_t)runs + 1), size = sizeof(int);
    p->b = b;
    p->table_width = runs + 1; /* each row ends with a -1 at least */
    p->n_served = n_served;
    p->n_shared = n_shared;
    p->n_tokens = gate_allocate((size_t)b, size);
    p->query_begin = gate_allocate((size_t)b + 1, size);
    p->n_shared_chunks = gate_allocate((size_t)b, size);
    p->table = gate_allocate(table, size);
    p->table_tokens = gate_allocate(table, size);
    p->table_position = gate_allocate(table, size);
    p->first = gate_allocate(table, size);
    p->served = gate_allocate((size_t)n_served, size);
    p->shared = gate_allocate((size_t)n_shared, sizeof *p->shared);
    if (p->n_tokens == NULL || p->query_begin == NULL || p->n_shared_chunks == NULL ||
        p->table == NULL || p->table_tokens == NULL || p->table_position == NULL ||
        p->first == NULL || p->served == NULL || p->shared == NULL) {
        return -1;
    }
    for (size_t i = 0; i < table; i++) {
        p->table[i] = -1;
    }
    return 0;
}

int *gate_permutation(unsigned long long seed, int n) {
    struct prng random = {seed};
    int *order = gate_allocate((size_t)n, sizeof(int));
    for (int i = 0; order != NULL && i < n; i++) { /* grown by insertion */
        int at = prng_below(&random, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    return order;
}

int *gate_scatter(struct gate_problem *p, int n) {
    int dense = p->pages.kind == CP_PAGES_CHUNKS ? p->dense : 0;
    p->capacity = n + GATE_SPARE > dense ? n + GATE_SPARE : dense;
    return gate_permutation(p->places ^ 0x5CA77E2ULL, p->capacity);
}

/* Of sequence s of n_tokens keys. */
static int rows_of(struct prng *random, const struct gate_recipe *r, int s, int n_tokens) {
    enum gate_queries kind = r->queries;
    int several = prng_below(random, 5);
    if (r->rows > 0 && (kind == GATE_DECODE || s == 0 || several % 2 == 1)) {
        return r->rows;
    }
    if (kind == GATE_DECODE) {
        return 1;
    }
    if (kind == GATE_MORE) {
        return (n_tokens < 5 ? n_tokens : 5) + several % 4;
    }
    int rows = kind == GATE_MANY ? 10 * several : several;
    return rows < n_tokens ? rows : n_tokens;
}

/* CONV-3: rows[s] become such as the recipe allows. */
static void keep_to(const struct gate_problem *p, int *rows) {
    int never = p->recipe.never, least = p->b > 0 ? p->n_tokens[0] : 0;
    for (int s = 0; s < p->b; s++) {
        least = p->n_tokens[s] < least ? p->n_tokens[s] : least;
    }
    int is_equal = (never & CP_NEVER_UNEQUAL_ROWS) != 0, n = p->b > 0 ? rows[0] : 0;
    for (int s = 0; s < p->b; s++) {
        int keys = is_equal ? least : p->n_tokens[s];
        rows[s] = is_equal ? n : rows[s];
        rows[s] = (never & CP_NEVER_ROWLESS) != 0 && rows[s] == 0 ? 1 : rows[s];
        rows[s] = (never & CP_NEVER_EMPTY_ROWS) != 0 && rows[s] > keys ? keys : rows[s];
    }
}

int gate_rows_new(struct gate_problem *p) {
    struct prng random = {p->recipe.seed ^ 0x0C0DEULL};
    int *rows = p->query_begin + 1;
    for (int s = 0; s < p->b; s++) {
        rows[s] = rows_of(&random, &p->recipe, s, p->n_tokens[s]);
    }
    keep_to(p, rows);
    for (int s = 0; s < p->b; s++) {
        p->query_begin[s + 1] += p->query_begin[s];
    }
    p->n_rows = p->query_begin[p->b];
    p->position = gate_allocate((size_t)p->n_rows, sizeof(int));
    return p->position != NULL ? 0 : -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Weights against the maximum of another query: that of its block, its group or its chunk. With sums that are merged by it
 * nothing is wrong while exp() holds the weights; where scores differ much, they are all 0, or infinite. Merged by the
 * query's own maximum, each part has a wrong factor. */
#include <math.h>
#include <string.h>

#include "gate/explain/explain.h"

#define MOST_BLOCK 128
#define LARGEST    3.4028234663852886e38 /* of binary32 */

/* Whose maximum. Queries of a K/V head are numbered row by row, the heads of its group in each. */
enum query { FIRST_OF_BLOCK, FIRST_OF_GROUP, FIRST_ROW, ONE_BEFORE, ONE_BEHIND };

/* What has a maximum of its own. */
enum parts { SHARED_CHUNKS, ALL_CHUNKS, ALL_KEYS };

static int group_of(const struct explain *x) {
    return x->at->problem.recipe.n_heads / x->at->problem.recipe.n_kv_heads;
}

/* The first row of those that share the chunk key j is in; the call's first row where it is not shared. */
static int first_row_of(const struct explain *x, int j) {
    const struct gate_problem *p = &x->at->problem;
    int chunk = p->table[x->s * p->table_width + j / x->c];
    for (int i = 0; i < p->n_shared; i++) {
        if (p->shared[i].chunk == chunk) {
            return p->query_begin[p->shared[i].begin];
        }
    }
    return p->query_begin[x->s];
}

/* The other query, as row * h + head; -1: there is none. a: whose; queries of a block. */
static int other_query(const struct explain *x, const int *a, int j) {
    int group = group_of(x), h = x->at->problem.recipe.n_heads, first = first_row_of(x, j);
    int query = (x->row - first) * group + x->head % group;
    switch ((enum query)a[0]) {
    case FIRST_OF_BLOCK:
        query = query / a[1] * a[1];
        break;
    case FIRST_OF_GROUP:
        query = query / group * group;
        break;
    case FIRST_ROW:
        query = x->head % group;
        break;
    default:
        query += a[0] == ONE_BEFORE ? -1 : 1;
    }
    int row = first + query / group;
    return query < 0 || row >= x->at->problem.n_rows ? -1 : row * h + x->g * group + query % group;
}

/* The largest score of another query with keys from `from` to `end`, as far as it sees so many: the pair's own keys. */
static double largest_of(struct explain *x, int query, int from, int end) {
    int h = x->at->problem.recipe.n_heads, sees = gate_visible(&x->at->problem, query / h);
    double largest = -INFINITY;
    explain_take_query(x, query / h, query % h);
    for (int j = from; j < end && j < sees; j++) {
        double sum = 0.0;
        for (int i = 0; i < x->d; i++) {
            sum += x->q[i] * x->k[(ptrdiff_t)j * x->d + i];
        }
        largest = fmax(largest, x->at->problem.scale * sum);
    }
    return largest;
}

/* Sums of weights, and of weighted values, as binary32 holds them. */
static double hold(double sum) {
    return fabs(sum) > LARGEST ? copysign(INFINITY, sum) : fabs(sum) < 0x1p-149 ? 0.0 : sum;
}

/* A part's sums into the whole, that has the maximum `largest`. m: the part's weights are against that; merged: as this. */
static void add_part(const struct explain *x, struct explain_state *whole, double m, double merged,
                     int from, int end) {
    double factor = hold(exp(merged - whole->m)), n = 0.0;
    for (int j = from; j < end; j++) {
        n = hold(n + hold(exp(x->scratch[j] - m)));
    }
    whole->n += factor * n;
    for (int i = 0; i < x->d; i++) {
        double o = 0.0, size = 0.0;
        for (int j = from; j < end; j++) {
            double v = x->v[(ptrdiff_t)j * x->d + i], weight = hold(exp(x->scratch[j] - m));
            o = hold(o + weight * v);
            size = hold(size + weight * fabs(v));
        }
        whole->o[i] += factor * o;
        whole->size[i] += factor * size;
    }
}

static int end_of_part(const struct explain *x, int parts, int from) {
    int shared = x->at->problem.n_shared_chunks[x->s] * x->c, end = (from / x->c + 1) * x->c;
    end = parts == ALL_KEYS || (parts == SHARED_CHUNKS && from >= shared) ? x->m : end;
    return end < x->m ? end : x->m;
}

/* Whether it has another query's maximum, and that is found. */
static int maximum_of(struct explain *x, const int *a, int from, int end, double *m) {
    int shared = x->at->problem.n_shared_chunks[x->s] * x->c;
    *m = -INFINITY;
    for (int j = from; j < end; j++) {
        *m = fmax(*m, x->scratch[j]);
    }
    if (a[2] == SHARED_CHUNKS && from >= shared) {
        return 0;
    }
    int other = other_query(x, a, from);
    if (other < 0 || other == x->pair) {
        return 0;
    }
    *m = largest_of(x, other, from, end);
    explain_take_query(x, x->row, x->head);
    return 1;
}

/* A number that binary32 could not hold; or what a row without keys has, which a test for such sums may make of it. */
static void overflow(struct explain *x, int i, double value) {
    double got = x->at->got[(size_t)x->pair * (size_t)x->at->width + (size_t)i];
    int is_none = got == (i < x->d ? 0.0 : -INFINITY);
    x->numbers.expected[i] = is_none ? got : isnan(value) ? NAN : value;
    x->numbers.bound[i] = is_none ? EXPLAIN_NOTHING : 0.0;
}

/* What binary32 could not hold is 0, infinite or NaN; the rest is what sums give. */
static int finish(struct explain *x, const struct explain_state *whole) {
    struct explain_state held = *whole;
    if (!explain_finish(x, &held, held.n == 0.0 || !isfinite(held.n) ? 1.0 : held.n)) {
        return 0;
    }
    for (int i = 0; i < x->d; i++) {
        double value = whole->o[i] / whole->n;
        if (whole->n == 0.0) {
            x->numbers.expected[i] = 0.0;
            x->numbers.bound[i] = EXPLAIN_NOTHING;
        } else if (!isfinite(value) || !isfinite(whole->o[i])) {
            overflow(x, i, value);
        }
    }
    if (whole->n == 0.0) {
        x->numbers.expected[x->d] = -INFINITY;
        x->numbers.bound[x->d] = EXPLAIN_NOTHING;
    } else if (!isfinite(whole->n)) {
        overflow(x, x->d, whole->n);
    }
    return 1;
}

/* a: whose; queries of a block; which parts; 1: merged by the query's own maximum. */
static int take_other_maximum(struct explain *x, const int *a) {
    struct explain_state whole;
    int changed = 0;
    double m, largest = -INFINITY;
    explain_take_scores(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    for (int from = 0, end; from < x->m; from = end) {
        end = end_of_part(x, a[2], from);
        int is_other = maximum_of(x, a, from, end, &m);
        changed |= is_other;
        for (int j = from; j < end && (a[3] || !is_other); j++) {
            largest = fmax(largest, x->scratch[j]);
        }
        largest = a[3] ? largest : fmax(largest, m);
    }
    explain_begin(x, &whole, 0);
    whole.m = largest;
    for (int from = 0, end; changed && !x->outside && from < x->m; from = end) {
        double own = -INFINITY;
        end = end_of_part(x, a[2], from);
        (void)maximum_of(x, a, from, end, &m);
        for (int j = from; j < end; j++) {
            own = fmax(own, x->scratch[j]);
        }
        add_part(x, &whole, m, a[3] ? own : m, from, end);
    }
    return changed && !x->outside && finish(x, &whole);
}

/* ---- From tile to tile ---- */

/* Whose maximum a sum is rescaled from, or that is kept of a tile alone, or that its weights alone are taken against. */
enum rescaled { BY_ANOTHER, TO_ANOTHER, OF_TILE_ALONE, WEIGHED_BY_TILE };

/* The largest score of a query with keys up to `end`, 0 of them: none. */
static double largest_up_to(struct explain *x, int query, int end) {
    return query == x->pair ? -INFINITY : largest_of(x, query, 0, end);
}

static int end_of_tile(const struct explain *x, const int *a, int from) {
    int end = from + a[1], of_chunk = (from / x->c + 1) * x->c;
    end = a[3] && of_chunk < end ? of_chunk : end;
    return end < x->m ? end : x->m;
}

/* a: which; keys of a tile; whose: FIRST_OF_GROUP, ONE_BEFORE, ONE_BEHIND; 1: tiles end with their chunk. */
static int rescale_otherwise(struct explain *x, const int *a) {
    const int whose[EXPLAIN_NUMBERS] = {a[2], 1};
    struct explain_state s;
    int changed = 0, of_tiles = a[0] >= OF_TILE_ALONE;
    int other = of_tiles ? -1 : other_query(x, whose, 0);
    explain_take_scores(x);
    if (x->outside || end_of_tile(x, a, 0) >= x->m ||
        (!of_tiles && (other < 0 || other == x->pair))) {
        return 0;
    }
    explain_begin(x, &s, 0);
    for (int from = 0, end; from < x->m && !x->outside; from = end) {
        double of_tile = -INFINITY, of_other = -INFINITY;
        end = end_of_tile(x, a, from);
        for (int j = from; j < end; j++) {
            of_tile = fmax(of_tile, x->scratch[j]);
        }
        double m = a[0] == OF_TILE_ALONE ? of_tile : fmax(s.m, of_tile), old = s.m, now = m;
        if (!of_tiles) {
            of_other = largest_up_to(x, other, a[0] == BY_ANOTHER ? from : end);
            old = a[0] == BY_ANOTHER ? of_other : old;
            now = a[0] == BY_ANOTHER ? now : of_other;
            explain_take_query(x, x->row, x->head);
        }
        double factor = from == 0 ? 0.0 : hold(exp(old - now));
        changed |= from > 0 && (of_tiles ? of_tile < s.m : factor != hold(exp(s.m - m)));
        s.n = hold(s.n * factor);
        for (int i = 0; i < x->d; i++) {
            s.o[i] = hold(s.o[i] * factor);
            s.size[i] = hold(s.size[i] * factor);
        }
        s.m = a[0] == WEIGHED_BY_TILE ? of_tile : m;
        for (int j = from; j < end; j++) {
            explain_add_key(x, &s, j, 1.0, 1.0);
        }
        s.m = m;
    }
    return changed && !x->outside && finish(x, &s);
}

static void try_tiles(struct explain *x) {
    static const char *const words[] = {"the first head of its group", "the query before it",
                                        "the query behind it"};
    const int none[] = {FIRST_OF_GROUP, ONE_BEFORE, ONE_BEHIND};
    for (int tile = 1; tile <= MOST_BLOCK && tile < x->n; tile *= 2) {
        const int alone[EXPLAIN_NUMBERS] = {OF_TILE_ALONE, tile};
        explain_try(x, rescale_otherwise, alone, 43,
                    "as if the maximum were that of each tile of %d %s alone, to which the sums "
                    "are rescaled: it is not carried on, and where a later tile is far below, "
                    "exp(old - new) overflows (MERGE-4)",
                    tile, tile == 1 ? "key" : "keys");
        for (int by_chunk = 0; by_chunk < 2; by_chunk++) {
            const int weighed[EXPLAIN_NUMBERS] = {WEIGHED_BY_TILE, tile, 0, by_chunk};
            explain_try(x, rescale_otherwise, weighed, 43 + by_chunk,
                        "as if weights had been taken against the maximum of their own tile of %d "
                        "%s%s, and the sums kept against the largest so far: a tile that is below "
                        "it weighs too much (MERGE-4)",
                        tile, tile == 1 ? "key" : "keys",
                        by_chunk ? ", or up to its chunk's end" : "");
        }
        for (int whose = 0; whose < 3; whose++) {
            for (int which = BY_ANOTHER; which <= TO_ANOTHER; which++) {
                const int a[EXPLAIN_NUMBERS] = {which, tile, none[whose]};
                explain_try(x, rescale_otherwise, a, 45,
                            "as if the sums had been rescaled %s the maximum of %s when their own "
                            "maximum grew, in steps of %d %s (MERGE-4)",
                            which == BY_ANOTHER ? "from" : "to", words[whose], tile,
                            tile == 1 ? "key" : "keys");
            }
        }
    }
}

static void try_query(struct explain *x, int which, int block, const char *words) {
    static const char *const parts[] = {"in each shared chunk", "in each chunk", "in all keys"};
    for (int part = SHARED_CHUNKS; part <= ALL_KEYS; part++) {
        for (int own = 0; own < 2; own++) {
            const int a[EXPLAIN_NUMBERS] = {which, block, part, own};
            explain_try(x, take_other_maximum, a, 46 + part,
                        "as if weights had been taken against the largest score of %s %s, not "
                        "their own query's%s (SOFTMAX-1)",
                        words, parts[part],
                        own ? ", and then merged by their own"
                            : "; which shows where the two are far apart and exp() overflows, or "
                              "is 0");
        }
    }
}

void explain_try_maxima(struct explain *x) {
    char block[80];
    if (x->n == 0) {
        return;
    }
    try_tiles(x);
    if (x->at->pairs == 1) {
        return;
    }
    try_query(x, FIRST_ROW, 1, "the first query of those that share the chunk");
    for (int size = 2; size <= MOST_BLOCK; size *= 2) {
        (void)snprintf(block, sizeof block, "the first query of its block of %d", size);
        try_query(x, FIRST_OF_BLOCK, size, block);
    }
    if (group_of(x) > 1) {
        try_query(x, FIRST_OF_GROUP, 1, "the first head of its group");
    }
    try_query(x, ONE_BEFORE, 1, "the query before it");
    try_query(x, ONE_BEHIND, 1, "the query behind it");
}

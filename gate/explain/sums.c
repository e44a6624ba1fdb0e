/* SPDX-License-Identifier: Apache-2.0 */
/* Sums that went wrong: in what steps keys were weighed, which sum was not rescaled when the maximum grew, how parts
 * were merged. Nothing is certified of a wrong sum: it is allowed what attention is, in proportion to its size,
 * and the rounding of the output. */
#include <math.h>
#include <string.h>

#include "gate/explain/explain.h"

#define MOST_TILE 256
#define NEARER                                                                                     \
    4.0 /* times nearer to the kernel's number than attention, for no bound is certified */

/* What is done with the sums when the maximum grows, and at the end. */
struct way {
    int rescales_n, rescales_o, divides, upside_down, late, forgets;
    const char *words;
};

static const struct way ways[] = {
    {1, 0, 1, 0, 0, 0,
     "the sum of weighted values had not been rescaled when the maximum grew (MERGE-4)"},
    {0, 1, 1, 0, 0, 0, "the sum of weights had not been rescaled when the maximum grew (MERGE-4)"},
    {0, 0, 1, 0, 0, 0, "neither sum had been rescaled when the maximum grew (MERGE-4)"},
    {1, 1, 1, 1, 0, 0,
     "the sums had been rescaled by exp(new - old), not exp(old - new) (MERGE-4)"},
    {1, 1, 0, 0, 0, 0, "the sum had not been divided by the sum of weights (MERGE-6)"},
    {1, 1, 2, 0, 0, 0, "the sum had been divided by the number of keys (MERGE-6)"},
    {1, 1, 3, 0, 0, 0, "the sum had been divided by the sum of weights twice (MERGE-6)"},
    {1, 1, 1, 0, 1, 0,
     "weights had been taken against the maximum before them, the sums then rescaled for the new "
     "one (MERGE-4)"},
    {1, 1, 1, 0, 0, 1,
     "the maximum kept had been that of the last step, not the largest so far (MERGE-4)"},
};

/* ---- A state as it runs ---- */

void explain_score_all(struct explain *x) {
    for (int j = 0; j < x->m; j++) {
        double sum = 0.0;
        for (int i = 0; i < x->d; i++) {
            sum += x->q[i] * x->k[(ptrdiff_t)j * x->d + i];
        }
        x->scratch[j] = x->at->problem.scale * sum;
    }
}

void explain_take_scores(struct explain *x) {
    explain_take_all(x);
    explain_score_all(x);
}

void explain_clear(const struct explain *x, struct explain_state *s) {
    s->m = -INFINITY;
    s->n = 0.0;
    memset(s->o, 0, (size_t)x->d * sizeof(double));
    memset(s->size, 0, (size_t)x->d * sizeof(double));
}

void explain_begin(const struct explain *x, struct explain_state *s, int which) {
    s->o = x->prefix + (ptrdiff_t)2 * which * x->d;
    s->size = s->o + x->d;
    explain_clear(x, s);
}

void explain_find_largest(const struct explain *x, struct explain_state *s) {
    for (int j = 0; j < x->m; j++) {
        s->m = fmax(s->m, x->scratch[j]);
    }
}

void explain_add_key(const struct explain *x, struct explain_state *s, int j, double of_n,
                     double of_o) {
    double weight = exp(x->scratch[j] - s->m);
    const double *v = x->v + (ptrdiff_t)j * x->d;
    s->n += of_n * weight;
    for (int i = 0; i < x->d; i++) {
        s->o[i] += of_o * weight * v[i];
        s->size[i] += of_o * weight * fabs(v[i]);
    }
}

static void add_key(const struct explain *x, struct explain_state *s, int j) {
    explain_add_key(x, s, j, 1.0, 1.0);
}

/* Attention itself, for the size of its sums. */
static void sum_right(const struct explain *x, struct explain_state *right) {
    explain_begin(x, right, 1);
    explain_find_largest(x, right);
    for (int j = 0; j < x->m; j++) {
        add_key(x, right, j);
    }
}

static void finish_element(struct explain *x, const struct explain_state *s, double divisor,
                           const struct explain_state *right, double unit, int i) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)i;
    double size = right->size[i] > 0.0 ? s->size[i] / divisor / (right->size[i] / right->n) : 1.0;
    double off = fabs(x->at->got[at] - x->at->expected[at]), value = s->o[i] / divisor;
    double bound = x->at->bound[at] * fmax(1.0, fabs(size)) + unit * fabs(value);
    if (x->at->rightness[at] == GATE_NUMBER_WRONG && isfinite(off)) {
        bound = fmin(bound, off / NEARER);
    }
    x->numbers.expected[i] = value;
    x->numbers.bound[i] = divisor == 0.0 ? 0.0 : bound;
    if (divisor != 0.0 && (!isfinite(value) || !isfinite(bound))) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = INFINITY;
    }
}

int explain_finish(struct explain *x, const struct explain_state *s, double divisor) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)x->d;
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    struct explain_state right;
    gate_class(x->kernel, &x->at->problem.recipe, x->n, 0.0, &arithmetic, &counts);
    sum_right(x, &right);
    for (int i = 0; i < x->d; i++) {
        finish_element(x, s, divisor, &right, arithmetic.output.unit, i);
    }
    double lse = s->m + log(s->n), of_lse = x->at->expected[at];
    x->numbers.expected[x->d] = isfinite(lse) ? lse : 0.0;
    x->numbers.bound[x->d] = isfinite(lse)
                                 ? x->at->bound[at] * fmax(1.0, fabs(lse) / fmax(fabs(of_lse), 1.0))
                                 : INFINITY;
    return 1;
}

/* ---- A quick look ---- */

void explain_test_new(const struct explain *x, struct explain_test *test) {
    size_t at = (size_t)x->pair * (size_t)x->at->width;
    const double *got = x->at->got + at, *bound = x->at->bound + at;
    test->n = 0;
    for (int i = 0; i < x->d && test->n < EXPLAIN_TESTED; i++) {
        if (x->at->rightness[at + (size_t)i] == GATE_NUMBER_WRONG && isfinite(got[i])) {
            test->element[test->n] = i;
            test->got[test->n] = got[i];
            test->allowed[test->n++] = 16.0 * bound[i] + 2e-3 * fabs(got[i]);
        }
    }
}

int explain_might_give(const struct explain_test *test, const double *sum) {
    for (int t = 0; t < test->n; t++) {
        if (!(fabs(sum[t] / sum[test->n] - test->got[t]) <= test->allowed[t])) {
            return 0;
        }
    }
    return test->n > 0;
}

/* ---- One after the other ---- */

static void weigh_step(const struct explain *x, const struct way *way, struct explain_state *s,
                       int first, int end, int backwards) {
    double of_step = -INFINITY;
    for (int j = first; j < end; j++) {
        of_step = fmax(of_step, x->scratch[backwards ? x->m - 1 - j : j]);
    }
    double largest = fmax(s->m, of_step);
    double factor = s->m == -INFINITY  ? 0.0
                    : way->upside_down ? exp(largest - s->m)
                                       : exp(s->m - largest);
    s->n *= way->rescales_n ? factor : 1.0;
    for (int i = 0; i < x->d; i++) {
        s->o[i] *= way->rescales_o ? factor : 1.0;
        s->size[i] *= way->rescales_o ? factor : 1.0;
    }
    s->m = way->late && s->m > -INFINITY ? s->m : largest;
    for (int j = first; j < end; j++) {
        add_key(x, s, backwards ? x->m - 1 - j : j);
    }
    s->m = way->forgets ? of_step : largest;
}

#define SHARED_FIRST (-1) /* all shared chunks at once, then one chunk after the other */

int explain_keys_of_step(const struct explain *x, int step) {
    return step > 0 ? step : x->c;
}

void explain_name_step(int step, char *text, size_t size) {
    if (step <= 0) {
        (void)snprintf(text, size,
                       step == EXPLAIN_A_CHUNK ? "a chunk"
                                               : "a chunk, those that are shared at once");
    } else {
        (void)snprintf(text, size, "%d %s", step, step == 1 ? "key" : "keys");
    }
}

/* a: way, step, 1 from the last key on. */
static int sum_up(struct explain *x, const int *a) {
    const struct way *way = &ways[a[0]];
    struct explain_state s;
    int step = explain_keys_of_step(x, a[1]);
    explain_take_scores(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_begin(x, &s, 0);
    int shared = x->at->problem.n_shared_chunks[x->s] * x->c;
    for (int first = 0, end; first < x->m; first = end) {
        end = first + (a[1] == SHARED_FIRST && first == 0 && shared > 0 ? shared : step);
        end = end < x->m ? end : x->m;
        weigh_step(x, way, &s, first, end, a[2]);
    }
    double divisors[] = {1.0, s.n, x->m, s.n * s.n};
    return explain_finish(x, &s, divisors[way->divides]);
}

static void try_way(struct explain *x, int way) {
    const int steps[] = {1, EXPLAIN_A_CHUNK, SHARED_FIRST, 8, 16, 32, 64, 128};
    char step[60];
    int simple = ways[way].rescales_n && ways[way].rescales_o && !ways[way].upside_down &&
                 !ways[way].late && !ways[way].forgets;
    for (int backwards = 0; backwards < (simple ? 1 : 2); backwards++) {
        for (int i = 0; i < (simple ? 1 : 8); i++) {
            const int a[EXPLAIN_NUMBERS] = {way, steps[i], backwards};
            if (simple) {
                explain_try(x, sum_up, a, 40, "as if %s", ways[way].words);
            } else if (i == 0 || (explain_keys_of_step(x, steps[i]) < x->n &&
                                  explain_keys_of_step(x, steps[i]) > 1)) {
                explain_name_step(steps[i], step, sizeof step);
                explain_try(x, sum_up, a, 40 + i + 8 * backwards, "as if %s, in steps of %s%s",
                            ways[way].words, step, backwards ? " from the last one on" : "");
            }
        }
    }
}

/* ---- Parts, and merged ---- */

enum split { SHARED, HALVES, CHUNKS, TILES };
enum merge { AVERAGED, BY_OWN_WEIGHTS, FIRST_PART, LAST_PART };

static int is_end(const struct explain *x, int split, int tile, int j) {
    int shared = x->at->problem.n_shared_chunks[x->s] * x->c;
    return j == x->m || (split == SHARED   ? j == shared
                         : split == HALVES ? j == (x->m + 1) / 2
                         : split == CHUNKS ? j % x->c == 0
                                           : j % tile == 0);
}

/* A part that was weighed by itself, into the whole. */
static void merge(const struct explain *x, struct explain_state *whole,
                  const struct explain_state *part, int how, int parts) {
    double factor = how == BY_OWN_WEIGHTS ? 1.0
                    : how == AVERAGED     ? 1.0 / part->n
                                          : (how == LAST_PART || parts == 0 ? 1.0 : 0.0);
    if (how == LAST_PART) {
        explain_clear(x, whole);
    }
    whole->n += how == AVERAGED ? 1.0 : factor * part->n;
    whole->m = factor > 0.0 ? part->m : whole->m;
    for (int i = 0; i < x->d; i++) {
        whole->o[i] += factor * part->o[i];
        whole->size[i] += factor * part->size[i];
    }
}

/* a: split, merge, keys of a tile. */
static int merge_parts(struct explain *x, const int *a) {
    struct explain_state whole, part;
    int parts = 0;
    explain_take_scores(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_begin(x, &whole, 0);
    explain_begin(x, &part, 1);
    for (int from = 0, end; from < x->m; from = end) {
        explain_clear(x, &part);
        for (end = from + 1; !is_end(x, a[0], a[2], end); end++) {
        }
        for (int j = from; j < end; j++) {
            part.m = fmax(part.m, x->scratch[j]);
        }
        for (int j = from; j < end; j++) {
            add_key(x, &part, j);
        }
        merge(x, &whole, &part, a[1], parts++);
    }
    if (parts < 2 || !explain_finish(x, &whole, whole.n)) {
        return 0;
    }
    x->numbers.bound[x->d] =
        a[1] == BY_OWN_WEIGHTS || a[1] == AVERAGED ? INFINITY : x->numbers.bound[x->d];
    return 1;
}

static void try_merges(struct explain *x) {
    static const char *const splits[] = {"the shared chunks and the sequence's own",
                                         "both halves of the keys", "the chunks"};
    static const char *const merges[] = {
        "had been averaged, each counting the same",
        "had been merged without rescaling them to one maximum: it is not carried on",
        "had not been merged: the first part alone", "had not been merged: the last part alone"};
    char tiles[40];
    for (int how = AVERAGED; how <= LAST_PART; how++) {
        for (int split = SHARED; split <= CHUNKS; split++) {
            const int a[EXPLAIN_NUMBERS] = {split, how};
            explain_try(x, merge_parts, a, 45, "as if the results of %s %s (MERGE-4)",
                        splits[split], merges[how]);
        }
        for (int tile = 2; tile <= MOST_TILE; tile *= 2) {
            const int a[EXPLAIN_NUMBERS] = {TILES, how, tile};
            (void)snprintf(tiles, sizeof tiles, "tiles of %d keys", tile);
            explain_try(x, merge_parts, a, 46, "as if the results of %s %s (MERGE-4)", tiles,
                        merges[how]);
        }
    }
}

void explain_try_sums(struct explain *x) {
    for (int i = 0; i < (int)(sizeof ways / sizeof ways[0]); i++) {
        try_way(x, i);
    }
    try_merges(x);
}

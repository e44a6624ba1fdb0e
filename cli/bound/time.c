/* SPDX-License-Identifier: Apache-2.0 */
/* What cp_tolerance() costs: processor time for one row, beside that of the reference's attention
 * for the same row, both with K and V in binary64 and in turn; the fastest of some runs. */
#include <stdlib.h>
#include <time.h>

#include "chunkproof/limits.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "cli/bound/bound.h"

#define RUNS   7
#define ENOUGH 0.02 /* seconds for a run, so that the clock's tick is small */

struct work {
    struct bound_row row;
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    int chunk;
    double *expected, *bound, *o, *part_o, *scratch;
};

static void tolerance_once(const struct work *w) {
    const struct bound_row *row = &w->row;
    struct cp_tolerance_row asked = {row->n, row->d, row->d,     row->scale, row->q,
                                     row->k, row->v, w->scratch, NULL,       NULL};
    double lse, lse_bound;
    cp_tolerance(&w->arithmetic, &w->counts, &asked, 0.0, w->expected, w->bound, &lse, &lse_bound);
}

static void attention_once(const struct work *w) {
    const struct bound_row *row = &w->row;
    struct cp_state state, part;
    cp_state_empty(&state, w->o, row->d);
    for (int first = 0; first < row->n; first += w->chunk) {
        int n = row->n - first < w->chunk ? row->n - first : w->chunk;
        cp_partial_attn(&part, w->part_o, row->q, row->k, row->v, CP_FP64, (size_t)first, n, row->d,
                        row->scale);
        cp_attn_reduce(&state, w->o, &part, w->part_o, row->d);
    }
    (void)cp_finish(&state, w->o, w->part_o, row->d);
}

/* Seconds for one call, averaged over many. */
static double measure(void (*once)(const struct work *), const struct work *w, int calls) {
    clock_t start = clock();
    for (int i = 0; i < calls; i++) {
        once(w);
    }
    return (double)(clock() - start) / CLOCKS_PER_SEC / calls;
}

static int calls_for(void (*once)(const struct work *), const struct work *w) {
    int calls = 1;
    while (measure(once, w, calls) * calls < ENOUGH && calls < (1 << 20)) {
        calls *= 2;
    }
    return calls;
}

static void print_row(FILE *file, const struct work *w) {
    double tolerance = 0.0, attention = 0.0;
    int calls[2] = {calls_for(attention_once, w), calls_for(tolerance_once, w)};
    for (int i = 0; i < RUNS; i++) {
        double a = measure(attention_once, w, calls[0]);
        double t = measure(tolerance_once, w, calls[1]);
        attention = i == 0 || a < attention ? a : attention;
        tolerance = i == 0 || t < tolerance ? t : tolerance;
    }
    fprintf(file, "%8d %14.4f %14.4f %8.2f\n", w->row.n, 1e3 * attention, 1e3 * tolerance,
            tolerance / attention);
}

static int time_row(FILE *file, const struct bound_options *options, int keys) {
    struct bound_options o = *options;
    struct work w = {.chunk = o.chunk < CP_MAX_CHUNK_SIZE ? o.chunk : CP_MAX_CHUNK_SIZE};
    size_t d = (size_t)o.head_dim;
    o.keys = keys;
    if (bound_row_new(&w.row, keys, o.head_dim, o.head_dim) != 0) {
        return -1;
    }
    w.expected = malloc((4 * d + 3 * (size_t)keys) * sizeof *w.expected);
    if (w.expected == NULL) {
        bound_row_free(&w.row);
        return -1;
    }
    w.bound = w.expected + d;
    w.o = w.bound + d;
    w.part_o = w.o + d;
    w.scratch = w.part_o + d;
    bound_row_fill(&w.row, &o);
    (void)bound_class(&o, &w.row,
                      &(struct bound_largest){.score = 10.0, .products = 10.0, .key = 10.0},
                      &w.arithmetic, &w.counts);
    print_row(file, &w);
    free(w.expected);
    bound_row_free(&w.row);
    return 0;
}

int bound_print_time(FILE *file, const struct bound_options *o) {
    static const int usual[] = {1024, 4096, 16384};
    int failed = 0;
    fprintf(
        file,
        "One query row, %d number%s per key, K and V in binary64; milliseconds of processor time\n"
        "\n"
        "    keys      attention      tolerance    ratio\n",
        o->head_dim, o->head_dim == 1 ? "" : "s");
    for (int i = 0; i < (o->keys_given ? 1 : 3) && !failed; i++) {
        failed = time_row(file, o, o->keys_given ? o->keys : usual[i]);
        (void)fflush(file);
    }
    return failed;
}

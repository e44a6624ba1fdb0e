/* SPDX-License-Identifier: Apache-2.0 */
/* Where a kernel is wrong: rows and heads have properties, and one of them may tell the wrong ones
 * from the right ones, as "64 keys or more" does. */
#include <limits.h>
#include <stdio.h>

#include "gate/explain/explain.h"

#define MOST_SAID 3 /* properties */
#define ENOUGH    4 /* rows and heads: any property tells two from each other */

#define PROPERTIES 14

/* Of a row and head. The first property that tells is said, and two more: what says more about a
 * kernel comes first. */
struct property {
    int value;
    const char *words;
};

/* How many runs of its sequence a row sees; and how many of these have empty slots. */
static int runs_seen(const struct gate_problem *p, int row, int with_empty_slots) {
    int s = gate_sequence_of(p, row), n = 0;
    for (int k = 0; k < gate_runs(p, s); k++) {
        int is_full = p->table_tokens[s * p->table_width + k] == p->recipe.chunk_size;
        n += gate_visible_in(p, row, k) > 0 && !(with_empty_slots && is_full);
    }
    return n;
}

static int seen_in_last(const struct gate_problem *p, int row, int keys) {
    int s = gate_sequence_of(p, row);
    return keys > 0 ? gate_visible_in(p, row, gate_run_of(p, s, keys - 1)) : 0;
}

/* The last two are the same for all rows of a tree. */
static struct property property_of(const struct gate_problem *p, int pair, int which) {
    int h = p->recipe.n_heads, group = h / p->recipe.n_kv_heads;
    int row = pair / h, head = pair % h, s = gate_sequence_of(p, row), keys = gate_visible(p, row);
    int shared = p->n_shared_chunks[s], is_tree = p->plan == CP_PLANS_TREES;
    const struct property properties[PROPERTIES] = {
        {shared, is_tree ? "shared chunks" : "runs of descriptors"},
        {gate_runs(p, s) - shared, is_tree ? "chunks of its own" : "runs of its own"},
        {runs_seen(p, row, 0), is_tree ? "chunks that are seen" : "runs that are seen"},
        {seen_in_last(p, row, keys), is_tree ? "keys that are seen in the last chunk"
                                             : "keys that are seen in the last run by position"},
        {keys, "keys that are seen"},
        {p->query_begin[s + 1] - 1 - row, "query rows behind it in its sequence"},
        {row - p->query_begin[s], "query rows before it in its sequence"},
        {head % group, "number of the head in its group"},
        {head / group, "number of the K/V head"},
        {head, "number of the head"},
        {s, "number of the sequence"},
        {row, "number of the row"},
        {is_tree ? 0 : runs_seen(p, row, 1), "runs with empty slots that are seen"},
        {is_tree ? 0 : p->position[row] + 1 - keys, "positions up to its own without a key"},
    };
    return properties[which];
}

/* The values of a property; and how many are one that is asked for. */
struct range {
    int least, most, n, n_asked;
    const char *words;
};

/* Of the wrong rows and heads, or of the right ones. */
static struct range range_of(const struct explain *x, int n_runs, int which, int wrong, int asked) {
    struct range range = {INT_MAX, INT_MIN, 0, 0, ""};
    for (int i = 0; i < n_runs; i++) {
        for (int pair = 0; pair < x->run[i].pairs; pair++) {
            if (explain_is_wrong(&x->run[i], pair) == wrong) {
                struct property one = property_of(&x->run[i].problem, pair, which);
                range.least = one.value < range.least ? one.value : range.least;
                range.most = one.value > range.most ? one.value : range.most;
                range.n++;
                range.n_asked += one.value == asked;
                range.words = one.words;
            }
        }
    }
    return range;
}

/* 1: it tells the wrong ones from the right ones, and that was said. */
static int say(const struct explain *x, int n_runs, int which, int said) {
    struct range bad = range_of(x, n_runs, which, 1, 0);
    struct range good = range_of(x, n_runs, which, 0, bad.least);
    const char *begin = said > 0      ? "or, which is the same,"
                        : n_runs == 1 ? "wrong are exactly those with"
                                      : "wrong, of these cases, are exactly those rows with";
    if (bad.n == 0 || good.n == 0 || bad.n + good.n < ENOUGH) {
        return 0;
    }
    if (bad.least == bad.most && good.n_asked == 0) {
        fprintf(x->file, "  %s %s = %d\n", begin, bad.words, bad.least);
    } else if (bad.least > good.most) {
        fprintf(x->file, "  %s %s >= %d (right: up to %d)\n", begin, bad.words, bad.least,
                good.most);
    } else if (bad.most < good.least) {
        fprintf(x->file, "  %s %s <= %d (right: from %d on)\n", begin, bad.words, bad.most,
                good.least);
    } else {
        return 0;
    }
    return 1;
}

int explain_where(const struct explain *x, int n_runs) {
    int said = 0;
    for (int which = 0; which < PROPERTIES && said < MOST_SAID; which++) {
        said += say(x, n_runs, which, said);
    }
    return said;
}

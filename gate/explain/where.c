/* SPDX-License-Identifier: Apache-2.0 */
/* Where a kernel is wrong: its rows and heads have properties, and one of them may tell the wrong
 * ones from the right ones, as "64 keys or more" does. */
#include <limits.h>
#include <stdio.h>

#include "gate/explain/explain.h"

#define MOST_SEQUENCES 12 /* that are drawn, */
#define MOST_CHUNKS    10 /* with so many chunks each */
#define MOST_SHARED    16
#define MOST_SAID      3 /* properties */
#define ENOUGH         4 /* rows and heads */
#define MOST_RANGES    6 /* of elements */

/* A row and head, as its properties see it. */
struct place {
    const struct gate_problem *p;
    int s, row, head;
};

static int sequence_of(const struct place *at) {
    return at->s;
}

static int head_of(const struct place *at) {
    return at->head;
}

static int kv_head_of(const struct place *at) {
    return at->head / (at->p->recipe.n_heads / at->p->recipe.n_kv_heads);
}

static int head_in_group(const struct place *at) {
    return at->head % (at->p->recipe.n_heads / at->p->recipe.n_kv_heads);
}

static int row_of(const struct place *at) {
    return at->row;
}

static int rows_after(const struct place *at) {
    return at->p->query_begin[at->s + 1] - 1 - at->row;
}

static int rows_before(const struct place *at) {
    return at->row - at->p->query_begin[at->s];
}

static int keys_of(const struct place *at) {
    return gate_visible(at->p, at->row);
}

static int chunks_of(const struct place *at) {
    int c = at->p->recipe.chunk_size;
    return (keys_of(at) + c - 1) / c;
}

static int keys_in_last_chunk(const struct place *at) {
    int c = at->p->recipe.chunk_size, keys = keys_of(at);
    return keys > 0 ? (keys - 1) % c + 1 : 0;
}

static int shared_chunks_of(const struct place *at) {
    return at->p->n_shared_chunks[at->s];
}

static int own_chunks_of(const struct place *at) {
    int c = at->p->recipe.chunk_size;
    return (at->p->n_tokens[at->s] + c - 1) / c - shared_chunks_of(at);
}

/* The first that tells is said, and two more: those that say more about what a kernel does come
 * first. */
static const struct property {
    int (*of)(const struct place *at);
    const char *words;
} properties[] = {
    {shared_chunks_of, "shared chunks"},
    {own_chunks_of, "chunks of its own"},
    {chunks_of, "chunks that are seen"},
    {keys_in_last_chunk, "keys that are seen in the last chunk"},
    {keys_of, "keys that are seen"},
    {rows_after, "query rows behind it in its sequence"},
    {rows_before, "query rows before it in its sequence"},
    {head_in_group, "number of the head in its group"},
    {kv_head_of, "number of the K/V head"},
    {head_of, "number of the head"},
    {sequence_of, "number of the sequence"},
    {row_of, "number of the row"},
};

/* Of the wrong ones and of the right ones. */
struct range {
    int least, most, n;
};

static void widen(struct range *range, int value) {
    range->least = value < range->least ? value : range->least;
    range->most = value > range->most ? value : range->most;
    range->n++;
}

/* The values of a property; whether a right one has the value that all wrong ones have. */
static int look(const struct property *property, const struct explain_run *runs, int n_runs,
                struct range *of_wrong, struct range *of_right) {
    int shared = 0;
    *of_wrong = *of_right = (struct range){INT_MAX, INT_MIN, 0};
    for (int i = 0; i < 2 * n_runs; i++) { /* the wrong ones of all, then the right ones */
        const struct gate_problem *p = &runs[i % n_runs].problem;
        for (int pair = 0; pair < runs[i % n_runs].pairs; pair++) {
            int wrong = explain_is_wrong(&runs[i % n_runs], pair);
            struct place at = {p, 0, pair / p->recipe.n_heads, pair % p->recipe.n_heads};
            if (wrong != (i < n_runs)) {
                continue;
            }
            at.s = gate_sequence_of(p, at.row);
            int value = property->of(&at);
            widen(wrong ? of_wrong : of_right, value);
            shared |= !wrong && value == of_wrong->least;
        }
    }
    return shared;
}

/* 1: it tells the wrong ones from the right ones, and that was said. */
static int say(FILE *file, const struct property *property, const struct explain_run *runs,
               int n_runs, int said) {
    struct range bad, good;
    const char *begin = said > 0      ? "  or, which is the same,"
                        : n_runs == 1 ? "  wrong are exactly those with"
                                      : "  wrong, of these cases, are exactly those rows with";
    int shared = look(property, runs, n_runs, &bad, &good);
    if (bad.n == 0 || good.n == 0 || bad.n + good.n < ENOUGH) { /* of two rows anything tells */
        return 0;
    }
    if (bad.least == bad.most && !shared) {
        fprintf(file, "%s %s = %d\n", begin, property->words, bad.least);
        return 1;
    }
    if (bad.least > good.most) {
        fprintf(file, "%s %s >= %d (right: up to %d)\n", begin, property->words, bad.least,
                good.most);
        return 1;
    }
    if (bad.most < good.least) {
        fprintf(file, "%s %s <= %d (right: from %d on)\n", begin, property->words, bad.most,
                good.least);
        return 1;
    }
    return 0;
}

int explain_where(FILE *file, const struct explain_run *runs, int n_runs) {
    int said = 0;
    for (size_t i = 0; i < sizeof properties / sizeof properties[0] && said < MOST_SAID; i++) {
        said += say(file, &properties[i], runs, n_runs, said);
    }
    return said;
}

/* ---- Elements ---- */

void explain_print_elements(FILE *file, const unsigned char *is_one, int n) {
    int ranges = 0;
    for (int i = 0; i < n; i++) {
        int begin = i;
        if (!is_one[i]) {
            continue;
        }
        while (i + 1 < n && is_one[i + 1]) {
            i++;
        }
        if (ranges++ == MOST_RANGES) {
            fputs(", ...", file);
            return;
        }
        fprintf(file, i == begin ? "%s%d" : "%s%d to %d", ranges > 1 ? ", " : "", begin, i);
    }
}

/* ---- The tree ---- */

static void print_sequence(FILE *file, const struct gate_problem *p, int s) {
    int c = p->recipe.chunk_size;
    fprintf(file, "    S%d ", s);
    for (int k = 0; k * c < p->n_tokens[s] && k < MOST_CHUNKS; k++) {
        int left = p->n_tokens[s] - k * c;
        fprintf(file, " C%d%s:%d", p->table[s * p->table_width + k],
                k < p->n_shared_chunks[s] ? "*" : "", left < c ? left : c);
    }
    fprintf(file, "%s  %d %s", p->n_tokens[s] > MOST_CHUNKS * c ? " ..." : "", p->n_tokens[s],
            p->n_tokens[s] == 1 ? "key" : "keys");
    if (p->query_begin[s] < p->query_begin[s + 1]) {
        fprintf(file, ", rows %d to %d\n", p->query_begin[s], p->query_begin[s + 1] - 1);
    } else {
        fputs(", no row\n", file);
    }
}

void explain_tree(FILE *file, const struct gate_problem *p) {
    fputs("\n  the sequences, with their chunks (* shared) and how many keys are in each:\n", file);
    for (int s = 0; s < p->b && s < MOST_SEQUENCES; s++) {
        print_sequence(file, p, s);
    }
    fputs(p->b > MOST_SEQUENCES ? "    ...\n" : "", file);
    if (p->n_shared > 0) {
        fputs("  shared, with the sequences [i,j) and their keys:\n   ", file);
    }
    for (int i = 0; i < p->n_shared && i < MOST_SHARED; i++) {
        const struct cp_shared_chunk *one = &p->shared[i];
        fprintf(file, " C%d [%d,%d) %d..%d", one->chunk, one->begin, one->end, one->position,
                one->position + one->n_tokens - 1);
    }
    fputs(p->n_shared > MOST_SHARED ? " ...\n" : p->n_shared > 0 ? "\n" : "", file);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How rows, heads and elements are shown, and the sequences that they are of. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gate/explain/explain.h"

/* What is shown at most. */
#define MOST_PAIRS     3 /* rows and heads */
#define MOST_RANGES    6 /* of elements */
#define MOST_SEQUENCES 12
#define MOST_CHUNKS    10 /* of a sequence */
#define MOST_SHARED    16
#define MOST_ROWS      8 /* of a sequence, each with its position */

/* ---- Rows, heads, elements ---- */

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

void explain_print_pairs(FILE *file, const unsigned char *is_one, const struct gate_problem *p) {
    int h = p->recipe.n_heads, n = 0;
    for (int pair = 0; pair < p->n_rows * h; pair++) {
        n += is_one[pair];
        if (is_one[pair] && n <= MOST_PAIRS) {
            fprintf(file, "%srow %d head %d", n > 1 ? ", " : "", pair / h, pair % h);
        }
    }
    if (n > MOST_PAIRS) {
        fprintf(file, " and %d more", n - MOST_PAIRS);
    }
}

static void print_pair(FILE *file, const struct explain_results *r) {
    const struct gate_problem *p = &r->run->problem;
    int h = p->recipe.n_heads, row = r->pair / h, head = r->pair % h;
    fprintf(file, "  row %d, head %d (sequence %d, %d %s, K/V head %d):\n", row, head,
            gate_sequence_of(p, row), r->sees, r->sees == 1 ? "key" : "keys",
            head / (h / p->recipe.n_kv_heads));
}

int explain_show(struct explain *x, explain_picker *picks, explain_sayer *say) {
    const struct explain_run *run = &x->run[0];
    int pairs = 0;
    unsigned char *picked = malloc((size_t)run->width);
    for (int pair = 0; picked != NULL && pair < run->pairs; pair++) {
        const struct explain_results r = explain_results(run, pair);
        int n = 0;
        for (int i = 0; i <= r.d; i++) {
            picked[i] = (unsigned char)picks(&r, i);
            n += picked[i];
        }
        if (n > 0 && pairs++ < MOST_PAIRS) {
            print_pair(x->file, &r);
            say(x, &r, picked, n - picked[r.d]);
        }
    }
    free(picked);
    return pairs;
}

/* ---- The tree ---- */

static void print_sequence(FILE *file, const struct gate_problem *p, int s) {
    int c = p->recipe.chunk_size, n = p->n_tokens[s];
    fprintf(file, "    S%d ", s);
    for (int k = 0; k * c < n && k < MOST_CHUNKS; k++) {
        fprintf(file, " C%d%s:%d", gate_chunk_number(p, p->table[s * p->table_width + k]),
                k < p->n_shared_chunks[s] ? "*" : "", n - k * c < c ? n - k * c : c);
    }
    fprintf(file, "%s  %d %s", n > MOST_CHUNKS * c ? " ..." : "", n, n == 1 ? "key" : "keys");
    if (p->query_begin[s] < p->query_begin[s + 1]) {
        fprintf(file, ", rows %d to %d\n", p->query_begin[s], p->query_begin[s + 1] - 1);
    } else {
        fputs(", no row\n", file);
    }
}

/* What overflows where a pool is large. */
static void print_pool(FILE *file, const struct gate_problem *p) {
    struct cp_kernel_call c;
    if (p->number == NULL) {
        return;
    }
    gate_call_sizes(&c, p);
    long long farthest = c.k_chunk * (p->pool - 1);
    fprintf(file,
            "  the pool has %d chunks: their numbers %s in 16 bits, and k_chunk times a number %s "
            "in 32\n"
            "  with a sign: it is up to %lld (GATE-10)\n",
            p->pool, p->pool > 1 << 16 ? "do not fit" : "fit",
            farthest > INT32_MAX ? "does not fit" : "fits", farthest);
}

static void print_shared(FILE *file, const struct gate_problem *p) {
    fputs("  shared, with the sequences [i,j) and their keys:\n   ", file);
    for (int i = 0; i < p->n_shared && i < MOST_SHARED; i++) {
        const struct cp_shared_chunk *one = &p->shared[i];
        fprintf(file, " C%d [%d,%d) %d..%d", gate_chunk_number(p, one->chunk), one->begin, one->end,
                one->position, one->position + one->n_tokens - 1);
    }
    fputs(p->n_shared > MOST_SHARED ? " ...\n" : "\n", file);
}

/* ---- Runs ---- */

static void print_positions(FILE *file, const struct gate_problem *p, int s) {
    int begin = p->query_begin[s], end = p->query_begin[s + 1];
    if (begin == end) {
        fputs(", no row\n", file);
        return;
    }
    fprintf(file, end - begin > 1 ? ", rows %d to %d at " : ", row %d at ", begin, end - 1);
    for (int row = begin; row < end && row < begin + MOST_ROWS; row++) {
        fprintf(file, "%s%d", row > begin ? ", " : "", p->position[row]);
    }
    fputs(end - begin > MOST_ROWS ? ", ...\n" : "\n", file);
}

static void print_runs(FILE *file, const struct gate_problem *p, int s) {
    int runs = gate_runs(p, s), n = p->n_tokens[s];
    fprintf(file, "    S%d ", s);
    for (int k = 0; k < runs && k < MOST_CHUNKS; k++) {
        int at = s * p->table_width + k;
        fprintf(file, " C%d%s:%d@%d", gate_chunk_number(p, p->table[at]),
                k < p->n_shared_chunks[s] ? "*" : "", p->table_tokens[at], p->table_position[at]);
    }
    fprintf(file, "%s  %d %s", runs > MOST_CHUNKS ? " ..." : "", n, n == 1 ? "key" : "keys");
    print_positions(file, p, s);
}

static void print_descriptors(FILE *file, const struct gate_problem *p) {
    fputs("  the descriptors, with the sequences served[begin .. end) of each (RUNS-2):\n", file);
    for (int i = 0; i < p->n_shared && i < MOST_SHARED; i++) {
        const struct cp_shared_chunk *one = &p->shared[i];
        fprintf(file, "    C%d:%d@%d  [%d,%d) ", gate_chunk_number(p, one->chunk), one->n_tokens,
                one->position, one->begin, one->end);
        for (int at = one->begin; at < one->end && at < one->begin + MOST_SEQUENCES; at++) {
            fprintf(file, " S%d", p->served[at]);
        }
        fputs(one->end - one->begin > MOST_SEQUENCES ? " ...\n" : "\n", file);
    }
    fputs(p->n_shared > MOST_SHARED ? "    ...\n" : "", file);
}

/* ---- Both ---- */

void explain_tree(FILE *file, const struct gate_problem *p) {
    int is_tree = p->plan == CP_PLANS_TREES;
    fputs(is_tree
              ? "\n  the sequences, with their chunks (* shared) and how many keys are in each:\n"
              : "\n  the sequences, with their runs (RUNS-1): the chunk (* of a descriptor), how "
                "many keys it has,\n  and the position of the first:\n",
          file);
    for (int s = 0; s < p->b && s < MOST_SEQUENCES; s++) {
        if (is_tree) {
            print_sequence(file, p, s);
        } else {
            print_runs(file, p, s);
        }
    }
    fputs(p->b > MOST_SEQUENCES ? "    ...\n" : "", file);
    print_pool(file, p);
    if (p->n_shared > 0 && is_tree) {
        print_shared(file, p);
    } else if (p->n_shared > 0) {
        print_descriptors(file, p);
    }
}

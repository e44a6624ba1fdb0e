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

/* ---- The sequences ---- */

/* Of prompts with modules each row's position, too. */
static void print_rows(FILE *file, const struct gate_problem *p, int s) {
    int begin = p->query_begin[s], end = p->query_begin[s + 1], is_tree = p->plan == CP_PLANS_TREES;
    if (begin == end) {
        fputs(", no row\n", file);
        return;
    }
    fprintf(file, is_tree || end - begin > 1 ? ", rows %d to %d" : ", row %d", begin, end - 1);
    for (int row = begin; !is_tree && row < end && row < begin + MOST_ROWS; row++) {
        fprintf(file, "%s%d", row > begin ? ", " : " at ", p->position[row]);
    }
    fputs(!is_tree && end - begin > MOST_ROWS ? ", ...\n" : "\n", file);
}

static void print_sequence(FILE *file, const struct gate_problem *p, int s) {
    int runs = gate_runs(p, s), n = p->n_tokens[s], is_ragged = p->layout.pages == CP_PAGES_RAGGED;
    fprintf(file, "    S%d ", s);
    if (is_ragged && n > 0) {
        int first = p->table[(ptrdiff_t)s * p->table_width];
        fprintf(file, " %d to %d", first, first + n - 1);
    }
    runs = is_ragged ? 0 : runs;
    for (int k = 0; k < runs && k < MOST_CHUNKS; k++) {
        int at = s * p->table_width + k;
        fprintf(file, p->plan == CP_PLANS_TREES ? " C%d%s:%d" : " C%d%s:%d@%d",
                gate_chunk_number(p, p->table[at]), k < p->n_shared_chunks[s] ? "*" : "",
                p->table_tokens[at], p->table_position[at]);
    }
    fprintf(file, "%s  %d %s", runs > MOST_CHUNKS ? " ..." : "", n, n == 1 ? "key" : "keys");
    print_rows(file, p, s);
}

/* What overflows where a pool is large. */
static void print_pool(FILE *file, const struct gate_problem *p) {
    struct cp_kernel_call c;
    if (p->number == NULL) {
        return;
    }
    gate_call_sizes(&c, p);
    long long farthest = c.k_chunk * (p->pool - 1); /* also of a problem whose chunks are pages */
    fprintf(
        file,
        "  the pool has %d %s: their numbers %s in 16 bits, and k_chunk times a number %s in 32\n"
        "  with a sign: it is up to %lld (GATE-10)\n",
        p->pool, p->layout.pages == CP_PAGES_OWN ? "pages" : "chunks",
        p->pool > 1 << 16 ? "do not fit" : "fit", farthest > INT32_MAX ? "does not fit" : "fits",
        farthest);
}

/* A shared chunk of a tree, on a line with others; a descriptor with those that it serves. */
static void print_one(FILE *file, const struct gate_problem *p, const struct cp_shared_chunk *one) {
    int chunk = gate_chunk_number(p, one->chunk), n = one->n_tokens, first = one->position;
    if (p->plan == CP_PLANS_TREES) {
        fprintf(file, " C%d [%d,%d) %d..%d", chunk, one->begin, one->end, first, first + n - 1);
        return;
    }
    fprintf(file, "    C%d:%d@%d  [%d,%d) ", chunk, n, first, one->begin, one->end);
    for (int at = one->begin; at < one->end && at < one->begin + MOST_SEQUENCES; at++) {
        fprintf(file, " S%d", p->served[at]);
    }
    fputs(one->end - one->begin > MOST_SEQUENCES ? " ...\n" : "\n", file);
}

static void print_shared(FILE *file, const struct gate_problem *p) {
    int is_tree = p->plan == CP_PLANS_TREES;
    fputs(is_tree
              ? "  shared, with the sequences [i,j) and their keys:\n   "
              : "  the descriptors, with the sequences served[begin .. end) of each (RUNS-2):\n",
          file);
    for (int i = 0; i < p->n_shared && i < MOST_SHARED; i++) {
        print_one(file, p, &p->shared[i]);
    }
    fputs(p->n_shared <= MOST_SHARED ? "" : is_tree ? " ..." : "    ...\n", file);
    fputs(is_tree ? "\n" : "", file);
}

void explain_tree(FILE *file, const struct gate_problem *p) {
    const char *words =
        p->layout.pages == CP_PAGES_OWN
            ? "their pages (* of several) and how many keys are in each; "
              "a page is called a chunk below"
        : p->layout.pages == CP_PAGES_RAGGED
            ? "the rows of K and V that have their keys; a row is called a chunk below"
        : p->plan == CP_PLANS_TREES ? "their chunks (* shared) and how many keys are in each"
                                    : "their runs (RUNS-1): the chunk (* of a descriptor), how "
                                      "many keys it has,\n  and the "
                                      "position of the first";
    fprintf(file, "\n  the sequences, with %s:\n", words);
    for (int s = 0; s < p->b && s < MOST_SEQUENCES; s++) {
        print_sequence(file, p, s);
    }
    fputs(p->b > MOST_SEQUENCES ? "    ...\n" : "", file);
    print_pool(file, p);
    if (p->n_shared > 0) {
        print_shared(file, p);
    }
}

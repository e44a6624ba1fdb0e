/* SPDX-License-Identifier: Apache-2.0 */
/* Query rows and the heads of a group that are taken together, some at a time: pairs of them, numbered row by row or head by
 * head, in tiles; and masks that are decided for a whole tile of pairs and keys. */
#include "gate/explain/explain.h"

#define LEAST_PAIRS 2
#define MOST_PAIRS  128
#define MOST_KEYS   256
#define ALL_PAIRS   (1 << 20)

/* Of the pair x is at: query rows of its sequence, heads of its group, its number, counted row by row. */
struct pair {
    int rows, group, row, head, number;
};

static struct pair pair_of(const struct explain *x, int by_heads) {
    const struct gate_problem *p = &x->at->problem;
    struct pair pair = {.rows = p->query_begin[x->s + 1] - p->query_begin[x->s],
                        .group = p->recipe.n_heads / p->recipe.n_kv_heads};
    pair.row = x->row - p->query_begin[x->s];
    pair.head = x->head - x->g * pair.group;
    pair.number = by_heads ? pair.head * pair.rows + pair.row : pair.row * pair.group + pair.head;
    return pair;
}

/* a: pairs of a tile, 1: numbered head by head. What is counted within rows, or within the group, begins anew in each tile. */
static int count_from_tile(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    struct pair pair = pair_of(x, a[1]);
    int in_tile = pair.number % a[0], row = pair.row, head = pair.head;
    if (a[1]) {
        row = in_tile % pair.rows;
    } else {
        head = in_tile % pair.group;
    }
    explain_take_query(x, p->query_begin[x->s] + row, x->g * pair.group + head);
    for (int j = 0; j < x->n; j++) {
        explain_take_key(x, x->s, j, x->g, x->g);
    }
    return (row != pair.row || head != pair.head) && explain_attend(x, 1.0);
}

/* a: pairs of a tile; 1: numbered head by head; keys of a tile, in which no key is masked where the last row of the tile
 * of pairs sees all of them; or 0: each row sees what the first of its tile sees. */
static int mask_by_tile(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    struct pair pair = pair_of(x, a[1]);
    int first = pair.number / a[0] * a[0], last = first + a[0] - 1, n = x->n;
    last = last < pair.rows * pair.group ? last : pair.rows * pair.group - 1;
    int first_row = a[1] ? first % pair.rows : first / pair.group;
    int last_row = a[1] ? last % pair.rows : last / pair.group;
    if (a[2] == 0) {
        n = gate_visible(p, p->query_begin[x->s] + first_row);
    } else {
        int whole = gate_visible(p, p->query_begin[x->s] + last_row) / a[2] * a[2];
        n = whole > n ? whole : n;
    }
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < n; j++) {
        explain_take_key(x, x->s, j, x->g, x->g);
    }
    return n != x->n && explain_attend(x, 1.0);
}

/* a: query rows of a block: the keys that a row sees are counted as if its block were the first one of its sequence. */
static int mask_by_block(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    int begin = p->query_begin[x->s], n = gate_visible(p, begin + (x->row - begin) % a[0]);
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < n; j++) {
        explain_take_key(x, x->s, j, x->g, x->g);
    }
    return n != x->n && explain_attend(x, 1.0);
}

static void try_blocks(struct explain *x, int rows) {
    for (int block = 2; block < rows && block <= MOST_PAIRS; block *= 2) {
        const int a[EXPLAIN_NUMBERS] = {block};
        explain_try(
            x, mask_by_block, a, 13,
            "as if in blocks of %d query rows the keys that a row sees had been counted from "
            "the first row of its sequence, not of its block: each block as the first one "
            "(PREFILL-2)",
            block);
    }
}

static const char *name_tile(int pairs, int by_heads, char *text, size_t size) {
    if (pairs == ALL_PAIRS) {
        (void)snprintf(text, size, "its sequence");
    } else {
        (void)snprintf(text, size, "a tile of %d rows and heads (counted %s)", pairs,
                       by_heads ? "head by head" : "row by row");
    }
    return text;
}

static void try_masks(struct explain *x, int pairs, int by_heads) {
    char tile[80];
    const int first[EXPLAIN_NUMBERS] = {pairs, by_heads, 0};
    (void)name_tile(pairs, by_heads, tile, sizeof tile);
    explain_try(x, mask_by_tile, first, 14,
                "as if each row saw as many keys as the first row of %s (PREFILL-2)", tile);
    for (int keys = 1; keys <= MOST_KEYS; keys *= 2) {
        const int last[EXPLAIN_NUMBERS] = {pairs, by_heads, keys};
        if (keys == 1) {
            explain_try(x, mask_by_tile, last, 13 + (pairs < ALL_PAIRS),
                        "as if each row saw as many keys as the last row of %s (PREFILL-2)", tile);
            continue;
        }
        explain_try(x, mask_by_tile, last, 13 + (pairs < ALL_PAIRS),
                    "as if no key were masked in a block of %d keys that the last row of %s sees "
                    "to its end: rows before it do not (PREFILL-2)",
                    keys, tile);
    }
}

void explain_try_tiles(struct explain *x) {
    struct pair pair = pair_of(x, 0);
    if (pair.rows > 1 && x->n > 0) {
        try_masks(x, ALL_PAIRS, 0);
        try_blocks(x, pair.rows);
    }
    for (int pairs = LEAST_PAIRS; pairs <= MOST_PAIRS && pairs < pair.rows * pair.group;
         pairs *= 2) {
        for (int by_heads = 0; by_heads < 2 && x->n > 0; by_heads++) {
            const int a[EXPLAIN_NUMBERS] = {pairs, by_heads};
            explain_try(x, count_from_tile, a, 12 + by_heads,
                        "as if rows and heads of a group were taken %d at a time, %s, and %s "
                        "counted from the first of these, not from its own: its query is another "
                        "one's (PREFILL-1)",
                        pairs, by_heads ? "head by head" : "row by row",
                        by_heads ? "a row were" : "a head were");
            if (pair.rows > 1) {
                try_masks(x, pairs, by_heads);
            }
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Random masks (spec/masks.md), as bits and as what the bits say. */
#ifndef CHUNKPROOF_TESTS_MASK_CASE_H
#define CHUNKPROOF_TESTS_MASK_CASE_H

#include "attend_case.h"

#define MASK_NONE   0 /* no key that has a bit */
#define MASK_ALL    1 /* all keys */
#define MASK_RANDOM 2 /* each key or not */
#define MASK_SPARSE 3 /* one key in sixteen */
#define MASK_BLOCKS 4 /* up to 90 keys, then up to 90 not, and so on */
#define MASK_N_KIND 5

struct mask_case {
    struct cp_mask mask; /* for the call */
    unsigned char *left; /* [rows][width]: 1 where the mask leaves the key at this position */
    int n_rows, width;   /* of the sequence with most keys */
    unsigned char *bits; /* mask.bits, mask.first, mask.begin: of exact size */
    size_t *first;
    int *begin;
};

/* Draws a mask for rows whose sequences have their keys at the positions below n_keys[row]. By seed
 * rows have their bits one right behind the other, in bytes of their own, or in any order with
 * other bits between them; from position 0 on, without mask.begin, or from any position on, also
 * one below 0 and one behind the last key. */
void mask_case_make(struct mask_case *m, int n_rows, const int *n_keys, int kind,
                    unsigned long long seed);
void mask_case_free(struct mask_case *m);

/* Draws one for a problem, and gives it to its call. */
void mask_case_take(struct mask_case *m, struct attend_case *c, int kind, unsigned long long seed);

/* What was drawn: 1 when the mask leaves the key at position t to the row. */
int mask_case_leaves(const struct mask_case *m, int row, int t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "mask_case.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"

static void *allocate(size_t n, size_t size) {
    void *memory = calloc(n, size);
    if (memory == NULL && n > 0) {
        abort();
    }
    return memory;
}

int mask_case_leaves(const struct mask_case *m, int row, int t) {
    return t >= m->width || m->left[(size_t)row * (size_t)m->width + (size_t)t];
}

/* From position `begin` on; before it the mask leaves all. */
static void draw_row(struct mask_case *m, int row, int begin, int kind,
                     unsigned long long *random) {
    unsigned char *left = m->left + (size_t)row * (size_t)m->width;
    int block = 0, in_block = 0;
    for (int t = 0; t < m->width; t++) {
        if (block == 0) {
            block = 1 + random_below(random, 90);
            in_block = !in_block;
        }
        block--;
        int drawn = kind == MASK_ALL      ? 1
                    : kind == MASK_RANDOM ? random_below(random, 2)
                    : kind == MASK_SPARSE ? random_below(random, 16) == 0
                    : kind == MASK_BLOCKS ? in_block
                                          : 0;
        left[t] = (unsigned char)(t < begin || drawn);
    }
}

/* Where rows have their bits. Returns how many bits there are. */
static size_t place_rows(struct mask_case *m, const int *n_keys, int layout,
                         unsigned long long *random) {
    size_t n = 0;
    for (int i = 0; i < m->n_rows; i++) {
        int row = layout == 2 ? m->n_rows - 1 - i : i;
        int n_bits = n_keys[row] - (m->begin == NULL ? 0 : m->begin[row]);
        n += layout == 2 ? (size_t)random_below(random, 10) : 0;
        n = layout == 1 ? (n + 7) / 8 * 8 : n;
        m->first[row] = n;
        n += n_bits > 0 ? (size_t)n_bits : 0;
    }
    return n;
}

static void set_bit(unsigned char *bits, size_t at, int to) {
    unsigned char bit = (unsigned char)(1 << at % 8);
    bits[at / 8] = (unsigned char)(to ? bits[at / 8] | bit : bits[at / 8] & ~bit);
}

static void write_bits(struct mask_case *m, const int *n_keys, size_t n,
                       unsigned long long *random) {
    size_t bytes = (n + 7) / 8;
    m->bits = allocate(bytes > 0 ? bytes : 1, 1);
    for (size_t i = 0; i < bytes; i++) {
        m->bits[i] = (unsigned char)random_bits(random);
    }
    for (int row = 0; row < m->n_rows; row++) {
        int begin = m->begin == NULL ? 0 : m->begin[row];
        for (int t = begin > 0 ? begin : 0; t < n_keys[row]; t++) {
            set_bit(m->bits, m->first[row] + (size_t)(t - begin), mask_case_leaves(m, row, t));
        }
    }
}

void mask_case_make(struct mask_case *m, int n_rows, const int *n_keys, int kind,
                    unsigned long long seed) {
    unsigned long long random = seed;
    int layout = (int)(seed % 3), has_begin = seed / 3 % 3 != 0;
    *m = (struct mask_case){.n_rows = n_rows};
    for (int row = 0; row < n_rows; row++) {
        m->width = n_keys[row] > m->width ? n_keys[row] : m->width;
    }
    m->left = allocate((size_t)n_rows * (size_t)m->width + 1, 1);
    m->first = allocate((size_t)n_rows, sizeof *m->first);
    m->begin = has_begin ? allocate((size_t)n_rows, sizeof *m->begin) : NULL;
    for (int row = 0; row < n_rows; row++) {
        int begin = has_begin ? random_below(&random, n_keys[row] + 6) - 3 : 0;
        if (has_begin) {
            m->begin[row] = begin;
        }
        draw_row(m, row, begin, kind, &random);
    }
    write_bits(m, n_keys, place_rows(m, n_keys, layout, &random), &random);
    m->mask = (struct cp_mask){m->bits, m->first, m->begin};
}

void mask_case_free(struct mask_case *m) {
    free(m->left);
    free(m->bits);
    free(m->first);
    free(m->begin);
}

void mask_case_take(struct mask_case *m, struct attend_case *c, int kind, unsigned long long seed) {
    int *n_keys = allocate((size_t)c->n_rows + 1, sizeof *n_keys);
    for (int row = 0; row < c->n_rows; row++) {
        n_keys[row] = c->plan->sequence[case_sequence_of(c, row)].n_tokens;
    }
    mask_case_make(m, c->n_rows, n_keys, kind, seed);
    c->attention.mask = m->mask;
    free(n_keys);
}

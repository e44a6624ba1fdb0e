/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/case/bits.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/random.h"
#include "gate/case/lists.h"

#define MOST_BITS ((size_t)1 << 26) /* 8 MiB */
#define MOST_KEYS ((size_t)1 << 24) /* that all rows see together: 64 MiB of numbers */

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* ---- Where bits are ---- */

/* One behind the last position that a row may see. */
static int end_of(const struct gate_problem *p, int s, int row) {
    long long end = (long long)p->position[row] + 1 + p->mask.ahead;
    int positions = gate_positions(p, s);
    return end < 0 ? 0 : end < positions ? (int)end : positions;
}

/* The position from which a row has bits: of a tree the first row's, of a whole mask 0, else
 * any. */
static int begin_of(const struct gate_problem *p, int s, int row, struct prng *random) {
    int end = end_of(p, s, row), any = prng_below(random, end + 1);
    return p->mask.kind == GATE_TREE_BITS    ? larger(p->position[p->query_begin[s]], 0)
           : p->mask.kind == GATE_WHOLE_BITS ? 0
                                             : any;
}

/* Of a whole mask rows have a bit for each position of the sequence, one row right behind the
 * other, and each sequence begins with a byte. Other rows begin with one, or not. */
static size_t place_rows(struct gate_problem *p, struct prng *random) {
    int is_packed = prng_below(random, 2);
    size_t next = 0;
    for (int s = 0; s < p->b; s++) {
        for (int row = p->query_begin[s]; row < p->query_begin[s + 1]; row++) {
            int starts = p->mask.kind == GATE_WHOLE_BITS ? row == p->query_begin[s] : !is_packed;
            int begin = begin_of(p, s, row, random), end = end_of(p, s, row);
            next = starts ? (next + 7) / 8 * 8 : next;
            p->mask.begin[row] = begin;
            p->mask.first[row] = next;
            next += (size_t)(p->mask.kind == GATE_WHOLE_BITS ? gate_positions(p, s)
                                                             : larger(end - begin, 0));
        }
    }
    return next;
}

/* ---- Bits ---- */

static void set_bit(const struct gate_mask *m, size_t i, int is_one) {
    unsigned char bit = (unsigned char)(1U << i % 8);
    m->bit[i / 8] = (unsigned char)(is_one ? m->bit[i / 8] | bit : m->bit[i / 8] & ~bit);
}

static size_t bit_of(const struct gate_mask *m, int row, int t) {
    return m->first[row] + (size_t)(t - m->begin[row]);
}

/* Each row of a sequence is a token whose parent is a row before it. A row has the bits of its own
 * path; of positions between those of rows any. */
static void make_tree(struct gate_problem *p, int s, struct prng *random) {
    const struct gate_mask *m = &p->mask;
    int first = p->query_begin[s];
    for (int row = first; row < p->query_begin[s + 1]; row++) {
        int end = end_of(p, s, row),
            parent = row > first ? first + prng_below(random, row - first) : -1;
        parent = row > first && prng_below(random, 2) == 0 ? row - 1 : parent;
        for (int other = first; other < row; other++) {
            int t = p->position[other], is_of_path = other == parent;
            if (t < m->begin[row] || t >= end) {
                continue;
            }
            if (parent >= 0 && other < parent) {
                is_of_path = t < m->begin[parent] || gate_is_left(p, parent, t);
            }
            set_bit(m, bit_of(m, row, t), is_of_path);
        }
        if (p->position[row] >= m->begin[row] && p->position[row] < end) {
            set_bit(m, bit_of(m, row, p->position[row]), 1);
        }
    }
}

/* How bits of a row follow one another: all alike; one by one; in runs of up to 40, of which three
 * in four are 1, or half, or one in four; all 1 but few; 0 up to some key, and 1 from there on. */
enum pattern { ALIKE, SINGLE, RUNS = 3, NEARLY_ALL = 6, FROM_SOME, PATTERNS };

#define FEW 40 /* one bit in so many is 0 */

static void make_row(struct gate_problem *p, int s, int row, int pattern, struct prng *random) {
    const struct gate_mask *m = &p->mask;
    int ones = 1 + prng_below(random, 3), begin = m->begin[row], end = end_of(p, s, row);
    int most = pattern == ALIKE ? 1 << 20 : pattern < RUNS ? 1 : 40;
    int from = pattern == FROM_SOME && end > begin ? begin + prng_below(random, end - begin) : 0;
    for (int t = begin, left = 0, is_one = 0; t < end; t++, left--) {
        if (left == 0) {
            left = 1 + prng_below(random, most);
            is_one = prng_below(random, 4) < ones;
        }
        is_one = pattern == NEARLY_ALL  ? prng_below(random, FEW) != 0
                 : pattern == FROM_SOME ? t >= from
                                        : is_one;
        set_bit(m, bit_of(m, row, t), is_one);
    }
}

/* In half of the sequences all rows have one pattern. */
static void make_any(struct gate_problem *p, int s, struct prng *random) {
    int one = prng_below(random, 2), of_all = prng_below(random, PATTERNS);
    for (int row = p->query_begin[s]; row < p->query_begin[s + 1]; row++) {
        make_row(p, s, row, one ? of_all : prng_below(random, PATTERNS), random);
    }
}

static void make_bits(struct gate_problem *p, struct prng *random) {
    for (size_t i = 0; i < p->mask.n_bytes; i++) { /* of keys that a row does not see, too */
        p->mask.bit[i] = (unsigned char)(prng_next(random) >> 56);
    }
    for (int s = 0; s < p->b; s++) {
        if (p->mask.kind == GATE_TREE_BITS) {
            make_tree(p, s, random);
        } else {
            make_any(p, s, random);
        }
    }
}

/* ---- Keys ---- */

/* Keys that a row sees by its window, and of these by its bits. Where rows may not be empty, the
 * last one of a row is left. */
static size_t list_row(struct gate_problem *p, int row, size_t n) {
    const struct gate_seen seen = gate_seen_by_window(p, row);
    int s = gate_sequence_of(p, row), in_window = gate_seen_count(&seen);
    size_t begin = n;
    for (int i = 0; i < in_window; i++) {
        int j = gate_seen_key(&seen, i), t = gate_position_of(p, s, j);
        int must = (p->recipe.never & CP_NEVER_EMPTY_ROWS) != 0 && n == begin && i == in_window - 1;
        if (must && !gate_is_left(p, row, t)) {
            set_bit(&p->mask, bit_of(&p->mask, row, t), 1);
        }
        if (gate_is_left(p, row, t)) {
            p->mask.key[n++] = j;
        }
    }
    return n;
}

/* How many keys all rows see by their windows. */
static size_t count_keys(const struct gate_problem *p) {
    size_t n = 0;
    for (int row = 0; row < p->n_rows; row++) {
        const struct gate_seen seen = gate_seen_by_window(p, row);
        n += (size_t)gate_seen_count(&seen);
    }
    return n;
}

static int list_keys(struct gate_problem *p) {
    struct gate_mask *m = &p->mask;
    m->key = gate_allocate(count_keys(p), sizeof *m->key);
    m->keys = gate_allocate((size_t)p->n_rows + 1, sizeof *m->keys);
    if (m->key == NULL || m->keys == NULL) {
        return -1;
    }
    for (int row = 0; row < p->n_rows; row++) {
        m->keys[row + 1] = list_row(p, row, m->keys[row]);
    }
    return 0;
}

/* ---- All ---- */

void gate_bits_forget(struct gate_mask *m) {
    m->bit = NULL;
    m->first = m->keys = NULL;
    m->begin = m->key = NULL;
}

void gate_bits_free(struct gate_mask *m) {
    free(m->bit);
    free(m->first);
    free(m->begin);
    free(m->key);
    free(m->keys);
    gate_bits_forget(m);
    m->n_bytes = 0;
}

int gate_bits_new(struct gate_problem *p) {
    struct gate_mask *m = &p->mask;
    struct prng random = {p->recipe.seed ^ 0xB175ULL};
    gate_bits_free(m);
    if (m->kind == GATE_NO_BITS || count_keys(p) > MOST_KEYS) {
        return 0;
    }
    m->first = gate_allocate((size_t)p->n_rows, sizeof *m->first);
    m->begin = gate_allocate((size_t)p->n_rows, sizeof *m->begin);
    if (m->first == NULL || m->begin == NULL) {
        return -1;
    }
    size_t bits = place_rows(p, &random);
    m->n_bytes = (bits + 7) / 8;
    m->bit = bits <= MOST_BITS ? gate_allocate(m->n_bytes, 1) : NULL;
    if (bits > MOST_BITS || m->n_bytes == 0) {
        gate_bits_free(m);
        return 0;
    }
    if (m->bit == NULL) {
        return -1;
    }
    random.state ^= p->seed ^ p->recipe.seed; /* where bits are stays when a problem is renewed */
    make_bits(p, &random);
    return list_keys(p);
}

int gate_bits_part(struct gate_problem *part, const struct gate_problem *whole, int first) {
    const struct gate_mask *m = &whole->mask;
    size_t n = (size_t)part->n_rows;
    gate_bits_forget(&part->mask);
    if (m->bit == NULL) {
        return 0;
    }
    part->mask.bit = gate_allocate(m->n_bytes, 1);
    part->mask.first = gate_allocate(n, sizeof *m->first);
    part->mask.begin = gate_allocate(n, sizeof *m->begin);
    if (part->mask.bit == NULL || part->mask.first == NULL || part->mask.begin == NULL) {
        return -1;
    }
    memcpy(part->mask.bit, m->bit, m->n_bytes);
    memcpy(part->mask.first, m->first + first, n * sizeof *m->first);
    memcpy(part->mask.begin, m->begin + first, n * sizeof *m->begin);
    return list_keys(part);
}

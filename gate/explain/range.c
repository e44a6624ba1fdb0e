/* SPDX-License-Identifier: Apache-2.0 */
/* Too few of a row's keys, or some of them twice: the last one, a chunk, what tiles leave behind, a warp's. */
#include <math.h>
#include <string.h>

#include "gate/explain/explain.h"

#define ANY_RANGE   256 /* any range of so many keys is tried; of more, those of whole chunks */
#define FEW         16  /* of anything that is tried one by one */
#define TESTED      4   /* numbers that a range must give before it is tried */
#define MOST_TILE   256
#define MOST_WINDOW 4096
#define LONG_RANGES 24 /* that are tried for a row */
#define MOST_SINKS  128

enum range {
    AT,
    FROM_END,
    CHUNK,
    LAST_CHUNK,
    SHARED,
    FIRST_SHARED, /* chunk, */
    LAST_SHARED,
    SHARED_FROM,    /* a shared chunk on */
    ENDS_OF_SHARED, /* the last key of each */
    END_OF_RANGE, /* shared chunks whose range this sequence is at the end of, or behind so many at a time, */
    BEGIN_OF_RANGE, /* or at the beginning */
    OWN,
    EVERY,
    BEHIND,           /* the last multiple of a number; */
    BEHIND_IF_MORE,   /* the same, where there are as many keys as that; */
    BEHIND_IN_CHUNKS, /* and of each chunk */
    ALONE_IN_TILE,    /* the last key, where it is the first one of a tile that is not the first; */
    BEHIND_LAST_FILL, /* of each chunk, what is behind as many as the last one has */
    BUT_FIRST,
    BUT_LAST,
    BETWEEN, /* the first of them, and the last */
    OF_EACH  /* begin + end * 1024 of so many */
};

/* Of those that are seen. */
static int keys_in_chunk(const struct explain *x, int i) {
    int left = x->n - i * x->c;
    return left < x->c ? left : x->c;
}

/* Whether the sequence is the last one, or, taken so many at a time, of those left, of the range of a shared chunk; or the
 * first one. */
static int is_at_edge(const struct explain *x, const int *a, int chunk) {
    const struct gate_problem *p = &x->at->problem;
    for (int i = 0; i < p->n_shared; i++) {
        const struct cp_shared_chunk *one = &p->shared[i];
        if (one->chunk == chunk) {
            int length = one->end - one->begin, at = x->s - one->begin;
            return a[0] == BEGIN_OF_RANGE ? at == 0
                   : a[1] == 1            ? at == length - 1
                                          : at >= length / a[1] * a[1];
        }
    }
    return 0;
}

/* a: which; two numbers of it; how often they are counted. */
static int is_in_range(const struct explain *x, const int *a, int j) {
    int shared = x->at->problem.n_shared_chunks[x->s] * x->c;
    switch ((enum range)a[0]) {
    case AT:
        return a[1] <= j && j < a[2];
    case FROM_END:
        return x->n - a[1] <= j && j < x->n - a[2];
    case CHUNK:
        return j / x->c == a[1];
    case LAST_CHUNK:
        return j / x->c == (x->n - 1) / x->c;
    case SHARED:
        return j < shared;
    case FIRST_SHARED:
        return j < shared && j < x->c;
    case LAST_SHARED:
        return shared - x->c <= j && j < shared;
    case SHARED_FROM:
        return j / x->c >= a[1] && j < shared;
    case ENDS_OF_SHARED:
        return j < shared && j % x->c == x->c - 1;
    case END_OF_RANGE:
    case BEGIN_OF_RANGE:
        return j < shared &&
               is_at_edge(x, a, x->at->problem.table[x->s * x->at->problem.table_width + j / x->c]);
    case OWN:
        return j >= shared;
    case EVERY:
        return j % a[1] == a[2];
    case BEHIND:
        return j >= x->n / a[1] * a[1];
    case BEHIND_IF_MORE:
        return x->n >= a[1] && j >= x->n / a[1] * a[1];
    case BEHIND_IN_CHUNKS:
        return j % x->c >= keys_in_chunk(x, j / x->c) / a[1] * a[1];
    case ALONE_IN_TILE:
        return j == x->n - 1 && j > 0 && j % a[1] == 0;
    case BEHIND_LAST_FILL:
        return j % x->c > (x->at->problem.n_tokens[x->s] - 1) % x->c;
    case BUT_FIRST:
        return j >= a[1];
    case BUT_LAST:
        return j < x->n - a[1];
    case BETWEEN:
        return a[1] <= j && j < x->n - a[2];
    default:
        return a[2] % 1024 <= j % a[1] && j % a[1] < a[2] / 1024;
    }
}

static int count_range(struct explain *x, const int *a) {
    x->m = 0;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < x->n; j++) {
        for (int t = is_in_range(x, a, j) ? a[3] : 1; t > 0; t--) {
            explain_take_key(x, x->s, j, x->g, x->g);
        }
    }
    return explain_attend(x, 1.0);
}

static void try_range(struct explain *x, enum range which, int one, int two, int rank,
                      const char *words) {
    for (int times = 0; times <= 2; times += 2) {
        const int a[EXPLAIN_NUMBERS] = {(int)which, one, two, times};
        explain_try(x, count_range, a, rank, "as if %s had been %s (TPP-1)", words,
                    times == 0 ? "left out" : "counted twice");
    }
}

static void try_keys_at(struct explain *x, int begin, int end, int rank) {
    char words[120];
    if (end - begin == 1) {
        (void)snprintf(words, sizeof words, "key %d (chunk %d of the path, slot %d)", begin,
                       begin / x->c, begin % x->c);
    } else {
        (void)snprintf(words, sizeof words, "keys %d to %d", begin, end - 1);
    }
    try_range(x, AT, begin, end, rank, words);
    if (end == x->n) {
        (void)snprintf(words, sizeof words, "the last %d keys", end - begin);
        try_range(x, FROM_END, end - begin, 0, rank - 1, end - begin == 1 ? "the last key" : words);
    } else if (end == x->n - 1 && end - begin == 1) {
        try_range(x, FROM_END, 2, 1, rank, "the last key but one");
    }
}

/* Sums over the first keys: of weights, and of weighted values in some elements that are wrong. */
struct sums {
    int n, element[TESTED];
    double got[TESTED], allowed[TESTED];
};

static void add_up(struct explain *x, struct sums *s) {
    const double *got = x->at->got + (size_t)x->pair * (size_t)x->at->width;
    const double *bound = x->at->bound + (size_t)x->pair * (size_t)x->at->width;
    double largest = -INFINITY, scale = x->at->problem.scale;
    s->n = 0;
    for (int i = 0; i < x->d && s->n < TESTED; i++) {
        if (x->at->rightness[(size_t)x->pair * (size_t)x->at->width + (size_t)i] ==
                GATE_NUMBER_WRONG &&
            isfinite(got[i])) {
            s->element[s->n] = i;
            s->got[s->n] = got[i];
            s->allowed[s->n++] = 16.0 * bound[i] + 1e-9 * fabs(got[i]);
        }
    }
    explain_take_all(x);
    for (int j = 0; j < x->m; j++) {
        double sum = 0.0;
        for (int i = 0; i < x->d; i++) {
            sum += x->q[i] * x->k[(ptrdiff_t)j * x->d + i];
        }
        x->scratch[j] = scale * sum;
        largest = fmax(largest, scale * sum);
    }
    memset(x->prefix, 0, (TESTED + 1) * sizeof(double));
    for (int j = 0; j < x->m; j++) {
        double *before = x->prefix + (ptrdiff_t)j * (TESTED + 1), *now = before + TESTED + 1;
        double weight = exp(x->scratch[j] - largest);
        now[TESTED] = before[TESTED] + weight;
        for (int t = 0; t < s->n; t++) {
            now[t] = before[t] + weight * x->v[(ptrdiff_t)j * x->d + s->element[t]];
        }
    }
    x->work -= (long long)x->n * x->d;
}

/* 1: counted `times` times, these keys might give the elements. */
static int might_give(const struct explain *x, const struct sums *s, int begin, int end,
                      int times) {
    const double *from = x->prefix + (ptrdiff_t)begin * (TESTED + 1);
    const double *to = x->prefix + (ptrdiff_t)end * (TESTED + 1);
    const double *all = x->prefix + (ptrdiff_t)x->n * (TESTED + 1);
    double n = all[TESTED] + (times - 1) * (to[TESTED] - from[TESTED]);
    for (int t = 0; t < s->n; t++) {
        double o = all[t] + (times - 1) * (to[t] - from[t]);
        if (!(fabs(o / n - s->got[t]) <= s->allowed[t])) {
            return 0;
        }
    }
    return s->n > 0;
}

/* Short ones first. */
static void try_any_range(struct explain *x, const struct sums *s) {
    int tried = 0, unit = x->n <= ANY_RANGE ? 1 : x->c;
    for (int length = 1; length <= x->n && tried < LONG_RANGES;
         length += length < unit ? 1 : unit) {
        for (int end = x->n; end >= length && tried < LONG_RANGES; end--) {
            int begin = end - length;
            if ((end == x->n || begin == 0 || length <= 1 || unit == 1 || begin % unit == 0) &&
                (might_give(x, s, begin, end, 0) || might_give(x, s, begin, end, 2))) {
                try_keys_at(x, begin, end, 20);
                tried++;
            }
        }
    }
}

static void leave_out(struct explain *x, enum range which, int one, int two, int rank,
                      const char *words) {
    const int a[EXPLAIN_NUMBERS] = {(int)which, one, two, 0};
    explain_try(x, count_range, a, rank, "%s (TPP-1)", words);
}

/* What tiles leave behind, and windows. */
static void try_remainders(struct explain *x) {
    char words[140];
    for (int tile = 2; tile <= MOST_TILE; tile *= 2) {
        (void)snprintf(words, sizeof words,
                       "as if the keys behind the last multiple of %d had been left out: a tile "
                       "that is not full",
                       tile);
        leave_out(x, BEHIND, tile, 0, 11, words);
        (void)snprintf(words, sizeof words,
                       "as if the keys behind the last multiple of %d had been left out, of %d and "
                       "more",
                       tile, tile);
        leave_out(x, BEHIND_IF_MORE, tile, 0, 12, words);
        (void)snprintf(words, sizeof words,
                       "as if of each chunk the keys behind the last multiple of %d had been left "
                       "out",
                       tile);
        leave_out(x, BEHIND_IN_CHUNKS, tile, 0, 12, words);
        (void)snprintf(
            words, sizeof words,
            "as if the last key had been left out where it is alone in a tile of %d behind "
            "full ones: tiles counted from one key less",
            tile);
        leave_out(x, ALONE_IN_TILE, tile, 0, 10, words);
    }
    leave_out(
        x, BEHIND_LAST_FILL, 0, 0, 12,
        "as if each chunk had as many keys as the last one of its path: the others are left out");
    for (int keys = 1; keys <= MOST_WINDOW; keys += keys < 8 ? 1 : keys < 128 ? 8 : keys) {
        int rank = (keys & (keys - 1)) == 0 ? 13 : 15;
        (void)snprintf(words, sizeof words, "as if it saw the first %d keys alone", keys);
        leave_out(x, BUT_FIRST, keys, 0, rank, words);
        (void)snprintf(words, sizeof words, "as if it saw the last %d keys alone", keys);
        leave_out(x, BUT_LAST, keys, 0, rank, words);
    }
}

/* What a window of the last keys sees, and the first ones beside. `s`: the sums over the first keys. */
static void try_sinks(struct explain *x, const struct sums *s) {
    char words[120];
    for (int first = 1; first <= MOST_SINKS; first *= 2) {
        for (int last = 1; first + last < x->n; last *= 2) {
            (void)snprintf(words, sizeof words,
                           "as if it saw the first %d %s and the last %d alone", first,
                           first == 1 ? "key" : "keys", last);
            if (might_give(x, s, first, x->n - last, 0)) {
                leave_out(x, BETWEEN, first, last, 14, words);
            }
        }
    }
}

/* A warp's keys, of a tile that has some. */
static void try_warps(struct explain *x) {
    char words[120];
    for (int period = 4; period <= MOST_TILE; period *= 2) {
        for (int width = 2; width < period; width *= 2) {
            for (int begin = 0; begin < period && begin < x->n; begin += width) {
                (void)snprintf(words, sizeof words, "keys %d to %d of each %d", begin,
                               begin + width - 1, period);
                if (period / width <= FEW / 2) {
                    try_range(x, OF_EACH, period, begin + (begin + width) * 1024, 31, words);
                }
            }
        }
    }
}

void explain_try_ranges(struct explain *x) {
    struct sums s;
    char words[120];
    try_keys_at(x, x->n - 1, x->n, 12);
    try_keys_at(x, 0, 1, 12);
    try_range(x, LAST_CHUNK, 0, 0, 11, "the last chunk of each path, as far as it is seen,");
    try_range(x, SHARED, 0, 0, 11, "the shared chunks");
    try_range(x, FIRST_SHARED, 0, 0, 12, "the first of the shared chunks");
    try_range(x, LAST_SHARED, 0, 0, 12, "the last of the shared chunks");
    try_range(x, ENDS_OF_SHARED, 0, 0, 12, "the last key of each shared chunk");
    try_range(x, BEGIN_OF_RANGE, 0, 0, 12,
              "the shared chunks of whose sequences this one is the first");
    try_range(x, END_OF_RANGE, 1, 0, 12,
              "the shared chunks of whose sequences this one is the last");
    for (int i = 2; i <= FEW; i *= 2) {
        (void)snprintf(
            words, sizeof words,
            "the shared chunks of whose sequences, taken %d at a time, this one is left over", i);
        try_range(x, END_OF_RANGE, i, 0, 12, words);
    }
    try_range(x, OWN, 0, 0, 11, "the sequence's own chunks");
    for (int i = 1; i < FEW; i++) {
        (void)snprintf(words, sizeof words, "shared chunks %d, %d, ... of the path", i, i + 1);
        try_range(x, SHARED_FROM, i, 0, 12, words);
    }
    for (int i = 0; i * x->c < x->n && i < FEW; i++) {
        (void)snprintf(words, sizeof words, "chunk %d of the path", i);
        try_range(x, CHUNK, i, 0, 13, words);
    }
    for (int step = 2; step <= 64 && step < x->n; step *= 2) {
        for (int rest = 0; rest < step && rest < FEW / 2; rest++) {
            (void)snprintf(words, sizeof words, "every key %d, %d, ...", rest, rest + step);
            try_range(x, EVERY, step, rest, 30, words);
        }
    }
    try_remainders(x);
    try_warps(x);
    add_up(x, &s);
    try_sinks(x, &s);
    try_any_range(x, &s);
}

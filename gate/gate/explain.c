/* SPDX-License-Identifier: Apache-2.0 */
/* What a wrong result is the result of: attention is computed as if some mistake had been made, one mistake after the
 * other, and those are named that give the kernel's result, within the certified tolerance of that wrong problem. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gate/gate/explain.h"

#define MOST_ROWS    3 /* that are explained */
#define MOST_REASONS 4 /* for a row */
#define NEARER       16.0
#define FEW_KEYS                                                                                   \
    64 /* any range of so many is tried; of more, those of whole chunks and single keys */

/* One row and head that is wrong, and room for a wrong problem. */
struct mystery {
    FILE *file;
    const struct gate_problem *p;
    const struct gate_arrays *arrays;
    const struct cp_kernel *kernel;
    int s, row, head, g, n; /* n keys are seen */
    int reasons, lse_reasons;
    int with_lse; /* 1: a mistake is to give the log-sum-exp as well */
    int m;        /* keys of the wrong problem */
    double *q, *k, *v, *scratch, *expected, *bound;
    double *right, lse, lse_bound; /* attention itself */
};

/* ---- Comparing ---- */

static int is_the_answer(const struct mystery *x) {
    for (int i = 0; i < x->p->recipe.head_dim; i++) {
        double got = gate_out_at(x->arrays, x->p, x->row, x->head, i);
        if (!(fabs(got - x->expected[i]) <= x->bound[i]) || isinf(x->bound[i])) {
            return 0;
        }
    }
    return !x->with_lse ||
           fabs(gate_lse_at(x->arrays, x->p, x->row, x->head) - x->lse) <= 2.0 * x->lse_bound;
}

/* Attention of the keys that were put together, times `factor` on the scores. */
static int would_give(struct mystery *x, double factor) {
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    struct cp_tolerance_row row = {
        x->m, x->p->recipe.head_dim, x->p->scale * factor, x->q, x->k, x->v, x->scratch};
    int n = x->m > x->n ? x->m : x->n;
    gate_class(x->kernel, &x->p->recipe, n, 1e3, &arithmetic, &counts);
    cp_tolerance(&arithmetic, &counts, &row, gate_lse_error(x->kernel, n, 1e3), x->expected,
                 x->bound, &x->lse, &x->lse_bound);
    return x->m > 0 && is_the_answer(x);
}

__attribute__((format(printf, 3, 4))) static void reason(struct mystery *x, const char *clause,
                                                         const char *format, ...) {
    va_list arguments;
    if (x->reasons++ >= MOST_REASONS) {
        return;
    }
    va_start(arguments, format);
    fputs("    as if ", x->file);
    vfprintf(x->file, format, arguments);
    fprintf(x->file, " (%s)\n", clause);
    va_end(arguments);
}

/* ---- Putting a wrong problem together ---- */

static void take_query(struct mystery *x, int row, int head) {
    size_t d = (size_t)x->p->recipe.head_dim;
    memcpy(x->q, x->p->q + ((size_t)row * (size_t)x->p->recipe.n_heads + (size_t)head) * d,
           d * sizeof(double));
}

static void take_key(struct mystery *x, int s, int j, int g_of_k, int g_of_v) {
    size_t d = (size_t)x->p->recipe.head_dim;
    memcpy(x->k + (size_t)x->m * d, x->p->k + gate_key_at(x->p, s, j, g_of_k), d * sizeof(double));
    memcpy(x->v + (size_t)x->m * d, x->p->v + gate_key_at(x->p, s, j, g_of_v), d * sizeof(double));
    x->m++;
}

static void take_keys(struct mystery *x, int s, int n, int g_of_k, int g_of_v) {
    x->m = 0;
    for (int j = 0; j < n; j++) {
        take_key(x, s, j, g_of_k, g_of_v);
    }
}

/* Keys begin .. end-1 so many times, the others once. */
static void take_range(struct mystery *x, int begin, int end, int times) {
    x->m = 0;
    for (int j = 0; j < x->n; j++) {
        for (int t = begin <= j && j < end ? times : 1; t > 0; t--) {
            take_key(x, x->s, j, x->g, x->g);
        }
    }
}

/* ---- Mistakes ---- */

static void print_range(char *text, size_t size, int begin, int end, int c) {
    if (end - begin == 1) {
        (void)snprintf(text, size, "key %d (chunk %d of the path, slot %d)", begin, begin / c,
                       begin % c);
    } else {
        (void)snprintf(text, size, "keys %d to %d", begin, end - 1);
    }
}

static void try_range(struct mystery *x, int begin, int end) {
    char range[80];
    print_range(range, sizeof range, begin, end, x->p->recipe.chunk_size);
    take_range(x, begin, end, 0);
    if (would_give(x, 1.0)) {
        reason(x, "TPP-1", "%s of %d had been left out", range, x->n);
    }
    take_range(x, begin, end, 2);
    if (would_give(x, 1.0)) {
        reason(x, "TPP-1", "%s of %d had been counted twice", range, x->n);
    }
}

static void try_ranges(struct mystery *x) {
    int c = x->p->recipe.chunk_size;
    if (x->n <= FEW_KEYS) {
        for (int length = 1; length <= x->n && x->reasons == 0; length++) {
            for (int end = x->n; end >= length;
                 end--) { /* the last ones first: they are the usual ones */
                try_range(x, end - length, end);
            }
        }
        return;
    }
    for (int begin = 1 << 20; begin >= FEW_KEYS && x->reasons == 0; begin /= 2) {
        if (begin < x->n) {
            try_range(x, begin, x->n);
            try_range(x, begin - 1, x->n);
        }
    }
    for (int begin = 0; begin < x->n && x->reasons == 0;
         begin += c) { /* a chunk, all from there, all to there */
        int end = begin + c < x->n ? begin + c : x->n;
        try_range(x, begin, end);
        try_range(x, end, x->n);
        try_range(x, 0, begin);
        try_range(x, end - 1, end);
        try_range(x, begin, begin + 1);
    }
}

/* Elements from `d` on are 0 in the keys, or in the values. */
static void cut_elements(struct mystery *x, double *array, int from) {
    int d = x->p->recipe.head_dim;
    for (int j = 0; j < x->m; j++) {
        for (int i = from; i < d; i++) {
            array[(ptrdiff_t)j * d + i] = 0.0;
        }
    }
}

static void try_dimensions(struct mystery *x) {
    int d = x->p->recipe.head_dim;
    for (int i = 0; d >> i > 0; i++) {
        int half = d - (d >> i),
            power = 1 << i; /* all but a half, a quarter, ...; and powers of two */
        for (int way = 0; way < 2; way++) {
            int from = way == 0 ? half : power;
            if (from <= 0 || from >= d || (way == 0 && (from & (from - 1)) == 0)) {
                continue;
            }
            take_keys(x, x->s, x->n, x->g, x->g);
            cut_elements(x, x->k, from);
            if (would_give(x, 1.0)) {
                reason(x, "SOFTMAX-1", "elements %d to %d of Q and K had been left out", from,
                       d - 1);
            }
            take_keys(x, x->s, x->n, x->g, x->g);
            cut_elements(x, x->v, from);
            if (would_give(x, 1.0)) {
                reason(x, "SOFTMAX-2", "elements %d to %d of V had been left out", from, d - 1);
            }
        }
    }
}

static void try_lengths(struct mystery *x) {
    for (int n = x->n + 1; n <= x->p->n_tokens[x->s] && n <= x->n + FEW_KEYS; n++) {
        take_keys(x, x->s, n, x->g, x->g);
        if (would_give(x, 1.0)) {
            reason(x, "PREFILL-2", "it saw %d keys, not %d: those behind its own position, too", n,
                   x->n);
        }
    }
}

static void try_sequences(struct mystery *x) {
    for (int s = 0; s < x->p->b; s++) {
        if (s != x->s) {
            take_keys(x, s, x->p->n_tokens[s], x->g, x->g);
            if (would_give(x, 1.0)) {
                reason(x, "TPP-2", "it had seen the keys of sequence %d", s);
            }
        }
        for (int k = 0; s != x->s && k * x->p->recipe.chunk_size < x->n;
             k++) { /* one chunk of it */
            int c = x->p->recipe.chunk_size, at = k * c;
            x->m = 0;
            for (int j = 0; j < x->n; j++) {
                int other = at <= j && j < at + c && j < x->p->n_tokens[s];
                take_key(x, other ? s : x->s, j, x->g, x->g);
            }
            if (would_give(x, 1.0)) {
                reason(x, "PLAN-2", "chunk %d of the path had been that of sequence %d", k, s);
            }
        }
    }
}

static void try_heads(struct mystery *x) {
    int n_kv = x->p->recipe.n_kv_heads;
    for (int g = 0; g < n_kv; g++) {
        static const char *const what[] = {"K and V", "K", "V"};
        for (int kind = 0; g != x->g && kind < 3; kind++) {
            take_keys(x, x->s, x->n, kind == 2 ? x->g : g, kind == 1 ? x->g : g);
            if (would_give(x, 1.0)) {
                reason(x, "TPP-5", "it had taken %s of K/V head %d, not %d", what[kind], g, x->g);
            }
        }
    }
    take_keys(x, x->s, x->n, x->g, x->g);
    for (int other = 0; other < x->p->n_rows * x->p->recipe.n_heads; other++) {
        int row = other / x->p->recipe.n_heads, head = other % x->p->recipe.n_heads;
        take_query(x, row, head);
        if ((row != x->row || head != x->head) && x->reasons < MOST_REASONS && would_give(x, 1.0)) {
            reason(x, "PREFILL-1", "it had been given the query of row %d and head %d", row, head);
        }
    }
    take_query(x, x->row, x->head);
}

static void try_scales(struct mystery *x) {
    const double factors[] = {1.0 / x->p->scale, x->p->scale, 1.4426950408889634,
                              0.6931471805599453};
    static const char *const words[] = {
        "the scores had not been scaled", "the scores had been scaled twice",
        "the scores had been multiplied by log2(e)", "the scores had been multiplied by ln 2"};
    take_keys(x, x->s, x->n, x->g, x->g);
    for (int i = 0; i < 4; i++) {
        if (would_give(x, factors[i])) {
            reason(x, "SOFTMAX-1", "%s", words[i]);
        }
    }
}

/* ---- Sums that went wrong: computed key by key, or chunk by chunk ---- */

static double score_of(const struct mystery *x, int j) {
    double sum = 0.0;
    int d = x->p->recipe.head_dim;
    for (int i = 0; i < d; i++) {
        sum += x->q[i] * x->k[(ptrdiff_t)j * d + i];
    }
    return x->p->scale * sum;
}

/* What went wrong must bring the result much nearer to the kernel's: nothing is certified of a wrong sum. */
static int is_much_nearer(const struct mystery *x) {
    double off = 0.0, off_right = 0.0;
    for (int i = 0; i < x->p->recipe.head_dim; i++) {
        double got = gate_out_at(x->arrays, x->p, x->row, x->head, i);
        if (!isfinite(got)) {
            return 0;
        }
        off = fmax(off, fabs(got - x->expected[i]));
        off_right = fmax(off_right, fabs(got - x->right[i]));
    }
    return off <= off_right / NEARER;
}

/* Which of the sums are changed when the maximum grows. */
struct way {
    int rescales_n, rescales_o, divides;
    const char *clause, *words;
};

static void sum_up(struct mystery *x, const struct way *way, int step) {
    int d = x->p->recipe.head_dim;
    double m = -INFINITY, n = 0.0;
    memset(x->expected, 0, (size_t)d * sizeof(double));
    for (int first = 0; first < x->n; first += step) {
        int end = first + step < x->n ? first + step : x->n;
        double largest = m;
        for (int j = first; j < end; j++) {
            largest = fmax(largest, score_of(x, j));
        }
        double factor = m == -INFINITY ? 0.0 : exp(m - largest);
        n *= way->rescales_n ? factor : 1.0;
        for (int i = 0; i < d; i++) {
            x->expected[i] *= way->rescales_o ? factor : 1.0;
        }
        m = largest;
        for (int j = first; j < end; j++) {
            double weight = exp(score_of(x, j) - m);
            n += weight;
            for (int i = 0; i < d; i++) {
                x->expected[i] += weight * x->v[(ptrdiff_t)j * d + i];
            }
        }
    }
    for (int i = 0; i < d; i++) {
        x->expected[i] /= way->divides ? n : 1.0;
    }
}

/* Forward, and from the last key to the first. */
static void try_way(struct mystery *x, const struct way *way) {
    const int steps[] = {1, x->p->recipe.chunk_size, 16, 32, 64};
    for (int backwards = 0; backwards < 2; backwards++) {
        x->m = 0;
        for (int j = 0; j < x->n; j++) {
            take_key(x, x->s, backwards ? x->n - 1 - j : j, x->g, x->g);
        }
        for (int i = 0; i < 5; i++) {
            sum_up(x, way, steps[i]);
            if ((i == 0 || steps[i] < x->n) && is_much_nearer(x)) {
                reason(x, way->clause, "%s, in steps of %d %s%s", way->words, steps[i],
                       steps[i] == 1 ? "key" : "keys", backwards ? " from the last one on" : "");
                return;
            }
        }
    }
}

static void try_sums(struct mystery *x) {
    static const struct way ways[] = {
        {1, 0, 1, "MERGE-4",
         "the sum of weighted values had not been rescaled when the maximum grew"},
        {0, 1, 1, "MERGE-4", "the sum of weights had not been rescaled when the maximum grew"},
        {0, 0, 1, "MERGE-4", "neither sum had been rescaled when the maximum grew"},
        {1, 1, 0, "MERGE-6", "the sum had not been divided by the sum of weights"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        try_way(x, &ways[i]);
    }
}

static void try_constants(struct mystery *x) {
    int d = x->p->recipe.head_dim, same = 1;
    double first = gate_out_at(x->arrays, x->p, x->row, x->head, 0);
    for (int i = 0; i < d; i++) {
        same = same && gate_out_at(x->arrays, x->p, x->row, x->head, i) == first;
    }
    if (same && first == 0.0) {
        reason(x, "GATE-1", "it had seen no key: every element is 0");
    } else if (same && d > 1) {
        reason(x, "GATE-1", "there had been nothing to compute: every element is %.9g", first);
    }
}

/* ---- A row ---- */

static int room_for(struct mystery *x) {
    size_t d = (size_t)x->p->recipe.head_dim, n = 0;
    for (int s = 0; s < x->p->b; s++) {
        n = (size_t)x->p->n_tokens[s] > n ? (size_t)x->p->n_tokens[s] : n;
    }
    n = 2 * n + 1;
    x->q = malloc((4 * d + 2 * n * d + 3 * n) * sizeof(double));
    if (x->q == NULL) {
        return -1;
    }
    x->expected = x->q + d;
    x->bound = x->expected + d;
    x->right = x->bound + d;
    x->k = x->right + d;
    x->v = x->k + n * d;
    x->scratch = x->v + n * d;
    return 0;
}

/* The log-sum-exp of the keys that were put together. */
static double lse_of(const struct mystery *x, double *largest) {
    double sum = 0.0;
    *largest = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        *largest = fmax(*largest, score_of(x, j));
    }
    for (int j = 0; j < x->m; j++) {
        sum += exp(score_of(x, j) - *largest);
    }
    return x->m > 0 ? *largest + log(sum) : -INFINITY;
}

static void explain_lse(struct mystery *x) {
    double largest, got = gate_lse_at(x->arrays, x->p, x->row, x->head), lse = lse_of(x, &largest);
    const struct {
        double value;
        const char *words;
    } ways[] = {{lse / 0.6931471805599453, "it were in bits, a logarithm to the base 2"},
                {largest, "it were the largest score alone, without the logarithm of the sum"},
                {lse - largest, "the largest score had not been added"},
                {exp(lse - largest), "it were the sum of weights, not its logarithm"},
                {-lse, "its sign were wrong"},
                {lse / x->p->scale, "the scores had not been scaled"}};
    fprintf(x->file, "    lse is %.9g, not %.9g", got, lse);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (x->m > 0 && isfinite(got) && fabs(got - ways[i].value) <= fabs(got - lse) / NEARER) {
            fprintf(x->file, ": as if %s", ways[i].words);
            x->lse_reasons++;
        }
    }
    fputs(" (MERGE-7)\n", x->file);
}

/* Of out, and of the log-sum-exp. */
struct rightness {
    int out, lse;
};

static struct rightness rightness_of(struct mystery *x) {
    struct rightness right = {1, 1};
    double largest;
    take_query(x, x->row, x->head);
    take_keys(x, x->s, x->n, x->g, x->g);
    right.out = x->n == 0 || would_give(x, 1.0);
    for (int i = 0; i < x->p->recipe.head_dim; i++) {
        x->right[i] = x->n == 0 ? 0.0 : x->expected[i];
        x->bound[i] = x->n == 0 ? 0.0 : x->bound[i];
        right.out =
            right.out && (x->n > 0 || gate_out_at(x->arrays, x->p, x->row, x->head, i) == 0.0);
    }
    if (x->arrays->run.call.lse != NULL) {
        double lse = lse_of(x, &largest), got = gate_lse_at(x->arrays, x->p, x->row, x->head);
        double off = x->n == 0 ? 0.0 : 2.0 * x->lse_bound;
        right.lse = got == lse || fabs(got - lse) <= off;
    }
    return right;
}

/* Attention's numbers are in right[] and their bounds in bound[]: which elements are wrong, and by how much. */
static void print_elements(struct mystery *x) {
    int first = -1, last = -1, wrong = 0, worst = -1, d = x->p->recipe.head_dim;
    double most = 0.0;
    for (int i = 0; i < d; i++) {
        double off = fabs(gate_out_at(x->arrays, x->p, x->row, x->head, i) - x->right[i]);
        if (off <= x->bound[i]) {
            continue;
        }
        first = first < 0 ? i : first;
        last = i;
        wrong++;
        double bounds = x->bound[i] > 0.0 ? off / x->bound[i] : INFINITY;
        if (worst < 0 || !(bounds <= most)) {
            worst = i;
            most = bounds;
        }
    }
    if (wrong == 0) {
        return;
    }
    double got = gate_out_at(x->arrays, x->p, x->row, x->head, worst);
    fprintf(x->file, "    %d of %d elements are wrong, from %d to %d; ", wrong, d, first, last);
    if (isnan(got)) {
        fprintf(x->file, "element %d is not a number, and must be %.9g\n", worst, x->right[worst]);
    } else {
        fprintf(x->file, "element %d most: it is %.9g and must be %.9g, %.3g bounds away\n", worst,
                got, x->right[worst], most);
    }
}

static void try_all(struct mystery *x) {
    try_ranges(x);
    try_lengths(x);
    try_sequences(x);
    try_heads(x);
    try_scales(x);
    try_dimensions(x);
}

/* What gives both results; else what gives out. */
static void explain_out(struct mystery *x, struct rightness right) {
    x->reasons = 0;
    x->with_lse = x->arrays->run.call.lse != NULL && x->lse_reasons == 0;
    try_all(x);
    if (!right.out && x->reasons == 0) {
        x->with_lse = 0;
        try_all(x);
        try_sums(x);
        try_constants(x);
    }
    if (x->reasons == 0 && x->lse_reasons == 0) {
        fputs("    no single mistake that is known here gives this result\n", x->file);
    } else if (x->reasons > MOST_REASONS) {
        fprintf(x->file, "    and %d more\n", x->reasons - MOST_REASONS);
    }
}

static void explain_row(struct mystery *x, struct rightness right) {
    fprintf(x->file, "  row %d, head %d (sequence %d, %d %s, K/V head %d):\n", x->row, x->head,
            x->s, x->n, x->n == 1 ? "key" : "keys", x->g);
    x->lse_reasons = 0;
    if (!right.out) {
        print_elements(x);
    }
    if (!right.lse) {
        explain_lse(x);
    }
    if (!right.out || x->lse_reasons == 0) {
        explain_out(x, right);
    }
}

/* All pairs of a row and a head: the first wrong ones are explained. Returns how many are wrong. */
static int explain_rows(struct mystery *x, char *is_wrong) {
    const struct gate_problem *p = x->p;
    int wrong = 0;
    for (int pair = 0; pair < p->n_rows * p->recipe.n_heads; pair++) {
        x->row = pair / p->recipe.n_heads;
        x->head = pair % p->recipe.n_heads;
        x->s = gate_sequence_of(p, x->row);
        x->g = x->head / (p->recipe.n_heads / p->recipe.n_kv_heads);
        x->n = gate_visible(p, x->row);
        struct rightness right = rightness_of(x);
        is_wrong[pair] = !(right.out && right.lse);
        if (is_wrong[pair] && wrong++ < MOST_ROWS) {
            explain_row(x, right);
        }
    }
    return wrong;
}

void gate_explain(FILE *file, const struct cp_kernel *kernel, const struct gate_problem *p,
                  const struct gate_arrays *arrays) {
    struct mystery x = {.file = file, .p = p, .arrays = arrays, .kernel = kernel};
    int pairs = p->n_rows * p->recipe.n_heads;
    char *is_wrong = calloc((size_t)pairs + 1, 1);
    gate_explain_tree(file, p);
    if (is_wrong == NULL || room_for(&x) != 0) {
        fputs("  not enough memory to explain more\n", file);
        free(is_wrong);
        return;
    }
    fputs("\n", file);
    int wrong = explain_rows(&x, is_wrong);
    fprintf(file, "  wrong in %d of %d rows and heads\n", wrong, pairs);
    gate_explain_where(file, p, is_wrong);
    free(x.q);
    free(is_wrong);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-1: compares results with attention; each number must be within its certified tolerance
 * (NUM-10, NUM-11). */
#include "gate/judge/judge.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "chunkproof/tolerance_parts.h"
#include "cli/base/random.h"
#include "gate/case/rotation.h"
#include "gate/case/scores.h"
#include "gate/case/values.h"
#include "gate/judge/conventions.h"
#include "gate/judge/scores.h"

#define SQUARED_AT_LEAST 0x1p-500 /* binary64 has the square, with all its digits */

/* Memory for one row and head at a time. Where keys are rotated, rows of K have w > d products
 * (GATE-14). */
struct gate_scratch {
    const struct gate_problem *problem;
    double *k, *v;                   /* [n_keys + 1][w] and [d_v], of the sequence with the most */
                                     /* keys; row 0 is that of a sink, zeros */
    double *shift, *shift_error;     /* [n_keys + 1], where scores are changed (NUM-14) */
    double *q;                       /* [w] */
    double *rotated;                 /* [n_keys][d]: rotated keys, for rules of others */
    double *of_tolerance;            /* [3 n_keys], for cp_tolerance() */
    double *out;                     /* [d_v] */
    int sequence, kv_head, gathered; /* what is in k and v: so many keys of these */
    struct gate_numbers numbers;     /* [d_v + 1] */
    int must_be_finite;
};

void gate_scratch_free(struct gate_scratch *scratch) {
    if (scratch != NULL) {
        free(scratch->k);
        free(scratch->v);
        free(scratch->shift);
        free(scratch->shift_error);
        free(scratch->q);
        free(scratch->rotated);
        free(scratch->of_tolerance);
        free(scratch->out);
        free(scratch->numbers.expected);
        free(scratch->numbers.bound);
        free(scratch->numbers.usual);
        free(scratch);
    }
}

/* The most keys of a sequence. */
static size_t longest(const struct gate_problem *p) {
    size_t n = 0;
    for (int s = 0; s < p->b; s++) {
        n = (size_t)p->n_tokens[s] > n ? (size_t)p->n_tokens[s] : n;
    }
    return n;
}

static double *numbers(size_t n) {
    return malloc((n + 1) * sizeof(double));
}

struct gate_scratch *gate_scratch_new(const struct gate_problem *p) {
    size_t d = (size_t)p->recipe.head_dim, d_v = (size_t)p->value_dim, n = longest(p);
    size_t w = (size_t)gate_n_terms(&p->rotation, p->recipe.head_dim);
    struct gate_scratch *scratch = calloc(1, sizeof *scratch);
    if (scratch == NULL) {
        return NULL;
    }
    scratch->problem = p;
    scratch->k = numbers((n + 1) * w);
    scratch->v = numbers((n + 1) * d_v);
    scratch->shift = numbers(gate_changes_scores(&p->scores) ? n + 1 : 0);
    scratch->shift_error = numbers(gate_changes_scores(&p->scores) ? n + 1 : 0);
    scratch->q = numbers(w);
    scratch->rotated = numbers(p->rotation.keys != CP_KEYS_PLACED ? n * d : 0);
    scratch->of_tolerance = numbers(3 * (n + 1));
    scratch->out = numbers(d_v);
    scratch->numbers.expected = numbers(d_v);
    scratch->numbers.bound = numbers(d_v);
    scratch->numbers.usual = numbers(d_v);
    scratch->numbers.must_be_finite = &scratch->must_be_finite;
    if (scratch->k == NULL || scratch->v == NULL || scratch->q == NULL || scratch->shift == NULL ||
        scratch->shift_error == NULL || scratch->rotated == NULL || scratch->of_tolerance == NULL ||
        scratch->out == NULL || scratch->numbers.expected == NULL ||
        scratch->numbers.bound == NULL || scratch->numbers.usual == NULL) {
        gate_scratch_free(scratch);
        return NULL;
    }
    memset(scratch->k, 0, w * sizeof *scratch->k);
    memset(scratch->v, 0, d_v * sizeof *scratch->v);
    return scratch;
}

/* A row and head that is judged. */
struct pair {
    int row, head, n_keys, has_lse;
    const double *q;
    int must_be_finite;
};

/* Pairs that come one after the other often see the same keys, or more, where none is hidden. */
static void gather(struct gate_scratch *scratch, int s, int g, const struct gate_seen *seen,
                   int n_keys) {
    const struct gate_problem *p = scratch->problem;
    int d = p->recipe.head_dim, hides = seen->hidden < seen->shown || seen->list != NULL;
    size_t w = (size_t)gate_n_terms(&p->rotation, d), d_v = (size_t)p->value_dim;
    int same = scratch->sequence == s && scratch->kv_head == g && !hides;
    int from = same ? scratch->gathered : 0;
    scratch->sequence = s;
    scratch->kv_head = g;
    scratch->gathered = hides ? 0 : n_keys > from ? n_keys : from;
    for (int i = from; i < n_keys; i++) {
        int j = gate_seen_key(seen, i);
        gate_key_terms(&p->rotation, gate_angle_of(p, s, j), d, gate_key(p, s, j, g),
                       scratch->k + (size_t)(i + 1) * w);
        memcpy(scratch->v + (size_t)(i + 1) * d_v, gate_value(p, s, j, g), d_v * sizeof(double));
    }
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

void gate_rotated_extend(const struct gate_rotation *rotation, int angle, int d, const double *q,
                         const double *k, struct gate_rotated *rotated) {
    for (int i = 0; i < d; i++) {
        rotated->number = larger(rotated->number, larger(fabs(q[i]), fabs(k[i])));
    }
    for (int i = 0; i < rotation->dim / 2; i++) {
        struct gate_pair at = gate_pair_of(rotation, angle, i);
        double c = fabs(at.c), s = fabs(at.s);
        double of_k =
            larger(c * fabs(k[at.x]) + s * fabs(k[at.y]), c * fabs(k[at.y]) + s * fabs(k[at.x]));
        double of_q =
            larger(c * fabs(q[at.x]) + s * fabs(q[at.y]), c * fabs(q[at.y]) + s * fabs(q[at.x]));
        rotated->sum = larger(rotated->sum, larger(of_k, of_q));
    }
}

void gate_scaled_extend(const struct gate_rotation *rotation, int angle, int d, double scale,
                        const double *q, const double *k, struct gate_rotated *rotated) {
    double key = 0.0;
    for (int i = 0; i < d; i++) {
        rotated->scaled = larger(rotated->scaled, fabs(q[i] * scale));
        key = larger(key, fabs(k[i]));
    }
    for (int i = 0; i < rotation->dim / 2; i++) {
        struct gate_pair at = gate_pair_of(rotation, angle, i);
        double x = fabs(k[at.x]), y = fabs(k[at.y]), c = fabs(at.c), s = fabs(at.s);
        key = larger(key, larger(c * x + s * y, s * x + c * y));
    }
    rotated->key = larger(rotated->key, 1.01 * key / fabs(scale));
}

void gate_cached_extend(const struct gate_cache *cache, int d, const double *q,
                        struct gate_rotated *rotated) {
    rotated->over_scale = cache->v_scale != NULL ? larger(1.0, 1.0 / cache->least) : 1.0;
    rotated->k_scale = cache->k_scale != NULL ? cache->most_k : 1.0;
    rotated->v_scale = cache->v_scale != NULL ? cache->most : 1.0;
    for (int i = 0; i < d && cache->k_scale != NULL; i++) {
        rotated->query = larger(rotated->query, fabs(q[i]));
    }
}

static struct gate_rotated rotated_of(const struct gate_problem *p, const struct cp_kernel *kernel,
                                      int row, int head, int n) {
    struct gate_seen seen = gate_seen(p, row);
    struct gate_rotated rotated = {.quarters = gate_has_quarter_turns(p->recipe.values)};
    int d = p->recipe.head_dim, s = gate_sequence_of(p, row);
    int g = head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    int rotates = p->rotation.keys != CP_KEYS_PLACED;
    int scales = kernel->arithmetic.scales != CP_SCALES_SCORES;
    const double *q = p->q + ((ptrdiff_t)row * p->recipe.n_heads + head) * d;
    gate_cached_extend(&p->cache, d, q, &rotated);
    for (int i = 0; i < n && (rotates || scales); i++) {
        int j = gate_seen_key(&seen, i);
        const double *k = gate_key(p, s, j, g);
        int angle = gate_angle_of(p, s, j);
        if (rotates) {
            gate_rotated_extend(&p->rotation, angle, d, q, k, &rotated);
        }
        if (scales) {
            gate_scaled_extend(&p->rotation, angle, d, p->scale, q, k, &rotated);
        }
    }
    return rotated;
}

/* CONV-9: to number d_v of what is expected the log-sum-exp of the keys without the sink. */
static void certify_lse_alone(const struct cp_arithmetic *arithmetic,
                              const struct cp_counts *counts, const struct cp_tolerance_row *row,
                              double lse_error, const struct gate_numbers *numbers) {
    struct cp_tolerance_row keys = *row;
    int d_v = row->value_dim;
    keys.n_keys--;
    keys.k += row->head_dim;
    keys.v += d_v;
    keys.shift++;
    keys.shift_error++;
    cp_tolerance(arithmetic, counts, &keys, lse_error, numbers->expected, numbers->bound,
                 &numbers->expected[d_v], &numbers->bound[d_v]);
}

static double largest_shift_error(const struct cp_tolerance_row *row) {
    double largest = 0.0;
    for (int j = 0; j < row->n_keys && row->shift_error != NULL; j++) {
        largest = larger(largest, row->shift_error[j]);
    }
    return largest;
}

void gate_certify(const struct cp_kernel *kernel, const struct gate_row *shape,
                  const struct cp_tolerance_row *row, const struct gate_numbers *numbers) {
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    struct gate_extent extent = gate_extent_of(row);
    struct gate_row of_row = *shape;
    int n = shape->n, d_v = row->value_dim;
    of_row.largest_score = extent.score;
    of_row.scale = row->scale;
    of_row.products = extent.products;
    of_row.shift_error = largest_shift_error(row);
    gate_class_of_row(kernel, &of_row, &arithmetic, &counts);
    double lse_error = gate_lse_error(kernel, n, extent.score);
    int is_beside = numbers->sees_sink && kernel->conventions.sink == CP_SINK_BESIDE_LSE;
    if (is_beside) {
        certify_lse_alone(&arithmetic, &counts, row, lse_error, numbers);
    }
    cp_tolerance(&arithmetic, &counts, row, lse_error, numbers->expected, numbers->bound,
                 is_beside ? NULL : &numbers->expected[d_v],
                 is_beside ? NULL : &numbers->bound[d_v]);
    if (numbers->usual != NULL) {
        cp_tolerance_rms(&arithmetic, &counts, row, numbers->expected, numbers->usual);
    }
    gate_conventions_apply(kernel, n - numbers->sees_sink, numbers->sees_sink, d_v,
                           numbers->expected, numbers->bound);
    enum gate_overflow overflow =
        gate_overflow_of(kernel, &arithmetic, &counts, row, &extent, shape->rotated);
    for (int i = 0; i <= d_v && overflow == GATE_MAY_OVERFLOW; i++) {
        numbers->bound[i] = INFINITY;
    }
    if (numbers->must_be_finite != NULL) {
        *numbers->must_be_finite = overflow == GATE_STAYS_FINITE;
    }
}

/* Slots that are hidden at the beginning of a run are in a step that has a key of the window, too,
 * and the keys before them are in steps of their own. */
static int steps_in(const struct cp_kernel *kernel, int c, const struct gate_seen *seen) {
    int step = kernel->arithmetic.step, of_step = step == 0 || step > c ? c : step;
    int kept = gate_steps(kernel, c, seen->hidden);
    return seen->end > seen->shown ? kept + gate_steps(kernel, c, seen->end) - seen->shown / of_step
                                   : kept;
}

static int within(int x, int n) {
    return x < 0 ? 0 : x < n ? x : n;
}

/* CONV-11: where steps may end at pages, too. A step that is longer than a page goes on in the next
 * one. */
static int steps_by_pages(const struct cp_kernel *kernel, const struct gate_problem *p, int row) {
    const struct gate_seen seen = gate_seen(p, row);
    int size = p->pages.size, steps = 0;
    for (int first = 0; first < seen.end; first += size) {
        struct gate_seen of_page = {.hidden = within(seen.hidden - first, size),
                                    .shown = within(seen.shown - first, size),
                                    .end = within(seen.end - first, size)};
        steps += steps_in(kernel, size, &of_page);
    }
    return steps;
}

static int steps_by_chunks(const struct cp_kernel *kernel, const struct gate_problem *p, int row) {
    int steps = 0;
    if (p->plan == CP_PLANS_TREES && p->mask.window == 0) {
        return gate_steps(kernel, p->recipe.chunk_size, gate_seen_by_window(p, row).end);
    }
    for (int k = 0, n = gate_runs(p, gate_sequence_of(p, row)); k < n; k++) {
        struct gate_seen seen = gate_seen_in(p, row, k);
        steps += steps_in(kernel, p->recipe.chunk_size, &seen);
    }
    return steps;
}

int gate_steps_of_row(const struct cp_kernel *kernel, const struct gate_problem *p, int row) {
    int steps = steps_by_chunks(kernel, p, row), by_pages = 0;
    if (p->pages.kind == CP_PAGES_OWN && kernel->arithmetic.step <= p->pages.size) {
        by_pages = steps_by_pages(kernel, p, row);
    }
    /* tiles need not begin with a run, nor with the window; and may end where bits begin */
    int cuts = (p->mask.window > 0) + (p->mask.bit != NULL);
    steps = steps > by_pages ? steps : by_pages;
    return steps > 0 ? steps + cuts : 0;
}

/* The keys from the first that the row sees to the last, but for those before a window. */
static int keys_of_row(const struct gate_problem *p, int row) {
    int keys = 0;
    for (int k = 0, n = gate_runs(p, gate_sequence_of(p, row)); k < n; k++) {
        struct gate_seen seen = gate_seen_in(p, row, k);
        keys += seen.hidden + (seen.end > seen.shown ? seen.end - seen.shown : 0);
    }
    return keys;
}

int gate_parts_of_row(const struct cp_kernel *kernel, const struct gate_problem *p, int row,
                      int steps) {
    int ends = p->mask.window > 0 ? 4 : 2; /* first tokens may be kept beside the window */
    return gate_parts(kernel, steps, keys_of_row(p, row), ends + (p->scores.sinks != NULL));
}

/* Into the caller's arrays, which have room for d_v and one more. */
static void hand_over(const struct gate_numbers *from, int d, const struct gate_numbers *to) {
    size_t bytes = ((size_t)d + 1) * sizeof(double);
    if (from->expected == to->expected) {
        return;
    }
    memcpy(to->expected, from->expected, bytes);
    memcpy(to->bound, from->bound, bytes);
    if (to->usual != NULL) {
        memcpy(to->usual, from->usual, (size_t)d * sizeof(double));
    }
}

/* The row's keys get shifts, and the sink, if there is one, becomes the first of them. */
static void shift_row(struct gate_scratch *scratch, const struct cp_kernel *kernel, int row,
                      int head, const struct gate_rotated *rotated, struct cp_tolerance_row *keys) {
    const struct gate_problem *p = scratch->problem;
    struct gate_seen seen = gate_seen(p, row);
    int s = gate_sequence_of(p, row);
    double *shift = scratch->shift + 1, *error = scratch->shift_error + 1;
    for (int i = 0; i < keys->n_keys && gate_has_bias(&p->scores); i++) {
        int position = gate_position_of(p, s, gate_seen_key(&seen, i));
        shift[i] = gate_bias_distance(&p->scores, position, p->position[row]);
    }
    gate_shift_keys(kernel, p->recipe.head_dim, rotated, &p->scores, head, keys, shift, shift,
                    error);
    if (p->scores.sinks != NULL) {
        gate_shift_sink(kernel, &p->scores, head, --shift, --error);
        keys->n_keys++;
        keys->k -= keys->head_dim;
        keys->v -= keys->value_dim;
    }
    keys->shift = shift;
    keys->shift_error = error;
}

void gate_certify_row(struct gate_scratch *scratch, const struct cp_kernel *kernel, int row,
                      int head, const struct gate_numbers *numbers) {
    const struct gate_problem *p = scratch->problem;
    int d = p->recipe.head_dim, n = gate_visible(p, row);
    struct gate_seen seen = gate_seen(p, row);
    struct gate_rotated rotated = rotated_of(p, kernel, row, head, n);
    int w = gate_n_terms(&p->rotation, d), sees_sink = p->scores.sinks != NULL;
    struct cp_tolerance_row keys = {.n_keys = n,
                                    .head_dim = w,
                                    .value_dim = p->value_dim,
                                    .scale = p->scale,
                                    .q = scratch->q,
                                    .k = scratch->k + w,
                                    .v = scratch->v + p->value_dim,
                                    .scratch = scratch->of_tolerance};
    gate_query_terms(&p->rotation, d, p->q + ((ptrdiff_t)row * p->recipe.n_heads + head) * d,
                     scratch->q);
    gather(scratch, gate_sequence_of(p, row), head / (p->recipe.n_heads / p->recipe.n_kv_heads),
           &seen, n);
    if (gate_changes_scores(&p->scores)) {
        shift_row(scratch, kernel, row, head, &rotated, &keys);
    }
    struct gate_numbers certified = scratch->numbers;
    certified.usual = numbers->usual != NULL ? certified.usual : NULL;
    certified.must_be_finite = numbers->must_be_finite;
    certified.sees_sink = sees_sink;
    int steps = gate_steps_of_row(kernel, p, row) + sees_sink;
    const struct gate_row shape = {.d = d,
                                   .n = n + sees_sink,
                                   .steps = steps,
                                   .parts = gate_parts_of_row(kernel, p, row, steps),
                                   .rotated = &rotated};
    gate_certify(kernel, &shape, &keys, &certified);
    hand_over(&certified, p->value_dim, numbers);
}

int gate_has_lse(const struct cp_kernel *kernel, const struct gate_problem *p, int row) {
    int of_sink = p->scores.sinks != NULL && kernel->conventions.sink == CP_SINK_IN_LSE &&
                  kernel->conventions.empty_lse == CP_EMPTY_NEUTRAL;
    return of_sink || gate_visible(p, row) > 0;
}

enum gate_rightness gate_judge_number(int n_keys, double got, double expected, double bound) {
    if (n_keys == 0) {
        return got == expected || (isnan(got) && isnan(expected)) ? GATE_NUMBER_RIGHT
                                                                  : GATE_NUMBER_WRONG;
    }
    return isinf(bound)                    ? GATE_NUMBER_UNCLAIMED /* NUM-12 */
           : fabs(got - expected) <= bound ? GATE_NUMBER_RIGHT
                                           : GATE_NUMBER_WRONG;
}

double gate_ratio_of(double error, double bound, int right) {
    double ratio = bound > 0.0 && !isnan(error) ? error / bound : error == 0.0 ? 0.0 : INFINITY;
    return right ? ratio : fmax(ratio, 1.0 + DBL_EPSILON);
}

/* One number; element -1 is the log-sum-exp. */
static void compare(struct gate_finding *f, const struct pair *pair, int element, double got,
                    double expected, double bound) {
    int no_key = element < 0 ? !pair->has_lse : pair->n_keys == 0, unbounded = 0;
    enum gate_rightness rightness = gate_judge_number(!no_key, got, expected, bound);
    int right = rightness == GATE_NUMBER_RIGHT;
    if (rightness == GATE_NUMBER_UNCLAIMED) {
        if (!pair->must_be_finite || isfinite(got)) {
            f->unclaimed++;
            return;
        }
        unbounded = 1;
    }
    double ratio = unbounded ? INFINITY
                   : right && no_key
                       ? 0.0
                       : gate_ratio_of(fabs(got - expected), no_key ? 0.0 : bound, right);
    if (f->compared == 0 || ratio > f->largest) {
        f->largest = ratio;
        f->keys = pair->n_keys;
    }
    f->compared++;
    if (right) {
        return;
    }
    f->wrong++;
    if (f->verdict == GATE_RIGHT) {
        f->verdict = isnan(got) ? GATE_NOT_A_NUMBER : GATE_WRONG;
        gate_finding_breaks(f, no_key              ? "PREFILL-3"
                               : pair->n_keys == 0 ? "SCORE-3"
                               : unbounded         ? "GATE-12"
                               : element < 0       ? "NUM-11"
                                                   : "NUM-10");
        f->row = pair->row;
        f->head = pair->head;
        f->element = element;
        f->got = got;
        f->expected = unbounded ? NAN : expected;
        f->bound = no_key ? 0.0 : bound;
    }
}

/* Notes a right number that is far beyond its usual error, if binary64 has the squares of that. */
static void note_unusual(struct gate_finding *f, const struct pair *pair, int element, double error,
                         double usual) {
    double times = error / usual;
    if (!(usual > SQUARED_AT_LEAST && times > GATE_UNUSUAL)) {
        return;
    }
    f->unusual++;
    if (times > f->most_unusual) {
        f->most_unusual = times;
        f->unusual_row = pair->row;
        f->unusual_head = pair->head;
        f->unusual_element = element;
    }
}

static void compare_pair(const struct gate_problem *p, const struct gate_arrays *arrays,
                         const struct pair *pair, const struct gate_scratch *scratch,
                         struct gate_finding *f) {
    int d = p->value_dim;
    const double *expected = scratch->numbers.expected, *bound = scratch->numbers.bound;
    for (int i = 0; i < d; i++) {
        scratch->out[i] = gate_out_at(arrays, p, pair->row, pair->head, i);
        compare(f, pair, i, scratch->out[i], expected[i], bound[i]);
        double error = fabs(scratch->out[i] - expected[i]);
        if (pair->n_keys > 0 && error <= bound[i] && !isinf(bound[i])) {
            note_unusual(f, pair, i, error, scratch->numbers.usual[i]);
        }
    }
    if (arrays->run.call.lse != NULL) {
        compare(f, pair, -1, gate_lse_at(arrays, p, pair->row, pair->head), expected[d], bound[d]);
    }
}

/* The row as the rules of others see it: with keys that are rotated. */
static int show(const struct gate_problem *p, const struct pair *pair,
                const struct gate_scratch *scratch, struct gate_tensor *tensor) {
    int d = p->recipe.head_dim, s = gate_sequence_of(p, pair->row), n = pair->n_keys;
    size_t w = (size_t)gate_n_terms(&p->rotation, d);
    const struct gate_scores *scores = &p->scores;
    struct gate_plain_row row = {.type = p->kv_type,
                                 .n = n,
                                 .d = d,
                                 .d_v = p->value_dim,
                                 .scale = p->scale,
                                 .q = pair->q,
                                 .k = scratch->k + w,
                                 .v = scratch->v + p->value_dim,
                                 .shift = gate_changes_scores(scores) ? scratch->shift + 1 : NULL,
                                 .sink = scores->sinks != NULL ? (double)scores->sinks[pair->head]
                                                               : -INFINITY};
    if (tensor == NULL || isnan(scratch->numbers.expected[0])) { /* CONV-2 */
        return 0;
    }
    struct gate_seen seen = gate_seen(p, pair->row);
    for (int i = 0; i < n && p->rotation.keys != CP_KEYS_PLACED; i++) {
        double *k = scratch->rotated + (ptrdiff_t)i * d;
        int j = gate_seen_key(&seen, i);
        memcpy(k, gate_key(p, s, j, scratch->kv_head), (size_t)d * sizeof *k);
        gate_rotate(&p->rotation, gate_angle_of(p, s, j), k);
        row.k = scratch->rotated;
    }
    gate_tensor_add(tensor, scratch->out, scratch->numbers.expected, p->value_dim);
    return gate_tensor_plain(tensor, &row, scratch->numbers.expected);
}

/* ", and right if the kernel declared .lse_base = CP_LSE_BITS", or nothing. */
static void name_convention(const struct cp_kernel *kernel, int n_keys, /* or a sink */
                            const struct gate_finding *f, char text[GATE_CONVENTIONS_TEXT + 48]) {
    struct cp_kernel other;
    char words[GATE_CONVENTIONS_TEXT];
    text[0] = '\0';
    if (gate_conventions_guess(kernel, n_keys, f->element < 0, f->got, f->expected, f->bound,
                               &other)) {
        gate_conventions_words(kernel, &other, words);
        (void)snprintf(text, sizeof words + 48, "; right if the kernel declared %s (%s)", words,
                       n_keys > 0 ? "CONV-1" : "CONV-2");
    }
}

static void say(const struct gate_problem *p, const struct cp_kernel *kernel,
                struct gate_finding *f) {
    char where[64], within[64], other[GATE_CONVENTIONS_TEXT + 48];
    if (f->verdict == GATE_RIGHT) {
        return;
    }
    (void)snprintf(where, sizeof where, f->element < 0 ? "lse" : "out, element %d", f->element);
    (void)snprintf(within, sizeof within, f->bound > 0.0 ? " within %.3g" : " exactly", f->bound);
    if (isinf(f->bound)) {
        (void)snprintf(f->text, sizeof f->text,
                       "%s of row %d (sequence %d), head %d is %.9g and must be a number: nothing "
                       "overflows there in the declared arithmetic; %lld of %lld numbers are wrong",
                       where, f->row, gate_sequence_of(p, f->row), f->head, gate_plain(f->got),
                       f->wrong, f->compared);
        return;
    }
    name_convention(kernel,
                    f->element < 0 ? gate_has_lse(kernel, p, f->row) : gate_visible(p, f->row), f,
                    other);
    (void)snprintf(f->text, sizeof f->text,
                   "%s of row %d (sequence %d), head %d is %.9g and must be %.9g%s%s; %lld of %lld "
                   "numbers are wrong",
                   where, f->row, gate_sequence_of(p, f->row), f->head, gate_plain(f->got),
                   f->expected, within, other, f->wrong, f->compared);
}

/* Which of n pairs the i-th of those that are judged is: the first, the last, and any one of each
 * equal part between them, so that all heads and all rows of a tile come up. */
static int pair_of(struct prng *random, int n, int judged, int i) {
    int begin = (int)((long long)i * n / judged), end = (int)((i + 1LL) * n / judged);
    int any = begin + prng_below(random, end - begin);
    return i == 0 ? 0 : i == judged - 1 ? n - 1 : any;
}

int gate_judge(const struct gate_problem *p, const struct gate_arrays *arrays,
               const struct cp_kernel *kernel, int most, struct gate_finding *f,
               struct gate_tensor *tensor) {
    struct gate_scratch *scratch = gate_scratch_new(p);
    int d = p->recipe.head_dim, h = p->recipe.n_heads, n = p->n_rows * h;
    int judged = n < most ? n : most, all = judged + (p->also > 0), result = 0;
    struct prng random = {p->seed ^ 0x9A1257ULL};
    *f = gate_no_finding;
    if (scratch == NULL) {
        return -1;
    }
    for (int i = 0; i < all && result == 0; i++) {
        int x = i < judged ? pair_of(&random, n, judged, i) : p->also;
        struct pair pair = {x / h,
                            x % h,
                            gate_visible(p, x / h),
                            gate_has_lse(kernel, p, x / h),
                            p->q + (ptrdiff_t)x * d,
                            0};
        gate_certify_row(scratch, kernel, pair.row, pair.head, &scratch->numbers);
        pair.must_be_finite = scratch->must_be_finite;
        compare_pair(p, arrays, &pair, scratch, f);
        result = show(p, &pair, scratch, tensor);
    }
    gate_scratch_free(scratch);
    say(p, kernel, f);
    return result;
}

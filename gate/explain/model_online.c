/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 7, tile by tile and part by part: states that run on and are merged; and other queries that
 * they are taken against. The functions declare the variables of ways.h. */
#include <math.h>

#include "gate/explain/model.h"

double explain_limit(const struct explain_choice *choice) {
    static const double units[] = {
        [NATS] = 1.0, [BITS] = LN_2, [DECADES] = LN_10, [HALF_NATS] = 0.5};
    return choice->weight.limit * units[choice->weight.unit];
}

/* ---- Other queries ---- */

/* The first row of those that share the chunk key j is in; of its own sequence where it is not
 * shared. */
static int first_row_of(const struct explain_model *x, int j) {
    const struct gate_problem *p = &x->run->problem;
    int chunk = p->table[x->s * p->table_width + explain_spot_of(x, j).run];
    const struct cp_shared_chunk *shared = explain_descriptor(p, chunk);
    return p->query_begin[shared != NULL ? p->served[shared->begin] : x->s];
}

int explain_other_query(const struct explain_model *x, int whose, int block, int j) {
    int h = x->run->problem.recipe.n_heads, group = h / x->run->problem.recipe.n_kv_heads;
    int first = first_row_of(x, j), query = (x->row - first) * group + x->head % group;
    int got = 0;
    switch ((enum explain_other)whose) { EXPLAIN_OTHERS(EXPLAIN_GET) }
    int row = first + got / group, other = row * h + x->g * group + got % group;
    return got < 0 || row >= x->run->problem.n_rows || other == x->pair ? -1 : other;
}

/* The score of the query row and head with key j of those that were taken. */
static double score_of(const struct explain_model *x, int query, int j) {
    const struct gate_problem *p = &x->run->problem;
    const double *q = x->run->q + query / p->recipe.n_heads * x->run->call.q_row +
                      query % p->recipe.n_heads * x->run->call.q_head;
    const double *k = explain_key(x, j);
    double sum = 0.0;
    for (int i = 0; i < x->d; i++) {
        sum += q[i] * k[i];
    }
    return p->scale * sum;
}

double explain_others_largest(struct explain_model *x, int other, int from, int end) {
    int sees = gate_visible(&x->run->problem, other / x->run->problem.recipe.n_heads);
    double largest = -INFINITY;
    for (int j = from; j < end && j < sees; j++) {
        largest = fmax(largest, score_of(x, other, j));
    }
    x->work -= (long long)(end - from) * x->d;
    return largest;
}

double explain_other_sum(struct explain_model *x, int whose) {
    int other = explain_other_query(x, whose, 1, 0);
    if (other < 0) {
        return NAN;
    }
    int sees = gate_visible(&x->run->problem, other / x->run->problem.recipe.n_heads);
    double m = explain_others_largest(x, other, 0, x->m), sum = 0.0;
    for (int j = 0; j < x->m && j < sees; j++) {
        sum += exp(score_of(x, other, j) - m);
    }
    return sum;
}

/* ---- Parts ---- */

int explain_take_parts(struct explain_model *x, const struct explain_partition *parts) {
    const struct explain_part none = {-INFINITY, 0.0, -INFINITY, -INFINITY,
                                      -INFINITY, 0.0, 0.0,       -INFINITY};
    int n = explain_parts(x, parts);
    x->top = -INFINITY;
    for (int p = 0; p < n; p++) {
        x->part[p] = none;
    }
    for (int j = 0; j < x->m; j++) {
        x->part_of[j] = explain_part_of(x, parts, j);
        struct explain_part *part = &x->part[x->part_of[j]];
        part->maximum = fmax(part->maximum, x->score[j]);
    }
    for (int j = 0; j < x->m; j++) {
        struct explain_part *part = &x->part[x->part_of[j]];
        part->sum += exp(x->score[j] - part->maximum);
    }
    for (int p = 0; p < n; p++) {
        x->top = fmax(x->top, x->part[p].maximum + log(x->part[p].sum));
    }
    return n;
}

/* How far maximum m of key j's part is moved by being rounded when it is kept; what a sequence has
 * alone is not kept. */
static double moved(const struct explain_model *x, const struct explain_choice *choice, int j,
                    double m) {
    int kind = choice->parts.kind, are_shared = kind == PART_SHARED || kind == PART_SHARED_CHUNKS;
    double unit = choice->weight.unit == BITS ? LN_2 : 1.0;
    return are_shared && j >= x->shared ? 0.0
                                        : gate_round(choice->weight.type, m / unit) * unit - m;
}

#define own(logarithm) (p == group ? (logarithm) : -INFINITY)

int explain_weigh_merged(struct explain_model *x, const struct explain_choice *choice, int group) {
    int parts = explain_take_parts(x, &choice->parts);
    double top = x->top, largest = x->m_right, maxima = 0.0, sums = 0.0;
    struct {
        double of_n, of_o, lse;
        int one;
    } got = {0};
    int p = 0;
    do {
        maxima += exp(x->part[p].maximum - largest);
        sums += x->part[p].sum * exp(x->part[p].maximum - largest);
    } while (++p < parts);
    maxima = log(maxima);
    sums = log(sums);
    for (int j = 0; j < x->m; j++) {
        p = x->part_of[j];
        double m = x->part[p].maximum, log_n = log(x->part[p].sum);
        double later = log(parts - p);
        switch ((enum explain_merge)choice->weight.merge) { EXPLAIN_MERGES(EXPLAIN_GET) }
        x->of_n[j] = exp(x->score[j] - largest + got.of_n);
        x->of_o[j] = exp(x->score[j] - largest + got.of_o);
    }
    x->m_all = got.lse;
    return parts > 1 || got.one;
}

/* ---- Tile by tile ---- */

/* A tile: its number in its part; 1: it has fewer keys than others; the other query's largest score
 * up to it, and with it. */
struct tile {
    int number, is_short;
    double others_before, others;
};

/* By the logarithm of what the sums are to be multiplied by. */
static void rescale(struct explain_part *part, const struct explain_choice *choice, int tile,
                    double move) {
    int tiles = choice->weight.tiles;
    struct {
        double of_n, of_o;
    } got = {0};
    switch ((enum explain_rescale)choice->weight.rescale) { EXPLAIN_RESCALES(EXPLAIN_GET) }
    part->n += got.of_n * move;
    part->o += got.of_o * move;
}

/* NUM-21: where the reference of a kernel is that goes by the maximum. What it declares to be above
 * is a whole number of bits, or of nats, if it is as much as one of them. */
static double follow(const struct explain_model *x, double old, double most) {
    const struct cp_kernel_class *class = &x->kernel->arithmetic;
    double unit = class->in_bits ? LN_2 : 1.0;
    if (class->above >= 0.999 * unit && isfinite(most)) {
        most = fmax(old, ceil(most / unit) * unit);
    }
    return most > old + class->behind ? most : old;
}

/* A tile with this largest score. Returns what its weights are taken against. */
static double take_tile(struct explain_model *x, const struct explain_choice *choice,
                        struct explain_part *part, const struct tile *tile, double of_tile) {
    double old = part->reference, most = fmax(old, of_tile), largest = follow(x, old, most);
    double last = part->last, before = part->most, behind = x->kernel->arithmetic.behind;
    int is_short = tile->is_short && old > -INFINITY;
    double others = tile->others, others_before = tile->others_before;
    double lazy = most > old + explain_limit(choice) ? most : old;
    struct {
        double reference, keep, move;
    } got = {0};
    switch ((enum explain_maximum)choice->weight.maximum) { EXPLAIN_MAXIMA(EXPLAIN_GET) }
    if (old > -INFINITY) {
        int may_overflow = choice->weight.maximum >= WEIGHS_BY_OLD;
        rescale(part, choice, tile->number, fmax(got.move, -1e6));
        x->no_number |= may_overflow && part->top + part->n > LOG_FLOAT;
    }
    part->reference = got.keep;
    part->last = of_tile;
    part->most = fmax(part->most, of_tile);
    return got.reference;
}

static int end_of_tile(const struct explain_model *x, const struct explain_choice *c, int from) {
    int step = c->parts.tile, end = from + (step > 0 ? step : x->c);
    if (step == SHARED_FIRST && from == 0 && x->shared > 0) {
        end = x->shared;
    }
    int chunk = explain_spot_of(x, from).run;
    int to_chunk = c->weight.to_chunk || (step == 0 && x->run->problem.plan != CP_PLANS_TREES);
    for (int j = from + 1; j < end && j < x->m; j++) {
        if (x->part_of[j] != x->part_of[from] || (to_chunk && explain_spot_of(x, j).run != chunk)) {
            end = j;
        }
    }
    return end < x->m ? end : x->m;
}

static int is_of_other(const struct explain_choice *c) {
    return c->weight.maximum == RESCALES_FROM_OTHER || c->weight.maximum == RESCALES_TO_OTHER;
}

static void add_tiles(struct explain_model *x, const struct explain_choice *c, int begin,
                      int other) {
    struct tile tile = {0, 0, -INFINITY, -INFINITY};
    for (int from = begin, end; from < x->m; from = end) {
        struct explain_part *part = &x->part[x->part_of[from]];
        double of_tile = -INFINITY;
        int is_first = from == begin || x->part_of[from - 1] != x->part_of[from];
        end = end_of_tile(x, c, from);
        tile.number = is_first ? 0 : tile.number + 1;
        tile.is_short = end - from < (c->parts.tile > 0 ? c->parts.tile : x->c);
        if (other >= 0) {
            tile.others_before = tile.others;
            tile.others = fmax(tile.others, explain_others_largest(x, other, from, end));
        }
        for (int t = from; t < end; t++) {
            of_tile = fmax(of_tile, x->score[c->weight.backwards ? x->m - 1 - t : t]);
        }
        double reference = take_tile(x, c, part, &tile, of_tile);
        for (int t = from; t < end; t++) {
            int j = c->weight.backwards ? x->m - 1 - t : t;
            x->of_n[j] = x->score[j] - reference - part->n;
            x->of_o[j] = x->score[j] - reference - part->o;
            part->top = fmax(part->top, x->of_n[j]);
        }
    }
}

static double kept_by(const struct explain_choice *c, const struct explain_part *part) {
    return c->weight.by_most ? part->maximum : part->reference;
}

int explain_weigh_online(struct explain_model *x, const struct explain_choice *c) {
    int begin = c->weight.own_alone ? x->shared : 0, n = explain_take_parts(x, &c->parts);
    int other = is_of_other(c) ? explain_other_query(x, c->weight.whose, 1, 0) : -1;
    if (begin >= x->m || (c->weight.own_alone && begin == 0) || (is_of_other(c) && other < 0)) {
        return 0;
    }
    add_tiles(x, c, begin, other);
    double m = explain_largest(x->score, begin);
    for (int p = 0; p < n; p++) {
        m = fmax(m, kept_by(c, &x->part[p]));
    }
    for (int j = 0; j < x->m; j++) {
        const struct explain_part *part =
            &x->part[x->part_of[c->weight.backwards ? x->m - 1 - j : j]];
        double kept = kept_by(c, part) - m;
        x->of_n[j] = exp(j < begin ? x->score[j] - m : x->of_n[j] + part->n + kept);
        x->of_o[j] = exp(j < begin ? x->score[j] - m : x->of_o[j] + part->o + kept);
    }
    x->m_all = m;
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 7, tile by tile and part by part: states that run on and are merged. */
#include <math.h>

#include "gate/explain/model.h"

#define LOG2_E       1.4426950408889634
#define LN_2         0.6931471805599453
#define LOG_FLOAT    88.7228 /* exp() of more overflows binary32 */
#define SHARED_FIRST (-1)

double explain_largest(const double *score, int m) {
    double largest = -INFINITY;
    for (int j = 0; j < m; j++) {
        largest = fmax(largest, score[j]);
    }
    return largest;
}

/* Key j, so many times in these sums. */
void explain_multiply(struct explain_model *x, int sums, int j, double times) {
    x->of_n[j] *= sums == IN_O ? 1.0 : times;
    x->of_o[j] *= sums == IN_N ? 1.0 : times;
}

/* ---- Other queries ---- */

/* The first row of those that share the chunk key j is in; of its own sequence where it is not
 * shared. */
static int first_row_of(const struct explain_model *x, int j) {
    const struct gate_problem *p = &x->run->problem;
    int chunk = p->table[x->s * p->table_width + j / x->c];
    for (int i = 0; i < p->n_shared; i++) {
        if (p->shared[i].chunk == chunk) {
            return p->query_begin[p->shared[i].begin];
        }
    }
    return p->query_begin[x->s];
}

int explain_other_query(const struct explain_model *x, int whose, int block, int j) {
    int h = x->run->problem.recipe.n_heads, group = h / x->run->problem.recipe.n_kv_heads;
    int first = first_row_of(x, j), query = (x->row - first) * group + x->head % group;
    switch ((enum explain_other)whose) {
    case FIRST_OF_BLOCK:
        query = query / block * block;
        break;
    case FIRST_OF_GROUP:
        query = query / group * group;
        break;
    case FIRST_OF_CHUNK:
        query = x->head % group;
        break;
    default:
        query += whose == ONE_BEFORE ? -1 : 1;
    }
    int row = first + query / group;
    return query < 0 || row >= x->run->problem.n_rows ? -1 : row * h + x->g * group + query % group;
}

double explain_other_sum(const struct explain_model *x, int whose) {
    int other = explain_other_query(x, whose, 1, 0), sees;
    double m = -INFINITY, sum = 0.0;
    if (other < 0 || other == x->pair) {
        return NAN;
    }
    sees = gate_visible(&x->run->problem, other / x->run->problem.recipe.n_heads);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < x->m && j < sees; j++) {
            double score = explain_score_of(x, other, j);
            m = pass == 0 ? fmax(m, score) : m;
            sum += pass == 1 ? exp(score - m) : 0.0;
        }
    }
    return sum;
}

/* ---- Parts ---- */

/* Which part each key is in, the largest score of each part, and its sum of weights. Returns how
 * many. */
int explain_take_parts(struct explain_model *x, const struct explain_partition *parts) {
    int n = explain_parts(x, parts);
    double *m = x->part[OF_MAXIMUM], *sum = x->part[OF_SUM];
    for (int p = 0; p < n; p++) {
        m[p] = -INFINITY;
        sum[p] = 0.0;
    }
    for (int j = 0; j < x->m; j++) {
        int p = x->part_of[j] = explain_part_of(x, parts, j);
        m[p] = fmax(m[p], x->score[j]);
    }
    for (int j = 0; j < x->m; j++) {
        sum[x->part_of[j]] += exp(x->score[j] - m[x->part_of[j]]);
    }
    return n;
}

/* ---- Tile by tile ---- */

/* A part's state as it runs. */
struct online {
    double *kept, *n, *o; /* maximum; logarithms of what sums were multiplied by; */
    double *top;          /* and of the largest weight, before that */
    int tile;             /* its number */
    double others;        /* the other query's largest score up to the tile, and with it */
    double others_before;
};

static double power_of(const struct explain_choice *c, int rescale, int tile) {
    static const double powers[RESCALES] = {1.0, 0.0, -1.0, LOG2_E, LN_2, 1.0};
    return rescale == RESCALE_AT_FIRST && tile >= c->weight.behind ? 0.0 : powers[rescale];
}

/* What weights of a tile are taken against; by what the sums before are multiplied, as a logarithm;
 * what is kept. */
static double take_tile(struct explain_model *x, const struct explain_choice *c,
                        const struct online *s, int p, double of_tile) {
    double old = s->kept[p], largest = fmax(old, of_tile), reference = largest, keep = largest;
    double move = old - largest;
    switch ((enum explain_maximum)c->weight.maximum) {
    case KEEPS_LAST:
        keep = of_tile;
        break;
    case KEEPS_OF_TILE:
        reference = keep = of_tile;
        move = old - of_tile;
        break;
    case WEIGHS_BY_TILE:
        reference = of_tile;
        break;
    case WEIGHS_BY_OLD:
        reference = old > -INFINITY ? old : largest;
        break;
    case KEEPS_LAZILY:
        keep = largest > old + c->weight.limit ? largest : old;
        move = old - keep;
        break;
    case RESCALES_FROM_OTHER:
        move = s->others_before - largest;
        break;
    case RESCALES_TO_OTHER:
        move = old - s->others;
        break;
    default:
        break;
    }
    if (old > -INFINITY) {
        s->n[p] += power_of(c, c->weight.rescale_n, s->tile) * fmax(move, -1e6);
        s->o[p] += power_of(c, c->weight.rescale_o, s->tile) * fmax(move, -1e6);
        x->no_number |= c->weight.maximum >= KEEPS_OF_TILE && s->top[p] + s->n[p] > LOG_FLOAT;
    }
    s->kept[p] = keep;
    return reference;
}

static int end_of_tile(const struct explain_model *x, const struct explain_choice *c, int from) {
    int step = c->weight.parts.tile, end = from + (step > 0 ? step : x->c);
    if (step == SHARED_FIRST && from == 0 && x->shared > 0) {
        end = x->shared;
    }
    if (c->weight.own && (from / x->c + 1) * x->c < end) {
        end = (from / x->c + 1) * x->c;
    }
    for (int j = from + 1; j < end && j < x->m; j++) {
        if (x->part_of[j] != x->part_of[from]) {
            end = j;
        }
    }
    return end < x->m ? end : x->m;
}

static int is_of_other(const struct explain_choice *c) {
    return c->weight.maximum == RESCALES_FROM_OTHER || c->weight.maximum == RESCALES_TO_OTHER;
}

/* The other query's largest score up to the end of a tile. */
static double others_up_to(struct explain_model *x, int other, double before, int from, int end) {
    int sees = gate_visible(&x->run->problem, other / x->run->problem.recipe.n_heads);
    for (int j = from; j < end && j < sees; j++) {
        before = fmax(before, explain_score_of(x, other, j));
    }
    x->work -= (long long)(end - from) * x->d;
    return before;
}

static void add_tiles(struct explain_model *x, const struct explain_choice *c, struct online *s,
                      int begin, int other) {
    for (int from = begin, end; from < x->m; from = end) {
        int p = x->part_of[from];
        double of_tile = -INFINITY;
        end = end_of_tile(x, c, from);
        s->tile = from == begin || x->part_of[from - 1] != p ? 0 : s->tile + 1;
        if (other >= 0) {
            s->others_before = s->others;
            s->others = others_up_to(x, other, s->others, from, end);
        }
        for (int t = from; t < end; t++) {
            of_tile = fmax(of_tile, x->score[c->weight.backwards ? x->m - 1 - t : t]);
        }
        double reference = take_tile(x, c, s, p, of_tile);
        for (int t = from; t < end; t++) {
            int j = c->weight.backwards ? x->m - 1 - t : t;
            x->of_n[j] = x->score[j] - reference - s->n[p];
            x->of_o[j] = x->score[j] - reference - s->o[p];
            s->top[p] = fmax(s->top[p], x->of_n[j]);
        }
    }
}

int explain_weigh_online(struct explain_model *x, const struct explain_choice *c) {
    struct online s = {x->part[REFERENCES],
                       x->part[CUMULATED_N],
                       x->part[CUMULATED_O],
                       x->part[OF_SUM],
                       0,
                       -INFINITY,
                       -INFINITY};
    int begin = c->weight.own_alone ? x->shared : 0, n = explain_take_parts(x, &c->weight.parts);
    int other = is_of_other(c) ? explain_other_query(x, c->weight.whose, 1, 0) : -1;
    if (begin >= x->m || (c->weight.own_alone && begin == 0) ||
        (is_of_other(c) && (other < 0 || other == x->pair))) {
        return 0;
    }
    for (int p = 0; p < n; p++) {
        s.kept[p] = -INFINITY;
        s.n[p] = s.o[p] = 0.0;
        s.top[p] = -INFINITY;
    }
    add_tiles(x, c, &s, begin, other);
    double m = explain_largest(x->score, begin);
    for (int p = 0; p < n; p++) {
        m = fmax(m, s.kept[p]);
    }
    for (int j = 0; j < x->m; j++) {
        int p = x->part_of[c->weight.backwards ? x->m - 1 - j : j];
        x->of_n[j] = exp(j < begin ? x->score[j] - m : x->of_n[j] + s.n[p] + s.kept[p] - m);
        x->of_o[j] = exp(j < begin ? x->score[j] - m : x->of_o[j] + s.o[p] + s.kept[p] - m);
    }
    x->m_all = m;
    return 1;
}

/* ---- Merged ---- */

/* What the keys of a part are multiplied by, as a logarithm: times (m - its maximum), (the
 * logarithm of its sum), (its log-sum-exp - the largest of these), (m - the largest log-sum-exp).
 * And what lse is: the logarithm of n, and times m, times the largest log-sum-exp; or nothing is
 * said of it. */
static const struct merge {
    double n[4], o[4], of_m, of_top;
    int of_one; /* 1: also of one part */
} merges[MERGES] = {
    [MERGE_ADDED_DIVIDED] = {{0, 0, 0, 1}, {1, -1, 0, 0}, 0.0, 1.0, 0},
    [MERGE_ADDED_O] = {{0, 0, 0, 0}, {1, 0, 0, 0}, 1.0, 0.0, 0},
    [MERGE_ADDED] = {{1, 0, 0, 0}, {1, 0, 0, 0}, NAN, 0.0, 0},
    [MERGE_BY_MAXIMA] = {{0, -1, 0, 0}, {0, -1, 0, 0}, 1.0, 0.0, 1},
    [MERGE_ADDED_N] = {{1, 0, 0, 0}, {0, 0, 0, 0}, 1.0, 0.0, 0},
    [MERGE_BY_NUMBER] = {{1, -1, 0, 0}, {0, 0, 0, 1}, NAN, 0.0, 0},
    [MERGE_AVERAGED] = {{1, -1, 0, 0}, {1, -1, 0, 0}, 0.0, 1.0, 0},
    [MERGE_NATS_AS_BITS] = {{1, -1, LN_2, 0}, {1, -1, LN_2, 0}, 0.0, LN_2, 1},
    [MERGE_BITS_AS_NATS] = {{1, -1, LOG2_E, 0}, {1, -1, LOG2_E, 0}, 0.0, LOG2_E, 1},
};

int explain_weigh_merged(struct explain_model *x, const struct explain_choice *c) {
    const struct merge *merge = &merges[c->weight.merge];
    int parts = explain_take_parts(x, &c->weight.parts);
    const double *maximum = x->part[OF_MAXIMUM], *sum = x->part[OF_SUM];
    double m = explain_largest(maximum, parts), top = -INFINITY;
    for (int p = 0; p < parts; p++) {
        top = fmax(top, maximum[p] + log(sum[p]));
    }
    for (int j = 0; j < x->m; j++) {
        int p = x->part_of[j];
        double terms[] = {m - maximum[p], log(sum[p]), maximum[p] + log(sum[p]) - top, m - top};
        double of_n = x->score[j] - m, of_o = of_n;
        for (int t = 0; t < 4; t++) {
            of_n += merge->n[t] * terms[t];
            of_o += merge->o[t] * terms[t];
        }
        x->of_n[j] = exp(of_n);
        x->of_o[j] = exp(of_o);
    }
    x->m_all = merge->of_m * m + merge->of_top * top;
    return parts > 1 || merge->of_one;
}

/* exp() of how far a maximum is moved by being rounded. */
static double by_rounding(const struct explain_choice *c, double m) {
    double unit = c->weight.number ? LN_2 : 1.0;
    return exp(gate_round(c->weight.type, m / unit) * unit - m);
}

/* Maxima of parts were rounded when they were kept; what a sequence has alone needs none that is
 * kept. */
int explain_weigh_kept(struct explain_model *x, const struct explain_choice *c) {
    int kind = c->weight.parts.kind;
    explain_take_parts(x, &c->weight.parts);
    for (int j = 0; j < x->m; j++) {
        if ((kind != PART_SHARED && kind != PART_SHARED_CHUNKS) || j < x->shared) {
            explain_multiply(x, IN_BOTH, j, by_rounding(c, x->part[OF_MAXIMUM][x->part_of[j]]));
        }
    }
    return 1;
}

int explain_weigh_carried(struct explain_model *x, const struct explain_choice *c) {
    int parts = explain_take_parts(x, &c->weight.parts);
    for (int j = 0; j < x->m; j++) {
        explain_multiply(x, c->weight.sums, j, parts - x->part_of[j]);
    }
    return parts > 1;
}

/* A split, a warp or the shared chunks that have no key of the row. */
int explain_has_empty_part(const struct explain_model *x, const struct explain_choice *c) {
    int shared = x->run->problem.n_shared_chunks[x->s] * x->c, kind = c->weight.parts.kind;
    return kind == PART_SHARED          ? shared == 0 || x->n <= shared
           : kind == PART_SHARED_CHUNKS ? x->n <= shared - x->c
                                        : explain_parts(x, &c->weight.parts) < c->weight.parts.n;
}

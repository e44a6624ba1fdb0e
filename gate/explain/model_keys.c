/* SPDX-License-Identifier: Apache-2.0 */
/* Stages 1 to 4: how many keys a row sees, where they lie, and how often each is counted. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "gate/explain/model.h"

static int least(int a, int b) {
    return a < b ? a : b;
}

/* ---- 1: how many ---- */

/* Of the pair x is at: query rows of its sequence, heads of its group, its number. */
struct pair {
    int rows, group, row, head, number;
};

static struct pair pair_of(const struct explain_model *x, int by_heads) {
    const struct gate_problem *p = &x->run->problem;
    struct pair pair = {.rows = p->query_begin[x->s + 1] - p->query_begin[x->s],
                        .group = p->recipe.n_heads / p->recipe.n_kv_heads};
    pair.row = x->row - p->query_begin[x->s];
    pair.head = x->head - x->g * pair.group;
    pair.number = by_heads ? pair.head * pair.rows + pair.row : pair.row * pair.group + pair.head;
    return pair;
}

/* The row in its sequence of number `number`. */
static int row_of(const struct pair *pair, int by_heads, int number) {
    number = least(number, pair->rows * pair->group - 1);
    return by_heads ? number % pair->rows : number / pair->group;
}

/* As the first row of its tile, or the last one in whole blocks of keys. */
static int seen_of_tile(const struct explain_model *x, const struct explain_choice *c) {
    const struct gate_problem *p = &x->run->problem;
    int by_heads = c->sees.by_heads, tile = c->sees.pairs, begin = p->query_begin[x->s];
    struct pair pair = pair_of(x, by_heads);
    int first = pair.number / tile * tile;
    if (c->sees.rule == SEES_AS_FIRST) {
        return gate_visible(p, begin + row_of(&pair, by_heads, first));
    }
    int last = gate_visible(p, begin + row_of(&pair, by_heads, first + tile - 1));
    int whole = last / c->sees.keys * c->sees.keys;
    return whole > x->n ? whole : x->n;
}

static int whose(const struct explain_model *x, const struct explain_choice *c) {
    int number = c->path.number;
    return c->path.whose == SEQUENCE          ? number
           : c->path.whose == SEQUENCE_BY     ? x->s + number
           : c->path.whose == SEQUENCE_MODULO ? x->s % number
                                              : x->s;
}

/* By the length of another sequence; -1: there is none. */
static int seen_of_sequence(const struct explain_model *x, const struct explain_choice *c) {
    const struct gate_problem *p = &x->run->problem;
    int s = whose(x, c), all = p->n_tokens[x->s];
    if (s < 0 || s >= p->b || s == x->s) {
        return -1;
    }
    if (c->sees.rule == SEES_AS_LONG) {
        return p->n_tokens[s];
    }
    if (c->sees.rule == SEES_AS_THERE) {
        return p->n_tokens[s] - (p->query_begin[s + 1] - 1 - x->row);
    }
    int n = least(p->n_tokens[s] - (all - x->n), all);
    return n < 0 ? 0 : n;
}

static int seen(const struct explain_model *x, const struct explain_choice *c) {
    const struct gate_problem *p = &x->run->problem;
    int all = p->n_tokens[x->s], by = c->sees.by, in_sequence = x->row - p->query_begin[x->s];
    int shared = least(p->n_shared_chunks[x->s] * x->c, all);
    switch ((enum explain_sees)c->sees.rule) {
    case SEES_MORE:
        return x->n + by;
    case SEES_MORE_THERE:
        return least(x->n + by, all);
    case SEES_ALL:
        return all;
    case SEES_FEWER:
        return x->n == all ? all : x->n > by ? x->n - by : 0;
    case SEES_FROM_FIRST:
        return in_sequence + 1;
    case SEES_WHOLE_CHUNK:
        return (x->n + x->c - 1) / x->c * x->c;
    case SEES_SHARED:
        return shared > x->n ? shared : x->n;
    case SEES_AS_LONG:
    case SEES_LENGTH_OF:
    case SEES_AS_THERE:
        return seen_of_sequence(x, c);
    case SEES_AS_FIRST:
    case SEES_AS_LAST:
        return seen_of_tile(x, c);
    case SEES_FIRST_BLOCK:
        return gate_visible(p, p->query_begin[x->s] + in_sequence % by);
    case SEES_ALL_BEHIND:
        return in_sequence >= by ? all : x->n;
    default:
        return x->n;
    }
}

/* ---- 2: the path ---- */

static int of_keys(const struct explain_model *x, int keys, int m, int j) {
    return keys == ALL_KEYS || (keys == SHARED_KEYS && j < x->shared) ||
           (keys == OWN_KEYS && j >= x->shared) ||
           (keys == LAST_CHUNK_KEYS && j / x->c == (m - 1) / x->c);
}

/* Chunk `i` of a path, -1 behind its end. */
static int chunk_of(const struct explain_model *x, int s, int i) {
    const struct gate_problem *p = &x->run->problem;
    return s >= 0 && s < p->b && i >= 0 && i < p->table_width ? p->table[s * p->table_width + i]
                                                              : -1;
}

/* By another distance of the table's rows. */
static int by_table_width(const struct explain_model *x, int s, int i, int by) {
    const struct gate_problem *p = &x->run->problem;
    int width = by == 0 ? (p->n_tokens[s] + x->c - 1) / x->c : p->table_width + by;
    int at = s * width + i;
    return at >= 0 && at < p->b * p->table_width ? p->table[at] : -1;
}

struct place {
    int chunk, slot;
};

/* Of key j of m. */
static struct place find_place(const struct explain_model *x, const struct explain_choice *c, int s,
                               int m, int j) {
    int by = c->path.by, of = by > 0 ? by : 1, i = j / x->c, chunks = (m + x->c - 1) / x->c;
    struct place own = {chunk_of(x, s, i), j % x->c};
    int first = j - j % of, other = j + by < 0 ? 0 : j + by;
    switch ((enum explain_path)c->path.rule) {
    case PATH_POOL:
        return (struct place){i < x->run->problem.capacity ? i : -1, own.slot};
    case PATH_SHIFTED:
        return (struct place){chunk_of(x, s, i + by), own.slot};
    case PATH_ROTATED:
        return (struct place){chunk_of(x, s, (i + by + chunks) % (chunks > 0 ? chunks : 1)),
                              own.slot};
    case PATH_TURNED:
        return (struct place){chunk_of(x, s, chunks - 1 - i), own.slot};
    case PATH_FIRST:
        return (struct place){chunk_of(x, s, 0), own.slot};
    case PATH_CHUNK:
        return i == by ? (struct place){chunk_of(x, s, c->path.to), own.slot} : own;
    case PATH_ANY:
        return i == by ? (struct place){c->path.to, own.slot} : own;
    case PATH_MODULO:
        return (struct place){own.chunk < 0 ? -1 : own.chunk % of, own.slot};
    case PATH_NEXT_KEY:
        return (struct place){chunk_of(x, s, other / x->c), own.slot};
    case PATH_KEY:
        return (struct place){chunk_of(x, s, other / x->c), other % x->c};
    case PATH_KEY_MODULO:
        return (struct place){chunk_of(x, s, j % of / x->c), j % of % x->c};
    case PATH_SIZE:
        return (struct place){c->path.to == 2 ? own.chunk : chunk_of(x, s, j / of),
                              c->path.to == 1 ? own.slot : j % of};
    case PATH_MASK:
        return (struct place){own.chunk, j & (x->c - 1)};
    case PATH_SLOT_MODULO:
        return (struct place){own.chunk, own.slot % of};
    case PATH_TILE:
        return (struct place){chunk_of(x, s, first / x->c), own.slot};
    case PATH_PIECE:
        return (struct place){chunk_of(x, s, first / x->c), first % x->c + j % of};
    case PATH_TABLE_WIDTH:
        return (struct place){by_table_width(x, s, i, by), own.slot};
    default:
        return own;
    }
}

/* ---- 3: the address ---- */

static int head_of(const struct explain_model *x, const struct explain_choice *c) {
    int n_kv = x->run->problem.recipe.n_kv_heads;
    switch ((enum explain_head)c->place.head) {
    case HEAD_MODULO:
        return x->head % n_kv;
    case HEAD_FIRST:
        return 0;
    case HEAD_LAST:
        return n_kv - 1;
    case HEAD_BY_H_KV:
        return x->head / n_kv < n_kv ? x->head / n_kv : -1;
    case HEAD_NEXT:
        return (x->g + 1) % n_kv;
    case HEAD_QUERY:
        return least(x->head, n_kv - 1);
    case HEAD_WRAPS:
        return x->g % (c->place.number > 0 ? c->place.number : 1);
    case HEAD_NUMBER:
        return c->place.number < n_kv ? c->place.number : -1;
    default:
        return x->g;
    }
}

/* The first number of a key, in the array whose strides these are or, in some rules, in the other
 * one. */
static long long offset_of(const struct explain_model *x, int rule, int of_v, struct place at,
                           int g) {
    const struct cp_kernel_call *call = &x->run->call;
    const long long strides[2][3] = {{call->k_chunk, call->k_head, call->k_slot},
                                     {call->v_chunk, call->v_head, call->v_slot}};
    const long long *own = strides[of_v], *other = strides[!of_v];
    long long n_kv = x->run->problem.recipe.n_kv_heads, d = x->d, c = x->c;
    long long chunk = own[0], head = own[1], slot = own[2];
    switch ((enum explain_place)rule) {
    case PLACE_SWAPPED:
        return at.chunk * chunk + g * slot + at.slot * head;
    case PLACE_HEADS:
        return ((at.chunk * n_kv + g) * c + at.slot) * d;
    case PLACE_SLOTS:
        return ((at.chunk * c + at.slot) * n_kv + g) * d;
    case PLACE_OTHERS:
        return at.chunk * other[0] + g * other[1] + at.slot * other[2];
    case PLACE_OTHERS_CHUNK:
        chunk = other[0];
        break;
    case PLACE_OTHERS_HEAD:
        head = other[1];
        break;
    case PLACE_OTHERS_SLOT:
        slot = other[2];
        break;
    case PLACE_SLOT_D:
        slot = d;
        break;
    case PLACE_CHUNK_D:
        chunk = n_kv * c * d;
        break;
    default:
        break;
    }
    return at.chunk * chunk + g * head + at.slot * slot;
}

/* The numbers of a key; NULL: nowhere. */
static const double *address_of(const struct explain_model *x, int rule, int of_v, struct place at,
                                int g) {
    int in_v = rule == PLACE_EXCHANGED                                ? !of_v
               : rule == PLACE_K_FOR_V || rule == PLACE_K_FOR_V_THERE ? 0
               : rule == PLACE_V_FOR_K                                ? 1
                                                                      : of_v;
    int strides_of_v = rule == PLACE_K_FOR_V_THERE ? of_v : in_v;
    long long first = offset_of(x, rule, strides_of_v, at, g), n = in_v ? x->run->n_v : x->run->n_k;
    const double *array = in_v ? x->run->v : x->run->k;
    return at.chunk < 0 || g < 0 || first < 0 || first + x->d > n ? NULL : array + first;
}

/* A key more, from two places. */
static void take(struct explain_model *x, const double *k, const double *v) {
    if (k == NULL || v == NULL || x->m == x->room) {
        x->outside = 1;
        return;
    }
    x->k[x->m] = k;
    x->v[x->m++] = v;
}

void explain_take_key(struct explain_model *x, int s, int j, int g) {
    struct place at = {chunk_of(x, s, j / x->c), j % x->c};
    take(x, address_of(x, PLACE_OWN, 0, at, g), address_of(x, PLACE_OWN, 1, at, g));
}

static int is_of(int array, int of_v) {
    return array == OF_BOTH || array == (of_v ? OF_V : OF_K);
}

static const double *find_key(const struct explain_model *x, const struct explain_choice *c, int m,
                              int j, int of_v) {
    static const struct explain_choice right;
    int s = of_keys(x, c->path.keys, m, j) ? whose(x, c) : x->s;
    const struct explain_choice *path = is_of(c->path.array, of_v) ? c : &right;
    int is_other = is_of(c->place.array, of_v);
    int g = is_other && of_keys(x, c->place.keys, m, j) ? head_of(x, c) : x->g;
    if (c->sees.rule == SEES_LENGTH_OF) {
        s = x->s;
    }
    return s < 0 || s >= x->run->problem.b ? NULL
                                           : address_of(x, is_other ? c->place.rule : PLACE_OWN,
                                                        of_v, find_place(x, path, s, m, j), g);
}

/* ---- 4: which are counted ---- */

int explain_part_of(const struct explain_model *x, const struct explain_partition *parts, int j) {
    int m = x->m > 0 ? x->m : x->n, tile = parts->tile > 0 ? parts->tile : x->c;
    int tiles = (m + tile - 1) / tile;
    switch ((enum explain_parts)parts->kind) {
    case PART_CHUNKS:
        return j / x->c;
    case PART_SHARED:
        return j >= x->shared && x->shared > 0;
    case PART_SHARED_CHUNKS:
        return (j < x->shared ? j : x->shared) / x->c;
    case PART_HALVES:
        return j >= (m + 1) / 2;
    case PART_TILES:
        return j / tile;
    case PART_HALVES_OF_TILES:
        return m > tile && j >= tiles / 2 * tile;
    case PART_SPLITS:
        return j / (((m + parts->n - 1) / parts->n + tile - 1) / tile * tile);
    case PART_WARPS:
        return j / tile % parts->n;
    default:
        return 0;
    }
}

int explain_parts(const struct explain_model *x, const struct explain_partition *parts) {
    int m = x->m > 0 ? x->m : x->n, tile = parts->tile > 0 ? parts->tile : x->c;
    return parts->kind == PART_WARPS ? least(parts->n, (m + tile - 1) / tile)
                                     : explain_part_of(x, parts, m - 1) + 1;
}

/* Whether the sequence is at the edge of the range of a shared chunk: the first one, the last one,
 * or of those that are left over when taken `a` at a time. */
static int is_at_edge(const struct explain_model *x, const struct explain_choice *c, int chunk) {
    const struct gate_problem *p = &x->run->problem;
    for (int i = 0; i < p->n_shared; i++) {
        const struct cp_shared_chunk *one = &p->shared[i];
        if (one->chunk == chunk) {
            int length = one->end - one->begin, at = x->s - one->begin, a = c->select.a;
            return c->select.which == SELECT_BEGIN_OF_RANGE ? at == 0
                   : a == 1                                 ? at == length - 1
                                                            : at >= length / a * a;
        }
    }
    return 0;
}

static int is_of_part(const struct explain_model *x, const struct explain_choice *c, int j) {
    const struct explain_partition *parts = &c->select.parts;
    int part = explain_part_of(x, parts, j), n = explain_parts(x, parts), last = x->n - 1;
    int is_it = part == (c->select.a < 0 ? n - 1 : c->select.a);
    switch ((enum explain_select)c->select.which) {
    case SELECT_PART:
        return n > 1 && is_it;
    case SELECT_NOT_PART:
        return n > 1 && !is_it;
    case SELECT_FIRST_OF_PARTS:
        return j > 0 && explain_part_of(x, parts, j - 1) != part;
    default:
        return j < last && explain_part_of(x, parts, j + 1) != part;
    }
}

/* Of the shared chunks. */
static int is_of_shared(const struct explain_model *x, const struct explain_choice *c, int j) {
    int chunk = j / x->c, shared = x->run->problem.n_shared_chunks[x->s] * x->c;
    if (j >= shared) {
        return 0;
    }
    switch ((enum explain_select)c->select.which) {
    case SELECT_FIRST_SHARED:
        return chunk == 0;
    case SELECT_LAST_SHARED:
        return j >= shared - x->c;
    case SELECT_SHARED_FROM:
        return chunk >= c->select.a;
    case SELECT_ENDS_OF_SHARED:
        return j % x->c == x->c - 1;
    case SELECT_END_OF_RANGE:
    case SELECT_BEGIN_OF_RANGE:
        return is_at_edge(x, c, chunk_of(x, x->s, chunk));
    default:
        return 1;
    }
}

/* 1: key j is one of those. */
static int is_selected(const struct explain_model *x, const struct explain_choice *c, int j) {
    int a = c->select.a, b = c->select.b, n = x->n, chunk = j / x->c;
    int in_chunk = least(n - chunk * x->c, x->c);
    switch ((enum explain_select)c->select.which) {
    case SELECT_NONE:
        return 0;
    case SELECT_AT:
        return a <= j && j < b;
    case SELECT_FROM_END:
        return n - a <= j && j < n - b;
    case SELECT_CHUNK:
        return chunk == a;
    case SELECT_LAST_CHUNK:
        return chunk == (n - 1) / x->c;
    case SELECT_OWN:
        return j >= x->run->problem.n_shared_chunks[x->s] * x->c;
    case SELECT_EVERY:
        return j % a == b;
    case SELECT_BEHIND:
        return j >= n / a * a;
    case SELECT_BEHIND_IF_MORE:
        return n >= a && j >= n / a * a;
    case SELECT_BEHIND_IN_CHUNKS:
        return j % x->c >= in_chunk / a * a;
    case SELECT_ALONE_IN_TILE:
        return j == n - 1 && j > 0 && j % a == 0;
    case SELECT_BEHIND_FILL:
        return j % x->c > (x->run->problem.n_tokens[x->s] - 1) % x->c;
    case SELECT_BUT_FIRST:
        return j >= a;
    case SELECT_BUT_LAST:
        return j < n - a;
    case SELECT_BETWEEN:
        return a <= j && j < n - b;
    case SELECT_LAST_TILE:
        return j >= (n - 1) / a * a;
    case SELECT_FIRST_TILE:
        return j < a;
    case SELECT_OF_EACH:
        return b <= j % a && j % a < b + c->select.width;
    case SELECT_PART:
    case SELECT_NOT_PART:
    case SELECT_FIRST_OF_PARTS:
    case SELECT_LAST_OF_PARTS:
        return is_of_part(x, c, j);
    default:
        return is_of_shared(x, c, j);
    }
}

int explain_times(const struct explain_model *x, const struct explain_choice *c, int j) {
    return is_selected(x, c, j) ? c->select.times : 1;
}

/* ---- All ---- */

static int are_own(const struct explain_choice *c) {
    return c->sees.rule == SEES_OWN && c->path.whose == OWN_SEQUENCE && c->path.rule == PATH_OWN &&
           c->place.head == HEAD_OWN && c->place.rule == PLACE_OWN;
}

/* Once for each pair. */
static void take_own(struct explain_model *x) {
    size_t bytes = (size_t)x->n * sizeof *x->k;
    x->m = x->has_keys ? x->n : 0;
    for (int j = 0; j < x->n && !x->has_keys && !x->outside; j++) {
        explain_take_key(x, x->s, j, x->g);
    }
    memcpy((void *)(x->has_keys ? x->k : x->own_k), (const void *)(x->has_keys ? x->own_k : x->k),
           bytes);
    memcpy((void *)(x->has_keys ? x->v : x->own_v), (const void *)(x->has_keys ? x->own_v : x->v),
           bytes);
    x->has_keys = 1;
}

/* 1: a choice that is not made for this row. */
static int is_none(const struct explain_model *x, const struct explain_choice *c, int m) {
    return m < 0 || (c->path.whose != OWN_SEQUENCE && whose(x, c) == x->s) ||
           (c->sees.rule != SEES_OWN && c->path.whose == OWN_SEQUENCE && m == x->n) ||
           (c->place.head != HEAD_OWN && head_of(x, c) == x->g);
}

int explain_take_keys(struct explain_model *x, const struct explain_choice *c) {
    int m = seen(x, c);
    x->m = x->outside = 0;
    if (is_none(x, c, m)) {
        return 0;
    }
    if (are_own(c)) {
        take_own(x);
        return !x->outside;
    }
    x->work -= 4LL * m;
    for (int j = 0; j < m && !x->outside; j++) {
        take(x, find_key(x, c, m, j, 0), find_key(x, c, m, j, 1));
    }
    return !x->outside;
}

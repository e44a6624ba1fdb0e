/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over other keys than a row sees: too few, too many, somebody else's, or what lies elsewhere in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/explain/explain.h"

#define FEW       16 /* of anything that is tried one by one */
#define MOST_TILE 256

/* ---- A wrong problem ---- */

void explain_take_query(struct explain *x, int row, int head) {
    long long at = row * x->at->call.q_row + head * x->at->call.q_head;
    if (row < 0 || head < 0 || at + x->d > x->at->n_q) {
        x->outside = 1;
        return;
    }
    memcpy(x->q, x->at->q + at, (size_t)x->d * sizeof(double));
}

/* A key of the wrong problem from anywhere in K and V. */
static void take_from(struct explain *x, long long k, long long v) {
    size_t d = (size_t)x->d;
    if (x->m == x->room || k < 0 || v < 0 || k + x->d > x->at->n_k || v + x->d > x->at->n_v) {
        x->outside = 1;
        return;
    }
    memcpy(x->k + (size_t)x->m * d, x->at->k + k, d * sizeof(double));
    memcpy(x->v + (size_t)x->m * d, x->at->v + v, d * sizeof(double));
    x->m++;
}

void explain_take_slot(struct explain *x, int chunk, int slot, int g_of_k, int g_of_v) {
    const struct cp_kernel_call *c = &x->at->call;
    if (chunk < 0) {
        x->outside = 1;
        return;
    }
    take_from(x, chunk * c->k_chunk + g_of_k * c->k_head + slot * c->k_slot,
              chunk * c->v_chunk + g_of_v * c->v_head + slot * c->v_slot);
}

/* Chunk `i` of a path, -1 behind its end. */
static int chunk_of(const struct explain *x, int s, int i) {
    const struct gate_problem *p = &x->at->problem;
    return s >= 0 && s < p->b && i >= 0 && i < p->table_width ? p->table[s * p->table_width + i]
                                                              : -1;
}

void explain_take_key(struct explain *x, int s, int j, int g_of_k, int g_of_v) {
    explain_take_slot(x, chunk_of(x, s, j / x->c), j % x->c, g_of_k, g_of_v);
}

void explain_take_all(struct explain *x) {
    x->m = 0;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < x->n; j++) {
        explain_take_key(x, x->s, j, x->g, x->g);
    }
}

static int has_nan(const double *numbers, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        if (!isfinite(numbers[i])) {
            return 1;
        }
    }
    return 0;
}

int explain_attend(struct explain *x, double factor) {
    const struct gate_problem *p = &x->at->problem;
    struct cp_tolerance_row row = {x->m, x->d, p->scale * factor, x->q, x->k, x->v, x->scratch};
    if (x->outside) {
        return 0;
    }
    if (has_nan(x->k, (ptrdiff_t)x->m * x->d) || has_nan(x->v, (ptrdiff_t)x->m * x->d) ||
        has_nan(x->q, x->d)) {
        for (int i = 0; i <= x->d; i++) {
            x->numbers.expected[i] = x->numbers.bound[i] = NAN;
        }
        return 1;
    }
    gate_certify(x->kernel, &p->recipe, x->m > x->n ? x->m : x->n, &row, &x->numbers);
    for (int i = 0; x->m == 0 && i <= x->d; i++) {
        x->numbers.expected[i] = i < x->d ? 0.0 : -INFINITY;
        x->numbers.bound[i] = EXPLAIN_NOTHING;
    }
    return 1;
}

/* ---- Too many, or another number of them ---- */

enum length { MORE, MORE_IN_SEQUENCE, FEWER_BUT_LAST, FROM_FIRST, WHOLE_CHUNK, ALL_SHARED };

/* Keys of its sequence in shared chunks. */
static int shared_keys(const struct explain *x) {
    int n = x->at->problem.n_shared_chunks[x->s] * x->c, all = x->at->problem.n_tokens[x->s];
    return n < all ? n : all;
}

static int take_other_length(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    int all = p->n_tokens[x->s], m = x->n + a[1];
    if (a[0] == MORE_IN_SEQUENCE) {
        m = a[1] > all - x->n ? all : m;
    } else if (a[0] == FEWER_BUT_LAST) {
        m = x->n == all ? all : x->n > a[1] ? x->n - a[1] : 0;
    } else if (a[0] == FROM_FIRST) {
        m = x->row - p->query_begin[x->s] + 1;
    } else if (a[0] == WHOLE_CHUNK) {
        m = (x->n + x->c - 1) / x->c * x->c;
    } else if (a[0] == ALL_SHARED) {
        m = shared_keys(x) > x->n ? shared_keys(x) : x->n;
    }
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < m; j++) {
        explain_take_key(x, x->s, j, x->g, x->g);
    }
    return m != x->n && m >= 0 && explain_attend(x, 1.0);
}

static void try_lengths(struct explain *x) {
    const int whole[EXPLAIN_NUMBERS] = {WHOLE_CHUNK}, first[EXPLAIN_NUMBERS] = {FROM_FIRST};
    const int all[EXPLAIN_NUMBERS] = {MORE_IN_SEQUENCE, 1 << 20};
    int n_tokens = x->at->problem.n_tokens[x->s];
    const int shared[EXPLAIN_NUMBERS] = {ALL_SHARED};
    explain_try(x, take_other_length, shared, 10,
                "as if each row saw all keys of the shared chunks: those behind its own position, "
                "too (PREFILL-2)");
    explain_try(x, take_other_length, all, 10,
                "as if each row saw all keys of its sequence: those behind its own position, too "
                "(PREFILL-2)");
    for (int fewer = 1; fewer <= FEW; fewer++) {
        const int a[EXPLAIN_NUMBERS] = {FEWER_BUT_LAST, fewer};
        explain_try(x, take_other_length, a, 9 + fewer,
                    "as if each row but a sequence's last one saw %d %s fewer: its own position "
                    "and those before it count (PREFILL-2)",
                    fewer, fewer == 1 ? "key" : "keys");
    }
    for (int more = 1; more <= FEW; more++) {
        const int in_sequence[EXPLAIN_NUMBERS] = {MORE_IN_SEQUENCE, more};
        const int anywhere[EXPLAIN_NUMBERS] = {MORE, more};
        int j = x->n + more - 1;
        explain_try(x, take_other_length, in_sequence, 11 + more,
                    "as if it saw %d %s more, where the sequence has them: those behind its own "
                    "position, too (PREFILL-2)",
                    more, more == 1 ? "key" : "keys");
        if (j >= n_tokens && chunk_of(x, x->s, j / x->c) >= 0) {
            explain_try(x, take_other_length, anywhere, 12 + more,
                        "as if it read %d %s behind the last key's, where no key is (GATE-3)", more,
                        more == 1 ? "slot" : "slots");
        }
    }
    explain_try(x, take_other_length, whole, 11,
                "as if it took the last chunk to its end, where no key is (GATE-3)");
    explain_try(x, take_other_length, first, 11,
                "as if the first row of a sequence saw one key, the next one two, ...: rows are "
                "counted from the first key, not from the last (PREFILL-2)");
}

/* ---- Somebody else's ---- */

/* a: another sequence; 1: by its own length; 2: its length alone, and the keys of this one, as far as there are. */
static int take_sequence(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    if (a[0] == x->s || a[0] >= p->b) {
        return 0;
    }
    int n = x->n, of_keys = a[1] == 2 ? x->s : a[0];
    if (a[1] == 1) {
        n = p->n_tokens[a[0]];
    } else if (a[1] == 2) {
        n = p->n_tokens[a[0]] - (p->n_tokens[x->s] - x->n);
        n = n > p->n_tokens[x->s] ? p->n_tokens[x->s] : n;
        n = n < 0 ? 0 : n;
    }
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < n; j++) {
        explain_take_key(x, of_keys, j, x->g, x->g);
    }
    return (a[1] != 2 || n != x->n) && explain_attend(x, 1.0);
}

/* a: by how many sequences n_tokens is another's. */
static int take_neighbour(struct explain *x, const int *a) {
    const int other[EXPLAIN_NUMBERS] = {x->s + a[0], 2};
    return other[0] >= 0 && take_sequence(x, other);
}

/* The row as if it were of the sequence so many before or behind: its keys, and as many as a row at that place would see.
 * a: how far. */
static int take_row_of_neighbour(struct explain *x, const int *a) {
    const struct gate_problem *p = &x->at->problem;
    int s = x->s + a[0];
    if (s < 0 || s >= p->b) {
        return 0;
    }
    int n = p->n_tokens[s] - (p->query_begin[s + 1] - 1 - x->row);
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < n; j++) {
        explain_take_key(x, s, j, x->g, x->g);
    }
    return explain_attend(x, 1.0);
}

static void try_sequences(struct explain *x) {
    for (int s = 0; s < x->at->problem.b && s < FEW; s++) {
        const int keys[EXPLAIN_NUMBERS] = {s, 0}, length[EXPLAIN_NUMBERS] = {s, 1};
        explain_try(x, take_sequence, keys, 13, "as if it had seen the keys of sequence %d (TPP-2)",
                    s);
        explain_try(x, take_sequence, length, 14,
                    "as if it had seen the keys of sequence %d, and as many (TPP-2)", s);
        const int count[EXPLAIN_NUMBERS] = {s, 2};
        explain_try(x, take_sequence, count, 15,
                    "as if n_tokens had been that of sequence %d (PLAN-2)", s);
    }
    const int before[EXPLAIN_NUMBERS] = {-1}, behind[EXPLAIN_NUMBERS] = {1};
    explain_try(x, take_neighbour, before, 12,
                "as if n_tokens had been that of the sequence before it (PLAN-2)");
    explain_try(x, take_neighbour, behind, 12,
                "as if n_tokens had been that of the sequence behind it (PLAN-2)");
    explain_try(x, take_row_of_neighbour, before, 13,
                "as if the row had been taken for one of the sequence before its own: by where "
                "query_begin says that a sequence ends (PREFILL-1)");
    explain_try(x, take_row_of_neighbour, behind, 13,
                "as if the row had been taken for one of the sequence behind its own: by where "
                "query_begin says that a sequence begins (PREFILL-1)");
}

enum table { POOL, SHIFTED, ROTATED, TURNED, PATH, ANY_CHUNK };

/* Another way from a key's number to its place. a: 0 chunk j / c, slot j & (c - 1); else as if chunks had so many slots; 1:
 * of the chunk number alone, 2: of the slot alone, 3: of both. */
static int take_other_slots(struct explain *x, const int *a) {
    int changed = 0;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < x->n; j++) {
        int i = a[0] > 0 && (a[1] & 1) != 0 ? j / a[0] : j / x->c;
        int slot = a[0] == 0 ? j & (x->c - 1) : (a[1] & 2) != 0 ? j % a[0] : j % x->c;
        changed |= i != j / x->c || slot != j % x->c;
        explain_take_slot(x, chunk_of(x, x->s, i), slot, x->g, x->g);
    }
    return changed && explain_attend(x, 1.0);
}

static void try_slots(struct explain *x) {
    static const char *const what[] = {"", "of a key's chunk", "of a key's slot", "of both"};
    const int mask[EXPLAIN_NUMBERS] = {0};
    explain_try(
        x, take_other_slots, mask, 11,
        "as if a key's slot were key & (c - 1), not key %% c: they differ where c is no power "
        "of 2 (PLAN-2)");
    for (int c = 1; c <= MOST_TILE; c *= 2) {
        for (int kind = 3; kind > 0 && c != x->c; kind--) {
            const int a[EXPLAIN_NUMBERS] = {c, kind};
            explain_try(x, take_other_slots, a, 12,
                        "as if c were %d, not the call's, in the number %s (PLAN-2)", c,
                        what[kind]);
        }
    }
}

/* a: how; which chunk of the path, or by how many it is shifted; which it is taken for. */
static int take_other_chunks(struct explain *x, const int *a) {
    int changed = 0, chunks = (x->n + x->c - 1) / x->c;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < x->n; j++) {
        int i = j / x->c, own = chunk_of(x, x->s, i), chunk = own;
        if (a[0] == POOL) {
            chunk = i < x->at->problem.capacity ? i : -1;
        } else if (a[0] == SHIFTED) {
            chunk = chunk_of(x, x->s, i + a[1]);
        } else if (a[0] == ROTATED) {
            chunk = chunk_of(x, x->s, (i + a[1] + chunks) % chunks);
        } else if (a[0] == TURNED) {
            chunk = chunk_of(x, x->s, chunks - 1 - i);
        } else if (i == a[1]) {
            chunk = a[0] == PATH ? chunk_of(x, x->s, a[2]) : a[2];
        }
        changed |= chunk != own;
        explain_take_slot(x, chunk, j % x->c, x->g, x->g);
    }
    return changed && explain_attend(x, 1.0);
}

/* Whose a chunk of the pool is. */
static void name_owner(const struct explain *x, int chunk, char *text, size_t size) {
    const struct gate_problem *p = &x->at->problem;
    (void)snprintf(text, size, "which is nobody's");
    for (int s = p->b - 1; s >= 0; s--) {
        for (int i = 0; i * x->c < p->n_tokens[s]; i++) {
            if (p->table[s * p->table_width + i] == chunk) {
                (void)snprintf(text, size, "chunk %d of sequence %d", i, s);
            }
        }
    }
}

static void try_chunks(struct explain *x) {
    const int pool[EXPLAIN_NUMBERS] = {POOL}, turned[EXPLAIN_NUMBERS] = {TURNED};
    int chunks = (x->n + x->c - 1) / x->c, capacity = x->at->problem.capacity;
    char owner[80];
    explain_try(x, take_other_chunks, pool, 11,
                "as if chunk i of a path were chunk i of the pool: the table were not read "
                "(PLAN-2)");
    for (int by = -1; by <= 1; by += 2) {
        const int shifted[EXPLAIN_NUMBERS] = {SHIFTED, by};
        explain_try(x, take_other_chunks, shifted, 11,
                    "as if chunk i of a path were chunk i %s 1 of it (PLAN-2)", by < 0 ? "-" : "+");
        const int rotated[EXPLAIN_NUMBERS] = {ROTATED, by};
        explain_try(x, take_other_chunks, rotated, 12,
                    "as if the table were rotated: chunk i of n were chunk (i %s 1) mod n, which "
                    "matters as the last one is not full (PLAN-2)",
                    by < 0 ? "-" : "+");
    }
    explain_try(x, take_other_chunks, turned, 12,
                "as if the table were read from the last chunk to the first, which matters as the "
                "last one is not full (PLAN-2)");
    for (int i = chunks - 1; i >= 0 && i >= chunks - FEW; i--) {
        for (int other = 0; other < chunks && other < FEW; other++) {
            const int path[EXPLAIN_NUMBERS] = {PATH, i, other};
            explain_try(x, take_other_chunks, path, 14,
                        "as if chunk %d of the path had been chunk %d of it (PLAN-2)", i, other);
        }
        for (int other = 0; other < capacity && other < 4 * FEW; other++) {
            const int any[EXPLAIN_NUMBERS] = {ANY_CHUNK, i, other};
            name_owner(x, other, owner, sizeof owner);
            explain_try(x, take_other_chunks, any, 16,
                        "as if chunk %d of the path had been chunk %d of the pool, %s (PLAN-2)", i,
                        other, owner);
        }
    }
}

/* ---- Other heads ---- */

enum head_rule { MODULO, FIRST, LAST, PART_OF_KV, NEXT, THIS };

static int head_by(const struct explain *x, int rule, int number) {
    int n_kv = x->at->problem.recipe.n_kv_heads;
    return rule == MODULO       ? x->head % n_kv
           : rule == PART_OF_KV ? (x->head / n_kv < n_kv ? x->head / n_kv : -1)
           : rule == FIRST      ? 0
           : rule == LAST       ? n_kv - 1
           : rule == NEXT       ? (x->g + 1) % n_kv
           : number < n_kv      ? number
                                : -1;
}

/* a: rule, its number; 1: K, 2: V, 3: both; 1: of shared chunks alone, 2: of its own. */
static int take_other_head(struct explain *x, const int *a) {
    int g = head_by(x, a[0], a[1]), shared = shared_keys(x);
    int from = a[3] == 2 ? shared : 0, end = a[3] == 1 && shared < x->n ? shared : x->n;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; g >= 0 && j < x->n; j++) {
        int other = j >= from && j < end;
        explain_take_key(x, x->s, j, other && a[2] & 1 ? g : x->g, other && a[2] & 2 ? g : x->g);
    }
    return g >= 0 && g != x->g && from < end && explain_attend(x, 1.0);
}

static void try_heads(struct explain *x) {
    static const char *const what[] = {"", "K", "V", "K and V"};
    static const char *const words[] = {"head % h_kv, not head / (h / h_kv)", "0, always",
                                        "h_kv - 1, always", "head / h_kv, not head / (h / h_kv)",
                                        "the one after its own"};
    static const char *const parts[] = {"", ", in the shared chunks alone",
                                        ", in the sequence's own chunks alone"};
    for (int kind = 3; kind > 0; kind--) {
        for (int rule = MODULO; rule < THIS; rule++) {
            for (int part = 0; part < 3; part++) {
                const int a[EXPLAIN_NUMBERS] = {rule, 0, kind, part};
                explain_try(x, take_other_head, a, 11 + (rule == NEXT) + (part > 0),
                            "as if it had taken %s of K/V head %s%s (TPP-5)", what[kind],
                            words[rule], parts[part]);
            }
        }
        for (int g = 0; g < x->at->problem.recipe.n_kv_heads && g < FEW; g++) {
            const int a[EXPLAIN_NUMBERS] = {THIS, g, kind};
            explain_try(x, take_other_head, a, 14,
                        "as if it had taken %s of K/V head %d, not %d (TPP-5)", what[kind], g,
                        x->g);
        }
    }
}

/* ---- Elsewhere in memory ---- */

enum place {
    SWAPPED,
    OF_THE_OTHER, /* of K and V; or one stride alone is */
    OTHER_CHUNK,
    OTHER_HEAD,
    OTHER_SLOT,
    HEADS_FIRST,
    SLOTS_FIRST
};

static long long address(const struct explain *x, int how, int of_v, int chunk, int slot) {
    const struct cp_kernel_call *c = &x->at->call;
    long long strides[2][3] = {{c->k_chunk, c->k_head, c->k_slot},
                               {c->v_chunk, c->v_head, c->v_slot}};
    const long long *other = strides[!of_v];
    long long s[3] = {strides[of_v][0], strides[of_v][1], strides[of_v][2]};
    for (int i = 0; i < 3; i++) {
        s[i] = how == OF_THE_OTHER || how == OTHER_CHUNK + i ? other[i] : s[i];
    }
    long long n_kv = x->at->problem.recipe.n_kv_heads, d = x->d;
    switch ((enum place)how) {
    case SWAPPED:
        return chunk * s[0] + x->g * s[2] + slot * s[1];
    case HEADS_FIRST:
        return ((chunk * n_kv + x->g) * x->c + slot) * d;
    case SLOTS_FIRST:
        return (((long long)chunk * x->c + slot) * n_kv + x->g) * d;
    default:
        return chunk * s[0] + x->g * s[1] + slot * s[2];
    }
}

/* a: how; 1: K, 2: V, 3: both. */
static int take_elsewhere(struct explain *x, const int *a) {
    const struct cp_kernel_call *c = &x->at->call;
    int changed = 0;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < x->n; j++) {
        int chunk = chunk_of(x, x->s, j / x->c), slot = j % x->c;
        long long k = chunk * c->k_chunk + x->g * c->k_head + slot * c->k_slot;
        long long v = chunk * c->v_chunk + x->g * c->v_head + slot * c->v_slot;
        long long other_k = a[1] & 1 ? address(x, a[0], 0, chunk, slot) : k;
        long long other_v = a[1] & 2 ? address(x, a[0], 1, chunk, slot) : v;
        changed |= other_k != k || other_v != v;
        take_from(x, other_k, other_v);
    }
    return changed && explain_attend(x, 1.0);
}

/* a: V is that of so many keys further; or K and V are swapped. */
static int take_askew(struct explain *x, const int *a) {
    const struct cp_kernel_call *c = &x->at->call;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < x->n; j++) {
        int other = j + a[0] < 0 ? 0 : j + a[0];
        int chunk = chunk_of(x, x->s, j / x->c), of_v = chunk_of(x, x->s, other / x->c);
        if (of_v < 0) {
            return 0;
        }
        take_from(x, chunk * c->k_chunk + x->g * c->k_head + j % x->c * c->k_slot,
                  of_v * c->v_chunk + x->g * c->v_head + other % x->c * c->v_slot);
    }
    return explain_attend(x, 1.0);
}

/* a: so many keys after which those of the first ones come again; 1: K, 2: V, 3: both. */
static int take_again(struct explain *x, const int *a) {
    const struct cp_kernel_call *c = &x->at->call;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < x->n; j++) {
        int of_k = a[1] & 1 ? j % a[0] : j, of_v = a[1] & 2 ? j % a[0] : j;
        take_from(x,
                  chunk_of(x, x->s, of_k / x->c) * c->k_chunk + x->g * c->k_head +
                      of_k % x->c * c->k_slot,
                  chunk_of(x, x->s, of_v / x->c) * c->v_chunk + x->g * c->v_head +
                      of_v % x->c * c->v_slot);
    }
    return x->n > a[0] && explain_attend(x, 1.0);
}

/* a: keys of a tile; 1: K, 2: V, 3: both; from the chunk of the tile's first key: each in its own slot, or 1: behind the
 * first key's, over the end of the chunk. */
static int take_chunk_of_tile(struct explain *x, const int *a) {
    const struct cp_kernel_call *c = &x->at->call;
    int changed = 0;
    explain_take_query(x, x->row, x->head);
    for (int j = 0; j < x->n; j++) {
        int own = chunk_of(x, x->s, j / x->c), first = chunk_of(x, x->s, (j - j % a[0]) / x->c);
        int slot = j % x->c, in_piece = (j - j % a[0]) % x->c + j % a[0];
        int of_k = a[2] && a[1] & 1 ? in_piece : slot, of_v = a[2] && a[1] & 2 ? in_piece : slot;
        take_from(x, (a[1] & 1 ? first : own) * c->k_chunk + x->g * c->k_head + of_k * c->k_slot,
                  (a[1] & 2 ? first : own) * c->v_chunk + x->g * c->v_head + of_v * c->v_slot);
        changed |= first != own;
    }
    return changed && explain_attend(x, 1.0);
}

static int swap_k_and_v(struct explain *x, const int *a) {
    double *k = x->k;
    explain_take_all(x);
    if (a[0] == 0 || a[0] == 1) { /* K twice, or V twice */
        memcpy(a[0] == 0 ? x->v : x->k, a[0] == 0 ? x->k : x->v,
               (size_t)x->m * (size_t)x->d * sizeof(double));
        return explain_attend(x, 1.0);
    }
    x->k = x->v;
    x->v = k;
    int says = explain_attend(x, 1.0);
    x->v = x->k;
    x->k = k;
    return says;
}

static void try_memory(struct explain *x) {
    static const char *const what[] = {"", "K", "V", "K and V"};
    static const char *const words[] = {"with the strides of head and slot swapped",
                                        "with the strides of the other of K and V",
                                        "with the stride of chunks taken from the other of K and V",
                                        "with the stride of heads taken from the other of K and V",
                                        "with the stride of slots taken from the other of K and V",
                                        "as if it lay in one piece, [chunk][head][slot]",
                                        "as if it lay in one piece, [chunk][slot][head]"};
    static const char *const swaps[] = {"K had been taken for V", "V had been taken for K",
                                        "K and V had been swapped"};
    for (int how = SWAPPED; how <= SLOTS_FIRST; how++) {
        int is_one = how >= OTHER_CHUNK && how <= OTHER_SLOT;
        for (int kind = is_one ? 2 : 3; kind > 0; kind--) {
            const int a[EXPLAIN_NUMBERS] = {how, kind};
            explain_try(x, take_elsewhere, a, 12 + is_one, "as if %s had been read %s (GATE-3)",
                        what[kind], words[how]);
        }
    }
    for (int by = -1; by <= 1; by += 2) {
        const int a[EXPLAIN_NUMBERS] = {by};
        explain_try(x, take_askew, a, 13, "as if V had been that of the key %s (TPP-1)",
                    by < 0 ? "before" : "after");
    }
    for (int tile = 1; tile <= MOST_TILE && tile < x->n; tile *= 2) {
        for (int kind = 3; kind > 0; kind--) {
            const int a[EXPLAIN_NUMBERS] = {tile, kind};
            explain_try(
                x, take_again, a, 14,
                "as if %s of the first %d keys had been taken for each %d keys behind them, "
                "too (TPP-1)",
                what[kind], tile, tile);
        }
    }
    for (int tile = 2; tile <= MOST_TILE; tile *= 2) {
        for (int kind = 3; kind > 0; kind--) {
            const int a[EXPLAIN_NUMBERS] = {tile, kind}, piece[EXPLAIN_NUMBERS] = {tile, kind, 1};
            explain_try(x, take_chunk_of_tile, piece, 13,
                        "as if %s of each tile of %d keys had been read in one piece, from the "
                        "place of its first key on: over the end of a chunk (TPP-1)",
                        what[kind], tile);
            explain_try(x, take_chunk_of_tile, a, 14,
                        "as if %s of each tile of %d keys had been read from the chunk of its "
                        "first key (TPP-1)",
                        what[kind], tile);
        }
    }
    for (int swap = 0; swap < 3; swap++) {
        const int a[EXPLAIN_NUMBERS] = {swap};
        explain_try(x, swap_k_and_v, a, 12, "as if %s (SOFTMAX-2)", swaps[swap]);
    }
}

void explain_try_keys(struct explain *x) {
    try_lengths(x);
    try_heads(x);
    try_memory(x);
    try_sequences(x);
    if (x->n > 0) {
        explain_try_ranges(x);
        try_slots(x);
        try_chunks(x);
    }
}

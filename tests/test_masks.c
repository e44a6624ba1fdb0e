/* SPDX-License-Identifier: Apache-2.0 */
/* Masks, clause by clause (spec/masks.md): the chapter's tree; trees and prompts of modules against
 * sums over the keys that were drawn, key by key; trees of tokens beside their paths alone; bits
 * that are not read; what is refused. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "tests/attend_case.h"
#include "tests/mask_case.h"
#include "tests/random.h"
#include "tests/runs_case.h"

/* ---- What a row must give ---- */

/* MASK-1, of what was drawn, and not of bits. */
static int sees(const struct cp_attention *a, const struct mask_case *m, int s, int row, int t) {
    int rows = a->query_begin == NULL ? 1 : a->query_begin[s + 1] - a->query_begin[s];
    int first = a->query_begin == NULL ? s : a->query_begin[s];
    long long p = a->position != NULL
                      ? a->position[row]
                      : (long long)a->plan->sequence[s].n_tokens - rows + (row - first);
    const struct cp_window *w = &a->window;
    return t <= p + w->ahead && (w->keys == 0 || t > p - w->keys || t < w->kept) &&
           mask_case_leaves(m, row, t);
}

/* Where the numbers of a slot of a chunk begin, for a query head. */
static size_t key_at(const struct cp_attention *a, int head, int chunk, int slot) {
    int kv_head = head / (a->n_heads / a->n_kv_heads);
    size_t row =
        ((size_t)chunk * (size_t)a->n_kv_heads + (size_t)kv_head) * (size_t)a->plan->chunk_size +
        (size_t)slot;
    return row * (size_t)a->head_dim;
}

/* Adds exp(score) of each key that a row and head sees, and exp(score) times the values. Returns
 * how many keys these are. */
static int sums(const struct cp_attention *a, const struct mask_case *m, int s, int row, int head,
                double *weight, double *total) {
    const double *q = a->q, *k = a->k, *v = a->v;
    const double *query =
        q + ((size_t)row * (size_t)a->n_heads + (size_t)head) * (size_t)a->head_dim;
    const struct cp_plan_sequence *sequence = &a->plan->sequence[s];
    int n = 0;
    *weight = 0.0;
    memset(total, 0, (size_t)a->head_dim * sizeof *total);
    for (int i = 0; i < sequence->n_chunks; i++) {
        for (int slot = 0; slot < sequence->run[i].n_tokens; slot++) {
            if (!sees(a, m, s, row, sequence->run[i].position + slot)) {
                continue;
            }
            size_t at = key_at(a, head, sequence->run[i].chunk, slot);
            double score = 0.0;
            for (int x = 0; x < a->head_dim; x++) {
                score += query[x] * k[at + (size_t)x];
            }
            double e = exp(a->scale * score);
            *weight += e;
            for (int x = 0; x < a->head_dim; x++) {
                total[x] += e * v[at + (size_t)x];
            }
            n++;
        }
    }
    return n;
}

static void expect_near(double is, double should) {
    assert_true(fabs(is - should) <= 1e-11 * (1.0 + fabs(should)));
}

/* Returns the keys that all rows see together. */
static long long expect_right(const struct cp_attention *a, const struct mask_case *m) {
    const double *out = a->out;
    double weight, total[RUNS_POSITIONS];
    long long n_keys = 0;
    for (int s = 0; s < a->plan->n_sequences; s++) {
        int end = a->query_begin == NULL ? s + 1 : a->query_begin[s + 1];
        for (int row = a->query_begin == NULL ? s : a->query_begin[s]; row < end; row++) {
            for (int head = 0; head < a->n_heads; head++) {
                size_t at = (size_t)row * (size_t)a->n_heads + (size_t)head;
                int n = sums(a, m, s, row, head, &weight, total);
                n_keys += n;
                if (n == 0) {
                    assert_true(isinf(a->lse[at]) && a->lse[at] < 0.0);
                } else {
                    expect_near(a->lse[at], log(weight));
                }
                for (int x = 0; x < a->head_dim; x++) {
                    expect_near(out[at * (size_t)a->head_dim + (size_t)x],
                                n == 0 ? 0.0 : total[x] / weight);
                }
            }
        }
    }
    return n_keys;
}

/* In a workspace of just the size that was asked for, and nothing in it. */
static void attend(struct cp_attention *a, int variant, size_t n_results) {
    a->variant = variant;
    a->workspace_size = cp_attend_workspace(a);
    a->workspace = malloc(a->workspace_size);
    assert_non_null(a->workspace);
    memset(a->workspace, 0xFF, a->workspace_size);
    memset(a->out, 0xFF, n_results * (size_t)a->head_dim * sizeof(double));
    memset(a->lse, 0xFF, n_results * sizeof(double));
    assert_int_equal(cp_attend(a), CP_OK);
    free(a->workspace);
    a->workspace = NULL;
}

/* ---- The tree of the chapter ---- */

#define PREFIX 3
#define NODES  5

static struct cp_plan *plan_of(int n_tokens) {
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = 4;
    plan->chunk_size = 4;
    plan->n_sequences = 1;
    plan->sequence[0].n_tokens = n_tokens;
    plan->sequence[0].n_shared = 0;
    plan->sequence[0].n_chunks = (n_tokens + 3) / 4;
    for (int k = 0; k < plan->sequence[0].n_chunks; k++) {
        int rest = n_tokens - 4 * k;
        plan->sequence[0].run[k] = (struct cp_run){3 - k, rest < 4 ? rest : 4, 4 * k};
    }
    assert_null(cp_plan_check_runs(plan));
    return plan;
}

static struct cp_attention attention_of(const struct cp_plan *plan, const double *q,
                                        const double *k, const double *v, double *out,
                                        double *lse) {
    return (struct cp_attention){.plan = plan,
                                 .stamp = plan->stamp,
                                 .n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = 1,
                                 .value_dim = 1,
                                 .v_row = 1,
                                 .scale = 1.0,
                                 .q_type = CP_FP64,
                                 .k_type = CP_FP64,
                                 .v_type = CP_FP64,
                                 .out_type = CP_FP64,
                                 .q = q,
                                 .k = k,
                                 .v = v,
                                 .out = out,
                                 .lse = lse};
}

/* Key and value of the token at position t, in a plan of plan_of(). */
static size_t place_of(int t) {
    return (size_t)((3 - t / 4) * 4 + t % 4);
}

/* MASK-1, MASK-2: all scores are 0, the value of a token is its position. */
static void the_tree_of_the_chapter(void **unused) {
    const unsigned char bits[NODES] = {1, 3, 5, 11, 21};
    const size_t first[NODES] = {0, 8, 16, 24, 32};
    const int begin[NODES] = {3, 3, 3, 3, 3}, query_begin[] = {0, NODES};
    const double mean[NODES] = {6.0 / 4, 10.0 / 5, 11.0 / 5, 16.0 / 6, 18.0 / 6};
    double q[NODES] = {0}, k[16] = {0}, v[16], out[NODES], lse[NODES];
    struct cp_plan *plan = plan_of(PREFIX + NODES);
    (void)unused;
    for (int t = 0; t < PREFIX + NODES; t++) {
        v[place_of(t)] = t;
    }
    struct cp_attention a = attention_of(plan, q, k, v, out, lse);
    a.query_begin = query_begin;
    a.mask = (struct cp_mask){bits, first, begin};
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        attend(&a, variant, NODES);
        for (int row = 0; row < NODES; row++) {
            expect_near(out[row], mean[row]);
        }
    }
    cp_plan_free(plan);
}

/* The path to a node, from its root on. */
static int path_to(const int *parent, int node, int *path) {
    int n = 0, length;
    for (int i = node; i >= 0; i = parent[i]) {
        n++;
    }
    length = n;
    for (int i = node; i >= 0; i = parent[i]) {
        path[--n] = i;
    }
    return length;
}

/* Runs the last row of a sequence of the prefix and a path alone. */
static double alone(const int *path, int length, int prefix, const double *key, const double *value,
                    double query, double *lse) {
    double k[16] = {0}, v[16] = {0}, out;
    struct cp_plan *plan = plan_of(prefix + length);
    for (int t = 0; t < prefix + length; t++) {
        int token = t < prefix ? t : prefix + path[t - prefix];
        k[place_of(t)] = key[token];
        v[place_of(t)] = value[token];
    }
    struct cp_attention a = attention_of(plan, &query, k, v, &out, lse);
    attend(&a, CP_BUFFERED, 1);
    cp_plan_free(plan);
    return out;
}

/* MASK-3: random trees behind prefixes of any length; each row beside its path alone. */
static void a_path_is_as_if_decoded_alone(void **unused) {
    unsigned long long random = 5;
    (void)unused;
    for (int i = 0; i < 400; i++) {
        int prefix = random_below(&random, 6), m = 1 + random_below(&random, 10);
        int parent[10], path[10], begin[10], query_begin[] = {0, m};
        unsigned char bits[20] = {0};
        size_t first[10];
        double q[10], key[16], value[16], k[16] = {0}, v[16] = {0}, out[10], lse[10], its_lse;
        for (int t = 0; t < prefix + m; t++) {
            key[t] = k[place_of(t)] = random_normal(&random);
            value[t] = v[place_of(t)] = random_normal(&random);
        }
        for (int node = 0; node < m; node++) {
            parent[node] = random_below(&random, node + 1) - 1;
            begin[node] = prefix;
            first[node] = (size_t)(node * m);
            q[node] = random_normal(&random);
            int length = path_to(parent, node, path);
            for (int x = 0; x < length; x++) {
                bits[(node * m + path[x]) / 8] |= (unsigned char)(1 << (node * m + path[x]) % 8);
            }
        }
        struct cp_plan *plan = plan_of(prefix + m);
        struct cp_attention a = attention_of(plan, q, k, v, out, lse);
        a.query_begin = query_begin;
        a.mask = (struct cp_mask){bits, first, begin};
        attend(&a, i % 2, (size_t)m);
        for (int node = 0; node < m; node++) {
            int length = path_to(parent, node, path);
            expect_near(out[node], alone(path, length, prefix, key, value, q[node], &its_lse));
            expect_near(lse[node], its_lse);
        }
        cp_plan_free(plan);
    }
}

/* ---- Forests ---- */

static void forest(struct attend_case *c, unsigned long long seed) {
    const struct shape shape = {.b = 5,
                                .max_depth = 4,
                                .chunk_size = 1 + (int)(seed % 9),
                                .n_heads = seed % 3 == 0 ? 4 : 2,
                                .n_kv_heads = 2,
                                .head_dim = 3,
                                .q_type = CP_FP64,
                                .kv_type = CP_FP64,
                                .out_type = CP_FP64,
                                .query_mode = (int)(seed % CASE_N_QUERY_MODE),
                                .values = CASE_NORMAL,
                                .poison = CASE_POISON_NAN};
    case_make(c, &shape, seed);
}

static struct cp_window draw_window(unsigned long long *random) {
    const int keys[] = {0, 0, 0, 1, 3, 9}, ahead[] = {0, 0, 2, CP_MAX_WINDOW}, kept[] = {0, 1, 5};
    return (struct cp_window){keys[random_below(random, 6)], ahead[random_below(random, 4)],
                              kept[random_below(random, 3)]};
}

/* MASK-3: shared chunks and own ones, decoding and prefill, with windows and without. */
static void forests_are_attention_over_what_is_left(void **unused) {
    unsigned long long random = 1;
    long long n_keys = 0;
    (void)unused;
    for (unsigned long long seed = 1; seed <= 1000; seed++) {
        struct attend_case c;
        struct mask_case m;
        forest(&c, seed);
        c.attention.window = draw_window(&random);
        mask_case_take(&m, &c, (int)(seed / 2 % MASK_N_KIND), seed);
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            assert_int_equal(case_run(&c, variant), CP_OK);
            n_keys += expect_right(&c.attention, &m);
        }
        mask_case_free(&m);
        case_free(&c);
    }
    assert_true(n_keys > 50000);
}

static double *copy_of(const void *from, size_t bytes) {
    double *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

/* MASK-3: a mask whose bits are all 1 gives the bits of none. */
static void all_bits_are_no_mask(void **unused) {
    unsigned long long random = 2;
    (void)unused;
    for (unsigned long long seed = 1; seed <= 200; seed++) {
        struct attend_case c;
        struct mask_case m;
        forest(&c, seed);
        c.attention.window = draw_window(&random);
        assert_int_equal(case_run(&c, (int)(seed % 2)), CP_OK);
        double *out = copy_of(c.attention.out, case_out_bytes(&c)),
               *lse = copy_of(c.attention.lse, case_lse_bytes(&c));
        mask_case_take(&m, &c, MASK_ALL, seed);
        assert_int_equal(case_run(&c, (int)(seed % 2)), CP_OK);
        assert_memory_equal(c.attention.out, out, case_out_bytes(&c));
        assert_memory_equal(c.attention.lse, lse, case_lse_bytes(&c));
        free(out);
        free(lse);
        mask_case_free(&m);
        case_free(&c);
    }
}

/* MASK-1: bits of keys that are not in the window may not be there at all. */
static void bits_beyond_the_window_are_not_read(void **unused) {
    const int begin[] = {0, 7}, query_begin[] = {0, 2}, position[] = {3, 7};
    const size_t first[] = {0, 5};
    double q[2] = {0}, k[16] = {0}, v[16], out[2], lse[2];
    unsigned char *bits = malloc(1); /* of row 0: 4; of row 1: 1 */
    struct cp_plan *plan = plan_of(8);
    (void)unused;
    assert_non_null(bits);
    for (int t = 0; t < 8; t++) {
        v[place_of(t)] = t;
    }
    *bits = 0x20 | 0x0A;
    struct cp_attention a = attention_of(plan, q, k, v, out, lse);
    a.query_begin = query_begin;
    a.position = position;
    a.mask = (struct cp_mask){bits, first, begin};
    attend(&a, CP_BUFFERED, 2);
    expect_near(out[0], 4.0 / 2);
    expect_near(out[1], 28.0 / 8);
    free(bits);
    cp_plan_free(plan);
}

/* MASK-1: where bits may begin; indices beyond 32 bits. */
static void numbers_at_their_ends(void **unused) {
    const int begin[] = {INT_MIN, -1, INT_MAX, 8};
    const int query_begin[] = {0, 4};
    double q[4] = {0}, k[16] = {0}, v[16], out[4], lse[4];
    size_t large = (size_t)1 << 32;
    unsigned char *bits = calloc(large / 8 + 16, 1),
                  at_first; /* nothing is written to most of it */
    struct cp_plan *plan = plan_of(8);
    (void)unused;
    assert_non_null(bits);
    for (int t = 0; t < 8; t++) {
        v[place_of(t)] = t;
    }
    at_first = 0xF0;
    bits[0] = at_first;     /* of row 1, from -1 on: positions 3 to 6 */
    bits[large / 8] = 0x12; /* of row 0, from INT_MIN on: positions 1 and 4 */
    const size_t first[] = {large / 2, 0, 0, 0};
    struct cp_attention a = attention_of(plan, q, k, v, out, lse);
    a.query_begin = query_begin;
    a.window.ahead = 8;
    a.mask = (struct cp_mask){bits, first, begin};
    attend(&a, CP_BUFFERED, 4);
    expect_near(out[0], 5.0 / 2);
    expect_near(out[1], 18.0 / 4);
    expect_near(out[2], 28.0 / 8);
    expect_near(out[3], 28.0 / 8);
    free(bits);
    cp_plan_free(plan);
}

/* ---- Prompts of modules ---- */

#define D       3
#define NUMBERS (RUNS_CAPACITY * RUNS_CHUNK_SIZE * D)
#define ROWS    (RUNS_SEQUENCES * 3)

/* MASK-3, of runs at any positions and in any order. */
static void prompts_of_modules_have_masks(void **unused) {
    static struct prompts p;
    static double q[ROWS * D], k[NUMBERS], v[NUMBERS], out[ROWS * D], lse[ROWS];
    unsigned long long random = 7;
    long long n_keys = 0;
    (void)unused;
    prompts_new(&p);
    for (unsigned long long seed = 1; seed <= 600; seed++) {
        struct mask_case m;
        int n[ROWS];
        prompts_make(&p, seed);
        for (int i = 0; i < NUMBERS; i++) {
            k[i] = random_normal(&random);
            v[i] = random_normal(&random);
        }
        for (int i = 0; i < ROWS * D; i++) {
            n[i / D] = RUNS_POSITIONS;
            q[i] = random_normal(&random);
        }
        mask_case_make(&m, p.rows[p.plan->n_sequences], n, (int)(seed / 2 % MASK_N_KIND), seed);
        struct cp_attention a = attention_of(p.plan, q, k, v, out, lse);
        a.head_dim = a.value_dim = a.v_row = D;
        a.query_begin = p.rows;
        a.position = p.position;
        a.window = draw_window(&random);
        a.mask = m.mask;
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            attend(&a, variant, ROWS);
            n_keys += expect_right(&a, &m);
        }
        mask_case_free(&m);
    }
    assert_true(n_keys > 10000);
    prompts_free(&p);
}

/* ---- What is refused ---- */

/* MASK-1: bits, and no first ones; nothing is written. */
static void bits_without_first_ones(void **unused) {
    const unsigned char bits[] = {0};
    struct attend_case c;
    (void)unused;
    forest(&c, 1);
    c.attention.mask = (struct cp_mask){.bits = bits};
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        assert_int_equal(case_run(&c, variant), CP_ERROR_ARGUMENT);
        for (size_t byte = 0; byte < case_out_bytes(&c); byte++) {
            assert_int_equal(((unsigned char *)c.attention.out)[byte], 0xFF);
        }
    }
    assert_true(cp_attend_workspace(&c.attention) > 0); /* it does not look at the mask */
    c.attention.mask = (struct cp_mask){NULL, NULL, NULL};
    assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_of_the_chapter),
        cmocka_unit_test(a_path_is_as_if_decoded_alone),
        cmocka_unit_test(forests_are_attention_over_what_is_left),
        cmocka_unit_test(all_bits_are_no_mask),
        cmocka_unit_test(bits_beyond_the_window_are_not_read),
        cmocka_unit_test(numbers_at_their_ends),
        cmocka_unit_test(prompts_of_modules_have_masks),
        cmocka_unit_test(bits_without_first_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* CONV-11, CONV-12: what the gate's calls say of pages, ragged keys and layouts, read by the words
 * of kernel.h: that each key is where each of the lists says; that no two numbers have one place;
 * which pages are shared; that what a kernel declares is what comes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "gate/case/cache.h"
#include "gate/case/layout.h"
#include "gate/case/pages.h"
#include "gate/case/strides.h"
#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "gate/runner/arena.h"
#include "tests/plain_kernel.h"

#define CASES 240
#define WORK  20000

/* The i-th of many layouts. */
static struct cp_kernel_layout layout_of(int i) {
    static const struct cp_kernel_layout layouts[] = {
        {.pages = CP_PAGES_OWN},
        {.pages = CP_PAGES_OWN, .page_size = 16, .order = CP_ORDER_HND, .gaps = CP_GAPS_NONE},
        {.pages = CP_PAGES_OWN, .page_size = 16, .tensors = CP_TENSORS_PAGES},
        {.pages = CP_PAGES_RAGGED},
        {.pages = CP_PAGES_OWN, .k_pack = 8, .v_pack = 1},
        {.order = CP_ORDER_NHD},
        {.pages = CP_PAGES_OWN, .tensors = CP_TENSORS_HALVES, .order = CP_ORDER_NHD},
        {.pages = CP_PAGES_RAGGED, .tensors = CP_TENSORS_HALVES, .gaps = CP_GAPS_NONE},
        {.k_pack = 3, .v_pack = 16, .gaps = CP_GAPS_PAGES},
        {.pages = CP_PAGES_OWN, .page_size = 1, .gaps = CP_GAPS_PAGES, .order = CP_ORDER_NHD},
        {.tensors = CP_TENSORS_PAGES, .gaps = CP_GAPS_NONE, .order = CP_ORDER_HND},
        {.pages = CP_PAGES_OWN, .tensors = CP_TENSORS_PAGES, .k_pack = 4, .v_pack = 4},
    };
    return layouts[i % (int)(sizeof layouts / sizeof layouts[0])];
}

/* Each second one is for a cache of E4M3 with scales of tokens. */
static struct cp_kernel kernel_of(int i) {
    struct cp_kernel kernel = plain;
    kernel.layout = layout_of(i);
    if (i / 12 % 2 == 1) {
        kernel.cache = (struct cp_kernel_cache){CP_CACHE_E4M3, CP_CACHE_E4M3, CP_CACHE_SCALE_TOKEN};
        kernel.layout.scale_order = i / 24 % 2;
    }
    kernel.arithmetic.k_dequantised = kernel.arithmetic.v_dequantised = CP_FP32;
    return kernel;
}

struct made {
    struct cp_kernel kernel;
    struct gate_recipe recipe;
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

static void fill(struct made *m) {
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void make(struct made *m, int index) {
    m->kernel = kernel_of(index);
    gate_recipe_make(&m->recipe, 53, index, 0, WORK, NULL);
    gate_recipe_pages(&m->recipe, &m->kernel.layout);
    assert_int_equal(gate_problem_new(&m->p, &m->recipe, &m->kernel), 0);
    fill(m);
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

/* ---- Places, by the words of kernel.h ---- */

/* In which page of the pool, and in which slot, key j of sequence s is. */
struct spot {
    long long page;
    int slot;
};

static struct spot spot_of(const struct made *m, int s, int j) {
    const struct cp_kernel_call *c = m->call;
    int size = c->page_size, i = j / size;
    if (m->kernel.layout.pages == CP_PAGES_CHUNKS) {
        return (struct spot){c->table[s * c->table_width + i], j % size};
    }
    if (m->kernel.layout.pages == CP_PAGES_RAGGED) {
        return (struct spot){c->page_begin[s] + j, 0};
    }
    int page = c->page_table[s * c->page_table_width + i];
    assert_int_equal(page, c->page_list[c->page_begin[s] + i]);
    return (struct spot){page, j % size};
}

/* Where number i of a head and slot of a page is in the memory of K, or of V. */
static long long place_of(const struct made *m, int is_v, struct spot at, int head, int i) {
    const struct cp_kernel_call *c = m->call;
    long long x = is_v ? m->kernel.layout.v_pack : m->kernel.layout.k_pack;
    long long page = is_v ? c->v_chunk : c->k_chunk, of_head = is_v ? c->v_head : c->k_head;
    long long slot = is_v ? c->v_slot : c->k_slot, group = is_v ? c->v_group : c->k_group;
    long long number = x > 0 ? i / x * group + i % x : i;
    return at.page * page + head * of_head + at.slot * slot + number;
}

/* The number of K or V that is there, times its scale. */
static double number_at(const struct made *m, int is_v, struct spot at, int head, int i) {
    const struct cp_kernel_call *c = m->call;
    const float *scales = is_v ? c->v_scales : c->k_scales;
    int type = scales != NULL ? CP_E4M3 : m->p.kv_type;
    double x = cp_number_load(is_v ? c->v : c->k, type, (size_t)place_of(m, is_v, at, head, i));
    size_t heads = (size_t)c->n_kv_heads, slots = (size_t)c->page_size, slot = (size_t)at.slot;
    size_t scale = m->kernel.layout.scale_order == CP_SCALES_BY_SLOT
                       ? ((size_t)at.page * slots + slot) * heads + (size_t)head
                       : ((size_t)at.page * heads + (size_t)head) * slots + slot;
    return scales != NULL ? x * (double)scales[scale] : x;
}

static int check_key(const struct made *m, int s, int j, int head) {
    struct spot at = spot_of(m, s, j);
    const double *k = gate_key(&m->p, s, j, head), *v = gate_value(&m->p, s, j, head);
    assert_in_range(at.page, 0, m->call->capacity - 1);
    for (int i = 0; i < m->recipe.head_dim; i++) {
        assert_true(number_at(m, 0, at, head, i) == k[i]);
        assert_true(number_at(m, 1, at, head, i) == v[i]);
    }
    return m->recipe.head_dim;
}

static int check_keys(const struct made *m) {
    int checked = 0;
    for (int s = 0; s < m->p.b; s++) {
        for (int j = 0; j < m->p.n_tokens[s]; j += 1 + m->p.n_tokens[s] / 60) {
            checked += check_key(m, s, j, j % m->recipe.n_kv_heads);
        }
        if (m->p.n_tokens[s] > 0) {
            checked += check_key(m, s, m->p.n_tokens[s] - 1, 0);
        }
    }
    return checked;
}

static void each_key_is_where_the_lists_say(void **state) {
    int checked = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        checked += check_keys(&m);
        done(&m);
    }
    assert_true(checked > 100000);
}

/* GATE-3: what a row does not see of a page is padding; so is all between the numbers of keys. */
static void all_else_is_padding(void **state) {
    int padding = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        size_t size = gate_cache_size(&m.p, 0), n = m.a.run.bytes[RUN_K] / size;
        int type = m.call->k_scales != NULL ? CP_E4M3 : m.p.kv_type;
        int is_one = m.call->v_offset > 0;
        unsigned char *taken = calloc(n + 1, 1);
        for (int block = 0; block < gate_blocks(&m.p); block++) {
            for (int x = 0; x < m.recipe.n_kv_heads * m.call->page_size; x++) {
                int head = x / m.call->page_size, slot = x % m.call->page_size;
                long long key = gate_key_in(&m.p, block, head, slot);
                int has_key = key >= 0 && !isnan(m.p.k[key * m.recipe.head_dim]);
                for (int i = 0; i < m.recipe.head_dim; i++) {
                    const struct spot at = {block, slot};
                    long long of_k = place_of(&m, 0, at, head, i);
                    long long of_v = place_of(&m, 1, at, head, i) + m.call->v_offset;
                    taken[of_k] = (unsigned char)(taken[of_k] + 1 + has_key);
                    if (is_one) {
                        taken[of_v] = (unsigned char)(taken[of_v] + 1 + has_key);
                    }
                }
            }
        }
        for (size_t i = 0; i < n; i++) {
            assert_true(taken[i] <= 2); /* 2: a key has it; 1: a slot without one; 0: no slot */
            if (taken[i] < 2 && m.recipe.padding == GATE_NANS) {
                assert_true(isnan(cp_number_load(m.a.memory[RUN_K], type, i)));
                padding++;
            }
        }
        free(taken);
        done(&m);
    }
    assert_true(padding > 100000);
}

/* ---- Lists ---- */

static void check_lists(const struct made *m) {
    const struct cp_kernel_call *c = m->call;
    int size = c->page_size, kind = m->kernel.layout.pages;
    assert_int_equal(size, kind == CP_PAGES_CHUNKS   ? c->chunk_size
                           : kind == CP_PAGES_RAGGED ? 1
                                                     : m->p.pages.size);
    assert_true((c->page_begin == NULL) == (kind == CP_PAGES_CHUNKS));
    assert_true((c->page_table == NULL) == (kind != CP_PAGES_OWN));
    assert_true((c->page_list == NULL) == (kind != CP_PAGES_OWN));
    assert_true((c->last_page_tokens == NULL) == (kind != CP_PAGES_OWN));
    for (int s = 0; s < c->n_sequences; s++) {
        assert_true(c->n_tokens[s] <= c->max_tokens);
        assert_true(c->query_begin[s + 1] - c->query_begin[s] <= c->max_rows);
    }
    for (int s = 0, begin = 0; kind != CP_PAGES_CHUNKS && s < c->n_sequences; s++) {
        int n = c->n_tokens[s], pages = n / size + (n % size > 0);
        assert_int_equal(c->page_begin[s], begin);
        begin += pages;
        assert_int_equal(c->page_begin[s + 1], begin);
        if (kind == CP_PAGES_OWN) {
            assert_int_equal(c->last_page_tokens[s], n == 0 ? 0 : n % size == 0 ? size : n % size);
            assert_true(pages <= c->page_table_width);
            for (int i = pages; i < c->page_table_width; i++) {
                assert_int_equal(c->page_table[s * c->page_table_width + i], -1);
            }
        }
    }
}

/* 1: the longest sequence has as many pages as the table is wide. */
static int is_narrow(const struct made *m) {
    const struct cp_kernel_call *c = m->call;
    int longest = 0;
    for (int s = 0; s < c->n_sequences; s++) {
        int pages = c->page_begin[s + 1] - c->page_begin[s];
        longest = pages > longest ? pages : longest;
    }
    assert_in_range(c->page_table_width, longest, longest + 1);
    return longest == c->page_table_width;
}

static void lists_are_as_kernels_expect_them(void **state) {
    int narrow = 0, tables = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        check_lists(&m);
        if (m.call->page_table != NULL && m.call->max_tokens > 0) {
            narrow += is_narrow(&m);
            tables++;
        }
        done(&m);
    }
    assert_true(3 * narrow > tables && 3 * (tables - narrow) > tables);
}

/* 1: page i of two sequences has the same keys: all P of each, in the same chunks. */
static int have_same_keys(const struct gate_problem *p, int s, int t, int i, int size) {
    for (int j = i * size; j < (i + 1) * size; j++) {
        if (j >= p->n_tokens[s] || j >= p->n_tokens[t] ||
            gate_key_row(p, s, j, 0) != gate_key_row(p, t, j, 0)) {
            return 0;
        }
    }
    return 1;
}

static void pages_are_shared_where_all_keys_are(void **state) {
    int shared = 0, own = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        const struct gate_pages *g = &m.p.pages;
        for (int s = 0; g->kind == CP_PAGES_OWN && s < m.p.b && s < 12; s++) {
            for (int t = 0; t < s; t++) {
                for (int i = 0; i + 1 < g->width; i++) {
                    int one = g->table[s * g->width + i], other = g->table[t * g->width + i];
                    int is_there = one >= 0 && other >= 0;
                    assert_int_equal(is_there && one == other,
                                     have_same_keys(&m.p, s, t, i, g->size));
                    shared += is_there && one == other;
                    own += is_there && one != other;
                }
            }
        }
        done(&m);
    }
    assert_true(shared > 100 && own > 100);
}

/* ---- What is declared is what comes ---- */

static void strides_are_as_declared(void **state) {
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        const struct cp_kernel_call *c = m.call;
        const struct cp_kernel_layout *l = &m.kernel.layout;
        long long h = c->n_kv_heads, d = c->head_dim, size = c->page_size;
        if (l->order == CP_ORDER_NHD) {
            assert_true(c->k_slot >= h * c->k_head && c->v_slot >= h * c->v_head);
        } else if (l->order == CP_ORDER_HND) {
            assert_true(c->k_head >= size * c->k_slot && c->v_head >= size * c->v_slot);
        }
        if (l->gaps == CP_GAPS_NONE) {
            int halves = l->tensors == CP_TENSORS_PAGES ? 2 : 1;
            assert_int_equal(c->k_chunk, halves * h * size * d);
            assert_int_equal(c->v_chunk, c->k_chunk);
            assert_int_equal(c->q_row, c->n_heads * d);
            assert_int_equal(c->q_head, d);
            assert_int_equal(c->out_row, c->n_heads * d);
            assert_int_equal(c->out_head, d);
            assert_int_equal(c->lse_row, c->n_heads);
        }
        assert_int_equal(c->v_offset > 0, l->tensors != CP_TENSORS_TWO);
        if (l->tensors == CP_TENSORS_HALVES) {
            assert_int_equal(c->v_offset, c->capacity * c->k_chunk);
        } else if (l->tensors == CP_TENSORS_PAGES) {
            long long both = 2 * c->v_offset; /* pages that are to lie far apart are rounded up */
            assert_true(both == c->k_chunk || (m.p.is_far && both < c->k_chunk));
        }
        assert_int_equal(c->k_group > 0, l->k_pack > 0);
        assert_int_equal(c->v_group > 0, l->v_pack > 0);
        if (l->pages == CP_PAGES_RAGGED) {
            assert_true(c->k_slot == c->k_chunk && c->v_slot == c->v_chunk);
        }
        if (l->k_pack > 0) {
            assert_int_equal(c->k_slot, l->k_pack);
        }
        done(&m);
    }
}

static void any_size_is_many_sizes(void **state) {
    int sizes[513] = {0}, different = 0, units = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct gate_recipe recipe;
        struct cp_kernel_layout any = {.pages = CP_PAGES_OWN};
        gate_recipe_make(&recipe, 53, index, 0, WORK, NULL);
        gate_recipe_pages(&recipe, &any);
        assert_in_range(recipe.page, 1, 1024);
        if (recipe.page <= 512) {
            different += sizes[recipe.page]++ == 0;
        }
        any.page_unit = 8;
        gate_recipe_pages(&recipe, &any);
        assert_true(recipe.page % 8 == 0 && (recipe.page & (recipe.page - 1)) == 0);
        units |= recipe.page;
        any.page_unit = 0;
        any.page_size = 16;
        gate_recipe_pages(&recipe, &any);
        assert_int_equal(recipe.page, 0);
    }
    assert_int_equal(units, 8 + 16 + 32 + 64 + 128);
    assert_true(different >= 12 && sizes[1] > 0 && sizes[16] > 0 && sizes[3] > 0);
}

/* GATE-10: pages beyond 2^32 elements, where there may be gaps; and few pages of a large pool. */
static void pages_lie_far_apart(void **state) {
    int pools = 0;
    (void)state;
    for (int i = 0; i < 48; i++) {
        struct made m;
        m.kernel = kernel_of(i % 12); /* plain: scales of tokens make a pool smaller */
        gate_recipe_make(&m.recipe, 53, i / 12, 0, WORK, NULL);
        m.recipe.layout |= GATE_FAR;
        m.recipe.pool = i % 5 < 3 ? 100000 : 0;
        assert_int_equal(gate_problem_new(&m.p, &m.recipe, &m.kernel), 0);
        fill(&m);
        const struct cp_kernel_layout *l = &m.kernel.layout;
        int is_ragged = l->pages == CP_PAGES_RAGGED, is_dense = l->gaps == CP_GAPS_NONE;
        int is_pool = m.p.number != NULL, unit = gate_pool_unit(&m.p);
        struct cp_kernel_call c;
        gate_call_sizes(&c, &m.p);
        assert_int_equal(is_pool, !is_ragged && m.recipe.pool > 0 && unit > 0 &&
                                      100000 / (unit > 0 ? unit : 1) > gate_blocks(&m.p));
        assert_int_equal(c.capacity, is_pool ? 100000 / unit * unit : gate_blocks(&m.p));
        assert_int_equal(c.k_chunk > m.call->k_chunk,
                         !is_ragged && !is_dense && m.recipe.pool == 0);
        if (is_dense && !is_ragged) {
            long long halves = l->tensors == CP_TENSORS_PAGES ? 2 : 1;
            assert_int_equal(c.k_chunk, halves * c.n_kv_heads * c.page_size * c.head_dim);
        }
        if (l->tensors == CP_TENSORS_HALVES) {
            assert_int_equal(c.v_offset, c.capacity * c.k_chunk);
        }
        for (int block = 0; is_pool && block < gate_blocks(&m.p); block++) {
            int number = m.a.run.far_number[block];
            assert_int_equal(number % unit, 0);
            assert_int_equal((size_t)number * m.a.run.far[0].stride % run_page(), 0);
            if (l->tensors == CP_TENSORS_HALVES) {
                assert_int_equal(m.a.run.far_number[gate_blocks(&m.p) + block],
                                 c.capacity + number);
            }
        }
        pools += is_pool;
        done(&m);
    }
    assert_true(pools >= 20);
}

/* ---- Growth, and a sequence alone ---- */

static void lists_follow_when_sequences_grow(void **state) {
    int grown = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        if (m.recipe.renewed) {
            gate_arrays_free(&m.a);
            int more = gate_problem_grow(&m.p);
            fill(&m);
            check_lists(&m);
            check_keys(&m);
            grown += more;
        }
        done(&m);
    }
    assert_true(grown > 20);
}

static void a_sequence_alone_has_the_same_pages(void **state) {
    int parts = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m, part;
        make(&m, index);
        int s = index % m.p.b, rows = m.p.query_begin[s + 1] - m.p.query_begin[s];
        if (rows > 0) {
            part.kernel = m.kernel;
            part.recipe = m.recipe;
            assert_int_equal(gate_problem_part(&part.p, &m.p, s, 0, rows), 0);
            assert_int_equal(gate_arrays_new(&part.a, &part.p), 0);
            part.call = &part.a.run.call;
            check_lists(&part);
            check_keys(&part);
            assert_true(part.call->capacity >= gate_blocks(&part.p));
            if (m.kernel.layout.pages == CP_PAGES_RAGGED) {
                assert_int_equal(part.call->capacity, gate_blocks(&part.p));
            }
            for (int i = 0; m.kernel.layout.pages == CP_PAGES_OWN && i < part.p.pages.begin[1];
                 i++) {
                assert_int_equal(part.p.pages.list[i], m.p.pages.table[s * m.p.pages.width + i]);
                parts++;
            }
            gate_arrays_free(&part.a);
            gate_problem_free_alone(&part.p);
        }
        done(&m);
    }
    assert_true(parts > 100);
}

/* ---- Steps, and pages as chunks ---- */

/* Two sequences of 100 keys; chunks of 32, pages of 16. */
static void steps_may_end_at_pages(void **state) {
    const struct {
        int step, steps;
    } expected[] = {{0, 7}, {1, 100}, {8, 13}, {16, 7}, {24, 7}, {64, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct cp_kernel kernel = plain;
        struct gate_problem p;
        struct gate_recipe recipe;
        gate_recipe_make(&recipe, 53, 0, 0, WORK, NULL);
        recipe.chunk_size = 32;
        recipe.queries = GATE_DECODE;
        recipe.rows = recipe.sequences = recipe.window = 0;
        recipe.n_ops = 1;
        recipe.op[0] = (struct gate_op){GATE_JOIN, 0, 0, 100};
        kernel.layout = (struct cp_kernel_layout){.pages = CP_PAGES_OWN, .page_size = 16};
        kernel.arithmetic.step = expected[i].step;
        assert_int_equal(gate_problem_new(&p, &recipe, &kernel), 0);
        assert_int_equal(gate_steps_of_row(&kernel, &p, 0), expected[i].steps);
        gate_problem_free(&p);
    }
}

static void a_view_has_pages_for_chunks(void **state) {
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        int size = gate_block_size(&m.p), blocks = gate_blocks(&m.p);
        int kind = m.p.pages.kind, n_shared = m.p.n_shared;
        assert_int_equal(gate_pages_view(&m.p), 0);
        assert_int_equal(m.p.recipe.chunk_size, size);
        assert_int_equal(m.p.capacity, blocks);
        assert_int_equal(m.p.n_shared, kind == CP_PAGES_CHUNKS ? n_shared : 0);
        for (int s = 0; s < m.p.b; s++) {
            for (int j = 0; j < m.p.n_tokens[s]; j++) {
                int run = gate_run_of(&m.p, s, j), at = s * m.p.table_width + run;
                struct spot spot = spot_of(&m, s, j);
                assert_int_equal(m.p.table[at], spot.page);
                assert_int_equal(j - m.p.first[at], spot.slot);
                assert_int_equal(gate_position_of(&m.p, s, j), j);
            }
        }
        done(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_is_where_the_lists_say),
        cmocka_unit_test(all_else_is_padding),
        cmocka_unit_test(lists_are_as_kernels_expect_them),
        cmocka_unit_test(pages_are_shared_where_all_keys_are),
        cmocka_unit_test(strides_are_as_declared),
        cmocka_unit_test(any_size_is_many_sizes),
        cmocka_unit_test(pages_lie_far_apart),
        cmocka_unit_test(lists_follow_when_sequences_grow),
        cmocka_unit_test(a_sequence_alone_has_the_same_pages),
        cmocka_unit_test(steps_may_end_at_pages),
        cmocka_unit_test(a_view_has_pages_for_chunks),
    };
    return cmocka_run_group_tests_name("gate pages", tests, NULL, NULL);
}

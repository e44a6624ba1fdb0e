/* SPDX-License-Identifier: Apache-2.0 */
/* The fast decoder on caches whose entries have any order, and where attention fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opt/decoder_internal.h"
#include "tests/decoder_case.h"
#include "tests/random.h"

#define CHUNK 64

struct fast {
    struct decoder_case c;
    struct cp_opt *opt;
    struct cp_opt_decoder *decoder;
    struct cp_opt_cache cache;
    size_t n_numbers;
};

/* Of one layer and thread, with zeros as keys and values. */
static void make_fast(struct fast *f, int capacity) {
    unsigned long long random = 31;
    decoder_case_make(&f->c, &random, CP_POSITIONS_ROTARY, 1);
    const struct cp_decoder_shape *s = &f->c.decoder.shape;
    assert_int_equal(cp_opt_new(&f->opt, 1, CP_OPT_BEST), CP_OK);
    assert_int_equal(cp_opt_decoder_new(&f->decoder, f->opt, &f->c.decoder, CHUNK, CHUNK, capacity),
                     CP_OK);
    f->n_numbers = cp_opt_cache_numbers(s, CHUNK, capacity);
    f->cache = (struct cp_opt_cache){.capacity = capacity, .chunk_size = CHUNK};
    f->cache.position = calloc((size_t)capacity, sizeof *f->cache.position);
    f->cache.k = calloc(f->n_numbers, sizeof *f->cache.k);
    f->cache.v = calloc(f->n_numbers, sizeof *f->cache.v);
    assert_true(f->cache.position != NULL && f->cache.k != NULL && f->cache.v != NULL);
}

static void free_fast(struct fast *f) {
    free(f->cache.position);
    free(f->cache.k);
    free(f->cache.v);
    cp_opt_decoder_free(f->decoder);
    cp_opt_free(f->opt);
}

/* Where a number of the first head is that tells an entry's position: entries have these values,
 * and a new one others. */
static float *value_of(const struct fast *f, int e) {
    return f->cache.v + cp_opt_entry_at(&f->c.decoder.shape, &f->cache, 0, e, 0);
}

/* The entries, whose positions a caller has written, and a new token before all of them. */
static void run_before(struct fast *f, int n, int position) {
    const int token = 0;
    const struct cp_opt_decoder_call call = {1, &token, &position, NULL, NULL, 1};
    f->cache.n = n;
    for (int e = 0; e < n; e++) {
        *value_of(f, e) = (float)f->cache.position[e];
    }
    assert_int_equal(cp_opt_decoder_run(f->decoder, &f->cache, &call), CP_OK);
    assert_int_equal(f->cache.position[0], position);
}

/* FAST-4: all orders of up to 6 entries. Positions are those behind the new one, each once. */
static void entries_in_each_order_come_into_order(void **unused) {
    (void)unused;
    static struct fast f;
    make_fast(&f, CHUNK);
    for (int n = 1, orders = 1; n <= 6; orders *= ++n) {
        for (int order = 0; order < orders; order++) {
            int left[6] = {2, 3, 5, 7, 11, 13}, code = order;
            for (int e = 0; e < n; e++) {
                int i = code % (n - e);
                code /= n - e;
                f.cache.position[e] = left[i];
                memmove(left + i, left + i + 1, (size_t)(5 - i) * sizeof *left);
            }
            run_before(&f, n, 1);
            for (int e = 1; e <= n; e++) {
                assert_true(e == 1 || f.cache.position[e - 1] < f.cache.position[e]);
                assert_true(*value_of(&f, e) == (float)f.cache.position[e]);
            }
        }
    }
    free_fast(&f);
}

/* FAST-4: 2^16 entries in order, in descending and in random order. */
static void many_entries_come_into_order(void **unused) {
    (void)unused;
    enum { KEYS = 1 << 16, KINDS = 3 };
    static struct fast f;
    unsigned long long random = 77;
    make_fast(&f, KEYS + CHUNK);
    for (int kind = 0; kind < KINDS; kind++) {
        int *position = f.cache.position;
        for (int e = 0; e < KEYS; e++) {
            position[e] = kind == 1 ? KEYS - e : 1 + e;
        }
        for (int e = KEYS - 1; kind == 2 && e > 0; e--) {
            int other = random_below(&random, e + 1), kept = position[e];
            position[e] = position[other];
            position[other] = kept;
        }
        run_before(&f, KEYS, 0);
        for (int e = 0; e <= KEYS; e++) {
            assert_int_equal(position[e], e);
            assert_true(e == 0 || *value_of(&f, e) == (float)e);
        }
    }
    free_fast(&f);
}

/* FAST-1: an error of attention is that of the run. Its memory is taken away. */
static void an_error_of_attention_ends_a_run(void **unused) {
    (void)unused;
    static struct fast f;
    static float logits[CHUNK * CASE_WIDTH];
    const int token[] = {0, 0}, position[] = {0, 1};
    make_fast(&f, CHUNK);
    const struct cp_opt_decoder_call call = {2, token, position, NULL, logits, 1};
    size_t size = f.decoder->workspace_size;
    f.decoder->workspace_size = 0;
    assert_int_equal(cp_opt_decoder_run(f.decoder, &f.cache, &call), CP_ERROR_WORKSPACE);
    for (int i = 0; i < f.c.decoder.shape.n_vocab; i++) {
        assert_true(logits[i] == 0.0F);
    }
    f.decoder->workspace_size = size;
    f.cache.n = 0;
    assert_int_equal(cp_opt_decoder_run(f.decoder, &f.cache, &call), CP_OK);
    free_fast(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_in_each_order_come_into_order),
        cmocka_unit_test(many_entries_come_into_order),
        cmocka_unit_test(an_error_of_attention_ends_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

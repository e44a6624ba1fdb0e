/* SPDX-License-Identifier: Apache-2.0 */
/* Executes TDPBF16PS and compares it with plain C (amx_model.h). Either the machine's unit or
 * the emulator (amx_emulator.h) executes it. So on a machine with AMX, the machine itself
 * confirms what the emulator is held to. */
#define _POSIX_C_SOURCE 200809L /* barriers of threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "amx_emulator.h"
#include "opt/kernels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "amx_model.h"
#include "amx_tiles.h"
#include "random.h"

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

TARGET_BEGIN("amx-tile,amx-bf16")

/* By the instruction, in tiles n, next, last; zeros outside of the result. */
static struct amx_tile executed(const struct amx_tile *c, const struct amx_tile *a,
                                const struct amx_tile *b, int n, int way) {
    struct amx_tile to = {{{0}}};
    tiles[n].load(c, FULL_ROW);
    tiles[tiles[n].factor[way]].load(a, FULL_ROW);
    tiles[tiles[n].factor[!way]].load(b, FULL_ROW);
    tiles[n].dot[way]();
    tiles[n].store(&to, FULL_ROW);
    return to;
}

static void numbers_of_every_kind(void **unused) {
    unsigned long long random = 1;
    struct amx_tile a, b, c;
    (void)unused;
    begin();
    configure_full();
    for (int i = 0; i < 6 * KINDS * KINDS * KINDS; i++) {
        amx_fill_pairs(&a, i % KINDS, &random);
        amx_fill_pairs(&b, i / KINDS % KINDS, &random);
        amx_fill_numbers(&c, i / KINDS / KINDS % KINDS, &random);
        struct amx_tile right = amx_model(&c, &a, &b, AMX_ROWS, AMX_WORDS, AMX_WORDS);
        struct amx_tile got = executed(&c, &a, &b, i % AMX_TILES, i / AMX_TILES % 2);
        assert_true(amx_same(&got, &right));
        amx_dot(&c, &a, &b, AMX_ROWS, AMX_WORDS, AMX_WORDS);
        assert_true(amx_same(&c, &right));
    }
    _tile_release();
}

/* What is outside of a shape is not as much as read: NaNs are there. */
static void products_of_every_shape(void **unused) {
    unsigned long long random = 2;
    struct amx_tile a, b, c;
    (void)unused;
    begin();
    for (int i = 0; i < AMX_ROWS * AMX_WORDS * AMX_WORDS; i++) {
        int rows = i % 16 + 1, pairs = i / 16 % 16 + 1, columns = i / 256 + 1;
        struct config config = {0};
        shape(&config, 0, rows, columns);
        shape(&config, 1, rows, pairs);
        shape(&config, 3, pairs, columns);
        configure(&config);
        amx_fill_pairs(&a, NORMAL, &random);
        amx_fill_pairs(&b, NORMAL, &random);
        amx_fill_numbers(&c, NORMAL, &random);
        for (int at = 0; at < AMX_ROWS * AMX_WORDS; at++) {
            int row = at / AMX_WORDS, column = at % AMX_WORDS;
            a.word[row][column] = row < rows && column < pairs ? a.word[row][column] : UINT32_MAX;
            b.word[row][column] =
                row < pairs && column < columns ? b.word[row][column] : UINT32_MAX;
            c.word[row][column] = row < rows && column < columns ? c.word[row][column] : UINT32_MAX;
        }
        struct amx_tile right = amx_model(&c, &a, &b, rows, pairs, columns);
        struct amx_tile got = executed(&c, &a, &b, 0, 0);
        assert_memory_equal(&got, &right, sizeof got);
        amx_dot(&c, &a, &b, rows, pairs, columns);
        assert_memory_equal(&c, &right, sizeof c);
    }
    _tile_release();
}

static void every_tile_in_every_place(void **unused) {
    unsigned long long random = 3;
    struct amx_tile matrix[AMX_TILES], now;
    (void)unused;
    begin();
    configure_full();
    for (int i = 0; i < 2 * AMX_TILES; i++) {
        int n = i / 2, way = i % 2, first = tiles[n].factor[way], second = tiles[n].factor[!way];
        for (int tile = 0; tile < AMX_TILES; tile++) {
            amx_fill_pairs(&matrix[tile], NORMAL, &random);
            tiles[tile].load(&matrix[tile], FULL_ROW);
        }
        tiles[n].dot[way]();
        matrix[n] =
            amx_model(&matrix[n], &matrix[first], &matrix[second], AMX_ROWS, AMX_WORDS, AMX_WORDS);
        for (int tile = 0; tile < AMX_TILES; tile++) {
            tiles[tile].store(&now, FULL_ROW);
            assert_memory_equal(&now, &matrix[tile], sizeof now);
        }
    }
    _tile_release();
}

/* 2^-126 as the sum so far, to which 1 or 1.5 times 2^-155 to 2^-148 is added, or from which it is
 * taken. */
static void where_numbers_become_subnormal(void **unused) {
    (void)unused;
    begin();
    configure_full();
    for (int i = 0; i < 8 * 16; i++) {
        struct amx_tile a = {{{0}}}, b = {{{0}}}, c = {{{0}}};
        float sign = i & 1 ? -1.0F : 1.0F, less = i & 2 ? 1.5F : 1.0F;
        a.word[0][0] = bits_of(sign * 0x1p-63F) >> 16;
        b.word[0][0] = bits_of(0x1p-63F) >> 16;
        a.word[0][1] = bits_of(i & 4 ? sign * 0x1p-80F : -sign * 0x1p-80F) >> 16;
        b.word[1][0] = bits_of(less * ldexpf(1.0F, -75 + i / 16)) >> 16;
        c.word[0][0] = i & 8 ? bits_of(sign * 0x1.8p-126F) : 0;
        struct amx_tile right = amx_model(&c, &a, &b, AMX_ROWS, AMX_WORDS, AMX_WORDS);
        struct amx_tile got = executed(&c, &a, &b, i % AMX_TILES, 0);
        if (opt_cpu_grants_amx() && (right.word[0][0] & 0x7FFFFFFFU) <= bits_of(0x1p-126F)) {
            continue; /* the manual leaves open what becomes of one that is rounded up to 2^-126 */
        }
        assert_memory_equal(&got, &right, sizeof got);
    }
    _tile_release();
}

/* ---- MXCSR ---- */

static uint32_t exchange_mxcsr(uint32_t to) {
    uint32_t before;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=&m"(before) : "m"(to) : "memory");
    return before;
}

/* Whatever is set there: nothing is another number, no flag is raised, no exception is taken. */
static void mxcsr_is_no_matter(void **unused) {
    static const uint32_t settings[] = {0x1F80, 0x3F80, 0x5F80, 0x7F80, 0x9FC0, 0x0000, 0x6000};
    unsigned long long random = 8;
    struct amx_tile a, b, c, got;
    (void)unused;
    begin();
    configure_full();
    for (int i = 0; i < 7 * KINDS; i++) {
        amx_fill_pairs(&a, i / 7, &random);
        amx_fill_pairs(&b, i / 7, &random);
        amx_fill_numbers(&c, i / 7, &random);
        struct amx_tile right = amx_model(&c, &a, &b, AMX_ROWS, AMX_WORDS, AMX_WORDS);
        uint32_t usual = exchange_mxcsr(settings[i % 7]);
        got = executed(&c, &a, &b, i % AMX_TILES, 0);
        uint32_t then = exchange_mxcsr(settings[i % 7]);
        amx_dot(&c, &a, &b, AMX_ROWS, AMX_WORDS, AMX_WORDS);
        uint32_t last = exchange_mxcsr(usual);
        assert_int_equal(then, settings[i % 7]);
        assert_int_equal(last, settings[i % 7]);
        assert_true(amx_same(&got, &right) && amx_same(&c, &right));
    }
    _tile_release();
}

/* ---- Threads ---- */

struct thread {
    pthread_barrier_t *turn;
    unsigned long long seed;
    int wrong;
};

/* Each instruction of one thread lies between those of the other. */
static void *with_tiles_of_its_own(void *argument) {
    struct thread *thread = argument;
    unsigned long long random = thread->seed;
    struct amx_tile a, b, c;
    thread->wrong = !opt_cpu_grants_amx() && !amx_emulate();
    for (int i = 0; i < 200; i++) {
        struct config config = {0};
        struct amx_tile got = {{{0}}};
        int rows = random_below(&random, AMX_ROWS) + 1,
            pairs = random_below(&random, AMX_WORDS) + 1;
        shape(&config, 0, rows, AMX_WORDS);
        shape(&config, 1, rows, pairs);
        shape(&config, 3, pairs, AMX_WORDS);
        amx_fill_pairs(&a, NORMAL, &random);
        amx_fill_pairs(&b, NORMAL, &random);
        amx_fill_numbers(&c, NORMAL, &random);
        struct amx_tile right = amx_model(&c, &a, &b, rows, pairs, AMX_WORDS);
        configure(&config);
        pthread_barrier_wait(thread->turn);
        tiles[0].load(&c, FULL_ROW);
        tiles[1].load(&a, FULL_ROW);
        pthread_barrier_wait(thread->turn);
        tiles[3].load(&b, FULL_ROW);
        tiles[0].dot[0]();
        pthread_barrier_wait(thread->turn);
        tiles[0].store(&got, FULL_ROW);
        thread->wrong |= !amx_same(&got, &right);
        _tile_release();
    }
    return NULL;
}

static void threads_have_tiles_of_their_own(void **unused) {
    pthread_barrier_t turn;
    pthread_t running[2];
    struct thread thread[2] = {{&turn, 9, 1}, {&turn, 10, 1}};
    (void)unused;
    if (!cp_opt_has_avx512()) {
        skip();
    }
    assert_int_equal(pthread_barrier_init(&turn, NULL, 2), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&running[i], NULL, with_tiles_of_its_own, &thread[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(running[i], NULL), 0);
    }
    assert_int_equal(thread[0].wrong, 0);
    assert_int_equal(thread[1].wrong, 0);
    pthread_barrier_destroy(&turn);
}

static void *for_a_moment(void *unused) {
    struct config config = {0};
    (void)unused;
    shape(&config, 0, 1, 1);
    configure(&config);
    _tile_release();
    return NULL;
}

/* More than the emulator has room for at one time. */
static void threads_that_are_done_make_room(void **unused) {
    (void)unused;
    begin();
    for (int i = 0; i < 3000; i++) {
        pthread_t running;
        assert_int_equal(pthread_create(&running, NULL, for_a_moment, NULL), 0);
        assert_int_equal(pthread_join(running, NULL), 0);
    }
}

TARGET_END

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_kind),
        cmocka_unit_test(products_of_every_shape),
        cmocka_unit_test(every_tile_in_every_place),
        cmocka_unit_test(where_numbers_become_subnormal),
        cmocka_unit_test(mxcsr_is_no_matter),
        cmocka_unit_test(threads_have_tiles_of_their_own),
        cmocka_unit_test(threads_that_are_done_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void needs_another_processor(void **unused) {
    (void)unused;
    assert_int_equal(amx_emulate(), 0);
    assert_int_equal(cp_opt_has_amx(), 0);
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(needs_another_processor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

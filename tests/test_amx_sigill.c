/* SPDX-License-Identifier: Apache-2.0 */
/* SIGILL for instructions that are not AMX's, AMX instructions that the unit refuses, and what
 * the library reports. By the machine's unit or the emulator, as in test_amx_dot.c. */
#define _GNU_SOURCE /* REG_RIP */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "amx_emulator.h"
#include "opt/kernels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "amx_tiles.h"

TARGET_BEGIN("amx-tile,amx-bf16")

/* ---- Other reasons for SIGILL ---- */

static volatile sig_atomic_t n_seen, bytes_to_skip;
static sigjmp_buf back;

static void skip_it(int number, siginfo_t *info, void *context) {
    n_seen += number == SIGILL && info->si_signo == SIGILL;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += bytes_to_skip;
}

static void jump_back(int number) {
    siglongjmp(back, number);
}

static void no_instruction(void) {
    __asm__ volatile("ud2" : : : "memory");
}

/* What AMX has, but for a bit. */
#define ALMOST(DO)                                                                                 \
    DO(other_map, "0xC4,0xE1,0x7B,0x4B,0x04,0x01")                                                 \
    DO(no_such_tile, "0xC4,0x62,0x7B,0x4B,0x04,0x01")                                              \
    DO(no_sib, "0xC4,0xE2,0x7B,0x4B,0x48,0x01")                                                    \
    DO(wide, "0xC4,0xE2,0xFB,0x4B,0x04,0x01")                                                      \
    DO(long_vector, "0xC4,0xE2,0x7F,0x4B,0x04,0x01")                                               \
    DO(third_register, "0xC4,0xE2,0x73,0x4B,0x04,0x01")                                            \
    DO(product_of_memory, "0xC4,0xE2,0x72,0x5C,0x04,0x01")
#define ALMOST_FUNCTION(name, bytes)                                                               \
    static void name(void) {                                                                       \
        __asm__ volatile(".byte " bytes : : : "memory");                                           \
    }
#define NAME_OF(name, bytes) name,
ALMOST(ALMOST_FUNCTION)

/* A new handler, and then the emulator before it. */
static void install(struct sigaction action) {
    assert_int_equal(sigaction(SIGILL, &action, NULL), 0);
    begin();
}

static void tiles_work(void) {
    struct amx_tile tile, now;
    memset(&tile, 0x5A, sizeof tile);
    configure_full();
    tiles[5].load(&tile, FULL_ROW);
    tiles[5].store(&now, FULL_ROW);
    assert_memory_equal(&now, &tile, sizeof now);
    _tile_release();
}

static void other_instructions_are_handed_on(void **unused) {
    static void (*const almost[])(void) = {ALMOST(NAME_OF)};
    (void)unused;
    begin();
    install((struct sigaction){.sa_sigaction = skip_it, .sa_flags = SA_SIGINFO});
    n_seen = 0;
    bytes_to_skip = 2;
    no_instruction();
    assert_int_equal(n_seen, 1);
    bytes_to_skip = 6;
    for (size_t i = 0; i < sizeof almost / sizeof almost[0] && !opt_cpu_grants_amx(); i++) {
        almost[i](); /* what the unit makes of them is its own matter */
        assert_int_equal(n_seen, 2 + i);
    }
    install((struct sigaction){.sa_handler = jump_back, .sa_flags = SA_NODEFER});
    int seen = sigsetjmp(back, 1);
    if (seen == 0) {
        no_instruction();
    }
    assert_int_equal(seen, SIGILL);
    tiles_work();
}

/* Which is known by what its handler blocks. */
static void another_copy_of_the_emulator_is_left_there(void **unused) {
    struct sigaction now, copy;
    (void)unused;
    begin();
    if (opt_cpu_grants_amx()) {
        skip();
    }
    assert_int_equal(sigaction(SIGILL, NULL, &copy), 0);
    copy.sa_sigaction = skip_it;
    install(copy);
    assert_int_equal(sigaction(SIGILL, NULL, &now), 0);
    assert_true(now.sa_sigaction == skip_it);
    sigfillset(&copy.sa_mask); /* as another handler may have it */
    install(copy);
    assert_int_equal(sigaction(SIGILL, NULL, &now), 0);
    assert_true(now.sa_sigaction != skip_it);
}

/* ---- What ends the process ---- */

static void use_unconfigured(void) {
    _tile_release();
    tiles[0].zero();
}

static void configure_bytes(int at, int value) {
    struct config config = {0};
    unsigned char bytes[sizeof config];
    shape(&config, 0, 4, 4);
    memcpy(bytes, &config, sizeof config);
    bytes[at] = (unsigned char)value;
    memcpy(&config, bytes, sizeof config);
    configure(&config);
}

#define WITH_BYTE(name, at, value)                                                                 \
    static void name(void) {                                                                       \
        configure_bytes(at, value);                                                                \
    }
WITH_BYTE(palette_2, 0, 2)
WITH_BYTE(reserved_at_first, 15, 1)
WITH_BYTE(ninth_tile_bytes, 32, 1)
WITH_BYTE(ninth_tile_rows, 63, 1)
WITH_BYTE(row_of_65, 16, 65)
WITH_BYTE(seventeen_rows, 48, 17)
WITH_BYTE(no_rows, 48, 0)
WITH_BYTE(rows_alone, 55, 1)

static void tile_without_rows(void) {
    struct amx_tile to;
    configure_bytes(0, 1);
    tiles[1].store(&to, FULL_ROW);
}

static void product_of_shapes(int c_rows, int c_columns, int a_rows, int a_bytes, int b_rows,
                              int b_columns) {
    struct config config = {0};
    shape(&config, 0, c_rows, c_columns);
    shape(&config, 1, a_rows, 1);
    config.row_bytes[1] = (uint16_t)a_bytes;
    shape(&config, 3, b_rows, b_columns);
    configure(&config);
    tiles[0].dot[0]();
}

static void other_rows(void) {
    product_of_shapes(4, 5, 3, 24, 6, 5);
}

static void other_columns(void) {
    product_of_shapes(4, 5, 4, 24, 6, 4);
}

static void other_pairs(void) {
    product_of_shapes(4, 5, 4, 24, 5, 5);
}

static void half_a_pair(void) {
    product_of_shapes(4, 5, 4, 26, 6, 5);
}

/* tmm0 += tmm0 tmm1, tmm0 += tmm1 tmm0, tmm0 += tmm1 tmm1: an assembler refuses them. */
#define TWICE(name, third, operands)                                                               \
    static void name(void) {                                                                       \
        configure_full();                                                                          \
        __asm__ volatile(".byte 0xC4,0xE2," third ",0x5C," operands);                              \
    }
TWICE(first_is_sum, "0x72", "0xC0")
TWICE(second_is_sum, "0x7A", "0xC1")
TWICE(square, "0x72", "0xC1")

static const struct {
    void (*does)(void);
    const char *what;
} faults[] = {{use_unconfigured, "a tile is used before LDTILECFG"},
              {palette_2, "LDTILECFG: a palette"},
              {reserved_at_first, "LDTILECFG: a reserved byte"},
              {ninth_tile_bytes, "LDTILECFG: a reserved byte"},
              {ninth_tile_rows, "LDTILECFG: a reserved byte"},
              {row_of_65, "LDTILECFG: a tile of a shape"},
              {seventeen_rows, "LDTILECFG: a tile of a shape"},
              {no_rows, "LDTILECFG: a tile of a shape"},
              {rows_alone, "LDTILECFG: a tile of a shape"},
              {tile_without_rows, "LDTILECFG gave no rows"},
              {other_rows, "TDPBF16PS: shapes"},
              {other_columns, "TDPBF16PS: shapes"},
              {other_pairs, "TDPBF16PS: shapes"},
              {half_a_pair, "TDPBF16PS: shapes"},
              {first_is_sum, "TDPBF16PS: the same tile"},
              {second_is_sum, "TDPBF16PS: the same tile"},
              {square, "TDPBF16PS: the same tile"},
              {no_instruction, ""}};

/* In a process of its own, with the handlers that a program has at its start; says what it is ended
 * by. */
static int ended_by(void (*does)(void), char *said, size_t size) {
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int usual[] = {SIGILL, SIGSEGV, SIGABRT};
        for (int i = 0; i < 3; i++) {
            signal(usual[i], SIG_DFL);
        }
        dup2(ends[1], STDERR_FILENO);
        if (opt_cpu_grants_amx() || amx_emulate()) {
            does();
        }
        _exit(0);
    }
    close(ends[1]);
    memset(said, 0, size);
    for (size_t n = 0; n < size - 1;) {
        ssize_t more = read(ends[0], said + n, size - 1 - n);
        if (more <= 0) {
            break;
        }
        n += (size_t)more;
    }
    close(ends[0]);
    assert_true(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* On the unit it is the system that ends it, without a word. */
static void what_the_unit_refuses(void **unused) {
    char said[200];
    (void)unused;
    begin();
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        int emulated = !opt_cpu_grants_amx(), by = ended_by(faults[i].does, said, sizeof said);
        if (faults[i].does == no_instruction) {
            assert_int_equal(by, SIGILL);
        } else if (emulated) {
            assert_int_equal(by, SIGABRT);
            assert_non_null(strstr(said, faults[i].what));
        } else {
            assert_true(by == SIGILL || by == SIGSEGV);
        }
    }
}

static void the_library_is_told(void **unused) {
    (void)unused;
    assert_int_equal(cp_opt_has_amx(), cp_opt_has_avx512());
}

TARGET_END

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_instructions_are_handed_on),
        cmocka_unit_test(another_copy_of_the_emulator_is_left_there),
        cmocka_unit_test(what_the_unit_refuses),
        cmocka_unit_test(the_library_is_told),
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

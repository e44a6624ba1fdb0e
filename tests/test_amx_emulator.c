/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the other instructions of AMX (products: test_amx_dot.c): where they find their
 * operands, and what they leave unchanged. Either the machine's unit or the emulator executes
 * them. */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
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
#include <sys/mman.h>

#include "amx_tiles.h"
#include "random.h"

TARGET_BEGIN(
    "amx-tile,amx-bf16") /* AVX-512 only behind begin(), which looks whether there is any */

static void fill_bytes(void *to, size_t n, unsigned long long *random) {
    for (size_t i = 0; i < n; i++) {
        ((unsigned char *)to)[i] = (unsigned char)random_bits(random);
    }
}

/* ---- Loads and stores ---- */

enum { AREA = 2 * (int)sizeof(struct amx_tile) };

/* Rows of `from` in those of `to`. */
static void copy_rows(unsigned char *to, ptrdiff_t to_stride, const unsigned char *from,
                      ptrdiff_t from_stride, int rows, int words) {
    for (int i = 0; i < rows; i++) {
        memcpy(to + i * to_stride, from + i * from_stride, (size_t)words * 4);
    }
}

static void rows_of_every_shape_and_stride(void **unused) {
    static const ptrdiff_t strides[] = {FULL_ROW, 0, FULL_ROW + 3, -FULL_ROW, 2 * FULL_ROW, 4};
    unsigned long long random = 4;
    unsigned char from[2 * AREA], to[2 * AREA], right[2 * AREA];
    (void)unused;
    begin();
    for (int i = 0; i < 8 * 16 * 16; i++) {
        struct config config = {0};
        int n = i % 8, rows = i / 8 % 16 + 1, words = i / 8 / 16 % 16 + 1;
        ptrdiff_t in = strides[random_below(&random, 6)], out = strides[random_below(&random, 6)];
        shape(&config, n, rows, words);
        configure(&config);
        fill_bytes(from, sizeof from, &random);
        fill_bytes(to, sizeof to, &random);
        memcpy(right, to, sizeof to);
        unsigned char tile[AMX_ROWS * FULL_ROW];
        copy_rows(tile, FULL_ROW, from + AREA, in, rows, words);
        copy_rows(right + AREA, out, tile, FULL_ROW, rows, words);
        (i % 3 ? tiles[n].load : tiles[n].stream)(from + AREA, in);
        tiles[n].store(to + AREA, out);
        assert_memory_equal(to, right, sizeof to);
        tiles[n].zero();
        tiles[n].store(to, FULL_ROW);
        memset(tile, 0, sizeof tile);
        copy_rows(right, FULL_ROW, tile, FULL_ROW, rows, words);
        assert_memory_equal(to, right, sizeof to);
    }
    _tile_release();
}

/* Tile 3 to and from displacement + base + index * scale * row, in registers: which, and how far
 * away, makes different codes. What they hold is put aside: one of them is the stack's. */
#define PLACE(n, base, index, scale, displacement)                                                 \
    static void in_##n(const void *at, ptrdiff_t stride) {                                         \
        IN_REGISTERS("tileloadd " #displacement "(%%" #base ",%%" #index "," #scale "), %%tmm3",   \
                     base, index, at, displacement, stride / (scale));                             \
    }                                                                                              \
    static void out_##n(void *at, ptrdiff_t stride) {                                              \
        IN_REGISTERS("tilestored %%tmm3, " #displacement "(%%" #base ",%%" #index "," #scale ")",  \
                     base, index, at, displacement, stride / (scale));                             \
    }
#define IN_REGISTERS(instruction, base, index, at, displacement, of_index)                         \
    __asm__ volatile("movq %%" #base ", %%xmm0\n\tmovq %%" #index ", %%xmm1\n\t"                   \
                     "movq %0, %%" #base "\n\tmovq %1, %%" #index "\n\t" instruction "\n\t"        \
                     "movq %%xmm0, %%" #base "\n\tmovq %%xmm1, %%" #index                          \
                     :                                                                             \
                     : "x"(_mm_cvtsi64_si128((long long)(at) - (displacement))),                   \
                       "x"(_mm_cvtsi64_si128(of_index))                                            \
                     : "xmm0", "xmm1", "memory")

#define EACH_PLACE(DO)                                                                             \
    DO(0, rax, rcx, 1, 0)                                                                          \
    DO(1, rcx, rdx, 2, 64)                                                                         \
    DO(2, rdx, rbx, 4, -64)                                                                        \
    DO(3, rbx, rbp, 8, 4096)                                                                       \
    DO(4, rsp, rsi, 1, -128)                                                                       \
    DO(5, rbp, rdi, 2, 0)                                                                          \
    DO(6, rsi, r8, 4, 127)                                                                         \
    DO(7, rdi, r9, 8, 128)                                                                         \
    DO(8, r8, r10, 1, -129)                                                                        \
    DO(9, r9, r11, 2, 0x12340)                                                                     \
    DO(10, r10, r12, 4, 0)                                                                         \
    DO(11, r11, r13, 8, -0x123456)                                                                 \
    DO(12, r12, r14, 1, 8)                                                                         \
    DO(13, r13, r15, 2, 0)                                                                         \
    DO(14, r14, rax, 4, -1)                                                                        \
    DO(15, r15, rcx, 8, 1)                                                                         \
    DO(16, rsp, r12, 2, 0)                                                                         \
    DO(17, r12, rbp, 4, -1)
EACH_PLACE(PLACE)

/* No index: all rows are one. */
static void in_18(const void *at, ptrdiff_t stride) {
    (void)stride;
    __asm__ volatile("tileloadd (%0), %%tmm3" : : "r"(at) : "memory");
}

static void out_18(void *at, ptrdiff_t stride) {
    (void)stride;
    IN_REGISTERS("tilestored %%tmm3, 5(%%r12)", r12, rax, at, 5, 0);
}

/* No base; `at` is LOW. */
#define LOW              0x20000000
#define TEXT_OF(number)  TEXT_OF_(number)
#define TEXT_OF_(number) #number

static void in_19(const void *at, ptrdiff_t stride) {
    (void)at;
    __asm__ volatile("tileloadd " TEXT_OF(LOW) "(,%0,2), %%tmm3" : : "r"(stride / 2) : "memory");
}

static void out_19(void *at, ptrdiff_t stride) {
    (void)at;
    __asm__ volatile("tilestored %%tmm3, " TEXT_OF(LOW) "(,%0,2)" : : "r"(stride / 2) : "memory");
}

/* A place puts something else into the stack's register. Returns the stack that the handler had
 * before. */
static stack_t stack_for_handler(void) {
    static char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack}, before;
    assert_int_equal(sigaltstack(&own, &before), 0);
    return before;
}

#define IN_OUT(n, base, index, scale, displacement) {in_##n, out_##n},

static void addresses_of_every_form(void **unused) {
    static const struct {
        void (*in)(const void *, ptrdiff_t), (*out)(void *, ptrdiff_t);
    } places[] = {EACH_PLACE(IN_OUT){in_18, out_18}, {in_19, out_19}};
    enum { PLACES = sizeof places / sizeof places[0] };
    unsigned long long random = 5;
    unsigned char to[AREA], right[AREA], *low;
    (void)unused;
    begin();
    stack_t before = stack_for_handler();
    memcpy(&low, &(uintptr_t){LOW}, sizeof low);
    unsigned char *area = mmap(low, AREA, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_true(area == low);
    configure_full();
    for (size_t i = 0; i < PLACES; i++) {
        ptrdiff_t stride = i == 18 ? 0 : i % 2 ? 2 * FULL_ROW : FULL_ROW + 8;
        fill_bytes(area, AREA, &random);
        fill_bytes(to, AREA, &random);
        memcpy(right, to, AREA);
        copy_rows(right, FULL_ROW, area, stride, AMX_ROWS, AMX_WORDS);
        places[i].in(area, stride);
        tiles[3].store(to, FULL_ROW);
        assert_memory_equal(to, right, AREA);
        fill_bytes(to, AREA, &random);
        memcpy(right, area, AREA);
        copy_rows(right, stride, to, FULL_ROW, AMX_ROWS, AMX_WORDS);
        tiles[3].load(to, FULL_ROW);
        places[i].out(area, stride);
        assert_memory_equal(area, right, AREA);
    }
    _tile_release();
    sigaltstack(&before, NULL);
    munmap(area, AREA);
}

/* ---- The configuration ---- */

/* At displacement(base), and at displacement + base + index * scale, as IN_REGISTERS has it. */
#define CONFIG_PLACE(n, base, index, scale, displacement)                                          \
    static void config_in_##n(const void *at) {                                                    \
        IN_REGISTERS("ldtilecfg " #displacement "(%%" #base ")", base, index, at, displacement,    \
                     0);                                                                           \
    }                                                                                              \
    static void config_out_##n(void *at) {                                                         \
        IN_REGISTERS("sttilecfg " #displacement "(%%" #base ",%%" #index "," #scale ")", base,     \
                     index, (const char *)at - 72, displacement, 72 / (scale));                    \
    }                                                                                              \
    static void config_in_indexed_##n(const void *at) {                                            \
        IN_REGISTERS("ldtilecfg " #displacement "(%%" #base ",%%" #index "," #scale ")", base,     \
                     index, (const char *)at + 72, displacement, -72 / (scale));                   \
    }                                                                                              \
    static void config_out_plain_##n(void *at) {                                                   \
        IN_REGISTERS("sttilecfg " #displacement "(%%" #base ")", base, index, at, displacement,    \
                     0);                                                                           \
    }
EACH_PLACE(CONFIG_PLACE)

static struct config at_instruction; /* RIP-relative */

static void config_in_near(const void *at) {
    memcpy(&at_instruction, at, sizeof at_instruction);
    settle(&at_instruction);
    __asm__ volatile("ldtilecfg %0" : : "m"(at_instruction) : "memory");
}

static void config_out_near(void *at) {
    memset(&at_instruction, 0xFF, sizeof at_instruction);
    __asm__ volatile("sttilecfg %0" : "=m"(at_instruction) : : "memory");
    memcpy(at, &at_instruction, sizeof at_instruction);
}

#define CONFIG_IN_OUT(n, base, index, scale, displacement)                                         \
    {config_in_##n, config_out_##n}, {config_in_indexed_##n, config_out_plain_##n},

static struct config config_of_numbers(int n) {
    struct config config = {0};
    for (int i = 0; i < AMX_TILES; i++) {
        if ((i + n) % 5 != 0) {
            shape(&config, i, (3 * i + n) % AMX_ROWS + 1, 0);
            config.row_bytes[i] = (uint16_t)((7 * i + n) % FULL_ROW + 1);
        }
    }
    return config;
}

static void configurations_are_kept(void **unused) {
    static const struct {
        void (*in)(const void *), (*out)(void *);
    } places[] = {EACH_PLACE(CONFIG_IN_OUT){config_in_near, config_out_near}};
    struct config got, none = {0};
    (void)unused;
    begin();
    stack_t before = stack_for_handler();
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct config config = config_of_numbers((int)i);
        places[i].in(&config);
        memset(&got, 0xFF, sizeof got);
        settle(&got);
        places[i].out(&got);
        settle(&got);
        assert_memory_equal(&got, &config, sizeof got);
        if (i % 2) {
            _tile_release();
        } else {
            configure(&none);
        }
        got = config_now();
        assert_memory_equal(&got, &none, sizeof got);
    }
    sigaltstack(&before, NULL);
}

static void a_configuration_makes_tiles_zero(void **unused) {
    unsigned long long random = 6;
    struct amx_tile full, now, zero = {{{0}}};
    (void)unused;
    begin();
    for (int i = 0; i < AMX_TILES; i++) {
        fill_bytes(&full, sizeof full, &random);
        configure_full();
        tiles[i].load(&full, FULL_ROW);
        if (i % 2) {
            _tile_release();
        }
        configure_full();
        tiles[i].store(&now, FULL_ROW);
        assert_memory_equal(&now, &zero, sizeof now);
    }
    _tile_release();
}

/* ---- What is not touched ---- */

struct registers {
    unsigned char vector[32][64];
    uint64_t mask[8];
    uint64_t carry;
};

#define ALL_VECTORS                                                                                \
    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"

TARGET_BEGIN("avx2,avx512f,avx512bw,avx512vl")

/* All vectors and masks and the carry before a product, and after it. */
static void product_between(const struct registers *before, struct registers *after) {
    __asm__ volatile(".irp n," ALL_VECTORS "\n\tvmovdqu64 64*\\n(%0), %%zmm\\n\n\t.endr\n\t"
                     ".irp n,0,1,2,3,4,5,6,7\n\tkmovq 2048+8*\\n(%0), %%k\\n\n\t.endr\n\t"
                     "stc\n\ttdpbf16ps %%tmm2, %%tmm1, %%tmm0\n\tsetc 2112(%1)\n\t"
                     ".irp n," ALL_VECTORS "\n\tvmovdqu64 %%zmm\\n, 64*\\n(%1)\n\t.endr\n\t"
                     ".irp n,0,1,2,3,4,5,6,7\n\tkmovq %%k\\n, 2048+8*\\n(%1)\n\t.endr"
                     :
                     : "r"(before), "r"(after)
                     : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                       "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
                       "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",
                       "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1",
                       "k2", "k3", "k4", "k5", "k6", "k7");
}

TARGET_END

static void other_registers_are_left_alone(void **unused) {
    unsigned long long random = 7;
    struct registers registers, after;
    struct amx_tile tile;
    (void)unused;
    begin();
    configure_full();
    for (int i = 0; i < 100; i++) {
        fill_bytes(&tile, sizeof tile, &random);
        tiles[1].load(&tile, FULL_ROW);
        tiles[2].load(&tile, FULL_ROW);
        fill_bytes(&registers, sizeof registers, &random);
        registers.carry = 1;
        memset(&after, 0, sizeof after);
        product_between(&registers, &after);
        assert_memory_equal(&after, &registers, sizeof after);
    }
    _tile_release();
}

TARGET_END

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_shape_and_stride),
        cmocka_unit_test(addresses_of_every_form),
        cmocka_unit_test(configurations_are_kept),
        cmocka_unit_test(a_configuration_makes_tiles_zero),
        cmocka_unit_test(other_registers_are_left_alone),
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

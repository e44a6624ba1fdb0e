/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of AMX, for given tile numbers, for tests; x86-64. */
#ifndef CHUNKPROOF_TESTS_AMX_TILES_H
#define CHUNKPROOF_TESTS_AMX_TILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "amx_emulator.h"
#include "opt/cpu.h"
#include "opt/kernels.h"
#include "opt/target.h"

TARGET_BEGIN("amx-tile,amx-bf16")

#define FULL_ROW ((ptrdiff_t)sizeof(uint32_t) * AMX_WORDS) /* bytes */

/* Called in each test, because cmocka installs its own handler of SIGILL before each test. */
static inline void begin(void) {
    if (!cp_opt_has_avx512()) {
        skip();
    }
    assert_true(opt_cpu_grants_amx() || amx_emulate());
}

/* Memory that the pointer leads to is written before, and read after: the intrinsics do not say
 * so. */
static inline void settle(const void *memory) {
    __asm__ volatile("" : : "r"(memory) : "memory");
}

struct config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static inline void configure(const struct config *config) {
    settle(config);
    _tile_loadconfig(config);
}

static inline struct config config_now(void) {
    struct config config;
    memset(&config, 0xFF, sizeof config);
    settle(&config);
    _tile_storeconfig(&config);
    settle(&config);
    return config;
}

static inline void shape(struct config *config, int tile, int rows, int words) {
    config->palette = 1;
    config->rows[tile] = (uint8_t)rows;
    config->row_bytes[tile] = (uint16_t)(4 * words);
}

static inline void configure_full(void) {
    struct config config = {0};
    for (int i = 0; i < AMX_TILES; i++) {
        shape(&config, i, AMX_ROWS, AMX_WORDS);
    }
    configure(&config);
}

/* Of tile n; its products: the instruction names c, a, b. */
#define FUNCTIONS(n, next, last)                                                                   \
    static inline void load_##n(const void *from, ptrdiff_t stride) {                              \
        settle(from);                                                                              \
        _tile_loadd(n, from, stride);                                                              \
    }                                                                                              \
    static inline void stream_##n(const void *from, ptrdiff_t stride) {                            \
        settle(from);                                                                              \
        _tile_stream_loadd(n, from, stride);                                                       \
    }                                                                                              \
    static inline void store_##n(void *to, ptrdiff_t stride) {                                     \
        _tile_stored(n, to, stride);                                                               \
        settle(to);                                                                                \
    }                                                                                              \
    static inline void zero_##n(void) {                                                            \
        _tile_zero(n);                                                                             \
    }                                                                                              \
    static inline void dot_##n(void) {                                                             \
        _tile_dpbf16ps(n, next, last);                                                             \
    }                                                                                              \
    static inline void dot_back_##n(void) {                                                        \
        _tile_dpbf16ps(n, last, next);                                                             \
    }

/* A tile, and the two of its products. */
#define EACH_TILE(DO)                                                                              \
    DO(0, 1, 3)                                                                                    \
    DO(1, 2, 4)                                                                                    \
    DO(2, 3, 5)                                                                                    \
    DO(3, 4, 6)                                                                                    \
    DO(4, 5, 7)                                                                                    \
    DO(5, 6, 0)                                                                                    \
    DO(6, 7, 1)                                                                                    \
    DO(7, 0, 2)
EACH_TILE(FUNCTIONS)

#define ROW_OF(n, next, last)                                                                      \
    {load_##n, stream_##n, store_##n, zero_##n, {dot_##n, dot_back_##n}, {next, last}},
static const struct {
    void (*load)(const void *, ptrdiff_t), (*stream)(const void *, ptrdiff_t);
    void (*store)(void *, ptrdiff_t);
    void (*zero)(void);
    void (*dot[2])(void);
    int factor[2]; /* of dot[0]; of dot[1] the other way round */
} tiles[AMX_TILES] = {EACH_TILE(ROW_OF)};

TARGET_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* madvise, sysconf */

#include "cli/bench/limits.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "chunkproof/memory.h"
#include "chunkproof/opt.h"
#include "cli/bench/threads.h"

#define LINE 64 /* bytes of a cache line */

/* Ways to read: how many places of the memory are read at once, and how far ahead is prefetched
 * (0: not at all). */
static const struct way {
    int streams;
    size_t ahead;
    const char *words;
} ways[] = {
    {1, 0, "1 stream"},
    {1, 1024, "1 stream, prefetched 1024 bytes ahead"},
    {1, 4096, "1 stream, prefetched 4096 bytes ahead"},
    {4, 0, "4 streams"},
    {4, 1024, "4 streams, prefetched 1024 bytes ahead"},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

typedef float four __attribute__((vector_size(16)));
typedef unsigned long long two_words __attribute__((vector_size(16)));

struct bench_limits {
    char *memory;
    size_t bytes;
    int n_threads, version, way;
    long turns;       /* of the multiplying loop, for some milliseconds */
    volatile int sum; /* so that nothing is left out */
};

/* ---- Memory ---- */

void *bench_memory_new(size_t bytes) {
    void *address = cp_memory_new(bytes, CP_ON_DEMAND);
#ifdef MADV_HUGEPAGE
    if (address != NULL) {
        (void)madvise(address, bytes, MADV_HUGEPAGE); /* it does without */
    }
#endif
    return address;
}

void bench_memory_free(void *address, size_t bytes) {
    cp_memory_free(address, bytes);
}

size_t bench_limits_bytes(void) {
    const size_t least = (size_t)64 << 20, most = (size_t)512 << 20;
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size_t bytes = cache > 0 ? 4 * (size_t)cache : 0;
    return bytes < least ? least : bytes > most ? most : bytes;
}

/* ---- Reading ---- */

static inline __attribute__((always_inline)) two_words read_lines(const char *from, size_t bytes,
                                                                  int streams, size_t ahead) {
    two_words sum = {0, 0};
    size_t part = bytes / (size_t)streams / LINE * LINE;
    for (size_t x = 0; x < part; x += LINE) {
        for (int s = 0; s < streams; s++) {
            const char *line = from + (size_t)s * part + x;
            if (ahead > 0) {
                __builtin_prefetch(line + ahead, 0, 1);
            }
            for (size_t y = 0; y < LINE; y += sizeof sum) {
                two_words word;
                memcpy(&word, line + y, sizeof word);
                sum ^= word;
            }
        }
    }
    return sum;
}

static two_words read_as(int way, const char *from, size_t bytes) {
    switch (way) { /* constants: a loop of its own for each */
    case 0:
        return read_lines(from, bytes, 1, 0);
    case 1:
        return read_lines(from, bytes, 1, 1024);
    case 2:
        return read_lines(from, bytes, 1, 4096);
    case 3:
        return read_lines(from, bytes, 4, 0);
    default:
        return read_lines(from, bytes, 4, 1024);
    }
}

static size_t part_of(const struct bench_limits *limits) {
    const size_t step = (size_t)4 * LINE;
    return limits->bytes / (size_t)limits->n_threads / step * step;
}

static void read_part(void *context, int number) {
    struct bench_limits *limits = context;
    size_t part = part_of(limits);
    two_words sum = read_as(limits->way, limits->memory + (size_t)number * part, part);
    if (sum[0] == 1 && sum[1] == 2) { /* hardly ever */
        limits->sum = 1;
    }
}

/* The rate of `work` in all, and how much of their time the threads had a processor. */
static struct bench_probe probe_of(const struct bench_limits *limits, const struct bench_time *time,
                                   double work) {
    double share = time->cpu / (time->wall * limits->n_threads);
    return (struct bench_probe){work / time->wall, work / time->cpu, share < 1.0 ? share : 1.0};
}

int bench_limits_read(struct bench_limits *limits, struct bench_probe *probe) {
    struct bench_time time;
    if (bench_threads_run(limits->n_threads, read_part, limits, &time) != 0) {
        return -1;
    }
    *probe = probe_of(limits, &time, (double)part_of(limits) * limits->n_threads);
    return 0;
}

/* ---- Multiplying: independent sums, more than the latency of the units needs ---- */

#define SUMS         12 /* with factor and term in 16 registers */
#define EACH_SUM(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

#define FACTOR 0.999F
#define TERM   0.001F

static float multiply_portable(long turns) {
    four factor = {FACTOR, FACTOR, FACTOR, FACTOR}, term = {TERM, TERM, TERM, TERM};
#define BEGIN(i) four s##i = factor * (float)(i);
#define STEP(i)  s##i = s##i * factor + term;
#define ADD(i)   sum += s##i;
    EACH_SUM(BEGIN)
    for (long t = 0; t < turns; t++) {
        EACH_SUM(STEP)
        __asm__ volatile("" ::: "memory");
    }
    four sum = term;
    EACH_SUM(ADD)
#undef BEGIN
#undef STEP
    return sum[0] + sum[1] + sum[2] + sum[3];
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static float multiply_avx2(long turns) {
    __m256 factor = _mm256_set1_ps(FACTOR), term = _mm256_set1_ps(TERM);
    float lane[8];
#define BEGIN(i) __m256 s##i = _mm256_set1_ps((float)(i));
#define STEP(i)  s##i = _mm256_fmadd_ps(s##i, factor, term);
    EACH_SUM(BEGIN)
    for (long t = 0; t < turns; t++) {
        EACH_SUM(STEP)
        __asm__ volatile("" ::: "memory");
    }
    __m256 sum = term;
    EACH_SUM(ADD)
    _mm256_storeu_ps(lane, sum);
#undef BEGIN
#undef STEP
    return lane[0] + lane[7];
}

__attribute__((target("avx512f"))) static float multiply_avx512(long turns) {
    __m512 factor = _mm512_set1_ps(FACTOR), term = _mm512_set1_ps(TERM);
    float lane[16];
#define BEGIN(i) __m512 s##i = _mm512_set1_ps((float)(i));
#define STEP(i)  s##i = _mm512_fmadd_ps(s##i, factor, term);
    EACH_SUM(BEGIN)
    for (long t = 0; t < turns; t++) {
        EACH_SUM(STEP)
        __asm__ volatile("" ::: "memory");
    }
    __m512 sum = term;
    EACH_SUM(ADD)
    _mm512_storeu_ps(lane, sum);
#undef BEGIN
#undef STEP
    return lane[0] + lane[15];
}

/* Four products of squares of bfloat16 in a turn; numbers of TERM, whose halves are some of
 * bfloat16. */
__attribute__((target("amx-tile,amx-bf16"))) static float multiply_amx(long turns) {
    static const struct {
        uint8_t palette, start_row, none[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } layout = {.palette = 1,
                .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    float square[256];
    for (int i = 0; i < 256; i++) {
        square[i] = TERM;
    }
    __asm__ volatile("" ::: "memory");
    _tile_loadconfig(&layout);
    _tile_loadd(4, square, 64);
    _tile_loadd(5, square, 64);
    _tile_loadd(6, square, 64);
    _tile_loadd(7, square, 64);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (long t = 0; t < turns; t++) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, square, 64);
    _tile_release();
    __asm__ volatile("" ::: "memory");
    return square[0];
}
#endif

static int has_512_bits(int version) {
    return version == CP_OPT_AVX512 || version == CP_OPT_AVX512_BF16;
}

/* Multiplications and additions of a turn. With AMX: of binary16, of which each takes four products
 * of bfloat16 for scores and six for values (opt/amx.c), five on average. */
static double operations_of(int version) {
    return version == CP_OPT_AMX    ? 4.0 * 2.0 * 16 * 16 * 32 / 5.0
           : has_512_bits(version)  ? 2.0 * SUMS * 16
           : version == CP_OPT_AVX2 ? 2.0 * SUMS * 8
                                    : 2.0 * SUMS * 4;
}

static void multiply(void *context, int number) {
    struct bench_limits *limits = context;
    float sum;
    (void)number;
#if defined(__x86_64__)
    if (limits->version == CP_OPT_AMX) {
        sum = multiply_amx(limits->turns);
    } else if (has_512_bits(limits->version)) {
        sum = multiply_avx512(limits->turns);
    } else if (limits->version == CP_OPT_AVX2) {
        sum = multiply_avx2(limits->turns);
    } else
#endif
    {
        sum = multiply_portable(limits->turns);
    }
    if (sum == 1.0F) {
        limits->sum = 1;
    }
}

int bench_limits_multiply(struct bench_limits *limits, struct bench_probe *probe) {
    struct bench_time time;
    double operations = operations_of(limits->version) * (double)limits->turns;
    if (bench_threads_run(limits->n_threads, multiply, limits, &time) != 0) {
        return -1;
    }
    *probe = probe_of(limits, &time, operations * limits->n_threads);
    return 0;
}

/* ---- The whole ---- */

/* Turns that take about 5 ms of work: by the clock, others may have worked. */
static int choose_turns(struct bench_limits *limits) {
    struct bench_time time;
    for (limits->turns = 1000; limits->turns < 1L << 40; limits->turns *= 2) {
        if (bench_threads_run(limits->n_threads, multiply, limits, &time) != 0) {
            return -1;
        }
        if (time.cpu >= 5e-3 * limits->n_threads) {
            return 0;
        }
    }
    return 0;
}

static int choose_way(struct bench_limits *limits) {
    double best = 0.0;
    int chosen = 0;
    for (int round = 0; round < 3; round++) {
        for (limits->way = 0; limits->way < WAYS; limits->way++) {
            struct bench_probe probe;
            if (bench_limits_read(limits, &probe) != 0) {
                return -1;
            }
            chosen = probe.rate > best ? limits->way : chosen;
            best = probe.rate > best ? probe.rate : best;
        }
    }
    limits->way = chosen;
    return 0;
}

int bench_limits_new(struct bench_limits **limits, int n_threads, int version, size_t bytes) {
    struct bench_limits *made = calloc(1, sizeof *made);
    *limits = NULL;
    if (made == NULL) {
        return -1;
    }
    *made = (struct bench_limits){.memory = bench_memory_new(bytes),
                                  .bytes = bytes,
                                  .n_threads = n_threads,
                                  .version = version};
    if (made->memory == NULL) {
        bench_limits_free(made);
        return -1;
    }
    memset(made->memory, 1, bytes); /* pages that were never written are all the same one */
    if (choose_turns(made) != 0 || choose_way(made) != 0) {
        bench_limits_free(made);
        return -1;
    }
    *limits = made;
    return 0;
}

void bench_limits_free(struct bench_limits *limits) {
    if (limits != NULL) {
        bench_memory_free(limits->memory, limits->bytes);
        free(limits);
    }
}

const char *bench_limits_way(const struct bench_limits *limits) {
    return ways[limits->way].words;
}

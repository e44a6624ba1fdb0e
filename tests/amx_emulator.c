/* SPDX-License-Identifier: Apache-2.0 */
/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: the instructions; chapter
 * 2.3 how VEX is laid out. In a handler of signals: no allocation, no output but by write(). */
#define _GNU_SOURCE /* REG_RIP, SIGSTKFLT */
#include "amx_emulator.h"

#include "opt/kernels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "opt/cpu.h"
#include "opt/target.h"

/* ---- The product ---- */

#define MXCSR_NEAREST_NO_SUBNORMAL 0x9FC0U /* FTZ, DAZ, to nearest even, no exception is taken */

/* The barriers: no arithmetic moves over a change of MXCSR, since its operands come from memory and
 * its results go there. Not inlined, so that they cannot be proved to lie elsewhere. */
static void set_mxcsr(uint32_t to) {
    __asm__ volatile("ldmxcsr %0" : : "m"(to) : "memory");
}

static uint32_t get_mxcsr(void) {
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr) : : "memory");
    return mxcsr;
}

TARGET_BEGIN("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")

static inline __m512 first_of_pairs(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
}

static inline __m512 second_of_pairs(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32((int)0xFFFF0000U)));
}

/* A row of c: c is added last. */
static inline void dot_row(uint32_t *c, const uint32_t *a, const struct amx_tile *b, int pairs,
                           __mmask16 columns) {
    __m512 first = _mm512_setzero_ps(), second = _mm512_setzero_ps();
    for (int k = 0; k < pairs; k++) {
        __m512i left = _mm512_set1_epi32((int)a[k]), right = _mm512_load_si512(b->word[k]);
        first = _mm512_fmadd_ps(first_of_pairs(left), first_of_pairs(right), first);
        second = _mm512_fmadd_ps(second_of_pairs(left), second_of_pairs(right), second);
    }
    __m512 sum = _mm512_castsi512_ps(_mm512_load_si512(c));
    sum = _mm512_add_ps(sum, _mm512_add_ps(first, second));
    _mm512_store_si512(c, _mm512_maskz_mov_epi32(columns, _mm512_castps_si512(sum)));
}

__attribute__((noinline)) void amx_dot(struct amx_tile *c, const struct amx_tile *a,
                                       const struct amx_tile *b, int rows, int pairs, int columns) {
    uint32_t mxcsr = get_mxcsr();
    set_mxcsr(MXCSR_NEAREST_NO_SUBNORMAL);
    for (int m = 0; m < rows; m++) {
        dot_row(c->word[m], a->word[m], b, pairs, (__mmask16)((1U << columns) - 1));
    }
    set_mxcsr(mxcsr);
    memset(c->word[rows], 0, (size_t)(AMX_ROWS - rows) * sizeof c->word[0]);
}

TARGET_END

/* ---- What a thread has ---- */

#define MOST_THREADS 1024 /* between their first instruction and TILERELEASE, at one time */

/* As in memory, 64 bytes; palette 0: no tiles. */
struct config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[AMX_TILES], more_row_bytes[8];
    uint8_t rows[AMX_TILES], more_rows[8];
};

_Static_assert(sizeof(struct config) == 64, "LDTILECFG reads 64 bytes");

struct state {
    struct amx_tile tile[AMX_TILES];
    struct config config;
};

/* Not a _Thread_local state: an object that is opened with dlopen() gets only a few bytes of a
 * thread's memory in a way that never allocates. */
static struct state states[MOST_THREADS];
static atomic_int taken[MOST_THREADS];
static _Thread_local struct state *state_of_thread __attribute__((tls_model("initial-exec")));

static void complain(const char *what) {
    ssize_t written = write(STDERR_FILENO, what, strlen(what));
    (void)written;
}

static _Noreturn void fail(const char *what) {
    complain("AMX: ");
    complain(what);
    complain("\n");
    abort();
}

static struct state *state(void) {
    for (int i = 0; state_of_thread == NULL && i < MOST_THREADS; i++) {
        if (atomic_exchange(&taken[i], 1) == 0) {
            state_of_thread = &states[i];
        }
    }
    if (state_of_thread == NULL) {
        fail("too many threads use it: raise MOST_THREADS of the emulator");
    }
    return state_of_thread;
}

/* TILERELEASE. A thread that ends without it keeps its state. */
static void release(struct state *s) {
    memset(s, 0, sizeof *s);
    atomic_store(&taken[s - states], 0);
    state_of_thread = NULL;
}

/* ---- The instructions ---- */

/* An instruction with VEX.128 of map 0F38, W0: all that AMX has. */
struct instruction {
    int opcode, prefix;       /* VEX.pp */
    int mode, reg, rm, third; /* of ModRM; VEX.vvvv. A register's fourth bit too */
    int has_sib, n_bytes;     /* n_bytes: altogether */
    unsigned char *address;   /* where mode is not 3 */
    ptrdiff_t stride;         /* of TILELOADD and TILESTORED */
};

enum { NO_PREFIX, PREFIX_66, PREFIX_F3, PREFIX_F2 };

static int all_zero(const void *bytes, size_t n) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < n; i++) {
        if (byte[i] != 0) {
            return 0;
        }
    }
    return 1;
}

static void load_config(struct state *s, const void *from) {
    struct config c;
    memcpy(&c, from, sizeof c);
    if (c.palette > 1) {
        fail("LDTILECFG: a palette other than 0 and 1");
    }
    memset(s, 0, sizeof *s);
    if (c.palette == 0) {
        return;
    }
    if (!all_zero(c.reserved, sizeof c.reserved) ||
        !all_zero(c.more_row_bytes, sizeof c.more_row_bytes) ||
        !all_zero(c.more_rows, sizeof c.more_rows)) {
        fail("LDTILECFG: a reserved byte is not 0");
    }
    if (c.start_row != 0) {
        fail("LDTILECFG: a row to start at, which is not emulated");
    }
    for (int i = 0; i < AMX_TILES; i++) {
        if (c.row_bytes[i] > 4 * AMX_WORDS || c.rows[i] > AMX_ROWS ||
            (c.row_bytes[i] == 0) != (c.rows[i] == 0)) {
            fail("LDTILECFG: a tile of a shape that there is not");
        }
    }
    s->config = c;
}

static void must_be_configured(const struct state *s, int tile) {
    if (s->config.palette == 0) {
        fail("a tile is used before LDTILECFG, or after TILERELEASE");
    }
    if (s->config.rows[tile] == 0) {
        fail("a tile is used that LDTILECFG gave no rows");
    }
}

/* What is outside of a tile's shape is 0 since LDTILECFG. */
static void load_tile(struct state *s, const struct instruction *i) {
    struct amx_tile *tile = &s->tile[i->reg];
    must_be_configured(s, i->reg);
    for (int row = 0; row < s->config.rows[i->reg]; row++) {
        memcpy(tile->word[row], i->address + row * i->stride, s->config.row_bytes[i->reg]);
    }
}

static void store_tile(const struct state *s, const struct instruction *i) {
    const struct amx_tile *tile = &s->tile[i->reg];
    must_be_configured(s, i->reg);
    for (int row = 0; row < s->config.rows[i->reg]; row++) {
        memcpy(i->address + row * i->stride, tile->word[row], s->config.row_bytes[i->reg]);
    }
}

static void dot(struct state *s, const struct instruction *i) {
    int c = i->reg, a = i->rm, b = i->third;
    const uint16_t *bytes = s->config.row_bytes;
    const uint8_t *rows = s->config.rows;
    if (c == a || c == b || a == b) {
        fail("TDPBF16PS: the same tile twice");
    }
    must_be_configured(s, c);
    must_be_configured(s, a);
    must_be_configured(s, b);
    if (bytes[c] % 4 != 0 || bytes[a] % 4 != 0 || bytes[b] % 4 != 0 || rows[c] != rows[a] ||
        bytes[c] != bytes[b] || bytes[a] / 4 != rows[b]) {
        fail("TDPBF16PS: shapes that do not fit each other");
    }
    amx_dot(&s->tile[c], &s->tile[a], &s->tile[b], rows[c], bytes[a] / 4, bytes[c] / 4);
}

/* Opcode 49: what concerns the configuration, and TILEZERO. Returns 0 when it is no instruction. */
static int configure(struct state *s, const struct instruction *i) {
    int in_memory = i->mode != 3 && i->reg == 0;
    if (i->prefix == NO_PREFIX && in_memory) {
        load_config(s, i->address);
    } else if (i->prefix == PREFIX_66 && in_memory) {
        memcpy(i->address, &s->config, sizeof s->config);
    } else if (i->prefix == NO_PREFIX && i->mode == 3 && i->reg == 0 && i->rm == 0) {
        release(s);
    } else if (i->prefix == PREFIX_F2 && i->mode == 3 && i->rm == 0 && i->reg < AMX_TILES) {
        must_be_configured(s, i->reg);
        memset(&s->tile[i->reg], 0, sizeof s->tile[0]);
    } else {
        return 0;
    }
    return 1;
}

/* Opcode 4B: TILELOADD, TILELOADDT1, TILESTORED. */
static int move(struct state *s, const struct instruction *i) {
    if (!i->has_sib || i->reg >= AMX_TILES || i->prefix == NO_PREFIX) {
        return 0;
    }
    if (i->prefix == PREFIX_F3) {
        store_tile(s, i);
    } else {
        load_tile(s, i);
    }
    return 1;
}

static int is_known(const struct instruction *i) {
    return i->opcode == 0x49 || i->opcode == 0x4B || i->opcode == 0x5C;
}

/* Returns 0 when it is no instruction of those above. */
static int execute(struct state *s, const struct instruction *i) {
    if (i->opcode == 0x5C && i->prefix == PREFIX_F3 && i->mode == 3 && i->reg < AMX_TILES &&
        i->rm < AMX_TILES && i->third < AMX_TILES) {
        dot(s, i);
        return 1;
    }
    if (i->third != 0) {
        return 0;
    }
    return i->opcode == 0x49 ? configure(s, i) : i->opcode == 0x4B && move(s, i);
}

/* ---- From bytes ---- */

static long long register_of(const greg_t *registers, int number) {
    static const int place[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};
    return registers[place[number]];
}

static long long signed_of(const unsigned char *bytes, int n) {
    int8_t one;
    int32_t four = 0;
    memcpy(&one, bytes, sizeof one);
    if (n == 4) {
        memcpy(&four, bytes, sizeof four);
    }
    return n == 4 ? four : n == 1 ? one : 0;
}

/* The operand in memory; code: the byte behind ModRM. x, b: VEX.X and VEX.B, 8 or 0. */
static void decode_address(struct instruction *i, const unsigned char *start,
                           const unsigned char *code, const greg_t *registers, int x, int b) {
    int base = i->rm & 7, index = 4, scale = 0, size = i->mode == 1 ? 1 : i->mode == 2 ? 4 : 0;
    unsigned long long at = 0; /* wraps around, as addresses do */
    i->has_sib = base == 4;
    if (i->has_sib) {
        base = *code & 7;
        index = (*code >> 3 & 7) + x;
        scale = *code++ >> 6;
    }
    if (i->mode == 0 && base == 5) { /* a displacement alone, or one from the next instruction on */
        size = 4;
        i->n_bytes = (int)(code + size - start);
        at = i->has_sib ? 0 : (unsigned long long)registers[REG_RIP] + (unsigned)i->n_bytes;
    } else {
        i->n_bytes = (int)(code + size - start);
        at = (unsigned long long)register_of(registers, base + b);
    }
    at += (unsigned long long)signed_of(code, size);
    if (index != 4) {
        i->stride = (ptrdiff_t)((unsigned long long)register_of(registers, index) << scale);
    }
    if (i->opcode == 0x49) { /* no rows there: the index is a part of the address */
        at += (unsigned long long)i->stride;
    }
    memcpy(&i->address, &at, sizeof at);
}

/* Returns 0 when it is no instruction with such a VEX. No byte is read that the bytes before it do
 * not ask for. */
static int decode(struct instruction *i, const unsigned char *code, const greg_t *registers) {
    enum { THREE_BYTE_VEX = 0xC4, MAP_0F38 = 2, W_AND_L = 0x84 };
    if (code[0] != THREE_BYTE_VEX || (code[1] & 0x1F) != MAP_0F38 || (code[2] & W_AND_L) != 0) {
        return 0;
    }
    int inverted = ~code[1], b = (inverted >> 5 & 1) * 8;
    *i = (struct instruction){.opcode = code[3],
                              .prefix = code[2] & 3,
                              .third = ~code[2] >> 3 & 0xF,
                              .mode = code[4] >> 6,
                              .reg = (code[4] >> 3 & 7) + (inverted >> 7 & 1) * 8,
                              .rm = (code[4] & 7) + b,
                              .n_bytes = 5};
    if (i->mode != 3) {
        decode_address(i, code, code + 5, registers, (inverted >> 6 & 1) * 8, b);
    }
    return 1;
}

static int step(greg_t *registers) {
    struct instruction i;
    const unsigned char *code;
    memcpy(&code, &registers[REG_RIP], sizeof code);
    if (!decode(&i, code, registers) || !is_known(&i) || !execute(state(), &i)) {
        return 0;
    }
    registers[REG_RIP] += i.n_bytes;
    return 1;
}

/* ---- The handler ---- */

static struct sigaction before;
static atomic_flag installing = ATOMIC_FLAG_INIT;

/* To whom it was for. */
static void hand_on(int number, siginfo_t *info, void *context) {
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else { /* it strikes again: a process does not ignore it */
        sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    }
}

/* What follows at once is done at once: a signal takes longer than most instructions. */
static void on_signal(int number, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (!step(registers)) {
        hand_on(number, info, context);
        return;
    }
    while (step(registers)) {
    }
}

/* Copies of this file in several objects of a process know each other's handlers by what these
 * block: a signal that nothing sends, and not one that whoever blocks all signals would block. The
 * first one does the work. */
static int is_emulator(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 && sigismember(&action->sa_mask, SIGSTKFLT) == 1 &&
           sigismember(&action->sa_mask, SIGTERM) == 0;
}

int amx_emulate(void) {
    if (!cp_opt_has_avx512()) {
        return 0;
    }
    struct sigaction now,
        action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGSTKFLT);
    while (atomic_flag_test_and_set(&installing)) {
    }
    int done = sigaction(SIGILL, NULL, &now) == 0;
    if (done && !is_emulator(&now)) {
        before = now;
        done = sigaction(SIGILL, &action, NULL) == 0;
    }
    atomic_flag_clear(&installing);
    return done;
}

int cp_opt_has_amx(void) {
    return cp_opt_has_avx512() && (opt_cpu_grants_amx() || amx_emulate());
}

#else

int amx_emulate(void) {
    return 0;
}

int cp_opt_has_amx(void) {
    return 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that a result must not depend on: what was in the workspace and in the results before, what
 * lies where no key is, where arrays begin. The case is run again with one of these changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/case/cache.h"
#include "gate/case/pages.h"
#include "gate/case/strides.h"
#include "gate/case/values.h"
#include "gate/case/widths.h"
#include "gate/explain/explain.h"
#include "gate/judge/conventions.h"

#define PROBES           48 /* places where no key is that are looked at, */
#define SIMULATED_PROBES 12 /* and on the executor of CUDA kernels */
#define MOST_CHUNKS      3  /* that are named */
#define AGAIN            8  /* runs with nothing changed, */
#define IN_TURN          3  /* and with one thing changed and without it, in turn */

/* ---- The same case, again and again ---- */

struct bench {
    FILE *file;
    struct runner *runner;
    struct gate_problem p;
    struct gate_arrays a;
    unsigned char *first, *now; /* bytes of out and of lse, one behind the other */
    unsigned char *differs;     /* rows and heads, in the last run; */
    unsigned char *changed;     /* and by the last place that is read */
    int left;                   /* probes */
};

static void bench_free(struct bench *b) {
    free(b->first);
    gate_arrays_free(&b->a);
    gate_problem_free(&b->p);
}

/* 0, or -1: no memory, or the kernel does not take it; then there is nothing to free. */
static int bench_new(struct bench *b, const struct explain *x, enum gate_padding padding) {
    struct gate_recipe recipe = *x->recipe;
    struct run_report report;
    char reason[RUN_TEXT];
    recipe.padding = padding;
    *b = (struct bench){.file = x->file, .runner = x->runner};
    b->left = runner_is_simulated(x->runner) ? SIMULATED_PROBES : PROBES;
    if (gate_problem_new(&b->p, &recipe, x->kernel) != 0) {
        return -1;
    }
    gate_values_fill(&b->p);
    if (gate_arrays_new(&b->a, &b->p) != 0) {
        gate_problem_free(&b->p);
        return -1;
    }
    struct run_call *run = &b->a.run;
    size_t results = run->bytes[RUN_OUT] + run->bytes[RUN_LSE];
    size_t pairs = (size_t)b->p.n_rows * (size_t)b->p.recipe.n_heads;
    b->first = malloc(2 * (results + pairs) + 1);
    if (b->first == NULL ||
        runner_ask(b->runner, &run->call, reason, &run->bytes[RUN_WORKSPACE], &report) != 0 ||
        reason[0] != '\0') {
        bench_free(b);
        return -1;
    }
    b->now = b->first + results;
    b->differs = b->now + results;
    b->changed = b->differs + pairs;
    run->call.workspace_size = run->bytes[RUN_WORKSPACE];
    return 0;
}

/* What a run is given beside the case. Bytes `begin` to `end` - 1 of the workspace are `poison` ^
 * `other` where they are in it. */
struct setting {
    int at_end;
    unsigned char poison, other;
    size_t begin, end;
};

static const struct setting usual = {.at_end = 1, .poison = 0xFF};

/* 0: the results are in `results`; -1: it did not come to its end. */
static int bench_run(struct bench *b, const struct setting *s, unsigned char *results) {
    struct run_call *run = &b->a.run;
    struct run_report report;
    size_t all = run->bytes[RUN_WORKSPACE];
    run->at_end = s->at_end;
    run->poison = s->poison;
    run->other_workspace = s->other;
    run->other_begin = s->begin;
    run->other_end = s->end < all ? s->end : all;
    if (runner_run(b->runner, run, &report) != 0 || report.outcome != RUN_DONE) {
        return -1;
    }
    gate_conventions_blank(&b->p, runner_kernel(b->runner), &b->a);
    memcpy(results, b->a.memory[RUN_OUT], run->bytes[RUN_OUT]);
    memcpy(results + run->bytes[RUN_OUT], b->a.memory[RUN_LSE], run->bytes[RUN_LSE]);
    return 0;
}

/* 1: n numbers of this type, from number `at` of an array on, are other than at first. */
static int differs_in(const struct bench *b, size_t array, int type, long long at, int n) {
    size_t size = cp_number_size(type), begin = array + (size_t)at * size;
    return memcmp(b->first + begin, b->now + begin, (size_t)n * size) != 0;
}

/* How many rows and heads are other than at first, with this setting. */
static int differing(struct bench *b, const struct setting *s) {
    const struct cp_kernel_call *c = &b->a.run.call;
    size_t out = b->a.run.bytes[RUN_OUT], lse = b->a.run.bytes[RUN_LSE];
    int n = 0;
    if (bench_run(b, s, b->now) != 0) {
        return 0;
    }
    for (int pair = 0; pair < c->n_rows * c->n_heads; pair++) {
        long long row = pair / c->n_heads, head = pair % c->n_heads;
        b->differs[pair] =
            differs_in(b, 0, b->p.out_type, row * c->out_row + head * c->out_head, c->value_dim) ||
            (lse > 0 &&
             differs_in(b, out, b->p.lse_type, row * c->lse_row + head * c->lse_head, 1));
        n += b->differs[pair];
    }
    return n;
}

/* ---- Two runs of the same call ---- */

/* 1: with this setting it differs each time, and without it never. An order of threads that changes
 * by itself is no setting's doing. */
static int always_depends_on(struct bench *b, const struct setting *s) {
    for (int i = 0; i < IN_TURN; i++) {
        if (differing(b, s) == 0 || differing(b, &usual) > 0) {
            return 0;
        }
    }
    return 1;
}

/* Moves an end of the setting's bytes between two places; with the higher one it `differs`, or with
 * the lower one. Returns the last place before that changes. */
static size_t last_before(struct bench *b, const struct setting *s, size_t *end, size_t low,
                          size_t high, int differs) {
    while (high - low > 1) {
        *end = low + (high - low) / 2;
        *((differing(b, s) > 0) == differs ? &high : &low) = *end;
    }
    return low;
}

/* Which bytes of the workspace matter: NaNs are put among numbers there. */
static void print_bytes(struct bench *b) {
    const struct setting numbers = {.at_end = 1, .poison = 0x3F};
    size_t n = b->a.run.bytes[RUN_WORKSPACE];
    struct setting s = {.at_end = 1, .poison = 0x3F, .other = 0xFF ^ 0x3F, .end = n};
    if (bench_run(b, &numbers, b->first) != 0 || differing(b, &s) == 0) {
        return; /* none by itself */
    }
    size_t first = last_before(b, &s, &s.end, 0, n, 1);
    s.end = n;
    size_t last = last_before(b, &s, &s.begin, first, n, 0);
    fprintf(b->file,
            "  NaNs there show which: of its %zu bytes the first that matters is %zu, the last "
            "%zu; as numbers of 4 bytes, %zu to %zu of %zu\n",
            n, first, last, first / 4, last / 4, n / 4);
}

/* What may make the difference, and is tried in this order. */
static const struct cause {
    struct setting setting;
    const char *words;
} causes[] = {
    {{.at_end = 1, .poison = 0xFF, .other = 0x5A, .end = SIZE_MAX},
     "it depends on the bytes that were in the workspace before: what is read there was not "
     "written by this call"},
    {{.at_end = 1, .poison = 0xA5, .other = 0xA5 ^ 0xFF, .end = SIZE_MAX},
     "it depends on the bytes that were in out or lse before: they are read, or not written"},
    {{.at_end = 0, .poison = 0xFF}, "it depends on where the arrays begin"},
};

static void print_cause(struct bench *b) {
    int differs = 0;
    if (bench_run(b, &usual, b->first) != 0) {
        return;
    }
    for (int i = 0; i < AGAIN && !differs; i++) {
        differs = differing(b, &usual) > 0;
    }
    for (size_t i = 0; i < sizeof causes / sizeof causes[0] && !differs; i++) {
        if (always_depends_on(b, &causes[i].setting)) {
            fprintf(b->file, "  %s (GATE-4)\n", causes[i].words);
            if (i == 0) {
                print_bytes(b);
            }
            return;
        }
    }
    fputs(
        differs || differing(b, &usual) > 0
            ? "  it differs from run to run with all else the same: an order of threads, as of a "
              "sum by atomics, or something kept from call to call (GATE-4)\n"
            : "  run again with one thing changed at a time, it gave the same bits: it takes more "
              "than that (GATE-4)\n",
        b->file);
}

/* Zeros of both signs differ; NaNs do not. */
static int is_different(const struct explain_results *r, int i) {
    double a = r->got[i], b = r->again[i];
    return isnan(a) ? !isnan(b) : a != b || signbit(a) != signbit(b);
}

static void say_different(struct explain *x, const struct explain_results *r,
                          const unsigned char *picked, int n) {
    int first = 0;
    while (!picked[first]) {
        first++;
    }
    if (n > 0) {
        fprintf(x->file, "    %d of %d elements differ between two runs, ", n, r->d);
        explain_print_elements(x->file, picked, r->d);
        fprintf(x->file, "; element %d", first);
    } else {
        fputs("    lse", x->file);
    }
    fprintf(x->file, " is %.9g and %.9g\n", gate_plain(r->got[first]), gate_plain(r->again[first]));
}

void explain_other_bits(struct explain *x) {
    struct bench b;
    fputs("\n", x->file);
    int pairs = explain_show(x, is_different, say_different);
    fprintf(x->file, "  two runs differ in %d of %d rows and heads\n", pairs, x->run[0].pairs);
    if (bench_new(&b, x, x->recipe->padding) == 0) {
        print_cause(&b);
        bench_free(&b);
    }
}

/* ---- Where no key is ---- */

/* An array as it lies in memory: slots of blocks and heads, of Q one slot of each row and head. */
struct lying {
    int memory; /* which buffer */
    size_t size;
    int blocks, heads, slots;
    long long first, block, head, slot;
    int pack; /* CONV-12; 0: not packed */
    long long group;
};

static struct lying lying_of(const struct bench *b, int array) {
    const struct cp_kernel_call *c = &b->a.run.call;
    const struct gate_problem *p = &b->p;
    int n = gate_blocks(p), heads = c->n_kv_heads, slots = gate_block_size(p);
    if (array == RUN_Q) {
        return (struct lying){RUN_Q,     cp_number_size(p->q_type),
                              c->n_rows, c->n_heads,
                              1,         0,
                              c->q_row,  c->q_head,
                              0,         0,
                              0};
    }
    if (array == RUN_K) {
        return (struct lying){
            RUN_K,     gate_cache_size(p, 0), n,         heads, slots, 0, c->k_chunk, c->k_head,
            c->k_slot, p->layout.k_pack,      c->k_group};
    }
    return (struct lying){gate_is_one_tensor(p) ? RUN_K : RUN_V,
                          gate_cache_size(p, 1),
                          n,
                          heads,
                          slots,
                          c->v_offset,
                          c->v_chunk,
                          c->v_head,
                          c->v_slot,
                          p->layout.v_pack,
                          c->v_group};
}

/* The byte of number i of a slot and head of a block. */
static size_t byte_of(const struct lying *l, int block, int head, int slot, int i) {
    long long number = l->pack > 0 ? i / l->pack * l->group + i % l->pack : i;
    return (size_t)(l->first + block * l->block + head * l->head + slot * l->slot + number) *
           l->size;
}

/* NaNs, which bytes 0xFF are in each type but integers, into a slot of a block, in all heads; slot
 * -1: into all of an array, and its rows or slots back from what was kept. */
static void spoil(struct bench *b, int array, int block, int slot, const unsigned char *kept) {
    const struct lying l = lying_of(b, array);
    unsigned char *memory = b->a.memory[l.memory];
    int d = array == RUN_V ? b->p.value_dim : b->p.recipe.head_dim, per_block = l.heads * l.slots;
    if (slot < 0) {
        memset(memory, 0xFF, b->a.run.bytes[l.memory]);
    }
    for (int x = 0; x < l.blocks * per_block; x++) {
        int of_block = x / per_block, head = x % per_block / l.slots, in_slot = x % l.slots;
        for (int i = 0; i < d; i++) {
            size_t at = byte_of(&l, of_block, head, in_slot, i);
            if (slot < 0) {
                memcpy(memory + at, kept + at, l.size);
            } else if (of_block == block && in_slot == slot) {
                memset(memory + at, 0xFF, l.size);
            }
        }
    }
}

/* NaNs in a slot of an array; slot -1: between its rows. Returns whether they change results:
 * b->changed. */
static int is_read(struct bench *b, int array, int chunk, int slot) {
    int buffer = lying_of(b, array).memory;
    size_t bytes = b->a.run.bytes[buffer];
    unsigned char *kept = malloc(bytes + 1);
    int n = 0;
    if (kept == NULL || b->left-- <= 0) {
        free(kept);
        return 0;
    }
    memcpy(kept, b->a.memory[buffer], bytes);
    spoil(b, array, chunk, slot, kept);
    if (differing(b, &usual) > 0) { /* by that, and not by what the kernel keeps from run to run? */
        runner_restart(b->runner);
        n = differing(b, &usual);
    }
    if (n > 0) {
        memcpy(b->changed, b->differs, (size_t)b->p.n_rows * (size_t)b->p.recipe.n_heads);
    }
    memcpy(b->a.memory[buffer], kept, bytes);
    free(kept);
    return n > 0;
}

static int try_between(struct bench *b, int array) {
    if (!is_read(b, array, 0, -1)) {
        return 0;
    }
    fprintf(b->file, "  %s is read behind its rows, where no number is: NaNs there change ",
            run_buffer_names[array]);
    explain_print_pairs(b->file, b->changed, &b->p);
    fputs(" (GATE-3)\n", b->file);
    return 1;
}

static int has_key(const struct gate_problem *p, int block, int slot) {
    long long key = gate_key_in(p, block, 0, slot);
    return key >= 0 && !isnan(p->k[key * p->recipe.head_dim]);
}

/* Whose block it is; -1: nobody's. */
static int owner_of(const struct gate_problem *p, int block) {
    int run;
    return p->pages.kind != CP_PAGES_CHUNKS ? p->pages.sequence[block]
                                            : explain_owner(p, block, &run);
}

/* The slots of a block where no key is. Returns whether any is read. */
static int try_block(struct bench *b, int array, int block) {
    int n = gate_block_size(&b->p), found = 0, owner = owner_of(&b->p, block);
    unsigned char *slots = calloc((size_t)n + 1, 1);
    for (int slot = 0; slots != NULL && slot < n; slot++) {
        slots[slot] = !has_key(&b->p, block, slot) && is_read(b, array, block, slot);
        found += slots[slot];
    }
    if (found > 0) {
        fprintf(b->file, "  %s is read where no key is: slot%s ", array == RUN_K ? "K" : "V",
                found > 1 ? "s" : "");
        explain_print_elements(b->file, slots, n);
        fprintf(b->file, " of %s %d of the pool, ",
                b->p.pages.kind == CP_PAGES_OWN      ? "page"
                : b->p.pages.kind == CP_PAGES_RAGGED ? "row"
                                                     : "chunk",
                gate_block_number(&b->p, block));
        fprintf(b->file,
                owner < 0                     ? "which is nobody's"
                : b->p.plan == CP_PLANS_TREES ? "behind the last key of sequence %d"
                                              : "behind the keys of a run of sequence %d",
                owner);
        fputs(":\n      a NaN there alone changes ", b->file);
        explain_print_pairs(b->file, b->changed, &b->p);
        fputs(" (GATE-3)\n", b->file);
    }
    free(slots);
    return found > 0;
}

/* Returns how many are read. */
static int try_all(struct bench *b) {
    int between = 0, found = 0;
    if (bench_run(b, &usual, b->first) != 0) {
        return 0;
    }
    for (int array = RUN_Q; array <= RUN_V; array++) {
        int is_shared = array != RUN_Q && b->p.layout.tensors != CP_TENSORS_TWO;
        if ((b->p.recipe.layout & (GATE_SPREAD | GATE_SPREAD_CHUNKS)) != 0 && !is_shared) {
            between += try_between(b, array);
        }
    }
    for (int nobodys = 0; nobodys < 2; nobodys++) { /* blocks that somebody has come first */
        for (int block = 0; block < gate_blocks(&b->p) && found < MOST_CHUNKS; block++) {
            int last = gate_is_in_keys(&b->p) ? RUN_K : RUN_V;
            for (int array = RUN_K; has_key(&b->p, block, 0) != nobodys && array <= last; array++) {
                found += try_block(b, array, block);
            }
        }
    }
    return between + found;
}

int explain_padding(struct explain *x) {
    struct bench b;
    int found = 0;
    if (bench_new(&b, x, GATE_STALE) == 0) {
        runner_restart(x->runner);
        found = try_all(&b);
        bench_free(&b);
    }
    return found > 0;
}

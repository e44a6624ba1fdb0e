/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that a result must not depend on: what was in the workspace and in the results before, what
 * lies where no key is, where arrays begin. The case is run again with one of these changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/explain/explain.h"

#define PROBES           48 /* places where no key is that are looked at, */
#define SIMULATED_PROBES 12 /* and on the executor of CUDA kernels */
#define MOST_ROWS        3
#define AGAIN            8 /* runs with nothing changed, */
#define IN_TURN          3 /* and with one thing changed and without it, in turn */

/* A case that is run again and again. */
struct bench {
    struct runner *runner;
    struct gate_problem p;
    struct gate_arrays a;
    size_t n; /* bytes of out and of lse, one behind the other */
    unsigned char *first, *now;
};

static void bench_free(struct bench *b) {
    free(b->first);
    free(b->now);
    gate_arrays_free(&b->a);
    gate_problem_free(&b->p);
}

/* 0, or -1: no memory, or the kernel does not take it; then there is nothing to free. */
static int bench_new(struct bench *b, struct runner *runner, const struct gate_recipe *recipe) {
    struct run_report report;
    char reason[256];
    size_t workspace;
    memset(b, 0, sizeof *b);
    b->runner = runner;
    if (gate_problem_new(&b->p, recipe, runner_kernel(runner)) != 0) {
        return -1;
    }
    gate_values_fill(&b->p);
    if (gate_arrays_new(&b->a, &b->p) != 0) {
        gate_problem_free(&b->p);
        return -1;
    }
    b->n = b->a.run.bytes[RUN_OUT] + b->a.run.bytes[RUN_LSE];
    b->first = malloc(b->n + 1);
    b->now = malloc(b->n + 1);
    if (b->first == NULL || b->now == NULL ||
        runner_ask(runner, &b->a.run.call, reason, &workspace, &report) != 0 || reason[0] != '\0') {
        bench_free(b);
        return -1;
    }
    b->a.run.bytes[RUN_WORKSPACE] = b->a.run.call.workspace_size = workspace;
    return 0;
}

/* What a run is given beside the case. */
struct setting {
    int at_end;
    unsigned char poison, other_workspace;
    size_t begin, end; /* of the workspace has other bytes; an end of 0: all */
};

/* 0: the results are in `results`; -1: it did not come to its end. */
static int bench_run(struct bench *b, const struct setting *s, unsigned char *results) {
    struct run_report report;
    b->a.run.at_end = s->at_end;
    b->a.run.poison = s->poison;
    b->a.run.other_workspace = s->other_workspace;
    b->a.run.other_begin = s->begin;
    b->a.run.other_end = s->other_workspace == 0 ? 0
                         : s->end == 0           ? b->a.run.bytes[RUN_WORKSPACE]
                                                 : s->end;
    if (runner_run(b->runner, &b->a.run, &report) != 0 || report.outcome != RUN_DONE) {
        return -1;
    }
    memcpy(results, b->a.memory[RUN_OUT], b->a.run.bytes[RUN_OUT]);
    memcpy(results + b->a.run.bytes[RUN_OUT], b->a.memory[RUN_LSE], b->a.run.bytes[RUN_LSE]);
    return 0;
}

/* 1: some number of this row and head is other than at first. */
static int differs_in(const struct bench *b, int row, int head) {
    const struct cp_kernel_call *c = &b->a.run.call;
    size_t out = cp_number_size(b->p.out_type), d = (size_t)b->p.recipe.head_dim;
    size_t at = (size_t)(row * c->out_row + head * c->out_head) * out;
    if (memcmp(b->first + at, b->now + at, d * out) != 0) {
        return 1;
    }
    if (b->a.run.bytes[RUN_LSE] == 0) {
        return 0;
    }
    size_t lse = cp_number_size(b->p.lse_type);
    at = b->a.run.bytes[RUN_OUT] + (size_t)(row * c->lse_row + head * c->lse_head) * lse;
    return memcmp(b->first + at, b->now + at, lse) != 0;
}

/* How many rows and heads are other than at first; `text` names some. */
static int differences(const struct bench *b, char *text, size_t size) {
    int n = 0;
    text[0] = '\0';
    for (int row = 0; row < b->p.n_rows; row++) {
        for (int head = 0; head < b->p.recipe.n_heads; head++) {
            if (differs_in(b, row, head) && n++ < MOST_ROWS) {
                size_t end = strlen(text);
                (void)snprintf(text + end, size - end, "%srow %d head %d", n > 1 ? ", " : "", row,
                               head);
            }
        }
    }
    if (n > MOST_ROWS) {
        size_t end = strlen(text);
        (void)snprintf(text + end, size - end, " and %d more", n - MOST_ROWS);
    }
    return n;
}

/* ---- Two runs of the same call ---- */

static const struct setting usual = {.at_end = 1, .poison = 0xFF};
static const struct setting workspace = {.at_end = 1, .poison = 0xFF, .other_workspace = 0x5A};

/* 1: with this setting it gives something else than at first. */
static int depends_on(struct bench *b, const struct setting *s) {
    char text[200];
    return bench_run(b, s, b->now) == 0 && differences(b, text, sizeof text) > 0;
}

/* 1: with this setting it does so each time, and without it never: an order of threads that changes
 * by itself is no setting's doing. */
static int always_depends_on(struct bench *b, const struct setting *s) {
    for (int i = 0; i < IN_TURN; i++) {
        if (!depends_on(b, s) || depends_on(b, &usual)) {
            return 0;
        }
    }
    return 1;
}

/* The first and the last byte of the workspace that matter: NaNs are put among numbers there. 0:
 * none by itself. */
static int find_bytes(struct bench *b, size_t *first, size_t *last) {
    static const struct setting numbers = {.at_end = 1, .poison = 0x3F};
    size_t n = b->a.run.bytes[RUN_WORKSPACE], low = 0, high = n;
    struct setting s = {.at_end = 1, .poison = 0x3F, .other_workspace = 0xFF ^ 0x3F};
    if (bench_run(b, &numbers, b->first) != 0 || !depends_on(b, &s)) {
        return 0;
    }
    while (high - low > 1) { /* with all before high it differs, with all before low it does not */
        s.end = low + (high - low) / 2;
        *(depends_on(b, &s) ? &high : &low) = s.end;
    }
    *first = high - 1;
    s.end = n;
    for (low = *first, high = n; high - low > 1;) { /* with all from low on, not from high on */
        s.begin = low + (high - low) / 2;
        *(depends_on(b, &s) ? &low : &high) = s.begin;
    }
    *last = low;
    return 1;
}

static void print_bytes(FILE *file, struct bench *b) {
    size_t first, last;
    if (find_bytes(b, &first, &last)) {
        fprintf(file,
                "  NaNs there show which: of its %zu bytes the first that matters is %zu, the last "
                "%zu; as numbers of 4 bytes, %zu to %zu of %zu\n",
                b->a.run.bytes[RUN_WORKSPACE], first, last, first / 4, last / 4,
                b->a.run.bytes[RUN_WORKSPACE] / 4);
    }
}

static const char of_workspace[] =
    "it depends on the bytes that were in the workspace before: what is read there was not written "
    "by this call";

static const char from_run_to_run[] = "it differs from run to run with all else the same: an order "
                                      "of threads, as of a sum by atomics, or "
                                      "something kept from call to call";

/* What makes the difference, when one thing is changed at a time. */
static const char *cause_of(struct bench *b) {
    static const struct setting results = {.at_end = 1, .poison = 0xA5, .other_workspace = 0x5A};
    static const struct setting elsewhere = {.poison = 0xFF};
    if (bench_run(b, &usual, b->first) != 0) {
        return NULL;
    }
    for (int i = 0; i < AGAIN; i++) {
        if (depends_on(b, &usual)) {
            return from_run_to_run;
        }
    }
    if (b->a.run.bytes[RUN_WORKSPACE] > 0 && always_depends_on(b, &workspace)) {
        return of_workspace;
    }
    if (always_depends_on(b, &results)) {
        return "it depends on the bytes that were in out or lse before: they are read, or not "
               "written";
    }
    if (always_depends_on(b, &elsewhere)) {
        return "it depends on where the arrays begin";
    }
    return depends_on(b, &usual) ? from_run_to_run : NULL;
}

/* Zeros of both signs differ; NaNs do not. */
static int is_same(double a, double b) {
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* The numbers that two runs gave. */
static void print_differences(FILE *file, const struct explain_run *run) {
    int h = run->problem.recipe.n_heads, d = run->width - 1, pairs = 0;
    unsigned char *differs = malloc((size_t)run->width);
    for (int pair = 0; differs != NULL && pair < run->pairs; pair++) {
        const double *one = run->got + (ptrdiff_t)pair * run->width;
        const double *other = run->again + (ptrdiff_t)pair * run->width;
        int n = 0, first = -1;
        for (int i = 0; i < run->width; i++) {
            differs[i] = !is_same(one[i], other[i]);
            n += i < d && differs[i];
            first = first < 0 && differs[i] ? i : first;
        }
        if (first < 0 || pairs++ >= MOST_ROWS) {
            continue;
        }
        fprintf(file, "  row %d, head %d: ", pair / h, pair % h);
        if (n > 0) {
            fprintf(file, "%d of %d elements differ between two runs, ", n, d);
            explain_print_elements(file, differs, d);
            fprintf(file, "; element %d is %.9g and %.9g\n", first, gate_plain(one[first]),
                    gate_plain(other[first]));
        } else {
            fprintf(file, "lse differs between two runs: %.9g and %.9g\n", one[d], other[d]);
        }
    }
    if (pairs > MOST_ROWS) {
        fprintf(file, "  and %d more of %d rows and heads\n", pairs - MOST_ROWS, run->pairs);
    }
    free(differs);
}

void explain_other_bits(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                        const struct explain_run *run) {
    struct bench b;
    fputs("\n", file);
    print_differences(file, run);
    if (bench_new(&b, runner, recipe) != 0) {
        return;
    }
    const char *cause = cause_of(&b);
    fprintf(file, "  %s (GATE-4)\n",
            cause != NULL ? cause
                          : "run again with one thing changed at a time, it gave the same bits: it "
                            "takes more than that");
    if (cause == of_workspace) {
        print_bytes(file, &b);
    }
    bench_free(&b);
}

/* ---- Where no key is ---- */

/* Slots that have a key; [capacity][c]. And chunks that are some sequence's. */
struct places {
    unsigned char *used, *owned;
    int *owner; /* of a chunk: a sequence */
};

static void places_free(struct places *places) {
    free(places->used);
    free(places->owned);
    free(places->owner);
}

static int places_new(struct places *places, const struct gate_problem *p) {
    size_t chunks = (size_t)p->capacity, c = (size_t)p->recipe.chunk_size;
    *places =
        (struct places){calloc(chunks * c, 1), calloc(chunks, 1), calloc(chunks, sizeof(int))};
    if (places->used == NULL || places->owned == NULL || places->owner == NULL) {
        places_free(places);
        return -1;
    }
    for (int s = 0; s < p->b; s++) {
        for (int j = 0; j < p->n_tokens[s]; j++) {
            int i = j / p->recipe.chunk_size, chunk = p->table[s * p->table_width + i];
            places->used[(size_t)chunk * c + (size_t)(j % p->recipe.chunk_size)] = 1;
            places->owned[chunk] = 1;
            places->owner[chunk] = s;
        }
    }
    return 0;
}

/* A place that is nobody's, in one array: a slot of a chunk, or -1: what lies behind its rows. */
struct probe {
    enum run_buffer buffer;
    int chunk, slot;
};

static long long elements_of(const struct bench *b, enum run_buffer buffer) {
    int type = buffer == RUN_Q ? b->p.q_type : b->p.kv_type;
    return (long long)(b->a.run.bytes[buffer] / cp_number_size(type));
}

/* Element i of these is in the slot, in any head. */
static void mark_slot(const struct bench *b, enum run_buffer buffer, int chunk, int slot,
                      unsigned char *marked, long long n) {
    const struct cp_kernel_call *c = &b->a.run.call;
    for (int g = 0; g < c->n_kv_heads; g++) {
        long long at = buffer == RUN_K ? chunk * c->k_chunk + g * c->k_head + slot * c->k_slot
                                       : chunk * c->v_chunk + g * c->v_head + slot * c->v_slot;
        for (long long i = at; i < at + c->head_dim && i < n; i++) {
            marked[i] = 1;
        }
    }
}

/* All elements of rows are marked; what is left lies behind them. */
static void mark_between(const struct bench *b, enum run_buffer buffer, unsigned char *marked,
                         long long n) {
    const struct cp_kernel_call *c = &b->a.run.call;
    for (int chunk = 0; buffer != RUN_Q && chunk < c->capacity; chunk++) {
        for (int slot = 0; slot < c->chunk_size; slot++) {
            mark_slot(b, buffer, chunk, slot, marked, n);
        }
    }
    for (long long x = 0; buffer == RUN_Q && x < (long long)c->n_rows * c->n_heads; x++) {
        long long at = x / c->n_heads * c->q_row + x % c->n_heads * c->q_head;
        memset(marked + at, 1, (size_t)c->head_dim);
    }
    for (long long i = 0; i < n; i++) {
        marked[i] = !marked[i];
    }
}

/* A NaN in this place: how many rows and heads does it change? */
static int try_probe(struct bench *b, const struct probe *probe, char *rows, size_t size) {
    enum run_buffer buffer = probe->buffer;
    int type = buffer == RUN_Q ? b->p.q_type : b->p.kv_type, changed = 0;
    long long n = elements_of(b, buffer);
    unsigned char *marked = calloc((size_t)n + 1, 1);
    void *kept = malloc(b->a.run.bytes[buffer] + 1);
    if (marked != NULL && kept != NULL) {
        memcpy(kept, b->a.memory[buffer], b->a.run.bytes[buffer]);
        if (probe->slot >= 0) {
            mark_slot(b, buffer, probe->chunk, probe->slot, marked, n);
        } else {
            mark_between(b, buffer, marked, n);
        }
        for (long long i = 0; i < n; i++) {
            if (marked[i]) {
                cp_number_store(b->a.memory[buffer], type, (size_t)i, NAN);
            }
        }
        changed = bench_run(b, &usual, b->now) == 0 ? differences(b, rows, size) : 0;
        if (changed > 0) { /* by that, and not by what the kernel keeps from run to run? */
            runner_restart(b->runner);
            changed = bench_run(b, &usual, b->now) == 0 ? differences(b, rows, size) : 0;
        }
        memcpy(b->a.memory[buffer], kept, b->a.run.bytes[buffer]);
    }
    free(marked);
    free(kept);
    return changed;
}

/* The slots of a chunk where no key is. Returns whether any is read. */
static int try_chunk(FILE *file, struct bench *b, const struct places *places,
                     enum run_buffer buffer, int chunk, int *left) {
    int c = b->p.recipe.chunk_size, found = 0;
    unsigned char *is_read = calloc((size_t)c + 1, 1);
    char rows[200] = "", now[200];
    for (int slot = 0; is_read != NULL && slot<c && * left> 0; slot++) {
        if (!places->used[(size_t)chunk * (size_t)c + (size_t)slot]) {
            struct probe probe = {buffer, chunk, slot};
            --*left;
            is_read[slot] = try_probe(b, &probe, now, sizeof now) > 0;
            found += is_read[slot];
            if (is_read[slot]) {
                memcpy(rows, now, sizeof rows);
            }
        }
    }
    if (found > 0) {
        fprintf(file, "  %s is read where no key is: slot%s ", buffer == RUN_K ? "K" : "V",
                found > 1 ? "s" : "");
        explain_print_elements(file, is_read, c);
        fprintf(file, " of chunk %d of the pool", chunk);
        if (places->owned[chunk]) {
            fprintf(file, ", behind the last key of sequence %d", places->owner[chunk]);
        } else {
            fputs(", which is nobody's", file);
        }
        fprintf(file, ":\n      a NaN there alone changes %s (GATE-3)\n", rows);
    }
    free(is_read);
    return found > 0;
}

/* Returns how many are found. */
static int try_probes(FILE *file, struct bench *b, const struct places *places) {
    int found = 0, between_rows = 0,
        left = runner_is_simulated(b->runner) ? SIMULATED_PROBES : PROBES;
    char rows[200];
    for (int buffer = RUN_Q; buffer <= RUN_V; buffer++) {
        struct probe between = {(enum run_buffer)buffer, 0, -1};
        if ((b->p.recipe.layout & (GATE_SPREAD | GATE_SPREAD_CHUNKS)) != 0 && left-- > 0 &&
            try_probe(b, &between, rows, sizeof rows) > 0) {
            fprintf(file,
                    "  %s is read behind its rows, where no number is: NaNs there change %s "
                    "(GATE-3)\n",
                    run_buffer_names[buffer], rows);
            between_rows++;
        }
    }
    for (int pass = 0; pass < 2; pass++) { /* chunks that somebody has come first */
        for (int chunk = 0; chunk < b->p.capacity && found < MOST_ROWS; chunk++) {
            for (int buffer = RUN_K; places->owned[chunk] != pass && buffer <= RUN_V; buffer++) {
                found += try_chunk(file, b, places, (enum run_buffer)buffer, chunk, &left);
            }
        }
    }
    return found + between_rows;
}

int explain_padding(FILE *file, struct runner *runner, const struct gate_recipe *recipe) {
    struct gate_recipe stale = *recipe;
    struct bench b;
    struct places places;
    int found = 0;
    stale.padding = GATE_STALE;
    if (bench_new(&b, runner, &stale) != 0) {
        return 0;
    }
    if (places_new(&places, &b.p) == 0) {
        runner_restart(runner);
        if (bench_run(&b, &usual, b.first) == 0) {
            found = try_probes(file, &b, &places);
        }
        places_free(&places);
    }
    bench_free(&b);
    return found > 0;
}

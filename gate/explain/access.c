/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that are wrong by themselves (GATE-3, GATE-9): where they are in the kernel's own terms,
 * and what to look at. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/base/text.h"
#include "gate/case/cache.h"
#include "gate/case/pages.h"
#include "gate/explain/explain.h"
#include "gate/source/lines.h"

#define WARP    32
#define COLUMNS 100 /* of what is printed */

/* A paragraph with numbers in it. */
static void advise(FILE *file, const char *words, ...) {
    char text[1000];
    va_list numbers;
    va_start(numbers, words);
    (void)vsnprintf(text, sizeof text, words, numbers);
    va_end(numbers);
    fputs("  ", file);
    text_put_wrapped(file, text, 2, 2, COLUMNS);
}

/* ---- Results that are not written ---- */

/* A number that was left as it was: a NaN before the first run, and these bytes before the
 * second. */
static int is_unwritten(const struct explain_results *r, int i) {
    unsigned char bytes[sizeof(double)];
    memset(bytes, GATE_POISON_AGAIN, sizeof bytes);
    return i < r->d && isnan(r->got[i]) &&
           r->again[i] == cp_number_load(bytes, r->run->problem.out_type, 0);
}

static void say_unwritten(struct explain *x, const struct explain_results *r,
                          const unsigned char *picked, int n) {
    fprintf(x->file, "    %d not written of %d elements: ", n, r->d);
    explain_print_elements(x->file, picked, r->d);
    fputs("\n", x->file);
}

/* Where sequences have different numbers of rows, a row is not found by multiplying. */
static void print_row_begins(FILE *file, const struct gate_problem *p) {
    for (int s = 0; s < p->b; s++) {
        if (p->query_begin[s + 1] - p->query_begin[s] != p->query_begin[1]) {
            advise(file, "sequences have different numbers of rows here: those of sequence s are "
                         "query_begin[s] to query_begin[s + 1] - 1, not s times a number "
                         "(PREFILL-1)");
            return;
        }
    }
}

void explain_unwritten(struct explain *x) {
    fputs("\n", x->file);
    int pairs = explain_show(x, is_unwritten, say_unwritten), all = x->run[0].pairs;
    if (pairs == 0) {
        advise(x->file, "out is written, and the log-sum-exp is not, where it is asked for "
                        "(GATE-3)");
        return;
    }
    advise(x->file,
           "elements of out are missing in %d of %d rows and heads. Each is to be written: the "
           "last ones of d, where d is no multiple of a vector or a block; the last rows and "
           "heads; and rows that see no key, which get zeros (GATE-3)",
           pairs, all);
    print_row_begins(x->file, &x->run[0].problem);
    if (pairs < all) {
        (void)explain_where(x, 1);
    }
}

/* ---- Out of bounds ---- */

#define DIMENSIONS 3

/* An array of the call. Elements of its first dimension are `stride` apart, and so on. */
struct array {
    const char *name;
    size_t size; /* of an element */
    struct dimension {
        const char *name;
        long long stride;
        int n;
    } by[DIMENSIONS];
};

/* The whole number below a / b. */
static long long divide_down(long long a, long long b) {
    return a / b - (a % b < 0);
}

/* The dimension of the largest stride below this one; -1: there is none. One slot or one head is no
 * dimension: what is behind it is in another chunk or row. */
static int next_dimension(const struct array *array, long long below) {
    int next = -1;
    for (int i = 0; i < DIMENSIONS; i++) {
        long long stride = array->by[i].stride;
        int counts = stride < below && (i == 0 || array->by[i].n > 1);
        next = counts && (next < 0 || stride >= array->by[next].stride) ? i : next;
    }
    return next;
}

/* The element's number in each dimension, the largest stride first. Returns the chunk or row. */
static long long print_place(FILE *file, const struct array *array, long long element) {
    long long place[DIMENSIONS] = {0}, below = LLONG_MAX;
    for (int i; (i = next_dimension(array, below)) >= 0; below = array->by[i].stride) {
        place[i] = divide_down(element, array->by[i].stride);
        element -= place[i] * array->by[i].stride;
    }
    for (int i = 0; i < DIMENSIONS && array->by[i].name != NULL; i++) {
        fprintf(file, "%s%s %lld", i > 0 ? ", " : "", array->by[i].name, place[i]);
    }
    return place[0];
}

static void print_sizes(FILE *file, const struct array *array) {
    for (int i = 0; i < DIMENSIONS && array->by[i].name != NULL; i++) {
        fprintf(file, "%s%ss 0 to %d", i > 0 ? ", " : "; there are ", array->by[i].name,
                array->by[i].n - 1);
    }
    fputs("\n", file);
}

/* Of the chunk of a path, of a run, of a page and of ragged keys; and of -1 there. In them are c or
 * P, or the table's width and that. */
enum blocks { LIES_IN_PATHS, LIES_IN_RUNS, LIES_IN_PAGES, LIES_RAGGED };
static const char *const on_chunk[][2] = {
    {"look at what these are made of: table[key / c] and key %% c, with the c of the call (here "
     "%d); and at loads that go on behind the last key: a tile that is not full, a vector over the "
     "end of a row, a prefetch (GATE-3)",
     "-1 is no chunk: the table has it behind the last chunk of a row. Look at which row of the "
     "table is read: they are table_width apart (here %d), one for each sequence; at which entry: "
     "key / c, with the c of the call (here %d); and at how many chunks are read of it: (keys + c "
     "- 1) / c, no more (GATE-3)"},
    {"look at what these are made of: the chunk of the run, and a slot below its number of tokens, "
     "which is up to %d in any run (RUNS-1); and at loads that go on behind the last of these: a "
     "tile that is not full, a vector over the end of a row, a prefetch (RUNS-4, GATE-3)",
     "-1 is no chunk: the table has it behind the last run of a row. Look at which row of the "
     "table is read: they are table_width apart (here %d), one for each sequence; and at how many "
     "runs are read of it: to the first of 0 tokens, or table_width, and not as many as the keys "
     "would fill (RUNS-1)"},
    {"look at what these are made of: page_table[key / P] and key %% P, with the P of the call "
     "(here %d); at loads that go on behind the last key, or from one page into the next one; and "
     "at the order of K and of V: [slot][K/V head] or [K/V head][slot] (CONV-11, CONV-12)",
     "-1 is no page: page_table has it behind the last page of a row. Look at which row of the "
     "table is read: they are page_table_width apart (here %d), one for each sequence; at which "
     "entry: key / P, with the P of the call (here %d); and at how many pages are read of it: "
     "(keys + P - 1) / P, no more (CONV-11)"},
    {"look at what these are made of: key j of sequence s is in row page_begin[s] + j of K and V, "
     "and page_begin[b] rows have a key; and at loads that go on behind the last key (CONV-11)",
     "there is no row before the first: look at page_begin[s] + j (CONV-11)"}};

/* What K and V lie in. */
static enum blocks blocks_of(const struct gate_problem *p) {
    return p->layout.pages == CP_PAGES_OWN      ? LIES_IN_PAGES
           : p->layout.pages == CP_PAGES_RAGGED ? LIES_RAGGED
           : p->plan != CP_PLANS_TREES          ? LIES_IN_RUNS
                                                : LIES_IN_PATHS;
}

/* `other`: K of V, V of K; NULL for rows. */
static void print_element(FILE *file, const struct gate_problem *p, const struct cp_kernel_call *c,
                          const struct array *array, const struct array *other, long long byte) {
    long long element = divide_down(byte, (long long)array->size);
    fprintf(file, "\n  that is element %lld of %s: by the strides of the call ", element,
            array->name);
    long long first = print_place(file, array, element);
    print_sizes(file, array);
    if (strcmp(array->name, "rotation") == 0) {
        advise(file,
               "look at t: it is the position of %s, and a slot behind the keys of a run has no "
               "row; and at the stride of rows, which is rotary_dim (here %d), not d (here %d) "
               "(GATE-14)",
               p->rotation.keys == CP_KEYS_RAW ? "the key" : "the key's run", c->rotary_dim,
               c->head_dim);
        return;
    }
    if (other == NULL) {
        advise(file, "look at rows and heads behind the last one, and at vectors over the end of a "
                     "row (GATE-3)");
        print_row_begins(file, p);
        return;
    }
    if (c->k_chunk != c->v_chunk || c->k_head != c->v_head || c->k_slot != c->v_slot) {
        fprintf(file, "  strides of K and V differ here: by those of %s it would be ", other->name);
        (void)print_place(file, other, element);
        fputs("; is each read by its own?\n", file);
    }
    int width = p->layout.pages == CP_PAGES_CHUNKS ? c->table_width : c->page_table_width;
    advise(file, on_chunk[blocks_of(p)][first == -1], first == -1 ? width : c->page_size,
           c->page_size);
}

/* Reads "... of NAME, at byte N of M", or "... bytes at NAME+N (M bytes)". 0: it is neither. */
static int read_spot(const char *text, char name[32], long long *byte) {
    const char *at = strstr(text, ", at byte "), *begin = at;
    if (at != NULL) {
        while (begin > text && begin[-1] != ' ') {
            begin--;
        }
        *byte = strtoll(at + strlen(", at byte "), NULL, 10);
    } else if ((begin = strstr(text, " bytes at ")) != NULL) {
        begin += strlen(" bytes at ");
        at = begin + strcspn(begin, "+- ");
        *byte = strtoll(at, NULL, 10);
    }
    if (at == NULL) {
        return 0;
    }
    (void)snprintf(name, 32, "%.*s", (int)(at - begin), begin);
    return 1;
}

/* Where K, or V, is packed, groups of numbers are next to heads, and not slots (CONV-12). */
static struct array array_of_keys(const struct gate_problem *p, const struct cp_kernel_call *c,
                                  int is_v, const char *block) {
    int pack = is_v ? p->layout.v_pack : p->layout.k_pack;
    const struct dimension slots = {"slot", is_v ? c->v_slot : c->k_slot, c->page_size};
    const struct dimension groups = {"group of numbers", is_v ? c->v_group : c->k_group,
                                     pack > 0 ? (c->head_dim + pack - 1) / pack : 0};
    return (struct array){is_v ? "v" : "k",
                          gate_cache_size(p, is_v),
                          {{block, is_v ? c->v_chunk : c->k_chunk, c->capacity},
                           pack > 0 ? groups : slots,
                           {"K/V head", is_v ? c->v_head : c->k_head, c->n_kv_heads}}};
}

static void print_spot(FILE *file, const struct gate_problem *p, const struct cp_kernel_call *call,
                       const char *text) {
    const struct cp_kernel_call c = *call;
    static const char *const words[] = {"chunk", "chunk", "page", "key"};
    char name[32];
    long long byte;
    const char *block = words[blocks_of(p)];
    const struct array arrays[] = {
        array_of_keys(p, &c, 0, block),
        array_of_keys(p, &c, 1, block),
        {"q",
         cp_number_size(p->q_type),
         {{"row", c.q_row, c.n_rows}, {"head", c.q_head, c.n_heads}}},
        {"out",
         cp_number_size(p->out_type),
         {{"row", c.out_row, c.n_rows}, {"head", c.out_head, c.n_heads}}},
        {"lse",
         cp_number_size(p->lse_type),
         {{"row", c.lse_row, c.n_rows}, {"head", c.lse_head, c.n_heads}}},
        {"rotation",
         sizeof(float),
         {{"row", c.rotary_dim, c.n_angles}, {"number", 1, c.rotary_dim}}},
    };
    if (!read_spot(text, name, &byte)) {
        return;
    }
    for (int i = 0; i < (int)(sizeof arrays / sizeof arrays[0]); i++) {
        if (strcmp(name, arrays[i].name) == 0) {
            print_element(file, p, &c, &arrays[i], i < 2 ? &arrays[1 - i] : NULL, byte);
        }
    }
}

/* ---- Races ---- */

/* One of two accesses: "block (0,0,0) thread 52 of 128 ... in FILE:LINE, ...". */
struct access {
    const char *block, *line; /* from these words on; NULL: there is no line */
    int thread, threads;      /* of so many of the block; a warp's where that is not said */
};

static int read_access(const char *text, struct access *access) {
    char *end;
    access->block = strstr(text, "block (");
    const char *thread = access->block != NULL ? strstr(access->block, ") thread ") : NULL;
    if (thread == NULL) {
        return 0;
    }
    access->thread = (int)strtol(thread + strlen(") thread "), &end, 10);
    access->threads = strncmp(end, " of ", 4) == 0 ? (int)strtol(end + 4, NULL, 10) : WARP;
    access->line = strstr(end, " in ");
    return 1;
}

/* 1: the same text, up to one of these characters. */
static int is_same(const char *a, const char *b, const char *ends) {
    size_t n = strcspn(a, ends);
    return n == strcspn(b, ends) && strncmp(a, b, n) == 0;
}

/* What must be between the two; a number in it is that of the block's threads. */
static const char *order_of(const struct access *one, const struct access *other) {
    if (!is_same(one->block, other->block, ")")) {
        return "they are of two blocks, which no barrier of a kernel orders: give each block its "
               "own place, add up with atomics, let a second launch on the stream read it, or hand "
               "it over: after the write a barrier of the block, __threadfence() and an atomic of "
               "the same thread, by which the other block knows that it comes later (GATE-9)";
    }
    if (one->thread / WARP != other->thread / WARP) {
        return "they are of two warps of a block: between the two lines there must be a "
               "__syncthreads() that both come to, on each way round the loop (__syncwarp() "
               "orders one warp alone); or each must have a place of its own (GATE-9)";
    }
    if (one->threads > WARP) {
        return "they are of one warp, of a block of %d threads: between the two lines there must "
               "be, on each way round the loop, also behind its last line, a __syncwarp() with "
               "both lanes in its mask; or a __syncthreads() that all come to, where another warp "
               "touches that place, too; or each must have a place of its own (GATE-9)";
    }
    return "they are of one warp: between the two lines there must be a __syncwarp() with both "
           "lanes in its mask, or a shuffle that passes the number on; or each must have a place "
           "of its own (GATE-9)";
}

static void print_race(FILE *file, const char *text) {
    const char *second = strstr(text, "; block ");
    struct access one, other;
    if (second == NULL || !read_access(text, &one) || !read_access(second, &other)) {
        return;
    }
    fprintf(file, "\n  two accesses to one place:\n    %.*s\n    %s\n", (int)(second - one.block),
            one.block, other.block);
    if (one.line != NULL && one.line < second && other.line != NULL &&
        is_same(one.line, other.line, ",;\n")) {
        advise(file, "it is one line, by which two threads come to the same place: is the index "
                     "right, with a place for each? If it is:");
    }
    advise(file, order_of(&one, &other), one.threads);
}

/* ---- What to look at ---- */

const char gate_keeps_something[] =
    "right in a fresh process: GATE-4, the kernel keeps something from call to call. Look for what "
    "is static or global: a table, a length, a maximum, an address that says that all is as it "
    "was; or memory that is not cleared";

static const char wrote_late[] = "all work is to be done when attend() returns: join threads, and "
                                 "wait for copies (GATE-3)";

/* Of a verdict, or of any, whose text has a word: the first row that fits is said. Words with a
 * colon are the executor's. */
#define ANY GATE_VERDICTS
static const struct advice {
    enum gate_verdict verdict;
    const char *word, *text;
} advice[] = {
    {ANY, "after it had returned", wrote_late},
    {ANY, "uninitialized_shared:",
     "shared memory is to be written, all of it that is read, by threads of the same block "
     "before a barrier: also the end of a tile that is not full, and with the same stride "
     "(GATE-9)"},
    {ANY, "out_of_bounds_shared:",
     "an array in shared memory is too small. Look at the bytes of the launch (<<<blocks, threads, "
     "bytes>>>), with a part for each warp and buffer, and at rows and their stride (GATE-9)"},
    {ANY, "in_flight:",
     "an asynchronous copy is under way to or from there: wait for it (cp.async.wait_group), and "
     "for those of other threads by a barrier behind that (GATE-9)"},
    {ANY, "misaligned:",
     "a vector of 2, 4, 8 or 16 bytes has to lie at a multiple of its size: refuse other strides "
     "and other d, or read number by number (GATE-9)"},
    {ANY, "barrier_divergence:",
     "each thread of the block that has not returned must come to the same __syncthreads(): none "
     "in a branch, or in a loop, that some leave earlier (GATE-9)"},
    {ANY, "warp_divergence:",
     "all lanes in the mask must come to the same shuffle or vote, with the same mask: none in a "
     "branch that some do not take (GATE-9)"},
    {ANY, "inactive_lane:",
     "a shuffle takes from a lane that does not take part in it, or a lane is not in its own mask: "
     "look at the mask where lanes have left a loop (GATE-9)"},
    {ANY, "step_limit:", "a loop does not end: look at what counts it (GATE-9)"},
    {GATE_OUT_OF_BOUNDS, "workspace",
     "the workspace has as many bytes as workspace() asked for, for a call of these sizes: that is "
     "too few, or the index is wrong. Look at rows, heads, parts and shared levels (GATE-3)"},
    {GATE_RIGHT, "", "this case is right now: there is nothing to explain"},
    {GATE_WROTE_BETWEEN, "",
     "rows and heads of out and of the log-sum-exp lie as far apart as the call's strides say, not "
     "d numbers; and a vector may reach over the end of a row (GATE-3)"},
    {GATE_WROTE_INPUT, "",
     "Q, K, V and the lists of the call are read-only: copy what is to be scaled or sorted to the "
     "workspace first (GATE-3)"},
    {GATE_WROTE_LATE, "", wrote_late},
    {GATE_REMEMBERS, "", gate_keeps_something},
    {GATE_HANGS, "",
     "attend() did not return: a loop does not end, or a thread waits for one that does not come. "
     "Look at what is special here: a size, a row that sees no key, a full tile (GATE-1)"},
    {GATE_CRASHED, "",
     "the kernel crashed at that place: a trap, an illegal instruction, or an integer division by "
     "zero, where there are no groups of heads, tiles or splits for these sizes (GATE-1)"},
    {GATE_EXITED, "",
     "the kernel ended its process by exit(): it is a library, and says that it failed by what "
     "attend() returns (GATE-1)"},
    {GATE_FAILED, "",
     "attend() returned that it failed, for a call that refuses() takes: refuse such sizes there, "
     "or compute them (GATE-1)"},
    {GATE_UNDEFINED, "",
     "the first word above is what the executor calls it; kernels/simt/README.md says what each is "
     "(GATE-9)"},
};

static void print_advice(FILE *file, const struct gate_finding *finding) {
    for (size_t i = 0; i < sizeof advice / sizeof advice[0]; i++) {
        if ((advice[i].verdict == ANY || advice[i].verdict == finding->verdict) &&
            strstr(finding->text, advice[i].word) != NULL) {
            fputs("\n", file);
            advise(file, "%s", advice[i].text);
            return;
        }
    }
}

void explain_access(struct explain *x, const struct gate_finding *finding) {
    struct gate_problem p;
    char text[sizeof finding->text];
    memcpy(text, finding->text, sizeof text);
    gate_name_lines(runner_file(x->runner), text, sizeof text);
    if (gate_problem_new(&p, x->recipe, x->kernel) == 0) {
        struct cp_kernel_call call;
        gate_call_sizes(&call, &p);
        if (gate_pages_view(&p) == 0) {
            explain_tree(x->file, &p);
        }
        if (finding->verdict == GATE_OUT_OF_BOUNDS) {
            print_spot(x->file, &p, &call, text);
        }
        if (finding->verdict == GATE_OUT_OF_BOUNDS || finding->verdict == GATE_CRASHED) {
            (void)explain_layouts(x);
        }
        gate_problem_free(&p);
    }
    if (finding->verdict == GATE_RACES) {
        print_race(x->file, text);
    }
    print_advice(x->file, finding);
}

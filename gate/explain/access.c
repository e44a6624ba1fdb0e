/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that are wrong by themselves (GATE-3, GATE-9): where they are in the kernel's own terms,
 * and what to look at. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/explain/explain.h"
#include "gate/source/lines.h"

#define MOST_ROWS 3
#define WARP      32

/* ---- Results that are not written ---- */

/* What a number is that was left as it was, in the second run: these bytes in all of it. */
static double left_number(int type) {
    unsigned char bytes[sizeof(double)];
    memset(bytes, GATE_POISON_AGAIN, sizeof bytes);
    return cp_number_load(bytes, type, 0);
}

/* Where sequences have different numbers of rows, a row is not found by multiplying. */
static void print_row_begins(FILE *file, const struct gate_problem *p) {
    int differ = 0;
    for (int s = 0; s < p->b; s++) {
        differ |= p->query_begin[s + 1] - p->query_begin[s] != p->query_begin[1];
    }
    if (differ) {
        fputs("  sequences have different numbers of rows here: those of sequence s are "
              "query_begin[s] to query_begin[s + 1] - 1,\n  not s times a number (PREFILL-1)\n",
              file);
    }
}

void explain_unwritten(FILE *file, const struct explain_run *run) {
    const struct gate_problem *p = &run->problem;
    double left = left_number(p->out_type);
    int d = run->width - 1, pairs = 0;
    unsigned char *is_left = calloc((size_t)d + 1, 1);
    fputs("\n", file);
    for (int pair = 0; is_left != NULL && pair < run->pairs; pair++) {
        size_t at = (size_t)pair * (size_t)run->width;
        int n = 0;
        for (int i = 0; i < d; i++) {
            is_left[i] = isnan(run->got[at + (size_t)i]) && run->again[at + (size_t)i] == left;
            n += is_left[i];
        }
        if (n > 0 && pairs++ < MOST_ROWS) {
            int row = pair / p->recipe.n_heads;
            fprintf(file,
                    "  row %d, head %d, which sees %d keys: not written of %d elements: ", row,
                    pair % p->recipe.n_heads, gate_visible(p, row), d);
            explain_print_elements(file, is_left, d);
            fputs("\n", file);
        }
    }
    fprintf(
        file,
        pairs == 0
            ? "  out is written, and the log-sum-exp is not, where it is asked for "
              "(GATE-3)\n"
            : "  elements of out are missing in %d of %d rows and heads. Each is to be written: "
              "the "
              "last ones of d, where d is no\n  multiple of a vector or a block; the last rows and "
              "heads; and rows that see no key, which get zeros (GATE-3)\n",
        pairs, run->pairs);
    if (pairs > 0) {
        print_row_begins(file, p);
    }
    free(is_left);
    if (pairs > 0 && pairs < run->pairs) {
        (void)explain_where(file, run, 1);
    }
}

/* ---- Out of an array ---- */

/* The whole number below a / b. */
static long long divide_down(long long a, long long b) {
    return a / b - (a % b < 0);
}

/* An element of K or V, by the strides of the call: the larger ones first. */
struct key_place {
    long long chunk, slot, head;
};

static struct key_place key_place_of(const struct cp_kernel_call *c, int of_v, long long at) {
    long long chunk = of_v ? c->v_chunk : c->k_chunk, head = of_v ? c->v_head : c->k_head;
    long long slot = of_v ? c->v_slot : c->k_slot;
    long long number = divide_down(at, chunk), rest = at - number * chunk;
    int heads_first = head > slot;
    long long first = rest / (heads_first ? head : slot);
    long long second = rest % (heads_first ? head : slot) / (heads_first ? slot : head);
    return (struct key_place){number, heads_first ? second : first, heads_first ? first : second};
}

static void print_key_place(FILE *file, const struct cp_kernel_call *c, int of_v, long long at) {
    struct key_place place = key_place_of(c, of_v, at), other = key_place_of(c, !of_v, at);
    long long number = place.chunk;
    int differ = c->k_chunk != c->v_chunk || c->k_head != c->v_head || c->k_slot != c->v_slot;
    fprintf(
        file,
        "chunk %lld, slot %lld, K/V head %lld; there are chunks 0 to %d, slots 0 to %d, heads 0 "
        "to %d\n",
        number, place.slot, place.head, c->capacity - 1, c->chunk_size - 1, c->n_kv_heads - 1);
    if (differ) {
        fprintf(file,
                "  strides of K and V differ here: by those of %s it would be chunk %lld, slot "
                "%lld, K/V head %lld; is each read by its own,\n  of chunks (%lld and %lld), heads "
                "(%lld and %lld) and slots (%lld and %lld)?\n",
                of_v ? "K" : "V", other.chunk, other.slot, other.head, c->k_chunk, c->v_chunk,
                c->k_head, c->v_head, c->k_slot, c->v_slot);
    }
    if (number == -1) {
        fprintf(
            file,
            "  -1 is no chunk: the table has it behind the last chunk of a row. Look at which row "
            "of the table is read: they are\n  table_width apart (here %d), one for each "
            "sequence; at which entry: key / c, with the c of the call (here %d);\n  and at how "
            "many chunks are read of it: (keys + c - 1) / c, no more (GATE-3)\n",
            c->table_width, c->chunk_size);
        return;
    }
    fprintf(file,
            "  look at what these are made of: table[key / c] and key %% c, with the c of the call "
            "(here %d); and at loads that go on\n  behind the last key: a tile that is not full, a "
            "vector over the end of a row, what is fetched ahead (GATE-3)\n",
            c->chunk_size);
}

static void print_row_place(FILE *file, const struct cp_kernel_call *c, const char *name,
                            long long at) {
    long long row = c->q_row, head = c->q_head;
    if (strcmp(name, "out") == 0) {
        row = c->out_row;
        head = c->out_head;
    } else if (strcmp(name, "lse") == 0) {
        row = c->lse_row;
        head = c->lse_head;
    }
    long long larger = row > head ? row : head, smaller = row > head ? head : row;
    long long first = at / larger, second = at % larger / smaller;
    if (c->n_heads == 1) { /* whatever is behind is another row */
        first = row > head ? at / row : 0;
        second = row > head ? 0 : at / row;
    }
    fprintf(file,
            "row %lld, head %lld; there are rows 0 to %d, heads 0 to %d\n"
            "  look at rows and heads behind the last one, and at vectors over the end of a row "
            "(GATE-3)\n",
            row > head ? first : second, row > head ? second : first, c->n_rows - 1,
            c->n_heads - 1);
}

/* The name and the byte of " of NAME, at byte N of M", or of " bytes at NAME+N (M bytes)", wherever
 * it is. 0: there is neither. */
static int read_spot(const char *text, char word[32], long long *byte) {
    const char *at = strstr(text, ", at byte "), *name = at;
    if (at != NULL) {
        while (name > text && name[-1] != ' ') {
            name--;
        }
        *byte = strtoll(at + strlen(", at byte "), NULL, 10);
    } else if ((name = strstr(text, " bytes at ")) != NULL) {
        name += strlen(" bytes at ");
        at = name + strcspn(name, "+- ");
        *byte = strtoll(at, NULL, 10);
    }
    if (at == NULL) {
        return 0;
    }
    (void)snprintf(word, 32, "%.*s", (int)(at - name), name);
    return 1;
}

static void print_spot(FILE *file, const struct gate_problem *p, const char *text) {
    struct cp_kernel_call call;
    char word[32];
    long long byte;
    if (!read_spot(text, word, &byte)) {
        return;
    }
    gate_call_sizes(&call, p);
    int is_key = strcmp(word, "k") == 0 || strcmp(word, "v") == 0;
    int is_row = strcmp(word, "q") == 0 || strcmp(word, "out") == 0 || strcmp(word, "lse") == 0;
    if ((!is_key && !is_row) || (is_row && byte < 0)) {
        return;
    }
    int type = is_key                     ? p->kv_type
               : strcmp(word, "q") == 0   ? p->q_type
               : strcmp(word, "lse") == 0 ? p->lse_type
                                          : p->out_type;
    long long element = divide_down(byte, (long long)cp_number_size(type));
    fprintf(file, "\n  that is element %lld of %s: by the strides of the call ", element, word);
    if (is_key) {
        print_key_place(file, &call, word[0] == 'v', element);
    } else {
        print_row_place(file, &call, word, element);
        print_row_begins(file, p);
    }
}

/* ---- Races ---- */

/* The words and number of "block (0,0,0) thread 52", and whether they are there. */
static int read_thread(const char *text, char block[40], int *thread) {
    const char *at = strstr(text, "block ("), *end = at != NULL ? strstr(at, ") thread ") : NULL;
    if (end == NULL || end - at >= 40) {
        return 0;
    }
    (void)snprintf(block, 40, "%.*s", (int)(end - at), at);
    *thread = (int)strtol(end + strlen(") thread "), NULL, 10);
    return 1;
}

/* The number of threads in "block (0,0,0) thread 52 of 128"; of a text without it, a warp's. */
static int threads_of(const char *text) {
    const char *at = strstr(text, ") thread ");
    char *end = NULL;
    if (at != NULL) {
        (void)strtol(at + strlen(") thread "), &end, 10);
    }
    return end != NULL && strncmp(end, " of ", 4) == 0 ? (int)strtol(end + 4, NULL, 10) : WARP;
}

/* "FILE:LINE" behind " in ", up to a comma, ";" or the end. */
static int same_line(const char *first, const char *second) {
    const char *a = strstr(first, " in "), *b = strstr(second, " in ");
    size_t n = a != NULL ? strcspn(a, ",;\n") : 0;
    return a != NULL && b != NULL && a < second && n == strcspn(b, ",;\n") && strncmp(a, b, n) == 0;
}

static void print_race(FILE *file, const char *text) {
    const char *second = strstr(text, "; block ");
    char block[2][40];
    int thread[2];
    if (second == NULL || !read_thread(text, block[0], &thread[0]) ||
        !read_thread(second, block[1], &thread[1])) {
        return;
    }
    const char *first = strstr(text, "block (");
    fprintf(file, "\n  two accesses to one place:\n    %.*s\n    %s\n", (int)(second - first),
            first, second + 2);
    if (same_line(first, second)) {
        fputs("  it is one line, by which two threads come to the same place: is the index right, "
              "with a place for each? If it is:\n",
              file);
    }
    if (strcmp(block[0], block[1]) != 0) {
        fputs("  they are of two blocks, which no barrier of a kernel orders: give each block its "
              "own place, add up with atomics, let a\n  second launch on the stream read it, or "
              "hand it over: after the write a barrier of the block, __threadfence() and an\n  "
              "atomic of the same thread, by which the other block knows that it comes later "
              "(GATE-9)\n",
              file);
    } else if (thread[0] / WARP != thread[1] / WARP) {
        fputs("  they are of two warps of a block: between the two lines there must be a "
              "__syncthreads() that both come to, on each way\n  round the loop (__syncwarp() "
              "orders one warp alone); or each must have a place of its own (GATE-9)\n",
              file);
    } else if (threads_of(text) > WARP) {
        fprintf(
            file,
            "  they are of one warp, of a block of %d threads: between the two lines there must "
            "be, on each way round the loop, also behind its\n  last line, a __syncwarp() with "
            "both lanes in its mask; or a __syncthreads() that all come to, where another warp "
            "touches that\n  place, too; or each must have a place of its own (GATE-9)\n",
            threads_of(text));
    } else {
        fputs(
            "  they are of one warp: between the two lines there must be a __syncwarp() with both "
            "lanes in its mask, or a shuffle that\n  passes the number on; or each must have a "
            "place of its own (GATE-9)\n",
            file);
    }
}

/* ---- What the executor finds beside that ---- */

/* By the word that its text begins with. */
static const char *const executor_advice[][2] = {
    {"uninitialized_shared",
     "shared memory is to be written, for all that is read of it, by threads of the same block "
     "before a barrier. Look at what fills it: the\n  end of a tile that is not full, behind the "
     "last key or element, is to be filled, too; threads that have returned fill\n  nothing; and "
     "what is written with one stride is not where another one reads it (GATE-9)"},
    {"out_of_bounds_shared",
     "an array in shared memory is smaller than what is written or read. Look at the bytes that "
     "the launch gives (<<<blocks, threads, bytes>>>),\n  one part for each warp and each buffer, "
     "and at the index: rows of the tile, and their stride (GATE-9)"},
    {"in_flight",
     "an asynchronous copy is under way to or from there: wait for it (cp.async.wait_group), and "
     "for the other threads' by a barrier\n  behind that (GATE-9)"},
    {"misaligned",
     "a vector of 2, 4, 8 or 16 bytes lies at a multiple of its size: strides and d that are no "
     "multiple of it are to be refused,\n  or read number by number (GATE-9)"},
    {"barrier_divergence",
     "each thread of the block that has not returned must come to the same __syncthreads(): none "
     "in a branch, or in a loop, that some\n  leave earlier (GATE-9)"},
    {"warp_divergence",
     "all lanes in the mask must come to the same shuffle or vote, with the same mask: none in a "
     "branch that some do not take\n  (GATE-9)"},
    {"inactive_lane",
     "a shuffle takes from a lane that does not take part in it, or a lane is not in its own mask: "
     "look at the mask where lanes have\n  left a loop (GATE-9)"},
    {"step_limit", "a loop does not end: look at what counts it (GATE-9)"},
};

static const char *advice_on(const char *text) {
    for (size_t i = 0; i < sizeof executor_advice / sizeof executor_advice[0]; i++) {
        if (strncmp(text, executor_advice[i][0], strlen(executor_advice[i][0])) == 0) {
            return executor_advice[i][1];
        }
    }
    return NULL;
}

/* ---- All ---- */

const char gate_keeps_something[] = "right in a fresh process: GATE-4, the kernel keeps something "
                                    "from call to call. Look for what is "
                                    "static or global:\n  a table, a length, a maximum, an address "
                                    "that says that all is as it was; "
                                    "or memory that is not cleared";

static const char *advice_of(enum gate_verdict verdict) {
    switch (verdict) {
    case GATE_RIGHT:
        return "this case is right now: there is nothing to explain";
    case GATE_WROTE_BETWEEN:
        return "rows and heads of out and of the log-sum-exp lie as far apart as the call's "
               "strides say; d elements, or one\n  number, of each are its own: no index is made "
               "of d and the number of heads instead, and no vector reaches\n  over the end of a "
               "row (GATE-3)";
    case GATE_WROTE_INPUT:
        return "Q, K, V and the lists of the call are read-only: what is to be scaled or sorted is "
               "copied to the workspace first (GATE-3)";
    case GATE_WROTE_LATE:
        return "all work is to be done when attend() returns: threads are joined, and copies "
               "waited "
               "for (GATE-3)";
    case GATE_REMEMBERS:
        return gate_keeps_something;
    case GATE_HANGS:
        return "attend() did not return: for these sizes a loop does not end, or a thread waits "
               "for one "
               "that does not come. Look at\n  what counts the loop, and at what is special here: "
               "a "
               "size, a row that sees no key, a tile that is full (GATE-1)";
    case GATE_CRASHED:
        return "the kernel crashed at that place: a trap, an illegal instruction, or a division of "
               "whole "
               "numbers by zero (a group\n  of heads, tiles or splits of which there are none for "
               "these "
               "sizes) (GATE-1)";
    case GATE_EXITED:
        return "the kernel ended its process by exit(), and never returned: it is a library, and "
               "says that "
               "it failed by what\n  attend() returns (GATE-1)";
    case GATE_FAILED:
        return "attend() returned that it failed, for a call that refuses() takes: refuse such "
               "sizes there, "
               "or compute them (GATE-1)";
    case GATE_UNDEFINED:
        return "the first word above is what the executor calls it; kernels/simt/README.md says "
               "what each is (GATE-9)";
    default:
        return NULL;
    }
}

void explain_access(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                    const struct gate_finding *finding) {
    struct gate_problem p;
    char text[sizeof finding->text];
    const char *advice = advice_on(finding->text);
    advice = advice != NULL ? advice : advice_of(finding->verdict);
    if (strstr(finding->text, "after it had returned") != NULL) {
        advice = advice_of(GATE_WROTE_LATE);
    } else if (finding->verdict == GATE_OUT_OF_BOUNDS &&
               strstr(finding->text, "workspace") != NULL) {
        advice = "the workspace has as many bytes as workspace() asked for, for a call of these "
                 "sizes: that is too few, or a\n  place in it is counted wrongly: by row, head, "
                 "part or shared level, each up to how many there are (GATE-3)";
    }
    memcpy(text, finding->text, sizeof text);
    gate_name_lines(runner_file(runner), text, sizeof text);
    if (gate_problem_new(&p, recipe, runner_kernel(runner)) == 0) {
        explain_tree(file, &p);
        gate_problem_free(&p);
    }
    if (finding->verdict == GATE_RACES) {
        print_race(file, text);
    } else if (finding->verdict == GATE_OUT_OF_BOUNDS &&
               gate_problem_new(&p, recipe, runner_kernel(runner)) == 0) {
        print_spot(file, &p, text);
        gate_problem_free(&p);
    }
    if (advice != NULL) {
        fprintf(file, "\n  %s\n", advice);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the reference which keys a row sees. For a run by itself, with all scores 0 and the value 1
 * in number i of the key in slot i, number i of the result is above 0 where the row sees that key:
 *
 *     a row that sees slots 1 and 2 of 4     out = 0 1/2 1/2 0
 *
 * So no rule of windows and masks is written a second time here. */
#include "cli/show/keys.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/attend.h"
#include "chunkproof/status.h"
#include "cli/base/command.h"
#include "cli/base/text.h"

/* ---- One run of one sequence ---- */

struct probe {
    const struct show_keys *keys;
    struct cp_plan *plan; /* of one sequence with one run, in chunk 0 */
    int query_begin[2];
    double *zeros;       /* [n_rows] queries; [c] keys */
    double *values;      /* [c][c] */
    double *out;         /* [n_rows][c] */
    unsigned char *bits; /* MASK-1 */
    size_t *first;
    int *begin;
};

static int probe_new(struct probe *probe, const struct show_keys *keys) {
    const struct show_question *question = keys->question;
    size_t rows = (size_t)question->n_rows, c = (size_t)keys->plan->chunk_size;
    size_t n_bits = rows * (size_t)question->n_bits;
    memset(probe, 0, sizeof *probe);
    probe->keys = keys;
    probe->query_begin[1] = question->n_rows;
    probe->zeros = cli_allocate(NULL, rows + c, sizeof *probe->zeros);
    probe->values = cli_allocate(NULL, c * c, sizeof *probe->values);
    probe->out = cli_allocate(NULL, rows * c, sizeof *probe->out);
    probe->bits = cli_allocate(NULL, n_bits / 8 + 1, 1);
    probe->first = cli_allocate(NULL, rows, sizeof *probe->first);
    probe->begin = cli_allocate(NULL, rows, sizeof *probe->begin);
    for (size_t i = 0; i < rows + c; i++) {
        probe->zeros[i] = 0.0;
    }
    for (size_t i = 0; i < c * c; i++) {
        probe->values[i] = i / c == i % c;
    }
    memset(probe->bits, 0, n_bits / 8 + 1);
    for (size_t i = 0; i < n_bits; i++) {
        probe->bits[i / 8] |= (unsigned char)(question->is_left[i] << i % 8);
    }
    for (size_t row = 0; row < rows; row++) {
        probe->first[row] = row * (size_t)question->n_bits;
    }
    return cp_plan_new(&probe->plan);
}

static void probe_free(struct probe *probe) {
    cp_plan_free(probe->plan);
    free(probe->zeros);
    free(probe->values);
    free(probe->out);
    free(probe->bits);
    free(probe->first);
    free(probe->begin);
}

/* Makes the plan of run k of sequence s alone: any list of runs is one (RUNS-1). */
static void choose_run(struct probe *probe, int s, int k) {
    const struct show_keys *keys = probe->keys;
    const struct cp_run *run = &keys->plan->sequence[s].run[k];
    struct cp_plan *plan = probe->plan;
    plan->capacity = 1;
    plan->chunk_size = keys->plan->chunk_size;
    plan->n_sequences = 1;
    plan->n_shared = plan->n_served = 0;
    plan->sequence[0].n_tokens = run->n_tokens;
    plan->sequence[0].n_chunks = 1;
    plan->sequence[0].n_shared = 0;
    plan->sequence[0].run[0] = (struct cp_run){0, run->n_tokens, run->position};
    for (int row = 0; row < keys->question->n_rows; row++) {
        probe->begin[row] = keys->plan->sequence[s].n_tokens - keys->question->n_bits;
    }
}

/* Fills out. Returns a status of the library. */
static int attend(struct probe *probe, int s, struct cp_window window, int is_masked) {
    const struct show_keys *keys = probe->keys;
    int rows = keys->question->n_rows, c = keys->plan->chunk_size;
    struct cp_attention attention = {
        .plan = probe->plan,
        .stamp = probe->plan->stamp,
        .n_heads = 1,
        .n_kv_heads = 1,
        .head_dim = 1,
        .value_dim = c,
        .v_row = c,
        .scale = 1.0,
        .query_begin = probe->query_begin,
        .position = keys->position + (ptrdiff_t)s * rows,
        .window = window,
        .q_type = CP_FP64,
        .k_type = CP_FP64,
        .v_type = CP_FP64,
        .out_type = CP_FP64,
        .q = probe->zeros,
        .k = probe->zeros + rows,
        .v = probe->values,
        .out = probe->out,
        .variant = CP_MERGE_AT_ONCE,
    };
    if (is_masked) {
        attention.mask = (struct cp_mask){probe->bits, probe->first, probe->begin};
    }
    attention.workspace_size = cp_attend_workspace(&attention);
    attention.workspace = cli_allocate(NULL, attention.workspace_size + 1, 1);
    int status = cp_attend(&attention);
    free(attention.workspace);
    return status;
}

/* Writes a sight for each key of the run that the last attend() says to be seen (`wanted` 1) or not
 * seen (0), where the sight is `old` by now. */
static void note(const struct probe *probe, int s, int k, int wanted, enum show_sight old,
                 enum show_sight sight) {
    const struct show_keys *keys = probe->keys;
    const struct cp_plan_sequence *path = &keys->plan->sequence[s];
    int c = keys->plan->chunk_size;
    for (int row = 0; row < keys->question->n_rows; row++) {
        unsigned char *to = keys->sight + keys->first[s] + (size_t)row * (size_t)path->n_tokens +
                            path->run[k].position;
        for (int i = 0; i < path->run[k].n_tokens; i++) {
            int is_seen = probe->out[row * c + i] > 0.0;
            if (is_seen == wanted && to[i] == old) {
                to[i] = (unsigned char)sight;
            }
        }
    }
}

static int ask_about(struct probe *probe, int s, int k) {
    const struct show_question *question = probe->keys->question;
    struct cp_window window = question->window;
    int is_masked = question->n_bits > 0;
    choose_run(probe, s, k);
    int status = attend(probe, s, window, is_masked);
    note(probe, s, k, 1, SHOW_HIDDEN, SHOW_SEEN);
    if (status == CP_OK && is_masked) {
        status = attend(probe, s, window, 0);
        note(probe, s, k, 1, SHOW_HIDDEN, SHOW_TAKEN);
    }
    if (status == CP_OK && window.kept > 0) {
        window.kept = 0;
        status = attend(probe, s, window, 0);
        note(probe, s, k, 0, SHOW_SEEN, SHOW_KEPT);
    }
    return status;
}

/* ---- All of them ---- */

int show_keys_new(struct show_keys *keys, const struct cp_plan *plan,
                  const struct show_question *question) {
    struct probe probe;
    size_t b = (size_t)plan->n_sequences, n = 0, rows = (size_t)question->n_rows;
    *keys = (struct show_keys){.question = question, .plan = plan};
    keys->position = cli_allocate(NULL, b * rows, sizeof *keys->position);
    keys->first = cli_allocate(NULL, b, sizeof *keys->first);
    for (size_t s = 0; s < b; s++) {
        keys->first[s] = n;
        n += rows * (size_t)plan->sequence[s].n_tokens;
        for (size_t row = 0; row < rows; row++) {
            keys->position[s * rows + row] =
                plan->sequence[s].n_tokens - question->n_rows + (int)row;
        }
    }
    keys->sight = cli_allocate(NULL, n, 1);
    memset(keys->sight, SHOW_HIDDEN, n);
    int status = probe_new(&probe, keys);
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int k = 0; k < plan->sequence[s].n_chunks && status == CP_OK; k++) {
            status = ask_about(&probe, s, k);
        }
    }
    probe_free(&probe);
    if (status != CP_OK) {
        fprintf(stderr, "chunkproof show: %s\n", cp_status_text(status));
        return EXIT_BAD_USE;
    }
    return EXIT_RIGHT;
}

void show_keys_free(struct show_keys *keys) {
    free(keys->position);
    free(keys->first);
    free(keys->sight);
}

/* ---- Questions ---- */

int show_keys_position(const struct show_keys *keys, int s, int row) {
    return keys->position[s * keys->question->n_rows + row];
}

enum show_sight show_keys_sight(const struct show_keys *keys, int s, int row, int j) {
    size_t n = (size_t)keys->plan->sequence[s].n_tokens;
    return (enum show_sight)keys->sight[keys->first[s] + (size_t)row * n + (size_t)j];
}

int show_keys_sees(const struct show_keys *keys, int s, int row, int j) {
    enum show_sight sight = show_keys_sight(keys, s, row, j);
    return sight == SHOW_SEEN || sight == SHOW_KEPT;
}

int show_keys_of_run(const struct show_keys *keys, int s, int row, int k) {
    const struct cp_run *run = &keys->plan->sequence[s].run[k];
    int n = 0;
    for (int i = 0; i < run->n_tokens; i++) {
        n += show_keys_sees(keys, s, row, run->position + i);
    }
    return n;
}

int show_keys_of_row(const struct show_keys *keys, int s, int row) {
    int n = 0;
    for (int k = 0; k < keys->plan->sequence[s].n_chunks; k++) {
        n += show_keys_of_run(keys, s, row, k);
    }
    return n;
}

int show_keys_range(const struct show_keys *keys, int s, int row, int k, int from,
                    struct show_range *range) {
    const struct cp_run *run = &keys->plan->sequence[s].run[k];
    int i = from;
    while (i < run->n_tokens && !show_keys_sees(keys, s, row, run->position + i)) {
        i++;
    }
    range->begin = i;
    while (i < run->n_tokens && show_keys_sees(keys, s, row, run->position + i)) {
        i++;
    }
    range->end = i;
    return range->begin < range->end;
}

int show_keys_run_of(const struct cp_plan *plan, const struct cp_shared_chunk *shared) {
    return shared->position / plan->chunk_size;
}

int show_keys_is_left_out(const struct show_keys *keys, int begin, int end, int k) {
    int n = 0;
    for (int s = begin; s < end; s++) {
        for (int row = 0; row < keys->question->n_rows; row++) {
            n += show_keys_of_run(keys, s, row, k);
        }
    }
    return n == 0;
}

void show_keys_name(char name[SHOW_ROW_NAME], const struct show_keys *keys, int s, int row) {
    if (keys->question->n_rows == 1) {
        snprintf(name, SHOW_ROW_NAME, "q%d", s);
    } else {
        snprintf(name, SHOW_ROW_NAME, "q%d.%d", s, row);
    }
}

void show_keys_title(FILE *out, const struct show_keys *keys) {
    const struct show_question *question = keys->question;
    const struct cp_window *window = &question->window;
    if (window->keys > 0) {
        fprintf(out, "a window of %d key%s, the row's own among them (%d before it)", window->keys,
                window->keys == 1 ? "" : "s", window->keys - 1);
    } else {
        fputs("all keys up to the row's own position", out);
    }
    if (window->ahead > 0) {
        fprintf(out, ", and %d ahead", window->ahead);
    }
    if (window->kept > 0) {
        fprintf(out, ", and the first %d, which are kept", window->kept);
    }
    if (question->n_bits > 0) {
        fprintf(out, "; of the last %d keys only those that %s", question->n_bits,
                question->parent != NULL ? "are on its path in the tree" : "the mask leaves");
    }
}

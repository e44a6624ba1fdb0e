/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases as text, where rows do not see all keys. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/show/keys.h"
#include "cli/show/list.h"

/* "q2", and where the row does not see all keys of the run, which: "q2[0,1)[3,4)". The caller frees
 * it. With a chunk's name, that stands for the row's. */
static char *item_of(const struct show_keys *keys, int s, int row, int k, const char *name) {
    char *item;
    size_t size;
    FILE *out = text_open(&item, &size);
    fputs(name, out);
    if (show_keys_of_run(keys, s, row, k) < keys->plan->sequence[s].run[k].n_tokens) {
        struct show_range range = {0, 0};
        while (show_keys_range(keys, s, row, k, range.end, &range)) {
            fprintf(out, "[%d,%d)", range.begin, range.end);
        }
    }
    text_close(out);
    return item;
}

/* ---- Phase 1 ---- */

/* The rows that see a key of the shared chunk, or (is_seen 0) those that see none. */
static int put_rows(struct show_list *list, const struct show_keys *keys,
                    const struct cp_shared_chunk *shared, int is_seen) {
    int n = 0, k = show_keys_run_of(keys->plan, shared);
    for (int s = shared->begin; s < shared->end; s++) {
        for (int row = 0; row < keys->question->n_rows; row++) {
            if ((show_keys_of_run(keys, s, row, k) > 0) == is_seen) {
                char name[SHOW_ROW_NAME];
                show_keys_name(name, keys, s, row);
                char *item = item_of(keys, s, row, k, name);
                show_list_put(list, is_seen ? item : name);
                free(item);
                n++;
            }
        }
    }
    return n;
}

static void put_shared(FILE *out, const struct show_view *view,
                       const struct cp_shared_chunk *shared) {
    const struct show_keys *keys = view->keys;
    int label =
        fprintf(out, "%*sC%d ", 5 - snprintf(NULL, 0, "%d", shared->chunk), "", shared->chunk);
    struct show_list list = {out, view->width, label + 2, label, 1};
    if (show_keys_is_left_out(keys, shared->begin, shared->end,
                              show_keys_run_of(keys->plan, shared))) {
        show_list_put(&list, "no row sees a key of it: the plan may leave it out");
    } else {
        int n = (shared->end - shared->begin) * keys->question->n_rows;
        show_list_put(&list, view->ascii ? "x" : "×");
        if (put_rows(&list, keys, shared, 1) < n) {
            list.gap = 2;
            show_list_put(&list, "not");
            put_rows(&list, keys, shared, 0);
        }
    }
    fputc('\n', out);
}

static void put_chunk_first(FILE *out, const struct show_view *view) {
    const struct cp_plan *plan = view->keys->plan;
    text_put_wrapped(out,
                     "Phase 1, chunk first: each shared chunk is read once for all rows that see a "
                     "key of it; each keeps a partial result (m, n, o). q1[2,4) sees of its slots "
                     "2 and 3 alone, a row without ranges all",
                     0, 0, view->width);
    for (int i = 0; i < plan->n_shared; i++) {
        put_shared(out, view, &plan->shared[i]);
    }
    if (plan->n_shared == 0) {
        fputs("    (nothing to do: no chunk is shared)\n", out);
    }
}

/* ---- Phase 2 ---- */

static void put_row(FILE *out, const struct show_view *view, int s, int row) {
    const struct show_keys *keys = view->keys;
    const struct cp_plan_sequence *path = &keys->plan->sequence[s];
    const char *merge = view->ascii ? "+" : "⊕";
    char name[SHOW_ROW_NAME];
    int n = 0;
    show_keys_name(name, keys, s, row);
    int label = fprintf(out, "%7s:", name);
    struct show_list list = {out, view->width, label + 1, label, 1};
    for (int k = 0; k < path->n_chunks; k++) {
        if (show_keys_of_run(keys, s, row, k) > 0) {
            char chunk[32];
            snprintf(chunk, sizeof chunk, k < path->n_shared ? "(C%d)" : "C%d", path->run[k].chunk);
            char *item = item_of(keys, s, row, k, chunk);
            if (n++ > 0) {
                show_list_put(&list, merge);
            }
            show_list_put(&list, item);
            free(item);
        }
    }
    if (keys->question->has_sink) {
        if (n > 0) {
            show_list_put(&list, merge);
        }
        show_list_put(&list, n > 0 ? "sink" : "the sink alone, so out = 0");
    } else if (n == 0) {
        show_list_put(&list, "no key, so out = 0");
    }
    fputc('\n', out);
}

#define PHASE_2(merge)                                                                             \
    "Phase 2, sequence first: each row merges (" merge ") its partial results of phase 1, (C), "   \
    "with the chunks that it alone has, of which it sees the slots [i,j), and divides: out = o / " \
    "n"

static void put_sequence_first(FILE *out, const struct show_view *view) {
    const struct show_keys *keys = view->keys;
    text_put_wrapped(out, view->ascii ? PHASE_2("+") : PHASE_2("⊕"), 0, 0, view->width);
    if (keys->question->has_sink) {
        text_put_wrapped(out,
                         "The sink is one key more, with a score of its own and a value of zeros: "
                         "each row merges it once, here and not in phase 1",
                         0, 0, view->width);
    }
    for (int s = 0; s < keys->plan->n_sequences; s++) {
        for (int row = 0; row < keys->question->n_rows; row++) {
            put_row(out, view, s, row);
        }
    }
}

/* ---- What is not read ---- */

/* Chunks of one sequence that no row sees; shared ones are named in phase 1. */
static void put_left_out(FILE *out, const struct show_view *view) {
    const struct show_keys *keys = view->keys;
    const char *before = "Chunks of one sequence of which no row sees a key; the plan may leave "
                         "them out:";
    int n = 0;
    char *text;
    size_t size;
    FILE *list = text_open(&text, &size);
    fputs(before, list);
    for (int s = 0; s < keys->plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &keys->plan->sequence[s];
        for (int k = path->n_shared; k < path->n_chunks; k++) {
            if (show_keys_is_left_out(keys, s, s + 1, k)) {
                fprintf(list, " C%d", path->run[k].chunk);
                n++;
            }
        }
    }
    text_close(list);
    if (n > 0) {
        fputc('\n', out);
        text_put_wrapped(out, text, 0, 0, view->width);
    }
    free(text);
}

void show_keys_phases(FILE *out, const struct show_view *view) {
    put_chunk_first(out, view);
    fputc('\n', out);
    put_sequence_first(out, view);
    put_left_out(out, view);
}

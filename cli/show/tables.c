/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the drawing that are text in every format: sequences, plan, phases, memory. */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/show/keys.h"
#include "cli/show/list.h"
#include "cli/show/show.h"

static int digits(int number) {
    return snprintf(NULL, 0, "%d", number);
}

/* ---- Sequences ---- */

static void put_sequences(FILE *out, const struct show_view *view) {
    const struct cp_plan *plan = view->world->plan;
    const char *mark = view->ascii ? "~" : "…";
    text_put_wrapped(out, "Sequences: tokens, how many are shared, path (shared chunks | its own)",
                     0, 0, view->width);
    fputs("   S  name          tokens  shared  path\n", out);
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        const char *tenant = show_tenant_name(view->world, s);
        char *name = text_cut(show_sequence_name(view->world, s), 12, mark);
        fprintf(out, "%4d  %s", s, name);
        text_put_blanks(out, 12 - text_columns(name));
        fprintf(out, "  %6d  %6d ", path->n_tokens, path->n_shared * plan->chunk_size);
        free(name);
        struct show_list list = {out, view->width, 35, 35, 1};
        for (int k = 0; k < path->n_chunks; k++) {
            if (k == path->n_shared && k > 0) {
                show_list_put(&list, "|");
            }
            show_list_put_number(&list, "C", path->run[k].chunk, "");
        }
        if (path->n_chunks == 0) {
            show_list_put(&list, "(empty: no chunk)");
        }
        if (tenant != NULL) {
            show_list_put(&list, "(tenant");
            show_list_put(&list, tenant);
            fputc(')', out);
        }
        fputc('\n', out);
    }
}

/* ---- The plan ---- */

/* One more than the last of the shared chunks that have the range of number i, from i on. */
static int run_end(const struct cp_plan *plan, int i) {
    int end = i + 1;
    while (end < plan->n_shared && plan->shared[end].begin == plan->shared[i].begin &&
           plan->shared[end].end == plan->shared[i].end) {
        end++;
    }
    return end;
}

void show_plan_in_short(FILE *out, const struct show_view *view, int indent) {
    const struct cp_plan *plan = view->world->plan;
    struct show_list list = {out, view->width, indent, indent - 1, 1};
    text_put_blanks(out, indent - 1);
    for (int i = 0; i < plan->n_shared; i = run_end(plan, i)) {
        for (int k = i; k < run_end(plan, i); k++) {
            show_list_put_number(&list, k == i ? "[C" : "C", plan->shared[k].chunk,
                                 k + 1 < run_end(plan, i) ? "," : "]");
        }
        char range[64];
        snprintf(range, sizeof range, "x [%d,%d)", plan->shared[i].begin, plan->shared[i].end);
        show_list_put(&list, range);
        list.gap = 2;
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        for (int k = path->n_shared; k < path->n_chunks; k++) {
            show_list_put_number(&list, k == path->n_shared ? "[C" : "C", path->run[k].chunk,
                                 k + 1 < path->n_chunks ? "," : "]");
        }
        if (path->n_shared < path->n_chunks) {
            char range[64];
            snprintf(range, sizeof range, "x [%d,%d)", s, s + 1);
            show_list_put(&list, range);
            list.gap = 2;
        }
    }
    if (plan->n_shared == 0 && list.column < indent) {
        show_list_put(&list, "(empty)");
    }
    fputc('\n', out);
}

static void put_shared(FILE *out, const struct show_view *view) {
    const struct cp_plan *plan = view->world->plan;
    char heading[160];
    snprintf(heading, sizeof heading,
             "Plan, shared[]: chunk C serves the sequences [begin,end); epoch %llu, step %llu",
             plan->stamp.epoch, plan->stamp.step);
    text_put_wrapped(out, heading, 0, 0, view->width);
    fputs("     C  begin    end  n_tokens  position\n", out);
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        fprintf(out, "%*sC%d  %5d  %5d  %8d  %8d\n", 5 - digits(shared->chunk), "", shared->chunk,
                shared->begin, shared->end, shared->n_tokens, shared->position);
    }
    if (plan->n_shared == 0) {
        fputs("    (no chunk is shared)\n", out);
    }
}

static void put_paths(FILE *out, const struct show_view *view) {
    const struct cp_plan *plan = view->world->plan;
    text_put_wrapped(out, "Plan, sequence[]: whole paths, of which n_shared chunks are shared", 0,
                     0, view->width);
    fputs("     S  n_tokens  n_chunks  n_shared  chunk\n", out);
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        int label =
            fprintf(out, "%6d  %8d  %8d  %8d ", s, path->n_tokens, path->n_chunks, path->n_shared);
        struct show_list list = {out, view->width, label + 1, label, 1};
        for (int k = 0; k < path->n_chunks; k++) {
            show_list_put_number(&list, "C", path->run[k].chunk, "");
        }
        fputc('\n', out);
    }
}

static void put_plan(FILE *out, const struct show_view *view) {
    put_shared(out, view);
    fputc('\n', out);
    put_paths(out, view);
    fputc('\n', out);
    text_put_wrapped(out,
                     "The papers' form, (C, i, j), which has the chunks of one sequence as well", 0,
                     0, view->width);
    show_plan_in_short(out, view, 2);
}

/* ---- The two phases ---- */

static void put_chunk_first(FILE *out, const struct show_view *view) {
    const struct cp_plan *plan = view->world->plan;
    const char *times = view->ascii ? "x" : "×";
    text_put_wrapped(out,
                     "Phase 1, chunk first: each shared chunk is read once for all queries in its "
                     "range; each query keeps a partial result (m, n, o)",
                     0, 0, view->width);
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        int label = fprintf(out, "%*sC%d ", 5 - digits(shared->chunk), "", shared->chunk);
        struct show_list list = {out, view->width, label + 2, label, 1};
        show_list_put(&list, times);
        for (int s = shared->begin; s < shared->end; s++) {
            show_list_put_number(&list, "q", s, "");
        }
        fputc('\n', out);
    }
    if (plan->n_shared == 0) {
        fputs("    (nothing to do: no chunk is shared)\n", out);
    }
}

#define PHASE_2(merge)                                                                             \
    "Phase 2, sequence first: each query merges (" merge ") its partial results of phase 1, (C), " \
    "with the chunks that it alone has, and divides: out = o / n"

static void put_sequence_first(FILE *out, const struct show_view *view) {
    const struct cp_plan *plan = view->world->plan;
    const char *merge = view->ascii ? "+" : "⊕";
    text_put_wrapped(out, view->ascii ? PHASE_2("+") : PHASE_2("⊕"), 0, 0, view->width);
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s];
        int label = fprintf(out, "%*sq%d:", 5 - digits(s), "", s);
        struct show_list list = {out, view->width, label + 1, label, 1};
        for (int k = 0; k < path->n_chunks; k++) {
            if (k > 0) {
                show_list_put(&list, merge);
            }
            show_list_put_number(&list, k < path->n_shared ? "(C" : "C", path->run[k].chunk,
                                 k < path->n_shared ? ")" : "");
        }
        if (path->n_chunks == 0) {
            show_list_put(&list, "no key, so out = 0");
        }
        fputc('\n', out);
    }
}

/* ---- Memory ---- */

static void put_memory(FILE *out, const struct show_view *view) {
    const struct cp_tree *tree = view->world->tree;
    struct show_figures figures = show_count(tree);
    int saved = figures.apart_tokens - figures.tokens;
    int slots = figures.chunks * tree->chunk_size;
    fputs("Memory\n", out);
    fprintf(out, "    chunks used      %6d of %d\n", figures.chunks, tree->pool.capacity);
    fprintf(out, "    their slots      %6d, %d unused\n", slots, slots - figures.tokens);
    fprintf(out, "    tokens stored    %6d\n", figures.tokens);
    fprintf(out, "    without sharing  %6d, in %d chunk%s\n", figures.apart_tokens,
            figures.apart_chunks, figures.apart_chunks == 1 ? "" : "s");
    int chunks = figures.apart_chunks - figures.chunks;
    fprintf(out, "    saved            %6d (%.1f %%), and %d chunk%s\n", saved,
            figures.apart_tokens > 0 ? 100.0 * saved / figures.apart_tokens : 0.0, chunks,
            chunks == 1 ? "" : "s");
}

void show_tables_plan(FILE *out, const struct show_view *view) {
    put_sequences(out, view);
    fputc('\n', out);
    put_plan(out, view);
}

void show_tables_phases(FILE *out, const struct show_view *view) {
    if (view->keys != NULL) {
        show_keys_phases(out, view);
    } else {
        put_chunk_first(out, view);
        fputc('\n', out);
        put_sequence_first(out, view);
    }
    fputc('\n', out);
    put_memory(out, view);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* y = W x for n rows x. The rows of W are the "keys" of a tile, and each slice of work is BLOCK of
 * them, with all rows x:
 *
 *   few rows    dots(): W is read as stored, once, and x from the cache
 *   many rows   product(): c = W x^T. x is copied into panels first, PANEL rows in each, with the
 *               numbers of one column side by side. For DEPTH columns a panel stays in the first
 *               cache, and the block of W in the second:
 *
 *                      panel 0           panel 1
 *       x^T  column 0  x0 x1 .. x31      x32 .. x63
 *            column 1  x0 x1 .. x31      ..
 *
 * 576 columns are taken as 192 + 192 + 192. Rows behind the last one are zeros, and not stored. */
#include "opt/project.h"

#include <stdatomic.h>
#include <string.h>

#define BLOCK CP_OPT_KEYS /* rows of a matrix */
#define PANEL 32          /* rows of x */
#define DEPTH 256         /* columns, at most */

struct work {
    const struct cp_opt_kernels *kernels;
    struct opt_team *team;
    struct opt_rows rows;
    const struct opt_projection *to;
    int n_to;
    float *room; /* few rows: [n][padded n_in]; many: [n / PANEL, rounded up][n_in][PANEL] */
    atomic_int next_panel, next_block;
};

static int least(int a, int b) {
    return a < b ? a : b;
}

static int rounded_up(int n, int unit) {
    return (n + unit - 1) / unit;
}

static int is_few(const struct work *w) {
    return w->rows.n <= w->kernels->few;
}

static size_t padded(int n) {
    return (size_t)rounded_up(n, CP_OPT_PAD) * CP_OPT_PAD;
}

size_t cp_opt_project_room(int n, int n_in) {
    return (size_t)rounded_up(n, PANEL) * PANEL * padded(n_in);
}

/* Few rows: x with zeros behind each row, as dots() takes it. */
static void pad(const struct work *w) {
    size_t row = padded(w->rows.n_in), n_in = (size_t)w->rows.n_in;
    for (int t = 0; t < w->rows.n; t++) {
        float *to = w->room + (size_t)t * row;
        memcpy(to, w->rows.x + (size_t)t * n_in, n_in * sizeof *to);
        memset(to + n_in, 0, (row - n_in) * sizeof *to);
    }
}

static void pack(const struct work *w, int panel) {
    int first = panel * PANEL, n = least(PANEL, w->rows.n - first);
    size_t n_in = (size_t)w->rows.n_in;
    const float *x = w->rows.x + (size_t)first * n_in;
    float *to = w->room + (size_t)panel * n_in * PANEL;
    for (size_t c = 0; c < n_in; c++) {
        for (int t = 0; t < n; t++) {
            to[c * PANEL + (size_t)t] = x[(size_t)t * n_in + c];
        }
        for (int t = n; t < PANEL; t++) {
            to[c * PANEL + (size_t)t] = 0.0F;
        }
    }
}

static float bias_of(const struct opt_projection *to, int r) {
    return to->bias == NULL ? 0.0F : to->bias[r];
}

/* Rows first .. first + m - 1 of W, few rows x. */
static void block_of_few(const struct work *w, const struct opt_projection *to, int first, int m) {
    size_t n_in = (size_t)w->rows.n_in;
    for (int t = 0; t < w->rows.n; t += CP_OPT_LEAST_FEW) {
        float tile[CP_OPT_LEAST_FEW][BLOCK];
        int n = least(CP_OPT_LEAST_FEW, w->rows.n - t);
        w->kernels->dots(tile[0], w->room + (size_t)t * padded(w->rows.n_in), padded(w->rows.n_in),
                         n, to->weight + (size_t)first * n_in, CP_FP32, m, w->rows.n_in);
        for (int i = 0; i < n; i++) {
            float *y = to->y + (size_t)(t + i) * (size_t)to->n_out + first;
            for (int j = 0; j < m; j++) {
                y[j] = tile[i][j] + bias_of(to, first + j);
            }
        }
    }
}

static void block_of_panel(const struct work *w, const struct opt_projection *to, int first, int m,
                           int panel) {
    float tile[BLOCK][PANEL];
    int n_in = w->rows.n_in, n = least(PANEL, w->rows.n - panel * PANEL);
    int depth = rounded_up(n_in, rounded_up(n_in, DEPTH));
    const float *x = w->room + (size_t)panel * (size_t)n_in * PANEL;
    const float *weight = to->weight + (size_t)first * (size_t)n_in;
    int k = 0;
    do {
        struct opt_matrix a = {weight + k, (size_t)n_in, 1};
        w->kernels->product(tile[0], PANEL, a, x + (size_t)k * PANEL, PANEL, m, PANEL,
                            least(depth, n_in - k), k > 0, NULL);
        k += depth;
    } while (k < n_in);
    for (int t = 0; t < n; t++) {
        float *y = to->y + (size_t)(panel * PANEL + t) * (size_t)to->n_out + first;
        for (int i = 0; i < m; i++) {
            y[i] = tile[i][t] + bias_of(to, first + i);
        }
    }
}

static void block(const struct work *w, const struct opt_projection *to, int number) {
    int first = number * BLOCK, m = least(BLOCK, to->n_out - first);
    if (is_few(w)) {
        block_of_few(w, to, first, m);
        return;
    }
    for (int panel = 0; panel < rounded_up(w->rows.n, PANEL); panel++) {
        block_of_panel(w, to, first, m, panel);
    }
}

static int take(atomic_int *next) {
    return atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
}

static void work(void *shared, int thread) {
    struct work *w = shared;
    if (is_few(w) && thread == 0) {
        pad(w);
    }
    int n_panels = is_few(w) ? 0 : rounded_up(w->rows.n, PANEL);
    for (int panel; (panel = take(&w->next_panel)) < n_panels;) {
        pack(w, panel);
    }
    cp_opt_team_meet(w->team);
    int before = 0; /* blocks of the products before `i` */
    int number = take(&w->next_block);
    for (int i = 0; i < w->n_to; i++) {
        int n = rounded_up(w->to[i].n_out, BLOCK);
        for (; number < before + n; number = take(&w->next_block)) {
            block(w, &w->to[i], number - before);
        }
        before += n;
    }
}

void cp_opt_project(struct cp_opt *opt, struct opt_rows rows, const struct opt_projection *to,
                    int n_to, float *room) {
    struct work w = {
        .kernels = &opt->kernels, .team = opt->team, .rows = rows, .to = to, .n_to = n_to};
    w.room = room;
    atomic_init(&w.next_panel, 0);
    atomic_init(&w.next_block, 0);
    cp_opt_team_run(opt->team, work, &w);
}

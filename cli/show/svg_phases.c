/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases as SVG, after the papers' figure 2: queries are rows. On the left each shared
 * chunk is a box over the queries that it is batched with; on the right each query goes on
 * alone. Without keys in the view, each sequence has one query row, which sees all. */
#include "cli/base/text.h"
#include "cli/show/keys.h"
#include "cli/show/svg.h"

#define ROW_HEIGHT 40
#define ROW_GAP    8
#define STEP       76 /* from one chunk's column to the next */
#define BOX        60
#define QUERY      46

struct phases {
    FILE *out;
    const struct cp_plan *plan;
    const struct show_keys *keys; /* or NULL */
    int n_rows;                   /* of each sequence */
    int top;                      /* of the first row */
    int first;                    /* x of phase 1 */
    int second;                   /* x of phase 2 */
};

/* The y of a row, which is number `row` of all sequences' rows. */
static int row_top(const struct phases *phases, int row) {
    return phases->top + row * ROW_HEIGHT;
}

/* How many keys of run k of its sequence the row sees. */
static int n_seen(const struct phases *phases, int row, int k) {
    int s = row / phases->n_rows;
    return phases->keys != NULL ? show_keys_of_run(phases->keys, s, row % phases->n_rows, k)
                                : phases->plan->sequence[s].run[k].n_tokens;
}

static void put_labelled(FILE *out, const char *class, int x, int y, int width, const char *letter,
                         int number) {
    show_svg_box(out, class, x, y, width, ROW_HEIGHT - ROW_GAP);
    show_svg_text(out, "middle bold", x + width / 2, y + 20, "%s%d", letter, number);
}

/* The partial result of a row, with how many keys are in it where these are not all. */
static void put_partial(const struct phases *phases, int x, int row, int n, int n_tokens) {
    int y = row_top(phases, row);
    if (n == 0) {
        show_svg_text(phases->out, "middle note", x + BOX / 2, y + 20, "none");
        return;
    }
    show_svg_box(phases->out, "part", x + 6, y + 5, BOX - 12, ROW_HEIGHT - ROW_GAP - 10);
    if (n == n_tokens) {
        show_svg_text(phases->out, "middle", x + BOX / 2, y + 20, "m,n,o");
    } else {
        show_svg_text(phases->out, "middle", x + BOX / 2, y + 20, "%d of %d", n, n_tokens);
    }
}

/* One box for each shared chunk, with a partial result in it for each query that sees it. */
static void put_chunk_first(const struct phases *phases) {
    for (int i = 0; i < phases->plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &phases->plan->shared[i];
        int begin = shared->begin * phases->n_rows, end = shared->end * phases->n_rows;
        int k = show_keys_run_of(phases->plan, shared);
        int x = phases->first + i * STEP;
        int y = row_top(phases, begin);
        int height = (end - begin) * ROW_HEIGHT - ROW_GAP;
        int is_left_out = phases->keys != NULL &&
                          show_keys_is_left_out(phases->keys, shared->begin, shared->end, k);
        show_svg_text(phases->out, "middle bold", x + BOX / 2, y - 5, "C%d", shared->chunk);
        show_svg_box(phases->out, is_left_out ? "unused" : "shared", x, y, BOX, height);
        for (int row = begin; row < end; row++) {
            put_partial(phases, x, row, n_seen(phases, row, k), shared->n_tokens);
        }
    }
}

/* An arrow to what is merged next, if something is before it. */
static int put_arrow(const struct phases *phases, int x, int y) {
    if (x > phases->second) {
        show_svg_line(phases->out, "arrow", x, x + STEP - BOX, y + (ROW_HEIGHT - ROW_GAP) / 2);
        x += STEP - BOX;
    }
    return x;
}

static void put_out(const struct phases *phases, int x, int y, int row) {
    if (phases->n_rows == 1) {
        put_labelled(phases->out, "out", x, y, QUERY, "out ", row);
    } else {
        show_svg_box(phases->out, "out", x, y, QUERY, ROW_HEIGHT - ROW_GAP);
        show_svg_text(phases->out, "middle bold", x + QUERY / 2, y + 20, "out");
    }
}

/* What the query restores, its own chunks, its output. Returns the right end. */
static int put_sequence_first(const struct phases *phases, int row) {
    const struct cp_plan_sequence *path = &phases->plan->sequence[row / phases->n_rows];
    int y = row_top(phases, row);
    int x = phases->second;
    int n_partials = 0;
    for (int k = 0; k < path->n_shared; k++) {
        n_partials += n_seen(phases, row, k) > 0;
    }
    if (n_partials > 0) {
        show_svg_box(phases->out, "part", x, y, 2 * BOX, ROW_HEIGHT - ROW_GAP);
        show_svg_text(phases->out, "middle", x + BOX, y + 20, "merge %d partial", n_partials);
        x += 2 * BOX;
    }
    for (int k = path->n_shared; k < path->n_chunks; k++) {
        if (n_seen(phases, row, k) > 0) {
            x = put_arrow(phases, x, y);
            put_labelled(phases->out, "own", x, y, BOX, "C", path->run[k].chunk);
            x += BOX;
        }
    }
    if (phases->keys != NULL && phases->keys->question->has_sink) {
        x = put_arrow(phases, x, y);
        show_svg_box(phases->out, "part", x, y, BOX, ROW_HEIGHT - ROW_GAP);
        show_svg_text(phases->out, "middle bold", x + BOX / 2, y + 20, "sink");
        x += BOX;
    }
    if (x > phases->second) {
        show_svg_line(phases->out, "arrow", x, x + STEP - BOX, y + (ROW_HEIGHT - ROW_GAP) / 2);
    }
    put_out(phases, x + STEP - BOX, y, row);
    return x + STEP - BOX + QUERY;
}

static void put_query(const struct phases *phases, int row) {
    int y = row_top(phases, row);
    if (phases->n_rows == 1) {
        put_labelled(phases->out, "query", SVG_MARGIN, y, QUERY, "q", row);
        return;
    }
    char name[SHOW_ROW_NAME];
    show_keys_name(name, phases->keys, row / phases->n_rows, row % phases->n_rows);
    show_svg_box(phases->out, "query", SVG_MARGIN, y, QUERY, ROW_HEIGHT - ROW_GAP);
    show_svg_text(phases->out, "middle bold", SVG_MARGIN + QUERY / 2, y + 20, "%s", name);
}

void show_svg_phases(struct show_svg *svg, const struct show_view *view) {
    const struct cp_plan *plan = view->world->plan;
    int first = SVG_MARGIN + QUERY + 20;
    int first_width = plan->n_shared * STEP > 330 ? plan->n_shared * STEP : 330;
    int n_rows = view->keys != NULL ? view->keys->question->n_rows : 1;
    struct phases phases = {svg->out,
                            plan,
                            view->keys,
                            n_rows,
                            svg->height + 2 * SVG_LINE + 30,
                            first,
                            first + first_width + 30};
    show_svg_text(svg->out, "head", SVG_MARGIN, svg->height + SVG_LINE,
                  "Phase 1, chunk first: a batch of queries");
    show_svg_text(svg->out, "note", SVG_MARGIN, svg->height + 2 * SVG_LINE,
                  phases.keys != NULL ? "2 of 4: keys that the row sees; hatched: no row"
                                      : "each shared chunk is read once for all of them");
    show_svg_text(svg->out, "head", phases.second, svg->height + SVG_LINE,
                  "Phase 2, sequence first: one query each");
    show_svg_text(svg->out, "note", phases.second, svg->height + 2 * SVG_LINE,
                  "merge the partial results with the own chunks");
    int right = phases.second + show_svg_columns_width(47);
    for (int row = 0; row < plan->n_sequences * n_rows; row++) {
        show_svg_box(svg->out, "row", SVG_MARGIN, row_top(&phases, row),
                     phases.second - 20 - SVG_MARGIN, ROW_HEIGHT - ROW_GAP);
        put_query(&phases, row);
        int end = put_sequence_first(&phases, row);
        right = end > right ? end : right;
    }
    put_chunk_first(&phases);
    show_svg_reach(svg, right);
    svg->height = row_top(&phases, plan->n_sequences * n_rows) + SVG_LINE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases as SVG, after the papers' figure 2: queries are rows. On the left each shared
 * chunk is a box over the queries that it is batched with; on the right each query goes on
 * alone. */
#include "cli/base/text.h"
#include "cli/show/svg.h"

#define ROW_HEIGHT 40
#define ROW_GAP    8
#define STEP       76 /* from one chunk's column to the next */
#define BOX        60
#define QUERY      46

struct phases {
    FILE *out;
    const struct cp_plan *plan;
    int top;    /* of the first row */
    int first;  /* x of phase 1 */
    int second; /* x of phase 2 */
};

static int row_top(const struct phases *phases, int s) {
    return phases->top + s * ROW_HEIGHT;
}

static void put_labelled(FILE *out, const char *class, int x, int y, int width, const char *letter,
                         int number) {
    show_svg_box(out, class, x, y, width, ROW_HEIGHT - ROW_GAP);
    show_svg_text(out, "middle bold", x + width / 2, y + 20, "%s%d", letter, number);
}

/* One box for each shared chunk, with a partial result in it for each query. */
static void put_chunk_first(const struct phases *phases) {
    for (int i = 0; i < phases->plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &phases->plan->shared[i];
        int x = phases->first + i * STEP;
        int y = row_top(phases, shared->begin);
        int height = (shared->end - shared->begin) * ROW_HEIGHT - ROW_GAP;
        show_svg_text(phases->out, "middle bold", x + BOX / 2, y - 5, "C%d", shared->chunk);
        show_svg_box(phases->out, "shared", x, y, BOX, height);
        for (int s = shared->begin; s < shared->end; s++) {
            show_svg_box(phases->out, "part", x + 6, row_top(phases, s) + 5, BOX - 12,
                         ROW_HEIGHT - ROW_GAP - 10);
            show_svg_text(phases->out, "middle", x + BOX / 2, row_top(phases, s) + 20, "m,n,o");
        }
    }
}

/* What the query restores, its own chunks, its output. Returns the right end. */
static int put_sequence_first(const struct phases *phases, int s) {
    const struct cp_plan_sequence *path = &phases->plan->sequence[s];
    int y = row_top(phases, s);
    int middle = y + (ROW_HEIGHT - ROW_GAP) / 2;
    int x = phases->second;
    if (path->n_shared > 0) {
        show_svg_box(phases->out, "part", x, y, 2 * BOX, ROW_HEIGHT - ROW_GAP);
        show_svg_text(phases->out, "middle", x + BOX, y + 20, "merge %d partial", path->n_shared);
        x += 2 * BOX;
    }
    for (int k = path->n_shared; k < path->n_chunks; k++) {
        if (k > 0) {
            show_svg_line(phases->out, "arrow", x, x + STEP - BOX, middle);
            x += STEP - BOX;
        }
        put_labelled(phases->out, "own", x, y, BOX, "C", path->run[k].chunk);
        x += BOX;
    }
    if (path->n_chunks > 0) {
        show_svg_line(phases->out, "arrow", x, x + STEP - BOX, middle);
    }
    put_labelled(phases->out, "out", x + STEP - BOX, y, QUERY, "out ", s);
    return x + STEP - BOX + QUERY;
}

void show_svg_phases(struct show_svg *svg, const struct show_view *view) {
    const struct cp_plan *plan = view->world->plan;
    int first = SVG_MARGIN + QUERY + 20;
    int first_width = plan->n_shared * STEP > 330 ? plan->n_shared * STEP : 330;
    struct phases phases = {svg->out, plan, svg->height + 2 * SVG_LINE + 30, first,
                            first + first_width + 30};
    show_svg_text(svg->out, "head", SVG_MARGIN, svg->height + SVG_LINE,
                  "Phase 1, chunk first: a batch of queries");
    show_svg_text(svg->out, "note", SVG_MARGIN, svg->height + 2 * SVG_LINE,
                  "each shared chunk is read once for all of them");
    show_svg_text(svg->out, "head", phases.second, svg->height + SVG_LINE,
                  "Phase 2, sequence first: one query each");
    show_svg_text(svg->out, "note", phases.second, svg->height + 2 * SVG_LINE,
                  "merge the partial results with the own chunks");
    int right = phases.second + show_svg_columns_width(47);
    for (int s = 0; s < plan->n_sequences; s++) {
        show_svg_box(svg->out, "row", SVG_MARGIN, row_top(&phases, s),
                     phases.second - 20 - SVG_MARGIN, ROW_HEIGHT - ROW_GAP);
        put_labelled(svg->out, "query", SVG_MARGIN, row_top(&phases, s), QUERY, "q", s);
        int end = put_sequence_first(&phases, s);
        right = end > right ? end : right;
    }
    put_chunk_first(&phases);
    show_svg_reach(svg, right);
    svg->height = row_top(&phases, plan->n_sequences) + SVG_LINE;
}

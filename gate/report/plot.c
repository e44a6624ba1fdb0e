/* SPDX-License-Identifier: Apache-2.0 */
/* Plots of error / bound. Wrong cases also differ in shape or hatching, not only in colour. */
#include <math.h>

#include "gate/report/html.h"

/* All measures are pixels. */
#define LEFT   96 /* of what is plotted */
#define TOP    22
#define RIGHT  150 /* behind it */
#define BOTTOM 44

/* ---- Shapes ---- */

static void put_box(struct markup *m, const char *class, double x, double y, double width,
                    double height) {
    markup_open(m, "rect");
    markup_attribute(m, "class", "%s", class);
    markup_attribute(m, "x", "%.1f", x);
    markup_attribute(m, "y", "%.1f", y);
    markup_attribute(m, "width", "%.1f", width);
    markup_attribute(m, "height", "%.1f", height);
}

static void put_line(struct markup *m, const char *class, double x1, double y1, double x2,
                     double y2) {
    markup_open(m, "line");
    markup_attribute(m, "class", "%s", class);
    markup_attribute(m, "x1", "%.1f", x1);
    markup_attribute(m, "y1", "%.1f", y1);
    markup_attribute(m, "x2", "%.1f", x2);
    markup_attribute(m, "y2", "%.1f", y2);
    markup_close(m);
    markup_newline(m);
}

static void open_label(struct markup *m, const char *anchor, double x, double y) {
    markup_open(m, "text");
    markup_attribute(m, "text-anchor", "%s", anchor);
    markup_attribute(m, "x", "%.1f", x);
    markup_attribute(m, "y", "%.1f", y);
}

static void put_label(struct markup *m, const char *anchor, double x, double y, const char *text) {
    open_label(m, anchor, x, y);
    markup_text(m, "%s", text);
    markup_close(m);
    markup_newline(m);
}

static void open_plot(struct markup *m, const char *name, int width, int height) {
    markup_open(m, "svg");
    markup_attribute(m, "xmlns", "http://www.w3.org/2000/svg");
    markup_attribute(m, "class", "plot");
    markup_attribute(m, "role", "img");
    markup_attribute(m, "aria-label", "%s", name);
    markup_attribute(m, "width", "%d", width);
    markup_attribute(m, "viewBox", "0 0 %d %d", width, height);
    markup_newline(m);
}

void gate_html_definitions(struct markup *m) {
    markup_raw(m,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"definitions\" width=\"0\" "
               "height=\"0\" aria-hidden=\"true\"><defs>\n"
               "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
               "<path class=\"hatch\" d=\"M0 6 L6 0\"></path></pattern>\n"
               "<pattern id=\"stripes\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
               "<rect class=\"stripe-ground\" width=\"5\" height=\"5\"></rect>"
               "<path class=\"stripe\" d=\"M0 5 L5 0\"></path></pattern>\n"
               "<marker id=\"head\" markerWidth=\"8\" markerHeight=\"8\" refX=\"6\" refY=\"4\" "
               "orient=\"auto\" markerUnits=\"userSpaceOnUse\">"
               "<path class=\"arrow-head\" d=\"M0 0 L8 4 L0 8 z\"></path></marker>\n"
               "</defs></svg>\n");
}

/* ---- The scale of error / bound ---- */

static const struct {
    int interval; /* the tick is at its end */
    const char *label;
} ticks[] = {{0, "1/4096"}, {8, "1/256"}, {16, "1/16"}, {GATE_RATIO_ONE, "1"},
             {32, "16"},    {40, "256"},  {48, "4096"}};

#define TICKS ((int)(sizeof ticks / sizeof ticks[0]))

static double end_of(int interval) {
    return exp2((interval - GATE_RATIO_ONE) / 2.0);
}

/* What a pointer over it shows. */
static void put_title(struct markup *m, long long cases, int interval) {
    markup_open(m, "title");
    markup_text(m, "%lld case%s, error/bound ", cases, cases == 1 ? "" : "s");
    if (interval == 0) {
        markup_text(m, "up to %.3g", end_of(0));
    } else if (interval == GATE_RATIOS - 1) {
        markup_text(m, "above %.3g, or not a number", end_of(GATE_RATIOS - 2));
    } else {
        markup_text(m, "above %.3g, up to %.3g", end_of(interval - 1), end_of(interval));
    }
    markup_close(m);
}

/* ---- By kinds of values ---- */

#define BAR 12 /* width */
#define ROW 42

static long long cases_at(const struct gate_tally *t, int ratio) {
    long long n = 0;
    for (int keys = 0; keys < GATE_KEYS; keys++) {
        n += t->spread[keys][ratio];
    }
    return n;
}

static void put_bars(struct markup *m, const struct gate_tally *t, int y) {
    long long most = 1;
    for (int i = 0; i < GATE_RATIOS; i++) {
        most = cases_at(t, i) > most ? cases_at(t, i) : most;
    }
    for (int i = 0; i < GATE_RATIOS; i++) {
        long long n = cases_at(t, i);
        double height = 2.0 + (ROW - 12.0) * (double)n / (double)most;
        if (n > 0) {
            put_box(m, i > GATE_RATIO_ONE ? "bar outside" : "bar within", LEFT + i * BAR + 1.0,
                    y - height, BAR - 2.0, height);
            put_title(m, n, i);
            markup_close(m);
            markup_newline(m);
        }
    }
}

static void put_row(struct markup *m, const struct gate_result *r, int values, int y) {
    const struct gate_tally *t = &r->tally[values];
    char largest[GATE_RATIO_TEXT];
    put_line(m, "grid", LEFT, y, LEFT + GATE_RATIOS * BAR, y);
    put_label(m, "end", LEFT - 8, y - 4, gate_values_names[values]);
    open_label(m, "start", LEFT + GATE_RATIOS * BAR + 8, y - 4);
    gate_ratio(t->largest, largest);
    markup_text(m, "largest %s", largest);
    markup_close(m);
    markup_newline(m);
    put_bars(m, t, y);
}

void gate_html_spread(struct markup *m, const struct gate_result *r) {
    int rows = 0, width = LEFT + GATE_RATIOS * BAR + RIGHT;
    for (int i = 0; i < GATE_VALUES; i++) {
        rows += r->tally[i].cases > 0;
    }
    int bottom = TOP + rows * ROW;
    open_plot(m, "cases by their largest error/bound, for each kind of values", width,
              bottom + BOTTOM);
    for (int i = 0; i < TICKS; i++) {
        double x = LEFT + (ticks[i].interval + 1.0) * BAR;
        int is_one = ticks[i].interval == GATE_RATIO_ONE;
        put_line(m, is_one ? "one" : "grid", x, TOP, x, bottom + 4);
        put_label(m, "middle", x, bottom + 18, ticks[i].label);
    }
    put_label(m, "middle", LEFT + (GATE_RATIO_ONE + 1.0) * BAR, TOP - 8, "the bound");
    put_label(m, "middle", LEFT + GATE_RATIOS * BAR / 2.0, bottom + 36,
              "largest error/bound of a case, on a scale of logarithms");
    for (int i = 0, row = 0; i < GATE_VALUES; i++) {
        if (r->tally[i].cases > 0) {
            put_row(m, r, i, TOP + ++row * ROW);
        }
    }
    markup_close(m);
    markup_newline(m);
}

/* ---- By numbers of keys ---- */

#define COLUMN 34
#define STEP   7 /* height of an interval of error / bound */
#define WIDEST 14.0

static long long cases_of(const struct gate_result *r, int keys, int ratio) {
    long long n = 0;
    for (int i = 0; i < GATE_VALUES; i++) {
        n += r->tally[i].spread[keys][ratio];
    }
    return n;
}

static double height_of(double interval) {
    return TOP + (GATE_RATIOS - interval) * STEP;
}

/* A disc for cases within the bound, a square for cases outside. Its area shows how many cases,
 * on a logarithmic scale. */
static void put_mark(struct markup *m, double x, double y, int ratio, long long cases) {
    double size = fmin(WIDEST, 5.0 + 1.3 * log2((double)cases));
    if (ratio > GATE_RATIO_ONE) {
        put_box(m, "mark outside", x - size / 2.0, y - size / 2.0, size, size);
    } else {
        markup_open(m, "circle");
        markup_attribute(m, "class", "mark within");
        markup_attribute(m, "cx", "%.1f", x);
        markup_attribute(m, "cy", "%.1f", y);
        markup_attribute(m, "r", "%.1f", size / 2.0);
    }
    put_title(m, cases, ratio);
    markup_close(m);
    markup_newline(m);
}

static void put_axes(struct markup *m) {
    double right = LEFT + GATE_KEYS * COLUMN, bottom = height_of(0.0);
    for (int i = 0; i < TICKS; i++) {
        double y = height_of(ticks[i].interval + 1.0);
        int is_one = ticks[i].interval == GATE_RATIO_ONE;
        put_line(m, is_one ? "one" : "grid", LEFT, y, right, y);
        put_label(m, "end", LEFT - 8, y + 4, ticks[i].label);
    }
    put_label(m, "start", right + 8, height_of(GATE_RATIO_ONE + 1.0) + 4, "the bound");
    put_line(m, "grid", LEFT, bottom, right, bottom);
    for (int i = 0; i < GATE_KEYS; i++) {
        open_label(m, "middle", LEFT + (i + 0.5) * COLUMN, bottom + 16);
        markup_text(m, i > 10 ? "%dk" : "%d", i > 10 ? 1 << (i - 11) : i > 0 ? 1 << (i - 1) : 0);
        markup_close(m);
        markup_newline(m);
    }
    put_label(m, "middle", (LEFT + right) / 2.0, bottom + 36,
              "keys that the row with the largest error/bound sees, at least");
}

void gate_html_keys(struct markup *m, const struct gate_result *r) {
    open_plot(m, "cases by their number of keys and their largest error/bound",
              LEFT + GATE_KEYS * COLUMN + RIGHT, (int)height_of(0.0) + BOTTOM);
    put_axes(m);
    for (int keys = 0; keys < GATE_KEYS; keys++) {
        for (int ratio = 0; ratio < GATE_RATIOS; ratio++) {
            long long cases = cases_of(r, keys, ratio);
            if (cases > 0) {
                put_mark(m, LEFT + (keys + 0.5) * COLUMN, height_of(ratio + 0.5), ratio, cases);
            }
        }
    }
    markup_close(m);
    markup_newline(m);
}

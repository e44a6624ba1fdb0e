/* SPDX-License-Identifier: Apache-2.0 */
/* Results that would all be right by another convention (spec/conventions.md): a log-sum-exp of the
 * other base, or another answer of rows that see no key. The first wrong number of each kind says
 * which convention it may be, and then all numbers of all runs are judged by it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/case/pages.h"
#include "gate/explain/explain.h"
#include "gate/judge/conventions.h"
#include "gate/runner/words.h"

#define SEED         11
#define MOST_CHANGES 4 /* of the conventions, one after the other */

/* A number of a row and head, in the kernel's own unit: of these the log-sum-exps are the last. */
static double given(const struct explain_results *r, int i) {
    return i == r->d && r->sees > 0 ? r->got[i] / r->run->lse_unit : r->got[i];
}

/* The kinds of numbers that a convention is about. */
enum kind { KIND_NONE, KIND_LSE, KIND_EMPTY_OUT, KIND_EMPTY_LSE, KINDS };

static enum kind kind_of(const struct explain_results *r, int i) {
    return r->sees == 0 ? (i == r->d ? KIND_EMPTY_LSE : KIND_EMPTY_OUT)
           : i == r->d  ? KIND_LSE
                        : KIND_NONE;
}

/* What number i speaks for joins what others of another kind speak for. 1: it speaks for one. */
static int join(struct cp_kernel *other, const struct cp_kernel *declared,
                const struct explain_results *r, int i) {
    struct cp_kernel of_one;
    struct cp_kernel_conventions *c = &other->conventions;
    double unit = r->sees > 0 && i == r->d ? r->run->lse_unit : 1.0;
    if (!gate_conventions_guess(declared, r->sees, i == r->d, given(r, i), r->expected[i] / unit,
                                r->bound[i] / unit, &of_one)) {
        return 0;
    }
    switch (kind_of(r, i)) {
    case KIND_LSE:
        c->lse_base = of_one.conventions.lse_base;
        break;
    case KIND_EMPTY_OUT:
        c->empty_out = of_one.conventions.empty_out;
        break;
    default:
        c->empty_lse = of_one.conventions.empty_lse;
        c->empty_value = of_one.conventions.empty_value;
    }
    return 1;
}

/* Of the first wrong number of each kind. 0: some wrong number speaks for none. */
static int guess(const struct explain *x, const struct cp_kernel *declared,
                 struct cp_kernel *other) {
    int seen[KINDS] = {0};
    *other = *declared;
    for (int w = 0; w < x->n_runs; w++) {
        for (int pair = 0; pair < x->run[w].pairs; pair++) {
            const struct explain_results r = explain_results(&x->run[w], pair);
            for (int i = 0; i <= r.d; i++) {
                enum kind kind = kind_of(&r, i);
                if (explain_is_wrong_number(&r, i) && !seen[kind]) {
                    seen[kind] = 1;
                    if (kind == KIND_NONE || !join(other, declared, &r, i)) {
                        return 0;
                    }
                }
            }
        }
    }
    return seen[KIND_LSE] || seen[KIND_EMPTY_OUT] || seen[KIND_EMPTY_LSE];
}

/* 1: each number of these kinds is right by `other`, which has its own bounds in the scratch. */
static int is_right_pair(const struct explain_results *r, const struct cp_kernel *other,
                         double *scratch) {
    double *expected = scratch, *bound = scratch + r->d + 1;
    memcpy(expected, r->expected, ((size_t)r->d + 1) * sizeof *expected);
    memcpy(bound, r->bound, ((size_t)r->d + 1) * sizeof *bound);
    gate_conventions_apply(other, r->sees, r->run->problem.scores.sinks != NULL, r->d, expected,
                           bound);
    for (int i = 0; i <= r->d; i++) {
        int is_asked =
            kind_of(r, i) != KIND_NONE && (i < r->d || r->run->problem.lse_type != CP_NO_LSE);
        if (is_asked &&
            gate_judge_number(r->sees, given(r, i), expected[i], bound[i]) == GATE_NUMBER_WRONG) {
            return 0;
        }
    }
    return 1;
}

/* How many rows and heads of all runs are right by `other`; 0: not all are, or no memory. */
static int all_right(const struct explain *x, const struct cp_kernel *other) {
    double *scratch = malloc(2 * ((size_t)x->widest + 1) * sizeof *scratch);
    int n = 0, right = scratch != NULL;
    for (int w = 0; w < x->n_runs && right; w++) {
        for (int pair = 0; pair < x->run[w].pairs && right; pair++) {
            const struct explain_results r = explain_results(&x->run[w], pair);
            right = is_right_pair(&r, other, scratch);
            n++;
        }
    }
    free(scratch);
    return right ? n : 0;
}

/* ---- Other cases ---- */

/* One kernel, by conventions that may become others as more is seen. */
struct trying {
    struct cp_kernel other;
    int wrong, changed; /* cases; 1: of these one speaks for other conventions still */
};

/* The judge's verdict by these conventions. */
static void judge_by(void *context, const struct gate_problem *p, const struct gate_arrays *one,
                     const struct gate_arrays *again, const struct gate_finding *finding) {
    struct trying *t = context;
    struct cp_kernel other;
    struct gate_finding f;
    (void)again;
    (void)finding;
    if (gate_judge(p, one, &t->other, p->n_rows * p->recipe.n_heads, &f, NULL) != 0 ||
        f.verdict == GATE_RIGHT) {
        return;
    }
    t->wrong++;
    if (gate_conventions_guess(&t->other, gate_visible(p, f.row), f.element < 0, f.got, f.expected,
                               f.bound, &other)) {
        t->changed = 1;
        t->other = other;
    }
}

/* The judge's verdict by other conventions of what a call says (CONV-6 to CONV-9). */
static void judge_read(void *context, const struct gate_problem *p, const struct gate_arrays *one,
                       const struct gate_arrays *again, const struct gate_finding *finding) {
    struct trying *t = context;
    const struct cp_kernel_conventions *c = &t->other.conventions;
    struct gate_problem other = *p;
    struct gate_finding f;
    (void)again;
    (void)finding;
    /* The number that the kernel got counts otherwise. Of CP_WINDOW_OF_KEYS 0 is no window, of
     * CP_WINDOW_BEFORE it is the row's own key. */
    if (c->window != p->mask.counts && c->window == CP_WINDOW_BEFORE) {
        other.mask.window++;
    } else if (c->window != p->mask.counts && other.mask.window > 0) {
        other.mask.window--;
    }
    other.scores.order = c->cap;
    other.scores.bias = c->bias;
    if (gate_judge(&other, one, &t->other, p->n_rows * p->recipe.n_heads, &f, NULL) == 0) {
        t->wrong += f.verdict != GATE_RIGHT;
    }
}

typedef void judging(void *context, const struct gate_problem *p, const struct gate_arrays *one,
                     const struct gate_arrays *again, const struct gate_finding *finding);

struct judged {
    judging *judge;
    struct trying *trying;
};

static int is_right_by(const struct explain *x, const struct gate_recipe *recipe, void *judged) {
    const struct judged *by = judged;
    struct gate_finding f;
    int looked = gate_look(x->runner, recipe, &f, by->judge, by->trying);
    return looked > 0 ? by->trying->wrong == 0 : looked < 0 ? 0 : -1;
}

/* How many other cases are right; 0: not all, or there is no time. */
static int try_others(const struct explain *x, struct trying *t, judging *judge) {
    struct judged by = {judge, t};
    t->wrong = t->changed = 0;
    return explain_right_others(x, SEED, is_right_by, &by);
}

/* The conventions by which the case is right, and so many others: 0 if there are none. */
static int settle(struct explain *x, const struct cp_kernel *declared, struct trying *t) {
    if (!guess(x, declared, &t->other)) {
        return 0;
    }
    for (int i = 0, changed = 1; i < MOST_CHANGES && changed; i++) {
        int right = try_others(x, t, judge_by);
        if (right > 0) {
            return right;
        }
        changed = t->changed;
    }
    return 0;
}

/* How else a kernel may read what a call says: one field of its conventions. */
static const struct reading {
    const char *words, *clause;
    int masks, scores; /* what a kernel must take for it: all of these bits */
    size_t field;
    int value;
} readings[] = {
#define READING(field, name, value, clause, masks, scores)                                         \
    { name, clause, masks, scores, offsetof(struct cp_kernel_conventions, field), value }
    READING(window, ".window = CP_WINDOW_OF_KEYS", CP_WINDOW_OF_KEYS, "CONV-6", CP_MASKS_WINDOW, 0),
    READING(window, ".window = CP_WINDOW_BEFORE", CP_WINDOW_BEFORE, "CONV-6", CP_MASKS_WINDOW, 0),
    READING(cap, ".cap = CP_CAP_FIRST", CP_CAP_FIRST, "CONV-7", 0, CP_SCORES_CAP),
    READING(cap, ".cap = CP_CAP_LAST", CP_CAP_LAST, "CONV-7", 0, CP_SCORES_CAP),
    READING(bias, ".bias = CP_BIAS_SIGNED", CP_BIAS_SIGNED, "CONV-8", 0, CP_SCORES_SLOPES),
    READING(bias, ".bias = CP_BIAS_DISTANCE", CP_BIAS_DISTANCE, "CONV-8", 0, CP_SCORES_SLOPES),
    READING(bias, ".bias = CP_BIAS_POSITION", CP_BIAS_POSITION, "CONV-8", 0, CP_SCORES_SLOPES),
    READING(sink, ".sink = CP_SINK_IN_LSE", CP_SINK_IN_LSE, "CONV-9", 0, CP_SCORES_SINKS),
    READING(sink, ".sink = CP_SINK_BESIDE_LSE", CP_SINK_BESIDE_LSE, "CONV-9", 0, CP_SCORES_SINKS),
};

/* 1: each case is right if the kernel is read so, and that was said. */
static int say_reading(struct explain *x, const struct reading *r) {
    struct trying t = {.other = *runner_kernel(x->runner)};
    struct gate_recipe recipe = x->run[0].recipe;
    struct gate_finding f;
    int *field = (int *)(void *)((char *)&t.other.conventions + r->field);
    int declares = *field;
    *field = r->value;
    recipe.renewed = 0;
    if (declares == r->value || (r->masks & ~x->kernel->masks) != 0 ||
        (r->scores & ~x->kernel->scores) != 0 ||
        gate_look(x->runner, &recipe, &f, judge_read, &t) < 0 || t.wrong > 0) {
        return 0;
    }
    int cases = try_others(x, &t, judge_read);
    if (cases == 0) {
        return 0;
    }
    fprintf(x->file,
            "  right if it declared %s in cp_kernel.conventions (%s):\n  by that convention "
            "this case is right, and %d other cases\n",
            r->words, r->clause, cases);
    explain_keep_cause(x, "it would be right if it declared ", r->words);
    return 1;
}

static int say_readings(struct explain *x) {
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        if (say_reading(x, &readings[i])) {
            return 1;
        }
    }
    return 0;
}

/* ---- Layouts and caches (CONV-10 to CONV-12) ---- */

/* Of which kernels a field is asked. Those that go by strides alone are told mistakes instead. */
enum asked {
    FOR_ORDER,  /* that declare an order, or one tensor */
    FOR_PACKS,  /* those, and packed ones */
    FOR_PAGES,  /* with pages of their own */
    FOR_SCALES, /* of tokens */
    FOR_CACHES, /* of 8 bits */
    FOR_ALL
};

#define ANY (-1)

/* How else K and V may lie, or be kept: one field of the layout or the cache, or two alike, of
 * kernels that declare this value of it, or any other. */
static const struct lying {
    const char *words;
    enum asked asked;
    size_t field, also;
    int declared, value;
} lyings[] = {
#define LYING(asked, field, declared, value)                                                       \
    { "." #field " = " #value, asked, LAYOUT(field), LAYOUT(field), declared, value }
#define PACKED(x)                                                                                  \
    LYING(FOR_PACKS, k_pack, ANY, x), LYING(FOR_PACKS, v_pack, ANY, x), {                          \
        ".k_pack and .v_pack = " #x, FOR_PACKS, LAYOUT(k_pack), LAYOUT(v_pack), ANY, x             \
    }
#define CACHED(type)                                                                               \
    {".k = " #type, FOR_CACHES, CACHE(k), CACHE(k), ANY, type},                                    \
        {".v = " #type, FOR_CACHES, CACHE(v), CACHE(v), ANY, type}, {                              \
        ".k and .v = " #type, FOR_CACHES, CACHE(k), CACHE(v), ANY, type                            \
    }
#define SCALES(of)                                                                                 \
    { ".scales = " #of, FOR_CACHES, CACHE(scales), CACHE(scales), ANY, of }
#define CACHE(field)  offsetof(struct cp_kernel, cache.field)
#define LAYOUT(field) offsetof(struct cp_kernel, layout.field)
    LYING(FOR_ORDER, order, CP_ORDER_NHD, CP_ORDER_HND),
    LYING(FOR_ORDER, order, CP_ORDER_HND, CP_ORDER_NHD),
    LYING(FOR_ORDER, tensors, ANY, CP_TENSORS_PAGES),
    LYING(FOR_ORDER, tensors, ANY, CP_TENSORS_HALVES),
    LYING(FOR_ORDER, tensors, ANY, CP_TENSORS_TWO),
    LYING(FOR_ORDER, gaps, CP_GAPS_ANY, CP_GAPS_PAGES),
    LYING(FOR_ORDER, gaps, CP_GAPS_ANY, CP_GAPS_NONE),
    LYING(FOR_ORDER, gaps, CP_GAPS_PAGES, CP_GAPS_NONE),
    LYING(FOR_SCALES, scale_order, CP_SCALES_BY_HEAD, CP_SCALES_BY_SLOT),
    LYING(FOR_SCALES, scale_order, CP_SCALES_BY_SLOT, CP_SCALES_BY_HEAD),
    PACKED(0),
    PACKED(1),
    PACKED(2),
    PACKED(4),
    PACKED(8),
    PACKED(16),
    PACKED(32),
    LYING(FOR_PAGES, page_size, ANY, 1),
    LYING(FOR_PAGES, page_size, ANY, 8),
    LYING(FOR_PAGES, page_size, ANY, 16),
    LYING(FOR_PAGES, page_size, ANY, 32),
    LYING(FOR_PAGES, page_size, ANY, 64),
    LYING(FOR_PAGES, page_size, ANY, 128),
    LYING(FOR_PAGES, page_size, ANY, 256),
    LYING(FOR_ALL, pages, ANY, CP_PAGES_CHUNKS),
    LYING(FOR_ALL, pages, ANY, CP_PAGES_OWN),
    LYING(FOR_ALL, pages, ANY, CP_PAGES_RAGGED),
    CACHED(CP_CACHE_E4M3),
    CACHED(CP_CACHE_E5M2),
    CACHED(CP_CACHE_INT8),
    SCALES(CP_CACHE_SCALE_TENSOR),
    SCALES(CP_CACHE_SCALE_HEAD),
    SCALES(CP_CACHE_SCALE_TOKEN),
};

static int is_asked(const struct cp_kernel *kernel, enum asked asked) {
    const struct cp_kernel_layout *l = &kernel->layout;
    int says_order = l->order != CP_ORDER_ANY || l->tensors != CP_TENSORS_TWO;
    switch (asked) {
    case FOR_ORDER:
        return says_order;
    case FOR_PACKS:
        return says_order || l->k_pack > 0 || l->v_pack > 0;
    case FOR_PAGES:
        return l->pages == CP_PAGES_OWN;
    case FOR_SCALES:
        return kernel->cache.scales == CP_CACHE_SCALE_TOKEN;
    case FOR_CACHES:
        return kernel->cache.k != CP_CACHE_PLAIN || kernel->cache.v != CP_CACHE_PLAIN;
    default:
        return 1;
    }
}

/* 1: the kernel may declare it, and declares another one. */
static int lie(struct cp_kernel *kernel, const struct lying *l) {
    struct cp_kernel_layout *layout = &kernel->layout;
    char why_not[RUN_TEXT];
    int *field = (int *)(void *)((char *)kernel + l->field);
    int *also = (int *)(void *)((char *)kernel + l->also), declared = *field;
    if (!is_asked(kernel, l->asked) || (declared == l->value && *also == l->value) ||
        (l->declared != ANY && declared != l->declared)) {
        return 0;
    }
    *field = *also = l->value;
    layout->page_unit = l->asked == FOR_PAGES ? 0 : layout->page_unit;
    if (layout->pages != CP_PAGES_OWN) {
        layout->page_size = layout->page_unit = 0;
    }
    if (kernel->cache.scales != CP_CACHE_SCALE_TOKEN) {
        layout->scale_order = CP_SCALES_BY_HEAD;
    }
    return run_check_declared(kernel, "", why_not) == 0;
}

/* The gate's own verdict. */
static void judge_lying(void *context, const struct gate_problem *p, const struct gate_arrays *one,
                        const struct gate_arrays *again, const struct gate_finding *finding) {
    struct trying *t = context;
    (void)p;
    (void)one;
    (void)again;
    t->wrong += finding->verdict != GATE_RIGHT;
}

/* How many cases beside this one are right where K and V are declared so; 0: not all. */
static int right_by(struct explain *x, const struct cp_kernel *other) {
    const struct cp_kernel declared = *runner_kernel(x->runner);
    struct trying t = {.wrong = 0};
    struct gate_recipe recipe = *x->recipe;
    struct gate_finding f;
    int cases = 0;
    recipe.renewed = 0;
    if (other->layout.pages != declared.layout.pages) {
        gate_recipe_pages(&recipe, &other->layout);
    }
    runner_declare(x->runner, other);
    if (gate_look(x->runner, &recipe, &f, judge_lying, &t) > 0 && t.wrong == 0) {
        cases = try_others(x, &t, judge_lying);
    }
    runner_declare(x->runner, &declared);
    return cases;
}

/* How many cases are right by that; 0: not all, or it is not asked of the kernel. */
static int right_by_lying(struct explain *x, const struct lying *l) {
    struct cp_kernel other = *runner_kernel(x->runner);
    return !explain_is_over(x, 0.0) && lie(&other, l) ? right_by(x, &other) : 0;
}

/* 1: of a size it is the only one. Where several are right, the kernel goes by the size of the
 * call, and its mistake shows with the declared one alone. */
static int is_only_one(struct explain *x, const struct lying *l) {
    int is_size = l->asked == FOR_PACKS || l->asked == FOR_PAGES, n = 0;
    for (size_t i = 0; is_size && i < sizeof lyings / sizeof lyings[0]; i++) {
        const struct lying *other = &lyings[i];
        n += other != l && other->field == l->field && other->also == l->also &&
             right_by_lying(x, other) > 0;
    }
    return n == 0;
}

/* 1: each case is right if K and V lie otherwise, and that was said. */
int explain_layouts(struct explain *x) {
    for (size_t i = 0; i < sizeof lyings / sizeof lyings[0]; i++) {
        const struct lying *l = &lyings[i];
        int cases = right_by_lying(x, l);
        if (cases > 0 && is_only_one(x, l)) {
            int is_cache = l->asked == FOR_CACHES;
            fprintf(x->file,
                    "  right if it declared %s in cp_kernel.%s (%s):\n  where K and V %s so this "
                    "case is right, and %d other cases\n",
                    l->words, is_cache ? "cache" : "layout", is_cache ? "CONV-10" : "CONV-12",
                    is_cache ? "are kept" : "lie", cases);
            explain_keep_cause(x, "it would be right if it declared ", l->words);
            return 1;
        }
    }
    return 0;
}

int explain_conventions(struct explain *x) {
    const struct cp_kernel *declared = runner_kernel(x->runner);
    struct trying t;
    char words[GATE_CONVENTIONS_TEXT];
    int cases = settle(x, declared, &t), n = cases > 0 ? all_right(x, &t.other) : 0;
    int is_base = t.other.conventions.lse_base != declared->conventions.lse_base;
    if (n == 0) {
        return say_readings(x) || explain_layouts(x);
    }
    gate_conventions_words(declared, &t.other, words);
    fprintf(x->file,
            "  right if it declared %s in cp_kernel.conventions (%s):\n  by that convention all "
            "%d rows and heads of this case%s are right, and %d other cases\n",
            words, is_base ? "CONV-1" : "CONV-2", n, x->n_runs > 1 ? " and of cases like it" : "",
            cases);
    explain_keep_cause(x, "it would be right if it declared ", words);
    return 1;
}

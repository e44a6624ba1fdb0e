/* SPDX-License-Identifier: Apache-2.0 */
/* The advice in words: which other choices make the dominating part smaller, and why some
 * numbers have no bound. A choice is named only if the class that it leads to has less of that
 * part, so no choice is named that was already made. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/bound/bound.h"

#define OF(part)  (1U << CP_PART_##part)
#define OF_MERGES (OF(SUMS) | OF(MERGES))
#define WORTH     0.9 /* what is left of a part by a choice that is worth naming */

enum choice {
    SCORE,
    SCORE_PROMOTES,
    ACCUMULATE,
    ACCUMULATE_PROMOTES,
    WEIGHTS,
    PARTIALS,
    OUTPUT,
    MERGES,
    DIVIDE,
    CHUNK,
    EXP,
    FACTORS,
    DIVIDE_ERROR,
    EPSILON,
    NEAREST
};

/* One other choice, and the parts that it may lessen. */
struct remedy {
    const char *text;
    unsigned parts;
    enum choice choice;
    int value;
};

static const struct remedy remedies[] = {
    {"--score sequential", OF(SCORES), SCORE, SCORE_SEQUENTIAL},
    {"--score pairwise", OF(SCORES), SCORE, SCORE_PAIRWISE},
    {"--score tensor-core", OF(SCORES), SCORE, SCORE_TENSOR_CORE},
    {"--score-promotes 16", OF(SCORES), SCORE_PROMOTES, 16},
    {"a smaller --exp-error", OF(EXP) | OF(MERGES), EXP, 0},
    {"--weights fp16", OF(WEIGHTS), WEIGHTS, CP_FP16},
    {"--weights fp32", OF(WEIGHTS), WEIGHTS, CP_FP32},
    {"--accumulate fp32", OF_MERGES, ACCUMULATE, ACCUMULATE_FP32},
    {"--accumulate tensor-core", OF_MERGES, ACCUMULATE, ACCUMULATE_TENSOR_CORE},
    {"--accumulate-promotes 16", OF_MERGES, ACCUMULATE_PROMOTES, 16},
    {"--partials fp32", OF_MERGES, PARTIALS, CP_FP32},
    {"--merges chain", OF_MERGES, MERGES, MERGES_CHAIN},
    {"--merges balanced", OF_MERGES, MERGES, MERGES_BALANCED},
    {"a smaller --chunk", OF_MERGES, CHUNK, 0},
    {"a larger --chunk", OF_MERGES, CHUNK, 1},
    {"--divide deferred", OF(EXP) | OF_MERGES, DIVIDE, 0},
    {"--factors fp32", OF(EXP) | OF_MERGES, FACTORS, CP_FACTORS_FP32},
    {"a smaller --divide-error", OF(OUTPUT) | OF_MERGES, DIVIDE_ERROR, 0},
    {"a smaller --epsilon", OF(OUTPUT) | OF_MERGES, EPSILON, 0},
    {"--output fp16", OF(OUTPUT), OUTPUT, CP_FP16},
    {"--output fp32", OF(OUTPUT), OUTPUT, CP_FP32},
    {"rounding to nearest (no --truncate)", ~0U, NEAREST, 0},
};

static void apply(const struct remedy *remedy, struct bound_options *o) {
    switch (remedy->choice) {
    case SCORE:
        o->score = (enum bound_score)remedy->value;
        break;
    case SCORE_PROMOTES:
        o->score_promotes = remedy->value;
        break;
    case ACCUMULATE_PROMOTES:
        o->accumulate_promotes = remedy->value;
        break;
    case ACCUMULATE:
        o->accumulate = (enum bound_accumulate)remedy->value;
        break;
    case WEIGHTS:
        o->weights = remedy->value;
        break;
    case PARTIALS:
        o->partials = remedy->value;
        break;
    case OUTPUT:
        o->output = remedy->value;
        break;
    case MERGES:
        o->merges = (enum bound_merges)remedy->value;
        break;
    case DIVIDE:
        o->immediate = 0;
        o->part_lse = CP_FP32;
        break;
    case CHUNK:
        o->chunk = remedy->value ? 2 * o->chunk : (o->chunk + 1) / 2;
        break;
    case EXP:
        o->exp_error *= 0.5;
        break;
    case FACTORS:
        o->factors = remedy->value;
        break;
    case DIVIDE_ERROR:
        o->divide_error *= 0.5;
        break;
    case EPSILON:
        o->epsilon *= 0.5;
        break;
    default:
        o->truncate = 0;
        break;
    }
}

/* About how much of a part a kernel has that is described by the options, as a relative error. */
static double amount(const struct bound_options *o, const struct bound_row *row,
                     const struct bound_figures *f, int part) {
    struct cp_arithmetic a;
    struct cp_counts c;
    const struct bound_largest largest = bound_largest_of(f);
    (void)bound_class(o, row, &largest, &a, &c);
    switch (part) {
    case CP_PART_SCORES: /* with what log-sum-exps slip */
        return cp_score_error(&a.score, row->scale, row->d, f->largest_products);
    case CP_PART_EXP:
        return a.eps + a.u_arg * 2.0 * f->largest_score;
    case CP_PART_WEIGHTS:
        return a.weights.unit;
    case CP_PART_OUTPUT:
        return a.output.unit + a.u_div;
    default: /* sums and merges: what shortens one lengthens the other */
        return a.u_n * c.depth_n + a.u_o * c.depth_o + 2.0 * a.u_part * c.stores +
               c.changes * (a.eps + 2.0 * a.u_move * f->largest_score);
    }
}

static void add(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* "It is less with a, b or c.": an item is written when the next one, or none, is known. */
struct list {
    char *text;
    size_t size;
    const char *last;
    int written;
};

static void list_write(struct list *list, const char *before) {
    add(list->text, list->size, list->written > 0 ? before : " The bound gets smaller with ");
    add(list->text, list->size, list->last);
    list->written++;
}

static void list_add(struct list *list, const char *item) {
    if (list->last != NULL) {
        list_write(list, ", ");
    }
    list->last = item;
}

static void list_end(struct list *list) {
    if (list->last != NULL) {
        list_write(list, " or ");
        add(list->text, list->size, ".");
    }
}

static const char *opening(const struct bound_options *o, int part) {
    static const char *const openings[CP_TOLERANCE_PARTS] = {
        "The scores contribute most.",
        "The exponential contributes most (--exp-error, and the rounding of its argument).",
        "The rounding of P contributes most.",
        "The sums over the keys contribute most.",
        "The merges contribute most; each multiplies by an exponential.",
        ("The division and the output's format contribute most: a better arithmetic inside gains "
         "little."),
    };
    return part == CP_PART_SCORES && o->score == SCORE_FP16
               ? "The scores contribute most; the remedy is another --score than fp16."
               : openings[part];
}

void bound_advice(const struct bound_options *o, const struct bound_row *row,
                  const struct bound_figures *f, int part, char *text, size_t size) {
    struct list list = {text, size, NULL, 0};
    double now = amount(o, row, f, part);
    snprintf(text, size, "%s", opening(o, part));
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++) {
        struct bound_options other = *o;
        apply(&remedies[i], &other);
        if ((remedies[i].parts >> part & 1U) != 0 && amount(&other, row, f, part) < WORTH * now) {
            list_add(&list, remedies[i].text);
        }
    }
    if (part == CP_PART_SCORES && row->d > 1) {
        list_add(&list, o->case_file == NULL ? "a smaller --head-dim" : "fewer numbers per key");
    }
    if (part == CP_PART_SCORES) {
        list_add(&list, "smaller scores");
    }
    if (part == CP_PART_EXP) {
        list_add(&list, "smaller differences of scores");
    }
    list_end(&list);
    if (part == CP_PART_WEIGHTS && !o->rounded_sum) {
        add(text, size, " Where values have a common offset, --rounded-sum makes it smaller.");
    }
}

/* ---- Why nothing is claimed ---- */

/* The part that loses most. Where the loss is beyond binary64, of what made it so: the larger
 * logarithm. */
static int largest_loss(const struct bound_figures *f) {
    const struct cp_arithmetic *a = &f->arithmetic;
    int most = 0;
    if (!isfinite(f->left)) {
        double merges = f->counts.changes * (a->eps + 2.0 * a->u_move * f->largest_score) +
                        f->counts.stores * a->u_part;
        double sums = f->counts.depth_n * a->u_n;
        double exponential = a->eps + a->u_arg * 2.0 * f->largest_score;
        double most_else = fmax(fmax(merges, sums), exponential);
        return f->largest_sigma >= most_else ? CP_PART_SCORES
               : merges >= most_else         ? CP_PART_MERGES
               : sums >= most_else           ? CP_PART_SUMS
                                             : CP_PART_EXP;
    }
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        most = f->lost[p] > f->lost[most] ? p : most;
    }
    return most;
}

static void left_text(const struct bound_options *o, const struct bound_row *row,
                      const struct bound_figures *f, char *text, size_t size) {
    char more[BOUND_TEXT];
    int part = largest_loss(f);
    if (isfinite(f->left)) {
        snprintf(text, size,
                 "The bound is infinite, because errors may cancel the whole sum of the weights: "
                 "left = 1 - sum H_j - E_n = %.3g is not above 0 (NUM-10). The largest part comes "
                 "from %s (%.3g of 1). ",
                 f->left, bound_part_names[part], f->lost[part]);
    } else {
        snprintf(text, size,
                 "The bound is infinite, because errors may exceed the whole sum of the weights, "
                 "by a factor too large for binary64 (NUM-10). The largest part comes from %s. ",
                 bound_part_names[part]);
    }
    if (part == CP_PART_SCORES) {
        snprintf(more, sizeof more,
                 "A score is too large: its error may be %.3g, and ln 2 = 0.69 would already be "
                 "too much. ",
                 f->largest_sigma);
        add(text, size, more);
    }
    bound_advice(o, row, f, part, more, sizeof more);
    add(text, size, more);
}

/* ---- A sink that is too far away ---- */

#define NEAR_ENOUGH 1.25  /* from a sink that has a bound to one that has none */
#define LEAST_EXP   745.2 /* exp() of its negative is 0 in binary64 */

/* How many numbers have a bound with this sink; with none for 0. */
static int claimed_with(const struct bound_options *o, const struct bound_row *row, double sink) {
    struct bound_options other = *o;
    struct bound_figures f;
    other.has_sink = sink != 0.0;
    other.sink = sink;
    return bound_figures(&other, row, &f) == 0 ? f.claimed : 0;
}

/* About the sink of the same sign that is the furthest one with a bound; 0: there may be none. */
static double furthest_sink(const struct bound_options *o, const struct bound_row *row,
                            double largest_plain) {
    double near = fmax(1.0, largest_plain), far = fabs(o->sink);
    if (near >= far || claimed_with(o, row, copysign(near, o->sink)) == 0) {
        return 0.0;
    }
    while (far > near * NEAR_ENOUGH) {
        double middle = sqrt(near) * sqrt(far);
        *(claimed_with(o, row, copysign(middle, o->sink)) > 0 ? &near : &far) = middle;
    }
    return copysign(near, o->sink);
}

/* 1: without its sink the row has a bound, and the text says so. What is rounded of a sink is in
 * proportion to it, and NUM-10 allows any score as large an error as the worst one has. */
static int sink_text(const struct bound_options *o, const struct bound_row *row,
                     const struct bound_figures *f, char *text, size_t size) {
    char more[128];
    double furthest = 0.0;
    if (!o->has_sink || claimed_with(o, row, 0.0) == 0) {
        return 0;
    }
    snprintf(text, size,
             "The bound is infinite, because the sink of %.4g is too far from the scores, which "
             "are up to %.3g: a kernel rounds it, so that it may be off by %.2g (NUM-15), and "
             "NUM-10 allows for the largest error in every score. ",
             o->sink, fmax(f->largest_plain, f->largest_changed), f->largest_shift_error);
    furthest = furthest_sink(o, row, fmax(f->largest_plain, f->largest_changed));
    if (furthest != 0.0) {
        snprintf(more, sizeof more, "There is a bound without --sink, and with --sink %.2g. ",
                 0.94 * furthest);
    } else {
        snprintf(more, sizeof more, "There is a bound without --sink. ");
    }
    add(text, size, more);
    if (fabs(o->sink) > fmax(f->largest_plain, f->largest_changed) + LEAST_EXP) {
        add(text, size,
            o->sink < 0.0 ? "So far below the scores a sink weighs less than 2^-1074 of them: "
                            "attention is the same without it."
                          : "So far above the scores a sink has all the weight: attention is 0.");
    }
    return 1;
}

void bound_reason_text(const struct bound_options *o, const struct bound_row *row,
                       const struct bound_figures *f, char *text, size_t size) {
    text[0] = '\0';
    switch (f->reason) {
    case REASON_NO_KEY:
        snprintf(text, size,
                 "There is no key, so there is no bound (NUM-12): the result must be exactly zeros "
                 "and a log-sum-exp of -infinity.");
        break;
    case REASON_INFINITE:
        snprintf(text, size,
                 "The bound is infinite, because a score is too large: its products, |scale| sum "
                 "|q_i k_i|, add up to more than 1.8e308, the largest number of binary64; in a "
                 "kernel they are infinite (NUM-8).");
        break;
    case REASON_LEFT:
        if (!sink_text(o, row, f, text, size)) {
            left_text(o, row, f, text, size);
        }
        break;
    case REASON_OVERFLOW:
        snprintf(text, size,
                 "The result may exceed %.5g, the largest number of the output's format, so that "
                 "an infinity may be right (NUM-12).%s",
                 f->arithmetic.output.largest,
                 o->output == CP_FP16 ? " An output with more range helps (--output bf16, fp32)."
                                      : "");
        break;
    case REASON_SCORES:
        snprintf(
            text, size,
            "The products of a score, |scale| sum |q_i k_i|, are so large (%.3g) that the bound "
            "itself cannot be computed in binary64: the score's error there exceeds 2^-30.",
            f->largest_products);
        break;
    default:
        break;
    }
}

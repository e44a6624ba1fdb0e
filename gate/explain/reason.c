/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes that are tried: each is weighed by how many wrong numbers it gives, in the case and in cases like it. What is
 * said is what gives the most; then what gives the most of what is left. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gate/explain/explain.h"

#define MOST_SAID     4  /* one after the other, */
#define MOST_BESIDE   2  /* and of each so many that give the same numbers */
#define ENOUGH        3  /* different numbers: less may be chance, */
#define ONE_IN        10 /* and so may be fewer than one in so many; */
#define FEW_LEFT      10 /* a part in so many */
#define OF_THOSE_LEFT 3  /* of what nothing has given yet it is to give one in so many */
#define OF_FACTORS    2  /* a factor that is free gives some by chance */
#define NEARER                                                                                     \
    2.0 /* times than attention is what gives a number: bounds are wide, and errors may be small */
#define MOST_RANGES 6
#define MOST_PLACES 4

/* ---- One mistake ---- */

static void say_so(struct explain_reason *r, const char *format, va_list arguments) {
    (void)vsnprintf(r->text, sizeof r->text, format, arguments);
}

/* How far a wrong number is from attention; infinite for one that is right, and for what is no number. */
static double distance_of(const struct explain *x, int i) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)i;
    double off = fabs(x->at->got[at] - x->at->expected[at]);
    return x->at->rightness[at] == GATE_NUMBER_WRONG && isfinite(off) ? off : INFINITY;
}

/* 1: the mistake would make this number what the kernel gave. */
static int is_given(const struct explain *x, int i, double got, double *ratio) {
    double expected = x->numbers.expected[i], bound = x->numbers.bound[i];
    double off = fabs(got - expected);
    *ratio = 0.0;
    if (bound == EXPLAIN_NOTHING) { /* 0 / 0, perhaps */
        return got == expected || isnan(got);
    }
    if (isnan(expected) || isnan(got)) {
        return isnan(expected) && isnan(got);
    }
    if (isinf(bound) || isnan(bound)) {
        return 0;
    }
    *ratio = off > 0.0 ? off / bound : 0.0;
    return got == expected || (off <= bound && !(NEARER * off > distance_of(x, i)));
}

/* 1: it says what this number would be. */
static int is_claimed(const struct explain *x, int i) {
    return isnan(x->numbers.expected[i]) || !isinf(x->numbers.bound[i]);
}

static const double *got_of(const struct explain *x) {
    return x->at->got + (size_t)x->pair * (size_t)x->at->width;
}

static const unsigned char *rightness_of(const struct explain *x) {
    return x->at->rightness + (size_t)x->pair * (size_t)x->at->width;
}

static int attempt(struct explain *x, const struct explain_reason *r) {
    x->m = 0;
    x->outside = 0;
    x->work -= (long long)(x->n + 1) * x->d;
    return x->work > 0 && r->mistake(x, r->a);
}

void explain_try(struct explain *x, explain_mistake *mistake, const int *a, int rank,
                 const char *format, ...) {
    struct explain_reason r = {.mistake = mistake, .rank = rank};
    va_list arguments;
    int given = 0;
    double ratio;
    memcpy(r.a, a, sizeof r.a);
    va_start(arguments, format);
    say_so(&r, format, arguments);
    va_end(arguments);
    for (int i = 0; i < x->n_reasons; i++) {
        if (strcmp(x->reason[i].text, r.text) == 0) {
            return;
        }
    }
    if (x->n_reasons == EXPLAIN_REASONS || !attempt(x, &r)) {
        return;
    }
    for (int i = 0; i < x->at->width; i++) {
        given += rightness_of(x)[i] == GATE_NUMBER_WRONG && is_given(x, i, got_of(x)[i], &ratio);
    }
    if (given > 0) {
        x->reason[x->n_reasons++] = r;
    }
}

/* ---- All of them ---- */

static void weigh_pair(struct explain *x, struct explain_reason *r, int from, int end) {
    explain_go_to(x, x->wrong[from].run, x->wrong[from].pair);
    if (!attempt(x, r)) {
        return;
    }
    const unsigned char *rightness = rightness_of(x);
    int given = 0, against = 0;
    double ratio;
    for (int w = from; w < end; w++) {
        int i = x->wrong[w].element;
        if (is_given(x, i, got_of(x)[i], &ratio)) {
            r->gives[w] = 1;
            r->largest = fmax(r->largest, ratio);
            given++;
        } else {
            r->swallowed += isnan(x->numbers.expected[i]);
        }
    }
    for (int i = 0; i < x->at->width; i++) {
        against += rightness[i] == GATE_NUMBER_RIGHT && is_claimed(x, i) &&
                   !is_given(x, i, got_of(x)[i], &ratio);
    }
    r->n += given;
    r->against += given > 0 ? against : 0;
}

/* A row and head that is right: would it be wrong? */
static void refute(struct explain *x, struct explain_reason *r, const struct explain_number *at) {
    double ratio;
    explain_go_to(x, at->run, at->pair);
    if (!attempt(x, r)) {
        return;
    }
    for (int i = 0; i < x->at->width; i++) {
        if (rightness_of(x)[i] == GATE_NUMBER_RIGHT && is_claimed(x, i) &&
            !is_given(x, i, got_of(x)[i], &ratio)) {
            r->refuted++;
            return;
        }
    }
}

static double got_in(const struct explain *x, int w) {
    const struct explain_number *at = &x->wrong[w];
    const struct explain_run *run = &x->run[at->run];
    return run->got[(size_t)at->pair * (size_t)run->width + (size_t)at->element];
}

/* A number that is there twice says nothing the second time. */
static int different(const struct explain *x, const unsigned char *gives) {
    int n = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        int seen = !gives[w];
        for (int v = 0; v < w && !seen; v++) {
            double a = got_in(x, v), b = got_in(x, w);
            seen = gives[v] && (a == b || (isnan(a) && isnan(b)));
        }
        n += !seen;
    }
    return n;
}

static int end_of_pair(const struct explain *x, int w) {
    int end = w;
    while (end < x->n_wrong && x->wrong[end].run == x->wrong[w].run &&
           x->wrong[end].pair == x->wrong[w].pair) {
        end++;
    }
    return end;
}

void explain_weigh(struct explain *x) {
    for (int i = 0; i < x->n_reasons; i++) {
        struct explain_reason *r = &x->reason[i];
        if (r->gives != NULL) {
            continue;
        }
        r->gives = calloc((size_t)x->n_wrong + 1, 1);
        for (int w = 0, end; r->gives != NULL && w < x->n_wrong; w = end) {
            end = end_of_pair(x, w);
            weigh_pair(x, r, w, end);
        }
        for (int at = 0; r->n > 0 && at < x->n_right; at++) {
            refute(x, r, &x->right[at]);
        }
        r->different = r->gives != NULL ? different(x, r->gives) : 0;
    }
}

/* ---- What is said ---- */

void explain_print_elements(FILE *file, const unsigned char *is_one, int n) {
    int ranges = 0;
    for (int i = 0; i < n; i++) {
        int begin = i;
        if (!is_one[i]) {
            continue;
        }
        while (i + 1 < n && is_one[i + 1]) {
            i++;
        }
        if (ranges++ == MOST_RANGES) {
            fputs(", ...", file);
            return;
        }
        fprintf(file, i == begin ? "%s%d" : "%s%d to %d", ranges > 1 ? ", " : "", begin, i);
    }
}

/* How many wrong numbers it gives that nothing has given before. */
static int gives_more(const struct explain *x, const struct explain_reason *r,
                      const unsigned char *given) {
    int n = 0;
    for (int w = 0; r->gives != NULL && w < x->n_wrong; w++) {
        n += r->gives[w] && !given[w];
    }
    return n;
}

/* How many wrong numbers are of the case itself; and how many of these a mistake gives. */
static int of_case(const struct explain *x, const unsigned char *gives) {
    int n = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        n += x->wrong[w].run == 0 && (gives == NULL || gives[w]);
    }
    return n;
}

/* Less than that may be chance: but all there is, that is said to be so. A mistake that would make right numbers wrong
 * was made in some elements alone, if it was made. */
static int is_infinite(const struct explain *x, int w) {
    const struct explain_run *run = &x->run[x->wrong[w].run];
    size_t at = (size_t)x->wrong[w].pair * (size_t)run->width + (size_t)x->wrong[w].element;
    return !isfinite(run->got[at]);
}

/* 1: there are infinities and NaNs, not few, it gives all of them, and none where there is none: they are alike, but they
 * are where they are. */
static int gives_infinities(const struct explain *x, const struct explain_reason *r) {
    int n = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        if (is_infinite(x, w) && !r->gives[w]) {
            return 0;
        }
        n += is_infinite(x, w);
    }
    return n > 0 && 4 * n >= x->n_wrong && 2 * r->against <= r->n && r->refuted == 0 &&
           r->swallowed == 0 && r->rank < EXPLAIN_NO_REASON;
}

static int is_worth_saying(const struct explain *x, const struct explain_reason *r) {
    int one_in = r->rank == EXPLAIN_ONE_FACTOR ? OF_FACTORS : ONE_IN;
    if (r->gives != NULL && gives_infinities(x, r)) {
        return 1;
    }
    return r->n > 0 && r->rank != EXPLAIN_ROUNDED && one_in * r->n >= x->n_wrong &&
           r->gives != NULL &&
           (r->different >= ENOUGH || (r->n == x->n_wrong && r->against == 0 && r->refuted == 0));
}

enum explain_found explain_find(const struct explain *x) {
    enum explain_found found = EXPLAIN_NOT_FOUND;
    for (int i = 0; i < x->n_reasons; i++) {
        const struct explain_reason *r = &x->reason[i];
        if (r->rank >= EXPLAIN_NO_REASON || !is_worth_saying(x, r) ||
            4 * of_case(x, r->gives) < 3 * of_case(x, NULL)) {
            continue;
        }
        if (gives_infinities(x, r)) {
            return EXPLAIN_INFINITIES;
        }
        if (r->different >= ENOUGH && 2 * r->n >= x->n_wrong) {
            return EXPLAIN_FOUND;
        }
        found = EXPLAIN_PERHAPS;
    }
    return found;
}

/* How many wrong numbers it gives that nothing has given before, less what it would make wrong of what is right. */
static double worth(const struct explain *x, const struct explain_reason *r, int more) {
    return more * (1.0 - (double)r->refuted / (x->n_right + 1.0));
}

static int is_better(const struct explain *x, const struct explain_reason *a, int a_more,
                     const struct explain_reason *b, int b_more) {
    int of_a = a->rank < EXPLAIN_NO_REASON, of_b = b->rank < EXPLAIN_NO_REASON;
    double worth_a = worth(x, a, a_more), worth_b = worth(x, b, b_more);
    if (gives_infinities(x, a) != gives_infinities(x, b)) {
        return gives_infinities(x, a);
    }
    if (of_a != of_b && (of_a ? worth_a : worth_b) >= 0.75 * (of_a ? worth_b : worth_a)) {
        return of_a; /* what only says what is seen may give a few more */
    }
    if (worth_a != worth_b) {
        return worth_a > worth_b;
    }
    if ((a->against == 0) != (b->against == 0)) {
        return a->against == 0;
    }
    return a->rank < b->rank;
}

static struct explain_reason *best_of(struct explain *x, const unsigned char *given, int *more) {
    struct explain_reason *best = NULL;
    *more = 0;
    for (int i = 0; i < x->n_reasons; i++) {
        struct explain_reason *r = &x->reason[i];
        int n = gives_more(x, r, given);
        if (n > 0 && is_worth_saying(x, r) && (best == NULL || is_better(x, r, n, best, *more))) {
            best = r;
            *more = n;
        }
    }
    return best;
}

/* Which elements, when it is not in all of them. */
static void say_elements(const struct explain *x, const struct explain_reason *r) {
    unsigned char *is_one = calloc((size_t)x->widest + 1, 1);
    int all = 1, n = 0;
    for (int w = 0; is_one != NULL && w < x->n_wrong; w++) {
        if (x->wrong[w].element < x->run[x->wrong[w].run].width - 1) {
            is_one[x->wrong[w].element] |= r->gives[w];
            all = all && r->gives[w];
        }
    }
    for (int i = 0; is_one != NULL && i < x->widest; i++) {
        n += is_one[i];
    }
    if (n > 0 && n < x->widest && (r->against > 0 || !all)) {
        fprintf(x->file, "\n      in element%s ", n > 1 ? "s" : "");
        explain_print_elements(x->file, is_one, x->widest);
        fputs(" alone", x->file);
        if (r->against > 0) {
            fprintf(x->file, ": %d others of these rows are right, and would not be", r->against);
        }
    }
    free(is_one);
}

/* Which rows and heads of the case, when it is not all. */
static void say_rows(const struct explain *x, const struct explain_reason *r) {
    int pairs = 0, given = 0, said = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int w = 0, end; w < x->n_wrong; w = end) {
            int gives = 0, h = x->run[0].problem.recipe.n_heads;
            end = end_of_pair(x, w);
            for (int i = w; i < end; i++) {
                gives += r->gives[i];
            }
            if (x->wrong[w].run != 0 || (pass == 1 && gives == 0)) {
                continue;
            }
            if (pass == 0) {
                pairs++;
                given += gives > 0;
            } else if (given < pairs && said < MOST_PLACES) {
                fprintf(x->file, "%s row %d head %d", said++ == 0 ? "\n      in" : ",",
                        x->wrong[w].pair / h, x->wrong[w].pair % h);
            }
        }
    }
    fputs(given < pairs && given > said ? ", ..." : "", x->file);
}

static void say_one(const struct explain *x, const struct explain_reason *r, const char *begin) {
    fprintf(x->file, "  %s%s%s\n      gives %d of %d wrong numbers, %d different ones", begin,
            2 * r->n < x->n_wrong ? "perhaps, " : "", r->text, r->n, x->n_wrong, r->different);
    if (r->largest > 0.0) {
        fprintf(x->file, ", within %.2g of their bound", r->largest);
    }
    fputs(r->different < ENOUGH ? ": too few to be sure" : "", x->file);
    say_elements(x, r);
    say_rows(x, r);
    if (r->swallowed > 0) {
        fprintf(x->file, "\n      %d more would be NaN by it, and the kernel gave a number",
                r->swallowed);
    }
    if (r->refuted > 0) {
        fprintf(x->file,
                "\n      %d of %d rows and heads that are right would be wrong by it: it is not "
                "always done, or not quite this",
                r->refuted, x->n_right);
    }
    fputs("\n", x->file);
}

/* Others that give the very same numbers, and are as good otherwise. */
static void say_beside(const struct explain *x, const struct explain_reason *best) {
    int said = 0;
    for (int i = 0; i < x->n_reasons && said < MOST_BESIDE; i++) {
        const struct explain_reason *r = &x->reason[i];
        if (r != best && r->gives != NULL && best->rank / 100 == r->rank / 100 &&
            (r->against == 0) == (best->against == 0) && r->refuted == best->refuted &&
            memcmp(r->gives, best->gives, (size_t)x->n_wrong) == 0) {
            fprintf(x->file, "    or, which gives the same numbers here, %s\n", r->text);
            said++;
        }
    }
}

void explain_say_rounded(const struct explain *x) {
    const struct explain_reason *best = NULL;
    for (int i = 0; i < x->n_reasons; i++) {
        const struct explain_reason *r = &x->reason[i];
        if (r->rank == EXPLAIN_ROUNDED && r->different >= ENOUGH && 2 * r->n > x->n_wrong &&
            (best == NULL || r->n > best->n)) {
            best = r;
        }
    }
    if (best != NULL) {
        fprintf(x->file,
                "  as of %s\n      gives %d of %d wrong numbers, %d different "
                "ones\n",
                best->text, best->n, x->n_wrong, best->different);
    }
}

void explain_say(struct explain *x, const char *why) {
    unsigned char *given = calloc((size_t)x->n_wrong + 1, 1);
    int more, left = x->n_wrong;
    for (int said = 0; given != NULL && said < MOST_SAID && left > 0; said++) {
        struct explain_reason *best = best_of(x, given, &more);
        if (said > 0 && FEW_LEFT * left < x->n_wrong) {
            break; /* so few may be anything */
        }
        int one_in =
            x->named ? 2 : OF_THOSE_LEFT; /* what a cause that was said leaves may be chance */
        if (best == NULL || (one_in * more < left && !gives_infinities(x, best))) {
            break;
        }
        say_one(x, best, said == 0 ? "" : "besides, ");
        say_beside(x, best);
        for (int w = 0; w < x->n_wrong; w++) {
            given[w] |= best->gives[w];
        }
        left -= more;
    }
    if (x->named && left == x->n_wrong) {
        fputs("  none of these gives them: look at what is said above first\n", x->file);
    } else if (left > 0 && !x->named) {
        fprintf(x->file, "  no mistake that is known here gives %s%d of the %d wrong numbers\n",
                left < x->n_wrong ? "the other " : "any of them: ", left, x->n_wrong);
        if (why != NULL && 2 * left > x->n_wrong) {
            fprintf(x->file, "  it is no rounding, and no wider declaration makes it right: %s\n",
                    why);
        }
    }
    free(given);
}

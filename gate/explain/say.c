/* SPDX-License-Identifier: Apache-2.0 */
/* Which mistakes are said: the one that gives the most wrong numbers, then the one that gives the
 * most of what is left. And how many these are, in which elements, rows and heads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/explain/explain.h"

#define MOST_SAID       4    /* one after the other, */
#define MOST_BESIDE     2    /* and of each so many that give the same numbers */
#define ENOUGH          3    /* different numbers: less may be chance, */
#define ONE_IN          10   /* and so may be fewer than one in so many; */
#define FEW_LEFT        10   /* a part in so many */
#define OF_THOSE_LEFT   3    /* of what nothing has given yet it is to give one in so many */
#define OF_FACTORS      2    /* a factor that is free gives some by chance */
#define OF_CERTAIN_KEYS 0.75 /* these may give a few more than others do, */
#define OF_WHAT_IS_SEEN 0.75 /* and so may what only says what is seen */

/* ---- Which ---- */

/* How many wrong numbers it gives that nothing has given before. */
static int gives_more(const struct explain *x, const struct explain_reason *r,
                      const unsigned char *given) {
    int n = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        n += r->gives[w] && !given[w];
    }
    return n;
}

int explain_of_case(const struct explain *x, const unsigned char *gives) {
    int n = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        n += x->wrong[w].run == 0 && (gives == NULL || gives[w]);
    }
    return n;
}

/* 1: it gives all infinities and NaNs, which are not few, and none where there is none. They are
 * alike, but where they are tells. */
static int gives_infinities(const struct explain *x, const struct explain_reason *r) {
    int n = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        int is_infinite = !isfinite(x->wrong[w].got);
        if (is_infinite && !r->gives[w]) {
            return 0;
        }
        n += is_infinite;
    }
    return n > 0 && 4 * n >= x->n_wrong && 2 * r->against <= r->n && r->refuted == 0 &&
           r->swallowed == 0 && r->rank < EXPLAIN_NO_REASON;
}

/* Few numbers may be chance, unless they are all there are. A mistake that would make right numbers
 * wrong was made in some elements alone, if it was made. */
static int is_worth_saying(const struct explain *x, const struct explain_reason *r) {
    int one_in = r->rank == EXPLAIN_ONE_FACTOR ? OF_FACTORS : ONE_IN;
    int is_all = r->n == x->n_wrong && r->refuted == 0;
    if (gives_infinities(x, r)) {
        return 1;
    }
    if (r->choice.lse.way >= LSE_FACTOR && !is_all) {
        return 0; /* a constant is one everywhere */
    }
    return r->n > 0 && r->rank != EXPLAIN_ROUNDED && one_in * r->n >= x->n_wrong &&
           (r->different >= ENOUGH || (is_all && r->against == 0));
}

enum explain_found explain_find(const struct explain *x) {
    enum explain_found found = EXPLAIN_NOT_FOUND;
    for (int i = 0; i < x->n_reasons; i++) {
        const struct explain_reason *r = &x->reason[i];
        if (r->rank >= EXPLAIN_NO_REASON || !is_worth_saying(x, r) ||
            4 * explain_of_case(x, r->gives) < 3 * explain_of_case(x, NULL)) {
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

/* How many wrong numbers it gives that nothing has given before, less what it would make wrong of
 * what is right. */
static double worth_of(const struct explain *x, const struct explain_reason *r, int more) {
    double worth = more * (1.0 - r->refuted / (x->n_right + 1.0));
    worth *= r->choice.select.which == SELECT_AT ? OF_CERTAIN_KEYS : 1.0;
    worth *= r->rank >= EXPLAIN_NO_REASON ? OF_WHAT_IS_SEEN : 1.0;
    return worth + (gives_infinities(x, r) ? x->n_wrong : 0.0);
}

/* The most worth; of equal ones what would make nothing wrong, and then the simplest. */
static struct explain_reason *best_of(struct explain *x, const unsigned char *given, int *more) {
    struct explain_reason *best = NULL;
    double most = 0.0;
    *more = 0;
    for (int i = 0; i < x->n_reasons; i++) {
        struct explain_reason *r = &x->reason[i];
        int n = gives_more(x, r, given);
        if (n == 0 || !is_worth_saying(x, r)) {
            continue;
        }
        double worth = worth_of(x, r, n);
        int is_cleaner = best != NULL && best->against > 0 && r->against == 0;
        int is_simpler =
            best != NULL && (best->against > 0) == (r->against > 0) && r->rank < best->rank;
        if (best == NULL || worth > most || (worth == most && (is_cleaner || is_simpler))) {
            best = r;
            most = worth;
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

/* Which rows and heads of the case, when it is not in all of them. */
static void say_rows(const struct explain *x, const struct explain_reason *r) {
    int pairs = 0, given = 0;
    unsigned char *gives = calloc((size_t)x->run[0].pairs + 1, 1);
    for (int i = 0; gives != NULL && i < x->n_pairs; i++) {
        const struct explain_pair *at = &x->pair[i];
        if (at->run == 0 && at->begin < at->end) {
            gives[at->pair] =
                memchr(r->gives + at->begin, 1, (size_t)(at->end - at->begin)) != NULL;
            given += gives[at->pair];
            pairs++;
        }
    }
    if (given > 0 && given < pairs) {
        fputs("\n      in ", x->file);
        explain_print_pairs(x->file, gives, &x->run[0].problem);
    }
    free(gives);
}

void explain_keep_cause(const struct explain *x, const char *begin, const char *words) {
    if (x->cause != NULL && x->cause->text[0] == '\0') {
        (void)snprintf(x->cause->text, sizeof x->cause->text, "%s%s", begin, words);
    }
}

/* Rows that are as if they had no key: numbers do not say what left none. */
static int is_of_none_alone(const struct explain_reason *r) {
    return r->of_none == r->n;
}

static void say_one(const struct explain *x, const struct explain_reason *r, const char *begin) {
    const char *perhaps = 2 * r->n < x->n_wrong || is_of_none_alone(r) ? "perhaps, " : "";
    explain_keep_cause(x, perhaps, r->text);
    fprintf(x->file, "  %s%s%s\n      gives %d of %d wrong numbers, %d different ones", begin,
            perhaps, r->text, r->n, x->n_wrong, r->different);
    if (r->largest > 0.0) {
        fprintf(x->file, ", within %.2g of their bound", r->largest);
    }
    fputs(r->different < ENOUGH ? ": too few to be sure" : "", x->file);
    if (is_of_none_alone(r)) {
        fputs("\n      they are NaNs, or what a row without keys has: whatever leaves a row no key "
              "gives "
              "them",
              x->file);
    }
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

/* 1: it gives the very same numbers, and is as good otherwise. */
static int is_alike(const struct explain *x, const struct explain_reason *r,
                    const struct explain_reason *best) {
    return r != best && best->rank / 100 == r->rank / 100 &&
           (r->against == 0) == (best->against == 0) && r->refuted == best->refuted &&
           memcmp(r->gives, best->gives, (size_t)x->n_wrong) == 0;
}

/* Others that give the same: the simplest ones. */
static void say_beside(const struct explain *x, const struct explain_reason *best) {
    const struct explain_reason *last = best;
    for (int said = 0; said < MOST_BESIDE && last != NULL; said++) {
        const struct explain_reason *next = NULL;
        for (int i = 0; i < x->n_reasons; i++) {
            const struct explain_reason *r = &x->reason[i];
            int is_behind = r->rank > last->rank || (r->rank == last->rank && r > last);
            if (is_alike(x, r, best) && is_behind && (next == NULL || r->rank < next->rank)) {
                next = r;
            }
        }
        if (next != NULL) {
            fprintf(x->file, "    or, which gives the same numbers here, %s\n", next->text);
        }
        last = next;
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
        explain_keep_cause(x, "as of ", best->text);
        fprintf(x->file, "  as of %s\n      gives %d of %d wrong numbers, %d different ones\n",
                best->text, best->n, x->n_wrong, best->different);
    }
}

void explain_say(struct explain *x, const char *why) {
    unsigned char *given = x->gives + (ptrdiff_t)EXPLAIN_REASONS * x->n_wrong;
    int more, left = x->n_wrong;
    for (int said = 0; said < MOST_SAID && left > 0; said++) {
        struct explain_reason *best = best_of(x, given, &more);
        if (said > 0 && FEW_LEFT * left < x->n_wrong) {
            break; /* so few may be anything */
        }
        /* What a cause that was said before leaves may be chance. */
        int one_in = x->named ? 2 : OF_THOSE_LEFT;
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
        fprintf(x->file, "  no mistake that %s gives %s%d of the %d wrong numbers\n",
                x->n_untried > 0 ? "was tried" : "is known here",
                left < x->n_wrong ? "the other " : "any of them: ", left, x->n_wrong);
        if (why != NULL && 2 * left > x->n_wrong) {
            fprintf(x->file, "  it is no rounding, and no wider declaration makes it right: %s\n",
                    why);
        }
    }
}

void explain_say_untried(const struct explain *x) {
    for (int i = 0; i < x->n_untried; i++) {
        fprintf(x->file,
                i == 0 ? "  not tried, or not on all numbers, for want of time: %s" : "; %s",
                x->untried[i]);
    }
    fputs(x->n_untried > 0 ? "\n" : "", x->file);
}

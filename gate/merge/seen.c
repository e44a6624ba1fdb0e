/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/seen.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "gate/merge/judge.h"

/* ---- What a row and head may have ---- */

enum {
    SOME_EMPTY,
    FIRST_EMPTY,
    LAST_EMPTY,
    NO_KEYS,
    ONE_WITH_KEYS,
    ODD_PARTS,
    BELOW_0,
    ABOVE_0,
    ALIKE,
    FAR_APART,
    WITH_GAPS,
    WITHOUT_LSE,
    O_ROW_PART,
    L_PART_HEAD,
    L_ROW_PART,
    LSE_HEAD_ROW,
    PROPERTIES
};

/* Of the wrong rows and heads: "... have ..." */
static const char *const words[PROPERTIES] = {
    [SOME_EMPTY] = "a part without keys",
    [FIRST_EMPTY] = "a first part without keys",
    [LAST_EMPTY] = "a last part without keys",
    [NO_KEYS] = "no key in any part",
    [ONE_WITH_KEYS] = "keys in one part alone, of several",
    [ODD_PARTS] = "an odd number of parts",
    [BELOW_0] = "log-sum-exps below 0 alone",
    [ABOVE_0] = "a log-sum-exp above 88 nats, whose exponential overflows in binary32",
    [ALIKE] = "parts of equal log-sum-exps, more than one",
    [FAR_APART] = "parts more than 88 nats apart, so that weights are 0 in binary32",
    [WITH_GAPS] = "gaps between rows or heads: the arrays lie by strides",
    [WITHOUT_LSE] = "no log-sum-exp to write: `lse` is NULL",
    [O_ROW_PART] = "outputs by [row][part][head][d]",
    [L_PART_HEAD] = "log-sum-exps by [part][head][row]",
    [L_ROW_PART] = "log-sum-exps by [row][part][head]",
    [LSE_HEAD_ROW] = "an `lse` by [head][row]",
};

#define NATS    0x1.62e42fefa39efp-1 /* of a bit */
#define LARGEST 88.0                 /* exp() of more overflows in binary32 */

static unsigned bit(int property, int has) {
    return has ? 1U << property : 0;
}

static struct merge_pair pair_of(const struct merge_problem *p, int row, int head) {
    const struct merge_recipe *r = &p->recipe;
    int n = merge_parts_of(p, row), equal = 1, with_keys;
    double least = INFINITY, most = -INFINITY, unit = p->kernel->base == CP_BASE_2 ? NATS : 1.0;
    struct merge_pair pair = {.parts = n, .row = row, .head = head};
    for (int i = 0; i < n; i++) {
        double l = merge_l_of(p, row, i, head) * unit;
        if (l == -INFINITY) {
            pair.empties++;
        } else {
            equal = equal && (most == -INFINITY || l == most);
            least = fmin(least, l);
            most = fmax(most, l);
        }
    }
    with_keys = n - pair.empties;
    pair.has = bit(SOME_EMPTY, pair.empties > 0) |
               bit(FIRST_EMPTY, n > 0 && merge_l_of(p, row, 0, head) == -INFINITY) |
               bit(LAST_EMPTY, n > 0 && merge_l_of(p, row, n - 1, head) == -INFINITY) |
               bit(NO_KEYS, with_keys == 0) | bit(ONE_WITH_KEYS, with_keys == 1 && n > 1) |
               bit(ODD_PARTS, n % 2 != 0) | bit(BELOW_0, with_keys > 0 && most < 0.0) |
               bit(ABOVE_0, most > LARGEST) | bit(ALIKE, with_keys > 1 && equal) |
               bit(FAR_APART, with_keys > 1 && most - least > LARGEST) | bit(WITH_GAPS, r->gaps) |
               bit(WITHOUT_LSE, !r->asks_lse) | bit(O_ROW_PART, r->o == CP_O_ORDER_ROW_PART) |
               bit(L_PART_HEAD, r->l == CP_L_ORDER_PART_HEAD) |
               bit(L_ROW_PART, r->l == CP_L_ORDER_ROW_PART) |
               bit(LSE_HEAD_ROW, r->asks_lse && r->lse == CP_LSE_ORDER_HEAD);
    return pair;
}

#define SOME_CASES 3
#define ENOUGH     8 /* wrong numbers, or pairs, for what they have in common to say something */

/* ---- Judging ---- */

static int is_wrong(double got, double expected, double bound, int has_keys) {
    int is_same = got == expected || (isnan(got) && isnan(expected));
    return isinf(bound) ? 0 : has_keys ? !(fabs(got - expected) <= bound) : !is_same;
}

/* A wrong log-sum-exp. */
static void see_none(struct merge_seen *s, int has_keys, double got) {
    if (!has_keys && s->of_none++ == 0) {
        s->none = got;
    }
    s->of_none_others += !has_keys && got != s->none;
}

/* The numbers of a row and head. */
static int see_pair(struct merge_seen *s, const struct merge_arrays *a, int row, int head,
                    const struct merge_expected *to) {
    int d = a->problem->recipe.head_dim, wrong = 0;
    int has_keys = merge_certify(a->problem, row, head, to);
    if (has_keys < 0) {
        return -1;
    }
    for (int e = 0; e < d; e++) {
        if (is_wrong(merge_result(a, row, head, e), to->expected[e], to->bound[e], has_keys)) {
            s->first = e < s->first ? e : s->first;
            s->last = e > s->last ? e : s->last;
            s->wrong_out++;
            wrong = 1;
        }
    }
    if (a->problem->recipe.asks_lse) {
        s->asked++;
        if (is_wrong(merge_result(a, row, head, -1), to->expected[d], to->bound[d], has_keys)) {
            s->wrong_lse++;
            wrong = 1;
            see_none(s, has_keys, merge_result(a, row, head, -1));
        }
    }
    s->pair[s->n] = pair_of(a->problem, row, head);
    s->pair[s->n].in_case = s->cases;
    s->pair[s->n++].wrong = wrong;
    s->wrong += wrong;
    return 0;
}

int merge_see(struct merge_seen *s, const struct merge_arrays *a) {
    const struct merge_recipe *r = &a->problem->recipe;
    size_t d = (size_t)r->head_dim;
    double *memory = malloc(2 * (d + 1) * sizeof *memory);
    if (memory == NULL) {
        return -1;
    }
    if (s->cases++ == 0) {
        s->first = INT_MAX;
        s->last = -1;
        s->width = r->head_dim;
    }
    struct merge_expected to = {memory, memory + d + 1};
    int result = 0;
    for (int x = 0; x < r->n_rows * r->n_heads && result == 0 && s->n < MERGE_SEEN; x++) {
        result = see_pair(s, a, x / r->n_heads, x % r->n_heads, &to);
    }
    free(memory);
    return result;
}

/* ---- What they have in common ---- */

static void say_properties(FILE *out, const struct merge_seen *s) {
    for (int i = 0; i < PROPERTIES; i++) {
        int with[2] = {0, 0}; /* of right ones, of wrong ones */
        for (int at = 0; at < s->n; at++) {
            with[s->pair[at].wrong] += (int)(s->pair[at].has >> i & 1);
        }
        if (with[1] == s->wrong && with[0] == 0) {
            fprintf(out, "  all of these, and none of the right ones, have %s\n", words[i]);
        } else if (with[1] == s->wrong && s->wrong >= ENOUGH && 2 * with[0] < s->n - s->wrong) {
            fprintf(out, "  all of these, and %d of the %d right ones, have %s\n", with[0],
                    s->n - s->wrong, words[i]);
        }
    }
}

static int parts_of(const struct merge_pair *pair) {
    return pair->parts;
}

static int row_of(const struct merge_pair *pair) {
    return pair->row;
}

static int head_of(const struct merge_pair *pair) {
    return pair->head;
}

static int with_keys_of(const struct merge_pair *pair) {
    return pair->parts - pair->empties;
}

/* Right pairs with less of something than any wrong one has, or, with the sign -1, with more: from
 * at least SOME_CASES, as pairs of one case are alike. */
static void say_limit(FILE *out, const struct merge_seen *s, const char *what,
                      int (*number)(const struct merge_pair *), int sign) {
    int limit = INT_MAX, nearest = INT_MIN, n = 0, cases = 0, last = -1;
    for (int i = 0; i < s->n; i++) {
        int x = sign * number(&s->pair[i]);
        limit = s->pair[i].wrong && x < limit ? x : limit;
    }
    for (int i = 0; i < s->n; i++) {
        int x = sign * number(&s->pair[i]);
        if (x < limit) {
            nearest = x > nearest ? x : nearest;
            cases += s->pair[i].in_case != last;
            last = s->pair[i].in_case;
            n++;
        }
    }
    if (n >= ENOUGH && s->wrong >= ENOUGH && cases >= SOME_CASES) {
        fprintf(out, "  each has %d %s or %s; with %d or %s all %d are right\n", sign * limit, what,
                sign > 0 ? "more" : "fewer", sign * nearest, sign > 0 ? "fewer" : "more", n);
    }
}

/* Rows or heads before the first that is ever wrong. */
static void say_index(FILE *out, const struct merge_seen *s, const char *what,
                      int (*number)(const struct merge_pair *)) {
    int least = INT_MAX;
    for (int i = 0; i < s->n; i++) {
        int x = number(&s->pair[i]);
        least = s->pair[i].wrong && x < least ? x : least;
    }
    if (least > 0 && s->wrong >= ENOUGH) {
        fprintf(out, "  none of these is %s 0%s: those are right in all cases\n", what,
                least > 1 ? ", or one right behind it" : "");
    }
}

static void say_elements(FILE *out, const struct merge_seen *s) {
    if (s->wrong_out == 0) {
        fputs("  all outputs are right, and log-sum-exps are wrong\n", out);
        return;
    }
    if (s->wrong_lse == 0 && s->asked > 0) {
        fputs("  all log-sum-exps are right, and outputs are wrong\n", out);
    }
    if (s->wrong_out < ENOUGH) {
        return;
    }
    if (s->first > 0) {
        fprintf(out, "  elements below %d are right in all: wrong are those from %d to %d of %d\n",
                s->first, s->first, s->last, s->width);
    } else if (s->last < s->width - 1) {
        fprintf(out, "  elements above %d are right in all: wrong are those up to it, of %d\n",
                s->last, s->width);
    }
}

/* CONV-2: all rows without keys have one number. */
static void say_none(FILE *out, const struct merge_seen *s) {
    if (s->of_none > 0 && s->of_none_others == 0 && s->wrong_lse == s->of_none &&
        s->wrong_out == 0) {
        fprintf(out,
                "  all are of rows without keys, and are %.9g: `.empty_lse = CP_EMPTY_VALUE` and "
                "`.empty_value`\n  declare it (CONV-2)\n",
                s->none);
    }
}

void merge_say_seen(FILE *out, const struct merge_seen *s) {
    if (s->wrong == 0) {
        return;
    }
    fprintf(out, "%d of %d rows and heads of %d cases like this are wrong:\n", s->wrong, s->n,
            s->cases);
    say_elements(out, s);
    say_none(out, s);
    if (s->wrong < s->n) {
        say_limit(out, s, "parts", parts_of, 1);
        say_limit(out, s, "parts", parts_of, -1);
        say_limit(out, s, "parts with keys", with_keys_of, 1);
        say_index(out, s, "row", row_of);
        say_index(out, s, "head", head_of);
        say_properties(out, s);
    } else {
        fputs("  no row and head is right\n", out);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/search/log.h"
#include "gate/source/lines.h"

/* ---- What was covered ---- */

struct gate_covered gate_covers(const struct gate_problem *p) {
    struct gate_covered one = {p->recipe.head_dim, 1, 0};
    for (int s = 0; s < p->b; s++) {
        one.keys = p->n_tokens[s] > one.keys ? p->n_tokens[s] : one.keys;
    }
    return one;
}

/* In order of head_dim. */
static void add_covered(struct gate_result *r, const struct gate_covered *one) {
    int i = 0;
    while (i < r->n_covered && r->covered[i].head_dim < one->head_dim) {
        i++;
    }
    struct gate_covered *here = &r->covered[i];
    if (i == r->n_covered || here->head_dim != one->head_dim) {
        if (r->n_covered == GATE_HEAD_DIMS) {
            return;
        }
        memmove(here + 1, here, (size_t)(r->n_covered - i) * sizeof *here);
        *here = (struct gate_covered){.head_dim = one->head_dim};
        r->n_covered++;
    }
    here->cases += one->cases;
    here->keys = one->keys > here->keys ? one->keys : here->keys;
}

static void add_unjudged(struct gate_result *r, long long cases, int keys) {
    r->unjudged += cases;
    r->unjudged_keys = keys > r->unjudged_keys ? keys : r->unjudged_keys;
}

/* ---- A case ---- */

long long gate_wrong_cases(const struct gate_result *r) {
    return r->cases - r->verdicts[GATE_RIGHT];
}

long long gate_wrong_cases_of(const struct gate_tally *t) {
    return t->cases - t->verdicts[GATE_RIGHT];
}

long long gate_work_of(const struct gate_recipe *r) {
    long long tokens = 1;
    for (int i = 0; i < r->n_ops; i++) {
        tokens += r->op[i].tokens + r->op[i].own;
    }
    return tokens * r->head_dim * r->n_heads;
}

int gate_ratio_interval(double ratio) {
    double at = ratio > 0.0 ? ceil(2.0 * log2(ratio)) + GATE_RATIO_ONE : 0.0;
    return at <= 0.0 ? 0 : at < GATE_RATIOS - 1 ? (int)at : GATE_RATIOS - 1;
}

int gate_keys_interval(int keys) {
    int at = 0;
    for (; keys > 0 && at < GATE_KEYS - 1; keys /= 2) {
        at++;
    }
    return at;
}

/* Keeps the smaller case, or of equally small ones the earlier. 1: `found`, of n so far, became
 * this one; or it is the first. */
static int keep_smaller(struct gate_found *found, long long n, const struct gate_found *this) {
    int smaller =
        this->work < found->work || (this->work == found->work && this->index < found->index);
    if (n > 0 && !smaller) {
        return 0;
    }
    *found = *this;
    return 1;
}

/* Names the lines of the source in the findings that are kept. */
static void keep_named(struct gate_found *found, long long n, const char *object,
                       const struct gate_found *this) {
    if (keep_smaller(found, n, this)) {
        gate_name_lines(object, found->finding.text, sizeof found->finding.text);
    }
}

int gate_is_unusual(const struct gate_found *found) {
    return found->finding.verdict == GATE_RIGHT && found->finding.unusual > 0;
}

/* Keeps the case of the number that is farthest beyond its usual error, of equal ones the earlier;
 * and the smallest right case with such a number. */
static void add_unusual(struct gate_result *r, long long numbers, long long cases,
                        const struct gate_found *this, const struct gate_found *smallest) {
    double before = r->most_unusual.finding.most_unusual, times = this->finding.most_unusual;
    if (numbers > 0 && (r->unusual == 0 || times > before ||
                        (times == before && this->index < r->most_unusual.index))) {
        r->most_unusual = *this;
    }
    if (gate_is_unusual(smallest)) {
        keep_smaller(&r->found[GATE_RIGHT], gate_is_unusual(&r->found[GATE_RIGHT]), smallest);
    }
    r->unusual += numbers;
    r->unusual_cases += cases;
}

void gate_result_count(struct gate_result *r, const char *object, const struct gate_found *this,
                       const struct gate_covered *covers, double seconds) {
    const struct gate_finding *f = &this->finding;
    struct gate_tally *tally = &r->tally[this->recipe.values];
    if (f->verdict != GATE_RIGHT) {
        keep_named(&r->found[f->verdict], r->verdicts[f->verdict], object, this);
        keep_named(&tally->smallest, gate_wrong_cases_of(tally), object, this);
    }
    r->cases++;
    r->verdicts[f->verdict]++;
    tally->cases++;
    tally->verdicts[f->verdict]++;
    tally->compared += f->compared;
    tally->unclaimed += f->unclaimed;
    tally->largest = fmax(tally->largest, f->largest);
    tally->seconds += seconds;
    add_unusual(r, f->unusual, f->unusual > 0, this, this);
    if (f->compared > 0) {
        tally->spread[gate_keys_interval(f->keys)][gate_ratio_interval(f->largest)]++;
    }
    if (f->verdict == GATE_RIGHT && gate_claims_few(f->compared, f->unclaimed)) {
        add_unjudged(r, 1, covers->keys);
    } else {
        add_covered(r, covers);
    }
}

/* ---- Claims ---- */

long long gate_unclaimed(const struct gate_result *r) {
    long long unclaimed = 0;
    for (int i = 0; i < GATE_VALUES; i++) {
        unclaimed += r->tally[i].unclaimed;
    }
    return unclaimed;
}

int gate_claims_too_little(const struct gate_result *r) {
    long long compared = 0;
    for (int i = 0; i < GATE_VALUES; i++) {
        compared += r->tally[i].compared;
    }
    return gate_claims_few(compared, gate_unclaimed(r));
}

int gate_has_too_few(const struct gate_result *r) {
    long long least = r->asked < GATE_LEAST_CASES ? r->asked : GATE_LEAST_CASES;
    return r->is_late && r->cases + r->refused < least;
}

int gate_is_right(const struct gate_result *r) {
    return r->cases > 0 && gate_wrong_cases(r) == 0 && !gate_claims_too_little(r) &&
           !gate_has_too_few(r) && !r->failed;
}

/* ---- Adding up ---- */

static void add_tally(struct gate_tally *all, const struct gate_tally *one) {
    if (gate_wrong_cases_of(one) > 0) {
        keep_smaller(&all->smallest, gate_wrong_cases_of(all), &one->smallest);
    }
    all->cases += one->cases;
    all->compared += one->compared;
    all->unclaimed += one->unclaimed;
    all->seconds += one->seconds;
    all->largest = one->largest > all->largest ? one->largest : all->largest;
    for (int i = 0; i < GATE_VERDICTS; i++) {
        all->verdicts[i] += one->verdicts[i];
    }
    for (int i = 0; i < GATE_KEYS; i++) {
        for (int j = 0; j < GATE_RATIOS; j++) {
            all->spread[i][j] += one->spread[i][j];
        }
    }
}

/* Logs are taken over whole, because whoever wants logs asks for one block after the other. */
static int add_log(struct gate_log *all, struct gate_log *one) {
    int result = 0;
    for (long long i = 0; i < one->n && result == 0; i++) {
        result = gate_log_add(all, &one->entry[i]);
    }
    free(one->entry);
    memset(one, 0, sizeof *one);
    return result;
}

int gate_result_add(struct gate_result *all, struct gate_result *one) {
    for (int i = 0; i < GATE_VALUES; i++) {
        add_tally(&all->tally[i], &one->tally[i]);
    }
    for (int i = 0; i < GATE_VERDICTS; i++) {
        if (i != GATE_RIGHT && one->verdicts[i] > 0) {
            keep_smaller(&all->found[i], all->verdicts[i], &one->found[i]);
        }
        all->verdicts[i] += one->verdicts[i];
    }
    all->cases += one->cases;
    all->refused += one->refused;
    all->runs += one->runs;
    all->too_large += one->too_large;
    all->tried_closer += one->tried_closer;
    all->parts += one->parts;
    all->needed |= one->needed;
    if (one->refusal[0] != '\0') {
        memcpy(all->refusal, one->refusal, sizeof all->refusal);
    }
    for (int i = 0; i < one->n_covered; i++) {
        add_covered(all, &one->covered[i]);
    }
    gate_sizes_add(&all->sizes, &one->sizes);
    add_unusual(all, one->unusual, one->unusual_cases, &one->most_unusual, &one->found[GATE_RIGHT]);
    add_unjudged(all, one->unjudged, one->unjudged_keys);
    int result = add_log(&all->each, &one->each);
    return add_log(&all->usual, &one->usual) != 0 ? -1 : result;
}

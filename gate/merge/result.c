/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/result.h"

#include <stdlib.h>
#include <string.h>

#include "gate/merge/mistakes.h"

#define LEAST_CASES 400 /* as many as tier quick has; or all that were asked for (GATE-1) */

static int larger(int a, int b) {
    return a > b ? a : b;
}

static int is_smaller(const struct merge_found *a, const struct merge_found *b) {
    return a->work != b->work ? a->work < b->work : a->index < b->index;
}

void merge_result_count(struct merge_result *result, const struct merge_found *found,
                        double seconds) {
    const struct merge_finding *f = &found->finding;
    struct merge_tally *tally = &result->tally[found->recipe.values];
    struct merge_sizes *sizes = &result->sizes;
    struct merge_found *smallest = &result->found[f->verdict];
    int is_wrong = f->verdict != GATE_RIGHT;
    result->cases++;
    tally->cases++;
    tally->seconds += seconds;
    if (is_wrong && (tally->wrong == 0 || is_smaller(found, &tally->smallest))) {
        tally->smallest = *found;
    }
    tally->wrong += is_wrong;
    tally->verdicts[f->verdict]++;
    tally->compared += f->of.compared;
    tally->unclaimed += f->of.unclaimed;
    tally->largest = f->of.largest > tally->largest ? f->of.largest : tally->largest;
    result->unjudged +=
        !is_wrong && gate_claims_few(f->of.compared + f->of.unclaimed, f->of.unclaimed);
    sizes->n_parts = larger(sizes->n_parts, found->recipe.n_parts);
    sizes->n_rows = larger(sizes->n_rows, found->recipe.n_rows);
    sizes->n_heads = larger(sizes->n_heads, found->recipe.n_heads);
    sizes->head_dim = larger(sizes->head_dim, found->recipe.head_dim);
    for (int i = 0; i < merge_mistakes(); i++) {
        result->explained[f->verdict][i] += (long long)(f->mistakes >> i & 1);
    }
    if (result->verdicts[f->verdict]++ == 0 || is_smaller(found, smallest)) {
        *smallest = *found;
    }
}

void merge_result_free(struct merge_result *result) {
    free(result->each.entry);
    free(result->usual.entry);
}

int merge_likeliest(const struct merge_result *result, int verdict) {
    const long long *explained = result->explained[verdict];
    int likeliest = -1;
    for (int i = 0; i < merge_mistakes(); i++) {
        if (explained[i] > (likeliest < 0 ? 0 : explained[likeliest])) {
            likeliest = i;
        }
    }
    return likeliest >= 0 && 4 * explained[likeliest] >= result->verdicts[verdict] ? likeliest : -1;
}

long long merge_wrong_cases(const struct merge_result *result) {
    return result->cases - result->verdicts[GATE_RIGHT];
}

long long merge_unclaimed(const struct merge_result *result) {
    long long sum = 0;
    for (int i = 0; i < MERGE_VALUES; i++) {
        sum += result->tally[i].unclaimed;
    }
    return sum;
}

static long long compared(const struct merge_result *result) {
    long long sum = 0;
    for (int i = 0; i < MERGE_VALUES; i++) {
        sum += result->tally[i].compared;
    }
    return sum;
}

const char *merge_no_answer(const struct merge_result *result) {
    long long unclaimed = merge_unclaimed(result);
    if (merge_wrong_cases(result) > 0) {
        return NULL;
    }
    return result->cases == 0 && !result->is_late ? "the kernel takes no case"
           : result->failed                       ? "the run failed"
           : result->is_late && result->cases < LEAST_CASES && result->cases < result->asked
               ? "--time left too few cases"
           : result->interrupted ? "the run was interrupted"
           : gate_claims_few(compared(result) + unclaimed, unclaimed)
               ? "the declared arithmetic is so wide that few bounds are finite (GATE-1)"
               : NULL;
}

const char *merge_answer(const struct merge_result *result) {
    return merge_wrong_cases(result) > 0     ? "wrong"
           : merge_no_answer(result) != NULL ? "none"
                                             : "right";
}

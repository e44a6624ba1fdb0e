/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/sane.h"

#include <math.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "chunkproof/tolerance.h"
#include "gate/case/prompts.h"
#include "gate/judge/closer.h"

#define MOST_SIZE (1 << 20) /* of a recipe: sequences, query rows, chunks of the pool */

static int ends(const char *text, size_t size) {
    return memchr(text, '\0', size) != NULL;
}

static int is_within(long long x, long long least, long long most) {
    return least <= x && x <= most;
}

/* SCORE-1 to SCORE-5. */
static int scores_are_sane(const struct gate_recipe *r) {
    int has_table = r->biases != GATE_NO_BIASES;
    return is_within(r->cap, 0, GATE_MOST_CAP) && is_within(r->slopes, 0, GATE_SLOPES - 1) &&
           is_within(r->sinks, 0, 1) && is_within(r->biases, 0, GATE_BIASES - 1) &&
           is_within(r->n_biases, has_table, has_table ? GATE_MOST_BIASES : 0) &&
           is_within(r->own_bias, 0, has_table ? r->n_biases - 1 : 0) &&
           (r->slopes == GATE_NO_SLOPES || !has_table);
}

static int recipe_is_sane(const struct gate_recipe *r) {
    int sane =
        is_within(r->n_heads, 1, 1024) && is_within(r->n_kv_heads, 1, 1024) &&
        r->n_heads % r->n_kv_heads == 0 && is_within(r->head_dim, 1, 4096) &&
        is_within(r->chunk_size, 1, CP_MAX_CHUNK_SIZE) && is_within(r->scale, 1, 1000) &&
        is_within(r->layout, 0, GATE_LAYOUTS - 1) && is_within(r->values, 0, GATE_VALUES - 1) &&
        is_within(r->queries, 0, GATE_QUERIES - 1) && is_within(r->padding, 0, GATE_PADDINGS - 1) &&
        is_within(r->without_lse, 0, 1) && is_within(r->renewed, 0, 1) &&
        is_within(r->n_ops, 0, GATE_MOST_OPS) && is_within(r->n_modules, 0, GATE_MOST_MODULES) &&
        is_within(r->sequences, 0, MOST_SIZE) && is_within(r->rows, 0, MOST_SIZE) &&
        is_within(r->pool, 0, MOST_SIZE) && is_within(r->page, 0, CP_MOST_PAGE) &&
        is_within(r->bits, 0, GATE_BITS - 1) && is_within(r->value_dim, 0, 4096);
    for (int i = 0; sane && i < r->n_ops; i++) {
        const struct gate_op *op = &r->op[i];
        sane =
            is_within(op->kind, 0, GATE_OPS - 1) && is_within(op->sequence, 0, CP_TOLERANCE_MOST) &&
            is_within(op->tokens, 0, CP_TOLERANCE_MOST) && is_within(op->own, 0, CP_TOLERANCE_MOST);
    }
    for (int i = 0; sane && i < r->n_modules; i++) {
        sane = is_within(r->module[i].tokens, 1, CP_MAX_POSITIONS) &&
               is_within(r->module[i].position, 0, CP_MAX_POSITIONS);
    }
    return sane && scores_are_sane(r) && gate_prompts_fit(r);
}

/* It is printed as it is. */
static int is_plain(const char *text, size_t size) {
    size_t n = 0;
    while (n < size && text[n] > ' ' && text[n] < 127) {
        n++;
    }
    return n < size && text[n] == '\0';
}

int gate_finding_is_sane(const struct gate_finding *f) {
    return is_within(f->verdict, GATE_RIGHT + 1, GATE_VERDICTS - 1) &&
           is_plain(f->clause, sizeof f->clause) && ends(f->text, sizeof f->text) && f->row >= -1 &&
           f->head >= -1 && f->element >= -1 && f->wrong >= 0 && f->compared >= 0 &&
           f->unclaimed >= 0 && f->keys >= 0;
}

/* The file is for --save, which comes after all cases. */
static int found_is_sane(const struct gate_found *found, long long cases) {
    return is_within(found->index, 0, cases - 1) && found->work >= 0 &&
           is_within(found->needs_others, 0, 1) && found->has_before == 0 &&
           recipe_is_sane(&found->recipe) && gate_finding_is_sane(&found->finding) &&
           found->file[0] == '\0';
}

static int is_time(double seconds) {
    return seconds >= 0.0 && isfinite(seconds);
}

/* Does each have at most so many, and all of them so many? */
int gate_counts_are_sane(const long long *counts, int n, long long all) {
    long long left = all;
    for (int i = 0; i < n; i++) {
        if (!is_within(counts[i], 0, left)) {
            return 0;
        }
        left -= counts[i];
    }
    return left == 0;
}

static int tally_is_sane(const struct gate_tally *t, long long cases) {
    long long judged = 0;
    if (!is_within(t->cases, 0, 2 * cases) ||
        !gate_counts_are_sane(t->verdicts, GATE_VERDICTS, t->cases) ||
        !is_within(t->compared, 0, GATE_MOST_NUMBERS) ||
        !is_within(t->unclaimed, 0, GATE_MOST_NUMBERS) || !(t->largest >= 0.0) ||
        !is_time(t->seconds)) {
        return 0;
    }
    for (int i = 0; i < GATE_KEYS; i++) {
        for (int j = 0; j < GATE_RATIOS; j++) {
            if (!is_within(t->spread[i][j], 0, t->cases - judged)) {
                return 0;
            }
            judged += t->spread[i][j];
        }
    }
    return t->verdicts[GATE_RIGHT] == t->cases ||
           (found_is_sane(&t->smallest, cases) && t->verdicts[t->smallest.finding.verdict] > 0);
}

/* Does each kind of values have its part of the verdicts? */
static int tallies_add_up(const struct gate_result *r) {
    for (int verdict = 0; verdict < GATE_VERDICTS; verdict++) {
        long long left = r->verdicts[verdict];
        for (int i = 0; i < GATE_VALUES; i++) {
            left -= r->tally[i].verdicts[verdict];
        }
        if (left != 0) {
            return 0;
        }
    }
    return 1;
}

static int covered_is_sane(const struct gate_result *r) {
    long long left = r->cases - r->unjudged;
    if (!is_within(r->n_covered, 0, GATE_HEAD_DIMS)) {
        return 0;
    }
    for (int i = 0; i < r->n_covered; i++) {
        const struct gate_covered *one = &r->covered[i];
        if (one->head_dim <= (i > 0 ? r->covered[i - 1].head_dim : 0) || one->keys < 0 ||
            !is_within(one->cases, 1, left)) {
            return 0;
        }
        left -= one->cases;
    }
    return 1;
}

static int sizes_are_sane(const struct gate_sizes *sizes) {
    int sane = 1;
    for (int i = 0; sane && i < GATE_SIZES; i++) {
        sane = sizes->largest[i] >= 0;
    }
    for (int which = 0; sane && which < GATE_ASKED; which++) {
        const struct gate_asked_of *asked = &sizes->asked[which];
        sane = is_within(asked->n, 0, GATE_ASKED_VALUES);
        for (int i = 0; sane && i < asked->n; i++) {
            sane = asked->taken[i] >= 0 && asked->refused[i] >= 0 &&
                   (i == 0 || asked->value[i - 1] < asked->value[i]);
        }
    }
    return sane;
}

/* A case with numbers that are right, and far beyond their usual error. */
static int unusual_case_is_sane(const struct gate_found *found, long long cases) {
    return is_within(found->index, 0, cases - 1) && recipe_is_sane(&found->recipe) &&
           is_within(found->finding.verdict, 0, GATE_VERDICTS - 1) &&
           is_within(found->has_before, 0, 0) && found->file[0] == '\0' &&
           found->finding.most_unusual >= 0.0 &&
           ends(found->finding.text, sizeof found->finding.text);
}

static int unusual_is_sane(const struct gate_result *r, long long cases) {
    return r->unusual >= 0 && is_within(r->unusual_cases, 0, r->cases) &&
           (r->unusual == 0 || unusual_case_is_sane(&r->most_unusual, cases)) &&
           (!gate_is_unusual(&r->found[GATE_RIGHT]) ||
            unusual_case_is_sane(&r->found[GATE_RIGHT], cases));
}

int gate_result_is_sane(const struct gate_result *r, long long cases) {
    /* A case may show that an earlier one is wrong, which counts as one more. */
    int sane = is_within(r->cases, 0, 2 * cases) && is_within(r->refused, 0, cases) &&
               gate_counts_are_sane(r->verdicts, GATE_VERDICTS, r->cases) && r->runs >= 0 &&
               r->too_large >= 0 && r->tried_closer >= 0 && r->parts >= 0 &&
               r->needed >> GATE_CLOSERS == 0 && is_within(r->unjudged, 0, r->cases) &&
               r->unjudged_keys >= 0 && ends(r->refusal, sizeof r->refusal) &&
               is_time(r->seconds) && covered_is_sane(r);
    for (int i = 0; sane && i < GATE_VALUES; i++) {
        sane = tally_is_sane(&r->tally[i], cases);
    }
    for (int i = GATE_RIGHT + 1; sane && i < GATE_VERDICTS; i++) {
        sane = r->verdicts[i] == 0 || (found_is_sane(&r->found[i], cases) &&
                                       r->found[i].finding.verdict == (enum gate_verdict)i);
    }
    return sane && tallies_add_up(r) && sizes_are_sane(&r->sizes) && unusual_is_sane(r, cases);
}

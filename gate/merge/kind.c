/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gate/merge/case_file.h"
#include "gate/merge/mistakes.h"
#include "gate/search/sane.h"

static void declare(char line[GATE_DECLARED], const struct runner *runner) {
    const struct cp_merge_kernel *k = runner_merge_kernel(runner);
    const struct cp_merging_class *a = &k->arithmetic;
    const struct cp_merge_layout *l = &k->layout;
    (void)snprintf(line, GATE_DECLARED,
                   "%d %d %d %d %d %d %d %d %d %d, %d %d %d %d, %d %d %a %d %d %a %d, "
                   "%d %d %d %d %d %d %d %d %d %d %a %a %a %a %a",
                   k->o_type, k->l_type, k->memory, k->base, k->lse, k->least_parts, k->most_parts,
                   k->parts, k->form, k->in_place, l->o, l->l, l->lse, l->gaps, k->empty_out,
                   k->empty_lse, k->empty_value, k->empty_o, k->empty_l, k->empty_l_value, k->never,
                   a->way, a->tree, a->converts, a->weights, a->values, a->partials, a->out_type,
                   a->lse_type, a->truncates, a->flushes, a->exp_error, a->log_error, a->div_error,
                   a->above, a->behind);
}

/* ---- Is it possible? ---- */

static int is_within(long long x, long long least, long long most) {
    return least <= x && x <= most;
}

static int is_yes_or_no(int x) {
    return x == 0 || x == 1;
}

static int recipe_is_sane(const struct merge_recipe *r) {
    return is_within(r->values, 0, MERGE_VALUES - 1) &&
           is_within(r->n_parts, 1, CP_MERGE_MOST_PARTS) &&
           is_within(r->n_rows, 1, MERGE_MOST_ROWS) && is_within(r->n_heads, 1, MERGE_MOST_HEADS) &&
           is_within(r->head_dim, 1, MERGE_MOST_DIM) && is_yes_or_no(r->empties) &&
           is_within(r->o, CP_O_ORDER_PART_ROW, CP_O_ORDER_ROW_PART) &&
           is_within(r->l, CP_L_ORDER_PART_ROW, CP_L_ORDER_ROW_PART) &&
           is_within(r->lse, CP_LSE_ORDER_ROW, CP_LSE_ORDER_HEAD) && is_yes_or_no(r->gaps) &&
           is_yes_or_no(r->asks_lse) && is_yes_or_no(r->renewed);
}

/* --save, and what it finds out of a case, come after all cases. */
static int found_is_sane(const struct merge_found *found, long long cases) {
    const struct merge_finding *f = &found->finding;
    return is_within(found->index, 0, cases - 1) && found->work >= 0 && found->needs_others == 0 &&
           found->has_before == 0 && found->file[0] == '\0' && recipe_is_sane(&found->recipe) &&
           is_within(f->verdict, GATE_RIGHT + 1, MERGE_VERDICTS - 1) &&
           gate_finding_is_sane(&f->of) && is_within(f->n_pairs, 0, MERGE_PAIRS) &&
           f->mistakes >> merge_mistakes() == 0;
}

static int tally_is_sane(const struct merge_tally *t, long long cases) {
    return is_within(t->cases, 0, cases) &&
           gate_counts_are_sane(t->verdicts, MERGE_VERDICTS, t->cases) &&
           t->wrong == t->cases - t->verdicts[GATE_RIGHT] &&
           is_within(t->compared, 0, GATE_MOST_NUMBERS) &&
           is_within(t->unclaimed, 0, GATE_MOST_NUMBERS) && t->largest >= 0.0 &&
           t->seconds >= 0.0 && isfinite(t->seconds) &&
           (t->wrong == 0 ||
            (found_is_sane(&t->smallest, cases) && t->verdicts[t->smallest.finding.verdict] > 0));
}

/* Does each kind of values have its part of the verdicts, and each verdict its smallest case and no
 * mistake that gives more cases than it has? */
static int verdict_is_sane(const struct merge_result *r, int verdict, long long cases) {
    long long left = r->verdicts[verdict];
    int sane =
        verdict == GATE_RIGHT || left == 0 ||
        (found_is_sane(&r->found[verdict], cases) && r->found[verdict].finding.verdict == verdict);
    for (int i = 0; i < MERGE_MISTAKES; i++) {
        sane = sane && is_within(r->explained[verdict][i], 0,
                                 i < merge_mistakes() ? r->verdicts[verdict] : 0);
    }
    for (int i = 0; i < MERGE_VALUES; i++) {
        left -= r->tally[i].verdicts[verdict];
    }
    return sane && left == 0;
}

/* --state and --rules do not go together, so that no result in a file has logs. */
static int is_sane(void *result, long long cases) {
    struct merge_result *r = result;
    const struct merge_sizes *s = &r->sizes;
    int sane = is_within(r->cases, 0, cases) && is_within(r->refused, 0, cases - r->cases) &&
               gate_counts_are_sane(r->verdicts, MERGE_VERDICTS, r->cases) && r->runs >= 0 &&
               r->laws >= 0 && is_within(r->unjudged, 0, r->cases) &&
               memchr(r->refusal, '\0', sizeof r->refusal) != NULL && s->n_parts >= 0 &&
               s->n_rows >= 0 && s->n_heads >= 0 && s->head_dim >= 0 && r->seconds >= 0.0 &&
               isfinite(r->seconds);
    memset(&r->each, 0, sizeof r->each);
    memset(&r->usual, 0, sizeof r->usual);
    for (int i = 0; sane && i < MERGE_VALUES; i++) {
        sane = tally_is_sane(&r->tally[i], cases);
    }
    for (int i = 0; sane && i < MERGE_VERDICTS; i++) {
        sane = verdict_is_sane(r, i, cases);
    }
    return sane;
}

const struct gate_kind merge_kind = {"merges", sizeof(struct merge_result), declare, is_sane};

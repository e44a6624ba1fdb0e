/* SPDX-License-Identifier: Apache-2.0 */
/* One plan, updated now and then, against the plan made anew and against the definition. The phases
 * refuse it while it is stale (spec/plan.md). `other` gives it to another tree with the same
 * counters. */
#include <stdlib.h>
#include <string.h>

#include "chunkproof/attend.h"
#include "fuzz/target.h"
#include "fuzz/world.h"

struct fixture {
    struct world world;
    struct cp_tree *other;
    struct cp_plan *plan, *anew, *before;
    struct cp_stamp current; /* of the last update */
    int is_made;             /* 1: there was an update */
};

static struct cp_plan *new_plan(void) {
    struct cp_plan *plan;
    if (cp_plan_new(&plan) != CP_OK) {
        fuzz_fail("no memory for a plan");
    }
    return plan;
}

static void copy(struct cp_plan *to, const struct cp_plan *from) {
    size_t rows = (size_t)from->n_sequences * sizeof *from->sequence;
    to->n_sequences = from->n_sequences;
    to->n_shared = from->n_shared;
    to->n_served = from->n_served;
    memcpy(to->served, from->served, (size_t)from->n_served * sizeof *from->served);
    memcpy(to->shared, from->shared, (size_t)from->n_shared * sizeof *from->shared);
    memcpy(to->sequence, from->sequence, rows);
}

static int is_same_run(const struct cp_run *x, const struct cp_run *y, int length) {
    return x->chunk == y->chunk && x->position == y->position &&
           (!length || x->n_tokens == y->n_tokens);
}

/* PLAN-6: only the last run has another length than before. */
static int has_same_runs(const struct cp_plan_sequence *x, const struct cp_plan_sequence *y,
                         int lengths) {
    int same = 1;
    for (int k = 0; same && k < x->n_chunks; k++) {
        same = is_same_run(&x->run[k], &y->run[k], lengths || k + 1 < x->n_chunks);
    }
    return same;
}

/* Are the plans the same, except for lengths and stamp? With `lengths`, these too. */
static int is_same(const struct cp_plan *a, const struct cp_plan *b, int lengths) {
    int same = a->n_sequences == b->n_sequences && a->n_shared == b->n_shared &&
               a->n_served == b->n_served;
    same = same && memcmp(a->served, b->served, (size_t)a->n_served * sizeof *a->served) == 0;
    same = same && memcmp(a->shared, b->shared, (size_t)a->n_shared * sizeof *a->shared) == 0;
    for (int s = 0; same && s < a->n_sequences; s++) {
        const struct cp_plan_sequence *x = &a->sequence[s], *y = &b->sequence[s];
        same = x->n_chunks == y->n_chunks && x->n_shared == y->n_shared &&
               (!lengths || x->n_tokens == y->n_tokens) && has_same_runs(x, y, lengths);
    }
    return same;
}

/* PLAN-1, PLAN-3 from the model alone: a chunk of two sequences or more has one descriptor, with
 * exactly these sequences; a chunk of one sequence has none. */
static void check_against_the_model(const struct cp_plan *plan, const struct model *model) {
    int distinct = 0;
    for (int s = 0; s < model->n_sequences; s++) {
        for (int k = 0; k < model_chunks(model, s); k++) {
            int name = model->sequence[s].name[k], begin = s, end = s, found = 0;
            while (begin > 0 && model_chunks(model, begin - 1) > k &&
                   model->sequence[begin - 1].name[k] == name) {
                begin--;
            }
            while (end < model->n_sequences && model_chunks(model, end) > k &&
                   model->sequence[end].name[k] == name) {
                end++;
            }
            for (int i = 0; i < plan->n_shared; i++) {
                const struct cp_shared_chunk *one = &plan->shared[i];
                found += one->chunk == plan->sequence[s].run[k].chunk && one->begin == begin &&
                         one->end == end && one->position == k * model->chunk_size;
            }
            if (found != (end - begin >= 2)) {
                fuzz_fail("chunk %d of sequence %d is in %d descriptors (PLAN-3)", k, s, found);
            }
            distinct += begin == s && end - begin >= 2;
        }
    }
    if (distinct != plan->n_shared) {
        fuzz_fail("%d descriptors for %d shared chunks (PLAN-1)", plan->n_shared, distinct);
    }
}

/* PLAN-5: a plan is current until the tree changes. From then on the phases refuse it, whatever
 * else they are given. */
static void check_stamp(const struct fixture *f) {
    struct cp_stamp now = f->world.tree->stamp;
    int current = f->is_made && f->current.tree == now.tree && f->current.epoch == now.epoch &&
                  f->current.step == now.step;
    struct cp_attention attention = {.plan = f->plan, .stamp = now};
    if (cp_plan_is_current(f->plan, now) != current) {
        fuzz_fail("the plan is %s, and said not to be (PLAN-5)", current ? "current" : "stale");
    }
    int status = cp_attend(&attention);
    if (status != (current ? CP_ERROR_ARGUMENT : CP_ERROR_STALE)) {
        fuzz_fail("a plan that is %s: %s", current ? "current" : "stale", cp_status_text(status));
    }
}

/* PLAN-6: the plan is rebuilt exactly when a path or a range has changed, else only lengths are
 * written. Either way it is then right. */
static void update(struct fixture *f, const struct cp_tree *tree) {
    int changed =
        !f->is_made || f->current.tree != tree->stamp.tree || f->current.epoch != tree->stamp.epoch;
    copy(f->before, f->plan);
    int rebuilt = cp_plan_update(f->plan, tree);
    cp_plan_build(f->anew, tree);
    if (rebuilt != changed) {
        fuzz_fail("the plan was %s (PLAN-6)", rebuilt ? "rebuilt in vain" : "not rebuilt");
    }
    if (!rebuilt && !is_same(f->plan, f->before, 0)) {
        fuzz_fail("an update of lengths has changed more (PLAN-6)");
    }
    if (!is_same(f->plan, f->anew, 1) || !cp_plan_is_current(f->anew, f->plan->stamp)) {
        fuzz_fail("a plan that was updated is not the one that is made anew");
    }
    const char *broken = cp_plan_check(f->plan), *differs = model_compare_plan(tree, f->plan);
    if (broken != NULL || differs != NULL) {
        fuzz_fail("the plan breaks %s; it differs: %s", broken != NULL ? broken : "nothing",
                  differs != NULL ? differs : "nowhere");
    }
    f->current = tree->stamp;
    f->is_made = 1;
}

/* Another tree, whose counters equal those of the first where possible. */
static void update_of_other(struct fixture *f) {
    const struct cp_stamp *stamp = &f->world.tree->stamp;
    struct cp_joined joined;
    while (f->other->stamp.epoch < stamp->epoch) {
        int status = f->other->n_sequences > 0
                         ? cp_tree_leave(f->other, 0)
                         : cp_tree_join(f->other, NULL, 0, 0, 0, NULL, &joined);
        if (status != CP_OK) {
            fuzz_fail("another tree: %s", cp_status_text(status));
        }
    }
    while (f->other->stamp.step < stamp->step) {
        (void)cp_tree_append_each(f->other, 0, NULL, NULL);
    }
    update(f, f->other);
}

static void apply(struct fixture *f, const struct format_operation *operation) {
    if (operation->kind == FORMAT_UPDATE) {
        update(f, f->world.tree);
        check_against_the_model(f->plan, f->world.model);
    } else if (operation->kind == FORMAT_OTHER) {
        update_of_other(f);
    } else {
        world_apply(&f->world, operation);
    }
    check_stamp(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct format_operation last = {.kind = FORMAT_UPDATE};
    struct fixture f = {.plan = new_plan(), .anew = new_plan(), .before = new_plan()};
    struct format_input input;
    format_decode(&input, data, size);
    world_new(&f.world, &input.problem);
    if (cp_tree_new(&f.other, 1, 1, 0) != CP_OK) {
        fuzz_fail("no memory for another tree");
    }
    check_stamp(&f);
    for (int i = 0; i < input.n; i++) {
        apply(&f, &input.operation[i]);
    }
    apply(&f, &last);
    cp_plan_free(f.plan);
    cp_plan_free(f.anew);
    cp_plan_free(f.before);
    cp_tree_free(f.other);
    world_free(&f.world);
    return 0;
}

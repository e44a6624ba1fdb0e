/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a smaller case with the same verdict, by a greedy search. A change makes a smaller recipe;
 * keep() runs it and takes it over when it is wrong in the same way:
 *
 *     recipe ---change---> smaller recipe ---run---> same verdict, same clause, error still large?
 *       ^                                                 | yes                  | no
 *       +--------------- becomes the recipe --------------+                      +--> forgotten
 *
 * gate_shrink() tries changes in rounds. The steps of a round, from what removes most:
 *
 *     1  call_once()        one call instead of two
 *     2  lower_sizes()      fewer sequences, rows and chunks than a server has; shorter windows
 *        drop_changes()     no cap, no slopes, no biases, no sinks; a shorter table
 *        drop_operations()  no operation i: a whole sequence, append, leave or fork less
 *        drop_modules()     no module i, in any prompt
 *     3  lower_all()        fewer tokens in operation i; of modules also their positions
 *     4  plainer()          values that say more, contiguous arrays, one query row each
 *     5  smaller_sizes()    fewer heads, smaller d, smaller c
 *     6                     another round if this one changed anything: a smaller d may let an
 *                           operation go that was needed before
 *
 * Step 3 halves. An example: a kernel is wrong for 13 keys and more, and the case has 100. Each
 * column is one try, `units` tokens less:
 *
 *     units   100  50   50  25   25  12   12   6   3   1
 *     tokens    0  50    0  25    0  13    1   7  10  12
 *     wrong         x        x        x
 *     kept         50       25       13
 *
 * A try that is kept (x) goes on from its length with as many units at most; any other halves them.
 * After 1 unit has failed, 13 is the least length. */
#include <math.h>
#include <string.h>

#include "cli/base/clock.h"
#include "gate/search/shrink.h"
#include "gate/source/lines.h"

/* In bounds: a result that is wrong by this much must stay wrong by this much, because the size
 * of an error tells its cause. */
#define CLEARLY 16.0

/* One attempt to make a case smaller. */
struct attempt {
    struct runner *runner;
    struct gate_found *found;
    const struct gate_shape *shape;
    double end, least; /* seconds of wall time; error / bound that must stay */
    const volatile int *stop;
    int tried, failed; /* failed: there is no verdict any more */
};

/* Sizes that were asked for stay as they are. */
static int has_shape(const struct attempt *a, const struct gate_recipe *r) {
    const struct gate_recipe *now = &a->found->recipe;
    const struct gate_shape *shape = a->shape;
    return (shape->n_heads == 0 || r->n_heads == now->n_heads) &&
           (shape->n_kv_heads == 0 || r->n_kv_heads == now->n_kv_heads) &&
           (shape->head_dim == 0 || r->head_dim == now->head_dim) &&
           (shape->value_dim == 0 || r->value_dim == now->value_dim) &&
           (shape->chunk_size == 0 || r->chunk_size == now->chunk_size) &&
           (shape->group == 0 || r->n_heads / r->n_kv_heads == now->n_heads / now->n_kv_heads) &&
           (shape->sequences == 0 || r->sequences == now->sequences) &&
           (shape->rows == 0 || r->rows == now->rows) &&
           (shape->window == 0 || r->window == now->window);
}

/* If `recipe` is another case with the same verdict by the same clause, the case becomes
 * `recipe`, and 1 is returned. */
static int keep(struct attempt *a, const struct gate_recipe *recipe) {
    struct gate_finding finding;
    if (a->failed || *a->stop || seconds_now() > a->end || !has_shape(a, recipe)) {
        return 0;
    }
    a->tried++;
    int ran = a->found->finding.verdict == GATE_OTHER_BITS
                  ? gate_check_elsewhere(a->runner, recipe, &finding)
                  : gate_check_recipe(a->runner, recipe, &finding);
    a->failed = ran < 0;
    if (ran <= 0 || finding.verdict != a->found->finding.verdict || finding.largest < a->least ||
        strcmp(finding.clause, a->found->finding.clause) != 0) {
        return 0;
    }
    a->found->recipe = *recipe;
    a->found->finding = finding;
    return 1;
}

/* Halves a size, or less, as in step 3, down to the least one. */
static int lower_to(struct attempt *a, int *(*size)(struct gate_recipe *), int smallest) {
    int smaller = 0;
    for (int less = *size(&a->found->recipe) - smallest; less > 0;) {
        struct gate_recipe r = a->found->recipe;
        *size(&r) -= less;
        if (keep(a, &r)) {
            int left = *size(&r) - smallest;
            smaller = 1;
            less = less < left ? less : left;
        } else {
            less /= 2;
        }
    }
    return smaller;
}

/* Of a server; 0: as the rest of the recipe says. */
static int lower_size(struct attempt *a, int *(*size)(struct gate_recipe *)) {
    return lower_to(a, size, 0);
}

static int *sequences_of(struct gate_recipe *r) {
    return &r->sequences;
}

static int *rows_of(struct gate_recipe *r) {
    return &r->rows;
}

static int *pool_of(struct gate_recipe *r) {
    return &r->pool;
}

static int *window_of(struct gate_recipe *r) {
    return &r->window;
}

static int *ahead_of(struct gate_recipe *r) {
    return &r->ahead;
}

static int *kept_of(struct gate_recipe *r) {
    return &r->kept;
}

/* Without a mask of bits; without a window nothing is kept beside it. */
static int lower_sizes(struct attempt *a) {
    struct gate_recipe r = a->found->recipe;
    int had = r.bits != GATE_NO_BITS;
    r.bits = GATE_NO_BITS;
    return (had && keep(a, &r)) | lower_size(a, sequences_of) | lower_size(a, rows_of) |
           lower_size(a, pool_of) | lower_size(a, kept_of) | lower_size(a, ahead_of) |
           lower_size(a, window_of);
}

static int *own_bias_of(struct gate_recipe *r) {
    return &r->own_bias;
}

static int *n_biases_of(struct gate_recipe *r) {
    return &r->n_biases;
}

/* Without a table of biases, or with a shorter one: each distance keeps its bias. */
static int drop_biases(struct attempt *a) {
    struct gate_recipe r = a->found->recipe;
    if (r.biases == GATE_NO_BIASES) {
        return 0;
    }
    r.biases = r.n_biases = r.own_bias = 0;
    if (keep(a, &r)) {
        return 1;
    }
    int smaller = lower_to(a, own_bias_of, 0);
    return lower_to(a, n_biases_of, a->found->recipe.own_bias + 1) | smaller;
}

/* Scores as they are: without a cap, slopes, biases or sinks. */
static int drop_changes(struct attempt *a) {
    struct gate_recipe r = a->found->recipe;
    int smaller = 0;
    r.cap = 0;
    smaller |= r.cap != a->found->recipe.cap && keep(a, &r);
    r = a->found->recipe;
    r.slopes = GATE_NO_SLOPES;
    smaller |= r.slopes != a->found->recipe.slopes && keep(a, &r);
    smaller |= drop_biases(a);
    r = a->found->recipe;
    r.sinks = 0;
    smaller |= r.sinks != a->found->recipe.sinks && keep(a, &r);
    return smaller;
}

static int drop_operations(struct attempt *a) {
    int smaller = 0;
    for (int i = a->found->recipe.n_ops - 1; i >= 0; i--) {
        struct gate_recipe r = a->found->recipe;
        r.n_ops--;
        memmove(&r.op[i], &r.op[i + 1], (size_t)(r.n_ops - i) * sizeof r.op[0]);
        memset(&r.op[r.n_ops], 0, sizeof r.op[0]);
        smaller |= r.n_ops > 0 && keep(a, &r);
    }
    return smaller;
}

/* Without module i. */
static int drop_modules(struct attempt *a) {
    int smaller = 0;
    for (int i = a->found->recipe.n_modules - 1; i >= 0 && a->found->recipe.n_modules > 1; i--) {
        struct gate_recipe r = a->found->recipe;
        r.n_modules--;
        memmove(&r.module[i], &r.module[i + 1], (size_t)(r.n_modules - i) * sizeof r.module[0]);
        memset(&r.module[r.n_modules], 0, sizeof r.module[0]);
        for (int op = 0; op < r.n_ops; op++) {
            int below = r.op[op].sequence & ((1 << i) - 1);
            r.op[op].sequence = (r.op[op].sequence >> (i + 1) << i) | below;
        }
        r.module[i].alike = 0; /* the text that it was is gone */
        smaller |= keep(a, &r);
    }
    return smaller;
}

/* The numbers that a case counts with: two of an operation, two of a module. */
enum number { TOKENS, OWN, MODULE_TOKENS, MODULE_POSITION };

static int *number_of(struct gate_recipe *r, int i, enum number which) {
    switch (which) {
    case TOKENS:
        return &r->op[i].tokens;
    case OWN:
        return &r->op[i].own;
    case MODULE_TOKENS:
        return &r->module[i].tokens;
    default:
        return &r->module[i].position;
    }
}

/* Modules of one text have as many tokens (GATE-14): those before module i, and behind it. */
static void shorten_alike(struct gate_recipe *r, int i) {
    for (int m = i; m > 0 && r->module[m].alike; m--) {
        r->module[m - 1].tokens = r->module[i].tokens;
    }
    for (int m = i + 1; m < r->n_modules && r->module[m].alike; m++) {
        r->module[m].tokens = r->module[i].tokens;
    }
}

/* Step 3 for one number: tries to remove all units, then half of them, a quarter, ..., one. */
static int lower(struct attempt *a, int i, enum number which, int unit) {
    int smaller = 0, least = which == MODULE_TOKENS; /* a module has a token */
    for (int units = (*number_of(&a->found->recipe, i, which) - least) / unit; units > 0;) {
        struct gate_recipe r = a->found->recipe;
        *number_of(&r, i, which) -= units * unit;
        if (which == MODULE_TOKENS) {
            shorten_alike(&r, i);
        }
        if (keep(a, &r)) { /* 100 to 50: 50 units again; 25 to 13: 12 again */
            int left = (*number_of(&a->found->recipe, i, which) - least) / unit;
            smaller = 1;
            units = units < left ? units : left;
        } else { /* 0 is right: 100 to 50 units; 1 is right: 12 to 6 */
            units /= 2;
        }
    }
    return smaller;
}

/* First by tiles of 128 ... 16 tokens, which keeps a remainder that the mistake may need; then by
 * single tokens. */
static int lower_both(struct attempt *a, int i, enum number one, enum number other) {
    static const int units[] = {128, 64, 32, 16, 1};
    int smaller = 0;
    for (int u = 0; u < (int)(sizeof units / sizeof units[0]); u++) {
        smaller |= lower(a, i, one, units[u]);
        smaller |= lower(a, i, other, units[u]);
    }
    return smaller;
}

/* Gives a sequence its own tokens instead of shared ones. Then the case may do without the
 * sequence that it shares them with. */
static int share_nothing(struct attempt *a, int i) {
    struct gate_recipe r = a->found->recipe;
    if (r.op[i].kind != GATE_JOIN || r.op[i].tokens == 0) {
        return 0;
    }
    r.op[i].own += r.op[i].tokens;
    r.op[i].tokens = 0;
    return keep(a, &r);
}

/* One module after the other less in prompt i. */
static int import_fewer(struct attempt *a, int i) {
    int smaller = 0;
    for (int m = 0; m < a->found->recipe.n_modules; m++) {
        struct gate_recipe r = a->found->recipe;
        r.op[i].sequence &= ~(1 << m);
        smaller |= r.op[i].sequence != a->found->recipe.op[i].sequence && keep(a, &r);
    }
    return smaller;
}

static int lower_all(struct attempt *a) {
    int smaller = 0;
    for (int i = 0; i < a->found->recipe.n_ops; i++) {
        smaller |= share_nothing(a, i);
        smaller |= lower_both(a, i, TOKENS, OWN);
        if (a->found->recipe.op[i].sequence != 0) {
            struct gate_recipe r = a->found->recipe;
            r.op[i].sequence = 0;
            smaller |= keep(a, &r);
        }
        smaller |= import_fewer(a, i);
    }
    for (int i = 0; i < a->found->recipe.n_modules; i++) {
        smaller |= lower_both(a, i, MODULE_TOKENS, MODULE_POSITION);
    }
    return smaller;
}

static int fewer_heads(struct attempt *a) {
    static const int kv_heads[] = {1, 2, 3, 9, 17}, groups[] = {1, 2, 3, 4, 5, 6, 7, 12};
    const struct gate_recipe *now = &a->found->recipe;
    int smaller = 0;
    for (int i = 0; i < (int)(sizeof kv_heads / sizeof kv_heads[0]); i++) {
        struct gate_recipe r = *now;
        r.n_kv_heads = kv_heads[i];
        r.n_heads = kv_heads[i] * (now->n_heads / now->n_kv_heads);
        smaller |= kv_heads[i] < now->n_kv_heads && keep(a, &r);
    }
    for (int i = 0; i < (int)(sizeof groups / sizeof groups[0]); i++) {
        struct gate_recipe r = *now;
        r.n_heads = r.n_kv_heads * groups[i];
        smaller |= r.n_heads < now->n_heads && keep(a, &r);
    }
    return smaller;
}

/* Values that tell keys apart need some room: with a single element all keys look the same. */
static int least_dim(enum gate_values values) {
    return values == GATE_COUNT || values == GATE_SELECT ? 16 : 1;
}

static int smaller_sizes(struct attempt *a) {
    static const int head_dims[] = {1, 2, 4, 8, 16, 32, 64, 80, 96, 128};
    static const int chunk_sizes[] = {1, 2, 3, 4, 5, 16, 17, 32, 64};
    int smaller = fewer_heads(a), least = least_dim(a->found->recipe.values);
    for (int i = 0; i < (int)(sizeof head_dims / sizeof head_dims[0]); i++) {
        struct gate_recipe r = a->found->recipe;
        r.head_dim = head_dims[i];
        smaller |= head_dims[i] >= least && head_dims[i] < a->found->recipe.head_dim && keep(a, &r);
    }
    for (int i = 0; i < (int)(sizeof head_dims / sizeof head_dims[0]); i++) {
        struct gate_recipe r = a->found->recipe;
        r.value_dim = head_dims[i];
        smaller |=
            head_dims[i] >= least && head_dims[i] < a->found->recipe.value_dim && keep(a, &r);
    }
    for (int i = 0; i < (int)(sizeof chunk_sizes / sizeof chunk_sizes[0]); i++) {
        struct gate_recipe r = a->found->recipe;
        r.chunk_size = chunk_sizes[i];
        smaller |= chunk_sizes[i] < a->found->recipe.chunk_size && keep(a, &r);
    }
    return smaller;
}

/* Where the second call sees more keys, they are there from the start: one more key, or full
 * chunks. */
static int call_once(struct attempt *a) {
    int smaller = 0;
    for (int more = 0; more <= 2 && !smaller; more++) {
        struct gate_recipe r = a->found->recipe;
        r.renewed = 0;
        for (int i = 0; i < r.n_ops; i++) {
            int *own = &r.op[i].own, tokens = r.op[i].tokens + *own, c = r.chunk_size;
            if (r.op[i].kind == GATE_JOIN && tokens % c != 0) {
                *own += more == 0 ? 0 : more == 1 ? 1 : c - tokens % c;
            }
        }
        smaller = keep(a, &r);
    }
    return smaller;
}

/* Tries a kind of values that says more, contiguous arrays, one query row each. */
static int plainer(struct attempt *a) {
    int smaller = 0;
    for (int values = 0; values < (int)a->found->recipe.values; values++) {
        struct gate_recipe r = a->found->recipe;
        r.values = (enum gate_values)values;
        smaller |= keep(a, &r);
    }
    for (int bit = 1; bit < GATE_LAYOUTS; bit *= 2) {
        struct gate_recipe r = a->found->recipe;
        r.layout &= ~bit;
        smaller |= r.layout != a->found->recipe.layout && keep(a, &r);
    }
    struct gate_recipe usual = a->found->recipe;
    usual.scale = 100;
    smaller |= a->found->recipe.scale != 100 && keep(a, &usual);
    for (int queries = 0; queries < (int)a->found->recipe.queries; queries++) {
        struct gate_recipe r = a->found->recipe;
        r.queries = (enum gate_queries)queries;
        smaller |= keep(a, &r);
    }
    return smaller;
}

int gate_shrink(struct runner *runner, struct gate_found *found, const struct gate_shape *shape,
                double seconds, const volatile int *stop) {
    double least = fmin(0.5 * found->finding.largest, CLEARLY);
    struct attempt a = {runner, found, shape, seconds_now() + seconds, least, stop, 0, 0};
    int smaller = 1;
    /* 6: round after round. */
    while (smaller && !a.failed) {
        smaller = a.found->recipe.renewed && call_once(&a); /* 1 */
        smaller |= lower_sizes(&a);                         /* 2 */
        smaller |= drop_changes(&a);
        smaller |= drop_operations(&a);
        smaller |= drop_modules(&a);
        smaller |= lower_all(&a);     /* 3 */
        smaller |= plainer(&a);       /* 4 */
        smaller |= smaller_sizes(&a); /* 5 */
    }
    gate_name_lines(runner_file(runner), found->finding.text, sizeof found->finding.text);
    return a.failed ? -1 : a.tried;
}

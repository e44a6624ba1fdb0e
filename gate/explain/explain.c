/* SPDX-License-Identifier: Apache-2.0 */
/* What a wrong result is the result of. The case is run, and so are some like it with other numbers: a mistake that gives
 * what the kernel gave in all of them is no chance. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate/explain/explain.h"

#define MOST_ROWS  3            /* that are shown */
#define NUMBERS    32           /* that are wrong are enough: then no more cases are run */
#define SAMPLES    3            /* rows and heads of a run that mistakes are looked for in */
#define MOST_WORK  2000000000LL /* key numbers that are looked at */
#define EXACT_KEYS 256          /* so many ones are a whole number in each format; */
#define ROUNDINGS  8            /* of the output, in its units */
#define WIDE       72           /* elements, at least, and */
#define FEW_SLOTS  6            /* of a chunk, where others of the same are too few to tell */
#define LIKE_WORK  2000000LL    /* and of a case like it, what it takes to compute it */

/* ---- Runs ---- */

/* What look() keeps: the run of the verdict. */
struct keeping {
    const struct cp_kernel *kernel;
    struct explain_run *run;
    int right_too; /* 1: it is kept, whatever comes of it */
    int kept, no_memory;
};

static int is_of_numbers(enum gate_verdict verdict) {
    return verdict == GATE_WRONG || verdict == GATE_DEPENDS || verdict == GATE_NOT_A_NUMBER;
}

static void keep(void *context, const struct gate_problem *problem, const struct gate_arrays *one,
                 const struct gate_arrays *other, const struct gate_finding *finding) {
    struct keeping *keeping = context;
    if (keeping->kept || !(is_of_numbers(finding->verdict) || finding->verdict == GATE_OTHER_BITS ||
                           finding->verdict == GATE_UNWRITTEN ||
                           (finding->verdict == GATE_RIGHT && keeping->right_too))) {
        return;
    }
    keeping->kept = 1;
    keeping->no_memory = explain_run_new(keeping->run, keeping->kernel, problem, one, other) != 0;
    if (keeping->no_memory) {
        explain_run_free(keeping->run);
    }
}

/* One more run: as gate_look(). It is kept when it is wrong. */
static int look(struct explain *x, struct runner *runner, const struct gate_recipe *recipe,
                struct gate_finding *finding) {
    struct keeping keeping = {x->kernel, &x->run[x->n_runs], x->n_runs > 0, 0, 0};
    int ran = gate_look(runner, recipe, finding, keep, &keeping);
    x->n_runs += keeping.kept && !keeping.no_memory;
    return keeping.no_memory ? -1 : ran;
}

static long long work_of(const struct explain_run *run) {
    const struct gate_problem *p = &run->problem;
    long long keys = 0;
    for (int row = 0; row < p->n_rows; row++) {
        keys += gate_visible(p, row) + 1;
    }
    return keys * p->recipe.n_heads * p->recipe.head_dim;
}

static int wrong_numbers(const struct explain *x) {
    int n = 0;
    for (int i = 0; i < x->n_runs; i++) {
        n += x->run[i].has_number ? x->run[i].wrong : 0;
    }
    return n;
}

/* Operations of a kind that bring tokens, by so many more. Returns how many there are. */
static int lengthen_all(struct gate_recipe *recipe, enum gate_op_kind kind, int more) {
    int n = 0;
    for (int i = 0; i < recipe->n_ops; i++) {
        struct gate_op *op = &recipe->op[i];
        int *tokens = kind == GATE_JOIN ? &op->own : &op->tokens;
        if (op->kind == kind && *tokens > 0) {
            *tokens += more;
            n++;
        }
    }
    return n;
}

static int has_join(const struct gate_recipe *recipe) {
    for (int i = 0; i < recipe->n_ops; i++) {
        if (recipe->op[i].kind == GATE_JOIN) {
            return 1;
        }
    }
    return 0;
}

/* Longer prompts: what begins or ends somewhere shows where. Where no prompt has a token, more are appended; and where
 * none is, the sequence of one token that a tree without a sequence gets is made longer. */
static void lengthen(struct gate_recipe *recipe, int chunks, int keys) {
    int more = chunks * recipe->chunk_size + keys;
    if (lengthen_all(recipe, GATE_JOIN, more) > 0 || lengthen_all(recipe, GATE_APPEND, more) > 0 ||
        has_join(recipe)) {
        return;
    }
    recipe->n_ops = 1;
    recipe->op[0] = (struct gate_op){GATE_JOIN, 0, 0, 1 + more};
}

/* What is shared, too: several chunks of it. */
static void share_more(struct gate_recipe *recipe) {
    for (int i = 0; i < recipe->n_ops; i++) {
        struct gate_op *op = &recipe->op[i];
        if (op->kind == GATE_JOIN && op->tokens > 0) {
            op->tokens += 3 * recipe->chunk_size;
        }
    }
}

/* In a case as small as can be many mistakes are the same: an element of one, a chunk of one key, one head. */
static int widen(struct gate_recipe *recipe, int keys) {
    recipe->head_dim = recipe->head_dim < WIDE ? WIDE : recipe->head_dim;
    recipe->chunk_size = recipe->chunk_size < FEW_SLOTS ? FEW_SLOTS : recipe->chunk_size;
    if (recipe->n_heads == 1) {
        recipe->n_kv_heads = 2;
        recipe->n_heads = 6;
    }
    lengthen(recipe, 5, keys);
    share_more(recipe);
    return 1;
}

/* A case like it; 0: there is none that is called so. Something else lies where no key is; the numbers are others. */
static int make_like(const struct explain *x, const struct gate_recipe *recipe, int which,
                     struct gate_recipe *like) {
    *like = *recipe;
    like->renewed = 0;
    like->padding = GATE_STALE;
    like->seed += 2ULL * (unsigned)which;
    switch (which) {
    case 0:
        return recipe->padding != GATE_STALE;
    case 1:
        return wrong_numbers(x) < NUMBERS;
    case 2:
        like->values = GATE_NORMAL;
        return 1;
    case 3:
        like->values = GATE_NORMAL;
        lengthen(like, 2, 1);
        return 1;
    case 4:
        like->values = GATE_RISING;
        lengthen(like, 4, 10);
        return 1;
    case 5:
        lengthen(like, 3, 21);
        return 1;
    case 6:
        like->values = GATE_COUNT;
        lengthen(like, 1, 3);
        return 1;
    case 7:
        like->values = GATE_NORMAL;
        return widen(like, 7);
    default:
        like->values = GATE_COUNT;
        return widen(like, 77);
    }
}

/* -1: no verdict. */
static int look_at_like(struct explain *x, struct runner *runner,
                        const struct gate_recipe *recipe) {
    struct gate_finding finding;
    if (work_of(&x->run[0]) > LIKE_WORK) {
        return 0;
    }
    for (int i = 0; i < EXPLAIN_RUNS - 1; i++) {
        struct gate_recipe like;
        if (make_like(x, recipe, i, &like) && look(x, runner, &like, &finding) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- Rows that are shown ---- */

static void print_elements(FILE *file, const struct explain_run *run, int pair) {
    size_t at = (size_t)pair * (size_t)run->width;
    const double *got = run->got + at, *expected = run->expected + at, *bound = run->bound + at;
    int d = run->width - 1, wrong = 0, worst = -1;
    double most = 0.0;
    unsigned char *is_wrong = calloc((size_t)d + 1, 1);
    for (int i = 0; is_wrong != NULL && i < d; i++) {
        double off = fabs(got[i] - expected[i]);
        double bounds = bound[i] > 0.0 && isfinite(bound[i]) ? off / bound[i] : INFINITY;
        is_wrong[i] = run->rightness[at + (size_t)i] == GATE_NUMBER_WRONG;
        wrong += is_wrong[i];
        if (is_wrong[i] && (worst < 0 || !(bounds <= most))) {
            worst = i;
            most = bounds;
        }
    }
    if (wrong > 0) {
        fprintf(file, "    %d of %d elements wrong: ", wrong, d);
        explain_print_elements(file, is_wrong, d);
        fprintf(file, "; element %d most: it is %.9g and must be %.9g", worst,
                gate_plain(got[worst]), expected[worst]);
        if (isfinite(most)) {
            fprintf(file, ", %.3g bounds away", most);
        }
        fputs("\n", file);
    }
    if (run->rightness[at + (size_t)d] == GATE_NUMBER_WRONG) {
        fprintf(file, "    lse is %.9g and must be %.9g\n", gate_plain(got[d]),
                fabs(expected[d]) < FLT_MIN ? 0.0 : expected[d]);
    }
    free(is_wrong);
}

static void print_rows(struct explain *x) {
    const struct explain_run *run = &x->run[0];
    int said = 0;
    for (int pair = 0; pair < run->pairs && said < MOST_ROWS; pair++) {
        if (explain_is_wrong(run, pair)) {
            explain_go_to(x, 0, pair);
            fprintf(x->file, "  row %d, head %d (sequence %d, %d %s, K/V head %d):\n", x->row,
                    x->head, x->s, x->n, x->n == 1 ? "key" : "keys", x->g);
            print_elements(x->file, run, pair);
            said++;
        }
    }
}

/* 1: out is right, and the log-sum-exp alone is wrong. */
static int is_of_lse(const struct explain_run *run) {
    for (int at = 0; at < run->pairs * run->width; at++) {
        if (at % run->width < run->width - 1 && run->rightness[at] == GATE_NUMBER_WRONG) {
            return 0;
        }
    }
    return 1;
}

static int print_where(const struct explain *x) {
    const struct explain_run *run = &x->run[0];
    fprintf(x->file, "  wrong in %d of %d rows and heads, %d %s%s\n", run->wrong_pairs, run->pairs,
            run->wrong, run->wrong == 1 ? "number" : "numbers",
            is_of_lse(run) ? ": out is right, the log-sum-exp alone is wrong" : "");
    return explain_where(x->file, run, 1);
}

/* ---- Room ---- */

void explain_go_to(struct explain *x, int run, int pair) {
    const struct gate_problem *p = &x->run[run].problem;
    x->at = &x->run[run];
    x->pair = pair;
    x->row = pair / p->recipe.n_heads;
    x->head = pair % p->recipe.n_heads;
    x->s = gate_sequence_of(p, x->row);
    x->g = x->head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    x->n = gate_visible(p, x->row);
    x->d = p->recipe.head_dim;
    x->c = p->recipe.chunk_size;
}

/* For two of each key, and for the slots of a chunk behind the last one. */
static int make_room(struct explain *x) {
    size_t d = 1, c = 0, n = 0;
    for (int i = 0; i < x->n_runs; i++) {
        const struct gate_problem *p = &x->run[i].problem;
        d = (size_t)p->recipe.head_dim > d ? (size_t)p->recipe.head_dim : d;
        c = (size_t)p->recipe.chunk_size > c ? (size_t)p->recipe.chunk_size : c;
        for (int s = 0; s < p->b; s++) {
            n = (size_t)p->n_tokens[s] > n ? (size_t)p->n_tokens[s] : n;
        }
    }
    size_t room = 2 * n + c + 1;
    x->widest = (int)d;
    x->room = (int)room;
    x->q = malloc(d * sizeof(double));
    x->k = malloc(room * d * sizeof(double));
    x->v = malloc(room * d * sizeof(double));
    x->scratch = malloc(3 * room * sizeof(double));
    x->prefix = malloc((5 * (n + 2) + 4 * d) * sizeof(double));
    x->numbers.expected = malloc((d + 1) * sizeof(double));
    x->numbers.bound = malloc((d + 1) * sizeof(double));
    x->wrong = malloc((size_t)EXPLAIN_PAIRS * (d + 1) * sizeof *x->wrong);
    return x->q != NULL && x->k != NULL && x->v != NULL && x->scratch != NULL &&
                   x->prefix != NULL && x->numbers.expected != NULL && x->numbers.bound != NULL &&
                   x->wrong != NULL
               ? 0
               : -1;
}

static void free_all(struct explain *x) {
    double *arrays[] = {
        x->q, x->k, x->v, x->scratch, x->prefix, x->numbers.expected, x->numbers.bound};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    for (int i = 0; i < x->n_reasons; i++) {
        free(x->reason[i].gives);
    }
    for (int i = 0; i < x->n_runs; i++) {
        explain_run_free(&x->run[i]);
    }
    free(x->wrong);
    free(x);
}

/* ---- Numbers ---- */

/* Wrong rows and heads of a run that are looked at: the first ones, then every so manyth. */
static void choose(struct explain *x, int r) {
    const struct explain_run *run = &x->run[r];
    int most = r == 0 ? EXPLAIN_PAIRS / 2 : EXPLAIN_PAIRS / 2 / (x->n_runs - 1), seen = 0;
    int step = (run->wrong_pairs + most - 1) / (most > 0 ? most : 1);
    for (int pair = 0; pair < run->pairs; pair++) {
        if (!explain_is_wrong(run, pair) || seen++ % step != 0) {
            continue;
        }
        int sees_none = gate_visible(&run->problem, pair / run->problem.recipe.n_heads) == 0;
        for (int i = 0; i < run->width; i++) {
            size_t at = (size_t)pair * (size_t)run->width + (size_t)i;
            if (run->rightness[at] == GATE_NUMBER_WRONG && !(sees_none && isnan(run->got[at]))) {
                x->wrong[x->n_wrong++] = (struct explain_number){r, pair, i};
            }
        }
    }
}

/* Rows and heads that are right, spread over all runs. */
static void choose_right(struct explain *x) {
    for (int r = 0; r < x->n_runs; r++) {
        const struct explain_run *run = &x->run[r];
        int most = EXPLAIN_PAIRS / x->n_runs, n = run->pairs - run->wrong_pairs, seen = 0;
        int step = (n + most - 1) / most;
        for (int pair = 0; pair < run->pairs; pair++) {
            if (!explain_is_wrong(run, pair) && seen++ % step == 0) {
                x->right[x->n_right++] = (struct explain_number){r, pair, 0};
            }
        }
    }
}

static void try_all(struct explain *x) {
    explain_try_keys(x);
    explain_try_tiles(x);
    explain_try_rules(x);
    explain_try_lse(x);
    explain_try_sums(x);
    explain_try_warps(x);
    explain_try_rounded(x);
    explain_try_maxima(x);
    explain_try_splits(x);
    explain_try_weights(x);
    explain_try_scores(x);
    explain_try_floats(x);
}

/* On the first wrong rows and heads of each run. */
static void sample(struct explain *x) {
    int run = -1, pair = -1, of_run = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        if (x->wrong[w].run == run && x->wrong[w].pair == pair) {
            continue;
        }
        of_run = x->wrong[w].run == run ? of_run + 1 : 0;
        run = x->wrong[w].run;
        pair = x->wrong[w].pair;
        if (of_run < SAMPLES) {
            explain_go_to(x, run, pair);
            try_all(x);
        }
    }
}

/* ---- Is it rounding? ---- */

/* Where all weights are equal, and V are small whole numbers, sums round nothing: what is left is the output's rounding,
 * a few times. */
static int is_inexact_count(const struct explain *x, const struct explain_run *run) {
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    gate_class(x->kernel, &run->problem.recipe, 1, 0.0, &arithmetic, &counts);
    double unit = fmax(arithmetic.output.unit, arithmetic.u_div); /* of a division, at least */
    for (int at = 0; at < run->pairs * run->width; at++) {
        int n = gate_visible(&run->problem, at / run->width / run->problem.recipe.n_heads);
        double off = fabs(run->got[at] - run->expected[at]);
        if (at % run->width < run->width - 1 && n > 0 && n <= EXACT_KEYS &&
            !(off <= ROUNDINGS * unit * fabs(run->expected[at]))) {
            return 1;
        }
    }
    return 0;
}

/* Why it cannot be; NULL: it may be. */
static const char *why_no_rounding(const struct explain *x) {
    for (int i = 0; i < x->n_runs; i++) {
        const struct explain_run *run = &x->run[i];
        if (run->problem.recipe.values == GATE_COUNT && is_inexact_count(x, run)) {
            return "where all weights are equal and V small whole numbers, sums round nothing, and "
                   "it is wrong there";
        }
    }
    return NULL;
}

/* 1: all wrong numbers are of rows that see no key: what they must be was said. */
static int sees_no_key(const struct explain *x) {
    for (int w = 0; w < x->n_wrong; w++) {
        const struct gate_problem *p = &x->run[x->wrong[w].run].problem;
        if (gate_visible(p, x->wrong[w].pair / p->recipe.n_heads) > 0) {
            return 0;
        }
    }
    return 1;
}

/* `placed`: it was said where the case is wrong. */
static void explain_numbers(struct explain *x, struct runner *runner,
                            const struct gate_recipe *recipe, int placed) {
    int of_case = 0, wrong_runs = 0;
    for (int i = 0; i < x->n_runs; i++) {
        choose(x, i);
        of_case = i == 0 ? x->n_wrong : of_case;
        wrong_runs += i > 0 && x->run[i].wrong > 0;
    }
    choose_right(x);
    fputs("\n", x->file);
    if (explain_empty_rows(x)) {
        x->named |= sees_no_key(x);
        if (x->n_wrong == 0) {
            return;
        }
    }
    explain_infinities(x);
    fprintf(x->file, "  mistakes are tried on %d wrong %s of this case", of_case,
            of_case == 1 ? "number" : "numbers");
    if (x->n_runs > 1) {
        fprintf(x->file,
                " and %d more, of cases like it: other numbers in Q, K\n  and V and where no key "
                "is, more keys, larger sizes; %d of these %d cases %s wrong",
                x->n_wrong - of_case, wrong_runs, x->n_runs - 1, wrong_runs == 1 ? "is" : "are");
    }
    fputs("\n", x->file);
    if (!placed && x->n_runs > 1) {
        (void)explain_where(x->file, x->run, x->n_runs);
    }
    x->work = MOST_WORK;
    sample(x);
    explain_weigh(x);
    enum explain_found found = explain_find(x);
    int least = found == EXPLAIN_NOT_FOUND ? 1 : EXPLAIN_ENOUGH_CASES;
    const char *why = why_no_rounding(x);
    int is_said = found == EXPLAIN_FOUND || found == EXPLAIN_INFINITIES || why != NULL;
    if (is_said) {
        explain_say(x, why);
    }
    int may_be_class = found != EXPLAIN_FOUND && why == NULL && !x->named;
    if (may_be_class) {
        explain_say_rounded(x);
    }
    if (!(may_be_class && explain_class(x, runner, recipe, least)) && !is_said) {
        explain_say(x, why);
    }
    if (x->work <= 0) {
        fputs("  (a case so large that not everything was tried)\n", x->file);
    }
}

static int explain_wrong(struct explain *x, struct runner *runner,
                         const struct gate_recipe *recipe) {
    int looked = look_at_like(x, runner, recipe);
    explain_tree(x->file, &x->run[0].problem);
    if (looked < 0 || make_room(x) != 0) {
        fputs("  not enough memory to explain more\n", x->file);
        return looked;
    }
    fputs("\n", x->file);
    print_rows(x);
    int placed = print_where(x);
    x->named = explain_padding(x->file, runner, recipe);
    explain_numbers(x, runner, recipe, placed);
    return 0;
}

int gate_explain(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                 struct gate_finding *finding) {
    struct explain *x = calloc(1, sizeof *x);
    if (x == NULL) {
        return -1;
    }
    x->file = file;
    x->kernel = runner_kernel(runner);
    int ran = look(x, runner, recipe, finding);
    if (ran > 0 && x->n_runs > 0 && finding->verdict != GATE_REMEMBERS) {
        if (finding->verdict == GATE_OTHER_BITS) {
            explain_tree(file, &x->run[0].problem);
            explain_other_bits(file, runner, recipe, &x->run[0]);
        } else if (finding->verdict == GATE_UNWRITTEN) {
            explain_unwritten(file, &x->run[0]);
        } else if (is_of_numbers(finding->verdict)) {
            ran = explain_wrong(x, runner, recipe) < 0 ? -1 : ran;
        }
    } else if (ran > 0) {
        explain_access(file, runner, recipe, finding);
    }
    free_all(x);
    return ran;
}

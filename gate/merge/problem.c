/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/random.h"
#include "gate/case/values.h"
#include "gate/merge/garbage.h"

void merge_problem_free(struct merge_problem *p) {
    free(p->begin);
    free(p->o);
    free(p->l);
    free(p->m);
    free(p->n);
    p->begin = NULL;
    p->o = p->l = p->m = p->n = NULL;
}

static int allocate(struct merge_problem *p, int n_all) {
    size_t of_l = (size_t)n_all * (size_t)p->recipe.n_heads;
    p->o = calloc(of_l * (size_t)p->recipe.head_dim + 1, sizeof *p->o);
    p->l = calloc(of_l + 1, sizeof *p->l);
    int of_sums = p->kernel->form != CP_FORM_LSE;
    p->m = of_sums ? calloc(of_l + 1, sizeof *p->m) : NULL;
    p->n = of_sums ? calloc(of_l + 1, sizeof *p->n) : NULL;
    if (p->o == NULL || p->l == NULL || (of_sums && (p->m == NULL || p->n == NULL))) {
        merge_problem_free(p);
        return -1;
    }
    return 0;
}

/* From least to P parts; one row in eight has none. The longest has P. */
static int parts_of_row(const struct merge_problem *p, struct prng *random, int row) {
    const struct merge_recipe *r = &p->recipe;
    int least = merge_least_parts(p->kernel), whole = row == r->n_rows / 2;
    int n = least + prng_below(random, r->n_parts - least + 1);
    int none = prng_below(random, 8) == 0 && (p->kernel->never & CP_NEVER_EMPTY_ROWS) == 0;
    return p->kernel->parts == CP_PARTS_EQUAL || whole ? r->n_parts : none ? 0 : n;
}

int merge_problem_new(struct merge_problem *p, const struct merge_recipe *recipe,
                      const struct cp_merge_kernel *kernel) {
    struct prng random = {recipe->seed ^ 0x6D65726765ULL};
    *p = (struct merge_problem){.recipe = *recipe, .kernel = kernel};
    p->begin = calloc((size_t)recipe->n_rows + 1, sizeof *p->begin);
    if (p->begin == NULL) {
        return -1;
    }
    for (int row = 0; row < recipe->n_rows; row++) {
        p->begin[row + 1] = p->begin[row] + parts_of_row(p, &random, row);
    }
    return allocate(p, p->begin[recipe->n_rows]);
}

/* As part i of the only row and head, in the types that it has there. What is given by sums has
 * none. */
static void take_part(struct merge_problem *p, int i, const struct merge_problem *whole, int row,
                      int part, int head) {
    int d = p->recipe.head_dim, type = merge_o_type(p->kernel, i);
    const double *o = merge_o_of(whole, row, part, head);
    double l = merge_l_of(whole, row, part, head);
    for (int e = 0; e < d; e++) {
        p->o[(ptrdiff_t)i * d + e] = p->n != NULL ? o[e] : gate_round(type, o[e]);
    }
    p->l[i] = p->n != NULL ? l : gate_round(merge_l_type(p->kernel, i), l);
}

/* And its sums. A part without keys has none. */
static void take_sums(struct merge_problem *p, int i, double m, double n) {
    if (p->n != NULL) {
        p->m[i] = m;
        p->n[i] = n;
    }
}

int merge_problem_alone(struct merge_problem *p, const struct merge_problem *whole, int row,
                        int head, const int *list, int n) {
    int d = whole->recipe.head_dim;
    *p = (struct merge_problem){.recipe = whole->recipe, .kernel = whole->kernel};
    p->recipe.n_rows = p->recipe.n_heads = 1;
    p->recipe.n_parts = n > 0 ? n : 1;
    p->begin = calloc(2, sizeof *p->begin);
    if (p->begin == NULL) {
        return -1;
    }
    p->begin[1] = n;
    if (allocate(p, n) != 0) {
        return -1;
    }
    for (int i = 0; i < n; i++) {
        double *o = p->o + (ptrdiff_t)i * d;
        take_sums(p, i, -INFINITY, 0.0);
        if (list[i] >= 0) {
            take_part(p, i, whole, row, list[i], head);
            take_sums(p, i, merge_m_of(whole, row, list[i], head),
                      merge_n_of(whole, row, list[i], head));
        } else if (list[i] <= MERGE_CLEANED) { /* the output is zeros already */
            p->l[i] = merge_l_of(whole, row, MERGE_CLEANED - list[i], head);
        } else {
            merge_garbage(p->kernel, whole->recipe.seed, merge_o_type(p->kernel, i), d, o);
            p->l[i] = -INFINITY;
        }
    }
    return 0;
}

int merge_o_type(const struct cp_merge_kernel *kernel, int part) {
    return kernel->in_place && part == 0 ? kernel->arithmetic.out_type : kernel->o_type;
}

int merge_l_type(const struct cp_merge_kernel *kernel, int part) {
    return kernel->in_place && part == 0 ? kernel->arithmetic.lse_type : kernel->l_type;
}

int merge_parts_of(const struct merge_problem *p, int row) {
    return p->begin[row + 1] - p->begin[row];
}

static ptrdiff_t number_of(const struct merge_problem *p, int row, int part, int head) {
    return (ptrdiff_t)(p->begin[row] + part) * p->recipe.n_heads + head;
}

const double *merge_o_of(const struct merge_problem *p, int row, int part, int head) {
    ptrdiff_t number = number_of(p, row, part, head);
    return p->o + number * p->recipe.head_dim;
}

double merge_l_of(const struct merge_problem *p, int row, int part, int head) {
    return p->l[number_of(p, row, part, head)];
}

double merge_m_of(const struct merge_problem *p, int row, int part, int head) {
    ptrdiff_t number = number_of(p, row, part, head);
    return p->m != NULL ? p->m[number] : p->l[number];
}

double merge_n_of(const struct merge_problem *p, int row, int part, int head) {
    ptrdiff_t number = number_of(p, row, part, head);
    return p->n != NULL ? p->n[number] : p->l[number] == -INFINITY ? 0.0 : 1.0;
}

int merge_has_keys(const struct merge_problem *p, int row, int head) {
    for (int i = 0; i < merge_parts_of(p, row); i++) {
        if (merge_l_of(p, row, i, head) != -INFINITY) {
            return 1;
        }
    }
    return 0;
}

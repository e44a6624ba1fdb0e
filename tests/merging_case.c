/* SPDX-License-Identifier: Apache-2.0 */
#include "merging_case.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

void use(struct problem *p, int n_parts, int d, int base) {
    p->row = (struct cp_merging_row){
        .n_parts = n_parts, .head_dim = d, .base = base, .o = p->o, .lse = p->lse};
}

struct result merged(const struct problem *p) {
    struct result r = {{0.0}, 0.0};
    int status = cp_merging(&p->row, r.out, &r.lse);
    assert(status == CP_OK);
    (void)status;
    return r;
}

struct claim claimed(const struct cp_merging_class *declared, const struct problem *p) {
    double scratch[5 * P];
    struct claim c;
    memset(&c, 0, sizeof c);
    int status = cp_merging_tolerance(declared, &p->row, scratch, c.expected.out, c.bound.out,
                                      &c.expected.lse, &c.bound.lse);
    assert(status == CP_OK);
    (void)status;
    return c;
}

int is_within(const struct claim *c, const struct result *r, int d) {
    int right = fabs(r->lse - c->expected.lse) <= c->bound.lse;
    for (int i = 0; i < d; i++) {
        right &= fabs(r->out[i] - c->expected.out[i]) <= c->bound.out[i];
    }
    return right;
}

static double largest_of(int type) {
    return type == CP_FP16 ? 65504.0 : type == CP_FP64 ? 0x1p999 : 0x1p126;
}

static double make_lse(enum family family, int j, unsigned long long *random) {
    switch (family) {
    case EQUAL:
        return 3.25;
    case APART:
        return 200.0 * random_uniform(random);
    case FAR_APART:
        return 1e5 * random_uniform(random);
    case EMPTY_SOME:
        return random_below(random, 2) ? -INFINITY : 4.0 * random_normal(random);
    case EMPTY_MOST:
        return j == 1 ? random_normal(random) : -INFINITY;
    case ONE_DOMINATES:
        return j == 0 ? 15.0 : random_uniform(random);
    default:
        return 20.0 + 4.0 * random_normal(random);
    }
}

static double make_output(enum family family, int j, int type, unsigned long long *random) {
    double x = random_normal(random);
    switch (family) {
    case LARGE:
        return largest_of(type) * random_uniform(random);
    case SUBNORMAL:
        return x * (type == CP_FP16 ? 0x1p-16 : type == CP_FP64 ? 0x1p-1024 : 0x1p-128);
    case CANCELLING:
        return (j % 2 ? -1.0 : 1.0) * (100.0 + 0.01 * x);
    case ONE_DOMINATES:
        return j == 0 ? 1e-3 * x : 100.0 * x;
    default:
        return x;
    }
}

void make(struct problem *p, enum family family, int type, int base, unsigned long long *random) {
    int n_parts = 1 + random_below(random, random_below(random, 2) ? 4 : P);
    use(p, n_parts, 1 + random_below(random, D), base);
    for (int j = 0; j < n_parts; j++) {
        p->lse[j] = merging_round(CP_FP32, make_lse(family, j, random));
        for (int i = 0; i < p->row.head_dim; i++) {
            p->o[j * p->row.head_dim + i] =
                merging_round(type, make_output(family, j, type, random));
        }
    }
}

struct cp_merging_class plain(int way) {
    return (struct cp_merging_class){.way = way,
                                     .weights = CP_FP32,
                                     .values = CP_FP32,
                                     .partials = CP_FP32,
                                     .out_type = CP_FP32,
                                     .lse_type = CP_FP32,
                                     .exp_error = 0x1p-22,
                                     .log_error = 0x1p-22,
                                     .div_error = 0x1p-24};
}

long cases(void) {
    const char *text = getenv("CHUNKPROOF_CASES");
    return text != NULL ? strtol(text, NULL, 10) : 4000;
}

unsigned long long seed(void) {
    const char *text = getenv("CHUNKPROOF_SEED");
    return text != NULL ? strtoull(text, NULL, 10) : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/rules.h"

#include <assert.h>
#include <math.h>

const char *rule_name(enum rule rule) {
    return rule == CERTIFIED ? "certified tolerance" : gate_rule_names[rule - 1];
}

double rules_plain_error(const struct problem *p, int type, const double *expected) {
    struct gate_tensor tensor = {.error = 0.0};
    struct gate_plain_row row = {type, p->n, p->d, p->d, p->scale,
                                 p->q, p->k, p->v, NULL, -INFINITY};
    int result = gate_tensor_plain(&tensor, &row, expected);
    assert(result == 0);
    (void)result;
    return tensor.plain_error;
}

int rules_accept(enum rule rule, const struct judgement *j, int d, double plain) {
    struct gate_tensor tensor = {.plain_error = plain};
    gate_tensor_add(&tensor, j->out, j->expected, d);
    return rule == CERTIFIED ? j->violated == 0
                             : (gate_tensor_rejected(&tensor) >> (rule - 1) & 1) == 0;
}

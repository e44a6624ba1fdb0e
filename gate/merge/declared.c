/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/declared.h"

#include <stddef.h>
#include <string.h>

#include "gate/merge/judge.h"

#define MOST_SAID 4

/* A member of struct cp_merge_kernel, and what might be declared. Conventions come first, then
 * types, then errors; of one member the narrower one. */
static const struct declaration {
    size_t at;
    int is_error; /* 1: a double, which another value widens; 0: an int */
    double value;
    const char *words;
} declarations[] = {
#define MEMBER(name, value)                                                                        \
    { offsetof(struct cp_merge_kernel, name), 0, value, "." #name " = " #value }
#define ERROR(name, value)                                                                         \
    {                                                                                              \
        offsetof(struct cp_merge_kernel, arithmetic.name), 1, value,                               \
            ".arithmetic." #name " = " #value                                                      \
    }
    MEMBER(base, CP_BASE_E),
    MEMBER(base, CP_BASE_2),
    MEMBER(empty_out, CP_EMPTY_NAN),
    MEMBER(empty_out, CP_EMPTY_UNSPECIFIED),
    MEMBER(empty_lse, CP_EMPTY_NAN),
    MEMBER(empty_lse, CP_EMPTY_UNSPECIFIED),
    MEMBER(arithmetic.converts, CP_CONVERTS_DIFFERENCE),
    MEMBER(arithmetic.converts, CP_CONVERTS_EACH),
    MEMBER(arithmetic.tree, CP_MERGING_ANY_TREE),
    MEMBER(arithmetic.way, CP_MERGING_STATES),
    MEMBER(arithmetic.way, CP_MERGING_PAIRWISE),
    MEMBER(arithmetic.way, CP_MERGING_UNDIVIDED),
    MEMBER(arithmetic.weights, CP_FP16),
    MEMBER(arithmetic.weights, CP_BF16),
    MEMBER(arithmetic.partials, CP_FP16),
    MEMBER(arithmetic.partials, CP_BF16),
    MEMBER(arithmetic.values, CP_FP16),
    MEMBER(arithmetic.values, CP_BF16),
    MEMBER(arithmetic.flushes, 1),
    MEMBER(arithmetic.truncates, 1),
    ERROR(above, 1.0),
    ERROR(above, 8.0),
    ERROR(above, 64.0),
    ERROR(behind, 1.0),
    ERROR(behind, 8.0),
    ERROR(behind, 64.0),
    ERROR(exp_error, 0x1p-21),
    ERROR(exp_error, 0x1p-18),
    ERROR(exp_error, 0x1p-14),
    ERROR(exp_error, 0x1p-10),
    ERROR(log_error, 0x1p-21),
    ERROR(log_error, 0x1p-18),
    ERROR(log_error, 0x1p-14),
    ERROR(log_error, 0x1p-10),
    ERROR(div_error, 0x1p-22),
    ERROR(div_error, 0x1p-18),
    ERROR(div_error, 0x1p-14),
    ERROR(div_error, 0x1p-10),
#undef MEMBER
#undef ERROR
};

int merge_declarations(void) {
    return (int)(sizeof declarations / sizeof declarations[0]);
}

/* 1: the kernel declares something else, or something narrower. */
static int change(struct cp_merge_kernel *kernel, const struct declaration *to) {
    unsigned char *at = (unsigned char *)kernel + to->at;
    double had, value = to->value;
    int number, other = (int)to->value;
    if (to->is_error) {
        memcpy(&had, at, sizeof had);
        memcpy(at, &value, sizeof value);
        return value > had;
    }
    memcpy(&number, at, sizeof number);
    memcpy(at, &other, sizeof other);
    return other != number;
}

int merge_try_declarations(const struct merge_arrays *arrays, unsigned long long *left) {
    for (int i = 0; i < merge_declarations(); i++) {
        struct merge_problem p = *arrays->problem;
        struct cp_merge_kernel kernel = *p.kernel;
        struct merge_arrays a = *arrays;
        struct merge_finding finding = {.verdict = GATE_WRONG};
        if ((*left >> i & 1) == 0) {
            continue;
        }
        p.kernel = &kernel;
        a.problem = &p;
        int is_another = change(&kernel, &declarations[i]);
        if (is_another && merge_judge(&a, &finding) != 0) {
            return -1;
        }
        if (finding.verdict != GATE_RIGHT ||
            gate_claims_few(finding.of.compared, finding.of.unclaimed)) {
            *left &= ~(1ULL << i);
        }
    }
    return 0;
}

int merge_say_declarations(FILE *out, unsigned long long left) {
    size_t last = (size_t)-1;
    int said = 0;
    for (int i = 0; i < merge_declarations() && said < MOST_SAID; i++) {
        if ((left >> i & 1) != 0 && declarations[i].at != last) {
            fprintf(out, "    %s\n", declarations[i].words);
            last = declarations[i].at;
            said++;
        }
    }
    return said;
}

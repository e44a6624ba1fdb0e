/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a kernel's declaration that hold one of a few values. */
#ifndef CHUNKPROOF_GATE_RUNNER_FIELDS_H
#define CHUNKPROOF_GATE_RUNNER_FIELDS_H

#include <stddef.h>

#include "chunkproof/number.h"
#include "gate/runner/runner.h"

#define RUN_TYPE_NAMES "CP_FP16 (0), CP_FP32 (1), CP_FP64 (2) or CP_BF16 (3)"

/* Values from -1 on: bit v + 1 stands for v. */
#define RUN_BIT(value) (1U << ((value) + 1))
#define RUN_TYPES      (RUN_BIT(CP_FP16) | RUN_BIT(CP_FP32) | RUN_BIT(CP_FP64) | RUN_BIT(CP_BF16))

struct run_field {
    const char *name;
    int value;
    unsigned may_be;
    const char *names;
};

/* 0, or -1 after writing the first wrong one, as a field of `symbol`. */
int run_check_fields(const char *symbol, const struct run_field *field, size_t n, const char *file,
                     char text[RUN_TEXT]);

/* 1 after writing that the abi is of a later version of a header than this program's. */
int run_later_version(int abi, int version, const char *header, const char *file,
                      char text[RUN_TEXT]);

/* Is it an error that may be declared, from 0 to 2^-6? */
int run_is_share(double x);

/* CONV-2: `value` goes with a log-sum-exp of rows without keys, whose numbers are of this type. */
int run_is_empty_value(int empty_lse, double value, int lse_type);

#endif

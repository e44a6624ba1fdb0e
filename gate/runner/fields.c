/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/runner/fields.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static int is_wrong(const struct run_field *field) {
    return field->value < -1 || field->value > 30 || !(RUN_BIT(field->value) & field->may_be);
}

int run_check_fields(const char *symbol, const struct run_field *field, size_t n, const char *file,
                     char text[RUN_TEXT]) {
    for (size_t i = 0; i < n; i++) {
        if (is_wrong(&field[i])) {
            snprintf(text, RUN_TEXT, "%s: %s.%s is %d; it may be %s", file, symbol, field[i].name,
                     field[i].value, field[i].names);
            return -1;
        }
    }
    return 0;
}

#define MOST_VERSIONS 1000 /* an abi of more is none */

int run_later_version(int abi, int version, const char *header, const char *file,
                      char text[RUN_TEXT]) {
    int is_later = abi / 1000000 > version && abi / 1000000 < MOST_VERSIONS;
    if (is_later) {
        snprintf(text, RUN_TEXT,
                 "%s: it was compiled with version %d of chunkproof/%s, and this program is older: "
                 "it takes version %d; use the program that came with that header, or recompile "
                 "with this one's",
                 file, abi / 1000000, header, version);
    }
    return is_later;
}

int run_is_share(double x) {
    return x >= 0.0 && x <= 0x1p-6;
}

/* An infinity is a number of either type. */
int run_is_empty_value(int empty_lse, double value, int lse_type) {
    if (empty_lse != CP_EMPTY_VALUE) {
        return value == 0.0;
    }
    return isinf(value) || (lse_type == CP_FP32 ? fabs(value) <= FLT_MAX : !isnan(value));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/garbage.h"

#include <math.h>

#include "gate/case/values.h"

double merge_uniform(struct prng *random) {
    return (double)(long long)(prng_next(random) >> 11) * 0x1p-52 - 1.0;
}

void merge_garbage(const struct cp_merge_kernel *kernel, unsigned long long seed, int type, int d,
                   double *o) {
    struct prng random = {seed ^ 0xE397ULL};
    int kind = prng_below(&random, 5);
    double huge = type == CP_FP16 ? 65504.0 : 0x1p127;
    int numbers = kernel->empty_o == CP_EMPTY_O_NUMBERS;
    for (int i = 0; i < d; i++) {
        o[i] = kind == 0    ? 0.0
               : kind == 1  ? merge_uniform(&random) * 100.0
               : i % 2 == 0 ? huge
                            : -huge;
        o[i] = gate_round(type, o[i]);
        o[i] = numbers || kind < 3 ? o[i] : kind == 3 ? NAN : i % 3 == 0 ? -INFINITY : INFINITY;
    }
}

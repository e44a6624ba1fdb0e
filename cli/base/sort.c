/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/base/sort.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_numbers(double *number, int n) {
    qsort(number, (size_t)n, sizeof *number, compare);
}

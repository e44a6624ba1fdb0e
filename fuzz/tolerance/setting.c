/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/setting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST_SETTING 1e15

long long setting(const char *name, long long usual) {
    const char *text = getenv(name);
    char *end;
    if (text == NULL || *text == '\0') {
        return usual;
    }
    double value = strtod(text, &end);
    if (*end != '\0' || !(value >= 0 && value <= LARGEST_SETTING) || value != floor(value)) {
        fprintf(stderr, "%s=%s: a whole number is needed, like 5000 or 5e3\n", name, text);
        exit(2);
    }
    return (long long)value;
}

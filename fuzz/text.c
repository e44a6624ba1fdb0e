/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are text, printed as they are, except for bytes that would steer a terminal. */
#include "fuzz/target.h"

void fuzz_print(FILE *out, const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n' || (data[i] >= 32 && data[i] != 127)) {
            (void)fputc(data[i], out);
        } else {
            fprintf(out, "\\x%02x", data[i]);
        }
    }
    fputs("\n", out);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/base/printable.h"

char *printable(char *text) {
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 32 || *c == 127) {
            *c = '?';
        }
    }
    return text;
}

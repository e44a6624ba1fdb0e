/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/gate/clean.h"

#include <stdio.h>

#include "gate/show/util.h"

static int is_plain(long character) {
    return character >= 0x20 && !(character >= 0x7F && character < 0xA0) &&
           (character & 0xFFFE) != 0xFFFE;
}

char *gate_clean(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    char *clean;
    size_t size;
    FILE *out = show_open_text(&clean, &size);
    while (*at != '\0') {
        const unsigned char *from = at;
        int plain = is_plain(show_next_character(&at));
        for (; from < at; from++) {
            fprintf(out, plain ? "%c" : "\\x%02X", *from);
        }
    }
    show_close_text(out);
    return clean;
}

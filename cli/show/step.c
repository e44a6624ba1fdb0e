/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cli/base/text.h"
#include "cli/show/show.h"

char *show_operation_title(const struct show_script *script,
                           const struct show_operation *operation) {
    static const char *const verbs[] = {
        [SHOW_JOIN] = "join",   [SHOW_APPEND] = "append", [SHOW_APPEND_ALL] = "append-all",
        [SHOW_LEAVE] = "leave", [SHOW_FORK] = "fork",
    };
    char *title;
    size_t size;
    FILE *out = text_open(&title, &size);
    fputs(verbs[operation->kind], out);
    if (operation->name != NULL) {
        fprintf(out, " %s", operation->name);
    }
    if (operation->other != NULL) {
        fprintf(out, " %s %s", operation->kind == SHOW_FORK ? "as" : "in", operation->other);
    }
    if (operation->kind == SHOW_JOIN) {
        fputc(':', out);
    }
    for (int i = 0; i < operation->n_words; i++) {
        fprintf(out, " %s", script->word[operation->first_word + i]);
    }
    text_close(out);
    return title;
}

void show_step_free(struct show_step *step) {
    free(step->title);
    free(step->effect);
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* isatty */

#include "cli/base/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/base/clock.h"

#define OVER "\r\033[K" /* to the line's begin, and clears it */

struct progress progress_begin(int always) {
    int terminal = isatty(STDERR_FILENO);
    return (struct progress){terminal || always, terminal, seconds_now()};
}

const char *progress_before(const struct progress *progress) {
    return progress->in_place ? OVER : "";
}

const char *progress_behind(const struct progress *progress) {
    return progress->in_place ? "" : "\n";
}

void progress_end(const struct progress *progress) {
    if (progress->shown && progress->in_place) {
        fputs(OVER, stderr);
    }
}

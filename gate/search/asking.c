/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/asking.h"

#include <stddef.h>

#include "cli/base/clock.h"

double gate_deadline(double began, double time) {
    return time > 0.0 ? began + time : 0.0;
}

int gate_is_over(const struct gate_until *until) {
    return (until->stop != NULL && *until->stop != 0) ||
           (until->deadline > 0.0 && seconds_now() > until->deadline);
}

const char *gate_took_too_long(const struct runner *runner, double began) {
    return seconds_now() - began > runner_seconds(runner)
               ? "refuses() and workspace() took the time of a call before they took any of the "
                 "sizes that were tried"
               : NULL;
}

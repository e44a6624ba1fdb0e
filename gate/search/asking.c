/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/asking.h"

#include <stdio.h>

#include "cli/base/clock.h"

double gate_deadline(double began, double time) {
    return time > 0.0 ? began + time : 0.0;
}

int gate_is_over(const struct gate_until *until) {
    return (until->stop != NULL && *until->stop != 0) ||
           (until->deadline > 0.0 && seconds_now() > until->deadline);
}

int gate_took_too_long(const struct runner *runner, double began, char reason[RUN_TEXT]) {
    int too_long = seconds_now() - began > runner_seconds(runner);
    if (too_long) {
        (void)snprintf(reason, RUN_TEXT,
                       "refuses() and workspace() took the time of a call before they took any of "
                       "the sizes that were tried");
    }
    return too_long;
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */

#include "gate/runner/shared.h"

#include <time.h>

size_t run_control_size(void) {
    size_t page = run_page();
    return (sizeof(struct run_control) + page - 1) / page * page;
}

/* At most a second. */
void run_sleep(double seconds) {
    struct timespec time = {0, (long)(1e9 * (seconds < 1.0 ? seconds : 0.999999999))};
    nanosleep(&time, NULL);
}

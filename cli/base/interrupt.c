/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* sigaction */

#include "cli/base/interrupt.h"

#include <string.h>

volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    (void)number;
    interrupted = 1;
}

static void catch_one(int number) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    sigaction(number, &action, NULL);
}

void catch_interrupt(void) {
    catch_one(SIGINT);
}

void catch_termination(void) {
    catch_one(SIGTERM);
}

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

/* A terminal that goes away stays ignored where it is: nohup. That nobody reads is no reason to
 * leave files behind; writing then says that it failed. */
void catch_termination(void) {
    struct sigaction ignore, before;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    catch_one(SIGTERM);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        catch_one(SIGHUP);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* In the kernel's process: functions that are found by name. */
#ifndef CHUNKPROOF_GATE_RUNNER_FUNCTION_H
#define CHUNKPROOF_GATE_RUNNER_FUNCTION_H

#include <string.h>

/* Stores the address of a function, NULL for none, in a pointer to functions. C has no cast from
 * the one to the other. */
#define RUN_SET_FUNCTION(function, found)                                                          \
    do {                                                                                           \
        void *address_found = (found);                                                             \
        memcpy(&(function), &address_found, sizeof address_found);                                 \
    } while (0)

#endif

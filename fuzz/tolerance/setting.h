/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that say how much a check does. */
#ifndef CHUNKPROOF_FUZZ_TOLERANCE_SETTING_H
#define CHUNKPROOF_FUZZ_TOLERANCE_SETTING_H

/* The whole number from 0 to 10^15 that the variable `name` holds, written as 5000 or 5e3; `usual`
 * when it is not set or empty. Anything else ends the program with a message and exit status 2: a
 * check that did less than it was asked for must not pass. */
long long setting(const char *name, long long usual);

#endif

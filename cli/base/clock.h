/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_CLOCK_H
#define CHUNKPROOF_CLI_BASE_CLOCK_H

/* Seconds of a clock that goes on steadily. */
double seconds_now(void);

/* Seconds that processors worked for this process. */
double seconds_worked(void);

#endif

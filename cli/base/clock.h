/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_CLOCK_H
#define CHUNKPROOF_CLI_BASE_CLOCK_H

/* Seconds of a clock that never jumps. */
double seconds_now(void);

/* Processor time of this process, in seconds. */
double seconds_worked(void);

#endif

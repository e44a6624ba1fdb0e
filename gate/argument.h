/* SPDX-License-Identifier: Apache-2.0 */
/* Options with a number, of the commands that say the same when it is none. Each returns 0, or -1 after a message. */
#ifndef CHUNKPROOF_GATE_ARGUMENT_H
#define CHUNKPROOF_GATE_ARGUMENT_H

/* Says `chunkproof COMMAND: ... (see --help)`; -1. */
int argument_refuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Of option --name, from `least` to `most`. */
int argument_int(const char *command, const char *name, const char *text, int least, int most,
                 int *number);
int argument_number(const char *command, const char *name, const char *text, double least,
                    double most, double *number);

#endif

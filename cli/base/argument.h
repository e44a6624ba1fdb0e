/* SPDX-License-Identifier: Apache-2.0 */
/* What commands are given with their options: numbers, and names. Each returns 0, or -1 after a message, which leaves what
 * it was to set as it was. `name` is the option's, without its dashes. */
#ifndef CHUNKPROOF_CLI_BASE_ARGUMENT_H
#define CHUNKPROOF_CLI_BASE_ARGUMENT_H

/* Says `chunkproof COMMAND: ... (see --help)`; -1. */
int argument_refuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* From `least` to `most`; LLONG_MAX is said as no limit. */
int argument_whole(const char *command, const char *name, const char *text, long long least,
                   long long most, long long *number);
int argument_int(const char *command, const char *name, const char *text, int least, int most,
                 int *number);
int argument_number(const char *command, const char *name, const char *text, double least,
                    double most, double *number);

/* Of --seed, from 0 on; at most LLONG_MAX where a report has it as an integer. */
int argument_seed(const char *command, const char *text, unsigned long long most,
                  unsigned long long *seed);

/* One of the names, of which there are two at least and the last is followed by NULL: its index. */
int argument_name(const char *command, const char *name, const char *text, const char *const *names,
                  int *index);

/* A file that an option names; `name` is NULL where the option was not given. */
struct argument_file {
    const char *option; /* as the user types it: "--json", or "FILE" */
    const char *name;
    int is_written; /* 1: the command writes it, 0: the command reads it */
};

/* Refuses two options that name the same regular file when the command writes one of them: the second
 * would destroy the first. A device or a pipe may be named twice. */
int argument_distinct(const char *command, const struct argument_file *file, int n);

#endif

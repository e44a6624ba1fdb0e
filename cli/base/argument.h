/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the values of options: numbers and names. Each function returns 0; or it prints a message,
 * returns -1 and sets nothing. `name` is the option's name without its dashes. */
#ifndef CHUNKPROOF_CLI_BASE_ARGUMENT_H
#define CHUNKPROOF_CLI_BASE_ARGUMENT_H

struct option;

/* Before a command line is read: refuses an option with a value that is given twice, because only
 * one of the values could count. `many`: an option that may be given several times, or NULL. What
 * stands behind --help is not looked at. Sets optind to 0. Commands of the gate, which scripts call
 * with options of their own in front of their user's, take the last value instead. */
int argument_once(const char *command, int argc, char **argv, const char *letters,
                  const struct option *names, const char *many);

/* The next option of a command line, by getopt_long(); -1 behind the last. '?' after a message: it
 * is unknown, ambiguous, or has no value where it needs one. argument_once() comes first. */
int argument_next(const char *command, int argc, char **argv, const char *letters,
                  const struct option *names, int *index);

/* Prints `chunkproof COMMAND: ... (see --help)` and returns -1. */
int argument_refuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A number from `least` to `most`. With LLONG_MAX the message names no upper limit. */
int argument_whole(const char *command, const char *name, const char *text, long long least,
                   long long most, long long *number);
int argument_int(const char *command, const char *name, const char *text, int least, int most,
                 int *number);
int argument_number(const char *command, const char *name, const char *text, double least,
                    double most, double *number);

/* The value of --seed, from 0 to `most`: LLONG_MAX for a command whose report has the seed as an
 * integer. */
int argument_seed(const char *command, const char *text, unsigned long long most,
                  unsigned long long *seed);

/* The index of a name in `names`, an array of at least two names that ends with NULL. */
int argument_name(const char *command, const char *name, const char *text, const char *const *names,
                  int *index);

/* A file that an option names; `name` is NULL where the option was not given. */
struct argument_file {
    const char *option; /* as the user types it: "--json", or "FILE" */
    const char *name;
    int is_written; /* 1: the command writes it, 0: the command reads it */
};

/* Refuses two options that name the same regular file when the command writes one of them: the
 * second would destroy the first. A device or a pipe may be named twice. */
int argument_distinct(const char *command, const struct argument_file *file, int n);

#endif

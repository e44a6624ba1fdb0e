/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/base/argument.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/clean.h"
#include "cli/base/output.h"
#include "cli/base/text.h"

int argument_next(const char *command, int argc, char **argv, const char *letters,
                  const struct option *names, int *index) {
    char program[64], *own = argv[0];
    (void)snprintf(program, sizeof program, "chunkproof %s", command);
    argv[0] = program; /* for the messages of getopt_long() */
    int option = getopt_long(argc, argv, letters, names, index);
    argv[0] = own;
    if (option == '?') {
        fprintf(stderr, "see `chunkproof %s --help`\n", command);
    }
    return option;
}

/* The place in `names` of what getopt_long() has returned; -1: of nothing. */
static int place_of(const struct option *names, int option, int at) {
    for (int i = 0; at < 0 && names[i].name != NULL; i++) {
        at = names[i].val == option ? i : at;
    }
    return option == '?' ? -1 : at;
}

/* An array of pointers to values, by the places of `names`. */
static const char **no_values(const struct option *names) {
    int n = 0;
    while (names[n].name != NULL) {
        n++;
    }
    const char **value = cli_allocate(NULL, (size_t)n + 1, sizeof *value);
    for (int i = 0; i <= n; i++) {
        value[i] = NULL;
    }
    return value;
}

/* getopt_long() moves arguments: it gets a copy. What else is wrong, the caller's pass says. */
int argument_once(const char *command, int argc, char **argv, const char *letters,
                  const struct option *names, const char *many) {
    char **copy = cli_allocate(NULL, (size_t)argc + 1, sizeof *copy);
    const char **value = no_values(names);
    int result = 0, option, at = -1, says = opterr;
    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    copy[argc] = NULL;
    optind = opterr = 0;
    while (result == 0 && (option = getopt_long(argc, copy, letters, names, &at)) != -1) {
        at = place_of(names, option, at);
        if (at >= 0 && strcmp(names[at].name, "help") == 0) {
            break;
        }
        if (at >= 0 && optarg != NULL && (many == NULL || strcmp(names[at].name, many) != 0)) {
            if (value[at] != NULL) {
                result = argument_refuse(command,
                                         "--%s is given twice, as '%s' and as '%s'; "
                                         "give it once",
                                         names[at].name, value[at], optarg);
            }
            value[at] = optarg;
        }
        at = -1;
    }
    free(copy);
    free(value);
    optind = 0;
    opterr = says;
    return result;
}

int argument_refuse(const char *command, const char *format, ...) {
    va_list arguments;
    char *text;
    size_t size;
    FILE *out = text_open(&text, &size);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    text_close(out);
    text_say("chunkproof %s: %s (see --help)", command, text);
    free(text);
    return -1;
}

int argument_whole(const char *command, const char *name, const char *text, long long least,
                   long long most, long long *number) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= least && value <= most) {
        *number = value;
        return 0;
    }
    return most == LLONG_MAX
               ? argument_refuse(command, "--%s needs a whole number, %lld or more, not '%s'", name,
                                 least, text)
               : argument_refuse(command, "--%s needs a whole number from %lld to %lld, not '%s'",
                                 name, least, most, text);
}

int argument_int(const char *command, const char *name, const char *text, int least, int most,
                 int *number) {
    long long value = *number;
    int result = argument_whole(command, name, text, least, most, &value);
    *number = (int)value;
    return result;
}

int argument_number(const char *command, const char *name, const char *text, double least,
                    double most, double *number) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= least && value <= most)) {
        return argument_refuse(command, "--%s needs a number from %g to %.9g, not '%s'", name,
                               least, most, text);
    }
    *number = value;
    return 0;
}

int argument_seed(const char *command, const char *text, unsigned long long most,
                  unsigned long long *seed) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value > most || strchr(text, '-') != NULL) {
        return argument_refuse(command, "--seed needs a whole number from 0 to %llu, not '%s'",
                               most, text);
    }
    *seed = value;
    return 0;
}

int argument_name(const char *command, const char *name, const char *text, const char *const *names,
                  int *index) {
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(text, names[i]) == 0) {
            *index = i;
            return 0;
        }
    }
    char *known;
    size_t size;
    FILE *out = text_open(&known, &size);
    for (int i = 0; names[i] != NULL; i++) {
        fprintf(out, "%s%s", i == 0 ? "" : names[i + 1] == NULL ? " or " : ", ", names[i]);
    }
    text_close(out);
    argument_refuse(command, "--%s needs %s, not '%s'", name, known, text);
    free(known);
    return -1;
}

/* Do both paths end with the same name, in one directory? */
static int are_one_name(const char *one, const char *other) {
    const char *slash = strrchr(one, '/'), *other_slash = strrchr(other, '/');
    const char *name = slash != NULL ? slash + 1 : one;
    const char *other_name = other_slash != NULL ? other_slash + 1 : other;
    char directory[4096], other_directory[sizeof directory];
    struct stat first, second;
    (void)snprintf(directory, sizeof directory, "%.*s.", (int)(name - one), one);
    (void)snprintf(other_directory, sizeof other_directory, "%.*s.", (int)(other_name - other),
                   other);
    return strcmp(name, other_name) == 0 && stat(directory, &first) == 0 &&
           stat(other_directory, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Two paths of one file, also of one that does not exist yet, which becomes a regular file. */
static int are_one_file(const char *one, const char *other) {
    char at[4096], other_at[sizeof at];
    struct stat first, second;
    int first_exists = stat(one, &first) == 0, second_exists = stat(other, &second) == 0;
    if (first_exists && !S_ISREG(first.st_mode)) {
        return 0;
    }
    if (first_exists && second_exists) {
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
    }
    return output_follow(one, at, sizeof at) == 0 &&
           output_follow(other, other_at, sizeof other_at) == 0 && are_one_name(at, other_at);
}

int argument_distinct(const char *command, const struct argument_file *file, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            if (file[i].name != NULL && file[j].name != NULL &&
                (file[i].is_written || file[j].is_written) &&
                are_one_file(file[i].name, file[j].name)) {
                return argument_refuse(command,
                                       "%s and %s name the same file, %s, and one would overwrite "
                                       "the other; give each a file of its own",
                                       file[i].option, file[j].option, file[j].name);
            }
        }
    }
    return 0;
}

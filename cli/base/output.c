/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath, mkstemp, fchmod, fsync */

#include "cli/base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LINKS 40 /* of links to links, as of the system */

/* What new files may be. */
static mode_t usual_mode(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* /dev/stdout and the like: the program was given a file, not a name. */
static int is_open_already(const char *name) {
    return strncmp(name, "/proc/", 6) == 0;
}

int output_follow(const char *name, char *to, size_t size) {
    char link[4096], next[sizeof link];
    if (snprintf(to, size, "%s", name) >= (int)size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (int i = 0; i < MOST_LINKS; i++) {
        if (is_open_already(to)) {
            return 0;
        }
        ssize_t length = readlink(to, link, sizeof link - 1);
        if (length < 0) {
            return errno == EINVAL || errno == ENOENT ? 0 : -1; /* no link, or nothing */
        }
        link[length] = '\0';
        const char *slash = link[0] == '/' ? NULL : strrchr(to, '/');
        int directory = slash == NULL ? 0 : (int)(slash + 1 - to);
        if (snprintf(next, sizeof next, "%.*s%s", directory, to, link) >= (int)sizeof next ||
            snprintf(to, size, "%s", next) >= (int)size) {
            errno = ENAMETOOLONG;
            return -1;
        }
    }
    errno = ELOOP;
    return -1;
}

static int open_part(struct output *o, mode_t mode) {
    (void)snprintf(o->part, sizeof o->part, "%s.XXXXXX", o->name);
    int fd = mkstemp(o->part);
    if (fd >= 0) {
        (void)fchmod(fd, mode);
        o->file = fdopen(fd, "w");
    }
    if (fd >= 0 && o->file == NULL) {
        (void)unlink(o->part);
        (void)close(fd);
    }
    return o->file != NULL ? 0 : -1;
}

int output_open(struct output *o, const char *name) {
    struct stat about;
    memset(o, 0, sizeof *o);
    if (output_follow(name, o->name, sizeof o->name) != 0) {
        return -1;
    }
    if (!is_open_already(o->name)) {
        if (stat(o->name, &about) != 0) {
            return errno == ENOENT ? open_part(o, usual_mode()) : -1;
        }
        if (S_ISREG(about.st_mode)) {
            return access(o->name, W_OK) == 0 ? open_part(o, about.st_mode & 07777) : -1;
        }
    }
    o->file = fopen(o->name, "w");
    return o->file != NULL ? 0 : -1;
}

void output_remove_old(const struct output *o) {
    if (o->part[0] != '\0') {
        (void)unlink(o->name);
    }
}

int output_keep(struct output *o) {
    FILE *file = o->file;
    errno = 0;
    int failed = ferror(file) || fflush(file) != 0;
    failed = failed || (o->part[0] != '\0' && fsync(fileno(file)) != 0);
    int why = errno;
    failed = fclose(file) != 0 || failed;
    why = why != 0 ? why : errno;
    o->file = NULL;
    if (o->part[0] != '\0' && (failed || rename(o->part, o->name) != 0)) {
        why = failed ? why : errno;
        failed = 1;
        (void)unlink(o->part);
    }
    errno = failed ? why : 0;
    return failed ? -1 : 0;
}

void output_drop(struct output *o) {
    if (o->file != NULL) {
        (void)fclose(o->file);
        o->file = NULL;
        if (o->part[0] != '\0') {
            (void)unlink(o->part);
        }
    }
}

/* errno is that of the last write that failed, be it before. */
int output_end(FILE *file, const char *command) {
    if (fflush(file) == 0 && !ferror(file)) {
        return 0;
    }
    fprintf(stderr, "chunkproof%s%s: standard output cannot be written%s%s\n",
            command != NULL ? " " : "", command != NULL ? command : "", errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return -1;
}

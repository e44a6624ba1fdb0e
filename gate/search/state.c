/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* flock, fsync, O_CLOEXEC */

#include "gate/search/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/clock.h"

#define MAGIC  "chunkproof gate state "
#define FORMAT MAGIC "4"
#define TRIES  100 /* to lock a file that another gate replaces at that time */

#define SAVE_SECONDS 5.0 /* between two states in the file */

/* ---- The bytes of the file ---- */

/* The file is this, then the identity, the result and a byte for each block. */
struct head {
    char format[32];
    uint64_t bytes, checksum; /* of all that follows */
};

/* For each word the new sum is a one-to-one function of the old one, so one changed byte is always
 * seen. */
static uint64_t sum_of(const unsigned char *bytes, size_t n) {
    uint64_t sum = n;
    for (size_t i = 0; i < n; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, n - i < sizeof word ? n - i : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    return sum;
}

static size_t body_size(const struct gate_state *s) {
    return sizeof s->identity + s->kind->size + (size_t)s->blocks;
}

unsigned char *gate_state_write(const struct gate_state *s, size_t *n) {
    struct head head = {.format = FORMAT, .bytes = body_size(s)};
    unsigned char *bytes = malloc(sizeof head + body_size(s));
    if (bytes == NULL) {
        return NULL;
    }
    unsigned char *body = bytes + sizeof head;
    memcpy(body, s->identity, sizeof s->identity);
    memcpy(body + sizeof s->identity, s->result, s->kind->size);
    memcpy(body + sizeof s->identity + s->kind->size, s->done, (size_t)s->blocks);
    head.checksum = sum_of(body, body_size(s));
    memcpy(bytes, &head, sizeof head);
    *n = sizeof head + body_size(s);
    return bytes;
}

static int blocks_are_sane(const unsigned char *done, long long blocks) {
    for (long long i = 0; i < blocks; i++) {
        if (done[i] > 1) {
            return 0;
        }
    }
    return 1;
}

static enum gate_state_read read_body(struct gate_state *s, const unsigned char *body) {
    const unsigned char *done = body + sizeof s->identity + s->kind->size;
    void *result = malloc(s->kind->size);
    if (result == NULL) {
        return GATE_STATE_DAMAGED;
    }
    memcpy(result, body + sizeof s->identity, s->kind->size);
    int sane = s->kind->is_sane(result, s->cases) && blocks_are_sane(done, s->blocks);
    if (sane) {
        memcpy(s->result, result, s->kind->size);
        memcpy(s->done, done, (size_t)s->blocks);
    }
    free(result);
    return sane ? GATE_STATE_READ : GATE_STATE_DAMAGED;
}

enum gate_state_read gate_state_read(struct gate_state *s, const unsigned char *bytes, size_t n,
                                     char why[GATE_IDENTITY]) {
    struct head head;
    const unsigned char *body = bytes + sizeof head;
    char identity[sizeof s->identity];
    if (n < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC - 1) != 0) {
        return GATE_STATE_FOREIGN;
    }
    if (n < sizeof FORMAT) {
        return GATE_STATE_DAMAGED;
    }
    if (memcmp(bytes, FORMAT, sizeof FORMAT) != 0) {
        (void)snprintf(why, GATE_IDENTITY, "chunkproof");
        return GATE_STATE_OTHER;
    }
    if (n < sizeof head + sizeof identity) {
        return GATE_STATE_DAMAGED;
    }
    memcpy(&head, bytes, sizeof head);
    if (head.bytes != n - sizeof head || head.checksum != sum_of(body, n - sizeof head)) {
        return GATE_STATE_DAMAGED;
    }
    memcpy(identity, body, sizeof identity);
    identity[sizeof identity - 1] = '\0';
    if (strcmp(identity, s->identity) != 0) {
        gate_identity_differs(s->identity, identity, why);
        return strcmp(why, "kind") == 0 ? GATE_STATE_OF_KIND : GATE_STATE_OTHER;
    }
    return head.bytes == body_size(s) ? read_body(s, body) : GATE_STATE_DAMAGED;
}

/* ---- The file ---- */

static int cannot(const struct gate_state *s, const char *why) {
    fprintf(stderr, "chunkproof gate: --state %s: %s\n", s->file, why);
    return -1;
}

/* The name that the file has with an ending. 0, or -1 after a message. */
static int name_with(const struct gate_state *s, const char *end, char name[4096]) {
    return snprintf(name, 4096, "%s%s", s->file, end) < 4096 ? 0
                                                             : cannot(s, "the name is too long");
}

/* Is the open file still the one of that name? A gate that saves replaces the file. */
static int is_current(const struct gate_state *s, const struct stat *opened) {
    struct stat now;
    return stat(s->file, &now) == 0 && now.st_dev == opened->st_dev && now.st_ino == opened->st_ino;
}

/* Opens the file, or makes an empty one, and locks it. 0, or -1 after a message. */
static int take_lock(struct gate_state *s, struct stat *opened) {
    for (int i = 0; i < TRIES; i++) {
        s->locked = open(s->file, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
        if (s->locked < 0 || fstat(s->locked, opened) != 0) {
            return cannot(s, strerror(errno));
        }
        if (!S_ISREG(opened->st_mode)) {
            return cannot(s, "it is not a regular file; give another name");
        }
        if (flock(s->locked, LOCK_EX | LOCK_NB) != 0) {
            return cannot(s, errno == EWOULDBLOCK
                                 ? "another gate is using it; wait for that one to end, or give "
                                   "this one a file of its own"
                                 : strerror(errno));
        }
        if (is_current(s, opened)) {
            return 0;
        }
        (void)close(s->locked);
        s->locked = -1;
    }
    return cannot(s, "other programs keep replacing it");
}

/* Reads the whole file. NULL after a message. */
static unsigned char *read_bytes(const struct gate_state *s, size_t n) {
    unsigned char *bytes = malloc(n + 1);
    size_t got = 0;
    while (bytes != NULL && got < n) {
        ssize_t more = read(s->locked, bytes + got, n - got);
        if (more <= 0 && errno != EINTR) {
            free(bytes);
            (void)cannot(s, more < 0 ? strerror(errno) : "it is being changed");
            return NULL;
        }
        got += more > 0 ? (size_t)more : 0;
    }
    if (bytes == NULL) {
        (void)cannot(s, "not enough memory to read it");
    }
    return bytes;
}

/* Keeps the file of something else under another name. */
static int start_anew(struct gate_state *s, const char *what) {
    char old[4096];
    if (name_with(s, ".old", old) != 0) {
        return -1;
    }
    if (rename(s->file, old) != 0) {
        return cannot(s, strerror(errno));
    }
    fprintf(
        stderr,
        "chunkproof gate: --state %s: its progress is that of another run (not the same %s), "
        "so this run starts anew; the old file is now %s: --state of that name goes on with it\n",
        s->file, what, old);
    return gate_state_save(s);
}

static int refuse_kind(const struct gate_state *s) {
    char why[128];
    (void)snprintf(why, sizeof why,
                   "its progress is that of another kind of kernel, and this one %s; give another "
                   "file",
                   s->kind->does);
    return cannot(s, why);
}

static int take_bytes(struct gate_state *s, const unsigned char *bytes, size_t n) {
    char why[GATE_IDENTITY] = "";
    switch (gate_state_read(s, bytes, n, why)) {
    case GATE_STATE_READ:
        return 0;
    case GATE_STATE_OTHER:
        return start_anew(s, why);
    case GATE_STATE_OF_KIND:
        return refuse_kind(s);
    case GATE_STATE_FOREIGN:
        return cannot(s, "it is not a file of --state; give another file");
    default:
        return cannot(s, "it is damaged, and its progress is lost; remove it, and the same command "
                         "starts anew");
    }
}

int gate_state_open(struct gate_state *s, const struct gate_kind *kind, void *result,
                    const struct gate_options *o, const struct runner *runner, long long cases,
                    long long blocks) {
    struct stat opened;
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->result = result;
    s->file = o->state;
    s->locked = -1;
    s->cases = cases;
    s->blocks = blocks;
    s->done = calloc((size_t)blocks + 1, 1);
    if (s->done == NULL) {
        fputs("chunkproof gate: not enough memory for so many cases\n", stderr);
        return -1;
    }
    if (s->file == NULL) {
        return 0;
    }
    if (gate_identify(s->identity, kind, o, runner) != 0 || take_lock(s, &opened) != 0) {
        return -1;
    }
    if (opened.st_size == 0) { /* new, or it lost all */
        return gate_state_save(s);
    }
    unsigned char *bytes = read_bytes(s, (size_t)opened.st_size);
    int status = bytes == NULL ? -1 : take_bytes(s, bytes, (size_t)opened.st_size);
    free(bytes);
    return status;
}

/* ---- Saving ---- */

static int write_all(int fd, const unsigned char *bytes, size_t n) {
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR) {
            return -1;
        }
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return fsync(fd);
}

/* Makes the new name last, too. Where a directory cannot be synchronized, the system does it in its
 * own time. */
static void keep_name(const char *file) {
    char directory[4096];
    const char *slash = strrchr(file, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - file) + 1;
    (void)snprintf(directory, sizeof directory, "%.*s.", (int)length, file);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

/* The new file is locked before it gets the name, and the old one until then. */
int gate_state_save(struct gate_state *s) {
    char name[4096];
    size_t n = 0;
    if (s->file == NULL) {
        return 0;
    }
    unsigned char *bytes = gate_state_write(s, &n);
    if (bytes == NULL || name_with(s, ".new", name) != 0) {
        free(bytes);
        return bytes != NULL ? -1 : cannot(s, "not enough memory to write it");
    }
    (void)unlink(name); /* of a gate that was ended */
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int failed = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || write_all(fd, bytes, n) != 0 ||
                 rename(name, s->file) != 0;
    free(bytes);
    if (failed) {
        (void)cannot(s, strerror(errno));
        if (fd >= 0) {
            (void)unlink(name);
            (void)close(fd);
        }
        return -1;
    }
    keep_name(s->file);
    if (s->locked >= 0) {
        (void)close(s->locked);
    }
    s->locked = fd;
    return 0;
}

int gate_state_keep(struct gate_state *s, int now) {
    if (s->file == NULL || (!now && seconds_now() < s->next_save)) {
        return 0;
    }
    int status = gate_state_save(s);
    s->next_save = seconds_now() + SAVE_SECONDS;
    return status;
}

void gate_state_free(struct gate_state *s) {
    free(s->done);
    s->done = NULL;
    if (s->locked >= 0) {
        (void)close(s->locked);
        s->locked = -1;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* fork, kill, poll, sigaction */

#include "cli/bench/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/clock.h"
#include "cli/base/printable.h"

#define LINE       1024
#define MOST_LINES 100 /* of a cell: each may take a peer's time */

struct peer {
    pid_t process;
    int to, from; /* pipes */
    double seconds;
    const volatile sig_atomic_t *interrupted;
    char name[PEER_TEXT]; /* its command */
    char why[PEER_TEXT];  /* "": it answers */
    char read[LINE];      /* and not yet taken */
    size_t n_read;
};

__attribute__((format(printf, 2, 3))) static int give_up(struct peer *peer, const char *format,
                                                         ...) {
    va_list arguments;
    va_start(arguments, format);
    if (peer->why[0] == '\0') {
        (void)vsnprintf(peer->why, sizeof peer->why, format, arguments);
    }
    va_end(arguments);
    return -1;
}

/* In the new process. A group of its own: Ctrl-C at the terminal is ours. */
static void become(const char *command, const int *to, const int *from) {
    setpgid(0, 0);
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    close(to[0]);
    close(to[1]);
    close(from[0]);
    close(from[1]);
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

struct peer *peer_new(const char *command, double seconds,
                      const volatile sig_atomic_t *interrupted) {
    int to[2], from[2];
    struct peer *peer = calloc(1, sizeof *peer);
    if (peer == NULL || pipe(to) != 0) {
        free(peer);
        return NULL;
    }
    if (pipe(from) != 0) {
        close(to[0]);
        close(to[1]);
        free(peer);
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN); /* one that has ended is told by write() */
    peer->process = fork();
    if (peer->process == 0) {
        become(command, to, from);
    }
    close(to[0]);
    close(from[1]);
    peer->to = to[1];
    peer->from = from[0];
    peer->seconds = seconds;
    peer->interrupted = interrupted;
    (void)snprintf(peer->name, sizeof peer->name, "%s", command);
    if (peer->process < 0) {
        (void)give_up(peer, "no process: %s", strerror(errno));
    } else {
        setpgid(peer->process, peer->process);
    }
    return peer;
}

/* With all that it has started. */
void peer_free(struct peer *peer) {
    if (peer == NULL) {
        return;
    }
    close(peer->to);
    close(peer->from);
    if (peer->process > 0) {
        kill(-peer->process, SIGKILL);
        waitpid(peer->process, NULL, 0);
    }
    free(peer);
}

const char *peer_why(const struct peer *peer) {
    return peer->why;
}

/* ---- Lines ---- */

static int ask(struct peer *peer, const char *text) {
    size_t n = strlen(text);
    if (peer->why[0] != '\0') {
        return -1;
    }
    for (size_t done = 0; done < n;) {
        ssize_t wrote = write(peer->to, text + done, n - done);
        if (wrote < 0 && errno != EINTR) {
            return give_up(peer, "it has ended");
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

/* Waits until there is something to be read. */
static int wait_for(struct peer *peer, double until) {
    while (!*peer->interrupted) {
        struct pollfd from = {.fd = peer->from, .events = POLLIN};
        int n = poll(&from, 1, 100);
        if (n > 0) {
            return 0;
        }
        if (n < 0 && errno != EINTR) {
            return give_up(peer, "its output cannot be read: %s", strerror(errno));
        }
        if (seconds_now() > until) {
            return give_up(peer, "no answer for %g s", peer->seconds);
        }
    }
    return give_up(peer, "interrupted");
}

/* One line of it, without its end. */
static int answer(struct peer *peer, char line[LINE]) {
    double until = seconds_now() + peer->seconds;
    for (;;) {
        char *end = memchr(peer->read, '\n', peer->n_read);
        if (end != NULL) {
            size_t n = (size_t)(end - peer->read);
            memcpy(line, peer->read, n);
            line[n] = '\0';
            peer->n_read -= n + 1;
            memmove(peer->read, end + 1, peer->n_read);
            return 0;
        }
        if (peer->n_read == sizeof peer->read) {
            return give_up(peer, "it wrote a line of more than %d bytes", LINE);
        }
        if (wait_for(peer, until) != 0) {
            return -1;
        }
        ssize_t n = read(peer->from, peer->read + peer->n_read, sizeof peer->read - peer->n_read);
        if (n <= 0) {
            return give_up(peer, "it has ended without an answer");
        }
        peer->n_read += (size_t)n;
    }
}

/* ---- What is asked ---- */

/* "NAME: TEXT" */
static void name_series(struct peer_series *series, char *text, int number) {
    char *colon = strstr(text, ": ");
    if (colon != NULL) {
        *colon = '\0';
    }
    (void)snprintf(series->name, sizeof series->name, "%.*s", (int)sizeof series->name - 1, text);
    (void)snprintf(series->note, sizeof series->note, "%s", colon != NULL ? colon + 2 : "");
    printable(series->name);
    printable(series->note);
    series->number = number;
}

static int not_to_be_had(const struct peer *peer, struct peer_series *series) {
    (void)snprintf(series->name, sizeof series->name, "%s", peer->name);
    (void)snprintf(series->note, sizeof series->note, "%s", peer->why);
    series->number = -1;
    return 1;
}

int peer_cell(struct peer *peer, const struct bench_load *load, int n_threads, double bytes,
              struct peer_series *series, int most) {
    char line[LINE];
    int n = 0, number = 0;
    (void)snprintf(line, sizeof line, "cell %s %d %d %d %d %d %d %d %.0f\n", load->part, load->b,
                   load->n, bench_load_shared(load), load->n_heads, load->n_kv_heads,
                   load->head_dim, n_threads, bytes);
    if (most <= 0) {
        return 0;
    }
    if (ask(peer, line) != 0) {
        return not_to_be_had(peer, series);
    }
    for (int lines = 0; answer(peer, line) == 0; lines++) {
        if (strcmp(line, "ready") == 0) {
            return n;
        }
        if (lines == MOST_LINES) {
            (void)give_up(peer, "it names more than %d series", MOST_LINES);
            break;
        }
        int skipped = strncmp(line, "skip ", 5) == 0;
        if (!skipped && strncmp(line, "series ", 7) != 0) {
            (void)give_up(peer, "it answers '%.60s'", printable(line));
            break;
        }
        if (n < most) {
            name_series(&series[n++], line + (skipped ? 5 : 7), skipped ? -1 : number);
        }
        number += !skipped;
    }
    return not_to_be_had(peer, series);
}

int peer_run(struct peer *peer, int number, double *wall, double *cpu) {
    char line[LINE];
    (void)snprintf(line, sizeof line, "run %d\n", number);
    if (ask(peer, line) != 0 || answer(peer, line) != 0) {
        return -1;
    }
    int is_time = strncmp(line, "time ", 5) == 0;
    char *second = line + (is_time ? 5 : 0), *end;
    *wall = strtod(second, &second);
    *cpu = strtod(second, &end);
    if (!is_time || end == second || *end != '\0' || !(*wall > 0.0 && *cpu >= 0.0)) {
        return give_up(peer, "it answers '%.60s'", printable(line));
    }
    return 0;
}

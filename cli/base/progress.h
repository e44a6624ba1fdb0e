/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_PROGRESS_H
#define CHUNKPROOF_CLI_BASE_PROGRESS_H

/* How a command says on standard error how far it is. */
struct progress {
    int shown, in_place; /* in place: on a terminal, each line over the one before */
    double begin;        /* when it began, of seconds_now() */
};

/* Shown on a terminal; with `always`, elsewhere too. */
struct progress progress_begin(int always);

/* What a line begins with, and what it ends with. */
const char *progress_before(const struct progress *progress);
const char *progress_behind(const struct progress *progress);

/* Takes the last line away that stands on a terminal. */
void progress_end(const struct progress *progress);

#endif

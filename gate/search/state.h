/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long search came, in a file: `chunkproof gate --state FILE` goes on from there. The
 * file belongs to one program, kernel and set of options (identity.h). While one gate has the file,
 * no other gets it. All kinds of kernels have the same file but for what came of their cases
 * (kind.h). */
#ifndef CHUNKPROOF_GATE_SEARCH_STATE_H
#define CHUNKPROOF_GATE_SEARCH_STATE_H

#include "gate/search/identity.h"
#include "gate/search/kind.h"

struct gate_state {
    const struct gate_kind *kind;
    const char *file;             /* NULL: nothing is kept */
    int locked;                   /* the open file, which holds the lock; -1: none */
    char identity[GATE_IDENTITY]; /* names the program, kernel and options */
    long long blocks, cases;      /* blocks of cases, and cases */
    unsigned char *done;          /* [blocks]: 1: the result has this block */
    void *result;                 /* of the kind's size, in memory of the caller */
    double next_save;             /* when it is next saved of itself */
};

/* Reads the file into `result`, which is zeros; where there is none, nothing is done yet. A file of
 * another kernel, program or other options is kept as FILE.old, which a message says, and nothing
 * is done yet. One of another kind of kernel stays where it is. 0, or -1 after saying what is
 * wrong. */
int gate_state_open(struct gate_state *state, const struct gate_kind *kind, void *result,
                    const struct gate_options *options, const struct runner *runner,
                    long long cases, long long blocks);

/* Writes the file anew, so that it is complete at any time, whatever ends the program or the
 * machine. 0, or -1 after saying what is wrong. */
int gate_state_save(struct gate_state *state);

/* The same where a file is wanted, every few seconds, or `now`. */
int gate_state_keep(struct gate_state *state, int now);

/* Frees the memory, and gives the lock back. */
void gate_state_free(struct gate_state *state);

/* ---- The bytes of the file ---- */

enum gate_state_read {
    GATE_STATE_READ,
    GATE_STATE_FOREIGN, /* not a file of --state */
    GATE_STATE_DAMAGED,
    GATE_STATE_OTHER,  /* of another kernel, program or other options: `why` says which */
    GATE_STATE_OF_KIND /* of another kind of kernel */
};

/* All bytes of the file, which the caller frees, and how many. NULL: no memory. */
unsigned char *gate_state_write(const struct gate_state *state, size_t *n);

/* Reads done and result; nothing changes unless all is read. */
enum gate_state_read gate_state_read(struct gate_state *state, const unsigned char *bytes, size_t n,
                                     char why[GATE_IDENTITY]);

#endif

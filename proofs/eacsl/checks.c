/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when a clause is evaluated: it is counted, or the program ends with the clause's
 * name. The counts go to PROGRAM.counts, a line for each clause. E-ACSL's run-time library uses up
 * the environment at the beginning, so getenv() finds nothing, and takes the heap away at the end,
 * so fopen() does not work then. */
#define _GNU_SOURCE /* program_invocation_name */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "e_acsl.h"

#define TABLE_SIZE 4096

static struct {
    eacsl_assert_data_t clause;
    long long evaluated;
} table[TABLE_SIZE];

extern int eacsl_runtime_sound_verdict;

static void write_counts(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s.counts", program_invocation_name);
    int written = 1;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (int i = 0; i < TABLE_SIZE; i++) {
        if (table[i].evaluated > 0) {
            char line[1000];
            int length = snprintf(line, sizeof line, "%s %s %s %lld\n", table[i].clause.fct,
                                  table[i].clause.kind, table[i].clause.name, table[i].evaluated);
            written = written && write(file, line, (size_t)length) == length;
        }
    }
    if (!written || close(file) != 0) {
        abort();
    }
}

/* A clause is known by the addresses of its names. */
static void count(const eacsl_assert_data_t *clause) {
    static int known = 0;
    size_t at =
        ((size_t)clause->fct * 31 + (size_t)clause->name + (size_t)clause->kind) % TABLE_SIZE;
    while (table[at].evaluated > 0 &&
           (table[at].clause.fct != clause->fct || table[at].clause.name != clause->name ||
            table[at].clause.kind != clause->kind)) {
        at = (at + 1) % TABLE_SIZE;
    }
    if (table[at].evaluated++ == 0) {
        table[at].clause = *clause;
        if (known++ == 0) {
            atexit(write_counts);
        }
        if (known == TABLE_SIZE) {
            fputs("more clauses than the table has room for\n", stderr);
            abort();
        }
    }
}

void eacsl_runtime_assert(int holds, eacsl_assert_data_t *clause) {
    int is_clause =
        clause->kind[0] == 'P'; /* Precondition, Postcondition; not what makes it defined */
    if (holds && eacsl_runtime_sound_verdict) {
        if (is_clause && clause->name != NULL) {
            count(clause);
        }
        return;
    }
    fflush(stdout);
    fprintf(stderr, "%s: %s %s %s: %.400s\n", clause->fct, clause->kind,
            clause->name == NULL ? "?" : clause->name, holds ? "has no sound verdict" : "fails",
            clause->pred_txt);
    abort();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files of cases: JSON values one after the other, their members, and what is said of a wrong
 * one. */
#ifndef CHUNKPROOF_GATE_SEARCH_JSON_CASES_H
#define CHUNKPROOF_GATE_SEARCH_JSON_CASES_H

#include <jansson.h>

/* Where members are read. The first member that is wrong is reported, in the name of `command`. */
struct gate_fields {
    const char *file, *command;
    int line;             /* of a case that has the file to itself: 0 */
    const json_t *recipe; /* the object */
    int failed;
};

/* "chunkproof replay: cases.json:3: ", to stderr. */
void gate_fields_say_where(const struct gate_fields *in);

/* "recipe.`name` must be `what`", unless something was wrong before. */
void gate_fields_refuse(struct gate_fields *in, const char *name, const char *what);

/* Each of these reads a member, or refuses it: a whole number; one that may be left out, which is 0
 * then; which of the names it is; a number of 64 bits as a string. */
int gate_fields_number(struct gate_fields *in, const char *name, int least, int most);
int gate_fields_size(struct gate_fields *in, const char *name, int most);
int gate_fields_name(struct gate_fields *in, const char *name, const char *const *names);
unsigned long long gate_fields_seed(struct gate_fields *in);

int gate_fields_is(const struct gate_fields *in, const char *name); /* 1: it is there, and true */

/* Which of the names, which end with NULL; -1: none. */
int gate_fields_word(const char *text, const char *const *names);

/* Takes a value of a file. 0, or -1 after saying what is wrong. */
typedef int gate_json_taker(void *context, struct gate_fields *in, const json_t *json);

/* Reads all values of a file, in order: once, for it may be a pipe. Returns how many there are, at
 * least 1; or -1 after saying what is wrong and where. */
int gate_json_read(const char *file, const char *command, gate_json_taker *take, void *context);

/* The array with room for element n, of zeros, behind the n that it has. NULL after a message:
 * there is no memory, and the array is as it was. */
void *gate_json_room(void *all, size_t size, int n);

/* Writes a case as a file; NULL: there was no memory for it. 0, or -1 after saying what is
 * wrong. */
int gate_json_write(const json_t *json, const char *file);

#endif

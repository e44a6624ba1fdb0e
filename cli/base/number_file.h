/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are one JSON object of named numbers, and structs that have them. */
#ifndef CHUNKPROOF_CLI_BASE_NUMBER_FILE_H
#define CHUNKPROOF_CLI_BASE_NUMBER_FILE_H

#include <stddef.h>
#include <stdio.h>

#define NUMBER_FILE_MOST 1e18 /* the largest number of such a file */

/* A member of the object, which is a double of the struct. */
struct number_field {
    const char *name;
    size_t offset; /* in the struct */
    double least;  /* 0 or 1 */
    int is_required;
};

/* Such files. Each may have a "note" beside its format and its numbers. */
struct number_file {
    const char *format; /* what "format" must be */
    const char *prints; /* the command that prints all fields */
    const struct number_field *field;
    int n_fields;
};

/* Reads the file into a struct of `size` bytes. What it does not have is 0. Returns 0, or -1 after
 * a message that names the file and the member. */
int number_file_load(const struct number_file *kind, const char *file, void *numbers, size_t size);

/* Prints a struct as such a file, without numbers below the least of their field. */
void number_file_print(const struct number_file *kind, const void *numbers, FILE *out);

#endif

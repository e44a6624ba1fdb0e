/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_SHOW_LIST_H
#define CHUNKPROOF_CLI_SHOW_LIST_H

#include <stdio.h>

/* A list of short items that goes on in the next line, indented, when a line is full. */
struct show_list {
    FILE *out;
    int width;
    int indent;
    int column;
    int gap; /* blanks before the next item, if it is put in the same line */
};

void show_list_put(struct show_list *list, const char *item);

/* An item, for example "C5", with the text before and after it. */
void show_list_put_number(struct show_list *list, const char *before, int number,
                          const char *behind);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/list.h"

#include "cli/base/text.h"

void show_list_put(struct show_list *list, const char *item) {
    int columns = text_columns(item);
    if (list->column > list->indent && list->column + list->gap + columns > list->width) {
        fputc('\n', list->out);
        text_put_blanks(list->out, list->indent);
        list->column = list->indent;
    } else {
        text_put_blanks(list->out, list->gap);
        list->column += list->gap;
    }
    fputs(item, list->out);
    list->column += columns;
    list->gap = 1;
}

void show_list_put_number(struct show_list *list, const char *before, int number,
                          const char *behind) {
    char item[64];
    snprintf(item, sizeof item, "%s%d%s", before, number, behind);
    show_list_put(list, item);
}

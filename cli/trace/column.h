/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a line of JSON a value stands. The JSON parser does not keep this. */
#ifndef CHUNKPROOF_CLI_TRACE_COLUMN_H
#define CHUNKPROOF_CLI_TRACE_COLUMN_H

#include <stddef.h>

/* line[0 .. length) is one valid JSON text. The column, counted in characters from 1, of the value
 * of `field` in the object on the line, or of element `index` of that value when it is an array and
 * index >= 0; of the text itself when there is no such field. */
int trace_column(const char *line, size_t length, const char *field, long index);

#endif

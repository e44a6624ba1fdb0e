/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_PRINTABLE_H
#define CHUNKPROOF_CLI_BASE_PRINTABLE_H

/* Replaces each byte that could control a terminal by a question mark. For messages that quote a
 * file. Returns the text. */
char *printable(char *text);

#endif

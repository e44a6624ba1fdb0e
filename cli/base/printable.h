/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_PRINTABLE_H
#define CHUNKPROOF_CLI_BASE_PRINTABLE_H

/* Puts a question mark in the place of each byte that would steer a terminal: for messages that quote a file. Returns
 * the text. */
char *printable(char *text);

#endif

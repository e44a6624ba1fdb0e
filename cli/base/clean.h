/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_CLEAN_H
#define CHUNKPROOF_CLI_BASE_CLEAN_H

/* Makes foreign text safe for a terminal, JSON and XML: each byte that is not UTF-8, and each
 * control character, becomes \xNN. The caller frees the result. */
char *text_clean(const char *text);

#endif

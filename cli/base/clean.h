/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_CLI_BASE_CLEAN_H
#define CHUNKPROOF_CLI_BASE_CLEAN_H

/* A text of somebody else's, fit for a terminal, JSON and XML: what is not UTF-8, and each control character, becomes
 * \xNN. The caller's to free. */
char *text_clean(const char *text);

#endif

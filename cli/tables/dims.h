/* SPDX-License-Identifier: Apache-2.0 */
/* Options that describe a model, for each command that has them. `command` is the command's name in
 * messages. */
#ifndef CHUNKPROOF_CLI_TABLES_DIMS_H
#define CHUNKPROOF_CLI_TABLES_DIMS_H

#include "cli/tables/model.h"

/* The model that --model names, or NULL after a message. */
const struct cp_dims *dims_read_model(const char *command, const char *text);

/* The value of --layers, --heads, --kv-heads, --head-dim, --bytes or --parameters; `name` is the
 * option's, without its dashes. 0, or -1 after a message. */
int dims_read_size(const char *command, const char *name, const char *text, struct cp_dims *given);

/* 0, or -1 after a message: the K/V heads do not divide the heads. */
int dims_check(const char *command, const struct cp_dims *model);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What happened, as a line of JSON for each item and each prompt (CACHE-7). Without a file all of
 * these do nothing. */
#ifndef CHUNKPROOF_CLI_MODULES_EVENTS_H
#define CHUNKPROOF_CLI_MODULES_EVENTS_H

#include <stdio.h>

#include "cli/modules/cache.h"
#include "cli/modules/items.h"
#include "cli/modules/load.h"
#include "cli/modules/machine.h"

void modules_event_item(FILE *out, const struct modules_items *items, int item);

/* A line for a prompt: its begin, each item that it takes, its end. */
void modules_event_prompt(FILE *out, int prompt, int batch);
void modules_event_take(FILE *out, int is_first, int item, const struct modules_taken *taken);
void modules_event_end(FILE *out, const struct modules_drawing *drawing, long long arguments,
                       const struct modules_work *work, long long cached_ns, long long full_ns);

#endif

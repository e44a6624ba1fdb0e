/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_GATE_REPORT_HELD_H
#define CHUNKPROOF_GATE_REPORT_HELD_H

#include <jansson.h>

/* What the kernel was held from, each by its name. NULL: no memory. */
json_t *gate_held_json(unsigned contained);

#endif

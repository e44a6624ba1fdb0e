/* SPDX-License-Identifier: Apache-2.0 */
/* The clause MOD-6 of spec/modules.md over arrays of parts and of segments. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_SCHEMA_PLACE_H
#define CHUNKPROOF_LOGIC_SCHEMA_PLACE_H

#include "chunkproof/schema.h"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The laws of schemas, which other proofs use. Each is proved here. */
#include "chunkproof/schema.h"

#ifdef __FRAMAC__
#include "proofs/logic/schema_laws.h"
#include "proofs/logic/schema_room.h"
#endif

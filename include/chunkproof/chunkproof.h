/* SPDX-License-Identifier: Apache-2.0 */
/* Everything: include this one. */
#ifndef CHUNKPROOF_CHUNKPROOF_H
#define CHUNKPROOF_CHUNKPROOF_H

#include "chunkproof/attend.h"
#include "chunkproof/kv.h"
#include "chunkproof/limits.h"
#include "chunkproof/memory.h"
#include "chunkproof/number.h"
#include "chunkproof/plan.h"
#include "chunkproof/pool.h"
#include "chunkproof/softmax.h"
#include "chunkproof/status.h"
#include "chunkproof/tree.h"
#include "chunkproof/two_phase.h"
#include "chunkproof/version.h"

#endif

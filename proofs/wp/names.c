/* SPDX-License-Identifier: Apache-2.0 */
/* The lemmas of the headers, which every proof uses: about the names that they give to terms. */
#include "chunkproof/chunkproof.h"

/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of decoders in binary32, whose scale is rounded to it. */
#define ORACLE_UNIT  0x1p-24L
#define ORACLE_TINY  0x1p-149L
#define ORACLE_SCALE 1
#define ORACLE(name) oracle_fp32_##name
#include "tests/decoder_oracle_of.h"

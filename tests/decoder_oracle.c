/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of decoders in double. */
#define ORACLE_UNIT  0x1p-53L
#define ORACLE_TINY  0.0L
#define ORACLE_SCALE 0
#define ORACLE(name) oracle_##name
#include "tests/decoder_oracle_of.h"

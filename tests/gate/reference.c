/* SPDX-License-Identifier: Apache-2.0 */
/* The project's own reference as a kernel: values are as wide as keys. */
#define VALUES_IN_KEYS 0
#include "reference.h"

const struct cp_kernel cp_kernel = {REFERENCE_KERNEL, .name = "reference"};

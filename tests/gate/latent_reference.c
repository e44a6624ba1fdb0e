/* SPDX-License-Identifier: Apache-2.0 */
/* The project's own reference as a kernel: values are in their keys, as latent attention has them
 * (WIDTH-2). */
#define VALUES_IN_KEYS 1
#include "reference.h"

const struct cp_kernel cp_kernel = {REFERENCE_KERNEL, .name = "latent-reference",
                                    .widths = CP_WIDTHS_ANY,
                                    .layout = {.tensors = CP_TENSORS_KEYS}};

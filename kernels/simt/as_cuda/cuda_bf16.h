/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simt/as_cuda/cuda_runtime.h"

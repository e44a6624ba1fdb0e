/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs for a GPU share: the device, which is simulated on the CPU where there is no
 * GPU, and their one option. */
#ifndef CHUNKPROOF_TESTS_GPU_PROGRAM_H
#define CHUNKPROOF_TESTS_GPU_PROGRAM_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef __CUDACC__
#include "kernels/simt/device.h"
#endif

struct Program {
#ifndef __CUDACC__
    simt::Device device;
#endif
    bool small; /* as large as a CPU can do */

    /* Ends the program with status 2 when there is an argument other than --small. */
    Program(int n, char **arguments) : small(n == 2 && std::strcmp(arguments[1], "--small") == 0) {
        if (n > 1 && !small) {
            std::fprintf(stderr, "usage: %s [--small]\n", arguments[0]);
            std::exit(2);
        }
    }
};

#endif
